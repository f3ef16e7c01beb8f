/* A few lowest eigenpairs of symmetric operators, graphs and diagonal matrices less one of low rank. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_RITZ_H
#define KDRI_RITZ_H

#include "matrix/linalg.h"

/* A few lowest eigenpairs of a symmetric operator, by blocks.
 *
 * It starts from a block instead of one random vector: multiple eigenvalues up to the block's width are found, products
 * use many columns at once, and a good guess (the solution of a similar problem) saves most of the work. */

typedef struct kdri_ritz_options {
	int64_t count;      /* pairs wanted, 1 .. rows of the operator */
	const double *warm; /* rows x count, a guess; or NULL. The result is never worse than the guess */
	double tol;         /* required residuals, as a fraction of the largest |eigenvalue| found */
	double gap_tol;   /* sufficient residuals, as a fraction of the gap after the last requested value */
	bool loose_above; /* for pairs above zero a tenth of their value is enough */
	int64_t most_steps; /* 0: 200 */
	/* Y ~ (A - c I)^-1 X, approximately, for a c below the requested values; or NULL. It is applied to residuals
	 * before they join the basis, so that the number of steps no longer grows with the spread of the spectrum. */
	const kdri_op *precondition;
} kdri_ritz_options;

/* Values ascending, vectors (rows x count) orthonormal. *converged is false if the residuals are still above tol after
 * many steps, or if the context requires to stop: the pairs are then the best found. */
kdr_status kdri_ritz_lowest(kdr_context *ctx, const kdri_op *op, const kdri_ritz_options *options,
                            double *values, double *vectors, bool *converged);

/* The maximum number of columns per call of `precondition`. */
int64_t kdri_ritz_block(int64_t rows, int64_t count);

/* a <- a mix, in place: a is rows x k (stride lda), mix k x kept (stride ldm), kept <= k; rows of the answer lie `ldo` apart,
 * kept <= ldo <= lda. Allocates memory for a few thousand rows. */
kdr_status kdri_mix_columns(kdr_context *ctx, int64_t rows, int64_t k, double *a, int64_t lda, int64_t kept,
                            const double *mix, int64_t ldm, int64_t ldo);

/* Makes the columns of a (rows x cols, stride lda) orthonormal, in place; they span the same space. Columns that
 * depend on the others are dropped, and the rest are moved to the front; *kept is set to their number. */
kdr_status kdri_orthonormalise(kdr_context *ctx, int64_t rows, int64_t cols, double *a, int64_t lda,
                               int64_t *kept);
/* The same of a matrix whose rows are held by several ranks. */
kdr_status kdri_orthonormalise_rows(kdr_context *ctx, int64_t rows, int64_t cols, double *a, int64_t lda,
                                    int64_t *kept);
/* a <- a (a'a)^-1/2: the nearest matrix with orthonormal columns; a (rows x cols) must have full rank. */
kdr_status kdri_straighten(kdr_context *ctx, int64_t rows, int64_t cols, double *a);

/* A graph on several levels, to solve with its Laplacian.
 *
 *     kdri_levels *levels = NULL;
 *     KDRI_TRY(kdri_levels_new(ctx, &w, degree, block, &levels));
 *     KDRI_TRY(kdri_levels_solve(ctx, levels, x, k, ldx, y, ldy));     roughly, k <= block columns
 *     kdri_levels_free(ctx, levels);
 */

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

/* The lowest eigenpairs of a diagonal matrix less one of low rank. */

/* D - Z Z', with D the diagonal of r numbers and Z of r x c. */
typedef struct kdri_lowrank {
	int64_t r, c;
	const double *d, *z;
} kdri_lowrank;

/* The `count` lowest eigenvalues (ascending) and orthonormal eigenvectors (r x count). `warm`: a guess
 * (r x count) or NULL. Multiple eigenvalues are found with all their copies. */
kdr_status kdri_lowrank_lowest(kdr_context *ctx, const kdri_lowrank *a, int64_t count, const double *warm,
                               double *values, double *vectors);

/* The same, through all eigenvectors of the r x r matrix. */
kdr_status kdri_lowrank_dense(kdr_context *ctx, const kdri_lowrank *a, int64_t count, double *values,
                              double *vectors);

#endif
