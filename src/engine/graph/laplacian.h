/* The normalised Laplacian of a graph, for the eigensolver. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_LAPLACIAN_H
#define KDRI_LAPLACIAN_H

#include "matrix/levels.h"

typedef struct kdri_laplacian {
	const kdr_mat *w;
	double *root;        /* sqrt of the degrees */
	double volume;       /* their sum, if root is known to be an eigenvector and set aside; otherwise 0 */
	kdri_levels *levels; /* NULL: the graph is small or dense */
	double *room;        /* for kdri_laplacian_solve, n x width */
	int64_t width;
} kdri_laplacian;

/* w: symmetric, entries >= 0, borrowed. degree: at least the sum of each row and > 0, borrowed. `aside`: w is connected
 * and degree its row sums, so that sqrt(degree) is the first eigenvector: it is moved to the other end of the
 * spectrum. `count`: eigenvectors that will be searched for. */
kdr_status kdri_laplacian_new(kdr_context *ctx, const kdr_mat *w, const double *degree, bool aside,
                              int64_t count, kdri_laplacian *out);
void kdri_laplacian_free(kdr_context *ctx, kdri_laplacian *l);

/* Both have a kdri_laplacian as their data. Y = -D^-1/2 W D^-1/2 X, whose lowest eigenvectors are searched; and an
 * approximate inverse after adding I, which is available if `levels` is not NULL. */
kdr_status kdri_laplacian_apply(kdr_context *ctx, const kdri_op *op, const double *x, int64_t k, int64_t ldx,
                                double *y, int64_t ldy);
kdr_status kdri_laplacian_solve(kdr_context *ctx, const kdri_op *op, const double *x, int64_t k, int64_t ldx,
                                double *y, int64_t ldy);

/* Removes the component along the eigenvector that was set aside from the columns of x (n x k). */
void kdri_laplacian_clear(const kdri_laplacian *l, int64_t k, double *x);

#endif
