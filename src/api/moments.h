/* Means and covariances of clusters, which a model keeps instead of samples. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_MOMENTS_H
#define KDRI_MOMENTS_H

#include "core/internal.h"

/* The maximum number of samples that represent a data set. */
enum { KDRI_DRAWS_MOST = 1 << 20 };

typedef struct kdri_moments {
	int64_t k, d, rank; /* clusters, columns, directions of each cluster */
	int64_t *draws;     /* k: samples that represent the cluster when a data set is added */
	double *mean;       /* k x d: of the values that are not missing */
	double *variance;   /* k x d: the part that the directions do not have */
	double *missing;    /* k x d: fraction of missing values; NULL: there are none */
	double *direction; /* k x rank x d: the covariance is the sum of their squares and `variance`; NULL: rank 0 */
	bool sparse; /* fewer than a tenth of the values are not 0 */
} kdri_moments;

/* The moments of the rows of a prepared data set by their labels (below 0: skipped). `most`: limits the sum of `draws`. `prep` (may be
 * NULL) tells which columns are categories. Time: O(nnz + k d^2 min(d, n)) for dense data, less for many columns. */
kdr_status kdri_moments_new(kdr_context *ctx, const kdr_data *data, const int64_t *labels, int64_t k,
                            int64_t most, const kdr_prep *prep, kdri_moments **out);
/* Cluster z becomes cluster now[z] (NULL: z) of k. */
kdr_status kdri_moments_copy(kdr_context *ctx, const kdri_moments *from, const int64_t *now, int64_t k,
                             kdri_moments **out);
/* Room for the arrays, filled with 0. */
kdr_status kdri_moments_room(kdr_context *ctx, int64_t k, int64_t d, int64_t rank, bool missing,
                             kdri_moments **out);
void kdri_moments_free(const kdr_allocator *allocator, kdri_moments *m);

/* Samples with these moments and their labels, in the space of the preprocessing. They depend on the seed of the context and on the
 * number of the data set only. Free *out with kdr_data_free. */
kdr_status kdri_moments_draw(kdr_context *ctx, const kdri_moments *m, const kdr_prep *prep, const char *name,
                             int64_t task, kdr_data **out);

#endif
