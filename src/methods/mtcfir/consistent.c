/* Consistent similarity of a task's samples. SPDX-License-Identifier: BSD-3-Clause
 *
 * Two samples i, j of task t are similar if they are similar to the same samples of all tasks. With V^{ts} the
 * similarities of task t's samples to those of task s, l neighbours, and B the distances A_1j, .., A_nj in
 * increasing order (B_1 = A_jj = 0):
 *
 *   (E1)  eps^t = median over the columns of V^{tt} of the (l + 1)-th largest entry            [ZZL19, sec. 3.4]
 *   (E2)  alpha_s^t = fraction of the entries of V^{ts} that are >= eps^t                         [ZZL19, eq. 20]
 *   (E3)  A_ij = sum_s alpha_s |V_i^{ts} - V_j^{ts}|^2 = D_i + D_j - 2 C_ij,
 *         C = sum_s alpha_s V^{ts} V^{ts}',   D = diag(C)                                      [ZZL19, eq. 9]
 *   (E4)  column j of M = argmin over the simplex, m_j = 0, of sum_i A_ij m_i + beta |m|^2,
 *         beta such that just l entries are positive                                           [ZZL19, eqs. 9-19]
 *   (E5)  M_ij = (B_{l+2} - A_ij) / (B_{l+2} - B_2) where positive                  after scaling to maximum 1
 *   (E6)  M <- (M + M') / 2                                                                    [ZZL19, sec. 3.5]
 *   (E7)  MMD^2(t, s) = m_tt + m_ss - 2 m_ts, m_ts = mean of k(x, y) over x in t, y in s       [Gretton et al., NIPS 2006]
 *
 * DEVIATION: the sample itself is excluded from (E4); otherwise it would get most of the weight (0.83 of it on the
 * golden data). If B_2 = B_{l+2}, beta is 0 and all samples at that distance get weight 1.
 *
 * C is one symmetric product for each pair of tasks; if n x n numbers are more than the caller or the device allows,
 * blocks of rows are computed and used one after the other. M has about 2 l entries per row.
 *
 * V and C are on a device, which also computes the limits and weights of (E5) (matrix/rows.c); M is on the
 * host. */
/* k-means through the Gram matrix.
 *
 * With K = Z Z' the squared distance of sample i to the mean of cluster c is
 *
 *   (E8)  K_ii - 2 S_ic / n_c + T_c / n_c^2,   S_ic = sum_{j in c} K_ij,   T_c = sum_{i in c} S_ic
 *
 * so Z itself, which may have many times as many columns as there are samples, is not needed. S is built by one pass
 * over K (n^2 additions) and then follows the samples that move, n additions each: later iterations, where few move, are
 * nearly free. S is double whatever K is. It is kept by clusters: K being symmetric, sample j adds its row of K to the
 * row of its cluster. K and S are on a device; vectors of the size of the labels are on the host.
 *
 * The start is k-means++ with greedy trials, as in kmeanspp.c; ties go to the lowest index; an emptied cluster takes the
 * sample farthest from its centre. */
#include "matrix/linalg.h"
#include "methods/mtcfir/mtcfir.h"

enum { CANDIDATES = 48 };

typedef struct run {
	kdr_context *ctx;
	kdri_device *dev;
	kdri_block gram;
	int64_t n, k;
	kdri_block sums;         /* k x n: S transposed */
	double *diagonal;        /* n */
	double *own;             /* n: S of each sample and its own cluster */
	double *self;            /* k: T */
	double *away;            /* n: the distance to the sample's own centre */
	double *size;            /* k */
	int32_t *label, *next;   /* n */
	double *nearest, *trial; /* n, n x CANDIDATES: of the start */
	double *row;             /* n: a row of K */
} run;

/* --- the start ---------------------------------------------------------------------------------------- */

static int64_t gram_kmeans_draw(const double *weight, int64_t n, double total, kdri_rng *rng)
{
	double left = kdri_rng_uniform(rng) * total;
	int64_t last = 0;
	for (int64_t i = 0; i < n; i++) {
		if (weight[i] <= 0)
			continue;
		last = i;
		if (left < weight[i])
			break;
		left -= weight[i];
	}
	return last;
}

/* Labels of the nearest of k seeds; fewer distinct samples than k leave the last clusters empty. */
static kdr_status gram_kmeans_seed(run *r, kdri_rng *rng)
{
	bool single = r->gram.single;
	int64_t n = r->n, trials = 2 + (int64_t)log((double)r->k);
	double total = 0;
	for (int64_t i = 0; i < n; i++) {
		r->nearest[i] = INFINITY;
		r->label[i] = 0;
	}
	for (int64_t c = 0; c < r->k && (c == 0 || total > 0); c++) {
		int64_t count = c ? trials : 1, best = 0;
		double least = INFINITY;
		for (int64_t q = 0; q < count; q++) {
			int64_t s = c ? gram_kmeans_draw(r->nearest, n, total, rng) : kdri_rng_below(rng, n);
			double sum = 0, *trial = r->trial + q * n;
			/* By symmetry the row holds column s, and lies together. */
			KDRI_DO(kdri_block_fetch(r->ctx, kdri_block_part(r->gram, s, 0, 1, n), r->row, n));
			for (int64_t i = 0; i < n; i++) {
				double gap = r->diagonal[i] + r->diagonal[s] - 2 * r->row[i];
				/* What rounding leaves between equal samples is no distance. */
				double noise = (single ? 4e-6 : 1e-14) * (r->diagonal[i] + r->diagonal[s]);
				trial[i] = gap <= noise ? 0 : KDRI_MIN(gap, r->nearest[i]);
				trial[i] = KDRI_MIN(trial[i], r->nearest[i]);
				sum += trial[i];
			}
			if (sum < least) {
				least = sum;
				best = q;
			}
		}
		const double *taken = r->trial + best * n;
		for (int64_t i = 0; i < n; i++)
			if (taken[i] < r->nearest[i]) {
				r->nearest[i] = taken[i];
				r->label[i] = (int32_t)c;
			}
		total = least;
	}
	return KDR_OK;
}

/* --- the iterations ----------------------------------------------------------------------------------- */

/* Clusters that `next` leaves empty take the sample farthest from its centre, if any is away from it. */
static void gram_kmeans_fill_empty(run *r)
{
	memset(r->size, 0, (size_t)r->k * sizeof *r->size);
	for (int64_t i = 0; i < r->n; i++)
		r->size[r->next[i]]++;
	for (int64_t c = 0; c < r->k; c++) {
		int64_t far = -1;
		for (int64_t i = 0; i < r->n && r->size[c] == 0; i++)
			if (r->size[r->next[i]] > 1 && r->away[i] > (far < 0 ? 0 : r->away[far]))
				far = i;
		if (far < 0)
			continue;
		r->size[r->next[far]]--;
		r->next[far] = (int32_t)c;
		r->away[far] = 0;
		r->size[c] = 1;
	}
}

static kdr_status gram_kmeans_iterate(run *r, int64_t max_iter)
{
	KDRI_DO_OP(r->ctx, r->dev, group_rows, r->gram, r->label, NULL, r->sums);
	for (int64_t it = 0; it < max_iter; it++) {
		int64_t count = 0;
		/* n_c and T_c, by samples in their order. */
		KDRI_DO_OP(r->ctx, r->dev, group_own, r->sums, r->label, r->own);
		memset(r->size, 0, (size_t)r->k * sizeof *r->size);
		memset(r->self, 0, (size_t)r->k * sizeof *r->self);
		for (int64_t i = 0; i < r->n; i++) {
			r->size[r->label[i]]++;
			r->self[r->label[i]] += r->own[i];
		}
		KDRI_DO_OP(r->ctx, r->dev, group_closest, r->sums, r->diagonal, r->size, r->self, r->next,
		           r->away); /* (E8) */
		gram_kmeans_fill_empty(r);
		for (int64_t i = 0; i < r->n; i++)
			count += r->next[i] != r->label[i];
		if (count == 0)
			break;
		/* Where many samples move, S is built anew. */
		KDRI_DO_OP(r->ctx, r->dev, group_rows, r->gram, r->next, count < r->n / 4 ? r->label : NULL,
		           r->sums);
		memcpy(r->label, r->next, (size_t)r->n * sizeof *r->label);
	}
	return KDR_OK;
}

kdr_status kdri_gram_kmeans(kdr_context *ctx, kdri_block gram, int64_t k, int64_t max_iter, uint64_t stream,
                            int64_t *labels)
{
	kdr_status st;
	int64_t n = gram.rows;
	run r = { .ctx = ctx, .dev = gram.dev, .gram = gram, .n = n, .k = k };
	kdri_rng rng = kdri_rng_stream(ctx->seed, "gram kmeans", stream);
	KDRI_TRY(kdri_block_new(ctx, r.dev, k, n, false, &r.sums));
	KDRI_TRY(KDRI_NEW(ctx, &r.diagonal, n));
	KDRI_TRY(KDRI_NEW(ctx, &r.own, n));
	KDRI_TRY(KDRI_NEW(ctx, &r.self, k));
	KDRI_TRY(KDRI_NEW(ctx, &r.away, n));
	KDRI_TRY(KDRI_NEW(ctx, &r.size, k));
	KDRI_TRY(KDRI_NEW(ctx, &r.label, n));
	KDRI_TRY(KDRI_NEW(ctx, &r.next, n));
	KDRI_TRY(KDRI_NEW(ctx, &r.nearest, n));
	KDRI_TRY(KDRI_NEW(ctx, &r.trial, n * KDRI_MIN(CANDIDATES, 2 + (int64_t)log((double)k))));
	KDRI_TRY(KDRI_NEW(ctx, &r.row, n));
	KDRI_TRY(kdri_block_diagonal(ctx, gram, r.diagonal));
	KDRI_TRY(gram_kmeans_seed(&r, &rng));
	KDRI_TRY(gram_kmeans_iterate(&r, max_iter));
	for (int64_t i = 0; i < n; i++)
		labels[i] = r.label[i];
done:
	kdri_block_free(ctx, &r.sums);
	KDRI_FREE(ctx, r.diagonal, r.own, r.self, r.away, r.size, r.label, r.next, r.nearest, r.trial, r.row);
	return st;
}

static const double tolerance = 1e-12; /* of (E2) */

/* --- similarities from a Gram matrix ------------------------------------------------------------------ */

enum { MEDIAN_ROWS = 1000 };

kdr_status kdri_gram_median(kdr_context *ctx, kdri_block gram, double *out)
{
	kdr_status st;
	double *some = NULL, *square = NULL;
	int64_t n = gram.rows, m = KDRI_MIN(n, MEDIAN_ROWS), count = 0, *index = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &index, m));
	KDRI_TRY(KDRI_NEW(ctx, &square, m));
	KDRI_TRY(KDRI_NEW(ctx, &some, m * m));
	for (int64_t a = 0; a < m; a++)
		index[a] = a * n / m;
	KDRI_OP(ctx, gram.dev, take, gram, index, m, some);
	for (int64_t a = 0; a < m; a++)
		square[a] = some[a * m + a];
	/* The distances replace the products, which are never read after their place is taken. */
	for (int64_t a = 0; a < m; a++)
		for (int64_t b = 0; b < a; b++)
			some[count++] = KDRI_MAX(0.0, square[a] + square[b] - 2 * some[a * m + b]);
	*out = count ? sqrt(kdri_median(some, count)) : 0;
done:
	KDRI_FREE(ctx, index, square, some);
	return st;
}

kdr_status kdri_gram_similarity(kdr_context *ctx, kdri_block gram, kdri_similarity similarity, double sigma)
{
	kdr_status st;
	double *square = NULL, factor = sigma > 0 ? 1 / (2 * sigma * sigma) : 0;
	KDRI_TRY(KDRI_NEW(ctx, &square, gram.rows));
	KDRI_TRY(kdri_block_diagonal(ctx, gram, square));
	KDRI_OP(ctx, gram.dev, similarity, gram, square, similarity == KDRI_SIMILARITY_GAUSS ? factor : -1);
done:
	kdri_free(ctx, square);
	return st;
}

/* --- discrepancy of tasks --------------------------------------------------------------------------------- */

kdr_status kdri_gram_mmd(kdr_context *ctx, kdri_block gram, const int64_t *begin, int64_t ntasks,
                         double sigma, double *out)
{
	kdr_status st;
	double *sums = NULL, *square = NULL, factor = sigma > 0 ? 1 / (2 * sigma * sigma) : 0;
	KDRI_TRY(KDRI_NEW0(ctx, &sums, ntasks * ntasks));
	KDRI_TRY(KDRI_NEW(ctx, &square, begin[ntasks]));
	KDRI_TRY(kdri_block_diagonal(ctx, gram, square));
	KDRI_OP(ctx, gram.dev, kernel_sums, gram, square, begin, ntasks, factor, sums);
	for (int64_t t = 0; t < ntasks; t++)
		for (int64_t s = 0; s <= t; s++)
			sums[t * ntasks + s] /=
			        (double)(begin[t + 1] - begin[t]) * (double)(begin[s + 1] - begin[s]);
	for (int64_t t = 0; t < ntasks; t++)
		for (int64_t s = 0; s <= t; s++) {
			double v = sums[t * ntasks + t] + sums[s * ntasks + s] - 2 * sums[t * ntasks + s];
			out[t * ntasks + s] = out[s * ntasks + t] = s == t ? 0 : KDRI_MAX(v, 0); /* (E7) */
		}
done:
	KDRI_FREE(ctx, sums, square);
	return st;
}

/* --- relatedness -------------------------------------------------------------------------------------- */

kdr_status kdri_relate(kdr_context *ctx, const kdri_pool *pool, const int64_t *neighbours, double *eps,
                       double *alpha)
{
	kdr_status st;
	double *column = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &column, pool->begin[pool->ntasks]));
	for (int64_t t = 0; t < pool->ntasks; t++) {
		int64_t n = kdri_pool_size(pool, t), place = KDRI_MAX(0, n - 1 - neighbours[t]);
		KDRI_OP(ctx, pool->v.dev, row_nth, kdri_pool_pair(pool, t, t), place, column);
		eps[t] = kdri_median(column, n); /* (E1) */
		for (int64_t s = 0; s < pool->ntasks; s++) {
			int64_t m = kdri_pool_size(pool, s), count = 0;
			KDRI_OP(ctx, pool->v.dev, count_from, kdri_pool_pair(pool, t, s), eps[t] - tolerance,
			        &count); /* (E2) */
			alpha[t * pool->ntasks + s] = (double)count / ((double)n * (double)m);
		}
	}
done:
	kdri_free(ctx, column);
	return st;
}

/* --- weights of neighbours ---------------------------------------------------------------------------- */

/* Rows of distances at work, a block at a time. */
typedef struct work {
	kdr_context *ctx;
	const kdri_pool *pool;
	kdri_device *dev;
	int64_t task, n, neighbours, block;
	const double *alpha;
	kdri_block c;           /* block x n */
	double *norm, *squares; /* n: D; squares of the rows of one V^{ts} */
	double *least, *bound;  /* block: B_2, B_{l+2} of (E5) */
	int64_t *count;         /* block: neighbours of each row */
	int64_t *rowptr;
	int32_t *col;
	double *val;
} work;

/* Rows begin.. of the sparse matrix: counted, then room made, then filled. */
static kdr_status use_block(work *w, int64_t begin, int64_t rows)
{
	const double tie = kdri_consistent_tie(w->pool->v.single);
	kdri_block c = kdri_block_part(w->c, 0, 0, rows, w->n);
	/* Rows begin .. begin + rows - 1 of C of (E3); all at once by symmetry. */
	for (int64_t s = 0; s < w->pool->ntasks; s++) {
		kdri_block all = kdri_pool_pair(w->pool, w->task, s);
		if (c.rows == w->n)
			KDRI_DO_OP(w->ctx, w->dev, syrk, false, w->alpha[s], all, s > 0, c);
		else
			KDRI_DO_OP(w->ctx, w->dev, gemm, false, true, w->alpha[s],
			           kdri_block_part(all, begin, 0, c.rows, all.cols), all, s > 0, c);
	}
	if (c.rows == w->n)
		KDRI_DO_OP(w->ctx, w->dev, mirror, c);
	KDRI_DO_OP(w->ctx, w->dev, neighbour_limits, c, begin, w->norm, KDRI_MIN(w->neighbours, w->n - 2),
	           tie, w->least, w->bound, w->count); /* (E4) */
	for (int64_t r = 0; r < rows; r++)
		w->rowptr[begin + r + 1] = w->rowptr[begin + r] + w->count[r];
	KDRI_DO(KDRI_GROW(w->ctx, &w->col, w->rowptr[begin + rows]));
	KDRI_DO(KDRI_GROW(w->ctx, &w->val, w->rowptr[begin + rows]));
	KDRI_DO_OP(w->ctx, w->dev, neighbour_weights, c, begin, w->norm, tie, w->least, w->bound,
	           w->rowptr + begin, w->col, w->val); /* (E5) */
	return KDR_OK;
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
	KDRI_FREE(ctx, rowptr, col, val);
	return st;
}

void kdri_consistent_free(kdr_context *ctx, kdri_consistent *c)
{
	kdri_own_free(ctx, &c->sharp);
	kdri_own_free(ctx, &c->m);
}

/* Rows of a block: within `most` bytes on the processor, else within what the device has. */
static int64_t block_rows(const work *w, int64_t most)
{
	const int64_t size = w->pool->v.floats ? sizeof(float) : sizeof(double);
	if (kdri_is_cpu(w->dev))
		return KDRI_MIN(w->n, KDRI_MAX(1, most / (size * w->n)));
	double room = 0.6 * (double)w->dev->room(w->dev) - 32 * (double)w->n;
	double rows = room / (double)(size * kdri_stride(w->n));
	if (w->pool->v.single && rows < (double)w->n)
		rows /= 2; /* products of single sharpness take as much again */
	return (int64_t)KDRI_MAX(1, KDRI_MIN((double)w->n, rows));
}

kdr_status kdri_consistent_new(kdr_context *ctx, const kdri_pool *pool, int64_t task, const double *alpha,
                               int64_t neighbours, int64_t most, kdri_consistent *out)
{
	kdr_status st;
	int64_t n = kdri_pool_size(pool, task);
	kdri_own turned = { .view = kdr_mat_from_dense(NULL, 0, 0) }, m = turned;
	work w = { .ctx = ctx,
		   .pool = pool,
		   .dev = pool->v.dev,
		   .task = task,
		   .n = n,
		   .neighbours = neighbours,
		   .alpha = alpha };
	w.block = block_rows(&w, most);
	KDRI_TRY(kdri_block_new(ctx, w.dev, w.block, n, pool->v.single, &w.c));
	KDRI_TRY(KDRI_NEW(ctx, &w.norm, n));
	KDRI_TRY(KDRI_NEW(ctx, &w.squares, n));
	KDRI_TRY(KDRI_NEW(ctx, &w.least, w.block));
	KDRI_TRY(KDRI_NEW(ctx, &w.bound, w.block));
	KDRI_TRY(KDRI_NEW(ctx, &w.count, w.block));
	KDRI_TRY(KDRI_NEW0(ctx, &w.rowptr, n + 1));
	/* D, from the same numbers as C. */
	memset(w.norm, 0, (size_t)w.n * sizeof *w.norm);
	for (int64_t s = 0; s < w.pool->ntasks; s++) {
		KDRI_OP(w.ctx, w.dev, row_squares, kdri_pool_pair(w.pool, w.task, s), w.squares);
		for (int64_t i = 0; i < w.n; i++)
			w.norm[i] += w.alpha[s] * w.squares[i];
	}
	for (int64_t i = 0; i < n; i += w.block)
		KDRI_TRY(use_block(&w, i, KDRI_MIN(w.block, n - i)));
	const kdr_mat sharp = kdr_mat_from_csr(n, n, w.rowptr, w.col, w.val);
	KDRI_TRY(kdri_mat_transpose(ctx, &sharp, &turned));
	KDRI_TRY(symmetrise(ctx, &sharp.as.csr, &turned.view.as.csr, &m));
	*out = (kdri_consistent){ .sharp = kdri_own_csr(n, n, &w.rowptr, &w.col, &w.val), .m = m };
done:
	kdri_own_free(ctx, &turned);
	kdri_block_free(ctx, &w.c);
	KDRI_FREE(ctx, w.norm, w.squares, w.least, w.bound, w.count, w.rowptr, w.col, w.val);
	return st;
}
