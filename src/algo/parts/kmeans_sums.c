/* Sums over rows, and norms, for k-means. SPDX-License-Identifier: BSD-3-Clause
 *
 * Apart from the products: here memory is the limit, and without fused multiply-adds the loops for dense
 * and sparse rows round alike however the compiler arranges them. */
#include "algo/parts/kmeans_kernels.h"
#include "linalg/linalg.h"

KDRI_KERNEL
void kdri_km_add(const kdr_mat *x, const int64_t *rows, const double *coef, int64_t count, int64_t f0,
                 int64_t f1, double *restrict sum)
{
	if (x->kind == KDR_MAT_DENSE) {
		for (int64_t r = 0; r < count; r++) {
			const double *restrict v = x->as.dense.data + rows[r] * x->as.dense.stride;
			double w = coef[r];
			for (int64_t f = f0; f < f1; f++)
				sum[f] += w * v[f];
		}
		return;
	}
	const kdr_csr *s = &x->as.csr;
	for (int64_t r = 0; r < count; r++)
		for (int64_t p = s->rowptr[rows[r]]; p < s->rowptr[rows[r] + 1]; p++)
			sum[s->col[p]] += coef[r] * s->val[p];
}

static double sum_lanes(const double *l)
{
	return ((l[0] + l[1]) + (l[2] + l[3])) + ((l[4] + l[5]) + (l[6] + l[7]));
}

/* Feature f belongs to sum f mod 8 in both loops, so that zeros make no difference. */
KDRI_KERNEL
void kdri_km_norms(const kdr_mat *x, int64_t begin, int64_t end, const double *shift, double shift_norm,
                   double *out)
{
	if (x->kind == KDR_MAT_DENSE) {
		int64_t d = x->as.dense.cols;
		for (int64_t i = begin; i < end; i++) {
			const double *v = x->as.dense.data + i * x->as.dense.stride;
			double lanes[KDRI_LANES] = { 0 };
			for (int64_t f = 0; f < d; f += KDRI_LANES)
				for (int64_t j = 0; j < KDRI_MIN(KDRI_LANES, d - f); j++) {
					double e = shift ? v[f + j] - shift[f + j] : v[f + j];
					lanes[j] += e * e;
				}
			out[i] = sum_lanes(lanes);
		}
		return;
	}
	const kdr_csr *s = &x->as.csr;
	for (int64_t i = begin; i < end; i++) {
		double lanes[KDRI_LANES] = { 0 };
		for (int64_t p = s->rowptr[i]; p < s->rowptr[i + 1]; p++) {
			double e = shift ? s->val[p] - 2 * shift[s->col[p]] : s->val[p];
			lanes[s->col[p] % KDRI_LANES] += s->val[p] * e;
		}
		double sum = sum_lanes(lanes);
		out[i] = shift ? KDRI_MAX(0.0, sum + shift_norm) : sum;
	}
}
