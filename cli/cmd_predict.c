/* kindred predict. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"
#include "core/system.h"

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

static cli_option_group groups[] = {
	{ "Options", own_options },
	{ "Input files", cli_reading_options },
	{ "Text input (words are counted as for the fit)", cli_direct_text_options },
	{ "Common", cli_common_options },
	{ NULL, NULL },
};

/* The file of the labels: -o or, if that is a folder, a file there with the name of the data set; to be freed. NULL without -o. */
static char *labels_path(const cli_args *args, const kdr_data *data)
{
	const char *path = cli_get(args, "output", NULL);
	kdri_file info;
	if (!path)
		return NULL;
	size_t length = strlen(path), room = length + strlen(kdr_data_name(data)) + 16;
	const bool slash = length > 0 && kdri_is_separator(path[length - 1]);
	const bool folder = slash || (kdri_file_at(path, &info) && info.folder);
	char *out = malloc(room);
	if (out)
		snprintf(out, room, "%s%s%s%s", path, folder && !slash ? "/" : "",
		         folder ? kdr_data_name(data) : "", folder ? ".labels" : "");
	return out;
}

static int write_labels(kdr_context *ctx, const cli_args *args, const char *path, const kdr_result *result)
{
	size_t length;
	char *text = cli_labels_text(result, 0, &length);
	int code = text ? EXIT_DONE : EXIT_OTHER;
	if (text && path) {
		code = cli_code(ctx, kdr_write_file(ctx, path, text, length, cli_flag(args, "force")));
	} else if (text) {
		cli_print_data(text, length);
	}
	free(text);
	return code;
}

/* FILE less its ending, and .samples.csv; to be freed. NULL where labels go to no file of their own. */
static char *samples_path(const char *path)
{
	kdri_file info;
	if (!path || (kdri_file_at(path, &info) && !info.regular))
		return NULL;
	const char *name = path + kdri_folder_length(path), *dot = strrchr(name, '.');
	size_t stem = dot && dot > name ? (size_t)(dot - path) : strlen(path), room = stem + 16;
	char *out = malloc(room);
	if (out)
		snprintf(out, room, "%.*s.samples.csv", (int)stem, path);
	return out;
}

static int write_samples(kdr_context *ctx, const cli_args *args, const char *path, const kdr_result *result)
{
	char *samples = samples_path(path);
	if (!samples)
		return EXIT_DONE;
	kdr_status st =
	        kdr_result_write_table(ctx, result, KDR_TABLE_SAMPLES, 0, samples, cli_flag(args, "force"));
	free(samples);
	return cli_code(ctx, st);
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
static int predict_check_outputs(kdr_context *ctx, const cli_args *args, kdr_data *data, const char *path)
{
	const char *given = cli_get(args, "output", NULL);
	int code = EXIT_DONE;
	if (path && strcmp(path, given) != 0 && (code = cli_names_check(&data, 1)) == EXIT_DONE)
		code = cli_make_folder(given);
	if (code != EXIT_DONE)
		return code;
	char *samples = samples_path(path);
	kdr_status st = samples ? kdr_write_check(ctx, path, cli_flag(args, "force")) : KDR_OK;
	if (st == KDR_OK && samples && strcmp(path, given) != 0)
		st = kdr_labels_check(ctx, path, kdr_data_path(data));
	if (st == KDR_OK && samples)
		st = kdr_write_check(ctx, samples, cli_flag(args, "force"));
	free(samples);
	return cli_code(ctx, st);
}

static int predict_write(kdr_context *ctx, const cli_args *args, const cli_tasks *only, const char *path,
                         kdr_result *result)
{
	CLI_DO(cli_names_read(ctx, args, result));
	CLI_DO(cli_code(ctx, kdr_outputs_begin(ctx, NULL)));
	int code = write_samples(ctx, args, path, result);
	if (code == EXIT_DONE)
		code = cli_write_back(ctx, args, only, 0, result, NULL);
	if (code == EXIT_DONE)
		code = write_labels(ctx, args, path, result);
	if (code == EXIT_DONE)
		code = cli_code(ctx, kdr_outputs_end(ctx, KDR_OK));
	if (code == EXIT_DONE) {
		print_doubtful(args, result);
		cli_write_back_print(args, only, 0);
	}
	return code;
}

static int predict_run(cli_args *args)
{
	int code = EXIT_DONE;
	kdr_model *model = NULL;
	kdr_data *data = NULL;
	kdr_result *result = NULL;
	kdr_predict_options o;
	const char *model_path = cli_get(args, "model", NULL), *path;
	char name[256], *labels = NULL;
	if (!model_path)
		return cli_usage_error("predict needs --model FILE");
	if (cli_positional_count(args) != 1)
		return cli_usage_error("predict needs one data file (got %d)", cli_positional_count(args));
	kdr_context *ctx;
	CLI_DO(cli_session_open(args, &ctx));
	kdr_read_options reading;
	cli_reading(args, &reading);
	cli_task_split(cli_positional(args, 0), name, sizeof name, &path);
	reading.name = name[0] ? name : NULL;
	kdr_predict_options_init(&o);
	o.task = cli_get(args, "task", NULL);
	kdr_status st = kdr_model_load(ctx, model_path, &model);
	if (st == KDR_OK) {
		kdr_model_reading(model, &reading);
		st = kdr_read(ctx, path, &reading, &data);
	}
	const cli_tasks only = { .count = 1, .data = &data, .from = &(int64_t){ 0 } };
	if (st != KDR_OK) {
		code = cli_code_reading(ctx, st);
	} else if (cli_get(args, "output", NULL) && !(labels = labels_path(args, data)))
		code = cli_no_memory();
	else if ((code = cli_names_read(ctx, args, NULL)) == EXIT_DONE &&
	         (code = predict_check_outputs(ctx, args, data, labels)) == EXIT_DONE &&
	         (code = cli_write_back(ctx, args, &only, 0, NULL, NULL)) == EXIT_DONE) {
		if (cli_flag(args, "strict"))
			cli_session_strict();
		st = kdr_predict(ctx, model, data, &o, &result);
		code = cli_session_refused() ? EXIT_DATA
		       : st == KDR_OK        ? predict_write(ctx, args, &only, labels, result)
		                             : cli_fail(ctx, st);
	}
	free(labels);
	kdr_result_free(result);
	kdr_data_free(data);
	kdr_model_free(model);
	return cli_session_close(ctx, code);
}

const cli_command cli_predict = {
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
	.groups = groups,
	.completes_files = true,
	.run = predict_run,
};
