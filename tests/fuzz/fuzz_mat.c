/* Any bytes as a MATLAB v5 file. Version 7.3 is HDF5: fuzz_hdf5.c. SPDX-License-Identifier: BSD-3-Clause */
#include "tests/fuzz/fuzz_file.h"

#include "io/matlab/mat.h"

static kdr_status read_v5(kdr_context *ctx, const char *path, const kdr_read_options *options, kdr_data *data)
{
	(void)options;
	return kdri_mat5_read(ctx, path, NULL, data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const kdri_format v5 = { .id = "mat", .read = read_v5 };
	return fuzz_format(&v5, NULL, data, size);
}
