/* A poll on graphs of neighbours. SPDX-License-Identifier: BSD-3-Clause
 *
 * No score without labels selects the right method reliably, but methods of different kinds make different errors.
 * Several of them therefore cluster each task, alone and together with the others, and vote:
 *
 *     (E1)  rows of unit length; a graph w of the 10 nearest neighbours by cosine         engine/graph/views.c
 *     (E2)  7 members x 3 seeds: partitions of each task, with its own k                  members.c
 *     (E3)  W_ij = w_ij (0.05 + co_ij)^2, co_ij the fraction of them that put i and j together, on the edges
 *           of w; the spectral step on W and a little of co gives the answer              verdict.c
 *
 * docs/notes/auto.md describes the rule and measures its quality. Members are listed in the table below: a registered method,
 * its options, a view of the data. A job runs each task alone before (engine/ensemble/evidence.h): the members that use one task
 * and the graph are then those of that run, with the preprocessing of that task, and the guard compares the answer with the
 * labels of that run.
 *
 * DEVIATION: members "pool" and "shared directions" are k-means on all tasks, each minus its mean, which would make
 * sparse data dense. The first therefore runs on the 128 leading directions of the centred data, for dense and sparse
 * data; for k-means this makes little difference.
 *
 * The objective reported is the normalised cut of the answer on W, summed over tasks: one value.
 *
 * A neighbour graph needs all samples in one process. If they are on several ranks (comm/comm.h), if there are too many
 * for an exact search, or if the option requests it, each sample is joined to its nearest landmarks instead, which are
 * some of the samples (engine/graph/landmarks.c). Members that need n x n numbers do not vote on several ranks.
 * Everything else is the same code, over the rows of all ranks.
 *
 * w     kdri_views_vote              co    ballot.c
 * n     rows of a task               k     k[t] */
#include "engine/ensemble/poll.h"
#include "api/method.h"
#include "comm/comm.h"
#include "core/internal.h"
#include "engine/graph/similarity.h"
#include "engine/kmeans/kmeans.h"
#include "matrix/kept.h"

/* A task of more samples gains nothing by members that see others as well, and they cost most of the time (docs/notes/auto.md). */
enum { SMALL = KDRI_SHARING_MOST };
/* Texts times clusters, of all tasks, from which mtcfir compares texts by words alone: with features it takes as long as all
 * other members together, whose time grows with this product (docs/notes/auto.md). */
static const double most_with_features = 40000;
/* Settings of the members. */
static const kdri_setting
        starts_1[] = { { .name = "n_init", .value = 1 }, { 0 } },
        starts_5[] = { { .name = "n_init", .value = 5 }, { 0 } },
        loose_5[] = { { .name = "n_init", .value = 5 }, { .name = "tol", .value = 1e-4 }, { 0 } },
        loose_10[] = { { .name = "n_init", .value = 10 }, { .name = "tol", .value = 1e-4 }, { 0 } },
        given_graph[] = { { .name = "similarity", .choice = "precomputed" }, { 0 } },
        given_landmarks[] = { { .name = "graph", .choice = "landmarks" }, { 0 } },
        symmetric[] = { { .name = "max_iter", .value = 120 }, { .name = "keep", .value = false }, { 0 } },
        gaussian[] = { { .name = "similarity", .choice = "gauss" },
	               { .name = "precision", .choice = "single" },
	               { 0 } },
        consistent[] = { { .name = "final", .choice = "ncut" },
	                 { .name = "keep", .value = false },
	                 { .name = "precision", .choice = "single" },
	                 { .name = "max_gflop", .value = 200 },
	                 { 0 } },
        by_words[] = { { .name = "final", .choice = "ncut" },
	               { .name = "keep", .value = false },
	               { .name = "precision", .choice = "single" },
	               { .name = "layers", .value = 0 },
	               { 0 } };

enum { KMEANS, LEADING, NCUT, PLAIN_NCUT, POOL, SHARED, SNMF, MTCFIR, MEMBERS };

/* Quick ones first; those that need n x n numbers last. */
static const kdri_member members[MEMBERS] = {
	[KMEANS] = { .name = "k-means",
	             .method = "kmeans",
	             .settings = starts_5,
	             .quick = starts_1,
	             .view = KDRI_VIEW_OWN },
	[LEADING] = { .name = "leading directions",
	              .method = "kmeans",
	              .settings = loose_10,
	              .view = KDRI_VIEW_LEADING },
	[NCUT] = { .name = "normalised cut",
	           .method = "ncut",
	           .settings = given_graph,
	           .on_landmarks = given_landmarks,
	           .view = KDRI_VIEW_GRAPH,
	           .once = true },
	[PLAIN_NCUT] = { .name = "normalised cut, mean left in",
	                 .method = "ncut",
	                 .settings = given_graph,
	                 .cosine_only = true,
	                 .on_landmarks = given_landmarks,
	                 .view = KDRI_VIEW_PLAIN,
	                 .once = true },
	[POOL] = { .name = "pool",
	           .method = "kmeans",
	           .settings = loose_5,
	           .view = KDRI_VIEW_CENTRED,
	           .scope = KDRI_SCOPE_POOLED,
	           .small = SMALL },
	[SHARED] = { .name = "shared directions",
	             .method = "kmeans",
	             .settings = loose_10,
	             .view = KDRI_VIEW_SHARED,
	             .scope = KDRI_SCOPE_POOLED,
	             .small = SMALL },
	[SNMF] = { .name = "snmf",
	           .method = "snmf",
	           .settings = symmetric,
	           .by_distance = gaussian,
	           .view = KDRI_VIEW_ROWS,
	           .started = true,
	           .in_step = true,
	           .most = 6000 },
	[MTCFIR] = { .name = "mtcfir",
	             .method = "mtcfir",
	             .settings = consistent,
	             .cosine_only = true,
	             .view = KDRI_VIEW_ROWS,
	             .scope = KDRI_SCOPE_JOINT,
	             .once = true,
	             .most = 10000,
	             .small = SMALL },
};

/* Landmarks of a task, some for each cluster; 0: a graph of neighbours. */
static int64_t landmarks_of(const kdr_context *ctx, const kdri_poll *j)
{
	kdri_joins to = (kdri_joins)kdri_opt_choice(j->options, "graph");
	kdri_choice exact = (kdri_choice)kdri_opt_choice(j->options, "exact");
	int64_t count = kdri_opt_int(j->options, "landmarks");
	if (to == KDRI_JOINS_NEIGHBOURS ||
	    (to == KDRI_JOINS_AUTO && !kdri_several(ctx) && exact == KDRI_CHOICE_YES))
		return 0;
	for (int64_t t = 0; t < j->T; t++) {
		int64_t k = j->problem->tasks[t].k;
		count = kdri_landmark_count(count, k > 0 ? k : kdri_k_most(j->options, INFINITY));
	}
	return count;
}

static kdri_views_options views_options(const kdr_context *ctx, const kdri_poll *j)
{
	int64_t neighbors = kdri_opt_int(j->options, "neighbors");
	bool guess = false;
	for (int64_t t = 0; t < j->T; t++)
		guess |= j->problem->tasks[t].k == 0 && !j->has[t];
	return (kdri_views_options){ .cosine = (kdri_choice)kdri_opt_choice(j->options, "metric"),
		                     .centre = (kdri_choice)kdri_opt_choice(j->options, "centre"),
		                     .together = j->T > 1 && kdri_opt_bool(j->options, "transfer"),
		                     .once = true,
		                     .by_itself = true, /* as without transfer: what moved is then exact */
		                     .given = j->has,
		                     .exact = (kdri_choice)kdri_opt_choice(j->options, "exact"),
		                     .neighbors = neighbors,
		                     .landmarks = landmarks_of(ctx, j),
		                     .if_many = kdri_opt_choice(j->options, "graph") == KDRI_JOINS_AUTO &&
		                                !kdri_several(ctx) &&
		                                kdri_opt_choice(j->options, "exact") == KDRI_CHOICE_AUTO,
		                     .searched =
		                             guess ? KDRI_MAX(neighbors, KDRI_GUESS_NEIGHBOURS) : neighbors };
}

/* --- the vote ------------------------------------------------------------------------------------------ */

/* Whether the answer without transfer is needed for comparison: it is that of a run alone if nothing was preprocessed for all tasks. */
static bool compares(const kdri_poll *j, const kdri_ballot *b)
{
	bool any = false;
	for (int64_t m = 0; m < b->count; m++)
		any |= b->transfer[m];
	return any && !j->evidence && !j->derived;
}

/* Equal samples are in one cluster, unless something is known about them. */
static void alike(const int64_t *first, int64_t n, const kdri_known_classes *known, kdri_verdict *v)
{
	for (int64_t i = 0; first && !known && i < n; i++) {
		v->labels[i] = v->labels[first[i]];
		v->agreement[i] = v->agreement[first[i]];
	}
}

static kdr_status vote(kdr_context *ctx, kdri_poll *j, bool late)
{
	double total = 0;
	kdr_stop stop = KDR_STOP_CONVERGED;
	for (int64_t t = 0; t < j->T; t++) {
		if (j->use[t] == KDRI_USE_LABELS) {
			/* The labels of the run alone, or those that were carried over. */
			const kdri_carried *carried = kdri_evidence_carried(j->evidence, &j->order, t);
			const kdri_verdict *from = &j->alone_runs[t]->answer;
			const int64_t n = j->ballots[t].n;
			kdri_verdict *to = &j->answers[t];
			KDRI_DO(KDRI_NEW(ctx, &to->labels, n));
			KDRI_DO(KDRI_NEW(ctx, &to->agreement, n));
			memcpy(to->labels, carried ? carried->labels : from->labels,
			       (size_t)n * sizeof *to->labels);
			j->k[t] = carried ? carried->k : j->k[t];
			memcpy(to->agreement, from->agreement, (size_t)n * sizeof *to->agreement);
			to->ncut = from->ncut;
			total += j->answers[t].ncut;
			if (j->alone_runs[t]->stop != KDR_STOP_CONVERGED)
				stop = j->alone_runs[t]->stop;
			continue;
		}
		const kdr_mat *graph = kdri_views_vote(&j->views, t);
		kdri_verdict_options o = {
			.k = j->k[t],
			.other_k = j->derived,
			.n_init = kdri_opt_int(j->options, "n_init"),
			.max_iter = kdri_opt_int(j->options, "max_iter"),
			.init = j->problem->tasks[t].init,
			.landmarks = j->views.tasks[t].joined ? &j->views.tasks[t].landmarks : NULL,
			.known = j->known && j->known[t].nknown > 0 ? &j->known[t] : NULL
		};
		KDRI_DO(kdri_verdict_new(ctx, &j->ballots[t], graph, &o, &j->answers[t]));
		alike(j->views.tasks[t].first, j->ballots[t].n, o.known, &j->answers[t]);
		total += j->answers[t].ncut;
		bool hurried = kdri_late(ctx);
		o.alone = true;
		KDRI_DO(kdri_any(ctx, &hurried));
		if (compares(j, &j->ballots[t]) && !hurried) {
			KDRI_DO(kdri_verdict_new(ctx, &j->ballots[t], graph, &o, &j->alone[t]));
			alike(j->views.tasks[t].first, j->ballots[t].n, o.known, &j->alone[t]);
		}
	}
	KDRI_DO(kdri_result_objective(ctx, j->result, total));
	kdri_result_stop(j->result, late || ctx->cancelled || ctx->timed_out ? kdri_stop_reason(ctx) : stop,
	                 1);
	return KDR_OK;
}

/* A nearly complete graph is more useful than anything else that would fit in the remaining time. */
static kdr_status graph(kdr_context *ctx, void *user, int64_t t)
{
	kdri_poll *j = user;
	double end = ctx->deadline;
	ctx->deadline = end + kdri_auto_grace(ctx);
	kdr_status st = kdri_views_graphs(ctx, &j->views.options, &j->views.tasks[t]);
	if (st == KDR_OK)
		st = kdri_views_join(ctx, &j->views.tasks[t], j->k[t]);
	ctx->deadline = end;
	return st;
}

static kdr_status poll_directions(kdr_context *ctx, void *user)
{
	kdri_poll *j = user;
	bool small = false; /* members that use all tasks vote only on these */
	for (int64_t t = 0; t < j->T; t++)
		small |= j->views.rows[t] <= SMALL && j->use[t] != KDRI_USE_LABELS;
	return kdri_views_directions(ctx, &j->views, j->k, small);
}

/* The partitions of complete fits with other numbers of clusters: these are (E2) then. */
static kdr_status take_kept(kdr_context *ctx, kdri_poll *j)
{
	j->derived = kdri_derives(ctx);
	for (int64_t t = 0; t < j->T && j->derived; t++) {
		KDRI_DO(kdri_ballot_kept(ctx, t, &j->ballots[t]));
		j->derived = j->ballots[t].count > 0;
	}
	for (int64_t t = 0; t < j->T && !j->derived; t++)
		kdri_ballot_free(ctx, &j->ballots[t]);
	return KDR_OK;
}

/* The members for these data and numbers of clusters. */
static void choose_members(const kdri_poll *j, kdri_member out[MEMBERS])
{
	double products = 0;
	bool words = true;
	for (int64_t t = 0; t < j->T; t++) {
		products += (double)j->views.rows[t] * (double)j->k[t];
		words = words && !j->views.tasks[t].centred;
	}
	memcpy(out, members, sizeof members);
	if (words && products > most_with_features)
		out[MTCFIR].settings = by_words;
}

/* (E2), unless the partitions come from another fit. */
static kdr_status run_members(kdr_context *ctx, kdri_poll *j, bool *late)
{
	double light = 0, data = 0;
	kdri_member chosen[MEMBERS];
	if (j->derived)
		return KDR_OK;
	for (int64_t t = 0; t < j->T; t++) {
		const kdr_mat *x = &j->problem->tasks[t].x;
		light = KDRI_MAX(light, kdri_kmeans_run_bytes(x, j->k[t]));
		data += 8 * (double)kdr_mat_nnz(x);
	}
	choose_members(j, chosen);
	const kdri_members_options m = { .table = chosen,
		                         .light_bytes = light,
		                         .data_bytes = data,
		                         .count = MEMBERS,
		                         .seeds = kdri_opt_int(j->options, "seeds"),
		                         .k = j->k,
		                         .use = j->use,
		                         .alone = j->alone_runs,
		                         .graph = j->later ? graph : NULL,
		                         .prepare = poll_directions,
		                         .user = j };
	KDRI_DO(kdri_members_run(ctx, j->problem, &j->views, &m, j->ballots, j->result, late));
	for (int64_t t = 0; t < j->T && !*late; t++)
		KDRI_DO(kdri_ballot_keep(ctx, t, &j->ballots[t]));
	return KDR_OK;
}

/* What runs of the tasks alone have found. */
static void look_at_evidence(kdri_poll *j)
{
	for (int64_t t = 0; t < j->T; t++) {
		j->alone_runs[t] = kdri_evidence_alone(j->evidence, &j->order, t);
		j->use[t] = kdri_evidence_use(j->evidence, &j->order, t);
		j->has[t] = j->use[t] != KDRI_USE_NOTHING;
	}
}

/* The graphs of the vote: of the runs alone, or of the rows here. */
static kdr_status settle_graphs(kdr_context *ctx, kdri_poll *j)
{
	for (int64_t t = 0; t < j->T; t++) {
		kdri_views_task *view = &j->views.tasks[t];
		if (!j->has[t])
			continue;
		KDRI_DO(kdri_evidence_settle(ctx, j->evidence, j->alone_runs[t], view, j->views.rows[t],
		                             &j->use[t]));
		j->has[t] = j->use[t] >= KDRI_USE_BALLOT;
		if (!j->has[t] && !view->has_graph)
			KDRI_DO(kdri_views_graphs(ctx, &j->views.options, view));
		if (j->use[t] == KDRI_USE_BALLOT) {
			kdri_alone_lend(ctx, j->alone_runs[t], view);
			j->lent[t] = true;
		}
	}
	return KDR_OK;
}

static kdr_status begin_on_graphs(kdr_context *ctx, kdri_poll *j)
{
	kdr_status st;
	kdri_views_options o;
	KDRI_TRY(kdri_joins_check(ctx, (kdri_joins)kdri_opt_choice(j->options, "graph")));
	KDRI_TRY(KDRI_NEW0(ctx, &j->ballots, j->T));
	KDRI_TRY(KDRI_NEW0(ctx, &j->answers, j->T));
	KDRI_TRY(KDRI_NEW0(ctx, &j->alone, j->T));
	KDRI_TRY(KDRI_NEW0(ctx, &j->alone_runs, j->T));
	KDRI_TRY(KDRI_NEW0(ctx, &j->use, j->T));
	KDRI_TRY(KDRI_NEW0(ctx, &j->has, j->T));
	KDRI_TRY(KDRI_NEW0(ctx, &j->lent, j->T));
	KDRI_TRY(KDRI_NEW(ctx, &j->k, j->T));
	look_at_evidence(j);
	o = views_options(ctx, j);
	o.later = ctx->deadline > 0;
	for (int64_t t = 0; t < j->T; t++) {
		j->k[t] = j->has[t] ? j->alone_runs[t]->k : j->problem->tasks[t].k;
		o.later = o.later && j->k[t] > 0; /* otherwise the graphs are needed to find k */
	}
	double end = ctx->deadline;
	ctx->deadline = end > 0 ? end + kdri_auto_grace(ctx) : 0;
	st = KDRI_TIMED("graph", kdri_views_new(ctx, j->problem, &o, &j->views)); /* (E1) */
	ctx->deadline = end;
	KDRI_TRY(st);
	if (o.together && !j->views.options.together)
		KDRI_TRY(kdri_result_warn(
		        ctx, j->result,
		        "the data sets do not vote on each other, because some are compared by cosine and some by distance; use the option metric=cosine or metric=distance for all"));
	j->later = o.later;
	KDRI_TRY(KDRI_TIMED("number of clusters", kdri_poll_find_k(ctx, j)));
done:
	return st;
}

static kdr_status answer_on_graphs(kdr_context *ctx, kdri_poll *j)
{
	kdr_status st;
	bool late = false;
	look_at_evidence(j); /* runs alone may have waited for the numbers of clusters */
	KDRI_TRY(KDRI_TIMED("graph", settle_graphs(ctx, j)));
	if (kdri_has_known_classes(j->problem)) {
		KDRI_TRY(KDRI_NEW0(ctx, &j->known, j->T));
		for (int64_t t = 0; t < j->T; t++) {
			KDRI_TRY(kdri_known_classes_new(ctx, j->problem, t, 1, &j->known[t]));
			if (j->known[t].nknown >
			    0) /* if -k auto found fewer clusters than classes are known */
				j->k[t] = KDRI_MAX(j->k[t], KDRI_MIN(j->problem->classes, j->views.rows[t]));
		}
	}
	for (int64_t t = 0; t < j->T; t++)
		if (!j->has[t])
			KDRI_TRY(KDRI_TIMED("graph", kdri_views_join(ctx, &j->views.tasks[t], j->k[t])));
	KDRI_TRY(take_kept(ctx, j));
	KDRI_TRY(run_members(ctx, j, &late));
	for (int64_t t = 0; t < j->T; t++)
		if (!kdri_views_has_graph(&j->views, t))
			KDRI_TRY(kdri_views_no_graphs(ctx, &j->views.tasks[t]));
	KDRI_TRY(KDRI_TIMED("vote", vote(ctx, j, late))); /* (E3) */
	for (int64_t t = 0; t < j->T; t++) {
		const kdri_verdict *a = &j->answers[t];
		int64_t n = j->ballots[t].n, *labels = NULL;
		KDRI_TRY(kdri_result_labels(ctx, j->result, t, &labels));
		memcpy(labels, a->labels, (size_t)n * sizeof *labels);
		kdri_result_set_k(j->result, t, j->k[t]);
	}
	KDRI_TRY(KDRI_TIMED("noise tests", kdri_poll_report(ctx, j)));
done:
	return st;
}

/* --- both kinds of polls ----------------------------------------------------------------------------------- */

kdr_status kdri_poll_begin(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                           const kdri_evidence *evidence, kdr_result *result, kdri_poll *out)
{
	KDRI_DO(kdri_order_find(ctx, problem, result, &out->order));
	out->problem = &out->order.problem;
	out->options = options;
	out->evidence = evidence;
	out->result = result;
	out->members = members;
	out->nmembers = MEMBERS;
	out->T = problem->ntasks;
	if (!kdri_is_table(problem))
		return begin_on_graphs(ctx, out);
	KDRI_DO(KDRI_NEW(ctx, &out->tables, 1));
	*out->tables = (kdri_tables){ .problem = out->problem,
		                      .order = &out->order,
		                      .evidence = evidence,
		                      .options = options,
		                      .result = result };
	return kdri_tables_begin(ctx, out->tables);
}

kdr_status kdri_poll_answer(kdr_context *ctx, kdri_poll *p)
{
	KDRI_DO(p->tables ? kdri_tables_answer(ctx, p->tables) : answer_on_graphs(ctx, p));
	kdri_order_put_back(&p->order, p->result);
	return KDR_OK;
}

int64_t kdri_poll_k(const kdri_poll *p, int64_t number)
{
	return (p->tables ? p->tables->k : p->k)[kdri_task_at(&p->order, number)];
}

void kdri_poll_take(kdr_context *ctx, kdri_poll *p, kdri_alone *to)
{
	kdri_k_found *own = p->tables ? &p->tables->found : &p->found[0];
	if (!p->tables && p->found[1].words.k > 0) { /* what was said about all tasks is about this one */
		own->words = p->found[1].words;
		own->sure = p->found[1].sure;
		own->next = p->found[1].next;
	}
	to->found = *own;
	*own = (kdri_k_found){ 0 };
	if (!p->tables)
		kdri_alone_take(ctx, &p->ballots[0], &p->answers[0], &p->views.tasks[0], to);
}

void kdri_poll_free(kdr_context *ctx, kdri_poll *p)
{
	for (int64_t t = 0; t < p->T; t++) {
		if (p->ballots)
			kdri_ballot_free(ctx, &p->ballots[t]);
		if (p->answers)
			kdri_verdict_free(ctx, &p->answers[t]);
		if (p->alone)
			kdri_verdict_free(ctx, &p->alone[t]);
		if (p->known)
			kdri_known_classes_free(ctx, &p->known[t]);
		if (p->lent && p->lent[t])
			kdri_alone_return(&p->views.tasks[t]);
	}
	for (int64_t t = 0; p->found && t <= p->T; t++)
		kdri_k_found_free(ctx, &p->found[t]);
	if (p->tables)
		kdri_tables_free(ctx, p->tables);
	KDRI_FREE(ctx, p->known, p->ballots, p->answers);
	kdri_free(ctx, p->alone_runs);
	KDRI_FREE(ctx, p->alone, p->use, p->has, p->lent, p->found);
	KDRI_FREE(ctx, p->k, p->tables);
	kdri_views_free(ctx, &p->views);
	kdri_order_free(ctx, &p->order);
	*p = (kdri_poll){ 0 };
}
