/* The command line: parsing against tables. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"
#include "core/words.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct given {
	const cli_option *option;
	const char *value;
} given;

struct cli_args {
	const cli_command *command;
	given *given;
	int ngiven;
	const char **positional;
	int npositional;
	char **words; /* all that came behind the command's name */
	int nwords;
};

const cli_option cli_common_options[] = {
	{ .name = "seed", .value = "N", .help = "seed of all random choices (default 1)" },
	{ .name = "threads",
	  .value = "N",
	  .help = "worker threads (default: all); the result is the same for any number" },
	{ .name = "device",
	  .value = "DEVICE",
	  .help = "where large products are computed: auto, cpu, cuda or cuda:N (default auto: a GPU where one is there and it pays)" },
	{ .name = "quiet", .letter = 'q', .help = "print errors only, no summary and no warnings" },
	{ .name = "verbose", .letter = 'v', .help = "say more" },
	{ .name = "progress", .negatable = true, .help = "show progress (default: only on a terminal)" },
	{ .name = "time-limit", .value = "SECONDS", .help = "stop then and keep the best result so far" },
	{ .name = "max-memory",
	  .value = "SIZE",
	  .help = "memory that may be used, such as 500M or 2G: what would take more is refused before it starts, "
	          "and data that leave too little stay on disk" },
	{ .name = "help", .letter = 'h', .help = "show this help" },
	CLI_OPTIONS_END,
};

const cli_option cli_reading_options[] = {
	{ .name = "format", .value = "FORMAT", .help = "format of the inputs, where the name does not tell" },
	{ .name = "label-column",
	  .value = "NAME",
	  .help = "column of known classes: a name, or a number from 1" },
	{ .name = "id-column", .value = "NAME", .help = "column of row names: a name, or a number from 1" },
	{ .name = "header",
	  .negatable = true,
	  .help = "CSV: the first line holds names (default: found out)" },
	{ .name = "missing",
	  .value = "POLICY",
	  .listed = true,
	  .help = "CSV: how to handle missing values (default: keep if the method skips them, mean for transfer with auto, else error)" },
	{ .name = "na",
	  .value = "TOKEN",
	  .repeats = true,
	  .help = "CSV: a text that stands for no value, besides '', NA, N/A, #N/A, NaN, null, None, ? and -" },
	{ .name = "columns",
	  .value = "LIST",
	  .help = "CSV: what columns are, such as 'height,width,city:category,-Nr' (default: found out)" },
	{ .name = "rename",
	  .value = "OLD=NEW|FILE",
	  .repeats = true,
	  .help = "give a column a new name, by which the other options then know it; FILE: a CSV file of old and new names" },
	{ .name = "delimiter",
	  .value = "CHAR",
	  .help = "CSV: between cells: , ; | or tab (default: found out)" },
	{ .name = "decimal",
	  .value = "CHAR",
	  .help = "CSV: decimal sign, '.' or ',' (default: by the evidence of each column)" },
	{ .name = "encoding",
	  .value = "NAME",
	  .help = "CSV: utf-8, latin-1, utf-16le or utf-16be (default: found out)" },
	{ .name = "task-column",
	  .value = "NAME",
	  .help = "column that says which task a row belongs to: one file becomes a task for each value" },
	{ .name = "batch-key", .value = "NAME", .help = "the same for a column of AnnData's obs" },
	{ .name = "transpose", .help = "samples are in columns, features in rows" },
	{ .name = "stream",
	  .negatable = true,
	  .help = "leave the data on disk, and read them as they are needed (default: where three times their size "
	          "is more than the memory there is, or --max-memory)" },
	CLI_OPTIONS_END,
};

static const char *const token_classes[] = { "letters", "ascii", "runs", NULL };

const cli_option cli_text_options[] = {
	{ .name = "strip-html",
	  .negatable = true,
	  .help = "remove tags, comments, scripts and styles; decode entities (default: if most documents are HTML)" },
	{ .name = "strip-mail",
	  .negatable = true,
	  .help = "remove mail, news or HTTP headers, up to the first blank line (default: if most documents have them)" },
	{ .name = "keep-subject", .help = "with --strip-mail: keep the text of the Subject" },
	{ .name = "tokens",
	  .value = "CLASS",
	  .choices = token_classes,
	  .help = "letters: runs of Unicode letters, and pairs of characters in Chinese, Japanese and Thai; ascii: runs of a to z; runs: "
	          "runs of letters in every script (default letters)" },
	{ .name = "lowercase", .negatable = true, .help = "fold the case of letters (default)" },
	{ .name = "min-length", .value = "N", .help = "shortest token, in characters (default 2)" },
	{ .name = "max-length", .value = "N", .help = "longest token (default 40)" },
	{ .name = "stop-words",
	  .value = "LIST",
	  .help = "words to remove: none, auto (of the detected language), a language such as english, or a file with one "
	          "word per line (default auto)" },
	{ .name = "stemmer",
	  .value = "NAME",
	  .help = "count words by their stem: none, auto (of the detected language), or a Snowball stemmer such as porter, "
	          "english or german (default auto)" },
	{ .name = "ngrams", .value = "N[,M]", .help = "terms of N to M tokens, at most 3 (default 1)" },
	{ .name = "min-df",
	  .value = "N|SHARE",
	  .help = "remove terms of fewer documents; with a point or %, a share (default 2, from 1000 documents on 3, below 20 "
	          "documents 1)" },
	{ .name = "max-df", .value = "N|SHARE", .help = "remove terms of more documents (default 100%)" },
	{ .name = "vocabulary",
	  .value = "FILE",
	  .help = "columns are the lines of this features.txt, in its order" },
	{ .name = "binary", .help = "1 for each term of a document instead of its count" },
	CLI_OPTIONS_END,
};

const cli_option cli_direct_text_options[] = {
	{ .name = "text-column",
	  .value = "NAME",
	  .help = "TASK is a CSV or TSV file, or one of JSON lines: count the words of this column (name, or number from 1)" },
	CLI_OPTIONS_END,
};

bool cli_text_check(const cli_args *args)
{
	static const char *const fitted[] = { "min-df", "max-df", "top-features" };
	const bool vocabulary = cli_get(args, "vocabulary", NULL);
	if (cli_flag(args, "keep-subject") && strcmp(cli_get(args, "strip-mail", "0"), "1") != 0) {
		cli_error("--keep-subject goes with --strip-mail");
		return false;
	}
	for (int i = 0; i < 3 && vocabulary; i++)
		if (cli_get(args, fitted[i], NULL)) {
			cli_error("--%s does not go with --vocabulary, which fixes the columns", fitted[i]);
			return false;
		}
	return true;
}

const cli_option cli_prep_options[] = {
	{ .name = "features",
	  .value = "HOW",
	  .listed = true,
	  .help = "how tasks with named columns are aligned (default union where all have names, else position)" },
	{ .name = "weight",
	  .value = "KIND",
	  .listed = true,
	  .help = "weight of each entry (default: without --weight, --norm and --scale, chosen by the kind of data; "
	          "none with bench and evaluate)" },
	{ .name = "norm",
	  .value = "KIND",
	  .listed = true,
	  .help = "scale each row to unit length (default as for --weight)" },
	{ .name = "scale",
	  .value = "KIND",
	  .listed = true,
	  .help = "scale each column (default as for --weight)" },
	{ .name = "top-features", .value = "N", .help = "keep the first N features by --top-by" },
	{ .name = "top-by",
	  .value = "WHAT",
	  .listed = true,
	  .help = "df: found in most samples (default); variance; dispersion: the variable genes of counts" },
	{ .name = "fit-on",
	  .value = "WHAT",
	  .listed = true,
	  .help = "fit these steps on all tasks together or on each (default all)" },
	CLI_OPTIONS_END,
};

const cli_option cli_output_options[] = {
	{ .name = "output",
	  .letter = 'o',
	  .value = "DIR",
	  .help = "write result.json and <task>.labels there (default: result.json to standard output)" },
	{ .name = "force", .help = "replace an existing result" },
	{ .name = "report", .help = "also write report.html into -o DIR" },
	{ .name = "arrays", .value = "DIR", .help = "write every array of the method there as .npy" },
	{ .name = "save-model", .value = "FILE", .help = "save the model (HDF5) for 'kindred predict'" },
	CLI_OPTIONS_END,
};

const char *const *cli_choices(const cli_option *option)
{
	return option->listed ? kdr_choices(option->name) : option->choices;
}

/* --- looking options up ------------------------------------------------------------------------ */

static const cli_option *find_in_table(const cli_option *table, const char *name, size_t length)
{
	for (; table->name; table++)
		if (strlen(table->name) == length && strncmp(table->name, name, length) == 0)
			return table;
	return NULL;
}

static const cli_option *find_long(const cli_command *command, const char *name, size_t length)
{
	for (const cli_option_group *g = command->groups; g->title; g++) {
		const cli_option *o = find_in_table(g->options, name, length);
		if (o)
			return o;
	}
	return NULL;
}

static const cli_option *find_letter(const cli_command *command, char letter)
{
	for (const cli_option_group *g = command->groups; g->title; g++)
		for (const cli_option *o = g->options; o->name; o++)
			if (o->letter == letter)
				return o;
	return NULL;
}

static void unknown_option(const cli_command *command, const char *argument)
{
	const char *all[128], *nearest[2] = { NULL };
	size_t n = 0;
	for (const cli_option_group *g = command->groups; g->title; g++)
		for (const cli_option *o = g->options; o->name && n < 128; o++)
			all[n++] = o->name;
	size_t found = strncmp(argument, "--", 2) == 0 ? kdr_suggest(argument + 2, all, n, nearest, 2) : 0;
	if (found == 0)
		cli_error("%s has no option '%s'; 'kindred help %s' lists them", command->name, argument,
		          command->name);
	else if (found == 1)
		cli_error("%s has no option '%s'; did you mean --%s?", command->name, argument, nearest[0]);
	else
		cli_error("%s has no option '%s'; did you mean --%s or --%s?", command->name, argument,
		          nearest[0], nearest[1]);
}

static bool allowed(const cli_option *option, const char *value)
{
	const char *const *choices = cli_choices(option);
	char list[256] = "";
	if (!choices || kdri_word_index(choices, value) >= 0)
		return true;
	for (int i = 0; choices[i]; i++)
		kdri_list_add(list, sizeof list, "%s", choices[i]);
	cli_error("--%s: '%s' is not allowed: %s", option->name, value, list);
	return false;
}

/* --- parsing ----------------------------------------------------------------------------------- */

static bool store(cli_args *args, const cli_option *option, const char *value)
{
	if (!option->repeats)
		for (int i = 0; i < args->ngiven; i++)
			if (args->given[i].option == option) {
				args->given[i].value = value; /* the last one counts */
				return true;
			}
	args->given[args->ngiven++] = (given){ option, value };
	return true;
}

static bool parse_long(cli_args *args, int argc, char **argv, int *i)
{
	const char *name = argv[*i] + 2, *equals = strchr(name, '=');
	size_t length = equals ? (size_t)(equals - name) : strlen(name);
	const cli_option *option = find_long(args->command, name, length);
	if (!option && length > 3 && strncmp(name, "no-", 3) == 0) {
		option = find_long(args->command, name + 3, length - 3);
		if (option && option->negatable && !equals)
			return store(args, option, "0");
		option = NULL;
	}
	if (!option) {
		unknown_option(args->command, argv[*i]);
		return false;
	}
	if (!option->value) {
		if (equals) {
			cli_error("--%s takes no value", option->name);
			return false;
		}
		return store(args, option, "1");
	}
	const char *value = equals ? equals + 1 : *i + 1 < argc ? argv[++*i] : NULL;
	if (!value) {
		cli_error("--%s needs a value: %s", option->name, option->value);
		return false;
	}
	return allowed(option, value) && store(args, option, value);
}

static bool parse_short(cli_args *args, int argc, char **argv, int *i)
{
	for (const char *p = argv[*i] + 1; *p; p++) {
		const cli_option *option = find_letter(args->command, *p);
		if (!option) {
			unknown_option(args->command, argv[*i]);
			return false;
		}
		if (!option->value) {
			store(args, option, "1");
			continue;
		}
		const char *value = p[1] ? p + 1 : *i + 1 < argc ? argv[++*i] : NULL;
		if (!value) {
			cli_error("-%c needs a value: %s", option->letter, option->value);
			return false;
		}
		return allowed(option, value) && store(args, option, value);
	}
	return true;
}

cli_args *cli_args_parse(const cli_command *command, int argc, char **argv)
{
	cli_args *args = calloc(1, sizeof *args);
	/* Letters can be bundled, so that one argument may hold several options. */
	size_t most = 1;
	for (int i = 0; i < argc; i++)
		most += strlen(argv[i]) + 1;
	if (args) {
		args->command = command;
		args->words = argv;
		args->nwords = argc;
		args->given = calloc(most, sizeof *args->given);
		args->positional = calloc((size_t)argc + 1, sizeof *args->positional);
	}
	if (!args || !args->given || !args->positional) {
		cli_error("out of memory");
		cli_args_free(args);
		return NULL;
	}
	bool only_positional = false;
	for (int i = 0; i < argc; i++) {
		bool ok = true;
		if (only_positional || argv[i][0] != '-' || argv[i][1] == '\0')
			args->positional[args->npositional++] = argv[i];
		else if (strcmp(argv[i], "--") == 0)
			only_positional = true;
		else if (argv[i][1] == '-')
			ok = parse_long(args, argc, argv, &i);
		else
			ok = parse_short(args, argc, argv, &i);
		if (!ok) {
			cli_args_free(args);
			return NULL;
		}
	}
	return args;
}

void cli_args_free(cli_args *args)
{
	if (!args)
		return;
	free(args->given);
	free(args->positional);
	free(args);
}

const cli_command *cli_args_command(const cli_args *args)
{
	return args->command;
}

/* --- values ------------------------------------------------------------------------------------ */

const char *cli_get(const cli_args *args, const char *name, const char *otherwise)
{
	for (int i = args->ngiven; i-- > 0;)
		if (strcmp(args->given[i].option->name, name) == 0)
			return args->given[i].value;
	return otherwise;
}

bool cli_flag(const cli_args *args, const char *name)
{
	return strcmp(cli_get(args, name, "0"), "1") == 0;
}

const char *cli_get_nth(const cli_args *args, const char *name, int index)
{
	for (int i = 0; i < args->ngiven; i++)
		if (strcmp(args->given[i].option->name, name) == 0 && index-- == 0)
			return args->given[i].value;
	return NULL;
}

bool cli_get_int(const cli_args *args, const char *name, int64_t min, int64_t max, int64_t *out)
{
	const char *text = cli_get(args, name, NULL);
	if (!text)
		return true;
	char *end;
	errno = 0;
	long long value = strtoll(text, &end, 10);
	if (end == text || *end || errno || value < min || value > max) {
		if (max == INT64_MAX)
			cli_error("--%s: '%s' is not allowed: a whole number from %lld", name, text,
			          (long long)min);
		else
			cli_error("--%s: '%s' is not allowed: a whole number from %lld to %lld", name, text,
			          (long long)min, (long long)max);
		return false;
	}
	*out = value;
	return true;
}

bool cli_get_real(const cli_args *args, const char *name, double min, double max, double *out)
{
	const char *text = cli_get(args, name, NULL);
	if (!text)
		return true;
	char *end;
	double value = strtod(text, &end);
	if (end == text || *end || !(value >= min && value <= max)) {
		if (isinf(max))
			cli_error("--%s: '%s' is not allowed: a number from %g", name, text, min);
		else
			cli_error("--%s: '%s' is not allowed: a number from %g to %g", name, text, min, max);
		return false;
	}
	*out = value;
	return true;
}

bool cli_get_size(const cli_args *args, const char *name, double *out)
{
	static const char units[] = "KMGT";
	const char *text = cli_get(args, name, NULL);
	if (!text)
		return true;
	char *end;
	double value = strtod(text, &end);
	const char *unit = *end ? strchr(units, *end >= 'a' ? *end - 'a' + 'A' : *end) : NULL;
	if (end != text && unit) {
		for (const char *u = units; u <= unit; u++)
			value *= 1000;
		end++;
	}
	if (end == text || *end || !(value > 0 && isfinite(value))) {
		cli_error("--%s: '%s' is not allowed: a number of bytes above 0, or one with K, M, G or T",
		          name, text);
		return false;
	}
	*out = value;
	return true;
}

int cli_get_choice(const cli_args *args, const char *name, int otherwise)
{
	const char *text = cli_get(args, name, NULL);
	if (!text)
		return otherwise;
	const cli_option *option = find_long(args->command, name, strlen(name));
	const int i = option ? kdri_word_index(cli_choices(option), text) : -1;
	return i < 0 ? otherwise : i;
}

const char *cli_command_name(const cli_args *args)
{
	return args->command->name;
}

const char *cli_word(const cli_args *args, int index)
{
	return index < args->nwords ? args->words[index] : NULL;
}

int cli_positional_count(const cli_args *args)
{
	return args->npositional;
}

const char *cli_positional(const cli_args *args, int index)
{
	return index < args->npositional ? args->positional[index] : NULL;
}

bool cli_list_split(const char *text, cli_list *out)
{
	int count = 1;
	for (const char *p = text; *p; p++)
		count += *p == ',';
	char *copy = malloc(strlen(text) + 1);
	out->items = calloc((size_t)count + 1, sizeof *out->items);
	if (!copy || !out->items) {
		free(copy);
		free(out->items);
		cli_error("out of memory");
		return false;
	}
	strcpy(copy, text);
	out->count = count;
	for (int i = 0; i < count; i++) {
		out->items[i] = copy;
		char *comma = strchr(copy, ',');
		if (comma) {
			*comma = '\0';
			copy = comma + 1;
		}
	}
	return true;
}

void cli_list_free(cli_list *list)
{
	if (list->items)
		free(list->items[0]);
	free(list->items);
	*list = (cli_list){ 0 };
}
