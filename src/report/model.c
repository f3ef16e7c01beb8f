/* What a result.json says, checked. SPDX-License-Identifier: BSD-3-Clause
 *
 * Every field may be missing or null: the page then leaves it out. A field of the wrong type means that
 * the file is not what it seems, and is an error that names the field, what was found and what is
 * allowed. Nothing in the file is trusted: counts may be absurd and matrices ragged. */
#include "report/report.h"

#include <stdio.h>
#include <stdlib.h>

const char *const kdri_stage_names[KDRI_STAGES] = { "read", "prepare", "fit", "write" };

typedef struct reader {
	kdr_context *ctx;
	const char *file;
} reader;

enum { WHERE = 96 };

static const char *type_name(const json_t *value)
{
	static const char *const names[] = { "an object", "an array", "a text", "a whole number",
		                             "a number",  "true",     "false",  "null" };
	return names[json_typeof(value)];
}

static kdr_status wrong(const reader *in, const char *where, const char *key, const json_t *found,
                        const char *allowed)
{
	return kdri_fail(in->ctx, KDR_ERR_FORMAT, "%s: field %s%s%s is %s; %s is needed", in->file, where,
	                 *where && *key ? "." : "", key, type_name(found), allowed);
}

/* The member `key`, or NULL where it is missing or null. */
static json_t *member(const json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);
	return json_is_null(value) ? NULL : value;
}

static kdr_status get_text(const reader *in, const json_t *object, const char *where, const char *key,
                           const char **out)
{
	const json_t *value = member(object, key);
	if (value && !json_is_string(value))
		return wrong(in, where, key, value, "a text");
	*out = json_string_value(value);
	return KDR_OK;
}

static kdr_status get_kind(const reader *in, const json_t *object, const char *where, const char *key,
                           json_type kind, json_t **out)
{
	json_t *value = member(object, key);
	if (value && json_typeof(value) != kind)
		return wrong(in, where, key, value, kind == JSON_ARRAY ? "an array" : "an object");
	*out = value;
	return KDR_OK;
}

static kdr_status get_number(const reader *in, const json_t *object, const char *where, const char *key,
                             double *out)
{
	const json_t *value = member(object, key);
	if (value && !json_is_number(value))
		return wrong(in, where, key, value, "a number");
	*out = value ? json_number_value(value) : NAN;
	return KDR_OK;
}

/* A whole number that is not negative, also where it is written as 3.0; false for all else. */
static bool count_of(const json_t *value, int64_t *out)
{
	double real = json_number_value(value);
	if (!json_is_number(value) || !(real >= 0 && real < 9e18) || real != floor(real))
		return false;
	*out = json_is_integer(value) ? json_integer_value(value) : (int64_t)real;
	return true;
}

static kdr_status get_count(const reader *in, const json_t *object, const char *where, const char *key,
                            int64_t *out)
{
	const json_t *value = member(object, key);
	int64_t count = -1;
	if (value && !count_of(value, &count))
		return kdri_fail(in->ctx, KDR_ERR_FORMAT, "%s: field %s%s%s is not a whole number from 0",
		                 in->file, where, *where ? "." : "", key);
	*out = count;
	return KDR_OK;
}

/* --- tasks ---------------------------------------------------------------------------------- */

static kdr_status read_sizes(const reader *in, const json_t *sizes, const char *where, kdri_report_task *t)
{
	kdr_status st;
	int64_t count = (int64_t)json_array_size(sizes);
	KDRI_TRY(KDRI_NEW0(in->ctx, &t->groups, count));
	t->ngroups = count;
	for (int64_t i = 0; i < count; i++) {
		t->groups[i].number = i;
		if (!count_of(json_array_get(sizes, (size_t)i), &t->groups[i].count)) {
			st = kdri_fail(in->ctx, KDR_ERR_FORMAT,
			               "%s: field %s.sizes[%lld] is not a whole number from 0", in->file,
			               where, (long long)i);
			goto done;
		}
	}
done:
	return st;
}

static int by_label(const void *a, const void *b)
{
	const kdri_group *x = a, *y = b;
	if (x->name || y->name)
		return strcmp(x->name, y->name);
	return (x->number > y->number) - (x->number < y->number);
}

/* Counts equal labels: sorted, then runs. Labels are class names or numbers, all of one kind. */
static kdr_status count_labels(const reader *in, const json_t *labels, const char *where, kdri_report_task *t)
{
	kdr_status st;
	int64_t count = (int64_t)json_array_size(labels), runs = 0;
	bool names = json_is_string(json_array_get(labels, 0));
	KDRI_TRY(KDRI_NEW0(in->ctx, &t->groups, count));
	for (int64_t i = 0; i < count; i++) {
		const json_t *value = json_array_get(labels, (size_t)i);
		if (!(names ? json_is_string(value) : json_is_integer(value))) {
			st = kdri_fail(in->ctx, KDR_ERR_FORMAT,
			               "%s: field %s.labels[%lld] is %s; %s is needed", in->file, where,
			               (long long)i, type_name(value),
			               names ? "a text as before it" : "a whole number");
			goto done;
		}
		t->groups[i].name = json_string_value(value);
		t->groups[i].number = json_integer_value(value);
		t->groups[i].count = 1;
	}
	qsort(t->groups, (size_t)count, sizeof *t->groups, by_label);
	for (int64_t i = 0; i < count; i++) {
		if (runs > 0 && by_label(&t->groups[runs - 1], &t->groups[i]) == 0)
			t->groups[runs - 1].count++;
		else
			t->groups[runs++] = t->groups[i];
	}
	t->ngroups = runs;
done:
	return st;
}

static kdr_status check_metrics(const reader *in, json_t *metrics, const char *where)
{
	const char *key;
	json_t *value;
	json_object_foreach(metrics, key,
	                    value) if (json_is_string(value) ||
	                               json_is_boolean(value)) return wrong(in, where, "metrics", value,
	                                                                    "an object of numbers");
	return KDR_OK;
}

static kdr_status read_task(const reader *in, const json_t *object, int64_t index, kdri_report_task *t)
{
	kdr_status st;
	char where[WHERE];
	json_t *sizes = NULL, *labels = NULL;
	snprintf(where, sizeof where, "tasks[%lld]", (long long)index);
	if (!json_is_object(object))
		return wrong(in, where, "", object, "an object");
	KDRI_TRY(get_text(in, object, where, "name", &t->name));
	KDRI_TRY(get_text(in, object, where, "path", &t->path));
	KDRI_TRY(get_count(in, object, where, "n", &t->n));
	KDRI_TRY(get_count(in, object, where, "d", &t->d));
	KDRI_TRY(get_count(in, object, where, "nnz", &t->nnz));
	KDRI_TRY(get_count(in, object, where, "k", &t->k));
	KDRI_TRY(get_kind(in, object, where, "sizes", JSON_ARRAY, &sizes));
	KDRI_TRY(get_kind(in, object, where, "labels", JSON_ARRAY, &labels));
	KDRI_TRY(get_kind(in, object, where, "metrics", JSON_OBJECT, &t->metrics));
	KDRI_TRY(check_metrics(in, t->metrics, where));
	if (!t->name)
		t->name = "(unnamed)";
	/* Class names tell more than numbered sizes. */
	if (sizes && !json_is_string(json_array_get(labels, 0)))
		KDRI_TRY(read_sizes(in, sizes, where, t));
	else if (labels)
		KDRI_TRY(count_labels(in, labels, where, t));
	for (int64_t i = 0; i < t->ngroups; i++) {
		if (t->groups[i].count > INT64_MAX - t->grouped) {
			st = kdri_fail(in->ctx, KDR_ERR_FORMAT, "%s: field %s.sizes adds up to too much",
			               in->file, where);
			goto done;
		}
		t->grouped += t->groups[i].count;
	}
done:
	return st;
}

/* --- matrices ------------------------------------------------------------------------------- */

static kdr_status read_matrix(const reader *in, const json_t *object, const char *where,
                              kdri_report_matrix *m)
{
	kdr_status st;
	json_t *rows = NULL;
	int64_t count;
	KDRI_TRY(get_kind(in, object, where, "matrix", JSON_ARRAY, &rows));
	m->rows = (int64_t)json_array_size(rows);
	m->cols = (int64_t)json_array_size(json_array_get(rows, 0));
	KDRI_TRY(kdri_mul(in->ctx, m->rows, m->cols, &count));
	KDRI_TRY(KDRI_NEW0(in->ctx, &m->value, count));
	for (int64_t i = 0; i < m->rows; i++) {
		const json_t *row = json_array_get(rows, (size_t)i);
		if (!json_is_array(row) || (int64_t)json_array_size(row) != m->cols) {
			st = kdri_fail(
			        in->ctx, KDR_ERR_FORMAT,
			        "%s: field %s.matrix[%lld] is not a row of %lld numbers as the first one",
			        in->file, where, (long long)i, (long long)m->cols);
			goto done;
		}
		for (int64_t j = 0; j < m->cols; j++) {
			const json_t *value = json_array_get(row, (size_t)j);
			if (!json_is_number(value) && !json_is_null(value)) {
				st = kdri_fail(in->ctx, KDR_ERR_FORMAT,
				               "%s: field %s.matrix[%lld][%lld] is %s; a number is needed",
				               in->file, where, (long long)i, (long long)j, type_name(value));
				goto done;
			}
			m->value[i * m->cols + j] = json_is_null(value) ? NAN : json_number_value(value);
		}
	}
done:
	return st;
}

/* A task told by its name or by its number. */
static kdr_status task_named(const reader *in, const kdri_report *r, const json_t *value, const char *where,
                             const char **out)
{
	int64_t index;
	if (json_is_string(value))
		*out = json_string_value(value);
	else if (!value)
		*out = "(unnamed)";
	else if (count_of(value, &index) && index < r->ntasks)
		*out = r->tasks[index].name;
	else
		return kdri_fail(in->ctx, KDR_ERR_FORMAT,
		                 "%s: field %s is neither a name nor the number of a task", in->file, where);
	return KDR_OK;
}

static kdr_status read_matches(const reader *in, kdri_report *r)
{
	kdr_status st;
	json_t *list = NULL;
	char where[WHERE], end[WHERE + 8];
	KDRI_TRY(get_kind(in, r->root, "", "correspondence", JSON_ARRAY, &list));
	int64_t count = (int64_t)json_array_size(list);
	KDRI_TRY(KDRI_NEW0(in->ctx, &r->matches, count));
	r->nmatches = count;
	for (int64_t i = 0; i < count; i++) {
		const json_t *object = json_array_get(list, (size_t)i);
		snprintf(where, sizeof where, "correspondence[%lld]", (long long)i);
		if (!json_is_object(object)) {
			st = wrong(in, where, "", object, "an object");
			goto done;
		}
		snprintf(end, sizeof end, "%s.from", where);
		KDRI_TRY(task_named(in, r, member(object, "from"), end, &r->matches[i].from));
		snprintf(end, sizeof end, "%s.to", where);
		KDRI_TRY(task_named(in, r, member(object, "to"), end, &r->matches[i].to));
		KDRI_TRY(read_matrix(in, object, where, &r->matches[i]));
	}
done:
	return st;
}

static kdr_status read_relatedness(const reader *in, kdri_report *r)
{
	kdr_status st;
	json_t *object = NULL, *names = NULL;
	kdri_report_matrix *m = &r->relatedness;
	char where[WHERE];
	KDRI_TRY(get_kind(in, r->root, "", "relatedness", JSON_OBJECT, &object));
	if (!object)
		goto done;
	KDRI_TRY(read_matrix(in, object, "relatedness", m));
	if (m->rows > 0 && m->rows != m->cols) {
		st = kdri_fail(in->ctx, KDR_ERR_FORMAT,
		               "%s: field relatedness.matrix is %lld x %lld; a square one is needed",
		               in->file, (long long)m->rows, (long long)m->cols);
		goto done;
	}
	KDRI_TRY(get_kind(in, object, "relatedness", "tasks", JSON_ARRAY, &names));
	if (names && (int64_t)json_array_size(names) != m->rows) {
		st = kdri_fail(in->ctx, KDR_ERR_FORMAT,
		               "%s: field relatedness.tasks has %zu names for a matrix of %lld rows",
		               in->file, json_array_size(names), (long long)m->rows);
		goto done;
	}
	KDRI_TRY(KDRI_NEW0(in->ctx, &r->related, m->rows));
	for (int64_t i = 0; i < m->rows; i++) {
		r->related[i] = i < r->ntasks ? r->tasks[i].name : "(unnamed)";
		snprintf(where, sizeof where, "relatedness.tasks[%lld]", (long long)i);
		if (names)
			KDRI_TRY(task_named(in, r, json_array_get(names, (size_t)i), where, &r->related[i]));
	}
done:
	return st;
}

/* --- the whole ------------------------------------------------------------------------------ */

static kdr_status read_objective(const reader *in, kdri_report *r)
{
	kdr_status st;
	json_t *list = NULL;
	KDRI_TRY(get_kind(in, r->root, "", "objective", JSON_ARRAY, &list));
	int64_t count = (int64_t)json_array_size(list);
	KDRI_TRY(KDRI_NEW(in->ctx, &r->objective, count));
	for (int64_t i = 0; i < count; i++) {
		const json_t *value = json_array_get(list, (size_t)i);
		if (!json_is_number(value)) {
			st = kdri_fail(in->ctx, KDR_ERR_FORMAT,
			               "%s: field objective[%lld] is %s; a number is needed", in->file,
			               (long long)i, type_name(value));
			goto done;
		}
		r->objective[i] = json_number_value(value);
	}
	r->nobjective = count;
	KDRI_TRY(get_number(in, r->fields, "method_fields", "objective_start", &r->objective_start));
done:
	return st;
}

static kdr_status read_warnings(const reader *in, kdri_report *r)
{
	kdr_status st;
	json_t *list = NULL;
	KDRI_TRY(get_kind(in, r->root, "", "warnings", JSON_ARRAY, &list));
	int64_t count = (int64_t)json_array_size(list);
	KDRI_TRY(KDRI_NEW0(in->ctx, &r->warnings, count));
	for (int64_t i = 0; i < count; i++) {
		const json_t *value = json_array_get(list, (size_t)i);
		if (!json_is_string(value)) {
			st = wrong(in, "warnings", "", value, "an array of texts");
			goto done;
		}
		r->warnings[i] = json_string_value(value);
	}
	r->nwarnings = count;
done:
	return st;
}

static kdr_status read_run(const reader *in, kdri_report *r)
{
	kdr_status st;
	json_t *seconds = NULL, *tasks = NULL;
	KDRI_TRY(get_text(in, r->root, "", "kindred", &r->version));
	KDRI_TRY(get_text(in, r->root, "", "command", &r->command));
	KDRI_TRY(get_text(in, r->root, "", "method", &r->method));
	KDRI_TRY(get_text(in, r->root, "", "stop", &r->stop));
	KDRI_TRY(get_count(in, r->root, "", "threads", &r->threads));
	KDRI_TRY(get_count(in, r->root, "", "iterations", &r->iterations));
	KDRI_TRY(get_count(in, r->root, "", "peak_rss_bytes", &r->peak_bytes));
	KDRI_TRY(get_kind(in, r->root, "", "options", JSON_OBJECT, &r->options));
	KDRI_TRY(get_kind(in, r->root, "", "method_fields", JSON_OBJECT, &r->fields));
	r->algo = r->method ? kdr_algo_find(r->method) : NULL;

	const json_t *seed = member(r->root, "seed");
	if (json_is_integer(seed))
		snprintf(r->seed, sizeof r->seed, "%lld", (long long)json_integer_value(seed));
	else if (json_is_string(seed)) /* seeds beyond 2^63 do not fit JSON's usual integers */
		snprintf(r->seed, sizeof r->seed, "%.20s", json_string_value(seed));
	else if (seed) {
		st = wrong(in, "seed", "", seed, "a whole number");
		goto done;
	}
	KDRI_TRY(get_kind(in, r->root, "", "seconds", JSON_OBJECT, &seconds));
	for (int i = 0; i < KDRI_STAGES; i++)
		KDRI_TRY(get_number(in, seconds, "seconds", kdri_stage_names[i], &r->stage[i]));
	KDRI_TRY(get_number(in, seconds, "seconds", "total", &r->total));

	KDRI_TRY(get_kind(in, r->root, "", "tasks", JSON_ARRAY, &tasks));
	KDRI_TRY(KDRI_NEW0(in->ctx, &r->tasks, json_array_size(tasks)));
	r->ntasks = (int64_t)json_array_size(tasks);
	for (int64_t i = 0; i < r->ntasks; i++)
		KDRI_TRY(read_task(in, json_array_get(tasks, (size_t)i), i, &r->tasks[i]));
	KDRI_TRY(read_objective(in, r));
	KDRI_TRY(read_relatedness(in, r));
	KDRI_TRY(read_matches(in, r));
	KDRI_TRY(read_warnings(in, r));
done:
	return st;
}

kdr_status kdri_report_parse(kdr_context *ctx, const char *file, const char *json, size_t size,
                             kdri_report *r)
{
	reader in = { ctx, file };
	json_error_t error;
	r->root = json_loadb(json, size, JSON_REJECT_DUPLICATES, &error);
	if (!r->root) {
		switch (json_error_code(&error)) {
		case json_error_out_of_memory:
			return kdri_fail(ctx, KDR_ERR_MEMORY, "%s: no memory to parse %zu bytes", file, size);
		case json_error_premature_end_of_input:
			return kdri_fail(ctx, KDR_ERR_FORMAT,
			                 "%s: line %d: the JSON ends too early: truncated?", file,
			                 error.line);
		default:
			return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: line %d, column %d: not valid JSON: %s",
			                 file, error.line, error.column, error.text);
		}
	}
	if (!json_is_object(r->root) ||
	    (!member(r->root, "kindred") && !member(r->root, "method") && !member(r->root, "tasks")))
		return kdri_fail(
		        ctx, KDR_ERR_FORMAT,
		        "%s: not a result of kindred: an object with kindred, method or tasks is needed",
		        file);
	return read_run(&in, r);
}

void kdri_report_clear(kdr_context *ctx, kdri_report *r)
{
	for (int64_t i = 0; r->tasks && i < r->ntasks; i++)
		kdri_free(ctx, r->tasks[i].groups);
	kdri_free(ctx, r->tasks);
	kdri_free(ctx, r->objective);
	kdri_free(ctx, r->relatedness.value);
	kdri_free(ctx, r->related);
	for (int64_t i = 0; r->matches && i < r->nmatches; i++)
		kdri_free(ctx, r->matches[i].value);
	kdri_free(ctx, r->matches);
	kdri_free(ctx, r->warnings);
	json_decref(r->root);
	*r = (kdri_report){ 0 };
}
