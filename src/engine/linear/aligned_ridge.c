/* A ridge regression that aligns the classes of two sets. SPDX-License-Identifier: BSD-3-Clause
 *
 * Idea: J. Wang, W. Feng, Y. Chen, H. Yu, M. Huang, P. Yu: Visual domain adaptation with manifold embedded distribution
 * alignment. ACM MM 2018; here linear, in few dimensions. X = [E 1], of p columns; Xs its known rows, Y their classes,
 * one-hot. In each round, with the current predictions as the classes of the rows to be predicted,
 *
 *   (E1)  b = (Xs'Xs + M + s X'LX + r (tr Xs'Xs / p) J)^-1 Xs'Y
 *   (E2)  M = (n / 2) e0 e0' + (n / c) sum_k ek ek'
 *   (E3)  answer: softmax(6 X b)
 *
 * e0 = mean of the sources' known rows - mean of the target's rows; ek the same for those of class k, if at least
 * three rows of the target and one of a source have it. L = I - D^-1/2 W D^-1/2 of the graph W. J = I except for the
 * constant, whose entry is 1e-6. X is formed a few rows at a time, because E alone already takes much memory.
 *
 * E  e     s  smooth     r  ridge     c  classes     p  width + 1 */
#include "engine/linear/aligned_ridge.h"

#include "engine/linear/rest.h"

enum { LEAST_IN_CLASS = 3, PANEL = 16, KNOWN_ROWS = 4096, BLOCK_ROWS = 65536 };
static const double of_constant = 1e-6, steepness = 6;

typedef struct work {
	const kdri_aligned_ridge *p;
	int64_t w;              /* columns of X */
	double *x;              /* rows of X: BLOCK_ROWS x w */
	double *fixed, *system; /* w x w: what stays from round to round, and (E1)'s matrix */
	double *right, *b;      /* w x c */
	double *gap;            /* (c + 1) x w: e0, then ek */
	int64_t *counts; /* 2 x (c + 1): rows of sources and of the target, of all classes and of each */
	int32_t *answer;
} work;

static void work_free(kdr_context *ctx, work *t)
{
	kdri_free(ctx, t->x);
	kdri_free(ctx, t->fixed);
	kdri_free(ctx, t->system);
	kdri_free(ctx, t->right);
	kdri_free(ctx, t->b);
	kdri_free(ctx, t->gap);
	kdri_free(ctx, t->counts);
	kdri_free(ctx, t->answer);
}

static kdr_status work_new(kdr_context *ctx, work *t)
{
	const kdri_aligned_ridge *p = t->p;
	KDRI_DO(KDRI_NEW(ctx, &t->x, KDRI_MIN(p->n, BLOCK_ROWS) * t->w));
	KDRI_DO(KDRI_NEW(ctx, &t->fixed, t->w * t->w));
	KDRI_DO(KDRI_NEW(ctx, &t->system, t->w * t->w));
	KDRI_DO(KDRI_NEW0(ctx, &t->right, t->w * p->classes));
	KDRI_DO(KDRI_NEW(ctx, &t->b, t->w * p->classes));
	KDRI_DO(KDRI_NEW(ctx, &t->gap, (p->classes + 1) * t->w));
	KDRI_DO(KDRI_NEW(ctx, &t->counts, 2 * (p->classes + 1)));
	KDRI_DO(KDRI_NEW(ctx, &t->answer, p->n));
	memcpy(t->answer, p->start, (size_t)p->n * sizeof *t->answer);
	return KDR_OK;
}

/* Row i of X, to `to`. */
static void aligned_ridge_take_row(const work *t, int64_t i, double *to)
{
	memcpy(to, t->p->e + i * t->p->width, (size_t)t->p->width * sizeof *to);
	to[t->p->width] = 1;
}

/* Rows of X from `begin` on into t->x; how many. */
static int64_t take_block(kdr_context *ctx, const work *t, int64_t begin)
{
	int64_t count = KDRI_MIN(t->p->n - begin, BLOCK_ROWS);
#pragma omp parallel for num_threads(kdri_team(ctx)) if (count > KDRI_BLOCK)
	for (int64_t i = 0; i < count; i++)
		aligned_ridge_take_row(t, begin + i, t->x + i * t->w);
	return count;
}

/* y += alpha row i of X */
static void aligned_ridge_add_row(const work *t, double alpha, int64_t i, double *y)
{
	kdri_axpy(alpha, t->p->e + i * t->p->width, y, t->p->width);
	y[t->p->width] += alpha;
}

static double aligned_ridge_entry(const work *t, int64_t i, int64_t j)
{
	return j < t->p->width ? t->p->e[i * t->p->width + j] : 1;
}

/* X'LX, L the normalised Laplacian of the graph, a few columns at a time. */
static kdr_status add_graph(kdr_context *ctx, const work *t)
{
	kdr_status st;
	const kdri_op *graph = t->p->graph;
	int64_t n = t->p->n, w = t->w;
	double *scale = NULL, *near = NULL, *scaled = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &scale, n));
	KDRI_TRY(KDRI_NEW(ctx, &near, n * KDRI_MIN(w, PANEL)));
	KDRI_TRY(KDRI_NEW(ctx, &scaled, n * KDRI_MIN(w, PANEL)));
	for (int64_t i = 0; i < n; i++)
		near[i] = 1;
	KDRI_TRY(graph->apply(ctx, graph, near, 1, 1, scale, 1));
	for (int64_t i = 0; i < n; i++)
		scale[i] = scale[i] > 0 ? 1 / sqrt(scale[i]) : 0;
	for (int64_t from = 0, k; from < w; from += k) {
		k = KDRI_MIN(w - from, PANEL);
#pragma omp parallel for num_threads(kdri_team(ctx)) if (n > KDRI_BLOCK)
		for (int64_t i = 0; i < n; i++)
			for (int64_t j = 0; j < k; j++)
				scaled[i * k + j] = scale[i] * aligned_ridge_entry(t, i, from + j);
		KDRI_TRY(graph->apply(ctx, graph, scaled, k, k, near, k));
#pragma omp parallel for num_threads(kdri_team(ctx)) if (n > KDRI_BLOCK)
		for (int64_t i = 0; i < n; i++)
			for (int64_t j = 0; j < k; j++)
				near[i * k + j] =
				        aligned_ridge_entry(t, i, from + j) - scale[i] * near[i * k + j];
		for (int64_t i = 0, rows; i < n; i += rows) {
			rows = take_block(ctx, t, i);
			KDRI_TRY(kdri_gemm(ctx, true, false, w, k, rows, t->p->smooth, t->x, w, near + i * k,
			                   k, 1, t->fixed + from, w));
		}
	}
done:
	kdri_free(ctx, scale);
	kdri_free(ctx, near);
	kdri_free(ctx, scaled);
	return st;
}

/* fixed += the products of `count` known rows. */
static kdr_status add_known(kdr_context *ctx, const work *t, const double *xs, int64_t known)
{
	return kdri_gemm(ctx, true, false, t->w, t->w, known, 1, xs, t->w, xs, t->w, 1, t->fixed, t->w);
}

/* Xs'Xs + s X'LX + r (tr Xs'Xs / p) J, and Xs'Y. */
static kdr_status find_fixed(kdr_context *ctx, const work *t)
{
	kdr_status st;
	const kdri_aligned_ridge *p = t->p;
	int64_t w = t->w, known = 0;
	double *xs = NULL, trace = 0;
	KDRI_TRY(KDRI_NEW(ctx, &xs, KDRI_MIN(p->n, KNOWN_ROWS) * w));
	memset(t->fixed, 0, (size_t)(w * w) * sizeof *t->fixed);
	for (int64_t i = 0; i < p->n; i++) {
		if (p->labels[i] < 0)
			continue;
		aligned_ridge_take_row(t, i, xs + known++ * w);
		for (int64_t j = 0; j < w; j++)
			t->right[j * p->classes + p->labels[i]] += aligned_ridge_entry(t, i, j);
		if (known == KNOWN_ROWS) {
			KDRI_TRY(add_known(ctx, t, xs, known));
			known = 0;
		}
	}
	if (known > 0)
		KDRI_TRY(add_known(ctx, t, xs, known));
	for (int64_t j = 0; j < w; j++)
		trace += t->fixed[j * w + j];
	for (int64_t j = 0; j < w; j++)
		t->fixed[j * w + j] += p->ridge * trace / (double)w * (j + 1 < w ? 1 : of_constant);
	if (p->graph)
		KDRI_TRY(add_graph(ctx, t));
done:
	kdri_free(ctx, xs);
	return st;
}

/* (E2)'s e0 and ek; a class with too few rows has a row of zeros. */
static void find_gaps(const work *t)
{
	const kdri_aligned_ridge *p = t->p;
	int64_t w = t->w, c = p->classes;
	memset(t->gap, 0, (size_t)((c + 1) * w) * sizeof *t->gap);
	memset(t->counts, 0, (size_t)(2 * (c + 1)) * sizeof *t->counts);
	for (int pass = 0; pass < 2; pass++)
		for (int64_t i = 0; i < p->n; i++) {
			const bool known = p->labels[i] >= 0, source = p->source[i];
			int64_t k = 1 + (known ? p->labels[i] : t->answer[i]);
			int64_t *count = t->counts + (source ? 0 : c + 1);
			if (!known && !p->unlabelled[i])
				continue;
			if (pass == 0) {
				count[0]++;
				count[k]++;
				continue;
			}
			double sign = source ? 1 : -1;
			aligned_ridge_add_row(t, sign / (double)count[0], i, t->gap);
			aligned_ridge_add_row(t, sign / (double)count[k], i, t->gap + k * w);
		}
	for (int64_t k = 0; k <= c; k++)
		if (t->counts[k] == 0 || t->counts[c + 1 + k] < LEAST_IN_CLASS)
			memset(t->gap + k * w, 0, (size_t)w * sizeof *t->gap);
}

/* (E1) to (E3) */
static kdr_status run_round(kdr_context *ctx, const work *t, double *posterior)
{
	const kdri_aligned_ridge *p = t->p;
	int64_t w = t->w, c = p->classes;
	find_gaps(t);
	memcpy(t->system, t->fixed, (size_t)(w * w) * sizeof *t->system);
	for (int64_t k = 0; k <= c; k++) {
		const double *e = t->gap + k * w;
		double weight = (double)p->n / (k == 0 ? 2 : (double)c);
		for (int64_t i = 0; i < w; i++)
			kdri_axpy(weight * e[i], e, t->system + i * w, w);
	}
	memcpy(t->b, t->right, (size_t)(w * c) * sizeof *t->b);
	KDRI_DO(kdri_cholesky(ctx, w, t->system, w));
	KDRI_DO(kdri_cholesky_solve(ctx, w, t->system, w, t->b, c, c));
	for (int64_t i = 0, rows; i < p->n; i += rows) {
		rows = take_block(ctx, t, i);
		KDRI_DO(kdri_gemm(ctx, false, false, rows, c, w, 1, t->x, w, t->b, c, 0, posterior + i * c,
		                  c));
	}
	kdri_rest_soften(ctx, posterior, p->n, c, steepness);
	kdri_rest_answer(ctx, posterior, p->n, c, t->answer);
	return KDR_OK;
}

kdr_status kdri_aligned_ridge_run(kdr_context *ctx, const kdri_aligned_ridge *p, double *posterior)
{
	kdr_status st;
	work t = { .p = p, .w = p->width + 1 };
	KDRI_TRY(work_new(ctx, &t));
	KDRI_TRY(find_fixed(ctx, &t));
	for (int64_t r = 0; r < p->rounds; r++) {
		KDRI_TRY(run_round(ctx, &t, posterior));
		if (kdri_iteration(ctx, "aligned-ridge", r + 1, p->rounds, NAN))
			break;
	}
done:
	work_free(ctx, &t);
	return st;
}
