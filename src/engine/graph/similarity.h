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
#include "engine/graph/knn.h"
#include "matrix/linalg.h"
#include "matrix/traits.h"

typedef enum kdri_similarity {
	KDRI_SIMILARITY_COSINE,
	KDRI_SIMILARITY_GAUSS,
	KDRI_SIMILARITY_PRECOMPUTED
} kdri_similarity;

typedef struct kdri_graph_options {
	kdri_similarity similarity;
	double sigma;         /* gauss; 0: the mean distance between two samples */
	int64_t neighbors;    /* 0: all; more than there are: all others, in a sparse graph */
	const int64_t *first; /* with neighbours: equal samples are searched as one; NULL: no two are equal */
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

/* Decisions about graphs, by the kind and size of the data.
 *
 * Methods and recipes use these functions. The rules and the measurements behind each constant are in
 * policy.c. */

/* Mostly zeros and nothing negative: word counts, and the same after tf-idf. */
bool kdri_looks_like_words(const kdri_traits *t);
/* Few columns, mostly not zero: measurements, whose size matters as much as their direction. */
bool kdri_looks_like_measurements(const kdri_traits *t);

/* What replaces an exact neighbour search above its limit: landmarks for clusters, landmarks for walks from source to target, or a
 * search among some of the rows. */
typedef enum kdri_instead {
	KDRI_INSTEAD_LANDMARKS,
	KDRI_INSTEAD_WALKS,
	KDRI_INSTEAD_CANDIDATES
} kdri_instead;
/* Whether neighbours are searched among all rows if landmarks are an alternative. */
kdr_status kdri_search_is_exact(kdr_context *ctx, const kdr_mat *x, kdri_metric metric, kdri_instead instead,
                                bool *out);
/* Among how many of the rows they are searched if landmarks are not an alternative. */
kdr_status kdri_search_candidates(kdr_context *ctx, const kdr_mat *x, kdri_metric metric, int64_t *out);

/* The number of landmarks for the option value `requested` and the number of `clusters`. */
int64_t kdri_landmark_count(int64_t requested, int64_t clusters);
/* The number of landmarks that a sample is joined to instead of `neighbours` neighbours. */
typedef enum kdri_samples { KDRI_SAMPLES_WORDS, KDRI_SAMPLES_CENTRED, KDRI_SAMPLES_OTHER } kdri_samples;
int64_t kdri_landmarks_each(kdri_samples kind, int64_t neighbors);

/* Equal samples and tiny components of a neighbour graph. */

/* kdri_knn_search, or kdri_knn_find if `exact`, among samples that differ: first[i] is the first sample equal to sample i
 * (kdri_rows_first), and NULL means that no two are equal. The other samples equal to it have lists without entries (-1). */
kdr_status kdri_knn_search_once(kdr_context *ctx, const kdr_mat *x, const int64_t *first, int64_t k,
                                kdri_metric metric, const kdri_knn_shift *shift, bool exact, kdri_knn *out,
                                int64_t *candidates);

/* kdri_knn_graph of such lists. Every sample without a list is joined to the first sample equal to it. All these edges
 * of a sample have 1 % of the total weight of its other edges, so that many equal samples do not form a cluster of their
 * own. */
kdr_status kdri_knn_graph_once(kdr_context *ctx, const kdri_knn *knn, const double *weight,
                               const int64_t *first, kdri_own *out);

/* Joins components of less than n / (10 k) samples to others: each of their samples gets an edge to the nearest sample
 * outside of such components, with the total weight of its other edges. *joined: the number of components, 0 if all are
 * small. */
kdr_status kdri_graph_join_small(kdr_context *ctx, const kdr_mat *x, const int64_t *first, int64_t k,
                                 kdri_metric metric, const kdri_knn_shift *shift, kdri_own *graph,
                                 int64_t *joined);

/* a W_1 + b W_2 */
kdr_status kdri_graph_sum(kdr_context *ctx, const kdr_csr *w1, double a, const kdr_csr *w2, double b,
                          kdri_own *out);

#endif
