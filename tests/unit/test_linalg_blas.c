/* Dense products: against naive loops, and the same bits for any number of threads. */
#include "tests/unit/linalg_unit.h"

static void check_gemm(kdr_context *ctx, kdri_rng *rng, bool ta, bool tb, int64_t m, int64_t n, int64_t k,
                       double alpha, double beta)
{
	int64_t lda = (ta ? m : k) + 2, ldb = (tb ? k : n) + 1, ldc = n + 3;
	double *a = unit_random(rng, (ta ? k : m) * lda), *b = unit_random(rng, (tb ? n : k) * ldb);
	double *start = unit_random(rng, m * ldc), *c = unit_doubles(m * ldc), *again = unit_doubles(m * ldc);
	if (beta == 0) /* then what C held must not matter */
		for (int64_t i = 0; i < m; i++)
			for (int64_t j = 0; j < n; j++)
				start[i * ldc + j] = NAN;
	for (int threads = 1; threads <= 3; threads++) {
		double *to = threads == 1 ? c : again;
		memcpy(to, start, (size_t)(m * ldc) * sizeof *to);
		kdr_context_set_threads(ctx, threads);
		assert_ok(ctx, kdri_gemm(ctx, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, to, ldc));
		if (threads > 1)
			assert_same_bits(c, again, m * ldc);
	}
	for (int64_t i = 0; i < m; i++) {
		for (int64_t j = 0; j < n; j++) {
			double s = 0;
			for (int64_t l = 0; l < k; l++)
				s += (ta ? a[l * lda + i] : a[i * lda + l]) *
				     (tb ? b[j * ldb + l] : b[l * ldb + j]);
			s = alpha * s + (beta == 0 ? 0 : beta * start[i * ldc + j]);
			assert_near(c[i * ldc + j], s, 1e-11 * (1 + sqrt((double)k)));
		}
		for (int64_t j = n; j < ldc; j++)
			assert_true(c[i * ldc + j] == start[i * ldc + j]);
	}
	free(a);
	free(b);
	free(start);
	free(c);
	free(again);
}

static void gemm__random_shapes__match_naive_for_any_threads(void **state)
{
	(void)state;
	static const int64_t sizes[] = { 0, 1, 2, 5, 17, 64, 255, 256, 300 };
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(1, "test", 0);
	for (int round = 0; round < 80; round++)
		check_gemm(ctx, &rng, round & 1, round & 2, sizes[kdri_rng_below(&rng, 9)],
		           sizes[kdri_rng_below(&rng, 9)], sizes[kdri_rng_below(&rng, 9)],
		           round % 5 ? 1.5 : 0, round % 3 ? 0 : -0.5);
	kdr_context_free(ctx);
}

static void gemm__long_inner_dimension__splits_and_matches(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(2, "test", 0);
	for (int round = 0; round < 8; round++) {
		check_gemm(ctx, &rng, round & 1, round & 2, 7, 5, 20000 + round, 1, round & 4 ? 0 : 2);
		check_gemm(ctx, &rng, round & 1, round & 2, 1, 3, 5000 + round, 1, round & 4 ? 0 : 2);
		check_gemm(ctx, &rng, round & 1, round & 2, 3, 1, 5000 + round, 1, round & 4 ? 0 : 2);
		check_gemm(ctx, &rng, round & 1, round & 2, 270, 3, 3000, 1, 0);
	}
	check_gemm(ctx, &rng, false, false, 2, 1100, 30, 1, 0);
	check_gemm(ctx, &rng, false, true, 1100, 1, 30, 1, 1);
	kdr_context_free(ctx);
}

static void gemm__sizes_beyond_blas__are_refused(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	double x = 1, y = 2;
	assert_int_equal(kdri_gemm(ctx, false, false, 2, 2, (int64_t)1 << 31, 1, &x, 1, &x, 1, 0, &y, 2),
	                 KDR_ERR_SIZE);
	assert_int_equal(kdri_syrk(ctx, true, 2, 1, &x, (int64_t)1 << 31, &y, 2), KDR_ERR_SIZE);
	assert_true(y == 2);
	kdr_context_free(ctx);
}

static void syrk__random_shapes__match_naive_for_any_threads(void **state)
{
	(void)state;
	static const int64_t sides[] = { 0, 1, 2, 33, 256, 257, 530 }, lengths[] = { 0, 1, 3, 50, 9000 };
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(3, "test", 0);
	for (int round = 0; round < 70; round++) {
		bool trans = round & 1;
		int64_t n = sides[round / 2 % 7], k = n > 300 ? 40 : lengths[round % 5];
		k = n > 100 && k > 3000 ? 3000 : k;
		int64_t lda = (trans ? n : k) + 2, ldc = n + 1;
		double *a = unit_random(&rng, (trans ? k : n) * lda), *c = unit_random(&rng, n * ldc + 1);
		double *again = unit_random(&rng, n * ldc + 1);
		for (int threads = 1; threads <= 3; threads++) {
			kdr_context_set_threads(ctx, threads);
			assert_ok(ctx, kdri_syrk(ctx, trans, n, k, a, lda, threads == 1 ? c : again, ldc));
			for (int64_t i = 0; i < n && threads > 1; i++)
				assert_same_bits(c + i * ldc, again + i * ldc, n);
		}
		for (int64_t i = 0; i < n; i++)
			for (int64_t j = 0; j <= i; j++) {
				assert_true(c[i * ldc + j] == c[j * ldc + i]);
				if (n > 100 && (i + j) % 7) /* naive is slow: a sample will do */
					continue;
				double s = 0;
				for (int64_t l = 0; l < k; l++)
					s += trans ? a[l * lda + i] * a[l * lda + j]
					           : a[i * lda + l] * a[j * lda + l];
				assert_near(c[i * ldc + j], s, 1e-11 * (1 + (double)k));
			}
		free(a);
		free(c);
		free(again);
	}
	kdr_context_free(ctx);
}

static void products__no_memory__fail_cleanly(void **state)
{
	(void)state;
	kdri_rng rng = kdri_rng_stream(4, "test", 0);
	double *a = unit_random(&rng, 4 * 5000), c[16];
	assert_survives_no_memory(kdri_gemm(ctx, true, false, 4, 4, 5000, 1, a, 4, a, 4, 0, c, 4));
	assert_survives_no_memory(kdri_syrk(ctx, true, 4, 5000, a, 4, c, 4));
	free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gemm__random_shapes__match_naive_for_any_threads),
		cmocka_unit_test(gemm__long_inner_dimension__splits_and_matches),
		cmocka_unit_test(gemm__sizes_beyond_blas__are_refused),
		cmocka_unit_test(syrk__random_shapes__match_naive_for_any_threads),
		cmocka_unit_test(products__no_memory__fail_cleanly),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
