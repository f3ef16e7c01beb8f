/* The registry's information about a result's method. SPDX-License-Identifier: BSD-3-Clause */
#include "api/method.h"
#include "jobs/report/report.h"

enum { TEXT_MOST = 2000 };

static const kdr_algo *method_of(const kdri_json_value *root)
{
	const char *method = kdri_json_text(kdri_json_get(root, "method"), NULL),
	           *command = kdri_json_text(kdri_json_get(root, "command"), NULL);
	kdr_family family =
	        command && strcmp(command, "transfer") == 0 ? KDR_FAMILY_TRANSFER : KDR_FAMILY_CLUSTER;
	const kdr_algo *algo = method ? kdri_algo_find_in(family, method) : NULL;
	return method && !algo ? kdr_algo_find(method) : algo;
}

static bool is_default(const kdr_option_desc *d, const kdri_json_value *value)
{
	if (kdri_json_is(value, KDRI_JSON_TEXT))
		return d->type == KDR_OPTION_CHOICE &&
		       strcmp(d->choices[(int)d->initial], kdri_json_text(value, NULL)) == 0;
	if (kdri_json_is_bool(value))
		return kdri_json_is(value, KDRI_JSON_TRUE) == (d->initial != 0);
	return !kdri_json_is(value, KDRI_JSON_ARRAY) && kdri_json_number(value, 0) == d->initial;
}

static void put_default(kdri_json *j, const kdr_option_desc *d)
{
	char number[40];
	kdri_snprintf(number, sizeof number, "%.12g", d->initial);
	kdri_json_string(j, "default",
	                 d->automatic                   ? d->automatic
	                 : d->type == KDR_OPTION_CHOICE ? d->choices[(int)d->initial]
	                 : d->type == KDR_OPTION_BOOL   ? (d->initial != 0 ? "yes" : "no")
	                                                : number);
}

static void put_options(kdri_json *j, const kdr_algo *algo, const kdri_json_value *root)
{
	const kdri_json_value *given = kdri_json_get(root, "options");
	kdri_json_array(j, "options");
	for (const kdr_option_desc *d = algo->options; d && d->name; d++) {
		const kdri_json_value *value = kdri_json_get(given, d->name);
		kdri_json_object(j, NULL);
		kdri_json_string(j, "name", d->name);
		kdri_json_string(j, "help", d->help ? d->help : "");
		put_default(j, d);
		if (value && !is_default(d, value))
			kdri_json_bool(j, "changed", true);
		kdri_json_end_object(j);
	}
	kdri_json_end_array(j);
}

/* Words for the names in method_fields, the task's name left off: those of arrays are in the registry. */
static void put_meanings(kdri_json *j, const kdr_algo *algo, const kdri_json_value *root)
{
	const kdri_json_value *fields = kdri_json_get(root, "method_fields");
	kdri_json_object(j, "meanings");
	for (int64_t i = 0; i < kdri_json_count(fields); i++) {
		const char *name = kdri_json_key(kdri_json_at(fields, i)), *words = NULL;
		char stem[64];
		size_t n = strcspn(name, ".");
		if (n >= sizeof stem)
			continue;
		memcpy(stem, name, n);
		stem[n] = '\0';
		words = kdri_meaning(stem);
		for (const kdr_field_desc *f = algo ? algo->fields : NULL; !words && f && f->name; f++)
			if (strcmp(f->name, stem) == 0)
				words = f->help;
		if (words) /* a stem may occur once per task; all are the same */
			kdri_json_string(j, stem, words);
	}
	kdri_json_end_object(j);
}

void kdri_page_about(kdri_json *j, const kdri_json_value *root)
{
	const kdr_algo *algo = method_of(root);
	const int64_t most = j->characters;
	j->characters = TEXT_MOST;
	kdri_json_object(j, "about");
	kdri_json_string(j, "title", algo ? algo->title : "");
	if (algo) {
		kdri_json_string(j, "summary", algo->summary);
		put_options(j, algo, root);
		kdri_json_array(j, "references");
		for (const char *const *r = algo->references; r && *r; r++)
			kdri_json_string(j, NULL, *r);
		kdri_json_end_array(j);
	}
	put_meanings(j, algo, root);
	kdri_json_end_object(j);
	j->characters = most;
}
