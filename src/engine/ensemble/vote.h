/* Votes: of partitions on the edges of a graph, and of classifiers. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_VOTE_H
#define KDRI_VOTE_H

#include "core/classes.h"
#include "core/internal.h"
#include "engine/graph/landmarks.h"
#include "matrix/linalg.h"

/* `count` partitions of n samples: sample i is in cluster label[i * count + m] of partition m. Cluster numbers of
 * different partitions are unrelated. */
typedef struct kdri_ballot {
	int64_t n, count;
	int32_t *label;
	double *weight;    /* of each partition, > 0 */
	bool *transfer;    /* which partitions used other tasks */
	int64_t *member;   /* the member that made it: an index into a table of members */
	int64_t best;      /* the partition to use if there is no time for a vote */
	int64_t requested; /* runs that would have voted without a time limit; 0: count */
} kdri_ballot;

kdr_status kdri_ballot_new(kdr_context *ctx, int64_t n, int64_t count, kdri_ballot *out);
void kdri_ballot_free(kdr_context *ctx, kdri_ballot *ballot);

/* Keeps the ballot of a complete fit for fits with other numbers of clusters (matrix/kept.h). */
kdr_status kdri_ballot_keep(kdr_context *ctx, int64_t task, const kdri_ballot *ballot);
/* The partitions of all complete fits together; out->count 0: none have been kept. */
kdr_status kdri_ballot_kept(kdr_context *ctx, int64_t task, kdri_ballot *out);

/* The votes on each edge of a sparse graph from the samples to others, whose labels are `theirs`, of the layout of
 * ballot->label: out has the layout of the graph's values. co_ij is the fraction, by weight, of the partitions that put
 * i and j together; if `alone`, only of those without transfer. */
void kdri_ballot_edges(kdr_context *ctx, const kdri_ballot *ballot, const kdr_csr *graph,
                       const int32_t *theirs, bool alone, double *co);
/* Whether partition m votes. */
static inline bool kdri_ballot_votes(const kdri_ballot *b, int64_t m, bool alone)
{
	return !(alone && b->transfer[m]);
}

typedef struct kdri_verdict_options {
	int64_t k, n_init, max_iter;
	bool alone;                      /* only the partitions without transfer vote */
	bool other_k;                    /* partitions may have other numbers of clusters than k */
	const int64_t *init;             /* borrowed: labels the last step starts from, or NULL */
	const kdri_landmarks *landmarks; /* borrowed: what the columns of the graph are; NULL: the samples */
	const struct kdri_known_classes *known; /* borrowed: what is known about the samples; NULL: nothing */
} kdri_verdict_options;

typedef struct kdri_verdict {
	int64_t *labels;   /* n, in 0..k-1 */
	double *agreement; /* n, in 0..1: of the partitions with the answer on the edges of i */
	double ncut;       /* of the answer, on the graph weighted by votes */
} kdri_verdict;

/* ballot.c: the consensus partition, by a spectral step on w_ij (0.05 + co_ij)^2. With a single partition, or out of
 * time, the answer is the best partition of the ballot. With landmarks the samples may be on several ranks: all of them
 * call it, and the answers are those of the samples of this rank. */
kdr_status kdri_verdict_new(kdr_context *ctx, const kdri_ballot *ballot, const kdr_mat *graph,
                            const kdri_verdict_options *options, kdri_verdict *out);
void kdri_verdict_free(kdr_context *ctx, kdri_verdict *verdict);
/* The rows, scaled to unit length, of the k leading eigenvectors of the graph w of samples and landmarks with a small
 * contribution of co, n x k. */
kdr_status kdri_verdict_embed(kdr_context *ctx, const kdri_ballot *ballot, const kdr_csr *w, bool alone,
                              int64_t k, double *rows);

/* A vote of classifiers that learns the typical errors of each. */

/* Everything is borrowed. Classes are 0..classes-1, at least two. */
typedef struct kdri_vote_problem {
	int64_t n, classes;
	int64_t members;
	const int32_t *const *votes; /* of each member: a class for every sample */
	int64_t clusterings;
	const int32_t *const *clusters; /* of each clustering: a cluster for every sample */
	const int64_t *k;               /* how many clusters it has */
	const kdri_op *graph;           /* n x n, entries >= 0; NULL: none */
	const int64_t *known;           /* classes that are known, -1 elsewhere; NULL: none is */
	int64_t rounds;
} kdri_vote_problem;

/* posterior (n x classes): P after the last round. neighbours (n x classes, may be NULL): D^-1 W P, the mean of a
 * sample's neighbours at the end; rows of zeros without a graph or for a sample without neighbours. */
kdr_status kdri_vote(kdr_context *ctx, const kdri_vote_problem *problem, double *posterior,
                     double *neighbours);

/* Clusters that follow known classes. */

/* Changes `labels`, the answer of a vote into k clusters, so that they follow what is known: cluster c has the samples of class c.
 * Other samples follow the partitions of the ballot and their neighbours. Partitions with transfer are left out if
 * `alone`. graph: of the samples, or of samples and landmarks (columns); NULL: none. Time: O(30 k edges + n k partitions). */
kdr_status kdri_steer(kdr_context *ctx, const kdri_known_classes *known, const kdri_ballot *ballot,
                      bool alone, const kdr_mat *graph, int64_t k, int64_t *labels);
/* The number that each of k clusters gets so that cluster c has the samples of class c: now[z] for cluster z of `labels`. */
kdr_status kdri_steer_numbers(kdr_context *ctx, const kdri_known_classes *known, const int64_t *labels,
                              int64_t k, int64_t *now);

#endif
