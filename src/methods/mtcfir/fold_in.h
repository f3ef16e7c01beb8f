/* New samples in a factorisation of similarities. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_FOLD_IN_H
#define KDRI_FOLD_IN_H

#include "matrix/block.h"

/* labels[i]: the cluster in which a new sample with similarities s[i] to the n training samples has the largest
 * membership. s (rows x n): entries >= 0. y (n x k): the training samples' memberships. */
kdr_status kdri_fold_in(kdr_context *ctx, kdri_block s, const double *y, int64_t k, int64_t *labels);

#endif
