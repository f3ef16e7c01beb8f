/* Decisions about graphs, and the properties of the data they depend on. SPDX-License-Identifier: BSD-3-Clause */
#include "engine/graph/similarity.h"
#include "tests/unit/unit.h"

/* --- properties ------------------------------------------------------------------------------------------ */

static void traits__rows_of_several_kinds__are_counted(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	const double x[] = { 0, 0, 0, 600, 400, 600, 1, 0, 600, 2, 3, 0 };
	const kdr_mat m = kdr_mat_from_dense(x, 4, 3);
	kdri_traits t = { 0 };
	assert_ok(ctx, kdri_traits_add(ctx, &m, &t));
	assert_int_equal(t.cols, 3);
	assert_near(t.cells, 12, 0);
	assert_near(t.nonzero, 7, 0);
	assert_false(t.negative || t.fractional);
	assert_int_equal(t.rows, 3);
	assert_near(t.largest, 600, 0);
	assert_int_equal(t.at_largest, 2);
	assert_int_equal(t.thousand, 1);
	assert_near(t.least_sum, 5, 0);
	assert_near(t.most_sum, 1600, 0);
	const double y[] = { -0.5, 700 };
	const kdr_mat more = kdr_mat_from_dense(y, 1, 2);
	assert_ok(ctx, kdri_traits_add(ctx, &more, &t));
	assert_true(t.negative && t.fractional);
	assert_int_equal(t.cols, 3);
	assert_int_equal(t.at_largest, 1);
	assert_near(t.cells, 14, 0);
	kdr_context_free(ctx);
}

static void traits__any_number_of_threads__are_the_same(void **state)
{
	(void)state;
	enum { ROWS = 5000, COLS = 7 };
	kdr_context *ctx = unit_context();
	double *x = malloc(sizeof *x * ROWS * COLS);
	kdri_rng rng = kdri_rng_stream(3, "traits", 0);
	for (int64_t i = 0; i < ROWS * COLS; i++)
		x[i] = (double)kdri_rng_below(&rng, 20) - 1;
	const kdr_mat m = kdr_mat_from_dense(x, ROWS, COLS);
	kdri_traits one = { 0 }, four = { 0 };
	kdr_context_set_threads(ctx, 1);
	assert_ok(ctx, kdri_traits_add(ctx, &m, &one));
	kdr_context_set_threads(ctx, 4);
	assert_ok(ctx, kdri_traits_add(ctx, &m, &four));
	assert_true(one.nonzero == four.nonzero && one.rows == four.rows && one.largest == four.largest &&
	            one.at_largest == four.at_largest && one.least_sum == four.least_sum &&
	            one.most_sum == four.most_sum && one.thousand == four.thousand);
	free(x);
	kdr_context_free(ctx);
}

static void kinds__by_share_of_zeros_sign_and_columns(void **state)
{
	(void)state;
	const kdri_traits text = { .cols = 5000, .cells = 1e6, .nonzero = 9e4 },
	                  full = { .cols = 5000, .cells = 1e6, .nonzero = 1e5 },
	                  centred = { .cols = 5000, .cells = 1e6, .nonzero = 9e4, .negative = true },
	                  table = { .cols = 64, .cells = 1000, .nonzero = 250 },
	                  wide = { .cols = 65, .cells = 1000, .nonzero = 1000 },
	                  sparse = { .cols = 64, .cells = 1000, .nonzero = 249 };
	assert_true(kdri_looks_like_words(&text));
	assert_false(kdri_looks_like_words(&full));
	assert_false(kdri_looks_like_words(&centred));
	assert_true(kdri_looks_like_measurements(&table));
	assert_false(kdri_looks_like_measurements(&wide));
	assert_false(kdri_looks_like_measurements(&sparse));
}

/* --- the search ------------------------------------------------------------------------------------------ */

/* 10,010 rows of 50 columns take 5.01e9 products. Only the size counts. */
static void search__dense_rows__exact_up_to_a_number_of_products(void **state)
{
	(void)state;
	enum { COLS = 50 };
	kdr_context *ctx = unit_context();
	double nothing = 0;
	for (int64_t rows = 9990; rows <= 10010; rows += 20) {
		const kdr_mat x = kdr_mat_from_dense(&nothing, rows, COLS);
		bool exact = rows != 9990;
		assert_ok(ctx, kdri_search_is_exact(ctx, &x, KDRI_METRIC_EUCLIDEAN, KDRI_INSTEAD_LANDMARKS,
		                                    &exact));
		assert_int_equal(exact, rows == 9990);
	}
	/* Up to 10,000 rows whatever their columns, and more for a transfer. */
	for (int64_t rows = 10000; rows <= 10001; rows++) {
		const kdr_mat wide = kdr_mat_from_dense(&nothing, rows, 1000);
		bool all = rows != 10000, walk = false;
		assert_ok(ctx,
		          kdri_search_is_exact(ctx, &wide, KDRI_METRIC_COSINE, KDRI_INSTEAD_LANDMARKS, &all));
		assert_ok(ctx,
		          kdri_search_is_exact(ctx, &wide, KDRI_METRIC_COSINE, KDRI_INSTEAD_WALKS, &walk));
		assert_true(walk);
		assert_int_equal(all, rows == 10000);
	}
	/* A tree searches rows of few columns by distance. */
	const kdr_mat few = kdr_mat_from_dense(&nothing, 10000000, 2);
	bool exact = false, cosine = true;
	assert_ok(ctx,
	          kdri_search_is_exact(ctx, &few, KDRI_METRIC_EUCLIDEAN, KDRI_INSTEAD_LANDMARKS, &exact));
	assert_ok(ctx, kdri_search_is_exact(ctx, &few, KDRI_METRIC_COSINE, KDRI_INSTEAD_LANDMARKS, &cosine));
	assert_true(exact && !cosine);
	kdr_context_free(ctx);
}

/* Beyond the limit the work stays the same: fewer candidates for more rows. */
static void search__beyond_the_limit__has_candidates_for_as_much_work(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	double nothing = 0;
	int64_t candidates;
	const kdr_mat some = kdr_mat_from_dense(&nothing, 1000000, 200),
	              many = kdr_mat_from_dense(&nothing, 10000000, 200),
	              few = kdr_mat_from_dense(&nothing, 100000, 200);
	assert_ok(ctx, kdri_search_candidates(ctx, &some, KDRI_METRIC_COSINE, &candidates));
	assert_int_equal(candidates, 10000);
	assert_ok(ctx, kdri_search_candidates(ctx, &many, KDRI_METRIC_COSINE, &candidates));
	assert_int_equal(candidates, 2000);
	assert_ok(ctx, kdri_search_candidates(ctx, &few, KDRI_METRIC_COSINE, &candidates));
	assert_int_equal(candidates, 100000);
	kdr_context_free(ctx);
}

/* --- landmarks -------------------------------------------------------------------------------------------- */

static void landmarks__by_kind_of_samples_and_clusters(void **state)
{
	(void)state;
	assert_int_equal(kdri_landmarks_each(KDRI_SAMPLES_WORDS, 10), 20);
	assert_int_equal(kdri_landmarks_each(KDRI_SAMPLES_CENTRED, 10), 5);
	assert_int_equal(kdri_landmarks_each(KDRI_SAMPLES_CENTRED, 1), 1);
	assert_int_equal(kdri_landmarks_each(KDRI_SAMPLES_OTHER, 10), 10);
	assert_int_equal(kdri_landmark_count(2000, 10), 2000);
	assert_int_equal(kdri_landmark_count(2000, 1000), 3000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(traits__rows_of_several_kinds__are_counted),
		cmocka_unit_test(traits__any_number_of_threads__are_the_same),
		cmocka_unit_test(kinds__by_share_of_zeros_sign_and_columns),
		cmocka_unit_test(search__dense_rows__exact_up_to_a_number_of_products),
		cmocka_unit_test(search__beyond_the_limit__has_candidates_for_as_much_work),
		cmocka_unit_test(landmarks__by_kind_of_samples_and_clusters),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
