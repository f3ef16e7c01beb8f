/* The processor's operations for layers of features (methods/mtcfir/msda*.c). SPDX-License-Identifier: BSD-3-Clause */
#include "matrix/cpu/cpu.h"

kdr_status kdri_cpu_centre(kdr_context *ctx, kdri_block a, const double *mean, double shift,
                           const double *scale, kdri_block to)
{
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (to.rows * to.cols > 1 << 14)
	for (int64_t i = 0; i < to.rows; i++) {
		kdri_block in = kdri_block_part(a, i, 0, 1, to.cols),
		           out = kdri_block_part(to, i, 0, 1, to.cols);
		kdri_row_centre(&in, mean, shift, scale, &out);
	}
	return KDR_OK;
}

kdr_status kdri_cpu_moments(kdr_context *ctx, kdri_block a, double limit, double *sum, double *squares,
                            int64_t *beyond)
{
	kdr_status st;
	int64_t d = a.cols, chunks = kdri_chunks(a.rows), count = 0;
	double *sums = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &sums, 2 * d * chunks));
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic) reduction(+ : count)
	for (int64_t c = 0; c < chunks; c++) {
		int64_t end = kdri_chunk_begin(a.rows, chunks, c + 1);
		for (int64_t i = kdri_chunk_begin(a.rows, chunks, c); i < end; i++) {
			kdri_block row = kdri_block_part(a, i, 0, 1, d);
			kdri_row_add_moments(&row, sums + 2 * d * c, sums + 2 * d * c + d);
			count += kdri_row_count_beyond(&row, limit);
		}
	}
	for (int64_t j = 0; j < d; j++) {
		sum[j] = squares[j] = 0;
		for (int64_t c = 0; c < chunks; c++) {
			sum[j] += sums[2 * d * c + j];
			squares[j] += sums[2 * d * c + d + j];
		}
	}
	*beyond = count;
done:
	kdri_free(ctx, sums);
	return st;
}

/* to = out + lean mean + c; c NULL: 0. */
KDRI_KERNEL
static void shift_row(const double *out, double lean, const double *mean, const double *c, int64_t count,
                      double *to)
{
	if (!out) /* a block without entries */
		return;
	for (int64_t j = 0; j < count; j++)
		to[j] = out[j] + lean * mean[j] + (c ? c[j] : 0);
}

KDRI_KERNEL
static void shift_rowf(const float *out, double lean, const double *mean, const double *c, int64_t count,
                       float *to)
{
	if (!out) /* a block without entries */
		return;
	for (int64_t j = 0; j < count; j++)
		to[j] = (float)((double)out[j] + lean * mean[j] + (c ? c[j] : 0));
}

/* Sets entries j.. of row i of h to tanh(v); v is overwritten. */
static void put_tanh(const kdri_block *h, int64_t i, int64_t j, int64_t count, double *v)
{
	if (!h->floats)
		kdri_tanh(v, count);
	kdri_block_write(h, i, j, count, v);
	if (h->floats)
		kdri_tanhf((float *)h->data + i * h->stride + j, count);
}

/* Without lean: tanh(y + offset) for a row. */
static void plain_row(const kdri_block *y, const double *offset, const kdri_block *h, int64_t i)
{
	enum { PIECE = 512 };
	double wide[PIECE];
	if (y->floats) {
		const float *v = (const float *)y->data + i * y->stride;
		float *to = (float *)h->data + i * h->stride;
		for (int64_t j = 0; j < h->cols; j++)
			to[j] = v[j] + (float)offset[j];
		kdri_tanhf(to, h->cols);
		return;
	}
	for (int64_t at = 0; at < h->cols; at += PIECE) {
		const double *v = (const double *)y->data + i * y->stride + at;
		int64_t count = KDRI_MIN(PIECE, h->cols - at);
		for (int64_t j = 0; j < count; j++)
			wide[j] = v[j] + offset[at + j];
		put_tanh(h, i, at, count, wide);
	}
}

kdr_status kdri_cpu_tanh(kdr_context *ctx, kdri_block y, const double *lean, const double *mean,
                         const double *offset, kdri_block h)
{
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static)
	for (int64_t i = 0; i < h.rows; i++) {
		kdri_block from = kdri_block_part(y, i, 0, 1, y.cols),
		           to = kdri_block_part(h, i, 0, 1, h.cols);
		if (!lean) {
			plain_row(&y, offset, &h, i);
		} else if (h.floats) {
			shift_rowf(from.data, lean[i], mean, offset, h.cols, to.data);
			kdri_tanhf(to.data, h.cols);
		} else {
			shift_row(from.data, lean[i], mean, offset, h.cols, to.data);
			kdri_tanh(to.data, h.cols);
		}
	}
	return KDR_OK;
}

kdr_status kdri_cpu_tanh_rows(kdr_context *ctx, kdri_block y, const kdri_sparse *x, const double *lean,
                              const double *mean, double q, const double *offset, kdri_block h)
{
	/* A cache line of y has STRIP columns, which are used while it is in the cache. */
	enum { STRIP = 8, PIECE = 512 };
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static)
	for (int64_t first = 0; first < h.rows; first += STRIP) {
		double room[STRIP][PIECE];
		int64_t strip = KDRI_MIN(STRIP, h.rows - first), at[STRIP] = { 0 };
		for (int64_t c = 0; c < strip && x; c++)
			at[c] = x->x.rowptr[first + c];
		for (int64_t j0 = 0; j0 < h.cols; j0 += PIECE) {
			int64_t cols = KDRI_MIN(PIECE, h.cols - j0);
			for (int64_t j = 0; j < cols; j++)
				for (int64_t c = 0; c < strip; c++) {
					double v = ((const double *)y.data)[(j0 + j) * y.stride + first + c];
					double by = lean[first + c] * mean[j0 + j];
					room[c][j] = x ? (by - v) / q + offset[j0 + j] : v + by;
				}
			for (int64_t c = 0; c < strip; c++) {
				for (; x && at[c] < x->x.rowptr[first + c + 1] && x->x.col[at[c]] < j0 + cols;
				     at[c]++)
					room[c][x->x.col[at[c]] - j0] += x->x.val[at[c]] / q;
				put_tanh(&h, first + c, j0, cols, room[c]);
			}
		}
	}
	return KDR_OK;
}

kdr_status kdri_cpu_adjust(kdr_context *ctx, kdri_block c, const double *a, bool outer, double constant,
                           double scale, const double *diagonal)
{
	double *data = c.data;
	const bool whole = a || scale != 1;
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (whole)
	for (int64_t i = 0; i < c.rows; i++) {
		double *row = data + i * c.stride;
		if (a && outer)
			kdri_axpy(-(constant * a[i]), a, row, i + 1);
		for (int64_t j = 0; j <= i && a && !outer; j++)
			row[j] = row[j] - a[i] - a[j] + constant;
		for (int64_t j = 0; j <= i && whole; j++)
			row[j] *= scale;
		row[i] += diagonal ? diagonal[i] : 1;
	}
	return KDR_OK;
}

kdr_status kdri_cpu_complement(kdr_context *ctx, kdri_block a, const double *scale, double q)
{
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static)
	for (int64_t i = 0; i < a.rows; i++)
		for (int64_t j = 0; j < a.cols; j++) {
			double v = kdri_block_get(&a, i, j);
			kdri_block_set(&a, i, j, ((i == j) - (scale ? v * scale[j] : v)) / q);
		}
	return KDR_OK;
}
