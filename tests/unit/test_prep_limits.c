/* Preprocessing at the ends of what numbers can be, and of what tasks can lack. */
#include "tests/unit/prep_data.h"

static const double most = 1.7976931348623157e308;

/* Columns: a huge entry, entries whose squares overflow, ordinary ones, tiny ones. */
static kdr_data *extreme_data(kdr_context *ctx)
{
	const double x[] = {
		most,  1e200, 1, 1e-200, /**/
		-most, 2e200, 2, 2e-200, /**/
		1,     3e200, 4, 3e-200, /**/
		0,     4e200, 9, 5e-324, /**/
	};
	return dense_data(ctx, "a", 4, 4, x, "p q r s");
}

static void prepare__any_finite_values__finite_values(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	for (int scale = KDR_SCALE_NONE; scale <= KDR_SCALE_MINMAX; scale++)
		for (int norm = KDR_NORM_NONE; norm <= KDR_NORM_L2; norm++)
			for (int sparse = 0; sparse < 2; sparse++) {
				kdr_data *dense = extreme_data(ctx),
				         *data = sparse ? sparse_copy(ctx, dense) : dense;
				kdr_prep *prep = NULL;
				kdr_prep_options o = { .size = sizeof(kdr_prep_options),
					               .norm = (kdr_norm)norm,
					               .scale = (kdr_scale)scale };
				if (sparse && scale == KDR_SCALE_MINMAX) /* zeros would move */
					o.scale = KDR_SCALE_NONE;
				assert_ok(ctx, kdr_prepare(ctx, &data, 1, &o, &prep));
				for (int64_t p = 0; p < 16; p++) {
					double v = entry(data, p / 4, p % 4);
					if (!isfinite(v))
						fail_msg("scale %d, norm %d: entry %lld is %g", scale, norm,
						         (long long)p, v);
				}
				kdr_prep_free(prep);
				if (sparse)
					kdr_data_free(dense);
				kdr_data_free(data);
			}
	kdr_context_free(ctx);
}

/* One huge entry must not spoil the other columns, nor squares that overflow their own. */
static void prepare__standard_with_a_huge_entry__columns_of_unit_spread(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_data *data = extreme_data(ctx);
	kdr_prep *prep = NULL;
	assert_ok(ctx, kdr_prepare(ctx, &data, 1,
	                           &(kdr_prep_options){ .size = sizeof(kdr_prep_options),
	                                                .scale = KDR_SCALE_STANDARD },
	                           &prep));
	for (int64_t j = 0; j < 3; j++) {
		double sum = 0, square = 0;
		for (int64_t i = 0; i < 4; i++) {
			sum += entry(data, i, j);
			square += entry(data, i, j) * entry(data, i, j);
		}
		assert_near(sum, 0, 1e-12);
		assert_near(square / 4, 1, 1e-12);
	}
	kdr_prep_free(prep);
	kdr_data_free(data);
	kdr_context_free(ctx);
}

static void prepare__l2_where_squares_over_or_underflow__unit_length(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	const double x[] = { most, most, 3e200, 4e200, 3e-200, 4e-200, 5e-324, 0 };
	kdr_data *data = dense_data(ctx, "a", 4, 2, x, NULL);
	kdr_prep *prep = NULL;
	assert_ok(ctx,
	          kdr_prepare(ctx, &data, 1,
	                      &(kdr_prep_options){ .size = sizeof(kdr_prep_options), .norm = KDR_NORM_L2 },
	                      &prep));
	assert_near(entry(data, 0, 0), sqrt(0.5), 1e-15);
	assert_near(entry(data, 1, 1), 0.8, 1e-15);
	assert_near(entry(data, 2, 0), 0.6, 1e-15);
	assert_near(entry(data, 3, 0), 1, 0);
	kdr_prep_free(prep);
	kdr_data_free(data);
	kdr_context_free(ctx);
}

static void prepare__counts_beyond_all_totals__named(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_data *data = dense_data(ctx, "a", 2, 2, (double[]){ 1, 2, most, 1 }, NULL);
	kdr_prep *prep = NULL;
	assert_int_equal(kdr_prepare(ctx, &data, 1,
	                             &(kdr_prep_options){ .size = sizeof(kdr_prep_options),
	                                                  .weight = KDR_WEIGHT_TFIDF },
	                             &prep),
	                 KDR_ERR_DATA);
	assert_non_null(strstr(kdr_context_error(ctx), "row 2, column 1"));
	assert_non_null(strstr(kdr_context_error(ctx), "up to 1e290"));
	kdr_data_free(data);
	kdr_context_free(ctx);
}

/* What the data look like does not depend on a column that one task lacks. */
static void recipe__a_column_missing_in_one_task__same_as_without(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	enum { N = 40 };
	double wide[N * 3], narrow[N * 2];
	kdri_rng rng = kdri_rng_stream(3, "suggest", 0);
	for (int64_t p = 0; p < N * 3; p++)
		wide[p] = kdri_rng_normal(&rng) * (p % 3 == 1 ? 100 : 1);
	for (int64_t p = 0; p < N * 2; p++)
		narrow[p] = 5 + kdri_rng_normal(&rng);
	for (int both = 0; both < 2; both++) {
		/* The columns that differ: in one task alone; of the same name in neither. */
		kdr_data *data[2] = { dense_data(ctx, "a", N, 3, wide, "x y z"),
			              dense_data(ctx, "b", N, 2, narrow, "z x") };
		kdr_recipe recipe;
		assert_ok(ctx, kdr_recipe_find(ctx, data, both ? 2 : 1, &recipe));
		assert_int_equal(recipe.kind, KDR_DATA_UNITS);
		assert_int_equal(recipe.scale, KDR_SCALE_STANDARD);
		kdr_data_free(data[0]);
		kdr_data_free(data[1]);
	}
	/* Constant for the zeros that would be filled in: their spread is not the column's. */
	double even[N * 2];
	for (int64_t p = 0; p < N * 2; p++)
		even[p] = 500 * (p % 2) + kdri_rng_normal(&rng);
	kdr_data *data[2] = { dense_data(ctx, "a", N, 2, even, "x far"),
		              dense_data(ctx, "b", N, 2, narrow, "x y") };
	kdr_recipe recipe;
	assert_ok(ctx, kdr_recipe_find(ctx, data, 2, &recipe));
	assert_int_equal(recipe.kind, KDR_DATA_MEASUREMENTS);
	kdr_data_free(data[0]);
	kdr_data_free(data[1]);
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prepare__any_finite_values__finite_values),
		cmocka_unit_test(prepare__standard_with_a_huge_entry__columns_of_unit_spread),
		cmocka_unit_test(prepare__l2_where_squares_over_or_underflow__unit_length),
		cmocka_unit_test(prepare__counts_beyond_all_totals__named),
		cmocka_unit_test(recipe__a_column_missing_in_one_task__same_as_without),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
