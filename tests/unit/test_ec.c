/* Ensembles and their consensus: golden case, dense against low rank, relabelling, threads, options. */
#include "core/json_read.h"
#include "tests/unit/golden.h"

#include "engine/ensemble/ensemble.h"
#include "matrix/linalg.h"

/* --- the golden case --------------------------------------------------------------------------- */

typedef struct golden {
	const kdri_json_value *root;
	double *x;
	int64_t n, d, runs;
	kdri_run plan[16];
	kdri_ensemble e;
} golden;

static void load(kdr_context *ctx, golden *g, const char *data, const char *plan, int64_t n)
{
	int64_t size;
	g->root = golden_load("trec.json");
	g->x = golden_numbers(kdri_json_get(g->root, data), &size);
	g->n = n;
	g->d = size / n;
	const kdri_json_value *list = kdri_json_get(g->root, plan);
	g->runs = kdri_json_count(list);
	for (int64_t l = 0; l < g->runs; l++) {
		const kdri_json_value *run = kdri_json_at(list, l);
		int64_t m, *features = golden_integers(kdri_json_get(run, "features"), &m);
		g->plan[l] = (kdri_run){ .k = kdri_json_integer(kdri_json_get(run, "k"), 0), .nfeatures = m };
		g->plan[l].centres = golden_integers(kdri_json_get(run, "centres"), NULL);
		g->plan[l].features = malloc((size_t)m * sizeof(int32_t));
		for (int64_t j = 0; j < m; j++)
			g->plan[l].features[j] = (int32_t)features[j];
		free(features);
	}
	kdri_ensemble_spec spec = {
		.runs = g->runs, .max_iter = 100, .silhouettes = true, .kind = KDR_SILHOUETTE_EXACT
	};
	kdr_mat x = kdr_mat_from_dense(g->x, g->n, g->d);
	assert_ok(ctx, kdri_ensemble_new(ctx, &x, &spec, g->plan, &g->e));
}

static void unload(kdr_context *ctx, golden *g)
{
	for (int64_t l = 0; l < g->runs; l++) {
		free(g->plan[l].features);
		free(g->plan[l].centres);
	}
	kdri_ensemble_free(ctx, &g->e);
	free(g->x);
	golden_free(g->root);
}

static double coassociation(const kdri_ensemble *e, int64_t i, int64_t j)
{
	int64_t same = 0;
	for (int64_t l = 0; l < e->runs; l++)
		same += e->label[l * e->n + i] == e->label[l * e->n + j];
	return (double)same / (double)e->runs;
}

static void ensemble__golden_plan__labels_coassociation_and_silhouettes(void **state)
{
	(void)state;
	static const char *const keys[2][5] = { { "XT", "planT", "labelsT", "HT", "silT" },
		                                { "XS", "planS", "labelsS", "HS", "silS" } };
	static const int64_t rows[] = { 36, 40 };
	kdr_context *ctx = unit_context();
	for (int s = 0; s < 2; s++) {
		golden g;
		load(ctx, &g, keys[s][0], keys[s][1], rows[s]);
		int64_t *labels = golden_integers(kdri_json_get(g.root, keys[s][2]), NULL);
		double *h = golden_numbers(kdri_json_get(g.root, keys[s][3]), NULL),
		       *silhouette = golden_numbers(kdri_json_get(g.root, keys[s][4]), NULL);
		for (int64_t i = 0; i < g.runs * g.n; i++)
			assert_int_equal(g.e.label[i], labels[i]);
		for (int64_t i = 0; i < g.n; i++) {
			assert_near(g.e.silhouette[i], silhouette[i], 1e-9);
			for (int64_t j = 0; j < g.n; j++)
				assert_near(coassociation(&g.e, i, j), h[i * g.n + j], 1e-9);
		}
		free(labels);
		free(h);
		free(silhouette);
		unload(ctx, &g);
	}
	kdr_context_free(ctx);
}

/* The golden trace has the inertia of each assignment against the centres it was made from. */
static void kmeans__golden_plan__inertia_of_every_iteration(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	golden g;
	load(ctx, &g, "XT", "planT", 36);
	const kdri_json_value *traces = kdri_json_get(g.root, "inertia_traceT");
	for (int64_t l = 0; l < g.runs; l++) {
		const kdri_run *run = &g.plan[l];
		const kdri_json_value *trace = kdri_json_at(traces, l);
		int64_t m = run->nfeatures, k = run->k;
		double *part = malloc((size_t)(g.n * m) * sizeof *part),
		       *centres = malloc((size_t)(k * m) * sizeof *centres);
		for (int64_t i = 0; i < g.n; i++)
			for (int64_t j = 0; j < m; j++)
				part[i * m + j] = g.x[i * g.d + run->features[j]];
		for (int64_t c = 0; c < k; c++)
			memcpy(centres + c * m, part + run->centres[c] * m, (size_t)m * sizeof *centres);
		kdr_mat x = kdr_mat_from_dense(part, g.n, m);
		for (int64_t step = 0; step < kdri_json_count(trace); step++) {
			kdri_kmeans_options o = kdri_kmeans_defaults(k);
			kdri_kmeans_result r = { 0 };
			o.tol = 0;
			o.max_iter = (int64_t)step;
			o.init_centres = centres;
			assert_ok(ctx, kdri_kmeans(ctx, &x, NULL, &o, &r));
			/* Against the centres before the last update: those the next step starts from. */
			double sum = 0;
			int64_t *labels = malloc((size_t)g.n * sizeof *labels);
			const double *from = step == 0 ? centres : r.centres;
			assert_ok(ctx, kdri_kmeans_assign(ctx, &x, from, k, false, labels));
			for (int64_t i = 0; i < g.n; i++)
				for (int64_t j = 0; j < m; j++) {
					double gap = part[i * m + j] - from[labels[i] * m + j];
					sum += gap * gap;
				}
			assert_near(sum, kdri_json_number(kdri_json_at(trace, step), 0), 1e-9);
			free(labels);
			kdri_kmeans_free(ctx, &r);
		}
		free(part);
		free(centres);
	}
	unload(ctx, &g);
	kdr_context_free(ctx);
}

static void consensus__golden__eigenvalues_embedding_and_partition(void **state)
{
	(void)state;
	enum { K = 4 };
	kdr_context *ctx = unit_context();
	golden g;
	load(ctx, &g, "XT", "planT", 36);
	int64_t m = g.e.offset[g.runs];
	double *eig = golden_numbers(kdri_json_get(g.root, "eig"), NULL),
	       *want = golden_numbers(kdri_json_get(g.root, "embedding"), NULL),
	       *table = malloc((size_t)(m * K) * sizeof *table), values[K],
	       *u = malloc((size_t)(g.n * K) * sizeof *u);
	assert_ok(ctx, kdri_consensus_spectrum(ctx, &g.e, K, values, table));
	kdri_consensus_embed(ctx, &g.e, table, K, K, u);
	for (int j = 0; j < K; j++) {
		assert_near(values[j], eig[j], 1e-9);
		/* Eigenvectors have a sign of their own. */
		double sign = u[j] * want[j] < 0 ? -1 : 1;
		for (int64_t i = 0; i < g.n; i++)
			assert_near(sign * u[i * K + j], want[i * K + j], 1e-9);
	}
	/* The golden partition, from another start of k-means, is a fixed point of ours. */
	int64_t *labels = golden_integers(kdri_json_get(g.root, "ec_labels"), NULL);
	kdri_consensus_options o = { .k = K, .most = K, .n_init = 1, .max_iter = 100, .init = labels };
	kdri_consensus c = { 0 };
	assert_ok(ctx, kdri_consensus_new(ctx, &g.e, &o, &c));
	assert_memory_equal(c.kmeans.labels, labels, (size_t)g.n * sizeof *labels);
	/* Stability by its definition. */
	for (int64_t i = 0; i < g.n; i++) {
		double sum = 0, count = 0;
		for (int64_t j = 0; j < g.n; j++)
			if (j != i && labels[i] == labels[j]) {
				sum += coassociation(&g.e, i, j);
				count++;
			}
		assert_near(c.stability[i], count > 0 ? sum / count : 1, 1e-12);
	}
	/* The score by kdr_evaluate. */
	double sum = 0;
	for (int64_t l = 0; l < g.runs; l++) {
		int64_t run[64];
		kdr_scores s;
		for (int64_t i = 0; i < g.n; i++)
			run[i] = g.e.label[l * g.n + i];
		assert_ok(ctx, kdr_evaluate(ctx, run, labels, g.n, &s));
		sum += s.nmi;
	}
	assert_near(c.score, sum / (double)g.runs, 1e-12);
	kdri_consensus_free(ctx, &c);
	free(eig);
	free(want);
	free(table);
	free(u);
	free(labels);
	unload(ctx, &g);
	kdr_context_free(ctx);
}

/* --- properties -------------------------------------------------------------------------------- */

/* Random labels that agree with a hidden partition into `groups` two times of three. */
static kdri_ensemble random_ensemble(kdri_rng *rng, int64_t n, int64_t runs, int64_t k, int64_t groups)
{
	kdri_ensemble e = { .n = n, .runs = runs };
	e.offset = malloc((size_t)(runs + 1) * sizeof *e.offset);
	e.label = malloc((size_t)(runs * n) * sizeof *e.label);
	for (int64_t l = 0; l <= runs; l++)
		e.offset[l] = l * k;
	for (int64_t l = 0; l < runs; l++)
		for (int64_t i = 0; i < n; i++)
			e.label[l * n + i] = (int32_t)(kdri_rng_below(rng, 3) ? (i % groups + l) % k
			                                                      : kdri_rng_below(rng, k));
	return e;
}

static void release(kdri_ensemble *e)
{
	free(e->offset);
	free(e->label);
}

static void spectrum__random_ensembles__equals_dense(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(5, "spectrum", 0);
	for (int trial = 0; trial < 40; trial++) {
		int64_t n = 1 + kdri_rng_below(&rng, 60), runs = 1 + kdri_rng_below(&rng, 6),
		        k = 1 + kdri_rng_below(&rng, 5), groups = 1 + kdri_rng_below(&rng, k);
		kdri_ensemble e = random_ensemble(&rng, n, runs, k, groups);
		int64_t m = e.offset[runs], count = m < n ? m : n;
		double *values = malloc((size_t)count * sizeof *values),
		       *table = malloc((size_t)(m * count) * sizeof *table),
		       *dense = calloc((size_t)(n * n), sizeof *dense),
		       *copy = calloc((size_t)(n * n), sizeof *copy), *all = malloc((size_t)n * sizeof *all),
		       *degree = calloc((size_t)n, sizeof *degree),
		       *u = malloc((size_t)(n * count) * sizeof *u);
		assert_ok(ctx, kdri_consensus_spectrum(ctx, &e, count, values, table));
		for (int64_t i = 0; i < n; i++)
			for (int64_t j = 0; j < n; j++)
				degree[i] += dense[i * n + j] = coassociation(&e, i, j);
		for (int64_t i = 0; i < n; i++)
			for (int64_t j = 0; j < n; j++)
				copy[i * n + j] = dense[i * n + j] /= sqrt(degree[i] * degree[j]);
		assert_ok(ctx, kdri_eigh(ctx, n, copy, n, all));
		for (int64_t j = 0; j < count; j++)
			assert_near(values[j], all[n - 1 - j], 1e-12);
		/* Vectors, unscaled: A u = lambda u, u'u = 1, whatever multiple eigenvalues do. */
		for (int64_t j = 0; j < count; j++) {
			double square = 0;
			if (values[j] < 1e-9)
				continue;
			for (int64_t i = 0; i < n; i++) {
				u[i] = 0;
				for (int64_t l = 0; l < runs; l++)
					u[i] += table[(e.offset[l] + e.label[l * n + i]) * count + j];
				u[i] /= sqrt((double)runs * degree[i]);
				square += u[i] * u[i];
			}
			assert_near(square, 1, 1e-9);
			for (int64_t i = 0; i < n; i++) {
				double sum = 0;
				for (int64_t r = 0; r < n; r++)
					sum += dense[i * n + r] * u[r];
				assert_near(sum, values[j] * u[i], 1e-9);
			}
		}
		free(values);
		free(table);
		free(dense);
		free(copy);
		free(all);
		free(degree);
		free(u);
		release(&e);
	}
	kdr_context_free(ctx);
}

static void consensus__runs_relabelled__same_partition(void **state)
{
	(void)state;
	enum { N = 90, L = 7, K = 4 };
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(6, "relabel", 0);
	for (int trial = 0; trial < 10; trial++) {
		kdri_ensemble e = random_ensemble(&rng, N, L, K, 3);
		kdri_consensus_options o = { .k = 3, .most = K, .n_init = 10, .max_iter = 100 };
		kdri_consensus a = { 0 }, b = { 0 };
		kdr_scores s;
		assert_ok(ctx, kdri_consensus_new(ctx, &e, &o, &a));
		for (int64_t i = 0; i < L * N; i++)
			e.label[i] = (e.label[i] + 1 + (int32_t)(i / N)) % K;
		assert_ok(ctx, kdri_consensus_new(ctx, &e, &o, &b));
		assert_ok(ctx, kdr_evaluate(ctx, a.kmeans.labels, b.kmeans.labels, N, &s));
		assert_near(s.ari, 1, 1e-12);
		assert_near(a.score, b.score, 1e-12);
		assert_int_equal(a.suggested, b.suggested);
		kdri_consensus_free(ctx, &a);
		kdri_consensus_free(ctx, &b);
		release(&e);
	}
	kdr_context_free(ctx);
}

static void gap__given_values__largest_gap(void **state)
{
	(void)state;
	static const double values[] = { 1, .95, .9, .3, .25, .2 };
	assert_int_equal(kdri_consensus_gap(values, 6, 5), 3);
	assert_int_equal(kdri_consensus_gap(values, 6, 2), 2);
	assert_int_equal(kdri_consensus_gap(values, 3, 5), 3); /* the next is 0 */
	assert_int_equal(kdri_consensus_gap(values, 1, 5), 1);
	assert_int_equal(kdri_consensus_gap(values, 6, 1), 1);
}

/* --- the method -------------------------------------------------------------------------------- */

enum { N = 300, D = 8, K = 4 };

static void blobs(double *x, int64_t *truth)
{
	kdri_rng rng = kdri_rng_stream(8, "blobs", 0);
	for (int i = 0; i < N; i++) {
		truth[i] = i % K;
		for (int j = 0; j < D; j++)
			x[i * D + j] = kdri_rng_normal(&rng) + 9 * ((truth[i] >> (j % 2)) & 1) +
			               3 * (double)truth[i];
	}
}

static kdr_status fit(kdr_context *ctx, kdr_mat x, int64_t k, const int64_t *init, const char *const *set,
                      kdr_result **out)
{
	kdr_options *options = NULL;
	kdr_task task = { .name = "a", .x = x, .k = k, .init = init };
	kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = &task, .ntasks = 1 };
	assert_ok(ctx, kdr_options_new(ctx, "ec", &options));
	kdr_status st = KDR_OK;
	for (; set && *set && st == KDR_OK; set += 2)
		st = kdr_options_set(ctx, options, set[0], set[1]);
	if (st == KDR_OK)
		st = kdr_fit(ctx, "ec", &problem, options, out);
	kdr_options_free(options);
	return st;
}

static double number(const kdr_result *r, const char *name)
{
	for (int64_t i = 0; i < kdr_result_field_count(r); i++) {
		double value;
		const char *text;
		if (strcmp(kdr_result_field_at(r, i, &value, &text), name) == 0)
			return value;
	}
	fail_msg("no field '%s'", name);
	return NAN;
}

static void ec__separated_blobs__found_whatever_the_runs_vary(void **state)
{
	(void)state;
	static const char *const cases[][8] = {
		{ NULL },
		{ "features", "2", NULL },
		{ "features", "8", "k_min", "2", "k_max", "9", NULL },
		{ "subsample", "0.2", "runs", "30", NULL },
	};
	static double x[N * D];
	static int64_t truth[N];
	kdr_context *ctx = unit_context();
	blobs(x, truth);
	for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
		kdr_result *r = NULL;
		kdr_scores s;
		int64_t n;
		assert_ok(ctx, fit(ctx, kdr_mat_from_dense(x, N, D), K, NULL, cases[c], &r));
		assert_ok(ctx, kdr_evaluate(ctx, kdr_result_labels(r, 0, &n), truth, N, &s));
		assert_true(s.ari > 0.99);
		assert_true(number(r, "stability.a") > 0.5 && number(r, "stability.a") <= 1);
		assert_true(number(r, "consensus.a") > 0.5 && number(r, "consensus.a") <= 1 + 1e-12);
		kdr_result_free(r);
	}
	kdr_context_free(ctx);
}

static void ec__k_unknown__finds_it(void **state)
{
	(void)state;
	static double x[N * D];
	static int64_t truth[N];
	kdr_context *ctx = unit_context();
	kdr_result *r = NULL;
	blobs(x, truth);
	assert_ok(ctx, fit(ctx, kdr_mat_from_dense(x, N, D), 0, NULL, NULL, &r));
	assert_int_equal(kdr_result_k(r, 0), K);
	assert_int_equal((int)number(r, "suggested_k.a"), K);
	kdr_result_free(r);
	kdr_context_free(ctx);
}

static void ec__initial_labels__are_the_start(void **state)
{
	(void)state;
	static double x[N * D];
	static int64_t truth[N], init[N];
	kdr_context *ctx = unit_context();
	blobs(x, truth);
	for (int i = 0; i < N; i++)
		init[i] = (truth[i] + 1) % K;
	kdr_result *r = NULL;
	int64_t n;
	assert_ok(ctx, fit(ctx, kdr_mat_from_dense(x, N, D), K, init, NULL, &r));
	assert_memory_equal(kdr_result_labels(r, 0, &n), init, sizeof init);
	kdr_result_free(r);
	kdr_context_free(ctx);
}

static void ec__degenerate_data__valid_labels(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	double same[12] = { 0 }, line[3] = { 1, 2, 3 };
	kdr_result *r = NULL;
	assert_ok(ctx, fit(ctx, kdr_mat_from_dense(same, 6, 2), 3, NULL, NULL, &r));
	assert_true(kdr_result_warning_count(r) > 0);
	kdr_result_free(r);
	assert_ok(ctx, fit(ctx, kdr_mat_from_dense(line, 3, 1), 3, NULL, NULL, &r));
	kdr_result_free(r);
	assert_ok(ctx, fit(ctx, kdr_mat_from_dense(line, 1, 3), 1, NULL, NULL, &r));
	kdr_result_free(r);
	assert_ok(ctx, fit(ctx, kdr_mat_from_dense(line, 1, 3), 0, NULL, NULL, &r));
	assert_int_equal(kdr_result_k(r, 0), 1);
	kdr_result_free(r);
	kdr_context_free(ctx);
}

static void ec__bad_options__one_clear_line(void **state)
{
	(void)state;
	static const struct {
		const char *set[5], *words;
		int64_t k;
	} cases[] = {
		{ { "runs", "0", NULL }, "runs", K },
		{ { "features", "9", NULL }, "option features is 9, but data set a has only 8 columns", K },
		{ { "k_max", "301", NULL }, "k_max is 301, but data set a has only 300 samples", K },
		{ { "k_min", "5", "k_max", "3", NULL }, "k_min is 5, but k_max is 3", K },
		{ { "subsample", "0.01", NULL }, "subsample = 0.01 leaves 3 of the 300 samples", K },
		{ { NULL }, "needs -k, the number of clusters", -1 },
	};
	static double x[N * D];
	static int64_t truth[N];
	kdr_context *ctx = unit_context();
	blobs(x, truth);
	for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
		kdr_result *r = NULL;
		assert_int_not_equal(
		        fit(ctx, kdr_mat_from_dense(x, N, D), cases[c].k, NULL, cases[c].set, &r), KDR_OK);
		assert_null(r);
		if (!strstr(kdr_context_error(ctx), cases[c].words))
			fail_msg("'%s' has no '%s'", kdr_context_error(ctx), cases[c].words);
	}
	kdr_result *r = NULL;
	assert_int_equal(fit(ctx, kdr_mat_from_dense(x, N, D), 0, truth, NULL, &r), KDR_ERR_ARGUMENT);
	assert_non_null(strstr(kdr_context_error(ctx), "initial labels need a specified k"));
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ensemble__golden_plan__labels_coassociation_and_silhouettes),
		cmocka_unit_test(kmeans__golden_plan__inertia_of_every_iteration),
		cmocka_unit_test(consensus__golden__eigenvalues_embedding_and_partition),
		cmocka_unit_test(spectrum__random_ensembles__equals_dense),
		cmocka_unit_test(consensus__runs_relabelled__same_partition),
		cmocka_unit_test(gap__given_values__largest_gap),
		cmocka_unit_test(ec__separated_blobs__found_whatever_the_runs_vary),
		cmocka_unit_test(ec__k_unknown__finds_it),
		cmocka_unit_test(ec__initial_labels__are_the_start),
		cmocka_unit_test(ec__degenerate_data__valid_labels),
		cmocka_unit_test(ec__bad_options__one_clear_line),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
