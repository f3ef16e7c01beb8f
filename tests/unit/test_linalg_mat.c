/* Dense and sparse matrices: one-pass sums, products, stacking, taking, transposing. */
#include "matrix/range.h"
#include "tests/unit/linalg_unit.h"

static const int64_t sizes[] = { 0, 1, 2, 3, 7, 31, 255, 256, 257, 700 };
enum { SIZES = sizeof sizes / sizeof *sizes };

static int64_t pick(kdri_rng *rng)
{
	return sizes[kdri_rng_below(rng, SIZES)];
}

static void dot__any_length__matches_the_naive_sum(void **state)
{
	(void)state;
	kdri_rng rng = kdri_rng_stream(1, "test", 0);
	for (int64_t n = 0; n < 70; n++) {
		double *x = unit_random(&rng, n), *y = unit_random(&rng, n), dot = 0, squares = 0;
		for (int64_t i = 0; i < n; i++) {
			dot += x[i] * y[i];
			squares += x[i] * x[i];
		}
		assert_near(kdri_dot(x, y, n), dot, 1e-12);
		assert_near(kdri_nrm2sq(x, n), squares, 1e-12);
		double *z = unit_doubles(n);
		memcpy(z, y, (size_t)n * sizeof *z);
		kdri_axpy(-2.5, x, z, n);
		for (int64_t i = 0; i < n; i++)
			assert_true(z[i] == y[i] + -2.5 * x[i]);
		free(x);
		free(y);
		free(z);
	}
}

static void least_and_greatest__any_length__are_those_of_a_plain_loop(void **state)
{
	(void)state;
	kdri_rng rng = kdri_rng_stream(3, "test", 0);
	for (int64_t n = 0; n < 70; n++) {
		double *x = unit_random(&rng, n), low = INFINITY, high = -INFINITY;
		for (int64_t i = 0; i < n; i++) {
			low = x[i] < low ? x[i] : low;
			high = x[i] > high ? x[i] : high;
		}
		assert_true(kdri_least(x, n) == low);
		assert_true(kdri_greatest(x, n) == high);
		free(x);
	}
}

static void row_norms_and_col_sums__random_shapes__match_naive_for_any_threads(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(2, "test", 0);
	for (int round = 0; round < 60; round++) {
		int64_t rows = round < 2 ? 9000 : pick(&rng), cols = pick(&rng) % 300;
		unit_pair p = unit_pair_new(&rng, rows, cols, round % 3 ? 0.2 : 1);
		const kdr_mat *both[] = { &p.dense, &p.csr };
		double *norms = unit_doubles(rows), *sums = unit_doubles(cols);
		double *norms_again = unit_doubles(rows), *sums_again = unit_doubles(cols);
		for (int kind = 0; kind < 2; kind++) {
			kdr_context_set_threads(ctx, 1);
			assert_ok(ctx, kdri_mat_row_norms(ctx, both[kind], norms));
			assert_ok(ctx, kdri_mat_col_sums(ctx, both[kind], sums));
			for (int64_t i = 0; i < rows; i++) {
				double s = 0;
				for (int64_t j = 0; j < cols; j++) {
					double v = p.data[i * (cols + 3) + j];
					s += v * v;
				}
				assert_near(norms[i], s, 1e-12 * (1 + s));
			}
			for (int64_t j = 0; j < cols; j++) {
				double s = 0;
				for (int64_t i = 0; i < rows; i++)
					s += p.data[i * (cols + 3) + j];
				assert_near(sums[j], s, 1e-10);
			}
			for (int threads = 2; threads <= 3; threads++) {
				kdr_context_set_threads(ctx, threads);
				assert_ok(ctx, kdri_mat_row_norms(ctx, both[kind], norms_again));
				assert_ok(ctx, kdri_mat_col_sums(ctx, both[kind], sums_again));
				assert_same_bits(norms, norms_again, rows);
				assert_same_bits(sums, sums_again, cols);
			}
		}
		free(norms);
		free(sums);
		free(norms_again);
		free(sums_again);
		unit_pair_free(&p);
	}
	kdr_context_free(ctx);
}

static void check_finite__bad_entries__names_the_first(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(3, "test", 0);
	unit_pair p = unit_pair_new(&rng, 1000, 50, 1);
	for (int threads = 1; threads <= 3; threads++) {
		kdr_context_set_threads(ctx, threads);
		assert_ok(ctx, kdri_mat_check_finite(ctx, &p.dense, "a"));
		assert_ok(ctx, kdri_mat_check_finite(ctx, &p.csr, "a"));
	}
	p.data[602 * 53 + 6] = p.val[602 * 50 + 6] = NAN;
	p.data[602 * 53 + 7] = p.val[602 * 50 + 7] = INFINITY;
	p.data[999 * 53] = p.val[999 * 50] = -INFINITY;
	const kdr_mat *both[] = { &p.dense, &p.csr };
	for (int threads = 1; threads <= 3; threads++)
		for (int kind = 0; kind < 2; kind++) {
			kdr_context_set_threads(ctx, threads);
			assert_int_equal(kdri_mat_check_finite(ctx, both[kind], "a"), KDR_ERR_DATA);
			assert_string_equal(kdr_context_error(ctx), "data set a: row 603, column 7 is nan");
		}
	p.data[602 * 53 + 6] = p.val[602 * 50 + 6] = 0;
	p.data[602 * 53 + 7] = p.val[602 * 50 + 7] = 1e308;
	for (int kind = 0; kind < 2; kind++) {
		assert_int_equal(kdri_mat_check_finite(ctx, both[kind], "a"), KDR_ERR_DATA);
		assert_string_equal(kdr_context_error(ctx), "data set a: row 1000, column 1 is -inf");
	}
	unit_pair_free(&p);
	kdr_context_free(ctx);
}

/* Y = X B or X' B, naively. */
static double *naive_product(const unit_pair *p, bool trans, const double *b, int64_t k, int64_t ldb)
{
	int64_t rows = kdr_mat_rows(&p->dense), cols = kdr_mat_cols(&p->dense);
	double *y = unit_doubles((trans ? cols : rows) * k);
	memset(y, 0, (size_t)((trans ? cols : rows) * k) * sizeof *y);
	for (int64_t i = 0; i < rows; i++)
		for (int64_t j = 0; j < cols; j++) {
			double v = p->data[i * (cols + 3) + j];
			for (int64_t c = 0; c < k; c++)
				if (trans)
					y[j * k + c] += v * b[i * ldb + c];
				else
					y[i * k + c] += v * b[j * ldb + c];
		}
	return y;
}

static void check_product(kdr_context *ctx, kdri_rng *rng, const unit_pair *p, bool trans, int64_t k)
{
	int64_t rows = kdr_mat_rows(&p->dense), cols = kdr_mat_cols(&p->dense), ldb = k + 2, ldy = k + 1;
	int64_t out = trans ? cols : rows;
	double *b = unit_random(rng, (trans ? rows : cols) * ldb), *y = unit_doubles(out * ldy),
	       *again = unit_doubles(out * ldy), *expected = naive_product(p, trans, b, k, ldb);
	const kdr_mat *both[] = { &p->dense, &p->csr };
	for (int kind = 0; kind < 2; kind++)
		for (int threads = 1; threads <= 3; threads++) {
			double *to = threads == 1 ? y : again;
			for (int64_t i = 0; i < out * ldy; i++)
				to[i] = 77; /* the gap after each row must not change */
			kdr_context_set_threads(ctx, threads);
			assert_ok(ctx, (trans ? kdri_mat_tmul : kdri_mat_mul)(ctx, both[kind], b, k, ldb, to,
			                                                      ldy));
			if (threads > 1)
				assert_same_bits(y, again, out * ldy);
			for (int64_t i = 0; i < out && threads == 1; i++) {
				assert_true(y[i * ldy + k] == 77);
				for (int64_t c = 0; c < k; c++)
					assert_near(y[i * ldy + c], expected[i * k + c], 1e-10);
			}
		}
	free(b);
	free(y);
	free(again);
	free(expected);
}

static void mul_and_tmul__every_width__match_naive_for_any_threads(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(4, "test", 0);
	unit_pair p = unit_pair_new(&rng, 530, 90, 0.1);
	for (int64_t k = 1; k <= 70; k++) {
		check_product(ctx, &rng, &p, false, k);
		check_product(ctx, &rng, &p, true, k);
	}
	unit_pair_free(&p);
	kdr_context_free(ctx);
}

static void mul_and_tmul__random_shapes__match_naive_for_any_threads(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(5, "test", 0);
	for (int round = 0; round < 40; round++) {
		unit_pair p = unit_pair_new(&rng, pick(&rng), pick(&rng), round % 4 ? 0.05 : 1);
		int64_t k = kdri_rng_below(&rng, 10);
		check_product(ctx, &rng, &p, false, k);
		check_product(ctx, &rng, &p, true, k);
		unit_pair_free(&p);
	}
	kdr_context_free(ctx);
}

typedef struct pass_work {
	double *seen;
	int64_t k;
} pass_work;

/* Keeps the rows and multiplies each by its number. */
static void number_rows(void *user, int64_t chunk, int64_t begin, int64_t end, double *z)
{
	const pass_work *t = user;
	assert_true(chunk < KDRI_PASS_CHUNKS);
	for (int64_t i = begin; i < end; i++)
		for (int64_t j = 0; j < t->k; j++, z++) {
			t->seen[i * t->k + j] = *z;
			*z *= (double)(i + 1);
		}
}

/* A pass over all rows, or every third of them, against loops; with any number of threads. */
static void check_pass(kdr_context *ctx, kdri_rng *rng, const kdr_mat *x, int64_t k, bool some)
{
	const double bias = 0.5;
	const int64_t cols = kdr_mat_cols(x), n = some ? (kdr_mat_rows(x) + 2) / 3 : kdr_mat_rows(x);
	int64_t *rows = malloc((size_t)(n + 1) * sizeof *rows);
	double *p = unit_random(rng, (cols + 1) * k), *y = unit_doubles((cols + 1) * k),
	       *again = unit_doubles((cols + 1) * k), *expected = unit_doubles((cols + 1) * k);
	pass_work t = { unit_doubles(n * k), k };
	kdri_pass pass;
	assert_non_null(rows);
	for (int64_t i = 0; i < n; i++)
		rows[i] = 3 * i;
	memset(expected, 0, (size_t)((cols + 1) * k) * sizeof *expected);
	assert_ok(ctx, kdri_pass_open(ctx, x, bias, k + 1, &pass));
	assert_int_equal(pass.fused, x->kind == KDR_MAT_DENSE);
	for (int threads = 1; threads <= 3; threads++) {
		kdr_context_set_threads(ctx, threads);
		assert_ok(ctx, kdri_pass_run(ctx, &pass, x, some ? rows : NULL, n, k, p, number_rows, &t,
		                             threads == 1 ? y : again));
		if (threads > 1)
			assert_same_bits(y, again, (cols + 1) * k);
	}
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < k; j++) {
			double sum = bias * p[cols * k + j];
			for (int64_t q = 0; q < cols; q++)
				sum += unit_at(x, some ? rows[i] : i, q) * p[q * k + j];
			assert_near(t.seen[i * k + j], sum, 1e-10);
			for (int64_t q = 0; q <= cols; q++)
				expected[q * k + j] += (double)(i + 1) * sum *
				                       (q < cols ? unit_at(x, some ? rows[i] : i, q) : bias);
		}
	for (int64_t q = 0; q < (cols + 1) * k; q++)
		assert_near(y[q], expected[q], 1e-7 * (1 + fabs(expected[q])));
	assert_ok(ctx, kdri_pass_run(ctx, &pass, x, some ? rows : NULL, n, k, NULL, number_rows, &t, y));
	for (int64_t q = 0; q < (cols + 1) * k; q++)
		assert_true(y[q] == 0);
	kdri_pass_close(ctx, &pass);
	free(rows);
	free(p);
	free(y);
	free(again);
	free(expected);
	free(t.seen);
}

static void pass__random_shapes__matches_naive_for_any_threads(void **state)
{
	(void)state;
	static const int64_t widths[] = { 1, 2, 3, 4, 7, 8, 9, 24 };
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(7, "test", 0);
	for (int round = 0; round < 24; round++) {
		unit_pair p = unit_pair_new(&rng, round == 7 ? 20000 : pick(&rng),
		                            round == 7 ? 9 : pick(&rng) % 260, round % 4 ? 1 : 0.2);
		check_pass(ctx, &rng, &p.dense, widths[round % 8], false);
		check_pass(ctx, &rng, &p.dense, widths[round % 8], true);
		check_pass(ctx, &rng, &p.csr, widths[round % 8], false);
		unit_pair_free(&p);
	}
	kdr_context_free(ctx);
}

static void tmul__all_entries_in_one_column__is_right(void **state)
{
	(void)state;
	/* The ranges of columns cannot be balanced here; they must still cover every column once. */
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(6, "test", 0);
	for (int32_t column = 0; column < 5000; column += 4999) {
		unit_pair p = unit_pair_new(&rng, 900, 5000, 0);
		for (int64_t i = 0; i < 900; i++) {
			p.rowptr[i + 1] = i + 1;
			p.col[i] = column;
			p.data[i * 5003 + column] = p.val[i] = (double)i;
		}
		check_product(ctx, &rng, &p, true, 50);
		unit_pair_free(&p);
	}
	kdr_context_free(ctx);
}

static void assert_same_matrix(const kdr_mat *a, const kdr_mat *b)
{
	assert_int_equal(kdr_mat_rows(a), kdr_mat_rows(b));
	assert_int_equal(kdr_mat_cols(a), kdr_mat_cols(b));
	for (int64_t i = 0; i < kdr_mat_rows(a); i++)
		for (int64_t j = 0; j < kdr_mat_cols(a); j++)
			assert_true(unit_at(a, i, j) == unit_at(b, i, j));
}

static void transpose__random_shapes__swaps_and_back(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(7, "test", 0);
	for (int round = 0; round < 20; round++) {
		unit_pair p = unit_pair_new(&rng, pick(&rng) % 100, pick(&rng) % 80, 0.2);
		const kdr_mat *both[] = { &p.dense, &p.csr };
		for (int kind = 0; kind < 2; kind++) {
			kdri_own t = { 0 }, back = { 0 };
			assert_ok(ctx, kdri_mat_transpose(ctx, both[kind], &t));
			assert_ok(ctx, kdri_mat_transpose(ctx, &t.view, &back));
			assert_int_equal(t.view.kind, both[kind]->kind);
			for (int64_t i = 0; i < kdr_mat_rows(&p.dense); i++)
				for (int64_t j = 0; j < kdr_mat_cols(&p.dense); j++)
					assert_true(unit_at(&t.view, j, i) == unit_at(&p.dense, i, j));
			assert_same_matrix(&back.view, &p.dense);
			kdri_own_free(ctx, &t);
			kdri_own_free(ctx, &back);
		}
		unit_pair_free(&p);
	}
	kdr_context_free(ctx);
}

static void stack__dense_and_sparse__holds_all_rows_in_order(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(8, "test", 0);
	unit_pair a = unit_pair_new(&rng, 13, 9, 0.3), b = unit_pair_new(&rng, 0, 9, 1),
	          c = unit_pair_new(&rng, 21, 9, 0.3), other = unit_pair_new(&rng, 2, 8, 1);
	const kdr_mat *parts[] = { &a.dense, &b.dense, &c.dense };
	for (int mixed = 0; mixed < 4; mixed++) {
		parts[0] = mixed & 1 ? &a.csr : &a.dense;
		parts[2] = mixed & 2 ? &c.csr : &c.dense;
		kdri_own all = { 0 };
		assert_ok(ctx, kdri_mat_stack(ctx, parts, 3, &all));
		assert_int_equal(all.view.kind, mixed ? KDR_MAT_CSR : KDR_MAT_DENSE);
		assert_int_equal(kdr_mat_rows(&all.view), 34);
		for (int64_t i = 0; i < 34; i++)
			for (int64_t j = 0; j < 9; j++)
				assert_true(
				        unit_at(&all.view, i, j) ==
				        (i < 13 ? unit_at(&a.dense, i, j) : unit_at(&c.dense, i - 13, j)));
		kdri_own_free(ctx, &all);
	}
	kdri_own untouched = { 0 };
	parts[1] = &other.csr;
	assert_int_equal(kdri_mat_stack(ctx, parts, 3, &untouched), KDR_ERR_DATA);
	assert_null(untouched.parts[0]);
	assert_ok(ctx, kdri_mat_stack(ctx, NULL, 0, &untouched));
	assert_int_equal(kdr_mat_rows(&untouched.view), 0);
	kdri_own_free(ctx, &untouched);
	kdri_own_free(ctx, &untouched); /* twice is allowed */
	unit_pair_free(&a);
	unit_pair_free(&b);
	unit_pair_free(&c);
	unit_pair_free(&other);
	kdr_context_free(ctx);
}

static void take__rows_in_any_order__copies_them(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(9, "test", 0);
	unit_pair p = unit_pair_new(&rng, 40, 11, 0.3);
	const kdr_mat *both[] = { &p.dense, &p.csr };
	int64_t rows[60];
	for (int i = 0; i < 60; i++)
		rows[i] = kdri_rng_below(&rng, 40);
	for (int kind = 0; kind < 2; kind++)
		for (int64_t n = 0; n <= 60; n += 20) {
			kdri_own some = { 0 };
			assert_ok(ctx, kdri_mat_take(ctx, both[kind], rows, n, &some));
			assert_int_equal(kdr_mat_rows(&some.view), n);
			assert_int_equal(some.view.kind, both[kind]->kind);
			for (int64_t i = 0; i < n; i++)
				for (int64_t j = 0; j < 11; j++)
					assert_true(unit_at(&some.view, i, j) ==
					            unit_at(&p.dense, rows[i], j));
			kdri_own_free(ctx, &some);
		}
	rows[1] = 40;
	kdri_own none = { 0 };
	assert_int_equal(kdri_mat_take(ctx, &p.csr, rows, 2, &none), KDR_ERR_ARGUMENT);
	assert_string_equal(kdr_context_error(ctx), "row 41 does not exist; the matrix has 40 rows");
	unit_pair_free(&p);
	kdr_context_free(ctx);
}

static void matrices__no_memory__fail_cleanly(void **state)
{
	(void)state;
	kdri_rng rng = kdri_rng_stream(10, "test", 0);
	unit_pair p = unit_pair_new(&rng, 900, 5, 0.5);
	double sums[5];
	const kdr_mat *parts[] = { &p.dense, &p.csr };
	int64_t rows[] = { 3, 1 };
	kdri_own out = { 0 };
	assert_survives_no_memory(kdri_mat_col_sums(ctx, &p.csr, sums));
	assert_survives_no_memory(kdri_mat_stack(ctx, parts, 2, &out));
	for (int i = 0; i < 3; i++)
		free(out.parts[i]);
	assert_survives_no_memory(kdri_mat_take(ctx, &p.csr, rows, 2, &out));
	for (int i = 0; i < 3; i++)
		free(out.parts[i]);
	assert_survives_no_memory(kdri_mat_transpose(ctx, &p.csr, &out));
	for (int i = 0; i < 3; i++)
		free(out.parts[i]);
	unit_pair_free(&p);
}

static void entries__dense_and_sparse_rows__one_hash_and_equal(void **state)
{
	(void)state;
	const double dense[] = { 0, 1.5, 0, -2, 0, 1.5, 0, 2, NAN, 0, 0, 0 },
	             val[] = { 1.5, 0, -2, 1.5, -2, NAN };
	const int64_t rowptr[] = { 0, 3, 5, 6 };
	const int32_t col[] = { 1, 2, 3, 1, 2, 0 };
	kdr_mat a = kdr_mat_from_dense(dense, 3, 4), b = kdr_mat_from_csr(3, 4, rowptr, col, val);
	for (int64_t i = 0; i < 3; i++)
		for (int64_t j = 0; j < 3; j++) {
			kdri_entries x = kdri_row_entries(&a, i), y = kdri_row_entries(&b, j);
			bool same = i == j && i != 1; /* row 1 has its 2 elsewhere, and of another sign */
			assert_int_equal(kdri_entries_equal(&x, &y), same);
			assert_int_equal(kdri_entries_equal(&y, &x), same);
			assert_int_equal(kdri_entries_hash(&x) == kdri_entries_hash(&y), same);
		}
	kdr_mat part = kdri_rows(&b, 2, 3);
	kdri_entries last = kdri_row_entries(&part, 0);
	assert_true(last.count == 1 && kdri_entry_column(&last, 0) == 0 && isnan(last.val[0]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries__dense_and_sparse_rows__one_hash_and_equal),
		cmocka_unit_test(dot__any_length__matches_the_naive_sum),
		cmocka_unit_test(least_and_greatest__any_length__are_those_of_a_plain_loop),
		cmocka_unit_test(row_norms_and_col_sums__random_shapes__match_naive_for_any_threads),
		cmocka_unit_test(check_finite__bad_entries__names_the_first),
		cmocka_unit_test(mul_and_tmul__every_width__match_naive_for_any_threads),
		cmocka_unit_test(mul_and_tmul__random_shapes__match_naive_for_any_threads),
		cmocka_unit_test(pass__random_shapes__matches_naive_for_any_threads),
		cmocka_unit_test(tmul__all_entries_in_one_column__is_right),
		cmocka_unit_test(transpose__random_shapes__swaps_and_back),
		cmocka_unit_test(stack__dense_and_sparse__holds_all_rows_in_order),
		cmocka_unit_test(take__rows_in_any_order__copies_them),
		cmocka_unit_test(matrices__no_memory__fail_cleanly),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
