/* A file driver for HDF5 files that are written. SPDX-License-Identifier: BSD-3-Clause
 *
 * HDF5 cannot close a file whose bytes cannot be written: it tries again when the program ends, prints errors, and may
 * crash. It therefore writes through our own driver, which stores the first error and then lets every write succeed.
 * kdri_h5_finish reads that error, and the temporary file is removed. */
#include "core/system.h"
#include "io/hdf5/h5.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

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
