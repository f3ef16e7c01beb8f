/* k-means. SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds labels z and centres c that make
 *     (E1)  J = sum_i w_i |x_i - c_{z_i}|^2
 * small, in alternating steps: each sample is assigned to its nearest centre, and each centre moves to the mean of
 * its samples. J never rises. With `spherical`, rows count as unit vectors and centres have unit length, so that
 *     (E2)  J = sum_i w_i |x_i / |x_i| - c_{z_i}|^2 = 2 sum_i w_i (1 - cos(x_i, c_{z_i}));
 * a zero row has no direction, adds w_i whatever its label is, and gets cluster 0.
 * Known classes of samples are constraints (methods/common/constrained.c).
 * Each task is clustered separately, or all of them stacked as one (pooled). The engine, with bounds that avoid most
 * distances without changing the result, is in engine/kmeans/lloyd.c and the other files of its folder.
 *
 * n        rows of a task                x_i      sample, row i
 * k        clusters                      z_i      labels
 * w_i      weights                       c_j      centres
 */
#include "engine/kmeans/kmeans.h"
#include "api/method.h"
#include "core/internal.h"
#include "matrix/linalg.h"
#include "methods/common/tasks.h"

static const char *const starts[] = { "kmeans++", "random", NULL };

static const kdr_option_desc options_table[] = {
	KDRI_CHOICE("start", KDRI_START_PLUSPLUS, starts,
	            "how a run chooses its first centres: spread out by k-means++, or k random samples"),
	KDRI_BOOL("spherical", 0, "compare samples by cosine: rows and centres are scaled to unit length"),
	KDRI_N_INIT(10),
	KDRI_MAX_ITER(300),
	KDRI_TOL(1e-6),
	{ .name = NULL },
};

static const kdr_field_desc fields_table[] = {
	KDRI_ARRAY("centres", KDR_FLOAT64, "k x d", "cluster centres", .per_task = true, .in_model = true),
	{ .name = NULL },
};

static const char *const references_table[] = {
	"S. P. Lloyd: Least squares quantization in PCM. IEEE Trans. Information Theory 28:129-137, 1982.",
	"D. Arthur, S. Vassilvitskii: k-means++: the advantages of careful seeding. SODA 2007.",
	"C. Elkan: Using the triangle inequality to accelerate k-means. ICML 2003.",
	"G. Hamerly: Making k-means even faster. SDM 2010.",
	"S. Basu, A. Banerjee, R. Mooney: Semi-supervised clustering by seeding. ICML 2002.",
	"Y. Ding, Y. Zhao, X. Shen, M. Musuvathi, T. Mytkowicz: Yinyang k-means. ICML 2015.",
	NULL,
};

static kdri_kmeans_options engine_options(const kdr_options *options, int64_t k, int64_t part)
{
	kdri_kmeans_options o = kdri_kmeans_defaults(k);
	o.n_init = kdri_opt_int(options, "n_init");
	o.max_iter = kdri_opt_int(options, "max_iter");
	o.tol = kdri_opt_real(options, "tol");
	o.start = (kdri_kmeans_start)kdri_opt_choice(options, "start");
	o.spherical = kdri_opt_bool(options, "spherical"); /* (E2), else (E1) */
	o.stream = (uint64_t)part;
	return o;
}

/* --- several tasks, one result -------------------------------------------------------------- */

static kdr_status put_centres(kdr_context *ctx, kdr_result *result, int64_t task, int64_t k, int64_t d,
                              const double *centres)
{
	double *to = NULL;
	KDRI_DO(kdri_result_array(ctx, result, "centres", task, KDR_FLOAT64, 2, (int64_t[]){ k, d }, &to));
	memcpy(to, centres, (size_t)(k * d) * sizeof *to);
	return KDR_OK;
}

static kdri_trace kmeans_trace_of(const kdri_kmeans_result *r)
{
	return (kdri_trace){ r->objective_start, r->trace, r->iterations, r->stop, 1 };
}

/* --- pooled --------------------------------------------------------------------------------- */

typedef struct pool {
	kdri_own x;
	int64_t rows;
	double *weights;
	int64_t *init, *rows_of;
} pool;

static void pool_free(kdr_context *ctx, pool *p)
{
	kdri_own_free(ctx, &p->x);
	KDRI_FREE(ctx, p->weights, p->init, p->rows_of);
}

/* Stacks all tasks. Initial labels are used if every task has them. */
static kdr_status pool_new(kdr_context *ctx, const kdr_problem *problem, pool *out)
{
	kdr_status st;
	const kdr_mat **parts = NULL;
	pool p = { 0 };
	bool weights = false, init = true;
	KDRI_TRY(KDRI_NEW(ctx, &parts, problem->ntasks));
	KDRI_TRY(KDRI_NEW(ctx, &p.rows_of, problem->ntasks));
	for (int64_t t = 0; t < problem->ntasks; t++) {
		const kdr_task *task = &problem->tasks[t];
		parts[t] = &task->x;
		p.rows_of[t] = kdr_mat_rows(&task->x);
		p.rows += p.rows_of[t];
		weights |= task->weights != NULL;
		init &= task->init != NULL;
	}
	KDRI_TRY(kdri_mat_stack(ctx, parts, problem->ntasks, &p.x));
	if (weights)
		KDRI_TRY(KDRI_NEW(ctx, &p.weights, p.rows));
	if (init)
		KDRI_TRY(KDRI_NEW(ctx, &p.init, p.rows));
	int64_t at = 0;
	for (int64_t t = 0; t < problem->ntasks; t++) {
		const kdr_task *task = &problem->tasks[t];
		for (int64_t i = 0; i < kdr_mat_rows(&task->x); i++, at++) {
			if (weights)
				p.weights[at] = task->weights ? task->weights[i] : 1;
			if (init)
				p.init[at] = task->init[i];
		}
	}
	*out = p;
	p = (pool){ 0 };
done:
	kdri_free(ctx, parts);
	pool_free(ctx, &p);
	return st;
}

static kdr_status fit_pooled(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                             kdr_result *result)
{
	kdr_status st;
	pool p = { 0 };
	kdri_kmeans_result r = { 0 };
	kdri_known_classes known = { 0 };
	int64_t k = problem->tasks[0].k, d = kdr_mat_cols(&problem->tasks[0].x), at = 0;
	kdri_kmeans_options o = engine_options(options, k, 0);
	KDRI_TRY(pool_new(ctx, problem, &p));
	o.init_labels = p.init;
	o.rows_of = p.rows_of;
	o.tasks = problem->ntasks;
	KDRI_TRY(kdri_kmeans(ctx, &p.x.view, p.weights, &o, &r));
	if (kdri_has_known_classes(problem)) {
		KDRI_TRY(kdri_known_classes_new(ctx, problem, 0, problem->ntasks, &known));
		KDRI_TRY(kdri_constrain(ctx, &p.x.view, p.weights, &o, &known, &r));
	}
	for (int64_t t = 0; t < problem->ntasks; t++) {
		int64_t n = kdr_mat_rows(&problem->tasks[t].x), *labels = NULL;
		KDRI_TRY(kdri_result_labels(ctx, result, t, &labels));
		memcpy(labels, r.labels + at, (size_t)n * sizeof *labels);
		at += n;
		KDRI_TRY(put_centres(ctx, result, t, k, d, r.centres));
	}
	kdri_trace trace = kmeans_trace_of(&r);
	KDRI_TRY(kdri_put_traces(ctx, &trace, 1, result));
	KDRI_TRY(kdri_result_number(ctx, result, "inertia", r.objective));
	KDRI_TRY(kdri_result_number(ctx, result, "best_run", (double)r.best_run));
	if (r.distinct < k) /* kdr_fit reports this for tasks clustered separately */
		KDRI_TRY(kdri_result_warn(
		        ctx, result, "the pooled data sets have only %lld distinct sample%s for k = %lld",
		        (long long)r.distinct, r.distinct == 1 ? "" : "s", (long long)k));
done:
	kdri_kmeans_free(ctx, &r);
	kdri_known_classes_free(ctx, &known);
	pool_free(ctx, &p);
	return st;
}

/* --- one by one ----------------------------------------------------------------------------- */

static kdr_status fit_each(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                           kdr_result *result)
{
	kdr_status st;
	kdri_kmeans_problem *problems = NULL;
	kdri_kmeans_result *parts = NULL;
	kdri_trace *traces = NULL;
	kdri_known_classes known = { 0 };
	KDRI_TRY(KDRI_NEW(ctx, &problems, problem->ntasks));
	KDRI_TRY(KDRI_NEW0(ctx, &parts, problem->ntasks));
	KDRI_TRY(KDRI_NEW0(ctx, &traces, problem->ntasks));
	for (int64_t t = 0; t < problem->ntasks; t++) {
		const kdr_task *task = &problem->tasks[t];
		problems[t] = (kdri_kmeans_problem){ .x = &task->x,
			                             .weights = task->weights,
			                             .o = engine_options(options, task->k, t) };
		problems[t].o.init_labels = task->init;
	}
	KDRI_TRY(kdri_kmeans_each(ctx, problems, problem->ntasks, parts));
	for (int64_t t = 0; t < problem->ntasks && kdri_has_known_classes(problem); t++) {
		KDRI_TRY(kdri_known_classes_new(ctx, problem, t, 1, &known));
		KDRI_TRY(kdri_constrain(ctx, problems[t].x, problems[t].weights, &problems[t].o, &known,
		                        &parts[t]));
		kdri_known_classes_free(ctx, &known);
	}
	for (int64_t t = 0; t < problem->ntasks; t++) {
		const kdr_task *task = &problem->tasks[t];
		int64_t *labels = NULL;
		KDRI_TRY(kdri_result_labels(ctx, result, t, &labels));
		memcpy(labels, parts[t].labels, (size_t)kdr_mat_rows(&task->x) * sizeof *labels);
		KDRI_TRY(put_centres(ctx, result, t, task->k, kdr_mat_cols(&task->x), parts[t].centres));
		KDRI_TRY(kdri_result_task_number(ctx, result, t, "inertia", parts[t].objective));
		KDRI_TRY(kdri_result_task_number(ctx, result, t, "best_run", (double)parts[t].best_run));
		traces[t] = kmeans_trace_of(&parts[t]);
	}
	KDRI_TRY(kdri_put_traces(ctx, traces, problem->ntasks, result));
done:
	for (int64_t t = 0; parts && t < problem->ntasks; t++)
		kdri_kmeans_free(ctx, &parts[t]);
	kdri_known_classes_free(ctx, &known);
	KDRI_FREE(ctx, problems, parts, traces);
	return st;
}

static kdr_status kmeans_fit(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                             kdr_result *result)
{
	return problem->pooled ? fit_pooled(ctx, problem, options, result)
	                       : fit_each(ctx, problem, options, result);
}

static kdr_status kmeans_predict(kdr_context *ctx, const kdr_result *fitted, const kdr_options *options,
                                 int64_t task, const kdr_mat *x, int64_t *labels)
{
	kdr_array c = kdr_result_array(fitted, "centres", task);
	if (!c.data || c.ndim != 2)
		return kdri_fail(ctx, KDR_ERR_DATA, "the model has no centres for data set number %lld",
		                 (long long)task + 1);
	if (c.shape[1] != kdr_mat_cols(x))
		return kdri_fail(ctx, KDR_ERR_DATA,
		                 "the data have %lld columns, but the model's centres have %lld",
		                 (long long)kdr_mat_cols(x), (long long)c.shape[1]);
	return kdri_kmeans_assign(ctx, x, c.data, c.shape[0], kdri_opt_bool(options, "spherical"), labels);
}

const kdri_algo kdri_algo_kmeans = {
	.info = { .id = "kmeans",
	          .class_name = "KMeans",
	          .title = "k-means",
	          .summary =
	                  "Lloyd's algorithm from k-means++ starts, for each data set separately or all pooled",
	          .objective =
	                  "J = sum_t sum_i v_i |x_i - c_z(i)|^2\n"
	                  "t      data set; with --pooled all samples are one data set\n"
	                  "x_i    sample i of data set t; with spherical=true scaled to unit length\n"
	                  "v_i    weight of sample i, 1 by default\n"
	                  "z(i)   cluster of sample i\n"
	                  "c_j    centre of cluster j (array centres); with spherical=true of unit length",
	          .steps = "1. z(i): the nearest centre\n"
	                   "2. c_j: the weighted mean of the samples of cluster j",
	          .use = "A fast baseline for round clusters of similar size, and for large data.",
	          .cost = "At most n k distances per iteration and run; bounds avoid most of them without changing the result.",
	          .family = KDR_FAMILY_CLUSTER,
	          .flags = KDR_ALGO_POOLED | KDR_ALGO_MONOTONE | KDR_ALGO_PREDICT | KDR_ALGO_WEIGHTS |
	                   KDR_ALGO_KNOWN,
	          .options = options_table,
	          .fields = fields_table,
	          .references = references_table },
	.fit = kmeans_fit,
	.predict = kmeans_predict,
	.ranks = true,
};
