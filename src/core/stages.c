/* A record of the stages of a job, for bench/stages.py. SPDX-License-Identifier: BSD-3-Clause
 *
 * If the environment variable KINDRED_STAGES names a file, one line per begin and end of a stage is appended to it: the thread, "begin" or
 * "end", seconds of the monotonic clock, processor seconds of the process, and the name of the stage. A worker of side_by_side.c is named
 * after the thread that started it: 0.2 is worker 2 of the first thread. Its stages are inside of the stage in which that thread wrote
 * "start" with its number. */
#include "core/internal.h"
#include "core/system.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static pthread_once_t opened = PTHREAD_ONCE_INIT;
static int file = -1;
static _Thread_local char thread[32] = "0";

static void open_record(void)
{
	const char *path = getenv("KINDRED_STAGES");
	file = path && *path ? kdri_open(path, O_WRONLY | O_CREAT | O_APPEND) : -1;
}

static void record(const char *what, const char *stage)
{
	char line[160];
	(void)pthread_once(&opened, open_record);
	if (file < 0)
		return;
	const int used = kdri_snprintf(line, sizeof line, "%s,%s,%.6f,%.6f,%.60s\n", thread, what, kdri_now(),
	                               (double)clock() / CLOCKS_PER_SEC, stage);
	if (write(file, line, (size_t)used) != used) /* the disk is full */
		file = -1;
}

void kdri_timed_begin(const char *stage)
{
	record("begin", stage);
}

kdr_status kdri_timed_end(const char *stage, kdr_status st)
{
	record("end", stage);
	return st;
}

const char *kdri_timed_start(int worker)
{
	char number[16];
	kdri_snprintf(number, sizeof number, "%d", worker);
	record("start", number);
	return thread;
}

void kdri_timed_worker(const char *parent, int number)
{
	kdri_snprintf(thread, sizeof thread, "%s.%d", parent, number);
}
