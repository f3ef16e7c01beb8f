/* MATLAB v4 and v5 files, through matio where the build has it. SPDX-License-Identifier: BSD-3-Clause
 *
 * Headers are read first and their claims compared with the size of the file; only then is matio asked
 * for the data. */
#include "io/mat.h"

#ifndef KDR_HAVE_MATIO

kdr_status kdri_mat5_read(kdr_context *ctx, const char *path, const char *wanted, kdr_data *data)
{
	(void)wanted, (void)data;
	return kdri_fail(
	        ctx, KDR_ERR_UNSUPPORTED,
	        "%s: a MATLAB file older than v7.3: this build cannot read it (it lacks matio, Debian's "
	        "libmatio-dev); save it with -v7.3",
	        path);
}

#else

#include <matio.h>
#include <sys/stat.h>

/* Columns turned at once, in bytes. */
enum { GROUP_BYTES = 1 << 20 };

static bool element_of(enum matio_types type, kdri_element *out)
{
	switch (type) {
	case MAT_T_INT8: *out = KDRI_ELEMENT_I1; return true;
	case MAT_T_UINT8: *out = KDRI_ELEMENT_U1; return true;
	case MAT_T_INT16: *out = KDRI_ELEMENT_I2; return true;
	case MAT_T_UINT16: *out = KDRI_ELEMENT_U2; return true;
	case MAT_T_INT32: *out = KDRI_ELEMENT_I4; return true;
	case MAT_T_UINT32: *out = KDRI_ELEMENT_U4; return true;
	case MAT_T_INT64: *out = KDRI_ELEMENT_I8; return true;
	case MAT_T_UINT64: *out = KDRI_ELEMENT_U8; return true;
	case MAT_T_SINGLE: *out = KDRI_ELEMENT_F4; return true;
	case MAT_T_DOUBLE: *out = KDRI_ELEMENT_F8; return true;
	default: return false;
	}
}

/* What keeps a variable from being a matrix of numbers; NULL if nothing does. */
static const char *problem_of(const matvar_t *v)
{
	switch (v->class_type) {
	case MAT_C_DOUBLE:
	case MAT_C_SINGLE:
	case MAT_C_INT8:
	case MAT_C_UINT8:
	case MAT_C_INT16:
	case MAT_C_UINT16:
	case MAT_C_INT32:
	case MAT_C_UINT32:
	case MAT_C_INT64:
	case MAT_C_UINT64:
	case MAT_C_SPARSE: break;
	case MAT_C_CHAR: return "text";
	case MAT_C_CELL: return "a cell array";
	case MAT_C_STRUCT: return "a struct";
	default: return "an object";
	}
	if (v->isComplex)
		return "complex";
	if (v->rank != 2 || !v->dims)
		return "not of two dimensions";
	return v->dims[0] == 0 || v->dims[1] == 0 ? "empty" : NULL;
}

static kdr_status read_dense(kdr_context *ctx, const char *label, const matvar_t *v, kdr_data *data)
{
	kdr_status st;
	kdri_element type;
	double *values = NULL, *group = NULL;
	int64_t rows = (int64_t)v->dims[0], cols = (int64_t)v->dims[1];
	if (!v->data || !element_of(v->data_type, &type) ||
	    v->nbytes < (size_t)rows * (size_t)cols * kdri_element_size(type))
		return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: its data are damaged or truncated", label);
	int64_t width = KDRI_MAX(1, KDRI_MIN(cols, GROUP_BYTES / (int64_t)sizeof(double) / rows));
	KDR_TRY(KDRI_NEW(ctx, &values, rows * cols));
	KDR_TRY(KDRI_NEW(ctx, &group, rows * width));
	for (int64_t j = 0; j < cols; j += width) {
		int64_t w = KDRI_MIN(width, cols - j);
		const char *from = (const char *)v->data + (size_t)(j * rows) * kdri_element_size(type);
		kdri_element_to_double(type, false, from, w * rows, group);
		for (int64_t i = 0; i < rows; i++)
			for (int64_t l = 0; l < w; l++)
				values[i * cols + j + l] = group[l * rows + i];
	}
	data->kind = KDR_MAT_DENSE;
	data->rows = rows;
	data->cols = cols;
	data->dense = values;
	values = NULL;
done:
	kdri_free(ctx, group);
	kdri_free(ctx, values);
	return st;
}

static kdr_status read_sparse(kdr_context *ctx, const char *label, const matvar_t *v, kdr_data *data)
{
	kdr_status st;
	const mat_sparse_t *s = v->data;
	kdri_element type;
	int64_t rows = (int64_t)v->dims[0], cols = (int64_t)v->dims[1];
	if (!s || !s->jc || s->njc < 1 || !element_of(v->data_type, &type))
		return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: its data are damaged or truncated", label);
	/* nzmax entries may be reserved; jc tells how many there are. */
	int64_t nnz = s->jc[s->njc - 1];
	if (nnz > s->nir || nnz > s->ndata || (nnz > 0 && (!s->ir || !s->data)))
		return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: its data are damaged or truncated", label);
	KDR_TRY(kdri_compressed_check(ctx, label, rows, cols, true, s->njc, nnz, nnz));
	KDR_TRY(KDRI_NEW(ctx, &data->rowptr, s->njc));
	KDR_TRY(KDRI_NEW(ctx, &data->col, nnz));
	KDR_TRY(KDRI_NEW(ctx, &data->val, nnz));
	for (int64_t j = 0; j < s->njc; j++)
		data->rowptr[j] = s->jc[j];
	for (int64_t p = 0; p < nnz; p++) {
		if (s->ir[p] >= rows) {
			st = kdri_fail(ctx, KDR_ERR_FORMAT, "%s: an index %u is outside 0 .. %lld", label,
			               s->ir[p], (long long)(rows - 1));
			goto done;
		}
		data->col[p] = (int32_t)s->ir[p];
	}
	kdri_element_to_double(type, false, s->data, nnz, data->val);
	data->rows = rows;
	data->cols = cols;
	KDR_TRY(kdri_compressed_finish(ctx, label, data, true, nnz));
done:
	return st;
}

kdr_status kdri_mat5_read(kdr_context *ctx, const char *path, const char *wanted, kdr_data *data)
{
	kdr_status st = KDR_OK;
	kdri_mat_search search = { 0 };
	struct stat info;
	matvar_t *v = NULL;
	mat_t *mat = stat(path, &info) == 0 ? Mat_Open(path, MAT_ACC_RDONLY) : NULL;
	if (!mat)
		return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: is not a MATLAB file", path);
	while ((v = Mat_VarReadNextInfo(mat)) != NULL) {
		if (v->name && wanted && strcmp(v->name, wanted) == 0)
			break;
		if (v->name)
			kdri_mat_note(&search, v->name, problem_of(v));
		Mat_VarFree(v);
	}
	if (!v) {
		KDR_TRY(kdri_mat_choose(ctx, path, wanted, &search));
		v = Mat_VarReadInfo(mat, search.name);
	}
	const char *problem = v ? problem_of(v) : "damaged";
	if (problem) {
		st = kdri_fail(ctx, KDR_ERR_FORMAT, "%s:%s: is %s; a real matrix of two dimensions is needed",
		               path, wanted ? wanted : search.name, problem);
		goto done;
	}
	double most = KDRI_MAX(0x1p26, (double)info.st_size * KDRI_DEFLATE_MOST);
	if (v->class_type != MAT_C_SPARSE && (double)v->dims[0] * (double)v->dims[1] > most) {
		st = kdri_fail(ctx, KDR_ERR_SIZE, "%s:%s: claims %zu x %zu numbers in a file of %lld bytes",
		               path, v->name, v->dims[0], v->dims[1], (long long)info.st_size);
		goto done;
	}
	if (Mat_VarReadDataAll(mat, v) != 0) {
		st = kdri_fail(ctx, KDR_ERR_FORMAT, "%s:%s: its data are damaged or truncated", path,
		               v->name);
		goto done;
	}
	KDR_TRY(v->class_type == MAT_C_SPARSE ? read_sparse(ctx, path, v, data)
	                                      : read_dense(ctx, path, v, data));
done:
	Mat_VarFree(v);
	Mat_Close(mat);
	return st;
}

#endif
