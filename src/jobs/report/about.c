/* The registry's information about a result's method. SPDX-License-Identifier: BSD-3-Clause */
#include "api/method.h"
#include "core/json_read.h"
#include "jobs/report/report.h"

enum { MOST = 2000 };

static const kdr_algo *method_of(const kdri_json_value *root)
{
	const char *method = kdri_json_text(kdri_json_get(root, "method"), NULL),
	           *command = kdri_json_text(kdri_json_get(root, "command"), NULL);
	kdr_family family =
	        command && strcmp(command, "transfer") == 0 ? KDR_FAMILY_TRANSFER : KDR_FAMILY_CLUSTER;
	const kdr_algo *algo = method ? kdri_algo_find_in(family, method) : NULL;
	return method && !algo ? kdr_algo_find(method) : algo;
}

static void about_text(kdri_page *p, const char *key, const char *value, bool comma)
{
	kdri_page_raw(p, comma ? ",\"" : "\"");
	kdri_page_raw(p, key);
	kdri_page_raw(p, "\":");
	kdri_page_string(p, value ? value : "", MOST);
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

static void default_text(kdri_page *p, const kdr_option_desc *d)
{
	char number[40];
	kdri_snprintf(number, sizeof number, "%.12g", d->initial);
	about_text(p, "default",
	           d->automatic                   ? d->automatic
	           : d->type == KDR_OPTION_CHOICE ? d->choices[(int)d->initial]
	           : d->type == KDR_OPTION_BOOL   ? (d->initial != 0 ? "yes" : "no")
	                                          : number,
	           true);
}

static void options(kdri_page *p, const kdr_algo *algo, const kdri_json_value *root)
{
	const kdri_json_value *given = kdri_json_get(root, "options");
	kdri_page_raw(p, ",\"options\":[");
	for (const kdr_option_desc *d = algo->options; d && d->name; d++) {
		const kdri_json_value *value = kdri_json_get(given, d->name);
		kdri_page_raw(p, d == algo->options ? "{" : ",{");
		about_text(p, "name", d->name, false);
		about_text(p, "help", d->help, true);
		default_text(p, d);
		kdri_page_raw(p, value && !is_default(d, value) ? ",\"changed\":true}" : "}");
	}
	kdri_page_raw(p, "]");
}

/* Words for the names in method_fields, the task's name left off: those of arrays are in the registry. */
static void meanings(kdri_page *p, const kdr_algo *algo, const kdri_json_value *root)
{
	const kdri_json_value *fields = kdri_json_get(root, "method_fields");
	bool first = true;
	kdri_page_raw(p, ",\"meanings\":{");
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
		if (words) { /* a stem may occur once per task; all are the same */
			kdri_page_raw(p, first ? "" : ",");
			kdri_page_string(p, stem, MOST);
			kdri_page_raw(p, ":");
			kdri_page_string(p, words, MOST);
			first = false;
		}
	}
	kdri_page_raw(p, "}");
}

void kdri_page_about(kdri_page *p, const kdri_json_value *root)
{
	const kdr_algo *algo = method_of(root);
	kdri_page_raw(p, "\"about\":{");
	if (algo) {
		about_text(p, "title", algo->title, false);
		about_text(p, "summary", algo->summary, true);
		options(p, algo, root);
		kdri_page_raw(p, ",\"references\":[");
		for (const char *const *r = algo->references; r && *r; r++) {
			kdri_page_raw(p, r == algo->references ? "" : ",");
			kdri_page_string(p, *r, MOST);
		}
		kdri_page_raw(p, "]");
	} else {
		about_text(p, "title", "", false);
	}
	meanings(p, algo, root);
	kdri_page_raw(p, "}");
}
