/* Clusters of a graph from the leading eigenvectors of its normalised Laplacian. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_SPECTRUM_H
#define KDRI_SPECTRUM_H

#include "matrix/linalg.h"
#include "matrix/ritz.h"

typedef struct kdri_laplacian {
	const kdr_mat *w;
	double *root;        /* sqrt of the degrees */
	double volume;       /* their sum, if root is known to be an eigenvector and set aside; otherwise 0 */
	kdri_levels *levels; /* NULL: the graph is small or dense */
	double *room;        /* for kdri_laplacian_solve, n x width */
	int64_t width;
} kdri_laplacian;

/* w: symmetric, entries >= 0, borrowed. degree: at least the sum of each row and > 0, borrowed. `aside`: w is connected
 * and degree its row sums, so that sqrt(degree) is the first eigenvector: it is moved to the other end of the
 * spectrum. `count`: eigenvectors that will be searched for. */
kdr_status kdri_laplacian_new(kdr_context *ctx, const kdr_mat *w, const double *degree, bool aside,
                              int64_t count, kdri_laplacian *out);
void kdri_laplacian_free(kdr_context *ctx, kdri_laplacian *l);
kdr_status kdri_laplacian_solve(kdr_context *ctx, const kdri_op *op, const double *x, int64_t k, int64_t ldx,
                                double *y, int64_t ldy);

/* The spectral step: clusters of a graph from its leading eigenvectors.
 *
 *     kdri_spectral_options o = kdri_spectral_defaults(k);
 *     kdri_spectral_result r = { 0 };
 *     KDRI_TRY(kdri_spectral(ctx, &graph.w.view, &o, &r));
 *     ... r.labels, r.embedding ...
 *     kdri_spectral_free(ctx, &r);
 *
 * W is symmetric with entries >= 0, dense or sparse. The result depends on W, the options and the context's seed, but
 * not on the number of threads. With landmarks, rows may be on several ranks: all of them call it, each with its rows.
 * Counts in the result are those of all rows, labels and embedding those of the rows of this rank. */

/* How rows of the embedding become clusters: k-means, or the rotation of Yu & Shi (2003). */
typedef enum kdri_rounding { KDRI_ROUNDING_KMEANS, KDRI_ROUNDING_ROTATION } kdri_rounding;

typedef struct kdri_spectral_options {
	int64_t k; /* 1 .. n */
	kdri_rounding rounding;
	int64_t n_init, max_iter;   /* of the rounding */
	const int64_t *init_labels; /* borrowed; the rounding starts from these labels, or NULL */
	uint64_t stream;            /* which random stream of the context's seed */
	bool landmarks;             /* w is n x m: samples joined to landmarks (landmarks.h) */
	const int64_t *rows_of;     /* borrowed; rows of each of the `tasks` tasks; NULL: one task */
	int64_t tasks;
} kdri_spectral_options;

/* k-means, 10 runs, 300 iterations. */
kdri_spectral_options kdri_spectral_defaults(int64_t k);

typedef struct kdri_spectral_result {
	int64_t *labels;    /* n, in 0..k-1 */
	double *embedding;  /* n x k: rows of unit length, or of zeros for those counted in `unreached` */
	double *values;     /* k eigenvalues of D^-1/2 W D^-1/2, descending, then zeros if there are fewer */
	double ncut;        /* sum over clusters of cut / volume */
	int64_t components; /* connected components with at least one edge */
	int64_t isolated;   /* vertices without an edge */
	int64_t unreached; /* vertices that are zero in all eigenvectors used: the isolated ones and, with more
			       than k components, those outside the k largest. They join the largest cluster */
	int64_t nonempty;  /* clusters with vertices */
	int64_t iterations; /* of the rounding */
	kdr_stop stop;
} kdri_spectral_result;

/* On failure *result is unchanged. If stopped early, every label is valid: 0 if nothing was found yet. */
kdr_status kdri_spectral(kdr_context *ctx, const kdr_mat *w, const kdri_spectral_options *options,
                         kdri_spectral_result *result);
void kdri_spectral_free(kdr_context *ctx, kdri_spectral_result *result);

typedef struct kdri_spectrum {
	double *values;  /* k */
	double *vectors; /* n x k, orthonormal columns; 0 where fewer than k exist */
	int64_t components, isolated;
} kdri_spectrum;

/* The k largest eigenvalues of D^-1/2 W D^-1/2 and their vectors: exact multiplicities, component by component. A vertex
 * without edges has a row of zeros and no eigenvalue of its own. Returns KDR_ERR_NUMERIC if it was stopped. */
kdr_status kdri_spectrum_new(kdr_context *ctx, const kdr_mat *w, int64_t k, kdri_spectrum *out);
void kdri_spectrum_free(kdr_context *ctx, kdri_spectrum *s);

/* Sum over clusters of (weight of edges that leave it) / (degrees in it); clusters of no degree add 0. */
kdr_status kdri_ncut_value(kdr_context *ctx, const kdr_mat *w, const int64_t *labels, int64_t k, double *out);

/* degree[i] = sum_j w_ij. */
kdr_status kdri_graph_degrees(kdr_context *ctx, const kdr_mat *w, double *degree);
/* Connected components by edges of weight > 0: part[i] = 0, 1, .. in order of their first vertex. */
kdr_status kdri_components(kdr_context *ctx, const kdr_mat *w, int64_t *part, int64_t *count);

#endif
