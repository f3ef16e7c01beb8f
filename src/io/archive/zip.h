/* Zip archives. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_ZIP_H
#define KDRI_ZIP_H

#include "io/binary.h"

/* Members of a zip archive as streams of bytes, and archives made of stored members. */

typedef struct kdri_zip kdri_zip;
typedef struct kdri_zip_member kdri_zip_member;

/* Reads the directory of the archive. */
kdr_status kdri_zip_open(kdr_context *ctx, const char *path, kdri_zip **out);
void kdri_zip_close(kdr_context *ctx, kdri_zip *zip);
int64_t kdri_zip_count(const kdri_zip *zip);
const char *kdri_zip_name(const kdri_zip *zip, int64_t index);
int64_t kdri_zip_find(const kdri_zip *zip, const char *name); /* -1: none */

/* Opens a stored or deflated member with plausible sizes. *source borrows the archive and `label` until it is closed.
 * The checksum is compared when the last byte has been read. */
kdr_status kdri_zip_member_open(kdr_context *ctx, const kdri_zip *zip, int64_t index, const char *label,
                                kdri_zip_member **out, kdri_source *source);
void kdri_zip_member_close(kdr_context *ctx, kdri_zip_member *member);

/* Parts of a member to be written, one after the other. */
typedef struct kdri_zip_part {
	const void *data;
	size_t size;
} kdri_zip_part;
typedef struct kdri_zip_new {
	const char *name;
	const kdri_zip_part *parts;
	int nparts;
} kdri_zip_new;
/* Writes an archive of stored members; uses zip64 if sizes require it. */
kdr_status kdri_zip_write(kdr_context *ctx, kdri_output *o, const kdri_zip_new *members, int count);

#endif
