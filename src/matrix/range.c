/* Gram matrices and the range they give. SPDX-License-Identifier: BSD-3-Clause
 *
 * With X of n x d and the shorter side m = min(n, d), the one matrix of m x m formed here is the Gram
 * matrix of that side:
 *
 *   (E1)  d <= n:  X'X = U S^2 U'            (E2)  n < d:  XX' = V S^2 V',  U = X' V S^-1
 *
 * In (E2) U would be d x r and is not formed: products with it are one product with X and one with V.
 * Directions with s^2 <= 1e-12 s_1^2 are rounding of the Gram matrix. Sparse data give each row of the
 * Gram matrix as a sum of sparse rows, one for each entry of the row [Gustavson 1978].
 *
 * For large data, where m^3 is too much, the leading directions are found by random projections with power iterations
 * [Halko, Martinsson & Tropp, SIAM Review 53, 2011]:
 *
 *   (E3)  Q <- orth(A' A Q), from a random Q, a few times; then the SVD of the narrow A Q.
 *
 * One orthonormalisation per round keeps the columns apart, and that of the shorter of the two blocks costs less: A Q if there
 * are fewer rows than columns, else Q. The last Q is always orthonormal.
 *
 * If rows are held by several ranks (comm/comm.h), the range is that of all of them, by (E1) or (E3): X'X, A'Y and
 * Y'Y are floating-point sums over rows, hence up to rounding; Q, which has a row for each column, is the same on
 * each rank. */
#include "matrix/range.h"

#include "comm/comm.h"
#include "matrix/ritz.h"

enum { WHOLE_BELOW = KDRI_RANGE_WHOLE, MOST_DIRECTIONS = KDRI_RANGE_MOST, ROUNDS = KDRI_RANGE_ROUNDS };

/* --- the Gram matrix ---------------------------------------------------------------------------- */

/* out (rows x rows) = A A', where `at` is the transposed of `a`: row i is the sum of a_ij times row j of A'.
 */
static void gram_sparse(kdr_context *ctx, const kdr_csr *a, const kdr_csr *at, double *out)
{
	int64_t n = a->rows;
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic, 16)
	for (int64_t i = 0; i < n; i++) {
		double *row = out + i * n;
		memset(row, 0, (size_t)n * sizeof *row);
		for (int64_t p = a->rowptr[i]; p < a->rowptr[i + 1]; p++) {
			int64_t j = a->col[p];
			double v = a->val[p];
			for (int64_t q = at->rowptr[j]; q < at->rowptr[j + 1]; q++)
				row[at->col[q]] += v * at->val[q];
		}
	}
}

kdr_status kdri_gram_columns(kdr_context *ctx, const kdr_mat *x, double *out)
{
	kdr_status st;
	int64_t n = kdr_mat_rows(x), d = kdr_mat_cols(x);
	kdri_own t = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	if (x->kind == KDR_MAT_DENSE)
		return kdri_syrk(ctx, true, d, n, x->as.dense.data, x->as.dense.stride, out, d);
	KDRI_TRY(kdri_mat_transpose(ctx, x, &t));
	gram_sparse(ctx, &t.view.as.csr, &x->as.csr, out);
done:
	kdri_own_free(ctx, &t);
	return st;
}

kdr_status kdri_gram(kdr_context *ctx, const kdr_mat *x, double *out)
{
	kdr_status st;
	int64_t n = kdr_mat_rows(x), d = kdr_mat_cols(x);
	kdri_own t = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	if (d <= n)
		return kdri_gram_columns(ctx, x, out);
	if (x->kind == KDR_MAT_DENSE)
		return kdri_syrk(ctx, false, n, d, x->as.dense.data, x->as.dense.stride, out, n);
	KDRI_TRY(kdri_mat_transpose(ctx, x, &t));
	gram_sparse(ctx, &x->as.csr, &t.view.as.csr, out);
done:
	kdri_own_free(ctx, &t);
	return st;
}

/* --- leading directions of large operators ------------------------------------------------------ */

static kdr_status range_apply(kdr_context *ctx, const kdri_op *op, bool transposed, const double *x,
                              int64_t k, double *y)
{
	return (transposed && op->apply_t ? op->apply_t : op->apply)(ctx, op, x, k, k, y, k);
}

/* The first `few` of k columns. */
static void keep_columns(int64_t rows, int64_t k, int64_t few, double *a)
{
	for (int64_t i = 1; i < rows && few < k; i++)
		memmove(a + i * few, a + i * k, (size_t)few * sizeof *a);
}

/* Orthonormal columns, packed to the width that is left. `cut`: ranks have the rows between them. */
static kdr_status orth(kdr_context *ctx, int64_t rows, double *a, bool cut, int64_t *k)
{
	int64_t width = *k;
	kdr_status st = (cut ? kdri_orthonormalise_rows : kdri_orthonormalise)(ctx, rows, width, a, width, k);
	if (st == KDR_OK)
		keep_columns(rows, width, *k, a);
	return st;
}

/* A few of the k columns of q, and of y if given, if it is time to stop: what remains is then quick. Ranks must stop together, and do
 * so between rounds. */
static void keep_in_time(kdr_context *ctx, int64_t n, int64_t d, double *y, double *q, int64_t *k)
{
	const int64_t few = KDRI_MIN(*k, KDRI_LEADING_BESIDE);
	if (kdri_together(ctx) || !kdri_leave_off(ctx, "directions", 0, 0))
		return;
	keep_columns(d, *k, few, q);
	if (y)
		keep_columns(n, *k, few, y);
	*k = few;
}

/* u (n x count) = y mix / s, which overwrites y (n x k). */
static kdr_status range_turn(kdr_context *ctx, int64_t n, int64_t k, int64_t count, double *mix,
                             const double *s, double **y)
{
	kdr_status st;
	for (int64_t j = 0; j < count; j++)
		for (int64_t i = 0; i < k; i++)
			mix[i * count + j] *= s[j] > 0 ? 1 / s[j] : 0;
	if (count > k) { /* fewer directions than requested: the others are 0 */
		double *wider = NULL;
		KDRI_TRY(KDRI_NEW(ctx, &wider, n * count));
		st = kdri_gemm(ctx, false, false, n, count, k, 1, *y, k, mix, count, 0, wider, count);
		kdri_free(ctx, *y);
		*y = wider;
		return st;
	}
	KDRI_TRY(kdri_mix_columns(ctx, n, k, *y, k, count, mix, count, count));
	KDRI_TRY(KDRI_GROW(ctx, y, n * count));
done:
	return st;
}

kdr_status kdri_leading(kdr_context *ctx, const kdri_op *op, int64_t count, int rounds, double **u, double *s,
                        double *v)
{
	kdr_status st;
	int64_t n = op->rows, d = op->cols, width, k, size, all;
	double *q = NULL, *y = NULL, *h = NULL, *w = NULL, *mix = NULL;
	KDRI_TRY(kdri_part(ctx, n, NULL, &all));
	k = width = KDRI_MIN(KDRI_MIN(all, d), count + KDRI_LEADING_BESIDE);
	if (kdri_iteration(ctx, "directions", 0, rounds, NAN)) /* too late for all of them */
		k = width = KDRI_MIN(width, KDRI_LEADING_BESIDE);
	KDRI_TRY(kdri_mul(ctx, n, width, &size));
	KDRI_TRY(KDRI_NEW(ctx, &q, d * width));
	KDRI_TRY(KDRI_NEW(ctx, &y, size));
	KDRI_TRY(KDRI_NEW(ctx, &h, width * width));
	KDRI_TRY(KDRI_NEW(ctx, &w, width));
	KDRI_TRY(KDRI_NEW0(ctx, &mix, width * count));
	kdri_rng rng = kdri_rng_stream(ctx->seed, "leading", 0);
	for (int64_t i = 0; i < d * width; i++)
		q[i] = kdri_rng_normal(&rng);
	/* (E3); fewer rounds, and fewer columns, if it is time to stop, are a coarser answer. */
	for (int round = 1;; round++) {
		const bool last = round > rounds || kdri_iteration(ctx, "directions", round, rounds, NAN);
		keep_in_time(ctx, n, d, NULL, q, &k);
		if (last || d <= all)
			KDRI_TRY(orth(ctx, d, q, false, &k));
		keep_in_time(ctx, n, d, NULL, q, &k);
		KDRI_TRY(range_apply(ctx, op, false, q, k, y));
		if (last || k == 0)
			break;
		if (d > all)
			KDRI_TRY(orth(ctx, n, y, true, &k));
		KDRI_TRY(range_apply(ctx, op, true, y, k, q));
		KDRI_TRY(kdri_sum(ctx, q, d * k));
	}
	keep_in_time(ctx, n, d, y, q, &k);
	KDRI_TRY(kdri_gemm(ctx, true, false, k, k, n, 1, y, k, y, k, 0, h, k));
	KDRI_TRY(kdri_sum(ctx, h, k * k));
	KDRI_TRY(kdri_eigh(ctx, k, h, k, w));
	for (int64_t j = 0; j < count; j++) {
		s[j] = j < k && w[k - 1 - j] > 0 ? sqrt(w[k - 1 - j]) : 0;
		for (int64_t i = 0; i < k && j < k; i++)
			mix[i * count + j] = h[i * k + k - 1 - j];
	}
	if (v)
		KDRI_TRY(kdri_gemm(ctx, false, false, d, count, k, 1, q, k, mix, count, 0, v, count));
	if (u) {
		KDRI_TRY(range_turn(ctx, n, k, count, mix, s, &y));
		*u = y;
		y = NULL;
	}
done:
	KDRI_FREE(ctx, q, y, h, w, mix);
	return st;
}

/* --- the range ---------------------------------------------------------------------------------- */

void kdri_range_free(kdr_context *ctx, kdri_range *r)
{
	KDRI_FREE(ctx, r->s, r->e);
	*r = (kdri_range){ 0 };
}

/* (E1), (E2): all directions, from the eigenvectors of the Gram matrix, largest first. */
static kdr_status whole(kdr_context *ctx, const kdr_mat *x, int64_t side, kdri_range *r)
{
	kdr_status st;
	double *gram = NULL, *w = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &gram, side * side));
	KDRI_TRY(KDRI_NEW(ctx, &w, side));
	KDRI_TRY(r->by_rows ? kdri_gram(ctx, x, gram) : kdri_gram_columns(ctx, x, gram));
	KDRI_TRY(kdri_sum(ctx, gram, side * side));
	KDRI_TRY(kdri_eigh(ctx, side, gram, side, w));
	for (int64_t j = 0; j < side; j++)
		r->s[j] = sqrt(KDRI_MAX(w[side - 1 - j], 0));
	for (int64_t i = 0; i < side; i++)
		for (int64_t j = 0; j < side; j++)
			r->e[i * side + j] = gram[i * side + side - 1 - j];
done:
	KDRI_FREE(ctx, gram, w);
	return st;
}

/* Whether the shorter side are the rows, all of which are here. */
static bool is_by_rows(const kdr_context *ctx, const kdr_mat *x)
{
	return !kdri_together(ctx) && kdr_mat_rows(x) < kdr_mat_cols(x);
}

bool kdri_range_is_whole(const kdr_context *ctx, const kdr_mat *x)
{
	return (is_by_rows(ctx, x) ? kdr_mat_rows(x) : kdr_mat_cols(x)) <= WHOLE_BELOW;
}

kdr_status kdri_range_new(kdr_context *ctx, const kdr_mat *x, double energy, kdri_range *out)
{
	kdr_status st;
	int64_t n = kdr_mat_rows(x), d = kdr_mat_cols(x);
	bool all = kdri_range_is_whole(ctx, x);
	kdri_range r = { .x = x, .by_rows = is_by_rows(ctx, x) };
	int64_t side = r.by_rows ? n : d, found = all ? side : MOST_DIRECTIONS;
	double total = 0, *norms = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &r.s, found));
	KDRI_TRY(KDRI_NEW(ctx, &norms, n));
	if (found == side || !r.by_rows)
		KDRI_TRY(KDRI_NEW(ctx, &r.e, side * found));
	KDRI_TRY(kdri_mat_row_norms(ctx, x, norms));
	for (int64_t i = 0; i < n; i++)
		total += norms[i];
	KDRI_TRY(kdri_sum(ctx, &total, 1));
	st = found == side ? whole(ctx, x, side, &r) : KDR_OK;
	if (st != KDR_OK && side > MOST_DIRECTIONS && (ctx->cancelled || ctx->timed_out) &&
	    !kdri_together(ctx)) {
		found = MOST_DIRECTIONS; /* no time for all of them: some, by chance at worst */
		st = KDR_OK;
	}
	KDRI_TRY(st);
	if (found < side) {
		const kdri_op op = kdri_op_mat(x);
		if (r.by_rows) {
			kdri_free(ctx, r.e);
			r.e = NULL;
		}
		KDRI_TRY(kdri_leading(ctx, &op, found, ROUNDS, r.by_rows ? &r.e : NULL, r.s,
		                      r.by_rows ? NULL : r.e));
	}
	/* Keeps the leading directions of e (side x found, s descending) that exceed rounding and are needed for the
	 * energy. */
	double sum = 0;
	int64_t rank = 0;
	while (rank < found && r.s[rank] > 1e-6 * r.s[0] && (energy >= 1 || sum < energy * total)) {
		sum += r.s[rank] * r.s[rank];
		rank++;
	}
	r.capped = rank == found && found < side && sum < energy * total * (1 - 1e-12);
	r.rank = rank;
	r.energy = total > 0 ? KDRI_MIN(sum / total, 1) : 1;
	for (int64_t i = 0; i < side && rank < found; i++)
		memmove(r.e + i * rank, r.e + i * found, (size_t)rank * sizeof *r.e);
	*out = r;
	r = (kdri_range){ 0 };
done:
	kdri_free(ctx, norms);
	kdri_range_free(ctx, &r);
	return st;
}

kdr_status kdri_range_to(kdr_context *ctx, const kdri_range *r, const double *a, int64_t k, double *y)
{
	kdr_status st;
	int64_t n = kdr_mat_rows(r->x), d = kdr_mat_cols(r->x);
	double *between = NULL;
	if (!r->by_rows)
		return kdri_gemm(ctx, true, false, r->rank, k, d, 1, r->e, r->rank, a, k, 0, y, k);
	KDRI_TRY(KDRI_NEW(ctx, &between, n * k));
	KDRI_TRY(kdri_mat_mul(ctx, r->x, a, k, k, between, k)); /* U' = S^-1 V' X */
	KDRI_TRY(kdri_gemm(ctx, true, false, r->rank, k, n, 1, r->e, r->rank, between, k, 0, y, k));
	for (int64_t i = 0; i < r->rank; i++)
		for (int64_t j = 0; j < k; j++)
			y[i * k + j] /= r->s[i];
done:
	kdri_free(ctx, between);
	return st;
}

kdr_status kdri_range_from(kdr_context *ctx, const kdri_range *r, const double *a, int64_t k, double *y)
{
	kdr_status st;
	int64_t n = kdr_mat_rows(r->x), d = kdr_mat_cols(r->x);
	double *scaled = NULL, *between = NULL;
	if (!r->by_rows)
		return kdri_gemm(ctx, false, false, d, k, r->rank, 1, r->e, r->rank, a, k, 0, y, k);
	KDRI_TRY(KDRI_NEW(ctx, &scaled, r->rank * k));
	KDRI_TRY(KDRI_NEW(ctx, &between, n * k));
	for (int64_t i = 0; i < r->rank; i++)
		for (int64_t j = 0; j < k; j++)
			scaled[i * k + j] = a[i * k + j] / r->s[i];
	KDRI_TRY(kdri_gemm(ctx, false, false, n, k, r->rank, 1, r->e, r->rank, scaled, k, 0, between, k));
	KDRI_TRY(kdri_mat_tmul(ctx, r->x, between, k, k, y, k));
done:
	KDRI_FREE(ctx, scaled, between);
	return st;
}

kdr_status kdri_range_data(kdr_context *ctx, const kdri_range *r, double *out)
{
	if (!r->by_rows)
		return kdri_mat_mul(ctx, r->x, r->e, r->rank, r->rank, out, r->rank);
	for (int64_t i = 0; i < kdr_mat_rows(r->x); i++) /* X U = V S */
		for (int64_t j = 0; j < r->rank; j++)
			out[i * r->rank + j] = r->e[i * r->rank + j] * r->s[j];
	return KDR_OK;
}
