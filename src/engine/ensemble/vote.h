/* A vote of classifiers that learns the typical errors of each. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_VOTE_H
#define KDRI_VOTE_H

#include "matrix/linalg.h"

/* Everything is borrowed. Classes are 0..classes-1, at least two. */
typedef struct kdri_vote_problem {
	int64_t n, classes;
	int64_t members;
	const int32_t *const *votes; /* of each member: a class for every sample */
	int64_t clusterings;
	const int32_t *const *clusters; /* of each clustering: a cluster for every sample */
	const int64_t *k;               /* how many clusters it has */
	const kdri_op *graph;           /* n x n, entries >= 0; NULL: none */
	const int64_t *known;           /* classes that are known, -1 elsewhere; NULL: none is */
	int64_t rounds;
} kdri_vote_problem;

/* posterior (n x classes): P after the last round. neighbours (n x classes, may be NULL): D^-1 W P, the mean of a
 * sample's neighbours at the end; rows of zeros without a graph or for a sample without neighbours. */
kdr_status kdri_vote(kdr_context *ctx, const kdri_vote_problem *problem, double *posterior,
                     double *neighbours);

#endif
