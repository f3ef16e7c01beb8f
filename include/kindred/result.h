/* What a result reports beyond its labels, and result.json. SPDX-License-Identifier: BSD-3-Clause
 *
 * Fitted values are in fit.h. A result owns copies of everything it reports: it outlives data, options and context. */
#ifndef KINDRED_RESULT_H
#define KINDRED_RESULT_H

#include "kindred/data.h"
#include "kindred/fit.h"
#include "kindred/metrics.h"

/* --- data sets: each function costs O(1); NULL or zero if there is no such data set ------------------------------------ */

/* The name of a data set; its number, from 1, if it has none. */
KDR_API const char *kdr_result_task_name(const kdr_result *result, int64_t task);
/* Rows, columns and stored entries of the data after preprocessing, over all processes (mpi.h). Frozen. */
typedef struct kdr_shape {
	int64_t rows, cols, nnz;
} kdr_shape;
KDR_API kdr_shape kdr_result_task_shape(const kdr_result *result, int64_t task);
/* The names of the samples; NULL if unknown. */
KDR_API const char *const *kdr_result_ids(const kdr_result *result, int64_t task);
/* The names of the classes that labels are indices of; NULL if labels are cluster numbers. `count` may be NULL. */
KDR_API const char *const *kdr_result_classes(const kdr_result *result, int64_t *count);
/* What the cluster with this number is called: the name that a person gave it, or its known class, else its title; NULL if it has none
 * of these, and for classes. Cost: O(k). */
KDR_API const char *kdr_result_name(const kdr_result *result, int64_t number);
/* Gives names to `count` clusters, by number (kdr_result_number), in all data sets and at all levels. KDR_ERR_DATA if there is no cluster with
 * a number, if a number occurs twice, or if a name is empty or would be that of two clusters; then nothing changes. Cost: O(count^2 + count k). */
KDR_API kdr_status kdr_result_rename(kdr_context *ctx, kdr_result *result, const int64_t *numbers,
                                     const char *const *names, int64_t count);
/* The same with a file of numbers and names, one pair per line ("3,families"), with or without a header. Numbers that no cluster has become a
 * warning of the result. `result` NULL only checks the file. Cost: as above. */
KDR_API kdr_status kdr_result_read_names(kdr_context *ctx, kdr_result *result, const char *path);
/* Row number `index` of the rows that reading skipped; NULL past the last. */
KDR_API const kdr_left_out *kdr_result_left_out_at(const kdr_result *result, int64_t task, int64_t index);

/* A two-dimensional map of samples: integers from 0 to 65535, on one scale for all data sets. Frozen. */
typedef struct kdr_map {
	int64_t n; /* points; 0: there are none */
	const int32_t *x, *y;
	const int64_t *rows; /* the sample of each point; NULL: all of them, in order */
} kdr_map;
/* The map of a data set, if kdr_job_options.map was set. */
KDR_API kdr_map kdr_result_map(const kdr_result *result, int64_t task);

/* --- confidence, probabilities, quality: each function costs O(1) ------------------------------------------------------ */

/* How certain each label is, 0 to 1, one number per sample; NULL if unknown. `from` (may be NULL) gets the kind: "method" (the
 * method's own), "share" (of the label in the method's probabilities or memberships), "softmax" (the same for scores, not
 * calibrated) or "distance" (1 - own / next, for the distances to the mean of the sample's cluster and of the nearest other
 * cluster; 0 if that is nearer, and for a cluster of one sample). */
KDR_API const double *kdr_result_confidence(const kdr_result *result, int64_t task, const char **from);
/* The second-best label of each sample, -1 if there is none: by the method's scores, else the cluster with the nearest other
 * mean. For a sample without a label: the class that was nearest to being chosen. NULL if unknown. */
KDR_API const int64_t *kdr_result_second(const kdr_result *result, int64_t task);
/* The estimated probability that the samples of cluster `number` in all data sets that have it belong together: the lowest of those
 * of the first of these data sets with each other one; 1 if the method does not estimate it. NaN if fewer than two data sets have the
 * cluster, and for classes. */
KDR_API double kdr_result_match(const kdr_result *result, int64_t number);
/* Coordinates of each sample in a space that all data sets share, n x *columns in row-major order, if kdr_job_options.representation
 * was set; else NULL. A sample without a label has NaN. `columns` may be NULL. */
KDR_API const double *kdr_result_representation(const kdr_result *result, int64_t task, int64_t *columns);
/* Calibrated class probabilities of each sample of a target, n x classes in row-major order, if kdr_job_options.probabilities
 * was set; else NULL. `classes` may be NULL. */
KDR_API const double *kdr_result_probabilities(const kdr_result *result, int64_t task, int64_t *classes);
/* How the scores of the method became probabilities: p_c is proportional to exp(temperature s_c + label [c is the label]), where
 * s are the method's scores or the logarithms of its shares. May grow. */
typedef struct kdr_calibration {
	int64_t held_out;          /* samples of the sources that the fit had not seen; 0: not calibrated */
	double temperature, label; /* learnt on them */
	double accuracy, log_loss; /* on them */
} kdr_calibration;
/* NULL if no probabilities were requested. */
KDR_API const kdr_calibration *kdr_result_calibration(const kdr_result *result);
/* Scores of the clustering of a data set that need no true classes; NULL if not requested. */
KDR_API const kdr_quality *kdr_result_quality(const kdr_result *result, int64_t task);
/* Line number `index`, from 0, of the advice about a data set: the first summarises, such as what the transfer changed,
 * and further lines give details; NULL past the last. */
KDR_API const char *kdr_result_advice(const kdr_result *result, int64_t task, int64_t index);

/* What a data set has from those it was clustered together with, by method auto. */
typedef struct kdr_sharing {
	const char *from; /* the data set whose clusters it takes over; NULL: none */
	double apart;     /* distance from the nearest data set: 0.5 = alike, 1 = apart; NaN: not computed */
	int64_t moved;    /* samples that would be in another cluster in a run alone; -1: unknown */
	const char *
	        reason; /* why it takes over clusters, or does not; NULL: there are no others, or another method */
} kdr_sharing;
KDR_EXPERIMENTAL KDR_API kdr_sharing kdr_result_sharing(const kdr_result *result, int64_t task);

/* --- levels ------------------------------------------------------------------------------------------------------------ */

/* Numbers of clusters that one call of kdr_cluster fits at most. */
enum { KDR_LEVELS_MOST = 64 };
/* If several numbers of clusters were fitted (kdr_job_options.k_to and neighbours): the result for number `index`, from 0, fewest
 * clusters first; NULL past the last. One of them is `result` itself: the suggested one. Clusters are numbered so that a cluster keeps its
 * number while it does not split. The other levels have labels, confidence, arrays and scores, but no profiles of clusters; they
 * live as long as `result`. Cost: O(1). */
KDR_EXPERIMENTAL KDR_API const kdr_result *kdr_result_level_at(const kdr_result *result, int64_t index);
/* Writes <task>.labels and <task>.samples.csv of one level of a result.json into a folder, which must exist, each completely or not
 * at all. `k` has `count` numbers: the number of clusters of that level or, for count > 1, of each data set at that level. If
 * `table` is not NULL, it also writes the CSV, TSV or Excel input with these `columns` to that file (kdr_result_write_input); several
 * inputs become several files. Nothing is written if a file exists and `force` is not set. Cost: O(size of result.json) time and memory. */
KDR_EXPERIMENTAL KDR_API kdr_status kdr_cut(kdr_context *ctx, const char *path, const int64_t *k,
                                            int64_t count, const char *folder, const char *table,
                                            const char *columns, bool force);

/* What kdr_relabel also writes; NULL: not. May grow. */
typedef struct kdr_relabel_options {
	size_t size;
	const char *
	        h5ad; /* a copy of the .h5ad input with the edited labels, as kdr_write_h5ad writes it, but without coordinates */
	const char *key; /* its columns begin with this name; NULL: kindred */
	const char *table,
	        *columns; /* the CSV, TSV or Excel input with these columns (kdr_result_write_input) */
	const char *
	        model; /* a copy of this model into the folder, with the edited names of classes or clusters */
	bool report;   /* report.html, the page of the edited result, into the folder */
} kdr_relabel_options;
KDR_DEFINE_INIT(kdr_relabel_options)

/* Applies an edits file, as the report saves it, to a result.json: renames, merges and moves of clusters, marks and notes. The file may also
 * have numbers and names of clusters, as for kdr_result_read_names. Writes
 * result.json, <task>.labels and <task>.samples.csv into a folder, which must exist, each completely or not at all. Nothing is
 * written if the edits are invalid (KDR_ERR_FORMAT, with the line) or belong to another result, or if a file exists and `force` is
 * not set. `options` may be NULL. Several inputs become several files. docs/relabel.md describes the edits file. Cost: O(size of
 * result.json) time and memory. */
KDR_EXPERIMENTAL KDR_API kdr_status kdr_relabel(kdr_context *ctx, const char *result_json,
                                                const char *edits_json, const char *folder,
                                                const kdr_relabel_options *options, bool force);

/* --- result.json ------------------------------------------------------------------------------------------------------ */

/* Sets the seconds spent on writing files, and the command line that made the result, for result.json and the report. The
 * text is copied. Cost: O(length). */
KDR_API void kdr_result_set_write_seconds(kdr_result *result, double seconds);
KDR_API kdr_status kdr_result_set_command_line(kdr_context *ctx, kdr_result *result, const char *text);

/* Gives the result as JSON text, with everything that is known about it: options, sizes, scores, the features that distinguish each cluster,
 * bridges, warnings. docs/result-json.md describes it. `samples` selects whether lists with one entry per sample (labels,
 * confidence, map, ...) are included. Free *text with kdr_free; `length` may be NULL.
 * Cost: O(size of the text) time and memory; without samples that is O(k) per data set. */
KDR_API kdr_status kdr_result_json(kdr_context *ctx, const kdr_result *result, bool samples, char **text,
                                   size_t *length);
/* Writes the JSON text with samples to a file, completely or not at all. It lists the files that the open set of outputs
 * (kdr_outputs_begin) has in its folder. If it replaces an earlier result, files that only the earlier one lists are removed. Cost: O(size of the text) time, O(1) memory. */
KDR_API kdr_status kdr_result_write(kdr_context *ctx, const kdr_result *result, const char *path, bool force);
/* Sets *out to whether the result.json in the folder of `path` lists that file as its own output. Cost: O(files). */
KDR_API kdr_status kdr_result_lists(kdr_context *ctx, const char *path, bool *out);
/* Sets *out to the name of the file with the known classes of a data file: <stem>.labels in its folder. Free it with kdr_free.
 * Cost: O(1). */
KDR_API kdr_status kdr_labels_beside(kdr_context *ctx, const char *data, char **out);
/* Checks that labels written to the file `labels` do not replace known classes of a data file: KDR_ERR_EXISTS if it exists, has
 * the name that kdr_labels_beside returns and is not listed by the result.json in its folder. Cost: O(files). */
KDR_API kdr_status kdr_labels_check(kdr_context *ctx, const char *labels, const char *data);
/* Receives a part of the text; returns whether it could be processed. */
typedef bool kdr_text_put(void *user, const char *text, size_t length);
/* Passes the JSON text with samples and a final newline to a function, part by part. Cost: as for kdr_result_write. */
KDR_EXPERIMENTAL KDR_API kdr_status kdr_result_put(kdr_context *ctx, const kdr_result *result,
                                                   kdr_text_put *put, void *user);

/* --- files ------------------------------------------------------------------------------------------------------------ */

typedef enum kdr_table {
	/* One line per sample: its class, "?" if it has none, or its cluster number. */
	KDR_TABLE_LABELS,
	/* CSV, one line per sample: id (or its number, from 1), cluster or class, confidence, second; empty if unknown. For targets of
	 * auto also unlike_source and target_cluster. If several numbers of clusters were
	 * fitted, also the cluster at each level: cluster_3, cluster_4, ... */
	KDR_TABLE_SAMPLES,
	/* CSV, one line per sample of a target: id and the probability of each class. For a path that ends in .npy: an array. */
	KDR_TABLE_PROBABILITIES,
	/* CSV, one line per feature that sets a cluster apart, for all data sets: task, cluster or class, size, feature, effect,
	 * mean_inside, mean_outside, share_inside, share_outside, column, category, exploratory_p,
	 * exploratory_p_adjusted. */
	KDR_TABLE_FEATURES,
	/* An array of the result as .npy. */
	KDR_TABLE_ARRAY,
	/* CSV, one line per sample of a target that a person should label next (option ask of auto): row (from 1), id, class (empty, to be
	 * filled in), suggested, second, margin, confidence, target_cluster, and what the person needs: the text, the columns of the file, or
	 * the strongest features. */
	KDR_TABLE_ASK
} kdr_table;
/* Writes a table of a result, completely or not at all. `index` is the data set or, for KDR_TABLE_ARRAY, the number of the array;
 * it is ignored for KDR_TABLE_FEATURES. `force` replaces an existing file. Cost: O(size of the file) time, O(1) memory. */
KDR_API kdr_status kdr_result_write_table(kdr_context *ctx, const kdr_result *result, kdr_table table,
                                          int64_t index, const char *path, bool force);

/* Writes the CSV, TSV or Excel file that a data set was read from, as it is, with more columns at the end: `columns` is a list of label,
 * name, confidence and second, such as "label,name"; NULL: those that the result has. `result` NULL only checks this list.
 * Cells are empty for rows that were skipped. All data sets of the copy (kdr_copy_paths) are used. Cost: O(size of the file) time, O(rows) memory. */
KDR_API kdr_status kdr_result_write_input(kdr_context *ctx, const kdr_result *result, int64_t index,
                                          const char *columns, const char *path, bool force);
/* Copies of the inputs of data sets, such as those of kdr_result_write_input (`tables`) or kdr_write_h5ad: (*out)[t] is the file of data set
 * t; NULL: it has no table that can be read a second time. There is one copy for the data sets that a file was split into, and one for
 * those (`tables`) that are sheets of a workbook; they have the same pointer. Data sets with rows in common get a copy each. A single copy has the name `path`; of several,
 * "out.csv" becomes "out-NAME.csv", with the name of the data set or, if there are more in the copy, of their file. A table that cannot have
 * this name is an error (KDR_ERR_OPTION). Free the list with kdr_free. Cost: O(rows) time and memory. */
KDR_EXPERIMENTAL KDR_API kdr_status kdr_copy_paths(kdr_context *ctx, kdr_data *const *sets, int64_t count,
                                                   bool tables, const char *path, char ***out);
/* Writes the AnnData file `input` to `path` with the results of its rows: obs["kindred"], the class or the cluster by its given name,
 * known class or number, obs["kindred_confidence"], obs["kindred_second"], obs["kindred_match"] (kdr_result_match),
 * obsm["X_kindred_rep"] (kdr_result_representation), and obsm["X_kindred"] if coordinates are given; names begin with `key` instead of "kindred" if it is not NULL. Everything else stays as it is. An input of another format is read again with
 * `reading` (may be NULL) and becomes a new AnnData file. `sets` are `count` data sets of the result, found by their names;
 * those read from `input` are used, several if it was split. `result` or `xy`, two numbers for each row of each set, may be
 * NULL; both: only `key` is checked. Cost: O(size of the file) time and memory. */
KDR_EXPERIMENTAL KDR_API kdr_status kdr_write_h5ad(kdr_context *ctx, const char *path, const char *input,
                                                   const kdr_read_options *reading, kdr_data *const *sets,
                                                   int64_t count, const kdr_result *result,
                                                   const double *const *xy, const char *key, bool force);

#endif
