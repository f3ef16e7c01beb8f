/* Preprocessing: steps and their order, failures that change nothing, new samples, model dumps. */
#include "prepare/prep.h"
#include "tests/unit/prep_data.h"

static kdr_data *random_task(kdr_context *ctx, kdri_rng *rng, const char *name, int64_t rows, int64_t cols,
                             const char *names)
{
	double x[4096];
	for (int64_t i = 0; i < rows * cols; i++)
		x[i] = kdri_rng_below(rng, 3) ? 0 : 1 + floor(9 * kdri_rng_uniform(rng));
	return dense_data(ctx, name, rows, cols, x, names);
}

static kdr_data *same_again(kdr_context *ctx, const kdr_data *d)
{
	kdr_mat m = kdr_data_mat(d);
	kdr_data *out = NULL;
	assert_ok(ctx, kdr_data_new(ctx, d->name, &m, kdr_data_features(d), &out));
	return out;
}

/* --- steps ------------------------------------------------------------------------------------- */

static void steps__all_options__dense_equals_sparse_for_any_threads(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(5, "test", 0);
	for (int i = 0; i < 5 * 3 * 2 * 2 * 3; i++) {
		kdr_prep_options o = { .size = sizeof(kdr_prep_options),
			               .weight = (kdr_weight)(i % 5),
			               .norm = (kdr_norm)(i / 5 % 3),
			               .scale = i / 15 % 2 ? KDR_SCALE_MINMAX : KDR_SCALE_NONE,
			               .fit_each = i / 30 % 2,
			               .top_features = i / 60 * 3 };
		kdr_data *dense[2], *sparse[2], *other[2];
		for (int t = 0; t < 2; t++) {
			dense[t] = random_task(ctx, &rng, t ? "b" : "a", 130 + 450 * t, 7,
			                       t ? "g f e d c b a" : "a b c d e f h");
			sparse[t] = sparse_copy(ctx, dense[t]);
			other[t] = same_again(ctx, sparse[t]);
		}
		kdr_context_set_threads(ctx, 1);
		assert_ok(ctx, kdr_prepare(ctx, dense, 2, &o, NULL));
		assert_ok(ctx, kdr_prepare(ctx, sparse, 2, &o, NULL));
		kdr_context_set_threads(ctx, 3);
		assert_ok(ctx, kdr_prepare(ctx, other, 2, &o, NULL));
		for (int t = 0; t < 2; t++) {
			assert_same_data(sparse[t], dense[t], 1e-13);
			assert_same_data(sparse[t], other[t], 0);
			kdr_data_free(dense[t]);
			kdr_data_free(sparse[t]);
			kdr_data_free(other[t]);
		}
	}
	kdr_context_free(ctx);
}

static void borrowed__changed__what_is_borrowed_stays_as_it_was(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(6, "test", 0);
	for (int i = 0; i < 16; i++) {
		/* As it is; weighted; fewer columns; more columns. */
		const kdr_prep_options o = { .size = sizeof(kdr_prep_options),
			                     .weight = i % 4 ? KDR_WEIGHT_TFIDF : KDR_WEIGHT_NONE,
			                     .top_features = i % 4 == 2 ? 3 : 0 };
		kdr_data *plain = random_task(ctx, &rng, "a", 90, 7, "a b c d e f g");
		kdr_data *kept = i / 4 % 2 ? sparse_copy(ctx, plain) : same_again(ctx, plain);
		kdr_data *owned[2] = { same_again(ctx, kept), NULL }, *borrowed[2] = { NULL, NULL };
		kdr_data *before = same_again(ctx, kept);
		const kdr_mat x = kdr_data_mat(kept);
		assert_ok(ctx, kdr_data_borrow(ctx, "a", &x, kdr_data_features(kept), NULL, &borrowed[0]));
		for (int t = 0; i % 4 == 3 && t < 2; t++)
			*(t ? &owned[1] : &borrowed[1]) = random_task(
			        ctx, &(kdri_rng){ { 1, 2, 3, (uint64_t)i } }, "b", 20, 3, "x y z");
		assert_ok(ctx, kdr_prepare(ctx, owned, owned[1] ? 2 : 1, &o, NULL));
		assert_ok(ctx, kdr_prepare(ctx, borrowed, owned[1] ? 2 : 1, &o, NULL));
		assert_same_data(owned[0], borrowed[0], 0);
		assert_same_data(before, kept, 0);
		assert_int_equal(borrowed[0]->borrowed, i % 4 == 0);
		for (int t = 0; t < 2; t++) {
			kdr_data_free(owned[t]);
			kdr_data_free(borrowed[t]);
		}
		kdr_data_free(before);
		kdr_data_free(kept);
		kdr_data_free(plain);
	}
	kdr_context_free(ctx);
}

static void steps__weight_norm_scale__in_that_order(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	const double x[] = { 3, 1, 0, 2 };
	kdr_data *d = dense_data(ctx, "a", 2, 2, x, NULL);
	kdr_prep_options o = { .size = sizeof(kdr_prep_options),
		               .weight = KDR_WEIGHT_LOG1P,
		               .norm = KDR_NORM_L1,
		               .scale = KDR_SCALE_MINMAX };
	assert_ok(ctx, kdr_prepare(ctx, &d, 1, &o, NULL));
	/* Rows (ln 4, ln 2) and (0, ln 3) to shares (2/3, 1/3) and (0, 1), to (1, 0) and (0, 1). */
	const double want[] = { 1, 0, 0, 1 };
	for (int i = 0; i < 4; i++)
		assert_near(d->dense[i], want[i], 1e-15);
	kdr_data_free(d);
	kdr_context_free(ctx);
}

static void cpm__odd_and_even_rows__median_of_positive_totals(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	const double x[] = { 1, 1, 0, 0, 3, 1, 10, 0 }; /* totals 2, 0, 4, 10: median 4, or 3 of two */
	for (int64_t rows = 3; rows <= 4; rows++) {
		double median = rows == 4 ? 4 : 3;
		kdr_data *d = dense_data(ctx, "a", rows, 2, x, NULL);
		assert_ok(ctx, kdr_prepare(ctx, &d, 1,
		                           &(kdr_prep_options){ .size = sizeof(kdr_prep_options),
		                                                .weight = KDR_WEIGHT_CPM },
		                           NULL));
		assert_near(d->dense[0], log1p(median / 2), 1e-15);
		assert_near(d->dense[2], 0, 0);
		assert_near(d->dense[4], log1p(3 * median / 4), 1e-15);
		kdr_data_free(d);
	}
	kdr_context_free(ctx);
}

static void totals__cpm_without_more__same_number_for_other_data(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	const double x[] = { 1, 1, 0, 0, 3, 1, 10, 0 };
	const kdr_prep_options options[] = {
		{ .size = sizeof(kdr_prep_options), .weight = KDR_WEIGHT_CPM, .norm = KDR_NORM_L2 },
		{ .size = sizeof(kdr_prep_options), .weight = KDR_WEIGHT_CPM },
		{ .size = sizeof(kdr_prep_options), .weight = KDR_WEIGHT_TFIDF, .norm = KDR_NORM_L2 },
		{ .size = sizeof(kdr_prep_options), .weight = KDR_WEIGHT_CPM, .scale = KDR_SCALE_MINMAX },
		{ .size = sizeof(kdr_prep_options), .weight = KDR_WEIGHT_CPM, .top_features = 1 },
		{ .size = sizeof(kdr_prep_options), .norm = KDR_NORM_L2 },
	};
	uint64_t found[6][2];
	for (int i = 0; i < 6; i++)
		for (int64_t count = 1; count <= 2; count++) {
			kdr_data *sets[] = { dense_data(ctx, "a", 4, 2, x, NULL),
				             dense_data(ctx, "b", 3, 2, x + 2, NULL) };
			kdr_prep *prep = NULL;
			assert_ok(ctx, kdr_prepare(ctx, sets, count, &options[i], &prep));
			found[i][count - 1] = kdri_prep_totals(prep);
			kdr_prep_free(prep);
			kdr_data_free(sets[0]);
			kdr_data_free(sets[1]);
		}
	for (int i = 0; i < 6; i++) {
		assert_true(found[i][0] == found[i][1]);
		assert_true((found[i][0] != 0) == (i < 2));
	}
	assert_true(found[0][0] != found[1][0]);
	kdr_context_free(ctx);
}

static void standard__sparse_or_mixed__not_centred_and_said(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(5, "test", 1);
	for (int mixed = 0; mixed < 2; mixed++) {
		kdr_data *a = random_task(ctx, &rng, "a", 20, 4, NULL),
		         *b = random_task(ctx, &rng, "b", 30, 4, NULL);
		kdr_data *sa = sparse_copy(ctx, a), *sb = sparse_copy(ctx, b);
		kdr_data *tasks[2] = { mixed ? a : sa, sb };
		kdr_prep *prep = NULL;
		kdr_prep_options o = { .size = sizeof(kdr_prep_options), .scale = KDR_SCALE_STANDARD };
		assert_ok(ctx, kdr_prepare(ctx, tasks, 2, &o, &prep));
		assert_warning(prep, mixed ? "all were scaled but not centred" : "not centred");
		assert_non_null(strstr(kdri_prep_describe(prep), "standard without centring"));
		double mean = 0, square = 0;
		for (int64_t i = 0; i < 50; i++) {
			double v = i < 20 ? entry(tasks[0], i, 1) : entry(tasks[1], i - 20, 1);
			mean += v / 50;
			square += v * v / 50;
		}
		assert_true(mean > 0.1);
		assert_near(square - mean * mean, 1, 1e-13);
		kdr_prep_free(prep);
		kdr_data_free(a);
		kdr_data_free(b);
		kdr_data_free(sa);
		kdr_data_free(sb);
	}
	kdr_context_free(ctx);
}

static void top_features__ties__variance_then_order(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	/* Document frequencies 1 2 2 3 2; variances of the three with 2: equal, larger, equal. */
	const double x[] = { 9, 1, 5, 1, 1, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0 };
	const char *want[] = { "d", "c d", "b c d", "b c d e" };
	for (int sparse = 0; sparse < 2; sparse++)
		for (int n = 1; n <= 4; n++) {
			kdr_data *d = dense_data(ctx, "a", 3, 5, x, "a b c d e"), *s = sparse_copy(ctx, d);
			kdr_data *task = sparse ? s : d;
			kdr_prep_options o = { .size = sizeof(kdr_prep_options), .top_features = n };
			assert_ok(ctx, kdr_prepare(ctx, &task, 1, &o, NULL));
			assert_features(task, want[n - 1]);
			assert_near(entry(task, 0, task->cols - 1), 1, 0);
			kdr_data_free(d);
			kdr_data_free(s);
		}
	kdr_data *d = dense_data(ctx, "a", 3, 5, x, "a b c d e");
	kdr_prep *prep = NULL;
	assert_ok(ctx, kdr_prepare(ctx, &d, 1,
	                           &(kdr_prep_options){ .size = sizeof(kdr_prep_options), .top_features = 6 },
	                           &prep));
	assert_int_equal(d->cols, 5);
	assert_warning(prep, "all are kept");
	kdr_prep_free(prep);
	kdr_data_free(d);
	kdr_context_free(ctx);
}

/* --- failures ---------------------------------------------------------------------------------- */

static void weight__value_not_allowed__named_and_nothing_changed(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	const double values[] = { -0.5, -1, NAN, INFINITY };
	for (int w = 0; w < 5; w++)
		for (int v = 0; v < 4; v++) {
			kdr_data *a = dense_data(ctx, "a", 2, 2, (double[]){ 1, 2, 3, 4 }, "x y");
			kdr_data *b = dense_data(ctx, "b", 2, 2, (double[]){ 1, 2, 3, values[v] }, "z x");
			kdr_data *was = same_again(ctx, a), *s = sparse_copy(ctx, b);
			kdr_data *tasks[2] = { a, v % 2 ? b : s };
			kdr_prep_options o = { .size = sizeof(kdr_prep_options),
				               .weight = (kdr_weight)w,
				               .norm = KDR_NORM_L2 };
			bool allowed = isfinite(values[v]) &&
			               (w == KDR_WEIGHT_NONE || (w == KDR_WEIGHT_LOG1P && v == 0));
			assert_int_equal(kdr_prepare(ctx, tasks, 2, &o, NULL),
			                 allowed ? KDR_OK : KDR_ERR_DATA);
			if (!allowed) {
				assert_non_null(strstr(kdr_context_error(ctx),
				                       "data set b: row 2, column 2 ('x') is"));
				assert_same_data(a, was, 0);
				assert_int_equal(tasks[1]->cols, 2);
			}
			kdr_data_free(a);
			kdr_data_free(b);
			kdr_data_free(s);
			kdr_data_free(was);
		}
	kdr_context_free(ctx);
}

static void weight__value_not_allowed_in_a_column_left_out__accepted(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_data *tasks[2] = { dense_data(ctx, "a", 1, 2, (double[]){ 1, 2 }, "x y"),
		               dense_data(ctx, "b", 1, 2, (double[]){ NAN, 2 }, "z x") };
	kdr_prep_options o = { .size = sizeof(kdr_prep_options),
		               .align = KDR_ALIGN_INTERSECT,
		               .weight = KDR_WEIGHT_CPM };
	assert_ok(ctx, kdr_prepare(ctx, tasks, 2, &o, NULL));
	assert_near(tasks[0]->dense[0], log1p(1.5), 1e-15); /* totals 1 and 2 over x alone */
	assert_near(tasks[1]->dense[0], log1p(1.5), 1e-15);
	kdr_data_free(tasks[0]);
	kdr_data_free(tasks[1]);
	kdr_context_free(ctx);
}

static void minmax__sparse_with_negative_minimum__unsupported_and_unchanged(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_data *d = dense_data(ctx, "a", 2, 2, (double[]){ 1, -2, 3, 0 }, "x y"), *s = sparse_copy(ctx, d),
	         *was = same_again(ctx, s);
	kdr_prep_options o = { .size = sizeof(kdr_prep_options), .scale = KDR_SCALE_MINMAX };
	assert_int_equal(kdr_prepare(ctx, &s, 1, &o, NULL), KDR_ERR_UNSUPPORTED);
	assert_non_null(strstr(kdr_context_error(ctx), "row 2, column 2 ('y')"));
	assert_same_data(s, was, 0);
	/* A sparse column without zeros can be moved: x is 1, 3. */
	kdr_data *full = dense_data(ctx, "a", 2, 2, (double[]){ 1, 2, 3, 0 }, "x y"),
	         *fs = sparse_copy(ctx, full);
	kdr_prep *prep = NULL;
	assert_ok(ctx, kdr_prepare(ctx, &fs, 1, &o, &prep));
	assert_near(entry(fs, 0, 0), 0, 0);
	assert_near(entry(fs, 1, 0), 1, 0);
	/* But not in a new sample that lacks it. */
	kdr_data *lacks = dense_data(ctx, "n", 1, 2, (double[]){ 0, 2 }, "x y"),
	         *ls = sparse_copy(ctx, lacks);
	assert_int_equal(kdr_prep_apply(ctx, prep, 0, ls), KDR_ERR_UNSUPPORTED);
	assert_ok(ctx, kdr_prep_apply(ctx, prep, 0, lacks));
	assert_near(lacks->dense[0], -0.5, 0);
	kdr_prep_free(prep);
	kdr_data *all[] = { d, s, was, full, fs, lacks, ls };
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		kdr_data_free(all[i]);
	kdr_context_free(ctx);
}

static void arguments__silly__refused(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_data *d = dense_data(ctx, "a", 1, 1, (double[]){ 1 }, NULL), *twice[2] = { d, d };
	assert_int_equal(kdr_prepare(ctx, &d, 0, NULL, NULL), KDR_ERR_ARGUMENT);
	assert_int_equal(kdr_prepare(ctx, twice, 2, NULL, NULL), KDR_ERR_ARGUMENT);
	assert_int_equal(
	        kdr_prepare(ctx, &d, 1,
	                    &(kdr_prep_options){ .size = sizeof(kdr_prep_options), .top_features = -1 },
	                    NULL),
	        KDR_ERR_ARGUMENT);
	assert_int_equal(
	        kdr_prepare(ctx, &d, 1,
	                    &(kdr_prep_options){ .size = sizeof(kdr_prep_options), .weight = (kdr_weight)9 },
	                    NULL),
	        KDR_ERR_ARGUMENT);
	kdr_data_free(d);
	kdr_context_free(ctx);
}

/* An allocator that fails the n-th request and counts live allocations. */
typedef struct stingy {
	int64_t left, out;
} stingy;

static void *stingy_alloc(void *user, size_t size)
{
	stingy *s = user;
	if (s->left-- <= 0)
		return NULL;
	s->out++;
	return malloc(size);
}

static void *stingy_realloc(void *user, void *ptr, size_t size)
{
	stingy *s = user;
	return s->left-- <= 0 ? NULL : realloc(ptr, size);
}

static void stingy_free(void *user, void *ptr)
{
	((stingy *)user)->out -= ptr != NULL;
	free(ptr);
}

static void prepare__every_allocation_fails_in_turn__unchanged_and_no_leak(void **state)
{
	(void)state;
	stingy s = { .left = INT64_MAX };
	kdr_allocator allocator = { stingy_alloc, stingy_realloc, stingy_free, &s };
	kdr_context *ctx = NULL;
	assert_int_equal(kdr_context_new(&ctx, &allocator), KDR_OK);
	kdri_rng rng = kdri_rng_stream(5, "test", 2);
	kdr_prep_options o = { .size = sizeof(kdr_prep_options),
		               .weight = KDR_WEIGHT_TFIDF,
		               .scale = KDR_SCALE_STANDARD,
		               .top_features = 3 };
	bool done = false;
	for (int64_t n = 0; !done; n++) {
		kdr_data *was[2] = { random_task(ctx, &rng, "a", 9, 3, "a b c"),
			             random_task(ctx, &rng, "b", 9, 3, "c d e") };
		kdr_data *tasks[2] = { same_again(ctx, was[0]), sparse_copy(ctx, was[1]) };
		kdr_data *fresh = same_again(ctx, was[0]);
		kdr_prep *prep = NULL, *copy = NULL;
		kdri_prep_dump dump;
		s.left = n;
		kdr_status st = kdr_prepare(ctx, tasks, 2, &o, &prep);
		if (st == KDR_OK) {
			assert_int_equal(kdri_prep_export(ctx, prep, &dump), KDR_OK);
			st = kdri_prep_import(ctx, &dump, &copy);
		} else {
			assert_null(prep);
			assert_same_data(tasks[0], was[0], 0);
			assert_same_data(tasks[1], was[1], 0);
		}
		if (st == KDR_OK)
			st = kdr_prep_apply(ctx, copy, 0, fresh);
		done = st == KDR_OK;
		assert_true(done || st == KDR_ERR_MEMORY);
		assert_same_data(fresh, done ? tasks[0] : was[0], 0);
		s.left = INT64_MAX;
		kdr_prep_free(prep);
		kdr_prep_free(copy);
		kdr_data_free(fresh);
		for (int t = 0; t < 2; t++) {
			kdr_data_free(was[t]);
			kdr_data_free(tasks[t]);
		}
		assert_int_equal(s.out, 1); /* the context alone */
		assert_true(n < 1000);
	}
	kdr_context_free(ctx);
}

/* --- dumps ------------------------------------------------------------------------------------- */

static void dump__all_options__copy_treats_data_alike(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(5, "test", 3);
	for (int i = 0; i < 5 * 3 * 3 * 2 * 2; i++) {
		kdr_prep_options o = { .size = sizeof(kdr_prep_options),
			               .weight = (kdr_weight)(i % 5),
			               .norm = (kdr_norm)(i / 5 % 3),
			               .scale = (kdr_scale)(i / 15 % 3),
			               .fit_each = i / 45 % 2,
			               .top_features = i / 90 * 2 };
		const char *names = i % 2 ? "a b c d" : NULL;
		kdr_data *tasks[2], *one[2], *two[2];
		kdr_prep *prep = NULL, *copy = NULL;
		kdri_prep_dump dump;
		for (int t = 0; t < 2; t++) {
			tasks[t] = random_task(ctx, &rng, t ? "b" : "a", 20, 4, names);
			one[t] = same_again(ctx, tasks[t]);
			two[t] = same_again(ctx, tasks[t]);
		}
		assert_ok(ctx, kdr_prepare(ctx, tasks, 2, &o, &prep));
		assert_ok(ctx, kdri_prep_export(ctx, prep, &dump));
		assert_ok(ctx, kdri_prep_import(ctx, &dump, &copy));
		assert_string_equal(kdri_prep_describe(prep), kdri_prep_describe(copy));
		for (int t = 0; t < 2; t++) {
			assert_ok(ctx, kdr_prep_apply(ctx, prep, t, one[t]));
			assert_ok(ctx, kdr_prep_apply(ctx, copy, t, two[t]));
			assert_same_data(one[t], tasks[t], 0);
			assert_same_data(two[t], tasks[t], 0);
			kdr_data_free(tasks[t]);
			kdr_data_free(one[t]);
			kdr_data_free(two[t]);
		}
		kdr_prep_free(prep);
		kdr_prep_free(copy);
	}
	kdr_context_free(ctx);
}

static void dump__damaged__refused(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdri_rng rng = kdri_rng_stream(5, "test", 4);
	kdr_prep_options o = { .size = sizeof(kdr_prep_options),
		               .weight = KDR_WEIGHT_TFIDF,
		               .scale = KDR_SCALE_MINMAX,
		               .top_features = 2 };
	kdr_data *d = random_task(ctx, &rng, "a", 20, 4, "a b c d");
	kdr_prep *prep = NULL, *copy = NULL;
	kdri_prep_dump whole, dump;
	assert_ok(ctx, kdr_prepare(ctx, &d, 1, &o, &prep));
	assert_ok(ctx, kdri_prep_export(ctx, prep, &whole));
	static const int64_t ints[] = { -1, 2, 3, INT64_MAX, INT64_MIN, (int64_t)1 << 40 };
	static const double reals[] = { NAN, INFINITY, -1 };
	int64_t ibad[4];
	double rbad[4];
	for (int a = 0; a < whole.narrays; a++) {
		kdri_dump_array *x = &dump.arrays[a];
		const char *name = whole.arrays[a].name;
		bool may_lack = strcmp(name, "place") == 0 || strcmp(name, "rows") == 0 ||
		                strcmp(name, "typical") == 0;
		dump = whole;
		x->name = "other";
		assert_int_equal(kdri_prep_import(ctx, &dump, &copy), may_lack ? KDR_OK : KDR_ERR_FORMAT);
		kdr_prep_free(copy);
		copy = NULL;
		dump = whole;
		x->count++;
		assert_int_equal(kdri_prep_import(ctx, &dump, &copy), KDR_ERR_FORMAT);
		dump = whole;
		x->data = NULL;
		assert_int_equal(kdri_prep_import(ctx, &dump, &copy), KDR_ERR_FORMAT);
		dump = whole;
		x->type = x->type == KDR_INT64 ? KDR_FLOAT64 : KDR_INT64;
		assert_int_equal(kdri_prep_import(ctx, &dump, &copy), KDR_ERR_FORMAT);
		for (int v = 0; v < (whole.arrays[a].type == KDR_INT64 ? 6 : 3); v++) {
			dump = whole;
			if (x->type == KDR_INT64) {
				memcpy(ibad, x->data, (size_t)x->count * sizeof *ibad);
				ibad[0] = ints[v];
				x->data = ibad;
			} else {
				memcpy(rbad, x->data, (size_t)x->count * sizeof *rbad);
				rbad[1] = reals[v];
				x->data = rbad;
			}
			kdr_status st = kdri_prep_import(ctx, &dump, &copy);
			/* Some numbers are as good as others: it must only not crash or be taken for what
			 * it is not. */
			bool free_choice = strcmp(name, "tasks") == 0 || strcmp(name, "top_features") == 0 ||
			                   may_lack || (strcmp(name, "offset") == 0 && v == 2);
			assert_true(st == KDR_ERR_FORMAT || (free_choice && st == KDR_OK));
			kdr_prep_free(copy);
			copy = NULL;
		}
	}
	for (int a = 0; a < whole.nstrings; a++) {
		kdri_dump_strings *x = &dump.strings[a];
		static const char *const odd[4] = { "odd", "odd", "odd", NULL };
		dump = whole;
		x->strings = odd;
		assert_int_equal(kdri_prep_import(ctx, &dump, &copy), KDR_ERR_FORMAT);
		dump = whole;
		x->strings = &odd[3];
		x->count = 1;
		assert_int_equal(kdri_prep_import(ctx, &dump, &copy), KDR_ERR_FORMAT);
		dump = whole;
		x->name = NULL;
		assert_int_equal(kdri_prep_import(ctx, &dump, &copy), KDR_ERR_FORMAT);
	}
	/* A position-aligned one whose column count nothing backs, but which claims to be huge. */
	int64_t huge = (int64_t)1 << 61;
	kdr_prep_free(prep);
	prep = NULL;
	assert_ok(ctx, kdr_prepare(ctx, &d, 1,
	                           &(kdr_prep_options){ .size = sizeof(kdr_prep_options),
	                                                .align = KDR_ALIGN_POSITION },
	                           &prep));
	assert_ok(ctx, kdri_prep_export(ctx, prep, &dump));
	dump.nstrings = 4;
	dump.arrays[0].data = &huge;
	for (int a = 0; a < dump.narrays; a++) /* a model of an earlier version does not have these */
		if (strcmp(dump.arrays[a].name, "typical") == 0)
			dump.arrays[a].name = "other";
	assert_ok(ctx, kdri_prep_import(ctx, &dump, &copy));
	assert_int_equal(kdr_prep_apply(ctx, copy, 0, d), KDR_ERR_DATA);
	kdr_prep_free(copy);
	kdr_prep_free(prep);
	kdr_data_free(d);
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps__all_options__dense_equals_sparse_for_any_threads),
		cmocka_unit_test(borrowed__changed__what_is_borrowed_stays_as_it_was),
		cmocka_unit_test(steps__weight_norm_scale__in_that_order),
		cmocka_unit_test(cpm__odd_and_even_rows__median_of_positive_totals),
		cmocka_unit_test(totals__cpm_without_more__same_number_for_other_data),
		cmocka_unit_test(standard__sparse_or_mixed__not_centred_and_said),
		cmocka_unit_test(top_features__ties__variance_then_order),
		cmocka_unit_test(weight__value_not_allowed__named_and_nothing_changed),
		cmocka_unit_test(weight__value_not_allowed_in_a_column_left_out__accepted),
		cmocka_unit_test(minmax__sparse_with_negative_minimum__unsupported_and_unchanged),
		cmocka_unit_test(arguments__silly__refused),
		cmocka_unit_test(prepare__every_allocation_fails_in_turn__unchanged_and_no_leak),
		cmocka_unit_test(dump__all_options__copy_treats_data_alike),
		cmocka_unit_test(dump__damaged__refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
