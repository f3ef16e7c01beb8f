/* Methods carried by a device: what the processor finds. SPDX-License-Identifier: BSD-3-Clause */
#include "methods/mtcfir/mtcfir.h"
#include "tests/device/fake.h"

enum { TASKS = 2 };

typedef struct fitted {
	const char *method;
	const char *settings[5][2]; /* name, value */
	int64_t n, d, k;
	bool sparse;
	double tolerance; /* of arrays */
} fitted;

typedef struct held {
	double *x[TASKS];
	int64_t *rowptr[TASKS];
	int32_t *col[TASKS];
	kdr_task tasks[TASKS];
	kdr_problem problem;
} held;

/* Two tasks of points about common centres, entries of 0 to 1; sparse: most of them 0. */
static void hold(const fitted *f, held *h)
{
	for (int t = 0; t < TASKS; t++) {
		int64_t n = f->n + 7 * t, at = 0;
		kdri_rng rng = kdri_rng_stream(11, "hold", (uint64_t)t);
		h->x[t] = fake_points(n, f->d, f->k, 0.4, 5);
		h->rowptr[t] = calloc((size_t)n + 1, sizeof(int64_t));
		h->col[t] = calloc((size_t)(n * f->d), sizeof(int32_t));
		for (int64_t i = 0; i < n; i++) {
			for (int64_t j = 0; j < f->d; j++) {
				double v = fabs(h->x[t][i * f->d + j] + 0.2 * t * kdri_rng_normal(&rng)) / 4;
				if (f->sparse && v < 0.2)
					continue;
				h->x[t][f->sparse ? at : i * f->d + j] = v;
				h->col[t][at++] = (int32_t)j;
			}
			h->rowptr[t][i + 1] = at;
		}
		h->tasks[t] = (kdr_task){
			.name = t ? "b" : "a",
			.k = f->k,
			.x = f->sparse ? kdr_mat_from_csr(n, f->d, h->rowptr[t], h->col[t], h->x[t])
			               : kdr_mat_from_dense(h->x[t], n, f->d),
		};
	}
	h->problem = (kdr_problem){ .size = sizeof(kdr_problem), .tasks = h->tasks, .ntasks = TASKS };
}

static void let_go(held *h)
{
	for (int t = 0; t < TASKS; t++) {
		free(h->x[t]);
		free(h->rowptr[t]);
		free(h->col[t]);
	}
}

static kdr_status fit(kdr_context *ctx, const fitted *f, kdr_result **out)
{
	held h;
	kdr_options *o = NULL;
	hold(f, &h);
	kdr_status st = kdr_options_new(ctx, f->method, &o);
	for (int i = 0; i < 5 && st == KDR_OK && f->settings[i][0]; i++)
		st = kdr_options_set(ctx, o, f->settings[i][0], f->settings[i][1]);
	if (st == KDR_OK)
		st = kdr_fit(ctx, f->method, &h.problem, o, out);
	kdr_options_free(o);
	let_go(&h);
	return st;
}

static void compare_arrays(const kdr_result *a, const kdr_result *b, double tolerance)
{
	assert_int_equal(kdr_result_array_count(a), kdr_result_array_count(b));
	for (int64_t i = 0; i < kdr_result_array_count(a); i++) {
		kdr_array u = kdr_result_array_at(a, i), v = kdr_result_array(b, u.name, u.task);
		int64_t count = 1;
		assert_non_null(v.data);
		assert_int_equal(u.ndim, v.ndim);
		for (int q = 0; q < u.ndim; q++) {
			if (u.shape[q] != v.shape[q])
				fail_msg("%s: %lld against %lld", u.name, (long long)u.shape[q],
				         (long long)v.shape[q]);
			count *= u.shape[q];
		}
		for (int64_t p = 0; p < count; p++)
			if (u.type == KDR_INT64) {
				assert_int_equal(((const int64_t *)u.data)[p], ((const int64_t *)v.data)[p]);
			} else {
				double x = ((const double *)u.data)[p], y = ((const double *)v.data)[p];
				if (!(fabs(x - y) <= tolerance * (1 + fabs(x))))
					fail_msg("%s[%lld]: %.17g against %.17g", u.name, (long long)p, x, y);
			}
	}
}

static void compare(const fitted *f, size_t most)
{
	kdr_context *ctx = unit_context();
	kdr_result *here = NULL, *there = NULL;
	fake d;
	fake_open(&d, most);
	kdr_context_set_device(ctx, "cpu");
	assert_ok(ctx, fit(ctx, f, &here));
	assert_ok(d.ctx, fit(d.ctx, f, &there));
	assert_true(d.limits.calls > 0 || fake_real());
	for (int64_t t = 0; t < TASKS; t++) {
		int64_t n, m;
		const int64_t *a = kdr_result_labels(here, t, &n), *b = kdr_result_labels(there, t, &m);
		assert_int_equal(n, m);
		if (a)
			assert_memory_equal(a, b, (size_t)n * sizeof *a);
	}
	compare_arrays(here, there, f->tolerance);
	kdr_result_free(here);
	kdr_result_free(there);
	kdr_context_free(ctx);
	fake_close(&d);
}

static const fitted mtcfir = { .method = "mtcfir", .n = 60, .d = 25, .k = 3, .tolerance = 1e-8 };
static const fitted by_samples = { .method = "mtcfir", .n = 40, .d = 130, .k = 3, .tolerance = 1e-8 };

static void mtcfir__by_features__same_labels_and_arrays(void **state)
{
	fitted f = mtcfir;
	(void)state;
	compare(&f, 0);
	f.sparse = true;
	compare(&f, 0);
}

static void mtcfir__by_samples__same_labels_and_arrays(void **state)
{
	fitted f = by_samples;
	(void)state;
	compare(&f, 0);
	f.sparse = true;
	compare(&f, 0);
}

static void mtcfir__variants__same_labels_and_arrays(void **state)
{
	static const char *const settings[][2] = {
		{ "variant", "nF" },       { "variant", "nI" },       { "variant", "nR" },
		{ "similarity", "gauss" }, { "precision", "single" }, { "keep", "false" },
		{ "final", "ncut" },       { "neighbors", "1e6" },    { "tol", "0" }
	};
	(void)state;
	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
		fitted f = by_samples;
		f.sparse = i % 2;
		f.settings[0][0] = settings[i][0];
		f.settings[0][1] = settings[i][1];
		/* Here sums are of singles, there of doubles. */
		if (strcmp(settings[i][0], "precision") == 0)
			f.tolerance = 1e-3;
		compare(&f, 0);
	}
}

static void mtcfir__little_room__layers_and_distances_come_in_parts(void **state)
{
	fitted f = by_samples;
	kdr_result *r = NULL;
	fake d;
	(void)state;
	if (fake_real())
		skip();
	fake_open(&d, 0);
	assert_ok(d.ctx, fit(d.ctx, &f, &r));
	kdr_result_free(r);
	size_t whole = d.limits.peak, sent = d.limits.put_bytes;
	fake_close(&d);
	for (int i = 0; i < 4; i++) {
		f = i % 2 ? mtcfir : by_samples;
		f.sparse = i / 2;
		f.d = i % 2 ? 100 : f.d;
		compare(&f, i % 2 ? 430000 : 320000);
	}
	fake_open(&d, 320000);
	assert_ok(d.ctx, fit(d.ctx, &by_samples, &r));
	kdr_result_free(r);
	assert_true(d.limits.peak < whole);
	assert_true(d.limits.put_bytes > sent);
	fake_close(&d);
}

static void mtcfir__no_room_at_all__says_so(void **state)
{
	kdr_result *r = NULL;
	fake d;
	(void)state;
	if (fake_real())
		skip();
	fake_open(&d, 30000);
	assert_int_equal(fit(d.ctx, &by_samples, &r), KDR_ERR_MEMORY);
	assert_non_null(strstr(kdr_context_error(d.ctx),
	                       "method 'mtcfir' on 87 samples with 130 features needs about"));
	assert_non_null(strstr(kdr_context_error(d.ctx), "of memory on device host, which has"));
	fake_close(&d);
	/* What fits at first and then does not. */
	fake_open(&d, 70000);
	assert_int_equal(fit(d.ctx, &by_samples, &r), KDR_ERR_MEMORY);
	assert_non_null(strstr(kdr_context_error(d.ctx), "device host: alloc: the device is full"));
	fake_close(&d);
}

static void snmf__dense_and_sparse__same_labels_and_arrays(void **state)
{
	fitted f = { .method = "snmf", .n = 70, .d = 20, .k = 3, .tolerance = 1e-8 };
	(void)state;
	compare(&f, 0);
	f.sparse = true;
	compare(&f, 0);
	f.settings[0][0] = "similarity";
	f.settings[0][1] = "gauss";
	compare(&f, 0);
	f.settings[0][0] = "final";
	f.settings[0][1] = "ncut";
	compare(&f, 0);
}

static void msda__dense_and_sparse__same_features(void **state)
{
	fitted f = { .method = "msda", .n = 30, .d = 50, .k = 3, .tolerance = 1e-8 };
	(void)state;
	for (int i = 0; i < 4; i++) {
		f.sparse = i % 2;
		f.d = i / 2 ? 90 : 12;
		compare(&f, 0);
		if (!fake_real())
			compare(&f, 200000);
	}
}

static void kmeans__method__same_labels_and_arrays(void **state)
{
	fitted f = { .method = "kmeans", .n = 200, .d = 6, .k = 4, .tolerance = 0 };
	(void)state;
	compare(&f, 0);
}

static void ncut__graph_of_neighbours__same_labels_and_arrays(void **state)
{
	fitted f = { .method = "ncut", .n = 120, .d = 30, .k = 3, .tolerance = 0 };
	(void)state;
	f.settings[0][0] = "neighbors";
	f.settings[0][1] = "8";
	compare(&f, 0);
}

static kdr_status run(kdr_context *ctx, void *user)
{
	kdr_result *r = NULL;
	kdr_status st = fit(ctx, user, &r);
	kdr_result_free(r);
	return st;
}

static void methods__device_fails__say_so_and_give_all_back(void **state)
{
	fitted cases[] = { mtcfir, by_samples, by_samples, { .method = "snmf", .n = 25, .d = 5, .k = 2 } };
	(void)state;
	cases[2].sparse = true;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		cases[i].n = 12;
		cases[i].settings[0][0] = "n_init";
		cases[i].settings[0][1] = "2";
		cases[i].settings[1][0] = "max_iter";
		cases[i].settings[1][1] = "3";
		fake_failing(run, &cases[i], 60);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mtcfir__by_features__same_labels_and_arrays),
		cmocka_unit_test(mtcfir__by_samples__same_labels_and_arrays),
		cmocka_unit_test(mtcfir__variants__same_labels_and_arrays),
		cmocka_unit_test(mtcfir__little_room__layers_and_distances_come_in_parts),
		cmocka_unit_test(mtcfir__no_room_at_all__says_so),
		cmocka_unit_test(snmf__dense_and_sparse__same_labels_and_arrays),
		cmocka_unit_test(msda__dense_and_sparse__same_features),
		cmocka_unit_test(kmeans__method__same_labels_and_arrays),
		cmocka_unit_test(ncut__graph_of_neighbours__same_labels_and_arrays),
		cmocka_unit_test(methods__device_fails__say_so_and_give_all_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
