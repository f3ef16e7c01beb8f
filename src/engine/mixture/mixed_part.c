/* What a mixture sees of tables: one of them, or all. SPDX-License-Identifier: BSD-3-Clause */
#include "engine/mixture/mixed.h"

#include "comm/comm.h"

void kdri_mixed_part_free(kdr_context *ctx, kdri_mixed_part *p)
{
	KDRI_FREE(ctx, p->levels, p->x, p->number_weight, p->category_weight, p->code, p->number,
	          p->category);
	*p = (kdri_mixed_part){ 0 };
}

/* Rows first .. first + n - 1 and the columns that are wanted: of table `table`, or (-1) all. */
static kdr_status part_room(kdr_context *ctx, const kdri_mixed *t, int64_t table, int64_t n,
                            kdri_mixed_part *p)
{
	int64_t size;
	*p = (kdri_mixed_part){ 0 };
	KDRI_DO(KDRI_NEW(ctx, &p->number, t->numbers));
	KDRI_DO(KDRI_NEW(ctx, &p->category, t->categories));
	kdri_mixture_data *d = &p->data;
	for (int64_t j = 0; j < t->numbers; j++)
		if (table < 0 || t->has_number[table * t->numbers + j])
			p->number[d->numbers++] = j;
	for (int64_t j = 0; j < t->categories; j++)
		if (table < 0 || t->has_category[table * t->categories + j])
			p->category[d->categories++] = j;
	KDRI_DO(kdri_mul(ctx, n, d->numbers, &size));
	KDRI_DO(KDRI_NEW(ctx, &p->x, size));
	KDRI_DO(kdri_mul(ctx, n, d->categories, &size));
	KDRI_DO(KDRI_NEW(ctx, &p->code, size));
	KDRI_DO(KDRI_NEW(ctx, &p->levels, d->categories));
	KDRI_DO(KDRI_NEW(ctx, &p->number_weight, d->numbers));
	return KDRI_NEW(ctx, &p->category_weight, d->categories);
}

static void part_fill(const kdri_mixed *t, int64_t first, int64_t n, kdri_mixed_part *p)
{
	kdri_mixture_data *d = &p->data;
	for (int64_t j = 0; j < d->numbers; j++)
		p->number_weight[j] = t->number_weight[p->number[j]];
	for (int64_t j = 0; j < d->categories; j++) {
		p->category_weight[j] = t->category_weight[p->category[j]];
		p->levels[j] = t->levels[p->category[j]];
	}
	for (int64_t i = 0; i < n; i++) {
		for (int64_t j = 0; j < d->numbers; j++)
			p->x[i * d->numbers + j] = t->x[(first + i) * t->numbers + p->number[j]];
		for (int64_t j = 0; j < d->categories; j++)
			p->code[i * d->categories + j] =
			        t->code[(first + i) * t->categories + p->category[j]];
	}
	d->n = n;
	d->x = p->x;
	d->code = p->code;
	d->levels = p->levels;
	d->number_weight = p->number_weight;
	d->category_weight = p->category_weight;
}

kdr_status kdri_mixed_part_new(kdr_context *ctx, const kdri_mixed *t, int64_t table, kdri_mixed_part *out)
{
	kdr_status st;
	const int64_t n = t->begin[table + 1] - t->begin[table];
	KDRI_TRY(part_room(ctx, t, table, n, out));
	part_fill(t, t->begin[table], n, out);
	out->begin[1] = n;
	out->data.tables = 1;
	out->data.begin = out->begin;
done:
	if (st != KDR_OK)
		kdri_mixed_part_free(ctx, out);
	return st;
}

kdr_status kdri_mixed_means(kdr_context *ctx, const kdri_mixed *t, double *means)
{
	kdr_status st;
	const int64_t p = t->numbers, size = t->tables * p;
	double *sums = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &sums, 2 * size));
	for (int64_t s = 0; s < t->tables; s++)
		for (int64_t i = t->begin[s]; i < t->begin[s + 1]; i++)
			for (int64_t j = 0; j < p; j++)
				if (!isnan(t->x[i * p + j])) {
					sums[s * p + j] += t->x[i * p + j];
					sums[size + s * p + j]++;
				}
	KDRI_TRY(kdri_sum(ctx, sums, 2 * size));
	for (int64_t i = 0; i < size; i++)
		means[i] = t->centred && sums[size + i] > 0 ? sums[i] / sums[size + i] : 0;
done:
	kdri_free(ctx, sums);
	return st;
}

double kdri_mixed_bic(const kdri_mixed *t, int64_t table, int64_t k, double loglik, int64_t rows)
{
	int64_t numbers = 0, levels = 0;
	for (int64_t j = 0; j < t->numbers; j++)
		numbers += table < 0 || t->has_number[table * t->numbers + j];
	for (int64_t j = 0; j < t->categories; j++)
		levels += table < 0 || t->has_category[table * t->categories + j] ? t->levels[j] - 1 : 0;
	return kdri_mixture_bic(loglik, k, table < 0 ? t->tables : 1, table < 0 && t->centred ? t->tables : 1,
	                        numbers, levels, rows);
}

kdr_status kdri_mixed_pool_new(kdr_context *ctx, const kdri_mixed *t, kdri_mixed_part *out)
{
	kdr_status st;
	const int64_t p = t->numbers;
	double *own = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &own, t->tables * p));
	KDRI_TRY(kdri_mixed_means(ctx, t, own));
	KDRI_TRY(part_room(ctx, t, -1, t->n, out));
	part_fill(t, 0, t->n, out);
	for (int64_t s = 0; s < t->tables; s++)
		for (int64_t i = t->begin[s]; i < t->begin[s + 1]; i++)
			for (int64_t j = 0; j < p; j++)
				out->x[i * p + j] =
				        t->has_number[s * p + j] ? out->x[i * p + j] - own[s * p + j] : NAN;
	out->data.tables = t->tables;
	out->data.begin = t->begin;
done:
	kdri_free(ctx, own);
	if (st != KDR_OK)
		kdri_mixed_part_free(ctx, out);
	return st;
}
