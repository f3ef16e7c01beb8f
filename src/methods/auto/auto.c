/* auto: an ensemble that votes on the neighbour graph. SPDX-License-Identifier: BSD-3-Clause
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
 * its options, a view of the data. A job runs each task alone before (engine/ensemble/members.h): the members that use one task
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
#include "methods/auto/auto.h"
#include "api/method.h"
#include "comm/comm.h"
#include "core/internal.h"
#include "engine/graph/similarity.h"
#include "engine/kmeans/kmeans.h"
#include "matrix/kept.h"

#include <stdio.h>

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

static const char *const metrics[] = { "auto", "cosine", "distance", NULL };
static const char *const choices[] = { "auto", "yes", "no", NULL }, *const centrings[] = { "auto", "yes",
	                                                                                   "no", "both",
	                                                                                   NULL };

static const kdr_option_desc options_table[] = {
	KDRI_BOOL("transfer", 1,
	          "let the data sets learn from each other; false: each data set is clustered separately"),
	KDRI_INT("seeds", 3, 1, 1000, "number of runs of each method, with different random numbers"),
	KDRI_INT("neighbors", 10, 1, 1e9,
	         "number of nearest neighbours that each sample is joined to in the graph of the vote"),
	KDRI_CHOICE(
	        "graph", KDRI_JOINS_AUTO, kdri_joins_names,
	        "what samples are joined to in that graph: their nearest neighbours, or the nearest of a few samples chosen as landmarks; auto: landmarks on several ranks, or if there are too many pairs of samples for an exact search"),
	KDRI_INT("landmarks", 2000, 1, 30000,
	         "number of samples per data set that are landmarks, if landmarks are used"),
	KDRI_CHOICE(
	        "metric", 0, metrics,
	        "how samples are compared; auto: by cosine, or by distance if there are few features and most values are not zero"),
	KDRI_CHOICE(
	        "centre", KDRI_CHOICE_AUTO, centrings,
	        "subtract the mean before cosines are computed; both: use the sum of a graph with the mean and one without; auto: no if most values are zero and none is negative, as in word counts, otherwise both; the program sets both for molecule counts"),
	KDRI_CHOICE(
	        "exact", KDRI_CHOICE_AUTO, choices,
	        "search nearest neighbours among all samples; no: join samples to landmarks; auto: landmarks if there are too many pairs of samples"),
	KDRI_INT(
	        "k_max", 0, 0, 1e6,
	        "largest k considered by -k auto; 0: 20, and sqrt(n) / 5 for more than 10,000 samples, at most 40"),
	KDRI_BOOL("same_k", 1,
	          "with -k auto, use the same k for all data sets; the evidence is averaged over them"),
	KDRI_N_INIT(10),
	KDRI_MAX_ITER(300),
	{ .name = NULL },
};

static const kdr_field_desc fields_table[] = {
	KDRI_ARRAY("confidence", KDR_FLOAT64, "n",
	           "estimated probability that each sample is in the right cluster", .per_task = true),
	KDRI_ARRAY("agreement", KDR_FLOAT64, "n",
	           "agreement of the methods about each sample and its neighbours, 0 to 1", .per_task = true),
	KDRI_ARRAY("moved", KDR_INT64, "n",
	           "1 for samples that would be in another cluster without the other data sets",
	           .per_task = true),
	KDRI_ARRAY("before", KDR_INT64, "n",
	           "the cluster that each sample would be in without the other data sets", .per_task = true,
	           .holds = "k"),
	KDRI_ARRAY("centroids", KDR_FLOAT64, "k x d",
	           "mean of each cluster's samples, scaled to unit length if samples are compared by cosine",
	           .per_task = true, .in_model = true),
	KDRI_ARRAY("unit_rows", KDR_INT64, "1", "1 if samples are scaled to unit length", .per_task = true,
	           .in_model = true),
	KDRI_ARRAY(
	        "match_quality", KDR_FLOAT64, "tasks x k",
	        "estimated probability that each cluster and its counterpart in each data set belong together",
	        .per_task = true),
	KDRI_ARRAY("eigengap", KDR_FLOAT64, "k_max - 1",
	           "with -k auto: the gap after eigenvalue k of the 20-neighbour graph, for k from 2",
	           .per_task = true),
	KDRI_ARRAY(
	        "k_agreement", KDR_FLOAT64, "k_max - 1",
	        "with -k auto: agreement of three clusterings into k clusters (adjusted Rand index), for k from 2",
	        .per_task = true),
	KDRI_ARRAY("modularity", KDR_FLOAT64, "k_max - 1",
	           "with -k auto: modularity of a clustering into k clusters, for k from 2",
	           .per_task = true),
	KDRI_ARRAY("bic", KDR_FLOAT64, "k_max - 1",
	           "tables with -k auto: BIC of a mixture of k clusters, for k from 2; NaN: not computed",
	           .per_task = true),
	KDRI_ARRAY(
	        "prediction_strength", KDR_FLOAT64, "k_max - 1",
	        "tables with -k auto: agreement of halves of the rows on k clusters (prediction strength), for k from 2",
	        .per_task = true),
	KDRI_MIXTURE_FIELDS,
	{ .name = NULL },
};

static const char *const references_table[] = {
	"A. Strehl, J. Ghosh: Cluster ensembles: a knowledge reuse framework for combining multiple partitions. JMLR 3:583-617, 2002.",
	"A. L. N. Fred, A. K. Jain: Combining multiple clusterings using evidence accumulation. IEEE TPAMI 27:835-850, 2005.",
	NULL,
};

/* Landmarks of a task, some for each cluster; 0: a graph of neighbours. */
static int64_t landmarks_of(const kdr_context *ctx, const kdri_auto *j)
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

static kdri_views_options views_options(const kdr_context *ctx, const kdri_auto *j)
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
static bool compares(const kdr_context *ctx, const kdri_auto *j, const kdri_ballot *b)
{
	bool any = false;
	for (int64_t m = 0; m < b->count; m++)
		any |= b->transfer[m];
	return any && !ctx->sharing && !j->derived;
}

/* Equal samples are in one cluster, unless something is known about them. */
static void alike(const int64_t *first, int64_t n, const kdri_known_classes *known, kdri_verdict *v)
{
	for (int64_t i = 0; first && !known && i < n; i++) {
		v->labels[i] = v->labels[first[i]];
		v->agreement[i] = v->agreement[first[i]];
	}
}

static kdr_status vote(kdr_context *ctx, kdri_auto *j, bool late)
{
	double total = 0;
	kdr_stop stop = KDR_STOP_CONVERGED;
	for (int64_t t = 0; t < j->T; t++) {
		if (j->has[t] && j->given[t]->final) {
			/* The labels of the run alone, or those that were carried over. */
			const kdri_given *given = j->given[t];
			const kdri_verdict *from = &given->answer;
			const int64_t n = j->ballots[t].n;
			kdri_verdict *to = &j->answers[t];
			KDRI_DO(KDRI_NEW(ctx, &to->labels, n));
			KDRI_DO(KDRI_NEW(ctx, &to->agreement, n));
			memcpy(to->labels, given->label ? given->label : from->labels,
			       (size_t)n * sizeof *to->labels);
			j->k[t] = given->label ? given->k : j->k[t];
			memcpy(to->agreement, from->agreement, (size_t)n * sizeof *to->agreement);
			to->ncut = from->ncut;
			total += j->answers[t].ncut;
			if (kdr_result_stop(j->given[t]->result) != KDR_STOP_CONVERGED)
				stop = kdr_result_stop(j->given[t]->result);
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
		if (compares(ctx, j, &j->ballots[t]) && !hurried) {
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
	kdri_auto *j = user;
	double end = ctx->deadline;
	ctx->deadline = end + kdri_auto_grace(ctx);
	kdr_status st = kdri_views_graphs(ctx, &j->views.options, &j->views.tasks[t]);
	if (st == KDR_OK)
		st = kdri_views_join(ctx, &j->views.tasks[t], j->k[t]);
	ctx->deadline = end;
	return st;
}

static kdr_status auto_directions(kdr_context *ctx, void *user)
{
	kdri_auto *j = user;
	bool small = false; /* members that use all tasks vote only on these */
	for (int64_t t = 0; t < j->T; t++)
		small |= j->views.rows[t] <= SMALL && !(j->has[t] && j->given[t]->final);
	return kdri_views_directions(ctx, &j->views, j->k, small);
}

/* The partitions of complete fits with other numbers of clusters: these are (E2) then. */
static kdr_status take_kept(kdr_context *ctx, kdri_auto *j)
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
static void choose_members(const kdri_auto *j, kdri_member out[MEMBERS])
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

/* (E2), unless the partitions come from another fit. `later`: graphs are made when members need them. */
static kdr_status run_members(kdr_context *ctx, kdri_auto *j, bool later, bool *late)
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
		                         .given = j->given,
		                         .graph = later ? graph : NULL,
		                         .prepare = auto_directions,
		                         .user = j };
	KDRI_DO(kdri_members_run(ctx, j->problem, &j->views, &m, j->ballots, j->result, late));
	for (int64_t t = 0; t < j->T && !*late; t++)
		KDRI_DO(kdri_ballot_keep(ctx, t, &j->ballots[t]));
	return KDR_OK;
}

/* What runs of the tasks alone have found, unless partitions come from fits with other numbers of clusters. */
static void look_at_given(const kdr_context *ctx, kdri_auto *j)
{
	for (int64_t t = 0; t < j->T && !kdri_derives(ctx); t++) {
		j->given[t] = kdri_given_of(ctx, t);
		j->has[t] = j->given[t] != NULL;
	}
}

/* The graphs of the vote: of the runs alone, or of the rows here. */
static kdr_status settle_graphs(kdr_context *ctx, kdri_auto *j)
{
	for (int64_t t = 0; t < j->T; t++) {
		kdri_views_task *view = &j->views.tasks[t];
		if (!j->has[t])
			continue;
		KDRI_DO(kdri_given_settle(ctx, j->given[t], view, j->views.rows[t]));
		j->has[t] = !j->given[t]->compared;
		if (!j->has[t] && !view->has_graph)
			KDRI_DO(kdri_views_graphs(ctx, &j->views.options, view));
		else if (j->has[t] && !j->given[t]->final)
			kdri_given_graphs(ctx, j->given[t], view);
	}
	return KDR_OK;
}

/* Once the numbers of clusters are known. */
static kdr_status find_given(kdr_context *ctx, kdri_auto *j)
{
	if (!kdri_derives(ctx))
		KDRI_DO(KDRI_TIMED("alone", kdri_given_find(ctx, j->T, j->k)));
	look_at_given(ctx, j);
	return KDRI_TIMED("graph", settle_graphs(ctx, j));
}

static kdr_status auto_run(kdr_context *ctx, kdri_auto *j)
{
	kdr_status st;
	kdri_views_options o;
	bool late = false;
	KDRI_TRY(kdri_joins_check(ctx, (kdri_joins)kdri_opt_choice(j->options, "graph")));
	KDRI_TRY(KDRI_NEW0(ctx, &j->ballots, j->T));
	KDRI_TRY(KDRI_NEW0(ctx, &j->answers, j->T));
	KDRI_TRY(KDRI_NEW0(ctx, &j->alone, j->T));
	KDRI_TRY(KDRI_NEW0(ctx, &j->given, j->T));
	KDRI_TRY(KDRI_NEW0(ctx, &j->has, j->T));
	KDRI_TRY(KDRI_NEW(ctx, &j->k, j->T));
	look_at_given(ctx, j);
	o = views_options(ctx, j);
	o.later = ctx->deadline > 0;
	for (int64_t t = 0; t < j->T; t++) {
		j->k[t] = j->given[t] ? kdr_result_k(j->given[t]->result, 0) : j->problem->tasks[t].k;
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
	KDRI_TRY(KDRI_TIMED("number of clusters", kdri_auto_find_k(ctx, j)));
	KDRI_TRY(find_given(ctx, j));
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
	KDRI_TRY(run_members(ctx, j, o.later, &late));
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
	KDRI_TRY(KDRI_TIMED("noise tests", kdri_auto_report(ctx, j)));
	kdri_given_keep(ctx, &j->ballots[0], &j->answers[0], &j->views.tasks[0]);
done:
	return st;
}

static kdr_status auto_fit(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                           kdr_result *result)
{
	kdri_auto j = { .problem = problem,
		        .options = options,
		        .result = result,
		        .members = members,
		        .nmembers = MEMBERS,
		        .T = problem->ntasks };
	if (kdri_is_table(problem))
		return kdri_tables_fit(ctx, problem, options, result);
	kdr_status st = auto_run(ctx, &j);
	for (int64_t t = 0; t < j.T; t++) {
		if (j.ballots)
			kdri_ballot_free(ctx, &j.ballots[t]);
		if (j.answers)
			kdri_verdict_free(ctx, &j.answers[t]);
		if (j.alone)
			kdri_verdict_free(ctx, &j.alone[t]);
	}
	for (int64_t t = 0; j.known && t < j.T; t++)
		kdri_known_classes_free(ctx, &j.known[t]);
	KDRI_FREE(ctx, j.known, j.ballots, j.answers);
	KDRI_FREE(ctx, j.alone, j.given, j.has);
	kdri_free(ctx, j.k);
	kdri_views_free(ctx, &j.views);
	return st;
}

/* Of tables, the mean of the posteriors of the mixtures. */
static kdr_status auto_shares(kdr_context *ctx, const kdr_result *fitted, int64_t task, const kdr_mat *x,
                              double **out, int64_t *k)
{
	kdr_status st;
	const kdr_array a = kdr_result_array(fitted, "table_shares", task);
	int64_t *labels = NULL, size;
	double *share = NULL;
	if (!a.data)
		return kdri_new_samples_shares(ctx, fitted, task, x, out, k);
	KDRI_TRY(kdri_mul(ctx, kdr_mat_rows(x), a.shape[a.ndim - 1], &size));
	KDRI_TRY(KDRI_NEW(ctx, &share, size));
	KDRI_TRY(KDRI_NEW(ctx, &labels, kdr_mat_rows(x)));
	KDRI_TRY(kdri_mixture_predict(ctx, fitted, task, x, labels, share));
	*out = share;
	*k = a.shape[a.ndim - 1];
	share = NULL;
done:
	KDRI_FREE(ctx, share, labels);
	return st;
}

/* Labels by a vote of neighbours among the samples that the model keeps and of centroids (new_samples.c); without such samples, by
 * the nearest centroid. Some samples of the fit itself would be labelled differently; method_fields.predict_agreement is the
 * fraction of samples that keep their label. */
static kdr_status auto_predict(kdr_context *ctx, const kdr_result *fitted, const kdr_options *options,
                               int64_t task, const kdr_mat *x, int64_t *labels)
{
	kdr_status st;
	kdr_array c = kdr_result_array(fitted, "centroids", task),
	          u = kdr_result_array(fitted, "unit_rows", task);
	kdri_own rows = { .view = *x };
	double *share = NULL;
	int64_t k = 0;
	(void)options;
	if (kdr_result_array(fitted, "table_weights", -1).data)
		return kdri_mixture_predict(ctx, fitted, task, x, labels, NULL);
	if (!c.data || c.ndim != 2 || !u.data || u.type != KDR_INT64 || u.ndim != 1 || u.shape[0] != 1)
		return kdri_fail(ctx, KDR_ERR_DATA, "the model has no centroids for data set number %lld",
		                 (long long)task + 1);
	if (c.shape[1] != kdr_mat_cols(x))
		return kdri_fail(ctx, KDR_ERR_DATA,
		                 "the data have %lld columns, but the model's centroids have %lld",
		                 (long long)kdr_mat_cols(x), (long long)c.shape[1]);
	KDRI_TRY(kdri_new_samples_shares(ctx, fitted, task, x, &share, &k));
	for (int64_t i = 0; share && i < kdr_mat_rows(x); i++) {
		labels[i] = 0;
		for (int64_t z = 1; z < k; z++)
			if (share[i * k + z] > share[i * k + labels[i]])
				labels[i] = z;
	}
	if (share)
		goto done;
	if (*(const int64_t *)u.data)
		KDRI_TRY(kdri_unit_rows(ctx, x, &rows));
	KDRI_TRY(kdri_kmeans_assign(ctx, &rows.view, c.data, c.shape[0], false, labels));
done:
	kdri_own_free(ctx, &rows);
	kdri_free(ctx, share);
	return st;
}

const kdri_algo kdri_algo_auto = {
	.info = { .id = "auto",
	          .class_name = "Auto",
	          .title = "Ensemble of clustering methods",
	          .summary =
	                  "several methods vote on the clusters, using each data set alone and all together; the default of cluster",
	          .objective =
	                  "no single objective: several methods vote, and the clusters cut a graph of votes. The only value reported is\n"
	                  "NCut = sum_t sum_c cut(c) / vol(c), with W_ij = w_ij (0.05 + co_ij)^2\n"
	                  "t      data set\n"
	                  "c      cluster of data set t\n"
	                  "cut(c) sum of W_ij over samples i inside and j outside of cluster c\n"
	                  "vol(c) sum of W_ij over samples i inside of cluster c and all j\n"
	                  "w_ij   similarity of samples i and j, joined in the graph of 10 nearest neighbours\n"
	                  "co_ij  fraction of the methods' clusterings that put i and j into one cluster\n"
	                  "tables: mixtures vote without a graph, and the value is minus the log-likelihood of the mixtures with shared variances",
	          .steps =
	                  "1. cluster each data set alone: k-means, normalised cut, k-means along leading directions, snmf; three seeds each\n"
	                  "2. cluster all data sets together: k-means and shared directions with each data set's mean subtracted, mtcfir's graph\n"
	                  "3. weight the edges of the neighbour graph by the votes (W)\n"
	                  "4. find the clusters of W with eigenvectors and k-means, as ncut does; match the clusters of different data sets",
	          .use = "Start with it: you need not choose a method, and it reports how far to trust the clusters. Choose another method to reproduce a paper, or k-means if the data are large and the clusters simple.",
	          .cost = "Several times the cost of one method; methods that would need too much memory or time are skipped. docs/scale.md has measured times.",
	          .place = KDR_PLACE_START,
	          .family = KDR_FAMILY_CLUSTER,
	          .flags = KDR_ALGO_JOINT | KDR_ALGO_AUTO_K | KDR_ALGO_PREDICT | KDR_ALGO_RECIPE |
	                   KDR_ALGO_TABLES | KDR_ALGO_KNOWN,
	          .options = options_table,
	          .fields = fields_table,
	          .references = references_table },
	.ranks = true,
	.sorts = true,
	.fit = auto_fit,
	.predict = auto_predict,
	.shares = auto_shares,
};
