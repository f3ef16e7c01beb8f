/* The command line: parsing against tables. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"
#include "core/words.h"

#include <ctype.h>
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
	char **words; /* all arguments after the command's name */
	int nwords;
};

const cli_option cli_common_options[] = {
	CLI_VALUE("seed", "N", "seed for all random choices (default 1)"),
	CLI_VALUE("threads", "N",
	          "number of worker threads (default: all available); the result does not depend on it"),
	CLI_VALUE("device", "DEVICE",
	          "where to run large computations: auto, cpu, cuda or cuda:N (default auto: a GPU, if one "
	          "is available and the job is large enough to benefit)"),
	CLI_FLAG("quiet", "print only errors: no summary and no warnings", .letter = 'q'),
	CLI_FLAG("verbose", "print more details", .letter = 'v'),
	CLI_SWITCH("progress", "show progress (default: only on a terminal)"),
	CLI_VALUE("time-limit", "SECONDS",
	          "stop after this time and keep the best result so far (default: no limit)"),
	CLI_VALUE("max-memory", "SIZE",
	          "memory limit, such as 500M or 2G: a job that exceeds it ends with an error, and data "
	          "that would leave too little memory stay on disk (default: no limit)"),
	CLI_VALUE("max-unpacked", "SIZE",
	          "how much a compressed file may unpack to, such as 20G (default: 1G or, if larger, 10 "
	          "times the size of .npz, .xlsx and .mat files and 100 times that of gzip and HDF5 files)"),
	CLI_FLAG("help", "show this help", .letter = 'h'),
	CLI_OPTIONS_END,
};

const cli_option cli_reading_options[] = {
	CLI_VALUE("format", "FORMAT", "input format, if the file name does not show it"),
	CLI_VALUE("label-column", "NAME",
	          "column with the known classes: its name, or its number, starting at 1"),
	CLI_VALUE("id-column", "NAME", "column with the row names: its name, or its number, starting at 1"),
	CLI_VALUE("feature-names", "COLUMN",
	          "AnnData: take the names of features, such as gene symbols, from this column of var"),
	CLI_VALUE(
	        "skip-rows", "N|auto",
	        "CSV, Excel: number of rows above the header, or above the data without a header (default: auto, "
	        "which finds titles above the header)"),
	CLI_VALUE("sheet", "NAME|all",
	          "Excel: the sheet to read; all: each sheet is a data set (default: the first sheet)",
	          .any_text = true),
	CLI_SWITCH("header", "CSV: the first line contains column names (default: detected)"),
	CLI_VALUE("missing", "POLICY",
	          "CSV: how to handle missing values (default: error; relate and embed: keep; cluster "
	          "and transfer: keep if the method can skip them; transfer with auto: mean)",
	          .listed = true),
	CLI_VALUE("na", "TOKEN",
	          "CSV: a text that marks a missing value, in addition to '', NA, N/A, #N/A, NaN, null, "
	          "None, ? and -; may be given several times",
	          .repeats = true, .any_text = true),
	CLI_VALUE("columns", "LIST",
	          "CSV: which columns to use and their types, such as 'height,width,city:category,-Nr' "
	          "(default: detected)",
	          .any_text = true),
	CLI_VALUE("rename", "OLD=NEW|FILE",
	          "rename a column; the other options use the new name; FILE: a CSV file with old and new "
	          "names; may be given several times",
	          .repeats = true, .any_text = true),
	CLI_VALUE("recode", "COLUMN:OLD=NEW|FILE",
	          "CSV: replace a value of a column, such as 'smoker:ja=yes'; without NEW it is missing; "
	          "FILE: a CSV file with column, old and new; may be given several times",
	          .repeats = true, .any_text = true),
	CLI_VALUE("delimiter", "CHAR", "CSV: column separator: , ; | or tab (default: detected)"),
	CLI_VALUE("decimal", "CHAR",
	          "CSV: decimal separator, '.' or ',' (default: detected for each column)"),
	CLI_VALUE(
	        "thousands", "CHAR|none",
	        "CSV: thousands separator: '.', ',', an apostrophe, space or none (default: detected for each "
	        "column)",
	        .any_text = true),
	CLI_VALUE("encoding", "NAME",
	          "CSV: character encoding: utf-8, latin-1, utf-16le or utf-16be (default: detected)"),
	CLI_VALUE("task-column", "NAME",
	          "column that names the data set of each row; the file is split into one data set per "
	          "value"),
	CLI_VALUE("batch-key", "NAME", "like --task-column, for a column of AnnData's obs"),
	CLI_FLAG("transpose", "the file has samples in columns and features in rows"),
	CLI_SWITCH(
	        "stream",
	        "keep the data on disk and read them as needed (default: if three times their size exceeds "
	        "the available memory or --max-memory)"),
	CLI_OPTIONS_END,
};

static const char *const token_classes[] = { "words", "letters", "ascii", "runs", NULL };

const cli_option cli_text_options[] = {
	CLI_VALUE(
	        "vectors", "FILE",
	        "word vectors, for short texts: word2vec text, GloVe or fastText .vec, may be gzipped; if the "
	        "median text has fewer than 11 words with a vector, texts are compared by the means of their "
	        "vectors and explained by their words"),
	CLI_SWITCH("strip-html",
	           "remove tags, comments, scripts and styles; decode entities (default: if most documents "
	           "are HTML; vectorize without --detect: no)"),
	CLI_SWITCH(
	        "strip-mail",
	        "remove mail, news or HTTP headers, up to the first blank line (default: if most documents "
	        "have them; vectorize without --detect: no)"),
	CLI_FLAG("keep-subject", "with --strip-mail: keep the text of the Subject line"),
	CLI_VALUE("tokens", "CLASS",
	          "what a token is; words: a run of Unicode letters and digits such as covid19, a name such "
	          "as C++ or C#, or an emoji, but no URL or e-mail address, and a pair of characters in "
	          "Chinese, Japanese and Thai; letters: the same with letters only; ascii: a run of a to z; "
	          "runs: a run of letters in every script (default words)",
	          .choices = token_classes),
	CLI_SWITCH("lowercase", "treat upper and lower case as the same (default)"),
	CLI_VALUE("min-length", "N", "length of the shortest token to keep, in characters (default 2)"),
	CLI_VALUE("max-length", "N", "length of the longest token to keep, in characters (default 40)"),
	CLI_VALUE("stop-words", "LIST",
	          "words to remove: none, auto (those of the detected languages), or languages and files "
	          "with one word per line, such as english,german (default auto; vectorize without "
	          "--detect: none)"),
	CLI_VALUE("stemmer", "NAME",
	          "count words with the same stem as one term: none, auto (for the detected languages), a "
	          "Snowball stemmer such as porter or english, or languages such as english,german, of "
	          "which each text gets its own (default auto; vectorize without --detect: none)"),
	CLI_VALUE("ngrams", "N[,M]", "use terms of N to M consecutive tokens, at most 3 (default 1)"),
	CLI_VALUE("min-df", "N|FRACTION",
	          "keep terms found in at least N documents; 0.05 or 5% means a fraction of the documents "
	          "(default: 1 below 20 documents, 2 below 1000, otherwise 3; vectorize without --detect: "
	          "1)"),
	CLI_VALUE("max-df", "N|FRACTION",
	          "keep terms found in at most N documents, or this fraction of them (default 100%)"),
	CLI_VALUE("vocabulary", "FILE", "use the terms in this features.txt as columns, in the same order"),
	CLI_FLAG("binary", "store 1 for each term of a document instead of its count"),
	CLI_OPTIONS_END,
};

const cli_option cli_direct_text_options[] = {
	CLI_VALUE("text-column", "NAME",
	          "count the words of this column of a CSV, TSV, Excel or JSON-lines file: its name, or "
	          "its number, starting at 1"),
	CLI_OPTIONS_END,
};

const cli_option cli_prep_options[] = { CLI_JOB("*preprocessing"), CLI_OPTIONS_END };

const cli_option cli_output_options[] = {
	CLI_VALUE("output", "DIR",
	          "write result.json, <task>.labels, <task>.samples.csv and features.csv to this folder "
	          "(default: only result.json, to standard output)",
	          .letter = 'o'),
	CLI_FLAG("force", "replace existing files"),
	CLI_RAW_OPTION,
	CLI_FLAG("report", "also write report.html to the folder of -o"),
	CLI_JOB("report-features"),
	CLI_VALUE("arrays", "DIR", "write every array of the method to this folder, as .npy files"),
	CLI_VALUE("save-model", "FILE", "save the model (HDF5) for 'kindred predict' and --into"),
	CLI_JOB("*output"),
	CLI_OPTIONS_END,
};

const char *const *cli_choices(const cli_option *option)
{
	return option->listed ? kdr_choices(option->name) : option->choices;
}

/* --- looking options up ------------------------------------------------------------------------ */

const cli_option *cli_option_at(const cli_command *command, int index)
{
	for (const cli_option_group *g = command->groups; g->title; g++)
		for (const cli_option *o = g->options; o->name; o++)
			if (index-- == 0)
				return o;
	return NULL;
}

static const cli_option *find_long(const cli_command *command, const char *name, size_t length)
{
	const cli_option *o;
	for (int i = 0; (o = cli_option_at(command, i)); i++)
		if (strlen(o->name) == length && strncmp(o->name, name, length) == 0)
			return o;
	return NULL;
}

bool cli_has_option(const cli_command *command, const char *name)
{
	return find_long(command, name, strlen(name)) != NULL;
}

static const cli_option *find_letter(const cli_command *command, char letter)
{
	const cli_option *o;
	for (int i = 0; (o = cli_option_at(command, i)) && o->letter != letter;)
		i++;
	return o;
}

static _Noreturn void unknown_option(const cli_command *command, const char *argument)
{
	const char *all[128], *nearest[2] = { NULL };
	const cli_option *o;
	size_t n = 0;
	for (; n < 128 && (o = cli_option_at(command, (int)n)); n++)
		all[n] = o->name;
	size_t found = strncmp(argument, "--", 2) == 0 ? kdr_suggest(argument + 2, all, n, nearest, 2) : 0;
	if (found == 0)
		cli_usage_error("%s has no option '%s'; 'kindred help %s' lists its options", command->name,
		                argument, command->name);
	if (found == 1)
		cli_usage_error("%s has no option '%s'; did you mean --%s?", command->name, argument,
		                nearest[0]);
	cli_usage_error("%s has no option '%s'; did you mean --%s or --%s?", command->name, argument,
	                nearest[0], nearest[1]);
}

/* --- parsing ----------------------------------------------------------------------------------- */

static void store(cli_args *args, const cli_option *option, const char *value)
{
	const char *const *choices = option->value ? cli_choices(option) : NULL;
	char list[256] = "";
	int at = args->ngiven;
	if (choices && kdri_word_index(choices, value) < 0) {
		for (int i = 0; choices[i]; i++)
			kdri_list_add(list, sizeof list, "%s", choices[i]);
		cli_usage_error("--%s: '%s' is not valid; use one of: %s", option->name, value, list);
	}
	for (int i = 0; i < args->ngiven && !option->repeats; i++)
		at = args->given[i].option == option ? i : at; /* the last one counts */
	args->given[at] = (given){ option, value };
	args->ngiven += at == args->ngiven;
}

/* Whether a word is written like options: "--name", with or without a value, or letters of options, which a number may follow. Other words
 * that begin with '-' are negative numbers, standard input, and odd names of files. */
static bool is_option(const cli_command *command, const char *word, bool letters)
{
	size_t n = strncmp(word, "--", 2) == 0 ? strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789-") : 0;
	if (n > 2)
		return !word[n] || word[n] == '=';
	for (n = 1; letters && word[0] == '-' && word[n] && find_letter(command, word[n]);)
		n++;
	return n > 1 && (!word[n] || isdigit((unsigned char)word[n]));
}

/* The word after an option, written as `as`, that needs a value. */
static const char *next_value(const cli_args *args, const cli_option *option, const char *as, int argc,
                              char **argv, int *i)
{
	const char *word = *i + 1 < argc ? argv[++*i] : NULL;
	if (!word)
		cli_usage_error("%s needs a value: %s", as, option->value);
	if (is_option(args->command, word, !option->any_text))
		cli_usage_error(
		        "%s needs a value, %s, but '%s' follows, which is read as an option; if it is the value, write %s%s%s",
		        as, option->value, word, as, as[1] == '-' ? "=" : "", word);
	return word;
}

static void parse_long(cli_args *args, int argc, char **argv, int *i)
{
	char as[80];
	const char *name = argv[*i] + 2, *equals = strchr(name, '=');
	size_t length = equals ? (size_t)(equals - name) : strlen(name);
	const cli_option *option = find_long(args->command, name, length);
	if (!option && length > 3 && strncmp(name, "no-", 3) == 0) {
		option = find_long(args->command, name + 3, length - 3);
		if (option && option->negatable && !equals) {
			store(args, option, "0");
			return;
		}
		option = NULL;
	}
	if (!option)
		unknown_option(args->command, argv[*i]);
	if (!option->value && equals)
		cli_usage_error("--%s takes no value", option->name);
	snprintf(as, sizeof as, "--%s", option->name);
	store(args, option,
	      !option->value ? "1"
	      : equals       ? equals + 1
	                     : next_value(args, option, as, argc, argv, i));
}

static void parse_short(cli_args *args, int argc, char **argv, int *i)
{
	for (const char *p = argv[*i] + 1; *p; p++) {
		const cli_option *option = find_letter(args->command, *p);
		if (!option)
			unknown_option(args->command, argv[*i]);
		if (!option->value) {
			store(args, option, "1");
			continue;
		}
		const char as[] = { '-', *p, '\0' };
		store(args, option, p[1] ? p + 1 : next_value(args, option, as, argc, argv, i));
		return;
	}
}

const cli_args *cli_args_parse(const cli_command *command, int argc, char **argv)
{
	cli_args *args = cli_new(1, sizeof *args);
	/* Letters can be bundled, so that one argument may hold several options. */
	size_t most = 1;
	for (int i = 0; i < argc; i++)
		most += strlen(argv[i]) + 1;
	*args = (cli_args){ .command = command,
		            .words = argv,
		            .nwords = argc,
		            .given = cli_new(most, sizeof *args->given),
		            .positional = cli_new((size_t)argc, sizeof *args->positional) };
	bool only_positional = false;
	for (int i = 0; i < argc; i++) {
		if (only_positional || argv[i][0] != '-' || argv[i][1] == '\0')
			args->positional[args->npositional++] = argv[i];
		else if (strcmp(argv[i], "--") == 0)
			only_positional = true;
		else if (argv[i][1] == '-')
			parse_long(args, argc, argv, &i);
		else
			parse_short(args, argc, argv, &i);
	}
	return args;
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
	return cli_switch(args, name) == 1;
}

int cli_switch(const cli_args *args, const char *name)
{
	const char *value = cli_get(args, name, NULL);
	return !value ? 0 : strcmp(value, "1") == 0 ? 1 : 2;
}

const char *cli_get_nth(const cli_args *args, const char *name, int index)
{
	for (int i = 0; i < args->ngiven; i++)
		if (strcmp(args->given[i].option->name, name) == 0 && index-- == 0)
			return args->given[i].value;
	return NULL;
}

/* `dashes`: those of the option. */
static int64_t whole_number(const char *dashes, const char *option, const char *text, int64_t min,
                            int64_t max)
{
	char *end;
	errno = 0;
	const int64_t value = strtoll(text, &end, 10);
	if (end != text && !*end && !errno && value >= min && value <= max)
		return value;
	if (max == INT64_MAX)
		cli_usage_error("%s%s: '%s' is not valid; use a whole number, %lld or larger", dashes, option,
		                text, (long long)min);
	cli_usage_error("%s%s: '%s' is not valid; use a whole number from %lld to %lld", dashes, option, text,
	                (long long)min, (long long)max);
}

void cli_get_int(const cli_args *args, const char *name, int64_t min, int64_t max, int64_t *out)
{
	const char *text = cli_get(args, name, NULL);
	*out = text ? whole_number("--", name, text, min, max) : *out;
}

int64_t cli_positive(const char *option, const char *item)
{
	return whole_number("", option, item, 1, INT64_MAX);
}

void cli_get_real(const cli_args *args, const char *name, double min, double max, double *out)
{
	const char *text = cli_get(args, name, NULL);
	if (!text)
		return;
	char *end;
	*out = strtod(text, &end);
	if (end != text && !*end && *out >= min && *out <= max)
		return;
	if (isinf(max))
		cli_usage_error("--%s: '%s' is not valid; use a number, %g or larger", name, text, min);
	cli_usage_error("--%s: '%s' is not valid; use a number from %g to %g", name, text, min, max);
}

void cli_get_size(const cli_args *args, const char *name, double *out)
{
	static const char units[] = "KMGT";
	const char *text = cli_get(args, name, NULL);
	if (!text)
		return;
	char *end;
	*out = strtod(text, &end);
	const char *unit = *end ? strchr(units, *end >= 'a' ? *end - 'a' + 'A' : *end) : NULL;
	if (end != text && unit) {
		for (const char *u = units; u <= unit; u++)
			*out *= 1000;
		end++;
	}
	if (end == text || *end || !(*out > 0 && isfinite(*out)))
		cli_usage_error(
		        "--%s: '%s' is not valid; use a number of bytes above 0, optionally with K, M, G or T, such as 500M",
		        name, text);
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

cli_list cli_list_split(const char *text)
{
	cli_list out = { .count = 1 };
	for (const char *p = text; *p; p++)
		out.count += *p == ',';
	out.items = cli_new((size_t)out.count, sizeof *out.items);
	char *copy = strcpy(cli_new(strlen(text) + 1, 1), text);
	for (int i = 0; i < out.count; i++) {
		out.items[i] = copy;
		copy += strcspn(copy, ",");
		*copy++ = '\0';
	}
	return out;
}
