/* Consistent similarity of a task's samples. SPDX-License-Identifier: BSD-3-Clause
 *
 * Two samples i, j of task t are alike if they are alike to the same samples of all tasks. With V^{ts} the
 * similarities of task t's samples to those of task s, l neighbours, and B the distances A_1j, .., A_nj in
 * increasing order (B_1 = A_jj = 0):
 *
 *   (E1)  eps^t = median over the columns of V^{tt} of the (l + 1)-th largest entry            [ZZL19, sec. 3.4]
 *   (E2)  alpha_s^t = share of the entries of V^{ts} that are >= eps^t                         [ZZL19, eq. 20]
 *   (E3)  A_ij = sum_s alpha_s |V_i^{ts} - V_j^{ts}|^2 = D_i + D_j - 2 C_ij,
 *         C = sum_s alpha_s V^{ts} V^{ts}',   D = diag(C)                                      [ZZL19, eq. 9]
 *   (E4)  column j of M = argmin over the simplex, m_j = 0, of sum_i A_ij m_i + beta |m|^2,
 *         beta such that just l entries are positive                                           [ZZL19, eqs. 9-19]
 *   (E5)  M_ij = (B_{l+2} - A_ij) / (B_{l+2} - B_2) where positive                  after scaling to maximum 1
 *   (E6)  M <- (M + M') / 2                                                                    [ZZL19, sec. 3.5]
 *
 * DEVIATION: the sample itself is left out of (E4); else it would take most of the weight (0.83 of it on the
 * golden data). If B_2 = B_{l+2}, beta is 0 and all samples at that distance get weight 1.
 *
 * C is one symmetric product for each pair of tasks; where n x n numbers are more than the caller allows, blocks
 * of rows are computed and used one after the other. M has about 2 l entries a row. */
#include "methods/mtcfir/consistent.h"

#include "matrix/select.h"

static const double tolerance = 1e-12; /* of (E2) */

/* --- similarities from a Gram matrix ------------------------------------------------------------------ */

kdr_status kdri_gram_median(kdr_context *ctx, const kdri_block *gram, double *out)
{
	enum { MOST = 1000 };
	kdr_status st;
	double *gaps = NULL;
	int64_t n = gram->rows, m = KDRI_MIN(n, MOST), count = m * (m - 1) / 2;
	KDRI_TRY(KDRI_NEW(ctx, &gaps, count));
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic, 16) if (m > 128)
	for (int64_t a = 0; a < m; a++)
		for (int64_t b = 0; b < a; b++) {
			int64_t i = a * n / m, j = b * n / m;
			gaps[a * (a - 1) / 2 + b] =
			        KDRI_MAX(0.0, kdri_block_get(gram, i, i) + kdri_block_get(gram, j, j) -
			                              2 * kdri_block_get(gram, i, j));
		}
	*out = count ? sqrt(kdri_median(gaps, count)) : 0;
done:
	kdri_free(ctx, gaps);
	return st;
}

kdr_status kdri_gram_similarity(kdr_context *ctx, const kdri_block *gram, kdri_similarity similarity,
                                double sigma)
{
	kdr_status st;
	int64_t n = gram->rows;
	bool gauss = similarity == KDRI_SIMILARITY_GAUSS;
	double *square = NULL, *scale = NULL, factor = sigma > 0 ? 1 / (2 * sigma * sigma) : 0;
	KDRI_TRY(KDRI_NEW(ctx, &square, n));
	KDRI_TRY(KDRI_NEW(ctx, &scale, n));
	for (int64_t i = 0; i < n; i++) {
		square[i] = kdri_block_get(gram, i, i);
		scale[i] = square[i] > 0 ? 1 / sqrt(square[i]) : 0;
	}
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic, 16)
	for (int64_t i = 0; i < n; i++) {
		for (int64_t j = 0; j < i && !gauss; j++)
			kdri_block_set(gram, i, j, kdri_block_get(gram, i, j) * scale[i] * scale[j]);
		for (int64_t j = 0; j < i && gauss; j++) {
			double gap = square[i] + square[j] - 2 * kdri_block_get(gram, i, j);
			kdri_block_set(gram, i, j, exp(-factor * KDRI_MAX(0.0, gap)));
		}
		kdri_block_set(gram, i, i, gauss || square[i] > 0);
	}
	kdri_block_mirror(ctx, gram);
done:
	kdri_free(ctx, square);
	kdri_free(ctx, scale);
	return st;
}

/* --- relatedness -------------------------------------------------------------------------------------- */

/* (E1) */
static double find_eps(kdr_context *ctx, const kdri_pool *pool, int64_t t, int64_t neighbours, double *room,
                       double *column)
{
	int64_t begin = pool->begin[t], n = kdri_pool_size(pool, t), place = KDRI_MAX(0, n - 1 - neighbours);
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic, 16)
	for (int64_t i = 0; i < n; i++) {
		double *row = room + kdri_thread() * n;
		kdri_block_read(&pool->v, begin + i, begin, n, row);
		column[i] = kdri_nth(row, n, place);
	}
	return kdri_median(column, n);
}

/* (E2) */
static double find_alpha(kdr_context *ctx, const kdri_pool *pool, int64_t t, int64_t s, double eps)
{
	int64_t n = kdri_pool_size(pool, t), m = kdri_pool_size(pool, s), count = 0;
	double least = eps - tolerance;
#pragma omp parallel for num_threads(ctx->threads) schedule(static) reduction(+ : count)
	for (int64_t i = 0; i < n; i++) {
		kdri_block row = kdri_block_part(&pool->v, pool->begin[t] + i, pool->begin[s], 1, m);
		count += kdri_row_count_from(&row, least);
	}
	return (double)count / ((double)n * (double)m);
}

kdr_status kdri_relate(kdr_context *ctx, const kdri_pool *pool, const int64_t *neighbours, double *eps,
                       double *alpha)
{
	kdr_status st;
	double *room = NULL, *column = NULL;
	int64_t longest = 0, size;
	for (int64_t t = 0; t < pool->ntasks; t++)
		longest = KDRI_MAX(longest, kdri_pool_size(pool, t));
	KDRI_TRY(kdri_mul(ctx, longest, ctx->threads, &size));
	KDRI_TRY(KDRI_NEW(ctx, &room, size));
	KDRI_TRY(KDRI_NEW(ctx, &column, longest));
	for (int64_t t = 0; t < pool->ntasks; t++) {
		eps[t] = find_eps(ctx, pool, t, neighbours[t], room, column);
		for (int64_t s = 0; s < pool->ntasks; s++)
			alpha[t * pool->ntasks + s] = find_alpha(ctx, pool, t, s, eps[t]);
	}
done:
	kdri_free(ctx, room);
	kdri_free(ctx, column);
	return st;
}

/* --- weights of neighbours ---------------------------------------------------------------------------- */

/* What (E5), the solution of (E4), needs of one row of distances. */
typedef struct scale {
	double least, bound; /* B_2, B_{l+2} */
	bool tied;           /* they are equal */
} scale;

/* `room` (n) is scratch. */
static scale find_scale(const double *a, int64_t n, int64_t self, int64_t neighbours, double tie,
                        double *room)
{
	int64_t others = self < 0 ? n : n - 1;
	memcpy(room, a, (size_t)n * sizeof *a);
	if (self >= 0)
		room[self] = INFINITY;
	scale s = { .least = kdri_least(room, n) };
	s.bound = kdri_nth(room, n, KDRI_MIN(neighbours, others - 1));
	s.tied = s.bound - s.least <= tie;
	return s;
}

/* (E5) for all of a row; how many weights are not 0. */
KDRI_KERNEL
static int64_t fill_weights(const double *a, int64_t n, double least, double bound, double *weight)
{
	int64_t count = 0;
	double range = bound - least;
#pragma omp simd reduction(+ : count)
	for (int64_t j = 0; j < n; j++) {
		double v = (bound - a[j]) / range;
		weight[j] = v > 0 ? v : 0;
		count += v > 0;
	}
	return count;
}

static int64_t use_scale(const scale *s, const double *a, int64_t n, int64_t self, double tie, double *weight)
{
	int64_t count = 0;
	if (!s->tied)
		count = fill_weights(a, n, s->least, s->bound, weight);
	for (int64_t j = 0; j < n && s->tied; j++) {
		weight[j] = a[j] <= s->bound + tie;
		count += weight[j] > 0;
	}
	if (self >= 0) {
		count -= weight[self] > 0;
		weight[self] = 0;
	}
	return count;
}

int64_t kdri_consistent_weights(const double *a, int64_t n, int64_t self, int64_t neighbours, double tie,
                                double *room, double *weight)
{
	scale s = find_scale(a, n, self, neighbours, tie, room);
	return use_scale(&s, a, n, self, tie, weight);
}

/* Rows of distances at work, a block at a time. */
typedef struct work {
	kdr_context *ctx;
	const kdri_pool *pool;
	int64_t task, n, neighbours, block;
	const double *alpha;
	kdri_block c;  /* n x n, or block x n */
	double *norm;  /* n: D */
	double *room;  /* threads x 3 n */
	scale *scales; /* block */
	int64_t *rowptr;
	int32_t *col;
	double *val;
} work;

/* D, from the same numbers as C. */
static void consistent_find_norms(work *w)
{
	const kdri_pool *p = w->pool;
#pragma omp parallel for num_threads(w->ctx->threads) schedule(static)
	for (int64_t i = 0; i < w->n; i++) {
		w->norm[i] = 0;
		for (int64_t s = 0; s < p->ntasks; s++) {
			int64_t m = kdri_pool_size(p, s);
			kdri_block row = kdri_block_part(&p->v, p->begin[w->task] + i, p->begin[s], 1, m);
			w->norm[i] += w->alpha[s] * kdri_row_squares(&row);
		}
	}
}

/* Rows begin .. begin + rows - 1 of C, at the top of w->c; all at once by symmetry. */
static kdr_status fill_c(work *w, int64_t begin, int64_t rows)
{
	kdr_status st = KDR_OK;
	const kdri_pool *p = w->pool;
	int64_t first = p->begin[w->task];
	kdri_block to = kdri_block_part(&w->c, 0, 0, rows, w->n);
	for (int64_t s = 0; s < p->ntasks; s++) {
		int64_t m = kdri_pool_size(p, s);
		kdri_block all = kdri_block_part(&p->v, first, p->begin[s], w->n, m);
		kdri_block part = kdri_block_part(&p->v, first + begin, p->begin[s], rows, m);
		if (rows == w->n)
			KDRI_TRY(kdri_block_syrk(w->ctx, false, w->alpha[s], &all, s > 0, &to));
		else
			KDRI_TRY(kdri_block_gemm(w->ctx, false, true, w->alpha[s], &part, &all, s > 0, &to));
	}
	if (rows == w->n)
		kdri_block_mirror(w->ctx, &to);
done:
	return st;
}

/* (E3): a = own + norm - 2 c. */
KDRI_KERNEL
static void find_distances(const double *norm, double own, int64_t n, double *a)
{
	for (int64_t j = 0; j < n; j++) {
		double v = own + norm[j] - 2 * a[j];
		a[j] = v > 0 ? v : 0;
	}
}

/* Weights of sample i's neighbours into this thread's room, from row r of w->c; how many there are. Where the
 * row's scale is not `known` it is found. */
static int64_t weigh(const work *w, int64_t i, int64_t r, bool known, double **weight)
{
	double *a = w->room + kdri_thread() * 3 * w->n, *room = a + w->n;
	double tie = (w->c.floats ? 2e-6 : 1e-12) * w->norm[i];
	*weight = room + w->n;
	kdri_block_read(&w->c, r, 0, w->n, a);
	find_distances(w->norm, w->norm[i], w->n, a);
	if (!known)
		w->scales[r] = find_scale(a, w->n, i, w->neighbours, tie, room);
	return use_scale(&w->scales[r], a, w->n, i, tie, *weight);
}

/* Rows begin.. of the sparse matrix: counted, then room made, then filled. */
static kdr_status use_block(work *w, int64_t begin, int64_t rows)
{
	kdr_status st;
	KDRI_TRY(fill_c(w, begin, rows));
#pragma omp parallel for num_threads(w->ctx->threads) schedule(dynamic, 16)
	for (int64_t r = 0; r < rows; r++) {
		double *weight;
		w->rowptr[begin + r + 1] = weigh(w, begin + r, r, false, &weight);
	}
	for (int64_t i = begin; i < begin + rows; i++)
		w->rowptr[i + 1] += w->rowptr[i];
	KDRI_TRY(KDRI_GROW(w->ctx, &w->col, w->rowptr[begin + rows]));
	KDRI_TRY(KDRI_GROW(w->ctx, &w->val, w->rowptr[begin + rows]));
#pragma omp parallel for num_threads(w->ctx->threads) schedule(dynamic, 16)
	for (int64_t r = 0; r < rows; r++) {
		double *weight;
		int64_t at = w->rowptr[begin + r];
		weigh(w, begin + r, r, true, &weight);
		for (int64_t j = 0; j < w->n; j++)
			if (weight[j] > 0) {
				w->col[at] = (int32_t)j;
				w->val[at++] = weight[j];
			}
	}
done:
	return st;
}

/* (E6): a and its transpose b, merged. */
static kdr_status symmetrise(kdr_context *ctx, const kdr_csr *a, const kdr_csr *b, kdri_own *out)
{
	kdr_status st;
	int64_t n = a->rows, at = 0, *rowptr = NULL;
	int32_t *col = NULL;
	double *val = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &rowptr, n + 1));
	KDRI_TRY(KDRI_NEW(ctx, &col, 2 * a->rowptr[n]));
	KDRI_TRY(KDRI_NEW(ctx, &val, 2 * a->rowptr[n]));
	rowptr[0] = 0;
	for (int64_t i = 0; i < n; i++) {
		int64_t p = a->rowptr[i], s = b->rowptr[i];
		while (p < a->rowptr[i + 1] || s < b->rowptr[i + 1]) {
			int32_t ca = p < a->rowptr[i + 1] ? a->col[p] : INT32_MAX;
			int32_t cb = s < b->rowptr[i + 1] ? b->col[s] : INT32_MAX;
			col[at] = KDRI_MIN(ca, cb);
			val[at++] = ((ca <= cb ? a->val[p++] : 0) + (cb <= ca ? b->val[s++] : 0)) / 2;
		}
		rowptr[i + 1] = at;
	}
	*out = kdri_own_csr(n, n, &rowptr, &col, &val);
done:
	kdri_free(ctx, rowptr);
	kdri_free(ctx, col);
	kdri_free(ctx, val);
	return st;
}

void kdri_consistent_free(kdr_context *ctx, kdri_consistent *c)
{
	kdri_own_free(ctx, &c->sharp);
	kdri_own_free(ctx, &c->m);
}

kdr_status kdri_consistent_of(kdr_context *ctx, int64_t n, int64_t *rowptr, int32_t *col, double *val,
                              kdri_consistent *out)
{
	kdr_status st;
	kdr_mat sharp = kdr_mat_from_csr(n, n, rowptr, col, val);
	kdri_own turned = { .view = kdr_mat_from_dense(NULL, 0, 0) }, m = turned;
	KDRI_TRY(kdri_mat_transpose(ctx, &sharp, &turned));
	KDRI_TRY(symmetrise(ctx, &sharp.as.csr, &turned.view.as.csr, &m));
	*out = (kdri_consistent){ .sharp = { sharp, { rowptr, col, val } }, .m = m };
done:
	kdri_own_free(ctx, &turned);
	return st;
}

kdr_status kdri_consistent_new(kdr_context *ctx, const kdri_pool *pool, int64_t task, const double *alpha,
                               int64_t neighbours, int64_t most, kdri_consistent *out)
{
	kdr_status st;
	int64_t n = kdri_pool_size(pool, task), size = pool->v.floats ? 4 : 8, room;
	work w = { .ctx = ctx, .pool = pool, .task = task, .n = n, .alpha = alpha, .neighbours = neighbours };
	w.block = KDRI_MIN(n, KDRI_MAX(1, most / (size * n)));
	KDRI_TRY(kdri_mul(ctx, 3 * n, ctx->threads, &room));
	KDRI_TRY(kdri_block_new(ctx, w.block, n, pool->v.floats, &w.c));
	KDRI_TRY(KDRI_NEW(ctx, &w.norm, n));
	KDRI_TRY(KDRI_NEW(ctx, &w.room, room));
	KDRI_TRY(KDRI_NEW(ctx, &w.scales, w.block));
	KDRI_TRY(KDRI_NEW0(ctx, &w.rowptr, n + 1));
	consistent_find_norms(&w);
	for (int64_t i = 0; i < n; i += w.block)
		KDRI_TRY(use_block(&w, i, KDRI_MIN(w.block, n - i)));
	KDRI_TRY(kdri_consistent_of(ctx, n, w.rowptr, w.col, w.val, out));
	w.rowptr = NULL;
	w.col = NULL;
	w.val = NULL;
done:
	kdri_block_free(ctx, &w.c);
	kdri_free(ctx, w.norm);
	kdri_free(ctx, w.room);
	kdri_free(ctx, w.scales);
	kdri_free(ctx, w.rowptr);
	kdri_free(ctx, w.col);
	kdri_free(ctx, w.val);
	return st;
}
