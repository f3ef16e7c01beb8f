/* What jobs that fit nothing will take: memory is what the allocator sees, and what is too much is refused before it begins. */
#include "tests/unit/meter.h"

#include <unistd.h>

#include "kindred/kindred.h"

enum { ROWS = 3000, WIDE = 60, K = 3 };

typedef struct world {
	meter seen;
	kdr_context *ctx;
	double *x[2];
	int64_t *rowptr;
	int32_t *col;
	kdr_data *data[2];
	kdr_task_shape shapes[2];
} world;

/* Two tasks of three groups; every third entry where they are sparse. */
static void world_new(world *w, bool sparse)
{
	const int64_t entries = sparse ? WIDE / 3 : WIDE;
	kdr_allocator a = meter_allocator(&w->seen);
	kdri_rng rng = kdri_rng_stream(1, "foresee", 0);
	assert_int_equal(kdr_context_new(&w->ctx, &a), KDR_OK);
	kdr_context_set_threads(w->ctx, 1);
	w->rowptr = calloc(ROWS + 1, sizeof *w->rowptr);
	w->col = calloc((size_t)(ROWS * entries), sizeof *w->col);
	assert_non_null(w->rowptr);
	assert_non_null(w->col);
	for (int64_t i = 0; i < ROWS; i++) {
		w->rowptr[i + 1] = (i + 1) * entries;
		for (int64_t j = 0; j < entries; j++)
			w->col[i * entries + j] = (int32_t)(sparse ? 3 * j + i % 3 : j);
	}
	for (int t = 0; t < 2; t++) {
		w->x[t] = calloc((size_t)(ROWS * entries), sizeof *w->x[t]);
		assert_non_null(w->x[t]);
		for (int64_t i = 0; i < ROWS * entries; i++)
			w->x[t][i] = fabs(kdri_rng_normal(&rng)) + (w->col[i] % K == i / entries % K ? 2 : 0);
		kdr_mat m = sparse ? kdr_mat_from_csr(ROWS, WIDE, w->rowptr, w->col, w->x[t])
		                   : kdr_mat_from_dense(w->x[t], ROWS, WIDE);
		assert_ok(w->ctx, kdr_data_borrow(w->ctx, t ? "b" : "a", &m, NULL, NULL, &w->data[t]));
		w->shapes[t] = (kdr_task_shape){
			.rows = ROWS, .cols = WIDE, .entries = sparse ? ROWS * entries : 0, .dense = !sparse
		};
	}
	w->seen.most = w->seen.held;
}

static void world_free(world *w)
{
	for (int t = 0; t < 2; t++) {
		kdr_data_free(w->data[t]);
		free(w->x[t]);
	}
	free(w->rowptr);
	free(w->col);
	kdr_context_free(w->ctx);
	*w = (world){ 0 };
}

/* Data and work together, as they are said. `before`: held when it began. */
static void assert_memory(const world *w, const kdr_estimate *e, double before, const char *what)
{
	double came = e->data_bytes + w->seen.most - before, slack = 6e5;
	if (e->bytes > 2 * came + slack || came > 2 * e->bytes + slack)
		fail_msg("%s: %.2f MB, estimated %.2f MB", what, came / 1e6, e->bytes / 1e6);
	assert_true(e->seconds > 0 && isfinite(e->seconds));
}

static void memory__of_relate_and_embed__is_what_the_allocator_sees(void **state)
{
	(void)state;
	for (int sparse = 0; sparse < 2; sparse++) {
		world w = { 0 };
		kdr_estimate e;
		kdr_relation *r = NULL;
		kdr_embedding *m = NULL;
		kdr_embed_options o;
		kdr_relation_options told;
		world_new(&w, sparse);
		kdr_relation_options_init(&told);
		told.choice = KDR_PREP_AS_TOLD;
		assert_ok(w.ctx, kdr_estimate_relate(w.ctx, w.shapes, 2, NULL, &e));
		double before = w.seen.most = w.seen.held;
		assert_ok(w.ctx, kdr_relate(w.ctx, w.data, 2, &told, &r));
		assert_memory(&w, &e, before, "relate");
		kdr_relation_free(r);
		kdr_embed_options_init(&o);
		o.choice = KDR_PREP_AS_TOLD;
		o.sweeps = 3;
		assert_ok(w.ctx, kdr_estimate_embed(w.ctx, w.shapes, 2, &o, &e));
		before = w.seen.most = w.seen.held;
		assert_ok(w.ctx, kdr_embed(w.ctx, w.data, 2, &o, &m));
		assert_memory(&w, &e, before, "embed");
		kdr_embedding_free(m);
		world_free(&w);
	}
}

static void memory__of_predict__is_what_the_allocator_sees(void **state)
{
	(void)state;
	static const char *const methods[] = { "kmeans", "mbc", "pca-kmeans", "lssmtc", "snmf", "mtcfir" };
	for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
		for (int sparse = 0; sparse < 2; sparse++) {
			world w = { 0 };
			kdr_estimate e;
			kdr_result *fitted = NULL, *r = NULL;
			kdr_model *model = NULL;
			kdr_task task = { .name = "a", .k = K };
			const kdr_problem problem = { .tasks = &task, .ntasks = 1 };
			world_new(&w, sparse);
			task.x = sparse ? kdr_mat_from_csr(300, WIDE, w.rowptr, w.col, w.x[0])
			                : kdr_mat_from_dense(w.x[0], 300, WIDE);
			assert_ok(w.ctx, kdr_fit(w.ctx, methods[i], &problem, NULL, &fitted));
			assert_ok(w.ctx, kdr_model_new(w.ctx, fitted, &model));
			assert_ok(w.ctx, kdr_estimate_predict(w.ctx, model, &w.shapes[1], &e));
			double before = w.seen.most = w.seen.held;
			assert_ok(w.ctx, kdr_predict(w.ctx, model, w.data[1], NULL, &r));
			assert_memory(&w, &e, before, methods[i]);
			kdr_result_free(r);
			kdr_model_free(model);
			kdr_result_free(fitted);
			world_free(&w);
		}
}

/* Documents of words out of 5000, enough for two batches and more. */
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

static void memory__of_vectorize__is_what_the_allocator_sees(void **state)
{
	(void)state;
	char path[] = "/tmp/kindred-test-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	/* Less than is looked at, and more. */
	for (int64_t n = 500; n <= 80000; n = n < 80000 ? 80000 : n + 1) {
		const kdr_corpus corpus = { .path = path, .kind = KDR_CORPUS_LINES };
		kdr_estimate e;
		kdr_data *data = NULL;
		world w = { 0 };
		write_texts(path, n);
		world_new(&w, false);
		assert_ok(w.ctx, kdr_estimate_vectorize(w.ctx, &corpus, 1, NULL, &e));
		double before = w.seen.most = w.seen.held;
		assert_ok(w.ctx, kdr_vectorize(w.ctx, &corpus, 1, NULL, &data, NULL));
		double came = w.seen.most - before, slack = 3.1e7; /* the tables of batches, used or not */
		if (e.bytes > 2 * came + slack || came > 2 * e.bytes)
			fail_msg("%d texts: %.2f MB, estimated %.2f MB", (int)n, came / 1e6, e.bytes / 1e6);
		assert_true(e.seconds > 0);
		kdr_data_free(data);
		data = NULL;
		if (n == 80000) {
			kdr_context_set_max_memory(w.ctx, 10e6);
			assert_int_equal(kdr_vectorize(w.ctx, &corpus, 1, NULL, &data, NULL), KDR_ERR_MEMORY);
			assert_non_null(strstr(kdr_context_error(w.ctx),
			                       "vectorize on these data is estimated to take"));
			assert_non_null(strstr(kdr_context_error(w.ctx), "--max-memory allows 0.01 GB"));
			assert_null(data);
		}
		world_free(&w);
	}
	remove(path);
}

static void jobs__above_the_limit__are_refused_with_the_numbers(void **state)
{
	(void)state;
	world w = { 0 };
	kdr_result *fitted = NULL, *r = NULL;
	kdr_model *model = NULL;
	kdr_relation *relation = NULL;
	kdr_embedding *embedding = NULL;
	world_new(&w, false);
	kdr_task task = { .name = "a", .k = K, .x = kdr_mat_from_dense(w.x[0], 300, WIDE) };
	const kdr_problem problem = { .tasks = &task, .ntasks = 1 };
	assert_ok(w.ctx, kdr_fit(w.ctx, "mtcfir", &problem, NULL, &fitted));
	assert_ok(w.ctx, kdr_model_new(w.ctx, fitted, &model));
	kdr_context_set_max_memory(w.ctx, 5e6);
	assert_int_equal(kdr_predict(w.ctx, model, w.data[0], NULL, &r), KDR_ERR_MEMORY);
	assert_non_null(strstr(kdr_context_error(w.ctx), "predict on these data is estimated to take"));
	assert_int_equal(kdr_relate(w.ctx, w.data, 2, NULL, &relation), KDR_ERR_MEMORY);
	assert_non_null(strstr(kdr_context_error(w.ctx), "relate on these data is estimated to take"));
	assert_int_equal(kdr_embed(w.ctx, w.data, 2, NULL, &embedding), KDR_ERR_MEMORY);
	assert_non_null(strstr(kdr_context_error(w.ctx), "embed on these data is estimated to take"));
	assert_null(r);
	assert_null(relation);
	assert_null(embedding);
	kdr_model_free(model);
	kdr_result_free(fitted);
	world_free(&w);
}

static void seconds__of_more_rows__are_more(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_estimate e[4];
	for (int i = 0; i < 2; i++) {
		const kdr_task_shape s = { .rows = i ? 1000000 : 100000, .cols = 50, .dense = true },
		                     both[2] = { s, s };
		assert_ok(ctx, kdr_estimate_relate(ctx, both, 2, NULL, &e[i]));
		assert_ok(ctx, kdr_estimate_embed(ctx, both, 2, NULL, &e[2 + i]));
	}
	assert_true(e[1].seconds > 3 * e[0].seconds && e[1].bytes > 9 * e[0].bytes);
	assert_true(e[3].seconds > 3 * e[2].seconds && e[3].bytes > 9 * e[2].bytes);
	const kdr_task_shape none = { .rows = 0, .cols = 50, .dense = true };
	assert_int_equal(kdr_estimate_relate(ctx, &none, 1, NULL, &e[0]), KDR_ERR_ARGUMENT);
	assert_int_equal(kdr_estimate_embed(ctx, &none, 1, NULL, &e[0]), KDR_ERR_ARGUMENT);
	assert_int_equal(kdr_estimate_predict(ctx, NULL, &none, &e[0]), KDR_ERR_ARGUMENT);
	assert_int_equal(kdr_estimate_vectorize(ctx, NULL, 1, NULL, &e[0]), KDR_ERR_ARGUMENT);
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory__of_relate_and_embed__is_what_the_allocator_sees),
		cmocka_unit_test(memory__of_predict__is_what_the_allocator_sees),
		cmocka_unit_test(memory__of_vectorize__is_what_the_allocator_sees),
		cmocka_unit_test(jobs__above_the_limit__are_refused_with_the_numbers),
		cmocka_unit_test(seconds__of_more_rows__are_more),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
