/* What the jobs share. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_JOB_H
#define KDRI_JOB_H

#include "api/method.h"
#include "api/result.h"

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
/* Learns features if requested, fits, and adds the information about the data to the result. `about`: the problem
 * without the tasks. */
kdr_status kdri_job_fit(kdr_context *ctx, kdri_job *job, kdr_task *tasks, kdr_data *const *data,
                        const kdr_problem *about, kdr_result **out);

/* An error if data sets have so many columns that a few numbers for each, and another for each of `k` clusters, do not fit into
 * memory. To be called before anything is allocated per column. */
kdr_status kdri_check_columns(kdr_context *ctx, kdr_data *const *sets, int64_t count, int64_t k);

/* overlap.c: an error if a target has almost nothing in common with the sources. */
kdr_status kdri_check_overlap(kdr_context *ctx, kdr_data *const *sources, int64_t nsources,
                              kdr_data *const *targets, int64_t ntargets, kdr_align align);

/* bridge_recovery.c: the proportion of the sources' labelled samples that get their own class when the predictions for task
 * `target` are transferred back through the bridge; NaN if this is impossible. */
kdr_status kdri_bridge_recovery(kdr_context *ctx, const kdr_algo *method, const kdr_task *tasks,
                                int64_t count, int64_t target, int64_t classes, const int64_t *answer,
                                double *out);

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

/* --- stability.c ---------------------------------------------------------------------------------- */

typedef struct kdri_stability {
	kdr_data *const *sets; /* prepared */
	const int64_t *const *labels;
	const int64_t *k;
	int64_t count;
	bool pooled;
} kdri_stability;
/* kdr_stability of data that are prepared. */
kdr_status kdri_job_stability(kdr_context *ctx, kdri_job *job, const kdri_stability *s, int64_t *resamples,
                              double *out);

/* --- choices.c ------------------------------------------------------------------------------------ */

/* For one row of scores: the second-best label, -1 if there is none, and the share of `label`. */
int64_t kdri_next_best(const double *s, int64_t count, int64_t label, kdr_scoring kind);
double kdri_share_of(const double *s, int64_t count, int64_t label, kdr_scoring kind);
/* The confidences of labels and the second-best labels, for all tasks that have labels. */
kdr_status kdri_job_choices(kdr_context *ctx, kdr_result *result, kdr_data *const *data);
/* The array of a task that the method marked as its scores (n x classes or clusters); data NULL: none. */
kdr_array kdri_result_scoring(const kdr_result *result, int64_t task, kdr_scoring *kind);

/* predict.c: if a model is requested, compares the predictions of its rule for the samples of the fit with their
 * labels. If they differ, "predict_agreement" of the data set is the proportion of equal labels; otherwise the model
 * need not store the samples (api/known.h). To be called before kdri_job_encode. */
kdr_status kdri_job_agreement(kdr_context *ctx, const kdri_job *job, kdr_data *const *data,
                              kdr_result *result);

/* predict.c: if a model is requested, keeps some samples of a prepared data set with these labels below k in the task of a result
 * (api/remembered.h). To be called before kdri_job_encode. */
kdr_status kdri_job_remember(kdr_context *ctx, const kdri_job *job, const kdr_data *data,
                             const int64_t *labels, int64_t k, kdri_task_result *task);

/* model_choices.c: the same of the only task of `result`, samples that a model has not seen. */
kdr_status kdri_model_choices(kdr_context *ctx, const kdr_result *fitted, int64_t task, const kdr_data *data,
                              kdr_result *result);

/* --- probabilities.c ------------------------------------------------------------------------------ */

/* What a calibration fits on: sources with classes, and bridges in their features. All are prepared. */
typedef struct kdri_calibration {
	kdr_data *const *sources, *const *bridges;
	int64_t nsources, nbridges, classes;
} kdri_calibration;
/* Probabilities of the tasks from `first` on; `known` classes of that one (or NULL) stay what they are. */
kdr_status kdri_job_probabilities(kdr_context *ctx, kdri_job *job, const kdri_calibration *c, int64_t first,
                                  const int64_t *known, kdr_result *result);

/* --- examples.c ----------------------------------------------------------------------------------- */

/* The surest and the least sure samples of each cluster, where it is known how sure they are. */
kdr_status kdri_job_examples(kdr_context *ctx, kdr_result *result);
/* Into the map of a task: the first words of its texts, of all of them where these take at most `most` bytes, else of those
 * that a report lists. */
kdr_status kdri_job_excerpts(kdr_context *ctx, kdr_result *result, int64_t task, const kdr_data *data,
                             int64_t most);

/* --- map.c --------------------------------------------------------------------------------------- */

/* Where wanted, the samples as the report draws them. data[t] is what task t was fitted on. */
kdr_status kdri_job_map(kdr_context *ctx, kdri_job *job, kdr_result *result, kdr_data *const *data);
/* values.c: of at most `most` features, into the maps of the tasks, as long as their text fits into kdri_values_room bytes. */
enum { KDRI_REPORT_FEATURES = 200 };
kdr_status kdri_job_values(kdr_context *ctx, kdr_result *result, kdr_data *const *data, int64_t most);
int64_t kdri_values_room(int64_t samples);

/* --- mixing.c ------------------------------------------------------------------------------------ */

/* How well several data sets mix. data[t] is what task t was fitted on. */
kdr_status kdri_job_mixing(kdr_context *ctx, const kdri_job *job, kdr_result *result, kdr_data *const *data);
/* Where wanted, the samples in the space that this is measured in: kdr_result_representation. */
kdr_status kdri_job_representation(kdr_context *ctx, const kdri_job *job, kdr_result *result,
                                   kdr_data *const *data);
/* An object "mixing", if that is known. */
void kdri_json_mixing(struct kdri_json *json, const kdr_result *result);

/* --- own_groups.c --------------------------------------------------------------------------------- */

/* Warns of groups that one data set has and the others do not; more[t]: how many clusters data set t needs for them beyond its own. Once
 * clusters have numbers. matched: only groups within clusters that another data set has, too. */
kdr_status kdri_job_own_groups(kdr_context *ctx, kdr_result *result, kdr_data *const *data, bool matched,
                               int64_t *more);
/* Cuts the advice of these warnings for data set t, where it has been tried in vain. */
void kdri_own_groups_tried(kdr_result *result, int64_t t);

/* --- clusters.c ----------------------------------------------------------------------------------- */

/* Numbers of clusters in one list for all data sets, at each level. Once the matches are final. */
kdr_status kdri_job_number(kdr_context *ctx, kdr_result *result);
/* Labels become these numbers: the last step of a job, as labels are indices of clusters until then. */
void kdri_job_use_numbers(kdr_result *result);
/* Copies the titles of a model's clusters. To be called before kdri_job_words. */
kdr_status kdri_job_take_titles(kdr_context *ctx, const kdr_result *from, kdr_result *to);
/* Copies the names of a model's clusters, by number. Once clusters have numbers. */
kdr_status kdri_job_take_names(kdr_context *ctx, const kdr_result *from, kdr_result *to);
/* What a cluster is called: its given name or known class, else its title; NULL: it has none. Once labels are numbers. */
const char *kdri_cluster_name(const kdr_result *result, const kdri_task_result *task, int64_t number);
/* What is special about each cluster, by the features that distinguish it: after kdri_job_words. */
kdr_status kdri_job_titles(kdr_context *ctx, kdr_result *result);

/* --- markers.c ----------------------------------------------------------------------------------- */

/* Tests the features of the profiles (kdri_job_words), and finds the markers that the report draws. */
kdr_status kdri_job_markers(kdr_context *ctx, kdr_result *result, kdr_data *const *data);

/* --- words.c ------------------------------------------------------------------------------------- */

/* What sets clusters apart, how good matches are, and advice. data[t] is what task t was fitted on; `kind`: what they were taken for. */
kdr_status kdri_job_words(kdr_context *ctx, kdr_result *result, kdr_data *const *data, kdr_data_kind kind);
/* (W1) of words.c: how specific a word is, from the samples that have it: `has` of `size`, and `other_has` of `other` others. */
double kdri_specific(double has, double size, double other_has, double other);

/* --- labelling.c ---------------------------------------------------------------------------------- */

/* Of targets with samples that a person should label next: what the person needs to see of each. */
kdr_status kdri_job_shown(kdr_context *ctx, kdr_result *result, kdr_data *const *data);
/* The array `name` of a task if it has a value of that type for each sample, else NULL. */
const void *kdri_sample_array(const kdr_result *result, const char *name, int64_t task, kdr_dtype type);
/* Into the object of a task: least_like_source, the clusters of the target that are least like the source; ask, the samples to be labelled
 * next. */
kdr_status kdri_json_labelling(kdr_context *ctx, struct kdri_json *json, const kdr_result *result,
                               int64_t task);
/* Known classes of sets[target] from files: one label per line; or id and class, where any of these `count` data sets may have the ids; or what
 * KDR_TABLE_ASK writes with classes filled in; several files only of the latter. Free *out with kdr_labels_free. */
kdr_status kdri_answers_read(kdr_context *ctx, const char *const *paths, int64_t npaths,
                             kdr_data *const *sets, int64_t count, int64_t target, kdr_labels **out);

/* --- shared.c -------------------------------------------------------------------------------------- */

/* Feature clusters that a transfer shares with source and target; `target`: its index among the tasks. */
kdr_status kdri_job_shared(kdr_context *ctx, kdr_result *result, int64_t target);

/* --- explain.c ------------------------------------------------------------------------------------ */

/* What explains the clusters of a data set: its second view, or the data themselves. */
const kdr_data *kdri_shown(const kdr_data *data);
/* Preprocesses the second views of all data sets together, and stores the names of their columns. *any: whether there are some; *kind: theirs. */
kdr_status kdri_job_explain(kdr_context *ctx, kdr_result *result, kdr_data *const *data, bool *any,
                            kdr_data_kind *kind);

/* --- units.c ------------------------------------------------------------------------------------- */

/* The names of the columns that explain clusters; NULL: they have none. */
char *const *kdri_shown_features(const kdri_task_result *task);
/* What such a column is called: by its name, else by its number, from 1, written into `room`. */
enum { KDRI_COLUMN_NAME = 32 };
const char *kdri_column_name(const kdri_task_result *task, int64_t column, char room[KDRI_COLUMN_NAME]);
enum { KDRI_MEAN_TEXT = 80, KDRI_DESCRIBED = 4, KDRI_EFFECT_TEXT = 256 };
/* A mean of the feature in the user's units, such as "1,900", "61 %" or "2021-03-04". */
void kdri_mean_text(const kdri_feature_effect *feature, double mean, char out[KDRI_MEAN_TEXT]);
/* The same with its column, such as "income 1,900 (others 3,200)" or "plan = business 61 % (others 12 %)". */
void kdri_effect_text(const kdri_task_result *task, const kdri_feature_effect *feature, char *out,
                      size_t room);
/* If a feature is a level of a category: its text, and the length of the column's name, with which the feature's begins. Else
 * NULL and the length of the feature's name. */
const char *kdri_table_column(const kdri_task_result *task, int64_t feature, size_t *length);
/* Indices of the features that describe a cluster in a sentence: the strongest ones, one for each column of the table. */
int kdri_described(const kdri_task_result *task, const kdri_cluster_profile *profile,
                   int64_t out[KDRI_DESCRIBED]);

/* json_samples.c: lists of result.json that have an entry for each sample. `json` writes to pages (kdri_pages). */
/* The sizes of clusters and, unless the result should be brief, the labels. */
void kdri_json_labels(struct kdri_json *json, const kdr_result *result, int64_t task);
/* The names of samples and their probabilities. */
void kdri_json_ids(struct kdri_json *json, const kdr_result *result, int64_t task);
/* The confidences of labels and the second-best labels. */
void kdri_json_choices(struct kdri_json *json, const kdr_result *result, int64_t task);

/* json_map.c: what the report draws of a task, where it was wanted. */
kdr_status kdri_json_map(kdr_context *ctx, struct kdri_json *json, const kdr_result *result, int64_t task);

/* Coordinates of the samples of `count` tasks, without preprocessing: xy[t] gets two numbers for each row of x[t].
 * Tasks whose columns have the same meaning are drawn on common axes, so that corresponding samples are in the same
 * place; tasks of different width each have their own axes. The same seed gives the same coordinates for any number
 * of threads; if stopped, the function returns the current coordinates. `options` may be NULL. After the neighbour
 * search, a sweep takes O(rows x neighbours). */
kdr_status kdri_embed_matrices(kdr_context *ctx, const kdr_mat *x, int64_t count,
                               const kdr_embed_options *options, double *const *xy);

#endif
