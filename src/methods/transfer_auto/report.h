/* What the ensemble of a transfer reports in addition to labels. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_TRANSFER_REPORT_H
#define KDRI_TRANSFER_REPORT_H

#include "methods/transfer_auto/verdict.h"

/* Stores labels and arrays of task `target`, and advice on their reliability. `abstain`: fraction of samples without a
 * class. */
kdr_status kdri_transfer_report(kdr_context *ctx, const kdr_problem *problem, int64_t target,
                                const kdri_transfer_verdict *v, double abstain, kdr_result *result);

/* The `count` samples of task `target` that a person should label next. */
kdr_status kdri_transfer_report_ask(kdr_context *ctx, const kdr_problem *problem, int64_t target,
                                    const kdri_transfer_verdict *v, int64_t count, kdr_result *result);

/* Reports which members voted and how they agree with the labels, over all targets; v: one per task. */
kdr_status kdri_transfer_report_members(kdr_context *ctx, const kdr_problem *problem,
                                        const kdri_transfer_verdict *v, kdr_result *result);

/* Reports the contribution of source `s`: the vote with it and without it; `without` NULL: not available. */
kdr_status kdri_transfer_report_source(kdr_context *ctx, const kdr_problem *problem, int64_t target,
                                       int64_t s, const kdri_transfer_verdict *v,
                                       const kdri_transfer_verdict *without, kdr_result *result);

#endif
