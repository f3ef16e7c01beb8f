/* Linux and other POSIX systems. SPDX-License-Identifier: BSD-3-Clause */
/* madvise is not POSIX, whose own may do nothing; mremap and sync_file_range are Linux's. */
#define _GNU_SOURCE      1
#define _DARWIN_C_SOURCE 1 /* flock */
#include "core/internal.h"
#include "core/system.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- file names --------------------------------------------------------------------------------- */

bool kdri_is_separator(char c)
{
	return c == '/';
}

/* Other characters are allowed here, but lists of names have a line for each. */
const char kdri_not_in_names[] = "/\n\r";

size_t kdri_folder_length(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? (size_t)(slash - path) + 1 : 0;
}

/* --- files ---------------------------------------------------------------------------------------- */

static kdri_file describe(const struct stat *info)
{
	return (kdri_file){ .folder = S_ISDIR(info->st_mode),
		            .regular = S_ISREG(info->st_mode),
		            .bytes = info->st_size,
		            .device = (uint64_t)info->st_dev,
		            .number = (uint64_t)info->st_ino };
}

bool kdri_file_at(const char *path, kdri_file *out)
{
	struct stat info;
	if (stat(path, &info) != 0)
		return false;
	*out = describe(&info);
	return true;
}

bool kdri_file_open(int fd, kdri_file *out)
{
	struct stat info;
	if (fstat(fd, &info) != 0)
		return false;
	*out = describe(&info);
	return true;
}

bool kdri_exists(const char *path)
{
	return access(path, F_OK) == 0;
}

int kdri_open(const char *path, int flags)
{
	return open(path, flags | O_CLOEXEC, 0666);
}

FILE *kdri_fopen(const char *path)
{
	return fopen(path, "re");
}

int kdri_mkdir(const char *path)
{
	return mkdir(path, 0777);
}

int kdri_unlink(const char *path)
{
	return unlink(path);
}

int64_t kdri_read_at(int fd, void *to, size_t bytes, int64_t offset)
{
	return pread(fd, to, bytes, (off_t)offset);
}

int kdri_sync(int fd)
{
	return fsync(fd);
}

int kdri_put_in_place(const char *from, const char *to, bool replace)
{
	if (replace)
		return rename(from, to);
	/* link() refuses to replace a file. A file system without hard links has to do with rename. */
	if (link(from, to) == 0) {
		(void)unlink(from);
		return 0;
	}
	return errno == EEXIST ? -1 : rename(from, to);
}

bool kdri_follow(const char *path, char *out, size_t room)
{
	enum { MOST_LINKS = 40 }; /* as Linux */
	char target[4096];
	ssize_t n;
	if (strlen(path) >= room)
		return false;
	strcpy(out, path);
	for (int i = 0; i < MOST_LINKS && (n = readlink(out, target, sizeof target - 1)) > 0; i++) {
		const size_t folder = target[0] == '/' ? 0 : kdri_folder_length(out);
		if (folder + (size_t)n >= room)
			return false;
		memcpy(out + folder, target, (size_t)n);
		out[folder + (size_t)n] = '\0';
	}
	return true;
}

/* Of the folder itself, so that no file is left behind and a folder that cannot be written needs none. */
intptr_t kdri_lock_folder(const char *folder)
{
	const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	const int code = errno;
	close(fd);
	errno = code;
	return -1;
}

void kdri_unlock(intptr_t lock)
{
	close((int)lock);
}

int64_t kdri_process(void)
{
	return getpid();
}

bool kdri_process_runs(int64_t process)
{
#ifdef __EMSCRIPTEN__
	(void)process;
	return true;
#else
	return process != (pid_t)process || kill((pid_t)process, 0) == 0 || errno != ESRCH;
#endif
}

/* FNV-1a of the host name and of the namespace of process numbers, which containers have of their own. */
uint32_t kdri_host(void)
{
	char text[512] = "";
	uint32_t hash = 2166136261u;
	(void)gethostname(text, 256);
	text[255] = '\0';
	const size_t used = strlen(text);
	const ssize_t more = readlink("/proc/self/ns/pid", text + used, sizeof text - 1 - used);
	text[used + (size_t)KDRI_MAX(more, 0)] = '\0';
	for (const char *p = text; *p; p++)
		hash = (hash ^ (unsigned char)*p) * 16777619u;
	return hash;
}

/* A listing is a DIR, so that nothing has to be allocated. */
kdri_listing *kdri_listing_open(const char *folder)
{
	return (kdri_listing *)(void *)opendir(folder);
}

const char *kdri_listing_next(kdri_listing *listing)
{
	errno = 0;
	const struct dirent *entry = readdir((DIR *)(void *)listing);
	return entry ? entry->d_name : NULL;
}

void kdri_listing_close(kdri_listing *listing)
{
	closedir((DIR *)(void *)listing);
}

/* --- memory ----------------------------------------------------------------------------------------- */

double kdri_system_memory(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGE_SIZE);
	return pages > 0 && size > 0 ? (double)pages * (double)size : 0;
}

/* The number that follows `name` in a file of Linux's, or -1. */
static double number_in(const char *path, const char *format)
{
	char line[256];
	double number = -1;
	FILE *f = kdri_fopen(path);
	while (f && number < 0 && fgets(line, sizeof line, f))
		if (sscanf(line, format, &number) != 1)
			number = -1;
	if (f)
		fclose(f);
	return number;
}

double kdri_system_available(void)
{
	double kilobytes = number_in("/proc/meminfo", "MemAvailable: %lf kB");
	return kilobytes < 0 ? INFINITY : 1024 * kilobytes;
}

double kdri_memory_held(void)
{
	double pages = number_in("/proc/self/statm", "%*s %lf");
	return pages > 0 ? pages * (double)sysconf(_SC_PAGE_SIZE) : 0;
}

double kdri_memory_peak(void)
{
	struct rusage usage;
	double kilobytes = number_in("/proc/self/status", "VmHWM: %lf");
	if (kilobytes > 0)
		return 1024 * kilobytes;
	/* If the program was started by another one, this may be the memory of the other. */
	if (getrusage(RUSAGE_SELF, &usage) != 0)
		return 0;
#ifdef __APPLE__
	return (double)usage.ru_maxrss;
#else
	return 1024 * (double)usage.ru_maxrss;
#endif
}

/* --- mapped files ------------------------------------------------------------------------------------ */

size_t kdri_map_step(void)
{
	return (size_t)sysconf(_SC_PAGE_SIZE);
}

void *kdri_map_file(int fd, int64_t offset, size_t bytes, bool writable)
{
	/* The room is taken now: a disk that is full later on would end the process. */
	if (writable && (errno = posix_fallocate(fd, (off_t)offset, (off_t)bytes)) != 0)
		return NULL;
	void *at = mmap(NULL, bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd,
	                (off_t)offset);
	return at == MAP_FAILED ? NULL : at;
}

void *kdri_map_extend(int fd, void *at, size_t bytes, size_t wanted)
{
#ifdef MREMAP_MAYMOVE
	if (posix_fallocate(fd, 0, (off_t)wanted) != 0)
		return NULL;
	void *moved = mremap(at, bytes, wanted, MREMAP_MAYMOVE);
	return moved == MAP_FAILED ? NULL : moved;
#else
	(void)fd;
	(void)at;
	(void)bytes;
	(void)wanted;
	return NULL;
#endif
}

void kdri_unmap(void *at, size_t bytes)
{
	munmap(at, bytes);
}

void kdri_large_pages(void *at, size_t bytes)
{
#ifdef MADV_HUGEPAGE
	enum { LARGE = 1 << 21 };
	const size_t before = (LARGE - (uintptr_t)at % LARGE) % LARGE;
	if (bytes >= before + LARGE)
		(void)madvise((char *)at + before, (bytes - before) / LARGE * LARGE, MADV_HUGEPAGE);
#else
	(void)at;
	(void)bytes;
#endif
}

void kdri_map_need(void *at, size_t bytes)
{
	(void)madvise(at, bytes, MADV_WILLNEED);
}

void kdri_map_release(void *at, size_t bytes)
{
	(void)madvise(at, bytes, MADV_DONTNEED);
}

void kdri_map_write(int fd)
{
#ifdef SYNC_FILE_RANGE_WRITE
	(void)sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
#else
	(void)fd;
#endif
}

void kdri_unmap_part(void *at, size_t bytes)
{
#ifdef MADV_REMOVE
	(void)madvise(at, bytes, MADV_REMOVE);
#endif
	munmap(at, bytes);
}

/* /tmp may be memory itself, so the default folder is /var/tmp. */
bool kdri_scratch_folder(char *out, size_t room)
{
	const char *folder = getenv("TMPDIR");
	const int n = snprintf(out, room, "%s", folder && folder[0] ? folder : "/var/tmp");
	return n > 0 && (size_t)n < room;
}

int kdri_scratch_file(void)
{
	char folder[4000], name[4096];
	if (!kdri_scratch_folder(folder, sizeof folder))
		return -1;
	snprintf(name, sizeof name, "%s/kindred-XXXXXX", folder);
	int fd = mkstemp(name);
	if (fd < 0)
		return -1;
	(void)unlink(name);
	return kdri_high_descriptor(fd);
}

int kdri_high_descriptor(int fd)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	close(fd);
	return high;
}

int kdri_copy_descriptor(int fd)
{
	return fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

/* --- threads and text ---------------------------------------------------------------------------------- */

bool kdri_thread_start(pthread_t *thread, void *(*run)(void *user), void *user)
{
	sigset_t all, before;
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	bool started = pthread_create(thread, NULL, run, user) == 0;
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return started;
}

bool kdri_at_fork(void (*before)(void), void (*parent)(void), void (*child)(void))
{
	return pthread_atfork(before, parent, child) == 0;
}

/* uselocale changes the calling thread alone; the "C" locale is part of the C library and needs no memory. */
int kdri_vsnprintf(char *text, size_t room, const char *format, va_list args)
{
	locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	locale_t before = plain ? uselocale(plain) : (locale_t)0;
	int n = vsnprintf(text, room, format, args);
	if (plain) {
		uselocale(before);
		freelocale(plain);
	}
	return n;
}
