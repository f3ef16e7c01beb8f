/* What k-means and mixtures see of tables: numbers that distances compare, one table, or all. SPDX-License-Identifier: BSD-3-Clause */
/* Tables as numbers that distances compare.
 *
 *   (E1)  numbers: (x - mean) / standard deviation, times sqrt u
 *   (E2)  levels of a category: (indicator - p) times sqrt u times sqrt(.7 L / (L - 1)) (B), 1 / sqrt 2 (H) or
 *         1 / sqrt(sum p (1 - p)) (V). With H two rows that differ in the category are one standard deviation apart.
 *
 * Means, deviations and shares are those of the rows that have a value. A missing cell has its table's own mean or shares, a
 * column that a table does not have is 0.
 *
 * p  share     L  levels     u  number_weight, category_weight */
#include "comm/comm.h"
#include "engine/mixture/mixture.h"

static const double b_factor = 0.7;

/* (E2) without u. */
static double encoding_factor(const kdri_mixed *t, int64_t j, kdri_encoding encoding)
{
	double levels = (double)t->levels[j], spread = 0;
	for (int64_t l = t->offset[j]; l < t->offset[j + 1]; l++)
		spread += t->share[l] * (1 - t->share[l]);
	switch (encoding) {
	case KDRI_ENCODE_B: return sqrt(b_factor * levels / (levels - 1));
	case KDRI_ENCODE_H: return sqrt(0.5);
	default: return spread > 0 ? 1 / sqrt(spread) : 0;
	}
}

void kdri_encoder_free(kdr_context *ctx, kdri_encoder *b)
{
	KDRI_FREE(ctx, b->column, b->level, b->centre, b->scale, b->fill, b->less);
	*b = (kdri_encoder){ 0 };
}

static kdr_status list_places(kdr_context *ctx, const kdri_mixed *t, kdri_encoder *b)
{
	int64_t at = 0;
	b->width = t->numbers + t->offset[t->categories];
	KDRI_DO(KDRI_NEW(ctx, &b->column, b->width));
	KDRI_DO(KDRI_NEW(ctx, &b->level, b->width));
	for (int64_t j = 0; j < t->numbers; j++, at++) {
		b->column[at] = j;
		b->level[at] = -1;
	}
	for (int64_t j = 0; j < t->categories; j++)
		for (int64_t l = 0; l < t->levels[j]; l++, at++) {
			b->column[at] = j;
			b->level[at] = l;
		}
	return KDR_OK;
}

/* The value of row i at a place, or NaN. */
static double value_at(const kdri_mixed *t, const kdri_encoder *b, int64_t i, int64_t place)
{
	const int64_t j = b->column[place];
	if (b->level[place] < 0)
		return t->x[i * t->numbers + j];
	int32_t code = t->code[i * t->categories + j];
	return code < 0 ? NAN : code == b->level[place];
}

kdr_status kdri_encoder_new(kdr_context *ctx, const kdri_mixed *t, kdri_encoding encoding, bool pooled,
                            kdri_encoder *out)
{
	kdr_status st;
	kdri_encoder book = { 0 }, *b = &book;
	double *sums = NULL;
	KDRI_TRY(list_places(ctx, t, b));
	KDRI_TRY(KDRI_NEW(ctx, &b->centre, b->width));
	KDRI_TRY(KDRI_NEW(ctx, &b->scale, b->width));
	KDRI_TRY(KDRI_NEW(ctx, &b->fill, t->tables * b->width));
	KDRI_TRY(KDRI_NEW0(ctx, &b->less, t->tables * b->width));
	KDRI_TRY(KDRI_NEW0(ctx, &sums, 3 * t->tables * b->width));
	/* Count, sum and sum of squares at each place of each table, of the rows of all ranks. */
	for (int64_t s = 0; s < t->tables; s++)
		for (int64_t i = t->begin[s]; i < t->begin[s + 1]; i++)
			for (int64_t place = 0; place < b->width; place++) {
				double v = value_at(t, b, i, place), *to = sums + 3 * (s * b->width + place);
				if (isnan(v))
					continue;
				to[0]++;
				to[1] += v;
				to[2] += v * v;
			}
	KDRI_TRY(kdri_sum(ctx, sums, 3 * t->tables * b->width));
	for (int64_t place = 0; place < b->width; place++) {
		const int64_t j = b->column[place], l = b->level[place];
		double all[3] = { 0 };
		for (int64_t s = 0; s < t->tables; s++)
			for (int k = 0; k < 3; k++)
				all[k] += sums[3 * (s * b->width + place) + k];
		double mean = all[0] > 0 ? all[1] / all[0] : 0,
		       variance = all[0] > 0 ? all[2] / all[0] - mean * mean : 0;
		if (l < 0) { /* (E1) */
			b->centre[place] = mean;
			b->scale[place] = variance > 0 ? sqrt(t->number_weight[j] / variance) : 0;
		} else {
			b->centre[place] = t->share[t->offset[j] + l];
			b->scale[place] =
			        sqrt(t->category_weight[j]) * encoding_factor(t, j, encoding); /* (E2) */
		}
		for (int64_t s = 0; s < t->tables; s++) {
			const int64_t at = s * b->width + place;
			b->fill[at] = sums[3 * at] > 0 ? sums[3 * at + 1] / sums[3 * at] : b->centre[place];
			b->less[at] =
			        pooled && t->centred ? (b->fill[at] - b->centre[place]) * b->scale[place] : 0;
		}
	}
	*out = book;
	book = (kdri_encoder){ 0 };
done:
	kdri_encoder_free(ctx, &book);
	kdri_free(ctx, sums);
	return st;
}

void kdri_encode(const kdri_encoder *b, const kdri_mixed *t, int64_t begin, int64_t end, double *out)
{
	for (int64_t i = begin, s = 0; i < end; i++) {
		while (i >= t->begin[s + 1])
			s++;
		for (int64_t place = 0; place < b->width; place++) {
			const int64_t at = s * b->width + place;
			double v = value_at(t, b, i, place);
			v = isnan(v) ? b->fill[at] : v;
			out[(i - begin) * b->width + place] =
			        (v - b->centre[place]) * b->scale[place] - b->less[at];
		}
	}
}

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
