/* Data sets named on the command line: read, aligned, preprocessed, with their labels.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void cli_task_split(const char *argument, char *name, size_t room, const char **path)
{
	const char *equals = strchr(argument, '=');
	name[0] = '\0';
	*path = argument;
	/* A file whose own name holds '=' is still a file. */
	if (!equals || equals == argument || (size_t)(equals - argument) >= room ||
	    access(argument, F_OK) == 0 || memchr(argument, '/', (size_t)(equals - argument)))
		return;
	memcpy(name, argument, (size_t)(equals - argument));
	name[equals - argument] = '\0';
	*path = equals + 1;
}

void cli_reading(const cli_args *args, kdr_read_options *out)
{
	const char *header = cli_get(args, "header", NULL);
	*out = (kdr_read_options){
		.format = cli_get(args, "format", NULL),
		.label_column = cli_get(args, "label-column", NULL),
		.id_column = cli_get(args, "id-column", NULL),
		.header = header ? strcmp(header, "1") == 0 : -1,
		.missing = cli_get(args, "missing", NULL),
		.decimal = cli_get(args, "decimal", NULL),
	};
}

/* Names become names of files. */
static int check_names(const cli_tasks *tasks)
{
	for (int64_t i = 0; i < tasks->count; i++) {
		const char *name = kdr_data_name(tasks->data[i]);
		if (!name[0] || strchr(name, '/') || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
			cli_error("'%s' cannot be the name of a task: give one with name=path", name);
			return EXIT_USAGE;
		}
		for (int64_t j = 0; j < i; j++)
			if (strcmp(name, kdr_data_name(tasks->data[j])) == 0) {
				cli_error("two tasks are called '%s': give them names with name=path", name);
				return EXIT_USAGE;
			}
	}
	return EXIT_DONE;
}

static bool read_prep_options(const cli_args *args, kdr_prep_options *out)
{
	int64_t top = 0;
	if (!cli_get_int(args, "top-features", 1, INT64_MAX, &top))
		return false;
	*out = (kdr_prep_options){
		.align = (kdr_align)(cli_get_choice(args, "features", -1) + 1),
		.weight = (kdr_weight)cli_get_choice(args, "weight", KDR_WEIGHT_NONE),
		.norm = (kdr_norm)cli_get_choice(args, "norm", KDR_NORM_NONE),
		.scale = (kdr_scale)cli_get_choice(args, "scale", KDR_SCALE_NONE),
		.top_features = top,
		.fit_each = cli_get_choice(args, "fit-on", 0) == 1,
	};
	return true;
}

/* The method in force; NULL for commands that have none. */
static const char *method_of(const cli_args *args)
{
	const char *command = cli_args_command(args)->name;
	bool clusters = strcmp(command, "cluster") == 0, transfers = strcmp(command, "transfer") == 0;
	const char *name = cli_get(args, "method",
	                           clusters    ? cli_cluster_method
	                           : transfers ? cli_transfer_method
	                                       : NULL);
	return name ? cli_method_name(name) : NULL;
}

/* 'auto' looks at the data and chooses, unless something is said about it. */
static kdr_status suggest(kdr_context *ctx, const cli_args *args, kdr_prep_options *options, cli_tasks *tasks)
{
	static const char *const said[] = { "weight", "norm", "scale" };
	const char *method = method_of(args);
	if (!method || strcmp(method, "auto") != 0)
		return KDR_OK;
	for (int i = 0; i < 3; i++)
		if (cli_get(args, said[i], NULL))
			return KDR_OK;
	return kdr_prep_suggest(ctx, tasks->data, tasks->count, options, &tasks->kind);
}

static int prepare(kdr_context *ctx, const kdr_prep_options *options, bool own, int64_t split,
                   cli_tasks *tasks)
{
	double start = cli_now();
	kdr_status st = KDR_OK;
	/* Features of their own: nothing to align; the first's preparation stands for its description. */
	for (int64_t i = 0; own && i < tasks->count && st == KDR_OK; i++) {
		kdr_prep *prep = NULL;
		st = kdr_prepare(ctx, &tasks->data[i], 1, options, i == 0 ? &tasks->prep : &prep);
		kdr_prep_free(prep);
	}
	if (!own)
		st = kdr_prepare(ctx, tasks->data, split ? split : tasks->count, options, &tasks->prep);
	if (!own && split && st == KDR_OK)
		st = kdr_prepare(ctx, tasks->data + split, tasks->count - split, options, NULL);
	tasks->seconds_prepare = cli_now() - start;
	return st == KDR_OK ? EXIT_DONE : cli_fail(ctx, st);
}

int cli_tasks_read(kdr_context *ctx, const cli_args *args, const cli_task_arg *list, int count,
                   cli_tasks *out)
{
	return cli_tasks_read_split(ctx, args, list, count, 0, out);
}

int cli_tasks_read_split(kdr_context *ctx, const cli_args *args, const cli_task_arg *list, int count,
                         int split, cli_tasks *out)
{
	int code = EXIT_DONE;
	double start = cli_now();
	kdr_read_options reading;
	kdr_prep_options preparing;
	*out = (cli_tasks){ 0 };
	if (!read_prep_options(args, &preparing))
		return EXIT_USAGE;
	out->data = calloc((size_t)count, sizeof(kdr_data *));
	out->truth = calloc((size_t)count, sizeof(kdr_labels *));
	out->init = calloc((size_t)count, sizeof(kdr_labels *));
	if (!out->data || !out->truth || !out->init) {
		cli_error("out of memory");
		return EXIT_OTHER;
	}
	cli_reading(args, &reading);
	for (int i = 0; i < count && code == EXIT_DONE; i++) {
		if (strcmp(list[i].path, "-") == 0 && !reading.format) {
			cli_error("standard input needs --format");
			return EXIT_USAGE;
		}
		reading.name = list[i].name[0]                  ? list[i].name
		               : strcmp(list[i].path, "-") == 0 ? "stdin"
		                                                : NULL;
		kdr_status st = kdr_read(ctx, list[i].path, &reading, &out->data[i]);
		if (st != KDR_OK)
			code = cli_fail_reading(ctx, st);
		else
			out->count++;
	}
	out->seconds_read = cli_now() - start;
	if (code == EXIT_DONE)
		code = check_names(out);
	const kdr_algo *method = method_of(args) ? kdr_algo_find(method_of(args)) : NULL;
	if (code == EXIT_DONE) {
		kdr_status st = suggest(ctx, args, &preparing, out);
		code = st == KDR_OK ? EXIT_DONE : cli_fail(ctx, st);
	}
	if (code == EXIT_DONE)
		code = prepare(ctx, &preparing, method && method->flags & KDR_ALGO_OWN_FEATURES, split, out);
	return code;
}

int cli_tasks_read_positional(kdr_context *ctx, const cli_args *args, cli_tasks *out)
{
	int count = cli_positional_count(args);
	*out = (cli_tasks){ 0 };
	if (count == 0) {
		cli_error("%s needs at least one TASK: a data file, or name=file",
		          cli_args_command(args)->name);
		return EXIT_USAGE;
	}
	cli_task_arg *list = calloc((size_t)count, sizeof *list);
	if (!list) {
		cli_error("out of memory");
		return EXIT_OTHER;
	}
	for (int i = 0; i < count; i++)
		cli_task_split(cli_positional(args, i), list[i].name, sizeof list[i].name, &list[i].path);
	int code = cli_tasks_read(ctx, args, list, count, out);
	free(list);
	return code;
}

/* --- labels -------------------------------------------------------------------------------------- */

int cli_labels_read(kdr_context *ctx, const char *path, const kdr_data *data, const char *what,
                    kdr_labels **out)
{
	kdr_mat x = kdr_data_mat(data);
	kdr_status st = kdr_read_labels(ctx, path, out);
	if (st != KDR_OK)
		return cli_fail_reading(ctx, st);
	if ((*out)->n != kdr_mat_rows(&x)) {
		cli_error("%s: %lld %s, but task %s has %lld samples", path, (long long)(*out)->n, what,
		          kdr_data_name(data), (long long)kdr_mat_rows(&x));
		return EXIT_DATA;
	}
	return EXIT_DONE;
}

static int read_list(kdr_context *ctx, const cli_args *args, const char *option, const cli_tasks *tasks,
                     const char *what, kdr_labels **out)
{
	const char *text = cli_get(args, option, NULL);
	cli_list list;
	int code = EXIT_DONE;
	if (!text)
		return EXIT_DONE;
	if (!cli_list_split(text, &list))
		return EXIT_OTHER;
	if (list.count != tasks->count) {
		cli_error("--%s names %d files for %lld tasks: one for each is needed", option, list.count,
		          (long long)tasks->count);
		code = EXIT_USAGE;
	}
	for (int i = 0; i < list.count && code == EXIT_DONE; i++)
		code = cli_labels_read(ctx, list.items[i], tasks->data[i], what, &out[i]);
	cli_list_free(&list);
	return code;
}

char *cli_labels_beside(const char *path)
{
	size_t n = strlen(path);
	char *out = malloc(n + 8);
	if (!out)
		return NULL;
	strcpy(out, path);
	if (n > 3 && strcmp(out + n - 3, ".gz") == 0)
		out[n - 3] = '\0';
	char *dot = strrchr(out, '.'), *slash = strrchr(out, '/');
	if (dot && (!slash || dot > slash + 1))
		*dot = '\0';
	strcat(out, ".labels");
	return out;
}

int cli_tasks_labels(kdr_context *ctx, const cli_args *args, cli_tasks *tasks)
{
	int code = read_list(ctx, args, "truth", tasks, "known classes", tasks->truth);
	if (code == EXIT_DONE)
		code = read_list(ctx, args, "init", tasks, "initial labels", tasks->init);
	for (int64_t i = 0; i < tasks->count && code == EXIT_DONE; i++)
		if (tasks->init[i] && !tasks->init[i]->integers) {
			cli_error("--init: labels of task %s are not all whole numbers",
			          kdr_data_name(tasks->data[i]));
			code = EXIT_DATA;
		}
	if (code != EXIT_DONE || cli_get(args, "truth", NULL) || !cli_flag(args, "score"))
		return code;
	for (int64_t i = 0; i < tasks->count && code == EXIT_DONE; i++) {
		char *path = cli_labels_beside(kdr_data_path(tasks->data[i]));
		if (!path) {
			cli_error("out of memory");
			return EXIT_OTHER;
		}
		if (access(path, F_OK) == 0)
			code = cli_labels_read(ctx, path, tasks->data[i], "known classes", &tasks->truth[i]);
		else if (!kdr_data_labels(tasks->data[i]))
			cli_warn("--score: there is no %s: task %s is not scored", path,
			         kdr_data_name(tasks->data[i]));
		free(path);
	}
	return code;
}

void cli_tasks_drop(cli_tasks *tasks, int64_t i)
{
	kdr_data_free(tasks->data[i]);
	kdr_labels_free(tasks->truth[i]);
	kdr_labels_free(tasks->init[i]);
	tasks->count--;
	for (int64_t k = i; k < tasks->count; k++) {
		tasks->data[k] = tasks->data[k + 1];
		tasks->truth[k] = tasks->truth[k + 1];
		tasks->init[k] = tasks->init[k + 1];
	}
}

void cli_tasks_free(cli_tasks *tasks)
{
	for (int64_t i = 0; i < tasks->count; i++) {
		kdr_data_free(tasks->data[i]);
		kdr_labels_free(tasks->truth[i]);
		kdr_labels_free(tasks->init[i]);
	}
	free(tasks->data);
	free(tasks->truth);
	free(tasks->init);
	kdr_prep_free(tasks->prep);
	*tasks = (cli_tasks){ 0 };
}
