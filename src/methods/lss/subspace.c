/* The W step. SPDX-License-Identifier: BSD-3-Clause
 *
 * With X of n x d (rows are samples) and memberships P (n x c), W of d x l holds the l lowest eigenvectors of
 *
 *   (E1)  (1 - eps) X'X - Z Z',   Z = X' P (P'P)^(-1/2)          [GZ09, eq. 16, for eps = 0]
 *
 * A d x d matrix is never formed. There are three algorithms; the choice depends only on sizes and options.
 *
 * Direct: eps > 0 and l <= c, and the shorter side of X above 192. (E1) has at most c negative eigenvalues: it is
 * X'((1-eps) I - Q Q')X with Q of c orthonormal columns. These are the ones needed, at the end of the spectrum and
 * well separated. Block Lanczos runs directly on X, with O(nnz) per product and no factorisation. W is accurate to
 * 1e-6, J to 1e-12. If fewer than l are negative, or they are too close together, the factored algorithm is used from
 * then on. Data too large for it get the lowest positive ones less exactly: directions in which the data hardly vary.
 *
 * Factored: X = V S U' once (range.c). In the coordinates of the range (E1) is the diagonal (1 - eps) S^2 minus U'Z
 * Z'U, of rank c. It is solved by secular.c with O(r c) per product, and as a dense matrix below 192.
 *
 * Truncated: the same on the 256 leading directions if the shorter side is above 3000, with a warning.
 *
 * With subspace=full, directions outside the range have eigenvalue 0 and W'x = 0 for every sample. They are placed
 * after the negative and before the positive eigenvalues.
 *
 * If the factored data n x r have fewer numbers than X, the iterations run on X U instead of X, which is exact.
 *
 * If rows are held by several ranks (comm/comm.h), X'X and products with it are floating-point sums over all of them;
 * W is the same on all ranks. The number of rows is then not considered: the factored algorithm is used for up to
 * 3000 columns, and the truncated one above. */
#include "methods/lss/lss.h"

#include "api/method.h"
#include "comm/comm.h"
#include "matrix/device_use.h"
#include "matrix/ritz.h"

/* PATIENCE: steps after which factoring is cheaper than going on. STEPS: of one solution, and SOLUTIONS: of a run, as most are. */
enum { FACTORED_BELOW = 192, PATIENCE = 40, STEPS = 10, SOLUTIONS = 10 };

void kdri_subspace_free(kdr_context *ctx, kdri_subspace *s)
{
	kdri_unhold(ctx, s->held);
	kdri_range_free(ctx, &s->range);
	kdri_own_free(ctx, &s->rotated);
	kdri_free(ctx, s->last);
}

static bool is_rotated(const kdri_subspace *s)
{
	return s->rotated.parts[0] != NULL;
}

const kdr_mat *kdri_subspace_data(const kdri_subspace *s)
{
	return is_rotated(s) ? &s->rotated.view : s->x;
}

int64_t kdri_subspace_dim(const kdri_subspace *s)
{
	return kdr_mat_cols(kdri_subspace_data(s));
}

/* Replaces X by X U where that is exact and pays. */
static kdr_status subspace_rotate(kdr_context *ctx, kdri_subspace *s)
{
	kdr_status st = KDR_OK;
	int64_t n = kdr_mat_rows(s->x), r = s->range.rank, size, numbers[] = { n * r, kdr_mat_nnz(s->x) };
	double *data = NULL;
	bool exact = !s->range.capped && s->options.energy >= 1;
	if (!exact || s->options.full || r < 1)
		return KDR_OK;
	KDRI_TRY(kdri_sum_int(ctx, numbers, 2)); /* all ranks, or none */
	if (numbers[0] >= numbers[1])
		return KDR_OK;
	KDRI_TRY(kdri_mul(ctx, n, r, &size));
	KDRI_TRY(KDRI_NEW(ctx, &data, size));
	KDRI_TRY(kdri_range_data(ctx, &s->range, data));
	s->rotated = (kdri_own){ kdr_mat_from_dense(data, n, r), { data, NULL, NULL } };
	data = NULL;
done:
	kdri_free(ctx, data);
	return st;
}

/* Lowers l to the available number of directions, or fails with the allowed range. */
static kdr_status check_l(kdr_context *ctx, kdri_subspace *s, int64_t most, const char *what)
{
	if (s->l <= most)
		return KDR_OK;
	if (!s->options.automatic)
		return kdri_fail(ctx, KDR_ERR_OPTION, "option 'l' is %lld, but %s %lld, its largest value",
		                 (long long)s->l, what, (long long)most);
	s->l = most;
	return KDR_OK;
}

/* Products with X are the work of both ways, but where the directions are all of them, from its Gram matrix. */
static kdr_status hold_data(kdr_context *ctx, kdri_subspace *s)
{
	int64_t d = kdr_mat_cols(s->x), k = kdri_ritz_block(d, s->l);
	double one = kdri_held_flops(s->x);
	if (s->direct)
		return kdri_hold(ctx, s->x, true, k, 2.0 * STEPS * SOLUTIONS * (double)k * one, &s->held);
	if (kdri_range_is_whole(ctx, s->x))
		return KDR_OK;
	return kdri_hold_leading(ctx, s->x, KDRI_RANGE_MOST, KDRI_RANGE_ROUNDS, &s->held);
}

kdr_status kdri_subspace_new(kdr_context *ctx, const kdr_mat *x, const kdri_subspace_options *o,
                             kdri_subspace *out)
{
	kdr_status st;
	int64_t n, d = kdr_mat_cols(x), side, size;
	kdri_subspace s = {
		.options = *o, .x = x, .l = o->l, .rotated.view = kdr_mat_from_dense(NULL, 0, 0)
	};
	KDRI_TRY(kdri_part(ctx, kdr_mat_rows(x), NULL, &n));
	side = KDRI_MIN(n, d);
	if (o->full)
		KDRI_TRY(check_l(ctx, &s, d, "the number of features is"));
	else
		KDRI_TRY(check_l(ctx, &s, side, "the rank of the data is at most"));
	s.direct = o->eps > 0 && s.l <= o->c && o->energy >= 1 &&
	           (side > FACTORED_BELOW || !kdri_range_is_whole(ctx, x));
	KDRI_TRY(hold_data(ctx, &s));
	if (!s.direct) {
		KDRI_TRY(kdri_range_new(ctx, x, o->energy, &s.range));
		if (!o->full)
			KDRI_TRY(check_l(ctx, &s, s.range.rank,
			                 o->energy < 1 || s.range.capped ? "the number of directions kept is"
			                                                 : "the rank of the data is"));
		KDRI_TRY(subspace_rotate(ctx, &s));
	}
	KDRI_TRY(kdri_mul(ctx, KDRI_MAX(s.direct ? d : s.range.rank, 1), KDRI_MAX(s.l, 1), &size));
	KDRI_TRY(KDRI_NEW0(ctx, &s.last, size));
	*out = s;
	s = (kdri_subspace){ 0 };
done:
	kdri_subspace_free(ctx, &s);
	return st;
}

/* --- direct ------------------------------------------------------------------------------------- */

typedef struct scatter {
	const kdr_mat *x;
	const double *z;
	int64_t c;
	double eps;
} scatter;

/* Y = (E1) B, as two products with X and two narrow ones with Z. */
static kdr_status scatter_apply(kdr_context *ctx, const kdri_op *op, const double *b, int64_t k, int64_t ldb,
                                double *y, int64_t ldy)
{
	kdr_status st;
	const scatter *a = op->data;
	int64_t n = kdr_mat_rows(a->x), d = op->rows;
	double *xb = NULL, *zb = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &xb, n * k));
	KDRI_TRY(KDRI_NEW(ctx, &zb, a->c * k));
	KDRI_TRY(kdri_mat_mul(ctx, a->x, b, k, ldb, xb, k));
	KDRI_TRY(kdri_mat_tmul(ctx, a->x, xb, k, k, y, ldy));
	KDRI_TRY(kdri_sum_block(ctx, y, d, k, ldy));
	KDRI_TRY(kdri_gemm(ctx, true, false, a->c, k, d, 1, a->z, a->c, b, ldb, 0, zb, k));
	KDRI_TRY(kdri_gemm(ctx, false, false, d, k, a->c, -1, a->z, a->c, zb, k, 1 - a->eps, y, ldy));
done:
	KDRI_FREE(ctx, xb, zb);
	return st;
}

/* *good: all l were found, and are below zero. */
static kdr_status solve_direct(kdr_context *ctx, kdri_subspace *s, const double *z, double *w, bool *good)
{
	kdr_status st;
	int64_t d = kdr_mat_cols(s->x), l = s->l, count = 0;
	bool converged;
	double *values = NULL;
	const scatter a = { s->x, z, s->options.c, s->options.eps };
	const kdri_op op = { d, d, scatter_apply, NULL, &a };
	const kdri_ritz_options o = { .count = l,
		                      .warm = s->has_last ? s->last : NULL,
		                      .tol = 1e-10,
		                      .gap_tol = 1e-6,
		                      .loose_above = true,
		                      .most_steps =
		                              s->tried || !kdri_range_is_whole(ctx, s->x) ? 0 : PATIENCE };
	KDRI_TRY(KDRI_NEW(ctx, &values, l));
	KDRI_TRY(kdri_ritz_lowest(ctx, &op, &o, values, w, &converged));
	memcpy(s->last, w, (size_t)(d * l) * sizeof *w);
	s->has_last = true;
	s->unconverged = !converged;
	while (count < l && values[count] < -1e-9 * fabs(values[0]))
		count++;
	*good = converged && count == l;
done:
	kdri_free(ctx, values);
	return st;
}

/* --- factored ----------------------------------------------------------------------------------- */

/* Columns from..l-1 of w (d x l): orthonormal, orthogonal to the range of X and to each other. */
static kdr_status outside_range(kdr_context *ctx, kdri_subspace *s, int64_t from, double *w)
{
	kdr_status st = KDR_OK;
	int64_t d = kdr_mat_cols(s->x), l = s->l, k = l - from, r = s->range.rank, kept = 0;
	double *a = NULL, *in = NULL, *back = NULL;
	kdri_rng rng = kdri_rng_stream(ctx->seed, "outside", 0);
	KDRI_TRY(KDRI_NEW(ctx, &a, d * k));
	KDRI_TRY(KDRI_NEW(ctx, &in, KDRI_MAX(r, 1) * k));
	KDRI_TRY(KDRI_NEW(ctx, &back, d * k));
	for (int64_t i = 0; i < d * k; i++)
		a[i] = kdri_rng_normal(&rng);
	for (int pass = 0; pass < 2; pass++) {
		KDRI_TRY(kdri_orthonormalise(ctx, d, k, a, k, &kept));
		KDRI_TRY(kdri_range_to(ctx, &s->range, a, k, in));
		KDRI_TRY(kdri_range_from(ctx, &s->range, in, k, back));
		kdri_axpy(-1, back, a, d * k);
	}
	KDRI_TRY(kdri_orthonormalise(ctx, d, k, a, k, &kept));
	for (int64_t i = 0; i < d; i++)
		memcpy(w + i * l + from, a + i * k, (size_t)k * sizeof *w);
done:
	KDRI_FREE(ctx, a, in, back);
	return st;
}

/* W = U times the chosen columns of `inner` (r x found) and, with `full`, the directions outside the range between
 * them. Columns of w: negative ones, outside ones, positive ones. */
static kdr_status assemble(kdr_context *ctx, kdri_subspace *s, const double *values, int64_t found,
                           const double *inner, double *w)
{
	kdr_status st = KDR_OK;
	int64_t d = kdr_mat_cols(s->x), r = s->range.rank, l = s->l;
	int64_t before = 0, outside = 0, spare = s->options.full ? d - r : 0;
	double *out = NULL;
	double tiny = found > 0 ? 1e-12 * (s->range.s[0] * s->range.s[0]) : 0;
	while (before < found && values[before] < (spare > 0 ? -tiny : INFINITY))
		before++;
	outside = KDRI_MIN(spare, l - before);
	int64_t inside = l - outside;
	KDRI_TRY(KDRI_NEW(ctx, &out, d * KDRI_MAX(inside, 1)));
	if (inside > 0) {
		double *chosen = NULL;
		KDRI_TRY(KDRI_NEW(ctx, &chosen, r * inside));
		for (int64_t i = 0; i < r; i++)
			memcpy(chosen + i * inside, inner + i * found, (size_t)inside * sizeof *chosen);
		st = kdri_range_from(ctx, &s->range, chosen, inside, out);
		kdri_free(ctx, chosen);
		if (st != KDR_OK)
			goto done;
		/* U = X'V/s is orthonormal only as far as the Gram matrix resolves small s. */
		if (s->range.by_rows)
			KDRI_TRY(kdri_straighten(ctx, d, inside, out));
	}
	for (int64_t i = 0; i < d; i++)
		for (int64_t j = 0; j < inside; j++)
			w[i * l + j] = out[i * inside + j];
	if (outside > 0)
		KDRI_TRY(outside_range(ctx, s, inside, w));
done:
	kdri_free(ctx, out);
	return st;
}

static kdr_status solve_factored(kdr_context *ctx, kdri_subspace *s, const double *z, double *w)
{
	kdr_status st;
	int64_t r = s->range.rank, c = s->options.c, found = KDRI_MIN(s->l, r);
	double *values = NULL, *diagonal = NULL, *inner = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &values, KDRI_MAX(found, 1)));
	KDRI_TRY(KDRI_NEW(ctx, &diagonal, KDRI_MAX(r, 1)));
	KDRI_TRY(KDRI_NEW(ctx, &inner, KDRI_MAX(r, 1) * c));
	if (!is_rotated(s) && r > 0)
		KDRI_TRY(kdri_range_to(ctx, &s->range, z, c, inner));
	for (int64_t i = 0; i < r; i++)
		diagonal[i] = (1 - s->options.eps) * s->range.s[i] * s->range.s[i];
	const kdri_lowrank a = { r, c, diagonal, is_rotated(s) ? z : inner };
	if (found > 0) {
		double *answer = NULL;
		KDRI_TRY(KDRI_NEW(ctx, &answer, r * found));
		st = kdri_lowrank_lowest(ctx, &a, found, s->has_last ? s->last : NULL, values, answer);
		if (st == KDR_OK)
			memcpy(s->last, answer, (size_t)(r * found) * sizeof *answer);
		kdri_free(ctx, answer);
		if (st != KDR_OK)
			goto done;
		s->has_last = true;
	}
	if (is_rotated(s))
		memcpy(w, s->last, (size_t)(r * found) * sizeof *w);
	else
		KDRI_TRY(assemble(ctx, s, values, found, s->last, w));
done:
	KDRI_FREE(ctx, values, diagonal, inner);
	return st;
}

kdr_status kdri_subspace_solve(kdr_context *ctx, kdri_subspace *s, const double *z, double *w)
{
	bool good;
	if (s->l == 0)
		return KDR_OK;
	if (s->direct) {
		KDRI_DO(solve_direct(ctx, s, z, w, &good));
		if (good || !kdri_range_is_whole(ctx, s->x) || s->tried || ctx->cancelled || ctx->timed_out)
			return KDR_OK;
		/* Eigenvalues that lie close together, or are positive: the other way from now on. */
		s->tried = true;
		KDRI_DO(kdri_range_new(ctx, s->x, 1, &s->range));
		if (s->range.rank < s->l)
			return KDR_OK;
		s->direct = s->has_last = s->unconverged = false;
	}
	return solve_factored(ctx, s, z, w);
}

/* --- coordinates -------------------------------------------------------------------------------- */

kdr_status kdri_subspace_features(kdr_context *ctx, const kdri_subspace *s, const double *w, double *out)
{
	int64_t d = kdr_mat_cols(s->x);
	if (!is_rotated(s)) {
		memcpy(out, w, (size_t)(d * s->l) * sizeof *out);
		return KDR_OK;
	}
	KDRI_DO(kdri_range_from(ctx, &s->range, w, s->l, out));
	if (s->range.by_rows)
		KDRI_DO(kdri_straighten(ctx, d, s->l, out)); /* see assemble() */
	return KDR_OK;
}

kdr_status kdri_subspace_coordinates(kdr_context *ctx, const kdri_subspace *s, const double *w, double *out)
{
	if (is_rotated(s))
		return kdri_range_to(ctx, &s->range, w, s->l, out);
	memcpy(out, w, (size_t)(kdr_mat_cols(s->x) * s->l) * sizeof *out);
	return KDR_OK;
}

kdr_status kdri_subspace_report(kdr_context *ctx, const kdri_subspace *s, int64_t task, kdr_result *result)
{
	const char *how = s->direct ? "direct" : s->range.capped ? "cut" : "factored";
	KDRI_DO(kdri_result_task_number(ctx, result, task, "l", (double)s->l));
	KDRI_DO(kdri_result_task_text(ctx, result, task, "w_step", how));
	if (!s->direct) {
		KDRI_DO(kdri_result_task_number(ctx, result, task, "rank", (double)s->range.rank));
		KDRI_DO(kdri_result_task_number(ctx, result, task, "energy", s->range.energy));
	}
	return KDR_OK;
}

kdr_status kdri_subspace_warn(kdr_context *ctx, const kdri_subspace *s, kdr_result *result)
{
	if (s->l < s->options.l)
		KDRI_DO(kdri_result_warn(
		        ctx, result, "l is %lld instead of %lld, because the data have no more directions",
		        (long long)s->l, (long long)s->options.l));
	if (s->range.capped)
		KDRI_DO(kdri_result_warn(
		        ctx, result,
		        "the subspace was searched in the %lld leading directions of the data, which have %.1f%% of their squared norm; use eps > 0 with l <= k to search all of them",
		        (long long)s->range.rank, 100 * s->range.energy));
	if (s->unconverged && !ctx->cancelled && !ctx->timed_out)
		KDRI_DO(kdri_result_warn(
		        ctx, result,
		        "the search for the subspace did not converge to the required accuracy"));
	return KDR_OK;
}
