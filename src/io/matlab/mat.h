/* Both generations of MATLAB files. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_MAT_H
#define KDRI_MAT_H

#include "io/binary.h"

/* `wanted` is the variable, or NULL for the only matrix of numbers. */
kdr_status kdri_mat5_read(kdr_context *ctx, const char *path, const char *wanted, kdr_data *data);
kdr_status kdri_mat73_read(kdr_context *ctx, const char *path, kdr_data *data);

/* Which variable to read; filled while the variables are listed. */
typedef struct kdri_mat_search {
	int64_t count;    /* matrices of numbers */
	char name[256];   /* the first one, or the requested one */
	char others[256]; /* all of them, for errors */
} kdri_mat_search;
/* `problem` is NULL for a matrix of numbers; otherwise it describes what the variable is instead. */
void kdri_mat_note(kdri_mat_search *search, const char *name, const char *problem);
kdr_status kdri_mat_choose(kdr_context *ctx, const char *path, const char *wanted, kdri_mat_search *search);

#endif
