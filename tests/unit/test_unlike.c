/* Ranks of target samples by how little they are like the source, and samples to label next. */
#include "methods/transfer_auto/auto_transfer.h"
#include "tests/unit/unit.h"

enum { S = 40, T = 30, D = 6, C = 3 };

static double cosine(const double *a, const double *b)
{
	double ab = 0, aa = 0, bb = 0;
	for (int j = 0; j < D; j++) {
		ab += a[j] * b[j];
		aa += a[j] * a[j];
		bb += b[j] * b[j];
	}
	return ab / sqrt(aa * bb);
}

static int increasing(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

/* The mean of the five smallest of d. */
static double smallest_five(double *d, int n)
{
	double sum = 0;
	int count = n < 5 ? n : 5;
	qsort(d, (size_t)n, sizeof *d, increasing);
	for (int i = 0; i < count; i++)
		sum += d[i];
	return count > 0 ? sum / count : 0;
}

/* (E1) of report.c, directly. */
static double slow_distance(const double *e, const int64_t *labels, int row)
{
	double nearest = INFINITY, d[S + T];
	int n;
	for (int k = 0; k < C; k++) {
		n = 0;
		for (int i = 0; i < S; i++)
			if (labels[i] == k)
				d[n++] = 1 - cosine(e + row * D, e + i * D);
		if (n > 0)
			nearest = fmin(nearest, smallest_five(d, n));
	}
	n = 0;
	for (int i = S; i < S + T; i++)
		if (i != row)
			d[n++] = 1 - cosine(e + row * D, e + i * D);
	return nearest - smallest_five(d, n);
}

static void unlike_distances__as_defined__class_without_samples_and_unknown_rows_do_not_count(void **state)
{
	kdr_context *ctx = unit_context();
	double e[(S + T) * D], found[T];
	int64_t labels[S + T];
	(void)state;
	kdri_rng rng = kdri_rng_stream(3, "unlike", 0);
	for (int i = 0; i < (S + T) * D; i++)
		e[i] = kdri_rng_normal(&rng);
	for (int i = 0; i < S + T;
	     i++) /* class 1 has three rows, class 2 none; some rows are unknown; known rows of the target do not count */
		labels[i] = i < 3 ? 1 : i < 10 ? -1 : 0;
	const kdr_mat x = kdr_mat_from_dense(e, S + T, D);
	assert_ok(ctx, kdri_unlike_distances(ctx, &x, S, labels, C, found));
	for (int i = 0; i < T; i++)
		assert_true(fabs(found[i] - slow_distance(e, labels, S + i)) < 1e-12);
	kdr_context_free(ctx);
}

static void unlike_distances__one_target_row__has_no_neighbour_of_its_own(void **state)
{
	kdr_context *ctx = unit_context();
	double e[] = { 1, 0, 0, 1, 1, 1 }, found;
	int64_t labels[] = { 0, 1, -1 };
	(void)state;
	const kdr_mat x = kdr_mat_from_dense(e, 3, 2);
	assert_ok(ctx, kdri_unlike_distances(ctx, &x, 2, labels, 2, &found));
	assert_true(fabs(found - (1 - sqrt(0.5))) < 1e-12);
	kdr_context_free(ctx);
}

static void unlike_ranks__ties_share__from_0_to_1(void **state)
{
	kdr_context *ctx = unit_context();
	double values[] = { 5, -1, 2, 2, 7 }, one[] = { 3 };
	const double expected[] = { 0.75, 0, 0.375, 0.375, 1 };
	(void)state;
	assert_ok(ctx, kdri_unlike_ranks(ctx, values, 5));
	for (int i = 0; i < 5; i++)
		assert_true(values[i] == expected[i]);
	assert_ok(ctx, kdri_unlike_ranks(ctx, one, 1));
	assert_true(one[0] == 0);
	kdr_context_free(ctx);
}

static void ask_choose__smallest_margins__spread_over_clusters_and_never_known_ones(void **state)
{
	kdr_context *ctx = unit_context();
	const double p[] = { .50, .50, .52, .48, .54, .46, .56, .44, .58, .42, .90, .10, .80, .20, .45, .55 };
	const int64_t answer[8] = { 0 }, cluster[] = { 0, 0, 0, 0, 0, 1, 1, 2 },
	              known[] = { -1, 0, -1, -1, -1, -1, -1, -1 };
	int64_t rows[8];
	(void)state;
	kdri_ask_problem a = {
		.n = 8, .classes = 2, .clusters = 3, .posterior = p, .answer = answer, .cluster = cluster
	};
	/* an answer that the posteriors contradict has a negative margin */
	assert_true(fabs(kdri_ask_margin(&a, 7) + 0.1) < 1e-12);
	/* at most ceil(2 * 3 / 3) = 2 of a cluster */
	assert_ok(ctx, kdri_ask_choose(ctx, &a, 3, rows));
	assert_int_equal(rows[0], 7);
	assert_int_equal(rows[1], 0);
	assert_int_equal(rows[2], 1);
	assert_ok(ctx, kdri_ask_choose(ctx, &a, 4, rows)); /* 3 of cluster 0 */
	assert_int_equal(rows[3], 2);
	a.known = known;
	assert_ok(ctx, kdri_ask_choose(ctx, &a, 4, rows)); /* 1 is known */
	assert_int_equal(rows[2], 2);
	assert_int_equal(rows[3], 3);
	assert_ok(ctx, kdri_ask_choose(ctx, &a, 7, rows)); /* all that are unknown */
	for (int i = 0; i < 7; i++)
		for (int j = 0; j < i; j++)
			assert_true(rows[i] != rows[j] && rows[i] != 1);
	a.known = a.cluster = NULL; /* one cluster */
	assert_ok(ctx, kdri_ask_choose(ctx, &a, 8, rows));
	assert_int_equal(rows[0], 7);
	assert_int_equal(rows[7], 5);
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		        unlike_distances__as_defined__class_without_samples_and_unknown_rows_do_not_count),
		cmocka_unit_test(unlike_distances__one_target_row__has_no_neighbour_of_its_own),
		cmocka_unit_test(unlike_ranks__ties_share__from_0_to_1),
		cmocka_unit_test(ask_choose__smallest_margins__spread_over_clusters_and_never_known_ones),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
