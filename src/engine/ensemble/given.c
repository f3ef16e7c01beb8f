/* What a fit is given about its tasks from runs of each alone. SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "api/method.h"
#include "comm/comm.h"
#include "engine/ensemble/members.h"
#include "matrix/kept.h"

kdri_given *kdri_given_of(const kdr_context *ctx, int64_t task)
{
	const kdri_sharing *s = ctx->sharing;
	const int64_t at = kdri_caller_task(ctx, task);
	return s && at < s->count && s->tasks[at].result ? &s->tasks[at] : NULL;
}

kdr_status kdri_given_find(kdr_context *ctx, int64_t ntasks, const int64_t *k)
{
	kdr_status st;
	const kdri_sharing *s = ctx->sharing;
	int64_t *asked = NULL;
	if (!s || !s->find)
		return KDR_OK;
	KDRI_TRY(KDRI_NEW(ctx, &asked, ntasks));
	for (int64_t t = 0; t < ntasks; t++)
		asked[kdri_caller_task(ctx, t)] = k[t];
	KDRI_TRY(s->find(ctx, s->user, asked));
done:
	kdri_free(ctx, asked);
	return st;
}

/* The length of the name of a field without that of its task. */
static size_t stem_of(const char *name)
{
	return strcspn(name, ".");
}

/* The number and the text of a field without a task or of its only one; neither if there is no such field. */
static double find_field(const kdri_given *given, const char *name, const char **text)
{
	double number = NAN;
	for (int64_t i = 0; i < kdr_result_field_count(given->result); i++) {
		const char *found = kdr_result_field_at(given->result, i, &number, text);
		if (strlen(name) == stem_of(found) && strncmp(found, name, strlen(name)) == 0)
			return number;
	}
	*text = NULL;
	return NAN;
}

double kdri_given_number(const kdri_given *given, const char *name)
{
	const char *text = NULL;
	return find_field(given, name, &text);
}

const char *kdri_given_text(const kdri_given *given, const char *name)
{
	const char *text = NULL;
	find_field(given, name, &text);
	return text;
}

kdr_status kdri_given_copy(kdr_context *ctx, const kdri_given *given, const char *stem,
                           const char *const *arrays, kdr_result *to, int64_t task)
{
	for (int64_t i = 0; i < kdr_result_field_count(given->result); i++) {
		double number;
		char own[64];
		const char *text = NULL, *name = kdr_result_field_at(given->result, i, &number, &text);
		if (strncmp(name, stem, strlen(stem)) != 0)
			continue;
		snprintf(own, sizeof own, "%.*s", (int)stem_of(name), name);
		if (text)
			KDRI_DO(kdri_result_task_text(ctx, to, task, own, text));
		else
			KDRI_DO(kdri_result_task_number(ctx, to, task, own, number));
	}
	for (; *arrays; arrays++) {
		const kdr_array a = kdr_result_array(given->result, *arrays, 0);
		void *data = NULL;
		if (!a.data)
			continue;
		KDRI_DO(kdri_result_array(ctx, to, *arrays, task, a.type, a.ndim, a.shape, &data));
		memcpy(data, a.data, (size_t)a.shape[0] * sizeof(double)); /* curves of numbers */
	}
	return KDR_OK;
}

static kdri_own no_matrix(void)
{
	return (kdri_own){ .view = kdr_mat_from_dense(NULL, 0, 0) };
}

/* Moves the graphs of a task. */
static void move_graphs(kdr_context *ctx, kdri_views_task *from, kdri_views_task *to)
{
	kdri_own_free(ctx, &from->landmarks.rows); /* the vote needs their numbers only */
	to->first = from->first;
	to->candidates = from->candidates;
	to->joined = from->joined;
	to->landmarks = from->landmarks;
	to->has_graph = from->has_graph;
	to->graph = from->graph;
	to->both = from->both;
	to->plain = from->plain;
	to->vote = from->vote;
	from->first = NULL;
	from->has_graph = false;
	from->landmarks = (kdri_landmarks){ .rows = no_matrix() };
	from->graph = from->plain = from->vote = no_matrix();
}

static void free_graphs(kdr_context *ctx, kdri_views_task *task)
{
	kdri_own_free(ctx, &task->graph);
	kdri_own_free(ctx, &task->plain);
	kdri_own_free(ctx, &task->vote);
	kdri_landmarks_free(ctx, &task->landmarks);
	kdri_free(ctx, task->first);
	*task = (kdri_views_task){ .candidates = task->candidates };
}

void kdri_given_drop_graphs(kdr_context *ctx, kdri_given *given)
{
	free_graphs(ctx, &given->view);
}

static int64_t how_of(const kdri_views_task *view)
{
	return view->cosine + 2 * view->centred + 4 * view->both;
}

static uint64_t hash_of(const kdri_views_task *view)
{
	return kdri_mat_hash(&view->rows.view, (uint64_t)how_of(view));
}

kdr_status kdri_given_settle(kdr_context *ctx, kdri_given *given, const kdri_views_task *view, int64_t rows)
{
	const bool totals =
	        given->totals && given->totals == ctx->sharing->totals && given->how == how_of(view);
	const int64_t least = totals ? KDRI_SHARING_TOTALS : KDRI_SHARING_ONCE;
	bool again = rows < least && given->rows != hash_of(view);
	KDRI_DO(kdri_any(ctx, &again));
	given->compared = !given->final && (again || given->ballot.count == 0);
	return KDR_OK;
}

void kdri_given_keep(kdr_context *ctx, kdri_ballot *ballot, kdri_verdict *answer, kdri_views_task *view)
{
	kdri_given *to = ctx->sharing ? ctx->sharing->keep : NULL;
	if (!to)
		return;
	to->ballot = *ballot;
	to->rows = hash_of(view);
	to->how = how_of(view);
	to->answer = *answer;
	*ballot = (kdri_ballot){ 0 };
	*answer = (kdri_verdict){ 0 };
	move_graphs(ctx, view, &to->view);
	kdri_own_free(ctx, &to->view.plain); /* a member has used it */
}

void kdri_given_graphs(kdr_context *ctx, kdri_given *given, kdri_views_task *to)
{
	free_graphs(ctx, &(kdri_views_task){ .first = to->first,
	                                     .landmarks = to->landmarks,
	                                     .graph = to->graph,
	                                     .plain = to->plain,
	                                     .vote = to->vote });
	move_graphs(ctx, &given->view, to);
}

void kdri_given_free(kdr_context *ctx, kdri_given *given)
{
	kdr_result_free(given->result);
	kdri_ballot_free(ctx, &given->ballot);
	kdri_verdict_free(ctx, &given->answer);
	kdri_verdict_free(ctx, &given->own);
	free_graphs(ctx, &given->view);
	KDRI_FREE(ctx, given->of, given->label, given->confidence);
	*given = (kdri_given){ .from = -1 };
}
