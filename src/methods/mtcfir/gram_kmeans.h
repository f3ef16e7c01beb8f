/* k-means that uses only the Gram matrix of the samples. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_GRAM_KMEANS_H
#define KDRI_GRAM_KMEANS_H

#include "matrix/block.h"

/* One run from k-means++ on `gram` (n x n, symmetric) with k of 1 .. n clusters; `stream`: which random stream of the context's seed. */
kdr_status kdri_gram_kmeans(kdr_context *ctx, kdri_block gram, int64_t k, int64_t max_iter, uint64_t stream,
                            int64_t *labels);

#endif
