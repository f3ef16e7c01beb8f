/* Scores: reference values, conventions for trivial partitions, invariances. SPDX-License-Identifier:
 * BSD-3-Clause */
#include "engine/metrics/metrics.h"
#include "tests/unit/failing.h"
#include "tests/unit/golden_metrics.h"
#include "tests/unit/unit.h"

enum { COUNT = 24 };

static kdr_scores score(kdr_context *ctx, const int64_t *labels, const int64_t *truth, int64_t n)
{
	kdr_scores s;
	assert_ok(ctx, kdr_evaluate(ctx, labels, truth, n, &s));
	return s;
}

static void random_labels(kdri_rng *rng, int64_t *labels, int64_t n, int64_t k)
{
	for (int64_t i = 0; i < n; i++)
		labels[i] = kdri_rng_below(rng, k);
}

static void evaluate__reference_partitions__reference_scores(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_scores s = score(ctx, lss_labels, lss_truth, 20);
	assert_near(s.acc, lss_acc, 1e-15);
	assert_near(s.nmi, lss_nmi, 1e-14);
	assert_near(s.ari, lss_ari, 1e-14);
	const int64_t *other[] = { mbc_b, mbc_c };
	const double *expected[] = { mbc_ab, mbc_ac };
	for (int i = 0; i < 2; i++) {
		s = score(ctx, mbc_a, other[i], 40);
		assert_near(s.nmi, expected[i][0], 1e-14);
		assert_near(s.nmi_arithmetic, expected[i][1], 1e-14);
		assert_near(s.nmi_max, expected[i][2], 1e-14);
		assert_near(s.ari, expected[i][3], 1e-14);
	}
	kdr_context_free(ctx);
}

static void evaluate__trivial_partitions__follow_the_conventions(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	static const int64_t one[4] = { 7, 7, 7, 7 }, singles[4] = { 3, 1, 2, 0 };
	kdr_scores s = score(ctx, one, one, 4); /* both trivial */
	assert_true(s.acc == 1 && s.nmi == 1 && s.nmi_arithmetic == 1 && s.nmi_max == 1 && s.ari == 1);
	assert_true(s.purity == 1 && s.homogeneity == 1 && s.completeness == 1 && s.v_measure == 1);
	s = score(ctx, one, singles, 4); /* one trivial */
	assert_true(s.nmi == 0 && s.nmi_max == 0 && s.ari == 0 && s.acc == 0.25 && s.purity == 0.25);
	assert_true(s.homogeneity == 0 && s.completeness == 1 && s.v_measure == 0);
	s = score(ctx, singles, one, 4);
	assert_true(s.nmi == 0 && s.purity == 1 && s.acc == 0.25 && s.homogeneity == 1 &&
	            s.completeness == 0);
	s = score(ctx, singles, singles, 4);
	assert_true(s.nmi == 1 && s.ari == 1 && s.acc == 1 && s.v_measure == 1 && s.clusters == 4);
	s = score(ctx, one, singles, 1);
	assert_true(s.nmi == 1 && s.ari == 1 && s.acc == 1 && s.n == 1);
	kdr_context_free(ctx);
}

static void evaluate__no_samples_or_null__fails_and_leaves_output(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	int64_t label = 0;
	kdr_scores s = { .n = -5 };
	assert_int_equal(kdr_evaluate(ctx, &label, &label, 0, &s), KDR_ERR_DATA);
	assert_int_equal(kdr_evaluate(ctx, NULL, &label, 1, &s), KDR_ERR_ARGUMENT);
	assert_int_equal(s.n, -5);
	kdr_context_free(ctx);
}

/* New names, and any order of the samples, change nothing; swapping the partitions swaps what is not
 * symmetric. */
static void evaluate__relabelled_or_swapped__scores_follow(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(3, "test", 0);
	for (int round = 0; round < 200; round++) {
		int64_t n = 1 + kdri_rng_below(&rng, 80), k = 1 + kdri_rng_below(&rng, 9), a[80], b[80],
		        c[80], name[9];
		random_labels(&rng, a, n, k);
		random_labels(&rng, b, n, 1 + kdri_rng_below(&rng, 9));
		for (int64_t j = 0; j < k; j++)
			name[j] = (int64_t)(kdri_rng_u64(&rng) & ~(uint64_t)15) + j; /* distinct, any sign */
		for (int64_t i = 0; i < n; i++)
			c[i] = name[a[i]];
		kdr_scores s = score(ctx, a, b, n), r = score(ctx, c, b, n), t = score(ctx, b, a, n);
		assert_true(s.acc == r.acc && s.ari == r.ari && s.purity == r.purity);
		assert_near(s.nmi, r.nmi, 1e-14);
		assert_near(s.v_measure, r.v_measure, 1e-14);
		assert_true(s.acc == t.acc);
		assert_near(s.ari, t.ari, 1e-14);
		assert_near(s.nmi, t.nmi, 1e-14);
		assert_near(s.homogeneity, t.completeness, 1e-14);
		assert_near(s.v_measure, s.nmi_arithmetic, 1e-13);
		assert_true(s.nmi_max <= s.nmi_arithmetic + 1e-15 && s.nmi_arithmetic <= s.nmi + 1e-15);
		assert_true(s.acc <= s.purity && s.nmi <= 1 && s.ari <= 1);
	}
	kdr_context_free(ctx);
}

/* The best of all one-to-one maps, found by trying them: class of cluster 0, then of 1, ... */
static int64_t best_map(const int64_t *count, int64_t clusters, int64_t classes, int64_t cluster, int used)
{
	if (cluster == clusters)
		return 0;
	int64_t best = best_map(count, clusters, classes, cluster + 1, used);
	for (int64_t j = 0; j < classes; j++)
		if (!(used >> j & 1))
			best = KDRI_MAX(best,
			                count[cluster * classes + j] + best_map(count, clusters, classes,
			                                                        cluster + 1, used | 1 << j));
	return best;
}

static void accuracy__small_tables__is_best_of_all_maps(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(4, "test", 0);
	for (int round = 0; round < 300; round++) {
		int64_t n = 1 + kdri_rng_below(&rng, COUNT), a[COUNT], b[COUNT];
		int64_t *count, *clusters, *classes, nclusters, nclasses;
		random_labels(&rng, a, n, 1 + kdri_rng_below(&rng, 5));
		random_labels(&rng, b, n, 1 + kdri_rng_below(&rng, 5));
		assert_ok(ctx,
		          kdr_contingency(ctx, a, b, n, &count, &clusters, &nclusters, &classes, &nclasses));
		kdr_scores s = score(ctx, a, b, n);
		assert_near(s.acc * (double)n, (double)best_map(count, nclusters, nclasses, 0, 0), 1e-9);
		kdr_free(ctx, count);
		kdr_free(ctx, clusters);
		kdr_free(ctx, classes);
	}
	kdr_context_free(ctx);
}

static void evaluate__many_parts__needs_no_dense_table(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	const int64_t n = 200000; /* 4e10 cells */
	int64_t *a, *b, *c;
	assert_ok(ctx, KDRI_NEW(ctx, &a, n));
	assert_ok(ctx, KDRI_NEW(ctx, &b, n));
	for (int64_t i = 0; i < n; i++) {
		a[i] = i * 1000003;
		b[i] = -i;
	}
	kdr_scores s = score(ctx, a, b, n);
	assert_true(s.acc == 1 && s.ari == 1 && s.purity == 1 && s.clusters == n && s.classes == n);
	assert_near(s.nmi, 1, 1e-12);
	for (int64_t i = 0; i < n; i++)
		b[i] = i % 5;
	s = score(ctx, a, b, n);
	assert_near(s.acc, 5.0 / (double)n, 1e-18);
	assert_true(s.purity == 1 && s.classes == 5);
	for (int64_t i = 0; i < n; i++)
		b[i] = i;
	int64_t *count, *rows, *cols, nrows, ncols;
	c = a;
	assert_int_equal(kdr_contingency(ctx, c, b, n, &count, &rows, &nrows, &cols, &ncols), KDR_ERR_SIZE);
	kdr_free(ctx, a);
	kdr_free(ctx, b);
	kdr_context_free(ctx);
}

static void contingency__extreme_labels__sorted_and_counted(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	static const int64_t a[] = { INT64_MAX, INT64_MIN, 0, INT64_MIN, INT64_MAX },
	                     b[] = { 2, -2, 2, 2, 2 };
	int64_t *count, *clusters, *classes, nclusters, nclasses;
	assert_ok(ctx, kdr_contingency(ctx, a, b, 5, &count, &clusters, &nclusters, &classes, &nclasses));
	assert_int_equal(nclusters, 3);
	assert_int_equal(nclasses, 2);
	static const int64_t labels[] = { INT64_MIN, 0, INT64_MAX }, expected[] = { 1, 1, 0, 1, 0, 2 };
	assert_memory_equal(clusters, labels, sizeof labels);
	assert_memory_equal(count, expected, sizeof expected);
	assert_true(classes[0] == -2 && classes[1] == 2);
	kdr_free(ctx, count);
	kdr_free(ctx, clusters);
	kdr_free(ctx, classes);
	kdr_context_free(ctx);
}

/* --- memory -------------------------------------------------------------------------------- */

/* Sparse tables (wide labels), both orientations, dropped lines, both silhouettes. */
static kdr_status call_all(kdr_context *ctx, const char *path)
{
	(void)path;
	kdr_status st;
	static const int64_t a[6] = { INT64_MIN, 5, 5, 9, 0, INT64_MAX }, b[6] = { 0, 0, 1, 1, 1, 0 };
	static const double cost[6] = { 1, 2, 3, 4, 5, 7 }, supply[2] = { 0.3, 0.7 },
	                    demand[3] = { 0.5, 0, 0.5 };
	static const int64_t rowptr[7] = { 0, 1, 2, 3, 4, 5, 6 };
	static const int32_t col[6] = { 0, 1, 0, 1, 0, 1 };
	kdr_mat dense = kdr_mat_from_dense(cost, 6, 1), sparse = kdr_mat_from_csr(6, 2, rowptr, col, cost);
	kdr_scores s;
	int64_t *count = NULL, *rows = NULL, *cols = NULL, nrows, ncols, map[3];
	double flow[6], total;
	KDRI_TRY(kdr_evaluate(ctx, a, b, 6, &s));
	KDRI_TRY(kdr_evaluate(ctx, b, a, 6, &s));
	KDRI_TRY(kdr_contingency(ctx, a, b, 6, &count, &rows, &nrows, &cols, &ncols));
	KDRI_TRY(kdri_assign_checked(ctx, cost, 2, 3, map, &total));
	KDRI_TRY(kdri_assign_checked(ctx, cost, 3, 2, map, &total));
	KDRI_TRY(kdri_transport(ctx, cost, 2, 3, supply, demand, flow, NULL, NULL, &total));
	for (int kind = 0; kind < 2; kind++) {
		KDRI_TRY(kdri_silhouette(ctx, &dense, b, (kdr_silhouette_kind)kind, NULL, &total));
		KDRI_TRY(kdri_silhouette(ctx, &sparse, b, (kdr_silhouette_kind)kind, NULL, &total));
	}
done:
	kdr_free(ctx, count);
	kdr_free(ctx, rows);
	kdr_free(ctx, cols);
	return st;
}

static void all__each_allocation_fails_in_turn__error_and_no_leak(void **state)
{
	(void)state;
	failing_all(call_all, "metrics");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(evaluate__reference_partitions__reference_scores),
		cmocka_unit_test(evaluate__trivial_partitions__follow_the_conventions),
		cmocka_unit_test(evaluate__no_samples_or_null__fails_and_leaves_output),
		cmocka_unit_test(evaluate__relabelled_or_swapped__scores_follow),
		cmocka_unit_test(accuracy__small_tables__is_best_of_all_maps),
		cmocka_unit_test(evaluate__many_parts__needs_no_dense_table),
		cmocka_unit_test(contingency__extreme_labels__sorted_and_counted),
		cmocka_unit_test(all__each_allocation_fails_in_turn__error_and_no_leak),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
