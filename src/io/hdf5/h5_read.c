/* Reading HDF5 datasets: numbers and strings. SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "io/archive/inflate.h"
#include "io/hdf5/h5.h"

/* Rows are read in blocks of about this many bytes, in complete chunks, so that none is unpacked twice. */
enum { BLOCK_BYTES = 1 << 24, STRINGS_AT_ONCE = 4096 };

void kdri_h5_array_close(kdri_h5_array *a)
{
	kdri_h5_drop(a->type);
	kdri_h5_drop(a->space);
	kdri_h5_drop(a->id);
	*a = (kdri_h5_array){ 0 };
}

static kdri_h5_class class_of(hid_t type, bool *floating)
{
	*floating = false;
	switch (H5Tget_class(type)) {
	case H5T_FLOAT: *floating = true; return KDRI_H5_NUMBER;
	case H5T_INTEGER:
	case H5T_ENUM: return KDRI_H5_NUMBER; /* h5py stores booleans as an enumeration */
	case H5T_STRING: return KDRI_H5_STRING;
	case H5T_COMPOUND: return KDRI_H5_COMPOUND;
	default: return KDRI_H5_OTHER;
	}
}

/* Storage and filters that can be read here, in chunks of a believable size. */
static kdr_status check_storage(kdr_context *ctx, const kdri_h5 *h5, kdri_h5_array *a, int64_t most)
{
	kdr_status st = KDR_OK;
	hsize_t chunk[H5S_MAX_RANK];
	hid_t made = H5Dget_create_plist(a->id);
	if (made < 0)
		return kdri_h5_fail(ctx, h5, KDR_ERR_FORMAT, a->label, "cannot be read");
	H5D_layout_t layout = H5Pget_layout(made);
	a->chunk_rows = 1;
	if (layout == H5D_VIRTUAL || H5Pget_external_count(made) > 0) {
		st = kdri_fail(ctx, KDR_ERR_UNSUPPORTED,
		               "%s: its data are in other files; only data inside the file can be read",
		               a->label);
	} else if (layout == H5D_CHUNKED && H5Pget_chunk(made, H5S_MAX_RANK, chunk) == a->ndim) {
		double bytes = (double)H5Tget_size(a->type);
		for (int i = 0; i < a->ndim; i++)
			bytes *= (double)chunk[i];
		if (bytes > (double)most)
			st = kdri_fail(
			        ctx, KDR_ERR_SIZE,
			        "%s: the file is damaged: it claims chunks of %.0f MB, but has %.0f MB",
			        a->label, bytes / 1e6, (double)h5->bytes / 1e6);
		a->chunk_rows = (int64_t)chunk[0];
	}
	for (int i = 0; st == KDR_OK && i < H5Pget_nfilters(made); i++) {
		unsigned flags, config;
		size_t values = 0;
		char name[64] = "";
		H5Z_filter_t filter =
		        H5Pget_filter2(made, (unsigned)i, &flags, &values, NULL, sizeof name, name, &config);
		if (filter < 0 || H5Zfilter_avail(filter) <= 0)
			st = kdri_fail(
			        ctx, KDR_ERR_UNSUPPORTED,
			        "%s: is compressed with filter %d (%s), which the HDF5 library does not have",
			        a->label, (int)filter, name);
	}
	H5Pclose(made);
	return st;
}

static kdr_status check_array(kdr_context *ctx, const kdri_h5 *h5, kdri_h5_array *a)
{
	hsize_t dims[H5S_MAX_RANK];
	a->type_class = class_of(a->type, &a->floating);
	H5S_class_t extent = H5Sget_simple_extent_type(a->space);
	a->ndim = extent == H5S_SIMPLE ? H5Sget_simple_extent_dims(a->space, dims, NULL) : 0;
	if (a->ndim < 0 || (extent != H5S_SIMPLE && extent != H5S_SCALAR))
		return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: has no shape", a->label);
	a->count = 1;
	for (int i = 0; i < a->ndim; i++) {
		if (dims[i] > INT64_MAX || kdri_mul(ctx, a->count, (int64_t)dims[i], &a->count) != KDR_OK)
			return kdri_fail(ctx, KDR_ERR_SIZE, "%s: the claimed shape is larger than any memory",
			                 a->label);
		if (i < 3)
			a->shape[i] = (int64_t)dims[i];
	}
	const double bytes = (double)a->count * (double)KDRI_MAX(H5Tget_size(a->type), sizeof(double));
	if (bytes > (double)*h5->room) {
		if (bytes <= kdri_h5_most((double)h5->bytes))
			KDRI_DO(kdri_unpacked_check(ctx, a->label, bytes, (double)h5->bytes,
			                            KDRI_STREAM_TIMES));
		return kdri_fail(
		        ctx, KDR_ERR_SIZE,
		        "%s: claims %.0f MB, which a file of %.3f MB cannot contain even if compressed",
		        a->label, bytes / 1e6, (double)h5->bytes / 1e6);
	}
	KDRI_DO(check_storage(ctx, h5, a, *h5->room));
	*h5->room -= (int64_t)bytes;
	return KDR_OK;
}

kdr_status kdri_h5_array_open(kdr_context *ctx, const kdri_h5 *h5, const char *name, kdri_h5_array *out)
{
	kdr_status st;
	kdri_h5_array a = { 0 };
	snprintf(a.label, sizeof a.label, "%s:%s", h5->path, name);
	a.id = H5Oopen(h5->file, name, h5->links);
	if (a.id < 0 || H5Iget_type(a.id) != H5I_DATASET)
		KDRI_FAIL(ctx, KDR_ERR_FORMAT, "%s: there is no such dataset", a.label);
	a.space = H5Dget_space(a.id);
	a.type = H5Dget_type(a.id);
	if (a.space < 0 || a.type < 0)
		KDRI_FAIL(ctx, KDR_ERR_FORMAT, "%s: cannot be read", a.label);
	KDRI_TRY(check_array(ctx, h5, &a));
	*out = a;
	a = (kdri_h5_array){ 0 };
done:
	kdri_h5_array_close(&a);
	return st;
}

/* Rows begin .. begin+rows-1 into `out` as elements of `memory`. */
static kdr_status read_block(kdr_context *ctx, const kdri_h5_array *a, hid_t memory, int64_t begin,
                             int64_t rows, void *out)
{
	kdr_status st = KDR_OK;
	hsize_t start[H5S_MAX_RANK] = { 0 }, size[H5S_MAX_RANK] = { 0 };
	hid_t target = H5S_ALL;
	if (a->count == 0)
		return KDR_OK;
	if (a->ndim > 0) {
		H5Sget_simple_extent_dims(a->space, size, NULL);
		start[0] = (hsize_t)begin;
		size[0] = (hsize_t)rows;
		target = H5Screate_simple(a->ndim, size, NULL);
		if (target < 0 || H5Sselect_hyperslab(a->space, H5S_SELECT_SET, start, NULL, size, NULL) < 0)
			st = kdri_fail(ctx, KDR_ERR_FORMAT, "%s: rows cannot be selected", a->label);
	}
	if (st == KDR_OK &&
	    H5Dread(a->id, memory, target, a->ndim > 0 ? a->space : H5S_ALL, H5P_DEFAULT, out) < 0) {
		kdri_h5 nameless = { .path = a->label };
		st = kdri_h5_fail(ctx, &nameless, KDR_ERR_FORMAT, "", "cannot be read");
	}
	kdri_h5_drop(target); /* H5S_ALL is 0 */
	return st;
}

/* The same block by block. `size`: bytes of an element of `memory`. */
static kdr_status read_rows(kdr_context *ctx, const kdri_h5_array *a, hid_t memory, int64_t begin,
                            int64_t rows, size_t size, void *out)
{
	int64_t width = (int64_t)size;
	if (a->ndim > 3)
		return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: has %d dimensions; at most 3 are supported",
		                 a->label, a->ndim);
	if (a->count == 0)
		return KDR_OK;
	for (int i = 1; i < a->ndim; i++)
		width *= a->shape[i];
	int64_t block = KDRI_MAX(1, BLOCK_BYTES / width);
	block = (block + a->chunk_rows - 1) / a->chunk_rows * a->chunk_rows;
	for (int64_t i = 0; i < rows; i += block) {
		const int64_t n = KDRI_MIN(block, rows - i);
		KDRI_DO(read_block(ctx, a, memory, begin + i, n, (char *)out + i * width));
		kdri_child_progress(n * width);
	}
	return KDR_OK;
}

static kdr_status need_numbers(kdr_context *ctx, const kdri_h5_array *a, bool integers)
{
	if (a->type_class != KDRI_H5_NUMBER || (integers && a->floating))
		return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: does not contain %s", a->label,
		                 integers ? "integers" : "numbers");
	return KDR_OK;
}

kdr_status kdri_h5_rows_double(kdr_context *ctx, const kdri_h5_array *a, int64_t begin, int64_t rows,
                               double *out)
{
	kdr_status st = need_numbers(ctx, a, false);
	return st == KDR_OK ? read_rows(ctx, a, H5T_NATIVE_DOUBLE, begin, rows, sizeof *out, out) : st;
}

kdr_status kdri_h5_rows_int64(kdr_context *ctx, const kdri_h5_array *a, int64_t begin, int64_t rows,
                              int64_t *out)
{
	kdr_status st = need_numbers(ctx, a, true);
	return st == KDR_OK ? read_rows(ctx, a, H5T_NATIVE_INT64, begin, rows, sizeof *out, out) : st;
}

/* --- strings and fields ------------------------------------------------------------------------------ */

/* `type` itself, or a compound of this one field, which HDF5 then picks out of the file's. */
static hid_t memory_type(const char *field, hid_t type)
{
	if (!field)
		return H5Tcopy(type);
	hid_t compound = H5Tcreate(H5T_COMPOUND, H5Tget_size(type));
	if (compound >= 0 && H5Tinsert(compound, field, 0, type) < 0) {
		H5Tclose(compound);
		return -1;
	}
	return compound;
}

/* The type of the elements or of one field; the caller closes it. */
static hid_t element_type(const kdri_h5_array *a, const char *field)
{
	if (!field)
		return H5Tcopy(a->type);
	int index = a->type_class == KDRI_H5_COMPOUND ? H5Tget_member_index(a->type, field) : -1;
	return index < 0 ? -1 : H5Tget_member_type(a->type, (unsigned)index);
}

bool kdri_h5_has_field(const kdri_h5_array *a, const char *field, bool *text)
{
	hid_t type = element_type(a, field);
	if (type < 0)
		return false;
	*text = H5Tget_class(type) == H5T_STRING;
	H5Tclose(type);
	return true;
}

static kdr_status copy_block(kdr_context *ctx, const kdri_h5_array *a, hid_t memory, bool variable,
                             size_t width, int64_t begin, int64_t n, char *raw, char **out)
{
	hsize_t count = (hsize_t)n;
	/* Zeroed, so that after a failure only pointers allocated by HDF5 are passed to it for freeing. */
	memset(raw, 0, (size_t)n * width);
	kdr_status st = read_block(ctx, a, memory, begin, n, raw);
	for (int64_t i = 0; i < n && st == KDR_OK; i++) {
		const char *text = raw + (size_t)i * width;
		size_t length = 0;
		if (variable) {
			memcpy(&text, text, sizeof(char *));
			text = text ? text : "";
			length = strlen(text);
		} else {
			while (length < width && text[length])
				length++;
		}
		st = kdri_strndup(ctx, text, length, &out[i]);
	}
	if (variable) {
		hid_t space = H5Screate_simple(1, &count, NULL);
		H5Dvlen_reclaim(memory, space, H5P_DEFAULT, raw);
		H5Sclose(space);
	}
	return st;
}

static kdr_status h5_read_read_texts(kdr_context *ctx, const kdri_h5_array *a, const char *field, hid_t type,
                                     char **out)
{
	kdr_status st;
	char *raw = NULL;
	bool variable = H5Tis_variable_str(type) > 0;
	size_t width = H5Tget_size(type);
	int64_t at_once = KDRI_MAX(1, KDRI_MIN(STRINGS_AT_ONCE, (1 << 24) / (int64_t)width));
	hid_t memory = memory_type(field, type);
	if (memory < 0)
		return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: its strings cannot be read", a->label);
	KDRI_TRY(kdri_alloc(ctx, &raw, KDRI_MIN(at_once, a->shape[0]), width));
	for (int64_t i = 0; i < a->shape[0]; i += at_once)
		KDRI_TRY(copy_block(ctx, a, memory, variable, width, i, KDRI_MIN(at_once, a->shape[0] - i),
		                    raw, out + i));
done:
	H5Tclose(memory);
	kdri_free(ctx, raw);
	return st;
}

static kdr_status read_integers(kdr_context *ctx, const kdri_h5_array *a, const char *field, int64_t *out)
{
	kdr_status st;
	hid_t memory = memory_type(field, H5T_NATIVE_INT64);
	if (memory < 0)
		return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: its integers cannot be read", a->label);
	st = read_rows(ctx, a, memory, 0, a->shape[0], sizeof *out, out);
	H5Tclose(memory);
	return st;
}

kdr_status kdri_h5_strings(kdr_context *ctx, const kdri_h5_array *a, const char *field, char ***out)
{
	kdr_status st;
	char **strings = NULL, digits[32];
	int64_t *values = NULL;
	hid_t type = element_type(a, field);
	H5T_class_t kind = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
	if (a->ndim != 1 || (kind != H5T_STRING && kind != H5T_INTEGER && kind != H5T_ENUM))
		KDRI_FAIL(ctx, KDR_ERR_FORMAT, "%s: does not contain a list of strings or integers",
		          a->label);
	KDRI_TRY(KDRI_NEW0(ctx, &strings, a->shape[0]));
	if (kind == H5T_STRING) {
		KDRI_TRY(h5_read_read_texts(ctx, a, field, type, strings));
	} else {
		KDRI_TRY(KDRI_NEW(ctx, &values, a->shape[0]));
		KDRI_TRY(read_integers(ctx, a, field, values));
		for (int64_t i = 0; i < a->shape[0]; i++) {
			snprintf(digits, sizeof digits, "%lld", (long long)values[i]);
			KDRI_TRY(kdri_strdup(ctx, digits, &strings[i]));
		}
	}
	*out = strings;
	strings = NULL;
done:
	kdri_h5_drop(type);
	kdri_strings_free(&ctx->allocator, strings, a->shape[0]);
	kdri_free(ctx, values);
	return st;
}

kdr_status kdri_h5_field_int64(kdr_context *ctx, const kdri_h5_array *a, const char *field, int64_t **out)
{
	kdr_status st;
	int64_t *values = NULL;
	hid_t type = element_type(a, field);
	H5T_class_t kind = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
	if (a->ndim != 1 || (kind != H5T_INTEGER && kind != H5T_ENUM))
		KDRI_FAIL(ctx, KDR_ERR_FORMAT, "%s: does not contain a list of integers", a->label);
	KDRI_TRY(KDRI_NEW(ctx, &values, a->shape[0]));
	KDRI_TRY(read_integers(ctx, a, field, values));
	*out = values;
	values = NULL;
done:
	kdri_h5_drop(type);
	kdri_free(ctx, values);
	return st;
}

/* Matrices in HDF5: dense datasets, and groups of three arrays. */

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
