/* Similarity graphs. SPDX-License-Identifier: BSD-3-Clause
 *
 *   (E1)  w_ij = max(<x_i, x_j> / (|x_i| |x_j|), 0)
 *   (E2)  w_ij = exp(-|x_i - x_j|^2 / (2 sigma^2)),  |x_i - x_j|^2 = |x_i|^2 + |x_j|^2 - 2 <x_i, x_j>
 *   (E3)  sigma_0 = mean of |x_i - x_j| over i < j, the middle of the grid in [GZ09, section V-C]
 *
 * On a neighbour graph the distances of (E2) come from differences (knn.c); on a full one from products,
 * clipped at 0. */
#include "engine/graph/similarity.h"

#include "api/method.h"
#include "engine/graph/repair.h"
#include "matrix/products.h"

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

kdr_status kdri_similarity_dense(kdr_context *ctx, const kdr_mat *x, kdri_similarity similarity, double sigma,
                                 double *w)
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
	KDRI_TRY(kdri_similarity_dense(ctx, x, similarity, g->sigma, w));
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

kdr_status kdri_graph_degrees(kdr_context *ctx, const kdr_mat *w, double *degree)
{
	double *ones = NULL;
	int64_t n = kdr_mat_cols(w);
	kdr_status st = KDRI_NEW(ctx, &ones, n);
	for (int64_t i = 0; st == KDR_OK && i < n; i++)
		ones[i] = 1;
	if (st == KDR_OK)
		st = kdri_mat_mul(ctx, w, ones, 1, 1, degree, 1);
	kdri_free(ctx, ones);
	return st;
}
