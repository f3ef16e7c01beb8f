/* Eigenproblems, SVD and Cholesky: residuals, agreement with each other, any number of threads. */
#include "tests/unit/linalg_unit.h"

/* A random symmetric n x n matrix. */
static double *symmetric(kdri_rng *rng, int64_t n)
{
	double *a = unit_random(rng, n * n);
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < i; j++)
			a[i * n + j] = a[j * n + i];
	return a;
}

static double *copy_of(const double *a, int64_t n)
{
	double *c = unit_doubles(n);
	memcpy(c, a, (size_t)n * sizeof *c);
	return c;
}

static double column_dot(const double *v, int64_t n, int64_t ld, int64_t a, int64_t b)
{
	double s = 0;
	for (int64_t i = 0; i < n; i++)
		s += v[i * ld + a] * v[i * ld + b];
	return s;
}

static void assert_orthonormal(const double *v, int64_t n, int64_t count, double tol)
{
	for (int64_t a = 0; a < count; a++)
		for (int64_t b = 0; b <= a; b++)
			assert_near(column_dot(v, n, count, a, b), a == b ? 1.0 : 0.0, tol);
}

static void assert_largest_positive(const double *v, int64_t n, int64_t ld, int64_t j)
{
	double most = 0, least = 0;
	for (int64_t i = 0; i < n; i++) {
		most = KDRI_MAX(most, v[i * ld + j]);
		least = KDRI_MIN(least, v[i * ld + j]);
	}
	assert_true(most >= -least);
}

/* --- eigh ----------------------------------------------------------------------------------- */

static void eigh__random_matrices__small_residual_and_any_threads(void **state)
{
	(void)state;
	static const int64_t sizes[] = { 0, 1, 2, 3, 10, 65, 130 };
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(1, "test", 0);
	for (int s = 0; s < 7; s++) {
		int64_t n = sizes[s], lda = n + 2;
		double *a = symmetric(&rng, n), *w = unit_doubles(n), *w2 = unit_doubles(n);
		double *v = unit_random(&rng, n * lda + 1), *v2 = copy_of(v, n * lda);
		for (int threads = 1; threads <= 3; threads++) {
			double *to = threads == 1 ? v : v2;
			for (int64_t i = 0; i < n; i++)
				memcpy(to + i * lda, a + i * n, (size_t)n * sizeof *to);
			kdr_context_set_threads(ctx, threads);
			assert_ok(ctx, kdri_eigh(ctx, n, to, lda, threads == 1 ? w : w2));
			if (threads > 1) {
				assert_same_bits(v, v2, n * lda);
				assert_same_bits(w, w2, n);
			}
		}
		for (int64_t j = 0; j < n; j++) {
			assert_true(j == 0 || w[j] >= w[j - 1]);
			assert_largest_positive(v, n, lda, j);
			for (int64_t i = 0; i < n; i++) {
				double r = 0;
				for (int64_t l = 0; l < n; l++)
					r += a[i * n + l] * v[l * lda + j];
				assert_near(r, w[j] * v[i * lda + j], 1e-11);
			}
		}
		free(a);
		free(w);
		free(w2);
		free(v);
		free(v2);
	}
	double bad[4] = { 1, NAN, NAN, 1 }, w[2];
	assert_int_equal(kdri_eigh(ctx, 2, bad, 2, w), KDR_ERR_NUMERIC);
	assert_int_equal(kdri_eigh(ctx, 40000, bad, 40000, w), KDR_ERR_SIZE);
	kdr_context_free(ctx);
}

/* --- eigsh ---------------------------------------------------------------------------------- */

static void check_eigsh(kdr_context *ctx, kdri_rng *rng, int64_t n, int64_t count, kdri_which which)
{
	double *a = symmetric(rng, n), *full = copy_of(a, n * n), *w = unit_doubles(n);
	double *values = unit_doubles(count), *vectors = unit_doubles(n * count);
	double *values2 = unit_doubles(count), *vectors2 = unit_doubles(n * count);
	kdr_mat m = kdr_mat_from_dense(a, n, n);
	kdri_op op = kdri_op_mat(&m);
	assert_ok(ctx, kdri_eigh(ctx, n, full, n, w));
	for (int threads = 1; threads <= 3; threads++) {
		kdr_context_set_threads(ctx, threads);
		assert_ok(ctx, kdri_eigsh(ctx, &op, count, which, 0, threads == 1 ? values : values2,
		                          threads == 1 ? vectors : vectors2));
		if (threads > 1) {
			assert_same_bits(values, values2, count);
			assert_same_bits(vectors, vectors2, n * count);
		}
	}
	assert_orthonormal(vectors, n, count, 1e-10);
	for (int64_t c = 0; c < count; c++) {
		int64_t at = which == KDRI_LARGEST ? n - 1 - c : c;
		assert_near(values[c], w[at], 1e-9 * (1 + fabs(w[at])));
		assert_largest_positive(vectors, n, count, c);
		double dot = 0;
		for (int64_t i = 0; i < n; i++)
			dot += vectors[i * count + c] * full[i * n + at];
		assert_near(fabs(dot), 1, 1e-7);
	}
	free(a);
	free(full);
	free(w);
	free(values);
	free(vectors);
	free(values2);
	free(vectors2);
}

static int stop_at(void *user, const kdr_event *event)
{
	(void)event;
	return --*(int *)user <= 0;
}

/* Above a thousand rows the matrix is taken apart in pieces: the same answer, and it can be stopped between them. */
static void eigh__large__same_as_lapack_and_stops(void **state)
{
	(void)state;
	enum { n = 1100, lda = n + 3 };
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(9, "test", 0);
	double *a = calloc(n * lda, sizeof *a), *v = malloc(n * lda * sizeof *v), *w = malloc(n * sizeof *w);
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j <= i; j++)
			a[i * lda + j] = a[j * lda + i] = kdri_rng_uniform(&rng) - 0.5;
	memcpy(v, a, n * lda * sizeof *v);
	assert_ok(ctx, kdri_eigh(ctx, n, v, lda, w));
	for (int64_t c = 0; c < n; c += 99) { /* A v = w v, |v| = 1, w ascending */
		double worst = 0, length = 0;
		for (int64_t i = 0; i < n; i++) {
			double sum = -w[c] * v[i * lda + c];
			for (int64_t j = 0; j < n; j++)
				sum += a[i * lda + j] * v[j * lda + c];
			worst = KDRI_MAX(worst, fabs(sum));
			length += v[i * lda + c] * v[i * lda + c];
		}
		assert_true(worst < 1e-11 * n);
		assert_true(fabs(length - 1) < 1e-12);
		assert_true(c == 0 || w[c] >= w[c - 99]);
	}
	for (int left = 1; left < 38; left += 18) { /* while it is reduced, and while vectors are made */
		int events = left;
		memcpy(v, a, n * lda * sizeof *v);
		kdr_context_set_time_limit(ctx, 0);
		kdr_context_set_progress(ctx, stop_at, &events);
		assert_int_equal(kdri_eigh(ctx, n, v, lda, w), KDR_ERR_NUMERIC);
		assert_true(events <= 0);
	}
	kdr_context_set_time_limit(ctx, 0);
	kdr_context_set_progress(ctx, NULL, NULL);
	free(a);
	free(v);
	free(w);
	kdr_context_free(ctx);
}

static void eigsh__dense_and_lanczos_sizes__agree_with_eigh(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(2, "test", 0);
	static const int64_t cases[][2] = { { 1, 1 },   { 2, 1 },   { 5, 5 },    { 128, 7 },
		                            { 129, 1 }, { 200, 7 }, { 150, 90 }, { 300, 25 } };
	for (int c = 0; c < 8; c++) {
		check_eigsh(ctx, &rng, cases[c][0], cases[c][1], KDRI_LARGEST);
		check_eigsh(ctx, &rng, cases[c][0], cases[c][1], KDRI_SMALLEST);
	}
	kdr_context_free(ctx);
}

static void eigsh__wrong_count_or_shape__is_refused(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	double data[6] = { 1, 0, 0, 1, 0, 0 }, w[4], v[8];
	kdr_mat square = kdr_mat_from_dense(data, 2, 2), tall = kdr_mat_from_dense(data, 3, 2);
	kdri_op a = kdri_op_mat(&square), b = kdri_op_mat(&tall);
	assert_int_equal(kdri_eigsh(ctx, &a, 3, KDRI_LARGEST, 0, w, v), KDR_ERR_ARGUMENT);
	assert_int_equal(kdri_eigsh(ctx, &b, 1, KDRI_LARGEST, 0, w, v), KDR_ERR_ARGUMENT);
	assert_ok(ctx, kdri_eigsh(ctx, &a, 0, KDRI_LARGEST, 0, w, v));
	kdr_context_free(ctx);
}

/* Diagonal operators, to have any spectrum at any size. */
static kdr_status diagonal_apply(kdr_context *ctx, const kdri_op *op, const double *x, int64_t k, int64_t ldx,
                                 double *y, int64_t ldy)
{
	(void)ctx;
	const double *d = op->data;
	for (int64_t i = 0; i < op->rows; i++)
		for (int64_t j = 0; j < k; j++)
			y[i * ldy + j] = d[i] * x[i * ldx + j];
	return KDR_OK;
}

static void eigsh__zero_and_identity__orthonormal_vectors(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	double d[400], w[5], *v = unit_doubles(400 * 5);
	for (int value = 0; value <= 1; value++) {
		for (int i = 0; i < 400; i++)
			d[i] = value;
		kdri_op op = { 400, 400, diagonal_apply, NULL, d };
		assert_ok(ctx, kdri_eigsh(ctx, &op, 5, KDRI_LARGEST, 0, w, v));
		for (int c = 0; c < 5; c++)
			assert_near(w[c], value, 1e-12);
		assert_orthonormal(v, 400, 5, 1e-10);
	}
	free(v);
	kdr_context_free(ctx);
}

/* Lanczos breaks down after as many steps as there are distinct eigenvalues, and which way it then goes
 * depends on the BLAS kernels of the machine: the answer must not. */
static void eigsh__two_distinct_eigenvalues__all_copies_found(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	double d[400], w[5], *v = unit_doubles(400 * 5);
	for (int copies = 1; copies <= 200; copies += copies < 5 ? 1 : 65) {
		for (int i = 0; i < 400; i++)
			d[i] = i < copies ? 2 : 1;
		kdri_op op = { 400, 400, diagonal_apply, NULL, d };
		assert_ok(ctx, kdri_eigsh(ctx, &op, 5, KDRI_LARGEST, 0, w, v));
		for (int c = 0; c < 5; c++)
			assert_near(w[c], c < copies ? 2 : 1, 1e-10);
		assert_orthonormal(v, 400, 5, 1e-10);
	}
	free(v);
	kdr_context_free(ctx);
}

static int stop_at_once(void *user, const kdr_event *event)
{
	(void)user;
	return event->kind == KDR_EVENT_ITERATION;
}

static void eigsh__cancelled__says_so_and_leaves_outputs(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	double d[400], w[2] = { -1, -1 }, *v = unit_doubles(800);
	for (int i = 0; i < 400; i++)
		d[i] = i;
	kdri_op op = { 400, 400, diagonal_apply, NULL, d };
	kdr_context_set_progress(ctx, stop_at_once, NULL);
	assert_int_equal(kdri_eigsh(ctx, &op, 2, KDRI_LARGEST, 0, w, v), KDR_ERR_NUMERIC);
	assert_non_null(strstr(kdr_context_error(ctx), "stopped"));
	assert_true(w[0] == -1 && w[1] == -1);
	free(v);
	kdr_context_free(ctx);
}

static kdr_status failing_apply(kdr_context *ctx, const kdri_op *op, const double *x, int64_t k, int64_t ldx,
                                double *y, int64_t ldy)
{
	(void)op, (void)x, (void)k, (void)ldx, (void)y, (void)ldy;
	return kdri_fail(ctx, KDR_ERR_DATA, "no product today");
}

static void eigsh__operator_fails__its_error_comes_through(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	double w[2], *v = unit_doubles(800);
	for (int64_t n = 10; n <= 400; n += 390) {
		kdri_op op = { n, n, failing_apply, NULL, NULL };
		assert_int_equal(kdri_eigsh(ctx, &op, 2, KDRI_LARGEST, 0, w, v), KDR_ERR_DATA);
		assert_string_equal(kdr_context_error(ctx), "no product today");
	}
	free(v);
	kdr_context_free(ctx);
}

/* --- the centred operator ------------------------------------------------------------------- */

static void centred__dense_and_sparse__is_the_matrix_less_its_means(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(4, "test", 0);
	unit_pair p = unit_pair_new(&rng, 320, 150, 0.2);
	double mean[150], *a = unit_doubles(320 * 150);
	assert_ok(ctx, kdri_mat_col_sums(ctx, &p.csr, mean));
	for (int j = 0; j < 150; j++)
		mean[j] /= 320;
	for (int64_t i = 0; i < 320; i++)
		for (int64_t j = 0; j < 150; j++)
			a[i * 150 + j] = unit_at(&p.dense, i, j) - mean[j];
	const kdr_mat *both[] = { &p.dense, &p.csr };
	for (int kind = 0; kind < 2; kind++) {
		kdri_centred c = { both[kind], mean };
		kdri_op op = kdri_op_centred(&c);
		for (int flipped = 0; flipped < 2; flipped++) {
			int64_t from = flipped ? 320 : 150, to = flipped ? 150 : 320;
			double *x = unit_random(&rng, from * 3), *y = unit_doubles(to * 3),
			       *want = unit_doubles(to * 3);
			assert_ok(ctx, (flipped ? op.apply_t : op.apply)(ctx, &op, x, 3, 3, y, 3));
			assert_ok(ctx,
			          kdri_gemm(ctx, flipped, false, to, 3, from, 1, a, 150, x, 3, 0, want, 3));
			for (int64_t i = 0; i < to * 3; i++)
				assert_near(y[i], want[i], 1e-11);
			free(x);
			free(y);
			free(want);
		}
	}
	free(a);
	unit_pair_free(&p);
	kdr_context_free(ctx);
}

/* --- Cholesky ------------------------------------------------------------------------------- */

/* B B' + n I for a random B. */
static double *positive_definite(kdr_context *ctx, kdri_rng *rng, int64_t n)
{
	double *b = unit_random(rng, n * n), *a = unit_doubles(n * n);
	assert_ok(ctx, kdri_syrk(ctx, false, n, n, b, n, a, n));
	for (int64_t i = 0; i < n; i++)
		a[i * n + i] += (double)n;
	free(b);
	return a;
}

static void cholesky__random_sizes__factors_and_solves_for_any_threads(void **state)
{
	(void)state;
	static const int64_t sizes[] = { 0, 1, 2, 17, 127, 128, 129, 257, 600 };
	static const int64_t widths[] = { 1, 3, 0, 64, 65, 2, 130, 5, 70 };
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(5, "test", 0);
	for (int s = 0; s < 9; s++) {
		int64_t n = sizes[s], k = widths[s], ldb = k + 1;
		double *a = positive_definite(ctx, &rng, n), *b = unit_random(&rng, n * ldb);
		double *l = NULL, *x = NULL;
		for (int threads = 1; threads <= 3; threads++) {
			double *l2 = copy_of(a, n * n), *x2 = copy_of(b, n * ldb);
			kdr_context_set_threads(ctx, threads);
			assert_ok(ctx, kdri_cholesky(ctx, n, l2, n));
			assert_ok(ctx, kdri_cholesky_solve(ctx, n, l2, n, x2, k, ldb));
			if (threads > 1) {
				assert_same_bits(l, l2, n * n);
				assert_same_bits(x, x2, n * ldb);
				free(l);
				free(x);
			}
			l = l2;
			x = x2;
		}
		for (int64_t i = 0; i<n; i += n> 100 ? 7 : 1) {
			for (int64_t j = 0; j <= i; j++)
				assert_near(kdri_dot(l + i * n, l + j * n, j + 1), a[i * n + j],
				            1e-12 * (double)n * (double)n);
			for (int64_t c = 0; c < k; c++) {
				double r = 0;
				for (int64_t j = 0; j < n; j++)
					r += a[i * n + j] * x[j * ldb + c];
				assert_near(r, b[i * ldb + c], 1e-10);
			}
		}
		free(a);
		free(b);
		free(l);
		free(x);
	}
	kdr_context_free(ctx);
}

static void cholesky__not_positive_definite__names_the_pivot(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(6, "test", 0);
	static const int64_t pivots[] = { 0, 127, 128, 299 };
	for (int p = 0; p < 4; p++)
		for (int kind = 0; kind < 2; kind++) {
			double *a = positive_definite(ctx, &rng, 300);
			a[pivots[p] * 300 + pivots[p]] = kind ? NAN : -1;
			char expected[100];
			snprintf(expected, sizeof expected, "pivot %lld ", (long long)pivots[p] + 1);
			assert_int_equal(kdri_cholesky(ctx, 300, a, 300), KDR_ERR_NUMERIC);
			assert_non_null(strstr(kdr_context_error(ctx), expected));
			free(a);
		}
	kdr_context_free(ctx);
}

static void solvers__no_memory__fail_cleanly(void **state)
{
	(void)state;
	kdri_rng rng = kdri_rng_stream(7, "test", 0);
	double *a = symmetric(&rng, 20), w[20];
	assert_survives_no_memory(kdri_eigh(ctx, 20, a, 20, w));
	free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(eigh__random_matrices__small_residual_and_any_threads),
		cmocka_unit_test(eigh__large__same_as_lapack_and_stops),
		cmocka_unit_test(eigsh__dense_and_lanczos_sizes__agree_with_eigh),
		cmocka_unit_test(eigsh__wrong_count_or_shape__is_refused),
		cmocka_unit_test(eigsh__zero_and_identity__orthonormal_vectors),
		cmocka_unit_test(eigsh__two_distinct_eigenvalues__all_copies_found),
		cmocka_unit_test(eigsh__cancelled__says_so_and_leaves_outputs),
		cmocka_unit_test(eigsh__operator_fails__its_error_comes_through),
		cmocka_unit_test(centred__dense_and_sparse__is_the_matrix_less_its_means),
		cmocka_unit_test(cholesky__random_sizes__factors_and_solves_for_any_threads),
		cmocka_unit_test(cholesky__not_positive_definite__names_the_pivot),
		cmocka_unit_test(solvers__no_memory__fail_cleanly),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
