/* Similarity graphs of samples. SPDX-License-Identifier: BSD-3-Clause
 *
 *   cosine    w_ij = max(cos(x_i, x_j), 0); a row of zeros is similar to nothing
 *   gauss     w_ij = exp(-|x_i - x_j|^2 / (2 sigma^2))
 *   precomputed   the data are W itself
 *
 * between all samples (dense), or if one of both is among the other's nearest neighbours (sparse). Symmetric, no
 * negative entry, w_ii = 0. */
#ifndef KDRI_SIMILARITY_H
#define KDRI_SIMILARITY_H

#include "api/method.h"
#include "matrix/linalg.h"

typedef enum kdri_similarity {
	KDRI_SIMILARITY_COSINE,
	KDRI_SIMILARITY_GAUSS,
	KDRI_SIMILARITY_PRECOMPUTED
} kdri_similarity;

typedef struct kdri_graph_options {
	kdri_similarity similarity;
	double sigma;      /* gauss; 0: the mean distance between two samples */
	int64_t neighbors; /* 0: all; more than there are: all others, in a sparse graph */
	const int64_t *
	        first; /* with neighbours: equal samples are searched as one (repair.h); NULL: no two are equal */
} kdri_graph_options;

typedef struct kdri_graph {
	kdri_own w;   /* n x n: w.view is dense (neighbors 0) or sparse; precomputed: the data, borrowed */
	double sigma; /* the width in use; 0 with the cosine */
	int64_t candidates; /* samples among which neighbours were searched; 0: all */
} kdri_graph;

/* If the neighbour search is stopped early, the graph has fewer edges. */
kdr_status kdri_graph_new(kdr_context *ctx, const kdr_mat *x, const kdri_graph_options *options,
                          kdri_graph *out);
void kdri_graph_free(kdr_context *ctx, kdri_graph *graph);

/* degree[i] = sum_j w_ij. */
kdr_status kdri_graph_degrees(kdr_context *ctx, const kdr_mat *w, double *degree);

/* All similarities, into w (n x n). */
kdr_status kdri_similarity_dense(kdr_context *ctx, const kdr_mat *x, kdri_similarity similarity, double sigma,
                                 double *w);

/* Mean Euclidean distance over all pairs of different samples; if there are more than 2000 samples, of 2000 drawn with
 * the seed. 0 for a single sample. */
kdr_status kdri_mean_distance(kdr_context *ctx, const kdr_mat *x, double *out);

/* The options of a method that uses a similarity graph, for its table, and their current values. */
extern const char *const kdri_similarity_names[], *const kdri_graph_names[];
kdri_graph_options kdri_graph_options_of(const kdr_options *options);
/* clang-format off */
#define KDRI_OPTIONS_GRAPH(default_neighbors) \
	KDRI_CHOICE("similarity", KDRI_SIMILARITY_COSINE, kdri_graph_names, \
	            "similarity of two samples: their cosine, if positive; a Gaussian of their distance; or precomputed: the data are a symmetric matrix of similarities >= 0"), \
	KDRI_REAL("sigma", 0, 0, 1e300, \
	          "width of the Gaussian; 0: the mean distance between two samples", \
	          .automatic = "mean distance", .symbol = "sigma"), \
	KDRI_INT("neighbors", default_neighbors, 0, 1e9, \
	         "number of nearest neighbours that each sample is joined to; 0: all samples, which takes n x n numbers")
/* clang-format on */

#endif
