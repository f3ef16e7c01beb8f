/* What a method sees of its caller: options in force, the result to fill, its entry in the registry.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_METHOD_H
#define KDRI_METHOD_H

#include "core/internal.h"

/* --- options: options.c -------------------------------------------------------------------- */

/* By name, of options that exist (a wrong name is a bug: returns 0 and asserts in debug builds). */
int64_t kdri_opt_int(const kdr_options *options, const char *name);
double kdri_opt_real(const kdr_options *options, const char *name);
/* Of KDR_OPTION_REALS: the number for a task. */
double kdri_opt_reals(const kdr_options *options, const char *name, int64_t task);
/* An error where an option has several numbers, but not one for each task. kdr_fit has seen to it. */
kdr_status kdri_options_fit_tasks(kdr_context *ctx, const kdr_options *options, int64_t ntasks);
int kdri_opt_choice(const kdr_options *options, const char *name);
bool kdri_opt_bool(const kdr_options *options, const char *name);
/* The end of every option table. */
#define KDRI_OPTIONS_END \
	{ \
		.name = NULL \
	}
/* Options all iterative methods share, to be listed in their tables. */
#define KDRI_OPTION_MAX_ITER(n) \
	{ \
		.name = "max_iter", .type = KDR_OPTION_INT, .initial = (n), .min = 0, .max = 1e9, \
		.help = "most iterations of one run" \
	}
#define KDRI_OPTION_TOL(v) \
	{ \
		.name = "tol", .type = KDR_OPTION_REAL, .initial = (v), .min = 0, .max = 1, \
		.help = "stop when the objective falls by less than this share; 0: only when nothing changes" \
	}
#define KDRI_OPTION_N_INIT(n) \
	{ \
		.name = "n_init", .type = KDR_OPTION_INT, .initial = (n), .min = 1, .max = 1e6, \
		.help = "runs from different starts; the best is kept" \
	}

/* --- results: result.c --------------------------------------------------------------------- */

kdr_status kdri_result_new(kdr_context *ctx, const kdr_algo *algo, const kdr_problem *problem,
                           kdr_result **out);
/* Storage for the labels of a task; filled by the method. */
kdr_status kdri_result_labels(kdr_context *ctx, kdr_result *result, int64_t task, int64_t **out);
void kdri_result_set_k(kdr_result *result, int64_t task, int64_t k);
/* A new zeroed array of the name given in the method's field table; *data points to its storage. */
kdr_status kdri_result_array(kdr_context *ctx, kdr_result *result, const char *name, int64_t task,
                             kdr_dtype type, int ndim, const int64_t *shape, void *data);
kdr_status kdri_result_objective(kdr_context *ctx, kdr_result *result, double value);
void kdri_result_stop(kdr_result *result, kdr_stop stop, int64_t iterations);
kdr_status kdri_result_number(kdr_context *ctx, kdr_result *result, const char *name, double value);
kdr_status kdri_result_text(kdr_context *ctx, kdr_result *result, const char *name, const char *text);
kdr_status kdri_result_correspondence(kdr_context *ctx, kdr_result *result, int64_t from, int64_t to,
                                      int64_t rows, int64_t cols, double **matrix);
kdr_status kdri_result_relatedness(kdr_context *ctx, kdr_result *result, double **matrix);
KDR_PRINTF(3, 4)
kdr_status kdri_result_warn(kdr_context *ctx, kdr_result *result, const char *format, ...);

/* --- methods: registry.c ------------------------------------------------------------------- */

typedef struct kdri_algo {
	kdr_algo info;
	kdr_status (*fit)(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
	                  kdr_result *result);
	/* Labels new rows of task `task` from the fitted arrays (those with in_model), found with
	 * kdr_result_array. NULL unless KDR_ALGO_PREDICT. */
	kdr_status (*predict)(kdr_context *ctx, const kdr_result *fitted, const kdr_options *options,
	                      int64_t task, const kdr_mat *x, int64_t *labels);
} kdri_algo;

const kdri_algo *kdri_algo_find(const char *id);

#endif
