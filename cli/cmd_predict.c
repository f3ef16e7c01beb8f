/* kindred predict. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

static const cli_option own_options[] = {
	{ .name = "model", .value = "FILE", .help = "a model saved with --save-model" },
	{ .name = "task",
	  .value = "NAME",
	  .help = "which of the model's tasks the samples belong to (default: the only one)" },
	{ .name = "output",
	  .letter = 'o',
	  .value = "FILE",
	  .help = "write the labels there (default: standard output)" },
	{ .name = "force", .help = "replace an existing file" },
	CLI_OPTIONS_END,
};

static const cli_option_group groups[] = {
	{ "Options", own_options },
	{ "Reading", cli_reading_options },
	{ "Common", cli_common_options },
	{ NULL, NULL },
};

/* The task that --task names, or the only one; -1 after an error was printed. */
static int64_t choose_task(const kdr_model *model, const char *name)
{
	int64_t count = kdr_model_ntasks(model);
	if (!name && count == 1)
		return 0;
	for (int64_t i = 0; name && i < count; i++)
		if (strcmp(kdr_model_task_name(model, i), name) == 0)
			return i;
	char list[256] = "";
	for (int64_t i = 0; i < count && strlen(list) < 200; i++) {
		strncat(list, i ? ", " : "", sizeof list - strlen(list) - 1);
		strncat(list, kdr_model_task_name(model, i), sizeof list - strlen(list) - 1);
	}
	if (name)
		cli_error("--task: the model has no task '%s': %s", name, list);
	else
		cli_error("the model has several tasks; choose one with --task: %s", list);
	return -1;
}

static int write_labels(kdr_context *ctx, const cli_args *args, const kdr_model *model, const int64_t *labels,
                        int64_t n)
{
	int64_t nclasses;
	const char *const *classes = kdr_model_classes(model, &nclasses),
	                  *path = cli_get(args, "output", NULL);
	size_t room = 1;
	for (int64_t i = 0; i < n; i++)
		room += classes && labels[i] >= 0 && labels[i] < nclasses ? strlen(classes[labels[i]]) + 1
		                                                          : 22;
	char *text = malloc(room), *p = text;
	int code = EXIT_DONE;
	if (!text) {
		cli_error("out of memory");
		return EXIT_OTHER;
	}
	for (int64_t i = 0; i < n; i++)
		if (classes && labels[i] >= 0 && labels[i] < nclasses)
			p += sprintf(p, "%s\n", classes[labels[i]]);
		else
			p += sprintf(p, "%lld\n", (long long)labels[i]);
	if (path) {
		kdr_status st = kdr_write_file(ctx, path, text, (size_t)(p - text), cli_flag(args, "force"));
		code = st == KDR_OK ? EXIT_DONE : cli_fail(ctx, st);
	} else {
		fwrite(text, 1, (size_t)(p - text), stdout);
	}
	free(text);
	return code;
}

static int run(cli_args *args)
{
	int code;
	kdr_model *model = NULL;
	kdr_data *data = NULL;
	int64_t *labels = NULL;
	const char *model_path = cli_get(args, "model", NULL), *path;
	char name[256];
	if (!model_path || cli_positional_count(args) != 1) {
		cli_error("predict needs --model FILE and one TASK");
		return EXIT_USAGE;
	}
	kdr_context *ctx = cli_session_open(args, &code);
	if (!ctx)
		return code;
	kdr_read_options reading;
	cli_reading(args, &reading);
	cli_task_split(cli_positional(args, 0), name, sizeof name, &path);
	reading.name = name[0] ? name : NULL;
	kdr_status st = kdr_model_load(ctx, model_path, &model);
	if (st == KDR_OK)
		st = kdr_read(ctx, path, &reading, &data);
	if (st != KDR_OK) {
		code = cli_fail_reading(ctx, st);
		goto done;
	}
	int64_t task = choose_task(model, cli_get(args, "task", NULL));
	if (task < 0) {
		code = EXIT_USAGE;
		goto done;
	}
	kdr_mat x = kdr_data_mat(data);
	int64_t n = kdr_mat_rows(&x);
	labels = calloc((size_t)n + 1, sizeof *labels);
	if (!labels) {
		cli_error("out of memory");
		code = EXIT_OTHER;
		goto done;
	}
	st = kdr_predict(ctx, model, task, data, labels);
	code = st == KDR_OK ? write_labels(ctx, args, model, labels, n) : cli_fail(ctx, st);
done:
	free(labels);
	kdr_data_free(data);
	kdr_model_free(model);
	cli_session_close(ctx);
	return cli_finish(code);
}

const cli_command cli_predict = {
	.name = "predict",
	.usage = "--model FILE [OPTION...] TASK",
	.summary = "label samples that a saved model has not seen",
	.description =
	        "Applies to TASK the preprocessing the model was fitted with, then the model. Columns are matched by name "
	        "where both have names. Prints one label a line.",
	.example =
	        "kindred cluster -k 4 --save-model m.h5 -o out cornell.mtx\nkindred predict --model m.h5 new.mtx",
	.groups = groups,
	.completes_files = true,
	.run = run,
};
