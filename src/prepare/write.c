/* The change of a data set, once everything is fitted. SPDX-License-Identifier: BSD-3-Clause
 *
 * Rows never need more memory than before, except if a dense row gets new columns. Each row is therefore overwritten in
 * place, in parallel, and then shorter rows are moved together. 24 bytes move for each stored entry of a sparse matrix
 * (12 in, 12 out), 16 for a dense one. */
#include "prepare/prep.h"

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

kdr_status kdri_change_new(kdr_context *ctx, const kdr_prep *prep, kdr_data *d, const kdri_columns *columns,
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
	kdri_change_free(ctx, &c);
	return st;
}

void kdri_change_free(kdr_context *ctx, kdri_change *c)
{
	kdri_row_chunks_free(ctx, &c->chunks);
	KDRI_FREE(ctx, c->dense, c->length);
	kdri_strings_free(&ctx->allocator, c->features, c->nfeatures);
	*c = (kdri_change){ 0 };
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

void kdri_change_write(kdr_context *ctx, const kdr_prep *prep, int64_t set, const kdri_columns *columns,
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
