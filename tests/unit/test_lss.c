/* LSSMTC, LSSTTC, ASI and PCA + k-means as methods: properties over random problems, results, bad input. */
#include "matrix/ritz.h"
#include "methods/lss/lss.h"
#include "tests/unit/unit.h"

enum { MOST_TASKS = 4 };

/* Tasks with clusters near shared centres, shifted from task to task. */
typedef struct problem {
	int64_t ntasks, n[MOST_TASKS], d, k;
	double *x[MOST_TASKS];
	int64_t *labels[MOST_TASKS], *rowptr[MOST_TASKS];
	int32_t *col[MOST_TASKS];
	double *val[MOST_TASKS];
	kdr_task tasks[MOST_TASKS];
} problem;

/* x and labels to tasks; `init` gives the labels as the start. */
static void bind(problem *p, bool sparse, bool init)
{
	for (int64_t t = 0; t < p->ntasks; t++) {
		int64_t nnz = 0;
		for (int64_t i = 0; i < p->n[t]; i++) {
			for (int64_t j = 0; j < p->d; j++)
				if (p->x[t][i * p->d + j] != 0) {
					p->col[t][nnz] = (int32_t)j;
					p->val[t][nnz++] = p->x[t][i * p->d + j];
				}
			p->rowptr[t][i + 1] = nnz;
		}
		p->tasks[t] = (kdr_task){
			.name = t == 0   ? "a"
			        : t == 1 ? "b"
			        : t == 2 ? "c"
			                 : "d",
			.x = sparse ? kdr_mat_from_csr(p->n[t], p->d, p->rowptr[t], p->col[t], p->val[t])
			            : kdr_mat_from_dense(p->x[t], p->n[t], p->d),
			.k = p->k,
			.init = init ? p->labels[t] : NULL,
		};
	}
}

static problem make(kdri_rng *rng, int64_t ntasks, int64_t n, int64_t d, int64_t k, double spread)
{
	problem p = { .ntasks = ntasks, .d = d, .k = k };
	double *centres = malloc((size_t)(k * d) * sizeof *centres);
	for (int64_t i = 0; i < k * d; i++)
		centres[i] = kdri_rng_uniform(rng) < 0.5 ? 0 : 4 * kdri_rng_normal(rng);
	for (int64_t t = 0; t < ntasks; t++) {
		p.n[t] = n + t;
		size_t size = (size_t)(p.n[t] * d);
		p.x[t] = malloc(size * sizeof(double));
		p.labels[t] = malloc((size_t)p.n[t] * sizeof(int64_t));
		p.rowptr[t] = calloc((size_t)p.n[t] + 1, sizeof(int64_t));
		p.col[t] = malloc(size * sizeof(int32_t));
		p.val[t] = malloc(size * sizeof(double));
		for (int64_t i = 0; i < p.n[t]; i++) {
			p.labels[t][i] = i % k;
			for (int64_t j = 0; j < d; j++)
				p.x[t][i * d + j] =
				        centres[i % k * d + j] +
				        (kdri_rng_uniform(rng) < 0.5 ? 0 : spread * kdri_rng_normal(rng));
		}
	}
	free(centres);
	bind(&p, false, false);
	return p;
}

static void release(problem *p)
{
	for (int64_t t = 0; t < p->ntasks; t++) {
		free(p->x[t]);
		free(p->labels[t]);
		free(p->rowptr[t]);
		free(p->col[t]);
		free(p->val[t]);
	}
}

/* `settings`: "name=value name=value". */
static kdr_status try_fit(kdr_context *ctx, const char *method, const problem *p, int64_t classes,
                          bool pooled, const char *settings, kdr_result **out)
{
	kdr_options *options = NULL;
	kdr_problem q = { .size = sizeof(kdr_problem),
		          .tasks = p->tasks,
		          .ntasks = p->ntasks,
		          .classes = classes,
		          .pooled = pooled };
	kdr_status st = kdr_options_new(ctx, method, &options);
	char copy[256];
	snprintf(copy, sizeof copy, "%s", settings);
	char *save = NULL;
	for (char *word = strtok_r(copy, " ", &save); word && st == KDR_OK;
	     word = strtok_r(NULL, " ", &save)) {
		char *equals = strchr(word, '=');
		*equals = '\0';
		st = kdr_options_set(ctx, options, word, equals + 1);
	}
	if (st == KDR_OK)
		st = kdr_fit(ctx, method, &q, options, out);
	kdr_options_free(options);
	return st;
}

static kdr_result *fit(kdr_context *ctx, const char *method, const problem *p, const char *settings)
{
	kdr_result *r = NULL;
	assert_ok(ctx, try_fit(ctx, method, p, 0, false, settings, &r));
	return r;
}

static const double *array(const kdr_result *r, const char *name, int64_t task)
{
	kdr_array a = kdr_result_array(r, name, task);
	if (!a.data)
		fail_msg("no array '%s' for task %lld", name, (long long)task);
	return a.data;
}

static double start_of(const kdr_result *r)
{
	for (int64_t i = 0; i < kdr_result_field_count(r); i++) {
		double number;
		const char *text;
		if (strcmp(kdr_result_field_at(r, i, &number, &text), "objective_start") == 0)
			return number;
	}
	fail_msg("no objective_start");
	return 0;
}

static double squared_norm(const problem *p)
{
	double sum = 0;
	for (int64_t t = 0; t < p->ntasks; t++)
		sum += kdri_nrm2sq(p->x[t], p->n[t] * p->d);
	return sum;
}

static void assert_descends(const char *what, const kdr_result *r, double scale)
{
	int64_t n;
	const double *j = kdr_result_objective(r, &n);
	for (int64_t i = 0; i < n; i++) {
		double before = i ? j[i - 1] : start_of(r);
		if (!(j[i] <= before + 1e-11 * scale))
			fail_msg("%s: J rises from %.17g to %.17g at iteration %lld", what, before, j[i],
			         (long long)i + 1);
	}
}

static void assert_same_numbers(const double *a, const double *b, int64_t n, double tol, const char *what)
{
	for (int64_t i = 0; i < n; i++)
		if (!(fabs(a[i] - b[i]) <= tol))
			fail_msg("%s: entry %lld is %.17g and %.17g", what, (long long)i, a[i], b[i]);
}

/* --- LSSMTC ------------------------------------------------------------------------------------- */

static void lssmtc__random_problems__objective_never_rises(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(1, "lssmtc", 0);
	static const char *const eps[] = { "0", "0.1", "0.5", "1" }, *const lambda[] = { "0", "0.25", "0.9",
		                                                                         "1" };
	for (int trial = 0; trial < 60; trial++) {
		int64_t k = 1 + kdri_rng_below(&rng, 4), n = k + kdri_rng_below(&rng, 30),
		        d = 1 + kdri_rng_below(&rng, 40);
		problem p = make(&rng, 1 + kdri_rng_below(&rng, 3), n, d, k, 2);
		bool init = trial % 3 == 0;
		for (int64_t t = 0; t < p.ntasks; t++)
			for (int64_t i = 0; i < p.n[t]; i++) {
				p.labels[t][i] = kdri_rng_below(&rng, k);
				if (k > 1 && trial % 6 == 0) /* an empty cluster from the start */
					p.labels[t][i] = KDRI_MIN(p.labels[t][i], k - 2);
				if (i > 0 && trial % 4 == 1) /* duplicates */
					memcpy(p.x[t] + i * d, p.x[t] + i / 2 * d,
					       (size_t)d * sizeof(double));
			}
		bind(&p, trial % 2, init);
		char settings[128];
		snprintf(settings, sizeof settings, "eps=%s lambda=%s tol=0 max_iter=40 subspace=%s",
		         eps[kdri_rng_below(&rng, 4)], lambda[kdri_rng_below(&rng, 4)],
		         trial % 5 ? "range" : "full");
		kdr_result *r = fit(ctx, "lssmtc", &p, settings);
		assert_descends(settings, r, squared_norm(&p));
		for (int64_t t = 0; t < p.ntasks; t++) {
			const double *memberships = array(r, "P", t);
			for (int64_t i = 0; i < p.n[t] * k; i++)
				assert_true(isfinite(memberships[i]) && memberships[i] >= 0);
		}
		kdr_result_free(r);
		release(&p);
	}
	kdr_context_free(ctx);
}

/* Large enough for the iterative W steps. */
static void lssmtc__beyond_dense_sizes__objective_never_rises(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(2, "lssmtc", 0);
	static const char *const settings[] = {
		"", "eps=0", "eps=0 l=5", "l=6 eps=0.3", "eps=0 subspace=full", "eps=0.5 energy=0.9"
	};
	for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
		for (int shape = 0; shape < 2; shape++) {
			problem p = make(&rng, 2, shape ? 110 : 140, shape ? 260 : 210, 3, 3);
			bind(&p, i % 2, false);
			kdr_result *r = fit(ctx, "lssmtc", &p, settings[i]);
			assert_descends(settings[i], r, squared_norm(&p));
			kdr_result_free(r);
			release(&p);
		}
	kdr_context_free(ctx);
}

static void lssmtc__lambda_one__tasks_are_independent(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(3, "lssmtc", 0);
	problem p = make(&rng, 2, 25, 6, 3, 2), q = make(&rng, 2, 25, 6, 3, 5);
	memcpy(q.x[0], p.x[0], (size_t)(p.n[0] * p.d) * sizeof(double));
	bind(&p, false, true);
	bind(&q, false, true);
	kdr_result *a = fit(ctx, "lssmtc", &p, "lambda=1 tol=0"),
	           *b = fit(ctx, "lssmtc", &q, "lambda=1 tol=0");
	assert_same_numbers(array(a, "P", 0), array(b, "P", 0), p.n[0] * 3, 1e-9, "P of the common task");
	kdr_result_free(a);
	kdr_result_free(b);
	/* With less than 1 the other task does matter: otherwise the test above would be meaningless. */
	a = fit(ctx, "lssmtc", &p, "lambda=0.2 tol=0");
	b = fit(ctx, "lssmtc", &q, "lambda=0.2 tol=0");
	double gap = 0;
	for (int64_t i = 0; i < p.n[0] * 3; i++)
		gap = fmax(gap, fabs(array(a, "P", 0)[i] - array(b, "P", 0)[i]));
	assert_true(gap > 1e-4);
	kdr_result_free(a);
	kdr_result_free(b);
	release(&p);
	release(&q);
	kdr_context_free(ctx);
}

static void lssmtc__rotated_features__same_result(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(4, "lssmtc", 0);
	for (int shape = 0; shape < 3; shape++) {
		int64_t d = shape == 0 ? 7 : shape == 1 ? 60 : 230, n = shape == 2 ? 120 : 20, m;
		problem p = make(&rng, 2, n, d, 3, 2);
		bind(&p, false, true);
		double *turn = malloc((size_t)(d * d) * sizeof *turn),
		       *y = malloc((size_t)((n + 1) * d) * sizeof *y);
		int64_t kept;
		for (int64_t i = 0; i < d * d; i++)
			turn[i] = kdri_rng_normal(&rng);
		assert_ok(ctx, kdri_orthonormalise(ctx, d, d, turn, d, &kept));
		kdr_result *a = fit(ctx, "lssmtc", &p, "max_iter=10 tol=0");
		for (int64_t t = 0; t < 2; t++) {
			assert_ok(ctx,
			          kdri_gemm(ctx, false, false, p.n[t], d, d, 1, p.x[t], d, turn, d, 0, y, d));
			memcpy(p.x[t], y, (size_t)(p.n[t] * d) * sizeof *y);
		}
		kdr_result *b = fit(ctx, "lssmtc", &p, "max_iter=10 tol=0");
		const double *ja = kdr_result_objective(a, &m), *jb = kdr_result_objective(b, &m);
		double scale = squared_norm(&p);
		assert_same_numbers(ja, jb, m, 1e-9 * scale, "objective");
		for (int64_t t = 0; t < 2; t++)
			assert_memory_equal(kdr_result_labels(a, t, &m), kdr_result_labels(b, t, &m),
			                    (size_t)p.n[t] * sizeof(int64_t));
		kdr_result_free(a);
		kdr_result_free(b);
		free(turn);
		free(y);
		release(&p);
	}
	kdr_context_free(ctx);
}

static void lssmtc__dense_and_sparse__same_numbers(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(5, "lssmtc", 0);
	static const char *const settings[] = { "", "eps=0", "l=5", "start=matched", "start=pertask" };
	for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
		for (int shape = 0; shape < 3; shape++) {
			problem p = make(&rng, 2, shape == 2 ? 120 : 20,
			                 shape == 0   ? 8
			                 : shape == 1 ? 50
			                              : 210,
			                 3, 2);
			kdr_result *a = fit(ctx, "lssmtc", &p, settings[i]);
			bind(&p, true, false);
			kdr_result *b = fit(ctx, "lssmtc", &p, settings[i]);
			for (int64_t t = 0; t < 2; t++)
				assert_same_numbers(array(a, "P", t), array(b, "P", t), p.n[t] * 3, 1e-5,
				                    "P");
			int64_t n, m;
			const double *ja = kdr_result_objective(a, &n), *jb = kdr_result_objective(b, &m);
			assert_int_equal(n, m);
			assert_same_numbers(ja, jb, n, 1e-9 * squared_norm(&p), "objective");
			kdr_result_free(a);
			kdr_result_free(b);
			release(&p);
		}
	kdr_context_free(ctx);
}

/* What the arrays say must be what the equations say. */
static void lssmtc__results__agree_with_each_other(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(6, "lssmtc", 0);
	enum { K = 3, D = 9, L = 2 };
	problem p = make(&rng, 3, 30, D, K, 1);
	kdr_result *r = fit(ctx, "lssmtc", &p, "l=2 lambda=0.4 eps=0.5");
	int64_t last, n;
	const double *j = kdr_result_objective(r, &last), *w = array(r, "W", -1),
	             *m = array(r, "shared_centres", -1);
	double within = 0, across = 0;
	for (int64_t t = 0; t < 3; t++) {
		const double *x = p.x[t], *q = array(r, "P", t), *c = array(r, "centres", t),
		             *y = array(r, "embedding", t);
		const int64_t *labels = kdr_result_labels(r, t, &n);
		for (int64_t i = 0; i < n; i++) {
			int64_t best = 0;
			for (int64_t f = 0; f < D; f++) {
				double gap = x[i * D + f];
				for (int64_t a = 0; a < K; a++)
					gap -= q[i * K + a] * c[a * D + f];
				within += gap * gap;
			}
			for (int64_t b = 0; b < L; b++) {
				double xw = 0;
				for (int64_t f = 0; f < D; f++)
					xw += x[i * D + f] * w[f * L + b];
				assert_near(y[i * L + b], xw, 1e-9);
				double gap = xw;
				for (int64_t a = 0; a < K; a++)
					gap -= q[i * K + a] * m[a * L + b];
				across += gap * gap - 0.5 * xw * xw;
			}
			for (int64_t a = 1; a < K; a++)
				if (q[i * K + a] > q[i * K + best])
					best = a;
			assert_int_equal(labels[i], best);
		}
	}
	assert_near(array(r, "within", -1)[last], within, 1e-8 * within);
	assert_near(array(r, "across", -1)[last], across, 1e-8 * fabs(across));
	assert_near(j[last - 1], 0.4 * within + 0.6 * across, 1e-8 * within);
	assert_int_equal(kdr_result_correspondence_count(r), 3);
	for (int64_t i = 0; i < 3; i++) {
		kdr_correspondence c = kdr_result_correspondence_at(r, i);
		for (int64_t a = 0; a < K * K; a++)
			assert_near(c.matrix[a], a % (K + 1) == 0 ? 1 : 0, 0);
	}
	kdr_array top = kdr_result_array(r, "top_direction", -1);
	assert_int_equal(top.shape[0], L);
	assert_int_equal(top.shape[1], D);
	for (int64_t b = 0; b < L; b++)
		for (int64_t i = 1; i < D; i++) {
			const int64_t *order = (const int64_t *)top.data + b * D;
			assert_true(fabs(w[order[i - 1] * L + b]) >= fabs(w[order[i] * L + b]));
		}
	kdr_result_free(r);
	release(&p);
	kdr_context_free(ctx);
}

static void lssmtc__well_separated_clusters__are_found_in_every_start(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(7, "lssmtc", 0);
	problem p = make(&rng, 4, 30, 12, 3, 0.3);
	static const char *const starts[] = { "start=pooled", "start=matched" };
	for (int s = 0; s < 2; s++) {
		kdr_result *r = fit(ctx, "lssmtc", &p, starts[s]);
		for (int64_t t = 0; t < 4; t++) {
			int64_t n;
			const int64_t *labels = kdr_result_labels(r, t, &n),
			              *first = kdr_result_labels(r, 0, &n);
			/* Same index, same cluster, in every task. */
			for (int64_t i = 0; i < p.n[t]; i++)
				assert_int_equal(labels[i], first[i % 3]);
		}
		kdr_result_free(r);
	}
	release(&p);
	kdr_context_free(ctx);
}

/* As printed, with more features than samples: W outside the range of the data, nothing is shared. */
static void lssmtc__printed_form_in_the_full_space__shares_nothing(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(8, "lssmtc", 0);
	problem p = make(&rng, 2, 6, 40, 2, 1);
	kdr_result *r = fit(ctx, "lssmtc", &p, "eps=0 subspace=full");
	for (int64_t i = 0; i < p.n[0] * 2; i++)
		assert_near(array(r, "embedding", 0)[i], 0, 1e-10);
	kdr_result_free(r);
	release(&p);
	kdr_context_free(ctx);
}

static void lssmtc__zero_data__no_directions_and_a_warning(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(9, "lssmtc", 0);
	problem p = make(&rng, 2, 6, 4, 2, 1);
	for (int64_t t = 0; t < 2; t++)
		memset(p.x[t], 0, (size_t)(p.n[t] * p.d) * sizeof(double));
	static const char *const methods[] = { "lssmtc", "asi", "pca-kmeans" };
	for (int i = 0; i < 3; i++) {
		kdr_result *r = fit(ctx, methods[i], &p, "");
		if (i < 2)
			assert_true(kdr_result_warning_count(r) > 0);
		kdr_result_free(r);
	}
	release(&p);
	kdr_context_free(ctx);
}

static void predict__fitted_rows__nearest_in_the_mixed_metric(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(10, "lssmtc", 0);
	problem p = make(&rng, 2, 30, 8, 3, 0.3);
	static const char *const methods[] = { "lssmtc", "asi", "pca-kmeans" };
	for (int i = 0; i < 3; i++)
		for (int kind = 0; kind < 2; kind++) {
			int64_t n, got[64];
			kdr_options *options = NULL;
			bind(&p, kind, false);
			kdr_result *r = fit(ctx, methods[i], &p, "");
			assert_ok(ctx, kdr_options_new(ctx, methods[i], &options));
			assert_ok(
			        ctx,
			        kdri_algo_find(methods[i])->predict(ctx, r, options, 1, &p.tasks[1].x, got));
			/* Well-separated clusters: new samples from them get what the fitted ones have. */
			assert_memory_equal(got, kdr_result_labels(r, 1, &n), (size_t)p.n[1] * sizeof *got);
			kdr_mat narrow = kdr_mat_from_dense(p.x[0], 2, 3);
			assert_int_equal(
			        kdri_algo_find(methods[i])->predict(ctx, r, options, 1, &narrow, got),
			        KDR_ERR_DATA);
			kdr_options_free(options);
			kdr_result_free(r);
		}
	release(&p);
	kdr_context_free(ctx);
}

/* --- LSSTTC ------------------------------------------------------------------------------------- */

static void lssttc__several_sources_and_targets__classes_are_found(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(11, "lssttc", 0);
	for (int sparse = 0; sparse < 2; sparse++) {
		problem p = make(&rng, 4, 30, 10, 3, 0.5);
		bind(&p, sparse, false);
		for (int64_t t = 0; t < 4; t++) {
			p.tasks[t].role = t % 2 ? KDR_ROLE_TARGET : KDR_ROLE_SOURCE;
			p.tasks[t].labels = t % 2 ? NULL : p.labels[t];
			p.tasks[t].k = 0;
		}
		for (int64_t i = 0; i < 6; i++) /* unknown classes in a source */
			p.labels[2][i] = -1;
		kdr_result *r = NULL;
		assert_ok(ctx, try_fit(ctx, "lssttc", &p, 3, false, "", &r));
		assert_descends("lssttc", r, squared_norm(&p));
		for (int64_t t = 0; t < 4; t++) {
			int64_t n;
			const int64_t *labels = kdr_result_labels(r, t, &n);
			assert_int_equal(kdr_result_k(r, t), 3);
			assert_int_equal(labels != NULL, t % 2);
			for (int64_t i = 0; labels && i < p.n[t]; i++)
				assert_int_equal(labels[i], i % 3);
		}
		kdr_result_free(r);
		release(&p);
	}
	kdr_context_free(ctx);
}

static void lssttc__target_smaller_than_classes__nearest_class(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(12, "lssttc", 0);
	problem p = make(&rng, 2, 30, 10, 3, 0.1);
	p.n[1] = 2;
	bind(&p, false, false);
	p.tasks[0].role = KDR_ROLE_SOURCE;
	p.tasks[0].labels = p.labels[0];
	p.tasks[1].role = KDR_ROLE_TARGET;
	kdr_result *r = NULL;
	int64_t n;
	assert_ok(ctx, try_fit(ctx, "lssttc", &p, 3, false, "", &r));
	const int64_t *labels = kdr_result_labels(r, 1, &n);
	assert_int_equal(labels[0], 0);
	assert_int_equal(labels[1], 1);
	kdr_result_free(r);
	release(&p);
	kdr_context_free(ctx);
}

/* --- ASI and PCA -------------------------------------------------------------------------------- */

static void asi__random_problems__objective_never_rises(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(13, "asi", 0);
	for (int trial = 0; trial < 40; trial++) {
		int64_t k = 1 + kdri_rng_below(&rng, 4), n = k + kdri_rng_below(&rng, 30),
		        d = 1 + kdri_rng_below(&rng, 40);
		problem p = make(&rng, 1 + trial % 3, n, d, k, 3);
		kdr_result *r = NULL;
		if (trial % 4 == 1)
			for (int64_t i = 1; i < p.n[0]; i++)
				memcpy(p.x[0] + i * d, p.x[0] + i / 3 * d, (size_t)d * sizeof(double));
		bind(&p, trial % 2, trial % 3 == 0);
		assert_ok(ctx,
		          try_fit(ctx, "asi", &p, 0, trial % 2, trial % 4 < 2 ? "eps=0" : "eps=0.5", &r));
		assert_descends("asi", r, squared_norm(&p));
		kdr_result_free(r);
		release(&p);
	}
	kdr_context_free(ctx);
}

static void pca_kmeans__any_shape__components_orthonormal_with_the_energy(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(14, "pca", 0);
	for (int trial = 0; trial < 20; trial++) {
		int64_t d = 2 + kdri_rng_below(&rng, 30), n = 4 + kdri_rng_below(&rng, 30);
		problem p = make(&rng, 1, n, d, 2, 2);
		bind(&p, trial % 2, false);
		kdr_result *r = fit(ctx, "pca-kmeans", &p, "energy=0.9");
		kdr_array u = kdr_result_array(r, "components", 0);
		const double *y = array(r, "embedding", 0), *v = array(r, "variances", 0),
		             *m = array(r, "mean", 0);
		const double *c = u.data;
		int64_t q = u.shape[1];
		double total = 0, held = 0;
		for (int64_t i = 0; i < p.n[0]; i++)
			for (int64_t j = 0; j < d; j++)
				total += pow(p.x[0][i * d + j] - m[j], 2);
		for (int64_t a = 0; a < q; a++) {
			double sum = 0;
			for (int64_t i = 0; i < p.n[0]; i++)
				sum += y[i * q + a] * y[i * q + a];
			assert_near(sum, v[a], 1e-8 * total);
			held += sum;
			for (int64_t b = 0; b < q; b++) {
				double dot = 0;
				for (int64_t j = 0; j < d; j++)
					dot += c[j * q + a] * c[j * q + b];
				assert_near(dot, a == b, 1e-8);
			}
		}
		assert_true(held >= 0.9 * total * (1 - 1e-9));
		assert_true(q == 1 || held - v[q - 1] < 0.9 * total);
		for (int64_t i = 0; i < p.n[0]; i++) /* one way or the other, rows along the components */
			for (int64_t a = 0; a < q; a++) {
				double along = 0;
				for (int64_t j = 0; j < d; j++)
					along += (p.x[0][i * d + j] - m[j]) * c[j * q + a];
				assert_near(along, y[i * q + a], 1e-8 * sqrt(total));
			}
		kdr_result *bare = fit(ctx, "pca-kmeans", &p, "energy=0.9 keep=no");
		assert_null(kdr_result_array(bare, "components", 0).data);
		assert_memory_equal(array(bare, "embedding", 0), y, (size_t)(p.n[0] * q) * sizeof *y);
		kdr_result_free(bare);
		kdr_result_free(r);
		release(&p);
	}
	kdr_context_free(ctx);
}

/* --- bad input ---------------------------------------------------------------------------------- */

static void assert_refused(kdr_context *ctx, const char *method, const problem *p, int64_t classes,
                           const char *settings, const char *words)
{
	kdr_result *r = NULL;
	kdr_status st = try_fit(ctx, method, p, classes, false, settings, &r);
	assert_null(r);
	if (st == KDR_OK || !strstr(kdr_context_error(ctx), words) || strchr(kdr_context_error(ctx), '\n'))
		fail_msg("%s %s: status %d, '%s', expected '%s'", method, settings, st,
		         kdr_context_error(ctx), words);
}

static void fit__bad_input__one_clear_line(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(15, "bad", 0);
	problem p = make(&rng, 2, 20, 5, 3, 1);
	assert_refused(ctx, "lssmtc", &p, 0, "lambda=1.5", "lambda");
	assert_refused(ctx, "lssmtc", &p, 0, "l=6", "option 'l' is 6, but the rank of the data is at most 5");
	assert_refused(ctx, "lssmtc", &p, 0, "l=6 subspace=full", "the number of features is 5");
	assert_refused(ctx, "asi", &p, 0, "l=6", "option 'l' is 6");
	for (int64_t t = 0; t < 2; t++) /* rank 4 */
		for (int64_t i = 0; i < p.n[t]; i++)
			p.x[t][i * 5 + 4] = p.x[t][i * 5];
	assert_refused(ctx, "lssmtc", &p, 0, "l=5", "the rank of the data is 4");
	p.tasks[0].init = p.labels[0];
	assert_refused(ctx, "lssmtc", &p, 0, "", "initial labels are given for 1 of 2 data sets");
	p.tasks[0].init = NULL;
	p.tasks[1].k = 2;
	assert_refused(ctx, "lssmtc", &p, 0, "", "data set b has k = 2, but data set a has k = 3");
	p.tasks[0].role = KDR_ROLE_SOURCE;
	p.tasks[1].role = KDR_ROLE_TARGET;
	assert_refused(ctx, "lssttc", &p, 3, "", "source a has no labels");
	p.tasks[0].labels = p.labels[0];
	assert_refused(ctx, "lssttc", &p, 4, "", "class 3 of 4 has no sample");
	p.tasks[1].role = KDR_ROLE_BRIDGE;
	assert_refused(ctx, "lssttc", &p, 3, "", "data set b: method 'lssttc' needs sources and targets");
	p.tasks[1].role = KDR_ROLE_SOURCE;
	p.tasks[1].labels = p.labels[1];
	assert_refused(ctx, "lssttc", &p, 3, "", "2 sources, 0 targets");
	for (int64_t i = 0; i < p.n[0]; i++)
		p.labels[0][i] = -1;
	p.tasks[1].role = KDR_ROLE_TARGET;
	assert_refused(ctx, "lssttc", &p, 3, "", "source a has no labelled row");
	release(&p);
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lssmtc__random_problems__objective_never_rises),
		cmocka_unit_test(lssmtc__beyond_dense_sizes__objective_never_rises),
		cmocka_unit_test(lssmtc__lambda_one__tasks_are_independent),
		cmocka_unit_test(lssmtc__rotated_features__same_result),
		cmocka_unit_test(lssmtc__dense_and_sparse__same_numbers),
		cmocka_unit_test(lssmtc__results__agree_with_each_other),
		cmocka_unit_test(lssmtc__well_separated_clusters__are_found_in_every_start),
		cmocka_unit_test(lssmtc__printed_form_in_the_full_space__shares_nothing),
		cmocka_unit_test(lssmtc__zero_data__no_directions_and_a_warning),
		cmocka_unit_test(predict__fitted_rows__nearest_in_the_mixed_metric),
		cmocka_unit_test(lssttc__several_sources_and_targets__classes_are_found),
		cmocka_unit_test(lssttc__target_smaller_than_classes__nearest_class),
		cmocka_unit_test(asi__random_problems__objective_never_rises),
		cmocka_unit_test(pca_kmeans__any_shape__components_orthonormal_with_the_energy),
		cmocka_unit_test(fit__bad_input__one_clear_line),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
