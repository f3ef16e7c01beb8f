/* Edited labels in AnnData files, and edited names in models. SPDX-License-Identifier: BSD-3-Clause */
#include "api/model.h"
#include "api/result.h"
#include "io/hdf5/h5ad_write.h"
#include "jobs/edit/relabel.h"

#include <stdio.h>

enum { INPUT = 4096 };

/* The .h5ad file that a data set with labels was read from, without the name of a layer; false: it was another file. */
static bool input_of(const kdri_edited_task *t, char out[INPUT])
{
	const char *path = kdri_json_text(kdri_json_get(t->json, "path"), NULL),
	           *end = path ? strstr(path, ".h5ad") : NULL;
	if (!end || t->n == 0 || (end[5] != '\0' && end[5] != ':') || end + 5 - path >= INPUT)
		return false;
	snprintf(out, INPUT, "%.*s", (int)(end + 5 - path), path);
	return true;
}

/* Which copy each data set gets into, as in kdri_copy_paths. Rows of a file are known by their names; a file without names has one data
 * set. */
static kdr_status find_files(const kdri_edited *e, const char *path, char ***out)
{
	kdr_status st;
	char input[INPUT];
	kdri_copied *sets = NULL;
	kdri_names *names = NULL; /* of the rows of each file, at its first data set */
	KDRI_TRY(KDRI_NEW0(e->ctx, &sets, e->ntasks));
	KDRI_TRY(KDRI_NEW0(e->ctx, &names, e->ntasks));
	for (int64_t t = 0; t < e->ntasks; t++) {
		const kdri_edited_task *task = &e->tasks[t];
		const kdri_json_value *ids = kdri_json_get(task->json, "ids");
		const char *table = kdri_json_text(kdri_json_get(task->json, "path"), NULL);
		int64_t *rows = NULL, first = 0;
		sets[t].task = task->name;
		if (!table || !input_of(task, input))
			continue;
		sets[t].table = table;
		while (!sets[first].table || strcmp(sets[first].table, table) != 0)
			first++;
		KDRI_TRY(KDRI_NEW(e->ctx, &rows, task->n));
		sets[t].origin = rows;
		sets[t].n = task->n;
		names[first].borrows = true;
		for (int64_t i = 0; i < task->n; i++) {
			const char *id = kdri_json_text(kdri_json_at(ids, i), NULL);
			rows[i] = i;
			if (id)
				KDRI_TRY(kdri_names_add(e->ctx, &names[first], id, strlen(id), &rows[i]));
		}
		sets[first].file_rows = KDRI_MAX(names[first].count, sets[first].n);
	}
	KDRI_TRY(kdri_copy_paths(e->ctx, sets, e->ntasks, path, out));
done:
	for (int64_t t = 0; sets && names && t < e->ntasks; t++) {
		kdri_free(e->ctx, (void *)sets[t].origin);
		kdri_names_free(e->ctx, &names[t]);
	}
	KDRI_FREE(e->ctx, sets, names);
	return st;
}

/* What the rows of one file get. */
typedef struct annotated {
	kdr_data *data; /* the file */
	kdri_names ids, categories;
	int32_t *codes, *second;
	double *confidence, *match, *unlike;
	bool sure, doubted, matched;
} annotated;

static void annotated_free(kdr_context *ctx, annotated *a)
{
	kdr_data_free(a->data);
	kdri_names_free(ctx, &a->ids);
	kdri_names_free(ctx, &a->categories);
	KDRI_FREE(ctx, a->codes, a->second, a->confidence, a->match, a->unlike);
}

static kdr_status annotated_open(const kdri_edited *e, const char *input, annotated *a)
{
	int64_t index;
	a->ids.borrows = true;
	KDRI_DO(kdr_read(e->ctx, input, NULL, &a->data));
	const int64_t rows = a->data->rows;
	const char *const *ids = kdr_data_ids(a->data);
	KDRI_DO(KDRI_NEW(e->ctx, &a->codes, rows));
	KDRI_DO(KDRI_NEW(e->ctx, &a->second, rows));
	KDRI_DO(KDRI_NEW(e->ctx, &a->confidence, rows));
	KDRI_DO(KDRI_NEW(e->ctx, &a->match, rows));
	for (int64_t i = 0; i < rows; i++) {
		a->codes[i] = a->second[i] = -1;
		a->confidence[i] = a->match[i] = NAN;
		if (ids)
			KDRI_DO(kdri_names_add(e->ctx, &a->ids, ids[i], strlen(ids[i]), &index));
		if (ids && index != i)
			return kdri_fail(
			        e->ctx, KDR_ERR_DATA,
			        "%s: two rows have the name '%.60s', so that rows cannot be distinguished",
			        input, ids[i]);
	}
	return KDR_OK;
}

/* The category of a label: its name or number. */
static kdr_status category_of(const kdri_edited *e, int64_t task, const kdri_copied *set, int64_t label,
                              annotated *a, int32_t *out)
{
	const char *name = label < 0 ? NULL : kdri_edited_name(e, task, label);
	int64_t code;
	if (label < 0)
		return KDR_OK;
	name = name ? name : set->label[label];
	KDRI_DO(kdri_names_add(e->ctx, &a->categories, name, strlen(name), &code));
	*out = (int32_t)code;
	return KDR_OK;
}

/* The probability that a cluster is the same group in all data sets; NaN: unknown, or the cluster is in one of them. */
static double edited_match(const kdri_edited *e, int64_t number)
{
	const kdri_json_value *matches = kdri_json_get(e->root, "correspondence");
	double lowest = NAN;
	const char *from = NULL;
	if (e->classes || e->merged)
		return NAN;
	for (int64_t t = 0; t < e->ntasks; t++) {
		if (!e->tasks[t].clusters[number].exists)
			continue;
		if (!from) {
			from = e->tasks[t].name;
			continue;
		}
		lowest = isnan(lowest) ? 1 : lowest;
		for (int64_t i = 0; i < kdri_json_count(matches); i++) {
			const kdri_json_value *m = kdri_json_at(matches, i);
			const char *a = kdri_json_text(kdri_json_get(m, "from"), NULL),
			           *b = kdri_json_text(kdri_json_get(m, "to"), NULL);
			if (a && b && strcmp(a, from) == 0 && strcmp(b, e->tasks[t].name) == 0)
				lowest = fmin(lowest,
				              kdri_json_number(
				                      kdri_json_at(kdri_json_get(m, "quality"), number), 1));
		}
	}
	return lowest;
}

/* The rows of one data set in the file, by their names; a file without names has one data set. */
static kdr_status annotated_take(const kdri_edited *e, int64_t task, const kdri_copied *set,
                                 const char *input, annotated *a)
{
	const kdri_json_value *ids = e->tasks[task].ids;
	const kdri_json_value *unlike = kdri_json_get(e->tasks[task].json, "unlike_source");
	if (unlike && !a->unlike) {
		KDRI_DO(KDRI_NEW(e->ctx, &a->unlike, a->data->rows));
		for (int64_t i = 0; i < a->data->rows; i++)
			a->unlike[i] = NAN;
	}
	for (int64_t i = 0; i < set->n; i++) {
		const char *id = kdri_json_text(kdri_json_at(ids, i), NULL);
		const int64_t row = id && a->ids.count > 0 ? kdri_names_find(&a->ids, id) : i;
		if (row < 0 || row >= a->data->rows)
			return kdri_fail(e->ctx, KDR_ERR_DATA,
			                 "%s has no row '%.60s': it has changed since the result was made",
			                 input, id ? id : "");
		KDRI_DO(category_of(e, task, set, set->labels[i], a, &a->codes[row]));
		KDRI_DO(category_of(e, task, set, set->second ? set->second[i] : -1, a, &a->second[row]));
		a->confidence[row] = set->confidence ? set->confidence[i] : NAN;
		a->match[row] = set->labels[i] < 0 ? NAN : edited_match(e, set->labels[i]);
		a->sure |= isfinite(a->confidence[row]);
		a->matched |= isfinite(a->match[row]);
		a->doubted |= a->second[row] >= 0;
		if (unlike)
			a->unlike[row] = kdri_json_number(kdri_json_at(unlike, i), NAN);
	}
	return KDR_OK;
}

/* The copy of data set `at` and of those that are in the same one. */
static kdr_status annotate_file(const kdri_edited *e, const kdri_edited_copies *c, char *const *file,
                                int64_t at, const char *key, bool force)
{
	kdr_status st;
	char input[INPUT];
	annotated a = { 0 };
	(void)input_of(&e->tasks[at], input);
	KDRI_TRY(annotated_open(e, input, &a));
	for (int64_t t = at; t < e->ntasks; t++)
		if (file[t] == file[at])
			KDRI_TRY(annotated_take(e, t, &c->sets[t], input, &a));
	const kdri_h5ad_notes notes = { .key = key,
		                        .rows = a.data->rows,
		                        .codes = a.codes,
		                        .second = a.doubted ? a.second : NULL,
		                        .categories = (const char *const *)a.categories.names,
		                        .ncategories = a.categories.count,
		                        .confidence = a.sure ? a.confidence : NULL,
		                        .match = a.matched ? a.match : NULL,
		                        .unlike_source = a.unlike };
	KDRI_TRY(kdri_h5ad_annotate(e->ctx, file[at], input, NULL, &notes, force));
done:
	annotated_free(e->ctx, &a);
	return st;
}

kdr_status kdri_edited_h5ad(const kdri_edited *e, const kdri_edited_copies *c, const char *path,
                            const char *key, bool write, bool force)
{
	kdr_status st;
	char **file = NULL;
	bool any = false;
	KDRI_DO(kdri_h5ad_check_key(e->ctx, key));
	KDRI_TRY(find_files(e, path, &file));
	for (int64_t t = 0; t < e->ntasks; t++) {
		if (kdri_first_of_copy(file, t))
			KDRI_TRY(write ? annotate_file(e, c, file, t, key, force)
			               : kdr_write_check(e->ctx, file[t], force));
		any = any || file[t];
	}
	if (!any)
		KDRI_FAIL(e->ctx, KDR_ERR_ARGUMENT, "%s: no data set was read from an .h5ad file", e->result);
done:
	kdri_free(e->ctx, file);
	return st;
}

/* The names of the model's clusters after the edits, by number: "" for none. */
static kdr_status name_clusters(const kdri_edited *e, const kdr_model *model, const char ***out,
                                int64_t *count)
{
	kdr_status st;
	const char **names = NULL;
	*count = 0;
	for (int64_t t = 0; t < model->ntasks; t++)
		*count = KDRI_MAX(*count, kdri_cluster_span(&model->fitted->tasks[t]));
	KDRI_TRY(KDRI_NEW(e->ctx, &names, *count));
	for (int64_t n = 0; n < *count; n++) {
		names[n] = "";
		for (int64_t t = 0; t < model->ntasks && !names[n][0];
		     t++) { /* data sets that the result lacks */
			const kdri_task_result *task = &model->fitted->tasks[t];
			const int64_t c = task->names ? kdri_cluster_at(task, n) : -1;
			if (c >= 0 && task->names[c])
				names[n] = task->names[c];
		}
		for (int64_t t = 0; t < e->ntasks; t++)
			if (kdri_edited_name(e, t, n))
				names[n] = kdri_edited_name(e, t, n);
	}
	*out = names;
done:
	return st;
}

kdr_status kdri_edited_model(const kdri_edited *e, const char *model, const char *path, bool write,
                             bool force)
{
	kdr_status st;
	kdr_model *loaded = NULL;
	const char **names = NULL;
	int64_t task = 0, count = 0;
	if (!e->classes && e->merged)
		return kdri_fail(
		        e->ctx, KDR_ERR_ARGUMENT,
		        "%s: a model keeps its clusters: it can have other names, but not merged clusters",
		        model);
	if (!write)
		return kdr_write_check(e->ctx, path, force);
	while (task + 1 < e->ntasks && e->tasks[task].n == 0)
		task++;
	KDRI_TRY(kdr_model_load(e->ctx, model, &loaded));
	if (e->classes != (loaded->nclasses > 0))
		KDRI_FAIL(e->ctx, KDR_ERR_FORMAT, "%s: is a model of %s, but %s has %s", model,
		          e->classes ? "clusters" : "classes", e->result,
		          e->classes ? "classes" : "clusters");
	if (e->classes) {
		count = loaded->nclasses;
		KDRI_TRY(KDRI_NEW(e->ctx, &names, count));
		for (int64_t c = 0; c < count; c++) {
			const int64_t at = kdri_names_find(&e->names, loaded->classes[c]);
			names[c] = at < 0 ? loaded->classes[c]
			                  : kdri_edited_name(e, task, e->tasks[task].into[at]);
		}
	} else {
		KDRI_TRY(name_clusters(e, loaded, &names, &count));
	}
	KDRI_TRY(kdri_model_rename(e->ctx, path, model, e->classes ? "classes" : "names", names, count,
	                           force));
done:
	kdr_model_free(loaded);
	kdri_free(e->ctx, names);
	return st;
}
