/* Model files spoilt on purpose. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_TESTS_DAMAGE_H
#define KDRI_TESTS_DAMAGE_H

#include "tests/unit/bytes.h"

#include <hdf5.h>

/* Opens a model to change it, without its checksum, so that the changes reach the checks behind that. */
static inline hid_t open_to_change(const char *path)
{
	hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
	if (H5Aexists(file, "checksum") > 0)
		assert_true(H5Adelete(file, "checksum") >= 0);
	return file;
}

static inline void set_text(const char *path, const char *attribute, const char *text)
{
	hid_t file = open_to_change(path), type = H5Tcopy(H5T_C_S1);
	H5Tset_size(type, H5T_VARIABLE);
	hid_t space = H5Screate(H5S_SCALAR);
	H5Adelete(file, attribute);
	hid_t id = H5Acreate2(file, attribute, type, space, H5P_DEFAULT, H5P_DEFAULT);
	assert_true(H5Awrite(id, type, &text) >= 0);
	H5Aclose(id);
	H5Sclose(space);
	H5Tclose(type);
	H5Fclose(file);
}

static inline void removed(const char *path, const char *link)
{
	hid_t file = open_to_change(path);
	assert_true(H5Ldelete(file, link, H5P_DEFAULT) >= 0);
	H5Fclose(file);
}

/* Replaces a dataset by one of another shape; integers stay integers, all else becomes reals. */
static inline void reshaped(const char *path, const char *name, int ndim, const hsize_t *shape, double value)
{
	hid_t file = open_to_change(path), space = H5Screate_simple(ndim, shape, NULL);
	hsize_t count = 1;
	for (int i = 0; i < ndim; i++)
		count *= shape[i];
	double *x = malloc((count + 1) * sizeof *x);
	for (hsize_t i = 0; i < count; i++)
		x[i] = value;
	hid_t old = H5Dopen2(file, name, H5P_DEFAULT), type = H5Dget_type(old);
	bool whole = H5Tget_class(type) == H5T_INTEGER;
	H5Tclose(type);
	H5Dclose(old);
	H5Ldelete(file, name, H5P_DEFAULT);
	hid_t id = H5Dcreate2(file, name, whole ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE, space, H5P_DEFAULT,
	                      H5P_DEFAULT, H5P_DEFAULT);
	assert_true(H5Dwrite(id, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, x) >= 0);
	free(x);
	H5Dclose(id);
	H5Sclose(space);
	H5Fclose(file);
}

/* Makes a dataset of this shape that was never written, so that the file stores nothing of it. */
static inline void unwritten(const char *path, const char *name, int ndim, const hsize_t *shape)
{
	const hsize_t chunk[3] = { 64, 64, 64 };
	hid_t file = open_to_change(path), space = H5Screate_simple(ndim, shape, NULL);
	hid_t made = H5Pcreate(H5P_DATASET_CREATE);
	H5Pset_chunk(made, ndim, chunk);
	if (H5Lexists(file, name, H5P_DEFAULT) > 0)
		H5Ldelete(file, name, H5P_DEFAULT);
	hid_t id = H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, made, H5P_DEFAULT);
	assert_true(id >= 0);
	H5Dclose(id);
	H5Pclose(made);
	H5Sclose(space);
	H5Fclose(file);
}

#endif
