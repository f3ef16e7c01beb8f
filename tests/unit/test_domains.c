/* The samples of a transfer, by data set: which rows are known, which are asked for, which classes there are. */
#include "api/method.h"
#include "methods/common/labelled.h"
#include "tests/unit/unit.h"

enum { D = 2, CLASSES = 4 };

/* Class 1 has no sample; a source's row without a class is neither known nor asked for; a target's may be known. */
static const double x0[] = { 1, 0, 0, 1, 1, 1 }, x1[] = { 2, 0, 0, 2 }, x2[] = { 3, 0, 0, 3, 3, 3 };
static const int64_t y0[] = { 3, -1, 0 }, y1[] = { 3, 2 }, known[] = { -1, 2, -1 };

static kdr_problem problem_of(kdr_task *tasks)
{
	tasks[0] = (kdr_task){ .role = KDR_ROLE_SOURCE, .x = kdr_mat_from_dense(x0, 3, D), .labels = y0 };
	tasks[1] = (kdr_task){ .role = KDR_ROLE_SOURCE, .x = kdr_mat_from_dense(x1, 2, D), .labels = y1 };
	tasks[2] = (kdr_task){ .role = KDR_ROLE_TARGET, .x = kdr_mat_from_dense(x2, 3, D), .labels = known };
	return (kdr_problem){ .size = sizeof(kdr_problem), .tasks = tasks, .ntasks = 3, .classes = CLASSES };
}

static void domains__sources_and_target__rows_by_task_and_classes_that_have_samples(void **state)
{
	(void)state;
	static const int64_t begin[] = { 0, 3, 5, 8 }, class_of[] = { 0, 2, 3 },
	                     labels[] = { 2, -1, 0, 2, 1, -1, 1, -1 };
	static const bool unlabelled[] = { false, false, false, false, false, true, false, true };
	static const double share[] = { 0.2, 0.4, 0.4 };
	kdr_context *ctx = unit_context();
	kdr_task tasks[3];
	kdr_problem p = problem_of(tasks);
	kdr_result *result = NULL;
	kdri_domains d;
	assert_ok(ctx, kdri_result_new(ctx, kdr_algo_find("self-training"), &p, &result));
	assert_ok(ctx, kdri_domains_new(ctx, &p, result, &d));
	assert_int_equal(d.ntasks, 3);
	assert_int_equal(d.n, 8);
	assert_int_equal(d.classes, 3);
	assert_int_equal(d.known, 5);
	assert_int_equal(d.wanted, 2);
	assert_memory_equal(d.begin, begin, sizeof begin);
	assert_memory_equal(d.class_of, class_of, sizeof class_of);
	assert_memory_equal(d.labels, labels, sizeof labels);
	assert_memory_equal(d.unlabelled, unlabelled, sizeof unlabelled);
	for (int k = 0; k < 3; k++)
		assert_near(d.share[k], share[k], 1e-15);
	assert_near(d.set.x.view.as.dense.data[5 * D], 3, 0);
	kdri_domains_free(ctx, &d);
	kdr_result_free(result);
	kdr_context_free(ctx);
}

static void domains__posterior__becomes_labels_by_the_problems_classes(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_task tasks[3];
	kdr_problem p = problem_of(tasks);
	kdr_result *result = NULL;
	kdri_domains d;
	double posterior[8 * 3] = { 0 };
	int64_t n;
	assert_ok(ctx, kdri_result_new(ctx, kdr_algo_find("self-training"), &p, &result));
	assert_ok(ctx, kdri_domains_new(ctx, &p, result, &d));
	for (int64_t i = 0; i < 8; i++)
		posterior[i * 3 + (i == 5 ? 2 : 0)] = 1;
	assert_ok(ctx, kdri_domains_put(ctx, &d, posterior, "scores", result));
	const int64_t *found = kdr_result_labels(result, 2, &n);
	assert_int_equal(n, 3);
	assert_int_equal(found[0], 3);
	assert_int_equal(found[1], 2); /* it was known */
	assert_int_equal(found[2], 0);
	kdr_array a = kdr_result_array(result, "scores", 2);
	assert_true(a.ndim == 2 && a.shape[0] == 3 && a.shape[1] == CLASSES);
	assert_near(((const double *)a.data)[3], 1, 0);
	assert_near(((const double *)a.data)[2 * CLASSES], 1, 0);
	kdri_domains_free(ctx, &d);
	kdr_result_free(result);
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(domains__sources_and_target__rows_by_task_and_classes_that_have_samples),
		cmocka_unit_test(domains__posterior__becomes_labels_by_the_problems_classes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
