/* Files that are written completely or not at all. SPDX-License-Identifier: BSD-3-Clause
 *
 * Bytes go to a temporary file in the same folder; kdri_output_finish flushes it to the disk (fsync) and renames it into place,
 * which POSIX makes atomic. A failure, a full disk or a kill leaves the old file, or none. While a set of outputs is open (set.c),
 * files are renamed at its end. */
#include "core/system.h"
#include "io/archive/inflate.h"
#include "io/io.h"
#include "io/output/set.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { BUFFER = KDRI_OUTPUT_BLOCK };

struct kdri_output {
	char *path, *temporary;
	int fd;
	bool force, gzip;
	kdri_output_put *put; /* NULL: it is a file */
	void *user;
	size_t used;
	z_stream z;
	unsigned char buffer[BUFFER], packed[BUFFER];
};

static kdr_status write_error(kdr_context *ctx, const kdri_output *o)
{
	return kdri_fail(ctx, KDR_ERR_WRITE, "%s: cannot write: %s", o->path, strerror(errno));
}

static kdr_status write_all(kdr_context *ctx, kdri_output *o, const unsigned char *data, size_t size)
{
	while (size > 0) {
		ssize_t n = write(o->fd, data, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return write_error(ctx, o);
		data += n;
		size -= (size_t)n;
	}
	return KDR_OK;
}

static kdr_status output_flush(kdr_context *ctx, kdri_output *o, bool finish)
{
	if (o->put) {
		size_t size = o->used;
		o->used = 0;
		return size > 0 ? o->put(o->user, o->buffer, size) : KDR_OK;
	}
	if (!o->gzip) {
		KDRI_DO(write_all(ctx, o, o->buffer, o->used));
	} else {
		int code;
		o->z.next_in = o->buffer;
		o->z.avail_in = (uInt)o->used;
		do {
			o->z.next_out = o->packed;
			o->z.avail_out = BUFFER;
			code = deflate(&o->z, finish ? Z_FINISH : Z_NO_FLUSH);
			KDRI_DO(write_all(ctx, o, o->packed, BUFFER - o->z.avail_out));
		} while (o->z.avail_out == 0 || (finish && code == Z_OK));
	}
	o->used = 0;
	return KDR_OK;
}

/* Removes the temporary file unless it has been renamed, and frees. Accepts NULL. */
static void output_drop(kdr_context *ctx, kdri_output *o)
{
	if (!o)
		return;
	if (o->gzip)
		deflateEnd(&o->z);
	if (o->fd >= 0)
		close(o->fd);
	if (o->temporary && o->temporary[0]) /* closed: Windows removes no open file */
		kdri_unlink(o->temporary);
	KDRI_FREE(ctx, o->path, o->temporary, o);
}

/* Creates the missing parent folders of a file. Returns false, with errno, if one cannot be created. */
static bool make_parents(char *path)
{
	bool made = true;
	for (char *p = path; made && *p && *++p;) {
		const char separator = *p;
		if (!kdri_is_separator(separator))
			continue;
		*p = '\0';
		made = kdri_mkdir(path) == 0 || errno == EEXIST;
		*p = separator;
	}
	return made;
}

/* Creates a file with an unused name in the folder of `path`. */
static void open_temporary(kdri_output *o, size_t room)
{
	for (int attempt = 0; o->fd < 0 && attempt < 100; attempt++) {
		kdri_temporary_name(o->path, o->temporary, room);
		o->fd = kdri_open(o->temporary, O_WRONLY | O_CREAT | O_EXCL);
		if (o->fd < 0 && errno == ENOENT && attempt == 0 && make_parents(o->path))
			continue;
		if (o->fd < 0 && errno != EEXIST)
			break;
	}
}

kdr_status kdri_output_open(kdr_context *ctx, const char *path, bool force, kdri_output **out)
{
	kdr_status st;
	kdri_output *o = NULL;
	kdri_file info;
	size_t room = strlen(path) + 48;
	KDRI_TRY(kdri_calloc(ctx, &o, 1, sizeof *o));
	o->fd = -1;
	o->force = force;
	KDRI_TRY(kdri_strdup(ctx, path, &o->path));
	KDRI_TRY(kdri_alloc(ctx, &o->temporary, (int64_t)room, 1));
	o->temporary[0] = '\0';
	if (kdri_file_at(path, &info)) {
		if (kdri_was_read(ctx, &info))
			KDRI_FAIL(
			        ctx, KDR_ERR_EXISTS,
			        "%s: was read by this command and is not replaced; choose another name or folder",
			        path);
		if (info.folder)
			KDRI_FAIL(ctx, KDR_ERR_WRITE, "%s: is a directory; the name of a file is needed",
			          path);
		if (!force)
			KDRI_FAIL(ctx, KDR_ERR_EXISTS, "%s: already exists; use --force to replace it", path);
	} else if (errno == ENAMETOOLONG) { /* the temporary name may be shorter */
		KDRI_FAIL(ctx, KDR_ERR_WRITE, "%s: cannot create: %s", path, strerror(errno));
	}
	kdri_remove_abandoned(ctx, path);
	open_temporary(o, room);
	if (o->fd < 0) {
		o->temporary[0] = '\0';
		KDRI_FAIL(ctx, KDR_ERR_WRITE, "%s: cannot create: %s", path, strerror(errno));
	}
	if (kdri_ends_with(path, ".gz")) {
		KDRI_TRY(kdri_need_zlib(ctx, path));
		o->z = kdri_zlib(ctx);
		if (deflateInit2(&o->z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
			KDRI_FAIL(ctx, KDR_ERR_MEMORY, "%s: out of memory while compressing", path);
		o->gzip = true;
	}
	*out = o;
	o = NULL;
done:
	output_drop(ctx, o);
	return st;
}

kdr_status kdri_output_to(kdr_context *ctx, const char *name, kdri_output_put *put, void *user,
                          kdri_output **out)
{
	kdr_status st;
	kdri_output *o = NULL;
	KDRI_TRY(kdri_calloc(ctx, &o, 1, sizeof *o));
	*o = (kdri_output){ .fd = -1, .put = put, .user = user };
	KDRI_TRY(kdri_strdup(ctx, name, &o->path));
	*out = o;
	o = NULL;
done:
	output_drop(ctx, o);
	return st;
}

kdr_status kdri_output_flush(kdr_context *ctx, kdri_output *o)
{
	return output_flush(ctx, o, false);
}

kdr_status kdri_output_write(kdr_context *ctx, kdri_output *o, const void *data, size_t size)
{
	const unsigned char *from = data;
	while (size > 0) {
		size_t n = KDRI_MIN(size, BUFFER - o->used);
		memcpy(o->buffer + o->used, from, n);
		o->used += n;
		from += n;
		size -= n;
		if (o->used == BUFFER)
			KDRI_DO(output_flush(ctx, o, false));
	}
	return KDR_OK;
}

kdr_status kdri_output_printf(kdr_context *ctx, kdri_output *o, const char *format, ...)
{
	char text[1024];
	va_list args;
	va_start(args, format);
	int n = kdri_vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (n < 0 || (size_t)n >= sizeof text)
		return kdri_fail(ctx, KDR_ERR_INTERNAL, "%s: a formatted line is too long", o->path);
	return kdri_output_write(ctx, o, text, (size_t)n);
}

const char *kdri_output_temporary(const kdri_output *o)
{
	return o->temporary;
}

static kdr_status put_in_place(kdr_context *ctx, kdri_output *o)
{
	kdr_status st;
	KDRI_TRY(output_flush(ctx, o, true));
	if (o->put)
		goto done;
	/* Some file systems cannot sync (EINVAL); every other failure means that the bytes may not be on disk. After
	 * an interrupt the sync is skipped, because a thousand files would take many seconds. */
	kdri_leave_off(ctx, "write", 0, 0);
	if (!ctx->cancelled && kdri_sync(o->fd) != 0 && errno != EINVAL && errno != EROFS) {
		st = write_error(ctx, o);
		goto done;
	}
	int fd = o->fd;
	o->fd = -1;
	if (close(fd) != 0) {
		st = write_error(ctx, o);
		goto done;
	}
	if (ctx->outputs) {
		st = kdri_set_add(ctx, o->path, &o->temporary, o->force);
		goto done;
	}
	if (kdri_put_in_place(o->temporary, o->path, o->force) != 0) {
		st = errno == EEXIST ? kdri_fail(ctx, KDR_ERR_EXISTS,
		                                 "%s: already exists; use --force to replace it", o->path)
		                     : write_error(ctx, o);
		goto done;
	}
	o->temporary[0] = '\0';
done:
	return st;
}

kdr_status kdri_output_finish(kdr_context *ctx, kdri_output *o, kdr_status st)
{
	if (st == KDR_OK)
		st = put_in_place(ctx, o);
	output_drop(ctx, o);
	return st;
}

kdr_status kdr_write_check(kdr_context *ctx, const char *path, bool force)
{
	KDRI_NEED(ctx, path);
	kdri_output *o = NULL;
	kdr_status st = kdri_output_open(ctx, path, force, &o);
	output_drop(ctx, o);
	return st;
}

kdr_status kdr_write_file(kdr_context *ctx, const char *path, const void *bytes, size_t size, bool force)
{
	KDRI_NEED(ctx, path && (bytes || size == 0));
	kdr_status st;
	kdri_output *o = NULL;
	KDRI_TRY(kdri_output_open(ctx, path, force, &o));
	KDRI_TRY(kdri_output_write(ctx, o, bytes, size));
done:
	return kdri_output_finish(ctx, o, st);
}
