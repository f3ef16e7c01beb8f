/* Labels spread over a graph: what gfhf and llgc share. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_SPREAD_H
#define KDRI_SPREAD_H

#include "algo/parts/columns.h"
#include "algo/parts/labelled.h"
#include "algo/parts/similarity.h"

/* f (n x classes, 0 on entry): scores of all samples from the graph w and the labels known. */
typedef kdr_status kdri_spread(kdr_context *ctx, const kdri_labelled *set, const kdr_mat *w,
                               const kdr_options *options, double *f, int64_t *iterations, kdr_stop *stop);

/* fit of such a method, whose options are KDRI_OPTIONS_GRAPH and KDRI_OPTIONS_SOLVER and whose array is "scores". */
kdr_status kdri_spread_fit(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                           kdri_spread *spread, kdr_result *result);

#endif
