/* The registered method kmeans: tasks, pooling, initial labels, stopping, prediction, memory. */
#include "matrix/linalg.h"
#include "tests/unit/unit.h"

enum { N = 120, D = 6, K = 4 };

typedef struct fixture {
	double a[N * D], b[N * D];
	int64_t init[N];
	kdr_task tasks[2];
	kdr_problem problem;
} fixture;

static void set_up(fixture *f)
{
	kdri_rng rng = kdri_rng_stream(11, "test", 0);
	for (int i = 0; i < N * D; i++) {
		f->a[i] = 4 * (i / D % K) * (i % 2) + kdri_rng_normal(&rng);
		f->b[i] = 4 * (i / D % K) * (i % 2) + kdri_rng_normal(&rng);
	}
	for (int i = 0; i < N; i++)
		f->init[i] = i < K ? i : kdri_rng_below(&rng, K);
	f->tasks[0] = (kdr_task){ .name = "a", .x = kdr_mat_from_dense(f->a, N, D), .k = K };
	f->tasks[1] = (kdr_task){ .name = "b", .x = kdr_mat_from_dense(f->b, N, D), .k = K };
	f->problem = (kdr_problem){ .size = sizeof(kdr_problem), .tasks = f->tasks, .ntasks = 2 };
}

static double field(const kdr_result *r, const char *name)
{
	for (int64_t i = 0; i < kdr_result_field_count(r); i++) {
		double number = NAN;
		const char *text = NULL;
		if (!strcmp(kdr_result_field_at(r, i, &number, &text), name))
			return number;
	}
	fail_msg("no field %s", name);
	return NAN;
}

static void fit__two_tasks__trace_is_their_sum(void **state)
{
	(void)state;
	fixture f;
	set_up(&f);
	kdr_context *ctx = unit_context();
	kdr_result *both = NULL, *alone = NULL;
	assert_ok(ctx, kdr_fit(ctx, "kmeans", &f.problem, NULL, &both));
	f.problem.ntasks = 1;
	assert_ok(ctx, kdr_fit(ctx, "kmeans", &f.problem, NULL, &alone));
	int64_t n = 0, m = 0;
	const double *trace = kdr_result_objective(both, &n);
	assert_int_equal(n, kdr_result_iterations(both));
	assert_near(trace[n - 1], field(both, "inertia.a") + field(both, "inertia.b"), 1e-9);
	assert_true(field(both, "objective_start") >= trace[0]);
	/* A task's result does not depend on the other tasks. */
	assert_memory_equal(kdr_result_labels(both, 0, &n), kdr_result_labels(alone, 0, &m),
	                    N * sizeof(int64_t));
	kdr_array c = kdr_result_array(both, "centres", 1);
	assert_int_equal(c.ndim, 2);
	assert_int_equal(c.shape[0], K);
	assert_int_equal(c.shape[1], D);
	kdr_result_free(both);
	kdr_result_free(alone);
	kdr_context_free(ctx);
}

static void fit__pooled__same_as_stacked(void **state)
{
	(void)state;
	fixture f;
	set_up(&f);
	static double stacked[2 * N * D];
	memcpy(stacked, f.a, sizeof f.a);
	memcpy(stacked + N * D, f.b, sizeof f.b);
	kdr_context *ctx = unit_context();
	kdr_result *pooled = NULL, *one = NULL;
	f.problem.pooled = true;
	assert_ok(ctx, kdr_fit(ctx, "kmeans", &f.problem, NULL, &pooled));
	kdr_task task = { .name = "all", .x = kdr_mat_from_dense(stacked, 2 * N, D), .k = K };
	kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = &task, .ntasks = 1 };
	assert_ok(ctx, kdr_fit(ctx, "kmeans", &problem, NULL, &one));
	int64_t n = 0;
	const int64_t *labels = kdr_result_labels(one, 0, &n);
	assert_memory_equal(kdr_result_labels(pooled, 0, &n), labels, N * sizeof *labels);
	assert_memory_equal(kdr_result_labels(pooled, 1, &n), labels + N, N * sizeof *labels);
	assert_true(field(pooled, "inertia") == field(one, "inertia.all"));
	kdr_result_free(pooled);
	kdr_result_free(one);
	kdr_context_free(ctx);
}

static void fit__initial_labels__one_run_from_their_means(void **state)
{
	(void)state;
	fixture f;
	set_up(&f);
	kdr_context *ctx = unit_context();
	kdr_options *o = NULL;
	kdr_result *r = NULL;
	f.problem.ntasks = 1;
	f.tasks[0].init = f.init;
	assert_ok(ctx, kdr_options_new(ctx, "kmeans", &o));
	assert_ok(ctx, kdr_options_set(ctx, o, "max_iter", "0"));
	assert_ok(ctx, kdr_fit(ctx, "kmeans", &f.problem, o, &r));
	int64_t n = 0;
	assert_memory_equal(kdr_result_labels(r, 0, &n), f.init, sizeof f.init);
	assert_int_equal(kdr_result_iterations(r), 0);
	assert_near(field(r, "best_run.a"), 0, 0);
	/* One-way analysis of variance by hand: within = total squares - sum of n_j mean_j^2. */
	double total = 0, sums[K][D] = { { 0 } }, count[K] = { 0 };
	for (int i = 0; i < N; i++) {
		count[f.init[i]]++;
		for (int j = 0; j < D; j++) {
			total += f.a[i * D + j] * f.a[i * D + j];
			sums[f.init[i]][j] += f.a[i * D + j];
		}
	}
	for (int c = 0; c < K; c++)
		for (int j = 0; j < D; j++)
			total -= sums[c][j] * sums[c][j] / count[c];
	assert_near(field(r, "objective_start"), total, 1e-9 * total);
	kdr_result_free(r);
	kdr_options_free(o);
	kdr_context_free(ctx);
}

static void fit__few_distinct_samples__warns(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	double x[12];
	for (int i = 0; i < 12; i++)
		x[i] = 0.1 * (i % 3);
	kdr_task task = { .name = "few", .x = kdr_mat_from_dense(x, 12, 1), .k = 5 };
	kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = &task, .ntasks = 1 };
	kdr_result *r = NULL;
	assert_ok(ctx, kdr_fit(ctx, "kmeans", &problem, NULL, &r));
	assert_int_equal(kdr_result_warning_count(r), 1);
	assert_string_equal(
	        kdr_result_warning_at(r, 0),
	        "data set few has only 3 distinct samples for k = 5; some clusters are empty or share "
	        "identical samples");
	assert_int_equal(kdr_result_stop(r), KDR_STOP_CONVERGED);
	int64_t n = 0;
	const int64_t *labels = kdr_result_labels(r, 0, &n);
	for (int i = 3; i < 12; i++)
		assert_int_equal(labels[i], labels[i % 3]);
	kdr_result_free(r);
	kdr_context_free(ctx);
}

static int stop_at_second(void *user, const kdr_event *event)
{
	int *seen = user;
	return event->kind == KDR_EVENT_ITERATION && ++*seen >= 2;
}

static void fit__cancelled__keeps_a_valid_result(void **state)
{
	(void)state;
	fixture f;
	set_up(&f);
	kdr_context *ctx = unit_context();
	kdr_options *o = NULL;
	kdr_result *r = NULL;
	int seen = 0;
	assert_ok(ctx, kdr_options_new(ctx, "kmeans", &o));
	assert_ok(ctx, kdr_options_set(ctx, o, "start", "random"));
	assert_ok(ctx, kdr_options_set(ctx, o, "tol", "0"));
	kdr_context_set_progress(ctx, stop_at_second, &seen);
	assert_ok(ctx, kdr_fit(ctx, "kmeans", &f.problem, o, &r));
	assert_int_equal(kdr_result_stop(r), KDR_STOP_CANCELLED);
	for (int t = 0; t < 2; t++) {
		int64_t n = 0, sizes[K] = { 0 };
		const int64_t *labels = kdr_result_labels(r, t, &n);
		for (int64_t i = 0; i < n; i++)
			sizes[labels[i]]++;
		for (int c = 0; c < K; c++)
			assert_true(sizes[c] > 0);
	}
	kdr_result_free(r);
	kdr_options_free(o);
	kdr_context_free(ctx);
}

static void predict__training_data__gives_the_labels(void **state)
{
	(void)state;
	fixture f;
	set_up(&f);
	kdr_context *ctx = unit_context();
	for (int spherical = 0; spherical < 2; spherical++) {
		kdr_options *o = NULL;
		kdr_result *r = NULL;
		int64_t n = 0, labels[N];
		assert_ok(ctx, kdr_options_new(ctx, "kmeans", &o));
		assert_ok(ctx, kdr_options_set(ctx, o, "tol", "0"));
		assert_ok(ctx, kdr_options_set(ctx, o, "spherical", spherical ? "true" : "false"));
		assert_ok(ctx, kdr_fit(ctx, "kmeans", &f.problem, o, &r));
		const kdri_algo *algo = kdri_algo_find("kmeans");
		assert_ok(ctx, algo->predict(ctx, r, o, 1, &f.tasks[1].x, labels));
		assert_memory_equal(labels, kdr_result_labels(r, 1, &n), sizeof labels);
		/* One sample alone: fewer rows than clusters. */
		kdr_mat row = kdr_mat_from_dense(f.b, 1, D);
		assert_ok(ctx, algo->predict(ctx, r, o, 1, &row, labels));
		assert_int_equal(labels[0], kdr_result_labels(r, 1, &n)[0]);
		kdr_mat narrow = kdr_mat_from_dense(f.b, 1, D - 1);
		assert_int_equal(algo->predict(ctx, r, o, 1, &narrow, labels), KDR_ERR_DATA);
		kdr_result_free(r);
		kdr_options_free(o);
	}
	kdr_context_free(ctx);
}

/* --- every allocation fails in turn ---------------------------------------------------------- */

static int64_t allowed, held;

static void *counted_realloc(void *user, void *ptr, size_t size)
{
	(void)user;
	if (allowed-- <= 0)
		return NULL;
	void *p = realloc(ptr, size);
	held += p && !ptr;
	return p;
}

static void *counted_alloc(void *user, size_t size)
{
	return counted_realloc(user, NULL, size);
}

static void counted_free(void *user, void *ptr)
{
	(void)user;
	held -= ptr != NULL;
	free(ptr);
}

static void fit__each_allocation_fails__error_and_no_leak(void **state)
{
	(void)state;
	fixture f;
	set_up(&f);
	const kdr_allocator counted = { counted_alloc, counted_realloc, counted_free, NULL };
	for (int pooled = 0; pooled < 2; pooled++) {
		kdr_status st = KDR_ERR_MEMORY;
		f.problem.pooled = pooled;
		for (int64_t most = 1; st == KDR_ERR_MEMORY; most++) {
			kdr_context *ctx = NULL;
			kdr_result *r = NULL;
			allowed = 1;
			assert_int_equal(kdr_context_new(&ctx, &counted), KDR_OK);
			allowed = most;
			st = kdr_fit(ctx, "kmeans", &f.problem, NULL, &r);
			assert_true((st == KDR_OK) == (r != NULL));
			kdr_result_free(r);
			kdr_context_free(ctx);
			assert_int_equal(held, 0);
		}
		assert_int_equal(st, KDR_OK);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fit__two_tasks__trace_is_their_sum),
		cmocka_unit_test(fit__pooled__same_as_stacked),
		cmocka_unit_test(fit__initial_labels__one_run_from_their_means),
		cmocka_unit_test(fit__few_distinct_samples__warns),
		cmocka_unit_test(fit__cancelled__keeps_a_valid_result),
		cmocka_unit_test(predict__training_data__gives_the_labels),
		cmocka_unit_test(fit__each_allocation_fails__error_and_no_leak),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
