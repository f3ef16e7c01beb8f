/* What a result says of itself: data, options, words and figures for people; result.json.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * What was fitted is in fit.h. A result owns copies of all it tells: it outlives data, options and context. */
#ifndef KINDRED_RESULT_H
#define KINDRED_RESULT_H

#include "kindred/bridge.h"
#include "kindred/data.h"
#include "kindred/fit.h"
#include "kindred/metrics.h"

/* --- what it is a result of --------------------------------------------------------------------- */

KDR_API const char *kdr_result_command(const kdr_result *result);        /* "cluster", "transfer", ... */
KDR_API const kdr_options *kdr_result_options(const kdr_result *result); /* in force; never NULL */
KDR_API uint64_t kdr_result_seed(const kdr_result *result);

/* Of a task; NULL where there is no such task. A task without a name is called by its number, from 1; the path is
 * "" where the data came from no file. */
KDR_API const char *kdr_result_task_name(const kdr_result *result, int64_t task);
KDR_API const char *kdr_result_task_path(const kdr_result *result, int64_t task);
/* Rows, columns and stored entries of the data, after preprocessing; those of all ranks (kindred/mpi.h). */
typedef struct kdr_shape {
	int64_t rows, cols, nnz;
} kdr_shape;
KDR_API kdr_shape kdr_result_task_shape(const kdr_result *result, int64_t task);
/* How many samples have each label, k numbers; NULL where the task has no labels. */
KDR_EXPERIMENTAL KDR_API const int64_t *kdr_result_sizes(const kdr_result *result, int64_t task, int64_t *k);
/* Names of the columns, and of the samples; NULL where unknown. */
KDR_API const char *const *kdr_result_features(const kdr_result *result, int64_t task);
KDR_API const char *const *kdr_result_ids(const kdr_result *result, int64_t task);
/* A task's samples as points of a plane, where the job was told to lay them out (kdr_job_options.map): whole numbers from 0 to
 * 65535, on one scale for all tasks. */
typedef struct kdr_map {
	int64_t n; /* points; 0: there are none */
	const int32_t *x, *y;
	const int64_t *rows; /* the sample each is; NULL: all of them, in their order */
} kdr_map;
KDR_API kdr_map kdr_result_map(const kdr_result *result, int64_t task);
/* Rows of the file that are in none of the above, and why; *count is 0 where all are there. */
KDR_API const kdr_left_out *kdr_result_left_out(const kdr_result *result, int64_t task, int64_t *count);
/* Names of the classes that labels are indices of; NULL where labels are mere numbers. */
KDR_API const char *const *kdr_result_classes(const kdr_result *result, int64_t *count);

/* The fitted preprocessing (NULL: none was done), and what the data were taken for where that chose it. */
KDR_API const kdr_prep *kdr_result_prep(const kdr_result *result);
KDR_API kdr_data_kind kdr_result_kind(const kdr_result *result);
/* The method that learnt features before the fit, and how many columns these are; NULL: none did. */
KDR_API const kdr_algo *kdr_result_features_from(const kdr_result *result, int64_t *columns);

typedef struct kdr_seconds {
	double read, prepare, fit, write;
	double layout; /* of the map, where it was wanted */
} kdr_seconds;
KDR_API kdr_seconds kdr_result_seconds(const kdr_result *result);
/* For programs that write: how long that took, for result.json. */
KDR_API void kdr_result_set_seconds(kdr_result *result, const kdr_seconds *seconds);

/* For programs: the command that made the result, as a shell would take it, for result.json and the report. */
KDR_API kdr_status kdr_result_set_command_line(kdr_context *ctx, kdr_result *result, const char *text);

/* --- words and figures for people --------------------------------------------------------------- */

/* A number or a text that the method left about one task, by its name without the task's, such as "confidence"; task
 * -1: about all. NaN and NULL where there is none. */
KDR_API double kdr_result_task_number(const kdr_result *result, int64_t task, const char *name);
KDR_API const char *kdr_result_task_text(const kdr_result *result, int64_t task, const char *name);

/* Scores against known classes; NULL where none were known, or scores were not wanted. */
KDR_API const kdr_scores *kdr_result_scores(const kdr_result *result, int64_t task);

/* How good clusters are without truth; NULL where that was not asked for. */
KDR_API const kdr_quality *kdr_result_quality(const kdr_result *result, int64_t task);

/* What the columns of the task's table were taken for, and what became of missing values: a line each; NULL past the
 * last. Plain numbers go without saying. */
KDR_API const char *kdr_result_note(const kdr_result *result, int64_t task, int64_t index);
/* Sentences about a task, such as what transfer did for it; NULL past the last. */
KDR_API const char *kdr_result_advice(const kdr_result *result, int64_t task, int64_t index);

/* How sure each label of a task is, 0 to 1, one a sample; NULL where nothing is known. `from` (may be NULL) says what it
 * is: "method" (the method's own), "share" (of the label in the method's probabilities or memberships), "softmax" (the same
 * of its scores: not calibrated), "distance" (1 - own / next, of the distances to the means of the sample's own cluster and
 * of the nearest other; 0 where that is nearer, and for a sample alone). */
KDR_API const double *kdr_result_confidence(const kdr_result *result, int64_t task, const char **from);
/* The next best label of each sample, -1 where there is none: by the method's own scores, else the cluster whose mean is
 * nearest of the others. Of a sample left without a class: the class that was nearest to being given. NULL where unknown. */
KDR_API const int64_t *kdr_result_second(const kdr_result *result, int64_t task);

/* Probabilities of the classes for each sample of a target, n x classes, row major, where they were asked for; else NULL.
 * They are calibrated: kdr_result_calibration says on what. */
KDR_API const double *kdr_result_probabilities(const kdr_result *result, int64_t task, int64_t *classes);
/* How scores of the method became probabilities: p_c is as exp(temperature s_c + label [c is the label]), s the method's
 * scores, or the logarithms of its shares. */
typedef struct kdr_calibration {
	int64_t held_out; /* samples of the sources the method had not seen; 0: it could not be calibrated */
	double temperature, label; /* learnt on them */
	double accuracy, log_loss; /* on them */
} kdr_calibration;
/* NULL where no probabilities were asked for. */
KDR_API const kdr_calibration *kdr_result_calibration(const kdr_result *result);
/* A sentence on what the calibration does not know. */
KDR_API const char *kdr_calibration_note(void);

/* A feature by which a cluster stands out. */
typedef struct kdr_feature_effect {
	int64_t column;
	double effect; /* (mean_inside - mean_outside) / standard deviation over the task */
	double mean_inside, mean_outside;
	double share_inside,
	        share_outside; /* of the samples, that have it (entry not 0); NaN but for data such as counts:
	                          nothing negative, a tenth of the entries and more zero */
} kdr_feature_effect;

/* A cluster, and what sets it apart from its task's other samples: features it has more of, and less of (negative), the
 * largest effect first; none below 0.2, which is next to nothing. */
typedef struct kdr_cluster_profile {
	int64_t size;
	const kdr_feature_effect *features;
	int64_t nfeatures;
} kdr_cluster_profile;
/* All zero where there is no such cluster, or nothing is known. */
KDR_API kdr_cluster_profile kdr_result_profile(const kdr_result *result, int64_t task, int64_t cluster);

/* A data set considered as the bridge of a transfer. */
typedef struct kdr_bridge_outcome {
	const char *name, *path;
	kdr_bridge_score score; /* rank 0 was chosen */
	double accuracy;        /* with it, of the first target; NaN where it was not tried or scored */
} kdr_bridge_outcome;
/* By rank; 0 where there was nothing to choose. */
KDR_API int64_t kdr_result_bridge_count(const kdr_result *result);
KDR_API kdr_bridge_outcome kdr_result_bridge_at(const kdr_result *result, int64_t rank);

/* A cluster of features that a transfer shares with the source or the target, and the class it goes with. */
typedef struct kdr_shared_features {
	int64_t task; /* whose columns these are */
	bool with_target;
	int64_t cluster, class_index;
	double share; /* of the cluster's weight that is the class's */
	const int64_t *columns;
	int64_t ncolumns;
} kdr_shared_features;
KDR_API int64_t kdr_result_shared_count(const kdr_result *result);
KDR_API kdr_shared_features kdr_result_shared_at(const kdr_result *result, int64_t index);

/* --- result.json ---------------------------------------------------------------------------------- */

/* The result as JSON, just as the program writes it. Free *text with kdr_free; `length` may be NULL. */
KDR_API kdr_status kdr_result_json(kdr_context *ctx, const kdr_result *result, char **text, size_t *length);
/* Gives an AnnData file back with what was found about its rows: obs["kindred"], the label, obs["kindred_confidence"], and
 * obsm["X_kindred"] where coordinates were made; all else in it stays as it was. Where `input` is of another format it is
 * read again, as `reading` says (NULL: without options), and becomes a new AnnData file. `sets`: data sets of the result,
 * found by their names; those read from `input` are used, several where it was split. `result` or `xy`, two numbers for
 * each row of each set, may be NULL. Whole or not at all. */
KDR_EXPERIMENTAL KDR_API kdr_status kdr_write_h5ad(kdr_context *ctx, const char *path, const char *input,
                                                   const kdr_read_options *reading, kdr_data *const *sets,
                                                   int64_t count, const kdr_result *result,
                                                   const double *const *xy, bool force);
/* The same to a file, whole or not at all. */
KDR_API kdr_status kdr_result_write(kdr_context *ctx, const kdr_result *result, const char *path, bool force);
/* The same, and a newline, to a function that takes some of the text at a time, and says whether it could. */
typedef bool kdr_text_put(void *user, const char *text, size_t length);
KDR_EXPERIMENTAL KDR_API kdr_status kdr_result_put(kdr_context *ctx, const kdr_result *result,
                                                   kdr_text_put *put, void *user);

/* --- labels ------------------------------------------------------------------------------------------- */

/* A line a sample of a task: its class, "?" where it has none, or the number of its cluster. Whole or not at all. */
KDR_EXPERIMENTAL KDR_API kdr_status kdr_result_write_labels(kdr_context *ctx, const kdr_result *result,
                                                            int64_t task, const char *path, bool force);
/* kdr_write_array of an array of the result, by its place among them. */
KDR_EXPERIMENTAL KDR_API kdr_status kdr_result_write_array(kdr_context *ctx, const kdr_result *result,
                                                           int64_t index, const char *path, bool force);

/* --- tables, as CSV; whole or not at all ------------------------------------------------------------ */

/* A line a sample of a task: id (else its number, from 1), cluster or class, confidence, second; empty where unknown. */
KDR_API kdr_status kdr_result_write_samples(kdr_context *ctx, const kdr_result *result, int64_t task,
                                            const char *path, bool force);
/* A line a sample of a target: id, and the probability of each class; only where they were asked for. To a path that ends in .npy:
 * samples x classes numbers. */
KDR_API kdr_status kdr_result_write_probabilities(kdr_context *ctx, const kdr_result *result, int64_t task,
                                                  const char *path, bool force);
/* A line for each feature that sets a cluster of a task apart: task, cluster or class, size, feature, effect,
 * mean_inside, mean_outside, share_inside, share_outside. */
KDR_API kdr_status kdr_result_write_features(kdr_context *ctx, const kdr_result *result, const char *path,
                                             bool force);

#endif
