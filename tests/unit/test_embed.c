/* Layouts: properties that must hold for any data, and whether they show the structure. SPDX-License-Identifier:
 * BSD-3-Clause */
#include "jobs/job.h"
#include "jobs/say/say.h"
#include "tests/unit/unit.h"

#include "engine/embed/embed.h"

enum { N = 300, D = 5, GROUPS = 3 };

/* Groups far apart; those of the second task are moved as a whole. */
static void groups(double *x, int64_t n, uint64_t stream, double shift)
{
	kdri_rng rng = kdri_rng_stream(3, "test", stream);
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < D; j++)
			x[i * D + j] =
			        kdri_rng_normal(&rng) + (i % GROUPS == j ? 12 : 0) + shift * (double)(j + 1);
}

static void embed(kdr_context *ctx, const double *x, int64_t n, int64_t d, const kdr_embed_options *o,
                  double *y)
{
	kdr_mat m = kdr_mat_from_dense(x, n, d);
	double *const xy[1] = { y };
	assert_ok(ctx, kdri_embed_matrices(ctx, &m, 1, o, xy));
	for (int64_t i = 0; i < 2 * n; i++)
		assert_true(isfinite(y[i]) && fabs(y[i]) < 1e6);
}

static double distance(const double *a, const double *b)
{
	return hypot(a[0] - b[0], a[1] - b[1]);
}

/* The share of points whose nearest other point is of their group. */
static double together(const double *y, int64_t n)
{
	int64_t right = 0;
	for (int64_t i = 0; i < n; i++) {
		int64_t best = -1;
		for (int64_t j = 0; j < n; j++)
			if (j != i &&
			    (best < 0 || distance(y + 2 * i, y + 2 * j) < distance(y + 2 * i, y + 2 * best)))
				best = j;
		right += best % GROUPS == i % GROUPS;
	}
	return (double)right / (double)n;
}

static void embed__groups__lie_apart(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	static double x[N * D], y[2 * N];
	groups(x, N, 0, 0);
	embed(ctx, x, N, D, NULL, y);
	assert_true(together(y, N) > 0.99);
	kdr_context_free(ctx);
}

static void embed__threads__same_coordinates(void **state)
{
	(void)state;
	static double x[2][N * D], y[3][2][2 * N];
	groups(x[0], N, 0, 0);
	groups(x[1], N, 1, 4);
	for (int run = 0; run < 3; run++) {
		kdr_context *ctx = unit_context();
		kdr_mat m[2] = { kdr_mat_from_dense(x[0], N, D), kdr_mat_from_dense(x[1], N, D) };
		double *const xy[2] = { y[run][0], y[run][1] };
		kdr_context_set_threads(ctx, run + 1);
		assert_ok(ctx, kdri_embed_matrices(ctx, m, 2, NULL, xy));
		kdr_context_free(ctx);
	}
	assert_memory_equal(y[0], y[1], sizeof y[0]);
	assert_memory_equal(y[0], y[2], sizeof y[0]);
}

static void embed__seed__other_coordinates(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	static double x[N * D], y[2 * N], again[2 * N];
	groups(x, N, 0, 0);
	embed(ctx, x, N, D, NULL, y);
	kdr_context_set_seed(ctx, 2);
	embed(ctx, x, N, D, NULL, again);
	assert_memory_not_equal(y, again, sizeof y);
	kdr_context_free(ctx);
}

/* The mean of a group's points. */
static void centre(const double *y, int64_t n, int64_t group, double *out)
{
	out[0] = out[1] = 0;
	for (int64_t i = group; i < n; i += GROUPS)
		for (int c = 0; c < 2; c++)
			out[c] += y[2 * i + c] / ((double)n / GROUPS);
}

static void embed__two_tasks__groups_in_the_same_place(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	enum { M = 90 };
	static double a[N * D], b[M * D], ya[2 * N], yb[2 * M];
	groups(a, N, 0, 0);
	groups(b, M, 1, 30);
	kdr_mat m[2] = { kdr_mat_from_dense(a, N, D), kdr_mat_from_dense(b, M, D) };
	double *const xy[2] = { ya, yb };
	assert_ok(ctx, kdri_embed_matrices(ctx, m, 2, NULL, xy));
	assert_true(together(ya, N) > 0.99);
	assert_true(together(yb, M) > 0.99);
	for (int64_t g = 0; g < GROUPS; g++)
		for (int64_t h = 0; h < GROUPS; h++) {
			double own[2], other[2], same[2];
			centre(ya, N, g, own);
			centre(yb, M, g, same);
			centre(yb, M, h, other);
			if (g != h)
				assert_true(2 * distance(own, same) < distance(own, other));
		}
	kdr_context_free(ctx);
}

static void embed__few_samples__finite(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	double x[40 * D], y[80];
	groups(x, 40, 0, 0);
	for (int64_t n = 1; n <= 40; n += n < 6 ? 1 : 17)
		embed(ctx, x, n, D, NULL, y);
	embed(ctx, x, 40, 1, NULL, y);
	kdr_embed_options all = { .size = sizeof(kdr_embed_options), .neighbors = 1000 };
	embed(ctx, x, 8, D, &all, y);
	kdr_context_free(ctx);
}

static void embed__copies__finite(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	static double x[N * D], y[2 * N], wide[N * 100];
	embed(ctx, x, N, D, NULL, y); /* zeros */
	for (int i = 0; i < N * D; i++)
		x[i] = 7;
	embed(ctx, x, N, D, NULL, y);
	for (int i = 0; i < N; i++)
		for (int j = 0; j < 100; j++)
			wide[i * 100 + j] =
			        i % 3 && i % 100 == j; /* by cosine: copies, and rows without direction */
	embed(ctx, wide, N, 100, NULL, y);
	kdr_context_free(ctx);
}

static void embed__parts_without_edges__finite_and_near(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	static double x[N * D], y[2 * N];
	groups(x, N, 0, 0);
	for (int64_t i = 0; i < N; i++)
		for (int64_t j = 0; j < D; j++)
			x[i * D + j] = 1e6 * (double)(i % GROUPS == j) + 1e-3 * x[i * D + j];
	embed(ctx, x, N, D, NULL, y);
	assert_true(together(y, N) > 0.99);
	for (int64_t i = 0; i < 2 * N; i++)
		assert_true(fabs(y[i]) < 10); /* of the radius: parts repel each other, but not for ever */
	kdr_context_free(ctx);
}

static void embed__sparse__as_dense(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	static double x[N * D], y[2 * N], z[2 * N];
	static int64_t rowptr[N + 1];
	static int32_t col[N * D];
	groups(x, N, 0, 0);
	for (int64_t p = 0; p < N * D; p++)
		col[p] = (int32_t)(p % D);
	for (int64_t i = 0; i <= N; i++)
		rowptr[i] = i * D;
	kdr_mat m = kdr_mat_from_csr(N, D, rowptr, col, x);
	double *const xy[1] = { z };
	kdr_embed_options o = { .size = sizeof(kdr_embed_options), .layout = KDR_EMBED_DIRECTIONS };
	embed(ctx, x, N, D, &o, y);
	assert_ok(ctx, kdri_embed_matrices(ctx, &m, 1, &o, xy));
	for (int64_t i = 0; i < 2 * N; i++)
		assert_near(y[i], z[i], 1e-6);
	kdr_context_free(ctx);
}

static void embed__different_widths__each_by_itself(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	static double x[N * D], y[2 * N], z[2 * N], alone[2 * N];
	groups(x, N, 0, 0);
	kdr_mat m[2] = { kdr_mat_from_dense(x, N, D), kdr_mat_from_dense(x, N, 3) };
	m[1].as.dense.stride = D;
	double *const xy[2] = { y, z };
	assert_ok(ctx, kdri_embed_matrices(ctx, m, 2, NULL, xy));
	embed(ctx, x, N, D, NULL, alone);
	assert_memory_equal(y, alone, sizeof y);
	kdr_context_free(ctx);
}

static int stop_soon(void *user, const kdr_event *event)
{
	int *left = user;
	return event->kind == KDR_EVENT_ITERATION && event->stage && strcmp(event->stage, "layout") == 0 &&
	       --*left < 0;
}

static void embed__cancelled__what_there_is(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	static double x[N * D], y[2 * N];
	int left = 5;
	groups(x, N, 0, 0);
	kdr_context_set_progress(ctx, stop_soon, &left);
	embed(ctx, x, N, D, NULL, y);
	assert_int_equal(left, -1);
	kdr_context_free(ctx);
}

static void embed__bad_arguments__refused(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	double x[4] = { 1, 2, NAN, 4 }, y[4];
	kdr_mat m = kdr_mat_from_dense(x, 2, 2), none = kdr_mat_from_dense(x, 0, 2);
	double *const xy[1] = { y };
	kdr_embed_options o = { .size = sizeof(kdr_embed_options), .neighbors = -1 };
	assert_int_equal(kdri_embed_matrices(ctx, &m, 1, NULL, xy), KDR_ERR_DATA);
	assert_int_equal(kdri_embed_matrices(ctx, &none, 1, NULL, xy), KDR_ERR_DATA);
	assert_int_equal(kdri_embed_matrices(ctx, &m, 0, NULL, xy), KDR_ERR_ARGUMENT);
	assert_int_equal(kdri_embed_matrices(ctx, &m, 1, &o, xy), KDR_ERR_ARGUMENT);
	o = (kdr_embed_options){ .size = sizeof(kdr_embed_options), .sweeps = -1 };
	assert_int_equal(kdri_embed_matrices(ctx, &m, 1, &o, xy), KDR_ERR_ARGUMENT);
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(embed__groups__lie_apart),
		cmocka_unit_test(embed__threads__same_coordinates),
		cmocka_unit_test(embed__seed__other_coordinates),
		cmocka_unit_test(embed__two_tasks__groups_in_the_same_place),
		cmocka_unit_test(embed__few_samples__finite),
		cmocka_unit_test(embed__copies__finite),
		cmocka_unit_test(embed__parts_without_edges__finite_and_near),
		cmocka_unit_test(embed__sparse__as_dense),
		cmocka_unit_test(embed__different_widths__each_by_itself),
		cmocka_unit_test(embed__cancelled__what_there_is),
		cmocka_unit_test(embed__bad_arguments__refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
