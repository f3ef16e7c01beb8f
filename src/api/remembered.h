/* Samples that a model keeps, so that data sets can be added to it later. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_REMEMBERED_H
#define KDRI_REMEMBERED_H

#include "core/internal.h"

/* The number of samples of each data set that a model keeps by default. */
enum { KDRI_REMEMBERED_MOST = 2000 };

/* Whether models of a method keep samples: those of cluster and transfer with auto do. */
bool kdri_remembers(const kdr_algo *algo);
/* How many of the size[c] samples of each of k clusters are kept if there is room for `most`. */
void kdri_remember_quotas(const int64_t *size, int64_t k, int64_t most, int64_t *quota);
/* Some rows of a prepared data set and their labels, in the order of the data: all rows if there are at most `most`, otherwise
 * rows of each cluster in proportion to its size, and of small clusters a few more. Rows whose label is below 0 are skipped.
 * The choice depends on the seed of the context. Free *out with kdr_data_free. Time: O(n + nnz of the rows). */
kdr_status kdri_remember(kdr_context *ctx, const kdr_data *data, const int64_t *labels, int64_t k,
                         int64_t most, kdr_data **out);

#endif
