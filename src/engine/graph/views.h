/* The data in the forms that the members of an ensemble use. SPDX-License-Identifier: BSD-3-Clause
 *
 *     kdri_views v = { 0 };
 *     KDRI_TRY(kdri_views_new(ctx, problem, &options, &v));      rows, neighbours and graphs
 *     ... k is chosen ...
 *     KDRI_TRY(kdri_views_directions(ctx, &v, k, true));         what needs k
 *     kdr_mat x = kdri_views_of(&v, KDRI_VIEW_LEADING, task);
 *     kdri_views_free(ctx, &v); */
#ifndef KDRI_VIEWS_H
#define KDRI_VIEWS_H

#include "engine/graph/landmarks.h"

typedef enum kdri_view {
	KDRI_VIEW_ROWS, /* the samples, scaled to unit length if they are compared by cosine */
	KDRI_VIEW_OWN, /* the same; of few sparse samples without the columns that are empty, if half of them are */
	KDRI_VIEW_GRAPH, /* n x n: the graph of their nearest neighbours; n x m with landmarks */
	KDRI_VIEW_PLAIN, /* n x n, n x m: the same without centring, if both graphs are used; otherwise 0 x 0 */
	KDRI_VIEW_LEADING, /* minus the task's mean, along its 2 k leading directions */
	KDRI_VIEW_CENTRED, /* minus the task's mean, along the leading directions of all tasks, at most 128 */
	KDRI_VIEW_SHARED   /* the same along the first 2 max k of them */
} kdri_view;

typedef enum kdri_choice { KDRI_CHOICE_AUTO, KDRI_CHOICE_YES, KDRI_CHOICE_NO, KDRI_CHOICE_BOTH } kdri_choice;

/* Samples for which it pays to store the data in other ways. */
enum { KDRI_VIEWS_FEW = 1000 };

typedef struct kdri_views_options {
	kdri_choice cosine; /* samples are compared by their cosine; no: by their distance */
	kdri_choice
	        centre; /* the mean of a task is subtracted before its cosines; both: one graph with it, one without; auto: both except for words */
	bool one_graph; /* if both ways are possible, only the centred one is used */
	bool together;  /* choices for all tasks, and views of all tasks together; false: separately */
	bool by_itself; /* choices for each task all the same; tasks that are compared differently are then not
			   `together` */
	kdri_choice exact; /* neighbours from all pairs of samples; auto: up to a number of products */
	int64_t neighbors; /* in the graph */
	int64_t searched;  /* neighbours to find, at least `neighbors` */
	int64_t landmarks; /* number of landmarks that samples are joined to (landmarks.h), the only graph for rows
			      on several ranks; 0: samples are joined to their neighbours */
	bool if_many;      /* tasks whose neighbours can be found exactly are joined to those all the same */
	bool once;         /* equal samples are searched as one, see similarity.h */
	const bool *given; /* ntasks: tasks without graphs and leading directions of their own; NULL: none */
	bool later; /* graphs are made later, by kdri_views_graphs or kdri_views_no_graphs for each task */
} kdri_views_options;

typedef struct kdri_views_task {
	bool cosine, centred;
	bool sparse; /* in memory, and fewer than a tenth of the entries are not 0, however they are stored */
	kdri_own rows; /* KDRI_VIEW_ROWS; may borrow from the problem */
	kdri_own own;  /* KDRI_VIEW_OWN; may borrow from rows */
	int64_t *
	        first; /* the first sample equal to each, if `once` is set and two are equal; otherwise NULL */
	kdri_knn knn;  /* `searched` neighbours, nearest first; fewer if there are not as many samples */
	int64_t candidates; /* samples among which they were searched; 0: all, or samples are joined to landmarks */
	bool joined;        /* its rows are joined to landmarks, and there is no knn */
	kdri_landmarks landmarks; /* for landmarks, once the graph is made */
	bool has_graph;
	kdri_own graph;  /* KDRI_VIEW_GRAPH */
	bool both;       /* the graph without centring is used as well */
	kdri_own plain;  /* KDRI_VIEW_PLAIN, where both */
	kdri_own vote;   /* the graph of the vote if both are used: the sum of both, with equal weights */
	double *leading; /* n x width */
	double *spread;  /* width: along each leading direction, before rows are scaled to unit length */
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

/* If stopped early, graphs have fewer edges. Borrows the problem's matrices. If rows are distributed over ranks
 * (comm/comm.h), choices, means and directions are those of all rows, up to rounding, and rows and coordinates those of
 * this rank. */
kdr_status kdri_views_new(kdr_context *ctx, const kdr_problem *problem, const kdri_views_options *options,
                          kdri_views *out);
/* Y = U S of a task minus its mean: the 2 k leading directions, fewer if there are not as many; rows are not scaled. */
kdr_status kdri_views_leading(kdr_context *ctx, const kdri_views_task *task, int64_t k, double **out,
                              int64_t *width);
/* Finds the neighbours and graphs of a task whose rows and choices are set. */
kdr_status kdri_views_graphs(kdr_context *ctx, const kdri_views_options *options, kdri_views_task *task);
/* Tiny components of the task's graphs of neighbours are joined to others: similarity.h. */
kdr_status kdri_views_join(kdr_context *ctx, kdri_views_task *task, int64_t k);
/* Graphs without edges. */
kdr_status kdri_views_no_graphs(kdr_context *ctx, kdri_views_task *task);
bool kdri_views_has_graph(const kdri_views *views, int64_t task);
/* The views that depend on the numbers of clusters, k[t] of task t: of each task and, if `together` and `pooled`, of all
 * tasks. */
kdr_status kdri_views_directions(kdr_context *ctx, kdri_views *views, const int64_t *k, bool pooled);
void kdri_views_free(kdr_context *ctx, kdri_views *views);
/* All rows, each minus its task's mean, along their `count` leading directions: rows x count; free it. */
kdr_status kdri_views_pooled(kdr_context *ctx, const kdri_views *views, int64_t count, double **out);

/* The graph of the vote. */
const kdr_mat *kdri_views_vote(const kdri_views *views, int64_t task);
kdr_mat kdri_views_of(const kdri_views *views, kdri_view view, int64_t task);

/* The rows of x scaled to unit length, or x itself, borrowed, if they have unit length; rows of zeros stay. Borrows x's
 * pattern. */
kdr_status kdri_unit_rows(kdr_context *ctx, const kdr_mat *x, kdri_own *out);

/* Joins a task's rows to their nearest landmarks: twice `neighbors` of them for words (cosine without centring), half as
 * many for other data. The mean is subtracted before cosines if `centred`. Weights are those below, s_i the distance to
 * the last landmark. All ranks call it. */
kdr_status kdri_views_landmarks(kdr_context *ctx, const kdri_views_task *task, bool centred,
                                int64_t neighbors, kdri_own *out);

/* The neighbour graph of a task with the first `neighbors` of those found: by cosine w_ij = max(cos, 1e-6),
 * by distance w_ij = exp(-|x_i - x_j|^2 / (s_i s_j)), s_i the distance to the last of them. */
kdr_status kdri_views_graph(kdr_context *ctx, const kdri_views_task *task, int64_t neighbors, kdri_own *out);

#endif
