/* kindred methods: the registry, as text and as JSON; and kindred cite: how to cite the program and a method.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"
#include "core/words.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

static const cli_option own_options[] = {
	CLI_FLAG("json", "print JSON"),
	CLI_FLAG("markdown", "with ID: print the page of the method in docs/methods"),
	CLI_OPTIONS_END,
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
	{ KDR_ALGO_KNOWN, "known", "uses known classes of samples" },
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
	kdri_json_string(j, "objective", a->objective);
	kdri_json_string(j, "steps", a->steps);
	kdri_json_string(j, "use", a->use);
	kdri_json_string(j, "cost", a->cost);
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

static void default_text(const kdr_option_desc *o, char *out, size_t room)
{
	if (o->automatic)
		snprintf(out, room, "%s", o->automatic);
	else if (o->type == KDR_OPTION_CHOICE)
		snprintf(out, room, "%s", o->choices[(int)o->initial]);
	else if (o->type == KDR_OPTION_BOOL)
		snprintf(out, room, "%s", o->initial != 0 ? "true" : "false");
	else
		snprintf(out, room, "%g", o->initial);
}

/* Lines of text, indented by two; a line that is too long continues below the text after its symbol. */
static void print_lines(const char *title, const char *text)
{
	printf("\n%s:\n", title);
	while (*text) {
		const size_t n = strcspn(text, "\n");
		char line[512];
		snprintf(line, sizeof line, "%.*s", (int)n, text);
		const size_t symbol = strcspn(line, " "), gap = strspn(line + symbol, " ");
		const bool listed =
		        gap > 1 || (symbol < 7 && symbol + gap == 7) || line[symbol - (symbol > 0)] == '.';
		const int indent = listed && symbol + gap < n ? (int)(symbol + gap) : 0;
		printf("  %.*s", indent, line);
		cli_wrapped(stdout, line + indent, 2 + indent, 2 + indent);
		text += n + (text[n] == '\n');
	}
}

static void print_method(const kdr_algo *a)
{
	printf("%s: %s\n%s\n\nfamily: %s", a->id, a->title, a->summary, families[a->family]);
	for (int i = 0; i < CAPABILITIES; i++)
		if (a->flags & capabilities[i].flag)
			printf("; %s", capabilities[i].words);
	printf("\n");
	print_lines("Objective", a->objective);
	print_lines("Steps", a->steps);
	print_lines("When to use it", a->use);
	print_lines("Cost", a->cost);
	printf("\nOptions (--set name=value):\n");
	for (const kdr_option_desc *o = a->options; o->name; o++) {
		char range[256], initial[64];
		range_text(o, range, sizeof range);
		default_text(o, initial, sizeof initial);
		printf("  %-12s %s\n  %-12s %s; default %s\n", o->name, o->help, "", range, initial);
	}
	printf("\nArrays (--arrays DIR):\n");
	for (const kdr_field_desc *f = a->fields; f->name; f++)
		printf("  %-12s %s, %s%s: %s\n", f->name, f->shape,
		       f->type == KDR_FLOAT64 ? "float64" : "int64", f->per_task ? ", one per data set" : "",
		       f->help);
	printf("\nReferences ('kindred cite %s' prints BibTeX):\n", a->id);
	for (int i = 0; a->references[i]; i++)
		printf("  %s\n", a->references[i]);
}

/* A cell of a table: no line may end it, and no character start another cell. */
static void print_cell(const char *text)
{
	printf("| ");
	for (; *text; text++)
		printf(*text == '|' || *text == '<' ? "\\%c" : "%c", *text);
	printf(" ");
}

static void print_markdown(const kdr_algo *a)
{
	printf("<!-- Written by tools/method_pages.py from the registry. -->\n# %s: %s\n\n", a->id, a->title);
	if (a->family == KDR_FAMILY_FEATURES)
		printf("`--features-from %s`", a->id);
	else
		printf("`kindred %s -m %s`", families[a->family], a->called ? a->called : a->id);
	printf(": %s.\n\n## When to use it\n\n%s\n\n## Objective\n\n```\n%s\n```\n\n## Steps\n\n```\n%s\n```\n\n## Cost\n\n%s\n\n## Options\n\n",
	       a->summary, a->use, a->objective, a->steps, a->cost);
	printf("Set them with `--set name=value`.\n\n| option | meaning | values | default |\n|---|---|---|---|\n");
	for (const kdr_option_desc *o = a->options; o->name; o++) {
		char range[256], initial[64];
		range_text(o, range, sizeof range);
		default_text(o, initial, sizeof initial);
		printf("| `%s` ", o->name);
		print_cell(o->help);
		print_cell(range);
		print_cell(initial);
		printf("|\n");
	}
	printf("\n## Arrays\n\n`--arrays DIR` writes them.\n\n| array | shape | contents |\n|---|---|---|\n");
	for (const kdr_field_desc *f = a->fields; f->name; f++) {
		printf("| `%s` | %s%s ", f->name, f->shape, f->per_task ? ", one per data set" : "");
		print_cell(f->help);
		printf("|\n");
	}
	printf("\n## References\n\n```\n");
	for (int i = 0; a->references[i]; i++)
		printf("%s\n", a->references[i]);
	printf("```\n\n`kindred cite %s` prints them as BibTeX.\n", a->id);
}

static void print_all(void)
{
	static const struct {
		kdr_place place;
		const char *title;
	} places[] = { { KDR_PLACE_START, "Start here" },
		       { KDR_PLACE_PAPER, "Methods of papers on related data sets" },
		       { KDR_PLACE_BASELINE, "Baselines and parts of the ensembles" } };
	for (int p = 0; p < 3; p++) {
		printf("%s%s:\n", p ? "\n" : "", places[p].title);
		for (size_t i = 0; i < kdr_algo_count(); i++)
			if (kdr_algo_at(i)->place == places[p].place)
				printf("  %-14s %-9s %s\n", kdr_algo_at(i)->id,
				       families[kdr_algo_at(i)->family], kdr_algo_at(i)->title);
	}
	printf("\n'kindred methods ID' shows the objective, steps, options, arrays and references of a method.\n");
}

/* The method that the command's argument names; NULL: there is none. */
static const kdr_algo *method_of(const cli_args *args, const char *what)
{
	const char *id = cli_positional(args, 0);
	const kdr_algo *one = id ? kdr_algo_find(id) : NULL;
	char text[256];
	if (cli_positional_count(args) > 1)
		cli_usage_error("%s takes at most one %s (got %d)", cli_args_command(args)->name, what,
		                cli_positional_count(args));
	if (id && !one) {
		kdri_unknown_method(id, NULL, text, sizeof text);
		cli_usage_error("%s", text);
	}
	return one;
}

static void methods_run(cli_run *run)
{
	const cli_args *args = run->args;
	const kdr_algo *one = method_of(args, "ID");
	const bool markdown = cli_flag(args, "markdown");
	if (markdown && !one)
		cli_usage_error("--markdown needs the ID of a method; 'kindred methods' lists them");
	if (markdown && cli_flag(args, "json"))
		cli_usage_error("use --json or --markdown, not both");
	if (markdown) {
		print_markdown(one);
	} else if (cli_flag(args, "json")) {
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
		print_all();
	}
}

static const char *method_id(int index)
{
	return (size_t)index < kdr_algo_count() ? kdr_algo_at((size_t)index)->id : NULL;
}

cli_command cli_methods = {
	.name = "methods",
	.usage = "[--json | --markdown] [ID]",
	.summary = "list the methods, or show the objective and options of one",
	.description =
	        "Lists all methods, one per line. With ID, shows what the method minimises, its steps, its options with "
	        "defaults and allowed values, the arrays that it computes, and its references.",
	.example = "kindred methods kmeans",
	.groups = { { "Options", own_options }, CLI_COMMON },
	.argument = method_id,
	.run = methods_run,
};

/* --- cite ----------------------------------------------------------------------------------------- */

/* The title is that of CITATION.cff. */
static void cite_software(void)
{
	printf("@software{kindred,\n"
	       "  author = {{The kindred authors}},\n"
	       "  title = {{kindred: clustering related data sets together, and transferring labels between them}},\n"
	       "  version = {%s},\n"
	       "  license = {BSD-3-Clause},\n}\n",
	       kdr_version());
}

/* The last year in a text, NULL if it has none. */
static const char *year_in(const char *text)
{
	const char *found = NULL;
	for (const char *p = text; *p; p++) {
		const bool start =
		        (p == text || !isdigit((unsigned char)p[-1])) &&
		        (strncmp(p, "18", 2) == 0 || strncmp(p, "19", 2) == 0 || strncmp(p, "20", 2) == 0);
		if (start && strspn(p, "0123456789") == 4)
			found = p;
	}
	return found;
}

/* "A. Author, B. Author: Title. Where, year. [KEY]" as an entry. */
static void cite_reference(const char *text)
{
	const char *title = strstr(text, ": "), *where = title ? strstr(title, ". ") : NULL;
	const char *year = where ? year_in(where) : NULL;
	const size_t names = title ? (size_t)(title - text) : 0;
	if (!year) {
		printf("\n@misc{reference,\n  note = {%s},\n}\n", text);
		return;
	}
	const size_t others = names > 7 && strncmp(text + names - 7, " et al.", 7) == 0 ? 7 : 0;
	size_t end = strcspn(text, ",:"); /* of the first author's name */
	end = end == names ? names - others : end;
	size_t last = end;
	while (last > 0 && text[last - 1] != ' ')
		last--;
	printf("\n@misc{");
	for (size_t i = last; i < end; i++)
		putchar(tolower((unsigned char)text[i]));
	printf("%.4s,\n  author = {", year);
	for (size_t i = 0; i < names - others; i++) {
		if (strncmp(text + i, ", ", 2) == 0) {
			fputs(" and ", stdout);
			i++;
		} else {
			putchar(text[i]);
		}
	}
	printf("%s},\n  title = {{%.*s}},\n", others ? " and others" : "", (int)(where - title - 2),
	       title + 2);
	where += 2;
	size_t length = (size_t)(year - where);
	while (length > 0 && strchr(", .", where[length - 1]))
		length--;
	if (length > 0) /* pages may follow the year */
		printf("  howpublished = {%.*s%.*s},\n", (int)length, where, (int)strcspn(year + 4, "."),
		       year + 4);
	printf("  year = {%.4s},\n}\n", year);
}

static void cite_run(cli_run *run)
{
	const kdr_algo *method = method_of(run->args, "METHOD");
	cite_software();
	for (int i = 0; method && method->references[i]; i++)
		cite_reference(method->references[i]);
}

cli_command cli_cite = {
	.name = "cite",
	.usage = "[METHOD]",
	.summary = "print BibTeX entries for kindred and a method",
	.description =
	        "Prints a BibTeX entry for this version of kindred. With METHOD, also prints the references of "
	        "the method, its main reference first. 'kindred --cite' does the same.",
	.example = "kindred cite mbc",
	.groups = { CLI_COMMON },
	.argument = method_id,
	.run = cite_run,
};
