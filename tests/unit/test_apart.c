/* The distance of the samples of two data sets. SPDX-License-Identifier: BSD-3-Clause */
#include "engine/graph/knn.h"
#include "tests/unit/unit.h"

enum { D = 2 };

static double apart(const double *t, int64_t nt, const double *j, int64_t nj)
{
	kdr_context *ctx = unit_context();
	const kdr_mat a = kdr_mat_from_dense(t, nt, D), b = kdr_mat_from_dense(j, nj, D);
	double out = -1;
	assert_ok(ctx, kdri_apart_find(ctx, &a, &b, &out));
	kdr_context_free(ctx);
	return out;
}

/* On a line, where the mean is 0. The third nearest others of j are at distances 6, 4, 4, 6. */
static const double line[] = { -3, 0, -1, 0, 1, 0, 3, 0 };

static void apart__on_a_line__as_by_hand(void **state)
{
	/* 4.5 has its third nearest at 5.5, farther than two of the four; 7 at 8, farther than all; 0.5 at 2.5, than none. */
	const double half[] = { -4.5, 0, 4.5, 0 }, far[] = { -7, 0, 7, 0 }, near[] = { -0.5, 0, 0.5, 0 },
	             mixed[] = { -7, 0, 7, 0, -0.5, 0, 0.5, 0 };
	(void)state;
	assert_true(fabs(apart(half, 2, line, 4) - 0.5) < 1e-12);
	assert_true(fabs(apart(far, 2, line, 4) - 1) < 1e-12);
	assert_true(fabs(apart(near, 2, line, 4)) < 1e-12);
	assert_true(fabs(apart(mixed, 4, line, 4) - 0.5) < 1e-12);
}

static void apart__a_constant_difference__changes_nothing(void **state)
{
	const double moved[] = { 95.5, 7, 104.5, 7 };
	(void)state;
	assert_true(fabs(apart(moved, 2, line, 4) - 0.5) < 1e-12);
}

static void apart__unit_rows__compared_by_cosine(void **state)
{
	/* After the mean is subtracted, the samples of t have the directions of those of j, at other lengths. */
	double j[2 * 40], t[2 * 40];
	(void)state;
	for (int i = 0; i < 40; i++) {
		const double a = 6.283185307179586 * i / 40, b = 0.1 * sin(a);
		j[2 * i] = cos(a);
		j[2 * i + 1] = sin(a);
		t[2 * i] = cos(b);
		t[2 * i + 1] = sin(b);
	}
	/* Rows of t lie on an arc: by cosine they have two directions, each of which j has near samples of; by distance all are far. */
	const double by_cosine = apart(t, 40, j, 40);
	for (int i = 0; i < 80; i++) {
		j[i] *= 2;
		t[i] *= 2;
	}
	assert_true(by_cosine < 0.6 && apart(t, 40, j, 40) > 0.9);
}

static void apart__too_few__not_defined(void **state)
{
	(void)state;
	assert_true(isnan(apart(line, 4, line, 3)));
}

static void apart__many_rows__some_of_them(void **state)
{
	kdr_context *ctx = unit_context();
	int64_t *rows = NULL, count = 0;
	(void)state;
	assert_ok(ctx, kdri_apart_rows(ctx, 2500, &rows, &count));
	assert_int_equal(count, KDRI_APART_MOST);
	for (int64_t i = 1; i < count; i++)
		assert_true(rows[i] > rows[i - 1] && rows[i] < 2500);
	kdri_free(ctx, rows);
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(apart__on_a_line__as_by_hand),
		cmocka_unit_test(apart__a_constant_difference__changes_nothing),
		cmocka_unit_test(apart__unit_rows__compared_by_cosine),
		cmocka_unit_test(apart__too_few__not_defined),
		cmocka_unit_test(apart__many_rows__some_of_them),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
