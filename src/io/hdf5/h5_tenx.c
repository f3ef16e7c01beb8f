/* CellRanger's .h5: counts of molecules in HDF5. SPDX-License-Identifier: BSD-3-Clause
 *
 *     version 3   /matrix: data, indices, indptr, shape, barcodes; features: id, name, feature_type
 *     version 2   /GENOME: data, indices, indptr, shape, barcodes, genes, gene_names
 *
 * The files have genes in rows and cells in compressed columns, which are the compressed rows of the matrix with cells
 * in rows. */
#include "io/hdf5/h5_tenx.h"
#include "io/matrices/tenx.h"

#include <stdio.h>

enum { NAME_ROOM = 1024 };

static bool has(const kdri_h5 *h5, const char *group, const char *name)
{
	char path[NAME_ROOM + 64];
	snprintf(path, sizeof path, "%s/%s", group, name);
	return kdri_h5_what(h5, path) == KDRI_H5_DATASET;
}

bool kdri_h5_is_tenx(const kdri_h5 *h5, const char *group)
{
	return has(h5, group, "indptr") && has(h5, group, "barcodes") && has(h5, group, "shape") &&
	       (has(h5, group, "features/name") || has(h5, group, "gene_names"));
}

typedef struct found {
	int64_t count;
	char first[NAME_ROOM], list[256];
} found;

static bool note_group(void *user, const kdri_h5 *h5, const char *name, kdri_h5_kind kind)
{
	found *f = user;
	if (kind != KDRI_H5_GROUP || strlen(name) >= NAME_ROOM || !kdri_h5_is_tenx(h5, name))
		return true;
	if (f->count++ == 0)
		snprintf(f->first, sizeof f->first, "%s", name);
	kdri_list_add(f->list, sizeof f->list, "%s", name);
	return true;
}

kdr_status kdri_h5_find_tenx(kdr_context *ctx, const kdri_h5 *h5, char *group, size_t room)
{
	kdr_status st;
	found f = { 0 };
	group[0] = '\0';
	KDRI_TRY(kdri_h5_walk(ctx, h5, "/", 0, note_group, &f));
	if (f.count > 1)
		st = kdri_fail(ctx, KDR_ERR_DATA,
		               "%s: has counts for %lld genomes; specify one as file.h5:GENOME: %s", h5->path,
		               (long long)f.count, f.list);
	else if (f.count == 1)
		snprintf(group, room, "%s", f.first);
done:
	return st;
}

/* Reads strings; their number must be as expected. */
static kdr_status read_strings(kdr_context *ctx, const kdri_h5 *h5, const char *group, const char *name,
                               int64_t expected, char ***out)
{
	kdr_status st;
	kdri_h5_array a = { 0 };
	char path[NAME_ROOM + 64];
	snprintf(path, sizeof path, "%s/%s", group, name);
	KDRI_TRY(kdri_h5_array_open(ctx, h5, path, &a));
	if (a.type_class != KDRI_H5_STRING || a.ndim != 1 || a.shape[0] != expected)
		KDRI_FAIL(ctx, KDR_ERR_FORMAT, "%s: is not a list of %lld names", a.label,
		          (long long)expected);
	KDRI_TRY(kdri_h5_strings(ctx, &a, NULL, out));
done:
	kdri_h5_array_close(&a);
	return st;
}

static kdr_status read_shape(kdr_context *ctx, const kdri_h5 *h5, const char *group, int64_t shape[2])
{
	kdr_status st;
	kdri_h5_array a = { 0 };
	char path[NAME_ROOM + 64];
	snprintf(path, sizeof path, "%s/shape", group);
	KDRI_TRY(kdri_h5_array_open(ctx, h5, path, &a));
	if (a.ndim != 1 || a.shape[0] != 2)
		st = kdri_fail(ctx, KDR_ERR_FORMAT, "%s: is not two numbers: genes and cells", a.label);
	else
		st = kdri_h5_rows_int64(ctx, &a, 0, 2, shape);
done:
	kdri_h5_array_close(&a);
	return st;
}

kdr_status kdri_h5_read_tenx(kdr_context *ctx, const kdri_h5 *h5, const char *group, kdr_data *data)
{
	static const char *const names[3] = { "data", "indices", "indptr" };
	kdr_status st;
	int64_t shape[2] = { 0 }, cols = 0;
	char **types = NULL;
	KDRI_TRY(read_shape(ctx, h5, group, shape));
	KDRI_TRY(kdri_h5_read_compressed(ctx, h5, group, names, false, shape[1], shape[0], NULL, data));
	cols = data->cols;
	KDRI_TRY(read_strings(ctx, h5, group, "barcodes", data->rows, &data->ids));
	bool third = has(h5, group, "features/name");
	KDRI_TRY(read_strings(ctx, h5, group, third ? "features/name" : "gene_names", data->cols,
	                      &data->features));
	if (third && has(h5, group, "features/feature_type"))
		KDRI_TRY(read_strings(ctx, h5, group, "features/feature_type", data->cols, &types));
	KDRI_TRY(kdri_tenx_finish(ctx, types, data));
done:
	kdri_strings_free(&ctx->allocator, types, cols);
	return st;
}
