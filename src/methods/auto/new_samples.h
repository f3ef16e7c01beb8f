/* New samples among those that a model keeps. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_NEW_SAMPLES_H
#define KDRI_NEW_SAMPLES_H

#include "api/method.h"

/* Shares of the clusters of data set `task` in new rows: kdri_algo.shares. Without samples in the model, *out stays NULL. */
kdr_status kdri_new_samples_shares(kdr_context *ctx, const kdr_result *fitted, int64_t task, const kdr_mat *x,
                                   double **out, int64_t *k);

#endif
