/* What the parts of methods take: time in units of work, memory in bytes. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_COST_H
#define KDRI_COST_H

#include "api/method.h"

/* A matrix by its sizes. */
typedef struct kdri_extent {
	double n, d, entries; /* entries stored: n d where it is dense */
	bool dense, streamed; /* streamed: on disk, and copies of it as well */
	double common;        /* kdri_sizes.common */
} kdri_extent;
kdri_extent kdri_extent_dense(double n, double d);
/* Of one task; of all tasks, one below the other; of those of one role. */
kdri_extent kdri_extent_of(const kdr_task_shape *task);
kdri_extent kdri_extent_all(const kdri_sizes *s);
kdri_extent kdri_extent_role(const kdri_sizes *s, kdr_role role);
double kdri_extent_bytes(const kdri_extent *x); /* of memory, as a copy takes them */

/* What methods of tasks by themselves go through: the tasks, or where they are pooled all of them as one. */
int64_t kdri_sizes_parts(const kdri_sizes *s);
kdri_extent kdri_sizes_part(const kdri_sizes *s, int64_t i, double *k);
/* The largest k, or the number of classes; where k is to be found, what is usual. */
double kdri_sizes_k(const kdri_sizes *s);
/* The same, with the copy that pooling makes and the labels of the result. */
void kdri_cost_start(const kdri_sizes *s, kdri_cost *c);

/* Memory taken, and given back. */
void kdri_cost_hold(kdri_cost *c, double bytes);
void kdri_cost_drop(kdri_cost *c, double bytes);

/* So many products of x with a block of columns, or of its transpose. */
void kdri_cost_pass(kdri_cost *c, const kdri_extent *x, double columns, double times);
/* Multiply-adds of indexed entries, each with a place in a table of so many bytes. */
void kdri_cost_fetch(kdri_cost *c, double multiply_adds, double table);
/* Dense multiply-adds in large products; an eigenproblem of that side. */
void kdri_cost_product(kdri_cost *c, double multiply_adds);
void kdri_cost_eigen(kdri_cost *c, double side);
/* How many times as many iterations as usual a sample of the data took; 1 where nobody tried. Many rows settle less unlike each
 * other than few. */
double kdri_cost_slower(const kdri_cost *c, bool dense);
/* `runs` runs of k-means to the end, at most `most` iterations each. */
void kdri_cost_kmeans(kdri_cost *c, const kdri_extent *x, double k, double runs, double most);
/* The products of all pairs of rows, or of a share of the pairs. */
void kdri_cost_pairs(kdri_cost *c, const kdri_extent *x, double share);
/* So many products of the cosines of sparse rows with a block of columns; they are not formed: rows and columns in turn. */
void kdri_cost_cosines(kdri_cost *c, const kdri_extent *x, double columns, double times);
/* A graph of so many neighbours of each row, which stays: exact where it takes at most so many multiplications of dense
 * rows, or of sparse ones as many as knn_search.c and, if there may be more, views_graphs.c say; and so many of its leading eigenvectors, which stay too. */
#define KDRI_COST_SEARCH 1e11 /* of knn_search.c */
void kdri_cost_graph(kdri_cost *c, const kdri_extent *x, double neighbours, double most);
bool kdri_cost_graph_exact(const kdri_extent *x, double most);
double kdri_cost_spectrum_bytes(double n, double vectors); /* while they are sought */
void kdri_cost_spectrum(kdri_cost *c, double n, double neighbours, double vectors);
/* Rows joined to r of so many landmarks, edges which stay; and leading eigenvectors of such a graph, which stay too. */
void kdri_cost_landmarks(kdri_cost *c, const kdri_extent *x, double landmarks, double r);
void kdri_cost_landmarks_spectrum(kdri_cost *c, double n, double landmarks, double r, double vectors);
/* A linear classifier of so many outputs, by Newton's method. */
void kdri_cost_linear(kdri_cost *c, const kdri_extent *x, double outputs, double times);
/* So many leading directions of x by random projections: d x r and n x r, which stay. */
void kdri_cost_directions(kdri_cost *c, const kdri_extent *x, double r);

#endif
