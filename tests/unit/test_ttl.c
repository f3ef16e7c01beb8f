/* ttl and nmtf as methods, and the choice of bridges. SPDX-License-Identifier: BSD-3-Clause */
#include "api/method.h"
#include "core/json_read.h"
#include "jobs/relate/relate.h"
#include "methods/ttl/ttl.h"
#include "tests/unit/golden.h"

enum { N = 60, D = 30, C = 3 };

/* Topics with three parts of vocabulary: words 0..9 only in the source, 20..29 only in the target, 10..19 in all; the bridge has
 * them all. Sparse, so that both layouts can be tried. */
typedef struct sets {
	double x[3][N * D], val[3][N * D];
	int32_t col[3][N * D];
	int64_t rowptr[3][N + 1], y[3][N];
} sets;

static sets *sets_new(uint64_t seed)
{
	sets *s = calloc(1, sizeof *s);
	assert_non_null(s);
	for (int k = 0; k < 3; k++) {
		kdri_rng rng = kdri_rng_stream(seed, "test", (uint64_t)k);
		int64_t nnz = 0;
		for (int64_t i = 0; i < N; i++) {
			int64_t c = s->y[k][i] = kdri_rng_below(&rng, C);
			for (int64_t j = 0; j < D; j++) {
				bool missing = (k == 0 && j >= 20) || (k == 2 && j < 10);
				double p = j % C == c ? 0.7 : 0.1, v = kdri_rng_uniform(&rng) + 0.2;
				if (missing || kdri_rng_uniform(&rng) > p)
					continue;
				s->x[k][i * D + j] = v;
				s->col[k][nnz] = (int32_t)j;
				s->val[k][nnz++] = v;
			}
			s->rowptr[k][i + 1] = nnz;
		}
	}
	return s;
}

static kdr_mat mat_of(const sets *s, int k, bool sparse)
{
	return sparse ? kdr_mat_from_csr(N, D, s->rowptr[k], s->col[k], s->val[k])
	              : kdr_mat_from_dense(s->x[k], N, D);
}

static void tasks_of(const sets *s, bool sparse, kdr_task *tasks)
{
	static const char *const names[3] = { "source", "bridge", "target" };
	static const kdr_role roles[3] = { KDR_ROLE_SOURCE, KDR_ROLE_BRIDGE, KDR_ROLE_TARGET };
	for (int k = 0; k < 3; k++)
		tasks[k] =
		        (kdr_task){ .name = names[k], .role = roles[k], .x = mat_of(s, k, sparse), .k = C };
	tasks[0].labels = s->y[0];
}

static kdr_result *fit(kdr_context *ctx, const char *method, const kdr_task *tasks, int64_t count,
                       const char *name, const char *value)
{
	kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = tasks, .ntasks = count, .classes = C };
	kdr_options *options = NULL;
	kdr_result *result = NULL;
	assert_ok(ctx, kdr_options_new(ctx, method, &options));
	assert_ok(ctx, kdr_options_set(ctx, options, "p1", "5"));
	assert_ok(ctx, kdr_options_set(ctx, options, "p2", "4"));
	if (name)
		assert_ok(ctx, kdr_options_set(ctx, options, name, value));
	assert_ok(ctx, kdr_fit(ctx, method, &problem, options, &result));
	kdr_options_free(options);
	return result;
}

static double accuracy(const kdr_result *r, int64_t task, const int64_t *truth)
{
	int64_t n, right = 0;
	const int64_t *labels = kdr_result_labels(r, task, &n);
	assert_non_null(labels);
	for (int64_t i = 0; i < n; i++)
		right += labels[i] == truth[i];
	return (double)right / (double)n;
}

static void ttl__bridged_topics__found_in_both_layouts(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	sets *s = sets_new(1);
	kdr_task dense[3], sparse[3];
	tasks_of(s, false, dense);
	tasks_of(s, true, sparse);
	static const char *const methods[2] = { "ttl", "nmtf" };
	for (int m = 0; m < 2; m++) {
		kdr_result *a = fit(ctx, methods[m], dense, 3, NULL, NULL),
		           *b = fit(ctx, methods[m], sparse, 3, NULL, NULL);
		assert_true(accuracy(a, 2, s->y[2]) > 0.85);
		assert_true(accuracy(a, 1, s->y[1]) > 0.85);
		assert_null(kdr_result_labels(a, 0, NULL));
		int64_t n, na, nb;
		assert_memory_equal(kdr_result_labels(a, 2, &n), kdr_result_labels(b, 2, &n),
		                    N * sizeof(int64_t));
		const double *x = kdr_result_objective(a, &na), *y = kdr_result_objective(b, &nb);
		assert_int_equal(na, nb);
		for (int64_t i = 0; i < na; i++)
			assert_near(x[i], y[i], 1e-8 * x[0]);
		kdr_array p = kdr_result_array(a, "probabilities", 2);
		for (int64_t i = 0; i < N; i++) {
			double sum = 0;
			for (int64_t c = 0; c < C; c++)
				sum += ((const double *)p.data)[i * C + c];
			assert_near(sum, 1, 1e-12);
		}
		kdr_result_free(a);
		kdr_result_free(b);
	}
	free(s);
	kdr_context_free(ctx);
}

/* Classes called otherwise in the source are called otherwise in the answer; nothing else changes. */
static void ttl__classes_permuted__permutes_the_answer(void **state)
{
	(void)state;
	static const int64_t to[C] = { 2, 0, 1 };
	kdr_context *ctx = unit_context();
	sets *s = sets_new(2);
	kdr_task tasks[3];
	int64_t renamed[N], n;
	tasks_of(s, true, tasks);
	/* The random start of A belongs to columns, so that only a start without preference is symmetric: labels settle it. */
	kdr_result *a = fit(ctx, "ttl", tasks, 3, "max_iter", "300");
	for (int64_t i = 0; i < N; i++)
		renamed[i] = to[s->y[0][i]];
	tasks[0].labels = renamed;
	kdr_result *b = fit(ctx, "ttl", tasks, 3, "max_iter", "300");
	const int64_t *x = kdr_result_labels(a, 2, &n), *y = kdr_result_labels(b, 2, &n);
	int64_t equal = 0;
	for (int64_t i = 0; i < N; i++)
		equal += to[x[i]] == y[i];
	assert_true(equal >= N - 2);
	kdr_result_free(a);
	kdr_result_free(b);
	free(s);
	kdr_context_free(ctx);
}

static void ttl__known_rows_and_views__are_kept(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	sets *s = sets_new(3);
	kdr_task tasks[4];
	int64_t known[N], n;
	tasks_of(s, false, tasks);
	for (int64_t i = 0; i < N; i++)
		known[i] = i < 6 ? (s->y[2][i] + 1) % C : -1; /* wrong on purpose: they stay */
	tasks[2].labels = known;
	kdr_result *r = fit(ctx, "ttl", tasks, 3, NULL, NULL);
	const int64_t *labels = kdr_result_labels(r, 2, &n);
	for (int64_t i = 0; i < 6; i++)
		assert_int_equal(labels[i], known[i]);
	kdr_result_free(r);
	/* The bridge twice is the bridge once; in other columns it is a second view, and columns are then not shared. */
	tasks[2].labels = NULL;
	tasks[3] = tasks[1];
	kdr_result *one = fit(ctx, "ttl", tasks, 3, NULL, NULL), *two = fit(ctx, "ttl", tasks, 4, NULL, NULL);
	int64_t count;
	const double *a = kdr_result_objective(one, &count), *b = kdr_result_objective(two, &count);
	for (int64_t i = 0; i < count; i++)
		assert_near(a[i], b[i], 1e-9 * a[0]);
	kdr_result_free(one);
	kdr_result_free(two);
	/* Views of 20 and 25 columns. */
	tasks[0].x.as.dense.cols = tasks[1].x.as.dense.cols = 20;
	tasks[3].x.as.dense = (kdr_dense){ s->x[1] + 5, N, 25, D };
	tasks[2].x.as.dense = (kdr_dense){ s->x[2] + 5, N, 25, D };
	r = fit(ctx, "ttl", tasks, 4, NULL, NULL);
	assert_true(accuracy(r, 2, s->y[2]) > 0.8);
	assert_null(kdr_result_labels(r, 3, NULL));
	assert_int_equal(kdr_result_array(r, "shared_source", -1).shape[0], 20);
	assert_int_equal(kdr_result_array(r, "shared_target", -1).shape[0], 25);
	kdr_result_free(r);
	free(s);
	kdr_context_free(ctx);
}

static void ttl__several_starts_and_given_labels__keep_the_best(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	sets *s = sets_new(4);
	kdr_task tasks[3];
	tasks_of(s, true, tasks);
	kdr_result *one = fit(ctx, "ttl", tasks, 3, NULL, NULL),
	           *many = fit(ctx, "ttl", tasks, 3, "n_init", "5");
	int64_t n, m;
	const double *a = kdr_result_objective(one, &n), *b = kdr_result_objective(many, &m);
	assert_true(b[m - 1] <= a[n - 1]);
	kdr_result_free(one);
	kdr_result_free(many);
	/* Without a sweep the answer is the given start. */
	tasks[2].init = s->y[2];
	kdr_result *r = fit(ctx, "ttl", tasks, 3, "max_iter", "0");
	assert_near(accuracy(r, 2, s->y[2]), 1, 0);
	assert_int_equal(kdr_result_iterations(r), 0);
	assert_true(kdr_result_complete(r));
	kdr_result_free(r);
	/* Exactly this number of sweeps is done, unless a tolerance is set. */
	r = fit(ctx, "ttl", tasks, 3, "max_iter", "2");
	assert_int_equal(kdr_result_stop(r), KDR_STOP_MAX_ITER);
	assert_true(kdr_result_complete(r));
	kdr_result_free(r);
	r = fit(ctx, "ttl", tasks, 3, "tol", "0");
	assert_int_equal(kdr_result_stop(r), KDR_STOP_MAX_ITER);
	assert_false(kdr_result_complete(r));
	kdr_result_free(r);
	free(s);
	kdr_context_free(ctx);
}

/* --- bad input ------------------------------------------------------------------------------------- */

static void refuses(kdr_context *ctx, const char *method, const kdr_task *tasks, int64_t count,
                    int64_t classes, const char *words)
{
	kdr_problem problem = {
		.size = sizeof(kdr_problem), .tasks = tasks, .ntasks = count, .classes = classes
	};
	kdr_result *result = NULL;
	assert_int_not_equal(kdr_fit(ctx, method, &problem, NULL, &result), KDR_OK);
	assert_null(result);
	if (!strstr(kdr_context_error(ctx), words))
		fail_msg("'%s' does not say '%s'", kdr_context_error(ctx), words);
}

static void ttl__bad_input__one_clear_line(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	sets *s = sets_new(5);
	kdr_task tasks[5], kept[3];
	static double zeros[N * D], far[N * D];
	tasks_of(s, false, kept);
#define AGAIN() memcpy(tasks, kept, sizeof kept)
	AGAIN();
	refuses(ctx, "ttl", tasks, 3, C + 1, "class 3 of 4 has no row");
	refuses(ctx, "ttl", tasks, 2, C, "at least one of each");
	tasks[1] = kept[2];
	refuses(ctx, "ttl", tasks, 2, C, "no bridge was given");
	AGAIN();
	int64_t same[N] = { 0 };
	tasks[0].labels = same;
	refuses(ctx, "ttl", tasks, 3, 1, "at least two");
	AGAIN();
	tasks[2].x.as.dense.data = zeros;
	refuses(ctx, "ttl", tasks, 3, C, "the target: all values are zero");
	AGAIN();
	for (int64_t i = 0; i < N; i++)
		far[i * D + 29] = 1; /* a word that the source does not have */
	tasks[1].x.as.dense.data = far;
	refuses(ctx, "ttl", tasks, 3, C, "the bridge has no feature in common with the source");
	memset(far, 0, sizeof far);
	for (int64_t i = 0; i < N; i++)
		far[i * D] = 1;
	refuses(ctx, "ttl", tasks, 3, C, "the target has no feature in common with the bridge");
	AGAIN();
	s->x[1][7] = -1;
	refuses(ctx, "ttl", tasks, 3, C, "needs values >= 0");
	s->x[1][7] = 0;
	tasks[3] = kept[1];
	tasks[3].x.as.dense.rows = N - 1;
	refuses(ctx, "ttl", tasks, 4, C, "views of the same samples");
	tasks[4] = tasks[3] = kept[1];
	refuses(ctx, "ttl", tasks, 5, C, "3 bridges");
	tasks[1].x.as.dense.cols = D - 1;
	refuses(ctx, "ttl", tasks, 3, C, "align them first");
	free(s);
	kdr_context_free(ctx);
}

/* Rows without an entry keep the start's class and say so nowhere else. */
static void ttl__some_empty_rows__still_get_a_class(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	sets *s = sets_new(6);
	kdr_task tasks[3];
	tasks_of(s, false, tasks);
	memset(s->x[2], 0, 3 * D * sizeof(double));
	memset(s->x[1], 0, 2 * D * sizeof(double));
	kdr_result *r = fit(ctx, "ttl", tasks, 3, "norm", "rescale");
	kdr_array p = kdr_result_array(r, "probabilities", 2);
	for (int64_t i = 0; i < 3 * C; i++)
		assert_true(((const double *)p.data)[i] > 0);
	kdr_result_free(r);
	free(s);
	kdr_context_free(ctx);
}

/* --- selection ------------------------------------------------------------------------------------- */

static void selector__golden__fit(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	const kdri_json_value *root = golden_load("ttl.json");
	const kdri_json_value *g = kdri_json_get(kdri_json_get(root, "selection"), "fit");
	int64_t n, size, *l = golden_integers(kdri_json_get(g, "l"), &n);
	double *c = golden_numbers(kdri_json_get(g, "C"), &size), *p = malloc((size_t)n * sizeof *p);
	int *helps = malloc((size_t)n * sizeof *helps);
	kdr_selector s;
	for (int64_t i = 0; i < n; i++)
		helps[i] = (int)l[i];
	assert_ok(ctx, kdri_selector_fit(ctx, c, helps, n, golden_number(g, "ridge"), &s));
	golden_close("selector", "beta", s.beta, kdri_json_get(g, "beta"), 1e-8);
	assert_near(s.log_likelihood, golden_number(g, "loglik"), 1e-9);
	for (int64_t i = 0; i < n; i++)
		p[i] = kdri_selector_probability(&s, c + i * KDR_BRIDGE_FEATURES);
	golden_close("selector", "prob", p, kdri_json_get(g, "prob"), 1e-9);
	memset(helps, 0, (size_t)n * sizeof *helps);
	assert_int_equal(kdri_selector_fit(ctx, c, helps, n, 1e-3, &s), KDR_ERR_DATA);
	free(helps);
	free(p);
	free(c);
	free(l);
	golden_free(root);
	kdr_context_free(ctx);
}

static void rank__bridge_between_and_far__between_wins(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	enum { M = 80 };
	static double x[4][2 * M];
	static const double centre[4] = { 0, 1.2, 2.4, 9 }; /* source, between, target, far */
	kdri_rng rng = kdri_rng_stream(1, "test", 9);
	kdr_mat m[4];
	for (int k = 0; k < 4; k++) {
		for (int64_t i = 0; i < 2 * M; i++)
			x[k][i] = kdri_rng_normal(&rng) + (i % 2 ? 0 : centre[k]);
		m[k] = kdr_mat_from_dense(x[k], M, 2);
	}
	const kdri_bridge_candidate c[2] = { { m[3], m[3] }, { m[1], m[1] } };
	kdri_bridge_score s[2];
	assert_ok(ctx, kdri_bridge_rank(ctx, &m[0], &m[2], c, 2, NULL, NULL, s));
	assert_int_equal(s[1].rank, 0);
	assert_int_equal(s[0].rank, 1);
	assert_true(s[1].score > 0 && s[0].score < 0 && isnan(s[0].probability));
	assert_non_null(strstr(s[1].reason, "is below A(source, target)"));
	assert_non_null(strstr(s[0].reason, "is above A(source, target)"));
	/* A model that loves distance turns it round. */
	const kdr_selector far = { .beta = { 0, 0, 0, 0, 5, 0, 5 } };
	assert_ok(ctx, kdri_bridge_rank(ctx, &m[0], &m[2], c, 2, &far, NULL, s));
	assert_int_equal(s[0].rank, 0);
	assert_near(s[0].score, s[0].probability, 0);
	kdr_context_free(ctx);
}

/* Classes that come out in another order are put back by what sets the bridge's apart. */
static void identity__swapped_classes__are_put_back(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	sets *s = sets_new(5);
	kdr_task tasks[3];
	kdr_result *result = NULL;
	double bridge[N * C] = { 0 }, target[N * C] = { 0 }, start[N * C], number = NAN;
	tasks_of(s, true, tasks);
	kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = tasks, .ntasks = 3, .classes = C };
	kdri_bridging b;
	assert_ok(ctx, kdri_bridging_new(ctx, &problem, true, &b));
	assert_ok(ctx, kdri_result_new(ctx, kdr_algo_find("ttl"), &problem, &result));
	for (int64_t i = 0; i < N; i++) {
		bridge[i * C + s->y[1][i]] = 1;
		target[i * C + (s->y[2][i] + 1) % C] = 1;
		for (int64_t c = 0; c < C; c++)
			start[i * C + c] = 1.0 / C;
	}
	assert_ok(ctx, kdri_bridging_identity(ctx, &b, bridge, start, target, result));
	for (int64_t i = 0; i < kdr_result_field_count(result); i++) {
		double value = NAN;
		const char *text = NULL;
		if (strcmp(kdr_result_field_at(result, i, &value, &text), "identity") == 0)
			number = value;
	}
	for (int64_t i = 0; i < N; i++)
		assert_true(target[i * C + s->y[2][i]] == 1);
	assert_true(number >= 0.8 && number <= 1);
	assert_non_null(strstr(kdr_result_warning_at(result, 0), "swapped"));
	/* A start that is right in two rows of three is believed, though the bridge's classes are swapped. */
	for (int64_t i = 0; i < N; i++)
		for (int64_t c = 0; c < C; c++) {
			bridge[i * C + c] = c == (s->y[1][i] + 1) % C;
			target[i * C + c] = c == s->y[2][i];
			start[i * C + c] = c == (s->y[2][i] + (i % 3 == 0)) % C ? 0.4 : 0.6 / (C - 1);
		}
	assert_ok(ctx, kdri_bridging_identity(ctx, &b, bridge, start, target, result));
	for (int64_t i = 0; i < N; i++)
		assert_true(target[i * C + s->y[2][i]] == 1);
	kdr_result_free(result);
	kdri_bridging_free(ctx, &b);
	free(s);
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(identity__swapped_classes__are_put_back),
		cmocka_unit_test(ttl__bridged_topics__found_in_both_layouts),
		cmocka_unit_test(ttl__classes_permuted__permutes_the_answer),
		cmocka_unit_test(ttl__known_rows_and_views__are_kept),
		cmocka_unit_test(ttl__several_starts_and_given_labels__keep_the_best),
		cmocka_unit_test(ttl__bad_input__one_clear_line),
		cmocka_unit_test(ttl__some_empty_rows__still_get_a_class),
		cmocka_unit_test(selector__golden__fit),
		cmocka_unit_test(rank__bridge_between_and_far__between_wins),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
