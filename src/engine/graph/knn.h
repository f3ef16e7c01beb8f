/* Nearest neighbours, exactly or nearly so, and the graph they make. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_KNN_H
#define KDRI_KNN_H

#include "api/method.h"
#include "matrix/linalg.h"

typedef enum kdri_metric { KDRI_METRIC_COSINE, KDRI_METRIC_EUCLIDEAN } kdri_metric;

/* Row i's neighbours are index[i * k] .. index[i * k + k - 1], nearest first, never i itself; of equally
 * near ones the lower index comes first. value: their cosines, or their squared distances. The cosine with
 * a row of zeros is 0. */
typedef struct kdri_knn {
	int64_t rows, k;
	int32_t *index; /* -1 where the search was stopped before it came to the row */
	double *value;
} kdri_knn;

/* Whether row i has a direction: without one all its cosines are 0. */
static inline bool kdri_knn_has_direction(const kdri_knn *knn, int64_t i)
{
	for (int64_t p = 0; p < knn->k; p++)
		if (knn->value[i * knn->k + p] != 0)
			return true;
	return false;
}

/* A vector taken away from all rows before their cosines, never from the rows themselves: sparse ones stay
 * sparse. products: of each row with it; square: its own with itself. */
typedef struct kdri_knn_shift {
	double *products;
	double square;
} kdri_knn_shift;
kdr_status kdri_knn_shift_new(kdr_context *ctx, const kdr_mat *x, const double *mean, kdri_knn_shift *out);
void kdri_knn_shift_free(kdr_context *ctx, kdri_knn_shift *shift);

/* The k <= rows - 1 nearest neighbours of every row, from all n (n - 1) products, without storing them; by a tree of boxes
 * (knn_tree.c) where distance compares many rows of few columns.
 * Rows, dense or sparse, in parallel; the same answer for any number of threads. Reports progress as
 * stage "neighbours". If that asks it to stop, the remaining rows are left without neighbours. */
kdr_status kdri_knn_find(kdr_context *ctx, const kdr_mat *x, int64_t k, kdri_metric metric, kdri_knn *out);
/* The same by the cosine of the rows less a vector; `shift` NULL: of the rows. */
kdr_status kdri_knn_find_shifted(kdr_context *ctx, const kdr_mat *x, int64_t k, kdri_metric metric,
                                 const kdri_knn_shift *shift, kdri_knn *out);
/* The k <= rows of y nearest of y's rows, for each row of x; both are dense or both sparse, and no row of y is left out because
 * it is one of x's, unless x is y itself: none of its rows is its own neighbour, k <= rows - 1. `shift_x` and `shift_y`: of one
 * vector, or both NULL. All ranks call it, each with its rows of x and the same y; they stop together. */
kdr_status kdri_knn_among(kdr_context *ctx, const kdr_mat *x, const kdri_knn_shift *shift_x, const kdr_mat *y,
                          const kdri_knn_shift *shift_y, int64_t k, kdri_metric metric, kdri_knn *out);
/* knn_search.c: multiplications that all pairs of rows take. */
kdr_status kdri_knn_products(kdr_context *ctx, const kdr_mat *x, double *out);
/* knn_search.c: the k nearest neighbours of every row among `count` of the rows, drawn by the context's seed; count - 1 if that is
 * less. */
kdr_status kdri_knn_find_some(kdr_context *ctx, const kdr_mat *x, int64_t k, int64_t count,
                              kdri_metric metric, const kdri_knn_shift *shift, kdri_knn *out);
/* knn_search.c: the k nearest neighbours of every row among all rows, or among some if that takes too long (policy.h); fewer than k if there
 * are not so many. Less a vector before cosines, or `shift` NULL. *candidates: how many rows there were to choose from. */
kdr_status kdri_knn_search(kdr_context *ctx, const kdr_mat *x, int64_t k, kdri_metric metric,
                           const kdri_knn_shift *shift, kdri_knn *out, int64_t *candidates);
void kdri_knn_free(kdr_context *ctx, kdri_knn *knn);

/* The symmetric graph W_ij = max(a_ij, a_ji), a_ij = weight[i * k + p] if index[i * k + p] is j and 0 if j
 * is not among i's neighbours: an edge wherever one of both has the other. Weights <= 0 and indices -1
 * make no edge. Sparse, no diagonal. `weight` has the layout of knn->value and may be it. */
kdr_status kdri_knn_graph(kdr_context *ctx, const kdri_knn *knn, const double *weight, kdri_own *out);

/* Whether a search compares all pairs (policy.h). */
typedef enum kdri_decided { KDRI_DECIDED_NO, KDRI_DECIDED_OPEN, KDRI_DECIDED_YES } kdri_decided;
/* Bytes that the graph of the k nearest neighbours needs while it is made; *kept: of these its own. */
double kdri_knn_graph_bytes(const kdri_extent *x, double k, kdri_metric metric, kdri_decided exact,
                            int threads, double *kept);

#endif
