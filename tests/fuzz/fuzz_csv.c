/* libFuzzer target: two bytes of options, then any bytes as a table of text.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const missing[] = { NULL, "error", "zero", "drop-row" };
	static const char *const column[] = { NULL, "1", "2", "a" };
	static const char delimiters[] = { '\0', '\t', ',', ';' };
	if (size < 2)
		return 0;
	kdr_context *ctx = fuzz_context();
	kdri_input *in = NULL;
	kdr_data *d = NULL;
	kdr_read_options o = {
		.size = sizeof(kdr_read_options),
		.header = (kdr_header)((data[0] & 3) % 3),
		.missing = missing[data[0] >> 2 & 3],
		.label_column = column[data[0] >> 4 & 3],
		.id_column = column[data[0] >> 6],
		.decimal = data[1] & 1 ? "," : NULL,
	};
	if (!fuzz_open(ctx, data + 2, size - 2, &in)) {
		kdr_context_free(ctx);
		return 0;
	}
	FUZZ_CHECK(kdri_data_new(ctx, "fuzz", "fuzz", &d) == KDR_OK);
	fuzz_check_data(ctx, kdri_csv_read(ctx, in, &o, delimiters[data[1] >> 1 & 3], d), d);
	kdri_input_close(ctx, in);
	kdr_data_free(d);
	kdr_context_free(ctx);
	return 0;
}
