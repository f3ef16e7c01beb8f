/* ASI: adaptive subspace iteration. SPDX-License-Identifier: BSD-3-Clause
 *
 * [LMO04] T. Li, S. Ma, M. Ogihara: Document clustering via adaptive subspace iteration. SIGIR 2004.
 *
 *   (E1)  J = |X W - P M|^2 - eps |X W|^2   over hard memberships P, W'W = I        [LMO04, eq. 1; eps = 0]
 *   (E2)  W: the l lowest eigenvectors of (1 - eps) X'X - Z Z', Z = X'P (P'P)^(-1/2)
 *   (E3)  M = (P'P)^+ P'X W: the clusters' means in the subspace
 *   (E4)  each sample to its nearest mean; an emptied cluster takes the sample farthest from its mean
 *
 * alternate until no label changes. It is LSSMTC with lambda = 0 and hard memberships [GZ09, section III].
 * Each task is clustered separately, or all of them stacked (pooled). The value after an iteration is (E1) after
 * (E2),
 * (E3).
 *
 * DEVIATION: eps and W within the range of X: see lss.c.
 *
 * n, d     rows, columns of X                  labels   P, one number per row
 * k        clusters                            m        M, k x l
 * y        X W                                 z        Z */
#include "api/method.h"
#include "engine/kmeans/kmeans.h"
#include "methods/common/tasks.h"
#include "methods/lss/lss.h"

static const char stage[] = "asi";

static const kdr_option_desc options_table[] = {
	KDRI_INT("l", 0, 0, 1e6, "number of directions of the subspace; 0: the number of clusters",
	         .automatic = "k", .symbol = "l"),
	KDRI_SUBSPACE_OPTIONS,
	KDRI_MAX_ITER(100),
	KDRI_TOL(0),
	KDRI_INT("n_init", 10, 1, 1e6,
	         "number of runs of the k-means that gives the initial labels; the best is kept"),
	{ .name = NULL },
};

static const kdr_field_desc fields_table[] = {
	KDRI_ARRAY("W", KDR_FLOAT64, "d x l", "directions of the subspace", .per_task = true,
	           .in_model = true),
	KDRI_ARRAY("centres", KDR_FLOAT64, "k x l", "cluster centres in the subspace", .per_task = true,
	           .in_model = true),
	KDRI_ARRAY("embedding", KDR_FLOAT64, "n x l", "samples in the subspace", .per_task = true),
	{ .name = NULL },
};

static const char *const references_table[] = {
	"T. Li, S. Ma, M. Ogihara: Document clustering via adaptive subspace iteration. SIGIR 2004.",
	NULL,
};

typedef struct run {
	int64_t n, k, l, iterations, room;
	kdr_stop stop;
	int64_t *labels;
	double *w, *m, *y; /* d x l; k x l; n x l */
	double start, *trace;
	kdri_subspace subspace;
} run;

static void run_free(kdr_context *ctx, run *r)
{
	KDRI_FREE(ctx, r->labels, r->w, r->m, r->y, r->trace);
	kdri_subspace_free(ctx, &r->subspace);
}

/* The memory of the iterations, besides that of the run. */
typedef struct work {
	double *w, *z, *p, *count; /* dim x l; dim x k; n x k; k */
	double *far;               /* n: squared distance to the own mean */
	int64_t *before;           /* n: labels before the assignment */
} work;

/* (E2), (E3) for the present labels; *value becomes (E1). */
static kdr_status find_subspace(kdr_context *ctx, run *r, work *a, double *value)
{
	int64_t n = r->n, k = r->k, l = r->l;
	const kdr_mat *x = kdri_subspace_data(&r->subspace);
	memset(a->count, 0, (size_t)k * sizeof *a->count);
	for (int64_t i = 0; i < n; i++)
		a->count[r->labels[i]]++;
	memset(a->p, 0, (size_t)(n * k) * sizeof *a->p);
	for (int64_t i = 0; i < n; i++) /* P (P'P)^(-1/2): P'P is diagonal */
		a->p[i * k + r->labels[i]] = 1 / sqrt(a->count[r->labels[i]]);
	KDRI_DO(kdri_mat_tmul(ctx, x, a->p, k, k, a->z, k));
	KDRI_DO(kdri_subspace_solve(ctx, &r->subspace, a->z, a->w));
	KDRI_DO(kdri_mat_mul(ctx, x, a->w, l, l, r->y, l));
	memset(r->m, 0, (size_t)(k * l) * sizeof *r->m);
	for (int64_t i = 0; i < n; i++)
		kdri_axpy(1 / a->count[r->labels[i]], r->y + i * l, r->m + r->labels[i] * l, l);
	double within = 0;
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < l; j++) {
			double gap = r->y[i * l + j] - r->m[r->labels[i] * l + j];
			within += gap * gap;
		}
	*value = within - r->subspace.options.eps * kdri_nrm2sq(r->y, n * l);
	return KDR_OK;
}

/* (E4) An emptied cluster takes the sample farthest from its mean, from clusters with several samples. */
static void asi_refill(run *r, work *a)
{
	for (int64_t j = 0; j < r->k; j++) {
		int64_t far = -1;
		if (a->count[j] > 0)
			continue;
		for (int64_t i = 0; i < r->n; i++)
			if (a->count[r->labels[i]] > 1 && (far < 0 || a->far[i] > a->far[far]))
				far = i;
		if (far < 0 || a->far[far] <= 0)
			return; /* all samples lie on the means: nothing to gain */
		a->count[r->labels[far]]--;
		a->count[j] = 1;
		a->far[far] = 0;
		r->labels[far] = j;
	}
}

/* (E4); returns how many labels changed. Clusters without samples have no mean and are not considered. */
static int64_t asi_assign(run *r, work *a)
{
	int64_t changed = 0, l = r->l;
	memcpy(a->before, r->labels, (size_t)r->n * sizeof *a->before);
	for (int64_t i = 0; i < r->n; i++) {
		int64_t best = -1;
		double least = INFINITY;
		for (int64_t j = 0; j < r->k; j++) {
			double sum = 0;
			for (int64_t q = 0; q < l; q++) {
				double gap = r->y[i * l + q] - r->m[j * l + q];
				sum += gap * gap;
			}
			if (a->count[j] > 0 && sum < least) {
				least = sum;
				best = j;
			}
		}
		a->far[i] = least;
		r->labels[i] = best;
	}
	memset(a->count, 0, (size_t)r->k * sizeof *a->count);
	for (int64_t i = 0; i < r->n; i++)
		a->count[r->labels[i]]++;
	asi_refill(r, a);
	for (int64_t i = 0; i < r->n; i++)
		changed += r->labels[i] != a->before[i];
	return changed;
}

/* --- one matrix --------------------------------------------------------------------------------- */

static kdr_status asi_iterate(kdr_context *ctx, const kdr_options *options, run *r, work *a)
{
	int64_t most = kdri_opt_int(options, "max_iter");
	double value, before, tol = kdri_opt_real(options, "tol");
	KDRI_DO(find_subspace(ctx, r, a, &value));
	r->start = value;
	bool stopped = ctx->cancelled || ctx->timed_out;
	while (!stopped && r->stop == KDR_STOP_MAX_ITER && r->iterations < most) {
		before = value;
		if (asi_assign(r, a) == 0) {
			r->stop = KDR_STOP_CONVERGED;
			break;
		}
		KDRI_DO(find_subspace(ctx, r, a, &value));
		KDRI_DO(kdri_trace_push(ctx, &r->trace, &r->iterations, &r->room, value));
		if (before - value < tol * fabs(before))
			r->stop = KDR_STOP_CONVERGED;
		stopped = kdri_iteration(ctx, stage, r->iterations, most, value);
	}
	if (stopped)
		r->stop = kdri_stop_reason(ctx);
	return KDR_OK;
}

/* Clusters the rows of x into k; first labels from `init`, or from k-means where that is NULL. */
static kdr_status run_new(kdr_context *ctx, const kdr_mat *x, int64_t k, const int64_t *init, uint64_t stream,
                          const kdr_options *options, void *left)
{
	kdr_status st;
	run *out = left;
	run r = { .n = kdr_mat_rows(x), .k = k, .stop = KDR_STOP_MAX_ITER };
	work a = { 0 };
	kdri_kmeans_result first = { 0 };
	kdri_subspace_options o = kdri_subspace_read_options(options, k);
	KDRI_TRY(KDRI_NEW(ctx, &r.labels, r.n));
	if (!init) {
		kdri_kmeans_options km = kdri_kmeans_defaults(k);
		km.n_init = kdri_opt_int(options, "n_init");
		km.stream = stream;
		KDRI_TRY(kdri_kmeans(ctx, x, NULL, &km, &first));
	}
	memcpy(r.labels, init ? init : first.labels, (size_t)r.n * sizeof *r.labels);
	KDRI_TRY(kdri_subspace_new(ctx, x, &o, &r.subspace));
	r.l = r.subspace.l;
	KDRI_TRY(KDRI_NEW(ctx, &r.w, kdr_mat_cols(x) * r.l));
	KDRI_TRY(KDRI_NEW0(ctx, &r.m, k * r.l));
	KDRI_TRY(KDRI_NEW0(ctx, &r.y, r.n * r.l));
	int64_t dim = kdri_subspace_dim(&r.subspace);
	KDRI_TRY(KDRI_NEW0(ctx, &a.w, dim * r.l));
	KDRI_TRY(KDRI_NEW(ctx, &a.z, dim * r.k));
	KDRI_TRY(KDRI_NEW(ctx, &a.p, r.n * r.k));
	KDRI_TRY(KDRI_NEW(ctx, &a.count, r.k));
	KDRI_TRY(KDRI_NEW(ctx, &a.far, r.n));
	KDRI_TRY(KDRI_NEW(ctx, &a.before, r.n));
	KDRI_TRY(asi_iterate(ctx, options, &r, &a));
	KDRI_TRY(kdri_subspace_features(ctx, &r.subspace, a.w, r.w));
	*out = r;
	r = (run){ 0 };
done:
	KDRI_FREE(ctx, a.w, a.z, a.p, a.count, a.far, a.before);
	kdri_kmeans_free(ctx, &first);
	run_free(ctx, &r);
	return st;
}

/* --- the tasks ---------------------------------------------------------------------------------- */

/* Task t, which has rows begin.. of the run. */
static kdr_status asi_put_task(kdr_context *ctx, const kdr_problem *problem, const void *left, int64_t t,
                               int64_t begin, kdr_result *result)
{
	const run *r = left;
	int64_t n = kdr_mat_rows(&problem->tasks[t].x), d = kdr_mat_cols(&problem->tasks[t].x), l = r->l;
	int64_t *labels = NULL;
	double *to = NULL;
	KDRI_DO(kdri_result_labels(ctx, result, t, &labels));
	memcpy(labels, r->labels + begin, (size_t)n * sizeof *labels);
	KDRI_DO(kdri_result_array(ctx, result, "W", t, KDR_FLOAT64, 2, (int64_t[]){ d, l }, &to));
	memcpy(to, r->w, (size_t)(d * l) * sizeof *to);
	KDRI_DO(kdri_result_array(ctx, result, "centres", t, KDR_FLOAT64, 2, (int64_t[]){ r->k, l }, &to));
	memcpy(to, r->m, (size_t)(r->k * l) * sizeof *to);
	KDRI_DO(kdri_result_array(ctx, result, "embedding", t, KDR_FLOAT64, 2, (int64_t[]){ n, l }, &to));
	memcpy(to, r->y + begin * l, (size_t)(n * l) * sizeof *to);
	return kdri_subspace_report(ctx, &r->subspace, t, result);
}

static kdri_trace asi_trace_of(const void *left)
{
	const run *r = left;
	return (kdri_trace){ r->start, r->trace, r->iterations, r->stop, 1 };
}

static void asi_release(kdr_context *ctx, void *left)
{
	run_free(ctx, left);
}

static kdr_status asi_report(kdr_context *ctx, const void *left, const kdr_options *options,
                             kdr_result *result)
{
	(void)options;
	return kdri_subspace_warn(ctx, &((const run *)left)->subspace, result);
}

static kdr_status asi_fit(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                          kdr_result *result)
{
	static const kdri_runner how = { sizeof(run), run_new,      asi_trace_of,
		                         asi_report,  asi_put_task, asi_release };
	return kdri_run_tasks(ctx, problem, options, &how, result);
}

/* The nearest centre in the subspace. */
static kdr_status asi_predict(kdr_context *ctx, const kdr_result *fitted, const kdr_options *options,
                              int64_t task, const kdr_mat *x, int64_t *labels)
{
	kdr_status st;
	kdr_array w = kdr_result_array(fitted, "W", task), m = kdr_result_array(fitted, "centres", task);
	int64_t n = kdr_mat_rows(x), l = w.shape[1];
	double *y = NULL;
	(void)options;
	if (!w.data || !m.data || w.ndim != 2 || m.ndim != 2 || m.shape[1] != l)
		return kdri_fail(ctx, KDR_ERR_DATA, "the model has no subspace for data set number %lld",
		                 (long long)task + 1);
	if (w.shape[0] != kdr_mat_cols(x))
		return kdri_fail(ctx, KDR_ERR_DATA,
		                 "the data have %lld columns, but the model's subspace has %lld",
		                 (long long)kdr_mat_cols(x), (long long)w.shape[0]);
	if (l == 0) { /* the data were constant */
		memset(labels, 0, (size_t)n * sizeof *labels);
		return KDR_OK;
	}
	KDRI_TRY(KDRI_NEW(ctx, &y, n * l));
	KDRI_TRY(kdri_mat_mul(ctx, x, w.data, l, l, y, l));
	kdr_mat embedded = kdr_mat_from_dense(y, n, l);
	KDRI_TRY(kdri_kmeans_assign(ctx, &embedded, m.data, m.shape[0], false, labels));
done:
	kdri_free(ctx, y);
	return st;
}

const kdri_algo kdri_algo_asi = {
	.info = { .id = "asi",
	          .class_name = "ASI",
	          .title = "Adaptive subspace iteration",
	          .summary =
	                  "clusters in a subspace that adapts to the clusters, for each data set separately or all pooled",
	          .objective =
	                  "J = sum_t ( |X_t W_t - P_t M_t|^2 - eps |X_t W_t|^2 )\n"
	                  "t      data set; with --pooled all samples are one data set\n"
	                  "X_t    its samples, one per row\n"
	                  "W_t    directions of its subspace, W_t'W_t = I (array W)\n"
	                  "P_t    clusters of the samples, one-hot\n"
	                  "M_t    cluster centres in the subspace (array centres)\n"
	                  "eps    reward for variance in the subspace (option eps); 0 is the paper's objective",
	          .steps = "1. W: the l lowest eigenvectors of (1 - eps) X'X - Z Z', Z = X'P (P'P)^-1/2\n"
	                   "2. M: the means of the clusters in the subspace\n"
	                   "3. P: each sample joins its nearest centre",
	          .use = "A baseline for lssmtc: the same subspace for each data set separately.",
	          .cost = "One product of the data with l directions, and the eigenvectors, per iteration.",
	          .family = KDR_FAMILY_CLUSTER,
	          .flags = KDR_ALGO_POOLED | KDR_ALGO_MONOTONE | KDR_ALGO_PREDICT,
	          .options = options_table,
	          .fields = fields_table,
	          .references = references_table },
	.fit = asi_fit,
	.predict = asi_predict,
};
