/* The tables that data sets were read from, with their results as further columns. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_INPUT_COPY_H
#define KDRI_INPUT_COPY_H

#include "core/internal.h"
#include "core/json_read.h"
#include "core/json_write.h"

/* A data set and its results. Texts of labels are borrowed. */
typedef struct kdri_copied {
	const char *task; /* its name */
	const char *
	        table; /* path of the file, or of the sheet of a workbook; NULL: it was not read from a table */
	kdri_dialect dialect;
	int64_t file_rows;
	const int64_t *origin; /* n: the row of each sample in the file, from 0 */
	int64_t n;
	const int64_t *labels, *second; /* n, -1: none; `second` may be NULL */
	const double *confidence;       /* n, NaN: unknown; or NULL */
	const char **label, **name;     /* k: texts of labels; names of clusters, or NULL */
	int64_t k;
} kdri_copied;

/* An error unless `columns`, a list such as "label,name", is valid. */
kdr_status kdri_copied_check(kdr_context *ctx, const char *columns);
/* Writes the copy that data set `at` gets into. `classes`: labels are classes. `columns` NULL: those that the results have. */
kdr_status kdri_copied_write(kdr_context *ctx, const kdri_copied *sets, int64_t count, int64_t at,
                             bool classes, const char *columns, const char *path, bool force);
/* Writes the copies of all data sets. Without `write`, checks whether it is possible. `result`: for errors. */
kdr_status kdri_copied_write_all(kdr_context *ctx, const char *result, const kdri_copied *sets, int64_t count,
                                 bool classes, const char *columns, const char *path, bool write, bool force);
/* kdr_copy_paths, of which only the tables, dialects, rows and names are needed. */
kdr_status kdri_copy_paths(kdr_context *ctx, const kdri_copied *sets, int64_t count, const char *path,
                           char ***out);
/* Whether data set t is the first of its copy. */
bool kdri_first_of_copy(char *const *file, int64_t t);

/* The numbers 0 to k - 1 as texts, in *texts; (*label)[c] is that of c. Free both. */
kdr_status kdri_copied_numbers(kdr_context *ctx, int64_t k, char (**texts)[24], const char ***label);
/* Writes how a table was read as the object "table" of a data set in result.json. Without `samples`, its rows are omitted. */
void kdri_json_table(kdri_json *j, const char *path, const kdri_copied *table, bool samples);
/* Reads this object into `to`; its table stays NULL if there is none. Free *origin. `to` borrows from both. */
kdr_status kdri_copied_table(kdr_context *ctx, const char *result, const kdri_json_value *task, int64_t n,
                             kdri_copied *to, int64_t **origin);

#endif
