/* HDF5 files: opening, walking, attributes. SPDX-License-Identifier: BSD-3-Clause */
#include "io/hdf5/h5.h"
#include "core/system.h"
#include "io/archive/inflate.h"
#include "io/output/set.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { WALK_OBJECTS = 100000, WALK_LEVELS = 12 };
/* A dataset may declare any size. A file is assumed to contain at most a few megabytes plus this many times its own
 * size: deflate's limit, rounded up. */
enum { BELIEVED = 1 << 24, TIMES_STORED = 2000 };

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static int64_t room_left; /* of the open file; under that lock */

void kdri_h5_lock(void)
{
	pthread_mutex_lock(&one_at_a_time);
}

void kdri_h5_unlock(void)
{
	pthread_mutex_unlock(&one_at_a_time);
}

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

static bool disk_use(hid_t access)
{
	static hid_t driver = -1;
	if (driver < 0 || H5Iget_type(driver) != H5I_VFL) /* the caller may have closed HDF5 meanwhile */
		driver = H5FDregister(&disk_class);
	return driver >= 0 && H5Pset_driver(access, driver, NULL) >= 0;
}

static void h5_enter(kdri_h5 *h5)
{
	kdri_h5_lock();
	H5Eget_auto2(H5E_DEFAULT, &h5->print, &h5->print_data);
	H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
	h5->entered = true;
}

void kdri_h5_drop(hid_t id)
{
	if (id > 0)
		H5Idec_ref(id);
}

void kdri_h5_close(kdri_h5 *h5)
{
	if (!h5->entered)
		return;
	kdri_h5_drop(h5->links);
	if (h5->file > 0)
		H5Fclose(h5->file);
	H5Eset_auto2(H5E_DEFAULT, h5->print, h5->print_data);
	kdri_h5_unlock();
	*h5 = (kdri_h5){ 0 };
}

static herr_t first_reason(unsigned n, const H5E_error2_t *error, void *user)
{
	(void)n;
	/* For a failed system call, only the system's message. */
	static const char prefix[] = "error message = '";
	const char *text = error->desc ? error->desc : "", *message = strstr(text, prefix);
	if (message)
		text = message + sizeof prefix - 1;
	snprintf(user, 128, "%.*s", message ? (int)strcspn(text, "'") : 127, text);
	return 1;
}

kdr_status kdri_h5_fail(kdr_context *ctx, const kdri_h5 *h5, kdr_status status, const char *name,
                        const char *what)
{
	char reason[128] = "";
	H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, first_reason, reason);
	return kdri_fail(ctx, status, "%s%s%s: %s%s%s", h5->path, name[0] ? ":" : "", name, what,
	                 reason[0] ? ": " : "", reason);
}

/* NOLINTBEGIN(readability-non-const-parameter): HDF5 says what it looks like */
static herr_t no_external(const char *parent_file, const char *parent_group, const char *child_file,
                          const char *child, unsigned *flags, hid_t access, void *user)
{
	(void)parent_file, (void)parent_group, (void)child_file, (void)child, (void)flags, (void)access,
	        (void)user;
	return -1;
}
/* NOLINTEND(readability-non-const-parameter) */

/* Access properties: everything closes with the file; no file locks if the library allows this choice (they fail on
 * read-only and network file systems). */
static hid_t file_access(void)
{
	hid_t access = H5Pcreate(H5P_FILE_ACCESS);
	if (access >= 0) {
		H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
#if H5_VERSION_GE(1, 10, 7)
		H5Pset_file_locking(access, false, true);
#endif
	}
	return access;
}

static bool ready_links(kdri_h5 *h5)
{
	h5->links = H5Pcreate(H5P_LINK_ACCESS);
	return h5->links > 0 && H5Pset_elink_cb(h5->links, no_external, NULL) >= 0;
}

double kdri_h5_most(double file_bytes)
{
	return BELIEVED + TIMES_STORED * file_bytes;
}

kdr_status kdri_h5_check_file(kdr_context *ctx, const char *path, int64_t *bytes)
{
	kdr_status st = KDR_OK;
	kdri_file info;
	int fd = kdri_open(path, O_RDONLY);
	if (fd < 0 || !kdri_file_open(fd, &info))
		st = kdri_fail(ctx, KDR_ERR_READ, "%s: cannot open: %s", path, strerror(errno));
	else if (!info.regular)
		st = kdri_fail(ctx, KDR_ERR_READ, "%s: is %s; a data file is needed", path,
		               info.folder ? "a directory" : "not a regular file");
	else
		st = kdri_seen_add(ctx, &info);
	if (st == KDR_OK)
		*bytes = info.bytes;
	if (fd >= 0)
		close(fd);
	return st;
}

kdr_status kdri_h5_open(kdr_context *ctx, const char *path, kdri_h5 *h5)
{
	kdr_status st;
	hid_t access = -1;
	h5->path = path;
	KDRI_TRY(kdri_h5_check_file(ctx, path, &h5->bytes));
	h5_enter(h5);
	const double allowed = kdri_unpacked_most(ctx, (double)h5->bytes, KDRI_STREAM_TIMES);
	room_left = (int64_t)KDRI_MIN(KDRI_MIN(kdri_h5_most((double)h5->bytes), allowed), 0x1p62);
	h5->room = &room_left;
	access = file_access();
	if (H5Fis_hdf5(path) <= 0)
		KDRI_FAIL(ctx, KDR_ERR_FORMAT, "%s: is not an HDF5 file", path);
	h5->file = H5Fopen(path, H5F_ACC_RDONLY, access);
	if (h5->file < 0 || !ready_links(h5))
		st = kdri_h5_fail(ctx, h5, KDR_ERR_FORMAT, "", "cannot be opened as HDF5");
done:
	kdri_h5_drop(access);
	if (st != KDR_OK)
		kdri_h5_close(h5);
	return st;
}

static kdr_status open_output(kdr_context *ctx, const char *path, const char *temporary, bool anew,
                              kdri_h5 *h5)
{
	kdr_status st = KDR_OK;
	h5->path = path;
	h5_enter(h5);
	last_error = 0;
	room_left = INT64_MAX;
	h5->room = &room_left;
	hid_t access = file_access();
	if (access >= 0 && disk_use(access))
		h5->file = anew ? H5Fcreate(temporary, H5F_ACC_TRUNC, H5P_DEFAULT, access)
		                : H5Fopen(temporary, H5F_ACC_RDWR, access);
	if (h5->file <= 0 || !ready_links(h5))
		st = kdri_h5_fail(ctx, h5, KDR_ERR_WRITE, "",
		                  anew ? "cannot be created" : "cannot be changed");
	kdri_h5_drop(access);
	if (st != KDR_OK)
		kdri_h5_close(h5);
	return st;
}

kdr_status kdri_h5_create(kdr_context *ctx, const char *path, const char *temporary, kdri_h5 *h5)
{
	return open_output(ctx, path, temporary, true, h5);
}

kdr_status kdri_h5_reopen(kdr_context *ctx, const char *path, const char *temporary, kdri_h5 *h5)
{
	return open_output(ctx, path, temporary, false, h5);
}

bool kdri_h5_disk_failed(void)
{
	kdri_h5_lock();
	const bool failed = last_error != 0;
	kdri_h5_unlock();
	return failed;
}

kdr_status kdri_h5_finish(kdr_context *ctx, kdri_h5 *h5)
{
	kdr_status st = KDR_OK;
	bool closed = H5Fclose(h5->file) >= 0;
	if (last_error)
		st = kdri_fail(ctx, KDR_ERR_WRITE, "%s: cannot write: %s", h5->path, strerror(last_error));
	else if (!closed)
		st = kdri_h5_fail(ctx, h5, KDR_ERR_WRITE, "", "cannot write");
	h5->file = 0;
	kdri_h5_close(h5);
	return st;
}

kdri_h5_kind kdri_h5_what(const kdri_h5 *h5, const char *name)
{
	hid_t id = H5Oopen(h5->file, name, h5->links);
	if (id < 0)
		return KDRI_H5_NONE;
	H5I_type_t type = H5Iget_type(id);
	H5Oclose(id);
	return type == H5I_GROUP ? KDRI_H5_GROUP : type == H5I_DATASET ? KDRI_H5_DATASET : KDRI_H5_NONE;
}

/* --- walking -------------------------------------------------------------------------------------- */

typedef struct walk {
	const kdri_h5 *h5;
	kdri_h5_visit visit;
	void *user;
	int level, levels;
	int64_t seen;
	char name[1024]; /* of the group being listed, ending in '/' */
} walk;

static herr_t list_link(hid_t group, const char *name, const H5L_info_t *info, void *user)
{
	walk *w = user;
	size_t length = strlen(w->name), n = strlen(name);
	/* Only hard links: the others may lead out of the file, or round in circles at no cost. */
	if (info->type != H5L_TYPE_HARD || length + n + 2 > sizeof w->name)
		return 0;
	if (++w->seen > WALK_OBJECTS)
		return 1;
	memcpy(w->name + length, name, n + 1);
	kdri_h5_kind kind = kdri_h5_what(w->h5, w->name);
	herr_t stop = kind != KDRI_H5_NONE && !w->visit(w->user, w->h5, w->name, kind);
	if (!stop && kind == KDRI_H5_GROUP && w->level < w->levels) {
		w->level++;
		memcpy(w->name + length + n, "/", 2);
		stop = H5Literate_by_name(group, name, H5_INDEX_NAME, H5_ITER_INC, NULL, list_link, w,
		                          w->h5->links);
		w->level--;
	}
	w->name[length] = '\0';
	return stop;
}

kdr_status kdri_h5_walk(kdr_context *ctx, const kdri_h5 *h5, const char *group, int levels,
                        kdri_h5_visit visit, void *user)
{
	walk w = { .h5 = h5, .visit = visit, .user = user, .levels = KDRI_MIN(levels, WALK_LEVELS) };
	size_t n = strlen(group);
	if (n + 2 > sizeof w.name)
		return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: a group name is too long", h5->path);
	memcpy(w.name, group, n + 1);
	if (n == 0 || group[n - 1] != '/')
		memcpy(w.name + n, "/", 2);
	if (H5Literate_by_name(h5->file, group, H5_INDEX_NAME, H5_ITER_INC, NULL, list_link, &w, h5->links) <
	    0)
		return kdri_h5_fail(ctx, h5, KDR_ERR_FORMAT, group, "cannot be listed");
	return KDR_OK;
}

/* --- attributes ------------------------------------------------------------------------------------- */

static hid_t open_attribute(const kdri_h5 *h5, const char *name, const char *attribute)
{
	return H5Aexists_by_name(h5->file, name, attribute, h5->links) > 0
	               ? H5Aopen_by_name(h5->file, name, attribute, H5P_DEFAULT, h5->links)
	               : -1;
}

static hssize_t attribute_count(hid_t id)
{
	hid_t space = H5Aget_space(id);
	hssize_t n = space < 0 ? -1 : H5Sget_simple_extent_npoints(space);
	kdri_h5_drop(space);
	return n;
}

bool kdri_h5_attribute_at(const kdri_h5 *h5, const char *name, int64_t i, char *out, size_t room,
                          int64_t *count)
{
	hid_t id = H5Aopen_by_idx(h5->file, name, H5_INDEX_NAME, H5_ITER_INC, (hsize_t)i, H5P_DEFAULT,
	                          h5->links);
	if (id < 0)
		return false;
	*count = attribute_count(id);
	const bool named = H5Aget_name(id, room, out) > 0;
	H5Aclose(id);
	return named;
}

bool kdri_h5_text(const kdri_h5 *h5, const char *name, const char *attribute, char *out, size_t room)
{
	bool found = false;
	char *variable = NULL, fixed[1024];
	hid_t id = open_attribute(h5, name, attribute), type = id < 0 ? -1 : H5Aget_type(id);
	if (type >= 0 && H5Tget_class(type) == H5T_STRING && attribute_count(id) == 1) {
		size_t size = H5Tget_size(type);
		if (H5Tis_variable_str(type) > 0) {
			if (H5Aread(id, type, &variable) >= 0 && variable) {
				snprintf(out, room, "%s", variable);
				found = true;
				H5free_memory(variable);
			}
		} else if (size > 0 && size <= sizeof fixed && H5Aread(id, type, fixed) >= 0) {
			snprintf(out, room, "%.*s", (int)size, fixed);
			found = true;
		}
	}
	kdri_h5_drop(type);
	kdri_h5_drop(id);
	return found;
}

bool kdri_h5_numbers(const kdri_h5 *h5, const char *name, const char *attribute, hid_t native, int64_t count,
                     void *out)
{
	hid_t id = open_attribute(h5, name, attribute), type = id < 0 ? -1 : H5Aget_type(id);
	H5T_class_t kind = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
	bool found = (kind == H5T_INTEGER || kind == H5T_FLOAT || kind == H5T_ENUM) &&
	             attribute_count(id) == count && H5Aread(id, native, out) >= 0;
	kdri_h5_drop(type);
	kdri_h5_drop(id);
	return found;
}

bool kdri_h5_integers(const kdri_h5 *h5, const char *name, const char *attribute, int64_t count, int64_t *out)
{
	return kdri_h5_numbers(h5, name, attribute, H5T_NATIVE_INT64, count, out);
}
