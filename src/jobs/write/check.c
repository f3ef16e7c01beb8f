/* Whether a file is a result. SPDX-License-Identifier: BSD-3-Clause
 *
 * Every field may be missing or null: readers then omit it. A field of the wrong type means that the file is not a
 * result, and gives an error with the field, the value found and the values allowed. Optional fields (features,
 * advice, coordinates) are checked by the page itself, which omits them if they are invalid. */
#include "core/internal.h"
#include "jobs/write/result_file.h"

#include <stdio.h>

typedef enum want { TEXT, NUMBER, COUNT, ARRAY, OBJECT, SEED, LABEL, ROW, CELL, DATA_SET } want;

/* The fields, and what they are. An array comes before its entries ("[]"), an object before its members ("*": all of them). */
static const struct field {
	const char *path;
	want want;
} schema[] = {
	{ "kindred", TEXT },
	{ "command", TEXT },
	{ "method", TEXT },
	{ "stop", TEXT },
	{ "seed", SEED },
	{ "threads", COUNT },
	{ "iterations", COUNT },
	{ "peak_rss_bytes", COUNT },
	{ "options", OBJECT },
	{ "method_fields", OBJECT },
	{ "method_fields.objective_start", NUMBER },
	{ "seconds", OBJECT },
	{ "seconds.read", NUMBER },
	{ "seconds.prepare", NUMBER },
	{ "seconds.fit", NUMBER },
	{ "seconds.write", NUMBER },
	{ "seconds.total", NUMBER },
	{ "tables", ARRAY },
	{ "objective", ARRAY },
	{ "objective[]", NUMBER },
	{ "warnings", ARRAY },
	{ "warnings[]", TEXT },
	{ "tasks", ARRAY },
	{ "tasks[]", OBJECT },
	{ "tasks[].name", TEXT },
	{ "tasks[].path", TEXT },
	{ "tasks[].n", COUNT },
	{ "tasks[].d", COUNT },
	{ "tasks[].nnz", COUNT },
	{ "tasks[].k", COUNT },
	{ "tasks[].sizes", ARRAY },
	{ "tasks[].sizes[]", COUNT },
	{ "tasks[].labels", ARRAY },
	{ "tasks[].labels[]", LABEL },
	{ "tasks[].metrics", OBJECT },
	{ "tasks[].metrics.*", NUMBER },
	{ "relatedness", OBJECT },
	{ "relatedness.tasks", ARRAY },
	{ "relatedness.matrix", ARRAY },
	{ "relatedness.matrix[]", ROW },
	{ "relatedness.matrix[][]", CELL },
	{ "correspondence", ARRAY },
	{ "correspondence[]", OBJECT },
	{ "correspondence[].from", DATA_SET },
	{ "correspondence[].to", DATA_SET },
	{ "correspondence[].matrix", ARRAY },
	{ "correspondence[].matrix[]", ROW },
	{ "correspondence[].matrix[][]", CELL },
};

typedef struct reader {
	kdr_context *ctx;
	const char *file;
	const kdri_json_value *root;
	const struct field *field;
} reader;

/* A value on the way to a field. */
typedef struct step {
	const struct step *before; /* NULL: the root */
	const kdri_json_value *value;
	int64_t index; /* in an array; -1: a member of an object */
} step;

/* The path of a value, such as "tasks[0].n". */
static size_t put_path(const step *at, char *out, size_t room)
{
	if (!at->before) {
		out[0] = '\0';
		return 0;
	}
	const size_t used = put_path(at->before, out, room);
	const int more = at->index >= 0
	                         ? kdri_snprintf(out + used, room - used, "[%lld]", (long long)at->index)
	                         : kdri_snprintf(out + used, room - used, "%s%.60s", used ? "." : "",
	                                         kdri_json_key(at->value));
	return KDRI_MIN(used + (size_t)more, room - 1);
}

/* An integer that is not negative, also if it is written as 3.0. */
static bool is_count(const kdri_json_value *value)
{
	double real = kdri_json_number(value, -1);
	return kdri_json_is_number(value) && real >= 0 && real < 9e18 && real == floor(real);
}

/* NULL if a value is what it should be, else what it must be. */
static const char *check_value(const reader *in, const step *at)
{
	const kdri_json_value *v = at->value;
	const kdri_json_type type = kdri_json_typeof(v);
	const kdri_json_value *first = at->before ? kdri_json_at(at->before->value, 0) : NULL;
	const bool names = at->index >= 0 && kdri_json_is(first, KDRI_JSON_TEXT);
	switch (in->field->want) {
	case TEXT: return type == KDRI_JSON_TEXT ? NULL : "a string";
	case NUMBER: return kdri_json_is_number(v) ? NULL : "a number";
	case COUNT: return is_count(v) ? NULL : "a whole number, 0 or larger";
	case ARRAY: return type == KDRI_JSON_ARRAY ? NULL : "an array";
	case OBJECT: return type == KDRI_JSON_OBJECT ? NULL : "an object";
	/* seeds beyond 2^63 do not fit JSON's usual integers */
	case SEED: return type == KDRI_JSON_INTEGER || type == KDRI_JSON_TEXT ? NULL : "a whole number";
	/* class names or numbers, all of one kind */
	case LABEL:
		return type == (names ? KDRI_JSON_TEXT : KDRI_JSON_INTEGER) ? NULL
		       : names ? "a string like the labels before it"
		               : "a whole number";
	case ROW:
		return type == KDRI_JSON_ARRAY && kdri_json_count(v) == kdri_json_count(first)
		               ? NULL
		               : "an array as long as the first one";
	case CELL: return kdri_json_is_number(v) || type == KDRI_JSON_NULL ? NULL : "a number";
	case DATA_SET:
		return type == KDRI_JSON_TEXT ||
		                       (is_count(v) &&
		                        kdri_json_number(v, 0) <
		                                (double)kdri_json_count(kdri_json_get(in->root, "tasks")))
		               ? NULL
		               : "the name or the number of a data set of the result";
	}
	return NULL;
}

/* Checks all values at the rest of a path. */
static kdr_status check_path(const reader *in, const char *path, const step *at)
{
	static const char *const types[] = { "absent",   "null",     "false",    "true",     "a whole number",
		                             "a number", "a string", "an array", "an object" };
	const int64_t count = kdri_json_count(at->value);
	if (*path == '\0') {
		char where[200];
		const char *wanted = check_value(in, at);
		if (!wanted)
			return KDR_OK;
		put_path(at, where, sizeof where);
		return kdri_fail(in->ctx, KDR_ERR_FORMAT, "%s: field %s is %s, but must be %s", in->file,
		                 where, types[kdri_json_typeof(at->value)], wanted);
	}
	const bool list = *path == '[';
	path += *path == '.';
	const size_t name = list ? 2 : strcspn(path, ".[");
	for (int64_t i = 0; i < count; i++) {
		const step next = { at, kdri_json_at(at->value, i), list ? i : -1 };
		const char *key = kdri_json_key(next.value);
		if (list || (!kdri_json_is(next.value, KDRI_JSON_NULL) &&
		             (*path == '*' || (strlen(key) == name && memcmp(key, path, name) == 0))))
			KDRI_DO(check_path(in, path + name, &next));
	}
	return KDR_OK;
}

/* --- what several values must be together ---------------------------------------------------------------- */

static kdr_status check_together(const reader *in)
{
	const kdri_json_value *tasks = kdri_json_get(in->root, "tasks"),
	                      *related = kdri_json_get(in->root, "relatedness"),
	                      *matrix = kdri_json_get(related, "matrix"),
	                      *names = kdri_json_get(related, "tasks");
	const int64_t rows = kdri_json_count(matrix), cols = kdri_json_count(kdri_json_at(matrix, 0));
	for (int64_t t = 0; t < kdri_json_count(tasks); t++) {
		const kdri_json_value *sizes = kdri_json_get(kdri_json_at(tasks, t), "sizes");
		double sum = 0;
		for (int64_t i = 0; i < kdri_json_count(sizes); i++)
			sum += kdri_json_number(kdri_json_at(sizes, i), 0);
		if (sum >= 9e18)
			return kdri_fail(in->ctx, KDR_ERR_FORMAT,
			                 "%s: field tasks[%lld].sizes: the sum is too large", in->file,
			                 (long long)t);
	}
	if (rows > 0 && rows != cols)
		return kdri_fail(in->ctx, KDR_ERR_FORMAT,
		                 "%s: field relatedness.matrix is %lld x %lld, but must be square", in->file,
		                 (long long)rows, (long long)cols);
	if (kdri_json_is(names, KDRI_JSON_ARRAY) && kdri_json_count(names) != rows)
		return kdri_fail(in->ctx, KDR_ERR_FORMAT,
		                 "%s: field relatedness.tasks has %lld names for a matrix of %lld rows",
		                 in->file, (long long)kdri_json_count(names), (long long)rows);
	return KDR_OK;
}

kdr_status kdri_result_file_check(kdr_context *ctx, const char *file, const kdri_json_value *root)
{
	static const char *const some[] = { "kindred", "method", "tasks" };
	reader in = { .ctx = ctx, .file = file, .root = root };
	bool known = false;
	for (int i = 0; i < 3; i++) {
		const kdri_json_value *value = kdri_json_get(root, some[i]);
		known = known || (value && !kdri_json_is(value, KDRI_JSON_NULL));
	}
	if (!known)
		return kdri_fail(
		        ctx, KDR_ERR_FORMAT,
		        "%s: not a result of kindred, which is an object with kindred, method or tasks",
		        file);
	for (size_t f = 0; f < sizeof schema / sizeof *schema; f++) {
		in.field = &schema[f];
		KDRI_DO(check_path(&in, schema[f].path, &(step){ .value = root, .index = -1 }));
	}
	return check_together(&in);
}
