/* One class against the rest, the choice of its cost, and self-training. SPDX-License-Identifier: BSD-3-Clause
 *
 * With many rows, a classifier is first trained on one row in STRIDE of each class, whose cost is STRIDE times as large: the
 * two objectives differ only by sampling, so that few Newton steps on all rows remain. The minimum does not depend on
 * the start. On 2 x 100,000 x 50 the classifiers of `transfer` take 3.9 s instead
 * of 6.5 s on one arm64 core. */
/* Chooses the cost of a linear classifier by cross-validation.
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
/* Self-training.
 *
 * For each fraction q of a list, with the predictions y_i = argmax_k s_k(x_i) for the unlabelled rows:
 *
 *   (E2)  of each class k the ceil(q n_k) rows with the largest softmax(2 s(x_i))_k, of the n_k rows with that
 *         prediction,
 *   (E3)  join the labelled rows with weight max(1, labelled rows / rows to predict); the classifier is trained
 *         again.
 *
 * These rows are chosen again in every round. The result is the scores of the last classifier. */
#include <stdlib.h>

#include "comm/comm.h"
#include "engine/linear/linear.h"

enum { MOST_STEPS = 200, SERIAL_WORK = 1 << 14, MANY = 1 << 14, STRIDE = 8 };
static const double tolerance = 1e-4;

/* w: on return the weights of a classifier of one labelled row in STRIDE, the first of each class among them. */
static kdr_status rest_start(kdr_context *ctx, const kdri_rest *p, double *w)
{
	kdr_status st;
	const int64_t n = kdr_mat_rows(p->x), most = n / STRIDE + p->classes;
	int64_t *rows = NULL, *labels = NULL, *seen = NULL, count = 0;
	double *weights = NULL;
	kdri_own x = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	KDRI_TRY(KDRI_NEW(ctx, &rows, most));
	KDRI_TRY(KDRI_NEW(ctx, &labels, most));
	KDRI_TRY(KDRI_NEW(ctx, &weights, most));
	KDRI_TRY(KDRI_NEW0(ctx, &seen, p->classes));
	for (int64_t i = 0; i < n; i++)
		if (p->labels[i] >= 0 && seen[p->labels[i]]++ % STRIDE == 0) {
			labels[count] = p->labels[i];
			weights[count] = p->weights ? p->weights[i] : 1;
			rows[count++] = i;
		}
	KDRI_TRY(kdri_mat_take(ctx, p->x, rows, count, &x));
	kdri_rest some = *p;
	some.x = &x.view;
	some.labels = labels;
	some.weights = weights;
	some.cost *= STRIDE;
	KDRI_TRY(kdri_rest_train(ctx, &some, w));
done:
	kdri_own_free(ctx, &x);
	KDRI_FREE(ctx, rows, labels, weights, seen);
	return st;
}

kdr_status kdri_rest_train(kdr_context *ctx, const kdri_rest *p, double *w)
{
	kdr_status st;
	int64_t n = kdr_mat_rows(p->x), m = kdri_linear_outputs(p->classes), size;
	double *cost = NULL;
	kdri_linear_report report;
	const kdri_linear_options o = { .loss = p->loss,
		                        .bias = 1,
		                        .free_bias = p->free_bias,
		                        .tol = tolerance,
		                        .max_iter = MOST_STEPS,
		                        .stage = p->stage };
	bool joint = p->joint && p->classes > 2;
	int64_t known = 0;
	for (int64_t i = 0; i < n; i++)
		known += p->labels[i] >= 0;
	if (known >= MANY && !kdri_together(ctx))
		KDRI_TRY(rest_start(ctx, p, w));
	KDRI_TRY(kdri_mul(ctx, n, m, &size));
	KDRI_TRY(KDRI_NEW0(ctx, &cost, size));
	for (int64_t i = 0; i < n && joint; i++)
		cost[i] = p->cost * (p->weights ? p->weights[i] : 1);
	if (joint) {
		KDRI_TRY(kdri_softmax_train(ctx, p->x, p->classes, p->labels, cost, &o, w, &report));
		goto done;
	}
#pragma omp parallel for num_threads(kdri_team(ctx)) if (size > SERIAL_WORK)
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; p->labels[i] >= 0 && j < m; j++) {
			double c = p->cost * (p->weights ? p->weights[i] : 1);
			cost[i * m + j] = p->labels[i] == kdri_linear_class(p->classes, j) ? c : -c;
		}
	KDRI_TRY(kdri_linear_train(ctx, p->x, m, cost, &o, w, &report));
done:
	kdri_free(ctx, cost);
	return st;
}

kdr_status kdri_rest_scores(kdr_context *ctx, const kdri_rest *p, const double *w, double *scores)
{
	kdr_status st;
	int64_t n = kdr_mat_rows(p->x), m = kdri_linear_outputs(p->classes), size;
	double *outputs = NULL;
	if (m == p->classes)
		return kdri_linear_scores(ctx, p->x, m, 1, w, scores);
	KDRI_TRY(kdri_mul(ctx, n, m, &size));
	KDRI_TRY(KDRI_NEW(ctx, &outputs, size));
	KDRI_TRY(kdri_linear_scores(ctx, p->x, m, 1, w, outputs));
	kdri_linear_spread(ctx, n, p->classes, outputs, scores);
done:
	kdri_free(ctx, outputs);
	return st;
}

int32_t kdri_rest_best(const double *row, int64_t classes)
{
	double most = row[0];
	int32_t best = 0;
	for (int64_t c = 1; c < classes; c++) { /* without branches, which would be mispredicted */
		best = row[c] > most ? (int32_t)c : best;
		most = row[c] > most ? row[c] : most;
	}
	return best;
}

void kdri_rest_answer(kdr_context *ctx, const double *scores, int64_t n, int64_t classes, int32_t *answer)
{
#pragma omp parallel for num_threads(kdri_team(ctx)) if (n * classes > SERIAL_WORK)
	for (int64_t i = 0; i < n; i++)
		answer[i] = kdri_rest_best(scores + i * classes, classes);
}

void kdri_rest_soften(kdr_context *ctx, double *scores, int64_t n, int64_t classes, double steepness)
{
#pragma omp parallel for num_threads(kdri_team(ctx)) if (n * classes > SERIAL_WORK)
	for (int64_t i = 0; i < n; i++) {
		double *row = scores + i * classes, most = row[0], sum = 0;
		for (int64_t c = 1; c < classes; c++)
			most = KDRI_MAX(most, row[c]);
		for (int64_t c = 0; c < classes; c++)
			sum += row[c] = exp(steepness * (row[c] - most));
		for (int64_t c = 0; c < classes; c++)
			row[c] /= sum;
	}
}

enum { FOLDS = 3, MOST_OUTPUTS = 16, COST_MOST_STEPS = 100 };
static const double cost_tolerance = 1e-3;

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
		                        .tol = cost_tolerance,
		                        .max_iter = COST_MOST_STEPS,
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
	KDRI_FREE(ctx, w, cost, z);
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
	KDRI_FREE(ctx, fold, found);
	return st;
}

typedef struct sure {
	double p;
	int64_t row;
} sure;

/* Surest first; of equals the lower row. */
static int by_sureness(const void *a, const void *b)
{
	const sure *x = a, *y = b;
	if (x->p != y->p)
		return x->p > y->p ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

typedef struct work {
	const kdri_self_training *p;
	int64_t n;
	int64_t *labels, *begin; /* begin (classes + 1): where the list of each class begins */
	double *weights;
	int32_t *answer;
	sure *list, *sorted;
} work;

/* The class with the largest score of an unlabelled row, and how sure it is. */
static void predict_row(const work *w, const double *row, int64_t i)
{
	const int64_t c = w->p->rest.classes;
	double sum = 0;
	int32_t best = 0;
	for (int64_t k = 1; k < c; k++)
		best = row[k] > row[best] ? (int32_t)k : best;
	for (int64_t k = 0; k < c && !w->p->train; k++)
		sum += exp(2 * (row[k] - row[best]));
	w->answer[i] = best;
	w->list[i] = (sure){ w->p->train ? row[best] : 1 / sum, i };
}

/* (E2) for a share q. */
static void self_training_choose(kdr_context *ctx, const work *w, const double *scores, double q,
                                 double weight)
{
	const int64_t c = w->p->rest.classes;
#pragma omp parallel for num_threads(kdri_team(ctx)) if (w->n > KDRI_BLOCK)
	for (int64_t i = 0; i < w->n; i++) {
		w->labels[i] = w->p->rest.labels[i];
		w->weights[i] = w->p->rest.weights ? w->p->rest.weights[i] : 1;
		w->answer[i] = -1;
		if (w->p->unlabelled[i])
			predict_row(w, scores + i * c, i);
	}
	memset(w->begin, 0, (size_t)(c + 1) * sizeof *w->begin);
	for (int64_t i = 0; i < w->n; i++)
		if (w->answer[i] >= 0 && w->answer[i] + 1 < c)
			w->begin[w->answer[i] + 2]++;
	for (int64_t k = 2; k <= c; k++)
		w->begin[k] += w->begin[k - 1];
	for (int64_t i = 0; i < w->n; i++) /* begin[k + 1] becomes the end of class k */
		if (w->answer[i] >= 0)
			w->sorted[w->begin[w->answer[i] + 1]++] = w->list[i];
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic) if (w->n > KDRI_BLOCK)
	for (int64_t k = 0; k < c; k++) {
		sure *own = w->sorted + w->begin[k];
		const int64_t count = w->begin[k + 1] - w->begin[k],
		              taken = KDRI_MIN(count, (int64_t)ceil(q * (double)count - 1e-9));
		qsort(own, (size_t)count, sizeof *own, by_sureness);
		for (int64_t j = 0; j < taken; j++) {
			w->labels[own[j].row] = k;
			w->weights[own[j].row] = weight; /* (E3) */
		}
	}
}

kdr_status kdri_self_train(kdr_context *ctx, const kdri_self_training *p, double *w, double *scores)
{
	kdr_status st;
	work t = { .p = p, .n = kdr_mat_rows(p->rest.x) };
	int64_t known = 0, unlabelled = 0;
	KDRI_TRY(KDRI_NEW(ctx, &t.labels, t.n));
	KDRI_TRY(KDRI_NEW(ctx, &t.weights, t.n));
	KDRI_TRY(KDRI_NEW(ctx, &t.answer, t.n));
	KDRI_TRY(KDRI_NEW(ctx, &t.list, t.n));
	KDRI_TRY(KDRI_NEW(ctx, &t.sorted, t.n));
	KDRI_TRY(KDRI_NEW(ctx, &t.begin, p->rest.classes + 1));
	for (int64_t i = 0; i < t.n; i++) {
		known += p->rest.labels[i] >= 0;
		unlabelled += p->unlabelled[i];
	}
	kdri_rest rest = p->rest;
	rest.labels = t.labels;
	rest.weights = t.weights;
	for (int64_t r = 0; r < p->rounds && unlabelled > 0 && !ctx->cancelled && !ctx->timed_out; r++) {
		self_training_choose(ctx, &t, scores, p->shares[r],
		                     KDRI_MAX(1, (double)known / (double)unlabelled));
		if (p->train) {
			KDRI_TRY(p->train(ctx, p->user, t.labels, t.weights, scores));
		} else {
			KDRI_TRY(kdri_rest_train(ctx, &rest, w));
			KDRI_TRY(kdri_rest_scores(ctx, &rest, w, scores));
		}
		if (kdri_iteration(ctx, p->rest.stage, r + 1, p->rounds, NAN))
			break;
	}
done:
	KDRI_FREE(ctx, t.labels, t.weights, t.answer, t.list, t.sorted, t.begin);
	return st;
}

kdr_status kdri_self_shift(kdr_context *ctx, const kdri_self_training *p, const bool *source,
                           const double *share, double *scores)
{
	kdr_status st;
	const int64_t c = p->rest.classes, n = kdr_mat_rows(p->rest.x), *labels = p->rest.labels;
	int64_t known = 0, target = 0;
	/* Of the labelled rows of the sources, class by class, so that each may weigh as it should: sums of scores, and
	 * rows. Then the mean scores of the target, and what is added to them. */
	double *sum = NULL, *count, *theirs, *more;
	KDRI_TRY(KDRI_NEW0(ctx, &sum, c * (c + 3)));
	count = sum + c * c;
	theirs = count + c;
	more = theirs + c;
	for (int64_t i = 0; i < n; i++) {
		known += source[i] && labels[i] >= 0;
		target += !source[i];
	}
	for (int64_t i = 0; i < n; i++) {
		for (int64_t k = 0; k < c && source[i] && labels[i] >= 0; k++)
			sum[labels[i] * c + k] += scores[i * c + k];
		for (int64_t k = 0; k < c && !source[i]; k++)
			theirs[k] += scores[i * c + k] / (double)target;
		if (source[i] && labels[i] >= 0)
			count[labels[i]]++;
	}
	for (int64_t k = 0; k < c; k++) {
		for (int64_t e = 0; e < c; e++)
			more[k] += share ? share[e] * sum[e * c + k] / KDRI_MAX(count[e], 1)
			                 : sum[e * c + k] / (double)KDRI_MAX(known, 1);
		more[k] -= theirs[k];
	}
	for (int64_t i = 0; i < n; i++)
		for (int64_t k = 0; k < c && !source[i]; k++)
			scores[i * c + k] += more[k];
done:
	kdri_free(ctx, sum);
	return st;
}
