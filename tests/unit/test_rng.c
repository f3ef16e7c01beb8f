/* The generator's outputs are promises: a seed must mean the same in every version. */
#include "tests/unit/unit.h"

static void splitmix64__seed_one__matches_reference(void **state)
{
	(void)state;
	/* Reference values of the published splitmix64 from state 1, as fractions of 2^64. */
	static const double expected[] = { 0.5665615751722809, 0.7457817572627011, 0.9710027535867962,
		                           0.4443592170557721 };
	uint64_t s = 1;
	for (int i = 0; i < 4; i++)
		assert_true(fabs((double)(kdri_random(&s) >> 11) * 0x1p-53 - expected[i]) < 1e-15);
}

static void stream__pinned__first_outputs(void **state)
{
	(void)state;
	kdri_rng rng = kdri_rng_stream(1, "kmeans", 0);
	static const uint64_t expected[] = { 0xf878a55d0c4842d7u, 0x4bf80c15aa460ccfu, 0xa075ce60307631f6u };
	for (int i = 0; i < 3; i++)
		assert_int_equal(kdri_rng_u64(&rng), expected[i]);
}

static void stream__other_seed_stage_or_index__differs(void **state)
{
	(void)state;
	kdri_rng a = kdri_rng_stream(1, "kmeans", 0), b = kdri_rng_stream(2, "kmeans", 0),
	         c = kdri_rng_stream(1, "eigs", 0), d = kdri_rng_stream(1, "kmeans", 1);
	uint64_t x = kdri_rng_u64(&a);
	assert_true(x != kdri_rng_u64(&b) && x != kdri_rng_u64(&c) && x != kdri_rng_u64(&d));
}

static void below__many_draws__covers_the_range_evenly(void **state)
{
	(void)state;
	kdri_rng rng = kdri_rng_stream(7, "test", 0);
	int count[5] = { 0 };
	for (int i = 0; i < 50000; i++)
		count[kdri_rng_below(&rng, 5)]++;
	for (int i = 0; i < 5; i++)
		assert_in_range(count[i], 9600, 10400);
}

static void normal__many_draws__mean_and_variance(void **state)
{
	(void)state;
	kdri_rng rng = kdri_rng_stream(7, "test", 1);
	double sum = 0, squares = 0;
	const int n = 200000;
	for (int i = 0; i < n; i++) {
		double x = kdri_rng_normal(&rng);
		sum += x;
		squares += x * x;
	}
	assert_true(fabs(sum / n) < 0.01);
	assert_true(fabs(squares / n - 1) < 0.02);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(splitmix64__seed_one__matches_reference),
		cmocka_unit_test(stream__pinned__first_outputs),
		cmocka_unit_test(stream__other_seed_stage_or_index__differs),
		cmocka_unit_test(below__many_draws__covers_the_range_evenly),
		cmocka_unit_test(normal__many_draws__mean_and_variance),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
