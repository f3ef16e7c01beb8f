/* Whether a file is a result. SPDX-License-Identifier: BSD-3-Clause
 *
 * Every field may be missing or null: the page then omits it. A field of the wrong type means that the file is not a
 * result, and gives an error with the field, the value found and the values allowed. Optional fields (features,
 * advice, coordinates) are checked by the page itself, which omits them if they are invalid. */
#include "core/json_read.h"
#include "jobs/report/report.h"

#include <stdio.h>

typedef struct reader {
	kdr_context *ctx;
	const char *file;
} reader;

enum { WHERE = 96 };

static const char *type_name(const kdri_json_value *value)
{
	static const char *const names[] = { "absent",   "null",     "false",    "true",     "a whole number",
		                             "a number", "a string", "an array", "an object" };
	return names[kdri_json_typeof(value)];
}

static kdr_status check_wrong(const reader *in, const char *where, const char *key,
                              const kdri_json_value *found, const char *allowed)
{
	return kdri_fail(in->ctx, KDR_ERR_FORMAT, "%s: field %s%s%s is %s, but must be %s", in->file, where,
	                 *where && *key ? "." : "", key, type_name(found), allowed);
}

/* The member `key`, or NULL where it is missing or null. */
static const kdri_json_value *member(const kdri_json_value *object, const char *key)
{
	const kdri_json_value *value = kdri_json_get(object, key);
	return kdri_json_is(value, KDRI_JSON_NULL) ? NULL : value;
}

/* An integer that is not negative, also if it is written as 3.0. */
static bool is_count(const kdri_json_value *value)
{
	double real = kdri_json_number(value, -1);
	return kdri_json_is_number(value) && real >= 0 && real < 9e18 && real == floor(real);
}

/* --- fields of one type ------------------------------------------------------------------------------ */

typedef enum want { TEXT, NUMBER, COUNT, ARRAY, OBJECT } want;

typedef struct field {
	const char *key;
	want want;
} field;

static kdr_status check_field(const reader *in, const kdri_json_value *object, const char *where,
                              const field *f)
{
	static const char *const allowed[] = { "a string", "a number", "a whole number, 0 or larger",
		                               "an array", "an object" };
	const kdri_json_value *value = member(object, f->key);
	bool right = !value;
	switch (f->want) {
	case TEXT: right |= kdri_json_is(value, KDRI_JSON_TEXT); break;
	case NUMBER: right |= kdri_json_is_number(value); break;
	case COUNT: right |= is_count(value); break;
	case ARRAY: right |= kdri_json_is(value, KDRI_JSON_ARRAY); break;
	case OBJECT: right |= kdri_json_is(value, KDRI_JSON_OBJECT); break;
	}
	return right ? KDR_OK : check_wrong(in, where, f->key, value, allowed[f->want]);
}

static kdr_status check_fields(const reader *in, const kdri_json_value *object, const char *where,
                               const field *fields)
{
	kdr_status st = KDR_OK;
	for (const field *f = fields; f->key && st == KDR_OK; f++)
		st = check_field(in, object, where, f);
	return st;
}

/* --- tasks ---------------------------------------------------------------------------------------------- */

static kdr_status check_sizes(const reader *in, const kdri_json_value *sizes, const char *where)
{
	double whole = 0;
	for (int64_t i = 0; i < kdri_json_count(sizes); i++) {
		if (!is_count(kdri_json_at(sizes, i)))
			return kdri_fail(in->ctx, KDR_ERR_FORMAT,
			                 "%s: field %s.sizes[%lld] is not a whole number, 0 or larger",
			                 in->file, where, (long long)i);
		whole += kdri_json_number(kdri_json_at(sizes, i), 0);
	}
	return whole < 9e18 ? KDR_OK
	                    : kdri_fail(in->ctx, KDR_ERR_FORMAT, "%s: field %s.sizes: the sum is too large",
	                                in->file, where);
}

/* Labels are class names or numbers, all of one kind. */
static kdr_status check_labels(const reader *in, const kdri_json_value *labels, const char *where)
{
	bool names = kdri_json_is(kdri_json_at(labels, 0), KDRI_JSON_TEXT);
	for (int64_t i = 0; i < kdri_json_count(labels); i++) {
		const kdri_json_value *value = kdri_json_at(labels, i);
		if (!kdri_json_is(value, names ? KDRI_JSON_TEXT : KDRI_JSON_INTEGER))
			return kdri_fail(in->ctx, KDR_ERR_FORMAT,
			                 "%s: field %s.labels[%lld] is %s, but must be %s", in->file, where,
			                 (long long)i, type_name(value),
			                 names ? "a string like the labels before it" : "a whole number");
	}
	return KDR_OK;
}

static kdr_status check_task(const reader *in, const kdri_json_value *object, int64_t index)
{
	static const field fields[] = { { "name", TEXT },   { "path", TEXT },    { "n", COUNT },
		                        { "d", COUNT },     { "nnz", COUNT },    { "k", COUNT },
		                        { "sizes", ARRAY }, { "labels", ARRAY }, { "metrics", OBJECT },
		                        { NULL, TEXT } };
	char where[WHERE];
	snprintf(where, sizeof where, "tasks[%lld]", (long long)index);
	if (!kdri_json_is(object, KDRI_JSON_OBJECT))
		return check_wrong(in, where, "", object, "an object");
	KDRI_DO(check_fields(in, object, where, fields));
	KDRI_DO(check_sizes(in, member(object, "sizes"), where));
	KDRI_DO(check_labels(in, member(object, "labels"), where));
	const kdri_json_value *metrics = member(object, "metrics");
	for (int64_t i = 0; i < kdri_json_count(metrics); i++) {
		const kdri_json_value *value = kdri_json_at(metrics, i);
		if (kdri_json_is(value, KDRI_JSON_TEXT) || kdri_json_is_bool(value))
			return check_wrong(in, where, "metrics", value, "an object of numbers");
	}
	return KDR_OK;
}

/* --- between tasks ------------------------------------------------------------------------------------- */

static kdr_status check_matrix(const reader *in, const kdri_json_value *object, const char *where,
                               int64_t *rows, int64_t *cols)
{
	static const field matrix = { "matrix", ARRAY };
	kdr_status st = check_field(in, object, where, &matrix);
	const kdri_json_value *m = member(object, "matrix");
	*rows = kdri_json_count(m);
	*cols = kdri_json_count(kdri_json_at(m, 0));
	for (int64_t i = 0; st == KDR_OK && i < *rows; i++) {
		const kdri_json_value *row = kdri_json_at(m, i);
		if (!kdri_json_is(row, KDRI_JSON_ARRAY) || kdri_json_count(row) != *cols)
			return kdri_fail(
			        in->ctx, KDR_ERR_FORMAT,
			        "%s: field %s.matrix[%lld] is not a row of %lld numbers like the first one",
			        in->file, where, (long long)i, (long long)*cols);
		for (int64_t j = 0; j < *cols; j++) {
			const kdri_json_value *value = kdri_json_at(row, j);
			if (!kdri_json_is_number(value) && !kdri_json_is(value, KDRI_JSON_NULL))
				return kdri_fail(
				        in->ctx, KDR_ERR_FORMAT,
				        "%s: field %s.matrix[%lld][%lld] is %s, but must be a number",
				        in->file, where, (long long)i, (long long)j, type_name(value));
		}
	}
	return st;
}

/* A task given by its name or its number. */
static kdr_status check_named(const reader *in, const kdri_json_value *root, const kdri_json_value *value,
                              const char *where)
{
	if (!value || kdri_json_is(value, KDRI_JSON_TEXT) ||
	    (is_count(value) && kdri_json_number(value, 0) < (double)kdri_json_count(member(root, "tasks"))))
		return KDR_OK;
	return kdri_fail(in->ctx, KDR_ERR_FORMAT,
	                 "%s: field %s is neither the name nor the number of a data set", in->file, where);
}

static kdr_status check_matches(const reader *in, const kdri_json_value *root)
{
	const kdri_json_value *all = member(root, "correspondence");
	char where[WHERE], end[WHERE + 8];
	int64_t rows, cols;
	for (int64_t i = 0; i < kdri_json_count(all); i++) {
		const kdri_json_value *object = kdri_json_at(all, i);
		snprintf(where, sizeof where, "correspondence[%lld]", (long long)i);
		if (!kdri_json_is(object, KDRI_JSON_OBJECT))
			return check_wrong(in, where, "", object, "an object");
		snprintf(end, sizeof end, "%s.from", where);
		KDRI_DO(check_named(in, root, member(object, "from"), end));
		snprintf(end, sizeof end, "%s.to", where);
		KDRI_DO(check_named(in, root, member(object, "to"), end));
		KDRI_DO(check_matrix(in, object, where, &rows, &cols));
	}
	return KDR_OK;
}

static kdr_status check_relatedness(const reader *in, const kdri_json_value *root)
{
	static const field names = { "tasks", ARRAY };
	const kdri_json_value *object = member(root, "relatedness");
	int64_t rows, cols;
	if (!object)
		return KDR_OK;
	KDRI_DO(check_matrix(in, object, "relatedness", &rows, &cols));
	if (rows > 0 && rows != cols)
		return kdri_fail(in->ctx, KDR_ERR_FORMAT,
		                 "%s: field relatedness.matrix is %lld x %lld, but must be square", in->file,
		                 (long long)rows, (long long)cols);
	KDRI_DO(check_field(in, object, "relatedness", &names));
	const kdri_json_value *list = member(object, "tasks");
	if (list && kdri_json_count(list) != rows)
		return kdri_fail(in->ctx, KDR_ERR_FORMAT,
		                 "%s: field relatedness.tasks has %lld names for a matrix of %lld rows",
		                 in->file, (long long)kdri_json_count(list), (long long)rows);
	return KDR_OK;
}

/* --- entire files ------------------------------------------------------------------------------------------ */

static kdr_status check_lists(const reader *in, const kdri_json_value *root)
{
	const kdri_json_value *objective = member(root, "objective"), *warnings = member(root, "warnings"),
	                      *seed = member(root, "seed");
	for (int64_t i = 0; i < kdri_json_count(objective); i++)
		if (!kdri_json_is_number(kdri_json_at(objective, i)))
			return kdri_fail(in->ctx, KDR_ERR_FORMAT,
			                 "%s: field objective[%lld] is %s, but must be a number", in->file,
			                 (long long)i, type_name(kdri_json_at(objective, i)));
	for (int64_t i = 0; i < kdri_json_count(warnings); i++)
		if (!kdri_json_is(kdri_json_at(warnings, i), KDRI_JSON_TEXT))
			return check_wrong(in, "warnings", "", kdri_json_at(warnings, i),
			                   "an array of strings");
	/* seeds beyond 2^63 do not fit JSON's usual integers */
	if (seed && !kdri_json_is(seed, KDRI_JSON_INTEGER) && !kdri_json_is(seed, KDRI_JSON_TEXT))
		return check_wrong(in, "seed", "", seed, "a whole number");
	return KDR_OK;
}

kdr_status kdri_report_check(kdr_context *ctx, const char *file, const kdri_json_value *root)
{
	static const field top[] = { { "kindred", TEXT },
		                     { "command", TEXT },
		                     { "method", TEXT },
		                     { "stop", TEXT },
		                     { "threads", COUNT },
		                     { "iterations", COUNT },
		                     { "peak_rss_bytes", COUNT },
		                     { "options", OBJECT },
		                     { "method_fields", OBJECT },
		                     { "seconds", OBJECT },
		                     { "tasks", ARRAY },
		                     { "tables", ARRAY },
		                     { "objective", ARRAY },
		                     { "relatedness", OBJECT },
		                     { "correspondence", ARRAY },
		                     { "warnings", ARRAY },
		                     { NULL, TEXT } };
	static const field seconds[] = { { "read", NUMBER },  { "prepare", NUMBER }, { "fit", NUMBER },
		                         { "write", NUMBER }, { "total", NUMBER },   { NULL, TEXT } };
	static const field start[] = { { "objective_start", NUMBER }, { NULL, TEXT } };
	const reader in = { ctx, file };
	if (!kdri_json_is(root, KDRI_JSON_OBJECT) ||
	    (!member(root, "kindred") && !member(root, "method") && !member(root, "tasks")))
		return kdri_fail(
		        ctx, KDR_ERR_FORMAT,
		        "%s: not a result of kindred, which is an object with kindred, method or tasks",
		        file);
	KDRI_DO(check_fields(&in, root, "", top));
	KDRI_DO(check_fields(&in, member(root, "seconds"), "seconds", seconds));
	KDRI_DO(check_fields(&in, member(root, "method_fields"), "method_fields", start));
	const kdri_json_value *tasks = member(root, "tasks");
	for (int64_t i = 0; i < kdri_json_count(tasks); i++)
		KDRI_DO(check_task(&in, kdri_json_at(tasks, i), i));
	KDRI_DO(check_relatedness(&in, root));
	KDRI_DO(check_matches(&in, root));
	return check_lists(&in, root);
}
