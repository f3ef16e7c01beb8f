/* Files that are written completely or not at all. SPDX-License-Identifier: BSD-3-Clause
 *
 * Bytes go to a temporary file in the same folder; kdri_output_finish flushes it to the disk (fsync) and renames it into place,
 * which POSIX makes atomic. A failure, a full disk or a kill leaves the old file, or none. While a set of outputs is open,
 * files are renamed at its end. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "core/system.h"
#include "io/archive/inflate.h"
#include "io/io.h"
#include "io/output/set.h"

/* Files that appear together.
 *
 * While a set is open, complete files keep their temporary names. At the end of the set all of them are renamed, result.json
 * last; after a failure all of them are removed, so that an earlier result stays as it was. A process that is killed between two
 * renames leaves files of two results; this takes microseconds per file. */

typedef struct pending {
	char *path, *temporary;
	char *place; /* where it goes: what the path, if it is a link, leads to */
	bool force, through;
} pending;

struct kdri_output_set {
	int depth; /* sets within a set end with it */
	char *folder;
	pending *files;
	int64_t count, room;
	char **stale; /* to be removed */
	int64_t nstale, stale_room;
};

static void set_free(kdr_context *ctx)
{
	struct kdri_output_set *s = ctx->outputs;
	for (int64_t i = 0; s && i < s->count; i++) {
		if (s->files[i].temporary)
			(void)kdri_unlink(s->files[i].temporary);
		KDRI_FREE(ctx, s->files[i].path, s->files[i].temporary, s->files[i].place);
	}
	for (int64_t i = 0; s && i < s->nstale; i++)
		kdri_free(ctx, s->stale[i]);
	if (s)
		KDRI_FREE(ctx, s->files, s->stale, s->folder, s);
	ctx->writing -= s != NULL;
	ctx->outputs = NULL;
}

kdr_status kdr_outputs_begin(kdr_context *ctx, const char *folder)
{
	KDRI_NEED(ctx, ctx);
	kdr_status st = KDR_OK;
	struct kdri_output_set *s = ctx->outputs;
	if (!s) {
		KDRI_TRY(KDRI_NEW0(ctx, &s, 1));
		ctx->outputs = s;
		ctx->writing++;
		ctx->outputs_close = set_free;
		KDRI_TRY(kdri_strdup(ctx, folder ? folder : "", &s->folder));
	}
	s->depth++;
done:
	if (st != KDR_OK)
		set_free(ctx);
	return st;
}

/* With an open set: adds a complete file that still has its temporary name. Takes over f->temporary and f->place. */
static kdr_status set_add(kdr_context *ctx, const char *path, pending *f)
{
	kdr_status st;
	struct kdri_output_set *s = ctx->outputs;
	char *copy = NULL;
	KDRI_TRY(kdri_strdup(ctx, path, &copy));
	if (s->count == s->room) {
		KDRI_TRY(KDRI_GROW(ctx, &s->files, s->room ? 2 * s->room : 16));
		s->room = s->room ? 2 * s->room : 16;
	}
	s->files[s->count] = *f;
	s->files[s->count++].path = copy;
	*f = (pending){ 0 };
	copy = NULL;
done:
	kdri_free(ctx, copy);
	return st;
}

kdr_status kdr_outputs_expect(kdr_context *ctx, const char *path)
{
	pending none = { .force = true };
	KDRI_NEED(ctx, path);
	return ctx->outputs ? set_add(ctx, path, &none) : KDR_OK;
}

const char *kdri_set_find(const kdr_context *ctx, const char *path)
{
	const struct kdri_output_set *s = ctx->outputs;
	for (int64_t i = s ? s->count - 1 : -1; i >= 0; i--)
		if (s->files[i].temporary && strcmp(s->files[i].path, path) == 0)
			return s->files[i].temporary;
	return path;
}

const char *kdri_set_at(const kdr_context *ctx, int64_t index)
{
	const struct kdri_output_set *s = ctx->outputs;
	return s && index < s->count ? s->files[index].path : NULL;
}

kdr_status kdri_set_remove(kdr_context *ctx, const char *path)
{
	struct kdri_output_set *s = ctx->outputs;
	if (s->nstale == s->stale_room) {
		KDRI_DO(KDRI_GROW(ctx, &s->stale, s->stale_room ? 2 * s->stale_room : 16));
		s->stale_room = s->stale_room ? 2 * s->stale_room : 16;
	}
	KDRI_DO(kdri_strdup(ctx, path, &s->stale[s->nstale]));
	s->nstale++;
	return KDR_OK;
}

/* --- the end ----------------------------------------------------------------------------------------------- */

/* Copies a complete file to a device, a pipe or standard output ("-"), which stays what it is. Returns -1, with errno, on failure. */
static int copy_through(const char *from, const char *to)
{
	char block[1 << 16];
	const int in = kdri_open(from, O_RDONLY);
	const int out = strcmp(to, "-") == 0 ? kdri_copy_descriptor(STDOUT_FILENO) : kdri_open(to, O_WRONLY);
	ssize_t n = in < 0 || out < 0 ? -1 : 0;
	while (n >= 0 && (n = read(in, block, sizeof block)) > 0)
		for (ssize_t used = 0; n >= 0 && used < n;) {
			const ssize_t more = write(out, block + used, (size_t)(n - used));
			if (more < 0 && errno != EINTR)
				n = -1;
			used += more > 0 ? more : 0;
		}
	const int code = errno;
	if (in >= 0)
		close(in);
	if (out >= 0 && close(out) != 0)
		return -1;
	errno = code;
	return n < 0 ? -1 : 0;
}

/* A complete file gets its name, or is copied to what is no regular file. */
static kdr_status place_file(kdr_context *ctx, const char *path, pending *f)
{
	if (f->through ? copy_through(f->temporary, f->place) != 0
	               : kdri_put_in_place(f->temporary, f->place, f->force) != 0)
		return !f->through && errno == EEXIST
		               ? kdri_fail(ctx, KDR_ERR_EXISTS,
		                           "%s: already exists; use --force to replace it", path)
		               : kdri_fail(ctx, KDR_ERR_WRITE, "%s: cannot write: %s", path, strerror(errno));
	if (f->through)
		(void)kdri_unlink(f->temporary);
	kdri_free(ctx, f->temporary);
	f->temporary = NULL;
	return KDR_OK;
}

static bool is_result(const char *path)
{
	return strcmp(path + kdri_folder_length(path), "result.json") == 0;
}

/* Renames the files that are results, or the others. *renamed: how many, of all. */
static kdr_status rename_files(kdr_context *ctx, struct kdri_output_set *s, bool results, int64_t *renamed)
{
	for (int64_t i = 0; i < s->count; i++) {
		pending *f = &s->files[i];
		if (!f->temporary || is_result(f->path) != results)
			continue;
		KDRI_DO(place_file(ctx, f->path, f));
		++*renamed;
	}
	return KDR_OK;
}

static kdr_status put_all_in_place(kdr_context *ctx, struct kdri_output_set *s, int64_t *renamed)
{
	/* What is certain to fail must not fail in the middle. */
	for (int64_t i = 0; i < s->count; i++)
		if (!s->files[i].force && !s->files[i].through && kdri_exists(s->files[i].path))
			return kdri_fail(ctx, KDR_ERR_EXISTS, "%s: already exists; use --force to replace it",
			                 s->files[i].path);
	/* A device or a pipe may fail, and nothing has been replaced yet. */
	for (int64_t i = 0; i < s->count; i++)
		if (s->files[i].through)
			KDRI_DO(place_file(ctx, s->files[i].path, &s->files[i]));
	KDRI_DO(rename_files(ctx, s, false, renamed));
	for (int64_t i = 0; i < s->nstale; i++)
		(void)kdri_unlink(
		        s->stale[i]); /* the next result.json does not list it, so nothing depends on it */
	return rename_files(ctx, s, true, renamed);
}

kdr_status kdr_outputs_end(kdr_context *ctx, kdr_status st)
{
	struct kdri_output_set *s = ctx ? ctx->outputs : NULL;
	int64_t renamed = 0;
	if (!s || --s->depth > 0)
		return st;
	if (st == KDR_OK)
		st = put_all_in_place(ctx, s, &renamed);
	if (st == KDR_ERR_WRITE || (st != KDR_OK && renamed > 0)) {
		/* Completes the message of a failure: is there still a result? */
		char old[8192];
		const size_t used = strlen(ctx->error);
		snprintf(old, sizeof old, "%s/result.json", s->folder);
		if (renamed > 0)
			snprintf(ctx->error + used, sizeof ctx->error - used,
			         "; %lld of %lld files were replaced before, run the command again",
			         (long long)renamed, (long long)s->count);
		else if (s->folder[0] && kdri_exists(old))
			snprintf(ctx->error + used, sizeof ctx->error - used,
			         "; the earlier result in %s is unchanged", s->folder);
		else
			snprintf(ctx->error + used, sizeof ctx->error - used, "; nothing was written");
	}
	set_free(ctx);
	return st;
}

/* --- files that were read ------------------------------------------------------------------------------------ */

struct kdri_seen {
	int64_t count, room;
	struct {
		uint64_t device, number;
	} * files;
};

static void seen_free(kdr_context *ctx)
{
	if (ctx->seen)
		KDRI_FREE(ctx, ctx->seen->files, ctx->seen);
	ctx->seen = NULL;
}

kdr_status kdr_context_protect_inputs(kdr_context *ctx)
{
	KDRI_NEED(ctx, ctx);
	ctx->seen_close = seen_free;
	return ctx->seen ? KDR_OK : KDRI_NEW0(ctx, &ctx->seen, 1);
}

kdr_status kdri_seen_add(kdr_context *ctx, const kdri_file *info)
{
	struct kdri_seen *s = ctx->seen;
	if (!s || !info->regular)
		return KDR_OK;
	/* A child that reads HDF5 opens the file that its parent has just noted; it cannot grow the parent's list. */
	if (s->count > 0 && s->files[s->count - 1].device == info->device &&
	    s->files[s->count - 1].number == info->number)
		return KDR_OK;
	if (s->count == s->room) {
		KDRI_DO(KDRI_GROW(ctx, &s->files, s->room ? 2 * s->room : 16));
		s->room = s->room ? 2 * s->room : 16;
	}
	s->files[s->count].device = info->device;
	s->files[s->count++].number = info->number;
	return KDR_OK;
}

kdr_status kdr_context_protect_file(kdr_context *ctx, const char *path)
{
	kdri_file info;
	KDRI_NEED(ctx, ctx && path);
	return kdri_file_at(path, &info) ? kdri_seen_add(ctx, &info) : KDR_OK;
}

bool kdri_was_read(const kdr_context *ctx, const kdri_file *info)
{
	const struct kdri_seen *s = ctx->seen;
	for (int64_t i = 0; s && i < s->count; i++)
		if (s->files[i].device == info->device && s->files[i].number == info->number)
			return true;
	return false;
}

/* --- temporary files ------------------------------------------------------------------------------------------ */

/* A new name in the folder of `path`. ".tmp-MACHINE-PROCESS-NUMBER": the length does not depend on the name of the
 * file, which may be as long as names can be. */
static void temporary_name(const char *path, char *out, size_t room)
{
	static _Atomic unsigned next;
	snprintf(out, room, "%.*s.tmp-%08x-%lld-%u", (int)kdri_folder_length(path), path,
	         (unsigned)kdri_host(), (long long)kdri_process(), next++);
}

/* Whether a file with this name was left by a process of this machine that has ended. */
static bool is_abandoned(const char *name)
{
	unsigned machine, number;
	long long process;
	int used = 0;
	return sscanf(name, ".tmp-%8x-%lld-%u%n", &machine, &process, &number, &used) == 3 &&
	       name[used] == '\0' && machine == (unsigned)kdri_host() && process > 0 &&
	       !kdri_process_runs(process);
}

/* The folder of `path`: its name, and whether it exists. */
static bool folder_of(const char *path, char *name, size_t room, kdri_file *info)
{
	const int length = (int)kdri_folder_length(path);
	snprintf(name, room, "%.*s", length ? length : 1, length ? path : ".");
	return kdri_file_at(name, info) && info->folder;
}

/* Removes temporary files of processes that have ended from the folder of `path`. */
static void remove_abandoned(kdr_context *ctx, const char *path)
{
	char file[8192];
	const int length = (int)kdri_folder_length(path);
	const char *name;
	kdri_file info;
	if (!folder_of(path, file, sizeof file, &info) ||
	    (ctx->tidied[0] == info.device && ctx->tidied[1] == info.number))
		return;
	ctx->tidied[0] = info.device; /* once, not for each of a thousand files */
	ctx->tidied[1] = info.number;
	kdri_listing *listing = kdri_listing_open(file);
	while (listing && (name = kdri_listing_next(listing)))
		if (is_abandoned(name)) {
			snprintf(file, sizeof file, "%.*s%s", length, path, name);
			(void)kdri_unlink(file);
		}
	if (listing)
		kdri_listing_close(listing);
}

enum { BUFFER = KDRI_OUTPUT_BLOCK };

struct kdri_output {
	char *path; /* as given, for messages and lists */
	pending file;
	int fd;
	bool gzip;
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
	if (o->file.temporary && o->file.temporary[0]) /* closed: Windows removes no open file */
		kdri_unlink(o->file.temporary);
	KDRI_FREE(ctx, o->path, o->file.temporary, o->file.place, o);
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

/* Where the bytes of a file wait: next to it or, of what is no regular file, in the folder for temporary files. */
static kdr_status find_place(kdr_context *ctx, const char *path, bool force, pending *f)
{
	char place[8192];
	kdri_file info;
	f->force = force;
	f->through = strcmp(path, "-") == 0;
	if (!f->through && kdri_file_at(path, &info)) {
		if (kdri_was_read(ctx, &info))
			return kdri_fail(
			        ctx, KDR_ERR_EXISTS,
			        "%s: was read by this command and is not replaced; choose another name or folder",
			        path);
		if (info.folder)
			return kdri_fail(ctx, KDR_ERR_WRITE,
			                 "%s: is a directory; the name of a file is needed", path);
		f->through = !info.regular;
		if (!force && !f->through)
			return kdri_fail(ctx, KDR_ERR_EXISTS, "%s: already exists; use --force to replace it",
			                 path);
	} else if (!f->through && errno == ENAMETOOLONG) { /* the temporary name may be shorter */
		return kdri_fail(ctx, KDR_ERR_WRITE, "%s: cannot create: %s", path, strerror(errno));
	}
	if (f->through || !kdri_follow(path, place, sizeof place))
		snprintf(place, sizeof place, "%s", path);
	return kdri_strdup(ctx, place, &f->place);
}

/* Creates a file with an unused name next to `beside`, and its folder. */
static int open_temporary(kdri_output *o, char *beside, size_t room)
{
	int fd = -1;
	for (int attempt = 0; fd < 0 && attempt < 100; attempt++) {
		temporary_name(beside, o->file.temporary, room);
		fd = kdri_open(o->file.temporary, O_WRONLY | O_CREAT | O_EXCL);
		if (fd < 0 && errno == ENOENT && attempt == 0 && make_parents(beside))
			continue;
		if (fd < 0 && errno != EEXIST)
			break;
	}
	return fd;
}

kdr_status kdri_output_open(kdr_context *ctx, const char *path, bool force, kdri_output **out)
{
	kdr_status st;
	kdri_output *o = NULL;
	char scratch[4096], *beside;
	KDRI_TRY(kdri_calloc(ctx, &o, 1, sizeof *o));
	o->fd = -1;
	KDRI_TRY(kdri_strdup(ctx, path, &o->path));
	KDRI_TRY(find_place(ctx, path, force, &o->file));
	beside = o->file.place;
	if (o->file.through && kdri_scratch_folder(scratch, sizeof scratch - 2))
		beside = strcat(scratch, "/x");
	const size_t room = strlen(beside) + 48;
	KDRI_TRY(kdri_alloc(ctx, &o->file.temporary, (int64_t)room, 1));
	o->file.temporary[0] = '\0';
	remove_abandoned(ctx, beside);
	o->fd = open_temporary(o, beside, room);
	if (o->fd < 0) {
		o->file.temporary[0] = '\0';
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
	return o->file.temporary;
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
	st = ctx->outputs ? set_add(ctx, o->path, &o->file) : place_file(ctx, o->path, &o->file);
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

/* A context that protects inputs is that of one command, whose outputs are different files: a folder and a name, as a number,
 * are noted like a file that was read. */
static kdr_status note_checked(kdr_context *ctx, const char *path)
{
	char folder[8192];
	kdri_file name;
	if (!ctx->seen || !folder_of(path, folder, sizeof folder, &name))
		return KDR_OK;
	const char *last = path + kdri_folder_length(path);
	name.regular = true;
	name.number ^= kdri_fnv1a(last, strlen(last));
	if (kdri_was_read(ctx, &name))
		return kdri_fail(ctx, KDR_ERR_EXISTS,
		                 "%s: two outputs have this name; choose another name for one of them", path);
	return kdri_seen_add(ctx, &name);
}

kdr_status kdr_write_check(kdr_context *ctx, const char *path, bool force)
{
	KDRI_NEED(ctx, path);
	kdri_output *o = NULL;
	kdr_status st = kdri_output_open(ctx, path, force, &o);
	output_drop(ctx, o);
	return st == KDR_OK ? note_checked(ctx, path) : st;
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
