/* The edited result as JSON. SPDX-License-Identifier: BSD-3-Clause
 *
 * A result is copied field by field. Fields that depend on the labels are replaced: labels, sizes, second choices,
 * confidences, known classes that have new names, probabilities, scores, correspondences. Values that cannot be computed
 * without the data, such as the features of a cluster that has other samples now, are omitted. */
#include "core/json_write.h"
#include "core/words.h"
#include "jobs/edit/relabel.h"
#include "kindred/metrics.h"

/* Writes one member of an object instead of copying it. */
typedef kdr_status json_put_one(kdri_json *j, const kdri_edited *e, const kdri_json_value *object);

/* Copies the members of an object, except those of these names; `instead`, unless NULL, writes them. */
static kdr_status json_put_but(kdri_json *j, const kdri_edited *e, const kdri_json_value *object,
                               const char *const *names, json_put_one *instead)
{
	for (int64_t i = 0; i < kdri_json_count(object); i++) {
		const kdri_json_value *value = kdri_json_at(object, i);
		if (kdri_word_index(names, kdri_json_key(value)) < 0)
			kdri_json_put(j, kdri_json_key(value), value);
		else if (instead)
			KDRI_DO(instead(j, e, object));
	}
	return KDR_OK;
}

/* --- labels ------------------------------------------------------------------------------------------------ */

static void json_put_label(kdri_json *j, const kdri_edited *e, int64_t task, const char *key, int64_t label)
{
	if (!e->classes)
		kdri_json_int(j, key, label);
	else
		kdri_json_string(j, key, label < 0 ? "?" : kdri_edited_name(e, task, label));
}

static void json_put_labels(kdri_json *j, const kdri_edited *e, int64_t task)
{
	kdri_json_array(j, "labels");
	for (int64_t i = 0; i < e->tasks[task].n; i++)
		json_put_label(j, e, task, NULL, e->tasks[task].labels[i]);
	kdri_json_end_array(j);
}

/* Second choices, and labels before transfer: null if there is none. `second`: one that is the label itself is none. */
static void json_put_choices(kdri_json *j, const kdri_edited *e, int64_t task, const kdri_json_value *list,
                             bool second)
{
	const kdri_edited_task *t = &e->tasks[task];
	kdri_json_array(j, kdri_json_key(list));
	for (int64_t i = 0; i < kdri_json_count(list); i++) {
		const int64_t label = kdri_edited_now(e, t, kdri_json_at(list, i));
		if (label < 0 || (second && i < t->n && label == t->labels[i]))
			kdri_json_null(j, NULL);
		else
			json_put_label(j, e, task, NULL, label);
	}
	kdri_json_end_array(j);
}

/* Known classes: those that are also labels are renamed and merged as the labels are. */
static void json_put_truth(kdri_json *j, const kdri_edited *e, int64_t task, const kdri_json_value *list)
{
	/* a source has no labels of its own: the first data set that has some */
	int64_t named = task;
	for (int64_t t = 0; t < e->ntasks && e->tasks[named].n == 0; t++)
		named = e->tasks[t].n > 0 ? t : named;
	kdri_json_array(j, "truth");
	for (int64_t i = 0; i < kdri_json_count(list); i++) {
		const kdri_json_value *value = kdri_json_at(list, i);
		const int64_t label = e->classes ? kdri_edited_now(e, &e->tasks[named], value) : -1;
		if (label >= 0)
			json_put_label(j, e, named, NULL, label);
		else
			kdri_json_put(j, NULL, value);
	}
	kdri_json_end_array(j);
}

/* One column per class that exists. */
static kdr_status json_put_probabilities(kdri_json *j, const kdri_edited *e, int64_t task,
                                         const kdri_json_value *list)
{
	kdr_status st;
	const kdri_edited_task *t = &e->tasks[task];
	double *p = NULL;
	KDRI_TRY(KDRI_NEW(e->ctx, &p, e->numbers));
	kdri_json_array(j, "probabilities");
	for (int64_t i = 0; i < kdri_json_count(list); i++) {
		kdri_edited_probabilities(e, t, kdri_json_at(list, i), p);
		kdri_json_array(j, NULL);
		for (int64_t c = 0; c < e->numbers; c++)
			if (t->clusters[c].exists)
				kdri_json_real(j, NULL, p[c]);
		kdri_json_end_array(j);
	}
	kdri_json_end_array(j);
done:
	kdri_free(e->ctx, p);
	return st;
}

/* --- clusters ---------------------------------------------------------------------------------------------- */

static void json_put_cluster(kdri_json *j, const kdri_edited *e, int64_t task, int64_t number)
{
	const kdri_edited_task *t = &e->tasks[task];
	const kdri_edited_cluster *c = &t->clusters[number];
	static const char *const own[] = { "number", "class", "size", "name", "note", "merged_into", NULL };
	kdri_json_object(j, NULL);
	kdri_json_int(j, "number", number);
	if (e->classes)
		kdri_json_string(j, "class", c->name);
	kdri_json_int(j, "size", c->size);
	if (c->name && !e->classes)
		kdri_json_string(j, "name", c->name);
	if (c->note)
		kdri_json_string(j, "note", c->note);
	if (!c->exists && number < e->numbers && t->into[number] != number)
		json_put_label(j, e, task, "merged_into", t->into[number]);
	if (c->exists && !c->changed)
		json_put_but(j, e, c->json, own, NULL);
	kdri_json_end_object(j);
}

/* The clusters of the result in their order, then new ones. Clusters that were merged into others are last heard of here. */
static void json_put_clusters(kdri_json *j, const kdri_edited *e, int64_t task)
{
	const kdri_edited_task *t = &e->tasks[task];
	kdri_json_array(j, "clusters");
	for (int64_t n = 0; n < e->numbers; n++)
		if (t->clusters[n].exists || t->clusters[n].json || (n < e->numbers && t->into[n] != n))
			json_put_cluster(j, e, task, n);
	kdri_json_end_array(j);
}

/* Names by number, null for clusters without one; nothing if none has one. */
static void json_put_names(kdri_json *j, const kdri_edited *e, int64_t task)
{
	int64_t span = 0;
	bool named = false;
	for (int64_t n = 0; n < e->numbers; n++)
		if (e->tasks[task].clusters[n].exists) {
			named = named || kdri_edited_name(e, task, n);
			span = n + 1;
		}
	if (!named)
		return;
	kdri_json_array(j, "names");
	for (int64_t n = 0; n < span; n++) {
		const char *name = e->tasks[task].clusters[n].exists ? kdri_edited_name(e, task, n) : NULL;
		if (name)
			kdri_json_string(j, NULL, name);
		else
			kdri_json_null(j, NULL);
	}
	kdri_json_end_array(j);
}

static kdr_status json_put_scores(kdri_json *j, const kdri_edited *e, int64_t task)
{
	kdr_status st;
	const kdri_edited_task *t = &e->tasks[task];
	const kdri_json_value *list = kdri_json_get(t->json, "truth");
	kdri_names names = { .borrows = true };
	kdr_scores scores = { 0 };
	int64_t *found = NULL, *truth = NULL, n = 0, right = 0;
	KDRI_TRY(KDRI_NEW(e->ctx, &found, t->n));
	KDRI_TRY(KDRI_NEW(e->ctx, &truth, t->n));
	for (int64_t i = 0; i < t->n && kdri_json_count(list) == t->n; i++) {
		const kdri_json_value *value = kdri_json_at(list, i);
		size_t length;
		const char *text = kdri_json_text(value, &length);
		if (t->labels[i] < 0)
			continue;
		int64_t label = e->classes ? kdri_edited_now(e, t, value) : -1;
		right += e->classes && label == t->labels[i];
		const char *name = label >= 0 ? kdri_edited_name(e, task, label) : text;
		found[n] = t->labels[i];
		truth[n] = -1;
		if (name)
			KDRI_TRY(kdri_names_add(e->ctx, &names, name, strlen(name), &truth[n]));
		n++;
	}
	if (names.count > 0)
		KDRI_TRY(kdr_evaluate(e->ctx, found, truth, n, &scores));
	if (e->classes && scores.n > 0)
		scores.acc = (double)right / (double)scores.n;
	kdri_json_metrics(j, &scores);
done:
	KDRI_FREE(e->ctx, found, truth);
	kdri_names_free(e->ctx, &names);
	return st;
}

/* --- data sets --------------------------------------------------------------------------------------------- */

static void json_put_marks(kdri_json *j, const kdri_edited_task *t)
{
	kdri_json_array(j, "wrong");
	for (int64_t i = 0; i < t->n; i++)
		if (t->wrong[i])
			kdri_json_int(j, NULL, i);
	kdri_json_end_array(j);
	kdri_json_array(j, "sample_notes");
	for (int64_t i = 0; i < t->n; i++)
		if (t->notes[i]) {
			kdri_json_object(j, NULL);
			kdri_json_int(j, "row", i);
			kdri_json_string(j, "text", t->notes[i]);
			kdri_json_end_object(j);
		}
	kdri_json_end_array(j);
}

static void json_put_sizes(kdri_json *j, const kdri_edited *e, const kdri_edited_task *t)
{
	int64_t span = kdri_json_count(kdri_json_get(t->json, "sizes"));
	for (int64_t c = span; c < e->numbers; c++)
		if (t->clusters[c].exists)
			span = c + 1;
	kdri_json_array(j, "sizes");
	for (int64_t c = 0; c < span; c++)
		kdri_json_int(j, NULL, t->clusters[c].size);
	kdri_json_end_array(j);
}

static int64_t count_clusters(const kdri_edited *e, const kdri_edited_task *t)
{
	int64_t count = 0;
	for (int64_t c = 0; c < e->numbers; c++)
		count += t->clusters[c].exists;
	return count;
}

static kdr_status json_put_task(kdri_json *j, const kdri_edited *e, int64_t task)
{
	static const char *const own[] = { "wrong", "sample_notes", NULL };
	const kdri_edited_task *t = &e->tasks[task];
	const bool changed = e->merged;
	kdri_json_object(j, NULL);
	for (int64_t i = 0; i < kdri_json_count(t->json); i++) {
		const kdri_json_value *value = kdri_json_at(t->json, i);
		const char *key = kdri_json_key(value);
		const bool list = kdri_json_is(value, KDRI_JSON_ARRAY) && t->n > 0;
		if (t->n > 0 && (kdri_word_index(own, key) >= 0 || (strcmp(key, "markers") == 0 && changed) ||
		                 (strcmp(key, "names") == 0 && !e->classes)))
			continue;
		if (strcmp(key, "truth") == 0 && kdri_json_is(value, KDRI_JSON_ARRAY))
			json_put_truth(j, e, task, value);
		else if (strcmp(key, "labels") == 0 && list)
			json_put_labels(j, e, task);
		else if (strcmp(key, "sizes") == 0 && list)
			json_put_sizes(j, e, t);
		else if (strcmp(key, "k") == 0 && t->n > 0)
			kdri_json_int(j, key, count_clusters(e, t));
		else if ((strcmp(key, "second") == 0 || strcmp(key, "before") == 0) && list)
			json_put_choices(j, e, task, value, key[0] == 's');
		else if (strcmp(key, "probabilities") == 0 && list)
			KDRI_DO(json_put_probabilities(j, e, task, value));
		else if (strcmp(key, "clusters") == 0 && list)
			json_put_clusters(j, e, task);
		else if (strcmp(key, "metrics") == 0 && t->n > 0 && changed)
			KDRI_DO(json_put_scores(j, e, task));
		else
			kdri_json_put(j, key, value);
	}
	if (t->n > 0 && !kdri_json_get(t->json, "clusters"))
		json_put_clusters(j, e, task);
	if (t->n > 0 && !e->classes)
		json_put_names(j, e, task);
	if (t->n > 0)
		json_put_marks(j, t);
	kdri_json_end_object(j);
	return KDR_OK;
}

/* --- between data sets, and the result ------------------------------------------------------------------------ */

static const kdri_edited_task *task_of(const kdri_edited *e, const kdri_json_value *value)
{
	const char *name = kdri_json_text(value, NULL);
	int64_t index = kdri_json_integer(value, -1);
	for (int64_t t = 0; name && t < e->ntasks; t++)
		if (e->tasks[t].name && strcmp(e->tasks[t].name, name) == 0)
			index = t;
	return index >= 0 && index < e->ntasks ? &e->tasks[index] : NULL;
}

/* Rows and columns of clusters that were merged are added. */
static kdr_status json_put_matrix(kdri_json *j, const kdri_edited *e, const kdri_json_value *match)
{
	kdr_status st;
	const kdri_json_value *matrix = kdri_json_get(match, "matrix");
	const kdri_edited_task *from = task_of(e, kdri_json_get(match, "from")),
	                       *to = task_of(e, kdri_json_get(match, "to"));
	const int64_t rows = kdri_json_count(matrix), cols = kdri_json_count(kdri_json_at(matrix, 0));
	const bool merged = from && to && rows <= e->numbers && cols <= e->numbers;
	int64_t size;
	double *sums = NULL;
	KDRI_TRY(kdri_mul(e->ctx, rows, cols, &size));
	KDRI_TRY(KDRI_NEW0(e->ctx, &sums, size));
	for (int64_t a = 0; a < rows; a++)
		for (int64_t b = 0; b < cols; b++) {
			/* a cluster may be merged into a new one, which has no row */
			const int64_t r = merged && from->into[a] < rows ? from->into[a] : a,
			              c = merged && to->into[b] < cols ? to->into[b] : b;
			sums[r * cols + c] += kdri_json_number(kdri_json_at(kdri_json_at(matrix, a), b), 0);
		}
	kdri_json_array(j, "matrix");
	for (int64_t r = 0; r < rows; r++)
		kdri_json_reals(j, NULL, sums + r * cols, cols);
	kdri_json_end_array(j);
done:
	kdri_free(e->ctx, sums);
	return st;
}

static kdr_status json_put_matches(kdri_json *j, const kdri_edited *e, const kdri_json_value *list)
{
	static const char *const matrix[] = { "matrix", NULL };
	kdri_json_array(j, "correspondence");
	for (int64_t m = 0; m < kdri_json_count(list); m++) {
		kdri_json_object(j, NULL);
		KDRI_DO(json_put_but(j, e, kdri_json_at(list, m), matrix, json_put_matrix));
		kdri_json_end_object(j);
	}
	kdri_json_end_array(j);
	return KDR_OK;
}

/* Of the calibration: its classes are the columns of the probabilities. */
static kdr_status json_put_classes(kdri_json *j, const kdri_edited *e, const kdri_json_value *object)
{
	int64_t task = 0;
	(void)object;
	while (task + 1 < e->ntasks && e->tasks[task].n == 0)
		task++;
	kdri_json_array(j, "classes");
	for (int64_t c = 0; c < e->numbers; c++)
		if (e->tasks[task].clusters[c].exists)
			kdri_json_string(j, NULL, e->tasks[task].clusters[c].name);
	kdri_json_end_array(j);
	return KDR_OK;
}

/* {"file", "edits"}: what was done, after what earlier calls did. */
static void json_put_edited(kdri_json *j, const kdri_edited *e)
{
	const kdri_json_value *before = kdri_json_get(kdri_json_get(e->root, "edited"), "edits");
	kdri_json_object(j, "edited");
	kdri_json_string(j, "file", e->file);
	kdri_json_array(j, "edits");
	for (int64_t i = 0; i < kdri_json_count(before); i++)
		kdri_json_put(j, NULL, kdri_json_at(before, i));
	for (int64_t i = 0; i < kdri_json_count(e->edits); i++)
		kdri_json_put(j, NULL, kdri_json_at(e->edits, i));
	for (int64_t i = 0; e->list && i < e->list->count; i++) {
		kdri_json_object(j, NULL);
		kdri_json_string(j, "do", "rename");
		kdri_json_int(j, "cluster", e->list->numbers[i]);
		kdri_json_string(j, "name", e->list->names[i]);
		kdri_json_end_object(j);
	}
	kdri_json_end_array(j);
	kdri_json_end_object(j);
}

static kdr_status json_put_root(kdri_json *j, const kdri_edited *e, const char *path)
{
	static const char *const classes[] = { "classes", NULL };
	kdri_json_object(j, NULL);
	for (int64_t i = 0; i < kdri_json_count(e->root); i++) {
		const kdri_json_value *value = kdri_json_at(e->root, i);
		const char *key = kdri_json_key(value);
		if (strcmp(key, "edited") == 0 || strcmp(key, "files") == 0)
			continue;
		if (strcmp(key, "tasks") == 0) {
			kdri_json_array(j, key);
			for (int64_t t = 0; t < e->ntasks; t++)
				KDRI_DO(json_put_task(j, e, t));
			kdri_json_end_array(j);
		} else if (strcmp(key, "correspondence") == 0 && e->merged) {
			KDRI_DO(json_put_matches(j, e, value));
		} else if (strcmp(key, "calibration") == 0 && e->classes) {
			kdri_json_object(j, key);
			json_put_but(j, e, value, classes, json_put_classes);
			kdri_json_end_object(j);
		} else {
			kdri_json_put(j, key, value);
		}
		if (strcmp(key, "kindred") == 0)
			kdri_put_files(e->ctx, j, path);
	}
	json_put_edited(j, e);
	kdri_json_end_object(j);
	return KDR_OK;
}

kdr_status kdri_edited_tree(const kdri_edited *e, const char *path, kdri_json_value **root)
{
	kdri_json_tree tree;
	kdri_json j = { .tree = &tree };
	kdr_status st = kdri_json_tree_begin(e->ctx, 1 << 16, &tree);
	if (st == KDR_OK)
		st = json_put_root(&j, e, path);
	return kdri_json_tree_end(&tree, st == KDR_OK && j.failed ? KDR_ERR_MEMORY : st, root);
}
