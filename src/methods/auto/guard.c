/* The effect of the other data sets on a task. SPDX-License-Identifier: BSD-3-Clause
 *
 * The answer is compared with that of a run with this data set alone, which is the result of --no-transfer. Without true classes a gain cannot be distinguished from a loss: of the rules we tried, none was right
 * in four of five cases on new collections (docs/notes/auto.md). The advice therefore states how many samples moved and how to
 * get the alternative. */
#include "methods/auto/guard.h"
#include "comm/comm.h"
#include "engine/metrics/metrics.h"
#include "methods/auto/tables.h"

#include <stdio.h>

/* Minimum number of samples: with fewer, only very clear clusters can be distinguished from noise. */
enum { ENOUGH = 100 };
/* Proportion of samples that moved below which the other data sets changed nothing worth reporting; mean agreement from
 * which members agree; and spreads of noise beyond which there is structure (reference.c: Student's t, 23 degrees of
 * freedom: one in 200). */
static const double few = 0.01, agreed = 0.75, beyond_chance = 2.9;

/* NMI of two partitions of the rows of all ranks, into up to k parts each. */
static kdr_status agreement(kdr_context *ctx, const int64_t *a, const int64_t *b, int64_t n, int64_t k,
                            double *out)
{
	kdr_status st;
	int64_t *counts = NULL, size;
	if (!kdri_together(ctx))
		return kdri_nmi(ctx, a, b, n, out);
	KDRI_TRY(kdri_mul(ctx, k, k, &size));
	KDRI_TRY(KDRI_NEW0(ctx, &counts, size));
	for (int64_t i = 0; i < n; i++)
		counts[a[i] * k + b[i]]++;
	KDRI_TRY(kdri_sum_int(ctx, counts, size));
	KDRI_TRY(kdri_nmi_counts(ctx, counts, k, k, out));
done:
	kdri_free(ctx, counts);
	return st;
}

static void take_partition(const kdri_ballot *b, int64_t m, int64_t *out)
{
	for (int64_t i = 0; i < b->n; i++)
		out[i] = b->label[i * b->count + m];
}

/* Parts of any partition, k at least. */
static kdr_status most_parts(kdr_context *ctx, const kdri_ballot *b, int64_t k, int64_t *out)
{
	*out = k;
	for (int64_t p = 0; p < b->n * b->count; p++)
		*out = KDRI_MAX(*out, b->label[p] + 1);
	return kdri_max_int(ctx, out, 1);
}

kdr_status kdri_guard_new(kdr_context *ctx, const kdri_ballot *b, const kdri_verdict *answer,
                          const kdri_verdict *alone, int64_t k, int64_t *moved, int64_t *before,
                          kdri_guard *out)
{
	kdr_status st;
	kdri_guard g = { .voted = b->count, .requested = KDRI_MAX(b->requested, b->count) };
	int64_t n = b->n, *part = NULL, *map = NULL, counts[2] = { 0 }, parts, all;
	double sums[2] = { 0 };
	KDRI_TRY(kdri_part(ctx, n, NULL, &all));
	KDRI_TRY(most_parts(ctx, b, k, &parts));
	KDRI_TRY(KDRI_NEW(ctx, &part, n));
	KDRI_TRY(KDRI_NEW(ctx, &map, k));
	KDRI_TRY(agreement(ctx, answer->labels, alone->labels, n, parts, &g.with_alone));
	for (int64_t m = 0; m < b->count; m++) {
		double value;
		take_partition(b, m, part);
		KDRI_TRY(agreement(ctx, part, alone->labels, n, parts, &value));
		sums[b->transfer[m]] += value;
		counts[b->transfer[m]]++;
		if (m == 0) {
			g.alone_kmeans = value;
			KDRI_TRY(agreement(ctx, answer->labels, part, n, parts, &g.with_kmeans));
		}
	}
	g.transfer = counts[1] > 0;
	g.own = counts[0] ? sums[0] / (double)counts[0] : 0;
	g.pooled = counts[1] ? sums[1] / (double)counts[1] : 0;
	KDRI_TRY(kdri_align_labels(ctx, answer->labels, alone->labels, n, k, map));
	for (int64_t i = 0; i < n; i++) {
		moved[i] = map[alone->labels[i]] != answer->labels[i];
		g.moved += moved[i];
		if (before)
			before[i] = map[alone->labels[i]];
		g.agreement += answer->agreement[i] / (double)all;
		g.agreement_alone += alone->agreement[i] / (double)all;
	}
	KDRI_TRY(kdri_sum_int(ctx, &g.moved, 1));
	KDRI_TRY(kdri_sum(ctx, &g.agreement, 1));
	KDRI_TRY(kdri_sum(ctx, &g.agreement_alone, 1));
	g.agreement = KDRI_MIN(g.agreement, 1);
	*out = g;
done:
	KDRI_FREE(ctx, part, map);
	return st;
}

void kdri_guard_advice(const kdri_guard *g, int64_t n, int64_t k, const char *name, char *out, size_t room)
{
	double share = n > 0 ? (double)g->moved / (double)n : 0;
	bool noise = k > 1 && n >= ENOUGH && g->beyond_noise < beyond_chance;
	const char *unclear = noise ? "\nits clusters are no clearer than those found in random noise" : "";
	if (k == 1)
		snprintf(out, room, "%s: there is only one cluster, so there is nothing to compare", name);
	else if (2 * g->voted < g->requested)
		snprintf(
		        out, room,
		        "%s: only %lld of %lld runs finished in time, so the clarity of the clusters was not assessed",
		        name, (long long)g->voted, (long long)g->requested);
	else if (g->carried)
		snprintf(out, room, "%s: in a run alone, %lld of %lld samples would be in another cluster%s",
		         name, (long long)g->moved, (long long)n, unclear);
	else if (!g->compared)
		snprintf(out, room, "%s: clustered together with the other data sets%s", name, unclear);
	else if (!g->transfer)
		snprintf(
		        out, room, "%s: %s%s", name,
		        g->large ? "it is large, so the other data sets do not vote on it\n" : "",
		        noise ? "its clusters are no clearer than those found in random noise of the same size and spread"
		        : g->agreement >= agreed && !(g->beyond_noise >= beyond_chance) ? "the methods agree"
		        : g->agreement >= agreed
		                ? "the methods agree, and the clusters are clearer than those found in random noise"
		                : "the methods disagree; treat these clusters as one of several possible groupings, and try another -k");
	else if (share < few)
		snprintf(out, room, "%s: clustering together moved less than 1 %% of the samples%s", name,
		         unclear);
	else
		snprintf(
		        out, room,
		        "%s: clustering together moved %lld of %lld samples to another cluster (run with --no-transfer to compare)%s",
		        name, (long long)g->moved, (long long)n, unclear);
}
