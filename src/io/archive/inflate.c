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
	*out = kdri_zlib(ctx);
	KDRI_DO(kdri_need_zlib(ctx, what));
	if (inflateInit2(out, window) != Z_OK)
		return kdri_fail(ctx, KDR_ERR_MEMORY, "%s: out of memory while decompressing", what);
	return KDR_OK;
}

double kdri_unpacked_most(const kdr_context *ctx, double packed, int times)
{
	return ctx->max_unpacked > 0 ? KDRI_MAX(ctx->max_unpacked, packed) : KDRI_MAX(1e9, times * packed);
}

kdr_status kdri_unpacked_check(kdr_context *ctx, const char *label, double bytes, double packed, int times)
{
	const double most = kdri_unpacked_most(ctx, packed, times);
	if (bytes <= most)
		return KDR_OK;
	return kdri_fail(
	        ctx, KDR_ERR_SIZE,
	        "%s: %.3g MB unpack to at least %.2f MB, and %.2f MB are allowed; if you trust the file, set --max-unpacked",
	        label, packed / 1e6, bytes / 1e6, most / 1e6);
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
