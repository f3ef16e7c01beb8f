/* Estimates of memory. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_ESTIMATE_H
#define KDRI_ESTIMATE_H

#include "api/method.h"

/* kdr_estimate_bytes for a problem; `streamed`: which tasks stay on disk (NULL: none). */
kdr_status kdri_estimate_problem(kdr_context *ctx, const kdri_algo *algo, const kdr_problem *problem,
                                 const bool *streamed, const kdr_options *options, kdr_estimate *out);
/* Fails for impossible sizes; otherwise gives the bytes that the data themselves take in memory. */
kdr_status kdri_shape_check(kdr_context *ctx, const kdr_task_shape *tasks, int64_t ntasks, double *bytes);

#endif
