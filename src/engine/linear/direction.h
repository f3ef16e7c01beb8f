/* Newton directions of linear classifiers, many at a time: direction.c. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_DIRECTION_H
#define KDRI_DIRECTION_H

#include "matrix/pass.h"

typedef struct kdri_direction {
	const kdr_mat *x;
	kdri_pass *pass;
	int64_t n, d, m;                         /* d with the constant feature */
	int64_t held;                            /* weights that are penalised: d, or d - 1 */
	int64_t width;                           /* outputs that have not converged, adjacent in all blocks */
	double *r, *p, *hp;                      /* d x width */
	const double *h;                         /* n x m */
	const int64_t *used;                     /* the rows of h in use; NULL: all */
	double *partial;                         /* KDRI_CHUNKS x m */
	double *rr, *limit, *old, *alpha, *beta; /* width */
	int64_t *live, *keep;                    /* which output a column belongs to */
	int64_t *rows;                           /* n */
} kdri_direction;

kdr_status kdri_direction_open(kdr_context *ctx, const kdr_mat *x, kdri_pass *pass, int64_t held,
                               int64_t outputs, kdri_direction *t);
void kdri_direction_close(kdr_context *ctx, kdri_direction *t);
/* s (d x m) with (I + U' diag(h_j) U) s_j = -g_j for the active outputs j, to 0.1 of |g_j|; 0 for the others. h is
 * n x m, gg_j = |g_j|^2. U is x with the constant feature of `pass`, which
 * has been opened for x. */
kdr_status kdri_direction_find(kdr_context *ctx, kdri_direction *t, const double *h, const double *g,
                               const double *gg, const bool *active, double *s);

#endif
