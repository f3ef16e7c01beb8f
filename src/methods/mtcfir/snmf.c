/* SNMF: symmetric non-negative factorisation of similarities. SPDX-License-Identifier: BSD-3-Clause
 *
 * [KDP12] D. Kuang, C. Ding, H. Park: Symmetric nonnegative matrix factorization for graph clustering. SDM 2012;
 * the single-task method that [ZZL19] compares with.
 *
 *   (E1)  M_ij = max(cos(x_i, x_j), 0), or exp(-|x_i - x_j|^2 / (2 sigma^2))
 *   (E2)  min |M - Y Y'|^2 over Y >= 0 (n x k), from k-means; label = argmax      snmf_steps.c
 *
 * Each task by itself. M is n x n and dense; a sparse X stays sparse. Where no sample has a negative entry M is the product of
 * two thin matrices, and is not formed where that is cheaper (cosines.c); k-means, which starts (E2) where nobody has labels,
 * sees the products of the samples before.
 *
 * Tasks that are the same matrix with labels of their own to start from, as an ensemble gives them, have one M, and are factorised in
 * step.
 *
 * A new sample adds a row to M, its similarities (E1) to the training samples, which are in the model: it gets the
 * memberships that explain that row (fold_in.c).
 *
 * M   gram (in its place)        Y   memberships        sigma   sigma */
#include "api/method.h"
#include "methods/common/tasks.h"
#include "methods/mtcfir/consistent.h"
#include "methods/mtcfir/cosines.h"
#include "methods/mtcfir/fold_in.h"
#include "methods/mtcfir/msda_device.h"
#include "methods/mtcfir/pool_device.h"
#include "methods/mtcfir/snmf_task.h"
#include "methods/mtcfir/train.h"

#include <stdio.h>

static const char stage[] = "snmf";

static const kdr_option_desc options_table[] = {
	KDRI_CHOICE("similarity", KDRI_SIMILARITY_COSINE, kdri_similarity_names,
	            "how alike two samples are: their cosine, if positive, or a Gaussian of their distance"),
	KDRI_REAL("sigma", 0, 0, 1e300, "width of the Gaussian; 0: the median distance between two samples",
	          .automatic = "median distance", .symbol = "sigma"),
	KDRI_OPTION_FINAL,
	KDRI_OPTION_PRECISION,
	KDRI_BOOL("keep", true, "keep the samples, which label new ones; else labels and memberships alone"),
	KDRI_MAX_ITER(200),
	KDRI_TOL(1e-6),
	KDRI_N_INIT(10),
	{ .name = NULL },
};

static const kdr_field_desc fields_table[] = {
	KDRI_FIELDS_FINAL,
	KDRI_ARRAY("sigma", KDR_FLOAT64, "1", "width of the Gaussian in force; similarity=gauss alone",
	           .per_task = true, .in_model = true),
	KDRI_FIELDS_TRAIN,
	{ .name = NULL },
};

static const char *const references_table[] = {
	"D. Kuang, C. Ding, H. Park: Symmetric nonnegative matrix factorization for graph clustering. SDM 2012. [KDP12]",
	NULL,
};

/* X X' */
static kdr_status fill_gram(kdr_context *ctx, const kdr_mat *x, const kdri_block *gram)
{
	kdr_status st;
	kdri_own xt = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	kdri_block narrow = { 0 };
	if (x->kind == KDR_MAT_CSR) {
		KDRI_TRY(kdri_mat_transpose(ctx, x, &xt));
		KDRI_TRY(kdri_sparse_gram(ctx, &x->as.csr, &xt.view.as.csr, NULL, gram));
	} else if (!gram->floats) {
		const kdr_dense *a = &x->as.dense;
		KDRI_TRY(kdri_syrk(ctx, false, a->rows, a->cols, a->data, a->stride, gram->data,
		                   gram->stride));
	} else {
		const kdr_dense *a = &x->as.dense;
		KDRI_TRY(kdri_block_new(ctx, a->rows, a->cols, true, &narrow));
		for (int64_t i = 0; i < a->rows; i++)
			kdri_block_write(&narrow, i, 0, a->cols, a->data + i * a->stride);
		KDRI_TRY(kdri_block_syrk(ctx, false, 1, &narrow, 0, gram));
	}
	kdri_block_mirror(ctx, gram);
done:
	kdri_own_free(ctx, &xt);
	kdri_block_free(ctx, &narrow);
	return st;
}

/* A task at work, or several of one matrix; its Gram matrix, then its similarities, are in `gram` or on a device. */
typedef struct work {
	kdr_context *ctx;
	const kdr_task *task;
	const kdr_options *options;
	kdr_result *result;
	int64_t t, count; /* tasks of the matrix, from t on */
	kdri_block gram;
	kdri_gram_there there;
	bool answered; /* results are being written: it is too late to begin anew */
} work;

static kdr_status fill_gram_there(work *w)
{
	kdr_status st;
	const kdr_mat *x = &w->task->x;
	kdri_device *dev = w->there.dev;
	kdri_dmat rows = { 0 };
	kdri_dgram g = { .dev = dev };
	KDRI_TRY(kdri_dmat_new(w->ctx, dev, kdr_mat_rows(x), kdr_mat_rows(x), &w->there.k));
	g.k = w->there.k;
	if (x->kind == KDR_MAT_CSR) {
		KDRI_TRY(kdri_msda_device_gram(w->ctx, &g, 0, x, NULL));
	} else {
		const kdr_dense *a = &x->as.dense;
		int64_t room = (int64_t)(dev->room(dev) / 16),
		        wide = KDRI_MAX(1, KDRI_MIN(a->cols, room / KDRI_MAX(a->rows, 1)));
		KDRI_TRY(kdri_dmat_new(w->ctx, dev, a->rows, wide, &rows));
		for (int64_t j = 0; j < a->cols; j += wide) {
			int64_t cols = KDRI_MIN(wide, a->cols - j);
			kdri_dmat part = kdri_dmat_on(rows.buf, a->rows, cols);
			KDRI_TRY(kdri_dmat_put(w->ctx, dev, part, a->data + j, a->stride));
			KDRI_DTRY(w->ctx, dev,
			          dev->syrk(dev, false, 1, part, j > 0, w->there.k,
			                    w->there.single ? KDRI_SHARP_SINGLE : KDRI_SHARP_DOUBLE));
		}
	}
	KDRI_DTRY(w->ctx, dev, dev->mirror(dev, w->there.k));
done:
	kdri_dmat_free(dev, &rows);
	return st;
}

/* (E1) */
static kdr_status find_similarities(work *w, kdri_similarity similarity, double sigma)
{
	kdr_status st;
	if (w->there.dev) {
		KDRI_TRY(kdri_there_similarity(w->ctx, &w->there, similarity, sigma));
		KDRI_TRY(kdri_there_clip(w->ctx, w->there.dev, w->there.k));
		return KDR_OK;
	}
	KDRI_TRY(kdri_gram_similarity(w->ctx, &w->gram, similarity, sigma)); /* (E1) */
	kdri_block_clip(w->ctx, &w->gram);
done:
	return st;
}

/* The Gram matrix: here, or on the device. */
static kdr_status make_gram(work *w, bool floats)
{
	kdr_status st;
	int64_t n = kdr_mat_rows(&w->task->x);
	if (w->there.dev) {
		w->there.single = floats;
		KDRI_TRY(kdri_device_check(w->ctx, w->there.dev, 8.0 * (double)n * (double)n, "method 'snmf'",
		                           n, kdr_mat_cols(&w->task->x)));
		return fill_gram_there(w);
	}
	KDRI_TRY(kdri_memory_check(w->ctx, (floats ? 4 : 8) * (double)n * (double)n, "method 'snmf'", n,
	                           kdr_mat_cols(&w->task->x)));
	KDRI_TRY(kdri_block_new(w->ctx, n, n, floats, &w->gram));
	KDRI_TRY(fill_gram(w->ctx, &w->task->x, &w->gram));
done:
	return st;
}

/* The starts of all tasks of the matrix: those given, or found by k-means through the Gram matrix. */
static kdr_status find_starts(work *w, int64_t *starts, int64_t *runs)
{
	int64_t n = kdr_mat_rows(&w->task->x);
	const kdri_gram_there *there = w->there.dev ? &w->there : NULL;
	*runs = w->count;
	for (int64_t q = 0; q < w->count && w->task->init; q++)
		memcpy(starts + q * n, w->task[q].init, (size_t)n * sizeof *starts);
	if (w->task->init || kdri_opt_choice(w->options, "final") != KDRI_FINAL_SNMF)
		return KDR_OK;
	return kdri_snmf_starts(w->ctx, there ? NULL : &w->gram, there, w->task->k,
	                        kdri_opt_int(w->options, "n_init"), w->t, starts, runs);
}

/* (E2) on similarities that are formed. */
static kdr_status use_formed(work *w, kdri_snmf_task *s, kdri_trace *traces)
{
	kdr_status st;
	kdri_similarity similarity = (kdri_similarity)kdri_opt_choice(w->options, "similarity");
	double sigma = kdri_opt_real(w->options, "sigma"), *width = NULL;
	const kdri_gram_there *there = w->there.dev ? &w->there : NULL;
	if (similarity == KDRI_SIMILARITY_GAUSS && sigma == 0)
		KDRI_TRY(there ? kdri_there_median(w->ctx, there, &sigma)
		               : kdri_gram_median(w->ctx, &w->gram, &sigma));
	w->answered = true;
	for (int64_t q = 0; q < w->count && similarity == KDRI_SIMILARITY_GAUSS; q++) {
		KDRI_TRY(kdri_result_array(w->ctx, w->result, "sigma", w->t + q, KDR_FLOAT64, 1,
		                           (int64_t[]){ 1 }, &width));
		width[0] = sigma;
	}
	KDRI_TRY(find_similarities(w, similarity, sigma));
	s->dense = there ? NULL : &w->gram;
	s->there = w->there.k;
	KDRI_TRY(kdri_snmf_task_run(w->ctx, s, w->result, traces));
done:
	return st;
}

/* (E2) on cosines that are not. */
static kdr_status use_factors(work *w, kdri_snmf_task *s, kdri_trace *traces)
{
	kdr_status st;
	kdri_cosines cosines = { .u.view = kdr_mat_from_dense(NULL, 0, 0),
		                 .turned.view = kdr_mat_from_dense(NULL, 0, 0) };
	kdri_block_free(w->ctx, &w->gram); /* the starts have been found */
	KDRI_TRY(kdri_cosines_new(w->ctx, &w->task->x, KDRI_MAX(KDRI_SNMF_TOGETHER, w->task->k), &cosines));
	kdri_op product = kdri_op_cosines(&cosines);
	s->product = &product;
	s->square = cosines.square;
	KDRI_TRY(kdri_snmf_task_run(w->ctx, s, w->result, traces));
done:
	kdri_cosines_free(w->ctx, &cosines);
	return st;
}

static kdr_status snmf_carry(work *w, kdri_trace *traces)
{
	kdr_status st;
	const kdr_task *task = w->task;
	int64_t n = kdr_mat_rows(&task->x), *starts = NULL, size;
	char unnamed[32];
	snprintf(unnamed, sizeof unnamed, "%lld", (long long)w->t + 1);
	kdri_snmf_task s = { .task = w->t,
		             .k = task->k,
		             .name = task->name ? task->name : unnamed,
		             .dev = w->there.dev,
		             .apart = w->count > 1,
		             .given = task->init != NULL,
		             .options = w->options,
		             .stage = stage };
	const bool factors = !w->there.dev && kdri_opt_choice(w->options, "final") == KDRI_FINAL_SNMF &&
	                     kdri_opt_choice(w->options, "similarity") == KDRI_SIMILARITY_COSINE &&
	                     kdri_cosines_pay(&task->x);
	KDRI_TRY(kdri_mul(w->ctx, n, KDRI_MAX(w->count, kdri_opt_int(w->options, "n_init")), &size));
	KDRI_TRY(KDRI_NEW(w->ctx, &starts, size));
	if (!factors || !task->init)
		KDRI_TRY(make_gram(w, kdri_precision_single(w->options, n)));
	KDRI_TRY(find_starts(w, starts, &s.runs));
	s.starts = starts;
	KDRI_TRY(factors ? use_factors(w, &s, traces) : use_formed(w, &s, traces));
done:
	kdri_free(w->ctx, starts);
	return st;
}

static kdr_status snmf_cluster(kdr_context *ctx, const kdr_task *task, int64_t t, int64_t count,
                               const kdr_options *options, kdr_result *result, kdri_trace *traces)
{
	work w = { .ctx = ctx, .task = task, .options = options, .result = result, .t = t, .count = count };
	double n = (double)kdr_mat_rows(&task->x);
	/* Some hundred iterations of ten starts, and the Gram matrix. */
	kdri_device *dev =
	        kdri_device_take(ctx, n * n * ((double)kdr_mat_cols(&task->x) + 1000.0 * (double)task->k));
	kdr_status st = KDR_OK;
	if (dev) {
		w.there.dev = dev;
		st = snmf_carry(&w, traces);
		kdri_dmat_free(dev, &w.there.k);
		w.there = (kdri_gram_there){ 0 };
		kdri_device_leave(dev);
		if (w.answered || !kdri_device_gave_up(ctx, st))
			return st;
	}
	st = snmf_carry(&w, traces);
	kdri_block_free(ctx, &w.gram);
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
	int64_t count;
	kdri_trace *traces = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &traces, problem->ntasks));
	for (int64_t t = 0; t < problem->ntasks; t += count) {
		count = tasks_of_one(problem, t, options);
		KDRI_TRY(snmf_cluster(ctx, &problem->tasks[t], t, count, options, result, &traces[t]));
	}
	if (kdri_opt_bool(options, "keep"))
		KDRI_TRY(kdri_train_keep(ctx, problem, result));
	KDRI_TRY(kdri_put_traces(ctx, traces, problem->ntasks, result));
done:
	kdri_free(ctx, traces);
	return st;
}

/* --- new samples ---------------------------------------------------------------------------------------- */

enum { ROWS = 1024 }; /* new samples at a time */

/* x t' of rows x and training rows t, which are both dense or both sparse; `tt` is t transposed if sparse. */
static kdr_status fill_cross(kdr_context *ctx, const kdr_mat *x, const kdr_mat *t, const kdr_mat *tt,
                             const kdri_block *s)
{
	if (x->kind == KDR_MAT_CSR)
		return kdri_sparse_cross(ctx, &x->as.csr, &tt->as.csr, NULL, s);
	return kdri_gemm(ctx, false, true, s->rows, s->cols, x->as.dense.cols, 1, x->as.dense.data,
	                 x->as.dense.stride, t->as.dense.data, t->as.dense.stride, 0, s->data, s->stride);
}

/* (E1): products become similarities; xx and tt are the squared lengths. sigma < 0: cosines. */
static void put_similarities(kdr_context *ctx, const double *xx, const double *tt, double sigma,
                             const kdri_block *s)
{
	double factor = sigma > 0 ? 1 / (2 * sigma * sigma) : 0;
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
	for (int64_t i = 0; i < s->rows; i++) {
		double *row = (double *)s->data + i * s->stride;
		for (int64_t j = 0; j < s->cols; j++)
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
		return kdri_fail(ctx, KDR_ERR_DATA, "the model lacks the width of the Gaussian for task %lld",
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
	KDRI_TRY(kdri_block_new(ctx, KDRI_MIN(ROWS, rows), n, false, &room));
	for (int64_t i = 0; i < rows; i += ROWS) {
		kdri_block s = kdri_block_part(&room, 0, 0, KDRI_MIN(ROWS, rows - i), n);
		kdr_mat part = kdri_rows(&all.view, n + i, n + i + s.rows);
		KDRI_TRY(fill_cross(ctx, &part, &t, &tt.view, &s));
		put_similarities(ctx, lengths + n + i, lengths, sigma, &s);
		KDRI_TRY(kdri_fold_in(ctx, &s, y, kdr_result_k(fitted, task), labels + i));
	}
done:
	kdri_own_free(ctx, &all);
	kdri_own_free(ctx, &tt);
	kdri_free(ctx, lengths);
	kdri_block_free(ctx, &room);
	return st;
}

/* n x n similarities; if a start is given, products with the data may take their place. */
static kdri_bytes snmf_estimate_bytes(const kdri_sizes *s, const kdri_extent *x, double k,
                                      const kdr_options *o)
{
	const bool cosines = s->nonnegative && kdri_opt_choice(o, "final") == KDRI_FINAL_SNMF &&
	                     kdri_cosines_pay_size(x) &&
	                     kdri_opt_choice(o, "similarity") == KDRI_SIMILARITY_COSINE;
	const double gram = (kdri_precision_single(o, (int64_t)x->n) ? 4 : 8) * x->n * x->n,
	             columns = x->dense ? 0 : 12 * x->entries,
	             without = kdri_extent_values(x) + columns + 8 * x->d * KDRI_MAX(KDRI_SNMF_TOGETHER, k),
	             iterating = kdri_snmf_task_bytes(x->n, k, o, s->threads),
	             formed = gram + KDRI_MAX(columns, cosines ? 0 : iterating);
	const double run = cosines ? KDRI_MAX(s->started ? 0 : formed, without + iterating) : formed,
	             train = kdri_opt_bool(o, "keep") ? kdri_train_bytes(x)
	                                              : 0; /* at the end, of all tasks */
	return (kdri_bytes){ 8 * x->n * k, KDRI_MAX(8 * x->n * kdri_opt_real(o, "n_init") + run,
		                                    train * (double)s->ntasks) };
}

/* Stacked, with narrow columns, and transposed; similarities of a block of rows. */
static double snmf_estimate_predict_bytes(const kdri_extent *x, const kdr_result *fitted,
                                          const kdr_options *o, int threads)
{
	const kdri_extent all = kdri_train_extent(fitted, 1, x);
	(void)o, (void)threads;
	return kdri_extent_bytes(&all) + (all.dense ? 0 : 16 * (all.entries - x->entries)) + 8 * all.n +
	       8 * KDRI_MIN(ROWS, x->n) * (all.n - x->n + 3 * (double)kdr_result_k(fitted, 0));
}

const kdri_algo kdri_algo_snmf = {
	.info = { .id = "snmf",
	          .class_name = "SNMF",
	          .title = "Symmetric non-negative matrix factorisation",
	          .summary =
	                  "factorises the similarities of a task's samples into memberships; each task by itself",
	          .family = KDR_FAMILY_CLUSTER,
	          .flags = KDR_ALGO_MONOTONE | KDR_ALGO_PREDICT,
	          .options = options_table,
	          .fields = fields_table,
	          .references = references_table },
	.fit = snmf_fit,
	.estimate_bytes = snmf_estimate_bytes,
	.predict = snmf_predict,
	.estimate_predict_bytes = snmf_estimate_predict_bytes,
};
