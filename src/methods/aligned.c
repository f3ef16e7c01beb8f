/* The aligned ridge, and prototypes by transport, as methods. SPDX-License-Identifier: BSD-3-Clause */
/* The aligned ridge, as a method.
 *
 * Tasks are projected on the directions they share, each minus its own mean (engine/linear/aligned.c). A ridge
 * regression (engine/linear/aligned.c) in these directions fits the known classes and is also required
 *     (E1)  to align the means of both sides, overall and class by class, with its own predictions as classes,
 *     (E2)  to be smooth along the graph of the nearest neighbours of all samples,
 * for several rounds, which start from the predictions of a logistic regression. */
/* Prototypes by transport, as a method.
 *
 * Tasks are projected on the directions they share, each minus its own mean (engine/linear/aligned.c). The sources'
 * class means are the first prototypes. The targets' samples are transported to them, and each prototype moves to the
 * mean of the samples it received, for several rounds (engine/linear/aligned.c):
 *     (E3)  the plan's row of a sample, scaled to sum 1, has the probability of each class. */
#include "engine/linear/aligned.h"
#include "api/method.h"
#include "engine/graph/views.h"
#include "engine/linear/linear.h"
#include "methods/common/labelled.h"

typedef struct kdri_aligned_tasks {
	kdri_domains d;
	double *e; /* n x width: each task minus its own mean, unit rows, leading directions, unit rows */
	int64_t width;
} kdri_aligned_tasks;

static void aligned_tasks_free(kdr_context *ctx, kdri_aligned_tasks *t)
{
	kdri_domains_free(ctx, &t->d);
	kdri_free(ctx, t->e);
	t->e = NULL;
}

/* `most`: maximum number of directions; 0: 100. */
static kdr_status aligned_tasks_new(kdr_context *ctx, const kdr_problem *problem, int64_t most,
                                    kdr_result *result, kdri_aligned_tasks *out)
{
	kdr_status st;
	kdri_aligned_tasks t = { .d.set.x.view = kdr_mat_from_dense(NULL, 0, 0) };
	double *means = NULL;
	int64_t size;
	KDRI_TRY(kdri_domains_new(ctx, problem, result, &t.d));
	const kdri_sets sets = { &t.d.set.x.view, t.d.ntasks, t.d.begin };
	KDRI_TRY(kdri_mul(ctx, sets.count, t.d.set.d, &size));
	KDRI_TRY(KDRI_NEW(ctx, &means, size));
	KDRI_TRY(kdri_sets_means(ctx, &sets, means));
	t.width = kdri_aligned_width(&sets);
	if (most > 0)
		t.width = KDRI_MAX(1, KDRI_MIN(most, KDRI_MIN(t.d.set.d, t.d.n - 2)));
	KDRI_TRY(kdri_aligned_new(ctx, &sets, means, t.width, 0, &t.e));
	*out = t;
	t = (kdri_aligned_tasks){ .d.set.x.view = kdr_mat_from_dense(NULL, 0, 0) };
done:
	kdri_free(ctx, means);
	aligned_tasks_free(ctx, &t);
	return st;
}

static const char stage[] = "aligned-ridge";

#define KDRI_OPTION_DIRECTIONS \
	KDRI_INT("directions", 0, 0, 1e6, \
	         "number of leading principal directions of all data sets, each minus its own mean; 0: 100", \
	         .automatic = "100")

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
	KDRI_TRY(aligned_tasks_new(ctx, problem, kdri_opt_int(options, "directions"), result, &t));
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
	aligned_tasks_free(ctx, &t);
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
	          .objective =
	                  "J = |X_s b - Y|^2 + tr b' ( M + smooth X' L X + ridge (tr X_s'X_s / p) I ) b: minimised exactly in each round, and not recorded\n"
	                  "X      samples of all data sets along their leading directions, each data set minus its own mean, and a constant: p columns\n"
	                  "X_s    the labelled rows of X; Y: their classes, one-hot\n"
	                  "b      coefficients; the one of the constant has a penalty of almost 0\n"
	                  "M      (n/2) e_0 e_0' + (n/classes) sum_k e_k e_k'; e_0: difference of the means of source and target, e_k: of their class k\n"
	                  "L      normalised Laplacian of the neighbour graph of all samples\n"
	                  "smooth, ridge: options",
	          .steps = "1. label the target with logistic regression\n"
	                   "2. b for these labels, and new labels from X b; rounds times",
	          .use = "Classes of source and target differ by a shift that can be different for each class.",
	          .cost = "The leading directions and the neighbour graph; then O(n p^2 + p^3) per round.",
	          .family = KDR_FAMILY_TRANSFER,
	          .options = options_table,
	          .fields = fields_table,
	          .references = references_table },
	.fit = aligned_ridge_fit,
};

static const kdr_option_desc ot_prototypes_options_table[] = {
	KDRI_OPTION_DIRECTIONS,
	KDRI_REAL(
	        "blur", 0.1, 0, 1e6,
	        "weight of the transport plan's entropy relative to its cost; if large, all classes are equally likely",
	        .open_min = true),
	KDRI_INT("rounds", 8, 1, 1e6, "number of times the prototypes are moved"),
	KDRI_INT("steps", 50, 1, 1e6, "number of steps of each transport computation"),
	{ .name = NULL },
};

static const char *const ot_prototypes_references_table[] = {
	"M. Cuturi: Sinkhorn distances: lightspeed computation of optimal transport. NIPS 2013.",
	"N. Courty, R. Flamary, D. Tuia, A. Rakotomamonjy: Optimal transport for domain adaptation. IEEE TPAMI "
	"39:1853-1865, 2017.",
	NULL,
};

static kdr_status ot_prototypes_fit(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                                    kdr_result *result)
{
	kdr_status st;
	kdri_aligned_tasks t = { .d.set.x.view = kdr_mat_from_dense(NULL, 0, 0) };
	double *mu = NULL, *unlabelled = NULL, *p = NULL, *found = NULL;
	int64_t at = 0;
	KDRI_TRY(aligned_tasks_new(ctx, problem, kdri_opt_int(options, "directions"), result, &t));
	int64_t c = t.d.classes, w = t.width;
	KDRI_TRY(KDRI_NEW0(ctx, &mu, c * w));
	KDRI_TRY(KDRI_NEW(ctx, &unlabelled, KDRI_MAX(t.d.wanted, 1) * w));
	KDRI_TRY(KDRI_NEW0(ctx, &p, t.d.n * c));
	KDRI_TRY(KDRI_NEW(ctx, &found, KDRI_MAX(t.d.wanted, 1) * c));
	for (int64_t i = 0; i < t.d.n; i++) {
		if (t.d.labels[i] >= 0)
			kdri_axpy(1, t.e + i * w, mu + t.d.labels[i] * w, w);
		if (t.d.unlabelled[i])
			memcpy(unlabelled + at++ * w, t.e + i * w, (size_t)w * sizeof *unlabelled);
	}
	const kdri_prototypes o = { .e = unlabelled,
		                    .n = t.d.wanted,
		                    .width = w,
		                    .classes = c,
		                    .share = t.d.share,
		                    .blur = kdri_opt_real(options, "blur"),
		                    .rounds = kdri_opt_int(options, "rounds"),
		                    .steps = kdri_opt_int(options, "steps") };
	if (t.d.wanted > 0)
		KDRI_TRY(kdri_prototypes_run(ctx, &o, mu, found));
	at = 0;
	for (int64_t i = 0; i < t.d.n; i++)
		for (int64_t k = 0; t.d.unlabelled[i] && k < c; k++)
			p[i * c + k] = found[at++]; /* (E3) */
	KDRI_TRY(kdri_domains_put(ctx, &t.d, p, "probabilities", result));
	bool stopped = ctx->cancelled || ctx->timed_out;
	kdri_result_stop(result, stopped ? kdri_stop_reason(ctx) : KDR_STOP_CONVERGED, o.rounds);
done:
	aligned_tasks_free(ctx, &t);
	KDRI_FREE(ctx, mu, unlabelled, p, found);
	return st;
}

const kdri_algo kdri_algo_ot_prototypes = {
	.info = { .id = "ot-prototypes",
	          .class_name = "OTPrototypes",
	          .title = "Prototypes by optimal transport",
	          .summary =
	                  "optimal transport of the target's samples to class prototypes, which are then moved to them",
	          .objective =
	                  "J = sum_ik P_ik (1 - cos(e_i, mu_k)) + blur sum_ik P_ik ln P_ik over transport plans P: minimised in each round, and not recorded\n"
	                  "P_ik   mass of sample i of the target that is brought to class k; rows sum to 1/n, columns to q_k\n"
	                  "e_i    sample i along the leading directions of all data sets, each minus its own mean\n"
	                  "mu_k   prototype of class k\n"
	                  "q_k    proportion of class k: mean of that in the source and an estimate from the prototypes\n"
	                  "blur   option",
	          .steps = "1. mu_k: mean of the labelled samples of class k\n"
	                   "2. P by Sinkhorn's algorithm; q from mu\n"
	                   "3. mu_k: mean of the samples that class k received; 2 and 3 rounds times",
	          .use = "Classes keep their proportions but move as a whole.",
	          .cost = "The leading directions; then O(n classes) per step of each round.",
	          .family = KDR_FAMILY_TRANSFER,
	          .options = ot_prototypes_options_table,
	          .fields = fields_table,
	          .references = ot_prototypes_references_table },
	.fit = ot_prototypes_fit,
};
