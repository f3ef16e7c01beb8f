/* Symmetric eigenproblems. SPDX-License-Identifier: BSD-3-Clause
 *
 * All pairs: divide and conquer (blas.h), on one thread, since the sums of a threaded form would depend on the number of
 * threads.
 *
 * Some pairs: by blocks (ritz.c), down to residuals of
 *
 *   (E1)  ||A z - w z|| <= max(tol, 1e-12) max |w|,
 *
 * including copies of multiple eigenvalues. If that takes too many steps, the matrix is formed and solved in full, up
 * to DENSE_RESCUE rows. */
#include "matrix/blas.h"
#include "matrix/ritz.h"

enum { DENSE_BELOW = 128, DENSE_RESCUE = 2000, IDENTITY_COLS = 256 };
static const double least_tol = 1e-12;

/* Makes the largest entry of column j positive (the first of equals). */
static void fix_sign(int64_t n, double *vectors, int64_t ld, int64_t j)
{
	int64_t top = 0;
	for (int64_t i = 1; i < n; i++)
		if (fabs(vectors[i * ld + j]) > fabs(vectors[top * ld + j]))
			top = i;
	if (n > 0 && vectors[top * ld + j] < 0)
		for (int64_t i = 0; i < n; i++)
			vectors[i * ld + j] = -vectors[i * ld + j];
}

static void transpose_square(int64_t n, double *a, int64_t lda)
{
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < i; j++) {
			double t = a[i * lda + j];
			a[i * lda + j] = a[j * lda + i];
			a[j * lda + i] = t;
		}
}

kdr_status kdri_eigen_stopped(kdr_context *ctx)
{
	return kdri_fail(ctx, KDR_ERR_NUMERIC, "eigenvalues: the computation was stopped");
}

/* On failure `a` is lost. */
kdr_status kdri_eigh(kdr_context *ctx, int64_t n, double *a, int64_t lda, double *values)
{
	kdr_status st;
	if (n == 0)
		return KDR_OK;
	KDRI_TRY(kdri_blas_int(ctx, lda, "the stride of a matrix"));
	if (n > KDRI_EIGEN_MOST)
		return kdri_fail(
		        ctx, KDR_ERR_SIZE,
		        "cannot compute all eigenvectors of a %lld x %lld matrix; at most %d rows are allowed",
		        (long long)n, (long long)n, KDRI_EIGEN_MOST);
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < n; j++)
			if (!isfinite(a[i * lda + j]))
				return kdri_fail(
				        ctx, KDR_ERR_NUMERIC,
				        "eigenvalues: entry (%lld, %lld) of the matrix is not finite",
				        (long long)i + 1, (long long)j + 1);
	int info = 0, before = kdri_serial_begin();
	st = kdri_eigen_rows(ctx, n, a, lda, values, &info);
	kdri_serial_end(before);
	KDRI_TRY(st);
	if (info != 0)
		KDRI_FAIL(ctx, KDR_ERR_NUMERIC,
		          "eigenvalues of a %lld x %lld matrix: the iteration does not converge (info %d)",
		          (long long)n, (long long)n, info);
	transpose_square(n, a, lda);
	for (int64_t j = 0; j < n; j++)
		fix_sign(n, a, lda, j);
done:
	return st;
}

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
	const kdri_ritz_options o = { .count = count, .tol = KDRI_MAX(tol, least_tol) }; /* (E1) */
	KDRI_TRY(kdri_mul(ctx, n, count, &size));
	KDRI_TRY(KDRI_NEW(ctx, &w, count));
	KDRI_TRY(KDRI_NEW(ctx, &v, size));
	KDRI_TRY(kdri_ritz_lowest(ctx, which == KDRI_LARGEST ? &minus : op, &o, w, v, good));
	if (!*good && (ctx->cancelled || ctx->timed_out))
		KDRI_FAIL(ctx, KDR_ERR_NUMERIC, "eigenvalues: the computation was stopped");
	for (int64_t j = 0; j < count && *good; j++) {
		values[j] = which == KDRI_LARGEST ? -w[j] : w[j];
		fix_sign(n, v, count, j);
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
