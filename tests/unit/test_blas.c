/* The routines of matrix/blas.h, whichever implementation is built: against naive loops. SPDX-License-Identifier: BSD-3-Clause */
#include "matrix/blas.h"
#include "tests/unit/linalg_unit.h"

#ifdef KINDRED_BUILTIN_BLAS
#include "matrix/builtin/builtin.h"
#endif

/* Entry (i, l) of op(A). */
static double op_entry(const double *a, int64_t lda, bool trans, int64_t i, int64_t l)
{
	return trans ? a[l * lda + i] : a[i * lda + l];
}

static float *unit_narrow(const double *x, int64_t n)
{
	float *p = malloc((size_t)(n > 0 ? n : 1) * sizeof *p);
	assert_non_null(p);
	for (int64_t i = 0; i < n; i++)
		p[i] = (float)x[i];
	return p;
}

static void check_products(kdri_rng *rng, bool ta, bool tb, int64_t m, int64_t n, int64_t k, double alpha,
                           double beta)
{
	const int64_t lda = (ta ? m : k) + 2, ldb = (tb ? k : n) + 1, ldc = n + 3;
	double *a = unit_random(rng, (ta ? k : m) * lda), *b = unit_random(rng, (tb ? n : k) * ldb);
	double *start = unit_random(rng, m * ldc), *c = unit_doubles(m * ldc);
	for (int64_t i = 0; beta == 0 && i < m; i++)
		for (int64_t j = 0; j < n; j++)
			start[i * ldc + j] = NAN;
	float *fa = unit_narrow(a, (ta ? k : m) * lda), *fb = unit_narrow(b, (tb ? n : k) * ldb),
	      *fc = unit_narrow(start, m * ldc);
	memcpy(c, start, (size_t)(m * ldc) * sizeof *c);
	kdri_dgemm(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
	kdri_sgemm(ta, tb, m, n, k, (float)alpha, fa, lda, fb, ldb, (float)beta, fc, ldc);
	for (int64_t i = 0; i < m; i++)
		for (int64_t j = 0; j < ldc; j++) {
			double sum = start[i * ldc + j];
			if (j < n) {
				sum = beta == 0 ? 0 : beta * sum;
				for (int64_t l = 0; l < k; l++)
					sum += alpha * op_entry(a, lda, ta, i, l) *
					       op_entry(b, ldb, !tb, j, l);
			}
			assert_near(c[i * ldc + j], sum, 1e-12 * (1 + (double)k));
			assert_near(fc[i * ldc + j], sum, 1e-5 * (1 + (double)k));
		}
	free(a);
	free(b);
	free(start);
	free(c);
	free(fa);
	free(fb);
	free(fc);
}

static void products__every_shape_of_tile__as_naive_loops(void **state)
{
	static const int64_t sizes[] = { 1, 2, 3, 4, 5, 7, 8, 9, 15, 24, 25, 33, 49, 97 };
	const int count = (int)(sizeof sizes / sizeof sizes[0]);
	kdri_rng rng = kdri_rng_stream(1, "products", 0);
	(void)state;
	for (int round = 0; round < 200; round++) {
		int64_t m = sizes[kdri_rng_below(&rng, count)], n = sizes[kdri_rng_below(&rng, count)];
		int64_t k = sizes[kdri_rng_below(&rng, count)];
		check_products(&rng, round & 1, round & 2, m, n, k, round % 3 ? 1 : -0.5,
		               round % 5 ? (round % 7 ? 0 : 1) : 0.25);
	}
	/* Several pieces of the inner dimension, of rows and of columns. */
	check_products(&rng, false, true, 201, 26, 600, 1, 1);
	check_products(&rng, true, false, 13, 1601, 300, 1, 0);
	check_products(&rng, false, false, 300, 5, 1000, -1, 1);
	check_products(&rng, false, false, 3, 5, 0, 1, 0.5);
}

static void products__symmetric__lower_triangle_alone(void **state)
{
	kdri_rng rng = kdri_rng_stream(2, "symmetric", 0);
	(void)state;
	for (int round = 0; round < 40; round++) {
		const bool trans = round & 1;
		const int64_t n = 1 + kdri_rng_below(&rng, round < 35 ? 60 : 150),
		              k = 1 + kdri_rng_below(&rng, 300), lda = (trans ? n : k) + 1, ldc = n + 2;
		double *a = unit_random(&rng, (trans ? k : n) * lda), *start = unit_random(&rng, n * ldc),
		       *c = unit_doubles(n * ldc), beta = round % 3 ? 1 : 0;
		float *fa = unit_narrow(a, (trans ? k : n) * lda), *fc = unit_narrow(start, n * ldc);
		memcpy(c, start, (size_t)(n * ldc) * sizeof *c);
		kdri_dsyrk(trans, n, k, -1, a, lda, beta, c, ldc);
		kdri_ssyrk(trans, n, k, -1, fa, lda, (float)beta, fc, ldc);
		for (int64_t i = 0; i < n; i++)
			for (int64_t j = 0; j < ldc; j++) {
				double sum = start[i * ldc + j];
				if (j <= i) {
					sum *= beta;
					for (int64_t l = 0; l < k; l++)
						sum -= op_entry(a, lda, trans, i, l) *
						       op_entry(a, lda, trans, j, l);
				}
				assert_near(c[i * ldc + j], sum, 1e-12 * (double)k);
				assert_near(fc[i * ldc + j], sum, 1e-4 * (double)k);
			}
		free(a);
		free(start);
		free(c);
		free(fa);
		free(fc);
	}
}

static void products__with_vectors__any_distance_between_entries(void **state)
{
	kdri_rng rng = kdri_rng_stream(3, "vectors", 0);
	(void)state;
	for (int round = 0; round < 200; round++) {
		const bool trans = round & 1;
		const int64_t rows = 1 + kdri_rng_below(&rng, 40), cols = 1 + kdri_rng_below(&rng, 40),
		              lda = cols + 1, incx = 1 + (round / 2) % 3, incy = 1 + (round / 6) % 2;
		const int64_t in = trans ? rows : cols, out = trans ? cols : rows;
		double *a = unit_random(&rng, rows * lda), *x = unit_random(&rng, in * incx),
		       *start = unit_random(&rng, out * incy), *y = unit_doubles(out * incy);
		const double beta = round % 3 ? 0 : 0.5;
		for (int64_t i = 0; beta == 0 && i < out; i++)
			start[i * incy] = NAN;
		memcpy(y, start, (size_t)(out * incy) * sizeof *y);
		kdri_dgemv(trans, rows, cols, 2, a, lda, x, incx, beta, y, incy);
		for (int64_t i = 0; i < out; i++) {
			double sum = beta == 0 ? 0 : beta * start[i * incy];
			for (int64_t l = 0; l < in; l++)
				sum += 2 * op_entry(a, lda, trans, i, l) * x[l * incx];
			assert_near(y[i * incy], sum, 1e-12);
			for (int64_t between = 1; between < incy; between++)
				assert_true(y[i * incy + between] == start[i * incy + between]);
		}
		free(a);
		free(x);
		free(start);
		free(y);
	}
}

/* A lower triangle that is well away from singular; above its diagonal NaN, which must not be read. */
static double *unit_triangle(kdri_rng *rng, int64_t n, int64_t ld)
{
	double *l = unit_random(rng, n * ld);
	for (int64_t i = 0; i < n; i++) {
		for (int64_t j = 0; j < i; j++)
			l[i * ld + j] /= (double)n;
		l[i * ld + i] = 1 + fabs(l[i * ld + i]);
		for (int64_t j = i + 1; j < n; j++)
			l[i * ld + j] = NAN;
	}
	return l;
}

static void triangles__solved__give_the_right_hand_side(void **state)
{
	kdri_rng rng = kdri_rng_stream(4, "triangles", 0);
	(void)state;
	for (int round = 0; round < 90; round++) {
		const int64_t n = 1 + kdri_rng_below(&rng, 150), k = 1 + kdri_rng_below(&rng, 90),
		              ldl = n + 1;
		const int kind = round % 3; /* L X = B, L' X = B, X L' = B */
		const int64_t rows = kind == 2 ? k : n, cols = kind == 2 ? n : k, ldb = cols + 2;
		double *l = unit_triangle(&rng, n, ldl), *b = unit_random(&rng, rows * ldb),
		       *x = unit_doubles(rows * ldb);
		memcpy(x, b, (size_t)(rows * ldb) * sizeof *x);
		if (kind == 2)
			kdri_solve_right(rows, n, l, ldl, x, ldb);
		else
			kdri_solve_left(kind == 1, n, k, l, ldl, x, ldb);
		for (int64_t i = 0; i < rows; i++)
			for (int64_t j = 0; j < ldb; j++) {
				double sum = j < cols ? 0 : x[i * ldb + j];
				for (int64_t t = 0; j < cols && t < n; t++) {
					int64_t own = kind == 2 ? j : i;
					double entry = kind == 1 ? (t >= own ? l[t * ldl + own] : 0)
					                         : (t <= own ? l[own * ldl + t] : 0);
					sum += entry * (kind == 2 ? x[i * ldb + t] : x[t * ldb + j]);
				}
				assert_near(sum, b[i * ldb + j], 1e-12 * (double)n);
			}
		free(l);
		free(b);
		free(x);
	}
}

static void triangles__multiplied_and_inverted__as_naive_loops(void **state)
{
	kdri_rng rng = kdri_rng_stream(5, "upper", 0);
	(void)state;
	for (int round = 0; round < 40; round++) {
		const int64_t n = 1 + kdri_rng_below(&rng, round < 30 ? 70 : 200),
		              rows = 1 + kdri_rng_below(&rng, 100);
		double *l = unit_triangle(&rng, n, n), *u = unit_doubles(n * n), *v = unit_doubles(n * n),
		       *b = unit_random(&rng, rows * n), *c = unit_doubles(rows * n);
		for (int64_t i = 0; i < n; i++)
			for (int64_t j = 0; j < n; j++)
				u[i * n + j] = v[i * n + j] = j >= i ? l[j * n + i] : 0;
		memcpy(c, b, (size_t)(rows * n) * sizeof *c);
		kdri_times_upper(rows, n, u, n, c, n);
		for (int64_t i = 0; i < rows; i++)
			for (int64_t j = 0; j < n; j++) {
				double sum = 0;
				for (int64_t t = 0; t <= j; t++)
					sum += b[i * n + t] * u[t * n + j];
				assert_near(c[i * n + j], sum, 1e-12);
			}
		assert_int_equal(kdri_invert_upper(n, v, n), 0);
		for (int64_t i = 0; i < n; i++)
			for (int64_t j = 0; j < n; j++) {
				double sum = 0;
				for (int64_t t = i; t <= j; t++)
					sum += u[i * n + t] * v[t * n + j];
				assert_near(sum, i == j, 1e-12);
			}
		u[(n - 1) * (n + 1)] = 0;
		assert_int_equal(kdri_invert_upper(n, u, n), n);
		free(l);
		free(u);
		free(v);
		free(b);
		free(c);
	}
}

static void factor__not_definite__names_the_pivot(void **state)
{
	kdri_rng rng = kdri_rng_stream(6, "factor", 0);
	(void)state;
	for (int64_t n = 1; n <= 128; n += n < 40 ? 1 : 29) {
		double *l = unit_triangle(&rng, n, n), *a = unit_doubles(n * n),
		       *broken = unit_doubles(n * n);
		const int64_t bad = kdri_rng_below(&rng, n);
		for (int64_t i = 0; i < n; i++)
			for (int64_t j = 0; j < n; j++) {
				a[i * n + j] = j <= i ? 0 : NAN;
				for (int64_t t = 0; j <= i && t <= j; t++)
					a[i * n + j] += l[i * n + t] * l[j * n + t];
			}
		for (int kind = 0; kind < 2; kind++) {
			memcpy(broken, a, (size_t)(n * n) * sizeof *a);
			broken[bad * (n + 1)] = kind ? NAN : -1;
			assert_int_equal(kdri_factor_block(n, broken, n), bad + 1);
		}
		assert_int_equal(kdri_factor_block(n, a, n), 0);
		for (int64_t i = 0; i < n; i++)
			for (int64_t j = 0; j <= i; j++)
				assert_near(a[i * n + j], l[i * n + j], 1e-12);
		free(l);
		free(a);
		free(broken);
	}
}

/* Matrices that eigensolvers have had trouble with. */
enum { AWKWARD = 15 };
static double awkward(kdri_rng *rng, int kind, int64_t n, int64_t i, int64_t j)
{
	const double apart = (double)(i - j), r = kdri_rng_normal(rng);
	switch (kind) {
	case 0: return r;
	case 1: return i == j; /* one eigenvalue */
	case 2: return i == j ? 2 : (i - j == 1 ? -1 : 0);
	case 3: return 1; /* rank one */
	case 4: return exp(-apart * apart / 50);
	case 5: return r * pow(10, -0.1 * (double)(i + j));         /* graded downwards */
	case 6: return r * pow(10, -0.1 * (double)(2 * n - i - j)); /* and upwards */
	case 7: return i == j ? fabs((double)(n - 1 - 2 * i)) / 2 : (i - j == 1 ? 1 : 0); /* Wilkinson's */
	case 8: return 1 / (double)(i + j + 1);                                           /* Hilbert's */
	case 9: return r * 1e-300;
	case 10: return r * 1e290;
	case 11: return i == j ? (double)i : 1e-8 * r;
	case 12: return 0;
	case 13: return i % 5 == j % 5; /* five eigenvalues of many copies */
	default: return i == j ? (double)(i % 3) + 1e-14 * r : 1e-15 * r; /* three tight groups */
	}
}

static void check_eigen(kdr_context *ctx, kdri_rng *rng, int kind, int64_t n)
{
	const int64_t lda = n + 1;
	double *a = unit_doubles(n * lda), *v = unit_doubles(n * lda), *w = unit_doubles(n), most = 0;
	int info = 0;
	for (int64_t i = 0; i < n; i++) {
		a[i * lda + n] = 7;
		for (int64_t j = 0; j <= i; j++) {
			a[i * lda + j] = a[j * lda + i] = awkward(rng, kind, n, i, j);
			most = KDRI_MAX(most, fabs(a[i * lda + j]));
		}
	}
	most = most > 0 ? most : 1;
	memcpy(v, a, (size_t)(n * lda) * sizeof *a);
	assert_ok(ctx, kdri_eigen_rows(ctx, n, v, lda, w, &info));
	assert_int_equal(info, 0);
	const double norm = KDRI_MAX(fabs(w[0]), fabs(w[n - 1])) / most,
	             bound = (1e-14 + 3e-15 * sqrt((double)n));
	for (int64_t i = 0; i < n; i++) {
		assert_true(v[i * lda + n] == 7);
		if (i > 0)
			assert_true(w[i] >= w[i - 1]);
		for (int64_t j = 0; j < n; j++) {
			double sum = kdri_dot(a + j * lda, v + i * lda, n) / most,
			       dot = kdri_dot(v + i * lda, v + j * lda, n);
			assert_near(sum, w[i] / most * v[i * lda + j], bound * norm);
			assert_near(dot, i == j, bound);
		}
	}
	free(a);
	free(v);
	free(w);
}

static void eigen__awkward_matrices__orthogonal_vectors_and_small_residuals(void **state)
{
	static const int64_t sizes[] = { 1, 2, 3, 17, 32, 33, 65, 66, 131, 200 };
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(7, "eigen", 0);
	(void)state;
	for (int kind = 0; kind < AWKWARD; kind++)
		for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
			check_eigen(ctx, &rng, kind, sizes[s]);
	kdr_context_free(ctx);
}

#ifdef KINDRED_BUILTIN_BLAS
static void products__no_room_for_copies__same_bits(void **state)
{
	enum { M = 150, N = 130, K = 600, MOST = 1000 };
	int slots[MOST], taken = 0;
	void *room = NULL;
	kdri_rng rng = kdri_rng_stream(8, "room", 0);
	(void)state;
	double *a = unit_random(&rng, M * K), *b = unit_random(&rng, N * K), *c = unit_doubles(M * N),
	       *again = unit_doubles(M * N);
	kdri_dgemm(false, true, M, N, K, 1, a, K, b, K, 0, c, N);
	while (taken < MOST && (slots[taken] = kdri_room_take(&room)) >= 0)
		taken++;
	assert_in_range(taken, 1, MOST - 1);
	assert_null(room);
	kdri_dgemm(false, true, M, N, K, 1, a, K, b, K, 0, again, N);
	assert_same_bits(c, again, M * N);
	while (taken > 0)
		kdri_room_return(slots[--taken]);
	free(a);
	free(b);
	free(c);
	free(again);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(products__every_shape_of_tile__as_naive_loops),
		cmocka_unit_test(products__symmetric__lower_triangle_alone),
		cmocka_unit_test(products__with_vectors__any_distance_between_entries),
		cmocka_unit_test(triangles__solved__give_the_right_hand_side),
		cmocka_unit_test(triangles__multiplied_and_inverted__as_naive_loops),
		cmocka_unit_test(factor__not_definite__names_the_pivot),
		cmocka_unit_test(eigen__awkward_matrices__orthogonal_vectors_and_small_residuals),
#ifdef KINDRED_BUILTIN_BLAS
		cmocka_unit_test(products__no_room_for_copies__same_bits),
#endif
	};
	const int before = kdri_serial_begin();
	const int failed = cmocka_run_group_tests(tests, NULL, NULL);
	kdri_serial_end(before);
	return failed;
}
