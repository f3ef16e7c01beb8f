/* Graphs of samples and landmarks: compared with explicit matrices, and with the rows on several ranks.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "api/result.h"
#include "tests/unit/unit.h"

#include "engine/graph/landmarks.h"
#include "tests/unit/ranks.h"

enum { N = 400, D = 6, K = 3, M = 60, NEAR = 5, CUTS = 5 };

/* K clouds; rows 7 and 11 are zeros, row 13 is a copy of row 12. */
typedef struct fixture {
	double x[N * D], val[N * D], mean[D];
	int32_t col[N * D];
	int64_t rowptr[N + 1];
	/* what the trial below is about */
	bool sparse, rotation, two_tasks;
	kdri_landmarks_weight weight;
	bool centred;
	const int *cut;
	/* of all rows */
	int64_t number[M], labels[N], share[M];
	double z[N][NEAR], embedding[N * K], values[K], ncut;
	int32_t column[N][NEAR];
} fixture;

/* Shares of the rows of each task that the ranks have, in percent. */
static const int cuts[CUTS][5] = {
	{ 1, 100 }, { 2, 50, 50 }, { 3, 34, 1, 65 }, { 3, 0, 100, 0 }, { 4, 2, 0, 97, 1 }
};

static void set_up(fixture *f)
{
	kdri_rng rng = kdri_rng_stream(3, "test", 0);
	int64_t at = 0;
	memset(f, 0, sizeof *f);
	for (int i = 0; i < N; i++) {
		for (int j = 0; j < D; j++) {
			double v = (i == 7 || i == 11) ? 0 : 3.0 * (j % K == i % K) + kdri_rng_normal(&rng);
			f->x[i * D + j] = i == 13 ? f->x[12 * D + j] : v;
		}
		for (int j = 0; j < D; j++)
			if (f->x[i * D + j] != 0) {
				f->val[at] = f->x[i * D + j];
				f->col[at++] = j;
			}
		f->rowptr[i + 1] = at;
		for (int j = 0; j < D; j++)
			f->mean[j] += f->x[i * D + j] / N;
	}
}

static double dot(const double *a, const double *b, const double *c)
{
	double sum = 0;
	for (int j = 0; j < D; j++)
		sum += (a[j] - c[j]) * (b[j] - c[j]);
	return sum;
}

static void among__all_pairs__are_those_of_a_plain_search(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	fixture *f = malloc(sizeof *f);
	const double none[D] = { 0 };
	set_up(f);
	for (int kind = 0; kind < 6; kind++) { /* distance, cosine, cosine less a vector; dense, sparse */
		const bool cosine = kind / 2 > 0, shifted = kind / 2 == 2;
		const double *c = shifted ? f->mean : none;
		kdr_mat x = kind & 1 ? kdr_mat_from_csr(N, D, f->rowptr, f->col, f->val)
		                     : kdr_mat_from_dense(f->x, N, D);
		kdri_own y = { .view = kdr_mat_from_dense(NULL, 0, 0) };
		int64_t rows[M];
		kdri_knn knn = { 0 };
		kdri_knn_shift of_x = { 0 }, of_y = { 0 };
		for (int a = 0; a < M; a++)
			rows[a] = a * 6 + 3;
		assert_ok(ctx, kdri_mat_take(ctx, &x, rows, M, &y));
		assert_ok(ctx, kdri_knn_shift_new(ctx, &x, c, &of_x));
		assert_ok(ctx, kdri_knn_shift_new(ctx, &y.view, c, &of_y));
		assert_ok(ctx,
		          kdri_knn_among(ctx, &x, shifted ? &of_x : NULL, &y.view, shifted ? &of_y : NULL,
		                         NEAR, cosine ? KDRI_METRIC_COSINE : KDRI_METRIC_EUCLIDEAN, &knn));
		for (int i = 0; i < N; i++) {
			const double *a = f->x + i * D;
			int better = 0;
			double last = knn.value[i * NEAR + NEAR - 1];
			for (int q = 0; q < M; q++) {
				const double *b = f->x + rows[q] * D;
				double both = sqrt(dot(a, a, c) * dot(b, b, c)), v = 0;
				for (int j = 0; j < D; j++)
					v += (a[j] - b[j]) * (a[j] - b[j]);
				if (cosine)
					v = both > 0 ? dot(a, b, c) / both : 0;
				better += cosine ? v > last + 1e-9 : v < last - 1e-9;
				for (int p = 0; p < NEAR; p++)
					if (knn.index[i * NEAR + p] == q)
						assert_near(knn.value[i * NEAR + p], v, 1e-9);
			}
			assert_true(better < NEAR);
			for (int p = 1; p < NEAR; p++)
				assert_true(cosine ? knn.value[i * NEAR + p - 1] >= knn.value[i * NEAR + p]
				                   : knn.value[i * NEAR + p - 1] <= knn.value[i * NEAR + p]);
		}
		assert_int_equal(knn.index[rows[5] * NEAR], 5); /* a landmark is nearest to itself */
		kdri_knn_free(ctx, &knn);
		kdri_knn_shift_free(ctx, &of_x);
		kdri_knn_shift_free(ctx, &of_y);
		kdri_own_free(ctx, &y);
	}
	free(f);
	kdr_context_free(ctx);
}

static void new__any_number__one_row_of_each_run(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	fixture *f = malloc(sizeof *f);
	set_up(f);
	kdr_mat x = kdr_mat_from_csr(N, D, f->rowptr, f->col, f->val);
	static const int64_t counts[] = { 1, 7, M, N - 1, N, 10 * N };
	for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
		kdri_landmarks l = { .rows.view = kdr_mat_from_dense(NULL, 0, 0) };
		int64_t m = KDRI_MIN(counts[c], N);
		assert_ok(ctx, kdri_landmarks_new(ctx, &x, NULL, 1, counts[c], 0, &l));
		assert_int_equal(l.count, m);
		for (int64_t a = 0; a < m; a++) {
			assert_true(l.number[a] >= kdri_chunk_begin(N, m, a) &&
			            l.number[a] < kdri_chunk_begin(N, m, a + 1));
			assert_int_equal(l.here[a], l.number[a]);
			kdri_entries row = kdri_row_entries(&l.rows.view, a),
			             own = kdri_row_entries(&x, l.number[a]);
			assert_int_equal(row.count, own.count);
			assert_memory_equal(row.val, own.val, (size_t)row.count * sizeof(double));
		}
		kdri_landmarks_free(ctx, &l);
	}
	free(f);
	kdr_context_free(ctx);
}

/* W of landmarks.c (E1), n x n, written out. */
static double *written_out(const kdr_csr *z)
{
	double *w = calloc((size_t)(z->rows * z->rows) + 1, sizeof *w),
	       *l = calloc((size_t)z->cols + 1, sizeof *l);
	for (int64_t p = 0; p < z->rowptr[z->rows]; p++)
		l[z->col[p]] += z->val[p];
	for (int64_t i = 0; i < z->rows; i++)
		for (int64_t j = 0; j < z->rows; j++)
			for (int64_t p = z->rowptr[i]; p < z->rowptr[i + 1]; p++)
				for (int64_t q = z->rowptr[j]; q < z->rowptr[j + 1]; q++)
					if (z->col[p] == z->col[q])
						w[i * z->rows + j] += z->val[p] * z->val[q] / l[z->col[p]];
	free(l);
	return w;
}

static void spectrum__graph_written_out__same_pairs_and_cut(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	fixture *f = malloc(sizeof *f);
	enum { WANTED = 8 };
	set_up(f);
	kdr_mat x = kdr_mat_from_dense(f->x, N, D);
	for (int weight = 0; weight < 3; weight++) {
		kdri_landmarks l = { .rows.view = kdr_mat_from_dense(NULL, 0, 0) };
		kdri_own z = { .view = kdr_mat_from_dense(NULL, 0, 0) };
		kdri_spectrum s = { 0 };
		int64_t labels[N];
		double cut, same, values[N], *degree = calloc(N, sizeof *degree);
		const kdri_landmarks_options o = { .weight = (kdri_landmarks_weight)weight,
			                           .least = 1e-6,
			                           .sigma = 1.5,
			                           .neighbors = NEAR,
			                           .mean = f->mean };
		assert_ok(ctx, kdri_landmarks_new(ctx, &x, NULL, 1, M, 0, &l));
		assert_ok(ctx, kdri_landmarks_graph(ctx, &x, &l, &o, &z));
		assert_ok(ctx, kdri_landmarks_spectrum(ctx, &z.view, WANTED, &s));
		double *w = written_out(&z.view.as.csr);
		for (int i = 0; i < N; i++) {
			labels[i] = i % K;
			for (int j = 0; j < N; j++)
				degree[i] += w[i * N + j];
		}
		kdr_mat whole = kdr_mat_from_dense(w, N, N);
		assert_ok(ctx, kdri_ncut_value(ctx, &whole, labels, K, &same));
		assert_ok(ctx, kdri_landmarks_ncut(ctx, &z.view, labels, K, &cut));
		assert_near(cut, same, 1e-10);
		for (int i = 0; i < N; i++)
			for (int j = 0; j < N; j++)
				w[i * N + j] /= sqrt(degree[i] * degree[j]);
		for (int c = 0; c < WANTED; c++)
			for (int i = 0; i < N; i++) { /* S u = value u, and orthonormal */
				double product = 0, inner = 0;
				for (int j = 0; j < N; j++) {
					product += w[i * N + j] * s.vectors[j * WANTED + c];
					inner += i < WANTED ? s.vectors[j * WANTED + c] *
					                              s.vectors[j * WANTED + i]
					                    : 0;
				}
				assert_near(product, s.values[c] * s.vectors[i * WANTED + c], 2e-5);
				assert_true(i >= WANTED || fabs(inner - (i == c)) < 2e-5);
			}
		assert_ok(ctx, kdri_eigh(ctx, N, w, N, values));
		for (int c = 0; c < WANTED; c++)
			assert_near(s.values[c], values[N - 1 - c], 1e-8);
		free(w);
		free(degree);
		kdri_spectrum_free(ctx, &s);
		kdri_own_free(ctx, &z);
		kdri_landmarks_free(ctx, &l);
	}
	free(f);
	kdr_context_free(ctx);
}

/* Groups of rows with landmarks of their own, and rows with none. */
static void spectral__separate_parts__are_the_clusters(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	enum { EACH = 20 };
	for (int rounding = 0; rounding < 2; rounding++)
		for (int64_t parts = 1; parts < 6; parts++)
			for (int64_t lonely = 0; lonely < 3; lonely++) {
				int64_t n = parts * EACH + lonely, rowptr[6 * EACH + 4] = { 0 };
				int32_t col[12 * EACH];
				double val[12 * EACH];
				for (int64_t i = 0; i < n; i++) {
					rowptr[i + 1] = i < parts * EACH ? 2 * (i + 1) : 2 * parts * EACH;
					if (i >= parts * EACH)
						continue;
					for (int p = 0; p < 2; p++) { /* of three landmarks */
						int64_t a = i / parts % 3 == 0   ? p
						            : i / parts % 3 == 1 ? p + 1
						                                 : 2 * p;
						col[2 * i + p] = (int32_t)(i % parts * 3 + a);
						val[2 * i + p] = 1 + 0.01 * (double)i;
					}
				}
				kdr_mat z = kdr_mat_from_csr(n, 3 * parts, rowptr, col, val);
				kdri_spectral_options o = kdri_spectral_defaults(parts);
				kdri_spectral_result r = { 0 };
				o.rounding = (kdri_rounding)rounding;
				o.landmarks = true;
				assert_ok(ctx, kdri_spectral(ctx, &z, &o, &r));
				assert_near(r.ncut, 0, 1e-12);
				assert_int_equal(r.components, parts);
				assert_int_equal(r.isolated, lonely);
				assert_int_equal(r.unreached, lonely);
				assert_int_equal(r.nonempty, parts);
				for (int64_t i = 0; i < parts * EACH; i++)
					assert_int_equal(r.labels[i], r.labels[i % parts]);
				for (int64_t i = 0; i < n; i++)
					assert_true(r.labels[i] >= 0 && r.labels[i] < parts);
				kdri_spectral_free(ctx, &r);
				o.k = n + 1;
				assert_int_equal(kdri_spectral(ctx, &z, &o, &r), KDR_ERR_ARGUMENT);
			}
	kdr_context_free(ctx);
}

/* W minus its diagonal, compared with an explicit W; the last row does not share its landmark. */
static void walk__graph_written_out__same_products_for_all_threads(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	enum { ROWS = 40, MARKS = 9, WIDTH = 3 };
	double z[ROWS][MARKS] = { { 0 } }, sums[MARKS] = { 0 }, x[ROWS * WIDTH], y[2][ROWS * WIDTH];
	double val[2 * ROWS];
	int64_t rowptr[ROWS + 1] = { 0 }, at = 0;
	int32_t col[2 * ROWS];
	kdri_rng rng = kdri_rng_stream(5, "walk", 0);
	for (int64_t i = 0; i < ROWS; i++) {
		bool alone = i == ROWS - 1;
		int64_t a = alone ? MARKS - 2 : kdri_rng_below(&rng, MARKS - 3);
		for (int64_t p = 0; p < (alone ? 1 : 2); p++) {
			col[at] = (int32_t)(a + p);
			sums[a + p] += z[i][a + p] = val[at++] = 0.1 + kdri_rng_uniform(&rng);
		}
		rowptr[i + 1] = at;
		for (int j = 0; j < WIDTH; j++)
			x[i * WIDTH + j] = j == 0 ? 1 : kdri_rng_normal(&rng);
	}
	kdr_mat edges = kdr_mat_from_csr(ROWS, MARKS, rowptr, col, val);
	kdri_landmarks_walk w = { 0 };
	assert_ok(ctx, kdri_landmarks_walk_new(ctx, &edges, &w));
	const kdri_op op = kdri_op_landmarks(&w);
	for (int many = 0; many < 2; many++) {
		kdr_context_set_threads(ctx, many ? 4 : 1);
		assert_ok(ctx, op.apply(ctx, &op, x, WIDTH, WIDTH, y[many], WIDTH));
	}
	assert_memory_equal(y[0], y[1], sizeof y[0]);
	for (int64_t i = 0; i < ROWS; i++)
		for (int64_t j = 0; j < WIDTH; j++) {
			double sum = 0;
			for (int64_t k = 0; k < ROWS; k++)
				for (int64_t a = 0; a < MARKS && k != i; a++)
					sum += sums[a] > 0 ? z[i][a] * z[k][a] / sums[a] * x[k * WIDTH + j]
					                   : 0;
			assert_near(y[0][i * WIDTH + j], sum, 1e-12);
		}
	assert_true(y[0][(ROWS - 1) * WIDTH] == 0); /* exactly 0: no sample is near */
	kdri_landmarks_walk_free(ctx, &w);
	kdr_context_free(ctx);
}

/* --- on ranks -------------------------------------------------------------------------------------------- */

static int64_t cut_at(const fixture *f, int rank, int64_t rows)
{
	int sum = 0;
	for (int r = 0; r < rank; r++)
		sum += f->cut[r + 1];
	return rows * sum / 100;
}

static void work(kdr_context *ctx, int rank, void *user)
{
	fixture *f = user;
	/* One task of N rows, or two of which the second has three quarters. */
	const int64_t tasks = f->two_tasks ? 2 : 1, begin[] = { 0, f->two_tasks ? N / 4 : N, N };
	int64_t rows[N], rows_of[2] = { 0 }, n = 0, numbers[N], shared[M];
	kdr_mat x = f->sparse ? kdr_mat_from_csr(N, D, f->rowptr, f->col, f->val)
	                      : kdr_mat_from_dense(f->x, N, D);
	kdri_own own = { .view = kdr_mat_from_dense(NULL, 0, 0) }, z = own;
	kdri_landmarks l = { .rows.view = kdr_mat_from_dense(NULL, 0, 0) };
	kdri_spectral_options o = kdri_spectral_defaults(K);
	kdri_spectral_result r = { 0 };
	const kdri_landmarks_options how = { .weight = f->weight,
		                             .least = 1e-6,
		                             .sigma = 2,
		                             .neighbors = NEAR,
		                             .mean = f->centred ? f->mean : NULL };
	for (int t = 0; t < tasks; t++) {
		int64_t of = begin[t + 1] - begin[t];
		for (int64_t i = cut_at(f, rank, of); i < cut_at(f, rank + 1, of); i++) {
			numbers[n] = begin[t] + i;
			rows[n++] = begin[t] + i;
			rows_of[t]++;
		}
	}
	o.landmarks = true;
	o.rounding = f->rotation ? KDRI_ROUNDING_ROTATION : KDRI_ROUNDING_KMEANS;
	o.rows_of = rows_of;
	o.tasks = tasks;
	o.n_init = 2;
	kdri_enter(ctx);
	assert_ok(ctx, kdri_mat_take(ctx, &x, rows, n, &own));
	assert_ok(ctx, kdri_landmarks_new(ctx, &own.view, rows_of, tasks, M, 4, &l));
	assert_ok(ctx, kdri_landmarks_graph(ctx, &own.view, &l, &how, &z));
	assert_ok(ctx, kdri_spectral(ctx, &z.view, &o, &r));
	assert_ok(ctx, kdri_landmarks_share(ctx, &l, numbers, 1, shared));
	for (int64_t i = 0; i < n; i++) {
		const kdr_csr *c = &z.view.as.csr;
		f->labels[rows[i]] = r.labels[i];
		memcpy(f->embedding + rows[i] * K, r.embedding + i * K, K * sizeof(double));
		for (int64_t p = c->rowptr[i]; p < c->rowptr[i + 1]; p++) {
			f->z[rows[i]][p - c->rowptr[i]] = c->val[p];
			f->column[rows[i]][p - c->rowptr[i]] = c->col[p];
		}
	}
	if (rank == 0) {
		memcpy(f->number, l.number, sizeof f->number);
		memcpy(f->share, shared, sizeof f->share);
		memcpy(f->values, r.values, sizeof f->values);
		f->ncut = r.ncut;
	}
	assert_int_equal(kdri_leave(ctx, KDR_OK), KDR_OK);
	kdri_spectral_free(ctx, &r);
	kdri_landmarks_free(ctx, &l);
	kdri_own_free(ctx, &z);
	kdri_own_free(ctx, &own);
}

static void spectral__rows_on_ranks__same_bits(void **state)
{
	(void)state;
	fixture *one = malloc(sizeof *one), *many = malloc(sizeof *many);
	static const int whole[] = { 1, 100 };
	for (int kind = 0; kind < 12; kind++) {
		for (int c = -1; c < CUTS; c++) {
			fixture *f = c < 0 ? one : many;
			set_up(f);
			f->sparse = kind & 1;
			f->rotation = kind & 2;
			f->weight = (kdri_landmarks_weight)(kind / 4);
			f->centred = kind < 2;
			f->two_tasks = kind % 3 == 1;
			f->cut = c < 0 ? whole : cuts[c];
			if (c < 0) {
				kdr_context *ctx = unit_context();
				work(ctx, 0, f);
				kdr_context_free(ctx);
				continue;
			}
			crew_run(cuts[c][0], work, f, NULL);
			assert_memory_equal(one->number, many->number, sizeof one->number);
			assert_memory_equal(many->share, many->number, sizeof one->share);
			assert_memory_equal(one->column, many->column, sizeof one->column);
			assert_memory_equal(one->z, many->z, sizeof one->z);
			assert_memory_equal(one->values, many->values, sizeof one->values);
			assert_memory_equal(one->embedding, many->embedding, sizeof one->embedding);
			assert_memory_equal(one->labels, many->labels, sizeof one->labels);
			assert_true(one->ncut == many->ncut);
		}
		int wrong = 0; /* and they find something: clouds three units apart */
		for (int i = 0; i < N; i++)
			wrong += one->labels[i] != one->labels[i % K];
		assert_true(wrong < N / 5);
	}
	free(one);
	free(many);
}

/* Every row has column 0, so that all pairs are 6e10 products; two clusters by the next column. */
static void ncut__too_many_pairs__are_joined_to_landmarks(void **state)
{
	(void)state;
	enum { LARGE = 240000, SMALL = 300, COLUMNS = 101, EACH = 2, MARKS = 40 };
	kdr_context *ctx = unit_context();
	kdr_options *options = NULL;
	kdr_result *result = NULL;
	int64_t *rowptr = calloc(LARGE + 1, sizeof *rowptr);
	int32_t *col = calloc((size_t)LARGE * EACH, sizeof *col);
	double *val = calloc((size_t)LARGE * EACH, sizeof *val);
	kdri_rng rng = kdri_rng_stream(22, "joins", 0);
	for (int64_t i = 0; i < LARGE; i++) {
		rowptr[i + 1] = EACH * (i + 1);
		col[EACH * i + 1] = (int32_t)(1 + i % 2 + 2 * kdri_rng_below(&rng, COLUMNS / 2));
		val[EACH * i] = 0.1;
		val[EACH * i + 1] = 1 + kdri_rng_uniform(&rng);
	}
	kdr_task tasks[] = { { .x = kdr_mat_from_csr(LARGE, COLUMNS, rowptr, col, val), .k = 2 },
		             { .x = kdr_mat_from_csr(SMALL, COLUMNS, rowptr, col, val), .k = 2 } };
	kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = tasks, .ntasks = 2 };
	assert_ok(ctx, kdr_options_new(ctx, "ncut", &options));
	assert_ok(ctx, kdr_options_set(ctx, options, "landmarks", "40"));
	assert_ok(ctx, kdr_options_set(ctx, options, "n_init", "1"));
	assert_ok(ctx, kdr_fit(ctx, "ncut", &problem, options, &result));
	assert_true(kdri_result_field(result, 0, "landmarks")->number == MARKS);
	assert_null(kdri_result_field(result, 0, "neighbour_candidates"));
	assert_null(kdri_result_field(result, 1, "landmarks")); /* as it would be alone */
	kdr_result_free(result);
	kdr_options_free(options);
	free(rowptr);
	free(col);
	free(val);
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(among__all_pairs__are_those_of_a_plain_search),
		cmocka_unit_test(new__any_number__one_row_of_each_run),
		cmocka_unit_test(spectrum__graph_written_out__same_pairs_and_cut),
		cmocka_unit_test(spectral__separate_parts__are_the_clusters),
		cmocka_unit_test(walk__graph_written_out__same_products_for_all_threads),
		cmocka_unit_test(spectral__rows_on_ranks__same_bits),
		cmocka_unit_test(ncut__too_many_pairs__are_joined_to_landmarks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
