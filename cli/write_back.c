/* --write-h5ad, --write-table: the inputs with what was found. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"
#include "core/system.h"
#include "core/words.h"

#include <string.h>

/* The last part of a path without its ending. */
static void stem_of(const char *path, char *out, size_t room)
{
	size_t n = strlen(path);
	while (n > 1 && kdri_is_separator(path[n - 1]))
		n--;
	size_t begin = n;
	while (begin > 0 && !kdri_is_separator(path[begin - 1]))
		begin--;
	const char *dot = memchr(path + begin, '.', n - begin);
	snprintf(out, room, "%.*s",
	         (int)(dot && dot > path + begin ? (size_t)(dot - path) - begin : n - begin), path + begin);
}

/* Where the ending of a file name begins: ".csv.gz" counts as one. */
static size_t ending_at(const char *path)
{
	const char *name = path + kdri_folder_length(path), *dot = strrchr(name, '.');
	size_t n = strlen(path), at = dot && dot > name ? (size_t)(dot - path) : n;
	if (at < n && strcmp(path + at, ".gz") == 0)
		for (size_t i = at; i > (size_t)(name - path); i--)
			if (path[i - 1] == '.')
				return i - 1;
	return at;
}

/* The length of a path without the sheet of a workbook. */
static size_t file_length(const char *path)
{
	const char *sheet = kdri_path_sheet(path);
	return sheet ? (size_t)(sheet - 1 - path) : strlen(path);
}

/* Whether two data sets were read from one file: a table that was split, or sheets of a workbook. */
static bool same_file(const cli_tasks *tasks, int64_t a, int64_t b)
{
	const char *x = kdr_data_path(tasks->data[a]), *y = kdr_data_path(tasks->data[b]);
	const size_t n = file_length(x);
	return tasks->from[a] == tasks->from[b] ||
	       (n < strlen(x) && n == file_length(y) && memcmp(x, y, n) == 0);
}

/* What names the file of a data set among several: the data set, or the file that it and others were read from. */
static void name_of(const cli_tasks *tasks, int64_t task, char *out, size_t room)
{
	int64_t parts = 0;
	for (int64_t i = 0; i < tasks->count; i++)
		parts += same_file(tasks, i, task);
	if (parts > 1)
		stem_of(kdr_data_path(tasks->data[task]), out, room);
	else
		snprintf(out, room, "%s", kdr_data_name(tasks->data[task]));
}

/* "out.csv"; if several files are written "out-NAME.csv". Files of one name are named after their first data sets. */
static void output_path(const char *given, const cli_tasks *tasks, int64_t task, bool several, char *out,
                        size_t room)
{
	char name[256], other[256];
	bool same = false;
	if (!several) {
		snprintf(out, room, "%s", given);
		return;
	}
	name_of(tasks, task, name, sizeof name);
	for (int64_t i = 0; i < tasks->count; i++) {
		name_of(tasks, i, other, sizeof other);
		same = same || (!same_file(tasks, i, task) && strcmp(name, other) == 0);
	}
	if (same)
		snprintf(name, sizeof name, "%s", kdr_data_name(tasks->data[task]));
	size_t ending = ending_at(given);
	snprintf(out, room, "%.*s-%s%s", (int)ending, given, name, given + ending);
}

static bool ends_with(const char *text, const char *ending)
{
	size_t n = strlen(text), m = strlen(ending);
	return n >= m && strcmp(text + n - m, ending) == 0;
}

/* Whether a path is that of a workbook, or of one of its sheets. */
static bool is_workbook(const char *path)
{
	const char *dot = strstr(path, ".xls");
	return dot && (dot[4] == 'x' || dot[4] == 'm') && (dot[5] == '\0' || dot[5] == ':');
}

/* Whether the table of a data set can be given back under this name. */
static void check_table(const kdr_data *data, const char *path)
{
	static const char *const endings[] = { ".csv", ".tsv", ".tab", ".txt", NULL };
	const char *input = kdr_data_table(data);
	const bool workbook = input && is_workbook(input);
	kdri_file info;
	if (!input || (!workbook && (!kdri_file_at(input, &info) || !info.regular)))
		cli_usage_error(
		        "--write-table: %s is not a CSV, TSV or Excel file that can be read a second time",
		        kdr_data_path(data));
	if (workbook && !ends_with(path, ".xlsx") && !ends_with(path, ".xlsm"))
		cli_usage_error("--write-table %s: the input is an Excel file; use a name that ends in .xlsx",
		                path);
	if (!workbook && !cli_has_ending(path, endings))
		cli_usage_error(
		        "--write-table %s: the input is a text table; use a name that ends in .csv, .tsv, .tab or .txt",
		        path);
}

/* The result's data set of that name; -1: there is none. */
static int64_t task_named(const kdr_result *result, const char *name)
{
	for (int64_t i = 0; i < kdr_result_ntasks(result); i++)
		if (strcmp(kdr_result_task_name(result, i), name) == 0)
			return i;
	return -1;
}

/* Writes one file for one of the options; without a result, checks whether it can be written. */
static kdr_status write_one(const cli_run *run, int64_t task, bool table, const char *path,
                            const double *const *xy)
{
	const cli_args *args = run->args;
	const cli_tasks *tasks = &run->tasks;
	kdr_read_options reading;
	const char *input = kdr_data_path(tasks->data[task]), *key = cli_get(args, "key-added", NULL);
	const bool force = cli_flag(args, "force"), check = !run->result && !xy;
	cli_reading(args, &reading);
	const kdr_status st =
	        table ? kdr_result_write_input(
	                        run->ctx, run->result,
	                        check ? task : task_named(run->result, kdr_data_name(tasks->data[task])),
	                        cli_get(args, "write-columns", NULL), path, force)
	              : kdr_write_h5ad(run->ctx, path, input, &reading, tasks->data, tasks->count,
	                               run->result, xy, key, force);
	return st == KDR_OK && check ? kdr_write_check(run->ctx, path, force) : st;
}

/* The file of the data set at *t, and moves on to the next one that has a file of its own; false: there are no more. */
static bool next_file(const char *given, const cli_tasks *tasks, int64_t first, int64_t *t, char *path,
                      size_t room)
{
	if (!given || *t >= tasks->count)
		return false;
	bool several = false, done = true;
	for (int64_t i = first; i < tasks->count; i++)
		several = several || !same_file(tasks, first, i);
	output_path(given, tasks, *t, several, path, room);
	while (done && ++*t < tasks->count) {
		done = false;
		for (int64_t i = first; i < *t; i++)
			done = done || same_file(tasks, i, *t);
	}
	return true;
}

void cli_names_read(const cli_run *run)
{
	const char *path = cli_get(run->args, "names", NULL);
	kdri_file info;
	/* A pipe is read once. */
	if (path && (run->result || (strcmp(path, "-") != 0 && (!kdri_file_at(path, &info) || info.regular))))
		cli_check_reading(kdr_result_read_names(run->ctx, run->result, path));
}

static const char *const back_options[] = { "write-h5ad", "write-table" };

void cli_write_back_print(const cli_run *run)
{
	char path[4096];
	for (int table = 0; table < 2 && !cli_quiet(run->args); table++)
		for (int64_t t = run->first; next_file(cli_get(run->args, back_options[table], NULL),
		                                       &run->tasks, run->first, &t, path, sizeof path);)
			fprintf(cli_get(run->args, "output", NULL) ? stdout : stderr, "written: %s\n", path);
}

int cli_write_back(const cli_run *run, const double *const *xy)
{
	char path[4096];
	const cli_tasks *tasks = &run->tasks;
	int code = EXIT_DONE;
	for (int table = 0; table < 2; table++) {
		const char *given = cli_get(run->args, back_options[table], NULL);
		if (given && cli_ranks() > 1)
			cli_usage_error(
			        "--%s is not available under mpirun, because no process has all rows; use <task>.samples.csv",
			        back_options[table]);
		for (int64_t t = run->first, now = t;
		     code == EXIT_DONE && next_file(given, tasks, run->first, &t, path, sizeof path);
		     now = t) {
			const bool check = !run->result && !xy;
			if (check && strcmp(kdr_data_path(tasks->data[now]), "-") == 0)
				cli_usage_error("--%s needs an input file, not standard input",
				                back_options[table]);
			if (check && table)
				check_table(tasks->data[now], path);
			code = cli_code(write_one(run, now, table, path, xy));
		}
	}
	return code;
}
