/* Equal samples and tiny components of a neighbour graph. SPDX-License-Identifier: BSD-3-Clause
 *
 * Copies of a sample are nearest to each other: with more of them than a sample has neighbours, they are a component of the graph,
 * and so are near copies. A normalised cut then separates these components first, before any other structure.
 * Neighbours are therefore searched among samples that differ, and
 *
 *   (E1)  w_ij = 0.01 d_j / c_j   for each of the c_j further samples i that equal sample j, d_j the sum of j's other edges
 *   (E2)  w_ij = d_i              for a sample i of a component of less than n / (10 k) samples and the nearest sample j
 *                                 outside of such components
 *
 * Both only add edges from one sample to one other. With (E1), rows of eigenvectors of equal samples have nearly the same direction;
 * callers give equal samples the same cluster. */
#include "engine/graph/repair.h"

#include "engine/graph/similarity.h"
#include "engine/graph/spectral.h"

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
	return exact ? kdri_knn_find_shifted(ctx, x, k, metric, shift, out)
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
		                    : equal_share * degree[first[i]] / (double)count[first[i]]; /* (E1) */
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
		weight[small[a]] = degree[small[a]]; /* (E2) */
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
