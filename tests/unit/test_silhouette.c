/* Silhouettes: against the definition, dense and sparse, and the cases without one.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "engine/metrics/metrics.h"
#include "tests/unit/unit.h"

enum { MOST = 700, WIDE = 12 };

static double x[MOST * WIDE], values[MOST], other[MOST];
static int64_t labels[MOST];

/* Sparse-looking rows, some of them equal, in k clusters. */
static void random_data(kdri_rng *rng, int64_t n, int64_t d, int64_t k)
{
	for (int64_t i = 0; i < n; i++) {
		labels[i] = i < k ? i : kdri_rng_below(rng, k);
		for (int64_t t = 0; t < d; t++)
			x[i * d + t] = kdri_rng_below(rng, 3) ? 0 : kdri_rng_normal(rng) + (double)labels[i];
		if (i > 0 && kdri_rng_below(rng, 4) == 0)
			memcpy(x + i * d, x + (i - 1) * d, (size_t)d * sizeof *x);
	}
}

static double distance(int64_t d, const double *a, const double *b)
{
	double sum = 0;
	for (int64_t t = 0; t < d; t++)
		sum += (a[t] - b[t]) * (a[t] - b[t]);
	return sqrt(sum);
}

static double ratio(double a, double b)
{
	return fmax(a, b) > 0 ? (b - a) / fmax(a, b) : 0;
}

static void by_definition(int64_t n, int64_t d, int64_t k, bool simplified, double *out)
{
	double centre[10 * WIDE] = { 0 };
	int64_t size[10] = { 0 };
	for (int64_t i = 0; i < n; i++) {
		size[labels[i]]++;
		for (int64_t t = 0; t < d; t++)
			centre[labels[i] * d + t] += x[i * d + t];
	}
	for (int64_t c = 0; c < k; c++)
		for (int64_t t = 0; t < d; t++)
			centre[c * d + t] /= (double)size[c];
	for (int64_t i = 0; i < n; i++) {
		double a = 0, b = INFINITY;
		for (int64_t c = 0; c < k; c++) {
			double mean = 0;
			for (int64_t j = 0; j < n; j++)
				mean += labels[j] == c ? distance(d, x + i * d, x + j * d) : 0;
			mean /= (double)KDRI_MAX(1, c == labels[i] ? size[c] - 1 : size[c]);
			if (simplified)
				mean = distance(d, x + i * d, centre + c * d);
			if (c == labels[i])
				a = mean;
			else
				b = fmin(b, mean);
		}
		out[i] = size[labels[i]] > 1 ? ratio(a, b) : 0;
	}
}

static void silhouette__random_data__as_defined(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(1, "test", 0);
	for (int round = 0; round < 60; round++) {
		int64_t k = 2 + kdri_rng_below(&rng, 8), n = k + kdri_rng_below(&rng, 60),
		        d = 1 + kdri_rng_below(&rng, WIDE);
		if (round == 0)
			n = MOST; /* more than one block */
		random_data(&rng, n, d, k);
		kdr_mat m = kdr_mat_from_dense(x, n, d);
		for (int kind = 0; kind < 2; kind++) {
			double mean, sum = 0;
			assert_ok(ctx,
			          kdri_silhouette(ctx, &m, labels, (kdr_silhouette_kind)kind, values, &mean));
			by_definition(n, d, k, kind == KDR_SILHOUETTE_SIMPLIFIED, other);
			for (int64_t i = 0; i < n; i++) {
				/* A centroid of equal rows may be off by rounding, which 0/0 magnifies. */
				if (kind == KDR_SILHOUETTE_EXACT)
					assert_near(values[i], other[i], 1e-12);
				else
					assert_near(values[i], other[i], 1e-9);
				sum += values[i];
			}
			assert_near(mean, sum / (double)n, 1e-14);
		}
	}
	kdr_context_free(ctx);
}

static void silhouette__sparse__equals_dense(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(2, "test", 0);
	static int64_t rowptr[MOST + 1];
	static int32_t col[MOST * WIDE];
	static double val[MOST * WIDE];
	for (int round = 0; round < 30; round++) {
		int64_t n = 3 + kdri_rng_below(&rng, 300), d = 1 + kdri_rng_below(&rng, WIDE), p = 0;
		random_data(&rng, n, d, 3);
		for (int64_t i = 0; i < n; i++) {
			for (int64_t t = 0; t < d; t++)
				if (x[i * d + t] != 0) {
					col[p] = (int32_t)t;
					val[p++] = x[i * d + t];
				}
			rowptr[i + 1] = p;
		}
		kdr_mat dense = kdr_mat_from_dense(x, n, d),
		        sparse = kdr_mat_from_csr(n, d, rowptr, col, val);
		for (int kind = 0; kind < 2; kind++) {
			assert_ok(ctx, kdri_silhouette(ctx, &dense, labels, (kdr_silhouette_kind)kind, values,
			                               NULL));
			assert_ok(ctx, kdri_silhouette(ctx, &sparse, labels, (kdr_silhouette_kind)kind, other,
			                               NULL));
			for (int64_t i = 0; i < n; i++)
				assert_near(values[i], other[i], kind ? 1e-9 : 1e-12);
		}
	}
	kdr_context_free(ctx);
}

static void silhouette__threads__same_bits(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(3, "test", 0);
	random_data(&rng, MOST, WIDE, 5);
	kdr_mat m = kdr_mat_from_dense(x, MOST, WIDE);
	for (int kind = 0; kind < 2; kind++) {
		kdr_context_set_threads(ctx, 1);
		assert_ok(ctx, kdri_silhouette(ctx, &m, labels, (kdr_silhouette_kind)kind, values, NULL));
		kdr_context_set_threads(ctx, 3);
		assert_ok(ctx, kdri_silhouette(ctx, &m, labels, (kdr_silhouette_kind)kind, other, NULL));
		assert_memory_equal(values, other, sizeof values);
	}
	kdr_context_free(ctx);
}

static void silhouette__stride_and_far_origin__same_values(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(4, "test", 0);
	static double shifted[100 * 7];
	random_data(&rng, 100, 4, 4);
	for (int64_t i = 0; i < 100; i++)
		for (int64_t t = 0; t < 4; t++) {
			x[i * 4 + t] = nearbyint(x[i * 4 + t] * 64); /* whole, so that shifting is exact */
			shifted[i * 7 + t] = x[i * 4 + t] + 1e9;
		}
	kdr_mat a = kdr_mat_from_dense(x, 100, 4), b = kdr_mat_from_dense(shifted, 100, 4);
	b.as.dense.stride = 7;
	assert_ok(ctx, kdri_silhouette(ctx, &a, labels, KDR_SILHOUETTE_EXACT, values, NULL));
	assert_ok(ctx, kdri_silhouette(ctx, &b, labels, KDR_SILHOUETTE_EXACT, other, NULL));
	for (int64_t i = 0; i < 100; i++)
		assert_near(values[i], other[i], 1e-12);
	kdr_context_free(ctx);
}

static void silhouette__singletons_or_one_cluster__zero_or_error(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	static const double points[4] = { 0, 1, 5, NAN };
	static const int64_t single[3] = { 5, -1, 2 }, one[3] = { 4, 4, 4 }, two[3] = { 0, 0, 1 };
	double v[4] = { 9, 9, 9, 9 }, mean = 9;
	kdr_mat m = kdr_mat_from_dense(points, 3, 1), bad = kdr_mat_from_dense(points + 1, 3, 1);
	for (int kind = 0; kind < 2; kind++) {
		kdr_silhouette_kind which = (kdr_silhouette_kind)kind;
		assert_int_equal(kdri_silhouette(ctx, &m, one, which, v, &mean), KDR_ERR_DATA);
		assert_int_equal(kdri_silhouette(ctx, &bad, two, which, v, &mean), KDR_ERR_DATA);
		assert_int_equal(kdri_silhouette(ctx, &m, NULL, which, v, &mean), KDR_ERR_ARGUMENT);
		assert_true(v[0] == 9 && mean == 9);
	}
	for (int kind = 0; kind < 2; kind++) {
		assert_ok(ctx, kdri_silhouette(ctx, &m, single, (kdr_silhouette_kind)kind, v, &mean));
		assert_true(v[0] == 0 && v[1] == 0 && v[2] == 0 && mean == 0);
	}
	assert_ok(ctx, kdri_silhouette(ctx, &m, two, KDR_SILHOUETTE_EXACT, v, &mean));
	assert_near(v[0], 0.8, 1e-15);
	assert_near(v[1], 0.75, 1e-15);
	assert_true(v[2] == 0);
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(silhouette__random_data__as_defined),
		cmocka_unit_test(silhouette__sparse__equals_dense),
		cmocka_unit_test(silhouette__threads__same_bits),
		cmocka_unit_test(silhouette__stride_and_far_origin__same_values),
		cmocka_unit_test(silhouette__singletons_or_one_cluster__zero_or_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
