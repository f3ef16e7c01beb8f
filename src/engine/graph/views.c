/* The data in the forms that the members of an ensemble use. SPDX-License-Identifier: BSD-3-Clause
 *
 *   (E1)  x_i <- x_i / |x_i|                                     rows, where the cosine compares them
 *
 * Graphs of these rows are made in views_graphs.c, what needs the number of clusters in views_directions.c.
 *
 * Unless specified, the data decide how samples are compared: by cosine, unless there are few features, mostly not zero.
 * For a few measurements, such as heights and widths, size is as informative as direction. The mean is not subtracted if
 * most entries are zero and none is negative, as in word counts with or without tf-idf. For other data no rule decides
 * reliably: centring gains a little on images and costs much on some molecule counts (docs/notes/auto.md). There are therefore
 * two graphs, and the vote uses their sum.
 *
 * Each task is analysed separately if the caller also needs its result without the others: it is then the same task with
 * and without them. Tasks that are compared with each other are analysed in the same way. */
#include "engine/graph/views.h"

#include "comm/comm.h"
#include "engine/graph/policy.h"

static kdri_own views_no_matrix(void)
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
		kdri_traits traits = all;
		if (!alike)
			KDRI_DO(kdri_traits_add(ctx, &problem->tasks[t].x, &traits));
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

/* Which tasks are joined to landmarks. */
static kdr_status choose_joins(kdr_context *ctx, kdri_views *v)
{
	for (int64_t t = 0; t < v->ntasks && v->options.landmarks > 0; t++) {
		bool exact = false;
		if (v->options.if_many)
			KDRI_DO(kdri_search_is_exact(ctx, &v->tasks[t].rows.view,
			                             v->tasks[t].cosine ? KDRI_METRIC_COSINE
			                                                : KDRI_METRIC_EUCLIDEAN,
			                             KDRI_INSTEAD_LANDMARKS, &exact));
		v->tasks[t].joined = !exact;
	}
	return KDR_OK;
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
		v.tasks[t].rows = v.tasks[t].graph = v.tasks[t].plain = v.tasks[t].vote =
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
	}
	KDRI_TRY(choose_joins(ctx, &v));
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
	case KDRI_VIEW_GRAPH: return task->graph.view;
	case KDRI_VIEW_PLAIN: return task->plain.view;
	case KDRI_VIEW_LEADING: return kdr_mat_from_dense(task->leading, n, task->width);
	case KDRI_VIEW_CENTRED: return kdr_mat_from_dense(v->centred + at * v->directions, n, v->directions);
	case KDRI_VIEW_SHARED: return kdr_mat_from_dense(v->shared + at * v->width, n, v->width);
	default: return task->rows.view;
	}
}
