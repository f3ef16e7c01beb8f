/* Any bytes as an .h5ad file, with a column of classes asked for. SPDX-License-Identifier: BSD-3-Clause */
#include "tests/fuzz/fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const kdr_read_options options = { .label_column = "kind", .header = -1 };
	return fuzz_format(&kdri_format_h5ad, &options, data, size);
}
