/* Rows of a matrix on a device: all of them, or some at a time. SPDX-License-Identifier: BSD-3-Clause */
#include "matrix/device_tiles.h"

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
	return kdri_csr_new(ctx, d, rows, cols, entries, &to->csr.x);
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
			KDRI_DO(kdri_csr_send(ctx, d, &part.as.csr, &to->x));
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
