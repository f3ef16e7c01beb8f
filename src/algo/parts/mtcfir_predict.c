/* Labels for samples that mtcfir has not seen. SPDX-License-Identifier: BSD-3-Clause
 *
 * A new sample r of task t goes through the layers fitted on the training samples, and gets
 *
 *   (E1)  its similarities V_r to all training samples of all tasks
 *   (E2)  a_j = sum_s alpha_s |V_r^s - V_j^{ts}|^2 to each training sample j of its task
 *   (E3)  the l nearest as neighbours, with the weights m_j of (E5) in consistent.c
 *   (E4)  label = argmax_c sum_j m_j Y_jc: the neighbours vote with their memberships
 *
 * With variant nI, which has no (E2), all training samples vote with weight max(V_rj, 0).
 *
 * A layer is d x d numbers, or n x n and n x d: far more than the training samples it follows from, which are
 * mostly sparse. So the model keeps the samples, and the layers are computed from them again: predict costs what
 * learning the features cost. The new samples have no say in them, nor in each other's labels. */
#include "algo/parts/mtcfir.h"

kdri_msda_options kdri_mtcfir_layers(const kdr_options *options, int64_t samples)
{
	kdri_msda_options o = kdri_msda_options_of(options, samples);
	if (kdri_opt_choice(options, "variant") == KDRI_MTCFIR_NF)
		o.layers = 0;
	return o;
}

/* --- the training samples in the model ---------------------------------------------------------------- */

static kdr_status keep_sparse(kdr_context *ctx, const kdr_csr *x, int64_t t, kdr_result *result)
{
	kdr_status st;
	int64_t n = x->rows, entries = x->rowptr[n], *rowptr = NULL, *col = NULL;
	double *val = NULL;
	KDR_TRY(kdri_result_array(ctx, result, "train_rowptr", t, KDR_INT64, 1, (int64_t[]){ n + 1 },
	                          &rowptr));
	KDR_TRY(kdri_result_array(ctx, result, "train_col", t, KDR_INT64, 1, (int64_t[]){ entries }, &col));
	KDR_TRY(kdri_result_array(ctx, result, "train_val", t, KDR_FLOAT64, 1, (int64_t[]){ entries }, &val));
	memcpy(rowptr, x->rowptr, (size_t)(n + 1) * sizeof *rowptr);
	memcpy(val, x->val, (size_t)entries * sizeof *val);
	for (int64_t p = 0; p < entries; p++)
		col[p] = x->col[p];
done:
	return st;
}

kdr_status kdri_mtcfir_keep(kdr_context *ctx, const kdr_problem *problem, kdr_result *result)
{
	kdr_status st = KDR_OK;
	for (int64_t t = 0; t < problem->ntasks; t++) {
		const kdr_mat *x = &problem->tasks[t].x;
		double *to = NULL;
		int64_t n = kdr_mat_rows(x), d = kdr_mat_cols(x);
		if (x->kind == KDR_MAT_CSR) {
			KDR_TRY(keep_sparse(ctx, &x->as.csr, t, result));
			continue;
		}
		KDR_TRY(kdri_result_array(ctx, result, "train_x", t, KDR_FLOAT64, 2, (int64_t[]){ n, d },
		                          &to));
		for (int64_t i = 0; i < n; i++)
			memcpy(to + i * d, x->as.dense.data + i * x->as.dense.stride, (size_t)d * sizeof *to);
	}
done:
	return st;
}

/* Task t's samples from the model; `col` holds the columns of all tasks narrowed, from *used on. */
static kdr_status take(kdr_context *ctx, const kdr_result *fitted, int64_t t, int64_t d, int32_t *col,
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
	    ((const int64_t *)rows.data)[rows.shape[0] - 1] != cols.shape[0])
		return kdri_fail(ctx, KDR_ERR_DATA,
		                 "the model lacks the samples of task %lld, or they have not %lld "
		                 "columns",
		                 (long long)t + 1, (long long)d);
	const int64_t *from = cols.data;
	for (int64_t p = 0; p < cols.shape[0]; p++) {
		if (from[p] < 0 || from[p] >= d)
			return kdri_fail(ctx, KDR_ERR_DATA,
			                 "the model's samples of task %lld have column %lld of %lld",
			                 (long long)t + 1, (long long)from[p] + 1, (long long)d);
		col[*used + p] = (int32_t)from[p];
	}
	*out = kdr_mat_from_csr(rows.shape[0] - 1, d, rows.data, col + *used, vals.data);
	*used += cols.shape[0];
	return KDR_OK;
}

/* All training samples, then x; begin[0..tasks] are the tasks' first rows. */
static kdr_status stack_all(kdr_context *ctx, const kdr_result *fitted, const kdr_mat *x, kdri_own *all,
                            int64_t *begin)
{
	kdr_status st;
	int64_t tasks = kdr_result_ntasks(fitted), room = 0, used = 0;
	int32_t *col = NULL;
	kdr_mat *parts = NULL;
	const kdr_mat **list = NULL;
	for (int64_t t = 0; t < tasks; t++)
		room += kdr_result_array(fitted, "train_col", t).shape[0];
	KDR_TRY(KDRI_NEW(ctx, &col, room));
	KDR_TRY(KDRI_NEW(ctx, &parts, tasks));
	KDR_TRY(KDRI_NEW(ctx, &list, tasks + 1));
	begin[0] = 0;
	for (int64_t t = 0; t < tasks; t++) {
		KDR_TRY(take(ctx, fitted, t, kdr_mat_cols(x), col, &used, &parts[t]));
		list[t] = &parts[t];
		begin[t + 1] = begin[t] + kdr_mat_rows(&parts[t]);
	}
	list[tasks] = x;
	KDR_TRY(kdri_mat_stack(ctx, list, tasks + 1, all));
done:
	kdri_free(ctx, col);
	kdri_free(ctx, parts);
	kdri_free(ctx, list);
	return st;
}

/* --- the vote ----------------------------------------------------------------------------------------- */

typedef struct vote {
	kdr_context *ctx;
	kdri_pool pool; /* v has the new samples after all training samples */
	int64_t task, n, rows, k, neighbours;
	const double *alpha, *y;
	bool plain; /* nI */
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
	KDR_TRY(kdri_block_new(w->ctx, w->rows, w->n, w->pool.v.single, &c));
	KDR_TRY(KDRI_NEW(w->ctx, &norm, w->n));
	KDR_TRY(KDRI_NEW(w->ctx, &a, w->n));
	KDR_TRY(KDRI_NEW(w->ctx, &room, w->n));
	KDR_TRY(KDRI_NEW(w->ctx, &weight, w->n));
	KDR_TRY(KDRI_NEW(w->ctx, &votes, w->k));
	for (int64_t s = 0; s < w->pool.ntasks && !w->plain; s++) {
		int64_t m = kdri_pool_size(&w->pool, s), at = w->pool.begin[s];
		kdri_block mine = kdri_block_part(&w->pool.v, after, at, w->rows, m);
		kdri_block theirs = kdri_block_part(&w->pool.v, first, at, w->n, m);
		KDR_TRY(kdri_block_gemm(w->ctx, false, true, w->alpha[s], &mine, &theirs, s > 0, &c));
	}
	for (int64_t j = 0; j < w->n && !w->plain; j++)
		norm[j] = norm_of(w, first + j);
	for (int64_t i = 0; i < w->rows; i++) {
		if (w->plain) { /* votes of negative weight are not counted */
			kdri_block_read(&w->pool.v, after + i, first, w->n, weight);
		} else {
			double own = norm_of(w, after + i), tie = (c.single ? 2e-6 : 1e-12) * own;
			kdri_block_read(&c, i, 0, w->n, a);
			for (int64_t j = 0; j < w->n; j++)
				a[j] = KDRI_MAX(0.0, own + norm[j] - 2 * a[j]);                 /* (E2) */
			kdri_consistent_weights(a, w->n, -1, w->neighbours, tie, room, weight); /* (E3) */
		}
		labels[i] = winner(w, weight, votes);
	}
done:
	kdri_block_free(w->ctx, &c);
	kdri_free(w->ctx, norm);
	kdri_free(w->ctx, a);
	kdri_free(w->ctx, room);
	kdri_free(w->ctx, weight);
	kdri_free(w->ctx, votes);
	return st;
}

/* (E1): the similarities of all samples, old and new, in w->pool.v. */
static kdr_status find_similarities(vote *w, const kdr_options *options, const kdr_mat *all)
{
	kdr_status st;
	int64_t trained = w->pool.begin[w->pool.ntasks];
	kdri_similarity similarity = (kdri_similarity)kdri_opt_choice(options, "similarity");
	double sigma = kdri_opt_real(options, "sigma");
	kdri_msda_options o = kdri_mtcfir_layers(options, trained);
	kdri_msda_info info;
	KDR_TRY(kdri_block_new(w->ctx, trained + w->rows, trained + w->rows, o.single, &w->pool.v));
	KDR_TRY(kdri_msda_run(w->ctx, all, trained, &o, kdri_msda_add_gram, &w->pool.v, &info));
	if (similarity == KDRI_SIMILARITY_GAUSS && sigma == 0) {
		kdri_block old = kdri_block_part(&w->pool.v, 0, 0, trained, trained);
		KDR_TRY(kdri_gram_median(w->ctx, &old, &sigma));
	}
	KDR_TRY(kdri_gram_similarity(w->ctx, &w->pool.v, similarity, sigma));
done:
	return st;
}

kdr_status kdri_mtcfir_predict(kdr_context *ctx, const kdr_result *fitted, const kdr_options *options,
                               int64_t task, const kdr_mat *x, int64_t *labels)
{
	kdr_status st;
	int64_t tasks = kdr_result_ntasks(fitted), *begin = NULL;
	kdr_array y = kdr_result_array(fitted, "memberships", task),
	          alpha = kdr_result_array(fitted, "alpha", -1),
	          l = kdr_result_array(fitted, "neighbors", -1);
	int variant = kdri_opt_choice(options, "variant");
	double *ones = NULL;
	kdri_own all = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	vote w = { .ctx = ctx, .task = task, .rows = kdr_mat_rows(x), .plain = variant == KDRI_MTCFIR_NI };
	if (!y.data || !alpha.data || !l.data || y.ndim != 2 || alpha.shape[0] != tasks ||
	    l.shape[0] != tasks)
		return kdri_fail(ctx, KDR_ERR_DATA,
		                 "the model lacks memberships or relatedness for task %lld",
		                 (long long)task + 1);
	KDR_TRY(KDRI_NEW(ctx, &begin, tasks + 1));
	KDR_TRY(KDRI_NEW(ctx, &ones, tasks));
	for (int64_t s = 0; s < tasks; s++)
		ones[s] = 1;
	KDR_TRY(stack_all(ctx, fitted, x, &all, begin));
	w.pool.ntasks = tasks;
	w.pool.begin = begin;
	w.n = kdri_pool_size(&w.pool, task);
	w.k = y.shape[1];
	w.y = y.data;
	w.neighbours = ((const int64_t *)l.data)[task];
	w.alpha = variant == KDRI_MTCFIR_NR ? ones : (const double *)alpha.data + task * tasks;
	if (y.shape[0] != w.n) {
		st = kdri_fail(ctx, KDR_ERR_DATA,
		               "the model has %lld samples but memberships of %lld for task %lld",
		               (long long)w.n, (long long)y.shape[0], (long long)task + 1);
		goto done;
	}
	KDR_TRY(find_similarities(&w, options, &all.view));
	KDR_TRY(count_votes(&w, labels));
done:
	kdri_block_free(ctx, &w.pool.v);
	kdri_own_free(ctx, &all);
	kdri_free(ctx, begin);
	kdri_free(ctx, ones);
	return st;
}
