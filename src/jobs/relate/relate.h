/* Measures of data sets and of pairs of them, inside the library. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_RELATE_H
#define KDRI_RELATE_H

#include "api/result.h"
#include "matrix/linalg.h"

/* The measures of one task. */
typedef struct kdri_relate_task {
	int64_t samples, features;
	int64_t observed;           /* features with a value other than 0 in some sample */
	double complexity;          /* fraction of rare features: in fewer than rare x n samples */
	double complexity_observed; /* the same fraction of the observed features */
} kdri_relate_task;

/* A feature that differs, and by how much: differences.c. */
enum { KDRI_DIFFERENCES = 5 };
typedef struct kdri_difference {
	int64_t feature;
	double value;
} kdri_difference;

/* The measures of two tasks. NaN: not defined for them, or not requested. */
typedef struct kdri_relate_pair {
	int64_t a, b;
	int64_t shared;      /* features observed in both */
	double overlap;      /* shared / features observed in either */
	double a_distance;   /* 0: a classifier cannot distinguish them; 2: it makes no error */
	double mmd_linear;   /* squared maximum mean discrepancies, biased: linear kernel, */
	double mmd_gaussian; /* and Gaussian kernel of width */
	double bandwidth;    /* the median distance of two samples */
	kdri_difference differences[KDRI_DIFFERENCES]; /* the largest, in decreasing order */
	int ndifferences;
} kdri_relate_pair;

/* Room for a sentence of advice. */
enum { KDRI_ADVICE_ROOM = 384 };

/* A candidate: its matrix in the source's features and in the target's; the same matrix twice where they share their features. */
typedef struct kdri_bridge_candidate {
	kdr_mat source_view, target_view;
} kdri_bridge_candidate;

/* --- complexity.c ----------------------------------------------------------------------------- */

/* Fraction of the features that are rare [TSZY15, eq. 1]: in strictly fewer than rare x n samples. It refers to all
 * features, or to those that occur at all (0 if there are none). counts: from kdri_mat_col_counts. */
double kdri_complexity(const int64_t *counts, int64_t features, int64_t samples, double rare, bool observed);

/* --- relate.c ---------------------------------------------------------------------------------- */

/* Replaces zeros in the options, or NULL, by the defaults. */
kdr_relate_options kdri_relate_resolve(const kdr_relate_options *options);
/* Measures of a task, and of a pair, from the number of samples that have each feature. */
void kdri_relate_task_counts(const int64_t *counts, int64_t d, double rare, kdri_relate_task *task);
void kdri_relate_pair_counts(int64_t *const *counts, int64_t d, kdri_relate_pair *pair);

/* --- differences.c ----------------------------------------------------------------------------- */

/* The features of each pair whose standardised mean difference is largest; positive: the mean is larger in the second data set. Pairs are those
 * of kdri_relate_matrices. O(nnz + pairs x columns). */
kdr_status kdri_relate_differences(kdr_context *ctx, const kdr_mat *x, int64_t count,
                                   kdri_relate_pair *pairs);

/* --- adistance.c ------------------------------------------------------------------------------ */

/* A-distance of the rows of a and b. NaN where it is not defined: fewer than two rows on a side. */
kdr_status kdri_a_distance(kdr_context *ctx, const kdr_mat *a, const kdr_mat *b, double ridge, int64_t folds,
                           double *out);

/* Fits the model to `n` triples: features (n x 6), helps[i] 0 or 1, by Newton's method with a small ridge on standardised
 * features. */
kdr_status kdri_selector_fit(kdr_context *ctx, const double *features, const int *helps, int64_t n,
                             double ridge, kdr_selector *out);

double kdri_selector_probability(const kdr_selector *selector, const double *features);

/* The same from labelled data sets with the same columns: every ordered triple (source, bridge, target) of them is tried. A bridge helps
 * if labels spread on a neighbour graph with it reach more than 1.03 times the accuracy without. Classes are 0..classes-1. */
kdr_status kdri_selector_train(kdr_context *ctx, const kdr_mat *x, const int64_t *const *labels,
                               int64_t count, int64_t classes, const kdr_relate_options *options,
                               kdr_selector *out);

/* Ranks bridges using only their matrices: by the selector's probability or, without a selector, by max(A(s,i),
 * A(i,t)) compared with A(s,t), the smaller the better. Of equal bridges the first is better. kdr_transfer also uses
 * the classes: without a selector it fits every candidate and selects the one through which most of the source's
 * classes are recovered from the target. */
kdr_status kdri_bridge_rank(kdr_context *ctx, const kdr_mat *source, const kdr_mat *target,
                            const kdri_bridge_candidate *candidates, int64_t count,
                            const kdr_selector *selector, const kdr_relate_options *options,
                            kdri_bridge_score *scores);

/* Measures `count` tasks whose columns have the same meaning. `tasks` has space for count, `pairs` for
 * count (count - 1) / 2 entries, in the order (0,1) (0,2) (1,2) (0,3) ...; `options` may be NULL. O(nnz) per task and
 * classifier step, and O(most_rows^2) per pair. */
kdr_status kdri_relate_matrices(kdr_context *ctx, const kdr_mat *x, int64_t count,
                                const kdr_relate_options *options, kdri_relate_task *tasks,
                                kdri_relate_pair *pairs);

/* One sentence for each task about its nearest other task, and the nearness it is based on: nearness[t * count + s]
 * is the similarity of samples of task t to the nearest of task s, relative to that of the nearest of their own task;
 * 1 means "no farther". It is estimated from at most 400 samples of each task, and 0 for `pairs` (NULL: unknown) that share
 * no feature. `nearness` (count x count) and `advice` (count) may be NULL. */
kdr_status kdri_relate_advice(kdr_context *ctx, const kdr_mat *x, const char *const *names, int64_t count,
                              const kdri_relate_pair *pairs, double *nearness,
                              char (*advice)[KDRI_ADVICE_ROOM]);

#endif
