/* Runs rows of presets that have no file yet, several at a time. SPDX-License-Identifier: BSD-3-Clause
 *
 * Each row is run by its own process with one thread, and as many processes run at a time as there are threads: most rows are
 * too small for two threads, and a failure of one row does not affect the others. If fewer rows than threads remain, each process
 * gets several threads; the figures are the same. A system without fork runs the rows one after another in this process. The file of a row is written completely when the row is done, so that a
 * stopped run can continue. This process runs no method itself, because a fork after threads have been started would leave
 * the child without them. */
#include "bench.h"
#include "system.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct job {
	char path[2048];
	bool done;
	double seconds; /* what it took; NaN: not known */
	long child;     /* its process; 0: not running */
	double start;
} job;

typedef struct crew {
	kdr_context *ctx;
	const bench_unit *units;
	job *jobs;
	int count, done, failed;
	int threads, at_once;
	double limit, start;
	bool quiet;
} crew;

/* --- one row, in its own process ------------------------------------------------------------------------ */

static int stop_if_told(void *user, const kdr_event *event)
{
	(void)user;
	(void)event;
	return cli_interrupted();
}

typedef struct unit {
	kdr_context *ctx;
	const bench_unit *unit;
	const char *path;
	int threads;
} unit;

static int run_unit(void *user)
{
	const unit *what = user;
	const bench_unit *u = what->unit;
	bench_outcome outcome;
	clock_t start = clock(); /* processor time: what others do on the machine is not in it */
	kdr_context_set_progress(what->ctx, stop_if_told, NULL);
	kdr_context_set_threads(what->ctx, what->threads);
	int code = bench_run(what->ctx, &(bench_how){ .seed = u->seed, .row = u->row },
	                     &u->plan->tables[u->table], &outcome);
	if (code != EXIT_DONE)
		return code;
	code = outcome.cut ? EXIT_INTERRUPTED
	                   : bench_unit_write(what->ctx, u, what->path, &outcome,
	                                      (double)(clock() - start) / CLOCKS_PER_SEC);
	bench_outcome_free(&outcome);
	return code;
}

/* --- how much is left ------------------------------------------------------------------------------------- */

/* Seconds that a row will take: what it took before, or the mean of those that are known; NaN if none is. */
static double expected(const crew *c, int index)
{
	double sum = 0, known = 0;
	if (!isnan(c->jobs[index].seconds))
		return c->jobs[index].seconds;
	for (int i = 0; i < c->count; i++)
		if (!isnan(c->jobs[i].seconds)) {
			sum += c->jobs[i].seconds;
			known++;
		}
	return known > 0 ? sum / known : NAN;
}

static void time_left(const crew *c, char *text, size_t room)
{
	double left = 0;
	int rows = 0;
	for (int i = 0; i < c->count; i++)
		if (!c->jobs[i].done) {
			double gone = c->jobs[i].child > 0 ? cli_now() - c->jobs[i].start : 0;
			left += fmax(expected(c, i) - gone, 0);
			rows++;
		}
	left /= c->at_once;
	if (rows == 0)
		snprintf(text, room, "all rows are done");
	else if (left < 90)
		snprintf(text, room, "about %.0f s left", left);
	else if (left < 5400)
		snprintf(text, room, "about %.0f min left", left / 60);
	else
		snprintf(text, room, "about %.1f hours left", left / 3600);
}

static void bench_all_tell(const crew *c, int index)
{
	char left[64];
	const bench_unit *u = &c->units[index];
	const bench_table *t = &u->plan->tables[u->table];
	if (c->quiet)
		return;
	time_left(c, left, sizeof left);
	cli_printf("%d of %d  %s: %s: %s, %.1f s; %s\n", c->done, c->count, u->preset, t->title,
	           t->rows[u->row].name, c->jobs[index].seconds, left);
	fflush(stdout);
}

/* --- all of them -------------------------------------------------------------------------------------------- */

static int start_job(crew *c, int index)
{
	char part[2048];
	/* DIR/PRESET, then DIR/PRESET/TABLE. */
	char *slash = strrchr(c->jobs[index].path, '/');
	for (int level = 0; level < 2; level++) {
		size_t length = (size_t)(slash - c->jobs[index].path);
		memcpy(part, c->jobs[index].path, length);
		part[length] = '\0';
		if (level == 0)
			*strrchr(part, '/') = '\0';
		int code = cli_make_folder(part);
		if (code != EXIT_DONE)
			return code;
	}
	c->jobs[index].start = cli_now();
	int left = c->count - c->done - c->failed;
	long child = cli_child_start(
	        run_unit, &(unit){ .ctx = c->ctx,
	                           .unit = &c->units[index],
	                           .path = c->jobs[index].path,
	                           .threads = c->threads / (left < c->at_once ? left : c->at_once) });
	if (child < 0) {
		cli_error("cannot start a process: %s", strerror(errno));
		return EXIT_OTHER;
	}
	c->jobs[index].child = child;
	return EXIT_DONE;
}

/* Waits until one row ends. */
static int end_job(crew *c)
{
	int result;
	long child;
	const char *killed;
	bool passed_on = false;
	while ((child = cli_child_wait(&result, &killed)) < 0 && errno == EINTR)
		if (cli_interrupted() && !passed_on) {
			passed_on = true;
			for (int i = 0; i < c->count; i++)
				if (c->jobs[i].child > 0)
					cli_child_stop(c->jobs[i].child);
		}
	int index = 0;
	while (index < c->count && c->jobs[index].child != child)
		index++;
	if (child < 0 || index == c->count)
		return EXIT_OTHER;
	job *j = &c->jobs[index];
	const bench_unit *u = &c->units[index];
	j->child = 0;
	if (result == EXIT_DONE) {
		j->done = true;
		j->seconds = cli_now() - j->start;
		c->done++;
		bench_all_tell(c, index);
	} else if (!cli_interrupted()) {
		c->failed++;
		cli_error("%s: %s: %s: %s", u->preset, u->plan->tables[u->table].title,
		          u->plan->tables[u->table].rows[u->row].name,
		          killed ? killed : "failed; the line above gives the reason");
	}
	return EXIT_DONE;
}

/* The places of the rows, those first that will take longest: the threads then end together. */
static bool queue(const crew *c, int *order)
{
	double *seconds = calloc((size_t)c->count + 1, sizeof *seconds);
	for (int i = 0; seconds && i < c->count; i++) {
		int at = i;
		seconds[i] = expected(c, i);
		for (; at > 0 && seconds[order[at - 1]] < seconds[i]; at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
	free(seconds);
	return seconds != NULL;
}

static int run_jobs(crew *c, const int *order)
{
	int next = 0, running = 0, code = EXIT_DONE;
	for (;;) {
		bool over = cli_interrupted() || (c->limit > 0 && cli_now() - c->start > c->limit);
		while (!over && code == EXIT_DONE && running < c->at_once && next < c->count) {
			if (!c->jobs[order[next]].done) {
				code = start_job(c, order[next]);
				running += code == EXIT_DONE;
			}
			next++;
		}
		if (running == 0)
			break;
		if (end_job(c) != EXIT_DONE)
			return EXIT_OTHER;
		running--;
	}
	return cli_interrupted() ? EXIT_INTERRUPTED : code;
}

/* Which rows are there already. */
static int bench_all_look(crew *c, const char *folder)
{
	for (int i = 0; i < c->count; i++) {
		job *j = &c->jobs[i];
		if (!bench_unit_path(&c->units[i], folder, j->path, sizeof j->path)) {
			cli_error("%s: the path is too long; use a shorter -o DIR", folder);
			return EXIT_USAGE;
		}
		for (int other = 0; other < i; other++)
			if (strcmp(c->jobs[other].path, j->path) == 0) {
				cli_error(
				        "two rows of preset %s would be saved as %s; give them different names",
				        c->units[i].preset, j->path);
				return EXIT_DATA;
			}
		int code = bench_unit_read(c->ctx, &c->units[i], j->path, &j->done, &j->seconds, NULL);
		if (code != EXIT_DONE)
			return code;
		c->done += j->done;
	}
	return EXIT_DONE;
}

int bench_rows_run(kdr_context *ctx, const cli_args *args, const bench_unit *units, int count,
                   const char *folder)
{
	crew c = { .ctx = ctx,
		   .units = units,
		   .count = count,
		   .threads = kdr_context_threads(ctx),
		   .start = cli_now(),
		   .quiet = cli_quiet(args) };
	char left[64];
	c.at_once = c.threads < cli_children_most() ? c.threads : cli_children_most();
	if (!cli_get_real(args, "time-limit", 0, INFINITY, &c.limit))
		return EXIT_USAGE;
	int *order = calloc((size_t)count + 1, sizeof *order);
	c.jobs = calloc((size_t)count + 1, sizeof *c.jobs);
	if (!c.jobs || !order) {
		free(c.jobs);
		free(order);
		return bench_no_memory();
	}
	int code = bench_all_look(&c, folder);
	if (code == EXIT_DONE && !queue(&c, order))
		code = bench_no_memory();
	if (code == EXIT_DONE && !c.quiet && c.done < count) {
		time_left(&c, left, sizeof left);
		cli_printf("%d of %d rows are already saved%s%s\n", c.done, count, c.done ? "; " : "",
		           c.done ? left : "");
		fflush(stdout);
	}
	if (code == EXIT_DONE)
		code = run_jobs(&c, order);
	if (code == EXIT_DONE && c.failed) {
		cli_error("%d of %d rows failed", c.failed, count);
		code = EXIT_OTHER;
	} else if (code == EXIT_DONE && c.done < count) {
		cli_error(
		        "stopped at the time limit: %d of %d rows are saved; run the same command again to continue",
		        c.done, count);
		code = EXIT_INTERRUPTED;
	}
	if (code == EXIT_INTERRUPTED && cli_interrupted())
		cli_error("stopped: %d of %d rows are saved; run the same command again to continue", c.done,
		          count);
	free(c.jobs);
	free(order);
	return code;
}
