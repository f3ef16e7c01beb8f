/* mtcfir, snmf, msda: their parts, and what a fit must keep. */
#include "tests/unit/unit.h"

#include "matrix/linalg.h"
#include "methods/mtcfir/mtcfir.h"

/* --- layers ------------------------------------------------------------------------------------------- */

/* Random data with zeros, a feature that is zero everywhere and a constant one, dense and sparse alike. */
typedef struct data {
	int64_t n, d;
	double *x, *val;
	int64_t *rowptr;
	int32_t *col;
	kdr_mat dense, sparse;
} data;

static data data_new(kdri_rng *rng, int64_t n, int64_t d, double density)
{
	data m = { .n = n, .d = d };
	int64_t nnz = 0;
	m.x = calloc((size_t)(n * d), sizeof *m.x);
	m.val = calloc((size_t)(n * d), sizeof *m.val);
	m.col = calloc((size_t)(n * d), sizeof *m.col);
	m.rowptr = calloc((size_t)n + 1, sizeof *m.rowptr);
	for (int64_t i = 0; i < n; i++) {
		for (int64_t j = 0; j < d; j++) {
			double v = kdri_rng_uniform(rng) < density ? kdri_rng_normal(rng) : 0;
			v = d > 3 && j == 1 ? 0 : d > 3 && j == 2 ? 0.7 : v;
			m.x[i * d + j] = v;
			if (v != 0) {
				m.col[nnz] = (int32_t)j;
				m.val[nnz++] = v;
			}
		}
		m.rowptr[i + 1] = nnz;
	}
	m.dense = kdr_mat_from_dense(m.x, n, d);
	m.sparse = kdr_mat_from_csr(n, d, m.rowptr, m.col, m.val);
	return m;
}

static void data_free(data *m)
{
	free(m->x);
	free(m->val);
	free(m->col);
	free(m->rowptr);
}

/* The last layer's output, rows x d. */
static kdr_status keep_last(kdr_context *ctx, void *user, int64_t layer, const kdr_mat *x,
                            const kdri_panels *h)
{
	(void)layer;
	(void)x;
	return h ? kdri_block_fetch(ctx, h->all, user, h->d) : KDR_OK;
}

static double *layers_of(kdr_context *ctx, const data *m, int64_t train, bool sparse, kdri_side side,
                         bool floats, double noise)
{
	kdri_msda_options o = { .layers = 3, .noise = noise, .side = side, .single = floats };
	kdri_msda_info info;
	double *h = calloc((size_t)(m->n * m->d), sizeof *h);
	assert_ok(ctx, kdri_msda_run(ctx, &kdri_cpu, sparse ? &m->sparse : &m->dense, train, &o, keep_last, h,
	                             &info));
	assert_int_equal(info.layers, 3);
	return h;
}

static void assert_close(const double *a, const double *b, int64_t n, double tol)
{
	for (int64_t i = 0; i < n; i++)
		assert_near(a[i], b[i], tol);
}

static void msda__by_features_and_by_samples__same_layers(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(7, "msda", 0);
	static const int64_t shapes[][2] = { { 3, 1 },   { 5, 9 },   { 9, 5 },    { 8, 8 },   { 30, 29 },
		                             { 29, 30 }, { 70, 20 }, { 20, 120 }, { 300, 40 } };
	for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
		int64_t n = shapes[s][0], d = shapes[s][1], train = n - (int64_t)s % 3;
		double noise = 0.1 + 0.8 * kdri_rng_uniform(&rng);
		data m = data_new(&rng, n, d, 0.5);
		double *one = layers_of(ctx, &m, train, false, KDRI_SIDE_FEATURES, false, noise);
		for (int way = 1; way < 4; way++) {
			double *other =
			        layers_of(ctx, &m, train, way & 1,
			                  way & 2 ? KDRI_SIDE_SAMPLES : KDRI_SIDE_FEATURES, false, noise);
			assert_close(one, other, n * d, 1e-8);
			free(other);
		}
		for (int way = 0; way < 4; way++) { /* single precision is near enough */
			double *other =
			        layers_of(ctx, &m, train, way & 1,
			                  way & 2 ? KDRI_SIDE_SAMPLES : KDRI_SIDE_FEATURES, true, noise);
			assert_close(one, other, n * d, 1e-3);
			free(other);
		}
		free(one);
		data_free(&m);
	}
	kdr_context_free(ctx);
}

static void msda__rows_beside_the_training_rows__change_nothing(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(7, "msda", 1);
	data m = data_new(&rng, 25, 12, 0.6), few = m;
	few.n = 20;
	few.dense.as.dense.rows = few.sparse.as.csr.rows = 20;
	for (int way = 0; way < 4; way++) {
		kdri_side side = way & 2 ? KDRI_SIDE_SAMPLES : KDRI_SIDE_FEATURES;
		double *all = layers_of(ctx, &m, 20, way & 1, side, false, 0.5);
		double *alone = layers_of(ctx, &few, 20, way & 1, side, false, 0.5);
		assert_close(all, alone, 20 * 12, 1e-13);
		free(all);
		free(alone);
	}
	data_free(&m);
	kdr_context_free(ctx);
}

/* --- neighbours: (E4) of consistent.c ------------------------------------------------------------------ */

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void select__random_and_equal_values__as_sorted(void **state)
{
	(void)state;
	kdri_rng rng = kdri_rng_stream(7, "select", 0);
	for (int64_t trial = 0; trial < 500; trial++) {
		double v[60], sorted[60], again[60];
		int64_t n = 1 + kdri_rng_below(&rng, 60), values = 1 + kdri_rng_below(&rng, 100),
		        k = kdri_rng_below(&rng, n);
		for (int64_t i = 0; i < n; i++)
			v[i] = sorted[i] = again[i] = (double)kdri_rng_below(&rng, values);
		qsort(sorted, (size_t)n, sizeof *sorted, compare);
		assert_true(kdri_select(v, n, k) == sorted[k]);
		assert_true(kdri_median(again, n) == (sorted[(n - 1) / 2] + sorted[n / 2]) / 2);
	}
}

static void nth__many_values_of_any_shape__as_sorted(void **state)
{
	(void)state;
	enum { MOST = 3000 };
	static double v[MOST], sorted[MOST], again[MOST];
	kdri_rng rng = kdri_rng_stream(7, "nth", 0);
	for (int64_t trial = 0; trial < 400; trial++) {
		int64_t n = 1 + kdri_rng_below(&rng, MOST), k = kdri_rng_below(&rng, n), shape = trial % 4;
		for (int64_t i = 0; i < n; i++) {
			double u = kdri_rng_uniform(&rng);
			/* Spread; few values; nearly sorted; most of them far away, as the sample may not see. */
			v[i] = shape == 0   ? u
			       : shape == 1 ? floor(8 * u)
			       : shape == 2 ? (double)i + u
			                    : (u < 0.99 ? 1e9 + u : u);
		}
		v[kdri_rng_below(&rng, n)] = INFINITY;
		memcpy(sorted, v, (size_t)n * sizeof *v);
		memcpy(again, v, (size_t)n * sizeof *v);
		qsort(sorted, (size_t)n, sizeof *sorted, compare);
		assert_true(kdri_nth(v, n, k) == sorted[k]);
		assert_true(kdri_median(again, n) == (sorted[(n - 1) / 2] + sorted[n / 2]) / 2);
	}
}

/* argmin over the simplex of sum a_i m_i + beta |m|^2: the projection of -a / (2 beta), by sorting. */
static void project(const double *a, int64_t n, double beta, double *m)
{
	double sorted[40], sum = 0, shift = 0;
	for (int64_t i = 0; i < n; i++)
		sorted[i] = -a[i] / (2 * beta);
	qsort(sorted, (size_t)n, sizeof *sorted, compare);
	for (int64_t i = n - 1, count = 1; i >= 0; i--, count++) {
		sum += sorted[i];
		if (sorted[i] - (sum - 1) / (double)count > 0)
			shift = (sum - 1) / (double)count;
	}
	for (int64_t i = 0; i < n; i++)
		m[i] = KDRI_MAX(0.0, -a[i] / (2 * beta) - shift);
}

static void weights__random_distances__optimal_on_the_simplex(void **state)
{
	(void)state;
	kdri_rng rng = kdri_rng_stream(7, "weights", 0);
	for (int trial = 0; trial < 300; trial++) {
		double a[40], others[40], sorted[40], room[40], weight[40], best[40], sum = 0, nearest = 0;
		int64_t n = 3 + kdri_rng_below(&rng, 38), self = kdri_rng_below(&rng, n),
		        l = 1 + kdri_rng_below(&rng, n - 2);
		for (int64_t i = 0, at = 0; i < n; i++) {
			a[i] = i == self ? 0 : kdri_rng_uniform(&rng);
			if (i != self)
				others[at++] = a[i];
		}
		kdri_limits limits = kdri_limits_of(a, n, self, l, 1e-12, room);
		assert_int_equal(kdri_weigh(&limits, a, n, self, 1e-12, weight), l);
		memcpy(sorted, others, sizeof sorted);
		qsort(sorted, (size_t)n - 1, sizeof *sorted, compare);
		for (int64_t i = 0; i < l; i++)
			nearest += sorted[i];
		/* beta of [ZZL19, eq. 19] */
		project(others, n - 1, ((double)l * sorted[l] - nearest) / 2, best);
		for (int64_t i = 0; i < n; i++)
			sum += weight[i];
		assert_true(weight[self] == 0);
		for (int64_t i = 0, at = 0; i < n; i++)
			if (i != self)
				assert_near(weight[i] / sum, best[at++], 1e-9);
	}
}

static void weights__nearest_all_at_one_distance__all_of_them_equal(void **state)
{
	(void)state;
	double a[6] = { 0, 2, 2, 2, 5, 2 }, room[6], weight[6];
	kdri_limits limits = kdri_limits_of(a, 6, 0, 2, 1e-12, room);
	assert_int_equal(kdri_weigh(&limits, a, 6, 0, 1e-12, weight), 4);
	for (int i = 1; i < 6; i++)
		assert_true(weight[i] == (i != 4));
	/* Three at one distance and l = 3: there is a fourth, farther one. */
	limits = kdri_limits_of(a, 6, 0, 4, 1e-12, room);
	assert_int_equal(kdri_weigh(&limits, a, 6, 0, 1e-12, weight), 4);
}

/* --- SNMF --------------------------------------------------------------------------------------------- */

static void snmf__random_starts__objective_never_rises(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(7, "snmf", 0);
	for (int trial = 0; trial < 400; trial++) {
		double m[15 * 15], y[15 * 5], square;
		int64_t n = 1 + kdri_rng_below(&rng, 15), k = 1 + kdri_rng_below(&rng, KDRI_MIN(n, 5));
		double zeros = kdri_rng_uniform(&rng), spread = kdri_rng_uniform(&rng) * 6;
		for (int64_t i = 0; i < n; i++)
			for (int64_t j = 0; j <= i; j++)
				m[i * n + j] = m[j * n + i] =
				        kdri_rng_uniform(&rng) < zeros ? 0 : kdri_rng_uniform(&rng);
		for (int64_t i = 0; i < n * k; i++) /* far from the usual start: rises are to be expected */
			y[i] = pow(10, -spread * kdri_rng_uniform(&rng));
		square = kdri_nrm2sq(m, n * n);
		const kdri_block view = kdri_block_of(m, n, n, n);
		const kdri_snmf_matrix matrix = kdri_snmf_dense(&view, square);
		kdri_snmf_options o = { .k = k, .max_iter = 60 };
		kdri_snmf_result r = { 0 };
		assert_ok(ctx, kdri_snmf(ctx, &matrix, y, 1, &o, &r));
		for (int64_t i = 0; i < r.iterations; i++)
			assert_true(r.trace[i] <= (i ? r.trace[i - 1] : r.start) + 1e-12 * (1 + square));
		double gap = 0;
		for (int64_t i = 0; i < n; i++)
			for (int64_t j = 0; j < n; j++) {
				double v = m[i * n + j] - kdri_dot(r.y + i * k, r.y + j * k, k);
				gap += v * v;
			}
		assert_near(gap, r.iterations ? r.trace[r.iterations - 1] : r.start, 1e-9 * (1 + square));
		for (int64_t i = 0; i < n * k; i++)
			assert_true(r.y[i] >= 0 && isfinite(r.y[i]));
		kdri_snmf_free(ctx, &r);
	}
	kdr_context_free(ctx);
}

/* Several starts in step end as each of them alone, whenever the others end. */
static void snmf__starts_in_step__as_each_alone(void **state)
{
	(void)state;
	enum { N = 20, K = 3, RUNS = 5 };
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(7, "in step", 0);
	for (int trial = 0; trial < 40; trial++) {
		double m[N * N], starts[RUNS * N * K];
		for (int64_t i = 0; i < N; i++)
			for (int64_t j = 0; j <= i; j++)
				m[i * N + j] = m[j * N + i] = (i % K == j % K) + 0.3 * kdri_rng_uniform(&rng);
		for (int64_t i = 0; i < RUNS * N * K; i++)
			starts[i] = pow(10, -4 * kdri_rng_uniform(&rng));
		const kdri_block view = kdri_block_of(m, N, N, N);
		const kdri_snmf_matrix matrix = kdri_snmf_dense(&view, kdri_nrm2sq(m, N * N));
		kdri_snmf_options o = { .k = K, .max_iter = 100, .tol = 1e-3 };
		kdri_snmf_result all[RUNS] = { 0 }, one = { 0 };
		assert_ok(ctx, kdri_snmf(ctx, &matrix, starts, RUNS, &o, all));
		for (int64_t q = 0; q < RUNS; q++) {
			assert_ok(ctx, kdri_snmf(ctx, &matrix, starts + q * N * K, 1, &o, &one));
			assert_int_equal(all[q].iterations, one.iterations);
			assert_int_equal(all[q].stop, one.stop);
			for (int64_t i = 0; i < one.iterations; i++)
				assert_near(all[q].trace[i], one.trace[i], 1e-9);
			for (int64_t i = 0; i < N * K; i++)
				assert_near(all[q].y[i], one.y[i], 1e-9);
			kdri_snmf_free(ctx, &all[q]);
			kdri_snmf_free(ctx, &one);
		}
	}
	kdr_context_free(ctx);
}

/* --- k-means through the Gram matrix ------------------------------------------------------------------- */

static double distance(const data *m, int64_t i, const double *centre)
{
	double sum = 0;
	for (int64_t j = 0; j < m->d; j++)
		sum += (m->x[i * m->d + j] - centre[j]) * (m->x[i * m->d + j] - centre[j]);
	return sum;
}

static void gram_kmeans__random_data__every_sample_at_its_nearest_mean(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(7, "gram", 0);
	for (int trial = 0; trial < 40; trial++) {
		int64_t n = 4 + kdri_rng_below(&rng, 100), k = 1 + kdri_rng_below(&rng, 4);
		data m = data_new(&rng, n, 5, 0.7);
		kdri_block x = kdri_block_of(m.x, n, 5, 5), gram;
		int64_t *labels = calloc((size_t)n, sizeof *labels), size[4] = { 0 };
		double centres[4 * 5] = { 0 };
		assert_ok(ctx, kdri_block_new(ctx, &kdri_cpu, n, n, false, &gram));
		assert_ok(ctx, kdri_block_syrk(ctx, false, 1, x, 0, gram));
		assert_ok(ctx, kdri_cpu.mirror(ctx, gram));
		assert_ok(ctx, kdri_gram_kmeans(ctx, gram, k, 1000, (uint64_t)trial, labels));
		for (int64_t i = 0; i < n; i++) {
			size[labels[i]]++;
			kdri_axpy(1, m.x + i * 5, centres + labels[i] * 5, 5);
		}
		for (int64_t c = 0; c < k; c++)
			for (int j = 0; j < 5; j++)
				centres[c * 5 + j] /= (double)KDRI_MAX(size[c], 1);
		for (int64_t i = 0; i < n; i++) {
			double own = distance(&m, i, centres + labels[i] * 5);
			for (int64_t c = 0; c < k; c++)
				assert_true(size[c] > 0 && own <= distance(&m, i, centres + c * 5) + 1e-9);
		}
		kdri_block_free(ctx, &gram);
		free(labels);
		data_free(&m);
	}
	kdr_context_free(ctx);
}

/* --- fits --------------------------------------------------------------------------------------------- */

enum { TASKS = 3, D = 8, K = 3 };
static const int64_t sizes[TASKS] = { 24, 18, 21 };

typedef struct three {
	double x[TASKS][24 * D];
	int64_t init[TASKS][24];
	kdr_task tasks[TASKS];
} three;

static void three_new(three *p)
{
	kdri_rng rng = kdri_rng_stream(11, "problem", 0);
	for (int64_t t = 0; t < TASKS; t++) {
		for (int64_t i = 0; i < sizes[t]; i++) {
			p->init[t][i] = kdri_rng_below(&rng, K);
			for (int64_t j = 0; j < D; j++)
				p->x[t][i * D + j] = 0.5 * kdri_rng_uniform(&rng) + (j / 2 == i % K);
		}
		for (int64_t c = 0; c < K; c++)
			p->init[t][c] = c;
		p->tasks[t] = (kdr_task){
			.name = "t", .x = kdr_mat_from_dense(p->x[t], sizes[t], D), .k = K, .init = p->init[t]
		};
	}
}

static kdr_result *fit(kdr_context *ctx, const three *p, const char *option, const char *value)
{
	kdr_options *o = NULL;
	kdr_result *r = NULL;
	kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = p->tasks, .ntasks = TASKS };
	assert_ok(ctx, kdr_options_new(ctx, "mtcfir", &o));
	if (option)
		assert_ok(ctx, kdr_options_set(ctx, o, option, value));
	assert_ok(ctx, kdr_fit(ctx, "mtcfir", &problem, o, &r));
	kdr_options_free(o);
	return r;
}

/* task[t]: which task of b is a's t; row[t][i]: which of its rows. */
static void assert_permuted(const kdr_result *a, const kdr_result *b, const int64_t *task,
                            int64_t row[TASKS][24])
{
	const double *one = kdr_result_array(a, "alpha", -1).data,
	             *two = kdr_result_array(b, "alpha", -1).data;
	for (int64_t t = 0; t < TASKS; t++) {
		const double *y = kdr_result_array(a, "memberships", t).data,
		             *z = kdr_result_array(b, "memberships", task[t]).data;
		for (int64_t s = 0; s < TASKS; s++)
			assert_near(one[t * TASKS + s], two[task[t] * TASKS + task[s]], 1e-12);
		for (int64_t i = 0; i < sizes[t]; i++)
			assert_close(y + i * K, z + row[t][i] * K, K, 1e-7);
	}
}

static void fit__permuted_samples_tasks_and_features__permuted_answer(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(11, "permute", 0);
	three *p = malloc(sizeof *p), *q = malloc(sizeof *q);
	int64_t same[TASKS] = { 0, 1, 2 }, turned[TASKS] = { 2, 0, 1 }, row[TASKS][24];
	three_new(p);
	kdr_result *base = fit(ctx, p, NULL, NULL);
	for (int what = 0; what < 3; what++) {
		const int64_t *task = what == 1 ? turned : same;
		three_new(q);
		for (int64_t t = 0; t < TASKS; t++)
			for (int64_t i = 0; i < sizes[t]; i++)
				row[t][i] = i;
		for (int64_t t = 0; t < TASKS && what == 0; t++)
			for (int64_t i = sizes[t] - 1; i > 0; i--) {
				int64_t j = kdri_rng_below(&rng, i + 1), r = row[t][i];
				row[t][i] = row[t][j];
				row[t][j] = r;
			}
		for (int64_t t = 0; t < TASKS; t++) {
			for (int64_t i = 0; i < sizes[t]; i++) {
				q->init[t][row[t][i]] = p->init[t][i];
				for (int64_t j = 0; j < D; j++)
					q->x[t][row[t][i] * D + (what == 2 ? (j * 3 + 1) % D : j)] =
					        p->x[t][i * D + j];
			}
		}
		three moved = *q;
		for (int64_t t = 0; t < TASKS; t++)
			moved.tasks[task[t]] = q->tasks[t];
		kdr_result *r = fit(ctx, &moved, NULL, NULL);
		assert_permuted(base, r, task, row);
		kdr_result_free(r);
	}
	kdr_result_free(base);
	free(p);
	free(q);
	kdr_context_free(ctx);
}

/* As a member of an ensemble: the same labels, and no other results that take memory or time. */
static void fit__nothing_kept__same_labels(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	three *p = malloc(sizeof *p);
	three_new(p);
	kdr_result *all = fit(ctx, p, "keep", "true"), *bare = fit(ctx, p, "keep", "false");
	assert_non_null(kdr_result_array(all, "layers", -1).data);
	assert_null(kdr_result_array(bare, "layers", -1).data);
	for (int64_t t = 0; t < TASKS; t++) {
		int64_t n;
		const int64_t *labels = kdr_result_labels(all, t, &n);
		assert_memory_equal(labels, kdr_result_labels(bare, t, NULL), (size_t)n * sizeof *labels);
	}
	kdr_result_free(all);
	kdr_result_free(bare);
	free(p);
	kdr_context_free(ctx);
}

static void fit__single_precision__same_labels_on_clear_clusters(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	three *p = malloc(sizeof *p);
	three_new(p);
	kdr_result *a = fit(ctx, p, "precision", "double"), *b = fit(ctx, p, "precision", "single");
	for (int64_t t = 0; t < TASKS; t++) {
		int64_t n;
		assert_memory_equal(kdr_result_labels(a, t, &n), kdr_result_labels(b, t, &n),
		                    (size_t)sizes[t] * sizeof(int64_t));
	}
	kdr_result_free(a);
	kdr_result_free(b);
	free(p);
	kdr_context_free(ctx);
}

static void fit__own_start__clear_clusters_are_found_by_every_form(void **state)
{
	(void)state;
	static const char *const settings[][2] = { { "variant", "full" }, { "variant", "nF" },
		                                   { "variant", "nI" },   { "variant", "nR" },
		                                   { "final", "ncut" },   { "similarity", "gauss" } };
	kdr_context *ctx = unit_context();
	three *p = malloc(sizeof *p);
	three_new(p);
	for (int t = 0; t < TASKS; t++)
		p->tasks[t].init = NULL;
	for (size_t s = 0; s < sizeof settings / sizeof settings[0]; s++) {
		kdr_result *r = fit(ctx, p, settings[s][0], settings[s][1]);
		for (int64_t t = 0; t < TASKS; t++) {
			int64_t n;
			const int64_t *labels = kdr_result_labels(r, t, &n);
			for (int64_t i = 0; i < n; i++)
				assert_int_equal(labels[i], labels[i % K]);
			assert_true(labels[0] != labels[1] && labels[1] != labels[2] &&
			            labels[0] != labels[2]);
		}
		const double *related = kdr_result_relatedness(r);
		for (int64_t t = 0; t < TASKS; t++)
			assert_near(related[t * TASKS + t], 1, 1e-12);
		kdr_result_free(r);
	}
	free(p);
	kdr_context_free(ctx);
}

/* --- errors and warnings ------------------------------------------------------------------------------- */

static void assert_fails(kdr_context *ctx, const char *method, const kdr_task *task, kdr_status want,
                         const char *says)
{
	kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = task, .ntasks = 1 };
	kdr_result *r = NULL;
	assert_int_equal(kdr_fit(ctx, method, &problem, NULL, &r), want);
	assert_null(r);
	if (!strstr(kdr_context_error(ctx), says))
		fail_msg("'%s' does not say '%s'", kdr_context_error(ctx), says);
}

static void fit__bad_input__one_clear_line(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	double x[4] = { 1, 2, 3, 4 };
	kdr_options *o = NULL;
	kdr_task few = { .name = "tiny", .x = kdr_mat_from_dense(x, 2, 2), .k = 1 };
	assert_fails(ctx, "mtcfir", &few, KDR_ERR_DATA,
	             "data set tiny has 2 samples; method 'mtcfir' needs at least 3");
	/* Ten million samples without an entry: small, but not their similarities. */
	int64_t rows = 10000000, *rowptr = calloc((size_t)rows + 1, sizeof *rowptr);
	kdr_task large = { .name = "large", .x = kdr_mat_from_csr(rows, 2, rowptr, NULL, NULL), .k = 1 };
	assert_fails(ctx, "mtcfir", &large, KDR_ERR_MEMORY,
	             "method 'mtcfir' needs another 400 TB of memory, but this machine has");
	assert_fails(ctx, "snmf", &large, KDR_ERR_MEMORY, "; use fewer samples");
	free(rowptr);
	assert_ok(ctx, kdr_options_new(ctx, "mtcfir", &o));
	assert_int_equal(kdr_options_set(ctx, o, "noise", "0"), KDR_ERR_OPTION);
	assert_int_equal(kdr_options_set(ctx, o, "noise", "1"), KDR_ERR_OPTION);
	assert_int_equal(kdr_options_set(ctx, o, "neighbors", "0"), KDR_ERR_OPTION);
	kdr_options_free(o);
	kdr_context_free(ctx);
}

static void fit__more_neighbours_than_samples__capped_with_a_warning(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	three *p = malloc(sizeof *p);
	three_new(p);
	kdr_result *r = fit(ctx, p, "neighbors", "23");
	const int64_t *l = kdr_result_array(r, "neighbors", -1).data;
	for (int t = 0; t < TASKS; t++)
		assert_int_equal(l[t], sizes[t] - 2);
	assert_int_equal(kdr_result_warning_count(r), 3);
	assert_non_null(strstr(kdr_result_warning_at(r, 0), "23 neighbours"));
	kdr_result_free(r);
	free(p);
	kdr_context_free(ctx);
}

static void fit__neighbours_of_each_task__as_given(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	three *p = malloc(sizeof *p);
	three_new(p);
	/* A number, a share of 18 / 3, and more than there are. */
	kdr_result *r = fit(ctx, p, "neighbors", "5,0.5,40");
	const int64_t *l = kdr_result_array(r, "neighbors", -1).data;
	assert_true(l[0] == 5 && l[1] == 3 && l[2] == sizes[2] - 2);
	assert_int_equal(kdr_result_warning_count(r), 1);
	/* The same for all: as one number for all. */
	kdr_result *a = fit(ctx, p, "neighbors", "4,4,4"), *b = fit(ctx, p, "neighbors", "4");
	for (int64_t t = 0; t < TASKS; t++) {
		int64_t n;
		assert_memory_equal(kdr_result_labels(a, t, &n), kdr_result_labels(b, t, &n),
		                    (size_t)sizes[t] * sizeof(int64_t));
	}
	kdr_result_free(r);
	kdr_result_free(a);
	kdr_result_free(b);
	kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = p->tasks, .ntasks = TASKS };
	kdr_options *o = NULL;
	r = NULL;
	assert_ok(ctx, kdr_options_new(ctx, "mtcfir", &o));
	assert_ok(ctx, kdr_options_set(ctx, o, "neighbors", "4,5"));
	assert_int_equal(kdr_fit(ctx, "mtcfir", &problem, o, &r), KDR_ERR_OPTION);
	assert_string_equal(
	        kdr_context_error(ctx),
	        "option neighbors has 2 numbers, but there are 3 data sets; give one number, or 3");
	problem.ntasks = 1;
	assert_int_equal(kdr_fit(ctx, "mtcfir", &problem, o, &r), KDR_ERR_OPTION);
	assert_string_equal(kdr_context_error(ctx),
	                    "option neighbors has 2 numbers, but there is only 1 data set; give one number");
	assert_null(r);
	kdr_options_free(o);
	free(p);
	kdr_context_free(ctx);
}

static void fit__identical_or_zero_samples__finite(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	three *p = malloc(sizeof *p);
	three_new(p);
	memset(p->x[0], 0, sizeof p->x[0]);
	for (int64_t i = 0; i < sizes[1] * D; i++)
		p->x[1][i] = 1;
	for (int s = 0; s < 2; s++) {
		kdr_result *r = fit(ctx, p, "final", s ? "ncut" : "snmf");
		for (int64_t t = 0; t < TASKS; t++) {
			const double *y = kdr_result_array(r, "memberships", t).data;
			for (int64_t i = 0; i < sizes[t] * K; i++)
				assert_true(isfinite(y[i]));
			for (int64_t s2 = 0; s2 < TASKS; s2++)
				assert_true(isfinite(kdr_result_relatedness(r)[t * TASKS + s2]));
		}
		kdr_result_free(r);
	}
	free(p);
	kdr_context_free(ctx);
}

/* --- predict ------------------------------------------------------------------------------------------- */

static void predict__training_samples__mostly_their_own_labels(void **state)
{
	(void)state;
	static const char *const settings[][2] = { { "variant", "full" }, { "variant", "nF" },
		                                   { "variant", "nI" },   { "variant", "nR" },
		                                   { "final", "ncut" },   { "similarity", "gauss" } };
	kdr_context *ctx = unit_context();
	three *p = malloc(sizeof *p);
	three_new(p);
	for (int t = 0; t < TASKS; t++)
		p->tasks[t].init = NULL;
	for (size_t s = 0; s < sizeof settings / sizeof settings[0]; s++) {
		kdr_options *o = NULL;
		kdr_result *r = fit(ctx, p, settings[s][0], settings[s][1]);
		assert_ok(ctx, kdr_options_new(ctx, "mtcfir", &o));
		assert_ok(ctx, kdr_options_set(ctx, o, settings[s][0], settings[s][1]));
		for (int64_t t = 0; t < TASKS; t++) {
			int64_t n, labels[24];
			const int64_t *fitted = kdr_result_labels(r, t, &n);
			assert_ok(ctx,
			          kdri_algo_find("mtcfir")->predict(ctx, r, o, t, &p->tasks[t].x, labels));
			assert_memory_equal(labels, fitted, (size_t)n * sizeof *labels);
		}
		kdr_options_free(o);
		kdr_result_free(r);
	}
	free(p);
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(msda__by_features_and_by_samples__same_layers),
		cmocka_unit_test(msda__rows_beside_the_training_rows__change_nothing),
		cmocka_unit_test(select__random_and_equal_values__as_sorted),
		cmocka_unit_test(nth__many_values_of_any_shape__as_sorted),
		cmocka_unit_test(weights__random_distances__optimal_on_the_simplex),
		cmocka_unit_test(weights__nearest_all_at_one_distance__all_of_them_equal),
		cmocka_unit_test(snmf__random_starts__objective_never_rises),
		cmocka_unit_test(snmf__starts_in_step__as_each_alone),
		cmocka_unit_test(gram_kmeans__random_data__every_sample_at_its_nearest_mean),
		cmocka_unit_test(fit__permuted_samples_tasks_and_features__permuted_answer),
		cmocka_unit_test(fit__nothing_kept__same_labels),
		cmocka_unit_test(fit__single_precision__same_labels_on_clear_clusters),
		cmocka_unit_test(fit__own_start__clear_clusters_are_found_by_every_form),
		cmocka_unit_test(fit__bad_input__one_clear_line),
		cmocka_unit_test(fit__more_neighbours_than_samples__capped_with_a_warning),
		cmocka_unit_test(fit__neighbours_of_each_task__as_given),
		cmocka_unit_test(fit__identical_or_zero_samples__finite),
		cmocka_unit_test(predict__training_samples__mostly_their_own_labels),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
