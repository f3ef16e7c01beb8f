/* The labels of a result.json, in numbers. SPDX-License-Identifier: BSD-3-Clause */
#include "core/system.h"
#include "jobs/edit/relabel.h"

/* Whether a list is absent or has `n` entries. */
static bool has_length(const kdri_json_value *list, int64_t n)
{
	return !list || (kdri_json_is(list, KDRI_JSON_ARRAY) && kdri_json_count(list) == n);
}

/* The number of a label: a cluster's own, or the index of a class, which is added if it is new; -1: none. */
static kdr_status state_number(kdri_edited *e, const kdri_json_value *label, int64_t *out)
{
	size_t length = 0;
	const char *text = kdri_json_text(label, &length);
	*out = -1;
	if (text && e->classes)
		return strcmp(text, "?") == 0 ? KDR_OK : kdri_names_add(e->ctx, &e->names, text, length, out);
	if (!e->classes)
		*out = kdri_json_integer(label, -1);
	if (*out >= KDRI_EDIT_NUMBERS)
		return kdri_fail(e->ctx, KDR_ERR_FORMAT, "%s: cluster number %lld is too large: below %d",
		                 e->result, (long long)*out, KDRI_EDIT_NUMBERS);
	return KDR_OK;
}

/* Numbers that occur in a list with one entry per sample. */
static kdr_status state_take(kdri_edited *e, const kdri_json_value *list, int64_t *labels)
{
	int64_t number;
	for (int64_t i = 0; i < kdri_json_count(list); i++) {
		KDRI_DO(state_number(e, kdri_json_at(list, i), &number));
		number = KDRI_MAX(number, -1);
		e->numbers = KDRI_MAX(e->numbers, number + 1);
		if (labels)
			labels[i] = number;
	}
	return KDR_OK;
}

/* The clusters of a data set, in order: classes get their numbers from them. */
static kdr_status state_take_clusters(kdri_edited *e, const kdri_json_value *task)
{
	const kdri_json_value *clusters = kdri_json_get(task, "clusters");
	int64_t number;
	for (int64_t c = 0; c < kdri_json_count(clusters); c++) {
		const kdri_json_value *cluster = kdri_json_at(clusters, c);
		KDRI_DO(state_number(e, kdri_json_get(cluster, e->classes ? "class" : "number"), &number));
		e->numbers = KDRI_MAX(e->numbers, number + 1);
	}
	return KDR_OK;
}

/* An error unless the name of a data set can be the name of a file. */
static kdr_status check_file_name(const kdri_edited *e, int64_t task)
{
	const char *name = e->tasks[task].name;
	if (name && name[0] && name[0] != '.' && !strpbrk(name, kdri_not_in_names))
		return KDR_OK;
	return kdri_fail(e->ctx, KDR_ERR_FORMAT,
	                 "%s: data set %lld of %s: its name cannot be the name of a file", e->result,
	                 (long long)task + 1, e->level ? "the level" : "the result");
}

static kdr_status state_open_task(kdri_edited *e, int64_t index)
{
	kdri_edited_task *t = &e->tasks[index];
	const kdri_json_value *from = e->level ? kdri_json_at(kdri_json_get(e->level, "tasks"), index)
	                                       : t->json,
	                      *labels = kdri_json_get(from, "labels");
	t->name = kdri_json_text(kdri_json_get(from, "name"), NULL);
	t->n = kdri_json_count(labels);
	t->ids = kdri_json_get(t->json, "ids");
	t->confidence = kdri_json_get(from, "confidence");
	t->second = kdri_json_get(from, "second");
	bool sound = has_length(t->ids, t->n);
	for (int64_t i = 0; i < t->n && e->level && sound; i++)
		sound = kdri_json_is(kdri_json_at(labels, i), KDRI_JSON_INTEGER);
	if (e->level && (!sound || !kdri_json_is(labels, KDRI_JSON_ARRAY) ||
	                 !has_length(t->confidence, t->n) || !has_length(t->second, t->n)))
		return kdri_fail(
		        e->ctx, KDR_ERR_FORMAT,
		        "%s: data set %lld of the level: an array 'labels' of whole numbers is needed, and other lists of the same length",
		        e->result, (long long)index + 1);
	if (t->n > 0 || e->level)
		KDRI_DO(check_file_name(e, index));
	if (!sound && t->n > 0)
		return kdri_fail(e->ctx, KDR_ERR_FORMAT,
		                 "%s: data set %lld has %lld labels and another number of ids", e->result,
		                 (long long)index + 1, (long long)t->n);
	KDRI_DO(KDRI_NEW0(e->ctx, &t->labels, t->n));
	KDRI_DO(KDRI_NEW0(e->ctx, &t->wrong, t->n));
	KDRI_DO(KDRI_NEW0(e->ctx, &t->notes, t->n));
	KDRI_DO(state_take(e, labels, t->labels));
	return state_take(e, t->second, NULL);
}

/* Clusters at a level are called what they are called in the result, which edits may have changed, else at the level. */
static void state_name_level(const kdri_edited *e, const kdri_edited_task *t)
{
	const kdri_json_value *clusters = kdri_json_get(t->json, "clusters"),
	                      *at = kdri_json_at(kdri_json_get(e->level, "tasks"), t - e->tasks);
	for (int64_t c = 0; c < e->numbers; c++)
		t->clusters[c].name = kdri_json_text(kdri_json_at(kdri_json_get(at, "names"), c), NULL);
	for (int64_t c = kdri_json_count(clusters) - 1; c >= 0; c--) {
		const kdri_json_value *cluster = kdri_json_at(clusters, c);
		const char *name = kdri_json_text(kdri_json_get(cluster, "name"), NULL);
		const int64_t number = kdri_json_integer(kdri_json_get(cluster, "number"), -1);
		if (name && number >= 0 && number < e->numbers)
			t->clusters[number].name = name;
	}
}

/* Which clusters exist, and what earlier edits called them. */
static kdr_status state_find_clusters(kdri_edited *e, kdri_edited_task *t)
{
	const kdri_json_value *clusters = kdri_json_get(t->json, "clusters");
	int64_t number;
	for (int64_t i = 0; i < t->n; i++)
		if (t->labels[i] >= 0)
			t->clusters[t->labels[i]].exists = true;
	if (e->level) {
		state_name_level(e, t);
		return KDR_OK;
	}
	for (int64_t c = 0; e->classes && c < e->numbers; c++)
		t->clusters[c] = (kdri_edited_cluster){ .exists = t->n > 0, .name = e->names.names[c] };
	for (int64_t c = 0; t->n > 0 && c < kdri_json_count(clusters); c++) {
		const kdri_json_value *cluster = kdri_json_at(clusters, c);
		KDRI_DO(state_number(e, kdri_json_get(cluster, e->classes ? "class" : "number"), &number));
		if (number < 0)
			continue;
		t->clusters[number].exists |= !kdri_json_get(cluster, "merged_into");
		t->clusters[number].json = cluster;
		t->clusters[number].note = kdri_json_text(kdri_json_get(cluster, "note"), NULL);
		if (!e->classes)
			t->clusters[number].name = kdri_json_text(kdri_json_get(cluster, "name"), NULL);
	}
	return KDR_OK;
}

/* Marks and notes of earlier edits. */
static void state_find_marks(kdri_edited *e, kdri_edited_task *t)
{
	const kdri_json_value *notes = kdri_json_get(t->json, "sample_notes"),
	                      *rows = kdri_json_get(t->json, "wrong");
	for (int64_t i = 0; i < kdri_json_count(rows); i++) {
		const int64_t row = kdri_json_integer(kdri_json_at(rows, i), -1);
		if (row >= 0 && row < t->n)
			t->wrong[row] = 1;
	}
	for (int64_t i = 0; i < kdri_json_count(notes); i++) {
		const kdri_json_value *note = kdri_json_at(notes, i);
		const int64_t row = kdri_json_integer(kdri_json_get(note, "row"), -1);
		if (row >= 0 && row < t->n)
			t->notes[row] = kdri_json_text(kdri_json_get(note, "text"), NULL);
	}
	for (int64_t i = 0; i < t->n; i++)
		e->marked |= t->wrong[i] || t->notes[i];
}

kdr_status kdri_edited_open(kdr_context *ctx, const char *path, const kdri_json_value *root,
                            const kdri_json_value *level, kdri_edited *out)
{
	const kdri_json_value *tasks = kdri_json_get(root, "tasks");
	const int64_t count = kdri_json_count(level ? kdri_json_get(level, "tasks") : tasks);
	bool labels = level;
	*out = (kdri_edited){ .ctx = ctx, .result = path, .root = root, .level = level };
	KDRI_DO(KDRI_NEW0(ctx, &out->tasks, count));
	out->ntasks = count;
	for (int64_t t = 0; t < out->ntasks; t++) {
		const kdri_json_value *list = kdri_json_get(kdri_json_at(tasks, t), "labels");
		out->tasks[t].json = kdri_json_at(tasks, t);
		labels |= kdri_json_count(list) > 0;
		out->classes |= !level && kdri_json_is(kdri_json_at(list, 0), KDRI_JSON_TEXT);
	}
	if (!labels)
		return kdri_fail(
		        ctx, KDR_ERR_FORMAT,
		        "%s: has no labels to edit: a result of 'kindred cluster' or 'kindred transfer' is needed",
		        path);
	for (int64_t t = 0; t < out->ntasks && !level; t++)
		KDRI_DO(state_take_clusters(out, out->tasks[t].json));
	for (int64_t t = 0; t < out->ntasks; t++)
		KDRI_DO(state_open_task(out, t));
	for (int64_t t = 0; t < out->ntasks; t++) {
		KDRI_DO(KDRI_NEW0(ctx, &out->tasks[t].clusters, out->numbers));
		KDRI_DO(KDRI_NEW0(ctx, &out->tasks[t].into, out->numbers));
		for (int64_t c = 0; c < out->numbers; c++)
			out->tasks[t].into[c] = c;
		KDRI_DO(state_find_clusters(out, &out->tasks[t]));
		if (!level)
			state_find_marks(out, &out->tasks[t]);
	}
	return KDR_OK;
}

void kdri_edited_close(kdri_edited *e)
{
	for (int64_t t = 0; e->tasks && t < e->ntasks; t++) {
		KDRI_FREE(e->ctx, e->tasks[t].labels, e->tasks[t].into, e->tasks[t].clusters,
		          e->tasks[t].wrong, e->tasks[t].notes);
	}
	kdri_free(e->ctx, e->tasks);
	kdri_names_free(e->ctx, &e->names);
}

const char *kdri_edited_name(const kdri_edited *e, int64_t task, int64_t number)
{
	return number < 0 || number >= e->numbers ? NULL : e->tasks[task].clusters[number].name;
}

const char *kdri_edited_called(const kdri_edited *e, int64_t task, int64_t number)
{
	const char *name = kdri_edited_name(e, task, number);
	const kdri_edited_cluster *c =
	        number < 0 || number >= e->numbers ? NULL : &e->tasks[task].clusters[number];
	return name || !c || c->changed ? name : kdri_json_text(kdri_json_get(c->json, "title"), NULL);
}

int64_t kdri_edited_now(const kdri_edited *e, const kdri_edited_task *t, const kdri_json_value *label)
{
	const char *text = kdri_json_text(label, NULL);
	const int64_t before =
	        e->classes ? (text ? kdri_names_find(&e->names, text) : -1) : kdri_json_integer(label, -1);
	return before >= 0 && before < e->numbers ? t->into[before] : -1;
}

int64_t kdri_edited_second(const kdri_edited *e, const kdri_edited_task *t, int64_t i)
{
	const int64_t now = kdri_edited_now(e, t, kdri_json_at(t->second, i));
	return now == t->labels[i] ? -1 : now;
}

void kdri_edited_probabilities(const kdri_edited *e, const kdri_edited_task *t, const kdri_json_value *row,
                               double *p)
{
	memset(p, 0, (size_t)e->numbers * sizeof *p);
	for (int64_t c = 0; c < KDRI_MIN(e->numbers, kdri_json_count(row)); c++)
		p[t->into[c]] += kdri_json_number(kdri_json_at(row, c), 0);
}
