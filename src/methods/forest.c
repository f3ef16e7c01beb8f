/* Random forests as a transfer method. SPDX-License-Identifier: BSD-3-Clause
 *
 * The method is trained on the labelled samples and applied to the target unchanged. It averages many classification
 * trees (engine/forest/forest.c). Trees compare single columns with thresholds, so units, skew and outliers do not
 * matter; missing values are sent to the side that separates the classes better.
 *
 * [B01] L. Breiman: Random forests. Machine Learning 45:5-32, 2001.
 * [GEW06] P. Geurts, D. Ernst, L. Wehenkel: Extremely randomized trees. Machine Learning 63:3-42, 2006. */
#include "engine/forest/forest.h"
#include "api/method.h"
#include "methods/common/labelled.h"

static const char *const splits[] = { "best", "random", NULL };

static const kdr_option_desc options_table[] = {
	KDRI_INT("trees", 500, 1, 1e6, "number of trees"),
	KDRI_CHOICE(
	        "splits", 0, splits,
	        "best: the best threshold of each column that is tried; random: one random threshold per column"),
	KDRI_BOOL("bootstrap", 1, "grow each tree on samples drawn with replacement"),
	KDRI_BOOL("balanced", 1, "give all classes the same weight, whatever their number of samples"),
	KDRI_REAL("columns", 0, 0, 1, "fraction of the columns tried at each split; 0: their square root"),
	KDRI_INT("min_leaf", 5, 1, 1e9, "minimum number of samples in a leaf"),
	KDRI_INT("max_depth", 0, 0, 1e9, "maximum number of splits from the root to a leaf; 0: no limit"),
	{ .name = NULL },
};

static const kdr_field_desc fields_table[] = {
	KDRI_ARRAY("probabilities", KDR_FLOAT64, "n x classes", "probability of each class", .per_task = true,
	           .scoring = KDR_SCORING_SHARES),
	KDRI_ARRAY("importance", KDR_FLOAT64, "d",
	           "fraction of the decrease in Gini impurity due to splits on each column",
	           .in_model = true),
	KDRI_ARRAY("tree_roots", KDR_INT64, "trees", "the first node of each tree", .in_model = true),
	KDRI_ARRAY("tree_nodes", KDR_INT64, "nodes x 3",
	           "column (-1: a leaf), left child or leaf, whether missing values go left",
	           .in_model = true),
	KDRI_ARRAY("tree_thresholds", KDR_FLOAT64, "nodes", "samples with values up to it go left",
	           .in_model = true),
	KDRI_ARRAY("tree_leaves", KDR_FLOAT64, "leaves x classes", "fraction of each class in each leaf",
	           .in_model = true),
	{ .name = NULL },
};

static const char *const references_table[] = {
	"L. Breiman: Random forests. Machine Learning 45:5-32, 2001.",
	"P. Geurts, D. Ernst, L. Wehenkel: Extremely randomized trees. Machine Learning 63:3-42, 2006.",
	NULL,
};

static kdr_status forest_save(kdr_context *ctx, const kdri_forest *f, kdr_result *result)
{
	int64_t *roots = NULL, *nodes = NULL;
	double *thresholds = NULL, *leaves = NULL, *importance = NULL;
	KDRI_DO(kdri_result_array(ctx, result, "importance", -1, KDR_FLOAT64, 1, (int64_t[]){ f->features },
	                          &importance));
	KDRI_DO(kdri_result_array(ctx, result, "tree_roots", -1, KDR_INT64, 1, (int64_t[]){ f->trees },
	                          &roots));
	KDRI_DO(kdri_result_array(ctx, result, "tree_nodes", -1, KDR_INT64, 2, (int64_t[]){ f->nodes, 3 },
	                          &nodes));
	KDRI_DO(kdri_result_array(ctx, result, "tree_thresholds", -1, KDR_FLOAT64, 1, (int64_t[]){ f->nodes },
	                          &thresholds));
	KDRI_DO(kdri_result_array(ctx, result, "tree_leaves", -1, KDR_FLOAT64, 2,
	                          (int64_t[]){ f->leaves, f->classes }, &leaves));
	memcpy(importance, f->importance, (size_t)f->features * sizeof *importance);
	memcpy(roots, f->root, (size_t)f->trees * sizeof *roots);
	memcpy(leaves, f->share, (size_t)(f->leaves * f->classes) * sizeof *leaves);
	for (int64_t i = 0; i < f->nodes; i++) {
		nodes[3 * i] = f->node[i].feature;
		nodes[3 * i + 1] = f->node[i].child;
		nodes[3 * i + 2] = f->node[i].missing_left;
		thresholds[i] = f->node[i].feature < 0 ? 0 : f->node[i].threshold;
	}
	return KDR_OK;
}

static kdri_forest_options forest_options(const kdr_options *options)
{
	return (kdri_forest_options){ .trees = kdri_opt_int(options, "trees"),
		                      .bootstrap = kdri_opt_bool(options, "bootstrap"),
		                      .random_splits = kdri_opt_choice(options, "splits") == 1,
		                      .balanced = kdri_opt_bool(options, "balanced"),
		                      .features = kdri_opt_real(options, "columns"),
		                      .min_leaf = kdri_opt_int(options, "min_leaf"),
		                      .max_depth = kdri_opt_int(options, "max_depth"),
		                      .stage = "forest" };
}

static kdr_status forest_fit(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                             kdr_result *result)
{
	kdr_status st;
	kdri_labelled set = { .x.view = kdr_mat_from_dense(NULL, 0, 0) };
	kdri_forest f = { 0 };
	double *p = NULL;
	int64_t size;
	const kdri_forest_options o = forest_options(options);
	KDRI_TRY(kdri_labelled_new(ctx, problem, result, &set));
	KDRI_TRY(kdri_forest_fit(ctx, &set.x.view, set.labels, set.weights, set.classes, &o, &f));
	KDRI_TRY(kdri_mul(ctx, set.n, set.classes, &size));
	KDRI_TRY(KDRI_NEW(ctx, &p, size));
	KDRI_TRY(kdri_forest_predict(ctx, &f, &set.x.view, p));
	KDRI_TRY(kdri_labelled_put(ctx, &set, p, "probabilities", result));
	KDRI_TRY(forest_save(ctx, &f, result));
	kdri_result_stop(result, f.trees < o.trees ? kdri_stop_reason(ctx) : KDR_STOP_CONVERGED, f.trees);
done:
	kdri_labelled_free(ctx, &set);
	kdri_forest_free(ctx, &f);
	kdri_free(ctx, p);
	return st;
}

/* The trees of a model, which may come from a damaged file. Only f->node is owned. */
static kdr_status forest_load(kdr_context *ctx, const kdr_result *fitted, kdri_forest *f)
{
	kdr_array roots = kdr_result_array(fitted, "tree_roots", -1),
	          nodes = kdr_result_array(fitted, "tree_nodes", -1),
	          thresholds = kdr_result_array(fitted, "tree_thresholds", -1),
	          leaves = kdr_result_array(fitted, "tree_leaves", -1),
	          importance = kdr_result_array(fitted, "importance", -1);
	if (!roots.data || roots.ndim != 1 || !nodes.data || nodes.ndim != 2 || nodes.shape[1] != 3 ||
	    !thresholds.data || thresholds.ndim != 1 || thresholds.shape[0] != nodes.shape[0] ||
	    !leaves.data || leaves.ndim != 2 || !importance.data || importance.ndim != 1)
		return kdri_fail(ctx, KDR_ERR_DATA, "the model has no trees");
	const int64_t *node = nodes.data;
	*f = (kdri_forest){ .trees = roots.shape[0],
		            .classes = leaves.shape[1],
		            .features = importance.shape[0],
		            .nodes = nodes.shape[0],
		            .leaves = leaves.shape[0],
		            .root = (int64_t *)roots.data,
		            .share = (double *)leaves.data };
	KDRI_DO(KDRI_NEW(ctx, &f->node, f->nodes));
	for (int64_t i = 0; i < f->nodes; i++)
		f->node[i] = (kdri_forest_node){ .threshold = ((const double *)thresholds.data)[i],
			                         .feature = node[3 * i],
			                         .child = node[3 * i + 1],
			                         .missing_left = node[3 * i + 2] };
	return kdri_forest_check(ctx, f);
}

static kdr_status forest_predict(kdr_context *ctx, const kdr_result *fitted, const kdr_options *options,
                                 int64_t task, const kdr_mat *x, int64_t *labels)
{
	kdr_status st;
	kdri_forest f = { 0 };
	double *p = NULL;
	int64_t size;
	(void)options;
	(void)task;
	KDRI_TRY(forest_load(ctx, fitted, &f));
	KDRI_TRY(kdri_mul(ctx, kdr_mat_rows(x), f.classes, &size));
	KDRI_TRY(KDRI_NEW(ctx, &p, size));
	KDRI_TRY(kdri_forest_predict(ctx, &f, x, p));
	for (int64_t i = 0; i < kdr_mat_rows(x); i++) {
		labels[i] = 0;
		for (int64_t c = 1; c < f.classes; c++)
			if (p[i * f.classes + c] > p[i * f.classes + labels[i]])
				labels[i] = c;
	}
done:
	KDRI_FREE(ctx, f.node, p);
	return st;
}

const kdri_algo kdri_algo_forest = {
	.info = { .id = "forest",
	          .class_name = "Forest",
	          .title = "Random forest",
	          .summary =
	                  "classification trees, trained on the source and applied to the target; missing values are allowed",
	          .objective =
	                  "no common objective: each split of a tree makes the Gini impurity of its two parts small\n"
	                  "G = sum over both parts of n_part (1 - sum_k p_k^2)\n"
	                  "n_part total weight of the samples in a part\n"
	                  "p_k    proportion of class k in the part",
	          .steps =
	                  "1. draw samples with replacement, one draw per tree\n"
	                  "2. split each node at the best threshold among a random choice of columns, until leaves have min_leaf samples\n"
	                  "3. average the class proportions of the leaves over all trees",
	          .use = "Tables whose columns have different units, skewed values or missing values. It ignores the target.",
	          .cost = "The number of trees times the sorting of the columns tried at each split.",
	          .family = KDR_FAMILY_TRANSFER,
	          .flags = KDR_ALGO_PREDICT | KDR_ALGO_WEIGHTS | KDR_ALGO_INDUCTIVE | KDR_ALGO_TABLES |
	                   KDR_ALGO_RECIPE,
	          .options = options_table,
	          .fields = fields_table,
	          .references = references_table },
	.fit = forest_fit,
	.predict = forest_predict,
};
