/* What is known of each data set before all of them are clustered together. SPDX-License-Identifier: BSD-3-Clause */
#include "engine/ensemble/evidence.h"

#include "comm/comm.h"
#include "matrix/kept.h"

kdr_status kdri_evidence_new(kdr_context *ctx, int64_t count, kdri_evidence *out)
{
	KDRI_DO(KDRI_NEW0(ctx, &out->alone, count));
	KDRI_DO(KDRI_NEW0(ctx, &out->carried, count));
	KDRI_DO(KDRI_NEW0(ctx, &out->final, count));
	for (int64_t t = 0; t < count; t++)
		out->carried[t].from = -1;
	out->count = count;
	return KDR_OK;
}

void kdri_evidence_free(kdr_context *ctx, kdri_evidence *e)
{
	for (int64_t t = 0; t < e->count; t++) {
		kdri_alone_free(ctx, &e->alone[t]);
		KDRI_FREE(ctx, e->carried[t].of, e->carried[t].labels, e->carried[t].confidence);
	}
	KDRI_FREE(ctx, e->alone, e->carried, e->final);
	*e = (kdri_evidence){ 0 };
}

const kdri_alone *kdri_evidence_alone(const kdri_evidence *e, const kdri_order *order, int64_t t)
{
	const int64_t at = kdri_caller_task(order, t);
	return e && at < e->count && e->alone[at].known ? &e->alone[at] : NULL;
}

const kdri_carried *kdri_evidence_carried(const kdri_evidence *e, const kdri_order *order, int64_t t)
{
	const int64_t at = kdri_caller_task(order, t);
	return e && at < e->count && e->carried[at].from >= 0 ? &e->carried[at] : NULL;
}

kdri_use kdri_evidence_use(const kdri_evidence *e, const kdri_order *order, int64_t t)
{
	if (!kdri_evidence_alone(e, order, t))
		return KDRI_USE_NOTHING;
	return e->final[kdri_caller_task(order, t)] ? KDRI_USE_LABELS : KDRI_USE_BALLOT;
}

static int64_t how_of(const kdri_views_task *view)
{
	return view->cosine + 2 * view->centred + 4 * view->both;
}

static uint64_t hash_of(const kdri_views_task *view)
{
	return kdri_mat_hash(&view->rows.view, (uint64_t)how_of(view));
}

kdr_status kdri_evidence_settle(kdr_context *ctx, const kdri_evidence *e, const kdri_alone *alone,
                                const kdri_views_task *view, int64_t rows, kdri_use *use)
{
	const bool totals = alone->totals && alone->totals == e->totals && alone->how == how_of(view);
	const int64_t least = totals ? KDRI_SHARING_TOTALS : KDRI_SHARING_ONCE;
	bool again = rows < least && alone->rows != hash_of(view);
	KDRI_DO(kdri_any(ctx, &again));
	if (*use == KDRI_USE_BALLOT && (again || alone->ballot.count == 0))
		*use = KDRI_USE_COMPARE;
	return KDR_OK;
}

/* --- graphs -------------------------------------------------------------------------------------------------------- */

static kdri_own no_matrix(void)
{
	return (kdri_own){ .view = kdr_mat_from_dense(NULL, 0, 0) };
}

static void free_graphs(kdr_context *ctx, kdri_views_task *task)
{
	kdri_own_free(ctx, &task->graph);
	kdri_own_free(ctx, &task->plain);
	kdri_own_free(ctx, &task->vote);
	kdri_landmarks_free(ctx, &task->landmarks);
	kdri_free(ctx, task->first);
	kdri_alone_return(task);
}

/* What belongs to the graphs of a task. */
static void copy_graphs(const kdri_views_task *from, kdri_views_task *to)
{
	to->first = from->first;
	to->candidates = from->candidates;
	to->joined = from->joined;
	to->landmarks = from->landmarks;
	to->has_graph = from->has_graph;
	to->graph = from->graph;
	to->both = from->both;
	to->plain = from->plain;
	to->vote = from->vote;
}

void kdri_alone_take(kdr_context *ctx, kdri_ballot *ballot, kdri_verdict *answer, kdri_views_task *view,
                     kdri_alone *to)
{
	to->ballot = *ballot;
	to->rows = hash_of(view);
	to->how = how_of(view);
	to->answer = *answer;
	to->candidates = view->candidates;
	*ballot = (kdri_ballot){ 0 };
	*answer = (kdri_verdict){ 0 };
	kdri_own_free(ctx, &view->landmarks.rows); /* the vote needs their numbers only */
	copy_graphs(view, &to->graphs);
	kdri_alone_return(view);
	kdri_own_free(ctx, &to->graphs.plain); /* a member has used it */
}

void kdri_alone_lend(kdr_context *ctx, const kdri_alone *alone, kdri_views_task *to)
{
	free_graphs(ctx, to);
	copy_graphs(&alone->graphs, to);
}

void kdri_alone_return(kdri_views_task *view)
{
	view->first = NULL;
	view->has_graph = false;
	view->landmarks = (kdri_landmarks){ .rows = no_matrix() };
	view->graph = view->plain = view->vote = no_matrix();
}

void kdri_alone_drop_graphs(kdr_context *ctx, kdri_alone *alone)
{
	free_graphs(ctx, &alone->graphs);
}

void kdri_alone_free(kdr_context *ctx, kdri_alone *alone)
{
	kdr_result_free(alone->result);
	kdri_ballot_free(ctx, &alone->ballot);
	kdri_verdict_free(ctx, &alone->answer);
	kdri_verdict_free(ctx, &alone->own_words);
	kdri_k_found_free(ctx, &alone->found);
	free_graphs(ctx, &alone->graphs);
	*alone = (kdri_alone){ 0 };
}
