/* A record of the stages of a job, for bench/stages.py (cli/stages.c writes it). SPDX-License-Identifier: BSD-3-Clause */
#include "core/stages.h"

#include "core/internal.h"

void (*kdri_stage_hook)(const char *thread, const char *what, const char *stage);
static _Thread_local char thread[32] = "0";

static void record(const char *what, const char *stage)
{
	if (kdri_stage_hook)
		kdri_stage_hook(thread, what, stage);
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
