/* The samples a model was made from, kept in it. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_TRAIN_H
#define KDRI_TRAIN_H

#include "api/method.h"
#include "matrix/linalg.h"

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
/* clang-format off */
#define KDRI_FIELDS_TRAIN \
	KDRI_ARRAY("train_rowptr", KDR_INT64, "n + 1", \
	           "the task's samples in compressed rows, where they are sparse: starts of rows", \
	           .per_task = true, .in_model = true), \
	KDRI_ARRAY("train_col", KDR_INT64, "entries", \
	           "the task's samples: columns", .per_task = true, .in_model = true), \
	KDRI_ARRAY("train_val", KDR_FLOAT64, "entries", \
	           "the task's samples: values", .per_task = true, .in_model = true), \
	KDRI_ARRAY("train_x", KDR_FLOAT64, "n x d", \
	           "the task's samples, where they are dense", .per_task = true, .in_model = true)
/* clang-format on */

/* Bytes of the samples of x in a model; and the samples of `count` tasks of a model, above the rows of x. */
double kdri_train_bytes(const kdri_extent *x);
kdri_extent kdri_train_extent(const kdr_result *fitted, int64_t count, const kdri_extent *x);

#endif
