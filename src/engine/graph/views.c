/* The data in the forms that the members of an ensemble use. SPDX-License-Identifier: BSD-3-Clause
 *
 *   (E1)  x_i <- x_i / |x_i|                                     rows, where the cosine compares them
 *
 * Unless specified, the data decide how samples are compared: by cosine, unless there are few features, mostly not zero.
 * For a few measurements, such as heights and widths, size is as informative as direction. The mean is not subtracted if
 * most entries are zero and none is negative, as in word counts with or without tf-idf. For other data no rule decides
 * reliably: centring gains a little on images and costs much on some molecule counts (docs/notes/auto.md). There are therefore
 * two graphs, and the vote uses their sum.
 *
 * Each task is analysed separately if the caller also needs its result without the others: it is then the same task with
 * and without them. Tasks that are compared with each other are analysed in the same way. */
/* The graphs of an ensemble.
 *
 *   (E2)  cos_ij = <x_i - m, x_j - m> / (|x_i - m| |x_j - m|)    m: the task's mean, or 0 (knn.c)
 *   (E3)  w_ij = max(cos_ij, 1e-6) if one of both is among the other's nearest neighbours
 *   (E4)  w_ij = exp(-|x_i - x_j|^2 / (s_i s_j)), s_i = |x_i - its last neighbour|   [Zelnik-Manor, Perona 2004]
 *   (E5)  W = n W_1 / sum(W_1) + n W_2 / sum(W_2)                both graphs, if it is unclear whether to centre
 *
 * Sparse data stay sparse: m is subtracted from products. With landmarks there are the same graphs, n x m, by (E2) and
 * (E3) of landmarks.c; (E5) adds them up edge by edge. */
#include "engine/graph/views.h"
#include "comm/comm.h"
#include "engine/graph/similarity.h"
#include "matrix/kept.h"
#include "matrix/linalg.h"

static const double least_weight = 1e-6;

/* The vector subtracted from the rows before computing cosines: the task's mean, or nothing. */
static kdr_status find_shift(kdr_context *ctx, const kdri_views_task *task, bool centred, kdri_knn_shift *out)
{
	kdr_status st = KDR_OK;
	const kdr_mat *x = &task->rows.view;
	double *mean = NULL;
	if (!centred)
		return KDR_OK;
	KDRI_TRY(KDRI_NEW(ctx, &mean, kdr_mat_cols(x)));
	KDRI_TRY(kdri_mat_col_means(ctx, x, mean));
	KDRI_TRY(kdri_knn_shift_new(ctx, x, mean, out));
done:
	kdri_free(ctx, mean);
	return st;
}

static kdri_metric metric_of(const kdri_views_task *task)
{
	return task->cosine ? KDRI_METRIC_COSINE : KDRI_METRIC_EUCLIDEAN;
}

static const char kept_lists[] = "neighbours", kept_values[] = "nearness", kept_size[] = "searched";

/* Neighbours, at least so many, that an earlier fit has found in the same rows; out->index NULL: none. */
static kdr_status kept_neighbours(kdr_context *ctx, uint64_t key, int64_t least, kdri_knn *out,
                                  int64_t *candidates)
{
	kdr_status st = KDR_OK;
	int64_t size[3]; /* rows, neighbours of each, candidates */
	kdri_knn knn = { 0 };
	if (!kdri_kept_find(ctx, kept_size, key, size, sizeof size) || size[1] < KDRI_MIN(least, size[0] - 1))
		return KDR_OK;
	const int64_t count = size[0] * size[1];
	knn.rows = size[0];
	knn.k = size[1];
	KDRI_TRY(KDRI_NEW(ctx, &knn.index, count));
	KDRI_TRY(KDRI_NEW(ctx, &knn.value, count));
	if (!kdri_kept_find(ctx, kept_lists, key, knn.index, (size_t)count * sizeof *knn.index) ||
	    !kdri_kept_find(ctx, kept_values, key, knn.value, (size_t)count * sizeof *knn.value))
		goto done;
	*out = knn;
	*candidates = size[2];
	knn = (kdri_knn){ 0 };
done:
	kdri_knn_free(ctx, &knn);
	return st;
}

static kdr_status keep_neighbours(kdr_context *ctx, uint64_t key, const kdri_knn *knn, int64_t candidates)
{
	const int64_t size[3] = { knn->rows, knn->k, candidates }, count = knn->rows * knn->k;
	KDRI_DO(kdri_kept_put(ctx, kept_lists, key, knn->index, (size_t)count * sizeof *knn->index));
	KDRI_DO(kdri_kept_put(ctx, kept_values, key, knn->value, (size_t)count * sizeof *knn->value));
	return kdri_kept_put(ctx, kept_size, key, size, sizeof size);
}

static kdr_status find_neighbours(kdr_context *ctx, const kdri_views_options *o, const kdri_views_task *task,
                                  bool centred, kdri_knn *out, int64_t *candidates)
{
	kdr_status st = KDR_OK;
	kdri_knn_shift shift = { 0 };
	const uint64_t how = (centred ? 4 : 0) + (task->cosine ? 2 : 0) + (o->exact == KDRI_CHOICE_YES),
	               key = kdri_keeps(ctx)
	                             ? kdri_hash_number(how, kdri_mat_hash(&task->rows.view, ctx->seed))
	                             : 0;
	KDRI_TRY(kept_neighbours(ctx, key, o->searched, out, candidates));
	if (out->index)
		goto done;
	KDRI_TRY(find_shift(ctx, task, centred, &shift));
	KDRI_TRY(kdri_knn_search_once(ctx, &task->rows.view, task->first, o->searched, metric_of(task),
	                              centred ? &shift : NULL, o->exact == KDRI_CHOICE_YES, out,
	                              candidates)); /* (E2) */
	KDRI_TRY(keep_neighbours(ctx, key, out, *candidates));
done:
	kdri_knn_shift_free(ctx, &shift);
	return st;
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
		bool directed = !task->cosine || kdri_knn_has_direction(all, i);
		for (int64_t p = 0; p < k; p++) {
			int64_t from = i * all->k + p, j = all->index[from], to = i * k + p;
			knn.index[to] = directed && (j < 0 || !task->cosine || kdri_knn_has_direction(all, j))
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
	KDRI_TRY(kdri_knn_graph_once(ctx, &knn, knn.value, task->first, out));
done:
	kdri_knn_free(ctx, &knn);
	return st;
}

kdr_status kdri_views_graph(kdr_context *ctx, const kdri_views_task *task, int64_t neighbors, kdri_own *out)
{
	return graph_of(ctx, task, &task->knn, neighbors, out);
}

/* n / sum of the weights, of all rows. */
static kdr_status views_graphs_share_of(kdr_context *ctx, const kdr_csr *g, bool joined, double *out)
{
	double sum = 0;
	int64_t n, edges;
	KDRI_DO(kdri_part(ctx, g->rows, NULL, &n));
	KDRI_DO(kdri_part(ctx, g->rowptr[g->rows], NULL, &edges));
	if (joined) /* exact: any cut of the rows gives the same */
		KDRI_DO(kdri_rows_sum(ctx, NULL, g->val, g->rowptr[g->rows], edges, &sum));
	for (int64_t p = 0; p < g->rowptr[g->rows] && !joined; p++)
		sum += g->val[p];
	*out = sum > 0 ? (double)n / sum : 0;
	return KDR_OK;
}

/* (E5) */
static kdr_status add_graphs(kdr_context *ctx, const kdr_csr *a, const kdr_csr *b, bool joined, kdri_own *out)
{
	double times_a = 0, times_b = 0;
	KDRI_DO(views_graphs_share_of(ctx, a, joined, &times_a));
	KDRI_DO(views_graphs_share_of(ctx, b, joined, &times_b));
	return kdri_graph_sum(ctx, a, times_a, b, times_b, out);
}

static kdr_status add_plain(kdr_context *ctx, const kdri_views_options *o, kdri_views_task *task)
{
	kdr_status st;
	kdri_knn knn = { 0 };
	KDRI_TRY(find_neighbours(ctx, o, task, false, &knn, &task->candidates));
	KDRI_TRY(graph_of(ctx, task, &knn, o->neighbors, &task->plain));
	KDRI_TRY(add_graphs(ctx, &task->graph.view.as.csr, &task->plain.view.as.csr, task->joined,
	                    &task->vote));
done:
	kdri_knn_free(ctx, &knn);
	return st;
}

static int64_t joined_to(const kdri_views_task *task, int64_t neighbors)
{
	return kdri_landmarks_each(!task->cosine   ? KDRI_SAMPLES_OTHER
	                           : task->centred ? KDRI_SAMPLES_CENTRED
	                                           : KDRI_SAMPLES_WORDS,
	                           neighbors);
}

kdr_status kdri_views_landmarks(kdr_context *ctx, const kdri_views_task *task, bool centred,
                                int64_t neighbors, kdri_own *out)
{
	kdr_status st = KDR_OK;
	const kdr_mat *x = &task->rows.view;
	double *mean = NULL;
	if (centred && task->cosine) {
		KDRI_TRY(KDRI_NEW(ctx, &mean, kdr_mat_cols(x)));
		KDRI_TRY(kdri_mat_col_means(ctx, x, mean));
	}
	const kdri_landmarks_options o = { .weight = task->cosine ? KDRI_LANDMARKS_COSINE
		                                                  : KDRI_LANDMARKS_TUNED,
		                           .least = least_weight,
		                           .neighbors = joined_to(task, neighbors),
		                           .mean = mean };
	KDRI_TRY(kdri_landmarks_graph(ctx, x, &task->landmarks, &o, out));
done:
	kdri_free(ctx, mean);
	return st;
}

static kdr_status landmark_graphs(kdr_context *ctx, const kdri_views_options *o, kdri_views_task *task)
{
	KDRI_DO(kdri_landmarks_new(ctx, &task->rows.view, NULL, 1, o->landmarks, 0, &task->landmarks));
	KDRI_DO(kdri_views_landmarks(ctx, task, task->centred, o->neighbors, &task->graph));
	if (task->both) {
		KDRI_DO(kdri_views_landmarks(ctx, task, false, o->neighbors, &task->plain));
		KDRI_DO(add_graphs(ctx, &task->graph.view.as.csr, &task->plain.view.as.csr, task->joined,
		                   &task->vote));
	}
	task->has_graph = true;
	return KDR_OK;
}

kdr_status kdri_views_graphs(kdr_context *ctx, const kdri_views_options *o, kdri_views_task *task)
{
	if (task->joined)
		return landmark_graphs(ctx, o, task);
	if (o->once && !task->first)
		KDRI_DO(kdri_rows_first(ctx, &task->rows.view, &task->first));
	KDRI_DO(find_neighbours(ctx, o, task, task->cosine && task->centred, &task->knn, &task->candidates));
	KDRI_DO(graph_of(ctx, task, &task->knn, o->neighbors, &task->graph));
	if (task->both)
		KDRI_DO(add_plain(ctx, o, task));
	task->has_graph = true;
	return KDR_OK;
}

static kdr_status join_small(kdr_context *ctx, const kdri_views_task *task, bool centred, int64_t k,
                             kdri_own *graph, int64_t *joined)
{
	kdr_status st;
	kdri_knn_shift shift = { 0 };
	KDRI_TRY(find_shift(ctx, task, centred, &shift));
	KDRI_TRY(kdri_graph_join_small(ctx, &task->rows.view, task->first, k, metric_of(task),
	                               centred ? &shift : NULL, graph, joined));
done:
	kdri_knn_shift_free(ctx, &shift);
	return st;
}

kdr_status kdri_views_join(kdr_context *ctx, kdri_views_task *task, int64_t k)
{
	int64_t joined = 0, plain = 0;
	if (task->joined || !task->has_graph || task->candidates > 0)
		return KDR_OK;
	KDRI_DO(join_small(ctx, task, task->cosine && task->centred, k, &task->graph, &joined));
	if (task->both)
		KDRI_DO(join_small(ctx, task, false, k, &task->plain, &plain));
	if (task->both && joined + plain > 0) {
		kdri_own_free(ctx, &task->vote);
		KDRI_DO(add_graphs(ctx, &task->graph.view.as.csr, &task->plain.view.as.csr, task->joined,
		                   &task->vote));
	}
	return KDR_OK;
}

kdr_status kdri_views_no_graphs(kdr_context *ctx, kdri_views_task *task)
{
	int64_t n = kdr_mat_rows(&task->rows.view), *rowptr = NULL;
	KDRI_DO(KDRI_NEW0(ctx, &rowptr, n + 1));
	task->graph =
	        (kdri_own){ kdr_mat_from_csr(n, task->joined ? task->landmarks.count : n, rowptr, NULL, NULL),
		            { rowptr } };
	task->has_graph = true;
	task->both = false;
	return KDR_OK;
}

static kdri_own views_no_matrix(void)
{
	return (kdri_own){ .view = kdr_mat_from_dense(NULL, 0, 0) };
}

void kdri_views_free(kdr_context *ctx, kdri_views *v)
{
	for (int64_t t = 0; v->tasks && t < v->ntasks; t++) {
		kdri_own_free(ctx, &v->tasks[t].own);
		kdri_own_free(ctx, &v->tasks[t].rows);
		kdri_own_free(ctx, &v->tasks[t].graph);
		kdri_own_free(ctx, &v->tasks[t].plain);
		kdri_own_free(ctx, &v->tasks[t].vote);
		kdri_knn_free(ctx, &v->tasks[t].knn);
		kdri_landmarks_free(ctx, &v->tasks[t].landmarks);
		KDRI_FREE(ctx, v->tasks[t].first, v->tasks[t].leading, v->tasks[t].spread);
	}
	KDRI_FREE(ctx, v->tasks, v->begin, v->rows, v->mean, v->centred, v->shared);
	*v = (kdri_views){ 0 };
}

/* --- what compares samples -------------------------------------------------------------------------- */

static kdr_status views_choose(kdr_context *ctx, const kdr_problem *problem, kdri_views *v)
{
	const kdri_views_options *o = &v->options;
	bool alike = o->together && !o->by_itself;
	kdri_traits all = { 0 };
	for (int64_t t = 0; t < v->ntasks && alike; t++)
		KDRI_DO(kdri_traits_add(ctx, &problem->tasks[t].x, &all));
	for (int64_t t = 0; t < v->ntasks; t++) {
		kdri_views_task *task = &v->tasks[t];
		kdri_traits own = { 0 };
		KDRI_DO(kdri_traits_add(ctx, &problem->tasks[t].x, &own));
		const kdri_traits traits = alike ? all : own;
		const kdr_mat *x = &problem->tasks[t].x;
		bool on_disk = kdri_spooled(x->kind == KDR_MAT_DENSE ? x->as.dense.data : x->as.csr.val);
		KDRI_DO(kdri_any(ctx, &on_disk));
		task->sparse = !on_disk &&
		               !kdri_stored_dense(own.nonzero, (double)v->rows[t], (double)kdr_mat_cols(x));
		task->cosine = o->cosine == KDRI_CHOICE_AUTO ? !kdri_looks_like_measurements(&traits)
		                                             : o->cosine == KDRI_CHOICE_YES;
		task->centred = o->centre == KDRI_CHOICE_AUTO ? !kdri_looks_like_words(&traits)
		                                              : o->centre != KDRI_CHOICE_NO;
		task->both = task->cosine && task->centred && o->centre != KDRI_CHOICE_YES && !o->one_graph;
	}
	for (int64_t t = 1; t < v->ntasks; t++)
		v->options.together = v->options.together && v->tasks[t].cosine == v->tasks[0].cosine;
	return KDR_OK;
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
	bool some = !done_before;
	KDRI_TRY(kdri_any(ctx, &some)); /* rows of all ranks are treated equally */
	if (!some) {
		*out = (kdri_own){ .view = *x };
		goto done;
	}
	bool before = kdri_copies_begin(ctx, &x, 1);
	st = KDRI_NEW(ctx, &val, kdr_mat_nnz(x));
	kdri_spool_begin(ctx, before);
	KDRI_TRY(st);
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (n > KDRI_BLOCK)
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
	KDRI_FREE(ctx, norm, val);
	return st;
}

/* A few texts have few of the words of all texts: every pass over centres of clusters is shorter without the others. */
static kdr_status own_columns(kdr_context *ctx, kdri_views_task *task)
{
	kdr_status st;
	const int64_t d = kdr_mat_cols(&task->rows.view);
	int32_t *to = NULL, used = 0;
	kdri_own sparse = { .view = task->rows.view };
	task->own.view = task->rows.view;
	if (!task->sparse || kdr_mat_rows(&task->rows.view) > KDRI_VIEWS_FEW || kdri_several(ctx))
		return KDR_OK;
	KDRI_TRY(kdri_mat_by_content(ctx, &task->rows.view, &sparse));
	const kdr_csr *x = &sparse.view.as.csr; /* task->sparse and kdri_mat_by_content have the same rule */
	KDRI_TRY(KDRI_NEW0(ctx, &to, d));
	for (int64_t p = 0; p < x->rowptr[x->rows]; p++)
		to[x->col[p]] = 1;
	for (int64_t f = 0; f < d; f++)
		used += to[f];
	if (used == 0 || 2 * (int64_t)used > d)
		goto done;
	for (int32_t f = 0, next = 0; f < d; f++) {
		const int32_t has = to[f];
		to[f] = next;
		next += has;
	}
	int32_t *col = sparse.parts[1]; /* if the rows were stored densely */
	if (!col)
		KDRI_TRY(KDRI_NEW(ctx, &col, x->rowptr[x->rows]));
	sparse.parts[1] = col;
	for (int64_t p = 0; p < x->rowptr[x->rows]; p++)
		col[p] = to[x->col[p]];
	task->own = sparse;
	task->own.view = kdr_mat_from_csr(x->rows, used, x->rowptr, col, x->val);
	sparse = (kdri_own){ .view = task->rows.view };
done:
	kdri_own_free(ctx, &sparse);
	kdri_free(ctx, to);
	return st;
}

static kdr_status pooled_mean(kdr_context *ctx, kdri_views *v)
{
	kdr_status st;
	int64_t d = kdr_mat_cols(&v->tasks[0].rows.view), all = 0;
	double *own = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &v->mean, d));
	KDRI_TRY(KDRI_NEW(ctx, &own, d));
	for (int64_t t = 0; t < v->ntasks; t++)
		all += v->rows[t];
	for (int64_t t = 0; t < v->ntasks; t++) {
		KDRI_TRY(kdri_mat_col_sums(ctx, &v->tasks[t].rows.view, own));
		kdri_axpy(1 / (double)all, own, v->mean, d);
	}
	KDRI_TRY(kdri_sum(ctx, v->mean, d));
done:
	kdri_free(ctx, own);
	return st;
}

kdr_status kdri_views_new(kdr_context *ctx, const kdr_problem *problem, const kdri_views_options *options,
                          kdri_views *out)
{
	kdr_status st;
	kdri_views v = { .options = *options, .ntasks = problem->ntasks };
	KDRI_TRY(KDRI_NEW0(ctx, &v.tasks, v.ntasks));
	KDRI_TRY(KDRI_NEW0(ctx, &v.begin, v.ntasks + 1));
	KDRI_TRY(KDRI_NEW0(ctx, &v.rows, v.ntasks));
	for (int64_t t = 0; t < v.ntasks; t++) {
		v.tasks[t].rows = v.tasks[t].own = v.tasks[t].graph = v.tasks[t].plain = v.tasks[t].vote =
		        v.tasks[t].landmarks.rows = views_no_matrix();
		v.rows[t] = kdr_mat_rows(&problem->tasks[t].x);
		v.begin[t + 1] = v.begin[t] + v.rows[t];
	}
	KDRI_TRY(kdri_sum_int(ctx, v.rows, v.ntasks));
	KDRI_TRY(views_choose(ctx, problem, &v));
	for (int64_t t = 0; t < v.ntasks; t++) {
		if (v.tasks[t].cosine)
			KDRI_TRY(kdri_unit_rows(ctx, &problem->tasks[t].x, &v.tasks[t].rows));
		else
			v.tasks[t].rows.view = problem->tasks[t].x;
		KDRI_TRY(own_columns(ctx, &v.tasks[t]));
	}
	/* Which tasks are joined to landmarks. */
	for (int64_t t = 0; t < v.ntasks && v.options.landmarks > 0; t++) {
		bool exact = false;
		if (v.options.if_many)
			KDRI_TRY(kdri_search_is_exact(ctx, &v.tasks[t].rows.view,
			                              v.tasks[t].cosine ? KDRI_METRIC_COSINE
			                                                : KDRI_METRIC_EUCLIDEAN,
			                              KDRI_INSTEAD_LANDMARKS, &exact));
		v.tasks[t].joined = !exact;
	}
	if (v.options.together)
		KDRI_TRY(pooled_mean(ctx, &v));
	for (int64_t t = 0; t < v.ntasks && !options->later; t++)
		if (!options->given || !options->given[t])
			KDRI_TRY(kdri_views_graphs(ctx, &v.options, &v.tasks[t]));
	*out = v;
	v = (kdri_views){ 0 };
done:
	kdri_views_free(ctx, &v);
	return st;
}

bool kdri_views_has_graph(const kdri_views *v, int64_t t)
{
	return v->tasks[t].has_graph;
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
	case KDRI_VIEW_OWN: return task->own.view;
	case KDRI_VIEW_GRAPH: return task->graph.view;
	case KDRI_VIEW_PLAIN: return task->plain.view;
	case KDRI_VIEW_LEADING: return kdr_mat_from_dense(task->leading, n, task->width);
	case KDRI_VIEW_CENTRED: return kdr_mat_from_dense(v->centred + at * v->directions, n, v->directions);
	case KDRI_VIEW_SHARED: return kdr_mat_from_dense(v->shared + at * v->width, n, v->width);
	default: return task->rows.view;
	}
}
