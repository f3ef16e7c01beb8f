/* Equal samples and tiny components of a neighbour graph. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_REPAIR_H
#define KDRI_REPAIR_H

#include "engine/graph/knn.h"

/* kdri_knn_search, or kdri_knn_find_shifted if `exact`, among samples that differ: first[i] is the first sample equal to sample i
 * (kdri_rows_first), and NULL means that no two are equal. The other samples equal to it have lists without entries (-1). */
kdr_status kdri_knn_search_once(kdr_context *ctx, const kdr_mat *x, const int64_t *first, int64_t k,
                                kdri_metric metric, const kdri_knn_shift *shift, bool exact, kdri_knn *out,
                                int64_t *candidates);

/* kdri_knn_graph of such lists. Every sample without a list is joined to the first sample equal to it. All these edges
 * of a sample have 1 % of the total weight of its other edges, so that many equal samples do not form a cluster of their
 * own. */
kdr_status kdri_knn_graph_once(kdr_context *ctx, const kdri_knn *knn, const double *weight,
                               const int64_t *first, kdri_own *out);

/* Joins components of less than n / (10 k) samples to others: each of their samples gets an edge to the nearest sample
 * outside of such components, with the total weight of its other edges. *joined: the number of components, 0 if all are
 * small. */
kdr_status kdri_graph_join_small(kdr_context *ctx, const kdr_mat *x, const int64_t *first, int64_t k,
                                 kdri_metric metric, const kdri_knn_shift *shift, kdri_own *graph,
                                 int64_t *joined);

/* a W_1 + b W_2 */
kdr_status kdri_graph_sum(kdr_context *ctx, const kdr_csr *w1, double a, const kdr_csr *w2, double b,
                          kdri_own *out);

#endif
