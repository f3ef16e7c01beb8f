/* --write-h5ad: the inputs given back with what was found. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

/* The last part of a path without its ending. */
static void stem_of(const char *path, char *out, size_t room)
{
	size_t n = strlen(path);
	while (n > 1 && path[n - 1] == '/')
		n--;
	size_t begin = n;
	while (begin > 0 && path[begin - 1] != '/')
		begin--;
	const char *dot = memchr(path + begin, '.', n - begin);
	snprintf(out, room, "%.*s",
	         (int)(dot && dot > path + begin ? (size_t)(dot - path) - begin : n - begin), path + begin);
}

/* "out.h5ad"; where several files are written "out-NAME.h5ad": by the task, or the file it was split from. */
static void output_path(const char *given, const cli_tasks *tasks, int64_t task, bool several, char *out,
                        size_t room)
{
	char name[256];
	int64_t parts = 0;
	for (int64_t i = 0; i < tasks->count; i++)
		parts += tasks->from[i] == tasks->from[task];
	if (!several) {
		snprintf(out, room, "%s", given);
		return;
	}
	if (parts > 1)
		stem_of(kdr_data_path(tasks->data[task]), name, sizeof name);
	else
		snprintf(name, sizeof name, "%s", kdr_data_name(tasks->data[task]));
	size_t n = strlen(given), ending = n > 5 && strcmp(given + n - 5, ".h5ad") == 0 ? 5 : 0;
	snprintf(out, room, "%.*s-%s%s", (int)(n - ending), given, name, given + n - ending);
}

int cli_h5ad(kdr_context *ctx, const cli_args *args, const cli_tasks *tasks, int64_t first,
             const kdr_result *result, const double *const *xy)
{
	const char *given = cli_get(args, "write-h5ad", NULL);
	kdr_read_options reading;
	char path[4096];
	bool force = cli_flag(args, "force"), wanted = result || xy;
	if (!given || first >= tasks->count)
		return EXIT_DONE;
	if (cli_ranks() > 1) {
		cli_error(
		        "--write-h5ad: not under mpirun, where no process has all rows; <task>.samples.csv has them");
		return EXIT_USAGE;
	}
	cli_reading(args, &reading);
	bool several = tasks->from[first] != tasks->from[tasks->count - 1];
	for (int64_t t = first; t < tasks->count; t++) {
		if (t > first && tasks->from[t] == tasks->from[t - 1])
			continue;
		const char *input = kdr_data_path(tasks->data[t]);
		if (strcmp(input, "-") == 0) {
			cli_error("--write-h5ad: standard input cannot be given back");
			return EXIT_USAGE;
		}
		output_path(given, tasks, t, several, path, sizeof path);
		kdr_status st = wanted ? kdr_write_h5ad(ctx, path, input, &reading, tasks->data, tasks->count,
		                                        result, xy, force)
		                       : kdr_write_check(ctx, path, force);
		if (st != KDR_OK)
			return cli_fail(ctx, st);
		if (wanted && !cli_quiet(args))
			fprintf(cli_get(args, "output", NULL) ? stdout : stderr, "written: %s\n", path);
	}
	return EXIT_DONE;
}
