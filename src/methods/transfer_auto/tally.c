/* Votes on one target: clusters that also vote, the answer, and its confidence. SPDX-License-Identifier: BSD-3-Clause
 *
 * The vote itself is in engine/ensemble/vote.c. Confidence in class k of a sample:
 *
 *   (E1)  (2 fraction of members that vote k + mean over members of their posterior of k + (D^-1 W P)_ik) / 4
 *
 * On tables it is too high and replaced by an estimated probability of being right (engine/ensemble/probability_right.c). */
#include "methods/transfer_auto/tally.h"

#include "engine/ensemble/probability_right.h"
#include "engine/ensemble/vote.h"
#include "engine/graph/spectral.h"

#include <stdio.h>

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

void kdri_transfer_tally_drop(kdri_transfer_tally *w, int64_t m)
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

kdr_status kdri_transfer_tally_vote(kdri_transfer_tally *w)
{
	const int32_t *votes[2 * KDRI_TRANSFER_MEMBERS];
	int64_t count = 0;
	const kdri_op graph = kdri_transfer_graph_op(&w->v.graph);
	for (int m = 0; m < KDRI_TRANSFER_MEMBERS; m++)
		for (int64_t k = 0; w->votes[m] && k < kdri_transfer_weight(w->o->tables, m); k++)
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
		sum += w->votes[m] ? kdri_transfer_weight(w->o->tables, m) : 0;
	return (double)sum;
}

/* (E1) */
static double how_sure(const kdri_transfer_tally *w, int64_t i, int64_t k)
{
	double votes = 0;
	if (w->d.labels[w->first + i] >= 0)
		return 1;
	for (int m = 0; m < KDRI_TRANSFER_MEMBERS; m++)
		votes += w->votes[m] && w->votes[m][i] == k ? (double)kdri_transfer_weight(w->o->tables, m)
		                                            : 0;
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
	KDRI_TRY(KDRI_NEW(w->ctx, &v->sure, w->n));
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
			kdri_axpy((double)kdri_transfer_weight(w->o->tables, m) / weight_of_all(w),
			          w->posteriors[m], w->mean, w->n * c);
	kdri_rest_answer(w->ctx, w->vote, w->n, c, best);
	for (int64_t k = 0; k < c; k++)
		v->shares[2 * w->d.class_of[k]] = w->d.share[k];
	for (int64_t i = 0; i < w->n; i++) {
		v->answer[i] = w->d.class_of[best[i]];
		v->sure[i] = how_sure(w, i, best[i]);
		v->confidence[i] = w->o->tables ? kdri_table_class_right(v->sure[i]) : v->sure[i];
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
	v->late = w->frame.late;
done:
	kdri_free(w->ctx, best);
	return st;
}
