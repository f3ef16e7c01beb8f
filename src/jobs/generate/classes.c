/* The class of a synthetic row. SPDX-License-Identifier: BSD-3-Clause
 *
 * Class sizes should be exactly as requested, without random variation, and yet row i must not depend on other rows.
 * The rows of a task are therefore placed on a circle in steps of the golden ratio,
 *
 *   u_i = frac(u_0 + i (sqrt 5 - 1) / 2)                                                  (E1)
 *
 * which visits every arc evenly (its discrepancy is O(log n / n)), and row i has the class whose arc
 * u_i falls into. Of m classes in a task, the r-th (r = 0, 1, ...) has an arc of
 *
 *   w_r = (1 - imbalance r / m) / sum of these                                            (E2) */
#include "jobs/generate/synth.h"

void kdri_shuffle(kdri_rng *rng, int32_t *order, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		int64_t j = kdri_rng_below(rng, i + 1); /* Fisher-Yates, inside out */
		order[i] = order[j];
		order[j] = (int32_t)i;
	}
}

/* The arcs of one task, as their upper ends; a missing class has an empty arc. `rank` of each class: its place in the order of
 * sizes. */
static void set_arcs(double *bound, int64_t k, const int32_t *order, const int32_t *rank, int64_t missing,
                     double imbalance)
{
	int64_t m = k - missing, seen = 0;
	double total = 0, sum = 0;
	for (int64_t c = 0; c < k; c++)
		bound[c] = 1;
	for (int64_t i = 0; i < missing; i++)
		bound[order[i]] = 0;
	for (int64_t r = 0; r < m; r++)
		total += 1 - imbalance * (double)r / (double)m;
	for (int64_t c = 0; c < k; c++) {
		if (bound[c] > 0)
			sum += 1 - imbalance * (double)(rank ? rank[c] : seen) / (double)m; /* (E2) */
		seen += bound[c] > 0;
		/* The last end is 1 exactly, whatever rounding did. */
		bound[c] = seen == m ? 1 : sum / total;
	}
}

kdr_status kdri_classes_new(kdr_context *ctx, kdr_generator *g, int64_t missing, double imbalance,
                            bool own_order)
{
	kdr_status st;
	int32_t *order = NULL, *rank = NULL;
	int64_t size;
	KDRI_TRY(kdri_mul(ctx, g->tasks, g->k, &size));
	KDRI_TRY(KDRI_NEW(ctx, &g->bound, size));
	KDRI_TRY(KDRI_NEW(ctx, &g->start, g->tasks));
	KDRI_TRY(KDRI_NEW(ctx, &order, g->k));
	KDRI_TRY(KDRI_NEW(ctx, &rank, g->k));
	for (int64_t t = 0; t < g->tasks; t++) {
		kdri_rng rng = kdri_rng_stream(g->seed, "generate.classes", (uint64_t)t);
		g->start[t] = kdri_rng_u64(&rng);
		kdri_shuffle(&rng, order, g->k);
		const int64_t skip = t > 0 ? missing : 0;
		for (int64_t i = 0; i < g->k; i++) /* the missing classes are first in `order` */
			rank[order[i]] = (int32_t)KDRI_MAX(i - skip, 0);
		set_arcs(g->bound + t * g->k, g->k, order, own_order ? rank : NULL, skip, imbalance);
	}
done:
	KDRI_FREE(ctx, order, rank);
	return st;
}

int64_t kdri_class_of(const kdr_generator *g, int64_t task, int64_t index)
{
	if (g->design->place_class)
		return g->design->place_class(g, index);
	uint64_t turn = g->start[task] + (uint64_t)index * 0x9e3779b97f4a7c15u; /* (E1) in units of 2^-64 */
	double u = (double)(turn >> 11) * 0x1p-53;
	const double *bound = g->bound + task * g->k;
	int64_t low = 0, high = g->k - 1; /* the first class whose end lies beyond u */
	while (low < high) {
		int64_t middle = low + (high - low) / 2;
		if (u < bound[middle])
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}
