/* Splits a data set by a name for each row. SPDX-License-Identifier: BSD-3-Clause */
#include "core/internal.h"
#include "core/names.h"
#include "core/system.h"

#include <stdio.h>

/* The caller's names as groups. */
static kdr_status split_group(kdr_context *ctx, const char *const *names, int64_t rows, kdri_groups *out)
{
	kdr_status st;
	kdri_names table = { 0 };
	int64_t *of = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &of, rows));
	for (int64_t i = 0; i < rows; i++)
		KDRI_TRY(kdri_names_add(ctx, &table, names[i], strlen(names[i]), &of[i]));
	*out = (kdri_groups){ .of = of, .names = table.names, .count = table.count };
	of = NULL;
	table.names = NULL;
done:
	kdri_free(ctx, of);
	kdri_names_free(ctx, &table);
	return st;
}

/* Task names are used as file names. */
static kdr_status name_task(kdr_context *ctx, const char *prefix, const char *name, char **out)
{
	size_t before = prefix ? strlen(prefix) : 0, room = before + strlen(name) + 1;
	char *text = NULL;
	KDRI_DO(KDRI_NEW(ctx, &text, room));
	snprintf(text, room, "%s%s", prefix ? prefix : "", name);
	for (char *p = text + before; *p; p++)
		if (strchr(kdri_not_in_names, *p))
			*p = '_';
	*out = text;
	return KDR_OK;
}

/* The rows of group g, which are order[0 .. n-1]. */
static kdr_status split_take(kdr_context *ctx, const kdr_data *data, const char *prefix, const char *name,
                             const int64_t *order, int64_t n, kdr_data **out)
{
	kdr_status st;
	kdr_data *d = NULL;
	char *text = NULL;
	KDRI_TRY(kdr_data_rows(ctx, data, order, n, &d));
	KDRI_TRY(name_task(ctx, prefix, name, &text));
	kdri_free(ctx, d->name);
	d->name = text;
	*out = d;
	d = NULL;
done:
	kdr_data_free(d);
	return st;
}

kdr_status kdri_data_split(kdr_context *ctx, const kdr_data *data, const char *const *names,
                           const char *prefix, kdr_data ***out, int64_t *count)
{
	kdr_status st = KDR_OK;
	kdri_groups own = { 0 };
	kdri_names taken = { .borrows = true };
	kdr_data **sets = NULL;
	int64_t *begin = NULL, *order = NULL, *first = NULL, made = 0;
	if (!ctx)
		return KDR_ERR_ARGUMENT;
	if (!data || !out || !count || (!names && !data->groups.of))
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "split: a data set with a task column or one name per row is needed");
	if (names)
		KDRI_TRY(split_group(ctx, names, data->rows, &own));
	const kdri_groups *g = names ? &own : &data->groups;
	if (data->rows == 0 && !g->all)
		KDRI_FAIL(ctx, KDR_ERR_DATA, "%s: the file has no rows, so its task column is empty",
		          data->path[0] ? data->path : data->name);
	KDRI_TRY(KDRI_NEW0(ctx, &begin, g->count + 1));
	KDRI_TRY(KDRI_NEW(ctx, &order, data->rows));
	KDRI_TRY(KDRI_NEW(ctx, &first, g->count));
	KDRI_TRY(kdri_calloc(ctx, &sets, g->count, sizeof(kdr_data *)));
	for (int64_t i = 0; i < data->rows; i++) {
		if (g->of[i] < 0)
			KDRI_FAIL(ctx, KDR_ERR_DATA,
			          "%s: row %lld has no value in the task column; every row needs one",
			          data->path[0] ? data->path : data->name, (long long)i + 1);
		begin[g->of[i] + 1]++;
	}
	for (int64_t k = 0; k < g->count; k++)
		begin[k + 1] += begin[k];
	for (int64_t i = 0; i < data->rows; i++)
		order[begin[g->of[i]]++] = i;
	for (; g->all && made < g->count; made++)
		first[made] = made;
	/* Each begin is now the end of its group: the next one's begin was this. */
	for (int64_t i = 0; !g->all && i < data->rows; i++) {
		int64_t k = g->of[i], from = k > 0 ? begin[k - 1] : 0;
		if (order[from] == i) /* in order of first appearance */
			first[made++] = k;
	}
	for (int64_t t = 0; t < made; t++) {
		int64_t k = first[t], from = k > 0 ? begin[k - 1] : 0, same;
		KDRI_TRY(split_take(ctx, data, prefix, g->names[k], order + from, begin[k] - from, &sets[t]));
		KDRI_TRY(kdri_names_add(ctx, &taken, sets[t]->name, strlen(sets[t]->name), &same));
		if (same < t)
			KDRI_FAIL(
			        ctx, KDR_ERR_DATA,
			        "%s: the data sets '%s' and '%s' of the task column would both be called '%s', because file names cannot contain any of %.*s; rename one of them",
			        data->path[0] ? data->path : data->name, g->names[first[same]], g->names[k],
			        sets[t]->name, (int)strcspn(kdri_not_in_names, "\1"), kdri_not_in_names);
	}
	/* The tasks of skipped rows are unknown: the first data set lists them. */
	for (int64_t i = 0; i < data->nleft_out; i++)
		KDRI_TRY(kdri_data_leave_out(ctx, sets[0], data->left_out[i].row, data->left_out[i].id,
		                             data->left_out[i].reason));
	*out = sets;
	*count = made;
	sets = NULL;
done:
	kdri_names_free(ctx, &taken);
	for (int64_t t = 0; sets && t < made; t++)
		kdr_data_free(sets[t]);
	KDRI_FREE(ctx, sets, begin, order, first, own.of);
	kdri_strings_free(&ctx->allocator, own.names, own.count);
	return st;
}
