/* SNMF: symmetric non-negative factorisation of similarities. SPDX-License-Identifier: BSD-3-Clause
 *
 * [KDP12] D. Kuang, C. Ding, H. Park: Symmetric nonnegative matrix factorization for graph clustering. SDM 2012; the
 * single-task method that [ZZL19] compares with.
 *
 *   (E1)  M_ij = max(cos(x_i, x_j), 0), or exp(-|x_i - x_j|^2 / (2 sigma^2))
 *   (E2)  min |M - Y Y'|^2 over Y >= 0 (n x k), from k-means; label = argmax      snmf_steps.c
 *
 * Each task is clustered separately. M is n x n and dense; a sparse X stays sparse. If no sample has a negative
 * entry, M is the product of two thin matrices and is not formed if that is cheaper (snmf_steps.c); k-means, which
 * initialises (E2) if no labels are given, uses the products of the samples.
 *
 * Tasks that are the same matrix with different initial labels, as in an ensemble, share one M and are factorised in
 * step.
 *
 * A new sample adds a row to M, its similarities (E1) to the training samples, which are in the model: it gets the
 * memberships that explain that row (mtcfir_predict.c).
 *
 * M   gram (in its place)        Y   memberships        sigma   sigma */
#include <stdio.h>

#include "api/method.h"
#include "engine/graph/spectrum.h"
#include "engine/kmeans/kmeans.h"
#include "methods/common/tasks.h"
#include "methods/mtcfir/mtcfir.h"

/* The last step of mtcfir and snmf.
 *
 * Each of several starts is factorised, and the one with the lowest objective is kept. With final=ncut, the spectral
 * step of ncut.c runs on the same similarities instead. */

const char *const kdri_final_names[] = { "snmf", "ncut", NULL };

enum { START_ITERATIONS = 100, MOST_STARTS = 1 << 20, MOST_TOGETHER = 256 };

static bool snmf_task_stopped(const kdr_context *ctx)
{
	return ctx->cancelled || ctx->timed_out;
}

/* Whether two partitions are the same up to the names of their clusters. */
static bool same_partition(const int64_t *a, const int64_t *b, int64_t n, int64_t k, int64_t *names)
{
	for (int64_t c = 0; c < 2 * k; c++)
		names[c] = -1;
	for (int64_t i = 0; i < n; i++) {
		int64_t *forward = names + a[i], *back = names + k + b[i];
		if (*forward < 0)
			*forward = b[i];
		if (*back < 0)
			*back = a[i];
		if (*forward != b[i] || *back != a[i])
			return false;
	}
	return true;
}

kdr_status kdri_snmf_starts(kdr_context *ctx, kdri_block gram, int64_t k, int64_t runs, int64_t task,
                            int64_t *starts, int64_t *found)
{
	kdr_status st = KDR_OK;
	int64_t n = gram.rows, kept = 0, *names = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &names, 2 * k));
	/* One start in any case; the others unless a stop is requested. */
	for (int64_t r = 0; r < runs && (r == 0 || !kdri_iteration(ctx, "starts", r, runs, NAN)); r++) {
		int64_t *labels = starts + kept * n;
		bool known = false;
		KDRI_TRY(kdri_gram_kmeans(ctx, gram, k, START_ITERATIONS, (uint64_t)(task * MOST_STARTS + r),
		                          labels));
		for (int64_t q = 0; q < kept && !known; q++)
			known = same_partition(starts + q * n, labels, n, k, names);
		kept += !known;
	}
	*found = kept;
done:
	kdri_free(ctx, names);
	return st;
}

static double last_objective(const kdri_snmf_result *r)
{
	return r->iterations ? r->trace[r->iterations - 1] : r->start;
}

static const char stage[] = "snmf";

/* Y and trace of the best start, or of each. */
static kdr_status snmf_task_factorise(kdr_context *ctx, const kdri_snmf_task *t, const kdri_snmf_matrix *m,
                                      kdri_snmf_result *best)
{
	kdr_status st;
	kdri_snmf_result r[MOST_TOGETHER] = { 0 };
	double *starts = NULL;
	const kdri_snmf_options o = { .k = t->k,
		                      .max_iter = kdri_opt_int(t->options, "max_iter"),
		                      .tol = kdri_opt_real(t->options, "tol"),
		                      .stage = t->stage };
	int64_t n = m->rows, size, count;
	int64_t group = KDRI_MIN(t->runs, KDRI_MAX(1, KDRI_MIN(MOST_TOGETHER, m->dev->most_columns) / t->k));
	KDRI_TRY(kdri_mul(ctx, n, t->k, &size));
	KDRI_TRY(KDRI_NEW(ctx, &starts, group * size));
	for (int64_t q = 0; q < t->runs && (q == 0 || t->apart || !snmf_task_stopped(ctx)); q += count) {
		count = KDRI_MIN(group, t->runs - q);
		for (int64_t i = 0; i < count; i++)
			kdri_snmf_start(t->starts + (q + i) * n, n, t->k, starts + i * size);
		KDRI_TRY(kdri_snmf(ctx, m, starts, count, &o, r));
		for (int64_t i = 0; i < count; i++) {
			kdri_snmf_result *to = best + (t->apart ? q + i : 0);
			if (!to->y || last_objective(&r[i]) < last_objective(to)) {
				kdri_snmf_result old = *to;
				*to = r[i];
				r[i] = old;
			}
			kdri_snmf_free(ctx, &r[i]);
		}
	}
	for (int64_t q = 0; q < (t->apart ? t->runs : 1) && snmf_task_stopped(ctx); q++)
		best[q].stop = kdri_stop_reason(ctx);
done:
	kdri_free(ctx, starts);
	return st;
}

static kdr_status snmf_task_put(kdr_context *ctx, const kdri_snmf_task *t, int64_t task, int64_t n,
                                const kdri_snmf_result *best, kdr_result *result, kdri_trace *trace)
{
	int64_t *labels = NULL;
	double *y = NULL, *values = NULL;
	KDRI_DO(kdri_result_labels(ctx, result, task, &labels));
	kdri_snmf_labels(best->y, n, t->k, labels);
	KDRI_DO(kdri_result_array(ctx, result, "memberships", task, KDR_FLOAT64, 2, (int64_t[]){ n, t->k },
	                          &y));
	if (best->y) /* there is at least one start */
		memcpy(y, best->y, (size_t)(n * t->k) * sizeof *y);
	KDRI_DO(kdri_result_array(ctx, result, "trace", task, KDR_FLOAT64, 1, (int64_t[]){ best->iterations },
	                          &values));
	if (best->iterations)
		memcpy(values, best->trace, (size_t)best->iterations * sizeof *values);
	*trace = (kdri_trace){ best->start, values, best->iterations, best->stop, 1 };
	return KDR_OK;
}

static kdr_status run_snmf(kdr_context *ctx, const kdri_snmf_task *t, kdr_result *result, kdri_trace *traces)
{
	kdr_status st;
	int64_t tasks = t->apart ? t->runs : 1;
	kdri_snmf_result *best = NULL;
	kdri_sparse sparse = { 0 };
	kdri_snmf_matrix m;
	double square;
	KDRI_TRY(KDRI_NEW0(ctx, &best, tasks));
	if (t->sparse) {
		KDRI_TRY(kdri_sparse_of(ctx, t->dev, &t->sparse->as.csr, NULL, &sparse));
		m = kdri_snmf_sparse(&sparse, kdri_nrm2sq(t->sparse->as.csr.val, kdr_mat_nnz(t->sparse)));
	} else if (t->dense) {
		KDRI_OP(ctx, t->dev, square, *t->dense, &square);
		m = kdri_snmf_dense(t->dense, square);
	} else {
		m = kdri_snmf_cosines(t->cosines);
	}
	KDRI_TRY(snmf_task_factorise(ctx, t, &m, best));
	for (int64_t q = 0; q < tasks; q++)
		KDRI_TRY(snmf_task_put(ctx, t, t->task + q, m.rows, &best[q], result, &traces[q]));
done:
	for (int64_t q = 0; best && q < tasks; q++)
		kdri_snmf_free(ctx, &best[q]);
	kdri_free(ctx, best);
	kdri_sparse_free(ctx, &sparse);
	return st;
}

static kdr_status run_ncut(kdr_context *ctx, const kdri_snmf_task *t, const kdr_mat *w, kdr_result *result,
                           kdri_trace *trace)
{
	kdr_status st;
	kdri_spectral_options o = kdri_spectral_defaults(t->k);
	kdri_spectral_result r = { 0 };
	int64_t n = kdr_mat_rows(w), *labels = NULL;
	double *y = NULL, *to = NULL;
	o.n_init = kdri_opt_int(t->options, "n_init");
	o.stream = (uint64_t)t->task;
	o.init_labels = t->given ? t->starts : NULL;
	KDRI_TRY(kdri_spectral(ctx, w, &o, &r));
	KDRI_TRY(kdri_result_labels(ctx, result, t->task, &labels));
	memcpy(labels, r.labels, (size_t)n * sizeof *labels);
	KDRI_TRY(kdri_result_array(ctx, result, "memberships", t->task, KDR_FLOAT64, 2,
	                           (int64_t[]){ n, t->k }, &y));
	for (int64_t i = 0; i < n; i++)
		y[i * t->k + labels[i]] = 1;
	KDRI_TRY(kdri_result_array(ctx, result, "embedding", t->task, KDR_FLOAT64, 2, (int64_t[]){ n, t->k },
	                           &to));
	memcpy(to, r.embedding, (size_t)(n * t->k) * sizeof *to);
	KDRI_TRY(kdri_result_array(ctx, result, "eigenvalues", t->task, KDR_FLOAT64, 1, (int64_t[]){ t->k },
	                           &to));
	memcpy(to, r.values, (size_t)t->k * sizeof *to);
	KDRI_TRY(kdri_result_array(ctx, result, "trace", t->task, KDR_FLOAT64, 1, (int64_t[]){ 1 }, &to));
	to[0] = r.ncut;
	*trace = (kdri_trace){ r.ncut, to, 1, r.stop, 1 };
	if (r.components > t->k)
		KDRI_TRY(kdri_result_warn(
		        ctx, result,
		        "data set %s: the similarity graph has %lld separate parts, more than k = %lld; the smaller parts joined the largest cluster",
		        t->name, (long long)r.components, (long long)t->k));
done:
	kdri_spectral_free(ctx, &r);
	return st;
}

kdr_status kdri_snmf_task_run(kdr_context *ctx, const kdri_snmf_task *t, kdr_result *result,
                              kdri_trace *traces)
{
	kdr_status st;
	double *w = NULL;
	int64_t size;
	if (kdri_opt_choice(t->options, "final") == KDRI_FINAL_SNMF)
		return run_snmf(ctx, t, result, traces);
	if (t->sparse)
		return run_ncut(ctx, t, t->sparse, result, traces);
	/* The spectral step needs doubles and a zero diagonal. */
	int64_t n = t->dense->rows;
	KDRI_TRY(kdri_mul(ctx, n, n, &size));
	KDRI_TRY(KDRI_NEW(ctx, &w, size));
	KDRI_TRY(kdri_block_fetch(ctx, *t->dense, w, n));
	for (int64_t i = 0; i < n; i++)
		w[i * n + i] = 0;
	const kdr_mat m = kdr_mat_from_dense(w, n, n);
	KDRI_TRY(run_ncut(ctx, t, &m, result, traces));
done:
	kdri_free(ctx, w);
	return st;
}

kdr_status kdri_snmf_give_up(kdr_context *ctx, const kdr_problem *problem, int64_t task,
                             const int64_t *labels, kdr_result *result)
{
	kdr_status st;
	const kdr_task *t = &problem->tasks[task];
	kdri_kmeans_result means = { 0 };
	kdri_kmeans_options o = kdri_kmeans_defaults(t->k);
	int64_t *to = NULL, n = kdr_mat_rows(&t->x);
	double *y = NULL;
	o.stream = (uint64_t)task;
	if (!labels && !t->init)
		KDRI_TRY(kdri_kmeans(ctx, &t->x, NULL, &o, &means));
	KDRI_TRY(kdri_result_labels(ctx, result, task, &to));
	memcpy(to, labels ? labels : t->init ? t->init : means.labels, (size_t)n * sizeof *to);
	KDRI_TRY(kdri_result_array(ctx, result, "memberships", task, KDR_FLOAT64, 2, (int64_t[]){ n, t->k },
	                           &y));
	for (int64_t i = 0; i < n; i++)
		y[i * t->k + to[i]] = 1;
done:
	kdri_kmeans_free(ctx, &means);
	return st;
}

kdr_status kdri_snmf_warn_given_up(kdr_context *ctx, const kdr_problem *problem, int64_t count,
                                   kdr_result *result)
{
	if (count == 0)
		return KDR_OK;
	kdri_result_stop(result, kdri_stop_reason(ctx), 0);
	return kdri_result_warn(
	        ctx, result, "%s: %lld of %lld data sets were not finished; their labels are %s",
	        ctx->cancelled ? "stopped" : "time limit reached", (long long)count,
	        (long long)problem->ntasks,
	        problem->tasks[0].init ? "the initial labels"
	        : ctx->cancelled       ? "the first ones of k-means on the data as given, and not reliable"
	                               : "those of k-means on the data as given");
}

static const kdr_option_desc options_table[] = {
	KDRI_CHOICE("similarity", KDRI_SIMILARITY_COSINE, kdri_similarity_names,
	            "similarity of two samples: their cosine, if positive, or a Gaussian of their distance"),
	KDRI_REAL("sigma", 0, 0, 1e300, "width of the Gaussian; 0: the median distance between two samples",
	          .automatic = "median distance", .symbol = "sigma"),
	KDRI_OPTION_FINAL,
	KDRI_OPTION_PRECISION,
	KDRI_BOOL(
	        "keep", true,
	        "keep the samples, which are needed to label new ones; false: keep only labels and memberships"),
	KDRI_MAX_ITER(200),
	KDRI_TOL(1e-6),
	KDRI_N_INIT(10),
	{ .name = NULL },
};

static const kdr_field_desc fields_table[] = {
	KDRI_FIELDS_FINAL,
	KDRI_ARRAY("sigma", KDR_FLOAT64, "1", "width of the Gaussian in use; similarity=gauss only",
	           .per_task = true, .in_model = true),
	KDRI_FIELDS_TRAIN,
	{ .name = NULL },
};

static const char *const references_table[] = {
	"D. Kuang, C. Ding, H. Park: Symmetric nonnegative matrix factorization for graph clustering. SDM 2012. [KDP12]",
	NULL,
};

/* A task at work, or several of one matrix. */
typedef struct work {
	const kdr_problem *problem;
	const kdr_task *task;
	const kdr_options *options;
	kdr_result *result;
	kdri_trace *traces;
	int64_t t, count; /* tasks of the matrix, from t on */
	kdri_block gram;  /* then the similarities; empty where factors do */
	bool answered;    /* results are being written: it is too late to start again */
	int64_t given_up; /* tasks that have other labels, because it was time to stop */
} work;

/* X X' of dense samples, as many columns at a time as fit in device memory. */
static kdr_status fill_dense(kdr_context *ctx, const kdr_dense *x, kdri_block gram)
{
	kdr_status st = KDR_OK;
	kdri_block rows = { 0 };
	int64_t room = (int64_t)KDRI_MIN(gram.dev->room(gram.dev) / 16, INT64_MAX),
	        wide = KDRI_MAX(1, KDRI_MIN(x->cols, room / KDRI_MAX(x->rows, 1)));
	if (kdri_is_cpu(gram.dev) && !gram.single) { /* the samples are where they should be */
		KDRI_OP(ctx, gram.dev, syrk, false, 1, kdri_block_of(x->data, x->rows, x->cols, x->stride), 0,
		        gram);
		return KDR_OK;
	}
	KDRI_TRY(kdri_block_new(ctx, gram.dev, x->rows, wide, gram.single, &rows));
	for (int64_t j = 0; j < x->cols; j += wide) {
		kdri_block part = kdri_block_part(rows, 0, 0, x->rows, KDRI_MIN(wide, x->cols - j));
		KDRI_TRY(kdri_block_send(ctx, part, x->data + j, x->stride));
		KDRI_OP(ctx, gram.dev, syrk, false, 1, part, j > 0, gram);
	}
done:
	kdri_block_free(ctx, &rows);
	return st;
}

/* The Gram matrix, all of it. */
static kdr_status make_gram(kdr_context *ctx, kdri_device *dev, work *w)
{
	const kdr_mat *x = &w->task->x;
	int64_t n = kdr_mat_rows(x);
	bool single = kdri_precision_single(w->options, n);
	KDRI_DO(kdri_device_check(ctx, dev, 8.0 * (double)n * (double)n, "method 'snmf'", n,
	                          kdr_mat_cols(x)));
	KDRI_DO(kdri_block_new(ctx, dev, n, n, single, &w->gram));
	if (x->kind == KDR_MAT_CSR)
		KDRI_DO(kdri_msda_add_gram(ctx, w->gram, 0, x, NULL, NULL));
	else
		KDRI_DO(fill_dense(ctx, &x->as.dense, w->gram));
	KDRI_DO_OP(ctx, dev, mirror, w->gram);
	return KDR_OK;
}

/* The starts of all tasks of the matrix: those given, or found by k-means through the Gram matrix. */
static kdr_status find_starts(kdr_context *ctx, work *w, int64_t *starts, int64_t *runs)
{
	int64_t n = kdr_mat_rows(&w->task->x);
	*runs = w->count;
	for (int64_t q = 0; q < w->count && w->task->init; q++)
		memcpy(starts + q * n, w->task[q].init, (size_t)n * sizeof *starts);
	if (w->task->init || kdri_opt_choice(w->options, "final") != KDRI_FINAL_SNMF)
		return KDR_OK;
	return kdri_snmf_starts(ctx, w->gram, w->task->k, kdri_opt_int(w->options, "n_init"), w->t, starts,
	                        runs);
}

/* (E2) on similarities that are formed. */
static kdr_status use_formed(kdr_context *ctx, work *w, kdri_snmf_task *s)
{
	kdri_similarity similarity = (kdri_similarity)kdri_opt_choice(w->options, "similarity");
	double sigma = kdri_opt_real(w->options, "sigma"), *width = NULL;
	if (similarity == KDRI_SIMILARITY_GAUSS && sigma == 0)
		KDRI_DO(kdri_gram_median(ctx, w->gram, &sigma));
	w->answered = true;
	for (int64_t q = 0; q < w->count && similarity == KDRI_SIMILARITY_GAUSS; q++) {
		KDRI_DO(kdri_result_array(ctx, w->result, "sigma", w->t + q, KDR_FLOAT64, 1, (int64_t[]){ 1 },
		                          &width));
		width[0] = sigma;
	}
	KDRI_DO(kdri_gram_similarity(ctx, w->gram, similarity, sigma)); /* (E1) */
	KDRI_DO_OP(ctx, w->gram.dev, clip, w->gram);
	s->dense = &w->gram;
	ctx->abandon = false; /* from here on there is something to keep */
	return kdri_snmf_task_run(ctx, s, w->result, w->traces);
}

/* (E2) on cosines that are not. */
static kdr_status use_factors(kdr_context *ctx, work *w, kdri_snmf_task *s)
{
	kdr_status st;
	kdri_cosines cosines = { .u.view = kdr_mat_from_dense(NULL, 0, 0),
		                 .turned.view = kdr_mat_from_dense(NULL, 0, 0) };
	kdri_block_free(ctx, &w->gram); /* the starts have been found */
	KDRI_TRY(kdri_cosines_new(ctx, &w->task->x, KDRI_MAX(kdri_cpu.most_columns, w->task->k), &cosines));
	s->cosines = &cosines;
	ctx->abandon = false; /* from here on there is something to keep */
	KDRI_TRY(kdri_snmf_task_run(ctx, s, w->result, w->traces));
done:
	kdri_cosines_free(ctx, &cosines);
	return st;
}

/* Labels of the tasks of a matrix that is not ready: the initial ones, if given. */
static kdr_status snmf_give_up(kdr_context *ctx, work *w, const int64_t *starts)
{
	const int64_t n = kdr_mat_rows(&w->task->x);
	for (int64_t q = 0; q < w->count; q++) {
		KDRI_DO(kdri_snmf_give_up(ctx, w->problem, w->t + q, starts ? starts + q * n : NULL,
		                          w->result));
		w->traces[q] = (kdri_trace){ .stop = kdri_stop_reason(ctx) };
	}
	w->given_up = w->count;
	return KDR_OK;
}

/* All of it on one device. */
static kdr_status snmf_compute(kdr_context *ctx, kdri_device *dev, void *user)
{
	kdr_status st;
	work *w = user;
	const kdr_task *task = w->task;
	int64_t n = kdr_mat_rows(&task->x), *starts = NULL, size;
	char unnamed[32];
	snprintf(unnamed, sizeof unnamed, "%lld", (long long)w->t + 1);
	kdri_snmf_task s = { .task = w->t,
		             .k = task->k,
		             .name = task->name ? task->name : unnamed,
		             .dev = dev,
		             .apart = w->count > 1,
		             .given = task->init != NULL,
		             .options = w->options,
		             .stage = stage };
	/* An accelerator forms all cosines sooner than it multiplies by their factors. */
	const bool factors = kdri_is_cpu(dev) && kdri_opt_choice(w->options, "final") == KDRI_FINAL_SNMF &&
	                     kdri_opt_choice(w->options, "similarity") == KDRI_SIMILARITY_COSINE &&
	                     kdri_cosines_pay(&task->x);
	const bool before = ctx->abandon;
	ctx->abandon = true;
	KDRI_TRY(kdri_mul(ctx, n, KDRI_MAX(w->count, kdri_opt_int(w->options, "n_init")), &size));
	KDRI_TRY(KDRI_NEW(ctx, &starts, size));
	if (!factors || !task->init)
		KDRI_TRY(make_gram(ctx, dev, w));
	KDRI_TRY(find_starts(ctx, w, starts, &s.runs));
	s.starts = starts;
	KDRI_TRY(factors ? use_factors(ctx, w, &s) : use_formed(ctx, w, &s));
done:
	ctx->abandon = before;
	if (st == KDR_ERR_NUMERIC && (ctx->cancelled || ctx->timed_out)) {
		const bool started = s.starts && kdri_opt_choice(w->options, "final") == KDRI_FINAL_SNMF;
		st = snmf_give_up(ctx, w, started ? starts : NULL);
	}
	if (w->answered)
		ctx->device_failed = false;
	kdri_block_free(ctx, &w->gram);
	kdri_free(ctx, starts);
	return st;
}

static bool same_matrix(const kdr_mat *a, const kdr_mat *b)
{
	if (a->kind != b->kind || kdr_mat_rows(a) != kdr_mat_rows(b) || kdr_mat_cols(a) != kdr_mat_cols(b))
		return false;
	return a->kind == KDR_MAT_DENSE
	               ? a->as.dense.data == b->as.dense.data && a->as.dense.stride == b->as.dense.stride
	               : a->as.csr.rowptr == b->as.csr.rowptr && a->as.csr.col == b->as.csr.col &&
	                         a->as.csr.val == b->as.csr.val;
}

/* How many tasks from t on are one matrix, with starts of their own and one number of clusters. */
static int64_t tasks_of_one(const kdr_problem *problem, int64_t t, const kdr_options *options)
{
	const kdr_task *first = &problem->tasks[t];
	int64_t end = t + 1;
	if (!first->init || kdri_opt_choice(options, "final") != KDRI_FINAL_SNMF)
		return 1;
	while (end < problem->ntasks && problem->tasks[end].init && problem->tasks[end].k == first->k &&
	       same_matrix(&problem->tasks[end].x, &first->x))
		end++;
	return end - t;
}

static kdr_status snmf_fit(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                           kdr_result *result)
{
	kdr_status st;
	int64_t count, given_up = 0;
	kdri_trace *traces = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &traces, problem->ntasks));
	for (int64_t t = 0; t < problem->ntasks; t += count) {
		count = tasks_of_one(problem, t, options);
		const kdr_task *task = &problem->tasks[t];
		double n = (double)kdr_mat_rows(&task->x);
		work w = { .problem = problem,
			   .task = task,
			   .options = options,
			   .result = result,
			   .traces = &traces[t],
			   .t = t,
			   .count = count };
		/* Some hundred iterations of ten starts, and the Gram matrix. */
		KDRI_TRY(kdri_compute(ctx,
		                      n * n * (double)kdr_mat_cols(&task->x) +
		                              kdri_thin_flops(ctx, 1000 * n * n * (double)task->k),
		                      snmf_compute, &w));
		given_up += w.given_up;
	}
	if (kdri_opt_bool(options, "keep"))
		KDRI_TRY(kdri_train_keep(ctx, problem, result));
	KDRI_TRY(kdri_put_traces(ctx, traces, problem->ntasks, result));
	KDRI_TRY(kdri_snmf_warn_given_up(ctx, problem, given_up, result));
done:
	kdri_free(ctx, traces);
	return st;
}

/* --- new samples ---------------------------------------------------------------------------------------- */

enum { ROWS = 1024 }; /* new samples at a time */

/* x t' of rows x and training rows t, which are both dense or both sparse; `tt` is t transposed if sparse. */
static kdr_status fill_cross(kdr_context *ctx, const kdr_mat *x, const kdr_mat *t, const kdr_mat *tt,
                             kdri_block s)
{
	if (x->kind == KDR_MAT_CSR)
		return kdri_sparse_cross(ctx, &x->as.csr, &tt->as.csr, NULL, s);
	return kdri_gemm(ctx, false, true, s.rows, s.cols, x->as.dense.cols, 1, x->as.dense.data,
	                 x->as.dense.stride, t->as.dense.data, t->as.dense.stride, 0, s.data, s.stride);
}

/* (E1): products become similarities; xx and tt are the squared lengths. sigma < 0: cosines. */
static void put_similarities(kdr_context *ctx, const double *xx, const double *tt, double sigma, kdri_block s)
{
	double factor = sigma > 0 ? 1 / (2 * sigma * sigma) : 0;
	if (!s.data) /* no rows */
		return;
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static)
	for (int64_t i = 0; i < s.rows; i++) {
		double *row = (double *)s.data + i * s.stride;
		for (int64_t j = 0; j < s.cols; j++)
			if (sigma >= 0)
				row[j] = exp(-factor * KDRI_MAX(0.0, xx[i] + tt[j] - 2 * row[j]));
			else
				row[j] = xx[i] > 0 && tt[j] > 0
				                 ? KDRI_MAX(0.0, row[j] / (sqrt(xx[i]) * sqrt(tt[j])))
				                 : 0;
	}
}

/* The width in force for a task, or -1 for cosines. */
static kdr_status find_sigma(kdr_context *ctx, const kdr_result *fitted, const kdr_options *options,
                             int64_t task, double *out)
{
	kdr_array sigma = kdr_result_array(fitted, "sigma", task);
	*out = -1;
	if (kdri_opt_choice(options, "similarity") != KDRI_SIMILARITY_GAUSS)
		return KDR_OK;
	if (!sigma.data || ((const double *)sigma.data)[0] < 0)
		return kdri_fail(ctx, KDR_ERR_DATA,
		                 "the model does not have the width of the Gaussian for data set number %lld",
		                 (long long)task + 1);
	*out = ((const double *)sigma.data)[0];
	return KDR_OK;
}

static kdr_status snmf_predict(kdr_context *ctx, const kdr_result *fitted, const kdr_options *options,
                               int64_t task, const kdr_mat *x, int64_t *labels)
{
	kdr_status st;
	int64_t begin[2], rows = kdr_mat_rows(x);
	const double *y = NULL;
	double *lengths = NULL, sigma;
	kdri_own all = { .view = kdr_mat_from_dense(NULL, 0, 0) }, tt = all;
	kdri_block room = { 0 };
	KDRI_TRY(find_sigma(ctx, fitted, options, task, &sigma));
	KDRI_TRY(kdri_train_stack(ctx, fitted, task, 1, x, &all, begin));
	int64_t n = begin[1];
	kdr_mat t = kdri_rows(&all.view, 0, n);
	KDRI_TRY(kdri_train_memberships(ctx, fitted, task, n, &y));
	if (t.kind == KDR_MAT_CSR)
		KDRI_TRY(kdri_mat_transpose(ctx, &t, &tt));
	KDRI_TRY(KDRI_NEW(ctx, &lengths, n + rows));
	KDRI_TRY(kdri_mat_row_norms(ctx, &all.view, lengths));
	KDRI_TRY(kdri_block_new(ctx, &kdri_cpu, KDRI_MIN(ROWS, rows), n, false, &room));
	for (int64_t i = 0; i < rows; i += ROWS) {
		kdri_block s = kdri_block_part(room, 0, 0, KDRI_MIN(ROWS, rows - i), n);
		kdr_mat part = kdri_rows(&all.view, n + i, n + i + s.rows);
		KDRI_TRY(fill_cross(ctx, &part, &t, &tt.view, s));
		put_similarities(ctx, lengths + n + i, lengths, sigma, s);
		KDRI_TRY(kdri_fold_in(ctx, s, y, kdr_result_k(fitted, task), labels + i));
	}
done:
	kdri_own_free(ctx, &all);
	kdri_own_free(ctx, &tt);
	kdri_free(ctx, lengths);
	kdri_block_free(ctx, &room);
	return st;
}

const kdri_algo kdri_algo_snmf = {
	.info = { .id = "snmf",
	          .class_name = "SNMF",
	          .title = "Symmetric non-negative matrix factorisation",
	          .summary =
	                  "factorises the similarities of a data set's samples into memberships, for each data set separately",
	          .objective =
	                  "J = sum_t |M_t - Y_t Y_t'|^2, Y_t >= 0\n"
	                  "t      data set\n"
	                  "M_t    similarities of its samples: cosines, 0 if negative, or a Gaussian of the distance\n"
	                  "Y_t    memberships of the samples (array memberships)",
	          .steps =
	                  "1. Y: one-hot labels of k-means + 0.2\n"
	                  "2. multiply each entry of Y by the square root of (M Y) / (Y Y'Y); the label is the largest entry",
	          .use = "A baseline for mtcfir, and soft memberships on a graph of all pairs.",
	          .cost = "n^2 numbers, or less if no value is negative; one product M Y per iteration.",
	          .family = KDR_FAMILY_CLUSTER,
	          .flags = KDR_ALGO_MONOTONE | KDR_ALGO_PREDICT,
	          .options = options_table,
	          .fields = fields_table,
	          .references = references_table },
	.fit = snmf_fit,
	.predict = snmf_predict,
};
