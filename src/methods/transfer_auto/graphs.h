/* The graphs of a transfer's samples. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_TRANSFER_GRAPHS_H
#define KDRI_TRANSFER_GRAPHS_H

#include "engine/graph/landmarks.h"

/* What samples are joined to. */
typedef struct kdri_transfer_joins {
	kdri_joins to;     /* auto: landmarks if there are too many samples for an exact neighbour search */
	int64_t neighbors; /* number of neighbours; with landmarks, twice as many for words and half as many for
			      other data */
	int64_t landmarks;
} kdri_transfer_joins;

typedef struct kdri_transfer_graph {
	kdri_own edges;           /* n x n: near rows; n x m: near landmarks */
	bool landmarks;           /* the latter */
	kdri_landmarks_walk walk; /* of it */
} kdri_transfer_graph;

kdri_transfer_graph kdri_transfer_graph_empty(void);
void kdri_transfer_graph_free(kdr_context *ctx, kdri_transfer_graph *g);
/* W, of rows that are joined; borrows the graph, which must stay where it is. */
kdri_op kdri_transfer_graph_op(const kdri_transfer_graph *g);

/* By cosine, after subtracting `mean` unless it is NULL, or by distance. words: rows are compared without centring. If
 * stopped early, edges are missing. */
kdr_status kdri_transfer_graph_new(kdr_context *ctx, const kdr_mat *x, const double *mean, bool cosine,
                                   bool words, const kdri_transfer_joins *joins, kdri_transfer_graph *out);

#endif
