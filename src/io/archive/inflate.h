/* zlib within a context. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_INFLATE_H
#define KDRI_INFLATE_H

#include <zlib.h>

#include "core/internal.h"

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

#endif
