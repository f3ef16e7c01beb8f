/* A result from the inside: for the library's own layers, not for methods. SPDX-License-Identifier: BSD-3-Clause
 *
 * A result owns all it says, so that it outlives the data: what was fitted (result.c), and what it was fitted on
 * and with (about.c). Words for people are put in by src/job. */
#ifndef KDRI_RESULT_H
#define KDRI_RESULT_H

#include "core/internal.h"

/* A named number or text. */
typedef struct kdri_field {
	char *name;   /* as in result.json: "confidence.TASK" for one of a task */
	char *text;   /* NULL: a number */
	size_t stem;  /* length of the name without the task's */
	int64_t task; /* -1: of all */
	double number;
} kdri_field;

/* A data set that was considered as a bridge. */
typedef struct kdri_bridge {
	char *name, *path;
	kdr_bridge_score score;
	double accuracy;
} kdri_bridge;

/* Samples that stand for a cluster, of each kind. */
enum { KDRI_EXAMPLES = 3 };

/* A task as the report draws it. */
enum { KDRI_STRONGEST = 3 };
typedef struct kdri_map {
	int64_t n;          /* points */
	int64_t *rows;      /* n: whose they are; NULL: all rows in their order */
	int32_t *x, *y;     /* n, from 0 to 65535, on one scale for all tasks */
	int32_t *strongest; /* n x KDRI_STRONGEST columns, -1 where there are fewer; or NULL */
	int64_t *truth;     /* ntruth: known classes, -1 where unknown; or NULL */
	int64_t ntruth;
	char **classes;
	int64_t nclasses;
	int64_t *told;   /* ntold rows whose first words are known, in their order */
	char **excerpts; /* these words */
	int64_t ntold;
} kdri_map;

typedef struct kdri_task_result {
	int64_t n, d, nnz, k;        /* rows and entries here */
	int64_t first, all, all_nnz; /* the number of the first row here among those of all ranks; these */
	int64_t *labels;
	int64_t *sizes; /* k: samples of all ranks with each label; NULL: nobody counted */
	char *name, *path;
	char **features;     /* d names, or NULL */
	bool borrowed;       /* the names are those of the first task */
	char **ids;          /* n names, or NULL */
	kdr_scores scores;   /* n is 0 where no truth is known */
	kdr_quality quality; /* n is 0 where it was not asked for */
	char **notes;        /* on the table it was read from, a line each */
	int64_t nnotes;
	kdri_sheet *sheet; /* its columns; NULL: it came from no table, or one of plain numbers */
	char **advice;     /* sentences */
	int64_t nadvice;
	kdr_cluster_profile *profiles; /* k, or NULL */
	kdr_left_out *left_out;        /* rows of the file that are not among the n; texts are owned */
	int64_t nleft_out;
	double *confidence;          /* n, or NULL; where the method leaves no array of that name */
	const char *confidence_from; /* static; NULL where there is none */
	double *probabilities;       /* n x classes, or NULL */
	int64_t *second;             /* n: the next best label, -1 where there is none; or NULL */
	int64_t *
	        examples; /* k x 2 x KDRI_EXAMPLES rows, -1 where there are fewer: the surest, the least sure; or NULL */
	kdri_map *map; /* NULL: not wanted */
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
	bool sweeps; /* max_iter was how many rounds to make, not a limit */
	kdr_array *arrays;
	int64_t array_count;
	kdri_field *fields;
	int64_t field_count;
	kdr_correspondence *matches;
	int64_t match_count;
	double *relatedness;
	int exponent; /* values were scaled by 2^-exponent before the fit (magnitude.c) */
	char **warnings;
	int64_t warning_count;
	/* what it is of */
	const char *command; /* static */
	char *command_line;  /* NULL: no program said */
	kdr_options *options;
	uint64_t seed;
	int threads;
	kdr_seconds seconds;
	double estimated_bytes; /* before the fit; 0: nobody estimated them */
	int64_t peak_rss_bytes; /* of the process when the job was done; 0: not known */
	kdr_prep *prep;         /* NULL: none */
	kdr_data_kind kind;
	kdr_options *feature_options; /* of the method that learnt features first; NULL: none did */
	int64_t feature_columns;
	char **classes; /* NULL: labels are numbers */
	int64_t nclasses;
	bool calibrated; /* probabilities were asked for */
	kdr_calibration calibration;
	/* words */
	kdri_bridge *bridges; /* by rank */
	int64_t bridge_count;
	kdr_shared_features *shared; /* columns point into arrays */
	int64_t shared_count;
	bool parted; /* other ranks have more rows */
};

/* Rows and sizes of clusters of all ranks; to be called when labels are there. */
kdr_status kdri_result_count(kdr_context *ctx, kdr_result *result);

/* --- about.c ----------------------------------------------------------------------------------- */

/* Names and shapes of the tasks: a part of kdri_result_new. */
kdr_status kdri_result_name_tasks(kdr_context *ctx, kdr_result *result, const kdr_problem *problem);
/* What kdr_fit knows besides: options, names of classes, seed, threads. */
kdr_status kdri_result_about(kdr_context *ctx, kdr_result *result, const kdr_problem *problem,
                             const kdr_options *options);
/* What a data set knows besides: path, shape, names of features and samples. */
kdr_status kdri_result_describe(kdr_context *ctx, kdr_result *result, int64_t task, const kdr_data *data);
kdr_status kdri_result_classes(kdr_context *ctx, kdr_result *result, const char *const *names, int64_t count);
/* A sentence about a task. */
kdr_status kdri_result_advise(kdr_context *ctx, kdr_result *result, int64_t task, const char *text);
/* Warnings of what came before the fit, put first. */
kdr_status kdri_result_warn_first(kdr_context *ctx, kdr_result *result, const char *const *texts,
                                  int64_t count);
/* Releases what about.c put in. */
void kdri_result_about_free(kdr_result *result);

#endif
