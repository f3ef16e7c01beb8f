/* jobs/write/row_text.h and jobs/column_sums.h: work on rows that threads share, with the result of one thread. */
#include "tests/unit/unit.h"

#include "jobs/column_sums.h"
#include "jobs/write/row_text.h"

enum { THREADS = 5, ROWS = 6000, COLS = 150 };

/* --- text ------------------------------------------------------------------------------------------------ */

/* Every tenth row is `longest` bytes longer than the others. */
typedef struct lines {
	int longest, made, threads;
	char *text;
	size_t used;
} lines;

static size_t put_line(const lines *l, int64_t i, char *to)
{
	size_t n = (size_t)snprintf(to, 32, "row %lld", (long long)i),
	       more = i % 10 == 0 ? (size_t)l->longest : 0;
	memset(to + n, 'x', more);
	to[n + more] = '\n';
	return n + more + 1;
}

static bool make(void *user, int thread, int64_t first, int64_t end, char *text, size_t room, size_t *used)
{
	lines *l = user;
	(void)thread;
	*used = 0;
	for (int64_t i = first; i < end; i++) {
		if (*used + 64 + (size_t)l->longest > room)
			return false;
		*used += put_line(l, i, text + *used);
	}
	return true;
}

static kdr_status take(void *user, const char *text, size_t length)
{
	lines *l = user;
	memcpy(l->text + l->used, text, length);
	l->used += length;
	l->made++;
	return KDR_OK;
}

static kdr_status write_direct(void *user, int64_t first, int64_t end)
{
	lines *l = user;
	for (int64_t i = first; i < end; i++)
		l->used += put_line(l, i, l->text + l->used);
	return KDR_OK;
}

static lines text_of(int threads, int64_t rows, int longest)
{
	kdr_context *ctx = unit_context();
	lines l = { .longest = longest };
	const kdri_row_text text = { &l, make, take, write_direct };
	kdr_context_set_threads(ctx, threads);
	l.threads = kdr_context_threads(ctx); /* 1 in a build without threads */
	l.text = calloc((size_t)rows + 1, (size_t)longest + 32);
	assert_int_equal(kdri_row_text_write(ctx, &text, rows), KDR_OK);
	kdr_context_free(ctx);
	return l;
}

static void write__any_rows_and_threads__bytes_of_one_thread(void **state)
{
	static const struct {
		int64_t rows;
		int longest;
		bool by_threads;
	} cases[] = { { 0, 0, false },
		      { 100, 0, false },
		      { ROWS, 0, true },
		      { 2 * 5120, 0, true },
		      { ROWS, 4000, false } };
	(void)state;
	for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
		lines one = text_of(1, cases[c].rows, cases[c].longest),
		      several = text_of(THREADS, cases[c].rows, cases[c].longest);
		assert_int_equal(one.made, 0);
		assert_int_equal(several.made > 0, cases[c].by_threads && several.threads > 1);
		assert_int_equal(one.used, several.used);
		assert_memory_equal(one.text, several.text, one.used);
		free(one.text);
		free(several.text);
	}
}

/* --- sums ------------------------------------------------------------------------------------------------ */

static double *random_values(void)
{
	kdri_rng rng = kdri_rng_stream(5, "row text", 0);
	double *x = malloc((size_t)(ROWS * COLS) * sizeof *x);
	for (int64_t i = 0; i < ROWS * COLS; i++) {
		const double u = kdri_rng_uniform(&rng);
		x[i] = u < 0.3 ? 0 : u < 0.4 ? NAN : u < 0.5 ? 1 : 10 * u - 5;
	}
	return x;
}

/* The sums of `rows`, in their order: values, squares, entries, missing values, and values other than 0 and 1. */
static void plain_sums(const double *x, const int64_t *rows, int64_t count, double out[5][COLS])
{
	memset(out, 0, 5 * sizeof out[0]);
	for (int64_t i = 0; i < count; i++)
		for (int64_t j = 0; j < COLS; j++) {
			const double v = x[rows[i] * COLS + j];
			out[3][j] += isnan(v);
			if (isnan(v))
				continue;
			out[0][j] += v;
			out[1][j] += v * v;
			out[2][j] += v != 0;
			out[4][j] += v != 0 && v != 1;
		}
}

static void sums__dense_and_sparse__bits_of_one_loop(void **state)
{
	static double expected[5][COLS], found[5][COLS];
	double *x = random_values(), *val = malloc((size_t)(ROWS * COLS) * sizeof *val);
	int32_t *col = malloc((size_t)(ROWS * COLS) * sizeof *col);
	int64_t rowptr[ROWS + 1] = { 0 }, rows[ROWS / 2], nnz = 0;
	(void)state;
	for (int64_t i = 0; i < ROWS; i++) {
		for (int64_t j = 0; j < COLS; j++)
			if (x[i * COLS + j] != 0) {
				col[nnz] = (int32_t)j;
				val[nnz++] = x[i * COLS + j];
			}
		rowptr[i + 1] = nnz;
		rows[i / 2] = i;
	}
	const kdr_mat mats[] = { kdr_mat_from_dense(x, ROWS, COLS),
		                 kdr_mat_from_csr(ROWS, COLS, rowptr, col, val) };
	plain_sums(x, rows, ROWS / 2, expected);
	for (int threads = 1; threads <= 40; threads += 13)
		for (int sparse = 0; sparse < 2; sparse++) {
			kdr_context *ctx = unit_context();
			kdr_context_set_threads(ctx, threads);
			memset(found, 0, sizeof found);
			const kdri_column_sums to = { .sum = found[0],
				                      .square = found[1],
				                      .missing = found[3],
				                      .other = sparse ? NULL : found[4] };
			kdri_column_sums_add(ctx, &mats[sparse], rows, ROWS / 2, &to);
			assert_memory_equal(found[0], expected[0], sizeof found[0]);
			for (int64_t j = 0; j < COLS;
			     j++) /* the test may be compiled with fused operations */
				assert_near(found[1][j], expected[1][j], 1e-9 * expected[1][j]);
			assert_memory_equal(found[3], expected[3], sizeof found[3]);
			if (!sparse)
				assert_memory_equal(found[4], expected[4], sizeof found[4]);
			kdr_context_free(ctx);
		}
	free(x);
	free(val);
	free(col);
}

static void sums__no_missing__present_entries_are_counted(void **state)
{
	static double expected[5][COLS], found[2][COLS];
	double *x = random_values();
	int64_t rows[ROWS];
	kdr_context *ctx = unit_context();
	(void)state;
	for (int64_t i = 0; i < ROWS * COLS; i++)
		x[i] = isnan(x[i]) ? 0 : x[i];
	for (int64_t i = 0; i < ROWS; i++)
		rows[i] = i;
	const kdr_mat mat = kdr_mat_from_dense(x, ROWS, COLS);
	kdr_context_set_threads(ctx, THREADS);
	plain_sums(x, rows, ROWS, expected);
	kdri_column_sums_add(ctx, &mat, NULL, ROWS,
	                     &(kdri_column_sums){ .sum = found[0], .present = found[1] });
	assert_memory_equal(found[0], expected[0], sizeof found[0]);
	assert_memory_equal(found[1], expected[2], sizeof found[1]);
	kdr_context_free(ctx);
	free(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(write__any_rows_and_threads__bytes_of_one_thread),
		cmocka_unit_test(sums__dense_and_sparse__bits_of_one_loop),
		cmocka_unit_test(sums__no_missing__present_entries_are_counted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
