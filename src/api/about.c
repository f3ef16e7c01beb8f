/* Results: the data sets and settings they belong to. SPDX-License-Identifier: BSD-3-Clause */
#include "api/method.h"
#include "api/result.h"

#include <stdio.h>

static void free_left_out(const kdr_allocator *a, kdr_left_out *list, int64_t count)
{
	for (int64_t i = 0; list && i < count; i++) {
		KDRI_FREE_WITH(a, (char *)list[i].id, (char *)list[i].reason);
	}
	kdri_free_with(a, list);
}

void kdri_result_about_free(kdr_result *r)
{
	const kdr_allocator *a = &r->allocator;
	for (int64_t t = 0; t < r->ntasks; t++) {
		kdri_task_result *task = &r->tasks[t];
		KDRI_FREE_WITH(a, task->name, task->path, task->compared, task->number);
		if (!task->borrowed)
			kdri_strings_free(a, task->features, task->d);
		kdri_free_with(a, task->view.path);
		kdri_sheet_free(a, task->view.sheet);
		if (!task->view.borrowed)
			kdri_strings_free(a, task->view.features, task->view.d);
		kdri_strings_free(a, task->ids, task->n);
		kdri_strings_free(a, task->names, task->k);
		kdri_strings_free(a, task->advice, task->nadvice);
		kdri_free_with(a, task->sharing.reason);
		kdri_free_with(a, task->sharing.from);
		kdri_strings_free(a, task->notes, task->nnotes);
		kdri_sheet_free(a, task->sheet);
		kdri_free_with(a, task->origin);
		for (int64_t c = 0; task->profiles && c < task->k; c++)
			kdri_free_with(a, (void *)task->profiles[c].features);
		kdri_free_with(a, task->profiles);
		if (task->markers) {
			KDRI_FREE_WITH(a, task->markers->columns, task->markers->mean, task->markers->share,
			               task->markers);
		}
		free_left_out(a, task->left_out, task->nleft_out);
		KDRI_FREE_WITH(a, task->confidence, task->second, task->examples, task->probabilities,
		               task->no_label, task->shared);
		kdri_strings_free(a, task->shown_titles, task->nshown);
		kdri_strings_free(a, task->shown, task->nshown * task->shown_rows);
		if (task->map) {
			KDRI_FREE_WITH(a, task->map->rows, task->map->x, task->map->y, task->map->strongest,
			               task->map->truth);
			kdri_strings_free(a, task->map->classes, task->map->nclasses);
			kdri_free_with(a, task->map->described);
			kdri_strings_free(a, task->map->excerpts, task->map->ndescribed);
			for (int64_t f = 0; f < task->map->nvalues; f++) {
				KDRI_FREE_WITH(a, task->map->values[f].fit.text,
				               task->map->values[f].own.text);
			}
			KDRI_FREE_WITH(a, task->map->values, task->map);
		}
	}
	KDRI_FREE_WITH(a, r->command_line, r->prep_text);
	kdri_strings_free(a, r->titles, r->numbers);
	kdr_options_free(r->options);
	kdr_options_free(r->feature_options);
	kdr_prep_free(r->prep);
	kdri_strings_free(a, r->classes, r->nclasses);
	for (int64_t i = 0; r->bridges && i < r->bridge_count; i++) {
		KDRI_FREE_WITH(a, r->bridges[i].name, r->bridges[i].path);
	}
	KDRI_FREE_WITH(a, r->bridges, r->shared);
}

kdr_status kdri_result_name_tasks(kdr_context *ctx, kdr_result *r, const kdr_problem *problem)
{
	for (int64_t t = 0; t < r->ntasks; t++) {
		const kdr_task *task = &problem->tasks[t];
		char number[24];
		snprintf(number, sizeof number, "%lld", (long long)t + 1);
		r->tasks[t].d = kdr_mat_cols(&task->x);
		r->tasks[t].nnz = r->tasks[t].all_nnz = kdr_mat_nnz(&task->x);
		KDRI_DO(kdri_strdup(ctx, task->name ? task->name : number, &r->tasks[t].name));
		KDRI_DO(kdri_strdup(ctx, "", &r->tasks[t].path));
	}
	return KDR_OK;
}

kdr_status kdri_result_about(kdr_context *ctx, kdr_result *r, const kdr_problem *problem,
                             const kdr_options *options)
{
	static const char *const commands[] = { "cluster", "transfer", "features" };
	r->command = commands[r->algo->family];
	r->seed = ctx->seed;
	r->threads = kdr_context_threads(ctx);
	/* Labels are numbers of clusters, some of which have names, or classes. */
	if (problem->class_names && r->algo->family != KDR_FAMILY_CLUSTER &&
	    !(r->algo->flags & KDR_ALGO_CLUSTERS_TARGET))
		KDRI_DO(kdri_result_classes(ctx, r, problem->class_names, problem->classes));
	return kdri_options_copy(ctx, options, &r->options);
}

static bool same_names(char *const *a, char *const *b, int64_t count)
{
	for (int64_t i = 0; i < count; i++)
		if (strcmp(a[i], b[i]) != 0)
			return false;
	return true;
}

/* The rows skipped by the reader. */
static kdr_status copy_left_out(kdr_context *ctx, kdri_task_result *task, const kdr_data *data)
{
	if (task->left_out || data->nleft_out == 0)
		return KDR_OK;
	KDRI_DO(KDRI_NEW0(ctx, &task->left_out, data->nleft_out));
	task->nleft_out = data->nleft_out;
	for (int64_t i = 0; i < data->nleft_out; i++) {
		char *id = NULL, *reason = NULL;
		task->left_out[i].row = data->left_out[i].row;
		KDRI_DO(kdri_strdup(ctx, data->left_out[i].id, &id));
		task->left_out[i].id = id;
		KDRI_DO(kdri_strdup(ctx, data->left_out[i].reason, &reason));
		task->left_out[i].reason = reason;
	}
	return KDR_OK;
}

kdr_status kdri_result_describe(kdr_context *ctx, kdr_result *r, int64_t t, const kdr_data *data)
{
	kdr_status st;
	kdri_task_result *task = &r->tasks[t], *first = &r->tasks[0];
	char *path = NULL, **features = NULL, **ids = NULL, **notes = NULL;
	int64_t nnotes = 0, *origin = NULL;
	kdri_sheet *sheet = NULL;
	kdr_mat x = kdr_data_mat(data);
	KDRI_TRY(copy_left_out(ctx, task, data));
	/* Aligned tasks have the same columns: their names are kept once. */
	bool borrowed = t > 0 && first->features && data->features && first->d == data->cols &&
	                same_names(first->features, data->features, data->cols);
	KDRI_TRY(kdri_strdup(ctx, data->path, &path));
	if (data->features && !borrowed)
		KDRI_TRY(kdri_strings_copy(ctx, data->features, data->cols, &features));
	if (data->ids && task->n == data->rows)
		KDRI_TRY(kdri_strings_copy(ctx, data->ids, data->rows, &ids));
	if ((data->sheet || data->dialect.delimiter || data->dialect.workbook) && task->n == data->rows)
		KDRI_TRY(kdri_data_origin(ctx, data, &origin, &task->file_rows));
	KDRI_TRY(kdri_sheet_notes(ctx, data, &notes, &nnotes));
	if (nnotes > 0 && data->sheet)
		KDRI_TRY(kdri_sheet_copy(ctx, data->sheet, NULL, 0, &sheet));
	if (data->compared && !task->compared)
		KDRI_TRY(kdri_strdup(ctx, data->compared, &task->compared));
	kdri_free_with(&r->allocator, task->path);
	kdri_strings_free(&r->allocator, task->notes, task->nnotes);
	kdri_sheet_free(&r->allocator, task->sheet);
	kdri_free_with(&r->allocator, task->origin);
	task->origin = origin;
	origin = NULL;
	task->dialect = data->dialect;
	task->notes = notes;
	task->nnotes = nnotes;
	task->sheet = sheet;
	notes = NULL;
	sheet = NULL;
	task->path = path;
	task->d = data->cols;
	task->nnz = kdr_mat_nnz(&x);
	if (!r->parted)
		task->all_nnz = task->nnz;
	task->features = borrowed ? first->features : features;
	task->borrowed = borrowed;
	task->ids = ids;
	path = NULL;
done:
	kdri_strings_free(&ctx->allocator, notes, nnotes);
	kdri_sheet_free(&ctx->allocator, sheet);
	KDRI_FREE(ctx, origin, path);
	if (st != KDR_OK) {
		kdri_strings_free(&ctx->allocator, features, data->cols);
		kdri_strings_free(&ctx->allocator, ids, data->rows);
	}
	return st;
}

kdr_status kdri_result_explain(kdr_context *ctx, kdr_result *r, int64_t t, const kdr_data *view)
{
	kdri_explaining *to = &r->tasks[t].view;
	const kdri_explaining *first = &r->tasks[0].view;
	if (to->path)
		return KDR_OK; /* a data set in two roles */
	to->d = view->cols;
	to->borrowed = t > 0 && first->features && view->features && first->d == view->cols &&
	               same_names(first->features, view->features, view->cols);
	if (to->borrowed)
		to->features = first->features;
	else if (view->features)
		KDRI_DO(kdri_strings_copy(ctx, view->features, view->cols, &to->features));
	if (view->sheet)
		KDRI_DO(kdri_sheet_copy(ctx, view->sheet, NULL, 0, &to->sheet));
	kdri_task_result *task = &r->tasks[t];
	const bool known = task->dialect.delimiter || task->dialect.workbook;
	if (!known && (view->dialect.delimiter || view->dialect.workbook) && !task->origin) {
		KDRI_DO(kdri_data_origin(ctx, view, &task->origin, &task->file_rows));
		task->dialect = view->dialect;
		to->table = true;
	}
	return kdri_strdup(ctx, view->path[0] ? view->path : view->name, &to->path);
}

int64_t kdri_cluster_number(const kdri_task_result *task, int64_t index)
{
	return task->number && index >= 0 ? task->number[index] : index;
}

int64_t kdri_cluster_at(const kdri_task_result *task, int64_t number)
{
	if (number >= 0 && number < task->k && kdri_cluster_number(task, number) == number)
		return number;
	for (int64_t c = 0; task->number && c < task->k; c++)
		if (task->number[c] == number)
			return c;
	return -1;
}

int64_t kdri_cluster_span(const kdri_task_result *task)
{
	int64_t most = task->number ? 0 : task->k;
	for (int64_t c = 0; task->number && c < task->k; c++)
		most = KDRI_MAX(most, task->number[c] + 1);
	return most;
}

const char *kdri_result_table(const kdri_task_result *task)
{
	return task->view.table ? task->view.path : task->path;
}

kdr_status kdri_result_classes(kdr_context *ctx, kdr_result *r, const char *const *names, int64_t count)
{
	kdr_status st = kdri_strings_copy(ctx, names, count, &r->classes);
	if (st == KDR_OK)
		r->nclasses = count;
	return st;
}

/* Each line of the text becomes one entry. */
kdr_status kdri_result_advise(kdr_context *ctx, kdr_result *r, int64_t t, const char *text)
{
	kdr_status st = KDR_OK;
	kdri_task_result *task = &r->tasks[t];
	char *lines = NULL, *line;
	KDRI_TRY(kdri_strdup(ctx, text, &lines));
	for (char *next = lines; next;) {
		line = next;
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		KDRI_TRY(kdri_strings_append(ctx, &task->advice, &task->nadvice, line));
	}
done:
	kdri_free(ctx, lines);
	return st;
}

kdr_status kdri_result_warn_first(kdr_context *ctx, kdr_result *r, const char *const *texts, int64_t count)
{
	kdr_status st;
	char **own = NULL;
	int64_t old = r->warning_count;
	KDRI_TRY(kdri_strings_copy(ctx, texts, count, &own));
	KDRI_TRY(KDRI_GROW(ctx, &own, count + old));
	if (old > 0)
		memcpy(own + count, r->warnings, (size_t)old * sizeof *own);
	kdri_free_with(&r->allocator, r->warnings);
	r->warnings = own;
	r->warning_count = count + old;
	own = NULL;
done:
	kdri_strings_free(&ctx->allocator, own, count);
	return st;
}

/* --- read by users -------------------------------------------------------------------------- */

static const kdri_task_result *about_task_of(const kdr_result *r, int64_t task)
{
	return !r || task < 0 || task >= r->ntasks ? NULL : &r->tasks[task];
}

const char *kdr_result_task_name(const kdr_result *r, int64_t task)
{
	const kdri_task_result *t = about_task_of(r, task);
	return t ? t->name : NULL;
}

kdr_shape kdr_result_task_shape(const kdr_result *r, int64_t task)
{
	const kdri_task_result *t = about_task_of(r, task);
	return t ? (kdr_shape){ t->all, t->d, t->all_nnz } : (kdr_shape){ 0 };
}

const char *const *kdr_result_ids(const kdr_result *r, int64_t task)
{
	const kdri_task_result *t = about_task_of(r, task);
	return t ? (const char *const *)t->ids : NULL;
}

kdr_map kdr_result_map(const kdr_result *r, int64_t task)
{
	const kdri_task_result *t = about_task_of(r, task);
	const kdri_map *m = t ? t->map : NULL;
	return m ? (kdr_map){ m->n, m->x, m->y, m->rows } : (kdr_map){ 0 };
}

const char *const *kdr_result_classes(const kdr_result *r, int64_t *count)
{
	if (count)
		*count = r ? r->nclasses : 0;
	return r ? (const char *const *)r->classes : NULL;
}

kdr_status kdr_result_set_command_line(kdr_context *ctx, kdr_result *r, const char *text)
{
	char *copy = NULL;
	KDRI_NEED(ctx, r && text);
	KDRI_DO(kdri_strdup(ctx, text, &copy));
	kdri_free_with(&r->allocator, r->command_line);
	r->command_line = copy;
	return KDR_OK;
}

void kdr_result_set_write_seconds(kdr_result *r, double seconds)
{
	if (r)
		r->seconds.write = seconds;
}

const kdri_field *kdri_result_field(const kdr_result *r, int64_t task, const char *name)
{
	size_t length = strlen(name);
	int64_t i = task < 0 ? kdri_names_find(&r->field_names, name) + 1 : r->tasks[task].last_field;
	for (; i > 0; i = r->fields[i - 1].next) {
		const kdri_field *f = &r->fields[i - 1];
		if (f->task == task && f->stem == length && strncmp(f->name, name, length) == 0)
			return f;
	}
	return NULL;
}

const kdr_quality *kdr_result_quality(const kdr_result *r, int64_t task)
{
	const kdri_task_result *t = about_task_of(r, task);
	return t && t->quality.n > 0 ? &t->quality : NULL;
}

const char *kdr_result_advice(const kdr_result *r, int64_t task, int64_t index)
{
	const kdri_task_result *t = about_task_of(r, task);
	return t && index >= 0 && index < t->nadvice ? t->advice[index] : NULL;
}

kdr_sharing kdr_result_sharing(const kdr_result *r, int64_t task)
{
	const kdri_task_result *t = about_task_of(r, task);
	return t ? (kdr_sharing){ t->sharing.from, t->sharing.reason ? t->sharing.apart : NAN,
		                  t->sharing.reason ? t->sharing.moved : -1, t->sharing.reason }
	         : (kdr_sharing){ .apart = NAN, .moved = -1 };
}

const kdr_left_out *kdr_result_left_out_at(const kdr_result *r, int64_t task, int64_t index)
{
	const kdri_task_result *t = about_task_of(r, task);
	return t && index >= 0 && index < t->nleft_out ? &t->left_out[index] : NULL;
}

const double *kdr_result_probabilities(const kdr_result *r, int64_t task, int64_t *classes)
{
	const kdri_task_result *t = about_task_of(r, task);
	if (classes)
		*classes = t && t->probabilities ? t->k : 0;
	return t ? t->probabilities : NULL;
}

const kdr_calibration *kdr_result_calibration(const kdr_result *r)
{
	return r && r->calibrated ? &r->calibration : NULL;
}

const int64_t *kdr_result_second(const kdr_result *r, int64_t task)
{
	const kdri_task_result *t = about_task_of(r, task);
	return t ? t->second : NULL;
}

const double *kdr_result_representation(const kdr_result *r, int64_t task, int64_t *columns)
{
	const kdri_task_result *t = about_task_of(r, task);
	if (columns)
		*columns = t && t->shared ? t->width : 0;
	return t ? t->shared : NULL;
}
