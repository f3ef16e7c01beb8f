/* Neighbour graphs and the spectral step. SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/unit.h"

#include "engine/graph/knn.h"
#include "engine/graph/landmarks.h"
#include "engine/graph/similarity.h"
#include "engine/graph/spectrum.h"
#include "matrix/linalg.h"
#include "matrix/ritz.h"

/* Random rows with zeros, some rows of zeros and some equal to others; d x n values from a small set of
 * numbers when `coarse`, so that there are many ties. */
static double *make_rows(kdri_rng *rng, int64_t n, int64_t d, bool coarse)
{
	double *x = calloc((size_t)(n * d), sizeof *x);
	for (int64_t i = 0; i < n; i++) {
		double kind = kdri_rng_uniform(rng);
		if (kind < 0.1)
			continue; /* a row of zeros */
		if (kind < 0.2 && i > 0) {
			memcpy(x + i * d, x + kdri_rng_below(rng, i) * d, (size_t)d * sizeof *x);
			continue;
		}
		for (int64_t t = 0; t < d; t++)
			if (kdri_rng_uniform(rng) < 0.6)
				x[i * d + t] = coarse ? (double)kdri_rng_below(rng, 3) : kdri_rng_normal(rng);
	}
	return x;
}

typedef struct sparse {
	int64_t *rowptr;
	int32_t *col;
	double *val;
	kdr_mat view;
} sparse;

static sparse make_sparse(const double *x, int64_t n, int64_t d)
{
	sparse s = { calloc((size_t)n + 1, sizeof(int64_t)),
		     calloc((size_t)(n * d) + 1, sizeof(int32_t)),
		     calloc((size_t)(n * d) + 1, sizeof(double)),
		     { 0 } };
	int64_t at = 0;
	for (int64_t i = 0; i < n; i++) {
		for (int64_t t = 0; t < d; t++)
			if (x[i * d + t] != 0) {
				s.col[at] = (int32_t)t;
				s.val[at++] = x[i * d + t];
			}
		s.rowptr[i + 1] = at;
	}
	s.view = kdr_mat_from_csr(n, d, s.rowptr, s.col, s.val);
	return s;
}

static void free_sparse(sparse *s)
{
	free(s->rowptr);
	free(s->col);
	free(s->val);
}

/* The definition: cosine (0 with a row of zeros), or the squared distance. */
static double nearness(const double *x, int64_t d, int64_t i, int64_t j, kdri_metric metric)
{
	double ab = 0, aa = 0, bb = 0, dd = 0;
	for (int64_t t = 0; t < d; t++) {
		double a = x[i * d + t], b = x[j * d + t];
		ab += a * b;
		aa += a * a;
		bb += b * b;
		dd += (a - b) * (a - b);
	}
	if (metric == KDRI_METRIC_EUCLIDEAN)
		return dd;
	return aa > 0 && bb > 0 ? ab / sqrt(aa) / sqrt(bb) : 0;
}

static void knn__random_rows__are_the_nearest_with_ties_to_the_lower_index(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(1, "test", 0);
	for (int round = 0; round < 60; round++) {
		int64_t n = 1 + kdri_rng_below(&rng, round < 50 ? 40 : 700), d = 1 + kdri_rng_below(&rng, 12);
		int64_t k = kdri_rng_below(&rng, KDRI_MIN(n, 25));
		double *x = make_rows(&rng, n, d, round % 2);
		sparse s = make_sparse(x, n, d);
		kdr_mat dense = kdr_mat_from_dense(x, n, d);
		for (int metric = 0; metric < 2; metric++)
			for (int kind = 0; kind < 2; kind++) {
				kdri_knn knn = { 0 };
				assert_ok(ctx, kdri_knn_find(ctx, kind ? &s.view : &dense, k,
				                             (kdri_metric)metric, NULL, &knn));
				double sign = metric == KDRI_METRIC_COSINE ? -1 : 1;
				for (int64_t i = 0; i < n; i++) {
					const int32_t *index = knn.index + i * k;
					bool *taken = calloc((size_t)n, sizeof *taken);
					for (int64_t p = 0; p < k; p++) {
						assert_true(index[p] >= 0 && index[p] < n && index[p] != i &&
						            !taken[index[p]]);
						taken[index[p]] = true;
						assert_near(knn.value[i * k + p],
						            nearness(x, d, i, index[p], (kdri_metric)metric),
						            1e-12);
						assert_true(p == 0 ||
						            sign * knn.value[i * k + p] >=
						                    sign * knn.value[i * k + p - 1]);
					}
					for (int64_t j = 0; j < n && k > 0; j++) {
						double gap =
						        sign * (nearness(x, d, i, j, (kdri_metric)metric) -
						                knn.value[i * k + k - 1]);
						if (j == i || taken[j])
							continue;
						/* None left out is nearer; none equally near has a lower
						 * index than the last of its kind taken. */
						assert_true(gap > -1e-9);
						for (int64_t p = 0; p < k && gap < 1e-13; p++)
							assert_true(index[p] < j ||
							            fabs(knn.value[i * k + p] -
							                 knn.value[i * k + k - 1]) > 1e-13);
					}
					free(taken);
				}
				kdri_knn_free(ctx, &knn);
			}
		free_sparse(&s);
		free(x);
	}
	kdr_context_free(ctx);
}

static void knn__one_thread_and_three__same_bits(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(2, "test", 0);
	int64_t n = 900, d = 7, k = 9;
	double *x = make_rows(&rng, n, d, false);
	sparse s = make_sparse(x, n, d);
	kdr_mat dense = kdr_mat_from_dense(x, n, d);
	for (int kind = 0; kind < 4; kind++) {
		kdri_knn a = { 0 }, b = { 0 };
		kdr_context_set_threads(ctx, 1);
		assert_ok(ctx, kdri_knn_find(ctx, kind & 1 ? &s.view : &dense, k, (kdri_metric)(kind / 2),
		                             NULL, &a));
		kdr_context_set_threads(ctx, 3);
		assert_ok(ctx, kdri_knn_find(ctx, kind & 1 ? &s.view : &dense, k, (kdri_metric)(kind / 2),
		                             NULL, &b));
		assert_memory_equal(a.index, b.index, (size_t)(n * k) * sizeof *a.index);
		assert_memory_equal(a.value, b.value, (size_t)(n * k) * sizeof *a.value);
		kdri_knn_free(ctx, &a);
		kdri_knn_free(ctx, &b);
	}
	free_sparse(&s);
	free(x);
	kdr_context_free(ctx);
}

/* Two arcs of rows whose scores differ by less than floats can hold: floats select candidates, doubles rank them. The same
 * lists for numbers so small or large that floats cannot be used. */
static void knn__scores_closer_than_floats__are_ranked_exactly(void **state)
{
	(void)state;
	enum { N = 1100, D = 50, K = 5 };
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(4, "arcs", 0);
	double *x = calloc(N * D, sizeof *x), *scaled = calloc(N * D, sizeof *x), angle[N];
	for (int64_t i = 0; i < N; i++) {
		const int64_t place = (i * 457) % N; /* neighbours are far apart in the file */
		angle[i] = 3e-4 * ((double)(place / 2) + 0.2 * kdri_rng_uniform(&rng)) +
		           (place % 2 ? 3.141592653589793 : 0);
		for (int64_t t = 0; t < D; t++)
			x[i * D + t] = (t % 2 ? cos(angle[i]) : sin(angle[i])) / 5;
	}
	for (int metric = 0; metric < 2; metric++)
		for (int size = -100; size <= 100; size += 100) {
			const kdr_mat rows = kdr_mat_from_dense(scaled, N, D);
			kdri_knn knn = { 0 };
			for (int64_t p = 0; p < N * D; p++)
				scaled[p] = ldexp(x[p], size);
			assert_ok(ctx, kdri_knn_find(ctx, &rows, K, (kdri_metric)metric, NULL, &knn));
			for (int64_t i = 0; i < N; i++)
				for (int64_t j = 0; j < N; j++) {
					int64_t closer = 0, place = -1;
					for (int64_t p = 0; p < K; p++) {
						const int32_t other = knn.index[i * K + p];
						closer += fabs(angle[other] - angle[i]) <
						          fabs(angle[j] - angle[i]);
						place = other == j ? p : place;
					}
					assert_int_equal(place, i == j || closer == K ? -1 : closer);
				}
			kdri_knn_free(ctx, &knn);
		}
	free(x);
	free(scaled);
	kdr_context_free(ctx);
}

static int count_neighbours(void *user, const kdr_event *e)
{
	*(int *)user += e->kind == KDR_EVENT_ITERATION && strcmp(e->stage, "neighbours") == 0;
	return 0;
}

static void knn__many_products__ask_often_whether_to_stop(void **state)
{
	(void)state;
	enum { LARGE = 4096, WIDE = 128, PRODUCTS = 1 << 28 };
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(9, "stop", 0);
	double *x = malloc(sizeof(double) * LARGE * WIDE);
	kdri_knn knn = { 0 };
	int asked = 0;
	for (int p = 0; p < LARGE * WIDE; p++)
		x[p] = kdri_rng_normal(&rng);
	const kdr_mat rows = kdr_mat_from_dense(x, LARGE, WIDE);
	kdr_context_set_threads(ctx, 1);
	kdr_context_set_progress(ctx, count_neighbours, &asked);
	assert_ok(ctx, kdri_knn_find(ctx, &rows, 3, KDRI_METRIC_COSINE, NULL, &knn));
	assert_true((double)asked >= (double)LARGE * LARGE * WIDE / PRODUCTS);
	kdri_knn_free(ctx, &knn);
	free(x);
	kdr_context_free(ctx);
}

/* Sparse rows are compared by all their products: the same lists, ties and all, from another search. */
static void knn__tree_of_boxes__finds_what_all_products_find(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(3, "test", 0);
	for (int round = 0; round < 24; round++) {
		int64_t n = 2 + kdri_rng_below(&rng, round < 12 ? 60 : 1500), d = 1 + kdri_rng_below(&rng, 5);
		int64_t k = 1 + kdri_rng_below(&rng, KDRI_MIN(n - 1, 25));
		double *x = make_rows(&rng, n, d, round % 2);
		if (round % 3 == 0) /* many copies, and many ties */
			for (int64_t p = 0; p < n * d; p++)
				x[p] = floor(3 * x[p]);
		sparse s = make_sparse(x, n, d);
		kdr_mat dense = kdr_mat_from_dense(x, n, d);
		kdri_knn a = { 0 }, b = { 0 }, c = { 0 };
		kdr_context_set_threads(ctx, 1);
		assert_ok(ctx, kdri_knn_tree(ctx, &dense, k, &a));
		kdr_context_set_threads(ctx, 3);
		assert_ok(ctx, kdri_knn_tree(ctx, &dense, k, &b));
		assert_ok(ctx, kdri_knn_find(ctx, &s.view, k, KDRI_METRIC_EUCLIDEAN, NULL, &c));
		assert_memory_equal(a.index, b.index, (size_t)(n * k) * sizeof *a.index);
		assert_memory_equal(a.value, b.value, (size_t)(n * k) * sizeof *a.value);
		assert_memory_equal(a.index, c.index, (size_t)(n * k) * sizeof *a.index);
		for (int64_t p = 0; p < n * k; p++)
			assert_near(a.value[p], c.value[p], 1e-12);
		kdri_knn_free(ctx, &a);
		kdri_knn_free(ctx, &b);
		kdri_knn_free(ctx, &c);
		free_sparse(&s);
		free(x);
	}
	kdr_context_free(ctx);
}

/* Many rows of few columns go through the tree, and only those. */
static void knn__tree_of_boxes__pays_for_many_rows_of_few_columns(void **state)
{
	(void)state;
	assert_true(kdri_knn_tree_pays(
	        &(kdr_mat){ .kind = KDR_MAT_DENSE, .as.dense = { .rows = 100000, .cols = 2 } }));
	assert_false(kdri_knn_tree_pays(
	        &(kdr_mat){ .kind = KDR_MAT_DENSE, .as.dense = { .rows = 200, .cols = 2 } }));
	assert_false(kdri_knn_tree_pays(
	        &(kdr_mat){ .kind = KDR_MAT_DENSE, .as.dense = { .rows = 1000000, .cols = 50 } }));
	assert_false(kdri_knn_tree_pays(
	        &(kdr_mat){ .kind = KDR_MAT_CSR, .as.csr = { .rows = 100000, .cols = 2 } }));
}

static void knn__too_many_neighbours__is_an_error(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	double x[3] = { 1, 2, 3 };
	kdr_mat m = kdr_mat_from_dense(x, 3, 1);
	kdri_knn knn = { 0 };
	assert_int_equal(kdri_knn_find(ctx, &m, 3, KDRI_METRIC_COSINE, NULL, &knn), KDR_ERR_ARGUMENT);
	assert_null(knn.index);
	kdr_context_free(ctx);
}

/* Equal rows have no lists but that of the first; the other lists are those of a search among rows that differ. */
static void knn__equal_rows__are_searched_as_one(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(11, "test", 0);
	for (int round = 0; round < 20; round++) {
		enum { N = 60, D = 4, K = 5 };
		double *x = make_rows(&rng, N, D, false), *once = calloc((size_t)(N * D), sizeof *once);
		kdr_mat all = kdr_mat_from_dense(x, N, D);
		int64_t *first = NULL, number[N], row[N], m = 0, candidates;
		assert_ok(ctx, kdri_rows_first(ctx, &all, &first));
		assert_non_null(first);
		for (int64_t i = 0; i < N; i++) {
			int64_t lowest = 0;
			while (memcmp(x + lowest * D, x + i * D, D * sizeof *x) != 0)
				lowest++;
			assert_int_equal(first[i], lowest);
			if (lowest < i)
				continue;
			memcpy(once + m * D, x + i * D, D * sizeof *x);
			row[m] = i;
			number[i] = m++;
		}
		kdr_mat distinct = kdr_mat_from_dense(once, m, D);
		kdri_knn a = { 0 }, b = { 0 };
		assert_ok(ctx, kdri_knn_search_once(ctx, &all, first, K, KDRI_METRIC_EUCLIDEAN, NULL, false,
		                                    &a, &candidates));
		assert_ok(ctx, kdri_knn_find(ctx, &distinct, K, KDRI_METRIC_EUCLIDEAN, NULL, &b));
		assert_int_equal(candidates, 0);
		for (int64_t i = 0; i < N; i++)
			for (int64_t p = 0; p < K; p++)
				assert_int_equal(a.index[i * K + p],
				                 first[i] == i ? row[b.index[number[i] * K + p]] : -1);
		kdri_knn_free(ctx, &a);
		kdri_knn_free(ctx, &b);
		kdri_free(ctx, first);
		free(once);
		free(x);
	}
	kdr_context_free(ctx);
}

/* Two large groups, and a tiny one near the second: the tiny one is joined to the second, with k = 2 and not with k = 20. */
static void graph__tiny_component__is_joined_to_the_nearest(void **state)
{
	(void)state;
	enum { EACH = 300, TINY = 12, N = 2 * EACH + TINY };
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(12, "test", 0);
	double x[N];
	int64_t part[N], count, joined;
	for (int64_t i = 0; i < N; i++)
		x[i] = kdri_rng_uniform(&rng) + (i < EACH ? 0 : i < 2 * EACH ? 100 : 120);
	kdr_mat m = kdr_mat_from_dense(x, N, 1);
	const kdri_graph_options o = { .similarity = KDRI_SIMILARITY_GAUSS, .sigma = 1, .neighbors = 10 };
	kdri_graph g = { 0 };
	assert_ok(ctx, kdri_graph_new(ctx, &m, &o, &g));
	assert_ok(ctx, kdri_components(ctx, &g.w.view, part, &count));
	int64_t before = count;
	assert_int_not_equal(part[N - 1], part[2 * EACH - 1]);
	assert_ok(ctx, kdri_graph_join_small(ctx, &m, NULL, 20, KDRI_METRIC_EUCLIDEAN, NULL, &g.w, &joined));
	assert_int_equal(joined, 0);
	assert_ok(ctx, kdri_graph_join_small(ctx, &m, NULL, 2, KDRI_METRIC_EUCLIDEAN, NULL, &g.w, &joined));
	assert_ok(ctx, kdri_components(ctx, &g.w.view, part, &count));
	assert_true(joined > 0);
	assert_int_equal(count, before - joined);
	for (int64_t i = 2 * EACH; i < N; i++) {
		assert_int_not_equal(part[i], part[0]);
		kdri_entries row = kdri_row_entries(&g.w.view, i);
		double inside = 0, outside = 0;
		for (int64_t p = 0; p < row.count; p++)
			*(row.col[p] < 2 * EACH ? &outside : &inside) += row.val[p];
		assert_true(outside > 0 && fabs(outside - inside) <= 1e-12 * inside);
	}
	kdri_graph_free(ctx, &g);
	kdr_context_free(ctx);
}

static void graph__random_rows__is_symmetric_without_loops_and_as_defined(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(4, "test", 0);
	for (int round = 0; round < 40; round++) {
		int64_t n = 1 + kdri_rng_below(&rng, 50), d = 1 + kdri_rng_below(&rng, 6);
		double *x = make_rows(&rng, n, d, round % 2), *w = calloc((size_t)(n * n), sizeof *w);
		kdr_mat m = kdr_mat_from_dense(x, n, d);
		kdri_graph_options o = { .similarity = (kdri_similarity)(round / 2 % 2),
			                 .sigma = round % 3 ? 0 : 1.5,
			                 .neighbors = kdri_rng_below(&rng, 8) };
		kdri_graph g = { 0 };
		assert_ok(ctx, kdri_graph_new(ctx, &m, &o, &g));
		double *identity = calloc((size_t)(n * n), sizeof *identity);
		for (int64_t i = 0; i < n; i++)
			identity[i * n + i] = 1;
		assert_ok(ctx, kdri_mat_mul(ctx, &g.w.view, identity, n, n, w, n));
		for (int64_t i = 0; i < n; i++)
			for (int64_t j = 0; j < n; j++) {
				bool gauss = o.similarity == KDRI_SIMILARITY_GAUSS;
				double v = nearness(x, d, i, j,
				                    gauss ? KDRI_METRIC_EUCLIDEAN : KDRI_METRIC_COSINE);
				v = gauss ? exp(-v / (2 * g.sigma * g.sigma)) : KDRI_MAX(v, 0);
				assert_true(w[i * n + j] == w[j * n + i]);
				if (i == j)
					assert_true(w[i * n + j] == 0);
				else if (w[i * n + j] != 0 || o.neighbors == 0)
					assert_near(w[i * n + j], v, 1e-12);
			}
		kdri_graph_free(ctx, &g);
		free(identity);
		free(w);
		free(x);
	}
	kdr_context_free(ctx);
}

/* --- the spectral step --------------------------------------------------------------------------------- */

/* A graph of `parts` equal rings of `size` vertices each, edges of weight 1, in an order that mixes them,
 * plus `lonely` vertices without edges. */
static sparse make_rings(int64_t parts, int64_t size, int64_t lonely)
{
	int64_t n = parts * size + lonely;
	double *w = calloc((size_t)(n * n), sizeof *w);
	for (int64_t c = 0; c < parts; c++)
		for (int64_t i = 0; i < size; i++) {
			int64_t a = i * parts + c, b = (i + 1) % size * parts + c;
			if (a != b)
				w[a * n + b] = w[b * n + a] = 1;
		}
	sparse s = make_sparse(w, n, n);
	free(w);
	return s;
}

static int compare_down(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x > y ? -1 : x < y;
}

/* The eigenvalues of S of one ring: cos(2 pi j / size), each but the first (and for even sizes the last)
 * twice. */
static void spectrum__equal_rings__every_multiple_eigenvalue_is_found(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	const double two_pi = 6.283185307179586;
	static const int64_t shapes[][3] = { { 1, 300, 0 }, { 3, 200, 0 }, { 5, 150, 4 },
		                             { 2, 10, 1 },  { 4, 3, 0 },   { 1, 2, 0 } };
	for (size_t round = 0; round < sizeof shapes / sizeof shapes[0]; round++) {
		int64_t parts = shapes[round][0], size = shapes[round][1], lonely = shapes[round][2];
		int64_t n = parts * size + lonely, k = KDRI_MIN(parts * 4, parts * size);
		double *want = calloc((size_t)(parts * size), sizeof *want);
		sparse s = make_rings(parts, size, lonely);
		kdri_spectrum found = { 0 };
		for (int64_t i = 0; i < parts * size; i++)
			want[i] = size == 2 ? (i % 2 ? -1 : 1)
			                    : cos(two_pi * (double)(i % size) / (double)size);
		qsort(want, (size_t)(parts * size), sizeof *want, compare_down);
		assert_ok(ctx, kdri_spectrum_new(ctx, &s.view, k, &found));
		assert_int_equal(found.components, parts);
		assert_int_equal(found.isolated, lonely);
		for (int64_t j = 0; j < k; j++) {
			assert_near(found.values[j], want[j], 1e-9);
			for (int64_t c = 0; c <= j; c++) {
				double inner = 0;
				for (int64_t i = 0; i < n; i++)
					inner += found.vectors[i * k + j] * found.vectors[i * k + c];
				assert_near(inner, c == j, 1e-7);
			}
		}
		kdri_spectrum_free(ctx, &found);
		free_sparse(&s);
		free(want);
	}
	kdr_context_free(ctx);
}

/* `parts` grids of side x side vertices, edges of weight 1: most eigenvalues are multiple, and far vertices are many
 * steps apart. */
static sparse make_grids(int64_t parts, int64_t side)
{
	int64_t size = side * side, n = parts * size;
	double *w = calloc((size_t)(n * n), sizeof *w);
	for (int64_t c = 0; c < parts; c++)
		for (int64_t i = 0; i < size; i++) {
			int64_t a = c * size + i;
			if (i % side + 1 < side)
				w[a * n + a + 1] = w[(a + 1) * n + a] = 1;
			if (i + side < size)
				w[a * n + a + side] = w[(a + side) * n + a] = 1;
		}
	sparse s = make_sparse(w, n, n);
	free(w);
	return s;
}

/* Large enough for several levels; every eigenvalue as LAPACK has it, and the same bits on any number of threads. */
static void spectrum__large_grids__as_dense(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	static const int64_t shapes[][3] = { { 1, 30, 8 }, { 2, 24, 7 }, { 1, 23, 1 }, { 2, 24, 2 } };
	for (size_t round = 0; round < sizeof shapes / sizeof shapes[0]; round++) {
		int64_t parts = shapes[round][0], side = shapes[round][1], k = shapes[round][2];
		int64_t n = parts * side * side;
		sparse s = make_grids(parts, side);
		double *dense = calloc((size_t)(n * n), sizeof *dense), *all = calloc((size_t)n, sizeof *all);
		const kdr_csr *g = &s.view.as.csr;
		for (int64_t i = 0; i < n; i++)
			for (int64_t p = g->rowptr[i]; p < g->rowptr[i + 1]; p++) {
				int64_t j = g->col[p];
				double di = (double)(g->rowptr[i + 1] - g->rowptr[i]),
				       dj = (double)(g->rowptr[j + 1] - g->rowptr[j]);
				dense[i * n + j] = 1 / sqrt(di * dj);
			}
		double *copy = malloc((size_t)(n * n) * sizeof *copy);
		memcpy(copy, dense, (size_t)(n * n) * sizeof *copy);
		assert_ok(ctx, kdri_eigh(ctx, n, copy, n, all));
		kdri_spectrum found = { 0 }, again = { 0 };
		kdr_context_set_threads(ctx, 1);
		assert_ok(ctx, kdri_spectrum_new(ctx, &s.view, k, &found));
		kdr_context_set_threads(ctx, 3);
		assert_ok(ctx, kdri_spectrum_new(ctx, &s.view, k, &again));
		assert_memory_equal(found.vectors, again.vectors, (size_t)(n * k) * sizeof *found.vectors);
		for (int64_t j = 0; j < k; j++) {
			double rest = 0;
			assert_near(found.values[j], all[n - 1 - j], 1e-8);
			for (int64_t i = 0; i < n; i++) {
				double r = -found.values[j] * found.vectors[i * k + j];
				for (int64_t c = 0; c < n; c++)
					r += dense[i * n + c] * found.vectors[c * k + j];
				rest += r * r;
			}
			assert_true(sqrt(rest) < 1e-4);
		}
		kdri_spectrum_free(ctx, &found);
		kdri_spectrum_free(ctx, &again);
		free_sparse(&s);
		free(dense);
		free(copy);
		free(all);
	}
	kdr_context_free(ctx);
}

/* A cycle takes away most of the error, however large the graph; rows of M may have more than their edges. */
static void levels__grids_of_any_size__residual_falls_alike(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	for (int64_t side = 10; side <= 70; side += 30) {
		int64_t n = side * side, k = 3;
		kdri_rng rng = kdri_rng_stream(3, "levels", (uint64_t)side);
		sparse s = make_grids(1, side);
		const kdr_csr *g = &s.view.as.csr;
		kdri_levels *levels = NULL;
		double *degree = calloc((size_t)n, sizeof *degree), *b = calloc((size_t)(n * k), sizeof *b),
		       *x = calloc((size_t)(n * k), sizeof *x), *y = calloc((size_t)(n * k), sizeof *y),
		       first = 0, last = 0;
		for (int64_t i = 0; i < n; i++)
			degree[i] = (double)(g->rowptr[i + 1] - g->rowptr[i]) + (i % 7 == 0 ? 0.01 : 0);
		for (int64_t i = 0; i < n * k; i++) {
			b[i] = kdri_rng_normal(&rng);
			first += b[i] * b[i];
		}
		assert_ok(ctx, kdri_levels_new(ctx, g, degree, 2, &levels)); /* narrower than the block */
		for (int cycle = 0; cycle < 10; cycle++) {
			assert_ok(ctx, kdri_levels_solve(ctx, levels, b, k, k, y, k));
			assert_ok(ctx, kdri_mat_mul(ctx, &s.view, y, k, k, x, k));
			for (int64_t i = 0; i < n * k; i++)
				b[i] -= degree[i / k] * y[i] - x[i];
		}
		for (int64_t i = 0; i < n * k; i++)
			last += b[i] * b[i];
		assert_true(sqrt(last / first) < 0.05);
		kdri_levels_free(ctx, levels);
		free_sparse(&s);
		free(degree);
		free(b);
		free(x);
		free(y);
	}
	kdr_context_free(ctx);
}

static void spectral__separate_parts__are_the_clusters(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	for (int rounding = 0; rounding < 2; rounding++)
		for (int64_t parts = 1; parts < 7; parts++) {
			int64_t lonely = parts % 3, n = parts * 25 + lonely;
			sparse s = make_rings(parts, 25, lonely);
			kdri_spectral_options o = kdri_spectral_defaults(parts);
			kdri_spectral_result r = { 0 };
			o.rounding = (kdri_rounding)rounding;
			assert_ok(ctx, kdri_spectral(ctx, &s.view, &o, &r));
			assert_near(r.ncut, 0, 1e-12);
			assert_int_equal(r.unreached, lonely);
			assert_int_equal(r.nonempty, parts);
			for (int64_t i = 0; i < parts * 25; i++)
				assert_int_equal(r.labels[i], r.labels[i % parts]);
			for (int64_t i = 0; i < n; i++)
				assert_true(r.labels[i] >= 0 && r.labels[i] < parts);
			kdri_spectral_free(ctx, &r);
			free_sparse(&s);
		}
	kdr_context_free(ctx);
}

/* Why labels of auto can differ between processors if there are nearly as many clusters as samples, as in coil20 with 25 samples per data
 * set: mtcfir's graph then joins each sample to one or two others, and eigenvalue k equals eigenvalue k + 1 (0, or -1). Which of their
 * vectors are found, and with them which samples are joined, is a matter of the last digit: several partitions are equally good. */
static void spectral__eigenvalue_k_equals_the_next__partitions_are_equally_good(void **state)
{
	(void)state;
	enum { PARTS = 3, SIZE = 4, ALL = PARTS * SIZE, CLUSTERS = 5 };
	kdr_context *ctx = unit_context();
	sparse s = make_rings(PARTS, SIZE, 0);
	kdri_spectral_options o = kdri_spectral_defaults(CLUSTERS + 1);
	kdri_spectral_result r = { 0 };
	int64_t turned[ALL];
	double ncut;
	bool same = true;
	assert_ok(ctx, kdri_spectral(ctx, &s.view, &o, &r));
	assert_near(r.values[CLUSTERS - 1], r.values[CLUSTERS], 1e-12);
	kdri_spectral_free(ctx, &r);
	o = kdri_spectral_defaults(CLUSTERS);
	assert_ok(ctx, kdri_spectral(ctx, &s.view, &o, &r));
	for (int64_t i = 0; i < ALL; i++) /* each ring turned by one */
		turned[i] = r.labels[(i + PARTS) % ALL];
	for (int64_t i = 0; i < ALL; i++)
		for (int64_t j = 0; j < i; j++)
			same = same && (turned[i] == turned[j]) == (r.labels[i] == r.labels[j]);
	assert_false(same);
	assert_ok(ctx, kdri_ncut_value(ctx, &s.view, turned, CLUSTERS, &ncut));
	assert_near(ncut, r.ncut, 1e-12);
	kdri_spectral_free(ctx, &r);
	free_sparse(&s);
	kdr_context_free(ctx);
}

static void spectral__degenerate_graphs__every_label_is_valid(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	/* parts, size, lonely, k: more parts than k; k = n; nothing but lonely vertices; fewer vertices with
	 * edges than k; one vertex. */
	static const int64_t shapes[][4] = { { 9, 3, 0, 4 }, { 2, 3, 0, 6 }, { 0, 0, 5, 3 }, { 0, 0, 4, 4 },
		                             { 1, 2, 6, 5 }, { 0, 0, 1, 1 }, { 1, 3, 2, 5 } };
	for (size_t round = 0; round < sizeof shapes / sizeof shapes[0]; round++)
		for (int rounding = 0; rounding < 2; rounding++) {
			int64_t n = shapes[round][0] * shapes[round][1] + shapes[round][2],
			        k = shapes[round][3];
			sparse s = make_rings(shapes[round][0], shapes[round][1], shapes[round][2]);
			kdri_spectral_options o = kdri_spectral_defaults(k);
			kdri_spectral_result r = { 0 };
			int64_t sizes[16] = { 0 }, nonempty = 0;
			o.rounding = (kdri_rounding)rounding;
			assert_ok(ctx, kdri_spectral(ctx, &s.view, &o, &r));
			for (int64_t i = 0; i < n; i++) {
				assert_true(r.labels[i] >= 0 && r.labels[i] < k);
				sizes[r.labels[i]]++;
			}
			for (int64_t c = 0; c < k; c++)
				nonempty += sizes[c] > 0;
			assert_int_equal(nonempty, r.nonempty);
			if (rounding == 0)
				assert_int_equal(nonempty, k);
			kdri_spectral_free(ctx, &r);
			free_sparse(&s);
		}
	kdr_context_free(ctx);
}

static void spectral__wrong_k__is_an_error(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	sparse s = make_rings(1, 4, 0);
	kdri_spectral_options o = kdri_spectral_defaults(5);
	kdri_spectral_result r = { 0 };
	assert_int_equal(kdri_spectral(ctx, &s.view, &o, &r), KDR_ERR_ARGUMENT);
	assert_null(r.labels);
	free_sparse(&s);
	kdr_context_free(ctx);
}

/* Every list has the nearest of the rows drawn, none of them the row itself, whatever the threads. */
static void some__rows_drawn__are_searched_exactly(void **state)
{
	(void)state;
	enum { ROWS = 700, WIDE = 6, NEAR = 5, SOME = 150 };
	static double x[ROWS * WIDE];
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(1, "some", 0);
	for (int64_t i = 0; i < ROWS * WIDE; i++)
		x[i] = kdri_rng_normal(&rng);
	const kdr_mat m = kdr_mat_from_dense(x, ROWS, WIDE);
	kdri_landmarks l = { .rows.view = kdr_mat_from_dense(NULL, 0, 0) };
	assert_ok(ctx, kdri_landmarks_new(ctx, &m, NULL, 1, SOME, 0, &l));
	for (int metric = 0; metric < 2; metric++) {
		kdri_knn one = { 0 }, many = { 0 };
		kdr_context_set_threads(ctx, 1);
		assert_ok(ctx, kdri_knn_find_some(ctx, &m, NEAR, SOME, (kdri_metric)metric, NULL, &one));
		kdr_context_set_threads(ctx, 3);
		assert_ok(ctx, kdri_knn_find_some(ctx, &m, NEAR, SOME, (kdri_metric)metric, NULL, &many));
		assert_memory_equal(one.index, many.index, sizeof *one.index * ROWS * NEAR);
		assert_memory_equal(one.value, many.value, sizeof *one.value * ROWS * NEAR);
		for (int64_t i = 0; i < ROWS; i++) {
			const double *a = x + i * WIDE, last = one.value[i * NEAR + NEAR - 1];
			int64_t nearer = 0;
			for (int64_t c = 0; c < SOME; c++) {
				const double *b = x + l.number[c] * WIDE;
				const double squares = kdri_nrm2sq(a, WIDE), theirs = kdri_nrm2sq(b, WIDE),
				             product = kdri_dot(a, b, WIDE);
				nearer += l.number[c] != i &&
				          (metric == KDRI_METRIC_COSINE
				                   ? product / sqrt(squares * theirs) > last + 1e-12
				                   : squares + theirs - 2 * product < last - 1e-9);
			}
			assert_int_equal(nearer, NEAR - 1);
			for (int64_t p = 0; p < NEAR; p++)
				assert_int_not_equal(one.index[i * NEAR + p], i);
		}
		kdri_knn_free(ctx, &one);
		kdri_knn_free(ctx, &many);
	}
	kdri_landmarks_free(ctx, &l);
	kdr_context_free(ctx);
}

static void some__all_rows__are_the_exact_neighbours(void **state)
{
	(void)state;
	enum { ROWS = 200, WIDE = 20, NEAR = 7 };
	static double x[ROWS * WIDE], mean[WIDE];
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(2, "some", 0);
	for (int64_t i = 0; i < ROWS * WIDE; i++)
		x[i] = 1 + kdri_rng_normal(&rng);
	for (int64_t j = 0; j < WIDE; j++)
		mean[j] = 1;
	const kdr_mat m = kdr_mat_from_dense(x, ROWS, WIDE);
	kdri_knn_shift shift = { 0 };
	kdri_knn some = { 0 }, all = { 0 };
	assert_ok(ctx, kdri_knn_shift_new(ctx, &m, mean, &shift));
	assert_ok(ctx, kdri_knn_find_some(ctx, &m, NEAR, ROWS, KDRI_METRIC_COSINE, &shift, &some));
	assert_ok(ctx, kdri_knn_find(ctx, &m, NEAR, KDRI_METRIC_COSINE, &shift, &all));
	assert_memory_equal(some.index, all.index, sizeof *all.index * ROWS * NEAR);
	assert_memory_equal(some.value, all.value, sizeof *all.value * ROWS * NEAR);
	kdri_knn_free(ctx, &some);
	kdri_knn_free(ctx, &all);
	kdri_knn_shift_free(ctx, &shift);
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knn__random_rows__are_the_nearest_with_ties_to_the_lower_index),
		cmocka_unit_test(knn__one_thread_and_three__same_bits),
		cmocka_unit_test(knn__scores_closer_than_floats__are_ranked_exactly),
		cmocka_unit_test(knn__many_products__ask_often_whether_to_stop),
		cmocka_unit_test(knn__tree_of_boxes__finds_what_all_products_find),
		cmocka_unit_test(knn__tree_of_boxes__pays_for_many_rows_of_few_columns),
		cmocka_unit_test(knn__too_many_neighbours__is_an_error),
		cmocka_unit_test(knn__equal_rows__are_searched_as_one),
		cmocka_unit_test(graph__tiny_component__is_joined_to_the_nearest),
		cmocka_unit_test(graph__random_rows__is_symmetric_without_loops_and_as_defined),
		cmocka_unit_test(spectrum__equal_rings__every_multiple_eigenvalue_is_found),
		cmocka_unit_test(spectrum__large_grids__as_dense),
		cmocka_unit_test(levels__grids_of_any_size__residual_falls_alike),
		cmocka_unit_test(spectral__separate_parts__are_the_clusters),
		cmocka_unit_test(spectral__eigenvalue_k_equals_the_next__partitions_are_equally_good),
		cmocka_unit_test(spectral__degenerate_graphs__every_label_is_valid),
		cmocka_unit_test(spectral__wrong_k__is_an_error),
		cmocka_unit_test(some__rows_drawn__are_searched_exactly),
		cmocka_unit_test(some__all_rows__are_the_exact_neighbours),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
