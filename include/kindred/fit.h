/* Problems, fitting, results. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KINDRED_FIT_H
#define KINDRED_FIT_H

#include "kindred/algorithm.h"
#include "kindred/matrix.h"

typedef enum kdr_role {
	KDR_ROLE_TASK,   /* to be clustered */
	KDR_ROLE_SOURCE, /* labelled */
	KDR_ROLE_BRIDGE, /* unlabelled, between source and target */
	KDR_ROLE_TARGET  /* to be labelled */
} kdr_role;

/* One data set, borrowed for the duration of kdr_fit. */
typedef struct kdr_task {
	const char *name;
	kdr_role role;
	kdr_mat x;
	int64_t k;             /* clusters wanted; 0 with KDR_ALGO_AUTO_K; ignored in transfer */
	const int64_t *init;   /* initial labels 0..k-1, one a row, or NULL */
	const int64_t *labels; /* known classes 0..classes-1, -1 where unknown; or NULL */
	const double *weights; /* one a row, >= 0, or NULL for all ones */
} kdr_task;

typedef struct kdr_problem {
	const kdr_task *tasks;
	int64_t ntasks;
	int64_t classes; /* number of known classes; 0 in clustering */
	bool pooled;     /* stack all tasks into one (methods with KDR_ALGO_POOLED) */
	const char *const
	        *class_names; /* of the known classes, for what is said of them; NULL: they are numbered */
	bool views; /* bridges are first views, in the sources' features, then as many second ones of the same
	                         samples, in the targets': these have other features, whatever their numbers of columns */
	/* Of each column, for methods with KDR_ALGO_TABLES: the category it is a level of (columns of one category stand together, and a
	 * row has a 1 in one of them), or -1: a number. NULL: all are numbers. */
	const int64_t *category;
} kdr_problem;

typedef enum kdr_stop {
	KDR_STOP_CONVERGED,
	KDR_STOP_MAX_ITER,
	KDR_STOP_TIME,
	KDR_STOP_CANCELLED,
	KDR_STOP_STALLED
} kdr_stop;
KDR_API const char *kdr_stop_name(kdr_stop stop);

typedef struct kdr_result kdr_result;

/* Fits a method. `options` may be NULL: the defaults. Shapes, finiteness, labels and k are checked
 * here, once. On failure *out is untouched. */
KDR_API kdr_status kdr_fit(kdr_context *ctx, const char *algo_id, const kdr_problem *problem,
                           const kdr_options *options, kdr_result **out);
KDR_API void kdr_result_free(kdr_result *result);

/* Memory that a job needs, counted from the arrays it allocates; right to a factor of 1.5 on data of some size. */
typedef struct kdr_estimate {
	double bytes;      /* at the peak: the data, and what the job allocates; not the program itself */
	double data_bytes; /* of these: the data, if they are in memory */
} kdr_estimate;
/* A data set by its size. */
typedef struct kdr_task_shape {
	int64_t rows, cols;
	int64_t entries; /* stored, where it is sparse */
	bool dense;
	bool streamed; /* it stays on disk: kdr_stream */
	int64_t k;     /* 0: the method finds it; ignored in transfer */
	kdr_role role;
} kdr_task_shape;
/* What kdr_fit needs for tasks of these sizes. `options` may be NULL: the defaults. */
KDR_API kdr_status kdr_estimate_bytes(kdr_context *ctx, const char *algo_id, const kdr_task_shape *tasks,
                                      int64_t ntasks, int64_t classes, bool pooled,
                                      const kdr_options *options, kdr_estimate *out);

KDR_API const kdr_algo *kdr_result_algo(const kdr_result *result);
KDR_API int64_t kdr_result_ntasks(const kdr_result *result);
/* Labels of a task, one a row; NULL for tasks the method does not label. */
KDR_API const int64_t *kdr_result_labels(const kdr_result *result, int64_t task, int64_t *n);
/* Clusters of a task: what was asked for, or what the method settled on. */
KDR_API int64_t kdr_result_k(const kdr_result *result, int64_t task);
KDR_API const double *kdr_result_objective(const kdr_result *result, int64_t *n);
KDR_API kdr_stop kdr_result_stop(const kdr_result *result);
KDR_API int64_t kdr_result_iterations(const kdr_result *result);
/* Whether the fit did what it was to do: it converged, or the method makes max_iter rounds as a rule (KDR_ALGO_SWEEPS), no tol was
 * set, and it made them. */
KDR_EXPERIMENTAL KDR_API bool kdr_result_complete(const kdr_result *result);

/* A named array, C order. `task` is -1 where it belongs to all. */
typedef struct kdr_array {
	const char *name;
	int64_t task;
	kdr_dtype type;
	int ndim;
	int64_t shape[3];
	const void *data;
} kdr_array;
KDR_API int64_t kdr_result_array_count(const kdr_result *result);
KDR_API kdr_array kdr_result_array_at(const kdr_result *result, int64_t index);
/* The array of that name and task; its data are NULL if there is none. */
KDR_API kdr_array kdr_result_array(const kdr_result *result, const char *name, int64_t task);

/* Named numbers and texts (method_fields in result.json): exactly one of *number, *text is set. */
KDR_API int64_t kdr_result_field_count(const kdr_result *result);
KDR_API const char *kdr_result_field_at(const kdr_result *result, int64_t index, double *number,
                                        const char **text);

/* Clusters of task `from` (rows) matched with those of task `to` (columns). */
typedef struct kdr_correspondence {
	int64_t from, to, rows, cols;
	const double *matrix;
	const double *quality; /* one a row: how good its best match is, up to 1; NULL: not known */
} kdr_correspondence;
KDR_API int64_t kdr_result_correspondence_count(const kdr_result *result);
KDR_API kdr_correspondence kdr_result_correspondence_at(const kdr_result *result, int64_t index);

/* tasks x tasks, row major, or NULL where the method learns none. */
KDR_API const double *kdr_result_relatedness(const kdr_result *result);

KDR_API int64_t kdr_result_warning_count(const kdr_result *result);
KDR_API const char *kdr_result_warning_at(const kdr_result *result, int64_t index);

#endif
