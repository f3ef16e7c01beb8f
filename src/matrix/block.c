/* Dense blocks and sparse rows in the memory of a device. SPDX-License-Identifier: BSD-3-Clause */
#include "matrix/block.h"

/* --- memory of a device ----------------------------------------------------------------------------------- */

kdr_status kdri_device_status(kdr_context *ctx, const kdri_device *d, kdr_status st)
{
	if (st == KDR_OK || kdri_is_cpu(d))
		return st;
	ctx->device_failed = st != KDR_ERR_NUMERIC;
	return kdri_fail(ctx, st, "device %s: %s", d->kind, d->error);
}

kdr_status kdri_device_alloc(kdr_context *ctx, kdri_device *dev, void *out, int64_t count, size_t size)
{
	kdr_status st;
	int64_t bytes;
	void *data = NULL;
	KDRI_TRY(kdri_mul(ctx, count, (int64_t)size, &bytes));
	KDRI_DTRY(ctx, dev, dev->alloc(ctx, dev, (size_t)bytes, &data));
	memcpy(out, &data, sizeof data); /* `out` points to a pointer of any type */
done:
	return st;
}

kdr_status kdri_device_send(kdr_context *ctx, kdri_device *dev, void *to, const void *from, size_t bytes)
{
	return kdri_device_status(ctx, dev, dev->put(ctx, dev, to, 0, from, 0, bytes, bytes > 0));
}

kdr_status kdri_device_fetch(kdr_context *ctx, kdri_device *dev, const void *from, void *to, size_t bytes)
{
	return kdri_device_status(ctx, dev, dev->get(ctx, dev, from, 0, to, 0, bytes, bytes > 0));
}

/* --- blocks ------------------------------------------------------------------------------------------------ */

kdr_status kdri_block_new(kdr_context *ctx, kdri_device *dev, int64_t rows, int64_t cols, bool single,
                          kdri_block *out)
{
	kdri_block b = { .dev = dev, .rows = rows, .cols = cols, .single = single };
	int64_t count;
	b.floats = single && kdri_is_cpu(dev);
	b.stride = kdri_is_cpu(dev) ? cols : kdri_stride(cols);
	KDRI_DO(kdri_mul(ctx, rows, b.stride, &count));
	KDRI_DO(kdri_device_alloc(ctx, dev, &b.data, count, b.floats ? sizeof(float) : sizeof(double)));
	*out = b;
	return KDR_OK;
}

void kdri_block_free(kdr_context *ctx, kdri_block *b)
{
	if (b->dev)
		b->dev->release(ctx, b->dev, b->data);
	*b = (kdri_block){ 0 };
}

void kdri_block_read(const kdri_block *b, int64_t i, int64_t j, int64_t count, double *to)
{
	if (!b->floats) {
		memcpy(to, (const double *)b->data + i * b->stride + j, (size_t)count * sizeof *to);
		return;
	}
	const float *from = (const float *)b->data + i * b->stride + j;
	for (int64_t p = 0; p < count; p++)
		to[p] = from[p];
}

void kdri_block_write(const kdri_block *b, int64_t i, int64_t j, int64_t count, const double *from)
{
	if (!b->data || count == 0) /* nothing to write to */
		return;
	if (!b->floats) {
		memcpy((double *)b->data + i * b->stride + j, from, (size_t)count * sizeof *from);
		return;
	}
	float *to = (float *)b->data + i * b->stride + j;
	for (int64_t p = 0; p < count; p++)
		to[p] = (float)from[p];
}

kdr_status kdri_block_send(kdr_context *ctx, kdri_block b, const double *from, int64_t stride)
{
	const size_t one = sizeof *from;
	if (!kdri_is_cpu(b.dev))
		return kdri_device_status(ctx, b.dev,
		                          b.dev->put(ctx, b.dev, b.data, (size_t)b.stride * one, from,
		                                     (size_t)stride * one, (size_t)b.cols * one,
		                                     (size_t)b.rows));
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (b.rows * b.cols > 1 << 16)
	for (int64_t i = 0; i < b.rows; i++)
		kdri_block_write(&b, i, 0, b.cols, from + i * stride);
	return KDR_OK;
}

kdr_status kdri_block_fetch(kdr_context *ctx, kdri_block b, double *to, int64_t stride)
{
	const size_t one = sizeof *to;
	if (!kdri_is_cpu(b.dev))
		return kdri_device_status(ctx, b.dev,
		                          b.dev->get(ctx, b.dev, b.data, (size_t)b.stride * one, to,
		                                     (size_t)stride * one, (size_t)b.cols * one,
		                                     (size_t)b.rows));
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (b.rows * b.cols > 1 << 16)
	for (int64_t i = 0; i < b.rows; i++)
		kdri_block_read(&b, i, 0, b.cols, to + i * stride);
	return KDR_OK;
}

kdr_status kdri_block_diagonal(kdr_context *ctx, kdri_block b, double *out)
{
	b.cols = 1;
	b.stride++;
	return kdri_block_fetch(ctx, b, out, 1);
}

void kdri_block_narrow(kdri_block *b)
{
	enum { PIECE = 512 };
	double piece[PIECE];
	float narrow[PIECE];
	if (!b->single && kdri_is_cpu(b->dev)) {
		/* Bytes are read before they are overwritten, and never written beyond those already read. */
		for (int64_t at = 0, count = b->rows * b->cols; at < count; at += PIECE) {
			int64_t m = KDRI_MIN(PIECE, count - at);
			memcpy(piece, (char *)b->data + at * (int64_t)sizeof(double),
			       (size_t)m * sizeof(double));
			for (int64_t p = 0; p < m; p++)
				narrow[p] = (float)piece[p];
			memcpy((char *)b->data + at * (int64_t)sizeof(float), narrow,
			       (size_t)m * sizeof(float));
		}
		b->floats = true;
	}
	b->single = true;
}

/* --- sparse rows --------------------------------------------------------------------------------------------- */

/* Allocates sparse rows on an accelerator; on failure *out has what was allocated so far. The second function sends rows
 * there, with row pointers from 0. */
static kdr_status csr_new(kdr_context *ctx, kdri_device *dev, int64_t rows, int64_t cols, int64_t entries,
                          kdr_csr *out)
{
	kdr_status st;
	int64_t *rowptr = NULL;
	int32_t *col = NULL;
	double *val = NULL;
	KDRI_TRY(KDRI_DNEW(ctx, dev, &rowptr, rows + 1));
	KDRI_TRY(KDRI_DNEW(ctx, dev, &col, entries));
	KDRI_TRY(KDRI_DNEW(ctx, dev, &val, entries));
done:
	*out = (kdr_csr){ rows, cols, rowptr, col, val };
	return st;
}

static kdr_status csr_send(kdr_context *ctx, kdri_device *dev, const kdr_csr *x, kdr_csr *to)
{
	kdr_status st;
	int64_t first = x->rowptr[0], entries = x->rowptr[x->rows] - first, *starts = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &starts, x->rows + 1));
	for (int64_t i = 0; i <= x->rows; i++)
		starts[i] = x->rowptr[i] - first;
	to->rows = x->rows;
	KDRI_TRY(kdri_device_send(ctx, dev, (int64_t *)to->rowptr, starts,
	                          (size_t)(x->rows + 1) * sizeof *starts));
	KDRI_TRY(kdri_device_send(ctx, dev, (int32_t *)to->col, x->col + first,
	                          (size_t)entries * sizeof *x->col));
	KDRI_TRY(kdri_device_send(ctx, dev, (double *)to->val, x->val + first,
	                          (size_t)entries * sizeof *x->val));
done:
	kdri_free(ctx, starts);
	return st;
}

kdr_status kdri_sparse_of(kdr_context *ctx, kdri_device *dev, const kdr_csr *x, const kdr_csr *turned,
                          kdri_sparse *out)
{
	kdr_status st = KDR_OK;
	kdri_sparse s = { .dev = dev, .entries = x->rowptr[x->rows] - x->rowptr[0] };
	if (kdri_is_cpu(dev)) {
		s.x = *x;
		if (turned)
			s.turned = *turned;
	} else {
		s.owned = true;
		KDRI_TRY(csr_new(ctx, dev, x->rows, x->cols, s.entries, &s.x));
		KDRI_TRY(csr_send(ctx, dev, x, &s.x));
		if (turned) {
			KDRI_TRY(csr_new(ctx, dev, turned->rows, turned->cols, s.entries, &s.turned));
			KDRI_TRY(csr_send(ctx, dev, turned, &s.turned));
		}
	}
	*out = s;
	s = (kdri_sparse){ 0 };
done:
	kdri_sparse_free(ctx, &s);
	return st;
}

void kdri_sparse_free(kdr_context *ctx, kdri_sparse *s)
{
	const void *parts[] = { s->x.rowptr,      s->x.col,      s->x.val,
		                s->turned.rowptr, s->turned.col, s->turned.val };
	for (size_t i = 0; i < sizeof parts / sizeof *parts && s->owned; i++)
		s->dev->release(ctx, s->dev, (void *)parts[i]);
	*s = (kdri_sparse){ 0 };
}

kdri_sparse kdri_sparse_rows(const kdri_sparse *s, int64_t begin, int64_t end)
{
	kdri_sparse part = { .dev = s->dev, .x = s->x, .entries = s->entries };
	part.x.rowptr += begin;
	part.x.rows = end - begin;
	return part;
}

/* Rows of a matrix on a device: all of them, or some at a time. */

double kdri_rows_bytes(const kdr_mat *x, bool spread, int64_t begin, int64_t end)
{
	const double one = sizeof(double);
	if (spread || x->kind == KDR_MAT_DENSE)
		return one * (double)(end - begin) * (double)kdri_stride(kdr_mat_cols(x));
	return (one + sizeof(int32_t)) * (double)(x->as.csr.rowptr[end] - x->as.csr.rowptr[begin]) +
	       one * (double)(end - begin + 1);
}

int64_t kdri_rows_within(const kdr_mat *x, bool spread, int64_t begin, double bytes)
{
	/* What rows take grows with their number: the largest number that fits, by halving. */
	int64_t low = begin + 1, high = kdr_mat_rows(x);
	while (low < high) {
		int64_t middle = low + (high - low + 1) / 2;
		if (kdri_rows_bytes(x, spread, begin, middle) <= bytes)
			low = middle;
		else
			high = middle - 1;
	}
	return KDRI_MIN(low, kdr_mat_rows(x));
}

/* Returns the number of tiles, and where they begin if `begin` is not NULL. */
static int64_t device_tiles_cut(const kdr_mat *x, bool spread, double bytes, int64_t *begin)
{
	int64_t n = kdr_mat_rows(x), count = 0, at = 0;
	bool one = kdri_rows_bytes(x, spread, 0, n) <= bytes;
	while (at < n) {
		if (begin)
			begin[count] = at;
		at = one ? n : kdri_rows_within(x, spread, at, bytes * (count == 0 ? 0.75 : 0.25));
		count++;
	}
	if (begin)
		begin[count] = n;
	return count;
}

/* Rows that are spread out at a time. */
static int64_t spread_rows(const kdri_tiles *w)
{
	const int64_t entries = 1 << 20;
	return KDRI_MAX(1, KDRI_MIN(w->longest, entries / KDRI_MAX(1, kdr_mat_cols(&w->x))));
}

/* Room for the tiles from t on, up to `end`. */
static kdr_status slot_new(kdr_context *ctx, kdri_device *d, kdri_tiles *w, int s, int64_t t, int64_t end)
{
	int64_t rows = 0, entries = 0, cols = kdr_mat_cols(&w->x);
	kdri_drows *to = &w->slot[s].rows;
	to->sparse = w->x.kind == KDR_MAT_CSR && !w->spread;
	for (; t < end; t++) {
		rows = KDRI_MAX(rows, w->begin[t + 1] - w->begin[t]);
		if (to->sparse)
			entries = KDRI_MAX(entries, w->x.as.csr.rowptr[w->begin[t + 1]] -
			                                    w->x.as.csr.rowptr[w->begin[t]]);
	}
	w->longest = KDRI_MAX(w->longest, rows);
	if (!to->sparse)
		return kdri_block_new(ctx, d, rows, cols, false, &to->dense);
	to->csr = (kdri_sparse){ .dev = d, .owned = true };
	return csr_new(ctx, d, rows, cols, entries, &to->csr.x);
}

kdr_status kdri_tiles_new(kdr_context *ctx, kdri_device *d, const kdr_mat *x, bool spread, double bytes,
                          kdri_tiles *out)
{
	kdr_status st;
	kdri_tiles w = { .x = *x, .spread = spread, .slot = { { .tile = -1 }, { .tile = -1 } } };
	w.count = device_tiles_cut(x, spread, bytes, NULL);
	KDRI_TRY(KDRI_NEW(ctx, &w.begin, w.count + 1));
	device_tiles_cut(x, spread, bytes, w.begin);
	if (kdri_is_cpu(d)) { /* all rows are on the device, in place */
		kdri_drows *rows = &w.slot[0].rows;
		w.borrowed = true;
		w.slot[0].tile = 0;
		rows->sparse = x->kind == KDR_MAT_CSR;
		if (rows->sparse)
			KDRI_TRY(kdri_sparse_of(ctx, d, &x->as.csr, NULL, &rows->csr));
		else
			rows->dense = kdri_block_of(x->as.dense.data, x->as.dense.rows, x->as.dense.cols,
			                            x->as.dense.stride);
		goto made;
	}
	KDRI_TRY(slot_new(ctx, d, &w, 0, 0, KDRI_MIN(1, w.count)));
	if (w.count > 1)
		KDRI_TRY(slot_new(ctx, d, &w, 1, 1, w.count));
	if (x->kind == KDR_MAT_CSR && spread)
		KDRI_TRY(KDRI_NEW(ctx, &w.room, spread_rows(&w) * kdr_mat_cols(x)));
made:
	*out = w;
	w = (kdri_tiles){ 0 };
done:
	kdri_tiles_free(ctx, &w);
	return st;
}

/* Sparse rows from `begin` on as dense ones, a few at a time. */
static kdr_status send_spread(kdr_context *ctx, kdri_tiles *w, int64_t begin, kdri_block to)
{
	const kdr_csr *x = &w->x.as.csr;
	int64_t most = spread_rows(w);
	for (int64_t i = 0; i < to.rows; i += most) {
		int64_t rows = KDRI_MIN(most, to.rows - i);
		memset(w->room, 0, (size_t)(rows * x->cols) * sizeof *w->room);
		for (int64_t r = 0; r < rows; r++)
			for (int64_t p = x->rowptr[begin + i + r]; p < x->rowptr[begin + i + r + 1]; p++)
				w->room[r * x->cols + x->col[p]] = x->val[p];
		KDRI_DO(kdri_block_send(ctx, kdri_block_part(to, i, 0, rows, to.cols), w->room, x->cols));
	}
	return KDR_OK;
}

kdr_status kdri_tiles_get(kdr_context *ctx, kdri_device *d, kdri_tiles *w, int64_t t, kdri_drows *out)
{
	int s = t > 0;
	kdri_drows rows = w->slot[s].rows;
	bool loaded = w->slot[s].tile == t;
	w->slot[s].tile = -1;
	rows.begin = w->begin[t];
	rows.rows = w->begin[t + 1] - w->begin[t];
	if (rows.sparse) {
		kdri_sparse *to = &w->slot[s].rows.csr;
		if (!loaded) { /* else the caller may have freed the rows */
			kdr_mat part = kdri_rows(&w->x, rows.begin, rows.begin + rows.rows);
			to->entries = kdr_mat_nnz(&part);
			KDRI_DO(csr_send(ctx, d, &part.as.csr, &to->x));
		}
		rows.csr = *to;
	} else {
		const kdr_dense *x = &w->x.as.dense;
		rows.dense = kdri_block_part(rows.dense, 0, 0, rows.rows, rows.dense.cols);
		if (!loaded && w->spread)
			KDRI_DO(send_spread(ctx, w, rows.begin, rows.dense));
		else if (!loaded)
			KDRI_DO(kdri_block_send(ctx, rows.dense, x->data + rows.begin * x->stride,
			                        x->stride));
	}
	w->slot[s].tile = t;
	*out = rows;
	return KDR_OK;
}

void kdri_tiles_free(kdr_context *ctx, kdri_tiles *w)
{
	for (int s = 0; s < 2 && !w->borrowed; s++) {
		kdri_block_free(ctx, &w->slot[s].rows.dense);
		kdri_sparse_free(ctx, &w->slot[s].rows.csr);
	}
	KDRI_FREE(ctx, w->begin, w->room);
	*w = (kdri_tiles){ 0 };
}
