/* Preprocessing: kdr_prepare and kdr_prep_apply. SPDX-License-Identifier: BSD-3-Clause
 *
 * Dense and sparse tasks can be combined: each keeps its storage, the fitted numbers are shared, and standard scaling
 * then centres none of them. */
#include <stdio.h>

#include "comm/comm.h"
#include "prepare/prep.h"

/* Values in the user's units.
 *
 * Preprocessing works in place, and a logarithm or clipped value cannot be undone in a mean. Dense data sets with few columns
 * therefore keep a copy of their aligned values, from which words.c computes the means and shares it reports. */

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

/* All the memory that is needed to change one data set. */
typedef struct kdri_change {
	bool none; /* the data set is unchanged */
	kdri_row_chunks chunks;
	double *dense;   /* new storage if the rows grow; NULL: in place */
	int64_t *length; /* sparse: new entries of each row; NULL if no row can lose any */
	char **features; /* new names, or NULL: they stay */
	int64_t nfeatures;
} kdri_change;

/* Before the change, keeps the values in the user's units if that is cheap, to describe clusters with them. */
static kdr_status original_keep(kdr_context *ctx, const kdr_prep *prep, const kdri_columns *columns,
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
		for (int64_t k = 0; k < prep->nkept; k++) {
			int64_t u = prep->kept ? prep->kept[k] : k;
			o.unit[k] = prep->group && prep->group[u] >= 0 ? KDRI_UNIT_SHARE : KDRI_UNIT_NUMBER;
			o.origin[k] = prep->origin ? prep->origin[u] : 0;
		}
		for (int64_t j = 0; d->sheet && d->sheet->source && j < d->cols; j++) {
			int64_t u = columns->to[j];
			if (u >= 0 && prep->place)
				u = prep->place[u];
			if (u >= 0 && d->sheet->columns[d->sheet->source[j]].kind == KDR_COLUMN_DATE)
				o.unit[u] = KDRI_UNIT_DATE;
		}
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

/* The change of a data set, once everything is fitted.
 *
 * Rows never need more memory than before, except if a dense row gets new columns. Each row is therefore overwritten in
 * place, in parallel, and then shorter rows are moved together. 24 bytes move for each stored entry of a sparse matrix
 * (12 in, 12 out), 16 for a dense one. */

static kdr_status new_names(kdr_context *ctx, const kdr_prep *prep, const kdr_data *d, char ***out)
{
	char **source = prep->names ? prep->names : d->features;
	if (!source)
		return KDR_OK;
	bool same = d->features && d->cols == prep->nkept;
	for (int64_t k = 0; k < prep->nkept && same; k++)
		same = strcmp(d->features[k], source[prep->kept ? prep->kept[k] : k]) == 0;
	if (same)
		return KDR_OK;
	return kdri_strings_pick(ctx, (const char *const *)source, prep->kept, prep->nkept, out);
}

static void change_free(kdr_context *ctx, kdri_change *c)
{
	kdri_row_chunks_free(ctx, &c->chunks);
	KDRI_FREE(ctx, c->dense, c->length);
	kdri_strings_free(&ctx->allocator, c->features, c->nfeatures);
	*c = (kdri_change){ 0 };
}

static kdr_status change_new(kdr_context *ctx, const kdr_prep *prep, kdr_data *d, const kdri_columns *columns,
                             kdri_change *out)
{
	kdr_status st;
	const kdr_prep_options *o = &prep->options;
	kdri_change c = { .nfeatures = prep->nkept };
	c.none = columns->identity && o->weight == KDR_WEIGHT_NONE && o->norm == KDR_NORM_NONE &&
	         o->scale == KDR_SCALE_NONE && !prep->divisor && !prep->kept;
	KDRI_TRY(new_names(ctx, prep, d, &c.features));
	if (!c.none) {
		KDRI_TRY(kdri_row_chunks_new(ctx, prep, d, &c.chunks));
		if (d->kind == KDR_MAT_CSR || prep->nkept <= d->cols) /* written over */
			KDRI_TRY(kdri_data_own(ctx, d));
		if (d->kind == KDR_MAT_CSR) {
			if (prep->cols > INT32_MAX)
				KDRI_TRY(kdri_fail(
				        ctx, KDR_ERR_SIZE,
				        "%lld aligned features are too many; sparse data can have at most %d",
				        (long long)prep->cols, INT32_MAX));
			if (!columns->identity || prep->kept)
				KDRI_TRY(KDRI_NEW(ctx, &c.length, d->rows));
		} else if (prep->nkept > d->cols) {
			int64_t size;
			KDRI_TRY(kdri_mul(ctx, d->rows, prep->nkept, &size));
			bool before = kdri_spool_begin(ctx, d->streamed);
			st = KDRI_NEW(ctx, &c.dense, size);
			kdri_spool_begin(ctx, before);
			if (st != KDR_OK)
				goto done;
		}
	}
	*out = c;
	c = (kdri_change){ 0 };
done:
	change_free(ctx, &c);
	return st;
}

static void store_sparse(const kdri_row *row, int64_t i, const kdri_change *c, kdr_data *d)
{
	memcpy(d->col + d->rowptr[i], row->col, (size_t)row->n * sizeof *row->col);
	memcpy(d->val + d->rowptr[i], row->val, (size_t)row->n * sizeof *row->val);
	if (c->length)
		c->length[i] = row->n;
}

static void write_rows(kdr_context *ctx, const kdr_prep *prep, int64_t set, const kdri_columns *columns,
                       const kdri_change *change, kdr_data *d)
{
	const kdri_row_chunks *chunks = &change->chunks;
	double *to = change->dense ? change->dense : d->dense;
	int64_t stride = change->dense ? prep->nkept : d->cols;
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic) if (chunks->count > 1)
	for (int64_t c = 0; c < chunks->count; c++) {
		kdri_row row = kdri_row_chunk_row(chunks, c);
		for (int64_t i = kdri_row_chunk_begin(chunks, c); i < kdri_row_chunk_begin(chunks, c + 1);
		     i++) {
			kdri_row_load(d, columns, i, prep->cols, &row);
			kdri_row_weigh(prep, set, &row);
			kdri_row_scale(prep, set, &row);
			if (chunks->sparse)
				store_sparse(&row, i, change, d);
			else
				memcpy(to + i * stride, row.val, (size_t)row.n * sizeof *to);
		}
	}
}

/* Pushes rows together that became shorter, from the first on. */
static void write_compact(const int64_t *length, int64_t cols, kdr_data *d)
{
	if (d->kind == KDR_MAT_DENSE) {
		for (int64_t i = 1; i < d->rows && cols < d->cols; i++)
			memmove(d->dense + i * cols, d->dense + i * d->cols, (size_t)cols * sizeof *d->dense);
		return;
	}
	if (!length)
		return;
	int64_t end = 0;
	for (int64_t i = 0; i < d->rows; i++) {
		int64_t begin = d->rowptr[i];
		memmove(d->col + end, d->col + begin, (size_t)length[i] * sizeof *d->col);
		memmove(d->val + end, d->val + begin, (size_t)length[i] * sizeof *d->val);
		d->rowptr[i] = end;
		end += length[i];
	}
	d->rowptr[d->rows] = end;
}

/* Takes over what it needs of `change`. Cannot fail. */
static void change_write(kdr_context *ctx, const kdr_prep *prep, int64_t set, const kdri_columns *columns,
                         kdri_change *change, kdr_data *d)
{
	if (!change->none) {
		write_rows(ctx, prep, set, columns, change, d);
		if (change->dense) {
			if (!d->borrowed)
				kdri_free_with(&d->allocator, d->dense);
			d->borrowed = false;
			d->dense = change->dense;
			change->dense = NULL;
		} else {
			write_compact(change->length, prep->nkept, d);
		}
	}
	if (change->features) {
		kdri_strings_free(&d->allocator, d->features, d->cols);
		d->features = change->features;
		change->features = NULL;
	}
	d->cols = prep->nkept;
}

/* --- prepare ----------------------------------------------------------------------------------- */

static kdr_status check_arguments(kdr_context *ctx, kdr_data *const *tasks, int64_t count,
                                  const kdr_prep_options *o)
{
	kdr_status st = kdri_check_sets(ctx, "preprocessing", tasks, count, 1);
	if (st != KDR_OK)
		return st;
	if ((int)o->align < 0 || o->align > KDR_ALIGN_POSITION || (int)o->weight < 0 ||
	    o->weight > KDR_WEIGHT_SQRT || (int)o->norm < 0 || o->norm > KDR_NORM_L2 || (int)o->scale < 0 ||
	    o->scale > KDR_SCALE_TABLE || (int)o->top_by < 0 || o->top_by > KDR_TOP_DISPERSION)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "preprocessing: unknown value of align, weight, norm, scale or top_by");
	if (o->top_features < 0)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT, "top features: %lld is negative; use 0 to keep all",
		                 (long long)o->top_features);
	for (int64_t t = 0; t < count; t++)
		for (int64_t s = 0; s < t; s++)
			if (tasks[s] == tasks[t])
				return kdri_fail(ctx, KDR_ERR_ARGUMENT,
				                 "data sets %lld and %lld are the same object",
				                 (long long)s + 1, (long long)t + 1);
	return KDR_OK;
}

static bool has_steps(const kdr_prep_options *o)
{
	return o->weight != KDR_WEIGHT_NONE || o->norm != KDR_NORM_NONE || o->scale != KDR_SCALE_NONE ||
	       o->top_features > 0;
}

/* All ranks must have the same columns: aligned columns that differ in number or name would be added up without an
 * error. */
static kdr_status check_ranks(kdr_context *ctx, const kdr_prep *prep)
{
	kdr_status st;
	uint64_t hash = 0;
	if (!kdri_together(ctx))
		return KDR_OK;
	for (int64_t j = 0; prep->names && j < prep->cols; j++)
		hash = hash * 31 + kdri_fnv1a(prep->names[j], strlen(prep->names[j]));
	int64_t word = (int64_t)(hash >> 2), ends[] = { prep->cols, word, -prep->cols, -word };
	KDRI_TRY(kdri_max_int(ctx, ends, 4));
	if (ends[0] != -ends[2])
		st = kdri_fail(
		        ctx, KDR_ERR_DATA,
		        "the parts of the data have %lld to %lld columns; all ranks need the same number",
		        (long long)-ends[2], (long long)ends[0]);
	else if (ends[1] != -ends[3])
		st = kdri_fail(ctx, KDR_ERR_DATA,
		               "the parts of the data have different column names; all ranks need the same");
done:
	return st;
}

/* What was not certain when the files were read, once for each file. */
static kdr_status warn_of_notes(kdr_context *ctx, kdr_prep *prep, kdr_data *const *tasks, int64_t count)
{
	const char *text;
	for (int64_t t = 0; t < count; t++)
		for (int64_t i = 0; (text = kdr_data_note_at(tasks[t], i)); i++) {
			bool known = false;
			for (int64_t w = 0; w < prep->nwarnings && !known; w++)
				known = strcmp(prep->warnings[w], text) == 0;
			if (!known)
				KDRI_DO(kdri_prep_warn(ctx, prep, "%s", text));
		}
	return KDR_OK;
}

static kdr_status prepare_fit(kdr_context *ctx, kdr_prep *prep, kdr_data *const *tasks, int64_t count,
                              kdri_columns *columns)
{
	kdr_status st;
	char sideways[300], why[sizeof ctx->error];
	KDRI_TRY(warn_of_notes(ctx, prep, tasks, count));
	KDRI_TRY(kdri_orientation(ctx, tasks, count, sideways, sizeof sideways));
	st = kdri_align(ctx, prep, tasks, count, columns);
	if (st == KDR_ERR_DATA && sideways[0]) {
		memcpy(why, ctx->error, sizeof why);
		st = kdri_fail(ctx, st, "%.250s; %s", why, sideways);
	}
	if (st == KDR_OK && sideways[0])
		st = kdri_prep_warn(ctx, prep, "%s", sideways);
	if (st != KDR_OK)
		goto done;
	KDRI_TRY(check_ranks(ctx, prep));
	KDRI_TRY(kdri_hints(ctx, prep, tasks, count));
	KDRI_TRY(kdri_kinds_fit(ctx, prep, tasks, count, columns));
	KDRI_TRY(check_ranks(ctx, prep)); /* of those that are left */
	KDRI_TRY(kdri_sizes_keep(ctx, prep, tasks, count, columns));
	for (int64_t t = 0; t < count; t++)
		KDRI_TRY(kdri_align_absent(ctx, prep, tasks[t], &columns[t]));
	if (has_steps(&prep->options) || prep->group) {
		for (int64_t t = 0; t < count; t++)
			KDRI_TRY(kdri_check_values(ctx, prep, tasks[t], &columns[t]));
		KDRI_TRY(kdri_fit_weight(ctx, prep, tasks, count, columns));
		KDRI_TRY(kdri_fit_top(ctx, prep, tasks, count, columns));
		KDRI_TRY(kdri_fit_scale(ctx, prep, tasks, count, columns));
		for (int64_t t = 0; t < count; t++)
			KDRI_TRY(kdri_check_zeros(ctx, prep, prep->fit_each ? t : 0, tasks[t], &columns[t]));
	}
	kdri_prep_finish(prep);
done:
	return st;
}

kdr_status kdr_prepare(kdr_context *ctx, kdr_data **tasks, int64_t count, const kdr_prep_options *options,
                       kdr_prep **out)
{
	kdr_status st;
	kdr_prep *prep = NULL;
	kdri_columns *columns = NULL;
	kdri_change *changes = NULL;
	kdr_prep_options own;
	if (!ctx)
		return KDR_ERR_ARGUMENT;
	kdri_enter(ctx);
	KDRI_TRY(KDRI_TAKE(ctx, kdr_prep_options, options, &own));
	options = &own;
	KDRI_TRY(check_arguments(ctx, tasks, count, options));
	KDRI_TRY(kdri_prep_new(ctx, options, count, &prep));
	KDRI_TRY(KDRI_NEW0(ctx, &columns, count));
	KDRI_TRY(KDRI_NEW0(ctx, &changes, count));
	KDRI_TRY(prepare_fit(ctx, prep, tasks, count, columns));
	for (int64_t t = 0; t < count; t++) {
		KDRI_TRY(kdri_kinds_since(ctx, prep, tasks[t], &columns[t]));
		KDRI_TRY(change_new(ctx, prep, tasks[t], &columns[t], &changes[t]));
		KDRI_TRY(original_keep(ctx, prep, &columns[t], &changes[t], tasks[t]));
	}
	KDRI_TRY(kdri_agree(ctx, KDR_OK));
	for (int64_t t = 0; t < count; t++) { /* from here on nothing can fail */
		change_write(ctx, prep, prep->fit_each ? t : 0, &columns[t], &changes[t], tasks[t]);
		kdri_kinds_done(prep, &columns[t], tasks[t]);
	}
	if (out) {
		*out = prep;
		prep = NULL;
	} else {
		for (int64_t i = 0; i < prep->nwarnings; i++)
			kdri_message(ctx, "%s", prep->warnings[i]);
	}
done:
	for (int64_t t = 0; t < count && columns; t++)
		kdri_align_free(ctx, &columns[t]);
	for (int64_t t = 0; t < count && changes; t++)
		change_free(ctx, &changes[t]);
	KDRI_FREE(ctx, columns, changes);
	kdr_prep_free(prep);
	return kdri_leave(ctx, st);
}

kdr_status kdr_prep_apply(kdr_context *ctx, const kdr_prep *prep, int64_t task, kdr_data *data)
{
	kdr_status st;
	kdri_columns columns = { 0 };
	kdri_change change = { 0 };
	KDRI_NEED(ctx, prep && data);
	if (prep->fit_each && (task < 0 || task >= prep->sets))
		return kdri_fail(
		        ctx, KDR_ERR_ARGUMENT,
		        "data set number %lld is out of range; the preprocessing was fitted on %lld data sets separately (0 to %lld)",
		        (long long)task, (long long)prep->sets, (long long)prep->sets - 1);
	int64_t set = prep->fit_each ? task : 0;
	if (prep->fill && prep->options.scale != KDR_SCALE_TABLE && data->kind == KDR_MAT_DENSE &&
	    task >= 0 && task < prep->tasks)
		columns.fill = prep->fill + task * prep->cols;
	const char *note;
	for (int64_t i = 0; (note = kdr_data_note_at(data, i)); i++)
		kdri_warning(ctx, "%s", note);
	KDRI_TRY(kdri_align_new(ctx, prep, data, &columns));
	KDRI_TRY(kdri_sizes_compare(ctx, prep, data, &columns));
	KDRI_TRY(kdri_align_absent(ctx, prep, data, &columns));
	KDRI_TRY(kdri_kinds_shift(ctx, prep, data, &columns));
	KDRI_TRY(kdri_kinds_refill(ctx, prep, task, &columns, data));
	if (has_steps(&prep->options) || prep->divisor) {
		KDRI_TRY(kdri_check_values(ctx, prep, data, &columns));
		KDRI_TRY(kdri_check_zeros(ctx, prep, set, data, &columns));
	}
	KDRI_TRY(kdri_kinds_since(ctx, prep, data, &columns));
	KDRI_TRY(change_new(ctx, prep, data, &columns, &change));
	KDRI_TRY(original_keep(ctx, prep, &columns, &change, data));
	change_write(ctx, prep, set, &columns, &change, data);
	kdri_kinds_done(prep, &columns, data);
done:
	kdri_align_free(ctx, &columns);
	change_free(ctx, &change);
	return st;
}
