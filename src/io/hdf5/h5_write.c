/* Writing HDF5: datasets, strings, attributes, matrices. SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "io/hdf5/h5.h"

kdr_status kdri_h5_make_group(kdr_context *ctx, const kdri_h5 *h5, const char *name)
{
	hid_t id = H5Gcreate2(h5->file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
	if (id < 0)
		return kdri_h5_fail(ctx, h5, KDR_ERR_WRITE, name, "cannot write");
	H5Gclose(id);
	return KDR_OK;
}

/* The shape of a dataset or attribute of `ndim` dimensions, 0 for one value; the caller closes it. */
static hid_t make_space(int ndim, const int64_t *shape)
{
	hsize_t dims[3] = { 0 };
	for (int i = 0; i < ndim; i++)
		dims[i] = (hsize_t)shape[i];
	return ndim == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(ndim, dims, NULL);
}

kdr_status kdri_h5_write_array(kdr_context *ctx, const kdri_h5 *h5, const char *name, hid_t type, int ndim,
                               const int64_t *shape, const void *data)
{
	kdr_status st = KDR_OK;
	hid_t space = make_space(ndim, shape), id = -1, made = H5Pcreate(H5P_DATASET_CREATE);
	/* No times: the same data make the same file. */
	if (space >= 0 && made >= 0 && H5Pset_obj_track_times(made, false) >= 0)
		id = H5Dcreate2(h5->file, name, type, space, H5P_DEFAULT, made, H5P_DEFAULT);
	if (id < 0 || (H5Sget_simple_extent_npoints(space) > 0 &&
	               H5Dwrite(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0))
		st = kdri_h5_fail(ctx, h5, KDR_ERR_WRITE, name, "cannot write");
	kdri_h5_drop(id);
	kdri_h5_drop(made);
	kdri_h5_drop(space);
	return st;
}

static hid_t text_type(void)
{
	hid_t type = H5Tcopy(H5T_C_S1);
	if (type >= 0 && (H5Tset_size(type, H5T_VARIABLE) < 0 || H5Tset_cset(type, H5T_CSET_UTF8) < 0)) {
		H5Tclose(type);
		return -1;
	}
	return type;
}

kdr_status kdri_h5_write_strings(kdr_context *ctx, const kdri_h5 *h5, const char *name,
                                 const char *const *strings, int64_t count)
{
	hid_t type = text_type();
	if (type < 0)
		return kdri_h5_fail(ctx, h5, KDR_ERR_WRITE, name, "cannot write");
	kdr_status st = kdri_h5_write_array(ctx, h5, name, type, 1, &count, strings);
	H5Tclose(type);
	return st;
}

kdr_status kdri_h5_set_attribute(kdr_context *ctx, const kdri_h5 *h5, const char *name, const char *attribute,
                                 hid_t type, int ndim, const int64_t *shape, const void *data)
{
	kdr_status st = KDR_OK;
	hid_t space = make_space(ndim, shape), id = -1;
	if (space >= 0 && type >= 0)
		id = H5Acreate_by_name(h5->file, name, attribute, type, space, H5P_DEFAULT, H5P_DEFAULT,
		                       h5->links);
	if (id < 0 || H5Awrite(id, type, data) < 0)
		st = kdri_h5_fail(ctx, h5, KDR_ERR_WRITE, name, "cannot write");
	kdri_h5_drop(id);
	kdri_h5_drop(space);
	return st;
}

kdr_status kdri_h5_set_texts(kdr_context *ctx, const kdri_h5 *h5, const char *name, const char *attribute,
                             const char *const *texts, int64_t count)
{
	hid_t type = text_type();
	if (H5Aexists_by_name(h5->file, name, attribute, h5->links) > 0)
		H5Adelete_by_name(h5->file, name, attribute, h5->links);
	kdr_status st = kdri_h5_set_attribute(ctx, h5, name, attribute, type, 1, &count, texts);
	kdri_h5_drop(type);
	return st;
}

kdr_status kdri_h5_set_text(kdr_context *ctx, const kdri_h5 *h5, const char *name, const char *attribute,
                            const char *text)
{
	hid_t type = text_type();
	kdr_status st = kdri_h5_set_attribute(ctx, h5, name, attribute, type, 0, NULL, &text);
	kdri_h5_drop(type);
	return st;
}

kdr_status kdri_h5_set_integers(kdr_context *ctx, const kdri_h5 *h5, const char *name, const char *attribute,
                                const int64_t *values, int64_t count)
{
	return kdri_h5_set_attribute(ctx, h5, name, attribute, H5T_NATIVE_INT64, count == 1 ? 0 : 1, &count,
	                             values);
}

kdr_status kdri_h5_set_reals(kdr_context *ctx, const kdri_h5 *h5, const char *name, const char *attribute,
                             const double *values, int64_t count)
{
	return kdri_h5_set_attribute(ctx, h5, name, attribute, H5T_NATIVE_DOUBLE, count == 1 ? 0 : 1, &count,
	                             values);
}

static kdr_status write_csr(kdr_context *ctx, const kdri_h5 *h5, const char *name, const kdr_data *d)
{
	char part[64];
	const int64_t shape[2] = { d->rows, d->cols }, nptr = d->rows + 1, nnz = d->rowptr[d->rows];
	KDRI_DO(kdri_h5_make_group(ctx, h5, name));
	KDRI_DO(kdri_h5_set_text(ctx, h5, name, "encoding-type", "csr_matrix"));
	KDRI_DO(kdri_h5_set_text(ctx, h5, name, "encoding-version", "0.1.0"));
	KDRI_DO(kdri_h5_set_integers(ctx, h5, name, "shape", shape, 2));
	snprintf(part, sizeof part, "%s/data", name);
	KDRI_DO(kdri_h5_write_array(ctx, h5, part, H5T_NATIVE_DOUBLE, 1, &nnz, d->val));
	snprintf(part, sizeof part, "%s/indices", name);
	KDRI_DO(kdri_h5_write_array(ctx, h5, part, H5T_NATIVE_INT32, 1, &nnz, d->col));
	snprintf(part, sizeof part, "%s/indptr", name);
	return kdri_h5_write_array(ctx, h5, part, H5T_NATIVE_INT64, 1, &nptr, d->rowptr);
}

kdr_status kdri_h5_write_matrix(kdr_context *ctx, const kdri_h5 *h5, const char *name, const kdr_data *d)
{
	const int64_t shape[2] = { d->rows, d->cols };
	if (d->kind == KDR_MAT_CSR)
		return write_csr(ctx, h5, name, d);
	KDRI_DO(kdri_h5_write_array(ctx, h5, name, H5T_NATIVE_DOUBLE, 2, shape, d->dense));
	KDRI_DO(kdri_h5_set_text(ctx, h5, name, "encoding-type", "array"));
	return kdri_h5_set_text(ctx, h5, name, "encoding-version", "0.2.0");
}
