/* Means and covariances of clusters, and samples drawn from them. */
#include "api/moments.h"
#include "tests/unit/unit.h"

enum { N = 400, D = 5, K = 2, SMALL_N = 6 };

/* Two clusters with correlated columns. */
static void fill(double *x, int64_t *labels, int64_t n, int64_t small)
{
	kdri_rng rng = kdri_rng_stream(3, "test", 0);
	for (int64_t i = 0; i < n; i++) {
		const double common = kdri_rng_normal(&rng);
		labels[i] = i < small;
		for (int j = 0; j < D; j++)
			x[i * D + j] = 10 * (double)labels[i] + j + (j < 3 ? 2 * common : 0) +
			               0.5 * kdri_rng_normal(&rng);
	}
}

static double covariance(const double *x, const int64_t *labels, int64_t n, int64_t z, int a, int b)
{
	double sum[2] = { 0 }, both = 0, count = 0;
	for (int64_t i = 0; i < n; i++)
		if (labels[i] == z) {
			sum[0] += x[i * D + a];
			sum[1] += x[i * D + b];
			both += x[i * D + a] * x[i * D + b];
			count++;
		}
	return both / count - sum[0] / count * (sum[1] / count);
}

static double kept_covariance(const kdri_moments *m, int64_t z, int a, int b)
{
	double sum = a == b ? m->variance[z * D + a] : 0;
	for (int64_t r = 0; r < m->rank; r++)
		sum += m->direction[(z * m->rank + r) * D + a] * m->direction[(z * m->rank + r) * D + b];
	return sum;
}

static void moments__few_columns__have_the_covariance_of_the_samples_and_so_do_draws(void **state)
{
	static double x[N * D];
	static int64_t labels[N];
	kdr_context *ctx = unit_context();
	kdr_data *data = NULL, *drawn = NULL;
	kdri_moments *m = NULL;
	(void)state;
	fill(x, labels, N, N / 2);
	const kdr_mat view = kdr_mat_from_dense(x, N, D);
	assert_ok(ctx, kdr_data_borrow(ctx, "a", &view, NULL, NULL, &data));
	assert_ok(ctx, kdri_moments_new(ctx, data, labels, K, 100000, NULL, &m));
	assert_int_equal(m->rank, D);
	assert_null(m->missing);
	assert_false(m->sparse);
	for (int z = 0; z < K; z++)
		for (int a = 0; a < D; a++)
			for (int b = 0; b < D; b++)
				assert_true(fabs(kept_covariance(m, z, a, b) -
				                 covariance(x, labels, N, z, a, b)) < 1e-9);
	m->draws[0] = m->draws[1] = 20000;
	assert_ok(ctx, kdri_moments_draw(ctx, m, NULL, "a", 0, &drawn));
	assert_int_equal(drawn->rows, 40000);
	for (int z = 0; z < K; z++)
		for (int a = 0; a < D; a++)
			for (int b = 0; b < D; b++)
				assert_true(fabs(kept_covariance(m, z, a, b) -
				                 covariance(drawn->dense, drawn->labels, drawn->rows, z, a,
				                            b)) < 0.2);
	kdr_data_free(drawn);
	kdr_data_free(data);
	kdri_moments_free(&ctx->allocator, m);
	kdr_context_free(ctx);
}

static void moments__small_cluster__has_the_covariance_of_all_clusters(void **state)
{
	static double x[N * D];
	static int64_t labels[N];
	kdr_context *ctx = unit_context();
	kdr_data *data = NULL;
	kdri_moments *m = NULL;
	(void)state;
	fill(x, labels, N, SMALL_N);
	const kdr_mat view = kdr_mat_from_dense(x, N, D);
	assert_ok(ctx, kdr_data_borrow(ctx, "a", &view, NULL, NULL, &data));
	assert_ok(ctx, kdri_moments_new(ctx, data, labels, K, 100, NULL, &m));
	for (int a = 0; a < D; a++) {
		const double within = ((N - SMALL_N) * covariance(x, labels, N, 0, a, a) +
		                       SMALL_N * covariance(x, labels, N, 1, a, a)) /
		                      N;
		assert_true(fabs(kept_covariance(m, 1, a, a) - within) < 1e-9);
	}
	assert_true(m->draws[1] >= 5 && m->draws[1] <= SMALL_N); /* of 100: a few more than in proportion */
	assert_true(m->draws[0] + m->draws[1] <= 100);
	kdr_data_free(data);
	kdri_moments_free(&ctx->allocator, m);
	kdr_context_free(ctx);
}

static void moments__words__are_the_same_dense_and_sparse_and_draws_keep_mean_and_zeros(void **state)
{
	enum { WORDS = 100, TEXTS = 50 };
	static double x[TEXTS * WORDS], val[TEXTS * WORDS];
	static int64_t rowptr[TEXTS + 1], labels[TEXTS];
	static int32_t col[TEXTS * WORDS];
	kdri_rng rng = kdri_rng_stream(4, "test", 0);
	kdr_context *ctx = unit_context();
	kdr_data *dense = NULL, *sparse = NULL, *drawn = NULL;
	kdri_moments *m[2] = { NULL };
	int64_t nnz = 0;
	(void)state;
	for (int i = 0; i < TEXTS; i++) {
		labels[i] = i % K;
		for (int j = 0; j < WORDS; j++)
			if (kdri_rng_uniform(&rng) < (j % K == i % K ? 0.1 : 0.01)) {
				x[i * WORDS + j] = val[nnz] = 1 + kdri_rng_uniform(&rng);
				col[nnz++] = j;
			}
		rowptr[i + 1] = nnz;
	}
	const kdr_mat views[2] = { kdr_mat_from_dense(x, TEXTS, WORDS),
		                   kdr_mat_from_csr(TEXTS, WORDS, rowptr, col, val) };
	assert_ok(ctx, kdr_data_borrow(ctx, "a", &views[0], NULL, NULL, &dense));
	assert_ok(ctx, kdr_data_borrow(ctx, "a", &views[1], NULL, NULL, &sparse));
	assert_ok(ctx, kdri_moments_new(ctx, dense, labels, K, 100, NULL, &m[0]));
	assert_ok(ctx, kdri_moments_new(ctx, sparse, labels, K, 100, NULL, &m[1]));
	assert_true(m[0]->sparse && m[1]->sparse && m[0]->rank == 0);
	assert_memory_equal(m[0]->mean, m[1]->mean, sizeof(double) * K * WORDS);
	assert_memory_equal(m[0]->variance, m[1]->variance, sizeof(double) * K * WORDS);
	m[0]->draws[0] = 20000;
	m[0]->draws[1] = 1;
	assert_ok(ctx, kdri_moments_draw(ctx, m[0], NULL, "a", 0, &drawn));
	assert_int_equal(drawn->kind, KDR_MAT_CSR);
	double mean[WORDS] = { 0 };
	for (int64_t p = 0; p < drawn->rowptr[20000]; p++)
		mean[drawn->col[p]] += drawn->val[p] / 20000;
	for (int j = 0; j < WORDS; j++) {
		assert_true(fabs(mean[j] - m[0]->mean[j]) < 0.03);
		assert_true(m[0]->mean[j] != 0 || mean[j] == 0);
	}
	for (int64_t i = 0; i < drawn->rows; i++)
		assert_true(drawn->rowptr[i + 1] > drawn->rowptr[i]);
	kdr_data_free(dense);
	kdr_data_free(sparse);
	kdr_data_free(drawn);
	kdri_moments_free(&ctx->allocator, m[0]);
	kdri_moments_free(&ctx->allocator, m[1]);
	kdr_context_free(ctx);
}

static void moments__many_columns__keep_their_variances(void **state)
{
	enum { COLS = 80, ROWS = 60 };
	static double x[ROWS * COLS];
	static int64_t labels[ROWS];
	kdri_rng rng = kdri_rng_stream(6, "test", 0);
	kdr_context *ctx = unit_context();
	kdr_data *data = NULL;
	kdri_moments *m = NULL;
	(void)state;
	for (int i = 0; i < ROWS; i++) {
		const double common = 3 * kdri_rng_normal(&rng);
		for (int j = 0; j < COLS; j++)
			x[i * COLS + j] = common + kdri_rng_normal(&rng);
	}
	const kdr_mat view = kdr_mat_from_dense(x, ROWS, COLS);
	assert_ok(ctx, kdr_data_borrow(ctx, "a", &view, NULL, NULL, &data));
	assert_ok(ctx, kdri_moments_new(ctx, data, labels, 1, 100, NULL, &m));
	assert_int_equal(m->rank, 20);
	for (int j = 0; j < COLS; j++) {
		double mean = 0, square = 0, kept = m->variance[j];
		for (int i = 0; i < ROWS; i++)
			mean += x[i * COLS + j] / ROWS;
		for (int i = 0; i < ROWS; i++)
			square += (x[i * COLS + j] - mean) * (x[i * COLS + j] - mean) / ROWS;
		for (int r = 0; r < 20; r++)
			kept += m->direction[r * COLS + j] * m->direction[r * COLS + j];
		assert_true(m->variance[j] > 0);
		assert_true(fabs(kept - square) < 1e-9 * square);
	}
	kdr_data_free(data);
	kdri_moments_free(&ctx->allocator, m);
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moments__few_columns__have_the_covariance_of_the_samples_and_so_do_draws),
		cmocka_unit_test(moments__small_cluster__has_the_covariance_of_all_clusters),
		cmocka_unit_test(moments__words__are_the_same_dense_and_sparse_and_draws_keep_mean_and_zeros),
		cmocka_unit_test(moments__many_columns__keep_their_variances),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
