/* The library under a locale whose decimal point is a comma, as a calling program may have set it.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The locale is made here, by localedef from Debian's package locales, so that it need not be installed; without that the
 * tests are skipped. */
#include "core/json_read.h"
#include "tests/unit/bytes.h"

#include <locale.h>

static void enter(void)
{
	static bool made;
	char command[2400], text[16];
	const char *folder = bytes_path("locales");
	snprintf(command, sizeof command,
	         "mkdir -p '%s' && localedef -i de_DE -f UTF-8 '%s/de_DE.UTF-8' >/dev/null 2>&1", folder,
	         folder);
	/* It prints a warning and returns a status: the locale may be missing. */
	if (!made && system(command) < 0)
		skip();
	made = true;
	setenv("LOCPATH", folder, 1);
	if (!setlocale(LC_ALL, "de_DE.UTF-8")) {
		print_message("skipped: localedef made no locale de_DE.UTF-8 (Debian: locales)\n");
		skip();
	}
	snprintf(text, sizeof text, "%.1f", 0.5);
	assert_string_equal(text, "0,5"); /* else nothing here tests anything */
}

static void leave(void)
{
	setlocale(LC_ALL, "C");
}

static void options__comma_locale__numbers_have_points(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_options *o = NULL;
	int64_t count;
	enter();
	assert_ok(ctx, kdr_options_new(ctx, "mbc", &o));
	assert_ok(ctx, kdr_options_set(ctx, o, "lambda", "0.25"));
	assert_true(kdr_options_get(o, "lambda") == 0.25);
	assert_int_equal(kdr_options_set(ctx, o, "lambda", "0,25"), KDR_ERR_OPTION);
	assert_int_equal(kdr_options_set(ctx, o, "lambda", "-1.5"), KDR_ERR_OPTION);
	assert_non_null(strstr(kdr_context_error(ctx), "-1.5"));
	kdr_options_free(o);
	o = NULL;
	assert_ok(ctx, kdr_options_new(ctx, "mtcfir", &o));
	assert_ok(ctx, kdr_options_set(ctx, o, "neighbors", "12,15,10"));
	const double *values = kdri_options_numbers(o, "neighbors", &count);
	assert_int_equal(count, 3);
	assert_true(values[0] == 12 && values[1] == 15 && values[2] == 10);
	kdr_options_free(o);
	kdr_context_free(ctx);
	leave();
}

/* Writes four points in every format of text, and reads them back; the value of each entry must be the same. */
static void files__comma_locale__read_back(void **state)
{
	(void)state;
	static const double x[] = { 1.25, 3.5, 1, 2.9, 5.2, 0.4, 5, 0.5 };
	static const char *const names[] = { "a", "b" }, *const files[] = { "x.csv", "x.mtx", "x.npy",
		                                                            "x.svmlight" };
	kdr_context *ctx = unit_context();
	kdr_mat m = kdr_mat_from_dense(x, 4, 2);
	kdr_data *d = NULL;
	enter();
	assert_ok(ctx, kdr_data_new(ctx, "t", &m, names, &d));
	for (int i = 0; i < 4; i++) {
		kdr_data *back = NULL;
		assert_ok(ctx, kdr_write(ctx, bytes_path(files[i]), NULL, d, true));
		assert_ok(ctx, kdr_read(ctx, bytes_path(files[i]), NULL, &back));
		kdr_mat y = kdr_data_mat(back);
		assert_int_equal(kdr_mat_nnz(&y), 8);
		for (int e = 0; e < 8; e++)
			assert_true((y.kind == KDR_MAT_DENSE ? y.as.dense.data : y.as.csr.val)[e] == x[e]);
		kdr_data_free(back);
	}
	kdr_data_free(d);
	leave();
	kdr_context_free(ctx);
}

static void result__comma_locale__is_json(void **state)
{
	(void)state;
	static const double x[] = { 1.25, 3.5, 1, 2.9, 5.2, 0.4, 5, 0.5 };
	kdr_context *ctx = unit_context();
	kdr_mat m = kdr_mat_from_dense(x, 4, 2);
	kdr_data *d = NULL;
	kdr_result *r = NULL;
	kdri_json_value *root = NULL;
	char *text = NULL;
	size_t length;
	kdr_job_options o;
	kdr_job_options_init(&o);
	o.k = 2;
	o.method = "kmeans";
	enter();
	assert_ok(ctx, kdr_data_new(ctx, "t", &m, NULL, &d));
	assert_ok(ctx, kdr_cluster(ctx, &d, 1, &o, &r));
	assert_ok(ctx, kdr_result_json(ctx, r, true, &text, &length));
	assert_ok(ctx, kdri_json_parse(ctx, "result", 1, text, length, &root));
	assert_true(kdri_json_number(kdri_json_at(kdri_json_get(root, "objective"), 0), 0) > 0);
	assert_ok(ctx, kdr_report_result(ctx, r, bytes_path("report.html"), true));
	leave();
	kdri_json_value_free(root);
	kdr_free(ctx, text);
	kdr_result_free(r);
	kdr_data_free(d);
	kdr_context_free(ctx);
}

static void selector__comma_locale__reads_back(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_selector s = { .beta = { 0.5, -1.25 }, .triples = 3, .log_likelihood = -0.75 }, t;
	enter();
	assert_ok(ctx, kdr_selector_save(ctx, bytes_path("s.json"), &s, true));
	assert_ok(ctx, kdr_selector_load(ctx, bytes_path("s.json"), &t));
	assert_true(t.beta[0] == 0.5 && t.beta[1] == -1.25 && t.log_likelihood == -0.75);
	leave();
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options__comma_locale__numbers_have_points),
		cmocka_unit_test(files__comma_locale__read_back),
		cmocka_unit_test(result__comma_locale__is_json),
		cmocka_unit_test(selector__comma_locale__reads_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
