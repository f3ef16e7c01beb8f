/* auto of transfer: the vote, what it reports, and what it does with bad luck. */
#include "api/method.h"
#include "methods/transfer_auto/auto_transfer.h"
#include "tests/unit/unit.h"

enum { N = 90, D = 40, C = 3, SETS = 4 };

/* Words of three subjects; in odd sets half of each subject's words are others. Set 3 lacks the last subject. */
typedef struct sample {
	kdr_context *ctx;
	double x[SETS][N * D];
	int64_t labels[SETS][N];
	kdr_task tasks[SETS];
} sample;

static sample s; /* made anew for each test */

static void set_up(void)
{
	memset(&s, 0, sizeof s);
	s.ctx = unit_context();
	for (int t = 0; t < SETS; t++) {
		kdri_rng rng = kdri_rng_stream(11, "words", (uint64_t)t);
		for (int64_t i = 0; i < N; i++) {
			int64_t c = s.labels[t][i] = t == 3 ? i % 2 : i % C;
			for (int w = 0; w < 12; w++) {
				int64_t at = kdri_rng_below(&rng, 8);
				bool own = kdri_rng_uniform(&rng) < 0.55;
				/* 8 words a subject, the last 4 of which differ between even and odd sets; 16 common */
				int64_t word = !own ? kdri_rng_below(&rng, 16)
				                    : 16 + c * 8 + (t % 2 && at > 3 ? 11 - at : at);
				s.x[t][i * D + word] += 1;
			}
		}
		s.tasks[t] = (kdr_task){ .name = t == 0   ? "a"
			                         : t == 1 ? "b"
			                         : t == 2 ? "c"
			                                  : "d",
			                 .role = KDR_ROLE_TARGET,
			                 .x = kdr_mat_from_dense(s.x[t], N, D) };
	}
}

static kdr_task source_of(int t)
{
	kdr_task task = s.tasks[t];
	task.role = KDR_ROLE_SOURCE;
	task.labels = s.labels[t];
	return task;
}

static double accuracy(const kdr_result *r, int64_t task, const int64_t *truth)
{
	int64_t n, right = 0;
	const int64_t *labels = kdr_result_labels(r, task, &n);
	for (int64_t i = 0; i < n; i++)
		right += labels[i] == truth[i];
	return (double)right / (double)n;
}

static const char *text_of(const kdr_result *r, const char *key)
{
	for (int64_t i = 0; i < kdr_result_field_count(r); i++) {
		double number;
		const char *text = NULL;
		if (strcmp(kdr_result_field_at(r, i, &number, &text), key) == 0)
			return text;
	}
	return NULL;
}

static bool warns(const kdr_result *r, const char *what)
{
	for (int64_t i = 0; i < kdr_result_warning_count(r); i++)
		if (strstr(kdr_result_warning_at(r, i), what))
			return true;
	return false;
}

/* Sets 0 and 1 have no word in common. */
static void split_words(void)
{
	for (int64_t i = 0; i < N; i++)
		for (int64_t j = 0; j < D; j++)
			s.x[j % 2 ? 0 : 1][i * D + j] = 0;
}

static kdr_result *fit(const kdr_task *tasks, int64_t count)
{
	kdr_problem p = { .size = sizeof(kdr_problem), .tasks = tasks, .ntasks = count, .classes = C };
	kdr_result *r = NULL;
	assert_ok(s.ctx, kdr_fit(s.ctx, "auto-transfer", &p, NULL, &r));
	return r;
}

static void auto_transfer__shifted_words__right_and_sure_and_the_same_on_all_threads(void **state)
{
	(void)state;
	set_up();
	kdr_task tasks[] = { source_of(0), s.tasks[1] };
	kdr_context_set_threads(s.ctx, 1);
	kdr_result *one = fit(tasks, 2);
	kdr_context_set_threads(s.ctx, 4);
	kdr_result *many = fit(tasks, 2);
	int64_t n;
	assert_true(accuracy(one, 1, s.labels[1]) > 0.9);
	assert_memory_equal(kdr_result_labels(one, 1, &n), kdr_result_labels(many, 1, &n),
	                    N * sizeof(int64_t));
	kdr_array a = kdr_result_array(one, "confidence", 1), b = kdr_result_array(many, "confidence", 1);
	assert_true(a.data && a.ndim == 1 && a.shape[0] == N);
	assert_memory_equal(a.data, b.data, N * sizeof(double));
	double sum = 0;
	for (int64_t i = 0; i < N; i++) {
		double sure = ((const double *)a.data)[i];
		assert_true(sure >= 0 && sure <= 1);
		sum += sure / N;
	}
	assert_true(sum > 0.6);
	kdr_array shares = kdr_result_array(one, "shares", 1);
	for (int64_t c = 0; c < C; c++)
		assert_near(((const double *)shares.data)[2 * c], 1.0 / C, 1e-12);
	static const char *const methods[] = { "svm", "logreg" }, *const arrays[] = { "plain_svm",
		                                                                      "plain_logreg" };
	for (int k = 0; k < 2; k++) { /* what these methods say when they are called */
		kdr_problem problem = {
			.size = sizeof(kdr_problem), .tasks = tasks, .ntasks = 2, .classes = C
		};
		kdr_result *alone = NULL;
		assert_ok(s.ctx, kdr_fit(s.ctx, methods[k], &problem, NULL, &alone));
		assert_memory_equal(kdr_result_array(one, arrays[k], 1).data, kdr_result_labels(alone, 1, &n),
		                    N * sizeof(int64_t));
		kdr_result_free(alone);
	}
	assert_non_null(strstr(text_of(one, "advice.b"), "a plain SVM would label"));
	assert_non_null(strstr(text_of(one, "members"), "tri-factorisation"));
	kdr_result_free(one);
	kdr_result_free(many);
	kdr_context_free(s.ctx);
}

static void auto_transfer__two_sources_and_known_rows__each_is_weighed_and_known_ones_stay(void **state)
{
	(void)state;
	set_up();
	int64_t known[N];
	for (int64_t i = 0; i < N; i++)
		known[i] = i % 9 == 0 ? (s.labels[1][i] + 1) % C : -1;
	kdr_task tasks[] = { source_of(0), s.tasks[1], source_of(2), s.tasks[3] };
	tasks[1].labels = known;
	kdr_result *r = fit(tasks, 4);
	int64_t n;
	const int64_t *labels = kdr_result_labels(r, 1, &n);
	for (int64_t i = 0; i < N; i++)
		if (known[i] >= 0)
			assert_int_equal(labels[i], known[i]);
	assert_null(kdr_result_labels(r, 0, &n));
	assert_true(accuracy(r, 3, s.labels[3]) > 0.9);
	assert_non_null(strstr(text_of(r, "advice.a"), "leaving out this source"));
	assert_non_null(strstr(text_of(r, "advice.c.d"), "leaving out this source"));
	assert_true(warns(r, "d: few samples were labelled '2' (")); /* it has none */
	kdr_result_free(r);
	kdr_context_free(s.ctx);
}

/* A class that one source alone has is lost where the vote is held without it. */
static void auto_transfer__sources_with_different_classes__all_can_be_given(void **state)
{
	(void)state;
	set_up();
	int64_t first[N], second[N];
	for (int64_t i = 0; i < N; i++) {
		first[i] = s.labels[0][i] == 0 ? -1 : s.labels[0][i];
		second[i] = s.labels[2][i] == 2 ? -1 : s.labels[2][i];
	}
	kdr_task tasks[] = { source_of(0), source_of(2), s.tasks[1] };
	tasks[0].labels = first;
	tasks[1].labels = second;
	kdr_result *r = fit(tasks, 3);
	assert_true(accuracy(r, 2, s.labels[1]) > 0.8);
	assert_non_null(strstr(text_of(r, "advice.a"), "only this source has class '2'"));
	assert_non_null(strstr(text_of(r, "advice.c"), "only this source has class '0'"));
	kdr_result_free(r);
	kdr_context_free(s.ctx);
}

/* Votes of the five members that go by means for a class, of set 0's labels and with moved shares looked at or not. */
static int64_t centred_votes(const kdr_task *target, int64_t class, const char *follow, double *right)
{
	kdr_task tasks[] = { source_of(0), *target };
	kdr_problem p = { .size = sizeof(kdr_problem), .tasks = tasks, .ntasks = 2, .classes = C };
	kdr_options *o = NULL;
	kdr_result *r = NULL;
	int64_t count = 0;
	assert_ok(s.ctx, kdr_options_new(s.ctx, "auto-transfer", &o));
	assert_ok(s.ctx, kdr_options_set(s.ctx, o, "follow_shares", follow));
	assert_ok(s.ctx,
	          kdr_options_set(s.ctx, o, "gate", "0")); /* these sets overlap: it would exclude them */
	assert_ok(s.ctx, kdr_fit(s.ctx, "auto-transfer", &p, o, &r));
	kdr_array votes = kdr_result_array(r, "votes", 1);
	for (int64_t i = 3 * N; i < 8 * N; i++)
		count += ((const int64_t *)votes.data)[i] == class;
	*right = accuracy(r, 1, s.labels[target == &s.tasks[3] ? 3 : 1]);
	bool moved = target == &s.tasks[3],
	     asked = strstr(text_of(r, target->name[0] == 'd' ? "advice.d" : "advice.b"), "were run again");
	assert_true(asked == (moved && *follow == '1'));
	kdr_result_free(r);
	kdr_options_free(o);
	return count;
}

static void auto_transfer__shares_that_moved__members_that_centre_are_asked_again(void **state)
{
	(void)state;
	double once, again;
	set_up();
	int64_t before = centred_votes(&s.tasks[3], 2, "0", &once);
	int64_t after = centred_votes(&s.tasks[3], 2, "1", &again);
	assert_true(before > 10); /* they put samples into the class that the target lacks */
	assert_true(4 * after < 3 * before);
	assert_true(again >= once);
	for (int64_t c = 0; c < C; c++) { /* where nothing moved nothing is done */
		before = centred_votes(&s.tasks[1], c, "0", &once);
		assert_int_equal(before, centred_votes(&s.tasks[1], c, "1", &again));
		assert_true(once == again);
	}
	kdr_context_free(s.ctx);
}

static void auto_transfer__class_without_samples__nothing_is_put_into_it(void **state)
{
	(void)state;
	set_up();
	int64_t two[N];
	for (int64_t i = 0; i < N; i++)
		two[i] = s.labels[0][i] == 1 ? -1 : s.labels[0][i];
	kdr_task tasks[] = { source_of(0), s.tasks[1] };
	tasks[0].labels = two;
	kdr_result *r = fit(tasks, 2);
	int64_t n;
	const int64_t *labels = kdr_result_labels(r, 1, &n);
	for (int64_t i = 0; i < n; i++)
		assert_true(labels[i] == 0 || labels[i] == 2);
	kdr_result_free(r);
	kdr_context_free(s.ctx);
}

/* Source and target without a common feature: the factorisation fails, the others go on. */
static void auto_transfer__member_that_fails__is_left_out_and_named(void **state)
{
	(void)state;
	set_up();
	split_words();
	kdr_task tasks[] = { source_of(0), s.tasks[1] };
	kdr_result *r = fit(tasks, 2);
	assert_true(warns(r, "method 'tri-factorisation' was skipped"));
	assert_null(strstr(text_of(r, "members"), "tri-factorisation"));
	kdr_result_free(r);
	kdr_context_free(s.ctx);
}

/* The same, with a set that has all features between them: the members are bridge methods through it. */
static void auto_transfer__no_common_feature_and_a_bridge__goes_through_it(void **state)
{
	(void)state;
	set_up();
	split_words();
	kdr_task tasks[] = { source_of(0), s.tasks[2], s.tasks[1] };
	tasks[1].role = KDR_ROLE_BRIDGE;
	kdr_result *r = fit(tasks, 3);
	assert_non_null(strstr(text_of(r, "members"), "ttl through c"));
	assert_non_null(strstr(text_of(r, "members"), "nmtf through c"));
	if (accuracy(r, 2, s.labels[1]) < 0.6)
		fail_msg("%.2f right", accuracy(r, 2, s.labels[1]));
	kdr_result_free(r);
	kdr_context_free(s.ctx);
}

static int stop_at_once(void *user, const kdr_event *event)
{
	(void)user;
	return event->kind == KDR_EVENT_ITERATION;
}

static void auto_transfer__no_time_or_cancelled__keeps_the_first_member(void **state)
{
	(void)state;
	set_up();
	kdr_task tasks[] = { source_of(0), s.tasks[1] };
	kdr_context_set_time_limit(s.ctx, 1e-9);
	kdr_result *r = fit(tasks, 2);
	assert_int_equal(kdr_result_stop(r), KDR_STOP_TIME);
	assert_int_equal(strncmp(text_of(r, "members"), "svm 1.00", 8), 0);
	assert_true(kdr_result_warning_count(r) > 5);
	kdr_result_free(r);
	kdr_context_set_time_limit(s.ctx, 0);
	kdr_context_set_progress(s.ctx, stop_at_once, NULL);
	r = fit(tasks, 2);
	assert_int_equal(kdr_result_stop(r), KDR_STOP_CANCELLED);
	int64_t n;
	assert_non_null(kdr_result_labels(r, 1, &n));
	kdr_result_free(r);
	kdr_context_free(s.ctx);
}

/* Each member alone, and the model. */
static void auto_transfer__one_member__labels_alone(void **state)
{
	(void)state;
	set_up();
	kdr_task tasks[] = { source_of(0), s.tasks[1] };
	kdr_problem p = { .size = sizeof(kdr_problem), .tasks = tasks, .ntasks = 2, .classes = C };
	const kdr_algo *algo = kdri_algo_find_in(KDR_FAMILY_TRANSFER, "auto");
	assert_string_equal(algo->id, "auto-transfer");
	assert_string_equal(kdri_algo_find_in(KDR_FAMILY_CLUSTER, "auto")->id, "auto");
	assert_null(kdri_algo_find_in(KDR_FAMILY_CLUSTER, "svm"));
	for (int m = 1; m <= 10; m++) {
		kdr_options *o = NULL;
		kdr_result *r = NULL;
		assert_ok(s.ctx, kdr_options_new(s.ctx, algo->id, &o));
		assert_ok(s.ctx, kdr_options_set_number(s.ctx, o, "member", m));
		assert_ok(s.ctx, kdr_fit(s.ctx, algo->id, &p, o, &r));
		if (accuracy(r, 1, s.labels[1]) < 0.6)
			fail_msg("member %d: %.2f right", m, accuracy(r, 1, s.labels[1]));
		int64_t again[N], same = 0, n;
		assert_ok(s.ctx, kdri_algo_find(algo->id)->predict(s.ctx, r, o, 1, &tasks[1].x, again));
		for (int64_t i = 0; i < N; i++)
			same += again[i] == kdr_result_labels(r, 1, &n)[i];
		assert_true(same > 0.8 * N);
		kdr_result_free(r);
		kdr_options_free(o);
	}
	kdr_context_free(s.ctx);
}

/* A target without a class does not take it from the model: new samples may be of it. */
static void auto_transfer__target_lacks_a_class__the_model_knows_it_from_the_source(void **state)
{
	(void)state;
	set_up();
	kdr_task tasks[] = { source_of(0), s.tasks[3] };
	kdr_problem p = { .size = sizeof(kdr_problem), .tasks = tasks, .ntasks = 2, .classes = C };
	kdr_options *o = NULL;
	kdr_result *r = NULL;
	int64_t labels[N], right = 0, count = 0;
	assert_ok(s.ctx, kdr_options_new(s.ctx, "auto-transfer", &o));
	assert_ok(s.ctx, kdr_fit(s.ctx, "auto-transfer", &p, o, &r));
	assert_ok(s.ctx, kdri_algo_find("auto-transfer")->predict(s.ctx, r, o, 1, &s.tasks[2].x, labels));
	for (int64_t i = 0; i < N; i++) {
		count += s.labels[2][i] == C - 1;
		right += s.labels[2][i] == C - 1 && labels[i] == C - 1;
	}
	assert_true(right > 0.8 * (double)count);
	kdr_result_free(r);
	kdr_options_free(o);
	kdr_context_free(s.ctx);
}

/* On landmarks as right as on neighbours, the same on all threads and for sparse rows. */
static void auto_transfer__landmarks__as_right_and_the_same_for_threads_and_storage(void **state)
{
	(void)state;
	set_up();
	int64_t n, rowptr[2][N + 1] = { { 0 } };
	double val[2][N * D];
	int32_t col[2][N * D];
	kdr_task tasks[] = { source_of(0), s.tasks[1] };
	kdr_problem p = { .size = sizeof(kdr_problem), .tasks = tasks, .ntasks = 2, .classes = C };
	kdr_options *o = NULL;
	kdr_result *first = NULL;
	assert_ok(s.ctx, kdr_options_new(s.ctx, "auto-transfer", &o));
	assert_ok(s.ctx, kdr_options_set(s.ctx, o, "graph", "landmarks"));
	assert_ok(s.ctx, kdr_options_set_number(s.ctx, o, "landmarks", 50));
	for (int t = 0; t < 2; t++)
		for (int64_t i = 0, at = 0; i < N; i++) {
			for (int64_t j = 0; j < D; j++)
				if (s.x[t][i * D + j] != 0) {
					col[t][at] = (int32_t)j;
					val[t][at++] = s.x[t][i * D + j];
				}
			rowptr[t][i + 1] = at;
		}
	for (int trial = 0; trial < 3; trial++) {
		kdr_result *r = NULL;
		kdr_context_set_threads(s.ctx, trial == 1 ? 4 : 1);
		for (int t = 0; t < 2 && trial == 2; t++)
			tasks[t].x = kdr_mat_from_csr(N, D, rowptr[t], col[t], val[t]);
		assert_ok(s.ctx, kdr_fit(s.ctx, "auto-transfer", &p, o, &r));
		assert_true(accuracy(r, 1, s.labels[1]) > 0.9);
		if (first) {
			assert_memory_equal(kdr_result_labels(first, 1, &n), kdr_result_labels(r, 1, &n),
			                    N * sizeof(int64_t));
			const double *a = kdr_result_array(first, "confidence", 1).data,
			             *b = kdr_result_array(r, "confidence", 1).data;
			for (int64_t i = 0; i < N; i++)
				assert_near(a[i], b[i], trial == 1 ? 0 : 1e-3);
			kdr_result_free(r);
		} else {
			first = r;
		}
	}
	kdr_result_free(first);
	kdr_options_free(o);
	kdr_context_free(s.ctx);
}

/* `auto` joins to landmarks where neighbours cannot be found exactly: here those of all rows, for which the target is not searched. */
static void views__many_rows__are_joined_to_landmarks(void **state)
{
	(void)state;
	enum { FEW = 120, MANY = 260000, COLUMNS = 2 };
	kdr_context *ctx = unit_context();
	double *x = calloc((size_t)MANY * COLUMNS, sizeof *x);
	int64_t *labels = calloc(MANY, sizeof *labels);
	kdri_rng rng = kdri_rng_stream(7, "many", 0);
	for (int64_t i = 0; i < MANY; i++) {
		labels[i] = i % 2;
		for (int64_t j = 0; j < COLUMNS; j++)
			x[i * COLUMNS + j] = kdri_rng_normal(&rng) + 3 * (double)labels[i];
	}
	for (int trial = 0; trial < 3;
	     trial++) { /* few rows; many of them from the source; and set explicitly */
		const kdr_task tasks[] = {
			{ .name = "s",
			  .role = KDR_ROLE_SOURCE,
			  .x = kdr_mat_from_dense(x, trial == 0 ? FEW : MANY, COLUMNS),
			  .labels = labels },
			{ .name = "t", .role = KDR_ROLE_TARGET, .x = kdr_mat_from_dense(x, FEW, COLUMNS) },
		};
		const kdr_problem p = {
			.size = sizeof(kdr_problem), .tasks = tasks, .ntasks = 2, .classes = 2
		};
		const kdri_transfer_joins joins = { trial == 2 ? KDRI_JOINS_NEIGHBOURS : KDRI_JOINS_AUTO, 10,
			                            50 };
		kdri_domains d;
		kdri_transfer_views v;
		assert_ok(ctx, kdri_domains_new(ctx, &p, NULL, &d));
		assert_ok(ctx, kdri_transfer_views_new(ctx, &d, &joins, &v));
		assert_int_equal(v.graph.landmarks, trial == 1);
		assert_int_equal(kdr_mat_rows(&v.graph.edges.view), FEW);
		assert_int_equal(kdr_mat_cols(&v.graph.edges.view), trial == 1 ? 50 : FEW);
		kdri_transfer_views_free(ctx, &v);
		kdri_domains_free(ctx, &d);
	}
	free(x);
	free(labels);
	kdr_context_free(ctx);
}

/* More labelled rows than costs are chosen on; those of a class that is rare, and labels that are missing, among them. */
static void auto_transfer__many_labelled_rows__costs_are_those_of_some(void **state)
{
	(void)state;
	enum { FEW = 200, MANY = 40000, COLUMNS = 3, CLASSES = 3 };
	kdr_context *ctx = unit_context();
	double *x = calloc((size_t)MANY * COLUMNS, sizeof *x);
	int64_t *labels = calloc(MANY, sizeof *labels), truth[FEW];
	kdri_rng rng = kdri_rng_stream(9, "labelled", 0);
	for (int64_t i = 0; i < MANY; i++) {
		int64_t c = i % 1000 == 3 ? 2 : i % 2;
		if (i < FEW)
			truth[i] = c;
		labels[i] = i % 50 == 7 ? -1 : c;
		for (int64_t j = 0; j < COLUMNS; j++)
			x[i * COLUMNS + j] = kdri_rng_normal(&rng) + 8 * (double)(j == c);
	}
	const kdr_task tasks[] = {
		{ .name = "s",
		  .role = KDR_ROLE_SOURCE,
		  .x = kdr_mat_from_dense(x, MANY, COLUMNS),
		  .labels = labels },
		{ .name = "t", .role = KDR_ROLE_TARGET, .x = kdr_mat_from_dense(x, FEW, COLUMNS) },
	};
	const kdr_problem p = {
		.size = sizeof(kdr_problem), .tasks = tasks, .ntasks = 2, .classes = CLASSES
	};
	static const char *const members[] = { "svm", "aligned" };
	for (int m = 0; m < 2; m++) {
		kdr_result *r[2] = { NULL };
		int64_t n;
		for (int many = 0; many < 2; many++) {
			kdr_options *o = NULL;
			kdr_context_set_threads(ctx, many ? 4 : 1);
			assert_ok(ctx, kdr_options_new(ctx, "auto-transfer", &o));
			assert_ok(ctx, kdr_options_set(ctx, o, "graph", "landmarks"));
			assert_ok(ctx, kdr_options_set(ctx, o, "landmarks", "50"));
			assert_ok(ctx, kdr_options_set(ctx, o, "member", members[m]));
			assert_ok(ctx, kdr_fit(ctx, "auto-transfer", &p, o, &r[many]));
			kdr_options_free(o);
		}
		assert_true(accuracy(r[0], 1, truth) > 0.97);
		assert_memory_equal(kdr_result_array(r[0], "probabilities", 1).data,
		                    kdr_result_array(r[1], "probabilities", 1).data,
		                    FEW * CLASSES * sizeof(double));
		assert_memory_equal(kdr_result_labels(r[0], 1, &n), kdr_result_labels(r[1], 1, &n),
		                    FEW * sizeof(int64_t));
		kdr_result_free(r[0]);
		kdr_result_free(r[1]);
	}
	free(x);
	free(labels);
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(auto_transfer__shifted_words__right_and_sure_and_the_same_on_all_threads),
		cmocka_unit_test(
		        auto_transfer__two_sources_and_known_rows__each_is_weighed_and_known_ones_stay),
		cmocka_unit_test(auto_transfer__sources_with_different_classes__all_can_be_given),
		cmocka_unit_test(auto_transfer__shares_that_moved__members_that_centre_are_asked_again),
		cmocka_unit_test(auto_transfer__class_without_samples__nothing_is_put_into_it),
		cmocka_unit_test(auto_transfer__member_that_fails__is_left_out_and_named),
		cmocka_unit_test(auto_transfer__no_common_feature_and_a_bridge__goes_through_it),
		cmocka_unit_test(auto_transfer__no_time_or_cancelled__keeps_the_first_member),
		cmocka_unit_test(auto_transfer__one_member__labels_alone),
		cmocka_unit_test(auto_transfer__target_lacks_a_class__the_model_knows_it_from_the_source),
		cmocka_unit_test(auto_transfer__landmarks__as_right_and_the_same_for_threads_and_storage),
		cmocka_unit_test(views__many_rows__are_joined_to_landmarks),
		cmocka_unit_test(auto_transfer__many_labelled_rows__costs_are_those_of_some),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
