/* Several numbers of clusters in one call, and what their fits share. SPDX-License-Identifier: BSD-3-Clause */
#include "api/result.h"
#include "matrix/kept.h"
#include "matrix/traits.h"
#include "tests/unit/unit.h"

#include "tests/unit/ranks.h"

#include <unistd.h>

enum { N = 90, D = 12, SETS = 2 };

/* Five groups of columns, of which two pairs are alike; the second data set is shifted. */
static kdr_data *data_set(kdr_context *ctx, const char *name, int number)
{
	double x[N * D];
	kdri_rng rng = kdri_rng_stream(5, "levels", (uint64_t)number);
	for (int64_t i = 0; i < N; i++)
		for (int64_t j = 0; j < D; j++)
			x[i * D + j] = (j % 5 == i % 5 ? 6 : 0) + (j % 2 == i % 5 / 2 ? 3 : 0) +
			               0.3 * number + kdri_rng_normal(&rng);
	kdr_mat m = kdr_mat_from_dense(x, N, D);
	kdr_data *d = NULL;
	assert_ok(ctx, kdr_data_new(ctx, name, &m, NULL, &d));
	return d;
}

static kdr_result *cluster(kdr_context *ctx, const char *method, int64_t k, int64_t k_to)
{
	kdr_data *d[SETS] = { data_set(ctx, "a", 0), data_set(ctx, "b", 1) };
	kdr_result *r = NULL;
	kdr_job_options o;
	kdr_job_options_init(&o);
	o.method = method;
	o.k = k;
	o.k_to = k_to;
	o.neighbours = true;
	assert_ok(ctx, kdr_cluster(ctx, d, SETS, &o, &r));
	kdr_data_free(d[0]);
	kdr_data_free(d[1]);
	return r;
}

/* Equal but for the numbers of clusters: now[] maps those of `one` to those of `other`. */
static void assert_same_groups(const kdr_result *one, const kdr_result *other)
{
	for (int64_t t = 0; t < SETS; t++) {
		int64_t n, now[16];
		const int64_t *a = kdr_result_labels(one, t, &n), *b = kdr_result_labels(other, t, NULL);
		assert_int_equal(kdr_result_k(one, t), kdr_result_k(other, t));
		for (int64_t c = 0; c < 16; c++)
			now[c] = -1;
		for (int64_t i = 0; i < n; i++)
			now[a[i]] = b[i];
		for (int64_t i = 0; i < n; i++)
			assert_int_equal(now[a[i]], b[i]);
		for (int64_t c = 0; c < kdr_result_k(one, t); c++)
			assert_true(now[c] < 0 || one->tasks[t].sizes[c] == other->tasks[t].sizes[now[c]]);
		const double *sure = kdr_result_confidence(one, t, NULL),
		             *same = kdr_result_confidence(other, t, NULL);
		for (int64_t i = 0; i < n && sure; i++)
			assert_float_equal(sure[i], same[i], 1e-12);
	}
}

/* The index of the level that is the result itself; -1 if there is none. */
static int64_t main_of(const kdr_result *r)
{
	int64_t at = 0;
	while (kdr_result_level_at(r, at) && kdr_result_level_at(r, at) != r)
		at++;
	return kdr_result_level_at(r, at) ? at : -1;
}

static void levels__of_methods_without_members__are_those_of_single_calls(void **state)
{
	(void)state;
	static const char *const methods[] = { "kmeans", "lssmtc", "mtcfir", "ncut", "pca-kmeans" };
	kdr_context *ctx = unit_context();
	for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
		kdr_result *r = cluster(ctx, methods[m], 2, 5);
		assert_true(main_of(r) >= 0);
		assert_null(kdr_result_level_at(r, 4));
		for (int64_t i = 0; i < 4; i++) {
			kdr_result *one = cluster(ctx, methods[m], 2 + i, 0);
			assert_same_groups(one, kdr_result_level_at(r, i));
			assert_null(kdr_result_level_at(one, 0));
			kdr_result_free(one);
		}
		kdr_result_free(r);
	}
	kdr_context_free(ctx);
}

/* Of five groups, i modulo 5: the share of samples in the cluster of most samples of their group or, for more clusters than groups, in the
 * group of most samples of their cluster. */
static double purity(const kdr_result *r, int64_t t)
{
	int64_t counts[16][16] = { { 0 } }, most = 0;
	const int64_t *labels = kdr_result_labels(r, t, NULL);
	const bool finer = kdr_result_k(r, t) > 5;
	for (int64_t i = 0; i < N; i++)
		counts[finer ? labels[i] : i % 5][finer ? i % 5 : labels[i]]++;
	for (int a = 0; a < 16; a++) {
		int64_t largest = 0;
		for (int b = 0; b < 16; b++)
			largest = KDRI_MAX(largest, counts[a][b]);
		most += largest;
	}
	return (double)most / N;
}

/* The other levels come from the members of these two: they join or split the groups of the data. */
static void assert_derived(const kdr_result *one, const kdr_result *level)
{
	for (int64_t t = 0; t < SETS; t++) {
		const double *sure = kdr_result_confidence(one, t, NULL),
		             *other = kdr_result_confidence(level, t, NULL);
		double difference = 0;
		assert_int_equal(kdr_result_k(one, t), kdr_result_k(level, t));
		assert_true(purity(level, t) > 0.95);
		for (int64_t i = 0; i < N; i++) {
			assert_true(other[i] >= 0 && other[i] <= 1);
			difference += (other[i] - sure[i]) / N;
		}
		assert_true(fabs(difference) < 0.25);
		for (int64_t c = 0; c < kdr_result_k(level, t); c++)
			assert_true(level->tasks[t].sizes[c] > 0);
	}
}

static void levels__of_auto__suggested_and_largest_are_those_of_single_calls(void **state)
{
	(void)state;
	static const int64_t ranges[][2] = { { 2, 7 }, { 2, 5 }, { 2, 4 }, { 6, 8 } };
	kdr_context *ctx = unit_context();
	for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
		const int64_t from = ranges[i][0], to = ranges[i][1];
		kdr_result *r = cluster(ctx, "auto", from, to);
		for (int64_t k = from; k <= to; k++) {
			const kdr_result *level = kdr_result_level_at(r, k - from);
			kdr_result *one = cluster(ctx, "auto", k, 0);
			if (level == r || k == to)
				assert_same_groups(one, level);
			else
				assert_derived(one, level);
			kdr_result_free(one);
		}
		kdr_result_free(r);
	}
	kdr_context_free(ctx);
}

static void levels__of_auto__same_for_any_number_of_threads(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_context_set_threads(ctx, 1);
	kdr_result *r = cluster(ctx, "auto", 2, 7);
	kdr_context_set_threads(ctx, 3);
	kdr_result *other = cluster(ctx, "auto", 2, 7);
	for (int64_t i = 0; i < 6; i++)
		assert_same_groups(kdr_result_level_at(r, i), kdr_result_level_at(other, i));
	kdr_result_free(r);
	kdr_result_free(other);
	kdr_context_free(ctx);
}

/* Five clusters are in the data. A method that finds k is also asked for ranges without that number. */
static void levels__of_a_range__main_result_is_the_suggested_one(void **state)
{
	(void)state;
	static const struct {
		const char *method;
		int64_t from, to, k;
	} cases[] = { { "auto", 2, 8, 5 },   { "auto", 2, 3, 3 }, { "auto", 6, 8, 6 },
		      { "kmeans", 2, 8, 5 }, { "auto", 5, 5, 5 }, { "kmeans", 3, 3, 3 } };
	kdr_context *ctx = unit_context();
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		kdr_result *r = cluster(ctx, cases[i].method, cases[i].from, cases[i].to);
		assert_int_equal(main_of(r), cases[i].k - cases[i].from);
		for (int64_t t = 0; t < SETS; t++)
			assert_int_equal(kdr_result_k(r, t), cases[i].k);
		kdr_result_free(r);
	}
	kdr_context_free(ctx);
}

/* Arrays with an axis of clusters move with the labels: a k-means sample is nearest to the centre of its label. */
static void levels__renumbered__centres_move_with_the_labels(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_data *d[SETS] = { data_set(ctx, "a", 0), data_set(ctx, "b", 1) };
	kdr_result *r = cluster(ctx, "kmeans", 2, 6);
	for (int64_t l = 0; l < 5; l++)
		for (int64_t t = 0; t < SETS; t++) {
			const kdr_result *level = kdr_result_level_at(r, l);
			const kdr_array centres = kdr_result_array(level, "centres", t);
			const int64_t *labels = kdr_result_labels(level, t, NULL), k = kdr_result_k(level, t);
			const kdr_mat x = kdr_data_mat(d[t]);
			for (int64_t i = 0; i < N; i++) {
				double own = 0, least = INFINITY;
				for (int64_t c = 0; c < k; c++) {
					double sum = 0;
					for (int64_t j = 0; j < D; j++) {
						double off = x.as.dense.data[i * D + j] -
						             ((const double *)centres.data)[c * D + j];
						sum += off * off;
					}
					own = kdr_result_number(level, t, c) == labels[i] ? sum : own;
					least = KDRI_MIN(least, sum);
				}
				assert_float_equal(own, least, 1e-9);
			}
		}
	kdr_result_free(r);
	kdr_data_free(d[0]);
	kdr_data_free(d[1]);
	kdr_context_free(ctx);
}

static void levels__of_a_k_that_was_found__leave_it_as_it_is(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_result *r = cluster(ctx, "auto", 0, 0), *plain = NULL;
	kdr_data *d[SETS] = { data_set(ctx, "a", 0), data_set(ctx, "b", 1) };
	assert_ok(ctx, kdr_cluster(ctx, d, SETS, NULL, &plain));
	assert_true(r->level_count == 3 || r->level_count == 2);
	assert_int_equal(plain->level_count, 0);
	for (int64_t t = 0; t < SETS; t++)
		for (int64_t i = 0; i < N; i++)
			assert_int_equal(r->tasks[t].labels[i], plain->tasks[t].labels[i]);
	for (int64_t i = 0; i < r->level_count; i++) {
		kdr_result *one = cluster(ctx, "auto", r->levels[i]->level, 0);
		if (i >= r->main_level)
			assert_same_groups(one, r->levels[i]);
		else
			assert_derived(one, r->levels[i]);
		kdr_result_free(one);
	}
	kdr_result_free(plain);
	kdr_result_free(r);
	kdr_data_free(d[0]);
	kdr_data_free(d[1]);
	kdr_context_free(ctx);
}

/* Levels of tables: the suggested one is that of a single call, and the others join or split its clusters. */
static void levels__of_tables__suggested_is_that_of_a_single_call(void **state)
{
	(void)state;
	static const int64_t samples[SETS] = { 120, 120 };
	kdr_context *ctx = unit_context();
	kdr_design design;
	kdr_generator *g = NULL;
	kdr_data *d[SETS] = { NULL };
	kdr_result *r = NULL, *one = NULL;
	kdr_job_options o;
	kdr_design_init(&design, KDR_DESIGN_TABLES);
	design.tasks = SETS;
	design.k = 4;
	design.samples = samples;
	design.separation = 2;
	assert_ok(ctx, kdr_generate(ctx, &design, &g));
	for (int64_t t = 0; t < SETS; t++)
		assert_ok(ctx, kdr_generator_data(ctx, g, t, &d[t]));
	kdr_job_options_init(&o);
	o.choice = KDR_PREP_BY_DATA;
	o.score = true;
	o.k = 2;
	o.k_to = 6;
	assert_ok(ctx, kdr_cluster(ctx, d, SETS, &o, &r));
	assert_true(kdr_result_array(r, "table_weights", -1).data != NULL);
	o.k = kdr_result_k(r, 0);
	o.k_to = 0;
	for (int64_t t = 0; t < SETS; t++) { /* a call changes its data */
		kdr_data_free(d[t]);
		assert_ok(ctx, kdr_generator_data(ctx, g, t, &d[t]));
	}
	assert_ok(ctx, kdr_cluster(ctx, d, SETS, &o, &one));
	for (int64_t t = 0; t < SETS; t++) {
		kdr_scores s;
		assert_ok(ctx, kdr_evaluate(ctx, kdr_result_labels(r, t, NULL),
		                            kdr_result_labels(one, t, NULL), samples[0], &s));
		assert_float_equal(s.ari, 1, 1e-12);
	}
	for (int64_t i = 0; i < 5; i++) {
		const kdr_result *level = kdr_result_level_at(r, i);
		for (int64_t t = 0; t < SETS; t++) {
			const double *sure = kdr_result_confidence(level, t, NULL);
			assert_int_equal(kdr_result_k(level, t), i + 2);
			for (int64_t c = 0; c < i + 2 && i < 3; c++)
				assert_true(level->tasks[t].sizes[c] > 0);
			for (int64_t p = 0; p < samples[0]; p++)
				assert_true(sure[p] >= 0 && sure[p] <= 1);
		}
	}
	kdr_result_free(one);
	kdr_result_free(r);
	kdr_generator_free(g);
	kdr_data_free(d[0]);
	kdr_data_free(d[1]);
	kdr_context_free(ctx);
}

enum { LEVELS = 4, RANKS = 3 };

typedef struct parted {
	int64_t labels[LEVELS][N];
	kdr_status st[RANKS];
	char path[64];
} parted;

static void cluster_part(kdr_context *ctx, int rank, void *user)
{
	parted *p = user;
	const int64_t first = N * rank / RANKS, rows = N * (rank + 1) / RANKS - first;
	kdr_data *d = data_set(ctx, "a", 0), *own = NULL;
	const kdr_mat x = kdr_data_mat(d),
	              part = kdr_mat_from_dense(x.as.dense.data + first * x.as.dense.stride, rows, D);
	kdr_result *r = NULL;
	kdr_job_options o;
	kdr_job_options_init(&o);
	o.method = "kmeans";
	o.k = 2;
	o.k_to = 1 + LEVELS;
	p->st[rank] = kdr_data_new(ctx, "a", &part, NULL, &own);
	if (p->st[rank] == KDR_OK)
		p->st[rank] = kdr_cluster(ctx, &own, 1, &o, &r);
	for (int64_t l = 0; r && l < LEVELS; l++)
		memcpy(p->labels[l] + first, kdr_result_labels(kdr_result_level_at(r, l), 0, NULL),
		       (size_t)rows * sizeof(int64_t));
	if (r)
		p->st[rank] = kdr_result_write(ctx, r, p->path, true);
	kdr_result_free(r);
	kdr_data_free(own);
	kdr_data_free(d);
}

static void levels__rows_on_several_ranks__same_labels(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_data *d = data_set(ctx, "a", 0);
	kdr_result *r = NULL;
	kdr_job_options o;
	parted *p = calloc(1, sizeof *p);
	snprintf(p->path, sizeof p->path, "/tmp/kindred-levels-%ld.json", (long)getpid());
	kdr_job_options_init(&o);
	o.method = "kmeans";
	o.k = 2;
	o.k_to = 1 + LEVELS;
	assert_ok(ctx, kdr_cluster(ctx, &d, 1, &o, &r));
	crew_run(RANKS, cluster_part, p, NULL);
	for (int rank = 0; rank < RANKS; rank++)
		assert_int_equal(p->st[rank], KDR_OK);
	for (int64_t l = 0; l < LEVELS; l++)
		assert_memory_equal(p->labels[l], kdr_result_labels(kdr_result_level_at(r, l), 0, NULL),
		                    N * sizeof(int64_t));
	assert_int_equal(unlink(p->path), 0);
	free(p);
	kdr_result_free(r);
	kdr_data_free(d);
	kdr_context_free(ctx);
}

static void levels__bad_ranges__are_refused(void **state)
{
	(void)state;
	static const int64_t bad[][2] = { { 8, 3 },  { 0, 4 },     { -1, 2 },
		                          { 1, 65 }, { 2, N + 1 }, { 1, INT64_MAX } };
	kdr_context *ctx = unit_context();
	kdr_data *d = data_set(ctx, "a", 0);
	kdr_result *r = NULL;
	kdr_job_options o;
	kdr_job_options_init(&o);
	o.method = "kmeans";
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		o.k = bad[i][0];
		o.k_to = bad[i][1];
		assert_int_equal(kdr_cluster(ctx, &d, 1, &o, &r), KDR_ERR_ARGUMENT);
		assert_null(r);
	}
	const int64_t each[] = { 2 };
	o.each_k = each;
	o.k_to = 4;
	assert_int_equal(kdr_cluster(ctx, &d, 1, &o, &r), KDR_ERR_ARGUMENT);
	assert_null(kdr_result_level_at(NULL, 0));
	kdr_data_free(d);
	kdr_context_free(ctx);
}

static void kept__values__are_found_by_all_that_they_depend_on(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	double x[6] = { 1, 2, 3, 4, 5, 6 }, value[2] = { 7, 8 }, found[2] = { 0 };
	int64_t rowptr[3] = { 0, 1, 3 };
	int32_t col[3] = { 0, 1, 2 };
	kdri_kept kept = { 0 };
	kdri_inspected seen = { .kept = &kept };
	const kdr_mat dense = kdr_mat_from_dense(x, 2, 3), other = kdr_mat_from_dense(x, 3, 2),
	              sparse = kdr_mat_from_csr(2, 3, rowptr, col, x);
	const uint64_t key = kdri_mat_hash(&dense, 1);
	assert_int_equal(key, kdri_mat_hash(&dense, 1));
	assert_true(key != kdri_mat_hash(&dense, 2) && key != kdri_mat_hash(&other, 1) &&
	            key != kdri_mat_hash(&sparse, 1));
	x[5] = 9;
	assert_true(key != kdri_mat_hash(&dense, 1));
	assert_ok(ctx, kdri_kept_put(ctx, "v", key, value, sizeof value)); /* nothing to keep it in */
	assert_false(kdri_kept_find(ctx, "v", key, found, sizeof found));
	assert_false(kdri_keeps(ctx));
	ctx->inspected = &seen;
	assert_ok(ctx, kdri_kept_put(ctx, "v", key, value, sizeof value));
	assert_true(kdri_keeps(ctx) && !kdri_repeats(ctx));
	kept.fits = 1;
	assert_true(kdri_repeats(ctx) && !kdri_derives(ctx));
	kept.deriving = true;
	assert_true(kdri_repeats(ctx) && kdri_derives(ctx));
	const kdri_kept_part parts[] = { { value, sizeof value }, { NULL, 8 }, { x, sizeof x } };
	assert_ok(ctx, kdri_kept_put_parts(ctx, "p", key, parts, 3));
	value[1] = x[0] = 0;
	assert_true(kdri_kept_find_parts(ctx, "p", key, parts, 3));
	assert_true(value[1] == 8 && x[0] == 1);
	assert_false(kdri_kept_find_parts(ctx, "q", key, parts, 3));
	const kdri_kept_part large[] = { { value, sizeof value }, { x, (size_t)1 << 40 } };
	assert_ok(ctx, kdri_kept_put_parts(ctx, "l", key, large, 2)); /* too much: none of it */
	assert_false(kdri_kept_find_parts(ctx, "l", key, large, 1));
	kept.looking = true;
	assert_ok(ctx, kdri_kept_put(ctx, "w", key, value, sizeof value)); /* too late */
	assert_false(kdri_kept_find(ctx, "w", key, found, sizeof found));
	assert_false(kdri_kept_find(ctx, "v", key + 1, found, sizeof found));
	assert_false(kdri_kept_find(ctx, "v", key, found, sizeof found[0]));
	assert_true(kdri_kept_find(ctx, "v", key, found, sizeof found));
	assert_float_equal(found[1], 8, 0);
	kdri_kept_free(ctx, &kept);
	ctx->inspected = NULL;
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels__of_methods_without_members__are_those_of_single_calls),
		cmocka_unit_test(levels__of_auto__suggested_and_largest_are_those_of_single_calls),
		cmocka_unit_test(levels__of_auto__same_for_any_number_of_threads),
		cmocka_unit_test(levels__of_a_range__main_result_is_the_suggested_one),
		cmocka_unit_test(levels__renumbered__centres_move_with_the_labels),
		cmocka_unit_test(levels__of_a_k_that_was_found__leave_it_as_it_is),
		cmocka_unit_test(levels__of_tables__suggested_is_that_of_a_single_call),
		cmocka_unit_test(levels__rows_on_several_ranks__same_labels),
		cmocka_unit_test(levels__bad_ranges__are_refused),
		cmocka_unit_test(kept__values__are_found_by_all_that_they_depend_on),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
