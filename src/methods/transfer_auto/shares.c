/* Class shares of the target, and whether source and target overlap. SPDX-License-Identifier: BSD-3-Clause
 *
 * Class shares are estimated from the votes of a classifier whose confusion on held-out source samples is known:
 *
 *   (E1)  pi_k <- pi_k sum_j A_jk q_j / (A pi)_j, scaled to sum 1
 *
 * A_jk is the proportion of vote j among held-out samples of class k, q_j the proportion of vote j in the target.
 * These are the steps of an EM algorithm; it starts from the source's shares.
 *
 *   (E2)  separation = 2 AUC - 1 of a logistic regression of cost 10 that separates source from target on Z, trained on
 *         one half of the rows and applied to the other, both ways; at most 1,000 rows of each */
/* Whether classes that some members miss are in the target.
 *
 * Members that centre each data set assume similar class proportions in source and target. If the target lacks a class,
 * they nevertheless find samples of it: they split another class. The other members do not, but a shift of the target can
 * hide a class from them. Both are seen if a class k is in dispute:
 *
 *   (E3)  q_k < p_k / 2 and q_k < r_k / 2
 *
 * with p_k its share of the source, q_k its share of the votes of the members that do not centre, and r_k of those that
 * do. A shift moves all samples of the target and keeps the distances of its classes, but the parts of a class that was
 * split are close to each other. Linear classifiers, each trained on one half of the source, score the other half and the
 * target. With s_k their score of class k (mean over both on the target), and a_i the class that most centred members
 * vote for,
 *
 *   (E4)  gap_k = (mean of s_k over target samples with a_i = k - its mean over the others)
 *               / (mean of s_k over source samples of class k - its mean over the others)
 *   (E5)  gap = sum_k (r_k - q_k) gap_k / sum_k (r_k - q_k), over the classes in dispute
 *
 * The same classifiers score both data sets, none of them a sample it was trained on, so the ratio is not biased by
 * their cost or by overfitting. If texts of the target use other words than the source, their scores hardly differ although
 * all classes are there: for words gap has no meaning, and verdict.c compares neighbours. docs/notes/transfer.md has the values of gap for targets with and without the classes.
 * At most 4,000 source samples are used. */
#include <stdlib.h>

#include "engine/linear/linear.h"
#include "methods/transfer_auto/auto_transfer.h"

static const double domain_cost = 10, least_change = 1e-9, least_weight = 1e-6;
enum { MOST_STEPS = 1000, MOST_ROWS = 1000 };

kdr_status kdri_shares_estimate(kdr_context *ctx, const double *a, const double *q, int64_t classes,
                                double *pi)
{
	kdr_status st;
	double *expected = NULL, change = INFINITY; /* A pi */
	KDRI_TRY(KDRI_NEW(ctx, &expected, classes));
	for (int step = 0; step < MOST_STEPS && change > least_change; step++) { /* (E1) */
		double sum = 0;
		for (int64_t j = 0; j < classes; j++)
			expected[j] = kdri_dot(a + j * classes, pi, classes);
		change = 0;
		for (int64_t k = 0; k < classes; k++) {
			double factor = 0;
			for (int64_t j = 0; j < classes; j++)
				factor += expected[j] > 0 ? a[j * classes + k] * q[j] / expected[j] : 0;
			change += fabs(factor - 1) * pi[k];
			pi[k] *= factor;
			sum += pi[k];
		}
		for (int64_t k = 0; k < classes && sum > 0; k++)
			pi[k] /= sum;
	}
done:
	kdri_free(ctx, expected);
	return st;
}

/* --- separation ------------------------------------------------------------------------------------------ */

typedef struct scored {
	double score, weight;
	bool positive;
} scored;

static int by_score(const void *a, const void *b)
{
	const scored *x = a, *y = b;
	return x->score < y->score ? -1 : x->score > y->score;
}

kdr_status kdri_weighted_auc(kdr_context *ctx, const double *score, const bool *positive,
                             const double *weight, int64_t n, double *out)
{
	kdr_status st;
	scored *list = NULL;
	double below = 0, all = 0,
	       pairs = 0; /* weight of negative rows so far; of positive rows; of ordered pairs */
	KDRI_TRY(KDRI_NEW(ctx, &list, n));
	for (int64_t i = 0; i < n; i++)
		list[i] = (scored){ score[i], weight ? weight[i] : 1, positive[i] };
	qsort(list, (size_t)n, sizeof *list, by_score);
	for (int64_t i = 0, next; i < n; i = next) {
		double group[2] = { 0, 0 }; /* weights of the rows with this score */
		for (next = i; next < n && list[next].score == list[i].score; next++)
			group[list[next].positive] += list[next].weight;
		pairs += group[1] * (below + group[0] / 2);
		below += group[0];
		all += group[1];
	}
	*out = below > 0 && all > 0 ? pairs / (below * all) : NAN;
done:
	kdri_free(ctx, list);
	return st;
}

/* Adds at most MOST_ROWS of the `count` listed rows to `rows`, in random order. */
static void draw_rows(kdri_rng *rng, int64_t *list, int64_t count, int64_t *rows, int64_t *n)
{
	for (int64_t i = 0; i < KDRI_MIN(count, MOST_ROWS); i++) {
		int64_t at = i + kdri_rng_below(rng, count - i), row = list[at];
		list[at] = list[i];
		list[i] = row;
		rows[(*n)++] = row;
	}
}

/* The rows used: labelled ones of the sources, then those of the target. Returns the number of source rows. */
static kdr_status choose_rows(kdr_context *ctx, const kdri_domains *d, int64_t *rows, int64_t *sources,
                              int64_t *total)
{
	kdr_status st;
	int64_t *list = NULL, count = 0, first = kdri_transfer_first(d);
	kdri_rng rng = kdri_rng_stream(ctx->seed, "separation", 0);
	*total = 0;
	KDRI_TRY(KDRI_NEW(ctx, &list, d->n));
	for (int64_t i = 0; i < first; i++)
		if (d->labels[i] >= 0)
			list[count++] = i;
	draw_rows(&rng, list, count, rows, total);
	*sources = *total;
	for (int64_t i = first; i < d->n; i++)
		list[i - first] = i;
	draw_rows(&rng, list, d->n - first, rows, total);
done:
	kdri_free(ctx, list);
	return st;
}

/* The AUC on the rows that fold `fold` leaves out of the training; rows alternate between the folds. */
static kdr_status fold_auc(kdr_context *ctx, const kdri_rest *rest, const bool *target, int64_t fold,
                           double *out)
{
	kdr_status st;
	int64_t n = kdr_mat_rows(rest->x), *labels = NULL, left = 0;
	double *w = NULL, *scores = NULL, *weights = NULL;
	bool *positive = NULL;
	kdri_rest r = *rest;
	KDRI_TRY(KDRI_NEW(ctx, &labels, n));
	KDRI_TRY(KDRI_NEW0(ctx, &w, kdri_rest_size(&r)));
	KDRI_TRY(KDRI_NEW(ctx, &scores, 2 * n));
	KDRI_TRY(KDRI_NEW(ctx, &weights, n));
	KDRI_TRY(KDRI_NEW(ctx, &positive, n));
	for (int64_t i = 0; i < n; i++)
		labels[i] = i % 2 == fold ? -1 : target[i];
	r.labels = labels;
	KDRI_TRY(kdri_rest_train(ctx, &r, w));
	KDRI_TRY(kdri_rest_scores(ctx, &r, w, scores));
	for (int64_t i = fold; i < n; i += 2, left++) {
		scores[left] = scores[2 * i + 1];
		weights[left] = r.weights[i];
		positive[left] = target[i];
	}
	KDRI_TRY(kdri_weighted_auc(ctx, scores, positive, weights, left, out));
done:
	KDRI_FREE(ctx, labels, w, scores, weights, positive);
	return st;
}

/* (E2) */
kdr_status kdri_transfer_separation(kdr_context *ctx, const kdri_transfer_views *v, const double *weight,
                                    double *out)
{
	kdr_status st;
	int64_t *rows = NULL, sources, n;
	double *weights = NULL, auc[2];
	bool *target = NULL;
	kdri_own x = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	*out = NAN;
	KDRI_TRY(KDRI_NEW(ctx, &rows, 2 * MOST_ROWS));
	KDRI_TRY(choose_rows(ctx, v->d, rows, &sources, &n));
	if (sources < 4 || n - sources < 4)
		goto done;
	KDRI_TRY(KDRI_NEW(ctx, &weights, n));
	KDRI_TRY(KDRI_NEW(ctx, &target, n));
	for (int64_t i = 0; i < n; i++) {
		target[i] = i >= sources;
		weights[i] = weight && !target[i] ? KDRI_MAX(weight[v->d->labels[rows[i]]], least_weight) : 1;
	}
	KDRI_TRY(kdri_mat_take(ctx, &v->z.view, rows, n, &x));
	const kdri_rest r = { .x = &x.view,
		              .weights = weights,
		              .classes = 2,
		              .loss = KDRI_LOSS_LOGISTIC,
		              .cost = domain_cost,
		              .free_bias = v->free_bias,
		              .stage = "separation" };
	for (int64_t fold = 0; fold < 2; fold++)
		KDRI_TRY(fold_auc(ctx, &r, target, fold, &auc[fold]));
	*out = auc[0] + auc[1] - 1;
done:
	kdri_own_free(ctx, &x);
	KDRI_FREE(ctx, rows, weights, target);
	return st;
}

static const double hardly = 0.5; /* of (E3) */
enum { ABSENCE_MOST_ROWS = 4000, FOLDS = 2, ALWAYS = -1, NEVER = -2 };

bool kdri_transfer_disputed(double source, double plain, double aligned)
{
	return plain < hardly * source && plain < hardly * aligned; /* (E3) */
}

/* The fold that each source row is held out in. A class with a single sample is trained on in both. */
static kdr_status draw_folds(kdr_context *ctx, const kdri_domains *d, int8_t *fold)
{
	kdr_status st;
	int64_t *count = NULL, *seen = NULL, known = 0;
	const int64_t first = kdri_transfer_first(d);
	KDRI_TRY(KDRI_NEW0(ctx, &count, d->classes));
	KDRI_TRY(KDRI_NEW0(ctx, &seen, d->classes));
	for (int64_t i = 0; i < first; i++)
		if (d->labels[i] >= 0) {
			count[d->labels[i]]++;
			known++;
		}
	for (int64_t i = 0; i < d->n; i++) {
		const int64_t k = i < first ? d->labels[i] : -1;
		fold[i] = NEVER;
		if (k < 0)
			continue;
		const int64_t step =
		        KDRI_MIN(KDRI_MAX(known / ABSENCE_MOST_ROWS, 1), KDRI_MAX(count[k] / FOLDS, 1));
		if (seen[k]++ % step == 0)
			fold[i] = count[k] < FOLDS ? ALWAYS : (int8_t)((seen[k] - 1) / step % FOLDS);
	}
done:
	KDRI_FREE(ctx, count, seen);
	return st;
}

/* Scores (rows x classes): of held-out source rows, and the mean over the folds for those of the target. */
static kdr_status score_rows(kdr_context *ctx, const kdri_transfer_views *v, const int8_t *fold, double *s)
{
	kdr_status st;
	const kdri_domains *d = v->d;
	const int64_t c = d->classes, first = kdri_transfer_first(d);
	int64_t *labels = NULL;
	double *w = NULL, *scores = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &labels, d->n));
	const kdri_rest r = { .x = &v->z.view,
		              .labels = labels,
		              .classes = c,
		              .loss = KDRI_LOSS_SQUARED_HINGE,
		              .cost = 1,
		              .free_bias = v->free_bias,
		              .stage = "absent classes" };
	KDRI_TRY(KDRI_NEW(ctx, &w, kdri_rest_size(&r)));
	KDRI_TRY(KDRI_NEW(ctx, &scores, d->n * c));
	for (int f = 0; f < FOLDS; f++) {
		for (int64_t i = 0; i < d->n; i++)
			labels[i] = fold[i] == f || fold[i] == NEVER ? -1 : d->labels[i];
		memset(w, 0, (size_t)kdri_rest_size(&r) * sizeof *w);
		KDRI_TRY(kdri_rest_train(ctx, &r, w));
		KDRI_TRY(kdri_rest_scores(ctx, &r, w, scores));
		for (int64_t i = 0; i < d->n; i++)
			if (i >= first || fold[i] == f)
				kdri_axpy(i >= first ? 1.0 / FOLDS : 1, scores + i * c, s + i * c, c);
	}
done:
	KDRI_FREE(ctx, labels, w, scores);
	return st;
}

typedef struct parts {
	double sum[2], count[2]; /* of the other samples, of those of the class */
} parts;

static void parts_add(parts *p, bool own, double score)
{
	p->sum[own] += score;
	p->count[own]++;
}

/* NaN if one part is empty. */
static double parts_gap(const parts *p)
{
	return p->sum[1] / p->count[1] - p->sum[0] / p->count[0];
}

/* (E4) */
static double gap_of(const kdri_absence *p, const int8_t *fold, const double *s, int64_t k)
{
	const kdri_domains *d = p->v->d;
	const int64_t first = kdri_transfer_first(d);
	parts source = { 0 }, target = { 0 };
	for (int64_t i = 0; i < d->n; i++)
		if (i >= first)
			parts_add(&target, p->aligned[i - first] == k, s[i * d->classes + k]);
		else if (fold[i] >= 0)
			parts_add(&source, d->labels[i] == k, s[i * d->classes + k]);
	const double usual = parts_gap(&source);
	return usual > 0 ? parts_gap(&target) / usual : NAN;
}

kdr_status kdri_transfer_gap(kdr_context *ctx, const kdri_absence *p, double *gap)
{
	kdr_status st;
	const kdri_domains *d = p->v->d;
	const int64_t c = d->classes, n = kdri_transfer_count(d);
	double *aligned = NULL, *s = NULL, sum = 0, weight = 0;
	int8_t *fold = NULL;
	*gap = NAN;
	KDRI_TRY(KDRI_NEW0(ctx, &aligned, c));
	for (int64_t i = 0; i < n; i++)
		aligned[p->aligned[i]] += 1 / (double)n;
	for (int64_t k = 0; k < c; k++)
		weight += kdri_transfer_disputed(d->share[k], p->plain[k], aligned[k]);
	if (weight == 0)
		goto done;
	KDRI_TRY(KDRI_NEW(ctx, &fold, d->n));
	KDRI_TRY(KDRI_NEW0(ctx, &s, d->n * c));
	KDRI_TRY(draw_folds(ctx, d, fold));
	KDRI_TRY(score_rows(ctx, p->v, fold, s));
	weight = 0;
	for (int64_t k = 0; k < c; k++) { /* (E5) */
		const double own = gap_of(p, fold, s, k);
		if (kdri_transfer_disputed(d->share[k], p->plain[k], aligned[k]) && isfinite(own)) {
			sum += (aligned[k] - p->plain[k]) * own;
			weight += aligned[k] - p->plain[k];
		}
	}
	*gap = weight > 0 ? sum / weight : NAN;
done:
	KDRI_FREE(ctx, aligned, s, fold);
	return st;
}
