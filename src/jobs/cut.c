/* kdr_cut: the files of one level of a result.json. SPDX-License-Identifier: BSD-3-Clause */
#include "io/table/csv.h"
#include "jobs/input_copy.h"
#include "jobs/job.h"
#include "jobs/result_file.h"

#include <stdio.h>

/* One data set at the chosen level, and what the result has about it. */
typedef struct part {
	const char *name, *path;
	const kdri_json_value *task, *labels, *confidence, *second, *ids;
	const kdri_json_value *names; /* of clusters at this level; NULL: they have none */
	bool named, reasons;          /* some sample has a cluster with a name; no label */
} part;

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

/* What a cluster is called in the result, which edits may have changed, else at this level. */
static const char *cut_name(const part *p, int64_t number)
{
	const kdri_json_value *clusters = kdri_json_get(p->task, "clusters");
	for (int64_t c = 0; c < kdri_json_count(clusters); c++) {
		const kdri_json_value *cluster = kdri_json_at(clusters, c);
		const char *name = kdri_json_text(kdri_json_get(cluster, "name"), NULL);
		if (name && kdri_json_integer(kdri_json_get(cluster, "number"), -1) == number)
			return name;
	}
	return kdri_json_text(kdri_json_at(p->names, number), NULL);
}

static kdr_status find_part(kdr_context *ctx, const char *path, const kdri_json_value *root,
                            const kdri_json_value *level, int64_t task, part *out)
{
	const kdri_json_value *about = kdri_json_at(kdri_json_get(root, "tasks"), task),
	                      *at = kdri_json_at(kdri_json_get(level, "tasks"), task);
	*out = (part){ .task = about,
		       .name = kdri_json_text(kdri_json_get(at, "name"), NULL),
		       .path = kdri_json_text(kdri_json_get(about, "path"), NULL),
		       .labels = kdri_json_get(at, "labels"),
		       .confidence = kdri_json_get(at, "confidence"),
		       .second = kdri_json_get(at, "second"),
		       .ids = kdri_json_get(about, "ids"),
		       .names = kdri_json_get(at, "names") };
	const int64_t n = kdri_json_count(out->labels);
	bool sound = kdri_json_is(out->labels, KDRI_JSON_ARRAY) && kdri_json_has_length(out->confidence, n) &&
	             kdri_json_has_length(out->second, n) && kdri_json_has_length(out->ids, n);
	for (int64_t i = 0; i < n && sound; i++) {
		const kdri_json_value *label = kdri_json_at(out->labels, i);
		sound = kdri_json_is(label, KDRI_JSON_INTEGER);
		out->named = out->named || cut_name(out, kdri_json_integer(label, -1));
		out->reasons = out->reasons || kdri_json_integer(label, 0) < 0;
	}
	if (!sound)
		return kdri_fail(
		        ctx, KDR_ERR_FORMAT,
		        "%s: data set %lld of the level: an array 'labels' of whole numbers is needed, and other lists of the same length",
		        path, (long long)task + 1);
	return kdri_check_file_name(ctx, path, task, "the level", out->name);
}

static kdr_status cut_put_row(kdr_context *ctx, kdri_output *out, const part *p, int64_t i)
{
	const int64_t second = kdri_json_integer(kdri_json_at(p->second, i), -1);
	const int64_t label = kdri_json_integer(kdri_json_at(p->labels, i), -1);
	const char *name = cut_name(p, label);
	KDRI_DO(kdri_put_id_cell(ctx, out, p->ids, i));
	KDRI_DO(label < 0 ? kdri_output_printf(ctx, out, ",")
	                  : kdri_output_printf(ctx, out, ",%lld", (long long)label));
	KDRI_DO(kdri_output_printf(ctx, out, p->named ? "," : ""));
	if (name)
		KDRI_DO(kdri_csv_put_cell(ctx, out, name, ','));
	KDRI_DO(kdri_output_printf(ctx, out, ","));
	KDRI_DO(kdri_put_number_cell(ctx, out, kdri_json_at(p->confidence, i)));
	KDRI_DO(second >= 0 ? kdri_output_printf(ctx, out, ",%lld", (long long)second)
	                    : kdri_output_printf(ctx, out, ","));
	if (p->reasons)
		KDRI_DO(kdri_output_printf(ctx, out, ",%s",
		                           label < 0 ? kdri_unlabelled_reason(p->task, i) : ""));
	return kdri_output_printf(ctx, out, "\n");
}

static kdr_status cut_put_label(kdr_context *ctx, kdri_output *out, int64_t label)
{
	return label < 0 ? kdri_output_printf(ctx, out, "?\n")
	                 : kdri_output_printf(ctx, out, "%lld\n", (long long)label);
}

static kdr_status cut_write(kdr_context *ctx, const part *p, const char *path, bool samples, bool force)
{
	kdr_status st;
	kdri_output *out = NULL;
	KDRI_TRY(kdri_output_open(ctx, path, force, &out));
	if (samples)
		KDRI_TRY(kdri_output_printf(ctx, out, "id,cluster,%sconfidence,second%s\n",
		                            p->named ? "name," : "", p->reasons ? ",reason" : ""));
	for (int64_t i = 0; i < kdri_json_count(p->labels); i++)
		if (samples)
			KDRI_TRY(cut_put_row(ctx, out, p, i));
		else
			KDRI_TRY(cut_put_label(ctx, out, kdri_json_integer(kdri_json_at(p->labels, i), -1)));
done:
	return kdri_output_finish(ctx, out, st);
}

/* --- tables ------------------------------------------------------------------------------------------------ */

enum { LABELS_MOST = 1000000 };

/* The labels of a level as columns of the files that the data sets were read from. */
typedef struct cut_copies {
	kdri_copied *sets;
	const char **number;
	char (*numbers)[24];
	int64_t count;
} cut_copies;

static void cut_copies_free(kdr_context *ctx, cut_copies *c)
{
	for (int64_t t = 0; c->sets && t < c->count; t++) {
		kdri_copied *s = &c->sets[t];
		KDRI_FREE(ctx, (void *)s->origin, (void *)s->labels, (void *)s->second, (void *)s->confidence,
		          s->name);
	}
	KDRI_FREE(ctx, c->sets, c->numbers, c->number);
}

static kdr_status cut_copies_take(kdr_context *ctx, const char *path, const part *p, kdri_copied *to)
{
	const int64_t n = kdri_json_count(p->labels);
	int64_t *labels = NULL, *second = NULL, *origin = NULL;
	double *confidence = NULL;
	kdr_status st = kdri_copied_table(ctx, path, p->task, n, to, &origin);
	to->origin = origin;
	KDRI_DO(st);
	to->n = n;
	st = kdri_copied_integers(ctx, p->labels, n, &labels);
	to->labels = labels;
	KDRI_DO(st);
	st = kdri_copied_integers(ctx, p->second, n, &second);
	to->second = second;
	KDRI_DO(st);
	for (int64_t i = 0; i < n; i++)
		to->k = KDRI_MAX(to->k, KDRI_MAX(labels[i], second ? second[i] : -1) + 1);
	if (to->k > LABELS_MOST)
		return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: data set %s: a label is larger than %d", path,
		                 p->name, LABELS_MOST);
	if (kdri_json_is(p->confidence, KDRI_JSON_ARRAY)) {
		KDRI_DO(KDRI_NEW(ctx, &confidence, n));
		to->confidence = confidence;
	}
	for (int64_t i = 0; confidence && i < n; i++)
		confidence[i] = kdri_json_number(kdri_json_at(p->confidence, i), NAN);
	KDRI_DO(KDRI_NEW(ctx, &to->name, to->k));
	for (int64_t c = 0; c < to->k; c++)
		to->name[c] = cut_name(p, c);
	return KDR_OK;
}

static kdr_status cut_copies_new(kdr_context *ctx, const char *path, const kdri_json_value *root,
                                 const kdri_json_value *level, cut_copies *c)
{
	int64_t k = 0;
	c->count = kdri_json_count(kdri_json_get(level, "tasks"));
	KDRI_DO(KDRI_NEW0(ctx, &c->sets, c->count));
	for (int64_t t = 0; t < c->count; t++) {
		part p;
		KDRI_DO(find_part(ctx, path, root, level, t, &p));
		KDRI_DO(cut_copies_take(ctx, path, &p, &c->sets[t]));
		c->sets[t].task = p.name;
		k = KDRI_MAX(k, c->sets[t].k);
	}
	KDRI_DO(kdri_copied_numbers(ctx, k, &c->numbers, &c->number));
	for (int64_t t = 0; t < c->count; t++)
		c->sets[t].label = c->number;
	return KDR_OK;
}

kdr_status kdr_cut(kdr_context *ctx, const char *path, const int64_t *k, int64_t count, const char *folder,
                   const char *table, const char *columns, bool force)
{
	static const char *const endings[] = { ".labels", ".samples.csv" };
	kdr_status st;
	char file[8192];
	kdri_result_file in = { 0 };
	const kdri_json_value *level = NULL;
	part p;
	cut_copies copies = { .sets = NULL };
	bool begun = false, other;
	KDRI_NEED(ctx, path && k && folder);
	KDRI_DO(kdri_copied_check(ctx, columns));
	if (count < 1)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "count is %lld: at least one number of clusters is needed",
		                 (long long)count);
	KDRI_TRY(kdr_outputs_begin(ctx, NULL));
	begun = true;
	KDRI_TRY(kdri_result_file_open(ctx, path, &in));
	KDRI_TRY(find_level(ctx, path, in.root, k, count, &level));
	if (table)
		KDRI_TRY(cut_copies_new(ctx, path, in.root, level, &copies));
	/* First whether everything can be written, then all of it. */
	for (int write = 0; write < 2; write++) {
		for (int64_t t = 0; t < kdri_json_count(kdri_json_get(level, "tasks")); t++) {
			KDRI_TRY(find_part(ctx, path, in.root, level, t, &p));
			for (int e = 0; e < 2; e++) {
				snprintf(file, sizeof file, "%s/%s%s", folder, p.name, endings[e]);
				if (!write && e == 0 && p.path)
					KDRI_TRY(kdr_labels_check(ctx, file, p.path));
				KDRI_TRY(kdr_result_lists(ctx, file, &other));
				if (other && !write)
					KDRI_FAIL(
					        ctx, KDR_ERR_EXISTS,
					        "%s: belongs to the result.json in its folder; choose another folder",
					        file);
				KDRI_TRY(write ? cut_write(ctx, &p, file, e == 1, force)
				               : kdr_write_check(ctx, file, force));
			}
		}
		if (table)
			KDRI_TRY(kdri_copied_write_all(ctx, path, copies.sets, copies.count, false, columns,
			                               table, write, force));
	}
done:
	cut_copies_free(ctx, &copies);
	kdri_result_file_close(ctx, &in);
	return begun ? kdr_outputs_end(ctx, st) : st;
}
