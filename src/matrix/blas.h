/* BLAS and LAPACK inside matrix/. SPDX-License-Identifier: BSD-3-Clause
 *
 * The routines that the library needs, on row-major matrices. blas_system.c calls an installed BLAS and LAPACK through their
 * Fortran interface, which every implementation has; builtin/ has an implementation of our own. All of them
 * work on the calling thread alone. */
#ifndef KDRI_BLAS_H
#define KDRI_BLAS_H

#include "core/internal.h"
#include "matrix/linalg.h"

/* C = alpha op(A) op(B) + beta C, with C of m x n and inner dimension k; op transposes if trans_a or trans_b is set. C is not read
 * if beta is 0. */
void kdri_dgemm(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, double alpha, const double *a,
                int64_t lda, const double *b, int64_t ldb, double beta, double *c, int64_t ldc);
void kdri_sgemm(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, float alpha, const float *a,
                int64_t lda, const float *b, int64_t ldb, float beta, float *c, int64_t ldc);
/* The lower triangle of C = alpha op(A) op(A)' + beta C, with C of n x n and inner dimension k. */
void kdri_dsyrk(bool trans, int64_t n, int64_t k, double alpha, const double *a, int64_t lda, double beta,
                double *c, int64_t ldc);
void kdri_ssyrk(bool trans, int64_t n, int64_t k, float alpha, const float *a, int64_t lda, float beta,
                float *c, int64_t ldc);
/* y = alpha op(A) x + beta y, with A of rows x cols before op; incx and incy are the distances between entries. */
void kdri_dgemv(bool trans, int64_t rows, int64_t cols, double alpha, const double *a, int64_t lda,
                const double *x, int64_t incx, double beta, double *y, int64_t incy);

/* y += x (blas.c) */
void kdri_add_floats(const float *x, float *y, int64_t n);

/* L (n x n) is lower triangular. B (n x k) becomes L^-1 B, or L'^-1 B if trans is set. */
void kdri_solve_left(bool trans, int64_t n, int64_t k, const double *l, int64_t ldl, double *b, int64_t ldb);
/* B (rows x n) becomes B L'^-1. */
void kdri_solve_right(int64_t rows, int64_t n, const double *l, int64_t ldl, double *b, int64_t ldb);
/* B (rows x n) becomes B U, with U upper triangular and zeros stored below its diagonal. */
void kdri_times_upper(int64_t rows, int64_t n, const double *u, int64_t ldu, double *b, int64_t ldb);
/* The lower triangle of A becomes L with L L' = A. Returns 0, or the number of the pivot, counted from 1, that is not positive. */
int kdri_factor_block(int64_t n, double *a, int64_t lda);
/* The upper triangle of U becomes U^-1. Returns 0, or the number of the diagonal entry, counted from 1, that is zero. */
int kdri_invert_upper(int64_t n, double *u, int64_t ldu);

/* All eigenvalues (ascending) of the symmetric matrix A in full storage, whose row j becomes eigenvector j. If n is larger than
 * KDRI_EIGEN_WHOLE, which takes seconds, the context is checked between steps for a request to stop. *info is not 0
 * if the iteration does not converge. n is at most KDRI_EIGEN_MOST. */
enum { KDRI_EIGEN_WHOLE = 1000, KDRI_EIGEN_MOST = 32766 };
kdr_status kdri_eigen_rows(kdr_context *ctx, int64_t n, double *a, int64_t lda, double *values, int *info);
kdr_status kdri_eigen_stopped(kdr_context *ctx);
/* Makes the largest entry of column j positive (the first of equals). */
void kdri_fix_sign(int64_t n, double *vectors, int64_t ld, int64_t j);

/* Between these two, BLAS and LAPACK run on one thread. OpenBLAS does this automatically inside an active parallel
 * region, but neither outside nor in a team of one. The setting applies to the calling thread; parallel regions with
 * a num_threads clause are not affected, and the threads they start inherit it. */
int kdri_serial_begin(void);
void kdri_serial_end(int before);

/* KDR_ERR_SIZE unless `size` fits the BLAS integer. */
kdr_status kdri_blas_int(kdr_context *ctx, int64_t size, const char *what);

/* Memory for BLAS if the address space is limited. */

/* Call it before work that multiplies matrices: if RLIMIT_AS is set, it allocates BLAS's buffers while there is room and
 * lowers the context's number of threads accordingly. Returns KDR_ERR_MEMORY if there is not even room for one. */
kdr_status kdri_blas_reserve(kdr_context *ctx);

#endif
