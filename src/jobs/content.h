/* Samples without content, which have no label. SPDX-License-Identifier: BSD-3-Clause
 *
 * A text without known words, a sparse row without entries, a row whose values are all missing and an embedding of zeros say nothing about their cluster. Jobs
 * leave them out before anything else and give them a place in the result at the end, so that every output has one entry for each row. */
#ifndef KDRI_CONTENT_H
#define KDRI_CONTENT_H

#include "jobs/known.h"

/* Why a sample has no label. */
typedef enum kdri_no_label {
	KDRI_HAS_LABEL,
	KDRI_NO_WORDS,
	KDRI_NO_ENTRIES,
	KDRI_ALL_MISSING,
	KDRI_ALL_ZERO, /* an embedding, which has no direction */
	KDRI_NO_LABELS /* number of reasons */
} kdri_no_label;
/* Such as "no known words", for samples.csv. */
const char *kdri_no_label_text(kdri_no_label why);

typedef struct kdri_content_set {
	kdr_data *given;    /* the data set with all rows */
	kdr_data *own;      /* its rows with content; NULL: all have content */
	unsigned char *why; /* given->rows of kdri_no_label, if `own` is set */
	int64_t *rows;      /* own->rows: the row of `given` that each row is, if `own` is set */
	int64_t *init;      /* labels to begin with, of the rows of `own`; or NULL */
} kdri_content_set;
typedef struct kdri_content {
	kdri_content_set *sets;
	int64_t count;
	const int64_t **init; /* of all data sets; NULL: none */
} kdri_content;

/* Finds the rows of data without content: *out has the reason for each row, or stays NULL if there are none. */
kdr_status kdri_content_find(kdr_context *ctx, const kdr_data *data, unsigned char **out);
/* Replaces those of `count` data sets that have rows without content by copies without these rows. If no row has content, this is an
 * error. Several processes keep all rows. `alone`: texts that were also read alone have the words of that reading (data->alone). kdri_content_free also
 * after a failure. */
kdr_status kdri_content_take(kdr_context *ctx, kdr_data **sets, int64_t count, bool alone, kdri_content *out);
void kdri_content_free(kdr_context *ctx, kdri_content *content);
/* Labels to begin with, for the rows that are left. */
kdr_status kdri_content_init(kdr_context *ctx, kdri_content *content, const int64_t *const *init);
/* The same for known classes and links, which then belong to the rows of `sets`. */
void kdri_content_known(const kdri_content *content, kdr_data *const *sets, kdri_job_known *known);
/* One entry per row of data set i, for the rows that are left, in place. */
void kdri_content_ints(const kdri_content *content, int64_t i, int64_t *values);
/* Gives the tasks of a result from `first` on, which are the data sets in their order, an entry for each row of the data sets given, at
 * all levels, and warns of those without a label. */
kdr_status kdri_content_put(kdr_context *ctx, const kdri_content *content, int64_t first, kdr_result *result);
/* Takes the labels from samples without content; `why`, which may be NULL, becomes the task's. */
void kdri_content_mark(kdri_task_result *task, unsigned char *why);
/* Warns of samples without a label. */
kdr_status kdri_content_warn(kdr_context *ctx, kdr_result *result, int64_t task);

#endif
