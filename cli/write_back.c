/* --write-h5ad, --write-table: the inputs with what was found. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"
#include "core/system.h"

#include <string.h>

static const char *const back_options[] = { "write-h5ad", "write-table" };

/* The file of data set t, if it is the first one in it; else NULL. */
static const char *file_at(const cli_run *run, int table, int64_t t)
{
	char **copies = run->copies[table];
	for (int64_t o = run->first; copies && o < t; o++)
		if (copies[o - run->first] == copies[t - run->first])
			return NULL;
	return copies ? copies[t - run->first] : NULL;
}

/* Which files an option writes. */
static void find_files(cli_run *run, int table)
{
	const char *option = back_options[table], *given = cli_get(run->args, option, NULL);
	kdr_data **sets = run->tasks.data + run->first;
	const int64_t count = run->tasks.count - run->first;
	char **copies = NULL;
	if (!given)
		return;
	if (cli_ranks() > 1)
		cli_usage_error(
		        "--%s is not available under mpirun, because no process has all rows; use <task>.samples.csv",
		        option);
	for (int64_t t = 0; t < count; t++)
		if (strcmp(kdr_data_path(sets[t]), "-") == 0)
			cli_usage_error("--%s needs an input file, not standard input", option);
	const kdr_status st = kdr_copy_paths(run->ctx, sets, count, table, given, &copies);
	run->copies[table] = copies;
	if (st == KDR_ERR_OPTION)
		cli_usage_error("--%s %s", option, kdr_context_error(run->ctx));
	cli_check(st);
	for (int64_t t = 0; t < count; t++)
		if (!copies[t])
			cli_usage_error(
			        "--%s: %s is not a CSV, TSV or Excel file that can be read a second time",
			        option, kdr_data_path(sets[t]));
}

/* The result's data set of that name; -1: there is none. */
static int64_t task_named(const kdr_result *result, const char *name)
{
	for (int64_t i = 0; i < kdr_result_ntasks(result); i++)
		if (strcmp(kdr_result_task_name(result, i), name) == 0)
			return i;
	return -1;
}

/* Writes the file of data set `task` and those that share it; without a result, checks the other options. */
static kdr_status write_one(const cli_run *run, int64_t task, bool table, const char *path,
                            const double *const *xy)
{
	const cli_args *args = run->args;
	const cli_tasks *tasks = &run->tasks;
	const bool force = cli_flag(args, "force");
	kdr_read_options reading;
	int64_t count = 0;
	if (table)
		return kdr_result_write_input(run->ctx, run->result,
		                              task_named(run->result, kdr_data_name(tasks->data[task])),
		                              cli_get(args, "write-columns", NULL), path, force);
	kdr_data **sets = cli_new((size_t)tasks->count, sizeof(kdr_data *));
	const double **places = cli_new((size_t)tasks->count, sizeof *places);
	for (int64_t t = task; t < tasks->count; t++)
		if (run->copies[0][t - run->first] == path) {
			places[count] = xy ? xy[t] : NULL;
			sets[count++] = tasks->data[t];
		}
	cli_reading(args, &reading);
	return kdr_write_h5ad(run->ctx, path, kdr_data_path(sets[0]), &reading, sets, count, run->result,
	                      xy ? places : NULL, cli_get(args, "key-added", NULL), force);
}

void cli_names_read(const cli_run *run)
{
	const char *path = cli_get(run->args, "names", NULL);
	kdri_file info;
	/* A pipe is read once. */
	if (path && (run->result || (strcmp(path, "-") != 0 && (!kdri_file_at(path, &info) || info.regular))))
		cli_check_reading(kdr_result_read_names(run->ctx, run->result, path));
}

void cli_write_back_print(const cli_run *run)
{
	const char *path;
	for (int table = 0; table < 2 && !cli_quiet(run->args); table++)
		for (int64_t t = run->first; t < run->tasks.count; t++)
			if ((path = file_at(run, table, t)))
				fprintf(cli_get(run->args, "output", NULL) ? stdout : stderr, "written: %s\n",
				        path);
}

kdr_status cli_write_back(cli_run *run, const double *const *xy)
{
	const bool check = !run->result && !xy;
	kdr_status st = KDR_OK;
	for (int table = 0; table < 2; table++) {
		const char *path;
		if (check)
			find_files(run, table);
		for (int64_t t = run->first; st == KDR_OK && t < run->tasks.count; t++) {
			if (!(path = file_at(run, table, t)))
				continue;
			st = write_one(run, t, table, path, xy);
			if (st == KDR_OK && check)
				st = cli_write_check(run, path);
		}
	}
	return st;
}
