/* Several sets of samples in the directions they share, and classifiers that align them. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_ALIGNED_H
#define KDRI_ALIGNED_H

#include "api/method.h"
#include "matrix/linalg.h"

/* Rows begin[t] .. begin[t + 1] - 1 of x are set t. Everything is borrowed. */
typedef struct kdri_sets {
	const kdr_mat *x;
	int64_t count;
	const int64_t *begin; /* count + 1 */
} kdri_sets;

/* Means of the sets: count x d. */
kdr_status kdri_sets_means(kdr_context *ctx, const kdri_sets *sets, double *means);

/* out (n x width), owned by the caller: coordinates along the leading directions of all rows, each minus its set's row
 * of `means` and scaled to unit length, again scaled to unit rows; rows without a direction are zeros. Sparse data stay
 * sparse. most: if there are more rows, the directions are found from this many of them, drawn with the seed; 0: from
 * all. */
kdr_status kdri_aligned_new(kdr_context *ctx, const kdri_sets *sets, const double *means, int64_t width,
                            int64_t most, double **out);
int64_t kdri_aligned_width(const kdri_sets *sets);

/* A ridge regression that aligns the classes of two sets. */

/* Everything is borrowed. */
typedef struct kdri_aligned_ridge {
	const double *e; /* n x width */
	int64_t n, width, classes;
	const int64_t *labels; /* of the rows that are known, -1 elsewhere; every class has one */
	const bool *
	        source; /* rows of the first set, to which the others are aligned; their classes may be known, too */
	const bool *unlabelled; /* rows whose classes are to be predicted */
	const int32_t *start;   /* n: their initial classes; read only at rows to be predicted */
	const kdri_op *graph;   /* n x n, of near rows; NULL: none */
	double smooth, ridge;   /* weights of the graph and of the length of b */
	int64_t rounds;
} kdri_aligned_ridge;

/* posterior (n x classes) */
kdr_status kdri_aligned_ridge_run(kdr_context *ctx, const kdri_aligned_ridge *p, double *posterior);

/* Class prototypes that samples are transported to. */

typedef struct kdri_prototypes {
	const double *e; /* n x width, rows of unit length or zeros */
	int64_t n, width, classes;
	const double *share; /* classes: their estimated proportions, positive */
	double blur;         /* regularisation */
	int64_t rounds, steps;
} kdri_prototypes;

/* prototypes (classes x width): the start on entry, the last ones on return. posterior: n x classes. */
kdr_status kdri_prototypes_run(kdr_context *ctx, const kdri_prototypes *p, double *prototypes,
                               double *posterior);

#endif
