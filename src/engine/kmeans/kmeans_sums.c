/* Sums over rows, and norms, for k-means. SPDX-License-Identifier: BSD-3-Clause
 *
 * These loops are separate from the products: they are limited by memory bandwidth, and without fused multiply-adds
 * the loops for dense and sparse rows round in the same way, however the compiler arranges them. */
#include "engine/kmeans/kmeans_kernels.h"
#include "matrix/linalg.h"

/* (E101) of comm/exact.h for one term; its parts are passed as numbers, so that four rows can be added at a time. */
#define SPLIT(x, t, small, h, l) \
	double h = ((x) + (t)) - (t); \
	double l = (((x)-h) + (small)) - (small)

KDRI_KERNEL
static void add_four(const double *const v[4], const double *coef, int64_t f0, int64_t f1,
                     const double *restrict unit, double ratio, double *restrict high, double *restrict low)
{
	const double *restrict v0 = v[0], *restrict v1 = v[1], *restrict v2 = v[2], *restrict v3 = v[3];
	const double c0 = coef[0], c1 = coef[1], c2 = coef[2], c3 = coef[3];
	for (int64_t f = f0; f < f1; f++) {
		double t = unit[f], small = t * ratio;
		double x0 = c0 * v0[f], x1 = c1 * v1[f], x2 = c2 * v2[f], x3 = c3 * v3[f];
		SPLIT(x0, t, small, h0, l0);
		SPLIT(x1, t, small, h1, l1);
		SPLIT(x2, t, small, h2, l2);
		SPLIT(x3, t, small, h3, l3);
		high[f] += (h0 + h1) + (h2 + h3);
		low[f] += (l0 + l1) + (l2 + l3);
	}
}

KDRI_KERNEL
static void add_one(const double *restrict v, double coef, int64_t f0, int64_t f1,
                    const double *restrict unit, double ratio, double *restrict high, double *restrict low)
{
	for (int64_t f = f0; f < f1; f++) {
		double t = unit[f], small = t * ratio, x = coef * v[f];
		SPLIT(x, t, small, h, l);
		high[f] += h;
		low[f] += l;
	}
}

void kdri_km_add(const kdr_mat *x, const int64_t *rows, const double *coef, int64_t count, int64_t f0,
                 int64_t f1, const kdri_km_sums *to)
{
	if (x->kind == KDR_MAT_DENSE) {
		const kdr_dense *m = &x->as.dense;
		int64_t r = 0;
		enum { AHEAD = 8, LINE = 8 };
		/* Four rows at a time, so that four memory reads are in progress at once; later ones are asked for. */
		for (; r + 4 <= count; r += 4) {
			const double *v[4];
			for (int i = 0; i < 4; i++) {
				const double *later =
				        m->data + rows[KDRI_MIN(r + i + AHEAD, count - 1)] * m->stride;
				v[i] = m->data + rows[r + i] * m->stride;
				for (int64_t f = f0; f < f1; f += LINE)
					__builtin_prefetch(later + f);
			}
			add_four(v, coef + r, f0, f1, to->unit, to->ratio, to->high, to->low);
		}
		for (; r < count; r++)
			add_one(m->data + rows[r] * m->stride, coef[r], f0, f1, to->unit, to->ratio, to->high,
			        to->low);
		return;
	}
	const kdr_csr *s = &x->as.csr;
	for (int64_t r = 0; r < count; r++)
		for (int64_t p = s->rowptr[rows[r]]; p < s->rowptr[rows[r] + 1]; p++) {
			int32_t f = s->col[p];
			double t = to->unit[f], small = t * to->ratio, v = coef[r] * s->val[p];
			SPLIT(v, t, small, h, l);
			to->high[f] += h;
			to->low[f] += l;
		}
}

KDRI_KERNEL
static void most_of(const double *restrict v, double coef, int64_t d, double *restrict most)
{
	for (int64_t f = 0; f < d; f++) {
		double size = fabs(coef * v[f]);
		most[f] = size > most[f] ? size : most[f];
	}
}

void kdri_km_most(const kdr_mat *x, int64_t begin, int64_t end, const double *coef, double *most)
{
	for (int64_t i = begin; i < end; i++) {
		double c = coef ? coef[i] : 1;
		if (x->kind == KDR_MAT_DENSE) {
			most_of(x->as.dense.data + i * x->as.dense.stride, c, x->as.dense.cols, most);
			continue;
		}
		const kdr_csr *s = &x->as.csr;
		for (int64_t p = s->rowptr[i]; p < s->rowptr[i + 1]; p++)
			most[s->col[p]] = KDRI_MAX(most[s->col[p]], fabs(c * s->val[p]));
	}
}

kdr_status kdri_km_table_new(kdr_context *ctx, kdr_mat_kind kind, int64_t d, int64_t tiles,
                             kdri_km_table *out)
{
	int64_t size;
	double *room = NULL;
	KDRI_DO(kdri_mul(ctx, d, tiles * KDRI_LANES, &size));
	KDRI_DO(KDRI_NEW0(ctx, &room, size + KDRI_LANES));
	uintptr_t line = KDRI_LANES * sizeof *room, past = (uintptr_t)room % line;
	out->room = room;
	out->at = room + (past ? (line - past) / sizeof *room : 0);
	out->tile_step = kind == KDR_MAT_DENSE ? KDRI_LANES * d : KDRI_LANES;
	out->feature_step = kind == KDR_MAT_DENSE ? KDRI_LANES : KDRI_LANES * tiles;
	return KDR_OK;
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
#include "matrix/each_machine.h"

void kdri_km_try(const kdri_km_trial *t, int64_t count)
{
	for (int64_t first = 0; first < t->lanes; first += KDRI_LANES / 2)
		KDRI_PICK(try_half)(t, count, first);
}

kdri_traits kdri_km_renew(double *c, const double *s, double mass, const double *shift, const double *mean,
                          double *lane, int64_t step, int64_t count)
{
	return KDRI_PICK(renew)(c, s, mass, shift, mean, lane, step, count);
}
