/* Rows on several ranks: every method that can gives the labels of one process, however the rows are cut. */
#include "api/gather.h"
#include "api/result.h"
#include "comm/comm.h"
#include "methods/ttl/ttl.h"
#include "tests/unit/failing.h"
#include "tests/unit/ranks.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <unistd.h>

enum { N = 700, D = 9, K = 5, TASKS = 3, CUTS = 6 }; /* the third task is a bridge */

/* How many rows of 100 the ranks have; ranks without any among them. */
static const int cuts[CUTS][5] = { { 1, 100 },       { 2, 50, 50 },         { 3, 34, 1, 65 },
	                           { 3, 0, 100, 0 }, { 4, 25, 25, 25, 25 }, { 4, 2, 0, 97, 1 } };

typedef struct trial {
	const char *method;
	bool sparse, pooled, weighted, init, unknown,
	        transfer; /* unknown: k; transfer: the first task is the source */
	bool bridge, views, known,
	        positive; /* a bridge; in two views; classes of some targets; dense data >= 0 */
	bool alike; /* nine of ten dense rows are zero: random starts repeat them, and clusters run empty */
	const char *set[6]; /* name, value, name, value */
} trial;

typedef struct fixture {
	double dense[TASKS][N * D], weight[TASKS][N];
	double val[TASKS][N * D];
	int32_t col[TASKS][N * D];
	int64_t rowptr[TASKS][N + 1], init[TASKS][N], classes[TASKS][N], known[N];
	const trial *how;
	const int *cut;
	int patience[MOST_RANKS]; /* events after which a rank wants to stop; 0: never */
	/* results for all rows */
	int64_t labels[TASKS][N];
	double objective;
	kdr_status st[MOST_RANKS];
	kdr_stop stop[MOST_RANKS];
	int64_t iterations[MOST_RANKS];
	char error[MOST_RANKS][512];
} fixture;

static void set_up(fixture *f)
{
	kdri_rng rng = kdri_rng_stream(5, "test", 0);
	memset(f, 0, sizeof *f);
	for (int t = 0; t < TASKS; t++) {
		int64_t at = 0;
		for (int i = 0; i < N; i++) {
			int class = (int)kdri_rng_below(&rng, K);
			f->classes[t][i] = class;
			for (int j = 0; j < D; j++) {
				double v = 2.0 * (j % K == class) + 0.1 * t + kdri_rng_normal(&rng);
				f->dense[t][i * D + j] = v;
				if (fabs(v) > 0.7 || j == 0) {
					f->val[t][at] = fabs(v);
					f->col[t][at++] = j;
				}
			}
			f->rowptr[t][i + 1] = at;
			f->weight[t][i] = kdri_rng_below(&rng, 10) ? 0.1 + kdri_rng_uniform(&rng) : 0;
			f->init[t][i] = i < K ? i : kdri_rng_below(&rng, K);
		}
	}
	for (int i = 0; i < N; i++)
		f->known[i] = i % 50 == 3 ? f->classes[1][i] : -1;
}

static void set_up_for(fixture *f, const trial *how)
{
	set_up(f);
	f->how = how;
	for (int t = 0; t < TASKS && how->positive; t++)
		for (int i = 0; i < N * D; i++)
			f->dense[t][i] = fabs(f->dense[t][i]);
	for (int t = 0; t < TASKS && how->alike; t++)
		for (int i = 0; i < N; i++)
			if (i % 10)
				memset(f->dense[t] + (size_t)i * D, 0, D * sizeof(double));
}

/* The rows of a task that a rank has. */
static int64_t cut_at(const fixture *f, int rank)
{
	int sum = 0;
	for (int r = 0; r < rank; r++)
		sum += f->cut[r + 1];
	return (int64_t)N * sum / 100;
}

static int lose_patience(void *user, const kdr_event *event)
{
	int *left = user;
	(void)event;
	return *left > 0 && --*left == 0;
}

static void work(kdr_context *ctx, int rank, void *user)
{
	fixture *f = user;
	const trial *how = f->how;
	int64_t first = cut_at(f, rank), rows = cut_at(f, rank + 1) - first, n = 0;
	int64_t rowptr[TASKS][N + 1];
	kdr_task tasks[TASKS + 1];
	const int count = how->bridge ? TASKS : TASKS - 1;
	kdr_options *options = NULL;
	kdr_result *r = NULL;
	for (int t = 0; t < count; t++) {
		int64_t begin = f->rowptr[t][first];
		for (int64_t i = 0; i <= rows; i++)
			rowptr[t][i] = f->rowptr[t][first + i] - begin;
		tasks[t] =
		        (kdr_task){ .name = t ? "b" : "a",
			            .k = how->unknown ? 0 : K,
			            .x = how->sparse ? kdr_mat_from_csr(rows, D, rowptr[t], f->col[t] + begin,
			                                                f->val[t] + begin)
			                             : kdr_mat_from_dense(f->dense[t] + first * D, rows, D),
			            .weights = how->weighted ? f->weight[t] + first : NULL,
			            .init = how->init ? f->init[t] + first : NULL };
	}
	static const kdr_role roles[] = { KDR_ROLE_SOURCE, KDR_ROLE_TARGET, KDR_ROLE_BRIDGE };
	for (int t = 0; t < count && how->transfer; t++) {
		tasks[t].role = roles[t];
		tasks[t].labels = t == 0                 ? f->classes[t] + first
		                  : t == 1 && how->known ? f->known + first
		                                         : NULL;
	}
	kdr_context_set_progress(ctx, lose_patience, &f->patience[rank]);
	tasks[TASKS] = tasks[TASKS - 1]; /* the same samples, the same features */
	const kdr_problem problem = { .size = sizeof(kdr_problem),
		                      .tasks = tasks,
		                      .ntasks = count + how->views,
		                      .pooled = how->pooled,
		                      .classes = how->transfer ? K : 0 };
	f->st[rank] = kdr_options_new(ctx, how->method, &options);
	if (f->st[rank] == KDR_OK && kdri_options_has(options, "n_init"))
		f->st[rank] = kdr_options_set(ctx, options, "n_init", "2");
	for (int i = 0; i < 6 && how->set[i] && f->st[rank] == KDR_OK; i += 2)
		f->st[rank] = kdr_options_set(ctx, options, how->set[i], how->set[i + 1]);
	kdri_enter(ctx);
	f->st[rank] = kdri_leave(ctx, f->st[rank]);
	if (f->st[rank] == KDR_OK)
		f->st[rank] = kdr_fit(ctx, how->method, &problem, options, &r);
	if (f->st[rank] == KDR_OK) {
		for (int t = 0; t < count; t++)
			if (kdr_result_labels(r, t, &n)) /* a source has none */
				memcpy(f->labels[t] + first, kdr_result_labels(r, t, &n),
				       (size_t)rows * sizeof(int64_t));
		f->stop[rank] = kdr_result_stop(r);
		f->iterations[rank] = kdr_result_iterations(r);
		const double *trace = kdr_result_objective(r, &n);
		if (rank == 0)
			f->objective = n ? trace[n - 1] : 0;
	} else {
		snprintf(f->error[rank], sizeof f->error[rank], "%s", kdr_context_error(ctx));
	}
	kdr_result_free(r);
	kdr_options_free(options);
}

/* One process, without ranks. */
static void alone(fixture *f, const trial *how)
{
	static const int whole[] = { 1, 100 };
	kdr_context *ctx = unit_context();
	kdr_context_set_threads(ctx, 1);
	set_up_for(f, how);
	f->cut = whole;
	work(ctx, 0, f);
	if (f->st[0] != KDR_OK)
		fail_msg("%s: %s", how->method, f->error[0]);
	kdr_context_free(ctx);
}

static void same_for_all_cuts(const trial *how, double tolerance)
{
	fixture *one = malloc(sizeof *one), *many = malloc(sizeof *many);
	alone(one, how);
	for (int c = 0; c < CUTS; c++) {
		set_up_for(many, how);
		many->cut = cuts[c];
		crew_run(cuts[c][0], work, many, NULL);
		for (int r = 0; r < cuts[c][0]; r++)
			if (many->st[r] != KDR_OK)
				fail_msg("%s, cut %d, rank %d: %s", how->method, c, r, many->error[r]);
		if (memcmp(one->labels, many->labels, sizeof one->labels) != 0)
			fail_msg("%s: other labels with cut %d", how->method, c);
		if (!(fabs(one->objective - many->objective) <= tolerance * fabs(one->objective)))
			fail_msg("%s, cut %d: objective %.17g, alone %.17g", how->method, c, many->objective,
			         one->objective);
	}
	free(one);
	free(many);
}

static void kmeans__rows_on_ranks__same_bits(void **state)
{
	(void)state;
	static const trial trials[] = {
		{ .method = "kmeans" },
		{ .method = "kmeans", .sparse = true },
		{ .method = "kmeans", .set = { "spherical", "1" } },
		{ .method = "kmeans", .sparse = true, .set = { "spherical", "1", "start", "random" } },
		{ .method = "kmeans", .weighted = true },
		{ .method = "kmeans", .pooled = true },
		{ .method = "kmeans", .pooled = true, .weighted = true, .set = { "start", "random" } },
		{ .method = "kmeans", .init = true },
		{ .method = "kmeans", .set = { "max_iter", "0" } },
		{ .method = "kmeans", .alike = true, .set = { "start", "random" } },
	};
	for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++)
		same_for_all_cuts(&trials[i], 0);
}

static void mbc__rows_on_ranks__same_bits(void **state)
{
	(void)state;
	static const trial trials[] = {
		{ .method = "mbc" },
		{ .method = "mbc", .sparse = true },
		{ .method = "mbc", .set = { "start", "random" } },
		{ .method = "mbc", .sparse = true, .set = { "divergence", "kl" } },
		{ .method = "mbc", .sparse = true, .set = { "divergence", "is", "floor", "0.1" } },
		{ .method = "bregman", .init = true },
		{ .method = "bregman", .sparse = true, .set = { "divergence", "kl", "start", "random" } },
	};
	for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++)
		same_for_all_cuts(&trials[i], 0);
	static const trial whitened[] = {
		{ .method = "mbc", .set = { "divergence", "mahalanobis" } },
		{ .method = "bregman", .sparse = true, .set = { "divergence", "mahalanobis" } },
	};
	for (size_t i = 0; i < sizeof whitened / sizeof whitened[0]; i++)
		same_for_all_cuts(&whitened[i], 1e-12);
}

static void ec__rows_on_ranks__same_bits(void **state)
{
	(void)state;
	static const trial trials[] = {
		{ .method = "ec", .set = { "runs", "6" } },
		{ .method = "ec", .sparse = true, .set = { "k_min", "3", "k_max", "9", "runs", "5" } },
		{ .method = "ec", .init = true, .set = { "features", "9", "runs", "4" } },
		{ .method = "ec", .set = { "subsample", "0.3", "runs", "5" } },
		{ .method = "ec", .unknown = true, .set = { "runs", "6" } },
	};
	for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++)
		same_for_all_cuts(&trials[i], 0);
}

static void pca_kmeans__rows_on_ranks__same_labels(void **state)
{
	(void)state;
	static const trial trials[] = {
		{ .method = "pca-kmeans" },
		{ .method = "pca-kmeans", .sparse = true, .set = { "energy", "0.7" } },
		{ .method = "pca-kmeans", .init = true },
	};
	for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++)
		same_for_all_cuts(&trials[i], 1e-10);
}

static void ncut__rows_on_ranks__same_bits(void **state)
{
	(void)state;
	static const trial trials[] = {
		{ .method = "ncut", .set = { "graph", "landmarks", "landmarks", "150" } },
		{ .method = "ncut", .sparse = true, .set = { "graph", "landmarks", "landmarks", "150" } },
		{ .method = "ncut", .pooled = true, .set = { "graph", "landmarks", "rounding", "rotation" } },
		{ .method = "ncut",
		  .sparse = true,
		  .init = true,
		  .set = { "graph", "landmarks", "landmarks", "90", "similarity", "gauss" } },
		{ .method = "ncut",
		  .positive = true,
		  .set = { "graph", "landmarks", "similarity", "precomputed", "rounding", "rotation" } },
	};
	for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++)
		same_for_all_cuts(&trials[i], 0);
}

static void lssmtc__rows_on_ranks__same_labels(void **state)
{
	(void)state;
	static const trial trials[] = {
		{ .method = "lssmtc" },
		{ .method = "lssmtc", .sparse = true },
		{ .method = "lssmtc", .init = true, .set = { "l", "3", "lambda", "0.5" } },
		{ .method = "lssmtc", .set = { "start", "matched", "eps", "0" } },
		{ .method = "lssmtc", .sparse = true, .set = { "start", "pertask", "subspace", "full" } },
		{ .method = "lssmtc", .set = { "energy", "0.7" } },
	};
	for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++)
		same_for_all_cuts(&trials[i], 1e-10);
}

static void linear__rows_on_ranks__same_labels(void **state)
{
	(void)state;
	static const trial trials[] = {
		{ .method = "svm", .transfer = true },
		{ .method = "svm", .transfer = true, .sparse = true, .weighted = true },
		{ .method = "logreg", .transfer = true },
		{ .method = "logreg", .transfer = true, .sparse = true },
	};
	for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++)
		same_for_all_cuts(&trials[i], 1e-9);
}

static void trifactor__rows_on_ranks__same_labels(void **state)
{
	(void)state;
	static const trial trials[] = {
		{ .method = "nmtf",
		  .transfer = true,
		  .sparse = true,
		  .known = true,
		  .set = { "max_iter", "10" } },
		{ .method = "nmtf", .transfer = true, .positive = true, .set = { "max_iter", "10" } },
		{ .method = "nmtf",
		  .transfer = true,
		  .sparse = true,
		  .bridge = true,
		  .set = { "init", "random", "norm", "mm", "max_iter", "10" } },
		{ .method = "ttl",
		  .transfer = true,
		  .sparse = true,
		  .bridge = true,
		  .set = { "max_iter", "10" } },
		{ .method = "ttl",
		  .transfer = true,
		  .positive = true,
		  .bridge = true,
		  .views = true,
		  .set = { "init", "half", "norm", "paper", "max_iter", "5" } },
		{ .method = "ttl",
		  .transfer = true,
		  .sparse = true,
		  .bridge = true,
		  .init = true,
		  .set = { "max_iter", "10" } },
	};
	for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++)
		same_for_all_cuts(&trials[i], 1e-9);
}

/* --- the surest answers ------------------------------------------------------------------------------ */

static const double surest_share[K] = { 0.5, 0.2, 0.2, 0, 0.1 };

typedef struct answer {
	double lift;
	int64_t row, class;
} answer;

static int by_lift(const void *a, const void *b)
{
	const answer *x = a, *y = b;
	if (x->lift != y->lift)
		return x->lift > y->lift ? -1 : 1;
	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	return x->class < y->class ? -1 : 1;
}

/* From a list of all claims, as bridging.c defines it. */
static void surest_by_sorting(const double *p, int64_t *labels)
{
	static answer list[N * K];
	int64_t room[K], teach[K], count = 0;
	bool taken[N] = { false };
	for (int64_t k = 0; k < K; k++) {
		room[k] = (int64_t)ceil(surest_share[k] * N);
		teach[k] = (int64_t)ceil(0.5 * surest_share[k] * N);
		for (int64_t i = 0; i < N && room[k] > 0; i++)
			list[count++] = (answer){ p[i * K + k] / surest_share[k], i, k };
	}
	for (int64_t i = 0; i < N; i++)
		labels[i] = -1;
	qsort(list, (size_t)count, sizeof *list, by_lift);
	for (int64_t j = 0; j < count; j++) {
		int64_t i = list[j].row, k = list[j].class;
		if (taken[i] || room[k] == 0)
			continue;
		taken[i] = true;
		room[k]--;
		if (teach[k]-- > 0)
			labels[i] = k;
	}
}

static void find_surest(kdr_context *ctx, int rank, void *user)
{
	fixture *f = user;
	int64_t first = cut_at(f, rank), number[N];
	kdri_bridging_rows rows = { .n = cut_at(f, rank + 1) - first, .all = N, .number = number };
	for (int64_t i = 0; i < rows.n; i++)
		number[i] = first + i;
	kdri_enter(ctx);
	f->st[rank] = kdri_bridging_surest(ctx, &rows, f->dense[0] + first * K, K, surest_share, 0.5,
	                                   f->labels[0] + first);
	f->st[rank] = kdri_leave(ctx, f->st[rank]);
}

static void surest__any_cut__as_by_sorting_all_claims(void **state)
{
	(void)state;
	fixture *f = malloc(sizeof *f);
	set_up(f);
	for (int coarse = 0; coarse < 2; coarse++) { /* with many equal ones, and without */
		int64_t right[N];
		for (int i = 0; i < N * K; i++) {
			double v = fabs(f->dense[1][i]) + 0.01;
			f->dense[0][i] = coarse ? ceil(v) : v;
		}
		surest_by_sorting(f->dense[0], right);
		for (int c = 0; c < CUTS; c++) {
			f->cut = cuts[c];
			memset(f->labels[0], 0, sizeof f->labels[0]);
			crew_run(cuts[c][0], find_surest, f, NULL);
			assert_int_equal(f->st[0], KDR_OK);
			assert_memory_equal(f->labels[0], right, sizeof right);
		}
	}
	free(f);
}

/* --- sums ------------------------------------------------------------------------------------------- */

static void sum_rows(kdr_context *ctx, int rank, void *user)
{
	fixture *f = user;
	int64_t first = cut_at(f, rank), last = cut_at(f, rank + 1);
	double sum = 0;
	kdri_enter(ctx);
	f->st[rank] = kdri_rows_sum(ctx, f->weight[0] + first, f->dense[0] + first, last - first, N, &sum);
	f->st[rank] = kdri_leave(ctx, f->st[rank]);
	if (rank == 0)
		f->objective = sum;
}

static void rows_sum__any_cut__same_bits_and_near_truth(void **state)
{
	(void)state;
	fixture *f = malloc(sizeof *f);
	set_up(f);
	for (int i = 0; i < N; i++) { /* terms of all sizes that cancel */
		f->weight[0][i] = ldexp(1, i % 40);
		f->dense[0][i] *= i % 3 ? 1 : -1;
	}
	long double truth = 0;
	double most = 0, first = 0;
	for (int i = 0; i < N; i++) {
		double x = f->weight[0][i] * f->dense[0][i];
		truth += (long double)x;
		most = KDRI_MAX(most, fabs(x));
	}
	for (int c = 0; c < CUTS; c++) {
		f->cut = cuts[c];
		crew_run(cuts[c][0], sum_rows, f, NULL);
		first = c ? first : f->objective;
		assert_true(f->objective == first);
	}
	assert_true(fabs((double)((long double)first - truth)) <= 1e-15 * most);
	free(f);
}

/* Sums and largest numbers that go together, few or many. */
static void sum_and_max(kdr_context *ctx, int rank, void *user)
{
	static const int sizes[][2] = {
		{ 3, 2 }, { 0, 4 }, { 40, KDRI_ALONG - 40 }, { 40, KDRI_ALONG }, { 100, 1 }
	};
	fixture *f = user;
	kdri_enter(ctx);
	for (size_t s = 0; s < sizeof sizes / sizeof sizes[0] && f->st[rank] == KDR_OK; s++) {
		double v[2 * KDRI_ALONG];
		const int sums = sizes[s][0], tops = sizes[s][1], last = kdri_ranks(ctx) - 1;
		for (int i = 0; i < sums + tops; i++)
			v[i] = i + 1000.0 * rank;
		f->st[rank] = kdri_sum_and_max(ctx, v, sums, tops);
		for (int i = 0; i < sums + tops && f->st[rank] == KDR_OK; i++)
			if (v[i] != (i < sums ? (last + 1) * (i + 500.0 * last) : i + 1000.0 * last))
				f->st[rank] = KDR_ERR_NUMERIC;
	}
	f->st[rank] = kdri_leave(ctx, f->st[rank]);
}

static void sum_and_max__few_or_many_numbers__each_its_own_way(void **state)
{
	(void)state;
	fixture *f = malloc(sizeof *f);
	for (int ranks = 1; ranks < 5; ranks++) {
		set_up(f);
		crew_run(ranks, sum_and_max, f, NULL);
		for (int r = 0; r < ranks; r++)
			assert_int_equal(f->st[r], KDR_OK);
	}
	free(f);
}

/* --- failures --------------------------------------------------------------------------------------- */

static void one_rank_without_memory(const trial *how)
{
	fixture *f = malloc(sizeof *f);
	int failed = 0;
	for (long allowed = 2;; allowed += 1 + allowed / 6) { /* the first two: a context and its ranks */
		failing fails = { .allowed = allowed };
		kdr_allocator bad = { failing_alloc, failing_realloc, failing_free, &fails };
		const kdr_allocator *allocators[] = { NULL, &bad, NULL };
		set_up(f);
		f->how = how;
		f->cut = cuts[2];
		crew_run(3, work, f, allocators);
		assert_int_equal(fails.live, 0);
		if (f->st[1] == KDR_OK)
			break;
		failed++;
		assert_int_equal(f->st[0], f->st[1]);
		assert_int_equal(f->st[2], f->st[1]);
		assert_non_null(strstr(f->error[0], "rank 1: "));
		assert_string_equal(f->error[0], f->error[2]);
	}
	assert_true(failed > 5);
	assert_int_equal(f->st[0], KDR_OK);
	free(f);
}

static void fit__one_rank_without_memory__all_say_so(void **state)
{
	(void)state;
	static const trial trials[] = {
		{ .method = "kmeans" },
		{ .method = "lssmtc", .set = { "max_iter", "3" } },
		{ .method = "ec", .set = { "runs", "3" } },
	};
	for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++)
		one_rank_without_memory(&trials[i]);
}

/* Wherever one rank is when it is asked to stop: all stop after the same iteration, with an answer. */
static void fit__one_rank_wants_to_stop__all_do(void **state)
{
	(void)state;
	static const trial trials[] = {
		{ .method = "kmeans" }, { .method = "mbc" }, { .method = "lssmtc" }, { .method = "ec" }
	};
	fixture *f = malloc(sizeof *f);
	for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++)
		for (int patience = 1; patience < 40; patience += 1 + patience / 2) {
			set_up(f);
			f->how = &trials[i];
			f->cut = cuts[2];
			f->patience[1] = patience;
			crew_run(3, work, f, NULL);
			for (int r = 0; r < 3; r++) {
				if (f->st[r] != KDR_OK)
					fail_msg("%s, rank %d: %s", trials[i].method, r, f->error[r]);
				assert_int_equal(f->stop[r], f->stop[0]);
				assert_int_equal(f->iterations[r], f->iterations[0]);
			}
			if (f->patience[1] == 0 && patience < 5)
				assert_int_equal(f->stop[0], KDR_STOP_CANCELLED);
			for (int t = 0; t < TASKS; t++)
				for (int j = 0; j < N; j++)
					assert_in_range(f->labels[t][j], 0, K - 1);
		}
	free(f);
}

static void fit__method_for_one_process__refused_with_those_that_can(void **state)
{
	(void)state;
	static const trial how = { .method = "snmf" };
	fixture *f = malloc(sizeof *f);
	set_up(f);
	f->how = &how;
	f->cut = cuts[1];
	crew_run(2, work, f, NULL);
	assert_int_equal(f->st[0], KDR_ERR_UNSUPPORTED);
	assert_int_equal(f->st[1], KDR_ERR_UNSUPPORTED);
	assert_non_null(strstr(f->error[0], "kmeans"));
	free(f);
}

/* --- gathering -------------------------------------------------------------------------------------- */

static void gather_labels(kdr_context *ctx, int rank, void *user)
{
	fixture *f = user;
	int64_t first = cut_at(f, rank), rows = cut_at(f, rank + 1) - first, n = 0;
	kdr_task task = { .name = "a", .k = K, .x = kdr_mat_from_dense(f->dense[0] + first * D, rows, D) };
	const kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = &task, .ntasks = 1 };
	kdr_result *r = NULL;
	f->st[rank] = kdr_fit(ctx, "kmeans", &problem, NULL, &r);
	kdri_enter(ctx);
	if (f->st[rank] == KDR_OK)
		f->st[rank] = kdri_result_gather(ctx, r);
	f->st[rank] = kdri_leave(ctx, f->st[rank]);
	const int64_t *labels = r ? kdr_result_labels(r, 0, &n) : NULL;
	if (rank == 0 && n == N)
		memcpy(f->labels[1], labels, sizeof f->labels[1]);
	if (rank > 0 && n != rows)
		f->st[rank] = KDR_ERR_INTERNAL;
	if (labels)
		memcpy(f->labels[0] + first, labels, (size_t)rows * sizeof *labels);
	kdr_result_free(r);
}

static void gather__labels__whole_on_the_first_rank(void **state)
{
	(void)state;
	fixture *f = malloc(sizeof *f);
	for (int c = 1; c < CUTS; c++) {
		set_up(f);
		f->cut = cuts[c];
		crew_run(cuts[c][0], gather_labels, f, NULL);
		for (int r = 0; r < cuts[c][0]; r++)
			assert_int_equal(f->st[r], KDR_OK);
		/* Rank 0's own rows were overwritten by the full list if that is longer: compare the others. */
		int64_t own = cut_at(f, 1);
		assert_memory_equal(f->labels[1] + own, f->labels[0] + own,
		                    (size_t)(N - own) * sizeof(int64_t));
	}
	free(f);
}

/* --- writing ------------------------------------------------------------------------------------------ */

static char written[] = "/tmp/kindred-ranks-XXXXXX";

static void read_whole(const char *name, char *text, size_t room)
{
	char path[200];
	snprintf(path, sizeof path, "%s/%s", written, name);
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	text[fread(text, 1, room - 1, file)] = '\0';
	fclose(file);
}

typedef struct heard {
	size_t bytes;
	char last;
} heard;

static bool listen(void *user, const char *text, size_t length)
{
	heard *h = user;
	h->bytes += length;
	h->last = text[length - 1];
	return true;
}

/* Labels, the table of samples, result.json and an array by sample of each rank's rows, to one file each. */
static void write_rows(kdr_context *ctx, int rank, void *user)
{
	fixture *f = user;
	int64_t first = cut_at(f, rank), rows = cut_at(f, rank + 1) - first;
	kdr_task tasks[2];
	for (int t = 0; t < 2; t++)
		tasks[t] = (kdr_task){ .name = t ? "b" : "a",
			               .role = t ? KDR_ROLE_TARGET : KDR_ROLE_SOURCE,
			               .k = K,
			               .x = kdr_mat_from_dense(f->dense[t] + first * D, rows, D),
			               .labels = t ? NULL : f->classes[t] + first };
	const kdr_problem problem = {
		.size = sizeof(kdr_problem), .tasks = tasks, .ntasks = 2, .classes = K
	};
	char path[4][200];
	static const char *const names[] = { "labels", "samples", "json", "npy" };
	heard h = { 0 };
	kdr_result *r = NULL;
	for (int i = 0; i < 4; i++)
		snprintf(path[i], sizeof path[i], "%s/%s", written, f->how ? "" : names[i]); /* a folder */
	f->st[rank] = kdr_fit(ctx, "svm", &problem, NULL, &r);
	if (f->st[rank] == KDR_OK)
		f->st[rank] = kdr_result_write_table(ctx, r, KDR_TABLE_LABELS, 1, path[0], true);
	if (f->st[rank] == KDR_OK)
		f->st[rank] = kdr_result_write_table(ctx, r, KDR_TABLE_SAMPLES, 1, path[1], true);
	if (f->st[rank] == KDR_OK)
		f->st[rank] = kdr_result_write(ctx, r, path[2], true);
	for (int64_t i = 0; f->st[rank] == KDR_OK && i < kdr_result_array_count(r); i++)
		if (strcmp(kdr_result_array_at(r, i).name, "scores") == 0)
			f->st[rank] = kdr_result_write_table(ctx, r, KDR_TABLE_ARRAY, i, path[3], true);
	if (f->st[rank] == KDR_OK)
		f->st[rank] = kdr_result_put(ctx, r, listen, &h);
	if (f->st[rank] == KDR_OK && ((h.bytes > 0) != (rank == 0) || (rank == 0 && h.last != '\n')))
		f->st[rank] = KDR_ERR_INTERNAL;
	int64_t k = 0, sum = 0;
	const int64_t *sizes = r ? r->tasks[1].sizes : NULL;
	k = r ? r->tasks[1].k : 0;
	for (int64_t c = 0; sizes && c < k; c++)
		sum += sizes[c];
	if (f->st[rank] == KDR_OK && (sum != N || kdr_result_task_shape(r, 1).rows != N))
		f->st[rank] = KDR_ERR_INTERNAL;
	if (f->st[rank] != KDR_OK)
		snprintf(f->error[rank], sizeof f->error[rank], "%s", kdr_context_error(ctx));
	kdr_result_free(r);
}

static void write__rows_of_all_ranks__one_file(void **state)
{
	(void)state;
	enum { ROOM = 1 << 19 };
	fixture *f = malloc(sizeof *f);
	char *one = malloc(ROOM), *many = malloc(ROOM);
	assert_non_null(mkdtemp(written));
	for (int c = 0; c < CUTS; c++) {
		set_up(f);
		f->cut = cuts[c];
		crew_run(cuts[c][0], write_rows, f, NULL);
		for (int r = 0; r < cuts[c][0]; r++)
			if (f->st[r] != KDR_OK)
				fail_msg("cut %d, rank %d: %s", c, r, f->error[r]);
		/* A line a sample, in order; the first cut is of one rank. */
		read_whole("labels", c ? many : one, ROOM);
		assert_true(c == 0 || strcmp(one, many) == 0);
		read_whole("samples", many, ROOM);
		int64_t lines = 0;
		for (const char *p = many; *p; p++)
			lines += *p == '\n';
		assert_int_equal(lines, N + 1);
		assert_non_null(strstr(many, "\n700,"));
		read_whole("json", many, ROOM);
		assert_non_null(strstr(many, "\"n\": 700,"));
		read_whole("npy", many, ROOM);
		assert_non_null(strstr(many + 10, "(700, 5)"));
	}
	free(one);
	free(many);
	free(f);
}

static void write__rank_0_cannot_or_one_has_no_memory__all_say_so(void **state)
{
	(void)state;
	static const trial folder = { .method = "svm" };
	fixture *f = malloc(sizeof *f);
	set_up(f);
	f->how = &folder;
	f->cut = cuts[2];
	crew_run(3, write_rows, f, NULL);
	for (int r = 0; r < 3; r++) {
		assert_int_equal(f->st[r], KDR_ERR_WRITE);
		assert_non_null(strstr(f->error[r], "is a directory"));
	}
	f->how = NULL;
	int failed = 0;
	for (long allowed = 2;; allowed += 1 + allowed / 8) {
		failing fails = { .allowed = allowed };
		kdr_allocator bad = { failing_alloc, failing_realloc, failing_free, &fails };
		const kdr_allocator *allocators[] = { NULL, &bad, NULL };
		crew_run(3, write_rows, f, allocators);
		assert_int_equal(fails.live, 0);
		assert_int_equal(f->st[0], f->st[1]);
		assert_int_equal(f->st[2], f->st[1]);
		if (f->st[1] == KDR_OK)
			break;
		failed++;
	}
	assert_true(failed > 10);
	free(f);
	static const char *const names[] = { "labels", "samples", "json", "npy" };
	for (int i = 0; i < 4; i++) {
		char path[200];
		snprintf(path, sizeof path, "%s/%s", written, names[i]);
		assert_int_equal(unlink(path), 0);
	}
	assert_int_equal(rmdir(written), 0); /* nothing else was left */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kmeans__rows_on_ranks__same_bits),
		cmocka_unit_test(mbc__rows_on_ranks__same_bits),
		cmocka_unit_test(ec__rows_on_ranks__same_bits),
		cmocka_unit_test(pca_kmeans__rows_on_ranks__same_labels),
		cmocka_unit_test(lssmtc__rows_on_ranks__same_labels),
		cmocka_unit_test(ncut__rows_on_ranks__same_bits),
		cmocka_unit_test(linear__rows_on_ranks__same_labels),
		cmocka_unit_test(trifactor__rows_on_ranks__same_labels),
		cmocka_unit_test(surest__any_cut__as_by_sorting_all_claims),
		cmocka_unit_test(rows_sum__any_cut__same_bits_and_near_truth),
		cmocka_unit_test(sum_and_max__few_or_many_numbers__each_its_own_way),
		cmocka_unit_test(fit__one_rank_without_memory__all_say_so),
		cmocka_unit_test(fit__one_rank_wants_to_stop__all_do),
		cmocka_unit_test(fit__method_for_one_process__refused_with_those_that_can),
		cmocka_unit_test(gather__labels__whole_on_the_first_rank),
		cmocka_unit_test(write__rows_of_all_ranks__one_file),
		cmocka_unit_test(write__rank_0_cannot_or_one_has_no_memory__all_say_so),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
