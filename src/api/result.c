/* Results: labels, traces, named arrays and numbers. SPDX-License-Identifier: BSD-3-Clause */
#include "api/result.h"

#include "api/method.h"
#include "api/moments.h"
#include "comm/comm.h"

#include <stdio.h>

const char *kdr_stop_name(kdr_stop stop)
{
	static const char *const names[] = { "converged", "max_iter", "time", "cancelled", "stalled" };
	return (int)stop >= 0 && (size_t)stop < sizeof names / sizeof names[0] ? names[stop] : "unknown";
}

kdr_status kdri_result_new(kdr_context *ctx, const kdr_algo *algo, const kdr_problem *problem,
                           kdr_result **out)
{
	kdr_status st;
	kdr_result *r = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &r, 1));
	r->allocator = ctx->allocator;
	r->algo = algo;
	KDRI_TRY(KDRI_NEW0(ctx, &r->tasks, problem->ntasks));
	r->ntasks = problem->ntasks;
	for (int64_t t = 0; t < r->ntasks; t++) {
		r->tasks[t].n = r->tasks[t].all = kdr_mat_rows(&problem->tasks[t].x);
		r->tasks[t].k = problem->tasks[t].k;
	}
	KDRI_TRY(kdri_result_name_tasks(ctx, r, problem));
	*out = r;
	r = NULL;
done:
	kdr_result_free(r);
	return st;
}

kdr_status kdri_result_count(kdr_context *ctx, kdr_result *r)
{
	r->parted = kdri_several(ctx);
	for (int64_t i = 0; i < r->ntasks; i++) {
		kdri_task_result *t = &r->tasks[i];
		KDRI_DO(kdri_part(ctx, t->n, &t->first, &t->all));
		t->all_nnz = t->nnz;
		KDRI_DO(kdri_sum_int(ctx, &t->all_nnz, 1));
		kdri_free(ctx, t->sizes);
		t->sizes = NULL;
		if (!t->labels)
			continue;
		KDRI_DO(KDRI_NEW0(ctx, &t->sizes, t->k));
		for (int64_t row = 0; row < t->n; row++)
			if (t->labels[row] >= 0 && t->labels[row] < t->k) /* some may have none */
				t->sizes[t->labels[row]]++;
		KDRI_DO(kdri_sum_int(ctx, t->sizes, t->k));
	}
	return KDR_OK;
}

void kdr_result_free(kdr_result *r)
{
	if (!r)
		return;
	kdr_allocator a = r->allocator;
	kdri_result_about_free(r);
	for (int64_t i = 0; i < r->level_count; i++)
		if (i != r->main_level)
			kdr_result_free(r->levels[i]);
	kdri_free_with(&a, r->levels);
	for (int64_t t = 0; t < r->ntasks; t++) {
		KDRI_FREE_WITH(&a, r->tasks[t].labels, r->tasks[t].known);
		kdr_data_free(r->tasks[t].remembered);
		kdri_moments_free(&a, r->tasks[t].moments);
		KDRI_FREE_WITH(&a, r->tasks[t].sizes, r->tasks[t].parents, r->tasks[t].splits);
	}
	KDRI_FREE_WITH(&a, r->tasks, r->objective);
	for (int64_t i = 0; i < r->array_count; i++) {
		KDRI_FREE_WITH(&a, (void *)r->arrays[i].name, (void *)r->arrays[i].data);
	}
	KDRI_FREE_WITH(&a, r->arrays, r->array_next);
	for (int64_t i = 0; i < r->field_count; i++) {
		KDRI_FREE_WITH(&a, r->fields[i].name, r->fields[i].text);
	}
	kdri_free_with(&a, r->fields);
	kdri_names_free_with(&a, &r->field_names);
	for (int64_t i = 0; i < r->match_count; i++) {
		KDRI_FREE_WITH(&a, (void *)r->matches[i].matrix, (void *)r->matches[i].quality);
	}
	KDRI_FREE_WITH(&a, r->matches, r->relatedness);
	kdri_strings_free(&a, r->warnings, r->warning_count);
	kdri_free_with(&a, r);
}

const kdr_data *kdri_result_remembered(const kdr_result *r, int64_t task)
{
	return r->tasks[task].remembered;
}

/* --- written by methods --------------------------------------------------------------------- */

kdr_status kdri_result_labels(kdr_context *ctx, kdr_result *r, int64_t task, int64_t **out)
{
	kdri_task_result *t = &r->tasks[task];
	if (!t->labels)
		KDRI_DO(KDRI_NEW0(ctx, &t->labels, t->n));
	*out = t->labels;
	return KDR_OK;
}

void kdri_result_set_k(kdr_result *r, int64_t task, int64_t k)
{
	r->tasks[task].k = k;
}

kdr_status kdri_result_array(kdr_context *ctx, kdr_result *r, const char *name, int64_t task, kdr_dtype type,
                             int ndim, const int64_t *shape, void *data)
{
	kdr_status st;
	kdr_array a = { .task = task, .type = type, .ndim = ndim };
	char *own_name = NULL;
	double *storage = NULL; /* int64 has the same size */
	int64_t count = 1, *last;
	for (int i = 0; i < ndim; i++) {
		KDRI_TRY(kdri_mul(ctx, count, shape[i], &count));
		a.shape[i] = shape[i];
	}
	KDRI_TRY(kdri_strdup(ctx, name, &own_name));
	KDRI_TRY(KDRI_NEW0(ctx, &storage, count));
	KDRI_TRY(KDRI_ROOM(ctx, &r->arrays, &r->array_room, r->array_count + 1));
	KDRI_TRY(KDRI_ROOM(ctx, &r->array_next, &r->array_next_room, r->array_count + 1));
	a.name = own_name;
	a.data = storage;
	last = task < 0 ? &r->last_array : &r->tasks[task].last_array;
	r->array_next[r->array_count] = *last;
	r->arrays[r->array_count++] = a;
	*last = r->array_count;
	memcpy(data, &storage, sizeof storage);
	own_name = NULL;
	storage = NULL;
done:
	KDRI_FREE(ctx, own_name, storage);
	return st;
}

kdr_status kdri_result_objective(kdr_context *ctx, kdr_result *r, double value)
{
	kdr_status st = KDRI_ROOM(ctx, &r->objective, &r->objective_room, r->objective_count + 1);
	if (st == KDR_OK)
		r->objective[r->objective_count++] = value;
	return st;
}

void kdri_result_stop(kdr_result *r, kdr_stop stop, int64_t iterations)
{
	r->stop = stop;
	r->iterations = iterations;
}

/* For a task, its name follows that of the field. */
static kdr_status add_field(kdr_context *ctx, kdr_result *r, int64_t task, const char *name, double number,
                            const char *text)
{
	kdr_status st;
	kdri_field f = { .number = number, .task = task, .stem = strlen(name) };
	const char *of = task < 0 ? "" : r->tasks[task].name;
	size_t room = f.stem + strlen(of) + 2;
	int64_t at = 0;
	KDRI_TRY(kdri_alloc(ctx, &f.name, (int64_t)room, 1));
	snprintf(f.name, room, "%s%s%s", name, task < 0 ? "" : ".", of);
	if (text)
		KDRI_TRY(kdri_strdup(ctx, text, &f.text));
	KDRI_TRY(KDRI_ROOM(ctx, &r->fields, &r->field_room, r->field_count + 1));
	r->field_names.borrows = true;
	KDRI_TRY(kdri_names_add(ctx, &r->field_names, f.name, room - 1, &at));
	/* A name occurs once in result.json: a new value, such as the next task's, replaces the first one. */
	if (at < r->field_count) {
		char *text_before = r->fields[at].text;
		r->fields[at].number = f.number;
		r->fields[at].text = f.text;
		f.text = text_before;
		goto done;
	}
	if (task >= 0) {
		f.next = r->tasks[task].last_field;
		r->tasks[task].last_field = at + 1;
	}
	r->fields[r->field_count++] = f;
	f = (kdri_field){ 0 };
done:
	KDRI_FREE(ctx, f.name, f.text);
	return st;
}

kdr_status kdri_result_number(kdr_context *ctx, kdr_result *r, const char *name, double value)
{
	return add_field(ctx, r, -1, name, value, NULL);
}

kdr_status kdri_result_text(kdr_context *ctx, kdr_result *r, const char *name, const char *text)
{
	return add_field(ctx, r, -1, name, NAN, text);
}

kdr_status kdri_result_task_number(kdr_context *ctx, kdr_result *r, int64_t task, const char *name,
                                   double value)
{
	return add_field(ctx, r, task, name, value, NULL);
}

kdr_status kdri_result_task_text(kdr_context *ctx, kdr_result *r, int64_t task, const char *name,
                                 const char *text)
{
	return add_field(ctx, r, task, name, NAN, text);
}

kdr_status kdri_result_correspondence(kdr_context *ctx, kdr_result *r, int64_t from, int64_t to, int64_t rows,
                                      int64_t cols, double **matrix)
{
	kdr_status st;
	double *storage = NULL;
	int64_t count;
	KDRI_TRY(kdri_mul(ctx, rows, cols, &count));
	KDRI_TRY(KDRI_NEW0(ctx, &storage, count));
	KDRI_TRY(KDRI_ROOM(ctx, &r->matches, &r->match_room, r->match_count + 1));
	r->matches[r->match_count++] = (kdr_correspondence){ from, to, rows, cols, storage, NULL };
	*matrix = storage;
	storage = NULL;
done:
	kdri_free(ctx, storage);
	return st;
}

kdr_status kdri_result_relatedness(kdr_context *ctx, kdr_result *r, double **matrix)
{
	if (!r->relatedness)
		KDRI_DO(KDRI_NEW0(ctx, &r->relatedness, r->ntasks * r->ntasks));
	*matrix = r->relatedness;
	return KDR_OK;
}

void kdri_result_set_exponent(kdr_result *r, int exponent)
{
	r->exponent = exponent;
}

int kdri_result_exponent(const kdr_result *r)
{
	return r->exponent;
}

kdr_status kdri_result_warn(kdr_context *ctx, kdr_result *r, const char *format, ...)
{
	char text[512];
	va_list args;
	va_start(args, format);
	kdri_vsnprintf(text, sizeof text, format, args);
	va_end(args);
	return kdri_strings_append(ctx, &r->warnings, &r->warning_count, text);
}

/* --- read by users -------------------------------------------------------------------------- */

const kdr_algo *kdr_result_algo(const kdr_result *r)
{
	return r ? r->algo : NULL;
}

int64_t kdr_result_ntasks(const kdr_result *r)
{
	return r ? r->ntasks : 0;
}

const int64_t *kdr_result_labels(const kdr_result *r, int64_t task, int64_t *n)
{
	const bool has = r && task >= 0 && task < r->ntasks;
	if (n)
		*n = has ? r->tasks[task].n : 0;
	return has ? r->tasks[task].labels : NULL;
}

int64_t kdr_result_k(const kdr_result *r, int64_t task)
{
	return !r || task < 0 || task >= r->ntasks ? 0 : r->tasks[task].k;
}

int64_t kdr_result_number(const kdr_result *r, int64_t task, int64_t index)
{
	if (!r || task < 0 || task >= r->ntasks || index < 0 || index >= r->tasks[task].k)
		return -1;
	return kdri_cluster_number(&r->tasks[task], index);
}

const double *kdr_result_objective(const kdr_result *r, int64_t *n)
{
	if (n)
		*n = r ? r->objective_count : 0;
	return r ? r->objective : NULL;
}

kdr_stop kdr_result_stop(const kdr_result *r)
{
	return r ? r->stop : KDR_STOP_STALLED;
}

int64_t kdr_result_iterations(const kdr_result *r)
{
	return r ? r->iterations : 0;
}

bool kdr_result_complete(const kdr_result *r)
{
	return r && (r->stop == KDR_STOP_CONVERGED || (r->stop == KDR_STOP_MAX_ITER && r->sweeps));
}

int64_t kdr_result_array_count(const kdr_result *r)
{
	return r ? r->array_count : 0;
}

kdr_array kdr_result_array_at(const kdr_result *r, int64_t index)
{
	return !r || index < 0 || index >= r->array_count ? (kdr_array){ 0 } : r->arrays[index];
}

kdr_array kdr_result_array(const kdr_result *r, const char *name, int64_t task)
{
	kdr_array found = { 0 };
	if (!r || !name || task < -1 || task >= r->ntasks)
		return found;
	for (int64_t i = task < 0 ? r->last_array : r->tasks[task].last_array; i > 0;
	     i = r->array_next[i - 1])
		if (r->arrays[i - 1].task == task && strcmp(r->arrays[i - 1].name, name) == 0)
			found = r->arrays[i - 1]; /* the first of that name is the last here */
	return found;
}

int64_t kdr_result_field_count(const kdr_result *r)
{
	return r ? r->field_count : 0;
}

const char *kdr_result_field_at(const kdr_result *r, int64_t index, double *number, const char **text)
{
	if (!r || index < 0 || index >= r->field_count)
		return NULL;
	if (number)
		*number = r->fields[index].number;
	if (text)
		*text = r->fields[index].text;
	return r->fields[index].name;
}

int64_t kdr_result_correspondence_count(const kdr_result *r)
{
	return r ? r->match_count : 0;
}

kdr_correspondence kdr_result_correspondence_at(const kdr_result *r, int64_t index)
{
	return !r || index < 0 || index >= r->match_count ? (kdr_correspondence){ 0 } : r->matches[index];
}

const double *kdr_result_relatedness(const kdr_result *r)
{
	return r ? r->relatedness : NULL;
}

int64_t kdr_result_warning_count(const kdr_result *r)
{
	return r ? r->warning_count : 0;
}

const char *kdr_result_warning_at(const kdr_result *r, int64_t index)
{
	return !r || index < 0 || index >= r->warning_count ? NULL : r->warnings[index];
}

const kdr_result *kdr_result_level_at(const kdr_result *r, int64_t index)
{
	return r && index >= 0 && index < r->level_count ? r->levels[index] : NULL;
}

const double *kdr_result_confidence(const kdr_result *r, int64_t task, const char **from)
{
	const kdri_task_result *t = r && task >= 0 && task < r->ntasks ? &r->tasks[task] : NULL;
	kdr_array own = t ? kdr_result_array(r, "confidence", task) : (kdr_array){ 0 };
	bool has = own.data && own.type == KDR_FLOAT64 && own.ndim == 1 && own.shape[0] == t->n &&
	           !t->probabilities; /* calibrated ones are more than that */
	if (from)
		*from = has ? "method" : t ? t->confidence_from : NULL;
	return has ? own.data : t ? t->confidence : NULL;
}
