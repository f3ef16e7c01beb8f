/* What every registered method must keep, found through the registry: a new method is tested by being listed.
 */
#include "tests/unit/unit.h"

/* The third task is a bridge, for methods that take one. */
enum { TASKS = 3, D = 6, K = 3 };
static const int64_t sizes[TASKS] = { 60, 45, 50 };

static int64_t count_of(const kdr_algo *algo)
{
	return algo->flags & KDR_ALGO_BRIDGE ? 3 : 2;
}

/* Non-negative, with zeros, and clusters a method can find; the same in every run. */
typedef struct problem_data {
	double *dense[TASKS];
	int64_t *rowptr[TASKS];
	int32_t *col[TASKS];
	double *val[TASKS];
	int64_t *labels[TASKS];
	kdr_task tasks[TASKS];
} problem_data;

static void make(problem_data *p, const kdr_algo *algo, bool sparse)
{
	bool transfer = algo->family == KDR_FAMILY_TRANSFER;
	for (int t = 0; t < TASKS; t++) {
		int64_t n = sizes[t], nnz = 0;
		kdri_rng rng = kdri_rng_stream(3, "conformance", (uint64_t)t);
		p->dense[t] = calloc((size_t)(n * D), sizeof(double));
		p->rowptr[t] = calloc((size_t)n + 1, sizeof(int64_t));
		p->col[t] = calloc((size_t)(n * D), sizeof(int32_t));
		p->val[t] = calloc((size_t)(n * D), sizeof(double));
		p->labels[t] = calloc((size_t)n, sizeof(int64_t));
		for (int64_t i = 0; i < n; i++) {
			int64_t c = p->labels[t][i] = (i + t) % K; /* first seen in another order */
			for (int j = 0; j < D; j++) {
				double x = kdri_rng_uniform(&rng) < 0.4 ? 0 : kdri_rng_uniform(&rng);
				if (j / 2 == c)
					x += 2 + kdri_rng_uniform(&rng);
				p->dense[t][i * D + j] = x;
				if (x != 0) {
					p->col[t][nnz] = j;
					p->val[t][nnz++] = x;
				}
			}
			p->rowptr[t][i + 1] = nnz;
		}
		p->tasks[t] = (kdr_task){
			.name = t == 0   ? "a"
			        : t == 1 ? "b"
			                 : "bridge",
			.role = !transfer ? KDR_ROLE_TASK
			        : t == 0  ? KDR_ROLE_SOURCE
			        : t == 1  ? KDR_ROLE_TARGET
			                  : KDR_ROLE_BRIDGE,
			.x = sparse ? kdr_mat_from_csr(n, D, p->rowptr[t], p->col[t], p->val[t])
			            : kdr_mat_from_dense(p->dense[t], n, D),
			.k = K,
			.labels = transfer && t == 0 ? p->labels[t] : NULL,
		};
	}
}

static void release(problem_data *p)
{
	for (int t = 0; t < TASKS; t++) {
		free(p->dense[t]);
		free(p->rowptr[t]);
		free(p->col[t]);
		free(p->val[t]);
		free(p->labels[t]);
	}
}

static kdr_result *fit(kdr_context *ctx, const kdr_algo *algo, bool sparse, int threads)
{
	problem_data p;
	kdr_result *result = NULL;
	make(&p, algo, sparse);
	kdr_problem problem = { .size = sizeof(kdr_problem),
		                .tasks = p.tasks,
		                .ntasks = count_of(algo),
		                .classes = algo->family == KDR_FAMILY_TRANSFER ? K : 0 };
	kdr_context_set_threads(ctx, threads);
	assert_ok(ctx, kdr_fit(ctx, algo->id, &problem, NULL, &result));
	release(&p);
	return result;
}

static void assert_same_labels(const kdr_algo *algo, const kdr_result *a, const kdr_result *b,
                               const char *what)
{
	for (int64_t t = 0; t < count_of(algo); t++) {
		int64_t n;
		const int64_t *x = kdr_result_labels(a, t, &n), *y = kdr_result_labels(b, t, &n);
		if (!x != !y || (x && memcmp(x, y, (size_t)n * sizeof *x) != 0))
			fail_msg("%s: labels of task %lld differ: %s", algo->id, (long long)t, what);
	}
}

/* trec's default rule is learnt by LIBSVM: a build without it has no fit of trec's to look at. */
static const kdr_algo *in_this_build(const kdr_algo *algo)
{
	return strcmp(algo->id, "trec") == 0 && !kdr_build_has("libsvm") ? NULL : algo;
}

#define FOR_EACH_METHOD(algo) \
	for (size_t index_ = 0; index_ < kdr_algo_count(); index_++) \
		for (const kdr_algo *algo = in_this_build(kdr_algo_at(index_)); algo; algo = NULL)

static void registry__every_method__is_complete(void **state)
{
	(void)state;
	FOR_EACH_METHOD(a)
	{
		assert_true(a->id && a->id[0] && a->title && a->title[0] && a->summary && a->summary[0]);
		assert_true(a->options && a->fields && a->references && a->references[0]);
		const char *const texts[] = { a->objective, a->steps, a->use, a->cost };
		for (int i = 0; i < 4; i++)
			assert_true(texts[i] && strlen(texts[i]) > 20 &&
			            texts[i][strlen(texts[i]) - 1] != '\n');
		assert_ptr_equal(kdr_algo_find(a->id), a);
		const kdri_algo *inner = kdri_algo_find(a->id);
		assert_non_null(inner->fit);
		assert_int_equal(inner->predict != NULL, (a->flags & KDR_ALGO_PREDICT) != 0);
		for (const kdr_option_desc *o = a->options; o->name; o++) {
			assert_true(o->help && o->help[0]);
			assert_true(o->type != KDR_OPTION_CHOICE || (o->choices && o->choices[0]));
		}
		for (const kdr_field_desc *f = a->fields; f->name; f++)
			assert_true(f->help && f->help[0] && f->shape && f->shape[0]);
	}
}

/* Second choices and probabilities come from it. */
static void registry__methods_that_give_classes__mark_one_array_of_scores(void **state)
{
	(void)state;
	for (size_t i = 0; i < kdr_algo_count(); i++) {
		const kdr_algo *algo = kdr_algo_at(i);
		int marked = 0;
		for (const kdr_field_desc *f = algo->fields; f && f->name; f++) {
			if (f->scoring == KDR_SCORING_NONE)
				continue;
			marked++;
			assert_true(f->per_task && f->type == KDR_FLOAT64);
			assert_string_equal(f->shape, algo->family == KDR_FAMILY_TRANSFER &&
			                                              strcmp(algo->id, "lssttc") != 0
			                                      ? "n x classes"
			                                      : "n x k");
		}
		assert_true(marked <= 1);
		if (algo->family == KDR_FAMILY_TRANSFER && !(algo->flags & KDR_ALGO_CLUSTERS_TARGET))
			assert_int_equal(marked, 1);
	}
}

static void options__every_default__is_allowed(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	FOR_EACH_METHOD(a)
	{
		kdr_options *options = NULL;
		assert_ok(ctx, kdr_options_new(ctx, a->id, &options));
		for (const kdr_option_desc *o = a->options; o->name; o++)
			assert_ok(ctx, kdr_options_set_number(ctx, options, o->name,
			                                      kdr_options_get(options, o->name)));
		kdr_options_free(options);
	}
	kdr_context_free(ctx);
}

static void fit__dense_and_sparse__same_labels(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	FOR_EACH_METHOD(a)
	{
		kdr_result *dense = fit(ctx, a, false, 1), *sparse = fit(ctx, a, true, 1);
		assert_same_labels(a, dense, sparse, "dense against sparse");
		kdr_result_free(dense);
		kdr_result_free(sparse);
	}
	kdr_context_free(ctx);
}

static void fit__one_thread_and_many__same_bits(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	FOR_EACH_METHOD(a)
	{
		kdr_result *one = fit(ctx, a, false, 1), *many = fit(ctx, a, false, 3);
		int64_t n, m;
		const double *x = kdr_result_objective(one, &n), *y = kdr_result_objective(many, &m);
		assert_same_labels(a, one, many, "one thread against three");
		assert_int_equal(n, m);
		assert_memory_equal(x, y, (size_t)n * sizeof *x);
		kdr_result_free(one);
		kdr_result_free(many);
	}
	kdr_context_free(ctx);
}

static void fit__monotone_methods__objective_never_rises(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	FOR_EACH_METHOD(a)
	{
		kdr_result *r = fit(ctx, a, false, 2);
		int64_t n;
		const double *j = kdr_result_objective(r, &n);
		for (int64_t i = 1; (a->flags & KDR_ALGO_MONOTONE) && i < n; i++)
			if (j[i] > j[i - 1] + 1e-9 * fabs(j[i - 1]))
				fail_msg("%s: objective rises at %lld: %.17g to %.17g", a->id, (long long)i,
				         j[i - 1], j[i]);
		kdr_result_free(r);
	}
	kdr_context_free(ctx);
}

static void fit__every_method__labels_in_range_and_arrays_as_registered(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	FOR_EACH_METHOD(a)
	{
		kdr_result *r = fit(ctx, a, false, 2);
		int64_t iterations;
		for (int64_t t = 0; t < count_of(a); t++) {
			int64_t n;
			const int64_t *labels = kdr_result_labels(r, t, &n);
			for (int64_t i = 0; labels && i < n; i++)
				assert_true(labels[i] >= 0 && labels[i] < kdr_result_k(r, t));
		}
		const double *j = kdr_result_objective(r, &iterations);
		for (int64_t i = 0; i < iterations; i++)
			assert_true(isfinite(j[i]));
		for (int64_t i = 0; i < kdr_result_array_count(r); i++) {
			kdr_array array = kdr_result_array_at(r, i);
			const kdr_field_desc *f = a->fields;
			while (f->name && strcmp(f->name, array.name) != 0)
				f++;
			if (!f->name || f->type != array.type || f->per_task != (array.task >= 0))
				fail_msg("%s: array '%s' is not as registered", a->id, array.name);
		}
		kdr_result_free(r);
	}
	kdr_context_free(ctx);
}

/* Stages as they begin and end: the method itself, around all others. */
typedef struct stages {
	const char *method;
	int started, open;
} stages;

static int count_stages(void *user, const kdr_event *event)
{
	stages *s = user;
	if (s->open == 0) /* nothing comes before the method's start or after its end */
		assert_true(event->kind == KDR_EVENT_START && s->started == 0 &&
		            strcmp(event->stage, s->method) == 0);
	s->started += event->kind == KDR_EVENT_START;
	s->open += event->kind == KDR_EVENT_START ? 1 : event->kind == KDR_EVENT_END ? -1 : 0;
	if (s->open == 0)
		assert_string_equal(event->stage, s->method);
	return 0;
}

static void fit__every_method__is_one_stage_from_start_to_end(void **state)
{
	(void)state;
	FOR_EACH_METHOD(a)
	{
		kdr_context *ctx = unit_context();
		stages seen = { .method = a->id };
		kdr_context_set_progress(ctx, count_stages, &seen);
		kdr_result_free(fit(ctx, a, false, 2));
		assert_true(seen.started > 0);
		assert_int_equal(seen.open, 0);
		kdr_context_free(ctx);
	}
}

static int stop_at_once(void *user, const kdr_event *event)
{
	(void)user;
	return event->kind == KDR_EVENT_ITERATION;
}

/* Also if the time is over before the first product. */
static void fit__cancelled_or_out_of_time__keeps_a_valid_result(void **state)
{
	(void)state;
	for (int late = 0; late < 2; late++)
		FOR_EACH_METHOD(a)
		{
			kdr_context *ctx = unit_context();
			if (late)
				kdr_context_set_time_limit(ctx, 1e-9);
			else
				kdr_context_set_progress(ctx, stop_at_once, NULL);
			kdr_result *r = fit(ctx, a, late, 2);
			assert_int_equal(kdr_result_stop(r), late ? KDR_STOP_TIME : KDR_STOP_CANCELLED);
			for (int64_t t = 0; t < count_of(a); t++) {
				int64_t n;
				const int64_t *labels = kdr_result_labels(r, t, &n);
				for (int64_t i = 0; labels && i < n; i++)
					assert_true(labels[i] >= 0 && labels[i] < kdr_result_k(r, t));
			}
			kdr_result_free(r);
			kdr_context_free(ctx);
		}
}

/* --- numbers of clusters ----------------------------------------------------------------------------- */

static bool clusters_tasks(const kdr_algo *algo)
{
	return algo->family == KDR_FAMILY_CLUSTER || (algo->flags & KDR_ALGO_CLUSTERS_TARGET);
}

static void registry__arrays_of_clusters_for_all_tasks__belong_to_shared_clusters(void **state)
{
	(void)state;
	FOR_EACH_METHOD(a)
	for (const kdr_field_desc *f = a->fields; f->name && a->family == KDR_FAMILY_CLUSTER; f++)
		if (!f->per_task && (strncmp(f->shape, "k x", 3) == 0 || strcmp(f->shape, "k") == 0))
			assert_true(a->flags & KDR_ALGO_SHARED_CLUSTERS);
}

/* The first task's clusters are seen in the order of their numbers; and so are those of the others, unless they
 * follow the first one's. */
static void fit__any_start__clusters_in_order_of_appearance(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	FOR_EACH_METHOD(a)
	for (uint64_t seed = 1; seed <= 4 && clusters_tasks(a); seed++) {
		kdr_context_set_seed(ctx, seed);
		kdr_result *r = fit(ctx, a, false, 2);
		bool follow = kdr_result_correspondence_count(r) > 0 || (a->flags & KDR_ALGO_SHARED_CLUSTERS);
		for (int64_t t = 0; t < count_of(a); t++) {
			int64_t n, next = 0;
			const int64_t *labels = kdr_result_labels(r, t, &n);
			for (int64_t i = 0; labels && i < n && !(follow && t > 0); i++) {
				if (labels[i] > next)
					fail_msg("%s, seed %d: task %lld shows cluster %lld before %lld",
					         a->id, (int)seed, (long long)t, (long long)labels[i],
					         (long long)next);
				next += labels[i] == next;
			}
		}
		kdr_result_free(r);
	}
	kdr_context_free(ctx);
}

/* The data have three clusters that correspond, and nothing else: whatever the start, a method that finds them
 * calls them the same, and one that matches tasks calls counterparts the same. */
static void fit__any_start__counterparts_have_one_number(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	FOR_EACH_METHOD(a)
	for (uint64_t seed = 1; seed <= 4; seed++) {
		int64_t right = 0, total = 0;
		if (a->family != KDR_FAMILY_CLUSTER)
			continue;
		kdr_context_set_seed(ctx, seed);
		kdr_result *r = fit(ctx, a, false, 2);
		bool follow = kdr_result_correspondence_count(r) > 0;
		for (int64_t t = 0; t < count_of(a); t++) {
			int64_t n;
			const int64_t *labels = kdr_result_labels(r, t, &n);
			for (int64_t i = 0; i < n;
			     i++) /* a single task: classes in the order they are seen */
				right += labels[i] == (follow ? i + t : i) % K;
			total += n;
		}
		if (10 * right < 9 * total)
			fail_msg("%s, seed %d: %lld of %lld samples are where their numbers say%s", a->id,
			         (int)seed, (long long)right, (long long)total, follow ? " (matched)" : "");
		for (int64_t i = 0; i < kdr_result_correspondence_count(r); i++) {
			kdr_correspondence c = kdr_result_correspondence_at(r, i);
			for (int64_t z = 0; z < c.rows * c.cols; z++)
				assert_true(c.matrix[z] <= c.matrix[(z / c.cols) * (c.cols + 1)]);
		}
		kdr_result_free(r);
	}
	kdr_context_free(ctx);
}

/* Arrays were renumbered with the labels: what predict makes of them is in the same numbers. */
static void predict__samples_of_the_fit__same_numbers(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	FOR_EACH_METHOD(a)
	for (uint64_t seed = 1; seed <= 3; seed++) {
		problem_data p;
		kdr_options *options = NULL;
		kdr_result *r = NULL;
		if (!clusters_tasks(a) || !(a->flags & KDR_ALGO_PREDICT))
			continue;
		make(&p, a, false);
		kdr_problem problem = { .size = sizeof(kdr_problem),
			                .tasks = p.tasks,
			                .ntasks = count_of(a) };
		kdr_context_set_seed(ctx, seed);
		assert_ok(ctx, kdr_options_new(ctx, a->id, &options));
		assert_ok(ctx, kdr_fit(ctx, a->id, &problem, options, &r));
		for (int64_t t = 0; t < count_of(a); t++) {
			int64_t n, same = 0, *again = calloc((size_t)sizes[t], sizeof *again);
			const int64_t *labels = kdr_result_labels(r, t, &n);
			assert_ok(ctx,
			          kdri_algo_find(a->id)->predict(ctx, r, options, t, &p.tasks[t].x, again));
			for (int64_t i = 0; i < n; i++)
				same += again[i] == labels[i];
			if (10 * same < 9 * n)
				fail_msg("%s: predict gives %lld of %lld samples of task %lld their label",
				         a->id, (long long)same, (long long)n, (long long)t);
			free(again);
		}
		kdr_result_free(r);
		kdr_options_free(options);
		release(&p);
	}
	kdr_context_free(ctx);
}

static void fit__initial_labels__keep_their_numbers(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	FOR_EACH_METHOD(a)
	{
		problem_data p;
		kdr_result *r = NULL;
		int64_t right = 0, total = 0;
		if (a->family != KDR_FAMILY_CLUSTER)
			continue;
		make(&p, a, false);
		for (int64_t t = 0; t < TASKS; t++) {
			for (int64_t i = 0; i < sizes[t]; i++)
				p.labels[t][i] = (i + t + 1) % K;
			p.tasks[t].init = p.labels[t];
		}
		kdr_problem problem = { .size = sizeof(kdr_problem),
			                .tasks = p.tasks,
			                .ntasks = count_of(a) };
		assert_ok(ctx, kdr_fit(ctx, a->id, &problem, NULL, &r));
		for (int64_t t = 0; t < count_of(a); t++) {
			int64_t n;
			const int64_t *labels = kdr_result_labels(r, t, &n);
			for (int64_t i = 0; i < n; i++)
				right += labels[i] == (i + t + 1) % K;
			total += n;
		}
		if (10 * right < 9 * total)
			fail_msg("%s: %lld of %lld samples keep the number given", a->id, (long long)right,
			         (long long)total);
		kdr_result_free(r);
		release(&p);
	}
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registry__every_method__is_complete),
		cmocka_unit_test(registry__methods_that_give_classes__mark_one_array_of_scores),
		cmocka_unit_test(options__every_default__is_allowed),
		cmocka_unit_test(fit__dense_and_sparse__same_labels),
		cmocka_unit_test(fit__one_thread_and_many__same_bits),
		cmocka_unit_test(fit__monotone_methods__objective_never_rises),
		cmocka_unit_test(fit__every_method__labels_in_range_and_arrays_as_registered),
		cmocka_unit_test(fit__every_method__is_one_stage_from_start_to_end),
		cmocka_unit_test(fit__cancelled_or_out_of_time__keeps_a_valid_result),
		cmocka_unit_test(registry__arrays_of_clusters_for_all_tasks__belong_to_shared_clusters),
		cmocka_unit_test(fit__any_start__clusters_in_order_of_appearance),
		cmocka_unit_test(fit__any_start__counterparts_have_one_number),
		cmocka_unit_test(predict__samples_of_the_fit__same_numbers),
		cmocka_unit_test(fit__initial_labels__keep_their_numbers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
