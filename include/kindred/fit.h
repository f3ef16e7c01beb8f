/* Problems, fitting, fitted values. SPDX-License-Identifier: BSD-3-Clause
 *
 * kdr_fit runs one method on matrices. kdr_cluster and kdr_transfer (job.h) also preprocess, score and describe. */
#ifndef KINDRED_FIT_H
#define KINDRED_FIT_H

#include "kindred/algorithm.h"
#include "kindred/matrix.h"

/* --- fitting -------------------------------------------------------------------------------------------------------- */

typedef enum kdr_role {
	KDR_ROLE_TASK,   /* to be clustered */
	KDR_ROLE_SOURCE, /* labelled */
	KDR_ROLE_BRIDGE, /* unlabelled, between source and target */
	KDR_ROLE_TARGET  /* to be labelled */
} kdr_role;

/* One data set of a problem. All pointers are borrowed for the duration of the call. Frozen. */
typedef struct kdr_task {
	const char *name; /* may be NULL */
	kdr_role role;
	kdr_mat x;
	int64_t k;           /* number of clusters; 0 with KDR_ALGO_AUTO_K; ignored in transfer */
	const int64_t *init; /* initial labels 0..k-1, one per row, or NULL */
	const int64_t *
	        labels; /* known classes 0..classes-1, -1 if unknown; or NULL. In clustering, for methods with KDR_ALGO_KNOWN:
	                          class c becomes cluster c */
	const double *weights; /* one per row, not negative; NULL: all ones */
} kdr_task;

/* What to fit. */
typedef struct kdr_problem {
	size_t size;
	const kdr_task *tasks;
	int64_t ntasks;
	int64_t classes;                /* number of known classes; in clustering 0, or at most k */
	bool pooled;                    /* stack all data sets into one (methods with KDR_ALGO_POOLED) */
	const char *const *class_names; /* names of the known classes; NULL: they are numbered */
	bool views; /* the first half of the bridges has the sources' features; the second half has the same samples in the
	               targets' features, whatever the numbers of columns */
	/* For methods with KDR_ALGO_TABLES: for each column the category of which it is a level, or -1 for a number. The columns of
	 * a category are adjacent, and each row has a 1 in one of them. NULL: all columns are numbers. */
	const int64_t *category;
} kdr_problem;
KDR_DEFINE_INIT(kdr_problem)

/* Why a fit ended. */
typedef enum kdr_stop {
	KDR_STOP_CONVERGED,
	KDR_STOP_MAX_ITER,
	KDR_STOP_TIME,
	KDR_STOP_CANCELLED,
	KDR_STOP_STALLED
} kdr_stop;
/* Returns a name such as "converged"; never NULL. Cost: O(1). */
KDR_API const char *kdr_stop_name(kdr_stop stop);

typedef struct kdr_result kdr_result;

/* Fits a method. `options` may be NULL: the defaults. Shapes, finiteness, labels and k are checked first. Free *out with
 * kdr_result_free. Cost: depends on the method; 'kindred methods ID' lists its references, docs/scale.md its time and memory. */
KDR_API kdr_status kdr_fit(kdr_context *ctx, const char *algo_id, const kdr_problem *problem,
                           const kdr_options *options, kdr_result **out);
KDR_API void kdr_result_free(kdr_result *result);

/* --- fitted values: each function costs O(1) unless stated otherwise, and its pointers live as long as the result ------- */

KDR_API const kdr_algo *kdr_result_algo(const kdr_result *result);
/* The number of data sets. */
KDR_API int64_t kdr_result_ntasks(const kdr_result *result);
/* The labels of a data set, one per row; NULL if the method does not label it. `n`, unless NULL, gets the number of rows. */
KDR_API const int64_t *kdr_result_labels(const kdr_result *result, int64_t task, int64_t *n);
/* The number of clusters of a data set: as specified, or as found by the method. */
KDR_API int64_t kdr_result_k(const kdr_result *result, int64_t task);
/* Returns the number of cluster `index` (below kdr_result_k) of a data set, by which labels of kdr_cluster and kdr_predict name it: equal numbers
 * mean the same cluster in all data sets, and a cluster without a counterpart has a number of its own. Arrays, sizes and correspondences have
 * clusters by index. -1: there is no such cluster. Cost: O(1). */
KDR_API int64_t kdr_result_number(const kdr_result *result, int64_t task, int64_t index);
/* The objective after each iteration; `n`, unless NULL, gets their number. */
KDR_API const double *kdr_result_objective(const kdr_result *result, int64_t *n);
KDR_API kdr_stop kdr_result_stop(const kdr_result *result);
KDR_API int64_t kdr_result_iterations(const kdr_result *result);
/* Whether the fit ran to its end: it converged, or it made the max_iter rounds of a method with KDR_ALGO_SWEEPS for which no
 * tol was set. */
KDR_EXPERIMENTAL KDR_API bool kdr_result_complete(const kdr_result *result);

/* A named array in C order. Frozen. */
typedef struct kdr_array {
	const char *name;
	int64_t task; /* -1 if it belongs to all data sets */
	kdr_dtype type;
	int ndim;
	int64_t shape[3];
	const void *data;
} kdr_array;
KDR_API int64_t kdr_result_array_count(const kdr_result *result);
/* Array number `index`, from 0; past the last, all zero. */
KDR_API kdr_array kdr_result_array_at(const kdr_result *result, int64_t index);
/* The array with this name and data set; its data are NULL if there is none. Cost: O(arrays). */
KDR_API kdr_array kdr_result_array(const kdr_result *result, const char *name, int64_t task);

/* Named numbers and texts of the method ("method_fields" in result.json). kdr_result_field_at returns the name of number
 * `index`, from 0, NULL past the last, and sets *text, or sets *text to NULL and *number. */
KDR_API int64_t kdr_result_field_count(const kdr_result *result);
KDR_API const char *kdr_result_field_at(const kdr_result *result, int64_t index, double *number,
                                        const char **text);

/* How the clusters of data set `from` (rows) match those of data set `to` (columns). Frozen. */
typedef struct kdr_correspondence {
	int64_t from, to, rows, cols;
	const double *matrix;
	const double *quality; /* one per row: how good its best match is, up to 1; NULL: unknown */
} kdr_correspondence;
KDR_API int64_t kdr_result_correspondence_count(const kdr_result *result);
/* Correspondence number `index`, from 0; past the last, all zero. */
KDR_API kdr_correspondence kdr_result_correspondence_at(const kdr_result *result, int64_t index);

/* How much each data set (row) draws on each other one (column), row-major; NULL if the method does not learn this. */
KDR_API const double *kdr_result_relatedness(const kdr_result *result);

KDR_API int64_t kdr_result_warning_count(const kdr_result *result);
/* Warning number `index`, from 0; NULL past the last. */
KDR_API const char *kdr_result_warning_at(const kdr_result *result, int64_t index);

#endif
