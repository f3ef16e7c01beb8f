/* A few lowest eigenpairs of a symmetric operator, by blocks. SPDX-License-Identifier: BSD-3-Clause
 *
 * Where kdri_eigsh starts from one random vector, this starts from a block: multiple eigenvalues up to
 * the block's width are found, products run over many columns at once, and a good guess (the answer to
 * a nearby problem) saves most of the work. */
#ifndef KDRI_RITZ_H
#define KDRI_RITZ_H

#include "matrix/linalg.h"

typedef struct kdri_ritz_options {
	int64_t count;      /* pairs wanted, 1 .. rows of the operator */
	const double *warm; /* rows x count, a guess; or NULL. The answer is never worse than it */
	double tol;         /* residuals wanted, as a share of the largest |eigenvalue| seen */
	double gap_tol;   /* residuals that are enough, as a share of the gap behind the last value wanted */
	bool loose_above; /* for pairs above zero a tenth of their value is enough */
	int64_t most_steps; /* 0: 200 */
	/* Y ~ (A - c I)^-1 X, roughly, for a c below the values wanted; or NULL. Residuals go through it before they
	 * join the basis, and the steps it takes no longer grow with the spread of the spectrum. */
	const kdri_op *precondition;
} kdri_ritz_options;

/* Values ascending, vectors (rows x count) orthonormal. *converged is false where the residuals are
 * still above tol after many steps, or the context asks to stop: the pairs are then the best found. */
kdr_status kdri_ritz_lowest(kdr_context *ctx, const kdri_op *op, const kdri_ritz_options *options,
                            double *values, double *vectors, bool *converged);

/* The columns that `precondition` is asked for at a time, at most. */
int64_t kdri_ritz_block(int64_t rows, int64_t count);
double kdri_ritz_bytes(double rows, double count); /* that kdri_ritz_lowest needs */

/* a <- a mix, in place: a is rows x k (stride lda), mix k x kept (stride ldm), kept <= k; rows of the answer lie `ldo` apart,
 * kept <= ldo <= lda. Takes memory for a few thousand rows. */
kdr_status kdri_mix_columns(kdr_context *ctx, int64_t rows, int64_t k, double *a, int64_t lda, int64_t kept,
                            const double *mix, int64_t ldm, int64_t ldo);

/* Makes the columns of a (rows x cols, stride lda) orthonormal, in place; they span what they spanned.
 * Columns that depend on the others are dropped, and the rest moved to the front; returns how many are
 * left in *kept. */
kdr_status kdri_orthonormalise(kdr_context *ctx, int64_t rows, int64_t cols, double *a, int64_t lda,
                               int64_t *kept);
/* The same of a matrix whose rows are held by several ranks. */
kdr_status kdri_orthonormalise_rows(kdr_context *ctx, int64_t rows, int64_t cols, double *a, int64_t lda,
                                    int64_t *kept);
/* a <- a (a'a)^-1/2: the nearest matrix with orthonormal columns; a (rows x cols) must have full rank. */
kdr_status kdri_straighten(kdr_context *ctx, int64_t rows, int64_t cols, double *a);

#endif
