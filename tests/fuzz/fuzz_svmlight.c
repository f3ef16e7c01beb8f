/* libFuzzer target: any bytes as an SVMlight file. SPDX-License-Identifier: BSD-3-Clause */
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	kdr_context *ctx = fuzz_context();
	kdri_input *in = NULL;
	kdr_data *d = NULL;
	FUZZ_CHECK(kdri_data_new(ctx, "fuzz", "fuzz", &d) == KDR_OK);
	if (!fuzz_open(ctx, data, size, &in)) {
		kdr_context_free(ctx);
		return 0;
	}
	fuzz_check_data(ctx, kdri_svmlight_read(ctx, in, NULL, d), d);
	kdri_input_close(ctx, in);
	kdr_data_free(d);
	kdr_context_free(ctx);
	return 0;
}
