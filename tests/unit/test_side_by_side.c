/* Independent jobs on several threads: each runs once, and errors and wishes to stop arrive as with one thread. */
#include "core/side_by_side.h"
#include "tests/unit/unit.h"

enum { JOBS = 37 };

typedef struct record {
	atomic_int runs[JOBS];
	atomic_int most_worker, threads;
	int64_t fails, later_fails; /* job numbers, or -1 */
} record;

static kdr_status note(kdr_context *ctx, void *user, int64_t job, int worker)
{
	record *r = user;
	atomic_fetch_add(&r->runs[job], 1);
	atomic_store(&r->threads, ctx->threads);
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
		assert_int_equal(r.threads, KDRI_MAX(1, ctx->threads / workers));
		kdr_context_free(ctx);
	}
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
	assert_int_equal(kdri_workers(16, 100, 1, 0), 16);
	assert_int_equal(kdri_workers(16, 3, 1, 0), 3);
	assert_int_equal(kdri_workers(16, 100, 100e6, 100e6), 4); /* (2 x 100 + 256) / 100 */
	assert_int_equal(kdri_workers(16, 100, 1e12, 0), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs__any_number_of_workers__each_runs_once),
		cmocka_unit_test(jobs__two_fail__error_of_the_first),
		cmocka_unit_test(callback__asks_to_stop__all_jobs_end),
		cmocka_unit_test(workers__threads_jobs_memory__the_least_decides),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
