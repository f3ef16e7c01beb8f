/* Numbering of clusters. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_NUMBER_H
#define KDRI_NUMBER_H

#include "api/method.h"

/* Numbers the clusters of a new result by first appearance and gives counterparts the same number. This changes labels,
 * the axes and entries of arrays that the method's field table calls k, and correspondences. */
kdr_status kdri_number_clusters(kdr_context *ctx, const kdr_problem *problem, kdr_result *result);
/* Gives cluster z of data set t the number now[begin_t + z], where begin_t is the number of clusters of the data sets before: in
 * everything that a fit has put into the result. */
kdr_status kdri_renumber(kdr_context *ctx, const int64_t *now, kdr_result *result);
/* Copies an array of a data set with `before` clusters to data set `task` of another result of the same method, which has k clusters
 * there. Cluster z gets the number now[z]; numbers without a cluster have zeros. */
kdr_status kdri_array_renumbered(kdr_context *ctx, const kdr_array *a, const int64_t *now, int64_t before,
                                 int64_t k, int64_t task, kdr_result *to);
/* Returns the index of the largest of `count` numbers, which are `step` apart, if it is above 0 and unique; otherwise
 * -1. */
int64_t kdri_only_largest(const double *at, int64_t count, int64_t step);

#endif
