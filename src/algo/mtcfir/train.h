/* The samples a model was made from, kept in it. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_TRAIN_H
#define KDRI_TRAIN_H

#include "linalg/linalg.h"

/* A sparse matrix into the arrays NAME_rowptr, NAME_col and NAME_val of task t. */
kdr_status kdri_put_csr(kdr_context *ctx, kdr_result *result, const char *name, int64_t t, const kdr_csr *x);

/* The samples of every task go into the model. */
kdr_status kdri_train_keep(kdr_context *ctx, const kdr_problem *problem, kdr_result *result);

/* The samples of tasks first .. first + count - 1 from the model, then x, below each other; begin[0..count] are
 * the tasks' first rows, the last one that of x. What the model holds is checked. */
kdr_status kdri_train_stack(kdr_context *ctx, const kdr_result *fitted, int64_t first, int64_t count,
                            const kdr_mat *x, kdri_own *all, int64_t *begin);

/* Task t's memberships from the model, n x k as the task has it; else an error. */
kdr_status kdri_train_memberships(kdr_context *ctx, const kdr_result *fitted, int64_t t, int64_t n,
                                  const double **out);

/* For field tables. */
#define KDRI_FIELDS_TRAIN \
	{ .name = "train_rowptr", \
	  .type = KDR_INT64, \
	  .per_task = true, \
	  .in_model = true, \
	  .shape = "n + 1", \
	  .help = "the task's samples in compressed rows, where they are sparse: starts of rows" }, \
	        { .name = "train_col", \
		  .type = KDR_INT64, \
		  .per_task = true, \
		  .in_model = true, \
		  .shape = "entries", \
		  .help = "the task's samples: columns" }, \
	        { .name = "train_val", \
		  .type = KDR_FLOAT64, \
		  .per_task = true, \
		  .in_model = true, \
		  .shape = "entries", \
		  .help = "the task's samples: values" }, \
	{ \
		.name = "train_x", .type = KDR_FLOAT64, .per_task = true, .in_model = true, \
		.shape = "n x d", .help = "the task's samples, where they are dense" \
	}

#endif
