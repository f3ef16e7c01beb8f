/* Scores of clusterings. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KINDRED_METRICS_H
#define KINDRED_METRICS_H

#include "kindred/context.h"
#include "kindred/matrix.h"

/* Scores of one clustering against another, or against true classes. Frozen. */
typedef struct kdr_scores {
	int64_t n, clusters, classes;
	double acc; /* accuracy under the best one-to-one map of clusters to classes */
	double nmi; /* mutual information divided by the geometric mean of the entropies */
	double nmi_arithmetic, nmi_max;
	double ari, purity, homogeneity, completeness, v_measure;
} kdr_scores;

/* Computes all scores of `labels` against `truth`, `n` of each; label values are arbitrary.
 * Cost: O(n + k^3) time, O(n) memory. */
KDR_API kdr_status kdr_evaluate(kdr_context *ctx, const int64_t *labels, const int64_t *truth, int64_t n,
                                kdr_scores *out);

/* Counts samples by (cluster, class), with both in increasing order of their labels: (*counts)[i * *nclasses + j] samples have
 * the label (*clusters)[i] and the class (*classes)[j]. Free *counts, *clusters and *classes with kdr_free.
 * Cost: O(n + clusters x classes) time and memory. */
KDR_API kdr_status kdr_contingency(kdr_context *ctx, const int64_t *labels, const int64_t *truth, int64_t n,
                                   int64_t **counts, int64_t **clusters, int64_t *nclusters,
                                   int64_t **classes, int64_t *nclasses);

typedef enum kdr_silhouette_kind {
	KDR_SILHOUETTE_EXACT,     /* mean Euclidean distances, O(n^2 d) */
	KDR_SILHOUETTE_SIMPLIFIED /* distances to centroids, O(n k d) */
} kdr_silhouette_kind;

/* Scores that need no true classes. NaN if there is only one cluster, or each sample has its own. Frozen. */
typedef struct kdr_quality {
	int64_t n, clusters;
	kdr_silhouette_kind silhouette_kind; /* exact for up to 20,000 samples */
	double silhouette;                   /* mean; -1 to 1, larger is better */
	double davies_bouldin;               /* from 0, smaller is better */
	double calinski_harabasz;            /* larger is better */
	double stability; /* of kdr_stability, up to 1, larger is better; NaN if not requested, and from kdr_quality_find */
	int64_t resamples; /* that stability is the mean over */
} kdr_quality;
/* Computes the scores of a clustering of the rows of x; sparse rows stay sparse.
 * Cost: O(n nnz) time for up to 20,000 samples, O(k nnz) for more; O(n + k d) memory. References: Rousseeuw 1987 (silhouette);
 * Davies & Bouldin 1979; Calinski & Harabasz 1974. */
KDR_API kdr_status kdr_quality_find(kdr_context *ctx, const kdr_mat *x, const int64_t *labels,
                                    kdr_quality *out);

/* Computes the distance of two clusterings of the rows of x: the least cost of moving the cluster means of one to those of the
 * other at squared distances, with equal cluster weights (*uniform) and weighted by size (*proportional). Either output may be
 * NULL. Cost: O(nnz + k^3 log k) time, O(k d + k^2) memory. Reference: Zhang & Zhang, Multitask Bregman clustering, 2010. */
KDR_API kdr_status kdr_emd(kdr_context *ctx, const kdr_mat *x, const int64_t *labels, const int64_t *truth,
                           double *uniform, double *proportional);

#endif
