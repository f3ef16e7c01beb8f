/* Exact and approximate nearest neighbours, their graph, and how near data sets are. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_KNN_H
#define KDRI_KNN_H

#include "api/method.h"
#include "matrix/device.h"
#include "matrix/linalg.h"

typedef enum kdri_metric { KDRI_METRIC_COSINE, KDRI_METRIC_EUCLIDEAN } kdri_metric;

/* Row i's neighbours are index[i * k] .. index[i * k + k - 1], nearest first, never i itself; of equally
 * near ones the lower index comes first. value: their cosines, or their squared distances. The cosine with
 * a row of zeros is 0. */
typedef struct kdri_knn {
	int64_t rows, k;
	int32_t *index; /* -1 if the search was stopped before it reached the row */
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

/* A vector that is subtracted from all rows before their cosines are computed, without changing the rows, so that sparse
 * rows stay sparse. products: of each row with it; square: its squared length. */
typedef struct kdri_knn_shift {
	double *products;
	double square;
} kdri_knn_shift;
kdr_status kdri_knn_shift_new(kdr_context *ctx, const kdr_mat *x, const double *mean, kdri_knn_shift *out);
void kdri_knn_shift_free(kdr_context *ctx, kdri_knn_shift *shift);

/* Finds the k <= rows - 1 nearest neighbours of every row from all n (n - 1) products, without storing them, or with a
 * tree of boxes (knn_scan.c) for distances of many rows with few columns. Rows are dense or sparse and processed in
 * parallel; the result does not depend on the number of threads. Reports progress as stage "neighbours". If stopped
 * early, the remaining rows have no neighbours. `shift` (may be NULL) is subtracted before cosines. */
kdr_status kdri_knn_find(kdr_context *ctx, const kdr_mat *x, int64_t k, kdri_metric metric,
                         const kdri_knn_shift *shift, kdri_knn *out);
/* Finds the k nearest rows of y for each row of x, k <= rows of y; both are dense or both sparse. If x is y itself, no
 * row is its own neighbour, and k <= rows - 1. `shift_x` and `shift_y`: of one vector, or both NULL. All ranks call it,
 * each with its rows of x and the same y; they stop together. */
kdr_status kdri_knn_among(kdr_context *ctx, const kdr_mat *x, const kdri_knn_shift *shift_x, const kdr_mat *y,
                          const kdri_knn_shift *shift_y, int64_t k, kdri_metric metric, kdri_knn *out);
/* knn_scan.c: multiplications that all pairs of rows take. */
kdr_status kdri_knn_products(kdr_context *ctx, const kdr_mat *x, double *out);
/* policy.c: the k nearest neighbours of every row among `count` of the rows, drawn with the context's seed; count
 * - 1 neighbours if k is larger. */
kdr_status kdri_knn_find_some(kdr_context *ctx, const kdr_mat *x, int64_t k, int64_t count,
                              kdri_metric metric, const kdri_knn_shift *shift, kdri_knn *out);
/* policy.c: the k nearest neighbours of every row among all rows, or among some if that takes too long (similarity.h);
 * fewer than k if there are not enough rows. `shift` is subtracted before cosines, unless NULL. *candidates: the
 * number of rows searched. */
kdr_status kdri_knn_search(kdr_context *ctx, const kdr_mat *x, int64_t k, kdri_metric metric,
                           const kdri_knn_shift *shift, kdri_knn *out, int64_t *candidates);
void kdri_knn_free(kdr_context *ctx, kdri_knn *knn);

/* The symmetric graph W_ij = max(a_ij, a_ji), a_ij = weight[i * k + p] if index[i * k + p] is j and 0 if j is not among
 * i's neighbours: there is an edge if one of both is a neighbour of the other. Weights <= 0 and indices -1 make no edge.
 * Sparse, no diagonal. `weight` has the layout of knn->value and may be it. */
kdr_status kdri_knn_graph(kdr_context *ctx, const kdri_knn *knn, const double *weight, kdri_own *out);

/* Nearest neighbours by scanning all products, on any device. */

/* How knn.c ranks rows. Neighbours of the rows of `queries` are searched among those of `candidates`, which may be the same
 * matrix; no row is then its own neighbour. */
typedef struct kdri_knn_scan {
	const kdr_mat *queries, *candidates;
	const kdr_csr *lists; /* sparse: the transpose of `candidates` */
	kdri_nn nn; /* score, magic, square, k, factors and shifts of all rows; index, best and held of all rows of
		       `queries` */
	int64_t turns; /* the largest number of rows of a rank, because all ranks stop together */
	/* Called for rows whose lists are complete. */
	void (*finish)(kdr_context *ctx, const void *user, int64_t begin, int64_t end);
	const void *user;
} kdri_knn_scan;

/* Fills index and best of the rows of `queries`. `device`: an accelerator may be used. *done: the number of rows
 * processed, fewer than all if the scan was stopped. */
kdr_status kdri_knn_scan_rows(kdr_context *ctx, const kdri_knn_scan *s, bool device, int64_t *done);

/* Nearest neighbours among few columns, exactly. */

/* Whether a tree finds the nearest rows by distance faster than a scan of all products. */
bool kdri_knn_tree_pays(const kdr_mat *x);

/* Like kdri_knn_find by distance, for dense rows; 1 <= k < rows. If stopped early, the remaining rows have no
 * neighbours. */
kdr_status kdri_knn_tree(kdr_context *ctx, const kdr_mat *x, int64_t k, kdri_knn *out);

/* How near the samples of one task are to those of another. */

/* out (count x count): entry (t, s) is the similarity of samples of task t to their nearest samples of task s, relative
 * to their nearest samples in their own task; from 0 (nothing in common) to 1 (as near as their own). Ones on the
 * diagonal. It uses cosines of the rows minus `mean` (NULL: of the rows), or distances, and the same number of at most
 * 400 evenly spaced samples of each task. */
kdr_status kdri_nearness(kdr_context *ctx, const kdr_mat *const *tasks, int64_t count, bool cosine,
                         const double *mean, double *out);

/* Writes a sentence about the nearest other task (NULL: there is none). It does not predict a benefit: over 24 pairs of
 * tasks, nearness was unrelated to what pooling gained or lost (docs/notes/auto.md). */
void kdri_nearness_advice(const char *name, const char *nearest, double nearness, char *out, size_t room);

/* How far apart the samples of two data sets are. */

/* At most that many samples of a data set are compared; below that many it is not defined. */
enum { KDRI_APART_MOST = 1000, KDRI_APART_LEAST = 4 };
#define KDRI_APART_RELATED 0.65

/* (E5) of nearness.c for the rows of t, compared with those of j: 0.5 if they are alike, 1 if they are apart. NaN if j has fewer than
 * KDRI_APART_LEAST rows or t none. Rows of data sets with more than KDRI_APART_MOST rows are drawn, always the same ones. O(nnz) for the
 * directions and O(rows of t x rows of j). */
kdr_status kdri_apart_find(kdr_context *ctx, const kdr_mat *t, const kdr_mat *j, double *out);

/* rows[0 .. *count - 1], increasing: at most KDRI_APART_MOST of n rows, always the same ones; the caller frees it. */
kdr_status kdri_apart_rows(kdr_context *ctx, int64_t n, int64_t **rows, int64_t *count);

#endif
