/* Matrices times vectors. SPDX-License-Identifier: BSD-3-Clause
 *
 * TOGETHER rows at a time, so that the vector is read from the cache once for all of them. Sums run in eight lanes, as those of
 * matrix/dense.c. */
#include "matrix/builtin/builtin.h"

enum { TOGETHER = 4, LANES = 8 };

static inline double sum_lanes(const double *s)
{
	return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

/* sums[r] = <a_r, x> for TOGETHER rows a_r. */
KDRI_KERNEL
static void dots(const double *restrict a, int64_t lda, const double *restrict x, int64_t n, double *sums)
{
	double s[TOGETHER][LANES] = { 0 };
	const double *a0 = a, *a1 = a + lda, *a2 = a + 2 * lda, *a3 = a + 3 * lda;
	int64_t i = 0;
	for (; i + LANES <= n; i += LANES) {
#pragma omp simd
		for (int l = 0; l < LANES; l++) {
			s[0][l] += a0[i + l] * x[i + l];
			s[1][l] += a1[i + l] * x[i + l];
			s[2][l] += a2[i + l] * x[i + l];
			s[3][l] += a3[i + l] * x[i + l];
		}
	}
	for (int l = 0; i < n; i++, l++)
		for (int r = 0; r < TOGETHER; r++)
			s[r][l] += a[r * lda + i] * x[i];
	for (int r = 0; r < TOGETHER; r++)
		sums[r] = sum_lanes(s[r]);
}

/* y += sum over TOGETHER rows of factor[r] a_r */
KDRI_KERNEL
static void combine(const double *restrict a, int64_t lda, const double *factor, double *restrict y,
                    int64_t n)
{
	const double *a0 = a, *a1 = a + lda, *a2 = a + 2 * lda, *a3 = a + 3 * lda;
	const double f0 = factor[0], f1 = factor[1], f2 = factor[2], f3 = factor[3];
#pragma omp simd
	for (int64_t i = 0; i < n; i++)
		y[i] = (((y[i] + f0 * a0[i]) + f1 * a1[i]) + f2 * a2[i]) + f3 * a3[i];
}

/* Both: sums[r] = <a_r, x> and y += sum factor[r] a_r, reading the rows once. */
KDRI_KERNEL
static void dots_and_combine(const double *restrict a, int64_t lda, const double *restrict x,
                             const double *factor, double *restrict y, int64_t n, double *sums)
{
	double s[TOGETHER][LANES] = { 0 };
	const double *a0 = a, *a1 = a + lda, *a2 = a + 2 * lda, *a3 = a + 3 * lda;
	const double f0 = factor[0], f1 = factor[1], f2 = factor[2], f3 = factor[3];
	int64_t i = 0;
	for (; i + LANES <= n; i += LANES) {
#pragma omp simd
		for (int l = 0; l < LANES; l++) {
			double v0 = a0[i + l], v1 = a1[i + l], v2 = a2[i + l], v3 = a3[i + l];
			s[0][l] += v0 * x[i + l];
			s[1][l] += v1 * x[i + l];
			s[2][l] += v2 * x[i + l];
			s[3][l] += v3 * x[i + l];
			y[i + l] = (((y[i + l] + f0 * v0) + f1 * v1) + f2 * v2) + f3 * v3;
		}
	}
	for (int l = 0; i < n; i++, l++)
		for (int r = 0; r < TOGETHER; r++) {
			s[r][l] += a[r * lda + i] * x[i];
			y[i] += factor[r] * a[r * lda + i];
		}
	for (int r = 0; r < TOGETHER; r++)
		sums[r] = sum_lanes(s[r]);
}

static double strided_dot(const double *a, const double *x, int64_t incx, int64_t n)
{
	double sum = 0;
	if (incx == 1)
		return kdri_dot(a, x, n);
	for (int64_t i = 0; i < n; i++)
		sum += a[i] * x[i * incx];
	return sum;
}

static void rows_times(int64_t rows, int64_t cols, double alpha, const double *a, int64_t lda,
                       const double *x, int64_t incx, double beta, double *y, int64_t incy)
{
	double sums[TOGETHER];
	for (int64_t i = 0, count; i < rows; i += count) {
		count = rows - i >= TOGETHER && incx == 1 ? TOGETHER : 1;
		if (count == 1)
			sums[0] = strided_dot(a + i * lda, x, incx, cols);
		else
			dots(a + i * lda, lda, x, cols, sums);
		for (int64_t r = 0; r < count; r++) {
			double *to = y + (i + r) * incy;
			*to = alpha * sums[r] + (beta == 0 ? 0 : beta * *to);
		}
	}
}

static void columns_times(int64_t rows, int64_t cols, double alpha, const double *a, int64_t lda,
                          const double *x, int64_t incx, double beta, double *y, int64_t incy)
{
	int64_t i = 0;
	for (int64_t j = 0; j < cols; j++)
		y[j * incy] = beta == 0 ? 0 : beta * y[j * incy];
	for (; incy == 1 && i + TOGETHER <= rows; i += TOGETHER) {
		double factor[TOGETHER];
		for (int r = 0; r < TOGETHER; r++)
			factor[r] = alpha * x[(i + r) * incx];
		combine(a + i * lda, lda, factor, y, cols);
	}
	for (; i < rows; i++) {
		double factor = alpha * x[i * incx];
		for (int64_t j = 0; j < cols; j++)
			y[j * incy] += factor * a[i * lda + j];
	}
}

void kdri_dgemv(bool trans, int64_t rows, int64_t cols, double alpha, const double *a, int64_t lda,
                const double *x, int64_t incx, double beta, double *y, int64_t incy)
{
	(trans ? columns_times : rows_times)(rows, cols, alpha, a, lda, x, incx, beta, y, incy);
}

void kdri_symmetric_times(int64_t n, const double *a, int64_t lda, const double *x, double *y)
{
	int64_t i = 0;
	memset(y, 0, (size_t)n * sizeof *y);
	for (; i + TOGETHER <= n; i += TOGETHER) {
		double sums[TOGETHER];
		const double *block = a + i * lda + i;
		int64_t after = i + TOGETHER;
		for (int64_t r = 0; r < TOGETHER; r++) /* the triangle on the diagonal */
			for (int64_t q = 0; q < TOGETHER; q++)
				y[i + r] += (q < r ? block[q * lda + r] : block[r * lda + q]) * x[i + q];
		dots_and_combine(block + TOGETHER, lda, x + after, x + i, y + after, n - after, sums);
		for (int64_t r = 0; r < TOGETHER; r++)
			y[i + r] += sums[r];
	}
	for (int64_t r = i; r < n; r++)
		for (int64_t q = i; q < n; q++)
			y[r] += (q < r ? a[q * lda + r] : a[r * lda + q]) * x[q];
}
