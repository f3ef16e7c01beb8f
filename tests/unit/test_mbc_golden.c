/* mbc against cases computed by an independent implementation: tests/golden/mbc.json. Its note says the
 * conventions. Cases of umode "nn" are another variant of the paper's walk, which kindred does not have. */
#include "core/json_read.h"
#include "engine/metrics/metrics.h"
#include "tests/unit/golden.h"

#include "methods/mbc/mbc.h"

enum { MOST = 8 };

static const kdri_json_value *golden(void)
{
	return golden_load("mbc.json");
}

static double number(const kdri_json_value *object, const char *key)
{
	return kdri_json_number(kdri_json_get(object, key), 0);
}

static const char *text(const kdri_json_value *object, const char *key)
{
	return kdri_json_text(kdri_json_get(object, key), NULL);
}

/* A list of numbers, or a list of such lists row after row; the caller frees it. */
static double *numbers(const kdri_json_value *list, int64_t *rows, int64_t *cols)
{
	*rows = kdri_json_count(list);
	bool nested = kdri_json_is(kdri_json_at(list, 0), KDRI_JSON_ARRAY);
	*cols = nested ? kdri_json_count(kdri_json_at(list, 0)) : 1;
	double *out = malloc((size_t)(*rows * *cols) * sizeof *out);
	for (int64_t i = 0; i < *rows; i++)
		for (int64_t j = 0; j < *cols; j++) {
			const kdri_json_value *item = kdri_json_at(list, i);
			out[i * *cols + j] = kdri_json_number(nested ? kdri_json_at(item, j) : item, 0);
		}
	return out;
}

static void assert_numbers(const double *ours, const kdri_json_value *list, double tol, const char *what)
{
	int64_t rows, cols;
	double *theirs = numbers(list, &rows, &cols);
	for (int64_t i = 0; i < rows * cols; i++)
		if (!(fabs(ours[i] - theirs[i]) <= tol * (1 + fabs(theirs[i]))))
			fail_msg("%s: entry %lld is %.17g, expected %.17g", what, (long long)i, ours[i],
			         theirs[i]);
	free(theirs);
}

/* --- whole runs -------------------------------------------------------------------------------------- */

typedef struct golden_case {
	const kdri_json_value *json;
	const char *divergence;
	kdr_task tasks[MOST];
	double *x[MOST];
	int64_t *init[MOST], ntasks;
} golden_case;

static void open_case(const kdri_json_value *json, golden_case *c)
{
	const kdri_json_value *x = kdri_json_get(json, "X"), *h = kdri_json_get(json, "H0"),
	                      *k = kdri_json_get(json, "K");
	*c = (golden_case){ .json = json,
		            .divergence = text(json, "divergence"),
		            .ntasks = kdri_json_count(x) };
	for (int64_t t = 0; t < c->ntasks; t++) {
		int64_t n, d, one;
		c->x[t] = numbers(kdri_json_at(x, t), &n, &d);
		double *labels = numbers(kdri_json_at(h, t), &n, &one);
		c->init[t] = malloc((size_t)n * sizeof *c->init[t]);
		for (int64_t i = 0; i < n; i++)
			c->init[t][i] = (int64_t)labels[i];
		free(labels);
		c->tasks[t] = (kdr_task){ .name = "t",
			                  .x = kdr_mat_from_dense(c->x[t], n, d),
			                  .k = kdri_json_integer(kdri_json_at(k, t), 0),
			                  .init = c->init[t] };
	}
}

static void close_case(golden_case *c)
{
	for (int64_t t = 0; t < c->ntasks; t++) {
		free(c->x[t]);
		free(c->init[t]);
	}
}

static kdr_result *fit(kdr_context *ctx, const golden_case *c, int64_t sweeps)
{
	kdr_options *o = NULL;
	kdr_result *r = NULL;
	kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = c->tasks, .ntasks = c->ntasks };
	assert_ok(ctx, kdr_options_new(ctx, "mbc", &o));
	assert_ok(ctx, kdr_options_set(ctx, o, "divergence", c->divergence));
	assert_ok(ctx, kdr_options_set(ctx, o, "u_step", text(c->json, "umode")));
	assert_ok(ctx, kdr_options_set_number(ctx, o, "lambda", number(c->json, "lam")));
	assert_ok(ctx, kdr_options_set_number(ctx, o, "tol", number(c->json, "tol")));
	assert_ok(ctx, kdr_options_set_number(ctx, o, "max_iter", (double)sweeps));
	if (kdri_json_get(c->json, "smooth_eps"))
		assert_ok(ctx, kdr_options_set_number(ctx, o, "smooth", number(c->json, "smooth_eps")));
	if (kdri_json_get(c->json, "ridge"))
		assert_ok(ctx, kdr_options_set_number(ctx, o, "ridge", number(c->json, "ridge")));
	assert_ok(ctx, kdr_fit(ctx, "mbc", &problem, o, &r));
	kdr_options_free(o);
	return r;
}

/* Labels, centroids and relations of a result against {"H", "U", "W"}; W may be missing. */
static void assert_state(const kdr_result *r, const golden_case *c, const kdri_json_value *h,
                         const kdri_json_value *u, const kdri_json_value *w, const char *name)
{
	for (int64_t t = 0; t < c->ntasks; t++) {
		int64_t n, rows, one;
		const int64_t *labels = kdr_result_labels(r, t, &n);
		double *expected = numbers(kdri_json_at(h, t), &rows, &one);
		for (int64_t i = 0; i < n; i++)
			if (labels[i] != (int64_t)expected[i])
				fail_msg("%s: label %lld of task %lld is %lld, expected %g", name,
				         (long long)i, (long long)t, (long long)labels[i], expected[i]);
		free(expected);
		kdr_array a = kdr_result_array(r, "centroids", t);
		assert_numbers(a.data, kdri_json_at(u, t), 1e-10, name);
	}
	for (int64_t i = 0; w && i < kdr_result_correspondence_count(r); i++) {
		kdr_correspondence m = kdr_result_correspondence_at(r, i);
		char key[64];
		snprintf(key, sizeof key, "%lld-%lld", (long long)m.from, (long long)m.to);
		assert_numbers(m.matrix, kdri_json_get(w, key), 1e-12, name);
	}
}

/* Objective after every step. The golden walk takes every point it finds; ours stays where the value would
 * not fall, so from the first difference on, which must be downwards and in U, the two part. Returns how many
 * sweeps agreed. */
static int64_t assert_steps(const kdr_result *r, const kdri_json_value *trace, bool walk, const char *name)
{
	kdr_array steps = kdr_result_array(r, "steps", -1);
	const double *j = steps.data;
	for (int64_t i = 1; i < kdri_json_count(trace); i++) {
		const kdri_json_value *entry = kdri_json_at(trace, i);
		int64_t sweep = kdri_json_integer(kdri_json_at(entry, 0), 0);
		const char *step = kdri_json_text(kdri_json_at(entry, 1), NULL);
		double value = kdri_json_number(kdri_json_at(entry, 2), 0);
		assert_true(sweep <= steps.shape[0]);
		double ours = j[3 * (sweep - 1) + (*step == 'W' ? 0 : *step == 'H' ? 1 : 2)];
		if (fabs(ours - value) <= 1e-10 * (1 + fabs(value)))
			continue;
		if (walk && *step == 'U' && ours < value)
			return sweep - 1;
		fail_msg("%s: objective after %s of sweep %lld is %.17g, expected %.17g", name, step,
		         (long long)sweep, ours, value);
	}
	return steps.shape[0];
}

static double start_of(const kdr_result *r)
{
	for (int64_t i = 0; i < kdr_result_field_count(r); i++) {
		double value;
		const char *unused, *name = kdr_result_field_at(r, i, &value, &unused);
		if (strcmp(name, "objective_start") == 0)
			return value;
	}
	fail_msg("no objective_start");
	return 0;
}

static void mbc__golden_cases__every_step_of_every_sweep(void **state)
{
	(void)state;
	const kdri_json_value *root = golden(), *list = kdri_json_get(root, "cases");
	kdr_context *ctx = unit_context();
	int done = 0;
	for (int64_t i = 0; i < kdri_json_count(list); i++) {
		const kdri_json_value *json = kdri_json_at(list, i), *out = kdri_json_get(json, "out"),
		                      *trace = kdri_json_get(out, "trace");
		const char *name = text(json, "name"), *mode = text(json, "umode");
		golden_case c;
		/* One case fixes a matrix of its own, which is no option of ours. */
		if (strcmp(mode, "nn") == 0 || strcmp(name, "maha_T2_K34") == 0)
			continue;
		open_case(json, &c);
		int64_t sweeps = kdri_json_integer(kdri_json_get(out, "n_iter"), 0);
		bool walk = strcmp(mode, "geodesic") == 0;
		kdr_result *r = fit(ctx, &c, (int64_t)number(json, "max_iter"));
		bool all = assert_steps(r, trace, walk, name) == sweeps;
		assert_true(walk || all);
		assert_near(start_of(r), kdri_json_number(kdri_json_at(kdri_json_at(trace, 0), 2), 0), 1e-10);
		if (all) {
			assert_int_equal(kdr_result_iterations(r), sweeps);
			assert_state(r, &c, kdri_json_get(out, "H"), kdri_json_get(out, "U"),
			             kdri_json_get(out, "W"), name);
		}
		kdr_result_free(r);
		const kdri_json_value *states = kdri_json_get(out, "sweeps");
		for (int64_t s = 0; s < kdri_json_count(states); s++) {
			/* W of the next sweep is what a result has after this one. */
			const kdri_json_value *now = kdri_json_at(states, s),
			                      *next = kdri_json_at(states, (size_t)s + 1);
			r = fit(ctx, &c, s + 1);
			assert_state(r, &c, kdri_json_get(now, "H"), kdri_json_get(now, "U"),
			             next ? kdri_json_get(next, "W") : NULL, name);
			kdr_result_free(r);
		}
		close_case(&c);
		done++;
	}
	assert_true(done >= 11);
	kdr_context_free(ctx);
	golden_free(root);
}

static void mbc__golden_mahalanobis__squared_distance_of_turned_samples(void **state)
{
	(void)state;
	/* The case gives its matrix A: with A = L L', d(x, y) = |L'x - L'y|^2. */
	const kdri_json_value *root = golden(), *list = kdri_json_get(root, "cases");
	kdr_context *ctx = unit_context();
	for (int64_t i = 0; i < kdri_json_count(list); i++) {
		const kdri_json_value *json = kdri_json_at(list, i), *out = kdri_json_get(json, "out");
		if (strcmp(text(json, "name"), "maha_T2_K34") != 0)
			continue;
		golden_case c;
		int64_t d, cols;
		double *a = numbers(kdri_json_get(json, "A"), &d, &cols);
		open_case(json, &c);
		c.divergence = "sqeuclidean";
		for (int64_t p = 0; p < d; p++) /* Cholesky in place, lower */
			for (int64_t q = 0; q <= p; q++) {
				double sum = a[p * d + q];
				for (int64_t s = 0; s < q; s++)
					sum -= a[p * d + s] * a[q * d + s];
				a[p * d + q] = p == q ? sqrt(sum) : sum / a[q * d + q];
			}
		for (int64_t t = 0; t < c.ntasks; t++)
			for (int64_t row = 0; row < kdr_mat_rows(&c.tasks[t].x); row++)
				for (int64_t q = 0; q < d; q++) {
					double *x = c.x[t] + row * d, sum = 0;
					for (int64_t p = q; p < d; p++)
						sum += a[p * d + q] * x[p];
					x[q] = sum; /* later ones need x[q + 1] on only */
				}
		kdr_result *r = fit(ctx, &c, 25);
		assert_int_equal(assert_steps(r, kdri_json_get(out, "trace"), false, "maha_T2_K34"), 12);
		kdr_result_free(r);
		close_case(&c);
		free(a);
	}
	kdr_context_free(ctx);
	golden_free(root);
}

/* --- parts ------------------------------------------------------------------------------------------- */

static void two_point__golden__exact_and_geodesic(void **state)
{
	(void)state;
	const kdri_json_value *root = golden(), *list = kdri_json_get(root, "two_point");
	for (int64_t i = 0; i < kdri_json_count(list); i++) {
		const kdri_json_value *json = kdri_json_at(list, i);
		const kdri_divergence *v = NULL;
		for (int k = 0; k < KDRI_DIVERGENCES; k++)
			if (strcmp(kdri_divergences[k].name, text(json, "divergence")) == 0)
				v = &kdri_divergences[k];
		int64_t d, one;
		double *left = numbers(kdri_json_get(json, "muL"), &d, &one),
		       *right = numbers(kdri_json_get(json, "muR"), &d, &one), c[16], room[64];
		kdri_two_point pull = { number(json, "A"), number(json, "B"), left, right, d, room, NULL };
		v->centroid(&pull, c);
		assert_numbers(c, kdri_json_get(json, "exact"), 1e-10, "exact");
		assert_near(kdri_two_point_value(v, &pull, c), number(json, "exact_value"), 1e-10);
		double s = kdri_geodesic_centroid(v, &pull, c);
		assert_near(s, number(json, "geodesic_s"), 1e-9);
		assert_numbers(c, kdri_json_get(json, "geodesic"), 1e-10, "geodesic");
		assert_near(kdri_two_point_value(v, &pull, c), number(json, "geodesic_value"), 1e-10);
		free(left);
		free(right);
	}
	golden_free(root);
}

static void transport__golden__value_and_plan(void **state)
{
	(void)state;
	const kdri_json_value *root = golden(), *list = kdri_json_get(root, "transport");
	kdr_context *ctx = unit_context();
	for (int64_t i = 0; i < kdri_json_count(list); i++) {
		const kdri_json_value *json = kdri_json_at(list, i);
		int64_t rows, cols;
		double *cost = numbers(kdri_json_get(json, "C"), &rows, &cols);
		double flow[20 * 20], supply[20], demand[20], value;
		const kdri_json_value *p = kdri_json_get(json, "a"), *q = kdri_json_get(json, "b");
		for (int64_t z = 0; z < rows; z++)
			supply[z] = p ? kdri_json_number(kdri_json_at(p, z), 0) : 1 / (double)rows;
		for (int64_t l = 0; l < cols; l++)
			demand[l] = q ? kdri_json_number(kdri_json_at(q, l), 0) : 1 / (double)cols;
		assert_ok(ctx,
		          kdri_transport(ctx, cost, rows, cols, supply, demand, flow, NULL, NULL, &value));
		assert_near(value, number(json, "value"), 1e-12);
		assert_numbers(flow, kdri_json_get(json, "W"), 1e-10, "plan");
		free(cost);
	}
	kdr_context_free(ctx);
	golden_free(root);
}

static void scores__golden__nmi_ari_and_distance_of_partitions(void **state)
{
	(void)state;
	const kdri_json_value *root = golden(), *m = kdri_json_get(root, "metrics"),
	                      *dm = kdri_json_get(m, "dM");
	kdr_context *ctx = unit_context();
	int64_t labels[3][64], n = 0;
	static const char *const keys[] = { "a", "b", "c" };
	for (int k = 0; k < 3; k++) {
		int64_t one;
		double *v = numbers(kdri_json_get(m, keys[k]), &n, &one);
		for (int64_t i = 0; i < n; i++)
			labels[k][i] = (int64_t)v[i];
		free(v);
	}
	kdr_scores ab, ac;
	assert_ok(ctx, kdr_evaluate(ctx, labels[0], labels[1], n, &ab));
	assert_ok(ctx, kdr_evaluate(ctx, labels[0], labels[2], n, &ac));
	assert_near(ab.nmi, number(m, "nmi_ab_geometric"), 1e-12);
	assert_near(ab.nmi_arithmetic, number(m, "nmi_ab_arithmetic"), 1e-12);
	assert_near(ab.nmi_max, number(m, "nmi_ab_max"), 1e-12);
	assert_near(ac.nmi, number(m, "nmi_ac_geometric"), 1e-12);
	assert_near(ab.ari, number(m, "ari_ab"), 1e-12);
	assert_near(ac.ari, number(m, "ari_ac"), 1e-12);
	const kdri_json_value *list = kdri_json_get(root, "cases");
	for (int64_t i = 0; i < kdri_json_count(list); i++) {
		const kdri_json_value *json = kdri_json_at(list, i);
		if (strcmp(text(json, "name"), text(dm, "case")) != 0)
			continue;
		golden_case c;
		open_case(json, &c);
		kdr_result *r = fit(ctx, &c, (int64_t)number(json, "max_iter"));
		const double *uniform = kdr_result_array(r, "d_m_uniform", -1).data,
		             *sized = kdr_result_array(r, "d_m_proportional", -1).data;
		assert_near(uniform[1], number(dm, "uniform"), 1e-9);
		assert_near(uniform[2], number(dm, "uniform"), 1e-9);
		assert_near(sized[1], number(dm, "proportion"), 1e-9);
		kdr_result_free(r);
		close_case(&c);
	}
	kdr_context_free(ctx);
	golden_free(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mbc__golden_cases__every_step_of_every_sweep),
		cmocka_unit_test(mbc__golden_mahalanobis__squared_distance_of_turned_samples),
		cmocka_unit_test(two_point__golden__exact_and_geodesic),
		cmocka_unit_test(transport__golden__value_and_plan),
		cmocka_unit_test(scores__golden__nmi_ari_and_distance_of_partitions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
