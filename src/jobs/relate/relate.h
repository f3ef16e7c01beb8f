/* Measures of data sets and of pairs of them, inside the library. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_RELATE_H
#define KDRI_RELATE_H

#include "matrix/linalg.h"

/* --- complexity.c ----------------------------------------------------------------------------- */

/* Share of the features that are rare [TSZY15, eq. 1]: in fewer than rare x n samples, strictly. Over all features,
 * or over those that occur at all (0 where there are none). counts: of kdri_mat_col_counts. */
double kdri_complexity(const int64_t *counts, int64_t features, int64_t samples, double rare, bool observed);

/* --- relate.c ---------------------------------------------------------------------------------- */

/* Options with zeros, or NULL, as the defaults they stand for. */
kdr_relate_options kdri_relate_resolve(const kdr_relate_options *options);
/* What the numbers of samples that have each feature say of a task, and of a pair. */
void kdri_relate_task_counts(const int64_t *counts, int64_t d, double rare, kdr_relate_task *task);
void kdri_relate_pair_counts(int64_t *const *counts, int64_t d, kdr_relate_pair *pair);

/* --- adistance.c ------------------------------------------------------------------------------ */

/* A-distance of the rows of a and b. NaN where it is not defined: fewer than two rows on a side. */
kdr_status kdri_a_distance(kdr_context *ctx, const kdr_mat *a, const kdr_mat *b, double ridge, int64_t folds,
                           double *out);

#endif
