/* Writes results to the file that the data were read from. SPDX-License-Identifier: BSD-3-Clause */
#include "core/names.h"
#include "io/binary.h"
#include "io/hdf5/h5ad_write.h"
#include "jobs/job.h"
#include "jobs/say/say.h"

#include <stdio.h>

/* The results for the rows of one file. */
typedef struct gathered {
	int64_t rows;
	int64_t *place; /* for each row of the file: its output row, or -1 */
	int64_t file_rows;
	int32_t *codes, *second;
	double *confidence, *match, *unlike, *xy; /* unlike: unlike_source */
	double *shared;                           /* rows x width */
	int64_t width;
	bool sure, ranked, doubted, matched; /* some row has a confidence, unlike, a second choice, a match */
	kdri_names names, titles;
} gathered;

/* The result's task of that name, or -1. */
static int64_t h5ad_task_of(const kdr_result *r, const char *name)
{
	for (int64_t t = 0; r && t < kdr_result_ntasks(r); t++)
		if (strcmp(kdr_result_task_name(r, t), name) == 0)
			return t;
	return -1;
}

/* The given name or known class of a cluster; NULL: none. */
static const char *given_name(const kdr_result *r, int64_t number)
{
	for (int64_t t = 0; t < r->ntasks; t++) {
		const int64_t c = r->tasks[t].names ? kdri_cluster_at(&r->tasks[t], number) : -1;
		if (c >= 0 && r->tasks[t].names[c])
			return r->tasks[t].names[c];
	}
	return NULL;
}

/* Adds category `number`: by its name, else by its title if these are wanted, else by its number. "name (3)" if another category is called so: two clusters are never one category. */
static kdr_status add_cluster(kdr_context *ctx, const kdr_result *r, int64_t number, bool titles,
                              kdri_names *names)
{
	char text[1024];
	const char *name = given_name(r, number);
	if (!name && titles)
		name = r->titles[number];
	int64_t index;
	if (name)
		kdri_snprintf(text, sizeof text, "%.800s", name);
	else
		kdri_snprintf(text, sizeof text, "%lld", (long long)number);
	for (int more = 0; more < 8 && kdri_names_find(names, text) >= 0; more++) {
		const size_t used = strlen(text);
		kdri_snprintf(text + used, sizeof text - used, " (%lld)", (long long)number);
	}
	return kdri_names_add(ctx, names, text, strlen(text), &index);
}

/* Classes by their names; clusters by their names or numbers, all of them in their order, so that tasks share them. */
static kdr_status name_labels(kdr_context *ctx, const kdr_result *r, kdri_names *names, kdri_names *titles)
{
	int64_t nclasses = 0, most = 0, index;
	const char *const *classes = kdr_result_classes(r, &nclasses);
	for (int64_t c = 0; classes && c < nclasses; c++)
		KDRI_DO(kdri_names_add(ctx, names, classes[c], strlen(classes[c]), &index));
	if (classes)
		return KDR_OK;
	for (int64_t t = 0; t < kdr_result_ntasks(r); t++) {
		int64_t n = 0;
		const int64_t *labels = kdr_result_labels(r, t, &n);
		const int64_t *second = kdr_result_second(r, t);
		for (int64_t i = 0; labels && i < n; i++)
			most = KDRI_MAX(most, KDRI_MAX(labels[i], second ? second[i] : -1) + 1);
	}
	for (int64_t c = 0; c < most; c++)
		KDRI_DO(add_cluster(ctx, r, c, false, names));
	for (int64_t c = 0; r->titles && most <= r->numbers && c < most; c++)
		KDRI_DO(add_cluster(ctx, r, c, true, titles));
	return KDR_OK;
}

/* Labels, confidence and coordinates of one task's rows. */
static kdr_status take_task(kdr_context *ctx, const kdr_data *set, const kdr_result *r, const double *xy,
                            gathered *g)
{
	kdr_status st;
	int64_t *origin = NULL, file_rows, n = 0, task = h5ad_task_of(r, set->name);
	const int64_t *labels = task < 0 ? NULL : kdr_result_labels(r, task, &n);
	const double *sure = task < 0 ? NULL : kdr_result_confidence(r, task, NULL);
	const int64_t *second = task < 0 ? NULL : kdr_result_second(r, task);
	const double *unlike = task < 0 ? NULL : kdri_sample_array(r, "unlike_source", task, KDR_FLOAT64);
	const double *shared = task < 0 ? NULL : kdr_result_representation(r, task, NULL);
	double *match = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &match, g->names.count));
	for (int64_t c = 0; c < g->names.count; c++)
		match[c] = kdr_result_match(r, c);
	KDRI_TRY(kdri_data_origin(ctx, set, &origin, &file_rows));
	if (file_rows != g->file_rows || (labels && n != set->rows))
		KDRI_FAIL(ctx, KDR_ERR_DATA,
		          "%s has changed since it was read: it has %lld rows instead of %lld", set->path,
		          (long long)g->file_rows, (long long)file_rows);
	for (int64_t i = 0; i < set->rows; i++) {
		int64_t to = g->place[origin[i]];
		if (to < 0)
			continue;
		if (labels && labels[i] >= 0 && labels[i] < g->names.count) {
			g->codes[to] = (int32_t)labels[i];
			g->match[to] = match[labels[i]];
			g->matched = g->matched || !isnan(match[labels[i]]);
		}
		if (second && second[i] >= 0 && second[i] < g->names.count) {
			g->second[to] = (int32_t)second[i];
			g->doubted = true;
		}
		if (sure) {
			g->confidence[to] = sure[i];
			g->sure = true;
		}
		if (unlike) {
			g->unlike[to] = unlike[i];
			g->ranked = true;
		}
		if (xy && g->xy)
			memcpy(g->xy + 2 * to, xy + 2 * i, 2 * sizeof *xy);
		if (shared && g->shared)
			memcpy(g->shared + g->width * to, shared + g->width * i,
			       (size_t)g->width * sizeof *shared);
	}
done:
	KDRI_FREE(ctx, origin, match);
	return st;
}

/* Positions of the rows of the file: all of them or, for a table that is read again, those that are not skipped. */
static kdr_status h5ad_make_room(kdr_context *ctx, const kdr_data *again, int64_t file_rows, bool points,
                                 gathered *g)
{
	kdr_status st;
	int64_t *origin = NULL;
	g->rows = again ? again->rows : file_rows;
	g->file_rows = file_rows;
	if (again)
		KDRI_TRY(kdri_data_origin(ctx, again, &origin, &g->file_rows));
	KDRI_TRY(KDRI_NEW(ctx, &g->place, g->file_rows));
	for (int64_t i = 0; i < g->file_rows; i++)
		g->place[i] = again ? -1 : i;
	for (int64_t i = 0; again && i < again->rows; i++)
		g->place[origin[i]] = i;
	KDRI_TRY(KDRI_NEW(ctx, &g->codes, g->rows));
	KDRI_TRY(KDRI_NEW(ctx, &g->second, g->rows));
	KDRI_TRY(KDRI_NEW(ctx, &g->unlike, g->rows));
	KDRI_TRY(KDRI_NEW(ctx, &g->confidence, g->rows));
	KDRI_TRY(KDRI_NEW(ctx, &g->match, g->rows));
	if (points)
		KDRI_TRY(KDRI_NEW(ctx, &g->xy, 2 * g->rows));
	if (g->width > 0)
		KDRI_TRY(KDRI_NEW(ctx, &g->shared, g->rows * g->width));
	for (int64_t i = 0; i < g->rows; i++) {
		g->codes[i] = g->second[i] = -1;
		g->confidence[i] = g->match[i] = g->unlike[i] = NAN;
	}
	for (int64_t i = 0; i < g->rows * g->width; i++)
		g->shared[i] = NAN;
	for (int64_t i = 0; points && i < 2 * g->rows; i++)
		g->xy[i] = NAN;
done:
	kdri_free(ctx, origin);
	return st;
}

static void h5ad_release(kdr_context *ctx, gathered *g)
{
	KDRI_FREE(ctx, g->place, g->codes, g->second, g->unlike, g->confidence, g->match, g->xy, g->shared);
	kdri_names_free(ctx, &g->names);
	kdri_names_free(ctx, &g->titles);
}

kdr_status kdri_h5ad_check_key(kdr_context *ctx, const char *key)
{
	if (key && (!*key || strlen(key) > KDRI_H5AD_KEY || strchr(key, '/') || key[0] == '_'))
		return kdri_fail(
		        ctx, KDR_ERR_OPTION,
		        "the key '%.60s' cannot begin the names of columns; use 1 to %d characters without '/' that do not begin with '_'",
		        key, KDRI_H5AD_KEY);
	return KDR_OK;
}

static kdr_status write_h5ad(kdr_context *ctx, const char *path, const char *input,
                             const kdr_read_options *reading, kdr_data *const *sets, int64_t count,
                             const kdr_result *result, const double *const *xy, const char *key, bool force)
{
	kdr_status st = KDR_OK;
	gathered g = { 0 };
	kdr_data *again = NULL;
	char *file = NULL, *member = NULL;
	int64_t first = -1, *origin = NULL, file_rows = 0;
	if (!path || !input || !sets)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT, "kdr_write_h5ad: paths and data sets are needed");
	KDRI_DO(kdri_h5ad_check_key(ctx, key));
	if (!result && !xy)
		return KDR_OK;
	kdr_read_options own;
	KDRI_TRY(KDRI_TAKE(ctx, kdr_read_options, reading, &own));
	reading = &own;
	KDRI_TRY(kdri_check_sets(ctx, "kdr_write_h5ad", sets, count, 1));
	for (int64_t t = 0; t < count; t++)
		if (first < 0 && strcmp(sets[t]->path, input) == 0)
			first = t;
	if (first < 0)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT, "kdr_write_h5ad: no data set was read from %s",
		                 input);
	KDRI_TRY(kdri_split_member(ctx, input, &file, &member));
	KDRI_TRY(kdri_data_origin(ctx, sets[first], &origin, &file_rows));
	if (kdri_format_find(reading->format, input) != &kdri_format_h5ad)
		KDRI_TRY(kdr_read(ctx, input, reading, &again));
	for (int64_t t = 0; t < kdr_result_ntasks(result) && g.width == 0; t++)
		kdr_result_representation(result, t, &g.width);
	KDRI_TRY(h5ad_make_room(ctx, again, file_rows, xy != NULL, &g));
	if (result)
		KDRI_TRY(name_labels(ctx, result, &g.names, &g.titles));
	for (int64_t t = 0; t < count; t++)
		if (strcmp(sets[t]->path, input) == 0)
			KDRI_TRY(take_task(ctx, sets[t], result, xy ? xy[t] : NULL, &g));
	const kdri_h5ad_notes notes = { .key = key,
		                        .rows = g.rows,
		                        .codes = result ? g.codes : NULL,
		                        .second = g.doubted ? g.second : NULL,
		                        .categories = (const char *const *)g.names.names,
		                        .ncategories = g.names.count,
		                        .titles = (const char *const *)g.titles.names,
		                        .confidence = g.sure ? g.confidence : NULL,
		                        .match = g.matched ? g.match : NULL,
		                        .unlike_source = g.ranked ? g.unlike : NULL,
		                        .xy = g.xy,
		                        .shared = g.shared,
		                        .width = g.width };
	KDRI_TRY(kdri_h5ad_annotate(ctx, path, file, again, &notes, force));
done:
	h5ad_release(ctx, &g);
	kdr_data_free(again);
	KDRI_FREE(ctx, origin, file, member);
	return st;
}

kdr_status kdr_write_h5ad(kdr_context *ctx, const char *path, const char *input,
                          const kdr_read_options *reading, kdr_data *const *sets, int64_t count,
                          const kdr_result *result, const double *const *xy, const char *key, bool force)
{
	if (!ctx)
		return KDR_ERR_ARGUMENT;
	ctx->writing++;
	const kdr_status st = write_h5ad(ctx, path, input, reading, sets, count, result, xy, key, force);
	ctx->writing--;
	return st;
}
