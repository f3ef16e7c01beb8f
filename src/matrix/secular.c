/* Spectrum slicing and shift-inverted block Lanczos for A = D - Z Z'. SPDX-License-Identifier: BSD-3-Clause
 *
 * The inertia of the bordered matrix [D - mu, Z; Z', I], computed in its two orders of elimination, gives
 *
 *   (E1)  neg(A - mu) = neg(D - mu) + neg(C(mu)),   C(mu) = I - Z'(D - mu)^-1 Z     (c x c)
 *
 * so that the eigenvalues below mu are counted exactly, multiple ones included, in O(r c^2). Bisection on
 * (E1) brackets each requested eigenvalue. For a shift sigma just below a group of close eigenvalues the inverse is
 * cheap,
 *
 *   (E2)  (A - sigma)^-1 = N0 + N C(sigma)^-1 N',   N0 = (D - sigma)^-1,  N = N0 Z      [Woodbury]
 *
 * and the group's eigenvalues are its largest and well separated: block Lanczos (ritz.c) finds them in O(r c) per
 * vector and product. Errors of C(sigma) are those of an identity in Z I Z' that is off by rounding, so (E2) is the
 * exact inverse of a nearby A however close sigma comes. At the end (E1) shows whether any eigenvalue was missed; if
 * so, the dense algorithm, O(r^3), is used. */
#include "matrix/ritz.h"

enum { DENSE_BELOW = 192, HALVINGS = 60 };

static double spread(const kdri_lowrank *a)
{
	double most = 0;
	for (int64_t i = 0; i < a->r; i++)
		most = KDRI_MAX(most, fabs(a->d[i]));
	return most + kdri_nrm2sq(a->z, a->r * a->c);
}

/* C(mu), c x c. `scaled` has room for r x c. A pole is passed by on one side. */
static kdr_status capacitance(kdr_context *ctx, const kdri_lowrank *a, double mu, double tiny, double *scaled,
                              double *c)
{
	int64_t k = a->c;
	for (int64_t i = 0; i < a->r; i++) {
		double gap = a->d[i] - mu;
		if (fabs(gap) < tiny)
			gap = gap < 0 ? -tiny : tiny;
		for (int64_t j = 0; j < k; j++)
			scaled[i * k + j] = a->z[i * k + j] / gap;
	}
	kdr_status st = kdri_gemm(ctx, true, false, k, k, a->r, -1, a->z, k, scaled, k, 0, c, k);
	for (int64_t j = 0; j < k && st == KDR_OK; j++)
		c[j * k + j] += 1;
	return st;
}

/* What counting needs, allocated once for many shifts. */
typedef struct counter {
	const kdri_lowrank *a;
	double tiny;
	double *scaled, *c, *w;
} counter;

static kdr_status counter_new(kdr_context *ctx, const kdri_lowrank *a, counter *k)
{
	*k = (counter){ .a = a, .tiny = 1e-300 + 1e-16 * spread(a) };
	KDRI_DO(KDRI_NEW(ctx, &k->scaled, a->r * a->c));
	KDRI_DO(KDRI_NEW(ctx, &k->c, a->c * a->c));
	return KDRI_NEW(ctx, &k->w, a->c);
}

/* (E1) */
static kdr_status count_below(kdr_context *ctx, counter *k, double mu, int64_t *count)
{
	int64_t n = 0;
	KDRI_DO(capacitance(ctx, k->a, mu, k->tiny, k->scaled, k->c));
	KDRI_DO(kdri_eigh(ctx, k->a->c, k->c, k->a->c, k->w));
	for (int64_t i = 0; i < k->a->r; i++)
		n += k->a->d[i] - mu < 0;
	for (int64_t j = 0; j < k->a->c; j++)
		n += k->w[j] < 0;
	*count = n;
	return KDR_OK;
}

/* The lower end of a bracket around eigenvalue number `index` (from 1), to about `width`. */
static kdr_status bracket(kdr_context *ctx, counter *k, int64_t index, double low, double high, double width,
                          double *out)
{
	for (int i = 0; i < HALVINGS && high - low > width; i++) {
		double middle = low + (high - low) / 2;
		int64_t count;
		KDRI_DO(count_below(ctx, k, middle, &count));
		*(count >= index ? &high : &low) = middle;
	}
	*out = low;
	return KDR_OK;
}

/* --- the dense way ------------------------------------------------------------------------------ */

kdr_status kdri_lowrank_dense(kdr_context *ctx, const kdri_lowrank *a, int64_t count, double *values,
                              double *vectors)
{
	kdr_status st;
	double *full = NULL, *w = NULL;
	int64_t r = a->r, size;
	KDRI_TRY(kdri_mul(ctx, r, r, &size));
	KDRI_TRY(KDRI_NEW(ctx, &full, size));
	KDRI_TRY(KDRI_NEW(ctx, &w, r));
	KDRI_TRY(kdri_gemm(ctx, false, true, r, r, a->c, -1, a->z, a->c, a->z, a->c, 0, full, r));
	for (int64_t i = 0; i < r; i++)
		full[i * r + i] += a->d[i];
	KDRI_TRY(kdri_eigh(ctx, r, full, r, w));
	memcpy(values, w, (size_t)count * sizeof *w);
	for (int64_t i = 0; i < r; i++)
		memcpy(vectors + i * count, full + i * r, (size_t)count * sizeof *w);
done:
	KDRI_FREE(ctx, full, w);
	return st;
}

/* --- shift-inverted ----------------------------------------------------------------------------- */

typedef struct inverse {
	int64_t r, c;
	double *n0, *n, *inv; /* r; r x c; c x c */
} inverse;

/* Y = -(A - sigma)^-1 X by (E2): the lowest eigenvalues of this belong to the lowest of A. */
static kdr_status inverse_apply(kdr_context *ctx, const kdri_op *op, const double *x, int64_t k, int64_t ldx,
                                double *y, int64_t ldy)
{
	kdr_status st;
	const inverse *v = op->data;
	double *inner = NULL, *solved = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &inner, v->c * k));
	KDRI_TRY(KDRI_NEW(ctx, &solved, v->c * k));
	KDRI_TRY(kdri_gemm(ctx, true, false, v->c, k, v->r, 1, v->n, v->c, x, ldx, 0, inner, k));
	KDRI_TRY(kdri_gemm(ctx, false, false, v->c, k, v->c, 1, v->inv, v->c, inner, k, 0, solved, k));
	KDRI_TRY(kdri_gemm(ctx, false, false, v->r, k, v->c, -1, v->n, v->c, solved, k, 0, y, ldy));
	for (int64_t i = 0; i < v->r; i++)
		for (int64_t j = 0; j < k; j++)
			y[i * ldy + j] -= v->n0[i] * x[i * ldx + j];
done:
	KDRI_FREE(ctx, inner, solved);
	return st;
}

/* *good is false where C(sigma) is singular. */
static kdr_status inverse_new(kdr_context *ctx, counter *k, double sigma, inverse *v, bool *good)
{
	const kdri_lowrank *a = k->a;
	int64_t c = a->c;
	v->r = a->r;
	v->c = c;
	KDRI_DO(KDRI_NEW(ctx, &v->n0, a->r));
	KDRI_DO(KDRI_NEW(ctx, &v->n, a->r * c));
	KDRI_DO(KDRI_NEW0(ctx, &v->inv, c * c));
	KDRI_DO(capacitance(ctx, a, sigma, k->tiny, v->n, k->c));
	for (int64_t i = 0; i < a->r; i++) {
		double gap = a->d[i] - sigma;
		v->n0[i] = 1 / (fabs(gap) < k->tiny ? copysign(k->tiny, gap) : gap);
	}
	KDRI_DO(kdri_eigh(ctx, c, k->c, c, k->w));
	*good = true;
	for (int64_t j = 0; j < c; j++)
		*good &= k->w[j] != 0;
	for (int64_t j = 0; j < c && *good; j++)
		for (int64_t p = 0; p < c; p++)
			for (int64_t q = 0; q < c; q++)
				v->inv[p * c + q] += k->c[p * c + j] * k->c[q * c + j] / k->w[j];
	return KDR_OK;
}

/* Rotates the columns of `vectors` to Ritz vectors of A itself; values become their Ritz values. */
static kdr_status refine(kdr_context *ctx, const kdri_lowrank *a, int64_t count, double *values,
                         double *vectors)
{
	kdr_status st;
	int64_t r = a->r, c = a->c;
	double *h = NULL, *zv = NULL, *scaled = NULL, *out = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &h, count * count));
	KDRI_TRY(KDRI_NEW(ctx, &zv, c * count));
	KDRI_TRY(KDRI_NEW(ctx, &scaled, r * count));
	KDRI_TRY(KDRI_NEW(ctx, &out, r * count));
	for (int64_t i = 0; i < r; i++)
		for (int64_t j = 0; j < count; j++)
			scaled[i * count + j] = a->d[i] * vectors[i * count + j];
	KDRI_TRY(kdri_gemm(ctx, true, false, c, count, r, 1, a->z, c, vectors, count, 0, zv, count));
	KDRI_TRY(kdri_gemm(ctx, true, false, count, count, r, 1, vectors, count, scaled, count, 0, h, count));
	KDRI_TRY(kdri_gemm(ctx, true, false, count, count, c, -1, zv, count, zv, count, 1, h, count));
	KDRI_TRY(kdri_eigh(ctx, count, h, count, values));
	KDRI_TRY(kdri_gemm(ctx, false, false, r, count, count, 1, vectors, count, h, count, 0, out, count));
	memcpy(vectors, out, (size_t)(r * count) * sizeof *out);
done:
	KDRI_FREE(ctx, h, zv, scaled, out);
	return st;
}

/* Eigenpairs number first .. end-1 (from 0), are written to columns first.. of `vectors` (r x count). `at` has their
 * eigenvalues to the accuracy of bisection, and those of the next two. */
static kdr_status solve_group(kdr_context *ctx, counter *k, const double *at, int64_t first, int64_t end,
                              int64_t count, const double *warm, double *vectors, bool *good)
{
	kdr_status st;
	int64_t r = k->a->r, width = end - first;
	double scale = spread(k->a), *values = NULL, *guess = NULL, *found = NULL;
	inverse v = { 0 };
	double sigma = at[first] - KDRI_MAX(0.1 * (at[end + 1] - at[first]), 1e-10 * scale);
	if (first > 0)
		sigma = KDRI_MAX(sigma, (at[first] + at[first - 1]) / 2);
	KDRI_TRY(KDRI_NEW(ctx, &values, width));
	KDRI_TRY(KDRI_NEW(ctx, &guess, r * width));
	KDRI_TRY(KDRI_NEW(ctx, &found, r * width));
	KDRI_TRY(inverse_new(ctx, k, sigma, &v, good));
	if (!*good)
		goto done;
	for (int64_t i = 0; warm && i < r; i++)
		memcpy(guess + i * width, warm + i * count + first, (size_t)width * sizeof *guess);
	const kdri_op op = { r, r, inverse_apply, NULL, &v };
	const kdri_ritz_options o = { .count = width, .warm = warm ? guess : NULL, .tol = 1e-10 };
	KDRI_TRY(kdri_ritz_lowest(ctx, &op, &o, values, found, good));
	for (int64_t i = 0; i < r; i++)
		memcpy(vectors + i * count + first, found + i * width, (size_t)width * sizeof *found);
done:
	KDRI_FREE(ctx, values, guess, found);
	KDRI_FREE(ctx, v.n0, v.n, v.inv);
	return st;
}

/* *good is false where an eigenvalue was passed over. */
static kdr_status shift_inverted(kdr_context *ctx, const kdri_lowrank *a, int64_t count, const double *warm,
                                 double *values, double *vectors, bool *good)
{
	kdr_status st;
	counter k = { 0 };
	double scale = spread(a), low = INFINITY, high = -INFINITY, *at = NULL;
	int64_t missed;
	KDRI_TRY(counter_new(ctx, a, &k));
	KDRI_TRY(KDRI_NEW(ctx, &at, count + 2));
	for (int64_t i = 0; i < a->r; i++) {
		low = KDRI_MIN(low, a->d[i]);
		high = KDRI_MAX(high, a->d[i]);
	}
	low -= kdri_nrm2sq(a->z, a->r * a->c) + 1e-12 * scale;
	for (int64_t j = 0; j < count + 2; j++)
		KDRI_TRY(bracket(ctx, &k, j + 1, j ? at[j - 1] : low, high, 1e-13 * scale, &at[j]));
	/* Groups of close eigenvalues, each with its own shift: with a shift far below, close eigenvalues could not
	 * be separated. */
	double near = 10 * KDRI_MAX(at[count + 1] - at[count - 1], 1e-9 * scale);
	*good = true;
	for (int64_t first = 0, end; first < count && *good; first = end) {
		for (end = first + 1; end < count && at[end] - at[end - 1] < near; end++)
			continue;
		KDRI_TRY(solve_group(ctx, &k, at, first, end, count, warm, vectors, good));
	}
	if (!*good)
		goto done;
	KDRI_TRY(kdri_straighten(ctx, a->r, count, vectors));
	KDRI_TRY(refine(ctx, a, count, values, vectors));
	KDRI_TRY(count_below(ctx, &k, values[count - 1] - 1e-9 * scale, &missed));
	*good = missed < count;
done:
	KDRI_FREE(ctx, k.scaled, k.c, k.w);
	kdri_free(ctx, at);
	return st;
}

kdr_status kdri_lowrank_lowest(kdr_context *ctx, const kdri_lowrank *a, int64_t count, const double *warm,
                               double *values, double *vectors)
{
	bool good = false, tried = a->r > DENSE_BELOW && 4 * count < a->r;
	if (tried)
		KDRI_DO(shift_inverted(ctx, a, count, warm, values, vectors, &good));
	bool stopped = ctx->cancelled || ctx->timed_out; /* the available result suffices */
	if (!good && !(stopped && tried))
		KDRI_DO(kdri_lowrank_dense(ctx, a, count, values, vectors));
	return KDR_OK;
}
