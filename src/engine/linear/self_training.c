/* Self-training. SPDX-License-Identifier: BSD-3-Clause
 *
 * For each fraction q of a list, with the predictions y_i = argmax_k s_k(x_i) for the unlabelled rows:
 *
 *   (E1)  of each class k the ceil(q n_k) rows with the largest softmax(2 s(x_i))_k, of the n_k rows with that
 *         prediction,
 *   (E2)  join the labelled rows with weight max(1, labelled rows / rows to predict); the classifier is trained
 *         again.
 *
 * These rows are chosen again in every round. The result is the scores of the last classifier. */
#include "engine/linear/self_training.h"

#include <stdlib.h>

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

/* (E1) for a share q. */
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
			w->weights[own[j].row] = weight; /* (E2) */
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
	kdri_free(ctx, t.labels);
	kdri_free(ctx, t.weights);
	kdri_free(ctx, t.answer);
	kdri_free(ctx, t.list);
	kdri_free(ctx, t.sorted);
	kdri_free(ctx, t.begin);
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
