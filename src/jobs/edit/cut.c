/* kdr_cut: the files of one level of a result.json. SPDX-License-Identifier: BSD-3-Clause */
#include "jobs/edit/relabel.h"

#include <stdio.h>

static int64_t clusters_of(const kdri_json_value *level, int64_t task)
{
	return kdri_json_integer(kdri_json_get(kdri_json_at(kdri_json_get(level, "tasks"), task), "k"), -1);
}

/* The numbers of clusters of the levels, such as "3, 4, 5", or "3,2 4,3" with one for each data set. */
static void list_levels(const kdri_json_value *levels, int64_t count, char *out, size_t room)
{
	size_t used = 0;
	out[0] = '\0';
	for (int64_t i = 0; i < kdri_json_count(levels) && used < room; i++) {
		const kdri_json_value *level = kdri_json_at(levels, i);
		used += (size_t)snprintf(out + used, room - used, "%s", i ? count > 1 ? " " : ", " : "");
		for (int64_t t = 0; t < count && used < room; t++)
			used += (size_t)snprintf(
			        out + used, room - used, "%s%lld", t ? "," : "",
			        (long long)(count > 1 ? clusters_of(level, t)
			                              : kdri_json_integer(kdri_json_get(level, "k"), -1)));
	}
}

static kdr_status find_level(kdr_context *ctx, const char *path, const kdri_json_value *root,
                             const int64_t *k, int64_t count, const kdri_json_value **out)
{
	char all[512];
	const kdri_json_value *levels = kdri_json_get(root, "levels");
	const int64_t ntasks = kdri_json_count(kdri_json_get(root, "tasks"));
	if (!kdri_json_is(levels, KDRI_JSON_ARRAY) || kdri_json_count(levels) == 0)
		return kdri_fail(ctx, KDR_ERR_FORMAT, "%s has one k only: run -k 3-8 first", path);
	if (count > 1 && count != ntasks)
		return kdri_fail(
		        ctx, KDR_ERR_ARGUMENT,
		        "%s has %lld data set%s, but %lld numbers of clusters were specified: give one number, or one for each",
		        path, (long long)ntasks, ntasks == 1 ? "" : "s", (long long)count);
	for (int64_t i = 0; i < kdri_json_count(levels); i++) {
		const kdri_json_value *level = kdri_json_at(levels, i);
		bool found = count > 1 || kdri_json_integer(kdri_json_get(level, "k"), -1) == k[0];
		for (int64_t t = 0; t < count && count > 1; t++)
			found = found && clusters_of(level, t) == k[t];
		if (found) {
			*out = level;
			return KDR_OK;
		}
	}
	list_levels(levels, count, all, sizeof all);
	return kdri_fail(ctx, KDR_ERR_ARGUMENT, "%s has no level with %lld%s clusters; it has %s", path,
	                 (long long)k[0], count > 1 ? ",..." : "", all);
}

kdr_status kdr_cut(kdr_context *ctx, const char *path, const int64_t *k, int64_t count, const char *folder,
                   const char *table, const char *columns, bool force)
{
	static const struct {
		const char *ending;
		kdri_edited_fill *fill;
	} files[] = { { ".labels", kdri_edited_labels }, { ".samples.csv", kdri_edited_samples } };
	kdr_status st;
	char file[8192];
	kdri_json_value *root = NULL;
	const kdri_json_value *level = NULL;
	kdri_edited e = { .ctx = ctx };
	kdri_edited_copies copies = { .sets = NULL };
	bool begun = false, other = false;
	KDRI_NEED(ctx, path && k && folder);
	KDRI_DO(kdri_copied_check(ctx, columns));
	if (count < 1)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "count is %lld: at least one number of clusters is needed",
		                 (long long)count);
	KDRI_TRY(kdr_outputs_begin(ctx, NULL));
	begun = true;
	KDRI_TRY(kdri_result_file_read(ctx, path, &root));
	KDRI_TRY(find_level(ctx, path, root, k, count, &level));
	KDRI_TRY(kdri_edited_open(ctx, path, root, level, &e));
	if (table)
		KDRI_TRY(kdri_edited_copies_new(&e, &copies));
	/* First whether everything can be written, then all of it. */
	for (int write = 0; write < 2; write++) {
		for (int64_t t = 0; t < e.ntasks; t++)
			for (int f = 0; f < 2; f++) {
				const char *data =
				        kdri_json_text(kdri_json_get(e.tasks[t].json, "path"), NULL);
				snprintf(file, sizeof file, "%s/%s%s", folder, e.tasks[t].name,
				         files[f].ending);
				if (write) {
					KDRI_TRY(kdri_edited_write(&e, t, files[f].fill, file, force));
					continue;
				}
				if (f == 0 && data)
					KDRI_TRY(kdr_labels_check(ctx, file, data));
				KDRI_TRY(kdr_result_lists(ctx, file, &other));
				if (other)
					KDRI_FAIL(
					        ctx, KDR_ERR_EXISTS,
					        "%s: belongs to the result.json in its folder; choose another folder",
					        file);
				KDRI_TRY(kdr_write_check(ctx, file, force));
			}
		if (table)
			KDRI_TRY(kdri_copied_write_all(ctx, path, copies.sets, e.ntasks, false, columns,
			                               table, write, force));
	}
done:
	kdri_edited_copies_free(&e, &copies);
	kdri_edited_close(&e);
	kdri_json_value_free(root);
	return begun ? kdr_outputs_end(ctx, st) : st;
}
