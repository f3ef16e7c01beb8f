/* An ensemble votes on one target. SPDX-License-Identifier: BSD-3-Clause
 *
 * Members that predict held-out source samples poorly do not vote (gate.c). Neither do the members that centre each data
 * set, if source and target overlap: a classifier separates them with a Gini coefficient (2 AUC - 1) below 0.6, with the
 * source's class shares or with those estimated for the target (shares.c). A difference of means is then often due to
 * different class proportions.
 *
 * Members run (gate.c) and vote. If the class
 * proportions have changed, members based on class means are misled, but the others detect the change. With l_mi the
 * vote of member m on sample i,
 *
 *   (E1)  share_k = (sum over members m not based on class means of |{i: l_mi = k}| + 1) / (their votes + c)
 *
 * the source's mean becomes that of its class means with these proportions, the members based on class means run once
 * more, and the vote is repeated. Differences between the data sets and errors also change predictions. (E1) is
 * therefore used only if (E1) moves at least a tenth of the samples and if one of these holds (docs/notes/transfer.md
 * describes how the constants were chosen):
 *
 *   (E2)  the svm agrees with the vote on four fifths of the samples
 *   (E3)  classes appear to be absent from the target. Data that are not words: the members not based on class means agree
 *         with their majority in nine tenths of their votes, and classes that only the others find have a gap below 0.5
 *         (shares.c). Words: the classes of the source have a cohesion (views.c) of at least 0.5, and those of the vote less
 *         than three quarters of it, because a class was split; or the source's classes have less, and cohesion says nothing
 *
 * Time. Members have three quarters of the remaining time; one that ends later is skipped, except the first. */
/* Votes on one target: clusters that also vote, the answer, and its confidence.
 *
 * The vote itself is in engine/ensemble/vote.c. Confidence in class k of a sample:
 *
 *   (E4)  (2 fraction of members that vote k + mean over members of their posterior of k + (D^-1 W P)_ik) / 4
 */
#include <stdio.h>

#include "engine/ensemble/vote.h"
#include "engine/graph/spectrum.h"
#include "methods/transfer_auto/auto_transfer.h"

void kdri_transfer_tally_free(kdr_context *ctx, kdri_transfer_tally *w)
{
	for (int m = 0; m < KDRI_TRANSFER_MEMBERS; m++) {
		KDRI_FREE(ctx, w->votes[m], w->posteriors[m]);
	}
	for (int z = 0; z < KDRI_TRANSFER_CLUSTERINGS; z++)
		kdri_free(ctx, w->clusters[z]);
	KDRI_FREE(ctx, w->p, w->mean, w->vote, w->near);
	kdri_transfer_work_free(ctx, &w->shared);
	kdri_transfer_views_free(ctx, &w->v);
	kdri_domains_free(ctx, &w->d);
}

kdri_transfer_tally kdri_transfer_tally_empty(kdr_context *ctx, const kdri_transfer_options *options,
                                              kdr_result *result)
{
	kdri_transfer_tally w = {
		.ctx = ctx, .o = options, .frame = kdri_frame_new(ctx, result, 1), .rounds = 1
	};
	w.d.set.x.view = w.v.unit.view = w.v.z.view = kdr_mat_from_dense(NULL, 0, 0);
	w.v.joint = w.v.graph = kdri_transfer_graph_empty();
	return w;
}

kdr_status kdri_transfer_tally_room(kdr_context *ctx, kdri_transfer_tally *w)
{
	KDRI_DO(KDRI_NEW(ctx, &w->p, w->d.n * w->c));
	KDRI_DO(KDRI_NEW0(ctx, &w->mean, w->n * w->c));
	KDRI_DO(KDRI_NEW(ctx, &w->vote, w->n * w->c));
	return KDRI_NEW(ctx, &w->near, w->n * w->c);
}

kdr_status kdri_transfer_tally_begin(kdri_transfer_tally *w, const kdr_problem *problem)
{
	KDRI_DO(kdri_domains_new(w->ctx, problem, w->frame.result, &w->d));
	w->first = kdri_transfer_first(&w->d);
	w->n = kdri_transfer_count(&w->d);
	w->c = w->d.classes;
	KDRI_DO(kdri_transfer_views_new(w->ctx, &w->d, &w->o->joins, &w->v));
	w->shared =
	        (kdri_transfer_work){ .d = &w->d, .v = &w->v, .share = w->d.share, .tables = w->o->tables };
	return kdri_transfer_tally_room(w->ctx, w);
}

int64_t kdri_transfer_tally_majority(const kdri_transfer_tally *w, int64_t i)
{
	const int32_t *svm = w->votes[KDRI_TRANSFER_SVM], *logreg = w->votes[KDRI_TRANSFER_LOGREG],
	              *msda = w->votes[KDRI_TRANSFER_MSDA];
	if (logreg && msda && logreg[i] == msda[i])
		return logreg[i];
	return svm ? svm[i] : -1;
}

/* Withdraws the vote of member m. */
static void transfer_tally_drop(kdri_transfer_tally *w, int64_t m)
{
	w->frame.voters -= w->votes[m] != NULL;
	KDRI_FREE(w->ctx, w->votes[m], w->posteriors[m]);
	w->votes[m] = NULL;
	w->posteriors[m] = NULL;
}

kdr_status kdri_transfer_tally_take(kdri_transfer_tally *w, int64_t m, const double *all)
{
	const double *p = all + w->first * w->c;
	if (!w->votes[m]) {
		KDRI_DO(KDRI_NEW(w->ctx, &w->votes[m], w->n));
		KDRI_DO(KDRI_NEW(w->ctx, &w->posteriors[m], w->n * w->c));
		w->frame.voters++;
	}
	memcpy(w->posteriors[m], p, (size_t)(w->n * w->c) * sizeof *p);
	kdri_rest_answer(w->ctx, p, w->n, w->c, w->votes[m]);
	for (int64_t i = 0; i < w->n; i++) {
		int64_t known = w->d.labels[w->first + i];
		w->votes[m][i] = known >= 0 ? (int32_t)known : w->votes[m][i];
	}
	return KDR_OK;
}

/* --- clusters ------------------------------------------------------------------------------------------- */

/* Clusters of the target's graph; if they cannot be found, the vote does not use them. */
static kdr_status tally_cluster(kdri_transfer_tally *w, int64_t k)
{
	kdr_status st;
	kdr_context *ctx = w->ctx;
	kdri_spectral_options o = kdri_spectral_defaults(k);
	kdri_spectral_result r = { 0 };
	int64_t z = w->clusterings;
	o.landmarks = w->v.graph.landmarks;
	if (k >= w->n || ctx->cancelled || ctx->timed_out)
		return KDR_OK;
	st = kdri_spectral(ctx, &w->v.graph.edges.view, &o, &r);
	if (st == KDR_ERR_MEMORY && !ctx->over_limit)
		return st;
	if (st != KDR_OK)
		return kdri_frame_left_out(&w->frame, "", k > w->c ? "many clusters" : "clusters",
		                           ctx->error);
	KDRI_TRY(KDRI_NEW(ctx, &w->clusters[z], w->n));
	for (int64_t i = 0; i < w->n; i++)
		w->clusters[z][i] = (int32_t)r.labels[i];
	w->k[z] = k;
	w->clusterings++;
done:
	kdri_spectral_free(ctx, &r);
	return st;
}

/* --- the vote --------------------------------------------------------------------------------------------- */

/* How often the vote of member m counts. */
static int64_t transfer_weight(bool tables, int64_t m)
{
	return tables && kdri_transfer_members[m].tables ? 2 : 1;
}

kdr_status kdri_transfer_tally_vote(kdri_transfer_tally *w)
{
	const int32_t *votes[2 * KDRI_TRANSFER_MEMBERS];
	int64_t count = 0;
	const kdri_op graph = kdri_transfer_graph_op(&w->v.graph);
	for (int m = 0; m < KDRI_TRANSFER_MEMBERS; m++)
		for (int64_t k = 0; w->votes[m] && k < transfer_weight(w->o->tables, m); k++)
			votes[count++] = w->votes[m];
	if (w->frame.voters > 1 && w->clusterings == 0) {
		KDRI_DO(tally_cluster(w, w->c));
		KDRI_DO(tally_cluster(w, 3 * w->c));
	}
	const kdri_vote_problem p = { .n = w->n,
		                      .classes = w->c,
		                      .members = count,
		                      .votes = votes,
		                      .clusterings = w->clusterings,
		                      .clusters = (const int32_t *const *)w->clusters,
		                      .k = w->k,
		                      .graph = &graph,
		                      .known = w->d.labels + w->first,
		                      .rounds = w->frame.voters > 1 ? w->o->rounds : 0 };
	return kdri_vote(w->ctx, &p, w->vote, w->near);
}

/* The number of votes; members with double weight count twice. */
static double weight_of_all(const kdri_transfer_tally *w)
{
	int64_t sum = 0;
	for (int m = 0; m < KDRI_TRANSFER_MEMBERS; m++)
		sum += w->votes[m] ? transfer_weight(w->o->tables, m) : 0;
	return (double)sum;
}

/* (E4) */
static double how_sure(const kdri_transfer_tally *w, int64_t i, int64_t k)
{
	double votes = 0;
	if (w->d.labels[w->first + i] >= 0)
		return 1;
	for (int m = 0; m < KDRI_TRANSFER_MEMBERS; m++)
		votes += w->votes[m] && w->votes[m][i] == k ? (double)transfer_weight(w->o->tables, m) : 0;
	return (2 * votes / weight_of_all(w) + w->mean[i * w->c + k] + w->near[i * w->c + k]) / 4;
}

kdr_status kdri_transfer_tally_fill(kdri_transfer_tally *w, kdri_transfer_verdict *v)
{
	kdr_status st;
	int64_t c = w->c, all = w->d.set.classes;
	int32_t *best = NULL;
	KDRI_TRY(KDRI_NEW(w->ctx, &best, w->n));
	KDRI_TRY(KDRI_NEW(w->ctx, &v->answer, w->n));
	KDRI_TRY(KDRI_NEW(w->ctx, &v->confidence, w->n));
	KDRI_TRY(KDRI_NEW0(w->ctx, &v->posterior, w->n * all));
	KDRI_TRY(KDRI_NEW0(w->ctx, &v->shares, 2 * all));
	KDRI_TRY(KDRI_NEW(w->ctx, &v->votes, KDRI_TRANSFER_MEMBERS * w->n));
	for (int64_t m = 0; m < KDRI_TRANSFER_MEMBERS; m++)
		for (int64_t i = 0; i < w->n; i++)
			v->votes[m * w->n + i] = w->votes[m] ? w->d.class_of[w->votes[m][i]] : -1;
	v->n = w->n;
	v->classes = all;
	v->right = w->shared.scores ? w->shared.right : NAN;
	for (int m = 0; m < KDRI_TRANSFER_MEMBERS; m++)
		if (w->votes[m])
			kdri_axpy((double)transfer_weight(w->o->tables, m) / weight_of_all(w),
			          w->posteriors[m], w->mean, w->n * c);
	kdri_rest_answer(w->ctx, w->vote, w->n, c, best);
	for (int64_t k = 0; k < c; k++)
		v->shares[2 * w->d.class_of[k]] = w->d.share[k];
	for (int64_t i = 0; i < w->n; i++) {
		v->answer[i] = w->d.class_of[best[i]];
		v->confidence[i] = how_sure(w, i, best[i]);
		v->shares[2 * v->answer[i] + 1] += 1 / (double)w->n;
		for (int64_t k = 0; k < c; k++)
			v->posterior[i * all + w->d.class_of[k]] = w->mean[i * c + k];
		for (int m = 0; m < KDRI_TRANSFER_MEMBERS; m++)
			v->agreement[m] += w->votes[m] && w->votes[m][i] == best[i] ? 1 / (double)w->n : 0;
	}
	for (int m = 0; m < KDRI_TRANSFER_MEMBERS; m++) {
		v->used[m] = w->votes[m] != NULL;
		if (!v->name[m][0])
			snprintf(v->name[m], sizeof v->name[m], "%s", kdri_transfer_members[m].name);
	}
	v->few = w->v.few;
	v->late = w->frame.late;
done:
	kdri_free(w->ctx, best);
	return st;
}

static const double share_of_time = 0.75, least_separation = 0.6, least_moved = 0.1, least_agreed = 0.8,
                    least_united = 0.9, least_gap = 0.5, least_cohesion = 0.5, least_kept = 0.75;
enum { MOST_JOINED = 4000 };

void kdri_transfer_verdict_free(kdr_context *ctx, kdri_transfer_verdict *v)
{
	KDRI_FREE(ctx, v->answer, v->votes, v->posterior, v->confidence, v->shares, v->pi, v->unlike,
	          v->cluster);
	for (int k = 0; k < KDRI_PLAIN; k++)
		kdri_free(ctx, v->plain[k]);
	*v = (kdri_transfer_verdict){ 0 };
}

/* --- who votes ------------------------------------------------------------------------------------------- */

/* The estimated class shares of the target, from votes of svm, logreg and msda: shares.c. */
static kdr_status estimate_shares(const kdri_transfer_tally *w, const kdri_transfer_gate *gate, double *pi)
{
	kdr_status st;
	int64_t c = w->c, all = w->d.set.classes;
	double *a = NULL, *q = NULL;
	KDRI_TRY(KDRI_NEW(w->ctx, &a, c * c));
	KDRI_TRY(KDRI_NEW0(w->ctx, &q, c));
	for (int64_t i = 0; i < w->n; i++)
		q[kdri_transfer_tally_majority(w, i)] += 1 / (double)w->n;
	for (int64_t k = 0; k < c; k++) {
		double sum = 0;
		for (int64_t j = 0; j < c;
		     j++) /* no vote is impossible: one further sample is spread over all */
			sum += a[j * c + k] =
			        gate->confusion[w->d.class_of[j] * all + w->d.class_of[k]] + 1 / (double)c;
		for (int64_t j = 0; j < c; j++)
			a[j * c + k] /= sum;
		pi[k] = w->d.share[k];
	}
	KDRI_TRY(kdri_shares_estimate(w->ctx, a, q, c, pi));
done:
	KDRI_FREE(w->ctx, a, q);
	return st;
}

/* Whether source and target overlap, with the class shares of either. */
static kdr_status find_overlap(const kdri_transfer_tally *w, const double *pi, bool *out)
{
	kdr_status st;
	double *weight = NULL, plain, weighted;
	KDRI_TRY(KDRI_NEW(w->ctx, &weight, w->c));
	for (int64_t k = 0; k < w->c; k++)
		weight[k] = pi[k] / w->d.share[k];
	KDRI_TRY(kdri_transfer_separation(w->ctx, &w->v, NULL, &plain));
	KDRI_TRY(kdri_transfer_separation(w->ctx, &w->v, weight, &weighted));
	*out = plain < least_separation || weighted < least_separation; /* NaN: no */
done:
	kdri_free(w->ctx, weight);
	return st;
}

/* The estimated shares by the problem's classes. */
static kdr_status keep_shares(const kdri_transfer_tally *w, const double *pi, kdri_transfer_verdict *v)
{
	KDRI_DO(KDRI_NEW0(w->ctx, &v->pi, w->d.set.classes));
	for (int64_t k = 0; k < w->c; k++)
		v->pi[w->d.class_of[k]] = pi[k];
	return KDR_OK;
}

/* Whether member m votes only if it leads on held-out source samples. */
static bool transfer_must_lead(const kdri_transfer_options *o, int64_t m)
{
	return kdri_transfer_members[m].curved && !o->tables && o->only != m;
}

/* Sets v->excluded for members that do not vote. The votes of svm, logreg and msda are already available. */
static kdr_status exclude_members(kdri_transfer_tally *w, const kdri_transfer_gate *gate,
                                  kdri_transfer_verdict *v)
{
	kdr_status st;
	double *pi = NULL;
	bool must_lead[KDRI_TRANSFER_MEMBERS], overlap = false, others = false;
	for (int m = 0; m < KDRI_TRANSFER_MEMBERS; m++)
		must_lead[m] = transfer_must_lead(w->o, m);
	kdri_transfer_gate_exclude(gate->accuracy, must_lead, KDRI_TRANSFER_MEMBERS, gate->majority,
	                           v->excluded);
	for (int m = 0; m < KDRI_TRANSFER_MEMBERS; m++) {
		v->heldout[m] = gate->accuracy[m];
		others = others || (v->excluded[m] == KDRI_TRANSFER_VOTES && w->votes[m]);
	}
	if (!w->votes[KDRI_TRANSFER_SVM])
		return KDR_OK;
	KDRI_TRY(KDRI_NEW(w->ctx, &pi, w->c));
	KDRI_TRY(estimate_shares(w, gate, pi));
	KDRI_TRY(keep_shares(w, pi, v));
	KDRI_TRY(find_overlap(w, pi, &overlap));
	for (int m = 0; m < KDRI_TRANSFER_MEMBERS && overlap && others; m++)
		if (kdri_transfer_members[m].centres && v->excluded[m] == KDRI_TRANSFER_VOTES)
			v->excluded[m] = KDRI_TRANSFER_OVERLAP;
done:
	kdri_free(w->ctx, pi);
	return st;
}

static kdr_status run_members(kdri_transfer_tally *w, const kdri_transfer_gate *gate,
                              kdri_transfer_verdict *v)
{
	kdr_status st = KDR_OK;
	bool wanted[KDRI_TRANSFER_MEMBERS];
	w->frame = kdri_frame_new(w->ctx, w->frame.result, share_of_time);
	kdri_stage_start(&w->frame.own, "members", w->rounds * KDRI_TRANSFER_MEMBERS);
	if (gate->done) {
		static const bool first[KDRI_TRANSFER_MEMBERS] = {
			[KDRI_TRANSFER_SVM] = true, [KDRI_TRANSFER_LOGREG] = true, [KDRI_TRANSFER_MSDA] = true
		};
		KDRI_TRY(kdri_transfer_tally_ask(w, first));
		KDRI_TRY(exclude_members(w, gate, v));
	}
	for (int64_t m = 0; m < KDRI_TRANSFER_MEMBERS; m++)
		wanted[m] = !w->was_run[m] && v->excluded[m] == KDRI_TRANSFER_VOTES &&
		            (gate->done || !transfer_must_lead(w->o, m)) &&
		            (w->o->only < 0 || w->o->only == m);
	KDRI_TRY(kdri_transfer_tally_ask(w, wanted));
	for (int64_t m = 0; m < KDRI_TRANSFER_MEMBERS; m++)
		if (v->excluded[m] != KDRI_TRANSFER_VOTES && w->frame.voters > 1)
			transfer_tally_drop(w, m);
	KDRI_TRY(kdri_frame_end(&w->frame, KDR_ERR_NUMERIC,
	                        "no method could label the target; the last error was"));
done:
	kdri_stage_end(&w->frame.own, "members");
	return st;
}

/* (E1); how much of all samples it moves from class to class. */
static double find_shares(const kdri_transfer_tally *w, double *share)
{
	double votes = (double)w->c, moved = 0;
	for (int64_t k = 0; k < w->c; k++)
		share[k] = 1;
	for (int m = 0; m < KDRI_TRANSFER_MEMBERS; m++) {
		if (!w->votes[m] || kdri_transfer_members[m].centres)
			continue;
		for (int64_t i = 0; i < w->n; i++)
			share[w->votes[m][i]]++;
		votes += (double)w->n;
	}
	for (int64_t k = 0; k < w->c; k++) {
		share[k] /= votes;
		moved += fabs(share[k] - w->d.share[k]) / 2;
	}
	return moved;
}

/* The proportion of samples on which the svm on the original data and the vote agree. */
static kdr_status find_agreement(const kdri_transfer_tally *w, double *out)
{
	kdr_status st = KDR_OK;
	int32_t *answer = NULL;
	int64_t same = 0;
	*out = 0;
	if (!w->votes[KDRI_TRANSFER_SVM])
		return KDR_OK;
	KDRI_TRY(KDRI_NEW(w->ctx, &answer, w->n));
	kdri_rest_answer(w->ctx, w->vote, w->n, w->c, answer);
	for (int64_t i = 0; i < w->n; i++)
		same += answer[i] == w->votes[KDRI_TRANSFER_SVM][i];
	*out = (double)same / (double)w->n;
done:
	kdri_free(w->ctx, answer);
	return st;
}

/* The class that most members that centre each data set vote for, or most others; the lowest of equals. The proportion of
 * their votes that agree with it; NaN: there are no such members. */
static kdr_status find_majority(const kdri_transfer_tally *w, bool centred, int32_t *answer, double *agreed)
{
	kdr_status st;
	double *votes = NULL, members = 0, same = 0;
	KDRI_TRY(KDRI_NEW0(w->ctx, &votes, w->n * w->c));
	for (int m = 0; m < KDRI_TRANSFER_MEMBERS; m++) {
		if (!w->votes[m] || kdri_transfer_members[m].centres != centred)
			continue;
		members++;
		for (int64_t i = 0; i < w->n; i++)
			votes[i * w->c + w->votes[m][i]]++;
	}
	kdri_rest_answer(w->ctx, votes, w->n, w->c, answer);
	for (int64_t i = 0; i < w->n; i++)
		same += votes[i * w->c + answer[i]];
	*agreed = members > 0 ? same / (members * (double)w->n) : NAN;
done:
	kdri_free(w->ctx, votes);
	return st;
}

/* (E3), words: whether the vote has split a class, as far as neighbours show it. */
static kdr_status find_split(const kdri_transfer_tally *w, bool *out)
{
	kdr_status st;
	int64_t *rows = NULL;
	int32_t *labels = NULL, *answer = NULL;
	double cohesion[2]; /* of the source, of the target */
	KDRI_TRY(KDRI_NEW(w->ctx, &rows, w->d.n));
	KDRI_TRY(KDRI_NEW(w->ctx, &labels, w->d.n));
	KDRI_TRY(KDRI_NEW(w->ctx, &answer, w->n));
	kdri_rest_answer(w->ctx, w->vote, w->n, w->c, answer);
	for (int target = 0; target < 2; target++) {
		int64_t count = 0, kept = 0;
		for (int64_t i = target ? w->first : 0; i < (target ? w->d.n : w->first); i++)
			if (target || w->d.labels[i] >= 0)
				rows[count++] = i;
		const int64_t step = KDRI_MAX(count / MOST_JOINED, 1);
		for (int64_t i = 0; i < count; i += step, kept++) {
			rows[kept] = rows[i];
			labels[kept] = target ? answer[rows[i] - w->first] : (int32_t)w->d.labels[rows[i]];
		}
		KDRI_TRY(kdri_transfer_cohesion(w->ctx, &w->v, rows, labels, kept, &cohesion[target]));
	}
	*out = cohesion[0] < least_cohesion || cohesion[1] < least_kept * cohesion[0]; /* NaN: no */
done:
	KDRI_FREE(w->ctx, rows, labels, answer);
	return st;
}

/* (E3) */
static kdr_status find_absent(const kdri_transfer_tally *w, const double *share, bool *out)
{
	kdr_status st;
	int32_t *answer = NULL;
	double plain, centred, gap;
	*out = false;
	KDRI_TRY(KDRI_NEW(w->ctx, &answer, w->n));
	KDRI_TRY(find_majority(w, false, answer, &plain));
	KDRI_TRY(find_majority(w, true, answer, &centred));
	if (!isnan(centred) && w->v.words)
		KDRI_TRY(find_split(w, out));
	if (isnan(centred) || !(plain >= least_united) || w->v.words)
		goto done;
	const kdri_absence p = { .v = &w->v, .aligned = answer, .plain = share };
	KDRI_TRY(kdri_transfer_gap(w->ctx, &p, &gap));
	*out = gap < least_gap; /* NaN: no */
done:
	kdri_free(w->ctx, answer);
	return st;
}

static kdr_status vote_again(kdri_transfer_tally *w, kdri_transfer_verdict *v)
{
	kdr_status st;
	double *share = NULL, agreed;
	bool again[KDRI_TRANSFER_MEMBERS];
	KDRI_TRY(find_agreement(w, &agreed));
	KDRI_TRY(KDRI_NEW(w->ctx, &share, w->c));
	if (find_shares(w, share) < least_moved)
		goto done;
	if (agreed < least_agreed) { /* not (E2) */
		KDRI_TRY(find_absent(w, share, &v->absent));
		if (!v->absent)
			goto done;
	}
	w->shared.share = share;
	w->frame.own.deadline = w->ctx->deadline;
	kdri_transfer_views_reweigh(w->ctx, &w->v, share);
	for (int64_t m = 0; m < KDRI_TRANSFER_MEMBERS; m++)
		again[m] =
		        kdri_transfer_members[m].centres && !kdri_transfer_members[m].tables && w->votes[m];
	/* Members for tables cannot take the proportions into account. */
	for (int64_t m = 0; m < KDRI_TRANSFER_MEMBERS && v->absent; m++)
		if (kdri_transfer_members[m].centres && kdri_transfer_members[m].tables)
			transfer_tally_drop(w, m);
	KDRI_TRY(kdri_transfer_tally_ask(w, again));
	KDRI_TRY(kdri_frame_end(&w->frame, KDR_ERR_NUMERIC, ""));
	KDRI_TRY(kdri_transfer_tally_vote(w));
	v->followed = true;
done:
	w->shared.share = w->d.share;
	kdri_transfer_views_reweigh(w->ctx, &w->v, NULL);
	kdri_free(w->ctx, share);
	return st;
}

/* --- plain classifiers ------------------------------------------------------------------------------------ */

/* Methods svm and logreg with their default costs, on the original data. */
static kdr_status ask_plain(kdri_transfer_tally *w, kdri_transfer_verdict *v)
{
	static const kdri_loss loss[] = { KDRI_LOSS_SQUARED_HINGE, KDRI_LOSS_LOGISTIC };
	static const double cost[] = { 1, 4 };
	for (int k = 0; k < KDRI_PLAIN && !w->ctx->cancelled && !w->ctx->timed_out; k++) {
		KDRI_DO(KDRI_NEW(w->ctx, &v->plain[k], w->n));
		KDRI_DO(kdri_transfer_classify(w->ctx, &w->d, &w->d.set.x.view, loss[k], cost[k], false,
		                               w->p));
		for (int64_t i = 0; i < w->n; i++) {
			const int64_t known = w->d.labels[w->first + i];
			v->plain[k][i] =
			        w->d.class_of[known >= 0
			                              ? known
			                              : kdri_rest_best(w->p + (w->first + i) * w->c, w->c)];
		}
	}
	return KDR_OK;
}

/* 2 (1 - 2 e), e the cross-validation error of a classifier that separates source from target. */
static kdr_status find_distance(kdri_transfer_tally *w, kdri_transfer_verdict *v)
{
	static const double cost = 1;
	kdr_status st;
	int64_t *set = NULL;
	double right, best;
	v->distance = NAN;
	if (w->ctx->cancelled || w->ctx->timed_out)
		return KDR_OK;
	KDRI_TRY(KDRI_NEW(w->ctx, &set, w->d.n));
	for (int64_t i = 0; i < w->d.n; i++)
		set[i] = i >= w->first;
	const kdri_rest r = { .x = &w->v.z.view,
		              .labels = set,
		              .classes = 2,
		              .loss = KDRI_LOSS_LOGISTIC,
		              .free_bias = w->v.free_bias,
		              .stage = "distance" };
	KDRI_TRY(kdri_transfer_folds(w->ctx, &w->v, &r, &cost, 1, &best, &right));
	v->distance = KDRI_MAX(0, 2 * (2 * right - 1));
done:
	kdri_free(w->ctx, set);
	return st;
}

/* (E1) to (E4) of auto_transfer.c, one after the other. */
kdr_status kdri_transfer_verdict_new(kdr_context *ctx, const kdr_problem *problem,
                                     const kdri_transfer_options *options, kdr_result *result,
                                     kdri_transfer_verdict *out)
{
	kdr_status st = KDR_OK;
	kdri_transfer_tally w = kdri_transfer_tally_empty(ctx, options, result);
	kdri_transfer_verdict v = { .distance = NAN, .right = NAN };
	kdri_transfer_gate gate = { 0 };
	if (options->gate && options->only < 0)
		st = KDRI_TIMED("accuracy on held-out samples",
		                kdri_transfer_gate_new(ctx, problem, options, &gate));
	if (kdri_over_limit(ctx, st))
		st = !w.frame.result
		             ? KDR_OK
		             : kdri_result_warn(ctx, w.frame.result,
		                                "the methods were not compared on held-out samples: %s",
		                                ctx->error);
	KDRI_TRY(st);
	KDRI_TRY(KDRI_TIMED("views", kdri_transfer_tally_begin(&w, problem)));
	w.round = gate.done ? 2 : 0;
	w.rounds = gate.done ? 3 : 1;
	KDRI_TRY(run_members(&w, &gate, &v)); /* (E2) of auto_transfer.c */
	kdri_transfer_views_rest(ctx, &w.v);
	KDRI_TRY(KDRI_TIMED("vote", kdri_transfer_tally_vote(&w))); /* (E3) of auto_transfer.c */
	KDRI_TRY(kdri_transfer_views_return(ctx, &w.v));
	if (options->only < 0 && options->follow_shares && !w.frame.late && !ctx->cancelled &&
	    !ctx->timed_out)
		KDRI_TRY(KDRI_TIMED("second vote", vote_again(&w, &v)));
	KDRI_TRY(kdri_transfer_tally_fill(&w, &v));
	if (options->plain) {
		KDRI_TRY(KDRI_TIMED("plain classifiers", ask_plain(&w, &v)));
		KDRI_TRY(KDRI_TIMED("distance of source and target", find_distance(&w, &v)));
		KDRI_TRY(KDRI_TIMED("unlike the source", kdri_transfer_unlike(&w, &v)));
	}
	*out = v;
	v = (kdri_transfer_verdict){ 0 };
done:
	kdri_transfer_verdict_free(ctx, &v);
	kdri_transfer_tally_free(ctx, &w);
	kdri_transfer_gate_free(ctx, &gate);
	return st;
}
