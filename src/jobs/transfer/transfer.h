/* What the steps of a transfer offer. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_JOBS_TRANSFER_H
#define KDRI_JOBS_TRANSFER_H

#include "jobs/job.h"

/* overlap.c: an error if a target has almost nothing in common with the sources. */
kdr_status kdri_check_overlap(kdr_context *ctx, kdr_data *const *sources, int64_t nsources,
                              kdr_data *const *targets, int64_t ntargets, kdr_align align);

/* bridge_recovery.c: the proportion of the sources' labelled samples that get their own class when the predictions for task
 * `target` are transferred back through the bridge; NaN if this is impossible. */
kdr_status kdri_bridge_recovery(kdr_context *ctx, const kdr_algo *method, const kdr_task *tasks,
                                int64_t count, int64_t target, int64_t classes, const int64_t *answer,
                                double *out);

/* --- probabilities.c ------------------------------------------------------------------------------------- */

/* What a calibration fits on: sources with classes, and bridges in their features. All are prepared. */
typedef struct kdri_calibration {
	kdr_data *const *sources, *const *bridges;
	int64_t nsources, nbridges, classes;
} kdri_calibration;
/* Probabilities of the tasks from `first` on; `known` classes of that one (or NULL) stay what they are. */
kdr_status kdri_job_probabilities(kdr_context *ctx, kdri_job *job, const kdri_calibration *c, int64_t first,
                                  const int64_t *known, kdr_result *result);

/* --- shared.c -------------------------------------------------------------------------------------------- */

/* Feature clusters that a transfer shares with source and target; `target`: its index among the tasks. */
kdr_status kdri_job_shared(kdr_context *ctx, kdr_result *result, int64_t target);

#endif
