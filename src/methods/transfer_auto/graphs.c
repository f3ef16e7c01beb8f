/* The graphs of a transfer's samples. SPDX-License-Identifier: BSD-3-Clause
 *
 * Neighbours: edges and weights of engine/graph/views_graphs.c. Landmarks, if a neighbour search would be inexact and
 * take much longer: W = Z L^-1 Z' minus its diagonal, of engine/graph/landmarks_walk.c, Z the weights of a row's
 * nearest landmarks (engine/graph/landmarks.c), as many as `auto` of cluster uses with the cosine (docs/notes/auto.md
 * describes how this was chosen), also if samples are compared by distance. */
#include "methods/transfer_auto/graphs.h"

#include "engine/graph/policy.h"
#include "engine/graph/views.h"

static const double least_weight = 1e-6;

kdri_transfer_graph kdri_transfer_graph_empty(void)
{
	const kdr_mat none = kdr_mat_from_dense(NULL, 0, 0);
	return (kdri_transfer_graph){ .edges.view = none, .walk.z = none };
}

void kdri_transfer_graph_free(kdr_context *ctx, kdri_transfer_graph *g)
{
	kdri_own_free(ctx, &g->edges);
	kdri_landmarks_walk_free(ctx, &g->walk);
}

kdri_op kdri_transfer_graph_op(const kdri_transfer_graph *g)
{
	return g->landmarks ? kdri_op_landmarks(&g->walk) : kdri_op_mat(&g->edges.view);
}

static kdr_status join_landmarks(kdr_context *ctx, const kdr_mat *x, const double *mean, bool cosine,
                                 bool words, const kdri_transfer_joins *joins, kdri_transfer_graph *g)
{
	kdr_status st;
	kdri_landmarks l = { .rows.view = kdr_mat_from_dense(NULL, 0, 0) };
	const kdri_landmarks_options o = { .weight = cosine ? KDRI_LANDMARKS_COSINE : KDRI_LANDMARKS_TUNED,
		                           .least = least_weight,
		                           .neighbors = kdri_landmarks_each(words    ? KDRI_SAMPLES_WORDS
		                                                            : cosine ? KDRI_SAMPLES_CENTRED
		                                                                     : KDRI_SAMPLES_OTHER,
		                                                            joins->neighbors),
		                           .mean = mean };
	KDRI_TRY(kdri_landmarks_new(ctx, x, NULL, 1, joins->landmarks, 0, &l));
	KDRI_TRY(kdri_landmarks_graph(ctx, x, &l, &o, &g->edges));
	KDRI_TRY(kdri_landmarks_walk_new(ctx, &g->edges.view, &g->walk));
	g->landmarks = true;
done:
	kdri_landmarks_free(ctx, &l);
	return st;
}

static kdr_status join_neighbours(kdr_context *ctx, const kdr_mat *x, const double *mean, bool cosine,
                                  int64_t neighbors, kdri_transfer_graph *g)
{
	kdr_status st;
	int64_t k = KDRI_MIN(neighbors, kdr_mat_rows(x) - 1);
	kdri_knn_shift shift = { 0 };
	kdri_views_task task = { .cosine = cosine };
	kdri_metric metric = cosine ? KDRI_METRIC_COSINE : KDRI_METRIC_EUCLIDEAN;
	int64_t candidates;
	if (mean)
		KDRI_TRY(kdri_knn_shift_new(ctx, x, mean, &shift));
	KDRI_TRY(kdri_knn_search(ctx, x, k, metric, mean ? &shift : NULL, &task.knn, &candidates));
	KDRI_TRY(kdri_views_graph(ctx, &task, k, &g->edges));
done:
	kdri_knn_shift_free(ctx, &shift);
	kdri_knn_free(ctx, &task.knn);
	return st;
}

kdr_status kdri_transfer_graph_new(kdr_context *ctx, const kdr_mat *x, const double *mean, bool cosine,
                                   bool words, const kdri_transfer_joins *joins, kdri_transfer_graph *out)
{
	kdri_transfer_graph g = kdri_transfer_graph_empty();
	kdr_status st = joins->to == KDRI_JOINS_LANDMARKS
	                        ? join_landmarks(ctx, x, mean, cosine, words, joins, &g)
	                        : join_neighbours(ctx, x, mean, cosine, joins->neighbors, &g);
	if (st == KDR_OK)
		*out = g;
	else
		kdri_transfer_graph_free(ctx, &g);
	return st;
}
