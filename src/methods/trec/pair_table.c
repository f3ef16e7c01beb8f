/* A rule for pairs, tabulated. SPDX-License-Identifier: BSD-3-Clause
 *
 * All pairs of a target use the same rule f(p, h), and h has only L + 1 values. For each of them the rule is evaluated
 * along p once, and the points at which its sign changes are kept: a pair then only needs a few comparisons instead of a
 * kernel with thousands of support vectors.
 *
 * The sign is looked up on a grid, and each change found is narrowed by bisection to neighbouring numbers. A kernel of
 * width sigma cannot change its sign twice to any relevant degree within a small part of sigma: the grid has 16
 * points per sigma, at least 64 and at most 4096 in total. */
#include "methods/trec/pairs.h"

enum { LEAST_STEPS = 64, MOST_STEPS = 4096, STEPS_A_SIGMA = 16 };

static double grid_point(double low, double high, int64_t steps, int64_t s)
{
	return s == steps ? high : low + (high - low) * ((double)s / (double)steps);
}

/* Where the sign changes between a and b; its sign at a is `sign`. */
static double bisect(const kdri_rule *rule, double h, double a, double b, bool sign)
{
	for (;;) {
		double middle = a + (b - a) / 2;
		if (middle <= a || middle >= b)
			return a;
		if ((kdri_rule_value(rule, middle, h) > 0) == sign)
			a = middle;
		else
			b = middle;
	}
}

/* The cuts of one level into `cut`; their number. */
static int64_t level_cuts(const kdri_rule *rule, double h, double low, double high, int64_t steps,
                          bool *below, double *cut)
{
	int64_t count = 0;
	bool sign = *below = kdri_rule_value(rule, low, h) > 0;
	if (!(high > low) || rule->scale_p == 0)
		return 0;
	for (int64_t s = 1; s <= steps; s++) {
		double at = grid_point(low, high, steps, s);
		bool now = kdri_rule_value(rule, at, h) > 0;
		if (now != sign)
			cut[count++] = bisect(rule, h, grid_point(low, high, steps, s - 1), at, sign);
		sign = now;
	}
	return count;
}

static int64_t grid_steps(const kdri_rule *rule, double low, double high)
{
	/* sigma = (2 gamma)^-1/2 in the rule's own units. */
	double want = (high - low) * rule->scale_p * sqrt(2 * rule->gamma) * STEPS_A_SIGMA;
	return rule->logistic ? 1 : (int64_t)KDRI_MAX(LEAST_STEPS, KDRI_MIN(want, MOST_STEPS));
}

kdr_status kdri_pair_table_new(kdr_context *ctx, const kdri_rule *rule, int64_t runs, double low, double high,
                               kdri_pair_table *out)
{
	kdr_status st;
	kdri_pair_table t = { .levels = runs + 1 };
	int64_t steps = grid_steps(rule, low, high), size, *count = NULL;
	double *found = NULL;
	KDRI_TRY(kdri_mul(ctx, t.levels, steps, &size));
	KDRI_TRY(KDRI_NEW(ctx, &found, size));
	KDRI_TRY(KDRI_NEW0(ctx, &count, t.levels));
	KDRI_TRY(KDRI_NEW0(ctx, &t.below, t.levels));
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic, 1) if (rule->count * size > 1 << 14)
	for (int64_t l = 0; l < t.levels; l++)
		count[l] = level_cuts(rule, (double)l / (double)runs, low, high, steps, &t.below[l],
		                      found + l * steps);
	for (int64_t l = 0; l < t.levels; l++)
		t.width = KDRI_MAX(t.width, count[l]);
	KDRI_TRY(KDRI_NEW(ctx, &t.cut, t.levels * t.width));
	for (int64_t l = 0; l < t.levels; l++)
		for (int64_t c = 0; c < t.width; c++)
			t.cut[l * t.width + c] = c < count[l] ? found[l * steps + c] : INFINITY;
	*out = t;
	t = (kdri_pair_table){ 0 };
done:
	KDRI_FREE(ctx, found, count);
	kdri_pair_table_free(ctx, &t);
	return st;
}

void kdri_pair_table_free(kdr_context *ctx, kdri_pair_table *table)
{
	KDRI_FREE(ctx, table->below, table->cut);
	*table = (kdri_pair_table){ 0 };
}
