/* Known classes and links: closure, contradictions, and how they change labels. SPDX-License-Identifier: BSD-3-Clause */
#include "core/links.h"
#include "engine/ensemble/vote.h"
#include "tests/unit/unit.h"

enum { N = 8, K = 3 };

static kdr_problem problem_of(kdr_task *task, const kdr_link *links, int64_t count)
{
	static const double x[N];
	static const char *const names[K] = { "red", "green", "blue" };
	*task = (kdr_task){ .name = "set", .x = kdr_mat_from_dense(x, N, 1), .k = K, .labels = task->labels };
	return (kdr_problem){ .size = sizeof(kdr_problem),
		              .tasks = task,
		              .ntasks = 1,
		              .classes = K,
		              .class_names = names,
		              .links = links,
		              .nlinks = count };
}

static void links__of_pairs__become_groups(void **state)
{
	const kdr_link links[] = {
		{ 0, 6, 4, false }, { 0, 2, 6, false }, { 0, 1, 0, true }, { 0, 3, 3, false }
	};
	const int64_t labels[N] = { -1, -1, -1, 1, 2, -1, -1, -1 };
	kdr_task task = { .labels = labels };
	kdr_context *ctx = unit_context();
	kdri_links l = { 0 };
	kdr_problem p = problem_of(&task, links, 4);
	(void)state;
	assert_true(kdri_has_links(&p));
	assert_ok(ctx, kdri_links_new(ctx, &p, 0, 1, NULL, &l));
	const int64_t group[N] = { 0, 1, 2, 3, 2, 5, 2, 7 }, known[N] = { -1, -1, 2, 1, 2, -1, 2, -1 };
	assert_memory_equal(l.group, group, sizeof group);
	assert_memory_equal(l.known, known, sizeof known);
	assert_int_equal(l.ngroups, 1);
	assert_int_equal(l.nknown, 4);
	assert_int_equal(l.napart, 1);
	assert_int_equal(l.apart[0], 1);
	assert_int_equal(l.apart[1], 0);
	kdri_links_free(ctx, &l);
	task.labels = NULL;
	p = problem_of(&task, NULL, 0);
	assert_false(kdri_has_links(&p));
	kdr_context_free(ctx);
}

static void refused(const kdr_link *links, int64_t count, const int64_t *labels, kdr_status status,
                    const char *says)
{
	kdr_task task = { .labels = labels };
	kdr_context *ctx = unit_context();
	kdri_links l = { 0 };
	kdr_problem p = problem_of(&task, links, count);
	assert_int_equal(kdri_links_new(ctx, &p, 0, 1, NULL, &l), status);
	if (!strstr(kdr_context_error(ctx), says))
		fail_msg("'%s' is not in '%s'", says, kdr_context_error(ctx));
	kdr_context_free(ctx);
}

static void links__contradictory__are_refused(void **state)
{
	const int64_t labels[N] = { 0, 1, -1, -1, -1, -1, 0, -1 };
	(void)state;
	refused((kdr_link[]){ { 0, 0, 2, false }, { 0, 2, 1, false } }, 2, labels, KDR_ERR_DATA,
	        "row 1 and row 2 must be in one cluster, but their known classes are 'red' and 'green'");
	refused((kdr_link[]){ { 0, 3, 4, false }, { 0, 4, 5, false }, { 0, 3, 5, true } }, 3, NULL,
	        KDR_ERR_DATA,
	        "row 4 and row 6 must be in different clusters, but must-links put them in one");
	refused((kdr_link[]){ { 0, 0, 6, true } }, 1, labels, KDR_ERR_DATA,
	        "the known class of both is 'red'");
	refused((kdr_link[]){ { 0, 0, 6, true }, { 0, 2, 2, true } }, 2, labels, KDR_ERR_DATA,
	        "2 contradictions");
	refused((kdr_link[]){ { 1, 0, 6, true } }, 1, NULL, KDR_ERR_ARGUMENT, "data set 2, but there are 1");
	refused((kdr_link[]){ { 0, 0, N, true } }, 1, NULL, KDR_ERR_ARGUMENT, "has 8 rows");
}

static void steer__linked_samples__move_by_their_scores(void **state)
{
	const kdr_link links[] = { { 0, 0, 1, false }, { 0, 2, 3, true }, { 0, 4, 5, true } };
	const int64_t labels[N] = { -1, -1, -1, -1, 0, -1, -1, -1 };
	/* of samples 0 and 1 the second is surer; 3 loses less than 2; 5 leaves the known 4 whatever it loses */
	const double scores[N * K] = { .6, .4, 0,  0,  .9, .1, .9, .1, 0, .6, .4, .3,
		                       .1, .8, .1, .9, 0,  .1, 0,  0,  1, 0,  1,  0 };
	int64_t found[N] = { 0, 1, 0, 0, 1, 0, 2, 1 };
	const int64_t expected[N] = { 1, 1, 0, 1, 0, 2, 2, 1 };
	kdr_task task = { .labels = labels };
	kdr_context *ctx = unit_context();
	kdri_links l = { 0 };
	kdr_problem p = problem_of(&task, links, 3);
	(void)state;
	assert_ok(ctx, kdri_links_new(ctx, &p, 0, 1, NULL, &l));
	assert_ok(ctx, kdri_steer_linked(ctx, &l, scores, K, found));
	assert_memory_equal(found, expected, sizeof expected);
	kdri_links_free(ctx, &l);
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
	kdri_links l = { 0 };
	kdri_ballot b = { 0 };
	kdr_problem p = problem_of(&task, NULL, 0);
	const kdr_mat graph = kdr_mat_from_csr(N, N, rowptr, column, one);
	(void)state;
	assert_ok(ctx, kdri_links_new(ctx, &p, 0, 1, NULL, &l));
	assert_ok(ctx, kdri_ballot_new(ctx, N, 1, &b));
	b.weight[0] = 1;
	for (int i = 0; i < N; i++)
		b.label[i] = (int32_t)(i / 4);
	assert_ok(ctx, kdri_steer(ctx, &l, &b, false, &graph, 2, found));
	for (int i = 0; i < N; i++)
		assert_int_equal(found[i], i / 4);
	kdri_ballot_free(ctx, &b);
	kdri_links_free(ctx, &l);
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(links__of_pairs__become_groups),
		cmocka_unit_test(links__contradictory__are_refused),
		cmocka_unit_test(steer__linked_samples__move_by_their_scores),
		cmocka_unit_test(steer__known_ends_of_chains__neighbours_follow),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
