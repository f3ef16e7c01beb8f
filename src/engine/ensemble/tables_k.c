/* Suggests the number of clusters of tables. SPDX-License-Identifier: BSD-3-Clause
 *
 * [TW05] R. Tibshirani, G. Walther: Cluster validation by prediction strength. JCGS 14:511-528, 2005.
 *
 *   (E1)  B = the k >= 2 of least BIC of the pooled mixture with shared variances
 *   (E2)  prediction strength PS(k): all rows are halved at random, twice; a mixture is fitted on each half and labels the other.
 *         The lowest proportion, over the clusters of a half, of pairs of rows that the other half's mixture keeps
 *         together; the mean of the four values [TW05]
 *   (E3)  k = the largest one up to B with PS >= 0.55 and no more than 0.3 below the largest PS up to B; else 2
 *   (E4)  supported, for several tables: PS(k) >= 0.8, and more by 0.3 than every PS beyond k
 *   (E5)  beyond shuffled columns: the log-likelihood of a mixture of k clusters, less its mean over tables whose columns are shuffled, each for
 *         itself, in standard deviations over these, for 50 rows or more. Shuffled columns are as they were, but say nothing about each other
 *
 * For a range of numbers of clusters, mixtures are fitted for the largest one only, with half of the starts. Those of smaller numbers start
 * from its clusters, joined by Ward's method, and run for a few iterations.
 *
 * At most 2,000 rows of each table are used, 1,000 for a range. docs/notes/tables.md reports how often this is right. */
#include "engine/ensemble/poll.h"

#include "comm/comm.h"
#include "matrix/kept.h"
#include "matrix/linalg.h"

#include <stdio.h>

enum {
	MOST_ROWS = 2000,
	FEW_ROWS = 1000,
	LEAST_ROWS = 50,
	HALVINGS = 2,
	SHUFFLES = 5,
	PATIENCE = 4,
	BEYOND = 2,
	FEW_ITERATIONS = 10
};
static const double enough = 0.55, sure_strength = 0.8, sure_lead = 0.3;

typedef struct evidence {
	int64_t most;           /* k from 2 to most */
	double *bic, *strength; /* most - 1; NaN: not computed */
	int64_t best, k;        /* (E1), (E3) */
	bool sure, stopped;     /* stopped: before all was computed */
} evidence;

/* Rows of m that are in half `which` of halving h. */
static int64_t take_half(const kdr_context *ctx, const kdri_mixed *m, int64_t h, int which, int64_t *rows)
{
	kdri_rng rng = kdri_rng_stream(ctx->seed, "tables.halves", (uint64_t)h);
	int64_t n = 0;
	for (int64_t i = 0; i < m->n; i++)
		if ((int)kdri_rng_below(&rng, 2) == which)
			rows[n++] = i;
	return n;
}

/* The lowest proportion, over the clusters of `own`, of pairs of rows that are together in `other`. */
static kdr_status kept_pairs(kdr_context *ctx, const int64_t *own, const int64_t *other, int64_t n, int64_t k,
                             double *out)
{
	kdr_status st;
	double *counts = NULL;
	*out = 1;
	KDRI_TRY(KDRI_NEW0(ctx, &counts, k * k));
	for (int64_t i = 0; i < n; i++)
		counts[own[i] * k + other[i]]++;
	for (int64_t c = 0; c < k; c++) {
		double rows = 0, pairs = 0;
		for (int64_t o = 0; o < k; o++) {
			rows += counts[c * k + o];
			pairs += counts[c * k + o] * (counts[c * k + o] - 1);
		}
		if (rows > 1)
			*out = KDRI_MIN(*out, pairs / (rows * (rows - 1)));
	}
done:
	kdri_free(ctx, counts);
	return st;
}

static bool is_late(const kdr_context *ctx, evidence *e)
{
	e->stopped = e->stopped || ctx->cancelled || ctx->timed_out || kdri_late(ctx);
	return e->stopped;
}

/* (E2) */
static kdr_status find_strength(kdr_context *ctx, const kdri_mixed *m, int64_t k, double *out)
{
	kdr_status st = KDR_OK;
	kdri_mixed half[2] = { { 0 }, { 0 } };
	kdri_pooled fitted[2] = { { 0 }, { 0 } };
	kdri_mixed_part pool = { 0 };
	int64_t *rows = NULL, *other = NULL;
	double sum = 0, value;
	KDRI_TRY(KDRI_NEW(ctx, &rows, m->n));
	KDRI_TRY(KDRI_NEW(ctx, &other, m->n));
	for (int64_t h = 0; h < HALVINGS; h++) {
		for (int i = 0; i < 2; i++) {
			const int64_t n = take_half(ctx, m, h, i, rows);
			if (n < k) { /* too few rows to compare */
				*out = 0;
				goto done;
			}
			KDRI_TRY(kdri_mixed_take(ctx, m, rows, n, NULL, &half[i]));
			KDRI_TRY(kdri_mixture_of(ctx, &half[i], k, false, &fitted[i]));
		}
		for (int i = 0; i < 2; i++) {
			KDRI_TRY(kdri_mixed_pool_new(ctx, &half[i], &pool));
			KDRI_TRY(kdri_mixture_assign(ctx, &pool.data, &fitted[1 - i].mixture, -1, other,
			                             NULL));
			KDRI_TRY(kept_pairs(ctx, fitted[i].labels, other, half[i].n, k, &value));
			sum += value;
			kdri_mixed_part_free(ctx, &pool);
		}
		for (int i = 0; i < 2; i++) {
			kdri_mixed_free(ctx, &half[i]);
			kdri_pooled_free(ctx, &fitted[i]);
		}
	}
	*out = sum / (2 * HALVINGS);
done:
	for (int i = 0; i < 2; i++) {
		kdri_mixed_free(ctx, &half[i]);
		kdri_pooled_free(ctx, &fitted[i]);
	}
	kdri_mixed_part_free(ctx, &pool);
	KDRI_FREE(ctx, rows, other);
	return st;
}

/* (E1): stops after several values of k in a row without an improvement. */
static kdr_status find_bic(kdr_context *ctx, const kdri_mixed *m, evidence *e)
{
	kdr_status st = KDR_OK;
	kdri_pooled fitted = { 0 };
	double best = INFINITY;
	for (int64_t k = 2; k <= e->most && k <= e->best + PATIENCE; k++) {
		if (k > 2 && is_late(ctx, e))
			break;
		KDRI_TRY(kdri_mixture_of(ctx, m, k, false, &fitted));
		e->bic[k - 2] = kdri_mixed_bic(m, -1, k, fitted.mixture.loglik, m->n);
		kdri_pooled_free(ctx, &fitted);
		if (e->bic[k - 2] < best) {
			best = e->bic[k - 2];
			e->best = k;
		}
	}
done:
	kdri_pooled_free(ctx, &fitted);
	return st;
}

/* (E3), (E4) */
static void judge(const kdri_mixed *m, evidence *e)
{
	bool lead = true;
	double largest = 0;
	for (int64_t k = 2; k <= e->best; k++)
		largest = KDRI_MAX(largest, isnan(e->strength[k - 2]) ? 0 : e->strength[k - 2]);
	for (int64_t k = 2; k <= e->best; k++)
		if (e->strength[k - 2] >= KDRI_MAX(enough, largest - sure_lead))
			e->k = k;
	for (int64_t k = e->k + 1; k <= e->most; k++)
		lead = lead && !(e->strength[k - 2] > e->strength[e->k - 2] - sure_lead);
	e->sure = m->tables > 1 && lead && e->strength[e->k - 2] >= sure_strength;
}

/* --- ranges ----------------------------------------------------------------------------------------------------------------- */

/* Mixtures of some rows for falling numbers of clusters. */
typedef struct chain {
	kdri_encoded e;
	kdri_mixed_part pool;
	kdri_mixture mixture;
	int64_t n, k, *labels; /* k: of the last mixture; 0: none */
} chain;

static void chain_free(kdr_context *ctx, chain *c)
{
	kdri_encoded_free(ctx, &c->e);
	kdri_mixed_part_free(ctx, &c->pool);
	kdri_mixture_free(ctx, &c->mixture);
	kdri_free(ctx, c->labels);
	*c = (chain){ 0 };
}

static kdr_status chain_new(kdr_context *ctx, const kdri_mixed *m, chain *c)
{
	c->n = m->n;
	KDRI_DO(KDRI_NEW(ctx, &c->labels, m->n));
	KDRI_DO(kdri_encoded_new(ctx, m, true, 0, m->n, &c->e));
	return kdri_mixed_pool_new(ctx, m, &c->pool);
}

/* The mixture of k clusters: the first one from a few starts, the others from the one before. */
static kdr_status chain_next(kdr_context *ctx, chain *c, int64_t k)
{
	kdr_status st;
	kdri_starts s = { 0 };
	kdri_mixture_options o = kdri_mixture_options_of(k, true);
	if (c->k > 0) {
		o.max_iter = FEW_ITERATIONS;
		KDRI_TRY(kdri_starts_join(ctx, &c->e, 0, c->n, c->k, c->labels, k, &s));
	} else {
		KDRI_TRY(kdri_starts_new(ctx, &c->e, 0, c->n, k, false, true, 0, &s));
	}
	kdri_mixture_free(ctx, &c->mixture);
	KDRI_TRY(kdri_best_mixture(ctx, &c->pool.data, &o, &s, &c->mixture, c->labels));
	c->k = k;
done:
	kdri_free(ctx, s.labels);
	return st;
}

/* Adds (E2) of one halving to the strengths of all numbers. */
static kdr_status add_strengths(kdr_context *ctx, const kdri_mixed *m, int64_t h, evidence *e)
{
	kdr_status st = KDR_OK;
	kdri_mixed half[2] = { { 0 }, { 0 } };
	chain of[2] = { 0 };
	int64_t *rows = NULL, *other = NULL;
	double value;
	KDRI_TRY(KDRI_NEW(ctx, &rows, m->n));
	KDRI_TRY(KDRI_NEW(ctx, &other, m->n));
	for (int i = 0; i < 2; i++) {
		KDRI_TRY(kdri_mixed_take(ctx, m, rows, take_half(ctx, m, h, i, rows), NULL, &half[i]));
		KDRI_TRY(chain_new(ctx, &half[i], &of[i]));
	}
	for (int64_t k = KDRI_MIN(e->most, KDRI_MIN(half[0].n, half[1].n)); k >= 2; k--) {
		if (is_late(ctx, e))
			break;
		for (int i = 0; i < 2; i++)
			KDRI_TRY(chain_next(ctx, &of[i], k));
		for (int i = 0; i < 2; i++) {
			KDRI_TRY(kdri_mixture_assign(ctx, &of[i].pool.data, &of[1 - i].mixture, -1, other,
			                             NULL));
			KDRI_TRY(kept_pairs(ctx, of[i].labels, other, of[i].n, k, &value));
			e->strength[k - 2] += value / (2 * HALVINGS);
		}
	}
done:
	for (int i = 0; i < 2; i++) {
		kdri_mixed_free(ctx, &half[i]);
		chain_free(ctx, &of[i]);
	}
	KDRI_FREE(ctx, rows, other);
	return st;
}

/* (E1) and (E2) of all numbers. */
static kdr_status find_chained(kdr_context *ctx, const kdri_mixed *m, evidence *e)
{
	kdr_status st;
	chain c = { 0 };
	double best = INFINITY;
	memset(e->strength, 0, (size_t)(e->most - 1) * sizeof *e->strength);
	KDRI_TRY(chain_new(ctx, m, &c));
	for (int64_t k = e->most; k >= 2; k--) {
		KDRI_TRY(chain_next(ctx, &c, k));
		e->bic[k - 2] = kdri_mixed_bic(m, -1, k, c.mixture.loglik, m->n);
		if (e->bic[k - 2] <= best) {
			best = e->bic[k - 2];
			e->best = k;
		}
		if (k > 2 && is_late(ctx, e))
			break;
	}
	for (int64_t h = 0; h < HALVINGS; h++)
		KDRI_TRY(add_strengths(ctx, m, h, e));
done:
	chain_free(ctx, &c);
	return st;
}

/* --- the suggestion ---------------------------------------------------------------------------------------------------------- */

static kdr_status find_evidence(kdr_context *ctx, const kdri_mixed *m, evidence *e)
{
	e->k = e->best = 2;
	KDRI_DO(KDRI_NEW(ctx, &e->bic, e->most - 1));
	KDRI_DO(KDRI_NEW(ctx, &e->strength, e->most - 1));
	for (int64_t i = 0; i < e->most - 1; i++)
		e->bic[i] = e->strength[i] = NAN;
	if (kdri_has_range(ctx)) {
		KDRI_DO(find_chained(ctx, m, e));
		judge(m, e);
		return KDR_OK;
	}
	KDRI_DO(find_bic(ctx, m, e));
	for (int64_t k = KDRI_MIN(e->best + BEYOND, e->most); k >= 2; k--) {
		KDRI_DO(find_strength(ctx, m, k, &e->strength[k - 2]));
		if (k <= e->best && e->strength[k - 2] >= 1 - sure_lead) /* none can exceed it by so much */
			break;
		if (k > 2 && is_late(ctx, e))
			break;
	}
	judge(m, e);
	return KDR_OK;
}

static void evidence_free(kdr_context *ctx, evidence *e)
{
	KDRI_FREE(ctx, e->bic, e->strength);
}

/* Reports the evidence for table s, or for all (-1). */
static kdr_status put_evidence(kdr_context *ctx, kdri_tables *t, int64_t s, evidence *e)
{
	kdri_k_found found = { .words = { .k = t->k[s < 0 ? 0 : s],
		                          .found = e->k,
		                          .classes = t->problem->classes,
		                          .right = e->sure ? 89 : 14,
		                          /* no real one was that clear */
		                          .tests = e->sure ? "generated test tables" : "real test tables",
		                          .agreement = e->strength[e->k - 2] },
		               .sure = e->sure,
		               .bic = e->bic,
		               .strength = e->strength,
		               .scores = e->most - 1 };
	KDRI_DO(kdri_k_report(ctx, t->result, s, &found));
	for (int64_t j = s < 0 ? 0 : s; j < (s < 0 ? t->all.tables : s + 1); j++) {
		const int64_t i = s < 0 ? kdri_task_at(t->order, j) : s;
		KDRI_DO(kdri_k_report_scores(ctx, t->result, i, &found));
	}
	if (t->all.tables == 1) { /* what a run alone has found is reported again */
		e->bic = e->strength = NULL;
		t->found = found;
	}
	return KDR_OK;
}

/* Of table s, or of all (-1). Free *out with evidence_free, also after a failure. */
static kdr_status find_one(kdr_context *ctx, kdri_tables *t, int64_t s, int64_t *k, evidence *out)
{
	kdr_status st;
	kdri_mixed some = { 0 };
	int64_t rows;
	KDRI_TRY(kdri_part(ctx, s < 0 ? t->all.n : t->all.begin[s + 1] - t->all.begin[s], NULL, &rows));
	kdri_apart(ctx);
	st = kdri_mixed_sample(ctx, kdri_tables_some(t), s, kdri_has_range(ctx) ? FEW_ROWS : MOST_ROWS,
	                       &some);
	if (st == KDR_OK) {
		out->most = KDRI_MAX(2, KDRI_MIN(kdri_k_most(t->options, (double)rows), some.n / 5));
		st = some.n < 4 || some.numbers + some.categories == 0 ? KDR_OK
		                                                       : find_evidence(ctx, &some, out);
	}
	kdri_rejoin(ctx);
	KDRI_TRY(kdri_agree(ctx, st));
	*k = out->k > 0 ? out->k : 1;
done:
	kdri_mixed_free(ctx, &some);
	return st;
}

/* --- shuffled columns --------------------------------------------------------------------------------------------------------- */

static void shuffle_columns(kdri_rng *rng, kdri_mixed *m)
{
	for (int64_t j = 0; j < m->numbers + m->categories; j++)
		for (int64_t i = m->n - 1; i > 0; i--) {
			const int64_t other = kdri_rng_below(rng, i + 1);
			if (j < m->numbers) {
				double *x = m->x + j;
				const double value = x[i * m->numbers];
				x[i * m->numbers] = x[other * m->numbers];
				x[other * m->numbers] = value;
			} else {
				int32_t *code = m->code + j - m->numbers;
				const int32_t level = code[i * m->categories];
				code[i * m->categories] = code[other * m->categories];
				code[other * m->categories] = level;
			}
		}
}

/* (E5) of rows that are changed. Few starts are enough, because all of these tables have as many. */
static kdr_status compare_shuffled(kdr_context *ctx, kdri_mixed *m, int64_t k, double *out)
{
	kdr_status st = KDR_OK;
	kdri_pooled fitted = { 0 };
	kdri_rng rng = kdri_rng_stream(ctx->seed, "tables.shuffled", 0);
	double loglik[SHUFFLES + 1], mean = 0, square = 0;
	for (int r = 0; r <= SHUFFLES; r++) {
		if (ctx->cancelled || ctx->timed_out || kdri_late(ctx))
			goto done;
		if (r > 0)
			shuffle_columns(&rng, m);
		KDRI_TRY(kdri_mixture_of(ctx, m, k, true, &fitted));
		loglik[r] = fitted.mixture.loglik;
		mean += r > 0 ? fitted.mixture.loglik / SHUFFLES : 0;
		kdri_pooled_free(ctx, &fitted);
	}
	for (int r = 1; r <= SHUFFLES; r++)
		square += (loglik[r] - mean) * (loglik[r] - mean);
	*out = square > 0 ? (loglik[0] - mean) / sqrt(square / (SHUFFLES - 1)) : 0;
done:
	kdri_pooled_free(ctx, &fitted);
	return st;
}

kdr_status kdri_tables_beyond_shuffled(kdr_context *ctx, const kdri_tables *t, int64_t s, double *out)
{
	kdr_status st;
	kdri_mixed some = { 0 };
	*out = NAN;
	kdri_apart(ctx);
	st = kdri_mixed_sample(ctx, kdri_tables_some(t), s, FEW_ROWS, &some);
	if (st == KDR_OK && some.n >= KDRI_MAX(LEAST_ROWS, t->k[s]))
		st = compare_shuffled(ctx, &some, t->k[s], out);
	kdri_rejoin(ctx);
	KDRI_TRY(kdri_agree(ctx, st));
done:
	kdri_mixed_free(ctx, &some);
	return st;
}

kdr_status kdri_tables_find_k(kdr_context *ctx, kdri_tables *t)
{
	kdr_status st = KDR_OK;
	const bool same = kdri_opt_bool(t->options, "same_k");
	int64_t wanted = 0, k = 0, rows, distinct;
	bool stopped = false;
	evidence *all = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &all, t->all.tables + 1)); /* of each table, then of all */
	for (int64_t s = 0; s < t->all.tables; s++)
		wanted += t->k[s] == 0;
	if (same && wanted > 0)
		KDRI_TRY(find_one(ctx, t, -1, &k, &all[t->all.tables]));
	for (int64_t i = 0; i < t->all.tables; i++) {
		const int64_t s = kdri_task_at(t->order, i);
		if (t->k[s] > 0)
			continue;
		KDRI_TRY(kdri_rows_distinct(ctx, &t->problem->tasks[s].x, NULL, 2, &distinct));
		if (distinct == 1) {
			t->k[s] = 1;
			t->found.identical = true;
			KDRI_TRY(kdri_k_report(ctx, t->result, s, &(kdri_k_found){ .identical = true }));
			continue;
		}
		if (!same)
			KDRI_TRY(find_one(ctx, t, s, &k, &all[s]));
		KDRI_TRY(kdri_part(ctx, t->all.begin[s + 1] - t->all.begin[s], NULL, &rows));
		t->k[s] = kdri_k_with_classes(KDRI_MIN(k, rows), !all[same ? t->all.tables : s].sure,
		                              t->problem->classes, rows);
	}
	for (int64_t s = 0; s <= t->all.tables; s++)
		stopped = stopped || all[s].stopped;
	if (stopped)
		KDRI_TRY(kdri_k_unfinished(ctx, t->result));
	if (wanted > 0 && kdri_enter_range(ctx, t->order->order, t->all.tables,
	                                   t->k)) /* then the evidence is for another k */
		goto done;
	for (int64_t i = 0; i < t->all.tables && !stopped; i++) {
		const int64_t s = kdri_task_at(t->order, i);
		if (all[s].k > 0)
			KDRI_TRY(put_evidence(ctx, t, s, &all[s]));
	}
	if (all[t->all.tables].k > 0 && !stopped)
		KDRI_TRY(put_evidence(ctx, t, -1, &all[t->all.tables]));
done:
	for (int64_t s = 0; all && s <= t->all.tables; s++)
		evidence_free(ctx, &all[s]);
	kdri_free(ctx, all);
	return st;
}
