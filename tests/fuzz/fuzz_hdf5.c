/* HDF5 and MATLAB v7.3 files with anything in them. SPDX-License-Identifier: BSD-3-Clause */
#include "tests/fuzz/fuzz_h5.h"

#include "io/matlab/mat.h"

static kdr_status read_v73(kdr_context *ctx, const char *path, const kdr_read_options *options,
                           kdr_data *data)
{
	(void)options;
	return kdri_mat73_read(ctx, path, data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const kdri_format v73 = { .id = "mat", .read = read_v73 };
	fuzz_script s = { data, data + size };
	unsigned choice = fuzz_byte(&s);
	const char *path = fuzz_matrix_file(choice & 1);
	fuzz_change(path, &s);
	fuzz_read(choice & 2 ? &v73 : &kdri_format_hdf5, NULL, path);
	unlink(path);
	return 0;
}
