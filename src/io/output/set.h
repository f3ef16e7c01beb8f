/* Files that appear together, files that were read, and temporary files. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_OUTPUT_SET_H
#define KDRI_OUTPUT_SET_H

#include "core/internal.h"
#include "core/system.h"

/* Where a file can be read now: its temporary name if it waits in the open set, otherwise `path`. */
const char *kdri_set_find(const kdr_context *ctx, const char *path);
/* The files that wait in the open set; NULL beyond the last. */
const char *kdri_set_at(const kdr_context *ctx, int64_t index);
/* With an open set: removes a file of an earlier result when the set ends without a failure. */
kdr_status kdri_set_remove(kdr_context *ctx, const char *path);

/* Notes a file that is read, if the context protects inputs; and whether a file was read. */
kdr_status kdri_seen_add(kdr_context *ctx, const kdri_file *info);
bool kdri_was_read(const kdr_context *ctx, const kdri_file *info);

#endif
