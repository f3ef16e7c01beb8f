/* Core: status, options, suggestions, allocation, results, problem checks. */
#include "core/names.h"
#include "tests/unit/unit.h"

#include <sys/wait.h>
#include <unistd.h>

static void strerror__any_integer__is_a_text(void **state)
{
	(void)state;
	for (int i = -5; i < 120; i++)
		assert_true(kdr_strerror(i) && kdr_strerror(i)[0]);
	assert_string_equal(kdr_strerror(KDR_OK), "success");
	assert_string_equal(kdr_strerror(99999), "unknown status");
}

static void alloc__sizes_that_overflow__fail_without_allocating(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	double *p = NULL;
	assert_int_equal(KDRI_NEW(ctx, &p, INT64_MAX), KDR_ERR_SIZE);
	assert_int_equal(KDRI_NEW(ctx, &p, -1), KDR_ERR_SIZE);
	int64_t product = 7;
	assert_int_equal(kdri_mul(ctx, INT64_MAX / 2, 3, &product), KDR_ERR_SIZE);
	assert_int_equal(product, 7);
	assert_null(p);
	kdr_context_free(ctx);
}

static int64_t fit_in_threads(int threads)
{
	enum { N = 4000, D = 8 };
	kdr_context *ctx = unit_context();
	double *x = malloc(sizeof *x * N * D);
	kdr_result *result = NULL;
	uint64_t at = 7;
	for (int i = 0; i < N * D; i++)
		x[i] = (double)((at = at * 6364136223846793005u + 1442695040888963407u) >> 40);
	const kdr_task task = { .name = "t", .x = kdr_mat_from_dense(x, N, D), .k = 8 };
	const kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = &task, .ntasks = 1 };
	kdr_context_set_threads(ctx, threads);
	kdr_status st = kdr_fit(ctx, "kmeans", &problem, NULL, &result);
	int64_t had = st == KDR_OK ? kdr_context_threads(ctx) : -1;
	kdr_result_free(result);
	free(x);
	kdr_context_free(ctx);
	return had;
}

static void threads__child_of_a_process_that_had_some__works_alone_and_ends(void **state)
{
	(void)state;
	int status = 0;
	const int64_t had = fit_in_threads(4);
	assert_true(had >= 1);
	fflush(NULL);
	pid_t child = fork();
	if (child == 0) {
		alarm(60); /* in case it waits for threads that do not exist */
		_exit(fit_in_threads(4) == 1 ? 0 : 3);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(fit_in_threads(4), had); /* nothing has changed here */
}

static void options__wrong_name__names_the_nearest(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_options *o = NULL;
	assert_ok(ctx, kdr_options_new(ctx, "kmeans", &o));
	assert_int_equal(kdr_options_set(ctx, o, "n_inti", "3"), KDR_ERR_OPTION);
	assert_non_null(strstr(kdr_context_error(ctx), "n_init"));
	assert_int_equal(kdr_options_set(ctx, o, "zzzzzz", "3"), KDR_ERR_OPTION);
	assert_non_null(strstr(kdr_context_error(ctx), "its options are"));
	kdr_options_free(o);
	kdr_context_free(ctx);
}

static void options__bad_values__are_refused_and_leave_the_old(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_options *o = NULL;
	assert_ok(ctx, kdr_options_new(ctx, "kmeans", &o));
	double before = kdr_options_get(o, "n_init");
	static const char *const bad[] = { "0", "-1", "1.5", "x", "", "nan", "inf", "1e300", "3 " };
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_int_equal(kdr_options_set(ctx, o, "n_init", bad[i]), KDR_ERR_OPTION);
	assert_true(kdr_options_get(o, "n_init") == before);
	assert_int_equal(kdr_options_set(ctx, o, "spherical", "maybe"), KDR_ERR_OPTION);
	assert_int_equal(kdr_options_set(ctx, o, "start", "kmeans"), KDR_ERR_OPTION);
	assert_int_equal(kdr_options_set_number(ctx, o, "start", 17), KDR_ERR_OPTION);
	assert_ok(ctx, kdr_options_set(ctx, o, "spherical", "yes"));
	assert_true(kdr_options_get(o, "spherical") == 1);
	assert_ok(ctx, kdr_options_set(ctx, o, "start", "random"));
	assert_true(isnan(kdr_options_get(o, "nothing")));
	kdr_options_free(o);
	kdr_context_free(ctx);
}

static void options__one_number_or_several__kept_in_full(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_options *o = NULL;
	int64_t count;
	assert_ok(ctx, kdr_options_new(ctx, "mtcfir", &o));
	assert_true(kdri_options_numbers(o, "neighbors", &count)[0] == 0.3 && count == 1);
	assert_true(kdri_opt_reals(o, "neighbors", 7) == 0.3);
	assert_ok(ctx, kdr_options_set(ctx, o, "neighbors", "12,0.25,1e3"));
	const double *v = kdri_options_numbers(o, "neighbors", &count);
	assert_true(count == 3 && v[0] == 12 && v[1] == 0.25 && v[2] == 1000);
	assert_true(kdr_options_get(o, "neighbors") == 12 && kdri_opt_reals(o, "neighbors", 2) == 1000);
	static const char *const bad[] = { "",    ",",      "12,",  ",12",  "12,,3",  "12;3",  "12,x",
		                           "nan", "12,nan", "12,0", "-1,2", "12,2e9", "12, 3 " };
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		assert_int_equal(kdr_options_set(ctx, o, "neighbors", bad[i]), KDR_ERR_OPTION);
		assert_non_null(strstr(kdr_context_error(ctx), "neighbors"));
	}
	assert_ptr_equal(kdri_options_numbers(o, "neighbors", &count), v);
	assert_ok(ctx, kdr_options_set_numbers(ctx, o, "neighbors", v + 1, 2)); /* a part of itself */
	v = kdri_options_numbers(o, "neighbors", &count);
	assert_true(count == 2 && v[0] == 0.25 && v[1] == 1000);
	assert_int_equal(kdr_options_set_numbers(ctx, o, "neighbors", v, 0), KDR_ERR_OPTION);
	assert_ok(ctx, kdr_options_set_number(ctx, o, "neighbors", 5));
	assert_true(kdri_options_numbers(o, "neighbors", &count)[0] == 5 && count == 1);
	/* Other options take one. */
	assert_int_equal(kdr_options_set(ctx, o, "noise", "0.5,0.6"), KDR_ERR_OPTION);
	assert_int_equal(kdr_options_set_numbers(ctx, o, "noise", (double[]){ 0.5, 0.6 }, 2), KDR_ERR_OPTION);
	assert_non_null(strstr(kdr_context_error(ctx), "got 2 numbers, expected"));
	assert_true(kdri_options_numbers(o, "noise", &count)[0] == 0.5 && count == 1);
	assert_null(kdri_options_numbers(o, "nothing", &count));
	assert_int_equal(count, 0);
	kdr_options_free(o);
	kdr_context_free(ctx);
}

static void suggest__slips__are_found_and_strangers_left_out(void **state)
{
	(void)state;
	static const char *const words[] = { "cluster", "evaluate", "generate", "methods" };
	const char *out[2];
	assert_int_equal(kdr_suggest("clutser", words, 4, out, 2), 1);
	assert_string_equal(out[0], "cluster");
	assert_int_equal(kdr_suggest("eval", words, 4, out, 2), 1);
	assert_string_equal(out[0], "evaluate");
	assert_int_equal(kdr_suggest("xyzzy", words, 4, out, 2), 0);
	assert_int_equal(kdr_suggest("", words, 4, out, 2), 0);
}

static void error__control_characters__stay_on_one_line(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_set_error(ctx, "a\nb\tc%c", 27);
	assert_string_equal(kdr_context_error(ctx), "a?b?c?");
	kdr_context_free(ctx);
}

/* Each change of a good problem that kdr_fit must refuse, with a word its message must hold. */
static void fit__bad_problems__are_refused_with_a_reason(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	double x[8] = { 0, 1, 2, 3, 4, 5, 6, 7 }, bad[8] = { 0, 1, NAN, 3, 4, 5, 6, 7 },
	       inf[8] = { 0, 1, 2, 3, 4, 5, 6, INFINITY };
	int64_t init[4] = { 0, 1, 2, 0 }, rowptr[3] = { 0, 2, 1 }, good_rowptr[3] = { 0, 1, 2 };
	int32_t col[2] = { 0, 5 }, repeated[2] = { 1, 1 };
	double val[2] = { 1, 2 }, weights[4] = { 1, 1, -1, 1 }, none[4] = { 0 };
	kdr_mat good = kdr_mat_from_dense(x, 4, 2);
	int64_t one_row[2] = { 0, 2 };
	const struct {
		kdr_task task;
		kdr_status status;
		const char *word;
	} cases[] = {
		{ { .name = "t", .x = good, .k = 0 }, KDR_ERR_ARGUMENT, "method 'kmeans' needs -k" },
		{ { .name = "t", .x = good, .k = 5 }, KDR_ERR_ARGUMENT, "from 4 samples" },
		{ { .name = "t", .x = kdr_mat_from_dense(bad, 4, 2), .k = 2 },
		  KDR_ERR_DATA,
		  "row 2, column 1" },
		{ { .name = "t", .x = kdr_mat_from_dense(inf, 4, 2), .k = 2 },
		  KDR_ERR_DATA,
		  "row 4, column 2" },
		{ { .name = "t", .x = kdr_mat_from_dense(x, 0, 2), .k = 1 }, KDR_ERR_DATA, "0 rows" },
		{ { .name = "t", .x = kdr_mat_from_dense(NULL, 4, 2), .k = 1 }, KDR_ERR_ARGUMENT, "no data" },
		{ { .name = "t", .x = kdr_mat_from_csr(2, 2, rowptr, col, val), .k = 1 },
		  KDR_ERR_ARGUMENT,
		  "decrease at row 2" },
		{ { .name = "t", .x = kdr_mat_from_csr(2, 2, good_rowptr, col, val), .k = 1 },
		  KDR_ERR_ARGUMENT,
		  "from 0 to 1" },
		{ { .name = "t", .x = kdr_mat_from_csr(1, 3, one_row, repeated, val), .k = 1 },
		  KDR_ERR_ARGUMENT,
		  "increasing" },
		{ { .name = "t", .x = good, .k = 2, .init = init }, KDR_ERR_DATA, "row 3 is 2" },
		{ { .name = "t", .x = good, .k = 2, .weights = weights }, KDR_ERR_DATA, "weight of row 3" },
		{ { .name = "t", .x = good, .k = 2, .weights = none }, KDR_ERR_DATA, "all weights are zero" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = &cases[i].task, .ntasks = 1 };
		kdr_result *result = NULL;
		assert_int_equal(kdr_fit(ctx, "kmeans", &problem, NULL, &result), cases[i].status);
		assert_null(result);
		if (!strstr(kdr_context_error(ctx), cases[i].word))
			fail_msg("'%s' lacks '%s'", kdr_context_error(ctx), cases[i].word);
	}
	kdr_task two[2] = { { .name = "a", .x = good, .k = 2 },
		            { .name = "b", .x = kdr_mat_from_dense(x, 2, 4), .k = 2 } };
	kdr_problem pooled = { .size = sizeof(kdr_problem), .tasks = two, .ntasks = 2, .pooled = true };
	kdr_result *result = NULL;
	assert_int_equal(kdr_fit(ctx, "kmeans", &pooled, NULL, &result), KDR_ERR_DATA);
	assert_non_null(strstr(kdr_context_error(ctx), "4 columns"));
	two[1] = (kdr_task){ .name = "b", .x = good, .k = 1 };
	assert_int_equal(kdr_fit(ctx, "kmeans", &pooled, NULL, &result), KDR_ERR_ARGUMENT);
	assert_int_equal(kdr_fit(ctx, "nothing", &pooled, NULL, &result), KDR_ERR_ARGUMENT);
	assert_int_equal(kdr_fit(ctx, "kmeans", NULL, NULL, &result), KDR_ERR_ARGUMENT);
	assert_null(result);
	kdr_context_free(ctx);
}

/* Zero means the default everywhere, so that an options struct is right from { 0 } too. */
#define CHECK_INIT(type) \
	do { \
		type options; \
		unsigned char bytes[sizeof options], zero[sizeof options] = { 0 }; \
		memset(&options, 0xab, sizeof options); \
		type##_init(&options); \
		assert_int_equal(options.size, sizeof options); \
		options.size = 0; \
		memcpy(bytes, &options, sizeof options); \
		assert_memory_equal(bytes, zero, sizeof options); \
	} while (0)

static void options__init__size_and_zeros(void **state)
{
	(void)state;
	CHECK_INIT(kdr_read_options);
	CHECK_INIT(kdr_prep_options);
	CHECK_INIT(kdr_text_options);
	CHECK_INIT(kdr_relate_options);
	CHECK_INIT(kdr_job_options);
	CHECK_INIT(kdr_embed_options);
	CHECK_INIT(kdr_problem);
	CHECK_INIT(kdr_transfer_sets);
	CHECK_INIT(kdr_predict_options);
}

static void registry__descriptors__walked_by_index_and_named_for_bindings(void **state)
{
	(void)state;
	for (size_t i = 0; i < kdr_algo_count(); i++) {
		const kdr_algo *a = kdr_algo_at(i);
		size_t options = 0, fields = 0;
		while (kdr_algo_option_at(a, options))
			assert_ptr_equal(kdr_algo_option_at(a, options), &a->options[options]), options++;
		while (kdr_algo_field_at(a, fields))
			assert_ptr_equal(kdr_algo_field_at(a, fields), &a->fields[fields]), fields++;
		assert_null(a->options[options].name);
		assert_null(kdr_algo_option_at(a, options + 1));
		assert_non_null(a->class_name);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(a->class_name, kdr_algo_at(j)->class_name);
	}
}

static void names__many_and_repeated__keep_their_numbers(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	for (int borrows = 0; borrows < 2; borrows++) {
		static char text[500][16];
		kdri_names table = { .borrows = borrows };
		int64_t index;
		assert_int_equal(kdri_names_find(&table, "n0"), -1);
		for (int round = 0; round < 2; round++)
			for (int i = 0; i < 500; i++) {
				snprintf(text[i], sizeof text[i], "n%d", i);
				assert_int_equal(
				        kdri_names_add(ctx, &table, text[i], strlen(text[i]), &index), 0);
				assert_int_equal(index, i);
			}
		assert_int_equal(table.count, 500);
		assert_int_equal(kdri_names_find(&table, "n499"), 499);
		assert_int_equal(kdri_names_find(&table, "n49"), 49);
		assert_int_equal(kdri_names_find(&table, "n"), -1);
		assert_true((table.names[7] == text[7]) == (borrows == 1));
		kdri_names_free(ctx, &table);
	}
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options__init__size_and_zeros),
		cmocka_unit_test(registry__descriptors__walked_by_index_and_named_for_bindings),
		cmocka_unit_test(names__many_and_repeated__keep_their_numbers),
		cmocka_unit_test(strerror__any_integer__is_a_text),
		cmocka_unit_test(alloc__sizes_that_overflow__fail_without_allocating),
		cmocka_unit_test(options__wrong_name__names_the_nearest),
		cmocka_unit_test(options__bad_values__are_refused_and_leave_the_old),
		cmocka_unit_test(options__one_number_or_several__kept_in_full),
		cmocka_unit_test(suggest__slips__are_found_and_strangers_left_out),
		cmocka_unit_test(threads__child_of_a_process_that_had_some__works_alone_and_ends),
		cmocka_unit_test(error__control_characters__stay_on_one_line),
		cmocka_unit_test(fit__bad_problems__are_refused_with_a_reason),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
