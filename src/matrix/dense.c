/* Vectors. SPDX-License-Identifier: BSD-3-Clause
 *
 * Sums run in eight lanes: entry i is added to lane i mod 8, and the lanes are added as a tree at the end.
 * Eight doubles fill one AVX-512 register, two of AVX2 or four of NEON, and since the association is
 * written out, every one of them gives the same bits. */
#include "matrix/linalg.h"

enum { LANES = 8 };

static inline double sum_lanes(const double *s)
{
	return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

/* 2 flops for 16 bytes: bound by memory as soon as x and y leave the cache. */
KDRI_KERNEL
double kdri_dot(const double *restrict x, const double *restrict y, int64_t n)
{
	double s[LANES] = { 0 };
	int64_t i = 0;
	for (; i + LANES <= n; i += LANES) {
#pragma omp simd
		for (int l = 0; l < LANES; l++)
			s[l] += x[i + l] * y[i + l];
	}
	for (int l = 0; i < n; i++, l++)
		s[l] += x[i] * y[i];
	return sum_lanes(s);
}

KDRI_KERNEL
double kdri_nrm2sq(const double *x, int64_t n)
{
	double s[LANES] = { 0 };
	int64_t i = 0;
	for (; i + LANES <= n; i += LANES) {
#pragma omp simd
		for (int l = 0; l < LANES; l++)
			s[l] += x[i + l] * x[i + l];
	}
	for (int l = 0; i < n; i++, l++)
		s[l] += x[i] * x[i];
	return sum_lanes(s);
}

/* Compilers keep the order of comparisons as they do that of sums: so this too is written in lanes. */
KDRI_KERNEL
double kdri_least(const double *x, int64_t n)
{
	double s[LANES];
	int64_t i = 0;
	for (int l = 0; l < LANES; l++)
		s[l] = INFINITY;
	for (; i + LANES <= n; i += LANES) {
#pragma omp simd
		for (int l = 0; l < LANES; l++)
			s[l] = x[i + l] < s[l] ? x[i + l] : s[l];
	}
	for (; i < n; i++)
		s[0] = KDRI_MIN(x[i], s[0]);
	for (int l = 1; l < LANES; l++)
		s[0] = KDRI_MIN(s[l], s[0]);
	return s[0];
}

KDRI_KERNEL
double kdri_greatest(const double *x, int64_t n)
{
	double s[LANES];
	int64_t i = 0;
	for (int l = 0; l < LANES; l++)
		s[l] = -INFINITY;
	for (; i + LANES <= n; i += LANES) {
#pragma omp simd
		for (int l = 0; l < LANES; l++)
			s[l] = x[i + l] > s[l] ? x[i + l] : s[l];
	}
	for (; i < n; i++)
		s[0] = KDRI_MAX(x[i], s[0]);
	for (int l = 1; l < LANES; l++)
		s[0] = KDRI_MAX(s[l], s[0]);
	return s[0];
}

KDRI_KERNEL
void kdri_axpy(double alpha, const double *restrict x, double *restrict y, int64_t n)
{
#pragma omp simd
	for (int64_t i = 0; i < n; i++)
		y[i] += alpha * x[i];
}
