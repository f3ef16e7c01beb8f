/* Partitions of one task by many methods, and the one they agree on. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_BALLOT_H
#define KDRI_BALLOT_H

#include "linalg/linalg.h"

/* `count` partitions of n samples: sample i is in cluster label[i * count + m] of partition m. Clusters of
 * different partitions have nothing to do with each other. */
typedef struct kdri_ballot {
	int64_t n, count;
	int32_t *label;
	double *weight;  /* of each partition, > 0 */
	bool *transfer;  /* which partitions saw other tasks */
	int64_t *member; /* who made it: an index into a table of members */
	int64_t best;    /* the partition to take where there is no time for a vote */
	int64_t asked;   /* runs that would have voted with time enough; 0: count */
} kdri_ballot;

kdr_status kdri_ballot_new(kdr_context *ctx, int64_t n, int64_t count, kdri_ballot *out);
void kdri_ballot_free(kdr_context *ctx, kdri_ballot *ballot);

/* The votes on each edge of a graph (sparse, symmetric): out has the layout of its values. co_ij is the
 * share, by weight, of the partitions that put i and j together; of those without transfer alone if
 * `alone`. */
void kdri_ballot_edges(kdr_context *ctx, const kdri_ballot *ballot, const kdr_csr *graph, bool alone,
                       double *co);

typedef struct kdri_verdict_options {
	int64_t k, n_init, max_iter;
	bool alone;          /* only the partitions without transfer vote */
	const int64_t *init; /* borrowed: labels the last step starts from, or NULL */
} kdri_verdict_options;

typedef struct kdri_verdict {
	int64_t *labels;    /* n, in 0..k-1 */
	double *confidence; /* n, in 0..1: agreement of the partitions with the answer on the edges of i */
	double ncut;        /* of the answer, on the graph weighted by votes */
} kdri_verdict;

/* verdict.c: the partition voted for, by a spectral step on w_ij (0.05 + co_ij)^2. Of one partition, and out of
 * time, the answer is the best partition of the ballot. */
kdr_status kdri_verdict_new(kdr_context *ctx, const kdri_ballot *ballot, const kdr_mat *graph,
                            const kdri_verdict_options *options, kdri_verdict *out);
void kdri_verdict_free(kdr_context *ctx, kdri_verdict *verdict);

#endif
