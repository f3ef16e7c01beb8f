/* Every registered method on every kind of finite data: it ends with labels in range and numbers that are finite,
 * or with an error that says why. What a sanitizer sees counts too. */
#include "api/magnitude.h"
#include "tests/unit/unit.h"

enum { MOST_ROWS = 24, MOST_COLS = 5, TASKS = 3 };

typedef enum kind {
	HUGE_CELL,   /* one cell of the largest number among ordinary ones */
	LARGE,       /* all around 1e300 */
	LARGE_MIXED, /* some around 1e300, others ordinary */
	SQUARES,     /* squares overflow, by little */
	DENORMAL,
	TINY, /* squares underflow */
	CONSTANT,
	DUPLICATES, /* three different rows */
	ZERO,
	EVERYTHING, /* zeros, denormal numbers, the largest */
	ORDINARY,
	KINDS
} kind;
static const char *const kind_names[KINDS] = { "one huge cell",    "large",      "large, mixed",
	                                       "squares overflow", "denormal",   "tiny",
	                                       "constant",         "duplicates", "zero",
	                                       "everything",       "ordinary" };

static double value_of(kind what, int64_t t, int64_t i, int64_t j, kdri_rng *rng)
{
	double u = kdri_rng_uniform(rng);
	double ordinary = u + (double)(i % 3 == j % 3 ? 3 : 0);
	switch (what) {
	case HUGE_CELL: return t == 0 && i == 4 && j == 0 ? 1.7976931348623157e308 : ordinary;
	case LARGE: return ordinary * 1e300;
	case LARGE_MIXED: return u < 0.3 ? ordinary * 1e300 : ordinary;
	case SQUARES: return ordinary * 1e155;
	case DENORMAL: return ordinary * 1e-310;
	case TINY: return ordinary * 1e-200;
	case CONSTANT: return 0.1;
	case DUPLICATES: return (double)((i + j) % 3);
	case ZERO: return 0;
	case ORDINARY: return ordinary;
	default:
		return u < 0.2   ? 0
		       : u < 0.4 ? 5e-324
		       : u < 0.6 ? 1.7976931348623157e308
		       : u < 0.8 ? 1e-160
		                 : ordinary;
	}
}

typedef struct data {
	double dense[TASKS][MOST_ROWS * MOST_COLS], val[TASKS][MOST_ROWS * MOST_COLS];
	int64_t rowptr[TASKS][MOST_ROWS + 1], labels[TASKS][MOST_ROWS];
	int32_t col[TASKS][MOST_ROWS * MOST_COLS];
	kdr_task tasks[TASKS];
} data;

static void make(data *p, const kdr_algo *algo, kind what, int64_t n, int64_t d, int64_t k, bool sparse,
                 bool negative)
{
	bool transfer = algo->family == KDR_FAMILY_TRANSFER;
	for (int64_t t = 0; t < TASKS; t++) {
		kdri_rng rng = kdri_rng_stream(5, "extremes", (uint64_t)t);
		int64_t nnz = 0;
		p->rowptr[t][0] = 0;
		for (int64_t i = 0; i < n; i++) {
			p->labels[t][i] = i % KDRI_MIN(n, 2);
			for (int64_t j = 0; j < d; j++) {
				double v = value_of(what, t, i, j, &rng);
				if (negative && (i + j) % 2)
					v = -v;
				p->dense[t][i * d + j] = v;
				if (v != 0) {
					p->col[t][nnz] = (int32_t)j;
					p->val[t][nnz++] = v;
				}
			}
			p->rowptr[t][i + 1] = nnz;
		}
		p->tasks[t] = (kdr_task){
			.name = t == 0   ? "a"
			        : t == 1 ? "b"
			                 : "bridge",
			.role = !transfer ? KDR_ROLE_TASK
			        : t == 0  ? KDR_ROLE_SOURCE
			        : t == 1  ? KDR_ROLE_TARGET
			                  : KDR_ROLE_BRIDGE,
			.x = sparse ? kdr_mat_from_csr(n, d, p->rowptr[t], p->col[t], p->val[t])
			            : kdr_mat_from_dense(p->dense[t], n, d),
			.k = k,
			.labels = transfer && t == 0 ? p->labels[t] : NULL,
		};
	}
}

static void check_result(const kdr_algo *algo, const char *what, const kdr_result *r, int64_t ntasks)
{
	int64_t count;
	for (int64_t t = 0; t < ntasks; t++) {
		const int64_t *labels = kdr_result_labels(r, t, &count);
		for (int64_t i = 0; labels && i < count; i++)
			if (labels[i] < 0 || labels[i] >= kdr_result_k(r, t))
				fail_msg("%s, %s: label %lld of %lld clusters", algo->id, what,
				         (long long)labels[i], (long long)kdr_result_k(r, t));
	}
	const double *objective = kdr_result_objective(r, &count);
	for (int64_t i = 0; i < count; i++)
		if (!isfinite(objective[i]))
			fail_msg("%s, %s: the objective is %g", algo->id, what, objective[i]);
	for (int64_t i = 0; i < kdr_result_array_count(r); i++) {
		kdr_array a = kdr_result_array_at(r, i);
		int64_t size = 1;
		for (int j = 0; j < a.ndim; j++)
			size *= a.shape[j];
		for (int64_t p = 0; p < size && a.type == KDR_FLOAT64; p++)
			if (!isfinite(((const double *)a.data)[p]))
				fail_msg("%s, %s: array '%s' has %g at %lld", algo->id, what, a.name,
				         ((const double *)a.data)[p], (long long)p);
	}
}

static bool allowed(kdr_status st)
{
	return st / 10 == 1 || st / 10 == 2 || st / 10 == 3 || st / 10 == 6;
}

/* Fits a method, and labels its own samples with what it leaves. */
static void try(kdr_context *ctx, const kdr_algo *algo, kind what, int64_t n, int64_t d, int64_t k,
                bool sparse, bool negative)
{
	static data p;
	char name[128];
	kdr_result *r = NULL;
	kdr_options *options = NULL;
	bool transfer = algo->family == KDR_FAMILY_TRANSFER;
	int64_t again[MOST_ROWS];
	make(&p, algo, what, n, d, k, sparse, negative);
	kdr_problem problem = { .size = sizeof(kdr_problem),
		                .tasks = p.tasks,
		                .ntasks = algo->flags & KDR_ALGO_BRIDGE ? 3 : 2,
		                .classes = transfer ? KDRI_MIN(n, 2) : 0 };
	snprintf(name, sizeof name, "%s, %lld x %lld, k = %lld%s%s", kind_names[what], (long long)n,
	         (long long)d, (long long)k, sparse ? ", sparse" : "", negative ? ", negative" : "");
	assert_ok(ctx, kdr_options_new(ctx, algo->id, &options));
	kdr_status st = kdr_fit(ctx, algo->id, &problem, options, &r);
	if (st != KDR_OK && !allowed(st))
		fail_msg("%s, %s: %s (%s)", algo->id, name, kdr_context_error(ctx), kdr_strerror(st));
	if (st == KDR_OK)
		check_result(algo, name, r, problem.ntasks);
	for (int64_t t = 0; st == KDR_OK && (algo->flags & KDR_ALGO_PREDICT) && t < problem.ntasks; t++) {
		if (!kdr_result_labels(r, t, &(int64_t){ 0 }))
			continue;
		kdr_status other =
		        kdri_predict(ctx, kdri_algo_find(algo->id), r, options, t, &p.tasks[t].x, again);
		if (other != KDR_OK && !allowed(other))
			fail_msg("%s, %s: predict: %s", algo->id, name, kdr_context_error(ctx));
		for (int64_t i = 0; other == KDR_OK && i < n; i++)
			if (again[i] < 0 || again[i] >= KDRI_MAX(kdr_result_k(r, t), problem.classes))
				fail_msg("%s, %s: predict gives label %lld", algo->id, name,
				         (long long)again[i]);
	}
	kdr_result_free(r);
	kdr_options_free(options);
}

static void fit__every_method_and_kind_of_data__labels_or_an_error(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	for (size_t m = 0; m < kdr_algo_count(); m++)
		for (int what = 0; what < KINDS; what++) {
			const kdr_algo *algo = kdr_algo_at(m);
			for (int flags = 0; flags < 4; flags++) {
				if (!(flags & 2) || !(algo->flags & KDR_ALGO_NONNEG))
					try(ctx, algo, what, MOST_ROWS, MOST_COLS, 3, flags & 1, flags & 2);
			}
			try(ctx, algo, what, 1, MOST_COLS, 1, false, false);
			try(ctx, algo, what, 2, MOST_COLS, 2, false, false);
			try(ctx, algo, what, 3, MOST_COLS, 3, true, false);
			try(ctx, algo, what, MOST_ROWS, 1, 3, false, false);
			try(ctx, algo, what, 1, 1, 1, true, false);
			for (int64_t n = 1; algo->flags & KDR_ALGO_AUTO_K && n < 4; n++)
				try(ctx, algo, what, n == 3 ? MOST_ROWS : n, MOST_COLS, 0, false, false);
		}
	kdr_context_free(ctx);
}

/* Powers of two are exact: data far too large and far too small are the same data once scaled, and methods without a
 * scale of their own see no difference to data of ordinary size. */
static void fit__data_out_of_range__scaled_and_told(void **state)
{
	(void)state;
	static const char *const free_of_scale[] = { "auto", "kmeans", "ncut", "pca-kmeans" };
	static const int exponents[] = { 0, 900, -900 };
	kdr_context *ctx = unit_context();
	for (size_t m = 0; m < sizeof free_of_scale / sizeof free_of_scale[0]; m++) {
		static data p;
		const kdr_algo *algo = kdr_algo_find(free_of_scale[m]);
		kdr_result *results[3] = { NULL };
		for (int e = 0; e < 3; e++) {
			make(&p, algo, ORDINARY, MOST_ROWS, MOST_COLS, 3, false, false);
			for (int64_t i = 0; i < TASKS * MOST_ROWS * MOST_COLS; i++)
				p.dense[i / (MOST_ROWS * MOST_COLS)][i % (MOST_ROWS * MOST_COLS)] = ldexp(
				        p.dense[i / (MOST_ROWS * MOST_COLS)][i % (MOST_ROWS * MOST_COLS)],
				        exponents[e]);
			kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = p.tasks, .ntasks = 2 };
			assert_ok(ctx, kdr_fit(ctx, algo->id, &problem, NULL, &results[e]));
			int64_t told = 0;
			for (int64_t w = 0; w < kdr_result_warning_count(results[e]); w++)
				told += strstr(kdr_result_warning_at(results[e], w), "multiplied by 2^") !=
				        NULL;
			assert_int_equal(told, e > 0);
			for (int64_t t = 0; t < 2; t++) {
				int64_t n;
				const int64_t *x = kdr_result_labels(results[0], t, &n),
				              *y = kdr_result_labels(results[e], t, &n);
				if (memcmp(x, y, (size_t)n * sizeof *x) != 0)
					fail_msg("%s: other labels with values times 2^%d", algo->id,
					         exponents[e]);
			}
		}
		for (int e = 0; e < 3; e++)
			kdr_result_free(results[e]);
	}
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fit__every_method_and_kind_of_data__labels_or_an_error),
		cmocka_unit_test(fit__data_out_of_range__scaled_and_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
