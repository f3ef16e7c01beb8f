/* The data as the members of an ensemble see them. SPDX-License-Identifier: BSD-3-Clause
 *
 *     kdri_views v = { 0 };
 *     KDRI_TRY(kdri_views_new(ctx, problem, &options, &v));      rows, neighbours and graphs
 *     ... k is chosen ...
 *     KDRI_TRY(kdri_views_directions(ctx, &v, k, true));         what needs k
 *     kdr_mat x = kdri_views_of(&v, KDRI_VIEW_LEADING, task);
 *     kdri_views_free(ctx, &v);
 */
#ifndef KDRI_VIEWS_H
#define KDRI_VIEWS_H

#include "engine/graph/landmarks.h"

typedef enum kdri_view {
	KDRI_VIEW_ROWS,    /* the samples, of unit length where the cosine compares them */
	KDRI_VIEW_GRAPH,   /* n x n: the graph of their nearest neighbours; n x m where there are landmarks */
	KDRI_VIEW_PLAIN,   /* n x n, n x m: the same with the mean left in, where both count; else 0 x 0 */
	KDRI_VIEW_LEADING, /* less the task's mean, along its 2 k leading directions */
	KDRI_VIEW_CENTRED, /* less the task's mean, along the leading directions of all tasks, at most 128 */
	KDRI_VIEW_SHARED   /* the same along the first 2 max k of them */
} kdri_view;

typedef enum kdri_choice { KDRI_CHOICE_AUTO, KDRI_CHOICE_YES, KDRI_CHOICE_NO, KDRI_CHOICE_BOTH } kdri_choice;

typedef struct kdri_views_options {
	kdri_choice cosine; /* samples are compared by their cosine; no: by their distance */
	kdri_choice
	        centre; /* the mean of a task is subtracted before its cosines; both: one graph with it, one without; auto: both except for words */
	bool one_graph; /* where both ways would do, the mean is taken away and that is all */
	bool together;  /* choices of all tasks, and views of all of them together; else of each */
	bool by_itself; /* choices of each all the same; those compared differently are then not `together` */
	kdri_choice exact; /* neighbours from all pairs of samples; auto: up to a number of products */
	int64_t neighbors; /* in the graph */
	int64_t searched;  /* neighbours to find, at least `neighbors` */
	int64_t landmarks; /* samples are joined to so many of them (landmarks.h), which is all that rows on several ranks can have;
	                      0: to their neighbours */
	bool if_many; /* tasks whose neighbours can be found exactly are joined to those all the same */
	bool once;    /* equal samples are searched as one, see mend.h */
	bool later;   /* graphs are left to kdri_views_graphs or kdri_views_no_graphs, a task at a time */
} kdri_views_options;

typedef struct kdri_views_task {
	bool cosine, centred;
	kdri_own rows;  /* KDRI_VIEW_ROWS; may borrow from the problem */
	int64_t *first; /* the first sample equal to each, where `once` and two are equal; else NULL */
	kdri_knn knn;   /* `searched` neighbours, nearest first; fewer where there are not so many samples */
	int64_t candidates; /* samples among which they were searched; 0: all, or samples are joined to landmarks */
	bool joined;        /* its rows are joined to landmarks: then there is no knn */
	kdri_landmarks landmarks; /* of a task that is joined, once it has its graph */
	bool has_graph;
	kdri_own graph; /* KDRI_VIEW_GRAPH */
	bool both;      /* the graph with the mean left in counts as well */
	kdri_own plain; /* KDRI_VIEW_PLAIN, where both */
	kdri_own
	        vote; /* the graph that is voted on: the sum of both, each with the same weight; where both */
	double *leading; /* n x width */
	double *spread;  /* width: along each leading direction, before rows are brought to unit length */
	int64_t width;
} kdri_views_task;

typedef struct kdri_views {
	kdri_views_options options; /* together: whether it could be */
	int64_t ntasks, *begin;     /* task t has rows begin[t]..begin[t+1]-1 of what is pooled */
	int64_t *rows;              /* of each task, on all ranks that have some of them between them */
	kdri_views_task *tasks;
	double *mean;             /* of all rows, d numbers; where `together` */
	double *centred, *shared; /* pooled rows x directions, x width; NULL unless `together` */
	int64_t directions, width;
} kdri_views;

/* Stopped early, graphs lack edges. Borrows the problem's matrices. Where ranks have the rows between them (comm/comm.h), what is
 * chosen, means and directions are those of all rows, to rounding, and rows and coordinates those here. */
kdr_status kdri_views_new(kdr_context *ctx, const kdr_problem *problem, const kdri_views_options *options,
                          kdri_views *out);
/* Y = U S of a task less its mean: the 2 k leading directions, fewer where there are no more; rows as they are. */
kdr_status kdri_views_leading(kdr_context *ctx, const kdri_views_task *task, int64_t k, double **out,
                              int64_t *width);
/* The neighbours and graphs of a task whose rows and choices are there. */
kdr_status kdri_views_graphs(kdr_context *ctx, const kdri_views_options *options, kdri_views_task *task);
/* Tiny components of the task's graphs of neighbours are joined to others: mend.h. */
kdr_status kdri_views_join(kdr_context *ctx, kdri_views_task *task, int64_t k);
/* Graphs without edges. */
kdr_status kdri_views_no_graphs(kdr_context *ctx, kdri_views_task *task);
bool kdri_views_has_graph(const kdri_views *views, int64_t task);
/* The views that depend on the numbers of clusters, k[t] of task t: of each, and where they are `together` and `pooled` is
 * wanted of all of them. */
kdr_status kdri_views_directions(kdr_context *ctx, kdri_views *views, const int64_t *k, bool pooled);
void kdri_views_free(kdr_context *ctx, kdri_views *views);
/* All rows, each less its task's mean, along their `count` leading directions: rows x count, to be freed. */
kdr_status kdri_views_pooled(kdr_context *ctx, const kdri_views *views, int64_t count, double **out);

/* The graph that is voted on. */
const kdr_mat *kdri_views_vote(const kdri_views *views, int64_t task);
kdr_mat kdri_views_of(const kdri_views *views, kdri_view view, int64_t task);

/* The rows of x scaled to unit length, or x itself, borrowed, where they are; rows of zeros stay. Borrows x's
 * pattern. */
kdr_status kdri_unit_rows(kdr_context *ctx, const kdr_mat *x, kdri_own *out);

/* A task's rows joined to their nearest landmarks: twice `neighbors` where words are compared, that is by cosine and the mean left in,
 * half as many elsewhere. The mean is taken away before cosines if `centred`. Weights are those below, s_i the distance to the last
 * landmark. All ranks call it. */
kdr_status kdri_views_landmarks(kdr_context *ctx, const kdri_views_task *task, bool centred,
                                int64_t neighbors, kdri_own *out);

/* The neighbour graph of a task with the first `neighbors` of those found: by cosine w_ij = max(cos, 1e-6),
 * by distance w_ij = exp(-|x_i - x_j|^2 / (s_i s_j)), s_i the distance to the last of them. */
kdr_status kdri_views_graph(kdr_context *ctx, const kdri_views_task *task, int64_t neighbors, kdri_own *out);

#endif
