/* k-means and neighbours carried by a device: the same answer as the processor's. SPDX-License-Identifier: BSD-3-Clause */
#include "core/side_by_side.h"
#include "engine/graph/knn.h"
#include "engine/kmeans/kmeans.h"
#include "tests/device/fake.h"

#include <time.h>

/* --- k-means -------------------------------------------------------------------------------------------------- */

typedef struct points {
	double *x;
	int64_t n, d, k;
	kdri_kmeans_options options;
	bool sparse;
} points;

/* The same numbers as sparse rows; entries of at most a half are omitted, unless too few would remain. */
typedef struct rows_of_text {
	int64_t *rowptr;
	int32_t *col;
	double *val;
} rows_of_text;

static kdr_mat rows_of(const double *x, int64_t n, int64_t d, bool sparse, rows_of_text *r)
{
	int64_t at = 0;
	if (!sparse)
		return kdr_mat_from_dense(x, n, d);
	r->rowptr = calloc((size_t)n + 1, sizeof *r->rowptr);
	r->col = malloc((size_t)(n * d) * sizeof *r->col);
	r->val = malloc((size_t)(n * d) * sizeof *r->val);
	for (int64_t i = 0; i < n; i++) {
		for (int64_t j = 0; j < d; j++)
			if (fabs(x[i * d + j]) > 0.5 ||
			    (fabs(x[i * d + j]) > 0 && fabs(x[i * d + j]) < 1e-100)) {
				r->col[at] = (int32_t)j;
				r->val[at++] = x[i * d + j];
			}
		r->rowptr[i + 1] = at;
	}
	return kdr_mat_from_csr(n, d, r->rowptr, r->col, r->val);
}

static void rows_free(rows_of_text *r)
{
	free(r->rowptr);
	free(r->col);
	free(r->val);
}

static void compare_kmeans(const points *p, size_t most)
{
	kdr_context *ctx = unit_context();
	rows_of_text rows = { 0 };
	kdr_mat x = rows_of(p->x, p->n, p->d, p->sparse, &rows);
	kdri_kmeans_result a = { 0 }, b = { 0 };
	fake f;
	fake_open(&f, most);
	kdr_context_set_device(ctx, "cpu");
	assert_ok(ctx, kdri_kmeans(ctx, &x, NULL, &p->options, &a));
	assert_ok(f.ctx, kdri_kmeans(f.ctx, &x, NULL, &p->options, &b));
	assert_true(f.limits.calls > 0 || fake_real());
	assert_memory_equal(a.labels, b.labels, (size_t)p->n * sizeof *a.labels);
	assert_memory_equal(a.centres, b.centres, (size_t)(p->k * p->d) * sizeof *a.centres);
	assert_int_equal(a.iterations, b.iterations);
	assert_int_equal(a.stop, b.stop);
	assert_true(a.objective == b.objective);
	assert_near(b.objective_start, a.objective_start, 1e-9 * (1 + a.objective_start));
	assert_true(f.limits.peak <= (most ? most : SIZE_MAX));
	rows_free(&rows);
	kdri_kmeans_free(ctx, &a);
	kdri_kmeans_free(f.ctx, &b);
	kdr_context_free(ctx);
	fake_close(&f);
}

static points points_of(int64_t n, int64_t d, int64_t k, double spread)
{
	points p = { fake_points(n, d, k, spread, 7), n, d, k, kdri_kmeans_defaults(k), false };
	p.options.n_init = 3;
	return p;
}

static void kmeans__dense__same_bits_as_the_processor(void **state)
{
	(void)state;
	points p = points_of(700, 13, 9, 0.5);
	compare_kmeans(&p, 0);
	p.options.spherical = true;
	compare_kmeans(&p, 0);
	p.options.spherical = false;
	p.options.start = KDRI_START_RANDOM;
	p.options.tol = 0;
	compare_kmeans(&p, 0);
	p.options.max_iter = 0;
	compare_kmeans(&p, 0);
	free(p.x);
}

static void kmeans__ties_and_duplicates__same_bits_as_the_processor(void **state)
{
	(void)state;
	points p = points_of(400, 3, 6, 0.5);
	for (int64_t i = 0; i < p.n * p.d; i++)
		p.x[i] = round(p.x[i]);
	compare_kmeans(&p, 0);
	for (int64_t i = 0; i < p.n * p.d; i++)
		p.x[i] += 1e6; /* far from the origin: measured from the mean */
	compare_kmeans(&p, 0);
	for (int64_t i = p.d * 4; i < p.n * p.d; i++)
		p.x[i] = p.x[i % (p.d * 4)]; /* fewer distinct rows than clusters */
	compare_kmeans(&p, 0);
	memset(p.x, 0, (size_t)(3 * p.d) * sizeof *p.x);
	p.options.spherical = true;
	compare_kmeans(&p, 0);
	free(p.x);
}

static void kmeans__labels_given__same_bits_as_the_processor(void **state)
{
	int64_t labels[300];
	(void)state;
	points p = points_of(300, 8, 5, 1);
	for (int64_t i = 0; i < p.n; i++)
		labels[i] = i % 4; /* the last one is empty */
	p.options.init_labels = labels;
	compare_kmeans(&p, 0);
	free(p.x);
}

/* Enough rows for a device to look at them roughly first. */
static void kmeans__many_rows__same_bits_as_the_processor(void **state)
{
	(void)state;
	points p = points_of(6000, 37, 21, 1.5);
	p.options.n_init = 1;
	p.options.max_iter = 8;
	p.options.start = KDRI_START_RANDOM;
	compare_kmeans(&p, 0);
	p.options.spherical = true;
	compare_kmeans(&p, 0);
	p.options.spherical = false;
	for (int64_t i = 0; i < p.n * p.d; i++)
		p.x[i] = round(4 * p.x[i]) * 1e-160 + (i % p.d ? 0 : 1e-155); /* ties, tiny, off the origin */
	compare_kmeans(&p, 0);
	free(p.x);
}

static void kmeans__sparse__same_bits_as_the_processor(void **state)
{
	static const int64_t clusters[] = { 1, 2, 9, 17, 40, 140 };
	(void)state;
	for (size_t i = 0; i < sizeof clusters / sizeof *clusters; i++) {
		points p = points_of(900, 60, clusters[i], 0.5);
		p.sparse = true;
		p.options.n_init = 2;
		compare_kmeans(&p, 0);
		p.options.spherical = true;
		memset(p.x, 0, (size_t)(3 * p.d) * sizeof *p.x); /* rows without entries */
		compare_kmeans(&p, 0);
		p.options.spherical = false;
		for (int64_t j = 0; j < p.n * p.d; j++)
			p.x[j] = round(p.x[j]); /* ties */
		compare_kmeans(&p, 0);
		p.options.max_iter = 0;
		compare_kmeans(&p, 0);
		free(p.x);
	}
}

static void kmeans__sparse_and_few_distinct__same_bits_as_the_processor(void **state)
{
	int64_t labels[300];
	(void)state;
	points p = points_of(300, 30, 6, 0.5);
	p.sparse = true;
	for (int64_t i = 0; i < p.n; i++)
		labels[i] = i % 4; /* the last ones are empty */
	p.options.init_labels = labels;
	compare_kmeans(&p, 0);
	p.options.init_labels = NULL;
	for (int64_t i = p.d * 4; i < p.n * p.d; i++)
		p.x[i] = p.x[i % (p.d * 4)];
	compare_kmeans(&p, 0);
	for (int64_t i = 0; i < p.n * p.d; i++)
		p.x[i] += 1e6; /* far from the origin: measured from the mean */
	compare_kmeans(&p, 0);
	free(p.x);
}

/* Enough features that the transferred memory is pinned: fake_close checks that it is released. */
static void kmeans__sparse_and_wide__same_bits_as_the_processor(void **state)
{
	enum { ROWS = 90, COLS = 70000, CLUSTERS = 9, EACH = 20 };
	int64_t *rowptr = calloc(ROWS + 1, sizeof *rowptr);
	int32_t *col = calloc(ROWS * EACH, sizeof *col);
	double *val = calloc(ROWS * EACH, sizeof *val);
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(1, "wide", 0);
	kdri_kmeans_options o = kdri_kmeans_defaults(CLUSTERS);
	kdri_kmeans_result a = { 0 }, b = { 0 };
	fake f;
	(void)state;
	for (int64_t i = 0; i < ROWS; i++) {
		for (int64_t e = 0; e < EACH; e++) {
			col[i * EACH + e] =
			        (int32_t)(e * (COLS / EACH) + i % CLUSTERS + kdri_rng_below(&rng, 40));
			val[i * EACH + e] = 1 + kdri_rng_uniform(&rng);
		}
		rowptr[i + 1] = (i + 1) * EACH;
	}
	kdr_mat x = kdr_mat_from_csr(ROWS, COLS, rowptr, col, val);
	fake_open(&f, 0);
	kdr_context_set_device(ctx, "cpu");
	o.n_init = 2;
	assert_ok(ctx, kdri_kmeans(ctx, &x, NULL, &o, &a));
	assert_ok(f.ctx, kdri_kmeans(f.ctx, &x, NULL, &o, &b));
	assert_memory_equal(a.labels, b.labels, ROWS * sizeof *a.labels);
	assert_memory_equal(a.centres, b.centres, (size_t)(CLUSTERS * COLS) * sizeof *a.centres);
	kdri_kmeans_free(ctx, &a);
	kdri_kmeans_free(f.ctx, &b);
	kdr_context_free(ctx);
	fake_close(&f);
	free(rowptr);
	free(col);
	free(val);
}

static void kmeans__little_room__rows_come_in_tiles(void **state)
{
	(void)state;
	if (fake_real())
		skip();
	points p = points_of(700, 13, 9, 0.5);
	compare_kmeans(&p, 60000); /* all of it takes 72,800 */
	compare_kmeans(&p, 45000);
	p.sparse = true;
	compare_kmeans(&p, 65000);
	compare_kmeans(&p, 45000);
	free(p.x);
}

static void kmeans__large_enough_data__one_transfer(void **state)
{
	(void)state;
	if (fake_real())
		skip();
	points p = points_of(500, 10, 4, 0.5);
	kdr_mat x = kdr_mat_from_dense(p.x, p.n, p.d);
	kdri_kmeans_result r = { 0 };
	fake f;
	fake_open(&f, 0);
	p.options.n_init = 5;
	assert_ok(f.ctx, kdri_kmeans(f.ctx, &x, NULL, &p.options, &r));
	/* The rows once; for a run labels twice; for an iteration centres. Labels and sums come back. */
	size_t rows = (size_t)(p.n * p.d) * 8, labels = (size_t)p.n * 4;
	assert_true(f.limits.put_bytes < rows + 8 * (size_t)p.n + 5 * 2 * labels + (size_t)(100 * 5) * 400);
	assert_true(f.limits.put_bytes < 2 * rows);
	kdri_kmeans_free(f.ctx, &r);
	fake_close(&f);
	free(p.x);
}

static kdr_status run_kmeans(kdr_context *ctx, void *user)
{
	const points *p = user;
	rows_of_text rows = { 0 };
	kdr_mat x = rows_of(p->x, p->n, p->d, p->sparse, &rows);
	kdri_kmeans_result r = { 0 };
	kdr_status st = kdri_kmeans(ctx, &x, NULL, &p->options, &r);
	kdri_kmeans_free(ctx, &r);
	rows_free(&rows);
	return st;
}

static void kmeans__device_fails__says_so_and_gives_all_back(void **state)
{
	(void)state;
	points p = points_of(90, 4, 3, 0.5);
	p.options.n_init = 1;
	fake_failing(run_kmeans, &p, 100);
	p.sparse = true;
	fake_failing(run_kmeans, &p, 100);
	free(p.x);
}

static void kmeans__device_fails_with_auto__processor_goes_on(void **state)
{
	fake f;
	(void)state;
	if (fake_real())
		skip();
	points p = points_of(90, 4, 3, 0.5);
	fake_open(&f, 0);
	f.limits.fail_at = 20;
	f.limits.fail_with = KDR_ERR_MEMORY;
	/* As kdri_device_take leaves it where the choice was the library's. */
	kdr_mat x = kdr_mat_from_dense(p.x, p.n, p.d);
	kdri_kmeans_result r = { 0 };
	assert_int_equal(kdri_kmeans(f.ctx, &x, NULL, &p.options, &r), KDR_ERR_MEMORY);
	assert_true(f.ctx->device_failed == false);
	f.ctx->device_choice = KDRI_DEVICE_AUTO;
	f.ctx->device_failed = true;
	assert_true(kdri_device_gave_up(f.ctx, KDR_ERR_MEMORY));
	assert_ok(f.ctx, kdri_kmeans(f.ctx, &x, NULL, &p.options, &r));
	kdri_kmeans_free(f.ctx, &r);
	fake_close(&f);
	free(p.x);
}

static void kmeans__auto__counts_the_work_of_every_start(void **state)
{
	fake f;
	kdri_kmeans_result r = { 0 };
	(void)state;
	if (fake_real())
		skip();
	points p = points_of(
	        1000, 50, 100,
	        0.5); /* 2e8 operations for 20 iterations; an open device is used from 1.5e9 per thread */
	kdr_mat x = kdr_mat_from_dense(p.x, p.n, p.d);
	fake_open(&f, 0);
	f.ctx->device_choice = KDRI_DEVICE_AUTO;
	f.ctx->threads = 1;
	p.options.max_iter = 2;
	p.options.n_init = 1;
	assert_ok(f.ctx, kdri_kmeans(f.ctx, &x, NULL, &p.options, &r));
	kdri_kmeans_free(f.ctx, &r);
	assert_int_equal(f.limits.calls, 0);
	p.options.n_init = 10;
	assert_ok(f.ctx, kdri_kmeans(f.ctx, &x, NULL, &p.options, &r));
	kdri_kmeans_free(f.ctx, &r);
	assert_true(f.limits.calls > 0);
	fake_close(&f);
	free(p.x);
}

/* --- neighbours ------------------------------------------------------------------------------------------------- */

typedef struct asked {
	double *x;
	int64_t n, d, k;
	kdri_metric metric;
	bool shifted, sparse;
} asked;

static kdr_status find(kdr_context *ctx, const asked *a, kdri_knn *out)
{
	rows_of_text rows = { 0 };
	kdr_mat x = rows_of(a->x, a->n, a->d, a->sparse, &rows);
	double mean[512] = { 0 };
	kdri_knn_shift shift = { 0 };
	for (int64_t i = 0; i < a->n * a->d; i++)
		mean[i % a->d] += a->x[i] / (double)a->n;
	kdr_status st = a->shifted ? kdri_knn_shift_new(ctx, &x, mean, &shift) : KDR_OK;
	if (st == KDR_OK)
		st = kdri_knn_find(ctx, &x, a->k, a->metric, a->shifted ? &shift : NULL, out);
	kdri_knn_shift_free(ctx, &shift);
	rows_free(&rows);
	return st;
}

static void compare_neighbours(const asked *a, size_t most)
{
	kdr_context *ctx = unit_context();
	kdri_knn here = { 0 }, there = { 0 };
	fake f;
	fake_open(&f, most);
	kdr_context_set_device(ctx, "cpu");
	assert_ok(ctx, find(ctx, a, &here));
	assert_ok(f.ctx, find(f.ctx, a, &there));
	assert_true(f.limits.calls > 0 || fake_real());
	assert_memory_equal(here.index, there.index, (size_t)(a->n * a->k) * sizeof *here.index);
	assert_memory_equal(here.value, there.value, (size_t)(a->n * a->k) * sizeof *here.value);
	kdri_knn_free(ctx, &here);
	kdri_knn_free(f.ctx, &there);
	kdr_context_free(ctx);
	fake_close(&f);
}

static void neighbours__dense__same_as_the_processor(void **state)
{
	(void)state;
	asked a = { fake_points(500, 24, 7, 0.7, 3), 500, 24, 10, KDRI_METRIC_COSINE, false, false };
	compare_neighbours(&a, 0);
	a.shifted = true;
	compare_neighbours(&a, 0);
	a.shifted = false;
	a.metric = KDRI_METRIC_EUCLIDEAN;
	compare_neighbours(&a, 0);
	a.k = 33;
	compare_neighbours(&a, 0);
	a.k = 1;
	compare_neighbours(&a, 0);
	free(a.x);
}

/* Texts: each row has some `share` of d words, and half of the words are those of its group. */
static asked texts(int64_t n, int64_t d, double share)
{
	asked a = { calloc((size_t)(n * d), sizeof *a.x), n, d, 10, KDRI_METRIC_COSINE, false, true };
	kdri_rng rng = kdri_rng_stream(5, "texts", (uint64_t)n);
	assert_non_null(a.x);
	for (int64_t i = 0; i < n; i++)
		for (int64_t w = 0; w < (int64_t)(share * (double)d); w++) {
			int64_t j = (int64_t)((double)d * kdri_rng_uniform(&rng));
			if (w % 2)
				j = (j / 8 + i % 7 * d / 8) % d;
			a.x[i * d + j] += 1 + floor(4 * kdri_rng_uniform(&rng)) / 4;
		}
	return a;
}

static void neighbours__sparse__same_as_the_processor(void **state)
{
	(void)state;
	/* By lists, with more rows than are processed at a time; and as dense rows. */
	for (int full = 0; full < 2; full++) {
		asked a = full ? texts(400, 40, 0.5) : texts(2300, 500, 0.03);
		compare_neighbours(&a, 0);
		a.shifted = true;
		compare_neighbours(&a, 0);
		a.shifted = false;
		a.metric = KDRI_METRIC_EUCLIDEAN;
		compare_neighbours(&a, 0);
		a.k = 33;
		compare_neighbours(&a, 0);
		a.k = 1;
		/* Copies, and rows without entries. */
		memset(a.x + 5 * a.d, 0, (size_t)(4 * a.d) * sizeof *a.x);
		memcpy(a.x + 100 * a.d, a.x + 20 * a.d, (size_t)(60 * a.d) * sizeof *a.x);
		compare_neighbours(&a, 0);
		a.k = 12;
		a.metric = KDRI_METRIC_COSINE;
		compare_neighbours(&a, 0);
		free(a.x);
	}
}

static void neighbours__sparse_and_little_room__rows_come_in_parts(void **state)
{
	(void)state;
	if (fake_real())
		skip();
	asked a = texts(600, 500, 0.03);
	compare_neighbours(&a, 200000); /* all of it takes 260,000 */
	compare_neighbours(&a, 90000);
	free(a.x);
	a = texts(400, 40, 0.5);
	compare_neighbours(&a, 150000);
	compare_neighbours(&a, 60000);
	free(a.x);
}

static void neighbours__ties__the_lower_index(void **state)
{
	(void)state;
	asked a = { fake_points(300, 20, 5, 0.7, 3), 300, 20, 8, KDRI_METRIC_EUCLIDEAN, false, false };
	for (int64_t i = 0; i < a.n * a.d; i++)
		a.x[i] = round(a.x[i]);
	for (int64_t i = 100 * a.d; i < 150 * a.d; i++)
		a.x[i] = a.x[i - 100 * a.d];
	compare_neighbours(&a, 0);
	a.metric = KDRI_METRIC_COSINE;
	memset(a.x, 0, (size_t)a.d * sizeof *a.x);
	compare_neighbours(&a, 0);
	free(a.x);
}

static void neighbours__little_room__rows_come_in_parts(void **state)
{
	(void)state;
	if (fake_real())
		skip();
	asked a = { fake_points(500, 24, 7, 0.7, 3), 500, 24, 10, KDRI_METRIC_EUCLIDEAN, false, false };
	compare_neighbours(&a, 90000); /* all of it takes 252,000 */
	compare_neighbours(&a, 40000);
	free(a.x);
}

static kdr_status run_neighbours(kdr_context *ctx, void *user)
{
	kdri_knn knn = { 0 };
	kdr_status st = find(ctx, user, &knn);
	kdri_knn_free(ctx, &knn);
	return st;
}

static void neighbours__device_fails__says_so_and_gives_all_back(void **state)
{
	(void)state;
	asked a = { fake_points(60, 18, 7, 0.7, 3), 60, 18, 4, KDRI_METRIC_EUCLIDEAN, false, false };
	fake_failing(run_neighbours, &a, 100);
	free(a.x);
	a = texts(70, 300, 0.03);
	fake_failing(run_neighbours, &a, 100);
	free(a.x);
}

/* --- the context ------------------------------------------------------------------------------------------------- */

/* The first test: a process opens a device in the background once. device.opening runs it with the stand-in as plug-in. */
static void context__large_data_expected__device_opened_meanwhile(void **state)
{
	const bool plugin = getenv("KINDRED_PLUGINS") != NULL;
	(void)state;
	kdr_context *ctx = unit_context();
	assert_ok(ctx, kdr_context_set_device(ctx, "cpu"));
	kdri_expect(ctx, 1e12);
	assert_ok(ctx, kdr_context_set_device(ctx, "auto"));
	kdri_expect(ctx, 1e6); /* not worth it */
	kdr_context_set_threads(ctx, 1);
	kdri_expect(ctx, 1e12); /* no thread to spare */
	assert_true(atomic_load(&kdri_settle_hook) == NULL);
	kdr_context_set_threads(ctx, 2);
	kdri_expect(ctx, 1e12);
	/* the build may contain the plug-in for NVIDIA */
	assert_true((atomic_load(&kdri_settle_hook) != NULL) == kdri_plugin_exists());
	kdri_expect(ctx, 1e12);                       /* only once */
	kdri_device *d = kdri_device_take(ctx, 1e15); /* waits for it */
	assert_true(d && kdri_is_cpu(d) == !plugin);
	kdri_device_leave(d);
	kdr_context_free(ctx);
	kdri_settle();
	ctx = unit_context();
	if (plugin) {
		assert_ok(ctx, kdr_context_set_device(ctx, "cuda"));
		assert_non_null(ctx->device); /* it is open */
	}
	kdr_context_free(ctx);
}

/* Two jobs that hold the device until both have it, or for ten seconds. */
typedef struct meeting {
	atomic_int arrived;
	kdri_device *has[2];
	size_t room[2];
} meeting;

static kdr_status meet(kdr_context *ctx, void *user, int64_t job, int worker)
{
	meeting *m = user;
	const double end = kdri_now() + 10;
	(void)worker;
	kdri_device *d = kdri_device_take(ctx, 1e15), *again = kdri_device_take(ctx, 1e15);
	assert_ptr_equal(d, again); /* nested */
	kdri_device_leave(again);
	m->has[job] = d;
	m->room[job] = d->room(d);
	atomic_fetch_add(&m->arrived, 1);
	while (atomic_load(&m->arrived) < 2 && kdri_now() < end)
		(void)nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	kdri_device_leave(d);
	return KDR_OK;
}

static void context__jobs_side_by_side__share_the_card(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	meeting m = { 0 };
	kdr_context_set_threads(ctx, 2);
	if (!getenv("KINDRED_PLUGINS") || kdr_context_threads(ctx) < 2) {
		kdr_context_free(ctx);
		skip();
	}
	assert_ok(ctx, kdr_context_set_device(ctx, "cuda"));
	assert_ok(ctx,
	          kdri_side_by_side(ctx, &(kdri_side){ .count = 2, .workers = 2, .run = meet, .user = &m }));
	assert_int_equal(m.arrived, 2);
	assert_true(m.has[0] != m.has[1]);
	kdri_device *d = kdri_device_take(ctx, 1e15); /* alone: with all of the memory */
	assert_ptr_equal(d, ctx->device);
	assert_true(d->room(d) / 2 >= m.room[0] && d->room(d) / 2 >= m.room[1]);
	kdri_device_leave(d);
	kdr_context_free(ctx);
}

static void context__device__by_name(void **state)
{
	kdr_context *ctx = unit_context();
	char text[512];
	(void)state;
	assert_string_equal(ctx->device_name, "");
	assert_ok(ctx, kdr_context_set_device(ctx, "cpu"));
	assert_string_equal(ctx->device_name, "cpu");
	const char *const bad[] = { "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda0", "CPU", "cuda:1x", "" };
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_int_equal(kdr_context_set_device(ctx, bad[i]), KDR_ERR_ARGUMENT);
		assert_string_equal(ctx->device_name, "cpu");
	}
	assert_int_equal(kdr_context_set_device(ctx, "cuda:15"), KDR_ERR_UNSUPPORTED);
	assert_non_null(strstr(kdr_context_error(ctx), "device 'cuda:15' is not available: "));
	assert_ok(ctx, kdr_context_set_device(ctx, NULL));
	assert_string_equal(ctx->device_name, "auto");
	kdr_device_info(text, sizeof text);
	assert_true(strncmp(text, "device: ", 8) == 0);
	kdr_device_info(text, 4);
	assert_int_equal(strlen(text), 3);
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(context__large_data_expected__device_opened_meanwhile),
		cmocka_unit_test(context__jobs_side_by_side__share_the_card),
		cmocka_unit_test(kmeans__dense__same_bits_as_the_processor),
		cmocka_unit_test(kmeans__ties_and_duplicates__same_bits_as_the_processor),
		cmocka_unit_test(kmeans__labels_given__same_bits_as_the_processor),
		cmocka_unit_test(kmeans__many_rows__same_bits_as_the_processor),
		cmocka_unit_test(kmeans__sparse__same_bits_as_the_processor),
		cmocka_unit_test(kmeans__sparse_and_few_distinct__same_bits_as_the_processor),
		cmocka_unit_test(kmeans__sparse_and_wide__same_bits_as_the_processor),
		cmocka_unit_test(kmeans__little_room__rows_come_in_tiles),
		cmocka_unit_test(kmeans__large_enough_data__one_transfer),
		cmocka_unit_test(kmeans__device_fails__says_so_and_gives_all_back),
		cmocka_unit_test(kmeans__device_fails_with_auto__processor_goes_on),
		cmocka_unit_test(kmeans__auto__counts_the_work_of_every_start),
		cmocka_unit_test(neighbours__dense__same_as_the_processor),
		cmocka_unit_test(neighbours__sparse__same_as_the_processor),
		cmocka_unit_test(neighbours__sparse_and_little_room__rows_come_in_parts),
		cmocka_unit_test(neighbours__ties__the_lower_index),
		cmocka_unit_test(neighbours__little_room__rows_come_in_parts),
		cmocka_unit_test(neighbours__device_fails__says_so_and_gives_all_back),
		cmocka_unit_test(context__device__by_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
