/* Several numbers of clusters in one call. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_LEVELS_H
#define KDRI_LEVELS_H

#include "jobs/job.h"
#include "matrix/kept.h"
#include "matrix/traits.h"

struct kdri_runs;

/* The ranges that the caller asked for, one per data set; from NULL: none. */
typedef struct kdri_k_ranges {
	int64_t *from, *to, span; /* span: numbers in the longest */
	bool finds_k;             /* the first fit finds k; the main result is the nearest level */
	/* From kdri_levels_begin to the last fit: what fits share. */
	kdri_inspected seen;
	kdri_kept kept;
} kdri_k_ranges;

/* Checks the ranges of `o`, for `count` data sets; k and each_k of `o` become their ends. kdri_k_ranges_free also after a failure. */
kdr_status kdri_k_ranges_take(kdr_context *ctx, int64_t count, kdr_job_options *o, kdri_k_ranges *out);
void kdri_k_ranges_free(kdr_context *ctx, kdri_k_ranges *levels);

/* Before the first fit, on the same tasks: lets the fits share what does not depend on the number of clusters, and sets k of
 * the tasks to 0 if the method can find it in a range. Does nothing if there will be one fit. */
kdr_status kdri_levels_begin(kdr_context *ctx, kdri_job *job, kdr_task *tasks, int64_t count,
                             const kdr_job_options *o, kdri_k_ranges *levels);
/* After the first fit and before anything is computed from its labels: fits the other levels and numbers the clusters of
 * all of them. runs: where they have ranges, each level has the labels of the runs alone; or NULL. *main becomes the level that is suggested. Does nothing if neither a range nor neighbours are wanted. */
kdr_status kdri_levels_fit(kdr_context *ctx, kdri_job *job, kdr_data *const *sets, const kdr_job_options *o,
                           struct kdri_runs *runs, kdri_k_ranges *levels, kdr_result **main);
/* Once samples can be compared: scores and confidence of the other levels, and what distinguishes the sides of each split. */
kdr_status kdri_levels_finish(kdr_context *ctx, const kdri_job *job, kdr_data *const *sets,
                              kdr_result *result);

#endif
