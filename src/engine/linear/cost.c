/* Chooses the cost of a linear classifier by cross-validation. SPDX-License-Identifier: BSD-3-Clause
 *
 * Each class's labelled rows are shuffled and dealt to FOLDS folds in turn; for each fold and cost a classifier is
 * trained on the other folds and tested on this one.
 *
 *   (E1)  right(C) = proportion of labelled rows whose class is predicted correctly by the classifier of the other
 *         folds, of cost C
 *
 * Rows of a fold are excluded by a cost of 0, which avoids a copy of the data. If there are few classes, the folds are
 * outputs of one problem, so that the data are read once for all of them. Costs ascend, and each starts from the weights
 * of the one before. */
#include "engine/linear/rest.h"

enum { FOLDS = 3, MOST_OUTPUTS = 16, MOST_STEPS = 100 };
static const double tolerance = 1e-3;

/* The fold of each labelled row, -1 elsewhere. */
static kdr_status cost_deal(kdr_context *ctx, const kdri_rest *p, int8_t *fold)
{
	kdr_status st;
	int64_t n = kdr_mat_rows(p->x), *rows = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &rows, n));
	for (int64_t c = 0; c < p->classes; c++) {
		int64_t count = 0;
		kdri_rng rng = kdri_rng_stream(ctx->seed, "folds", (uint64_t)c);
		for (int64_t i = 0; i < n; i++)
			if (p->labels[i] == c)
				rows[count++] = i;
		for (int64_t i = count - 1; i > 0; i--) {
			int64_t j = kdri_rng_below(&rng, i + 1), kept = rows[i];
			rows[i] = rows[j];
			rows[j] = kept;
		}
		for (int64_t i = 0; i < count; i++)
			fold[rows[i]] = (int8_t)((i + c) % FOLDS);
	}
done:
	kdri_free(ctx, rows);
	return st;
}

/* Costs of `folds` folds from `first` on, in adjacent columns. */
static void cost_fill(const kdri_rest *p, const int8_t *fold, int first, int64_t folds, double value,
                      double *cost)
{
	int64_t n = kdr_mat_rows(p->x), m = kdri_linear_outputs(p->classes), at = 0;
	for (int64_t i = 0; i < n; i++)
		for (int64_t f = 0; f < folds; f++)
			for (int64_t j = 0; j < m; j++, at++) {
				double c = value * (p->weights ? p->weights[i] : 1);
				bool used = p->labels[i] >= 0 && fold[i] != first + f;
				cost[at] = !used                                              ? 0
				           : p->labels[i] == kdri_linear_class(p->classes, j) ? c
				                                                              : -c;
			}
}

/* (E1): right answers about rows of these folds. */
static int64_t count_right(const kdri_rest *p, const int8_t *fold, int first, int64_t folds, const double *z)
{
	int64_t n = kdr_mat_rows(p->x), m = kdri_linear_outputs(p->classes), right = 0;
	for (int64_t i = 0; i < n; i++) {
		if (p->labels[i] < 0 || fold[i] < first || fold[i] >= first + folds)
			continue;
		const double *own = z + (i * folds + fold[i] - first) * m, two[] = { -own[0], own[0] };
		right += kdri_rest_best(m > 1 ? own : two, p->classes) == p->labels[i];
	}
	return right;
}

static kdr_status try_costs(kdr_context *ctx, const kdri_rest *p, const int8_t *fold, const double *costs,
                            int64_t count, int64_t *right)
{
	kdr_status st;
	int64_t n = kdr_mat_rows(p->x), d = kdr_mat_cols(p->x), m = kdri_linear_outputs(p->classes), nm, dm;
	int64_t folds = FOLDS * m <= MOST_OUTPUTS ? FOLDS : 1;
	double *w = NULL, *cost = NULL, *z = NULL;
	const kdri_linear_options o = { .loss = p->loss,
		                        .bias = 1,
		                        .free_bias = p->free_bias,
		                        .tol = tolerance,
		                        .max_iter = MOST_STEPS,
		                        .stage = p->stage };
	KDRI_TRY(kdri_mul(ctx, n, m * folds, &nm));
	KDRI_TRY(kdri_mul(ctx, d + 1, m * folds, &dm));
	KDRI_TRY(KDRI_NEW(ctx, &w, dm));
	KDRI_TRY(KDRI_NEW(ctx, &cost, nm));
	KDRI_TRY(KDRI_NEW(ctx, &z, nm));
	/* If stopped early, the counts so far decide. */
	bool stopped = false;
	for (int first = 0; first < FOLDS && !stopped; first += (int)folds) {
		memset(w, 0, (size_t)dm * sizeof *w);
		for (int64_t k = 0; k < count && !stopped; k++) {
			kdri_linear_report report;
			cost_fill(p, fold, first, folds, costs[k], cost);
			KDRI_TRY(kdri_linear_train(ctx, p->x, m * folds, cost, &o, w, &report));
			KDRI_TRY(kdri_linear_scores(ctx, p->x, m * folds, 1, w, z));
			right[k] += count_right(p, fold, first, folds, z);
			stopped = ctx->cancelled || ctx->timed_out;
		}
	}
done:
	kdri_free(ctx, w);
	kdri_free(ctx, cost);
	kdri_free(ctx, z);
	return st;
}

kdr_status kdri_cost_by_folds(kdr_context *ctx, const kdri_rest *p, const double *costs, int64_t count,
                              double *best, double *right)
{
	kdr_status st;
	int64_t n = kdr_mat_rows(p->x), known = 0, first = 0, *found = NULL;
	int8_t *fold = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &fold, n));
	KDRI_TRY(KDRI_NEW0(ctx, &found, count));
	memset(fold, -1, (size_t)n);
	KDRI_TRY(cost_deal(ctx, p, fold));
	KDRI_TRY(try_costs(ctx, p, fold, costs, count, found));
	for (int64_t i = 0; i < n; i++)
		known += p->labels[i] >= 0;
	for (int64_t k = 0; k < count; k++) {
		first = found[k] > found[first] ? k : first;
		if (right)
			right[k] = (double)found[k] / (double)known;
	}
	*best = costs[first];
done:
	kdri_free(ctx, fold);
	kdri_free(ctx, found);
	return st;
}
