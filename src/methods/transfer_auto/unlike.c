/* Which target samples differ from the source, and which a person should label. SPDX-License-Identifier: BSD-3-Clause
 *
 * With d(i, S) the mean of 1 - cos on E over the 5 rows of S nearest to target row i, other than i,
 *
 *   (E1)  s_i = min over classes k of d(i, source rows of class k) - d(i, target rows)
 *   (E2)  unlike_i = rank of ((D^-1 W)^2 s)_i, from 0 (most like the source) to 1
 *
 * W is the target's graph. S has at most 2048 rows in total, evenly spaced, so that time is linear in the samples of the target.
 *
 *   (E3)  Samples to label: by increasing margin P_i,answer - max over other classes of P_ik, P the mean posterior of the members, with
 *         at most 2 N / (number of clusters), rounded up, from each cluster of the target; then, if there are fewer than N, by margin alone.
 *
 * docs/labelling.md says what both were measured on. */
#include "methods/transfer_auto/unlike.h"

#include "engine/graph/knn.h"

#include <stdlib.h>

enum { NEIGHBOURS = 5, MOST_ROWS = 2048 };

typedef struct ranked {
	double value;
	int64_t row;
} ranked;

static int by_value(const void *a, const void *b)
{
	const ranked *x = a, *y = b;
	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

/* --- least like the source ------------------------------------------------------------------------------- */

/* Mean distance of each row of x from its nearest rows of y. first >= 0: row i of x is row `first + i` of the matrix that y's rows were
 * taken from, numbered by `rows`, and is not its own neighbour. Without neighbours it is 0. */
static kdr_status mean_distance(kdr_context *ctx, const kdr_mat *x, const kdr_mat *y, const int64_t *rows,
                                int64_t first, double *out)
{
	kdr_status st;
	kdri_knn knn = { 0 };
	const int64_t n = kdr_mat_rows(x), k = KDRI_MIN(NEIGHBOURS + (first >= 0 ? 1 : 0), kdr_mat_rows(y));
	KDRI_TRY(kdri_knn_among(ctx, x, NULL, y, NULL, k, KDRI_METRIC_COSINE, &knn));
#pragma omp parallel for num_threads(kdri_team(ctx)) if (n > KDRI_BLOCK)
	for (int64_t i = 0; i < n; i++) {
		double sum = 0;
		int64_t count = 0;
		for (int64_t p = 0; p < k && count < NEIGHBOURS; p++) {
			const int64_t j = knn.index[i * k + p];
			if (j < 0 || (first >= 0 && rows[j] == first + i))
				continue;
			sum += 1 - knn.value[i * k + p];
			count++;
		}
		out[i] = count > 0 ? sum / (double)count : 0;
	}
done:
	kdri_knn_free(ctx, &knn);
	return st;
}

/* Rows begin .. end - 1 whose label is `class` (-2: all), at most `share` of them, evenly spaced. */
static kdr_status choose_rows(kdr_context *ctx, const int64_t *labels, int64_t begin, int64_t end,
                              int64_t class, int64_t share, int64_t **rows, int64_t *count)
{
	int64_t all = 0;
	*rows = NULL;
	*count = 0;
	KDRI_DO(KDRI_NEW(ctx, rows, end - begin));
	for (int64_t i = begin; i < end; i++)
		if (class == -2 || labels[i] == class)
			(*rows)[all++] = i;
	*count = KDRI_MIN(all, share);
	for (int64_t i = 0; i < *count; i++)
		(*rows)[i] = (*rows)[i * all / *count];
	return KDR_OK;
}

static kdr_status distance_from(kdr_context *ctx, const kdr_mat *e, const kdr_mat *target,
                                const int64_t *labels, int64_t begin, int64_t end, int64_t class,
                                int64_t share, double *out, bool *found)
{
	kdr_status st;
	int64_t *rows = NULL, count;
	kdri_own part = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	KDRI_TRY(choose_rows(ctx, labels, begin, end, class, share, &rows, &count));
	*found = count > 0;
	if (count > 0) {
		KDRI_TRY(kdri_mat_take(ctx, e, rows, count, &part));
		KDRI_TRY(mean_distance(ctx, target, &part.view, rows, class == -2 ? begin : -1, out));
	}
done:
	kdri_own_free(ctx, &part);
	kdri_free(ctx, rows);
	return st;
}

/* (E1) */
kdr_status kdri_unlike_distances(kdr_context *ctx, const kdr_mat *e, int64_t first, const int64_t *labels,
                                 int64_t classes, double *out)
{
	kdr_status st;
	const int64_t n = kdr_mat_rows(e), rows = n - first;
	double *d = NULL;
	bool found;
	kdri_own target = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	KDRI_TRY(KDRI_NEW(ctx, &d, rows));
	KDRI_TRY(kdri_rows_own(ctx, e, first, n, &target));
	for (int64_t i = 0; i < rows; i++)
		out[i] = INFINITY;
	for (int64_t k = 0; k < classes; k++) {
		KDRI_TRY(distance_from(ctx, e, &target.view, labels, 0, first, k,
		                       KDRI_MAX(1, MOST_ROWS / classes), d, &found));
		for (int64_t i = 0; found && i < rows; i++)
			out[i] = KDRI_MIN(out[i], d[i]);
	}
	KDRI_TRY(distance_from(ctx, e, &target.view, labels, first, n, -2, MOST_ROWS, d, &found));
	for (int64_t i = 0; i < rows; i++)
		out[i] -= d[i];
done:
	kdri_own_free(ctx, &target);
	kdri_free(ctx, d);
	return st;
}

kdr_status kdri_unlike_ranks(kdr_context *ctx, double *values, int64_t n)
{
	kdr_status st;
	ranked *list = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &list, n));
	for (int64_t i = 0; i < n; i++)
		list[i] = (ranked){ values[i], i };
	qsort(list, (size_t)n, sizeof *list, by_value);
	for (int64_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && list[end].value == list[i].value; end++)
			;
		for (int64_t j = i; j < end; j++)
			values[list[j].row] = n > 1 ? (double)(i + end - 1) / 2 / (double)(n - 1) : 0;
	}
done:
	kdri_free(ctx, list);
	return st;
}

/* (D^-1 W)^2 s; a row without neighbours keeps its value. */
static kdr_status smooth(kdr_context *ctx, const kdri_transfer_graph *g, double *s, int64_t n)
{
	kdr_status st;
	double *ones = NULL, *degree = NULL, *sum = NULL;
	const kdri_op w = kdri_transfer_graph_op(g);
	KDRI_TRY(KDRI_NEW(ctx, &ones, n));
	KDRI_TRY(KDRI_NEW(ctx, &degree, n));
	KDRI_TRY(KDRI_NEW(ctx, &sum, n));
	for (int64_t i = 0; i < n; i++)
		ones[i] = 1;
	KDRI_TRY(w.apply(ctx, &w, ones, 1, 1, degree, 1));
	for (int step = 0; step < 2; step++) {
		KDRI_TRY(w.apply(ctx, &w, s, 1, 1, sum, 1));
		for (int64_t i = 0; i < n; i++)
			s[i] = degree[i] > 0 ? sum[i] / degree[i] : s[i];
	}
done:
	KDRI_FREE(ctx, ones, degree, sum);
	return st;
}

/* The finer of the clusterings that voted. */
static kdr_status keep_clusters(const kdri_transfer_tally *w, kdri_transfer_verdict *v)
{
	const int64_t z = w->clusterings - 1;
	if (z < 0)
		return KDR_OK;
	KDRI_DO(KDRI_NEW(w->ctx, &v->cluster, w->n));
	v->clusters = w->k[z];
	for (int64_t i = 0; i < w->n; i++)
		v->cluster[i] = w->clusters[z][i];
	return KDR_OK;
}

kdr_status kdri_transfer_unlike(kdri_transfer_tally *w, kdri_transfer_verdict *v)
{
	kdr_context *ctx = w->ctx;
	bool finite = true;
	KDRI_DO(keep_clusters(w, v));
	if (ctx->cancelled || ctx->timed_out)
		return KDR_OK;
	KDRI_DO(kdri_transfer_views_align(ctx, &w->v, false));
	const kdr_mat e = kdr_mat_from_dense(w->v.e, w->d.n, w->v.width);
	KDRI_DO(KDRI_NEW(ctx, &v->unlike, w->n));
	KDRI_DO(kdri_unlike_distances(ctx, &e, w->first, w->d.labels, w->c, v->unlike));
	KDRI_DO(smooth(ctx, &w->v.graph, v->unlike, w->n));
	for (int64_t i = 0; i < w->n; i++)
		finite = finite && isfinite(v->unlike[i]);
	if (!finite || ctx->cancelled || ctx->timed_out) {
		kdri_free(ctx, v->unlike);
		v->unlike = NULL;
		return KDR_OK;
	}
	KDRI_DO(kdri_unlike_ranks(ctx, v->unlike, w->n)); /* (E2) */
	return KDR_OK;
}

/* --- what to label next ---------------------------------------------------------------------------------- */

double kdri_ask_margin(const kdri_ask_problem *p, int64_t i)
{
	const double *row = p->posterior + i * p->classes;
	double other = 0;
	for (int64_t k = 0; k < p->classes; k++)
		other = k != p->answer[i] && row[k] > other ? row[k] : other;
	return row[p->answer[i]] - other;
}

/* (E3) */
kdr_status kdri_ask_choose(kdr_context *ctx, const kdri_ask_problem *p, int64_t count, int64_t *rows)
{
	kdr_status st;
	const int64_t clusters = p->cluster ? KDRI_MAX(p->clusters, 1) : 1,
	              most = (2 * count + clusters - 1) / clusters;
	int64_t *used = NULL, candidates = 0, chosen = 0;
	ranked *list = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &used, clusters));
	KDRI_TRY(KDRI_NEW(ctx, &list, p->n));
	for (int64_t i = 0; i < p->n; i++)
		if (!p->known || p->known[i] < 0)
			list[candidates++] = (ranked){ kdri_ask_margin(p, i), i };
	qsort(list, (size_t)candidates, sizeof *list, by_value);
	for (int pass = 0; pass < 2; pass++)
		for (int64_t c = 0; c < candidates && chosen < count; c++) {
			const int64_t row = list[c].row, z = p->cluster && row >= 0 ? p->cluster[row] : 0;
			if (row < 0 || (pass == 0 && used[z] >= most))
				continue;
			used[z]++;
			rows[chosen++] = row;
			list[c].row = -1;
		}
done:
	KDRI_FREE(ctx, used, list);
	return st;
}
