/* Builds without HDF5: errors for files that need it. SPDX-License-Identifier: BSD-3-Clause */
#include "io/hdf5/h5ad_write.h"
#include "io/matlab/mat.h"

static kdr_status refuse(kdr_context *ctx, const char *path)
{
	return kdri_absent(ctx, path, "HDF5", NULL);
}

static kdr_status read_none(kdr_context *ctx, const char *path, const kdr_read_options *options,
                            kdr_data *data)
{
	(void)options;
	(void)data;
	return refuse(ctx, path);
}

static kdr_status write_none(kdr_context *ctx, const char *path, const kdr_data *data, bool force)
{
	(void)data;
	(void)force;
	return refuse(ctx, path);
}

kdr_status kdri_mat73_read(kdr_context *ctx, const char *path, kdr_data *data)
{
	(void)data;
	return kdri_absent(ctx, path, "HDF5, which MATLAB 7.3 files need",
	                   "save the file with -v7 or -v6 in MATLAB");
}

kdr_status kdr_model_save(kdr_context *ctx, const char *path, const kdr_result *result, bool force)
{
	(void)result;
	(void)force;
	return kdri_absent(ctx, path, "HDF5, which model files need", NULL);
}

kdr_status kdr_model_load(kdr_context *ctx, const char *path, kdr_model **out)
{
	(void)out;
	return kdri_absent(ctx, path, "HDF5, which model files need", NULL);
}

kdr_status kdri_h5ad_annotate(kdr_context *ctx, const char *path, const char *input, const kdr_data *data,
                              const kdri_h5ad_notes *notes, bool force)
{
	(void)input;
	(void)data;
	(void)notes;
	(void)force;
	return kdri_absent(ctx, path, "HDF5, which AnnData files need", NULL);
}

kdr_status kdri_model_rename(kdr_context *ctx, const char *path, const char *input, const char *list,
                             const char *const *names, int64_t count, bool force)
{
	(void)input;
	(void)list;
	(void)names;
	(void)count;
	(void)force;
	return kdri_absent(ctx, path, "HDF5, which model files need", NULL);
}

static const char *const hdf5_endings[] = { ".h5", ".hdf5", NULL }, *const h5ad_endings[] = { ".h5ad", NULL };

const kdri_format kdri_format_hdf5 = {
	.id = "hdf5",
	.endings = hdf5_endings,
	.read = read_none,
	.write = write_none,
	.holds = KDR_HOLDS_FEATURES,
	.help = "HDF5: not in this build",
};
const kdri_format kdri_format_h5ad = {
	.id = "h5ad",
	.endings = h5ad_endings,
	.read = read_none,
	.holds = KDR_HOLDS_OBS,
	.help = "AnnData: not in this build",
};
