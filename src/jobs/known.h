/* Known classes of samples that are to be clustered. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_JOBS_KNOWN_H
#define KDRI_JOBS_KNOWN_H

#include "core/classes.h"
#include "core/names.h"
#include "jobs/job.h"

/* What a caller knows, in the form of a problem; its matrices are not used. */
typedef struct kdri_job_known {
	kdr_problem problem;
	kdr_task *tasks;
	int64_t **labels, *rows; /* of each data set */
	char **names;            /* of the classes */
	int64_t nnames;
} kdri_job_known;

/* Reads what the options have about these data sets. */
kdr_status kdri_job_known_take(kdr_context *ctx, const kdr_job_options *options, kdr_data *const *sets,
                               int64_t count, kdri_job_known *out);
void kdri_job_known_free(kdr_context *ctx, kdri_job_known *known);
/* answers.c: rows of samples by their ids. */
typedef struct kdri_id_table {
	kdri_names names;
	int64_t *row; /* of each name; -1: several rows have it */
} kdri_id_table;
typedef struct kdri_ids {
	kdr_data *const *sets;
	int64_t count;
	kdri_id_table *tables; /* count; empty if samples have no ids */
} kdri_ids;
/* Free *out with kdri_ids_free, also after a failure. */
kdr_status kdri_ids_new(kdr_context *ctx, kdr_data *const *sets, int64_t count, kdri_ids *out);
void kdri_ids_free(kdr_context *ctx, kdri_ids *ids);
/* The row of an id in one data set, of which the rows have numbers from 1 if it has no ids; -1: it has none, -2: several. */
int64_t kdri_ids_row(const kdri_ids *ids, int64_t set, const char *id);
/* The first two cells of a line, to be freed; *two: it has exactly two, and the first is not empty. */
kdr_status kdri_two_cells(kdr_context *ctx, const char *text, char delimiter, char *cells[2], bool *two);
/* The rows of a file of known labels that are the samples of a data set; NULL: all in their order. An error if their numbers differ. */
kdr_status kdri_known_rows(kdr_context *ctx, const kdr_labels *known, const kdr_data *data,
                           const int64_t **row);
/* Known classes of sets[target] from files: one label per line; or id and class, where any of these `count` data sets may have the ids; or what
 * KDR_TABLE_ASK writes with classes filled in; several files only of the latter. Free *out with kdr_labels_free. */
kdr_status kdri_answers_read(kdr_context *ctx, const char *const *paths, int64_t npaths,
                             kdr_data *const *sets, int64_t count, int64_t target, kdr_labels **out);

#endif
