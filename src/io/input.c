/* Reads bytes from a file or standard input and decompresses gzip on the fly. SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/system.h"
#include "core/utf8.h"
#include "io/archive/inflate.h"
#include "io/output/set.h"
#include "io/text.h"

/* Conversion of other encodings to UTF-8 while a text is read.
 *
 * UTF-16 of both byte orders, as spreadsheets export it, and Latin-1, read as Windows-1252, which has the same letters
 * and a character for every byte. Lines that end in a carriage return alone end in a newline here. */

enum { CHUNK = 1 << 13, LOOKED_AT = 1 << 12, CHECKED = 1 << 20 };

static unsigned unit_at(const kdri_recode *r, const unsigned char *p)
{
	return r->from == KDRI_UTF16LE ? p[0] | (unsigned)p[1] << 8 : p[1] | (unsigned)p[0] << 8;
}

/* Writes the characters of the bytes; an incomplete character at the end is kept for the next call. Returns the
 * number of bytes written. */
static size_t from_utf16(kdri_recode *r, const unsigned char *bytes, size_t n, bool last, char *to)
{
	char *out = to;
	size_t i = 0;
	while (i + 2 <= n) {
		uint32_t c = unit_at(r, bytes + i);
		if (c >= 0xd800 && c < 0xdc00) { /* the first half of a pair */
			if (i + 4 > n && !last)
				break;
			uint32_t low = i + 4 <= n ? unit_at(r, bytes + i + 2) : 0;
			if (low >= 0xdc00 && low < 0xe000) {
				c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
				i += 2;
			}
		}
		i += 2;
		out += kdri_utf8_put(c, out);
	}
	r->nrest = last ? 0 : n - i;
	memcpy(r->rest, bytes + i, r->nrest);
	return (size_t)(out - to);
}

enum { BUFFER = 1 << 18, PIECES = 16 };

struct kdri_input {
	char *path;
	int fd;
	const unsigned char *memory; /* instead of fd: the remaining bytes */
	size_t memory_left, memory_size;
	kdri_maker
	        maker; /* instead of both, if it has a function; piece: what is left of what it made last */
	const char *piece;
	size_t piece_left;
	unsigned char *held; /* bytes of a pipe, kept to be read again */
	bool gzip, end_of_file, stream_open;
	int64_t size, consumed, unpacked;
	z_stream z;
	size_t begin, end; /* unread bytes of `buffer` */
	unsigned char buffer[BUFFER];
};

/* As kdri_input_read, in UTF-8; *got may be less than `want` before the end. `want` is at least 8. */
static kdr_status recode_read(kdr_context *ctx, kdri_recode *r, kdri_input *in, char *to, size_t want,
                              size_t *got)
{
	unsigned char bytes[CHUNK];
	*got = 0;
	/* A byte becomes at most three: the maximum is that of 0x80 in Windows-1252, the euro sign. */
	while (want - *got >= 16 && !r->end) {
		size_t room = KDRI_MIN((want - *got) / 3, (size_t)CHUNK) - r->nrest, n;
		memcpy(bytes, r->rest, r->nrest);
		KDRI_DO(kdri_input_read(ctx, in, bytes + r->nrest, room, &n));
		r->end = n < room;
		n += r->nrest;
		r->nrest = 0;
		char *out = to + *got;
		if (r->from == KDRI_LATIN1) {
			*got += kdri_decode_1252((const char *)bytes, n, out);
		} else if (r->from == KDRI_UTF8) {
			memcpy(out, bytes, n);
			*got += n;
		} else {
			*got += from_utf16(r, bytes, n, r->end, out);
		}
		for (char *p = out; r->returns && p < to + *got; p++)
			if (*p == '\r')
				*p = '\n';
	}
	return KDR_OK;
}

kdri_encoding kdri_encoding_find(const char *text, size_t length, bool whole, size_t *mark)
{
	size_t n = KDRI_MIN(length, (size_t)LOOKED_AT), even = 0, odd = 0;
	*mark = 0;
	if (n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
		*mark = 3;
		return KDRI_UTF8;
	}
	if (n >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0)) {
		*mark = 2;
		return text[0] == '\xff' ? KDRI_UTF16LE : KDRI_UTF16BE;
	}
	for (size_t i = 0; i < n; i++)
		*(i % 2 ? &odd : &even) += text[i] == '\0';
	if (n >= 4 && even + odd > 0 && (even == 0 || odd == 0) && 4 * (even + odd) >= n)
		return odd ? KDRI_UTF16LE : KDRI_UTF16BE;
	/* Names are at the beginning; if other cells are text, the entire file is inspected (table_survey.c). */
	whole = whole && length <= CHECKED;
	length = KDRI_MIN(length, (size_t)CHECKED);
	while (!whole && length > 0 && text[length - 1] != '\n') /* a character may be incomplete */
		length--;
	return kdri_utf8_valid(text, length) ? KDRI_UTF8 : KDRI_LATIN1;
}

/* Reads a large part of a file with several threads. Returns the number of bytes; negative: failure, with errno. */
static ssize_t input_read_pieces(const kdr_context *ctx, const kdri_input *in, unsigned char *to, size_t room)
{
	const off_t at = lseek(in->fd, 0, SEEK_CUR);
	int64_t total = 0, got[PIECES];
	int errors[PIECES] = { 0 };
	(void)ctx; /* without OpenMP */
	if (at < 0)
		return read(in->fd, to, room);
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic)
	for (int i = 0; i < PIECES; i++) {
		const int64_t begin = (int64_t)room * i / PIECES,
		              size = (int64_t)room * (i + 1) / PIECES - begin;
		int64_t n;
		got[i] = 0;
		do {
			n = kdri_read_at(in->fd, to + begin + got[i], (size_t)(size - got[i]),
			                 (int64_t)at + begin + got[i]);
			errors[i] = n < 0 ? errno : 0;
			got[i] += KDRI_MAX(n, 0);
		} while ((n > 0 && got[i] < size) || errors[i] == EINTR);
	}
	for (int i = 0; i < PIECES; i++) {
		const int64_t size = (int64_t)room * (i + 1) / PIECES - (int64_t)room * i / PIECES;
		errno = errors[i];
		if (errno)
			return -1;
		total += got[i];
		if (got[i] < size)
			break; /* the end of the file */
	}
	return lseek(in->fd, at + (off_t)total, SEEK_SET) < 0 ? -1 : (ssize_t)total;
}

/* After a signal: whether the caller wants to stop rather than wait for more bytes, which may never come. */
static bool input_stopped(kdr_context *ctx, const kdri_input *in)
{
	if (kdri_thread() == 0)
		kdri_tell_iteration(ctx, "read", in->consumed, KDRI_MAX(in->size, 0), NAN);
	return ctx->writing == 0 && (ctx->cancelled || ctx->stop_requested);
}

static kdr_status input_fail_stopped(kdr_context *ctx, const kdri_input *in)
{
	return kdri_fail(ctx, KDR_ERR_READ, "%s: reading was stopped", in->path);
}

/* Reads the bytes that are available, at most `room`; none: the end. */
static kdr_status input_take(kdr_context *ctx, kdri_input *in, unsigned char *to, size_t room, size_t *got)
{
	ssize_t n;
	if (in->memory) {
		n = (ssize_t)KDRI_MIN(in->memory_left, room);
		memcpy(to, in->memory, (size_t)n);
		in->memory += n;
		in->memory_left -= (size_t)n;
	} else if (in->maker.make) {
		if (in->piece_left == 0)
			KDRI_DO(in->maker.make(ctx, in->maker.user, &in->piece, &in->piece_left));
		n = (ssize_t)KDRI_MIN(in->piece_left, room);
		memcpy(to, in->piece, (size_t)n);
		in->piece += n;
		in->piece_left -= (size_t)n;
	} else if (ctx->threads > 1 && in->size >= 0 && room >= (size_t)PIECES * BUFFER / 4) {
		n = input_read_pieces(ctx, in, to, room);
	} else {
		do {
			n = read(in->fd, to, room);
			if (n < 0 && errno == EINTR && input_stopped(ctx, in))
				return input_fail_stopped(ctx, in);
		} while (n < 0 && errno == EINTR);
	}
	if (n < 0)
		return kdri_fail(ctx, KDR_ERR_READ, "%s: cannot read: %s", in->path, strerror(errno));
	*got = (size_t)n;
	in->consumed += n;
	in->end_of_file = n == 0;
	return KDR_OK;
}

static kdr_status input_refill(kdr_context *ctx, kdri_input *in)
{
	in->begin = in->end = 0;
	return input_take(ctx, in, in->buffer, BUFFER, &in->end);
}

/* Fills the buffer for the first time, which shows whether the bytes are compressed. */
static kdr_status input_start(kdr_context *ctx, kdri_input *in)
{
	KDRI_DO(input_refill(ctx, in));
	if (in->end >= 2 && in->buffer[0] == 0x1f && in->buffer[1] == 0x8b) {
		in->gzip = true;
		KDRI_DO(kdri_inflate_open(ctx, 15 + 16, in->path, &in->z));
		in->stream_open = true;
	}
	return KDR_OK;
}

kdr_status kdri_input_from_memory(kdr_context *ctx, const void *data, size_t size, const char *name,
                                  kdri_input **out)
{
	kdr_status st;
	kdri_input *in = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &in, 1));
	memset(in, 0, offsetof(kdri_input, buffer)); /* not the buffer: folders have many small files */
	in->fd = -1;
	in->memory = size > 0 ? data : (const void *)"";
	in->memory_left = in->memory_size = size;
	in->size = (int64_t)size;
	KDRI_TRY(kdri_strdup(ctx, name, &in->path));
	KDRI_TRY(input_start(ctx, in));
	*out = in;
	in = NULL;
done:
	kdri_input_close(ctx, in);
	return st;
}

kdr_status kdri_input_made(kdr_context *ctx, const kdri_maker *maker, const char *name, kdri_input **out)
{
	kdr_status st;
	kdri_input *in = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &in, 1));
	memset(in, 0, offsetof(kdri_input, buffer));
	in->fd = -1;
	in->maker = *maker;
	in->size = maker->size;
	in->piece = "";
	KDRI_TRY(kdri_strdup(ctx, name, &in->path));
	KDRI_TRY(input_start(ctx, in));
	*out = in;
	in = NULL;
done:
	if (in)
		in->maker.end = NULL; /* the caller still has it */
	kdri_input_close(ctx, in);
	return st;
}

kdr_status kdri_input_open(kdr_context *ctx, const char *path, kdri_input **out)
{
	kdr_status st;
	kdri_input *in = NULL;
	kdri_file info;
	KDRI_TRY(KDRI_NEW(ctx, &in, 1));
	memset(in, 0, offsetof(kdri_input, buffer)); /* not the buffer: folders have many small files */
	in->fd = -1;
	in->size = -1;
	KDRI_TRY(kdri_strdup(ctx, strcmp(path, "-") == 0 ? "(standard input)" : path, &in->path));
	in->fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : kdri_open(kdri_set_find(ctx, path), O_RDONLY);
	if (in->fd < 0)
		KDRI_FAIL(ctx, KDR_ERR_READ, "%s: cannot open: %s", in->path, strerror(errno));
	if (kdri_file_open(in->fd, &info)) {
		if (info.folder)
			KDRI_FAIL(ctx, KDR_ERR_READ, "%s: is a directory; a data file is needed", in->path);
		if (info.regular)
			in->size = info.bytes;
		KDRI_TRY(kdri_seen_add(ctx, &info));
	}
	KDRI_TRY(input_start(ctx, in));
	*out = in;
	in = NULL;
done:
	kdri_input_close(ctx, in);
	return st;
}

void kdri_input_close(kdr_context *ctx, kdri_input *in)
{
	if (!in)
		return;
	if (in->stream_open)
		inflateEnd(&in->z);
	if (in->fd >= 0)
		close(in->fd);
	if (in->maker.end)
		in->maker.end(ctx, in->maker.user);
	KDRI_FREE(ctx, in->path, in->held, in);
}

static kdr_status read_plain(kdr_context *ctx, kdri_input *in, unsigned char *to, size_t want, size_t *got)
{
	while (*got < want && !in->end_of_file) {
		size_t n = 0;
		if (in->begin == in->end && want - *got >= BUFFER) { /* past the buffer */
			KDRI_DO(input_take(ctx, in, to + *got, want - *got, &n));
		} else if (in->begin == in->end) {
			KDRI_DO(input_refill(ctx, in));
		} else {
			n = KDRI_MIN(want - *got, in->end - in->begin);
			memcpy(to + *got, in->buffer + in->begin, n);
			in->begin += n;
		}
		*got += n;
	}
	return KDR_OK;
}

static kdr_status read_gzip(kdr_context *ctx, kdri_input *in, unsigned char *to, size_t want, size_t *got)
{
	while (*got < want && in->stream_open) {
		if (in->begin == in->end && !in->end_of_file)
			KDRI_DO(input_refill(ctx, in));
		size_t room = KDRI_MIN(want - *got, (size_t)1 << 30);
		in->z.next_in = in->buffer + in->begin;
		in->z.avail_in = (uInt)(in->end - in->begin);
		in->z.next_out = to + *got;
		in->z.avail_out = (uInt)room;
		int code = inflate(&in->z, Z_NO_FLUSH);
		in->begin = in->end - in->z.avail_in;
		*got += room - in->z.avail_out;
		in->unpacked += (int64_t)(room - in->z.avail_out);
		KDRI_DO(kdri_unpacked_check(ctx, in->path, (double)in->unpacked,
		                            (double)KDRI_MAX(in->size, in->consumed), KDRI_STREAM_TIMES));
		if (code == Z_STREAM_END) {
			/* Another member may follow, as `cat a.gz b.gz` makes; anything else is the end. */
			if (in->begin == in->end && !in->end_of_file)
				KDRI_DO(input_refill(ctx, in));
			if (in->begin < in->end && in->buffer[in->begin] == 0x1f) {
				inflateReset(&in->z);
			} else {
				inflateEnd(&in->z);
				in->stream_open = false;
			}
		} else if (code == Z_BUF_ERROR || (code == Z_OK && in->z.avail_in == 0 && in->end_of_file)) {
			if (in->end_of_file && in->z.avail_out > 0)
				return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: the gzip stream is truncated",
				                 in->path);
		} else if (code == Z_MEM_ERROR) {
			return kdri_fail(ctx, KDR_ERR_MEMORY, "%s: out of memory while decompressing",
			                 in->path);
		} else if (code != Z_OK) {
			return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: the gzip stream is damaged (%s)", in->path,
			                 in->z.msg ? in->z.msg : "unknown reason");
		}
	}
	return KDR_OK;
}

kdr_status kdri_input_read(kdr_context *ctx, kdri_input *in, void *buffer, size_t want, size_t *got)
{
	*got = 0;
	return in->gzip ? read_gzip(ctx, in, buffer, want, got) : read_plain(ctx, in, buffer, want, got);
}

/* A longer line is not data: this limit stops a file without newlines, or a small one that unpacks to gigabytes. */
enum { KDRI_LINE_MOST = 1 << 28 };

static kdr_status line_too_long(kdr_context *ctx, const kdri_input *in, int64_t line)
{
	return kdri_fail(ctx, KDR_ERR_FORMAT,
	                 "%s: line %lld is longer than %d MB; this is probably not a text file with data",
	                 in->path, (long long)line, KDRI_LINE_MOST >> 20);
}

/* The line at the end of what is held: its number, from 1, and its length so far. */
typedef struct held_line {
	int64_t number, length;
} held_line;

kdr_status kdri_input_hold(kdr_context *ctx, kdri_input *in)
{
	int64_t room = 0, used = 0;
	held_line line = { .number = 1 };
	if (in->memory || in->maker.make || (in->size >= 0 && lseek(in->fd, 0, SEEK_CUR) >= 0))
		return KDR_OK;
	size_t mark;
	const kdri_encoding encoding = kdri_encoding_find((const char *)in->buffer, in->end, false, &mark);
	const unsigned char *zero = in->gzip || encoding == KDRI_UTF16LE || encoding == KDRI_UTF16BE
	                                    ? NULL
	                                    : memchr(in->buffer, '\0', in->end);
	if (zero) /* it may never end: a device */
		return kdri_fail(
		        ctx, KDR_ERR_FORMAT, "%s: line %lld contains a zero byte; a text file is needed",
		        in->path,
		        (long long)kdri_count_byte((const char *)in->buffer, (const char *)zero, '\n') + 1);
	while (!in->end_of_file) { /* compressed or not: the bytes are unchanged */
		if (KDRI_ROOM(ctx, &in->held, &room, used + BUFFER) != KDR_OK)
			return kdri_fail(
			        ctx, KDR_ERR_MEMORY,
			        "%s: out of memory after %.0f MB, which are kept because it cannot be read twice; write it to a file first",
			        in->path, (double)used / 1e6);
		memcpy(in->held + used, in->buffer + in->begin, in->end - in->begin);
		used += (int64_t)(in->end - in->begin);
		/* Moves the line past the bytes in the buffer. */
		const char *begin = (const char *)in->buffer + in->begin,
		           *end = (const char *)in->buffer + in->end, *last = end;
		while (last > begin && last[-1] != '\n' && last[-1] != '\r')
			last--;
		line.number += kdri_count_byte(begin, last, '\n');
		line.length = end - last + (last > begin ? 0 : line.length);
		if (!in->gzip && line.length > KDRI_LINE_MOST)
			return line_too_long(ctx, in, line.number);
		if (kdri_leave_off(ctx, "read", used, 0) && ctx->writing == 0)
			return input_fail_stopped(ctx, in);
		KDRI_DO(input_refill(ctx, in));
	}
	in->memory = in->held;
	in->memory_size = (size_t)used;
	in->size = used;
	return kdri_input_rewind(ctx, in);
}

kdr_status kdri_input_rewind(kdr_context *ctx, kdri_input *in)
{
	if (in->memory) {
		in->memory -= in->memory_size - in->memory_left;
		in->memory = in->held ? in->held : in->memory;
		in->memory_left = in->memory_size;
	} else if (in->maker.make) {
		in->maker.again(in->maker.user);
		in->piece_left = 0;
	} else if (lseek(in->fd, 0, SEEK_SET) < 0) {
		return kdri_fail(ctx, KDR_ERR_READ, "%s: cannot be read a second time: %s", in->path,
		                 strerror(errno));
	}
	if (in->stream_open)
		inflateEnd(&in->z);
	in->stream_open = in->gzip = in->end_of_file = false;
	in->consumed = in->unpacked = 0;
	memset(&in->z, 0, sizeof in->z);
	return input_start(ctx, in);
}

kdr_status kdri_input_skip(kdr_context *ctx, kdri_input *in, int64_t bytes)
{
	unsigned char scratch[4096];
	int64_t buffered = KDRI_MIN(bytes, (int64_t)(in->end - in->begin));
	if (!in->gzip && in->fd >= 0 && in->size >= 0) {
		in->begin += (size_t)buffered;
		bytes -= buffered;
		if (bytes > 0 && lseek(in->fd, (off_t)bytes, SEEK_CUR) < 0)
			return kdri_fail(ctx, KDR_ERR_READ, "%s: cannot read: %s", in->path, strerror(errno));
		in->consumed += bytes;
		return KDR_OK;
	}
	while (bytes > 0) {
		size_t got;
		KDRI_DO(kdri_input_read(ctx, in, scratch, (size_t)KDRI_MIN(bytes, (int64_t)sizeof scratch),
		                        &got));
		if (got == 0)
			break;
		bytes -= (int64_t)got;
	}
	return KDR_OK;
}

const char *kdri_input_path(const kdri_input *in)
{
	return in->path;
}

int64_t kdri_input_size(const kdri_input *in)
{
	return in->size;
}

int64_t kdri_input_consumed(const kdri_input *in)
{
	return in->consumed - (int64_t)(in->end - in->begin);
}

bool kdri_input_compressed(const kdri_input *in)
{
	return in->gzip;
}

/* A window that moves over a text file, and its slices. */

/* For each two threads, up to MOST: large enough that they rarely wait for each other, small enough that most memory is
 * that of the result. */
enum { WINDOW = 1 << 22, MOST = 1 << 24 };

kdr_status kdri_window_open(kdr_context *ctx, kdri_input *in, kdri_window *w)
{
	int64_t size = kdri_input_size(in);
	size_t room = (size_t)KDRI_MIN(MOST, WINDOW * (int64_t)KDRI_MAX(1, ctx->threads / 2));
	*w = (kdri_window){ .in = in };
	if (size >= 0 && size < (int64_t)room - 2 && !kdri_input_compressed(in))
		room = (size_t)size + 2; /* one for a newline at the end, one to see that it is the end */
	kdr_status st = KDRI_GROW_RESULT(ctx, &w->data, (int64_t)room);
	if (st == KDR_OK)
		w->room = room;
	return st;
}

void kdri_window_close(kdr_context *ctx, kdri_window *w)
{
	kdri_free(ctx, w->data);
	w->data = NULL;
}

kdr_status kdri_window_fill(kdr_context *ctx, kdri_window *w)
{
	kdr_status st = KDR_OK;
	size_t got;
	if (w->last)
		return st;
	memmove(w->data, w->data + w->begin, w->end - w->begin);
	w->end -= w->begin;
	w->begin = 0;
	bool plain = w->recode.from == KDRI_UTF8 && !w->recode.returns;
	if (w->end + 1 + (plain ? 0 : 64) >= w->room) { /* room for some characters */
		if (w->room >= KDRI_LINE_MOST)
			return line_too_long(ctx, w->in, w->line + 1);
		KDRI_TRY(KDRI_GROW(ctx, &w->data, (int64_t)(2 * w->room)));
		w->room *= 2;
	}
	size_t want = w->room - 1 - w->end;
	if (plain)
		KDRI_TRY(kdri_input_read(ctx, w->in, w->data + w->end, want, &got));
	else
		KDRI_TRY(recode_read(ctx, &w->recode, w->in, w->data + w->end, want, &got));
	w->end += got;
	if (plain ? got < want : w->recode.end) {
		w->last = true;
		w->added = w->end > 0 && w->data[w->end - 1] != '\n';
		if (w->added)
			w->data[w->end++] = '\n';
	}
	if (kdri_iteration(ctx, "read", kdri_input_consumed(w->in), KDRI_MAX(kdri_input_size(w->in), 0),
	                   NAN) &&
	    ctx->writing == 0)
		st = kdri_fail(ctx, KDR_ERR_READ, "%s: reading was stopped", kdri_input_path(w->in));
done:
	return st;
}

kdr_status kdri_window_lines(kdr_context *ctx, kdri_window *w, size_t *whole)
{
	kdr_status st = KDR_OK;
	if (!w->last)
		KDRI_TRY(kdri_window_fill(ctx, w));
	for (;;) {
		size_t i = w->end;
		while (i > w->begin && w->data[i - 1] != '\n')
			i--;
		if (i > w->begin || w->last) {
			*whole = i > w->begin ? i : 0;
			return st;
		}
		KDRI_TRY(kdri_window_fill(ctx, w));
	}
done:
	return st;
}

int64_t kdri_window_foresee(const kdri_window *w, size_t whole, int64_t count)
{
	int64_t size = kdri_input_size(w->in);
	int64_t seen = kdri_input_consumed(w->in) - (int64_t)(w->end - whole);
	double more = 1.5;
	if (w->last)
		return count;
	if (size > 0 && seen > 0 && !kdri_input_compressed(w->in))
		more = KDRI_MAX((double)size / (double)seen * 1.02, 1.05);
	double all = (double)count * more + 1024;
	return all < 0x1p62 ? (int64_t)all : count;
}

kdr_status kdri_grow_result(kdr_context *ctx, void *inout, int64_t count, size_t size)
{
	void *at;
	kdr_status st = kdri_realloc(ctx, inout, count, size);
	if (st != KDR_OK)
		return st;
	memcpy(&at, inout, sizeof at);
	kdri_large_pages(at, (size_t)count * size);
	return KDR_OK;
}

int64_t kdri_count_byte(const char *begin, const char *end, char byte)
{
	int64_t total = 0;
	while (begin < end) {
		const char *stop = end - begin > 128 ? begin + 128 : end;
		unsigned char n = 0; /* of at most 128: sixteen fit a vector register */
		for (; begin < stop; begin++)
			n += *begin == byte;
		total += n;
	}
	return total;
}

int64_t kdri_slices_count(const kdr_context *ctx, kdri_slice *slices)
{
	int64_t lines = 0;
	(void)ctx; /* without OpenMP */
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic)
	for (int i = 0; i < KDRI_SLICES; i++)
		slices[i].lines = kdri_count_byte(slices[i].begin, slices[i].end, '\n');
	for (int i = 0; i < KDRI_SLICES; i++) {
		slices[i].first = lines;
		lines += slices[i].lines;
	}
	return lines;
}

int64_t kdri_slices_cut(const kdr_context *ctx, const char *begin, const char *end, kdri_slice *slices)
{
	const char *p = begin;
	for (int i = 0; i < KDRI_SLICES; i++) {
		const char *cut = begin + (end - begin) * (i + 1) / KDRI_SLICES;
		slices[i].begin = p;
		if (cut > p && i + 1 < KDRI_SLICES) {
			cut = memchr(cut - 1, '\n', (size_t)(end - cut) + 1);
			p = cut + 1;
		} else if (i + 1 == KDRI_SLICES) {
			p = end;
		}
		slices[i].end = p;
	}
	return kdri_slices_count(ctx, slices);
}
