/* Estimates from the inside. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_ESTIMATE_H
#define KDRI_ESTIMATE_H

#include "core/internal.h"

/* kdr_estimate_fit, knowing which tasks stay on disk (NULL: none). */
kdr_status kdri_estimate_problem(kdr_context *ctx, const char *algo_id, const kdr_problem *problem,
                                 const bool *streamed, const kdr_options *options, kdr_estimate *out);
/* KDR_ERR_MEMORY, with the numbers, where the estimate is above what is allowed, or, where nobody said, `doubt` times what
 * the machine has. */
kdr_status kdri_estimate_check(kdr_context *ctx, const char *algo_id, const kdr_estimate *estimate,
                               double doubt);

#endif
