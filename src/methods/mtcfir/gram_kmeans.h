/* k-means that sees the samples through their Gram matrix alone. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_GRAM_KMEANS_H
#define KDRI_GRAM_KMEANS_H

#include "matrix/block.h"
#include "matrix/device_use.h"

/* A Gram matrix on a device: all of it, both triangles. */
typedef struct kdri_gram_there {
	kdri_device *dev;
	kdri_dmat k;
	bool single; /* its entries are as sharp as single precision */
} kdri_gram_there;

typedef struct kdri_gram_kmeans_options {
	int64_t k; /* 1 .. n */
	int64_t max_iter;
	uint64_t stream;              /* which random stream of the context's seed */
	const kdri_gram_there *there; /* in the place of `gram`, or NULL */
} kdri_gram_kmeans_options;

/* One run from k-means++ on `gram` (n x n, symmetric): labels, and the sum of squared distances to the
 * centres if `objective` is not NULL. */
kdr_status kdri_gram_kmeans(kdr_context *ctx, const kdri_block *gram, const kdri_gram_kmeans_options *options,
                            int64_t *labels, double *objective);

#endif
