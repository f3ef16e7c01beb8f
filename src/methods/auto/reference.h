/* Whether clusters are clearer than those of noise. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_REFERENCE_H
#define KDRI_REFERENCE_H

#include "matrix/linalg.h"

/* By how many spreads of noise k clusters of the rows of y (uncorrelated columns, such as leading directions) leave less
 * over than k clusters of noise of the same size and spread. spread[j]: of column j, before rows were brought to unit
 * length, if they were (`unit`). 0 for too few rows, or one cluster. */
kdr_status kdri_beyond_noise(kdr_context *ctx, const kdr_dense *y, const double *spread, bool unit, int64_t k,
                             double *out);

#endif
