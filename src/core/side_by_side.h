/* Independent jobs on several threads. SPDX-License-Identifier: BSD-3-Clause
 *
 * Work that is shared inside a loop has a cost for every loop: threads wake up, and wait for the slowest. Independent
 * jobs have this cost only once. Therefore starts of k-means and members of a vote run side by side if there are
 * several, and each gets an equal part of the threads (kdri_team). When no job is left to start, those that still run
 * get the threads of those that have ended. */
#ifndef KDRI_SIDE_BY_SIDE_H
#define KDRI_SIDE_BY_SIDE_H

#include <stdatomic.h>

#include "core/internal.h"

/* Workers that share the threads of a context. */
enum { KDRI_MOST_WORKERS = 256 };
typedef struct kdri_crew {
	const kdr_context *of;
	int workers;
	atomic_bool idle[KDRI_MOST_WORKERS]; /* of each worker: it finds no further job */
} kdri_crew;

/* Gives a worker's own context a share of the threads. */
void kdri_crew_join(const kdri_crew *crew, int worker, kdr_context *own);

/* Runs jobs 0 .. count - 1 on `workers` threads, each job as soon as a thread is free. Worker 0 is the caller's thread; once it
 * finds no further job, it calls `wait` every 2 ms until the others have ended, so that it can call the user's
 * callback. */
typedef struct kdri_jobs {
	int64_t count;
	int workers;
	void (*run)(void *user, int64_t job, int worker);
	void (*wait)(void *user);
	void *user;
	kdri_crew *crew;
} kdri_jobs;
void kdri_jobs_run(const kdri_jobs *jobs);

/* The same for jobs that take a context: each worker has its own, with its part of the threads, and the user's
 * request to stop and the time limit apply to all of them. Fails with the error of the first job, by number, that
 * failed; later ones may not have run then. */
typedef kdr_status (*kdri_side_job)(kdr_context *ctx, void *user, int64_t job, int worker);
typedef struct kdri_side {
	int64_t count;
	int workers;
	kdri_side_job run;
	void *user;
	const char *stage;   /* for progress; NULL: no events */
	int64_t from, total; /* the first job is number `from` of `total` in that stage */
	int64_t steps;       /* of a job, as counted by its own events; 0: unknown */
} kdri_side;
kdr_status kdri_side_by_side(kdr_context *ctx, const kdri_side *jobs);

/* How many of `count` jobs may run at a time, if each needs about `bytes_each`: at most one per thread, and together not more than twice
 * the bytes of the data and 256 MB, nor a quarter of a limit on memory. Results do not depend on this number. */
int kdri_workers(const kdr_context *ctx, int64_t count, double bytes_each, double data);

/* Opening a device in the background, for folders that know no devices. */

/* context.c: set by matrix/device_use.c; NULL as long as nobody chose a device. */
extern void (*_Atomic kdri_expect_hook)(kdr_context *ctx, double bytes);
extern void (*_Atomic kdri_settle_hook)(void);

/* Data of so many bytes are about to be read for a job: a device that the job may use is opened meanwhile. */
static inline void kdri_expect(kdr_context *ctx, double bytes)
{
	void (*expect)(kdr_context *, double) = atomic_load(&kdri_expect_hook);
	if (expect)
		expect(ctx, bytes);
}

/* Waits for the thread that opens it, before the process ends or forks. */
static inline void kdri_settle(void)
{
	void (*settle)(void) = atomic_load(&kdri_settle_hook);
	if (settle)
		settle();
}

#endif
