/* mbc against cases computed by an independent implementation: tests/golden/mbc.json. Its note says the
 * conventions. Cases of umode "nn" are another variant of the paper's walk, which kindred does not have. */
#include "tests/unit/unit.h"

#include <jansson.h>

#include "algo/mbc/bregman.h"

enum { MOST = 8 };

static json_t *golden(void)
{
	json_error_t error;
	json_t *root = json_load_file(KDR_TEST_DATA "/golden/mbc.json", 0, &error);
	if (!root)
		fail_msg("%s: %s", error.source, error.text);
	return root;
}

static double number(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

static const char *text(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

/* A list of numbers, or a list of such lists row after row; the caller frees it. */
static double *numbers(const json_t *list, int64_t *rows, int64_t *cols)
{
	*rows = (int64_t)json_array_size(list);
	bool nested = json_is_array(json_array_get(list, 0));
	*cols = nested ? (int64_t)json_array_size(json_array_get(list, 0)) : 1;
	double *out = malloc((size_t)(*rows * *cols) * sizeof *out);
	for (int64_t i = 0; i < *rows; i++)
		for (int64_t j = 0; j < *cols; j++) {
			const json_t *item = json_array_get(list, (size_t)i);
			out[i * *cols + j] =
			        json_number_value(nested ? json_array_get(item, (size_t)j) : item);
		}
	return out;
}

static void assert_numbers(const double *ours, const json_t *list, double tol, const char *what)
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
	const json_t *json;
	kdr_task tasks[MOST];
	double *x[MOST];
	int64_t *init[MOST], ntasks;
} golden_case;

static void open_case(const json_t *json, golden_case *c)
{
	const json_t *x = json_object_get(json, "X"), *h = json_object_get(json, "H0"),
	             *k = json_object_get(json, "K");
	*c = (golden_case){ .json = json, .ntasks = (int64_t)json_array_size(x) };
	for (int64_t t = 0; t < c->ntasks; t++) {
		int64_t n, d, one;
		c->x[t] = numbers(json_array_get(x, (size_t)t), &n, &d);
		double *labels = numbers(json_array_get(h, (size_t)t), &n, &one);
		c->init[t] = malloc((size_t)n * sizeof *c->init[t]);
		for (int64_t i = 0; i < n; i++)
			c->init[t][i] = (int64_t)labels[i];
		free(labels);
		c->tasks[t] = (kdr_task){ .name = "t",
			                  .x = kdr_mat_from_dense(c->x[t], n, d),
			                  .k = json_integer_value(json_array_get(k, (size_t)t)),
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
	kdr_problem problem = { .tasks = c->tasks, .ntasks = c->ntasks };
	assert_ok(ctx, kdr_options_new(ctx, "mbc", &o));
	assert_ok(ctx, kdr_options_set(ctx, o, "divergence", text(c->json, "divergence")));
	assert_ok(ctx, kdr_options_set(ctx, o, "u_step", text(c->json, "umode")));
	assert_ok(ctx, kdr_options_set_number(ctx, o, "lambda", number(c->json, "lam")));
	assert_ok(ctx, kdr_options_set_number(ctx, o, "tol", number(c->json, "tol")));
	assert_ok(ctx, kdr_options_set_number(ctx, o, "max_iter", (double)sweeps));
	if (json_object_get(c->json, "smooth_eps"))
		assert_ok(ctx, kdr_options_set_number(ctx, o, "smooth", number(c->json, "smooth_eps")));
	if (json_object_get(c->json, "ridge"))
		assert_ok(ctx, kdr_options_set_number(ctx, o, "ridge", number(c->json, "ridge")));
	assert_ok(ctx, kdr_fit(ctx, "mbc", &problem, o, &r));
	kdr_options_free(o);
	return r;
}

/* Labels, centroids and relations of a result against {"H", "U", "W"}; W may be missing. */
static void assert_state(const kdr_result *r, const golden_case *c, const json_t *h, const json_t *u,
                         const json_t *w, const char *name)
{
	for (int64_t t = 0; t < c->ntasks; t++) {
		int64_t n, rows, one;
		const int64_t *labels = kdr_result_labels(r, t, &n);
		double *expected = numbers(json_array_get(h, (size_t)t), &rows, &one);
		for (int64_t i = 0; i < n; i++)
			if (labels[i] != (int64_t)expected[i])
				fail_msg("%s: label %lld of task %lld is %lld, expected %g", name,
				         (long long)i, (long long)t, (long long)labels[i], expected[i]);
		free(expected);
		kdr_array a = kdr_result_array(r, "centroids", t);
		assert_numbers(a.data, json_array_get(u, (size_t)t), 1e-10, name);
	}
	for (int64_t i = 0; w && i < kdr_result_correspondence_count(r); i++) {
		kdr_correspondence m = kdr_result_correspondence_at(r, i);
		char key[64];
		snprintf(key, sizeof key, "%lld-%lld", (long long)m.from, (long long)m.to);
		assert_numbers(m.matrix, json_object_get(w, key), 1e-12, name);
	}
}

/* Objective after every step. The golden walk takes every point it finds; ours stays where the value would
 * not fall, so from the first difference on, which must be downwards and in U, the two part. Returns how many
 * sweeps agreed. */
static int64_t assert_steps(const kdr_result *r, const json_t *trace, bool walk, const char *name)
{
	kdr_array steps = kdr_result_array(r, "steps", -1);
	const double *j = steps.data;
	for (size_t i = 1; i < json_array_size(trace); i++) {
		const json_t *entry = json_array_get(trace, i);
		int64_t sweep = json_integer_value(json_array_get(entry, 0));
		const char *step = json_string_value(json_array_get(entry, 1));
		double value = json_number_value(json_array_get(entry, 2));
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
	json_t *root = golden(), *list = json_object_get(root, "cases");
	kdr_context *ctx = unit_context();
	int done = 0;
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *json = json_array_get(list, i), *out = json_object_get(json, "out"),
		             *trace = json_object_get(out, "trace");
		const char *name = text(json, "name"), *mode = text(json, "umode");
		golden_case c;
		/* One case fixes a matrix of its own, which is no option of ours. */
		if (strcmp(mode, "nn") == 0 || strcmp(name, "maha_T2_K34") == 0)
			continue;
		open_case(json, &c);
		int64_t sweeps = json_integer_value(json_object_get(out, "n_iter"));
		bool walk = strcmp(mode, "geodesic") == 0;
		kdr_result *r = fit(ctx, &c, (int64_t)number(json, "max_iter"));
		bool all = assert_steps(r, trace, walk, name) == sweeps;
		assert_true(walk || all);
		assert_near(start_of(r), json_number_value(json_array_get(json_array_get(trace, 0), 2)),
		            1e-10);
		if (all) {
			assert_int_equal(kdr_result_iterations(r), sweeps);
			assert_state(r, &c, json_object_get(out, "H"), json_object_get(out, "U"),
			             json_object_get(out, "W"), name);
		}
		kdr_result_free(r);
		const json_t *states = json_object_get(out, "sweeps");
		for (int64_t s = 0; s < (int64_t)json_array_size(states); s++) {
			/* W of the next sweep is what a result has after this one. */
			const json_t *now = json_array_get(states, (size_t)s),
			             *next = json_array_get(states, (size_t)s + 1);
			r = fit(ctx, &c, s + 1);
			assert_state(r, &c, json_object_get(now, "H"), json_object_get(now, "U"),
			             next ? json_object_get(next, "W") : NULL, name);
			kdr_result_free(r);
		}
		close_case(&c);
		done++;
	}
	assert_true(done >= 11);
	kdr_context_free(ctx);
	json_decref(root);
}

static void mbc__golden_mahalanobis__squared_distance_of_turned_samples(void **state)
{
	(void)state;
	/* The case gives its matrix A: with A = L L', d(x, y) = |L'x - L'y|^2. */
	json_t *root = golden(), *list = json_object_get(root, "cases");
	kdr_context *ctx = unit_context();
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *json = json_array_get(list, i), *out = json_object_get(json, "out");
		if (strcmp(text(json, "name"), "maha_T2_K34") != 0)
			continue;
		golden_case c;
		int64_t d, cols;
		double *a = numbers(json_object_get(json, "A"), &d, &cols);
		json_t *plain = json_deep_copy(json);
		json_object_set_new(plain, "divergence", json_string("sqeuclidean"));
		open_case(plain, &c);
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
		assert_int_equal(assert_steps(r, json_object_get(out, "trace"), false, "maha_T2_K34"), 12);
		kdr_result_free(r);
		close_case(&c);
		json_decref(plain);
		free(a);
	}
	kdr_context_free(ctx);
	json_decref(root);
}

/* --- parts ------------------------------------------------------------------------------------------- */

static void two_point__golden__exact_and_geodesic(void **state)
{
	(void)state;
	json_t *root = golden(), *list = json_object_get(root, "two_point");
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *json = json_array_get(list, i);
		const kdri_divergence *v = NULL;
		for (int k = 0; k < KDRI_DIVERGENCES; k++)
			if (strcmp(kdri_divergences[k].name, text(json, "divergence")) == 0)
				v = &kdri_divergences[k];
		int64_t d, one;
		double *left = numbers(json_object_get(json, "muL"), &d, &one),
		       *right = numbers(json_object_get(json, "muR"), &d, &one), c[16], room[64];
		kdri_two_point pull = { number(json, "A"), number(json, "B"), left, right, d, room, NULL };
		v->centroid(&pull, c);
		assert_numbers(c, json_object_get(json, "exact"), 1e-10, "exact");
		assert_near(kdri_two_point_value(v, &pull, c), number(json, "exact_value"), 1e-10);
		double s = kdri_geodesic_centroid(v, &pull, c);
		assert_near(s, number(json, "geodesic_s"), 1e-9);
		assert_numbers(c, json_object_get(json, "geodesic"), 1e-10, "geodesic");
		assert_near(kdri_two_point_value(v, &pull, c), number(json, "geodesic_value"), 1e-10);
		free(left);
		free(right);
	}
	json_decref(root);
}

static void transport__golden__value_and_plan(void **state)
{
	(void)state;
	json_t *root = golden(), *list = json_object_get(root, "transport");
	kdr_context *ctx = unit_context();
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *json = json_array_get(list, i);
		int64_t rows, cols;
		double *cost = numbers(json_object_get(json, "C"), &rows, &cols);
		double flow[20 * 20], supply[20], demand[20], value;
		const json_t *p = json_object_get(json, "a"), *q = json_object_get(json, "b");
		for (int64_t z = 0; z < rows; z++)
			supply[z] = p ? json_number_value(json_array_get(p, (size_t)z)) : 1 / (double)rows;
		for (int64_t l = 0; l < cols; l++)
			demand[l] = q ? json_number_value(json_array_get(q, (size_t)l)) : 1 / (double)cols;
		assert_ok(ctx,
		          kdr_transport(ctx, cost, rows, cols, supply, demand, flow, NULL, NULL, &value));
		assert_near(value, number(json, "value"), 1e-12);
		assert_numbers(flow, json_object_get(json, "W"), 1e-10, "plan");
		free(cost);
	}
	kdr_context_free(ctx);
	json_decref(root);
}

static void scores__golden__nmi_ari_and_distance_of_partitions(void **state)
{
	(void)state;
	json_t *root = golden(), *m = json_object_get(root, "metrics"), *dm = json_object_get(m, "dM");
	kdr_context *ctx = unit_context();
	int64_t labels[3][64], n = 0;
	static const char *const keys[] = { "a", "b", "c" };
	for (int k = 0; k < 3; k++) {
		int64_t one;
		double *v = numbers(json_object_get(m, keys[k]), &n, &one);
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
	json_t *list = json_object_get(root, "cases");
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *json = json_array_get(list, i);
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
	json_decref(root);
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
