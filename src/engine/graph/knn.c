/* Nearest neighbours by scanning all products. SPDX-License-Identifier: BSD-3-Clause
 *
 * A row i ranks all others by a score that grows with nearness,
 *
 *   (E1)  cosine:     s_ij = <x_i, x_j> / (|x_i| |x_j|)
 *   (E2)  Euclidean:  s_ij = <x_i, x_j> - |x_j|^2 / 2 = (|x_i|^2 - |x_i - x_j|^2) / 2
 *   (E4)  less m:     s_ij = (<x_i, x_j> - <x_i, m> - <x_j, m> + |m|^2) / (|x_i - m| |x_j - m|)
 *
 * and keeps the k best in a sorted list (knn_scan.c).
 *
 * Ties. Products of equal rows may differ in the last bits, because they are computed in different places of a tile.
 * Scores are therefore rounded to a grid of 2^-GRID of the largest possible one, so that rounding errors decide no
 * tie: the lower index wins. The mean of dense rows is subtracted first in (E2), so that a common offset does not use
 * up the grid. The reported values are recomputed for the selected pairs, as
 *
 *   (E3)  <x_i / |x_i|, x_j / |x_j|>  or  sum_t (x_it - x_jt)^2,
 *
 * to full precision and with the same bits for (i, j) and (j, i).
 *
 * The candidates may be other rows than the queries (kdri_knn_among): x_j is then y_j above. Queries may be on several
 * ranks, candidates are on all of them; nothing in (E1) to (E4) depends on the distribution of the rows. */
#include "engine/graph/knn.h"
#include "comm/comm.h"

enum { GRID = 42 };

typedef struct search {
	const kdr_mat *x, *y; /* queries and candidates */
	int64_t k;
	kdri_metric metric;
	const double *factor;                 /* cosine: 1 / |y_j|, 0 for a row of zeros; else |y_j|^2 / 2 */
	const double *shift;                  /* (E4): <y_j, m>, or NULL */
	const double *own_factor, *own_shift; /* the same of x */
	double square;                        /* |m|^2 */
	int32_t *index;
	double *score; /* n x k, best first */
	double *wide;  /* sparse rows by cosine: a row of zeros for each thread, or NULL */
} search;

/* --- the values of the pairs selected (E3) ---------------------------------------------------- */

/* wide: row i times its factor, spread out, or NULL. */
static double pair_value(const search *q, int64_t i, int64_t j, const double *wide)
{
	bool cosine = q->metric == KDRI_METRIC_COSINE;
	const kdr_mat *x = q->x, *y = q->y;
	double fi = cosine ? q->own_factor[i] : 1, fj = cosine ? q->factor[j] : 1, sum = 0;
	if (q->shift) /* (E4) */
		sum = (q->square - (q->own_shift[i] + q->shift[j])) * (fi * fj);
	if (x->kind == KDR_MAT_DENSE) {
		const double *a = x->as.dense.data + i * x->as.dense.stride;
		const double *b = y->as.dense.data + j * y->as.dense.stride;
		for (int64_t t = 0; t < x->as.dense.cols; t++)
			sum += cosine ? (a[t] * fi) * (b[t] * fj) : (a[t] - b[t]) * (a[t] - b[t]);
		return sum;
	}
	const kdr_csr *p = &x->as.csr, *r = &y->as.csr;
	/* What only one of them has adds a zero: the same bits as below. */
	for (int64_t e = r->rowptr[j]; wide && e < r->rowptr[j + 1]; e++)
		sum += wide[r->col[e]] * (r->val[e] * fj);
	if (wide)
		return sum;
	int64_t a = p->rowptr[i], b = r->rowptr[j], enda = p->rowptr[i + 1], endb = r->rowptr[j + 1];
	while (a < enda || b < endb) {
		int32_t ca = a < enda ? p->col[a] : INT32_MAX, cb = b < endb ? r->col[b] : INT32_MAX;
		double va = ca <= cb ? p->val[a++] * fi : 0, vb = cb <= ca ? r->val[b++] * fj : 0;
		sum += cosine ? va * vb : (va - vb) * (va - vb);
	}
	return sum;
}

/* Row i times its factor in the thread's row of zeros, or zeros again. */
static const double *spread_row(const search *q, int64_t i, bool clear)
{
	if (!q->wide)
		return NULL;
	const kdr_csr *m = &q->x->as.csr;
	double *wide = q->wide + kdri_thread() * m->cols;
	for (int64_t p = m->rowptr[i]; p < m->rowptr[i + 1]; p++)
		wide[m->col[p]] = clear ? 0 : m->val[p] * q->own_factor[i];
	return wide;
}

/* Values instead of scores, sorted anew: the grid is coarser than they are. */
static void finish_row(const search *q, int64_t i)
{
	int32_t *index = q->index + i * q->k;
	double *value = q->score + i * q->k;
	double sign = q->metric == KDRI_METRIC_COSINE ? -1 : 1;
	const double *wide = spread_row(q, i, false);
	for (int64_t p = 0; p < q->k; p++) {
		int32_t j = index[p];
		double v = sign * pair_value(q, i, j, wide);
		int64_t at = p;
		for (; at > 0 && (value[at - 1] > v || (value[at - 1] == v && index[at - 1] > j)); at--) {
			value[at] = value[at - 1];
			index[at] = index[at - 1];
		}
		value[at] = v;
		index[at] = j;
	}
	for (int64_t p = 0; p < q->k; p++)
		value[p] *= sign;
	(void)spread_row(q, i, true);
}

/* --- the search --------------------------------------------------------------------------------- */

/* The rows minus the mean of y's rows for distances of dense rows; otherwise x itself. */
static kdr_status knn_centre(kdr_context *ctx, const kdr_mat *x, const kdr_mat *y, kdri_metric metric,
                             double **storage, kdr_mat *out)
{
	kdr_status st = KDR_OK;
	double *copy = NULL, *mean = NULL;
	int64_t n = kdr_mat_rows(x), d = kdr_mat_cols(x), of = kdr_mat_rows(y), size;
	*out = *x;
	if (metric == KDRI_METRIC_COSINE || x->kind != KDR_MAT_DENSE)
		return KDR_OK;
	KDRI_TRY(kdri_mul(ctx, n, d, &size));
	KDRI_TRY(KDRI_NEW(ctx, &copy, size));
	KDRI_TRY(KDRI_NEW(ctx, &mean, d));
	KDRI_TRY(kdri_mat_col_sums(ctx, y, mean));
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (n > KDRI_BLOCK)
	for (int64_t i = 0; i < n; i++)
		for (int64_t t = 0; t < d; t++)
			copy[i * d + t] = x->as.dense.data[i * x->as.dense.stride + t] - mean[t] / (double)of;
	*out = kdr_mat_from_dense(copy, n, d);
	*storage = copy;
	copy = NULL;
done:
	KDRI_FREE(ctx, copy, mean);
	return st;
}

kdr_status kdri_knn_shift_new(kdr_context *ctx, const kdr_mat *x, const double *mean, kdri_knn_shift *out)
{
	kdr_status st;
	double *products = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &products, kdr_mat_rows(x)));
	KDRI_TRY(kdri_mat_mul(ctx, x, mean, 1, 1, products, 1));
	*out = (kdri_knn_shift){ products, kdri_nrm2sq(mean, kdr_mat_cols(x)) };
	products = NULL;
done:
	kdri_free(ctx, products);
	return st;
}

void kdri_knn_shift_free(kdr_context *ctx, kdri_knn_shift *shift)
{
	kdri_free(ctx, shift->products);
	*shift = (kdri_knn_shift){ 0 };
}

/* The value of each row that the scores need, from its squared norm, minus m if given; a norm within rounding is
 * zero. *largest: of the squared norms, if distances are compared. */
static kdr_status factors_of(kdr_context *ctx, const kdr_mat *rows, kdri_metric metric, const double *shift,
                             double square, double *factor, double *largest)
{
	const int64_t n = kdr_mat_rows(rows);
	KDRI_DO(kdri_mat_row_norms(ctx, rows, factor));
	for (int64_t i = 0; i < n && shift; i++) {
		double left = factor[i] - 2 * shift[i] + square;
		factor[i] = left > 1e-14 * (factor[i] + square) ? left : 0;
	}
	double most = *largest;
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) reduction(max \
                                                                                : most) if (n > KDRI_BLOCK)
	for (int64_t i = 0; i < n; i++)
		if (metric == KDRI_METRIC_COSINE) {
			factor[i] = factor[i] > 0 ? 1 / sqrt(factor[i]) : 0;
		} else {
			most = KDRI_MAX(most, factor[i]);
			factor[i] /= 2;
		}
	*largest = most;
	return KDR_OK;
}

/* A grid for scores up to `largest`. */
static double magic_of(double largest)
{
	int exponent = 0;
	if (largest > 0)
		(void)frexp(largest, &exponent);
	return ldexp(1.5, exponent + 52 - GRID);
}

/* Rows begin to end of x, which have their lists: (E3). */
static void knn_finish(kdr_context *ctx, const void *user, int64_t begin, int64_t end)
{
	const search *q = user;
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic, 64)
	for (int64_t i = begin; i < end; i++)
		finish_row(q, i);
}

/* Of `q` x, y, k, metric and the shifts are set. `ranks`: x is a part of the rows, and all ranks search together. */
static kdr_status knn_find(kdr_context *ctx, search q, bool ranks, kdri_knn *out)
{
	kdr_status st;
	const bool cosine = q.metric == KDRI_METRIC_COSINE, same = q.x == q.y;
	int64_t n = kdr_mat_rows(q.x), m = kdr_mat_rows(q.y), turns = n, done = 0, size, *held = NULL;
	double *factor = NULL, *own = NULL, *held_x = NULL, *held_y = NULL, largest = cosine;
	kdri_own lists = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	kdr_mat queries, candidates;
	KDRI_TRY(kdri_mul(ctx, n, q.k, &size));
	KDRI_TRY(KDRI_NEW(ctx, &q.index, size));
	KDRI_TRY(KDRI_NEW0(ctx, &q.score, size));
	KDRI_TRY(KDRI_NEW0(ctx, &held, n));
	KDRI_TRY(KDRI_NEW(ctx, &factor, m));
	KDRI_TRY(knn_centre(ctx, q.y, q.y, q.metric, &held_y, &candidates));
	KDRI_TRY(factors_of(ctx, &candidates, q.metric, q.shift, q.square, factor, &largest));
	q.factor = q.own_factor = factor;
	queries = candidates;
	if (!same) {
		KDRI_TRY(KDRI_NEW(ctx, &own, n));
		KDRI_TRY(knn_centre(ctx, q.x, q.y, q.metric, &held_x, &queries));
		KDRI_TRY(factors_of(ctx, &queries, q.metric, q.own_shift, q.square, own, &largest));
		q.own_factor = own;
	}
	if (candidates.kind == KDR_MAT_CSR)
		KDRI_TRY(kdri_mat_transpose(ctx, &candidates, &lists));
	if (ranks) { /* one grid and the same number of rounds on all ranks, so that they stop together */
		KDRI_TRY(kdri_max(ctx, &largest, 1));
		KDRI_TRY(kdri_max_int(ctx, &turns, 1));
	}
	/* Not where these rows would be more than the data. */
	if (same && q.x->kind == KDR_MAT_CSR && cosine &&
	    (double)kdr_mat_cols(q.x) * ctx->threads <= (double)kdr_mat_nnz(q.x))
		KDRI_TRY(KDRI_NEW0(ctx, &q.wide, kdr_mat_cols(q.x) * ctx->threads));
	const kdri_knn_scan scan = { .queries = same ? &candidates : &queries,
		                     .candidates = &candidates,
		                     .lists = &lists.view.as.csr,
		                     .nn = { .score = !cosine   ? KDRI_NN_EUCLIDEAN /* (E2) */
		                                      : q.shift ? KDRI_NN_SHIFTED   /* (E4) */
		                                                : KDRI_NN_COSINE,   /* (E1) */
		                             .magic = magic_of(largest),
		                             .square = q.square,
		                             .k = q.k,
		                             .factor = q.factor,
		                             .shift = q.shift,
		                             .own_factor = q.own_factor,
		                             .own_shift = q.own_shift,
		                             .index = q.index,
		                             .best = q.score,
		                             .held = held },
		                     .turns = turns,
		                     .finish = knn_finish,
		                     .user = &q };
	KDRI_TRY(kdri_knn_scan_rows(ctx, &scan, same && !ranks, &done));
	for (int64_t p = KDRI_MIN(n, done) * q.k; p < size; p++)
		q.index[p] = -1;
	*out = (kdri_knn){ n, q.k, q.index, q.score };
	q.index = NULL;
	q.score = NULL;
done:
	kdri_own_free(ctx, &lists);
	KDRI_FREE(ctx, q.index, q.score, held, q.wide, factor, own, held_x, held_y);
	return st;
}

kdr_status kdri_knn_find(kdr_context *ctx, const kdr_mat *x, int64_t k, kdri_metric metric,
                         const kdri_knn_shift *shift, kdri_knn *out)
{
	int64_t n = kdr_mat_rows(x);
	search q = { .x = x, .y = x, .k = k, .metric = metric };
	if (shift) {
		q.shift = q.own_shift = shift->products;
		q.square = shift->square;
	}
	if (k < 0 || k >= n || n > INT32_MAX)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "cannot find %lld neighbours of %lld samples; use 0 to %lld", (long long)k,
		                 (long long)n, (long long)n - 1);
	if (metric == KDRI_METRIC_EUCLIDEAN && k > 0 && kdri_knn_tree_pays(x))
		return kdri_knn_tree(ctx, x, k, out);
	return knn_find(ctx, q, false, out);
}

kdr_status kdri_knn_among(kdr_context *ctx, const kdr_mat *x, const kdri_knn_shift *shift_x, const kdr_mat *y,
                          const kdri_knn_shift *shift_y, int64_t k, kdri_metric metric, kdri_knn *out)
{
	int64_t rows = kdr_mat_rows(y), most = rows - (x == y);
	search q = { .x = x, .y = y, .k = k, .metric = metric };
	if (k < 0 || k > most || rows > INT32_MAX)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "cannot find %lld neighbours among %lld samples; use 0 to %lld",
		                 (long long)k, (long long)rows, (long long)most);
	if (shift_x) {
		q.own_shift = shift_x->products;
		q.shift = shift_y->products;
		q.square = shift_y->square;
	}
	return knn_find(ctx, q, true, out);
}

void kdri_knn_free(kdr_context *ctx, kdri_knn *knn)
{
	if (!knn)
		return;
	KDRI_FREE(ctx, knn->index, knn->value);
	*knn = (kdri_knn){ 0 };
}

/* The symmetric graph of neighbour lists.
 *
 * Row i of W merges two sorted lists: the neighbours of i, and the rows that have i as a neighbour. The cost is
 * linear in the number of edges, apart from sorting each list of k, and small compared with finding them. */

typedef struct edge {
	int32_t to;
	double weight;
} edge;

static bool is_edge(const kdri_knn *knn, const double *weight, int64_t p)
{
	return knn->index[p] >= 0 && weight[p] > 0;
}

/* i's own edges in increasing order; returns how many. */
static int64_t own_edges(const kdri_knn *knn, const double *weight, int64_t i, edge *list)
{
	int64_t count = 0;
	for (int64_t p = i * knn->k; p < (i + 1) * knn->k; p++) {
		int64_t at = count;
		if (!is_edge(knn, weight, p))
			continue;
		for (; at > 0 && list[at - 1].to > knn->index[p]; at--)
			list[at] = list[at - 1];
		list[at] = (edge){ knn->index[p], weight[p] };
		count++;
	}
	return count;
}

/* Merges a and b, both increasing, the larger weight where both have an edge; returns how many. With `col`
 * NULL it only counts. */
static int64_t merge(const edge *a, int64_t na, const edge *b, int64_t nb, int32_t *col, double *val)
{
	int64_t count = 0, p = 0, q = 0;
	for (; p < na || q < nb; count++) {
		bool from_a = p < na && (q >= nb || a[p].to <= b[q].to);
		bool from_b = q < nb && (p >= na || b[q].to <= a[p].to);
		if (col) {
			col[count] = from_a ? a[p].to : b[q].to;
			val[count] = KDRI_MAX(from_a ? a[p].weight : 0, from_b ? b[q].weight : 0);
		}
		p += from_a;
		q += from_b;
	}
	return count;
}

kdr_status kdri_knn_graph(kdr_context *ctx, const kdri_knn *knn, const double *weight, kdri_own *out)
{
	kdr_status st;
	int64_t n = knn->rows, size = n * knn->k, *start = NULL, *rowptr = NULL;
	edge *back = NULL, *list = NULL;
	int32_t *col = NULL;
	double *val = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &start, n + 2));
	KDRI_TRY(KDRI_NEW(ctx, &back, size));
	KDRI_TRY(KDRI_NEW(ctx, &list, knn->k));
	KDRI_TRY(KDRI_NEW(ctx, &rowptr, n + 1));
	/* Edges by their end, those with the same end in increasing order of their beginning: a counting sort. During
	 * the sort, start[j + 1] is the position of the next edge to j. */
	for (int64_t p = 0; p < size; p++)
		if (is_edge(knn, weight, p))
			start[knn->index[p] + 2]++;
	for (int64_t i = 0; i < n; i++)
		start[i + 2] += start[i + 1];
	for (int64_t p = 0; p < size; p++)
		if (is_edge(knn, weight, p))
			back[start[knn->index[p] + 1]++] = (edge){ (int32_t)(p / knn->k), weight[p] };
	rowptr[0] = 0;
	for (int64_t i = 0; i < n; i++)
		rowptr[i + 1] = rowptr[i] + merge(list, own_edges(knn, weight, i, list), back + start[i],
		                                  start[i + 1] - start[i], NULL, NULL);
	KDRI_TRY(KDRI_NEW(ctx, &col, rowptr[n]));
	KDRI_TRY(KDRI_NEW(ctx, &val, rowptr[n]));
	for (int64_t i = 0; i < n; i++)
		merge(list, own_edges(knn, weight, i, list), back + start[i], start[i + 1] - start[i],
		      col + rowptr[i], val + rowptr[i]);
	*out = kdri_own_csr(n, n, &rowptr, &col, &val);
done:
	KDRI_FREE(ctx, start, back, list, rowptr, col, val);
	return st;
}
