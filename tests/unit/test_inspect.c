/* Inspection: counted by hand, and dense equal to sparse. */
#include "tests/unit/unit.h"

static const double dense[] = { 1, 0, 2, 0, /* */
	                        0, 0, 2, 0, /* */
	                        1, 0, 2, 0, /* equal to the first */
	                        0, 0, 0, 0,
	                        /* */ };

static void assert_counts(const kdr_inspection *s)
{
	assert_int_equal(s->rows, 4);
	assert_int_equal(s->cols, 4);
	assert_int_equal(s->nonzeros, 5);
	assert_true(s->min == 0 && s->max == 2 && s->integers);
	assert_int_equal(s->empty_rows, 1);
	assert_int_equal(s->empty_cols, 2);
	assert_int_equal(s->constant_cols, 2);
	assert_int_equal(s->duplicate_rows, 1);
	assert_int_equal(s->nonfinite, 0);
	assert_int_equal(s->bad_row, -1);
}

static void inspect__dense_and_sparse__same_counts(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	static const int64_t rowptr[] = { 0, 2, 3, 6, 6 };
	static const int32_t col[] = { 0, 2, 2, 0, 1, 2 };
	static const double val[] = { 1, 2, 2, 1, 0, 2 }; /* with an explicit zero */
	kdr_mat views[] = { kdr_mat_from_dense(dense, 4, 4), kdr_mat_from_csr(4, 4, rowptr, col, val) };
	for (int i = 0; i < 2; i++) {
		kdr_data *d = NULL;
		kdr_inspection s;
		assert_ok(ctx, kdr_data_new(ctx, "x", &views[i], NULL, &d));
		assert_ok(ctx, kdr_inspect(ctx, d, &s));
		assert_counts(&s);
		kdr_data_free(d);
	}
	kdr_context_free(ctx);
}

static void inspect__odd_values__are_counted_and_placed(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	static const double odd[] = { 7, -1.5, 7, NAN, 7, INFINITY };
	static const char *const names[] = { "a", "a" };
	kdr_mat x = kdr_mat_from_dense(odd, 3, 2);
	kdr_data *d = NULL;
	kdr_inspection s;
	assert_ok(ctx, kdr_data_new(ctx, "x", &x, names, &d));
	assert_ok(ctx, kdr_inspect(ctx, d, &s));
	assert_int_equal(s.nonfinite, 2);
	assert_int_equal(s.bad_row, 1);
	assert_int_equal(s.bad_col, 1);
	assert_int_equal(s.negatives, 1);
	assert_false(s.integers);
	assert_int_equal(s.constant_cols, 1);
	assert_int_equal(s.duplicate_names, 1);
	assert_true(s.min == -1.5 && s.max == 7);
	kdr_data_free(d);
	kdr_context_free(ctx);
}

/* Many rows from few patterns: the count is rows less distinct patterns. */
static void inspect__many_duplicates__counted_exactly(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	enum { N = 500, D = 3 };
	double x[N * D];
	bool seen[27] = { false };
	int64_t distinct = 0;
	kdri_rng rng = kdri_rng_stream(5, "test", 0);
	for (int i = 0; i < N; i++) {
		int code = 0;
		for (int j = 0; j < D; j++) {
			int v = (int)kdri_rng_below(&rng, 3);
			x[i * D + j] = v;
			code = code * 3 + v;
		}
		distinct += !seen[code];
		seen[code] = true;
	}
	kdr_mat view = kdr_mat_from_dense(x, N, D);
	kdr_data *d = NULL;
	kdr_inspection s;
	assert_ok(ctx, kdr_data_new(ctx, "x", &view, NULL, &d));
	assert_ok(ctx, kdr_inspect(ctx, d, &s));
	assert_int_equal(s.duplicate_rows, N - distinct);
	kdr_data_free(d);
	kdr_context_free(ctx);
}

static void inspect__any_threads__same_statistics(void **state)
{
	enum { N = 1000, D = 7 };
	(void)state;
	static double x[N * D];
	static int64_t rowptr[N + 1];
	static int32_t col[N * D];
	kdri_rng rng = kdri_rng_stream(3, "inspect", 0);
	for (int64_t i = 0; i < N; i++)
		for (int64_t j = 0; j < D; j++) {
			col[i * D + j] = (int32_t)j;
			rowptr[i + 1] = (i + 1) * D;
			/* column 0 is constant, 1 constant but for the last row, 2 mostly zero */
			x[i * D + j] = j == 0 || (j == 1 && i + 1 < N) ? 4
			               : j == 2                        ? i % 90 == 5
			                                               : kdri_rng_uniform(&rng) - 0.5;
		}
	x[700 * D + 4] = NAN;
	x[900 * D + 5] = INFINITY;
	memcpy(x + 800 * D, x + 100 * D, D * sizeof *x);
	memset(x + 300 * D, 0, D * sizeof *x);
	kdr_mat views[] = { kdr_mat_from_dense(x, N, D), kdr_mat_from_csr(N, D, rowptr, col, x) };
	for (int i = 0; i < 2; i++) {
		kdr_context *ctx = unit_context();
		kdr_data *d = NULL;
		kdr_inspection one, more;
		assert_ok(ctx, kdr_data_new(ctx, "x", &views[i], NULL, &d));
		kdr_context_set_threads(ctx, 1);
		assert_ok(ctx, kdr_inspect(ctx, d, &one));
		assert_int_equal(one.nonfinite, 2);
		assert_true(one.bad_row == 700 && one.bad_col == 4);
		assert_int_equal(one.duplicate_rows, 1);
		assert_int_equal(one.empty_rows, 1);
		assert_int_equal(one.constant_cols, 0);
		for (int threads = 2; threads <= 5; threads++) {
			kdr_context_set_threads(ctx, threads);
			assert_ok(ctx, kdr_inspect(ctx, d, &more));
			assert_memory_equal(&one, &more, sizeof one);
		}
		kdr_data_free(d);
		kdr_context_free(ctx);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inspect__dense_and_sparse__same_counts),
		cmocka_unit_test(inspect__odd_values__are_counted_and_placed),
		cmocka_unit_test(inspect__many_duplicates__counted_exactly),
		cmocka_unit_test(inspect__any_threads__same_statistics),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
