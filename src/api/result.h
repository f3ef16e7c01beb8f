/* The members of a result: for the library's own layers, not for methods. SPDX-License-Identifier: BSD-3-Clause
 *
 * A result owns everything it contains, so that it outlives the data: what was fitted (result.c), and what it was fitted
 * on and with (about.c). src/jobs adds the texts for people. */
#ifndef KDRI_RESULT_H
#define KDRI_RESULT_H

#include "core/internal.h"
#include "core/names.h"
#include "engine/metrics/metrics.h"

/* A named number or text. */
typedef struct kdri_field {
	char *name;   /* as in result.json: "confidence.TASK" for a value of one task */
	char *text;   /* NULL: a number */
	size_t stem;  /* length of the name without the task's */
	int64_t task; /* -1: of all */
	int64_t next; /* 1 + index of the previous field of the same task; 0: none */
	double number;
} kdri_field;

/* A feature that distinguishes a cluster. */
typedef struct kdri_feature_effect {
	int64_t column;
	double effect; /* difference of the means / standard deviation over the task, of the data as they were fitted */
	double mean_inside, mean_outside; /* in the user's units, if these are known */
	double share_inside,
	        share_outside; /* fractions of the samples that have the level of a category or a value of 1; for
			          data such as counts (nothing negative, at least a tenth of the entries zero),
			          that have an entry; otherwise NaN */
	kdri_unit unit;
	bool known;           /* the unit is the user's */
	double deviation;     /* standard deviation of all values, if known */
	double origin;        /* of dates: the day that means are counted from, in days since 1970 */
	double rank;          /* what features of a cluster are sorted by (jobs/say/words.c) */
	double p, p_adjusted; /* of a test that is exploratory (jobs/say/markers.c); NaN: not tested */
} kdri_feature_effect;

/* Features that distinguish the clusters of a task, in order of clusters, and how much of them each cluster has. */
typedef struct kdri_markers {
	int64_t count;
	int64_t *columns;
	double *mean, *share; /* k x count; share: of the samples of the cluster that have the feature */
	bool counts; /* true: samples have a feature if the entry is not 0; false: if it is above the mean */
} kdri_markers;

/* A cluster and the features that distinguish it from the other samples of its task: those it has more of and those it
 * has less of (negative), the largest effect first. Effects below 0.2 are not listed, because they are negligible. */
typedef struct kdri_cluster_profile {
	int64_t size;
	const kdri_feature_effect *features;
	int64_t nfeatures;
} kdri_cluster_profile;

/* A cluster of features that a transfer shares with the source or the target, and the class it is associated with. */
typedef struct kdri_shared_features {
	int64_t task; /* whose columns these are */
	bool with_target;
	int64_t cluster, class_index;
	double share; /* the class's fraction of the cluster's weight */
	const int64_t *columns;
	int64_t ncolumns;
} kdri_shared_features;

typedef struct kdri_seconds {
	double read, prepare, fit, write;
	double layout; /* of the map, if requested */
} kdri_seconds;

typedef struct kdri_bridge_score {
	double features[KDR_BRIDGE_FEATURES];
	double score; /* the criterion, larger is better: the probability, or `back`, or A(s,t) - max(A(s,i), A(i,t)) */
	double probability; /* NaN without a selector */
	double back; /* fraction of the source's classes that are recovered through the bridge; NaN if it was not tried */
	int64_t rank;     /* 0 is the best */
	char reason[192]; /* one line */
} kdri_bridge_score;

/* A data set that was considered as a bridge. */
typedef struct kdri_bridge {
	char *name, *path;
	kdri_bridge_score score;
	double accuracy;
} kdri_bridge;

/* Number of example samples of a cluster, of each kind. */
enum { KDRI_EXAMPLES = 3 };

/* A cluster of the level before that has become several, and what sets the samples of `right` apart from those of `left`: effects as
 * of kdri_cluster_profile, mean_inside of `right` and mean_outside of `left`. */
enum { KDRI_SPLIT_FEATURES = 5 };
typedef struct kdri_split {
	int64_t of, left, right;
	int64_t samples[3]; /* of cluster `of` one level before: those now in left and in right, and all */
	int nfeatures;
	kdri_feature_effect features[KDRI_SPLIT_FEATURES];
} kdri_split;

/* Values of samples as text: a byte for each, from 0 (low) to 254 (high), 255 if missing, in base64 (jobs/say/values.c). */
typedef struct kdri_coded {
	double low, high;
	int fill; /* the most frequent byte: the text has pairs of its number before another byte and that byte; -1: all bytes */
	char *text; /* NULL: there are no values */
	int64_t length;
} kdri_coded;
typedef struct kdri_feature_values {
	int64_t column;
	kdri_coded fit, own; /* as the method used them, and as they were in the file */
	kdri_unit unit;      /* of `own` */
	double origin;       /* the day that dates are counted from, in days since 1970 */
} kdri_feature_values;

/* A task as the report draws it. */
enum { KDRI_STRONGEST = 3 };
typedef struct kdri_map {
	int64_t n;          /* points */
	int64_t *rows;      /* n: whose they are; NULL: all rows in their order */
	int32_t *x, *y;     /* n, from 0 to 65535, on one scale for all tasks */
	int32_t *strongest; /* n x KDRI_STRONGEST columns, -1 if there are fewer; or NULL */
	int64_t *truth;     /* ntruth: known classes, -1 where unknown; or NULL */
	int64_t ntruth;
	char **classes;
	int64_t nclasses;
	int64_t *described; /* `ndescribed` rows whose first words are known, in their order */
	char **excerpts;    /* these words */
	int64_t ndescribed;
	kdri_feature_values *values; /* `nvalues`: features to colour and compare samples by; or NULL */
	int64_t nvalues;
} kdri_map;

/* What a data set has from others that it was clustered together with. */
typedef struct kdri_task_sharing {
	char *reason;  /* NULL: unknown, as there are no others */
	char *from;    /* the data set whose clusters were carried over; NULL: none */
	double apart;  /* from the nearest data set (engine/graph/knn.h); NaN: not computed */
	int64_t moved; /* samples that would be in another cluster in a run alone; -1: unknown */
} kdri_task_sharing;

/* The columns that explain the clusters of a task, if they are not those of the fit (jobs/say/explain.c). */
typedef struct kdri_explaining {
	char *path;      /* NULL: those of the fit explain */
	char **features; /* d names, or NULL */
	int64_t d;
	bool borrowed; /* the names are those of the first task */
	bool table;    /* `dialect`, `origin` and `file_rows` of the task are those of this file */
	kdri_sheet *sheet;
} kdri_explaining;

typedef struct kdri_task_result {
	int64_t n, d, nnz, k;        /* rows and entries here */
	int64_t first, all, all_nnz; /* the first local row among those of all ranks; totals of all */
	int64_t *labels;
	int64_t *
	        number; /* k: of each cluster in the list of all data sets (jobs/say/clusters.c); NULL: its index. Labels and second choices are
			    indices until a job ends, and numbers afterwards */
	int64_t *known; /* nknown pairs of a sample's hash, increasing, and its label (known.h); or NULL */
	int64_t nknown;
	kdr_data *remembered; /* samples and their labels that a model keeps (remembered.h); or NULL */
	struct kdri_moments
	        *moments; /* means and covariances that a model keeps instead (moments.h); or NULL */
	int64_t *sizes;   /* k: samples of all ranks with each label; NULL: not counted */
	char **names; /* k: the known class that a cluster has the samples of, or the name that a person gave it (jobs/say/names.c), or NULL; NULL: none has one */
	int64_t last_field, last_array; /* 1 + index of its latest named value and array; 0: none */
	char *name, *path;
	char **features; /* d names, or NULL */
	bool borrowed;   /* the names are those of the first task */
	kdri_explaining view;
	char **ids;          /* n names, or NULL */
	kdr_scores scores;   /* n is 0 if no true classes are known */
	kdr_quality quality; /* n is 0 if it was not requested */
	char **notes;        /* notes on the table it was read from, one line each */
	int64_t nnotes;
	char *compared;    /* what texts are compared by, with word vectors; or NULL */
	kdri_sheet *sheet; /* its columns; NULL: it was not read from a table, or from one of plain numbers */
	char **advice;     /* sentences */
	int64_t nadvice;
	kdri_task_sharing sharing;
	kdri_cluster_profile *profiles; /* k, or NULL */
	bool words;                     /* the features of profiles are words, ranked by kdri_specific */
	kdri_markers *markers;          /* NULL without profiles */
	kdr_left_out *left_out;         /* rows of the file that are not among the n; texts are owned */
	int64_t nleft_out;
	double *confidence;          /* n, or NULL; used if the method has no array of that name */
	const char *confidence_from; /* static; NULL if there is none */
	double *probabilities;       /* n x classes, or NULL */
	int64_t *second;             /* n: the second-best label, -1 if there is none; or NULL */
	double *shared;              /* n x width: kdr_result_representation; or NULL */
	int64_t width;
	unsigned char *
	        no_label; /* n: why a sample has no label, 0 if it has one (jobs/content.h); NULL: all have content */
	int64_t *
	        examples; /* k x 2 x KDRI_EXAMPLES rows, -1 if there are fewer: the most and the least certain; or NULL */
	kdri_map *map; /* NULL: not wanted */
	/* of one level of several: */
	int64_t *
	        parents; /* k: the cluster of the level before that most samples of each were in, -1 if it is empty; NULL at the first level */
	kdri_split *splits;
	int64_t nsplits;
	/* for a task read from a text table, whose rows may be a part of a file: */
	kdri_dialect dialect;
	int64_t *origin;   /* n: the row of the file that each sample is, from 0; NULL: unknown */
	int64_t file_rows; /* rows of the file */
	/* of a target with samples to be labelled next (array "ask"): what a person sees of each */
	char **shown_titles, **shown; /* nshown titles; a text for each sample and title, or NULL */
	int64_t nshown, shown_rows;
} kdri_task_result;

struct kdr_result {
	kdr_allocator allocator;
	const kdr_algo *algo;
	int64_t ntasks;
	kdri_task_result *tasks;
	double *objective;
	int64_t objective_count, objective_room;
	kdr_stop stop;
	int64_t iterations;
	bool sweeps; /* max_iter was the number of rounds, not a limit */
	kdr_array *arrays;
	int64_t array_count, array_room;
	/* For each array, 1 + index of the previous array of the same task, 0: none; also the latest one that belongs to
	 * all tasks. */
	int64_t *array_next, array_next_room, last_array;
	kdri_field *fields;
	int64_t field_count, field_room;
	kdri_names field_names; /* index of each field by its name, which it borrows */
	kdr_correspondence *matches;
	int64_t match_count, match_room;
	double *relatedness;
	int exponent; /* values were scaled by 2^-exponent before the fit (magnitude.c) */
	char **warnings;
	int64_t warning_count;
	/* the command that made it */
	const char *command; /* static */
	char *command_line;  /* NULL: not set by a program */
	kdr_options *options;
	uint64_t seed;
	int threads;
	kdri_seconds seconds;
	int64_t peak_rss_bytes; /* of the process at the end of the job; 0: unknown */
	kdr_prep *prep;         /* NULL: none */
	char *prep_text;        /* in words, if some clusters have another preprocessing; NULL: as prep */
	kdr_data_kind kind;
	kdr_options *feature_options; /* of the method that learnt features before the fit; NULL: none */
	int64_t feature_columns;
	char **classes; /* NULL: labels are numbers */
	int64_t nclasses;
	bool calibrated; /* probabilities were requested */
	kdr_calibration calibration;
	/* words */
	kdri_bridge *bridges; /* by rank */
	int64_t bridge_count;
	kdri_shared_features *shared; /* columns point into arrays */
	int64_t shared_count;
	bool parted;          /* other ranks have more rows */
	bool combined;        /* samples were compared by both views (jobs/combine.c) */
	bool shared_clusters; /* one list of clusters for all tasks: equal numbers are the same cluster */
	int64_t numbers;      /* all numbers of clusters are below */
	char **titles;        /* `numbers`: what is special about each cluster, or NULL; NULL: not known */
	/* If several numbers of clusters were fitted, with growing k; levels[main_level] is this result, the others are owned. */
	kdr_result **levels;
	int64_t level_count, main_level;
	int64_t level; /* its number of clusters among them: that of the data set with the most levels */
};

/* Counts the rows and cluster sizes of all ranks; call it once the labels are set. */
kdr_status kdri_result_count(kdr_context *ctx, kdr_result *result);

/* --- about.c ----------------------------------------------------------------------------------- */

/* Names and shapes of the tasks: a part of kdri_result_new. */
kdr_status kdri_result_name_tasks(kdr_context *ctx, kdr_result *result, const kdr_problem *problem);
/* Stores what else kdr_fit knows: options, class names, seed, threads. */
kdr_status kdri_result_about(kdr_context *ctx, kdr_result *result, const kdr_problem *problem,
                             const kdr_options *options);
/* Stores what a data set knows: path, shape, names of features and samples. */
kdr_status kdri_result_describe(kdr_context *ctx, kdr_result *result, int64_t task, const kdr_data *data);
/* Numbers of clusters and their indices, for a task whose job has ended: kdri_cluster_at gives -1 for a number that it does not have. */
int64_t kdri_cluster_number(const kdri_task_result *task, int64_t index);
int64_t kdri_cluster_at(const kdri_task_result *task, int64_t number);
/* 1 + the largest number of its clusters. */
int64_t kdri_cluster_span(const kdri_task_result *task);
/* Returns the path of the table that the rows of a task are in. */
const char *kdri_result_table(const kdri_task_result *task);
/* Stores the names of the columns that explain the clusters of a task. */
kdr_status kdri_result_explain(kdr_context *ctx, kdr_result *result, int64_t task, const kdr_data *view);
kdr_status kdri_result_classes(kdr_context *ctx, kdr_result *result, const char *const *names, int64_t count);
/* Adds advice about a task; each line of the text becomes one entry. */
kdr_status kdri_result_advise(kdr_context *ctx, kdr_result *result, int64_t task, const char *text);
/* Inserts warnings from before the fit at the beginning. */
kdr_status kdri_result_warn_first(kdr_context *ctx, kdr_result *result, const char *const *texts,
                                  int64_t count);
/* Frees what about.c has stored. */
void kdri_result_about_free(kdr_result *result);

/* Returns the number or text of a data set (-1: of all) with this name; NULL if there is none. */
const kdri_field *kdri_result_field(const kdr_result *r, int64_t task, const char *name);

#endif
