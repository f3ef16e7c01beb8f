/* gfhf, llgc, svm, logreg, tsvm: what all of them must keep. SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/unit.h"

#include "engine/linear/linear.h"

static const char *const methods[] = { "gfhf", "llgc", "svm", "logreg", "tsvm" };
enum { METHODS = 5, CLASSES = 3, D = 4, SOURCE = 30, TARGET = 24 };

typedef struct problem {
	double x[(SOURCE + TARGET) * D];
	int64_t labels[SOURCE + TARGET], truth[SOURCE + TARGET];
	kdr_task tasks[2];
	kdr_problem view;
} problem;

static void make(problem *p, uint64_t seed)
{
	kdri_rng rng = kdri_rng_stream(seed, "test", 0);
	for (int64_t i = 0; i < SOURCE + TARGET; i++) {
		p->truth[i] = i % CLASSES; /* as many of each in both tasks, which tsvm takes for granted */
		p->labels[i] = i < SOURCE ? p->truth[i] : -1;
		for (int t = 0; t < D; t++)
			p->x[i * D + t] = (t == p->truth[i] ? 3 : 0) + kdri_rng_uniform(&rng);
	}
}

static kdr_result *fit(kdr_context *ctx, const char *method, problem *p)
{
	kdr_result *result = NULL;
	p->tasks[0] = (kdr_task){ .name = "s",
		                  .role = KDR_ROLE_SOURCE,
		                  .x = kdr_mat_from_dense(p->x, SOURCE, D),
		                  .labels = p->labels };
	p->tasks[1] = (kdr_task){ .name = "t",
		                  .role = KDR_ROLE_TARGET,
		                  .x = kdr_mat_from_dense(p->x + SOURCE * D, TARGET, D),
		                  .labels = p->labels + SOURCE };
	p->view = (kdr_problem){
		.size = sizeof(kdr_problem), .tasks = p->tasks, .ntasks = 2, .classes = CLASSES
	};
	assert_ok(ctx, kdr_fit(ctx, method, &p->view, NULL, &result));
	return result;
}

static const int64_t *target_labels(const kdr_result *r)
{
	int64_t n;
	const int64_t *labels = kdr_result_labels(r, 1, &n);
	assert_int_equal(n, TARGET);
	assert_null(kdr_result_labels(r, 0, &n));
	return labels;
}

static void fit__clear_classes__are_found(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	for (int m = 0; m < METHODS; m++)
		for (uint64_t seed = 0; seed < 5; seed++) {
			problem p;
			make(&p, seed);
			kdr_result *r = fit(ctx, methods[m], &p);
			assert_memory_equal(target_labels(r), p.truth + SOURCE, TARGET * sizeof(int64_t));
			kdr_result_free(r);
		}
	kdr_context_free(ctx);
}

static void fit__known_target_labels__stay(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	for (int m = 0; m < METHODS; m++) {
		problem p;
		make(&p, 1);
		p.labels[SOURCE + 3] =
		        (p.truth[SOURCE + 3] + 1) % CLASSES; /* wrong, and still the user's word */
		kdr_result *r = fit(ctx, methods[m], &p);
		assert_int_equal(target_labels(r)[3], p.labels[SOURCE + 3]);
		kdr_result_free(r);
	}
	kdr_context_free(ctx);
}

static void fit__classes_renamed__answers_are_renamed(void **state)
{
	(void)state;
	static const int64_t to[CLASSES] = { 2, 0, 1 };
	kdr_context *ctx = unit_context();
	for (int m = 0; m < METHODS; m++)
		for (uint64_t seed = 10; seed < 14; seed++) {
			problem p, q;
			make(&p, seed);
			kdri_rng rng = kdri_rng_stream(seed, "noise", 0);
			for (int64_t i = 0; i < (SOURCE + TARGET) * D; i++)
				p.x[i] += 2 * kdri_rng_uniform(&rng); /* hard enough for doubt */
			q = p;
			for (int64_t i = 0; i < SOURCE; i++)
				q.labels[i] = to[p.labels[i]];
			kdr_result *a = fit(ctx, methods[m], &p), *b = fit(ctx, methods[m], &q);
			for (int64_t i = 0; i < TARGET; i++)
				assert_int_equal(to[target_labels(a)[i]], target_labels(b)[i]);
			kdr_result_free(a);
			kdr_result_free(b);
		}
	kdr_context_free(ctx);
}

static void fit__samples_in_another_order__answers_follow(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	for (int m = 0; m < METHODS; m++) {
		problem p, q;
		make(&p, 20);
		q = p;
		for (int64_t i = 0; i < TARGET; i++) /* the target backwards */
			memcpy(q.x + (SOURCE + i) * D, p.x + (SOURCE + TARGET - 1 - i) * D,
			       D * sizeof(double));
		kdr_result *a = fit(ctx, methods[m], &p), *b = fit(ctx, methods[m], &q);
		for (int64_t i = 0; i < TARGET; i++)
			assert_int_equal(target_labels(a)[i], target_labels(b)[TARGET - 1 - i]);
		kdr_result_free(a);
		kdr_result_free(b);
	}
	kdr_context_free(ctx);
}

static void fit__rows_of_zeros_and_duplicates__are_labelled(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	for (int m = 0; m < METHODS; m++) {
		problem p;
		make(&p, 30);
		memset(p.x + (SOURCE + 2) * D, 0, D * sizeof(double));
		memcpy(p.x + (SOURCE + 5) * D, p.x, D * sizeof(double));
		kdr_result *r = fit(ctx, methods[m], &p);
		for (int64_t i = 0; i < TARGET; i++)
			assert_true(target_labels(r)[i] >= 0 && target_labels(r)[i] < CLASSES);
		assert_int_equal(target_labels(r)[5], p.labels[0]);
		/* On a cosine graph nothing is like a row of zeros. */
		assert_int_equal(kdr_result_warning_count(r), m < 2);
		kdr_result_free(r);
	}
	kdr_context_free(ctx);
}

static void fit__class_without_samples__warns_and_is_never_given(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	for (int m = 0; m < METHODS; m++) {
		problem p;
		make(&p, 40);
		for (int64_t i = 0; i < SOURCE; i++)
			p.labels[i] = p.labels[i] == 1 ? 2 : p.labels[i];
		kdr_result *r = fit(ctx, methods[m], &p);
		assert_int_equal(kdr_result_warning_count(r), 1);
		for (int64_t i = 0; i < TARGET; i++)
			assert_int_not_equal(target_labels(r)[i], 1);
		kdr_result_free(r);
	}
	kdr_context_free(ctx);
}

static void fit__bad_problems__one_clear_line(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	for (int m = 0; m < METHODS; m++) {
		problem p;
		kdr_result *r = NULL;
		make(&p, 50);
		kdr_result_free(fit(ctx, methods[m], &p)); /* fills p.view */

		p.tasks[1].x = kdr_mat_from_dense(p.x, TARGET, D - 1);
		assert_int_equal(kdr_fit(ctx, methods[m], &p.view, NULL, &r), KDR_ERR_DATA);
		assert_string_equal(kdr_context_error(ctx),
		                    "data set t has 3 columns, but data set s has 4; align them first");
		p.tasks[1].x = kdr_mat_from_dense(p.x, TARGET, D);

		p.tasks[1].role = KDR_ROLE_SOURCE;
		p.tasks[1].labels = p.labels;
		assert_int_equal(kdr_fit(ctx, methods[m], &p.view, NULL, &r), KDR_ERR_ARGUMENT);
		assert_string_equal(kdr_context_error(ctx),
		                    "no target was given; every data set is a source");

		p.tasks[0].role = p.tasks[1].role = KDR_ROLE_TARGET;
		assert_int_equal(kdr_fit(ctx, methods[m], &p.view, NULL, &r), KDR_ERR_ARGUMENT);
		assert_string_equal(kdr_context_error(ctx),
		                    "no source was given; at least one labelled data set is needed");

		p.tasks[0].role = KDR_ROLE_SOURCE;
		p.tasks[0].labels = NULL;
		assert_int_equal(kdr_fit(ctx, methods[m], &p.view, NULL, &r), KDR_ERR_DATA);
		assert_string_equal(kdr_context_error(ctx), "data set s is a source but has no labels");

		int64_t same[SOURCE] = { 0 };
		p.tasks[0].labels = same;
		p.tasks[1].labels = NULL;
		assert_int_equal(kdr_fit(ctx, methods[m], &p.view, NULL, &r), KDR_ERR_DATA);
		assert_string_equal(kdr_context_error(ctx),
		                    "all labelled samples are of class 0; at least two classes are needed");
		assert_null(r);
	}
	kdr_context_free(ctx);
}

static void predict__the_target_itself__gives_the_labels_of_the_fit(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	for (int m = 2; m < METHODS; m++) {
		problem p;
		int64_t labels[TARGET];
		kdr_options *options = NULL;
		make(&p, 60);
		kdr_result *r = fit(ctx, methods[m], &p);
		assert_ok(ctx, kdr_options_new(ctx, methods[m], &options));
		assert_ok(ctx,
		          kdri_algo_find(methods[m])->predict(ctx, r, options, 1, &p.tasks[1].x, labels));
		assert_memory_equal(labels, target_labels(r), sizeof labels);
		kdr_mat narrow = kdr_mat_from_dense(p.x, 2, D - 1);
		assert_int_equal(kdri_algo_find(methods[m])->predict(ctx, r, options, 1, &narrow, labels),
		                 KDR_ERR_DATA);
		kdr_options_free(options);
		kdr_result_free(r);
	}
	kdr_context_free(ctx);
}

/* The gradient of the weights found is 0, by differences of the value. */
static void linear__minimum__no_direction_is_lower(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(7, "test", 0);
	for (int round = 0; round < 30; round++) {
		int64_t n = 1 + kdri_rng_below(&rng, 40), d = 1 + kdri_rng_below(&rng, 60), m = 1 + round % 3;
		double *x = calloc((size_t)(n * d), sizeof *x), *cost = calloc((size_t)(n * m), sizeof *cost);
		double *w = calloc((size_t)((d + 1) * m), sizeof *w);
		for (int64_t i = 0; i < n * d; i++)
			x[i] = kdri_rng_uniform(&rng) < 0.5 ? 0 : kdri_rng_normal(&rng);
		for (int64_t i = 0; i < n * m; i++)
			cost[i] = (double)kdri_rng_below(&rng, 3) * kdri_rng_normal(&rng); /* some are 0 */
		kdr_mat view = kdr_mat_from_dense(x, n, d);
		kdri_linear_options o = { .loss = (kdri_loss)(round % 2),
			                  .bias = 1,
			                  .tol = 1e-9,
			                  .max_iter = 1000,
			                  .stage = "test" },
		                    none = o;
		kdri_linear_report best, other;
		none.max_iter = 0; /* only evaluates */
		assert_ok(ctx, kdri_linear_train(ctx, &view, m, cost, &o, w, &best));
		assert_true(best.value <= best.start);
		for (int direction = 0; direction < 20; direction++) {
			int64_t at = kdri_rng_below(&rng, (d + 1) * m);
			double before = w[at];
			w[at] += (direction % 2 ? 1 : -1) * 1e-4;
			assert_ok(ctx, kdri_linear_train(ctx, &view, m, cost, &none, w, &other));
			assert_true(other.value > best.value);
			w[at] = before;
		}
		free(x);
		free(cost);
		free(w);
	}
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fit__clear_classes__are_found),
		cmocka_unit_test(fit__known_target_labels__stay),
		cmocka_unit_test(fit__classes_renamed__answers_are_renamed),
		cmocka_unit_test(fit__samples_in_another_order__answers_follow),
		cmocka_unit_test(fit__rows_of_zeros_and_duplicates__are_labelled),
		cmocka_unit_test(fit__class_without_samples__warns_and_is_never_given),
		cmocka_unit_test(fit__bad_problems__one_clear_line),
		cmocka_unit_test(predict__the_target_itself__gives_the_labels_of_the_fit),
		cmocka_unit_test(linear__minimum__no_direction_is_lower),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
