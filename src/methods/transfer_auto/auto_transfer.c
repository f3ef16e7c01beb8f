/* auto, for transfer: an ensemble that learns how its members err. SPDX-License-Identifier: BSD-3-Clause
 *
 * No score without labels selects the right method for a target. Ten classifiers of different kinds therefore label
 * it, half of them on the original data, half with source and target centred separately, and five more on tables.
 * Those that predict held-out source samples well vote:
 *
 *     (E1)  Z, E, and the target's graph of 10 nearest neighbours                      transfer_auto/views.c
 *     (E2)  10 members, 15 on tables, each an answer for every sample                  transfer_auto/members.c, members.c
 *           except those excluded                                                      transfer_auto/gate.c, shares.c
 *     (E3)  a vote that learns each member's confusion matrix, with clusters of the
 *           graph and neighbours as further voters                                     engine/ensemble/vote.c
 *     (E4)  the confidence of each answer                                                    transfer_auto/tally.c
 *
 * If the sources have other features than the target, or share almost none with it, and bridges are given, the
 * members are ttl and nmtf through each bridge. docs/notes/transfer.md describes the rule and its quality. Every
 * target is labelled separately, from all sources. transfer_auto/report.c compares the answer with plain classifiers
 * and reports the contribution of each source.
 *
 * A saved model predicts with one linear classifier of all labelled samples:
 *     (E5)  an svm of cost 1, trained on the sources' rows and their classes, and on the targets' rows and their answers. */
#include <stdio.h>

#include "engine/graph/similarity.h"
#include "engine/graph/views.h"
#include "engine/linear/linear.h"
#include "methods/common/labelled.h"
#include "methods/transfer_auto/auto_transfer.h"

/* A target that only bridges lead to: ttl and nmtf through each of them vote. */

static const double least_shared = 0.1;
enum { MOST_BRIDGES = 5 };

/* Whether task `target` can only be labelled through a bridge: there is one, and the sources have other features, or
 * almost none of those of the target. */
static kdr_status transfer_needs_bridge(kdr_context *ctx, const kdr_problem *problem, int64_t target,
                                        bool *out)
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
	kdri_mat_col_counts(ctx, x, own);
	for (int64_t t = 0; t < problem->ntasks; t++) {
		if (problem->tasks[t].role != KDR_ROLE_SOURCE)
			continue;
		kdri_mat_col_counts(ctx, &problem->tasks[t].x, theirs);
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
	KDRI_FREE(ctx, own, theirs);
	return st;
}

/* The target alone, with the sources' class proportions. */
static kdr_status target_alone(kdr_context *ctx, const kdr_problem *problem, int64_t target, kdri_domains *d)
{
	const kdr_task *task = &problem->tasks[target];
	int64_t total = 0;
	d->n = kdr_mat_rows(&task->x);
	d->ntasks = 1;
	d->classes = d->set.classes = problem->classes;
	d->set.x.view = task->x;
	KDRI_DO(KDRI_NEW0(ctx, &d->begin, 2));
	KDRI_DO(KDRI_NEW(ctx, &d->class_of, d->classes));
	KDRI_DO(KDRI_NEW(ctx, &d->labels, d->n));
	KDRI_DO(KDRI_NEW(ctx, &d->unlabelled, d->n));
	KDRI_DO(KDRI_NEW0(ctx, &d->share, d->classes));
	d->begin[1] = d->n;
	for (int64_t i = 0; i < d->n; i++) {
		d->labels[i] = task->labels ? task->labels[i] : -1;
		d->unlabelled[i] = d->labels[i] < 0;
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
	return KDR_OK;
}

/* One method through one bridge, which is one data set or, for first and second views, two. */
typedef struct crossing {
	kdri_transfer_tally *w;
	const kdr_problem *problem;
	int64_t target, bridge[2], views;
	const char *method;
} crossing;

/* The method's probabilities of the target's rows into w->p. */
static kdr_status cross(kdr_context *ctx, void *user)
{
	kdr_status st;
	const crossing *c = user;
	const kdr_problem *problem = c->problem;
	kdri_transfer_tally *w = c->w;
	kdr_task *tasks = NULL;
	kdr_options *options = NULL;
	kdr_result *result = NULL;
	int64_t count = 0;
	KDRI_TRY(KDRI_NEW(ctx, &tasks, problem->ntasks));
	for (int64_t t = 0; t < problem->ntasks; t++)
		if (problem->tasks[t].role == KDR_ROLE_SOURCE)
			tasks[count++] = problem->tasks[t];
	for (int64_t v = 0; v < c->views; v++)
		tasks[count++] = problem->tasks[c->bridge[v]];
	tasks[count] = problem->tasks[c->target];
	const kdr_problem part = { .tasks = tasks, .ntasks = count + 1, .classes = problem->classes };
	KDRI_TRY(kdri_options_new(ctx, kdri_algo_find(c->method), NULL, &options));
	KDRI_TRY(kdri_fit_member(ctx, &part, options, &result));
	kdr_array p = kdr_result_array(result, "probabilities", count);
	memcpy(w->p, p.data, (size_t)(w->n * w->c) * sizeof *w->p);
	const char *name = problem->tasks[c->bridge[0]].name;
	for (int64_t i = 0; w->frame.result && i < kdr_result_warning_count(result); i++)
		KDRI_TRY(kdri_result_warn(w->ctx, w->frame.result, "%s through %s: %s", c->method,
		                          name ? name : "the bridge", kdr_result_warning_at(result, i)));
done:
	kdri_free(ctx, tasks);
	kdr_options_free(options);
	kdr_result_free(result);
	return st;
}

static kdr_status run_bridges(kdri_transfer_tally *w, const kdr_problem *problem, int64_t target,
                              kdri_transfer_verdict *v)
{
	static const char *const methods[] = { "ttl", "nmtf" };
	kdr_status st;
	int64_t *bridges = NULL, count = 0, m = 0;
	bool views = problem->views, answered;
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
	w->frame = kdri_frame_new(w->ctx, w->frame.result, 1);
	for (int64_t b = 0; b < KDRI_MIN(count, MOST_BRIDGES); b++)
		for (int k = 0; k < 2; k++, m++) {
			crossing c = { .w = w,
				       .problem = problem,
				       .target = target,
				       .bridge = { bridges[b], views ? bridges[count + b] : -1 },
				       .views = views ? 2 : 1,
				       .method = methods[k] };
			const char *name = problem->tasks[bridges[b]].name;
			snprintf(v->name[m], sizeof v->name[m], "%s through %.60s", methods[k],
			         name ? name : "a bridge");
			KDRI_TRY(kdri_frame_ask(&w->frame,
			                        &(kdri_turn){ .name = v->name[m],
			                                      .number = m,
			                                      .of = 2 * count,
			                                      .run = cross,
			                                      .user = &c },
			                        &answered));
			if (answered)
				KDRI_TRY(kdri_transfer_tally_take(w, m, w->p));
		}
	KDRI_TRY(kdri_frame_end(&w->frame, KDR_ERR_DATA, "no bridge could be used; the last error was"));
done:
	kdri_free(w->ctx, bridges);
	return st;
}

/* The same vote if `problem` has bridges: members are ttl and nmtf through each of at most five bridges. If source and
 * target have different widths, the bridges are the first views and then, in the same order, the second views. */
static kdr_status transfer_bridged_new(kdr_context *ctx, const kdr_problem *problem, int64_t target,
                                       const kdri_transfer_options *options, kdr_result *result,
                                       kdri_transfer_verdict *out)
{
	kdr_status st;
	kdri_transfer_tally w = kdri_transfer_tally_empty(ctx, options, result);
	kdri_transfer_verdict v = { .distance = NAN, .right = NAN };
	KDRI_TRY(target_alone(ctx, problem, target, &w.d));
	w.n = w.d.n;
	w.c = w.d.classes;
	KDRI_TRY(kdri_transfer_views_new(ctx, &w.d, &options->joins, &w.v));
	KDRI_TRY(kdri_transfer_tally_room(ctx, &w));
	KDRI_TRY(run_bridges(&w, problem, target, &v));
	KDRI_TRY(kdri_transfer_tally_vote(&w));
	KDRI_TRY(kdri_transfer_tally_fill(&w, &v));
	*out = v;
	v = (kdri_transfer_verdict){ 0 };
done:
	kdri_transfer_verdict_free(ctx, &v);
	kdri_transfer_tally_free(ctx, &w);
	return st;
}

static const char stage[] = "auto-transfer";
/* Clusters for each class that vote: verdict.c. */
enum { CLUSTERS_A_CLASS = 3 };

#define MEMBER_ID(symbol, id) id,
static const char *const member_choices[] = { "all", KDRI_TRANSFER_EACH(MEMBER_ID) NULL };

static const kdr_option_desc options_table[] = {
	KDRI_INT("neighbors", 10, 1, 1e9,
	         "number of nearest neighbours that each sample is joined to in the graphs"),
	KDRI_CHOICE(
	        "graph", KDRI_JOINS_AUTO, kdri_joins_names,
	        "what samples are joined to in the graphs: their nearest neighbours, or the nearest of a few samples chosen as landmarks; auto: landmarks if there are too many samples for an exact search"),
	KDRI_INT("landmarks", 2000, 1, 30000, "number of samples that are landmarks, if landmarks are used"),
	KDRI_INT("rounds", 10, 1, 1e6,
	         "number of rounds of the vote, which learns the typical errors of each method"),
	KDRI_BOOL(
	        "follow_shares", 1,
	        "run the methods based on class means again if the class proportions appear to have changed"),
	KDRI_BOOL(
	        "tables", 0,
	        "also run the methods for tables (forests and another logistic regression); the program sets it if columns are in different units"),
	KDRI_BOOL(
	        "gate", 1,
	        "exclude methods that predict held-out source samples poorly and, if source and target overlap, methods that centre each data set"),
	KDRI_CHOICE("member", 0, member_choices, "use only one of the methods, for comparison"),
	KDRI_REAL("abstain", 0, 0, 1,
	          "fraction of each target's samples that get no class, starting with the least certain",
	          .open_max = true),
	KDRI_INT("ask", 0, 0, 1e9, "choose N samples of each target for a person to label next; 0: none"),
	KDRI_BOOL("without", 1,
	          "with several sources: vote again without each of them, to report what it contributes"),
	{ .name = NULL },
};

static const kdr_field_desc fields_table[] = {
	KDRI_FIELDS_LINEAR,
	KDRI_ARRAY("unit_rows", KDR_INT64, "1",
	           "1 if samples are scaled to unit length before the weights are applied", .in_model = true),
	KDRI_ARRAY("confidence", KDR_FLOAT64, "n", "estimated probability that each label is right",
	           .per_task = true),
	KDRI_ARRAY("agreement", KDR_FLOAT64, "n",
	           "agreement of the methods, their probabilities and the neighbours with each label, 0 to 1",
	           .per_task = true),
	KDRI_ARRAY("probabilities", KDR_FLOAT64, "n x classes",
	           "probability of each class, mean over the methods", .per_task = true,
	           .scoring = KDR_SCORING_SHARES),
	KDRI_ARRAY("votes", KDR_INT64, "members x n",
	           "the class that each method gives each sample; -1 for methods that do not vote",
	           .per_task = true),
	KDRI_ARRAY("shares", KDR_FLOAT64, "classes x 2",
	           "proportion of each class among the labelled samples, and among the predicted labels",
	           .per_task = true),
	KDRI_ARRAY("unlike_source", KDR_FLOAT64, "n",
	           "rank of each sample by how little it resembles the source, 0 to 1 (least like it)",
	           .per_task = true),
	KDRI_ARRAY("target_clusters", KDR_INT64, "n",
	           "cluster of each sample in the target, with three times as many clusters as classes",
	           .per_task = true),
	KDRI_ARRAY("ask", KDR_INT64, "N", "option ask: samples to label next, most useful first",
	           .per_task = true),
	KDRI_ARRAY("margin", KDR_FLOAT64, "n",
	           "option ask: how much more probable each label is than the best other class",
	           .per_task = true),
	KDRI_ARRAY("plain_svm", KDR_INT64, "n", "the class that a plain linear SVM would give",
	           .per_task = true),
	KDRI_ARRAY("plain_logreg", KDR_INT64, "n", "the class that a plain logistic regression would give",
	           .per_task = true),
	{ .name = NULL },
};

static const char *const references_table[] = {
	"A. P. Dawid, A. M. Skene: Maximum likelihood estimation of observer error-rates using the EM algorithm. "
	"Applied Statistics 28:20-28, 1979.",
	"J. Wang, W. Feng, Y. Chen, H. Yu, M. Huang, P. S. Yu: Visual domain adaptation with manifold embedded "
	"distribution alignment. ACM Multimedia 2018.",
	NULL,
};

/* --- what a model predicts with ------------------------------------------------------------------------ */

/* What (E5) learns from a task: the answers of a target, the classes of a source that has the targets' features; NULL: nothing. */
static const int64_t *lesson_of(const kdr_task *task, const kdri_transfer_verdict *v, int64_t d)
{
	if (task->role == KDR_ROLE_TARGET)
		return v->answer;
	return task->role == KDR_ROLE_SOURCE && kdr_mat_cols(&task->x) == d ? task->labels : NULL;
}

/* (E5) */
static kdr_status put_model(kdr_context *ctx, const kdr_problem *problem, const kdri_transfer_verdict *v,
                            kdr_result *result)
{
	kdr_status st;
	int64_t T = problem->ntasks, count = 0, n = 0, d = 0, *labels = NULL, *kind = NULL, at = 0;
	const kdr_mat **parts = NULL;
	double *w = NULL;
	bool few = false;
	kdri_own all = { .view = kdr_mat_from_dense(NULL, 0, 0) }, unit = all;
	KDRI_TRY(KDRI_NEW(ctx, &parts, T));
	for (int64_t t = 0; t < T; t++)
		if (problem->tasks[t].role == KDR_ROLE_TARGET) {
			d = kdr_mat_cols(&problem->tasks[t].x);
			few = v[t].few;
		}
	for (int64_t t = 0; t < T; t++)
		if (lesson_of(&problem->tasks[t], &v[t], d)) {
			parts[count++] = &problem->tasks[t].x;
			n += kdr_mat_rows(&problem->tasks[t].x);
		}
	KDRI_TRY(kdri_mat_stack(ctx, parts, count, &all));
	KDRI_TRY(KDRI_NEW(ctx, &labels, n));
	for (int64_t t = 0; t < T; t++) {
		const int64_t *lesson = lesson_of(&problem->tasks[t], &v[t], d);
		for (int64_t i = 0; lesson && i < kdr_mat_rows(&problem->tasks[t].x); i++)
			labels[at++] = lesson[i];
	}
	if (few)
		unit.view = all.view;
	else
		KDRI_TRY(kdri_unit_rows(ctx, &all.view, &unit));
	const kdri_rest r = { .x = &unit.view,
		              .labels = labels,
		              .classes = problem->classes,
		              .loss = KDRI_LOSS_SQUARED_HINGE,
		              .cost = 1,
		              .stage = stage };
	KDRI_TRY(KDRI_NEW0(ctx, &w, kdri_rest_size(&r)));
	KDRI_TRY(kdri_rest_train(ctx, &r, w));
	KDRI_TRY(kdri_linear_put(ctx, result, d, problem->classes, 1, w));
	KDRI_TRY(kdri_result_array(ctx, result, "unit_rows", -1, KDR_INT64, 1, (int64_t[]){ 1 }, &kind));
	kind[0] = !few;
done:
	kdri_own_free(ctx, &unit);
	kdri_own_free(ctx, &all);
	KDRI_FREE(ctx, parts, labels, w);
	return st;
}

static kdr_status auto_transfer_predict(kdr_context *ctx, const kdr_result *fitted,
                                        const kdr_options *options, int64_t task, const kdr_mat *x,
                                        int64_t *labels)
{
	kdr_status st;
	kdr_array u = kdr_result_array(fitted, "unit_rows", -1);
	kdri_own rows = { .view = *x };
	if (!u.data || u.type != KDR_INT64 || u.ndim != 1 || u.shape[0] != 1)
		return kdri_fail(ctx, KDR_ERR_DATA,
		                 "the model does not specify whether samples have unit length");
	if (*(const int64_t *)u.data)
		KDRI_TRY(kdri_unit_rows(ctx, x, &rows));
	KDRI_TRY(kdri_linear_predict(ctx, fitted, options, task, &rows.view, labels));
done:
	kdri_own_free(ctx, &rows);
	return st;
}

/* --- the run --------------------------------------------------------------------------------------------- */

/* Sources but one (-1: all), and one target, in this order. */
static int64_t choose_tasks(const kdr_problem *problem, int64_t target, int64_t without, kdr_task *out)
{
	int64_t count = 0;
	for (int64_t t = 0; t < problem->ntasks; t++)
		if (problem->tasks[t].role == KDR_ROLE_SOURCE && t != without)
			out[count++] = problem->tasks[t];
	out[count++] = problem->tasks[target];
	return count;
}

static kdr_status vote_on(kdr_context *ctx, const kdr_problem *problem, const kdri_transfer_options *o,
                          int64_t target, int64_t without, kdr_result *result, kdri_transfer_verdict *out)
{
	kdr_status st;
	kdr_task *tasks = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &tasks, problem->ntasks));
	int64_t count = choose_tasks(problem, target, without, tasks);
	const kdr_problem part = { .size = sizeof(kdr_problem),
		                   .tasks = tasks,
		                   .ntasks = count,
		                   .classes = problem->classes,
		                   .class_names = problem->class_names };
	KDRI_TRY(kdri_transfer_verdict_new(ctx, &part, o, result, out));
done:
	kdri_free(ctx, tasks);
	return st;
}

/* Repeats the vote without each source, if there are several and time remains. */
static kdr_status leave_out_sources(kdr_context *ctx, const kdr_problem *problem,
                                    const kdri_transfer_options *options, int64_t target,
                                    const kdri_transfer_verdict *v, kdr_result *result)
{
	kdr_status st = KDR_OK;
	kdri_transfer_options o = *options;
	o.plain = false;
	for (int64_t s = 0; s < problem->ntasks; s++) {
		kdri_transfer_verdict other = { 0 };
		if (problem->tasks[s].role != KDR_ROLE_SOURCE || ctx->cancelled || ctx->timed_out)
			continue;
		st = vote_on(ctx, problem, &o, target, s, NULL, &other);
		if (kdri_over_limit(ctx, st))
			return kdri_result_warn(ctx, result,
			                        "the comparison without each source was skipped: %s",
			                        ctx->error);
		if (st == KDR_ERR_MEMORY)
			return st;
		/* The others may not have two classes: then this source was needed. */
		st = kdri_transfer_report_source(ctx, problem, target, s, v, st == KDR_OK ? &other : NULL,
		                                 result);
		kdri_transfer_verdict_free(ctx, &other);
		if (st != KDR_OK)
			break;
	}
	return st;
}

/* `ask` samples of unknown class are needed in each target. */
static kdr_status auto_transfer_check_ask(kdr_context *ctx, const kdr_problem *problem, int64_t ask)
{
	for (int64_t t = 0; ask > 0 && t < problem->ntasks; t++) {
		const kdr_task *task = &problem->tasks[t];
		const int64_t n = kdr_mat_rows(&task->x);
		int64_t unknown = 0;
		if (task->role != KDR_ROLE_TARGET)
			continue;
		for (int64_t i = 0; i < n; i++)
			unknown += !task->labels || task->labels[i] < 0;
		if (unknown < ask)
			return kdri_fail(
			        ctx, KDR_ERR_OPTION,
			        "ask is %lld, but data set %s has %lld sample%s without a known class: ask for at most that number",
			        (long long)ask, task->name ? task->name : "target", (long long)unknown,
			        unknown == 1 ? "" : "s");
	}
	return KDR_OK;
}

static kdr_status auto_transfer_check(kdr_context *ctx, const kdr_problem *problem, int64_t *sources)
{
	int64_t targets = 0;
	*sources = 0;
	for (int64_t t = 0; t < problem->ntasks; t++) {
		*sources += problem->tasks[t].role == KDR_ROLE_SOURCE;
		targets += problem->tasks[t].role == KDR_ROLE_TARGET;
	}
	if (*sources < 1 || targets < 1)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "got %lld sources and %lld targets; at least one of each is needed",
		                 (long long)*sources, (long long)targets);
	return KDR_OK;
}

/* Some landmarks for each of the clusters that vote. */
static kdri_transfer_joins joins_of(const kdr_problem *problem, const kdr_options *options)
{
	return (kdri_transfer_joins){
		.to = (kdri_joins)kdri_opt_choice(options, "graph"),
		.neighbors = kdri_opt_int(options, "neighbors"),
		.landmarks = kdri_landmark_count(kdri_opt_int(options, "landmarks"),
		                                 CLUSTERS_A_CLASS * problem->classes),
	};
}

static kdr_status auto_transfer_fit(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                                    kdr_result *result)
{
	kdr_status st;
	const kdri_transfer_options o = { .joins = joins_of(problem, options),
		                          .rounds = kdri_opt_int(options, "rounds"),
		                          .follow_shares = kdri_opt_bool(options, "follow_shares"),
		                          .tables = kdri_opt_bool(options, "tables"),
		                          .gate = kdri_opt_bool(options, "gate"),
		                          .only = kdri_opt_choice(options, "member") - 1,
		                          .plain = kdri_opt_choice(options, "member") == 0 };
	kdri_transfer_verdict *v = NULL;
	int64_t sources;
	const int64_t ask = kdri_opt_int(options, "ask");
	bool late = false, crossed = false;
	KDRI_TRY(auto_transfer_check(ctx, problem, &sources));
	KDRI_TRY(auto_transfer_check_ask(ctx, problem, ask));
	KDRI_TRY(KDRI_NEW0(ctx, &v, problem->ntasks));
	for (int64_t t = 0; t < problem->ntasks; t++) {
		kdri_result_set_k(result, t, problem->classes);
		if (problem->tasks[t].role != KDR_ROLE_TARGET)
			continue;
		bool bridged = false;
		if (o.only < 0)
			KDRI_TRY(transfer_needs_bridge(ctx, problem, t, &bridged));
		crossed = crossed || bridged;
		KDRI_TRY(bridged ? transfer_bridged_new(ctx, problem, t, &o, result, &v[t])
		                 : vote_on(ctx, problem, &o, t, -1, result, &v[t]));
		KDRI_TRY(kdri_transfer_report(ctx, problem, t, &v[t], kdri_opt_real(options, "abstain"),
		                              kdri_opt_bool(options, "tables"), result));
		if (ask > 0)
			KDRI_TRY(kdri_transfer_report_ask(ctx, problem, t, &v[t], ask, result));
		late = late || v[t].late;
		if (sources > 1 && o.only < 0 && !bridged && kdri_opt_bool(options, "without"))
			KDRI_TRY(leave_out_sources(ctx, problem, &o, t, &v[t], result));
	}
	KDRI_TRY(kdri_transfer_report_members(ctx, problem, v, result));
	for (int64_t t = 0; t < problem->ntasks && !crossed; t++)
		if (problem->tasks[t].role == KDR_ROLE_BRIDGE) {
			KDRI_TRY(kdri_result_warn(
			        ctx, result,
			        "the bridges are not used, because sources and targets share features; use method ttl to transfer through a bridge"));
			break;
		}
	if (!ctx->no_model)
		KDRI_TRY(KDRI_TIMED("model", put_model(ctx, problem, v, result)));
	kdri_result_stop(result,
	                 late || ctx->cancelled || ctx->timed_out
	                         ? (ctx->cancelled ? KDR_STOP_CANCELLED : KDR_STOP_TIME)
	                         : KDR_STOP_CONVERGED,
	                 o.rounds);
done:
	for (int64_t t = 0; v && t < problem->ntasks; t++)
		kdri_transfer_verdict_free(ctx, &v[t]);
	kdri_free(ctx, v);
	return st;
}

const kdri_algo kdri_algo_auto_transfer = {
	.info = { .id = "auto-transfer",
	          .class_name = "AutoTransfer",
	          .called = "auto",
	          .title = "Ensemble of classifiers",
	          .summary =
	                  "several classifiers label the target and vote, using its neighbours and clusters; the default of transfer, where it is called auto",
	          .objective =
	                  "no objective: several classifiers label the target, and a vote learns their errors (Dawid and Skene). The label of sample i is\n"
	                  "argmax_k P_ik, P_ik ~ pi_k prod_m theta_m[k, l_mi] prod_z phi_z[k, z_i] psi[k, g_i]^2\n"
	                  "P_ik   probability that sample i is of class k\n"
	                  "pi_k   proportion of class k in the target\n"
	                  "l_mi   class that method m gives sample i\n"
	                  "theta  confusion matrix of method m, estimated from P\n"
	                  "z_i    cluster of sample i in each of two clusterings of the target; phi: the classes of its clusters\n"
	                  "g_i    most frequent class among the neighbours of sample i; psi: its confusion matrix",
	          .steps =
	                  "1. fit up to ten classifiers (fifteen on tables) on the source and label the target with each\n"
	                  "2. exclude those that predict held-out source samples poorly, and those that a change of class proportions misleads\n"
	                  "3. estimate pi, theta, phi and psi from P, then P from them; ten rounds",
	          .use = "Start with it if you have a labelled source and an unlabelled target with the same kind of features.",
	          .cost = "The sum of its classifiers, which include svm, logreg, self-training, nmtf and msda. docs/scale.md has measured times.",
	          .place = KDR_PLACE_START,
	          .family = KDR_FAMILY_TRANSFER,
	          .flags = KDR_ALGO_PREDICT | KDR_ALGO_RECIPE | KDR_ALGO_BRIDGES,
	          .options = options_table,
	          .fields = fields_table,
	          .references = references_table },
	.fit = auto_transfer_fit,
	.predict = auto_transfer_predict,
};
