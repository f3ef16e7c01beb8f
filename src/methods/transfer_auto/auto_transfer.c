/* auto, for transfer: an ensemble that learns how its members err. SPDX-License-Identifier: BSD-3-Clause
 *
 * No score without labels picks the right method for a target. So ten classifiers of different kinds label it, half of
 * them on the data as they are, half where source and target are centred each, and five more on tables. Those that predict held-out
 * source samples well vote:
 *
 *     (E1)  Z, E, and the target's graph of 10 nearest neighbours                      transfer_auto/views.c
 *     (E2)  10 members, 15 on tables, each an answer for every sample                  transfer_auto/members.c, tables.c
 *           except those excluded                                                      transfer_auto/gate.c, shares.c
 *     (E3)  a vote that learns each member's confusion matrix, with clusters of the
 *           graph and neighbours as further voters                                     engine/ensemble/vote.c
 *     (E4)  how sure each answer is                                                    transfer_auto/tally.c
 *
 * Where the sources have other features than the target, or nearly none of its, and bridges are given, the members are ttl
 * and nmtf through each bridge. The rule and what it is worth are in docs/transfer.md. Every target is labelled by itself, from all sources. What the
 * answer is worth beside plain classifiers, and what each source gave, is in transfer_auto/report.c.
 *
 * What a saved model predicts with is one linear classifier of the target's samples as they were labelled:
 *     (E5)  an svm of cost 1, trained on the targets' rows and their answers. */
#include "methods/transfer_auto/report.h"
#include "methods/transfer_auto/tables.h"

#include "engine/graph/policy.h"
#include "engine/graph/views.h"
#include "engine/linear/aligned.h"
#include "engine/linear/aligned_ridge.h"
#include "engine/linear/rest.h"
#include "methods/common/linear_model.h"

static const char stage[] = "auto-transfer";
/* Clusters for each class that vote: tally.c. */
enum { CLUSTERS_A_CLASS = 3 };

#define MEMBER_ID(symbol, id) id,
static const char *const member_choices[] = { "all", KDRI_TRANSFER_EACH(MEMBER_ID) NULL };

static const kdr_option_desc options_table[] = {
	KDRI_INT("neighbors", 10, 1, 1e9, "nearest neighbours each sample is joined to in the graphs"),
	KDRI_CHOICE(
	        "graph", KDRI_JOINS_AUTO, kdri_joins_names,
	        "what samples are joined to in the graphs: their nearest neighbours, or the nearest of some samples that are landmarks; auto: landmarks where neighbours are too many to be found exactly"),
	KDRI_INT("landmarks", 2000, 1, 30000, "samples that are landmarks, where those are asked for"),
	KDRI_INT("rounds", 10, 1, 1e6, "rounds of the vote, in which it learns how the members err"),
	KDRI_BOOL("follow_shares", 1,
	          "where shares of classes seem to have moved: ask the members that go by means again"),
	KDRI_BOOL(
	        "tables", 0,
	        "also run the members for tables (forests, another logistic regression); the command line sets it if columns are in different units"),
	KDRI_BOOL(
	        "gate", 1,
	        "exclude members that predict held-out source samples poorly, and members that centre each data set "
	        "if source and target overlap"),
	KDRI_CHOICE("member", 0, member_choices, "ask one member alone, to compare"),
	KDRI_REAL("abstain", 0, 0, 1,
	          "share of each target's samples that get no class: those the vote is least sure of",
	          .open_max = true),
	KDRI_INT("ask", 0, 0, 1e9, "choose N samples of each target for a person to label next; 0: none"),
	KDRI_BOOL("without", 1, "with several sources: vote again without each of them, to say what it gave"),
	{ .name = NULL },
};

static const kdr_field_desc fields_table[] = {
	KDRI_FIELDS_LINEAR,
	KDRI_ARRAY("unit_rows", KDR_INT64, "1",
	           "1 where samples are brought to unit length before those weights", .in_model = true),
	KDRI_ARRAY("confidence", KDR_FLOAT64, "n", "estimated chance that each answer is right",
	           .per_task = true),
	KDRI_ARRAY("agreement", KDR_FLOAT64, "n",
	           "how far members, their posteriors and neighbours agree with each answer, 0 to 1",
	           .per_task = true),
	KDRI_ARRAY("probabilities", KDR_FLOAT64, "n x classes",
	           "mean over the members of how likely each finds each class", .per_task = true,
	           .scoring = KDR_SCORING_SHARES),
	KDRI_ARRAY("votes", KDR_INT64, "members x n",
	           "the class each member gives each sample; -1 of members that do not vote",
	           .per_task = true),
	KDRI_ARRAY("shares", KDR_FLOAT64, "classes x 2",
	           "share of each class among the labelled samples, and among the answers", .per_task = true),
	KDRI_ARRAY("unlike_source", KDR_FLOAT64, "n",
	           "rank of each sample by how little it is like the source, 0 to 1 (least like it)",
	           .per_task = true),
	KDRI_ARRAY("target_clusters", KDR_INT64, "n",
	           "cluster of each sample in the target, of three times as many clusters as classes",
	           .per_task = true),
	KDRI_ARRAY("ask", KDR_INT64, "N", "option ask: samples to label next, most useful first",
	           .per_task = true),
	KDRI_ARRAY("margin", KDR_FLOAT64, "n",
	           "option ask: how much more probable each answer is than the best other class",
	           .per_task = true),
	KDRI_ARRAY("plain_svm", KDR_INT64, "n", "the class a plain linear SVM would have given",
	           .per_task = true),
	KDRI_ARRAY("plain_logreg", KDR_INT64, "n", "the class a plain logistic regression would have given",
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

/* (E5): rows of all targets that were labelled. */
static kdr_status put_model(kdr_context *ctx, const kdr_problem *problem, const kdri_transfer_verdict *v,
                            kdr_result *result)
{
	kdr_status st;
	int64_t T = problem->ntasks, count = 0, n = 0, d, *labels = NULL, *kind = NULL, at = 0;
	const kdr_mat **parts = NULL;
	double *w = NULL;
	bool few = false;
	kdri_own all = { .view = kdr_mat_from_dense(NULL, 0, 0) }, unit = all;
	KDRI_TRY(KDRI_NEW(ctx, &parts, T));
	for (int64_t t = 0; t < T; t++)
		if (problem->tasks[t].role == KDR_ROLE_TARGET) {
			parts[count++] = &problem->tasks[t].x;
			n += kdr_mat_rows(&problem->tasks[t].x);
			few = v[t].few;
		}
	KDRI_TRY(kdri_mat_stack(ctx, parts, count, &all));
	d = kdr_mat_cols(&all.view);
	KDRI_TRY(KDRI_NEW(ctx, &labels, n));
	for (int64_t t = 0; t < T; t++)
		for (int64_t i = 0; problem->tasks[t].role == KDR_ROLE_TARGET && i < v[t].n; i++)
			labels[at++] = v[t].answer[i];
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
	kdri_free(ctx, parts);
	kdri_free(ctx, labels);
	kdri_free(ctx, w);
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
		                 "the model does not say whether samples have unit length");
	if (*(const int64_t *)u.data)
		KDRI_TRY(kdri_unit_rows(ctx, x, &rows));
	KDRI_TRY(kdri_linear_predict(ctx, fitted, options, task, &rows.view, labels));
done:
	kdri_own_free(ctx, &rows);
	return st;
}

static double auto_transfer_predict_bytes(const kdri_extent *x, const kdr_result *fitted,
                                          const kdr_options *o, int threads)
{
	const kdr_array unit = kdr_result_array(fitted, "unit_rows", -1);
	(void)o, (void)threads;
	return (unit.data && *(const int64_t *)unit.data ? kdri_extent_values(x) : 0) +
	       8 * (x->n + x->d) * (double)kdr_result_k(fitted, 0);
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

/* The vote again without each source, where there are several and time is left. */
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
		                 "%lld sources and %lld targets: at least one of each is needed",
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
			KDRI_TRY(kdri_transfer_needs_bridge(ctx, problem, t, &bridged));
		crossed = crossed || bridged;
		KDRI_TRY(bridged ? kdri_transfer_bridged_new(ctx, problem, t, &o, result, &v[t])
		                 : vote_on(ctx, problem, &o, t, -1, result, &v[t]));
		KDRI_TRY(kdri_transfer_report(ctx, problem, t, &v[t], kdri_opt_real(options, "abstain"),
		                              result));
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
			        "bridges are not used: sources and targets share features; method ttl goes through one"));
			break;
		}
	KDRI_TRY(put_model(ctx, problem, v, result));
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

/* --- memory ---------------------------------------------------------------------------------------------- */

/* A vote: sources and a target below each other, of unit length unless there are few features, and centred unless they are words;
 * their graphs; answers of all members. Then what members need one after the other. */
static kdri_bytes auto_transfer_estimate_bytes(const kdri_sizes *s, const kdri_extent *x, double c,
                                               const kdr_options *o)
{
	kdri_extent all = *x, target = { 0 };
	for (int64_t t = 0; t < s->ntasks; t++) { /* the largest */
		const kdri_extent own = kdri_extent_of(&s->tasks[t]);
		target = s->tasks[t].role == KDR_ROLE_TARGET && own.n > target.n ? own : target;
	}
	all.n += target.n - kdri_sizes_role(s, KDR_ROLE_TARGET).n;
	all.entries += target.entries - kdri_sizes_role(s, KDR_ROLE_TARGET).entries;
	const kdri_joins to = (kdri_joins)kdri_opt_choice(o, "graph");
	const kdri_traits traits = kdri_extent_traits(&all, s->nonnegative);
	const bool few = kdri_looks_like_measurements(&traits), words = kdri_looks_like_words(&traits),
	           tables = kdri_opt_bool(o, "tables");
	const kdri_metric metric = few ? KDRI_METRIC_EUCLIDEAN : KDRI_METRIC_COSINE;
	const double n = all.n, known = n - target.n, neighbors = kdri_opt_real(o, "neighbors"),
	             width = few ? all.d + 1 : KDRI_MIN(KDRI_ALIGNED_MOST, KDRI_MIN(all.d, n));
	const kdri_extent e = kdri_extent_dense(n, width);
	const kdri_instead instead = to == KDRI_JOINS_AUTO ? KDRI_INSTEAD_LANDMARKS : KDRI_INSTEAD_CANDIDATES;
	const kdri_decided near = kdri_search_decided(&target, metric, instead),
	                   near_e = kdri_search_decided(&e, KDRI_METRIC_COSINE, instead);
	const bool joined = to == KDRI_JOINS_LANDMARKS || (to == KDRI_JOINS_AUTO && (!near || !near_e));
	const double marks = (double)kdri_landmark_count(kdri_opt_int(o, "landmarks"),
	                                                 CLUSTERS_A_CLASS * (int64_t)c),
	             most = joined ? KDRI_TRANSFER_TELLING : 0;
	double graph, joint, spectrum = 0;
	const double own = joined ? kdri_landmarks_bytes(&target, marks, 2 * neighbors, 3 * c, &graph)
	                          : kdri_knn_graph_bytes(&target, neighbors, metric, near, s->threads,
	                                                 &graph),
	             both = joined ? kdri_landmarks_bytes(&e, marks, neighbors, 0, &joint)
	                           : kdri_knn_graph_bytes(&e, neighbors, KDRI_METRIC_COSINE, near_e,
	                                                  s->threads, &joint);
	if (!joined)
		spectrum = kdri_spectrum_bytes(target.n, 2 * target.n * neighbors, 3 * c);
	const double classifier = KDRI_MAX(kdri_cost_by_folds_bytes(&all, known, c),
	                                   36 * n + kdri_linear_bytes(&all, n, c, KDRI_LOSS_SQUARED_HINGE)),
	             ridge = joint + 8 * e.entries +
	                     KDRI_MAX(kdri_aligned_ridge_bytes(n, width),
	                              kdri_cost_by_folds_bytes(&e, known, c)),
	             aligned = KDRI_MAX(kdri_aligned_bytes(&all, width, most), 8 * e.entries + both),
	             clusters = kdri_spectral_bytes(target.n, 3 * c, spectrum, s->threads),
	             layers = kdri_transfer_layers_bytes(s, &all, words),
	             forests = tables || !words ? kdri_transfer_forests_bytes(&all, known, c, tables) : 0,
	             factors = kdri_transfer_factors_bytes(s, &all);
	const double members = fmax(fmax(fmax(classifier, ridge), fmax(aligned, clusters)),
	                            joint + fmax(fmax(layers, factors), forests));
	return (kdri_bytes){ .more = kdri_labelled_bytes(&all) + (!few + !words) * kdri_extent_values(&all) +
		                     graph +
		                     8 * c * (2 * n + all.d + (KDRI_TRANSFER_MEMBERS + 3) * target.n) +
		                     fmax(own - graph, members) };
}

const kdri_algo kdri_algo_auto_transfer = {
	.info = { .id = "auto-transfer",
	          .class_name = "AutoTransfer",
	          .called = "auto",
	          .title = "Ensemble",
	          .summary =
	                  "several classifiers label the target and vote, with its neighbours and clusters; the default of "
	                  "transfer, where it is called auto",
	          .family = KDR_FAMILY_TRANSFER,
	          .flags = KDR_ALGO_PREDICT | KDR_ALGO_RECIPE | KDR_ALGO_BRIDGES,
	          .options = options_table,
	          .fields = fields_table,
	          .references = references_table },
	.fit = auto_transfer_fit,
	.estimate_bytes = auto_transfer_estimate_bytes,
	.predict = auto_transfer_predict,
	.estimate_predict_bytes = auto_transfer_predict_bytes,
};
