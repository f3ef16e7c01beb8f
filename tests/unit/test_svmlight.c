/* SVMlight / LIBSVM files. */
#include "tests/unit/text.h"

static void svmlight__labels_comments_and_queries__read(void **state)
{
	(void)state;
	static const double expected[] = { 0.5, 0, 2, 0, 0, 0, 0, 1, 0 };
	static const char *const ways[] = {
		"1 1:0.5 3:2\n-1\n1 2:1\n",
		"# a comment\n+1 qid:3 1:0.5 3:2 # tail 7:7\r\n\n-1 qid:4\r\n01 2:1",
		"1 3:2 1:0.5\n-1 2:0\n1 2:1\n", /* any order, a zero dropped */
		"1 0:0.5 2:2\n-1\n1 1:1\n",     /* from zero */
	};
	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
		kdr_context *ctx = unit_context();
		kdr_data *d;
		assert_ok(ctx, text_load(ctx, TEXT_SVMLIGHT, ways[i], NULL, &d));
		text_assert_matrix(d, 3, 3, expected);
		assert_int_equal(d->rowptr[3], 3);
		assert_int_equal(d->nclasses, 2);
		assert_string_equal(d->classes[0], "-1");
		assert_string_equal(d->classes[1], "1");
		assert_int_equal(d->labels[0], 1);
		assert_int_equal(d->labels[1], 0);
		assert_int_equal(d->labels[2], 1);
		kdr_data_free(d);
		kdr_context_free(ctx);
	}
}

static void svmlight__without_labels__has_none(void **state)
{
	(void)state;
	static const double expected[] = { 0.5, 0, 0, 1 };
	kdr_context *ctx = unit_context();
	kdr_data *d;
	assert_ok(ctx, text_load(ctx, TEXT_SVMLIGHT, "1:0.5\n2:1\n", NULL, &d));
	text_assert_matrix(d, 2, 2, expected);
	assert_null(d->labels);
	assert_int_equal(d->nclasses, 0);
	kdr_data_free(d);
	kdr_context_free(ctx);
}

static void svmlight__words_as_labels__in_order_of_appearance(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_data *d;
	assert_ok(ctx, text_load(ctx, TEXT_SVMLIGHT, "b 1:1\na 1:2\nb 1:3\n", NULL, &d));
	assert_string_equal(d->classes[0], "b");
	assert_int_equal(d->labels[1], 1);
	assert_int_equal(d->labels[2], 0);
	kdr_data_free(d);
	kdr_context_free(ctx);
}

static void svmlight__malformed__one_line_says_where(void **state)
{
	(void)state;
	static const text_bad cases[] = {
		{ "", KDR_ERR_DATA, "t: the file has no rows" },
		{ "# only a comment\n\n", KDR_ERR_DATA, "no rows" },
		{ "1\n2\n", KDR_ERR_DATA, "no features" },
		{ "1 1:1\n1 x:2\n", KDR_ERR_FORMAT, "t: line 2: 'x:2' is not an index:value pair" },
		{ "1 1:1\n1 2\n", KDR_ERR_FORMAT, "line 2: '2' is not an index:value pair" },
		{ "1 -1:1\n", KDR_ERR_FORMAT, "'-1:1' is not an index:value pair" },
		{ "1 1:\n", KDR_ERR_FORMAT, "'' is not a number" },
		{ "1 1:a\n", KDR_ERR_FORMAT, "'a' is not a number" },
		{ "1 1:1.5x\n", KDR_ERR_FORMAT, "'1.5x' is not a number" },
		{ "1 1:nan\n", KDR_ERR_DATA, "'nan' is not a finite number" },
		{ "1 1:-inf\n", KDR_ERR_DATA, "'-inf' is not a finite number" },
		{ "1 1:1 1:2\n", KDR_ERR_FORMAT, "an index occurs twice" },
		{ "1 3:1 1:2 3:0\n", KDR_ERR_FORMAT, "an index occurs twice" },
		{ "1 99999999999:1\n", KDR_ERR_FORMAT, "above 2147483646" },
		{ "1 99999999999999999999999:1\n", KDR_ERR_FORMAT, "is not an index:value pair" },
		{ "1,2 1:1\n", KDR_ERR_UNSUPPORTED, "line 1: '1,2' has several labels" },
		{ "1 1:1\n2:1\n", KDR_ERR_FORMAT,
		  "line 2: '2:1' is not a label, but the first line has one" },
		{ "1:1\n5 2:1\n", KDR_ERR_FORMAT, "'5' is a label, but the first line has none" },
	};
	text_assert_bad(TEXT_SVMLIGHT, cases, sizeof cases / sizeof cases[0]);
}

/* A huge index is a wide matrix, not a large one. */
static void svmlight__wide__costs_nothing(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_data *d;
	assert_ok(ctx, text_load(ctx, TEXT_SVMLIGHT, "1 2147483646:1\n", NULL, &d));
	assert_int_equal(d->cols, 2147483646);
	kdr_data_free(d);
	kdr_context_free(ctx);
}

static void svmlight__round_trip_through_windows__bit_exact(void **state)
{
	(void)state;
	kdri_rng rng = kdri_rng_stream(1, "svm", 0);
	const int64_t rows = 60000, cols = 40;
	static char *classes[] = { "x", "y", "z" };
	double *x = malloc((size_t)(rows * cols) * sizeof *x);
	int64_t *labels = malloc((size_t)rows * sizeof *labels);
	for (int64_t i = 0; i < rows * cols; i++)
		x[i] = kdri_rng_below(&rng, 2) ? text_random(&rng) : 0;
	for (int64_t i = 0; i < rows; i++) {
		labels[i] = i % 3;
		x[i * cols + cols - 1] = 0; /* the last column is empty, and must stay */
	}
	kdr_data dense = { .kind = KDR_MAT_DENSE,
		           .rows = rows,
		           .cols = cols,
		           .dense = x,
		           .labels = labels,
		           .classes = classes,
		           .nclasses = 3 };
	kdr_context *ctx = unit_context();
	kdr_data *one, *two;
	const char *path = bytes_path("rt.svmlight");
	assert_ok(ctx, kdr_write(ctx, path, NULL, &dense, true));
	assert_ok(ctx, kdr_read(ctx, path, NULL, &one));
	text_assert_matrix(one, rows, cols, x);
	assert_memory_equal(one->labels, labels, (size_t)rows * sizeof *labels);
	/* Sparse to sparse, without labels, compressed, other threads. */
	kdr_data plain = *one;
	plain.labels = NULL;
	unit_needs("zlib");
	path = bytes_path("rt.libsvm.gz");
	kdr_context_set_threads(ctx, 3);
	assert_ok(ctx, kdr_write(ctx, path, NULL, &plain, true));
	assert_ok(ctx, kdr_read(ctx, path, NULL, &two));
	text_assert_same(one, two);
	assert_int_equal(two->nclasses, 1);
	kdr_data_free(one);
	kdr_data_free(two);
	static char *bad[] = { "a b" };
	dense.classes = bad;
	dense.nclasses = 1;
	assert_fails(ctx, kdr_write(ctx, bytes_path("bad.svm"), NULL, &dense, true), KDR_ERR_UNSUPPORTED,
	             "'a b'");
	kdr_context_free(ctx);
	free(x);
	free(labels);
}

static void svmlight__every_allocation_failed__memory_error(void **state)
{
	(void)state;
	text_assert_no_memory(TEXT_SVMLIGHT, "2 1:0.5 3:2\n-1\n2 2:1\n", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(svmlight__labels_comments_and_queries__read),
		cmocka_unit_test(svmlight__without_labels__has_none),
		cmocka_unit_test(svmlight__words_as_labels__in_order_of_appearance),
		cmocka_unit_test(svmlight__malformed__one_line_says_where),
		cmocka_unit_test(svmlight__wide__costs_nothing),
		cmocka_unit_test(svmlight__round_trip_through_windows__bit_exact),
		cmocka_unit_test(svmlight__every_allocation_failed__memory_error),
	};
	return cmocka_run_group_tests(tests, NULL, bytes_clean);
}
