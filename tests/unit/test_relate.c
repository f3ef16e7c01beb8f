/* Measures of tasks and pairs: golden values, and what must hold for any data. SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/json_read.h"
#include "tests/unit/golden.h"

#include "jobs/relate/relate.h"

/* A golden matrix of features x samples, turned into samples x features. */
static double *samples(const kdri_json_value *value, int64_t *n, int64_t *d)
{
	int64_t count;
	double *x = golden_numbers(value, &count), *out = calloc((size_t)count + 1, sizeof *out);
	*d = kdri_json_count(value);
	*n = count / *d;
	for (int64_t i = 0; i < *n; i++)
		for (int64_t j = 0; j < *d; j++)
			out[i * *d + j] = x[j * *n + i];
	free(x);
	return out;
}

typedef struct three {
	double *data[3]; /* source, between, target */
	kdr_mat x[3];
	const kdri_json_value *root, *selection;
} three;

static three three_new(void)
{
	static const char *const names[3] = { "S", "D", "T" };
	three t = { .root = golden_load("ttl.json") };
	t.selection = kdri_json_get(t.root, "selection");
	for (int k = 0; k < 3; k++) {
		int64_t n, d;
		t.data[k] = samples(kdri_json_get(t.selection, names[k]), &n, &d);
		t.x[k] = kdr_mat_from_dense(t.data[k], n, d);
	}
	return t;
}

static void three_free(three *t)
{
	for (int k = 0; k < 3; k++)
		free(t->data[k]);
	golden_free(t->root);
}

static void relate__golden__complexity_and_distances(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	three t = three_new();
	kdri_relate_task tasks[3];
	kdri_relate_pair pairs[3];
	assert_ok(ctx, kdri_relate_matrices(ctx, t.x, 3, NULL, tasks, pairs));
	const double all[3] = { tasks[0].complexity, tasks[1].complexity, tasks[2].complexity };
	const double seen[3] = { tasks[0].complexity_observed, tasks[1].complexity_observed,
		                 tasks[2].complexity_observed };
	golden_close("selection", "complexity", all, kdri_json_get(t.selection, "complexity_all"), 1e-15);
	golden_close("selection", "observed", seen, kdri_json_get(t.selection, "complexity_observed"), 1e-15);
	const kdri_json_value *a = kdri_json_get(t.selection, "a_distance");
	assert_int_equal(pairs[2].a, 1);
	assert_int_equal(pairs[2].b, 2);
	assert_near(pairs[0].a_distance, golden_number(a, "si"), 1e-12);
	assert_near(pairs[1].a_distance, golden_number(a, "st"), 1e-12);
	assert_near(pairs[2].a_distance, golden_number(a, "it"), 1e-12);
	kdr_relate_options o;
	kdr_relate_options_init(&o);
	o.rare = 0.3;
	o.no_mmd = true;
	assert_ok(ctx, kdri_relate_matrices(ctx, t.x, 3, &o, tasks, pairs));
	const double often[3] = { tasks[0].complexity, tasks[1].complexity, tasks[2].complexity };
	golden_close("selection", "t30", often, kdri_json_get(t.selection, "complexity_t30_all"), 1e-15);
	assert_true(isnan(pairs[0].mmd_linear) && isnan(pairs[0].mmd_gaussian));
	three_free(&t);
	kdr_context_free(ctx);
}

/* Everything but the tasks' order and the layout must come out the same. */
static void relate__dense_sparse_threads__same(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	three t = three_new();
	kdr_mat sparse[3];
	int64_t *rowptr[3];
	int32_t *col[3];
	double *val[3];
	for (int k = 0; k < 3; k++) {
		int64_t n = kdr_mat_rows(&t.x[k]), d = kdr_mat_cols(&t.x[k]), nnz = 0;
		rowptr[k] = calloc((size_t)n + 1, sizeof **rowptr);
		col[k] = calloc((size_t)(n * d), sizeof **col);
		val[k] = calloc((size_t)(n * d), sizeof **val);
		for (int64_t i = 0; i < n; i++) {
			for (int64_t j = 0; j < d; j++)
				if (t.data[k][i * d + j] != 0) {
					col[k][nnz] = (int32_t)j;
					val[k][nnz++] = t.data[k][i * d + j];
				}
			rowptr[k][i + 1] = nnz;
		}
		sparse[k] = kdr_mat_from_csr(n, d, rowptr[k], col[k], val[k]);
	}
	kdri_relate_task tasks[3][3];
	kdri_relate_pair pairs[3][3];
	for (int run = 0; run < 3; run++) {
		kdr_context_set_threads(ctx, run == 2 ? 3 : 1);
		assert_ok(ctx, kdri_relate_matrices(ctx, run == 0 ? t.x : sparse, 3, NULL, tasks[run],
		                                    pairs[run]));
	}
	for (int k = 0; k < 3; k++) {
		assert_int_equal(tasks[0][k].observed, tasks[1][k].observed);
		assert_int_equal(pairs[0][k].shared, pairs[1][k].shared);
		assert_near(pairs[0][k].a_distance, pairs[1][k].a_distance, 1e-12);
		assert_near(pairs[0][k].mmd_linear, pairs[1][k].mmd_linear, 1e-12);
		assert_near(pairs[0][k].mmd_gaussian, pairs[1][k].mmd_gaussian, 1e-9);
		assert_true(pairs[1][k].a_distance == pairs[2][k].a_distance);
		assert_true(pairs[1][k].mmd_gaussian == pairs[2][k].mmd_gaussian);
	}
	for (int k = 0; k < 3; k++) {
		free(rowptr[k]);
		free(col[k]);
		free(val[k]);
	}
	three_free(&t);
	kdr_context_free(ctx);
}

static void relate__alike_and_apart__ends_of_the_scale(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	enum { N = 200, D = 4 };
	static double x[3][N * D];
	kdri_rng rng = kdri_rng_stream(1, "test", 0);
	for (int k = 0; k < 3; k++)
		for (int64_t i = 0; i < N * D; i++)
			x[k][i] = kdri_rng_uniform(&rng) + (k == 2 && i % D == 0 ? 5 : 0);
	kdr_mat m[3] = { kdr_mat_from_dense(x[0], N, D), kdr_mat_from_dense(x[1], N, D),
		         kdr_mat_from_dense(x[2], N, D) };
	kdri_relate_task tasks[3];
	kdri_relate_pair pairs[3];
	assert_ok(ctx, kdri_relate_matrices(ctx, m, 3, NULL, tasks, pairs));
	assert_true(pairs[0].a_distance < 0.4);
	assert_near(pairs[1].a_distance, 2, 0);
	assert_near(pairs[1].overlap, 1, 0);
	assert_true(pairs[0].mmd_gaussian < 0.02 && pairs[1].mmd_gaussian > 0.3);
	assert_near(pairs[1].mmd_linear, 25, 1.5);
	/* A task of one sample has no held-out error. */
	m[1].as.dense.rows = 1;
	assert_ok(ctx, kdri_relate_matrices(ctx, m, 2, NULL, tasks, pairs));
	assert_true(isnan(pairs[0].a_distance));
	m[1].as.dense.cols = 2;
	assert_int_equal(kdri_relate_matrices(ctx, m, 2, NULL, tasks, pairs), KDR_ERR_DATA);
	kdr_context_free(ctx);
}

/* Above most_rows the Gaussian discrepancy is that of a subset, the same each time and close to that of all rows. */
static void relate__many_rows__a_fixed_choice_is_near_the_whole(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	enum { N = 900 };
	static double x[2][N];
	kdri_rng rng = kdri_rng_stream(2, "test", 0);
	for (int k = 0; k < 2; k++)
		for (int64_t i = 0; i < N; i++)
			x[k][i] = kdri_rng_normal(&rng) + k;
	kdr_mat m[2] = { kdr_mat_from_dense(x[0], N, 1), kdr_mat_from_dense(x[1], N, 1) };
	kdri_relate_task tasks[2];
	kdri_relate_pair whole, part, again;
	kdr_relate_options o;
	kdr_relate_options_init(&o);
	assert_ok(ctx, kdri_relate_matrices(ctx, m, 2, &o, tasks, &whole));
	o.most_rows = 400;
	assert_ok(ctx, kdri_relate_matrices(ctx, m, 2, &o, tasks, &part));
	kdr_context_set_seed(ctx, 77);
	assert_ok(ctx, kdri_relate_matrices(ctx, m, 2, &o, tasks, &again));
	assert_true(part.mmd_gaussian == again.mmd_gaussian && part.bandwidth == again.bandwidth);
	assert_true(part.mmd_gaussian != whole.mmd_gaussian);
	assert_near(part.mmd_gaussian, whole.mmd_gaussian, 0.03);
	assert_near(part.mmd_linear, whole.mmd_linear, 0);
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(relate__golden__complexity_and_distances),
		cmocka_unit_test(relate__dense_sparse_threads__same),
		cmocka_unit_test(relate__alike_and_apart__ends_of_the_scale),
		cmocka_unit_test(relate__many_rows__a_fixed_choice_is_near_the_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
