/* How related data sets are. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KINDRED_RELATE_H
#define KINDRED_RELATE_H

#include <stdbool.h>

#include "kindred/context.h"
#include "kindred/matrix.h"

/* What is said of one task. */
typedef struct kdr_relate_task {
	int64_t samples, features;
	int64_t observed;           /* features with a value other than 0 in some sample */
	double complexity;          /* share of all features that are rare: in fewer than rare x n samples */
	double complexity_observed; /* the same share of the observed features */
} kdr_relate_task;

/* What is said of two tasks. NaN: not defined for them, or not wanted. */
typedef struct kdr_relate_pair {
	int64_t a, b;
	int64_t shared;      /* features observed in both */
	double overlap;      /* shared / features observed in either */
	double a_distance;   /* 0: a classifier cannot tell them apart; 2: it never errs */
	double mmd_linear;   /* squared maximum mean discrepancies, biased: linear kernel, */
	double mmd_gaussian; /* and Gaussian kernel of width */
	double bandwidth;    /* the median distance of two samples */
} kdr_relate_pair;

/* Zero means the default. */
typedef struct kdr_relate_options {
	double rare;       /* default 0.1 */
	double ridge;      /* of the classifier behind the A-distance; default 1 */
	int64_t folds;     /* its error is measured on held-out samples; default 5 */
	int64_t most_rows; /* the Gaussian discrepancy takes time with the square of the samples: so many of each
	                      task at most, a fixed choice among them; default 4000 */
	bool no_mmd;
} kdr_relate_options;
KDR_API void kdr_relate_options_init(kdr_relate_options *options);

/* Measures `count` tasks whose columns mean the same. `tasks` has room for count, `pairs` for
 * count (count - 1) / 2 entries, in the order (0,1) (0,2) (1,2) (0,3) ...; `options` may be NULL. O(nnz) a task
 * and classifier step, and O(most_rows^2) a pair. */
KDR_EXPERIMENTAL KDR_API kdr_status kdr_relate_matrices(kdr_context *ctx, const kdr_mat *x, int64_t count,
                                                        const kdr_relate_options *options,
                                                        kdr_relate_task *tasks, kdr_relate_pair *pairs);

/* Room for a sentence of advice. */
enum { KDR_ADVICE_ROOM = 384 };

/* One sentence for each task on which other is nearest, and the nearness it rests
 * on: nearness[t * count + s] is how near samples of task t are to the nearest of task s, as a share of how
 * near they are to the nearest of their own; 1 is "no farther". A hint from at most 400 samples of each
 * task. `nearness` (count x count) and `advice` (count) may be NULL. */
KDR_EXPERIMENTAL KDR_API kdr_status kdr_relate_advice(kdr_context *ctx, const kdr_mat *x,
                                                      const char *const *names, int64_t count,
                                                      double *nearness, char (*advice)[KDR_ADVICE_ROOM]);

#endif
