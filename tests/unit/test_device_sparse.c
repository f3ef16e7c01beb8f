/* The table of operations: sparse rows, and samples in groups, on every device against plain loops. SPDX-License-Identifier: BSD-3-Clause */
#include "comm/exact.h"
#include "tests/device/tools.h"

/* Random sparse rows, and the same numbers in full. */
typedef struct sparse_case {
	int64_t rows, cols;
	double *full, *val;
	int64_t *rowptr;
	int32_t *col;
	kdr_mat x;
	kdri_own turned;
	kdri_sparse there;
} sparse_case;

static void sparse_open(tools *t, int64_t rows, int64_t cols, double share, sparse_case *c)
{
	int64_t at = 0;
	*c = (sparse_case){ .rows = rows, .cols = cols };
	c->full = zeros(rows * cols);
	c->val = zeros(rows * cols);
	c->rowptr = calloc((size_t)rows + 1, sizeof *c->rowptr);
	c->col = calloc((size_t)(rows * cols), sizeof *c->col);
	for (int64_t i = 0; i < rows; i++) {
		for (int64_t j = 0; j < cols; j++)
			if (kdri_rng_uniform(&t->rng) < share && i % 9 != 4) {
				c->val[at] = c->full[i * cols + j] = kdri_rng_normal(&t->rng);
				c->col[at++] = (int32_t)j;
			}
		c->rowptr[i + 1] = at;
	}
	c->x = kdr_mat_from_csr(rows, cols, c->rowptr, c->col, c->val);
	assert_ok(t->ctx, kdri_mat_transpose(t->ctx, &c->x, &c->turned));
	assert_ok(t->ctx, kdri_sparse_of(t->ctx, t->d, &c->x.as.csr, &c->turned.view.as.csr, &c->there));
}

static void sparse_close(tools *t, sparse_case *c)
{
	kdri_sparse_free(t->ctx, &c->there);
	kdri_own_free(t->ctx, &c->turned);
	free(c->full);
	free(c->val);
	free(c->rowptr);
	free(c->col);
}

static void sparse__multiply_gram_and_tanh__as_loops(void **state)
{
	tools t;
	(void)state;
	open_tools(&t);
	enum { ROWS = 53, COLS = 147 };
	static const int64_t widths[] = { 1, 2, 3, 7, 16, 17, 40, 70 };
	sparse_case c;
	sparse_open(&t, ROWS, COLS, 0.2, &c);
	for (size_t form = 0; form < 2 * sizeof widths / sizeof *widths; form++) {
		int64_t wide = widths[form / 2], in = form % 2 ? ROWS : COLS, out = form % 2 ? COLS : ROWS;
		double *b = numbers(&t, KDRI_MAX(in, out) * wide);
		kdri_block u = send(&t, b, in, wide), v = send(&t, b, out, wide > out ? 1 : wide);
		drop(&t, v);
		assert_ok(t.ctx, kdri_block_new(t.ctx, t.d, out, wide, false, &v));
		DO(&t, multiply, &c.there, form % 2, u, v);
		double *got = fetch(&t, v);
		for (int64_t i = 0; i < out; i++)
			for (int64_t q = 0; q < wide; q++) {
				double sum = 0;
				for (int64_t j = 0; j < in; j++)
					sum += entry(c.full, form % 2, COLS, i, j) * b[j * wide + q];
				assert_near(got[i * wide + q], sum, 1e-12);
			}
		drop(&t, u);
		kdri_block_free(t.ctx, &v);
		free(b);
		free(got);
	}
	for (int form = 0; form < 3; form++) { /* X diag(w) X', X X', X'X */
		int64_t side = form == 2 ? COLS : ROWS, inner = form == 2 ? ROWS : COLS;
		double *w = numbers(&t, COLS), *none = zeros(side * side);
		kdri_block z = send(&t, none, side, side);
		DO(&t, gram, &c.there, form == 2, form ? NULL : w, z);
		double *got = fetch(&t, z);
		for (int64_t i = 0; i < side; i++)
			for (int64_t j = 0; j <= i; j++) {
				double sum = 0;
				for (int64_t l = 0; l < inner; l++)
					sum += entry(c.full, form == 2, COLS, i, l) * (form ? 1 : w[l]) *
					       entry(c.full, form == 2, COLS, j, l);
				assert_near(got[i * side + j], sum, 1e-11);
			}
		drop(&t, z);
		free(w);
		free(none);
		free(got);
	}
	for (int form = 0; form < 2; form++) {
		enum { FIRST = 5, SOME = 31 };
		double *y = numbers(&t, COLS * SOME), *lean = numbers(&t, SOME), *mean = numbers(&t, COLS),
		       *offset = numbers(&t, COLS), *none = zeros(SOME * COLS), q = 0.6;
		const kdri_sparse part = kdri_sparse_rows(&c.there, FIRST, FIRST + SOME);
		kdri_block from = send(&t, y, COLS, SOME), h = send(&t, none, SOME, COLS);
		DO(&t, tanh_rows, from, form ? NULL : &part, lean, mean, q, offset, h);
		double *got = fetch(&t, h);
		for (int64_t i = 0; i < SOME; i++)
			for (int64_t j = 0; j < COLS; j++) {
				double v = y[j * SOME + i], by = lean[i] * mean[j];
				double want =
				        form ? v + by
				             : (by - v + c.full[(FIRST + i) * COLS + j]) / q + offset[j];
				assert_near(got[i * COLS + j], tanh(want), 1e-13);
			}
		drop(&t, from);
		drop(&t, h);
		double *owned[] = { y, lean, mean, offset, none, got };
		for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
			free(owned[i]);
	}
	sparse_close(&t, &c);
	fake_close(&t.f);
}

/* Rows of thousands of entries, and few columns: several threads share a row. */
static void sparse__long_rows__as_loops(void **state)
{
	tools t;
	(void)state;
	open_tools(&t);
	enum { ROWS = 4, COLS = 6000 };
	sparse_case c;
	sparse_open(&t, ROWS, COLS, 0.7, &c);
	double *b = numbers(&t, COLS * 16);
	for (int64_t wide = 1; wide <= 16; wide += 3) {
		kdri_block u = send(&t, b, COLS, wide), v = send(&t, b, ROWS, wide);
		DO(&t, multiply, &c.there, false, u, v);
		double *got = fetch(&t, v);
		for (int64_t i = 0; i < ROWS; i++)
			for (int64_t q = 0; q < wide; q++) {
				double sum = 0;
				for (int64_t j = 0; j < COLS; j++)
					sum += c.full[i * COLS + j] * b[j * wide + q];
				assert_near(got[i * wide + q], sum, 1e-10);
			}
		drop(&t, u);
		drop(&t, v);
		free(got);
	}
	free(b);
	sparse_close(&t, &c);
	fake_close(&t.f);
}

/* Sums, own sums and the closest cluster, bit for bit. */
static void groups__some_clusters_empty__as_loops(void **state)
{
	tools t;
	(void)state;
	open_tools(&t);
	enum { N = 900, K = 11 };
	double *a = numbers(&t, N * N), *diagonal = numbers(&t, N), *self = numbers(&t, K),
	       *want = zeros(K * N), *own = zeros(N), *away = zeros(N), size[K];
	int32_t *label = calloc(N, 4), *before = calloc(N, 4), *next = calloc(N, 4);
	for (int64_t j = 0; j < K; j++)
		size[j] = j % 4 == 2 ? 0 : (double)(3 + 7 * j);
	for (int64_t i = 0; i < N; i++) {
		before[i] = (int32_t)kdri_rng_below(&t.rng, K - 1);
		label[i] = i % 6 ? before[i] : (int32_t)kdri_rng_below(&t.rng, K);
	}
	kdri_block x = send(&t, a, N, N), sums = send(&t, want, K, N);
	for (int follow = 0; follow < 2; follow++) {
		DO(&t, group_rows, x, follow ? label : before, follow ? before : NULL, sums);
		for (int64_t i = 0; i < N; i++)
			for (int64_t f = 0; f < N; f++) {
				if (!follow) {
					want[before[i] * N + f] += a[i * N + f];
				} else if (label[i] != before[i]) {
					want[before[i] * N + f] -= a[i * N + f];
					want[label[i] * N + f] += a[i * N + f];
				}
			}
		double *got = fetch(&t, sums);
		assert_memory_equal(got, want, sizeof *want * K * N);
		free(got);
	}
	for (int64_t i = 0; i < N; i += 5) /* ties go to the lower one */
		want[4 * N + i] = want[3 * N + i] * size[4] / size[3];
	assert_ok(t.ctx, kdri_block_send(t.ctx, sums, want, N));
	DO(&t, group_own, sums, label, own);
	for (int64_t i = 0; i < N; i++)
		assert_true(own[i] == want[label[i] * N + i]);
	DO(&t, group_closest, sums, diagonal, size, self, next, away);
	for (int64_t i = 0; i < N; i++) {
		double least = INFINITY;
		int32_t best = 0;
		for (int32_t j = 0; j < K; j++) {
			volatile double twice = 2 * want[j * N + i] / size[j], squared = size[j] * size[j];
			volatile double rest = self[j] / squared, v = diagonal[i] - twice;
			v = v + rest;
			if (size[j] > 0 && v < least) {
				least = v;
				best = j;
			}
		}
		assert_int_equal(next[i], best);
		assert_true(away[i] == KDRI_MAX(least, 0));
	}
	drop(&t, x);
	drop(&t, sums);
	double *owned[] = { a, diagonal, self, want, own, away };
	for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
		free(owned[i]);
	free(label);
	free(before);
	free(next);
	fake_close(&t.f);
}

/* The same rows as sparse ones give the sums that are in `dense`, and these joined are numbers. */
static void same_of_sparse(tools *t, const double *x, int64_t n, int64_t d, const int32_t *list,
                           const int64_t *begin, const double *coef, const double *unit, double ratio,
                           bool add, const double *sums, kdri_block dense)
{
	int64_t *rowptr = calloc((size_t)n + 1, sizeof *rowptr), k = dense.rows;
	int32_t *col = calloc((size_t)(n * d), sizeof *col);
	kdri_drows rows = { .rows = n, .sparse = true };
	kdri_block joined = { 0 };
	for (int64_t i = 0; i < n * d; i++) {
		col[i] = (int32_t)(i % d);
		rowptr[i / d + 1] = (i / d + 1) * d;
	}
	const kdr_mat m = kdr_mat_from_csr(n, d, rowptr, col, x);
	assert_ok(t->ctx, kdri_sparse_of(t->ctx, t->d, &m.as.csr, NULL, &rows.csr));
	assert_ok(t->ctx, kdri_block_new(t->ctx, t->d, k, d, false, &joined));
	kdri_block to = send(t, sums, k, 2 * d);
	DO(t, sums, rows, list, begin, coef, unit, ratio, add, to);
	DO(t, join, to, joined);
	double *want = fetch(t, dense), *got = fetch(t, to), *one = fetch(t, joined);
	for (int64_t i = 0; i < k * 2 * d; i++)
		assert_true(got[i] == want[i]);
	for (int64_t i = 0; i < k * d; i++)
		assert_true(one[i] == want[i / d * 2 * d + i % d] + want[i / d * 2 * d + d + i % d]);
	drop(t, to);
	kdri_block_free(t->ctx, &joined);
	kdri_sparse_free(t->ctx, &rows.csr);
	free(want);
	free(got);
	free(one);
	free(rowptr);
	free(col);
}

/* Rows by cluster, and their sums, by the simplest code. */
static void order_and_sums__all_and_changed__as_loops(void **state)
{
	tools t;
	(void)state;
	open_tools(&t);
	enum { N = 5000, K = 7, D = 70 };
	int32_t *label = calloc(N, 4), *before = calloc(N, 4), *list = calloc(2 * N, 4);
	double *x = numbers(&t, N * D), *sums = numbers(&t, K * 2 * D), *coef = numbers(&t, N);
	double unit[D], ratio = kdri_exact_ratio(N);
	for (int64_t f = 0; f < D; f++)
		unit[f] = kdri_exact_big(100, N);
	for (int64_t i = 0; i < K * 2 * D; i++) { /* the initial values are sums of this kind, too */
		double big = unit[i % D], small = big * ratio, v = x[i], high = (v + big) - big;
		sums[i] = i / D % 2 ? ((v - high) + small) - small : high;
	}
	int64_t begin[K + 1], counts[K], moved = 0, changed = 0;
	for (int64_t i = 0; i < N; i++) {
		label[i] = (int32_t)kdri_rng_below(&t.rng, K - 1); /* the last is empty */
		before[i] = i % 3 ? label[i] : (int32_t)kdri_rng_below(&t.rng, K - 1);
		changed += label[i] != before[i];
	}
	for (int form = 0; form < 4; form++) {
		bool all = form & 1, weighed = form & 2;
		int32_t *bl = send_vector(&t, label, N, 4), *bb = send_vector(&t, before, N, 4),
		        *out = send_vector(&t, list, 2 * N, 4);
		double *bw = send_vector(&t, coef, N, 8), *bu = send_vector(&t, unit, D, 8);
		kdri_drows dx = { .rows = N, .dense = send(&t, x, N, D) };
		kdri_block ds = send(&t, sums, K, 2 * D);
		DO(&t, changed, t.d, bl, bb, N, K, &moved, counts);
		assert_int_equal(moved, changed);
		DO(&t, order, t.d, bl, bb, N, K, all, out, begin);
		DO(&t, sums, dx, out, begin, weighed ? bw : NULL, bu, ratio, !all, ds);
		same_of_sparse(&t, x, N, D, out, begin, weighed ? bw : NULL, bu, ratio, !all, sums, ds);
		assert_ok(t.ctx, kdri_device_fetch(t.ctx, t.d, out, list, (size_t)begin[K] * 4));
		double *got = fetch(&t, ds), *want = malloc(sizeof *want * K * 2 * D);
		int64_t at = 0;
		for (int64_t j = 0; j < K; j++) {
			int64_t here = 0;
			assert_int_equal(begin[j], at);
			double *high = want + j * 2 * D, *low = high + D;
			for (int64_t f = 0; f < 2 * D; f++)
				high[f] = all ? 0 : sums[j * 2 * D + f];
			for (int64_t i = 0; i < N; i++) {
				bool in = label[i] == j, from = !all && before[i] == j;
				here += in;
				if (!(in || from) || (in && from))
					continue;
				assert_int_equal(list[at++], in ? i + 1 : -(i + 1));
				volatile double w = (weighed ? coef[i] : 1) * (in ? 1 : -1);
				for (int64_t f = 0; f < D; f++) {
					volatile double product = w * x[i * D + f];
					volatile double h = product + unit[f];
					h = h - unit[f];
					high[f] += h;
					volatile double l = product - h;
					l = l + unit[f] * ratio;
					l = l - unit[f] * ratio;
					low[f] += l;
				}
			}
			assert_int_equal(counts[j], here);
		}
		assert_int_equal(begin[K], at);
		assert_memory_equal(got, want, sizeof *want * K * 2 * D);
		assert_ok(t.ctx, kdri_device_fetch(t.ctx, t.d, bb, list, N * 4));
		assert_memory_equal(list, label, N * 4);
		drop_all(&t, (void *const[]){ bl, bb, out, bw, bu }, 5);
		drop(&t, dx.dense);
		drop(&t, ds);
		free(got);
		free(want);
	}
	free(label);
	free(before);
	free(list);
	free(x);
	free(sums);
	free(coef);
	fake_close(&t.f);
}
int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sparse__multiply_gram_and_tanh__as_loops),
		cmocka_unit_test(sparse__long_rows__as_loops),
		cmocka_unit_test(groups__some_clusters_empty__as_loops),
		cmocka_unit_test(order_and_sums__all_and_changed__as_loops),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
