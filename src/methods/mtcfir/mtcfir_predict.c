/* Labels for samples that mtcfir has not seen. SPDX-License-Identifier: BSD-3-Clause
 *
 * A new sample r of task t passes through the layers fitted on the training samples, and gets
 *
 *   (E1)  its similarities V_r to all training samples of all tasks
 *   (E2)  a_j = sum_s alpha_s |V_r^s - V_j^{ts}|^2 to each training sample j of its task
 *   (E3)  the l nearest as neighbours, with the weights m_j of (E5) in consistent.c
 *   (E4)  label = argmax_c sum_j m_j Y_jc: the neighbours vote with their memberships
 *
 * With variant nI, which factorises V itself, max(V_r, 0) is a new row of V: see fold_in.c.
 *
 * The layers are stored in the model (msda_layers.c). If they were too large to be kept, or the model is of an
 * earlier version, they are learnt again from the training samples, which the model always has. New samples influence
 * neither the layers nor each other's labels. */
#include "api/method.h"
#include "matrix/weights.h"
#include "methods/mtcfir/fold_in.h"
#include "methods/mtcfir/msda_layers.h"
#include "methods/mtcfir/mtcfir.h"
#include "methods/mtcfir/train.h"

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
	kdri_free(w->ctx, norm);
	kdri_free(w->ctx, a);
	kdri_free(w->ctx, room);
	kdri_free(w->ctx, weight);
	kdri_free(w->ctx, votes);
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
	kdri_free(ctx, begin);
	kdri_free(ctx, ones);
	return st;
}
