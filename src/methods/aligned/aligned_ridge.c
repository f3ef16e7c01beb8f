/* The aligned ridge, as a method. SPDX-License-Identifier: BSD-3-Clause
 *
 * Tasks are projected on the directions they share, each minus its own mean (engine/linear/aligned.c). A ridge
 * regression (engine/linear/aligned_ridge.c) in these directions fits the known classes and is also required
 *     (E1)  to align the means of both sides, overall and class by class, with its own predictions as classes,
 *     (E2)  to be smooth along the graph of the nearest neighbours of all samples,
 * for several rounds, which start from the predictions of a logistic regression. */
#include "engine/linear/aligned_ridge.h"
#include "engine/graph/views.h"
#include "engine/linear/aligned.h"
#include "engine/linear/rest.h"
#include "methods/aligned/aligned_tasks.h"

static const char stage[] = "aligned-ridge";

static const kdr_option_desc options_table[] = {
	KDRI_OPTION_DIRECTIONS,
	KDRI_INT("neighbors", 10, 1, 1e9, "number of nearest neighbours that each sample is joined to"),
	KDRI_REAL("smooth", 0.1, 0, 1e6, "weight of the neighbour graph"),
	KDRI_REAL("ridge", 0.1, 0, 1e6, "weight of the penalty on the coefficients", .open_min = true),
	KDRI_INT("rounds", 5, 1, 1e6,
	         "number of rounds in which the predicted labels are used to align the classes"),
	{ .name = NULL },
};

static const kdr_field_desc fields_table[] = {
	KDRI_ARRAY("probabilities", KDR_FLOAT64, "n x classes", "probability of each class", .per_task = true,
	           .scoring = KDR_SCORING_SHARES),
	{ .name = NULL },
};

static const char *const references_table[] = {
	"J. Wang, W. Feng, Y. Chen, H. Yu, M. Huang, P. S. Yu: Visual domain adaptation with manifold embedded "
	"distribution alignment. ACM Multimedia 2018.",
	NULL,
};

static kdr_status find_graph(kdr_context *ctx, const kdr_mat *e, int64_t neighbors, kdri_own *out,
                             int64_t *candidates)
{
	kdr_status st;
	kdri_views_task task = { .cosine = true };
	int64_t k = KDRI_MIN(neighbors, kdr_mat_rows(e) - 1);
	KDRI_TRY(kdri_knn_search(ctx, e, k, KDRI_METRIC_COSINE, NULL, &task.knn, candidates));
	KDRI_TRY(kdri_views_graph(ctx, &task, k, out));
done:
	kdri_knn_free(ctx, &task.knn);
	return st;
}

static kdr_status aligned_ridge_fit(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                                    kdr_result *result)
{
	kdr_status st;
	kdri_aligned_tasks t = { .d.set.x.view = kdr_mat_from_dense(NULL, 0, 0) };
	kdri_own graph = t.d.set.x;
	double *w = NULL, *p = NULL;
	int64_t candidates;
	int32_t *first = NULL;
	KDRI_TRY(kdri_aligned_tasks_new(ctx, problem, kdri_opt_int(options, "directions"), result, &t));
	kdr_mat e = kdr_mat_from_dense(t.e, t.d.n, t.width);
	const kdri_rest start = { .x = &e,
		                  .labels = t.d.labels,
		                  .classes = t.d.classes,
		                  .loss = KDRI_LOSS_LOGISTIC,
		                  .joint = true,
		                  .free_bias = true,
		                  .cost = 10,
		                  .stage = stage };
	KDRI_TRY(KDRI_NEW0(ctx, &w, kdri_rest_size(&start)));
	KDRI_TRY(KDRI_NEW(ctx, &p, t.d.n * t.d.classes));
	KDRI_TRY(KDRI_NEW(ctx, &first, t.d.n));
	KDRI_TRY(find_graph(ctx, &e, kdri_opt_int(options, "neighbors"), &graph, &candidates)); /* (E2) */
	if (candidates < t.d.n)
		KDRI_TRY(kdri_result_number(ctx, result, "neighbour_candidates", (double)candidates));
	KDRI_TRY(kdri_rest_train(ctx, &start, w));
	KDRI_TRY(kdri_rest_scores(ctx, &start, w, p));
	kdri_rest_answer(ctx, p, t.d.n, t.d.classes, first);
	const kdri_op near = kdri_op_mat(&graph.view);
	const kdri_aligned_ridge a = { .e = t.e,
		                       .n = t.d.n,
		                       .width = t.width,
		                       .classes = t.d.classes,
		                       .labels = t.d.labels,
		                       .source = t.d.source,
		                       .unlabelled = t.d.unlabelled,
		                       .start = first,
		                       .graph = &near,
		                       .smooth = kdri_opt_real(options, "smooth"),
		                       .ridge = kdri_opt_real(options, "ridge"),
		                       .rounds = kdri_opt_int(options, "rounds") };
	KDRI_TRY(kdri_aligned_ridge_run(ctx, &a, p)); /* (E1) */
	KDRI_TRY(kdri_domains_put(ctx, &t.d, p, "probabilities", result));
	bool stopped = ctx->cancelled || ctx->timed_out;
	kdri_result_stop(result, stopped ? kdri_stop_reason(ctx) : KDR_STOP_CONVERGED, a.rounds);
done:
	kdri_aligned_tasks_free(ctx, &t);
	kdri_own_free(ctx, &graph);
	KDRI_FREE(ctx, w, p, first);
	return st;
}

const kdri_algo kdri_algo_aligned_ridge = {
	.info = { .id = "aligned-ridge",
	          .class_name = "AlignedRidge",
	          .title = "Aligned ridge regression",
	          .summary =
	                  "ridge regression that aligns the classes of source and target and is smooth among neighbours",
	          .family = KDR_FAMILY_TRANSFER,
	          .options = options_table,
	          .fields = fields_table,
	          .references = references_table },
	.fit = aligned_ridge_fit,
};
