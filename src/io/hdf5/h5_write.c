/* Writing HDF5: datasets, strings, attributes, matrices. SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/system.h"
#include "io/hdf5/h5.h"

/* A file driver for HDF5 files that are written.
 *
 * HDF5 cannot close a file whose bytes cannot be written: it tries again when the program ends, prints errors, and may
 * crash. It therefore writes through our own driver, which stores the first error and then lets every write succeed.
 * kdri_h5_finish reads that error, and the temporary file is removed. */

#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

enum { MOST_AT_ONCE = 1 << 30 }; /* bytes per call */

typedef struct disk {
	H5FD_t common; /* HDF5's own; must come first */
	int fd, error; /* error: errno of the first write that failed */
	haddr_t allocated, end;
} disk;

static int last_error; /* of the file closed last; under kdri_h5_lock */

static H5FD_t *disk_open(const char *name, unsigned flags, hid_t access, haddr_t most)
{
	(void)access, (void)most;
	kdri_file info;
	disk *d = calloc(1, sizeof *d);
	if (!d)
		return NULL;
	bool anew = flags & H5F_ACC_TRUNC;
	d->fd = kdri_open(name, O_RDWR | (anew ? O_CREAT | O_TRUNC : 0));
	if (d->fd < 0)
		d->error = errno; /* reported when the file is finished */
	if (!anew && d->fd >= 0 && kdri_file_open(d->fd, &info))
		d->end = (haddr_t)info.bytes;
	return &d->common;
}

static herr_t disk_close(H5FD_t *file)
{
	disk *d = (disk *)file;
	if (d->fd >= 0 && close(d->fd) != 0 && !d->error)
		d->error = errno;
	last_error = d->error;
	free(d);
	return 0;
}

static herr_t disk_query(const H5FD_t *file, unsigned long *features)
{
	(void)file;
	*features = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
	            H5FD_FEAT_AGGREGATE_SMALLDATA;
	return 0;
}

static haddr_t disk_get_eoa(const H5FD_t *file, H5FD_mem_t type)
{
	(void)type;
	return ((const disk *)file)->allocated;
}

static herr_t disk_set_eoa(H5FD_t *file, H5FD_mem_t type, haddr_t address)
{
	(void)type;
	((disk *)file)->allocated = address;
	return 0;
}

static haddr_t disk_get_eof(const H5FD_t *file, H5FD_mem_t type)
{
	(void)type;
	return ((const disk *)file)->end;
}

static herr_t disk_read(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t address, size_t size,
                        void *buffer)
{
	(void)type, (void)transfer;
	const disk *d = (const disk *)file;
	char *p = buffer;
	while (size > 0) {
		int64_t n = kdri_read_at(d->fd, p, size, (int64_t)address);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		p += n;
		address += (haddr_t)n;
		size -= (size_t)n;
	}
	memset(p, 0, size); /* beyond the end, or what could not be written */
	return 0;
}

static herr_t disk_write(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t address, size_t size,
                         const void *buffer)
{
	(void)type, (void)transfer;
	disk *d = (disk *)file;
	const char *p = buffer;
	d->end = KDRI_MAX(d->end, address + size);
	while (size > 0 && !d->error) {
		ssize_t n = lseek(d->fd, (off_t)address, SEEK_SET) < 0
		                    ? -1
		                    : write(d->fd, p, KDRI_MIN(size, (size_t)MOST_AT_ONCE));
		if (n < 0 && errno != EINTR)
			d->error = errno;
		if (n <= 0)
			continue;
		p += n;
		address += (haddr_t)n;
		size -= (size_t)n;
	}
	return 0;
}

static herr_t disk_truncate(H5FD_t *file, hid_t transfer, hbool_t closing)
{
	(void)transfer, (void)closing;
	disk *d = (disk *)file;
	if (!d->error && ftruncate(d->fd, (off_t)d->allocated) != 0)
		d->error = errno;
	d->end = d->allocated;
	return 0;
}

static const H5FD_class_t disk_class = {
#ifdef H5FD_CLASS_VERSION
	.version = H5FD_CLASS_VERSION,
	.value = 513, /* HDF5 reserves 512 to 65535 for private drivers */
#endif
	.name = "kindred",
	.maxaddr = ((haddr_t)1 << 62) - 1,
	.fc_degree = H5F_CLOSE_WEAK,
	.open = disk_open,
	.close = disk_close,
	.query = disk_query,
	.get_eoa = disk_get_eoa,
	.set_eoa = disk_set_eoa,
	.get_eof = disk_get_eof,
	.read = disk_read,
	.write = disk_write,
	.truncate = disk_truncate,
	.fl_map = H5FD_FLMAP_DICHOTOMY,
};

bool kdri_h5_disk_use(hid_t access)
{
	static hid_t driver = -1;
	if (driver < 0 || H5Iget_type(driver) != H5I_VFL) /* the caller may have closed HDF5 meanwhile */
		driver = H5FDregister(&disk_class);
	return driver >= 0 && H5Pset_driver(access, driver, NULL) >= 0;
}

int kdri_h5_disk_error(void)
{
	return last_error;
}

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
