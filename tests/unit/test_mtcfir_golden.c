/* mtcfir against cases computed by an independent implementation: tests/golden/mtcfir.json. Its `format` says the
 * conventions. */
#include "core/json_read.h"
#include "tests/unit/golden.h"

#include "methods/mtcfir/mtcfir.h"

enum { MOST = 4 };

/* All tasks of a case below each other. */
typedef struct golden_case {
	const kdri_json_value *json;
	const char *name, *variant;
	int64_t ntasks, n, d, begin[MOST + 1], k[MOST], l[MOST];
	double *x;
	int64_t *rowptr;
	int32_t *col;
	double *val;
	kdr_mat dense, sparse;
} golden_case;

static const kdri_json_value *item(const kdri_json_value *object, const char *key, int64_t index)
{
	return kdri_json_at(kdri_json_get(object, key), index);
}

static void open_case(const kdri_json_value *json, golden_case *c)
{
	*c = (golden_case){ .json = json,
		            .name = kdri_json_text(kdri_json_get(json, "name"), NULL),
		            .variant = kdri_json_text(kdri_json_get(json, "variant"), NULL),
		            .ntasks = kdri_json_count(kdri_json_get(json, "X")) };
	for (int64_t t = 0; t < c->ntasks; t++) {
		const kdri_json_value *x = item(json, "X", t);
		c->d = kdri_json_count(kdri_json_at(x, 0));
		c->begin[t + 1] = c->begin[t] + kdri_json_count(x);
		c->k[t] = kdri_json_integer(item(json, "k", t), 0);
		c->l[t] = kdri_json_integer(item(json, "l", t), 0);
	}
	c->n = c->begin[c->ntasks];
	c->x = golden_numbers(kdri_json_get(json, "X"), NULL);
	c->rowptr = calloc((size_t)c->n + 1, sizeof *c->rowptr);
	c->col = calloc((size_t)(c->n * c->d), sizeof *c->col);
	c->val = calloc((size_t)(c->n * c->d), sizeof *c->val);
	for (int64_t i = 0, at = 0; i < c->n; i++) {
		for (int64_t j = 0; j < c->d; j++)
			if (c->x[i * c->d + j] != 0) {
				c->col[at] = (int32_t)j;
				c->val[at++] = c->x[i * c->d + j];
			}
		c->rowptr[i + 1] = at;
	}
	c->dense = kdr_mat_from_dense(c->x, c->n, c->d);
	c->sparse = kdr_mat_from_csr(c->n, c->d, c->rowptr, c->col, c->val);
}

static void close_case(golden_case *c)
{
	free(c->x);
	free(c->rowptr);
	free(c->col);
	free(c->val);
}

/* For every case of the file: `check`. */
static void for_each_case(void (*check)(kdr_context *ctx, const golden_case *c))
{
	kdr_context *ctx = unit_context();
	const kdri_json_value *root = golden_load("mtcfir.json");
	const kdri_json_value *cases = kdri_json_get(root, "cases");
	assert_int_equal(kdri_json_count(cases), 10);
	for (int64_t i = 0; i < kdri_json_count(cases); i++) {
		golden_case c;
		open_case(kdri_json_at(cases, i), &c);
		check(ctx, &c);
		close_case(&c);
	}
	golden_free(root);
	kdr_context_free(ctx);
}

static kdri_msda_options options_of(const golden_case *c)
{
	return (kdri_msda_options){ .layers = strcmp(c->variant, "nF") == 0
		                                      ? 0
		                                      : (int64_t)golden_number(c->json, "g"),
		                    .noise = golden_number(c->json, "p"),
		                    .ridge = golden_number(c->json, "ridge") };
}

/* --- layers ------------------------------------------------------------------------------------------- */

/* All parts are those of the context's device. */
typedef struct seen {
	const golden_case *c;
	const char *what;
	kdri_block gram;
	int64_t layers;
} seen;

/* Layers in the file are d x n. */
static kdr_status compare_layer(kdr_context *ctx, void *user, int64_t layer, const kdr_mat *x,
                                const kdri_panels *h)
{
	seen *s = user;
	const golden_case *c = s->c;
	double *turned = calloc((size_t)(c->n * c->d), sizeof *turned),
	       *rows = calloc((size_t)(c->n * c->d), sizeof *rows);
	if (h)
		assert_ok(ctx, kdri_block_fetch(ctx, h->all, rows, c->d));
	for (int64_t i = 0; i < c->n; i++)
		for (int64_t j = 0; j < c->d; j++)
			turned[j * c->n + i] = h ? rows[i * c->d + j] : c->x[i * c->d + j];
	assert_true((x == NULL) != (h == NULL));
	assert_int_equal(layer, s->layers++);
	golden_close(c->name, s->what, turned, item(c->json, "h", layer), 1e-9);
	free(turned);
	free(rows);
	return KDR_OK;
}

static void check_layers(kdr_context *ctx, const golden_case *c)
{
	static const char *const names[] = { "h by features, dense", "h by features, sparse",
		                             "h by samples, dense", "h by samples, sparse" };
	kdri_device *dev = kdri_device_take(ctx, 1e18);
	for (int way = 0; way < 4; way++) {
		kdri_msda_options o = options_of(c);
		kdri_msda_info info;
		seen s = { .c = c, .what = names[way] };
		o.side = way < 2 ? KDRI_SIDE_FEATURES : KDRI_SIDE_SAMPLES;
		assert_ok(ctx, kdri_msda_run(ctx, dev, way % 2 ? &c->sparse : &c->dense, c->n, &o,
		                             compare_layer, &s, &info));
		assert_int_equal(s.layers, o.layers + 1);
	}
	kdri_device_leave(dev);
}

static void msda__golden_cases__layers_agree(void **state)
{
	(void)state;
	for_each_case(check_layers);
}

/* Rows other than the training rows pass through the same maps, on the CPU: unit vectors and zero show W and b. */
static kdr_status compare_weights(kdr_context *ctx, void *user, int64_t layer, const kdr_mat *x,
                                  const kdri_panels *h)
{
	const seen *s = user;
	const golden_case *c = s->c;
	int64_t d = c->d;
	(void)ctx;
	(void)x;
	if (layer != 1)
		return KDR_OK;
	double *w = calloc((size_t)(d * (d + 1)), sizeof *w);
	for (int64_t i = 0; i < d; i++) {
		double b = atanh(kdri_block_get(&h->all, c->n + d, i));
		for (int64_t j = 0; j < d; j++)
			w[i * (d + 1) + j] = (atanh(kdri_block_get(&h->all, c->n + j, i)) - b) / 0.01;
		w[i * (d + 1) + d] = b;
	}
	golden_close(c->name, s->what, w, kdri_json_get(c->json, "W1"), 1e-9);
	free(w);
	return KDR_OK;
}

static void check_weights(kdr_context *ctx, const golden_case *c)
{
	int64_t d = c->d, m = c->n + d + 1, nnz = c->rowptr[c->n];
	if (!kdri_json_is(kdri_json_get(c->json, "W1"), KDRI_JSON_ARRAY))
		return;
	double *x = calloc((size_t)(m * d), sizeof *x), *val = calloc((size_t)(nnz + d), sizeof *val);
	int64_t *rowptr = calloc((size_t)m + 1, sizeof *rowptr);
	int32_t *col = calloc((size_t)(nnz + d), sizeof *col);
	memcpy(x, c->x, (size_t)(c->n * d) * sizeof *x);
	memcpy(rowptr, c->rowptr, (size_t)(c->n + 1) * sizeof *rowptr);
	memcpy(col, c->col, (size_t)nnz * sizeof *col);
	memcpy(val, c->val, (size_t)nnz * sizeof *val);
	for (int64_t j = 0; j < d; j++) {
		x[(c->n + j) * d + j] = val[nnz + j] = 0.01; /* small, so that tanh can be undone */
		col[nnz + j] = (int32_t)j;
		rowptr[c->n + j + 1] = nnz + j + 1;
	}
	rowptr[m] = nnz + d;
	kdr_mat dense = kdr_mat_from_dense(x, m, d), sparse = kdr_mat_from_csr(m, d, rowptr, col, val);
	for (int way = 0; way < 4; way++) {
		kdri_msda_options o = options_of(c);
		kdri_msda_info info;
		seen s = { .c = c, .what = way < 2 ? "W1 by features" : "W1 by samples" };
		o.side = way < 2 ? KDRI_SIDE_FEATURES : KDRI_SIDE_SAMPLES;
		o.layers = 2;
		assert_ok(ctx, kdri_msda_run(ctx, &kdri_cpu, way % 2 ? &sparse : &dense, c->n, &o,
		                             compare_weights, &s, &info));
	}
	free(x);
	free(val);
	free(rowptr);
	free(col);
}

static void msda__rows_beside_the_training_rows__see_the_same_weights(void **state)
{
	(void)state;
	for_each_case(check_weights);
}

/* --- relatedness and consistent similarity ------------------------------------------------------------ */

static kdr_status add_gram(kdr_context *ctx, void *user, int64_t layer, const kdr_mat *x,
                           const kdri_panels *h)
{
	return kdri_msda_add_gram(ctx, ((seen *)user)->gram, layer, x, h, NULL);
}

/* On a device that the caller has taken. */
static kdri_pool pool_of(kdr_context *ctx, kdri_device *dev, const golden_case *c)
{
	kdri_msda_options o = options_of(c);
	kdri_msda_info info;
	seen s = { .c = c };
	assert_ok(ctx, kdri_block_new(ctx, dev, c->n, c->n, false, &s.gram));
	assert_ok(ctx, kdri_msda_run(ctx, dev, &c->dense, c->n, &o, add_gram, &s, &info));
	return (kdri_pool){ s.gram, c->ntasks, c->begin };
}

static void check_mmd(kdr_context *ctx, const golden_case *c)
{
	double got[MOST * MOST], pairs[MOST * MOST];
	kdri_device *dev = kdri_device_take(ctx, 1e18);
	for (int after = 0; after < 2; after++) {
		golden_case raw = *c;
		raw.variant = after ? c->variant : "nF";
		kdri_pool pool = pool_of(ctx, dev, &raw);
		int64_t count = 0;
		assert_ok(ctx, kdri_gram_mmd(ctx, pool.v, c->begin, c->ntasks, 0, got));
		for (int64_t t = 0; t < c->ntasks; t++)
			for (int64_t s = t + 1; s < c->ntasks; s++)
				pairs[count++] = got[t * c->ntasks + s];
		golden_close(c->name, "mmd2", pairs,
		             kdri_json_get(c->json, after ? "mmd2_linear_new" : "mmd2_linear_raw"), 1e-9);
		kdri_block_free(ctx, &pool.v);
	}
	kdri_device_leave(dev);
}

static void mmd__golden_cases__agree(void **state)
{
	(void)state;
	for_each_case(check_mmd);
}

/* Column j of M_raw: row j of `sharp` scaled to sum 1. */
static void compare_raw(const golden_case *c, int64_t t, const kdr_csr *sharp)
{
	int64_t n = sharp->rows;
	double *raw = calloc((size_t)(n * n), sizeof *raw);
	for (int64_t j = 0; j < n; j++) {
		double sum = 0;
		for (int64_t p = sharp->rowptr[j]; p < sharp->rowptr[j + 1]; p++)
			sum += sharp->val[p];
		for (int64_t p = sharp->rowptr[j]; p < sharp->rowptr[j + 1]; p++)
			raw[sharp->col[p] * n + j] = sharp->val[p] / sum;
	}
	golden_close(c->name, "M_raw", raw, item(c->json, "M_raw", t), 1e-9);
	free(raw);
}

static void compare_m(const golden_case *c, int64_t t, const kdr_csr *m)
{
	int64_t n = m->rows;
	double *full = calloc((size_t)(n * n), sizeof *full);
	for (int64_t i = 0; i < n; i++)
		for (int64_t p = m->rowptr[i]; p < m->rowptr[i + 1]; p++)
			full[i * n + m->col[p]] = m->val[p];
	golden_close(c->name, "M", full, item(c->json, "M", t), 1e-9);
	free(full);
}

/* 50 steps from labels0: trace, Y, labels. */
static void compare_snmf(kdr_context *ctx, const golden_case *c, int64_t t, const kdri_snmf_matrix *m)
{
	int64_t n = m->rows, k = c->k[t];
	int64_t *start = golden_integers(item(c->json, "labels0", t), NULL),
	        *want = golden_integers(item(c->json, "labels", t), NULL);
	double *y = malloc((size_t)(n * k) * sizeof *y);
	int64_t *labels = malloc((size_t)n * sizeof *labels);
	kdri_snmf_options o = { .k = k, .max_iter = (int64_t)golden_number(c->json, "iters") };
	kdri_snmf_result r = { 0 };
	kdri_snmf_start(start, n, k, y);
	assert_ok(ctx, kdri_snmf(ctx, m, y, 1, &o, &r));
	assert_int_equal(r.iterations, o.max_iter);
	double *trace = malloc((size_t)(r.iterations + 1) * sizeof *trace);
	trace[0] = r.start;
	memcpy(trace + 1, r.trace, (size_t)r.iterations * sizeof *trace);
	golden_close(c->name, "trace", trace, item(c->json, "trace", t), 1e-9);
	golden_close(c->name, "Y", r.y, item(c->json, "Y", t), 1e-9);
	kdri_snmf_labels(r.y, n, k, labels);
	assert_memory_equal(labels, want, (size_t)n * sizeof *labels);
	free(start);
	free(want);
	free(y);
	free(labels);
	free(trace);
	kdri_snmf_free(ctx, &r);
}

static void check_task(kdr_context *ctx, const golden_case *c, const kdri_pool *pool, int64_t t,
                       const double *alpha)
{
	double ones[MOST] = { 1, 1, 1, 1 };
	int64_t n = kdri_pool_size(pool, t), l = KDRI_MIN(c->l[t], n - 2);
	if (strcmp(c->variant, "nI") == 0) {
		kdri_block own = kdri_block_part(pool->v, c->begin[t], c->begin[t], n, n);
		double square;
		assert_ok(ctx, own.dev->clip(ctx, own));
		assert_ok(ctx, own.dev->square(ctx, own, &square));
		const kdri_snmf_matrix matrix = kdri_snmf_dense(&own, square);
		compare_snmf(ctx, c, t, &matrix);
		return;
	}
	/* All rows at once, and one row at a time. */
	for (int64_t most = 1; most <= 1 << 20; most <<= 20) {
		kdri_consistent m;
		assert_ok(ctx, kdri_consistent_new(ctx, pool, t, strcmp(c->variant, "nR") == 0 ? ones : alpha,
		                                   l, most, &m));
		compare_raw(c, t, &m.sharp.view.as.csr);
		compare_m(c, t, &m.m.view.as.csr);
		kdri_sparse sparse;
		assert_ok(ctx, kdri_sparse_of(ctx, pool->v.dev, &m.m.view.as.csr, NULL, &sparse));
		const kdri_snmf_matrix matrix =
		        kdri_snmf_sparse(&sparse, kdri_nrm2sq(m.m.view.as.csr.val, kdr_mat_nnz(&m.m.view)));
		compare_snmf(ctx, c, t, &matrix);
		kdri_sparse_free(ctx, &sparse);
		kdri_consistent_free(ctx, &m);
	}
}

static void check_consistent(kdr_context *ctx, const golden_case *c)
{
	double eps[MOST], alpha[MOST * MOST];
	kdri_device *dev = kdri_device_take(ctx, 1e18);
	kdri_pool pool = pool_of(ctx, dev, c);
	double *v = calloc((size_t)(c->n * c->n), sizeof *v);
	assert_ok(ctx, kdri_gram_similarity(ctx, pool.v, KDRI_SIMILARITY_COSINE, 0));
	assert_ok(ctx, kdri_block_fetch(ctx, pool.v, v, c->n));
	golden_close(c->name, "V", v, kdri_json_get(c->json, "V"), 1e-9);
	free(v);
	assert_ok(ctx, kdri_relate(ctx, &pool, c->l, eps, alpha));
	golden_close(c->name, "eps", eps, kdri_json_get(c->json, "eps"), 1e-9);
	golden_close(c->name, "alpha", alpha, kdri_json_get(c->json, "alpha"), 1e-9);
	for (int64_t t = 0; t < c->ntasks; t++)
		check_task(ctx, c, &pool, t, alpha + t * c->ntasks);
	kdri_block_free(ctx, &pool.v);
	kdri_device_leave(dev);
}

static void consistent__golden_cases__agree(void **state)
{
	(void)state;
	for_each_case(check_consistent);
}

/* --- whole fits --------------------------------------------------------------------------------------- */

static kdr_result *fit(kdr_context *ctx, const golden_case *c)
{
	kdr_task tasks[MOST];
	int64_t *init[MOST];
	kdr_options *o = NULL;
	kdr_result *r = NULL;
	for (int64_t t = 0; t < c->ntasks; t++) {
		int64_t begin = c->begin[t], n = c->begin[t + 1] - begin;
		kdr_mat x = kdr_mat_from_dense(c->x + begin * c->d, n, c->d);
		init[t] = golden_integers(item(c->json, "labels0", t), NULL);
		tasks[t] = (kdr_task){ .name = "t", .x = x, .k = c->k[t], .init = init[t] };
	}
	kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = tasks, .ntasks = c->ntasks };
	assert_ok(ctx, kdr_options_new(ctx, "mtcfir", &o));
	if (c->variant[0])
		assert_ok(ctx, kdr_options_set(ctx, o, "variant", c->variant));
	assert_ok(ctx, kdr_options_set_number(ctx, o, "layers", golden_number(c->json, "g")));
	assert_ok(ctx, kdr_options_set_number(ctx, o, "noise", golden_number(c->json, "p")));
	assert_ok(ctx, kdr_options_set_number(ctx, o, "ridge", golden_number(c->json, "ridge")));
	assert_ok(ctx, kdr_options_set_number(ctx, o, "neighbors", (double)c->l[0]));
	assert_ok(ctx, kdr_options_set_number(ctx, o, "max_iter", golden_number(c->json, "iters")));
	assert_ok(ctx, kdr_options_set_number(ctx, o, "tol", 0));
	assert_ok(ctx, kdr_fit(ctx, "mtcfir", &problem, o, &r));
	kdr_options_free(o);
	for (int64_t t = 0; t < c->ntasks; t++)
		free(init[t]);
	return r;
}

static void check_fit(kdr_context *ctx, const golden_case *c)
{
	for (int64_t t = 0; t < c->ntasks; t++)
		if (c->l[t] != c->l[0])
			return; /* the option is one number for all tasks */
	kdr_result *r = fit(ctx, c);
	golden_close(c->name, "alpha of fit", kdr_result_array(r, "alpha", -1).data,
	             kdri_json_get(c->json, "alpha"), 1e-9);
	for (int64_t t = 0; t < c->ntasks; t++) {
		int64_t n, *want = golden_integers(item(c->json, "labels", t), NULL);
		const int64_t *labels = kdr_result_labels(r, t, &n);
		assert_memory_equal(labels, want, (size_t)n * sizeof *labels);
		golden_close(c->name, "Y of fit", kdr_result_array(r, "memberships", t).data,
		             item(c->json, "Y", t), 1e-9);
		free(want);
	}
	kdr_result_free(r);
}

static void fit__golden_cases__memberships_agree(void **state)
{
	(void)state;
	for_each_case(check_fit);
}

/* --- the 3 x 3 case where the step of 1/2 rises -------------------------------------------------------- */

static void snmf__step_that_would_rise__is_taken_smaller(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	const kdri_json_value *root = golden_load("mtcfir.json");
	const kdri_json_value *c = kdri_json_get(root, "snmf_nonmonotone");
	int64_t n;
	double *m = golden_numbers(kdri_json_get(c, "M"), &n);
	double *y = golden_numbers(kdri_json_get(c, "Y0"), NULL);
	double *half = golden_numbers(kdri_json_get(c, "trace_half"), NULL);
	const kdri_block w = kdri_block_of(m, 3, 3, 3);
	const kdri_snmf_matrix matrix = kdri_snmf_dense(&w, kdri_nrm2sq(m, 9));
	kdri_snmf_options o = { .k = 2, .max_iter = 30 };
	kdri_snmf_result r = { 0 };
	bool rises = false;
	for (int i = 1; i < 7; i++)
		rises = rises || half[i] > half[i - 1];
	assert_true(rises);
	assert_ok(ctx, kdri_snmf(ctx, &matrix, y, 1, &o, &r));
	assert_near(r.start, half[0], 1e-9);
	assert_true(r.careful > 0);
	for (int64_t i = 0; i < r.iterations; i++)
		assert_true(r.trace[i] <= (i ? r.trace[i - 1] : r.start) + 1e-12);
	kdri_snmf_free(ctx, &r);
	free(m);
	free(y);
	free(half);
	golden_free(root);
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(msda__golden_cases__layers_agree),
		cmocka_unit_test(msda__rows_beside_the_training_rows__see_the_same_weights),
		cmocka_unit_test(mmd__golden_cases__agree),
		cmocka_unit_test(consistent__golden_cases__agree),
		cmocka_unit_test(fit__golden_cases__memberships_agree),
		cmocka_unit_test(snmf__step_that_would_rise__is_taken_smaller),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
