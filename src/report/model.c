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

static const char *type_name(const kdr_json *value)
{
	static const char *const names[] = { "absent",   "null",   "false",    "true",     "a whole number",
		                             "a number", "a text", "an array", "an object" };
	return names[kdr_json_typeof(value)];
}

static kdr_status wrong(const reader *in, const char *where, const char *key, const kdr_json *found,
                        const char *allowed)
{
	return kdri_fail(in->ctx, KDR_ERR_FORMAT, "%s: field %s%s%s is %s; %s is needed", in->file, where,
	                 *where && *key ? "." : "", key, type_name(found), allowed);
}

/* The member `key`, or NULL where it is missing or null. */
static const kdr_json *member(const kdr_json *object, const char *key)
{
	const kdr_json *value = kdr_json_get(object, key);
	return kdr_json_is(value, KDR_JSON_NULL) ? NULL : value;
}

static kdr_status get_text(const reader *in, const kdr_json *object, const char *where, const char *key,
                           const char **out)
{
	const kdr_json *value = member(object, key);
	if (value && !kdr_json_is(value, KDR_JSON_TEXT))
		return wrong(in, where, key, value, "a text");
	*out = kdr_json_text(value, NULL);
	return KDR_OK;
}

static kdr_status get_kind(const reader *in, const kdr_json *object, const char *where, const char *key,
                           kdr_json_type kind, const kdr_json **out)
{
	const kdr_json *value = member(object, key);
	if (value && kdr_json_typeof(value) != kind)
		return wrong(in, where, key, value, kind == KDR_JSON_ARRAY ? "an array" : "an object");
	*out = value;
	return KDR_OK;
}

static kdr_status get_number(const reader *in, const kdr_json *object, const char *where, const char *key,
                             double *out)
{
	const kdr_json *value = member(object, key);
	if (value && !kdr_json_is_number(value))
		return wrong(in, where, key, value, "a number");
	*out = kdr_json_number(value, NAN);
	return KDR_OK;
}

/* A whole number that is not negative, also where it is written as 3.0; false for all else. */
static bool count_of(const kdr_json *value, int64_t *out)
{
	double real = kdr_json_number(value, 0);
	if (!kdr_json_is_number(value) || !(real >= 0 && real < 9e18) || real != floor(real))
		return false;
	*out = kdr_json_is(value, KDR_JSON_INTEGER) ? kdr_json_integer(value, 0) : (int64_t)real;
	return true;
}

static kdr_status get_count(const reader *in, const kdr_json *object, const char *where, const char *key,
                            int64_t *out)
{
	const kdr_json *value = member(object, key);
	int64_t count = -1;
	if (value && !count_of(value, &count))
		return kdri_fail(in->ctx, KDR_ERR_FORMAT, "%s: field %s%s%s is not a whole number from 0",
		                 in->file, where, *where ? "." : "", key);
	*out = count;
	return KDR_OK;
}

/* --- tasks ---------------------------------------------------------------------------------- */

static kdr_status read_sizes(const reader *in, const kdr_json *sizes, const char *where, kdri_report_task *t)
{
	kdr_status st;
	int64_t count = kdr_json_count(sizes);
	KDRI_TRY(KDRI_NEW0(in->ctx, &t->groups, count));
	t->ngroups = count;
	for (int64_t i = 0; i < count; i++) {
		t->groups[i].number = i;
		if (!count_of(kdr_json_at(sizes, i), &t->groups[i].count)) {
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
static kdr_status count_labels(const reader *in, const kdr_json *labels, const char *where,
                               kdri_report_task *t)
{
	kdr_status st;
	int64_t count = kdr_json_count(labels), runs = 0;
	bool names = kdr_json_is(kdr_json_at(labels, 0), KDR_JSON_TEXT);
	KDRI_TRY(KDRI_NEW0(in->ctx, &t->groups, count));
	for (int64_t i = 0; i < count; i++) {
		const kdr_json *value = kdr_json_at(labels, i);
		if (!(names ? kdr_json_is(value, KDR_JSON_TEXT) : kdr_json_is(value, KDR_JSON_INTEGER))) {
			st = kdri_fail(in->ctx, KDR_ERR_FORMAT,
			               "%s: field %s.labels[%lld] is %s; %s is needed", in->file, where,
			               (long long)i, type_name(value),
			               names ? "a text as before it" : "a whole number");
			goto done;
		}
		t->groups[i].name = kdr_json_text(value, NULL);
		t->groups[i].number = kdr_json_integer(value, 0);
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

static kdr_status check_metrics(const reader *in, const kdr_json *metrics, const char *where)
{
	for (int64_t i = 0; i < kdr_json_count(metrics); i++) {
		const kdr_json *value = kdr_json_at(metrics, i);
		if (kdr_json_is(value, KDR_JSON_TEXT) || kdr_json_is_bool(value))
			return wrong(in, where, "metrics", value, "an object of numbers");
	}
	return KDR_OK;
}

static kdr_status read_task(const reader *in, const kdr_json *object, int64_t index, kdri_report_task *t)
{
	kdr_status st;
	char where[WHERE];
	const kdr_json *sizes = NULL, *labels = NULL;
	snprintf(where, sizeof where, "tasks[%lld]", (long long)index);
	if (!kdr_json_is(object, KDR_JSON_OBJECT))
		return wrong(in, where, "", object, "an object");
	KDRI_TRY(get_text(in, object, where, "name", &t->name));
	KDRI_TRY(get_text(in, object, where, "path", &t->path));
	KDRI_TRY(get_count(in, object, where, "n", &t->n));
	KDRI_TRY(get_count(in, object, where, "d", &t->d));
	KDRI_TRY(get_count(in, object, where, "nnz", &t->nnz));
	KDRI_TRY(get_count(in, object, where, "k", &t->k));
	KDRI_TRY(get_kind(in, object, where, "sizes", KDR_JSON_ARRAY, &sizes));
	KDRI_TRY(get_kind(in, object, where, "labels", KDR_JSON_ARRAY, &labels));
	KDRI_TRY(get_kind(in, object, where, "metrics", KDR_JSON_OBJECT, &t->metrics));
	KDRI_TRY(check_metrics(in, t->metrics, where));
	if (!t->name)
		t->name = "(unnamed)";
	/* Class names tell more than numbered sizes. */
	if (sizes && !kdr_json_is(kdr_json_at(labels, 0), KDR_JSON_TEXT))
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

static kdr_status read_matrix(const reader *in, const kdr_json *object, const char *where,
                              kdri_report_matrix *m)
{
	kdr_status st;
	const kdr_json *rows = NULL;
	int64_t count;
	KDRI_TRY(get_kind(in, object, where, "matrix", KDR_JSON_ARRAY, &rows));
	m->rows = kdr_json_count(rows);
	m->cols = kdr_json_count(kdr_json_at(rows, 0));
	KDRI_TRY(kdri_mul(in->ctx, m->rows, m->cols, &count));
	KDRI_TRY(KDRI_NEW0(in->ctx, &m->value, count));
	for (int64_t i = 0; i < m->rows; i++) {
		const kdr_json *row = kdr_json_at(rows, i);
		if (!kdr_json_is(row, KDR_JSON_ARRAY) || kdr_json_count(row) != m->cols) {
			st = kdri_fail(
			        in->ctx, KDR_ERR_FORMAT,
			        "%s: field %s.matrix[%lld] is not a row of %lld numbers as the first one",
			        in->file, where, (long long)i, (long long)m->cols);
			goto done;
		}
		for (int64_t j = 0; j < m->cols; j++) {
			const kdr_json *value = kdr_json_at(row, j);
			if (!kdr_json_is_number(value) && !kdr_json_is(value, KDR_JSON_NULL)) {
				st = kdri_fail(in->ctx, KDR_ERR_FORMAT,
				               "%s: field %s.matrix[%lld][%lld] is %s; a number is needed",
				               in->file, where, (long long)i, (long long)j, type_name(value));
				goto done;
			}
			m->value[i * m->cols + j] = kdr_json_number(value, NAN);
		}
	}
done:
	return st;
}

/* A task told by its name or by its number. */
static kdr_status task_named(const reader *in, const kdri_report *r, const kdr_json *value, const char *where,
                             const char **out)
{
	int64_t index;
	if (kdr_json_is(value, KDR_JSON_TEXT))
		*out = kdr_json_text(value, NULL);
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
	const kdr_json *list = NULL;
	char where[WHERE], end[WHERE + 8];
	KDRI_TRY(get_kind(in, r->root, "", "correspondence", KDR_JSON_ARRAY, &list));
	int64_t count = kdr_json_count(list);
	KDRI_TRY(KDRI_NEW0(in->ctx, &r->matches, count));
	r->nmatches = count;
	for (int64_t i = 0; i < count; i++) {
		const kdr_json *object = kdr_json_at(list, i);
		snprintf(where, sizeof where, "correspondence[%lld]", (long long)i);
		if (!kdr_json_is(object, KDR_JSON_OBJECT)) {
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
	const kdr_json *object = NULL, *names = NULL;
	kdri_report_matrix *m = &r->relatedness;
	char where[WHERE];
	KDRI_TRY(get_kind(in, r->root, "", "relatedness", KDR_JSON_OBJECT, &object));
	if (!object)
		goto done;
	KDRI_TRY(read_matrix(in, object, "relatedness", m));
	if (m->rows > 0 && m->rows != m->cols) {
		st = kdri_fail(in->ctx, KDR_ERR_FORMAT,
		               "%s: field relatedness.matrix is %lld x %lld; a square one is needed",
		               in->file, (long long)m->rows, (long long)m->cols);
		goto done;
	}
	KDRI_TRY(get_kind(in, object, "relatedness", "tasks", KDR_JSON_ARRAY, &names));
	if (names && kdr_json_count(names) != m->rows) {
		st = kdri_fail(in->ctx, KDR_ERR_FORMAT,
		               "%s: field relatedness.tasks has %lld names for a matrix of %lld rows",
		               in->file, (long long)kdr_json_count(names), (long long)m->rows);
		goto done;
	}
	KDRI_TRY(KDRI_NEW0(in->ctx, &r->related, m->rows));
	for (int64_t i = 0; i < m->rows; i++) {
		r->related[i] = i < r->ntasks ? r->tasks[i].name : "(unnamed)";
		snprintf(where, sizeof where, "relatedness.tasks[%lld]", (long long)i);
		if (names)
			KDRI_TRY(task_named(in, r, kdr_json_at(names, i), where, &r->related[i]));
	}
done:
	return st;
}

/* --- the whole ------------------------------------------------------------------------------ */

static kdr_status read_objective(const reader *in, kdri_report *r)
{
	kdr_status st;
	const kdr_json *list = NULL;
	KDRI_TRY(get_kind(in, r->root, "", "objective", KDR_JSON_ARRAY, &list));
	int64_t count = kdr_json_count(list);
	KDRI_TRY(KDRI_NEW(in->ctx, &r->objective, count));
	for (int64_t i = 0; i < count; i++) {
		const kdr_json *value = kdr_json_at(list, i);
		if (!kdr_json_is_number(value)) {
			st = kdri_fail(in->ctx, KDR_ERR_FORMAT,
			               "%s: field objective[%lld] is %s; a number is needed", in->file,
			               (long long)i, type_name(value));
			goto done;
		}
		r->objective[i] = kdr_json_number(value, 0);
	}
	r->nobjective = count;
	KDRI_TRY(get_number(in, r->fields, "method_fields", "objective_start", &r->objective_start));
done:
	return st;
}

static kdr_status read_warnings(const reader *in, kdri_report *r)
{
	kdr_status st;
	const kdr_json *list = NULL;
	KDRI_TRY(get_kind(in, r->root, "", "warnings", KDR_JSON_ARRAY, &list));
	int64_t count = kdr_json_count(list);
	KDRI_TRY(KDRI_NEW0(in->ctx, &r->warnings, count));
	for (int64_t i = 0; i < count; i++) {
		const kdr_json *value = kdr_json_at(list, i);
		if (!kdr_json_is(value, KDR_JSON_TEXT)) {
			st = wrong(in, "warnings", "", value, "an array of texts");
			goto done;
		}
		r->warnings[i] = kdr_json_text(value, NULL);
	}
	r->nwarnings = count;
done:
	return st;
}

static kdr_status read_run(const reader *in, kdri_report *r)
{
	kdr_status st;
	const kdr_json *seconds = NULL, *tasks = NULL;
	KDRI_TRY(get_text(in, r->root, "", "kindred", &r->version));
	KDRI_TRY(get_text(in, r->root, "", "command", &r->command));
	KDRI_TRY(get_text(in, r->root, "", "method", &r->method));
	KDRI_TRY(get_text(in, r->root, "", "stop", &r->stop));
	KDRI_TRY(get_count(in, r->root, "", "threads", &r->threads));
	KDRI_TRY(get_count(in, r->root, "", "iterations", &r->iterations));
	KDRI_TRY(get_count(in, r->root, "", "peak_rss_bytes", &r->peak_bytes));
	KDRI_TRY(get_kind(in, r->root, "", "options", KDR_JSON_OBJECT, &r->options));
	KDRI_TRY(get_kind(in, r->root, "", "method_fields", KDR_JSON_OBJECT, &r->fields));
	r->algo = r->method ? kdr_algo_find(r->method) : NULL;

	const kdr_json *seed = member(r->root, "seed");
	if (kdr_json_is(seed, KDR_JSON_INTEGER))
		snprintf(r->seed, sizeof r->seed, "%lld", (long long)kdr_json_integer(seed, 0));
	else if (kdr_json_is(seed, KDR_JSON_TEXT)) /* seeds beyond 2^63 do not fit JSON's usual integers */
		snprintf(r->seed, sizeof r->seed, "%.20s", kdr_json_text(seed, NULL));
	else if (seed) {
		st = wrong(in, "seed", "", seed, "a whole number");
		goto done;
	}
	KDRI_TRY(get_kind(in, r->root, "", "seconds", KDR_JSON_OBJECT, &seconds));
	for (int i = 0; i < KDRI_STAGES; i++)
		KDRI_TRY(get_number(in, seconds, "seconds", kdri_stage_names[i], &r->stage[i]));
	KDRI_TRY(get_number(in, seconds, "seconds", "total", &r->total));

	KDRI_TRY(get_kind(in, r->root, "", "tasks", KDR_JSON_ARRAY, &tasks));
	KDRI_TRY(KDRI_NEW0(in->ctx, &r->tasks, kdr_json_count(tasks)));
	r->ntasks = kdr_json_count(tasks);
	for (int64_t i = 0; i < r->ntasks; i++)
		KDRI_TRY(read_task(in, kdr_json_at(tasks, i), i, &r->tasks[i]));
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
	kdr_status st = kdr_json_parse(ctx, file, 1, json, size, &r->root);
	if (st != KDR_OK)
		return st;
	if (!kdr_json_is(r->root, KDR_JSON_OBJECT) ||
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
	kdr_json_free(r->root);
	*r = (kdri_report){ 0 };
}
