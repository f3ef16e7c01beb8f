/* Any bytes as a model file, applied to a sample where it loads. SPDX-License-Identifier: BSD-3-Clause */
#include "tests/fuzz/fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static const double sample[4] = { 1, 2, 3, 4 };
	kdr_context *ctx = NULL;
	kdr_model *model = NULL;
	const char *path = fuzz_file(bytes, size);
	if (kdr_context_new(&ctx, NULL) != KDR_OK)
		exit(1);
	kdr_status st = kdr_model_load(ctx, path, &model);
	FUZZ_CHECK((st == KDR_OK) == (model != NULL) && (model || kdr_context_error(ctx)[0]));
	for (int64_t cols = 1; model && cols <= 4; cols++) {
		kdr_mat x = kdr_mat_from_dense(sample, 1, cols);
		kdr_data *data = NULL;
		int64_t label = -1;
		if (kdr_data_new(ctx, "new", &x, NULL, &data) != KDR_OK)
			exit(1);
		if (kdr_predict(ctx, model, 0, data, &label) == KDR_OK)
			FUZZ_CHECK(label >= 0);
		kdr_data_free(data);
	}
	kdr_model_free(model);
	kdr_context_free(ctx);
	unlink(path);
	return 0;
}
