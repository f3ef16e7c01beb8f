/* A model in memory, and the names that its file uses. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_MODEL_H
#define KDRI_MODEL_H

#include "api/method.h"

#define KDRI_MODEL_FORMAT "kindred model"
enum { KDRI_MODEL_VERSION = 1, KDRI_MODEL_TASKS_MOST = 1 << 20 };

struct kdr_model {
	kdr_allocator allocator;
	bool borrowed; /* everything except the list of names belongs to a result */
	const kdri_algo *algo;
	kdr_result *fitted; /* the arrays predict needs, and each task's k */
	kdr_options *options;
	kdr_prep *prep; /* NULL: none */
	int64_t ntasks;
	char **task_names;
	int64_t ncolumns; /* after preprocessing; 0: unknown */
	char **features;  /* ncolumns names, or NULL */
	char **classes;
	int64_t nclasses;
};

/* Whether the method can label new samples with these options; `what` begins the error. */
kdr_status kdri_model_possible(kdr_context *ctx, const kdr_options *options, const char *what);
/* Whether a model can be made of a result; `what` begins the error. */
kdr_status kdri_model_check(kdr_context *ctx, const kdr_result *result, const char *what);

int64_t kdri_model_k(const kdr_model *model, int64_t task);

/* Labels the rows of `data` as samples of task `task`, after the model's own preprocessing, which changes `data`.
 * `labels` has one entry per row. kdr_predict calls this. */
kdr_status kdri_model_apply(kdr_context *ctx, const kdr_model *model, int64_t task, kdr_data *data,
                            int64_t *labels);

#endif
