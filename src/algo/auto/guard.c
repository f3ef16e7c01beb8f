/* What company did to a task. SPDX-License-Identifier: BSD-3-Clause
 *
 * Nothing here reads truth. Whether samples that moved are better off is judged by somebody who has not seen
 * them: the clusters that the nearest other task has by itself label this task's samples
 * (kdri_counterparts_label), and the answer that agrees with these labels more is taken to be the better. That
 * is a hint and no proof, and the sentence says "seems"; what it was worth on real data is in docs/auto.md. */
#include "algo/auto/guard.h"

#include <stdio.h>

/* Samples that moved, below which company changed nothing worth a word; NMI that is a difference; agreement of
 * pooled members with the rest, as a share of the rest's own, that is none; and mean confidence from which members
 * agree. */
static const double few = 0.01, differs = 0.02, astray = 0.5, agreed = 0.75;

static kdr_status nmi(kdr_context *ctx, const int64_t *a, const int64_t *b, int64_t n, double *out)
{
	kdr_scores s;
	kdr_status st = kdr_evaluate(ctx, a, b, n, &s);
	if (st == KDR_OK)
		*out = s.nmi;
	return st;
}

/* map[c] = the cluster of `to` that cluster c of `from` shares most samples with, one to one. */
static kdr_status match(kdr_context *ctx, const int64_t *from, const int64_t *to, int64_t n, int64_t k,
                        int64_t *map)
{
	kdr_status st;
	double *cost = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &cost, k * k));
	for (int64_t i = 0; i < n; i++)
		cost[from[i] * k + to[i]]--;
	KDRI_TRY(kdr_assign(ctx, cost, k, k, map, NULL));
done:
	kdri_free(ctx, cost);
	return st;
}

static void take_partition(const kdri_ballot *b, int64_t m, int64_t *out)
{
	for (int64_t i = 0; i < b->n; i++)
		out[i] = b->label[i * b->count + m];
}

kdr_status kdri_guard_new(kdr_context *ctx, const kdri_ballot *b, const kdri_verdict *answer,
                          const kdri_verdict *single, const int64_t *others, int64_t k, int64_t *moved,
                          kdri_guard *out)
{
	kdr_status st;
	kdri_guard g = { 0 };
	int64_t n = b->n, *part = NULL, *map = NULL, counts[2] = { 0 };
	double sums[2] = { 0 };
	KDRI_TRY(KDRI_NEW(ctx, &part, n));
	KDRI_TRY(KDRI_NEW(ctx, &map, k));
	KDRI_TRY(nmi(ctx, answer->labels, single->labels, n, &g.with_single));
	for (int64_t m = 0; m < b->count; m++) {
		double value;
		take_partition(b, m, part);
		KDRI_TRY(nmi(ctx, part, single->labels, n, &value));
		sums[b->transfer[m]] += value;
		counts[b->transfer[m]]++;
		if (m == 0) {
			g.single_kmeans = value;
			KDRI_TRY(nmi(ctx, answer->labels, part, n, &g.with_kmeans));
		}
	}
	g.transfer = counts[1] > 0;
	g.own = counts[0] ? sums[0] / (double)counts[0] : 0;
	g.pooled = counts[1] ? sums[1] / (double)counts[1] : 0;
	KDRI_TRY(match(ctx, single->labels, answer->labels, n, k, map));
	for (int64_t i = 0; i < n; i++) {
		moved[i] = map[single->labels[i]] != answer->labels[i];
		g.moved += moved[i];
		g.confidence += answer->confidence[i] / (double)n;
		g.confidence_single += single->confidence[i] / (double)n;
	}
	g.confidence = KDRI_MIN(g.confidence, 1);
	if (others) {
		KDRI_TRY(nmi(ctx, answer->labels, others, n, &g.across));
		KDRI_TRY(nmi(ctx, single->labels, others, n, &g.across_single));
	}
	*out = g;
done:
	kdri_free(ctx, part);
	kdri_free(ctx, map);
	return st;
}

void kdri_guard_advice(const kdri_guard *g, int64_t n, const char *name, const char *nearest, char *out,
                       size_t room)
{
	double share = n > 0 ? (double)g->moved / (double)n : 0;
	const char *pooling = g->pooled < astray * g->own ? "; pooling would have hurt it" : "";
	if (!g->transfer)
		snprintf(
		        out, room, "%s: %s", name,
		        g->confidence >= agreed
		                ? "the members agree: its clusters are clear"
		                : "the members disagree: take its clusters as one view of several, and try another k");
	else if (share < few)
		snprintf(out, room, "%s: the other tasks changed hardly anything%s", name, pooling);
	else if (g->across > g->across_single + differs)
		snprintf(out, room,
		         "%s: seems to have gained from %s: %lld sample%s moved to what they share%s", name,
		         nearest ? nearest : "the other tasks", (long long)g->moved, g->moved == 1 ? "" : "s",
		         pooling);
	else
		snprintf(
		        out, room,
		        "%s: the other tasks moved %lld sample%s, for better or worse: compare with --no-transfer%s",
		        name, (long long)g->moved, g->moved == 1 ? "" : "s", pooling);
}
