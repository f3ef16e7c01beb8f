/* The last step of mtcfir and snmf. SPDX-License-Identifier: BSD-3-Clause
 *
 * Each of several starts is factorised, and the one with the lowest objective is kept. With final=ncut, the spectral
 * step of ncut.c runs on the same similarities instead. */
#include "methods/mtcfir/snmf_task.h"

#include "api/method.h"
#include "engine/graph/spectral.h"
#include "engine/kmeans/lloyd.h"
#include "methods/mtcfir/gram_kmeans.h"

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
