/* zlib within a context. SPDX-License-Identifier: BSD-3-Clause */
#include "io/archive/inflate.h"

static voidpf allocate(voidpf opaque, uInt items, uInt size)
{
	void *p = NULL;
	return kdri_alloc(opaque, &p, (int64_t)items, size) == KDR_OK ? p : Z_NULL;
}

static void inflate_release(voidpf opaque, voidpf ptr)
{
	kdri_free(opaque, ptr);
}

z_stream kdri_zlib(kdr_context *ctx)
{
	return (z_stream){ .zalloc = allocate, .zfree = inflate_release, .opaque = ctx };
}

kdr_status kdri_inflate_open(kdr_context *ctx, int window, const char *what, z_stream *out)
{
	kdr_status st;
	*out = kdri_zlib(ctx);
	KDRI_TRY(kdri_need_zlib(ctx, what));
	if (inflateInit2(out, window) != Z_OK)
		return kdri_fail(ctx, KDR_ERR_MEMORY, "%s: out of memory while decompressing", what);
done:
	return st;
}

kdr_status kdri_need_zlib(kdr_context *ctx, const char *what)
{
#ifdef KDRI_HAVE_ZLIB
	(void)ctx;
	(void)what;
	return KDR_OK;
#else
	return kdri_absent(ctx, what, "zlib, but the file is compressed", NULL);
#endif
}
