/* Progress: events in, a fraction, a remaining time and a line of text out. */
#include "tests/unit/unit.h"

#include "cli/progress.c" /* the program's own line of text */
#include "core/internal.h"

static kdr_event tell(kdri_progress *p, kdr_event_kind kind, const char *stage, int64_t iteration,
                      int64_t total, double objective, double now)
{
	kdr_event e = {
		.kind = kind, .stage = stage, .iteration = iteration, .total = total, .objective = objective
	};
	kdri_progress_update(p, &e, now);
	return e;
}

static kdr_event start(kdri_progress *p, const char *stage, int64_t total, double now)
{
	return tell(p, KDR_EVENT_START, stage, 0, total, NAN, now);
}

static kdr_event step(kdri_progress *p, const char *stage, int64_t iteration, int64_t total, double now)
{
	return tell(p, KDR_EVENT_ITERATION, stage, iteration, total, NAN, now);
}

static void assert_text(const kdr_event *e, double elapsed, double limit, const char *expected)
{
	char text[200];
	cli_progress_text(e, elapsed, limit, text, sizeof text);
	assert_string_equal(text, expected);
}

static void remaining__appears_after_two_seconds(void **state)
{
	(void)state;
	kdri_progress p = { 0 };
	kdr_event e = start(&p, "relate", 10, 0);
	assert_near(e.fraction, 0, 0);
	assert_true(isnan(e.remaining));
	assert_text(&e, 0, 0, "relate  [............] 0 %  0.0 s");
	e = step(&p, "relate", 1, 10, 1);
	assert_near(e.fraction, 0.1, 1e-12);
	assert_true(isnan(e.remaining));
	e = step(&p, "relate", 5, 10, 20);
	assert_text(&e, 20, 0, "relate  [######......] 50 %  20.0 s  about 20 s left");
}

static void remaining__at_a_steady_pace__counts_down_to_zero(void **state)
{
	(void)state;
	kdri_progress p = { 0 };
	start(&p, "relate", 100, 5);
	for (int64_t i = 1; i <= 100; i++) {
		kdr_event e = step(&p, "relate", i, 100, 5 + 0.5 * (double)i);
		if (i < 4)
			assert_true(isnan(e.remaining));
		else
			assert_near(e.remaining, 0.5 * (double)(100 - i), 1e-9);
	}
}

static void remaining__after_a_slow_step__rises_by_a_part(void **state)
{
	(void)state;
	kdri_progress p = { 0 };
	start(&p, "relate", 10, 0);
	for (int64_t i = 1; i <= 4; i++)
		step(&p, "relate", i, 10, (double)i);
	kdr_event e = step(&p, "relate", 5, 10, 14); /* 14 s by the average pace, 0 s by the last figure */
	assert_near(e.remaining, 14 * 10.0 / 13, 1e-9);
}

static void fraction__of_a_stage_that_contains_others__counts_only_its_own_steps(void **state)
{
	(void)state;
	kdri_progress p = { 0 };
	start(&p, "auto", 0, 0);
	kdr_event e = step(&p, "neighbours", 3, 4, 1);
	assert_string_equal(e.counted, "neighbours");
	assert_near(e.fraction, 0.75, 0);
	start(&p, "members", 5, 2);
	step(&p, "members", 1, 5, 4);
	e = start(&p, "kmeans", 100, 4);
	assert_string_equal(e.counted, "members");
	e = tell(&p, KDR_EVENT_ITERATION, "kmeans", 99, 100, 7, 5);
	assert_string_equal(e.counted, "members");
	assert_near(e.fraction, 0.2, 0);
	assert_false(e.at_most);
	assert_text(&e, 5, 0, "members  [##..........] 20 %  5.0 s  about 9 s left");
	tell(&p, KDR_EVENT_END, "kmeans", 0, 0, NAN, 6);
	assert_string_equal(step(&p, "members", 2, 5, 7).counted, "members");
	tell(&p, KDR_EVENT_END, "members", 0, 0, NAN, 8);
	assert_string_equal(step(&p, "rotation", 1, 5, 9).counted, "rotation");
}

static void fraction__of_a_method__covers_all_data_sets(void **state)
{
	(void)state;
	kdri_progress p = { 0 };
	double last = 0;
	start(&p, "kmeans", 0, 0);
	p.parts = 3;
	for (p.part = 0; p.part < p.parts; p.part++)
		for (int64_t i = 1; i <= 8; i++) {
			step(&p, "product", i, 8, 0); /* within */
			kdr_event e = step(&p, "kmeans", i, 8, 0);
			assert_string_equal(e.counted, "kmeans");
			assert_true(e.fraction > last);
			last = e.fraction;
		}
	assert_near(last, 1, 0);
}

static void fraction__of_a_stage_that_runs_again__starts_again(void **state)
{
	(void)state;
	kdri_progress p = { 0 };
	step(&p, "neighbours", 4, 4, 10);
	kdr_event e = step(&p, "neighbours", 1, 4, 14);
	assert_near(e.fraction, 0.25, 0);
	assert_near(e.remaining, 12, 1e-9); /* four seconds for a quarter of it */
}

static void fraction__of_unknown_totals__is_not_shown(void **state)
{
	(void)state;
	kdri_progress p = { 0 };
	for (int64_t i = 1; i < 9; i++) {
		kdr_event e = step(&p, "eigs", i, 0, 3 * (double)i);
		assert_true(isnan(e.fraction) && isnan(e.remaining));
		if (i == 8)
			assert_text(&e, 24, 0, "eigs 8  24.0 s");
	}
	const kdr_event message = tell(&p, KDR_EVENT_MESSAGE, "", 0, 0, NAN, 30);
	assert_string_equal(message.counted, "");
	assert_true(isnan(message.fraction));
}

static void text__has_objective_limit_and_units(void **state)
{
	(void)state;
	kdr_event e = { .stage = "snmf",
		        .counted = "snmf",
		        .objective = 2.5,
		        .fraction = 0.52,
		        .remaining = 39.4,
		        .at_most = true };
	assert_text(&e, 3, 0, "snmf  [######......] 52 %  objective 2.5  3.0 s  at most 40 s left");
	assert_text(&e, 3, 20,
	            "snmf  [######......] 52 %  objective 2.5  3.0 s of at most 20 s  at most 17 s left");
	e.remaining = 600;
	e.objective = NAN;
	e.at_most = false;
	assert_text(&e, 3, 0, "snmf  [######......] 52 %  3.0 s  about 10 min left");
	e.remaining = 36000;
	e.fraction = 1;
	assert_text(&e, 3, 0, "snmf  [############] 100 %  3.0 s  about 10 h left");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(remaining__appears_after_two_seconds),
		cmocka_unit_test(remaining__at_a_steady_pace__counts_down_to_zero),
		cmocka_unit_test(remaining__after_a_slow_step__rises_by_a_part),
		cmocka_unit_test(fraction__of_a_stage_that_contains_others__counts_only_its_own_steps),
		cmocka_unit_test(fraction__of_a_method__covers_all_data_sets),
		cmocka_unit_test(fraction__of_a_stage_that_runs_again__starts_again),
		cmocka_unit_test(fraction__of_unknown_totals__is_not_shown),
		cmocka_unit_test(text__has_objective_limit_and_units),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
