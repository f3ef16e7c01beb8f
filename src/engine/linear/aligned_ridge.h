/* A ridge regression that aligns the classes of two sets. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_ALIGNED_RIDGE_H
#define KDRI_ALIGNED_RIDGE_H

#include "matrix/linalg.h"

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

#endif
