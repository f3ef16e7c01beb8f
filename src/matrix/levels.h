/* A graph on several levels, to solve with its Laplacian. SPDX-License-Identifier: BSD-3-Clause
 *
 *     kdri_levels *levels = NULL;
 *     KDRI_TRY(kdri_levels_new(ctx, &w, degree, block, &levels));
 *     KDRI_TRY(kdri_levels_solve(ctx, levels, x, k, ldx, y, ldy));     roughly, k <= block columns
 *     kdri_levels_free(ctx, levels);
 */
#ifndef KDRI_GRAPH_LEVELS_H
#define KDRI_GRAPH_LEVELS_H

#include "matrix/linalg.h"

typedef struct kdri_levels kdri_levels;

/* M = diag(degree) - W: w symmetric with entries >= 0, degree_i >= the sum of row i. Borrows both. `width`: most
 * columns of a block to solve with. */
kdr_status kdri_levels_new(kdr_context *ctx, const kdr_csr *w, const double *degree, int64_t width,
                           kdri_levels **out);
void kdri_levels_free(kdr_context *ctx, kdri_levels *levels);

/* Y ~ M^-1 X, n x k: one cycle over the levels. If M is singular, the component in its null space is arbitrary. Uses
 * memory inside `levels`: one call at a time. */
kdr_status kdri_levels_solve(kdr_context *ctx, kdri_levels *levels, const double *x, int64_t k, int64_t ldx,
                             double *y, int64_t ldy);

#endif
