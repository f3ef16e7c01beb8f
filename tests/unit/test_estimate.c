/* Estimates of memory: every method and job counts its bytes, and the allocator sees what they count. */
#include "tests/unit/meter.h"

#include "api/estimate.h"
#include "kindred/kindred.h"

#include <unistd.h>

/* Data sets of some size: overlapping groups, dense or sparse. */
enum { MOST_ROWS = 2000, DENSE = 60, SPARSE = 3200, ENTRIES = 20, TASKS = 3, K = 3 };

typedef struct world {
	meter seen;
	kdr_context *ctx;
	double *x[TASKS];
	int64_t *labels, *rowptr;
	int32_t *col[TASKS];
	kdr_task tasks[TASKS];
	int64_t rows, wide;
	bool sparse;
} world;

/* Methods that take n x n numbers, or long: with fewer rows. */
static int64_t rows_of(const char *id)
{
	static const struct {
		const char *id;
		int64_t rows;
	} few[] = { { "mtcfir", 300 },  { "msda", 400 },       { "harmony", 500 },        { "trec", 700 },
		    { "snmf", 1000 },   { "pca-kmeans", 700 }, { "auto-transfer", 1000 }, { "auto", 1100 },
		    { "mixture", 600 }, { "forest", 1000 } };
	for (size_t i = 0; i < sizeof few / sizeof few[0]; i++)
		if (strcmp(id, few[i].id) == 0)
			return few[i].rows;
	return MOST_ROWS;
}

static kdr_mat mat_of(const world *w, int t, int64_t rows)
{
	return w->sparse ? kdr_mat_from_csr(rows, w->wide, w->rowptr, w->col[t], w->x[t])
	                 : kdr_mat_from_dense(w->x[t], rows, w->wide);
}

static void world_new(world *w, int64_t rows, bool sparse, bool nonnegative)
{
	kdri_rng rng = kdri_rng_stream(1, "estimate", 0);
	const int64_t entries = sparse ? ENTRIES : DENSE, step = SPARSE / ENTRIES;
	*w = (world){ .rows = rows, .sparse = sparse, .wide = sparse ? SPARSE : DENSE };
	kdr_allocator a = meter_allocator(&w->seen);
	assert_int_equal(kdr_context_new(&w->ctx, &a), KDR_OK);
	kdr_context_set_threads(w->ctx, 1);
	w->labels = malloc((size_t)rows * sizeof *w->labels);
	w->rowptr = malloc((size_t)(rows + 1) * sizeof *w->rowptr);
	assert_non_null(w->labels);
	assert_non_null(w->rowptr);
	for (int64_t i = 0; i <= rows; i++)
		w->rowptr[i] = i * entries;
	for (int t = 0; t < TASKS; t++) {
		w->x[t] = malloc((size_t)(rows * entries) * sizeof *w->x[t]);
		w->col[t] = malloc((size_t)(rows * entries) * sizeof *w->col[t]);
		assert_non_null(w->x[t]);
		assert_non_null(w->col[t]);
		for (int64_t p = 0; p < rows * entries; p++) {
			int64_t i = p / entries, j = p % entries,
			        column = sparse ? j * step + kdri_rng_below(&rng, step) : j;
			double noise = kdri_rng_normal(&rng);
			w->labels[i] = i % K;
			w->col[t][p] = (int32_t)column;
			w->x[t][p] = (sparse || nonnegative ? fabs(noise) : noise) +
			             (column % K == i % K ? 0.7 : 0);
		}
		w->tasks[t] = (kdr_task){ .name = t == 0   ? "a"
			                          : t == 1 ? "b"
			                                   : "c",
			                  .x = mat_of(w, t, rows),
			                  .k = K };
	}
}

static void world_free(world *w)
{
	for (int t = 0; t < TASKS; t++) {
		free(w->x[t]);
		free(w->col[t]);
	}
	free(w->labels);
	free(w->rowptr);
	kdr_context_free(w->ctx);
}

static kdr_problem problem_of(world *w, const kdr_algo *algo)
{
	static const kdr_role roles[] = { KDR_ROLE_SOURCE, KDR_ROLE_BRIDGE, KDR_ROLE_TARGET };
	bool transfer = algo->family == KDR_FAMILY_TRANSFER, bridged = algo->flags & KDR_ALGO_BRIDGE;
	int64_t count = transfer && !bridged ? 2 : TASKS;
	for (int64_t t = 0; t < count && transfer; t++) {
		w->tasks[t].role = t + 1 == count ? KDR_ROLE_TARGET : roles[t];
		w->tasks[t].labels = t == 0 ? w->labels : NULL;
	}
	return (kdr_problem){
		.size = sizeof(kdr_problem), .tasks = w->tasks, .ntasks = count, .classes = transfer ? K : 0
	};
}

/* Few iterations: they take no memory. */
static kdr_options *short_options(kdr_context *ctx, const kdr_algo *algo)
{
	kdr_options *o = NULL;
	assert_ok(ctx, kdr_options_new(ctx, algo->id, &o));
	if (kdri_options_has(o, "max_iter"))
		assert_ok(ctx, kdr_options_set(ctx, o, "max_iter", "3"));
	if (kdri_options_has(o, "trees"))
		assert_ok(ctx, kdr_options_set(ctx, o, "trees", "20"));
	if (strcmp(algo->id, "trec") == 0) /* LIBSVM allocates past the context, and may be absent */
		assert_ok(ctx, kdr_options_set(ctx, o, "classifier", "logistic"));
	return o;
}

static void assert_counted(const char *what, bool sparse, double peak, double estimate)
{
	if (!(estimate > peak / 1.5 && estimate < peak * 1.5))
		fail_msg("%s, %s: the allocator saw %.3f MB, estimated were %.3f MB", what,
		         sparse ? "sparse" : "dense", peak / 1e6, estimate / 1e6);
}

static void fit__of_every_method__needs_what_is_estimated(void **state)
{
	(void)state;
	for (size_t i = 0; i < kdr_algo_count(); i++)
		for (int sparse = 0; sparse < 2; sparse++) {
			const kdr_algo *algo = kdr_algo_at(i);
			world w;
			kdr_result *r = NULL;
			kdr_estimate e = { 0 };
			assert_non_null(kdri_algo_find(algo->id)->estimate_bytes);
			world_new(&w, rows_of(algo->id), sparse, algo->flags & KDR_ALGO_NONNEG);
			const kdr_problem problem = problem_of(&w, algo);
			kdr_options *options = short_options(w.ctx, algo);
			assert_ok(w.ctx, kdri_estimate_problem(w.ctx, kdri_algo_find(algo->id), &problem,
			                                       NULL, options, &e));
			double before = w.seen.most = w.seen.held;
			assert_ok(w.ctx, kdr_fit(w.ctx, algo->id, &problem, options, &r));
			assert_counted(algo->id, sparse, w.seen.most - before, e.bytes - e.data_bytes);
			kdr_result_free(r);
			kdr_options_free(options);
			world_free(&w);
		}
}

static void predict__of_every_method__needs_what_is_estimated(void **state)
{
	(void)state;
	enum { TRAINED = 300 };
	for (size_t i = 0; i < kdr_algo_count(); i++)
		for (int sparse = 0; sparse < 2; sparse++) {
			const kdr_algo *algo = kdr_algo_at(i);
			if (!(algo->flags & KDR_ALGO_PREDICT))
				continue;
			world w;
			kdr_result *fitted = NULL, *r = NULL;
			kdr_model *model = NULL;
			kdr_data *data = NULL;
			kdr_estimate e;
			world_new(&w, MOST_ROWS, sparse, algo->flags & KDR_ALGO_NONNEG);
			kdr_problem problem = problem_of(&w, algo);
			for (int64_t t = 0; t < problem.ntasks; t++)
				w.tasks[t].x = mat_of(&w, (int)t, TRAINED);
			if (algo->family == KDR_FAMILY_CLUSTER)
				problem.ntasks = 1;
			kdr_options *options = short_options(w.ctx, algo);
			assert_ok(w.ctx, kdr_fit(w.ctx, algo->id, &problem, options, &fitted));
			assert_ok(w.ctx, kdr_model_new(w.ctx, fitted, &model));
			kdr_mat x = mat_of(&w, 0, MOST_ROWS);
			assert_ok(w.ctx, kdr_data_borrow(w.ctx, "a", &x, NULL, NULL, &data));
			const kdr_task_shape shape = { .rows = MOST_ROWS,
				                       .cols = w.wide,
				                       .entries = kdr_mat_nnz(&x),
				                       .dense = !sparse };
			assert_ok(w.ctx, kdr_estimate_bytes_job(w.ctx, "predict", model, &shape, 1, &e));
			double before = w.seen.most = w.seen.held;
			assert_ok(w.ctx, kdr_predict(w.ctx, model, data, NULL, &r));
			assert_counted(algo->id, sparse, w.seen.most - before, e.bytes - e.data_bytes);
			kdr_result_free(r);
			kdr_data_free(data);
			kdr_model_free(model);
			kdr_result_free(fitted);
			kdr_options_free(options);
			world_free(&w);
		}
}

static void relate_and_embed__need_what_is_estimated(void **state)
{
	(void)state;
	for (int sparse = 0; sparse < 2; sparse++) {
		world w;
		kdr_estimate e;
		char *json = NULL;
		kdr_embedding *m = NULL;
		kdr_data *data[2] = { NULL, NULL };
		kdr_task_shape shapes[2];
		kdr_embed_options o;
		kdr_relate_options told;
		world_new(&w, MOST_ROWS, sparse, false);
		for (int t = 0; t < 2; t++) {
			assert_ok(w.ctx,
			          kdr_data_borrow(w.ctx, t ? "b" : "a", &w.tasks[t].x, NULL, NULL, &data[t]));
			shapes[t] = (kdr_task_shape){ .rows = w.rows,
				                      .cols = w.wide,
				                      .entries = kdr_mat_nnz(&w.tasks[t].x),
				                      .dense = !sparse };
		}
		kdr_relate_options_init(&told);
		told.choice = KDR_PREP_NONE;
		assert_ok(w.ctx, kdr_estimate_bytes_job(w.ctx, "relate", NULL, shapes, 2, &e));
		double before = w.seen.most = w.seen.held;
		assert_ok(w.ctx, kdr_relate(w.ctx, data, 2, &told, &json, NULL));
		assert_counted("relate", sparse, w.seen.most - before, e.bytes - e.data_bytes);
		kdr_free(w.ctx, json);
		kdr_embed_options_init(&o);
		o.choice = KDR_PREP_NONE;
		o.sweeps = 3;
		assert_ok(w.ctx, kdr_estimate_bytes_job(w.ctx, "embed", NULL, shapes, 2, &e));
		before = w.seen.most = w.seen.held;
		assert_ok(w.ctx, kdr_embed(w.ctx, data, 2, &o, &m));
		assert_counted("embed", sparse, w.seen.most - before, e.bytes - e.data_bytes);
		kdr_embedding_free(m);
		kdr_data_free(data[0]);
		kdr_data_free(data[1]);
		world_free(&w);
	}
}

/* Documents of words out of 5000. */
static void write_texts(const char *path, int64_t documents)
{
	FILE *f = fopen(path, "w");
	kdri_rng rng = kdri_rng_stream(1, "texts", 0);
	assert_non_null(f);
	for (int64_t i = 0; i < documents; i++) {
		for (int j = 0; j < 40; j++)
			fprintf(f, "w%cx%cyz%c ", (int)('a' + kdri_rng_below(&rng, 20)),
			        (int)('a' + kdri_rng_below(&rng, 20)), (int)('a' + kdri_rng_below(&rng, 12)));
		fputc('\n', f);
	}
	assert_int_equal(fclose(f), 0);
}

static void vectorize__needs_what_is_estimated_from_its_first_texts(void **state)
{
	(void)state;
	char path[] = "/tmp/kindred-texts-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	/* Fewer than are read for the estimate, and more. */
	for (int64_t n = 500; n <= 80000; n = n < 80000 ? 80000 : n + 1) {
		const kdr_corpus corpus = { .path = path, .kind = KDR_CORPUS_LINES };
		kdr_estimate e;
		kdr_data *data = NULL;
		meter seen = { 0 };
		kdr_allocator a = meter_allocator(&seen);
		kdr_context *ctx = NULL;
		write_texts(path, n);
		assert_int_equal(kdr_context_new(&ctx, &a), KDR_OK);
		kdr_context_set_threads(ctx, 1);
		assert_ok(ctx, kdr_estimate_bytes_vectorize(ctx, &corpus, 1, NULL, &e));
		seen.most = seen.held;
		double before = seen.held;
		assert_ok(ctx, kdr_vectorize(ctx, &corpus, 1, NULL, &data, NULL));
		assert_counted(n == 500 ? "500 texts" : "80000 texts", true, seen.most - before, e.bytes);
		kdr_data_free(data);
		data = NULL;
		if (n == 80000) {
			kdr_context_set_max_memory(ctx, 10e6);
			assert_int_equal(kdr_vectorize(ctx, &corpus, 1, NULL, &data, NULL), KDR_ERR_MEMORY);
			assert_non_null(strstr(kdr_context_error(ctx), "vectorize is estimated to need"));
			assert_non_null(strstr(kdr_context_error(ctx), "--max-memory allows 10 MB"));
			assert_null(data);
			kdr_context_set_max_memory(ctx, 0);
		}
		kdr_context_free(ctx);
	}
	remove(path);
}

static kdr_estimate of(kdr_context *ctx, const kdr_algo *algo, int64_t n, int64_t d, int64_t entries,
                       bool streamed)
{
	kdr_estimate e = { 0 };
	kdr_task_shape tasks[2];
	bool transfer = algo->family == KDR_FAMILY_TRANSFER;
	for (int t = 0; t < 2; t++)
		tasks[t] = (kdr_task_shape){ .rows = n,
			                     .cols = d,
			                     .entries = entries,
			                     .dense = entries == 0,
			                     .streamed = streamed,
			                     .k = 5,
			                     .role = !transfer ? KDR_ROLE_TASK
			                             : t == 0  ? KDR_ROLE_SOURCE
			                                       : KDR_ROLE_TARGET };
	assert_ok(ctx, kdr_estimate_bytes(ctx, algo->id, tasks, 2, transfer ? 5 : 0, false, NULL, &e));
	return e;
}

static void estimates__of_every_method__grow_with_the_data(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	for (size_t i = 0; i < kdr_algo_count(); i++) {
		const kdr_algo *algo = kdr_algo_at(i);
		for (int sparse = 0; sparse < 2; sparse++) {
			double last = 0;
			for (int64_t n = 100000; n <= 100000000; n *= 10) {
				const int64_t d = sparse ? 50000 : 50, entries = sparse ? 60 * n : 0;
				kdr_estimate e = of(ctx, algo, n, d, entries, false),
				             streamed = of(ctx, algo, n, d, entries, true);
				if (!(e.bytes > 2 * last && isfinite(e.bytes)))
					fail_msg("%s, %d rows: %g bytes", algo->id, (int)n, e.bytes);
				assert_near(e.data_bytes,
				            sparse ? 2.0 * (double)n * (12 * 60 + 8) : 800.0 * (double)n, 1);
				/* On disk, neither the data take memory nor copies of them. */
				assert_true(streamed.bytes > 0 &&
				            streamed.bytes <= e.bytes - e.data_bytes + 1);
				/* Starts that share a pass over the rows do so in memory only. */
				if (strcmp(algo->id, "kmeans") == 0)
					assert_true(streamed.bytes < 0.6 * (e.bytes - e.data_bytes));
				last = e.bytes;
			}
		}
	}
	/* Methods that need n x n numbers. */
	assert_true(of(ctx, kdr_algo_find("mtcfir"), 500000, 50, 0, false).bytes > 3e12);
	assert_true(of(ctx, kdr_algo_find("snmf"), 1000000, 50, 0, false).bytes > 3e12);
	assert_true(of(ctx, kdr_algo_find("kmeans"), 500000, 50, 0, false).bytes < 1e9);
	kdr_context_free(ctx);
}

static void jobs__above_the_limit__are_refused_with_the_numbers(void **state)
{
	(void)state;
	world w;
	kdr_result *fitted = NULL, *r = NULL;
	kdr_model *model = NULL;
	char *relation = NULL;
	kdr_embedding *embedding = NULL;
	kdr_data *data[2] = { NULL, NULL };
	world_new(&w, MOST_ROWS, false, false);
	for (int t = 0; t < 2; t++)
		assert_ok(w.ctx, kdr_data_borrow(w.ctx, t ? "b" : "a", &w.tasks[t].x, NULL, NULL, &data[t]));
	kdr_task task = { .name = "a", .k = K, .x = mat_of(&w, 0, 300) };
	const kdr_problem few = { .size = sizeof(kdr_problem), .tasks = &task, .ntasks = 1 },
	                  all = { .size = sizeof(kdr_problem), .tasks = w.tasks, .ntasks = 1 };
	assert_ok(w.ctx, kdr_fit(w.ctx, "mtcfir", &few, NULL, &fitted));
	assert_ok(w.ctx, kdr_model_new(w.ctx, fitted, &model));
	kdr_context_set_max_memory(w.ctx, 4e6);
	assert_int_equal(kdr_fit(w.ctx, "snmf", &all, NULL, &r), KDR_ERR_MEMORY);
	assert_non_null(strstr(kdr_context_error(w.ctx), "method 'snmf' is estimated to need 3"));
	assert_non_null(
	        strstr(kdr_context_error(w.ctx), " MB of memory for these data (960 kB of it for the data)"));
	assert_non_null(strstr(kdr_context_error(w.ctx), "--max-memory allows 4 MB: raise the limit"));
	assert_int_equal(kdr_predict(w.ctx, model, data[0], NULL, &r), KDR_ERR_MEMORY);
	assert_non_null(strstr(kdr_context_error(w.ctx), "predict is estimated to need"));
	assert_int_equal(kdr_relate(w.ctx, data, 2, NULL, &relation, NULL), KDR_ERR_MEMORY);
	assert_non_null(strstr(kdr_context_error(w.ctx), "relate is estimated to need"));
	assert_int_equal(kdr_embed(w.ctx, data, 2, NULL, &embedding), KDR_ERR_MEMORY);
	assert_non_null(strstr(kdr_context_error(w.ctx), "embed is estimated to need"));
	assert_null(r);
	assert_null(relation);
	assert_null(embedding);
	kdr_result *fits = NULL;
	assert_ok(w.ctx, kdr_fit(w.ctx, "kmeans", &all, NULL, &fits));
	kdr_result_free(fits);
	kdr_context_set_max_memory(w.ctx, 0);
	kdr_data_free(data[0]);
	kdr_data_free(data[1]);
	kdr_model_free(model);
	kdr_result_free(fitted);
	world_free(&w);
}

static void arguments__that_make_no_sense__are_refused(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_estimate e;
	kdr_options *o = NULL;
	const kdr_task_shape empty = { .rows = 0, .cols = 3, .dense = true, .k = 2 },
	                     good = { .rows = 9, .cols = 3, .dense = true, .k = 2 };
	assert_int_equal(kdr_estimate_bytes(ctx, "kmeans", &empty, 1, 0, false, NULL, &e), KDR_ERR_ARGUMENT);
	assert_int_equal(kdr_estimate_bytes(ctx, "nope", &good, 1, 0, false, NULL, &e), KDR_ERR_ARGUMENT);
	assert_int_equal(kdr_estimate_bytes(ctx, "kmeans", NULL, 1, 0, false, NULL, &e), KDR_ERR_ARGUMENT);
	assert_int_equal(kdr_estimate_bytes(ctx, "kmeans", &good, 0, 0, false, NULL, &e), KDR_ERR_ARGUMENT);
	assert_ok(ctx, kdr_options_new(ctx, "ncut", &o));
	assert_int_equal(kdr_estimate_bytes(ctx, "kmeans", &good, 1, 0, false, o, &e), KDR_ERR_ARGUMENT);
	kdr_options_free(o);
	assert_int_equal(kdr_estimate_bytes_job(ctx, "relate", NULL, &empty, 1, &e), KDR_ERR_ARGUMENT);
	assert_int_equal(kdr_estimate_bytes_job(ctx, "embed", NULL, NULL, 1, &e), KDR_ERR_ARGUMENT);
	assert_int_equal(kdr_estimate_bytes_job(ctx, "predict", NULL, &good, 1, &e), KDR_ERR_ARGUMENT);
	assert_int_equal(kdr_estimate_bytes_job(ctx, "nope", NULL, &good, 1, &e), KDR_ERR_ARGUMENT);
	assert_int_equal(kdr_estimate_bytes_vectorize(ctx, NULL, 1, NULL, &e), KDR_ERR_ARGUMENT);
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fit__of_every_method__needs_what_is_estimated),
		cmocka_unit_test(predict__of_every_method__needs_what_is_estimated),
		cmocka_unit_test(relate_and_embed__need_what_is_estimated),
		cmocka_unit_test(vectorize__needs_what_is_estimated_from_its_first_texts),
		cmocka_unit_test(estimates__of_every_method__grow_with_the_data),
		cmocka_unit_test(jobs__above_the_limit__are_refused_with_the_numbers),
		cmocka_unit_test(arguments__that_make_no_sense__are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
