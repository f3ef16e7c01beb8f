/* Several tasks as one matrix. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_TASKS_H
#define KDRI_TASKS_H

#include "api/method.h"
#include "core/classes.h"
#include "engine/kmeans/kmeans.h"
#include "matrix/linalg.h"

/* Tasks below each other; a single one is borrowed, not copied. Task t has rows begin[t]..begin[t+1]-1. */
typedef struct kdri_stack {
	kdr_mat x;
	kdri_own own;
	int64_t ntasks, *begin;
} kdri_stack;

kdr_status kdri_stack_new(kdr_context *ctx, const kdr_problem *problem, kdri_stack *out);
void kdri_stack_free(kdr_context *ctx, kdri_stack *stack);

/* The initial labels of all tasks in one array, or NULL in *out if no task has any. Labels for only some of the tasks
 * are an error. */
kdr_status kdri_stack_init(kdr_context *ctx, const kdr_problem *problem, const kdri_stack *stack,
                           int64_t **out);

/* Adds a value to a trace of *iterations values, which has room for *room. */
kdr_status kdri_trace_push(kdr_context *ctx, double **trace, int64_t *iterations, int64_t *room,
                           double value);

/* The objective of one run at its start and after each iteration. */
typedef struct kdri_trace {
	double start;
	const double *values;
	int64_t iterations;
	kdr_stop stop;
	int64_t step; /* from one iteration's value to the next */
} kdri_trace;

/* Stores the sum of the traces as the result's objective (a run that has ended keeps its last value), the sum of the
 * starts as objective_start, and the most severe reason to stop. */
kdr_status kdri_put_traces(kdr_context *ctx, const kdri_trace *traces, int64_t count, kdr_result *result);

/* Cluster j of a task is cluster j of every other: identity matrices between all pairs of tasks. */
kdr_status kdri_put_same_clusters(kdr_context *ctx, int64_t ntasks, int64_t k, kdr_result *result);

/* A method that runs on each task separately, or on all of them stacked (problem->pooled). */
typedef struct kdri_runner {
	size_t size; /* size of the result of one run, which is zeroed before */
	kdr_status (*run)(kdr_context *ctx, const kdr_mat *x, int64_t k, const int64_t *init, uint64_t index,
	                  const kdr_options *options, void *left);
	kdri_trace (*trace)(const void *left);
	/* Reports on an entire run. */
	kdr_status (*report)(kdr_context *ctx, const void *left, const kdr_options *options,
	                     kdr_result *result);
	/* Labels and arrays of task t, which has rows begin.. of the run. */
	kdr_status (*put)(kdr_context *ctx, const kdr_problem *problem, const void *left, int64_t t,
	                  int64_t begin, kdr_result *result);
	void (*release)(kdr_context *ctx, void *left); /* also accepts the result of a failed run */
} kdri_runner;

/* All runs and their results. */
kdr_status kdri_run_tasks(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                          const kdri_runner *how, kdr_result *result);

/* k-means that follows known classes. */

/* Changes the result of kdri_kmeans on x so that it follows what is known: class c is cluster c, known samples keep their class,
 * groups are in one cluster and samples that must not be together are apart if possible. Labels, centres, objective and trace are
 * those of the constrained clustering. */
kdr_status kdri_constrain(kdr_context *ctx, const kdr_mat *x, const double *weights,
                          const kdri_kmeans_options *options, const kdri_known_classes *known,
                          kdri_kmeans_result *result);

#endif
