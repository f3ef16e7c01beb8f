/* libFuzzer target: any bytes as a file of labels. SPDX-License-Identifier: BSD-3-Clause */
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	kdr_context *ctx = fuzz_context();
	kdri_input *in = NULL;
	kdr_labels *l = NULL;
	if (!fuzz_open(ctx, data, size, &in)) {
		kdr_context_free(ctx);
		return 0;
	}
	kdr_status st = kdri_labels_read(ctx, in, &l);
	FUZZ_CHECK((st == KDR_OK) == (l != NULL) && (st == KDR_OK || kdr_context_error(ctx)[0]));
	if (l) {
		FUZZ_CHECK(l->n >= 1 && l->count >= 1 && l->integers == (l->integer != NULL));
		fuzz_check_strings(l->names, l->count);
		for (int64_t i = 0; i < l->n; i++)
			FUZZ_CHECK(l->values[i] >= 0 && l->values[i] < l->count);
	}
	kdri_input_close(ctx, in);
	kdr_labels_free(l);
	kdr_context_free(ctx);
	return 0;
}
