/* How many clusters there might be. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_GUESS_K_H
#define KDRI_GUESS_K_H

#include "linalg/linalg.h"

/* The evidence in one graph: entry k - 2 is about k clusters, k = 2 .. most. */
typedef struct kdri_k_curves {
	int64_t count;
	double *gap;       /* eigenvalue k less eigenvalue k + 1 of the normalised graph */
	double *stability; /* mean agreement (adjusted Rand) of k-means on k eigenvectors from different starts */
} kdri_k_curves;

/* `most` is lowered to what the graph allows; with fewer than 3 samples there are no curves. */
kdr_status kdri_k_curves_new(kdr_context *ctx, const kdr_mat *graph, int64_t most, kdri_k_curves *out);
void kdri_k_curves_free(kdr_context *ctx, kdri_k_curves *curves);

typedef struct kdri_k_guess {
	int64_t k, second; /* second: the next best; 0: none */
	double gap, second_gap, stability;
	int64_t low, high; /* the least and the largest k with a gap at least half as wide */
	bool sure;
} kdri_k_guess;

/* The k with the widest gap in the mean of the curves of `count` tasks, each over the length of the
 * shortest; 1 where there is none. */
kdri_k_guess kdri_k_guess_of(const kdri_k_curves *curves, int64_t count);

#endif
