/* kindred predict. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"
#include "core/system.h"
#include "system.h"

#include <stdlib.h>
#include <string.h>

static const cli_option own_options[] = {
	CLI_VALUE("model", "FILE", "a model saved with --save-model"),
	CLI_VALUE("task", "NAME",
	          "data set of the model that the samples belong to (default: the only one, or the last "
	          "target of a transfer)"),
	CLI_VALUE("output", "FILE|DIR",
	          "write the labels to this file (default: standard output), and next to them "
	          "STEM.samples.csv: id, label, confidence, second choice; in a folder (or DIR/) the files "
	          "are TASK.labels and TASK.samples.csv",
	          .letter = 'o'),
	CLI_NAMES_OPTION,
	CLI_TABLE_OPTION,
	CLI_FLAG("force", "replace existing files"),
	CLI_RAW_OPTION,
	CLI_FLAG("strict", "exit with status 3 if the samples lack features that the model was fitted on"),
	CLI_OPTIONS_END,
};

/* The file of the labels: -o or, if that is a folder, a file there with the name of the data set. NULL without -o. */
static const char *labels_path(const cli_args *args, const kdr_data *data)
{
	const char *path = cli_get(args, "output", NULL);
	kdri_file info;
	if (!path)
		return NULL;
	const size_t length = strlen(path);
	const bool slash = length > 0 && kdri_is_separator(path[length - 1]);
	if (!slash && !(kdri_file_at(path, &info) && info.folder))
		return path;
	return cli_format("%s%s%s.labels", path, slash ? "" : "/", kdr_data_name(data));
}

/* The labels, one line per sample. */
static void write_labels(const cli_run *run, const char *path)
{
	int64_t n, nclasses;
	const int64_t *labels = kdr_result_labels(run->result, 0, &n);
	const char *const *classes = kdr_result_classes(run->result, &nclasses);
	cli_text t;
	cli_text_begin(&t);
	for (int64_t i = 0; i < n; i++)
		if (classes && labels[i] >= 0 && labels[i] < nclasses)
			fprintf(t.stream, "%s\n", classes[labels[i]]);
		else if (classes || labels[i] < 0) /* left without one */
			fputs("?\n", t.stream);
		else
			fprintf(t.stream, "%lld\n", (long long)labels[i]);
	char *text = cli_text_end(&t);
	if (path)
		cli_check(kdr_write_file(run->ctx, path, text, t.length, cli_flag(run->args, "force")));
	else if (cli_is_terminal(stdout)) /* else byte for byte */
		cli_print_safely(stdout, text, t.length);
	else
		fwrite(text, 1, t.length, stdout);
	free(text);
}

/* FILE less its ending, and .samples.csv. NULL where labels go to no file of their own. */
static const char *samples_path(const char *path)
{
	kdri_file info;
	if (!path || (kdri_file_at(path, &info) && !info.regular))
		return NULL;
	const char *name = path + kdri_folder_length(path), *dot = strrchr(name, '.');
	return cli_format("%.*s.samples.csv", (int)(dot && dot > name ? (size_t)(dot - path) : strlen(path)),
	                  path);
}

/* How many samples have no label, or a doubtful one. */
static void print_doubtful(const cli_args *args, const kdr_result *result)
{
	for (int64_t i = 0; i < kdr_result_warning_count(result); i++)
		cli_warn("%s", kdr_result_warning_at(result, i));
	const char *line = kdr_result_advice(result, 0, 0);
	if (line && !cli_quiet(args))
		fprintf(stderr, "%s%s\n", line,
		        line[0] != '0' && !cli_get(args, "output", NULL) ? "; use -o FILE to see which" : "");
}

/* What cannot be written is known before anything is. */
static void predict_check(cli_run *run, const char *path, const char *samples)
{
	const char *given = cli_get(run->args, "output", NULL);
	const bool force = cli_flag(run->args, "force"), inside = path && strcmp(path, given) != 0;
	if (inside) {
		cli_names_check(run->tasks.data, 1);
		cli_make_folder(given);
	}
	if (samples) {
		cli_check(kdr_write_check(run->ctx, path, force));
		if (inside)
			cli_check(kdr_labels_check(run->ctx, path, kdr_data_path(run->tasks.data[0])));
		cli_check(kdr_write_check(run->ctx, samples, force));
	}
	cli_check(cli_write_back(run, NULL));
}

static void predict_run(cli_run *run)
{
	const cli_args *args = run->args;
	const char *model = cli_get(args, "model", NULL);
	kdr_predict_options o;
	kdr_read_options reading;
	if (!model)
		cli_usage_error("predict needs --model FILE");
	if (cli_positional_count(args) != 1)
		cli_usage_error("predict needs one data file (got %d)", cli_positional_count(args));
	cli_session_open(run);
	cli_reading(args, &reading);
	const kdr_task_path task = cli_task_at(cli_positional(args, 0));
	reading.name = task.name;
	kdr_predict_options_init(&o);
	o.task = cli_get(args, "task", NULL);
	cli_check_reading(kdr_model_load(run->ctx, model, &run->tasks.model));
	kdr_model_reading(run->tasks.model, &reading);
	kdr_data **data = run->tasks.data = cli_new(1, sizeof(kdr_data *));
	cli_check_reading(kdr_read(run->ctx, task.path, &reading, data));
	run->tasks.count = 1;
	run->tasks.from = cli_new(1, sizeof *run->tasks.from);
	const char *labels = labels_path(args, *data), *samples = samples_path(labels);
	cli_names_read(run);
	predict_check(run, labels, samples);
	run->strict = cli_flag(args, "strict");
	const kdr_status st = kdr_predict(run->ctx, run->tasks.model, *data, &o, &run->result);
	if (run->refused)
		cli_end(EXIT_DATA);
	cli_check(st);
	cli_names_read(run);
	cli_check(kdr_outputs_begin(run->ctx, NULL));
	if (samples)
		cli_check(kdr_result_write_table(run->ctx, run->result, KDR_TABLE_SAMPLES, 0, samples,
		                                 cli_flag(args, "force")));
	cli_check(cli_write_back(run, NULL));
	write_labels(run, labels);
	cli_check(kdr_outputs_end(run->ctx, KDR_OK));
	print_doubtful(args, run->result);
	cli_write_back_print(run);
}

cli_command cli_predict = {
	.name = "predict",
	.usage = "--model FILE [OPTION...] TASK",
	.summary = "label samples that a saved model has not seen",
	.description =
	        "Labels new samples with a saved model and prints one label per line. TASK gets the same preprocessing as "
	        "the data that the model was fitted on. Columns are matched by name if both have names. Features that TASK "
	        "lacks count as zero, with a warning.\n\n"
	        "STEM.samples.csv has the confidence of each label. Calibrated probabilities need labelled samples, which "
	        "a model does not contain; use 'kindred transfer --probabilities' to get them.\n\n"
	        "With --task-column or --batch-key, the column names the data set of the model that each row belongs to.",
	.example =
	        "kindred cluster -k 4 --save-model m.h5 -o out cornell.mtx\nkindred predict --model m.h5 new.mtx",
	.groups = { { "Options", own_options },
	            { "Input files", cli_reading_options },
	            { "Text input (words are counted as for the fit)", cli_direct_text_options },
	            CLI_COMMON },
	.completes_files = true,
	.run = predict_run,
};
