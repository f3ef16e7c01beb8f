/* Truncated singular value decomposition. SPDX-License-Identifier: BSD-3-Clause
 *
 * With A of rows x cols and, say, cols <= rows:
 *
 *   (E1)  A' A v_j = lambda_j v_j         the largest eigenpairs, A' A applied as two products
 *   (E2)  s_j = ||A v_j||, u_j = A v_j / s_j
 *
 * and with A' in the place of A if rows < cols. (E2) gives s_j to more digits than sqrt(lambda_j), but
 * the v_j with s_j below sqrt(eps) s_1 mix among themselves, since A' A holds their lambda_j only to within
 * eps s_1^2: there s_j is right to about sqrt(eps) s_1, as with every method that squares the matrix. To
 * keep U orthonormal all the same, each A v_j is made orthogonal to the earlier u_i, twice. Where
 * nothing but rounding is left, s_j is set to 0 and u_j to a random direction orthogonal to the others. So
 * U and V are always orthonormal; of a u_j with s_j = 0 nothing else is promised.
 *
 * The largest entry of each vector on the smaller side (V where cols <= rows) is positive. */
#include <float.h>

#include "linalg/linalg.h"

/* A, or A' where `flipped`. */
static kdr_status apply(kdr_context *ctx, const kdri_op *op, bool flipped, const double *x, int64_t k,
                        int64_t ldx, double *y, int64_t ldy)
{
	return (flipped && op->apply_t ? op->apply_t : op->apply)(ctx, op, x, k, ldx, y, ldy);
}

typedef struct gram {
	const kdri_op *op;
	bool flipped;
} gram;

/* (E1) */
static kdr_status gram_apply(kdr_context *ctx, const kdri_op *self, const double *x, int64_t k, int64_t ldx,
                             double *y, int64_t ldy)
{
	kdr_status st;
	const gram *g = self->data;
	int64_t long_side = g->flipped ? g->op->cols : g->op->rows, size;
	double *between = NULL;
	KDRI_TRY(kdri_mul(ctx, long_side, k, &size));
	KDRI_TRY(KDRI_NEW(ctx, &between, size));
	KDRI_TRY(apply(ctx, g->op, g->flipped, x, k, ldx, between, k));
	KDRI_TRY(apply(ctx, g->op, !g->flipped, between, k, k, y, ldy));
done:
	kdri_free(ctx, between);
	return st;
}

/* Removes from w its components along the first `count` rows of q (each of length n), twice: once
 * leaves rounding errors as large as what was removed. */
static void orthogonalise(const double *q, int64_t count, int64_t n, double *w)
{
	for (int pass = 0; pass < 2; pass++)
		for (int64_t c = 0; c < count; c++)
			kdri_axpy(-kdri_dot(q + c * n, w, n), q + c * n, w, n);
}

static void scale(double *w, int64_t n, double by)
{
	for (int64_t i = 0; i < n; i++)
		w[i] *= by;
}

/* w becomes a random unit vector orthogonal to the first `count` < n rows of q. */
static void complete(kdri_rng *rng, const double *q, int64_t count, int64_t n, double *w)
{
	double before, after;
	do {
		for (int64_t i = 0; i < n; i++)
			w[i] = kdri_rng_normal(rng);
		before = sqrt(kdri_nrm2sq(w, n));
		orthogonalise(q, count, n, w);
		after = sqrt(kdri_nrm2sq(w, n));
	} while (after <= 1e-8 * before); /* unlucky: drawn from the span of the others */
	scale(w, n, 1 / after);
}

/* (E2) for the rows of q, which hold A v_j: makes them orthonormal and s their lengths. */
static void normalise(kdr_context *ctx, double *q, int64_t count, int64_t n, double *s)
{
	kdri_rng rng = kdri_rng_stream(ctx->seed, "svds", 0);
	double largest = 0;
	for (int64_t j = 0; j < count; j++)
		largest = KDRI_MAX(largest, kdri_nrm2sq(q + j * n, n));
	/* v_j is orthogonal to v_1 to within eps alone, so A v_j is wrong by eps s_1. */
	double floor = sqrt(largest) * DBL_EPSILON * (double)n;
	for (int64_t j = 0; j < count; j++) {
		double *w = q + j * n;
		orthogonalise(q, j, n, w);
		s[j] = sqrt(kdri_nrm2sq(w, n));
		if (s[j] > floor) {
			scale(w, n, 1 / s[j]);
		} else {
			s[j] = 0;
			complete(&rng, q, j, n, w);
		}
	}
}

/* Orders by s; equal eigenvalues may have come out in either order. */
static void sort_down(int64_t *order, const double *s, int64_t count)
{
	for (int64_t j = 0; j < count; j++) {
		int64_t at = j;
		for (; at > 0 && s[order[at - 1]] < s[j]; at--)
			order[at] = order[at - 1];
		order[at] = j;
	}
}

kdr_status kdri_svds(kdr_context *ctx, const kdri_op *op, int64_t count, double tol, double *u, double *s,
                     double *v)
{
	kdr_status st;
	bool flipped = op->rows < op->cols;
	int64_t short_side = KDRI_MIN(op->rows, op->cols), long_side = KDRI_MAX(op->rows, op->cols), size;
	double *small = NULL, *large = NULL, *product = NULL, *values = NULL;
	int64_t *order = NULL;
	if (count < 0 || count > short_side)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "%lld singular values are wanted of a %lld x %lld matrix", (long long)count,
		                 (long long)op->rows, (long long)op->cols);
	if (count == 0)
		return KDR_OK;
	const gram g = { op, flipped };
	const kdri_op square = { short_side, short_side, gram_apply, NULL, &g };
	KDRI_TRY(kdri_mul(ctx, long_side, count, &size));
	KDRI_TRY(KDRI_NEW(ctx, &small, short_side * count));
	KDRI_TRY(KDRI_NEW(ctx, &product, size));
	KDRI_TRY(KDRI_NEW(ctx, &large, size));
	KDRI_TRY(KDRI_NEW(ctx, &values, count));
	KDRI_TRY(KDRI_NEW(ctx, &order, count));
	KDRI_TRY(kdri_eigsh(ctx, &square, count, KDRI_LARGEST, tol, values, small));
	KDRI_TRY(apply(ctx, op, flipped, small, count, count, product, count));
	for (int64_t i = 0; i < long_side; i++)
		for (int64_t j = 0; j < count; j++)
			large[j * long_side + i] = product[i * count + j];
	normalise(ctx, large, count, long_side, values);
	sort_down(order, values, count);
	double *from_small = flipped ? u : v, *from_large = flipped ? v : u;
	for (int64_t j = 0; j < count; j++) {
		s[j] = values[order[j]];
		for (int64_t i = 0; from_small && i < short_side; i++)
			from_small[i * count + j] = small[i * count + order[j]];
		for (int64_t i = 0; from_large && i < long_side; i++)
			from_large[i * count + j] = large[order[j] * long_side + i];
	}
done:
	kdri_free(ctx, small);
	kdri_free(ctx, product);
	kdri_free(ctx, large);
	kdri_free(ctx, values);
	kdri_free(ctx, order);
	return st;
}
