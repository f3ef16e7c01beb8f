/* Maximum mean discrepancies against their definition. SPDX-License-Identifier: BSD-3-Clause */
#include "unit.h"

#include "engine/metrics/metrics.h"
#include "matrix/linalg.h"

typedef struct rows {
	int64_t n, d, *rowptr;
	int32_t *col;
	double *dense, *val;
} rows;

/* Rows with about `fill` of their entries not zero, moved by `shift`. */
static rows rows_new(kdri_rng *rng, int64_t n, int64_t d, double fill, double shift)
{
	rows r = { .n = n, .d = d };
	r.dense = calloc((size_t)(n * d), sizeof *r.dense);
	r.val = calloc((size_t)(n * d), sizeof *r.val);
	r.col = calloc((size_t)(n * d), sizeof *r.col);
	r.rowptr = calloc((size_t)n + 1, sizeof *r.rowptr);
	assert_true(r.dense && r.val && r.col && r.rowptr);
	for (int64_t i = 0; i < n; i++) {
		int64_t p = r.rowptr[i];
		for (int64_t j = 0; j < d; j++) {
			if (kdri_rng_uniform(rng) >= fill)
				continue;
			r.val[p] = r.dense[i * d + j] = kdri_rng_normal(rng) + shift;
			r.col[p++] = (int32_t)j;
		}
		r.rowptr[i + 1] = p;
	}
	return r;
}

static void rows_free(rows *r)
{
	free(r->dense);
	free(r->val);
	free(r->col);
	free(r->rowptr);
}

static kdr_mat dense_of(const rows *r)
{
	return kdr_mat_from_dense(r->dense, r->n, r->d);
}

static kdr_mat sparse_of(const rows *r)
{
	return kdr_mat_from_csr(r->n, r->d, r->rowptr, r->col, r->val);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static const double *pooled(const rows *a, const rows *b, int64_t i)
{
	return i < a->n ? a->dense + i * a->d : b->dense + (i - a->n) * b->d;
}

static double distance(const double *a, const double *b, int64_t d)
{
	double s = 0;
	for (int64_t j = 0; j < d; j++)
		s += (a[j] - b[j]) * (a[j] - b[j]);
	return sqrt(s);
}

/* By the definition, pair by pair. */
static kdri_mmd_value plain(const rows *a, const rows *b)
{
	int64_t n = a->n + b->n, pairs = 0;
	double *gaps = malloc((size_t)(n * n) * sizeof *gaps), sum[2] = { 0, 0 };
	assert_non_null(gaps);
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < i; j++)
			gaps[pairs++] = distance(pooled(a, b, i), pooled(a, b, j), a->d);
	qsort(gaps, (size_t)pairs, sizeof *gaps, by_value);
	kdri_mmd_value v = { .bandwidth = pairs % 2 ? gaps[pairs / 2]
		                                    : (gaps[pairs / 2 - 1] + gaps[pairs / 2]) / 2 };
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < n; j++) {
			double g = distance(pooled(a, b, i), pooled(a, b, j), a->d) / v.bandwidth, dot = 0;
			double w = (i < a->n ? 1.0 / (double)a->n : -1.0 / (double)b->n) *
			           (j < a->n ? 1.0 / (double)a->n : -1.0 / (double)b->n);
			for (int64_t t = 0; t < a->d; t++)
				dot += pooled(a, b, i)[t] * pooled(a, b, j)[t];
			sum[0] += w * dot;
			sum[1] += w * exp(-g * g / 2);
		}
	v.linear = sum[0];
	v.gaussian = sum[1];
	free(gaps);
	return v;
}

static void mmd__random_rows__equal_the_definition(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	for (uint64_t seed = 0; seed < 30; seed++) {
		kdri_rng rng = kdri_rng_stream(seed, "test", 0);
		int64_t d = 1 + kdri_rng_below(&rng, 12);
		rows a = rows_new(&rng, 1 + kdri_rng_below(&rng, 40), d, 0.9, 0);
		rows b = rows_new(&rng, 1 + kdri_rng_below(&rng, 40), d, 0.9, 0.3);
		kdr_mat x[2] = { dense_of(&a), sparse_of(&a) }, y[2] = { dense_of(&b), sparse_of(&b) };
		kdri_mmd_value want = plain(&a, &b);
		for (int k = 0; k < 4; k++) {
			kdri_mmd_value got = { 0 };
			assert_ok(ctx, kdri_mmd(ctx, &x[k / 2], &y[k % 2], &got));
			assert_near(got.linear, want.linear, 1e-12);
			if (!(want.bandwidth > 0))
				continue;
			assert_near(got.bandwidth, want.bandwidth, 1e-7);
			assert_near(got.gaussian, want.gaussian, 1e-7);
			assert_false(got.sampled);
		}
		rows_free(&a);
		rows_free(&b);
	}
	kdr_context_free(ctx);
}

static void mmd__far_from_the_origin__stays_the_same(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(3, "test", 0);
	rows a = rows_new(&rng, 50, 4, 1, 0), b = rows_new(&rng, 30, 4, 1, 0.5);
	kdr_mat x = dense_of(&a), y = dense_of(&b);
	kdri_mmd_value near = { 0 }, far = { 0 };
	assert_ok(ctx, kdri_mmd(ctx, &x, &y, &near));
	for (int64_t i = 0; i < a.n * 4; i++)
		a.dense[i] += 1e6;
	for (int64_t i = 0; i < b.n * 4; i++)
		b.dense[i] += 1e6;
	assert_ok(ctx, kdri_mmd(ctx, &x, &y, &far));
	assert_near(far.gaussian, near.gaussian, 1e-8);
	assert_near(far.linear, near.linear, 1e-8);
	rows_free(&a);
	rows_free(&b);
	kdr_context_free(ctx);
}

static void mmd__many_rows__same_for_any_threads_and_layout(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(4, "test", 0);
	rows a = rows_new(&rng, 1300, 20, 0.3, 0.2), b = rows_new(&rng, 900, 20, 0.3, 0.4);
	kdr_mat x[2] = { dense_of(&a), sparse_of(&a) }, y[2] = { dense_of(&b), sparse_of(&b) };
	kdri_mmd_value v[2][2];
	for (int layout = 0; layout < 2; layout++)
		for (int t = 0; t < 2; t++) {
			kdr_context_set_threads(ctx, 1 + 2 * t);
			assert_ok(ctx, kdri_mmd(ctx, &x[layout], &y[layout], &v[layout][t]));
			assert_true(v[layout][t].sampled);
		}
	for (int layout = 0; layout < 2; layout++) {
		assert_true(v[layout][0].linear == v[layout][1].linear);
		assert_true(v[layout][0].gaussian == v[layout][1].gaussian);
		assert_true(v[layout][0].bandwidth == v[layout][1].bandwidth);
	}
	assert_near(v[0][0].gaussian, v[1][0].gaussian, 1e-10);
	rows_free(&a);
	rows_free(&b);
	kdr_context_free(ctx);
}

static void mmd__equal_rows__is_zero(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	double one[6] = { 1, 2, 1, 2, 1, 2 };
	kdr_mat x = kdr_mat_from_dense(one, 3, 2), y = kdr_mat_from_dense(one, 1, 2);
	kdri_mmd_value v = { .linear = -1, .gaussian = -1 };
	assert_ok(ctx, kdri_mmd(ctx, &x, &y, &v));
	assert_near(v.linear, 0, 0);
	assert_near(v.gaussian, 0, 0);
	assert_near(v.bandwidth, 0, 0);
	kdr_mat narrow = kdr_mat_from_dense(one, 3, 1);
	assert_int_equal(kdri_mmd(ctx, &x, &narrow, &v), KDR_ERR_ARGUMENT);
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mmd__random_rows__equal_the_definition),
		cmocka_unit_test(mmd__far_from_the_origin__stays_the_same),
		cmocka_unit_test(mmd__many_rows__same_for_any_threads_and_layout),
		cmocka_unit_test(mmd__equal_rows__is_zero),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
