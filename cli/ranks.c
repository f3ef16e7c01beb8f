/* Under mpirun: many processes, one program. SPDX-License-Identifier: BSD-3-Clause
 *
 * Only in builds with KINDRED_MPI. Only rank 0 prints and writes. If a single rank fails, for example because it cannot read a
 * file, the others learn of it in cli_ranks_agree: rank 0 prints the error of the first rank that failed, and all ranks end with its
 * status. They do not communicate after that: a rank that failed early passes fewer calls of cli_ranks_agree than one that
 * failed late, and no rank may wait for it there. */
#include "cli.h"
#include "core/system.h"
#include "core/words.h"

#include <mpi.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kindred/mpi.h"

/* MPI that lacks address space for some of its parts waits for ever, and the other ranks with it: 220 MB were seen. */
enum { LINE = 4096, ROOM = 256 << 20 };

static struct {
	bool joined;
	int rank, ranks;
	int over;        /* the status that all agreed to end with; EXIT_DONE: none yet */
	char line[LINE]; /* the first error of this rank, until it is agreed on; "": none */
} self = { .ranks = 1 };

int cli_rank(void)
{
	return self.joined ? self.rank : cli_launched_rank() > 0 ? cli_launched_rank() : 0;
}

int cli_ranks(void)
{
	return self.ranks;
}

bool cli_ranks_hold(const char *format, va_list args)
{
	bool hold = self.joined || cli_rank() > 0;
	if (hold && self.line[0] == '\0')
		vsnprintf(self.line, sizeof self.line, format, args);
	return hold;
}

/* Cores of a machine that nothing ties its ranks to are shared out between them. */
static void share_threads(kdr_context *ctx)
{
	MPI_Comm here;
	int beside = 1;
	if (MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here) != MPI_SUCCESS)
		return;
	MPI_Comm_size(here, &beside);
	MPI_Comm_free(&here);
	int threads = kdr_context_threads(ctx);
	if (beside > 1 && threads >= sysconf(_SC_NPROCESSORS_ONLN))
		kdr_context_set_threads(ctx, threads / beside > 1 ? threads / beside : 1);
}

void cli_ranks_join(const cli_run *run)
{
	if (cli_launched_rank() < 0)
		return;
	if (!cli_room(ROOM))
		cli_stop(
		        EXIT_OTHER,
		        "MPI needs %d MB, but the limit on address space (ulimit -v) leaves less; raise the limit",
		        ROOM >> 20);
	if (MPI_Init(NULL, NULL) != MPI_SUCCESS)
		cli_stop(EXIT_OTHER, "MPI cannot be started");
	MPI_Comm_rank(MPI_COMM_WORLD, &self.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &self.ranks);
	self.joined = true;
	if (!cli_get(run->args, "threads", NULL))
		share_threads(run->ctx);
	cli_check(kdr_context_set_mpi(run->ctx, MPI_Comm_c2f(MPI_COMM_WORLD)));
}

int cli_ranks_agree(int code)
{
	if (!self.joined || self.over != EXIT_DONE)
		return self.over != EXIT_DONE ? self.over : code;
	/* The largest exit status, and of the ranks that have it the first. */
	int64_t word = code == EXIT_DONE ? 0 : ((int64_t)code << 32) | (INT32_MAX - self.rank);
	MPI_Allreduce(MPI_IN_PLACE, &word, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
	if (word == 0)
		return EXIT_DONE;
	int who = (int)(INT32_MAX - (word & INT32_MAX));
	MPI_Bcast(self.line, LINE, MPI_CHAR, who, MPI_COMM_WORLD);
	self.line[LINE - 1] = '\0';
	if (self.rank == 0 && self.line[0]) {
		self.joined = false; /* print this one, even if only the first error is printed */
		cli_errors_once();
		if (who > 0)
			cli_error("rank %d: %s", who, self.line);
		else
			cli_error("%s", self.line);
		self.joined = true;
	}
	self.line[0] = '\0';
	self.over = (int)(word >> 32);
	return self.over;
}

bool cli_ranks_any(bool here)
{
	int any = here;
	if (self.joined && self.over == EXIT_DONE)
		MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	return any != 0;
}

/* Columns of tasks in files of their own may name others on each rank. */
static bool same_tasks(kdr_data *const *data, int64_t count)
{
	uint64_t hash = 14695981039346656037u;
	for (int64_t i = 0; i < count; i++)
		for (const char *p = kdr_data_name(data[i]);; p++) { /* the ending zero, too */
			hash = (hash ^ (unsigned char)*p) * 1099511628211u;
			if (*p == '\0')
				break;
		}
	int64_t word = (int64_t)(hash >> 2), ends[] = { word, -word };
	MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
	return ends[0] == -ends[1];
}

void cli_ranks_place(const cli_run *run)
{
	const cli_tasks *tasks = &run->tasks;
	if (!self.joined)
		return;
	if (!same_tasks(tasks->data, tasks->count))
		cli_stop(
		        EXIT_DATA,
		        "the files of the ranks do not have the same data sets in the same order; with --task-column, "
		        "give one file, of which each rank reads a part");
	for (int64_t i = 0; i < tasks->count; i++)
		cli_check(kdr_mpi_place(run->ctx, tasks->data[i]));
}

void cli_ranks_leave(void)
{
	if (self.joined)
		MPI_Finalize();
	self.joined = false;
}

/* Before the ranks are connected, a wrong argument is wrong on all of them, and rank 0 reports it; but a rank that is out of
 * memory reports that itself. mpirun ends the others when a process ends with a failure before MPI is up. */
void cli_ranks_early(int code)
{
	if (code == EXIT_OTHER && self.ranks == 1 && cli_rank() > 0 && self.line[0])
		fprintf(stderr, "kindred: rank %d: %s\n", cli_rank(), self.line);
}

/* "part{rank}.npy": "part3.npy" on rank 3. */
static const char *put_rank(const char *path, const char *at)
{
	return cli_format("%.*s%d%s", (int)(at - path), path, self.rank, at + strlen("{rank}"));
}

/* The name of a task of many files: that of its path without "{rank}", or of the first file of a list. */
static void name_task(const char *path, size_t length, kdr_task_path *task)
{
	const char *slash = NULL, *at = NULL;
	if (task->name)
		return;
	char *name = cli_new(length + 1, 1);
	for (size_t i = 0; i < length; i++)
		slash = path[i] == '/' ? path + i : slash;
	size_t used = 0;
	for (at = slash ? slash + 1 : path; at < path + length; at++) {
		if (strncmp(at, "{rank}", 6) == 0) {
			at += 5;
			continue;
		}
		if (*at == '.')
			break;
		name[used++] = *at;
	}
	while (used > 1 && strchr("-_.", name[used - 1]))
		used--;
	name[used] = '\0';
	task->name = used > 0 ? name : NULL;
}

/* The file of a list of as many as there are ranks that is this rank's; NULL: it is none. *end: behind the first. */
static const char *from_list(const char *path, const char **end)
{
	const cli_list list = cli_list_split(path);
	*end = path + strcspn(path, ",");
	return list.count == self.ranks && list.count > 1 ? list.items[self.rank] : NULL;
}

void cli_ranks_paths(kdr_task_path *list, int count, kdr_read_options *reading)
{
	int own = 0;
	if (!self.joined)
		return;
	kdri_name_paths(list, count); /* while sheets of one workbook have one path */
	for (int i = 0; i < count; i++) {
		const char *path = list[i].path, *at = strstr(path, "{rank}"), *end = NULL;
		const char *file = at ? put_rank(path, at) : kdri_exists(path) ? NULL : from_list(path, &end);
		if (!file)
			continue;
		name_task(path, at ? strlen(path) : (size_t)(end - path), &list[i]);
		list[i].path = file;
		own++;
	}
	if (own > 0 && own < count)
		cli_usage_error(
		        "under mpirun, give one file per rank ({rank}, or a list of %d files) for all data sets, or for none",
		        self.ranks);
	if (own == 0 && self.ranks > 1) {
		reading->part = self.rank;
		reading->parts = self.ranks;
	}
	reading->may_be_empty = own > 0 && self.ranks > 1;
}
