/* Jobs: automatic choices, the contents of a result, and its texts; rows and classes of data sets. */
#include "api/result.h"
#include "jobs/job.h"
#include "prepare/prep.h"
#include "tests/unit/bytes.h"

enum { N = 12, D = 3 };

/* Two groups along the first column, the second alternates, the third is constant. */
static kdr_data *two_groups(kdr_context *ctx, const char *name)
{
	static const char *const features[D] = { "level", "parity", "one" };
	double x[N * D];
	for (int i = 0; i < N; i++) {
		x[i * D] = i < 4 ? 10 : 2;
		x[i * D + 1] = i % 2;
		x[i * D + 2] = 1;
	}
	kdr_mat m = kdr_mat_from_dense(x, N, D);
	kdr_data *d = NULL;
	assert_ok(ctx, kdr_data_new(ctx, name, &m, features, &d));
	return d;
}

static void cluster__two_groups__profiles_are_exact(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_data *d = two_groups(ctx, "t");
	kdr_result *r = NULL;
	kdr_job_options o;
	kdr_job_options_init(&o);
	o.method = "kmeans";
	o.k = 2;
	o.choice = KDR_PREP_NONE;
	assert_ok(ctx, kdr_cluster(ctx, &d, 1, &o, &r));
	const kdri_cluster_profile p = r->tasks[0].profiles[0];
	assert_int_equal(p.size, 4);
	assert_int_equal(p.nfeatures, 1); /* parity is the same in both, the constant is uninformative */
	assert_string_equal(r->tasks[0].features[p.features[0].column], "level");
	assert_float_equal(p.features[0].mean_inside, 10, 1e-12);
	assert_float_equal(p.features[0].mean_outside, 2, 1e-12);
	/* mean 14/3, standard deviation 8 sqrt(2)/3 */
	assert_float_equal(p.features[0].effect, 8 / (8 * sqrt(2) / 3), 1e-12);
	assert_float_equal(r->tasks[0].profiles[1].features[0].effect, -3 / sqrt(2), 1e-12);
	assert_string_equal(kdr_result_task_name(r, 0), "t");
	assert_string_equal(r->tasks[0].path, "");
	assert_null(kdr_result_task_name(r, 1));
	assert_int_equal(r->tasks[0].scores.n, 0);
	assert_int_equal(r->kind, KDR_DATA_UNKNOWN);
	kdr_result_free(r);
	kdr_data_free(d);
	kdr_context_free(ctx);
}

static void cluster__a_result__outlives_its_data_and_context(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context(), *later = unit_context();
	kdr_data *d[2] = { two_groups(ctx, "a"), two_groups(ctx, "b") };
	kdr_result *r = NULL;
	char *json = NULL;
	kdr_job_options o;
	kdr_job_options_init(&o);
	o.k = 2;
	assert_ok(ctx, kdr_cluster(ctx, d, 2, &o, &r));
	kdr_data_free(d[0]);
	kdr_data_free(d[1]);
	kdr_context_free(ctx);
	assert_ok(later, kdr_result_json(later, r, true, &json, NULL));
	/* Once of one spread, either column makes two groups. */
	assert_true(strstr(json, "\"name\": \"level\"") || strstr(json, "\"name\": \"parity\""));
	assert_non_null(strstr(json, "\"data\": \"a table\""));
	kdr_free(later, json);
	kdr_result_free(r);
	kdr_context_free(later);
}

/* Counts of molecules: rows of a thousand and more in all. */
static kdr_data *molecules(kdr_context *ctx)
{
	enum { ROWS = 40, COLS = 100 };
	static double x[ROWS * COLS];
	kdri_rng rng = kdri_rng_stream(3, "molecules", 0);
	for (int i = 0; i < ROWS * COLS; i++)
		x[i] = floor(-15 * log(1 - kdri_rng_uniform(&rng))) + (i / COLS % 2 == i % 2 ? 20 : 0);
	kdr_mat m = kdr_mat_from_dense(x, ROWS, COLS);
	kdr_data *d = NULL;
	assert_ok(ctx, kdr_data_new(ctx, "cells", &m, NULL, &d));
	return d;
}

static double centre_in_force(kdr_context *ctx, const char *told, kdr_prep_choice choice, kdr_data_kind *kind)
{
	kdr_data *d = molecules(ctx);
	kdr_result *r = NULL;
	kdr_options *settings = NULL;
	kdr_job_options o;
	kdr_job_options_init(&o);
	o.k = 2;
	o.choice = choice;
	assert_ok(ctx, kdr_options_new(ctx, "auto", &settings));
	if (told)
		assert_ok(ctx, kdr_options_set(ctx, settings, "centre", told));
	o.settings = settings;
	assert_ok(ctx, kdr_cluster(ctx, &d, 1, &o, &r));
	double centre = kdr_options_get(r->options, "centre");
	assert_true(kdr_options_get(settings, "centre") ==
	            (told ? 2 : 0)); /* the caller's stay as they were */
	*kind = r->kind;
	kdr_result_free(r);
	kdr_options_free(settings);
	kdr_data_free(d);
	return centre;
}

static void cluster__recipe__chooses_unless_told(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_data_kind kind;
	assert_true(centre_in_force(ctx, NULL, KDR_PREP_DEFAULT, &kind) == 3); /* both */
	assert_int_equal(kind, KDR_DATA_MOLECULES);
	assert_true(centre_in_force(ctx, "no", KDR_PREP_DEFAULT, &kind) == 2);
	assert_int_equal(kind, KDR_DATA_MOLECULES);
	assert_true(centre_in_force(ctx, NULL, KDR_PREP_NONE, &kind) == 0);
	assert_int_equal(kind, KDR_DATA_UNKNOWN);
	kdr_context_free(ctx);
}

/* What a named method does to data: the end of the description of its preprocessing. */
static void check_named(kdr_context *ctx, const char *method, const char *divergence, double add,
                        kdr_prep_choice choice, const char *end, kdr_data_kind kind)
{
	kdr_data *d = molecules(ctx);
	kdr_result *r = NULL;
	kdr_options *settings = NULL;
	kdr_job_options o;
	kdr_job_options_init(&o);
	o.k = 2;
	o.choice = choice;
	d->dense[0] += add;
	assert_ok(ctx, kdr_options_new(ctx, method, &settings));
	if (divergence)
		assert_ok(ctx, kdr_options_set(ctx, settings, "divergence", divergence));
	o.settings = settings;
	assert_ok(ctx, kdr_cluster(ctx, &d, 1, &o, &r));
	const char *text = kdri_prep_describe(r->prep);
	assert_string_equal(strrchr(text, ')'), end);
	assert_int_equal(r->kind, kind);
	kdr_result_free(r);
	kdr_options_free(settings);
	kdr_data_free(d);
}

static void cluster__named_method__has_the_recipe_of_auto(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	const kdr_data_kind cells = KDR_DATA_MOLECULES;
	check_named(ctx, "kmeans", NULL, 0, KDR_PREP_DEFAULT, "); cpm; l2", cells);
	check_named(ctx, "pca-kmeans", NULL, 0, KDR_PREP_DEFAULT, "); cpm; l2", cells);
	check_named(ctx, "kmeans", NULL, 0, KDR_PREP_NONE, ")", KDR_DATA_UNKNOWN);
	/* Not counts any more; auto would bring rows to unit length. */
	check_named(ctx, "kmeans", NULL, -1000.5, KDR_PREP_DEFAULT, ")", KDR_DATA_DENSE);
	check_named(ctx, "kmeans", NULL, -1000.5, KDR_PREP_BY_DATA, "); l2", KDR_DATA_DENSE);
	/* Defined on counts. */
	check_named(ctx, "mbc", "kl", 0, KDR_PREP_DEFAULT, ")", cells);
	check_named(ctx, "mbc", NULL, 0, KDR_PREP_DEFAULT, "); cpm; l2", cells);
	kdr_context_free(ctx);
}

static void cluster__units__are_scaled_as_the_method_needs(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	static const struct {
		const char *method, *end;
		double add;
	} cases[] = {
		{ "kmeans", "); standard", 0 },
		{ "kmeans", ")", -100 }, /* negative values: a warning names the scaling */
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		double x[40];
		kdr_data *d = NULL;
		kdr_result *r = NULL;
		kdr_job_options o;
		kdr_job_options_init(&o);
		o.method = cases[i].method;
		o.k = 2;
		for (int j = 0; j < 20; j++) {
			x[2 * j] = 1 + j % 7;
			x[2 * j + 1] = 1000 + 300.0 * (j % 3) + cases[i].add * (double)(j * j);
		}
		const kdr_mat m = kdr_mat_from_dense(x, 20, 2);
		assert_ok(ctx, kdr_data_new(ctx, "t", &m, NULL, &d));
		assert_ok(ctx, kdr_cluster(ctx, &d, 1, &o, &r));
		assert_string_equal(strrchr(kdri_prep_describe(r->prep), ')'), cases[i].end);
		assert_int_equal(r->kind, KDR_DATA_UNITS);
		assert_int_equal(r->warning_count > 0 && strstr(r->warnings[0], "--scale standard"),
		                 cases[i].add < 0);
		kdr_result_free(r);
		kdr_data_free(d);
	}
	kdr_context_free(ctx);
}

static void pca_kmeans__dense_and_sparse__same_labels(void **state)
{
	(void)state;
	enum { ROWS = 90, COLS = 40 };
	static const double filled[] = { 0.04, 0.5 };
	kdr_context *ctx = unit_context();
	for (int f = 0; f < 2; f++) {
		kdri_rng rng = kdri_rng_stream(8, "storage", (uint64_t)f);
		double x[ROWS * COLS], val[ROWS * COLS];
		int64_t rowptr[ROWS + 1] = { 0 }, at = 0;
		int32_t col[ROWS * COLS];
		kdr_result *r[2] = { NULL };
		for (int i = 0; i < ROWS; i++) {
			for (int j = 0; j < COLS; j++) {
				double v = kdri_rng_uniform(&rng) < filled[f] ? kdri_rng_normal(&rng) : 0;
				x[i * COLS + j] = v;
				col[at] = j;
				val[at] = v;
				at += v != 0;
			}
			rowptr[i + 1] = at;
		}
		for (int kind = 0; kind < 2; kind++) {
			kdr_task task = { .name = "t", .k = 3 };
			task.x = kind ? kdr_mat_from_csr(ROWS, COLS, rowptr, col, val)
			              : kdr_mat_from_dense(x, ROWS, COLS);
			const kdr_problem p = { .size = sizeof p, .tasks = &task, .ntasks = 1 };
			assert_ok(ctx, kdr_fit(ctx, "pca-kmeans", &p, NULL, &r[kind]));
		}
		const kdr_array a = kdr_result_array(r[0], "embedding", 0),
		                b = kdr_result_array(r[1], "embedding", 0);
		/* Products of dense rows are those of a BLAS, whose sums have another order. */
		for (int64_t i = 0; i < a.shape[0] * a.shape[1]; i++)
			assert_true(fabs(((const double *)a.data)[i] - ((const double *)b.data)[i]) < 1e-9);
		assert_memory_equal(kdr_result_labels(r[0], 0, NULL), kdr_result_labels(r[1], 0, NULL),
		                    ROWS * sizeof(int64_t));
		kdr_result_free(r[0]);
		kdr_result_free(r[1]);
	}
	kdr_context_free(ctx);
}

static void ncut__equal_samples__share_a_cluster(void **state)
{
	(void)state;
	enum { ONCE = 40, TWICE = 20, COLS = 3 };
	static const char *const options[][2] = {
		{ "neighbors", "3" },       { "neighbors", "0" },     { "similarity", "gauss" },
		{ "rounding", "rotation" }, { "graph", "landmarks" },
	};
	kdr_context *ctx = unit_context();
	for (uint64_t seed = 0; seed < 10; seed++)
		for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
			kdri_rng rng = kdri_rng_stream(seed, "equal samples", 0);
			double x[(ONCE + TWICE) * COLS];
			int64_t from[TWICE];
			kdr_options *o = NULL;
			kdr_result *r = NULL;
			for (int p = 0; p < ONCE * COLS; p++)
				x[p] = kdri_rng_normal(&rng);
			for (int c = 0; c < TWICE; c++) {
				from[c] = kdri_rng_below(&rng, ONCE);
				memcpy(x + (ONCE + c) * COLS, x + from[c] * COLS, COLS * sizeof *x);
			}
			const kdr_task task = { .name = "t",
				                .k = 4,
				                .x = kdr_mat_from_dense(x, ONCE + TWICE, COLS) };
			const kdr_problem p = { .size = sizeof p, .tasks = &task, .ntasks = 1 };
			assert_ok(ctx, kdr_options_new(ctx, "ncut", &o));
			assert_ok(ctx, kdr_options_set(ctx, o, options[i][0], options[i][1]));
			assert_ok(ctx, kdr_fit(ctx, "ncut", &p, o, &r));
			const int64_t *labels = kdr_result_labels(r, 0, NULL);
			for (int c = 0; c < TWICE; c++)
				assert_int_equal(labels[ONCE + c], labels[from[c]]);
			kdr_result_free(r);
			kdr_options_free(o);
		}
	kdr_context_free(ctx);
}

static void transfer__no_model__has_the_same_labels_and_no_weights(void **state)
{
	(void)state;
	static const char *const names[] = { "a", "b" };
	int64_t labels[N];
	kdr_context *ctx = unit_context();
	kdr_data *source = two_groups(ctx, "source"), *target = two_groups(ctx, "target");
	const kdr_transfer_sets sets = {
		.size = sizeof sets, .sources = &source, .nsources = 1, .targets = &target, .ntargets = 1
	};
	kdr_result *r[3];
	for (int64_t i = 0; i < N; i++)
		labels[i] = i % 2;
	assert_ok(ctx, kdr_data_set_labels(ctx, source, labels, names, 2));
	for (int way = 0; way < 3; way++) {
		kdr_job_options o;
		kdr_job_options_init(&o);
		o.no_model = way > 0;
		o.model = way > 1; /* takes precedence */
		assert_ok(ctx, kdr_transfer(ctx, &sets, &o, &r[way]));
		assert_memory_equal(kdr_result_labels(r[way], 1, NULL), kdr_result_labels(r[0], 1, NULL),
		                    sizeof labels);
		assert_int_equal(kdr_result_array(r[way], "weights", -1).data != NULL, way != 1);
		assert_int_equal(kdr_result_array(r[way], "unit_rows", -1).data != NULL, way != 1);
	}
	for (int way = 0; way < 3; way++)
		kdr_result_free(r[way]);
	kdr_data_free(source);
	kdr_data_free(target);
	kdr_context_free(ctx);
}

static void jobs__bad_requests__are_refused(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_data *d = two_groups(ctx, "t");
	kdr_result *r = NULL;
	char *relation = NULL;
	kdr_job_options o;
	kdr_job_options to;
	kdr_job_options_init(&o);
	kdr_job_options_init(&to);
	assert_fails(ctx, kdr_cluster(ctx, &d, 0, NULL, &r), KDR_ERR_ARGUMENT, "number of data sets");
	o.method = "kmean";
	assert_fails(ctx, kdr_cluster(ctx, &d, 1, &o, &r), KDR_ERR_ARGUMENT, "did you mean kmeans");
	o.method = "svm";
	assert_fails(ctx, kdr_cluster(ctx, &d, 1, &o, &r), KDR_ERR_ARGUMENT, "does not cluster");
	o.method = "kmeans";
	o.k = N + 1;
	assert_fails(ctx, kdr_cluster(ctx, &d, 1, &o, &r), KDR_ERR_ARGUMENT, "12 samples");
	kdr_transfer_sets sets = { .size = sizeof(kdr_transfer_sets), .sources = &d, .nsources = 1 };
	assert_fails(ctx, kdr_transfer(ctx, &sets, &to, &r), KDR_ERR_ARGUMENT, "a source and a target");
	kdr_data *target = two_groups(ctx, "target");
	sets.targets = &target;
	sets.ntargets = 1;
	assert_fails(ctx, kdr_transfer(ctx, &sets, &to, &r), KDR_ERR_DATA, "no classes");
	static const char *const one[] = { "only" };
	const int64_t zeros[N] = { 0 };
	assert_ok(ctx, kdr_data_set_labels(ctx, d, zeros, one, 1));
	assert_fails(ctx, kdr_transfer(ctx, &sets, &to, &r), KDR_ERR_DATA, "1 class;");
	assert_fails(ctx, kdr_relate(ctx, NULL, 1, NULL, &relation, NULL), KDR_ERR_ARGUMENT,
	             "number of data sets");
	assert_null(r);
	assert_null(relation);
	kdr_data_free(target);
	kdr_data_free(d);
	kdr_context_free(ctx);
}

/* --- rows and classes -------------------------------------------------------------------------------- */

static void rows__taken__keep_names_and_classes(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	static const char *const classes[] = { "high", "low" };
	static const int64_t rows[] = { 11, 0, 3 }, wrong[] = { N };
	int64_t labels[N], count;
	kdr_data *d = two_groups(ctx, "t"), *some = NULL;
	for (int i = 0; i < N; i++)
		labels[i] = i < 4 ? 0 : i == 11 ? -1 : 1;
	assert_ok(ctx, kdr_data_set_labels(ctx, d, labels, classes, 2));
	assert_ok(ctx, kdr_data_rows(ctx, d, rows, 3, &some));
	kdr_mat x = kdr_data_mat(some);
	assert_int_equal(kdr_mat_rows(&x), 3);
	assert_true(x.as.dense.data[0] == 2 && x.as.dense.data[D] == 10 && x.as.dense.data[2 * D + 1] == 1);
	assert_int_equal(kdr_data_labels(some)[0], -1);
	assert_int_equal(kdr_data_labels(some)[1], 0);
	assert_string_equal(kdr_data_classes(some, &count)[1], "low");
	assert_string_equal(kdr_data_features(some)[1], "parity");
	assert_fails(ctx, kdr_data_rows(ctx, d, wrong, 1, &some), KDR_ERR_ARGUMENT, "row 12 does not exist");
	labels[5] = 2;
	assert_fails(ctx, kdr_data_set_labels(ctx, d, labels, classes, 2), KDR_ERR_ARGUMENT, "row 6");
	kdr_data_free(some);
	kdr_data_free(d);
	kdr_context_free(ctx);
}

static void merge_classes__different_lists__one_by_first_appearance(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	static const char *const first[] = { "b", "?", "a" }, *const second[] = { "c", "a" };
	kdr_data *d[3] = { two_groups(ctx, "s"), two_groups(ctx, "t"), two_groups(ctx, "u") };
	int64_t x[N], y[N], count;
	for (int i = 0; i < N; i++) {
		x[i] = i % 3;
		y[i] = i % 2;
	}
	assert_ok(ctx, kdr_data_set_labels(ctx, d[0], x, first, 3));
	assert_ok(ctx, kdr_data_set_labels(ctx, d[1], y, second, 2));
	assert_ok(ctx, kdr_data_merge_classes(ctx, d, 2));
	for (int t = 0; t < 2; t++) {
		const char *const *names = kdr_data_classes(d[t], &count);
		assert_int_equal(count, 3);
		assert_string_equal(names[0], "b");
		assert_string_equal(names[1], "a");
		assert_string_equal(names[2], "c");
	}
	for (int i = 0; i < N; i++) {
		assert_int_equal(kdr_data_labels(d[0])[i], i % 3 == 0 ? 0 : i % 3 == 1 ? -1 : 1);
		assert_int_equal(kdr_data_labels(d[1])[i], i % 2 == 0 ? 2 : 1);
	}
	assert_fails(ctx, kdr_data_merge_classes(ctx, d, 3), KDR_ERR_DATA, "u has no known classes");
	for (int t = 0; t < 3; t++)
		kdr_data_free(d[t]);
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cluster__two_groups__profiles_are_exact),
		cmocka_unit_test(cluster__a_result__outlives_its_data_and_context),
		cmocka_unit_test(cluster__recipe__chooses_unless_told),
		cmocka_unit_test(cluster__named_method__has_the_recipe_of_auto),
		cmocka_unit_test(cluster__units__are_scaled_as_the_method_needs),
		cmocka_unit_test(pca_kmeans__dense_and_sparse__same_labels),
		cmocka_unit_test(ncut__equal_samples__share_a_cluster),
		cmocka_unit_test(transfer__no_model__has_the_same_labels_and_no_weights),
		cmocka_unit_test(jobs__bad_requests__are_refused),
		cmocka_unit_test(rows__taken__keep_names_and_classes),
		cmocka_unit_test(merge_classes__different_lists__one_by_first_appearance),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
