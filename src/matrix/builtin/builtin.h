/* BLAS and LAPACK of our own, where KINDRED_BLAS=builtin. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_BUILTIN_H
#define KDRI_BUILTIN_H

#include "matrix/blas.h"

/* Which part of C a product computes; the rest of C is not touched. */
typedef enum kdri_part { KDRI_PART_ALL, KDRI_PART_LOWER, KDRI_PART_UPPER } kdri_part;

/* kdri_dgemm for a part of C (dgemm.c). */
void kdri_dgemm_part(kdri_part part, bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k,
                     double alpha, const double *a, int64_t lda, const double *b, int64_t ldb, double beta,
                     double *c, int64_t ldc);

/* triangular.c: KDRI_ROOM_BYTES for the copies that a product makes, aligned to 64 bytes; *room is NULL if memory is short
 * or too many are in use. Returns the slot to be passed to kdri_room_return. Buffers are kept for later products:
 * their number is the largest number of simultaneous products so far. */
enum { KDRI_ROOM_BYTES = 2 << 20 };
int kdri_room_take(void **room);
void kdri_room_return(int slot);

/* dense.c: y = A x for symmetric A (n x n), of which the upper triangle is read. */
void kdri_symmetric_times(int64_t n, const double *a, int64_t lda, const double *x, double *y);

/* tridiagonal.c: the eigenvalues (ascending) of a tridiagonal matrix replace its diagonal, and its eigenvectors become the rows of z.
 * *info is not 0 if the iteration does not converge. Checks the context as kdri_eigen_rows does. */
typedef struct kdri_tridiagonal {
	kdr_context *ctx;
	int64_t n;
	double *d;       /* the diagonal */
	double *e;       /* n - 1 off-diagonal entries, and space for one more; destroyed */
	double *z;       /* n x n */
	double *work;    /* n * n + n */
	double *vectors; /* 8 n */
	int64_t *index;  /* 4 n */
} kdri_tridiagonal;
kdr_status kdri_tridiagonal_solve(const kdri_tridiagonal *p, int *info);

#endif
