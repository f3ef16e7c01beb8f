/* auto as a whole. SPDX-License-Identifier: BSD-3-Clause */
#include "engine/metrics/metrics.h"
#include "tests/unit/unit.h"

enum { TASKS = 3, D = 96, K = 3 };
static const int64_t sizes[TASKS] = { 70, 60, 50 };

/* Related tasks: the same clusters in the same columns, with an offset of each task's own. */
typedef struct tasks {
	double *x[TASKS];
	kdr_task list[TASKS];
} tasks;

static tasks make(double noise, int64_t k)
{
	static const char *const names[] = { "a", "b", "c" };
	tasks s = { 0 };
	for (int t = 0; t < TASKS; t++) {
		kdri_rng rng = kdri_rng_stream(21, "auto", (uint64_t)t);
		s.x[t] = calloc((size_t)(sizes[t] * D), sizeof(double));
		for (int64_t i = 0; i < sizes[t]; i++)
			for (int64_t j = 0; j < D; j++)
				s.x[t][i * D + j] = (j % K == i % K ? 1 : 0) + (j == t ? 0.5 : 0) +
				                    noise * kdri_rng_normal(&rng);
		s.list[t] =
		        (kdr_task){ .name = names[t], .x = kdr_mat_from_dense(s.x[t], sizes[t], D), .k = k };
	}
	return s;
}

static void release(tasks *s)
{
	for (int t = 0; t < TASKS; t++)
		free(s->x[t]);
}

static kdr_result *fit(kdr_context *ctx, const kdr_task *list, int64_t count, const char *transfer)
{
	kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = list, .ntasks = count };
	kdr_options *options = NULL;
	kdr_result *r = NULL;
	assert_ok(ctx, kdr_options_new(ctx, "auto", &options));
	assert_ok(ctx, kdr_options_set(ctx, options, "transfer", transfer));
	assert_ok(ctx, kdr_fit(ctx, "auto", &problem, options, &r));
	kdr_options_free(options);
	return r;
}

static double nmi(kdr_context *ctx, const int64_t *a, const int64_t *b, int64_t n)
{
	kdr_scores s;
	assert_ok(ctx, kdr_evaluate(ctx, a, b, n, &s));
	return s.nmi;
}

static double number(const kdr_result *r, const char *name)
{
	double value = NAN;
	const char *text;
	for (int64_t i = 0; i < kdr_result_field_count(r); i++)
		if (strcmp(kdr_result_field_at(r, i, &value, &text), name) == 0)
			return value;
	return NAN;
}

static const char *text_of(const kdr_result *r, const char *name)
{
	double value;
	const char *text;
	for (int64_t i = 0; i < kdr_result_field_count(r); i++)
		if (strcmp(kdr_result_field_at(r, i, &value, &text), name) == 0)
			return text;
	return NULL;
}

static void fit__clear_clusters__are_found_with_confidence(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	tasks s = make(0.3, K);
	kdr_result *r = fit(ctx, s.list, TASKS, "true");
	for (int t = 0; t < TASKS; t++) {
		int64_t truth[128];
		for (int64_t i = 0; i < sizes[t]; i++)
			truth[i] = i % K;
		assert_near(nmi(ctx, kdr_result_labels(r, t, NULL), truth, sizes[t]), 1, 1e-12);
		kdr_array c = kdr_result_array(r, "confidence", t),
		          q = kdr_result_array(r, "match_quality", t);
		for (int64_t i = 0; i < sizes[t]; i++)
			assert_true(((const double *)c.data)[i] > 0.6 && ((const double *)c.data)[i] <= 1);
		for (int64_t i = 0; i < TASKS * K; i++)
			assert_true(((const double *)q.data)[i] > 0.5);
	}
	assert_near(number(r, "agreement_alone.a"), 1, 1e-12);
	assert_near(number(r, "moved.b"), 0, 0);
	assert_true(number(r, "predict_agreement.c") > 0.99);
	assert_non_null(strstr(text_of(r, "advice.a"), "less than 1 %"));
	assert_int_equal(kdr_result_correspondence_count(r), TASKS * (TASKS - 1));
	assert_non_null(kdr_result_relatedness(r));
	kdr_result_free(r);
	release(&s);
	kdr_context_free(ctx);
}

static void fit__one_task__equals_that_without_transfer(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	tasks s = make(1.2, K);
	kdr_result *with = fit(ctx, s.list, 1, "true"), *without = fit(ctx, s.list, 1, "false");
	assert_memory_equal(kdr_result_labels(with, 0, NULL), kdr_result_labels(without, 0, NULL),
	                    (size_t)sizes[0] * sizeof(int64_t));
	assert_int_equal(kdr_result_correspondence_count(with), 0);
	assert_null(kdr_result_relatedness(with));
	kdr_result_free(with);
	kdr_result_free(without);
	release(&s);
	kdr_context_free(ctx);
}

/* How many samples moved: those whose cluster differs from what `transfer=false` gives. */
static int64_t moved_is_the_difference(kdr_context *ctx, const kdr_task *list)
{
	kdr_result *with = fit(ctx, list, TASKS, "true"), *without = fit(ctx, list, TASKS, "false");
	int64_t any = 0;
	for (int t = 0; t < TASKS; t++) {
		const int64_t *a = kdr_result_labels(with, t, NULL), *b = kdr_result_labels(without, t, NULL);
		const int64_t *moved = kdr_result_array(with, "moved", t).data;
		double cost[K * K] = { 0 };
		int64_t map[K];
		for (int64_t i = 0; i < sizes[t]; i++)
			cost[b[i] * K + a[i]]--;
		assert_ok(ctx, kdri_assign_checked(ctx, cost, K, K, map, NULL));
		for (int64_t i = 0; i < sizes[t]; i++) {
			assert_int_equal(map[b[i]] != a[i], moved[i]);
			any += moved[i];
		}
	}
	kdr_result_free(with);
	kdr_result_free(without);
	return any;
}

/* On data whose mean is taken away too. */
static void fit__moved__is_the_difference_from_that_without_transfer(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	tasks s = make(1.6, K);
	assert_true(moved_is_the_difference(ctx, s.list) > 0);
	release(&s);
	kdr_context_free(ctx);
}

/* Most entries zero, none negative: a task that looks like counts of words. */
static void thin_out(double *x, int64_t count)
{
	for (int64_t i = 0; i < count; i++)
		x[i] = x[i] > 3 ? x[i] : 0;
}

/* The mean is subtracted from the others and not from the first: that one is analysed separately, with and without
 * the other tasks. */
static void fit__moved__also_where_tasks_look_different(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	tasks s = make(1.6, K);
	thin_out(s.x[0], sizes[0] * D);
	assert_true(moved_is_the_difference(ctx, s.list) > 0);
	release(&s);
	kdr_context_free(ctx);
}

/* With few columns the first is compared by cosine and the others by distance: there is no view of all of them. */
static void fit__tasks_compared_differently__have_no_vote_on_each_other_and_are_told(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	tasks s = make(1.2, K);
	bool said = false;
	thin_out(s.x[0], sizes[0] * D);
	for (int t = 0; t < TASKS; t++)
		s.list[t].x = kdr_mat_from_dense(s.x[t], sizes[t], 48);
	assert_int_equal(moved_is_the_difference(ctx, s.list), 0);
	kdr_result *r = fit(ctx, s.list, TASKS, "true");
	for (int64_t i = 0; i < kdr_result_warning_count(r); i++)
		said |= strstr(kdr_result_warning_at(r, i), "do not vote on each other") != NULL;
	assert_true(said);
	assert_null(strstr(text_of(r, "advice.a"), "large"));
	const double *near = kdr_result_relatedness(r);
	for (int64_t p = 0; p < (int64_t)TASKS * TASKS; p++)
		assert_true(near[p] >= 0 && near[p] <= 1);
	kdr_result_free(r);
	release(&s);
	kdr_context_free(ctx);
}

static void fit__without_transfer__equals_each_task_alone_in_any_order(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	tasks s = make(1.2, K);
	kdr_task turned[TASKS] = { s.list[2], s.list[0], s.list[1] };
	kdr_result *all = fit(ctx, s.list, TASKS, "false"), *other = fit(ctx, turned, TASKS, "false");
	for (int t = 0; t < TASKS; t++) {
		kdr_result *alone = fit(ctx, &s.list[t], 1, "true");
		size_t bytes = (size_t)sizes[t] * sizeof(int64_t);
		assert_memory_equal(kdr_result_labels(all, t, NULL), kdr_result_labels(alone, 0, NULL),
		                    bytes);
		assert_memory_equal(kdr_result_labels(all, t, NULL),
		                    kdr_result_labels(other, (t + 1) % TASKS, NULL), bytes);
		kdr_result_free(alone);
	}
	kdr_result_free(all);
	kdr_result_free(other);
	release(&s);
	kdr_context_free(ctx);
}

static void fit__samples_and_tasks_in_another_order__the_same_clusters(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	tasks s = make(0.5, K);
	kdr_task turned[TASKS];
	double *reversed[TASKS];
	for (int t = 0; t < TASKS; t++) {
		reversed[t] = calloc((size_t)(sizes[t] * D), sizeof(double));
		for (int64_t i = 0; i < sizes[t]; i++)
			memcpy(reversed[t] + i * D, s.x[t] + (sizes[t] - 1 - i) * D, D * sizeof(double));
		turned[TASKS - 1 - t] = s.list[t];
		turned[TASKS - 1 - t].x = kdr_mat_from_dense(reversed[t], sizes[t], D);
	}
	kdr_result *a = fit(ctx, s.list, TASKS, "true"), *b = fit(ctx, turned, TASKS, "true");
	for (int t = 0; t < TASKS; t++) {
		const int64_t *x = kdr_result_labels(a, t, NULL),
		              *y = kdr_result_labels(b, TASKS - 1 - t, NULL);
		int64_t back[128];
		for (int64_t i = 0; i < sizes[t]; i++)
			back[i] = y[sizes[t] - 1 - i];
		assert_near(nmi(ctx, x, back, sizes[t]), 1, 1e-12);
		free(reversed[t]);
	}
	kdr_result_free(a);
	kdr_result_free(b);
	release(&s);
	kdr_context_free(ctx);
}

/* Tasks without names, of one size or of several. */
static void fit__tasks_in_another_order__the_same_bits_of_everything(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	tasks s = make(1.2, K);
	for (int same = 0; same < 2; same++) {
		kdr_task list[TASKS], turned[TASKS];
		for (int t = 0; t < TASKS; t++) {
			list[t] = s.list[t];
			list[t].name = NULL;
			list[t].k = K + (t == 1);
			list[t].x = kdr_mat_from_dense(s.x[t], same ? 50 : sizes[t], D);
			turned[(t + 1) % TASKS] = list[t];
		}
		kdr_result *a = fit(ctx, list, TASKS, "true"), *b = fit(ctx, turned, TASKS, "true");
		const double *near = kdr_result_relatedness(a), *other = kdr_result_relatedness(b);
		for (int t = 0; t < TASKS; t++) {
			const int u = (t + 1) % TASKS;
			const int64_t n = kdr_mat_rows(&list[t].x);
			char field[2][32];
			assert_near(nmi(ctx, kdr_result_labels(a, t, NULL), kdr_result_labels(b, u, NULL), n),
			            1, 1e-12);
			assert_int_equal(kdr_result_k(a, t), kdr_result_k(b, u));
			assert_memory_equal(kdr_result_array(a, "confidence", t).data,
			                    kdr_result_array(b, "confidence", u).data,
			                    (size_t)n * sizeof(double));
			snprintf(field[0], sizeof field[0], "moved.%d", t + 1);
			snprintf(field[1], sizeof field[1], "moved.%d", u + 1);
			assert_true(number(a, field[0]) == number(b, field[1]));
			for (int v = 0; v < TASKS; v++) {
				const int64_t k = kdr_result_k(a, t);
				const double *q = kdr_result_array(a, "match_quality", t).data,
				             *r = kdr_result_array(b, "match_quality", u).data;
				double sums[2] = { 0 };
				assert_true(near[t * TASKS + v] == other[u * TASKS + (v + 1) % TASKS]);
				for (int64_t z = 0; z < k; z++) { /* clusters may have other numbers */
					sums[0] += q[v * k + z];
					sums[1] += r[(v + 1) % TASKS * k + z];
				}
				assert_near(sums[0], sums[1], 1e-12);
			}
		}
		kdr_result_free(a);
		kdr_result_free(b);
	}
	release(&s);
	kdr_context_free(ctx);
}

static void fit__any_number_of_threads__the_same_bits(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	tasks s = make(1.2, K);
	kdr_context_set_threads(ctx, 1);
	kdr_result *one = fit(ctx, s.list, TASKS, "true");
	for (int threads = 2; threads <= 4; threads += 2) { /* side by side, and one after another */
		kdr_context_set_threads(ctx, threads);
		kdr_result *many = fit(ctx, s.list, TASKS, "true");
		assert_int_equal(kdr_result_array_count(one), kdr_result_array_count(many));
		for (int64_t i = 0; i < kdr_result_array_count(one); i++) {
			kdr_array x = kdr_result_array_at(one, i), y = kdr_result_array_at(many, i);
			size_t count = 1;
			for (int a = 0; a < x.ndim; a++)
				count *= (size_t)x.shape[a];
			assert_string_equal(x.name, y.name);
			assert_memory_equal(x.data, y.data, count * sizeof(double));
		}
		for (int t = 0; t < TASKS; t++)
			assert_memory_equal(kdr_result_labels(one, t, NULL), kdr_result_labels(many, t, NULL),
			                    (size_t)sizes[t] * sizeof(int64_t));
		kdr_result_free(many);
	}
	kdr_result_free(one);
	release(&s);
	kdr_context_free(ctx);
}

static void fit__k_to_be_found__one_for_all_or_one_for_each(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	for (int same = 0; same < 2; same++) {
		tasks s = make(0.3, 0);
		kdr_options *options = NULL;
		kdr_result *r = NULL;
		kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = s.list, .ntasks = TASKS };
		assert_ok(ctx, kdr_options_new(ctx, "auto", &options));
		assert_ok(ctx, kdr_options_set_number(ctx, options, "same_k", same));
		assert_ok(ctx, kdr_options_set_number(ctx, options, "k_max", 8));
		assert_ok(ctx, kdr_fit(ctx, "auto", &problem, options, &r));
		for (int t = 0; t < TASKS; t++) {
			assert_int_equal(kdr_result_k(r, t), K);
			assert_int_equal(kdr_result_array(r, "eigengap", t).shape[0], 7);
			assert_int_equal(kdr_result_array(r, "k_agreement", t).shape[0], 7);
		}
		assert_non_null(strstr(text_of(r, same ? "k_evidence" : "k_evidence.b"),
		                       "right for 32 % of the test data sets"));
		kdr_result_free(r);
		kdr_options_free(options);
		release(&s);
	}
	kdr_context_free(ctx);
}

static void fit__no_time__labels_all_the_same_and_says_who_was_left_out(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	tasks s = make(0.3, K);
	kdr_context_set_time_limit(ctx, 1e-9);
	kdr_result *r = fit(ctx, s.list, TASKS, "true");
	bool said = false;
	assert_int_equal(kdr_result_stop(r), KDR_STOP_TIME);
	for (int t = 0; t < TASKS; t++) {
		int64_t most = 0;
		for (int64_t i = 0; i < sizes[t]; i++) {
			assert_in_range(kdr_result_labels(r, t, NULL)[i], 0, K - 1);
			most = KDRI_MAX(most, kdr_result_labels(r, t, NULL)[i]);
		}
		assert_int_equal(most, K - 1);
	}
	for (int64_t i = 0; i < kdr_result_warning_count(r); i++)
		said |= strstr(kdr_result_warning_at(r, i), "time limit reached: method 'mtcfir'") != NULL;
	assert_true(said);
	kdr_result_free(r);
	release(&s);
	kdr_context_free(ctx);
}

static void fit__time_enough__as_without_a_limit(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	tasks s = make(0.3, K);
	kdr_result *free_of_it = fit(ctx, s.list, TASKS, "true");
	kdr_context_set_time_limit(ctx, 1e6);
	kdr_result *limited = fit(ctx, s.list, TASKS, "true");
	assert_int_equal(kdr_result_stop(limited), KDR_STOP_CONVERGED);
	assert_int_equal(kdr_result_warning_count(limited), kdr_result_warning_count(free_of_it));
	for (int t = 0; t < TASKS; t++) {
		kdr_array a = kdr_result_array(free_of_it, "confidence", t),
		          b = kdr_result_array(limited, "confidence", t);
		assert_memory_equal(kdr_result_labels(free_of_it, t, NULL),
		                    kdr_result_labels(limited, t, NULL), (size_t)sizes[t] * sizeof(int64_t));
		assert_memory_equal(a.data, b.data, (size_t)sizes[t] * sizeof(double));
	}
	kdr_result_free(free_of_it);
	kdr_result_free(limited);
	release(&s);
	kdr_context_free(ctx);
}

static void fit__samples_alike_or_empty_or_few__still_labels(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	static double zeros[12 * 80], ones[12 * 80], mixed[12 * 80];
	for (int p = 0; p < 12 * 80; p++) {
		ones[p] = 1;
		mixed[p] = p / 80 < 3 ? 0 : (p / 80 == p % 80 ? 2 : 1); /* rows of zeros among others */
	}
	static double *const data[] = { zeros, ones, mixed };
	for (int64_t n = 1; n <= 12; n++)
		for (int d = 0; d < 3; d++) {
			kdr_task list[2] = {
				{ .name = "a", .x = kdr_mat_from_dense(data[d], n, 80), .k = n > 1 ? 2 : 1 },
				{ .name = "b", .x = kdr_mat_from_dense(mixed, 12, 80), .k = 3 }
			};
			kdr_result *r = fit(ctx, list, 2, "true");
			for (int64_t i = 0; i < n; i++)
				assert_in_range(kdr_result_labels(r, 0, NULL)[i], 0, list[0].k - 1);
			kdr_result_free(r);
		}
	kdr_context_free(ctx);
}

static void fit__labels_given__start_the_last_step(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	tasks s = make(0.3, K);
	int64_t init[TASKS][128];
	for (int t = 0; t < TASKS; t++) {
		for (int64_t i = 0; i < sizes[t]; i++)
			init[t][i] = (i + 1) % K;
		s.list[t].init = init[t];
	}
	kdr_result *r = fit(ctx, s.list, TASKS, "true");
	for (int t = 0; t < TASKS; t++) /* their numbers are kept */
		assert_memory_equal(kdr_result_labels(r, t, NULL), init[t],
		                    (size_t)sizes[t] * sizeof(int64_t));
	kdr_result_free(r);
	release(&s);
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fit__clear_clusters__are_found_with_confidence),
		cmocka_unit_test(fit__one_task__equals_that_without_transfer),
		cmocka_unit_test(fit__moved__is_the_difference_from_that_without_transfer),
		cmocka_unit_test(fit__moved__also_where_tasks_look_different),
		cmocka_unit_test(fit__tasks_compared_differently__have_no_vote_on_each_other_and_are_told),
		cmocka_unit_test(fit__without_transfer__equals_each_task_alone_in_any_order),
		cmocka_unit_test(fit__samples_and_tasks_in_another_order__the_same_clusters),
		cmocka_unit_test(fit__tasks_in_another_order__the_same_bits_of_everything),
		cmocka_unit_test(fit__any_number_of_threads__the_same_bits),
		cmocka_unit_test(fit__k_to_be_found__one_for_all_or_one_for_each),
		cmocka_unit_test(fit__no_time__labels_all_the_same_and_says_who_was_left_out),
		cmocka_unit_test(fit__time_enough__as_without_a_limit),
		cmocka_unit_test(fit__samples_alike_or_empty_or_few__still_labels),
		cmocka_unit_test(fit__labels_given__start_the_last_step),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
