/* kindred methods: the registry, as text and as JSON. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"
#include "core/words.h"

#include <math.h>
#include <string.h>

static const cli_option own_options[] = {
	CLI_FLAG("json", "print JSON"),
	CLI_OPTIONS_END,
};

static cli_option_group groups[] = {
	{ "Options", own_options },
	{ "Common", cli_common_options },
	{ NULL, NULL },
};

static const char *const families[] = { "cluster", "transfer", "features" };
static const char *const types[] = { "int", "real", "bool", "choice", "reals" };
static const struct {
	unsigned flag;
	const char *name, *words;
} capabilities[] = {
	{ KDR_ALGO_JOINT, "joint", "treats the data sets together" },
	{ KDR_ALGO_SAME_K, "same_k", "needs the same k for all data sets" },
	{ KDR_ALGO_POOLED, "pooled", "can pool the data sets (--pooled)" },
	{ KDR_ALGO_MONOTONE, "monotone", "the objective never increases" },
	{ KDR_ALGO_PREDICT, "predict", "labels new samples from a saved model" },
	{ KDR_ALGO_WEIGHTS, "weights", "supports sample weights" },
	{ KDR_ALGO_KNOWN, "known", "uses known classes and links of samples" },
	{ KDR_ALGO_NONNEG, "nonnegative", "needs values >= 0" },
	{ KDR_ALGO_AUTO_K, "auto_k", "can choose k (-k auto)" },
	{ KDR_ALGO_OWN_FEATURES, "own_features", "source and target may have different features" },
	{ KDR_ALGO_CLUSTERS_TARGET, "clusters_target", "finds clusters of the target, not classes" },
	{ KDR_ALGO_BRIDGE, "bridge", "uses one data set between source and target (--bridge)" },
	{ KDR_ALGO_BRIDGES, "bridges", "uses all data sets between source and target (--bridge)" },
};
enum { CAPABILITIES = sizeof capabilities / sizeof capabilities[0] };

static void json_default(kdri_json *j, const kdr_option_desc *o)
{
	switch (o->type) {
	case KDR_OPTION_INT: kdri_json_int(j, "default", (int64_t)o->initial); break;
	case KDR_OPTION_REAL:
	case KDR_OPTION_REALS: kdri_json_real(j, "default", o->initial); break;
	case KDR_OPTION_BOOL: kdri_json_bool(j, "default", o->initial != 0); break;
	case KDR_OPTION_CHOICE: kdri_json_string(j, "default", o->choices[(int)o->initial]); break;
	}
}

static void json_method(kdri_json *j, const kdr_algo *a)
{
	kdri_json_object(j, NULL);
	kdri_json_string(j, "id", a->id);
	kdri_json_string(j, "title", a->title);
	kdri_json_string(j, "summary", a->summary);
	kdri_json_string(j, "family", families[a->family]);
	kdri_json_array(j, "capabilities");
	for (int i = 0; i < CAPABILITIES; i++)
		if (a->flags & capabilities[i].flag)
			kdri_json_string(j, NULL, capabilities[i].name);
	kdri_json_end_array(j);
	kdri_json_array(j, "options");
	for (const kdr_option_desc *o = a->options; o->name; o++) {
		kdri_json_object(j, NULL);
		kdri_json_string(j, "name", o->name);
		kdri_json_string(j, "type", types[o->type]);
		json_default(j, o);
		if (o->automatic)
			kdri_json_string(j, "automatic", o->automatic);
		if (o->type != KDR_OPTION_BOOL && o->type != KDR_OPTION_CHOICE) {
			kdri_json_real(j, "min", o->min);
			kdri_json_real(j, "max", o->max);
			kdri_json_bool(j, "open_min", o->open_min);
			kdri_json_bool(j, "open_max", o->open_max);
		}
		if (o->choices) {
			kdri_json_array(j, "choices");
			for (int c = 0; o->choices[c]; c++)
				kdri_json_string(j, NULL, o->choices[c]);
			kdri_json_end_array(j);
		}
		if (o->symbol)
			kdri_json_string(j, "symbol", o->symbol);
		kdri_json_string(j, "help", o->help);
		kdri_json_end_object(j);
	}
	kdri_json_end_array(j);
	kdri_json_array(j, "arrays");
	for (const kdr_field_desc *f = a->fields; f->name; f++) {
		kdri_json_object(j, NULL);
		kdri_json_string(j, "name", f->name);
		kdri_json_string(j, "dtype", f->type == KDR_FLOAT64 ? "float64" : "int64");
		kdri_json_bool(j, "per_task", f->per_task);
		kdri_json_bool(j, "in_model", f->in_model);
		kdri_json_string(j, "shape", f->shape);
		kdri_json_string(j, "help", f->help);
		kdri_json_end_object(j);
	}
	kdri_json_end_array(j);
	kdri_json_array(j, "references");
	for (int i = 0; a->references[i]; i++)
		kdri_json_string(j, NULL, a->references[i]);
	kdri_json_end_array(j);
	kdri_json_end_object(j);
}

static void range_text(const kdr_option_desc *o, char *out, size_t room)
{
	if (o->type == KDR_OPTION_BOOL) {
		snprintf(out, room, "true or false");
	} else if (o->type == KDR_OPTION_CHOICE) {
		out[0] = '\0';
		for (int i = 0; o->choices[i]; i++)
			kdri_list_add(out, room, "%s", o->choices[i]);
	} else {
		snprintf(out, room, "%s %c%g, %g%c%s",
		         o->type == KDR_OPTION_INT ? "whole number in" : "number in", o->open_min ? '(' : '[',
		         o->min, o->max, o->open_max ? ')' : ']',
		         o->type == KDR_OPTION_REALS ? ", or one for each data set, separated by commas"
		                                     : "");
	}
}

static void print_method(const kdr_algo *a)
{
	printf("%s: %s\n%s\n\nfamily: %s", a->id, a->title, a->summary, families[a->family]);
	for (int i = 0; i < CAPABILITIES; i++)
		if (a->flags & capabilities[i].flag)
			printf("; %s", capabilities[i].words);
	printf("\n\nOptions (--set name=value):\n");
	for (const kdr_option_desc *o = a->options; o->name; o++) {
		char range[256], initial[64];
		range_text(o, range, sizeof range);
		if (o->automatic)
			snprintf(initial, sizeof initial, "%s", o->automatic);
		else if (o->type == KDR_OPTION_CHOICE)
			snprintf(initial, sizeof initial, "%s", o->choices[(int)o->initial]);
		else if (o->type == KDR_OPTION_BOOL)
			snprintf(initial, sizeof initial, "%s", o->initial != 0 ? "true" : "false");
		else
			snprintf(initial, sizeof initial, "%g", o->initial);
		printf("  %-12s %s\n  %-12s %s; default %s\n", o->name, o->help, "", range, initial);
	}
	printf("\nArrays (--arrays DIR):\n");
	for (const kdr_field_desc *f = a->fields; f->name; f++)
		printf("  %-12s %s, %s%s: %s\n", f->name, f->shape,
		       f->type == KDR_FLOAT64 ? "float64" : "int64", f->per_task ? ", one per data set" : "",
		       f->help);
	printf("\nReferences:\n");
	for (int i = 0; a->references[i]; i++)
		printf("  %s\n", a->references[i]);
}

static int methods_run(cli_args *args)
{
	const char *id = cli_positional(args, 0);
	const kdr_algo *one = id ? kdr_algo_find(id) : NULL;
	if (cli_positional_count(args) > 1)
		return cli_usage_error("methods takes at most one ID (got %d)", cli_positional_count(args));
	if (id && !one) {
		char text[256];
		kdri_unknown_method(id, NULL, text, sizeof text);
		return cli_usage_error("%s", text);
	}
	if (cli_flag(args, "json")) {
		kdri_json j = { 0 };
		if (one) {
			json_method(&j, one);
		} else {
			kdri_json_array(&j, NULL);
			for (size_t i = 0; i < kdr_algo_count(); i++)
				json_method(&j, kdr_algo_at(i));
			kdri_json_end_array(&j);
		}
		cli_print_json(&j);
	} else if (one) {
		print_method(one);
	} else {
		for (size_t i = 0; i < kdr_algo_count(); i++)
			printf("%-12s %-9s %s\n", kdr_algo_at(i)->id, families[kdr_algo_at(i)->family],
			       kdr_algo_at(i)->title);
		printf("\n'kindred methods ID' shows the options, arrays and references of a method.\n");
	}
	return cli_finish(EXIT_DONE);
}

static const char *method_id(int index)
{
	return (size_t)index < kdr_algo_count() ? kdr_algo_at((size_t)index)->id : NULL;
}

const cli_command cli_methods = {
	.name = "methods",
	.usage = "[--json] [ID]",
	.summary = "list the methods, or the options and references of one",
	.description =
	        "Lists all methods, one per line. With ID, shows the options of the method with defaults and allowed "
	        "values, the arrays that it computes, and its references.",
	.example = "kindred methods kmeans",
	.groups = groups,
	.argument = method_id,
	.run = methods_run,
};
