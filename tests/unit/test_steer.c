/* Known classes, and how they change labels. SPDX-License-Identifier: BSD-3-Clause */
#include "core/classes.h"
#include "engine/ensemble/vote.h"
#include "tests/unit/unit.h"

enum { N = 8, K = 3 };

static kdr_problem problem_of(kdr_task *tasks, int64_t count)
{
	static const double x[N];
	for (int64_t t = 0; t < count; t++)
		tasks[t] = (kdr_task){
			.name = "set", .x = kdr_mat_from_dense(x, N, 1), .k = K, .labels = tasks[t].labels
		};
	return (kdr_problem){ .size = sizeof(kdr_problem), .tasks = tasks, .ntasks = count, .classes = K };
}

static void classes__of_several_data_sets__follow_each_other(void **state)
{
	const int64_t labels[N] = { -1, 0, -1, 1, 2, -1, -1, -1 };
	kdr_task tasks[2] = { { .labels = NULL }, { .labels = labels } };
	kdr_context *ctx = unit_context();
	kdri_known_classes l = { 0 };
	kdr_problem p = problem_of(tasks, 2);
	(void)state;
	assert_true(kdri_has_known_classes(&p));
	assert_ok(ctx, kdri_known_classes_new(ctx, &p, 0, 2, &l));
	assert_int_equal(l.n, 2 * N);
	assert_int_equal(l.nknown, 3);
	for (int i = 0; i < N; i++)
		assert_int_equal(l.known[i], -1);
	assert_memory_equal(l.known + N, labels, sizeof labels);
	kdri_known_classes_free(ctx, &l);
	p.ntasks = 1;
	assert_false(kdri_has_known_classes(&p));
	kdr_context_free(ctx);
}

/* Clusters of a vote that has other numbers than the classes. */
static void steer__known_samples__number_the_clusters(void **state)
{
	const int64_t labels[N] = { 1, -1, -1, 0, -1, -1, 2, -1 };
	const int64_t found[N] = { 0, 0, 0, 1, 1, 1, 2, 2 };
	kdr_task task = { .labels = labels };
	kdr_context *ctx = unit_context();
	kdri_known_classes l = { 0 };
	kdr_problem p = problem_of(&task, 1);
	int64_t now[K];
	(void)state;
	assert_ok(ctx, kdri_known_classes_new(ctx, &p, 0, 1, &l));
	assert_ok(ctx, kdri_steer_numbers(ctx, &l, found, K, now));
	assert_int_equal(now[0], 1);
	assert_int_equal(now[1], 0);
	assert_int_equal(now[2], 2);
	kdri_known_classes_free(ctx, &l);
	kdr_context_free(ctx);
}

/* Two chains of neighbours that the vote has cut in the wrong place: known ends move the samples between. */
static void steer__known_ends_of_chains__neighbours_follow(void **state)
{
	const int64_t labels[N] = { 0, 0, -1, 0, 1, -1, 1, 1 };
	const int64_t rowptr[N + 1] = { 0, 1, 3, 5, 6, 7, 9, 11, 12 };
	const int32_t column[] = { 1, 0, 2, 1, 3, 2, 5, 4, 6, 5, 7, 6 };
	const double one[] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
	int64_t found[N] = { 1, 1, 0, 1, 0, 0, 0, 0 };
	kdr_task task = { .labels = labels };
	kdr_context *ctx = unit_context();
	kdri_known_classes l = { 0 };
	kdri_ballot b = { 0 };
	kdr_problem p = problem_of(&task, 1);
	const kdr_mat graph = kdr_mat_from_csr(N, N, rowptr, column, one);
	(void)state;
	assert_ok(ctx, kdri_known_classes_new(ctx, &p, 0, 1, &l));
	assert_ok(ctx, kdri_ballot_new(ctx, N, 1, &b));
	b.weight[0] = 1;
	for (int i = 0; i < N; i++)
		b.label[i] = (int32_t)(i / 4);
	assert_ok(ctx, kdri_steer(ctx, &l, &b, false, &graph, 2, found));
	for (int i = 0; i < N; i++)
		assert_int_equal(found[i], i / 4);
	kdri_ballot_free(ctx, &b);
	kdri_known_classes_free(ctx, &l);
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(classes__of_several_data_sets__follow_each_other),
		cmocka_unit_test(steer__known_samples__number_the_clusters),
		cmocka_unit_test(steer__known_ends_of_chains__neighbours_follow),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
