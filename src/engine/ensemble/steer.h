/* Clusters that follow known classes and links. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_STEER_H
#define KDRI_STEER_H

#include "core/links.h"
#include "engine/ensemble/ballot.h"

/* Changes `labels`, the answer of a vote into k clusters, so that they follow what is known: cluster c has the samples of class c,
 * groups are in one cluster, and samples that must not be together are apart if the number of clusters allows it. Samples about
 * which nothing is known follow the partitions of the ballot and their neighbours. Partitions with transfer are left out if
 * `alone`. graph: of the samples, or of samples and landmarks (columns); NULL: none. Time: O(30 k edges + n k partitions). */
kdr_status kdri_steer(kdr_context *ctx, const kdri_links *links, const kdri_ballot *ballot, bool alone,
                      const kdr_mat *graph, int64_t k, int64_t *labels);
/* The number that each of k clusters gets so that cluster c has the samples of class c: now[z] for cluster z of `labels`. */
kdr_status kdri_steer_numbers(kdr_context *ctx, const kdri_links *links, const int64_t *labels, int64_t k,
                              int64_t *now);
/* Puts linked samples where the sum of their scores (n x k, higher is better) is highest: first groups, then samples that must be
 * apart, of which the one with the smaller margin moves. Known samples get their class, other samples stay. */
kdr_status kdri_steer_linked(kdr_context *ctx, const kdri_links *links, const double *scores, int64_t k,
                             int64_t *labels);

#endif
