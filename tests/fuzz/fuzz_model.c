/* Model files with anything in them, applied to samples where they load. SPDX-License-Identifier:
 * BSD-3-Clause */
#include "api/model.h"
#include "tests/fuzz/fuzz_h5.h"

/* A sound model of two tasks, with preprocessing. */
static const char *model_file(kdr_context *ctx)
{
	static const double x[] = { 1, 2, 3, 1, 2, 4, 9, 8, 7, 9, 9, 9 };
	static const char *const names[] = { "a", "b", "c" };
	const kdr_prep_options steps = { .size = sizeof(kdr_prep_options),
		                         .weight = KDR_WEIGHT_TFIDF,
		                         .scale = KDR_SCALE_STANDARD,
		                         .top_features = 2,
		                         .fit_each = true };
	const kdr_mat mat = kdr_mat_from_dense(x, 4, 3);
	static fuzz_copy copy;
	if (copy.bytes)
		return fuzz_file(copy.bytes, copy.size);
	const char *path = fuzz_file((const uint8_t *)"", 0);
	kdr_data *data[2] = { NULL };
	kdr_result *result = NULL;
	kdr_job_options o;
	kdr_job_options_init(&o);
	o.method = "kmeans";
	o.prep = &steps;
	o.k = 2;
	bool ok = kdr_data_new(ctx, "t", &mat, names, &data[0]) == KDR_OK &&
	          kdr_data_new(ctx, "u", &mat, names, &data[1]) == KDR_OK &&
	          kdr_cluster(ctx, data, 2, &o, &result) == KDR_OK &&
	          kdr_model_save(ctx, path, result, true) == KDR_OK;
	if (!ok)
		exit(1);
	kdr_result_free(result);
	kdr_data_free(data[0]);
	kdr_data_free(data[1]);
	fuzz_unseal(path);
	fuzz_keep(&copy, path);
	return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static const double sample[4] = { 1, 2, 3, 4 };
	static const char *const names[] = { "a", "b", "c", "d" };
	kdr_context *ctx = NULL;
	kdr_model *model = NULL;
	fuzz_script s = { bytes, bytes + size };
	if (kdr_context_new(&ctx, NULL) != KDR_OK)
		exit(1);
	kdr_context_set_threads(ctx, 1);
	const char *path = model_file(ctx);
	fuzz_change(path, &s);
	kdr_status st = kdr_model_load(ctx, path, &model);
	FUZZ_CHECK((st == KDR_OK) == (model != NULL) && (model || kdr_context_error(ctx)[0]));
	FUZZ_CHECK(size > 0 || model);
	for (int64_t cols = 1; model && cols <= 4; cols++) {
		kdr_mat x = kdr_mat_from_dense(sample, 1, cols);
		kdr_data *data = NULL;
		int64_t label = -1;
		if (kdr_data_new(ctx, "new", &x, names, &data) != KDR_OK)
			exit(1);
		if (kdri_model_apply(ctx, model, 0, data, &label) == KDR_OK)
			FUZZ_CHECK(label >= 0);
		kdr_data_free(data);
	}
	kdr_model_free(model);
	kdr_context_free(ctx);
	unlink(path);
	FUZZ_CHECK(H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL) == 0);
	return 0;
}
