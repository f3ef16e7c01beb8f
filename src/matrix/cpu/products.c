/* The processor's products of blocks with vectors and of sparse rows; those of blocks are in product.c.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "matrix/cpu/cpu.h"

#include "matrix/blas.h"
#include "matrix/sparse.h"

enum { WIDEN_ROWS = 64, WIDEN_COLS = 1024, SINGLE_ROWS = 128 };

kdr_status kdri_cpu_inverse(kdr_context *ctx, kdri_block a)
{
	KDRI_DO(kdri_cholesky(ctx, a.rows, a.data, a.stride));
	return kdri_cholesky_inverse(ctx, a.rows, a.data, a.stride);
}

kdr_status kdri_block_mul(kdr_context *ctx, kdri_block a, const double *x, int64_t k, int64_t ldx, double *y,
                          int64_t ldy)
{
	kdr_status st;
	double *room = NULL;
	if (!a.floats)
		return kdri_gemm(ctx, false, false, a.rows, k, a.cols, 1, a.data, a.stride, x, ldx, 0, y,
		                 ldy);
	KDRI_TRY(kdri_blas_int(ctx, KDRI_MAX(ldx, ldy), "the stride of a matrix"));
	KDRI_TRY(KDRI_NEW(ctx, &room, (int64_t)ctx->threads * WIDEN_ROWS * WIDEN_COLS));
	int before = kdri_serial_begin();
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic)
	for (int64_t i = 0; i < a.rows; i += WIDEN_ROWS) {
		double *wide = room + kdri_thread() * WIDEN_ROWS * WIDEN_COLS;
		int64_t rows = KDRI_MIN(WIDEN_ROWS, a.rows - i);
		for (int64_t j = 0; j < a.cols; j += WIDEN_COLS) {
			int64_t cols = KDRI_MIN(WIDEN_COLS, a.cols - j);
			for (int64_t r = 0; r < rows; r++)
				kdri_block_read(&a, i + r, j, cols, wide + r * WIDEN_COLS);
			kdri_dgemm(false, false, rows, k, cols, 1, wide, WIDEN_COLS, x + j * ldx, ldx, j > 0,
			           y + i * ldy, ldy);
		}
	}
	kdri_serial_end(before);
done:
	kdri_free(ctx, room);
	return st;
}

/* X as floats, rows x k. Tiny entries become 0, because their products would be denormal numbers, which are slow. */
static void narrow_vectors(const double *x, int64_t rows, int64_t k, int64_t ldx, float *to)
{
	const double least = 1e-30;
	for (int64_t i = 0; i < rows; i++)
		for (int64_t c = 0; c < k; c++)
			to[i * k + c] = x[i * ldx + c] < least ? 0 : (float)x[i * ldx + c];
}

/* With A in single precision the products and the sums over WIDEN_COLS columns are single, too. As no term is negative, no difference
 * makes that worse than some 1e-7 of an entry of C; beyond, sums are double. */
kdr_status kdri_cpu_apply(kdr_context *ctx, kdri_block a, kdri_block b, kdri_block c)
{
	kdr_status st;
	const double *x = b.data;
	double *y = c.data;
	float *vectors = NULL, *room = NULL;
	int64_t size, k = b.cols;
	if (!a.floats)
		return kdri_block_mul(ctx, a, x, k, b.stride, y, c.stride);
	KDRI_TRY(kdri_blas_int(ctx, KDRI_MAX(a.stride, k), "the stride of a matrix"));
	KDRI_TRY(kdri_mul(ctx, KDRI_MAX(a.cols, (int64_t)ctx->threads * SINGLE_ROWS), k, &size));
	KDRI_TRY(KDRI_NEW(ctx, &vectors, size));
	KDRI_TRY(KDRI_NEW(ctx, &room, size));
	narrow_vectors(x, a.cols, k, b.stride, vectors);
	int before = kdri_serial_begin();
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic)
	for (int64_t i = 0; i < a.rows; i += SINGLE_ROWS) {
		float *part = room + kdri_thread() * SINGLE_ROWS * k;
		int64_t rows = KDRI_MIN(SINGLE_ROWS, a.rows - i);
		for (int64_t r = 0; r < rows; r++)
			memset(y + (i + r) * c.stride, 0, (size_t)k * sizeof *y);
		for (int64_t j = 0; j < a.cols; j += WIDEN_COLS) {
			int64_t cols = KDRI_MIN(WIDEN_COLS, a.cols - j);
			kdri_sgemm(false, false, rows, k, cols, 1, (const float *)a.data + i * a.stride + j,
			           a.stride, vectors + j * k, k, 0, part, k);
			for (int64_t r = 0; r < rows; r++)
				for (int64_t q = 0; q < k; q++)
					y[(i + r) * c.stride + q] += part[r * k + q];
		}
	}
	kdri_serial_end(before);
done:
	KDRI_FREE(ctx, vectors, room);
	return st;
}

kdr_status kdri_cpu_times(kdr_context *ctx, kdri_block a, bool trans, const double *x, double *y)
{
	if (!trans)
		return kdri_block_mul(ctx, a, x, 1, 1, y, 1);
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static)
	for (int64_t j = 0; j < a.cols; j += KDRI_BLOCK) {
		int64_t cols = KDRI_MIN(KDRI_BLOCK, a.cols - j);
		memset(y + j, 0, (size_t)cols * sizeof *y);
		for (int64_t i = 0; i < a.rows; i++) {
			kdri_block row = kdri_block_part(a, i, j, 1, cols);
			kdri_row_add(&row, x[i], y + j);
		}
	}
	return KDR_OK;
}

kdr_status kdri_cpu_row_dots(kdr_context *ctx, kdri_block a, const double *v, double *out)
{
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static)
	for (int64_t i = 0; i < a.rows; i++) {
		double sum = 0;
		if (v && !a.floats)
			sum = kdri_dot((const double *)a.data + i * a.stride, v, a.cols);
		else
			for (int64_t j = 0; j < a.cols; j++)
				sum += kdri_block_get(&a, i, j) * (v ? v[j] : 1);
		out[i] = sum;
	}
	return KDR_OK;
}

kdr_status kdri_cpu_multiply(kdr_context *ctx, const kdri_sparse *x, bool turned, kdri_block b, kdri_block y)
{
	if (turned)
		kdri_csr_tmul(ctx, &x->x, b.data, b.cols, b.stride, y.data, y.stride);
	else
		kdri_csr_mul(ctx, &x->x, b.data, b.cols, b.stride, y.data, y.stride);
	return KDR_OK;
}

kdr_status kdri_cpu_gram(kdr_context *ctx, const kdri_sparse *x, bool turned, const double *weight,
                         kdri_block c)
{
	return turned ? kdri_sparse_gram(ctx, &x->turned, &x->x, weight, c)
	              : kdri_sparse_gram(ctx, &x->x, &x->turned, weight, c);
}
