/* Z, E and the graphs of a transfer. SPDX-License-Identifier: BSD-3-Clause
 *
 *   (E1)  u_i = x_i / |x_i|
 *   (E2)  Z: u, for words; else a (u - mean of all u), a such that the mean square length is 1
 *   (E3)  E: each set minus its own mean, along the leading directions of all           engine/linear/aligned.c
 *   (E4)  W: neighbours of the target by the cosine of Z; the joint graph by that of E     transfer_auto/graphs.c
 *   (E5)  cohesion of classes l on a graph W = (S - E) / (1 - E), S = sum_{i,j: l_i = l_j} W_ij / sum W, E its expectation if
 *         neighbours had independent classes: 1 = all neighbours have the same class, 0 = as by chance
 *
 * Words are rows mostly of zeros, none negative. Sparse rows that are not words are not centred: a linear classifier
 * with a free constant finds the same without. If there are few features, mostly not zero, lengths are as informative as
 * directions: (E1) is skipped, neighbours are found by distance, and E gets one more coordinate, a constant, before rows
 * are scaled to unit length, so that cosines of E distinguish lengths.
 *
 * If one of the two graphs is too large for an exact neighbour search, both graphs join samples to landmarks, and the
 * directions of E are found from some of the rows, which are also used for the costs of classifiers and the distance of
 * the data sets. */
#include "engine/graph/views.h"
#include "engine/graph/similarity.h"
#include "engine/linear/aligned.h"
#include "methods/transfer_auto/auto_transfer.h"

/* The graphs of a transfer's samples.
 *
 * Neighbours: edges and weights of engine/graph/views.c. Landmarks, if a neighbour search would be inexact and
 * take much longer: W = Z L^-1 Z' minus its diagonal, of engine/graph/landmarks.c, Z the weights of a row's
 * nearest landmarks (engine/graph/landmarks.c), as many as `auto` of cluster uses with the cosine (docs/notes/auto.md
 * describes how this was chosen), also if samples are compared by distance. */

static const double least_weight = 1e-6;

kdri_transfer_graph kdri_transfer_graph_empty(void)
{
	const kdr_mat none = kdr_mat_from_dense(NULL, 0, 0);
	return (kdri_transfer_graph){ .edges.view = none, .walk.z = none };
}

static void transfer_graph_free(kdr_context *ctx, kdri_transfer_graph *g)
{
	kdri_own_free(ctx, &g->edges);
	kdri_landmarks_walk_free(ctx, &g->walk);
}

kdri_op kdri_transfer_graph_op(const kdri_transfer_graph *g)
{
	return g->landmarks ? kdri_op_landmarks(&g->walk) : kdri_op_mat(&g->edges.view);
}

static kdr_status join_landmarks(kdr_context *ctx, const kdr_mat *x, const double *mean, bool cosine,
                                 bool words, const kdri_transfer_joins *joins, kdri_transfer_graph *g)
{
	kdr_status st;
	kdri_landmarks l = { .rows.view = kdr_mat_from_dense(NULL, 0, 0) };
	const kdri_landmarks_options o = { .weight = cosine ? KDRI_LANDMARKS_COSINE : KDRI_LANDMARKS_TUNED,
		                           .least = least_weight,
		                           .neighbors = kdri_landmarks_each(words    ? KDRI_SAMPLES_WORDS
		                                                            : cosine ? KDRI_SAMPLES_CENTRED
		                                                                     : KDRI_SAMPLES_OTHER,
		                                                            joins->neighbors),
		                           .mean = mean };
	KDRI_TRY(kdri_landmarks_new(ctx, x, NULL, 1, joins->landmarks, 0, &l));
	KDRI_TRY(kdri_landmarks_graph(ctx, x, &l, &o, &g->edges));
	KDRI_TRY(kdri_landmarks_walk_new(ctx, &g->edges.view, &g->walk));
	g->landmarks = true;
done:
	kdri_landmarks_free(ctx, &l);
	return st;
}

static kdr_status join_neighbours(kdr_context *ctx, const kdr_mat *x, const double *mean, bool cosine,
                                  int64_t neighbors, kdri_transfer_graph *g)
{
	kdr_status st;
	int64_t k = KDRI_MIN(neighbors, kdr_mat_rows(x) - 1);
	kdri_knn_shift shift = { 0 };
	kdri_views_task task = { .cosine = cosine };
	kdri_metric metric = cosine ? KDRI_METRIC_COSINE : KDRI_METRIC_EUCLIDEAN;
	int64_t candidates;
	if (mean)
		KDRI_TRY(kdri_knn_shift_new(ctx, x, mean, &shift));
	KDRI_TRY(kdri_knn_search(ctx, x, k, metric, mean ? &shift : NULL, &task.knn, &candidates));
	KDRI_TRY(kdri_views_graph(ctx, &task, k, &g->edges));
done:
	kdri_knn_shift_free(ctx, &shift);
	kdri_knn_free(ctx, &task.knn);
	return st;
}

/* By cosine, after subtracting `mean` unless it is NULL, or by distance. words: rows are compared without centring. If
 * stopped early, edges are missing. */
static kdr_status transfer_graph_new(kdr_context *ctx, const kdr_mat *x, const double *mean, bool cosine,
                                     bool words, const kdri_transfer_joins *joins, kdri_transfer_graph *out)
{
	kdri_transfer_graph g = kdri_transfer_graph_empty();
	kdr_status st = joins->to == KDRI_JOINS_LANDMARKS
	                        ? join_landmarks(ctx, x, mean, cosine, words, joins, &g)
	                        : join_neighbours(ctx, x, mean, cosine, joins->neighbors, &g);
	if (st == KDR_OK)
		*out = g;
	else
		transfer_graph_free(ctx, &g);
	return st;
}

static kdri_own views_no_matrix(void)
{
	return (kdri_own){ .view = kdr_mat_from_dense(NULL, 0, 0) };
}

void kdri_transfer_views_free(kdr_context *ctx, kdri_transfer_views *v)
{
	kdri_own_free(ctx, &v->unit);
	kdri_own_free(ctx, &v->z);
	transfer_graph_free(ctx, &v->joint);
	transfer_graph_free(ctx, &v->graph);
	KDRI_FREE(ctx, v->mean, v->e);
}

/* (E2), for a known mean and scale. */
static kdr_status fill_z(kdr_context *ctx, kdri_transfer_views *v)
{
	const kdr_mat *x = &v->unit.view;
	int64_t n = kdr_mat_rows(x), d = kdr_mat_cols(x);
	bool dense = x->kind == KDR_MAT_DENSE;
	double *val = NULL;
	KDRI_DO(KDRI_NEW(ctx, &val, kdr_mat_nnz(x)));
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (n > KDRI_BLOCK)
	for (int64_t i = 0; i < n; i++) {
		int64_t begin = dense ? i * d : x->as.csr.rowptr[i],
		        end = dense ? begin + d : x->as.csr.rowptr[i + 1];
		const double *from =
		        dense ? x->as.dense.data + i * x->as.dense.stride - begin : x->as.csr.val;
		for (int64_t p = begin; p < end; p++)
			val[p] = v->scale * (from[p] - (dense ? v->mean[p - begin] : 0));
	}
	v->z = (kdri_own){ dense ? kdr_mat_from_dense(val, n, d)
		                 : kdr_mat_from_csr(n, d, x->as.csr.rowptr, x->as.csr.col, val),
		           { val } };
	return KDR_OK;
}

static kdr_status find_z(kdr_context *ctx, kdri_transfer_views *v)
{
	kdr_status st;
	const kdr_mat *x = &v->unit.view;
	int64_t n = kdr_mat_rows(x), d = kdr_mat_cols(x);
	double *norms = NULL, total = 0;
	KDRI_TRY(KDRI_NEW(ctx, &v->mean, d));
	KDRI_TRY(kdri_mat_col_sums(ctx, x, v->mean));
	for (int64_t j = 0; j < d; j++)
		v->mean[j] /= (double)n;
	v->scale = 1;
	v->z.view = *x;
	if (v->words)
		goto done;
	v->free_bias = true;
	KDRI_TRY(KDRI_NEW(ctx, &norms, n));
	KDRI_TRY(kdri_mat_row_norms(ctx, x, norms));
	for (int64_t i = 0; i < n; i++)
		total += norms[i];
	total = total / (double)n - kdri_nrm2sq(v->mean, d);
	v->scale = total > 0 ? 1 / sqrt(total) : 1;
	KDRI_TRY(fill_z(ctx, v));
done:
	kdri_free(ctx, norms);
	return st;
}

void kdri_transfer_views_rest(kdr_context *ctx, kdri_transfer_views *v)
{
	kdri_transfer_views_part(ctx, v);
	if (!v->words)
		kdri_own_free(ctx, &v->z);
}

kdr_status kdri_transfer_views_return(kdr_context *ctx, kdri_transfer_views *v)
{
	return v->words || v->z.parts[0] ? KDR_OK : fill_z(ctx, v);
}

/* Columns of E. */
static int64_t width_of(const kdri_transfer_views *v)
{
	const kdri_sets sets = { &v->z.view, v->d->ntasks, v->d->begin };
	return v->few ? kdr_mat_cols(sets.x) + 1 : kdri_aligned_width(&sets);
}

/* Rows (x - mean of the set, 1), of unit length, before them scaled to a mean square length of 1. */
static kdr_status find_few(kdr_context *ctx, kdri_transfer_views *v, const double *means)
{
	const kdr_mat *z = &v->z.view;
	int64_t n = v->d->n, d = kdr_mat_cols(z), w = v->width;
	double total = 0;
	KDRI_DO(KDRI_NEW0(ctx, &v->e, n * w));
	for (int64_t t = 0; t < v->d->ntasks; t++)
#pragma omp parallel for num_threads(kdri_team(ctx)) if (n > KDRI_BLOCK)
		for (int64_t i = v->d->begin[t]; i < v->d->begin[t + 1]; i++) {
			double *row = v->e + i * w;
			if (z->kind == KDR_MAT_DENSE)
				memcpy(row, z->as.dense.data + i * z->as.dense.stride,
				       (size_t)d * sizeof *row);
			for (int64_t p = z->kind == KDR_MAT_DENSE ? 0 : z->as.csr.rowptr[i];
			     z->kind != KDR_MAT_DENSE && p < z->as.csr.rowptr[i + 1]; p++)
				row[z->as.csr.col[p]] = z->as.csr.val[p];
			kdri_axpy(-1, means + t * d, row, d);
			row[d] = kdri_nrm2sq(row, d);
		}
	for (int64_t i = 0; i < n; i++)
		total += v->e[i * w + d] / (double)n;
#pragma omp parallel for num_threads(kdri_team(ctx)) if (n > KDRI_BLOCK)
	for (int64_t i = 0; i < n; i++) {
		double *row = v->e + i * w;
		row[d] = total > 0 ? sqrt(total) : 1;
		double length = sqrt(kdri_nrm2sq(row, w));
		for (int64_t j = 0; j < w; j++)
			row[j] /= length;
	}
	return KDR_OK;
}

/* Means of the sets (count x d); a source's mean is adjusted to the given class proportions, unless these are
 * NULL. */
static kdr_status views_find_means(kdr_context *ctx, const kdri_transfer_views *v, const double *share,
                                   double *means)
{
	kdr_status st;
	const kdri_domains *d = v->d;
	const kdri_sets sets = { &v->z.view, d->ntasks, d->begin };
	int64_t cols = kdr_mat_cols(sets.x);
	double *weight = NULL, *count = NULL;
	KDRI_TRY(kdri_sets_means(ctx, &sets, means));
	if (!share)
		return KDR_OK;
	KDRI_TRY(KDRI_NEW(ctx, &weight, d->n));
	KDRI_TRY(KDRI_NEW(ctx, &count, d->classes));
	for (int64_t t = 0; t + 1 < d->ntasks; t++) {
		int64_t begin = d->begin[t], end = d->begin[t + 1];
		double total = 0;
		memset(count, 0, (size_t)d->classes * sizeof *count);
		for (int64_t i = begin; i < end; i++)
			if (d->labels[i] >= 0)
				count[d->labels[i]]++;
		for (int64_t i = begin; i < end; i++) {
			int64_t k = d->labels[i];
			weight[i] = k >= 0 ? share[k] / count[k] : 0;
			total += weight[i];
		}
		if (total <= 0)
			continue;
		for (int64_t i = begin; i < end; i++)
			weight[i] /= total;
		kdr_mat part = kdri_rows(sets.x, begin, end);
		KDRI_TRY(kdri_mat_tmul(ctx, &part, weight + begin, 1, 1, means + t * cols, 1));
	}
done:
	KDRI_FREE(ctx, weight, count);
	return st;
}

/* (E3) */
static kdr_status find_e(kdr_context *ctx, kdri_transfer_views *v)
{
	kdr_status st;
	const kdri_sets sets = { &v->z.view, v->d->ntasks, v->d->begin };
	int64_t size;
	double *means = NULL;
	v->width = width_of(v);
	KDRI_TRY(kdri_mul(ctx, sets.count, kdr_mat_cols(sets.x), &size));
	KDRI_TRY(KDRI_NEW(ctx, &means, size));
	KDRI_TRY(views_find_means(ctx, v, v->share, means));
	if (v->few) {
		KDRI_TRY(find_few(ctx, v, means));
	} else {
		KDRI_TRY(kdri_aligned_new(ctx, &sets, means, v->width,
		                          v->joins.to == KDRI_JOINS_LANDMARKS ? KDRI_TRANSFER_TELLING : 0,
		                          &v->e));
	}
done:
	kdri_free(ctx, means);
	return st;
}

/* What `auto` means here: either graph may be too large for an exact search. */
static kdr_status choose_joins(kdr_context *ctx, kdri_transfer_views *v, const kdr_mat *target)
{
	bool exact = true;
	if (v->joins.to != KDRI_JOINS_AUTO)
		return KDR_OK;
	const kdr_mat e = kdr_mat_from_dense(NULL, v->d->n, width_of(v)); /* sizes are all that counts */
	if (v->d->ntasks > 1)
		KDRI_DO(kdri_search_is_exact(ctx, &e, KDRI_METRIC_COSINE, KDRI_INSTEAD_WALKS, &exact));
	if (exact)
		KDRI_DO(kdri_search_is_exact(ctx, target, v->few ? KDRI_METRIC_EUCLIDEAN : KDRI_METRIC_COSINE,
		                             KDRI_INSTEAD_WALKS, &exact));
	v->joins.to = exact ? KDRI_JOINS_NEIGHBOURS : KDRI_JOINS_LANDMARKS;
	return KDR_OK;
}

/* (E4) */
static kdr_status find_own_graph(kdr_context *ctx, kdri_transfer_views *v)
{
	kdr_status st;
	int64_t d = kdr_mat_cols(&v->z.view);
	kdri_own target = views_no_matrix();
	double *mean = NULL;
	KDRI_TRY(kdri_rows_own(ctx, &v->z.view, kdri_transfer_first(v->d), v->d->n, &target));
	if (!v->words && !v->few && target.view.kind == KDR_MAT_CSR) {
		KDRI_TRY(KDRI_NEW(ctx, &mean, d));
		for (int64_t j = 0; j < d; j++)
			mean[j] = v->scale * v->mean[j];
	}
	KDRI_TRY(choose_joins(ctx, v, &target.view));
	KDRI_TRY(transfer_graph_new(ctx, &target.view, mean, !v->few, v->words, &v->joins, &v->graph));
done:
	kdri_free(ctx, mean);
	kdri_own_free(ctx, &target);
	return st;
}

kdr_status kdri_transfer_cohesion(kdr_context *ctx, const kdri_transfer_views *v, const int64_t *rows,
                                  const int32_t *labels, int64_t n, double *out)
{
	kdr_status st;
	const int64_t c = v->d->classes;
	const kdri_transfer_joins joins = { .to = KDRI_JOINS_NEIGHBOURS, .neighbors = v->joins.neighbors };
	kdri_transfer_graph g = kdri_transfer_graph_empty();
	kdri_own x = views_no_matrix();
	double *member = NULL, *joined = NULL, *weight = NULL, inside = 0, total = 0, expected = 0;
	*out = NAN;
	if (n < 2)
		return KDR_OK;
	KDRI_TRY(kdri_mat_take(ctx, &v->z.view, rows, n, &x));
	KDRI_TRY(transfer_graph_new(ctx, &x.view, NULL, !v->few, v->words, &joins, &g));
	KDRI_TRY(KDRI_NEW0(ctx, &member, n * c));
	KDRI_TRY(KDRI_NEW(ctx, &joined, n * c));
	KDRI_TRY(KDRI_NEW0(ctx, &weight, c));
	for (int64_t i = 0; i < n; i++)
		member[i * c + labels[i]] = 1;
	const kdri_op w = kdri_transfer_graph_op(&g);
	KDRI_TRY(w.apply(ctx, &w, member, c, c, joined, c));
	for (int64_t i = 0; i < n; i++) {
		inside += joined[i * c + labels[i]];
		for (int64_t k = 0; k < c; k++)
			weight[labels[i]] += joined[i * c + k];
	}
	for (int64_t k = 0; k < c; k++)
		total += weight[k];
	for (int64_t k = 0; k < c && total > 0; k++)
		expected += weight[k] / total * (weight[k] / total);
	if (total > 0 && expected < 1)
		*out = (inside / total - expected) / (1 - expected); /* (E5) */
done:
	transfer_graph_free(ctx, &g);
	kdri_own_free(ctx, &x);
	KDRI_FREE(ctx, member, joined, weight);
	return st;
}

kdr_status kdri_transfer_views_align(kdr_context *ctx, kdri_transfer_views *v, bool joint)
{
	if (!v->e)
		KDRI_DO(find_e(ctx, v));
	if (joint && kdr_mat_rows(&v->joint.edges.view) == 0) {
		kdr_mat e = kdr_mat_from_dense(v->e, v->d->n, v->width);
		KDRI_DO(transfer_graph_new(ctx, &e, NULL, true, false, &v->joins, &v->joint));
	}
	return KDR_OK;
}

void kdri_transfer_views_part(kdr_context *ctx, kdri_transfer_views *v)
{
	kdri_free(ctx, v->e);
	v->e = NULL;
}

void kdri_transfer_views_reweigh(kdr_context *ctx, kdri_transfer_views *v, const double *share)
{
	kdri_transfer_views_part(ctx, v);
	v->share = share;
}

kdr_status kdri_transfer_views_new(kdr_context *ctx, const kdri_domains *d, const kdri_transfer_joins *joins,
                                   kdri_transfer_views *out)
{
	kdr_status st;
	kdri_traits traits = { 0 };
	kdri_transfer_views v = {
		.d = d,
		.joins = *joins,
		.unit = views_no_matrix(),
		.z = views_no_matrix(),
		.joint = kdri_transfer_graph_empty(),
		.graph = kdri_transfer_graph_empty(),
	};
	KDRI_TRY(kdri_traits_add(ctx, &d->set.x.view, &traits));
	v.negative = traits.negative;
	v.words = kdri_looks_like_words(&traits);
	v.few = kdri_looks_like_measurements(&traits);
	if (v.few)
		v.unit.view = d->set.x.view;
	else
		KDRI_TRY(kdri_unit_rows(ctx, &d->set.x.view, &v.unit)); /* (E1) */
	KDRI_TRY(find_z(ctx, &v));
	KDRI_TRY(find_own_graph(ctx, &v));
	*out = v;
	v = (kdri_transfer_views){ .unit = views_no_matrix(),
		                   .z = views_no_matrix(),
		                   .joint = kdri_transfer_graph_empty(),
		                   .graph = kdri_transfer_graph_empty() };
done:
	kdri_transfer_views_free(ctx, &v);
	return st;
}
