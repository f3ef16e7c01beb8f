/* AnnData files with anything in them, and a column of classes asked for. SPDX-License-Identifier:
 * BSD-3-Clause */
#include "tests/fuzz/fuzz_h5.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const kdr_read_options options = { .size = sizeof(kdr_read_options), .label_column = "kind" };
	fuzz_script s = { data, data + size };
	const char *path = fuzz_matrix_file(fuzz_byte(&s) & 1);
	fuzz_change(path, &s);
	fuzz_read(&kdri_format_h5ad, &options, path);
	unlink(path);
	return 0;
}
