/* Scores to probabilities: the two numbers are found again, and what has no scores is calibrated by its labels.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "jobs/transfer/calibrate.h"
#include "tests/unit/unit.h"

enum { MOST = 4000, C = 3 };
static double s[MOST * C];
static int64_t label[MOST], truth[MOST];

/* Scores of which classes are drawn by (E1) with a and b. */
static kdri_held_out draw(int64_t n, double a, double b, bool scored)
{
	kdri_rng rng = kdri_rng_stream(7, "calibrate", 0);
	for (int64_t i = 0; i < n; i++) {
		double p[C], u = kdri_rng_uniform(&rng), *row = s + i * C;
		for (int c = 0; c < C; c++)
			row[c] = scored ? 3 * kdri_rng_normal(&rng) : 0;
		label[i] = kdri_rng_below(&rng, C);
		kdri_calibrated(row, C, label[i], a, b, p);
		truth[i] = u < p[0] ? 0 : u < p[0] + p[1] ? 1 : 2;
	}
	return (kdri_held_out){ n, C, s, label, truth };
}

static void calibrate__drawn_classes__finds_the_numbers(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	static const double wanted[][2] = { { 0.5, 0 }, { 0.2, 1.5 }, { 2, 0.7 } };
	for (int k = 0; k < 3; k++) {
		double a, b, loss;
		kdri_held_out h = draw(MOST, wanted[k][0], wanted[k][1], true);
		assert_ok(ctx, kdri_calibrate(ctx, &h, &a, &b, &loss));
		assert_float_equal(a, wanted[k][0], 0.1 * wanted[k][0] + 0.02);
		assert_float_equal(b, wanted[k][1], 0.15);
		assert_true(loss > 0 && loss < log(C));
	}
	kdr_context_free(ctx);
}

static void calibrate__labels_alone__share_of_right_ones(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	double a, b, loss, p[C];
	int64_t right = 0;
	kdri_held_out h = draw(MOST, 0, 1.2, false);
	assert_ok(ctx, kdri_calibrate(ctx, &h, &a, &b, &loss));
	for (int64_t i = 0; i < MOST; i++)
		right += label[i] == truth[i];
	kdri_calibrated(s, C, 1, a, b, p);
	assert_float_equal(p[1], (double)right / MOST, 0.002);
	assert_float_equal(p[0], p[2], 1e-12);
	kdr_context_free(ctx);
}

/* All right, or all wrong: never certain, and never below chance. */
static void calibrate__extremes__stay_finite(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	for (int wrong = 0; wrong < 2; wrong++) {
		double a, b, loss, p[C];
		kdri_held_out h = draw(50, 1, 1, true);
		for (int64_t i = 0; i < h.n; i++) {
			int64_t best = s[i * C] > s[i * C + 1] ? 0 : 1;
			best = s[i * C + 2] > s[i * C + best] ? 2 : best;
			label[i] = best;
			truth[i] = wrong ? (best + 1) % C : best;
		}
		assert_ok(ctx, kdri_calibrate(ctx, &h, &a, &b, &loss));
		assert_true(isfinite(a) && isfinite(b) && a >= 0 && b >= 0);
		kdri_calibrated(s, C, label[0], a, b, p);
		assert_true(wrong ? p[label[0]] <= 0.5 : p[label[0]] > 0.8 && p[label[0]] < 1);
	}
	kdr_context_free(ctx);
}

static void rows__shares_and_margins__become_scores(void **state)
{
	(void)state;
	double out[C];
	kdri_calibrate_row((const double[]){ 1, 3, 0 }, C, KDR_SCORING_SHARES, 1, out);
	assert_float_equal(out[0], log(0.25), 1e-15);
	assert_float_equal(out[2], log(1e-6), 1e-12);
	kdri_calibrate_row((const double[]){ -2, 5, -INFINITY }, C, KDR_SCORING_MARGINS, -1, out);
	assert_true(out[0] == -2 && out[1] == 5 && isfinite(out[2]));
	kdri_calibrate_row(NULL, C, KDR_SCORING_NONE, 2, out);
	assert_true(out[0] == 0 && out[1] == 0 && out[2] == 0);
	kdri_calibrate_row((const double[]){ 0, 0, 0 }, C, KDR_SCORING_SHARES, 1, out);
	assert_true(out[0] == out[1] && out[1] == out[2]);
}

static void rows__label_without_the_largest_score__none_is_more_probable(void **state)
{
	(void)state;
	double row[C], p[C];
	kdri_calibrate_row((const double[]){ 6, 3, 1 }, C, KDR_SCORING_SHARES, 2, row);
	assert_true(row[2] == row[0] && row[1] < row[0]);
	kdri_calibrated(row, C, 2, 0.7, 0.1, p);
	assert_true(p[2] > p[0] && p[0] > p[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calibrate__drawn_classes__finds_the_numbers),
		cmocka_unit_test(calibrate__labels_alone__share_of_right_ones),
		cmocka_unit_test(calibrate__extremes__stay_finite),
		cmocka_unit_test(rows__shares_and_margins__become_scores),
		cmocka_unit_test(rows__label_without_the_largest_score__none_is_more_probable),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
