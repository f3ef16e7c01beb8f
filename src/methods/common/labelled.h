/* Tasks of a transfer problem as one set of samples, some of them labelled. SPDX-License-Identifier: BSD-3-Clause
 *
 * All tasks share their features and are stacked. Samples of sources must have a class or -1; those of targets (and
 * bridges) may have one. Every task except the sources gets labels in the result; known labels are kept. */
#ifndef KDRI_LABELLED_H
#define KDRI_LABELLED_H

#include "api/method.h"
#include "matrix/linalg.h"

typedef struct kdri_labelled {
	const kdr_problem *problem;
	int64_t n, d, classes;
	kdri_own x;      /* n x d */
	int64_t *labels; /* n: a class, or -1 */
	double *weights; /* n */
	int64_t *counts; /* classes: labelled samples of each */
	int64_t known;   /* number of labelled samples */
} kdri_labelled;

/* KDR_ERR_DATA if the widths differ, if there is no target, or if fewer than two classes have samples. For a class
 * without samples, a warning is added to `result` (unless NULL), because no sample will get it. */
kdr_status kdri_labelled_new(kdr_context *ctx, const kdr_problem *problem, kdr_result *result,
                             kdri_labelled *out);
void kdri_labelled_free(kdr_context *ctx, kdri_labelled *set);

/* Stores labels from scores (n x classes, by sample of the stacked set) in the result: the known class, or the class
 * with the largest score among those with samples; of equal scores, the most frequent class, then the lowest number. The
 * scores become array `name` of each task that is not a source. `name` NULL: labels only. */
kdr_status kdri_labelled_put(kdr_context *ctx, const kdri_labelled *set, const double *scores,
                             const char *name, kdr_result *result);

/* Warns about unlabelled samples whose scores are all 0, because no labelled sample is connected to them. */
kdr_status kdri_labelled_warn_unreached(kdr_context *ctx, const kdri_labelled *set, const double *scores,
                                        kdr_result *result);

/* The rows with a label, or those without, as indices into the stacked set; at most n. */
int64_t kdri_labelled_rows(const kdri_labelled *set, bool known, int64_t *rows);

#endif
