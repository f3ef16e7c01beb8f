/* Any bytes as changes to a sound HDF5 file. SPDX-License-Identifier: BSD-3-Clause
 *
 * HDF5's own parser does not withstand any bytes (1.10.8: reads beyond buffers, endless loops), and that is
 * not ours to fix. So the input is a script: it picks a sound file and replaces, adds and removes groups,
 * datasets and attributes in it, of any type and shape. What comes out HDF5 can open; all our own checks of
 * what is in it are still before it. */
#ifndef KDRI_TESTS_FUZZ_H5_H
#define KDRI_TESTS_FUZZ_H5_H

#include <hdf5.h>

#include "tests/fuzz/fuzz_file.h"

typedef struct fuzz_script {
	const uint8_t *p, *end;
} fuzz_script;

static inline unsigned fuzz_byte(fuzz_script *s)
{
	return s->p < s->end ? *s->p++ : 0;
}

#define FUZZ_PICK(s, table) (table)[fuzz_byte(s) % (sizeof(table) / sizeof(table)[0])]

static inline const char *fuzz_word(fuzz_script *s)
{
	static const char *const words[] = { "csr_matrix",    "csc_matrix", "csc",      "array", "kind",
		                             "_index",        "double",     "char",     "cell",  "struct",
		                             "kindred model", "kmeans",     "standard", "none",  "union",
		                             "position",      "",           "0",        "-1",    "x" };
	return FUZZ_PICK(s, words);
}

/* The name of an object: one that the readers look for, or the child of one. */
static inline void fuzz_name(fuzz_script *s, char *out, size_t room)
{
	static const char *const parents[] = { "",          "X/",
		                               "obs/",      "var/",
		                               "obs/kind/", "obs/__categories/",
		                               "uns/",      "tasks/",
		                               "arrays/",   "arrays/centres/",
		                               "prep/",     "raw/",
		                               "s/" };
	static const char *const names[] = { "X",       "obs",        "var",
		                             "kind",    "_index",     "index",
		                             "codes",   "categories", "kind_categories",
		                             "data",    "indices",    "indptr",
		                             "ir",      "jc",         "features",
		                             "classes", "options",    "0",
		                             "1",       "centres",    "prep",
		                             "scale",   "align",      "idf",
		                             "offset",  "divisor",    "place",
		                             "columns", "tasks",      "fit_each",
		                             "median",  "s" };
	const char *parent = FUZZ_PICK(s, parents);
	snprintf(out, room, "%s%s", parent, FUZZ_PICK(s, names));
}

static inline hid_t fuzz_type(fuzz_script *s)
{
	hid_t type;
	switch (fuzz_byte(s) % 10) {
	case 0: return H5Tcopy(H5T_NATIVE_INT64);
	case 1: return H5Tcopy(H5T_STD_U32BE);
	case 2: return H5Tcopy(H5T_NATIVE_INT8);
	case 3: return H5Tcopy(H5T_IEEE_F32BE);
	case 4: return H5Tcopy(H5T_NATIVE_LDOUBLE);
	case 5:
		type = H5Tcopy(H5T_C_S1);
		H5Tset_size(type, 1 + fuzz_byte(s) % 20);
		return type;
	case 6:
		type = H5Tcreate(H5T_COMPOUND, 16);
		H5Tinsert(type, "kind", 0, H5T_NATIVE_INT8);
		H5Tinsert(type, fuzz_byte(s) % 2 ? "index" : "other", 8, H5T_NATIVE_INT64);
		return type;
	case 7: return H5Tcopy(H5T_STD_REF_OBJ);
	case 8: return H5Tcopy(H5T_NATIVE_UINT64);
	default: return H5Tcopy(H5T_NATIVE_DOUBLE);
	}
}

static inline void fuzz_dataset(fuzz_script *s, hid_t file, const char *name, hid_t make)
{
	static const int sizes[] = { 0, 1, 2, 3, 4, 5, 12, 20, 31, 32, 62 };
	static unsigned char content[1 << 16];
	hsize_t dims[4], chunk[4], count = 1;
	int ndim = (int)(fuzz_byte(s) % 5);
	for (int i = 0; i < ndim; i++) {
		int size = FUZZ_PICK(s, sizes);
		dims[i] = size > 5 ? (hsize_t)1 << size : (hsize_t)size;
		chunk[i] = dims[i] > 64 || dims[i] == 0 ? 64 : dims[i];
		count = count > 1 << 20 || dims[i] > 1 << 20 ? (hsize_t)1 << 30 : count * dims[i];
	}
	hid_t space = ndim ? H5Screate_simple(ndim, dims, NULL) : H5Screate(H5S_SCALAR), type = fuzz_type(s),
	      made = H5Pcreate(H5P_DATASET_CREATE);
	if (ndim && (count > 1000 || fuzz_byte(s) % 2))
		H5Pset_chunk(made, ndim, chunk);
	H5Ldelete(file, name, H5P_DEFAULT);
	hid_t id = H5Dcreate2(file, name, type, space, make, made, H5P_DEFAULT);
	size_t bytes = (size_t)count * H5Tget_size(type);
	if (id >= 0 && count <= 1000 && bytes <= sizeof content && H5Tget_class(type) != H5T_REFERENCE) {
		for (size_t i = 0; i < bytes; i++)
			content[i] = (unsigned char)fuzz_byte(s);
		H5Dwrite(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, content);
	}
	if (id >= 0)
		H5Dclose(id);
	H5Pclose(made);
	H5Tclose(type);
	H5Sclose(space);
}

static inline hid_t fuzz_text_type(void)
{
	hid_t type = H5Tcopy(H5T_C_S1);
	H5Tset_size(type, H5T_VARIABLE);
	return type;
}

static inline void fuzz_strings(fuzz_script *s, hid_t file, const char *name, hid_t make)
{
	const char *words[8];
	hsize_t count = fuzz_byte(s) % 8;
	for (hsize_t i = 0; i < count; i++)
		words[i] = fuzz_word(s);
	hid_t space = H5Screate_simple(1, &count, NULL), type = fuzz_text_type();
	H5Ldelete(file, name, H5P_DEFAULT);
	hid_t id = H5Dcreate2(file, name, type, space, make, H5P_DEFAULT, H5P_DEFAULT);
	if (id >= 0) {
		H5Dwrite(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, words);
		H5Dclose(id);
	}
	H5Tclose(type);
	H5Sclose(space);
}

static inline void fuzz_attribute(fuzz_script *s, hid_t file, const char *name)
{
	static const char *const names[] = { "encoding-type",
		                             "shape",
		                             "h5sparse_format",
		                             "h5sparse_shape",
		                             "_index",
		                             "MATLAB_class",
		                             "MATLAB_sparse",
		                             "MATLAB_empty",
		                             "format",
		                             "format_version",
		                             "method",
		                             "columns",
		                             "name",
		                             "k",
		                             "n_init",
		                             "spherical",
		                             "start",
		                             "max_iter",
		                             "tol" };
	const char *attribute = FUZZ_PICK(s, names), *word = fuzz_word(s);
	const char *object = fuzz_byte(s) % 4 ? name : "/";
	bool text = fuzz_byte(s) % 2;
	int64_t values[4];
	hsize_t count = fuzz_byte(s) % 4;
	for (int i = 0; i < 4; i++)
		values[i] = (int8_t)fuzz_byte(s) * (fuzz_byte(s) % 8 == 7 ? (int64_t)1 << 55 : 1);
	hid_t type =
	        text ? fuzz_text_type() : H5Tcopy(fuzz_byte(s) % 2 ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE);
	hid_t space = text || count == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &count, NULL);
	H5Adelete_by_name(file, object, attribute, H5P_DEFAULT);
	hid_t id = H5Acreate_by_name(file, object, attribute, type, space, H5P_DEFAULT, H5P_DEFAULT,
	                             H5P_DEFAULT);
	if (id >= 0) {
		H5Awrite(id, type, text ? (const void *)&word : values);
		H5Aclose(id);
	}
	H5Sclose(space);
	H5Tclose(type);
}

/* Carries out the script on a file. */
static inline void fuzz_change(const char *path, fuzz_script *s)
{
	H5E_auto2_t print;
	void *print_data;
	char name[128], other[128];
	H5Eget_auto2(H5E_DEFAULT, &print, &print_data);
	H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
	hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), make = H5Pcreate(H5P_LINK_CREATE);
	H5Pset_create_intermediate_group(make, 1);
	for (int steps = 0; s->p < s->end && steps < 64; steps++) {
		unsigned what = fuzz_byte(s);
		fuzz_name(s, name, sizeof name);
		switch (what % 8) {
		case 0:
		case 1: fuzz_dataset(s, file, name, make); break;
		case 2: fuzz_strings(s, file, name, make); break;
		case 3:
		case 4: fuzz_attribute(s, file, name); break;
		case 5: H5Ldelete(file, name, H5P_DEFAULT); break;
		case 6:
			H5Ldelete(file, name, H5P_DEFAULT);
			H5Gclose(H5Gcreate2(file, name, make, H5P_DEFAULT, H5P_DEFAULT));
			break;
		default:
			fuzz_name(s, other, sizeof other);
			if (fuzz_byte(s) % 2)
				H5Lcreate_soft(other, file, name, make, H5P_DEFAULT);
			else
				H5Lcreate_hard(file, other, file, name, make, H5P_DEFAULT);
		}
	}
	H5Pclose(make);
	H5Fclose(file);
	H5Eset_auto2(H5E_DEFAULT, print, print_data);
}

/* Removes the checksum of a model, so that changes reach the checks behind it. */
static inline void fuzz_unseal(const char *path)
{
	hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
	if (H5Adelete(file, "checksum") < 0)
		exit(1);
	H5Fclose(file);
}

/* A sound file is made once and copied then. */
typedef struct fuzz_copy {
	uint8_t *bytes;
	size_t size;
} fuzz_copy;

static inline void fuzz_keep(fuzz_copy *copy, const char *path)
{
	FILE *f = fopen(path, "rb");
	if (!f || fseek(f, 0, SEEK_END) != 0)
		exit(1);
	copy->size = (size_t)ftell(f);
	copy->bytes = malloc(copy->size);
	rewind(f);
	if (!copy->bytes || fread(copy->bytes, 1, copy->size, f) != copy->size)
		exit(1);
	fclose(f);
}

/* A sound file: dense or sparse X as `kindred convert` writes it. */
static inline const char *fuzz_matrix_file(bool sparse)
{
	static const double values[6] = { 1, 2, 3, 4, 5, 6 };
	static const int64_t rowptr[4] = { 0, 2, 3, 4 };
	static const int32_t col[4] = { 0, 1, 1, 0 };
	static const char *const names[2] = { "a", "b" };
	static fuzz_copy copies[2];
	if (copies[sparse].bytes)
		return fuzz_file(copies[sparse].bytes, copies[sparse].size);
	kdr_context *ctx = NULL;
	kdr_data *data = NULL;
	kdr_mat x = sparse ? kdr_mat_from_csr(3, 2, rowptr, col, values) : kdr_mat_from_dense(values, 3, 2);
	const char *path = fuzz_file((const uint8_t *)"", 0);
	if (kdr_context_new(&ctx, NULL) != KDR_OK || kdr_data_new(ctx, "x", &x, names, &data) != KDR_OK ||
	    kdri_format_hdf5.write(ctx, path, data, true) != KDR_OK)
		exit(1);
	kdr_data_free(data);
	kdr_context_free(ctx);
	fuzz_keep(&copies[sparse], path);
	return path;
}

static inline void fuzz_read(const kdri_format *format, const kdr_read_options *options, const char *path)
{
	kdr_context *ctx = NULL;
	kdr_data *data = NULL;
	if (kdr_context_new(&ctx, NULL) != KDR_OK || kdri_data_new(ctx, "fuzz", path, &data) != KDR_OK)
		exit(1);
	kdr_status st = format->read(ctx, path, options, data);
	if (st == KDR_OK)
		fuzz_check_data(data);
	else
		FUZZ_CHECK(kdr_context_error(ctx)[0]);
	kdr_data_free(data);
	kdr_context_free(ctx);
	FUZZ_CHECK(H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL) == 0);
}

#endif
