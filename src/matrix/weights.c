/* Weights of the nearest neighbours of a sample. SPDX-License-Identifier: BSD-3-Clause */
#include "matrix/weights.h"

#include "matrix/linalg.h"
#include "matrix/select.h"

kdri_limits kdri_limits_of(const double *a, int64_t n, int64_t self, int64_t place, double tie, double *room)
{
	memcpy(room, a, (size_t)n * sizeof *a);
	if (self >= 0)
		room[self] = INFINITY;
	kdri_limits l = { .least = kdri_least(room, n) };
	l.bound = kdri_nth(room, n, place);
	l.tied = l.bound - l.least <= tie;
	return l;
}

KDRI_KERNEL
static int64_t fill_weights(const double *a, int64_t n, double least, double bound, double *weight)
{
	int64_t count = 0;
	double range = bound - least;
#pragma omp simd reduction(+ : count)
	for (int64_t j = 0; j < n; j++) {
		double v = (bound - a[j]) / range;
		weight[j] = v > 0 ? v : 0;
		count += v > 0;
	}
	return count;
}

int64_t kdri_weigh(const kdri_limits *l, const double *a, int64_t n, int64_t self, double tie, double *weight)
{
	int64_t count = 0;
	if (!l->tied)
		count = fill_weights(a, n, l->least, l->bound, weight);
	for (int64_t j = 0; j < n && l->tied; j++) {
		weight[j] = a[j] <= l->bound + tie;
		count += weight[j] > 0;
	}
	if (self >= 0) {
		count -= weight[self] > 0;
		weight[self] = 0;
	}
	return count;
}
