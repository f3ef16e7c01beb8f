/* The limit on memory: every method and job ends with a message and leaves nothing behind. */
#include "tests/unit/unit.h"

#include "api/result.h"
#include "core/limit.h"

#include <unistd.h>

/* Small data sets: overlapping groups, dense or sparse. */
enum { FEW_ROWS = 120, MOST_ROWS = 400, DENSE = 20, SPARSE = 400, ENTRIES = 20, TASKS = 3, K = 3 };
static const double plenty = 1e12;

typedef struct world {
	kdr_context *ctx;
	double *x[TASKS];
	int64_t *labels, *rowptr;
	int32_t *col[TASKS];
	kdr_task tasks[TASKS];
	int64_t rows, wide;
	bool sparse;
} world;

static kdr_mat mat_of(const world *w, int t, int64_t rows)
{
	return w->sparse ? kdr_mat_from_csr(rows, w->wide, w->rowptr, w->col[t], w->x[t])
	                 : kdr_mat_from_dense(w->x[t], rows, w->wide);
}

static void world_new(world *w, int64_t rows, bool sparse, bool nonnegative)
{
	static const char *const names[TASKS] = { "a", "b", "c" };
	kdri_rng rng = kdri_rng_stream(1, "limit", 0);
	const int64_t entries = sparse ? ENTRIES : DENSE, step = SPARSE / ENTRIES;
	*w = (world){
		.ctx = unit_context(), .rows = rows, .sparse = sparse, .wide = sparse ? SPARSE : DENSE
	};
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
		w->tasks[t] = (kdr_task){ .name = names[t], .x = mat_of(w, t, rows), .k = K };
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

static bool says(const kdr_context *ctx, const char *piece)
{
	return strstr(kdr_context_error(ctx), piece) != NULL;
}

/* Whether a warning says that something was skipped because of the limit. */
static bool has_note(const kdr_result *r, const char *piece)
{
	for (int64_t i = 0; i < r->warning_count; i++)
		if (strstr(r->warnings[i], "--max-memory allows") && strstr(r->warnings[i], piece))
			return true;
	return false;
}

/* The context may allocate `share` of what `peak` is above the bytes in use. */
static double limit_to(kdr_context *ctx, double peak, double share)
{
	const double used = kdri_limit_used(ctx, false);
	kdr_context_set_max_memory(ctx, used + share * (peak - used));
	return used;
}

/* Starts counting; the bytes in use. */
static double begin(kdr_context *ctx)
{
	kdr_context_set_max_memory(ctx, plenty);
	(void)kdri_limit_used(ctx, true);
	return kdri_limit_used(ctx, false);
}

/* --- methods -------------------------------------------------------------------------------------------------------- */

static void fit__of_every_method_with_half_its_memory__ends_with_a_message(void **state)
{
	(void)state;
	for (size_t i = 0; i < kdr_algo_count(); i++)
		for (int sparse = 0; sparse < 2; sparse++) {
			const kdr_algo *algo = kdr_algo_at(i);
			world w;
			kdr_result *r = NULL;
			char named[80];
			world_new(&w, FEW_ROWS, sparse, algo->flags & KDR_ALGO_NONNEG);
			const kdr_problem problem = problem_of(&w, algo);
			const double before = begin(w.ctx);
			kdr_options *options = short_options(w.ctx, algo);
			const double with_options = kdri_limit_used(w.ctx, false);
			assert_ok(w.ctx, kdr_fit(w.ctx, algo->id, &problem, options, &r));
			const double peak = kdri_limit_used(w.ctx, true);
			kdr_result_free(r);
			r = NULL;
			assert_near(kdri_limit_used(w.ctx, false), with_options, 0);
			(void)limit_to(w.ctx, peak, 0.5);
			kdr_status st = kdr_fit(w.ctx, algo->id, &problem, options, &r);
			snprintf(named, sizeof named, "method '%s' needs another ", algo->id);
			if (st == KDR_OK && strstr(algo->id, "auto")) {
				assert_true(has_note(r, "method '"));
			} else {
				assert_int_equal(st, KDR_ERR_MEMORY);
				assert_true(w.ctx->over_limit);
				if (!strstr(algo->id, "auto") && !says(w.ctx, named))
					fail_msg("%s: %s", algo->id, kdr_context_error(w.ctx));
				assert_true(says(w.ctx, " of memory, but "));
				assert_true(
				        says(w.ctx, " that --max-memory allows are in use; raise the limit"));
				assert_null(r);
			}
			kdr_result_free(r);
			kdr_options_free(options);
			assert_near(kdri_limit_used(w.ctx, false), before, 0);
			/* The same context can be used again. */
			kdr_context_set_max_memory(w.ctx, 0);
			r = NULL;
			assert_ok(w.ctx, kdr_fit(w.ctx, "kmeans", &problem, NULL, &r));
			kdr_result_free(r);
			world_free(&w);
		}
}

/* With little less than their peak, ensembles do without the method that needs most. */
static void ensembles__with_too_little_memory_for_a_member__skip_it_with_a_note(void **state)
{
	(void)state;
	static const char *const ids[] = { "auto", "auto-transfer" };
	for (int a = 0; a < 2; a++) {
		const kdr_algo *algo = kdr_algo_find(ids[a]);
		world w;
		kdr_result *r = NULL;
		bool skipped = false;
		world_new(&w, MOST_ROWS, a == 1, true); /* sparse: 'denoised features' needs most */
		kdr_context_set_threads(w.ctx, 2);
		const kdr_problem problem = problem_of(&w, algo);
		const double before = begin(w.ctx);
		assert_ok(w.ctx, kdr_fit(w.ctx, algo->id, &problem, NULL, &r));
		assert_false(has_note(r, ""));
		const double peak = kdri_limit_used(w.ctx, true);
		kdr_result_free(r);
		for (int twentieth = 19; twentieth > 5 && !skipped; twentieth--) {
			r = NULL;
			(void)limit_to(w.ctx, peak, twentieth / 20.0);
			kdr_status st = kdr_fit(w.ctx, algo->id, &problem, NULL, &r);
			skipped = st == KDR_OK && has_note(r, "method '");
			assert_true(st == KDR_OK || (st == KDR_ERR_MEMORY && w.ctx->over_limit));
			for (int64_t t = 0; st == KDR_OK && t < problem.ntasks; t++)
				assert_true(kdr_result_labels(r, t, NULL) ||
				            problem.tasks[t].role == KDR_ROLE_SOURCE);
			kdr_result_free(r);
			assert_near(kdri_limit_used(w.ctx, false), before, 0);
		}
		assert_true(skipped);
		world_free(&w);
	}
}

/* --- jobs ----------------------------------------------------------------------------------------------------------- */

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

typedef struct jobs {
	kdr_model *model;
	kdr_data *data[2];
	const char *texts;
} jobs;

static kdr_status run_job(kdr_context *ctx, const jobs *j, int which)
{
	const kdr_corpus corpus = { .path = j->texts, .kind = KDR_CORPUS_LINES };
	kdr_result *labels = NULL;
	kdr_embedding *map = NULL;
	kdr_data *words = NULL;
	char *json = NULL;
	kdr_status st = which == 0   ? kdr_predict(ctx, j->model, j->data[0], NULL, &labels)
	                : which == 1 ? kdr_relate(ctx, j->data, 2, NULL, &json, NULL)
	                : which == 2 ? kdr_embed(ctx, j->data, 2, NULL, &map)
	                             : kdr_vectorize(ctx, &corpus, 1, NULL, &words, NULL);
	assert_true(st == KDR_OK || (!labels && !map && !words && !json));
	kdr_result_free(labels);
	kdr_embedding_free(map);
	kdr_data_free(words);
	kdr_free(ctx, json);
	return st;
}

static void jobs__with_half_their_memory__end_with_a_message(void **state)
{
	(void)state;
	world w;
	kdr_result *fitted = NULL;
	char path[] = "/tmp/kindred-texts-XXXXXX";
	int fd = mkstemp(path);
	jobs j = { .texts = path };
	assert_true(fd >= 0);
	close(fd);
	write_texts(path, 2000);
	world_new(&w, MOST_ROWS, false, false);
	for (int t = 0; t < 2; t++)
		assert_ok(w.ctx,
		          kdr_data_borrow(w.ctx, t ? "b" : "a", &w.tasks[t].x, NULL, NULL, &j.data[t]));
	const kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = w.tasks, .ntasks = 1 };
	assert_ok(w.ctx, kdr_fit(w.ctx, "kmeans", &problem, NULL, &fitted));
	assert_ok(w.ctx, kdr_model_new(w.ctx, fitted, &j.model));
	for (int which = 0; which < 4; which++) {
		const double before = begin(w.ctx);
		assert_ok(w.ctx, run_job(w.ctx, &j, which));
		const double peak = kdri_limit_used(w.ctx, true);
		assert_near(limit_to(w.ctx, peak, 0.5), before, 0);
		assert_int_equal(run_job(w.ctx, &j, which), KDR_ERR_MEMORY);
		assert_true(says(w.ctx, "--max-memory allows"));
		assert_near(kdri_limit_used(w.ctx, false), before, 0);
	}
	kdr_context_set_max_memory(w.ctx, 0);
	kdr_model_free(j.model);
	kdr_result_free(fitted);
	kdr_data_free(j.data[0]);
	kdr_data_free(j.data[1]);
	world_free(&w);
	remove(path);
}

/* --- the allocator -------------------------------------------------------------------------------------------------- */

static void limit__counts_blocks_and_refuses_those_beyond(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	enum { MANY = 3000 };
	char *early = NULL, *p = NULL, *q = NULL, *many[MANY] = { NULL };
	assert_ok(ctx, KDRI_NEW(ctx, &early, 5000));
	kdr_context_set_max_memory(ctx, 1e6);
	assert_near(kdri_limit_used(ctx, false), 0, 0);
	assert_ok(ctx, KDRI_NEW(ctx, &p, 400000));
	assert_ok(ctx, KDRI_GROW(ctx, &p, 600000));
	assert_near(kdri_limit_used(ctx, false), 600000, 0);
	assert_int_equal(KDRI_NEW0(ctx, &q, 400001), KDR_ERR_MEMORY);
	assert_true(ctx->over_limit);
	assert_string_equal(
	        kdr_context_error(ctx),
	        "this job needs another 400 kB of memory, but 600 kB of the 1 MB that --max-memory allows are in use; raise the limit or use fewer samples");
	assert_int_equal(KDRI_GROW(ctx, &p, 1000001), KDR_ERR_MEMORY);
	assert_ok(ctx, KDRI_GROW(ctx, &p, 1000000));
	assert_near(kdri_limit_used(ctx, true), 1000000, 0);
	kdri_free(ctx, p);
	/* A block from before the limit is not counted, also when it grows. */
	assert_ok(ctx, KDRI_GROW(ctx, &early, 2000000));
	kdri_free(ctx, early);
	assert_near(kdri_limit_used(ctx, false), 0, 0);
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < MANY; i++) {
			assert_ok(ctx, KDRI_NEW(ctx, &many[i], 10 + i % 7));
			many[i][0] = (char)i;
		}
		for (int i = 0; i < MANY; i += 2)
			assert_ok(ctx, KDRI_GROW(ctx, &many[i], 200));
		for (int i = 0; i < MANY; i++)
			assert_int_equal(many[i][0], (char)i);
		for (int i = 0; i < MANY; i += 2)
			kdri_free(ctx, many[i]);
		for (int i = MANY - 1; i > 0; i -= 2)
			kdri_free(ctx, many[i]);
		assert_near(kdri_limit_used(ctx, false), 0, 0);
	}
	/* An array that no machine has is refused without a limit, too. */
	kdr_context_set_max_memory(ctx, 0);
	assert_int_equal(KDRI_NEW(ctx, &q, (int64_t)1 << 50), KDR_ERR_MEMORY);
	assert_false(ctx->over_limit);
	assert_true(says(ctx, "this machine has"));
	kdr_context_free(ctx);
}

static void limit__objects_outlive_their_context(void **state)
{
	(void)state;
	static const double x[] = { 1, 2, 3, 4 };
	const kdr_mat m = kdr_mat_from_dense(x, 2, 2);
	kdr_data *d = NULL;
	for (int mapped = 0; mapped < 2; mapped++) {
		kdr_context *ctx = unit_context();
		if (mapped)
			assert_ok(ctx, kdri_spool_enable(ctx));
		kdr_context_set_max_memory(ctx, 1e6);
		assert_ok(ctx, kdr_data_new(ctx, "a", &m, NULL, &d));
		assert_true(kdri_limit_used(ctx, false) > 0);
		kdr_context_free(ctx);
		kdr_data_free(d);
	}
}

/* Scratch files are not memory; any number of contexts may have both. */
static void limit__mapped_files_do_not_count(void **state)
{
	(void)state;
	for (int i = 0; i < 100; i++) {
		kdr_context *ctx = unit_context();
		double *x = NULL;
		if (i % 2)
			assert_ok(ctx, kdri_spool_enable(ctx));
		kdr_context_set_max_memory(ctx, 1e5);
		kdri_spool_begin(ctx, true);
		assert_ok(ctx, KDRI_NEW(ctx, &x, 100000));
		assert_true(kdri_spooled(x));
		assert_true(kdri_limit_used(ctx, false) < 1000);
		kdri_spool_begin(ctx, false);
		kdri_free(ctx, x);
		assert_near(kdri_limit_used(ctx, false), 0, 0);
		assert_int_equal(KDRI_NEW(ctx, &x, 100000), KDR_ERR_MEMORY);
		assert_true(ctx->over_limit);
		kdr_context_set_max_memory(ctx, 0);
		kdr_context_free(ctx);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limit__counts_blocks_and_refuses_those_beyond),
		cmocka_unit_test(limit__objects_outlive_their_context),
		cmocka_unit_test(limit__mapped_files_do_not_count),
		cmocka_unit_test(jobs__with_half_their_memory__end_with_a_message),
		cmocka_unit_test(ensembles__with_too_little_memory_for_a_member__skip_it_with_a_note),
		cmocka_unit_test(fit__of_every_method_with_half_its_memory__ends_with_a_message),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
