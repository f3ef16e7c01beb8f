/* Losses of linear classifiers and their derivatives. SPDX-License-Identifier: BSD-3-Clause */
#include "engine/linear/linear.h"

#include "matrix/linalg.h"
#include "matrix/logexp.h"

KDRI_KERNEL
void kdri_losses_hinge(int64_t count, const double *restrict q, double *restrict z, double *restrict h,
                       double *restrict loss)
{
#pragma omp simd
	for (int64_t e = 0; e < count; e++) {
		const double c = fabs(q[e]), u = q[e] < 0 ? -z[e] : z[e];
		const double gap = q[e] != 0 && u < 1 ? 1 - u : 0;
		loss[e] = c * gap * gap;
		z[e] = -2 * q[e] * gap;
		h[e] = u < 1 ? 2 * c : 0;
	}
}

/* With e = exp(-|u|), log(1 + exp(-u)) is log(1 + e), plus -u if u < 0. 1 + e rounded, minus 1, is the part of e that the
 * logarithm gets; its error is corrected by the quotient of both. */
KDRI_KERNEL
void kdri_losses_logistic(int64_t count, const double *restrict q, double *restrict z, double *restrict h,
                          double *restrict loss)
{
#pragma omp simd
	for (int64_t i = 0; i < count; i++) {
		const double c = fabs(q[i]), u = q[i] < 0 ? -z[i] : z[i], e = kdri_exp(-fabs(u));
		const double one = 1 + e, got = one - 1, quotient = got > 0 ? kdri_ln(one) / got : 1;
		const double p = (u > 0 ? e : 1) / one; /* 1 / (1 + exp(u)) */
		loss[i] = q[i] != 0 ? c * (e * quotient + (u < 0 ? -u : 0)) : 0;
		z[i] = -q[i] * p;
		h[i] = c * p * (1 - p);
	}
}

KDRI_KERNEL
double kdri_losses_softmax(int64_t k, const bool *restrict present, int64_t label, const double *restrict z,
                           double *restrict p)
{
	double most = -INFINITY, mass = 0;
	for (int64_t j = 0; j < k; j++)
		most = present[j] && z[j] > most ? z[j] : most;
#pragma omp simd
	for (int64_t j = 0; j < k; j++)
		p[j] = present[j] ? kdri_exp(z[j] - most) : 0;
	for (int64_t j = 0; j < k; j++)
		mass += p[j];
	for (int64_t j = 0; j < k; j++)
		p[j] /= mass;
	return log(mass) + most - z[label];
}
