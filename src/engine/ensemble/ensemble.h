/* An ensemble of k-means partitions, for `ec` and `trec`. SPDX-License-Identifier: BSD-3-Clause
 *
 * Run l clusters the rows on its own random features, into its own random number of clusters, from its own random rows.
 * Only the labels are kept: with B the stacked one-hot labels,
 *     H = B B' / runs
 * is the co-association matrix, which is never formed as n x n numbers. */
#ifndef KDRI_ENSEMBLE_H
#define KDRI_ENSEMBLE_H

#include "api/method.h"
#include "core/internal.h"
#include "engine/kmeans/kmeans.h"

typedef struct kdri_ensemble_spec {
	int64_t runs;
	int64_t features;     /* of each run; 0: all */
	int64_t k_min, k_max; /* clusters of a run, drawn evenly */
	int64_t rows;         /* a run's centres are computed from that many random rows; 0: all */
	int64_t max_iter;
	double tol;
	bool silhouettes; /* also their mean over the runs */
	kdr_silhouette_kind kind;
	uint64_t stream; /* which random streams of the context's seed, below 2^20 */
} kdri_ensemble_spec;

/* Options of an ensemble, for the tables of the methods. */
/* clang-format off */
#define KDRI_OPTIONS_ENSEMBLE(count) \
	KDRI_INT("runs", count, 1, 100000, "number of k-means runs in the ensemble", .symbol = "L"), \
	KDRI_INT("features", 0, 0, INT32_MAX, \
	         "number of random features per run; 0: half of them, rounded up", \
	         .automatic = "half", .symbol = "m"), \
	KDRI_INT("k_min", 0, 0, INT32_MAX, \
	         "smallest number of clusters of a run; 0: k, or 2 with -k auto", .automatic = "k"), \
	KDRI_INT("k_max", 0, 0, INT32_MAX, \
	         "largest number of clusters of a run; 0: k (at least k_min), or 20 with -k auto", .automatic = "k"), \
	KDRI_REAL("subsample", 1, 0, 1, \
	          "fraction of the samples that a run finds its centres from; the others join the nearest centre", \
	          .open_min = true)
/* clang-format on */

/* Reads these options, max_iter and tol for a task with k clusters (0: unknown) and checks them against its size. */
kdr_status kdri_ensemble_options(kdr_context *ctx, const kdr_options *options, const kdr_task *task,
                                 int64_t k, kdri_ensemble_spec *out);

/* A specified run, instead of a random one. */
typedef struct kdri_run {
	int64_t k, nfeatures;
	int32_t *features; /* increasing; NULL: all */
	int64_t *centres;  /* k rows to start from; NULL: k-means++ */
} kdri_run;

/* Owned by the caller: free it with kdri_ensemble_free. */
typedef struct kdri_ensemble {
	int64_t n, runs;    /* n: rows here */
	int64_t *offset;    /* runs + 1: run l has columns offset[l] .. offset[l + 1] - 1 of B */
	int32_t *label;     /* runs x n: cluster of each row, from 0 in each run */
	double *silhouette; /* n, or NULL: mean over the runs, each in its features; 0 if alone in a cluster
	                     */
} kdri_ensemble;

/* If rows are held by several ranks (comm/comm.h), runs cluster the rows of all ranks, and labels are those of the rows
 * of this rank; plans and silhouettes are only supported in one process.
 *
 * Makes the ensemble. `plan`: spec->runs runs, or NULL to draw them. If cancelled or out of time, it keeps the runs made
 * so far, at least one. On failure *out is unchanged. */
kdr_status kdri_ensemble_new(kdr_context *ctx, const kdr_mat *x, const kdri_ensemble_spec *spec,
                             const kdri_run *plan, kdri_ensemble *out);
void kdri_ensemble_free(kdr_context *ctx, kdri_ensemble *e);

/* Whether a callback or the time limit requires to stop. */
static inline bool kdri_ensemble_stopped(const kdr_context *ctx)
{
	return ctx->cancelled || ctx->timed_out;
}

/* One partition from an ensemble: spectral clustering of its co-association matrix in low-rank form. */

/* The `count` largest eigenvalues, descending, of D^-1/2 H D^-1/2, and the table that maps labels to their eigenvectors:
 * row i of the embedding is the sum over runs l of row offset[l] + label[l][i] of `table` (offset[runs] x count), scaled
 * to unit length. count <= offset[runs]. */
kdr_status kdri_consensus_spectrum(kdr_context *ctx, const kdri_ensemble *e, int64_t count, double *values,
                                   double *table);
/* Rows of the embedding from the first k columns of the table; `out` is n x k. A row of length 0 stays 0. */
void kdri_consensus_embed(kdr_context *ctx, const kdri_ensemble *e, const double *table, int64_t count,
                          int64_t k, double *out);
/* The k in 2 .. most with the largest gap between value k and the next (0 past the last); 1 if most < 2. */
int64_t kdri_consensus_gap(const double *values, int64_t count, int64_t most);

typedef struct kdri_consensus_options {
	int64_t k;    /* number of clusters; 0: chosen by the eigengap */
	int64_t most; /* largest k the eigengap may suggest */
	int64_t n_init, max_iter;
	double tol;
	const int64_t *init; /* borrowed: labels to start from, or NULL */
	uint64_t stream;
} kdri_consensus_options;

/* Owned by the caller: free it with kdri_consensus_free. */
typedef struct kdri_consensus {
	int64_t k, suggested, count; /* count: eigenvalues */
	double *values;
	double *stability;         /* n: mean co-association with the others of the same cluster; alone: 1 */
	double score;              /* mean over the runs of the mutual information with the result */
	kdri_kmeans_result kmeans; /* of the embedding; its labels are the result */
} kdri_consensus;

kdr_status kdri_consensus_new(kdr_context *ctx, const kdri_ensemble *e, const kdri_consensus_options *o,
                              kdri_consensus *out);
void kdri_consensus_free(kdr_context *ctx, kdri_consensus *c);

#endif
