/* Whether clusters are clearer than those found in random noise. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_REFERENCE_H
#define KDRI_REFERENCE_H

#include "matrix/linalg.h"

/* How much smaller the within-cluster sum of squares of k clusters of the rows of y is than that of k clusters of random
 * noise of the same size and spread, in standard deviations of the noise. Columns of y are uncorrelated, such as leading
 * directions. spread[j]: of column j, before rows were scaled to unit length, if they were (`unit`). 0 for too few rows
 * or one cluster. */
kdr_status kdri_beyond_noise(kdr_context *ctx, const kdr_dense *y, const double *spread, bool unit, int64_t k,
                             double *out);

#endif
