/* Clusters of one task from the similarities of its samples. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_SNMF_TASK_H
#define KDRI_SNMF_TASK_H

#include "api/method.h"
#include "methods/common/tasks.h"
#include "methods/mtcfir/cosines.h"

extern const char *const kdri_final_names[];
typedef enum kdri_final { KDRI_FINAL_SNMF, KDRI_FINAL_NCUT } kdri_final;

/* Exactly one of `sparse`, `dense` and `cosines` is set: symmetric, entries >= 0. */
typedef struct kdri_snmf_task {
	int64_t task, k;
	const char *name;
	kdri_device *dev;      /* device on which it is factorised */
	const kdr_mat *sparse; /* of the host */
	const kdri_block *dense;
	const kdri_cosines *cosines; /* only for final=snmf */
	const int64_t *starts;       /* runs x n labels */
	int64_t runs;
	bool apart; /* each start gives a task, from `task` on; only for final=snmf. Otherwise the best
		       is kept */
	bool given; /* the start was given by the user */
	const kdr_options *options;
	const char *stage;
} kdri_snmf_task;

/* `runs` starts of n labels each, by k-means on the full Gram matrix. Duplicate starts are dropped, so that fewer may
 * remain: *found. */
kdr_status kdri_snmf_starts(kdr_context *ctx, kdri_block gram, int64_t k, int64_t runs, int64_t task,
                            int64_t *starts, int64_t *found);

/* Stores labels, memberships (or embedding) and trace of the task in `result`. traces[0], or with `apart` one per start:
 * their values belong to `result`. */
kdr_status kdri_snmf_task_run(kdr_context *ctx, const kdri_snmf_task *task, kdr_result *result,
                              kdri_trace *traces);

/* For a task that was not clustered before it was time to stop: `labels`, or, if NULL, the initial labels of the task or those of
 * k-means, which is quick, with memberships of 1. */
kdr_status kdri_snmf_give_up(kdr_context *ctx, const kdr_problem *problem, int64_t task,
                             const int64_t *labels, kdr_result *result);
/* The warning for `count` of these tasks; none for 0. */
kdr_status kdri_snmf_warn_given_up(kdr_context *ctx, const kdr_problem *problem, int64_t count,
                                   kdr_result *result);

/* For option and field tables. */
#define KDRI_OPTION_FINAL \
	KDRI_CHOICE( \
	        "final", KDRI_FINAL_SNMF, kdri_final_names, \
	        "how clusters are found from the similarities: symmetric non-negative factorisation, or the normalised cut, which is often better for sparse similarities")
/* clang-format off */
#define KDRI_FIELDS_FINAL \
	KDRI_ARRAY("memberships", KDR_FLOAT64, "n x k", \
	           "Y: membership of each sample in each cluster; one-hot with final=ncut", \
	           .per_task = true, .scoring = KDR_SCORING_SHARES, .in_model = true), \
	KDRI_ARRAY("trace", KDR_FLOAT64, "iterations", \
	           "objective of the data set after each iteration of the best run", .per_task = true), \
	KDRI_ARRAY("embedding", KDR_FLOAT64, "n x vectors", \
	           "rows of the k leading eigenvectors, scaled to length 1; final=ncut only", .per_task = true), \
	KDRI_ARRAY("eigenvalues", KDR_FLOAT64, "vectors", \
	           "k leading eigenvalues of the normalised similarities; final=ncut only", .per_task = true)
/* clang-format on */

#endif
