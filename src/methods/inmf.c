/* iNMF: integrative nonnegative matrix factorisation, with features of a task's own. SPDX-License-Identifier: BSD-3-Clause
 *
 * [YM16]  Z. Yang, G. Michailidis: A non-negative matrix factorization method for detecting modules in heterogeneous
 *         omics multi-modal data. Bioinformatics 32:1-8, 2016.
 * [WKF19] J. Welch et al.: Single-cell multi-omic integration compares and contrasts features of brain cell identity
 *         (LIGER). Cell 177:1873-1887, 2019.
 * [GPW21] C. Gao et al.: Iterative single-cell multi-omic integration using online learning. Nature Biotechnology
 *         39:1000-1007, 2021.
 * [KW22]  A. Kriebel, J. Welch: UINMF performs mosaic integration of single-cell multi-omic datasets using nonnegative
 *         matrix factorization. Nature Communications 13:780, 2022.
 *
 *   (E1)  J = sum_t |X_t - H_t (W + V_t)'|^2 + lambda |H_t V_t'|^2,   H_t, W, V_t >= 0       [YM16, eq. 3; WKF19]
 *   (E2)  w_i = 0 for a feature i that some task lacks: there v_ti alone explains it         [KW22, U_t]
 *
 * A task lacks a feature if all of its entries are 0, as after aligning by the union of the features. Every block has
 * the same form, rows z >= 0 that minimise z G z' - 2 z b', and is minimised by coordinate descent [GPW21, HALS]:
 *
 *   (E3)  z_j <- max(0, z_j + (b - z G)_j / G_jj)                  j = 1 .. k, SWEEPS times
 *   (E4)  H_t:  G = A'A + lambda V_t'V_t, A = W + V_t;             b = X_t A
 *   (E5)  V_t:  G = (1 + lambda) H_t'H_t;                          b = X_t'H_t - W H_t'H_t
 *   (E6)  W:    G = sum_t H_t'H_t;                                 b = sum_t X_t'H_t - V_t H_t'H_t
 *
 * No step raises J. A sweep takes 4 k nnz + 2 SWEEPS k^2 (n + T d) operations and no matrix larger than n x k, d x k.
 * Cluster j of every task is factor j:
 *
 *   (E7)  a sample's cluster: the largest of h_j / s_tj, s_tj^2 the mean of the squares of column j of H_t     [WKF19]
 *
 * DEVIATION: the start is k-means of all tasks (H one-hot + 0.2, W the mean of each cluster, V = 0), not a random one;
 * labels are (E7), whereas LIGER also smooths them over neighbours and aligns the quantiles of the factors.
 *
 * X_t      problem->tasks[t].x, n_t x d        W, V_t   w, v[t]: d x k
 * H_t      h + begin[t] k, n_t x k             A        a: d x k
 * X_t'H_t  xh, d x k                           H_t'H_t  g[t]: k x k */
#include "api/method.h"
#include "engine/kmeans/kmeans.h"
#include "methods/common/tasks.h"

static const char stage[] = "inmf";

enum { SWEEPS = 4, PREDICT_SWEEPS = 200 };
static const double soften = 0.2; /* initial weight of a sample in the clusters it does not belong to */

static const kdr_option_desc options_table[] = {
	KDRI_REAL("lambda", 5, 0, 1e9,
	          "penalty on the data sets' own parts; larger values make them share more",
	          .symbol = "lambda"),
	KDRI_MAX_ITER(100),
	KDRI_TOL(1e-5),
	KDRI_INT("n_init", 10, 1, 1e6, "number of runs of the k-means that initialises H; the best is kept"),
	{ .name = NULL },
};

static const kdr_field_desc fields_table[] = {
	KDRI_ARRAY("W", KDR_FLOAT64, "k x d", "factors that all data sets share", .in_model = true),
	KDRI_ARRAY("V", KDR_FLOAT64, "k x d", "what each data set adds to the factors", .per_task = true,
	           .in_model = true),
	KDRI_ARRAY("sizes", KDR_FLOAT64, "k",
	           "root mean square of each factor over the samples of the data set", .per_task = true,
	           .in_model = true),
	KDRI_ARRAY("H", KDR_FLOAT64, "n x k",
	           "amount of each factor in each sample, in units of the factor's root mean square",
	           .per_task = true, .scoring = KDR_SCORING_SHARES, .common_space = true),
	{ .name = NULL },
};

static const char *const references_table[] = {
	"Z. Yang, G. Michailidis: A non-negative matrix factorization method for detecting modules in heterogeneous omics "
	"multi-modal data. Bioinformatics 32:1-8, 2016.",
	"J. Welch et al.: Single-cell multi-omic integration compares and contrasts features of brain cell identity. Cell "
	"177:1873-1887, 2019.",
	"C. Gao et al.: Iterative single-cell multi-omic integration using online learning. Nature Biotechnology "
	"39:1000-1007, 2021.",
	"A. Kriebel, J. Welch: UINMF performs mosaic integration of single-cell multi-omic datasets using nonnegative matrix "
	"factorization. Nature Communications 13:780, 2022.",
	NULL,
};

typedef struct factors {
	const kdr_problem *problem;
	int64_t ntasks, d, k;
	const int64_t *begin;
	double lambda, *squares;   /* |X_t|^2 of each task */
	bool *has;                 /* ntasks x d: whether task t has feature i */
	bool *shared;              /* d: whether all tasks have the feature */
	double *h, *w, *v;         /* n x k; d x k; ntasks x d x k */
	double *a, *xh, *b, *gram; /* d x k each; ntasks x k x k */
	double *sum, *q, *targets; /* k x k each; max(n_t, d) x k */
	int64_t iterations, room;  /* of the trace */
	double start, *trace;
	kdr_stop stop;
} factors;

static int64_t inmf_rows_of(const factors *f, int64_t t)
{
	return f->begin[t + 1] - f->begin[t];
}

/* --- steps -------------------------------------------------------------------------------------- */

/* (E3) for n rows z and their b; rows with keep[i] false are left alone (keep NULL: none is). */
static void inmf_descend(kdr_context *ctx, const double *g, const double *b, int64_t n, int64_t k, int sweeps,
                         const bool *keep, double *z)
{
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static, KDRI_BLOCK) if (n * k * k > 1 << 15)
	for (int64_t i = 0; i < n; i++) {
		double *x = z + i * k;
		if (keep && !keep[i])
			continue;
		for (int s = 0; s < sweeps; s++)
			for (int64_t j = 0; j < k; j++)
				if (g[j * k + j] > 0)
					x[j] = KDRI_MAX(0, x[j] + (b[i * k + j] - kdri_dot(x, g + j * k, k)) /
					                                   g[j * k + j]);
	}
}

/* a = W + V_t; q = A'A + lambda V_t'V_t, the G of (E4). */
static kdr_status join_factors(kdr_context *ctx, factors *f, int64_t t)
{
	int64_t d = f->d, k = f->k;
	const double *v = f->v + t * d * k;
	for (int64_t i = 0; i < d * k; i++)
		f->a[i] = f->w[i] + v[i];
	KDRI_DO(kdri_gemm(ctx, true, false, k, k, d, 1, f->a, k, f->a, k, 0, f->q, k));
	return kdri_gemm(ctx, true, false, k, k, d, f->lambda, v, k, v, k, 1, f->q, k);
}

/* (E4) */
static kdr_status step_h(kdr_context *ctx, factors *f, int64_t t)
{
	int64_t k = f->k, n = inmf_rows_of(f, t);
	KDRI_DO(join_factors(ctx, f, t));
	KDRI_DO(kdri_mat_mul(ctx, &f->problem->tasks[t].x, f->a, k, k, f->targets, k));
	inmf_descend(ctx, f->q, f->targets, n, k, SWEEPS, NULL, f->h + f->begin[t] * k);
	return KDR_OK;
}

/* b -= M G_t for a d x k matrix M. */
static kdr_status take_away(kdr_context *ctx, const factors *f, const double *m, int64_t t, double *b)
{
	return kdri_gemm(ctx, false, false, f->d, f->k, f->k, -1, m, f->k, f->gram + t * f->k * f->k, f->k, 1,
	                 b, f->k);
}

/* (E5), and task t's part of (E6) onto b and sum. */
static kdr_status step_v(kdr_context *ctx, factors *f, int64_t t)
{
	int64_t d = f->d, k = f->k, n = inmf_rows_of(f, t);
	double *g = f->gram + t * k * k, *v = f->v + t * d * k;
	const double *h = f->h + f->begin[t] * k;
	KDRI_DO(kdri_mat_tmul(ctx, &f->problem->tasks[t].x, h, k, k, f->xh, k));
	KDRI_DO(kdri_gemm(ctx, true, false, k, k, n, 1, h, k, h, k, 0, g, k));
	memcpy(f->targets, f->xh, (size_t)(d * k) * sizeof *f->xh);
	KDRI_DO(take_away(ctx, f, f->w, t, f->targets));
	for (int64_t i = 0; i < k * k; i++) {
		f->q[i] = (1 + f->lambda) * g[i];
		f->sum[i] += g[i];
	}
	inmf_descend(ctx, f->q, f->targets, d, k, SWEEPS, f->has + t * d, v);
	for (int64_t i = 0; i < d * k; i++)
		f->b[i] += f->xh[i];
	return take_away(ctx, f, v, t, f->b);
}

/* (E1) = sum_t |X_t|^2 - 2 <X_t A, H_t> + <H_t'H_t, A'A + lambda V_t'V_t>. */
static kdr_status inmf_value_of(kdr_context *ctx, factors *f, double *out)
{
	int64_t k = f->k;
	double value = 0;
	for (int64_t t = 0; t < f->ntasks; t++) {
		const double *h = f->h + f->begin[t] * k;
		int64_t n = inmf_rows_of(f, t);
		KDRI_DO(join_factors(ctx, f, t));
		KDRI_DO(kdri_mat_mul(ctx, &f->problem->tasks[t].x, f->a, k, k, f->targets, k));
		KDRI_DO(kdri_gemm(ctx, true, false, k, k, n, 1, h, k, h, k, 0, f->gram + t * k * k, k));
		value += f->squares[t] - 2 * kdri_dot(f->targets, h, n * k) +
		         kdri_dot(f->gram + t * k * k, f->q, k * k);
	}
	*out = value;
	return KDR_OK;
}

static kdr_status inmf_iterate(kdr_context *ctx, factors *f, int64_t most, double tol)
{
	int64_t d = f->d, k = f->k;
	double value, before;
	bool stopped = false;
	KDRI_DO(inmf_value_of(ctx, f, &value));
	f->start = value;
	f->stop = KDR_STOP_MAX_ITER;
	while (!stopped && f->stop == KDR_STOP_MAX_ITER && f->iterations < most) {
		before = value;
		for (int64_t t = 0; t < f->ntasks; t++)
			KDRI_DO(step_h(ctx, f, t));
		memset(f->b, 0, (size_t)(d * k) * sizeof *f->b);
		memset(f->sum, 0, (size_t)(k * k) * sizeof *f->sum);
		for (int64_t t = 0; t < f->ntasks; t++)
			KDRI_DO(step_v(ctx, f, t));
		inmf_descend(ctx, f->sum, f->b, d, k, SWEEPS, f->shared, f->w); /* (E6), (E2) */
		KDRI_DO(inmf_value_of(ctx, f, &value));
		KDRI_DO(kdri_trace_push(ctx, &f->trace, &f->iterations, &f->room, value));
		if (before - value <= tol * fabs(before))
			f->stop = KDR_STOP_CONVERGED;
		stopped = kdri_iteration(ctx, stage, f->iterations, most, value);
	}
	if (stopped)
		f->stop = kdri_stop_reason(ctx);
	return KDR_OK;
}

/* --- start -------------------------------------------------------------------------------------- */

/* Which features each task has, and |X_t|^2. */
static kdr_status inmf_look(kdr_context *ctx, factors *f)
{
	kdr_status st;
	int64_t *counts = NULL, d = f->d;
	double *norms = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &counts, d));
	KDRI_TRY(KDRI_NEW(ctx, &norms, f->begin[f->ntasks]));
	for (int64_t i = 0; i < d; i++)
		f->shared[i] = true;
	for (int64_t t = 0; t < f->ntasks; t++) {
		const kdr_mat *x = &f->problem->tasks[t].x;
		kdri_mat_col_counts(ctx, x, counts);
		for (int64_t i = 0; i < d; i++) {
			f->has[t * d + i] = counts[i] > 0;
			f->shared[i] = f->shared[i] && counts[i] > 0;
		}
		KDRI_TRY(kdri_mat_row_norms(ctx, x, norms));
		f->squares[t] = 0;
		for (int64_t i = 0; i < inmf_rows_of(f, t); i++)
			f->squares[t] += norms[i];
	}
done:
	KDRI_FREE(ctx, counts, norms);
	return st;
}

static kdr_status factors_new(kdr_context *ctx, const kdr_problem *problem, const kdri_stack *stack,
                              double lambda, factors *f)
{
	int64_t n = stack->begin[stack->ntasks], d = kdr_mat_cols(&stack->x), k = problem->tasks[0].k;
	*f = (factors){ .problem = problem,
		        .ntasks = stack->ntasks,
		        .d = d,
		        .k = k,
		        .begin = stack->begin,
		        .lambda = lambda };
	KDRI_DO(KDRI_NEW(ctx, &f->squares, f->ntasks));
	KDRI_DO(KDRI_NEW(ctx, &f->has, f->ntasks * d));
	KDRI_DO(KDRI_NEW(ctx, &f->shared, d));
	KDRI_DO(KDRI_NEW(ctx, &f->h, n * k));
	KDRI_DO(KDRI_NEW0(ctx, &f->w, d * k));
	KDRI_DO(KDRI_NEW0(ctx, &f->v, f->ntasks * d * k));
	KDRI_DO(KDRI_NEW(ctx, &f->a, d * k));
	KDRI_DO(KDRI_NEW(ctx, &f->xh, d * k));
	KDRI_DO(KDRI_NEW(ctx, &f->b, d * k));
	KDRI_DO(KDRI_NEW(ctx, &f->gram, f->ntasks * k * k));
	KDRI_DO(KDRI_NEW(ctx, &f->sum, k * k));
	KDRI_DO(KDRI_NEW(ctx, &f->q, k * k));
	KDRI_DO(KDRI_NEW(ctx, &f->targets, KDRI_MAX(n, d) * k));
	return inmf_look(ctx, f);
}

/* H and W from labels of all tasks: those given, or those of k-means. */
static kdr_status begin_at(kdr_context *ctx, const kdri_stack *stack, int64_t n_init, factors *f)
{
	kdr_status st;
	int64_t *init = NULL, n = f->begin[f->ntasks], d = f->d, k = f->k;
	kdri_kmeans_result first = { 0 };
	KDRI_TRY(kdri_stack_init(ctx, f->problem, stack, &init));
	if (!init) {
		kdri_kmeans_options o = kdri_kmeans_defaults(k);
		o.n_init = n_init;
		KDRI_TRY(kdri_kmeans(ctx, &stack->x, NULL, &o, &first));
	}
	const int64_t *labels = init ? init : first.labels;
	memset(f->gram, 0, (size_t)k * sizeof *f->gram);
	memset(f->h, 0, (size_t)(n * k) * sizeof *f->h);
	for (int64_t i = 0; i < n; i++) {
		f->h[i * k + labels[i]] = 1;
		f->gram[labels[i]]++;
	}
	KDRI_TRY(kdri_mat_tmul(ctx, &stack->x, f->h, k, k, f->w, k));
	for (int64_t i = 0; i < d; i++)
		for (int64_t j = 0; j < k; j++) {
			f->w[i * k + j] = f->gram[j] > 0 ? f->w[i * k + j] / f->gram[j] : 0;
			for (int64_t t = 0; !f->shared[i] && t < f->ntasks; t++) /* (E2) */
				f->v[(t * d + i) * k + j] = f->has[t * d + i] ? f->w[i * k + j] : 0;
			if (!f->shared[i])
				f->w[i * k + j] = 0;
		}
	for (int64_t i = 0; i < n * k; i++)
		f->h[i] += soften;
done:
	kdri_free(ctx, init);
	kdri_kmeans_free(ctx, &first);
	return st;
}

/* --- results ------------------------------------------------------------------------------------ */

/* (E7): h becomes h / s. A factor that is 0 for all samples of the task gets no samples. */
static void label_rows(int64_t n, int64_t k, const double *size, double *h, int64_t *labels)
{
	for (int64_t i = 0; i < n; i++) {
		labels[i] = 0;
		for (int64_t j = 0; j < k; j++) {
			h[i * k + j] = size[j] > 0 ? h[i * k + j] / size[j] : 0;
			if (h[i * k + j] > h[i * k + labels[i]])
				labels[i] = j;
		}
	}
}

/* s of (E7) */
static void sizes_of(const double *h, int64_t n, int64_t k, double *size)
{
	for (int64_t j = 0; j < k; j++) {
		size[j] = 0;
		for (int64_t i = 0; i < n; i++)
			size[j] += h[i * k + j] * h[i * k + j];
		size[j] = sqrt(size[j] / (double)n);
	}
}

static void inmf_transpose(const double *from, int64_t d, int64_t k, double *to)
{
	for (int64_t j = 0; j < k; j++)
		for (int64_t i = 0; i < d; i++)
			to[j * d + i] = from[i * k + j];
}

static kdr_status inmf_put(kdr_context *ctx, factors *f, kdr_result *result)
{
	int64_t d = f->d, k = f->k, *labels = NULL, own = 0;
	double *to = NULL;
	KDRI_DO(kdri_result_array(ctx, result, "W", -1, KDR_FLOAT64, 2, (int64_t[]){ k, d }, &to));
	inmf_transpose(f->w, d, k, to);
	for (int64_t t = 0; t < f->ntasks; t++) {
		int64_t n = inmf_rows_of(f, t);
		KDRI_DO(kdri_result_array(ctx, result, "V", t, KDR_FLOAT64, 2, (int64_t[]){ k, d }, &to));
		inmf_transpose(f->v + t * d * k, d, k, to);
		KDRI_DO(kdri_result_array(ctx, result, "sizes", t, KDR_FLOAT64, 1, (int64_t[]){ k }, &to));
		sizes_of(f->h + f->begin[t] * k, n, k, to);
		KDRI_DO(kdri_result_labels(ctx, result, t, &labels));
		label_rows(n, k, to, f->h + f->begin[t] * k, labels);
		KDRI_DO(kdri_result_array(ctx, result, "H", t, KDR_FLOAT64, 2, (int64_t[]){ n, k }, &to));
		memcpy(to, f->h + f->begin[t] * k, (size_t)(n * k) * sizeof *to);
	}
	for (int64_t i = 0; i < d; i++)
		own += !f->shared[i];
	KDRI_DO(kdri_result_number(ctx, result, "unshared_features", (double)own));
	KDRI_DO(kdri_put_same_clusters(ctx, f->ntasks, k, result));
	const kdri_trace trace = { f->start, f->trace, f->iterations, f->stop, 1 };
	return kdri_put_traces(ctx, &trace, 1, result);
}

static kdr_status inmf_fit(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                           kdr_result *result)
{
	kdr_status st;
	kdri_stack stack = { .own.view = kdr_mat_from_dense(NULL, 0, 0) };
	factors f = { 0 };
	int64_t most = kdri_opt_int(options, "max_iter");
	KDRI_TRY(kdri_stack_new(ctx, problem, &stack));
	KDRI_TRY(factors_new(ctx, problem, &stack, kdri_opt_real(options, "lambda"), &f));
	KDRI_TRY(begin_at(ctx, &stack, kdri_opt_int(options, "n_init"), &f));
	KDRI_TRY(inmf_iterate(ctx, &f, most, kdri_opt_real(options, "tol")));
	KDRI_TRY(inmf_put(ctx, &f, result));
done:
	KDRI_FREE(ctx, f.squares, f.has, f.shared, f.h, f.w, f.v, f.a, f.xh, f.gram, f.b, f.q, f.targets,
	          f.trace, f.sum);
	kdri_stack_free(ctx, &stack);
	return st;
}

/* (E4) with the factors held, then (E7). */
static kdr_status inmf_predict(kdr_context *ctx, const kdr_result *fitted, const kdr_options *options,
                               int64_t task, const kdr_mat *x, int64_t *labels)
{
	kdr_status st;
	kdr_array w = kdr_result_array(fitted, "W", -1), v = kdr_result_array(fitted, "V", task),
	          sizes = kdr_result_array(fitted, "sizes", task);
	int64_t n = kdr_mat_rows(x), d = kdr_mat_cols(x), k = w.shape[0];
	double *a = NULL, *own = NULL, *q = NULL, *b = NULL, *h = NULL;
	if (!w.data || !v.data || w.ndim != 2 || v.ndim != 2 || v.shape[0] != k || v.shape[1] != w.shape[1] ||
	    !sizes.data || sizes.ndim != 1 || sizes.shape[0] != k)
		return kdri_fail(ctx, KDR_ERR_DATA, "the model has no factors for data set number %lld",
		                 (long long)task + 1);
	if (d != w.shape[1])
		return kdri_fail(ctx, KDR_ERR_DATA,
		                 "the data have %lld columns, but the model's factors have %lld",
		                 (long long)d, (long long)w.shape[1]);
	KDRI_TRY(KDRI_NEW(ctx, &a, d * k));
	KDRI_TRY(KDRI_NEW(ctx, &own, d * k));
	KDRI_TRY(KDRI_NEW(ctx, &q, k * k));
	KDRI_TRY(KDRI_NEW(ctx, &b, n * k));
	KDRI_TRY(KDRI_NEW0(ctx, &h, n * k));
	for (int64_t j = 0; j < k; j++)
		for (int64_t i = 0; i < d; i++) {
			own[i * k + j] = ((const double *)v.data)[j * d + i];
			a[i * k + j] = own[i * k + j] + ((const double *)w.data)[j * d + i];
		}
	KDRI_TRY(kdri_gemm(ctx, true, false, k, k, d, 1, a, k, a, k, 0, q, k));
	KDRI_TRY(kdri_gemm(ctx, true, false, k, k, d, kdri_opt_real(options, "lambda"), own, k, own, k, 1, q,
	                   k));
	KDRI_TRY(kdri_mat_mul(ctx, x, a, k, k, b, k));
	inmf_descend(ctx, q, b, n, k, PREDICT_SWEEPS, NULL, h);
	label_rows(n, k, sizes.data, h, labels);
done:
	KDRI_FREE(ctx, a, own, q, b, h);
	return st;
}

const kdri_algo kdri_algo_inmf = {
	.info = { .id = "inmf",
	          .class_name = "INMF",
	          .title = "Integrative non-negative matrix factorisation",
	          .summary =
	                  "factorises the data sets into shared factors and parts of their own; features may differ (LIGER, UINMF)",
	          .objective =
	                  "J = sum_t ( |X_t - H_t (W + V_t)'|^2 + lambda |H_t V_t'|^2 ), all factors >= 0\n"
	                  "X_t    samples of data set t, one per row\n"
	                  "H_t    amount of each factor in each sample (array H times array sizes)\n"
	                  "W      features of the factors that all data sets share (array W, transposed)\n"
	                  "V_t    what data set t adds to them (array V, transposed)\n"
	                  "lambda penalty of the data sets' own parts (option lambda)",
	          .steps =
	                  "1. H_t, V_t and W in turn: each entry to its minimum, or 0 if that is negative\n"
	                  "2. a sample joins the factor with the largest value, relative to the root mean square of the factor",
	          .use = "Molecule counts of cells from several batches (LIGER); data sets may lack features.",
	          .cost = "4 k nnz operations per iteration, and O(k^2 (n + T d)); no matrix larger than n x k or d x k.",
	          .place = KDR_PLACE_PAPER,
	          .family = KDR_FAMILY_CLUSTER,
	          .flags = KDR_ALGO_JOINT | KDR_ALGO_SAME_K | KDR_ALGO_SHARED_CLUSTERS | KDR_ALGO_MONOTONE |
	                   KDR_ALGO_NONNEG | KDR_ALGO_PREDICT,
	          .options = options_table,
	          .fields = fields_table,
	          .references = references_table },
	.fit = inmf_fit,
	.predict = inmf_predict,
};
