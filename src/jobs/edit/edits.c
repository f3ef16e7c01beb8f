/* An edits file: checked and applied, edit by edit. SPDX-License-Identifier: BSD-3-Clause
 *
 * {"format": "kindred-edits", "version": 1, "result": FINGERPRINT, "edits": [{"do": "rename", ...}, ...]}; docs/relabel.md lists
 * the edits. Each refers to the clusters as they are after the edits before it. Nothing is written before all of them are
 * applied, so that a bad file changes nothing. */
#include "core/utf8.h"
#include "jobs/edit/relabel.h"

#include <stdio.h>

typedef struct edit {
	kdri_edited *e;
	const kdri_json_value *json;
	const char *kind;
	int64_t number; /* from 1, for errors */
	int64_t task;   /* -1: all */
} edit;

KDR_PRINTF(3, 4)
static kdr_status edit_wrong(const edit *d, const kdri_json_value *at, const char *format, ...)
{
	char what[400];
	va_list args;
	va_start(args, format);
	kdri_vsnprintf(what, sizeof what, format, args);
	va_end(args);
	return kdri_fail(d->e->ctx, KDR_ERR_FORMAT, "%s: line %lld: edit %lld%s%s: %s", d->e->file,
	                 (long long)kdri_json_line(at ? at : d->json), (long long)d->number,
	                 d->kind ? ", " : "", d->kind ? d->kind : "", what);
}

/* --- fields ------------------------------------------------------------------------------------------------ */

static kdr_status check_keys(const edit *d, const char *const *allowed)
{
	for (int64_t i = 0; i < kdri_json_count(d->json); i++) {
		const kdri_json_value *member = kdri_json_at(d->json, i);
		bool known = false;
		for (int a = 0; allowed[a] && !known; a++)
			known = strcmp(kdri_json_key(member), allowed[a]) == 0;
		if (!known)
			return edit_wrong(d, member, "unknown field '%.40s'", kdri_json_key(member));
	}
	return KDR_OK;
}

/* A text of one to `most` characters. Names have one line; notes may be empty. */
static kdr_status edit_text(const edit *d, const char *key, bool note, const char **out)
{
	const kdri_json_value *value = kdri_json_get(d->json, key);
	const int64_t most = note ? KDRI_EDIT_NOTE : KDRI_EDIT_NAME;
	size_t length;
	const char *text = kdri_json_text(value, &length), *p = text;
	int64_t characters = 0, blanks = 0;
	if (!text)
		return edit_wrong(d, value, "'%s' must be a string", key);
	for (const char *end = text + length; p < end; characters++) {
		uint32_t c = 0;
		const size_t bytes = kdri_utf8_at(p, (size_t)(end - p), &c);
		if (c < 0x20 && !(note && (c == '\n' || c == '\t')))
			return edit_wrong(d, value, "'%s' has a control character (0x%02x)", key,
			                  (unsigned)c);
		blanks += c == ' ' || c == '\n' || c == '\t';
		p += KDRI_MAX(bytes, 1);
	}
	if (characters > most)
		return edit_wrong(d, value, "'%s' has %lld characters; %lld are allowed", key,
		                  (long long)characters, (long long)most);
	if (!note && characters == blanks)
		return edit_wrong(d, value, "'%s' is empty", key);
	*out = text;
	return KDR_OK;
}

static kdr_status edit_task(edit *d, bool needed)
{
	const kdri_json_value *value = kdri_json_get(d->json, "task");
	const char *name = kdri_json_text(value, NULL);
	d->task = -1;
	if (!value)
		return needed ? edit_wrong(d, NULL, "'task', the name of a data set, is needed") : KDR_OK;
	for (int64_t t = 0; name && t < d->e->ntasks; t++)
		if (d->e->tasks[t].n > 0 && strcmp(d->e->tasks[t].name, name) == 0)
			d->task = t;
	if (!name)
		return edit_wrong(d, value, "'task' must be a string");
	return d->task >= 0 ? KDR_OK
	                    : edit_wrong(d, value, "the result has no labels of data set '%.60s'", name);
}

/* Whether an edit is about a data set. */
static bool in_scope(const edit *d, int64_t t)
{
	return d->e->tasks[t].n > 0 && (d->task < 0 || d->task == t);
}

/* The number that a cluster or class is given by, -1 if there is none of that name. */
static kdr_status read_number(const edit *d, const char *key, int64_t *out)
{
	const kdri_json_value *value = kdri_json_get(d->json, key);
	const char *text = kdri_json_text(value, NULL);
	*out = -1;
	if (!d->e->classes) {
		*out = kdri_json_integer(value, -1);
		return *out >= 0 ? KDR_OK : edit_wrong(d, value, "'%s' must be the number of a cluster", key);
	}
	if (!text)
		return edit_wrong(d, value, "'%s' must be the name of a class", key);
	for (int64_t t = 0; t < d->e->ntasks; t++)
		for (int64_t c = 0; in_scope(d, t) && c < d->e->numbers; c++) {
			const kdri_edited_cluster *cluster = &d->e->tasks[t].clusters[c];
			if (cluster->exists && strcmp(cluster->name, text) == 0)
				*out = c;
		}
	return KDR_OK;
}

static bool edit_exists(const edit *d, int64_t t, int64_t number)
{
	return number >= 0 && number < d->e->numbers && d->e->tasks[t].clusters[number].exists;
}

static kdr_status unknown_cluster(const edit *d, const char *key)
{
	const kdri_json_value *value = kdri_json_get(d->json, key);
	const char *text = kdri_json_text(value, NULL),
	           *name = d->task < 0 ? NULL : d->e->tasks[d->task].name;
	if (text)
		return edit_wrong(d, value, "there is no class '%.60s'%s%.60s", text, name ? " in " : "",
		                  name ? name : "");
	return edit_wrong(d, value, "there is no cluster %lld%s%.60s",
	                  (long long)kdri_json_integer(value, -1), name ? " in " : "", name ? name : "");
}

/* An existing cluster of the data sets that the edit is about. */
static kdr_status find_cluster(const edit *d, const char *key, int64_t *out)
{
	kdr_status st = read_number(d, key, out);
	for (int64_t t = 0; st == KDR_OK && t < d->e->ntasks; t++)
		if (in_scope(d, t) && edit_exists(d, t, *out))
			return KDR_OK;
	return st == KDR_OK ? unknown_cluster(d, key) : st;
}

/* --- samples ----------------------------------------------------------------------------------------------- */

static kdr_status find_sample(const edit *d, const kdri_json_value *value, const kdri_names *ids,
                              int64_t *row)
{
	const kdri_edited_task *t = &d->e->tasks[d->task];
	const char *id = kdri_json_text(value, NULL);
	*row = id ? kdri_names_find(ids, id) : kdri_json_integer(value, -1);
	if (id && *row < 0)
		return edit_wrong(d, value, "data set %.60s has no sample '%.60s'", t->name, id);
	if (!id && !kdri_json_is(value, KDRI_JSON_INTEGER))
		return edit_wrong(d, value, "samples are rows, counted from 0, or ids in quotes");
	if (*row < 0 || *row >= t->n)
		return edit_wrong(d, value, "sample %lld is out of range: %.60s has the rows 0 to %lld",
		                  (long long)*row, t->name, (long long)t->n - 1);
	return KDR_OK;
}

/* The ids of a data set, if an edit refers to samples by them; equal ones are refused. */
static kdr_status index_ids(const edit *d, const kdri_json_value *samples, kdri_names *ids)
{
	const kdri_json_value *list = d->e->tasks[d->task].ids;
	bool needed = false;
	int64_t index;
	for (int64_t i = 0; i < kdri_json_count(samples) && !needed; i++)
		needed = kdri_json_is(kdri_json_at(samples, i), KDRI_JSON_TEXT);
	for (int64_t i = 0; needed && i < kdri_json_count(list); i++) {
		size_t length;
		const char *id = kdri_json_text(kdri_json_at(list, i), &length);
		KDRI_DO(kdri_names_add(d->e->ctx, ids, id ? id : "", id ? length : 0, &index));
		if (index != i)
			return edit_wrong(
			        d, samples,
			        "data set %.60s has the id '%.60s' twice: give rows, counted from 0, instead of ids",
			        d->e->tasks[d->task].name, id ? id : "");
	}
	return KDR_OK;
}

typedef void edit_sample(kdri_edited_task *t, int64_t row, const char *text);

static void mark_sample(kdri_edited_task *t, int64_t row, const char *text)
{
	(void)text;
	t->wrong[row] = 1;
}

static void note_sample(kdri_edited_task *t, int64_t row, const char *text)
{
	t->notes[row] = text[0] ? text : NULL;
}

static kdr_status each_sample(const edit *d, edit_sample *apply, const char *text)
{
	kdr_status st;
	kdri_names ids = { .borrows = true };
	const kdri_json_value *samples = kdri_json_get(d->json, "samples");
	if (!kdri_json_is(samples, KDRI_JSON_ARRAY) || kdri_json_count(samples) == 0)
		return edit_wrong(d, samples, "'samples' must be a list of rows or ids");
	KDRI_TRY(index_ids(d, samples, &ids));
	for (int64_t i = 0; i < kdri_json_count(samples); i++) {
		int64_t row;
		KDRI_TRY(find_sample(d, kdri_json_at(samples, i), &ids, &row));
		apply(&d->e->tasks[d->task], row, text);
	}
	d->e->marked = true;
done:
	kdri_names_free(d->e->ctx, &ids);
	return st;
}

/* --- the edits --------------------------------------------------------------------------------------------- */

static kdr_status apply_rename(edit *d)
{
	static const char *const keys[] = { "do", "task", "cluster", "name", NULL };
	const char *name = "";
	int64_t number;
	KDRI_DO(check_keys(d, keys));
	KDRI_DO(edit_task(d, false));
	KDRI_DO(edit_text(d, "name", false, &name));
	if (d->e->classes && d->task >= 0)
		return edit_wrong(d, NULL, "a class has one name in all data sets: leave out 'task'");
	if (d->e->classes && strcmp(name, "?") == 0)
		return edit_wrong(d, NULL, "'?' stands for samples without a class and cannot be a name");
	KDRI_DO(find_cluster(d, "cluster", &number));
	for (int64_t t = 0; t < d->e->ntasks; t++)
		for (int64_t c = 0; in_scope(d, t) && edit_exists(d, t, number) && c < d->e->numbers; c++) {
			const kdri_edited_cluster *other = &d->e->tasks[t].clusters[c];
			if (c != number && other->exists && other->name && strcmp(other->name, name) == 0)
				return edit_wrong(
				        d, kdri_json_get(d->json, "name"),
				        "%.60s has another %s with this name: merge the two instead",
				        d->e->tasks[t].name, d->e->classes ? "class" : "cluster");
		}
	for (int64_t t = 0; t < d->e->ntasks; t++)
		if (in_scope(d, t) && edit_exists(d, t, number))
			d->e->tasks[t].clusters[number].name = name;
	return KDR_OK;
}

static void merge_in(kdri_edited *e, kdri_edited_task *t, int64_t from, int64_t into)
{
	for (int64_t i = 0; i < t->n; i++)
		if (t->labels[i] == from)
			t->labels[i] = into;
	for (int64_t c = 0; c < e->numbers; c++)
		if (t->into[c] == from)
			t->into[c] = into;
	t->clusters[from].exists = false;
	t->clusters[into].changed = true;
}

static kdr_status apply_merge(edit *d)
{
	static const char *const keys[] = { "do", "task", "cluster", "into", NULL };
	int64_t from, into;
	KDRI_DO(check_keys(d, keys));
	KDRI_DO(edit_task(d, false));
	KDRI_DO(find_cluster(d, "cluster", &from));
	KDRI_DO(find_cluster(d, "into", &into));
	if (from == into)
		return edit_wrong(d, kdri_json_get(d->json, "into"),
		                  "a cluster cannot be merged into itself");
	for (int64_t t = 0; t < d->e->ntasks; t++)
		if (in_scope(d, t) && edit_exists(d, t, from) && !edit_exists(d, t, into))
			return edit_wrong(d, kdri_json_get(d->json, "into"),
			                  "%.60s does not have the cluster to merge into",
			                  d->e->tasks[t].name);
	for (int64_t t = 0; t < d->e->ntasks; t++)
		if (in_scope(d, t) && edit_exists(d, t, from))
			merge_in(d->e, &d->e->tasks[t], from, into);
	d->e->merged = true;
	return KDR_OK;
}

static kdr_status apply_wrong(edit *d)
{
	static const char *const keys[] = { "do", "task", "samples", NULL };
	KDRI_DO(check_keys(d, keys));
	KDRI_DO(edit_task(d, true));
	return each_sample(d, mark_sample, NULL);
}

static kdr_status apply_note(edit *d)
{
	static const char *const keys[] = { "do", "task", "cluster", "samples", "text", NULL };
	const char *text = NULL;
	int64_t number;
	const bool samples = kdri_json_get(d->json, "samples");
	KDRI_DO(check_keys(d, keys));
	KDRI_DO(edit_task(d, samples));
	KDRI_DO(edit_text(d, "text", true, &text));
	if (samples && kdri_json_get(d->json, "cluster"))
		return edit_wrong(d, NULL, "a note is about 'samples' or about a 'cluster', not both");
	if (samples)
		return each_sample(d, note_sample, text);
	KDRI_DO(find_cluster(d, "cluster", &number));
	for (int64_t t = 0; t < d->e->ntasks; t++)
		if (in_scope(d, t) && edit_exists(d, t, number))
			d->e->tasks[t].clusters[number].note = text[0] ? text : NULL;
	return KDR_OK;
}

static kdr_status apply_one(edit *d)
{
	static const struct {
		const char *kind;
		kdr_status (*apply)(edit *d);
	} kinds[] = { { "rename", apply_rename },
		      { "merge", apply_merge },
		      { "wrong", apply_wrong },
		      { "note", apply_note } };
	const kdri_json_value *value = kdri_json_get(d->json, "do");
	const char *kind = kdri_json_text(value, NULL);
	if (!kdri_json_is(d->json, KDRI_JSON_OBJECT))
		return edit_wrong(d, NULL, "an object such as {\"do\": \"rename\", ...} is expected");
	for (size_t i = 0; kind && i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(kind, kinds[i].kind) == 0) {
			d->kind = kinds[i].kind;
			return kinds[i].apply(d);
		}
	return edit_wrong(d, value, "'do' must be rename, merge, wrong or note");
}

/* --- the file ---------------------------------------------------------------------------------------------- */

static kdr_status file_wrong(const kdri_edited *e, const kdri_json_value *at, const char *what)
{
	return kdri_fail(e->ctx, KDR_ERR_FORMAT, "%s: line %lld: %s", e->file,
	                 (long long)KDRI_MAX(kdri_json_line(at), 1), what);
}

static kdr_status check_head(const kdri_edited *e, const kdri_json_value *root)
{
	static const char *const keys[] = { "format", "version", "result", "edits" };
	char own[KDRI_FINGERPRINT];
	const kdri_json_value *format = kdri_json_get(root, "format"),
	                      *version = kdri_json_get(root, "version"),
	                      *result = kdri_json_get(root, "result"), *edits = kdri_json_get(root, "edits");
	const char *text = kdri_json_text(format, NULL), *of = kdri_json_text(result, NULL);
	if (!text || strcmp(text, "kindred-edits") != 0)
		return file_wrong(e, format ? format : root,
		                  "not an edits file, which is an object with \"format\": \"kindred-edits\"");
	if (kdri_json_integer(version, -1) != 1)
		return file_wrong(e, version ? version : root,
		                  "'version' must be 1: a newer edits file needs a newer kindred");
	for (int64_t i = 0; i < kdri_json_count(root); i++) {
		bool known = false;
		for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
			known |= strcmp(kdri_json_key(kdri_json_at(root, i)), keys[k]) == 0;
		if (!known)
			return file_wrong(e, kdri_json_at(root, i),
			                  "unknown field: format, version, result and edits are allowed");
	}
	KDRI_DO(kdri_result_fingerprint(e->ctx, e->root, own));
	if (result && (!of || strcmp(of, own) != 0)) /* a file written by hand may leave it out */
		return kdri_fail(
		        e->ctx, KDR_ERR_FORMAT,
		        "%s: line %lld: these are edits of another result: 'result' is %.50s, but %s has \"%s\"",
		        e->file, (long long)kdri_json_line(result), of ? of : "not a string", e->result, own);
	if (!kdri_json_is(edits, KDRI_JSON_ARRAY))
		return file_wrong(e, edits ? edits : root, "'edits' must be a list");
	return KDR_OK;
}

/* Counts the samples of all clusters. */
static void count_samples(kdri_edited *e)
{
	for (int64_t t = 0; t < e->ntasks; t++) {
		kdri_edited_task *task = &e->tasks[t];
		for (int64_t c = 0; c < e->numbers; c++)
			task->clusters[c].size = 0;
		for (int64_t i = 0; i < task->n; i++)
			if (task->labels[i] >= 0)
				task->clusters[task->labels[i]].size++;
	}
}

kdr_status kdri_edits_apply(kdri_edited *e, const char *file, const kdri_json_value *root)
{
	e->file = file;
	KDRI_DO(check_head(e, root));
	e->edits = kdri_json_get(root, "edits");
	for (int64_t i = 0; i < kdri_json_count(e->edits); i++) {
		edit d = { .e = e, .json = kdri_json_at(e->edits, i), .number = i + 1, .task = -1 };
		KDRI_DO(apply_one(&d));
	}
	count_samples(e);
	return KDR_OK;
}

kdr_status kdri_edits_names(kdri_edited *e, const char *file, const kdri_name_list *list)
{
	e->file = file;
	e->list = list;
	if (e->classes)
		return kdri_fail(e->ctx, KDR_ERR_DATA,
		                 "%s: the labels of %s are classes, which have names: rename them by edits",
		                 file, e->result);
	for (int64_t i = 0; i < list->count; i++) {
		bool found = false;
		for (int64_t t = 0; t < e->ntasks; t++)
			if (list->numbers[i] < e->numbers && e->tasks[t].clusters[list->numbers[i]].exists) {
				e->tasks[t].clusters[list->numbers[i]].name = list->names[i];
				found = true;
			}
		if (!found)
			return kdri_fail(e->ctx, KDR_ERR_DATA, "%s: %s has no cluster %lld", file, e->result,
			                 (long long)list->numbers[i]);
	}
	for (int64_t t = 0; t < e->ntasks; t++) /* those that keep their names */
		for (int64_t c = 0; c < e->numbers; c++)
			for (int64_t i = 0; i < list->count; i++) {
				const kdri_edited_cluster *other = &e->tasks[t].clusters[c];
				if (c != list->numbers[i] && other->exists && other->name &&
				    strcmp(other->name, list->names[i]) == 0)
					return kdri_fail(
					        e->ctx, KDR_ERR_DATA,
					        "%s: clusters %lld and %lld would have the same name, '%.60s': use different names, or merge the clusters",
					        file, (long long)c, (long long)list->numbers[i],
					        list->names[i]);
			}
	count_samples(e);
	return KDR_OK;
}
