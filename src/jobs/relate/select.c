/* Selects a bridge: the selection model, and the rule without one. SPDX-License-Identifier: BSD-3-Clause
 *
 * Six features of a triple (source s, bridge i, target t) [TSZY15, table 2]: complexities of s, i, t, and the A-distances
 * A(s,i), A(s,t), A(i,t). The model of [TSZY15, eqs. 3 and 4], with a ridge on the standardised features z so that it
 * exists if the triples can be separated without error:
 *
 *   (E1)  P(helps) = 1 / (1 + exp(-(b0 + <b, z>)))
 *   (E2)  max over b0, b   sum_j l_j log P_j + (1 - l_j) log(1 - P_j) - ridge |b|^2 / 2
 *   (E3)  Newton: (Z' diag(P (1 - P)) Z + ridge) step = Z'(l - P) - ridge b, halved until (E2) rises
 *
 * beta is b in the units of the features. A user without labelled triples gets a rule instead:
 *
 *   (E4)  score = A(s,t) - max(A(s,i), A(i,t)),
 *
 * the difference between the direct distance and the longer half of the path over the bridge. */
#include <stdio.h>

#include "comm/comm.h"
#include "jobs/relate/relate.h"
#include "kindred/bridge.h"

enum { P = KDR_BRIDGE_FEATURES, Q = P + 1, MOST_STEPS = 100, MOST_HALVINGS = 40 };

typedef struct fit {
	const double *z; /* n x Q, with a leading 1 */
	const int *helps;
	int64_t n;
	double ridge, b[Q];
} fit;

static double logit(const double *z, const double *b)
{
	double s = 0;
	for (int k = 0; k < Q; k++)
		s += z[k] * b[k];
	return s;
}

static double sigmoid(double s)
{
	return s > 0 ? 1 / (1 + exp(-s)) : exp(s) / (1 + exp(s));
}

/* (E2) */
static double select_value(const fit *f, const double *b)
{
	double sum = 0;
	for (int64_t j = 0; j < f->n; j++) {
		double s = logit(f->z + j * Q, b), t = f->helps[j] ? -s : s;
		sum -= t > 0 ? t + log1p(exp(-t)) : log1p(exp(t));
	}
	for (int k = 1; k < Q; k++)
		sum -= f->ridge * b[k] * b[k] / 2;
	return sum;
}

/* (E3): one step; false where it is as high as rounding allows. */
static kdr_status select_newton(kdr_context *ctx, fit *f, bool *moved)
{
	double h[Q * Q] = { 0 }, g[Q] = { 0 }, next[Q], now = select_value(f, f->b), scale = 1;
	for (int64_t j = 0; j < f->n; j++) {
		const double *z = f->z + j * Q;
		double p = sigmoid(logit(z, f->b));
		for (int a = 0; a < Q; a++) {
			g[a] += z[a] * (f->helps[j] - p);
			for (int b = 0; b < Q; b++)
				h[a * Q + b] += z[a] * z[b] * p * (1 - p);
		}
	}
	for (int k = 0; k < Q; k++) {
		h[k * Q + k] += k > 0 ? f->ridge : 1e-12;
		g[k] -= k > 0 ? f->ridge * f->b[k] : 0;
	}
	KDRI_DO(kdri_cholesky(ctx, Q, h, Q));
	KDRI_DO(kdri_cholesky_solve(ctx, Q, h, Q, g, 1, 1));
	*moved = false;
	for (int halving = 0; halving < MOST_HALVINGS && !*moved; halving++, scale /= 2) {
		for (int k = 0; k < Q; k++)
			next[k] = f->b[k] + scale * g[k];
		*moved = select_value(f, next) > now;
	}
	if (*moved)
		memcpy(f->b, next, sizeof next);
	return KDR_OK;
}

kdr_status kdri_selector_fit(kdr_context *ctx, const double *features, const int *helps, int64_t n,
                             double ridge, kdr_selector *out)
{
	kdr_status st;
	double *z = NULL, mean[P] = { 0 }, deviation[P] = { 0 };
	kdr_selector s = { .triples = n };
	if (!ctx || !features || !helps || !out || n < 1 || !(ridge > 0))
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "selection model: triples and a ridge above 0 are needed");
	for (int64_t j = 0; j < n; j++)
		s.helpful += helps[j] != 0;
	if (s.helpful == 0 || s.helpful == n)
		return kdri_fail(
		        ctx, KDR_ERR_DATA,
		        "selection model: %s of the %lld triples, so nothing can be learned; give more data sets",
		        s.helpful ? "the bridge helps in each" : "the bridge helps in none", (long long)n);
	KDRI_TRY(KDRI_NEW(ctx, &z, n * Q));
	for (int k = 0; k < P; k++) {
		for (int64_t j = 0; j < n; j++)
			mean[k] += features[j * P + k] / (double)n;
		for (int64_t j = 0; j < n; j++)
			deviation[k] +=
			        (features[j * P + k] - mean[k]) * (features[j * P + k] - mean[k]) / (double)n;
		deviation[k] = sqrt(deviation[k]);
	}
	for (int64_t j = 0; j < n; j++) {
		z[j * Q] = 1;
		for (int k = 0; k < P; k++)
			z[j * Q + 1 + k] =
			        deviation[k] > 1e-12 ? (features[j * P + k] - mean[k]) / deviation[k] : 0;
	}
	fit f = { .z = z, .helps = helps, .n = n, .ridge = ridge };
	bool moved = true;
	for (int step = 0; step < MOST_STEPS && moved; step++)
		KDRI_TRY(select_newton(ctx, &f, &moved));
	s.log_likelihood = select_value(&f, f.b);
	s.beta[0] = f.b[0];
	for (int k = 0; k < P; k++) {
		s.beta[1 + k] = deviation[k] > 1e-12 ? f.b[1 + k] / deviation[k] : 0;
		s.beta[0] -= s.beta[1 + k] * mean[k];
	}
	*out = s;
done:
	kdri_free(ctx, z);
	return st;
}

double kdri_selector_probability(const kdr_selector *selector, const double *features)
{
	double s = selector->beta[0];
	for (int k = 0; k < P; k++)
		s += selector->beta[1 + k] * features[k];
	return sigmoid(s); /* (E1) */
}

/* --- ranking ----------------------------------------------------------------------------------- */

/* Data with different features, or too few samples, get the largest distance. */
static kdr_status select_distance(kdr_context *ctx, const kdr_mat *a, const kdr_mat *b,
                                  const kdr_relate_options *o, double *out)
{
	*out = 2;
	if (kdr_mat_cols(a) != kdr_mat_cols(b))
		return KDR_OK;
	KDRI_DO(kdri_a_distance(ctx, a, b, o->ridge, o->folds, out));
	if (isnan(*out))
		*out = 2;
	return KDR_OK;
}

static kdr_status complexity(kdr_context *ctx, const kdr_mat *x, double rare, double *out)
{
	kdr_status st;
	int64_t *counts = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &counts, kdr_mat_cols(x)));
	kdri_mat_col_counts(ctx, x, counts);
	int64_t rows;
	KDRI_TRY(kdri_sum_int(ctx, counts, kdr_mat_cols(x)));
	KDRI_TRY(kdri_part(ctx, kdr_mat_rows(x), NULL, &rows));
	*out = kdri_complexity(counts, kdr_mat_cols(x), rows, rare, false);
done:
	kdri_free(ctx, counts);
	return st;
}

static void select_explain(kdri_bridge_score *s, bool selector)
{
	double si = s->features[3], st = s->features[4], it = s->features[5], longer = fmax(si, it);
	const char *half = si >= it ? "A(source, bridge)" : "A(bridge, target)";
	int n = 0;
	if (selector)
		n = kdri_snprintf(s->reason, sizeof s->reason, "helps with probability %.2f; ",
		                  s->probability);
	kdri_snprintf(s->reason + n, sizeof s->reason - (size_t)n,
	              "its longer part, %s = %.3f, is %s A(source, target) = %.3f", half, longer,
	              longer < st   ? "below"
	              : longer > st ? "above"
	                            : "equal to",
	              st);
}

static void select_rank(kdri_bridge_score *s, int64_t count)
{
	for (int64_t a = 0; a < count; a++) {
		s[a].rank = 0;
		for (int64_t b = 0; b < count; b++)
			s[a].rank += s[b].score > s[a].score || (s[b].score == s[a].score && b < a);
	}
}

kdr_status kdri_bridge_rank(kdr_context *ctx, const kdr_mat *source, const kdr_mat *target,
                            const kdri_bridge_candidate *candidates, int64_t count,
                            const kdr_selector *selector, const kdr_relate_options *options,
                            kdri_bridge_score *scores)
{
	kdr_relate_options o;
	double cs, ct, a_st;
	if (!ctx || !source || !target || !candidates || count < 1 || !scores)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "bridges: a source, a target and a candidate are needed");
	o = kdri_relate_resolve(options);
	KDRI_DO(complexity(ctx, source, o.rare, &cs));
	KDRI_DO(complexity(ctx, target, o.rare, &ct));
	KDRI_DO(select_distance(ctx, source, target, &o, &a_st));
	for (int64_t k = 0; k < count; k++) {
		const kdri_bridge_candidate *c = &candidates[k];
		kdri_bridge_score *s = &scores[k];
		*s = (kdri_bridge_score){ .features = { cs, 0, ct, 0, a_st, 0 },
			                  .probability = NAN,
			                  .back = NAN };
		KDRI_DO(complexity(ctx, &c->source_view, o.rare, &s->features[1]));
		KDRI_DO(select_distance(ctx, source, &c->source_view, &o, &s->features[3]));
		KDRI_DO(select_distance(ctx, &c->target_view, target, &o, &s->features[5]));
		s->score = a_st - fmax(s->features[3], s->features[5]); /* (E4) */
		if (selector)
			s->score = s->probability = kdri_selector_probability(selector, s->features);
		select_explain(s, selector != NULL);
	}
	select_rank(scores, count);
	return KDR_OK;
}
