/* Blocks of vectors as columns, each with its own scalars. SPDX-License-Identifier: BSD-3-Clause
 *
 * A block is rows x m, row-major without gaps. For iterations that run side by side on m vectors, such as
 * conjugate gradients for m right-hand sides. Sums are divided into chunks that depend only on the rows. */
#ifndef KDRI_VECTORS_H
#define KDRI_VECTORS_H

#include "matrix/linalg.h"

/* out_j = sum_i a_ij b_ij; b NULL: ones. `partial` has space for KDRI_CHUNKS x m numbers. */
void kdri_vectors_dot(kdr_context *ctx, int64_t rows, int64_t m, const double *a, const double *b,
                      double *partial, double *out);
/* out_j = sum over `chunks` partial sums, in their order. */
void kdri_vectors_add(int64_t chunks, int64_t m, const double *partial, double *out);
/* y_ij = scale_j y_ij + alpha_j x_ij; scale NULL: ones. */
void kdri_vectors_combine(kdr_context *ctx, int64_t rows, int64_t m, const double *scale, const double *alpha,
                          const double *x, double *y);

/* cg.c: A x = b for a symmetric positive definite operator and m right-hand sides, by conjugate gradients
 * preconditioned with diag(scale)^-1 (NULL: none). x: the start on entry. A column has converged when its residual
 * is at most tol |b_j|. A may be singular where b and the start are 0 (a part of a graph that nothing
 * reaches): x stays 0 there. Reports progress as `stage`; if stopped early, x is the best so far. */
kdr_status kdri_cg(kdr_context *ctx, const kdri_op *a, const double *scale, int64_t m, const double *b,
                   double tol, int64_t max_iter, const char *stage, double *x, int64_t *iterations,
                   kdr_stop *stop);

#endif
