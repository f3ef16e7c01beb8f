/* Similarity graphs. SPDX-License-Identifier: BSD-3-Clause
 *
 *   (E1)  w_ij = max(<x_i, x_j> / (|x_i| |x_j|), 0)
 *   (E2)  w_ij = exp(-|x_i - x_j|^2 / (2 sigma^2)),  |x_i - x_j|^2 = |x_i|^2 + |x_j|^2 - 2 <x_i, x_j>
 *   (E3)  sigma_0 = mean of |x_i - x_j| over i < j, the middle of the grid in [GZ09, section V-C]
 *
 * On a neighbour graph the distances of (E2) come from differences (knn.c); on a full one from products,
 * clipped at 0. */
/* Equal samples and tiny components of a neighbour graph.
 *
 * Copies of a sample are nearest to each other: with more of them than a sample has neighbours, they are a component of the graph,
 * and so are near copies. A normalised cut then separates these components first, before any other structure.
 * Neighbours are therefore searched among samples that differ, and
 *
 *   (E4)  w_ij = 0.01 d_j / c_j   for each of the c_j further samples i that equal sample j, d_j the sum of j's other edges
 *   (E5)  w_ij = d_i              for a sample i of a component of less than n / (10 k) samples and the nearest sample j
 *                                 outside of such components
 *
 * Both only add edges from one sample to one other. With (E4), rows of eigenvectors of equal samples have nearly the same direction;
 * callers give equal samples the same cluster. */
#include "engine/graph/similarity.h"
#include "api/method.h"
#include "engine/graph/spectrum.h"
#include "matrix/linalg.h"

static const double equal_share = 0.01, least_part = 0.1;

/* Rows of x, and the vector that is subtracted before computing cosines. */
typedef struct part {
	kdri_own x;
	kdri_knn_shift shift;
} part;

static void part_free(kdr_context *ctx, part *p)
{
	kdri_own_free(ctx, &p->x);
	kdri_knn_shift_free(ctx, &p->shift);
}

static kdr_status part_take(kdr_context *ctx, const kdr_mat *x, const kdri_knn_shift *shift,
                            const int64_t *rows, int64_t count, part *out)
{
	KDRI_DO(kdri_mat_take(ctx, x, rows, count, &out->x));
	if (!shift)
		return KDR_OK;
	out->shift.square = shift->square;
	KDRI_DO(KDRI_NEW(ctx, &out->shift.products, count));
	for (int64_t a = 0; a < count; a++)
		out->shift.products[a] = shift->products[rows[a]];
	return KDR_OK;
}

/* --- equal samples ----------------------------------------------------------------------------------------- */

static kdr_status search_lists(kdr_context *ctx, const kdr_mat *x, int64_t k, kdri_metric metric,
                               const kdri_knn_shift *shift, bool exact, kdri_knn *out, int64_t *candidates)
{
	*candidates = kdr_mat_rows(x);
	return exact ? kdri_knn_find(ctx, x, k, metric, shift, out)
	             : kdri_knn_search(ctx, x, k, metric, shift, out, candidates);
}

kdr_status kdri_knn_search_once(kdr_context *ctx, const kdr_mat *x, const int64_t *first, int64_t k,
                                kdri_metric metric, const kdri_knn_shift *shift, bool exact, kdri_knn *out,
                                int64_t *candidates)
{
	kdr_status st;
	int64_t n = kdr_mat_rows(x), m = 0, size, *rows = NULL;
	part some = { .x.view = kdr_mat_from_dense(NULL, 0, 0) };
	kdri_knn found = { 0 }, all = { .rows = n };
	if (!first) {
		st = search_lists(ctx, x, KDRI_MIN(k, n - 1), metric, shift, exact, out, candidates);
		*candidates = *candidates == n ? 0 : *candidates;
		return st;
	}
	KDRI_TRY(KDRI_NEW(ctx, &rows, n));
	for (int64_t i = 0; i < n; i++)
		if (first[i] == i)
			rows[m++] = i;
	KDRI_TRY(part_take(ctx, x, shift, rows, m, &some));
	KDRI_TRY(search_lists(ctx, &some.x.view, KDRI_MIN(k, m - 1), metric, shift ? &some.shift : NULL,
	                      exact, &found, candidates));
	*candidates = *candidates == m ? 0 : *candidates;
	all.k = found.k;
	KDRI_TRY(kdri_mul(ctx, n, all.k, &size));
	KDRI_TRY(KDRI_NEW(ctx, &all.index, size));
	KDRI_TRY(KDRI_NEW0(ctx, &all.value, size));
	for (int64_t p = 0; p < size; p++)
		all.index[p] = -1;
	for (int64_t p = 0; p < m * all.k; p++) {
		const int64_t to = rows[p / all.k] * all.k + p % all.k;
		all.index[to] = found.index[p] < 0 ? -1 : (int32_t)rows[found.index[p]];
		all.value[to] = found.value[p];
	}
	*out = all;
	all = (kdri_knn){ 0 };
done:
	part_free(ctx, &some);
	kdri_knn_free(ctx, &found);
	kdri_knn_free(ctx, &all);
	kdri_free(ctx, rows);
	return st;
}

/* --- more edges ---------------------------------------------------------------------------------------------- */

kdr_status kdri_graph_sum(kdr_context *ctx, const kdr_csr *w1, double a, const kdr_csr *w2, double b,
                          kdri_own *out)
{
	kdr_status st;
	int64_t n = w1->rows, at = 0, *rowptr = NULL;
	int32_t *col = NULL;
	double *val = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &rowptr, n + 1));
	KDRI_TRY(KDRI_NEW(ctx, &col, w1->rowptr[n] + w2->rowptr[n]));
	KDRI_TRY(KDRI_NEW(ctx, &val, w1->rowptr[n] + w2->rowptr[n]));
	rowptr[0] = 0;
	for (int64_t i = 0; i < n; i++) {
		int64_t p = w1->rowptr[i], q = w2->rowptr[i];
		while (p < w1->rowptr[i + 1] || q < w2->rowptr[i + 1]) {
			bool left =
			        p < w1->rowptr[i + 1] && (q >= w2->rowptr[i + 1] || w1->col[p] <= w2->col[q]);
			bool right =
			        q < w2->rowptr[i + 1] && (p >= w1->rowptr[i + 1] || w2->col[q] <= w1->col[p]);
			col[at] = left ? w1->col[p] : w2->col[q];
			val[at++] = (left ? a * w1->val[p] : 0) + (right ? b * w2->val[q] : 0);
			p += left;
			q += right;
		}
		rowptr[i + 1] = at;
	}
	*out = kdri_own_csr(n, w1->cols, &rowptr, &col, &val);
done:
	KDRI_FREE(ctx, rowptr, col, val);
	return st;
}

/* An edge from each sample to the one neighbour in its list, if that is not -1; values are weights. */
static kdr_status add_edges(kdr_context *ctx, const kdri_knn *lists, kdri_own *graph)
{
	kdr_status st;
	kdri_own more = { .view = kdr_mat_from_dense(NULL, 0, 0) }, sum = more;
	KDRI_TRY(kdri_knn_graph(ctx, lists, lists->value, &more));
	KDRI_TRY(kdri_graph_sum(ctx, &graph->view.as.csr, 1, &more.view.as.csr, 1, &sum));
	kdri_own_free(ctx, graph);
	*graph = sum;
done:
	kdri_own_free(ctx, &more);
	return st;
}

static kdr_status tie_equal(kdr_context *ctx, const int64_t *first, kdri_own *graph)
{
	kdr_status st;
	int64_t n = kdr_mat_rows(&graph->view), *count = NULL;
	int32_t *to = NULL;
	double *degree = NULL, *weight = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &count, n));
	KDRI_TRY(KDRI_NEW(ctx, &to, n));
	KDRI_TRY(KDRI_NEW(ctx, &degree, n));
	KDRI_TRY(KDRI_NEW(ctx, &weight, n));
	KDRI_TRY(kdri_graph_degrees(ctx, &graph->view, degree));
	for (int64_t i = 0; i < n; i++)
		count[first[i]] += first[i] != i;
	for (int64_t i = 0; i < n; i++) {
		to[i] = first[i] == i ? -1 : (int32_t)first[i];
		weight[i] = first[i] == i
		                    ? 0
		                    : equal_share * degree[first[i]] / (double)count[first[i]]; /* (E4) */
	}
	const kdri_knn lists = { .rows = kdr_mat_rows(&graph->view), .k = 1, .index = to, .value = weight };
	KDRI_TRY(add_edges(ctx, &lists, graph));
done:
	KDRI_FREE(ctx, count, to, degree, weight);
	return st;
}

kdr_status kdri_knn_graph_once(kdr_context *ctx, const kdri_knn *knn, const double *weight,
                               const int64_t *first, kdri_own *out)
{
	kdr_status st;
	kdri_own graph = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	KDRI_TRY(kdri_knn_graph(ctx, knn, weight, &graph));
	if (first)
		KDRI_TRY(tie_equal(ctx, first, &graph));
	*out = graph;
	graph = (kdri_own){ .view = kdr_mat_from_dense(NULL, 0, 0) };
done:
	kdri_own_free(ctx, &graph);
	return st;
}

/* --- tiny components ------------------------------------------------------------------------------------------ */

/* Samples in components of less than n / (10 k), and all others; samples without edges are in neither list. */
static kdr_status divide(kdr_context *ctx, const kdr_mat *w, const double *degree, const int64_t *first,
                         int64_t k, int64_t *small, int64_t *nsmall, int64_t *large, int64_t *nlarge,
                         int64_t *joined)
{
	kdr_status st;
	int64_t n = kdr_mat_rows(w), *of = NULL, *size = NULL, count;
	KDRI_TRY(KDRI_NEW(ctx, &of, n));
	KDRI_TRY(KDRI_NEW0(ctx, &size, n));
	KDRI_TRY(kdri_components(ctx, w, of, &count));
	for (int64_t i = 0; i < n; i++)
		size[of[i]]++;
	for (int64_t i = 0; i < n; i++) {
		const bool is_small = (double)(k * size[of[i]]) < least_part * (double)n;
		if (degree[i] <= 0 || (first && first[i] != i))
			continue;
		if (is_small)
			small[(*nsmall)++] = i;
		else
			large[(*nlarge)++] = i;
	}
	*joined = 0;
	for (int64_t a = 0; a < *nsmall; a++) { /* each is counted at its first sample */
		*joined += size[of[small[a]]] > 0;
		size[of[small[a]]] = 0;
	}
done:
	KDRI_FREE(ctx, of, size);
	return st;
}

kdr_status kdri_graph_join_small(kdr_context *ctx, const kdr_mat *x, const int64_t *first, int64_t k,
                                 kdri_metric metric, const kdri_knn_shift *shift, kdri_own *graph,
                                 int64_t *joined)
{
	kdr_status st;
	int64_t n = kdr_mat_rows(x), *small = NULL, *large = NULL, nsmall = 0, nlarge = 0;
	int32_t *to = NULL;
	double *degree = NULL, *weight = NULL;
	part from = { .x.view = kdr_mat_from_dense(NULL, 0, 0) }, others = from;
	kdri_knn nearest = { 0 };
	KDRI_TRY(KDRI_NEW(ctx, &small, n));
	KDRI_TRY(KDRI_NEW(ctx, &large, n));
	KDRI_TRY(KDRI_NEW(ctx, &degree, n));
	KDRI_TRY(kdri_graph_degrees(ctx, &graph->view, degree));
	KDRI_TRY(divide(ctx, &graph->view, degree, first, k, small, &nsmall, large, &nlarge, joined));
	if (nsmall == 0 || nlarge == 0) {
		*joined = 0;
		goto done;
	}
	KDRI_TRY(KDRI_NEW(ctx, &to, n));
	KDRI_TRY(KDRI_NEW0(ctx, &weight, n));
	KDRI_TRY(part_take(ctx, x, shift, small, nsmall, &from));
	KDRI_TRY(part_take(ctx, x, shift, large, nlarge, &others));
	KDRI_TRY(kdri_knn_among(ctx, &from.x.view, shift ? &from.shift : NULL, &others.x.view,
	                        shift ? &others.shift : NULL, 1, metric, &nearest));
	for (int64_t i = 0; i < n; i++)
		to[i] = -1;
	for (int64_t a = 0; a < nsmall; a++) {
		if (nearest.index[a] < 0 || (metric == KDRI_METRIC_COSINE && !(nearest.value[a] > 0)))
			continue;
		to[small[a]] = (int32_t)large[nearest.index[a]];
		weight[small[a]] = degree[small[a]]; /* (E5) */
	}
	const kdri_knn lists = { .rows = kdr_mat_rows(&graph->view), .k = 1, .index = to, .value = weight };
	KDRI_TRY(add_edges(ctx, &lists, graph));
done:
	kdri_knn_free(ctx, &nearest);
	part_free(ctx, &from);
	part_free(ctx, &others);
	KDRI_FREE(ctx, small, large, to, degree, weight);
	return st;
}

enum { MOST_FOR_MEAN = 2000 };

const char *const kdri_similarity_names[] = { "cosine", "gauss", NULL };
const char *const kdri_graph_names[] = { "cosine", "gauss", "precomputed", NULL };

kdri_graph_options kdri_graph_options_of(const kdr_options *options)
{
	return (kdri_graph_options){ .similarity = (kdri_similarity)kdri_opt_choice(options, "similarity"),
		                     .sigma = kdri_opt_real(options, "sigma"),
		                     .neighbors = kdri_opt_int(options, "neighbors") };
}

/* --- all pairs ---------------------------------------------------------------------------------- */

typedef struct pairs {
	int64_t n;
	const double *norms; /* squared */
	double *w;
	double scale; /* 1 / (2 sigma^2) */
} pairs;

static void cosine_piece(void *user, int64_t row, int64_t col, int64_t cols, const double *piece)
{
	const pairs *p = user;
	for (int64_t c = 0; c < cols; c++) {
		double lengths = sqrt(p->norms[row]) * sqrt(p->norms[col + c]);
		double v = lengths > 0 && col + c != row ? piece[c] / lengths : 0; /* (E1) */
		p->w[row * p->n + col + c] = KDRI_MAX(v, 0);
	}
}

static double squared_distance(const pairs *p, int64_t i, int64_t j, double product)
{
	return KDRI_MAX(p->norms[i] + p->norms[j] - 2 * product, 0);
}

static void gauss_piece(void *user, int64_t row, int64_t col, int64_t cols, const double *piece)
{
	const pairs *p = user;
	for (int64_t c = 0; c < cols; c++) {
		double d = squared_distance(p, row, col + c, piece[c]);
		p->w[row * p->n + col + c] = col + c == row ? 0 : exp(-d * p->scale); /* (E2) */
	}
}

static kdr_status all_pairs(kdr_context *ctx, const kdr_mat *x, pairs *p, kdri_tile_fn *use)
{
	kdr_status st;
	kdri_products products = { 0 };
	double *norms = NULL;
	p->n = kdr_mat_rows(x);
	KDRI_TRY(KDRI_NEW(ctx, &norms, p->n));
	KDRI_TRY(kdri_mat_row_norms(ctx, x, norms));
	p->norms = norms;
	KDRI_TRY(kdri_products_new(ctx, x, &products));
	KDRI_TRY(kdri_products_rows(ctx, &products, 0, p->n, use, p));
done:
	kdri_products_free(ctx, &products);
	kdri_free(ctx, norms);
	return st;
}

/* From the lower triangle: the products of (i, j) and (j, i) may differ in the last bit. */
static void make_symmetric(kdr_context *ctx, int64_t n, double *w)
{
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic, 64) if (n > 256)
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = i + 1; j < n; j++)
			w[i * n + j] = w[j * n + i];
}

/* All similarities, into w (n x n). */
static kdr_status similarity_dense(kdr_context *ctx, const kdr_mat *x, kdri_similarity similarity,
                                   double sigma, double *w)
{
	pairs p = { .w = w, .scale = 1 / (2 * sigma * sigma) };
	kdr_status st =
	        all_pairs(ctx, x, &p, similarity == KDRI_SIMILARITY_COSINE ? cosine_piece : gauss_piece);
	if (st == KDR_OK)
		make_symmetric(ctx, p.n, w);
	return st;
}

static void distance_piece(void *user, int64_t row, int64_t col, int64_t cols, const double *piece)
{
	const pairs *p = user;
	for (int64_t c = 0; c < cols && col + c < row; c++)
		p->w[row] += sqrt(squared_distance(p, row, col + c, piece[c]));
}

kdr_status kdri_mean_distance(kdr_context *ctx, const kdr_mat *x, double *out)
{
	kdr_status st = KDR_OK;
	int64_t n = kdr_mat_rows(x), used = KDRI_MIN(n, MOST_FOR_MEAN), *rows = NULL;
	double total = 0;
	pairs p = { 0 };
	kdri_own sample = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	KDRI_TRY(KDRI_NEW(ctx, &rows, used));
	KDRI_TRY(KDRI_NEW0(ctx, &p.w, used));
	if (used < n) { /* selection sampling: all sets of rows are equally likely, in increasing order */
		kdri_rng rng = kdri_rng_stream(ctx->seed, "mean distance", 0);
		for (int64_t i = 0, have = 0; have < used; i++)
			if (kdri_rng_below(&rng, n - i) < used - have)
				rows[have++] = i;
		KDRI_TRY(kdri_mat_take(ctx, x, rows, used, &sample));
	}
	KDRI_TRY(all_pairs(ctx, used < n ? &sample.view : x, &p, distance_piece));
	for (int64_t i = 0; i < used; i++)
		total += p.w[i];
	*out = used > 1 ? total / (0.5 * (double)used * (double)(used - 1)) : 0; /* (E3) */
done:
	kdri_own_free(ctx, &sample);
	KDRI_FREE(ctx, rows, p.w);
	return st;
}

/* --- graphs --------------------------------------------------------------------------------------- */

static kdr_status full_graph(kdr_context *ctx, const kdr_mat *x, kdri_similarity similarity, kdri_graph *g)
{
	kdr_status st;
	double *w = NULL;
	int64_t n = kdr_mat_rows(x), size;
	KDRI_TRY(kdri_mul(ctx, n, n, &size));
	KDRI_TRY(KDRI_NEW(ctx, &w, size));
	KDRI_TRY(similarity_dense(ctx, x, similarity, g->sigma, w));
	g->w = (kdri_own){ kdr_mat_from_dense(w, n, n), { w, NULL, NULL } };
	w = NULL;
done:
	kdri_free(ctx, w);
	return st;
}

static kdr_status neighbour_graph(kdr_context *ctx, const kdr_mat *x, const kdri_graph_options *options,
                                  kdri_graph *g)
{
	kdr_status st;
	kdri_knn knn = { 0 };
	bool gauss = options->similarity == KDRI_SIMILARITY_GAUSS;
	KDRI_TRY(kdri_knn_search_once(ctx, x, options->first, options->neighbors,
	                              gauss ? KDRI_METRIC_EUCLIDEAN : KDRI_METRIC_COSINE, NULL, false, &knn,
	                              &g->candidates));
	for (int64_t p = 0; gauss && p < knn.rows * knn.k; p++)
		knn.value[p] = exp(-knn.value[p] / (2 * g->sigma * g->sigma)); /* (E2) */
	KDRI_TRY(kdri_knn_graph_once(ctx, &knn, knn.value, options->first, &g->w));
done:
	kdri_knn_free(ctx, &knn);
	return st;
}

/* Entry (i, j) of a sparse matrix; 0 where none is stored. */
static double similarity_entry(const kdr_csr *a, int64_t i, int64_t j)
{
	int64_t low = a->rowptr[i], high = a->rowptr[i + 1];
	while (low < high) {
		int64_t middle = low + (high - low) / 2;
		if (a->col[middle] < j)
			low = middle + 1;
		else
			high = middle;
	}
	return low < a->rowptr[i + 1] && a->col[low] == j ? a->val[low] : 0;
}

/* Whether x can be W: square, symmetric, nothing below 0 and nothing on the diagonal. */
static kdr_status check_graph(kdr_context *ctx, const kdr_mat *x)
{
	int64_t n = kdr_mat_rows(x);
	bool dense = x->kind == KDR_MAT_DENSE;
	if (kdr_mat_cols(x) != n)
		return kdri_fail(
		        ctx, KDR_ERR_DATA,
		        "similarity=precomputed needs a square matrix, but the data have %lld x %lld entries",
		        (long long)n, (long long)kdr_mat_cols(x));
	for (int64_t i = 0; i < n; i++) {
		kdri_entries row = kdri_row_entries(x, i);
		for (int64_t p = 0; p < row.count; p++) {
			int64_t j = kdri_entry_column(&row, p);
			double back = dense ? x->as.dense.data[j * x->as.dense.stride + i]
			                    : similarity_entry(&x->as.csr, j, i);
			if (row.val[p] < 0 || row.val[p] != back || (i == j && row.val[p] != 0))
				return kdri_fail(
				        ctx, KDR_ERR_DATA,
				        "similarity=precomputed: row %lld, column %lld is %g, but a symmetric matrix of numbers >= 0 with a zero diagonal is needed",
				        (long long)i + 1, (long long)j + 1, row.val[p]);
		}
	}
	return KDR_OK;
}

kdr_status kdri_graph_new(kdr_context *ctx, const kdr_mat *x, const kdri_graph_options *options,
                          kdri_graph *out)
{
	kdri_graph g = { .w.view = kdr_mat_from_dense(NULL, 0, 0) };
	if (options->similarity == KDRI_SIMILARITY_PRECOMPUTED) {
		KDRI_DO(check_graph(ctx, x));
		*out = (kdri_graph){ .w.view = *x };
		return KDR_OK;
	}
	if (options->similarity == KDRI_SIMILARITY_GAUSS) {
		g.sigma = options->sigma;
		if (g.sigma == 0)
			KDRI_DO(kdri_mean_distance(ctx, x, &g.sigma));
		if (g.sigma == 0) /* all samples are equal: any width makes all weights 1 */
			g.sigma = 1;
	}
	if (options->neighbors == 0)
		KDRI_DO(full_graph(ctx, x, options->similarity, &g));
	else
		KDRI_DO(neighbour_graph(ctx, x, options, &g));
	*out = g;
	return KDR_OK;
}

void kdri_graph_free(kdr_context *ctx, kdri_graph *graph)
{
	if (!graph)
		return;
	kdri_own_free(ctx, &graph->w);
	graph->sigma = 0;
}
