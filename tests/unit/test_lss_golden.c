/* LSSMTC, LSSTTC and ASI against numbers computed by another program (tests/golden/lss.json). */
#include "core/json_read.h"
#include "methods/lss/lss.h"
#include "tests/unit/golden.h"

static const double tolerance = 1e-9;

typedef struct sample {
	int64_t ntasks, n, d, c, l;
	double *x, *w0;
	int64_t *labels, *begin;
	bool *fixed;
	kdri_lss_options options;
} sample;

static sample sample_of(const kdri_json_value *g)
{
	sample s = { 0 };
	const kdri_json_value *x = kdri_json_get(g, "X");
	s.ntasks = kdri_json_count(x);
	s.c = (int64_t)golden_number(g, "c");
	s.l = (int64_t)golden_number(g, "l");
	s.d = kdri_json_count(kdri_json_at(kdri_json_at(x, 0), 0));
	s.begin = calloc((size_t)s.ntasks + 1, sizeof *s.begin);
	s.fixed = calloc((size_t)s.ntasks, sizeof *s.fixed);
	for (int64_t t = 0; t < s.ntasks; t++)
		s.begin[t + 1] = s.begin[t] + kdri_json_count(kdri_json_at(x, t));
	s.n = s.begin[s.ntasks];
	s.x = golden_numbers(x, NULL);
	s.w0 = golden_numbers(kdri_json_get(g, "W0"), NULL);
	bool transfer = strcmp(kdri_json_text(kdri_json_get(g, "algorithm"), NULL), "LSSTTC") == 0;
	s.labels = malloc((size_t)s.n * sizeof *s.labels);
	int64_t *first = golden_integers(kdri_json_get(g, transfer ? "y_source" : "labels0"), NULL);
	memcpy(s.labels, first, (size_t)(transfer ? s.begin[1] : s.n) * sizeof *first);
	free(first);
	if (transfer) {
		first = golden_integers(kdri_json_get(g, "labels0"), NULL);
		memcpy(s.labels + s.begin[1], first, (size_t)(s.n - s.begin[1]) * sizeof *first);
		free(first);
		s.fixed[0] = true;
	}
	s.options = (kdri_lss_options){
		.lambda = golden_number(g, "lam"),
		.subspace = { .l = s.l, .c = s.c, .eps = golden_number(g, "eps"), .energy = 1 },
		.root = strcmp(kdri_json_text(kdri_json_get(g, "form"), NULL), "sqrt") == 0,
		.soften = golden_number(g, "shift"),
		.max_iter = (int64_t)golden_number(g, "T"),
		.tol = 0,
		.stage = "golden",
		.w0 = s.w0,
	};
	return s;
}

static void sample_free(sample *s)
{
	free(s->x);
	free(s->w0);
	free(s->labels);
	free(s->begin);
	free(s->fixed);
}

/* Columns from first on of the trace, until the run ended: with tol = 0 it ends when J no longer changes. */
static void check_trace(const char *name, const kdri_lss *run, const kdri_json_value *g)
{
	double *want = golden_numbers(kdri_json_get(g, "trace"), NULL);
	double *parts = golden_numbers(kdri_json_get(g, "within_cross"), NULL);
	int64_t most = (int64_t)golden_number(g, "T");
	for (int64_t i = 0; i <= most; i++) {
		int64_t at = KDRI_MIN(i, run->iterations) - 1;
		const double *got = at < 0 ? run->start : run->trace + 3 * at;
		double expected[3] = { want[i], parts[2 * i], parts[2 * i + 1] };
		for (int j = 0; j < 3; j++)
			if (!(fabs(got[j] - expected[j]) <= tolerance * fmax(1, fabs(expected[j]))))
				fail_msg("%s: part %d of the objective after %lld is %.17g, expected %.17g",
				         name, j, (long long)i, got[j], expected[j]);
	}
	free(want);
	free(parts);
}

static void check_case(kdr_context *ctx, const kdri_json_value *g)
{
	const char *name = kdri_json_text(kdri_json_get(g, "name"), NULL);
	sample s = sample_of(g);
	kdr_mat x = kdr_mat_from_dense(s.x, s.n, s.d);
	kdri_lss_problem p = { &x, s.ntasks, s.c, s.begin, s.labels, s.fixed };
	kdri_lss run = { 0 };
	assert_ok(ctx, kdri_lss_run(ctx, &p, &s.options, &run));
	check_trace(name, &run, g);

	double *wwt = malloc((size_t)(s.d * s.d) * sizeof *wwt),
	       *wm = malloc((size_t)(s.d * s.c) * sizeof *wm);
	assert_ok(ctx, kdri_gemm(ctx, false, true, s.d, s.d, s.l, 1, run.w, s.l, run.w, s.l, 0, wwt, s.d));
	assert_ok(ctx,
	          kdri_gemm(ctx, false, true, s.d, s.c, s.l, 1, run.w, s.l, run.shared, s.l, 0, wm, s.c));
	golden_close(name, "W W'", wwt, kdri_json_get(g, "WWt"), tolerance);
	golden_close(name, "W M", wm, kdri_json_get(g, "WM"), tolerance);
	int64_t from = s.fixed[0] ? s.begin[1] : 0;
	golden_close(name, "P", run.p + from * s.c, kdri_json_get(g, s.fixed[0] ? "P2" : "P"), tolerance);
	int64_t *labels = golden_integers(kdri_json_get(g, "labels"), NULL);
	assert_memory_equal(labels, run.labels + from, (size_t)(s.n - from) * sizeof *labels);
	free(labels);
	free(wwt);
	free(wm);
	kdri_lss_free(ctx, &run);
	sample_free(&s);
}

static void lss__golden_cases__same_numbers(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	const kdri_json_value *root = golden_load("lss.json"), *cases = kdri_json_get(root, "cases");
	assert_true(kdri_json_count(cases) > 10);
	for (int64_t i = 0; i < kdri_json_count(cases); i++)
		check_case(ctx, kdri_json_at(cases, i));
	golden_free(root);
	kdr_context_free(ctx);
}

/* F = (1,-1), x = 0: P oscillates in the printed form; the root reaches J = 0 in one step. */
static void p_step__printed_form__goes_back_and_forth(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	const kdri_json_value *root = golden_load("lss.json"), *g = kdri_json_get(root, "plain_two_cycle");
	double *f = golden_numbers(kdri_json_get(g, "F"), NULL),
	       *p0 = golden_numbers(kdri_json_get(g, "P0"), NULL);
	double a[2] = { 0, 0 }, b[4] = { f[0] * f[0], f[0] * f[1], f[1] * f[0], f[1] * f[1] };
	double p[2] = { p0[0], p0[1] };
	for (int step = 0; step < 6; step++) {
		assert_ok(ctx, kdri_lss_update(ctx, 1, 2, a, b, false, p));
		assert_near(p[0], step % 2 ? p0[0] : p0[1], 1e-12);
		double j = p[0] * f[0] + p[1] * f[1];
		assert_near(j * j, 0.64, 1e-12);
	}
	p[0] = p0[0], p[1] = p0[1];
	assert_ok(ctx, kdri_lss_update(ctx, 1, 2, a, b, true, p));
	assert_near(p[0], 0.3, 1e-12);
	assert_near(p[1], 0.3, 1e-12);
	free(f);
	free(p0);
	golden_free(root);
	kdr_context_free(ctx);
}

/* ASI on the tasks of the first case, pooled; k-means on the same rows finds the same least inertia. */
static void asi_and_kmeans__golden_cases__same_numbers(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	const kdri_json_value *root = golden_load("lss.json"), *g = kdri_json_get(root, "asi");
	sample s = sample_of(kdri_json_at(kdri_json_get(root, "cases"), 0));
	int64_t *first = golden_integers(kdri_json_get(g, "labels0"), NULL),
	        *want = golden_integers(kdri_json_get(g, "labels"), NULL), n;
	kdr_task tasks[3];
	for (int64_t t = 0; t < 3; t++)
		tasks[t] = (kdr_task){ .x = kdr_mat_from_dense(s.x + s.begin[t] * s.d,
			                                       s.begin[t + 1] - s.begin[t], s.d),
			               .k = s.c,
			               .init = first + s.begin[t] };
	kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = tasks, .ntasks = 3, .pooled = true };
	kdr_options *options = NULL;
	kdr_result *result = NULL;
	assert_ok(ctx, kdr_options_new(ctx, "asi", &options));
	assert_ok(ctx, kdr_options_set_number(ctx, options, "l", golden_number(g, "l")));
	assert_ok(ctx, kdr_options_set_number(ctx, options, "eps", 0));
	assert_ok(ctx, kdr_fit(ctx, "asi", &problem, options, &result));
	for (int64_t t = 0; t < 3; t++)
		assert_memory_equal(kdr_result_labels(result, t, &n), want + s.begin[t],
		                    (size_t)(s.begin[t + 1] - s.begin[t]) * sizeof *want);
	double *trace = golden_numbers(kdri_json_get(g, "trace"), &n), wwt[64];
	assert_int_equal(kdr_result_iterations(result), n - 1);
	for (int64_t i = 1; i < n; i++)
		assert_near(kdr_result_objective(result, &(int64_t){ 0 })[i - 1], trace[i],
		            tolerance * trace[0]);
	const double *w = kdr_result_array(result, "W", 0).data;
	assert_ok(ctx, kdri_gemm(ctx, false, true, 8, 8, 2, 1, w, 2, w, 2, 0, wwt, 8));
	golden_close("asi", "W W'", wwt, kdri_json_get(g, "WWt"), tolerance);

	const kdri_json_value *run = kdri_json_at(kdri_json_get(kdri_json_get(root, "kmeans"), "runs"), 0);
	int64_t *partition = golden_integers(kdri_json_get(run, "labels"), NULL);
	double *sse = golden_numbers(kdri_json_get(run, "sse"), &n);
	kdr_result *clusters = NULL;
	kdr_scores scores;
	int64_t rows;
	kdr_task all = { .x = kdr_mat_from_dense(s.x, s.n, s.d), .k = s.c };
	assert_ok(ctx, kdr_fit(ctx, "kmeans",
	                       &(kdr_problem){ .size = sizeof(kdr_problem), .tasks = &all, .ntasks = 1 },
	                       NULL, &clusters));
	assert_ok(ctx, kdr_evaluate(ctx, kdr_result_labels(clusters, 0, &rows), partition, s.n, &scores));
	assert_near(scores.acc, 1, 0);
	const double *inertia = kdr_result_objective(clusters, &rows);
	assert_near(inertia[rows - 1], sse[n - 1], tolerance * sse[n - 1]);
	free(partition);
	free(sse);
	free(trace);
	free(first);
	free(want);
	kdr_result_free(clusters);
	kdr_result_free(result);
	kdr_options_free(options);
	sample_free(&s);
	golden_free(root);
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lss__golden_cases__same_numbers),
		cmocka_unit_test(asi_and_kmeans__golden_cases__same_numbers),
		cmocka_unit_test(p_step__printed_form__goes_back_and_forth),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
