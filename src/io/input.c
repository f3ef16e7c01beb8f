/* Reads bytes from a file or standard input and decompresses gzip on the fly. SPDX-License-Identifier: BSD-3-Clause */
#include "core/system.h"
#include "io/archive/inflate.h"
#include "io/output/set.h"
#include "io/text.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { BUFFER = 1 << 18, PIECES = 16 };

struct kdri_input {
	char *path;
	int fd;
	const unsigned char *memory; /* instead of fd: the remaining bytes */
	size_t memory_left, memory_size;
	unsigned char *held; /* bytes of a pipe, kept to be read again */
	bool gzip, end_of_file, stream_open;
	int64_t size, consumed, unpacked;
	z_stream z;
	size_t begin, end; /* unread bytes of `buffer` */
	unsigned char buffer[BUFFER];
};

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
	return ctx->cancelled || ctx->stop_requested;
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

kdr_status kdri_line_too_long(kdr_context *ctx, const kdri_input *in, int64_t line)
{
	return kdri_fail(ctx, KDR_ERR_FORMAT,
	                 "%s: line %lld is longer than %d MB; this is probably not a text file with data",
	                 in->path, (long long)line, KDRI_LINE_MOST >> 20);
}

/* The line at the end of what is held: its number, from 1, and its length so far. */
typedef struct held_line {
	int64_t number, length;
} held_line;

/* Moves the line past the bytes in the buffer. */
static void held_line_move(const kdri_input *in, held_line *line)
{
	const char *begin = (const char *)in->buffer + in->begin, *end = (const char *)in->buffer + in->end,
	           *last = end;
	while (last > begin && last[-1] != '\n' && last[-1] != '\r')
		last--;
	line->number += kdri_count_byte(begin, last, '\n');
	line->length = end - last + (last > begin ? 0 : line->length);
}

kdr_status kdri_input_hold(kdr_context *ctx, kdri_input *in)
{
	int64_t room = 0, used = 0;
	held_line line = { .number = 1 };
	if (in->memory || (in->size >= 0 && lseek(in->fd, 0, SEEK_CUR) >= 0))
		return KDR_OK;
	while (!in->end_of_file) { /* compressed or not: the bytes are unchanged */
		KDRI_DO(KDRI_ROOM(ctx, &in->held, &room, used + BUFFER));
		memcpy(in->held + used, in->buffer + in->begin, in->end - in->begin);
		used += (int64_t)(in->end - in->begin);
		held_line_move(in, &line);
		if (!in->gzip && line.length > KDRI_LINE_MOST)
			return kdri_line_too_long(ctx, in, line.number);
		if (kdri_leave_off(ctx, "read", used, 0))
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
	if (!in->gzip && !in->memory && in->size >= 0) {
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
