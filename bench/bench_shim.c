/* Internal functions that benchmarks call through ctypes. SPDX-License-Identifier: BSD-3-Clause
 *
 * Matrices have sparse rows or, if rowptr is NULL, dense ones. A function returns 0, or the error status. */
#include "engine/graph/knn.h"
#include "matrix/blas.h"

/* y = X b (rows x k) or, transposed, y = X' b (cols x k). */
KDR_API int bench_product(int64_t rows, int64_t cols, const int64_t *rowptr, const int32_t *col,
                          const double *val, const double *b, int64_t k, double *y, int transposed,
                          int threads)
{
	kdr_mat x = kdr_mat_from_csr(rows, cols, rowptr, col, val);
	kdr_context *ctx = NULL;
	kdr_status st = kdr_context_new(&ctx, NULL);
	if (st != KDR_OK)
		return st;
	kdr_context_set_threads(ctx, threads);
	st = (transposed ? kdri_mat_tmul : kdri_mat_mul)(ctx, &x, b, k, k, y, k);
	kdr_context_free(ctx);
	return st;
}

/* The k nearest neighbours of every row (rows x k): of sparse rows by cosine, of dense ones by distance. */
KDR_API int bench_neighbours(int64_t rows, int64_t cols, const int64_t *rowptr, const int32_t *col,
                             const double *val, int64_t k, int32_t *index, const char *device, int threads)
{
	kdr_mat x =
	        rowptr ? kdr_mat_from_csr(rows, cols, rowptr, col, val) : kdr_mat_from_dense(val, rows, cols);
	kdri_knn found = { 0 };
	kdr_context *ctx = NULL;
	kdr_status st = kdr_context_new(&ctx, NULL);
	if (st != KDR_OK)
		return st;
	kdr_context_set_threads(ctx, threads);
	st = kdr_context_set_device(ctx, device);
	if (st == KDR_OK)
		st = kdri_knn_find(ctx, &x, k, rowptr ? KDRI_METRIC_COSINE : KDRI_METRIC_EUCLIDEAN, NULL,
		                   &found);
	if (st == KDR_OK)
		memcpy(index, found.index, (size_t)(rows * k) * sizeof *index);
	kdri_knn_free(ctx, &found);
	kdr_context_free(ctx);
	return st;
}

/* C = op(A) op(B), on one thread. */
KDR_API void bench_gemm(int trans_a, int trans_b, int64_t m, int64_t n, int64_t k, const double *a,
                        const double *b, double *c)
{
	int before = kdri_serial_begin();
	kdri_dgemm(trans_a, trans_b, m, n, k, 1, a, trans_a ? m : k, b, trans_b ? k : n, 0, c, n);
	kdri_serial_end(before);
}

KDR_API void bench_gemm_single(int trans_a, int trans_b, int64_t m, int64_t n, int64_t k, const float *a,
                               const float *b, float *c)
{
	int before = kdri_serial_begin();
	kdri_sgemm(trans_a, trans_b, m, n, k, 1, a, trans_a ? m : k, b, trans_b ? k : n, 0, c, n);
	kdri_serial_end(before);
}

/* NULL if there is no memory. */
static kdr_context *one_thread(void)
{
	kdr_context *ctx = NULL;
	if (kdr_context_new(&ctx, NULL) == KDR_OK)
		kdr_context_set_threads(ctx, 1);
	return ctx;
}

KDR_API int bench_eigh(int64_t n, double *a, double *values)
{
	kdr_context *ctx = one_thread();
	kdr_status st = ctx ? kdri_eigh(ctx, n, a, n, values) : KDR_ERR_MEMORY;
	kdr_context_free(ctx);
	return st;
}

KDR_API int bench_inverse(int64_t n, double *a)
{
	kdr_context *ctx = one_thread();
	kdr_status st = ctx ? kdri_cholesky(ctx, n, a, n) : KDR_ERR_MEMORY;
	if (st == KDR_OK)
		st = kdri_cholesky_inverse(ctx, n, a, n);
	kdr_context_free(ctx);
	return st;
}

/* B (n x k) = A^-1 B */
KDR_API int bench_solve(int64_t n, int64_t k, double *a, double *b)
{
	kdr_context *ctx = one_thread();
	kdr_status st = ctx ? kdri_cholesky(ctx, n, a, n) : KDR_ERR_MEMORY;
	if (st == KDR_OK)
		st = kdri_cholesky_solve(ctx, n, a, n, b, k, k);
	kdr_context_free(ctx);
	return st;
}
