/* An ensemble of k-means partitions. SPDX-License-Identifier: BSD-3-Clause
 *
 * The random subspace method of [B19, section 3]: run l draws m of the d features and k_l, and is one run of
 * k-means. Its columns are copied (n x m, the only large memory besides the labels) and freed before the next run.
 * Random features and rows are drawn in increasing order by selection sampling: entry j of d is selected with
 * probability (still needed) / (still remaining).
 *
 * [B19] V. Berikov: Heterogeneous transfer learning in ensemble clustering. 2019. */
#include "engine/ensemble/ensemble.h"

#include "api/method.h"
#include "comm/comm.h"
#include "engine/kmeans/lloyd.h"
#include "engine/metrics/metrics.h"
#include "matrix/linalg.h"

enum { AUTO_K_MIN = 2, AUTO_K_MAX = 20 };

kdr_status kdri_ensemble_options(kdr_context *ctx, const kdr_options *options, const kdr_task *task,
                                 int64_t k, kdri_ensemble_spec *out)
{
	int64_t n, d = kdr_mat_cols(&task->x);
	int64_t k_min = kdri_opt_int(options, "k_min"), k_max = kdri_opt_int(options, "k_max");
	kdri_ensemble_spec s = { .runs = kdri_opt_int(options, "runs"),
		                 .features = kdri_opt_int(options, "features"),
		                 .max_iter = kdri_opt_int(options, "max_iter"),
		                 .tol = kdri_opt_real(options, "tol") };
	KDRI_DO(kdri_part(ctx, kdr_mat_rows(&task->x), NULL, &n));
	if (s.features > d)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "option features is %lld, but data set %s has only %lld columns",
		                 (long long)s.features, kdri_task_name(task), (long long)d);
	if (s.features == 0)
		s.features = (d + 1) / 2;
	if (k_min > n || k_max > n)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT, "%s is %lld, but data set %s has only %lld samples",
		                 k_min > n ? "k_min" : "k_max", (long long)(k_min > n ? k_min : k_max),
		                 kdri_task_name(task), (long long)n);
	if (k_max > 0 && k_min > k_max)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "k_min is %lld, but k_max is %lld; k_max must be at least k_min",
		                 (long long)k_min, (long long)k_max);
	/* Defaults: k, if given; otherwise a wide range, so that the spectrum shows the stable clusters. */
	if (k_min == 0)
		k_min = KDRI_MIN(k > 0 ? k : AUTO_K_MIN, k_max > 0 ? k_max : n);
	if (k_max == 0)
		k_max = KDRI_MIN(KDRI_MAX(k > 0 ? k : AUTO_K_MAX, k_min), n);
	s.k_min = k_min;
	s.k_max = k_max;
	double share = kdri_opt_real(options, "subsample");
	if (share < 1) {
		s.rows = (int64_t)ceil(share * (double)n);
		if (s.rows < k_max)
			return kdri_fail(
			        ctx, KDR_ERR_ARGUMENT,
			        "subsample = %g leaves %lld of the %lld samples of data set %s, but runs of up to %lld clusters need at least as many",
			        share, (long long)s.rows, (long long)n, kdri_task_name(task),
			        (long long)k_max);
	}
	*out = s;
	return KDR_OK;
}

/* The next of 0 .. total - 1, after `last`, if `have` of `count` were chosen before it. */
static int64_t ensemble_choose(kdri_rng *rng, int64_t last, int64_t total, int64_t have, int64_t count)
{
	int64_t j = last + 1;
	while (kdri_rng_below(rng, total - j) >= count - have)
		j++;
	return j;
}

/* --- columns of a matrix ---------------------------------------------------------------------- */

static kdr_status dense_columns(kdr_context *ctx, const kdr_dense *x, const int32_t *features, int64_t m,
                                kdri_own *out)
{
	int64_t size, n = x->rows;
	double *to = NULL;
	KDRI_DO(kdri_mul(ctx, n, m, &size));
	KDRI_DO(KDRI_NEW(ctx, &to, size));
#pragma omp parallel for num_threads(kdri_team(ctx)) if (size > 1 << 16)
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < m; j++)
			to[i * m + j] = x->data[i * x->stride + features[j]];
	*out = (kdri_own){ .view = kdr_mat_from_dense(to, n, m), .parts = { to } };
	return KDR_OK;
}

static kdr_status sparse_columns(kdr_context *ctx, const kdr_csr *x, const int32_t *features, int64_t m,
                                 kdri_own *out)
{
	kdr_status st;
	int64_t *rowptr = NULL, nnz = 0;
	int32_t *place = NULL, *col = NULL; /* place: new number + 1 of a column, or 0 */
	double *val = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &place, x->cols));
	KDRI_TRY(KDRI_NEW(ctx, &rowptr, x->rows + 1));
	for (int64_t j = 0; j < m; j++)
		place[features[j]] = (int32_t)j + 1;
	rowptr[0] = 0;
	for (int64_t i = 0; i < x->rows; i++) {
		for (int64_t p = x->rowptr[i]; p < x->rowptr[i + 1]; p++)
			nnz += place[x->col[p]] > 0;
		rowptr[i + 1] = nnz;
	}
	KDRI_TRY(KDRI_NEW(ctx, &col, nnz));
	KDRI_TRY(KDRI_NEW(ctx, &val, nnz));
#pragma omp parallel for num_threads(kdri_team(ctx)) if (nnz > 1 << 16)
	for (int64_t i = 0; i < x->rows; i++) {
		int64_t at = rowptr[i];
		for (int64_t p = x->rowptr[i]; p < x->rowptr[i + 1]; p++)
			if (place[x->col[p]] > 0) {
				col[at] = place[x->col[p]] - 1;
				val[at++] = x->val[p];
			}
	}
	*out = (kdri_own){ .view = kdr_mat_from_csr(x->rows, m, rowptr, col, val),
		           .parts = { rowptr, col, val } };
	rowptr = NULL;
	col = NULL;
	val = NULL;
done:
	KDRI_FREE(ctx, place, rowptr, col, val);
	return st;
}

/* --- one run ---------------------------------------------------------------------------------- */

/* Starts at rows centres[0 .. k - 1] of x. */
static kdr_status start_centres(kdr_context *ctx, const kdr_mat *x, const int64_t *rows, int64_t k,
                                double **out)
{
	int64_t d = kdr_mat_cols(x), size;
	double *c = NULL;
	KDRI_DO(kdri_mul(ctx, k, d, &size));
	KDRI_DO(KDRI_NEW0(ctx, &c, size));
	for (int64_t j = 0; j < k; j++) {
		int64_t i = rows[j];
		if (x->kind == KDR_MAT_DENSE)
			memcpy(c + j * d, x->as.dense.data + i * x->as.dense.stride, (size_t)d * sizeof *c);
		else
			for (int64_t p = x->as.csr.rowptr[i]; p < x->as.csr.rowptr[i + 1]; p++)
				c[j * d + x->as.csr.col[p]] = x->as.csr.val[p];
	}
	*out = c;
	return KDR_OK;
}

/* Labels of all rows of x, from centres found on some of them. */
static kdr_status run_on_sample(kdr_context *ctx, const kdr_mat *x, const kdri_kmeans_options *o,
                                int64_t count, kdri_rng *rng, int64_t *labels)
{
	kdr_status st;
	int64_t *rows = NULL, n = kdr_mat_rows(x), first, all, mine = 0;
	kdri_own part = { 0 };
	kdri_kmeans_result r = { 0 };
	KDRI_TRY(kdri_part(ctx, n, &first, &all));
	KDRI_TRY(KDRI_NEW(ctx, &rows, KDRI_MIN(count, n)));
	for (int64_t have = 0, row = -1; have < count; have++) { /* of all ranks' rows, those here */
		row = ensemble_choose(rng, row, all, have, count);
		if (row >= first && row < first + n)
			rows[mine++] = row - first;
	}
	KDRI_TRY(kdri_mat_take(ctx, x, rows, mine, &part));
	KDRI_TRY(kdri_kmeans(ctx, &part.view, NULL, o, &r));
	KDRI_TRY(kdri_kmeans_assign(ctx, x, r.centres, o->k, false, labels));
done:
	kdri_free(ctx, rows);
	kdri_own_free(ctx, &part);
	kdri_kmeans_free(ctx, &r);
	return st;
}

static kdr_status run_on_all(kdr_context *ctx, const kdr_mat *x, const kdri_kmeans_options *o,
                             int64_t *labels)
{
	kdr_status st;
	kdri_kmeans_result r = { 0 };
	KDRI_TRY(kdri_kmeans(ctx, x, NULL, o, &r));
	memcpy(labels, r.labels, (size_t)kdr_mat_rows(x) * sizeof *labels);
done:
	kdri_kmeans_free(ctx, &r);
	return st;
}

/* Adds the silhouettes of one run. A partition of one cluster has none: 0. None are added if it is time to stop. */
static kdr_status add_silhouettes(kdr_context *ctx, const kdr_mat *x, const int64_t *labels,
                                  kdr_silhouette_kind kind, double *values, double *sum)
{
	kdr_status st = KDR_OK;
	int64_t n = kdr_mat_rows(x);
	bool several = false;
	for (int64_t i = 1; i < n && !several; i++)
		several = labels[i] != labels[0];
	if (!several)
		return KDR_OK;
	const bool before = ctx->abandon;
	ctx->abandon = !kdri_together(ctx);
	st = kdri_silhouette(ctx, x, labels, kind, values, NULL);
	ctx->abandon = before;
	if (st == KDR_ERR_NUMERIC && (ctx->cancelled || ctx->timed_out))
		return KDR_OK;
	KDRI_TRY(st);
	for (int64_t i = 0; i < n; i++)
		sum[i] += values[i];
done:
	return st;
}

typedef struct workspace {
	int32_t *features;
	int64_t *labels;
	double *silhouette;
} workspace;

static kdr_status one_run(kdr_context *ctx, const kdr_mat *x, const kdri_ensemble_spec *spec,
                          const kdri_run *run, kdri_rng *rng, int64_t index, workspace *w, kdri_ensemble *e)
{
	kdr_status st = KDR_OK;
	kdri_own part = { 0 };
	double *centres = NULL;
	const kdr_mat *seen = x;
	if (run->features && run->nfeatures < kdr_mat_cols(x)) {
		KDRI_TRY(x->kind == KDR_MAT_DENSE
		                 ? dense_columns(ctx, &x->as.dense, run->features, run->nfeatures, &part)
		                 : sparse_columns(ctx, &x->as.csr, run->features, run->nfeatures, &part));
		seen = &part.view;
	}
	kdri_kmeans_options o = kdri_kmeans_defaults(run->k);
	o.n_init = 1;
	o.max_iter = spec->max_iter;
	o.tol = spec->tol;
	o.stream = (spec->stream << 20) + (uint64_t)index;
	if (run->centres) {
		KDRI_TRY(start_centres(ctx, seen, run->centres, run->k, &centres));
		o.init_centres = centres;
	}
	KDRI_TRY(spec->rows > 0 && !centres ? run_on_sample(ctx, seen, &o, spec->rows, rng, w->labels)
	                                    : run_on_all(ctx, seen, &o, w->labels));
	if (e->silhouette)
		KDRI_TRY(add_silhouettes(ctx, seen, w->labels, spec->kind, w->silhouette, e->silhouette));
	for (int64_t i = 0; i < e->n; i++)
		e->label[index * e->n + i] = (int32_t)w->labels[i];
	e->offset[index + 1] = e->offset[index] + run->k;
done:
	kdri_free(ctx, centres);
	kdri_own_free(ctx, &part);
	return st;
}

/* --- all of them ------------------------------------------------------------------------------ */

static kdr_status ensemble_prepare(kdr_context *ctx, const kdri_ensemble_spec *spec, int64_t d, workspace *w,
                                   kdri_ensemble *e)
{
	int64_t size;
	KDRI_DO(kdri_mul(ctx, spec->runs, e->n, &size));
	KDRI_DO(KDRI_NEW0(ctx, &e->offset, spec->runs + 1));
	KDRI_DO(KDRI_NEW(ctx, &e->label, size));
	KDRI_DO(KDRI_NEW(ctx, &w->features, d));
	KDRI_DO(KDRI_NEW(ctx, &w->labels, e->n));
	if (spec->silhouettes) {
		KDRI_DO(KDRI_NEW0(ctx, &e->silhouette, e->n));
		KDRI_DO(KDRI_NEW(ctx, &w->silhouette, e->n));
	}
	return KDR_OK;
}

kdr_status kdri_ensemble_new(kdr_context *ctx, const kdr_mat *x, const kdri_ensemble_spec *spec,
                             const kdri_run *plan, kdri_ensemble *out)
{
	kdr_status st;
	kdri_ensemble e = { .n = kdr_mat_rows(x) };
	workspace w = { 0 };
	int64_t d = kdr_mat_cols(x);
	KDRI_TRY(ensemble_prepare(ctx, spec, d, &w, &e));
	for (bool stop = false; e.runs < spec->runs && !stop; e.runs++) {
		kdri_rng rng =
		        kdri_rng_stream(ctx->seed, "ensemble", (spec->stream << 20) + (uint64_t)e.runs);
		kdri_run drawn = { .nfeatures = spec->features, .features = w.features };
		if (!plan) {
			drawn.k = spec->k_min + kdri_rng_below(&rng, spec->k_max - spec->k_min + 1);
			for (int64_t j = 0; j < spec->features; j++)
				w.features[j] = (int32_t)ensemble_choose(&rng, j ? w.features[j - 1] : -1, d,
				                                         j, spec->features);
			if (spec->features == 0)
				drawn.features = NULL;
		}
		KDRI_TRY(one_run(ctx, x, spec, plan ? &plan[e.runs] : &drawn, &rng, e.runs, &w, &e));
		stop = kdri_iteration(ctx, "ensemble", e.runs + 1, spec->runs, NAN);
	}
	for (int64_t i = 0; e.silhouette && i < e.n; i++)
		e.silhouette[i] /= (double)e.runs;
	*out = e;
	e = (kdri_ensemble){ 0 };
done:
	KDRI_FREE(ctx, w.features, w.labels, w.silhouette);
	kdri_ensemble_free(ctx, &e);
	return st;
}

void kdri_ensemble_free(kdr_context *ctx, kdri_ensemble *e)
{
	KDRI_FREE(ctx, e->offset, e->label, e->silhouette);
	*e = (kdri_ensemble){ 0 };
}
