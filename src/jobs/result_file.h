/* A result.json as the input of a job: kindred cut, kindred relabel. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_RESULT_FILE_H
#define KDRI_RESULT_FILE_H

#include "core/json_read.h"
#include "core/json_write.h"
#include "io/io.h"

typedef struct kdri_result_file {
	char *text;
	kdri_json_value *root;
} kdri_result_file;

/* Reads, parses and checks a result. kdri_result_file_close also after a failure. */
kdr_status kdri_result_file_open(kdr_context *ctx, const char *path, kdri_result_file *out);
void kdri_result_file_close(kdr_context *ctx, kdri_result_file *file);

/* Whether a list is absent or has `n` entries. */
bool kdri_json_has_length(const kdri_json_value *list, int64_t n);
/* An error unless the name of a data set, which may be NULL, can be the name of a file. `where` completes "data set 1 of ...". */
kdr_status kdri_check_file_name(kdr_context *ctx, const char *path, int64_t task, const char *where,
                                const char *name);

/* Cells of samples.csv: the id of sample i, or its number from 1; a number, empty if it is absent. */
kdr_status kdri_put_id_cell(kdr_context *ctx, kdri_output *out, const kdri_json_value *ids, int64_t i);
kdr_status kdri_put_number_cell(kdr_context *ctx, kdri_output *out, const kdri_json_value *value);
/* A cluster number, empty if it is negative: the sample has no label. */
kdr_status kdri_put_cluster_cell(kdr_context *ctx, kdri_output *out, const kdri_json_value *value);
/* Why sample i of a data set of a result has no label, in the words of samples.csv. */
const char *kdri_unlabelled_reason(const kdri_json_value *task, int64_t i);

/* "files": the names of all files in the folder of the result.json at `path`: itself and what waits in the open set of outputs. It is
 * near the beginning of a result, so that it can be read without the rest. */
void kdri_put_files(kdr_context *ctx, kdri_json *j, const char *path);
/* With an open set: files of the earlier result at `path` that the set does not have are removed when it ends. Only names of
 * regular files in the folder itself count, and no file that was read. */
kdr_status kdri_drop_earlier(kdr_context *ctx, const char *path);

/* What an edits file refers to a result by: a hash of the data sets' names and labels and of earlier edits, in base64. */
enum { KDRI_FINGERPRINT = 45 };
kdr_status kdri_result_fingerprint(kdr_context *ctx, const kdri_json_value *root, char out[KDRI_FINGERPRINT]);

#endif
