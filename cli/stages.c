/* A record of the stages of a command, for bench/stages.py. SPDX-License-Identifier: BSD-3-Clause
 *
 * If the environment variable KINDRED_STAGES names a file, one line per begin and end of a stage is appended to it: the thread, "begin",
 * "end" or "start" (core/stages.h), seconds of the monotonic clock, processor seconds of the process, and the name of the stage. */
#include "core/stages.h"

#include "cli.h"
#include "core/system.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int file = -1;

static void record(const char *thread, const char *what, const char *stage)
{
	char line[160];
	struct timespec now;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	const int used = snprintf(line, sizeof line, "%s,%s,%.6f,%.6f,%.60s\n", thread, what,
	                          (double)now.tv_sec + 1e-9 * (double)now.tv_nsec,
	                          (double)clock() / CLOCKS_PER_SEC, stage);
	if (file >= 0 && write(file, line, (size_t)used) != used) /* the disk is full */
		file = -1;
}

void cli_stages_record(void)
{
	const char *path = getenv("KINDRED_STAGES");
	file = path && *path ? kdri_open(path, O_WRONLY | O_CREAT | O_APPEND) : -1;
	kdri_stage_hook = file >= 0 ? record : NULL;
}
