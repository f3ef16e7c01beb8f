/* Gathers a result whose rows are on several ranks on rank 0. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_GATHER_H
#define KDRI_GATHER_H

#include "core/internal.h"

/* Between kdri_enter and kdri_leave, on all ranks. See kdr_result_gather in kindred/mpi.h. */
kdr_status kdri_result_gather(kdr_context *ctx, kdr_result *result);

/* The axis of an array of the result that has one entry per sample; -1: none. */
int kdri_sample_axis(const kdr_result *result, const kdr_array *array);

#endif
