/* kindred vectorize. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"
#include "core/system.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const kinds[] = { "folder", "lines", "table", "json", NULL };
static const char *const formats[] = { "mtx", "mtx.gz", "npz", "svm", "csv", "tsv", NULL };

static const cli_option own_options[] = {
	CLI_VALUE("output", "DIR",
	          "folder for the matrices, ids, excerpts, labels and features.txt (required)",
	          .letter = 'o'),
	CLI_VALUE("to", "FORMAT", "output format (default mtx)", .choices = formats),
	CLI_FLAG("force", "replace existing files"),
	CLI_OPTIONS_END,
};

static const cli_option input_options[] = {
	CLI_VALUE("from", "KIND",
	          "kind of input (default: detected from the name; lines for unknown file types)",
	          .choices = kinds),
	CLI_VALUE("text-column", "NAME",
	          "table, json: column or field with the text; in tables also a number, starting at 1 "
	          "(default: text)"),
	CLI_VALUE("label-column", "NAME", "table, json: column or field with the class"),
	CLI_VALUE("delimiter", "CHAR",
	          "table: column separator (default: tab for .tsv, otherwise detected: comma, semicolon, "
	          "tab or |)"),
	CLI_SWITCH("header",
	           "table: the first line contains column names (default: yes, unless columns are given by "
	           "number)"),
	CLI_OPTIONS_END,
};

static const cli_option vocabulary_options[] = {
	CLI_FLAG("detect",
	         "inspect the texts to choose the settings that are not specified, as cluster and transfer "
	         "do"),
	CLI_VALUE("top-features", "N", "keep the N terms found in the most documents (default: all)"),
	CLI_FLAG("drop-empty", "skip documents without any term of the vocabulary"),
	CLI_OPTIONS_END,
};

static cli_option_group groups[] = {
	{ "Options", own_options },           { "Input", input_options },
	{ "Vocabulary", vocabulary_options }, { "Text processing", cli_text_options + 1 },
	{ "Common", cli_common_options },     { NULL, NULL },
};

/* --- options ------------------------------------------------------------------------------------ */

/* Sets the options of a list that are given. */
static int set_options(kdr_context *ctx, const cli_args *args, const cli_option *list, kdr_text_options *o)
{
	kdr_status st = KDR_OK;
	for (; list->name && st == KDR_OK; list++) {
		const char *value = cli_get(args, list->name, NULL);
		if (value)
			st = kdr_text_options_set(ctx, o, list->name, value);
	}
	return cli_code(ctx, st);
}

/* --- tasks -------------------------------------------------------------------------------------- */

static bool ends_with(const char *text, size_t length, const char *suffix)
{
	size_t n = strlen(suffix);
	return length >= n && memcmp(text + length - n, suffix, n) == 0;
}

static kdr_corpus_kind kind_of(const char *path)
{
	kdri_file info;
	size_t n = strlen(path);
	if (kdri_file_at(path, &info) && info.folder)
		return KDR_CORPUS_FOLDER;
	if (ends_with(path, n, ".gz"))
		n -= 3;
	if (ends_with(path, n, ".csv") || ends_with(path, n, ".tsv") || ends_with(path, n, ".tab"))
		return KDR_CORPUS_TABLE;
	if (ends_with(path, n, ".jsonl") || ends_with(path, n, ".ndjson") || ends_with(path, n, ".json"))
		return KDR_CORPUS_JSON;
	return KDR_CORPUS_LINES;
}

/* `names` has room for 256 bytes a task. */
static bool vectorize_read_tasks(const cli_args *args, kdr_corpus *corpora, char (*names)[256])
{
	const char *header = cli_get(args, "header", NULL), *delimiter = cli_get(args, "delimiter", "");
	if (strcmp(delimiter, "\\t") == 0 || strcmp(delimiter, "tab") == 0)
		delimiter = "\t";
	if (strlen(delimiter) > 1 || delimiter[0] == '"' || delimiter[0] == '\n') {
		cli_error("--delimiter: '%s' is not valid; use one character, or tab", delimiter);
		return false;
	}
	for (int i = 0; i < cli_positional_count(args); i++) {
		const char *path;
		cli_task_split(cli_positional(args, i), names[i], sizeof names[i], &path);
		corpora[i] = (kdr_corpus){
			.name = names[i][0] ? names[i] : NULL,
			.path = path,
			.kind = (kdr_corpus_kind)cli_get_choice(args, "from", (int)kind_of(path)),
			.text_field = cli_get(args, "text-column", NULL),
			.label_field = cli_get(args, "label-column", NULL),
			.delimiter = delimiter[0],
			.header = !header                    ? KDR_HEADER_FIND_OUT
			          : strcmp(header, "1") == 0 ? KDR_HEADER_YES
			                                     : KDR_HEADER_NO,
		};
	}
	return true;
}

/* --- outputs ------------------------------------------------------------------------------------ */

typedef struct place {
	const char *folder, *format;
	bool force;
} place;

static place vectorize_place_of(const cli_args *args)
{
	return (place){ cli_get(args, "output", NULL), formats[cli_get_choice(args, "to", 0)],
		        cli_flag(args, "force") };
}

static void path_of(const place *at, const char *name, const char *ending, char *out, size_t room)
{
	snprintf(out, room, "%s/%s%s%s", at->folder, name, ending[0] ? "." : "", ending);
}

/* Before anything is written: what would be replaced. */
static int vectorize_check_outputs(const place *at, kdr_data *const *data, int count)
{
	char path[4096];
	const char *const endings[] = { at->format, "ids", "excerpts", "labels" };
	for (int i = -1; i < count && !at->force; i++)
		for (int k = 0; k < (i < 0 ? 1 : 4); k++) {
			path_of(at, i < 0 ? "features.txt" : kdr_data_name(data[i]), i < 0 ? "" : endings[k],
			        path, sizeof path);
			if (kdri_exists(path))
				return cli_usage_error("%s already exists; use --force to replace it", path);
		}
	return EXIT_DONE;
}

/* One string a line; `index` NULL: all in order, else those it points to, "?" for -1. */
static int write_lines(kdr_context *ctx, const place *at, const char *name, const char *ending,
                       const char *const *strings, const int64_t *index, int64_t count)
{
	char path[4096], *text;
	size_t room = 1, used = 0;
	for (int64_t i = 0; i < count; i++)
		room += strlen(!index ? strings[i] : index[i] < 0 ? "?" : strings[index[i]]) + 4;
	text = malloc(room);
	if (!text)
		return cli_no_memory();
	for (int64_t i = 0; i < count; i++) {
		const char *s = !index ? strings[i] : index[i] < 0 ? "?" : strings[index[i]];
		char *line = text + used;
		used += (size_t)sprintf(line, "%s\n", s[0] ? s : "…"); /* no line is blank */
		/* A name with a line break would shift every line after it. */
		for (; line < text + used - 1; line++)
			if (*line == '\n')
				*line = '?';
	}
	path_of(at, name, ending, path, sizeof path);
	kdr_status st = kdr_write_file(ctx, path, text, used, at->force);
	free(text);
	return cli_code(ctx, st);
}

static int write_task(kdr_context *ctx, const place *at, const kdr_data *data)
{
	char path[4096];
	int64_t classes;
	const char *name = kdr_data_name(data), *const *class_names = kdr_data_classes(data, &classes);
	kdr_mat x = kdr_data_mat(data);
	int64_t rows = kdr_mat_rows(&x);
	path_of(at, name, at->format, path, sizeof path);
	CLI_DO(cli_code(ctx, kdr_write(ctx, path, NULL, data, at->force)));
	CLI_DO(write_lines(ctx, at, name, "ids", kdr_data_ids(data), NULL, rows));
	CLI_DO(write_lines(ctx, at, name, "excerpts", kdr_data_excerpts(data), NULL, rows));
	if (kdr_data_labels(data))
		CLI_DO(write_lines(ctx, at, name, "labels", class_names, kdr_data_labels(data), rows));
	return EXIT_DONE;
}

static void print_written(const place *at, const kdr_data *data)
{
	char path[4096];
	int64_t classes;
	(void)kdr_data_classes(data, &classes);
	const kdr_mat x = kdr_data_mat(data);
	const int64_t rows = kdr_mat_rows(&x), cols = kdr_mat_cols(&x), entries = kdr_mat_nnz(&x);
	path_of(at, kdr_data_name(data), at->format, path, sizeof path);
	cli_printf("written: %s (%lld document%s x %lld term%s, %lld non-zero value%s, %lld class%s)\n", path,
	           (long long)rows, CLI_S(rows), (long long)cols, CLI_S(cols), (long long)entries,
	           CLI_S(entries), (long long)classes, CLI_ES(classes));
}

static int write_all(kdr_context *ctx, const cli_args *args, kdr_data *const *data, int count)
{
	place at = vectorize_place_of(args);
	kdr_mat x = kdr_data_mat(data[0]);
	CLI_DO(cli_names_check(data, count));
	CLI_DO(cli_make_folder(at.folder));
	CLI_DO(vectorize_check_outputs(&at, data, count));
	CLI_DO(cli_code(ctx, kdr_outputs_begin(ctx, NULL)));
	CLI_DO(write_lines(ctx, &at, "features.txt", "", kdr_data_features(data[0]), NULL, kdr_mat_cols(&x)));
	for (int i = 0; i < count; i++)
		CLI_DO(write_task(ctx, &at, data[i]));
	CLI_DO(cli_code(ctx, kdr_outputs_end(ctx, KDR_OK)));
	for (int i = 0; i < count && !cli_quiet(args); i++)
		print_written(&at, data[i]);
	return EXIT_DONE;
}

/* --- the command -------------------------------------------------------------------------------- */

static void print_stats(const kdr_text_stats *s, const char *note)
{
	cli_printf("%lld document%s, %.1f MB, %lld token%s, %lld distinct term%s\n", (long long)s->documents,
	           CLI_S(s->documents), (double)s->bytes / 1e6, (long long)s->tokens, CLI_S(s->tokens),
	           (long long)s->terms, CLI_S(s->terms));
	if (note)
		cli_printf("%s\n", note);
	if (s->dropped > 0)
		cli_printf("%lld empty document%s skipped\n", (long long)s->dropped, CLI_S(s->dropped));
	if (s->not_utf8 > 0)
		cli_printf("%lld document%s not in UTF-8, read as Windows-1252\n", (long long)s->not_utf8,
		           CLI_S(s->not_utf8));
}

static int vectorize_run(cli_args *args)
{
	int code = EXIT_USAGE, count = cli_positional_count(args);
	kdr_text_options options;
	kdr_text_stats stats;
	kdr_context *ctx = NULL;
	kdr_corpus *corpora = NULL;
	kdr_data **data = NULL;
	char(*names)[256] = NULL;
	if (count == 0 || !cli_get(args, "output", NULL))
		return cli_usage_error(count == 0 ? "vectorize needs at least one folder or file of texts"
		                                  : "vectorize needs -o DIR: the folder to write to");
	corpora = calloc((size_t)count, sizeof *corpora);
	data = calloc((size_t)count, sizeof(kdr_data *));
	names = calloc((size_t)count, sizeof *names);
	if (!corpora || !data || !names) {
		code = cli_no_memory();
		goto done;
	}
	if (!vectorize_read_tasks(args, corpora, names))
		goto done;
	/* The one name known beforehand: spares a long run that could not be written. */
	place at = vectorize_place_of(args);
	code = vectorize_check_outputs(&at, NULL, 0);
	if (code == EXIT_DONE)
		code = cli_session_open(args, &ctx);
	kdr_text_options_init(&options);
	if (code == EXIT_DONE)
		code = set_options(ctx, args, vocabulary_options, &options);
	if (code == EXIT_DONE)
		code = set_options(ctx, args, cli_text_options + 1, &options);
	if (code == EXIT_DONE)
		code = cli_code_reading(ctx, kdr_vectorize(ctx, corpora, count, &options, data, &stats));
	if (code == EXIT_DONE)
		code = write_all(ctx, args, data, count);
	if (code == EXIT_DONE && !cli_quiet(args))
		print_stats(&stats, kdr_data_text_note(data[0]));
done:
	for (int i = 0; data && i < count; i++)
		kdr_data_free(data[i]);
	free(data);
	free(corpora);
	free(names);
	return ctx ? cli_session_close(ctx, code) : cli_finish(code);
}

const cli_command cli_vectorize = {
	.name = "vectorize",
	.usage = "[OPTION...] -o DIR TASK...",
	.summary = "turn text into matrices with one common vocabulary",
	.description =
	        "Counts the terms in documents. TASK is a folder (every file below it is a document, and the first "
	        "subfolder is its class), a file with one document per line, a CSV or TSV file, or a JSON-lines file. Any "
	        "file may be gzipped.\n\n"
	        "For each TASK, writes NAME.mtx, NAME.ids, NAME.excerpts (the first words, for reports) and, if classes "
	        "are known, NAME.labels. Writes features.txt for all of them: the terms of the columns, the most frequent "
	        "first. Pass this file to --vocabulary later to get the same columns for new documents.\n\n"
	        "The encodings GB18030, Big5, Shift-JIS, EUC-KR and EUC-JP are detected. Other documents that are not "
	        "valid UTF-8 are read as Windows-1252. Tokens are case-folded and composed (NFC); length limits, stop "
	        "words, the stemmer and n-grams follow in this order.",
	.example = "# web pages: one folder per university, one subfolder per class\n"
	           "kindred vectorize --strip-mail --strip-html --stop-words english \\\n"
	           "    --stemmer porter --top-features 2500 --drop-empty -o out cornell texas\n"
	           "# new documents with the same columns\n"
	           "kindred vectorize --vocabulary out/features.txt -o new reviews.jsonl",
	.groups = groups,
	.completes_files = true,
	.run = vectorize_run,
};
