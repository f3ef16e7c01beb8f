/* What a method sees of its caller: options in force, the result to fill, its entry in the registry.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_METHOD_H
#define KDRI_METHOD_H

#include "core/internal.h"

/* --- options: options.c -------------------------------------------------------------------- */

/* Return the value of an option by name. The option must exist: a wrong name is a bug, returns 0 and asserts in debug
 * builds. */
int64_t kdri_opt_int(const kdr_options *options, const char *name);
double kdri_opt_real(const kdr_options *options, const char *name);
/* The number for a task, for options of type KDR_OPTION_REALS. */
double kdri_opt_reals(const kdr_options *options, const char *name, int64_t task);
/* Fails if an option has several numbers, but not one per task. kdr_fit calls it. */
kdr_status kdri_options_fit_tasks(kdr_context *ctx, const kdr_options *options, int64_t ntasks);
int kdri_opt_choice(const kdr_options *options, const char *name);
/* What an ensemble sets for a method: a number, or one of the option's choices. A list ends with { 0 }. */
typedef struct kdri_setting {
	const char *name;
	double value;
	const char *choice;
} kdri_setting;
struct kdri_algo;
/* The options of a method, with these settings; NULL: its defaults. */
kdr_status kdri_options_new(kdr_context *ctx, const struct kdri_algo *algo, const kdri_setting *settings,
                            kdr_options **out);
kdr_status kdri_options_apply(kdr_context *ctx, kdr_options *options, const kdri_setting *settings);
const struct kdri_algo *kdri_options_algo(const kdr_options *options);
/* Copies options, including which of them were set. */
kdr_status kdri_options_copy(kdr_context *ctx, const kdr_options *options, kdr_options **out);
/* Whether an option was set, even to its default. False if there is no such option. */
bool kdri_options_is_set(const kdr_options *options, const char *name);
bool kdri_options_has(const kdr_options *options, const char *name);
/* The value of an option that is not KDR_OPTION_REALS from text; false if it is not valid. */
bool kdri_option_read(const kdr_option_desc *option, const char *text, double *value);
/* The error for such a text: it says what is allowed. `before` the name: "option " or "--". */
kdr_status kdri_option_invalid(kdr_context *ctx, const char *before, const kdr_option_desc *option,
                               const char *text);
bool kdri_opt_bool(const kdr_options *options, const char *name);
/* For what a method keeps for other numbers of clusters (matrix/kept.h): a hash of x, the options and the seed. */
uint64_t kdri_options_key(const kdr_context *ctx, const kdr_options *options, const kdr_mat *x);

/* --- tables of options and arrays: one line each, ending with { .name = NULL } ------------------ */

/* The help may be followed by members that few options need: .symbol, .automatic, .open_min, .open_max = ... */
#define KDRI_INT(name, value, low, high, ...) KDRI_OPTION(name, KDR_OPTION_INT, value, low, high, __VA_ARGS__)
#define KDRI_REAL(name, value, low, high, ...) \
	KDRI_OPTION(name, KDR_OPTION_REAL, value, low, high, __VA_ARGS__)
#define KDRI_REALS(name, value, low, high, ...) \
	KDRI_OPTION(name, KDR_OPTION_REALS, value, low, high, __VA_ARGS__)
#define KDRI_BOOL(name, value, ...) KDRI_OPTION(name, KDR_OPTION_BOOL, value, 0, 0, __VA_ARGS__)
#define KDRI_CHOICE(name, value, list, ...) \
	KDRI_OPTION(name, KDR_OPTION_CHOICE, value, 0, 0, __VA_ARGS__, .choices = list)
/* The help may be followed by .per_task, .in_model = true. */
#define KDRI_ARRAY(field, kind, size, ...) \
	{ \
		.name = field, .type = kind, .shape = size, .help = __VA_ARGS__ \
	}

#define KDRI_OPTION(option, kind, value, low, high, ...) \
	{ \
		.name = option, .type = kind, .initial = value, .min = low, .max = high, .help = __VA_ARGS__ \
	}

/* Options that iterative methods share. */
#define KDRI_MAX_ITER(n) KDRI_INT("max_iter", n, 0, 1e9, "maximum number of iterations per run")
#define KDRI_N_INIT(n)   KDRI_INT("n_init", n, 1, 1e6, "number of runs from different starts; the best is kept")
#define KDRI_TOL(v) \
	KDRI_REAL( \
	        "tol", v, 0, 1, \
	        "stop when the objective decreases by less than this fraction; 0: only when nothing changes")

/* --- results: result.c --------------------------------------------------------------------- */

kdr_status kdri_result_new(kdr_context *ctx, const kdr_algo *algo, const kdr_problem *problem,
                           kdr_result **out);
/* Allocates storage for the labels of a task, which the method fills. */
kdr_status kdri_result_labels(kdr_context *ctx, kdr_result *result, int64_t task, int64_t **out);
void kdri_result_set_k(kdr_result *result, int64_t task, int64_t k);
/* Adds a zeroed array with a name from the method's field table; *data points to its storage. */
kdr_status kdri_result_array(kdr_context *ctx, kdr_result *result, const char *name, int64_t task,
                             kdr_dtype type, int ndim, const int64_t *shape, void *data);
kdr_status kdri_result_objective(kdr_context *ctx, kdr_result *result, double value);
void kdri_result_stop(kdr_result *result, kdr_stop stop, int64_t iterations);
kdr_status kdri_result_number(kdr_context *ctx, kdr_result *result, const char *name, double value);
kdr_status kdri_result_text(kdr_context *ctx, kdr_result *result, const char *name, const char *text);
/* The same for one task: "name.TASK" in result.json. */
kdr_status kdri_result_task_number(kdr_context *ctx, kdr_result *result, int64_t task, const char *name,
                                   double value);
kdr_status kdri_result_task_text(kdr_context *ctx, kdr_result *result, int64_t task, const char *name,
                                 const char *text);
kdr_status kdri_result_correspondence(kdr_context *ctx, kdr_result *result, int64_t from, int64_t to,
                                      int64_t rows, int64_t cols, double **matrix);
/* Whether the clusters of data sets a and b are matched in a result. Of more than 100 data sets, only pairs with the first data set
 * and pairs of neighbours are, so that time and result grow with the number of data sets and not with its square. */
enum { KDRI_ALL_PAIRS = 100 };
static inline bool kdri_pair_reported(int64_t ntasks, int64_t a, int64_t b)
{
	return ntasks <= KDRI_ALL_PAIRS || a == 0 || b == 0 || a - b == 1 || b - a == 1;
}
kdr_status kdri_result_relatedness(kdr_context *ctx, kdr_result *result, double **matrix);
/* Values were scaled by 2^-exponent before the fit (magnitude.c); 0: they were not. */
void kdri_result_set_exponent(kdr_result *result, int exponent);
int kdri_result_exponent(const kdr_result *result);
KDR_PRINTF(3, 4)
kdr_status kdri_result_warn(kdr_context *ctx, kdr_result *result, const char *format, ...);

/* The samples that a model keeps of a data set, with their labels (remembered.h); NULL if it keeps none. */
const kdr_data *kdri_result_remembered(const kdr_result *result, int64_t task);

/* --- methods: registry.c ------------------------------------------------------------------- */

typedef struct kdri_algo {
	kdr_algo info;
	kdr_status (*fit)(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
	                  kdr_result *result);
	/* Labels new rows of task `task` from the fitted arrays (those with in_model), found with
	 * kdr_result_array. NULL unless KDR_ALGO_PREDICT. */
	kdr_status (*predict)(kdr_context *ctx, const kdr_result *fitted, const kdr_options *options,
	                      int64_t task, const kdr_mat *x, int64_t *labels);
	/* Shares of the clusters in new rows, of which predict takes the largest: n x *k numbers for the caller to free, which sum to
	 * 1 in each row. *out stays NULL if the model has none. NULL: the method has none. */
	kdr_status (*shares)(kdr_context *ctx, const kdr_result *fitted, int64_t task, const kdr_mat *x,
	                     double **out, int64_t *k);
	bool ranks; /* rows may be held by several processes: comm/comm.h */
} kdri_algo;

const kdri_algo *kdri_algo_find(const char *id);
/* The registry entry that contains a public description. */
static inline const kdri_algo *kdri_algo_of(const kdr_algo *info)
{
	return (const kdri_algo *)info;
}

/* fit.c: kdr_fit with the method that the options belong to. */
kdr_status kdri_fit(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                    kdr_result **out);
/* The same for a member of an ensemble, on data that the ensemble has derived from checked data. Nothing is checked,
 * scaled or copied, and the result has only labels, arrays and numbers. */
kdr_status kdri_fit_member(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                           kdr_result **out);
/* order.c: a problem whose tasks are sorted, for a fit that does not depend on the order of its data sets. */
typedef struct kdri_order {
	kdr_problem problem; /* sorted; its tasks and names are borrowed from the original or from here */
	int64_t *order;      /* the caller's number of each task; NULL: the same */
	int64_t *place;      /* the task with each number of the caller */
	kdr_task *tasks;
	struct kdri_task_result *room; /* for what the result has of each task */
} kdri_order;
/* Sorts the tasks, of the result as well. *out starts as { 0 }; kdri_order_free also after a failure. */
kdr_status kdri_order_find(kdr_context *ctx, const kdr_problem *problem, kdr_result *result, kdri_order *out);
/* Gives what the result has of each task the caller's number again. */
void kdri_order_put_back(const kdri_order *o, kdr_result *result);
void kdri_order_free(kdr_context *ctx, kdri_order *o);
/* The caller's number of task t, for what is reported or known by that number. */
static inline int64_t kdri_caller_task(const kdri_order *o, int64_t t)
{
	return o->order ? o->order[t] : t;
}
/* The task with a number of the caller: what is reported about each task has the caller's order. */
static inline int64_t kdri_task_at(const kdri_order *o, int64_t number)
{
	return o->place ? o->place[number] : number;
}
/* Fails with the message of kdri_unknown_method. It is a macro for the same reason as kdri_fail. */
#define kdri_algo_unknown(ctx, id, family) (kdri_algo_set_unknown((ctx), (id), (family)), KDR_ERR_ARGUMENT)
void kdri_algo_set_unknown(kdr_context *ctx, const char *id, const kdr_family *family);
/* fit.c: fails if rows are on several ranks and the method does not support this; the message lists methods that do. */
kdr_status kdri_check_ranks(kdr_context *ctx, const kdri_algo *algo);
/* Returns KDR_ERR_ARGUMENT if a clustering method cannot form the k clusters of a task from `samples` samples (of all
 * ranks). */
/* Whether a method can compute with the values of a task; `missing`: NaN is allowed. `data`, unless NULL, has its rows, by which errors name
 * them. */
kdr_status kdri_check_entries(kdr_context *ctx, const kdr_algo *algo, const kdr_task *task,
                              const kdr_data *data, bool missing);
kdr_status kdri_check_k(kdr_context *ctx, const kdr_algo *algo, const kdr_task *task, int64_t samples);

/* Returns all numbers of an option and their count, which is 1 except for KDR_OPTION_REALS; NULL and 0 if `name` is
 * unknown. Valid until the option is set again. */
const double *kdri_options_numbers(const kdr_options *options, const char *name, int64_t *count);

/* Returns the method with this name in a family: `auto` is auto among clustering methods and auto-transfer among
 * transfer methods. NULL if there is none. */
const kdr_algo *kdri_algo_find_in(kdr_family family, const char *name);

#endif
