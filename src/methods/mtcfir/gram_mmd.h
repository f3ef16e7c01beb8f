/* Distance between tasks' distributions, from a Gram matrix. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_GRAM_MMD_H
#define KDRI_GRAM_MMD_H

#include "matrix/block.h"

/* out (ntasks x ntasks): squared maximum mean discrepancy of each pair of tasks, biased, with the linear kernel
 * (sigma 0) or exp(-distance^2 / (2 sigma^2)). Task t holds rows begin[t] .. begin[t + 1] - 1 of `gram`, whose lower triangle is
 * read. */
kdr_status kdri_gram_mmd(kdr_context *ctx, kdri_block gram, const int64_t *begin, int64_t ntasks,
                         double sigma, double *out);

#endif
