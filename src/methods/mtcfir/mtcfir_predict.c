/* Labels for samples that mtcfir has not seen. SPDX-License-Identifier: BSD-3-Clause
 *
 * A new sample r of task t passes through the layers fitted on the training samples, and gets
 *
 *   (E1)  its similarities V_r to all training samples of all tasks
 *   (E2)  a_j = sum_s alpha_s |V_r^s - V_j^{ts}|^2 to each training sample j of its task
 *   (E3)  the l nearest as neighbours, with the weights m_j of (E5) in consistent.c
 *   (E4)  label = argmax_c sum_j m_j Y_jc: the neighbours vote with their memberships
 *
 * With variant nI, which factorises V itself, max(V_r, 0) is a new row of V.
 *
 * The layers are stored in the model (msda.c). If they were too large to be kept, or the model is of an
 * earlier version, they are learnt again from the training samples, which the model always has. New samples influence
 * neither the layers nor each other's labels. */
/* New samples in a factorisation of similarities.
 *
 * Memberships Y (n x k) were computed so that M = Y Y' [snmf_steps.c]. A new sample with similarities s (n) to the
 * training samples adds a row s' to M, and gets the memberships that explain that row,
 *
 *   (E5)  y = argmin |s - Y y|^2 over y >= 0,   label = argmax_c y_c
 *
 * a convex problem of k numbers that only needs A = Y'Y and b = Y's. It is solved one coordinate at a time, in turn:
 *
 *   (E6)  y_c <- max(0, y_c + (b_c - A_c. y) / A_cc)
 *
 * Plain votes, argmax of Y's, would be biased: if all samples are somewhat similar, a large cluster outvotes the
 * right one. With hard memberships (E5) is the mean similarity to each cluster. */
#include <stdio.h>

#include "api/method.h"
#include "matrix/linalg.h"
#include "methods/mtcfir/mtcfir.h"

/* The training samples that a model keeps.
 *
 * Methods that label a new sample by similar samples need them. They are kept in their original storage, sparse or
 * dense. A model file cannot be trusted: its values are checked here before they are used as indices. */

/* --- into the model ----------------------------------------------------------------------------------- */

kdr_status kdri_put_csr(kdr_context *ctx, kdr_result *result, const char *name, int64_t t, const kdr_csr *x)
{
	char key[64];
	int64_t n = x->rows, entries = x->rowptr[n], *rowptr = NULL, *col = NULL;
	double *val = NULL;
	snprintf(key, sizeof key, "%s_rowptr", name);
	KDRI_DO(kdri_result_array(ctx, result, key, t, KDR_INT64, 1, (int64_t[]){ n + 1 }, &rowptr));
	snprintf(key, sizeof key, "%s_col", name);
	KDRI_DO(kdri_result_array(ctx, result, key, t, KDR_INT64, 1, (int64_t[]){ entries }, &col));
	snprintf(key, sizeof key, "%s_val", name);
	KDRI_DO(kdri_result_array(ctx, result, key, t, KDR_FLOAT64, 1, (int64_t[]){ entries }, &val));
	memcpy(rowptr, x->rowptr, (size_t)(n + 1) * sizeof *rowptr);
	if (entries) /* none: x->val may be NULL */
		memcpy(val, x->val, (size_t)entries * sizeof *val);
	for (int64_t p = 0; p < entries; p++)
		col[p] = x->col[p];
	return KDR_OK;
}

kdr_status kdri_train_keep(kdr_context *ctx, const kdr_problem *problem, kdr_result *result)
{
	for (int64_t t = 0; t < problem->ntasks; t++) {
		const kdr_mat *x = &problem->tasks[t].x;
		double *to = NULL;
		int64_t n = kdr_mat_rows(x), d = kdr_mat_cols(x);
		if (x->kind == KDR_MAT_CSR) {
			KDRI_DO(kdri_put_csr(ctx, result, "train", t, &x->as.csr));
			continue;
		}
		KDRI_DO(kdri_result_array(ctx, result, "train_x", t, KDR_FLOAT64, 2, (int64_t[]){ n, d },
		                          &to));
		for (int64_t i = 0; i < n; i++)
			memcpy(to + i * d, x->as.dense.data + i * x->as.dense.stride, (size_t)d * sizeof *to);
	}
	return KDR_OK;
}

/* --- and back ----------------------------------------------------------------------------------------- */

/* Whether each row starts where the previous one ends, from 0 to `entries`. */
static bool sound_starts(const int64_t *rowptr, int64_t rows, int64_t entries)
{
	bool sound = rowptr[0] == 0 && rowptr[rows] == entries;
	for (int64_t i = 0; i < rows && sound; i++)
		sound = rowptr[i] <= rowptr[i + 1];
	return sound;
}

/* Task t's samples from the model; `col` holds the columns of all tasks narrowed, from *used on. */
static kdr_status train_take(kdr_context *ctx, const kdr_result *fitted, int64_t t, int64_t d, int32_t *col,
                             int64_t *used, kdr_mat *out)
{
	kdr_array dense = kdr_result_array(fitted, "train_x", t),
	          rows = kdr_result_array(fitted, "train_rowptr", t),
	          cols = kdr_result_array(fitted, "train_col", t),
	          vals = kdr_result_array(fitted, "train_val", t);
	if (dense.data && dense.ndim == 2 && dense.shape[1] == d) {
		*out = kdr_mat_from_dense(dense.data, dense.shape[0], d);
		return KDR_OK;
	}
	if (!rows.data || !cols.data || !vals.data || rows.shape[0] < 2 || cols.shape[0] != vals.shape[0] ||
	    !sound_starts(rows.data, rows.shape[0] - 1, cols.shape[0]))
		return kdri_fail(
		        ctx, KDR_ERR_DATA,
		        "the model does not have the samples of data set number %lld, or they do not have %lld columns",
		        (long long)t + 1, (long long)d);
	const int64_t *from = cols.data, *start = rows.data;
	for (int64_t i = 0; i + 1 < rows.shape[0]; i++)
		for (int64_t p = start[i]; p < start[i + 1]; p++) {
			if (from[p] < 0 || from[p] >= d || (p > start[i] && from[p] <= from[p - 1]))
				return kdri_fail(
				        ctx, KDR_ERR_DATA,
				        "the model's samples of data set number %lld have column %lld; 1 to %lld in increasing order are allowed",
				        (long long)t + 1, (long long)from[p] + 1, (long long)d);
			col[*used + p] = (int32_t)from[p];
		}
	*out = kdr_mat_from_csr(rows.shape[0] - 1, d, rows.data, col + *used, vals.data);
	*used += cols.shape[0];
	return KDR_OK;
}

kdr_status kdri_train_stack(kdr_context *ctx, const kdr_result *fitted, int64_t first, int64_t count,
                            const kdr_mat *x, kdri_own *all, int64_t *begin)
{
	kdr_status st;
	int64_t room = 0, used = 0;
	int32_t *col = NULL;
	kdr_mat *parts = NULL;
	const kdr_mat **list = NULL;
	for (int64_t t = 0; t < count; t++)
		room += kdr_result_array(fitted, "train_col", first + t).shape[0];
	KDRI_TRY(KDRI_NEW(ctx, &col, room));
	KDRI_TRY(KDRI_NEW(ctx, &parts, count));
	KDRI_TRY(KDRI_NEW(ctx, &list, count + 1));
	begin[0] = 0;
	for (int64_t t = 0; t < count; t++) {
		KDRI_TRY(train_take(ctx, fitted, first + t, kdr_mat_cols(x), col, &used, &parts[t]));
		list[t] = &parts[t];
		begin[t + 1] = begin[t] + kdr_mat_rows(&parts[t]);
	}
	list[count] = x;
	KDRI_TRY(kdri_mat_stack(ctx, list, count + 1, all));
done:
	KDRI_FREE(ctx, col, parts, list);
	return st;
}

kdr_status kdri_train_memberships(kdr_context *ctx, const kdr_result *fitted, int64_t t, int64_t n,
                                  const double **out)
{
	kdr_array y = kdr_result_array(fitted, "memberships", t);
	int64_t k = kdr_result_k(fitted, t);
	if (!y.data || y.ndim != 2 || y.shape[0] != n || y.shape[1] != k)
		return kdri_fail(
		        ctx, KDR_ERR_DATA,
		        "the model does not have the memberships of %lld samples in %lld clusters for data set number %lld",
		        (long long)n, (long long)k, (long long)t + 1);
	*out = y.data;
	return KDR_OK;
}

/* Of (E6). It converges fast unless two clusters are nearly the same, and then either is right. */
enum { SWEEPS = 1000 };
static const double enough = 1e-12;

/* (E6); `y` is scratch. Equal memberships: the first cluster. */
static int64_t fold_in_explain(const double *a, const double *b, int64_t k, double *y)
{
	int64_t best = 0;
	memset(y, 0, (size_t)k * sizeof *y);
	for (int sweep = 0; sweep < SWEEPS; sweep++) {
		double change = 0, size = 0;
		for (int64_t c = 0; c < k; c++) {
			double old = y[c], own = a[c * k + c];
			if (own <= 0) /* an empty cluster */
				continue;
			y[c] = KDRI_MAX(0.0, old + (b[c] - kdri_dot(a + c * k, y, k)) / own);
			change = KDRI_MAX(change, fabs(y[c] - old));
			size = KDRI_MAX(size, y[c]);
		}
		if (change <= enough * size)
			break;
	}
	for (int64_t c = 1; c < k; c++)
		if (y[c] > y[best])
			best = c;
	return best;
}

kdr_status kdri_fold_in(kdr_context *ctx, kdri_block s, const double *y, int64_t k, int64_t *labels)
{
	kdr_status st;
	double *a = NULL, *b = NULL, *scratch = NULL;
	int64_t n = s.cols, size;
	KDRI_TRY(kdri_mul(ctx, s.rows, k, &size));
	KDRI_TRY(KDRI_NEW0(ctx, &a, k * k));
	KDRI_TRY(KDRI_NEW(ctx, &b, size));
	KDRI_TRY(KDRI_NEW(ctx, &scratch, size));
	for (int64_t i = 0; i < n; i++)
		for (int64_t c = 0; c < k; c++)
			kdri_axpy(y[i * k + c], y + i * k, a + c * k, k);
	KDRI_TRY(kdri_block_mul(ctx, s, y, k, k, b, k));
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static)
	for (int64_t i = 0; i < s.rows; i++)
		labels[i] = fold_in_explain(a, b + i * k, k, scratch + i * k); /* (E5) */
done:
	KDRI_FREE(ctx, a, b, scratch);
	return st;
}

kdri_msda_options kdri_mtcfir_layers(const kdr_options *options, int64_t samples)
{
	kdri_msda_options o = kdri_msda_options_of(options, samples);
	if (kdri_opt_choice(options, "variant") == KDRI_MTCFIR_NF)
		o.layers = 0;
	return o;
}

/* --- the vote ----------------------------------------------------------------------------------------- */

typedef struct vote {
	kdr_context *ctx;
	kdri_pool pool; /* v has the new samples after all training samples */
	int64_t task, n, rows, k, neighbours;
	const double *alpha, *y;
} vote;

/* sum_s alpha_s |V_i^s|^2 of row i. */
static double norm_of(const vote *w, int64_t i)
{
	double norm = 0;
	for (int64_t s = 0; s < w->pool.ntasks; s++)
		for (int64_t j = w->pool.begin[s]; j < w->pool.begin[s + 1]; j++) {
			double v = kdri_block_get(&w->pool.v, i, j);
			norm += w->alpha[s] * v * v;
		}
	return norm;
}

/* (E4) */
static int64_t winner(const vote *w, const double *weight, double *votes)
{
	int64_t best = 0;
	memset(votes, 0, (size_t)w->k * sizeof *votes);
	for (int64_t j = 0; j < w->n; j++)
		if (weight[j] > 0)
			kdri_axpy(weight[j], w->y + j * w->k, votes, w->k);
	for (int64_t c = 1; c < w->k; c++)
		if (votes[c] > votes[best])
			best = c;
	return best;
}

static kdr_status count_votes(const vote *w, int64_t *labels)
{
	kdr_status st;
	kdri_block c = { 0 };
	double *norm = NULL, *a = NULL, *room = NULL, *weight = NULL, *votes = NULL;
	int64_t first = w->pool.begin[w->task], after = w->pool.begin[w->pool.ntasks];
	KDRI_TRY(kdri_block_new(w->ctx, &kdri_cpu, w->rows, w->n, w->pool.v.single, &c));
	KDRI_TRY(KDRI_NEW(w->ctx, &norm, w->n));
	KDRI_TRY(KDRI_NEW(w->ctx, &a, w->n));
	KDRI_TRY(KDRI_NEW(w->ctx, &room, w->n));
	KDRI_TRY(KDRI_NEW(w->ctx, &weight, w->n));
	KDRI_TRY(KDRI_NEW(w->ctx, &votes, w->k));
	for (int64_t s = 0; s < w->pool.ntasks; s++) {
		int64_t m = kdri_pool_size(&w->pool, s), at = w->pool.begin[s];
		kdri_block mine = kdri_block_part(w->pool.v, after, at, w->rows, m);
		kdri_block theirs = kdri_block_part(w->pool.v, first, at, w->n, m);
		KDRI_TRY(kdri_block_gemm(w->ctx, false, true, w->alpha[s], mine, theirs, s > 0, c));
	}
	for (int64_t j = 0; j < w->n; j++)
		norm[j] = norm_of(w, first + j);
	for (int64_t i = 0; i < w->rows; i++) {
		double own = norm_of(w, after + i), tie = kdri_consistent_tie(c.single) * own;
		kdri_block_read(&c, i, 0, w->n, a);
		for (int64_t j = 0; j < w->n; j++)
			a[j] = KDRI_MAX(0.0, own + norm[j] - 2 * a[j]); /* (E2) */
		const kdri_limits limits =
		        kdri_limits_of(a, w->n, -1, KDRI_MIN(w->neighbours, w->n - 1), tie, room);
		kdri_weigh(&limits, a, w->n, -1, tie, weight); /* (E3) */
		labels[i] = winner(w, weight, votes);
	}
done:
	kdri_block_free(w->ctx, &c);
	KDRI_FREE(w->ctx, norm, a, room, weight, votes);
	return st;
}

static kdr_status add_layer(kdr_context *ctx, void *user, int64_t layer, const kdr_mat *x,
                            const kdri_panels *h)
{
	return kdri_msda_add_gram(ctx, *(kdri_block *)user, layer, x, h, NULL);
}

/* (E1): the similarities of all samples, old and new, in w->pool.v. */
static kdr_status find_similarities(vote *w, const kdr_result *fitted, const kdr_options *options,
                                    const kdr_mat *all)
{
	int64_t trained = w->pool.begin[w->pool.ntasks];
	kdri_similarity similarity = (kdri_similarity)kdri_opt_choice(options, "similarity");
	double sigma = kdri_opt_real(options, "sigma");
	kdri_msda_options o = kdri_mtcfir_layers(options, trained);
	kdri_msda_info info;
	kdri_layers layers;
	KDRI_DO(kdri_layers_find(w->ctx, fitted, trained, kdr_mat_cols(all), &layers, &o));
	KDRI_DO(kdri_block_new(w->ctx, &kdri_cpu, trained + w->rows, trained + w->rows, o.single,
	                       &w->pool.v));
	KDRI_DO(kdri_msda_run(w->ctx, &kdri_cpu, all, trained, &o, add_layer, &w->pool.v, &info));
	if (similarity == KDRI_SIMILARITY_GAUSS && sigma == 0) {
		KDRI_DO(kdri_gram_median(w->ctx, kdri_block_part(w->pool.v, 0, 0, trained, trained), &sigma));
	}
	return kdri_gram_similarity(w->ctx, w->pool.v, similarity, sigma);
}

/* Reads what the model has of task w->task, which has n samples. */
static kdr_status read_model(vote *w, const kdr_result *fitted)
{
	int64_t tasks = w->pool.ntasks;
	kdr_array alpha = kdr_result_array(fitted, "alpha", -1),
	          l = kdr_result_array(fitted, "neighbors", -1);
	if (!alpha.data || alpha.ndim != 2 || alpha.shape[0] != tasks || alpha.shape[1] != tasks)
		return kdri_fail(w->ctx, KDR_ERR_DATA,
		                 "the model does not have the relatedness of its %lld data sets",
		                 (long long)tasks);
	if (!l.data || l.ndim != 1 || l.shape[0] != tasks)
		return kdri_fail(w->ctx, KDR_ERR_DATA,
		                 "the model does not have the numbers of neighbours of its %lld data sets",
		                 (long long)tasks);
	w->alpha = (const double *)alpha.data + w->task * tasks;
	w->neighbours = ((const int64_t *)l.data)[w->task];
	if (w->neighbours < 1 || w->neighbours > w->n - 2)
		return kdri_fail(
		        w->ctx, KDR_ERR_DATA,
		        "the model has %lld neighbours per sample of data set number %lld; 1 to %lld are allowed",
		        (long long)w->neighbours, (long long)w->task + 1, (long long)w->n - 2);
	return kdri_train_memberships(w->ctx, fitted, w->task, w->n, &w->y);
}

kdr_status kdri_mtcfir_predict(kdr_context *ctx, const kdr_result *fitted, const kdr_options *options,
                               int64_t task, const kdr_mat *x, int64_t *labels)
{
	kdr_status st;
	int64_t tasks = kdr_result_ntasks(fitted), *begin = NULL;
	int variant = kdri_opt_choice(options, "variant");
	double *ones = NULL;
	kdri_own all = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	vote w = { .ctx = ctx, .task = task, .rows = kdr_mat_rows(x), .k = kdr_result_k(fitted, task) };
	KDRI_TRY(KDRI_NEW(ctx, &begin, tasks + 1));
	KDRI_TRY(KDRI_NEW(ctx, &ones, tasks));
	for (int64_t s = 0; s < tasks; s++)
		ones[s] = 1;
	KDRI_TRY(kdri_train_stack(ctx, fitted, 0, tasks, x, &all, begin));
	w.pool.ntasks = tasks;
	w.pool.begin = begin;
	w.n = kdri_pool_size(&w.pool, task);
	KDRI_TRY(read_model(&w, fitted));
	if (variant == KDRI_MTCFIR_NR)
		w.alpha = ones;
	KDRI_TRY(find_similarities(&w, fitted, options, &all.view));
	if (variant == KDRI_MTCFIR_NI) {
		kdri_block row = kdri_block_part(w.pool.v, begin[tasks], begin[task], w.rows, w.n);
		KDRI_TRY(kdri_cpu.clip(ctx, row));
		KDRI_TRY(kdri_fold_in(ctx, row, w.y, w.k, labels));
	} else {
		KDRI_TRY(count_votes(&w, labels));
	}
done:
	kdri_block_free(ctx, &w.pool.v);
	kdri_own_free(ctx, &all);
	KDRI_FREE(ctx, begin, ones);
	return st;
}
