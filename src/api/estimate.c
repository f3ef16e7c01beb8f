/* kdr_estimate_fit: what a fit will take, before it starts. SPDX-License-Identifier: BSD-3-Clause
 *
 * A method says its work in the units of engine/cost/cost.c and its memory in bytes. Seconds are
 *
 *   (E1)  (products / P + sweeps / S + near / N + far / R + steps / Q) / (1 + 0.8 (threads - 1)) + bytes / F
 *
 * where P to Q are what this machine does a second on one thread, measured once in a process, the best of a few
 * tries: a dense product, a pass over dense rows, two over sparse rows, of few columns and of many, and a walk along indices; a few
 * milliseconds in all, and some 40 where the answer is a second or more, as a core that shares its parts with another one's work is at times half as fast. F, the bytes of memory
 * a system hands out in a second, is most of what small fits with large arrays take; it is a constant, as memory that a
 * process had before comes a hundred times as fast and would be measured in its place. */
#include "api/estimate.h"
#include "api/method.h"
#include "api/result.h"
#include "comm/comm.h"
#include "matrix/linalg.h"
#include "matrix/reserve.h"

#include <pthread.h>
#include <stdio.h>

enum {
	SIDE = 128,
	ROWS = 2000,
	COLS = 3000,
	MANY = 100000,
	DENSE = 50,
	A_ROW = 40,
	WIDE = 8,
	WALK = 1 << 15,
	TRIES = 5,
	LONG_TRIES = 40,
	RATES = 5
};
/* A kernel's first use, a page not yet there, a busy neighbour: never slower than this, in units a second. */
static const double least[RATES] = { 2e8, 1e8, 1e8, 5e7, 2e7 };
/* What a unit is of its kernel's: on the machine that constants were chosen on, a sweep, near and far are equally long for texts. */
static const double units[RATES] = { 1, 1.2, 3, 3, 1 };
static const double a_thread = 0.8, handed_out = 1.5e9;
/* Seconds above which some of the rows are looked at. */
static const double worth_a_look = 0.2;

typedef struct bench {
	double *a, *b, *c, *val, *table, *rows; /* table: MANY x WIDE; rows: ROWS x DENSE */
	int64_t *rowptr;
	int32_t *col, *spread; /* of COLS columns; of MANY, low ones more often, as words are */
} bench;

static kdr_status bench_new(kdr_context *ctx, bench *w)
{
	kdr_status st;
	KDRI_TRY(KDRI_NEW(ctx, &w->a, SIDE * SIDE));
	KDRI_TRY(KDRI_NEW(ctx, &w->b, COLS * WIDE));
	KDRI_TRY(KDRI_NEW0(ctx, &w->c, ROWS * WIDE + SIDE * SIDE));
	KDRI_TRY(KDRI_NEW(ctx, &w->val, ROWS * A_ROW));
	KDRI_TRY(KDRI_NEW(ctx, &w->rowptr, ROWS + 1));
	KDRI_TRY(KDRI_NEW(ctx, &w->col, ROWS * A_ROW));
	KDRI_TRY(KDRI_NEW(ctx, &w->spread, ROWS * A_ROW));
	KDRI_TRY(KDRI_NEW(ctx, &w->table, MANY * WIDE));
	KDRI_TRY(KDRI_NEW(ctx, &w->rows, ROWS * DENSE));
	for (int64_t i = 0; i < SIDE * SIDE; i++) /* pages of zeros would be one page for all of them */
		w->a[i] = 1;
	for (int64_t i = 0; i < COLS * WIDE; i++)
		w->b[i] = 1;
	for (int64_t i = 0; i < MANY * WIDE; i++)
		w->table[i] = 1;
	for (int64_t i = 0; i < ROWS * DENSE; i++)
		w->rows[i] = 1;
	for (int64_t i = 0; i <= ROWS; i++)
		w->rowptr[i] = i * A_ROW;
	uint64_t state = 1;
	for (int64_t i = 0; i < ROWS; i++)
		for (int64_t j = 0; j < A_ROW; j++) {
			w->col[i * A_ROW + j] =
			        (int32_t)(j * (COLS / A_ROW) + (i * 7 + j * j) % (COLS / A_ROW));
			w->val[i * A_ROW + j] = 1;
			double u = ((double)j + (double)(kdr_random(&state) >> 11) * 0x1p-53) / A_ROW;
			w->spread[i * A_ROW + j] = (int32_t)(MANY * u * u * u); /* in order: u grows with j */
		}
done:
	return st;
}

static void bench_free(kdr_context *ctx, bench *w)
{
	kdri_free(ctx, w->a);
	kdri_free(ctx, w->b);
	kdri_free(ctx, w->c);
	kdri_free(ctx, w->val);
	kdri_free(ctx, w->rowptr);
	kdri_free(ctx, w->col);
	kdri_free(ctx, w->spread);
	kdri_free(ctx, w->table);
	kdri_free(ctx, w->rows);
}

/* Each step waits for the one before. */
static int64_t estimate_walk(const bench *w)
{
	int64_t at = 0, sum = 0;
	for (int64_t i = 0; i < WALK; i++) {
		at = (at * 5 + w->col[at] + 1) % (ROWS * A_ROW);
		sum += w->col[at] & 1 ? at : -1;
	}
	return sum;
}

/* P to Q of (E1). */
static kdr_status estimate_measure(kdr_context *ctx, int tries, double rate[RATES])
{
	kdr_status st;
	bench w = { 0 };
	int threads = ctx->threads;
	ctx->threads = 1;
	KDRI_TRY(bench_new(ctx, &w));
	const kdr_mat x = kdr_mat_from_csr(ROWS, COLS, w.rowptr, w.col, w.val),
	              wide = kdr_mat_from_csr(ROWS, MANY, w.rowptr, w.spread, w.val),
	              dense = kdr_mat_from_dense(w.rows, ROWS, DENSE);
	const double done[RATES] = { (double)SIDE * SIDE * SIDE, (double)ROWS * DENSE * (WIDE + 4) / 2,
		                     (double)ROWS * A_ROW * (WIDE + 8), (double)ROWS * A_ROW * (WIDE + 8),
		                     (double)WALK };
	for (int i = 0; i < tries; i++) {
		double at[RATES + 1] = { kdri_now() };
		KDRI_TRY(kdri_gemm(ctx, false, false, SIDE, SIDE, SIDE, 1, w.a, SIDE, w.a, SIDE, 0,
		                   w.c + ROWS * WIDE, SIDE));
		at[1] = kdri_now();
		KDRI_TRY(kdri_mat_mul(ctx, &dense, w.b, WIDE, WIDE, w.c, WIDE));
		at[2] = kdri_now();
		KDRI_TRY(kdri_mat_mul(ctx, &x, w.b, WIDE, WIDE, w.c, WIDE));
		at[3] = kdri_now();
		KDRI_TRY(kdri_mat_mul(ctx, &wide, w.table, WIDE, WIDE, w.c, WIDE));
		at[4] = kdri_now();
		w.c[0] = (double)estimate_walk(&w); /* kept, so that it is done */
		at[5] = kdri_now();
		for (int k = 0; k < RATES; k++)
			rate[k] = KDRI_MAX(rate[k], units[k] * done[k] / KDRI_MAX(at[k + 1] - at[k], 1e-7));
	}
done:
	ctx->threads = threads;
	bench_free(ctx, &w);
	return st;
}

/* What is known of the machine, measured by at least so many tries. */
static kdr_status machine(kdr_context *ctx, int tries, double rate[RATES])
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static double known[RATES];
	static int made;
	kdr_status st = KDR_OK;
	pthread_mutex_lock(&lock);
	memcpy(rate, made > 0 ? known : least, sizeof known);
	bool enough = made >= tries;
	pthread_mutex_unlock(&lock);
	if (enough)
		return KDR_OK;
	KDRI_TRY(kdri_blas_reserve(ctx));
	KDRI_TRY(estimate_measure(ctx, tries, rate));
	pthread_mutex_lock(&lock);
	memcpy(known, rate, sizeof known);
	made = KDRI_MAX(made, tries);
	pthread_mutex_unlock(&lock);
done:
	return st;
}

kdr_status kdri_estimate_work(kdr_context *ctx, const kdri_cost *c, double data, kdr_estimate *out)
{
	kdr_status st = KDR_OK;
	double rate[RATES], work = INFINITY;
	for (int tries = TRIES; tries > 0; tries = tries == TRIES && work >= 1 ? LONG_TRIES : 0) {
		KDRI_TRY(machine(ctx, tries, rate));
		work = c->products / rate[0] + c->sweeps / rate[1] + c->near / rate[2] + c->far / rate[3] +
		       c->steps / rate[4];
	}
	*out = (kdr_estimate){ .seconds = work / (1 + a_thread * (ctx->threads - 1)) +
		                          c->bytes / handed_out, /* (E1) */
		               .bytes = c->bytes + data,
		               .data_bytes = data };
done:
	return st;
}

kdr_status kdri_shape_check(kdr_context *ctx, const kdr_task_shape *tasks, int64_t ntasks, double *data)
{
	*data = 0;
	for (int64_t t = 0; t < ntasks; t++) {
		const kdr_task_shape *x = &tasks[t];
		if (x->rows < 1 || x->cols < 1 || x->entries < 0)
			return kdri_fail(
			        ctx, KDR_ERR_ARGUMENT,
			        "task %lld: %lld rows, %lld columns and %lld entries have no estimate",
			        (long long)t + 1, (long long)x->rows, (long long)x->cols,
			        (long long)x->entries);
		*data += x->streamed ? 0
		         : x->dense  ? 8.0 * (double)x->rows * (double)x->cols
		                     : 12.0 * (double)x->entries + 8.0 * (double)x->rows;
	}
	return KDR_OK;
}

/* `c` knows what a sample of the data told, if there is one. */
static kdr_status estimate_method(kdr_context *ctx, const char *algo_id, const kdr_task_shape *tasks,
                                  int64_t ntasks, int64_t classes, bool pooled, const kdr_options *options,
                                  kdri_cost c, double common, kdr_estimate *out)
{
	kdr_status st;
	kdr_options *defaults = NULL;
	double data;
	const kdri_algo *algo = algo_id ? kdri_algo_find(algo_id) : NULL;
	if (!ctx || !out || !tasks || ntasks < 1)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT, "an estimate needs tasks and a place for the answer");
	if (!algo)
		return kdri_algo_unknown(ctx, algo_id, NULL);
	if (!options) {
		KDRI_TRY(kdr_options_new(ctx, algo_id, &defaults));
		options = defaults;
	} else if (kdr_options_algo(options) != &algo->info) {
		return kdri_fail(ctx, KDR_ERR_ARGUMENT, "the options are for method '%s', not '%s'",
		                 kdr_options_algo(options)->id, algo_id);
	}
	const kdri_sizes sizes = { tasks, ntasks, classes, pooled, kdri_ranks(ctx) > 1, common };
	KDRI_TRY(kdri_shape_check(ctx, tasks, ntasks, &data));
	if (algo->estimate)
		algo->estimate(&sizes, options, &c);
	KDRI_TRY(kdri_estimate_work(ctx, &c, data, out));
done:
	kdr_options_free(defaults);
	return st;
}

kdr_status kdr_estimate_shapes(kdr_context *ctx, const char *algo_id, const kdr_task_shape *tasks,
                               int64_t ntasks, int64_t classes, bool pooled, const kdr_options *options,
                               kdr_estimate *out)
{
	return estimate_method(ctx, algo_id, tasks, ntasks, classes, pooled, options, (kdri_cost){ 0 }, 0,
	                       out);
}

static const kdr_task *estimate_largest_of(const kdr_problem *problem)
{
	const kdr_task *largest = &problem->tasks[0];
	for (int64_t t = 1; t < problem->ntasks; t++)
		if (kdr_mat_rows(&problem->tasks[t].x) > kdr_mat_rows(&largest->x))
			largest = &problem->tasks[t];
	return largest;
}

/* How many columns two rows share decides what all pairs take, and whether all are looked at: kdri_sizes.common, of the largest task. */
static kdr_status look_at_columns(kdr_context *ctx, const kdr_problem *problem, double *out)
{
	kdr_status st = KDR_OK;
	const kdr_mat *x = &estimate_largest_of(problem)->x;
	double *rows_with = NULL, products = 0;
	if (x->kind != KDR_MAT_CSR || kdr_mat_nnz(x) == 0)
		return KDR_OK;
	const double d = (double)kdr_mat_cols(x), entries = (double)kdr_mat_nnz(x);
	KDRI_TRY(KDRI_NEW0(ctx, &rows_with, kdr_mat_cols(x)));
	for (int64_t p = 0; p < kdr_mat_nnz(x); p++)
		rows_with[x->as.csr.col[p]]++;
	for (int64_t j = 0; j < kdr_mat_cols(x); j++)
		products += rows_with[j] * rows_with[j];
	*out = products * d / (entries * entries);
done:
	kdri_free(ctx, rows_with);
	return st;
}

/* How soon k-means settles hangs on the data more than on their size: it is tried on some rows of the largest task, in a
 * context of its own, which nobody waits for or stops. What it cannot do is no failure, but for want of memory. */
static kdr_status try_some(kdr_context *ctx, const kdr_problem *problem, kdri_cost *c)
{
	enum { MOST = 1000, RUNS = 2 };
	kdr_status st = KDR_OK;
	const kdr_task *largest = estimate_largest_of(problem);
	int64_t rows[MOST];
	kdri_own some = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	kdr_context *own = NULL;
	kdr_options *options = NULL;
	kdr_result *result = NULL;
	const int64_t n = kdr_mat_rows(&largest->x), count = KDRI_MIN(n, MOST);
	const int64_t k = largest->k > 0 ? largest->k : problem->classes;
	if (k < 2 || k >= count)
		return KDR_OK;
	for (int64_t i = 0; i < count; i++)
		rows[i] = kdri_chunk_begin(n, count, i);
	KDRI_TRY(kdri_mat_take(ctx, &largest->x, rows, count, &some));
	KDRI_TRY(kdr_context_new(&own, &ctx->allocator));
	kdr_context_set_threads(own, 1);
	KDRI_TRY(kdr_options_new(own, "kmeans", &options));
	KDRI_TRY(kdr_options_set(own, options, "n_init", "1"));
	const kdr_task task = { .x = some.view, .k = k };
	const kdr_problem few = { .tasks = &task, .ntasks = 1 };
	double iterations = 0;
	for (int run = 0; run < RUNS; run++) {
		kdr_context_set_seed(own, (uint64_t)run + 1);
		KDRI_TRY(kdr_fit(own, "kmeans", &few, options, &result));
		iterations += (double)result->iterations / RUNS;
		kdr_result_free(result);
		result = NULL;
	}
	c->tried = (double)count;
	c->tried_k = (double)k;
	c->took = iterations;
done:
	kdr_result_free(result);
	kdr_options_free(options);
	kdr_context_free(own);
	kdri_own_free(ctx, &some);
	return st == KDR_ERR_MEMORY ? kdri_fail(ctx, st, "no memory to look at some of the rows") : KDR_OK;
}

kdr_status kdri_estimate_problem(kdr_context *ctx, const char *algo_id, const kdr_problem *problem,
                                 const bool *streamed, const kdr_options *options, kdr_estimate *out)
{
	kdr_status st;
	kdr_task_shape *shapes = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &shapes, problem->ntasks));
	for (int64_t t = 0; t < problem->ntasks; t++) {
		const kdr_task *task = &problem->tasks[t];
		/* A rank may have no rows of a task. */
		shapes[t] = (kdr_task_shape){ .rows = KDRI_MAX(kdr_mat_rows(&task->x), 1),
			                      .cols = kdr_mat_cols(&task->x),
			                      .entries = kdr_mat_nnz(&task->x),
			                      .dense = task->x.kind == KDR_MAT_DENSE,
			                      .streamed = streamed && streamed[t],
			                      .k = task->k,
			                      .role = task->role };
	}
	kdri_cost c = { 0 };
	double common = 0;
	KDRI_TRY(estimate_method(ctx, algo_id, shapes, problem->ntasks, problem->classes, problem->pooled,
	                         options, c, common, out));
	if (out->seconds >= worth_a_look && !ctx->comm) {
		KDRI_TRY(try_some(ctx, problem, &c));
		KDRI_TRY(look_at_columns(ctx, problem, &common));
		KDRI_TRY(estimate_method(ctx, algo_id, shapes, problem->ntasks, problem->classes,
		                         problem->pooled, options, c, common, out));
	}
done:
	kdri_free(ctx, shapes);
	return st;
}

kdr_status kdr_estimate_fit(kdr_context *ctx, const char *algo_id, const kdr_problem *problem,
                            const kdr_options *options, kdr_estimate *out)
{
	if (!ctx || !out || !problem || problem->ntasks < 1 || !problem->tasks)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT, "an estimate needs tasks and a place for the answer");
	return kdri_estimate_problem(ctx, algo_id, problem, NULL, options, out);
}
