/* Rows of a matrix on a device: all of them, or some at a time. SPDX-License-Identifier: BSD-3-Clause */
#include "matrix/device_tiles.h"

#include "matrix/linalg.h"

double kdri_rows_bytes(const kdr_mat *x, int64_t begin, int64_t end)
{
	const double one = sizeof(double);
	if (x->kind == KDR_MAT_DENSE)
		return one * (double)(end - begin) * (double)kdri_dmat_stride(x->as.dense.cols);
	return (one + sizeof(int32_t)) * (double)(x->as.csr.rowptr[end] - x->as.csr.rowptr[begin]) +
	       one * (double)(end - begin + 1);
}

int64_t kdri_rows_within(const kdr_mat *x, int64_t begin, double bytes)
{
	/* What rows take grows with their number: the largest number that fits, by halving. */
	int64_t low = begin + 1, high = kdr_mat_rows(x);
	while (low < high) {
		int64_t middle = low + (high - low + 1) / 2;
		if (kdri_rows_bytes(x, begin, middle) <= bytes)
			low = middle;
		else
			high = middle - 1;
	}
	return KDRI_MIN(low, kdr_mat_rows(x));
}

/* How many tiles there are, and where they begin if `begin` is not NULL. */
static int64_t device_tiles_cut(const kdr_mat *x, double bytes, int64_t *begin)
{
	int64_t n = kdr_mat_rows(x), count = 0, at = 0;
	bool one = kdri_rows_bytes(x, 0, n) <= bytes;
	while (at < n) {
		if (begin)
			begin[count] = at;
		at = one ? n : kdri_rows_within(x, at, bytes * (count == 0 ? 0.75 : 0.25));
		count++;
	}
	if (begin)
		begin[count] = n;
	return count;
}

/* Room for the tiles from t on, up to `end`. */
static kdr_status slot_new(kdr_context *ctx, kdri_device *d, kdri_tiles *w, int s, int64_t t, int64_t end)
{
	kdr_status st = KDR_OK;
	int64_t rows = 0, entries = 0, cols = kdr_mat_cols(&w->x);
	bool sparse = w->x.kind == KDR_MAT_CSR;
	for (; t < end; t++) {
		rows = KDRI_MAX(rows, w->begin[t + 1] - w->begin[t]);
		if (sparse)
			entries = KDRI_MAX(entries, w->x.as.csr.rowptr[w->begin[t + 1]] -
			                                    w->x.as.csr.rowptr[w->begin[t]]);
	}
	w->longest = KDRI_MAX(w->longest, rows);
	if (!sparse)
		return kdri_dmat_new(ctx, d, rows, cols, &w->slot[s].dense);
	kdri_dcsr *c = &w->slot[s].csr;
	c->cols = cols;
	KDRI_TRY(kdri_dbuf_new(ctx, d, rows + 1, sizeof(int64_t), &c->rowptr));
	KDRI_TRY(kdri_dbuf_new(ctx, d, entries, sizeof(int32_t), &c->col));
	KDRI_TRY(kdri_dbuf_new(ctx, d, entries, sizeof(double), &c->val));
done:
	return st;
}

kdr_status kdri_tiles_new(kdr_context *ctx, kdri_device *d, const kdr_mat *x, double bytes, kdri_tiles *out)
{
	kdr_status st;
	kdri_tiles w = { .x = *x, .slot = { { .tile = -1 }, { .tile = -1 } } };
	w.count = device_tiles_cut(x, bytes, NULL);
	KDRI_TRY(KDRI_NEW(ctx, &w.begin, w.count + 1));
	device_tiles_cut(x, bytes, w.begin);
	KDRI_TRY(slot_new(ctx, d, &w, 0, 0, KDRI_MIN(1, w.count)));
	if (w.count > 1)
		KDRI_TRY(slot_new(ctx, d, &w, 1, 1, w.count));
	if (x->kind == KDR_MAT_CSR)
		KDRI_TRY(KDRI_NEW(ctx, &w.rowptr, w.longest + 1));
	*out = w;
	w = (kdri_tiles){ 0 };
done:
	kdri_tiles_free(ctx, d, &w);
	return st;
}

static kdr_status send_sparse(kdr_context *ctx, kdri_device *d, kdri_tiles *w, int64_t begin, int64_t rows,
                              kdri_dcsr *c)
{
	kdr_status st;
	const kdr_csr *x = &w->x.as.csr;
	int64_t first = x->rowptr[begin];
	c->rows = rows;
	c->entries = x->rowptr[begin + rows] - first;
	for (int64_t i = 0; i <= rows; i++)
		w->rowptr[i] = x->rowptr[begin + i] - first;
	KDRI_TRY(kdri_dbuf_put(ctx, d, c->rowptr, w->rowptr, rows + 1, sizeof *w->rowptr));
	KDRI_TRY(kdri_dbuf_put(ctx, d, c->col, x->col + first, c->entries, sizeof *x->col));
	KDRI_TRY(kdri_dbuf_put(ctx, d, c->val, x->val + first, c->entries, sizeof *x->val));
done:
	return st;
}

kdr_status kdri_tiles_get(kdr_context *ctx, kdri_device *d, kdri_tiles *w, int64_t t, kdri_drows *out)
{
	kdr_status st = KDR_OK;
	int s = t > 0;
	int64_t begin = w->begin[t], rows = w->begin[t + 1] - begin;
	bool sparse = w->x.kind == KDR_MAT_CSR, there = w->slot[s].tile == t;
	w->slot[s].tile = -1;
	*out = (kdri_drows){ .begin = begin, .rows = rows };
	if (sparse) {
		if (!there)
			KDRI_TRY(send_sparse(ctx, d, w, begin, rows, &w->slot[s].csr));
		out->csr = w->slot[s].csr;
	} else {
		const kdr_dense *x = &w->x.as.dense;
		out->dense = kdri_dmat_part(w->slot[s].dense, 0, 0, rows, x->cols);
		if (!there)
			KDRI_TRY(kdri_dmat_put(ctx, d, out->dense, x->data + begin * x->stride, x->stride));
	}
	w->slot[s].tile = t;
done:
	return st;
}

void kdri_tiles_free(kdr_context *ctx, kdri_device *d, kdri_tiles *w)
{
	for (int s = 0; s < 2; s++) {
		kdri_dmat_free(d, &w->slot[s].dense);
		kdri_dcsr_free(d, &w->slot[s].csr);
	}
	kdri_free(ctx, w->begin);
	kdri_free(ctx, w->rowptr);
	*w = (kdri_tiles){ 0 };
}
