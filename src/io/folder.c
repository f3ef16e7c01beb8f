/* File names, and the files below a folder in an order that does not depend on the file system.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "core/system.h"
#include "io/binary.h"

#include <errno.h>
#include <stdlib.h>

/* --- file names --- */

bool kdri_ends_with(const char *text, const char *suffix)
{
	size_t n = strlen(text), m = strlen(suffix);
	return n >= m && strcmp(text + n - m, suffix) == 0;
}

kdr_status kdri_path_stem(kdr_context *ctx, const char *path, char **out)
{
	const char *base = path + kdri_folder_length(path);
	size_t n = strlen(base);
	if (n > 3 && kdri_ends_with(base, ".gz"))
		n -= 3;
	/* The ending is what follows the last dot, but a leading dot is part of the name. */
	for (size_t i = n; i > 1; i--)
		if (base[i - 1] == '.') {
			n = i - 1;
			break;
		}
	return kdri_strndup(ctx, base, n, out);
}

kdr_status kdri_split_member(kdr_context *ctx, const char *path, char **file, char **member)
{
	kdr_status st;
	kdri_file info;
	char *f = NULL, *m = NULL;
	KDRI_TRY(kdri_strdup(ctx, path, &f));
	/* A file of exactly that name wins: names may hold colons. Otherwise the longest one that exists. */
	if (!kdri_file_at(path, &info))
		for (size_t i = strlen(path); i > 1; i--) {
			if (path[i - 1] != ':')
				continue;
			f[i - 1] = '\0';
			if (kdri_file_at(f, &info)) {
				KDRI_TRY(kdri_strdup(ctx, path + i, &m));
				break;
			}
			f[i - 1] = ':';
		}
	*file = f;
	*member = m;
	f = NULL;
done:
	kdri_free(ctx, f);
	return st;
}

/* --- folders --- */

enum { DEEPEST = 100 };

/* The parent folders: a link to one of them would be followed for ever. */
typedef struct ancestor {
	uint64_t device, number;
	const struct ancestor *above;
	int depth;
} ancestor;

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_above(const ancestor *above, const kdri_file *info)
{
	for (; above; above = above->above)
		if (above->device == info->device && above->number == info->number)
			return true;
	return false;
}

static kdr_status folder_join(kdr_context *ctx, const char *folder, const char *name, char **out)
{
	size_t n = strlen(folder), m = strlen(name);
	bool slash = n > 0 && !kdri_is_separator(folder[n - 1]);
	char *path = NULL;
	kdr_status st = KDRI_NEW(ctx, &path, n + slash + m + 1);
	if (st != KDR_OK)
		return st;
	memcpy(path, folder, n + 1);
	if (slash)
		path[n] = '/';
	memcpy(path + n + slash, name, m + 1);
	*out = path;
	return KDR_OK;
}

/* Appends `text` and takes ownership of it; frees it on failure. */
static kdr_status folder_append(kdr_context *ctx, kdri_folder *list, int64_t *room, char *text)
{
	kdr_status st = KDRI_ROOM(ctx, &list->paths, room, list->count + 1);
	if (st == KDR_OK)
		list->paths[list->count++] = text;
	else
		kdri_free(ctx, text);
	return st;
}

static kdr_status folder_read_names(kdr_context *ctx, const char *path, kdri_folder *names)
{
	kdr_status st = KDR_OK;
	int64_t room = 0;
	kdri_listing *listing = kdri_listing_open(path);
	if (!listing)
		return kdri_fail(ctx, KDR_ERR_READ, "%s: cannot open the folder: %s", path, strerror(errno));
	for (;;) {
		char *name = NULL;
		const char *entry = kdri_listing_next(listing);
		if (!entry) {
			if (errno)
				st = kdri_fail(ctx, KDR_ERR_READ, "%s: cannot read the folder: %s", path,
				               strerror(errno));
			break;
		}
		if (entry[0] == '.')
			continue;
		KDRI_TRY(kdri_strdup(ctx, entry, &name));
		KDRI_TRY(folder_append(ctx, names, &room, name));
	}
	if (names->count > 0)
		qsort(names->paths, (size_t)names->count, sizeof *names->paths, compare_names);
done:
	kdri_listing_close(listing);
	return st;
}

static kdr_status folder_walk(kdr_context *ctx, const char *path, const char *relative, const ancestor *above,
                              kdri_folder *list, int64_t *room)
{
	kdr_status st;
	kdri_folder names = { 0 };
	char *full = NULL, *below = NULL;
	kdri_file info;
	if (above->depth > DEEPEST)
		return kdri_fail(ctx, KDR_ERR_READ, "%s: folders are nested more than %d levels deep", path,
		                 DEEPEST);
	KDRI_TRY(folder_read_names(ctx, path, &names));
	for (int64_t i = 0; i < names.count; i++) {
		if (ctx->writing == 0 && kdri_leave_off(ctx, "read", list->count, 0))
			KDRI_FAIL(ctx, KDR_ERR_READ, "%s: reading was stopped", path);
		KDRI_TRY(folder_join(ctx, path, names.paths[i], &full));
		KDRI_TRY(folder_join(ctx, relative, names.paths[i], &below));
		/* A dangling link, or a file that went away meanwhile, is no document. */
		bool exists = kdri_file_at(full, &info);
		if (exists && info.folder && !is_above(above, &info)) {
			ancestor here = { info.device, info.number, above, above->depth + 1 };
			KDRI_TRY(folder_walk(ctx, full, below, &here, list, room));
		} else if (exists && info.regular) {
			char *path_of_file = below;
			below = NULL;
			KDRI_TRY(folder_append(ctx, list, room, path_of_file));
			list->bytes += info.bytes;
		}
		KDRI_FREE(ctx, full, below);
		full = below = NULL;
	}
done:
	KDRI_FREE(ctx, full, below);
	kdri_folder_free(ctx, &names);
	return st;
}

kdr_status kdri_folder_list(kdr_context *ctx, const char *root, kdri_folder *out)
{
	kdr_status st;
	kdri_folder list = { 0 };
	int64_t room = 0;
	kdri_file info;
	if (!kdri_file_at(root, &info))
		return kdri_fail(ctx, KDR_ERR_READ, "%s: cannot open: %s", root, strerror(errno));
	if (!info.folder)
		return kdri_fail(ctx, KDR_ERR_READ, "%s: is a file; a folder of documents is needed", root);
	ancestor here = { info.device, info.number, NULL, 0 };
	KDRI_TRY(folder_walk(ctx, root, "", &here, &list, &room));
	*out = list;
	list = (kdri_folder){ 0 };
done:
	kdri_folder_free(ctx, &list);
	return st;
}

void kdri_folder_free(kdr_context *ctx, kdri_folder *folder)
{
	kdri_strings_free(&ctx->allocator, folder->paths, folder->count);
	*folder = (kdri_folder){ 0 };
}
