/* Symmetric eigenproblems. SPDX-License-Identifier: BSD-3-Clause
 *
 * All pairs: LAPACK's divide and conquer (dsyevd), on one thread, since its threaded form would add up
 * differently for every number of threads.
 *
 * Some pairs: ARPACK's implicitly restarted Lanczos [Lehoucq, Sorensen & Yang, ARPACK Users' Guide,
 * SIAM 1998], which asks for one product y = A x after the other. Each pair found is checked against
 * the operator,
 *
 *   (E1)  ||A z - w z|| <= max(1000 tol, 1e-8) max |w|,
 *
 * and if one fails, or the iteration stalls, the run is repeated from another start vector with twice
 * the Lanczos basis, and at last, up to DENSE_RESCUE rows, the matrix is formed and solved whole. Lanczos
 * from one vector sees one direction of each eigenspace and finds further copies of a multiple
 * eigenvalue by rounding alone: it can miss some. Where exact multiplicities matter, use kdri_eigh.
 * The worst of these, a multiple of the identity, is told beforehand: a random vector x is an
 * eigenvector of no other operator,
 *
 *   (E2)  ||A x - c x|| <= 8 eps ||A x||,  c = x'A x / x'x   (almost surely) only if A = c I,
 *
 * and then any orthonormal vectors will do.
 *
 * ARPACK keeps its state in static variables, so a lock lets one run in at a time; for the same reason
 * an operator must not call kdri_eigsh itself. */
#include <arpack.h>
#include <float.h>
#include <limits.h>
#include <pthread.h>

#include "linalg/lapack.h"

enum { DENSE_BELOW = 128, DENSE_RESCUE = 2000, IDENTITY_COLS = 256, LEAST_BASIS = 20, ATTEMPTS = 3 };

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

/* On failure `a` is lost. */
kdr_status kdri_eigh(kdr_context *ctx, int64_t n, double *a, int64_t lda, double *values)
{
	kdr_status st;
	double *work = NULL;
	int *iwork = NULL;
	if (n == 0)
		return KDR_OK;
	KDRI_TRY(kdri_blas_int(ctx, lda, "the stride of a matrix"));
	if (1 + 6 * n + 2 * n * n > INT_MAX)
		return kdri_fail(ctx, KDR_ERR_SIZE,
		                 "all eigenvectors of a %lld x %lld matrix: at most 32766 rows are allowed",
		                 (long long)n, (long long)n);
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < n; j++)
			if (!isfinite(a[i * lda + j]))
				return kdri_fail(
				        ctx, KDR_ERR_NUMERIC,
				        "eigenvalues: entry (%lld, %lld) of the matrix is not finite",
				        (long long)i + 1, (long long)j + 1);
	int size = (int)n, stride = (int)lda, lwork = 1 + 6 * size + 2 * size * size, liwork = 3 + 5 * size;
	int info = 0;
	KDRI_TRY(KDRI_NEW(ctx, &work, lwork));
	KDRI_TRY(KDRI_NEW(ctx, &iwork, liwork));
	int before = kdri_serial_begin();
	dsyevd_("V", "L", &size, a, &stride, values, work, &lwork, iwork, &liwork, &info);
	kdri_serial_end(before);
	if (info != 0) {
		st = kdri_fail(ctx, KDR_ERR_NUMERIC,
		               "eigenvalues of a %d x %d matrix: LAPACK's dsyevd failed (info %d)", size,
		               size, info);
		goto done;
	}
	transpose_square(n, a, lda);
	for (int64_t j = 0; j < n; j++)
		fix_sign(n, a, lda, j);
done:
	kdri_free(ctx, work);
	kdri_free(ctx, iwork);
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
	kdri_free(ctx, a);
	kdri_free(ctx, w);
	return st;
}

/* --- some pairs, by Lanczos ----------------------------------------------------------------- */

static pthread_mutex_t arpack_lock = PTHREAD_MUTEX_INITIALIZER;

typedef struct lanczos {
	int n, count, basis, lworkl;
	const char *which;
	double tol;
	double *resid, *v, *workd, *workl, *values;
	int *select;
	bool converged;
} lanczos;

static void lanczos_free(kdr_context *ctx, lanczos *s)
{
	kdri_free(ctx, s->resid);
	kdri_free(ctx, s->v);
	kdri_free(ctx, s->workd);
	kdri_free(ctx, s->workl);
	kdri_free(ctx, s->values);
	kdri_free(ctx, s->select);
}

static kdr_status lanczos_new(kdr_context *ctx, lanczos *s)
{
	kdr_status st;
	int64_t size, b = s->basis;
	KDRI_TRY(kdri_blas_int(ctx, b * b + 8 * b, "the workspace of ARPACK"));
	s->lworkl = (int)(b * b + 8 * b);
	KDRI_TRY(kdri_mul(ctx, s->n, b, &size));
	KDRI_TRY(KDRI_NEW(ctx, &s->resid, s->n));
	KDRI_TRY(KDRI_NEW(ctx, &s->v, size));
	KDRI_TRY(KDRI_NEW0(ctx, &s->workd, 3 * (int64_t)s->n));
	KDRI_TRY(KDRI_NEW0(ctx, &s->workl, s->lworkl));
	KDRI_TRY(KDRI_NEW(ctx, &s->values, s->count));
	KDRI_TRY(KDRI_NEW0(ctx, &s->select, b));
done:
	return st;
}

/* One run of ARPACK from the start vector in `resid`. Afterwards `v` holds the vectors, one after the
 * other, and `values` the eigenvalues in increasing order, if `converged`. */
static kdr_status lanczos_run(kdr_context *ctx, const kdri_op *op, lanczos *s)
{
	kdr_status st = KDR_OK;
	int ido = 0, info = 1 /* start from resid */, ipntr[11] = { 0 }, step = s->basis - s->count;
	int iparam[11] = { [0] = 1 /* exact shifts */, [2] = KDRI_MAX(1000, s->n), [3] = 1, [6] = 1 };
	for (int64_t products = 0;; products++) {
		int before = kdri_serial_begin();
		dsaupd_c(&ido, "I", s->n, s->which, s->count, s->tol, s->resid, s->basis, s->v, s->n, iparam,
		         ipntr, s->workd, s->workl, s->lworkl, &info);
		kdri_serial_end(before);
		if (ido != -1 && ido != 1)
			break;
		if (products % step == 0 && kdri_iteration(ctx, "eigs", products / step, 0, NAN))
			return kdri_fail(
			        ctx, KDR_ERR_NUMERIC,
			        "eigenvalues: stopped after %lld products, before %d pairs were found",
			        (long long)products, s->count);
		KDRI_TRY(op->apply(ctx, op, s->workd + ipntr[0] - 1, 1, 1, s->workd + ipntr[1] - 1, 1));
	}
	/* 1: out of restarts, 3: no shift could be applied, -9: A x = 0, -9999: no basis; another start may do. */
	s->converged = info == 0;
	if (info != 0 && info != 1 && info != 3 && info != -9 && info != -9999)
		return kdri_fail(ctx, KDR_ERR_NUMERIC, "eigenvalues: ARPACK's dsaupd failed (info %d)", info);
	if (s->converged) {
		int before = kdri_serial_begin();
		dseupd_c(1, "A", s->select, s->values, s->v, s->n, 0, "I", s->n, s->which, s->count, s->tol,
		         s->resid, s->basis, s->v, s->n, iparam, ipntr, s->workd, s->workl, s->lworkl, &info);
		kdri_serial_end(before);
		s->converged = info == 0;
	}
done:
	return st;
}

/* Whether each pair meets (E1); `product` has room for n x count. */
static kdr_status check_pairs(kdr_context *ctx, const kdri_op *op, int64_t count, double tol,
                              const double *values, const double *vectors, double *product, bool *good)
{
	int64_t n = op->rows;
	kdr_status st = op->apply(ctx, op, vectors, count, count, product, count);
	if (st != KDR_OK)
		return st;
	double scale = 0, worst = 0;
	for (int64_t c = 0; c < count; c++) {
		double sum = 0;
		for (int64_t i = 0; i < n; i++) {
			double r = product[i * count + c] - values[c] * vectors[i * count + c];
			sum += r * r;
		}
		worst = KDRI_MAX(worst, sum);
		scale = KDRI_MAX(scale, fabs(values[c]));
	}
	*good = sqrt(worst) <= KDRI_MAX(KDRI_MAX(1000 * tol, 1e-8) * scale, DBL_MIN);
	return KDR_OK;
}

/* One attempt: draws a start vector, runs ARPACK, sorts, checks. */
static kdr_status attempt(kdr_context *ctx, const kdri_op *op, int64_t count, kdri_which which, double tol,
                          int index, double *values, double *vectors, bool *good)
{
	kdr_status st;
	int64_t n = op->rows, basis = KDRI_MIN(n, KDRI_MAX(2 * count + 1, LEAST_BASIS) << index);
	lanczos s = { .n = (int)n,
		      .count = (int)count,
		      .basis = (int)basis,
		      .which = which == KDRI_LARGEST ? "LA" : "SA",
		      .tol = tol };
	double *product = NULL, *sorted = NULL, *w = NULL;
	*good = false;
	KDRI_TRY(lanczos_new(ctx, &s));
	KDRI_TRY(KDRI_NEW(ctx, &product, n * count));
	KDRI_TRY(KDRI_NEW(ctx, &sorted, n * count));
	KDRI_TRY(KDRI_NEW(ctx, &w, count));
	kdri_rng rng = kdri_rng_stream(ctx->seed, "eigs", (uint64_t)index);
	for (int64_t i = 0; i < n; i++)
		s.resid[i] = kdri_rng_normal(&rng);
	pthread_mutex_lock(&arpack_lock);
	st = lanczos_run(ctx, op, &s);
	pthread_mutex_unlock(&arpack_lock);
	if (st != KDR_OK || !s.converged)
		goto done;
	for (int64_t c = 0; c < count; c++) {
		int64_t from = which == KDRI_LARGEST ? count - 1 - c : c;
		w[c] = s.values[from];
		for (int64_t i = 0; i < n; i++)
			sorted[i * count + c] = s.v[from * n + i];
		fix_sign(n, sorted, count, c);
	}
	KDRI_TRY(check_pairs(ctx, op, count, tol, w, sorted, product, good));
	if (*good) {
		memcpy(values, w, (size_t)count * sizeof *w);
		memcpy(vectors, sorted, (size_t)(n * count) * sizeof *sorted);
	}
done:
	kdri_free(ctx, product);
	kdri_free(ctx, sorted);
	kdri_free(ctx, w);
	lanczos_free(ctx, &s);
	return st;
}

/* (E2): whether the operator is a multiple of the identity; if so, c and unit vectors are the answer. */
static kdr_status multiple_of_identity(kdr_context *ctx, const kdri_op *op, int64_t count, double *values,
                                       double *vectors, bool *is)
{
	kdr_status st;
	int64_t n = op->rows;
	double *x = NULL, xx = 0, xy = 0, yy = 0, rest = 0;
	KDRI_TRY(KDRI_NEW(ctx, &x, 2 * n));
	double *y = x + n;
	kdri_rng rng = kdri_rng_stream(ctx->seed, "eigs", ATTEMPTS);
	for (int64_t i = 0; i < n; i++)
		x[i] = kdri_rng_normal(&rng);
	KDRI_TRY(op->apply(ctx, op, x, 1, 1, y, 1));
	for (int64_t i = 0; i < n; i++) {
		xx += x[i] * x[i];
		xy += x[i] * y[i];
	}
	double c = xy / xx;
	for (int64_t i = 0; i < n; i++) {
		yy += y[i] * y[i];
		rest += (y[i] - c * x[i]) * (y[i] - c * x[i]);
	}
	*is = sqrt(rest) <= 8 * DBL_EPSILON * sqrt(yy);
	if (*is) {
		memset(vectors, 0, (size_t)(n * count) * sizeof *vectors);
		for (int64_t j = 0; j < count; j++) {
			values[j] = c;
			vectors[j * count + j] = 1;
		}
	}
done:
	kdri_free(ctx, x);
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
		                 "eigenvalues: %lld are wanted of a %lld x %lld operator", (long long)count,
		                 (long long)n, (long long)n);
	if (count == 0)
		return KDR_OK;
	if (n <= DENSE_BELOW || 2 * count + 1 >= n)
		return eigsh_dense(ctx, op, count, which, values, vectors);
	kdr_status st = kdri_blas_int(ctx, n, "the size of an operator");
	bool good = false;
	if (st == KDR_OK)
		st = multiple_of_identity(ctx, op, count, values, vectors, &good);
	for (int index = 0; index < ATTEMPTS && st == KDR_OK && !good; index++)
		st = attempt(ctx, op, count, which, tol, index, values, vectors, &good);
	if (st == KDR_OK && !good && n <= DENSE_RESCUE)
		return eigsh_dense(ctx, op, count, which, values, vectors);
	if (st == KDR_OK && !good)
		return kdri_fail(
		        ctx, KDR_ERR_NUMERIC,
		        "eigenvalues: ARPACK did not find %lld pairs of a %lld x %lld operator to within %g",
		        (long long)count, (long long)n, (long long)n, tol);
	return st;
}
