/* An ensemble votes on one target. SPDX-License-Identifier: BSD-3-Clause
 *
 * Members one after another, quick ones first, each with all threads inside; then two clusterings of the target's graph,
 * and the vote (engine/vote/vote.c). How sure a sample's class k is:
 *
 *   (E1)  (2 share of members that vote k + mean over members of their posterior of k + (D^-1 W P)_ik) / 4
 *
 * Where the shares of the classes moved, the vote finds out, and is held again:
 *
 *   (E2)  share_k = (sum_i P_ik + 1) / (n + c), and the source's mean becomes that of its class means in these shares
 *
 * Time. Members have three quarters of what is left; one that ends later is left out, but for the first. */
#include "algo/transfer_auto/verdict.h"

#include "engine/graph/spectral.h"
#include "engine/vote/vote.h"

#include <stdio.h>

enum { CLUSTERINGS = 2 };
static const double share_of_time = 0.75, least_moved = 0.02;

typedef struct work {
	kdr_context *ctx;
	const kdri_transfer_options *o;
	kdr_result *result;
	kdri_domains d;
	kdri_transfer_views v;
	kdri_transfer_work shared;
	int64_t first, n, c;                       /* the target's rows, and classes that have samples */
	double *posteriors[KDRI_TRANSFER_MEMBERS]; /* n x c each */
	int32_t *votes[KDRI_TRANSFER_MEMBERS], *clusters[CLUSTERINGS];
	int64_t k[CLUSTERINGS], clusterings;
	double *p, *mean;    /* all rows x c; n x c: mean of the posteriors */
	double *vote, *near; /* n x c */
	int64_t voters;
} work;

static void work_free(kdr_context *ctx, work *w)
{
	for (int m = 0; m < KDRI_TRANSFER_MEMBERS; m++) {
		kdri_free(ctx, w->votes[m]);
		kdri_free(ctx, w->posteriors[m]);
	}
	for (int z = 0; z < CLUSTERINGS; z++)
		kdri_free(ctx, w->clusters[z]);
	kdri_free(ctx, w->p);
	kdri_free(ctx, w->mean);
	kdri_free(ctx, w->vote);
	kdri_free(ctx, w->near);
	kdri_transfer_work_free(ctx, &w->shared);
	kdri_transfer_views_free(ctx, &w->v);
	kdri_domains_free(ctx, &w->d);
}

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

/* --- members ------------------------------------------------------------------------------------------- */

static kdr_status take_vote(work *w, int64_t m)
{
	kdr_status st = KDR_OK;
	const double *p = w->p + w->first * w->c;
	if (!w->votes[m]) {
		KDRI_TRY(KDRI_NEW(w->ctx, &w->votes[m], w->n));
		KDRI_TRY(KDRI_NEW(w->ctx, &w->posteriors[m], w->n * w->c));
		w->voters++;
	}
	memcpy(w->posteriors[m], p, (size_t)(w->n * w->c) * sizeof *p);
	kdri_rest_answer(p, w->n, w->c, w->votes[m]);
	for (int64_t i = 0; i < w->n; i++) {
		int64_t known = w->d.labels[w->first + i];
		w->votes[m][i] = known >= 0 ? (int32_t)known : w->votes[m][i];
	}
done:
	return st;
}

static kdr_status left_out(const work *w, const char *why, const char *name, const char *more)
{
	if (!w->result)
		return KDR_OK;
	return kdri_result_warn(w->ctx, w->result, "%smember '%s' is left out%s%s", why, name,
	                        *more ? ": " : "", more);
}

/* Rows that are no numbers make a member useless. */
static bool is_finite(const double *p, int64_t count)
{
	for (int64_t i = 0; i < count; i++)
		if (!isfinite(p[i]))
			return false;
	return true;
}

static kdr_status run_member(work *w, kdr_context *own, int64_t m, bool *late)
{
	const kdri_transfer_member *member = &kdri_transfer_members[m];
	bool asked = w->o->only < 0 || w->o->only == m;
	if (!asked)
		return KDR_OK;
	if (member->able && !member->able(&w->shared))
		return left_out(w, "", member->name, "it would need too much memory for so many samples");
	if (w->voters > 0 && (own->cancelled || own->timed_out ||
	                      kdri_iteration(own, "members", m, KDRI_TRANSFER_MEMBERS, NAN))) {
		*late = true;
		return own->cancelled ? KDR_OK : left_out(w, "time limit: ", member->name, "");
	}
	kdr_status st = member->run(own, &w->shared, w->p);
	if (st == KDR_ERR_MEMORY)
		return kdri_fail(w->ctx, st, "%s", own->error);
	if (st != KDR_OK)
		return left_out(w, "", member->name, own->error);
	if (!is_finite(w->p + w->first * w->c, w->n * w->c))
		return left_out(w, "", member->name, "its numbers grew beyond all bounds");
	if (w->voters > 0 && (own->cancelled || own->timed_out)) {
		*late = true;
		return own->cancelled ? KDR_OK : left_out(w, "time limit: ", member->name, "");
	}
	return take_vote(w, m);
}

static kdr_status run_members(work *w, bool *late)
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

/* --- clusters ------------------------------------------------------------------------------------------- */

/* Clusters of the target's graph; where they cannot be found the vote does without. */
static kdr_status cluster(work *w, int64_t k)
{
	kdr_status st;
	kdr_context *ctx = w->ctx;
	kdri_spectral_options o = kdri_spectral_defaults(k);
	kdri_spectral_result r = { 0 };
	int64_t z = w->clusterings;
	if (k >= w->n || ctx->cancelled || ctx->timed_out)
		return KDR_OK;
	st = kdri_spectral(ctx, &w->v.graph.view, &o, &r);
	if (st == KDR_ERR_MEMORY)
		return st;
	if (st != KDR_OK)
		return left_out(w, "", k > w->c ? "many clusters" : "clusters", ctx->error);
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

static kdr_status run_vote(work *w)
{
	kdr_status st;
	const int32_t *votes[KDRI_TRANSFER_MEMBERS];
	int64_t count = 0;
	for (int m = 0; m < KDRI_TRANSFER_MEMBERS; m++)
		if (w->votes[m])
			votes[count++] = w->votes[m];
	if (count > 1 && w->clusterings == 0) {
		KDRI_TRY(cluster(w, w->c));
		KDRI_TRY(cluster(w, 3 * w->c));
	}
	const kdri_vote_problem p = { .n = w->n,
		                      .classes = w->c,
		                      .members = count,
		                      .votes = votes,
		                      .clusterings = w->clusterings,
		                      .clusters = (const int32_t *const *)w->clusters,
		                      .k = w->k,
		                      .graph = &w->v.graph.view,
		                      .known = w->d.labels + w->first,
		                      .rounds = count > 1 ? w->o->rounds : 0 };
	KDRI_TRY(kdri_vote(w->ctx, &p, w->vote, w->near));
done:
	return st;
}

/* Means move with the shares of the classes, and with them what is centred. So the members that go by means are asked once
 * more, the sources' means being what they would be with the shares that the first vote found. */
static kdr_status vote_again(work *w, bool *late)
{
	kdr_status st;
	kdr_context own = *w->ctx;
	double *share = NULL;
	KDRI_TRY(KDRI_NEW0(w->ctx, &share, w->c));
	for (int64_t k = 0; k < w->c; k++) {
		for (int64_t i = 0; i < w->n; i++)
			share[k] += w->vote[i * w->c + k];
		share[k] = (share[k] + 1) / (double)(w->n + w->c); /* (E2) */
	}
	double moved = 0;
	for (int64_t k = 0; k < w->c; k++)
		moved += fabs(share[k] - w->d.share[k]) / 2;
	if (moved < least_moved) /* the same means, the same answers */
		goto done;
	w->shared.share = share;
	KDRI_TRY(kdri_transfer_views_reweigh(w->ctx, &w->v, share, w->o->neighbors));
	for (int64_t m = 0; m < KDRI_TRANSFER_MEMBERS; m++)
		if (kdri_transfer_members[m].shares && w->votes[m])
			KDRI_TRY(run_member(w, &own, m, late));
	w->ctx->cancelled |= own.cancelled;
	KDRI_TRY(run_vote(w));
done:
	kdri_free(w->ctx, share);
	return st;
}

/* (E1) */
static double how_sure(const work *w, int64_t i, int64_t k)
{
	double votes = 0;
	if (w->d.labels[w->first + i] >= 0)
		return 1;
	for (int m = 0; m < KDRI_TRANSFER_MEMBERS; m++)
		votes += w->votes[m] && w->votes[m][i] == k;
	return (2 * votes / (double)w->voters + w->mean[i * w->c + k] + w->near[i * w->c + k]) / 4;
}

static kdr_status fill(work *w, kdri_transfer_verdict *v)
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
	for (int m = 0; m < KDRI_TRANSFER_MEMBERS; m++)
		if (w->votes[m])
			kdri_axpy(1 / (double)w->voters, w->posteriors[m], w->mean, w->n * c);
	kdri_rest_answer(w->vote, w->n, c, best);
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
	v->right = w->shared.scores ? w->shared.right : NAN;
	v->few = w->v.few;
done:
	kdri_free(w->ctx, best);
	return st;
}

/* --- what plain classifiers would say ---------------------------------------------------------------------- */

static kdr_status ask_plain(work *w, kdri_transfer_verdict *v)
{
	static const kdri_loss loss[] = { KDRI_LOSS_SQUARED_HINGE, KDRI_LOSS_LOGISTIC };
	kdr_status st = KDR_OK;
	for (int k = 0; k < KDRI_PLAIN && !w->ctx->cancelled && !w->ctx->timed_out; k++) {
		KDRI_TRY(KDRI_NEW(w->ctx, &v->plain[k], w->n));
		KDRI_TRY(kdri_transfer_classify(w->ctx, &w->d, &w->v.z.view, loss[k], 1, w->v.free_bias,
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
static kdr_status find_distance(work *w, kdri_transfer_verdict *v)
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
	work w = { .ctx = ctx, .o = options, .result = result };
	kdri_transfer_verdict v = { .distance = NAN, .right = NAN };
	w.d.set.x.view = w.v.unit.view = w.v.z.view = w.v.joint.view = w.v.graph.view =
	        kdr_mat_from_dense(NULL, 0, 0);
	KDRI_TRY(kdri_domains_new(ctx, problem, result, &w.d));
	w.first = kdri_transfer_first(&w.d);
	w.n = kdri_transfer_count(&w.d);
	w.c = w.d.classes;
	KDRI_TRY(kdri_transfer_views_new(ctx, &w.d, options->neighbors, &w.v));
	w.shared = (kdri_transfer_work){ .d = &w.d, .v = &w.v, .share = w.d.share };
	KDRI_TRY(KDRI_NEW(ctx, &w.p, w.d.n * w.c));
	KDRI_TRY(KDRI_NEW0(ctx, &w.mean, w.n * w.c));
	KDRI_TRY(KDRI_NEW(ctx, &w.vote, w.n * w.c));
	KDRI_TRY(KDRI_NEW(ctx, &w.near, w.n * w.c));
	KDRI_TRY(run_members(&w, &v.late)); /* (E2) of auto_transfer.c */
	KDRI_TRY(run_vote(&w));             /* (E3) of auto_transfer.c */
	if (options->only < 0 && !v.late && !ctx->cancelled && !ctx->timed_out)
		KDRI_TRY(vote_again(&w, &v.late));
	KDRI_TRY(fill(&w, &v));
	if (options->plain) {
		KDRI_TRY(ask_plain(&w, &v));
		KDRI_TRY(find_distance(&w, &v));
	}
	*out = v;
	v = (kdri_transfer_verdict){ 0 };
done:
	kdri_transfer_verdict_free(ctx, &v);
	work_free(ctx, &w);
	return st;
}

/* --- through bridges ---------------------------------------------------------------------------------------- */

static const double least_shared = 0.1;

kdr_status kdri_transfer_needs_bridge(kdr_context *ctx, const kdr_problem *problem, int64_t target, bool *out)
{
	kdr_status st = KDR_OK;
	const kdr_mat *x = &problem->tasks[target].x;
	int64_t d = kdr_mat_cols(x), *own = NULL, *theirs = NULL, shared = 0, all = 0;
	bool bridge = false, wide = problem->views;
	for (int64_t t = 0; t < problem->ntasks; t++) {
		bridge = bridge || problem->tasks[t].role == KDR_ROLE_BRIDGE;
		wide = wide ||
		       (problem->tasks[t].role == KDR_ROLE_SOURCE && kdr_mat_cols(&problem->tasks[t].x) != d);
	}
	*out = bridge && wide;
	if (!bridge || wide)
		return KDR_OK;
	KDRI_TRY(KDRI_NEW(ctx, &own, d));
	KDRI_TRY(KDRI_NEW(ctx, &theirs, d));
	kdri_mat_col_counts(x, own);
	for (int64_t t = 0; t < problem->ntasks; t++) {
		if (problem->tasks[t].role != KDR_ROLE_SOURCE)
			continue;
		kdri_mat_col_counts(&problem->tasks[t].x, theirs);
		for (int64_t j = 0; j < d; j++)
			if (theirs[j] > 0) {
				shared += own[j];
				own[j] = 0;
			}
	}
	for (int64_t j = 0; j < d; j++)
		all += own[j];
	*out = (double)shared < least_shared * (double)(shared + all);
done:
	kdri_free(ctx, own);
	kdri_free(ctx, theirs);
	return st;
}

/* The target by itself, with the sources' shares. */
static kdr_status target_alone(kdr_context *ctx, const kdr_problem *problem, int64_t target, kdri_domains *d)
{
	kdr_status st;
	const kdr_task *task = &problem->tasks[target];
	int64_t total = 0;
	d->n = kdr_mat_rows(&task->x);
	d->ntasks = 1;
	d->classes = d->set.classes = problem->classes;
	d->set.x.view = task->x;
	KDRI_TRY(KDRI_NEW0(ctx, &d->begin, 2));
	KDRI_TRY(KDRI_NEW(ctx, &d->class_of, d->classes));
	KDRI_TRY(KDRI_NEW(ctx, &d->labels, d->n));
	KDRI_TRY(KDRI_NEW(ctx, &d->asked, d->n));
	KDRI_TRY(KDRI_NEW0(ctx, &d->share, d->classes));
	d->begin[1] = d->n;
	for (int64_t i = 0; i < d->n; i++) {
		d->labels[i] = task->labels ? task->labels[i] : -1;
		d->asked[i] = d->labels[i] < 0;
	}
	for (int64_t t = 0; t < problem->ntasks; t++)
		for (int64_t i = 0; problem->tasks[t].role == KDR_ROLE_SOURCE && problem->tasks[t].labels &&
		                    i < kdr_mat_rows(&problem->tasks[t].x);
		     i++)
			if (problem->tasks[t].labels[i] >= 0) {
				d->share[problem->tasks[t].labels[i]]++;
				total++;
			}
	for (int64_t c = 0; c < d->classes; c++) {
		d->class_of[c] = c;
		d->share[c] /= (double)KDRI_MAX(total, 1);
	}
done:
	return st;
}

/* One method through one bridge: its probabilities of the target's rows into w->p. */
static kdr_status cross(kdr_context *ctx, work *w, const kdr_problem *problem, int64_t target,
                        const char *method, const int64_t *bridge, int64_t views)
{
	kdr_status st;
	kdr_task *tasks = NULL;
	kdr_result *result = NULL;
	int64_t count = 0;
	KDRI_TRY(KDRI_NEW(ctx, &tasks, problem->ntasks));
	for (int64_t t = 0; t < problem->ntasks; t++)
		if (problem->tasks[t].role == KDR_ROLE_SOURCE)
			tasks[count++] = problem->tasks[t];
	for (int64_t v = 0; v < views; v++)
		tasks[count++] = problem->tasks[bridge[v]];
	tasks[count] = problem->tasks[target];
	const kdr_problem part = { .tasks = tasks, .ntasks = count + 1, .classes = problem->classes };
	KDRI_TRY(kdr_fit(ctx, method, &part, NULL, &result));
	kdr_array p = kdr_result_array(result, "probabilities", count);
	memcpy(w->p, p.data, (size_t)(w->n * w->c) * sizeof *w->p);
	for (int64_t i = 0; w->result && i < kdr_result_warning_count(result); i++)
		KDRI_TRY(kdri_result_warn(w->ctx, w->result, "%s through %s: %s", method,
		                          problem->tasks[bridge[0]].name ? problem->tasks[bridge[0]].name
		                                                         : "the bridge",
		                          kdr_result_warning_at(result, i)));
done:
	kdri_free(ctx, tasks);
	kdr_result_free(result);
	return st;
}

static kdr_status run_bridges(work *w, const kdr_problem *problem, int64_t target, kdri_transfer_verdict *v)
{
	static const char *const methods[] = { "ttl", "nmtf" };
	kdr_status st;
	kdr_context own = *w->ctx;
	int64_t *bridges = NULL, count = 0, m = 0;
	bool views = problem->views;
	KDRI_TRY(KDRI_NEW(w->ctx, &bridges, problem->ntasks));
	for (int64_t t = 0; t < problem->ntasks; t++) {
		if (problem->tasks[t].role == KDR_ROLE_BRIDGE)
			bridges[count++] = t;
		views = views ||
		        (problem->tasks[t].role == KDR_ROLE_SOURCE &&
		         kdr_mat_cols(&problem->tasks[t].x) != kdr_mat_cols(&problem->tasks[target].x));
	}
	if (views)
		count /= 2;
	for (int64_t b = 0; b < count; b++)
		for (int k = 0; k < 2 && m < KDRI_TRANSFER_MEMBERS; k++, m++) {
			const int64_t pair[2] = { bridges[b], views ? bridges[count + b] : -1 };
			const char *name = problem->tasks[pair[0]].name;
			snprintf(v->name[m], sizeof v->name[m], "%s through %.60s", methods[k],
			         name ? name : "a bridge");
			if (w->voters > 0 && (own.cancelled || own.timed_out)) {
				v->late = true;
				if (!own.cancelled)
					KDRI_TRY(left_out(w, "time limit: ", v->name[m], ""));
				continue;
			}
			st = cross(&own, w, problem, target, methods[k], pair, views ? 2 : 1);
			if (st == KDR_ERR_MEMORY) {
				st = kdri_fail(w->ctx, st, "%s", own.error);
				goto done;
			}
			if (st != KDR_OK)
				KDRI_TRY(left_out(w, "", v->name[m], own.error));
			else
				KDRI_TRY(take_vote(w, m));
		}
	w->ctx->cancelled |= own.cancelled;
	if (w->voters == 0)
		st = kdri_fail(w->ctx, KDR_ERR_DATA, "no bridge leads to the target: %s", own.error);
done:
	kdri_free(w->ctx, bridges);
	return st;
}

kdr_status kdri_transfer_bridged_new(kdr_context *ctx, const kdr_problem *problem, int64_t target,
                                     const kdri_transfer_options *options, kdr_result *result,
                                     kdri_transfer_verdict *out)
{
	kdr_status st;
	work w = { .ctx = ctx, .o = options, .result = result };
	kdri_transfer_verdict v = { .distance = NAN, .right = NAN };
	w.d.set.x.view = w.v.unit.view = w.v.z.view = w.v.joint.view = w.v.graph.view =
	        kdr_mat_from_dense(NULL, 0, 0);
	KDRI_TRY(target_alone(ctx, problem, target, &w.d));
	w.n = w.d.n;
	w.c = w.d.classes;
	KDRI_TRY(kdri_transfer_views_new(ctx, &w.d, options->neighbors, &w.v));
	KDRI_TRY(KDRI_NEW(ctx, &w.p, w.n * w.c));
	KDRI_TRY(KDRI_NEW0(ctx, &w.mean, w.n * w.c));
	KDRI_TRY(KDRI_NEW(ctx, &w.vote, w.n * w.c));
	KDRI_TRY(KDRI_NEW(ctx, &w.near, w.n * w.c));
	KDRI_TRY(run_bridges(&w, problem, target, &v));
	KDRI_TRY(run_vote(&w));
	KDRI_TRY(fill(&w, &v));
	*out = v;
	v = (kdri_transfer_verdict){ 0 };
done:
	kdri_transfer_verdict_free(ctx, &v);
	work_free(ctx, &w);
	return st;
}
