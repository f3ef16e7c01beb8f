/* Whom samples meet in rare columns. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_KNN_RARE_H
#define KDRI_KNN_RARE_H

#include "matrix/linalg.h"

/* For each row of sparse data up to `width` others, likely near ones first: others (n x width), -1 where there are no more. scale (n):
 * what products with row j are multiplied by, or NULL. *filled: the share of places that are not -1. The answer does not depend on
 * threads; stopped early, rows have none. */
kdr_status kdri_knn_rare(kdr_context *ctx, const kdr_mat *x, const double *scale, int64_t width,
                         int32_t *others, double *filled);

#endif
