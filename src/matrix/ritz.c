/* Block Lanczos and block Davidson, with thick restarts. SPDX-License-Identifier: BSD-3-Clause
 *
 * An orthonormal basis V grows by blocks. With H = V'AV and its lowest eigenpairs (theta, y),
 *
 *   (E1)  x = V y,  r = A x - theta x                         Ritz vectors and their residuals
 *   (E2)  V <- [V, orthonormalised residuals of the lowest b pairs]
 *   (E3)  V <- the lowest Ritz vectors, when the basis is full [Wu & Simon 2000]
 *   (E4)  r <- T r before (E2), if the caller has a rough inverse T   [Morgan & Scott 1986, after Davidson]
 *
 * All residuals of a block Krylov space lie in one new block, so (E2) is block Lanczos, but with every
 * vector kept orthogonal to all others and with H formed in full: nothing relies on a recurrence that
 * rounding destroys, and V may start from any guess. The block has at least two more columns than requested, so that
 * an eigenvalue next to the last one does not slow it down.
 *
 * A step costs one product with b columns and about 8 n b (m + b) flops for a basis of m columns. */
/* Some pairs of an operator: by blocks, down to residuals of
 *
 *   (E5)  ||A z - w z|| <= max(tol, 1e-12) max |w|,
 *
 * including copies of multiple eigenvalues. If that takes too many steps, the matrix is formed and solved in full, up
 * to DENSE_RESCUE rows. */
#include <float.h>

#include "comm/comm.h"
#include "matrix/blas.h"
#include "matrix/ritz.h"

enum { MIXED_ROWS = 384, GUARD = 2, LEAST_BASIS = 40, BLOCKS = 6, MOST_STEPS = 200 };

/* --- orthonormal columns ------------------------------------------------------------------------ */

static void scale_columns(kdr_context *ctx, int64_t rows, int64_t cols, double *a, int64_t lda,
                          const double *factor)
{
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (rows > KDRI_BLOCK)
	for (int64_t i = 0; i < rows; i++)
		for (int64_t j = 0; j < cols; j++)
			a[i * lda + j] *= factor[j];
}

kdr_status kdri_mix_columns(kdr_context *ctx, int64_t rows, int64_t k, double *a, int64_t lda, int64_t kept,
                            const double *mix, int64_t ldm, int64_t ldo)
{
	kdr_status st;
	double *out = NULL;
	KDRI_TRY(kdri_blas_int(ctx, KDRI_MAX(KDRI_MAX(lda, ldm), k), "the stride of a matrix"));
	KDRI_TRY(KDRI_NEW(ctx, &out, ctx->threads * MIXED_ROWS * kept));
	const int before = kdri_serial_begin();
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (rows > MIXED_ROWS)
	for (int64_t begin = 0; begin < rows; begin += MIXED_ROWS) {
		int64_t count = KDRI_MIN(rows - begin, MIXED_ROWS);
		double *own = out + kdri_thread() * MIXED_ROWS * kept;
		kdri_dgemm(false, false, count, kept, k, 1, a + begin * lda, lda, mix, ldm, 0, own, kept);
		for (int64_t i = 0; i < count; i++)
			memcpy(a + (begin + i) * lda, own + i * kept, (size_t)kept * sizeof *a);
	}
	kdri_serial_end(before);
	for (int64_t i = 1; i < rows && ldo < lda; i++)
		memmove(a + i * ldo, a + i * lda, (size_t)kept * sizeof *a);
done:
	kdri_free(ctx, out);
	return st;
}

/* One pass: columns to unit length, then A <- A E S^-1/2 with A'A = E S E'. Directions that are small compared with
 * the largest are rounding errors and are dropped. *grown (may be NULL): the square of the largest possible growth of
 * errors relative to the columns. `cut`: other ranks have more rows, and A'A is a sum over them. */
static kdr_status orthonormalise_once(kdr_context *ctx, int64_t rows, int64_t *cols, double *a, int64_t lda,
                                      bool cut, double *grown)
{
	kdr_status st;
	int64_t k = *cols, kept = 0;
	double *gram = NULL, *mix = NULL, *w = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &gram, k * k));
	KDRI_TRY(KDRI_NEW(ctx, &mix, k * k));
	KDRI_TRY(KDRI_NEW(ctx, &w, k));
	KDRI_TRY(kdri_gemm(ctx, true, false, k, k, rows, 1, a, lda, a, lda, 0, gram, k));
	if (cut)
		KDRI_TRY(kdri_sum(ctx, gram, k * k));
	for (int64_t j = 0; j < k; j++)
		w[j] = gram[j * k + j] > 0 ? 1 / sqrt(gram[j * k + j]) : 0;
	scale_columns(ctx, rows, k, a, lda, w);
	for (int64_t i = 0; i < k; i++)
		for (int64_t j = 0; j < k; j++)
			gram[i * k + j] *= w[i] * w[j];
	KDRI_TRY(kdri_eigh(ctx, k, gram, k, w));
	for (int64_t j = k - 1; j >= 0; j--)
		if (w[j] > 1e-12 * w[k - 1] && w[j] > 0) {
			for (int64_t i = 0; i < k; i++)
				mix[i * k + kept] = gram[i * k + j] / sqrt(w[j]);
			kept++;
		}
	if (kept > 0)
		KDRI_TRY(kdri_mix_columns(ctx, rows, k, a, lda, kept, mix, k, lda));
	if (grown && kept > 0)
		*grown = w[k - 1] / w[k - kept];
	*cols = kept;
done:
	KDRI_FREE(ctx, gram, mix, w);
	return st;
}

static kdr_status orthonormalise(kdr_context *ctx, int64_t rows, int64_t cols, double *a, int64_t lda,
                                 bool cut, int64_t *kept)
{
	kdr_status st = KDR_OK;
	/* The first pass leaves errors of eps times the condition of A'A; the second removes them. */
	for (int pass = 0; pass < 2 && cols > 0 && st == KDR_OK; pass++)
		st = orthonormalise_once(ctx, rows, &cols, a, lda, cut, NULL);
	if (st == KDR_OK)
		*kept = cols;
	return st;
}

kdr_status kdri_orthonormalise(kdr_context *ctx, int64_t rows, int64_t cols, double *a, int64_t lda,
                               int64_t *kept)
{
	return orthonormalise(ctx, rows, cols, a, lda, false, kept);
}

kdr_status kdri_orthonormalise_rows(kdr_context *ctx, int64_t rows, int64_t cols, double *a, int64_t lda,
                                    int64_t *kept)
{
	return orthonormalise(ctx, rows, cols, a, lda, true, kept);
}

kdr_status kdri_straighten(kdr_context *ctx, int64_t rows, int64_t cols, double *a)
{
	kdr_status st;
	double *gram = NULL, *root = NULL, *w = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &gram, cols * cols));
	KDRI_TRY(KDRI_NEW0(ctx, &root, cols * cols));
	KDRI_TRY(KDRI_NEW(ctx, &w, cols));
	KDRI_TRY(kdri_gemm(ctx, true, false, cols, cols, rows, 1, a, cols, a, cols, 0, gram, cols));
	KDRI_TRY(kdri_eigh(ctx, cols, gram, cols, w));
	for (int64_t j = 0; j < cols; j++)
		for (int64_t p = 0; p < cols && w[j] > 0; p++)
			for (int64_t q = 0; q < cols; q++)
				root[p * cols + q] += gram[p * cols + j] * gram[q * cols + j] / sqrt(w[j]);
	KDRI_TRY(kdri_mix_columns(ctx, rows, cols, a, cols, cols, root, cols, cols));
done:
	KDRI_FREE(ctx, gram, root, w);
	return st;
}

/* --- the basis ---------------------------------------------------------------------------------- */

typedef struct basis {
	const kdri_op *op;
	int64_t n, room, size, block;
	double *v, *av;          /* n x room: V and A V */
	double *h, *y, *theta;   /* H; its eigenvectors and eigenvalues */
	double *next, *mix, *tx; /* n x block; room x block; n x block, T r of (E4) */
} basis;

int64_t kdri_ritz_block(int64_t rows, int64_t count)
{
	/* Sparse products are fastest by fours. */
	return KDRI_MIN(rows, count + GUARD <= 4 ? count + GUARD : (count + GUARD + 3) / 4 * 4);
}

static kdr_status basis_new(kdr_context *ctx, const kdri_op *op, int64_t count, bool improved, basis *b)
{
	int64_t size;
	b->op = op;
	b->n = op->rows;
	b->block = kdri_ritz_block(b->n, count);
	b->room = KDRI_MIN(b->n, KDRI_MAX(BLOCKS * b->block, LEAST_BASIS));
	KDRI_DO(kdri_mul(ctx, b->n, b->room, &size));
	KDRI_DO(KDRI_NEW(ctx, &b->v, size));
	KDRI_DO(KDRI_NEW(ctx, &b->av, size));
	KDRI_DO(KDRI_NEW(ctx, &b->h, b->room * b->room));
	KDRI_DO(KDRI_NEW(ctx, &b->y, b->room * b->room));
	KDRI_DO(KDRI_NEW(ctx, &b->theta, b->room));
	KDRI_DO(KDRI_NEW(ctx, &b->next, b->n * b->block));
	KDRI_DO(KDRI_NEW(ctx, &b->mix, b->room * b->block));
	if (improved)
		KDRI_DO(KDRI_NEW(ctx, &b->tx, b->n * b->block));
	return KDR_OK;
}

/* The least squared length of the columns of a (n x k). */
static double smallest_column(int64_t n, int64_t k, const double *a, int64_t lda)
{
	double least = INFINITY;
	for (int64_t j = 0; j < k; j++) {
		double sum = 0;
		for (int64_t i = 0; i < n; i++)
			sum += a[i * lda + j] * a[i * lda + j];
		least = KDRI_MIN(least, sum);
	}
	return least;
}

/* (E2) Appends the first *cols columns of `next` (stride block), made orthonormal to the basis; *cols is set to the
 * number of new directions. Then A V and H are updated. */
static kdr_status ritz_append(kdr_context *ctx, basis *b, int64_t *cols)
{
	int64_t n = b->n, m = b->size, k = KDRI_MIN(*cols, b->room - m);
	/* Done twice: the remainder of a column may be small compared with the part that was subtracted, and
	 * therefore inexact. Once suffices if nearly all of the column remains, as for most residuals. */
	for (int pass = 0; pass < 2 && k > 0; pass++) {
		double before = 0, after = 0, grown = INFINITY;
		if (m > 0) {
			before = smallest_column(n, k, b->next, b->block);
			KDRI_DO(kdri_gemm(ctx, true, false, m, k, n, 1, b->v, b->room, b->next, b->block, 0,
			                  b->mix, b->block));
			KDRI_DO(kdri_gemm(ctx, false, false, n, k, m, -1, b->v, b->room, b->mix, b->block, 1,
			                  b->next, b->block));
			after = kdri_nrm2sq(b->mix, m * b->block);
		}
		KDRI_DO(orthonormalise_once(ctx, n, &k, b->next, b->block, false, &grown));
		if (after <= 1e-4 * before && grown < 1e4)
			break;
	}
	*cols = k;
	if (k == 0)
		return KDR_OK;
	for (int64_t i = 0; i < n; i++)
		memcpy(b->v + i * b->room + m, b->next + i * b->block, (size_t)k * sizeof *b->v);
	KDRI_DO(b->op->apply(ctx, b->op, b->v + m, k, b->room, b->av + m, b->room));
	b->size = m + k;
	KDRI_DO(kdri_gemm(ctx, true, false, b->size, k, n, 1, b->v, b->room, b->av + m, b->room, 0, b->h + m,
	                  b->room));
	for (int64_t j = m; j < b->size; j++)
		for (int64_t i = 0; i < j; i++)
			b->h[j * b->room + i] = b->h[i * b->room + j];
	return KDR_OK;
}

static kdr_status solve_small(kdr_context *ctx, basis *b)
{
	for (int64_t i = 0; i < b->size; i++)
		memcpy(b->y + i * b->room, b->h + i * b->room, (size_t)b->size * sizeof *b->y);
	return kdri_eigh(ctx, b->size, b->y, b->room, b->theta);
}

/* (E1) Residuals of the lowest `block` pairs into `next`; *good: those of the pairs wanted are small enough. */
static kdr_status residuals(kdr_context *ctx, basis *b, const kdri_ritz_options *o, bool *good)
{
	int64_t k = b->block;
	double scale = KDRI_MAX(fabs(b->theta[0]), fabs(b->theta[b->size - 1]));
	KDRI_DO(kdri_gemm(ctx, false, false, b->n, k, b->size, 1, b->av, b->room, b->y, b->room, 0, b->next,
	                  b->block));
	for (int64_t i = 0; i < b->size; i++)
		for (int64_t j = 0; j < k; j++)
			b->mix[i * b->block + j] = b->y[i * b->room + j] * b->theta[j];
	KDRI_DO(kdri_gemm(ctx, false, false, b->n, k, b->size, -1, b->v, b->room, b->mix, b->block, 1,
	                  b->next, b->block));
	/* Residual over gap is the angle between the subspace found and the true one. */
	double gap = o->count < b->size ? b->theta[o->count] - b->theta[o->count - 1] : 0;
	double enough = KDRI_MAX(KDRI_MAX(o->tol * scale, o->gap_tol * gap), DBL_MIN);
	*good = true;
	for (int64_t j = 0; j < o->count; j++) {
		double sum = 0, bound = o->loose_above ? KDRI_MAX(enough, 0.1 * b->theta[j]) : enough;
		for (int64_t i = 0; i < b->n; i++)
			sum += b->next[i * b->block + j] * b->next[i * b->block + j];
		*good &= sqrt(sum) <= bound;
	}
	return KDR_OK;
}

/* (E4) */
static kdr_status improve(kdr_context *ctx, basis *b, const kdri_op *inverse)
{
	kdr_status st = inverse->apply(ctx, inverse, b->next, b->block, b->block, b->tx, b->block);
	double *swap = b->next;
	b->next = b->tx;
	b->tx = swap;
	return st;
}

/* The guess, and random columns up to the width of the block. */
static void first_block(kdr_context *ctx, basis *b, const kdri_ritz_options *o)
{
	kdri_rng rng = kdri_rng_stream(ctx->seed, "ritz", 0);
	for (int64_t i = 0; i < b->n; i++)
		for (int64_t j = 0; j < b->block; j++)
			b->next[i * b->block + j] =
			        o->warm && j < o->count ? o->warm[i * o->count + j] : kdri_rng_normal(&rng);
}

kdr_status kdri_ritz_lowest(kdr_context *ctx, const kdri_op *op, const kdri_ritz_options *o, double *values,
                            double *vectors, bool *converged)
{
	kdr_status st;
	basis b = { 0 };
	bool good = false;
	KDRI_TRY(basis_new(ctx, op, o->count, o->precondition, &b));
	first_block(ctx, &b, o);
	int64_t fresh = b.block;
	KDRI_TRY(ritz_append(ctx, &b, &fresh));
	/* If the columns of the guess are linearly dependent, the missing ones are filled with random columns. */
	kdri_rng rng = kdri_rng_stream(ctx->seed, "ritz", 1);
	while (b.size < b.block) {
		fresh = b.block - b.size;
		for (int64_t i = 0; i < b.n; i++)
			for (int64_t j = 0; j < fresh; j++)
				b.next[i * b.block + j] = kdri_rng_normal(&rng);
		KDRI_TRY(ritz_append(ctx, &b, &fresh));
	}
	int64_t most = o->most_steps ? o->most_steps : MOST_STEPS;
	for (int64_t step = 0; step < most; step++) {
		KDRI_TRY(solve_small(ctx, &b));
		if (b.size == b.n) {
			good = true;
			break;
		}
		if (b.size + b.block > b.room && b.room < b.n) {
			/* (E3) */
			int64_t keep = KDRI_MIN(b.size, 2 * b.block);
			KDRI_TRY(kdri_mix_columns(ctx, b.n, b.size, b.v, b.room, keep, b.y, b.room, b.room));
			KDRI_TRY(kdri_mix_columns(ctx, b.n, b.size, b.av, b.room, keep, b.y, b.room, b.room));
			for (int64_t i = 0; i < keep; i++)
				for (int64_t j = 0; j < keep; j++)
					b.h[i * b.room + j] = i == j ? b.theta[i] : 0;
			b.size = keep;
			KDRI_TRY(solve_small(ctx, &b));
		}
		KDRI_TRY(residuals(ctx, &b, o, &good));
		fresh = b.block;
		if (good || kdri_iteration(ctx, "eigs", step, 0, NAN))
			break;
		if (o->precondition)
			KDRI_TRY(improve(ctx, &b, o->precondition));
		KDRI_TRY(ritz_append(ctx, &b, &fresh));
		if (fresh == 0) { /* an invariant subspace: the residuals are rounding */
			good = true;
			break;
		}
	}
	KDRI_TRY(kdri_gemm(ctx, false, false, b.n, o->count, b.size, 1, b.v, b.room, b.y, b.room, 0, vectors,
	                   o->count));
	memcpy(values, b.theta, (size_t)o->count * sizeof *values);
	*converged = good;
done:
	KDRI_FREE(ctx, b.v, b.av, b.h, b.y, b.theta, b.next, b.mix, b.tx);
	return st;
}

enum { DENSE_BELOW = 128, DENSE_RESCUE = 2000, IDENTITY_COLS = 256 };
static const double least_tol = 1e-12;

/* --- some pairs, the dense way -------------------------------------------------------------- */

/* The matrix of an operator: its products with the columns of the identity. */
static kdr_status form_matrix(kdr_context *ctx, const kdri_op *op, double *a)
{
	kdr_status st;
	int64_t n = op->rows, width = KDRI_MIN(n, IDENTITY_COLS), size;
	double *identity = NULL;
	KDRI_TRY(kdri_mul(ctx, n, width, &size));
	KDRI_TRY(KDRI_NEW(ctx, &identity, size));
	for (int64_t j = 0; j < n; j += width) {
		int64_t cols = KDRI_MIN(width, n - j);
		memset(identity, 0, (size_t)size * sizeof *identity);
		for (int64_t c = 0; c < cols; c++)
			identity[(j + c) * width + c] = 1;
		KDRI_TRY(op->apply(ctx, op, identity, cols, width, a + j, n));
	}
done:
	kdri_free(ctx, identity);
	return st;
}

static kdr_status eigsh_dense(kdr_context *ctx, const kdri_op *op, int64_t count, kdri_which which,
                              double *values, double *vectors)
{
	kdr_status st;
	double *a = NULL, *w = NULL;
	int64_t n = op->rows, size;
	KDRI_TRY(kdri_mul(ctx, n, n, &size));
	KDRI_TRY(KDRI_NEW(ctx, &a, size));
	KDRI_TRY(KDRI_NEW(ctx, &w, n));
	KDRI_TRY(form_matrix(ctx, op, a));
	KDRI_TRY(kdri_eigh(ctx, n, a, n, w));
	for (int64_t c = 0; c < count; c++) {
		int64_t from = which == KDRI_LARGEST ? n - 1 - c : c;
		values[c] = w[from];
		for (int64_t i = 0; i < n; i++)
			vectors[i * count + c] = a[i * n + from];
	}
done:
	KDRI_FREE(ctx, a, w);
	return st;
}

/* --- some pairs, by blocks ------------------------------------------------------------------ */

/* Minus an operator. */
static kdr_status negative(kdr_context *ctx, const kdri_op *op, const double *x, int64_t k, int64_t ldx,
                           double *y, int64_t ldy)
{
	const kdri_op *a = op->data;
	kdr_status st = a->apply(ctx, a, x, k, ldx, y, ldy);
	for (int64_t i = 0; st == KDR_OK && i < op->rows; i++)
		for (int64_t j = 0; j < k; j++)
			y[i * ldy + j] = -y[i * ldy + j];
	return st;
}

static kdr_status eigsh_blocks(kdr_context *ctx, const kdri_op *op, int64_t count, kdri_which which,
                               double tol, double *values, double *vectors, bool *good)
{
	kdr_status st;
	int64_t n = op->rows, size;
	double *w = NULL, *v = NULL;
	const kdri_op minus = { n, n, negative, NULL, op };
	const kdri_ritz_options o = { .count = count, .tol = KDRI_MAX(tol, least_tol) }; /* (E5) */
	KDRI_TRY(kdri_mul(ctx, n, count, &size));
	KDRI_TRY(KDRI_NEW(ctx, &w, count));
	KDRI_TRY(KDRI_NEW(ctx, &v, size));
	KDRI_TRY(kdri_ritz_lowest(ctx, which == KDRI_LARGEST ? &minus : op, &o, w, v, good));
	if (!*good && (ctx->cancelled || ctx->timed_out))
		KDRI_FAIL(ctx, KDR_ERR_NUMERIC, "eigenvalues: the computation was stopped");
	for (int64_t j = 0; j < count && *good; j++) {
		values[j] = which == KDRI_LARGEST ? -w[j] : w[j];
		kdri_fix_sign(n, v, count, j);
	}
	if (*good)
		memcpy(vectors, v, (size_t)size * sizeof *v);
done:
	KDRI_FREE(ctx, w, v);
	return st;
}

kdr_status kdri_eigsh(kdr_context *ctx, const kdri_op *op, int64_t count, kdri_which which, double tol,
                      double *values, double *vectors)
{
	int64_t n = op->rows;
	if (op->cols != n)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "eigenvalues: the operator is %lld x %lld, not square", (long long)n,
		                 (long long)op->cols);
	if (count < 0 || count > n)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "eigenvalues: cannot compute %lld eigenvalues of a %lld x %lld operator",
		                 (long long)count, (long long)n, (long long)n);
	if (count == 0)
		return KDR_OK;
	if (n <= DENSE_BELOW || 2 * count + 1 >= n)
		return eigsh_dense(ctx, op, count, which, values, vectors);
	bool good = false;
	kdr_status st = eigsh_blocks(ctx, op, count, which, tol, values, vectors, &good);
	if (st == KDR_OK && !good && n <= DENSE_RESCUE)
		return eigsh_dense(ctx, op, count, which, values, vectors);
	if (st == KDR_OK && !good)
		return kdri_fail(
		        ctx, KDR_ERR_NUMERIC,
		        "eigenvalues: %lld eigenpairs of a %lld x %lld operator did not converge to %g",
		        (long long)count, (long long)n, (long long)n, tol);
	return st;
}
