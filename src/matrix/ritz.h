/* A few lowest eigenpairs of a symmetric operator, by blocks. SPDX-License-Identifier: BSD-3-Clause
 *
 * It starts from a block instead of one random vector: multiple eigenvalues up to the block's width are found, products
 * use many columns at once, and a good guess (the solution of a similar problem) saves most of the work. */
#ifndef KDRI_RITZ_H
#define KDRI_RITZ_H

#include "matrix/linalg.h"

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

#endif
