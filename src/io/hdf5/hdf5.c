/* HDF5 data sets: "file.h5:/path", or the only matrix in the file. SPDX-License-Identifier: BSD-3-Clause
 *
 * Files of CellRanger are recognised by their groups. Names of columns are read from, and written to, a
 * dataset of strings called "features" at the root. */
#include <stdio.h>

#include "io/binary.h"
#include "io/hdf5/h5.h"

/* A data set from an HDF5 file, read in this process or in a child. */

typedef struct request {
	const char *file, *member;
	const kdr_read_options *options;
	kdri_h5_reader reader;
} request;

static kdr_status read_file(kdr_context *ctx, const void *user, void *result)
{
	const request *r = user;
	kdr_status st;
	kdri_h5 h5 = { 0 };
	kdr_data *data = result;
	data->allocator = ctx->allocator;
	KDRI_TRY(kdri_h5_open(ctx, r->file, &h5));
	KDRI_TRY(r->reader(ctx, &h5, r->member, r->options, data));
done:
	kdri_h5_close(&h5);
	return st;
}

/* Whether indices into a list of `count` names, -1 for none, are sound. */
static bool sound_indices(const int64_t *of, int64_t rows, int64_t count)
{
	for (int64_t i = 0; of && i < rows; i++)
		if (of[i] < -1 || of[i] >= count)
			return false;
	return true;
}

/* Whether sparse rows are what kdr_csr promises. */
static bool sound_rows(const kdr_data *d)
{
	for (int64_t i = 0; i < d->rows; i++)
		for (int64_t p = d->rowptr[i], before = -1; p < d->rowptr[i + 1]; before = d->col[p++])
			if (d->col[p] <= before || d->col[p] >= d->cols)
				return false;
	return true;
}

static kdr_status take_matrix(kdr_context *ctx, kdri_handed *h, const kdr_data *got, kdr_data *d)
{
	int64_t cells = 0;
	KDRI_DO(kdri_mul(ctx, got->rows, got->cols, &cells));
	d->rows = got->rows;
	d->cols = got->cols;
	d->kind = got->dense ? KDR_MAT_DENSE : KDR_MAT_CSR;
	if (got->dense)
		return kdri_handed_array(ctx, h, got->dense, cells, sizeof *d->dense, &d->dense);
	KDRI_DO(kdri_handed_array(ctx, h, got->rowptr, d->rows + 1, sizeof *d->rowptr, &d->rowptr));
	bool sound = d->rowptr && d->rowptr[0] == 0 && got->col && got->val;
	for (int64_t i = 0; sound && i < d->rows; i++)
		sound = d->rowptr[i + 1] >= d->rowptr[i];
	if (!sound)
		return kdri_handed_damaged(ctx, h);
	const int64_t nnz = d->rowptr[d->rows];
	KDRI_DO(kdri_handed_array(ctx, h, got->col, nnz, sizeof *d->col, &d->col));
	KDRI_DO(kdri_handed_array(ctx, h, got->val, nnz, sizeof *d->val, &d->val));
	if (!sound_rows(d))
		return kdri_handed_damaged(ctx, h);
	return KDR_OK;
}

/* Takes over what a child has read into `got`. */
static kdr_status take_data(kdr_context *ctx, kdri_handed *h, const kdr_data *got, kdr_data *d)
{
	kdr_status st;
	const kdri_groups *g = &got->groups;
	const int64_t rows = got->rows;
	KDRI_TRY(take_matrix(ctx, h, got, d));
	KDRI_TRY(kdri_handed_strings(ctx, h, got->features, d->cols, &d->features));
	KDRI_TRY(kdri_handed_strings(ctx, h, got->ids, rows, &d->ids));
	KDRI_TRY(kdri_handed_strings(ctx, h, got->classes, got->nclasses, &d->classes));
	d->nclasses = d->classes ? got->nclasses : 0;
	KDRI_TRY(kdri_handed_array(ctx, h, got->labels, rows, sizeof *d->labels, &d->labels));
	KDRI_TRY(kdri_handed_strings(ctx, h, g->names, g->count, &d->groups.names));
	d->groups.count = d->groups.names ? g->count : 0;
	d->groups.all = g->all;
	KDRI_TRY(kdri_handed_array(ctx, h, g->of, rows, sizeof *d->groups.of, &d->groups.of));
	KDRI_TRY(kdri_handed_array(ctx, h, got->origin, rows, sizeof *d->origin, &d->origin));
	d->file_rows = got->file_rows;
	if (!sound_indices(d->labels, rows, d->nclasses) ||
	    !sound_indices(d->groups.of, rows, d->groups.count) ||
	    !sound_indices(d->origin, rows, d->file_rows))
		st = kdri_handed_damaged(ctx, h);
done:
	return st;
}

kdr_status kdri_h5_read(kdr_context *ctx, const char *path, const kdr_read_options *options,
                        kdri_h5_reader reader, kdr_data *data)
{
	kdr_status st;
	char *file = NULL, *member = NULL;
	int64_t bytes = 0;
	kdri_handed handed = { 0 };
	kdr_data got = *data;
	KDRI_TRY(kdri_split_member(ctx, path, &file, &member));
	KDRI_TRY(kdri_h5_check_file(ctx, file, &bytes));
	const request r = { file, member, options, reader };
	const kdri_child_job job = { .path = file,
		                     .file_bytes = (double)bytes,
		                     .run = read_file,
		                     .user = &r,
		                     .result_size = sizeof got };
	st = kdri_run_apart(ctx, &job, &got, &handed);
	if (ctx->isolation <= 0)
		*data = got; /* the caller frees what was allocated */
	else if (st == KDR_OK)
		st = take_data(ctx, &handed, &got, data);
	data->allocator = ctx->allocator; /* which may now free arrays that were taken over */
done:
	kdri_handed_free(&handed);
	KDRI_FREE(ctx, file, member);
	return st;
}

/* CellRanger's .h5: counts of molecules in HDF5.
 *
 *     version 3   /matrix: data, indices, indptr, shape, barcodes; features: id, name, feature_type
 *     version 2   /GENOME: data, indices, indptr, shape, barcodes, genes, gene_names
 *
 * The files have genes in rows and cells in compressed columns, which are the compressed rows of the matrix with cells
 * in rows. */

enum { NAME_ROOM = 1024 };

static bool has(const kdri_h5 *h5, const char *group, const char *name)
{
	char path[NAME_ROOM + 64];
	snprintf(path, sizeof path, "%s/%s", group, name);
	return kdri_h5_what(h5, path) == KDRI_H5_DATASET;
}

/* Whether a group contains the counts of CellRanger 2 or 3. */
static bool h5_is_tenx(const kdri_h5 *h5, const char *group)
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
	if (kind != KDRI_H5_GROUP || strlen(name) >= NAME_ROOM || !h5_is_tenx(h5, name))
		return true;
	if (f->count++ == 0)
		snprintf(f->first, sizeof f->first, "%s", name);
	kdri_list_add(f->list, sizeof f->list, "%s", name);
	return true;
}

/* The only 10x group directly below the root, or "" if there is none; several give KDR_ERR_DATA. */
static kdr_status h5_find_tenx(kdr_context *ctx, const kdri_h5 *h5, char *group, size_t room)
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

/* Cells in rows, genes in columns, with their names. */
static kdr_status h5_read_tenx(kdr_context *ctx, const kdri_h5 *h5, const char *group, kdr_data *data)
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
		KDRI_DO(h5_find_tenx(ctx, h5, s.first, sizeof s.first));
	else if (strlen(member) < sizeof s.first && h5_is_tenx(h5, member))
		snprintf(s.first, sizeof s.first, "%s", member);
	if (s.first[0] && options && options->parts > 1)
		return kdri_fail(ctx, KDR_ERR_UNSUPPORTED,
		                 "%s: CellRanger matrices cannot be read in parts; convert the file to .h5ad",
		                 h5->path);
	if (s.first[0])
		return h5_read_tenx(ctx, h5, s.first, data);
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
