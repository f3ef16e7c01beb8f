/* The table of operations: dense blocks on every device against plain loops, and the stand-in against misuse.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "matrix/linalg.h"
#include "tests/device/tools.h"

static void gemm__all_forms__as_loops(void **state)
{
	tools t;
	(void)state;
	open_tools(&t);
	for (int s = 0; s < SHAPES; s++)
		for (int form = 0; form < 8; form++) {
			bool ta = form & 1, tb = form & 2, single = form & 4;
			int64_t m = shapes[s][0], n = shapes[s][1], k = shapes[s][2];
			double *a = numbers(&t, m * k), *b = numbers(&t, k * n), *c = numbers(&t, m * n);
			kdri_block x = send(&t, a, ta ? k : m, ta ? m : k),
			           y = send(&t, b, tb ? n : k, tb ? k : n), z = send(&t, c, m, n);
			x.single = y.single = z.single = single;
			DO(&t, gemm, ta, tb, 1.5, x, y, form % 3 ? -0.5 : 0, z);
			double *got = fetch(&t, z);
			for (int64_t i = 0; i<m; i += m> 64 ? 7 : 1)
				for (int64_t j = 0; j<n; j += n> 64 ? 5 : 1) {
					double sum = 0, size = 0;
					for (int64_t l = 0; l < k; l++) {
						double p = entry(a, ta, ta ? m : k, i, l) *
						           entry(b, tb, tb ? k : n, l, j);
						sum += p;
						size += fabs(p);
					}
					assert_near(got[i * n + j],
					            1.5 * sum + (form % 3 ? -0.5 : 0) * c[i * n + j],
					            (single ? 2e-6 : 1e-13) * (size + 1));
				}
			drop(&t, x);
			drop(&t, y);
			drop(&t, z);
			free(a);
			free(b);
			free(c);
			free(got);
		}
	fake_close(&t.f);
}

static void syrk_mirror_inverse__symmetric__as_loops(void **state)
{
	tools t;
	(void)state;
	open_tools(&t);
	for (int s = 0; s < SHAPES; s++)
		for (int form = 0; form < 4; form++) {
			bool trans = form & 1, single = form & 2;
			int64_t n = shapes[s][0], k = shapes[s][2];
			double *a = numbers(&t, n * k), *c = numbers(&t, n * n), *sums = numbers(&t, n * n);
			kdri_block x = send(&t, a, trans ? k : n, trans ? n : k), z = send(&t, c, n, n);
			x.single = single;
			DO(&t, syrk, trans, 0.5, x, 0, z);
			DO(&t, syrk, trans, 0.25, x, 1, z);
			DO(&t, mirror, z);
			double *got = fetch(&t, z);
			for (int64_t i = 0; i < n; i++)
				for (int64_t j = 0; j < n; j++) {
					double sum = 0;
					for (int64_t l = 0; l < k && (n < 200 || (i + j) % 11 == 0); l++)
						sum += entry(a, trans, trans ? n : k, i, l) *
						       entry(a, trans, trans ? n : k, j, l);
					if (n < 200 || (i + j) % 11 == 0)
						assert_near(got[i * n + j], 0.75 * sum,
						            (single ? 2e-6 : 1e-13) * (double)(k + 9));
					sums[i * n + j] = got[i * n + j];
				}
			/* (I + C)^-1 (I + C) */
			DO(&t, adjust, z, NULL, false, 0, 1, NULL);
			DO(&t, inverse, z);
			free(got);
			got = fetch(&t, z);
			for (int64_t i = 0; i<n; i += n> 64 ? 31 : 1)
				for (int64_t j = 0; j < n; j++) {
					double sum = got[i * n + j];
					for (int64_t l = 0; l < n; l++)
						sum += got[i * n + l] * sums[l * n + j];
					assert_near(sum, i == j, 1e-9);
				}
			drop(&t, x);
			drop(&t, z);
			free(a);
			free(c);
			free(sums);
			free(got);
		}
	double bad[4] = { 1, 2, 2, 1 };
	kdri_block z = send(&t, bad, 2, 2);
	assert_int_equal(t.d->inverse(t.ctx, z), KDR_ERR_NUMERIC);
	drop(&t, z);
	fake_close(&t.f);
}

/* With a diagonal from 1e-6 to 1e6, as features of different units give. */
static void inverse__large_and_badly_scaled__times_the_matrix_is_one(void **state)
{
	tools t;
	(void)state;
	open_tools(&t);
	/* An accelerator uses recursive halving from some size on. */
	int64_t n = fake_real() && !getenv("KINDRED_TEST_SMALL") ? 3300 : 150;
	double *a = numbers(&t, n * n), *scale = zeros(n), *none = zeros(n), one = 0;
	for (int64_t i = 0; i < n; i++)
		scale[i] = pow(10, (double)(i % 7) - 3);
	kdri_block x = send(&t, a, n, n), c = send(&t, a, n, n), product = send(&t, a, n, n);
	DO(&t, syrk, false, 1 / (double)n, x, 0, c);
	DO(&t, adjust, c, NULL, false, 0, 1, NULL);
	DO(&t, mirror, c);
	DO(&t, centre, c, none, 0, scale, product);
	for (int64_t i = 0; i < n; i++) { /* and the rows */
		kdri_block row = kdri_block_part(product, i, 0, 1, n);
		DO(&t, gemm, false, false, scale[i], kdri_block_part(c, 0, 0, 1, 1), row, 0,
		   kdri_block_part(x, i, 0, 1, n));
	}
	double *first = fetch(&t, kdri_block_part(c, 0, 0, 1, 1));
	DO(&t, copy, x, c);
	DO(&t, inverse, c);
	DO(&t, gemm, false, false, 1, c, x, 0, product);
	double *got = fetch(&t, product);
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < n; j++) /* what one row and column are measured in */
			one = fmax(one, fabs(got[i * n + j] * scale[i] / scale[j] - (i == j)));
	assert_true(one < 1e-10);
	drop(&t, x);
	drop(&t, c);
	drop(&t, product);
	free(a);
	free(scale);
	free(none);
	free(first);
	free(got);
	fake_close(&t.f);
}

static void vectors__products_and_sums__as_loops(void **state)
{
	tools t;
	(void)state;
	open_tools(&t);
	for (int s = 0; s < SHAPES; s++) {
		int64_t m = shapes[s][0], n = shapes[s][1];
		double *a = numbers(&t, m * n), *b = numbers(&t, m * n), *u = numbers(&t, m),
		       *v = numbers(&t, n), *by_row = zeros(m), *by_col = zeros(n), *got, all = 0, want = 0;
		kdri_block x = send(&t, a, m, n), y = send(&t, b, m, n);
		DO(&t, times, x, false, v, by_row);
		DO(&t, times, x, true, u, by_col);
		for (int64_t i = 0; i < m; i++) {
			double sum = 0;
			for (int64_t j = 0; j < n; j++)
				sum += a[i * n + j] * v[j];
			assert_near(by_row[i], sum, 1e-11);
		}
		for (int64_t j = 0; j < n; j++) {
			double sum = 0;
			for (int64_t i = 0; i < m; i++)
				sum += a[i * n + j] * u[i];
			assert_near(by_col[j], sum, 1e-11);
		}
		for (int plain = 0; plain < 2; plain++) {
			DO(&t, row_dots, x, plain ? NULL : v, by_row);
			for (int64_t i = 0; i < m; i++) {
				double sum = 0;
				for (int64_t j = 0; j < n; j++)
					sum += a[i * n + j] * (plain ? 1 : v[j]);
				assert_near(by_row[i], sum, 1e-11);
			}
		}
		DO(&t, column_dots, x, y, by_col);
		for (int64_t j = 0; j < n; j++) {
			double sum = 0;
			for (int64_t i = 0; i < m; i++)
				sum += a[i * n + j] * b[i * n + j];
			assert_near(by_col[j], sum, 1e-11);
		}
		DO(&t, row_squares, x, by_row);
		DO(&t, square, x, &all);
		for (int64_t i = 0; i < m; i++) {
			double sum = 0;
			for (int64_t j = 0; j < n; j++)
				sum += a[i * n + j] * a[i * n + j];
			assert_near(by_row[i], sum, 1e-11 * (1 + sum));
			want += sum;
		}
		assert_near(all, want, 1e-11 * (1 + want));
		/* Of A without negative entries with few columns. */
		DO(&t, clip, x);
		DO(&t, clip, y);
		kdri_block few = send(&t, b, n, KDRI_MIN(m, 7)), to = send(&t, b, m, KDRI_MIN(m, 7));
		DO(&t, clip, few);
		DO(&t, apply, x, few, to);
		got = fetch(&t, to);
		double *right = fetch(&t, few);
		for (int64_t i = 0; i < m; i++)
			for (int64_t c = 0; c < to.cols; c++) {
				double sum = 0;
				for (int64_t j = 0; j < n; j++)
					sum += fmax(a[i * n + j], 0) * right[j * few.cols + c];
				assert_near(got[i * to.cols + c], sum, 1e-12 * (1 + sum));
			}
		drop(&t, x);
		drop(&t, y);
		drop(&t, few);
		drop(&t, to);
		double *owned[] = { a, b, u, v, by_row, by_col, got, right };
		for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
			free(owned[i]);
	}
	fake_close(&t.f);
}

static void layers__all_operations__as_loops(void **state)
{
	tools t;
	(void)state;
	open_tools(&t);
	for (int s = 0; s < SHAPES; s++) {
		int64_t m = shapes[s][0], n = shapes[s][1], beyond = 0, far = 0;
		double *a = numbers(&t, m * n), *r = numbers(&t, m), *c = numbers(&t, n), *e = numbers(&t, n),
		       *sum = zeros(n), *squares = zeros(n), *got;
		kdri_block x = send(&t, a, m, n), y = send(&t, a, m, n);
		DO(&t, moments, x, 0.9, sum, squares, &far);
		for (int64_t j = 0; j < n; j++) {
			double one = 0, two = 0;
			for (int64_t i = 0; i < m; i++) {
				one += a[i * n + j];
				two += a[i * n + j] * a[i * n + j];
				beyond += fabs(a[i * n + j]) > 0.9;
			}
			assert_near(sum[j], one, 1e-11);
			assert_near(squares[j], two, 1e-11);
		}
		assert_int_equal(beyond, far);
		for (int form = 0; form < 2; form++) {
			DO(&t, centre, x, c, 0.5, form ? e : NULL, y);
			got = fetch(&t, y);
			for (int64_t p = 0; p < m * n; p++)
				assert_near(got[p], (a[p] - 0.5 * c[p % n]) * (form ? e[p % n] : 1), 1e-13);
			free(got);
		}
		for (int form = 0; form < 3; form++) { /* all, without lean, without offset */
			DO(&t, tanh, x, form == 1 ? NULL : r, c, form == 2 ? NULL : e, y);
			got = fetch(&t, y);
			for (int64_t p = 0; p < m * n; p++)
				assert_near(got[p],
				            tanh(a[p] + (form == 1 ? 0 : r[p / n] * c[p % n]) +
				                 (form == 2 ? 0 : e[p % n])),
				            1e-14);
			free(got);
		}
		/* In place. */
		DO(&t, tanh, y, NULL, NULL, e, y);
		drop(&t, x);
		drop(&t, y);
		double *owned[] = { a, r, c, e, sum, squares };
		for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
			free(owned[i]);
	}
	fake_close(&t.f);
}

static void square_matrices__adjust_and_complement__as_loops(void **state)
{
	tools t;
	(void)state;
	open_tools(&t);
	for (int s = 0; s < SHAPES; s++) {
		int64_t n = shapes[s][0];
		double *c = numbers(&t, n * n), *a = numbers(&t, n), *diagonal = numbers(&t, n);
		for (int form = 0; form < 4; form++) {
			bool outer = form & 1, given = form & 2;
			kdri_block z = send(&t, c, n, n);
			DO(&t, adjust, z, given ? a : NULL, outer, 0.7, 1.5, form == 3 ? NULL : diagonal);
			double *got = fetch(&t, z);
			for (int64_t i = 0; i < n; i++)
				for (int64_t j = 0; j <= i; j++) {
					double g = !given ? 0 : outer ? 0.7 * a[i] * a[j] : a[i] + a[j] - 0.7;
					assert_near(got[i * n + j],
					            1.5 * (c[i * n + j] - g) +
					                    (i == j ? (form == 3 ? 1 : diagonal[i]) : 0),
					            1e-12);
				}
			free(got);
			drop(&t, z);
		}
		for (int form = 0; form < 2; form++) {
			kdri_block z = send(&t, c, n, n);
			DO(&t, complement, z, form ? a : NULL, 0.4);
			double *got = fetch(&t, z);
			for (int64_t p = 0; p < n * n; p++)
				assert_near(got[p], ((p / n == p % n) - c[p] * (form ? a[p % n] : 1)) / 0.4,
				            1e-12);
			free(got);
			drop(&t, z);
		}
		free(c);
		free(a);
		free(diagonal);
	}
	fake_close(&t.f);
}

/* The Gram matrix of n points, of which the third is 0. */
static double *gram_of(tools *t, int64_t n, double *square)
{
	enum { D = 4 };
	double *x = numbers(t, n * D), *k = zeros(n * n);
	memset(x + KDRI_MIN(2, n - 1) * D, 0, D * sizeof *x);
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < n; j++)
			for (int l = 0; l < D; l++)
				k[i * n + j] += x[i * D + l] * x[j * D + l];
	for (int64_t i = 0; i < n; i++)
		square[i] = k[i * n + i];
	free(x);
	return k;
}

static double kernel_of(const double *k, const double *square, int64_t n, int64_t i, int64_t j, double factor)
{
	return exp(-factor * fmax(0, square[i] + square[j] - 2 * k[i * n + j]));
}

static void gram_matrix__similarities_and_sums__as_loops(void **state)
{
	tools t;
	(void)state;
	open_tools(&t);
	for (int s = 0; s < SHAPES; s++) {
		enum { TASKS = 3 };
		int64_t n = shapes[s][0] + 2, begin[TASKS + 1] = { 0, 1 + n / 3, 1 + n / 2, n };
		double *square = zeros(n), *k = gram_of(&t, n, square), *lower = zeros(n * n),
		       sums[TASKS * TASKS];
		for (int64_t p = 0; p < n * n; p++)
			lower[p] = p % n <= p / n ? k[p] : NAN;
		for (int gauss = 0; gauss < 2; gauss++) {
			double factor = gauss ? 0.3 : 0;
			kdri_block z = send(&t, lower, n, n);
			DO(&t, kernel_sums, z, square, begin, TASKS, factor, sums);
			for (int64_t a = 0; a < TASKS; a++)
				for (int64_t b = 0; b <= a; b++) {
					double want = 0;
					for (int64_t i = begin[a]; i < begin[a + 1]; i++)
						for (int64_t j = begin[b]; j < begin[b + 1]; j++)
							want += gauss ? kernel_of(k, square, n, i, j, factor)
							              : k[i * n + j];
					assert_near(sums[a * TASKS + b], want, 1e-11 * (double)(n * n));
				}
			drop(&t, z);
			z = send(&t, lower, n, n);
			DO(&t, similarity, z, square, gauss ? factor : -1);
			double *got = fetch(&t, z);
			for (int64_t i = 0; i < n; i++)
				for (int64_t j = 0; j < n; j++) {
					double want = gauss ? kernel_of(k, square, n, i, j, factor)
					              : square[i] > 0 && square[j] > 0
					                      ? k[i * n + j] / sqrt(square[i] * square[j])
					                      : 0;
					if (i == j)
						assert_true(got[i * n + j] == (gauss || square[i] > 0));
					else
						assert_near(got[i * n + j], want, 1e-13);
				}
			free(got);
			drop(&t, z);
		}
		free(square);
		free(k);
		free(lower);
	}
	fake_close(&t.f);
}

static void ratio_step__zeros_and_small__as_said(void **state)
{
	tools t;
	(void)state;
	open_tools(&t);
	double y[] = { 1, 2, 0, 1e-60, 3 }, n[] = { 4, 5, 1, 1e-90, 16 }, d[] = { 1, 0, 2, 1, 1 };
	kdri_block a = send(&t, y, 1, 5), b = send(&t, n, 1, 5), c = send(&t, d, 1, 5),
	           to = send(&t, y, 1, 5);
	for (int careful = 0; careful < 2; careful++) {
		DO(&t, ratio_step, a, b, c, careful, to);
		double *got = fetch(&t, to), want[] = { careful ? sqrt(2) : 2, 2, 0, 0, careful ? 6 : 12 };
		want[3] = careful ? 1e-60 * sqrt(sqrt(1e-90)) : 0;
		for (int i = 0; i < 5; i++)
			assert_near(got[i], want[i], 1e-15 * fabs(want[i]));
		free(got);
	}
	drop(&t, a);
	drop(&t, b);
	drop(&t, c);
	drop(&t, to);
	fake_close(&t.f);
}

static void rows__order_statistics_and_counts__as_loops(void **state)
{
	tools t;
	(void)state;
	open_tools(&t);
	for (int s = 1; s < SHAPES; s++) {
		int64_t m = shapes[s][0], n = shapes[s][1], count = 0, some = 0,
		        index[3] = { 0, m / 2 < n ? m / 2 : 0, 0 };
		double *a = numbers(&t, m * n), *got = zeros(m), *row = zeros(n), three[9];
		for (int64_t p = 0; p < m * n; p += 3)
			a[p] = round(a[p]); /* ties, and zeros of both signs */
		kdri_block x = send(&t, a, m, n);
		for (int64_t place = 0; place < n; place += KDRI_MAX(1, n / 5)) {
			DO(&t, row_nth, x, place, got);
			for (int64_t i = 0; i < m; i++) {
				memcpy(row, a + i * n, (size_t)n * sizeof *row);
				assert_true(got[i] == kdri_nth(row, n, place));
			}
		}
		DO(&t, count_from, x, 0.5, &count);
		for (int64_t p = 0; p < m * n; p++)
			some += a[p] >= 0.5;
		assert_int_equal(count, some);
		DO(&t, take, x, index, 3, three);
		for (int i = 0; i < 9; i++)
			assert_true(three[i] == a[index[i / 3] * n + index[i % 3]]);
		drop(&t, x);
		free(a);
		free(got);
		free(row);
	}
	fake_close(&t.f);
}

/* Rows first .. first + m - 1 of n points, with copies among them, whose distances tie. */
static void neighbour_weights__with_ties__as_loops(void **state)
{
	tools t;
	(void)state;
	open_tools(&t);
	for (int form = 0; form < 3; form++) {
		int64_t n = 140, m = form ? 60 : n, first = form == 1 ? 30 : 0, l = form == 2 ? 3 : 12,
		        total = 0;
		double *norm = zeros(n), *k = gram_of(&t, n, norm), *least = zeros(m), *bound = zeros(m),
		       *a = zeros(n), *sorted = zeros(n), tie = 1e-12;
		int64_t *count = calloc((size_t)m, sizeof *count),
		        *starts = calloc((size_t)m + 1, sizeof *starts);
		for (int64_t i = 0; i < n && form == 2; i++) /* all samples are one of ten */
			for (int64_t j = 0; j < n; j++)
				k[i * n + j] = i % 10 == j % 10 ? 2 : (double)((i % 10) * (j % 10) % 3);
		for (int64_t i = 0; i < n; i++)
			norm[i] = k[i * n + i];
		kdri_block c = send(&t, k + first * n, m, n);
		DO(&t, neighbour_limits, c, first, norm, l, tie, least, bound, count);
		for (int64_t i = 0; i < m; i++)
			starts[i + 1] = total += count[i];
		int32_t *col = calloc((size_t)total + 1, sizeof *col);
		double *val = zeros(total);
		DO(&t, neighbour_weights, c, first, norm, tie, least, bound, starts, col, val);
		for (int64_t i = 0; i < m; i++) {
			int64_t own = first + i, others = 0, at = starts[i];
			for (int64_t j = 0; j < n; j++) {
				a[j] = fmax(0, norm[own] + norm[j] - 2 * k[own * n + j]);
				if (j != own)
					sorted[others++] = a[j];
			}
			double low = kdri_nth(sorted, others, 0), range;
			for (int64_t j = 0, q = 0; j < n; j++)
				if (j != own)
					sorted[q++] = a[j];
			double high = kdri_nth(sorted, others, l), close = tie * norm[own];
			assert_near(least[i], low, 1e-13);
			assert_near(bound[i], high, 1e-13);
			range = high - low;
			for (int64_t j = 0; j < n; j++) {
				bool in = j != own && (range <= close ? a[j] <= high + close : a[j] < high);
				bool clear = range > close || fabs(a[j] - high - close) > 1e-13;
				if (!clear)
					continue;
				assert_true(!in || (at < starts[i] + count[i] && col[at] == j));
				if (in)
					assert_near(val[at++], range <= close ? 1 : (high - a[j]) / range,
					            1e-11);
			}
			assert_int_equal(at, starts[i] + count[i]);
		}
		drop(&t, c);
		double *owned[] = { norm, k, least, bound, a, sorted, val };
		for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
			free(owned[i]);
		free(count);
		free(starts);
		free(col);
	}
	fake_close(&t.f);
}
static void standin__misuse__is_refused(void **state)
{
	fake f;
	double here[4] = { 0 };
	kdri_block a = { 0 };
	void *data = NULL;
	(void)state;
	if (fake_real())
		skip();
	fake_open(&f, 1000);
	kdri_device *d = f.device;
	if (!d)
		return;
	assert_int_equal(d->alloc(f.ctx, d, 1001, &data), KDR_ERR_MEMORY);
	assert_ok(f.ctx, kdri_block_new(f.ctx, d, 2, 2, false, &a));
	/* The host's memory where the device's is due, the device's where the host's is due, and views that leave theirs. */
	kdri_block bad = a;
	bad.data = here;
	assert_int_equal(d->fill(f.ctx, bad, 1), KDR_ERR_INTERNAL);
	assert_non_null(strstr(d->error, "not memory of this device"));
	assert_int_equal(d->put(f.ctx, d, a.data, 0, a.data, 0, 8, 1), KDR_ERR_INTERNAL);
	assert_non_null(strstr(d->error, "the host's side is memory of a device"));
	bad = a;
	bad.cols = bad.stride = 3;
	assert_int_equal(d->fill(f.ctx, bad, 1), KDR_ERR_INTERNAL);
	assert_non_null(strstr(d->error, "beyond the end of a buffer"));
	assert_int_equal(d->fill(f.ctx, kdri_block_part(a, 0, 1, 2, 2), 1), KDR_ERR_INTERNAL);
	bad = a;
	bad.stride = 1;
	assert_int_equal(d->fill(f.ctx, bad, 1), KDR_ERR_INTERNAL);
	bad = a;
	bad.dev = &kdri_cpu;
	assert_int_equal(d->gemm(f.ctx, false, false, 1, a, bad, 0, a), KDR_ERR_INTERNAL);
	assert_int_equal(d->get(f.ctx, d, (char *)a.data + 8, 0, here, 0, 32, 1), KDR_ERR_INTERNAL);
	assert_int_equal(d->gemm(f.ctx, false, false, 1, a, kdri_block_part(a, 0, 0, 1, 2), 0, a),
	                 KDR_ERR_INTERNAL);
	assert_non_null(strstr(d->error, "shapes that do not fit"));
	assert_ok(f.ctx, kdri_block_send(f.ctx, a, here, 2));
	assert_int_equal(f.limits.put_bytes, 32);
	assert_ok(f.ctx, d->pin(f.ctx, d, here, sizeof here));
	assert_int_equal(d->pin(f.ctx, d, here, sizeof here), KDR_ERR_INTERNAL);
	assert_int_equal(f.limits.pins, 1);
	d->unpin(d, here);
	d->unpin(d, here);
	bad = a;
	kdri_block_free(f.ctx, &a);
	assert_int_equal(d->fill(f.ctx, bad, 1), KDR_ERR_INTERNAL);
	fake_close(&f);
}
int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gemm__all_forms__as_loops),
		cmocka_unit_test(syrk_mirror_inverse__symmetric__as_loops),
		cmocka_unit_test(inverse__large_and_badly_scaled__times_the_matrix_is_one),
		cmocka_unit_test(vectors__products_and_sums__as_loops),
		cmocka_unit_test(layers__all_operations__as_loops),
		cmocka_unit_test(square_matrices__adjust_and_complement__as_loops),
		cmocka_unit_test(gram_matrix__similarities_and_sums__as_loops),
		cmocka_unit_test(ratio_step__zeros_and_small__as_said),
		cmocka_unit_test(rows__order_statistics_and_counts__as_loops),
		cmocka_unit_test(neighbour_weights__with_ties__as_loops),
		cmocka_unit_test(standin__misuse__is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
