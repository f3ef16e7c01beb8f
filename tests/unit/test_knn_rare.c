/* Neighbours of sparse rows by the rare columns they share. SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/unit.h"

#include "engine/graph/knn.h"
#include "engine/graph/knn_rare.h"

typedef struct text {
	int64_t n, d, words, *rowptr;
	int32_t *col;
	double *val;
	kdr_mat x;
} text;

static int by_column(const void *a, const void *b)
{
	return *(const int32_t *)a - *(const int32_t *)b;
}

/* Rows of different words, common ones of low number; weights fall with how common they are. Every second one has a theme. */
static text make_text(uint64_t seed, int64_t n, int64_t d, int64_t words)
{
	text t = { .n = n, .d = d, .words = words };
	kdri_rng rng = kdri_rng_stream(seed, "text", 0);
	t.rowptr = malloc((size_t)(n + 1) * sizeof *t.rowptr);
	t.col = malloc((size_t)(n * words) * sizeof *t.col);
	t.val = malloc((size_t)(n * words) * sizeof *t.val);
	for (int64_t i = 0; i < n; i++) {
		int32_t *row = t.col + i * words;
		int64_t theme = kdri_rng_below(&rng, d / 20);
		t.rowptr[i] = i * words;
		for (int64_t p = 0; p < words;) {
			double u = kdri_rng_uniform(&rng);
			int64_t j = p % 2 ? (int64_t)((double)d * u * u * u)
			                  : 20 * theme + kdri_rng_below(&rng, 20);
			bool had = false;
			for (int64_t q = 0; q < p; q++)
				had |= row[q] == j;
			if (!had)
				row[p++] = (int32_t)j;
		}
		qsort(row, (size_t)words, sizeof *row, by_column);
		for (int64_t p = 0; p < words; p++)
			t.val[i * words + p] = 1 + (double)row[p] / (double)d;
	}
	t.rowptr[n] = n * words;
	t.x = kdr_mat_from_csr(n, d, t.rowptr, t.col, t.val);
	return t;
}

static void release(text *t)
{
	free(t->rowptr);
	free(t->col);
	free(t->val);
}

static double product(const text *t, int64_t i, int64_t l)
{
	double sum = 0;
	for (int64_t p = 0; p < t->words; p++)
		for (int64_t q = 0; q < t->words; q++)
			if (t->col[i * t->words + p] == t->col[l * t->words + q])
				sum += t->val[i * t->words + p] * t->val[l * t->words + q];
	return sum;
}

/* With so few rows all columns are rare: those met are those with the largest products, nearest first. */
static void rare__few_rows__are_the_nearest(void **state)
{
	(void)state;
	enum { WIDTH = 7 };
	kdr_context *ctx = unit_context();
	for (uint64_t seed = 0; seed < 5; seed++) {
		text t = make_text(seed, 60, 200, 9);
		int32_t others[60 * WIDTH];
		double filled;
		assert_ok(ctx, kdri_knn_rare(ctx, &t.x, NULL, WIDTH, others, &filled));
		assert_true(filled > 0.5 && filled <= 1);
		for (int64_t i = 0; i < t.n; i++) {
			double last = INFINITY;
			int64_t larger = 0, count = 0;
			for (int64_t p = 0; p < WIDTH && others[i * WIDTH + p] >= 0; p++, count++) {
				double s = product(&t, i, others[i * WIDTH + p]);
				assert_true(others[i * WIDTH + p] != i && s > 0 && s <= last + 1e-5);
				last = s;
			}
			for (int64_t l = 0; l < t.n; l++)
				larger += l != i && product(&t, i, l) > (count < WIDTH ? 0 : last + 1e-5);
			assert_true(count < WIDTH ? larger == count : larger < WIDTH);
		}
		release(&t);
	}
	kdr_context_free(ctx);
}

/* A column that all rows have says nothing, and costs n^2: it is no rare one where that is too much. */
static void rare__common_columns__are_left_out(void **state)
{
	(void)state;
	enum { ROWS = 40000, WIDTH = 3 };
	kdr_context *ctx = unit_context();
	int64_t *rowptr = malloc((ROWS + 1) * sizeof *rowptr);
	int32_t *col = malloc(2 * (size_t)ROWS * sizeof *col),
	        *others = malloc(WIDTH * (size_t)ROWS * sizeof *others);
	double *val = malloc(2 * (size_t)ROWS * sizeof *val), filled;
	for (int64_t i = 0; i <= ROWS; i++)
		rowptr[i] = 2 * i;
	for (int64_t i = 0; i < ROWS; i++) {
		col[2 * i] = 0;
		col[2 * i + 1] = (int32_t)(1 + i / 2); /* shared by two */
		val[2 * i] = val[2 * i + 1] = 1;
	}
	kdr_mat x = kdr_mat_from_csr(ROWS, 1 + ROWS / 2, rowptr, col, val);
	assert_ok(ctx, kdri_knn_rare(ctx, &x, NULL, WIDTH, others, &filled));
	for (int64_t i = 0; i < ROWS; i++) {
		assert_int_equal(others[i * WIDTH], i ^ 1);
		assert_int_equal(others[i * WIDTH + 1], -1);
	}
	assert_near(filled, 1.0 / WIDTH, 1e-12);
	free(rowptr);
	free(col);
	free(val);
	free(others);
	kdr_context_free(ctx);
}

static void descent__texts__finds_nearly_all_whatever_the_threads(void **state)
{
	(void)state;
	enum { NEAR = 10 };
	text t = make_text(9, 3000, 4000, 20);
	kdri_knn one = { 0 };
	double recall = 0;
	for (int threads = 1; threads <= 3; threads++) {
		kdr_context *ctx = unit_context();
		kdri_knn knn = { 0 };
		kdr_context_set_threads(ctx, threads);
		assert_ok(ctx, kdri_knn_descent(ctx, &t.x, NEAR, KDRI_METRIC_COSINE, NULL, &knn, &recall));
		assert_true(recall > 0.9);
		if (threads > 1) {
			assert_memory_equal(knn.index, one.index, (size_t)(t.n * NEAR) * sizeof *knn.index);
			assert_memory_equal(knn.value, one.value, (size_t)(t.n * NEAR) * sizeof *knn.value);
			kdri_knn_free(ctx, &knn);
		} else {
			one = knn;
		}
		if (threads == 3)
			kdri_knn_free(ctx, &one);
		kdr_context_free(ctx);
	}
	release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rare__few_rows__are_the_nearest),
		cmocka_unit_test(rare__common_columns__are_left_out),
		cmocka_unit_test(descent__texts__finds_nearly_all_whatever_the_threads),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
