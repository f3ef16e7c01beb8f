/* The parts of auto: votes, members, neighbours, counterparts, nearness, k. SPDX-License-Identifier: BSD-3-Clause */
#include "jobs/relate/relate.h"
#include "tests/unit/unit.h"

#include "engine/ensemble/members.h"
#include "engine/ensemble/poll.h"
#include "engine/ensemble/probability_right.h"
#include "engine/ensemble/vote.h"
#include "engine/graph/knn.h"
#include "engine/graph/similarity.h"
#include "jobs/job.h"

/* Directions: cluster c of k has large entries in columns c * d / k and on. Unit clusters are far apart. */
static double *make_blobs(kdri_rng *rng, int64_t n, int64_t d, int64_t k, double noise)
{
	double *x = calloc((size_t)(n * d), sizeof *x);
	for (int64_t i = 0; i < n; i++)
		for (int64_t t = 0; t < d; t++)
			x[i * d + t] = (t * k / d == i % k ? 1 : 0) + noise * kdri_rng_normal(rng);
	return x;
}

static kdri_own graph_of(kdr_context *ctx, const double *x, int64_t n, int64_t d, int64_t k)
{
	kdr_mat m = kdr_mat_from_dense(x, n, d);
	kdri_graph graph;
	kdri_graph_options o = { .similarity = KDRI_SIMILARITY_COSINE, .neighbors = k };
	assert_ok(ctx, kdri_graph_new(ctx, &m, &o, &graph));
	return graph.w;
}

static kdri_ballot random_ballot(kdr_context *ctx, kdri_rng *rng, int64_t n, int64_t count)
{
	kdri_ballot b = { 0 };
	assert_ok(ctx, kdri_ballot_new(ctx, n, count, &b));
	for (int64_t m = 0; m < count; m++) {
		int64_t k = 1 + kdri_rng_below(rng, 5);
		b.weight[m] = 1 + (double)kdri_rng_below(rng, 3);
		b.transfer[m] = m % 2 == 1;
		for (int64_t i = 0; i < n; i++)
			b.label[i * count + m] = (int32_t)kdri_rng_below(rng, k);
	}
	return b;
}

/* --- votes ------------------------------------------------------------------------------------------------- */

static void edges__random_partitions__equal_the_dense_definition(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	for (int64_t round = 0; round < 30; round++) {
		kdri_rng rng = kdri_rng_stream(5, "edges", (uint64_t)round);
		int64_t n = 2 + kdri_rng_below(&rng, 60), count = 1 + kdri_rng_below(&rng, 8);
		double *x = make_blobs(&rng, n, 6, 2, 0.5);
		kdri_own w = graph_of(ctx, x, n, 6, KDRI_MIN(5, n - 1));
		kdri_ballot b = random_ballot(ctx, &rng, n, count);
		const kdr_csr *g = &w.view.as.csr;
		double *co = calloc((size_t)g->rowptr[n] + 1, sizeof *co);
		for (int single = 0; single < 2; single++) {
			kdri_ballot_edges(ctx, &b, g, b.label, single, co);
			for (int64_t i = 0; i < n; i++)
				for (int64_t p = g->rowptr[i]; p < g->rowptr[i + 1]; p++) {
					double sum = 0, total = 0;
					for (int64_t m = 0; m < count; m++) {
						if (single && b.transfer[m])
							continue;
						total += b.weight[m];
						if (b.label[i * count + m] == b.label[g->col[p] * count + m])
							sum += b.weight[m];
					}
					assert_near(co[p], total > 0 ? sum / total : 0, 1e-15);
				}
		}
		free(co);
		free(x);
		kdri_own_free(ctx, &w);
		kdri_ballot_free(ctx, &b);
	}
	kdr_context_free(ctx);
}

/* Fills partition m with the labels i % k. */
static void put_truth(kdri_ballot *b, int64_t m, int64_t k)
{
	b->weight[m] = 1;
	for (int64_t i = 0; i < b->n; i++)
		b->label[i * b->count + m] = (int32_t)(i % k);
}

static double nmi_with_truth(kdr_context *ctx, const int64_t *labels, int64_t n, int64_t k)
{
	kdr_scores s;
	int64_t *truth = calloc((size_t)n, sizeof *truth);
	for (int64_t i = 0; i < n; i++)
		truth[i] = i % k;
	assert_ok(ctx, kdr_evaluate(ctx, labels, truth, n, &s));
	free(truth);
	return s.nmi;
}

static void verdict__members_all_equal__is_theirs(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	for (int64_t round = 0; round < 5; round++) {
		kdri_rng rng = kdri_rng_stream(6, "equal", (uint64_t)round);
		int64_t n = 90, k = 3;
		/* So much noise that the graph alone does not give the clusters away. */
		double *x = make_blobs(&rng, n, 9, k, 0.6);
		kdri_own w = graph_of(ctx, x, n, 9, 10);
		kdri_ballot b = { 0 };
		kdri_verdict v = { 0 };
		kdri_verdict_options o = { .k = k, .n_init = 10, .max_iter = 300 };
		assert_ok(ctx, kdri_ballot_new(ctx, n, 7, &b));
		for (int64_t m = 0; m < 7; m++)
			put_truth(&b, m, k);
		assert_ok(ctx, kdri_verdict_new(ctx, &b, &w.view, &o, &v));
		assert_near(nmi_with_truth(ctx, v.labels, n, k), 1, 1e-12);
		for (int64_t i = 0; i < n; i++)
			assert_near(v.agreement[i], 1, 1e-12);
		kdri_verdict_free(ctx, &v);
		kdri_ballot_free(ctx, &b);
		kdri_own_free(ctx, &w);
		free(x);
	}
	kdr_context_free(ctx);
}

static void verdict__degenerate_members__do_no_harm(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(7, "degenerate", 0);
	int64_t n = 90, k = 3;
	double *x = make_blobs(&rng, n, 9, k, 0.3);
	kdri_own w = graph_of(ctx, x, n, 9, 10);
	/* Kinds of partitions: 0 truth, 1 one cluster, 2 singletons. Even nobody but the degenerate. */
	static const int kinds[][6] = { { 0, 0, 1, 1, 1, 1 }, { 0, 0, 2, 2, 2, 2 }, { 1, 2, 1, 2, 1, 2 } };
	for (int c = 0; c < 3; c++) {
		kdri_ballot b = { 0 };
		kdri_verdict v = { 0 };
		kdri_verdict_options o = { .k = k, .n_init = 10, .max_iter = 300 };
		assert_ok(ctx, kdri_ballot_new(ctx, n, 6, &b));
		for (int64_t m = 0; m < 6; m++) {
			put_truth(&b, m, k);
			for (int64_t i = 0; i < n && kinds[c][m]; i++)
				b.label[i * 6 + m] = kinds[c][m] == 1 ? 0 : (int32_t)i;
		}
		assert_ok(ctx, kdri_verdict_new(ctx, &b, &w.view, &o, &v));
		assert_near(nmi_with_truth(ctx, v.labels, n, k), 1, 1e-12);
		kdri_verdict_free(ctx, &v);
		kdri_ballot_free(ctx, &b);
	}
	kdri_own_free(ctx, &w);
	free(x);
	kdr_context_free(ctx);
}

static void guard__one_sample_moved__is_found(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(8, "guard", 0);
	int64_t n = 60, k = 3, *moved = calloc((size_t)n, sizeof *moved);
	double *x = make_blobs(&rng, n, 9, k, 0.2);
	kdri_own w = graph_of(ctx, x, n, 9, 8);
	kdri_ballot b = { 0 };
	kdri_verdict_options o = { .k = k, .n_init = 10, .max_iter = 300 };
	kdri_verdict answer = { 0 }, single = { 0 };
	kdri_guard g;
	char text[256];
	assert_ok(ctx, kdri_ballot_new(ctx, n, 2, &b));
	put_truth(&b, 0, k);
	put_truth(&b, 1, k);
	b.transfer[1] = true;
	assert_ok(ctx, kdri_verdict_new(ctx, &b, &w.view, &o, &answer));
	assert_ok(ctx, kdri_verdict_new(ctx, &b, &w.view, &o, &single));
	/* The same clusters under other numbers are no move. */
	for (int64_t i = 0; i < n; i++)
		single.labels[i] = (single.labels[i] + 1) % k;
	assert_ok(ctx, kdri_guard_new(ctx, &b, &answer, &single, k, moved, NULL, &g));
	assert_int_equal(g.moved, 0);
	assert_near(g.with_alone, 1, 1e-12);
	g.compared = true;
	g.carried = false;
	kdri_guard_advice(&g, n, k, "a", text, sizeof text);
	assert_string_equal(text,
	                    "a: less than 1 % of the samples are in another cluster than in a run alone");
	assert_true(kdri_guard_noise(&g, 100, k));
	assert_false(kdri_guard_noise(&g, 99, k));
	single.labels[7] = (single.labels[7] + 1) % k;
	assert_ok(ctx, kdri_guard_new(ctx, &b, &answer, &single, k, moved, NULL, &g));
	assert_int_equal(g.moved, 1);
	assert_int_equal(moved[7], 1);
	g.compared = true;
	g.beyond_noise = 10;
	kdri_guard_advice(&g, n, k, "a", text, sizeof text);
	assert_string_equal(text, "a: 1 of 60 samples are in another cluster than in a run alone");
	g.transfer = false;
	kdri_guard_advice(&g, n, k, "a", text, sizeof text);
	assert_non_null(strstr(text, "the methods agree"));
	free(moved);
	free(x);
	kdri_own_free(ctx, &w);
	kdri_ballot_free(ctx, &b);
	kdri_verdict_free(ctx, &answer);
	kdri_verdict_free(ctx, &single);
	kdr_context_free(ctx);
}

/* Noise is distinguished from noise only by chance, one time in 200; clusters are always distinguished. */
static void beyond_noise__noise_and_clusters__are_told_apart(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	enum { N = 400, ROUNDS = 20 };
	double *y = calloc(N * 6, sizeof *y), beyond;
	int wrong = 0;
	for (int round = 0; round < unit_turns(ROUNDS); round++) {
		kdri_rng rng = kdri_rng_stream(5, "noise test", (uint64_t)round);
		int64_t d = 2 + round % 5, k = 2 + round % 4;
		bool unit = round % 2;
		for (int clusters = 0; clusters < 2; clusters++) {
			double spread[6] = { 0 };
			for (int64_t i = 0; i < N; i++) {
				for (int64_t j = 0; j < d; j++) {
					y[i * d + j] = kdri_rng_normal(&rng) * (double)(d - j) +
					               (clusters ? (i % 2 ? 4 : -4) * (double)(d - j) : 0);
					spread[j] += y[i * d + j] * y[i * d + j] / N;
				}
				double length = unit ? sqrt(kdri_nrm2sq(y + i * d, d)) : 1;
				for (int64_t j = 0; j < d; j++)
					y[i * d + j] /= length;
			}
			for (int64_t j = 0; j < d; j++)
				spread[j] = sqrt(spread[j]);
			kdr_mat m = kdr_mat_from_dense(y, N, d);
			assert_ok(ctx, kdri_beyond_noise(ctx, &m.as.dense, spread, unit, clusters ? 2 : k,
			                                 &beyond));
			wrong += (beyond > 2.9) != clusters;
		}
	}
	assert_true(wrong <= 1);
	free(y);
	kdr_context_free(ctx);
}

/* --- members ----------------------------------------------------------------------------------------------- */

static void members__some_fail_or_are_too_large__are_left_out_with_a_word(void **state)
{
	(void)state;
	static const kdri_setting twice[] = { { .name = "n_init", .value = 2 }, { 0 } },
	                          given[] = { { .name = "similarity", .choice = "precomputed" }, { 0 } };
	static const kdri_member table[] = {
		{ .name = "good", .method = "kmeans", .settings = twice },
		{ .name = "unknown", .method = "nope" },
		/* Rows are no square matrix. */
		{ .name = "failing", .method = "ncut", .settings = given },
		{ .name = "large", .method = "kmeans", .most = 10 },
	};
	for (int threads = 1; threads <= 3; threads += 2) {
		kdr_context *ctx = unit_context();
		kdri_rng rng = kdri_rng_stream(9, "members", 0);
		double *x = make_blobs(&rng, 60, 90, 3, 0.2);
		kdr_task task = { .name = "a", .x = kdr_mat_from_dense(x, 60, 90), .k = 3 };
		kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = &task, .ntasks = 1 };
		kdri_views_options vo = { .neighbors = 5, .searched = 5 };
		kdri_views v = { 0 };
		kdri_ballot b = { 0 };
		kdr_result *result = NULL;
		bool late = true;
		kdr_context_set_threads(ctx, threads);
		assert_ok(ctx, kdri_result_new(ctx, kdr_algo_find("auto"), &problem, &result));
		assert_ok(ctx, kdri_views_new(ctx, &problem, &vo, &v));
		kdri_members_options o = { .table = table, .count = 4, .seeds = 3, .k = (int64_t[]){ 3 } };
		assert_ok(ctx, kdri_members_run(ctx, &problem, &v, &o, &b, result, &late));
		assert_false(late);
		assert_int_equal(b.count, 3); /* the good one, three seeds */
		assert_int_equal(kdr_result_warning_count(result), 3);
		assert_non_null(strstr(kdr_result_warning_at(result, 0), "there is no method 'nope'"));
		assert_non_null(strstr(kdr_result_warning_at(result, 1), "square matrix"));
		assert_non_null(strstr(kdr_result_warning_at(result, 2), "above 10 samples"));
		kdri_ballot_free(ctx, &b);
		kdri_views_free(ctx, &v);
		kdr_result_free(result);
		free(x);
		kdr_context_free(ctx);
	}
}

/* Runs of all seeds in one fit have the votes that they have one by one. */
static void members__in_step__votes_are_those_of_one_by_one(void **state)
{
	(void)state;
	enum { ROWS = 60, COLS = 90, SEEDS = 3 };
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(9, "members", 1);
	double *x = make_blobs(&rng, ROWS, COLS, 3, 0.8);
	kdr_task task = { .name = "a", .x = kdr_mat_from_dense(x, ROWS, COLS), .k = 3 };
	kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = &task, .ntasks = 1 };
	kdri_views_options vo = { .neighbors = 5, .searched = 5 };
	kdri_views v = { 0 };
	kdri_ballot b[2] = { { 0 }, { 0 } };
	assert_ok(ctx, kdri_views_new(ctx, &problem, &vo, &v));
	for (int in_step = 0; in_step < 2; in_step++) {
		const kdri_member table[] = {
			{ .name = "first",
			  .method = "kmeans",
			  .settings = (const kdri_setting[]){ { .name = "n_init", .value = 1 }, { 0 } } },
			{ .name = "second",
			  .method = "snmf",
			  .settings = (const kdri_setting[]){ { .name = "max_iter", .value = 20 }, { 0 } },
			  .started = true,
			  .in_step = in_step,
			  .most = 1000 },
		};
		kdr_result *result = NULL;
		bool late = true;
		kdri_members_options o = {
			.table = table, .count = 2, .seeds = SEEDS, .k = (int64_t[]){ 3 }
		};
		assert_ok(ctx, kdri_result_new(ctx, kdr_algo_find("auto"), &problem, &result));
		assert_ok(ctx, kdri_members_run(ctx, &problem, &v, &o, &b[in_step], result, &late));
		assert_false(late);
		assert_int_equal(kdr_result_warning_count(result), 0);
		assert_int_equal(b[in_step].count, 2 * SEEDS);
		assert_int_equal(b[in_step].requested, 2 * SEEDS);
		kdr_result_free(result);
	}
	assert_memory_equal(b[0].label, b[1].label, ROWS * 2 * SEEDS * sizeof *b[0].label);
	assert_memory_equal(b[0].member, b[1].member, 2 * SEEDS * sizeof *b[0].member);
	for (int i = 0; i < 2; i++)
		kdri_ballot_free(ctx, &b[i]);
	kdri_views_free(ctx, &v);
	free(x);
	kdr_context_free(ctx);
}

/* --- what samples are joined to ----------------------------------------------------------------------------- */

/* All of the large task's samples have a word in common: too many pairs to look at. The small one is as it would be alone. */
static void views__a_task_too_large_for_an_exact_search__is_joined_to_landmarks(void **state)
{
	(void)state;
	enum { LARGE = 240000, SMALL = 200, WORDS = 100, EACH = 2, MARKS = 40 };
	kdr_context *ctx = unit_context();
	int64_t *rowptr = calloc(LARGE + 1, sizeof *rowptr);
	int32_t *col = calloc((size_t)LARGE * EACH, sizeof *col);
	double *val = calloc((size_t)LARGE * EACH, sizeof *val);
	kdri_rng rng = kdri_rng_stream(21, "joins", 0);
	for (int64_t i = 0; i < LARGE; i++) {
		rowptr[i + 1] = EACH * (i + 1);
		col[EACH * i + 1] = (int32_t)(1 + kdri_rng_below(&rng, WORDS - 1));
		val[EACH * i] = 1 + kdri_rng_uniform(&rng);
		val[EACH * i + 1] = 1 + kdri_rng_uniform(&rng);
	}
	kdr_task tasks[] = { { .x = kdr_mat_from_csr(LARGE, WORDS, rowptr, col, val), .k = 2 },
		             { .x = kdr_mat_from_csr(SMALL, WORDS, rowptr, col, val), .k = 2 } };
	kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = tasks, .ntasks = 2 };
	kdri_views_options o = {
		.neighbors = 5, .searched = 5, .landmarks = MARKS, .if_many = true, .by_itself = true
	};
	kdri_views v = { 0 };
	assert_ok(ctx, kdri_views_new(ctx, &problem, &o, &v));
	assert_true(v.tasks[0].joined);
	assert_int_equal(kdr_mat_cols(kdri_views_vote(&v, 0)), MARKS);
	assert_false(v.tasks[1].joined);
	assert_int_equal(kdr_mat_cols(kdri_views_vote(&v, 1)), SMALL);
	kdri_views_free(ctx, &v);
	free(rowptr);
	free(col);
	free(val);
	kdr_context_free(ctx);
}

/* --- neighbours --------------------------------------------------------------------------------------------- */

static void shifted__dense_and_sparse__equal_rows_with_the_mean_taken_away(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	for (int64_t round = 0; round < 20; round++) {
		kdri_rng rng = kdri_rng_stream(10, "shifted", (uint64_t)round);
		int64_t n = 3 + kdri_rng_below(&rng, 80), d = 2 + kdri_rng_below(&rng, 12);
		int64_t k = KDRI_MIN(4, n - 1);
		double *x = make_blobs(&rng, n, d, 2, 0.7), *y = calloc((size_t)(n * d), sizeof *y);
		double *mean = calloc((size_t)d, sizeof *mean);
		for (int64_t p = 0; p < n * d; p++) {
			x[p] = x[p] > 0.3 ? x[p] : 0; /* sparse data are not negative */
			mean[p % d] += x[p] / (double)n;
		}
		for (int64_t p = 0; p < n * d; p++)
			y[p] = x[p] - mean[p % d];
		kdr_mat plain = kdr_mat_from_dense(x, n, d), centred = kdr_mat_from_dense(y, n, d);
		int64_t *rowptr = calloc((size_t)n + 1, sizeof *rowptr), at = 0;
		int32_t *col = calloc((size_t)(n * d), sizeof *col);
		double *val = calloc((size_t)(n * d), sizeof *val);
		for (int64_t p = 0; p < n * d; p++) {
			if (x[p] != 0) {
				col[at] = (int32_t)(p % d);
				val[at++] = x[p];
			}
			rowptr[p / d + 1] = at;
		}
		kdr_mat sparse = kdr_mat_from_csr(n, d, rowptr, col, val);
		kdri_knn a = { 0 }, b = { 0 }, c = { 0 };
		kdri_knn_shift shift = { 0 };
		assert_ok(ctx, kdri_knn_shift_new(ctx, &plain, mean, &shift));
		assert_ok(ctx, kdri_knn_find(ctx, &plain, k, KDRI_METRIC_COSINE, &shift, &a));
		assert_ok(ctx, kdri_knn_find(ctx, &sparse, k, KDRI_METRIC_COSINE, &shift, &c));
		assert_ok(ctx, kdri_knn_find(ctx, &centred, k, KDRI_METRIC_COSINE, NULL, &b));
		for (int64_t p = 0; p < n * k; p++) {
			assert_near(a.value[p], b.value[p], 1e-9);
			assert_near(c.value[p], b.value[p], 1e-9);
		}
		free(rowptr);
		free(col);
		free(val);
		kdri_knn_free(ctx, &c);
		kdri_knn_free(ctx, &a);
		kdri_knn_free(ctx, &b);
		kdri_knn_shift_free(ctx, &shift);
		free(x);
		free(y);
		free(mean);
	}
	kdr_context_free(ctx);
}

static void precomputed__no_graph__is_an_error_with_a_reason(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	static const double bad[][4] = { { 0, 1, 2, 0 }, { 0, -1, -1, 0 }, { 1, 0, 0, 0 } };
	kdri_graph_options o = { .similarity = KDRI_SIMILARITY_PRECOMPUTED };
	kdri_graph g;
	for (int i = 0; i < 3; i++) {
		kdr_mat m = kdr_mat_from_dense(bad[i], 2, 2);
		assert_int_equal(kdri_graph_new(ctx, &m, &o, &g), KDR_ERR_DATA);
		assert_non_null(strstr(kdr_context_error(ctx), "symmetric"));
	}
	kdr_mat wide = kdr_mat_from_dense(bad[0], 1, 4);
	assert_int_equal(kdri_graph_new(ctx, &wide, &o, &g), KDR_ERR_DATA);
	assert_non_null(strstr(kdr_context_error(ctx), "1 x 4"));
	kdr_context_free(ctx);
}

/* --- between tasks -------------------------------------------------------------------------------------------- */

static void counterparts__clusters_in_another_order__are_found(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	static const double a[] = { 4, 0, 0, 0, 4, 0, 0, 0, 4 }, b[] = { 0, 0, 9, 9, 0, 0, 0, 9, 0 };
	static const double mean_a[] = { 4 / 3.0, 4 / 3.0, 4 / 3.0 }, mean_b[] = { 3, 3, 3 };
	static const int64_t sizes[] = { 5, 5, 5 };
	kdri_clusters from = { 3, 3, a, mean_a, sizes, NULL }, to = { 3, 3, b, mean_b, sizes, NULL };
	double flow[9], quality[3];
	assert_ok(ctx, kdri_counterparts(ctx, &from, &to, flow, quality));
	static const int64_t match[] = { 1, 2, 0 };
	for (int64_t z = 0; z < 3; z++) {
		assert_near(flow[z * 3 + match[z]], 1 / 3.0, 1e-12);
		assert_near(quality[z], kdri_match_right(1, 3, 3), 1e-12);
	}
	kdr_context_free(ctx);
}

/* What sets the second cluster apart has nothing to do with anything on the other side. */
static void counterparts__nothing_alike__is_none(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	const double a[] = { 1, 0, 0, 0, 0, 1, 0, 0 }, b[] = { 1, 0, 0, 0, 0, 0, 0, 1 }, mean[4] = { 0 };
	const int64_t sizes[] = { 5, 5 };
	const kdri_clusters from = { 2, 4, a, mean, sizes, NULL }, to = { 2, 4, b, mean, sizes, NULL };
	double flow[4], quality[2];
	assert_ok(ctx, kdri_counterparts(ctx, &from, &to, flow, quality));
	assert_near(quality[0], kdri_match_right(1, 2, 4), 1e-12);
	assert_near(flow[0], 0.5, 1e-12);
	assert_near(quality[1], kdri_match_right(0, 2, 4), 1e-12);
	assert_near(flow[2], 0, 0);
	assert_near(flow[3], 0, 0);
	kdr_context_free(ctx);
}

static void probability_right__more_agreement__is_more(void **state)
{
	(void)state;
	assert_near(kdri_probability_right(0.2, 0.2, 1), 1, 0);
	for (int64_t k = 2; k < 20; k++)
		for (int i = 0; i <= 10; i++) {
			const double a = i / 10.0, p = kdri_probability_right(a, 0.8, k);
			assert_true(p > 0 && p < 1);
			assert_true(i == 0 || p > kdri_probability_right(a - 0.1, 0.8, k));
			assert_true(p > kdri_probability_right(a, 0.7, k));
			assert_true(p > kdri_probability_right(a, 0.8, k + 1));
			assert_true(i == 0 ||
			            kdri_match_right(a, k, 500) > kdri_match_right(a - 0.1, k, 500));
			assert_true(kdri_match_right(a, k, 500) > kdri_match_right(a, k + 1, 500));
			assert_true(kdri_match_right(a, k, 500) > kdri_match_right(a, k, 20));
			assert_true(i == 0 ||
			            kdri_table_match_right(a, 0.5) > kdri_table_match_right(a - 0.1, 0.5));
			assert_true(kdri_table_match_right(a, 0.5) > kdri_table_match_right(a, 0.1));
		}
}

static void counterparts__a_cluster_split_in_two__both_halves_match_it(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	static const double a[] = { 4, 0, 4, 0, 0, 4 }, b[] = { 4, 0, 0, 4 };
	static const double mean[] = { 2, 2 };
	static const int64_t sizes_a[] = { 5, 5, 10 }, sizes_b[] = { 10, 10 };
	kdri_clusters from = { 3, 2, a, mean, sizes_a, NULL }, to = { 2, 2, b, mean, sizes_b, NULL };
	double flow[6], quality[3];
	assert_ok(ctx, kdri_counterparts(ctx, &from, &to, flow, quality));
	assert_near(flow[0], 0.25, 1e-12);
	assert_near(flow[2], 0.25, 1e-12);
	assert_near(flow[5], 0.5, 1e-12);
	kdr_context_free(ctx);
}

static void nearness__same_and_strange_data__one_and_nothing(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(13, "nearness", 0);
	int64_t n = 80, d = 12;
	double *x = make_blobs(&rng, n, d, 3, 0.1), *y = calloc((size_t)(n * d), sizeof *y), r[9];
	/* x has the first half of the columns, y the other. */
	for (int64_t i = 0; i < n; i++)
		for (int64_t t = 0; t < d; t++) {
			double v = fabs(x[i * d + t]);
			x[i * d + t] = t < d / 2 ? v + 0.1 : 0;
			y[i * d + t] = t < d / 2 ? 0 : v + 0.1;
		}
	kdr_mat a = kdr_mat_from_dense(x, n, d), b = kdr_mat_from_dense(y, n, d);
	const kdr_mat *tasks[] = { &a, &a, &b };
	assert_ok(ctx, kdri_nearness(ctx, tasks, 3, true, NULL, r));
	assert_near(r[1], 1, 1e-12); /* the same samples are as near as can be */
	assert_near(r[2], 0, 1e-12);
	assert_near(r[8], 1, 0);
	assert_ok(ctx, kdri_nearness(ctx, tasks, 3, false, NULL, r));
	assert_near(r[1], 1, 1e-12);
	assert_true(r[2] < 0.7);
	free(x);
	free(y);
	kdr_context_free(ctx);
}

static void guess__clear_clusters__right_and_fairly_sure(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	for (int64_t k = 2; k <= 6; k++) {
		kdri_rng rng = kdri_rng_stream(14, "guess", (uint64_t)k);
		int64_t n = 40 * k, d = 4 * k;
		double *x = make_blobs(&rng, n, d, k, 0.15);
		kdr_task task = { .x = kdr_mat_from_dense(x, n, d), .k = 0 };
		kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = &task, .ntasks = 1 };
		kdri_views_options o = { .neighbors = 10, .searched = KDRI_GUESS_NEIGHBOURS };
		kdri_views views = { 0 };
		kdri_k_curves c = { 0 };
		assert_ok(ctx, kdri_views_new(ctx, &problem, &o, &views));
		assert_ok(ctx, kdri_k_curves_new(ctx, &views.tasks[0], 12, false, &c));
		kdri_k_guess g = kdri_k_guess_of(&c, 1);
		assert_int_equal(c.count, 11);
		assert_int_equal(g.k, k);
		assert_true(g.sure);
		assert_true(g.low == g.k && g.high == g.k);
		kdri_k_curves later = { 0 };
		assert_ok(ctx, kdri_k_curves_new(ctx, &views.tasks[0], 12, true, &later));
		assert_int_equal(kdri_k_guess_of(&later, 1).k, k);
		assert_true(isnan(later.agreement[k - 2]));
		assert_ok(ctx, kdri_k_agreement(ctx, &views.tasks[0], k, &later));
		assert_true(later.agreement[k - 2] == c.agreement[k - 2]);
		assert_true(memcmp(later.modularity, c.modularity, 11 * sizeof(double)) == 0);
		kdri_k_curves_free(ctx, &later);
		kdri_k_curves_free(ctx, &c);
		kdri_views_free(ctx, &views);
		free(x);
	}
	kdri_k_guess none = kdri_k_guess_of(NULL, 0);
	assert_int_equal(none.k, 1);
	assert_false(none.sure);
	kdr_context_free(ctx);
}

static void recipe__kinds_of_data__are_told_apart(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	enum { N = 60, WIDE = 200 };
	static const struct {
		const char *kind;
		kdr_weight weight;
		kdr_norm norm;
		kdr_scale scale;
		int64_t d;
	} expected[] = {
		{ "word counts", KDR_WEIGHT_TFIDF, KDR_NORM_L2, KDR_SCALE_NONE, WIDE },
		{ "molecule counts", KDR_WEIGHT_CPM, KDR_NORM_L2, KDR_SCALE_NONE, WIDE },
		{ "histograms", KDR_WEIGHT_SQRT, KDR_NORM_L2, KDR_SCALE_NONE, WIDE },
		{ "dense data", KDR_WEIGHT_NONE, KDR_NORM_L2, KDR_SCALE_NONE, WIDE }, /* pixels */
		{ "embeddings", KDR_WEIGHT_NONE, KDR_NORM_L2, KDR_SCALE_NONE, WIDE }, /* real numbers */
		{ "measurements", KDR_WEIGHT_NONE, KDR_NORM_NONE, KDR_SCALE_NONE, 4 },
		{ "measurements in different units", KDR_WEIGHT_NONE, KDR_NORM_NONE, KDR_SCALE_STANDARD, 4 },
	};
	for (int kind = 0; kind < 7; kind++) {
		kdri_rng rng = kdri_rng_stream(15, "kinds", (uint64_t)kind);
		int64_t d = expected[kind].d;
		double *x = calloc((size_t)(N * d), sizeof *x);
		for (int64_t p = 0; p < N * d; p++) {
			double u = kdri_rng_uniform(&rng);
			x[p] = kind == 0   ? (u < 0.05 ? 1 + floor(20 * u) : 0)
			       : kind == 1 ? floor(-15 * log(1 - u))
			       : kind == 2 ? floor(-2 * log(1 - u))
			       : kind == 3 ? KDRI_MIN(floor(300 * u), 255)
			       : kind == 4 ? kdri_rng_normal(&rng)
			                   : kdri_rng_normal(&rng) * (kind == 6 && p % d == 1 ? 100 : 1);
		}
		kdr_mat m = kdr_mat_from_dense(x, N, d);
		kdr_data *data = NULL;
		kdr_recipe o;
		assert_ok(ctx, kdr_data_new(ctx, "a", &m, NULL, &data));
		assert_ok(ctx, kdr_recipe_find(ctx, &data, 1, &o));
		assert_string_equal(kdri_data_kind_name(o.kind), expected[kind].kind);
		assert_int_equal(o.weight, expected[kind].weight);
		assert_int_equal(o.norm, expected[kind].norm);
		assert_int_equal(o.scale, expected[kind].scale);
		assert_int_equal(o.centre, o.kind == KDR_DATA_MOLECULES);
		kdr_data_free(data);
		free(x);
	}
	kdr_context_free(ctx);
}

/* For transfer, more than 64 columns may be in different units, too; pixels are not. */
static void recipe__wide_tables__are_in_units_for_transfer(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	enum { N = 60, WIDE = 100 };
	double *x = calloc((size_t)N * WIDE, sizeof *x);
	for (int pixels = 0; pixels < 2; pixels++) {
		kdri_rng rng = kdri_rng_stream(16, "wide", 0);
		for (int64_t p = 0; p < (int64_t)N * WIDE; p++) {
			double u = kdri_rng_uniform(&rng) * (p % WIDE == 1 ? 0.1 : 1.2);
			x[p] = pixels ? KDRI_MIN(1, u) : kdri_rng_normal(&rng) * (p % WIDE == 1 ? 100 : 1);
		}
		kdr_mat m = kdr_mat_from_dense(x, N, WIDE);
		kdr_data *data = NULL;
		kdr_recipe o;
		assert_ok(ctx, kdr_data_new(ctx, "a", &m, NULL, &data));
		assert_ok(ctx, kdri_recipe_find(ctx, &data, 1, true, &o));
		assert_int_equal(o.kind, pixels ? KDR_DATA_DENSE : KDR_DATA_UNITS);
		assert_ok(ctx, kdr_recipe_find(ctx, &data, 1, &o));
		assert_int_equal(o.kind, pixels ? KDR_DATA_DENSE : KDR_DATA_EMBEDDINGS);
		kdr_data_free(data);
	}
	free(x);
	kdr_context_free(ctx);
}

static void advice__related_and_strange_tasks__says_so(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(16, "advice", 0);
	enum { N = 50, D = 90 };
	double *x = make_blobs(&rng, N, D, 3, 0.1), *y = calloc(N * D, sizeof *y), r[9];
	for (int64_t p = 0; p < N * D; p++)
		y[p] = kdri_rng_normal(&rng);
	kdr_mat tasks[] = { kdr_mat_from_dense(x, N, D), kdr_mat_from_dense(x, N, D),
		            kdr_mat_from_dense(y, N, D) };
	static const char *const names[] = { "a", "b", "c" };
	char text[3][KDRI_ADVICE_ROOM];
	assert_ok(ctx, kdri_relate_advice(ctx, tasks, names, 3, NULL, r, text));
	assert_non_null(strstr(text[0], "a: the most similar data set is b (similarity 1.00"));
	assert_non_null(strstr(text[2], "c: the most similar data set is "));
	assert_ok(ctx, kdri_relate_advice(ctx, tasks, names, 1, NULL, NULL, text));
	assert_non_null(strstr(text[0], "no other data set"));
	free(x);
	free(y);
	kdr_context_free(ctx);
}

/* --- the largest k considered -------------------------------------------------------------------- */

static void k_most__samples_and_option__rule_within_its_limits(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_options *options = NULL;
	static const struct {
		double n;
		int64_t most;
	} cases[] = {
		{ 10, 20 }, { 10000, 20 }, { 22500, 30 }, { 40000, 40 }, { 1e6, 40 }, { INFINITY, 40 }
	};
	assert_ok(ctx, kdr_options_new(ctx, "auto", &options));
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		assert_int_equal(kdri_k_most(options, cases[i].n), cases[i].most);
	assert_ok(ctx, kdr_options_set_number(ctx, options, "k_max", 60));
	assert_int_equal(kdri_k_most(options, 100), 60);
	kdr_options_free(options);
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(k_most__samples_and_option__rule_within_its_limits),
		cmocka_unit_test(edges__random_partitions__equal_the_dense_definition),
		cmocka_unit_test(verdict__members_all_equal__is_theirs),
		cmocka_unit_test(verdict__degenerate_members__do_no_harm),
		cmocka_unit_test(guard__one_sample_moved__is_found),
		cmocka_unit_test(beyond_noise__noise_and_clusters__are_told_apart),
		cmocka_unit_test(members__some_fail_or_are_too_large__are_left_out_with_a_word),
		cmocka_unit_test(members__in_step__votes_are_those_of_one_by_one),
		cmocka_unit_test(views__a_task_too_large_for_an_exact_search__is_joined_to_landmarks),
		cmocka_unit_test(shifted__dense_and_sparse__equal_rows_with_the_mean_taken_away),
		cmocka_unit_test(precomputed__no_graph__is_an_error_with_a_reason),
		cmocka_unit_test(probability_right__more_agreement__is_more),
		cmocka_unit_test(counterparts__clusters_in_another_order__are_found),
		cmocka_unit_test(counterparts__nothing_alike__is_none),
		cmocka_unit_test(counterparts__a_cluster_split_in_two__both_halves_match_it),
		cmocka_unit_test(nearness__same_and_strange_data__one_and_nothing),
		cmocka_unit_test(guess__clear_clusters__right_and_fairly_sure),
		cmocka_unit_test(recipe__kinds_of_data__are_told_apart),
		cmocka_unit_test(recipe__wide_tables__are_in_units_for_transfer),
		cmocka_unit_test(advice__related_and_strange_tasks__says_so),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
