/* Loops over a row of numbers of type REAL: block_rows.c includes this once for each precision. Sums are in double.
 * SPDX-License-Identifier: BSD-3-Clause */

KDRI_KERNEL
static void NAME(add_moments)(const REAL *restrict v, int64_t n, double *restrict sum,
                              double *restrict squares)
{
	for (int64_t j = 0; j < n; j++) {
		double wide = (double)v[j];
		sum[j] += wide;
		squares[j] += wide * wide;
	}
}

KDRI_KERNEL
static int64_t NAME(count_beyond)(const REAL *v, int64_t n, REAL limit)
{
	int64_t count = 0;
#pragma omp simd reduction(+ : count)
	for (int64_t j = 0; j < n; j++)
		count += v[j] > limit || v[j] < -limit;
	return count;
}

KDRI_KERNEL
static int64_t NAME(count_from)(const REAL *v, int64_t n, double least)
{
	int64_t count = 0;
#pragma omp simd reduction(+ : count)
	for (int64_t j = 0; j < n; j++)
		count += (double)v[j] >= least;
	return count;
}

KDRI_KERNEL
static double NAME(squares)(const REAL *v, int64_t n)
{
	double sum = 0;
#pragma omp simd reduction(+ : sum)
	for (int64_t j = 0; j < n; j++)
		sum += (double)v[j] * (double)v[j];
	return sum;
}

KDRI_KERNEL
static void NAME(add)(const REAL *restrict v, double factor, int64_t n, double *restrict to)
{
	for (int64_t j = 0; j < n; j++)
		to[j] += factor * (double)v[j];
}

KDRI_KERNEL
static void NAME(centre)(const REAL *restrict v, const double *restrict mean, double shift,
                         const double *restrict scale, int64_t n, REAL *restrict to)
{
	if (scale)
		for (int64_t j = 0; j < n; j++)
			to[j] = (REAL)(((double)v[j] - shift * mean[j]) * scale[j]);
	else
		for (int64_t j = 0; j < n; j++)
			to[j] = (REAL)((double)v[j] - shift * mean[j]);
}
