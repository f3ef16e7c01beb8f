/* A result.json as the input of a job: kindred cut, kindred relabel. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_RESULT_FILE_H
#define KDRI_RESULT_FILE_H

#include "core/json_read.h"
#include "core/json_write.h"
#include "io/io.h"

/* A file in full; free *out with kdri_free. */
kdr_status kdri_result_file_text(kdr_context *ctx, const char *path, char **out, size_t *size);
/* report/check.c: whether it is a result, and every field of the type it should have. */
kdr_status kdri_result_file_check(kdr_context *ctx, const char *file, const kdri_json_value *root);
/* Reads, parses and checks a result; free it with kdri_json_value_free. */
kdr_status kdri_result_file_read(kdr_context *ctx, const char *path, kdri_json_value **root);

/* report/hash.c: the SHA-256 of bytes in base64, as a content policy requires it. `out` has space for 45 bytes. */
void kdri_page_hash(const char *bytes, size_t count, char *out);

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
