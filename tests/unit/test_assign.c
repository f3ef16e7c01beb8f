/* Assignment: optimal against all maps, dual feasible, deterministic. SPDX-License-Identifier: BSD-3-Clause
 */
#include "engine/metrics/metrics.h"
#include "tests/unit/unit.h"

enum { SIDE = 40 };

/* Several kinds of costs: distinct, many ties, all equal, sums of lines (all maps equal), far apart. */
static void random_costs(kdri_rng *rng, double *cost, int64_t rows, int64_t cols)
{
	int64_t kind = kdri_rng_below(rng, 5);
	double line[SIDE];
	for (int64_t j = 0; j < cols; j++)
		line[j] = kdri_rng_normal(rng);
	for (int64_t i = 0; i < rows; i++) {
		double own = kdri_rng_normal(rng);
		for (int64_t j = 0; j < cols; j++)
			cost[i * cols + j] = kind == 0   ? kdri_rng_uniform(rng)
			                     : kind == 1 ? (double)kdri_rng_below(rng, 3)
			                     : kind == 2 ? 2.5
			                     : kind == 3 ? own + line[j]
			                                 : exp(20 * kdri_rng_normal(rng));
	}
}

static double best_of_all(const double *cost, int64_t rows, int64_t cols, int64_t row, int64_t skips,
                          int used)
{
	if (row == rows)
		return 0;
	double best = skips > 0 ? best_of_all(cost, rows, cols, row + 1, skips - 1, used) : INFINITY;
	for (int64_t j = 0; j < cols; j++)
		if (!(used >> j & 1))
			best = fmin(best, cost[row * cols + j] + best_of_all(cost, rows, cols, row + 1, skips,
			                                                     used | 1 << j));
	return best;
}

static void assign__small__best_of_all_maps(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(1, "test", 0);
	for (int round = 0; round < 400; round++) {
		int64_t rows = 1 + kdri_rng_below(&rng, 6), cols = 1 + kdri_rng_below(&rng, 6), map[6];
		double cost[36], total, best;
		random_costs(&rng, cost, rows, cols);
		assert_ok(ctx, kdri_assign_checked(ctx, cost, rows, cols, map, &total));
		best = best_of_all(cost, rows, cols, 0, KDRI_MAX(0, rows - cols), 0);
		assert_near(total, best, 1e-12 * fmax(1, fabs(best)));
	}
	kdr_context_free(ctx);
}

/* One to one, dual feasible and complementary: a proof of optimality at any size. */
static void assign__any_shape__duals_prove_it(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(2, "test", 0);
	static double cost[SIDE * SIDE];
	for (int round = 0; round < 300; round++) {
		int64_t rows = 1 + kdri_rng_below(&rng, SIDE), cols = 1 + kdri_rng_below(&rng, SIDE),
		        map[SIDE];
		double u[SIDE], v[SIDE], size = 0;
		random_costs(&rng, cost, rows, cols);
		assert_ok(ctx, kdri_assign(ctx, cost, rows, cols, map, u, v));
		bool used[SIDE] = { false };
		int64_t assigned = 0;
		for (int64_t k = 0; k < rows * cols; k++)
			size = fmax(size, fabs(cost[k]));
		for (int64_t i = 0; i < rows; i++) {
			for (int64_t j = 0; j < cols; j++)
				assert_true(u[i] + v[j] <= cost[i * cols + j] + 1e-13 * size);
			if (map[i] < 0) {
				assert_true(u[i] == 0);
				continue;
			}
			assert_true(map[i] < cols && !used[map[i]]);
			used[map[i]] = true;
			assigned++;
			assert_near(u[i] + v[map[i]], cost[i * cols + map[i]], 1e-13 * size);
		}
		assert_int_equal(assigned, KDRI_MIN(rows, cols));
		for (int64_t j = 0; j < cols; j++)
			assert_true(rows > cols || (v[j] <= 0 && (used[j] || v[j] == 0)));
	}
	kdr_context_free(ctx);
}

static void assign__bad_input__says_what_is_wrong(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	double cost[4] = { 1, 2, NAN, 4 }, total = -1;
	int64_t map[2] = { 9, 9 };
	assert_int_equal(kdri_assign_checked(ctx, cost, 2, 2, map, &total), KDR_ERR_DATA);
	assert_non_null(strstr(kdr_context_error(ctx), "row 2, column 1"));
	assert_int_equal(kdri_assign_checked(ctx, cost, -1, 2, map, &total), KDR_ERR_ARGUMENT);
	assert_int_equal(kdri_assign_checked(ctx, NULL, 2, 2, map, &total), KDR_ERR_ARGUMENT);
	assert_true(map[0] == 9 && total == -1);
	assert_ok(ctx, kdri_assign_checked(ctx, cost, 2, 0, map, &total));
	assert_true(map[0] == -1 && map[1] == -1 && total == 0);
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(assign__small__best_of_all_maps),
		cmocka_unit_test(assign__any_shape__duals_prove_it),
		cmocka_unit_test(assign__bad_input__says_what_is_wrong),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
