/* The files below a folder, in an order that does not depend on the file system.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "io/io.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { DEEPEST = 100 };

/* The parent folders: a link to one of them would be followed for ever. */
typedef struct ancestor {
	dev_t device;
	ino_t inode;
	const struct ancestor *above;
	int depth;
} ancestor;

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_above(const ancestor *above, const struct stat *info)
{
	for (; above; above = above->above)
		if (above->device == info->st_dev && above->inode == info->st_ino)
			return true;
	return false;
}

static kdr_status folder_join(kdr_context *ctx, const char *folder, const char *name, char **out)
{
	size_t n = strlen(folder), m = strlen(name);
	bool slash = n > 0 && folder[n - 1] != '/';
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
	DIR *dir = opendir(path);
	if (!dir)
		return kdri_fail(ctx, KDR_ERR_READ, "%s: cannot open the folder: %s", path, strerror(errno));
	for (;;) {
		char *name = NULL;
		errno = 0;
		const struct dirent *entry = readdir(dir);
		if (!entry) {
			if (errno)
				st = kdri_fail(ctx, KDR_ERR_READ, "%s: cannot read the folder: %s", path,
				               strerror(errno));
			break;
		}
		if (entry->d_name[0] == '.')
			continue;
		KDRI_TRY(kdri_strdup(ctx, entry->d_name, &name));
		KDRI_TRY(folder_append(ctx, names, &room, name));
	}
	if (names->count > 0)
		qsort(names->paths, (size_t)names->count, sizeof *names->paths, compare_names);
done:
	closedir(dir);
	return st;
}

static kdr_status folder_walk(kdr_context *ctx, const char *path, const char *relative, const ancestor *above,
                              kdri_folder *list, int64_t *room)
{
	kdr_status st;
	kdri_folder names = { 0 };
	char *full = NULL, *below = NULL;
	struct stat info;
	if (above->depth > DEEPEST)
		return kdri_fail(ctx, KDR_ERR_READ, "%s: folders are nested more than %d levels deep", path,
		                 DEEPEST);
	KDRI_TRY(folder_read_names(ctx, path, &names));
	for (int64_t i = 0; i < names.count; i++) {
		KDRI_TRY(folder_join(ctx, path, names.paths[i], &full));
		KDRI_TRY(folder_join(ctx, relative, names.paths[i], &below));
		/* A dangling link, or a file that went away meanwhile, is no document. */
		bool exists = stat(full, &info) == 0;
		if (exists && S_ISDIR(info.st_mode) && !is_above(above, &info)) {
			ancestor here = { info.st_dev, info.st_ino, above, above->depth + 1 };
			KDRI_TRY(folder_walk(ctx, full, below, &here, list, room));
		} else if (exists && S_ISREG(info.st_mode)) {
			char *path_of_file = below;
			below = NULL;
			KDRI_TRY(folder_append(ctx, list, room, path_of_file));
			list->bytes += info.st_size;
		}
		kdri_free(ctx, full);
		kdri_free(ctx, below);
		full = below = NULL;
	}
done:
	kdri_free(ctx, full);
	kdri_free(ctx, below);
	kdri_folder_free(ctx, &names);
	return st;
}

kdr_status kdri_folder_list(kdr_context *ctx, const char *root, kdri_folder *out)
{
	kdr_status st;
	kdri_folder list = { 0 };
	int64_t room = 0;
	struct stat info;
	if (stat(root, &info) != 0)
		return kdri_fail(ctx, KDR_ERR_READ, "%s: cannot open: %s", root, strerror(errno));
	if (!S_ISDIR(info.st_mode))
		return kdri_fail(ctx, KDR_ERR_READ, "%s: is a file; a folder of documents is needed", root);
	ancestor here = { info.st_dev, info.st_ino, NULL, 0 };
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
