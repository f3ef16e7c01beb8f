/* The samples of a fit, by which a model recognises them. SPDX-License-Identifier: BSD-3-Clause
 *
 * Few methods label new samples with the rule that found their clusters; methods based on a subspace, a graph or a vote
 * have no rule for single samples at all. A model therefore keeps a hash of each sample of the fit, after preprocessing,
 * and its label. A sample that the fit has seen gets its label back, and predict's own rule is used for all others. */
#ifndef KDRI_KNOWN_H
#define KDRI_KNOWN_H

#include "core/internal.h"

/* The maximum number of samples of a data set that are remembered, 16 bytes each. */
enum { KDRI_KNOWN_MOST = 1 << 20 };

/* Remembers the samples of all data sets that have labels. Of equal samples with different labels the most frequent label
 * counts. Under mpirun rank 0 has those of all ranks. Time: O(nnz + n log n). */
kdr_status kdri_known_put(kdr_context *ctx, const kdr_problem *problem, kdr_result *result);
/* Gives the samples among the rows of `x` that the fit has seen the label they had there. */
void kdri_known_apply(const kdr_result *fitted, int64_t task, const kdr_mat *x, int64_t *labels);
/* Whether `count` hashes and labels are a table of a data set with k clusters or classes. */
bool kdri_known_sound(const int64_t *known, int64_t count, int64_t k);

#endif
