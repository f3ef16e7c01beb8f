/* Writing zip archives of stored members. SPDX-License-Identifier: BSD-3-Clause
 *
 * All bytes are in memory, so sizes and checksums are known before a member is written. Data descriptors, which some
 * readers refuse, are therefore not needed. Only numbers that need more than 32 bits are written to zip64 fields, as
 * by other tools. */
#include "io/archive/zip.h"

#include <zlib.h>

typedef struct record {
	uint32_t crc;
	uint64_t size, offset;
} record;

static unsigned char *zip_write_put(unsigned char *p, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++, value >>= 8)
		*p++ = (unsigned char)value;
	return p;
}

/* 2026-01-01: archives of the same data are the same bytes, whenever they are made. */
enum { DOS_DATE = (2026 - 1980) << 9 | 1 << 5 | 1 };

/* The fields local and central headers share: version needed .. length of the name. */
static unsigned char *put_common(unsigned char *p, const record *r, size_t name)
{
	bool wide = r->size >= UINT32_MAX;
	p = zip_write_put(p, wide || r->offset >= UINT32_MAX ? 45 : 20, 2);
	p = zip_write_put(p, 0, 2); /* flags */
	p = zip_write_put(p, 0, 2); /* stored */
	p = zip_write_put(p, 0, 2); /* midnight */
	p = zip_write_put(p, DOS_DATE, 2);
	p = zip_write_put(p, r->crc, 4);
	p = zip_write_put(p, wide ? UINT32_MAX : r->size, 4);
	p = zip_write_put(p, wide ? UINT32_MAX : r->size, 4);
	return zip_write_put(p, name, 2);
}

static kdr_status write_member(kdr_context *ctx, kdri_output *o, const kdri_zip_new *m, record *r,
                               uint64_t *at)
{
	unsigned char header[64], *p = header;
	size_t name = strlen(m->name);
	r->offset = *at;
	for (int i = 0; i < m->nparts; i++) {
		const unsigned char *data = m->parts[i].data;
		r->size += m->parts[i].size;
		for (size_t left = m->parts[i].size; left > 0;) {
			size_t n = KDRI_MIN(left, (size_t)1 << 30);
			r->crc = (uint32_t)crc32(r->crc, data, (uInt)n);
			data += n;
			left -= n;
		}
	}
	bool wide = r->size >= UINT32_MAX;
	memcpy(p, "PK\3\4", 4);
	p = put_common(p + 4, &(record){ r->crc, r->size, 0 }, name);
	p = zip_write_put(p, wide ? 20 : 0, 2);
	KDRI_DO(kdri_output_write(ctx, o, header, (size_t)(p - header)));
	KDRI_DO(kdri_output_write(ctx, o, m->name, name));
	*at += (uint64_t)(p - header) + name + r->size + (wide ? 20 : 0);
	if (wide) {
		p = zip_write_put(zip_write_put(header, 1, 2), 16, 2);
		zip_write_put(zip_write_put(p, r->size, 8), r->size, 8);
		KDRI_DO(kdri_output_write(ctx, o, header, 20));
	}
	for (int i = 0; i < m->nparts; i++)
		KDRI_DO(kdri_output_write(ctx, o, m->parts[i].data, m->parts[i].size));
	return KDR_OK;
}

static kdr_status write_central(kdr_context *ctx, kdri_output *o, const kdri_zip_new *m, const record *r,
                                uint64_t *at)
{
	unsigned char header[64], extra[28], *p = header, *q = extra + 4;
	size_t name = strlen(m->name);
	if (r->size >= UINT32_MAX)
		q = zip_write_put(zip_write_put(q, r->size, 8), r->size, 8);
	if (r->offset >= UINT32_MAX)
		q = zip_write_put(q, r->offset, 8);
	size_t wide = q == extra + 4 ? 0 : (size_t)(q - extra);
	zip_write_put(zip_write_put(extra, 1, 2), wide ? wide - 4 : 0, 2);
	memcpy(p, "PK\1\2", 4);
	p = zip_write_put(p + 4, 3 << 8 | 45, 2); /* made on Unix */
	p = put_common(p, r, name);
	p = zip_write_put(p, wide, 2);
	p = zip_write_put(p, 0, 2);           /* comment */
	p = zip_write_put(p, 0, 2);           /* disk */
	p = zip_write_put(p, 0, 2);           /* internal attributes */
	p = zip_write_put(p, 0644u << 16, 4); /* rw-r--r-- */
	p = zip_write_put(p, KDRI_MIN(r->offset, UINT32_MAX), 4);
	KDRI_DO(kdri_output_write(ctx, o, header, (size_t)(p - header)));
	KDRI_DO(kdri_output_write(ctx, o, m->name, name));
	KDRI_DO(kdri_output_write(ctx, o, extra, wide));
	*at += (uint64_t)(p - header) + name + wide;
	return KDR_OK;
}

static kdr_status write_end(kdr_context *ctx, kdri_output *o, int count, uint64_t begin, uint64_t end)
{
	unsigned char raw[128], *p = raw;
	if (begin >= UINT32_MAX || end - begin >= UINT32_MAX) {
		memcpy(p, "PK\6\6", 4);
		p = zip_write_put(p + 4, 44, 8);
		p = zip_write_put(zip_write_put(p, 45, 2), 45, 2);
		p = zip_write_put(zip_write_put(p, 0, 4), 0, 4);
		p = zip_write_put(zip_write_put(p, (uint64_t)count, 8), (uint64_t)count, 8);
		p = zip_write_put(zip_write_put(p, end - begin, 8), begin, 8);
		memcpy(p, "PK\6\7", 4);
		p = zip_write_put(zip_write_put(zip_write_put(p + 4, 0, 4), end, 8), 1, 4);
	}
	memcpy(p, "PK\5\6", 4);
	p = zip_write_put(zip_write_put(p + 4, 0, 2), 0, 2);
	p = zip_write_put(zip_write_put(p, (uint64_t)count, 2), (uint64_t)count, 2);
	p = zip_write_put(p, KDRI_MIN(end - begin, UINT32_MAX), 4);
	p = zip_write_put(p, KDRI_MIN(begin, UINT32_MAX), 4);
	p = zip_write_put(p, 0, 2);
	return kdri_output_write(ctx, o, raw, (size_t)(p - raw));
}

kdr_status kdri_zip_write(kdr_context *ctx, kdri_output *o, const kdri_zip_new *members, int count)
{
	kdr_status st;
	record *records = NULL;
	uint64_t at = 0;
	KDRI_TRY(KDRI_NEW0(ctx, &records, count));
	for (int i = 0; i < count; i++)
		KDRI_TRY(write_member(ctx, o, &members[i], &records[i], &at));
	uint64_t begin = at;
	for (int i = 0; i < count; i++)
		KDRI_TRY(write_central(ctx, o, &members[i], &records[i], &at));
	KDRI_TRY(write_end(ctx, o, count, begin, at));
done:
	kdri_free(ctx, records);
	return st;
}
