/* What a result says about its clusters and samples. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_SAY_H
#define KDRI_SAY_H

#include "jobs/job.h"

/* --- choices.c ------------------------------------------------------------------------------------------- */

/* For one row of scores: the second-best label, -1 if there is none, and the share of `label`. */
int64_t kdri_next_best(const double *s, int64_t count, int64_t label, kdr_scoring kind);
double kdri_share_of(const double *s, int64_t count, int64_t label, kdr_scoring kind);
/* The confidences of labels and the second-best labels, for all tasks that have labels. */
kdr_status kdri_job_choices(kdr_context *ctx, kdr_result *result, kdr_data *const *data);
/* The array of a task that the method marked as its scores (n x classes or clusters); data NULL: none. */
kdr_array kdri_result_scoring(const kdr_result *result, int64_t task, kdr_scoring *kind);

/* --- examples.c ------------------------------------------------------------------------------------------ */

/* The surest and the least sure samples of each cluster, where it is known how sure they are. */
kdr_status kdri_job_examples(kdr_context *ctx, kdr_result *result);
/* Into the map of a task: the first words of its texts, of all of them where these take at most `most` bytes, else of those
 * that a report lists. */
kdr_status kdri_job_excerpts(kdr_context *ctx, kdr_result *result, int64_t task, const kdr_data *data,
                             int64_t most);

/* --- map.c ----------------------------------------------------------------------------------------------- */

/* Where wanted, the samples as the report draws them. data[t] is what task t was fitted on. */
kdr_status kdri_job_map(kdr_context *ctx, kdri_job *job, kdr_result *result, kdr_data *const *data);
/* values.c: of at most `most` features, into the maps of the tasks, as long as their text fits into kdri_values_room bytes. */
enum { KDRI_REPORT_FEATURES = 200 };
kdr_status kdri_job_values(kdr_context *ctx, kdr_result *result, kdr_data *const *data, int64_t most);
int64_t kdri_values_room(int64_t samples);

/* --- representation.c ------------------------------------------------------------------------------------ */

/* Where wanted, the samples of all data sets in one space: kdr_result_representation. data[t] is what task t was fitted on. */
kdr_status kdri_job_representation(kdr_context *ctx, const kdri_job *job, kdr_result *result,
                                   kdr_data *const *data);

/* --- clusters.c ------------------------------------------------------------------------------------------ */

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

/* --- markers.c ------------------------------------------------------------------------------------------- */

/* Tests the features of the profiles (kdri_job_words), and finds the markers that the report draws. */
kdr_status kdri_job_markers(kdr_context *ctx, kdr_result *result, kdr_data *const *data);

/* --- words.c --------------------------------------------------------------------------------------------- */

/* What sets clusters apart, how good matches are, and advice. data[t] is what task t was fitted on; `kind`: what they were taken for. */
kdr_status kdri_job_words(kdr_context *ctx, kdr_result *result, kdr_data *const *data, kdr_data_kind kind);
/* (W1) of words.c: how specific a word is, from the samples that have it: `has` of `size`, and `other_has` of `other` others. */
double kdri_specific(double has, double size, double other_has, double other);

/* --- labelling.c ----------------------------------------------------------------------------------------- */

/* Of targets with samples that a person should label next: what the person needs to see of each. */
kdr_status kdri_job_shown(kdr_context *ctx, kdr_result *result, kdr_data *const *data);
/* The array `name` of a task if it has a value of that type for each sample, else NULL. */
const void *kdri_sample_array(const kdr_result *result, const char *name, int64_t task, kdr_dtype type);
/* Into the object of a task: least_like_source, the clusters of the target that are least like the source; ask, the samples to be labelled
 * next. */
kdr_status kdri_json_labelling(kdr_context *ctx, struct kdri_json *json, const kdr_result *result,
                               int64_t task);
/* --- explain.c ------------------------------------------------------------------------------------------- */

/* What explains the clusters of a data set: its second view, or the data themselves. */
const kdr_data *kdri_shown(const kdr_data *data);
/* Preprocesses the second views of all data sets together, and stores the names of their columns. *any: whether there are some; *kind: theirs. */
kdr_status kdri_job_explain(kdr_context *ctx, kdr_result *result, kdr_data *const *data, bool *any,
                            kdr_data_kind *kind);

/* --- units.c --------------------------------------------------------------------------------------------- */

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

/* --- embed.c --------------------------------------------------------------------------------------------- */

/* Coordinates of the samples of `count` tasks, without preprocessing: xy[t] gets two numbers for each row of x[t].
 * Tasks whose columns have the same meaning are drawn on common axes, so that corresponding samples are in the same
 * place; tasks of different width each have their own axes. The same seed gives the same coordinates for any number
 * of threads; if stopped, the function returns the current coordinates. `options` may be NULL. After the neighbour
 * search, a sweep takes O(rows x neighbours). */
kdr_status kdri_embed_matrices(kdr_context *ctx, const kdr_mat *x, int64_t count,
                               const kdr_embed_options *options, double *const *xy);

#endif
