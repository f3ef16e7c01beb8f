/* The k-means engine: exact bounds, monotone objective, degenerate data, weights, starts. */
#include "engine/kmeans/kmeans_work.h"
#include "tests/unit/unit.h"

/* --- random problems ------------------------------------------------------------------------ */

typedef struct problem {
	int64_t n, d, k, nnz;
	double *dense, *val, *weights;
	int64_t *rowptr;
	int32_t *col;
	kdr_mat as_dense, as_sparse;
} problem;

enum { BLOBS, INTEGERS, REPEATS, EQUAL, FAR, SPARSE, KINDS };

static double entry(int kind, kdri_rng *rng, int64_t i, int64_t f)
{
	switch (kind) {
	case BLOBS: return 3 * (double)((i * 7 + f * 3) % 5) + kdri_rng_normal(rng);
	case INTEGERS: return (double)kdri_rng_below(rng, 3);
	case REPEATS: return 0.1 * (double)((i % 7) * (f + 1) % 11);
	case EQUAL: return 0.3;
	case FAR: return 1e6 + kdri_rng_normal(rng);
	default: return kdri_rng_below(rng, 4) ? 0 : kdri_rng_normal(rng);
	}
}

static problem make(int kind, int64_t n, int64_t d, int64_t k, kdri_rng *rng)
{
	problem p = { .n = n, .d = d, .k = k };
	p.dense = calloc((size_t)(n * d), sizeof *p.dense);
	p.val = calloc((size_t)(n * d), sizeof *p.val);
	p.col = calloc((size_t)(n * d), sizeof *p.col);
	p.rowptr = calloc((size_t)n + 1, sizeof *p.rowptr);
	p.weights = calloc((size_t)n, sizeof *p.weights);
	for (int64_t i = 0; i < n; i++) {
		p.weights[i] = (double)kdri_rng_below(rng, 4) + (i == 0);
		for (int64_t f = 0; f < d; f++) {
			double v = entry(kind, rng, i, f);
			p.dense[i * d + f] = v;
			if (v != 0) {
				p.val[p.nnz] = v;
				p.col[p.nnz++] = (int32_t)f;
			}
		}
		p.rowptr[i + 1] = p.nnz;
	}
	p.as_dense = kdr_mat_from_dense(p.dense, n, d);
	p.as_sparse = kdr_mat_from_csr(n, d, p.rowptr, p.col, p.val);
	return p;
}

static void clear(problem *p)
{
	free(p->dense);
	free(p->val);
	free(p->col);
	free(p->rowptr);
	free(p->weights);
}

static problem draw_problem(kdri_rng *rng, int turn)
{
	int64_t n = 1 + kdri_rng_below(rng, turn % 4 ? 60 : 400), d = 1 + kdri_rng_below(rng, 50);
	int64_t k = 1 + kdri_rng_below(rng, turn % 3 ? KDRI_MIN(n, 12) : n);
	return make(turn % KINDS, n, d, k, rng);
}

static void assert_same(const problem *p, const kdri_kmeans_result *a, const kdri_kmeans_result *b)
{
	assert_int_equal(a->iterations, b->iterations);
	assert_int_equal(a->stop, b->stop);
	assert_int_equal(a->best_run, b->best_run);
	assert_memory_equal(a->labels, b->labels, (size_t)p->n * sizeof *a->labels);
	assert_memory_equal(a->centres, b->centres, (size_t)(p->k * p->d) * sizeof *a->centres);
}

static kdri_kmeans_options options_of(const problem *p, int turn)
{
	kdri_kmeans_options o = kdri_kmeans_defaults(p->k);
	o.n_init = 1 + turn % 3;
	o.tol = 0;
	o.start = turn % 5 ? KDRI_START_PLUSPLUS : KDRI_START_RANDOM;
	o.stream = (uint64_t)turn;
	o.spherical = turn % 7 == 3;
	return o;
}

/* --- properties ----------------------------------------------------------------------------- */

static void bounds__many_problems__partition_of_plain_lloyd(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(3, "test", 0);
	for (int turn = 0; turn < unit_turns(600); turn++) {
		problem p = draw_problem(&rng, turn);
		const double *weights = turn % 4 == 1 ? p.weights : NULL;
		kdri_kmeans_options o = options_of(&p, turn);
		for (int sparse = 0; sparse < 2; sparse++) {
			const kdr_mat *x = sparse ? &p.as_sparse : &p.as_dense;
			kdri_kmeans_result plain = { 0 }, fast = { 0 };
			o.algorithm = KDRI_KMEANS_LLOYD;
			assert_ok(ctx, kdri_kmeans(ctx, x, weights, &o, &plain));
			for (int64_t groups = 0; groups < 3; groups++) {
				o.algorithm = KDRI_KMEANS_BOUNDS;
				o.groups = groups == 2 ? p.k : groups;
				assert_ok(ctx, kdri_kmeans(ctx, x, weights, &o, &fast));
				assert_same(&p, &plain, &fast);
				kdri_kmeans_free(ctx, &fast);
			}
			kdri_kmeans_free(ctx, &plain);
		}
		clear(&p);
	}
	kdr_context_free(ctx);
}

static void dense_and_sparse__near_the_origin__bit_identical(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(4, "test", 0);
	for (int turn = 0; turn < unit_turns(300); turn++) {
		problem p = draw_problem(&rng, turn);
		kdri_kmeans_options o = options_of(&p, turn);
		kdri_kmeans_result dense = { 0 }, sparse = { 0 };
		if (p.n >= 20 && turn % KINDS != FAR && turn % KINDS != EQUAL) {
			assert_ok(ctx, kdri_kmeans(ctx, &p.as_dense, NULL, &o, &dense));
			assert_ok(ctx, kdri_kmeans(ctx, &p.as_sparse, NULL, &o, &sparse));
			assert_same(&p, &dense, &sparse);
			assert_near(dense.objective, sparse.objective, 1e-11 * (1 + dense.objective_start));
		}
		kdri_kmeans_free(ctx, &dense);
		kdri_kmeans_free(ctx, &sparse);
		clear(&p);
	}
	kdr_context_free(ctx);
}

/* Labels in range, no cluster short, centres the means, objective the sum of squares, trace falling. */
static void check_result(const problem *p, const double *weights, const kdri_kmeans_result *r)
{
	int64_t distinct = r->distinct, d = p->d;
	double *mean = calloc((size_t)(p->k * d), sizeof *mean), *mass = calloc((size_t)p->k, sizeof *mass);
	double objective = 0, size = 0;
	for (int64_t i = 0; i < p->n; i++) {
		double w = weights ? weights[i] : 1;
		assert_in_range(r->labels[i], 0, p->k - 1);
		mass[r->labels[i]] += w;
		for (int64_t f = 0; f < d; f++) {
			double e = p->dense[i * d + f] - r->centres[r->labels[i] * d + f];
			mean[r->labels[i] * d + f] += w * p->dense[i * d + f];
			objective += w * e * e;
			size += w * p->dense[i * d + f] * p->dense[i * d + f];
		}
	}
	int64_t nonempty = 0;
	for (int64_t j = 0; j < p->k; j++) {
		nonempty += mass[j] > 0;
		for (int64_t f = 0; f < d && mass[j] > 0; f++)
			assert_near(r->centres[j * d + f], mean[j * d + f] / mass[j],
			            1e-13 * (1 + fabs(r->centres[j * d + f])));
	}
	assert_int_equal(nonempty, r->nonempty);
	if (distinct == p->k)
		assert_int_equal(nonempty, p->k);
	else
		assert_true(nonempty >= distinct);
	assert_near(r->objective, objective, 1e-12 * objective + 1e-14 * size);
	double last = r->objective_start;
	for (int64_t i = 0; i < r->iterations; i++) {
		assert_true(r->trace[i] <= last);
		last = r->trace[i];
	}
	assert_true(last == r->objective);
	free(mean);
	free(mass);
}

static void result__many_problems__valid_and_monotone(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(5, "test", 0);
	for (int turn = 0; turn < unit_turns(600); turn++) {
		problem p = draw_problem(&rng, turn);
		const double *weights = turn % 4 == 1 ? p.weights : NULL;
		kdri_kmeans_options o = options_of(&p, turn);
		kdri_kmeans_result r = { 0 };
		o.spherical = false;
		o.max_iter = turn % 11 ? 300 : turn % 4;
		if (weights) {
			int64_t positive = 0;
			for (int64_t i = 0; i < p.n; i++)
				positive += weights[i] > 0;
			o.k = p.k = KDRI_MIN(p.k, positive);
		}
		assert_ok(ctx, kdri_kmeans(ctx, turn % 2 ? &p.as_sparse : &p.as_dense, weights, &o, &r));
		if (o.max_iter)
			check_result(&p, weights, &r);
		if (r.stop == KDR_STOP_CONVERGED && r.nonempty == p.k && turn % KINDS == BLOBS) {
			int64_t *again = calloc((size_t)p.n, sizeof *again);
			assert_ok(ctx, kdri_kmeans_assign(ctx, &p.as_dense, r.centres, p.k, false, again));
			assert_memory_equal(again, r.labels, (size_t)p.n * sizeof *again);
			free(again);
		}
		kdri_kmeans_free(ctx, &r);
		clear(&p);
	}
	kdr_context_free(ctx);
}

static void threads__one_two_three__bit_identical(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(6, "test", 0);
	for (int kind = 0; kind < KINDS; kind++) {
		problem p = make(kind, 3000, 40, 20, &rng);
		kdri_kmeans_options o = options_of(&p, kind);
		kdri_kmeans_result one = { 0 }, many = { 0 };
		const kdr_mat *x = kind == SPARSE ? &p.as_sparse : &p.as_dense;
		kdr_context_set_threads(ctx, 1);
		assert_ok(ctx, kdri_kmeans(ctx, x, p.weights, &o, &one));
		for (int threads = 2; threads <= 3; threads++) {
			kdr_context_set_threads(ctx, threads);
			assert_ok(ctx, kdri_kmeans(ctx, x, p.weights, &o, &many));
			assert_same(&p, &one, &many);
			assert_true(one.objective == many.objective);
			assert_memory_equal(one.trace, many.trace,
			                    (size_t)one.iterations * sizeof *one.trace);
			kdri_kmeans_free(ctx, &many);
		}
		kdri_kmeans_free(ctx, &one);
		clear(&p);
	}
	kdr_context_free(ctx);
}

/* --- particular cases ----------------------------------------------------------------------- */

static void weights__integers__equal_repeated_rows(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(7, "test", 0);
	for (int turn = 0; turn < unit_turns(50); turn++) {
		problem p = make(BLOBS, 80, 5, 4, &rng);
		int64_t total = 0, at = 0;
		for (int64_t i = 0; i < p.k; i++)
			p.weights[i] += 1; /* no cluster empty at the start */
		for (int64_t i = 0; i < p.n; i++)
			total += (int64_t)p.weights[i];
		double *repeated = calloc((size_t)(total * p.d), sizeof *repeated);
		for (int64_t i = 0; i < p.n; i++)
			for (int64_t r = 0; r < (int64_t)p.weights[i]; r++, at++)
				memcpy(repeated + at * p.d, p.dense + i * p.d,
				       (size_t)p.d * sizeof *repeated);
		kdr_mat many = kdr_mat_from_dense(repeated, total, p.d);
		kdri_kmeans_options o = options_of(&p, 1);
		kdri_kmeans_result a = { 0 }, b = { 0 };
		o.init_centres = p.dense;
		assert_ok(ctx, kdri_kmeans(ctx, &p.as_dense, p.weights, &o, &a));
		assert_ok(ctx, kdri_kmeans(ctx, &many, NULL, &o, &b));
		at = 0;
		for (int64_t i = 0; i < p.n; i++)
			for (int64_t r = 0; r < (int64_t)p.weights[i]; r++, at++)
				assert_int_equal(a.labels[i], b.labels[at]);
		assert_near(a.objective, b.objective, 1e-11 * a.objective);
		kdri_kmeans_free(ctx, &a);
		kdri_kmeans_free(ctx, &b);
		free(repeated);
		clear(&p);
	}
	kdr_context_free(ctx);
}

static void start__labels__same_as_their_means(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(8, "test", 0);
	problem p = make(BLOBS, 300, 8, 6, &rng);
	int64_t labels[300];
	double means[6 * 8] = { 0 }, count[6] = { 0 };
	for (int64_t i = 0; i < p.n; i++) {
		labels[i] = i < p.k ? i : kdri_rng_below(&rng, p.k);
		count[labels[i]]++;
		for (int64_t f = 0; f < p.d; f++)
			means[labels[i] * p.d + f] += p.dense[i * p.d + f];
	}
	for (int64_t j = 0; j < p.k; j++)
		for (int64_t f = 0; f < p.d; f++)
			means[j * p.d + f] /= count[j];
	kdri_kmeans_options o = options_of(&p, 1);
	kdri_kmeans_result a = { 0 }, b = { 0 }, c = { 0 };
	o.init_labels = labels;
	assert_ok(ctx, kdri_kmeans(ctx, &p.as_dense, NULL, &o, &a));
	/* From its own answer it stops at once, with the objective it had. */
	o.init_labels = a.labels;
	assert_ok(ctx, kdri_kmeans(ctx, &p.as_dense, NULL, &o, &c));
	o.init_labels = NULL;
	o.init_centres = means;
	assert_ok(ctx, kdri_kmeans(ctx, &p.as_dense, NULL, &o, &b));
	assert_same(&p, &a, &b);
	assert_int_equal(c.iterations, 1);
	assert_memory_equal(a.labels, c.labels, sizeof labels);
	assert_near(c.objective_start, a.objective, 1e-12 * a.objective);
	kdri_kmeans_free(ctx, &a);
	kdri_kmeans_free(ctx, &b);
	kdri_kmeans_free(ctx, &c);
	clear(&p);
	kdr_context_free(ctx);
}

static void empty_cluster__far_start__takes_the_farthest_sample(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	double x[] = { 0, 1, 2, 3, 10 }, centres[] = { 2, 1000 };
	kdr_mat m = kdr_mat_from_dense(x, 5, 1);
	kdri_kmeans_options o = kdri_kmeans_defaults(2);
	kdri_kmeans_result r = { 0 };
	o.init_centres = centres;
	o.max_iter = 1;
	assert_ok(ctx, kdri_kmeans(ctx, &m, NULL, &o, &r));
	assert_int_equal(r.labels[4], 1);
	assert_near(r.centres[0], 1.5, 0);
	assert_near(r.centres[1], 10, 0);
	assert_near(r.objective, 5, 1e-15);
	kdri_kmeans_free(ctx, &r);
	kdr_context_free(ctx);
}

static void tie__equal_distances__lowest_index(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	double x[] = { 1, 0, 2, 1 }, centres[] = { 2, 0, 0 };
	kdr_mat m = kdr_mat_from_dense(x, 4, 1);
	int64_t labels[4];
	assert_ok(ctx, kdri_kmeans_assign(ctx, &m, centres, 3, false, labels));
	assert_int_equal(labels[0], 0);
	assert_int_equal(labels[1], 1);
	assert_int_equal(labels[2], 0);
	assert_int_equal(labels[3], 0);
	kdr_context_free(ctx);
}

static void far_from_the_origin__two_blobs__are_told_apart(void **state)
{
	(void)state;
	/* |x|^2 is 2e18 here: without the shift the rounding of a distance would be about 1000. */
	kdr_context *ctx = unit_context();
	double x[200];
	for (int i = 0; i < 100; i++) {
		x[2 * i] = 1e9 + (i % 2 ? 3 : 0) + 0.01 * i;
		x[2 * i + 1] = -1e9;
	}
	kdr_mat m = kdr_mat_from_dense(x, 100, 2);
	kdri_kmeans_options o = kdri_kmeans_defaults(2);
	kdri_kmeans_result r = { 0 };
	assert_ok(ctx, kdri_kmeans(ctx, &m, NULL, &o, &r));
	for (int i = 2; i < 100; i++)
		assert_int_equal(r.labels[i], r.labels[i % 2]);
	assert_true(r.labels[0] != r.labels[1]);
	kdri_kmeans_free(ctx, &r);
	kdr_context_free(ctx);
}

static void spherical__scaled_rows__same_labels_and_unit_centres(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(9, "test", 0);
	for (int turn = 0; turn < unit_turns(50); turn++) {
		problem p = make(SPARSE, 200, 12, 5, &rng);
		kdri_kmeans_options o = options_of(&p, 3);
		kdri_kmeans_result a = { 0 }, b = { 0 };
		o.max_iter = 50;
		assert_ok(ctx, kdri_kmeans(ctx, &p.as_sparse, NULL, &o, &a));
		for (int64_t q = 0; q < p.nnz; q++)
			p.val[q] *= 1 << 10; /* a power of two changes no bit of the cosines */
		assert_ok(ctx, kdri_kmeans(ctx, &p.as_sparse, NULL, &o, &b));
		assert_same(&p, &a, &b);
		for (int64_t j = 0; j < p.k; j++) {
			double size = 0;
			for (int64_t f = 0; f < p.d; f++)
				size += a.centres[j * p.d + f] * a.centres[j * p.d + f];
			assert_near(size, 1, 1e-14);
		}
		double objective = 0;
		for (int64_t i = 0; i < p.n; i++) {
			double dot = 0, size = 0;
			for (int64_t f = 0; f < p.d; f++) {
				dot += p.dense[i * p.d + f] * a.centres[a.labels[i] * p.d + f];
				size += p.dense[i * p.d + f] * p.dense[i * p.d + f];
			}
			objective += size > 0 ? 2 - 2 * dot / sqrt(size) : 1;
			if (!(size > 0))
				assert_int_equal(a.labels[i], 0);
		}
		assert_near(a.objective, objective, 1e-11 * objective);
		for (int64_t i = 1; i < a.iterations; i++)
			assert_true(a.trace[i] <= a.trace[i - 1]);
		kdri_kmeans_free(ctx, &a);
		kdri_kmeans_free(ctx, &b);
		clear(&p);
	}
	kdr_context_free(ctx);
}

static void overflow__squares__clean_error(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	double x[] = { 1e200, -1e200, 3 };
	kdr_mat m = kdr_mat_from_dense(x, 3, 1);
	kdri_kmeans_options o = kdri_kmeans_defaults(2);
	kdri_kmeans_result r = { 0 };
	assert_int_equal(kdri_kmeans(ctx, &m, NULL, &o, &r), KDR_ERR_NUMERIC);
	o.k = 4;
	assert_int_equal(kdri_kmeans(ctx, &m, NULL, &o, &r), KDR_ERR_ARGUMENT);
	assert_null(r.labels);
	kdr_context_free(ctx);
}

static void kmeans__no_time__starts_from_random_rows(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(4, "no time", 0);
	problem p = make(BLOBS, 60, 3, 5, &rng);
	kdri_kmeans_result r[2] = { 0 };
	kdr_context_set_time_limit(ctx, 1e-9);
	for (int i = 0; i < 2; i++) {
		kdri_kmeans_options o = kdri_kmeans_defaults(p.k);
		o.start = i ? KDRI_START_RANDOM : o.start;
		assert_ok(ctx, kdri_kmeans(ctx, &p.as_dense, NULL, &o, &r[i]));
	}
	assert_memory_equal(r[0].labels, r[1].labels, 60 * sizeof(int64_t));
	kdri_kmeans_free(ctx, &r[0]);
	kdri_kmeans_free(ctx, &r[1]);
	clear(&p);
	kdr_context_free(ctx);
}

/* Dense and sparse rows, weights, unit length; as many candidates as half a tile has lanes, or more. */
static void plusplus__starts_that_share_a_pass__centres_of_each_alone(void **state)
{
	(void)state;
	enum { STARTS = KDRI_KM_STARTS + 2 }; /* a full batch and a part of one */
	for (int round = 0; round < 24; round++) {
		kdr_context *ctx = unit_context();
		kdri_rng rng = kdri_rng_stream(round, "starts", 0);
		problem p = make(round % KINDS, 700 + 10 * round, 9, round % 2 ? 5 : 30, &rng);
		const kdr_mat *x = round % 3 ? &p.as_dense : &p.as_sparse;
		const kdri_km_plan plan = { .k = p.k, .spherical = round % 4 == 1 };
		const size_t size = (size_t)(p.k * p.d);
		double *centres = calloc(2 * STARTS * size, sizeof *centres);
		kdri_km w;
		kdri_km_seed seeds[2 * STARTS];
		kdr_context_set_threads(ctx, 1 + round % 3);
		assert_ok(ctx, kdri_km_open(ctx, x, round % 5 ? NULL : p.weights, &plan, &w));
		for (int i = 0; i < 2 * STARTS; i++)
			seeds[i] = (kdri_km_seed){ &w, kdri_rng_stream(7, "start", (uint64_t)(i % STARTS)),
				                   centres + (size_t)i * size };
		assert_ok(ctx, kdri_km_plusplus(seeds, STARTS));
		for (int i = STARTS; i < 2 * STARTS; i++)
			assert_ok(ctx, kdri_km_plusplus(&seeds[i], 1));
		assert_memory_equal(centres, centres + STARTS * size, STARTS * size * sizeof *centres);
		kdri_km_close(&w);
		free(centres);
		clear(&p);
		kdr_context_free(ctx);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kmeans__no_time__starts_from_random_rows),
		cmocka_unit_test(bounds__many_problems__partition_of_plain_lloyd),
		cmocka_unit_test(dense_and_sparse__near_the_origin__bit_identical),
		cmocka_unit_test(result__many_problems__valid_and_monotone),
		cmocka_unit_test(threads__one_two_three__bit_identical),
		cmocka_unit_test(weights__integers__equal_repeated_rows),
		cmocka_unit_test(start__labels__same_as_their_means),
		cmocka_unit_test(empty_cluster__far_start__takes_the_farthest_sample),
		cmocka_unit_test(tie__equal_distances__lowest_index),
		cmocka_unit_test(far_from_the_origin__two_blobs__are_told_apart),
		cmocka_unit_test(spherical__scaled_rows__same_labels_and_unit_centres),
		cmocka_unit_test(overflow__squares__clean_error),
		cmocka_unit_test(plusplus__starts_that_share_a_pass__centres_of_each_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
