/* Named numbers, texts and arrays of results made by hand. SPDX-License-Identifier: BSD-3-Clause */
#include "api/method.h"
#include "api/result.h"
#include "tests/unit/unit.h"

#include <stdio.h>

static const kdr_algo algo = { .id = "named", .family = KDR_FAMILY_CLUSTER };

enum { TASKS = 2 };

static kdr_result *make(kdr_context *ctx, int64_t count)
{
	static double x[1];
	kdr_task *tasks = calloc((size_t)count, sizeof *tasks);
	kdr_result *r = NULL;
	assert_non_null(tasks);
	for (int64_t t = 0; t < count; t++)
		tasks[t] = (kdr_task){ .x = kdr_mat_from_dense(x, 1, 1), .k = 1 };
	kdr_problem problem = { .size = sizeof problem, .tasks = tasks, .ntasks = count };
	assert_ok(ctx, kdri_result_new(ctx, &algo, &problem, &r));
	free(tasks);
	return r;
}

static void put_array(kdr_context *ctx, kdr_result *r, const char *name, int64_t task, double value)
{
	double *to = NULL;
	assert_ok(ctx, kdri_result_array(ctx, r, name, task, KDR_FLOAT64, 1, (int64_t[]){ 1 }, &to));
	to[0] = value;
}

static void fields__a_name_again__keeps_its_place_and_takes_the_new_value(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_result *r = make(ctx, TASKS);
	const char *text = NULL;
	double number = 0;
	assert_ok(ctx, kdri_result_number(ctx, r, "first", 1));
	assert_ok(ctx, kdri_result_text(ctx, r, "second", "a"));
	assert_ok(ctx, kdri_result_task_number(ctx, r, 1, "loss", 5));
	assert_ok(ctx, kdri_result_text(ctx, r, "first", "b"));
	assert_ok(ctx, kdri_result_number(ctx, r, "second", 2));
	assert_int_equal(kdr_result_field_count(r), 3);
	assert_string_equal(kdr_result_field_at(r, 0, &number, &text), "first");
	assert_string_equal(text, "b");
	assert_string_equal(kdr_result_field_at(r, 1, &number, &text), "second");
	assert_null(text);
	assert_true(number == 2);
	assert_true(kdri_result_field(r, -1, "second")->number == 2);
	assert_true(kdri_result_field(r, 1, "loss")->number == 5);
	assert_null(kdri_result_field(r, 0, "loss"));
	assert_null(kdri_result_field(r, -1, "loss"));
	assert_null(kdri_result_field(r, -1, "loss.2"));
	kdr_result_free(r);
	kdr_context_free(ctx);
}

static void arrays__by_name_and_task__the_first_of_equal_names(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_result *r = make(ctx, TASKS);
	put_array(ctx, r, "a", -1, 1);
	put_array(ctx, r, "a", 0, 2);
	put_array(ctx, r, "b", 0, 3);
	put_array(ctx, r, "a", 0, 4);
	assert_true(*(const double *)kdr_result_array(r, "a", -1).data == 1);
	assert_true(*(const double *)kdr_result_array(r, "a", 0).data == 2);
	assert_true(*(const double *)kdr_result_array(r, "b", 0).data == 3);
	assert_null(kdr_result_array(r, "b", -1).data);
	assert_null(kdr_result_array(r, "a", 1).data);
	assert_null(kdr_result_array(r, "a", TASKS).data);
	assert_null(kdr_result_array(r, "a", -2).data);
	kdr_result_free(r);
	kdr_context_free(ctx);
}

/* If names were searched one by one, this would take minutes under a sanitizer. */
static void result__many_tasks__every_name_is_found(void **state)
{
	(void)state;
	const int64_t count = 40000;
	kdr_context *ctx = unit_context();
	kdr_result *r = make(ctx, count);
	for (int64_t i = 0; i < count; i++) {
		char name[32];
		snprintf(name, sizeof name, "distance.%lld", (long long)i);
		assert_ok(ctx, kdri_result_number(ctx, r, name, (double)i));
		assert_ok(ctx, kdri_result_task_number(ctx, r, i, "loss", (double)i));
		put_array(ctx, r, "centres", i, (double)i);
	}
	for (int64_t i = 0; i < count; i++) {
		assert_true(kdri_result_field(r, i, "loss")->number == (double)i);
		assert_true(*(const double *)kdr_result_array(r, "centres", i).data == (double)i);
	}
	kdr_result_free(r);
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields__a_name_again__keeps_its_place_and_takes_the_new_value),
		cmocka_unit_test(arrays__by_name_and_task__the_first_of_equal_names),
		cmocka_unit_test(result__many_tasks__every_name_is_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
