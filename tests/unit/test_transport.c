/* Transport: reference flows, exact units, duals that prove optimality. SPDX-License-Identifier: BSD-3-Clause
 */
#include "engine/metrics/metrics.h"
#include "tests/unit/golden_metrics.h"
#include "tests/unit/unit.h"

enum { SIDE = 24 };

static void transport__reference_problems__reference_flows(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	for (size_t g = 0; g < sizeof golden_transports / sizeof *golden_transports; g++) {
		const golden_transport *t = &golden_transports[g];
		double supply[SIDE], demand[SIDE], flow[SIDE * SIDE], total;
		for (int64_t i = 0; i < t->rows; i++)
			supply[i] = t->supply ? t->supply[i] : 1.0 / (double)t->rows;
		for (int64_t j = 0; j < t->cols; j++)
			demand[j] = t->demand ? t->demand[j] : 1.0 / (double)t->cols;
		assert_ok(ctx, kdri_transport(ctx, t->cost, t->rows, t->cols, supply, demand, flow, NULL,
		                              NULL, &total));
		assert_near(total, t->value, 1e-15);
		for (int64_t k = 0; k < t->rows * t->cols; k++)
			assert_near(flow[k], t->flow[k], 1e-16);
	}
	kdr_context_free(ctx);
}

typedef struct problem {
	int64_t rows, cols;
	double cost[SIDE * SIDE], supply[SIDE], demand[SIDE];
} problem;

static void random_marginal(kdri_rng *rng, double *x, int64_t n)
{
	int64_t kind = kdri_rng_below(rng, 4);
	double sum = 0;
	for (int64_t i = 0; i < n; i++) {
		x[i] = kind == 0   ? 1
		       : kind == 1 ? (double)kdri_rng_below(rng, 3)
		       : kind == 2 ? kdri_rng_uniform(rng)
		                   : pow(kdri_rng_uniform(rng), 30); /* down to 1e-20 of the total */
		sum += x[i];
	}
	if (sum == 0)
		x[0] = sum = 1;
	for (int64_t i = 0; i < n; i++)
		x[i] /= sum;
}

static void random_problem(kdri_rng *rng, problem *p)
{
	p->rows = 1 + kdri_rng_below(rng, SIDE);
	p->cols = 1 + kdri_rng_below(rng, SIDE);
	bool ties = kdri_rng_below(rng, 2);
	for (int64_t k = 0; k < p->rows * p->cols; k++)
		p->cost[k] = ties ? (double)kdri_rng_below(rng, 3) : kdri_rng_normal(rng);
	random_marginal(rng, p->supply, p->rows);
	random_marginal(rng, p->demand, p->cols);
}

static void transport__any_problem__duals_prove_it(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(1, "test", 0);
	for (int round = 0; round < 1000; round++) {
		problem p;
		double flow[SIDE * SIDE], u[SIDE], v[SIDE], total, in[SIDE] = { 0 }, dual = 0;
		random_problem(&rng, &p);
		assert_ok(ctx, kdri_transport(ctx, p.cost, p.rows, p.cols, p.supply, p.demand, flow, u, v,
		                              &total));
		for (int64_t i = 0; i < p.rows; i++) {
			double out = 0;
			for (int64_t j = 0; j < p.cols; j++) {
				double x = flow[i * p.cols + j], slack = p.cost[i * p.cols + j] - u[i] - v[j];
				assert_true(x >= 0 && slack >= -1e-13 && x * slack <= 1e-13);
				out += x;
				in[j] += x;
			}
			assert_near(out, p.supply[i], 1e-15);
			dual += p.supply[i] * u[i];
		}
		for (int64_t j = 0; j < p.cols; j++) {
			assert_near(in[j], p.demand[j], 1e-14);
			dual += p.demand[j] * v[j];
		}
		assert_near(total, dual, 1e-13);
	}
	kdr_context_free(ctx);
}

/* Flow of 1/K against 1/L lines is in multiples of 1/lcm(K, L), and nothing is nearly zero. */
static void transport__uniform_marginals__whole_units(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(2, "test", 0);
	for (int64_t rows = 1; rows <= SIDE; rows++)
		for (int64_t cols = 1; cols <= SIDE; cols += 1 + rows % 3) {
			double cost[SIDE * SIDE], supply[SIDE], demand[SIDE], flow[SIDE * SIDE];
			for (int64_t k = 0; k < rows * cols; k++)
				cost[k] = kdri_rng_uniform(&rng);
			for (int64_t i = 0; i < rows; i++)
				supply[i] = 1.0 / (double)rows;
			for (int64_t j = 0; j < cols; j++)
				demand[j] = 1.0 / (double)cols;
			assert_ok(ctx, kdri_transport(ctx, cost, rows, cols, supply, demand, flow, NULL, NULL,
			                              NULL));
			for (int64_t k = 0; k < rows * cols; k++) {
				double units = flow[k] * (double)(rows * cols);
				assert_near(units, nearbyint(units), 1e-13);
			}
		}
	kdr_context_free(ctx);
}

static void transport__whole_numbers__stay_whole(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	static const double cost[6] = { 4, 6, 8, 5, 8, 7 }, supply[2] = { 120, 80 },
	                    demand[3] = { 60, 70, 70 };
	double flow[6], total;
	assert_ok(ctx, kdri_transport(ctx, cost, 2, 3, supply, demand, flow, NULL, NULL, &total));
	static const double expected[6] = { 50, 70, 0, 10, 0, 70 };
	for (int k = 0; k < 6; k++)
		assert_true(flow[k] == expected[k]);
	assert_true(total == 1160);
	kdr_context_free(ctx);
}

static void transport__transposed__same_total(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(3, "test", 0);
	for (int round = 0; round < 200; round++) {
		problem p;
		double turned[SIDE * SIDE], flow[SIDE * SIDE], a, b;
		random_problem(&rng, &p);
		for (int64_t i = 0; i < p.rows; i++)
			for (int64_t j = 0; j < p.cols; j++)
				turned[j * p.rows + i] = p.cost[i * p.cols + j];
		assert_ok(ctx, kdri_transport(ctx, p.cost, p.rows, p.cols, p.supply, p.demand, flow, NULL,
		                              NULL, &a));
		assert_ok(ctx, kdri_transport(ctx, turned, p.cols, p.rows, p.demand, p.supply, flow, NULL,
		                              NULL, &b));
		assert_near(a, b, 1e-13);
	}
	kdr_context_free(ctx);
}

/* Costs over 40 orders of magnitude: the answer may be rough, but there is one. */
static void transport__absurd_costs__ends(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(4, "test", 0);
	for (int round = 0; round < 100; round++) {
		problem p;
		double flow[SIDE * SIDE], total;
		random_problem(&rng, &p);
		for (int64_t k = 0; k < p.rows * p.cols; k++)
			p.cost[k] = exp(46 * (2 * kdri_rng_uniform(&rng) - 1));
		assert_ok(ctx, kdri_transport(ctx, p.cost, p.rows, p.cols, p.supply, p.demand, flow, NULL,
		                              NULL, &total));
		assert_true(isfinite(total));
	}
	kdr_context_free(ctx);
}

static void transport__no_mass__no_flow(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	static const double cost[4] = { 3, 1, 2, 5 }, zero[2] = { 0, 0 };
	double flow[4] = { 9, 9, 9, 9 }, u[2], v[2], total = 9;
	assert_ok(ctx, kdri_transport(ctx, cost, 2, 2, zero, zero, flow, u, v, &total));
	for (int k = 0; k < 4; k++)
		assert_true(flow[k] == 0 && u[k / 2] + v[k % 2] <= cost[k]);
	assert_true(total == 0);
	kdr_context_free(ctx);
}

static void transport__bad_input__says_what_is_wrong(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	const double cost[2] = { 1, 2 }, bad_cost[2] = { 1, INFINITY }, one = 1, halves[2] = { 0.5, 0.5 },
	             negative[2] = { 1.5, -0.5 }, nan[2] = { NAN, 1 }, more[2] = { 0.5, 0.75 };
	double flow[2] = { 7, 7 };
	assert_int_equal(kdri_transport(ctx, cost, 1, 2, &one, negative, flow, NULL, NULL, NULL),
	                 KDR_ERR_DATA);
	assert_non_null(strstr(kdr_context_error(ctx), "demand 2 is -0.5"));
	assert_int_equal(kdri_transport(ctx, cost, 1, 2, &one, nan, flow, NULL, NULL, NULL), KDR_ERR_DATA);
	assert_int_equal(kdri_transport(ctx, bad_cost, 1, 2, &one, halves, flow, NULL, NULL, NULL),
	                 KDR_ERR_DATA);
	assert_int_equal(kdri_transport(ctx, cost, 1, 2, &one, more, flow, NULL, NULL, NULL), KDR_ERR_DATA);
	assert_non_null(strstr(kdr_context_error(ctx), "add up to 1 and the demands to 1.25"));
	assert_int_equal(kdri_transport(ctx, cost, 1, 2, NULL, halves, flow, NULL, NULL, NULL),
	                 KDR_ERR_ARGUMENT);
	assert_true(flow[0] == 7 && flow[1] == 7);
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(transport__reference_problems__reference_flows),
		cmocka_unit_test(transport__any_problem__duals_prove_it),
		cmocka_unit_test(transport__uniform_marginals__whole_units),
		cmocka_unit_test(transport__whole_numbers__stay_whole),
		cmocka_unit_test(transport__transposed__same_total),
		cmocka_unit_test(transport__absurd_costs__ends),
		cmocka_unit_test(transport__no_mass__no_flow),
		cmocka_unit_test(transport__bad_input__says_what_is_wrong),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
