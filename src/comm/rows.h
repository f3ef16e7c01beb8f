/* Sums over the rows of all ranks that do not depend on the cut. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_COMM_ROWS_H
#define KDRI_COMM_ROWS_H

#include "comm/comm.h"
#include "comm/exact.h"

/* Sum of weights[i] v[i] (weights NULL: ones) over the n local rows and those of the other ranks, `all` together.
 * Infinite if a term is infinite or NaN. */
kdr_status kdri_rows_sum(kdr_context *ctx, const double *weights, const double *v, int64_t n, int64_t all,
                         double *out);
/* The same for each of `count` columns of v, rows of which are `step` apart; at most KDRI_ROWS_SUMS. */
enum { KDRI_ROWS_SUMS = 8 };
kdr_status kdri_rows_sums(kdr_context *ctx, const double *weights, const double *v, int64_t n, int64_t count,
                          int64_t step, int64_t all, double *out);

#endif
