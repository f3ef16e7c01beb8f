/* Mixtures of numbers and categories: against numbers computed by another program (tests/golden/mixture.json), and what must
 * hold of any data. SPDX-License-Identifier: BSD-3-Clause */
#include "engine/mixture/mixture.h"
#include "tests/unit/golden.h"

/* Two tables of n rows in all, drawn; some cells are missing, the last category only the second table has. */
typedef struct made {
	kdri_mixture_data d;
	double *x;
	int32_t *code;
	int64_t *start, begin[3], levels[2];
} made;

enum { NUMBERS = 3, CATEGORIES = 2 };

static made made_of(int64_t n, int64_t k, double missing, uint64_t seed)
{
	made m = { .x = malloc((size_t)(n * NUMBERS) * sizeof *m.x),
		   .code = malloc((size_t)(n * CATEGORIES) * sizeof *m.code),
		   .start = malloc((size_t)n * sizeof *m.start),
		   .begin = { 0, n / 3, n },
		   .levels = { 2, 4 } };
	kdri_rng rng = kdri_rng_stream(seed, "made", 0);
	for (int64_t i = 0; i < n; i++) {
		int64_t c = kdri_rng_below(&rng, k);
		for (int64_t j = 0; j < NUMBERS; j++) {
			m.x[i * NUMBERS + j] =
			        1000 + 10 * ((double)((c + j) % k) * 2 + kdri_rng_normal(&rng));
			if (kdri_rng_uniform(&rng) < missing)
				m.x[i * NUMBERS + j] = NAN;
		}
		for (int64_t j = 0; j < CATEGORIES; j++)
			m.code[i * CATEGORIES + j] =
			        kdri_rng_uniform(&rng) < missing || (j == 1 && i < n / 3) ? -1
			        : kdri_rng_uniform(&rng) < 0.6 ? (int32_t)(c % m.levels[j])
			                                       : (int32_t)kdri_rng_below(&rng, m.levels[j]);
		m.start[i] = kdri_rng_uniform(&rng) < 0.5 ? c : kdri_rng_below(&rng, k);
	}
	m.d = (kdri_mixture_data){ .n = n,
		                   .tables = 2,
		                   .begin = m.begin,
		                   .numbers = NUMBERS,
		                   .categories = CATEGORIES,
		                   .x = m.x,
		                   .code = m.code,
		                   .levels = m.levels };
	return m;
}

static void made_point(made *m)
{
	m->d.begin = m->begin;
	m->d.levels = m->levels;
}

static void made_free(made *m)
{
	free(m->x);
	free(m->code);
	free(m->start);
}

static void mixture__golden_tables__labels_and_likelihood(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	const kdri_json_value *g = golden_load("mixture.json");
	const kdri_json_value *rows = kdri_json_get(g, "standardised"), *codes = kdri_json_get(g, "codes"),
	                      *results = kdri_json_get(g, "results");
	int64_t n = kdri_json_count(rows), numbers = 2, categories = kdri_json_count(codes), count,
	        levels[3] = { 0 }, *task = golden_integers(kdri_json_get(g, "task"), &count),
	        *start = golden_integers(kdri_json_get(g, "start"), NULL), begin[] = { 0, 0, n };
	double *x = malloc((size_t)(n * numbers) * sizeof *x);
	int32_t *code = malloc((size_t)(n * categories) * sizeof *code);
	for (int64_t i = 0; i < n; i++) {
		begin[1] += task[i] == 0;
		for (int64_t j = 0; j < numbers; j++) {
			const kdri_json_value *cell = kdri_json_at(kdri_json_at(rows, i), j);
			x[i * numbers + j] = kdri_json_number(cell, NAN);
		}
	}
	for (int64_t j = 0; j < categories; j++) {
		int64_t *values = golden_integers(kdri_json_at(codes, j), NULL);
		for (int64_t i = 0; i < n; i++) {
			code[i * categories + j] = (int32_t)values[i];
			levels[j] = KDRI_MAX(levels[j], values[i] + 1);
		}
		free(values);
	}
	const kdri_mixture_data d = { .n = n,
		                      .tables = 2,
		                      .begin = begin,
		                      .numbers = numbers,
		                      .categories = categories,
		                      .x = x,
		                      .code = code,
		                      .levels = levels };
	for (int shared = 0; shared < 2; shared++) {
		const kdri_json_value *expected = kdri_json_get(results, shared ? "shared" : "own");
		kdri_mixture_options o = kdri_mixture_defaults(3);
		kdri_mixture m = { 0 };
		int64_t *labels = calloc((size_t)n, sizeof *labels),
		        *theirs = golden_integers(kdri_json_get(expected, "labels"), NULL);
		o.shared = shared;
		assert_ok(ctx, kdri_mixture_fit(ctx, &d, &o, start, &m, labels, NULL));
		assert_near(m.loglik, golden_number(expected, "loglik"), 1e-7);
		for (int64_t i = 0; i < n; i++)
			assert_int_equal(labels[i], theirs[i]);
		kdri_mixture_free(ctx, &m);
		free(labels);
		free(theirs);
	}
	free(x);
	free(code);
	free(task);
	free(start);
	golden_free(g);
	kdr_context_free(ctx);
}

static void mixture__any_data__value_never_falls(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	for (int turn = 0; turn < unit_turns(60); turn++) {
		const int64_t n = 5 + 37 * (turn % 9), k = 1 + turn % 6;
		made m = made_of(n, k, turn % 3 * 0.2, (uint64_t)turn);
		made_point(&m);
		const double u[] = { 1, 0.5, 1.0 / 3 }, v[] = { 1, 0.5 };
		m.d.number_weight = turn % 2 ? u : NULL;
		m.d.category_weight = turn % 2 ? v : NULL;
		kdri_mixture_options o = kdri_mixture_defaults(k);
		kdri_mixture fitted = { 0 };
		int64_t *labels = calloc((size_t)n, sizeof *labels);
		o.shared = turn % 4 < 2;
		o.tol = 0;
		o.max_iter = 40;
		assert_ok(ctx, kdri_mixture_fit(ctx, &m.d, &o, m.start, &fitted, labels, NULL));
		assert_true(fitted.iterations > 0 && isfinite(fitted.loglik));
		for (int64_t i = 1; i < fitted.iterations; i++)
			if (fitted.values[i] < fitted.values[i - 1] - 1e-9 * fabs(fitted.values[i]))
				fail_msg("%.17g after %.17g", fitted.values[i], fitted.values[i - 1]);
		kdri_mixture_free(ctx, &fitted);
		free(labels);
		made_free(&m);
	}
	kdr_context_free(ctx);
}

static void mixture__threads__same_bits(void **state)
{
	(void)state;
	const int64_t n = 3000, k = 4;
	made m = made_of(n, k, 0.1, 5);
	made_point(&m);
	double loglik[2];
	int64_t *labels[2];
	for (int turn = 0; turn < 2; turn++) {
		kdr_context *ctx = unit_context();
		kdri_mixture_options o = kdri_mixture_defaults(k);
		kdri_mixture fitted = { 0 };
		kdr_context_set_threads(ctx, turn ? 4 : 1);
		labels[turn] = calloc((size_t)n, sizeof **labels);
		assert_ok(ctx, kdri_mixture_fit(ctx, &m.d, &o, m.start, &fitted, labels[turn], NULL));
		loglik[turn] = fitted.loglik;
		kdri_mixture_free(ctx, &fitted);
		kdr_context_free(ctx);
	}
	assert_true(loglik[0] == loglik[1]);
	assert_memory_equal(labels[0], labels[1], (size_t)n * sizeof **labels);
	free(labels[0]);
	free(labels[1]);
	made_free(&m);
}

static void mixture__assign__same_as_the_fit(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	const int64_t n = 400, k = 3;
	made m = made_of(n, k, 0.15, 9);
	made_point(&m);
	kdri_mixture_options o = kdri_mixture_defaults(k);
	kdri_mixture fitted = { 0 };
	int64_t *labels = calloc((size_t)n, sizeof *labels), *again = calloc((size_t)n, sizeof *again);
	double *r = calloc((size_t)(n * k), sizeof *r), *s = calloc((size_t)(n * k), sizeof *s);
	assert_ok(ctx, kdri_mixture_fit(ctx, &m.d, &o, m.start, &fitted, labels, r));
	assert_int_equal(fitted.stop, KDR_STOP_CONVERGED);
	for (int t = 0; t < 2; t++) {
		const int64_t first = m.begin[t], rows = m.begin[t + 1] - first;
		kdri_mixture_data part = m.d;
		part.n = rows;
		part.x += first * NUMBERS;
		part.code += first * CATEGORIES;
		assert_ok(ctx, kdri_mixture_assign(ctx, &part, &fitted, t, again + first, s + first * k));
		/* A single row gets the same label as together with others. */
		part.n = 1;
		int64_t one;
		assert_ok(ctx, kdri_mixture_assign(ctx, &part, &fitted, t, &one, NULL));
		assert_int_equal(one, labels[first]);
	}
	assert_memory_equal(labels, again, (size_t)n * sizeof *labels);
	for (int64_t i = 0; i < n * k; i++)
		assert_near(r[i], s[i], 1e-9);
	kdri_mixture_free(ctx, &fitted);
	free(labels);
	free(again);
	free(r);
	free(s);
	made_free(&m);
	kdr_context_free(ctx);
}

static void mixture__scale_and_constants__change_nothing(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	const int64_t n = 200, k = 3;
	made m = made_of(n, k, 0.1, 3);
	made_point(&m);
	int64_t *labels[2] = { calloc((size_t)n, 8), calloc((size_t)n, 8) };
	for (int turn = 0; turn < 2; turn++) {
		kdri_mixture_options o = kdri_mixture_defaults(k);
		kdri_mixture fitted = { 0 };
		o.tol = 0;
		assert_ok(ctx, kdri_mixture_fit(ctx, &m.d, &o, m.start, &fitted, labels[turn], NULL));
		for (int64_t i = 0; i < k * NUMBERS; i++)
			assert_true(isfinite(fitted.mean[i]) && fitted.variance[i] > 0);
		kdri_mixture_free(ctx, &fitted);
		for (int64_t i = 0; i < n; i++)
			m.x[i * NUMBERS + 1] = 1e6 + 1e-3 * m.x[i * NUMBERS + 1];
	}
	assert_memory_equal(labels[0], labels[1], (size_t)n * 8);
	free(labels[0]);
	free(labels[1]);
	made_free(&m);
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mixture__golden_tables__labels_and_likelihood),
		cmocka_unit_test(mixture__any_data__value_never_falls),
		cmocka_unit_test(mixture__threads__same_bits),
		cmocka_unit_test(mixture__assign__same_as_the_fit),
		cmocka_unit_test(mixture__scale_and_constants__change_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
