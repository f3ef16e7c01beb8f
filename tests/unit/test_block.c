/* matrix/block.h, product.c and factor.c against sums written out. */
#include "tests/unit/unit.h"

#include "matrix/block.h"

static double uniform(kdri_rng *rng)
{
	return 2 * kdri_rng_uniform(rng) - 1;
}

/* Filled at random; the same numbers, as that precision holds them, in *copy. */
static kdri_block random_block(kdr_context *ctx, kdri_rng *rng, int64_t rows, int64_t cols, bool floats,
                               double **copy)
{
	kdri_block b;
	assert_ok(ctx, kdri_block_new(ctx, &kdri_cpu, rows, cols, floats, &b));
	*copy = malloc((size_t)(rows * cols + 1) * sizeof **copy);
	for (int64_t i = 0; i < rows; i++)
		for (int64_t j = 0; j < cols; j++) {
			kdri_block_set(&b, i, j, uniform(rng));
			(*copy)[i * cols + j] = kdri_block_get(&b, i, j);
		}
	return b;
}

static const int64_t sizes[][3] = { { 1, 1, 1 },      { 1, 7, 3 },     { 7, 1, 5 },
	                            { 5, 6, 0 },      { 64, 64, 64 },  { 65, 33, 17 },
	                            { 390, 385, 20 }, { 800, 30, 50 }, { 3, 5, 40000 } };
enum { SIZES = sizeof sizes / sizeof sizes[0] };

static void gemm__both_precisions_and_transposes__sums_of_products(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(1, "block", 0);
	for (int s = 0; s < SIZES * 8; s++) {
		int64_t m = sizes[s / 8][0], n = sizes[s / 8][1], k = sizes[s / 8][2];
		bool ta = s & 1, tb = s & 2, floats = s & 4;
		double *x, *y, *z;
		kdri_block a = random_block(ctx, &rng, ta ? k : m, ta ? m : k, floats, &x);
		kdri_block b = random_block(ctx, &rng, tb ? n : k, tb ? k : n, floats, &y);
		kdri_block c = random_block(ctx, &rng, m, n, floats, &z);
		assert_ok(ctx, kdri_block_gemm(ctx, ta, tb, 0.5, a, b, 2, c));
		for (int64_t i = 0; i < m; i++)
			for (int64_t j = 0; j < n; j++) {
				double sum = 2 * z[i * n + j];
				for (int64_t l = 0; l < k; l++)
					sum += 0.5 * (ta ? x[l * m + i] : x[i * k + l]) *
					       (tb ? y[j * k + l] : y[l * n + j]);
				assert_near(kdri_block_get(&c, i, j), sum,
				            (floats ? 1e-4 : 1e-11) * (1 + (double)k / 1000));
			}
		kdri_block_free(ctx, &a);
		kdri_block_free(ctx, &b);
		kdri_block_free(ctx, &c);
		free(x);
		free(y);
		free(z);
	}
	kdr_context_free(ctx);
}

static void syrk__all_precisions__sums_of_products(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(1, "block", 1);
	for (int s = 0; s < SIZES * 6; s++) {
		int64_t n = sizes[s / 6][0], k = sizes[s / 6][2];
		bool trans = s & 1, floats = s % 6 >= 2, wide = s % 6 < 4; /* double, mixed, single */
		double *x, *z;
		kdri_block a = random_block(ctx, &rng, trans ? k : n, trans ? n : k, floats, &x);
		kdri_block c = random_block(ctx, &rng, n, n, !wide, &z);
		assert_ok(ctx, kdri_block_syrk(ctx, trans, 0.5, a, 2, c));
		assert_ok(ctx, kdri_cpu.mirror(ctx, c));
		for (int64_t i = 0; i < n; i++)
			for (int64_t j = 0; j < n; j++) {
				int64_t low = KDRI_MIN(i, j), high = KDRI_MAX(i, j);
				double sum = 2 * z[high * n + low];
				for (int64_t l = 0; l < k; l++)
					sum += 0.5 * (trans ? x[l * n + i] * x[l * n + j]
					                    : x[i * k + l] * x[j * k + l]);
				assert_near(kdri_block_get(&c, i, j), sum,
				            (floats ? 1e-4 : 1e-11) * (1 + (double)k / 1000));
			}
		kdri_block_free(ctx, &a);
		kdri_block_free(ctx, &c);
		free(x);
		free(z);
	}
	kdr_context_free(ctx);
}

static void mul__single_matrix__as_its_doubles(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(1, "block", 2);
	for (int64_t n = 1; n < 3000; n = 3 * n + 2) {
		double *x, *y, got[2 * 3];
		kdri_block a = random_block(ctx, &rng, 2, n, true, &x),
		           b = random_block(ctx, &rng, n, 3, false, &y);
		assert_ok(ctx, kdri_block_mul(ctx, a, b.data, 3, 3, got, 3));
		for (int i = 0; i < 2; i++)
			for (int j = 0; j < 3; j++) {
				double sum = 0;
				for (int64_t l = 0; l < n; l++)
					sum += x[i * n + l] * y[l * 3 + j];
				assert_near(got[i * 3 + j], sum, 1e-10);
			}
		kdri_block_free(ctx, &a);
		kdri_block_free(ctx, &b);
		free(x);
		free(y);
	}
	kdr_context_free(ctx);
}

static void apply__both_precisions__to_a_small_share_of_each_entry(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(1, "block", 7);
	for (int s = 0; s < 12; s++) {
		int64_t rows = s % 3 ? 300 : 3, n = (int64_t[]){ 1, 40, 1023, 3000 }[s % 4], k = s % 5 + 1;
		bool floats = s % 2;
		double *x, *y, *got = malloc((size_t)(rows * 7) * sizeof *got);
		kdri_block a = random_block(ctx, &rng, rows, n, floats, &x),
		           b = random_block(ctx, &rng, n, k, false, &y);
		for (int64_t i = 0; i < rows * n; i++) {
			x[i] = fabs(x[i]);
			kdri_block_set(&a, i / n, i % n, x[i]);
		}
		for (int64_t i = 0; i < n * k; i++)
			((double *)b.data)[i] = y[i] = i % 7 == 3 ? 1e-60 : fabs(y[i]);
		assert_ok(ctx, kdri_cpu.apply(ctx, a, b, kdri_block_of(got, rows, k, 7)));
		for (int64_t i = 0; i < rows; i++)
			for (int64_t j = 0; j < k; j++) {
				double sum = 0;
				for (int64_t l = 0; l < n; l++)
					sum += x[i * n + l] * y[l * k + j];
				assert_near(got[i * 7 + j], sum, (floats ? 2e-6 : 1e-13) * sum + 1e-50);
			}
		kdri_block_free(ctx, &a);
		kdri_block_free(ctx, &b);
		free(x);
		free(y);
		free(got);
	}
	kdr_context_free(ctx);
}

static void narrow__in_place__keeps_every_number(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(1, "block", 3);
	for (int64_t n = 1; n < 100; n = 2 * n + 1) {
		double *x;
		kdri_block a = random_block(ctx, &rng, n, n, false, &x);
		kdri_block_narrow(&a);
		assert_true(a.floats);
		for (int64_t i = 0; i < n * n; i++)
			assert_true(kdri_block_get(&a, i / n, i % n) == (double)(float)x[i]);
		kdri_block_free(ctx, &a);
		free(x);
	}
	kdr_context_free(ctx);
}

static void sparse_gram__random_rows__as_dense(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(1, "block", 4);
	for (int64_t n = 1; n < 200; n = 2 * n + 3) {
		int64_t d = 1 + kdri_rng_below(&rng, 40), nnz = 0;
		double *x = calloc((size_t)(n * d), sizeof *x), *val = calloc((size_t)(n * d), sizeof *val),
		       *weight = calloc((size_t)d, sizeof *weight);
		int64_t *rowptr = calloc((size_t)n + 1, sizeof *rowptr);
		int32_t *col = calloc((size_t)(n * d), sizeof *col);
		for (int64_t j = 0; j < d; j++)
			weight[j] = kdri_rng_uniform(&rng);
		for (int64_t i = 0; i < n; i++) {
			for (int64_t j = 0; j < d; j++)
				if (kdri_rng_uniform(&rng) < 0.2) {
					col[nnz] = (int32_t)j;
					val[nnz++] = x[i * d + j] = uniform(&rng);
				}
			rowptr[i + 1] = nnz;
		}
		kdr_mat m = kdr_mat_from_csr(n, d, rowptr, col, val);
		kdri_own turned;
		kdri_block c, cross;
		assert_ok(ctx, kdri_mat_transpose(ctx, &m, &turned));
		assert_ok(ctx, kdri_block_new(ctx, &kdri_cpu, n, n, false, &c));
		assert_ok(ctx, kdri_block_new(ctx, &kdri_cpu, n, n, false, &cross));
		assert_ok(ctx, kdri_sparse_gram(ctx, &m.as.csr, &turned.view.as.csr, weight, c));
		assert_ok(ctx, kdri_sparse_cross(ctx, &m.as.csr, &turned.view.as.csr, weight, cross));
		assert_ok(ctx, kdri_cpu.mirror(ctx, c));
		for (int64_t i = 0; i < n; i++)
			for (int64_t k = 0; k < n; k++) {
				double sum = 0;
				for (int64_t j = 0; j < d; j++)
					sum += x[i * d + j] * weight[j] * x[k * d + j];
				assert_near(kdri_block_get(&c, i, k), sum, 1e-12);
				assert_near(kdri_block_get(&cross, i, k), sum, 1e-12);
			}
		kdri_own_free(ctx, &turned);
		kdri_block_free(ctx, &c);
		kdri_block_free(ctx, &cross);
		free(x);
		free(val);
		free(weight);
		free(rowptr);
		free(col);
	}
	kdr_context_free(ctx);
}

static void cholesky_inverse__random_matrices__product_is_the_identity(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(1, "block", 5);
	static const int64_t orders[] = { 1, 2, 3, 50, 191, 192, 193, 400 };
	for (size_t s = 0; s < sizeof orders / sizeof orders[0]; s++) {
		int64_t n = orders[s], lda = n + (int64_t)s % 3;
		double *x, *a = calloc((size_t)(n * lda), sizeof *a),
		           *inverse = calloc((size_t)(n * lda), sizeof *a);
		kdri_block root = random_block(ctx, &rng, n, n, false, &x);
		kdri_block whole = kdri_block_of(a, n, n, lda);
		assert_ok(ctx, kdri_block_syrk(ctx, false, 1, root, 0, whole));
		assert_ok(ctx, kdri_cpu.mirror(ctx, whole));
		for (int64_t i = 0; i < n; i++)
			a[i * lda + i] += 1;
		memcpy(inverse, a, (size_t)(n * lda) * sizeof *a);
		assert_ok(ctx, kdri_cholesky(ctx, n, inverse, lda));
		assert_ok(ctx, kdri_cholesky_inverse(ctx, n, inverse, lda));
		for (int64_t i = 0; i < n; i++)
			for (int64_t j = 0; j < n; j++) {
				double sum = 0;
				for (int64_t k = 0; k < n; k++)
					sum += a[i * lda + k] * inverse[k * lda + j];
				assert_near(sum, i == j, 1e-9);
			}
		kdri_block_free(ctx, &root);
		free(x);
		free(a);
		free(inverse);
	}
	kdr_context_free(ctx);
}

/* --- asking whether to go on ------------------------------------------------------------------------------ */

typedef struct listener {
	kdr_context *ctx;
	int64_t asked, stop_at; /* stop_at: answer that question, from 1, by "stop"; 0: none */
} listener;

/* The context asks a few times a second; here at every opportunity, so that no clock is in the test. */
static int listen(void *user, const kdr_event *event)
{
	listener *l = user;
	assert_int_equal(event->kind, KDR_EVENT_ITERATION);
	assert_int_equal(kdri_thread(), 0);
	l->ctx->asked = -1e9;
	return ++l->asked == l->stop_at;
}

enum { PRODUCT, SYMMETRIC, FACTOR, INVERSE, LONG_WORK };
enum { SIDE = 900, INNER = 3000 }; /* several tiles, and several steps of each */

static kdr_status work(kdr_context *ctx, int what, const kdri_block *a, const kdri_block *c)
{
	for (int64_t i = 0; i < c->rows; i++)
		for (int64_t j = 0; j < c->cols; j++)
			kdri_block_set(c, i, j, i == j ? 9 : 0);
	switch (what) {
	case PRODUCT: return kdri_block_gemm(ctx, false, true, 1, *a, *a, 0, *c);
	case SYMMETRIC: return kdri_block_syrk(ctx, false, 1, *a, 0, *c);
	case FACTOR: return kdri_cholesky(ctx, c->rows, c->data, c->stride);
	default: return kdri_cholesky_inverse(ctx, c->rows, c->data, c->stride);
	}
}

/* Without it, a method that only multiplies for minutes could not be stopped. */
static void long_work__a_caller_who_listens__asks_often_and_obeys(void **state)
{
	(void)state;
	for (int what = 0; what < LONG_WORK; what++)
		for (int threads = 1; threads < 4; threads += 2) {
			kdr_context *ctx = unit_context();
			listener l = { .ctx = ctx };
			kdri_block a, c;
			kdr_context_set_threads(ctx, threads);
			assert_ok(ctx, kdri_block_new(ctx, &kdri_cpu, SIDE, INNER, false, &a));
			assert_ok(ctx, kdri_block_new(ctx, &kdri_cpu, SIDE, SIDE, false, &c));
			for (int64_t i = 0; i < a.rows * a.cols; i++)
				((double *)a.data)[i] = (double)(i % 7);
			kdr_context_set_progress(ctx, listen, &l);
			ctx->asked = -1e9;
			assert_ok(ctx, work(ctx, what, &a, &c));
			assert_true(l.asked >= (threads == 1 ? 6 : 1));
			/* A caller that needs the product continues, and is informed. */
			l.asked = 0;
			l.stop_at = 1;
			assert_ok(ctx, work(ctx, what, &a, &c));
			assert_true(ctx->cancelled);
			/* One who can do without leaves off at once. */
			kdr_context_set_time_limit(ctx, 0);
			ctx->abandon = true;
			l.asked = 0;
			assert_int_equal(work(ctx, what, &a, &c), KDR_ERR_NUMERIC);
			assert_non_null(strstr(kdr_context_error(ctx), "cancelled"));
			assert_true(ctx->cancelled && !ctx->timed_out);
			/* The last tile was not begun. Other threads may finish it before the first thread asks. */
			if (what != INVERSE && threads == 1)
				assert_true(kdri_block_get(&c, SIDE - 1, SIDE - 1) == 9);
			kdr_context_set_time_limit(ctx, 1e-9);
			l.stop_at = 0;
			assert_int_equal(work(ctx, what, &a, &c), KDR_ERR_NUMERIC);
			assert_true(ctx->timed_out && !ctx->cancelled);
			kdri_block_free(ctx, &a);
			kdri_block_free(ctx, &c);
			kdr_context_free(ctx);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gemm__both_precisions_and_transposes__sums_of_products),
		cmocka_unit_test(syrk__all_precisions__sums_of_products),
		cmocka_unit_test(mul__single_matrix__as_its_doubles),
		cmocka_unit_test(apply__both_precisions__to_a_small_share_of_each_entry),
		cmocka_unit_test(narrow__in_place__keeps_every_number),
		cmocka_unit_test(sparse_gram__random_rows__as_dense),
		cmocka_unit_test(cholesky_inverse__random_matrices__product_is_the_identity),
		cmocka_unit_test(long_work__a_caller_who_listens__asks_often_and_obeys),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
