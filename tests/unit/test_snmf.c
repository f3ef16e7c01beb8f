/* snmf: cosines that are not formed, single products, several starts of one matrix, each against the plain form. */
#include "tests/unit/unit.h"

#include "methods/mtcfir/mtcfir.h"

/* Counts in K groups of columns; row 0 is zeros. Dense and sparse alike. */
enum { N = 90, D = 12, K = 3 };
typedef struct counts {
	double x[N * D], val[N * D];
	int64_t rowptr[N + 1], labels[4][N];
	int32_t col[N * D];
	kdr_mat dense, sparse;
} counts;

static void make(counts *m, uint64_t index)
{
	kdri_rng rng = kdri_rng_stream(11, "counts", index);
	int64_t nnz = 0;
	memset(m, 0, sizeof *m);
	for (int64_t i = 0; i < N; i++) {
		for (int64_t j = 0; j < D && i > 0; j++) {
			double v = floor((j % K == i % K ? 5 : 1.6) * kdri_rng_uniform(&rng));
			m->x[i * D + j] = v;
			if (v > 0) {
				m->col[nnz] = (int32_t)j;
				m->val[nnz++] = v;
			}
		}
		m->rowptr[i + 1] = nnz;
		for (int q = 0; q < 4; q++)
			m->labels[q][i] = kdri_rng_uniform(&rng) < 0.6 ? i % K : kdri_rng_below(&rng, K);
	}
	m->dense = kdr_mat_from_dense(m->x, N, D);
	m->sparse = kdr_mat_from_csr(N, D, m->rowptr, m->col, m->val);
}

/* max(cos, 0), written out. */
static void form(const double *x, double *m)
{
	for (int64_t i = 0; i < N; i++)
		for (int64_t j = 0; j < N; j++) {
			double a = kdri_nrm2sq(x + i * D, D), b = kdri_nrm2sq(x + j * D, D);
			m[i * N + j] = a > 0 && b > 0 ? KDRI_MAX(0.0, kdri_dot(x + i * D, x + j * D, D)) /
			                                        (sqrt(a) * sqrt(b))
			                              : 0;
		}
}

static void cosines__no_negative_entry__products_are_those_of_the_matrix(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(11, "y", 0);
	static counts m;
	static double formed[N * N];
	make(&m, 0);
	form(m.x, formed);
	for (int sparse = 0; sparse < 2; sparse++)
		for (int64_t k = 1; k < 12; k += 5) {
			double y[N * 11], got[N * 13];
			kdri_cosines c;
			const kdr_mat *x = sparse ? &m.sparse : &m.dense;
			for (int64_t i = 0; i < N * k; i++)
				y[i] = kdri_rng_uniform(&rng);
			assert_true(kdri_cosines_pay(x));
			assert_ok(ctx, kdri_cosines_new(ctx, x, 4,
			                                &c)); /* fewer columns at a time than there are */
			assert_near(c.square, kdri_nrm2sq(formed, (int64_t)N * N), 1e-9);
			const kdri_snmf_matrix product = kdri_snmf_cosines(&c);
			assert_ok(ctx, product.multiply(ctx, product.data, kdri_block_of(y, N, k, k),
			                                kdri_block_of(got, N, k, 13)));
			for (int64_t i = 0; i < N; i++)
				for (int64_t j = 0; j < k; j++) {
					double sum = 0;
					for (int64_t l = 0; l < N; l++)
						sum += formed[i * N + l] * y[l * k + j];
					assert_near(got[i * 13 + j], sum, 1e-11);
				}
			kdri_cosines_free(ctx, &c);
		}
	kdr_context_free(ctx);
}

static void cosines__a_negative_entry_or_few_rows__are_formed(void **state)
{
	(void)state;
	static counts m;
	make(&m, 1);
	kdr_mat few = kdri_rows(&m.dense, 0, D);
	assert_false(kdri_cosines_pay(&few));
	m.x[N * D - 1] = -1e-9;
	m.val[m.rowptr[N] - 1] = -1e-9;
	assert_false(kdri_cosines_pay(&m.dense));
	assert_false(kdri_cosines_pay(&m.sparse));
}

/* One fit with `count` tasks, all of matrix x, each with labels of its own to start from. */
static kdr_result *fit(kdr_context *ctx, const counts *m, kdr_mat x, int count, const char *similarity,
                       const char *precision)
{
	kdr_task tasks[4];
	kdr_options *options = NULL;
	kdr_result *result = NULL;
	for (int t = 0; t < count; t++)
		tasks[t] = (kdr_task){ .x = x, .k = K, .init = m->labels[t] };
	kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = tasks, .ntasks = count };
	assert_ok(ctx, kdr_options_new(ctx, "snmf", &options));
	assert_ok(ctx, kdr_options_set(ctx, options, "similarity", similarity));
	assert_ok(ctx, kdr_options_set(ctx, options, "precision", precision));
	assert_ok(ctx, kdr_options_set(ctx, options, "max_iter", "60"));
	assert_ok(ctx, kdr_fit(ctx, "snmf", &problem, options, &result));
	kdr_options_free(options);
	return result;
}

static void assert_same_task(const kdr_result *a, int64_t t, const kdr_result *b, int64_t s, double tol)
{
	int64_t n;
	const int64_t *la = kdr_result_labels(a, t, &n), *lb = kdr_result_labels(b, s, &n);
	assert_memory_equal(la, lb, N * sizeof *la);
	kdr_array ta = kdr_result_array(a, "trace", t), tb = kdr_result_array(b, "trace", s);
	assert_int_equal(ta.shape[0], tb.shape[0]);
	for (int64_t i = 0; i < ta.shape[0]; i++)
		assert_near(((const double *)ta.data)[i], ((const double *)tb.data)[i], tol);
	kdr_array ya = kdr_result_array(a, "memberships", t), yb = kdr_result_array(b, "memberships", s);
	for (int64_t i = 0; i < (int64_t)N * K; i++)
		assert_near(((const double *)ya.data)[i], ((const double *)yb.data)[i], tol);
}

/* Tasks of one matrix are factorised in step, whether their similarities are formed or not; each ends as it would alone. */
static void fit__tasks_of_one_matrix__each_as_alone(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	static counts m, one;
	make(&m, 2);
	for (int kind = 0; kind < 4; kind++) {
		kdr_mat x = kind % 2 ? m.sparse : m.dense;
		const char *similarity = kind < 2 ? "cosine" : "gauss";
		kdr_result *all = fit(ctx, &m, x, 4, similarity, "double");
		for (int t = 0; t < 4; t++) {
			one = m;
			memcpy(one.labels[0], m.labels[t], sizeof m.labels[t]);
			kdr_result *alone = fit(ctx, &one, x, 1, similarity, "double");
			assert_same_task(all, t, alone, 0, 1e-8);
			assert_int_equal(kdr_result_array(all, "sigma", t).data != NULL, kind >= 2);
			kdr_result_free(alone);
		}
		kdr_result_free(all);
	}
	kdr_context_free(ctx);
}

/* Not formed against formed: kdri_snmf on the matrix itself. */
static void fit__cosines_not_formed__objective_is_that_of_the_matrix(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	static counts m;
	static double formed[N * N], y[N * K];
	make(&m, 3);
	form(m.x, formed);
	const kdri_block view = kdri_block_of(formed, N, N, N);
	const kdri_snmf_matrix matrix = kdri_snmf_dense(&view, kdri_nrm2sq(formed, (int64_t)N * N));
	kdri_snmf_options o = { .k = K, .max_iter = 60, .tol = 1e-6 };
	kdri_snmf_result r = { 0 };
	int64_t labels[N], n;
	kdri_snmf_start(m.labels[0], N, K, y);
	assert_ok(ctx, kdri_snmf(ctx, &matrix, y, 1, &o, &r));
	kdri_snmf_labels(r.y, N, K, labels);
	for (int sparse = 0; sparse < 2; sparse++) {
		kdr_result *got = fit(ctx, &m, sparse ? m.sparse : m.dense, 1, "cosine", "double");
		kdr_array trace = kdr_result_array(got, "trace", 0);
		assert_int_equal(trace.shape[0], r.iterations);
		for (int64_t i = 0; i < r.iterations; i++)
			assert_near(((const double *)trace.data)[i], r.trace[i], 1e-8);
		assert_memory_equal(kdr_result_labels(got, 0, &n), labels, sizeof labels);
		kdr_result_free(got);
	}
	kdri_snmf_free(ctx, &r);
	kdr_context_free(ctx);
}

/* Single products: the same iterations, J with the accuracy stated in the header, and no step treated as an
 * increase. */
static void fit__single_products__as_double_ones_to_their_rounding(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	static counts m;
	for (uint64_t trial = 0; trial < 5; trial++) {
		make(&m, 4 + trial);
		kdr_result *twice = fit(ctx, &m, m.dense, 3, "gauss", "double"),
		           *once = fit(ctx, &m, m.dense, 3, "gauss", "single");
		for (int t = 0; t < 3; t++) {
			kdr_array a = kdr_result_array(twice, "trace", t),
			          b = kdr_result_array(once, "trace", t);
			int64_t n, least = KDRI_MIN(a.shape[0], b.shape[0]), differ = 0;
			const int64_t *la = kdr_result_labels(twice, t, &n),
			              *lb = kdr_result_labels(once, t, &n);
			for (int64_t i = 0; i < least; i++) {
				assert_near(((const double *)a.data)[i], ((const double *)b.data)[i],
				            1e-7 * N * N);
				assert_true(i == 0 || ((const double *)b.data)[i] <=
				                              ((const double *)b.data)[i - 1] + 1e-8 * N * N);
			}
			assert_true(llabs(a.shape[0] - b.shape[0]) <= 3);
			for (int64_t i = 0; i < N; i++)
				differ += la[i] != lb[i];
			assert_true(differ <= 1);
		}
		kdr_result_free(twice);
		kdr_result_free(once);
	}
	kdr_context_free(ctx);
}

/* A model with only labels reports that it cannot label new samples. */
static void fit__keep_false__no_samples_in_the_result(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	static counts m;
	make(&m, 9);
	kdr_task task = { .x = m.sparse, .k = K, .init = m.labels[0] };
	kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = &task, .ntasks = 1 };
	for (int keep = 0; keep < 2; keep++) {
		kdr_options *options = NULL;
		kdr_result *result = NULL;
		assert_ok(ctx, kdr_options_new(ctx, "snmf", &options));
		assert_ok(ctx, kdr_options_set(ctx, options, "keep", keep ? "true" : "false"));
		assert_ok(ctx, kdr_fit(ctx, "snmf", &problem, options, &result));
		assert_int_equal(kdr_result_array(result, "train_val", 0).data != NULL, keep);
		assert_non_null(kdr_result_array(result, "memberships", 0).data);
		kdr_result_free(result);
		kdr_options_free(options);
	}
	kdr_context_free(ctx);
}

/* Products of sparse rows are given up if the caller can do without, and done otherwise. */
static void gram__out_of_time__given_up_where_that_is_allowed(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	static counts m;
	static double c[N * N];
	kdri_own turned = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	double square, right;
	make(&m, 12);
	assert_ok(ctx, kdri_mat_transpose(ctx, &m.sparse, &turned));
	const kdr_csr *x = &m.sparse.as.csr, *xt = &turned.view.as.csr;
	assert_ok(ctx, kdri_sparse_gram_square(ctx, x, xt, &right));
	kdr_context_set_time_limit(ctx, 1e-9);
	for (int abandon = 0; abandon < 2; abandon++) {
		ctx->abandon = abandon;
		for (int64_t i = 0; i < (int64_t)N * N; i++)
			c[i] = -1;
		kdr_status st = kdri_sparse_gram(ctx, x, xt, NULL, kdri_block_of(c, N, N, N));
		assert_int_equal(st, abandon ? KDR_ERR_NUMERIC : KDR_OK);
		for (int64_t i = 0; i < N; i++) /* no row was begun, or all are done */
			assert_true(abandon ? c[i * N] == -1 : c[i * N] >= 0);
		square = -1;
		assert_int_equal(kdri_sparse_gram_square(ctx, x, xt, &square), st);
		assert_true(square == (abandon ? -1 : right));
	}
	ctx->abandon = false;
	kdri_own_free(ctx, &turned);
	kdr_context_free(ctx);
}

/* A run without similarities keeps its initial labels with a warning; the model labels new samples. */
static void fit__out_of_time__labels_given_or_of_kmeans(void **state)
{
	(void)state;
	static counts m;
	make(&m, 13);
	for (int given = 0; given < 2; given++)
		for (int sparse = 0; sparse < 2; sparse++) {
			kdr_context *ctx = unit_context();
			kdr_task task = { .x = sparse ? m.sparse : m.dense,
				          .k = K,
				          .init = given ? m.labels[0] : NULL };
			kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = &task, .ntasks = 1 };
			kdr_options *options = NULL;
			kdr_result *r = NULL;
			int64_t n, labels[N];
			assert_ok(ctx, kdr_options_new(ctx, "snmf", &options));
			kdr_context_set_time_limit(ctx, 1e-9);
			assert_ok(ctx, kdr_fit(ctx, "snmf", &problem, options, &r));
			kdr_context_set_time_limit(ctx, 0);
			assert_int_equal(kdr_result_stop(r), KDR_STOP_TIME);
			assert_int_equal(kdr_result_warning_count(r), 1);
			assert_non_null(
			        strstr(kdr_result_warning_at(r, 0), "1 of 1 data sets were not finished"));
			if (given)
				assert_memory_equal(kdr_result_labels(r, 0, &n), m.labels[0],
				                    sizeof m.labels[0]);
			assert_ok(ctx, kdri_algo_find("snmf")->predict(ctx, r, options, 0, &task.x, labels));
			kdr_result_free(r);
			kdr_options_free(options);
			kdr_context_free(ctx);
		}
}

/* Why labels of mtcfir, and of auto with it, differ between processors if there are nearly as many clusters as samples, as in coil20 with
 * 25 samples per data set: two samples that are only each other's neighbours start in two clusters. A sample is no neighbour of its
 * own in M, so that the memberships of the two become equal, and the last digit decides the labels. Three samples that are one another's
 * neighbours have no such tie. */
static void snmf__pair_starts_in_two_clusters__memberships_tie(void **state)
{
	(void)state;
	enum { SAMPLES = 5, CLUSTERS = 3 };
	kdr_context *ctx = unit_context();
	double m[SAMPLES * SAMPLES] = { 0 }, y[SAMPLES * CLUSTERS];
	const int64_t labels[SAMPLES] = { 0, 1, 2, 2, 2 };
	const kdri_snmf_options o = { .k = CLUSTERS, .max_iter = 200, .tol = 0 };
	kdri_snmf_result r = { 0 };
	for (int64_t i = 0; i < SAMPLES; i++)
		for (int64_t j = 0; j < SAMPLES; j++)
			m[i * SAMPLES + j] = i != j && (i < 2) == (j < 2);
	const kdri_block view = kdri_block_of(m, SAMPLES, SAMPLES, SAMPLES);
	const kdri_snmf_matrix matrix = kdri_snmf_dense(&view, kdri_nrm2sq(m, SAMPLES * SAMPLES));
	kdri_snmf_start(labels, SAMPLES, CLUSTERS, y);
	assert_ok(ctx, kdri_snmf(ctx, &matrix, y, 1, &o, &r));
	for (int64_t i = 0; i < SAMPLES; i++) {
		const double *row = r.y + i * CLUSTERS;
		if (i < 2) {
			assert_near(row[0], 0.5, 1e-6);
			assert_near(row[0], row[1], 1e-12);
		}
		assert_true(i < 2 ? row[2] < 0.1 : row[2] > row[0] + 0.5 && row[2] > row[1] + 0.5);
	}
	kdri_snmf_free(ctx, &r);
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cosines__no_negative_entry__products_are_those_of_the_matrix),
		cmocka_unit_test(cosines__a_negative_entry_or_few_rows__are_formed),
		cmocka_unit_test(fit__tasks_of_one_matrix__each_as_alone),
		cmocka_unit_test(fit__cosines_not_formed__objective_is_that_of_the_matrix),
		cmocka_unit_test(fit__single_products__as_double_ones_to_their_rounding),
		cmocka_unit_test(fit__keep_false__no_samples_in_the_result),
		cmocka_unit_test(gram__out_of_time__given_up_where_that_is_allowed),
		cmocka_unit_test(fit__out_of_time__labels_given_or_of_kmeans),
		cmocka_unit_test(snmf__pair_starts_in_two_clusters__memberships_tie),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
