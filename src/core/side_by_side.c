/* Independent jobs on several threads. SPDX-License-Identifier: BSD-3-Clause
 *
 * Workers are threads of their own, not a team of OpenMP's: a parallel region inside of another would start its threads anew each
 * time, while a thread outside of any region keeps its team. */
#include "core/side_by_side.h"
#include "core/system.h"

#include <stdio.h>
#include <time.h>

typedef struct team {
	const kdri_jobs *jobs;
	atomic_llong next, ended;
} team;

int kdri_team(const kdr_context *ctx)
{
	const kdri_crew *crew = ctx->crew;
	int busy = 1, before = 0; /* this worker and others */
	if (!crew || ctx->threads == 1)
		return ctx->threads;
	for (int i = 0; i < crew->workers; i++)
		if (i != ctx->seat && !atomic_load_explicit(&crew->idle[i], memory_order_relaxed)) {
			busy++;
			before += i < ctx->seat;
		}
	const int all = kdri_team(crew->of), share = all / busy + (before < all % busy);
	return KDRI_MIN(ctx->threads, KDRI_MAX(1, share));
}

void kdri_crew_join(const kdri_crew *crew, int worker, kdr_context *own)
{
	own->crew = crew;
	own->seat = worker;
#ifdef __EMSCRIPTEN_PTHREADS__ /* only the first thread starts others at once: threads of threads would wait for it */
	own->threads = 1;
#endif
}

static void work(team *t, int worker)
{
	for (int64_t i = atomic_fetch_add(&t->next, 1); i < t->jobs->count;
	     i = atomic_fetch_add(&t->next, 1)) {
		t->jobs->run(t->jobs->user, i, worker);
		atomic_fetch_add(&t->ended, 1);
	}
	atomic_store(&t->jobs->crew->idle[worker], true);
}

static void crew_open(const kdri_jobs *jobs, int workers)
{
	jobs->crew->workers = workers;
	for (int i = 0; i < workers; i++)
		atomic_store(&jobs->crew->idle[i], false);
}

#if defined _OPENMP || defined __EMSCRIPTEN_PTHREADS__
typedef struct hand {
	team *team;
	const char *parent; /* the thread that started it: stages.c */
	int number;
	pthread_t thread;
} hand;

static void *work_on_thread(void *user)
{
	const hand *w = user;
	kdri_timed_worker(w->parent, w->number);
	work(w->team, w->number);
	return NULL;
}

void kdri_jobs_run(const kdri_jobs *jobs)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	const int wanted = (int)KDRI_MIN(KDRI_MIN(jobs->workers, KDRI_MOST_WORKERS), jobs->count);
	team t = { .jobs = jobs };
	hand workers[KDRI_MOST_WORKERS];
	int started = 0;
	crew_open(jobs, wanted);
	for (int i = 1; i < wanted; i++) {
		workers[started] = (hand){ .team = &t, .parent = kdri_timed_start(i), .number = i };
		if (!kdri_thread_start(&workers[started].thread, work_on_thread, &workers[started]))
			break; /* those that run do all jobs */
		started++;
	}
	for (int i = started + 1; i < wanted; i++)
		atomic_store(&jobs->crew->idle[i], true);
	work(&t, 0);
	while (atomic_load(&t.ended) < jobs->count) {
		jobs->wait(jobs->user);
		(void)nanosleep(&pause, NULL);
	}
	for (int i = 0; i < started; i++)
		(void)pthread_join(workers[i].thread, NULL);
}
#else
void kdri_jobs_run(const kdri_jobs *jobs)
{
	team t = { .jobs = jobs };
	crew_open(jobs, 1);
	work(&t, 0);
}
#endif

/* Besides the data, the same amount again, and an amount that any current machine has available. */
static const double spare_bytes = 256e6;

int kdri_workers(const kdr_context *ctx, int64_t count, double bytes_each, double data)
{
	const double most = KDRI_MIN((double)kdri_team(ctx), (double)count), spare = 2 * data + spare_bytes,
	             room = ctx->max_memory > 0 ? KDRI_MIN(spare, ctx->max_memory / 4) : spare,
	             fit = floor(room / KDRI_MAX(bytes_each, 1));
	return (int)KDRI_MAX(1, KDRI_MIN(most, fit));
}

/* --- jobs with contexts ------------------------------------------------------------------------------ */

typedef struct side {
	kdr_context *ctx;
	const kdri_side *jobs;
	struct seat *seats; /* one per worker */
	kdri_crew crew;
	int64_t reported; /* steps, of all jobs */
	atomic_bool stop;
	atomic_llong done, failed; /* jobs; the lowest number of one that failed, or count */
} side;

typedef struct seat {
	side *side;
	kdr_context own;
	bool caller;
	kdr_status st; /* of job `at`, the first of this worker that failed */
	int64_t at;
} seat;

/* Reports progress on the caller's thread: the jobs that have ended, and the progress of the caller's own job. Jobs
 * check the time limit themselves; only the user's request to stop has to be passed on. */
static void tell_caller(side *s, int64_t step, double objective)
{
	const kdri_side *j = s->jobs;
	const int64_t steps = KDRI_MAX(1, j->steps), at = (j->from + (int64_t)atomic_load(&s->done)) * steps;
	s->reported =
	        KDRI_MAX(s->reported, at + step % steps); /* less would mean that the stage runs again */
	if (j->stage)
		(void)kdri_iteration(s->ctx, j->stage, s->reported, j->total * steps, objective);
	if (s->ctx->cancelled)
		atomic_store(&s->stop, true);
}

static void wait_for_others(void *user)
{
	tell_caller(user, 0, NAN);
}

static int on_event(void *user, const kdr_event *event)
{
	seat *one = user;
	if (one->caller && event->kind == KDR_EVENT_ITERATION)
		tell_caller(one->side, event->iteration, event->objective);
	return atomic_load(&one->side->stop);
}

static void run_on_seat(void *user, int64_t job, int number)
{
	side *s = user;
	seat *one = &s->seats[number];
	if (one->st == KDR_OK && job < atomic_load(&s->failed)) {
		one->st = s->jobs->run(&one->own, s->jobs->user, job, number);
		one->at = job;
	}
	for (long long least = atomic_load(&s->failed); one->st != KDR_OK && one->at < least;)
		if (atomic_compare_exchange_weak(&s->failed, &least, one->at))
			break;
	atomic_fetch_add(&s->done, 1);
}

kdr_status kdri_side_by_side(kdr_context *ctx, const kdri_side *jobs)
{
	kdr_status st = KDR_OK;
	side s = { .ctx = ctx, .jobs = jobs, .crew.of = ctx };
	atomic_init(&s.failed, jobs->count);
	KDRI_TRY(KDRI_NEW0(ctx, &s.seats, jobs->workers));
	for (int i = 0; i < jobs->workers; i++) {
		seat *one = &s.seats[i];
		one->side = &s;
		one->caller = i == 0;
		one->own = *ctx;
		kdri_crew_join(&s.crew, i, &one->own);
		one->own.progress = on_event;
		one->own.progress_user = one;
	}
	kdri_jobs_run(&(kdri_jobs){ .count = jobs->count,
	                            .workers = jobs->workers,
	                            .run = run_on_seat,
	                            .wait = wait_for_others,
	                            .user = &s,
	                            .crew = &s.crew });
	for (int i = 0; i < jobs->workers; i++) {
		const seat *one = &s.seats[i];
		ctx->cancelled = ctx->cancelled || one->own.cancelled;
		ctx->timed_out = ctx->timed_out || one->own.timed_out;
		if (one->st != KDR_OK && one->at == atomic_load(&s.failed)) {
			st = kdri_fail(ctx, one->st, "%s", one->own.error);
			ctx->over_limit = one->own.over_limit;
		}
	}
done:
	kdri_free(ctx, s.seats);
	return st;
}
