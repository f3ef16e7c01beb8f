/* The part of zlib's interface that src/io uses, for builds without zlib. SPDX-License-Identifier: BSD-3-Clause
 *
 * kdri_need_zlib fails before any stream is opened, so that these functions are never called; they exist for the
 * compiler. Checksums are implemented: archives with uncompressed members can be read and written. */
#ifndef KDRI_ABSENT_ZLIB_H
#define KDRI_ABSENT_ZLIB_H

#include <stddef.h>
#include <stdint.h>

enum {
	Z_OK = 0,
	Z_STREAM_END = 1,
	Z_STREAM_ERROR = -2,
	Z_MEM_ERROR = -4,
	Z_BUF_ERROR = -5,
	Z_NO_FLUSH = 0,
	Z_FINISH = 4,
	Z_DEFLATED = 8,
	Z_DEFAULT_STRATEGY = 0
};
#define Z_NULL NULL

typedef unsigned uInt;
typedef void *voidpf;

typedef struct z_stream {
	const unsigned char *next_in;
	unsigned char *next_out;
	uInt avail_in, avail_out;
	unsigned long total_out;
	const char *msg;
	voidpf (*zalloc)(voidpf opaque, uInt items, uInt size);
	void (*zfree)(voidpf opaque, voidpf address);
	voidpf opaque;
} z_stream;

static inline int kdri_no_zlib(z_stream *z)
{
	(void)z;
	return Z_STREAM_ERROR;
}

#define inflateInit(z)                                     kdri_no_zlib(z)
#define inflateInit2(z, window)                            ((void)(window), kdri_no_zlib(z))
#define inflate(z, flush)                                  kdri_no_zlib(z)
#define inflateReset(z)                                    ((void)kdri_no_zlib(z))
#define inflateEnd(z)                                      ((void)kdri_no_zlib(z))
#define deflateInit2(z, level, method, window, memory, st) kdri_no_zlib(z)
#define deflate(z, flush)                                  kdri_no_zlib(z)
#define deflateEnd(z)                                      ((void)kdri_no_zlib(z))

/* CRC-32 of ISO 3309, reflected, four bits at a time. */
static inline unsigned long crc32(unsigned long crc, const unsigned char *data, uInt size)
{
	static const uint32_t table[16] = { 0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
		                            0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
		                            0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
		                            0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c };
	uint32_t c = ~(uint32_t)crc;
	for (uInt i = 0; i < size; i++) {
		c = table[(c ^ data[i]) & 15] ^ c >> 4;
		c = table[(c ^ (uint32_t)data[i] >> 4) & 15] ^ c >> 4;
	}
	return (uint32_t)~c;
}

#endif
