/* Files that appear together. SPDX-License-Identifier: BSD-3-Clause
 *
 * While a set is open, complete files keep their temporary names. At the end of the set all of them are renamed, result.json
 * last; after a failure all of them are removed, so that an earlier result stays as it was. A process that is killed between two
 * renames leaves files of two results; this takes microseconds per file. */
#include "io/output/set.h"
#include "core/system.h"
#include "io/io.h"

#include <errno.h>
#include <stdio.h>

typedef struct pending {
	char *path, *temporary;
	bool force;
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
		KDRI_FREE(ctx, s->files[i].path, s->files[i].temporary);
	}
	for (int64_t i = 0; s && i < s->nstale; i++)
		kdri_free(ctx, s->stale[i]);
	if (s)
		KDRI_FREE(ctx, s->files, s->stale, s->folder, s);
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
		ctx->outputs_close = set_free;
		KDRI_TRY(kdri_strdup(ctx, folder ? folder : "", &s->folder));
	}
	s->depth++;
done:
	if (st != KDR_OK)
		set_free(ctx);
	return st;
}

kdr_status kdri_set_add(kdr_context *ctx, const char *path, char **temporary, bool force)
{
	kdr_status st;
	struct kdri_output_set *s = ctx->outputs;
	char *copy = NULL;
	KDRI_TRY(kdri_strdup(ctx, path, &copy));
	if (s->count == s->room) {
		KDRI_TRY(KDRI_GROW(ctx, &s->files, s->room ? 2 * s->room : 16));
		s->room = s->room ? 2 * s->room : 16;
	}
	s->files[s->count++] = (pending){ copy, *temporary, force };
	*temporary = copy = NULL;
done:
	kdri_free(ctx, copy);
	return st;
}

kdr_status kdr_outputs_expect(kdr_context *ctx, const char *path)
{
	char *none = NULL;
	KDRI_NEED(ctx, path);
	return ctx->outputs ? kdri_set_add(ctx, path, &none, true) : KDR_OK;
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
		if (kdri_put_in_place(f->temporary, f->path, f->force) != 0)
			return errno == EEXIST
			               ? kdri_fail(ctx, KDR_ERR_EXISTS,
			                           "%s: already exists; use --force to replace it", f->path)
			               : kdri_fail(ctx, KDR_ERR_WRITE, "%s: cannot write: %s", f->path,
			                           strerror(errno));
		kdri_free(ctx, f->temporary);
		f->temporary = NULL;
		++*renamed;
	}
	return KDR_OK;
}

static kdr_status put_all_in_place(kdr_context *ctx, struct kdri_output_set *s, int64_t *renamed)
{
	/* What is certain to fail must not fail in the middle. */
	for (int64_t i = 0; i < s->count; i++)
		if (!s->files[i].force && kdri_exists(s->files[i].path))
			return kdri_fail(ctx, KDR_ERR_EXISTS, "%s: already exists; use --force to replace it",
			                 s->files[i].path);
	KDRI_DO(rename_files(ctx, s, false, renamed));
	for (int64_t i = 0; i < s->nstale; i++)
		(void)kdri_unlink(
		        s->stale[i]); /* the next result.json does not list it, so nothing depends on it */
	return rename_files(ctx, s, true, renamed);
}

/* Completes the message of a failure: is there still a result? */
static void report_earlier(kdr_context *ctx, const struct kdri_output_set *s, int64_t renamed)
{
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

kdr_status kdr_outputs_end(kdr_context *ctx, kdr_status st)
{
	struct kdri_output_set *s = ctx ? ctx->outputs : NULL;
	int64_t renamed = 0;
	if (!s || --s->depth > 0)
		return st;
	if (st == KDR_OK)
		st = put_all_in_place(ctx, s, &renamed);
	if (st == KDR_ERR_WRITE || (st != KDR_OK && renamed > 0))
		report_earlier(ctx, s, renamed);
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

bool kdri_was_read(const kdr_context *ctx, const kdri_file *info)
{
	const struct kdri_seen *s = ctx->seen;
	for (int64_t i = 0; s && i < s->count; i++)
		if (s->files[i].device == info->device && s->files[i].number == info->number)
			return true;
	return false;
}

/* --- temporary files ------------------------------------------------------------------------------------------ */

/* ".tmp-MACHINE-PROCESS-NUMBER": the length does not depend on the name of the file, which may be as long as names can be. */
void kdri_temporary_name(const char *path, char *out, size_t room)
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

void kdri_remove_abandoned(kdr_context *ctx, const char *path)
{
	char file[8192];
	const int length = (int)kdri_folder_length(path);
	const char *name;
	kdri_file info;
	snprintf(file, sizeof file, "%.*s", length ? length : 1, length ? path : ".");
	if (!kdri_file_at(file, &info) || !info.folder ||
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
