/* Relatedness of tasks, and one similarity per task that is consistent across all tasks. SPDX-License-Identifier:
 * BSD-3-Clause */
#ifndef KDRI_CONSISTENT_H
#define KDRI_CONSISTENT_H

#include "engine/graph/similarity.h"
#include "matrix/block.h"

/* All samples of all tasks: v (N x N, on a device), task t holding rows begin[t] .. begin[t + 1] - 1. */
typedef struct kdri_pool {
	kdri_block v;
	int64_t ntasks;
	const int64_t *begin;
} kdri_pool;

static inline int64_t kdri_pool_size(const kdri_pool *p, int64_t t)
{
	return p->begin[t + 1] - p->begin[t];
}

/* The rows of task t and the columns of task s. */
static inline kdri_block kdri_pool_pair(const kdri_pool *p, int64_t t, int64_t s)
{
	return kdri_block_part(p->v, p->begin[t], p->begin[s], kdri_pool_size(p, t), kdri_pool_size(p, s));
}

/* Median distance between two samples from the lower triangle of a Gram matrix; of 1000 evenly spaced samples if there
 * are more. */
kdr_status kdri_gram_median(kdr_context *ctx, kdri_block gram, double *out);

/* Turns the Gram matrix into the full matrix of similarities in place, from its lower triangle: cosines (0 with a sample
 * of length 0, 1 with itself otherwise) or exp(-distance^2 / (2 sigma^2)). */
kdr_status kdri_gram_similarity(kdr_context *ctx, kdri_block gram, kdri_similarity similarity, double sigma);

/* out (ntasks x ntasks): squared maximum mean discrepancy of each pair of tasks, biased, with the linear kernel (sigma 0) or
 * exp(-distance^2 / (2 sigma^2)). Task t holds rows begin[t] .. begin[t + 1] - 1 of `gram`, whose lower triangle is read. */
kdr_status kdri_gram_mmd(kdr_context *ctx, kdri_block gram, const int64_t *begin, int64_t ntasks,
                         double sigma, double *out);

/* eps (ntasks) and alpha (ntasks x ntasks: row t has how much task t draws on each task). */
kdr_status kdri_relate(kdr_context *ctx, const kdri_pool *pool, const int64_t *neighbours, double *eps,
                       double *alpha);

/* Row i of `sharp` has the neighbours of sample i and their weights, of which the largest is 1; on the host. */
typedef struct kdri_consistent {
	kdri_own sharp;
	kdri_own m; /* (sharp + sharp') / 2 */
} kdri_consistent;

/* `alpha`: ntasks weights. `neighbours`: 1 .. n - 2. `most`: bytes that the distances may take at a time; if they need
 * more, they are computed in blocks of rows. */
kdr_status kdri_consistent_new(kdr_context *ctx, const kdri_pool *pool, int64_t task, const double *alpha,
                               int64_t neighbours, int64_t most, kdri_consistent *out);
void kdri_consistent_free(kdr_context *ctx, kdri_consistent *c);

/* Distances that differ by at most this fraction of their size count as equal. */
static inline double kdri_consistent_tie(bool single)
{
	return single ? 2e-6 : 1e-12;
}

#endif
