/* HDF5 data sets: "file.h5:/path", or the only matrix in the file. SPDX-License-Identifier: BSD-3-Clause
 *
 * Files of CellRanger are recognised by their groups: h5_tenx.c. Names of columns are read from, and written to, a
 * dataset of strings called "features" at the root. */
#include "io/hdf5/h5_tenx.h"

#include <stdio.h>

typedef struct search {
	int64_t count;
	char first[1024], list[256];
} search;

static bool note_matrix(void *user, const kdri_h5 *h5, const char *name, kdri_h5_kind kind)
{
	(void)kind;
	search *s = user;
	if (!kdri_h5_is_matrix(h5, name))
		return true;
	if (s->count++ == 0)
		snprintf(s->first, sizeof s->first, "%s", name);
	kdri_list_add(s->list, sizeof s->list, "%s", name);
	return true;
}

static kdr_status find_matrix(kdr_context *ctx, const kdri_h5 *h5, const char *wanted, search *s)
{
	kdr_status st;
	if (wanted && kdri_h5_what(h5, wanted) != KDRI_H5_NONE) {
		snprintf(s->first, sizeof s->first, "%s", wanted);
		return KDR_OK;
	}
	KDRI_TRY(kdri_h5_walk(ctx, h5, "/", 12, note_matrix, s));
	if (wanted)
		st = kdri_fail(ctx, KDR_ERR_DATA, "%s: has no dataset '%s'; its matrices are: %s", h5->path,
		               wanted, s->count ? s->list : "none");
	else if (s->count != 1)
		st = kdri_fail(ctx, KDR_ERR_DATA,
		               "%s: has %lld matrices of numbers; specify one as file.h5:/path%s%s", h5->path,
		               (long long)s->count, s->count ? ": " : "", s->list);
done:
	return st;
}

static kdr_status hdf5_read_features(kdr_context *ctx, const kdri_h5 *h5, kdr_data *data)
{
	kdr_status st;
	kdri_h5_array a = { 0 };
	if (kdri_h5_what(h5, "/features") != KDRI_H5_DATASET)
		return KDR_OK;
	KDRI_TRY(kdri_h5_array_open(ctx, h5, "/features", &a));
	if (a.type_class == KDRI_H5_STRING && a.ndim == 1 && a.shape[0] == data->cols)
		KDRI_TRY(kdri_h5_strings(ctx, &a, NULL, &data->features));
done:
	kdri_h5_array_close(&a);
	return st;
}

static kdr_status hdf5_read_open(kdr_context *ctx, const kdri_h5 *h5, const char *member,
                                 const kdr_read_options *options, kdr_data *data)
{
	search s = { 0 };
	if (!member)
		KDRI_DO(kdri_h5_find_tenx(ctx, h5, s.first, sizeof s.first));
	else if (strlen(member) < sizeof s.first && kdri_h5_is_tenx(h5, member))
		snprintf(s.first, sizeof s.first, "%s", member);
	if (s.first[0] && options && options->parts > 1)
		return kdri_fail(ctx, KDR_ERR_UNSUPPORTED,
		                 "%s: CellRanger matrices cannot be read in parts; convert the file to .h5ad",
		                 h5->path);
	if (s.first[0])
		return kdri_h5_read_tenx(ctx, h5, s.first, data);
	KDRI_DO(find_matrix(ctx, h5, member, &s));
	KDRI_DO(kdri_h5_read_matrix(ctx, h5, s.first, options, data));
	return hdf5_read_features(ctx, h5, data);
}

static kdr_status read_hdf5(kdr_context *ctx, const char *path, const kdr_read_options *options,
                            kdr_data *data)
{
	return kdri_h5_read(ctx, path, options, hdf5_read_open, data);
}

static kdr_status write_hdf5(kdr_context *ctx, const char *path, const kdr_data *data, bool force)
{
	kdr_status st;
	kdri_output *o = NULL;
	kdri_h5 h5 = { 0 };
	KDRI_TRY(kdri_output_open(ctx, path, force, &o));
	KDRI_TRY(kdri_h5_create(ctx, path, kdri_output_temporary(o), &h5));
	KDRI_TRY(kdri_h5_write_matrix(ctx, &h5, "X", data));
	if (data->features)
		KDRI_TRY(kdri_h5_write_strings(ctx, &h5, "features", (const char *const *)data->features,
		                               data->cols));
	KDRI_TRY(kdri_h5_finish(ctx, &h5));
done:
	kdri_h5_close(&h5);
	return kdri_output_finish(ctx, o, st);
}

static const char *const endings[] = { ".h5", ".hdf5", NULL };

const kdri_format kdri_format_hdf5 = {
	.id = "hdf5",
	.endings = endings,
	.read = read_hdf5,
	.write = write_hdf5,
	.holds = KDR_HOLDS_FEATURES,
	.parts = true,
	.help = "HDF5: the only two-dimensional dataset, or file.h5:/path; CellRanger files",
};
