/* What benchmarks call of the library's inside, by ctypes. SPDX-License-Identifier: BSD-3-Clause
 *
 * Each function returns the seconds it took, without setting up, or a negative number if it failed. */
#include "matrix/linalg.h"

KDR_API double bench_spmm(int64_t rows, int64_t cols, const int64_t *rowptr, const int32_t *col,
                          const double *val, const double *b, int64_t k, double *y, int threads);
KDR_API double bench_spmm_t(int64_t rows, int64_t cols, const int64_t *rowptr, const int32_t *col,
                            const double *val, const double *b, int64_t k, double *y, int threads);
KDR_API double bench_copy(const double *from, double *to, int64_t n, int threads);

typedef kdr_status product(kdr_context *ctx, const kdr_mat *x, const double *b, int64_t k, int64_t ldb,
                           double *y, int64_t ldy);

static double time_product(product *multiply, const kdr_mat *x, const double *b, int64_t k, double *y,
                           int threads)
{
	kdr_context *ctx = NULL;
	if (kdr_context_new(&ctx, NULL) != KDR_OK)
		return -1;
	kdr_context_set_threads(ctx, threads);
	double start = kdri_now();
	kdr_status st = multiply(ctx, x, b, k, k, y, k);
	double seconds = kdri_now() - start;
	kdr_context_free(ctx);
	return st == KDR_OK ? seconds : -1;
}

/* y (rows x k) = X b. */
double bench_spmm(int64_t rows, int64_t cols, const int64_t *rowptr, const int32_t *col, const double *val,
                  const double *b, int64_t k, double *y, int threads)
{
	kdr_mat x = kdr_mat_from_csr(rows, cols, rowptr, col, val);
	return time_product(kdri_mat_mul, &x, b, k, y, threads);
}

/* y (cols x k) = X' b. */
double bench_spmm_t(int64_t rows, int64_t cols, const int64_t *rowptr, const int32_t *col, const double *val,
                    const double *b, int64_t k, double *y, int threads)
{
	kdr_mat x = kdr_mat_from_csr(rows, cols, rowptr, col, val);
	return time_product(kdri_mat_tmul, &x, b, k, y, threads);
}

/* The plain copy that bandwidths are compared with: 16 n bytes are moved. */
double bench_copy(const double *from, double *to, int64_t n, int threads)
{
	const int64_t block = 1 << 16, blocks = (n + block - 1) / block;
	double start = kdri_now();
#pragma omp parallel for num_threads(threads) schedule(static)
	for (int64_t i = 0; i < blocks; i++)
		memcpy(to + i * block, from + i * block, (size_t)KDRI_MIN(block, n - i * block) * sizeof *to);
	return kdri_now() - start;
}
