/* Any bytes as a .safetensors file. SPDX-License-Identifier: BSD-3-Clause */
#include "tests/fuzz/fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_format(&kdri_format_safetensors, NULL, data, size);
}
