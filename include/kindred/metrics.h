/* Scores of partitions, and the assignment and transportation problems behind them.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef KINDRED_METRICS_H
#define KINDRED_METRICS_H

#include "kindred/context.h"
#include "kindred/matrix.h"

/* All scores of one partition against another. Label values are arbitrary int64: they are compacted. */
typedef struct kdr_scores {
	int64_t n, clusters, classes;
	double acc; /* best one-to-one map of clusters to classes */
	double nmi; /* mutual information over the geometric mean of the entropies */
	double nmi_arithmetic, nmi_max;
	double ari, purity, homogeneity, completeness, v_measure;
} kdr_scores;

KDR_API kdr_status kdr_evaluate(kdr_context *ctx, const int64_t *labels, const int64_t *truth, int64_t n,
                                kdr_scores *out);

/* Counts of samples by (cluster, class), both compacted in increasing order of label. Caller frees
 * *counts, *clusters and *classes with kdr_free. */
KDR_API kdr_status kdr_contingency(kdr_context *ctx, const int64_t *labels, const int64_t *truth, int64_t n,
                                   int64_t **counts, int64_t **clusters, int64_t *nclusters,
                                   int64_t **classes, int64_t *nclasses);

typedef enum kdr_silhouette_kind {
	KDR_SILHOUETTE_EXACT,     /* mean Euclidean distances, O(n^2 d), no n x n matrix */
	KDR_SILHOUETTE_SIMPLIFIED /* distances to centroids, O(n k d) */
} kdr_silhouette_kind;

/* One value a sample into `values` (may be NULL) and their mean into `mean` (may be NULL). A sample
 * alone in its cluster has 0. Needs at least two clusters. */
KDR_API kdr_status kdr_silhouette(kdr_context *ctx, const kdr_mat *x, const int64_t *labels,
                                  kdr_silhouette_kind kind, double *values, double *mean);

/* How good a partition is without any truth. NaN where it has one cluster, or each sample one of its own. */
typedef struct kdr_quality {
	int64_t n, clusters;
	kdr_silhouette_kind silhouette_kind; /* exact up to 20,000 samples */
	double silhouette;                   /* mean; -1 to 1, the larger the better */
	double davies_bouldin;               /* from 0, the smaller the better */
	double calinski_harabasz;            /* the larger the better */
	double stability;  /* kdr_stability; NaN where it was not looked for; kdr_quality_find leaves it so */
	int64_t resamples; /* it is the mean over */
} kdr_quality;
/* The same of dense and of sparse rows, which stay sparse. O(n^2 d) with exact silhouettes. */
KDR_API kdr_status kdr_quality_find(kdr_context *ctx, const kdr_mat *x, const int64_t *labels,
                                    kdr_quality *out);
/* A sentence on what these figures cannot tell. */
KDR_API const char *kdr_quality_note(void);

/* Minimum-cost assignment of rows to columns, rows x cols costs in row-major order. row_to_col[i]
 * is the column of row i, or -1 (rows > cols). Costs must be finite. */
KDR_API kdr_status kdr_assign(kdr_context *ctx, const double *cost, int64_t rows, int64_t cols,
                              int64_t *row_to_col, double *total);

/* Transportation problem: min sum cost_ij flow_ij with row sums `supply` and column sums `demand`
 * (positive or zero, equal totals to 1e-9 relative). `flow` is rows x cols; the dual potentials u
 * (rows), v (cols) satisfy u_i + v_j <= cost_ij and may be NULL, as may `total`. */
KDR_API kdr_status kdr_transport(kdr_context *ctx, const double *cost, int64_t rows, int64_t cols,
                                 const double *supply, const double *demand, double *flow, double *u,
                                 double *v, double *total);

/* How far two partitions of the rows of x are apart: the least cost of carrying the means of one's
 * clusters to those of the other's at squared distances, clusters weighted alike or by size. Either
 * output may be NULL. */
KDR_API kdr_status kdr_emd(kdr_context *ctx, const kdr_mat *x, const int64_t *labels, const int64_t *truth,
                           double *uniform, double *proportional);

#endif
