/* Columns that options name, over all files of a job. SPDX-License-Identifier: BSD-3-Clause
 *
 * kdr_read_options.columns and .rename may name columns that only some of the files have. While files are read, the context
 * points to a kdri_named, which records what was found. */
#ifndef KDRI_NAMED_H
#define KDRI_NAMED_H

#include "core/names.h"

typedef struct kdri_named {
	bool several;   /* a file need not have columns that other files have */
	kdri_names old; /* rename: old names, */
	char **to;      /* and the new name of each */
	bool *listed;   /* it comes from a table of names, not all of which need occur */
	bool *used;     /* some file has it */
	int64_t room;
	bool *found; /* of each item of `columns`: some file has it; NULL: no table was read */
} kdri_named;

/* Reads the new names and sets ctx->named. kdri_named_end in any case. */
kdr_status kdri_named_begin(kdr_context *ctx, const kdr_read_options *options, bool several, kdri_named *out);
void kdri_named_end(kdr_context *ctx, kdri_named *named);
/* Gives columns of the file `path` their new names. Two columns with the same new name are an error. */
kdr_status kdri_named_rename(kdr_context *ctx, const char *path, char **names, int64_t count);
/* Whether a text is a column name that becomes another. */
bool kdri_named_is_old(const kdri_named *named, const char *text, size_t length);
/* After all files: the error for columns that none of them has. */
kdr_status kdri_named_check(kdr_context *ctx, const kdr_read_options *options, kdr_data *const *sets,
                            int64_t count);

#endif
