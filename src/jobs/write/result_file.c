/* A result.json as the input of a job. SPDX-License-Identifier: BSD-3-Clause */
#include "jobs/write/result_file.h"

#include "core/names.h"
#include "core/system.h"
#include "io/io.h"
#include "io/output/set.h"

#include <stdio.h>

/* Far beyond any result; keeps a compressed bomb from filling the memory. */
static const int64_t most_bytes = (int64_t)1 << 30;

kdr_status kdri_result_file_text(kdr_context *ctx, const char *path, char **out, size_t *size)
{
	kdr_status st;
	kdri_input *in = NULL;
	char *text = NULL;
	int64_t used = 0, room = 1 << 16;
	size_t got = 0;
	KDRI_TRY(kdri_input_open(ctx, path, &in));
	do {
		room *= 2;
		KDRI_TRY(KDRI_GROW(ctx, &text, room));
		KDRI_TRY(kdri_input_read(ctx, in, text + used, (size_t)(room - used), &got));
		used += (int64_t)got;
	} while (used == room && room < most_bytes);
	if (used == room)
		KDRI_FAIL(ctx, KDR_ERR_SIZE, "%s has more than %lld bytes, the limit for a result", path,
		          (long long)most_bytes);
	*out = text;
	*size = (size_t)used;
	text = NULL;
done:
	kdri_free(ctx, text);
	kdri_input_close(ctx, in);
	return st;
}

kdr_status kdri_result_file_read(kdr_context *ctx, const char *path, kdri_json_value **root)
{
	kdr_status st;
	char *text = NULL;
	size_t size = 0;
	kdri_json_value *own = NULL;
	KDRI_TRY(kdri_result_file_text(ctx, path, &text, &size));
	KDRI_TRY(kdri_json_parse(ctx, path, 1, text, size, &own));
	KDRI_TRY(kdri_result_file_check(ctx, path, own));
	*root = own;
	own = NULL;
done:
	kdri_free(ctx, text);
	kdri_json_value_free(own);
	return st;
}

kdr_status kdri_result_fingerprint(kdr_context *ctx, const kdri_json_value *root, char out[KDRI_FINGERPRINT])
{
	const kdri_json_value *tasks = kdri_json_get(root, "tasks");
	kdri_json j = { .allocator = &ctx->allocator };
	char number[32];
	for (int64_t t = 0; t < kdri_json_count(tasks); t++) {
		const kdri_json_value *task = kdri_json_at(tasks, t), *labels = kdri_json_get(task, "labels");
		const char *name = kdri_json_text(kdri_json_get(task, "name"), NULL);
		kdri_json_raw(&j, name ? name : "", name ? strlen(name) : 0);
		kdri_json_raw(&j, "\n", 1);
		for (int64_t i = 0; i < kdri_json_count(labels); i++) {
			const kdri_json_value *label = kdri_json_at(labels, i);
			const char *text = kdri_json_text(label, NULL);
			snprintf(number, sizeof number, "%lld", (long long)kdri_json_integer(label, -1));
			kdri_json_raw(&j, text ? text : number, strlen(text ? text : number));
			kdri_json_raw(&j, "\n", 1);
		}
	}
	snprintf(number, sizeof number, "%lld",
	         (long long)kdri_json_count(kdri_json_get(kdri_json_get(root, "edited"), "edits")));
	kdri_json_raw(&j, number, strlen(number));
	const bool failed = j.failed;
	if (!failed)
		kdri_page_hash(j.text, j.used, out);
	kdri_json_free(&j);
	return failed ? kdri_fail(ctx, KDR_ERR_MEMORY, "out of memory: the fingerprint of a result") : KDR_OK;
}

/* --- the files of a result --------------------------------------------------------------------------------- */

/* The folder of a path, "." if it has none. */
static bool folder_of(const char *path, kdri_file *out)
{
	char folder[8192];
	const int length = (int)kdri_folder_length(path);
	snprintf(folder, sizeof folder, "%.*s", length ? length : 1, length ? path : ".");
	return kdri_file_at(folder, out);
}

/* The name of the next file of the open set that is in this folder, or NULL. */
static const char *next_beside(const kdr_context *ctx, const kdri_file *folder, int64_t *at)
{
	kdri_file own;
	for (const char *path; (path = kdri_set_at(ctx, *at));) {
		++*at;
		if (folder_of(path, &own) && own.device == folder->device && own.number == folder->number)
			return path + kdri_folder_length(path);
	}
	return NULL;
}

void kdri_put_files(kdr_context *ctx, kdri_json *j, const char *path)
{
	kdri_file folder = { 0 };
	int64_t at = 0;
	kdri_json_array(j, "files");
	if (folder_of(path, &folder))
		for (const char *name; (name = next_beside(ctx, &folder, &at));)
			kdri_json_string(j, NULL, name);
	kdri_json_string(j, NULL, path + kdri_folder_length(path));
	kdri_json_end_array(j);
}

/* Reads up to the end of the list "files" of the result.json at `path`, which follows the version; *out is NULL if there is none. */
static kdr_status read_files(kdr_context *ctx, const char *path, kdri_json_value **out)
{
	enum { HEAD = 4096 };
	kdr_status st;
	kdri_input *in = NULL;
	char *text = NULL, *begin = NULL, *end = NULL;
	size_t used = 0, got = 0;
	struct kdri_seen *const seen = ctx->seen;
	ctx->seen = NULL; /* what was written earlier is no input */
	st = kdri_input_open(ctx, path, &in);
	ctx->seen = seen;
	KDRI_TRY(st);
	for (int64_t room = HEAD; !end && room <= (1 << 26); room *= 2) {
		KDRI_TRY(KDRI_GROW(ctx, &text, room + 1));
		KDRI_TRY(kdri_input_read(ctx, in, text + used, (size_t)room - used, &got));
		used += got;
		text[used] = '\0';
		begin = strstr(text, "\"files\"");
		if (!begin || begin - text > HEAD / 2 || !(begin = strchr(begin, '[')))
			goto done;
		bool quoted = false;
		for (end = begin; *end && (quoted || *end != ']'); end++) {
			quoted = (*end == '"') != quoted;
			if (*end == '\\' && end[1])
				end++;
		}
		if (!*end)
			end = NULL;
		if (used < (size_t)room)
			break;
	}
	if (end)
		KDRI_TRY(kdri_json_parse(ctx, path, 1, begin, (size_t)(end + 1 - begin), out));
done:
	kdri_free(ctx, text);
	kdri_input_close(ctx, in);
	if (st != KDR_ERR_FORMAT && st != KDR_ERR_READ)
		return st;
	ctx->error[0] = '\0'; /* it is another file, or none */
	return KDR_OK;
}

kdr_status kdri_drop_earlier(kdr_context *ctx, const char *path)
{
	kdr_status st = KDR_OK;
	char file[8192];
	kdri_json_value *files = NULL;
	kdri_names now = { .borrows = true };
	kdri_file folder, info;
	int64_t at = 0, index;
	if (!kdri_file_at(path, &info) || !info.regular || !folder_of(path, &folder))
		return KDR_OK;
	KDRI_TRY(read_files(ctx, path, &files));
	for (const char *name = path + kdri_folder_length(path); name; name = next_beside(ctx, &folder, &at))
		KDRI_TRY(kdri_names_add(ctx, &now, name, strlen(name), &index));
	for (int64_t i = 0; i < kdri_json_count(files); i++) {
		size_t length;
		const char *name = kdri_json_text(kdri_json_at(files, i), &length);
		if (!name || strlen(name) != length || name[0] == '\0' || name[0] == '.' ||
		    strpbrk(name, "/\\:") || kdri_names_find(&now, name) >= 0)
			continue;
		snprintf(file, sizeof file, "%.*s%s", (int)kdri_folder_length(path), path, name);
		if (kdri_file_at(file, &info) && info.regular && !kdri_was_read(ctx, &info))
			KDRI_TRY(kdri_set_remove(ctx, file));
	}
done:
	kdri_names_free(ctx, &now);
	kdri_json_value_free(files);
	return st;
}

kdr_status kdr_result_lists(kdr_context *ctx, const char *path, bool *out)
{
	KDRI_NEED(ctx, path && out);
	kdr_status st = KDR_OK;
	char file[8192];
	kdri_json_value *files = NULL;
	bool listed = false;
	snprintf(file, sizeof file, "%.*sresult.json", (int)kdri_folder_length(path), path);
	if (kdri_exists(file))
		st = read_files(ctx, file, &files);
	for (int64_t i = 0; i < kdri_json_count(files) && !listed; i++) {
		const char *name = kdri_json_text(kdri_json_at(files, i), NULL);
		listed = name && strcmp(name, path + kdri_folder_length(path)) == 0;
	}
	kdri_json_value_free(files);
	if (st == KDR_OK)
		*out = listed;
	return st;
}

kdr_status kdr_labels_beside(kdr_context *ctx, const char *data, char **out)
{
	KDRI_NEED(ctx, data && out);
	char *path = NULL;
	const size_t n = strlen(data);
	KDRI_DO(KDRI_NEW(ctx, &path, (int64_t)n + 8));
	strcpy(path, data);
	if (kdri_ends_with(path, ".gz"))
		path[n - 3] = '\0';
	char *name = path + kdri_folder_length(path), *dot = strrchr(name, '.');
	if (dot && dot > name)
		*dot = '\0';
	strcat(path, ".labels");
	*out = path;
	return KDR_OK;
}

kdr_status kdr_labels_check(kdr_context *ctx, const char *labels, const char *data)
{
	KDRI_NEED(ctx, labels && data);
	kdr_status st;
	char *beside = NULL;
	kdri_file own, known;
	bool listed = true;
	KDRI_TRY(kdr_labels_beside(ctx, data, &beside));
	if (kdri_file_at(labels, &own) && kdri_file_at(beside, &known) && own.device == known.device &&
	    own.number == known.number)
		KDRI_TRY(kdr_result_lists(ctx, labels, &listed));
	if (!listed)
		st = kdri_fail(
		        ctx, KDR_ERR_EXISTS,
		        "%s: may have the known classes of %s and is not replaced; choose another folder",
		        labels, data);
done:
	kdri_free(ctx, beside);
	return st;
}
