/* Matrix Market: all kinds, any order, and headers that lie. */
#include "tests/unit/text.h"

#define HEAD "%%MatrixMarket matrix "

static void assert_reads(const char *text, kdr_mat_kind kind, int64_t rows, int64_t cols, int64_t nnz,
                         const double *expected)
{
	kdr_context *ctx = unit_context();
	kdr_data *d;
	assert_ok(ctx, text_load(ctx, TEXT_MTX, text, NULL, &d));
	assert_int_equal(d->kind, kind);
	text_assert_matrix(d, rows, cols, expected);
	if (kind == KDR_MAT_CSR)
		assert_int_equal(d->rowptr[rows], nnz);
	kdr_data_free(d);
	kdr_context_free(ctx);
}

static void mtx__coordinate_kinds__read(void **state)
{
	(void)state;
	static const double general[] = { 1.5, 0, 0, 0, -2, 3 };
	assert_reads(HEAD "coordinate real general\n% c\n%\n\n2 3 3\n1 1 1.5\n2 2 -2\n2 3 3\n", KDR_MAT_CSR,
	             2, 3, 3, general);
	assert_reads(HEAD "coordinate real general\r\n2 3 3\r\n 2 3\t3e0 \r\n\r\n2 2 -2\r\n1 1 1.5",
	             KDR_MAT_CSR, 2, 3, 3, general);
	assert_reads(
	        "%%matrixmarket MATRIX Coordinate Double GENERAL\n2 3 5\n2 2 -1\n1 1 1.5\n2 3 3\n1 3 0\n2 2 -1\n",
	        KDR_MAT_CSR, 2, 3, 3, general); /* duplicates added up, a zero dropped */
	static const double pattern[] = { 0, 1, 1, 0 };
	assert_reads(HEAD "coordinate pattern general\n2 2 2\n2 1\n1 2 \n", KDR_MAT_CSR, 2, 2, 2, pattern);
	assert_reads(HEAD "coordinate pattern symmetric\n2 2 1\n2 1\n", KDR_MAT_CSR, 2, 2, 2, pattern);
	static const double symmetric[] = { 4, 5, 0, 5, 0, 6, 0, 6, 7 };
	assert_reads(HEAD "coordinate integer symmetric\n3 3 4\n1 1 4\n2 1 5\n3 2 6\n3 3 7\n", KDR_MAT_CSR, 3,
	             3, 6, symmetric);
	static const double skew[] = { 0, -5, 5, 0 };
	assert_reads(HEAD "coordinate real skew-symmetric\n2 2 1\n2 1 5\n", KDR_MAT_CSR, 2, 2, 2, skew);
	static const double none[] = { 0, 0 };
	assert_reads(HEAD "coordinate real general\n1 2 0\n", KDR_MAT_CSR, 1, 2, 0, none);
	assert_reads(HEAD "coordinate real general\n1 2 2\n1 2 1\n1 2 -1\n", KDR_MAT_CSR, 1, 2, 0, none);
}

static void mtx__array_kinds__read(void **state)
{
	(void)state;
	static const double general[] = { 1, 3, 5, 2, 4, 6 };
	assert_reads(HEAD "array real general\n% c\n2 3\n1\n2\n\n3\n 4 \n5\n6", KDR_MAT_DENSE, 2, 3, 0,
	             general);
	static const double symmetric[] = { 1, 2, 3, 2, 4, 5, 3, 5, 6 };
	assert_reads(HEAD "array integer symmetric\n3 3\n1\n2\n3\n4\n5\n6\n", KDR_MAT_DENSE, 3, 3, 0,
	             symmetric);
	static const double skew[] = { 0, -1, -2, 1, 0, -3, 2, 3, 0 };
	assert_reads(HEAD "array real skew-symmetric\n3 3\n1\n2\n3\n", KDR_MAT_DENSE, 3, 3, 0, skew);
	static const double zero[] = { 0 };
	assert_reads(HEAD "array real skew-symmetric\n1 1\n", KDR_MAT_DENSE, 1, 1, 0, zero);
}

static void mtx__malformed__one_line_says_where(void **state)
{
	(void)state;
	static const text_bad cases[] = {
		{ "", KDR_ERR_FORMAT, "t: the file is empty" },
		{ "1 2 3\n", KDR_ERR_FORMAT, "line 1 is not a Matrix Market header" },
		{ "%%MatrixMarket\n", KDR_ERR_UNSUPPORTED, "only 'matrix'" },
		{ "%%MatrixMarket vector coordinate real general\n", KDR_ERR_UNSUPPORTED, "'vector'" },
		{ HEAD "sparse real general\n1 1 1\n", KDR_ERR_FORMAT, "'sparse'" },
		{ HEAD "coordinate complex general\n1 1 1\n1 1 1 1\n", KDR_ERR_UNSUPPORTED, "complex" },
		{ HEAD "coordinate real hermitian\n1 1 1\n1 1 1\n", KDR_ERR_UNSUPPORTED, "complex" },
		{ HEAD "coordinate quaternion general\n1 1 1\n", KDR_ERR_FORMAT, "'quaternion'" },
		{ HEAD "array pattern general\n1 1\n", KDR_ERR_FORMAT, "'pattern'" },
		{ HEAD "coordinate real upper\n1 1 1\n", KDR_ERR_FORMAT, "'upper'" },
		{ HEAD "coordinate real general\n", KDR_ERR_FORMAT, "ends before the line with the sizes" },
		{ HEAD "coordinate real general\n%\n2 2\n", KDR_ERR_FORMAT, "line 3 must give the sizes" },
		{ HEAD "coordinate real general\n2 x 3\n", KDR_ERR_FORMAT, "line 2 must give" },
		{ HEAD "coordinate real general\n2 2 -3\n", KDR_ERR_FORMAT, "line 2 must give" },
		{ HEAD "coordinate real general\n2 2 3 4\n", KDR_ERR_FORMAT, "more than 3 sizes" },
		{ HEAD "coordinate real general\n0 2 0\n", KDR_ERR_DATA, "the matrix is empty" },
		{ HEAD "coordinate real symmetric\n1 2 0\n", KDR_ERR_FORMAT, "square" },
		{ HEAD "coordinate real general\n2 2 100\n1 1 1\n2 2 2\n", KDR_ERR_FORMAT,
		  "declares 100 entries, found 2" },
		{ HEAD "coordinate real general\n2 2 1\n1 1 1\n2 2 2\n", KDR_ERR_FORMAT,
		  "more than the declared 1 entries" },
		{ HEAD "coordinate real general\n2 2 1\n3 1 1\n", KDR_ERR_FORMAT,
		  "line 3: index 3 is outside" },
		{ HEAD "coordinate real general\n2 2 1\n1 0 1\n", KDR_ERR_FORMAT, "index 0 is outside" },
		{ HEAD "coordinate real general\n2 2 1\n-1 1 1\n", KDR_ERR_FORMAT, "'-1' is not an index" },
		{ HEAD "coordinate real general\n2 2 1\n1 99999999999999999999 1\n", KDR_ERR_FORMAT,
		  "is not an index" },
		{ HEAD "coordinate real general\n2 2 1\n1.5 1 1\n", KDR_ERR_FORMAT, "'1.5' is not an index" },
		{ HEAD "coordinate real general\n2 2 1\n1 1\n", KDR_ERR_FORMAT,
		  "line 3: '' is not a number" },
		{ HEAD "coordinate real general\n2 2 1\n1 1 abc\n", KDR_ERR_FORMAT, "'abc' is not a number" },
		{ HEAD "coordinate real general\n2 2 1\n1 1 2 3\n", KDR_ERR_FORMAT,
		  "unexpected '3' after the value" },
		{ HEAD "coordinate real general\n2 2 1\n1 1 2x\n", KDR_ERR_FORMAT,
		  "unexpected 'x' after the value" },
		{ HEAD "coordinate pattern general\n2 2 1\n1 1 2\n", KDR_ERR_FORMAT, "unexpected '2' after" },
		{ HEAD "coordinate real general\n2 2 1\n1 1 nan\n", KDR_ERR_DATA,
		  "line 3: nan is not a finite" },
		{ HEAD "coordinate real general\n2 2 1\n1 1 1e400\n", KDR_ERR_DATA, "is not a finite" },
		{ HEAD "coordinate real general\n2 2 2\n1 2 1e308\n1 2 1e308\n", KDR_ERR_DATA,
		  "row 1, column 2 add up" },
		{ HEAD "coordinate real skew-symmetric\n2 2 1\n1 1 1\n", KDR_ERR_FORMAT, "diagonal" },
		{ HEAD "array real general\n2 2\n1\n2\n3\n", KDR_ERR_FORMAT, "declares 4 values, found 3" },
		{ HEAD "array real general\n1 2\n1\n2\n3\n", KDR_ERR_FORMAT,
		  "more than the declared 2 values" },
		{ HEAD "array real general\n1 2\n1 2\n", KDR_ERR_FORMAT, "unexpected '2' after" },
		{ HEAD "array real general\n1 2\n1\nx\n", KDR_ERR_FORMAT, "line 4: 'x' is not a number" },
		{ HEAD "array real general\n1 2\n1\ninf\n", KDR_ERR_DATA, "inf is not a finite" },
	};
	text_assert_bad(TEXT_MTX, cases, sizeof cases / sizeof cases[0]);
}

/* Counts bytes asked for: a lying header must not cost memory. */
static void *counting_alloc(void *user, size_t size)
{
	*(size_t *)user += size;
	return malloc(size);
}

static void *counting_realloc(void *user, void *ptr, size_t size)
{
	*(size_t *)user += size;
	return realloc(ptr, size);
}

static void counting_free(void *user, void *ptr)
{
	(void)user;
	free(ptr);
}

static void mtx__hostile_header__fails_without_large_allocation(void **state)
{
	(void)state;
	static const char *const hostile[] = {
		HEAD "coordinate real general\n4611686018427387904 2 1\n1 1 1\n",
		HEAD "coordinate real general\n2 4611686018427387904 1\n1 1 1\n",
		HEAD "coordinate real general\n2147483647 2147483647 9223372036854775807\n1 1 1\n",
		HEAD "coordinate real general\n2147483647 2 1\n1 1 1\n",
		HEAD "coordinate real symmetric\n2147483647 2147483647 9223372036854775807\n1 1 1\n",
		HEAD "coordinate real general\n99999999999999999999 2 1\n1 1 1\n",
		HEAD "array real general\n2147483647 2147483647\n1\n",
		HEAD "array real symmetric\n2147483647 2147483647\n1\n",
		HEAD "array real skew-symmetric\n2147483647 2147483647\n1\n",
		HEAD "array real general\n2147483647 1\n1\n",
	};
	for (size_t i = 0; i < sizeof hostile / sizeof hostile[0]; i++) {
		size_t bytes = 0;
		kdr_allocator a = { counting_alloc, counting_realloc, counting_free, &bytes };
		kdr_context *ctx = NULL;
		kdr_data *d;
		assert_int_equal(kdr_context_new(&ctx, &a), KDR_OK);
		kdr_status st = text_load(ctx, TEXT_MTX, hostile[i], NULL, &d);
		if (st != KDR_ERR_FORMAT && st != KDR_ERR_SIZE)
			fail_msg("%s: status %d", hostile[i], (int)st);
		if (bytes > 1 << 20)
			fail_msg("%s: %zu bytes were asked for", hostile[i], bytes);
		kdr_context_free(ctx);
	}
}

/* Entries in random order, with duplicates and zeros, over shapes that use every level of the sort. */
static void mtx__random_order__same_as_dense(void **state)
{
	(void)state;
	static const int64_t shapes[][3] = { { 1, 1, 3 },   { 1, 5000, 4000 },  { 4000, 1, 5000 },
		                             { 7, 5, 200 }, { 300, 200, 9000 }, { 2000, 700, 60000 },
		                             { 50, 40, 0 } };
	kdri_rng rng = kdri_rng_stream(1, "mtx", 0);
	for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
		int64_t rows = shapes[s][0], cols = shapes[s][1], n = shapes[s][2];
		double *x = calloc((size_t)(rows * cols), sizeof *x);
		char *text = malloc((size_t)n * 40 + 100);
		size_t used = (size_t)sprintf(text, "%scoordinate integer general\n%d %d %d\n", HEAD,
		                              (int)rows, (int)cols, (int)n);
		for (int64_t k = 0; k < n; k++) {
			int64_t i = kdri_rng_below(&rng, rows), j = kdri_rng_below(&rng, cols);
			int v = (int)kdri_rng_below(&rng, 7) - 3;
			x[i * cols + j] += v;
			used += (size_t)sprintf(text + used, "%d %d %d\n", (int)i + 1, (int)j + 1, v);
		}
		for (int threads = 1; threads <= 3; threads += 2) {
			kdr_context *ctx = unit_context();
			kdr_data *d;
			kdr_context_set_threads(ctx, threads);
			assert_ok(ctx, text_load_bytes(ctx, TEXT_MTX, text, used, NULL, &d));
			int64_t p = 0;
			for (int64_t i = 0; i < rows; i++) {
				assert_int_equal(d->rowptr[i], p);
				for (int64_t j = 0; j < cols; j++)
					if (x[i * cols + j] != 0) {
						assert_int_equal(d->col[p], j);
						assert_true(d->val[p] == x[i * cols + j]);
						p++;
					}
			}
			assert_int_equal(d->rowptr[rows], p);
			kdr_data_free(d);
			kdr_context_free(ctx);
		}
		free(x);
		free(text);
	}
}

static kdr_data *random_sparse(kdr_context *ctx, kdri_rng *rng, int64_t rows, int64_t cols)
{
	kdr_data *d = NULL;
	assert_ok(ctx, kdri_data_new(ctx, "r", "", &d));
	d->kind = KDR_MAT_CSR;
	d->rows = rows;
	d->cols = cols;
	assert_ok(ctx, KDRI_NEW0(ctx, &d->rowptr, rows + 1));
	assert_ok(ctx, KDRI_NEW(ctx, &d->col, rows * cols));
	assert_ok(ctx, KDRI_NEW(ctx, &d->val, rows * cols));
	int64_t p = 0;
	for (int64_t i = 0; i < rows; i++) {
		for (int64_t j = 0; j < cols; j++)
			if (kdri_rng_below(rng, 4) == 0) {
				d->col[p] = (int32_t)j;
				do {
					d->val[p] = text_random(rng);
				} while (d->val[p] == 0);
				p++;
			}
		d->rowptr[i + 1] = p;
	}
	return d;
}

static void mtx__round_trip__bit_exact(void **state)
{
	(void)state;
	kdri_rng rng = kdri_rng_stream(2, "mtx", 0);
	kdr_context *ctx = unit_context();
	for (int k = 0; k < 12; k++) {
		const char *path = bytes_path(k % 2 && kdr_build_has("zlib") ? "rt.mtx.gz" : "rt.mtx");
		int64_t rows = 1 + kdri_rng_below(&rng, 30), cols = 1 + kdri_rng_below(&rng, 30);
		kdr_data *d = random_sparse(ctx, &rng, rows, cols), *back;
		assert_ok(ctx, kdr_write(ctx, path, NULL, d, true));
		assert_ok(ctx, kdr_read(ctx, path, NULL, &back));
		text_assert_same(d, back);
		kdr_data_free(back);
		kdr_data_free(d);
		double *x = malloc((size_t)(rows * cols) * sizeof *x);
		for (int64_t i = 0; i < rows * cols; i++)
			x[i] = text_random(&rng);
		kdr_data dense = { .kind = KDR_MAT_DENSE, .rows = rows, .cols = cols, .dense = x };
		assert_ok(ctx, kdr_write(ctx, path, NULL, &dense, true));
		assert_ok(ctx, kdr_read(ctx, path, NULL, &back));
		text_assert_same(&dense, back);
		kdr_data_free(back);
		free(x);
	}
	kdr_context_free(ctx);
}

/* Larger than a window, so that entries of one row lie in two of them. */
static void mtx__several_windows__counted_right(void **state)
{
	(void)state;
	const int64_t rows = 1000, cols = 2000;
	char *text = malloc((size_t)(rows * cols) * 16 + 200);
	size_t used = (size_t)sprintf(text, "%scoordinate real general\n%d %d %d\n", HEAD, (int)rows,
	                              (int)cols, (int)(rows * cols));
	for (int64_t j = 0; j < cols; j++)
		for (int64_t i = 0; i < rows; i++)
			used += (size_t)sprintf(text + used, "%d %d %d\n", (int)i + 1, (int)j + 1,
			                        (int)(1 + i % 9));
	assert_true(used > (size_t)1 << 24);
	kdr_context *ctx = unit_context();
	kdr_data *d;
	assert_ok(ctx, text_load_bytes(ctx, TEXT_MTX, text, used, NULL, &d));
	for (int64_t i = 0; i <= rows; i++)
		assert_int_equal(d->rowptr[i], i * cols);
	for (int64_t p = 0; p < rows * cols; p++)
		if (d->col[p] != p % cols || d->val[p] != (double)(1 + p / cols % 9))
			fail_msg("entry %d is wrong", (int)p);
	kdr_data_free(d);
	text[used - 2] = 'x';
	assert_fails(ctx, text_load_bytes(ctx, TEXT_MTX, text, used, NULL, &d), KDR_ERR_FORMAT,
	             "line 2000002: 'x'");
	free(text);
	kdr_context_free(ctx);
}

/* By rows, as row pointers are filled window by window; some rows and a slice of comments have no entries. The last line,
 * if any, belongs to a row of an earlier window: `more` is added to its entry. */
static void mtx__by_rows_in_several_windows__row_pointers(void **state)
{
	(void)state;
	enum { ROWS = 4500, COLS = 400 };
	char *text = malloc((size_t)ROWS * COLS * 18 + 200);
	for (int more = 0; more <= 2; more += 2) {
		size_t used = (size_t)sprintf(text, "%scoordinate real general\n%d %d %d\n", HEAD, ROWS + 5,
		                              COLS, (ROWS - ROWS / 3) * COLS + (more > 0));
		for (int i = 0; i < ROWS; i++)
			for (int j = 0; j < COLS && i % 3 != 1; j++)
				used += (size_t)sprintf(text + used, "%s%d %d %d\n",
				                        i == 1500 ? "% none\n" : "", i + 1, j + 1,
				                        (i + j) % 7);
		used += more ? (size_t)sprintf(text + used, "1 8 %d\n", more) : 0;
		assert_true(used > (size_t)2 << 22);
		for (int threads = 1; threads <= 3; threads += 2) {
			kdr_context *ctx = unit_context();
			kdr_context_set_threads(ctx, threads);
			kdr_data *d;
			assert_ok(ctx, text_load_bytes(ctx, TEXT_MTX, text, used, NULL, &d));
			int64_t p = 0;
			for (int i = 0; i < ROWS + 5; i++) {
				assert_int_equal(d->rowptr[i], p);
				for (int j = 0; j < COLS && i < ROWS && i % 3 != 1; j++) {
					const double v = (i + j) % 7 + (i == 0 && j == 7 ? more : 0);
					if (v != 0 && (d->col[p] != j || d->val[p++] != v))
						fail_msg("row %d, column %d is wrong", i + 1, j + 1);
				}
			}
			assert_int_equal(d->rowptr[ROWS + 5], p);
			kdr_data_free(d);
			kdr_context_free(ctx);
		}
	}
	free(text);
}

static void mtx__every_allocation_failed__memory_error(void **state)
{
	(void)state;
	text_assert_no_memory(TEXT_MTX, HEAD "coordinate real general\n2 2 2\n1 1 1\n2 2 2\n", NULL);
	text_assert_no_memory(TEXT_MTX, HEAD "coordinate real general\n2 2 2\n2 1 1\n1 2 2\n", NULL);
	text_assert_no_memory(TEXT_MTX, HEAD "array real general\n1 2\n2\n1\n", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mtx__coordinate_kinds__read),
		cmocka_unit_test(mtx__array_kinds__read),
		cmocka_unit_test(mtx__malformed__one_line_says_where),
		cmocka_unit_test(mtx__hostile_header__fails_without_large_allocation),
		cmocka_unit_test(mtx__random_order__same_as_dense),
		cmocka_unit_test(mtx__round_trip__bit_exact),
		cmocka_unit_test(mtx__several_windows__counted_right),
		cmocka_unit_test(mtx__by_rows_in_several_windows__row_pointers),
		cmocka_unit_test(mtx__every_allocation_failed__memory_error),
	};
	return cmocka_run_group_tests(tests, NULL, bytes_clean);
}
