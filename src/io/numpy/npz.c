/* NumPy's .npz: a zip archive of arrays. SPDX-License-Identifier: BSD-3-Clause
 *
 * A dense matrix is the only array or the one named ("file.npz:name"); scipy.sparse.save_npz writes format, shape and
 * data, together with indices and indptr, or with row and col of each entry. */
#include "io/archive/zip.h"
#include "io/text.h"

#include <stdio.h>

typedef struct archive {
	kdri_zip *zip;
	const char *path;
	char *label; /* "path:member" of the member being read */
	kdri_zip_member *member;
	kdri_source source;
	kdri_npy_header header;
} archive;

static void close_member(kdr_context *ctx, archive *a)
{
	kdri_zip_member_close(ctx, a->member);
	kdri_free(ctx, a->label);
	a->member = NULL;
	a->label = NULL;
}

/* Opens an array and reads its header. */
static kdr_status open_array(kdr_context *ctx, archive *a, int64_t index)
{
	const char *name = kdri_zip_name(a->zip, index);
	close_member(ctx, a);
	size_t length = strlen(name) - (kdri_ends_with(name, ".npy") ? 4 : 0),
	       room = strlen(a->path) + length + 2;
	KDRI_DO(KDRI_NEW(ctx, &a->label, room));
	snprintf(a->label, room, "%s:%.*s", a->path, (int)length, name);
	KDRI_DO(kdri_zip_member_open(ctx, a->zip, index, a->label, &a->member, &a->source));
	return kdri_npy_read_header(ctx, &a->source, &a->header);
}

static kdr_status open_named(kdr_context *ctx, archive *a, const char *name)
{
	int64_t index = kdri_zip_find(a->zip, name);
	if (index < 0)
		return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: the sparse matrix has no array '%s'", a->path,
		                 name);
	return open_array(ctx, a, index);
}

/* "a, b, c", truncated to the room available. */
static void list_names(const kdri_zip *zip, char *out, size_t room)
{
	out[0] = '\0';
	for (int64_t i = 0; i < kdri_zip_count(zip); i++) {
		const char *name = kdri_zip_name(zip, i);
		const size_t length = strlen(name) - (kdri_ends_with(name, ".npy") ? 4 : 0);
		kdri_list_add(out, room, "%.*s", (int)length, name);
	}
}

static kdr_status find_array(kdr_context *ctx, const archive *a, const char *wanted, int64_t *index)
{
	kdr_status st = KDR_OK;
	char names[256], *full = NULL;
	int64_t found = -1;
	if (wanted) {
		size_t room = strlen(wanted) + 5;
		KDRI_TRY(KDRI_NEW(ctx, &full, room));
		snprintf(full, room, "%s.npy", wanted);
		found = kdri_zip_find(a->zip, full);
		if (found < 0)
			found = kdri_zip_find(a->zip, wanted);
	} else if (kdri_zip_count(a->zip) == 1) {
		found = 0;
	}
	list_names(a->zip, names, sizeof names);
	if (found < 0)
		st = wanted ? kdri_fail(ctx, KDR_ERR_DATA, "%s: has no array '%s'; its arrays are: %s",
		                        a->path, wanted, names)
		            : kdri_fail(ctx, KDR_ERR_DATA,
		                        "%s: has %lld arrays; specify one as file.npz:name: %s", a->path,
		                        (long long)kdri_zip_count(a->zip), names);
	*index = found;
done:
	kdri_free(ctx, full);
	return st;
}

typedef enum layout { CSR, CSC, COO, LAYOUTS } layout;

/* 'format' is a scalar of bytes or of text. */
static kdr_status read_layout(kdr_context *ctx, archive *a, layout *out)
{
	static const char *const known[LAYOUTS] = { "csr", "csc", "coo" };
	kdr_status st;
	unsigned char raw[64] = { 0 };
	char text[16] = { 0 };
	KDRI_TRY(open_named(ctx, a, "format.npy"));
	const kdri_npy_header *h = &a->header;
	if (h->count == 1 && h->kind != 'n' && h->width <= (int64_t)sizeof raw) {
		KDRI_TRY(kdri_source_exactly(ctx, &a->source, raw, (size_t)h->width));
		int step = h->kind == 'U' ? 4 : 1,
		    skip = h->kind == 'U' && h->swapped == kdri_little_endian() ? 3 : 0;
		for (int i = 0; i * step < (int)h->width && i < 15; i++)
			text[i] = (char)raw[i * step + skip];
	}
	for (int i = 0; i < LAYOUTS; i++)
		if (strcmp(text, known[i]) == 0) {
			*out = (layout)i;
			goto done;
		}
	st = kdri_fail(ctx, KDR_ERR_UNSUPPORTED,
	               "%s: the sparse matrix has format '%s'; csr, csc and coo are supported", a->path,
	               text);
done:
	return st;
}

/* The entries one by one, in any order: row.npy, col.npy, data.npy. */
static kdr_status read_entries(kdr_context *ctx, archive *a, const int64_t shape[2], kdr_data *data)
{
	kdr_status st;
	int64_t nnz, nrow;
	int32_t *row = NULL;
	KDRI_TRY(open_named(ctx, a, "data.npy"));
	nnz = a->header.count;
	KDRI_TRY(open_named(ctx, a, "row.npy"));
	nrow = a->header.count;
	KDRI_TRY(open_named(ctx, a, "col.npy"));
	/* Rows are a bare claim here, as where a matrix is stored by columns. */
	KDRI_TRY(kdri_compressed_check(ctx, a->path, shape[0], shape[1], true,
	                               shape[1] < INT64_MAX ? shape[1] + 1 : 0,
	                               a->header.count == nnz ? nrow : a->header.count, nnz));
	KDRI_TRY(kdri_npy_read_indices(ctx, &a->source, &a->header, shape[1], &data->col));
	KDRI_TRY(open_named(ctx, a, "row.npy"));
	KDRI_TRY(kdri_npy_read_indices(ctx, &a->source, &a->header, shape[0], &row));
	KDRI_TRY(open_named(ctx, a, "data.npy"));
	KDRI_TRY(kdri_npy_read_doubles(ctx, &a->source, &a->header, &data->val));
	KDRI_TRY(kdri_entries_to_rows(ctx, shape[0], shape[1], &nnz, row, data->col, data->val,
	                              &data->rowptr));
	data->kind = KDR_MAT_CSR;
	data->rows = shape[0];
	data->cols = shape[1];
done:
	kdri_free(ctx, row);
	return st;
}

static kdr_status npz_read_sparse(kdr_context *ctx, archive *a, const kdr_read_options *options,
                                  kdr_data *data)
{
	kdr_status st;
	layout how = CSR;
	int64_t *shape = NULL, nptr, nindices;
	KDRI_TRY(read_layout(ctx, a, &how));
	bool by_column = how == CSC;
	KDRI_TRY(open_named(ctx, a, "shape.npy"));
	if (a->header.count != 2)
		KDRI_FAIL(ctx, KDR_ERR_FORMAT,
		          "%s: the shape of the sparse matrix has %lld sizes; 2 are expected", a->path,
		          (long long)a->header.count);
	KDRI_TRY(kdri_npy_read_int64(ctx, &a->source, &a->header, &shape));
	if (shape[0] == 0 && shape[1] > 0 && shape[1] <= INT32_MAX && kdri_may_be_empty(options)) {
		st = kdri_data_no_rows(ctx, data, KDR_MAT_CSR, shape[1]);
		goto done;
	}
	if (how == COO) {
		st = read_entries(ctx, a, shape, data);
		goto done;
	}
	/* The lengths first, so that nothing is read for a matrix that cannot be. */
	KDRI_TRY(open_named(ctx, a, "data.npy"));
	int64_t nnz = a->header.count;
	KDRI_TRY(open_named(ctx, a, "indices.npy"));
	nindices = a->header.count;
	KDRI_TRY(open_named(ctx, a, "indptr.npy"));
	nptr = a->header.count;
	KDRI_TRY(kdri_compressed_check(ctx, a->path, shape[0], shape[1], by_column, nptr, nindices, nnz));
	KDRI_TRY(kdri_npy_read_int64(ctx, &a->source, &a->header, &data->rowptr));
	KDRI_TRY(open_named(ctx, a, "indices.npy"));
	KDRI_TRY(kdri_npy_read_indices(ctx, &a->source, &a->header, shape[by_column ? 0 : 1], &data->col));
	KDRI_TRY(open_named(ctx, a, "data.npy"));
	KDRI_TRY(kdri_npy_read_doubles(ctx, &a->source, &a->header, &data->val));
	data->rows = shape[0];
	data->cols = shape[1];
	KDRI_TRY(kdri_compressed_finish(ctx, a->path, data, by_column, nnz));
done:
	kdri_free(ctx, shape);
	return st;
}

static kdr_status read_npz(kdr_context *ctx, const char *path, const kdr_read_options *options,
                           kdr_data *data)
{
	kdr_status st;
	archive a = { 0 };
	char *file = NULL, *member = NULL;
	int64_t index;
	KDRI_TRY(kdri_split_member(ctx, path, &file, &member));
	a.path = file;
	KDRI_TRY(kdri_zip_open(ctx, file, &a.zip));
	if (!member && kdri_zip_find(a.zip, "format.npy") >= 0 && kdri_zip_find(a.zip, "data.npy") >= 0) {
		KDRI_TRY(npz_read_sparse(ctx, &a, options, data));
	} else {
		KDRI_TRY(find_array(ctx, &a, member, &index));
		KDRI_TRY(open_array(ctx, &a, index));
		KDRI_TRY(kdri_npy_read_matrix(ctx, &a.source, &a.header, data));
	}
done:
	close_member(ctx, &a);
	kdri_zip_close(ctx, a.zip);
	KDRI_FREE(ctx, file, member);
	return st;
}

/* --- out ------------------------------------------------------------------------------------------ */

typedef struct member {
	unsigned char header[KDRI_NPY_HEADER_ROOM];
	kdri_zip_part parts[2];
} member;

static kdri_zip_new make_member(member *m, const char *name, const char *descr, int ndim,
                                const int64_t *shape, const void *data, int64_t bytes)
{
	m->parts[0] = (kdri_zip_part){ m->header, kdri_npy_make_header(descr, ndim, shape, m->header) };
	m->parts[1] = (kdri_zip_part){ data, (size_t)bytes };
	return (kdri_zip_new){ name, m->parts, 2 };
}

static kdr_status write_npz(kdr_context *ctx, const char *path, const kdr_data *data, bool force)
{
	kdr_status st;
	kdri_output *o = NULL;
	int32_t *narrow = NULL;
	member m[5];
	kdri_zip_new list[5];
	int count = 0;
	const int64_t shape[2] = { data->rows, data->cols }, two = 2, nptr = data->rows + 1;
	KDRI_TRY(kdri_output_open(ctx, path, force, &o));
	if (data->kind == KDR_MAT_DENSE) {
		list[count++] = make_member(&m[0], "arr_0.npy", "f8", 2, shape, data->dense,
		                            data->rows * data->cols * 8);
	} else {
		int64_t nnz = data->rowptr[data->rows];
		const void *pointers = data->rowptr;
		/* SciPy requires pointers as wide as the indices, which have 32 bits here. */
		if (nnz <= INT32_MAX) {
			KDRI_TRY(KDRI_NEW(ctx, &narrow, nptr));
			for (int64_t i = 0; i < nptr; i++)
				narrow[i] = (int32_t)data->rowptr[i];
			pointers = narrow;
		}
		list[count++] = make_member(&m[0], "indices.npy", "i4", 1, &nnz, data->col, nnz * 4);
		list[count++] = make_member(&m[1], "indptr.npy", narrow ? "i4" : "i8", 1, &nptr, pointers,
		                            nptr * (narrow ? 4 : 8));
		list[count++] = make_member(&m[2], "format.npy", "S3", 0, NULL, "csr", 3);
		list[count++] = make_member(&m[3], "shape.npy", "i8", 1, &two, shape, 16);
		list[count++] = make_member(&m[4], "data.npy", "f8", 1, &nnz, data->val, nnz * 8);
	}
	KDRI_TRY(kdri_zip_write(ctx, o, list, count));
done:
	kdri_free(ctx, narrow);
	return kdri_output_finish(ctx, o, st);
}

static const char *const endings[] = { ".npz", NULL };

const kdri_format kdri_format_npz = {
	.id = "npz",
	.endings = endings,
	.read = read_npz,
	.write = write_npz,
	.help = "NumPy archive: the only array, or file.npz:name; scipy.sparse CSR, CSC and COO",
};
