/* Reading model files. SPDX-License-Identifier: BSD-3-Clause
 *
 * A model file may come from anywhere: types, shapes and values are checked here, and what a method's
 * predict needs of them beyond that it checks itself against the data. */
#include "api/method.h"
#include "api/model.h"
#include "io/hdf5/h5.h"
#include "prepare/prep.h"

#include <stdio.h>

static kdr_status model_load_damaged(kdr_context *ctx, const kdri_h5 *h5, const char *what)
{
	return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: not a sound model file: %s", h5->path, what);
}

/* --- pieces ----------------------------------------------------------------------------------------- */

/* A list of strings; *count stays 0 where there is none. */
static kdr_status load_strings(kdr_context *ctx, const kdri_h5 *h5, const char *name, char ***out,
                               int64_t *count)
{
	kdr_status st;
	kdri_h5_array a = { 0 };
	if (kdri_h5_what(h5, name) != KDRI_H5_DATASET)
		return KDR_OK;
	KDRI_TRY(kdri_h5_array_open(ctx, h5, name, &a));
	KDRI_TRY(kdri_h5_strings(ctx, &a, NULL, out));
	*count = a.shape[0];
done:
	kdri_h5_array_close(&a);
	return st;
}

static kdr_status load_root(kdr_context *ctx, const kdri_h5 *h5, kdr_model *m)
{
	kdr_status st = KDR_OK;
	char text[64];
	int64_t version, columns, count = 0;
	if (!kdri_h5_text(h5, "/", "format", text, sizeof text) || strcmp(text, KDRI_MODEL_FORMAT) != 0)
		return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: is not a model file of kindred", h5->path);
	if (!kdri_h5_integers(h5, "/", "format_version", 1, &version) || version != KDRI_MODEL_VERSION)
		return kdri_fail(ctx, KDR_ERR_UNSUPPORTED, "%s: a model file of another version; %d is read",
		                 h5->path, KDRI_MODEL_VERSION);
	if (!kdri_h5_text(h5, "/", "method", text, sizeof text))
		return model_load_damaged(ctx, h5, "it names no method");
	m->algo = kdri_algo_find(text);
	if (!m->algo || !m->algo->predict)
		return kdri_fail(ctx, KDR_ERR_UNSUPPORTED,
		                 "%s: a model of method '%s', which this version %s", h5->path, text,
		                 m->algo ? "cannot apply to new samples" : "does not have");
	if (!kdri_h5_integers(h5, "/", "columns", 1, &columns) || columns < 0)
		return model_load_damaged(ctx, h5, "it does not say how many columns it needs");
	KDRI_TRY(load_strings(ctx, h5, "features", &m->features, &count));
	m->ncolumns = m->features ? count : columns;
	if (m->ncolumns != columns) {
		st = model_load_damaged(ctx, h5, "its columns and their names differ in number");
		goto done;
	}
	KDRI_TRY(load_strings(ctx, h5, "classes", &m->classes, &m->nclasses));
done:
	return st;
}

/* An option with several numbers, one for each task. */
static kdr_status load_numbers(kdr_context *ctx, const kdri_h5 *h5, const char *name, kdr_options *options)
{
	kdr_status st;
	int64_t count = kdri_h5_count(h5, "options", name);
	double *values = NULL;
	if (count > KDRI_MODEL_TASKS_MOST)
		return model_load_damaged(ctx, h5, "an option has more numbers than there can be tasks");
	KDRI_TRY(KDRI_NEW(ctx, &values, count));
	if (kdri_h5_reals(h5, "options", name, count, values))
		KDRI_TRY(kdr_options_set_numbers(ctx, options, name, values, count));
done:
	kdri_free(ctx, values);
	return st;
}

static kdr_status load_options(kdr_context *ctx, const kdri_h5 *h5, kdr_model *m)
{
	kdr_status st;
	char text[64];
	KDRI_TRY(kdr_options_new(ctx, m->algo->info.id, &m->options));
	if (kdri_h5_what(h5, "options") != KDRI_H5_GROUP)
		return model_load_damaged(ctx, h5, "it has no options");
	for (const kdr_option_desc *d = m->algo->info.options; d->name; d++) {
		double value;
		if (d->type == KDR_OPTION_CHOICE) {
			if (kdri_h5_text(h5, "options", d->name, text, sizeof text))
				KDRI_TRY(kdr_options_set(ctx, m->options, d->name, text));
		} else if (d->type == KDR_OPTION_REALS && kdri_h5_count(h5, "options", d->name) > 1) {
			KDRI_TRY(load_numbers(ctx, h5, d->name, m->options));
		} else if (kdri_h5_reals(h5, "options", d->name, 1, &value) && value != d->initial) {
			/* A default may lie outside its own bounds where it means "automatic". */
			KDRI_TRY(kdr_options_set_number(ctx, m->options, d->name, value));
		}
	}
done:
	if (st == KDR_ERR_OPTION) { /* nobody could have had such an option in force */
		char why[256];
		snprintf(why, sizeof why, "%.255s", kdr_context_error(ctx));
		return model_load_damaged(ctx, h5, why);
	}
	return st;
}

static kdr_status load_tasks(kdr_context *ctx, const kdri_h5 *h5, kdr_model *m)
{
	kdr_status st;
	kdr_task *tasks = NULL;
	char name[64], text[1024];
	int64_t count = 0, exponent;
	for (; count < KDRI_MODEL_TASKS_MOST; count++) {
		snprintf(name, sizeof name, "tasks/%lld", (long long)count);
		if (kdri_h5_what(h5, name) != KDRI_H5_GROUP)
			break;
	}
	if (count == 0)
		return model_load_damaged(ctx, h5, "it has no tasks");
	KDRI_TRY(KDRI_NEW0(ctx, &tasks, count));
	KDRI_TRY(KDRI_NEW0(ctx, &m->task_names, count));
	m->ntasks = count;
	for (int64_t t = 0; t < count; t++) {
		snprintf(name, sizeof name, "tasks/%lld", (long long)t);
		if (!kdri_h5_text(h5, name, "name", text, sizeof text) ||
		    !kdri_h5_integers(h5, name, "k", 1, &tasks[t].k) || tasks[t].k < 0) {
			st = model_load_damaged(ctx, h5, "a task has no name or no k");
			goto done;
		}
		KDRI_TRY(kdri_strdup(ctx, text, &m->task_names[t]));
	}
	kdr_problem problem = { .tasks = tasks, .ntasks = count };
	KDRI_TRY(kdri_result_new(ctx, &m->algo->info, &problem, &m->fitted));
	if (kdri_h5_integers(h5, "/", "exponent", 1, &exponent)) {
		if (exponent < -1100 || exponent > 1100) {
			st = model_load_damaged(ctx, h5, "its exponent is not that of a number");
			goto done;
		}
		kdri_result_set_exponent(m->fitted, (int)exponent);
	}
done:
	kdri_free(ctx, tasks);
	return st;
}

static kdr_status load_array(kdr_context *ctx, const kdri_h5 *h5, kdr_model *m, const kdr_field_desc *field,
                             const char *name, int64_t task)
{
	kdr_status st;
	kdri_h5_array a = { 0 };
	double *reals;
	int64_t *integers;
	KDRI_TRY(kdri_h5_array_open(ctx, h5, name, &a));
	if (a.ndim < 1 || a.ndim > 3 || a.count == 0) {
		st = kdri_fail(ctx, KDR_ERR_FORMAT, "%s: an array of 1 to 3 dimensions with data is expected",
		               a.label);
		goto done;
	}
	if (field->type == KDR_INT64) {
		KDRI_TRY(kdri_result_array(ctx, m->fitted, field->name, task, KDR_INT64, a.ndim, a.shape,
		                           &integers));
		KDRI_TRY(kdri_h5_rows_int64(ctx, &a, 0, a.shape[0], integers));
		goto done;
	}
	KDRI_TRY(kdri_result_array(ctx, m->fitted, field->name, task, KDR_FLOAT64, a.ndim, a.shape, &reals));
	KDRI_TRY(kdri_h5_rows_double(ctx, &a, 0, a.shape[0], reals));
	for (int64_t i = 0; i < a.count; i++)
		if (!isfinite(reals[i])) {
			st = kdri_fail(ctx, KDR_ERR_FORMAT, "%s: a value is not finite", a.label);
			goto done;
		}
done:
	kdri_h5_array_close(&a);
	return st;
}

static kdr_status load_arrays(kdr_context *ctx, const kdri_h5 *h5, kdr_model *m)
{
	kdr_status st = KDR_OK;
	char name[256];
	for (const kdr_field_desc *f = m->algo->info.fields; f && f->name; f++) {
		if (!f->in_model)
			continue;
		snprintf(name, sizeof name, "arrays/%s", f->name);
		kdri_h5_kind kind = kdri_h5_what(h5, name);
		if (kind == KDRI_H5_DATASET)
			KDRI_TRY(load_array(ctx, h5, m, f, name, -1));
		for (int64_t t = 0; kind == KDRI_H5_GROUP && t < m->ntasks; t++) {
			snprintf(name, sizeof name, "arrays/%s/%lld", f->name, (long long)t);
			if (kdri_h5_what(h5, name) == KDRI_H5_DATASET)
				KDRI_TRY(load_array(ctx, h5, m, f, name, t));
		}
	}
done:
	return st;
}

/* --- preprocessing ------------------------------------------------------------------------------------ */

typedef struct bag {
	kdr_context *ctx;
	kdr_status st;
	kdri_prep_dump dump;
} bag;

/* Adds one dataset of /prep to the dump. */
static kdr_status put_in_bag(bag *b, const kdri_h5 *h5, const char *path)
{
	kdr_status st;
	kdr_context *ctx = b->ctx;
	kdri_h5_array a = { 0 };
	kdri_prep_dump *d = &b->dump;
	void *values = NULL;
	char **strings = NULL, *name = NULL;
	KDRI_TRY(kdri_h5_array_open(ctx, h5, path, &a));
	bool text = a.type_class == KDRI_H5_STRING;
	if (a.ndim != 1 || (!text && a.type_class != KDRI_H5_NUMBER) ||
	    d->narrays == (int)(sizeof d->arrays / sizeof d->arrays[0]) ||
	    d->nstrings == (int)(sizeof d->strings / sizeof d->strings[0])) {
		st = model_load_damaged(ctx, h5, "its preprocessing cannot be read");
		goto done;
	}
	KDRI_TRY(kdri_strdup(ctx, strrchr(path, '/') + 1, &name));
	if (text) {
		KDRI_TRY(kdri_h5_strings(ctx, &a, NULL, &strings));
		d->strings[d->nstrings++] =
		        (kdri_dump_strings){ name, a.count, (const char *const *)strings };
	} else {
		KDRI_TRY(kdri_alloc(ctx, &values, a.count, sizeof(double)));
		if (a.floating)
			KDRI_TRY(kdri_h5_rows_double(ctx, &a, 0, a.count, values));
		else
			KDRI_TRY(kdri_h5_rows_int64(ctx, &a, 0, a.count, values));
		d->arrays[d->narrays++] =
		        (kdri_dump_array){ name, a.floating ? KDR_FLOAT64 : KDR_INT64, a.count, values };
	}
	name = NULL;
	values = NULL;
done:
	kdri_h5_array_close(&a);
	kdri_free(ctx, values);
	kdri_free(ctx, name);
	return st;
}

static bool visit_prep(void *user, const kdri_h5 *h5, const char *name, kdri_h5_kind kind)
{
	bag *b = user;
	if (kind == KDRI_H5_DATASET)
		b->st = put_in_bag(b, h5, name);
	return b->st == KDR_OK;
}

static kdr_status load_prep(kdr_context *ctx, const kdri_h5 *h5, kdr_model *m)
{
	kdr_status st;
	bag b = { .ctx = ctx };
	if (kdri_h5_what(h5, "prep") != KDRI_H5_GROUP)
		return KDR_OK;
	KDRI_TRY(kdri_h5_walk(ctx, h5, "prep", 0, visit_prep, &b));
	KDRI_TRY(b.st);
	KDRI_TRY(kdri_prep_import(ctx, &b.dump, &m->prep));
done:
	for (int i = 0; i < b.dump.narrays; i++) {
		kdri_free(ctx, (void *)b.dump.arrays[i].name);
		kdri_free(ctx, (void *)b.dump.arrays[i].data);
	}
	for (int i = 0; i < b.dump.nstrings; i++) {
		kdri_free(ctx, (void *)b.dump.strings[i].name);
		kdri_strings_free(&ctx->allocator, (char **)b.dump.strings[i].strings,
		                  b.dump.strings[i].count);
	}
	return st;
}

kdr_status kdr_model_load(kdr_context *ctx, const char *path, kdr_model **out)
{
	kdr_status st;
	kdri_h5 h5 = { 0 };
	kdr_model *m = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &m, 1));
	m->allocator = ctx->allocator;
	KDRI_TRY(kdri_h5_open(ctx, path, &h5));
	KDRI_TRY(load_root(ctx, &h5, m));
	KDRI_TRY(load_options(ctx, &h5, m));
	KDRI_TRY(load_tasks(ctx, &h5, m));
	KDRI_TRY(kdri_options_fit_tasks(ctx, m->options, m->ntasks));
	KDRI_TRY(load_arrays(ctx, &h5, m));
	KDRI_TRY(load_prep(ctx, &h5, m));
done:
	st = kdri_h5_end(ctx, &h5, st);
	if (st == KDR_OK)
		*out = m;
	else
		kdr_model_free(m);
	return st;
}
