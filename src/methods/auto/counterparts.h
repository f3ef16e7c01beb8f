/* Which clusters of different tasks are counterparts. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_COUNTERPARTS_H
#define KDRI_COUNTERPARTS_H

#include "matrix/linalg.h"

/* The means of k clusters of the rows of x on all ranks, k x d; zeros for a cluster without samples. */
kdr_status kdri_cluster_means(kdr_context *ctx, const kdr_mat *x, const int64_t *labels, int64_t k,
                              double *means);

/* The clusters of one task: their means, and the task's own mean. */
typedef struct kdri_clusters {
	int64_t k, d;
	const double *means, *mean;
	const int64_t *sizes;
	const bool *known; /* clusters of a known class, which has the cluster's number; NULL: none */
} kdri_clusters;

/* flow (a.k x b.k): how much of each cluster of a is matched with which cluster of b, by the transport solver. If both
 * sides have the same number of clusters, they are matched one to one and rows sum to 1 / k; otherwise they are matched
 * by their sizes, and rows sum to a cluster's fraction of a's samples. chance (a.k): the estimated probability that a
 * cluster and its main match belong together, computed from the cosine of their deviations from the tasks' means
 * (probability_right.c). Below 0.3 a cluster has no counterpart, and its row of flow is 0. Clusters of one known class belong together,
 * those of different known classes do not. */
kdr_status kdri_counterparts(kdr_context *ctx, const kdri_clusters *a, const kdri_clusters *b, double *flow,
                             double *chance);

#endif
