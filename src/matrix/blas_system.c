/* An installed BLAS and LAPACK, through the Fortran interface. SPDX-License-Identifier: BSD-3-Clause
 *
 * Fortran's matrices are column-major, so that it reads ours as transposed: A B is computed as B' A', a lower
 * triangle is its upper one, and the sides of triangular products and solves are swapped. Every argument is passed
 * by address; after them come the lengths of the strings, as gfortran and others expect them. Callers check that
 * sizes fit an int (kdri_blas_int).
 *
 * Eigenproblems up to KDRI_EIGEN_WHOLE rows are one call of dsyevd. Larger ones use the steps of dsyevd, and the
 * context is checked between them:
 *
 *   A = Q T Q'   a panel of PANEL columns at a time (dlatrd), the rest by dsyr2k, the last rows by dsytd2
 *   T = Z w Z'   divide and conquer (dstedc): the only long step that cannot be divided
 *   V = Q Z      some columns of Z at a time (dormtr) */
#include "matrix/blas.h"

#define LENGTH  size_t
#define LENGTHS LENGTH, LENGTH

void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
            const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,
            const double *beta, double *c, const int *ldc, LENGTHS);
void sgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
            const float *alpha, const float *a, const int *lda, const float *b, const int *ldb,
            const float *beta, float *c, const int *ldc, LENGTHS);
void dgemv_(const char *trans, const int *m, const int *n, const double *alpha, const double *a,
            const int *lda, const double *x, const int *incx, const double *beta, double *y, const int *incy,
            LENGTH);
void dsyrk_(const char *uplo, const char *trans, const int *n, const int *k, const double *alpha,
            const double *a, const int *lda, const double *beta, double *c, const int *ldc, LENGTHS);
void ssyrk_(const char *uplo, const char *trans, const int *n, const int *k, const float *alpha,
            const float *a, const int *lda, const float *beta, float *c, const int *ldc, LENGTHS);
void dsyr2k_(const char *uplo, const char *trans, const int *n, const int *k, const double *alpha,
             const double *a, const int *lda, const double *b, const int *ldb, const double *beta, double *c,
             const int *ldc, LENGTHS);
void dtrsm_(const char *side, const char *uplo, const char *transa, const char *diag, const int *m,
            const int *n, const double *alpha, const double *a, const int *lda, double *b, const int *ldb,
            LENGTHS, LENGTHS);
void dtrmm_(const char *side, const char *uplo, const char *transa, const char *diag, const int *m,
            const int *n, const double *alpha, const double *a, const int *lda, double *b, const int *ldb,
            LENGTHS, LENGTHS);
void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info, LENGTH);
void dtrtri_(const char *uplo, const char *diag, const int *n, double *a, const int *lda, int *info, LENGTHS);
void dsyevd_(const char *jobz, const char *uplo, const int *n, double *a, const int *lda, double *w,
             double *work, const int *lwork, int *iwork, const int *liwork, int *info, LENGTHS);
void dlatrd_(const char *uplo, const int *n, const int *nb, double *a, const int *lda, double *e, double *tau,
             double *w, const int *ldw, LENGTH);
void dsytd2_(const char *uplo, const int *n, double *a, const int *lda, double *d, double *e, double *tau,
             int *info, LENGTH);
void dstedc_(const char *compz, const int *n, double *d, double *e, double *z, const int *ldz, double *work,
             const int *lwork, int *iwork, const int *liwork, int *info, LENGTH);
void dormtr_(const char *side, const char *uplo, const char *trans, const int *m, const int *n, double *a,
             const int *lda, const double *tau, double *c, const int *ldc, double *work, const int *lwork,
             int *info, LENGTHS, LENGTH);

enum { PANEL = 32, LAST_ROWS = 64, APPLY_COLS = 256 };

/* The leading dimension of a matrix, which may be empty. */
static int stride_of(int64_t ld)
{
	return (int)KDRI_MAX(1, ld);
}

void kdri_dgemm(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, double alpha, const double *a,
                int64_t lda, const double *b, int64_t ldb, double beta, double *c, int64_t ldc)
{
	const int rows = (int)n, cols = (int)m, inner = (int)k;
	const int la = stride_of(lda), lb = stride_of(ldb), lc = stride_of(ldc);
	dgemm_(trans_b ? "T" : "N", trans_a ? "T" : "N", &rows, &cols, &inner, &alpha, b, &lb, a, &la, &beta,
	       c, &lc, 1, 1);
}

void kdri_sgemm(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, float alpha, const float *a,
                int64_t lda, const float *b, int64_t ldb, float beta, float *c, int64_t ldc)
{
	const int rows = (int)n, cols = (int)m, inner = (int)k;
	const int la = stride_of(lda), lb = stride_of(ldb), lc = stride_of(ldc);
	sgemm_(trans_b ? "T" : "N", trans_a ? "T" : "N", &rows, &cols, &inner, &alpha, b, &lb, a, &la, &beta,
	       c, &lc, 1, 1);
}

void kdri_dsyrk(bool trans, int64_t n, int64_t k, double alpha, const double *a, int64_t lda, double beta,
                double *c, int64_t ldc)
{
	const int side = (int)n, inner = (int)k, la = stride_of(lda), lc = stride_of(ldc);
	dsyrk_("U", trans ? "N" : "T", &side, &inner, &alpha, a, &la, &beta, c, &lc, 1, 1);
}

void kdri_ssyrk(bool trans, int64_t n, int64_t k, float alpha, const float *a, int64_t lda, float beta,
                float *c, int64_t ldc)
{
	const int side = (int)n, inner = (int)k, la = stride_of(lda), lc = stride_of(ldc);
	ssyrk_("U", trans ? "N" : "T", &side, &inner, &alpha, a, &la, &beta, c, &lc, 1, 1);
}

void kdri_dgemv(bool trans, int64_t rows, int64_t cols, double alpha, const double *a, int64_t lda,
                const double *x, int64_t incx, double beta, double *y, int64_t incy)
{
	const int down = (int)cols, across = (int)rows, la = stride_of(lda), ix = (int)incx, iy = (int)incy;
	dgemv_(trans ? "N" : "T", &down, &across, &alpha, a, &la, x, &ix, &beta, y, &iy, 1);
}

void kdri_solve_left(bool trans, int64_t n, int64_t k, const double *l, int64_t ldl, double *b, int64_t ldb)
{
	const double one = 1;
	const int rows = (int)k, cols = (int)n, ll = stride_of(ldl), lb = stride_of(ldb);
	dtrsm_("R", "U", trans ? "T" : "N", "N", &rows, &cols, &one, l, &ll, b, &lb, 1, 1, 1, 1);
}

void kdri_solve_right(int64_t rows, int64_t n, const double *l, int64_t ldl, double *b, int64_t ldb)
{
	const double one = 1;
	const int down = (int)n, across = (int)rows, ll = stride_of(ldl), lb = stride_of(ldb);
	dtrsm_("L", "U", "T", "N", &down, &across, &one, l, &ll, b, &lb, 1, 1, 1, 1);
}

void kdri_times_upper(int64_t rows, int64_t n, const double *u, int64_t ldu, double *b, int64_t ldb)
{
	const double one = 1;
	const int down = (int)n, across = (int)rows, lu = stride_of(ldu), lb = stride_of(ldb);
	dtrmm_("L", "L", "N", "N", &down, &across, &one, u, &lu, b, &lb, 1, 1, 1, 1);
}

int kdri_factor_block(int64_t n, double *a, int64_t lda)
{
	int side = (int)n, la = stride_of(lda), info = 0;
	dpotrf_("U", &side, a, &la, &info, 1);
	for (int i = 0; i < side && info == 0; i++)
		if (!isfinite(a[i * lda + i])) /* OpenBLAS lets NaN pass */
			info = i + 1;
	return info;
}

int kdri_invert_upper(int64_t n, double *u, int64_t ldu)
{
	int side = (int)n, lu = stride_of(ldu), info = 0;
	dtrtri_("L", "N", &side, u, &lu, &info, 1, 1);
	return info;
}

/* --- eigenproblems -------------------------------------------------------------------------------------- */

/* Room for a large problem in pieces. */
typedef struct pieces {
	double *z, *off, *tau, *work;
	int *iwork;
	int lwork, liwork;
} pieces;

static kdr_status pieces_new(kdr_context *ctx, int64_t n, pieces *p)
{
	p->lwork = (int)(1 + 4 * n + n * n);
	p->liwork = (int)(3 + 5 * n);
	KDRI_DO(KDRI_NEW(ctx, &p->z, n * n));
	KDRI_DO(KDRI_NEW(ctx, &p->off, n));
	KDRI_DO(KDRI_NEW(ctx, &p->tau, n));
	KDRI_DO(KDRI_NEW(ctx, &p->work,
	                 p->lwork)); /* dlatrd needs n x PANEL, dormtr APPLY_COLS x PANEL or more */
	return KDRI_NEW(ctx, &p->iwork, p->liwork);
}

/* A = Q T Q', the lower triangle as Fortran sees it: reflections below the subdiagonal and in tau, T in d and off. */
static kdr_status reduce(kdr_context *ctx, int n, double *a, int lda, double *d, const pieces *p, int *info)
{
	const int panel = PANEL;
	const double one = 1, minus = -1;
	const ptrdiff_t ld = lda;
	int i = 0;
	for (; n - i > LAST_ROWS; i += panel) {
		int rows = n - i, below = rows - panel;
		double *at = a + i + i * ld;
		if (kdri_iteration(ctx, "eigenvectors", i, n, NAN))
			return kdri_eigen_stopped(ctx);
		dlatrd_("L", &rows, &panel, at, &lda, p->off + i, p->tau + i, p->work, &rows, 1);
		dsyr2k_("L", "N", &below, &panel, &minus, at + panel, &lda, p->work + panel, &rows, &one,
		        at + panel + panel * ld, &lda, 1, 1);
		for (int j = 0; j < panel; j++) {
			at[j + 1 + j * ld] = p->off[i + j];
			d[i + j] = at[j + j * ld];
		}
	}
	int last = n - i;
	dsytd2_("L", &last, a + i + i * ld, &lda, d + i, p->off + i, p->tau + i, info, 1);
	return KDR_OK;
}

static kdr_status eigh_in_pieces(kdr_context *ctx, int n, double *a, int lda, double *values, int *info)
{
	kdr_status st;
	pieces p = { 0 };
	KDRI_TRY(pieces_new(ctx, n, &p));
	KDRI_TRY(reduce(ctx, n, a, lda, values, &p, info));
	if (*info == 0)
		dstedc_("I", &n, values, p.off, p.z, &n, p.work, &p.lwork, p.iwork, &p.liwork, info, 1);
	for (int j = 0; j < n && *info == 0; j += APPLY_COLS) {
		int cols = KDRI_MIN(APPLY_COLS, n - j);
		if (kdri_iteration(ctx, "eigenvectors", j, n, NAN)) {
			st = kdri_eigen_stopped(ctx);
			goto done;
		}
		dormtr_("L", "L", "N", &n, &cols, a, &lda, p.tau, p.z + (ptrdiff_t)j * n, &n, p.work,
		        &p.lwork, info, 1, 1, 1);
	}
	for (int64_t j = 0; j < n; j++)
		memcpy(a + j * lda, p.z + j * n, (size_t)n * sizeof *a);
done:
	KDRI_FREE(ctx, p.z, p.off, p.tau, p.work, p.iwork);
	return st;
}

static kdr_status eigh_whole(kdr_context *ctx, int n, double *a, int lda, double *values, int *info)
{
	kdr_status st;
	double *work = NULL;
	int *iwork = NULL, lwork = 1 + 6 * n + 2 * n * n, liwork = 3 + 5 * n;
	KDRI_TRY(KDRI_NEW(ctx, &work, lwork));
	KDRI_TRY(KDRI_NEW(ctx, &iwork, liwork));
	dsyevd_("V", "L", &n, a, &lda, values, work, &lwork, iwork, &liwork, info, 1, 1);
done:
	KDRI_FREE(ctx, work, iwork);
	return st;
}

kdr_status kdri_eigen_rows(kdr_context *ctx, int64_t n, double *a, int64_t lda, double *values, int *info)
{
	return (n > KDRI_EIGEN_WHOLE ? eigh_in_pieces : eigh_whole)(ctx, (int)n, a, (int)lda, values, info);
}
