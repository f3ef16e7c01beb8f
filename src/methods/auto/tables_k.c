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
 *
 * At most 2,000 rows of each table are used. docs/notes/tables.md reports how often this is right. */
#include "methods/auto/guess_k.h"
#include "methods/auto/tables.h"

#include "comm/comm.h"
#include "matrix/linalg.h"
#include "matrix/rows.h"

#include <stdio.h>

enum { MOST_ROWS = 2000, HALVINGS = 2, PATIENCE = 4, BEYOND = 2, WIDER = 2 };
static const double enough = 0.55, sure_strength = 0.8, sure_lead = 0.3;

typedef struct evidence {
	int64_t most;           /* k from 2 to most */
	double *bic, *strength; /* most - 1; NaN: not computed */
	int64_t best, k;        /* (E1), (E3) */
	bool sure;
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

/* (E2) */
static kdr_status find_strength(kdr_context *ctx, const kdri_mixed *m, int64_t k, double *out)
{
	kdr_status st = KDR_OK;
	kdri_mixed half[2] = { { 0 }, { 0 } };
	kdri_mixture fitted[2] = { { 0 }, { 0 } };
	kdri_mixed_part pool = { 0 };
	int64_t *rows = NULL, *own = NULL, *other = NULL;
	double sum = 0, value;
	KDRI_TRY(KDRI_NEW(ctx, &rows, m->n));
	KDRI_TRY(KDRI_NEW(ctx, &own, 2 * m->n));
	KDRI_TRY(KDRI_NEW(ctx, &other, m->n));
	for (int64_t h = 0; h < HALVINGS; h++) {
		for (int i = 0; i < 2; i++) {
			const int64_t n = take_half(ctx, m, h, i, rows);
			if (n < k) { /* too few rows to compare */
				*out = 0;
				goto done;
			}
			KDRI_TRY(kdri_mixed_take(ctx, m, rows, n, NULL, &half[i]));
			KDRI_TRY(kdri_mixture_of(ctx, &half[i], -1, k, true, &fitted[i], own + i * m->n));
		}
		for (int i = 0; i < 2; i++) {
			KDRI_TRY(kdri_mixed_pool_new(ctx, &half[i], &pool));
			KDRI_TRY(kdri_mixture_assign(ctx, &pool.data, &fitted[1 - i], -1, other, NULL));
			KDRI_TRY(kept_pairs(ctx, own + i * m->n, other, half[i].n, k, &value));
			sum += value;
			kdri_mixed_part_free(ctx, &pool);
		}
		for (int i = 0; i < 2; i++) {
			kdri_mixed_free(ctx, &half[i]);
			kdri_mixture_free(ctx, &fitted[i]);
		}
	}
	*out = sum / (2 * HALVINGS);
done:
	for (int i = 0; i < 2; i++) {
		kdri_mixed_free(ctx, &half[i]);
		kdri_mixture_free(ctx, &fitted[i]);
	}
	kdri_mixed_part_free(ctx, &pool);
	kdri_free(ctx, rows);
	kdri_free(ctx, own);
	kdri_free(ctx, other);
	return st;
}

/* (E1): stops after several values of k in a row without an improvement. */
static kdr_status find_bic(kdr_context *ctx, const kdri_mixed *m, evidence *e)
{
	kdr_status st;
	kdri_mixture fitted = { 0 };
	int64_t *labels = NULL;
	double best = INFINITY;
	KDRI_TRY(KDRI_NEW(ctx, &labels, m->n));
	for (int64_t k = 2; k <= e->most && k <= e->best + PATIENCE; k++) {
		if (k > 2 && (ctx->cancelled || ctx->timed_out || kdri_late(ctx)))
			break;
		KDRI_TRY(kdri_mixture_of(ctx, m, -1, k, true, &fitted, labels));
		e->bic[k - 2] = kdri_mixed_bic(m, -1, k, fitted.loglik, m->n);
		kdri_mixture_free(ctx, &fitted);
		if (e->bic[k - 2] < best) {
			best = e->bic[k - 2];
			e->best = k;
		}
	}
done:
	kdri_mixture_free(ctx, &fitted);
	kdri_free(ctx, labels);
	return st;
}

static kdr_status find_evidence(kdr_context *ctx, const kdri_mixed *m, evidence *e)
{
	kdr_status st;
	bool lead = true;
	double largest = 0;
	e->k = e->best = 2;
	KDRI_TRY(KDRI_NEW(ctx, &e->bic, e->most - 1));
	KDRI_TRY(KDRI_NEW(ctx, &e->strength, e->most - 1));
	for (int64_t i = 0; i < e->most - 1; i++)
		e->bic[i] = e->strength[i] = NAN;
	KDRI_TRY(find_bic(ctx, m, e));
	for (int64_t k = KDRI_MIN(e->best + BEYOND, e->most); k >= 2; k--) { /* (E3) */
		KDRI_TRY(find_strength(ctx, m, k, &e->strength[k - 2]));
		if (k <= e->best)
			largest = KDRI_MAX(largest, e->strength[k - 2]);
		if (k <= e->best && e->strength[k - 2] >= 1 - sure_lead) /* none can exceed it by so much */
			break;
		if (ctx->cancelled || ctx->timed_out || kdri_late(ctx))
			break;
	}
	for (int64_t k = 2; k <= e->best; k++)
		if (e->strength[k - 2] >= KDRI_MAX(enough, largest - sure_lead))
			e->k = k;
	for (int64_t k = e->k + 1; k <= e->most; k++)
		lead = lead && !(e->strength[k - 2] > e->strength[e->k - 2] - sure_lead);
	e->sure = m->tables > 1 && lead && e->strength[e->k - 2] >= sure_strength; /* (E4) */
done:
	return st;
}

static void evidence_free(kdr_context *ctx, evidence *e)
{
	kdri_free(ctx, e->bic);
	kdri_free(ctx, e->strength);
}

/* Reports the evidence for table s, or for all (-1). */
static kdr_status put_evidence(kdr_context *ctx, const kdri_tables *t, int64_t s, const evidence *e)
{
	kdr_status st;
	char text[256];
	double *to = NULL;
	kdri_snprintf(
	        text, sizeof text,
	        "k = %lld: %s; there are at least %lld clusters, probably %lld to %lld (prediction strength %.2f; 1 = perfectly reproducible)",
	        (long long)e->k,
	        e->sure ? "supported, right in 4 of 5 similar cases"
	                : "only a suggestion, right in 2 of 5 similar cases",
	        (long long)e->k, (long long)e->k, (long long)e->k + WIDER, e->strength[e->k - 2]);
	KDRI_TRY(kdri_result_task_text(ctx, t->result, s, "k_evidence", text));
	KDRI_TRY(kdri_result_task_number(ctx, t->result, s, "k_sure", e->sure));
	for (int64_t i = s < 0 ? 0 : s; i < (s < 0 ? t->all.tables : s + 1); i++) {
		KDRI_TRY(kdri_result_array(ctx, t->result, "bic", i, KDR_FLOAT64, 1,
		                           (int64_t[]){ e->most - 1 }, &to));
		memcpy(to, e->bic, (size_t)(e->most - 1) * sizeof *to);
		KDRI_TRY(kdri_result_array(ctx, t->result, "prediction_strength", i, KDR_FLOAT64, 1,
		                           (int64_t[]){ e->most - 1 }, &to));
		memcpy(to, e->strength, (size_t)(e->most - 1) * sizeof *to);
	}
done:
	return st;
}

/* Of table s, or of all (-1). */
static kdr_status find_one(kdr_context *ctx, kdri_tables *t, int64_t s, int64_t *k)
{
	kdr_status st;
	kdri_mixed some = { 0 };
	evidence e = { 0 };
	int64_t rows;
	KDRI_TRY(kdri_part(ctx, s < 0 ? t->all.n : t->all.begin[s + 1] - t->all.begin[s], NULL, &rows));
	kdri_apart(ctx);
	st = kdri_mixed_sample(ctx, kdri_tables_some(t), s, MOST_ROWS, &some);
	if (st == KDR_OK) {
		e.most = KDRI_MAX(2, KDRI_MIN(kdri_k_most(t->options, (double)rows), some.n / 5));
		st = some.n < 4 || some.numbers + some.categories == 0 ? KDR_OK
		                                                       : find_evidence(ctx, &some, &e);
	}
	kdri_rejoin(ctx);
	KDRI_TRY(kdri_agree(ctx, st));
	*k = e.k > 0 ? e.k : 1;
	if (e.k > 0)
		KDRI_TRY(put_evidence(ctx, t, s, &e));
done:
	kdri_mixed_free(ctx, &some);
	evidence_free(ctx, &e);
	return st;
}

kdr_status kdri_tables_find_k(kdr_context *ctx, kdri_tables *t)
{
	kdr_status st = KDR_OK;
	const bool same = kdri_opt_bool(t->options, "same_k");
	int64_t wanted = 0, k = 0, rows, distinct;
	for (int64_t s = 0; s < t->all.tables; s++)
		wanted += t->k[s] == 0;
	if (same && wanted > 0)
		KDRI_TRY(find_one(ctx, t, -1, &k));
	for (int64_t s = 0; s < t->all.tables; s++) {
		if (t->k[s] > 0)
			continue;
		KDRI_TRY(kdri_rows_distinct(ctx, &t->problem->tasks[s].x, NULL, 2, &distinct));
		if (distinct == 1) {
			t->k[s] = 1;
			KDRI_TRY(kdri_result_task_text(ctx, t->result, s, "k_evidence",
			                               "k = 1: all samples are identical"));
			continue;
		}
		if (!same)
			KDRI_TRY(find_one(ctx, t, s, &k));
		KDRI_TRY(kdri_part(ctx, t->all.begin[s + 1] - t->all.begin[s], NULL, &rows));
		t->k[s] = KDRI_MIN(k, rows);
	}
done:
	return st;
}
