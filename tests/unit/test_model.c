/* Model files: saved, loaded, applied, and damaged on purpose. */
#include "api/model.h"
#include "api/result.h"
#include "tests/unit/bytes.h"
#include "tests/unit/damage.h"
#include "tests/unit/failing.h"

enum { N = 60, D = 4, K = 3 };

typedef struct fitted {
	kdr_data *data[2];
	kdr_result *result;
} fitted;

static const char *const task_names[] = { "even", "\xc3\xb6"
	                                          "dd" };

static kdr_data *blobs(kdr_context *ctx, uint64_t seed)
{
	static const char *const names[D] = { "w", "x", "y", "z" };
	kdri_rng rng = kdri_rng_stream(seed, "test", 0);
	double x[N * D];
	for (int i = 0; i < N; i++)
		for (int j = 0; j < D; j++)
			x[i * D + j] = 5 + 4 * (i % K == j) + 0.3 * kdri_rng_normal(&rng);
	kdr_mat m = kdr_mat_from_dense(x, N, D);
	kdr_data *d = NULL;
	assert_ok(ctx, kdr_data_new(ctx, task_names[seed % 2], &m, names, &d));
	return d;
}

static fitted fit(kdr_context *ctx)
{
	static const char *const classes[] = { "first", "second", "third" };
	static const int64_t k[] = { K, K - 1 };
	fitted f = { 0 };
	kdr_options *settings = NULL;
	kdr_job_options o;
	kdr_job_options_init(&o);
	for (int t = 0; t < 2; t++)
		f.data[t] = blobs(ctx, (uint64_t)t);
	assert_ok(ctx, kdr_options_new(ctx, "kmeans", &settings));
	assert_ok(ctx, kdr_options_set(ctx, settings, "n_init", "3"));
	o.settings = settings;
	const kdr_prep_options prep = { .size = sizeof(kdr_prep_options),
		                        .scale = KDR_SCALE_STANDARD,
		                        .fit_each = true };
	o.prep = &prep;
	o.each_k = k;
	assert_ok(ctx, kdr_cluster(ctx, f.data, 2, &o, &f.result));
	assert_ok(ctx, kdri_result_classes(ctx, f.result, classes, 3));
	kdr_options_free(settings);
	return f;
}

static void fitted_free(fitted *f)
{
	kdr_data_free(f->data[0]);
	kdr_data_free(f->data[1]);
	kdr_result_free(f->result);
}

static const char *saved(kdr_context *ctx)
{
	fitted f = fit(ctx);
	const char *path = bytes_path("m.h5");
	assert_ok(ctx, kdr_model_save(ctx, path, f.result, true));
	fitted_free(&f);
	return path;
}

/* The same as a job. */
static void predict(kdr_context *ctx, const kdr_model *m, const char *task, int t, const int64_t *expected)
{
	kdr_predict_options o;
	kdr_result *r = NULL;
	kdr_data *fresh = blobs(ctx, (uint64_t)t);
	char *json = NULL;
	kdr_predict_options_init(&o);
	assert_fails(ctx, kdr_predict(ctx, m, fresh, &o, &r), KDR_ERR_ARGUMENT, "several data sets");
	o.task = "none";
	assert_fails(ctx, kdr_predict(ctx, m, fresh, &o, &r), KDR_ERR_ARGUMENT, "even, ");
	o.task = task;
	assert_ok(ctx, kdr_predict(ctx, m, fresh, &o, &r));
	assert_memory_equal(kdr_result_labels(r, 0, NULL), expected, N * sizeof *expected);
	assert_string_equal(r->command, "predict");
	assert_ok(ctx, kdr_result_json(ctx, r, true, &json, NULL));
	assert_non_null(strstr(json, "\"labels\": [\""));
	kdr_free(ctx, json);
	kdr_result_free(r);
	kdr_data_free(fresh);
}

static void predict__the_samples_it_was_fitted_on__same_labels(void **state)
{
	kdr_context *ctx = unit_context();
	fitted f = fit(ctx);
	kdr_model *m = NULL;
	int64_t labels[N], n;
	kdr_context_set_isolation(ctx, *state ? 60 : 0);
	assert_ok(ctx, kdr_model_save(ctx, bytes_path("m.h5"), f.result, true));
	assert_ok(ctx, kdr_model_load(ctx, bytes_path("m.h5"), &m));
	assert_string_equal(kdr_model_algo(m)->id, "kmeans");
	assert_int_equal(kdr_model_ntasks(m), 2);
	assert_string_equal(kdr_model_task_name(m, 1), task_names[1]);
	assert_null(kdr_model_task_name(m, 2));
	assert_string_equal(m->classes[1], "second");
	assert_int_equal(m->nclasses, 3);
	assert_int_equal(kdr_options_get(m->options, "n_init"), 3);
	for (int t = 0; t < 2; t++) {
		kdr_data *fresh = blobs(ctx, (uint64_t)t);
		assert_int_equal(kdri_model_k(m, t), K - t);
		assert_ok(ctx, kdri_model_apply(ctx, m, t, fresh, labels));
		for (int i = 0; i < N; i++) /* the rule gives indices of clusters, jobs give their numbers */
			labels[i] = kdr_result_number(f.result, t, labels[i]);
		assert_memory_equal(labels, kdr_result_labels(f.result, t, &n), sizeof labels);
		kdr_data_free(fresh);
		predict(ctx, m, task_names[t], t, labels);
	}
	kdr_model_free(m);
	fitted_free(&f);
	kdr_context_free(ctx);
}

static void predict__model_read_in_a_child__same_labels(void **state)
{
	(void)state;
	void *in_child = "";
	predict__the_samples_it_was_fitted_on__same_labels(&in_child);
}

static void predict__columns_shuffled_or_missing__aligned_or_refused(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_model *m = NULL;
	static const char *const turned[D] = { "z", "y", "x", "w" };
	int64_t labels[N], expected[N];
	assert_ok(ctx, kdr_model_load(ctx, saved(ctx), &m));
	kdr_data *d = blobs(ctx, 0), *shuffled = NULL, *narrow = NULL;
	double x[N * D];
	for (int i = 0; i < N * D; i++)
		x[i] = d->dense[i / D * D + D - 1 - i % D];
	kdr_mat mat = kdr_mat_from_dense(x, N, D), two = kdr_mat_from_dense(x, N, 2);
	assert_ok(ctx, kdr_data_new(ctx, "turned", &mat, turned, &shuffled));
	assert_ok(ctx, kdri_model_apply(ctx, m, 0, d, expected));
	assert_ok(ctx, kdri_model_apply(ctx, m, 0, shuffled, labels));
	assert_memory_equal(labels, expected, sizeof labels);
	assert_ok(ctx, kdr_data_new(ctx, "narrow", &two, NULL, &narrow));
	assert_int_equal(kdri_model_apply(ctx, m, 0, narrow, labels), KDR_ERR_DATA);
	assert_fails(ctx, kdri_model_apply(ctx, m, 2, d, labels), KDR_ERR_ARGUMENT, "2 data sets");
	kdr_data_free(d);
	kdr_data_free(shuffled);
	kdr_data_free(narrow);
	kdr_model_free(m);
	kdr_context_free(ctx);
}

static void predict__no_preprocessing__columns_must_agree(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	fitted f = fit(ctx);
	kdr_model *m = NULL;
	int64_t labels[N];
	kdr_prep_free(f.result->prep);
	f.result->prep = NULL;
	assert_ok(ctx, kdr_model_save(ctx, bytes_path("n.h5"), f.result, true));
	assert_fails(ctx, kdr_model_save(ctx, bytes_path("n.h5"), f.result, false), KDR_ERR_EXISTS, "n.h5");
	assert_ok(ctx, kdr_model_load(ctx, bytes_path("n.h5"), &m));
	assert_ok(ctx, kdri_model_apply(ctx, m, 0, f.data[0], labels));
	strcpy(f.data[0]->features[2], "?");
	assert_fails(ctx, kdri_model_apply(ctx, m, 0, f.data[0], labels), KDR_ERR_DATA, "'?'");
	f.data[0]->dense[7] = NAN;
	f.data[0]->features[2][0] = 'y';
	assert_int_equal(kdri_model_apply(ctx, m, 0, f.data[0], labels), KDR_ERR_DATA);
	double x[2] = { 1, 2 };
	kdr_mat narrow = kdr_mat_from_dense(x, 1, 2);
	kdr_data *d = NULL;
	assert_ok(ctx, kdr_data_new(ctx, "d", &narrow, NULL, &d));
	assert_fails(ctx, kdri_model_apply(ctx, m, 0, d, labels), KDR_ERR_DATA, "2 columns");
	kdr_data_free(d);
	kdr_model_free(m);
	fitted_free(&f);
	kdr_context_free(ctx);
}

/* --- damage -------------------------------------------------------------------------------------------- */

static void load__damaged_files__clear_errors(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_model *m = NULL;
	const char *path;
	int64_t labels[N];
	set_text(path = saved(ctx), "method", "nothing");
	assert_fails(ctx, kdr_model_load(ctx, path, &m), KDR_ERR_UNSUPPORTED, "'nothing'");
	set_text(path = saved(ctx), "format", "other");
	assert_fails(ctx, kdr_model_load(ctx, path, &m), KDR_ERR_FORMAT, "not a kindred model file");
	removed(path = saved(ctx), "options");
	assert_fails(ctx, kdr_model_load(ctx, path, &m), KDR_ERR_FORMAT, "options");
	removed(path = saved(ctx), "tasks/0");
	assert_fails(ctx, kdr_model_load(ctx, path, &m), KDR_ERR_FORMAT, "no data sets");
	removed(path = saved(ctx), "prep/scale");
	assert_fails(ctx, kdr_model_load(ctx, path, &m), KDR_ERR_FORMAT, "scale");
	reshaped(path = saved(ctx), "arrays/centres/0", 2, (hsize_t[]){ 3, 4 }, NAN);
	assert_fails(ctx, kdr_model_load(ctx, path, &m), KDR_ERR_FORMAT, "not finite");
	reshaped(path = saved(ctx), "arrays/centres/0", 2, (hsize_t[]){ 0, 4 }, 0);
	assert_fails(ctx, kdr_model_load(ctx, path, &m), KDR_ERR_FORMAT, "non-empty array");
	reshaped(path = saved(ctx), "arrays/centres/0", 4, (hsize_t[]){ 1, 1, 1, 1 }, 0);
	assert_fails(ctx, kdr_model_load(ctx, path, &m), KDR_ERR_FORMAT, "1 to 3");
	reshaped(path = saved(ctx), "features", 1, (hsize_t[]){ 4 }, 0);
	assert_fails(ctx, kdr_model_load(ctx, path, &m), KDR_ERR_FORMAT, "strings");
	reshaped(path = saved(ctx), "known/0", 2, (hsize_t[]){ 5, 2 }, 1);
	assert_fails(ctx, kdr_model_load(ctx, path, &m), KDR_ERR_FORMAT, "known samples");
	reshaped(path = saved(ctx), "known/0", 2, (hsize_t[]){ 1, 2 }, K);
	assert_fails(ctx, kdr_model_load(ctx, path, &m), KDR_ERR_FORMAT, "known samples");
	reshaped(path = saved(ctx), "known/0", 1, (hsize_t[]){ 2 }, 0);
	assert_fails(ctx, kdr_model_load(ctx, path, &m), KDR_ERR_FORMAT, "known samples");
	bytes_write(bytes_path("m.h5"), "x", 1);
	assert_fails(ctx, kdr_model_load(ctx, bytes_path("m.h5"), &m), KDR_ERR_FORMAT, "not an HDF5");
	assert_fails(ctx, kdr_model_load(ctx, bytes_path("none.h5"), &m), KDR_ERR_READ, "none.h5");
	assert_null(m);
	/* What loading cannot know, predict finds: centres of another width, or of none. */
	kdr_data *d = blobs(ctx, 0);
	reshaped(path = saved(ctx), "arrays/centres/0", 2, (hsize_t[]){ 3, 5 }, 0);
	assert_ok(ctx, kdr_model_load(ctx, path, &m));
	assert_int_equal(kdri_model_apply(ctx, m, 0, d, labels), KDR_ERR_DATA);
	kdr_model_free(m);
	removed(path = saved(ctx), "arrays/centres/0");
	assert_ok(ctx, kdr_model_load(ctx, path, &m));
	assert_int_equal(kdri_model_apply(ctx, m, 0, d, labels), KDR_ERR_DATA);
	kdr_model_free(m);
	kdr_data_free(d);
	kdr_context_free(ctx);
}

/* Labels of samples that were not part of the fit; false: the model cannot be loaded or applied. */
static bool label_new(kdr_context *ctx, const char *path, int64_t labels[2 * N])
{
	kdr_model *m = NULL;
	kdr_status st = kdr_model_load(ctx, path, &m);
	for (int t = 0; t < 2 && st == KDR_OK; t++) {
		kdr_data *fresh = blobs(ctx, (uint64_t)(2 + t));
		st = kdri_model_apply(ctx, m, t, fresh, labels + (ptrdiff_t)t * N);
		kdr_data_free(fresh);
	}
	kdr_model_free(m);
	return st == KDR_OK;
}

static void load__one_bit_flipped__error_or_same_labels(void **state)
{
	(void)state;
	enum { FLIPS = 300 };
	kdr_context *ctx = unit_context();
	int64_t expected[2 * N], labels[2 * N];
	int noticed = 0;
	size_t size;
	const char *path = saved(ctx);
	unsigned char *bytes = bytes_read(path, &size);
	assert_true(label_new(ctx, path, expected));
	kdr_context_set_isolation(ctx, 0.3); /* HDF5 does not return from some of these files */
	for (size_t i = 0; i < FLIPS; i++) {
		unsigned char *byte = &bytes[size * i / FLIPS], bit = (unsigned char)(1 << i % 8);
		*byte ^= bit;
		bytes_write(path, bytes, size);
		*byte ^= bit;
		if (label_new(ctx, path, labels))
			assert_memory_equal(labels, expected, sizeof labels);
		else
			noticed += strstr(kdr_context_error(ctx), "checksum") != NULL;
	}
	assert_true(noticed > 0);
	free(bytes);
	kdr_context_free(ctx);
}

static void load__changed_or_no_checksum__refused_or_loaded(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_model *m = NULL;
	const char *path = saved(ctx);
	hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), id = H5Aopen(file, "checksum", H5P_DEFAULT);
	int64_t sum = 0;
	assert_true(H5Aread(id, H5T_NATIVE_INT64, &sum) >= 0);
	sum ^= 1;
	assert_true(H5Awrite(id, H5T_NATIVE_INT64, &sum) >= 0);
	H5Aclose(id);
	H5Fclose(file);
	assert_fails(ctx, kdr_model_load(ctx, path, &m), KDR_ERR_FORMAT, "checksum");
	H5Fclose(open_to_change(path)); /* as version 0.2.0 saved it */
	assert_ok(ctx, kdr_model_load(ctx, path, &m));
	kdr_model_free(m);
	kdr_context_free(ctx);
}

static kdr_status load_only(kdr_context *ctx, const char *path)
{
	kdr_model *m = NULL;
	kdr_status st = kdr_model_load(ctx, path, &m);
	kdr_model_free(m);
	return st;
}

/* Each array is small enough to be believed; all of them together are not. */
static void load__arrays_that_claim_more_than_the_file__refused(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	kdr_model *m = NULL;
	const char *path = saved(ctx);
	char name[64];
	for (int i = 0; i < 12; i++) {
		snprintf(name, sizeof name, "prep/more%d", i);
		unwritten(path, name, 1, (hsize_t[]){ 1 << 20 });
	}
	for (int child = 0; child < 2; child++) {
		kdr_context_set_isolation(ctx, child * 60);
		assert_fails(ctx, kdr_model_load(ctx, path, &m), KDR_ERR_SIZE, "claims 8 MB");
	}
	kdr_context_free(ctx);
}

static void load__every_allocation_failed__no_leak(void **state)
{
	(void)state;
	kdr_context *ctx = unit_context();
	failing_all(load_only, saved(ctx));
	assert_int_equal(H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL), 0);
	kdr_context_free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(predict__the_samples_it_was_fitted_on__same_labels),
		cmocka_unit_test(predict__model_read_in_a_child__same_labels),
		cmocka_unit_test(predict__columns_shuffled_or_missing__aligned_or_refused),
		cmocka_unit_test(predict__no_preprocessing__columns_must_agree),
		cmocka_unit_test(load__damaged_files__clear_errors),
		cmocka_unit_test(load__one_bit_flipped__error_or_same_labels),
		cmocka_unit_test(load__changed_or_no_checksum__refused_or_loaded),
		cmocka_unit_test(load__arrays_that_claim_more_than_the_file__refused),
		cmocka_unit_test(load__every_allocation_failed__no_leak),
	};
	return cmocka_run_group_tests(tests, NULL, bytes_clean);
}
