/* The data as the members of an ensemble see them. SPDX-License-Identifier: BSD-3-Clause
 *
 *   (E1)  x_i <- x_i / |x_i|                                     rows, where the cosine compares them
 *   (E2)  cos_ij = <x_i - m, x_j - m> / (|x_i - m| |x_j - m|)    m: the task's mean, or 0 (knn.c)
 *   (E3)  w_ij = max(cos_ij, 1e-6) where one of both is among the other's nearest neighbours
 *   (E4)  w_ij = exp(-|x_i - x_j|^2 / (s_i s_j)), s_i = |x_i - its last neighbour|   [Zelnik-Manor, Perona 2004]
 *   (E6)  W = n W_1 / sum(W_1) + n W_2 / sum(W_2)                where the mean may or may not tell: both graphs
 *   (E5)  X_t - 1 m_t' = U S V', Y = U S                         leading directions of one task, or of all
 *
 * and in (E5) rows of Y to unit length, where the cosine compares. Nothing sparse is made dense: m is taken
 * away from products, and (E5) works on X and the means.
 *
 * What compares samples is chosen by the data where nobody says: the cosine, unless there are few features,
 * mostly not zero. Few measurements of things, such as heights and widths, tell as much by their size as by
 * their direction. The mean stays where most entries are zero and none is negative: counts of words and what
 * tf-idf makes of them. Elsewhere no rule tells whether it should: taking it away gains a little on images and costs much on
 * some counts of molecules (docs/auto.md), so there are two graphs, and the vote is on their sum (E6). */
#include "engine/graph/views.h"

#include "engine/graph/knn_tree.h"
#include "linalg/range.h"

enum { MOST_DIRECTIONS = 128, ROUNDS = 5, FEW_FEATURES = 64 };
/* Multiplications, by blocks and by lists. */
static const double most_dense = 2e12, most_sparse = 5e10;
static const double least_weight = 1e-6, sparse_share = 0.1, full_share = 0.25;

static kdri_own no_matrix(void)
{
	return (kdri_own){ .view = kdr_mat_from_dense(NULL, 0, 0) };
}

void kdri_views_free(kdr_context *ctx, kdri_views *v)
{
	for (int64_t t = 0; v->tasks && t < v->ntasks; t++) {
		kdri_own_free(ctx, &v->tasks[t].rows);
		kdri_own_free(ctx, &v->tasks[t].graph);
		kdri_own_free(ctx, &v->tasks[t].plain);
		kdri_own_free(ctx, &v->tasks[t].vote);
		kdri_knn_free(ctx, &v->tasks[t].knn);
		kdri_free(ctx, v->tasks[t].leading);
		kdri_free(ctx, v->tasks[t].spread);
	}
	kdri_free(ctx, v->tasks);
	kdri_free(ctx, v->begin);
	kdri_free(ctx, v->mean);
	kdri_free(ctx, v->centred);
	kdri_free(ctx, v->shared);
	*v = (kdri_views){ 0 };
}

/* --- what compares samples -------------------------------------------------------------------------- */

typedef struct census {
	double cells, nonzero;
	bool negative;
} census;

static void count_entries(const kdr_mat *x, census *c)
{
	int64_t n = kdr_mat_rows(x), d = kdr_mat_cols(x);
	c->cells += (double)n * (double)d;
	for (int64_t i = 0; i < n; i++) {
		kdri_entries row = kdri_row_entries(x, i);
		for (int64_t p = 0; p < row.count; p++) {
			c->nonzero += row.val[p] != 0;
			c->negative |= row.val[p] < 0;
		}
	}
}

static void choose(const kdr_problem *problem, const kdri_views_options *o, kdri_views *v)
{
	census all = { 0 };
	for (int64_t t = 0; t < v->ntasks && o->together; t++)
		count_entries(&problem->tasks[t].x, &all);
	for (int64_t t = 0; t < v->ntasks; t++) {
		kdri_views_task *task = &v->tasks[t];
		census c = all;
		if (!o->together)
			count_entries(&problem->tasks[t].x, &c);
		bool few = kdr_mat_cols(&problem->tasks[t].x) <= FEW_FEATURES &&
		           (c.nonzero >= full_share * c.cells || c.negative);
		task->cosine = o->cosine == KDRI_CHOICE_AUTO ? !few : o->cosine == KDRI_CHOICE_YES;
		task->centred = o->centre == KDRI_CHOICE_AUTO
		                        ? c.negative || c.nonzero >= sparse_share * c.cells
		                        : o->centre == KDRI_CHOICE_YES;
		task->both = task->cosine && task->centred && o->centre == KDRI_CHOICE_AUTO && !o->one_graph;
	}
}

/* --- rows --------------------------------------------------------------------------------------------- */

/* (E1) */
kdr_status kdri_unit_rows(kdr_context *ctx, const kdr_mat *x, kdri_own *out)
{
	kdr_status st;
	int64_t n = kdr_mat_rows(x), d = kdr_mat_cols(x);
	bool dense = x->kind == KDR_MAT_DENSE, done_before = true;
	double *norm = NULL, *val = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &norm, n));
	KDRI_TRY(kdri_mat_row_norms(ctx, x, norm));
	for (int64_t i = 0; i < n; i++) {
		done_before = done_before && (norm[i] == 0 || fabs(norm[i] - 1) < 1e-12);
		norm[i] = norm[i] > 0 ? 1 / sqrt(norm[i]) : 0;
	}
	if (done_before) {
		*out = (kdri_own){ .view = *x };
		goto done;
	}
	KDRI_TRY(KDRI_NEW(ctx, &val, kdr_mat_nnz(x)));
#pragma omp parallel for num_threads(ctx->threads) schedule(static) if (n > KDRI_BLOCK)
	for (int64_t i = 0; i < n; i++) {
		int64_t begin = dense ? i * d : x->as.csr.rowptr[i],
		        end = dense ? begin + d : x->as.csr.rowptr[i + 1];
		const double *from =
		        dense ? x->as.dense.data + i * x->as.dense.stride - begin : x->as.csr.val;
		for (int64_t p = begin; p < end; p++)
			val[p] = from[p] * norm[i];
	}
	*out = (kdri_own){ dense ? kdr_mat_from_dense(val, n, d)
		                 : kdr_mat_from_csr(n, d, x->as.csr.rowptr, x->as.csr.col, val),
		           { val } };
	val = NULL;
done:
	kdri_free(ctx, norm);
	kdri_free(ctx, val);
	return st;
}

static kdr_status mean_of(kdr_context *ctx, const kdr_mat *x, double *mean)
{
	kdr_status st = kdri_mat_col_sums(ctx, x, mean);
	for (int64_t j = 0; st == KDR_OK && j < kdr_mat_cols(x); j++)
		mean[j] /= (double)kdr_mat_rows(x);
	return st;
}

static kdr_status pooled_mean(kdr_context *ctx, kdri_views *v)
{
	kdr_status st;
	int64_t d = kdr_mat_cols(&v->tasks[0].rows.view);
	double *own = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &v->mean, d));
	KDRI_TRY(KDRI_NEW(ctx, &own, d));
	for (int64_t t = 0; t < v->ntasks; t++) {
		KDRI_TRY(kdri_mat_col_sums(ctx, &v->tasks[t].rows.view, own));
		kdri_axpy(1 / (double)v->begin[v->ntasks], own, v->mean, d);
	}
done:
	kdri_free(ctx, own);
	return st;
}

/* --- graphs ------------------------------------------------------------------------------------------- */

/* Whether the products of all pairs of rows are few enough: minutes on one core. */
static kdr_status few_products(kdr_context *ctx, const kdr_mat *x, bool *out)
{
	kdr_status st = KDR_OK;
	int64_t n = kdr_mat_rows(x), d = kdr_mat_cols(x);
	double *rows_with = NULL, products = 0;
	if (x->kind == KDR_MAT_DENSE) {
		*out = (double)n * (double)n * (double)d <= most_dense;
		return KDR_OK;
	}
	KDRI_TRY(KDRI_NEW0(ctx, &rows_with, d));
	for (int64_t p = 0; p < x->as.csr.rowptr[n]; p++)
		rows_with[x->as.csr.col[p]]++;
	for (int64_t j = 0; j < d; j++)
		products += rows_with[j] * rows_with[j];
	*out = products <= most_sparse;
done:
	kdri_free(ctx, rows_with);
	return st;
}

static kdr_status find_neighbours(kdr_context *ctx, const kdri_views *v, const kdri_views_task *task,
                                  bool centred, kdri_knn *out, double *recall)
{
	kdr_status st;
	const kdr_mat *x = &task->rows.view;
	int64_t k = KDRI_MIN(v->options.searched, kdr_mat_rows(x) - 1);
	double *mean = NULL;
	kdri_knn_shift shift = { 0 };
	if (centred) {
		KDRI_TRY(KDRI_NEW(ctx, &mean, kdr_mat_cols(x)));
		KDRI_TRY(mean_of(ctx, x, mean));
		KDRI_TRY(kdri_knn_shift_new(ctx, x, mean, &shift));
	}
	kdri_metric metric = task->cosine ? KDRI_METRIC_COSINE : KDRI_METRIC_EUCLIDEAN;
	const kdri_knn_shift *less = centred ? &shift : NULL;
	bool exact = v->options.exact == KDRI_CHOICE_YES;
	if (v->options.exact == KDRI_CHOICE_AUTO && !task->cosine && kdri_knn_tree_pays(x))
		exact = true;
	else if (v->options.exact == KDRI_CHOICE_AUTO)
		KDRI_TRY(few_products(ctx, x, &exact));
	*recall = 1;
	if (exact || k < 1)
		KDRI_TRY(kdri_knn_find_shifted(ctx, x, k, metric, less, out)); /* (E2) */
	else
		KDRI_TRY(kdri_knn_descent(ctx, x, k, metric, less, out, recall));
done:
	kdri_knn_shift_free(ctx, &shift);
	kdri_free(ctx, mean);
	return st;
}

/* Samples without a direction have no neighbours by the cosine: all their values are 0. */
static bool has_direction(const kdri_knn *knn, int64_t i)
{
	for (int64_t p = 0; p < knn->k; p++)
		if (knn->value[i * knn->k + p] != 0)
			return true;
	return false;
}

/* The graph of the first `neighbors` of the lists in `all`. */
static kdr_status graph_of(kdr_context *ctx, const kdri_views_task *task, const kdri_knn *all,
                           int64_t neighbors, kdri_own *out)
{
	kdr_status st;
	int64_t n = all->rows, k = KDRI_MIN(neighbors, all->k), size;
	kdri_knn knn = { .rows = n, .k = k };
	KDRI_TRY(kdri_mul(ctx, n, k, &size));
	KDRI_TRY(KDRI_NEW(ctx, &knn.index, size));
	KDRI_TRY(KDRI_NEW(ctx, &knn.value, size));
	for (int64_t i = 0; i < n; i++) {
		bool directed = !task->cosine || has_direction(all, i);
		for (int64_t p = 0; p < k; p++) {
			int64_t from = i * all->k + p, j = all->index[from], to = i * k + p;
			knn.index[to] = directed && (j < 0 || !task->cosine || has_direction(all, j))
			                        ? (int32_t)j
			                        : -1;
			if (j < 0 || task->cosine) {
				knn.value[to] = KDRI_MAX(all->value[from], least_weight); /* (E3) */
				continue;
			}
			double scale = sqrt(all->value[i * all->k + k - 1] * all->value[j * all->k + k - 1]);
			double d = all->value[from];
			/* (E4); copies of one sample are as near as can be */
			knn.value[to] = KDRI_MAX(d == 0 ? 1 : scale > 0 ? exp(-d / scale) : 0, least_weight);
		}
	}
	KDRI_TRY(kdri_knn_graph(ctx, &knn, knn.value, out));
done:
	kdri_knn_free(ctx, &knn);
	return st;
}

kdr_status kdri_views_graph(kdr_context *ctx, const kdri_views_task *task, int64_t neighbors, kdri_own *out)
{
	return graph_of(ctx, task, &task->knn, neighbors, out);
}

static double weight_of(const kdr_csr *g)
{
	double sum = 0;
	for (int64_t p = 0; p < g->rowptr[g->rows]; p++)
		sum += g->val[p];
	return sum;
}

/* (E6) */
static kdr_status add_graphs(kdr_context *ctx, const kdr_csr *a, const kdr_csr *b, kdri_own *out)
{
	kdr_status st;
	int64_t n = a->rows, at = 0, *rowptr = NULL;
	int32_t *col = NULL;
	double *val = NULL, sum_a = weight_of(a), sum_b = weight_of(b);
	double times_a = sum_a > 0 ? (double)n / sum_a : 0, times_b = sum_b > 0 ? (double)n / sum_b : 0;
	KDRI_TRY(KDRI_NEW(ctx, &rowptr, n + 1));
	KDRI_TRY(KDRI_NEW(ctx, &col, a->rowptr[n] + b->rowptr[n]));
	KDRI_TRY(KDRI_NEW(ctx, &val, a->rowptr[n] + b->rowptr[n]));
	rowptr[0] = 0;
	for (int64_t i = 0; i < n; i++) {
		int64_t p = a->rowptr[i], q = b->rowptr[i];
		while (p < a->rowptr[i + 1] || q < b->rowptr[i + 1]) {
			bool left = p < a->rowptr[i + 1] && (q >= b->rowptr[i + 1] || a->col[p] <= b->col[q]);
			bool right =
			        q < b->rowptr[i + 1] && (p >= a->rowptr[i + 1] || b->col[q] <= a->col[p]);
			col[at] = left ? a->col[p] : b->col[q];
			val[at++] = (left ? times_a * a->val[p] : 0) + (right ? times_b * b->val[q] : 0);
			p += left;
			q += right;
		}
		rowptr[i + 1] = at;
	}
	*out = (kdri_own){ kdr_mat_from_csr(n, n, rowptr, col, val), { rowptr, col, val } };
	return KDR_OK;
done:
	kdri_free(ctx, rowptr);
	kdri_free(ctx, col);
	kdri_free(ctx, val);
	return st;
}

static kdr_status add_plain(kdr_context *ctx, const kdri_views *v, kdri_views_task *task)
{
	kdr_status st;
	kdri_knn knn = { 0 };
	double recall;
	KDRI_TRY(find_neighbours(ctx, v, task, false, &knn, &recall));
	task->recall = KDRI_MIN(task->recall, recall);
	KDRI_TRY(graph_of(ctx, task, &knn, v->options.neighbors, &task->plain));
	KDRI_TRY(add_graphs(ctx, &task->graph.view.as.csr, &task->plain.view.as.csr, &task->vote));
done:
	kdri_knn_free(ctx, &knn);
	return st;
}

kdr_status kdri_views_new(kdr_context *ctx, const kdr_problem *problem, const kdri_views_options *options,
                          kdri_views *out)
{
	kdr_status st;
	kdri_views v = { .options = *options, .ntasks = problem->ntasks };
	KDRI_TRY(KDRI_NEW0(ctx, &v.tasks, v.ntasks));
	KDRI_TRY(KDRI_NEW0(ctx, &v.begin, v.ntasks + 1));
	for (int64_t t = 0; t < v.ntasks; t++) {
		v.tasks[t].rows = v.tasks[t].graph = v.tasks[t].plain = v.tasks[t].vote = no_matrix();
		v.begin[t + 1] = v.begin[t] + kdr_mat_rows(&problem->tasks[t].x);
	}
	choose(problem, options, &v);
	for (int64_t t = 0; t < v.ntasks; t++) {
		if (v.tasks[t].cosine)
			KDRI_TRY(kdri_unit_rows(ctx, &problem->tasks[t].x, &v.tasks[t].rows));
		else
			v.tasks[t].rows.view = problem->tasks[t].x;
	}
	if (options->together)
		KDRI_TRY(pooled_mean(ctx, &v));
	for (int64_t t = 0; t < v.ntasks; t++) {
		kdri_views_task *task = &v.tasks[t];
		KDRI_TRY(find_neighbours(ctx, &v, task, task->cosine && task->centred, &task->knn,
		                         &task->recall));
		KDRI_TRY(kdri_views_graph(ctx, task, options->neighbors, &task->graph));
		if (task->both)
			KDRI_TRY(add_plain(ctx, &v, task));
	}
	*out = v;
	v = (kdri_views){ 0 };
done:
	kdri_views_free(ctx, &v);
	return st;
}

/* --- directions ----------------------------------------------------------------------------------------- */

/* Y = U S of an operator (E5), `count` columns; rows of unit length if `unit`. */
static kdr_status coordinates(kdr_context *ctx, const kdri_op *op, int64_t count, double **out)
{
	kdr_status st;
	double *u = NULL, *s = NULL;
	int64_t size;
	KDRI_TRY(kdri_mul(ctx, op->rows, count, &size));
	KDRI_TRY(KDRI_NEW(ctx, &u, size));
	KDRI_TRY(KDRI_NEW(ctx, &s, count));
	KDRI_TRY(kdri_leading(ctx, op, count, ROUNDS, u, s, NULL));
	for (int64_t i = 0; i < op->rows; i++)
		for (int64_t j = 0; j < count; j++)
			u[i * count + j] *= s[j];
	*out = u;
	u = NULL;
done:
	kdri_free(ctx, u);
	kdri_free(ctx, s);
	return st;
}

/* A row that is all rounding has no direction. */
static void scale_row(double *y, int64_t width, double largest)
{
	double length = sqrt(kdri_nrm2sq(y, width));
	for (int64_t j = 0; j < width; j++)
		y[j] = length > 1e-10 * largest ? y[j] / length : 0;
}

static void scale_rows(double *y, int64_t n, int64_t width)
{
	double largest = 0;
	for (int64_t i = 0; i < n; i++)
		largest = KDRI_MAX(largest, sqrt(kdri_nrm2sq(y + i * width, width)));
	for (int64_t i = 0; i < n; i++)
		scale_row(y + i * width, width, largest);
}

kdr_status kdri_views_leading(kdr_context *ctx, const kdri_views_task *task, int64_t k, double **out,
                              int64_t *width)
{
	kdr_status st;
	const kdr_mat *x = &task->rows.view;
	int64_t n = kdr_mat_rows(x), d = kdr_mat_cols(x);
	double *mean = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &mean, d));
	KDRI_TRY(mean_of(ctx, x, mean));
	const kdri_centred centred = { x, mean };
	const kdri_op op = kdri_op_centred(&centred);
	*width = KDRI_MIN(2 * k, KDRI_MIN(n, d));
	KDRI_TRY(coordinates(ctx, &op, *width, out));
done:
	kdri_free(ctx, mean);
	return st;
}

static kdr_status own_directions(kdr_context *ctx, kdri_views_task *task, int64_t k)
{
	kdr_status st;
	int64_t n = kdr_mat_rows(&task->rows.view);
	KDRI_TRY(kdri_views_leading(ctx, task, k, &task->leading, &task->width));
	KDRI_TRY(KDRI_NEW0(ctx, &task->spread, task->width));
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < task->width; j++)
			task->spread[j] +=
			        task->leading[i * task->width + j] * task->leading[i * task->width + j];
	for (int64_t j = 0; j < task->width; j++)
		task->spread[j] = sqrt(task->spread[j] / (double)n); /* the mean is 0 */
	if (task->cosine)
		scale_rows(task->leading, n, task->width);
done:
	return st;
}

/* All tasks below each other, each less its own mean. */
typedef struct pool {
	const kdri_views *views;
	const double *means; /* ntasks x d */
} pool;

static kdr_status pool_apply(kdr_context *ctx, const kdri_op *op, const double *x, int64_t k, int64_t ldx,
                             double *y, int64_t ldy)
{
	kdr_status st = KDR_OK;
	const pool *p = op->data;
	for (int64_t t = 0; t < p->views->ntasks && st == KDR_OK; t++) {
		const kdri_centred part = { &p->views->tasks[t].rows.view, p->means + t * op->cols };
		const kdri_op own = kdri_op_centred(&part);
		st = own.apply(ctx, &own, x, k, ldx, y + p->views->begin[t] * ldy, ldy);
	}
	return st;
}

static kdr_status pool_apply_t(kdr_context *ctx, const kdri_op *op, const double *x, int64_t k, int64_t ldx,
                               double *y, int64_t ldy)
{
	kdr_status st;
	const pool *p = op->data;
	double *own_y = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &own_y, op->cols * k));
	for (int64_t t = 0; t < p->views->ntasks; t++) {
		const kdri_centred part = { &p->views->tasks[t].rows.view, p->means + t * op->cols };
		const kdri_op own = kdri_op_centred(&part);
		KDRI_TRY(own.apply_t(ctx, &own, x + p->views->begin[t] * ldx, k, ldx, own_y, k));
		for (int64_t i = 0; i < op->cols; i++)
			for (int64_t j = 0; j < k; j++)
				y[i * ldy + j] = (t ? y[i * ldy + j] : 0) + own_y[i * k + j];
	}
done:
	kdri_free(ctx, own_y);
	return st;
}

kdr_status kdri_views_pooled(kdr_context *ctx, const kdri_views *v, int64_t count, double **out)
{
	kdr_status st;
	int64_t n = v->begin[v->ntasks], d = kdr_mat_cols(&v->tasks[0].rows.view), size;
	double *means = NULL;
	KDRI_TRY(kdri_mul(ctx, v->ntasks, d, &size));
	KDRI_TRY(KDRI_NEW(ctx, &means, size));
	for (int64_t t = 0; t < v->ntasks; t++)
		KDRI_TRY(mean_of(ctx, &v->tasks[t].rows.view, means + t * d));
	const pool p = { v, means };
	const kdri_op op = { n, d, pool_apply, pool_apply_t, &p };
	KDRI_TRY(coordinates(ctx, &op, count, out));
done:
	kdri_free(ctx, means);
	return st;
}

static kdr_status pooled_directions(kdr_context *ctx, kdri_views *v, const int64_t *k)
{
	kdr_status st;
	int64_t n = v->begin[v->ntasks], d = kdr_mat_cols(&v->tasks[0].rows.view), most = 1, size;
	for (int64_t t = 0; t < v->ntasks; t++)
		most = KDRI_MAX(most, k[t]);
	v->directions = KDRI_MIN(KDRI_MAX(MOST_DIRECTIONS, 2 * most), KDRI_MIN(n, d));
	v->width = KDRI_MIN(2 * most, v->directions);
	KDRI_TRY(kdri_views_pooled(ctx, v, v->directions, &v->centred));
	KDRI_TRY(kdri_mul(ctx, n, v->width, &size));
	KDRI_TRY(KDRI_NEW(ctx, &v->shared, size));
	for (int64_t i = 0; i < n; i++)
		memcpy(v->shared + i * v->width, v->centred + i * v->directions,
		       (size_t)v->width * sizeof *v->shared);
	if (v->tasks[0].cosine)
		scale_rows(v->shared, n, v->width);
done:
	return st;
}

kdr_status kdri_views_directions(kdr_context *ctx, kdri_views *v, const int64_t *k)
{
	kdr_status st = KDR_OK;
	for (int64_t t = 0; t < v->ntasks; t++)
		KDRI_TRY(own_directions(ctx, &v->tasks[t], k[t]));
	if (v->options.together)
		KDRI_TRY(pooled_directions(ctx, v, k));
done:
	return st;
}

const kdr_mat *kdri_views_vote(const kdri_views *v, int64_t t)
{
	const kdri_views_task *task = &v->tasks[t];
	return task->both ? &task->vote.view : &task->graph.view;
}

kdr_mat kdri_views_of(const kdri_views *v, kdri_view view, int64_t t)
{
	const kdri_views_task *task = &v->tasks[t];
	int64_t n = v->begin[t + 1] - v->begin[t], at = v->begin[t];
	switch (view) {
	case KDRI_VIEW_GRAPH: return task->graph.view;
	case KDRI_VIEW_PLAIN: return task->plain.view;
	case KDRI_VIEW_LEADING: return kdr_mat_from_dense(task->leading, n, task->width);
	case KDRI_VIEW_CENTRED: return kdr_mat_from_dense(v->centred + at * v->directions, n, v->directions);
	case KDRI_VIEW_SHARED: return kdr_mat_from_dense(v->shared + at * v->width, n, v->width);
	default: return task->rows.view;
	}
}
