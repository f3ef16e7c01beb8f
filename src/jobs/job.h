/* What the jobs share. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_JOB_H
#define KDRI_JOB_H

#include "api/method.h"
#include "api/result.h"

struct kdri_evidence;
struct kdri_json;

/* --- job.c: method, preprocessing, fit ---------------------------------------------------------- */

typedef struct kdri_job {
	const kdr_job_options *wanted; /* with a prep that is not NULL */
	const kdr_algo *algo;
	kdr_options *options; /* in force: a copy */
	kdr_options *feature_options;
	kdr_recipe recipe; /* kind KDR_DATA_UNKNOWN: not inspected */
	kdr_prep *prep;
	bool encoded; /* data of a table have been encoded: kdri_job_encode */
	kdri_seconds seconds;
	char hint[512]; /* about the preprocessing; "": none */
	const kdr_problem *
	        known; /* borrowed: classes, links, and the labels of tasks, for every fit of this job; NULL: none */
} kdri_job;

/* A caller's options (NULL: the defaults) in this library's size; out->prep is set to `prep`. */
kdr_status kdri_job_take(kdr_context *ctx, const kdr_job_options *given, kdr_job_options *out,
                         kdr_prep_options *prep);
/* Finds the method and copies its options. kdri_job_close also after a failure. */
kdr_status kdri_job_open(kdr_context *ctx, const kdr_job_options *wanted, kdr_family family, kdri_job *out);
void kdri_job_close(kdri_job *job);
/* Returns an error for a method that cannot use learned features. */
kdr_status kdri_features_possible(kdr_context *ctx, const kdr_algo *algo);
/* Returns an error for an operation that needs all rows in one process if there are several. */
kdr_status kdri_job_alone(kdr_context *ctx, const char *what, bool wanted);
/* Sets an option of the method unless the caller has set it or the method does not have it. */
kdr_status kdri_job_set(kdr_context *ctx, kdri_job *job, const char *name, const char *value);
/* Aligns and preprocesses; the first `split` data sets together and the others together, 0: all. */
kdr_status kdri_job_prepare(kdr_context *ctx, kdri_job *job, kdr_data **sets, int64_t count, int64_t split);
/* Weight, norm and scale: as specified, or by a recipe; kdri_recipe_find explains `wide`. */
typedef enum kdri_prep_source {
	KDRI_PREP_SPECIFIED,
	KDRI_PREP_RECIPE,
	KDRI_PREP_WIDE_RECIPE
} kdri_prep_source;
/* The same for jobs without a method. `tables`: tables keep categories and missing values (kdri_table_encode). */
kdr_status kdri_prepare_sets(kdr_context *ctx, kdr_data **sets, int64_t count, int64_t split, bool own,
                             const kdr_prep_options *wanted, kdri_prep_source from, bool tables,
                             kdr_recipe *recipe, kdr_prep **out);
/* The first column with missing values of a table that was read with them, or NULL. */
const kdr_column *kdri_missing_column(const kdr_data *data);
/* Whether the library chooses them. */
bool kdri_prep_chosen(const kdr_prep_options *wanted, kdr_prep_choice choice);
/* After the fit of a table, and before anything that compares samples: kdri_table_encode of all data sets. */
kdr_status kdri_job_encode(kdr_context *ctx, kdri_job *job, kdr_data **sets, int64_t count);
/* joint.c: learns features if requested, fits, and adds the information about the data to the result. `about`: the problem
 * without the tasks. evidence: of auto, what the job knows of each data set alone; NULL: it has not looked. */
kdr_status kdri_job_fit(kdr_context *ctx, kdri_job *job, kdr_task *tasks, kdr_data *const *data,
                        const kdr_problem *about, const struct kdri_evidence *evidence, kdr_result **out);

/* An error if data sets have so many columns that a few numbers for each, and another for each of `k` clusters, do not fit into
 * memory. To be called before anything is allocated per column. */
kdr_status kdri_check_columns(kdr_context *ctx, kdr_data *const *sets, int64_t count, int64_t k);

/* Hands the preprocessing over to the result that is kept, and the seconds. */
void kdri_job_finish(kdri_job *job, kdr_result *result);

/* --- recipe.c ------------------------------------------------------------------------------------ */

/* A column and the standard deviation of its entries. */
typedef struct kdri_spread {
	double deviation;
	int64_t column;
	const char *name; /* borrowed; NULL: columns have none */
} kdri_spread;
/* kdr_recipe_find. wide: more than a few dense columns may be in different units, too (for transfer; clusters are no better for it). */
kdr_status kdri_recipe_find(kdr_context *ctx, kdr_data *const *tasks, int64_t count, bool wide,
                            kdr_recipe *out);
/* Makes it scale table if the data are a table: at most 64 columns, in different units or some of them with two values. */
kdr_status kdri_recipe_table(kdr_context *ctx, kdr_data *const *tasks, int64_t count, kdr_recipe *recipe);
/* Writes a warning if some data sets have whole numbers and others have not, and their kinds differ. */
kdr_status kdri_recipe_mismatch(kdr_context *ctx, kdr_data *const *tasks, int64_t count, char *text,
                                size_t room);
/* Whether data are a few features in different units, according to kdr_recipe_find, and the two that differ most. */
kdr_status kdri_units_mixed(kdr_context *ctx, kdr_data *const *tasks, int64_t count, bool *out,
                            kdri_spread ends[2]);

/* --- score.c ------------------------------------------------------------------------------------- */

/* Ranks whose classes have other numbers, as from files of their own, would take each other's for others: an error. */
kdr_status kdri_job_same_classes(kdr_context *ctx, const kdr_data *data);
/* Numbers the first `classes` classes of `count` data sets, which have one list of classes, in the order in which samples
 * of the first `sources` data sets have them, on all ranks. Ties and random numbers depend on class numbers, so that labels
 * would otherwise depend on the names of the classes wherever these are sorted. */
kdr_status kdri_job_order_classes(kdr_context *ctx, kdr_data *const *sets, int64_t count, int64_t sources,
                                  int64_t classes);
/* Compares the labels of a task with the classes of its data, if both are known. `named`: labels are classes themselves, of
 * which the first `classes` can be right, so that accuracy is the proportion of equal ones; else by the best map. */
kdr_status kdri_job_score(kdr_context *ctx, kdr_result *result, int64_t task, const kdr_data *data,
                          bool named, int64_t classes);

#endif
