/* Sums over rows, and norms, for k-means. SPDX-License-Identifier: BSD-3-Clause
 *
 * Apart from the products: here memory is the limit, and without fused multiply-adds the loops for dense
 * and sparse rows round alike however the compiler arranges them. */
#include "engine/kmeans/kmeans_kernels.h"
#include "linalg/linalg.h"

KDRI_KERNEL
void kdri_km_add(const kdr_mat *x, const int64_t *rows, const double *coef, int64_t count, int64_t f0,
                 int64_t f1, double *restrict sum)
{
	if (x->kind == KDR_MAT_DENSE) {
		const kdr_dense *m = &x->as.dense;
		int64_t r = 0;
		/* Four rows at a time: what memory is slow to give comes from four places at once. */
		for (; r + 4 <= count; r += 4) {
			const double *restrict a = m->data + rows[r] * m->stride;
			const double *restrict b = m->data + rows[r + 1] * m->stride;
			const double *restrict c = m->data + rows[r + 2] * m->stride;
			const double *restrict d = m->data + rows[r + 3] * m->stride;
			for (int64_t f = f0; f < f1; f++)
				sum[f] = (((sum[f] + coef[r] * a[f]) + coef[r + 1] * b[f]) +
				          coef[r + 2] * c[f]) +
				         coef[r + 3] * d[f];
		}
		for (; r < count; r++) {
			const double *restrict v = m->data + rows[r] * m->stride;
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

kdr_status kdri_km_table_new(kdr_context *ctx, kdr_mat_kind kind, int64_t d, int64_t tiles,
                             kdri_km_table *out)
{
	kdr_status st;
	int64_t size;
	double *room = NULL;
	KDRI_TRY(kdri_mul(ctx, d, tiles * KDRI_LANES, &size));
	KDRI_TRY(KDRI_NEW0(ctx, &room, size + KDRI_LANES));
	uintptr_t line = KDRI_LANES * sizeof *room, past = (uintptr_t)room % line;
	out->room = room;
	out->at = room + (past ? (line - past) / sizeof *room : 0);
	out->tile_step = kind == KDR_MAT_DENSE ? KDRI_LANES * d : KDRI_LANES;
	out->feature_step = kind == KDR_MAT_DENSE ? KDRI_LANES : KDRI_LANES * tiles;
done:
	return st;
}

static double add_lanes(const double *v)
{
	return ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
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
			out[i] = add_lanes(lanes);
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
		double sum = add_lanes(lanes);
		out[i] = shift ? KDRI_MAX(0.0, sum + shift_norm) : sum;
	}
}

#define KDRI_BODY "engine/kmeans/kmeans_renew.h"
#include "linalg/each_machine.h"

kdri_traits kdri_km_renew(double *c, const double *s, double mass, const double *shift, const double *mean,
                          double *lane, int64_t step, int64_t count)
{
	return KDRI_PICK(renew)(c, s, mass, shift, mean, lane, step, count);
}
