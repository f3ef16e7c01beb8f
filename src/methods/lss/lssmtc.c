/* LSSMTC: clustering related tasks in a subspace they share. SPDX-License-Identifier: BSD-3-Clause
 *
 * [GZ09] Q. Gu, J. Zhou: Learning the shared subspace for multi-task clustering and transductive transfer
 * classification. ICDM 2009.
 *
 * The objective, (E1) of lss.c, and all steps of the descent are there; the W step is in subspace.c. This file finds the
 * start:
 *
 *   (E6)  P = one-hot of k-means labels + soften                                   [GZ09, algorithm 1]
 *
 * DEVIATION: M is shared, so cluster j must mean the same in every task from the start on. `pooled` (the default)
 * uses k-means on all tasks stacked; `matched` runs k-means on each task and renames its clusters so that their
 * centres lie nearest to those of the first task (an assignment problem). `pertask` is the paper's literal k-means on
 * each task, where cluster numbers agree only by chance.
 *
 * T = 20 iterations are the paper's rule, not a limit: more iterations lower the objective but make the clusters worse
 * (T = 300 on webkb4: accuracy 0.653 instead of 0.686). */
#include "api/method.h"
#include "engine/kmeans/kmeans.h"
#include "engine/metrics/metrics.h"
#include "methods/common/tasks.h"
#include "methods/lss/lss.h"

static const char stage[] = "lssmtc";

enum { START_POOLED, START_MATCHED, START_PERTASK };
static const char *const starts[] = { "pooled", "matched", "pertask", NULL };

static const kdr_option_desc options_table[] = {
	KDRI_LSS_OPTIONS,
	KDRI_CHOICE(
	        "start", START_POOLED, starts,
	        "k-means that initialises P: pooled: on all data sets together; matched: on each, with clusters matched; pertask: on each, without matching"),
	KDRI_MAX_ITER(20),
	KDRI_TOL(1e-6),
	KDRI_INT("n_init", 10, 1, 1e6, "number of runs of the k-means that initialises P; the best is kept"),
	{ .name = NULL },
};

static const kdr_field_desc fields_table[] = { KDRI_LSS_FIELDS };

static const char *const references_table[] = {
	"Q. Gu, J. Zhou: Learning the shared subspace for multi-task clustering and transductive transfer "
	"classification. ICDM 2009.",
	"H. Li, T. Jiang, K. Zhang: Efficient and robust feature extraction by maximum margin criterion. NIPS 2003.",
	NULL,
};

static kdr_status start_pooled(kdr_context *ctx, const kdri_stack *stack, int64_t k, int64_t n_init,
                               int64_t *labels)
{
	kdri_kmeans_options o = kdri_kmeans_defaults(k);
	kdri_kmeans_result r = { 0 };
	kdr_status st;
	int64_t *rows_of = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &rows_of, stack->ntasks));
	for (int64_t t = 0; t < stack->ntasks; t++)
		rows_of[t] = stack->begin[t + 1] - stack->begin[t];
	o.n_init = n_init;
	o.rows_of = rows_of;
	o.tasks = stack->ntasks;
	KDRI_TRY(kdri_kmeans(ctx, &stack->x, NULL, &o, &r));
	memcpy(labels, r.labels, (size_t)stack->begin[stack->ntasks] * sizeof *labels);
done:
	kdri_free(ctx, rows_of);
	kdri_kmeans_free(ctx, &r);
	return st;
}

/* Renumbers the clusters so that their centres are nearest to `reference` (both k x d). */
static kdr_status lssmtc_match(kdr_context *ctx, const double *reference, const double *centres, int64_t k,
                               int64_t d, int64_t n, int64_t *labels)
{
	kdr_status st;
	double *cost = NULL;
	int64_t *name = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &cost, k * k));
	KDRI_TRY(KDRI_NEW(ctx, &name, k));
	for (int64_t i = 0; i < k; i++)
		for (int64_t j = 0; j < k; j++) {
			double sum = 0;
			for (int64_t q = 0; q < d; q++) {
				double gap = centres[i * d + q] - reference[j * d + q];
				sum += gap * gap;
			}
			cost[i * k + j] = sum;
		}
	KDRI_TRY(kdri_assign_checked(ctx, cost, k, k, name, NULL));
	for (int64_t i = 0; i < n; i++)
		labels[i] = name[labels[i]];
done:
	KDRI_FREE(ctx, cost, name);
	return st;
}

static kdr_status start_each(kdr_context *ctx, const kdri_stack *stack, int64_t k, int64_t n_init,
                             bool matched, int64_t *labels)
{
	kdr_status st = KDR_OK;
	int64_t d = kdr_mat_cols(&stack->x);
	kdri_kmeans_result first = { 0 }, r = { 0 };
	for (int64_t t = 0; t < stack->ntasks; t++) {
		kdri_kmeans_options o = kdri_kmeans_defaults(k);
		int64_t begin = stack->begin[t], n = stack->begin[t + 1] - begin;
		kdr_mat x = kdri_rows(&stack->x, begin, begin + n);
		o.n_init = n_init;
		o.stream = (uint64_t)t;
		kdri_kmeans_free(ctx, &r);
		r = (kdri_kmeans_result){ 0 };
		KDRI_TRY(kdri_kmeans(ctx, &x, NULL, &o, t ? &r : &first));
		memcpy(labels + begin, (t ? &r : &first)->labels, (size_t)n * sizeof *labels);
		if (matched && t)
			KDRI_TRY(lssmtc_match(ctx, first.centres, r.centres, k, d, n, labels + begin));
	}
done:
	kdri_kmeans_free(ctx, &first);
	kdri_kmeans_free(ctx, &r);
	return st;
}

/* (E6) */
static kdr_status find_start(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                             const kdri_stack *stack, int64_t **out)
{
	kdr_status st;
	int64_t *labels = NULL, k = problem->tasks[0].k, n_init = kdri_opt_int(options, "n_init");
	int how = kdri_opt_choice(options, "start");
	KDRI_TRY(kdri_stack_init(ctx, problem, stack, &labels));
	if (!labels) {
		KDRI_TRY(KDRI_NEW(ctx, &labels, stack->begin[stack->ntasks]));
		st = how == START_POOLED ? start_pooled(ctx, stack, k, n_init, labels)
		                         : start_each(ctx, stack, k, n_init, how == START_MATCHED, labels);
		if (st != KDR_OK)
			goto done;
	}
	*out = labels;
	labels = NULL;
done:
	kdri_free(ctx, labels);
	return st;
}

static kdr_status lssmtc_fit(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                             kdr_result *result)
{
	kdr_status st;
	kdri_stack stack = { .own.view = kdr_mat_from_dense(NULL, 0, 0) };
	kdri_lss answer = { 0 };
	int64_t *labels = NULL, *tasks = NULL, k = problem->tasks[0].k;
	kdri_lss_options o = kdri_lss_read_options(options, k, stage);
	KDRI_TRY(kdri_stack_new(ctx, problem, &stack));
	KDRI_TRY(KDRI_NEW(ctx, &tasks, stack.ntasks));
	KDRI_TRY(find_start(ctx, problem, options, &stack, &labels));
	const kdri_lss_problem p = { &stack.x, stack.ntasks, k, stack.begin, labels, NULL };
	KDRI_TRY(kdri_lss_run(ctx, &p, &o, &answer));
	for (int64_t t = 0; t < stack.ntasks; t++) {
		int64_t *to = NULL;
		KDRI_TRY(kdri_result_labels(ctx, result, t, &to));
		memcpy(to, answer.labels + stack.begin[t],
		       (size_t)(stack.begin[t + 1] - stack.begin[t]) * sizeof *to);
		tasks[t] = t;
	}
	KDRI_TRY(kdri_lss_put(ctx, &p, &answer, tasks, result));
	KDRI_TRY(kdri_put_same_clusters(ctx, stack.ntasks, k, result));
done:
	kdri_lss_free(ctx, &answer);
	kdri_stack_free(ctx, &stack);
	KDRI_FREE(ctx, labels, tasks);
	return st;
}

const kdri_algo kdri_algo_lssmtc = {
	.info = { .id = "lssmtc",
	          .class_name = "LSSMTC",
	          .title = "Shared-subspace multi-task clustering",
	          .summary =
	                  "clusters related data sets together: each in the feature space, all in one shared subspace",
	          .objective =
	                  "J = lambda sum_t |X_t - P_t M_t|^2 + (1 - lambda) sum_t ( |X_t W - P_t M|^2 - eps |X_t W|^2 )\n"
	                  "X_t    samples of data set t, one per row\n"
	                  "P_t    memberships of the samples, >= 0 (array P)\n"
	                  "M_t    cluster centres of data set t in the feature space (array centres)\n"
	                  "W      directions of the shared subspace, W'W = I (array W)\n"
	                  "M      cluster centres in the subspace, the same for all data sets (array shared_centres)\n"
	                  "lambda weight of the data sets' own part (option lambda); within and across are the two sums without weights\n"
	                  "eps    reward for variance in the subspace (option eps); 0 is the paper's objective",
	          .steps =
	                  "1. M and M_t: least squares for the current P and W\n"
	                  "2. P_t: multiply each entry by the square root of the ratio of the gradient's negative and positive parts\n"
	                  "3. W: the l lowest eigenvectors of (1 - eps) X'X - Z Z', Z = X'P (P'P)^-1/2",
	          .use = "Data sets with the same clusters and the same features. It reproduces the paper; auto usually scores higher.",
	          .cost = "2 nnz (2 k + l) operations per iteration, and the eigenvectors.",
	          .place = KDR_PLACE_PAPER,
	          .family = KDR_FAMILY_CLUSTER,
	          .flags = KDR_ALGO_JOINT | KDR_ALGO_SAME_K | KDR_ALGO_SHARED_CLUSTERS | KDR_ALGO_MONOTONE |
	                   KDR_ALGO_PREDICT | KDR_ALGO_SWEEPS,
	          .options = options_table,
	          .fields = fields_table,
	          .references = references_table },
	.fit = lssmtc_fit,
	.predict = kdri_lss_predict,
	.ranks = true,
};
