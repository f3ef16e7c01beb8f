/* Coupled tri-factorisations: golden sweeps, gradients, descent. SPDX-License-Identifier: BSD-3-Clause */
#include "core/json_read.h"
#include "tests/unit/golden.h"

#include "methods/ttl/ttl.h"

static const char *const norms[] = { "rescaleG", "rescale", "mm", "paper" };

/* Four data sets (source, bridge twice, target), as samples x features. */
typedef struct problem {
	int64_t n[4], m[4], c, p1, p2;
	double *x[4];
	kdr_mat mat[4];
	bool same; /* the bridge's two views are one matrix */
} problem;

static double *transposed(const kdri_json_value *value, int64_t *n, int64_t *m)
{
	int64_t count;
	double *x = golden_numbers(value, &count), *out = calloc((size_t)count + 1, sizeof *out);
	*m = kdri_json_count(value);
	*n = count / *m;
	for (int64_t i = 0; i < *n; i++)
		for (int64_t j = 0; j < *m; j++)
			out[i * *m + j] = x[j * *n + i];
	free(x);
	return out;
}

static problem problem_load(const kdri_json_value *g)
{
	static const char *const names[4] = { "Xs", "XIa", "XIb", "Xt" };
	problem p = { .c = (int64_t)golden_number(g, "c"),
		      .p1 = (int64_t)golden_number(g, "p1"),
		      .p2 = (int64_t)golden_number(g, "p2") };
	for (int d = 0; d < 4; d++) {
		p.x[d] = transposed(kdri_json_get(g, names[d]), &p.n[d], &p.m[d]);
		p.mat[d] = kdr_mat_from_dense(p.x[d], p.n[d], p.m[d]);
	}
	p.same = p.m[1] == p.m[2] && memcmp(p.x[1], p.x[2], (size_t)(p.n[1] * p.m[1]) * sizeof(double)) == 0;
	return p;
}

static problem problem_random(kdri_rng *rng)
{
	problem p = { .c = 2 + kdri_rng_below(rng, 3),
		      .p1 = 1 + kdri_rng_below(rng, 5),
		      .p2 = 1 + kdri_rng_below(rng, 4) };
	int64_t n = 1 + kdri_rng_below(rng, 20);
	p.same = kdri_rng_below(rng, 2);
	for (int d = 0; d < 4; d++) {
		p.n[d] = d == 1 || d == 2 ? n : 2 + kdri_rng_below(rng, 20);
		p.m[d] = d == 1 || d == 3 || (d == 2 && p.same) ? p.m[d - 1] : 1 + kdri_rng_below(rng, 25);
		p.x[d] = calloc((size_t)(p.n[d] * p.m[d]), sizeof *p.x[d]);
		for (int64_t i = 0; i < p.n[d] * p.m[d]; i++)
			p.x[d][i] = kdri_rng_uniform(rng) < 0.5 ? 0 : kdri_rng_uniform(rng);
		if (d == 2 && p.same)
			memcpy(p.x[2], p.x[1], (size_t)(p.n[1] * p.m[1]) * sizeof *p.x[2]);
		p.mat[d] = kdr_mat_from_dense(p.x[d], p.n[d], p.m[d]);
	}
	return p;
}

static void problem_free(problem *p)
{
	for (int d = 0; d < 4; d++)
		free(p->x[d]);
}

/* The two sides of ttl. */
static void ttl_new(kdr_context *ctx, const problem *p, kdri_tri_norm norm, const double *w, kdri_tri *t)
{
	int last = p->same ? 2 : 3, second = p->same ? 1 : 2;
	kdri_tri_shape shape = { .classes = p->c,
		                 .p1 = p->p1,
		                 .p2 = p->p2,
		                 .norm = norm,
		                 .sides = 2,
		                 .sets = 3,
		                 .datas = last + 1,
		                 .data = { { &p->mat[0], 0 }, { &p->mat[1], 1 } },
		                 .side = { { { 0, 1 }, { w[0], w[1] } },
		                           { { second, last }, { w[2], w[3] } } },
		                 .constant = { true, false, false } };
	shape.data[second].x = &p->mat[second];
	shape.data[second].set = 1;
	shape.data[last].x = &p->mat[3];
	shape.data[last].set = 2;
	assert_ok(ctx, kdri_tri_new(ctx, &shape, t));
}

static const double ones[4] = { 1, 1, 1, 1 };

static void put(double *to, const kdri_json_value *from)
{
	int64_t n;
	double *x = golden_numbers(from, &n);
	memcpy(to, x, (size_t)n * sizeof *to);
	free(x);
}

/* Entry (i, j) of F in its panels. */
static double *f_entry(kdri_tri *t, int s, int64_t i, int64_t j)
{
	return t->side[s].f + ((i / KDRI_TRI_LANES) * t->q + j) * KDRI_TRI_LANES + i % KDRI_TRI_LANES;
}

static void put_f(kdri_tri *t, int side, int64_t begin, int64_t count, const kdri_json_value *from)
{
	double *x = golden_numbers(from, NULL);
	for (int64_t i = 0; i < t->side[side].m; i++)
		for (int64_t j = 0; j < count; j++)
			*f_entry(t, side, i, begin + j) = x[i * count + j];
	free(x);
}

/* Names of the parts of a side: F1, F2 of its two data sets, A1, A2. */
static const char *const parts[2][6] = { { "F1h", "F2s", "F2i", "A1h", "A2s", "A2i" },
	                                 { "F1t", "F2j", "F2t", "A1t", "A2j", "A2t" } };
static const char *const only[6] = { "F1", "F2s", "F2t", "A1", "A2s", "A2t" };

static void put_parts(kdri_tri *t, int s, const char *const *names, const kdri_json_value *from)
{
	int64_t at[4] = { 0, t->p1, t->p1 + t->p2, t->q };
	for (int k = 0; k < 3; k++) {
		put_f(t, s, at[k], at[k + 1] - at[k], kdri_json_get(from, names[k]));
		put(t->side[s].a + at[k] * t->c, kdri_json_get(from, names[3 + k]));
	}
}

static void check_parts(const char *name, const kdri_tri *t, int s, const char *const *names,
                        const kdri_json_value *want)
{
	int64_t at[4] = { 0, t->p1, t->p1 + t->p2, t->q };
	double *f = malloc((size_t)(t->side[s].m * t->q + 1) * sizeof *f);
	for (int k = 0; k < 3; k++) {
		kdri_tri_get_f(t, s, at[k], at[k + 1] - at[k], f);
		golden_close(name, names[k], f, kdri_json_get(want, names[k]), 1e-9);
		golden_close(name, names[3 + k], t->side[s].a + at[k] * t->c,
		             kdri_json_get(want, names[3 + k]), 1e-9);
	}
	free(f);
}

/* A step of one set's G, after which the objective is up to date. */
static void set_step(kdr_context *ctx, kdri_tri *t, int set)
{
	assert_ok(ctx, kdri_tri_update_g(ctx, t, set));
	assert_ok(ctx, kdri_tri_refresh(ctx, t, set));
}

/* G of the source, one-hot; everything else from the golden start. */
static void put_start(kdri_tri *t, const kdri_json_value *g, const kdri_json_value *init)
{
	int64_t n, *y = golden_integers(kdri_json_get(g, "ys"), &n);
	for (int64_t i = 0; i < n; i++)
		t->set[0].g[i * t->c + y[i]] = 1;
	free(y);
	put(t->set[1].g, kdri_json_get(init, "GI"));
	put(t->set[2].g, kdri_json_get(init, "Gt"));
	for (int s = 0; s < 2; s++)
		put_parts(t, s, parts[s], init);
}

static void check_steps(kdr_context *ctx, const kdri_json_value *g, const problem *p, int norm)
{
	const kdri_json_value *mode = kdri_json_get(kdri_json_get(g, "modes"), norms[norm]);
	const kdri_json_value *steps = kdri_json_get(mode, "steps_first_sweep");
	kdri_tri t = { 0 };
	ttl_new(ctx, p, (kdri_tri_norm)norm, ones, &t);
	put_start(&t, g, kdri_json_get(g, "init"));
	assert_ok(ctx, kdri_tri_start(ctx, &t));
	for (int64_t k = 0; k < kdri_json_count(steps); k++) {
		double want = kdri_json_number(kdri_json_at(kdri_json_at(steps, k), 2), 0);
		if (k < 12)
			kdri_tri_side_step(ctx, &t, (int)(k / 6), 1U << (k % 6));
		else if (k < 14)
			set_step(ctx, &t, (int)k - 11);
		else
			assert_ok(ctx, kdri_tri_normalise(ctx, &t));
		assert_near(kdri_tri_objective(&t), want, 1e-9 * fmax(1, want));
	}
	kdri_tri_free(ctx, &t);
}

static void check_sweeps(kdr_context *ctx, const kdri_json_value *g, const problem *p, int norm)
{
	const char *name = kdri_json_text(kdri_json_get(g, "name"), NULL);
	const kdri_json_value *mode = kdri_json_get(kdri_json_get(g, "modes"), norms[norm]);
	const kdri_json_value *trace = kdri_json_get(mode, "trace");
	kdri_tri t = { 0 };
	ttl_new(ctx, p, (kdri_tri_norm)norm, ones, &t);
	put_start(&t, g, kdri_json_get(g, "init"));
	assert_ok(ctx, kdri_tri_start(ctx, &t));
	for (int64_t k = 0; k < kdri_json_count(trace); k++) {
		double want = kdri_json_number(kdri_json_at(trace, k), 0);
		if (k > 0)
			assert_ok(ctx, kdri_tri_sweep(ctx, &t));
		assert_near(kdri_tri_objective(&t), want, 1e-9 * fmax(1, want));
		if (k != 1 && k != 30)
			continue;
		const kdri_json_value *after = kdri_json_get(mode, k == 1 ? "after1" : "after30");
		for (int s = 0; s < 2; s++)
			check_parts(name, &t, s, parts[s], after);
		golden_close(name, "GI", t.set[1].g, kdri_json_get(after, "GI"), 1e-9);
		golden_close(name, "Gt", t.set[2].g, kdri_json_get(after, "Gt"), 1e-9);
	}
	kdri_tri_free(ctx, &t);
}

static void sweeps__golden__every_step_and_factor(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	const kdri_json_value *root = golden_load("ttl.json"), *cases = kdri_json_get(root, "cases");
	for (int64_t k = 0; k < kdri_json_count(cases); k++) {
		problem p = problem_load(kdri_json_at(cases, k));
		assert_int_equal(p.same, k == 0);
		for (int norm = 0; norm < 4; norm++) {
			check_steps(ctx, kdri_json_at(cases, k), &p, norm);
			check_sweeps(ctx, kdri_json_at(cases, k), &p, norm);
		}
		problem_free(&p);
	}
	golden_free(root);
	kdr_context_free(ctx);
}

static void sweeps__golden__fixed_target_rows_and_weights(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	const kdri_json_value *root = golden_load("ttl.json"), *cases = kdri_json_get(root, "cases");
	for (int64_t k = 0; k < kdri_json_count(cases); k++) {
		const kdri_json_value *g = kdri_json_at(cases, k), *init = kdri_json_get(g, "init");
		problem p = problem_load(g);
		for (int which = 0; which < 2; which++) {
			const kdri_json_value *want = kdri_json_get(g, which ? "weighted" : "fixed_target");
			const kdri_json_value *trace = kdri_json_get(want, "trace");
			double *w = which ? golden_numbers(kdri_json_get(want, "w"), NULL) : NULL;
			kdri_tri t = { 0 };
			ttl_new(ctx, &p, KDRI_TRI_MM, w ? w : ones, &t);
			put_start(&t, g, init);
			if (!which) {
				int64_t count, *rows = golden_integers(kdri_json_get(want, "rows"), &count);
				put(t.set[2].g, kdri_json_get(want, "init_Gt"));
				for (int64_t i = 0; i < count; i++)
					t.set[2].fixed[rows[i]] = true;
				free(rows);
			}
			assert_ok(ctx, kdri_tri_start(ctx, &t));
			for (int64_t i = 0; i < kdri_json_count(trace); i++) {
				double value = kdri_json_number(kdri_json_at(trace, i), 0);
				if (i > 0)
					assert_ok(ctx, kdri_tri_sweep(ctx, &t));
				assert_near(kdri_tri_objective(&t), value, 1e-9 * fmax(1, value));
			}
			if (!which)
				golden_close("fixed", "Gt", t.set[2].g, kdri_json_get(want, "Gt"), 1e-9);
			kdri_tri_free(ctx, &t);
			free(w);
		}
		problem_free(&p);
	}
	golden_free(root);
	kdr_context_free(ctx);
}

static void sweeps__golden__two_domains(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	const kdri_json_value *root = golden_load("ttl.json"),
	                      *g = kdri_json_at(kdri_json_get(root, "cases"), 0);
	const kdri_json_value *two = kdri_json_get(g, "two_domain"), *init = kdri_json_get(two, "init");
	problem p = problem_load(g);
	for (int norm = 1; norm < 4; norm++) {
		const kdri_json_value *mode = kdri_json_get(kdri_json_get(two, "modes"), norms[norm]);
		const kdri_json_value *trace = kdri_json_get(mode, "trace"), *last = kdri_json_get(mode, "P");
		const kdri_tri_shape shape = { .classes = p.c,
			                       .p1 = p.p1,
			                       .p2 = p.p2,
			                       .norm = (kdri_tri_norm)norm,
			                       .sides = 1,
			                       .sets = 2,
			                       .datas = 2,
			                       .data = { { &p.mat[0], 0 }, { &p.mat[3], 1 } },
			                       .side = { { { 0, 1 }, { 1, 1 } } },
			                       .constant = { true, false } };
		kdri_tri t = { 0 };
		assert_ok(ctx, kdri_tri_new(ctx, &shape, &t));
		int64_t n, *y = golden_integers(kdri_json_get(g, "ys"), &n);
		for (int64_t i = 0; i < n; i++)
			t.set[0].g[i * t.c + y[i]] = 1;
		free(y);
		put(t.set[1].g, kdri_json_get(init, "Gt"));
		put_parts(&t, 0, only, init);
		assert_ok(ctx, kdri_tri_start(ctx, &t));
		for (int64_t k = 0; k < kdri_json_count(trace); k++) {
			double want = kdri_json_number(kdri_json_at(trace, k), 0);
			if (k > 0)
				assert_ok(ctx, kdri_tri_sweep(ctx, &t));
			assert_near(kdri_tri_objective(&t), want, 1e-9 * fmax(1, want));
		}
		check_parts(norms[norm], &t, 0, only, last);
		golden_close(norms[norm], "Gt", t.set[1].g, kdri_json_get(last, "Gt"), 1e-9);
		kdri_tri_free(ctx, &t);
	}
	problem_free(&p);
	golden_free(root);
	kdr_context_free(ctx);
}

/* --- properties ------------------------------------------------------------------------------------- */

static void random_labels(kdri_rng *rng, kdri_tri *t)
{
	for (int k = 0; k < t->sets; k++)
		for (int64_t i = 0; i < t->set[k].n; i++) {
			double sum = 0, *g = t->set[k].g + i * t->c;
			for (int64_t j = 0; j < t->c; j++)
				sum += g[j] = k == 0 ? j == i % t->c : kdri_rng_uniform(rng) + 1e-3;
			for (int64_t j = 0; j < t->c; j++)
				g[j] /= sum;
		}
}

static void sweeps__rescale_and_mm__never_rise(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	for (uint64_t seed = 0; seed < 60; seed++) {
		kdri_rng rng = kdri_rng_stream(seed, "test", 0);
		problem p = problem_random(&rng);
		double w[4];
		for (int k = 0; k < 4; k++)
			w[k] = seed % 2 ? 1 : kdri_rng_uniform(&rng) * 3 + 0.01;
		for (int norm = KDRI_TRI_RESCALE; norm <= KDRI_TRI_MM; norm++) {
			kdri_tri t = { 0 };
			ttl_new(ctx, &p, (kdri_tri_norm)norm, w, &t);
			kdri_tri_random(ctx, &t, seed);
			random_labels(&rng, &t);
			assert_ok(ctx, kdri_tri_start(ctx, &t));
			double before = kdri_tri_objective(&t), start = before;
			for (int sweep = 0; sweep < 25; sweep++) {
				assert_ok(ctx, kdri_tri_sweep(ctx, &t));
				double now = kdri_tri_objective(&t);
				assert_true(isfinite(now));
				if (now > before + 1e-10 * fmax(1, start))
					fail_msg("seed %llu, %s: rose from %.17g to %.17g in sweep %d",
					         (unsigned long long)seed, norms[norm], before, now, sweep);
				before = now;
			}
			for (int64_t i = 0; i < t.set[2].n && norm == KDRI_TRI_MM; i++) {
				double sum = 0;
				for (int64_t j = 0; j < t.c; j++)
					sum += t.set[2].g[i * t.c + j];
				assert_near(sum, 1, 1e-9);
			}
			kdri_tri_free(ctx, &t);
		}
		problem_free(&p);
	}
	kdr_context_free(ctx);
}

/* The value of the objective with entry *x changed to `value`. */
static double value_at(kdr_context *ctx, kdri_tri *t, double *x, double value)
{
	double old = *x;
	*x = value;
	assert_ok(ctx, kdri_tri_start(ctx, t));
	double v = kdri_tri_objective(t);
	*x = old;
	return v;
}

/* The objective is quadratic along one entry: central differences are exact but for rounding. */
static double slope(kdr_context *ctx, kdri_tri *t, double *x)
{
	return (value_at(ctx, t, x, *x + 0.5) - value_at(ctx, t, x, *x - 0.5));
}

/* A step is x <- x neg / pos, and the gradient 2 (pos - neg). Where all data are 0, so is neg: the gradient there is
 * 2 pos. */
static double positive_part(kdr_context *ctx, kdri_tri *t, double *x)
{
	const double *kept[KDRI_TRI_DATA];
	double *none = calloc(1 << 12, sizeof *none);
	for (int d = 0; d < t->datas; d++) {
		kdr_dense *m = &t->data[d].x.as.dense;
		assert_true(m->rows * m->cols <= 1 << 12);
		kept[d] = m->data;
		m->data = none;
	}
	double gradient = slope(ctx, t, x);
	for (int d = 0; d < t->datas; d++)
		t->data[d].x.as.dense.data = kept[d];
	free(none);
	return gradient / 2;
}

/* Each step against the gradient: x_new = x (pos - gradient / 2) / pos. */
static void steps__any_entry__are_the_gradients_split(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	for (uint64_t seed = 0; seed < 12; seed++) {
		kdri_rng rng = kdri_rng_stream(seed, "test", 1);
		problem p = problem_random(&rng);
		const double w[4] = { 0.7, 1.3, 2, 0.4 };
		kdri_tri t = { 0 };
		ttl_new(ctx, &p, KDRI_TRI_PAPER, w, &t); /* in which a step of a side changes nothing else */
		kdri_tri_random(ctx, &t, seed);
		random_labels(&rng, &t);
		for (int trial = 0; trial < 14; trial++) {
			int s = trial / 7, step = trial % 7, set = 1 + s;
			int64_t begin = step % 3 == 0 ? 0 : t.p1 + (step % 3 - 1) * t.p2;
			int64_t j = begin + kdri_rng_below(&rng, step % 3 == 0 ? t.p1 : t.p2);
			double *x = step < 3   ? f_entry(&t, s, kdri_rng_below(&rng, t.side[s].m), j)
			            : step < 6 ? &t.side[s].a[j * t.c + kdri_rng_below(&rng, t.c)]
			                       : &t.set[set].g[kdri_rng_below(&rng, t.set[set].n * t.c)];
			double pos = positive_part(ctx, &t, x), grad = slope(ctx, &t, x), old = *x;
			assert_ok(ctx, kdri_tri_start(ctx, &t));
			if (step < 6)
				kdri_tri_side_step(ctx, &t, s, 1U << step);
			else
				set_step(ctx, &t, set);
			if (old > 1e-6 && pos > 1e-6)
				assert_near(*x, old * (pos - grad / 2) / pos, 1e-6 * fmax(1, *x));
		}
		kdri_tri_free(ctx, &t);
		problem_free(&p);
	}
	kdr_context_free(ctx);
}

/* Classes in another order, in the labels and in A: the same in that order. */
static void sweeps__classes_permuted__permutes_the_labels(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	for (uint64_t seed = 0; seed < 8; seed++) {
		kdri_rng rng = kdri_rng_stream(seed, "test", 3);
		problem p = problem_random(&rng);
		for (int norm = 0; norm < 4; norm++) {
			kdri_tri t[2] = { { 0 }, { 0 } };
			for (int k = 0; k < 2; k++) {
				kdri_rng same = kdri_rng_stream(seed, "test", 4);
				ttl_new(ctx, &p, (kdri_tri_norm)norm, ones, &t[k]);
				kdri_tri_random(ctx, &t[k], seed);
				random_labels(&same, &t[k]);
			}
			for (int64_t c = 0; c < p.c;
			     c++) { /* class c of the first is class c + 1 of the second */
				int64_t to = (c + 1) % p.c;
				for (int s = 0; s < 2; s++)
					for (int64_t j = 0; j < t[0].q; j++)
						t[1].side[s].a[j * p.c + to] = t[0].side[s].a[j * p.c + c];
				for (int k = 0; k < 3; k++)
					for (int64_t i = 0; i < t[0].set[k].n; i++)
						t[1].set[k].g[i * p.c + to] = t[0].set[k].g[i * p.c + c];
			}
			for (int k = 0; k < 2; k++) {
				assert_ok(ctx, kdri_tri_start(ctx, &t[k]));
				for (int sweep = 0; sweep < 10; sweep++)
					assert_ok(ctx, kdri_tri_sweep(ctx, &t[k]));
			}
			for (int64_t i = 0; i < t[0].set[2].n; i++)
				for (int64_t c = 0; c < p.c; c++)
					assert_near(t[1].set[2].g[i * p.c + (c + 1) % p.c],
					            t[0].set[2].g[i * p.c + c],
					            1e-7 * fmax(1, t[0].set[2].g[i * p.c + c]));
			for (int k = 0; k < 2; k++)
				kdri_tri_free(ctx, &t[k]);
		}
		problem_free(&p);
	}
	kdr_context_free(ctx);
}

static void sweeps__threads__same_bits(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	enum { N = 700, M = 3000 };
	kdri_rng rng = kdri_rng_stream(5, "test", 2);
	problem p = { .c = 3, .p1 = 4, .p2 = 3, .same = true };
	for (int d = 0; d < 4; d++) {
		p.n[d] = N;
		p.m[d] = M;
		p.x[d] = calloc((size_t)N * M, sizeof(double));
		for (int64_t i = 0; i < (int64_t)N * 20; i++)
			p.x[d][kdri_rng_below(&rng, (int64_t)N * M)] = kdri_rng_uniform(&rng);
		p.mat[d] = kdr_mat_from_dense(p.x[d], N, M);
	}
	double value[2];
	for (int run = 0; run < 2; run++) {
		kdri_tri t = { 0 };
		kdri_rng labels = kdri_rng_stream(6, "test", 0);
		kdr_context_set_threads(ctx, run ? 3 : 1);
		ttl_new(ctx, &p, KDRI_TRI_RESCALE_G, ones, &t);
		kdri_tri_random(ctx, &t, 1);
		random_labels(&labels, &t);
		assert_ok(ctx, kdri_tri_start(ctx, &t));
		for (int k = 0; k < 5; k++)
			assert_ok(ctx, kdri_tri_sweep(ctx, &t));
		value[run] = kdri_tri_objective(&t);
		kdri_tri_free(ctx, &t);
	}
	assert_true(value[0] == value[1]);
	problem_free(&p);
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sweeps__golden__every_step_and_factor),
		cmocka_unit_test(sweeps__golden__fixed_target_rows_and_weights),
		cmocka_unit_test(sweeps__golden__two_domains),
		cmocka_unit_test(sweeps__rescale_and_mm__never_rise),
		cmocka_unit_test(steps__any_entry__are_the_gradients_split),
		cmocka_unit_test(sweeps__classes_permuted__permutes_the_labels),
		cmocka_unit_test(sweeps__threads__same_bits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
