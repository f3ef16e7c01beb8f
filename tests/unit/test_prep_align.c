/* Alignment of features: orders, storage, and messages about a mismatch. */
#include "tests/unit/prep_data.h"

typedef struct pair {
	kdr_context *ctx;
	kdr_data *tasks[2];
	kdr_prep *prep;
} pair;

/* Task a: 2 x 3 named x y z. Task b: 2 x 3 named as given. */
static pair make(const char *names, int sparse)
{
	static const double xa[] = { 1, 2, 3, 4, 0, 6 }, xb[] = { 10, 20, 30, 0, 50, 60 };
	pair p = { .ctx = unit_context() };
	kdr_data *a = dense_data(p.ctx, "a", 2, 3, xa, "x y z"), *b = dense_data(p.ctx, "b", 2, 3, xb, names);
	p.tasks[0] = sparse & 1 ? sparse_copy(p.ctx, a) : a;
	p.tasks[1] = sparse & 2 ? sparse_copy(p.ctx, b) : b;
	if (sparse & 1)
		kdr_data_free(a);
	if (sparse & 2)
		kdr_data_free(b);
	return p;
}

static void drop(pair *p)
{
	kdr_data_free(p->tasks[0]);
	kdr_data_free(p->tasks[1]);
	kdr_prep_free(p->prep);
	kdr_context_free(p->ctx);
}

static kdr_status align(pair *p, kdr_align how)
{
	return kdr_prepare(p->ctx, p->tasks, 2,
	                   &(kdr_prep_options){ .size = sizeof(kdr_prep_options), .align = how }, &p->prep);
}

static void expect(const pair *p, int64_t task, int64_t cols, const double *x)
{
	const kdr_data *d = p->tasks[task];
	assert_int_equal(d->cols, cols);
	for (int64_t i = 0; i < d->rows * cols; i++)
		assert_near(entry(d, i / cols, i % cols), x[i], 0);
}

static void union__other_order_and_names__first_order_then_new(void **state)
{
	(void)state;
	for (int sparse = 0; sparse < 4; sparse++) {
		pair p = make("w z x", sparse);
		assert_ok(p.ctx, align(&p, KDR_ALIGN_DEFAULT));
		assert_features(p.tasks[0], "x y z w");
		assert_features(p.tasks[1], "x y z w");
		expect(&p, 0, 4, (double[]){ 1, 2, 3, 0, 4, 0, 6, 0 });
		expect(&p, 1, 4, (double[]){ 30, 0, 20, 10, 60, 0, 50, 0 });
		assert_warning(p.prep, "data set a has no feature 'w', which data set b has");
		assert_warning(p.prep, "data set b has no feature 'y', which data set a has");
		assert_string_equal(kdri_prep_describe(p.prep), "features: union (2 data sets, 4 columns)");
		assert_same_data(p.tasks[0], p.tasks[0], 0);
		assert_same_data(p.tasks[1], p.tasks[1], 0);
		drop(&p);
	}
}

static void intersect__other_order__first_order(void **state)
{
	(void)state;
	for (int sparse = 0; sparse < 4; sparse++) {
		pair p = make("w z x", sparse);
		assert_ok(p.ctx, align(&p, KDR_ALIGN_INTERSECT));
		assert_features(p.tasks[0], "x z");
		assert_features(p.tasks[1], "x z");
		expect(&p, 0, 2, (double[]){ 1, 3, 4, 6 });
		expect(&p, 1, 2, (double[]){ 30, 20, 60, 50 });
		assert_warning(p.prep, "data set b: feature 'w' skipped");
		drop(&p);
	}
}

static void union__same_names_same_order__nothing_moves_nothing_told(void **state)
{
	(void)state;
	pair p = make("x y z", 2);
	double *before = p.tasks[0]->dense;
	assert_ok(p.ctx, align(&p, KDR_ALIGN_UNION));
	assert_ptr_equal(p.tasks[0]->dense, before);
	assert_int_equal(kdri_prep_warning_count(p.prep), 0);
	drop(&p);
}

static void position__names_differ__first_names_and_a_warning(void **state)
{
	(void)state;
	pair p = make("x q z", 0);
	assert_ok(p.ctx, align(&p, KDR_ALIGN_POSITION));
	assert_features(p.tasks[1], "x y z");
	expect(&p, 1, 3, (double[]){ 10, 20, 30, 0, 50, 60 });
	assert_warning(p.prep, "column 2 is 'y' in data set a and 'q' in data set b");
	drop(&p);
}

static void default__one_task_unnamed__by_position(void **state)
{
	(void)state;
	pair p = make(NULL, 0);
	assert_ok(p.ctx, align(&p, KDR_ALIGN_DEFAULT));
	assert_features(p.tasks[1], "x y z");
	drop(&p);
	p = make(NULL, 0);
	assert_int_equal(align(&p, KDR_ALIGN_UNION), KDR_ERR_DATA);
	assert_non_null(strstr(kdr_context_error(p.ctx), "data set b has no feature names"));
	drop(&p);
}

static void position__counts_differ__error_names_both(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_data *tasks[2] = { dense_data(ctx, "left", 1, 2, (double[]){ 1, 2 }, NULL),
		               dense_data(ctx, "right", 1, 3, (double[]){ 1, 2, 3 }, NULL) };
	assert_int_equal(kdr_prepare(ctx, tasks, 2, NULL, NULL), KDR_ERR_DATA);
	assert_non_null(
	        strstr(kdr_context_error(ctx), "data set left has 2 features and data set right has 3"));
	kdr_data_free(tasks[0]);
	kdr_data_free(tasks[1]);
	kdr_context_free(ctx);
}

static void by_name__name_twice__error_names_both_columns(void **state)
{
	(void)state;
	pair p = make("u v u", 0);
	assert_int_equal(align(&p, KDR_ALIGN_UNION), KDR_ERR_DATA);
	assert_non_null(strstr(kdr_context_error(p.ctx), "data set b: columns 1 and 3 are both named 'u'"));
	expect(&p, 0, 3, (double[]){ 1, 2, 3, 4, 0, 6 });
	assert_null(p.prep);
	drop(&p);
}

static void by_name__nothing_shared__told_with_names(void **state)
{
	(void)state;
	const char *text =
	        "data sets a and b have no feature name in common (a: 'x', 'y' and 'z'; b: 'u', 'v' and 'w')";
	pair p = make("u v w", 0);
	assert_int_equal(align(&p, KDR_ALIGN_INTERSECT), KDR_ERR_DATA);
	assert_string_equal(kdr_context_error(p.ctx), text);
	assert_ok(p.ctx, align(&p, KDR_ALIGN_UNION));
	assert_warning(p.prep, text);
	drop(&p);
}

static void union__many_missing__a_few_are_named(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	double x[20] = { 0 };
	kdr_data *tasks[3] = { dense_data(ctx, "a", 1, 10, x, "a b c d e f g h i j"),
		               dense_data(ctx, "b", 1, 1, x, "a"), dense_data(ctx, "c", 1, 1, x, "j") };
	kdr_prep *prep = NULL;
	assert_ok(ctx, kdr_prepare(ctx, tasks, 3, NULL, &prep));
	assert_warning(prep,
	               "data set b has no feature 'b', 'c', 'd' and 6 more, which other data sets have");
	assert_warning(prep, "data sets b and c have no feature name in common");
	kdr_prep_free(prep);
	assert_int_equal(kdr_prepare(ctx, tasks, 3,
	                             &(kdr_prep_options){ .size = sizeof(kdr_prep_options),
	                                                  .align = KDR_ALIGN_INTERSECT },
	                             NULL),
	                 KDR_OK); /* now all have all */
	for (int t = 0; t < 3; t++) {
		assert_int_equal(tasks[t]->cols, 10);
		kdr_data_free(tasks[t]);
	}
	kdr_context_free(ctx);
}

static int remember(void *user, const kdr_event *event)
{
	const char *what = event->kind == KDR_EVENT_WARNING ? "warning: " : "";
	if (event->message)
		strcat(strcat(strcat(user, what), event->message), "\n");
	return 0;
}

static void apply__names_moved_unknown_and_missing__found_by_name(void **state)
{
	(void)state;
	char told[2048] = "";
	pair p = make("x y z", 0);
	kdr_context_set_progress(p.ctx, remember, told);
	assert_ok(p.ctx, align(&p, KDR_ALIGN_UNION));
	for (int sparse = 0; sparse < 2; sparse++) {
		kdr_data *n = dense_data(p.ctx, "new", 1, 3, (double[]){ 7, 8, 9 }, "z odd x");
		kdr_data *s = sparse_copy(p.ctx, n), *d = sparse ? s : n;
		told[0] = '\0';
		assert_ok(p.ctx, kdr_prep_apply(p.ctx, p.prep, 0, d));
		assert_features(d, "x y z");
		assert_near(entry(d, 0, 0), 9, 0);
		assert_near(entry(d, 0, 1), 0, 0);
		assert_near(entry(d, 0, 2), 7, 0);
		assert_non_null(strstr(told, "'odd' skipped"));
		assert_non_null(strstr(told, "no feature 'y'"));
		kdr_data_free(n);
		kdr_data_free(s);
	}
	kdr_data *wide = dense_data(p.ctx, "new", 1, 4, (double[]){ 7, 8, 9, 1 }, NULL);
	assert_int_equal(kdr_prep_apply(p.ctx, p.prep, 0, wide), KDR_ERR_DATA);
	kdr_data *strange = dense_data(p.ctx, "new", 1, 2, (double[]){ 7, 8 }, "p q");
	assert_int_equal(kdr_prep_apply(p.ctx, p.prep, 0, strange), KDR_ERR_DATA);
	assert_features(strange, "p q");
	kdr_data_free(wide);
	kdr_data_free(strange);
	drop(&p);
}

/* Against a direct search of the names, over random subsets and orders. */
static void union_and_intersect__random_subsets__as_a_direct_search(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(3, "test", 0);
	for (int round = 0; round < 200; round++) {
		kdr_data *tasks[3], *before[3];
		for (int t = 0; t < 3; t++) {
			char names[256] = "", pool[20];
			double x[3 * 20];
			int64_t cols = 1 + kdri_rng_below(&rng, 20);
			for (int j = 0; j < 20; j++)
				pool[j] = (char)('a' + j);
			for (int64_t j = 0; j < cols; j++) { /* a random choice in random order */
				int64_t s = j + kdri_rng_below(&rng, 20 - j);
				char c = pool[s];
				pool[s] = pool[j];
				pool[j] = c;
				strncat(strncat(names, &c, 1), " ", 2);
			}
			for (int i = 0; i < 60; i++)
				x[i] = (double)kdri_rng_below(&rng, 3);
			before[t] = dense_data(ctx, "t", 3, cols, x, names);
			tasks[t] = kdri_rng_below(&rng, 2) ? sparse_copy(ctx, before[t])
			                                   : dense_data(ctx, "t", 3, cols, x, names);
		}
		bool all = round % 2;
		kdr_prep_options o = { .size = sizeof(kdr_prep_options),
			               .align = all ? KDR_ALIGN_INTERSECT : KDR_ALIGN_UNION };
		kdr_status st = kdr_prepare(ctx, tasks, 3, &o, NULL);
		int64_t shared = 0;
		for (char c = 'a'; c < 'a' + 20; c++) {
			int has = 0;
			for (int t = 0; t < 3; t++)
				for (int64_t j = 0; j < before[t]->cols; j++)
					has += before[t]->features[j][0] == c;
			shared += all ? has == 3 : has > 0;
		}
		assert_int_equal(st, shared ? KDR_OK : KDR_ERR_DATA);
		for (int t = 0; t < 3; t++) {
			if (!shared)
				assert_same_data(tasks[t], before[t], 0);
			else
				assert_int_equal(tasks[t]->cols, shared);
			for (int64_t k = 0; k < tasks[t]->cols; k++)
				for (int64_t i = 0; i < 3; i++) {
					double want = 0;
					for (int64_t j = 0; j < before[t]->cols; j++)
						if (strcmp(before[t]->features[j], tasks[t]->features[k]) ==
						    0)
							want = entry(before[t], i, j);
					assert_near(entry(tasks[t], i, k), want, 0);
				}
			assert_same_data(tasks[t], tasks[t], 0);
		}
		for (int t = 0; t < 3; t++) {
			kdr_data_free(tasks[t]);
			kdr_data_free(before[t]);
		}
	}
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(union__other_order_and_names__first_order_then_new),
		cmocka_unit_test(intersect__other_order__first_order),
		cmocka_unit_test(union__same_names_same_order__nothing_moves_nothing_told),
		cmocka_unit_test(position__names_differ__first_names_and_a_warning),
		cmocka_unit_test(default__one_task_unnamed__by_position),
		cmocka_unit_test(position__counts_differ__error_names_both),
		cmocka_unit_test(by_name__name_twice__error_names_both_columns),
		cmocka_unit_test(by_name__nothing_shared__told_with_names),
		cmocka_unit_test(union__many_missing__a_few_are_named),
		cmocka_unit_test(apply__names_moved_unknown_and_missing__found_by_name),
		cmocka_unit_test(union_and_intersect__random_subsets__as_a_direct_search),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
