/* Values in the user's units. SPDX-License-Identifier: BSD-3-Clause
 *
 * Preprocessing works in place, and a logarithm or clipped value cannot be undone in a mean. Dense data sets with few columns
 * therefore keep a copy of their aligned values, from which words.c computes the means and shares it reports. */
#include "prepare/prep.h"

/* A row without any level of a category has no value of it. */
static void mark_missing_levels(const kdr_prep *prep, double *row)
{
	for (int64_t u = 0; prep->group && u < prep->cols; u++) {
		bool any = false;
		if (prep->group[u] != u)
			continue;
		for (int64_t l = 0; l < prep->cols && !any; l++)
			any = prep->group[l] == u && row[l] > 0;
		for (int64_t l = 0; l < prep->cols && !any; l++)
			if (prep->group[l] == u)
				row[l] = NAN;
	}
}

/* Cells that were empty in the file and have been filled. */
static void mark_holes(const kdr_prep *prep, const kdri_columns *columns, const kdr_data *d, double *values)
{
	const kdri_sheet *s = d->sheet;
	for (int64_t h = 0; s && h < s->nholes; h++) {
		int64_t u = columns->to[s->hole_feature[h]];
		if (u >= 0 && prep->place)
			u = prep->place[u];
		if (u >= 0)
			values[s->hole_row[h] * prep->nkept + u] = NAN;
	}
}

static void find_units(const kdr_prep *prep, const kdri_columns *columns, const kdr_data *d, kdri_original *o)
{
	for (int64_t k = 0; k < prep->nkept; k++) {
		int64_t u = prep->kept ? prep->kept[k] : k;
		o->unit[k] = prep->group && prep->group[u] >= 0 ? KDRI_UNIT_SHARE : KDRI_UNIT_NUMBER;
		o->origin[k] = prep->origin ? prep->origin[u] : 0;
	}
	for (int64_t j = 0; d->sheet && d->sheet->source && j < d->cols; j++) {
		int64_t u = columns->to[j];
		if (u >= 0 && prep->place)
			u = prep->place[u];
		if (u >= 0 && d->sheet->columns[d->sheet->source[j]].kind == KDR_COLUMN_DATE)
			o->unit[u] = KDRI_UNIT_DATE;
	}
}

kdr_status kdri_original_keep(kdr_context *ctx, const kdr_prep *prep, const kdri_columns *columns,
                              const kdri_change *change, kdr_data *d)
{
	kdr_status st = KDR_OK;
	kdri_original o = { .same = change->none };
	kdri_row row = { 0 };
	const bool holes = d->sheet && d->sheet->nholes > 0, dates = prep->origin != NULL;
	int64_t size;
	if (d->kind == KDR_MAT_DENSE && !d->streamed && prep->cols <= KDRI_ORIGINAL_MOST &&
	    (!change->none || holes || dates)) {
		KDRI_TRY(kdri_mul(ctx, d->rows, prep->nkept, &size));
		KDRI_TRY(KDRI_NEW(ctx, &o.values, size));
		KDRI_TRY(KDRI_NEW(ctx, &o.unit, prep->nkept));
		KDRI_TRY(KDRI_NEW(ctx, &o.origin, prep->nkept));
		KDRI_TRY(KDRI_NEW(ctx, &row.val, prep->cols));
		find_units(prep, columns, d, &o);
		for (int64_t i = 0; i < d->rows; i++) {
			kdri_row_load(d, columns, i, prep->cols, &row);
			mark_missing_levels(prep, row.val);
			for (int64_t k = 0; k < prep->nkept; k++)
				o.values[i * prep->nkept + k] = row.val[prep->kept ? prep->kept[k] : k];
		}
		mark_holes(prep, columns, d, o.values);
	}
	kdri_original_free(&d->allocator, &d->original);
	d->original = o;
	o = (kdri_original){ 0 };
done:
	kdri_free(ctx, row.val);
	kdri_original_free(&ctx->allocator, &o);
	return st;
}
