/* Several sets of samples in the directions they share. SPDX-License-Identifier: BSD-3-Clause
 *
 *   (E1)  y_i = (x_i - m_t) / |x_i - m_t|,  m_t the mean of the set that row i belongs to
 *   (E2)  Y = U S V', cut to `width` directions;  E = U S, rows to unit length
 *
 * Subtracting the means removes differences between entire sets, such as the words of one shop. Y is never formed:
 * products with it are products with X, minus those with the means, times the lengths.
 *
 * A hundred directions of a million rows are nearly the same as those of some ten thousand of them, and cost only one
 * product with all rows instead of two per round, and no memory except E. Of m rows, one of each of m runs of about
 * equal length, V_m being theirs,
 *
 *   (E3)  E = Y V_m, rows to unit length. */
/* A ridge regression that aligns the classes of two sets.
 *
 * Idea: J. Wang, W. Feng, Y. Chen, H. Yu, M. Huang, P. Yu: Visual domain adaptation with manifold embedded distribution
 * alignment. ACM MM 2018; here linear, in few dimensions. X = [E 1], of p columns; Xs its known rows, Y their classes,
 * one-hot. In each round, with the current predictions as the classes of the rows to be predicted,
 *
 *   (E4)  b = (Xs'Xs + M + s X'LX + r (tr Xs'Xs / p) J)^-1 Xs'Y
 *   (E5)  M = (n / 2) e0 e0' + (n / c) sum_k ek ek'
 *   (E6)  answer: softmax(6 X b)
 *
 * e0 = mean of the sources' known rows - mean of the target's rows; ek the same for those of class k, if at least
 * three rows of the target and one of a source have it. L = I - D^-1/2 W D^-1/2 of the graph W. J = I except for the
 * constant, whose entry is 1e-6. X is formed a few rows at a time, because E alone already takes much memory.
 *
 * E  e     s  smooth     r  ridge     c  classes     p  width + 1 */
/* Class prototypes that samples are transported to.
 *
 * Samples of equal mass are brought to prototypes mu_k of mass q_k, at a cost of 1 - cos and with entropy [M. Cuturi:
 * Sinkhorn distances. NIPS 2013]; then the prototypes move to the mean of the samples assigned to them:
 *
 *   (E7)  K_ik = exp(cos(e_i, mu_k) / blur)
 *   (E8)  u_i = (1 / n) / (K v)_i,  v_k = q_k / (K'u)_k, `steps` times from v = 1;  P = diag(u) K diag(v)
 *   (E9)  q = the mean of the known shares and the mean of K's rows, each scaled to sum 1
 *   (E10)  mu = P'E
 *
 * The posterior is P with rows to sum 1. No class can lose all of its samples or receive all of them, because its
 * mass is kept near its known share. Sums over samples are computed in fixed chunks, so the result does not depend on
 * the number of threads. */
#include "engine/linear/aligned.h"
#include "engine/linear/linear.h"
#include "matrix/device_use.h"
#include "matrix/range.h"

enum { ROUNDS = 5, SCALED_ROWS = 32768 };

kdr_status kdri_sets_means(kdr_context *ctx, const kdri_sets *sets, double *means)
{
	int64_t d = kdr_mat_cols(sets->x);
	for (int64_t t = 0; t < sets->count; t++) {
		int64_t n = sets->begin[t + 1] - sets->begin[t];
		kdr_mat part = kdri_rows(sets->x, sets->begin[t], sets->begin[t + 1]);
		KDRI_DO(kdri_mat_col_sums(ctx, &part, means + t * d));
		for (int64_t j = 0; j < d; j++)
			means[t * d + j] /= (double)KDRI_MAX(n, 1);
	}
	return KDR_OK;
}

/* The number of directions of E: at most the given number, d, and n - 2. */
enum { KDRI_ALIGNED_MOST = 100 };

int64_t kdri_aligned_width(const kdri_sets *sets)
{
	int64_t n = sets->begin[sets->count], d = kdr_mat_cols(sets->x);
	return KDRI_MAX(1, KDRI_MIN(KDRI_ALIGNED_MOST, KDRI_MIN(d, n - 2)));
}

typedef struct centred_rows {
	const kdri_sets *sets;
	const double *means;
	double *scale; /* n: 1 / |x_i - m_t| */
} centred_rows;

/* Rows of set t from `begin` on are multiplied up to here at a time. */
static int64_t block_end(const kdri_sets *sets, int64_t t, int64_t begin)
{
	return KDRI_MIN(begin + SCALED_ROWS, sets->begin[t + 1]);
}

static kdr_status aligned_apply(kdr_context *ctx, const kdri_op *op, const double *x, int64_t k, int64_t ldx,
                                double *y, int64_t ldy)
{
	const centred_rows *r = op->data;
	bool dense = r->sets->x->kind == KDR_MAT_DENSE;
	for (int64_t t = 0; t < r->sets->count; t++)
		for (int64_t begin = r->sets->begin[t], end; begin < r->sets->begin[t + 1]; begin = end) {
			end = dense ? r->sets->begin[t + 1] : block_end(r->sets, t, begin);
			kdr_mat part = kdri_rows(r->sets->x, begin, end);
			const kdri_centred centred = { &part, r->means + t * op->cols };
			const kdri_op own = kdri_op_centred(&centred);
			KDRI_DO(own.apply(ctx, &own, x, k, ldx, y + begin * ldy, ldy));
			for (int64_t i = begin; i < end; i++)
				for (int64_t j = 0; j < k; j++)
					y[i * ldy + j] *= r->scale[i]; /* (E1) */
		}
	return KDR_OK;
}

static kdr_status apply_t(kdr_context *ctx, const kdri_op *op, const double *x, int64_t k, int64_t ldx,
                          double *y, int64_t ldy)
{
	kdr_status st;
	const centred_rows *r = op->data;
	double *scaled = NULL, *own_y = NULL;
	bool first = true;
	KDRI_TRY(KDRI_NEW(ctx, &scaled, KDRI_MIN(op->rows, SCALED_ROWS) * k));
	KDRI_TRY(KDRI_NEW(ctx, &own_y, op->cols * k));
	for (int64_t t = 0; t < r->sets->count; t++)
		for (int64_t begin = r->sets->begin[t], end; begin < r->sets->begin[t + 1]; begin = end) {
			end = block_end(r->sets, t, begin);
			kdr_mat part = kdri_rows(r->sets->x, begin, end);
			const kdri_centred centred = { &part, r->means + t * op->cols };
			const kdri_op own = kdri_op_centred(&centred);
			for (int64_t i = begin; i < end; i++)
				for (int64_t j = 0; j < k; j++)
					scaled[(i - begin) * k + j] = r->scale[i] * x[i * ldx + j];
			KDRI_TRY(own.apply_t(ctx, &own, scaled, k, k, own_y, k));
			for (int64_t i = 0; i < op->cols; i++)
				for (int64_t j = 0; j < k; j++)
					y[i * ldy + j] = (first ? 0 : y[i * ldy + j]) + own_y[i * k + j];
			first = false;
		}
done:
	KDRI_FREE(ctx, scaled, own_y);
	return st;
}

/* 1 / |x_i - m_t|, from |x|^2 - 2 <x, m> + |m|^2; 0 where that is rounding. */
static kdr_status find_scales(kdr_context *ctx, const centred_rows *r)
{
	kdr_status st = KDR_OK;
	int64_t d = kdr_mat_cols(r->sets->x), longest = 1;
	double *with_mean = NULL;
	for (int64_t t = 0; t < r->sets->count; t++)
		longest = KDRI_MAX(longest, r->sets->begin[t + 1] - r->sets->begin[t]);
	KDRI_TRY(KDRI_NEW(ctx, &with_mean, longest));
	KDRI_TRY(kdri_mat_row_norms(ctx, r->sets->x, r->scale));
	for (int64_t t = 0; t < r->sets->count; t++) {
		int64_t begin = r->sets->begin[t], end = r->sets->begin[t + 1];
		const double *mean = r->means + t * d;
		double square = kdri_nrm2sq(mean, d);
		kdr_mat part = kdri_rows(r->sets->x, begin, end);
		KDRI_TRY(kdri_mat_mul(ctx, &part, mean, 1, 1, with_mean, 1));
		for (int64_t i = begin; i < end; i++) {
			double own = r->scale[i], length = own - 2 * with_mean[i - begin] + square;
			r->scale[i] = length > 1e-12 * (own + square) ? 1 / sqrt(length) : 0;
		}
	}
done:
	kdri_free(ctx, with_mean);
	return st;
}

/* Uses a device if that is faster: for dense rows all at once, since the device can address parts of them; for sparse
 * rows block by block, as they are multiplied. *held: as many blocks as fit in memory; the caller releases them. */
static kdr_status hold_rows(kdr_context *ctx, const kdri_sets *sets, int64_t width, kdri_held **held)
{
	int64_t n = sets->begin[sets->count], d = kdr_mat_cols(sets->x), count = 0;
	int64_t k = KDRI_MIN(width + KDRI_LEADING_BESIDE, KDRI_MIN(n, d));
	double flops = (2 * ROUNDS + 1) * (double)k * kdri_held_flops(sets->x);
	if (sets->x->kind == KDR_MAT_DENSE)
		return kdri_hold(ctx, sets->x, true, k, flops, &held[0]);
	for (int64_t t = 0; t < sets->count; t++)
		for (int64_t begin = sets->begin[t], end; begin < sets->begin[t + 1]; begin = end) {
			end = block_end(sets, t, begin);
			kdr_mat part = kdri_rows(sets->x, begin, end);
			KDRI_DO(kdri_hold(ctx, &part, true, k, flops, &held[count++]));
		}
	return KDR_OK;
}

/* Rows of e (n x width) to unit length. */
static void to_unit(double *e, int64_t n, int64_t width)
{
	for (int64_t i = 0; i < n; i++) {
		double *row = e + i * width, length = sqrt(kdri_nrm2sq(row, width));
		for (int64_t j = 0; j < width; j++)
			row[j] = length > 1e-10 ? row[j] / length : 0;
	}
}

/* The leading directions of all rows of r: *u (rows x width), v (columns x width), either may be NULL. */
static kdr_status leading(kdr_context *ctx, centred_rows *r, int64_t width, double **u, double *s, double *v)
{
	kdr_status st;
	int64_t n = r->sets->begin[r->sets->count], blocks = n / SCALED_ROWS + r->sets->count + 1;
	const kdri_op op = { n, kdr_mat_cols(r->sets->x), aligned_apply, apply_t, r };
	kdri_held **held = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &r->scale, n));
	KDRI_TRY(find_scales(ctx, r));
	KDRI_TRY(KDRI_NEW0(ctx, &held, blocks));
	KDRI_TRY(hold_rows(ctx, r->sets, width, held));
	KDRI_TRY(kdri_leading(ctx, &op, width, ROUNDS, u, s, v));
done:
	for (int64_t b = 0; held && b < blocks; b++)
		kdri_unhold(ctx, held[b]);
	kdri_free(ctx, held);
	return st;
}

/* V of (E3): v (columns x width). */
static kdr_status some_directions(kdr_context *ctx, const kdri_sets *sets, const double *means, int64_t width,
                                  int64_t m, double *v)
{
	kdr_status st;
	int64_t n = sets->begin[sets->count], *chosen = NULL, *begin = NULL;
	double *s = NULL;
	kdri_own taken = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	kdri_rng rng = kdri_rng_stream(ctx->seed, "aligned", 0);
	centred_rows r = { .means = means };
	KDRI_TRY(KDRI_NEW(ctx, &chosen, m));
	KDRI_TRY(KDRI_NEW0(ctx, &begin, sets->count + 1));
	KDRI_TRY(KDRI_NEW(ctx, &s, width));
	for (int64_t j = 0; j < m; j++) {
		chosen[j] = kdri_chunk_draw(&rng, n, m, j);
		for (int64_t t = 0; t < sets->count; t++)
			begin[t + 1] += chosen[j] < sets->begin[t + 1];
	}
	KDRI_TRY(kdri_mat_take(ctx, sets->x, chosen, m, &taken));
	const kdri_sets some = { &taken.view, sets->count, begin };
	r.sets = &some;
	KDRI_TRY(leading(ctx, &r, width, NULL, s, v));
done:
	KDRI_FREE(ctx, chosen, begin, s, r.scale);
	kdri_own_free(ctx, &taken);
	return st;
}

/* (E3) */
static kdr_status by_some(kdr_context *ctx, const kdri_sets *sets, const double *means, int64_t width,
                          int64_t m, double **out)
{
	kdr_status st;
	int64_t n = sets->begin[sets->count], d = kdr_mat_cols(sets->x), size;
	double *v = NULL, *e = NULL;
	centred_rows r = { .sets = sets, .means = means };
	const kdri_op op = { n, d, aligned_apply, apply_t, &r };
	KDRI_TRY(KDRI_NEW(ctx, &v, d * width));
	KDRI_TRY(some_directions(ctx, sets, means, width, m, v));
	KDRI_TRY(KDRI_NEW(ctx, &r.scale, n));
	KDRI_TRY(find_scales(ctx, &r));
	KDRI_TRY(kdri_mul(ctx, n, width, &size));
	KDRI_TRY(KDRI_NEW(ctx, &e, size));
	KDRI_TRY(aligned_apply(ctx, &op, v, width, width, e, width));
	to_unit(e, n, width);
	*out = e;
	e = NULL;
done:
	KDRI_FREE(ctx, v, e, r.scale);
	return st;
}

kdr_status kdri_aligned_new(kdr_context *ctx, const kdri_sets *sets, const double *means, int64_t width,
                            int64_t most, double **out)
{
	kdr_status st;
	int64_t n = sets->begin[sets->count];
	double *u = NULL, *s = NULL;
	centred_rows r = { .sets = sets, .means = means };
	if (most > 0 && n > most)
		return by_some(ctx, sets, means, width, most, out);
	KDRI_TRY(KDRI_NEW(ctx, &s, width));
	KDRI_TRY(leading(ctx, &r, width, &u, s, NULL));
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < width; j++)
			u[i * width + j] *= s[j]; /* (E2) */
	to_unit(u, n, width);
	*out = u;
	u = NULL;
done:
	KDRI_FREE(ctx, u, s, r.scale);
	return st;
}

enum { LEAST_IN_CLASS = 3, PANEL = 16, KNOWN_ROWS = 4096, BLOCK_ROWS = 65536 };
static const double of_constant = 1e-6, steepness = 6;

typedef struct work {
	const kdri_aligned_ridge *p;
	int64_t w;              /* columns of X */
	double *x;              /* rows of X: BLOCK_ROWS x w */
	double *fixed, *system; /* w x w: what stays from round to round, and (E4)'s matrix */
	double *right, *b;      /* w x c */
	double *gap;            /* (c + 1) x w: e0, then ek */
	int64_t *counts; /* 2 x (c + 1): rows of sources and of the target, of all classes and of each */
	int32_t *answer;
} work;

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
	KDRI_FREE(ctx, scale, near, scaled);
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

/* (E5)'s e0 and ek; a class with too few rows has a row of zeros. */
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

/* (E4) to (E6) */
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
	KDRI_FREE(ctx, t.x, t.fixed, t.system, t.right, t.b, t.gap, t.counts, t.answer);
	return st;
}

typedef struct prototypes_work {
	const kdri_prototypes *p;
	double *k;       /* n x classes: K, then P */
	double *partial; /* KDRI_CHUNKS x classes */
	double *v, *q, *norm;
} prototypes_work;

/* (E7), (E9) */
static kdr_status find_kernel(kdr_context *ctx, const prototypes_work *t, const double *prototypes)
{
	const kdri_prototypes *p = t->p;
	int64_t c = p->classes, n = p->n;
	KDRI_DO(kdri_gemm(ctx, false, true, n, c, p->width, 1, p->e, p->width, prototypes, p->width, 0, t->k,
	                  c));
	for (int64_t k = 0; k < c; k++) {
		double length = sqrt(kdri_nrm2sq(prototypes + k * p->width, p->width));
		t->norm[k] = length > 0 ? 1 / (length * p->blur) : 0;
		t->q[k] = 0;
	}
#pragma omp parallel for num_threads(kdri_team(ctx)) if (n * c > 1 << 13)
	for (int64_t i = 0; i < n; i++)
		for (int64_t k = 0; k < c; k++)
			t->k[i * c + k] = exp(t->k[i * c + k] * t->norm[k]);
	for (int64_t i = 0; i < n; i++) {
		const double *row = t->k + i * c;
		double sum = 0;
		for (int64_t k = 0; k < c; k++)
			sum += row[k];
		for (int64_t k = 0; k < c; k++)
			t->q[k] += row[k] / sum / (double)n;
	}
	for (int64_t k = 0; k < c; k++)
		t->q[k] = (t->q[k] + p->share[k]) / 2;
	return KDR_OK;
}

/* (E8): the plan takes the kernel's place. */
static void transport(kdr_context *ctx, const prototypes_work *t)
{
	int64_t c = t->p->classes, n = t->p->n, chunks = kdri_chunks(n);
	for (int64_t k = 0; k < c; k++)
		t->v[k] = 1;
	for (int64_t step = 0; step <= t->p->steps; step++) {
		bool last = step == t->p->steps;
#pragma omp parallel for num_threads(kdri_team(ctx)) if (n * c > 1 << 13)
		for (int64_t b = 0; b < chunks; b++) {
			double *sum = t->partial + b * c;
			memset(sum, 0, (size_t)c * sizeof *sum);
			for (int64_t i = kdri_chunk_begin(n, chunks, b);
			     i < kdri_chunk_begin(n, chunks, b + 1); i++) {
				double *row = t->k + i * c, u = 0;
				for (int64_t k = 0; k < c; k++)
					u += row[k] * t->v[k];
				u = 1 / ((double)n * u);
				for (int64_t k = 0; k < c; k++)
					sum[k] += u * row[k];
				for (int64_t k = 0; last && k < c; k++)
					row[k] *= u * t->v[k];
			}
		}
		for (int64_t k = 0; k < c && !last; k++) {
			double sum = 0;
			for (int64_t b = 0; b < chunks; b++)
				sum += t->partial[b * c + k];
			t->v[k] = t->q[k] / sum;
		}
	}
}

kdr_status kdri_prototypes_run(kdr_context *ctx, const kdri_prototypes *p, double *prototypes,
                               double *posterior)
{
	kdr_status st;
	int64_t c = p->classes, size;
	prototypes_work t = { .p = p, .k = posterior };
	KDRI_TRY(kdri_mul(ctx, p->n, c, &size));
	KDRI_TRY(KDRI_NEW(ctx, &t.partial, KDRI_CHUNKS * c));
	KDRI_TRY(KDRI_NEW(ctx, &t.v, 3 * c));
	t.q = t.v + c;
	t.norm = t.q + c;
	for (int64_t r = 0; r < p->rounds; r++) {
		KDRI_TRY(find_kernel(ctx, &t, prototypes));
		transport(ctx, &t);
		KDRI_TRY(kdri_gemm(ctx, true, false, c, p->width, p->n, 1, posterior, c, p->e, p->width, 0,
		                   prototypes, p->width)); /* (E10) */
		if (kdri_iteration(ctx, "ot-prototypes", r + 1, p->rounds, NAN))
			break;
	}
	for (int64_t i = 0; i < p->n; i++) {
		double *row = posterior + i * c, sum = 0;
		for (int64_t k = 0; k < c; k++)
			sum += row[k];
		for (int64_t k = 0; k < c; k++)
			row[k] /= sum;
	}
done:
	KDRI_FREE(ctx, t.partial, t.v);
	return st;
}
