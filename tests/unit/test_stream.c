/* Data sets that stay on disk. */
#include "tests/unit/bytes.h"

#include "io/io.h"
#include "matrix/linalg.h"

enum { ROWS = 12000, COLS = 7 };

static double value(int64_t i, int64_t j)
{
	return (double)((i * 31 + j * 17) % 101) - 50;
}

/* A dense data set on disk as `name`, in the format its ending tells. */
static const char *written(kdr_context *ctx, const char *name)
{
	static double x[ROWS * COLS];
	kdr_data *d = NULL;
	const char *path = bytes_path(name);
	for (int64_t i = 0; i < ROWS; i++)
		for (int64_t j = 0; j < COLS; j++)
			x[i * COLS + j] = value(i, j);
	kdr_mat m = kdr_mat_from_dense(x, ROWS, COLS);
	assert_ok(ctx, kdr_data_new(ctx, "x", &m, NULL, &d));
	assert_ok(ctx, kdr_write(ctx, path, NULL, d, true));
	kdr_data_free(d);
	return path;
}

static void has_the_values(const kdr_data *d)
{
	kdr_mat m = kdr_data_mat(d);
	assert_int_equal(kdr_mat_rows(&m), ROWS);
	assert_int_equal(kdr_mat_cols(&m), COLS);
	for (int64_t i = 0; i < ROWS && m.kind == KDR_MAT_DENSE; i++)
		for (int64_t j = 0; j < COLS; j++)
			if (m.as.dense.data[i * COLS + j] != value(i, j))
				fail_msg("row %d, column %d", (int)i, (int)j);
}

static kdr_data *read_as(kdr_context *ctx, const char *path, kdr_stream stream)
{
	kdr_data *d = NULL;
	kdr_read_options o;
	kdr_read_options_init(&o);
	o.stream = stream;
	assert_ok(ctx, kdr_read(ctx, path, &o, &d));
	return d;
}

static void stream__every_format__same_values_and_outlives_its_context(void **state)
{
	(void)state;
	static const char *const names[] = { "s.npy", "s.csv", "s.mtx", "s.svm" };
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		kdr_context *ctx = unit_context();
		kdr_data *d = read_as(ctx, written(ctx, names[i]), KDR_STREAM_YES);
		assert_true(kdr_data_streamed(d));
		kdr_context_free(ctx);
		has_the_values(d);
		kdr_data_free(d);
	}
}

static void stream__npy__is_the_file_itself_and_never_written_to(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	const char *path = written(ctx, "s.npy");
	kdr_data *d = read_as(ctx, path, KDR_STREAM_YES), *view = NULL;
	kdr_prep_options o;
	kdr_prep_options_init(&o);
	o.norm = KDR_NORM_L2;
	assert_true(d->borrowed && d->mapped == d->dense);
	assert_ok(ctx, kdr_data_view(ctx, d, NULL, &view));
	assert_true(kdr_data_streamed(view));
	assert_ok(ctx, kdr_prepare(ctx, &view, 1, &o, NULL));
	has_the_values(d);
	kdr_data_free(view);
	assert_ok(ctx, kdr_prepare(ctx, &d, 1, &o, NULL));
	assert_false(d->borrowed);
	kdr_data_free(d);
	d = read_as(ctx, path, KDR_STREAM_NO);
	assert_false(kdr_data_streamed(d));
	has_the_values(d);
	kdr_data_free(d);
	kdr_context_free(ctx);
}

static void stream__by_size__where_a_third_of_the_memory_is_less(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	const char *path = written(ctx, "s.npy");
	const double bytes = 8.0 * ROWS * COLS;
	kdr_context_set_max_memory(ctx, 2.5 * bytes);
	kdr_data *d = read_as(ctx, path, KDR_STREAM_BY_SIZE);
	assert_true(kdr_data_streamed(d));
	/* The process is above such a limit at once: pages come and go, values stay. */
	for (int i = 0; i < 50; i++)
		has_the_values(d);
	kdr_data_free(d);
	kdr_context_set_max_memory(ctx, 4 * bytes);
	d = read_as(ctx, path, KDR_STREAM_BY_SIZE);
	assert_false(kdr_data_streamed(d));
	kdr_data_free(d);
	/* Two files count together. */
	const kdr_task_path two[2] = { { .path = path, .name = "a" }, { .path = path, .name = "b" } };
	kdr_data **sets = NULL;
	int64_t count = 0;
	assert_ok(ctx, kdr_read_tasks(ctx, two, 2, NULL, &sets, NULL, &count));
	assert_int_equal(count, 2);
	for (int64_t i = 0; i < count; i++) {
		assert_true(kdr_data_streamed(sets[i]));
		kdr_data_free(sets[i]);
	}
	kdr_free(ctx, sets);
	kdr_context_set_max_memory(ctx, 0);
	kdr_context_free(ctx);
}

static void spool__grows_and_is_freed_by_whoever_knows_it(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	double *x = NULL;
	const int64_t n = 100000;
	kdri_spool_begin(ctx, true);
	assert_true(kdri_spool_on(ctx));
	assert_ok(ctx, KDRI_NEW(ctx, &x, n));
	for (int64_t i = 0; i < n; i++)
		x[i] = (double)i;
	kdri_spool_begin(ctx, false);
	assert_ok(ctx, KDRI_GROW(ctx, &x, 3 * n)); /* stays a file */
	assert_true(kdri_spooled(x) && kdri_spooled(x + 3 * n - 1) && !kdri_spooled(ctx));
	for (int64_t i = 0; i < n; i++)
		assert_true(x[i] == (double)i);
	kdr_allocator a = ctx->allocator;
	kdr_context_free(ctx);
	kdri_free_with(&a, x);
}

static void spool__array_that_grows_from_nothing__becomes_a_file(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	double *x = NULL, *y = NULL;
	kdri_spool_begin(ctx, true);
	for (int64_t n = 100, had = 0; n <= 1000000; had = n, n *= 10) {
		assert_ok(ctx, KDRI_GROW(ctx, &x, n));
		assert_int_equal(kdri_spooled(x), n > 8192);
		for (int64_t i = had; i < n; i++)
			x[i] = (double)i;
		for (int64_t i = 0; i < n; i++)
			if (x[i] != (double)i)
				fail_msg("%d of %d", (int)i, (int)n);
	}
	assert_ok(ctx, KDRI_GROW(ctx, &y, 100000)); /* at once */
	assert_true(kdri_spooled(y));
	kdri_spool_begin(ctx, false);
	kdri_free(ctx, x);
	kdri_free(ctx, y);
	kdr_context_free(ctx);
}

/* Copies of data on disk are on disk; copies of data in memory are not. */
static void spool__rows_below_others__lie_where_they_lie(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_data *disk = read_as(ctx, written(ctx, "s.npy"), KDR_STREAM_YES),
	         *memory = read_as(ctx, written(ctx, "s.npy"), KDR_STREAM_NO);
	kdr_mat a = kdr_data_mat(disk), b = kdr_data_mat(memory);
	const kdr_mat *parts[2] = { &b, &a };
	int64_t rows[ROWS];
	kdri_own out = { 0 };
	for (int64_t i = 0; i < ROWS; i++)
		rows[i] = i;
	for (int count = 1; count <= 2; count++) {
		assert_ok(ctx, kdri_mat_stack(ctx, parts, count, &out));
		assert_int_equal(kdri_spooled(out.view.as.dense.data), count == 2);
		kdri_own_free(ctx, &out);
		assert_ok(ctx, kdri_mat_take(ctx, parts[count - 1], rows, ROWS, &out));
		assert_int_equal(kdri_spooled(out.view.as.dense.data), count == 2);
		kdri_own_free(ctx, &out);
		assert_false(kdri_spool_on(ctx));
	}
	kdr_data_free(disk);
	kdr_data_free(memory);
	kdr_context_free(ctx);
}

/* Products with sparse rows on disk go through them a piece at a time; uneven rows, one of them longer than a piece. */
static void spool__sparse_products__same_bits_as_in_memory(void **state)
{
	(void)state;
	enum { N = 3000, WIDE = 200000, K = 5 };
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(3, "products", 0);
	int64_t *rowptr = malloc((N + 1) * sizeof *rowptr), nnz = 0;
	assert_non_null(rowptr);
	for (int64_t i = 0; i <= N; i++) {
		rowptr[i] = nnz;
		nnz += i == 1000 ? 150000 : i % 7 == 0 ? 0 : 100 + i % 50;
	}
	int32_t *col[2] = { NULL, NULL };
	double *val[2] = { NULL, NULL }, *b = malloc(WIDE * K * sizeof *b), *y[2], *z[2];
	assert_non_null(b);
	for (int64_t j = 0; j < WIDE * K; j++)
		b[j] = kdri_rng_normal(&rng);
	for (int disk = 0; disk < 2; disk++) {
		kdri_spool_begin(ctx, disk == 1);
		assert_ok(ctx, KDRI_NEW(ctx, &col[disk], rowptr[N]));
		assert_ok(ctx, KDRI_NEW(ctx, &val[disk], rowptr[N]));
		kdri_spool_begin(ctx, false);
		assert_int_equal(kdri_spooled(val[disk]), disk);
		for (int64_t i = 0; i < N; i++)
			for (int64_t p = rowptr[i], count = rowptr[i + 1] - rowptr[i]; p < rowptr[i + 1];
			     p++) {
				col[disk][p] =
				        (int32_t)((p - rowptr[i]) * (WIDE / count) + i % (WIDE / count));
				val[disk][p] = 1.0 / (double)(p % 97 + 1);
			}
	}
	for (int64_t k = 1; k <= K; k += K - 1) /* few columns: one thread */
		for (int threads = 1; threads <= 3; threads += 2) {
			kdr_context_set_threads(ctx, threads);
			for (int disk = 0; disk < 2; disk++) {
				const kdr_mat x = kdr_mat_from_csr(N, WIDE, rowptr, col[disk], val[disk]);
				y[disk] = malloc(N * K * sizeof *b);
				z[disk] = malloc(WIDE * K * sizeof *b);
				assert_non_null(y[disk]);
				assert_non_null(z[disk]);
				assert_ok(ctx, kdri_mat_mul(ctx, &x, b, k, k, y[disk], k));
				assert_ok(ctx, kdri_mat_tmul(ctx, &x, b, k, k, z[disk], k));
			}
			assert_memory_equal(y[0], y[1], (size_t)(N * k) * sizeof *b);
			assert_memory_equal(z[0], z[1], (size_t)(WIDE * k) * sizeof *b);
			for (int disk = 0; disk < 2; disk++) {
				free(y[disk]);
				free(z[disk]);
			}
		}
	for (int disk = 0; disk < 2; disk++) {
		kdri_free(ctx, col[disk]);
		kdri_free(ctx, val[disk]);
	}
	free(rowptr);
	free(b);
	kdr_context_free(ctx);
}

static void spool__no_folder__says_so(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_data *d = NULL;
	const char *path = written(ctx, "s.mtx"), *before = getenv("TMPDIR");
	char *kept = before ? strdup(before) : NULL;
	kdr_read_options o = { .size = sizeof(kdr_read_options), .stream = KDR_STREAM_YES };
	setenv("TMPDIR", "/nonexistent", 1);
	assert_int_equal(kdr_read(ctx, path, &o, &d), KDR_ERR_MEMORY);
	assert_non_null(strstr(kdr_context_error(ctx), "TMPDIR"));
	if (kept)
		setenv("TMPDIR", kept, 1);
	else
		unsetenv("TMPDIR");
	free(kept);
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stream__every_format__same_values_and_outlives_its_context),
		cmocka_unit_test(stream__npy__is_the_file_itself_and_never_written_to),
		cmocka_unit_test(stream__by_size__where_a_third_of_the_memory_is_less),
		cmocka_unit_test(spool__grows_and_is_freed_by_whoever_knows_it),
		cmocka_unit_test(spool__array_that_grows_from_nothing__becomes_a_file),
		cmocka_unit_test(spool__rows_below_others__lie_where_they_lie),
		cmocka_unit_test(spool__sparse_products__same_bits_as_in_memory),
		cmocka_unit_test(spool__no_folder__says_so),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
