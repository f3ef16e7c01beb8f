/* Reading model files. SPDX-License-Identifier: BSD-3-Clause
 *
 * Model files cannot be trusted: types, shapes and values are checked here, and the predict function of each method
 * checks what else it needs. */
#include "api/known.h"
#include "api/method.h"
#include "api/model.h"
#include "api/moments.h"
#include "api/result.h"
#include "io/hdf5/h5.h"
#include "prepare/prep.h"

#include <stdio.h>

/* What is being loaded: a model of the items in a file. */
typedef struct loading {
	const char *path;
	kdri_h5_items items;
	kdr_model *model;
} loading;

static kdr_status model_load_damaged(kdr_context *ctx, const loading *l, const char *what)
{
	return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: the model file is damaged: %s", l->path, what);
}

/* --- pieces ----------------------------------------------------------------------------------------- */

/* An attribute that is one text; NULL if there is none. */
static const char *text_of(const loading *l, const char *object, const char *attribute)
{
	const kdri_h5_item *item = kdri_h5_item_find(&l->items, object, attribute);
	return item && item->type_class == KDRI_H5_STRING && item->count == 1 ? *(char *const *)item->values
	                                                                      : NULL;
}

static double number_at(const kdri_h5_item *item, int64_t i)
{
	return item->floating ? ((const double *)item->values)[i]
	                      : (double)((const int64_t *)item->values)[i];
}

/* An attribute that is one integer, of which doubles hold 53 bits. */
static bool integer_of(const loading *l, const char *object, const char *attribute, int64_t *out)
{
	const kdri_h5_item *item = kdri_h5_item_find(&l->items, object, attribute);
	if (!item || item->type_class != KDRI_H5_NUMBER || item->count != 1 ||
	    !(fabs(number_at(item, 0)) < 0x1p53))
		return false;
	*out = (int64_t)number_at(item, 0);
	return true;
}

/* A list of strings; *count stays 0 if there is none. */
static kdr_status load_strings(kdr_context *ctx, const loading *l, const char *name, char ***out,
                               int64_t *count)
{
	const kdri_h5_item *item = kdri_h5_item_find(&l->items, name, NULL);
	if (!item)
		return KDR_OK;
	if (item->type_class != KDRI_H5_STRING)
		return kdri_fail(ctx, KDR_ERR_FORMAT, "%s:%s: is not a list of strings", l->path, name);
	KDRI_DO(kdri_strings_copy(ctx, item->values, item->count, out));
	*count = item->count;
	return KDR_OK;
}

static kdr_status load_root(kdr_context *ctx, const loading *l)
{
	kdr_status st = KDR_OK;
	kdr_model *m = l->model;
	int64_t version = 0, columns, count = 0;
	const char *format = text_of(l, "", "format"), *method = text_of(l, "", "method");
	if (!format || strcmp(format, KDRI_MODEL_FORMAT) != 0)
		return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: is not a kindred model file", l->path);
	if (!integer_of(l, "", "format_version", &version) || version != KDRI_MODEL_VERSION)
		return kdri_fail(
		        ctx, KDR_ERR_UNSUPPORTED,
		        "%s: the model file has the unsupported version %lld, written by kindred %s; version %d is supported",
		        l->path, (long long)version,
		        text_of(l, "", "kindred_version") ? text_of(l, "", "kindred_version") : "?",
		        KDRI_MODEL_VERSION);
	if (!kdri_h5_items_intact(&l->items))
		return model_load_damaged(ctx, l,
		                          "its content does not match its checksum; copy or save it again");
	if (!method)
		return model_load_damaged(ctx, l, "it does not name a method");
	m->algo = kdri_algo_find(method);
	if (!m->algo || !m->algo->predict)
		return kdri_fail(ctx, KDR_ERR_UNSUPPORTED,
		                 "%s: the model was fitted with method '%s', which this version %s", l->path,
		                 method, m->algo ? "cannot apply to new samples" : "does not have");
	if (!integer_of(l, "", "columns", &columns) || columns < 0)
		return model_load_damaged(ctx, l, "the number of columns is missing");
	KDRI_TRY(load_strings(ctx, l, "features", &m->features, &count));
	m->ncolumns = m->features ? count : columns;
	if (m->ncolumns != columns) {
		st = model_load_damaged(ctx, l, "the numbers of columns and column names differ");
		goto done;
	}
	KDRI_TRY(load_strings(ctx, l, "classes", &m->classes, &m->nclasses));
done:
	return st;
}

/* An option's number, or one for each task. */
static kdr_status load_option(kdr_context *ctx, const loading *l, const kdr_option_desc *d)
{
	kdr_status st;
	double *values = NULL;
	const kdri_h5_item *item = kdri_h5_item_find(&l->items, "options", d->name);
	if (!item || item->type_class != KDRI_H5_NUMBER || (item->count > 1 && d->type != KDR_OPTION_REALS))
		return KDR_OK;
	/* A default may lie outside its own bounds if it means "automatic". */
	if (item->count == 1 && number_at(item, 0) == d->initial)
		return KDR_OK;
	if (item->count > KDRI_MODEL_TASKS_MOST)
		return model_load_damaged(ctx, l, "an option has more numbers than there can be data sets");
	KDRI_TRY(KDRI_NEW(ctx, &values, item->count));
	for (int64_t i = 0; i < item->count; i++)
		values[i] = number_at(item, i);
	KDRI_TRY(kdr_options_set_numbers(ctx, l->model->options, d->name, values, item->count));
done:
	kdri_free(ctx, values);
	return st;
}

static kdr_status load_options(kdr_context *ctx, const loading *l)
{
	kdr_status st;
	kdr_model *m = l->model;
	KDRI_TRY(kdri_options_new(ctx, m->algo, NULL, &m->options));
	if (!kdri_h5_item_find(&l->items, "options", NULL))
		return model_load_damaged(ctx, l, "it has no options");
	for (const kdr_option_desc *d = m->algo->info.options; d->name; d++) {
		const char *text = text_of(l, "options", d->name);
		if (d->type != KDR_OPTION_CHOICE)
			KDRI_TRY(load_option(ctx, l, d));
		else if (text)
			KDRI_TRY(kdr_options_set(ctx, m->options, d->name, text));
	}
done:
	if (st == KDR_ERR_OPTION) { /* such an option value is impossible */
		char why[256];
		snprintf(why, sizeof why, "%.255s", kdr_context_error(ctx));
		return model_load_damaged(ctx, l, why);
	}
	return st;
}

static kdr_status load_tasks(kdr_context *ctx, const loading *l)
{
	kdr_status st;
	kdr_model *m = l->model;
	kdr_task *tasks = NULL;
	char name[64];
	int64_t count = 0, exponent, bytes = 0;
	KDRI_TRY(kdri_h5_check_file(ctx, l->path, &bytes));
	for (; count < KDRI_MODEL_TASKS_MOST; count++) {
		snprintf(name, sizeof name, "tasks/%lld", (long long)count);
		if (!kdri_h5_item_find(&l->items, name, NULL))
			break;
	}
	if (count == 0)
		return model_load_damaged(ctx, l, "it has no data sets");
	KDRI_TRY(KDRI_NEW0(ctx, &tasks, count));
	KDRI_TRY(KDRI_NEW0(ctx, &m->task_names, count));
	m->ntasks = count;
	for (int64_t t = 0; t < count; t++) {
		snprintf(name, sizeof name, "tasks/%lld", (long long)t);
		const char *text = text_of(l, name, "name");
		if (!text || !integer_of(l, name, "k", &tasks[t].k) || tasks[t].k < 0) {
			st = model_load_damaged(ctx, l, "a data set has no name or no k");
			goto done;
		}
		if (tasks[t].k > bytes) { /* whatever the method, each cluster takes more than a byte */
			st = model_load_damaged(ctx, l,
			                        "a data set has more clusters than the file can describe");
			goto done;
		}
		KDRI_TRY(kdri_strdup(ctx, text, &m->task_names[t]));
	}
	kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = tasks, .ntasks = count };
	KDRI_TRY(kdri_result_new(ctx, &m->algo->info, &problem, &m->fitted));
	if (integer_of(l, "", "exponent", &exponent)) {
		if (exponent < -1100 || exponent > 1100) {
			st = model_load_damaged(ctx, l, "the exponent is out of range");
			goto done;
		}
		kdri_result_set_exponent(m->fitted, (int)exponent);
	}
done:
	kdri_free(ctx, tasks);
	return st;
}

static kdr_status load_array(kdr_context *ctx, const loading *l, const kdr_field_desc *field,
                             const kdri_h5_item *item, int64_t task)
{
	double *values; /* int64_t has the same size */
	const bool integers = field->type == KDR_INT64;
	/* Constant data have a subspace of no dimension: rows without columns. */
	const bool none = item->count == 0 && (item->ndim == 1 || item->shape[0] == 0);
	if (item->type_class != KDRI_H5_NUMBER || none || (integers && item->floating))
		return kdri_fail(ctx, KDR_ERR_FORMAT,
		                 "%s:%s: a non-empty array of 1 to 3 dimensions of %s is expected", l->path,
		                 item->name, integers ? "integers" : "numbers");
	KDRI_DO(kdri_result_array(ctx, l->model->fitted, field->name, task, field->type, item->ndim,
	                          item->shape, &values));
	if (integers) {
		memcpy(values, item->values, (size_t)item->count * sizeof *values);
		return KDR_OK;
	}
	for (int64_t i = 0; i < item->count; i++) {
		values[i] = number_at(item, i);
		if (!isfinite(values[i]))
			return kdri_fail(ctx, KDR_ERR_FORMAT, "%s:%s: a value is not finite", l->path,
			                 item->name);
	}
	return KDR_OK;
}

static kdr_status load_arrays(kdr_context *ctx, const loading *l)
{
	char name[256];
	for (const kdr_field_desc *f = l->model->algo->info.fields; f && f->name; f++) {
		if (!f->in_model)
			continue;
		snprintf(name, sizeof name, "arrays/%s", f->name);
		const kdri_h5_item *item = kdri_h5_item_find(&l->items, name, NULL);
		if (item && item->type_class != KDRI_H5_OTHER)
			KDRI_DO(load_array(ctx, l, f, item, -1));
		for (int64_t t = 0; item && item->type_class == KDRI_H5_OTHER && t < l->model->ntasks; t++) {
			snprintf(name, sizeof name, "arrays/%s/%lld", f->name, (long long)t);
			const kdri_h5_item *part = kdri_h5_item_find(&l->items, name, NULL);
			if (part)
				KDRI_DO(load_array(ctx, l, f, part, t));
		}
	}
	return KDR_OK;
}

/* The samples of the fit; models of version 0.1 have none. */
static kdr_status load_known(kdr_context *ctx, const loading *l)
{
	char name[64];
	for (int64_t t = 0; t < l->model->ntasks; t++) {
		kdri_task_result *task = &l->model->fitted->tasks[t];
		snprintf(name, sizeof name, "known/%lld", (long long)t);
		const kdri_h5_item *item = kdri_h5_item_find(&l->items, name, NULL);
		if (!item)
			continue;
		if (item->type_class != KDRI_H5_NUMBER || item->floating || item->ndim != 2 ||
		    item->shape[1] != 2 || !kdri_known_sound(item->values, item->shape[0], task->k))
			return model_load_damaged(ctx, l, "the table of known samples is invalid");
		KDRI_DO(KDRI_NEW(ctx, &task->known, item->count));
		memcpy(task->known, item->values, (size_t)item->count * sizeof *task->known);
		task->nknown = item->shape[0];
	}
	return KDR_OK;
}

/* One list of numbers of the samples that a model keeps of data set t; NULL if there is none. */
static const kdri_h5_item *remembered_part(const loading *l, int64_t t, const char *part)
{
	char name[64];
	snprintf(name, sizeof name, "remembered/%lld/%s", (long long)t, part);
	const kdri_h5_item *item = kdri_h5_item_find(&l->items, name, NULL);
	return item && item->type_class == KDRI_H5_NUMBER && item->count > 0 ? item : NULL;
}

/* Sparse rows of `cols` columns that are sound. */
static bool remembered_sparse(const kdri_h5_item *ptr, const kdri_h5_item *col, const kdri_h5_item *val,
                              int64_t rows, int64_t cols)
{
	const int64_t count = col ? col->count : 0;
	if (ptr->floating || ptr->ndim != 1 || ptr->count != rows + 1 || (count > 0) != (val != NULL) ||
	    (col && (col->floating || col->ndim != 1)) || (val && (val->ndim != 1 || val->count != count)))
		return false;
	const int64_t *at = ptr->values, *column = col ? col->values : NULL;
	if (at[0] != 0 || at[rows] != count)
		return false;
	for (int64_t i = 0; i < rows; i++) {
		if (at[i + 1] < at[i] || at[i + 1] > count)
			return false;
		for (int64_t j = at[i]; j < at[i + 1]; j++)
			if (column[j] < 0 || column[j] >= cols || (j > at[i] && column[j] <= column[j - 1]))
				return false;
	}
	for (int64_t j = 0; j < count; j++)
		if (!isfinite(number_at(val, j)))
			return false;
	return true;
}

/* Copies what was checked. Missing values of tables are NaN. */
static kdr_status load_remembered_rows(kdr_context *ctx, const kdri_h5_item *x, const kdri_h5_item *ptr,
                                       const kdri_h5_item *col, const kdri_h5_item *val, kdr_data *d)
{
	if (x) {
		d->kind = KDR_MAT_DENSE;
		KDRI_DO(KDRI_NEW(ctx, &d->dense, x->count));
		for (int64_t i = 0; i < x->count; i++)
			d->dense[i] = number_at(x, i);
		return KDR_OK;
	}
	const int64_t count = col ? col->count : 0;
	d->kind = KDR_MAT_CSR;
	KDRI_DO(KDRI_NEW(ctx, &d->rowptr, ptr->count));
	KDRI_DO(KDRI_NEW(ctx, &d->col, count));
	KDRI_DO(KDRI_NEW(ctx, &d->val, count));
	memcpy(d->rowptr, ptr->values, (size_t)ptr->count * sizeof *d->rowptr);
	for (int64_t j = 0; j < count; j++) {
		d->col[j] = (int32_t)((const int64_t *)col->values)[j];
		d->val[j] = number_at(val, j);
	}
	return KDR_OK;
}

/* The samples that a model keeps; models of version 0.1 and those saved without samples have none. */
static kdr_status load_remembered(kdr_context *ctx, const loading *l)
{
	const int64_t cols = l->model->ncolumns;
	for (int64_t t = 0; t < l->model->ntasks; t++) {
		kdri_task_result *task = &l->model->fitted->tasks[t];
		const kdri_h5_item *labels = remembered_part(l, t, "labels"), *x = remembered_part(l, t, "x"),
		                   *ptr = remembered_part(l, t, "indptr"),
		                   *col = remembered_part(l, t, "indices"),
		                   *val = remembered_part(l, t, "data");
		if (!labels)
			continue;
		bool sound = !labels->floating && labels->ndim == 1 && cols > 0 && (x || ptr);
		const bool classes = l->model->algo->info.family == KDR_FAMILY_TRANSFER;
		const int64_t most = classes ? l->model->nclasses : task->k;
		for (int64_t i = 0; sound && i < labels->count; i++)
			sound = ((const int64_t *)labels->values)[i] >= 0 &&
			        ((const int64_t *)labels->values)[i] < most;
		sound = sound && (x ? x->ndim == 2 && x->shape[0] == labels->count && x->shape[1] == cols
		                    : remembered_sparse(ptr, col, val, labels->count, cols));
		for (int64_t i = 0; sound && x && i < x->count; i++)
			sound = !isinf(number_at(x, i));
		if (!sound)
			return model_load_damaged(ctx, l, "the samples that it keeps are invalid");
		KDRI_DO(kdri_data_new(ctx, l->model->task_names[t], "", &task->remembered));
		task->remembered->rows = labels->count;
		task->remembered->cols = cols;
		KDRI_DO(load_remembered_rows(ctx, x, ptr, col, val, task->remembered));
		KDRI_DO(KDRI_NEW(ctx, &task->remembered->labels, labels->count));
		memcpy(task->remembered->labels, labels->values,
		       (size_t)labels->count * sizeof *task->remembered->labels);
	}
	return KDR_OK;
}

/* An array of moments of data set t, of this shape and with values of at least `least`; NULL in *out: there is none. */
static bool moments_part(const loading *l, int64_t t, const char *part, const int64_t *shape, int ndim,
                         double least, const kdri_h5_item **out)
{
	char name[64];
	snprintf(name, sizeof name, "moments/%lld/%s", (long long)t, part);
	const kdri_h5_item *item = *out = kdri_h5_item_find(&l->items, name, NULL);
	bool sound = !item || (item->type_class == KDRI_H5_NUMBER && item->ndim == ndim);
	for (int i = 0; sound && item && i < ndim; i++)
		sound = item->shape[i] == shape[i] || (shape[i] < 0 && item->shape[i] > 0);
	for (int64_t i = 0; sound && item && i < item->count; i++)
		sound = isfinite(number_at(item, i)) && number_at(item, i) >= least;
	return sound;
}

/* Means and covariances, of models that were saved without samples. */
static kdr_status load_moments(kdr_context *ctx, const loading *l)
{
	const int64_t d = l->model->ncolumns;
	char name[64];
	for (int64_t t = 0; t < l->model->ntasks; t++) {
		kdri_task_result *task = &l->model->fitted->tasks[t];
		snprintf(name, sizeof name, "moments/%lld", (long long)t);
		const kdri_h5_item *draws = kdri_h5_item_find(&l->items, name, "draws"), *part[4];
		int64_t sparse = 0, n = 0;
		if (!draws)
			continue;
		const int64_t k =
		        l->model->algo->info.family == KDR_FAMILY_TRANSFER ? l->model->nclasses : task->k;
		const int64_t shape[3] = { k, d }, all[3] = { k, -1, d };
		bool sound = draws->type_class == KDRI_H5_NUMBER && draws->count == k && d > 0 &&
		             integer_of(l, name, "sparse", &sparse) &&
		             moments_part(l, t, "mean", shape, 2, -INFINITY, &part[0]) && part[0] &&
		             moments_part(l, t, "variance", shape, 2, 0, &part[1]) && part[1] &&
		             moments_part(l, t, "missing", shape, 2, 0, &part[2]) &&
		             moments_part(l, t, "directions", all, 3, -INFINITY, &part[3]);
		for (int64_t z = 0; sound && z < k; z++) {
			sound = number_at(draws, z) >= 0 && number_at(draws, z) <= KDRI_DRAWS_MOST - n;
			n += sound ? (int64_t)number_at(draws, z) : 0;
		}
		if (!sound)
			return model_load_damaged(ctx, l,
			                          "the means and covariances that it keeps are invalid");
		KDRI_DO(kdri_moments_room(ctx, k, d, part[3] ? part[3]->shape[1] : 0, part[2] != NULL,
		                          &task->moments));
		kdri_moments *m = task->moments;
		double *const to[4] = { m->mean, m->variance, m->missing, m->direction };
		m->sparse = sparse != 0;
		for (int64_t z = 0; z < k; z++)
			m->draws[z] = (int64_t)number_at(draws, z);
		for (int i = 0; i < 4; i++)
			for (int64_t at = 0; part[i] && at < part[i]->count; at++)
				to[i][at] = number_at(part[i], at);
	}
	return KDR_OK;
}

/* A whole number of each cluster of a data set; models of earlier versions lack some. */
static kdr_status load_each(kdr_context *ctx, const loading *l, int64_t t, const char *what, double limit,
                            int64_t **out)
{
	char name[64];
	const int64_t k = l->model->fitted->tasks[t].k;
	snprintf(name, sizeof name, "tasks/%lld", (long long)t);
	const kdri_h5_item *item = kdri_h5_item_find(&l->items, name, what);
	if (!item)
		return KDR_OK;
	if (item->type_class != KDRI_H5_NUMBER || item->count != k)
		return model_load_damaged(ctx, l, "a data set does not have one size and number per cluster");
	KDRI_DO(KDRI_NEW(ctx, out, k));
	for (int64_t c = 0; c < k; c++) {
		const double value = number_at(item, c);
		if (!(value >= 0 && value < limit))
			return model_load_damaged(ctx, l, "the size or number of a cluster is out of range");
		(*out)[c] = (int64_t)value;
	}
	return KDR_OK;
}

/* The names of clusters, by number; those that no data set has are dropped. */
static kdr_status load_names(kdr_context *ctx, const loading *l)
{
	kdr_status st;
	char **names = NULL;
	int64_t count = 0;
	KDRI_TRY(load_strings(ctx, l, "names", &names, &count));
	for (int64_t t = 0; names && t < l->model->ntasks; t++) {
		kdri_task_result *task = &l->model->fitted->tasks[t];
		KDRI_TRY(KDRI_NEW0(ctx, &task->names, task->k));
		for (int64_t c = 0; c < task->k; c++) {
			const int64_t n = kdri_cluster_number(task, c);
			if (n < count && names[n] && names[n][0])
				KDRI_TRY(kdri_strdup(ctx, names[n], &task->names[c]));
		}
	}
done:
	kdri_strings_free(&ctx->allocator, names, count);
	return st;
}

static kdr_status load_sizes(kdr_context *ctx, const loading *l)
{
	for (int64_t t = 0; t < l->model->ntasks; t++) {
		kdri_task_result *task = &l->model->fitted->tasks[t];
		KDRI_DO(load_each(ctx, l, t, "sizes", 0x1p53, &task->sizes));
		KDRI_DO(load_each(ctx, l, t, "numbers", 1e6, &task->number));
	}
	kdr_result *fitted = l->model->fitted;
	KDRI_DO(load_names(ctx, l));
	return load_strings(ctx, l, "titles", &fitted->titles, &fitted->numbers);
}

/* --- preprocessing ------------------------------------------------------------------------------------ */

static kdr_status load_prep(kdr_context *ctx, const loading *l)
{
	static const char folder[] = "prep/";
	kdri_prep_dump d = { .narrays = 0 };
	if (!kdri_h5_item_find(&l->items, "prep", NULL))
		return KDR_OK;
	for (int64_t i = 0; i < l->items.count; i++) {
		const kdri_h5_item *item = &l->items.list[i];
		const char *name = item->name + sizeof folder - 1;
		if (strncmp(item->name, folder, sizeof folder - 1) != 0 || strpbrk(name, "/@"))
			continue;
		if (item->ndim != 1 || item->type_class == KDRI_H5_OTHER ||
		    d.narrays == (int)(sizeof d.arrays / sizeof d.arrays[0]) ||
		    d.nstrings == (int)(sizeof d.strings / sizeof d.strings[0]))
			return model_load_damaged(ctx, l, "the preprocessing cannot be read");
		if (item->type_class == KDRI_H5_STRING)
			d.strings[d.nstrings++] = (kdri_dump_strings){ name, item->count, item->values };
		else
			d.arrays[d.narrays++] =
			        (kdri_dump_array){ name, item->floating ? KDR_FLOAT64 : KDR_INT64,
				                   item->count, item->values };
	}
	const kdr_status st = kdri_prep_import(ctx, &d, &l->model->prep);
	if (st != KDR_ERR_FORMAT)
		return st;
	char why[sizeof ctx->error];
	snprintf(why, sizeof why, "%s", ctx->error);
	return model_load_damaged(ctx, l, why);
}

kdr_status kdr_model_load(kdr_context *ctx, const char *path, kdr_model **out)
{
	KDRI_NEED(ctx, path && out);
	kdr_status st;
	loading l = { .path = path };
	KDRI_TRY(KDRI_NEW0(ctx, &l.model, 1));
	l.model->allocator = ctx->allocator;
	KDRI_TRY(kdri_h5_read_items(ctx, path, &l.items));
	KDRI_TRY(load_root(ctx, &l));
	KDRI_TRY(load_options(ctx, &l));
	KDRI_TRY(load_tasks(ctx, &l));
	KDRI_TRY(kdri_options_fit_tasks(ctx, l.model->options, l.model->ntasks));
	KDRI_TRY(load_arrays(ctx, &l));
	KDRI_TRY(load_known(ctx, &l));
	KDRI_TRY(load_sizes(ctx, &l));
	KDRI_TRY(load_remembered(ctx, &l));
	KDRI_TRY(load_moments(ctx, &l));
	KDRI_TRY(load_prep(ctx, &l));
	*out = l.model;
	l.model = NULL;
done:
	kdr_model_free(l.model);
	kdri_h5_items_free(ctx, &l.items);
	return st;
}
