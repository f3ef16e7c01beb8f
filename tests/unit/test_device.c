/* The table of operations: every device against plain loops, and the host's own against misuse.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "comm/exact.h"
#include "matrix/select.h"
#include "tests/unit/fake_device.h"

/* Sizes that are no multiple of anything, and 1. */
static const int64_t shapes[][3] = {
	{ 1, 1, 1 }, { 37, 41, 29 }, { 130, 67, 257 }, { 5, 300, 2 }, { 600, 520, 300 }
};
enum { ALL_SHAPES = sizeof shapes / sizeof *shapes };
/* A tool that looks at every access takes minutes over the last one: KINDRED_TEST_SMALL leaves it out. */
#define SHAPES (getenv("KINDRED_TEST_SMALL") ? ALL_SHAPES - 1 : ALL_SHAPES)

typedef struct tools {
	fake f;
	kdri_device *d;
	kdri_rng rng;
} tools;

static void open_tools(tools *t)
{
	fake_open(&t->f, 0);
	t->d = fake_device(&t->f);
	t->rng = kdri_rng_stream(3, "device", 0);
}

static double *numbers(tools *t, int64_t count)
{
	double *v = malloc((size_t)(count + 1) * sizeof *v);
	assert_non_null(v);
	for (int64_t i = 0; i < count; i++)
		v[i] = kdri_rng_normal(&t->rng);
	return v;
}

/* A view with a stride and a start of its own, so that both count. */
static kdri_dmat send(tools *t, const double *v, int64_t rows, int64_t cols)
{
	kdri_dmat a = { 0 };
	assert_ok(t->f.ctx, kdri_dmat_new(t->f.ctx, t->d, rows + 1, cols + 3, &a));
	assert_ok(t->f.ctx, kdri_device_status(t->f.ctx, t->d, t->d->fill(t->d, a, 77)));
	a = kdri_dmat_part(a, 1, 2, rows, cols);
	assert_ok(t->f.ctx, kdri_dmat_put(t->f.ctx, t->d, a, v, cols));
	return a;
}

static kdri_buf *send_buffer(tools *t, const void *v, int64_t count, size_t size)
{
	kdri_buf *b = NULL;
	assert_ok(t->f.ctx, kdri_dbuf_new(t->f.ctx, t->d, count, size, &b));
	assert_ok(t->f.ctx, kdri_dbuf_put(t->f.ctx, t->d, b, v, count, size));
	return b;
}

static double *fetch(tools *t, kdri_dmat a)
{
	double *v = malloc((size_t)(a.rows * a.cols + 1) * sizeof *v);
	assert_non_null(v);
	assert_ok(t->f.ctx, kdri_dmat_get(t->f.ctx, t->d, a, v, a.cols));
	return v;
}

#define DO(t, call) assert_ok((t)->f.ctx, kdri_device_status((t)->f.ctx, (t)->d, (call)))

static void drop(tools *t, kdri_dmat a)
{
	t->d->release(t->d, a.buf);
}

static double entry(const double *a, bool trans, int64_t ld, int64_t i, int64_t j)
{
	return trans ? a[j * ld + i] : a[i * ld + j];
}

static void gemm__all_forms__as_loops(void **state)
{
	tools t;
	(void)state;
	open_tools(&t);
	for (int s = 0; s < SHAPES; s++)
		for (int form = 0; form < 8; form++) {
			bool ta = form & 1, tb = form & 2;
			kdri_sharp sharp = form & 4 ? KDRI_SHARP_SINGLE : KDRI_SHARP_DOUBLE;
			int64_t m = shapes[s][0], n = shapes[s][1], k = shapes[s][2];
			double *a = numbers(&t, m * k), *b = numbers(&t, k * n), *c = numbers(&t, m * n);
			kdri_dmat x = send(&t, a, ta ? k : m, ta ? m : k),
			          y = send(&t, b, tb ? n : k, tb ? k : n), z = send(&t, c, m, n);
			DO(&t, t.d->gemm(t.d, ta, tb, 1.5, x, y, form % 3 ? -0.5 : 0, z, sharp));
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
					            (sharp == KDRI_SHARP_SINGLE ? 2e-6 : 1e-13) * (size + 1));
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
			bool trans = form & 1;
			kdri_sharp sharp = form & 2 ? KDRI_SHARP_SINGLE : KDRI_SHARP_DOUBLE;
			int64_t n = shapes[s][0], k = shapes[s][2];
			double *a = numbers(&t, n * k), *c = numbers(&t, n * n), *sums = numbers(&t, n * n);
			kdri_dmat x = send(&t, a, trans ? k : n, trans ? n : k), z = send(&t, c, n, n);
			DO(&t, t.d->syrk(t.d, trans, 0.5, x, 0, z, sharp));
			DO(&t, t.d->syrk(t.d, trans, 0.25, x, 1, z, sharp));
			DO(&t, t.d->mirror(t.d, z));
			double *got = fetch(&t, z);
			for (int64_t i = 0; i < n; i++)
				for (int64_t j = 0; j < n; j++) {
					double sum = 0;
					for (int64_t l = 0; l < k && (n < 200 || (i + j) % 11 == 0); l++)
						sum += entry(a, trans, trans ? n : k, i, l) *
						       entry(a, trans, trans ? n : k, j, l);
					if (n < 200 || (i + j) % 11 == 0)
						assert_near(got[i * n + j], 0.75 * sum,
						            (form & 2 ? 2e-6 : 1e-13) * (double)(k + 9));
					sums[i * n + j] = got[i * n + j];
				}
			/* (I + C)^-1 (I + C) */
			DO(&t, t.d->affine(t.d, z, NULL, NULL, 1, 1));
			DO(&t, t.d->inverse(t.d, z));
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
	kdri_dmat z = send(&t, bad, 2, 2);
	assert_int_equal(t.d->inverse(t.d, z), KDRI_D_NUMERIC);
	drop(&t, z);
	fake_close(&t.f);
}

static void inverse__large__times_the_matrix_is_one(void **state)
{
	tools t;
	(void)state;
	open_tools(&t);
	int64_t n = fake_real() && !getenv("KINDRED_TEST_SMALL")
	                    ? 3300
	                    : 150; /* an accelerator goes by halves from some size on */
	double *a = numbers(&t, n * n), one = 0;
	kdri_dmat x = send(&t, a, n, n), c = send(&t, a, n, n), product = send(&t, a, n, n);
	DO(&t, t.d->syrk(t.d, false, 1, x, 0, c, KDRI_SHARP_DOUBLE));
	DO(&t, t.d->affine(t.d, c, NULL, NULL, 1, (double)n));
	DO(&t, t.d->mirror(t.d, c));
	DO(&t, t.d->copy(t.d, c, x));
	DO(&t, t.d->inverse(t.d, c));
	DO(&t, t.d->gemm(t.d, false, false, 1, c, x, 0, product, KDRI_SHARP_DOUBLE));
	double *got = fetch(&t, product);
	for (int64_t p = 0; p < n * n; p++)
		one = fmax(one, fabs(got[p] - (p / n == p % n)));
	assert_true(one < 1e-11);
	drop(&t, x);
	drop(&t, c);
	drop(&t, product);
	free(a);
	free(got);
	fake_close(&t.f);
}

static void entries__all_operations__as_loops(void **state)
{
	tools t;
	(void)state;
	open_tools(&t);
	for (int s = 0; s < SHAPES; s++) {
		int64_t m = shapes[s][0], n = shapes[s][1], beyond = 0, far = 0;
		double *a = numbers(&t, m * n), *r = numbers(&t, m), *c = numbers(&t, n), *e = numbers(&t, n),
		       *got;
		kdri_buf *br = send_buffer(&t, r, m, 8), *bc = send_buffer(&t, c, n, 8),
		         *sum = send_buffer(&t, c, n, 8), *squares = send_buffer(&t, c, n, 8);
		kdri_dmat x = send(&t, a, m, n), y = send(&t, a, m, n), vr = { br, 0, 1, m, m },
		          vc = { bc, 0, 1, n, n }, ve = send(&t, e, 1, n);
		DO(&t, t.d->moments(t.d, x, 0.9, sum, squares, &far));
		double *u = malloc((size_t)n * 8), *v = malloc((size_t)n * 8), total = 0;
		assert_ok(t.f.ctx, kdri_dbuf_get(t.f.ctx, t.d, sum, u, n, 8));
		assert_ok(t.f.ctx, kdri_dbuf_get(t.f.ctx, t.d, squares, v, n, 8));
		for (int64_t j = 0; j < n; j++) {
			double one = 0, two = 0;
			for (int64_t i = 0; i < m; i++) {
				one += a[i * n + j];
				two += a[i * n + j] * a[i * n + j];
				beyond += fabs(a[i * n + j]) > 0.9;
			}
			assert_near(u[j], one, 1e-11);
			assert_near(v[j], two, 1e-11);
		}
		assert_int_equal(beyond, far);
		DO(&t, t.d->centre(t.d, x, vc, 0.5, ve, y));
		got = fetch(&t, y);
		for (int64_t p = 0; p < m * n; p++)
			assert_near(got[p], (a[p] - 0.5 * c[p % n]) * e[p % n], 1e-13);
		free(got);
		DO(&t, t.d->tanh(t.d, x, false, br, vc, ve, y));
		got = fetch(&t, y);
		for (int64_t p = 0; p < m * n; p++)
			assert_near(got[p], tanh(a[p] + r[p / n] * c[p % n] + e[p % n]), 1e-14);
		free(got);
		kdri_dmat z = send(&t, a, n, m);
		DO(&t, t.d->tanh(t.d, x, true, NULL, vc, vr, z));
		got = fetch(&t, z);
		for (int64_t p = 0; p < m * n; p++)
			assert_near(got[p], tanh(a[p % m * n + p / m] + r[p % m]), 1e-14);
		free(got);
		drop(&t, z);
		DO(&t, t.d->kernel_sum(t.d, x, vr, vc, 0.3, &total));
		double want = 0;
		for (int64_t p = 0; p < m * n; p++)
			want += exp(-0.3 * fmax(0, r[p / n] + c[p % n] - 2 * a[p]));
		assert_near(total, want, 1e-12 * (double)(m * n));
		DO(&t, t.d->kernel_sum(t.d, x, vr, vc, 0, &total));
		want = 0;
		for (int64_t p = 0; p < m * n; p++)
			want += a[p];
		assert_near(total, want, 1e-12 * (double)(m * n));
		DO(&t, t.d->copy(t.d, x, y));
		DO(&t, t.d->gauss(t.d, y, vr, vc, 0.3));
		got = fetch(&t, y);
		for (int64_t p = 0; p < m * n; p++)
			assert_near(got[p], exp(-0.3 * fmax(0, r[p / n] + c[p % n] - 2 * a[p])), 1e-14);
		free(got);
		DO(&t, t.d->copy(t.d, x, y));
		DO(&t, t.d->distances(t.d, y, vr, vc));
		DO(&t, t.d->affine(t.d, y, br, bc, 2, 3));
		got = fetch(&t, y);
		for (int64_t p = 0; p < m * n; p++)
			assert_near(got[p],
			            2 * r[p / n] * c[p % n] * fmax(0, r[p / n] + c[p % n] - 2 * a[p]) +
			                    (p / n == p % n ? 3 : 0),
			            1e-12);
		free(got);
		DO(&t, t.d->column_dots(t.d, x, x, sum));
		assert_ok(t.f.ctx, kdri_dbuf_get(t.f.ctx, t.d, sum, u, n, 8));
		for (int64_t j = 0; j < n; j++)
			assert_near(u[j], v[j], 1e-11);
		free(u);
		free(v);
		drop(&t, x);
		drop(&t, y);
		drop(&t, ve);
		t.d->release(t.d, br);
		t.d->release(t.d, bc);
		t.d->release(t.d, sum);
		t.d->release(t.d, squares);
		free(a);
		free(r);
		free(c);
		free(e);
	}
	fake_close(&t.f);
}

static void ratio_step__zeros_and_small__as_said(void **state)
{
	tools t;
	(void)state;
	open_tools(&t);
	double y[] = { 1, 2, 0, 1e-60, 3 }, n[] = { 4, 5, 1, 1e-90, 16 }, d[] = { 1, 0, 2, 1, 1 };
	kdri_dmat a = send(&t, y, 1, 5), b = send(&t, n, 1, 5), c = send(&t, d, 1, 5), to = send(&t, y, 1, 5);
	for (int careful = 0; careful < 2; careful++) {
		DO(&t, t.d->ratio_step(t.d, a, b, c, careful, to));
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

static void rows__order_statistics_and_limits__as_loops(void **state)
{
	tools t;
	(void)state;
	open_tools(&t);
	for (int s = 1; s < SHAPES; s++) {
		int64_t m = shapes[s][0], n = shapes[s][1], count = 0, some = 0;
		double *a = numbers(&t, m * n), *got = numbers(&t, m), *limit = numbers(&t, m),
		       *row = numbers(&t, n);
		int64_t *starts = calloc((size_t)m + 1, 8), index[3] = { 0, m / 2 < n ? m / 2 : 0, 0 };
		for (int64_t p = 0; p < m * n; p += 3)
			a[p] = round(a[p]); /* ties, and zeros of both signs */
		kdri_dmat x = send(&t, a, m, n);
		kdri_buf *out = send_buffer(&t, limit, m, 8), *lim = send_buffer(&t, limit, m, 8),
		         *st = send_buffer(&t, starts, m, 8), *places = send_buffer(&t, index, 3, 8);
		for (int64_t place = 0; place < n; place += KDRI_MAX(1, n / 5))
			for (int64_t first = -1; first < 2 && first + m <= n; first++) {
				DO(&t, t.d->row_nth(t.d, x, place, first, out));
				assert_ok(t.f.ctx, kdri_dbuf_get(t.f.ctx, t.d, out, got, m, 8));
				for (int64_t i = 0; i < m; i++) {
					memcpy(row, a + i * n, (size_t)n * 8);
					if (first >= 0)
						row[first + i] = INFINITY;
					assert_true(got[i] == kdri_nth(row, n, place));
				}
			}
		DO(&t, t.d->row_sums(t.d, x, 2, 0, out));
		DO(&t, t.d->row_sums(t.d, x, 1, 0.5, out));
		assert_ok(t.f.ctx, kdri_dbuf_get(t.f.ctx, t.d, out, got, m, 8));
		for (int64_t i = 0; i < m; i++) {
			double sum = 0;
			for (int64_t j = 0; j < n; j++)
				sum += a[i * n + j] * a[i * n + j];
			assert_near(got[i], 2 * sum, 1e-11 * (1 + sum));
		}
		DO(&t, t.d->count_from(t.d, x, 0.5, &count));
		for (int64_t p = 0; p < m * n; p++)
			some += a[p] >= 0.5;
		assert_int_equal(count, some);
		DO(&t, t.d->pick(t.d, x, 1, lim, st, NULL, NULL));
		assert_ok(t.f.ctx, kdri_dbuf_get(t.f.ctx, t.d, st, starts, m, 8));
		count = 0;
		for (int64_t i = 0; i < m; i++) {
			int64_t here = starts[i];
			starts[i] = count;
			count += here;
		}
		int32_t *cols = calloc((size_t)count + 1, 4);
		double *vals = calloc((size_t)count + 1, 8);
		kdri_buf *bc = send_buffer(&t, cols, count, 4), *bv = send_buffer(&t, vals, count, 8);
		assert_ok(t.f.ctx, kdri_dbuf_put(t.f.ctx, t.d, st, starts, m, 8));
		DO(&t, t.d->pick(t.d, x, 1, lim, st, bc, bv));
		assert_ok(t.f.ctx, kdri_dbuf_get(t.f.ctx, t.d, bc, cols, count, 4));
		assert_ok(t.f.ctx, kdri_dbuf_get(t.f.ctx, t.d, bv, vals, count, 8));
		int64_t at = 0;
		for (int64_t i = 0; i < m; i++)
			for (int64_t j = 0; j < n; j++)
				if (a[i * n + j] < limit[i] && j != 1 + i) {
					assert_true(at < count && cols[at] == j && vals[at] == a[i * n + j]);
					at++;
				}
		assert_int_equal(at, count);
		if (m <= n) {
			double three[9];
			kdri_dmat to = send(&t, a, 3, 3);
			DO(&t, t.d->take(t.d, x, places, to));
			assert_ok(t.f.ctx, kdri_dmat_get(t.f.ctx, t.d, to, three, 3));
			for (int i = 0; i < 9; i++)
				assert_true(three[i] == a[index[i / 3] * n + index[i % 3]]);
			drop(&t, to);
		}
		drop(&t, x);
		kdri_buf *bufs[] = { out, lim, st, places, bc, bv };
		for (int i = 0; i < 6; i++)
			t.d->release(t.d, bufs[i]);
		free(a);
		free(got);
		free(limit);
		free(row);
		free(starts);
		free(cols);
		free(vals);
	}
	fake_close(&t.f);
}

static void sparse__multiply_and_spread__as_loops(void **state)
{
	tools t;
	(void)state;
	open_tools(&t);
	enum { ROWS = 53, COLS = 47, WIDE = 70 };
	double full[ROWS * COLS] = { 0 }, val[ROWS * COLS], *b = numbers(&t, COLS * WIDE),
	                   *w = numbers(&t, COLS);
	int64_t rowptr[ROWS + 1] = { 0 }, at = 0;
	int32_t col[ROWS * COLS];
	for (int64_t i = 0; i < ROWS; i++) {
		for (int64_t j = 0; j < COLS; j++)
			if (kdri_rng_uniform(&t.rng) < 0.2 && i % 9) {
				val[at] = full[i * COLS + j] = kdri_rng_normal(&t.rng);
				col[at++] = (int32_t)j;
			}
		rowptr[i + 1] = at;
	}
	kdr_csr x = { .rows = ROWS, .cols = COLS, .rowptr = rowptr, .col = col, .val = val };
	kdri_dcsr m = { 0 };
	assert_ok(t.f.ctx, kdri_dcsr_of(t.f.ctx, t.d, &x, &m));
	kdri_buf *weight = send_buffer(&t, w, COLS, 8);
	static const int64_t widths[] = { 1, 2, 3, 7, 16, 17, 40, WIDE };
	for (size_t form = 0; form < sizeof widths / sizeof *widths; form++) {
		int64_t wide = widths[form];
		double *y = numbers(&t, ROWS * wide);
		kdri_dmat u = send(&t, b, COLS, wide), v = send(&t, y, ROWS, wide);
		DO(&t, t.d->multiply(t.d, m, u, true, v));
		double *got = fetch(&t, v);
		for (int64_t i = 0; i < ROWS; i++)
			for (int64_t c = 0; c < wide; c++) {
				double sum = y[i * wide + c];
				for (int64_t j = 0; j < COLS; j++)
					sum += full[i * COLS + j] * b[j * wide + c];
				assert_near(got[i * wide + c], sum, 1e-12);
			}
		drop(&t, u);
		drop(&t, v);
		free(got);
		free(y);
	}
	for (int form = 0; form < 4; form++) {
		enum { FIRST = 5, SOME = 31 };
		bool turned = form & 1, weighed = form & 2;
		double room[ROWS * COLS] = { 0 };
		kdri_dmat to = send(&t, room, turned ? COLS : SOME, turned ? SOME : COLS);
		DO(&t, t.d->spread(t.d, m, FIRST, weighed ? weight : NULL, turned, to));
		double *got = fetch(&t, to);
		for (int64_t i = 0; i < SOME; i++)
			for (int64_t j = 0; j < COLS; j++)
				assert_true(got[turned ? j * SOME + i : i * COLS + j] ==
				            full[(FIRST + i) * COLS + j] * (weighed ? w[j] : 1));
		drop(&t, to);
		free(got);
	}
	t.d->release(t.d, weight);
	kdri_dcsr_free(t.d, &m);
	free(b);
	free(w);
	fake_close(&t.f);
}

/* Rows of thousands of entries, and few columns: several threads share a row. */
static void sparse__long_rows__as_loops(void **state)
{
	tools t;
	(void)state;
	open_tools(&t);
	enum { ROWS = 4, COLS = 6000 };
	double *val = numbers(&t, ROWS * COLS), *b = numbers(&t, COLS * 16), want[ROWS * 16];
	int32_t *col = calloc(ROWS * COLS, 4);
	int64_t rowptr[ROWS + 1] = { 0 }, at = 0;
	for (int64_t i = 0; i < ROWS; i++) {
		for (int64_t j = 0; j < COLS; j += 1 + 2 * i)
			col[at++] = (int32_t)j;
		rowptr[i + 1] = at;
	}
	kdr_csr x = { .rows = ROWS, .cols = COLS, .rowptr = rowptr, .col = col, .val = val };
	kdri_dcsr m = { 0 };
	assert_ok(t.f.ctx, kdri_dcsr_of(t.f.ctx, t.d, &x, &m));
	for (int64_t wide = 1; wide <= 16; wide += 3) {
		memset(want, 0, sizeof want);
		for (int64_t i = 0; i < ROWS; i++)
			for (int64_t p = rowptr[i]; p < rowptr[i + 1]; p++)
				for (int64_t c = 0; c < wide; c++)
					want[i * wide + c] += val[p] * b[col[p] * wide + c];
		kdri_dmat u = send(&t, b, COLS, wide), v = send(&t, b, ROWS, wide);
		DO(&t, t.d->multiply(t.d, m, u, false, v));
		double *got = fetch(&t, v);
		for (int64_t i = 0; i < ROWS * wide; i++)
			assert_near(got[i], want[i], 1e-10);
		drop(&t, u);
		drop(&t, v);
		free(got);
	}
	kdri_dcsr_free(t.d, &m);
	free(val);
	free(b);
	free(col);
	fake_close(&t.f);
}

/* (E21) and (E22), bit for bit. */
static void own_and_closest__some_clusters_empty__as_loops(void **state)
{
	tools t;
	(void)state;
	open_tools(&t);
	enum { N = 3000, K = 11 };
	double *a = numbers(&t, K * N), *diagonal = numbers(&t, N), *self = numbers(&t, K), sizes[K];
	int32_t *label = calloc(N, 4), *next = calloc(N, 4);
	for (int64_t j = 0; j < K; j++)
		sizes[j] = j % 4 == 2 ? 0 : (double)(3 + 7 * j);
	for (int64_t i = 0; i < N; i++) {
		label[i] = (int32_t)kdri_rng_below(&t.rng, K);
		if (i % 5 == 0) /* ties go to the lower one */
			a[4 * N + i] = a[3 * N + i] * sizes[4] / sizes[3];
	}
	kdri_dmat da = send(&t, a, K, N);
	kdri_buf *bl = send_buffer(&t, label, N, 4), *bn = send_buffer(&t, next, N, 4),
	         *bd = send_buffer(&t, diagonal, N, 8), *bs = send_buffer(&t, self, K, 8),
	         *bm = send_buffer(&t, sizes, K, 8), *bo = send_buffer(&t, diagonal, N, 8);
	double *got = malloc(sizeof *got * N);
	DO(&t, t.d->own(t.d, da, bl, bo));
	assert_ok(t.f.ctx, kdri_dbuf_get(t.f.ctx, t.d, bo, got, N, 8));
	for (int64_t i = 0; i < N; i++)
		assert_true(got[i] == a[label[i] * N + i]);
	DO(&t, t.d->closest(t.d, da, bd, bm, bs, bn, bo));
	assert_ok(t.f.ctx, kdri_dbuf_get(t.f.ctx, t.d, bo, got, N, 8));
	assert_ok(t.f.ctx, kdri_dbuf_get(t.f.ctx, t.d, bn, next, N, 4));
	for (int64_t i = 0; i < N; i++) {
		double least = INFINITY;
		int32_t best = 0;
		for (int32_t j = 0; j < K; j++) {
			volatile double twice = 2 * a[j * N + i] / sizes[j], square = sizes[j] * sizes[j];
			volatile double rest = self[j] / square, v = diagonal[i] - twice;
			v = v + rest;
			if (sizes[j] > 0 && v < least) {
				least = v;
				best = j;
			}
		}
		assert_int_equal(next[i], best);
		assert_true(got[i] == KDRI_MAX(least, 0));
	}
	kdri_buf *bufs[] = { bl, bn, bd, bs, bm, bo };
	for (int i = 0; i < 6; i++)
		t.d->release(t.d, bufs[i]);
	drop(&t, da);
	free(a);
	free(diagonal);
	free(self);
	free(label);
	free(next);
	free(got);
	fake_close(&t.f);
}

/* The same rows as sparse ones give the sums that are in `dense`, and these joined are numbers. */
static void same_of_sparse(tools *t, const double *x, int64_t n, int64_t d, const kdri_buf *list,
                           const int64_t *begin, const kdri_buf *coef, const kdri_buf *unit, double ratio,
                           bool add, const double *sums, kdri_dmat dense)
{
	int64_t *rowptr = calloc((size_t)n + 1, sizeof *rowptr), k = dense.rows;
	int32_t *col = calloc((size_t)(n * d), sizeof *col);
	kdri_dcsr rows = { 0 };
	kdri_dmat joined = { 0 };
	for (int64_t i = 0; i < n * d; i++) {
		col[i] = (int32_t)(i % d);
		rowptr[i / d + 1] = (i / d + 1) * d;
	}
	const kdr_mat m = kdr_mat_from_csr(n, d, rowptr, col, x);
	assert_ok(t->f.ctx, kdri_dcsr_of(t->f.ctx, t->d, &m.as.csr, &rows));
	assert_ok(t->f.ctx, kdri_dmat_new(t->f.ctx, t->d, k, d, &joined));
	kdri_dmat to = send(t, sums, k, 2 * d);
	DO(t, t->d->sums_sparse(t->d, rows, list, begin, coef, unit, ratio, add, to));
	DO(t, t->d->join(t->d, to, joined));
	double *want = fetch(t, dense), *got = fetch(t, to), *one = fetch(t, joined);
	for (int64_t i = 0; i < k * 2 * d; i++)
		assert_true(got[i] == want[i]);
	for (int64_t i = 0; i < k * d; i++)
		assert_true(one[i] == want[i / d * 2 * d + i % d] + want[i / d * 2 * d + d + i % d]);
	drop(t, to);
	drop(t, joined);
	kdri_dcsr_free(t->d, &rows);
	free(want);
	free(got);
	free(one);
	free(rowptr);
	free(col);
}

/* The order of (E18) of device.h, and its sums, by the simplest code. */
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
	for (int64_t i = 0; i < K * 2 * D; i++) { /* what is added to are such sums, too */
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
		kdri_buf *bl = send_buffer(&t, label, N, 4), *bb = send_buffer(&t, before, N, 4),
		         *out = send_buffer(&t, list, 2 * N, 4), *bw = send_buffer(&t, coef, N, 8),
		         *bu = send_buffer(&t, unit, D, 8);
		kdri_dmat dx = send(&t, x, N, D), ds = send(&t, sums, K, 2 * D);
		DO(&t, t.d->changed(t.d, bl, bb, N, K, &moved, counts));
		assert_int_equal(moved, changed);
		DO(&t, t.d->order(t.d, bl, bb, N, K, all, out, begin));
		DO(&t, t.d->sums(t.d, dx, out, begin, weighed ? bw : NULL, bu, ratio, !all, ds));
		same_of_sparse(&t, x, N, D, out, begin, weighed ? bw : NULL, bu, ratio, !all, sums, ds);
		t.d->release(t.d, bu);
		assert_ok(t.f.ctx, kdri_dbuf_get(t.f.ctx, t.d, out, list, begin[K], 4));
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
		assert_ok(t.f.ctx, kdri_dbuf_get(t.f.ctx, t.d, bb, list, N, 4));
		assert_memory_equal(list, label, N * 4);
		kdri_buf *bufs[] = { bl, bb, out, bw };
		for (int i = 0; i < 4; i++)
			t.d->release(t.d, bufs[i]);
		drop(&t, dx);
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

static void host__misuse__is_refused(void **state)
{
	fake f;
	double here[4] = { 0 };
	kdri_dmat a = { 0 };
	kdri_buf *buf = NULL;
	(void)state;
	if (fake_real())
		skip();
	fake_open(&f, 1000);
	kdri_device *d = f.device;
	if (!d)
		return;
	assert_int_equal(d->alloc(d, 1001, &buf), KDRI_D_MEMORY);
	assert_ok(f.ctx, kdri_dmat_new(f.ctx, d, 2, 2, &a));
	/* A host's pointer where a buffer is due, a buffer where the host's is due, and views that leave theirs. */
	assert_int_equal(d->fill(d, (kdri_dmat){ (kdri_buf *)here, 0, 2, 2, 2 }, 1), KDRI_D_FAILED);
	assert_non_null(strstr(d->error, "not a buffer of this device"));
	assert_int_equal(d->put(d, a.buf, 0, 0, a.buf->data, 0, 8, 1), KDRI_D_FAILED);
	assert_non_null(strstr(d->error, "the host's side is a buffer"));
	assert_int_equal(d->fill(d, (kdri_dmat){ a.buf, 0, 2, 3, 3 }, 1), KDRI_D_FAILED);
	assert_int_equal(d->fill(d, (kdri_dmat){ a.buf, 1, 2, 2, 2 }, 1), KDRI_D_FAILED);
	assert_int_equal(d->fill(d, (kdri_dmat){ a.buf, 0, 2, 2, 1 }, 1), KDRI_D_FAILED);
	assert_int_equal(d->get(d, a.buf, 8, 0, here, 0, 32, 1), KDRI_D_FAILED);
	assert_int_equal(
	        d->gemm(d, false, false, 1, a, (kdri_dmat){ a.buf, 0, 1, 2, 2 }, 0, a, KDRI_SHARP_DOUBLE),
	        KDRI_D_FAILED);
	assert_int_equal(kdri_dmat_put(f.ctx, d, (kdri_dmat){ a.buf, 0, 2, 2, 2 }, here, 2), KDR_OK);
	assert_int_equal(f.limits.put_bytes, 32);
	assert_int_equal(d->pin(d, here, sizeof here), KDRI_D_OK);
	assert_int_equal(d->pin(d, here, sizeof here), KDRI_D_FAILED);
	assert_int_equal(f.limits.pins, 1);
	d->unpin(d, here);
	d->unpin(d, here);
	kdri_buf *gone = a.buf;
	kdri_dmat_free(d, &a);
	assert_int_equal(d->fill(d, (kdri_dmat){ gone, 0, 2, 2, 2 }, 1), KDRI_D_FAILED);
	fake_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gemm__all_forms__as_loops),
		cmocka_unit_test(syrk_mirror_inverse__symmetric__as_loops),
		cmocka_unit_test(inverse__large__times_the_matrix_is_one),
		cmocka_unit_test(entries__all_operations__as_loops),
		cmocka_unit_test(ratio_step__zeros_and_small__as_said),
		cmocka_unit_test(rows__order_statistics_and_limits__as_loops),
		cmocka_unit_test(sparse__multiply_and_spread__as_loops),
		cmocka_unit_test(sparse__long_rows__as_loops),
		cmocka_unit_test(own_and_closest__some_clusters_empty__as_loops),
		cmocka_unit_test(order_and_sums__all_and_changed__as_loops),
		cmocka_unit_test(host__misuse__is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
