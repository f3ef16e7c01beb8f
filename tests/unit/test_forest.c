/* Forests of classification trees. SPDX-License-Identifier: BSD-3-Clause */
#include "engine/forest/forest.h"
#include "matrix/linalg.h"
#include "tests/unit/unit.h"

/* n rows of d numbers, class by the first two of them, as a checkerboard: no single split tells anything. */
typedef struct board {
	int64_t n, d, *label;
	double *x;
} board;

static board board_of(int64_t n, int64_t d, double missing, uint64_t seed)
{
	board b = { n, d, malloc((size_t)n * sizeof *b.label), malloc((size_t)(n * d) * sizeof *b.x) };
	kdri_rng rng = kdri_rng_stream(seed, "board", 0);
	for (int64_t i = 0; i < n; i++) {
		for (int64_t j = 0; j < d; j++)
			b.x[i * d + j] = floor(64 * kdri_rng_uniform(&rng)) / 16;
		b.label[i] = ((int64_t)b.x[i * d] + (int64_t)b.x[i * d + 1]) % 2;
		for (int64_t j = 2; j < d; j++)
			if (kdri_rng_uniform(&rng) < missing)
				b.x[i * d + j] = NAN;
	}
	return b;
}

static void board_free(board *b)
{
	free(b->label);
	free(b->x);
}

static double right_share(const double *p, const int64_t *label, int64_t n, int64_t classes)
{
	int64_t right = 0;
	for (int64_t i = 0; i < n; i++) {
		int64_t best = 0;
		double sum = 0;
		for (int64_t c = 0; c < classes; c++) {
			best = p[i * classes + c] > p[i * classes + best] ? c : best;
			sum += p[i * classes + c];
		}
		assert_near(sum, 1, 1e-12);
		right += best == label[i];
	}
	return (double)right / (double)n;
}

static void forest__checkerboard__learned(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	board a = board_of(3000, 5, 0.1, 1), b = board_of(1000, 5, 0.1, 2);
	const kdr_mat x = kdr_mat_from_dense(a.x, a.n, a.d), y = kdr_mat_from_dense(b.x, b.n, b.d);
	double *p = malloc((size_t)b.n * 2 * sizeof *p);
	for (int random = 0; random < 2; random++) {
		kdri_forest_options o = kdri_forest_defaults();
		kdri_forest f = { 0 };
		o.trees = 60;
		o.bootstrap = !random;
		o.random_splits = random;
		o.features = 0.6;
		o.min_leaf = 2;
		assert_ok(ctx, kdri_forest_fit(ctx, &x, a.label, NULL, 2, &o, &f));
		assert_ok(ctx, kdri_forest_check(ctx, &f));
		assert_ok(ctx, kdri_forest_predict(ctx, &f, &y, p));
		assert_true(right_share(p, b.label, b.n, 2) > 0.9);
		double sum = 0;
		for (int64_t j = 0; j < f.features; j++)
			sum += f.importance[j];
		assert_near(sum, 1, 1e-12);
		assert_true(f.importance[0] + f.importance[1] > 0.6);
		kdri_forest_free(ctx, &f);
	}
	free(p);
	board_free(&a);
	board_free(&b);
	kdr_context_free(ctx);
}

static void forest__one_tree__splits_as_by_hand(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	/* Class 1 from 3 on in the second column; the first is uninformative; the third has one value. */
	const double x[] = { 5, 1, 7, 4, 2, 7, 5, 3, 7, 4, 4, 7, 5, 2, 7, 4, 3, 7, 5, 4, 7, 4, 1, 7 };
	const int64_t label[] = { 0, 0, 1, 1, 0, 1, 1, 0 };
	const kdr_mat m = kdr_mat_from_dense(x, 8, 3);
	kdri_forest_options o = { .trees = 1, .min_leaf = 1, .features = 1 };
	kdri_forest f = { 0 };
	double p[16];
	assert_ok(ctx, kdri_forest_fit(ctx, &m, label, NULL, 2, &o, &f));
	assert_int_equal(f.nodes, 3);
	assert_int_equal(f.node[0].feature, 1);
	assert_near(f.node[0].threshold, 2.5, 0);
	assert_ok(ctx, kdri_forest_predict(ctx, &f, &m, p));
	assert_near(right_share(p, label, 8, 2), 1, 0);
	assert_near(f.importance[1], 1, 1e-15);
	kdri_forest_free(ctx, &f);
	o.max_depth = 0;
	o.min_leaf = 5; /* no split leaves five on both sides */
	assert_ok(ctx, kdri_forest_fit(ctx, &m, label, NULL, 2, &o, &f));
	assert_int_equal(f.nodes, 1);
	assert_near(f.share[0], 0.5, 1e-15);
	kdri_forest_free(ctx, &f);
	kdr_context_free(ctx);
}

/* Missing values separate the classes if the class is which values are missing. */
static void forest__missing_is_the_class__told_apart(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	double x[40];
	int64_t label[40];
	for (int i = 0; i < 40; i++) {
		label[i] = i % 2;
		x[i] = i % 2 ? NAN : (double)(i % 7);
	}
	const kdr_mat m = kdr_mat_from_dense(x, 40, 1);
	for (int constant = 0; constant < 2; constant++) {
		kdri_forest_options o = { .trees = 1, .min_leaf = 1 };
		kdri_forest f = { 0 };
		double p[80];
		for (int i = 0; i < 40 && constant; i += 2)
			x[i] = 3;
		assert_ok(ctx, kdri_forest_fit(ctx, &m, label, NULL, 2, &o, &f));
		assert_ok(ctx, kdri_forest_predict(ctx, &f, &m, p));
		assert_near(right_share(p, label, 40, 2), 1, 0);
		kdri_forest_free(ctx, &f);
	}
	kdr_context_free(ctx);
}

static bool same_forest(const kdri_forest *a, const kdri_forest *b)
{
	return a->nodes == b->nodes && a->leaves == b->leaves &&
	       memcmp(a->node, b->node, (size_t)a->nodes * sizeof *a->node) == 0 &&
	       memcmp(a->share, b->share, (size_t)(a->leaves * a->classes) * sizeof *a->share) == 0;
}

static void forest__threads_and_sparse_rows__same_trees(void **state)
{
	(void)state;
	board a = board_of(700, 4, 0, 3);
	kdri_forest f[3] = { { 0 }, { 0 }, { 0 } };
	kdr_context *ctx = unit_context();
	int64_t rowptr[701], nnz = 0;
	int32_t *col = malloc((size_t)(a.n * a.d) * sizeof *col);
	double *val = malloc((size_t)(a.n * a.d) * sizeof *val);
	for (int64_t i = 0; i < a.n; i++) {
		rowptr[i] = nnz;
		for (int64_t j = 0; j < a.d; j++)
			if (a.x[i * a.d + j] != 0) {
				col[nnz] = (int32_t)j;
				val[nnz++] = a.x[i * a.d + j];
			}
	}
	rowptr[a.n] = nnz;
	const kdr_mat dense = kdr_mat_from_dense(a.x, a.n, a.d),
	              sparse = kdr_mat_from_csr(a.n, a.d, rowptr, col, val);
	for (int turn = 0; turn < 3; turn++) {
		kdri_forest_options o = kdri_forest_defaults();
		o.trees = 10;
		kdr_context_set_threads(ctx, turn == 1 ? 3 : 1);
		assert_ok(ctx,
		          kdri_forest_fit(ctx, turn == 2 ? &sparse : &dense, a.label, NULL, 2, &o, &f[turn]));
	}
	assert_true(same_forest(&f[0], &f[1]));
	assert_true(same_forest(&f[0], &f[2]));
	double *p = malloc((size_t)a.n * 2 * sizeof *p), *q = malloc((size_t)a.n * 2 * sizeof *q);
	assert_ok(ctx, kdri_forest_predict(ctx, &f[0], &dense, p));
	assert_ok(ctx, kdri_forest_predict(ctx, &f[0], &sparse, q));
	assert_memory_equal(p, q, (size_t)a.n * 2 * sizeof *p);
	for (int turn = 0; turn < 3; turn++)
		kdri_forest_free(ctx, &f[turn]);
	free(p);
	free(q);
	free(col);
	free(val);
	board_free(&a);
	kdr_context_free(ctx);
}

static void forest__more_values_than_ranks__grouped(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	const int64_t n = UNIT_SANITIZED ? 70000 : 200000;
	double *x = malloc((size_t)n * sizeof *x);
	int64_t *rows = malloc((size_t)n * sizeof *rows);
	kdri_rng rng = kdri_rng_stream(4, "values", 0);
	for (int64_t i = 0; i < n; i++) {
		x[i] = kdri_rng_normal(&rng);
		rows[i] = i;
	}
	const kdr_mat m = kdr_mat_from_dense(x, n, 1);
	kdri_ranks r = { 0 };
	assert_ok(ctx, kdri_ranks_new(ctx, &m, rows, n, &r));
	assert_true(r.count[0] > 30000 && r.count[0] <= 65534);
	for (int64_t i = 1; i < n; i++)
		assert_true((x[i] <= x[i - 1]) || r.rank[i] >= r.rank[i - 1]);
	kdri_ranks_free(ctx, &r);
	free(x);
	free(rows);
	kdr_context_free(ctx);
}

static void forest__damaged__refused(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	board a = board_of(200, 3, 0, 5);
	const kdr_mat x = kdr_mat_from_dense(a.x, a.n, a.d);
	kdri_forest_options o = kdri_forest_defaults();
	kdri_forest f = { 0 };
	o.trees = 3;
	assert_ok(ctx, kdri_forest_fit(ctx, &x, a.label, NULL, 2, &o, &f));
	kdri_forest_node before = f.node[0];
	const int64_t wrong[] = { 0, -1, f.nodes - 1, f.nodes + 7 };
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		f.node[0].child = wrong[i];
		assert_int_equal(kdri_forest_check(ctx, &f), KDR_ERR_DATA);
	}
	f.node[0] = before;
	f.node[0].feature = f.features;
	assert_int_equal(kdri_forest_check(ctx, &f), KDR_ERR_DATA);
	f.node[0] = before;
	assert_ok(ctx, kdri_forest_check(ctx, &f));
	kdri_forest_free(ctx, &f);
	board_free(&a);
	kdr_context_free(ctx);
}

/* Zeros are ranked as one cell: the ranks are those of sorting all of them, with values below and above. */
static void ranks__many_zeros__as_sorted_one_by_one(void **state)
{
	(void)state;
	enum { N = 9 };
	kdr_context *ctx = unit_context();
	static const double column[2][N] = { { 0, -2, 5, 0, NAN, 0, 3, -2, -0.0 },
		                             { 0, 0, 0, 0, 0, 0, 0, 0, 0 } };
	static const uint16_t right[2][N] = { { 1, 0, 3, 1, 65535, 1, 2, 0, 1 }, { 0 } };
	static const int64_t rows[N] = { 0, 1, 2, 3, 4, 5, 6, 7, 8 };
	for (int c = 0; c < 2; c++) {
		const kdr_mat x = kdr_mat_from_dense((double *)column[c], N, 1);
		kdri_ranks r = { 0 };
		assert_ok(ctx, kdri_ranks_new(ctx, &x, rows, N, &r));
		assert_memory_equal(r.rank, right[c], sizeof right[c]);
		assert_int_equal(r.count[0], c ? 1 : 4);
		kdri_ranks_free(ctx, &r);
	}
	kdr_context_free(ctx);
}

/* One tree, of the first feature and of one split. */
static void forest__out_of_time__a_small_tree(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	board a = board_of(500, 5, 0, 1);
	const kdr_mat x = kdr_mat_from_dense(a.x, a.n, a.d);
	kdri_forest_options o = kdri_forest_defaults();
	kdri_forest f = { 0 };
	o.stage = "forest";
	kdr_context_set_threads(ctx, 1);
	kdr_context_set_time_limit(ctx, 1e-9);
	assert_ok(ctx, kdri_forest_fit(ctx, &x, a.label, NULL, 2, &o, &f));
	assert_int_equal(f.trees, 1);
	assert_int_equal(f.nodes, 3);
	assert_int_equal(f.node[0].feature, 0);
	assert_ok(ctx, kdri_forest_check(ctx, &f));
	kdri_forest_free(ctx, &f);
	board_free(&a);
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forest__checkerboard__learned),
		cmocka_unit_test(forest__one_tree__splits_as_by_hand),
		cmocka_unit_test(forest__missing_is_the_class__told_apart),
		cmocka_unit_test(forest__threads_and_sparse_rows__same_trees),
		cmocka_unit_test(forest__more_values_than_ranks__grouped),
		cmocka_unit_test(forest__damaged__refused),
		cmocka_unit_test(ranks__many_zeros__as_sorted_one_by_one),
		cmocka_unit_test(forest__out_of_time__a_small_tree),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
