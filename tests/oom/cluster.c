/* Clustering methods, and the models of some, with every allocation failed in turn. SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "api/model.h"
#include "oom.h"

static kdr_status fit(kdr_context *ctx, kdr_mat x, const char *spherical, const char *model)
{
	kdr_task tasks[2] = { { .name = "a", .x = x, .k = K }, { .name = "b", .x = x, .k = 2 } };
	kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = tasks, .ntasks = 2 };
	const char *const settings[][2] = { { "spherical", spherical }, { NULL, NULL } };
	kdr_result *result = NULL;
	kdr_status st = fit_set(ctx, "kmeans", &problem, settings, &result);
	if (st == KDR_OK && model)
		st = kdr_model_save(ctx, model, result, true);
	kdr_result_free(result);
	return st;
}

static kdr_status fit_dense(kdr_context *ctx)
{
	return fit(ctx, kdr_mat_from_dense(points, N, D), "false", NULL);
}

static kdr_status fit_sparse_spherical(kdr_context *ctx)
{
	return fit(ctx, kdr_mat_from_csr(N, D, rowptr, columns, points), "true", NULL);
}

static kdr_status fit_pooled(kdr_context *ctx)
{
	kdr_mat dense = kdr_mat_from_dense(points, N, D),
	        sparse = kdr_mat_from_csr(N, D, rowptr, columns, points);
	kdr_task tasks[2] = { { .name = "a", .x = dense, .k = K, .init = labels_a },
		              { .name = "b", .x = sparse, .k = K, .init = labels_a } };
	kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = tasks, .ntasks = 2, .pooled = true };
	kdr_result *result = NULL;
	kdr_status st = kdr_fit(ctx, "kmeans", &problem, NULL, &result);
	kdr_result_free(result);
	return st;
}

/* ncut on both kinds of graph and with both kinds of rounding. */
static kdr_status fit_ncut(kdr_context *ctx)
{
	static const char *const kinds[][3] = { { "cosine", "10", "kmeans" }, { "gauss", "0", "rotation" } };
	kdr_status st = KDR_OK;
	for (int i = 0; i < 2 && st == KDR_OK; i++) {
		kdr_task tasks[2] = {
			{ .name = "a", .x = kdr_mat_from_dense(points, N, D), .k = K },
			{ .name = "b", .x = kdr_mat_from_csr(N, D, rowptr, columns, points), .k = K }
		};
		kdr_problem problem = {
			.size = sizeof(kdr_problem), .tasks = tasks, .ntasks = 2, .pooled = i == 1
		};
		const char *const settings[][2] = { { "similarity", kinds[i][0] },
			                            { "neighbors", kinds[i][1] },
			                            { "rounding", kinds[i][2] },
			                            { NULL, NULL } };
		st = fit_set(ctx, "ncut", &problem, settings, NULL);
	}
	return st;
}

/* The same on landmarks: found, and given. */
static kdr_status fit_ncut_landmarks(kdr_context *ctx)
{
	static const char *const kinds[][2] = { { "cosine", "kmeans" },
		                                { "gauss", "rotation" },
		                                { "precomputed", "kmeans" } };
	kdr_status st = KDR_OK;
	for (int i = 0; i < 3 && st == KDR_OK; i++) {
		kdr_task tasks[2] = {
			{ .name = "a", .x = kdr_mat_from_dense(points, N, D), .k = K },
			{ .name = "b", .x = kdr_mat_from_csr(N, D, rowptr, columns, points), .k = K }
		};
		kdr_problem problem = {
			.size = sizeof(kdr_problem), .tasks = tasks, .ntasks = 2, .pooled = i == 1
		};
		const char *const settings[][2] = { { "similarity", kinds[i][0] }, { "graph", "landmarks" },
			                            { "landmarks", "10" },         { "neighbors", "3" },
			                            { "rounding", kinds[i][1] },   { NULL, NULL } };
		st = fit_set(ctx, "ncut", &problem, settings, NULL);
	}
	return st;
}

/* Neighbours by a tree: many samples of one column. */
static kdr_status fit_ncut_tree(kdr_context *ctx)
{
	enum { MANY = 160 };
	double x[MANY];
	for (int i = 0; i < MANY; i++)
		x[i] = i + 100 * (i % 2);
	kdr_task task = { .x = kdr_mat_from_dense(x, MANY, 1), .k = 2 };
	kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = &task, .ntasks = 1 };
	const char *const settings[][2] = { { "similarity", "gauss" }, { "neighbors", "4" }, { NULL, NULL } };
	return fit_set(ctx, "ncut", &problem, settings, NULL);
}

/* Both ways of comparing samples, with and without a k; one thread, since the counters are plain. */
static kdr_status fit_auto(kdr_context *ctx, const char *metric, const char *exact, const char *graph,
                           int64_t k)
{
	const char *const settings[][2] = { { "metric", metric }, { "exact", exact }, { "seeds", "1" },
		                            { "k_max", "3" },     { "n_init", "1" },  { "neighbors", "4" },
		                            { "graph", graph },   { NULL, NULL } };
	kdr_task tasks[2] = { { .name = "a", .x = kdr_mat_from_dense(points, N, D), .k = k },
		              { .name = "b", .x = kdr_mat_from_csr(N, D, rowptr, columns, points), .k = 2 } };
	kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = tasks, .ntasks = 2 };
	kdr_context_set_threads(ctx, 1);
	return fit_set(ctx, "auto", &problem, settings, NULL);
}

static kdr_status fit_auto_cosine(kdr_context *ctx)
{
	return fit_auto(ctx, "cosine", "yes", "auto", K);
}

static kdr_status fit_auto_distance(kdr_context *ctx)
{
	return fit_auto(ctx, "distance", "no", "auto", 0);
}

/* Classes of some samples: with neighbours, with landmarks, and as constraints of k-means. */
static kdr_status fit_known(kdr_context *ctx)
{
	static const char *const names[K] = { "x", "y", "z" };
	const char *const settings[][2] = {
		{ "seeds", "1" }, { "n_init", "1" }, { "graph", "landmarks" }, { NULL, NULL }
	};
	const char *const neighbours[][2] = { { "seeds", "1" }, { "n_init", "1" }, { NULL, NULL } };
	const char *const spherical[][2] = { { "spherical", "true" }, { NULL, NULL } };
	int64_t known[N];
	for (int64_t i = 0; i < N; i++)
		known[i] = i < 2 * K ? labels_a[i] : -1;
	kdr_task tasks[2] = { { .name = "a", .x = kdr_mat_from_dense(points, N, D), .k = K, .labels = known },
		              { .name = "b", .x = kdr_mat_from_csr(N, D, rowptr, columns, points), .k = K } };
	kdr_problem problem = {
		.size = sizeof(kdr_problem), .tasks = tasks, .ntasks = 2, .classes = K, .class_names = names
	};
	kdr_context_set_threads(ctx, 1);
	kdr_status st = fit_set(ctx, "auto", &problem, neighbours, NULL);
	if (st == KDR_OK)
		st = fit_set(ctx, "auto", &problem, settings, NULL);
	if (st == KDR_OK)
		st = fit_set(ctx, "kmeans", &problem, spherical, NULL);
	problem.pooled = true;
	return st == KDR_OK ? fit_set(ctx, "kmeans", &problem, spherical + 1, NULL) : st;
}

static kdr_status fit_auto_landmarks(kdr_context *ctx)
{
	kdr_status st = fit_auto(ctx, "cosine", "yes", "landmarks", K);
	return st == KDR_OK ? fit_auto(ctx, "distance", "no", "landmarks", K) : st;
}

/* Graphs are made a task at a time, or not at all. */
static kdr_status fit_auto_limited(kdr_context *ctx)
{
	kdr_context_set_time_limit(ctx, 1e6);
	kdr_status st = fit_auto(ctx, "cosine", "yes", "auto", K);
	if (st == KDR_OK) {
		kdr_context_set_time_limit(ctx, 1e-9);
		st = fit_auto(ctx, "cosine", "yes", "auto", K);
	}
	kdr_context_set_time_limit(ctx, 0);
	return st;
}

/* The methods with a subspace: task a dense, task b sparse. */
static kdr_status fit_subspace(kdr_context *ctx, const char *method, bool pooled, const char *eps)
{
	bool transfer = strcmp(method, "lssttc") == 0;
	kdr_task tasks[2] = { { .name = "a", .x = kdr_mat_from_dense(points, N, D), .k = K },
		              { .name = "b", .x = kdr_mat_from_csr(N, D, rowptr, columns, points), .k = K } };
	if (transfer) {
		tasks[0].role = KDR_ROLE_SOURCE;
		tasks[0].labels = labels_a;
		tasks[1].role = KDR_ROLE_TARGET;
	}
	kdr_problem problem = { .size = sizeof(kdr_problem),
		                .tasks = tasks,
		                .ntasks = 2,
		                .classes = transfer ? K : 0,
		                .pooled = pooled };
	const char *const settings[][2] = {
		{ "n_init", "2" }, { "max_iter", "2" }, { "eps", eps }, { NULL, NULL }
	};
	return fit_set(ctx, method, &problem, settings, NULL);
}

static kdr_status fit_lssmtc(kdr_context *ctx)
{
	return fit_subspace(ctx, "lssmtc", false, "0.5");
}

static kdr_status fit_lssttc(kdr_context *ctx)
{
	return fit_subspace(ctx, "lssttc", false, "0");
}

static kdr_status fit_asi(kdr_context *ctx)
{
	return fit_subspace(ctx, "asi", true, "0.5");
}

static kdr_status fit_pca(kdr_context *ctx)
{
	return fit_subspace(ctx, "pca-kmeans", true, NULL);
}

/* Large enough for the W steps by iteration. */
static kdr_status fit_large(kdr_context *ctx, const char *eps)
{
	enum { SIZE = 194 };
	static double x[SIZE * SIZE];
	static int64_t init[SIZE];
	for (int i = 0; i < SIZE; i++) {
		init[i] = i % 2;
		for (int j = 0; j < SIZE; j++)
			x[i * SIZE + j] = (i * 31 + j * 17 + i * j) % 7 + (j == i % 2 ? 40 : 0);
	}
	kdr_task task = { .name = "a", .x = kdr_mat_from_dense(x, SIZE, SIZE), .k = 2, .init = init };
	kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = &task, .ntasks = 1 };
	const char *const settings[][2] = { { "max_iter", "0" }, { "eps", eps }, { NULL, NULL } };
	return fit_set(ctx, "lssmtc", &problem, settings, NULL);
}

static kdr_status fit_direct(kdr_context *ctx)
{
	return fit_large(ctx, "0.5");
}

static kdr_status fit_factored(kdr_context *ctx)
{
	return fit_large(ctx, "0");
}

static kdr_status fit_bregman(kdr_context *ctx, const char *method, const char *divergence, const char *start)
{
	kdr_mat dense = kdr_mat_from_dense(points, N, D),
	        sparse = kdr_mat_from_csr(N, D, rowptr, columns, points);
	kdr_task tasks[2] = { { .name = "a", .x = dense, .k = K }, { .name = "b", .x = sparse, .k = 2 } };
	kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = tasks, .ntasks = 2 };
	const char *const settings[][2] = { { "divergence", divergence },
		                            { "start", start },
		                            { "n_init", "2" },
		                            { "floor", "0.5" },
		                            { NULL, NULL } };
	return fit_set(ctx, method, &problem, settings, NULL);
}

static kdr_status fit_mbc(kdr_context *ctx)
{
	return fit_bregman(ctx, "mbc", "sqeuclidean", "kmeans++");
}

static kdr_status fit_mbc_mahalanobis(kdr_context *ctx)
{
	return fit_bregman(ctx, "mbc", "mahalanobis", "kmeans++");
}

static kdr_status fit_mbc_is(kdr_context *ctx)
{
	return fit_bregman(ctx, "mbc", "is", "random");
}

static kdr_status fit_bregman_kl(kdr_context *ctx)
{
	return fit_bregman(ctx, "bregman", "kl", "kmeans++");
}

/* Saves a model of two tasks, loads it, and labels x as samples of the second. */
static kdr_status predict_saved(kdr_context *ctx, const kdr_result *result, const kdr_mat *x)
{
	kdr_model *model = NULL;
	kdr_data *data = NULL;
	int64_t labels[N];
	kdr_status st = kdr_model_save(ctx, file("model.h5"), result, true);
	if (st == KDR_OK)
		st = kdr_model_load(ctx, file("model.h5"), &model);
	if (st == KDR_OK)
		st = kdr_data_new(ctx, "new", x, NULL, &data);
	if (st == KDR_OK)
		st = kdri_model_apply(ctx, model, 1, data, labels);
	kdr_data_free(data);
	kdr_model_free(model);
	return st;
}

/* mtcfir with a model and its predictions. `wide`: 2 x 6 samples of 20 features, fewer samples than features. */
static kdr_status fit_mtcfir(kdr_context *ctx, const char *variant, const char *final, const char *precision,
                             bool wide)
{
	const char *const settings[][2] = { { "variant", variant },     { "final", final },
		                            { "precision", precision }, { "n_init", "2" },
		                            { "layers", "2" },          { "max_iter", "2" },
		                            { "neighbors", "2,3" },     { NULL, NULL } };
	kdr_mat dense = wide ? kdr_mat_from_dense(points, 6, 20) : kdr_mat_from_dense(points, N, D),
	        sparse = kdr_mat_from_csr(N, D, rowptr, columns, points);
	kdr_task tasks[2] = { { .name = "a", .x = dense, .k = 2 },
		              { .name = "b", .x = wide ? dense : sparse, .k = K } };
	kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = tasks, .ntasks = 2 };
	kdr_result *result = NULL;
	kdr_status st = fit_set(ctx, "mtcfir", &problem, settings, &result);
	if (st == KDR_OK)
		st = predict_saved(ctx, result, wide ? &dense : &sparse);
	kdr_result_free(result);
	return st;
}

static kdr_status fit_mtcfir_samples(kdr_context *ctx)
{
	return fit_mtcfir(ctx, "full", "snmf", "double", true);
}

static kdr_status fit_mtcfir_features(kdr_context *ctx)
{
	return fit_mtcfir(ctx, "full", "snmf", "double", false);
}

static kdr_status fit_mtcfir_single(kdr_context *ctx)
{
	return fit_mtcfir(ctx, "nR", "ncut", "single", true);
}

static kdr_status fit_mtcfir_alone(kdr_context *ctx)
{
	return fit_mtcfir(ctx, "nI", "ncut", "single", false);
}

/* Samples of which most columns are equal or empty, and no model: they are learnt from once. */
static kdr_status fit_mtcfir_columns(kdr_context *ctx)
{
	enum { COPIES = 4 };
	int64_t start[N + 1] = { 0 };
	int32_t column[N * D * COPIES];
	double value[N * D * COPIES];
	for (int i = 0; i < N; i++) {
		start[i + 1] = start[i] + D * COPIES;
		for (int j = 0; j < D * COPIES; j++) {
			column[i * D * COPIES + j] = j;
			value[i * D * COPIES + j] = points[i * D + j % D];
		}
	}
	kdr_mat x = kdr_mat_from_csr(N, D * COPIES + 2, start, column, value);
	kdr_task tasks[2] = { { .name = "a", .x = x, .k = K }, { .name = "b", .x = x, .k = K } };
	kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = tasks, .ntasks = 2 };
	const char *const settings[][2] = {
		{ "keep", "false" }, { "final", "ncut" }, { "n_init", "2" }, { NULL, NULL }
	};
	return fit_set(ctx, "mtcfir", &problem, settings, NULL);
}

/* snmf with a model, and features by msda. */
static kdr_status fit_by(kdr_context *ctx, const char *method, const char *precision)
{
	kdr_task tasks[2] = { { .name = "a", .x = kdr_mat_from_dense(points, N, D), .k = K },
		              { .name = "b", .x = kdr_mat_from_csr(N, D, rowptr, columns, points), .k = K } };
	kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = tasks, .ntasks = 2 };
	const bool snmf = strcmp(method, "snmf") == 0;
	const char *const settings[][2] = { { "precision", precision },
		                            { "n_init", snmf ? "2" : NULL },
		                            { "max_iter", snmf ? "3" : NULL },
		                            { "similarity", snmf ? "gauss" : NULL },
		                            { NULL, NULL } };
	kdr_result *result = NULL;
	kdr_status st = fit_set(ctx, method, &problem, settings, &result);
	if (st == KDR_OK && snmf)
		st = predict_saved(ctx, result, &tasks[strcmp(precision, "single") == 0].x);
	kdr_result_free(result);
	return st;
}

static kdr_status fit_snmf_double(kdr_context *ctx)
{
	return fit_by(ctx, "snmf", "double");
}

static kdr_status fit_snmf_single(kdr_context *ctx)
{
	return fit_by(ctx, "snmf", "single");
}

/* Cosines that are not formed, of dense and of sparse samples without negative entries, from labels and without; and two starts of
 * one matrix in step. */
static kdr_status fit_snmf_factors(kdr_context *ctx)
{
	double positive[N * D];
	int64_t turned[N];
	kdr_status st = KDR_OK;
	for (int i = 0; i < N; i++)
		turned[i] = labels_a[(i + 1) % N];
	for (int i = 0; i < N * D; i++)
		positive[i] = points[i] < 0 ? -points[i] : points[i];
	for (int i = 0; i < 3 && st == KDR_OK; i++) {
		kdr_mat x = i == 1 ? kdr_mat_from_dense(positive, N, D)
		                   : kdr_mat_from_csr(N, D, rowptr, columns, positive);
		kdr_task tasks[2] = { { .x = x, .k = K, .init = i == 2 ? NULL : labels_a },
			              { .x = x, .k = K, .init = i == 2 ? NULL : turned } };
		kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = tasks, .ntasks = 2 };
		const char *const settings[][2] = { { "n_init", "2" }, { "max_iter", "3" }, { NULL, NULL } };
		st = fit_set(ctx, "snmf", &problem, settings, NULL);
	}
	return st;
}

static kdr_status fit_msda(kdr_context *ctx)
{
	kdr_status st = fit_by(ctx, "msda", "double");
	return st == KDR_OK ? fit_by(ctx, "msda", "single") : st;
}

static kdr_status model_of(kdr_context *ctx, const double *values)
{
	kdr_model *m = NULL;
	kdr_data *data = NULL;
	kdr_mat x = kdr_mat_from_dense(values, N, D);
	int64_t labels[N];
	kdr_status st = fit(ctx, x, "false", file("m.h5"));
	if (st == KDR_OK)
		st = kdr_model_load(ctx, file("m.h5"), &m);
	if (st == KDR_OK)
		st = kdr_data_new(ctx, "new", &x, NULL, &data);
	if (st == KDR_OK)
		st = kdri_model_apply(ctx, m, 0, data, labels);
	kdr_data_free(data);
	kdr_model_free(m);
	return st;
}

static kdr_status model(kdr_context *ctx)
{
	return model_of(ctx, points);
}

/* Values whose squares overflow: scaled before the fit, before predict, and by columns when standardised. */
static kdr_status beyond_squares(kdr_context *ctx)
{
	double large[N * D];
	kdr_data *data = NULL;
	kdr_prep *prep = NULL;
	kdr_prep_options options = { .size = sizeof(kdr_prep_options), .scale = KDR_SCALE_STANDARD };
	for (int i = 0; i < N * D; i++)
		large[i] = points[i] * 1e250;
	kdr_mat x = kdr_mat_from_dense(large, N, D);
	kdr_status st = model_of(ctx, large);
	if (st == KDR_OK)
		st = kdr_data_new(ctx, "large", &x, NULL, &data);
	if (st == KDR_OK)
		st = kdr_prepare(ctx, &data, 1, &options, &prep);
	kdr_prep_free(prep);
	kdr_data_free(data);
	return st;
}

const oom_scenario oom_cluster[] = {
	{ "fit_dense", fit_dense, 1 },
	{ "fit_sparse_spherical", fit_sparse_spherical, 1 },
	{ "fit_pooled", fit_pooled, 1 },
	{ "fit_ncut", fit_ncut, 1 },
	{ "fit_ncut_tree", fit_ncut_tree, 3 },
	{ "fit_ncut_landmarks", fit_ncut_landmarks, 3 },
	{ "fit_auto_cosine", fit_auto_cosine, 7 },
	{ "fit_auto_distance", fit_auto_distance, 7 },
	{ "fit_auto_landmarks", fit_auto_landmarks, 7 },
	{ "fit_known", fit_known, 9 },
	{ "fit_auto_limited", fit_auto_limited, 7 },
	{ "fit_lssmtc", fit_lssmtc, 1 },
	{ "fit_lssttc", fit_lssttc, 1 },
	{ "fit_asi", fit_asi, 1 },
	{ "fit_pca", fit_pca, 1 },
	{ "fit_direct", fit_direct, 1 },
	{ "fit_factored", fit_factored, 1 },
	{ "fit_mbc", fit_mbc, 1 },
	{ "fit_mbc_mahalanobis", fit_mbc_mahalanobis, 1 },
	{ "fit_mbc_is", fit_mbc_is, 1 },
	{ "fit_bregman_kl", fit_bregman_kl, 1 },
	{ "fit_mtcfir_samples", fit_mtcfir_samples, 1 },
	{ "fit_mtcfir_features", fit_mtcfir_features, 1 },
	{ "fit_mtcfir_single", fit_mtcfir_single, 1 },
	{ "fit_mtcfir_alone", fit_mtcfir_alone, 1 },
	{ "fit_mtcfir_columns", fit_mtcfir_columns, 1 },
	{ "fit_snmf_double", fit_snmf_double, 1 },
	{ "fit_snmf_single", fit_snmf_single, 1 },
	{ "fit_snmf_factors", fit_snmf_factors, 1 },
	{ "fit_msda", fit_msda, 1 },
	{ "model", model, 1 },
	{ "beyond_squares", beyond_squares, 1 },
	{ NULL, NULL, 0 },
};
