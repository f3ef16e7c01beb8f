/* Tables of text: what people have, and what they must not have. */
#include "tests/unit/text.h"

/* Options not named: a header is looked for. */
#define LOAD(text, ...) \
	kdr_context *ctx = unit_context(); \
	kdr_data *d; \
	kdr_read_options options = { __VA_ARGS__ }; \
	assert_ok(ctx, text_load(ctx, TEXT_CSV, text, &options, &d))

#define FREE() \
	kdr_data_free(d); \
	kdr_context_free(ctx)

static const double two_by_two[] = { 1, 2, 3, 4 };

static void csv__ways_to_write_one_matrix__read_alike(void **state)
{
	(void)state;
	static const char *const ways[] = {
		"1,2\n3,4\n",
		"1,2\n3,4",
		"1,2\r\n3,4\r\n",
		"1,2\r\n3,4",
		"\xef\xbb\xbf"
		"1,2\n3,4\n",
		" 1 ,\t2\n3 , 4 \n",
		"\"1\",\" 2\"\n\"3\",\"4\" \n",
		"1;2\n3;4\n",
		"1\t2\n3\t4\n",
		"\n\n1,2\n\n  \n3,4\n\n\r\n",
		"1.0,2e0\n+3,.4e1\n",
	};
	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
		LOAD(ways[i], .name = NULL);
		text_assert_matrix(d, 2, 2, two_by_two);
		assert_null(d->features);
		assert_null(d->ids);
		FREE();
	}
}

static void csv__header__found_or_told(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		kdr_header header;
		const char *names[2];
	} cases[] = {
		{ "a,b\n1,2\n3,4\n", KDR_HEADER_FIND_OUT, { "a", "b" } },
		{ "\xef\xbb\xbf"
		  "a,b\n1,2\n3,4\n",
		  KDR_HEADER_FIND_OUT,
		  { "a", "b" } },
		{ "a,7\n1,2\n3,4\n", KDR_HEADER_FIND_OUT, { "a", "7" } },
		{ "8,7\n1,2\n3,4\n", KDR_HEADER_YES, { "8", "7" } },
		{ "\"8\",\"7\"\n1,2\n3,4\n", KDR_HEADER_FIND_OUT, { "8", "7" } },
		{ "\"a \"\"b\"\"\", c d \n1,2\n3,4\n", KDR_HEADER_FIND_OUT, { "a \"b\"", "c d" } },
		{ "\"two\nlines\",\"x,y\"\n1,2\n3,4\n", KDR_HEADER_FIND_OUT, { "two\nlines", "x,y" } },
		{ "a;b\n1;2\n3;4\n", KDR_HEADER_FIND_OUT, { "a", "b" } },
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		LOAD(cases[i].text, .header = cases[i].header);
		text_assert_matrix(d, 2, 2, two_by_two);
		for (int j = 0; j < 2; j++)
			assert_string_equal(d->features[j], cases[i].names[j]);
		assert_null(d->ids);
		FREE();
	}
}

static void csv__row_names__from_first_column(void **state)
{
	(void)state;
	static const char *const ways[] = {
		"g1,1,2\ng2,3,4\n",                           /* a word, then numbers */
		"gene,a,b\ng1,1,2\ng2,3,4\n",                 /* the same, with a header */
		",a,b\ng1,1,2\ng2,3,4\n",                     /* as pandas writes an index */
		"\"\",\"a\",\"b\"\n\"g1\",1,2\n\"g2\",3,4\n", /* as R's write.csv does */
		"a,b\ng1,1,2\ng2,3,4\n",                      /* as R's write.table does */
	};
	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
		LOAD(ways[i], .name = NULL);
		text_assert_matrix(d, 2, 2, two_by_two);
		assert_non_null(d->ids);
		assert_string_equal(d->ids[0], "g1");
		assert_string_equal(d->ids[1], "g2");
		if (i > 0) {
			assert_string_equal(d->features[0], "a");
			assert_string_equal(d->features[1], "b");
		}
		FREE();
	}
}

static void csv__unnamed_number_column__is_row_names(void **state)
{
	(void)state;
	LOAD(",a,b\n0,1,2\n1,3,4\n", .name = NULL);
	text_assert_matrix(d, 2, 2, two_by_two);
	assert_string_equal(d->ids[1], "1");
	FREE();
}

static void csv__label_column__by_name_or_number(void **state)
{
	(void)state;
	static const char *const names[] = { "class", "2" };
	for (int i = 0; i < 2; i++) {
		LOAD("a,class,b\n1,dog,2\n3,\"a \"\"cat\"\"\",4\n3,dog,4\n1,,2\n", .label_column = names[i]);
		static const double expected[] = { 1, 2, 3, 4, 3, 4, 1, 2 };
		text_assert_matrix(d, 4, 2, expected);
		assert_string_equal(d->features[1], "b");
		assert_int_equal(d->nclasses, 2);
		assert_string_equal(d->classes[0], "dog");
		assert_string_equal(d->classes[1], "a \"cat\"");
		assert_int_equal(d->labels[0], 0);
		assert_int_equal(d->labels[1], 1);
		assert_int_equal(d->labels[2], 0);
		assert_int_equal(d->labels[3], -1);
		FREE();
	}
}

static void csv__integer_labels__in_increasing_order(void **state)
{
	(void)state;
	LOAD("1,2,10\n3,4,-2\n3,4,9\n3,4,+9\n", .label_column = "3");
	assert_int_equal(d->nclasses, 3);
	assert_string_equal(d->classes[0], "-2");
	assert_string_equal(d->classes[1], "9");
	assert_string_equal(d->classes[2], "10");
	assert_int_equal(d->labels[0], 2);
	assert_int_equal(d->labels[1], 0);
	assert_int_equal(d->labels[3], 1);
	FREE();
}

static void csv__id_and_label_columns__kept_out_of_the_numbers(void **state)
{
	(void)state;
	LOAD("x,id,y,c\n1,7,2,u\n3,8,4,v\n", .label_column = "c", .id_column = "id");
	text_assert_matrix(d, 2, 2, two_by_two);
	assert_string_equal(d->ids[1], "8");
	assert_string_equal(d->features[0], "x");
	assert_string_equal(d->features[1], "y");
	assert_int_equal(d->labels[1], 1);
	FREE();
}

static void csv__missing_cells__by_policy(void **state)
{
	(void)state;
	static const char text[] = "a,b\n1,2\n,5\n3,4\nNA,6\n6,\"\"\n7,nan\n";
	{
		LOAD(text, .missing = "zero");
		static const double expected[] = { 1, 2, 0, 5, 3, 4, 0, 6, 6, 0, 7, 0 };
		text_assert_matrix(d, 6, 2, expected);
		FREE();
	}
	{
		LOAD(text, .missing = "drop-row", .id_column = NULL);
		text_assert_matrix(d, 2, 2, two_by_two);
		FREE();
	}
	kdr_context *ctx = unit_context();
	kdr_data *d;
	kdr_read_options no_header = { .size = sizeof(kdr_read_options), .header = KDR_HEADER_NO };
	assert_fails(ctx, text_load(ctx, TEXT_CSV, text, &no_header, &d), KDR_ERR_FORMAT,
	             "'a' is not a number");
	assert_fails(ctx, text_load(ctx, TEXT_CSV, text, NULL, &d), KDR_ERR_DATA, "line 3, column 1 (a)");
	assert_fails(ctx, text_load(ctx, TEXT_CSV, text, NULL, &d), KDR_ERR_DATA,
	             "(4 in total: a 2, b 2); use --missing zero, mean");
	kdr_read_options wrong = { .size = sizeof(kdr_read_options), .missing = "average" };
	assert_fails(ctx, text_load(ctx, TEXT_CSV, text, &wrong, &d), KDR_ERR_OPTION, "'average'");
	kdr_context_free(ctx);
}

static void csv__dropped_rows__take_their_names_and_labels_along(void **state)
{
	(void)state;
	LOAD("id,a,c\nr1,1,u\nr2,,v\nr3,3,w\n", .missing = "drop-row", .label_column = "c");
	assert_int_equal(d->rows, 2);
	assert_string_equal(d->ids[1], "r3");
	assert_int_equal(d->nclasses, 2);
	assert_string_equal(d->classes[d->labels[1]], "w");
	FREE();
}

static void csv__decimal_comma__told_or_found(void **state)
{
	(void)state;
	static const char *const ways[] = { "a;b\n1,0;2\n3;4,00\n", "1\t2,0\n3,0\t4\n" };
	for (int i = 0; i < 2; i++) {
		LOAD(ways[i], .decimal = ",");
		text_assert_matrix(d, 2, 2, two_by_two);
		FREE();
	}
	LOAD(ways[0], .decimal = NULL); /* or found, by the evidence of the column */
	text_assert_matrix(d, 2, 2, two_by_two);
	FREE();
}

static void csv__malformed__one_line_says_where(void **state)
{
	(void)state;
	static const text_bad cases[] = {
		{ "", KDR_ERR_DATA, "t: the file is empty" },
		{ "\n\r\n  \n", KDR_ERR_DATA, "empty" },
		{ "\xef\xbb\xbf", KDR_ERR_DATA, "empty" },
		{ "a,b\n", KDR_ERR_DATA, "a header of 2 columns, but no rows" },
		{ "a\n", KDR_ERR_DATA, "one line, no data: is this a CSV file?" },
		{ "a,b\n1,2\n3\n", KDR_ERR_FORMAT, "t: line 3 has 1 field, expected 2" },
		{ "a,b\n1,2\n3,4,5\n", KDR_ERR_FORMAT, "t: line 3 has 3 fields, expected 2" },
		{ "1,2,3\n4,5,\n", KDR_ERR_DATA, "line 2, column 3: missing value" },
		{ "x,height\n1,2\n3,abc\n", KDR_ERR_FORMAT,
		  "t: line 3, column 2 (height): 'abc' is not a number" },
		{ "1,2\n3,4\n5,1.2.3\n", KDR_ERR_FORMAT, "'1.2.3'" },
		{ "1,2\n3,0x10\n", KDR_ERR_FORMAT, "'0x10'" },
		{ "1,2\n3,4\n\n5,nan\n", KDR_ERR_DATA, "line 4, column 2: missing value" },
		{ "1,2\n3,-Inf\n", KDR_ERR_DATA, "-Inf is not a finite number" },
		{ "1,2\n3,1e999\n", KDR_ERR_DATA, "1e999 is not a finite number" },
		{ "1,2\n3,\"4\n", KDR_ERR_FORMAT, "line 2: missing closing quote" },
		{ "\"1,2\n", KDR_ERR_FORMAT, "line 1: missing closing quote" },
		{ "1,2\n3,\"4\"x\n", KDR_ERR_FORMAT, "unexpected text after the closing quote" },
		{ "a,b\n1,2\n3,\"x\n\"\n", KDR_ERR_FORMAT,
		  "line 3, column 2 (b): 'x?'" }, /* a newline within a cell */
		{ "PK\x03\x04zz\n", KDR_ERR_DATA, "one line, no data" },
	};
	text_assert_bad(TEXT_CSV, cases, sizeof cases / sizeof cases[0]);
}

static void csv__columns_asked_for_in_vain__listed(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_data *d;
	kdr_read_options o = { .size = sizeof(kdr_read_options), .label_column = "klass" };
	assert_fails(ctx, text_load(ctx, TEXT_CSV, "a,class\n1,2\n", &o, &d), KDR_ERR_DATA, "a, class");
	o.label_column = "3";
	assert_fails(ctx, text_load(ctx, TEXT_CSV, "1,2\n3,4\n", &o, &d), KDR_ERR_DATA, "from 1 to 2");
	o.label_column = o.id_column = "2";
	assert_fails(ctx, text_load(ctx, TEXT_CSV, "1,2\n3,4\n", &o, &d), KDR_ERR_ARGUMENT, "both");
	o = (kdr_read_options){ .size = sizeof(kdr_read_options), .label_column = "1" };
	assert_fails(ctx, text_load(ctx, TEXT_CSV, "1\n2\n", &o, &d), KDR_ERR_DATA, "no usable column");
	kdr_context_free(ctx);
}

/* Larger than a window, with all that makes the ways through the reader differ; any number of threads. */
static void csv__several_windows__same_as_written_whatever_the_threads(void **state)
{
	(void)state;
	kdri_rng rng = kdri_rng_stream(1, "csv", 0);
	const int64_t rows = 150000, cols = 9;
	const size_t room = (size_t)rows * (size_t)(cols + 2) * 26;
	char *text = malloc(room);
	double *expected = malloc((size_t)(rows * cols) * sizeof *expected);
	for (int quotes = 0; quotes < 2; quotes++) {
		size_t used = (size_t)sprintf(text, "id,c");
		for (int64_t j = 0; j < cols; j++)
			used += (size_t)sprintf(text + used, ",f%d", (int)j);
		text[used++] = '\n';
		for (int64_t i = 0; i < rows; i++) {
			used += (size_t)sprintf(text + used, quotes ? "\"r\n%d\",\"k,%d\"" : "r%d,k%d",
			                        (int)i, (int)(i % 7));
			for (int64_t j = 0; j < cols; j++) {
				double v = text_random(&rng);
				expected[i * cols + j] = v;
				text[used++] = ',';
				used += (size_t)kdri_print_double(v, text + used);
			}
			if (i % 1000 == 3)
				text[used++] = '\r';
			text[used++] = '\n';
			if (i % 777 == 0)
				text[used++] = '\n';
		}
		assert_true(used > (size_t)1 << 24 && used < room);
		for (int threads = UNIT_SANITIZED ? 3 : 1; threads <= 3; threads += 2) {
			kdr_context *ctx = unit_context();
			kdr_data *d;
			kdr_read_options o = { .size = sizeof(kdr_read_options), .label_column = "c" };
			kdr_context_set_threads(ctx, threads);
			assert_ok(ctx, text_load_bytes(ctx, TEXT_CSV, text, used, &o, &d));
			assert_int_equal(d->rows, rows);
			assert_int_equal(d->cols, cols);
			assert_memory_equal(d->dense, expected, (size_t)(rows * cols) * sizeof *expected);
			for (int64_t i = 0; i < rows; i += 997) {
				char name[32];
				sprintf(name, quotes ? "r\n%d" : "r%d", (int)i);
				assert_string_equal(d->ids[i], name);
				assert_int_equal(d->labels[i], i % 7);
			}
			kdr_data_free(d);
			if (!quotes && threads == 3) { /* threads read parts of a file at the same time */
				const char *path = bytes_path("windows.csv");
				bytes_write(path, text, used);
				assert_ok(ctx, kdr_read(ctx, path, &o, &d));
				assert_int_equal(d->rows, rows);
				assert_memory_equal(d->dense, expected,
				                    (size_t)(rows * cols) * sizeof *expected);
				kdr_data_free(d);
			}
			/* A bad cell at the end is found, and its line counted right. */
			char *last = text + used - 1;
			while (last[-1] != '\n')
				last--;
			char *cell = strchr(strchr(last, ',') + 1, ',') + 1, saved;
			if (quotes) /* a comma within the label */
				cell = strchr(cell, ',') + 1;
			saved = *cell;
			*cell = 'x';
			if (!quotes) {
				char words[64];
				sprintf(words, "line %lld, column 3 (f0)",
				        (long long)(1 + rows + (rows + 776) / 777));
				assert_fails(ctx, text_load_bytes(ctx, TEXT_CSV, text, used, &o, &d),
				             KDR_ERR_FORMAT, words);
			} else {
				assert_fails(ctx, text_load_bytes(ctx, TEXT_CSV, text, used, &o, &d),
				             KDR_ERR_FORMAT, "is not a number");
			}
			*cell = saved;
			kdr_context_free(ctx);
		}
	}
	free(text);
	free(expected);
}

static void csv__round_trip__bit_exact_with_names(void **state)
{
	(void)state;
	static char *features[] = {
		"plain", "a,b", "\"q\"", "12", " blank ", "", "tab\there", "line\nbreak"
	};
	static char *ids[] = { "1", "two words", "x;y", "\"", "5e3" };
	static char *classes[] = { "u", "7", "a, b" };
	static int64_t labels[] = { 0, 1, 2, -1, 0 };
	kdri_rng rng = kdri_rng_stream(2, "csv", 0);
	kdr_context *ctx = unit_context();
	double x[40];
	for (int i = 0; i < 40; i++)
		x[i] = text_random(&rng);
	x[3] = -0.0;
	x[7] = 5e-324;
	for (int with = 0; with < 8; with++)
		for (int tabs = 0; tabs < 3; tabs++) {
			const char *path = bytes_path(tabs == 2 && kdr_build_has("zlib") ? "rt.csv.gz"
			                              : tabs                             ? "rt.tsv"
			                                                                 : "rt.csv");
			kdr_data d = { .kind = KDR_MAT_DENSE, .rows = 5, .cols = 8, .dense = x };
			kdr_data *back;
			kdr_read_options o = { .size = sizeof(kdr_read_options) };
			if (with & 1)
				d.features = features;
			if (with & 2)
				d.ids = ids;
			if (with & 4) {
				d.labels = labels;
				d.classes = classes;
				d.nclasses = 3;
				o.label_column = "label";
			}
			assert_ok(ctx, kdr_write(ctx, path, NULL, &d, true));
			assert_ok(ctx, kdr_read(ctx, path, &o, &back));
			text_assert_same(&d, back);
			for (int j = 0; j < 8; j++)
				if (with & 1)
					assert_string_equal(back->features[j], features[j]);
			for (int i = 0; i < 5; i++) {
				if (with & 2)
					assert_string_equal(back->ids[i], ids[i]);
				if (with & 4 && labels[i] >= 0)
					assert_string_equal(back->classes[back->labels[i]],
					                    classes[labels[i]]);
				if (with & 4 && labels[i] < 0)
					assert_int_equal(back->labels[i], -1);
			}
			if (with == 0)
				assert_true(!back->features && !back->ids && !back->labels);
			kdr_data_free(back);
		}
	kdr_context_free(ctx);
}

static void csv__every_allocation_failed__memory_error(void **state)
{
	(void)state;
	kdr_read_options o = { .size = sizeof(kdr_read_options), .label_column = "c" };
	text_assert_no_memory(TEXT_CSV, "id,a,b,c\nr,1,2,\"k\"\ns,3,4,7\n", &o);
	text_assert_no_memory(TEXT_CSV, "id,a,c\nr,1,2\ns,3,-7\n", &o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(csv__ways_to_write_one_matrix__read_alike),
		cmocka_unit_test(csv__header__found_or_told),
		cmocka_unit_test(csv__row_names__from_first_column),
		cmocka_unit_test(csv__unnamed_number_column__is_row_names),
		cmocka_unit_test(csv__label_column__by_name_or_number),
		cmocka_unit_test(csv__integer_labels__in_increasing_order),
		cmocka_unit_test(csv__id_and_label_columns__kept_out_of_the_numbers),
		cmocka_unit_test(csv__missing_cells__by_policy),
		cmocka_unit_test(csv__dropped_rows__take_their_names_and_labels_along),
		cmocka_unit_test(csv__decimal_comma__told_or_found),
		cmocka_unit_test(csv__malformed__one_line_says_where),
		cmocka_unit_test(csv__columns_asked_for_in_vain__listed),
		cmocka_unit_test(csv__several_windows__same_as_written_whatever_the_threads),
		cmocka_unit_test(csv__round_trip__bit_exact_with_names),
		cmocka_unit_test(csv__every_allocation_failed__memory_error),
	};
	return cmocka_run_group_tests(tests, NULL, bytes_clean);
}
