/* Matrices in HDF5: dense datasets, and groups of three arrays. SPDX-License-Identifier: BSD-3-Clause */
#include "io/hdf5/h5.h"

#include <stdio.h>

/* Data that are converted after reading are read in pieces of entire chunks, so that no chunk is unpacked twice. */
enum { SLAB_BYTES = 1 << 24, INDICES_AT_ONCE = 1 << 18 };

static kdr_status read_transposed(kdr_context *ctx, const kdri_h5_array *a, int64_t rows, int64_t cols,
                                  double *out)
{
	kdr_status st;
	double *group = NULL;
	int64_t width = KDRI_MAX(1, SLAB_BYTES / (int64_t)sizeof(double) / rows), chunk = a->chunk_rows;
	width = KDRI_MIN(cols, (width + chunk - 1) / chunk * chunk);
	KDRI_TRY(KDRI_NEW(ctx, &group, width * rows));
	for (int64_t j = 0; j < cols; j += width) {
		int64_t w = KDRI_MIN(width, cols - j);
		KDRI_TRY(kdri_h5_rows_double(ctx, a, j, w, group));
		for (int64_t i = 0; i < rows; i++)
			for (int64_t l = 0; l < w; l++)
				out[i * cols + j + l] = group[l * rows + i];
	}
done:
	kdri_free(ctx, group);
	return st;
}

kdr_status kdri_h5_read_dense(kdr_context *ctx, const kdri_h5_array *a, bool transposed,
                              const kdr_read_options *options, kdr_data *data)
{
	kdr_status st;
	double *values = NULL;
	if (a->type_class != KDRI_H5_NUMBER || a->ndim < 1 || a->ndim > 2)
		KDRI_FAIL(ctx, KDR_ERR_FORMAT,
		          "%s: is not a matrix of numbers (it has %d dimensions; 1 or 2 are supported)",
		          a->label, a->ndim);
	int64_t rows = a->shape[0], cols = a->ndim == 2 ? a->shape[1] : 1;
	if (a->count == 0 && (transposed || cols == 0 || !kdri_may_be_empty(options)))
		KDRI_FAIL(ctx, KDR_ERR_DATA, "%s: is empty; at least one row and one column are needed",
		          a->label);
	if (transposed) {
		int64_t swap = rows;
		rows = cols;
		cols = swap;
	}
	const kdri_range part = kdri_range_of(options, rows);
	KDRI_TRY(KDRI_NEW(ctx, &values, (part.last - part.first) * cols));
	if (transposed)
		KDRI_TRY(read_transposed(ctx, a, rows, cols, values));
	else
		KDRI_TRY(kdri_h5_rows_double(ctx, a, part.first, part.last - part.first, values));
	KDRI_TRY(kdri_range_note(ctx, options, part, rows, data));
	data->kind = KDR_MAT_DENSE;
	data->rows = part.last - part.first;
	data->cols = cols;
	data->dense = values;
	values = NULL;
done:
	kdri_free(ctx, values);
	return st;
}

/* n indices of the minor axis from `first` on, narrowed to 32 bits a block at a time. */
static kdr_status read_indices(kdr_context *ctx, const kdri_h5_array *a, int64_t first, int64_t n,
                               int64_t bound, int32_t *out)
{
	kdr_status st;
	int64_t *wide = NULL;
	/* Entire chunks, unless they are unreasonably long. */
	int64_t block = KDRI_MIN(n, (INDICES_AT_ONCE + a->chunk_rows - 1) / a->chunk_rows * a->chunk_rows);
	KDRI_TRY(KDRI_NEW(ctx, &wide, block));
	for (int64_t i = 0; i < n; i += block) {
		int64_t count = KDRI_MIN(block, n - i);
		KDRI_TRY(kdri_h5_rows_int64(ctx, a, first + i, count, wide));
		for (int64_t j = 0; j < count; j++) {
			if (wide[j] < 0 || wide[j] >= bound)
				KDRI_FAIL(ctx, KDR_ERR_FORMAT,
				          "%s: index %lld is outside the range from 0 to %lld", a->label,
				          (long long)wide[j], (long long)(bound - 1));
			out[i + j] = (int32_t)wide[j];
		}
	}
done:
	kdri_free(ctx, wide);
	return st;
}

kdr_status kdri_h5_read_compressed(kdr_context *ctx, const kdri_h5 *h5, const char *group,
                                   const char *const names[3], bool by_column, int64_t rows, int64_t cols,
                                   const kdr_read_options *options, kdr_data *data)
{
	kdr_status st = KDR_OK;
	kdri_h5_array a[3] = { { 0 } };
	char name[1100];
	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof name, "%s/%s", group, names[i]);
		KDRI_TRY(kdri_h5_array_open(ctx, h5, name, &a[i]));
		if (a[i].ndim != 1)
			KDRI_FAIL(ctx, KDR_ERR_FORMAT, "%s: has %d dimensions; 1 is expected", a[i].label,
			          a[i].ndim);
	}
	int64_t nnz = a[0].shape[0];
	if (rows == 0 && nnz == 0 && cols > 0 && kdri_may_be_empty(options)) {
		st = kdri_data_no_rows(ctx, data, KDR_MAT_CSR, cols);
		goto done;
	}
	KDRI_TRY(kdri_compressed_check(ctx, h5->path, rows, cols, by_column, a[2].shape[0], a[1].shape[0],
	                               nnz));
	const kdri_range part = kdri_range_of(options, rows);
	if (by_column && part.last - part.first < rows)
		KDRI_FAIL(ctx, KDR_ERR_UNSUPPORTED,
		          "%s:%s: a matrix stored by columns cannot be read in parts; save it by rows (CSR)",
		          h5->path, group);
	int64_t pointers = by_column ? a[2].shape[0] : part.last - part.first + 1, first = 0;
	KDRI_TRY(KDRI_NEW(ctx, &data->rowptr, pointers));
	KDRI_TRY(kdri_h5_rows_int64(ctx, &a[2], by_column ? 0 : part.first, pointers, data->rowptr));
	if (part.first > 0 || part.last < rows) { /* only the entries between these two */
		int64_t last = data->rowptr[pointers - 1];
		first = data->rowptr[0];
		if (first < 0 || last < first || last > nnz || (part.first == 0 && first > 0))
			KDRI_FAIL(
			        ctx, KDR_ERR_FORMAT,
			        "%s: the pointers of the sparse matrix do not increase from 0 to its %lld entries",
			        h5->path, (long long)nnz);
		for (int64_t i = 0; i < pointers; i++)
			data->rowptr[i] -= first;
		nnz = last - first;
	}
	KDRI_TRY(KDRI_NEW(ctx, &data->col, nnz));
	if (nnz > 0)
		KDRI_TRY(read_indices(ctx, &a[1], first, nnz, by_column ? rows : cols, data->col));
	KDRI_TRY(KDRI_NEW(ctx, &data->val, nnz));
	if (nnz > 0)
		KDRI_TRY(kdri_h5_rows_double(ctx, &a[0], first, nnz, data->val));
	KDRI_TRY(kdri_range_note(ctx, options, part, rows, data));
	data->rows = part.last - part.first;
	data->cols = cols;
	KDRI_TRY(kdri_compressed_finish(ctx, h5->path, data, by_column, nnz));
done:
	for (int i = 0; i < 3; i++)
		kdri_h5_array_close(&a[i]);
	return st;
}

/* "csr" or "csc" from the attributes of today's AnnData or of those before 0.7. */
static bool sparse_layout(const kdri_h5 *h5, const char *name, bool *by_column)
{
	char text[32];
	if (!kdri_h5_text(h5, name, "encoding-type", text, sizeof text) &&
	    !kdri_h5_text(h5, name, "h5sparse_format", text, sizeof text))
		return false;
	*by_column = strncmp(text, "csc", 3) == 0;
	return *by_column || strncmp(text, "csr", 3) == 0;
}

bool kdri_h5_is_matrix(const kdri_h5 *h5, const char *name)
{
	bool yes = false, by_column;
	hid_t id = H5Oopen(h5->file, name, h5->links);
	if (id < 0)
		return false;
	if (H5Iget_type(id) == H5I_GROUP) {
		yes = sparse_layout(h5, name, &by_column);
	} else if (H5Iget_type(id) == H5I_DATASET) {
		hid_t type = H5Dget_type(id), space = H5Dget_space(id);
		H5T_class_t kind = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
		yes = (kind == H5T_INTEGER || kind == H5T_FLOAT || kind == H5T_ENUM) && space >= 0 &&
		      H5Sget_simple_extent_ndims(space) == 2;
		kdri_h5_drop(type);
		kdri_h5_drop(space);
	}
	H5Oclose(id);
	return yes;
}

kdr_status kdri_h5_read_matrix(kdr_context *ctx, const kdri_h5 *h5, const char *name,
                               const kdr_read_options *options, kdr_data *data)
{
	static const char *const names[3] = { "data", "indices", "indptr" };
	kdr_status st;
	kdri_h5_array a = { 0 };
	int64_t shape[2];
	bool by_column;
	switch (kdri_h5_what(h5, name)) {
	case KDRI_H5_DATASET:
		KDRI_TRY(kdri_h5_array_open(ctx, h5, name, &a));
		KDRI_TRY(kdri_h5_read_dense(ctx, &a, false, options, data));
		break;
	case KDRI_H5_GROUP:
		if (!sparse_layout(h5, name, &by_column) ||
		    (!kdri_h5_integers(h5, name, "shape", 2, shape) &&
		     !kdri_h5_integers(h5, name, "h5sparse_shape", 2, shape)))
			KDRI_FAIL(
			        ctx, KDR_ERR_FORMAT,
			        "%s:%s: is a group, but not a sparse matrix; it needs the attributes encoding-type (csr_matrix or csc_matrix) and shape",
			        h5->path, name);
		KDRI_TRY(kdri_h5_read_compressed(ctx, h5, name, names, by_column, shape[0], shape[1], options,
		                                 data));
		break;
	default: st = kdri_fail(ctx, KDR_ERR_DATA, "%s: has no dataset '%s'", h5->path, name);
	}
done:
	kdri_h5_array_close(&a);
	return st;
}
