/* auto on tables of numbers and categories. SPDX-License-Identifier: BSD-3-Clause
 *
 * Neighbours in a table share all its discrete values, so that their graph splits into the cells of the cross-table, and
 * a vote on that graph cannot join them again. For tables, members are mixtures and k-means, and the vote needs no
 * graph:
 *
 *   (E1)  columns: categories, numbers (prepared by prepare/table.c), weights of repeated columns      engine/mixture/mixed.c
 *   (E2)  members of each table alone: mixtures with shared and with own variances, k-means on encodings B and H; of all tables
 *         together: mixtures with shared and own variances, and one of each table that starts from those    tables_members.c
 *         DEVIATION: a table's means are subtracted only if that lowers BIC               kdri_mixed_find_centring
 *   (E3)  guard: g = [BIC(pooled, shared) - sum_t BIC(alone, shared)] / N. Tables share their segments if g < -0.2 or
 *         2 (sum_t LL_t - LL_pooled) / N < 0.5. Then {shared alone, shared pooled, own pooled, from pooled, k-means H} vote, else
 *         {shared alone twice, own alone, k-means B, k-means H}
 *   (E4)  vote: Z the stacked one-hot labels of the members, D = diag(Z Z'1); the k leading left singular vectors of D^-1/2 Z,
 *         unit rows, k-means                                                                        engine/ensemble/ensemble.c
 *         Known classes of rows then change    the answer                                       engine/ensemble/steer.c
 *   (E5)  confidence of the vote                                                                    tables_members.c
 *
 * New rows are labelled by the mean of the voting mixtures' posteriors. The measurements are in
 * docs/notes/tables.md. */
#include "engine/ensemble/poll.h"

#include "comm/comm.h"
#include "engine/ensemble/ensemble.h"
#include "engine/ensemble/vote.h"
#include "matrix/kept.h"

#include <stdio.h>

enum { MOST_ROWS = 20000, RUNS = 10, MAX_ITER = 300, USUAL_K = 4 };
/* beyond_chance: one of ten noise tables exceeds it (Student's t, 4 degrees of freedom). certain: estimated adjusted Rand index from which clusters
 * are not called noise, because a single column that separates them does so after shuffling as well. */
static const double most_gain = -0.2, most_loss = 0.5, few = 0.01, beyond_chance = 1.7, certain = 0.8;

static const char *const member_names[KDRI_MIX_MEMBERS] = {
	[KDRI_MIX_SHARED] = "mixture, shared variances",
	[KDRI_MIX_OWN] = "mixture, own variances",
	[KDRI_MIX_KMEANS_B] = "k-means",
	[KDRI_MIX_KMEANS_H] = "k-means, lighter categories",
	[KDRI_MIX_POOLED_SHARED] = "mixture of all tables, shared variances",
	[KDRI_MIX_POOLED_OWN] = "mixture of all tables, own variances",
	[KDRI_MIX_FROM_POOLED] = "mixture started from all tables",
};

bool kdri_is_table(const kdr_problem *problem)
{
	return problem->category != NULL;
}

/* --- the run --------------------------------------------------------------------------------------------------------------- */

/* (E3) */
static kdr_status guard(kdr_context *ctx, kdri_tables *t)
{
	const kdri_mixed *m = &t->all;
	double alone = 0, loglik = 0;
	int64_t all = 0, rows;
	for (int64_t s = 0; s < m->tables; s++) {
		const double own = t->votes[KDRI_MIX_SHARED].mixture[s].loglik;
		KDRI_DO(kdri_part(ctx, m->begin[s + 1] - m->begin[s], NULL, &rows));
		alone += kdri_mixed_bic(m, s, t->k[s], own, rows);
		loglik += own;
		all += rows;
	}
	if (!t->votes[KDRI_MIX_POOLED_SHARED].labels)
		return KDR_OK;
	const double pooled = t->votes[KDRI_MIX_POOLED_SHARED].mixture[0].loglik;
	t->bic_gain = (kdri_mixed_bic(m, -1, t->k[0], pooled, all) - alone) / (double)all;
	t->loss = 2 * (loglik - pooled) / (double)all;
	t->together = t->bic_gain < most_gain || t->loss < most_loss;
	return KDR_OK;
}

static int64_t weight_in(const kdri_tables *t, kdri_tables_member m, bool together)
{
	static const int alone[KDRI_MIX_MEMBERS] = {
		[KDRI_MIX_SHARED] = 2, [KDRI_MIX_OWN] = 1, [KDRI_MIX_KMEANS_B] = 1, [KDRI_MIX_KMEANS_H] = 1
	};
	static const int pooled[KDRI_MIX_MEMBERS] = { [KDRI_MIX_SHARED] = 1,
		                                      [KDRI_MIX_KMEANS_H] = 1,
		                                      [KDRI_MIX_POOLED_SHARED] = 1,
		                                      [KDRI_MIX_POOLED_OWN] = 1,
		                                      [KDRI_MIX_FROM_POOLED] = 1 };
	return t->votes[m].labels ? (together ? pooled : alone)[m] : 0;
}

int64_t kdri_tables_weight(const kdri_tables *t, kdri_tables_member m)
{
	return weight_in(t, m, t->together);
}

/* Whether the table has the labels of its run alone. */
static bool is_final(const kdri_tables *t, int64_t s)
{
	return kdri_evidence_use(t->evidence, t->order, s) == KDRI_USE_LABELS;
}

/* (E4) of one table. */
static kdr_status vote_on_table(kdr_context *ctx, const kdri_tables *t, int64_t s, bool together,
                                int64_t *labels)
{
	kdr_status st;
	const int64_t begin = t->all.begin[s], n = t->all.begin[s + 1] - begin, k = t->k[s];
	kdri_ensemble e = { .n = n };
	kdri_consensus c = { 0 };
	int64_t size, run = 0;
	for (int m = 0; m < KDRI_MIX_MEMBERS; m++)
		e.runs += weight_in(t, (kdri_tables_member)m, together);
	KDRI_TRY(kdri_mul(ctx, e.runs, n, &size));
	KDRI_TRY(KDRI_NEW(ctx, &e.offset, e.runs + 1));
	KDRI_TRY(KDRI_NEW(ctx, &e.label, size));
	for (int m = 0; m < KDRI_MIX_MEMBERS; m++)
		for (int64_t w = weight_in(t, (kdri_tables_member)m, together); w > 0; w--, run++)
			for (int64_t i = 0; i < n; i++)
				e.label[run * n + i] = (int32_t)t->votes[m].labels[begin + i];
	for (int64_t r = 0; r <= e.runs; r++)
		e.offset[r] = r * k;
	const kdri_consensus_options o = { .k = k,
		                           .most = k,
		                           .n_init = RUNS,
		                           .max_iter = MAX_ITER,
		                           .tol = 1e-6,
		                           .init = t->problem->tasks[s].init,
		                           .stream = (uint64_t)s };
	KDRI_TRY(kdri_consensus_new(ctx, &e, &o, &c));
	memcpy(labels, c.kmeans.labels, (size_t)n * sizeof *labels);
done:
	kdri_consensus_free(ctx, &c);
	kdri_ensemble_free(ctx, &e);
	return st;
}

/* Clusters of tables that share their segments have the numbers of the pooled mixture. */
static kdr_status number_alike(kdr_context *ctx, const kdri_tables *t, int64_t s, int64_t *labels)
{
	kdr_status st;
	const int64_t begin = t->all.begin[s], n = t->all.begin[s + 1] - begin, k = t->k[s];
	int64_t *to = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &to, k));
	KDRI_TRY(kdri_align_labels(ctx, t->votes[KDRI_MIX_POOLED_OWN].labels + begin, labels, n, k, to));
	for (int64_t i = 0; i < n; i++)
		labels[i] = to[labels[i]];
done:
	kdri_free(ctx, to);
	return st;
}

static kdr_status tables_vote(kdr_context *ctx, kdri_tables *t)
{
	const kdri_mixed *m = &t->all;
	KDRI_DO(KDRI_NEW(ctx, &t->answer, m->n));
	if (t->together && !t->evidence &&
	    !kdri_repeats(ctx)) /* what moved is reported for the main result only */
		KDRI_DO(KDRI_NEW(ctx, &t->alone, m->n));
	for (int64_t s = 0; s < m->tables; s++) {
		const kdri_alone *given = kdri_evidence_alone(t->evidence, t->order, s);
		if (is_final(t, s)) {
			memcpy(t->answer + m->begin[s], given->answer.labels,
			       (size_t)(m->begin[s + 1] - m->begin[s]) * sizeof *t->answer);
			continue;
		}
		KDRI_DO(vote_on_table(ctx, t, s, t->together, t->answer + m->begin[s]));
		if (t->together)
			KDRI_DO(number_alike(ctx, t, s, t->answer + m->begin[s]));
		if (t->alone)
			KDRI_DO(vote_on_table(ctx, t, s, false, t->alone + m->begin[s]));
	}
	return KDR_OK;
}

/* What is known about the rows of the tables first .. first + count - 1, which share their clusters. */
static kdr_status steer_tables(kdr_context *ctx, const kdri_tables *t, int64_t first, int64_t count,
                               bool together, int64_t *answer)
{
	kdr_status st;
	const int64_t begin = t->all.begin[first], n = t->all.begin[first + count] - begin, k = t->k[first];
	kdri_known_classes known = { 0 };
	kdri_ballot b = { 0 };
	int64_t runs = 0, at = 0;
	for (int m = 0; m < KDRI_MIX_MEMBERS; m++)
		runs += weight_in(t, (kdri_tables_member)m, together) > 0;
	KDRI_TRY(kdri_known_classes_new(ctx, t->problem, first, count, &known));
	KDRI_TRY(kdri_ballot_new(ctx, n, runs, &b));
	for (int m = 0; m < KDRI_MIX_MEMBERS; m++) {
		const int64_t weight = weight_in(t, (kdri_tables_member)m, together);
		const bool pooled = m == KDRI_MIX_POOLED_SHARED || m == KDRI_MIX_POOLED_OWN;
		if (weight == 0)
			continue;
		b.weight[at] = (double)weight;
		for (int64_t s = 0; s < count; s++) /* clusters of one table, or of all */
			for (int64_t i = t->all.begin[first + s]; i < t->all.begin[first + s + 1]; i++)
				b.label[(i - begin) * runs + at] =
				        (int32_t)(t->votes[m].labels[i] + (pooled ? 0 : s * k));
		at++;
	}
	if (known.nknown > 0)
		KDRI_TRY(kdri_steer(ctx, &known, &b, false, NULL, k, answer + begin));
done:
	kdri_known_classes_free(ctx, &known);
	kdri_ballot_free(ctx, &b);
	return st;
}

static kdr_status tables_steer(kdr_context *ctx, const kdri_tables *t)
{
	const int64_t T = t->all.tables;
	if (!kdri_has_known_classes(t->problem))
		return KDR_OK;
	if (t->together)
		KDRI_DO(steer_tables(ctx, t, 0, T, true, t->answer));
	for (int64_t s = 0; s < T && (t->alone || !t->together); s++) {
		if (!is_final(t, s)) /* otherwise the run alone has used it */
			KDRI_DO(steer_tables(ctx, t, s, 1, false, t->together ? t->alone : t->answer));
	}
	return KDR_OK;
}

/* How much clearer the clusters of each table are than those of its shuffled columns, which the run alone has found. */
static kdr_status find_beyond(kdr_context *ctx, kdri_tables *t)
{
	KDRI_DO(KDRI_NEW(ctx, &t->beyond, t->all.tables));
	for (int64_t s = 0; s < t->all.tables; s++) {
		const kdri_alone *given = kdri_evidence_alone(t->evidence, t->order, s);
		t->beyond[s] = given ? given->beyond_shuffled : NAN;
		if (!given && t->k[s] > 1 && !kdri_repeats(ctx))
			KDRI_DO(kdri_tables_beyond_shuffled(ctx, t, s, &t->beyond[s]));
	}
	return KDR_OK;
}

/* --- report
 * ---------------------------------------------------------------------------------------------------------- */

static kdr_status put_table_labels(kdr_context *ctx, const kdri_tables *t, int64_t s)
{
	const int64_t begin = t->all.begin[s], n = t->all.begin[s + 1] - begin;
	int64_t *labels = NULL, all;
	double *to = NULL, mean = 0;
	KDRI_DO(kdri_result_labels(ctx, t->result, s, &labels));
	memcpy(labels, t->answer + begin, (size_t)n * sizeof *labels);
	kdri_result_set_k(t->result, s, t->k[s]);
	KDRI_DO(kdri_result_array(ctx, t->result, "confidence", s, KDR_FLOAT64, 1, (int64_t[]){ n }, &to));
	memcpy(to, t->confidence + begin, (size_t)n * sizeof *to);
	for (int64_t i = 0; i < n; i++)
		mean += to[i];
	KDRI_DO(kdri_part(ctx, n, NULL, &all));
	KDRI_DO(kdri_sum(ctx, &mean, 1));
	KDRI_DO(kdri_result_task_number(ctx, t->result, s, "confidence", mean / (double)all));
	KDRI_DO(kdri_result_task_number(ctx, t->result, s, "agreement", t->agreement[s]));
	if (isfinite(t->beyond[s]))
		KDRI_DO(kdri_result_task_number(ctx, t->result, s, "beyond_shuffled", t->beyond[s]));
	return kdri_result_task_number(ctx, t->result, s, "estimated_ari", t->estimate[s]);
}

static const char *task_name(const kdri_tables *t, int64_t s, char *room, size_t size)
{
	if (t->problem->tasks[s].name)
		return t->problem->tasks[s].name;
	snprintf(room, size, "%lld", (long long)s + 1);
	return room;
}

/* Which samples the other tables moved, and the sentence about it. */
static kdr_status put_moved(kdr_context *ctx, const kdri_tables *t, int64_t s)
{
	kdr_status st = KDR_OK;
	const int64_t begin = t->all.begin[s], n = t->all.begin[s + 1] - begin, k = t->k[s];
	int64_t *moved = NULL, *before = NULL, *to = NULL, count = 0, all;
	char text[512], own[32];
	const char *name = task_name(t, s, own, sizeof own);
	KDRI_TRY(kdri_part(ctx, n, NULL, &all));
	const kdri_alone *given = kdri_evidence_alone(t->evidence, t->order, s);
	const int64_t *alone = given ? given->answer.labels : t->alone ? t->alone + begin : NULL;
	if (t->together && alone) {
		KDRI_TRY(KDRI_NEW(ctx, &to, k));
		KDRI_TRY(kdri_result_array(ctx, t->result, "moved", s, KDR_INT64, 1, (int64_t[]){ n },
		                           &moved));
		KDRI_TRY(kdri_result_array(ctx, t->result, "before", s, KDR_INT64, 1, (int64_t[]){ n },
		                           &before));
		KDRI_TRY(kdri_align_labels(ctx, t->answer + begin, alone, n, k, to));
		for (int64_t i = 0; i < n; i++) {
			before[i] = to[alone[i]];
			moved[i] = before[i] != t->answer[begin + i];
			count += moved[i];
		}
		KDRI_TRY(kdri_sum_int(ctx, &count, 1));
		KDRI_TRY(kdri_result_task_number(ctx, t->result, s, "moved", (double)count));
	}
	if (k > 1 && t->beyond[s] < beyond_chance && t->estimate[s] < certain) /* NaN: no */
		KDRI_TRY(kdri_result_warn(ctx, t->result, KDRI_NO_CLEARER, name));
	if (t->all.tables == 1)
		goto done; /* nothing to compare with */
	if (k == 1)
		snprintf(text, sizeof text, "%s: there is only one cluster, so there is nothing to compare",
		         name);
	else if (t->together && !alone)
		snprintf(text, sizeof text, "%s: clustered together with the other data sets", name);
	else if (t->together && (double)count < few * (double)all)
		snprintf(text, sizeof text, "%s: " KDRI_HARDLY_MOVED, name);
	else if (t->together)
		snprintf(text, sizeof text, "%s: " KDRI_MOVED, name, (long long)count, (long long)all);
	else
		snprintf(
		        text, sizeof text, "%s: %s", name,
		        !kdri_opt_bool(t->options, "transfer") ? "clustered alone"
		        : t->votes[KDRI_MIX_POOLED_SHARED].labels
		                ? "clustered separately, because common clusters fit the data sets less well"
		        : t->late
		                ? "clustered separately, because no time or memory was left for common clusters"
		                : "clustered separately, because the numbers of clusters differ");
	KDRI_TRY(kdri_result_task_text(ctx, t->result, s, "advice", text));
done:
	kdri_free(ctx, to);
	return st;
}

/* Clusters of one number are counterparts, if both tables have samples of it. */
static kdr_status put_pairs(kdr_context *ctx, const kdri_tables *t)
{
	kdr_status st;
	const int64_t T = t->all.tables, k = t->k[0];
	int64_t *sizes = NULL;
	double *flow = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &sizes, T * k));
	for (int64_t s = 0; s < T; s++)
		for (int64_t i = t->all.begin[s]; i < t->all.begin[s + 1]; i++)
			sizes[s * k + t->answer[i]]++;
	KDRI_TRY(kdri_sum_int(ctx, sizes, T * k));
	for (int64_t i = 0; i < T; i++)
		for (int64_t j = 0; j < T; j++) {
			const int64_t a = kdri_task_at(t->order, i), b = kdri_task_at(t->order, j);
			if (a == b || !kdri_pair_reported(T, i, j))
				continue;
			KDRI_TRY(kdri_result_correspondence(ctx, t->result, a, b, k, k, &flow));
			for (int64_t c = 0; c < k; c++)
				flow[c * k + c] =
				        sizes[a * k + c] > 0 && sizes[b * k + c] > 0 ? 1 / (double)k : 0;
		}
done:
	kdri_free(ctx, sizes);
	return st;
}

/* --- models ---------------------------------------------------------------------------------------------------------------------- */

/* The voting mixtures of table s, with their clusters numbered as those of the answer. */
static kdr_status put_table_model(kdr_context *ctx, const kdri_tables *t, int64_t s)
{
	kdr_status st;
	const int64_t begin = t->all.begin[s], n = t->all.begin[s + 1] - begin, k = t->k[s];
	kdri_mixture_member members[KDRI_MIX_MEMBERS];
	int64_t *to = NULL, count = 0;
	KDRI_TRY(KDRI_NEW(ctx, &to, KDRI_MIX_MEMBERS * k));
	for (int m = 0; m < KDRI_MIX_MEMBERS; m++) {
		const bool pooled = m == KDRI_MIX_POOLED_SHARED || m == KDRI_MIX_POOLED_OWN;
		if (!t->votes[m].mixture || kdri_tables_weight(t, (kdri_tables_member)m) == 0)
			continue;
		KDRI_TRY(kdri_align_labels(ctx, t->answer + begin, t->votes[m].labels + begin, n, k,
		                           to + count * k));
		members[count] = (kdri_mixture_member){ .mixture = &t->votes[m].mixture[pooled ? 0 : s],
			                                .pooled = pooled,
			                                .to = to + count * k };
		count++;
	}
	KDRI_TRY(
	        kdri_mixture_save(ctx, &t->all, s, members, count, t->means + s * t->all.numbers, t->result));
done:
	kdri_free(ctx, to);
	return st;
}

/* Of the rows here: how many a model would label as the answer does. */
static kdr_status put_predict_agreement(kdr_context *ctx, const kdri_tables *t, int64_t s)
{
	kdr_status st;
	const int64_t begin = t->all.begin[s], n = t->all.begin[s + 1] - begin;
	int64_t *labels = NULL, counts[2] = { n, 0 };
	KDRI_TRY(KDRI_NEW(ctx, &labels, n));
	KDRI_TRY(kdri_mixture_predict(ctx, t->result, s, &t->problem->tasks[s].x, labels, NULL));
	for (int64_t i = 0; i < n; i++)
		counts[1] += labels[i] == t->answer[begin + i];
	KDRI_TRY(kdri_sum_int(ctx, counts, 2));
	KDRI_TRY(kdri_result_task_number(ctx, t->result, s, "predict_agreement",
	                                 (double)counts[1] / (double)counts[0]));
done:
	kdri_free(ctx, labels);
	return st;
}

/* --- fit ----------------------------------------------------------------------------------------------------------------------------- */

static kdr_status tables_report(kdr_context *ctx, const kdri_tables *t)
{
	const int64_t T = t->all.tables;
	char text[512] = "";
	size_t used = 0;
	for (int m = 0; m < KDRI_MIX_MEMBERS; m++) {
		const int64_t weight = kdri_tables_weight(t, (kdri_tables_member)m);
		if (weight > 0)
			used += (size_t)kdri_snprintf(text + used, sizeof text - used, "%s%s %lld",
			                              used ? ", " : "", member_names[m], (long long)weight);
	}
	KDRI_DO(kdri_result_text(ctx, t->result, "members", text));
	KDRI_DO(kdri_mixture_save_columns(ctx, &t->all, t->result));
	for (int64_t i = 0; i < T; i++) {
		const int64_t s = kdri_task_at(t->order, i);
		KDRI_DO(put_table_labels(ctx, t, s));
		if (kdri_repeats(ctx))
			continue;
		KDRI_DO(put_moved(ctx, t, s));
		KDRI_DO(put_table_model(ctx, t, s));
		KDRI_DO(put_predict_agreement(ctx, t, s));
	}
	if (T > 1 && t->votes[KDRI_MIX_POOLED_SHARED].labels) {
		KDRI_DO(kdri_result_number(ctx, t->result, "shared_segments", t->together));
		KDRI_DO(kdri_result_number(ctx, t->result, "guard_bic", t->bic_gain));
		KDRI_DO(kdri_result_number(ctx, t->result, "guard_loss", t->loss));
	}
	if (t->together)
		KDRI_DO(put_pairs(ctx, t));
	return KDR_OK;
}

static const char kept_centred[] = "tables.centred";

/* Whether members that use all tables subtract each table's own means; k is known, or 4 is used. */
static kdr_status find_centring(kdr_context *ctx, kdri_tables *t)
{
	kdr_status st;
	bool centred = true;
	bool equal = true;
	for (int64_t s = 1; s < t->all.tables; s++)
		equal = equal && t->k[s] == t->k[0];
	if (!kdri_opt_bool(t->options, "transfer") || !equal) /* no member uses all tables */
		return KDR_OK;
	if (kdri_repeats(ctx) && kdri_kept_find(ctx, kept_centred, 0, &centred, sizeof centred)) {
		t->all.centred = t->some.centred = centred;
		return KDR_OK;
	}
	kdri_apart(ctx);
	st = kdri_mixed_find_centring(ctx, kdri_tables_some(t), t->k[0] > 0 ? t->k[0] : USUAL_K, &centred,
	                              t->k[0] > 0 ? &t->pooled : NULL);
	kdri_rejoin(ctx);
	KDRI_TRY(kdri_agree(ctx, st));
	t->all.centred = t->some.centred = centred;
	if (t->k[0] > 0)
		KDRI_TRY(kdri_kept_put(ctx, kept_centred, 0, &centred, sizeof centred));
done:
	return st;
}

kdr_status kdri_tables_begin(kdr_context *ctx, kdri_tables *t)
{
	const int64_t T = t->problem->ntasks;
	int64_t rows;
	KDRI_DO(kdri_mixed_new(ctx, t->problem, &t->all)); /* (E1) */
	KDRI_DO(KDRI_NEW(ctx, &t->k, T));
	KDRI_DO(KDRI_NEW0(ctx, &t->start, T));
	KDRI_DO(KDRI_NEW0(ctx, &t->means, T * t->all.numbers));
	for (int64_t i = 0; i < T; i++) {
		const int64_t s = kdri_task_at(t->order, i);
		const kdri_alone *given = kdri_evidence_alone(t->evidence, t->order, s);
		t->k[s] = is_final(t, s) ? given->k : t->problem->tasks[s].k;
		if (t->k[s] != t->problem->tasks[s].k) { /* the run alone has found it */
			KDRI_DO(kdri_k_report(ctx, t->result, s, &given->found));
			KDRI_DO(kdri_k_report_scores(ctx, t->result, s, &given->found));
		}
		KDRI_DO(kdri_part(ctx, t->all.begin[s + 1] - t->all.begin[s], &t->start[s], &rows));
	}
	t->later = t->k[0] == 0;
	KDRI_DO(kdri_mixed_some(ctx, &t->all, MOST_ROWS, &t->some, &t->whole));
	KDRI_DO(KDRI_TIMED("centring", find_centring(ctx, t)));
	KDRI_DO(KDRI_TIMED("number of clusters", kdri_tables_find_k(ctx, t)));
	/* If -k auto found fewer clusters than classes are known. */
	for (int64_t s = 0; s < t->all.tables; s++)
		if (t->problem->tasks[s].labels)
			t->k[s] = KDRI_MAX(t->k[s], KDRI_MIN(t->problem->classes,
			                                     t->all.begin[s + 1] - t->all.begin[s]));
	return KDR_OK;
}

kdr_status kdri_tables_answer(kdr_context *ctx, kdri_tables *t)
{
	const int64_t T = t->problem->ntasks;
	double total = 0;
	if (t->later)
		KDRI_DO(KDRI_TIMED("centring", find_centring(ctx, t)));
	KDRI_DO(kdri_mixed_means(ctx, &t->all, t->means));
	KDRI_DO(KDRI_TIMED("members", kdri_tables_members(ctx, t))); /* (E2) */
	KDRI_DO(guard(ctx, t));
	KDRI_DO(KDRI_TIMED("vote", tables_vote(ctx, t)));
	KDRI_DO(tables_steer(ctx, t));
	KDRI_DO(KDRI_TIMED("shuffled columns", find_beyond(ctx, t)));
	KDRI_DO(KDRI_TIMED("confidence", kdri_tables_confidence(ctx, t))); /* (E5) */
	/* Nothing is more certain than what is known. */
	for (int64_t s = 0; s < t->all.tables; s++) {
		const int64_t *known = t->problem->tasks[s].labels;
		for (int64_t i = t->all.begin[s]; known && i < t->all.begin[s + 1]; i++)
			if (known[i - t->all.begin[s]] >= 0)
				t->confidence[i] = 1;
	}
	KDRI_DO(tables_report(ctx, t));
	for (int64_t s = 0; s < T; s++)
		total -= t->votes[KDRI_MIX_SHARED].mixture[s].loglik;
	KDRI_DO(kdri_result_objective(ctx, t->result, total));
	kdri_result_stop(t->result,
	                 ctx->cancelled || ctx->timed_out ? kdri_stop_reason(ctx) : KDR_STOP_CONVERGED, 1);
	return KDR_OK;
}

void kdri_tables_free(kdr_context *ctx, kdri_tables *t)
{
	for (int m = 0; m < KDRI_MIX_MEMBERS; m++) {
		for (int64_t i = 0; t->votes[m].mixture && i < t->votes[m].nmixtures; i++)
			kdri_mixture_free(ctx, &t->votes[m].mixture[i]);
		KDRI_FREE(ctx, t->votes[m].mixture, t->votes[m].labels);
	}
	KDRI_FREE(ctx, t->k, t->start, t->means, t->answer, t->alone, t->confidence, t->estimate,
	          t->agreement, t->beyond);
	kdri_k_found_free(ctx, &t->found);
	kdri_pooled_free(ctx, &t->pooled);
	kdri_mixed_free(ctx, &t->all);
	kdri_mixed_free(ctx, &t->some);
}
