/* An ensemble votes on one target. SPDX-License-Identifier: BSD-3-Clause
 *
 * Members one after another, quick ones first, each with all threads inside; then the vote (tally.c). Where the shares of the classes
 * moved, the members that go by means are misled. Of each class k, with s_k its share in the source, a_k and b_k its mean
 * share among the votes of the members that go by means and of the others:
 *
 *   (E1)  share_k ~ s_k + the smaller of a_k - s_k and b_k - s_k where these have one sign, else s_k
 *
 * and the source's mean becomes that of its class means in these shares; at most share_rounds times, while they move. Then the vote is held
 * again. Shares differ by a twentieth between any two sets, and where members err much, errors alone move them: movements by less than
 * a twentieth, or than .3 of the share of samples on which two members differ (mean over pairs), are not believed.
 *
 * Time. Members have three quarters of what is left; one that ends later is left out, but for the first. */
#include "algo/transfer_auto/tally.h"

static const double share_of_time = 0.75, least_moved = 0.05, of_disagreement = 0.3, still_moving = 0.02;

void kdri_transfer_verdict_free(kdr_context *ctx, kdri_transfer_verdict *v)
{
	kdri_free(ctx, v->answer);
	kdri_free(ctx, v->votes);
	kdri_free(ctx, v->posterior);
	kdri_free(ctx, v->confidence);
	kdri_free(ctx, v->shares);
	for (int k = 0; k < KDRI_PLAIN; k++)
		kdri_free(ctx, v->plain[k]);
	*v = (kdri_transfer_verdict){ 0 };
}

/* Rows that are no numbers make a member useless. */
static bool is_finite(const double *p, int64_t count)
{
	for (int64_t i = 0; i < count; i++)
		if (!isfinite(p[i]))
			return false;
	return true;
}

static kdr_status run_member(kdri_transfer_tally *w, kdr_context *own, int64_t m, bool *late)
{
	const kdri_transfer_member *member = &kdri_transfer_members[m];
	bool asked = w->o->only < 0 || w->o->only == m;
	if (!asked)
		return KDR_OK;
	if (member->able && !member->able(&w->shared))
		return kdri_transfer_left_out(w, "", member->name,
		                              "it would need too much memory for so many samples");
	if (w->voters > 0 && (own->cancelled || own->timed_out ||
	                      kdri_iteration(own, "members", m, KDRI_TRANSFER_MEMBERS, NAN))) {
		*late = true;
		return own->cancelled ? KDR_OK : kdri_transfer_left_out(w, "time limit: ", member->name, "");
	}
	kdr_status st = member->run(own, &w->shared, w->p);
	if (st == KDR_ERR_MEMORY)
		return kdri_fail(w->ctx, st, "%s", own->error);
	if (st != KDR_OK)
		return kdri_transfer_left_out(w, "", member->name, own->error);
	if (!is_finite(w->p + w->first * w->c, w->n * w->c))
		return kdri_transfer_left_out(w, "", member->name, "its numbers grew beyond all bounds");
	if (w->voters > 0 && (own->cancelled || own->timed_out)) {
		*late = true;
		return own->cancelled ? KDR_OK : kdri_transfer_left_out(w, "time limit: ", member->name, "");
	}
	return kdri_transfer_tally_take(w, m);
}

static kdr_status run_members(kdri_transfer_tally *w, bool *late)
{
	kdr_status st = KDR_OK;
	kdr_context *ctx = w->ctx, own = *ctx;
	double now = kdri_now();
	if (ctx->deadline > 0)
		own.deadline = now + share_of_time * KDRI_MAX(ctx->deadline - now, 1e-9);
	for (int64_t m = 0; m < KDRI_TRANSFER_MEMBERS; m++)
		KDRI_TRY(run_member(w, &own, m, late));
	ctx->cancelled |= own.cancelled;
	if (w->voters == 0)
		st = kdri_fail(ctx, KDR_ERR_NUMERIC, "no member could label the target; the last said: %s",
		               own.error);
done:
	return st;
}

/* Means move with the shares of the classes, and with them what is centred. So the members that go by means are asked once
 * more, the sources' means being what they would be with the shares found. What tells sets apart moves the answers of those
 * that do not centre, too; and those that do assume that nothing moved: what both say is believed. */
static void find_shares(const kdri_transfer_tally *w, const double *known, double *share)
{
	double sum = 0;
	for (int64_t k = 0; k < w->c; k++) {
		double votes[2] = { 0, 0 }, found[2] = { 0, 0 };
		for (int m = 0; m < KDRI_TRANSFER_MEMBERS; m++) {
			bool centred = kdri_transfer_members[m].shares;
			for (int64_t i = 0; w->votes[m] && i < w->n; i++)
				found[centred] += w->votes[m][i] == k;
			votes[centred] += w->votes[m] ? (double)w->n : 0;
		}
		double plain = votes[0] > 0 ? found[0] / votes[0] - known[k] : 0,
		       centred = votes[1] > 0 ? found[1] / votes[1] - known[k] : 0;
		share[k] = known[k]; /* (E1) */
		if (plain * centred > 0)
			share[k] += fabs(plain) < fabs(centred) ? plain : centred;
		sum += share[k];
	}
	for (int64_t k = 0; k < w->c; k++)
		share[k] /= sum;
}

/* The share of samples that two members label differently, mean over pairs of them. */
static double disagreement(const kdri_transfer_tally *w)
{
	double differ = 0, pairs = 0;
	for (int a = 0; a < KDRI_TRANSFER_MEMBERS; a++)
		for (int b = 0; b < a && w->votes[a]; b++) {
			for (int64_t i = 0; w->votes[b] && i < w->n; i++)
				differ += w->votes[a][i] != w->votes[b][i];
			pairs += w->votes[b] != NULL;
		}
	return pairs > 0 ? differ / (pairs * (double)w->n) : 0;
}

static kdr_status vote_again(kdri_transfer_tally *w, bool *late)
{
	kdr_status st;
	kdr_context own = *w->ctx;
	double *share = NULL, *before = NULL;
	double least = KDRI_MAX(least_moved, of_disagreement * disagreement(w));
	bool asked = false;
	KDRI_TRY(KDRI_NEW(w->ctx, &share, w->c));
	KDRI_TRY(KDRI_NEW(w->ctx, &before, w->c));
	memcpy(before, w->d.share, (size_t)w->c * sizeof *before);
	w->shared.share = share;
	for (int64_t round = 0; round < w->o->share_rounds && !*late; round++) {
		double moved = 0;
		find_shares(w, w->d.share, share);
		for (int64_t k = 0; k < w->c; k++)
			moved += fabs(share[k] - before[k]) / 2;
		if (moved < (round == 0 ? least : still_moving))
			break; /* nearly the same means, nearly the same answers */
		memcpy(before, share, (size_t)w->c * sizeof *before);
		KDRI_TRY(kdri_transfer_views_reweigh(w->ctx, &w->v, share));
		for (int64_t m = 0; m < KDRI_TRANSFER_MEMBERS; m++)
			if (kdri_transfer_members[m].shares && w->votes[m])
				KDRI_TRY(run_member(w, &own, m, late));
		asked = true;
	}
	w->ctx->cancelled |= own.cancelled;
	if (asked)
		KDRI_TRY(kdri_transfer_tally_vote(w));
done:
	w->shared.share = w->d.share;
	kdri_free(w->ctx, share);
	kdri_free(w->ctx, before);
	return st;
}

/* --- what plain classifiers would say ---------------------------------------------------------------------- */

/* Methods svm and logreg with the costs they have by default, on the data as they came. */
static kdr_status ask_plain(kdri_transfer_tally *w, kdri_transfer_verdict *v)
{
	static const kdri_loss loss[] = { KDRI_LOSS_SQUARED_HINGE, KDRI_LOSS_LOGISTIC };
	static const double cost[] = { 1, 4 };
	kdr_status st = KDR_OK;
	for (int k = 0; k < KDRI_PLAIN && !w->ctx->cancelled && !w->ctx->timed_out; k++) {
		KDRI_TRY(KDRI_NEW(w->ctx, &v->plain[k], w->n));
		KDRI_TRY(kdri_transfer_classify(w->ctx, &w->d, &w->d.set.x.view, loss[k], cost[k], false,
		                                w->p));
		for (int64_t i = 0; i < w->n; i++) {
			int32_t answer;
			kdri_rest_answer(w->p + (w->first + i) * w->c, 1, w->c, &answer);
			v->plain[k][i] = w->d.labels[w->first + i] >= 0
			                         ? w->d.class_of[w->d.labels[w->first + i]]
			                         : w->d.class_of[answer];
		}
	}
done:
	return st;
}

/* 2 (1 - 2 e), e the errors of a classifier that tells source from target, in cross-validation. */
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
	KDRI_TRY(kdri_cost_by_folds(w->ctx, &r, &cost, 1, &best, &right));
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
	kdr_status st;
	kdri_transfer_tally w = kdri_transfer_tally_empty(ctx, options, result);
	kdri_transfer_verdict v = { .distance = NAN, .right = NAN };
	KDRI_TRY(kdri_domains_new(ctx, problem, result, &w.d));
	w.first = kdri_transfer_first(&w.d);
	w.n = kdri_transfer_count(&w.d);
	w.c = w.d.classes;
	KDRI_TRY(kdri_transfer_views_new(ctx, &w.d, options->neighbors, &w.v));
	w.shared = (kdri_transfer_work){ .d = &w.d, .v = &w.v, .share = w.d.share };
	KDRI_TRY(kdri_transfer_tally_room(ctx, &w));
	KDRI_TRY(run_members(&w, &v.late));     /* (E2) of auto_transfer.c */
	KDRI_TRY(kdri_transfer_tally_vote(&w)); /* (E3) of auto_transfer.c */
	if (options->only < 0 && !v.late && !ctx->cancelled && !ctx->timed_out)
		KDRI_TRY(vote_again(&w, &v.late));
	KDRI_TRY(kdri_transfer_tally_fill(&w, &v));
	if (options->plain) {
		KDRI_TRY(ask_plain(&w, &v));
		KDRI_TRY(find_distance(&w, &v));
	}
	*out = v;
	v = (kdri_transfer_verdict){ 0 };
done:
	kdri_transfer_verdict_free(ctx, &v);
	kdri_transfer_tally_free(ctx, &w);
	return st;
}
