/* Products with a matrix and with its transpose in one pass over the rows. SPDX-License-Identifier: BSD-3-Clause
 *
 * With U the matrix x and a constant feature after its last column,
 *
 *   (E1)  y = U' A,   A = change(U p)
 *
 * for blocks p and y of (columns of x + 1) x k. Row i of A may depend on row i of U p only. The evaluations and the
 * Hessian products of linear classifiers are such passes. */
#ifndef KDRI_PASS_H
#define KDRI_PASS_H

#include "matrix/linalg.h"

/* Chunks of rows, of about equal size; their number depends only on that of the rows. There are more than KDRI_CHUNKS, so that
 * any number of threads is busy until the end. */
enum { KDRI_PASS_CHUNKS = 64 };
static inline int64_t kdri_pass_chunks(int64_t rows)
{
	return KDRI_MIN((rows + KDRI_BLOCK - 1) / KDRI_BLOCK, KDRI_PASS_CHUNKS);
}

/* z: rows begin .. end - 1 of U p, each of k numbers, to be replaced by those of A. Sums over rows are added up by chunk. Chunks run in parallel; the rows of a chunk come in order. */
typedef void kdri_pass_fn(void *user, int64_t chunk, int64_t begin, int64_t end, double *z);

typedef struct kdri_pass {
	double bias; /* value of the constant feature; 0: none */
	bool fused;
	int64_t d, k; /* columns with the constant feature; columns of the blocks, at most */
	double *p, *sums, *z;
} kdri_pass;

/* For matrices like x. */
kdr_status kdri_pass_open(kdr_context *ctx, const kdr_mat *x, double bias, int64_t k, kdri_pass *t);
void kdri_pass_close(kdr_context *ctx, kdri_pass *t);
/* (E1) for rows rows[0..n-1] of x, ascending, or all n rows if rows is NULL; only a fused pass takes some of the rows.
 * p NULL: zeros. */
kdr_status kdri_pass_run(kdr_context *ctx, kdri_pass *t, const kdr_mat *x, const int64_t *rows, int64_t n,
                         int64_t k, const double *p, kdri_pass_fn *change, void *user, double *y);

#endif
