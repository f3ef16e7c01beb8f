/* Products of matrices that a device holds, and methods that use them. SPDX-License-Identifier: BSD-3-Clause */
#include "matrix/device_use.h"

#include "matrix/range.h"
#include "tests/device/fake.h"
#include "tests/unit/linalg_unit.h"

#include <pthread.h>

enum { N = 90, D = 70, MOST = 12 };

/* Two matrices as dense and as sparse ones, and a device that may take `most` bytes. */
typedef struct held_case {
	unit_pair p, q; /* N x D, D x N */
	fake f;
} held_case;

static void case_open(held_case *c, size_t most)
{
	kdri_rng rng = kdri_rng_stream(4, "held", 0);
	c->p = unit_pair_new(&rng, N, D, 0.3);
	c->q = unit_pair_new(&rng, D, N, 0.2);
	fake_open(&c->f, most);
}

static void case_close(held_case *c)
{
	assert_null(c->f.ctx->held);
	fake_close(&c->f);
	unit_pair_free(&c->p);
	unit_pair_free(&c->q);
}

/* X B, or X'B, with k columns that lie in rows of MOST; compared with the processor's. */
static void compare_product(fake *f, const kdr_mat *x, bool turned, int64_t k)
{
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(3, "held", (uint64_t)k);
	int64_t rows = kdr_mat_rows(x), cols = kdr_mat_cols(x), high = turned ? cols : rows;
	double *b = unit_random(&rng, (turned ? rows : cols) * MOST), *y = unit_random(&rng, high * MOST),
	       *z = unit_doubles(high * MOST);
	memcpy(z, y, (size_t)(high * MOST) * sizeof *z); /* beyond k both stay as they are */
	kdr_context_set_device(ctx, "cpu");
	kdr_status (*mul)(kdr_context *, const kdr_mat *, const double *, int64_t, int64_t, double *,
	                  int64_t) = turned ? kdri_mat_tmul : kdri_mat_mul;
	assert_ok(f->ctx, mul(f->ctx, x, b, k, MOST, y, MOST));
	assert_ok(ctx, mul(ctx, x, b, k, MOST, z, MOST));
	for (int64_t i = 0; i < high * MOST; i++)
		assert_near(y[i], z[i], 1e-11 * (1 + fabs(z[i])));
	free(b);
	free(y);
	free(z);
	kdr_context_free(ctx);
}

static void held__dense_and_sparse__products_of_the_device(void **state)
{
	(void)state;
	for (int sparse = 0; sparse < 2; sparse++) {
		kdri_held *held = NULL;
		held_case c;
		case_open(&c, 0);
		fake *f = &c.f;
		const kdr_mat *x = sparse ? &c.p.csr : &c.p.dense;
		assert_ok(f->ctx, kdri_hold(f->ctx, x, true, 4, 1e6, &held));
		assert_non_null(held);
		size_t sent = f->limits.put_bytes;
		for (int64_t k = 1; k <= MOST; k += 3) /* more than announced: the buffer grows */
			for (int turned = 0; turned < 2; turned++) {
				int64_t calls = f->limits.calls;
				compare_product(f, x, turned, k);
				assert_true(f->limits.calls > calls || fake_real());
			}
		/* X itself went once. */
		assert_true(f->limits.put_bytes - sent <= (size_t)((1 + 4 + 7 + 10) * (N + D)) * 8 ||
		            fake_real());
		kdr_mat part = kdri_rows(x, 20, 61);
		int64_t calls = f->limits.calls;
		compare_product(f, &part, false, 5);
		compare_product(f, &part, true, 5);
		assert_true(sparse ? f->limits.calls == calls : f->limits.calls > calls || fake_real());
		kdri_unhold(f->ctx, held);
		calls = f->limits.calls;
		compare_product(f, x, false, 5);
		assert_int_equal(f->limits.calls, calls);
		case_close(&c);
	}
}

static void held__several__each_its_own(void **state)
{
	(void)state;
	kdri_held *held[3] = { NULL };
	held_case c;
	case_open(&c, 0);
	fake *f = &c.f;
	assert_ok(f->ctx, kdri_hold(f->ctx, &c.p.csr, false, 4, 1e6, &held[0]));
	assert_ok(f->ctx, kdri_hold(f->ctx, &c.q.csr, false, 4, 1e6, &held[1]));
	assert_ok(f->ctx, kdri_hold(f->ctx, &c.q.dense, false, 4, 1e6, &held[2]));
	compare_product(f, &c.p.csr, false, 4);
	compare_product(f, &c.q.csr, false, 4);
	compare_product(f, &c.q.csr, true, 4); /* not held turned: the processor's */
	compare_product(f, &c.q.dense, true, 4);
	kdri_unhold(f->ctx, held[1]);
	compare_product(f, &c.q.csr, false, 4);
	compare_product(f, &c.p.csr, false, 4);
	kdri_unhold(f->ctx, held[0]);
	kdri_unhold(f->ctx, held[2]);
	kdri_unhold(f->ctx, NULL);
	case_close(&c);
}

/* Matrices that do not fit are sent in tiles, all but the first for every product; the device never has more than its
 * memory. */
static void held__little_room__rows_come_in_tiles(void **state)
{
	(void)state;
	if (fake_real())
		skip();
	for (int sparse = 0; sparse < 2; sparse++)
		for (size_t most = 24000; most <= 48000; most += 8000) {
			kdri_held *held = NULL;
			held_case c;
			case_open(&c, most);
			fake *f = &c.f;
			const kdr_mat *x =
			        sparse ? &c.p.csr : &c.p.dense; /* 50,400 and about 46,000 with x' */
			assert_ok(f->ctx, kdri_hold(f->ctx, x, true, 4, 1e6, &held));
			assert_non_null(held);
			for (int64_t k = 1; k <= MOST; k += 3)
				for (int turned = 0; turned < 2; turned++) {
					size_t sent = f->limits.put_bytes,
					       columns = (size_t)(k * (N + D)) * 8;
					compare_product(f, x, turned, k);
					assert_true(f->limits.put_bytes > sent + (size_t)(k * D) * 8);
					/* Four columns at a time, and a good part of x stays there. */
					size_t rounds = (size_t)(k + 3) / 4, whole = (size_t)N * 72 * 8;
					assert_true(f->limits.put_bytes < sent + columns + rounds * whole);
				}
			kdr_mat part = kdri_rows(x, 20, 61), end = kdri_rows(x, 80, N);
			compare_product(f, &part, false, 5);
			compare_product(f, &part, true, 5);
			compare_product(f, &end, true, 3);
			assert_true(f->limits.peak <= most);
			kdri_unhold(f->ctx, held);
			case_close(&c);
		}
}

/* No room even for columns. */
static void held__no_room__processor(void **state)
{
	(void)state;
	if (fake_real())
		skip();
	kdri_held *held = NULL;
	held_case c;
	case_open(&c, 6000);
	assert_ok(c.f.ctx, kdri_hold(c.f.ctx, &c.p.dense, true, 4, 1e6, &held));
	assert_null(held);
	compare_product(&c.f, &c.p.dense, true, 4);
	case_close(&c);
}

typedef struct other {
	fake *f;
	const kdr_mat *x;
} other;

static void *multiply_elsewhere(void *user)
{
	other *o = user;
	compare_product(o->f, o->x, false, 3);
	return NULL;
}

static void held__another_thread__processor(void **state)
{
	(void)state;
	if (fake_real())
		skip();
	kdri_held *held = NULL;
	pthread_t thread;
	held_case c;
	case_open(&c, 0);
	assert_ok(c.f.ctx, kdri_hold(c.f.ctx, &c.p.dense, true, 4, 1e6, &held));
	other o = { &c.f, &c.p.dense };
	int64_t calls = c.f.limits.calls;
	assert_int_equal(pthread_create(&thread, NULL, multiply_elsewhere, &o), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(c.f.limits.calls, calls);
	kdri_unhold(c.f.ctx, held);
	case_close(&c);
}

/* Leading directions of the sparse one. */
static kdr_status leading_there(kdr_context *ctx, void *user)
{
	kdr_status st;
	unit_pair *p = user;
	double s[5], *u = NULL;
	kdri_held *held = NULL;
	const kdri_op op = kdri_op_mat(&p->csr);
	KDRI_TRY(kdri_hold_leading(ctx, &p->csr, 5, 4, &held));
	KDRI_TRY(kdri_leading(ctx, &op, 5, 4, &u, s, NULL));
done:
	kdri_unhold(ctx, held);
	kdri_free(ctx, u);
	return st;
}

static void held__device_fails__says_so_and_gives_all_back(void **state)
{
	(void)state;
	held_case c;
	case_open(&c, 0);
	fake_failing(leading_there, &c.p, 40);
	case_close(&c);
}

static void held__device_fails_with_auto__processor_goes_on(void **state)
{
	(void)state;
	if (fake_real())
		skip();
	for (int64_t at = 1; at < 40; at += 3) {
		kdri_held *held = NULL;
		held_case c;
		case_open(&c, at % 2 ? 0 : 30000);
		c.f.limits.fail_at = at;
		c.f.limits.fail_with = KDR_ERR_INTERNAL;
		kdr_status st = kdri_hold(c.f.ctx, &c.p.csr, true, 4, 1e6, &held);
		c.f.ctx->device_choice = KDRI_DEVICE_AUTO; /* as if the library had chosen it */
		if (st == KDR_OK && held) {
			compare_product(&c.f, &c.p.csr, false, 4);
			compare_product(&c.f, &c.p.csr, true, 4);
		}
		kdri_unhold(c.f.ctx, held);
		c.f.limits.fail_at = 0;
		case_close(&c);
	}
}

/* --- methods that multiply held matrices --------------------------------------------------------------------- */

typedef struct method_case {
	const char *method;
	const char *const (*settings)[2];
	bool transfer, dense_too, sparse_too;
	int64_t rows, cols;
} method_case;

static kdr_status fit(kdr_context *ctx, const method_case *m, bool sparse, kdr_result **out)
{
	enum { CLASSES = 3 };
	int64_t n = m->rows, d = m->cols, *labels = malloc((size_t)n * sizeof *labels);
	int64_t *rowptr[2] = { calloc((size_t)n + 1, 8), calloc((size_t)n + 1, 8) };
	int32_t *col[2] = { calloc((size_t)(n * d), 4), calloc((size_t)(n * d), 4) };
	double *x[2] = { fake_points(n, d, CLASSES, 0.3, 5), fake_points(n, d, CLASSES, 0.4, 5) };
	kdr_task tasks[2] = { { .name = "a", .k = CLASSES }, { .name = "b", .k = CLASSES } };
	kdr_problem problem = {
		.size = sizeof(kdr_problem), .tasks = tasks, .ntasks = 2, .classes = CLASSES
	};
	kdr_options *o = NULL;
	for (int64_t i = 0; i < n; i++)
		labels[i] = i % CLASSES;
	for (int t = 0; t < 2; t++) {
		int64_t at = 0;
		for (int64_t i = 0; i < n; i++) {
			for (int64_t j = 0; j < d; j++) {
				double v = fabs(x[t][i * d + j]);
				if (sparse && v < 0.4)
					continue;
				x[t][sparse ? at : i * d + j] = v;
				col[t][at++] = (int32_t)j;
			}
			rowptr[t][i + 1] = at;
		}
		tasks[t].x = sparse ? kdr_mat_from_csr(n, d, rowptr[t], col[t], x[t])
		                    : kdr_mat_from_dense(x[t], n, d);
		tasks[t].role = m->transfer ? (t ? KDR_ROLE_TARGET : KDR_ROLE_SOURCE) : tasks[t].role;
		tasks[t].labels = m->transfer && t == 0 ? labels : NULL;
	}
	kdr_status st = kdr_options_new(ctx, m->method, &o);
	for (int i = 0; st == KDR_OK && m->settings[i][0]; i++)
		st = kdr_options_set(ctx, o, m->settings[i][0], m->settings[i][1]);
	if (st == KDR_OK)
		st = kdr_fit(ctx, m->method, &problem, o, out);
	kdr_options_free(o);
	for (int t = 0; t < 2; t++) {
		free(rowptr[t]);
		free(col[t]);
		free(x[t]);
	}
	free(labels);
	return st;
}

/* On a device with `most` bytes. */
static void compare_fit(const method_case *m, bool sparse, size_t most)
{
	kdr_context *ctx = unit_context();
	kdr_result *here = NULL, *there = NULL;
	fake f;
	fake_open(&f, most);
	kdr_context_set_device(ctx, "cpu");
	assert_ok(ctx, fit(ctx, m, sparse, &here));
	assert_ok(f.ctx, fit(f.ctx, m, sparse, &there));
	assert_true(f.limits.calls > 0 || fake_real());
	assert_true(!most || f.limits.peak <= most);
	assert_null(f.ctx->held);
	for (int64_t t = 0; t < 2; t++) {
		int64_t n, k;
		const int64_t *a = kdr_result_labels(here, t, &n), *b = kdr_result_labels(there, t, &k);
		assert_int_equal(n, k);
		if (a)
			assert_memory_equal(a, b, (size_t)n * sizeof *a);
	}
	kdr_result_free(here);
	kdr_result_free(there);
	kdr_context_free(ctx);
	fake_close(&f);
}

static void methods__on_a_device__same_labels(void **state)
{
	static const char *const none[][2] = { { NULL, NULL } };
	static const char *const few[][2] = { { "p1", "3" }, { "p2", "2" }, { NULL, NULL } };
	static const char *const direct[][2] = { { "eps", "0.1" }, { "l", "2" }, { NULL, NULL } };
	static const method_case methods[] = {
		{ "nmtf", few, true, true, true, 60, 40 },
		{ "aligned-ridge", none, true, true, true, 60, 40 },
		{ "lssmtc", direct, false, true, true, 200, 210 },
		{ "auto", none, false, true, true, 60, 40 },
	};
	(void)state;
	/* A tool that looks at every access takes minutes over the last ones. */
	size_t count = sizeof methods / sizeof *methods - (getenv("KINDRED_TEST_SMALL") ? 2 : 0);
	for (size_t i = 0; i < count; i++) {
		if (methods[i].dense_too)
			compare_fit(&methods[i], false, 0);
		if (methods[i].sparse_too)
			compare_fit(&methods[i], true, 0);
	}
	if (fake_real())
		return;
	/* Not all of it has room there. */
	for (int sparse = 0; sparse < 2; sparse++) {
		compare_fit(&methods[0], sparse, 20000);
		compare_fit(&methods[3], sparse, 400000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(held__dense_and_sparse__products_of_the_device),
		cmocka_unit_test(held__several__each_its_own),
		cmocka_unit_test(held__little_room__rows_come_in_tiles),
		cmocka_unit_test(held__no_room__processor),
		cmocka_unit_test(held__another_thread__processor),
		cmocka_unit_test(held__device_fails__says_so_and_gives_all_back),
		cmocka_unit_test(held__device_fails_with_auto__processor_goes_on),
		cmocka_unit_test(methods__on_a_device__same_labels),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
