/* BLAS and LAPACK inside matrix/. SPDX-License-Identifier: BSD-3-Clause
 *
 * Not every distribution of OpenBLAS includes LAPACKE. The few LAPACK routines in use are therefore declared here with
 * their Fortran interface: column-major, every argument by address. */
#ifndef KDRI_LAPACK_H
#define KDRI_LAPACK_H

#include <cblas.h>

#include "matrix/linalg.h"

void dsyevd_(const char *jobz, const char *uplo, const int *n, double *a, const int *lda, double *w,
             double *work, const int *lwork, int *iwork, const int *liwork, int *info);
void dlatrd_(const char *uplo, const int *n, const int *nb, double *a, const int *lda, double *e, double *tau,
             double *w, const int *ldw);
void dsytd2_(const char *uplo, const int *n, double *a, const int *lda, double *d, double *e, double *tau,
             int *info);
void dstedc_(const char *compz, const int *n, double *d, double *e, double *z, const int *ldz, double *work,
             const int *lwork, int *iwork, const int *liwork, int *info);
void dormtr_(const char *side, const char *uplo, const char *trans, const int *m, const int *n, double *a,
             const int *lda, const double *tau, double *c, const int *ldc, double *work, const int *lwork,
             int *info);
void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info);
void dtrtri_(const char *uplo, const char *diag, const int *n, double *a, const int *lda, int *info);

/* Between these two, BLAS and LAPACK run on one thread. OpenBLAS does this automatically inside an active parallel
 * region, but neither outside nor in a team of one. The setting belongs to the calling thread. Parallel regions with a
 * num_threads clause are not affected, and the threads they start inherit it. */
int kdri_serial_begin(void);
void kdri_serial_end(int before);

/* Returns KDR_ERR_SIZE unless `size` fits the BLAS integer. */
kdr_status kdri_blas_int(kdr_context *ctx, int64_t size, const char *what);

#endif
