/* Nearest neighbours among few columns, exactly. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_KNN_TREE_H
#define KDRI_KNN_TREE_H

#include "engine/graph/knn.h"

/* Whether a tree finds the nearest rows by distance faster than a scan of all products. */
bool kdri_knn_tree_pays(const kdr_mat *x);

/* Like kdri_knn_find by distance, for dense rows; 1 <= k < rows. If stopped early, the remaining rows have no
 * neighbours. */
kdr_status kdri_knn_tree(kdr_context *ctx, const kdr_mat *x, int64_t k, kdri_knn *out);

#endif
