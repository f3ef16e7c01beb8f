/* Results to disk. SPDX-License-Identifier: BSD-3-Clause
 *
 * Everything that could refuse a result (an existing file, a folder that cannot be made) is checked before
 * the work starts. Each file appears whole or not at all; result.json comes last, so that it is only there
 * when all the others are. */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *join_path(const char *folder, const char *name, const char *ending)
{
	size_t room = strlen(folder) + strlen(name) + strlen(ending) + 2;
	char *path = malloc(room);
	if (path)
		snprintf(path, room, "%s/%s%s", folder, name, ending);
	else
		cli_error("out of memory");
	return path;
}

int cli_make_folder(const char *folder)
{
	struct stat info;
	if (stat(folder, &info) == 0) {
		if (S_ISDIR(info.st_mode))
			return EXIT_DONE;
		cli_error("%s: is not a folder; -o and --arrays need one", folder);
		return EXIT_USAGE;
	}
	if (mkdir(folder, 0777) != 0) {
		cli_error("%s: cannot make the folder: %s", folder, strerror(errno));
		return EXIT_OTHER;
	}
	return EXIT_DONE;
}

static int refuse_existing(const char *path)
{
	if (access(path, F_OK) != 0)
		return EXIT_DONE;
	cli_error("%s: exists already; --force replaces it", path);
	return EXIT_USAGE;
}

static int refuse_in(const char *folder, const char *name, const char *ending)
{
	char *path = join_path(folder, name, ending);
	int code = path ? refuse_existing(path) : EXIT_OTHER;
	free(path);
	return code;
}

int cli_outputs_check(kdr_context *ctx, const cli_args *args, const cli_tasks *tasks, bool labels)
{
	(void)ctx;
	const char *folder = cli_get(args, "output", NULL), *model = cli_get(args, "save-model", NULL);
	int code = EXIT_DONE;
	if (cli_flag(args, "report") && !folder) {
		cli_error("--report needs -o DIR to write report.html to");
		return EXIT_USAGE;
	}
	if (!cli_flag(args, "force")) {
		if (folder && (code = refuse_in(folder, "result", ".json")) != EXIT_DONE)
			return code;
		for (int64_t i = 0; folder && labels && i < tasks->count; i++)
			if ((code = refuse_in(folder, kdr_data_name(tasks->data[i]), ".labels")) != EXIT_DONE)
				return code;
		if (folder && cli_flag(args, "report") &&
		    (code = refuse_in(folder, "report", ".html")) != EXIT_DONE)
			return code;
		if (model && (code = refuse_existing(model)) != EXIT_DONE)
			return code;
	}
	/* A folder that cannot be written to is better known now than after hours of work. */
	struct stat info;
	if (folder && stat(folder, &info) == 0 && (!S_ISDIR(info.st_mode) || access(folder, W_OK) != 0)) {
		cli_error("%s: %s", folder,
		          S_ISDIR(info.st_mode) ? "no permission to write there" : "is not a folder");
		return EXIT_USAGE;
	}
	return EXIT_DONE;
}

/* --- files ---------------------------------------------------------------------------------------- */

char *cli_labels_text(const kdr_result *result, int64_t task, size_t *length)
{
	int64_t n, nclasses;
	const int64_t *labels = kdr_result_labels(result, task, &n);
	const char *const *classes = kdr_result_classes(result, &nclasses);
	size_t room = 1;
	if (!labels)
		return NULL;
	for (int64_t i = 0; i < n; i++)
		room += classes && labels[i] >= 0 && labels[i] < nclasses ? strlen(classes[labels[i]]) + 1
		                                                          : 22;
	char *text = malloc(room), *p = text;
	for (int64_t i = 0; text && i < n; i++)
		if (classes && labels[i] >= 0 && labels[i] < nclasses)
			p += sprintf(p, "%s\n", classes[labels[i]]);
		else if (classes) /* left without one */
			p += sprintf(p, "?\n");
		else
			p += sprintf(p, "%lld\n", (long long)labels[i]);
	if (!text)
		cli_error("out of memory");
	*length = text ? (size_t)(p - text) : 0;
	return text;
}

static int write_labels(kdr_context *ctx, const cli_run *run, const char *folder, int64_t i, bool force)
{
	size_t length;
	if (!kdr_result_labels(run->result, i, NULL))
		return EXIT_DONE;
	char *path = join_path(folder, kdr_result_task_name(run->result, i), ".labels");
	char *text = cli_labels_text(run->result, i, &length);
	int code = EXIT_OTHER;
	if (path && text) {
		kdr_status st = kdr_write_file(ctx, path, text, length, force);
		code = st == KDR_OK ? EXIT_DONE : cli_fail(ctx, st);
	}
	free(text);
	free(path);
	return code;
}

static int write_arrays(kdr_context *ctx, const cli_run *run, const char *folder, bool force)
{
	int code = cli_make_folder(folder);
	for (int64_t i = 0; i < kdr_result_array_count(run->result) && code == EXIT_DONE; i++) {
		kdr_array a = kdr_result_array_at(run->result, i);
		char name[512];
		if (a.task < 0)
			snprintf(name, sizeof name, "%s", a.name);
		else
			snprintf(name, sizeof name, "%s.%s", a.name,
			         kdr_result_task_name(run->result, a.task));
		char *path = join_path(folder, name, ".npy");
		if (!path)
			return EXIT_OTHER;
		kdr_status st = kdr_write_array(ctx, path, &a, force);
		code = st == KDR_OK ? EXIT_DONE : cli_fail(ctx, st);
		free(path);
	}
	return code;
}

static int print_json(kdr_context *ctx, const kdr_result *result)
{
	char *text;
	kdr_status st = kdr_result_json(ctx, result, &text, NULL);
	if (st != KDR_OK)
		return cli_fail(ctx, st);
	puts(text);
	kdr_free(ctx, text);
	return cli_finish(EXIT_DONE);
}

static int write_json(kdr_context *ctx, const kdr_result *result, const char *folder, bool force)
{
	char *path = join_path(folder, "result", ".json");
	if (!path)
		return EXIT_OTHER;
	kdr_status st = kdr_result_write(ctx, result, path, force);
	free(path);
	return st == KDR_OK ? EXIT_DONE : cli_fail(ctx, st);
}

static int write_report(kdr_context *ctx, const kdr_result *result, const char *folder, bool force)
{
	char *html = join_path(folder, "report", ".html");
	if (!html)
		return EXIT_OTHER;
	kdr_status st = kdr_report_result(ctx, result, html, force);
	free(html);
	return st == KDR_OK ? EXIT_DONE : cli_fail(ctx, st);
}

int cli_outputs_write(kdr_context *ctx, const cli_run *run)
{
	const char *folder = cli_get(run->args, "output", NULL), *arrays = cli_get(run->args, "arrays", NULL);
	const char *model = cli_get(run->args, "save-model", NULL);
	bool force = cli_flag(run->args, "force");
	double start = cli_now();
	int code = EXIT_DONE;
	if (arrays)
		code = write_arrays(ctx, run, arrays, force);
	if (model && code == EXIT_DONE) {
		kdr_status st = kdr_model_save(ctx, model, run->result, force);
		code = st == KDR_OK ? EXIT_DONE : cli_fail(ctx, st);
	}
	if (folder && code == EXIT_DONE)
		code = cli_make_folder(folder);
	for (int64_t i = 0; folder && i < kdr_result_ntasks(run->result) && code == EXIT_DONE; i++)
		code = write_labels(ctx, run, folder, i, force);
	kdr_seconds seconds = kdr_result_seconds(run->result);
	seconds.write = cli_now() - start;
	kdr_result_set_seconds(run->result, &seconds);
	if (folder && code == EXIT_DONE)
		code = write_json(ctx, run->result, folder, force);
	else if (code == EXIT_DONE)
		code = print_json(ctx, run->result);
	if (folder && cli_flag(run->args, "report") && code == EXIT_DONE)
		code = write_report(ctx, run->result, folder, force);
	return code;
}

static void print_summary(FILE *out, const cli_run *run)
{
	char *text = NULL;
	size_t length = 0;
	FILE *memory = open_memstream(&text, &length);
	if (memory)
		cli_summary(memory, run);
	if (memory && fclose(memory) == 0)
		cli_print_safely(out, text, length);
	free(text);
}

int cli_outputs_finish(kdr_context *ctx, const cli_run *run)
{
	bool to_folder = cli_get(run->args, "output", NULL) != NULL;
	if (cli_interrupted() && !to_folder) {
		cli_error("interrupted; with -o DIR the best result so far would have been written");
		return EXIT_INTERRUPTED;
	}
	int code = cli_outputs_write(ctx, run);
	/* With -o the summary is the output; else standard output belongs to result.json. */
	if (code == EXIT_DONE && !cli_quiet(run->args) &&
	    (to_folder || isatty(STDERR_FILENO) || cli_flag(run->args, "verbose")))
		print_summary(to_folder ? stdout : stderr, run);
	return code;
}
