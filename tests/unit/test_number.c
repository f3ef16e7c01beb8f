/* Numbers of clusters, on results made by hand. What the registered methods give is in test_conformance.c. */
#include "api/number.h"
#include "tests/unit/unit.h"

static const kdr_field_desc fields[] = {
	{ .name = "centres", .type = KDR_FLOAT64, .per_task = true, .shape = "k x d", .help = "" },
	{ .name = "shares", .type = KDR_FLOAT64, .per_task = true, .shape = "n x k", .help = "" },
	{ .name = "quality", .type = KDR_FLOAT64, .per_task = true, .shape = "tasks x k x 2", .help = "" },
	{ .name = "moves",
	  .type = KDR_INT64,
	  .per_task = true,
	  .shape = "moves x 3",
	  .holds = "n k k",
	  .help = "" },
	{ .name = "values", .type = KDR_FLOAT64, .per_task = true, .shape = "k + 1 or more", .help = "" },
	{ .name = NULL },
};
static const kdr_algo each = { .id = "each", .family = KDR_FAMILY_CLUSTER, .fields = fields };
static const kdr_algo shared = {
	.id = "shared", .family = KDR_FAMILY_CLUSTER, .flags = KDR_ALGO_SHARED_CLUSTERS, .fields = fields
};
static const kdr_algo classes = { .id = "classes", .family = KDR_FAMILY_TRANSFER, .fields = fields };

enum { MOST = 3, ROWS = 6 };

typedef struct made {
	kdr_context *ctx;
	double x[ROWS];
	kdr_task tasks[MOST];
	kdr_problem problem;
	kdr_result *result;
} made;

/* A result with the given labels, terminated by -1. */
static void make(made *m, const kdr_algo *algo, int64_t count, int64_t (*labels)[ROWS], const int64_t *k)
{
	*m = (made){ .ctx = unit_context() };
	for (int64_t t = 0; t < count; t++) {
		int64_t rows = 0;
		while (rows < ROWS && labels[t][rows] >= 0)
			rows++;
		m->tasks[t] = (kdr_task){ .x = kdr_mat_from_dense(m->x, rows, 1), .k = k[t] };
	}
	m->problem = (kdr_problem){ .size = sizeof(kdr_problem), .tasks = m->tasks, .ntasks = count };
	assert_ok(m->ctx, kdri_result_new(m->ctx, algo, &m->problem, &m->result));
	for (int64_t t = 0; t < count; t++) {
		int64_t *to = NULL;
		assert_ok(m->ctx, kdri_result_labels(m->ctx, m->result, t, &to));
		memcpy(to, labels[t], (size_t)kdr_mat_rows(&m->tasks[t].x) * sizeof *to);
	}
}

static void number(made *m)
{
	assert_ok(m->ctx, kdri_number_clusters(m->ctx, &m->problem, m->result));
}

static void release(made *m)
{
	kdr_result_free(m->result);
	kdr_context_free(m->ctx);
}

static void put_match(made *m, int64_t from, int64_t to, int64_t rows, int64_t cols, const double *values)
{
	double *matrix = NULL;
	assert_ok(m->ctx, kdri_result_correspondence(m->ctx, m->result, from, to, rows, cols, &matrix));
	memcpy(matrix, values, (size_t)(rows * cols) * sizeof *matrix);
}

static void assert_labels(const made *m, int64_t task, const int64_t *expected)
{
	int64_t n;
	const int64_t *labels = kdr_result_labels(m->result, task, &n);
	for (int64_t i = 0; i < n; i++)
		assert_int_equal(labels[i], expected[i]);
}

static void number__tasks_one_by_one__each_by_first_appearance(void **state)
{
	(void)state;
	made m;
	make(&m, &each, 2, (int64_t[][ROWS]){ { 2, 2, 0, 1, 0, 2 }, { 1, 0, 1, 2, 2, -1 } },
	     (int64_t[]){ 3, 3 });
	number(&m);
	assert_labels(&m, 0, (int64_t[]){ 0, 0, 1, 2, 1, 0 });
	assert_labels(&m, 1, (int64_t[]){ 0, 1, 0, 2, 2 });
	release(&m);
}

static void number__shared_clusters__one_numbering_over_all_tasks(void **state)
{
	(void)state;
	made m;
	/* Cluster 1 appears in the second task alone, cluster 0 in none. */
	make(&m, &shared, 2, (int64_t[][ROWS]){ { 3, 2, 3, -1 }, { 1, 2, 3, 1, -1 } }, (int64_t[]){ 4, 4 });
	number(&m);
	assert_labels(&m, 0, (int64_t[]){ 0, 1, 0 });
	assert_labels(&m, 1, (int64_t[]){ 2, 1, 0, 2 });
	release(&m);
}

static void number__pooled__one_numbering_over_all_tasks(void **state)
{
	(void)state;
	made m;
	make(&m, &each, 2, (int64_t[][ROWS]){ { 1, 0, -1 }, { 0, 1, -1 } }, (int64_t[]){ 2, 2 });
	m.problem.pooled = true;
	number(&m);
	assert_labels(&m, 0, (int64_t[]){ 0, 1 });
	assert_labels(&m, 1, (int64_t[]){ 1, 0 });
	release(&m);
}

static void number__matched_clusters__have_the_number_of_their_counterpart(void **state)
{
	(void)state;
	made m;
	make(&m, &each, 3, (int64_t[][ROWS]){ { 2, 0, 1, -1 }, { 0, 1, 2, -1 }, { 2, 1, 0, -1 } },
	     (int64_t[]){ 3, 3, 3 });
	/* 0-1: 2 is 2, 0 is 1, 1 is 0. 0-2 comes from the other side, and says nothing of one pair; what is left
	 * is known through the second task. */
	put_match(&m, 0, 1, 3, 3, (double[]){ .1, .6, .3, 1, 0, 0, 0, 0, 1 });
	put_match(&m, 2, 0, 3, 3, (double[]){ 0, 0, 1, 0, 0, 0, 0, 0, 0 });
	put_match(&m, 1, 2, 3, 3, (double[]){ 0, 1, 0, 0, 0, 1, 1, 0, 0 });
	number(&m);
	assert_labels(&m, 0, (int64_t[]){ 0, 1, 2 });
	assert_labels(&m, 1, (int64_t[]){ 2, 1, 0 });
	assert_labels(&m, 2, (int64_t[]){ 1, 2, 0 });
	kdr_correspondence c = kdr_result_correspondence_at(m.result, 0);
	const double expected[] = { 1, 0, 0, .0, .6, 0, 0, 0, 1 };
	assert_true(c.matrix[0] == expected[0] && c.matrix[4] == expected[4] && c.matrix[8] == expected[8]);
	release(&m);
}

static void number__more_clusters_than_the_counterparts_task_has__stay_in_range(void **state)
{
	(void)state;
	made m;
	make(&m, &each, 2, (int64_t[][ROWS]){ { 0, 1, 2, -1 }, { 0, 1, -1 } }, (int64_t[]){ 3, 2 });
	put_match(&m, 0, 1, 3, 2, (double[]){ 0, 0, 0, 1, 1, 0 }); /* 1 is 1; 2 is 0: there is no 2 */
	number(&m);
	assert_labels(&m, 1, (int64_t[]){ 0, 1 });
	release(&m);
}

static void number__a_match_of_equal_weights__is_none(void **state)
{
	(void)state;
	made m;
	make(&m, &each, 2, (int64_t[][ROWS]){ { 0, 1, -1 }, { 1, 0, -1 } }, (int64_t[]){ 2, 2 });
	put_match(&m, 0, 1, 2, 2, (double[]){ .25, .25, .25, .25 });
	number(&m);
	assert_labels(&m, 1, (int64_t[]){ 0, 1 });
	release(&m);
}

static void number__initial_labels__keep_theirs(void **state)
{
	(void)state;
	made m;
	int64_t init[] = { 1, 0 };
	make(&m, &each, 2, (int64_t[][ROWS]){ { 1, 0, -1 }, { 1, 0, -1 } }, (int64_t[]){ 2, 2 });
	m.tasks[0].init = init;
	number(&m);
	assert_labels(&m, 0, (int64_t[]){ 1, 0 });
	assert_labels(&m, 1, (int64_t[]){ 0, 1 });
	release(&m);
	make(&m, &shared, 2, (int64_t[][ROWS]){ { 1, 0, -1 }, { 1, 0, -1 } }, (int64_t[]){ 2, 2 });
	m.tasks[1].init = init;
	number(&m);
	assert_labels(&m, 0, (int64_t[]){ 1, 0 });
	assert_labels(&m, 1, (int64_t[]){ 1, 0 });
	release(&m);
}

static void number__classes__are_left_alone(void **state)
{
	(void)state;
	made m;
	make(&m, &classes, 1, (int64_t[][ROWS]){ { 1, 0, -1 } }, (int64_t[]){ 2 });
	number(&m);
	assert_labels(&m, 0, (int64_t[]){ 1, 0 });
	release(&m);
}

static void number__arrays__follow_as_the_table_says(void **state)
{
	(void)state;
	made m;
	double *centres = NULL, *shares = NULL, *quality = NULL, *values = NULL;
	int64_t *moves = NULL;
	make(&m, &each, 1, (int64_t[][ROWS]){ { 2, 0, 1, -1 } },
	     (int64_t[]){ 3 }); /* 2, 0, 1 become 0, 1, 2 */
	kdr_context *ctx = m.ctx;
	assert_ok(ctx, kdri_result_array(ctx, m.result, "centres", 0, KDR_FLOAT64, 2, (int64_t[]){ 3, 2 },
	                                 &centres));
	assert_ok(ctx, kdri_result_array(ctx, m.result, "shares", 0, KDR_FLOAT64, 2, (int64_t[]){ 2, 3 },
	                                 &shares));
	assert_ok(ctx, kdri_result_array(ctx, m.result, "quality", 0, KDR_FLOAT64, 3, (int64_t[]){ 2, 3, 2 },
	                                 &quality));
	assert_ok(ctx,
	          kdri_result_array(ctx, m.result, "moves", 0, KDR_INT64, 2, (int64_t[]){ 2, 3 }, &moves));
	assert_ok(ctx,
	          kdri_result_array(ctx, m.result, "values", 0, KDR_FLOAT64, 1, (int64_t[]){ 3 }, &values));
	for (int i = 0; i < 12; i++) {
		if (i < 6)
			centres[i] = shares[i] = i;
		if (i < 3)
			values[i] = i;
		quality[i] = i;
	}
	memcpy(moves, (int64_t[]){ 2, 2, 0, 0, 1, 2 }, 6 * sizeof *moves);
	number(&m);
	assert_memory_equal(centres, ((double[]){ 4, 5, 0, 1, 2, 3 }), 6 * sizeof *centres);
	assert_memory_equal(shares, ((double[]){ 2, 0, 1, 5, 3, 4 }), 6 * sizeof *shares);
	assert_memory_equal(quality, ((double[]){ 4, 5, 0, 1, 2, 3, 10, 11, 6, 7, 8, 9 }),
	                    12 * sizeof *quality);
	assert_memory_equal(values, ((double[]){ 0, 1, 2 }), 3 * sizeof *values);
	assert_memory_equal(moves, ((int64_t[]){ 2, 0, 1, 0, 2, 0 }), 6 * sizeof *moves);
	release(&m);
}

static void number__an_array_of_another_size__is_a_bug(void **state)
{
	(void)state;
	made m;
	double *centres = NULL;
	make(&m, &each, 1, (int64_t[][ROWS]){ { 1, 0, -1 } }, (int64_t[]){ 2 });
	assert_ok(m.ctx, kdri_result_array(m.ctx, m.result, "centres", 0, KDR_FLOAT64, 2, (int64_t[]){ 3, 2 },
	                                   &centres));
	assert_int_equal(kdri_number_clusters(m.ctx, &m.problem, m.result), KDR_ERR_INTERNAL);
	release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(number__tasks_one_by_one__each_by_first_appearance),
		cmocka_unit_test(number__shared_clusters__one_numbering_over_all_tasks),
		cmocka_unit_test(number__pooled__one_numbering_over_all_tasks),
		cmocka_unit_test(number__matched_clusters__have_the_number_of_their_counterpart),
		cmocka_unit_test(number__more_clusters_than_the_counterparts_task_has__stay_in_range),
		cmocka_unit_test(number__a_match_of_equal_weights__is_none),
		cmocka_unit_test(number__initial_labels__keep_theirs),
		cmocka_unit_test(number__classes__are_left_alone),
		cmocka_unit_test(number__arrays__follow_as_the_table_says),
		cmocka_unit_test(number__an_array_of_another_size__is_a_bug),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
