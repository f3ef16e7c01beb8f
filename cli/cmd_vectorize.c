/* kindred vectorize. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"
#include "core/system.h"

#include <string.h>

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

/* --- options ------------------------------------------------------------------------------------ */

/* Sets the options of a list that are given. */
static void set_options(const cli_run *run, const cli_option *list, kdr_text_options *o)
{
	for (; list->name; list++) {
		const char *value = cli_get(run->args, list->name, NULL);
		if (value)
			cli_check(kdr_text_options_set(run->ctx, o, list->name, value));
	}
}

/* --- tasks -------------------------------------------------------------------------------------- */

static kdr_corpus_kind kind_of(const char *path)
{
	static const char *const tables[] = { ".csv", ".tsv", ".tab", NULL };
	kdri_file info;
	if (kdri_file_at(path, &info) && info.folder)
		return KDR_CORPUS_FOLDER;
	if (kdr_format_holds(NULL, path) & KDR_HOLDS_COLUMNS) /* Excel */
		return KDR_CORPUS_TABLE;
	return cli_has_ending(path, tables)             ? KDR_CORPUS_TABLE
	       : cli_has_ending(path, cli_json_endings) ? KDR_CORPUS_JSON
	                                                : KDR_CORPUS_LINES;
}

static kdr_corpus *vectorize_tasks(const cli_args *args, int count)
{
	const char *delimiter = cli_get(args, "delimiter", "");
	kdr_corpus *corpora = cli_new((size_t)count, sizeof *corpora);
	if (strcmp(delimiter, "\\t") == 0 || strcmp(delimiter, "tab") == 0)
		delimiter = "\t";
	if (strlen(delimiter) > 1 || delimiter[0] == '"' || delimiter[0] == '\n')
		cli_usage_error("--delimiter: '%s' is not valid; use one character, or tab", delimiter);
	for (int i = 0; i < count; i++) {
		const kdr_task_path task = cli_task_at(cli_positional(args, i));
		corpora[i] = (kdr_corpus){
			.name = task.name,
			.path = task.path,
			.kind = (kdr_corpus_kind)cli_get_choice(args, "from", (int)kind_of(task.path)),
			.text_field = cli_get(args, "text-column", NULL),
			.label_field = cli_get(args, "label-column", NULL),
			.delimiter = delimiter[0],
			.header = (kdr_header)cli_switch(args, "header"),
		};
	}
	return corpora;
}

/* --- outputs ------------------------------------------------------------------------------------ */

/* The file of a data set with this ending, or features.txt. */
static const char *path_of(const cli_args *args, const kdr_data *data, const char *ending)
{
	return cli_format("%s/%s%s", cli_get(args, "output", NULL), data ? kdr_data_name(data) : "features",
	                  ending);
}

/* The ending of the matrices. */
static const char *ending_of(const cli_args *args)
{
	return cli_format(".%s", formats[cli_get_choice(args, "to", 0)]);
}

static void check_output(const cli_args *args, const kdr_data *data, const char *ending)
{
	const char *path = path_of(args, data, ending);
	if (!cli_flag(args, "force") && kdri_exists(path))
		cli_usage_error("%s already exists; use --force to replace it", path);
}

static void write_task(const cli_run *run, const kdr_data *data)
{
	const cli_args *args = run->args;
	int64_t classes;
	const char *const *class_names = kdr_data_classes(data, &classes);
	kdr_mat x = kdr_data_mat(data);
	const int64_t rows = kdr_mat_rows(&x);
	cli_check(kdr_write(run->ctx, path_of(args, data, ending_of(args)), NULL, data,
	                    cli_flag(args, "force")));
	/* No line is blank. */
	cli_write_lines(run, path_of(args, data, ".ids"), kdr_data_ids(data), NULL, rows, "…");
	cli_write_lines(run, path_of(args, data, ".excerpts"), kdr_data_excerpts(data), NULL, rows, "…");
	if (kdr_data_labels(data))
		cli_write_lines(run, path_of(args, data, ".labels"), class_names, kdr_data_labels(data), rows,
		                "…");
}

static void print_written(const cli_args *args, const kdr_data *data)
{
	int64_t classes;
	(void)kdr_data_classes(data, &classes);
	const kdr_mat x = kdr_data_mat(data);
	cli_printf("written: %s (%s x %s, %s, %s)\n", path_of(args, data, ending_of(args)),
	           cli_count(kdr_mat_rows(&x), "document"), cli_count(kdr_mat_cols(&x), "term"),
	           cli_count(kdr_mat_nnz(&x), "non-zero value"), cli_count(classes, "class"));
}

static void write_all(const cli_run *run, kdr_data *const *data, int count)
{
	const char *const endings[] = { ending_of(run->args), ".ids", ".excerpts", ".labels" };
	kdr_mat x = kdr_data_mat(data[0]);
	cli_names_check(data, count);
	cli_make_folder(cli_get(run->args, "output", NULL));
	for (int i = 0; i < 4 * count; i++)
		check_output(run->args, data[i / 4], endings[i % 4]);
	cli_check(kdr_outputs_begin(run->ctx, NULL));
	cli_write_lines(run, path_of(run->args, NULL, ".txt"), kdr_data_features(data[0]), NULL,
	                kdr_mat_cols(&x), "…");
	for (int i = 0; i < count; i++)
		write_task(run, data[i]);
	cli_check(kdr_outputs_end(run->ctx, KDR_OK));
	for (int i = 0; i < count && !cli_quiet(run->args); i++)
		print_written(run->args, data[i]);
}

/* --- the command -------------------------------------------------------------------------------- */

static void print_stats(const kdr_text_stats *s, const char *note)
{
	cli_printf("%s, %.1f MB, %s, %s\n", cli_count(s->documents, "document"), (double)s->bytes / 1e6,
	           cli_count(s->tokens, "token"), cli_count(s->terms, "distinct term"));
	if (note)
		cli_printf("%s\n", note);
	if (s->dropped > 0)
		cli_printf("%s skipped\n", cli_count(s->dropped, "empty document"));
	if (s->not_utf8 > 0)
		cli_printf("%s not in UTF-8, read as Windows-1252\n", cli_count(s->not_utf8, "document"));
}

static void vectorize_run(cli_run *run)
{
	const cli_args *args = run->args;
	const int count = cli_positional_count(args);
	kdr_text_options options;
	kdr_text_stats stats;
	if (count == 0 || !cli_get(args, "output", NULL))
		cli_usage_error(count == 0 ? "vectorize needs at least one folder or file of texts"
		                           : "vectorize needs -o DIR: the folder to write to");
	const kdr_corpus *corpora = vectorize_tasks(args, count);
	/* The one name known beforehand: spares a long run that could not be written. */
	check_output(args, NULL, ".txt");
	cli_session_open(run);
	cli_session_limit(run->ctx);
	kdr_text_options_init(&options);
	set_options(run, vocabulary_options, &options);
	set_options(run, cli_text_options + 1, &options);
	kdr_data **data = run->tasks.data = cli_new((size_t)count, sizeof(kdr_data *));
	cli_check_reading(kdr_vectorize(run->ctx, corpora, count, &options, data, &stats));
	run->tasks.count = count;
	write_all(run, data, count);
	if (!cli_quiet(args))
		print_stats(&stats, kdr_data_text_note(data[0]));
}

cli_command cli_vectorize = {
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
	.groups = { { "Options", own_options },
	            { "Input", input_options },
	            { "Vocabulary", vocabulary_options },
	            { "Text processing", cli_text_options + 1 },
	            CLI_COMMON },
	.completes_files = true,
	.run = vectorize_run,
};
