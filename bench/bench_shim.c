/* Internal functions that benchmarks call through ctypes. SPDX-License-Identifier: BSD-3-Clause
 *
 * Matrices have sparse rows or, if rowptr is NULL, dense ones. A function returns 0, or the error status. */
#include "engine/graph/knn.h"
#include "matrix/linalg.h"

KDR_API int bench_product(int64_t rows, int64_t cols, const int64_t *rowptr, const int32_t *col,
                          const double *val, const double *b, int64_t k, double *y, int transposed,
                          int threads);
KDR_API int bench_neighbours(int64_t rows, int64_t cols, const int64_t *rowptr, const int32_t *col,
                             const double *val, int64_t k, int32_t *index, const char *device, int threads);

/* y = X b (rows x k) or, transposed, y = X' b (cols x k). */
int bench_product(int64_t rows, int64_t cols, const int64_t *rowptr, const int32_t *col, const double *val,
                  const double *b, int64_t k, double *y, int transposed, int threads)
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
int bench_neighbours(int64_t rows, int64_t cols, const int64_t *rowptr, const int32_t *col, const double *val,
                     int64_t k, int32_t *index, const char *device, int threads)
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
		st = kdri_knn_find(ctx, &x, k, rowptr ? KDRI_METRIC_COSINE : KDRI_METRIC_EUCLIDEAN, &found);
	if (st == KDR_OK)
		memcpy(index, found.index, (size_t)(rows * k) * sizeof *index);
	kdri_knn_free(ctx, &found);
	kdr_context_free(ctx);
	return st;
}
