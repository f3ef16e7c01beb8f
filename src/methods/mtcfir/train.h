/* The samples a model was made from, kept in it. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_TRAIN_H
#define KDRI_TRAIN_H

#include "api/method.h"
#include "matrix/linalg.h"

/* Stores a sparse matrix as the arrays NAME_rowptr, NAME_col and NAME_val of task t. */
kdr_status kdri_put_csr(kdr_context *ctx, kdr_result *result, const char *name, int64_t t, const kdr_csr *x);

/* Stores the samples of every task in the model. */
kdr_status kdri_train_keep(kdr_context *ctx, const kdr_problem *problem, kdr_result *result);

/* Stacks the samples of tasks first .. first + count - 1 of the model, then x; begin[0..count] are the tasks' first
 * rows, the last one that of x. The contents of the model are checked. */
kdr_status kdri_train_stack(kdr_context *ctx, const kdr_result *fitted, int64_t first, int64_t count,
                            const kdr_mat *x, kdri_own *all, int64_t *begin);

/* The memberships of task t in the model, n x k; an error if their size is wrong. */
kdr_status kdri_train_memberships(kdr_context *ctx, const kdr_result *fitted, int64_t t, int64_t n,
                                  const double **out);

/* For field tables. */
/* clang-format off */
#define KDRI_FIELDS_TRAIN \
	KDRI_ARRAY("train_rowptr", KDR_INT64, "n + 1", \
	           "the samples as a sparse matrix (CSR), if they are sparse: row pointers", \
	           .per_task = true, .in_model = true), \
	KDRI_ARRAY("train_col", KDR_INT64, "entries", \
	           "the samples as a sparse matrix (CSR): columns", .per_task = true, .in_model = true), \
	KDRI_ARRAY("train_val", KDR_FLOAT64, "entries", \
	           "the samples as a sparse matrix (CSR): values", .per_task = true, .in_model = true), \
	KDRI_ARRAY("train_x", KDR_FLOAT64, "n x d", \
	           "the samples, if they are dense", .per_task = true, .in_model = true)
/* clang-format on */

#endif
