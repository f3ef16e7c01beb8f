/* Ward's hierarchical clustering. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_WARD_H
#define KDRI_WARD_H

#include "core/internal.h"

/* k clusters of the n rows of x (n x d): the pair of clusters whose union adds least to the within-cluster sum of
 * squares is merged until k remain. O(n^2 d) time, 8 n^2 / 2 bytes. Clusters are numbered by first appearance. */
kdr_status kdri_ward(kdr_context *ctx, const double *x, int64_t n, int64_t d, int64_t k, int64_t *labels);
/* The same from clusters 0 .. from - 1 of the rows, which `labels` has: merged until k remain. O(n d + from^3 d). */
kdr_status kdri_ward_join(kdr_context *ctx, const double *x, int64_t n, int64_t d, int64_t from, int64_t k,
                          int64_t *labels);

#endif
