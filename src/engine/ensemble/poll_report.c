/* What a poll reports in addition to labels. SPDX-License-Identifier: BSD-3-Clause
 *
 * The guard for every task, nearness of tasks (nearness.c) as their relatedness, and the clusters of different
 * tasks that match. */
/* Which clusters of different tasks are counterparts.
 *
 *   (E1)  u_z = c_z - m, the cluster's mean less its task's: what sets it apart
 *   (E2)  cost_zl = 1 - cos(u_z, u_l)
 *   (E3)  min sum_zl cost_zl f_zl,  sum_l f_zl = a_z,  sum_z f_zl = b_l          (kdri_transport)
 *
 * Subtracting the task's mean removes what all of its samples share, such as an offset of a laboratory. */
#include <stdio.h>

#include "api/method.h"
#include "comm/comm.h"
#include "engine/ensemble/poll.h"
#include "engine/ensemble/probability_right.h"
#include "engine/ensemble/vote.h"
#include "engine/graph/knn.h"
#include "engine/kmeans/kmeans.h"
#include "engine/metrics/metrics.h"
#include "matrix/kept.h"

static const double certain = 10;

/* The means of k clusters of the rows of x on all ranks, k x d; zeros for a cluster without samples. */
static kdr_status cluster_means(kdr_context *ctx, const kdr_mat *x, const int64_t *labels, int64_t k,
                                double *means)
{
	kdr_status st;
	int64_t n = kdr_mat_rows(x), d = kdr_mat_cols(x), size;
	double *one_hot = NULL, *sums = NULL, *count = NULL;
	KDRI_TRY(kdri_mul(ctx, n, k, &size));
	KDRI_TRY(KDRI_NEW0(ctx, &one_hot, size));
	KDRI_TRY(kdri_mul(ctx, d, k, &size));
	KDRI_TRY(KDRI_NEW(ctx, &sums, size));
	KDRI_TRY(KDRI_NEW0(ctx, &count, k));
	for (int64_t i = 0; i < n; i++) {
		one_hot[i * k + labels[i]] = 1;
		count[labels[i]]++;
	}
	KDRI_TRY(kdri_mat_tmul(ctx, x, one_hot, k, k, sums, k));
	KDRI_TRY(kdri_sum(ctx, sums, size));
	KDRI_TRY(kdri_sum(ctx, count, k));
	for (int64_t z = 0; z < k; z++)
		for (int64_t j = 0; j < d; j++)
			means[z * d + j] = count[z] > 0 ? sums[j * k + z] / count[z] : 0;
done:
	KDRI_FREE(ctx, one_hot, sums, count);
	return st;
}

/* (E1), scaled to unit length; zeros for an empty cluster. */
static void departures(const kdri_clusters *c, double *out)
{
	for (int64_t z = 0; z < c->k; z++) {
		double *u = out + z * c->d;
		const double *mean = c->means + z * c->d;
		bool empty = kdri_nrm2sq(mean, c->d) == 0;
		for (int64_t j = 0; j < c->d; j++)
			u[j] = empty ? 0 : mean[j] - c->mean[j];
		double length = sqrt(kdri_nrm2sq(u, c->d));
		for (int64_t j = 0; j < c->d; j++)
			u[j] = length > 0 ? u[j] / length : 0;
	}
}

/* The weight of each cluster: equal for all, or proportional to its size. With sizes, a cluster that is split in two
 * on one side only can be matched with both parts. */
static void marginal(const kdri_clusters *c, bool alike, double *out)
{
	double total = 0;
	for (int64_t z = 0; z < c->k; z++)
		total += (double)c->sizes[z];
	for (int64_t z = 0; z < c->k; z++)
		out[z] = alike ? 1 / (double)c->k : (double)c->sizes[z] / total;
}

/* Whether the classes of both clusters are known. */
static bool both_known(const kdri_clusters *a, int64_t z, const kdri_clusters *b, int64_t l)
{
	return a->known && b->known && a->known[z] && b->known[l];
}

kdr_status kdri_counterparts(kdr_context *ctx, const kdri_clusters *a, const kdri_clusters *b, double *flow,
                             double *chance)
{
	kdr_status st;
	double *u = NULL, *v = NULL, *cost = NULL, *supply = NULL, *demand = NULL;
	int64_t size;
	KDRI_TRY(kdri_mul(ctx, a->k, b->k, &size));
	KDRI_TRY(KDRI_NEW(ctx, &u, a->k * a->d));
	KDRI_TRY(KDRI_NEW(ctx, &v, b->k * b->d));
	KDRI_TRY(KDRI_NEW(ctx, &cost, size));
	KDRI_TRY(KDRI_NEW(ctx, &supply, a->k));
	KDRI_TRY(KDRI_NEW(ctx, &demand, b->k));
	departures(a, u);
	departures(b, v);
	KDRI_TRY(kdri_gemm(ctx, false, true, a->k, b->k, a->d, -1, u, a->d, v, b->d, 0, cost, b->k));
	for (int64_t p = 0; p < size; p++)
		cost[p] += 1; /* (E2) */
	for (int64_t z = 0; z < a->k; z++)
		for (int64_t l = 0; l < b->k; l++)
			if (both_known(a, z, b, l)) /* costs are from 0 to 2 */
				cost[z * b->k + l] = z == l ? -certain : certain;
	marginal(a, a->k == b->k, supply);
	marginal(b, a->k == b->k, demand);
	KDRI_TRY(kdri_transport(ctx, cost, a->k, b->k, supply, demand, flow, NULL, NULL, NULL)); /* (E3) */
	for (int64_t z = 0; z < a->k; z++) {
		int64_t best = 0;
		for (int64_t l = 1; l < b->k; l++)
			if (flow[z * b->k + l] > flow[z * b->k + best])
				best = l;
		chance[z] = both_known(a, z, b, best)
		                    ? z == best
		                    : kdri_match_right(1 - cost[z * b->k + best], a->k, a->d);
		if (chance[z] < KDRI_LEAST_MATCH)
			memset(flow + z * b->k, 0, (size_t)b->k * sizeof *flow);
	}
done:
	KDRI_FREE(ctx, u, v, cost, supply, demand);
	return st;
}

/* The effect of the other data sets on a task.
 *
 * The answer is compared with that of a run with this data set alone, which is the result of --no-transfer. Without true classes a gain cannot be distinguished from a loss: of the rules we tried, none was right
 * in four of five cases on new collections (docs/notes/auto.md). The advice therefore states how many samples moved and how to
 * get the alternative. */

/* Minimum number of samples: with fewer, only very clear clusters can be distinguished from noise. */
enum { ENOUGH = 100 };
/* Proportion of samples that moved below which the other data sets changed nothing worth reporting; mean agreement from
 * which members agree; and spreads of noise beyond which there is structure (find_k.c: Student's t, 23 degrees of
 * freedom: one in 200). */
static const double few = 0.01, agreed = 0.75, beyond_chance = 2.2;

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
		for (int64_t i = 0; i < b->n; i++)
			part[i] = b->label[i * b->count + m];
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

bool kdri_guard_noise(const kdri_guard *g, int64_t n, int64_t k)
{
	return k > 1 && n >= ENOUGH && g->beyond_noise < beyond_chance;
}

void kdri_guard_advice(const kdri_guard *g, int64_t n, int64_t k, const char *name, char *out, size_t room)
{
	const char *lead = g->large ? "clustered alone, because it is large\n" : "";
	if (k == 1)
		snprintf(out, room, "%s: there is only one cluster, so there is nothing to compare", name);
	else if (2 * g->voted < g->requested)
		snprintf(
		        out, room,
		        "%s: only %lld of %lld runs finished in time, so the clarity of the clusters was not assessed",
		        name, (long long)g->voted, (long long)g->requested);
	else if (!g->compared)
		snprintf(out, room, "%s: clustered together with the other data sets", name);
	else if (!g->transfer && !g->carried)
		snprintf(
		        out, room, "%s: %s%s", name, lead,
		        g->agreement >= agreed
		                ? "the methods agree"
		                : "the methods disagree; treat these clusters as one of several possible groupings, and try another -k");
	else if ((double)g->moved < few * (double)n)
		snprintf(out, room, "%s: " KDRI_HARDLY_MOVED, name);
	else
		snprintf(out, room, "%s: " KDRI_MOVED, name, (long long)g->moved, (long long)n);
}

typedef struct names {
	char text[256];
} names;

static const char *auto_report_name_of(const kdri_poll *a, int64_t t, names *room)
{
	if (a->problem->tasks[t].name)
		return a->problem->tasks[t].name;
	snprintf(room->text, sizeof room->text, "%lld", (long long)t + 1);
	return room->text;
}

/* --- members --------------------------------------------------------------------------------------------- */

/* --- tasks ------------------------------------------------------------------------------------------------ */

/* Centroids, and the number of samples to which they assign the same label as the answer: a measure of the quality of
 * predict. */
static kdr_status put_centroids(kdr_context *ctx, const kdri_poll *a, int64_t t)
{
	kdr_status st;
	const kdr_mat *x = &a->views.tasks[t].rows.view;
	int64_t n = kdr_mat_rows(x), d = kdr_mat_cols(x), *nearest = NULL, *kind = NULL, same = 0;
	double *means = NULL;
	KDRI_TRY(kdri_result_array(ctx, a->result, "centroids", t, KDR_FLOAT64, 2, (int64_t[]){ a->k[t], d },
	                           &means));
	KDRI_TRY(kdri_result_array(ctx, a->result, "unit_rows", t, KDR_INT64, 1, (int64_t[]){ 1 }, &kind));
	kind[0] = a->views.tasks[t].cosine;
	KDRI_TRY(cluster_means(ctx, x, a->answers[t].labels, a->k[t], means));
	if (a->derived) /* which nobody reads there */
		goto done;
	KDRI_TRY(KDRI_NEW(ctx, &nearest, n));
	KDRI_TRY(kdri_kmeans_assign(ctx, x, means, a->k[t], false, nearest));
	for (int64_t i = 0; i < n; i++)
		same += nearest[i] == a->answers[t].labels[i];
	KDRI_TRY(kdri_sum_int(ctx, &same, 1));
	KDRI_TRY(kdri_result_task_number(ctx, a->result, t, "predict_agreement",
	                                 (double)same / (double)a->views.rows[t]));
done:
	kdri_free(ctx, nearest);
	return st;
}

/* The mean of (E1) of probability_right.c over the samples of all ranks; each sample's value in `out` unless NULL. */
static kdr_status mean_right(kdr_context *ctx, const kdri_poll *a, int64_t t, const double *agreement,
                             double mean, double *out, double *all)
{
	*all = 0;
	for (int64_t i = 0; i < a->ballots[t].n; i++) {
		const double p = kdri_probability_right(agreement[i], mean, a->k[t]);
		*all += p / (double)a->views.rows[t];
		if (out)
			out[i] = p;
	}
	return kdri_sum(ctx, all, 1);
}

/* What the answer is compared with; the answer itself: nothing. */
static const kdri_verdict *alone_of(const kdri_poll *a, int64_t t)
{
	const kdri_alone *run = a->alone_runs[t];
	if (run && run->own_words.labels)
		return &run->own_words;
	return run ? &run->answer : a->alone[t].labels ? &a->alone[t] : &a->answers[t];
}

static kdr_status put_confidence(kdr_context *ctx, const kdri_poll *a, int64_t t, const kdri_guard *g)
{
	const double *agreement = a->answers[t].agreement;
	int64_t n = a->ballots[t].n;
	double *to = NULL, mean;
	KDRI_DO(kdri_result_array(ctx, a->result, "agreement", t, KDR_FLOAT64, 1, (int64_t[]){ n }, &to));
	memcpy(to, agreement, (size_t)n * sizeof *to);
	KDRI_DO(kdri_result_task_number(ctx, a->result, t, "agreement", g->agreement));
	KDRI_DO(kdri_result_array(ctx, a->result, "confidence", t, KDR_FLOAT64, 1, (int64_t[]){ n }, &to));
	KDRI_DO(mean_right(ctx, a, t, agreement, g->agreement, to, &mean));
	for (int64_t i = 0; a->known && i < n; i++)
		if (a->known[t].known[i] >= 0) {
			mean += (1 - to[i]) / (double)n;
			to[i] = 1;
		}
	KDRI_DO(kdri_result_task_number(ctx, a->result, t, "confidence", mean));
	if (g->transfer && g->compared) {
		KDRI_DO(mean_right(ctx, a, t, alone_of(a, t)->agreement, g->agreement_alone, NULL, &mean));
		KDRI_DO(kdri_result_task_number(ctx, a->result, t, "confidence_alone", mean));
	}
	return KDR_OK;
}

/* Of labels that were carried over, or of a level of the run alone: what has labelled them knows. */
static kdr_status put_given_confidence(kdr_context *ctx, const kdri_poll *a, int64_t t,
                                       const double *confidence)
{
	const int64_t n = a->ballots[t].n;
	double *to = NULL, mean = 0;
	KDRI_DO(kdri_result_array(ctx, a->result, "confidence", t, KDR_FLOAT64, 1, (int64_t[]){ n }, &to));
	for (int64_t i = 0; i < n; i++) {
		to[i] = confidence[i];
		mean += to[i] / (double)a->views.rows[t];
	}
	KDRI_DO(kdri_sum(ctx, &mean, 1));
	return kdri_result_task_number(ctx, a->result, t, "confidence", mean);
}

/* Which samples would be in another cluster, if that is known, and the number of these. */
static kdr_status put_moved(kdr_context *ctx, const kdri_poll *a, int64_t t, const kdri_guard *g,
                            const int64_t *moved, const int64_t *before)
{
	const int64_t n = a->ballots[t].n;
	int64_t *to = NULL;
	if (!g->compared)
		return KDR_OK;
	KDRI_DO(kdri_result_array(ctx, a->result, "moved", t, KDR_INT64, 1, (int64_t[]){ n }, &to));
	memcpy(to, moved, (size_t)n * sizeof *to);
	KDRI_DO(kdri_result_array(ctx, a->result, "before", t, KDR_INT64, 1, (int64_t[]){ n }, &to));
	for (int64_t i = 0; i < n; i++) /* carried labels may have fewer clusters */
		to[i] = before[i] < a->k[t] ? before[i] : -1;
	if (!g->transfer && !g->carried)
		return KDR_OK;
	KDRI_DO(kdri_result_task_number(ctx, a->result, t, "moved", (double)g->moved));
	KDRI_DO(kdri_result_task_number(ctx, a->result, t, "agreement_alone", g->with_alone));
	return kdri_result_task_number(ctx, a->result, t, "agreement_alone_kmeans", g->alone_kmeans);
}

/* Whether clusters are clearer than those of noise, which the run alone has tested before. */
static kdr_status put_beyond_noise(kdr_context *ctx, const kdri_poll *a, int64_t t, double *out)
{
	bool hurried = ctx->cancelled || ctx->timed_out || kdri_late(ctx);
	const kdr_mat leading = kdri_views_of(&a->views, KDRI_VIEW_LEADING, t);
	*out = a->alone_runs[t] ? a->alone_runs[t]->beyond_noise : NAN;
	KDRI_DO(kdri_any(ctx, &hurried));
	if (!a->alone_runs[t] && a->views.tasks[t].leading && !hurried &&
	    !kdri_repeats(ctx)) /* which nobody reads there */
		KDRI_DO(kdri_beyond_noise(ctx, &leading.as.dense, a->views.tasks[t].spread,
		                          a->views.tasks[t].cosine, a->k[t], out));
	if (!isnan(*out))
		KDRI_DO(kdri_result_task_number(ctx, a->result, t, "beyond_noise", *out));
	return KDR_OK;
}

/* The agreement of the members of a run alone about one of its levels. */
static kdr_status put_level_agreement(kdr_context *ctx, const kdri_poll *a, int64_t t)
{
	const kdri_alone *run = a->alone_runs[t];
	const int64_t n = a->ballots[t].n;
	double *to = NULL;
	if (!isnan(run->agreement))
		KDRI_DO(kdri_result_task_number(ctx, a->result, t, "agreement", run->agreement));
	if (!isnan(run->agreement_kmeans))
		KDRI_DO(kdri_result_task_number(ctx, a->result, t, "agreement_kmeans",
		                                run->agreement_kmeans));
	if (!run->agreements)
		return KDR_OK;
	KDRI_DO(kdri_result_array(ctx, a->result, "agreement", t, KDR_FLOAT64, 1, &n, &to));
	memcpy(to, run->agreements, (size_t)n * sizeof *to);
	return KDR_OK;
}

static kdr_status put_guard(kdr_context *ctx, const kdri_poll *a, int64_t t)
{
	kdr_status st;
	kdri_guard g;
	char text[512];
	names own;
	const kdri_alone *run = a->alone_runs[t];
	const kdri_carried *carried = kdri_evidence_carried(a->evidence, &a->order, t);
	int64_t n = a->ballots[t].n, *moved = NULL, *before = NULL;
	const int64_t k = run ? KDRI_MAX(a->k[t], run->k) : a->k[t];
	const char *name = auto_report_name_of(a, t, &own);
	KDRI_TRY(KDRI_NEW(ctx, &moved, n));
	KDRI_TRY(KDRI_NEW(ctx, &before, n));
	KDRI_TRY(kdri_guard_new(ctx, &a->ballots[t], &a->answers[t], alone_of(a, t), k, moved, before, &g));
	g.carried = carried != NULL;
	g.compared = alone_of(a, t) != &a->answers[t] || !g.transfer;
	g.large = a->T > 1 && a->views.options.together && !g.transfer && !g.carried;
	KDRI_TRY(put_moved(ctx, a, t, &g, moved, before));
	KDRI_TRY(put_beyond_noise(ctx, a, t, &g.beyond_noise));
	if (carried || (run && run->level))
		KDRI_TRY(put_given_confidence(ctx, a, t,
		                              carried ? carried->confidence : run->answer.agreement));
	else if (a->ballots[t].count > 1) /* the agreement of a single member with itself is meaningless */
		KDRI_TRY(put_confidence(ctx, a, t, &g));
	if (run && run->level) /* the run alone has compared this level with others */
		KDRI_TRY(put_level_agreement(ctx, a, t));
	else
		KDRI_TRY(kdri_result_task_number(ctx, a->result, t, "agreement_kmeans", g.with_kmeans));
	if (g.transfer)
		KDRI_TRY(kdri_result_task_number(ctx, a->result, t, "agreement_pooled", g.pooled));
	const int64_t candidates = run ? run->candidates : a->views.tasks[t].candidates;
	if (candidates > 0) {
		KDRI_TRY(kdri_result_task_number(ctx, a->result, t, "neighbour_candidates",
		                                 (double)candidates));
		KDRI_TRY(kdri_result_warn(
		        ctx, a->result,
		        "data set %s: nearest neighbours were searched among only %lld of %lld samples; use the option exact=yes to compare all",
		        name, (long long)candidates, (long long)a->views.rows[t]));
	}
	if (kdri_guard_noise(&g, a->views.rows[t], a->k[t]))
		KDRI_TRY(kdri_result_warn(ctx, a->result, KDRI_NO_CLEARER, name));
	kdri_guard_advice(&g, a->views.rows[t], a->k[t], name, text, sizeof text);
	KDRI_TRY(kdri_result_task_text(ctx, a->result, t, "advice", text));
done:
	KDRI_FREE(ctx, moved, before);
	return st;
}

/* --- between tasks ----------------------------------------------------------------------------------------- */

static kdr_status put_nearness(kdr_context *ctx, const kdri_poll *a, double *nearness)
{
	kdr_status st;
	const kdr_mat **rows = NULL;
	double *to = NULL;
	bool centred = a->views.mean != NULL, cosine = true, distance = true;
	KDRI_TRY(KDRI_NEW(ctx, &rows, a->T));
	for (int64_t t = 0; t < a->T; t++) {
		centred = centred && a->views.tasks[t].centred;
		cosine = cosine && a->views.tasks[t].cosine;
		distance = distance && !a->views.tasks[t].cosine;
	}
	/* Rows of unit length and other rows are not comparable, so the original rows are used. */
	for (int64_t t = 0; t < a->T; t++)
		rows[t] = cosine || distance ? &a->views.tasks[t].rows.view : &a->problem->tasks[t].x;
	KDRI_TRY(kdri_nearness(ctx, rows, a->T, cosine, centred ? a->views.mean : NULL, nearness));
	KDRI_TRY(kdri_result_relatedness(ctx, a->result, &to));
	for (int64_t t = 0; t < a->T; t++)
		for (int64_t s = 0; s < a->T; s++)
			to[kdri_caller_task(&a->order, t) * a->T + kdri_caller_task(&a->order, s)] =
			        nearness[t * a->T + s];
done:
	kdri_free(ctx, rows);
	return st;
}

/* Of k clusters, of the samples of all ranks. */
static kdr_status count_clusters(kdr_context *ctx, const kdri_poll *a, int64_t t, int64_t *sizes)
{
	memset(sizes, 0, (size_t)a->k[t] * sizeof *sizes);
	for (int64_t i = 0; i < a->ballots[t].n; i++)
		sizes[a->answers[t].labels[i]]++;
	return kdri_sum_int(ctx, sizes, a->k[t]);
}

static kdri_clusters clusters_of(const kdri_poll *a, int64_t t, const double *means, const int64_t *sizes)
{
	kdr_array c = kdr_result_array(a->result, "centroids", t);
	return (kdri_clusters){ c.shape[0], c.shape[1], c.data, means + t * c.shape[1], sizes, NULL };
}

static bool carries(const kdri_poll *a, int64_t t)
{
	return kdri_evidence_carried(a->evidence, &a->order, t) != NULL;
}

/* The cluster, in the task that it was carried over from, of cluster z of a task: that task's answer may have other labels than its run alone. */
static kdr_status find_origin(kdr_context *ctx, const kdri_poll *a, int64_t t, int64_t *origin)
{
	kdr_status st;
	const kdri_carried *carried = kdri_evidence_carried(a->evidence, &a->order, t);
	const int64_t j = kdri_task_at(&a->order, carried->from), n = a->ballots[j].n,
	              k = a->alone_runs[j]->k;
	int64_t *map = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &map, k));
	KDRI_TRY(kdri_align_labels(ctx, a->answers[j].labels, a->alone_runs[j]->answer.labels, n, k, map));
	for (int64_t z = 0; z < carried->k; z++)
		origin[z] = map[carried->of[z]];
done:
	kdri_free(ctx, map);
	return st;
}

static const kdr_correspondence *pair_of(const kdri_poll *a, int64_t t, int64_t s, kdr_correspondence *room)
{
	for (int64_t i = 0; i < kdr_result_correspondence_count(a->result); i++) {
		*room = kdr_result_correspondence_at(a->result, i);
		if (room->from == t && room->to == s)
			return room;
	}
	return NULL;
}

/* Of the clusters of t and their counterparts in s; rows are in the caller's order. */
static double *quality_of(const kdri_poll *a, double *const *quality, int64_t t, int64_t s)
{
	return quality[t] + kdri_caller_task(&a->order, s) * a->k[t];
}

/* The task that the clusters of task t come from. */
static int64_t origin_of(const kdri_poll *a, int64_t t)
{
	const kdri_carried *carried = kdri_evidence_carried(a->evidence, &a->order, t);
	return carried ? kdri_task_at(&a->order, carried->from) : t;
}

/* Clusters that were carried over match those they come from, and what these match in other tasks. */
static kdr_status put_carried_pairs(kdr_context *ctx, const kdri_poll *a, double *const *quality)
{
	kdr_status st = KDR_OK;
	int64_t *origin = NULL, most = 1, T = a->T;
	double *flow = NULL;
	kdr_correspondence room;
	for (int64_t t = 0; t < T; t++)
		most = KDRI_MAX(most, a->k[t]);
	KDRI_TRY(KDRI_NEW(ctx, &origin, T * most));
	for (int64_t t = 0; t < T; t++) {
		for (int64_t z = 0; z < a->k[t]; z++)
			origin[t * most + z] = z;
		if (carries(a, t))
			KDRI_TRY(find_origin(ctx, a, t, origin + t * most));
	}
	for (int64_t i = 0; i < T; i++)
		for (int64_t j = 0; j < T; j++) {
			const int64_t t = kdri_task_at(&a->order, i), s = kdri_task_at(&a->order, j);
			if (s == t || !(carries(a, t) || carries(a, s)) || !kdri_pair_reported(a->T, i, j))
				continue;
			const int64_t from = origin_of(a, t), to = origin_of(a, s);
			const kdr_correspondence *found = pair_of(a, from, to, &room);
			KDRI_TRY(kdri_result_correspondence(ctx, a->result, t, s, a->k[t], a->k[s], &flow));
			for (int64_t z = 0; z < a->k[t]; z++) {
				const int64_t x = origin[t * most + z];
				double right = 0;
				for (int64_t c = 0; c < a->k[s]; c++) {
					const int64_t y = origin[s * most + c];
					const double value = from == to ? (x == y) / (double)a->k[t]
					                     : found    ? found->matrix[x * found->cols + y]
					                                : 0;
					flow[z * a->k[s] + c] = value;
					right = value <= 0   ? right
					        : from == to ? KDRI_CARRIED_RIGHT
					                     : quality_of(a, quality, from, to)[x];
				}
				quality_of(a, quality, t, s)[z] = right;
			}
		}
done:
	kdri_free(ctx, origin);
	return st;
}

static kdr_status put_counterparts(kdr_context *ctx, const kdri_poll *a)
{
	kdr_status st;
	int64_t d = kdr_mat_cols(&a->views.tasks[0].rows.view), size;
	double *means = NULL, *flow = NULL, **quality = NULL;
	int64_t *sizes = NULL, most = 0;
	bool *named = NULL; /* T x most: clusters of known classes */
	for (int64_t t = 0; t < a->T; t++)
		most = KDRI_MAX(most, a->k[t]);
	KDRI_TRY(kdri_mul(ctx, a->T, d, &size));
	KDRI_TRY(KDRI_NEW(ctx, &means, size));
	KDRI_TRY(KDRI_NEW(ctx, &quality, a->T));
	KDRI_TRY(KDRI_NEW(ctx, &sizes, a->T * most));
	KDRI_TRY(KDRI_NEW0(ctx, &named, a->T * most));
	for (int64_t t = 0; t < a->T && a->known; t++)
		for (int64_t i = 0; i < a->known[t].n; i++)
			if (a->known[t].known[i] >= 0)
				named[t * most + a->known[t].known[i]] = true;
	for (int64_t i = 0; i < a->T; i++) {
		const int64_t t = kdri_task_at(&a->order, i);
		const kdr_mat *x = &a->views.tasks[t].rows.view;
		KDRI_TRY(kdri_mat_col_means(ctx, x, means + t * d));
		KDRI_TRY(count_clusters(ctx, a, t, sizes + t * most));
		KDRI_TRY(kdri_result_array(ctx, a->result, "match_quality", t, KDR_FLOAT64, 2,
		                           (int64_t[]){ a->T, a->k[t] }, &quality[t]));
		for (int64_t z = 0; z < a->k[t]; z++)
			quality_of(a, quality, t, t)[z] = 1;
	}
	for (int64_t i = 0; i < a->T; i++)
		for (int64_t j = 0; j < a->T; j++) {
			const int64_t t = kdri_task_at(&a->order, i), s = kdri_task_at(&a->order, j);
			kdri_clusters from = clusters_of(a, t, means, sizes + t * most),
			              to = clusters_of(a, s, means, sizes + s * most);
			if (s == t || carries(a, t) || carries(a, s) || !kdri_pair_reported(a->T, i, j))
				continue;
			KDRI_TRY(kdri_result_correspondence(ctx, a->result, t, s, from.k, to.k, &flow));
			if (a->known) {
				from.known = named + t * most;
				to.known = named + s * most;
			}
			KDRI_TRY(kdri_counterparts(ctx, &from, &to, flow, quality_of(a, quality, t, s)));
		}
	KDRI_TRY(put_carried_pairs(ctx, a, quality));
done:
	KDRI_FREE(ctx, means, sizes, named, quality);
	return st;
}

kdr_status kdri_poll_report(kdr_context *ctx, const kdri_poll *a)
{
	kdr_status st;
	double *nearness = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &nearness, a->T * a->T));
	char text[512] = "";
	size_t used = 0;
	for (int64_t m = 0; m < a->nmembers; m++) {
		double votes = 0;
		for (int64_t t = 0; t < a->T; t++)
			for (int64_t p = 0; p < a->ballots[t].count; p++)
				votes += a->ballots[t].member[p] == m ? a->ballots[t].weight[p] : 0;
		if (votes > 0 && used + 64 < sizeof text)
			used += (size_t)kdri_snprintf(text + used, sizeof text - used, "%s%s %.3g",
			                              used ? ", " : "", a->members[m].name,
			                              votes / (double)a->T);
	}
	/* If every data set has a level of its run alone, no ballot is left. */
	const char *members = used || !a->alone_runs[0] ? NULL : a->alone_runs[0]->members;
	KDRI_TRY(kdri_result_text(ctx, a->result, "members", members ? members : text));
	if (a->T > 1 && !a->derived)
		KDRI_TRY(put_nearness(ctx, a, nearness));
	for (int64_t i = 0; i < a->T; i++) {
		const int64_t t = kdri_task_at(&a->order, i);
		KDRI_TRY(put_centroids(ctx, a, t));
		KDRI_TRY(put_guard(ctx, a, t));
	}
	if (a->T > 1)
		KDRI_TRY(put_counterparts(ctx, a));
done:
	kdri_free(ctx, nearness);
	return st;
}
