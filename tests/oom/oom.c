/* Every allocation failed in turn. SPDX-License-Identifier: BSD-3-Clause
 *
 * Each scenario uses the public API from beginning to end. It is run with 0, 1, 2, ... allocations allowed,
 * until it succeeds; every run before that must return KDR_ERR_MEMORY, and every run must give back all it
 * took. Two ways of failing: only the one allocation fails, or it and all later ones. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kindred/kindred.h"

typedef struct budget {
	long allowed, made, live;
	int once; /* only allocation number `allowed` fails */
} budget;

static int refuse(budget *b)
{
	long number = b->made++;
	return b->once ? number == b->allowed : number >= b->allowed;
}

static void *count_alloc(void *user, size_t size)
{
	budget *b = user;
	void *p;
	/* Parallel code must not allocate, so plain counters do; the thread sanitizer would tell. */
	if (refuse(b) || !(p = malloc(size)))
		return NULL;
	b->live++;
	return p;
}

static void *count_realloc(void *user, void *ptr, size_t size)
{
	return refuse(user) ? NULL : realloc(ptr, size);
}

static void count_free(void *user, void *ptr)
{
	if (ptr)
		((budget *)user)->live--;
	free(ptr);
}

static char folder[] = "/tmp/kindred-oom-XXXXXX";

static const char *file(const char *name)
{
	static char path[4][256];
	static int next;
	char *p = path[next++ % 4];
	snprintf(p, 256, "%s/%s", folder, name);
	return p;
}

/* --- scenarios -------------------------------------------------------------------------------------- */

enum { N = 40, D = 3, K = 3 };
static double points[N * D];
static int64_t labels_a[N], labels_b[N], rowptr[N + 1];
static int32_t columns[N * D];

static void make_points(void)
{
	for (int i = 0; i < N; i++) {
		labels_a[i] = i % K;
		labels_b[i] = i * 7 % 4;
		rowptr[i + 1] = (int64_t)(i + 1) * D;
		for (int j = 0; j < D; j++) {
			points[i * D + j] = (i % K) * 10 + (i * 31 + j * 17) % 7;
			columns[i * D + j] = j;
		}
	}
}

static kdr_status fit(kdr_context *ctx, kdr_mat x, const char *spherical, const char *model)
{
	kdr_task tasks[2] = { { .name = "a", .x = x, .k = K }, { .name = "b", .x = x, .k = 2 } };
	kdr_problem problem = { .tasks = tasks, .ntasks = 2 };
	kdr_options *options = NULL;
	kdr_result *result = NULL;
	kdr_status st = kdr_options_new(ctx, "kmeans", &options);
	if (st == KDR_OK)
		st = kdr_options_set(ctx, options, "spherical", spherical);
	if (st == KDR_OK)
		st = kdr_fit(ctx, "kmeans", &problem, options, &result);
	if (st == KDR_OK && model)
		st = kdr_model_save(ctx, model, result, true);
	kdr_result_free(result);
	kdr_options_free(options);
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
	kdr_problem problem = { .tasks = tasks, .ntasks = 2, .pooled = true };
	kdr_result *result = NULL;
	kdr_status st = kdr_fit(ctx, "kmeans", &problem, NULL, &result);
	kdr_result_free(result);
	return st;
}

/* ncut on both kinds of graph and with both kinds of rounding. */
static kdr_status fit_ncut(kdr_context *ctx)
{
	static const char *const settings[][3] = { { "cosine", "10", "kmeans" },
		                                   { "gauss", "0", "rotation" } };
	kdr_status st = KDR_OK;
	for (int i = 0; i < 2 && st == KDR_OK; i++) {
		kdr_task tasks[2] = {
			{ .name = "a", .x = kdr_mat_from_dense(points, N, D), .k = K },
			{ .name = "b", .x = kdr_mat_from_csr(N, D, rowptr, columns, points), .k = K }
		};
		kdr_problem problem = { .tasks = tasks, .ntasks = 2, .pooled = i == 1 };
		kdr_options *options = NULL;
		kdr_result *result = NULL;
		st = kdr_options_new(ctx, "ncut", &options);
		if (st == KDR_OK)
			st = kdr_options_set(ctx, options, "similarity", settings[i][0]);
		if (st == KDR_OK)
			st = kdr_options_set(ctx, options, "neighbors", settings[i][1]);
		if (st == KDR_OK)
			st = kdr_options_set(ctx, options, "rounding", settings[i][2]);
		if (st == KDR_OK)
			st = kdr_fit(ctx, "ncut", &problem, options, &result);
		kdr_result_free(result);
		kdr_options_free(options);
	}
	return st;
}

/* Both ways of comparing samples, with and without a k; one thread, since the counters are plain. */
static kdr_status fit_auto(kdr_context *ctx, const char *metric, const char *exact, int64_t k)
{
	static const char *const names[] = { "seeds", "k_max", "n_init", "neighbors" };
	static const char *const values[] = { "1", "3", "1", "4" };
	kdr_task tasks[2] = { { .name = "a", .x = kdr_mat_from_dense(points, N, D), .k = k },
		              { .name = "b", .x = kdr_mat_from_csr(N, D, rowptr, columns, points), .k = 2 } };
	kdr_problem problem = { .tasks = tasks, .ntasks = 2 };
	kdr_options *options = NULL;
	kdr_result *result = NULL;
	kdr_context_set_threads(ctx, 1);
	kdr_status st = kdr_options_new(ctx, "auto", &options);
	if (st == KDR_OK)
		st = kdr_options_set(ctx, options, "metric", metric);
	if (st == KDR_OK)
		st = kdr_options_set(ctx, options, "exact", exact);
	for (int i = 0; i < 4 && st == KDR_OK; i++)
		st = kdr_options_set(ctx, options, names[i], values[i]);
	if (st == KDR_OK)
		st = kdr_fit(ctx, "auto", &problem, options, &result);
	kdr_result_free(result);
	kdr_options_free(options);
	return st;
}

static kdr_status fit_auto_cosine(kdr_context *ctx)
{
	return fit_auto(ctx, "cosine", "yes", K);
}

static kdr_status fit_auto_distance(kdr_context *ctx)
{
	return fit_auto(ctx, "distance", "no", 0);
}

static kdr_status advise(kdr_context *ctx)
{
	kdr_mat x[2] = { kdr_mat_from_dense(points, N, D), kdr_mat_from_csr(N, D, rowptr, columns, points) };
	static const char *const names[] = { "a", "b" };
	double nearness[4];
	char advice[2][KDR_ADVICE_ROOM];
	return kdr_relate_advice(ctx, x, names, 2, nearness, advice);
}

static kdr_status fit_direct_transfer(kdr_context *ctx)
{
	static const char *const methods[] = { "gfhf", "llgc",          "svm",           "logreg",
		                               "tsvm", "self-training", "aligned-ridge", "ot-prototypes" };
	kdr_status st = KDR_OK;
	for (size_t i = 0; i < sizeof methods / sizeof methods[0] && st == KDR_OK; i++) {
		kdr_task tasks[2] = { { .name = "s",
			                .role = KDR_ROLE_SOURCE,
			                .x = kdr_mat_from_dense(points, N, D),
			                .labels = labels_a },
			              { .name = "t",
			                .role = KDR_ROLE_TARGET,
			                .x = kdr_mat_from_csr(N, D, rowptr, columns, points) } };
		kdr_problem problem = { .tasks = tasks, .ntasks = 2, .classes = K };
		kdr_result *result = NULL;
		st = kdr_fit(ctx, methods[i], &problem, NULL, &result);
		kdr_result_free(result);
	}
	return st;
}

/* Two sources, so that the vote is held without each. */
static kdr_status fit_auto_transfer(kdr_context *ctx)
{
	kdr_task tasks[3] = {
		{ .name = "s",
		  .role = KDR_ROLE_SOURCE,
		  .x = kdr_mat_from_dense(points, N, D),
		  .labels = labels_a },
		{ .name = "s2",
		  .role = KDR_ROLE_SOURCE,
		  .x = kdr_mat_from_csr(N, D, rowptr, columns, points),
		  .labels = labels_a },
		{ .name = "t",
		  .role = KDR_ROLE_TARGET,
		  .x = kdr_mat_from_csr(N, D, rowptr, columns, points) },
	};
	kdr_problem problem = { .tasks = tasks, .ntasks = 3, .classes = K };
	kdr_result *result = NULL;
	kdr_status st = kdr_fit(ctx, "auto-transfer", &problem, NULL, &result);
	kdr_result_free(result);
	return st;
}

/* Source and target of different widths, two views of a bridge between them. */
static kdr_status fit_auto_bridged(kdr_context *ctx)
{
	kdr_mat narrow = kdr_mat_from_dense(points, N, D - 1);
	narrow.as.dense.stride = D;
	kdr_task tasks[4] = {
		{ .name = "s",
		  .role = KDR_ROLE_SOURCE,
		  .x = kdr_mat_from_dense(points, N, D),
		  .labels = labels_a },
		{ .name = "v", .role = KDR_ROLE_BRIDGE, .x = kdr_mat_from_dense(points, N, D) },
		{ .name = "w", .role = KDR_ROLE_BRIDGE, .x = narrow },
		{ .name = "t", .role = KDR_ROLE_TARGET, .x = narrow },
	};
	kdr_problem problem = { .tasks = tasks, .ntasks = 4, .classes = K };
	kdr_result *result = NULL;
	kdr_status st = kdr_fit(ctx, "auto-transfer", &problem, NULL, &result);
	kdr_result_free(result);
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
	kdr_problem problem = { .tasks = tasks, .ntasks = 2, .classes = transfer ? K : 0, .pooled = pooled };
	kdr_options *options = NULL;
	kdr_result *result = NULL;
	kdr_status st = kdr_options_new(ctx, method, &options);
	if (st == KDR_OK)
		st = kdr_options_set(ctx, options, "n_init", "2");
	if (st == KDR_OK)
		st = kdr_options_set(ctx, options, "max_iter", "2");
	if (st == KDR_OK && eps)
		st = kdr_options_set(ctx, options, "eps", eps);
	if (st == KDR_OK)
		st = kdr_fit(ctx, method, &problem, options, &result);
	kdr_result_free(result);
	kdr_options_free(options);
	return st;
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
	kdr_problem problem = { .tasks = &task, .ntasks = 1 };
	kdr_options *options = NULL;
	kdr_result *result = NULL;
	kdr_status st = kdr_options_new(ctx, "lssmtc", &options);
	if (st == KDR_OK)
		st = kdr_options_set(ctx, options, "max_iter", "0");
	if (st == KDR_OK)
		st = kdr_options_set(ctx, options, "eps", eps);
	if (st == KDR_OK)
		st = kdr_fit(ctx, "lssmtc", &problem, options, &result);
	kdr_result_free(result);
	kdr_options_free(options);
	return st;
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
	kdr_problem problem = { .tasks = tasks, .ntasks = 2 };
	kdr_options *options = NULL;
	kdr_result *result = NULL;
	kdr_status st = kdr_options_new(ctx, method, &options);
	if (st == KDR_OK)
		st = kdr_options_set(ctx, options, "divergence", divergence);
	if (st == KDR_OK)
		st = kdr_options_set(ctx, options, "start", start);
	if (st == KDR_OK)
		st = kdr_options_set(ctx, options, "n_init", "2");
	if (st == KDR_OK)
		st = kdr_options_set(ctx, options, "floor", "0.5");
	if (st == KDR_OK)
		st = kdr_fit(ctx, method, &problem, options, &result);
	kdr_result_free(result);
	kdr_options_free(options);
	return st;
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
		st = kdr_model_apply(ctx, model, 1, data, labels);
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
		                            { "neighbors", "2,3" } };
	kdr_mat dense = wide ? kdr_mat_from_dense(points, 6, 20) : kdr_mat_from_dense(points, N, D),
	        sparse = kdr_mat_from_csr(N, D, rowptr, columns, points);
	kdr_task tasks[2] = { { .name = "a", .x = dense, .k = 2 },
		              { .name = "b", .x = wide ? dense : sparse, .k = K } };
	kdr_problem problem = { .tasks = tasks, .ntasks = 2 };
	kdr_options *options = NULL;
	kdr_result *result = NULL;
	kdr_status st = kdr_options_new(ctx, "mtcfir", &options);
	for (int i = 0; i < 7 && st == KDR_OK; i++)
		st = kdr_options_set(ctx, options, settings[i][0], settings[i][1]);
	if (st == KDR_OK)
		st = kdr_fit(ctx, "mtcfir", &problem, options, &result);
	if (st == KDR_OK)
		st = predict_saved(ctx, result, wide ? &dense : &sparse);
	kdr_result_free(result);
	kdr_options_free(options);
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

/* snmf with a model, and features by msda. */
static kdr_status fit_by(kdr_context *ctx, const char *method, const char *precision)
{
	kdr_task tasks[2] = { { .name = "a", .x = kdr_mat_from_dense(points, N, D), .k = K },
		              { .name = "b", .x = kdr_mat_from_csr(N, D, rowptr, columns, points), .k = K } };
	kdr_problem problem = { .tasks = tasks, .ntasks = 2 };
	kdr_options *options = NULL;
	kdr_result *result = NULL;
	kdr_status st = kdr_options_new(ctx, method, &options);
	if (st == KDR_OK)
		st = kdr_options_set(ctx, options, "precision", precision);
	if (st == KDR_OK && strcmp(method, "snmf") == 0)
		st = kdr_options_set(ctx, options, "n_init", "2");
	if (st == KDR_OK && strcmp(method, "snmf") == 0)
		st = kdr_options_set(ctx, options, "max_iter", "3");
	if (st == KDR_OK && strcmp(method, "snmf") == 0)
		st = kdr_options_set(ctx, options, "similarity", "gauss");
	if (st == KDR_OK)
		st = kdr_fit(ctx, method, &problem, options, &result);
	if (st == KDR_OK && strcmp(method, "snmf") == 0)
		st = predict_saved(ctx, result, &tasks[strcmp(precision, "single") == 0].x);
	kdr_result_free(result);
	kdr_options_free(options);
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

static kdr_status fit_msda(kdr_context *ctx)
{
	kdr_status st = fit_by(ctx, "msda", "double");
	return st == KDR_OK ? fit_by(ctx, "msda", "single") : st;
}

static kdr_status emd(kdr_context *ctx)
{
	kdr_mat x = kdr_mat_from_dense(points, N, D);
	double uniform, proportional;
	return kdr_emd(ctx, &x, labels_a, labels_b, &uniform, &proportional);
}

static kdr_status evaluate(kdr_context *ctx)
{
	kdr_scores scores;
	int64_t *counts = NULL, *clusters = NULL, *classes = NULL, nclusters, nclasses;
	kdr_status st = kdr_evaluate(ctx, labels_a, labels_b, N, &scores);
	if (st == KDR_OK)
		st = kdr_contingency(ctx, labels_a, labels_b, N, &counts, &clusters, &nclusters, &classes,
		                     &nclasses);
	kdr_free(ctx, counts);
	kdr_free(ctx, clusters);
	kdr_free(ctx, classes);
	return st;
}

static kdr_status silhouettes(kdr_context *ctx)
{
	double values[N], mean;
	kdr_mat dense = kdr_mat_from_dense(points, N, D),
	        sparse = kdr_mat_from_csr(N, D, rowptr, columns, points);
	kdr_status st = kdr_silhouette(ctx, &dense, labels_a, KDR_SILHOUETTE_EXACT, values, &mean);
	if (st == KDR_OK)
		st = kdr_silhouette(ctx, &sparse, labels_a, KDR_SILHOUETTE_EXACT, values, &mean);
	if (st == KDR_OK)
		st = kdr_silhouette(ctx, &sparse, labels_a, KDR_SILHOUETTE_SIMPLIFIED, values, &mean);
	return st;
}

static kdr_status transport(kdr_context *ctx)
{
	static const double supply[] = { .2, .5, .3 }, demand[] = { .25, .25, .4, .1 };
	double flow[12], total;
	int64_t match[3];
	kdr_status st = kdr_transport(ctx, points, 3, 4, supply, demand, flow, NULL, NULL, &total);
	return st == KDR_OK ? kdr_assign(ctx, points, 3, 4, match, &total) : st;
}

static kdr_status read_and_prepare(kdr_context *ctx)
{
	kdr_data *data[3] = { NULL };
	kdr_prep *prep = NULL;
	kdr_labels *labels = NULL;
	kdr_prep_options options = { .weight = KDR_WEIGHT_TFIDF, .norm = KDR_NORM_L2, .top_features = 2 };
	kdr_recipe recipe;
	kdr_status st = kdr_read(ctx, file("a.csv"), NULL, &data[0]);
	if (st == KDR_OK)
		st = kdr_read(ctx, file("b.mtx.gz"), NULL, &data[1]);
	if (st == KDR_OK)
		st = kdr_read(ctx, file("c.npy"), NULL, &data[2]);
	if (st == KDR_OK)
		st = kdr_read_labels(ctx, file("a.labels"), &labels);
	if (st == KDR_OK)
		st = kdr_recipe_find(ctx, data, 3, &recipe);
	if (st == KDR_OK)
		st = kdr_prepare(ctx, data, 3, &options, &prep);
	if (st == KDR_OK)
		st = kdr_write(ctx, file("d.mtx.gz"), NULL, data[1], true);
	kdr_labels_free(labels);
	kdr_prep_free(prep);
	for (int i = 0; i < 3; i++)
		kdr_data_free(data[i]);
	return st;
}

/* --- jobs: one call each, and all that a result says --------------------------------------------- */

/* Rows of the points with names and classes, from a file. */
static kdr_status labelled(kdr_context *ctx, const char *name, kdr_data **out)
{
	static const char *const features[] = { "x", "y", "z" }, *const classes[] = { "p", "q", "r" };
	kdr_mat x = kdr_mat_from_dense(points, N, D);
	kdr_status st = kdr_data_new(ctx, name, &x, features, out);
	return st == KDR_OK ? kdr_data_set_labels(ctx, *out, labels_a, classes, K) : st;
}

/* JSON to memory and disk, and a page. */
static kdr_status tell(kdr_context *ctx, const kdr_result *result)
{
	char *text = NULL;
	kdr_status st = kdr_result_json(ctx, result, &text, NULL);
	kdr_free(ctx, text);
	if (st == KDR_OK)
		st = kdr_result_write(ctx, result, file("job.json"), true);
	return st == KDR_OK ? kdr_report_result(ctx, result, file("page.html"), true) : st;
}

static kdr_status job_cluster(kdr_context *ctx)
{
	static const int64_t rows[] = { 0, 1, 2, 5, 7, 8, 11, 13 };
	kdr_data *data[2] = { NULL }, *some = NULL;
	kdr_result *result = NULL;
	kdr_model *model = NULL;
	kdr_cluster_options o;
	kdr_cluster_options_init(&o);
	o.job.method = "mbc";
	o.job.choice = KDR_PREP_BY_DATA;
	o.job.score = true;
	o.k = K;
	kdr_status st = labelled(ctx, "a", &data[0]);
	if (st == KDR_OK)
		st = labelled(ctx, "b", &data[1]);
	if (st == KDR_OK)
		st = kdr_data_rows(ctx, data[0], rows, 8, &some);
	if (st == KDR_OK)
		st = kdr_cluster(ctx, data, 2, &o, &result);
	if (st == KDR_OK)
		st = tell(ctx, result);
	if (st == KDR_OK)
		st = kdr_model_save(ctx, file("job.h5"), result, true);
	if (st == KDR_OK)
		st = kdr_model_load(ctx, file("job.h5"), &model);
	kdr_result_free(result);
	result = NULL;
	if (st == KDR_OK)
		st = kdr_predict(ctx, model, some, &(kdr_predict_options){ .task = "b" }, &result);
	kdr_result_free(result);
	kdr_model_free(model);
	kdr_data_free(some);
	kdr_data_free(data[0]);
	kdr_data_free(data[1]);
	return st;
}

static kdr_status job_features(kdr_context *ctx)
{
	kdr_data *data = NULL;
	kdr_result *result = NULL;
	kdr_cluster_options o;
	kdr_cluster_options_init(&o);
	o.job.method = "kmeans";
	o.job.features_from = "msda";
	o.k = K;
	kdr_status st = labelled(ctx, "a", &data);
	if (st == KDR_OK)
		st = kdr_cluster(ctx, &data, 1, &o, &result);
	if (st == KDR_OK)
		st = tell(ctx, result);
	kdr_result_free(result);
	kdr_data_free(data);
	return st;
}

static kdr_status job_transfer(kdr_context *ctx)
{
	kdr_data *source = NULL, *target = NULL, *bridges[2] = { NULL };
	kdr_result *result = NULL;
	kdr_transfer_options o;
	kdr_transfer_options_init(&o);
	o.job.method = "nmtf";
	o.job.score = true;
	o.every_bridge = true;
	kdr_status st = labelled(ctx, "source", &source);
	if (st == KDR_OK)
		st = labelled(ctx, "target", &target);
	for (int i = 0; i < 2 && st == KDR_OK; i++)
		st = labelled(ctx, i ? "b1" : "b0", &bridges[i]);
	const kdr_transfer_sets sets = { .sources = &source,
		                         .nsources = 1,
		                         .targets = &target,
		                         .ntargets = 1,
		                         .bridges = bridges,
		                         .nbridges = 2 };
	if (st == KDR_OK)
		st = kdr_transfer(ctx, &sets, &o, &result);
	if (st == KDR_OK)
		st = tell(ctx, result);
	kdr_result_free(result);
	kdr_data_free(source);
	kdr_data_free(target);
	kdr_data_free(bridges[0]);
	kdr_data_free(bridges[1]);
	return st;
}

static kdr_status job_relate(kdr_context *ctx)
{
	kdr_data *data[2] = { NULL };
	kdr_relation *relation = NULL;
	char *text = NULL;
	kdr_status st = labelled(ctx, "a", &data[0]);
	if (st == KDR_OK)
		st = labelled(ctx, "b", &data[1]);
	if (st == KDR_OK)
		st = kdr_relate(ctx, data, 2, NULL, &relation);
	if (st == KDR_OK)
		st = kdr_relation_json(ctx, relation, &text, NULL);
	kdr_free(ctx, text);
	kdr_relation_free(relation);
	kdr_data_free(data[0]);
	kdr_data_free(data[1]);
	return st;
}

static kdr_status generate(kdr_context *ctx)
{
	kdr_topics spec;
	kdr_blobs blobs;
	static const int64_t samples[] = { 10, 6 };
	kdr_generator *g = NULL, *h = NULL;
	kdr_data *data = NULL;
	kdr_topics_init(&spec);
	kdr_blobs_init(&blobs);
	spec.samples = blobs.samples = samples;
	spec.tasks = blobs.tasks = 2;
	spec.words = 60;
	kdr_status st = kdr_generate_topics(ctx, &spec, &g);
	if (st == KDR_OK)
		st = kdr_generator_data(ctx, g, 1, &data);
	if (st == KDR_OK)
		st = kdr_generator_write(ctx, g, 0, file("topics.mtx"), file("topics.labels"), true);
	if (st == KDR_OK)
		st = kdr_generate_blobs(ctx, &blobs, &h);
	if (st == KDR_OK)
		st = kdr_generator_write(ctx, h, 0, file("blobs.csv.gz"), NULL, true);
	kdr_data_free(data);
	kdr_generator_free(g);
	kdr_generator_free(h);
	return st;
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
		st = kdr_model_apply(ctx, m, 0, data, labels);
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
	kdr_prep_options options = { .scale = KDR_SCALE_STANDARD };
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

/* A source, two views of a bridge (or one bridge), and a target of which a row is known. */
static kdr_status fit_bridged(kdr_context *ctx, const char *method, int bridges)
{
	int64_t known[N] = { 0 };
	for (int i = 1; i < N; i++)
		known[i] = -1;
	kdr_task tasks[4] = {
		{ .name = "s",
		  .role = KDR_ROLE_SOURCE,
		  .x = kdr_mat_from_dense(points, N, D),
		  .labels = labels_a },
		{ .name = "t",
		  .role = KDR_ROLE_TARGET,
		  .x = kdr_mat_from_csr(N, D, rowptr, columns, points),
		  .labels = known },
		{ .name = "v",
		  .role = KDR_ROLE_BRIDGE,
		  .x = kdr_mat_from_csr(N, D, rowptr, columns, points) },
		{ .name = "w", .role = KDR_ROLE_BRIDGE, .x = kdr_mat_from_dense(points, N, D) },
	};
	kdr_problem problem = { .tasks = tasks, .ntasks = 2 + bridges, .classes = K };
	kdr_options *options = NULL;
	kdr_result *result = NULL;
	kdr_status st = kdr_options_new(ctx, method, &options);
	if (st == KDR_OK)
		st = kdr_options_set(ctx, options, "n_init", "2");
	if (st == KDR_OK)
		st = kdr_options_set(ctx, options, "max_iter", "2");
	if (st == KDR_OK)
		st = kdr_fit(ctx, method, &problem, options, &result);
	kdr_result_free(result);
	kdr_options_free(options);
	return st;
}

static kdr_status fit_ttl(kdr_context *ctx)
{
	kdr_status st = fit_bridged(ctx, "ttl", 1);
	return st == KDR_OK ? fit_bridged(ctx, "ttl", 2) : st;
}

static kdr_status fit_nmtf(kdr_context *ctx)
{
	return fit_bridged(ctx, "nmtf", 1);
}

static kdr_status relate(kdr_context *ctx)
{
	kdr_mat x[3] = { kdr_mat_from_dense(points, N, D),
		         kdr_mat_from_csr(N / 2, D, rowptr, columns, points),
		         kdr_mat_from_dense(points + (size_t)5 * D, N - 5, D) };
	kdr_relate_task tasks[3];
	kdr_relate_pair pairs[3];
	kdr_relate_options o;
	kdr_relate_options_init(&o);
	o.most_rows = 10;
	return kdr_relate_matrices(ctx, x, 3, &o, tasks, pairs);
}

static kdr_status select_bridge(kdr_context *ctx)
{
	kdr_mat x[3] = { kdr_mat_from_dense(points, N, D), kdr_mat_from_csr(N, D, rowptr, columns, points),
		         kdr_mat_from_dense(points, N, D) };
	const double six[2 * KDR_BRIDGE_FEATURES] = { 1, 2, 3, 4, 5, 6, 2, 2, 4, 3, 5, 1 };
	const int helps[2] = { 0, 1 };
	kdr_selector s = { .triples = 0 };
	kdr_bridge_candidate c = { x[1], x[1] };
	kdr_bridge_score score;
	kdr_status st = kdr_selector_fit(ctx, six, helps, 2, 0.1, &s);
	if (st == KDR_OK)
		st = kdr_selector_save(ctx, file("selector.json"), &s, true);
	if (st == KDR_OK)
		st = kdr_selector_load(ctx, file("selector.json"), &s);
	if (st == KDR_OK)
		st = kdr_bridge_rank(ctx, &x[0], &x[2], &c, 1, &s, NULL, &score);
	return st;
}

static kdr_status report(kdr_context *ctx)
{
	return kdr_report(ctx, file("result.json"), file("report.html"), true);
}

static const struct {
	const char *name;
	kdr_status (*run)(kdr_context *ctx);
	int step; /* 1: every allocation; more: every so-many-th, where scenarios of their own make most of them */
} scenarios[] = {
	{ "fit_dense", fit_dense, 1 },
	{ "fit_sparse_spherical", fit_sparse_spherical, 1 },
	{ "fit_pooled", fit_pooled, 1 },
	{ "fit_ncut", fit_ncut, 1 },
	{ "fit_auto_cosine", fit_auto_cosine, 7 },
	{ "fit_auto_distance", fit_auto_distance, 7 },
	{ "advise", advise, 1 },
	{ "fit_direct_transfer", fit_direct_transfer, 1 },
	{ "fit_auto_transfer", fit_auto_transfer, 13 },
	{ "fit_auto_bridged", fit_auto_bridged, 3 },
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
	{ "fit_snmf_double", fit_snmf_double, 1 },
	{ "fit_snmf_single", fit_snmf_single, 1 },
	{ "fit_msda", fit_msda, 1 },
	{ "fit_ttl", fit_ttl, 1 },
	{ "fit_nmtf", fit_nmtf, 1 },
	{ "relate", relate, 1 },
	{ "select_bridge", select_bridge, 1 },
	{ "emd", emd, 1 },
	{ "evaluate", evaluate, 1 },
	{ "silhouettes", silhouettes, 1 },
	{ "transport", transport, 1 },
	{ "read_and_prepare", read_and_prepare, 1 },
	{ "job_cluster", job_cluster, 1 },
	{ "job_features", job_features, 1 },
	{ "job_transfer", job_transfer, 1 },
	{ "job_relate", job_relate, 1 },
	{ "generate", generate, 1 },
	{ "model", model, 1 },
	{ "beyond_squares", beyond_squares, 1 },
	{ "report", report, 1 },
};

/* --- the driver --------------------------------------------------------------------------------------- */

static int exhaust(const char *name, kdr_status (*run)(kdr_context *ctx), int step, int once)
{
	for (long allowed = 0;; allowed += step) {
		budget b = { .allowed = allowed, .once = once };
		kdr_allocator allocator = { count_alloc, count_realloc, count_free, &b };
		kdr_context *ctx = NULL;
		kdr_status st = kdr_context_new(&ctx, &allocator);
		if (st == KDR_OK) {
			kdr_context_set_threads(ctx, 2);
			st = run(ctx);
		}
		bool reached = b.made > allowed;
		if ((reached && st != KDR_ERR_MEMORY) || (!reached && st != KDR_OK)) {
			fprintf(stderr, "%s: allocation %ld failed: status %d (%s)\n", name, allowed, (int)st,
			        kdr_context_error(ctx));
			return 1;
		}
		kdr_context_free(ctx);
		if (b.live != 0) {
			fprintf(stderr, "%s: allocation %ld failed: %ld blocks were not given back\n", name,
			        allowed, b.live);
			return 1;
		}
		if (!reached) {
			printf("%s: %ld allocations, %s failed %s\n", name, b.made,
			       step > 1 ? "some" : "each", once ? "alone" : "with all later ones");
			return 0;
		}
	}
}

static void write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");
	if (!f || fputs(text, f) < 0 || fclose(f) != 0) {
		perror(path);
		exit(1);
	}
}

/* Whether a scenario was asked for; without arguments all are. */
static bool wanted(const char *name, int argc, char **argv)
{
	bool found = argc < 2;
	for (int i = 1; i < argc; i++)
		found = found || strcmp(argv[i], name) == 0;
	return found;
}

int main(int argc, char **argv)
{
	if (!mkdtemp(folder)) {
		perror(folder);
		return 1;
	}
	make_points();
	write_text(file("a.csv"), "x,y,z\n1,0,2\n\"3\",4,0\n0,5,6\n");
	write_text(file("a.labels"), "red\ngreen\nred\n");
	write_text(file("result.json"),
	           "{\"kindred\":\"0\",\"method\":\"kmeans\",\"tasks\":[{\"name\":\"a\",\"n\":3,\"d\":2,"
	           "\"nnz\":6,\"k\":2,\"sizes\":[2,1],\"labels\":[0,0,1],\"metrics\":null}],"
	           "\"objective\":[3,2,1],\"stop\":\"converged\",\"iterations\":3}");
	/* The other inputs are written by the library itself. */
	kdr_context *ctx = NULL;
	kdr_data *data = NULL;
	kdr_mat s = kdr_mat_from_csr(N, D, rowptr, columns, points);
	kdr_array array = { "c", -1, KDR_FLOAT64, 2, { N, D, 0 }, points };
	static const char *const names[] = { "x", "y", "z" };
	int failed = kdr_context_new(&ctx, NULL) != KDR_OK ||
	             kdr_data_new(ctx, "b", &s, names, &data) != KDR_OK ||
	             kdr_write(ctx, file("b.mtx.gz"), NULL, data, true) != KDR_OK ||
	             kdr_write_array(ctx, file("c.npy"), &array, true) != KDR_OK;
	if (failed)
		fprintf(stderr, "cannot make the inputs: %s\n", kdr_context_error(ctx));
	kdr_data_free(data);
	kdr_context_free(ctx);
	for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0] && !failed; i++)
		for (int once = 0; once < 2 && !failed && wanted(scenarios[i].name, argc, argv); once++)
			failed = exhaust(scenarios[i].name, scenarios[i].run, scenarios[i].step, once);
	char command[300];
	snprintf(command, sizeof command, "rm -rf %s", folder);
	return system(command) != 0 || failed;
}
