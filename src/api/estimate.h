/* Estimates from the inside. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_ESTIMATE_H
#define KDRI_ESTIMATE_H

#include "api/method.h"
#include "core/foresee.h"

/* kdr_estimate_fit, knowing which tasks stay on disk (NULL: none). */
kdr_status kdri_estimate_problem(kdr_context *ctx, const char *algo_id, const kdr_problem *problem,
                                 const bool *streamed, const kdr_options *options, kdr_estimate *out);
/* Sizes that make sense, and the bytes that such data take in memory. */
kdr_status kdri_shape_check(kdr_context *ctx, const kdr_task_shape *tasks, int64_t ntasks, double *data);
/* Work and memory beside `data` bytes of it as seconds and bytes. */
kdr_status kdri_estimate_work(kdr_context *ctx, const kdri_cost *cost, double data, kdr_estimate *out);

#endif
