/* Two-dimensional maps of the samples of related tasks. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_EMBED_H
#define KDRI_EMBED_H

#include "engine/graph/views.h"

/* Computes two numbers for each row of each task: xy[t] has room for 2 x rows of x[t]. Tasks of equal width share axes;
 * others have their own. If stopped early, it gives the layout reached so far. */
kdr_status kdri_embed(kdr_context *ctx, const kdr_mat *x, int64_t count, const kdr_embed_options *options,
                      double *const *xy);

/* The initial coordinates of the map of several tasks of equal width: all rows in order of tasks, each minus its task's
 * mean, along at most 20 leading directions of all; scaled to unit length if samples are compared by cosine. Free *out. */
kdr_status kdri_embed_shared(kdr_context *ctx, const kdr_mat *x, int64_t count, double **out, int64_t *width);

/* --- links.c: who attracts whom --------------------------------------------------------------- */

/* The neighbours of a task's samples as a graph with weights 1. Samples without a direction, which have no neighbours by
 * cosine, are neighbours of each other. */
kdr_status kdri_embed_graph(kdr_context *ctx, const kdri_views_task *task, kdri_own *out);

/* Samples of different tasks that choose each other: rows of `shared` (all samples, `width` numbers per row) in order
 * of tasks. Over all samples, symmetric, without weights. */
kdr_status kdri_embed_anchors(kdr_context *ctx, const kdri_views *views, const double *shared, int64_t width,
                              kdri_own *out);

/* --- forces.c: the layout ------------------------------------------------------------------------ */

typedef struct kdri_forces {
	int64_t ntasks;
	const int64_t *begin;   /* task t has points begin[t] .. begin[t + 1] - 1 */
	const kdr_csr *graphs;  /* of each task */
	const kdr_csr *anchors; /* between tasks; NULL: none */
	int64_t sweeps;         /* 0: by the number of points */
} kdri_forces;

/* y: x and y of each point, the start, then the layout. */
kdr_status kdri_forces_run(kdr_context *ctx, const kdri_forces *forces, double *y);

#endif
