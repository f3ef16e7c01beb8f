/* zlib within a context, and zip archives. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_ZIP_H
#define KDRI_ZIP_H

#include <zlib.h>

#include "core/internal.h"
#include "io/binary.h"

/* A stream that allocates through the context, so that failures are handled like any other. */
z_stream kdri_zlib(kdr_context *ctx);
/* Opens a zlib stream for inflating. `window` is that of inflateInit2; `what` is the name in the error if memory is
 * short. */
kdr_status kdri_inflate_open(kdr_context *ctx, int window, const char *what, z_stream *out);

/* How many times its own size a compressed file may unpack to, if that is more than 1 GB. Archives hold arrays or sheets of a
 * declared size. Texts and tables with many zeros legitimately shrink more, and are read as they are unpacked. */
enum { KDRI_ARCHIVE_TIMES = 10, KDRI_STREAM_TIMES = 100 };
double kdri_unpacked_most(const kdr_context *ctx, double packed, int times);
/* KDR_ERR_SIZE if a file of `packed` bytes unpacks to `bytes` bytes and may not. */
kdr_status kdri_unpacked_check(kdr_context *ctx, const char *label, double bytes, double packed, int times);

/* KDR_ERR_UNSUPPORTED for compressed bytes in a build without zlib. */
kdr_status kdri_need_zlib(kdr_context *ctx, const char *what);

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
