/* Normalised cut. SPDX-License-Identifier: BSD-3-Clause
 *
 * On a graph W of similarities, finds clusters that make
 *     (E1)  NCut = sum_c cut(c, rest) / vol(c),   vol(c) = sum of the degrees in c          [SM00, eq. 2]
 * small by its relaxation: with D = diag(W 1),
 *     (E2)  Y = the k leading eigenvectors of D^-1/2 W D^-1/2                                [SM00, eq. 6]
 *     (E3)  rows of Y scaled to length 1, then k-means on them                   [NJW01], or [YS03] rotation.
 * W is the cosine or Gaussian graph of engine/graph/similarity.h, by default of 10 neighbours. Each task is clustered
 * separately, or all of them stacked as one (pooled).
 *
 * If ranks share the rows, and beyond the limit of an exact search (policy.c), W is that of samples that share landmarks [CC11],
 * Z L^-1 Z' of engine/graph/landmarks.c: neighbours could be on any rank, whereas landmarks are on all of
 * them, and the clusters are equally good (docs/notes/graphs.md).
 *
 * DEVIATION: [GZ09] searches a grid for the width of a full Gaussian graph, using the true classes. Here the default
 * is a neighbour graph, which needs no width; `neighbors=0 similarity=gauss
 * sigma=...` is the paper's form.
 *
 * The objective reported is (E1) of the answer, summed over tasks: one value, since there is one step.
 *
 * n    rows of a task        W    graph.w         Y    embedding
 * k    clusters              D    degrees, in engine/graph/spectrum.c
 */
#include "api/method.h"
#include "comm/comm.h"
#include "core/internal.h"
#include "engine/graph/knn.h"
#include "engine/graph/landmarks.h"
#include "engine/graph/similarity.h"
#include "engine/graph/spectrum.h"
#include "matrix/kept.h"
#include "matrix/linalg.h"

#include <stdio.h>

static const char *const roundings[] = { "kmeans", "rotation", NULL };

static const kdr_option_desc options_table[] = {
	KDRI_OPTIONS_GRAPH(10),
	KDRI_CHOICE(
	        "graph", KDRI_JOINS_AUTO, kdri_joins_names,
	        "what samples are joined to: their nearest neighbours, or the nearest of a few samples chosen as landmarks; auto: landmarks on several ranks, or if there are too many samples for an exact search; precomputed data then have one column per landmark"),
	KDRI_INT(
	        "landmarks", 2000, 1, 30000,
	        "number of landmarks, at least 3 per cluster; each sample is joined to as many of them as it would have neighbours, or twice as many for text-like data (mostly zeros, none negative)"),
	KDRI_CHOICE(
	        "rounding", KDRI_ROUNDING_KMEANS, roundings,
	        "how clusters are found from eigenvectors: by k-means on their rows, or by the rotation of Yu and Shi"),
	KDRI_N_INIT(10),
	KDRI_MAX_ITER(300),
	{ .name = NULL },
};

static const kdr_field_desc fields_table[] = {
	KDRI_ARRAY("embedding", KDR_FLOAT64, "n x vectors",
	           "rows of the k leading eigenvectors, scaled to length 1", .per_task = true),
	KDRI_ARRAY("eigenvalues", KDR_FLOAT64, "vectors",
	           "k leading eigenvalues of the normalised graph, 1 for each connected component",
	           .per_task = true),
	{ .name = NULL },
};

static const char *const references_table[] = {
	"J. Shi, J. Malik: Normalized cuts and image segmentation. IEEE TPAMI 22:888-905, 2000. [SM00]",
	"A. Y. Ng, M. I. Jordan, Y. Weiss: On spectral clustering: analysis and an algorithm. NIPS 2001. [NJW01]",
	"S. X. Yu, J. Shi: Multiclass spectral clustering. ICCV 2003. [YS03]",
	"X. Chen, D. Cai: Large scale spectral clustering with landmark-based representation. AAAI 2011. [CC11]",
	NULL,
};

static kdr_status warn(kdr_context *ctx, kdr_result *result, const char *name, const kdri_spectral_result *s,
                       int64_t k)
{
	const char *what = name ? "data set " : "pooled data sets";
	name = name ? name : "";
	if (s->isolated > 0)
		KDRI_DO(kdri_result_warn(
		        ctx, result,
		        "%s%s: %lld sample%s not similar to any other and joined the largest cluster", what,
		        name, (long long)s->isolated, s->isolated == 1 ? " is" : "s are"));
	if (s->components > k)
		KDRI_DO(kdri_result_warn(
		        ctx, result,
		        "%s%s: the graph has %lld separate parts, more than k = %lld; the smaller parts joined the largest cluster",
		        what, name, (long long)s->components, (long long)k));
	if (s->nonempty < k)
		KDRI_DO(kdri_result_warn(ctx, result, "%s%s: only %lld of k = %lld clusters have samples",
		                         what, name, (long long)s->nonempty, (long long)k));
	return KDR_OK;
}

/* Stores the results of task t: rows at .. at + n - 1 of the clustering. */
static kdr_status ncut_put_task(kdr_context *ctx, kdr_result *result, const kdr_task *task, int64_t t,
                                const kdri_spectral_result *s, int64_t at)
{
	int64_t n = kdr_mat_rows(&task->x), k = task->k, *labels = NULL;
	double *to = NULL;
	KDRI_DO(kdri_result_labels(ctx, result, t, &labels));
	memcpy(labels, s->labels + at, (size_t)n * sizeof *labels);
	KDRI_DO(kdri_result_array(ctx, result, "embedding", t, KDR_FLOAT64, 2, (int64_t[]){ n, k }, &to));
	memcpy(to, s->embedding + at * k, (size_t)(n * k) * sizeof *to);
	KDRI_DO(kdri_result_array(ctx, result, "eigenvalues", t, KDR_FLOAT64, 1, (int64_t[]){ k }, &to));
	memcpy(to, s->values, (size_t)k * sizeof *to);
	return KDR_OK;
}

/* Data that are Z itself, sparse. */
static kdr_status take_joins(kdr_context *ctx, const kdr_mat *x, kdri_own *out)
{
	kdr_status st;
	int64_t n = kdr_mat_rows(x), at = 0, *rowptr = NULL;
	int32_t *col = NULL;
	double *val = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &rowptr, n + 1));
	KDRI_TRY(KDRI_NEW(ctx, &col, kdr_mat_nnz(x)));
	KDRI_TRY(KDRI_NEW(ctx, &val, kdr_mat_nnz(x)));
	rowptr[0] = 0;
	for (int64_t i = 0; i < n; i++) {
		kdri_entries row = kdri_row_entries(x, i);
		for (int64_t p = 0; p < row.count; p++) {
			if (row.val[p] < 0)
				KDRI_FAIL(
				        ctx, KDR_ERR_DATA,
				        "similarity=precomputed: row %lld, column %lld is %g, but numbers >= 0 are needed",
				        (long long)i + 1, (long long)kdri_entry_column(&row, p) + 1,
				        row.val[p]);
			col[at] = (int32_t)kdri_entry_column(&row, p);
			val[at] = row.val[p];
			at += row.val[p] > 0;
		}
		rowptr[i + 1] = at;
	}
	*out = kdri_own_csr(n, kdr_mat_cols(x), &rowptr, &col, &val);
done:
	KDRI_FREE(ctx, rowptr, col, val);
	return st;
}

/* Whether rows are joined to landmarks. */
static kdr_status choose_landmarks(kdr_context *ctx, const kdr_mat *x, const kdr_options *options, bool *out)
{
	const kdri_joins to = (kdri_joins)kdri_opt_choice(options, "graph");
	const kdri_graph_options g = kdri_graph_options_of(options);
	KDRI_DO(kdri_joins_check(ctx, to));
	*out = to == KDRI_JOINS_LANDMARKS || (to == KDRI_JOINS_AUTO && kdri_several(ctx));
	if (*out || to == KDRI_JOINS_NEIGHBOURS || g.neighbors == 0 ||
	    g.similarity == KDRI_SIMILARITY_PRECOMPUTED)
		return KDR_OK;
	KDRI_DO(kdri_search_is_exact(
	        ctx, x, g.similarity == KDRI_SIMILARITY_GAUSS ? KDRI_METRIC_EUCLIDEAN : KDRI_METRIC_COSINE,
	        KDRI_INSTEAD_LANDMARKS, out));
	*out = !*out;
	return KDR_OK;
}

static int64_t joined_to(bool words, int64_t neighbors)
{
	return kdri_landmarks_each(words ? KDRI_SAMPLES_WORDS : KDRI_SAMPLES_OTHER, neighbors);
}

/* Z: rows_of[t] rows of each of `tasks` tasks, joined to landmarks. */
static kdr_status join_landmarks(kdr_context *ctx, const kdr_mat *x, const int64_t *rows_of, int64_t tasks,
                                 int64_t k, const kdr_options *options, int64_t stream, kdri_graph *out)
{
	kdr_status st;
	const kdri_graph_options g = kdri_graph_options_of(options);
	const int64_t count = kdri_landmark_count(kdri_opt_int(options, "landmarks"), k);
	kdri_traits seen = { 0 };
	kdri_landmarks l = { .rows.view = kdr_mat_from_dense(NULL, 0, 0) };
	*out = (kdri_graph){ .w.view = kdr_mat_from_dense(NULL, 0, 0), .sigma = g.sigma };
	if (g.similarity == KDRI_SIMILARITY_PRECOMPUTED)
		return take_joins(ctx, x, &out->w);
	KDRI_TRY(kdri_landmarks_new(ctx, x, rows_of, tasks, count, (uint64_t)stream, &l));
	if (g.similarity == KDRI_SIMILARITY_COSINE)
		KDRI_TRY(kdri_traits_add(ctx, x, &seen));
	if (g.similarity == KDRI_SIMILARITY_GAUSS && g.sigma == 0)
		KDRI_TRY(kdri_mean_distance(ctx, &l.rows.view, &out->sigma));
	if (out->sigma == 0)
		out->sigma = 1;
	const kdri_landmarks_options o = {
		.weight =
		        g.similarity == KDRI_SIMILARITY_GAUSS ? KDRI_LANDMARKS_GAUSS : KDRI_LANDMARKS_COSINE,
		.sigma = out->sigma,
		.neighbors = g.neighbors == 0 ? l.count : joined_to(kdri_looks_like_words(&seen), g.neighbors)
	};
	KDRI_TRY(kdri_landmarks_graph(ctx, x, &l, &o, &out->w));
done:
	kdri_landmarks_free(ctx, &l);
	return st;
}

static const char kept_about[] = "ncut", kept_graph[] = "ncut.graph";

/* The graph that another fit has found (matrix/kept.h); w is empty: there is none. */
static kdr_status find_kept_graph(kdr_context *ctx, uint64_t key, int64_t n, kdri_graph *out)
{
	kdr_status st = KDR_OK;
	double about[3]; /* entries, sigma, candidates */
	int64_t *rowptr = NULL, entries;
	int32_t *col = NULL;
	double *val = NULL;
	if (!kdri_kept_find(ctx, kept_about, key, about, sizeof about))
		return KDR_OK;
	entries = (int64_t)about[0];
	KDRI_TRY(KDRI_NEW(ctx, &rowptr, n + 1));
	KDRI_TRY(KDRI_NEW(ctx, &col, entries));
	KDRI_TRY(KDRI_NEW(ctx, &val, entries));
	const kdri_kept_part parts[] = { { rowptr, (size_t)(n + 1) * sizeof *rowptr },
		                         { col, (size_t)entries * sizeof *col },
		                         { val, (size_t)entries * sizeof *val } };
	if (kdri_kept_find_parts(ctx, kept_graph, key, parts, 3))
		*out = (kdri_graph){ .w = kdri_own_csr(n, n, &rowptr, &col, &val),
			             .sigma = about[1],
			             .candidates = (int64_t)about[2] };
done:
	KDRI_FREE(ctx, rowptr, col, val);
	return st;
}

static kdr_status keep_graph(kdr_context *ctx, uint64_t key, const kdri_graph *graph)
{
	const kdr_csr *w = &graph->w.view.as.csr;
	const int64_t entries = w->rowptr[w->rows];
	const double about[] = { (double)entries, graph->sigma, (double)graph->candidates };
	const kdri_kept_part parts[] = { { (void *)w->rowptr, (size_t)(w->rows + 1) * sizeof *w->rowptr },
		                         { (void *)w->col, (size_t)entries * sizeof *w->col },
		                         { (void *)w->val, (size_t)entries * sizeof *w->val } };
	if (entries == 0)
		return KDR_OK;
	KDRI_DO(kdri_kept_put_parts(ctx, kept_graph, key, parts, 3));
	return kdri_kept_put(ctx, kept_about, key, about, sizeof about);
}

/* The graph of neighbours, which does not depend on the number of clusters. */
static kdr_status search_graph(kdr_context *ctx, const kdr_mat *x, const kdr_options *options,
                               const kdri_graph_options *g, kdri_graph *out)
{
	const uint64_t key = kdri_keeps(ctx) ? kdri_options_key(ctx, options, x) : 0;
	if (kdri_keeps(ctx))
		KDRI_DO(find_kept_graph(ctx, key, kdr_mat_rows(x), out));
	if (kdr_mat_rows(&out->w.view) > 0)
		return KDR_OK;
	KDRI_DO(kdri_graph_new(ctx, x, g, out));
	return keep_graph(ctx, key, out);
}

/* Clusters x, rows_of[t] rows of each of `tasks` tasks. `name` NULL: the pooled tasks. */
static kdr_status ncut_cluster(kdr_context *ctx, const kdr_mat *x, const int64_t *rows_of, int64_t tasks,
                               int64_t k, const int64_t *init, int64_t stream, const char *name,
                               const kdr_options *options, kdr_result *result, kdri_spectral_result *out)
{
	kdr_status st;
	kdri_graph graph = { .w.view = kdr_mat_from_dense(NULL, 0, 0) };
	kdri_graph_options g = kdri_graph_options_of(options);
	kdri_spectral_options s = kdri_spectral_defaults(k);
	int64_t task = name ? stream : -1, *first = NULL, joined;
	s.rounding = (kdri_rounding)kdri_opt_choice(options, "rounding");
	s.n_init = kdri_opt_int(options, "n_init");
	s.max_iter = kdri_opt_int(options, "max_iter");
	s.init_labels = init;
	s.stream = (uint64_t)stream;
	s.rows_of = rows_of;
	s.tasks = tasks;
	KDRI_TRY(choose_landmarks(ctx, x, options, &s.landmarks));
	const bool searched = !s.landmarks && g.neighbors > 0 && g.similarity != KDRI_SIMILARITY_PRECOMPUTED;
	if (searched)
		KDRI_TRY(kdri_rows_first(ctx, x, &first));
	g.first = first;
	if (s.landmarks)
		KDRI_TRY(join_landmarks(ctx, x, rows_of, tasks, k, options, stream, &graph));
	else if (searched)
		KDRI_TRY(search_graph(ctx, x, options, &g, &graph));
	else
		KDRI_TRY(kdri_graph_new(ctx, x, &g, &graph));
	if (searched && graph.candidates == 0)
		KDRI_TRY(kdri_graph_join_small(ctx, x, first, k,
		                               g.similarity == KDRI_SIMILARITY_GAUSS ? KDRI_METRIC_EUCLIDEAN
		                                                                     : KDRI_METRIC_COSINE,
		                               NULL, &graph.w, &joined));
	KDRI_TRY(kdri_spectral(ctx, &graph.w.view, &s, out)); /* (E2), (E3) */
	for (int64_t i = 0; first && i < kdr_mat_rows(x); i++) {
		out->labels[i] = out->labels[first[i]];
		memcpy(out->embedding + i * k, out->embedding + first[i] * k, (size_t)k * sizeof(double));
	}
	KDRI_TRY(kdri_result_task_number(ctx, result, task, "ncut", out->ncut));
	KDRI_TRY(kdri_result_task_number(ctx, result, task, "components", (double)out->components));
	if (g.similarity == KDRI_SIMILARITY_GAUSS)
		KDRI_TRY(kdri_result_task_number(ctx, result, task, "sigma", graph.sigma));
	if (s.landmarks)
		KDRI_TRY(kdri_result_task_number(ctx, result, task, "landmarks",
		                                 (double)kdr_mat_cols(&graph.w.view)));
	if (graph.candidates)
		KDRI_TRY(kdri_result_task_number(ctx, result, task, "neighbour_candidates",
		                                 (double)graph.candidates));
	KDRI_TRY(warn(ctx, result, name, out, k));
done:
	kdri_graph_free(ctx, &graph);
	kdri_free(ctx, first);
	return st;
}

static kdr_status fit_pooled(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                             kdr_result *result)
{
	kdr_status st;
	const kdr_mat **parts = NULL;
	int64_t *rows_of = NULL;
	kdri_own x = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	kdri_spectral_result s = { 0 };
	int64_t *init = NULL, at = 0;
	bool started = true;
	KDRI_TRY(KDRI_NEW(ctx, &parts, problem->ntasks));
	KDRI_TRY(KDRI_NEW(ctx, &rows_of, problem->ntasks));
	for (int64_t t = 0; t < problem->ntasks; t++) {
		parts[t] = &problem->tasks[t].x;
		rows_of[t] = kdr_mat_rows(parts[t]);
		started = started && problem->tasks[t].init;
	}
	KDRI_TRY(kdri_mat_stack(ctx, parts, problem->ntasks, &x));
	KDRI_TRY(KDRI_NEW(ctx, &init, kdr_mat_rows(&x.view)));
	for (int64_t t = 0; t < problem->ntasks && started; t++) {
		int64_t n = kdr_mat_rows(parts[t]);
		memcpy(init + at, problem->tasks[t].init, (size_t)n * sizeof *init);
		at += n;
	}
	KDRI_TRY(ncut_cluster(ctx, &x.view, rows_of, problem->ntasks, problem->tasks[0].k,
	                      started ? init : NULL, 0, NULL, options, result, &s));
	at = 0;
	for (int64_t t = 0; t < problem->ntasks; t++) {
		KDRI_TRY(ncut_put_task(ctx, result, &problem->tasks[t], t, &s, at));
		at += kdr_mat_rows(parts[t]);
	}
	KDRI_TRY(kdri_result_objective(ctx, result, s.ncut)); /* (E1) */
	kdri_result_stop(result, s.stop, 1);
done:
	kdri_spectral_free(ctx, &s);
	kdri_own_free(ctx, &x);
	KDRI_FREE(ctx, init, rows_of, parts);
	return st;
}

static kdr_status fit_each(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                           kdr_result *result)
{
	kdr_status st = KDR_OK;
	kdri_spectral_result s = { 0 };
	kdr_stop stop = KDR_STOP_CONVERGED;
	double total = 0;
	for (int64_t t = 0; t < problem->ntasks; t++) {
		const kdr_task *task = &problem->tasks[t];
		const int64_t n = kdr_mat_rows(&task->x);
		char unnamed[32];
		snprintf(unnamed, sizeof unnamed, "%lld", (long long)t + 1);
		KDRI_TRY(ncut_cluster(ctx, &task->x, &n, 1, task->k, task->init, t,
		                      task->name ? task->name : unnamed, options, result, &s));
		KDRI_TRY(ncut_put_task(ctx, result, task, t, &s, 0));
		total += s.ncut;
		if (s.stop != KDR_STOP_CONVERGED)
			stop = s.stop;
		kdri_spectral_free(ctx, &s);
	}
	KDRI_TRY(kdri_result_objective(ctx, result, total)); /* (E1) */
	kdri_result_stop(result, stop, 1);
done:
	kdri_spectral_free(ctx, &s);
	return st;
}

static kdr_status ncut_fit(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                           kdr_result *result)
{
	return problem->pooled ? fit_pooled(ctx, problem, options, result)
	                       : fit_each(ctx, problem, options, result);
}

const kdri_algo kdri_algo_ncut = {
	.info = { .id = "ncut",
	          .class_name = "NCut",
	          .title = "Normalised cut",
	          .summary =
	                  "spectral clustering of a similarity graph, for each data set separately or all pooled",
	          .objective =
	                  "NCut = sum_t sum_c cut(c) / vol(c), of the final clusters: one value\n"
	                  "t      data set; with --pooled all samples are one data set\n"
	                  "cut(c) sum of W_ij over samples i inside and j outside of cluster c\n"
	                  "vol(c) sum of W_ij over samples i inside of cluster c and all j\n"
	                  "W_ij   similarity of samples i and j if one is among the nearest neighbours of the other, otherwise 0",
	          .steps =
	                  "1. W: cosine or Gaussian similarities of nearest neighbours; for very large data through landmarks\n"
	                  "2. the k leading eigenvectors of D^-1/2 W D^-1/2, D the row sums of W (array embedding)\n"
	                  "3. k-means on the rows of the eigenvectors, scaled to unit length, or the rotation of Yu and Shi",
	          .use = "Clusters of any shape that are connected through near neighbours.",
	          .cost = "The search for neighbours: all pairs of samples, or less with landmarks; then O(n neighbours) per product with W.",
	          .family = KDR_FAMILY_CLUSTER,
	          .flags = KDR_ALGO_POOLED,
	          .options = options_table,
	          .fields = fields_table,
	          .references = references_table },
	.fit = ncut_fit,
	.ranks = true,
};
