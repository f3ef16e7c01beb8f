/* k-means that sees the samples through their Gram matrix alone. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_GRAM_KMEANS_H
#define KDRI_GRAM_KMEANS_H

#include "matrix/block.h"

typedef struct kdri_gram_kmeans_options {
	int64_t k; /* 1 .. n */
	int64_t max_iter;
	uint64_t stream; /* which random stream of the context's seed */
} kdri_gram_kmeans_options;

/* One run from k-means++ on `gram` (n x n, symmetric): labels, and the sum of squared distances to the
 * centres if `objective` is not NULL. */
kdr_status kdri_gram_kmeans(kdr_context *ctx, kdri_block gram, const kdri_gram_kmeans_options *options,
                            int64_t *labels, double *objective);

#endif
