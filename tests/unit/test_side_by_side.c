/* Independent jobs on several threads: each runs once, and errors and wishes to stop arrive as with one thread. */
#include "core/side_by_side.h"
#include "tests/unit/unit.h"

#include <time.h>

enum { JOBS = 37 };

typedef struct record {
	atomic_int runs[JOBS];
	atomic_int most_worker;
	int64_t fails, later_fails; /* job numbers, or -1 */
} record;

static kdr_status note(kdr_context *ctx, void *user, int64_t job, int worker)
{
	record *r = user;
	atomic_fetch_add(&r->runs[job], 1);
	assert_in_range(kdri_team(ctx), 1, ctx->threads);
	if (worker > atomic_load(&r->most_worker))
		atomic_store(&r->most_worker, worker);
	if (job == r->fails || job == r->later_fails)
		return kdri_fail(ctx, KDR_ERR_NUMERIC, "job %lld failed", (long long)job);
	return KDR_OK;
}

static void jobs__any_number_of_workers__each_runs_once(void **state)
{
	(void)state;
	for (int workers = 1; workers <= 8; workers *= 2) {
		kdr_context *ctx = unit_context();
		record r = { .fails = -1, .later_fails = -1 };
		kdr_context_set_threads(ctx, 8);
		assert_ok(ctx, kdri_side_by_side(ctx, &(kdri_side){ .count = JOBS,
		                                                    .workers = workers,
		                                                    .run = note,
		                                                    .user = &r }));
		for (int i = 0; i < JOBS; i++)
			assert_int_equal(r.runs[i], 1);
		assert_true(r.most_worker < workers);
		kdr_context_free(ctx);
	}
}

/* Shares of the threads while all jobs run, and of the last one when the others have ended. */
typedef struct shares {
	int jobs;
	bool inside; /* of another job, which keeps its threads */
	atomic_int arrived;
	int at_first[4], at_last;
} shares;

static bool wait_for(bool (*done)(const kdr_context *ctx, shares *s), const kdr_context *ctx, shares *s)
{
	const double end = kdri_now() + 20;
	while (!done(ctx, s) && kdri_now() < end)
		(void)nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	return done(ctx, s);
}

static bool all_arrived(const kdr_context *ctx, shares *s)
{
	(void)ctx;
	return atomic_load(&s->arrived) % s->jobs == 0;
}

static bool has_all_threads(const kdr_context *ctx, shares *s)
{
	(void)s;
	return kdri_team(ctx) == ctx->threads;
}

static kdr_status note_shares(kdr_context *ctx, void *user, int64_t job, int worker)
{
	shares *s = user;
	(void)worker;
	s->at_first[job] = kdri_team(ctx);
	atomic_fetch_add(&s->arrived, 1);
	assert_true(wait_for(all_arrived, ctx, s)); /* none has ended before all have begun */
	if (job == 0 && !s->inside) {
		assert_true(wait_for(has_all_threads, ctx, s));
		s->at_last = kdri_team(ctx);
	}
	return KDR_OK;
}

static kdr_status nest_shares(kdr_context *ctx, void *user, int64_t job, int worker)
{
	shares *s = user, inner = { .jobs = 2, .inside = true };
	(void)worker;
	s->at_first[job] = kdri_team(ctx);
	atomic_fetch_add(&s->arrived, 1);
	assert_true(wait_for(all_arrived, ctx, s));
	const kdr_status st = kdri_side_by_side(
	        ctx, &(kdri_side){ .count = 2, .workers = 2, .run = note_shares, .user = &inner });
	assert_true(inner.at_first[0] + inner.at_first[1] >= s->at_first[job]);
	return st;
}

/* A build without threads cannot run these tests. */
static kdr_context *context_with_threads(int threads)
{
	kdr_context *ctx = unit_context();
	kdr_context_set_threads(ctx, threads);
	if (kdr_context_threads(ctx) != threads) {
		kdr_context_free(ctx);
		skip();
	}
	return ctx;
}

static void threads__jobs_end__others_get_theirs(void **state)
{
	(void)state;
	for (int jobs = 2; jobs <= 4; jobs++) {
		kdr_context *ctx = context_with_threads(7);
		shares s = { .jobs = jobs };
		int sum = 0;
		assert_ok(ctx, kdri_side_by_side(ctx, &(kdri_side){ .count = jobs,
		                                                    .workers = jobs,
		                                                    .run = note_shares,
		                                                    .user = &s }));
		for (int i = 0; i < jobs; i++) {
			assert_in_range(s.at_first[i], 7 / jobs, 7 / jobs + 1);
			sum += s.at_first[i];
		}
		assert_int_equal(sum, 7);
		assert_int_equal(s.at_last, 7);
		assert_int_equal(kdri_team(ctx), 7);
		kdr_context_free(ctx);
	}
}

static void threads__jobs_in_jobs__divide_their_share(void **state)
{
	(void)state;
	kdr_context *ctx = context_with_threads(9);
	shares s = { .jobs = 2 };
	assert_ok(ctx,
	          kdri_side_by_side(
	                  ctx, &(kdri_side){ .count = 2, .workers = 2, .run = nest_shares, .user = &s }));
	assert_int_equal(s.at_first[0] + s.at_first[1], 9);
	kdr_context_free(ctx);
}

static void jobs__two_fail__error_of_the_first(void **state)
{
	(void)state;
	for (int workers = 1; workers <= 4; workers++) {
		kdr_context *ctx = unit_context();
		record r = { .fails = 5, .later_fails = 6 };
		kdr_context_set_threads(ctx, 4);
		assert_int_equal(
		        kdri_side_by_side(
		                ctx,
		                &(kdri_side){ .count = JOBS, .workers = workers, .run = note, .user = &r }),
		        KDR_ERR_NUMERIC);
		assert_string_equal(kdr_context_error(ctx), "job 5 failed");
		kdr_context_free(ctx);
	}
}

static int stop_at_once(void *user, const kdr_event *event)
{
	atomic_int *events = user;
	return event->kind == KDR_EVENT_ITERATION && atomic_fetch_add(events, 1) >= 0;
}

/* Ends only when its context requests it. */
static kdr_status run_until_stopped(kdr_context *ctx, void *user, int64_t job, int worker)
{
	(void)user, (void)worker;
	while (!kdri_iteration(ctx, "inside", job, JOBS, NAN))
		;
	return KDR_OK;
}

static void callback__asks_to_stop__all_jobs_end(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	atomic_int events = 0;
	kdr_context_set_threads(ctx, 4);
	kdr_context_set_progress(ctx, stop_at_once, &events);
	assert_ok(ctx, kdri_side_by_side(ctx, &(kdri_side){ .count = JOBS,
	                                                    .workers = 4,
	                                                    .run = run_until_stopped,
	                                                    .stage = "outside",
	                                                    .total = JOBS }));
	assert_true(ctx->cancelled);
	kdr_context_free(ctx);
}

static void workers__threads_jobs_memory__the_least_decides(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	ctx->threads = 16;
	assert_int_equal(kdri_workers(ctx, 100, 1, 0), 16);
	assert_int_equal(kdri_workers(ctx, 3, 1, 0), 3);
	assert_int_equal(kdri_workers(ctx, 100, 100e6, 100e6), 4); /* (2 x 100 + 256) / 100 */
	assert_int_equal(kdri_workers(ctx, 100, 1e12, 0), 1);
	ctx->max_memory = 800e6;
	assert_int_equal(kdri_workers(ctx, 100, 100e6, 100e6), 2);
	assert_int_equal(kdri_workers(ctx, 100, 300e6, 100e6), 1);
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs__any_number_of_workers__each_runs_once),
		cmocka_unit_test(threads__jobs_end__others_get_theirs),
		cmocka_unit_test(threads__jobs_in_jobs__divide_their_share),
		cmocka_unit_test(jobs__two_fail__error_of_the_first),
		cmocka_unit_test(callback__asks_to_stop__all_jobs_end),
		cmocka_unit_test(workers__threads_jobs_memory__the_least_decides),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
