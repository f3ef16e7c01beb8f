/* k-means, for every method that needs it. SPDX-License-Identifier: BSD-3-Clause
 *
 *     kdri_kmeans_options o = kdri_kmeans_defaults(k);
 *     kdri_kmeans_result r = { 0 };
 *     KDRI_TRY(kdri_kmeans(ctx, &x, NULL, &o, &r));
 *     ... r.labels, r.centres ...
 *     kdri_kmeans_free(ctx, &r);
 *
 * The result depends on the data, the options and the context's seed, but not on the number of threads, nor on whether
 * the data are dense or sparse. Small problems run on the calling thread only, so that thousands of small calls are
 * cheap. If rows are held by several ranks (comm/comm.h), all ranks make the call, each with its own rows: the clusters
 * are those of all rows, the labels those of the given rows. */
#ifndef KDRI_KMEANS_H
#define KDRI_KMEANS_H

#include "api/method.h"

typedef enum kdri_kmeans_start { KDRI_START_PLUSPLUS, KDRI_START_RANDOM } kdri_kmeans_start;
/* For tests and measurements: all give the same partition, bit for bit. */
typedef enum kdri_kmeans_algorithm {
	KDRI_KMEANS_AUTO,
	KDRI_KMEANS_LLOYD,
	KDRI_KMEANS_BOUNDS
} kdri_kmeans_algorithm;

typedef struct kdri_kmeans_options {
	int64_t k;        /* 1 .. rows */
	int64_t n_init;   /* runs; the best is kept. One if a start is given below */
	int64_t max_iter; /* 0: only assign samples to the start */
	double tol; /* stop when the objective decreases by at most this fraction; 0: when nothing changes */
	kdri_kmeans_start start;
	bool spherical;             /* rows count as unit vectors, centres have unit length */
	const int64_t *init_labels; /* borrowed; start from the means of these labels, or NULL */
	const double *init_centres; /* borrowed, k x d; start from these, or NULL */
	const int64_t
	        *rows_of; /* borrowed; the rows are those of `tasks` tasks, rows_of[t] each; NULL: of one */
	int64_t tasks;
	const char *stage; /* name for progress events; NULL: no events */
	uint64_t stream;   /* which random stream of the context's seed, below 2^44 */
	kdri_kmeans_algorithm algorithm;
	int64_t groups; /* lower bounds per sample; 0: chosen as described in lloyd.c */
} kdri_kmeans_options;

/* k clusters, 10 runs from k-means++, 300 iterations, tol 1e-6, stage "kmeans". */
kdri_kmeans_options kdri_kmeans_defaults(int64_t k);

/* Owned by the caller: free it with kdri_kmeans_free. */
typedef struct kdri_kmeans_result {
	int64_t *labels;        /* n, in 0..k-1 */
	double *centres;        /* k x d: the means of the clusters (unit vectors if spherical). An empty
	                           cluster, possible only with fewer distinct samples than k, keeps the
	                           last centre it had */
	double objective;       /* sum of w_i |x_i - c_label(i)|^2, from the final labels and centres */
	double objective_start; /* the same at the start of the run kept */
	double *trace;          /* objective after each iteration of the best run; never increases */
	int64_t iterations;     /* length of trace: assignments made, including the one without changes */
	kdr_stop stop;
	int64_t best_run; /* which run was kept, from 0 */
	int64_t nonempty; /* clusters with samples of positive weight */
	int64_t distinct; /* different rows of positive weight, counted up to k */
} kdri_kmeans_result;

/* Clusters the rows of x. `weights`: one per row, >= 0, or NULL for ones. Nothing of the input is kept. On failure
 * *result is unchanged. Stopping early (cancelled, out of time) is not a failure. */
kdr_status kdri_kmeans(kdr_context *ctx, const kdr_mat *x, const double *weights,
                       const kdri_kmeans_options *options, kdri_kmeans_result *result);
void kdri_kmeans_free(kdr_context *ctx, kdri_kmeans_result *result);

/* Solves several problems independently. If rows are on several ranks, the problems run in step and share their
 * exchanges. */
typedef struct kdri_kmeans_problem {
	const kdr_mat *x;
	const double *weights;
	kdri_kmeans_options o;
} kdri_kmeans_problem;
kdr_status kdri_kmeans_each(kdr_context *ctx, const kdri_kmeans_problem *problems, int64_t count,
                            kdri_kmeans_result *results);

/* labels[i] = the nearest of k centres (k x d), ties to the lowest index; spherical: by the cosine. */
kdr_status kdri_kmeans_assign(kdr_context *ctx, const kdr_mat *x, const double *centres, int64_t k,
                              bool spherical, int64_t *labels);

/* About how many bytes the arrays of one run have: it decides how many runs are made side by side. */
double kdri_kmeans_run_bytes(const kdr_mat *x, int64_t k);

#endif
