/* Whether classes that some members miss are in the target. SPDX-License-Identifier: BSD-3-Clause
 *
 * Members that centre each data set assume similar class proportions in source and target. If the target lacks a class,
 * they nevertheless find samples of it: they split another class. The other members do not, but a shift of the target can
 * hide a class from them. Both are seen if a class k is in dispute:
 *
 *   (E1)  q_k < p_k / 2 and q_k < r_k / 2
 *
 * with p_k its share of the source, q_k its share of the votes of the members that do not centre, and r_k of those that
 * do. A shift moves all samples of the target and keeps the distances of its classes, but the parts of a class that was
 * split are close to each other. Linear classifiers, each trained on one half of the source, score the other half and the
 * target. With s_k their score of class k (mean over both on the target), and a_i the class that most centred members
 * vote for,
 *
 *   (E2)  gap_k = (mean of s_k over target samples with a_i = k - its mean over the others)
 *               / (mean of s_k over source samples of class k - its mean over the others)
 *   (E3)  gap = sum_k (r_k - q_k) gap_k / sum_k (r_k - q_k), over the classes in dispute
 *
 * The same classifiers score both data sets, none of them a sample it was trained on, so the ratio is not biased by
 * their cost or by overfitting. If texts of the target use other words than the source, their scores hardly differ although
 * all classes are there: for words gap has no meaning. docs/notes/transfer.md has the values of gap for targets with and without the classes.
 * At most 4,000 source samples are used. */
#include "methods/transfer_auto/absence.h"

#include "engine/linear/rest.h"

static const double hardly = 0.5; /* of (E1) */
enum { MOST_ROWS = 4000, FOLDS = 2, ALWAYS = -1, NEVER = -2 };

bool kdri_transfer_disputed(double source, double plain, double aligned)
{
	return plain < hardly * source && plain < hardly * aligned; /* (E1) */
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
		const int64_t step = KDRI_MIN(KDRI_MAX(known / MOST_ROWS, 1), KDRI_MAX(count[k] / FOLDS, 1));
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

/* (E2) */
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
	for (int64_t k = 0; k < c; k++) { /* (E3) */
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
