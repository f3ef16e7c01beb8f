/* Reading zip archives, such as .npz files. SPDX-License-Identifier: BSD-3-Clause
 *
 * An archive ends with a directory of its members: name, method, sizes, place. The directory is found from the end of
 * the file, read once, and every number in it checked against the file's size before it is used. A member that claims to
 * grow by more than deflate allows is an error before it is read. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/system.h"
#include "io/archive/inflate.h"
#include "io/archive/zip.h"
#include "io/output/set.h"

enum {
	END_SIZE = 22,
	END64_SIZE = 56,
	LOCATOR_SIZE = 20,
	CENTRAL_SIZE = 46,
	LOCAL_SIZE = 30,
	COMMENT_MOST = 65535,
	DIRECTORY_MOST = 1 << 26,
	BUFFER = 1 << 16
};

typedef struct entry {
	char *name;
	unsigned flags, method;
	uint32_t crc;
	uint64_t packed, size, offset;
} entry;

struct kdri_zip {
	char *path;
	int fd;
	uint64_t size;
	int64_t count;
	entry *entries;
};

struct kdri_zip_member {
	const kdri_zip *zip;
	const entry *entry;
	const char *label;
	uint64_t at, end; /* packed bytes not yet taken from the file */
	uint64_t given;   /* bytes given to the reader */
	uint32_t crc;
	bool stream_open;
	z_stream z;
	unsigned char buffer[BUFFER];
};

static uint32_t le(const unsigned char *p, int bytes)
{
	uint32_t x = 0;
	for (int i = bytes; i-- > 0;)
		x = x << 8 | p[i];
	return x;
}

static uint64_t le64(const unsigned char *p)
{
	return (uint64_t)le(p + 4, 4) << 32 | le(p, 4);
}

static kdr_status zip_damaged(kdr_context *ctx, const kdri_zip *zip, const char *what)
{
	return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: the zip archive is damaged: %s", zip->path, what);
}

/* Exactly `size` bytes at `offset`, which the caller has checked to be inside the file. */
static kdr_status read_at(kdr_context *ctx, const kdri_zip *zip, void *to, size_t size, uint64_t offset)
{
	unsigned char *p = to;
	while (size > 0) {
		int64_t n = kdri_read_at(zip->fd, p, size, (int64_t)offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return kdri_fail(ctx, KDR_ERR_READ, "%s: cannot read: %s", zip->path,
			                 strerror(errno));
		if (n == 0)
			return zip_damaged(ctx, zip, "the file became shorter while it was read");
		p += n;
		size -= (size_t)n;
		offset += (uint64_t)n;
	}
	return KDR_OK;
}

/* Where the directory lies, from the record at the end of the file. */
static kdr_status find_directory(kdr_context *ctx, const kdri_zip *zip, uint64_t *offset, uint64_t *size,
                                 uint64_t *count)
{
	kdr_status st;
	unsigned char *tail = NULL, end64[END64_SIZE];
	size_t n = (size_t)KDRI_MIN(zip->size, (uint64_t)(COMMENT_MOST + END_SIZE + LOCATOR_SIZE)), at;
	if (n < END_SIZE)
		return zip_damaged(ctx, zip, "the file is too short");
	KDRI_TRY(KDRI_NEW(ctx, &tail, n));
	KDRI_TRY(read_at(ctx, zip, tail, n, zip->size - n));
	for (at = n - END_SIZE;; at--) {
		if (memcmp(tail + at, "PK\5\6", 4) == 0 && at + END_SIZE + le(tail + at + 20, 2) <= n)
			break;
		if (at == 0) {
			st = zip_damaged(ctx, zip, "it does not end with a directory");
			goto done;
		}
	}
	*count = le(tail + at + 10, 2);
	*size = le(tail + at + 12, 4);
	*offset = le(tail + at + 16, 4);
	if (at >= LOCATOR_SIZE && memcmp(tail + at - LOCATOR_SIZE, "PK\6\7", 4) == 0) {
		uint64_t where = le64(tail + at - LOCATOR_SIZE + 8);
		if (where > zip->size || zip->size - where < END64_SIZE) {
			st = zip_damaged(ctx, zip, "its directory is outside the file");
			goto done;
		}
		KDRI_TRY(read_at(ctx, zip, end64, END64_SIZE, where));
		if (memcmp(end64, "PK\6\6", 4) != 0) {
			st = zip_damaged(ctx, zip, "its zip64 record is missing");
			goto done;
		}
		*count = le64(end64 + 32);
		*size = le64(end64 + 40);
		*offset = le64(end64 + 48);
	}
	if (*offset > zip->size || *size > zip->size - *offset || *size > DIRECTORY_MOST ||
	    *count > *size / CENTRAL_SIZE)
		st = zip_damaged(ctx, zip, "its directory is outside the file");
done:
	kdri_free(ctx, tail);
	return st;
}

/* Sizes of 4 GiB and more are in an extra field, only those that need it, in this order. */
static bool widen(entry *e, const unsigned char *extra, size_t length)
{
	uint64_t *fields[3] = { &e->size, &e->packed, &e->offset };
	while (length >= 4) {
		size_t n = le(extra + 2, 2), used = 0;
		if (n > length - 4)
			return false;
		if (le(extra, 2) == 1)
			for (int i = 0; i < 3; i++)
				if (*fields[i] == UINT32_MAX) {
					if (used + 8 > n)
						return false;
					*fields[i] = le64(extra + 4 + used);
					used += 8;
				}
		extra += 4 + n;
		length -= 4 + n;
	}
	return true;
}

static kdr_status read_directory(kdr_context *ctx, kdri_zip *zip)
{
	kdr_status st;
	unsigned char *raw = NULL;
	uint64_t offset = 0, size = 0, count = 0, at = 0;
	KDRI_TRY(find_directory(ctx, zip, &offset, &size, &count));
	KDRI_TRY(KDRI_NEW(ctx, &raw, size));
	KDRI_TRY(read_at(ctx, zip, raw, (size_t)size, offset));
	KDRI_TRY(KDRI_NEW0(ctx, &zip->entries, count));
	for (uint64_t i = 0; i < count; i++) {
		const unsigned char *p = raw + at;
		if (size - at < CENTRAL_SIZE || memcmp(p, "PK\1\2", 4) != 0)
			goto bad;
		size_t name = le(p + 28, 2), extra = le(p + 30, 2), comment = le(p + 32, 2);
		if (size - at - CENTRAL_SIZE < name + extra + comment)
			goto bad;
		entry *e = &zip->entries[i];
		*e = (entry){ .flags = le(p + 8, 2),
			      .method = le(p + 10, 2),
			      .crc = le(p + 16, 4),
			      .packed = le(p + 20, 4),
			      .size = le(p + 24, 4),
			      .offset = le(p + 42, 4) };
		if (!widen(e, p + CENTRAL_SIZE + name, extra))
			goto bad;
		KDRI_TRY(kdri_strndup(ctx, (const char *)p + CENTRAL_SIZE, name, &e->name));
		zip->count++;
		at += CENTRAL_SIZE + name + extra + comment;
	}
	goto done;
bad:
	st = zip_damaged(ctx, zip, "its directory cannot be read");
done:
	kdri_free(ctx, raw);
	return st;
}

kdr_status kdri_zip_open(kdr_context *ctx, const char *path, kdri_zip **out)
{
	kdr_status st;
	kdri_zip *zip = NULL;
	kdri_file info;
	KDRI_TRY(KDRI_NEW0(ctx, &zip, 1));
	zip->fd = -1;
	KDRI_TRY(kdri_strdup(ctx, path, &zip->path));
	zip->fd = kdri_open(path, O_RDONLY);
	if (zip->fd < 0 || !kdri_file_open(zip->fd, &info))
		KDRI_FAIL(ctx, KDR_ERR_READ, "%s: cannot open: %s", path, strerror(errno));
	if (!info.regular)
		KDRI_FAIL(ctx, KDR_ERR_READ, "%s: is %s; a zip archive must be a regular file", path,
		          info.folder ? "a directory" : "not a regular file");
	KDRI_TRY(kdri_seen_add(ctx, &info));
	zip->size = (uint64_t)info.bytes;
	KDRI_TRY(read_directory(ctx, zip));
	*out = zip;
	zip = NULL;
done:
	kdri_zip_close(ctx, zip);
	return st;
}

void kdri_zip_close(kdr_context *ctx, kdri_zip *zip)
{
	if (!zip)
		return;
	if (zip->fd >= 0)
		close(zip->fd);
	for (int64_t i = 0; i < zip->count; i++)
		kdri_free(ctx, zip->entries[i].name);
	KDRI_FREE(ctx, zip->entries, zip->path, zip);
}

int64_t kdri_zip_count(const kdri_zip *zip)
{
	return zip->count;
}

const char *kdri_zip_name(const kdri_zip *zip, int64_t index)
{
	return zip->entries[index].name;
}

int64_t kdri_zip_find(const kdri_zip *zip, const char *name)
{
	for (int64_t i = 0; i < zip->count; i++)
		if (strcmp(zip->entries[i].name, name) == 0)
			return i;
	return -1;
}

/* --- members -------------------------------------------------------------------------------------- */

static kdr_status member_read(kdr_context *ctx, void *user, void *buffer, size_t want, size_t *got)
{
	kdri_zip_member *m = user;
	unsigned char *to = buffer;
	*got = 0;
	want = (size_t)KDRI_MIN((uint64_t)want, m->entry->size - m->given);
	while (*got < want) {
		size_t n = KDRI_MIN(want - *got, (size_t)1 << 30);
		if (!m->stream_open) {
			n = (size_t)KDRI_MIN((uint64_t)n, m->end - m->at);
			KDRI_DO(read_at(ctx, m->zip, to + *got, n, m->at));
			m->at += n;
		} else {
			if (m->z.avail_in == 0 && m->at < m->end) {
				size_t chunk = (size_t)KDRI_MIN(m->end - m->at, (uint64_t)BUFFER);
				KDRI_DO(read_at(ctx, m->zip, m->buffer, chunk, m->at));
				m->at += chunk;
				m->z.next_in = m->buffer;
				m->z.avail_in = (uInt)chunk;
			}
			m->z.next_out = to + *got;
			m->z.avail_out = (uInt)n;
			int code = inflate(&m->z, Z_NO_FLUSH);
			n -= m->z.avail_out;
			if ((code != Z_OK && code != Z_STREAM_END) || (n == 0 && code == Z_STREAM_END))
				return kdri_fail(ctx, code == Z_MEM_ERROR ? KDR_ERR_MEMORY : KDR_ERR_FORMAT,
				                 "%s: the compressed data are damaged or truncated",
				                 m->label);
		}
		m->crc = (uint32_t)crc32(m->crc, to + *got, (uInt)n);
		m->given += n;
		*got += n;
	}
	if (m->given == m->entry->size && m->crc != m->entry->crc)
		return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: damaged (wrong checksum)", m->label);
	return KDR_OK;
}

kdr_status kdri_zip_member_open(kdr_context *ctx, const kdri_zip *zip, int64_t index, const char *label,
                                kdri_zip_member **out, kdri_source *source)
{
	kdr_status st;
	const entry *e = &zip->entries[index];
	unsigned char local[LOCAL_SIZE];
	kdri_zip_member *m = NULL;
	if (e->flags & 1)
		return kdri_fail(ctx, KDR_ERR_UNSUPPORTED, "%s: is encrypted, which is not supported", label);
	if (e->method != 0 && e->method != Z_DEFLATED)
		return kdri_fail(
		        ctx, KDR_ERR_UNSUPPORTED,
		        "%s: compressed with zip method %u; only stored and deflated members are supported",
		        label, e->method);
	bool possible = e->method == 0 ? e->size == e->packed : e->size / KDRI_DEFLATE_MOST <= e->packed;
	if (!possible || e->size > INT64_MAX || e->packed > zip->size || e->offset > zip->size ||
	    zip->size - e->offset < LOCAL_SIZE)
		return kdri_fail(ctx, KDR_ERR_FORMAT,
		                 "%s: claims %llu bytes, which cannot result from %llu compressed bytes",
		                 label, (unsigned long long)e->size, (unsigned long long)e->packed);
	KDRI_TRY(read_at(ctx, zip, local, LOCAL_SIZE, e->offset));
	uint64_t begin = e->offset + LOCAL_SIZE + le(local + 26, 2) + le(local + 28, 2);
	if (memcmp(local, "PK\3\4", 4) != 0 || begin > zip->size || zip->size - begin < e->packed)
		return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: its position in the archive is wrong", label);
	KDRI_TRY(KDRI_NEW0(ctx, &m, 1));
	m->zip = zip;
	m->entry = e;
	m->label = label;
	m->at = begin;
	m->end = begin + e->packed;
	if (e->method == Z_DEFLATED) {
		KDRI_TRY(kdri_unpacked_check(ctx, label, (double)e->size, (double)zip->size,
		                             KDRI_ARCHIVE_TIMES));
		KDRI_TRY(kdri_inflate_open(ctx, -15, label, &m->z));
		m->stream_open = true;
	}
	*source = (kdri_source){ member_read, m, label, (int64_t)e->size };
	*out = m;
	m = NULL;
done:
	kdri_zip_member_close(ctx, m);
	return st;
}

void kdri_zip_member_close(kdr_context *ctx, kdri_zip_member *m)
{
	if (!m)
		return;
	if (m->stream_open)
		inflateEnd(&m->z);
	kdri_free(ctx, m);
}

/* Writing zip archives of stored members.
 *
 * All bytes are in memory, so sizes and checksums are known before a member is written. Data descriptors, which some
 * readers refuse, are therefore not needed. Only numbers that need more than 32 bits are written to zip64 fields, as
 * by other tools. */

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
