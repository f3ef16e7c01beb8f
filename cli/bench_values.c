/* Reads values of a plan; errors name their place. SPDX-License-Identifier: BSD-3-Clause */
#include "bench.h"
#include "core/json_read.h"
#include "core/system.h"
#include "core/words.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

char *bench_read_text(const char *path, size_t *size)
{
	enum { STEP = 1 << 17, MOST = 1 << 26 };
	FILE *file = kdri_fopen(path);
	char *text = NULL;
	size_t used = 0;
	int wrong = 0;
	if (!file)
		return NULL;
	do {
		char *grown = realloc(text, used + STEP + 1);
		text = grown ? grown : text;
		used += grown ? fread(grown + used, 1, STEP, file) : 0;
		wrong = !grown ? ENOMEM : ferror(file) ? errno : used > MOST ? EFBIG : 0;
	} while (!wrong && !feof(file));
	fclose(file);
	if (wrong || !text) {
		free(text);
		errno = wrong;
		return NULL;
	}
	text[used] = '\0';
	*size = used;
	return text;
}

bool plan_wrong(plan_place *p, const char *format, ...)
{
	char text[400];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (p->code == EXIT_DONE)
		cli_error("%s: %s%s%s", p->file, p->where, p->where[0] ? ": " : "", text);
	p->code = EXIT_DATA;
	return false;
}

bool plan_no_memory(plan_place *p)
{
	if (p->code == EXIT_DONE)
		cli_error("out of memory");
	p->code = EXIT_OTHER;
	return false;
}

char *plan_copy(plan_place *p, const char *text)
{
	char *out = strdup(text);
	if (!out)
		plan_no_memory(p);
	return out;
}

void *plan_many(plan_place *p, size_t count, size_t size)
{
	void *out = calloc(count ? count : 1, size);
	if (!out)
		plan_no_memory(p);
	return out;
}

int64_t plan_list_count(const kdri_json_value *value)
{
	return kdri_json_is(value, KDRI_JSON_ARRAY) ? kdri_json_count(value) : 0;
}

bool plan_check_keys(plan_place *p, const kdri_json_value *object, const char *const *known)
{
	if (!kdri_json_is(object, KDRI_JSON_OBJECT))
		return plan_wrong(p, "this must be an object, {...}");
	for (int64_t i = 0; i < kdri_json_count(object); i++) {
		const char *key = kdri_json_key(kdri_json_at(object, i));
		const char *nearest[1];
		size_t n = 0;
		bool found = false;
		for (; known[n]; n++)
			found |= strcmp(known[n], key) == 0;
		if (!found)
			return kdr_suggest(key, known, n, nearest, 1)
			               ? plan_wrong(p, "unknown key '%s'; did you mean '%s'?", key,
			                            nearest[0])
			               : plan_wrong(p, "unknown key '%s'", key);
	}
	return true;
}

char *plan_text(plan_place *p, const kdri_json_value *object, const char *key, bool needed)
{
	const kdri_json_value *value = kdri_json_get(object, key);
	if (!value && !needed)
		return NULL;
	if (!kdri_json_is(value, KDRI_JSON_TEXT)) {
		plan_wrong(p, "'%s' must be a string", key);
		return NULL;
	}
	return plan_copy(p, kdri_json_text(value, NULL));
}

double plan_number(plan_place *p, const kdri_json_value *object, const char *key, double low, double high,
                   double otherwise)
{
	const kdri_json_value *value = kdri_json_get(object, key);
	if (!value)
		return otherwise;
	double x = kdri_json_number(value, 0);
	if (!kdri_json_is_number(value) || !(x >= low && x <= high))
		plan_wrong(p, "'%s' must be a number from %g to %g", key, low, high);
	return x;
}

int plan_choice(plan_place *p, const kdri_json_value *object, const char *key, const char *const *choices,
                int otherwise)
{
	const kdri_json_value *value = kdri_json_get(object, key);
	char all[200] = "";
	if (!value)
		return otherwise;
	for (int i = 0; choices[i]; i++) {
		if (kdri_json_is(value, KDRI_JSON_TEXT) &&
		    strcmp(kdri_json_text(value, NULL), choices[i]) == 0)
			return i;
		kdri_list_add(all, sizeof all, "%s", choices[i]);
	}
	plan_wrong(p, "'%s' must be one of %s", key, all);
	return otherwise;
}

/* Numbers, one for each task, separated by commas. */
static char *list_text(plan_place *p, const kdri_json_value *list)
{
	enum { WIDE = 32 }; /* of a number and its comma */
	size_t count = (size_t)plan_list_count(list), used = 0, room = count * WIDE + 1;
	char *text = plan_many(p, room, 1);
	for (size_t i = 0; text && i < count; i++) {
		const kdri_json_value *item = kdri_json_at(list, (int64_t)i);
		if (!kdri_json_is_number(item)) {
			plan_wrong(p, "a list of option values must have numbers only");
			free(text);
			return NULL;
		}
		used += (size_t)snprintf(text + used, room - used, "%s%.15g", i ? "," : "",
		                         kdri_json_number(item, 0));
	}
	return text;
}

/* An option's value as text, as --set takes it. */
char *plan_value(plan_place *p, const kdri_json_value *value)
{
	char text[64];
	if (kdri_json_is(value, KDRI_JSON_TEXT))
		return plan_copy(p, kdri_json_text(value, NULL));
	if (kdri_json_is_bool(value))
		return plan_copy(p, kdri_json_is(value, KDRI_JSON_TRUE) ? "true" : "false");
	if (kdri_json_is(value, KDRI_JSON_INTEGER))
		snprintf(text, sizeof text, "%lld", (long long)kdri_json_integer(value, 0));
	else if (kdri_json_is(value, KDRI_JSON_REAL))
		snprintf(text, sizeof text, "%.15g", kdri_json_number(value, 0));
	else {
		plan_wrong(p, "an option value must be a number, a string, true or false");
		return NULL;
	}
	return plan_copy(p, text);
}

/* The same, or a number for each task. */
char *plan_option(plan_place *p, const kdri_json_value *value)
{
	return plan_list_count(value) > 0 ? list_text(p, value) : plan_value(p, value);
}
