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

/* KDR_ERR_UNSUPPORTED for compressed bytes in a build without zlib. */
kdr_status kdri_need_zlib(kdr_context *ctx, const char *what);

#endif
