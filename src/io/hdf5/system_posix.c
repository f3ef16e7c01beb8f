/* Work on an HDF5 file in a child process. SPDX-License-Identifier: BSD-3-Clause
 *
 * The child may take as many seconds as kdr_context_set_isolation allows and one more for each megabyte that it reads. A
 * valid file of any size is thus read to its end, and a file in which HDF5 loops is abandoned. Ten times a second the
 * parent checks whether the caller wants to stop. */
#define _GNU_SOURCE 1 /* MAP_ANONYMOUS, sync_file_range, prctl */
#include "core/side_by_side.h"
#include "core/system.h"
#include "io/hdf5/h5.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif

/* Blocks of KDRI_HANDED_LARGE bytes or more begin on a page of their own and can be taken over without copying. A
 * scratch file grows in STEPs and is written to disk after DIRTY_MOST bytes. */
enum { LEAST_ADDRESSES = 1 << 20, HDF5_ADDRESSES = 1 << 25 };
enum { STEP = 1 << 24, DIRTY_MOST = 1 << 26, SPARE = 2, NOTES = 4, CHECK_MS = 100 };
static const double bytes_per_second = 1e6;
static const double most_addresses = 0x1p44;
static const size_t hdf5_memory = (size_t)1 << 28;

/* The beginning of the mapping. The parent believes nothing in it without a check. */
typedef struct arena {
	size_t size, used; /* bytes of the mapping */
	size_t backed;     /* bytes that the scratch file has on disk */
	int fd;
	char *last; /* the block allocated last */
	atomic_llong bytes_read;
	bool limited;  /* memory is: pages of the scratch file must not fill it */
	int64_t dirty; /* bytes read since pages were last written to that file */
	bool done;
	kdr_status st;
	char error[512];
	int nnotes;
	struct {
		bool warning;
		char text[512];
	} notes[NOTES];
	max_align_t result[];
} arena;

/* The arena this process allocates from; NULL: it is no such child. */
static arena *own_arena;

/* --- the arena's allocator: a block follows its size, and only the last one can grow ---------------------- */

typedef struct head {
	size_t bytes;
	char padding[16 - sizeof(size_t)];
} head;

static size_t round_up(size_t value, size_t unit)
{
	return (value + unit - 1) / unit * unit;
}

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGE_SIZE);
}

static void *arena_alloc(void *user, size_t bytes)
{
	arena *a = user;
	const size_t unit = bytes >= KDRI_HANDED_LARGE ? page_size() : sizeof(head);
	if (bytes > a->size)
		return NULL;
	const size_t begin = round_up(a->used + sizeof(head), unit), end = round_up(begin + bytes, unit);
	if (end > a->size)
		return NULL;
	/* The disk space is taken now: a disk that is full later on would end the process. */
	if (a->fd >= 0 && end > a->backed) {
		const size_t more = KDRI_MIN(round_up(end, STEP), a->size);
		if (posix_fallocate(a->fd, (off_t)a->backed, (off_t)(more - a->backed)) != 0)
			return NULL;
		a->backed = more;
	}
	a->last = (char *)a + begin;
	a->used = end;
	((head *)a->last)[-1].bytes = bytes;
	return a->last;
}

static void arena_free(void *user, void *at)
{
	arena *a = user;
	const size_t bytes = ((head *)at)[-1].bytes;
	if (at == a->last) {
		a->used = (size_t)((char *)at - (char *)a) - sizeof(head);
		a->last = NULL;
	}
#ifdef MADV_REMOVE
	if (bytes >= KDRI_HANDED_LARGE)
		(void)madvise(at, round_up(bytes, page_size()), MADV_REMOVE);
#endif
}

static void *arena_realloc(void *user, void *at, size_t bytes)
{
	arena *a = user;
	head *h = (head *)at - 1;
	if (bytes <= h->bytes)
		return at;
	void *wider = arena_alloc(user, bytes);
	if (wider) {
		memcpy(wider, at, h->bytes);
		arena_free(a, at);
	}
	return wider;
}

/* Reserves address space; memory and disk space are taken as blocks are written. */
static kdr_status arena_new(kdr_context *ctx, const kdri_child_job *job, arena **out)
{
	const bool on_disk = kdri_spool_on(ctx);
	const double memory = kdri_memory_total();
	double most = kdri_h5_most(job->file_bytes);
	if (!on_disk && memory > 0)
		most = KDRI_MIN(most, memory);
	/* Freed blocks are not used again, so more addresses than bytes are needed. */
	size_t size = round_up((size_t)KDRI_MIN(SPARE * most, most_addresses), page_size());
	const int fd = on_disk ? kdri_scratch_file() : -1,
	          flags = MAP_SHARED | (on_disk ? 0 : MAP_ANONYMOUS | MAP_NORESERVE);
	arena *a = MAP_FAILED;
	/* A limit on address space (ulimit -v) may leave less, of which HDF5 needs a part. */
	for (; size >= LEAST_ADDRESSES; size = round_up(size / 32 * 31, page_size())) {
		if (!on_disk || (fd >= 0 && ftruncate(fd, (off_t)size) == 0))
			a = mmap(NULL, size + HDF5_ADDRESSES, PROT_READ | PROT_WRITE, flags, fd, 0);
		if (a != MAP_FAILED)
			break;
	}
	if (a == MAP_FAILED) {
		if (fd >= 0)
			close(fd);
		return kdri_fail(ctx, KDR_ERR_MEMORY, "%s: no %s for reading it in a child process",
		                 job->path, on_disk ? "scratch file (TMPDIR, or else /var/tmp)" : "memory");
	}
	munmap((char *)a + size, HDF5_ADDRESSES);
	a->size = size;
	a->fd = fd;
	a->limited = on_disk && (ctx->max_memory > 0 || isfinite(kdri_memory_quota("")));
	a->used = round_up(sizeof *a + job->result_size, page_size());
	*out = a;
	return KDR_OK;
}

/* --- the child ------------------------------------------------------------------------------------------- */

void kdri_child_progress(int64_t bytes)
{
	arena *a = own_arena;
	if (!a)
		return;
	atomic_fetch_add(&a->bytes_read, bytes);
	a->dirty += bytes;
	if (a->limited && a->dirty > DIRTY_MOST) {
		a->dirty = 0;
#ifdef SYNC_FILE_RANGE_WRITE
		(void)sync_file_range(a->fd, 0, 0, SYNC_FILE_RANGE_WRITE);
#endif
		(void)madvise(a, a->used, MADV_DONTNEED);
	}
}

/* Keeps messages for the parent. */
static int child_note(void *user, const kdr_event *event)
{
	arena *a = user;
	const bool warning = event->kind == KDR_EVENT_WARNING;
	if ((warning || event->kind == KDR_EVENT_MESSAGE) && a->nnotes < NOTES) {
		snprintf(a->notes[a->nnotes].text, sizeof a->notes[0].text, "%s", event->message);
		a->notes[a->nnotes++].warning = warning;
	}
	return 0;
}

/* Makes the process silent, bounded, and end with its parent, so that HDF5 may crash in it. */
static void child_settle(const arena *a)
{
	static const int fatal[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM };
	static const int ignored[] = { SIGINT, SIGHUP, SIGQUIT }; /* the parent handles them */
	const struct rlimit none = { 0, 0 };
#ifdef __linux__
	prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
	for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++)
		signal(fatal[i], SIG_DFL);
	for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
		signal(ignored[i], SIG_IGN);
	int nowhere = open("/dev/null", O_RDWR);
	for (int fd = 0; nowhere >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(nowhere, fd);
	setrlimit(RLIMIT_CORE, &none);
	/* HDF5 may use a fixed amount of memory, plus the size of an arena for the data. */
	struct rlimit limit;
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");
	if (f && fscanf(f, "%lu", &pages) == 1 && getrlimit(RLIMIT_AS, &limit) == 0) {
		limit.rlim_cur =
		        KDRI_MIN(limit.rlim_cur, (rlim_t)(pages * page_size() + hdf5_memory + a->size));
		setrlimit(RLIMIT_AS, &limit);
	}
	if (f)
		fclose(f);
}

_Noreturn static void child_work(arena *a, int link, const kdri_child_job *job, const kdr_context *parent)
{
	const kdr_allocator allocator = { arena_alloc, arena_realloc, arena_free, a };
	kdr_context *ctx = NULL;
	child_settle(a);
	own_arena = a;
	if (kdr_context_new(&ctx, &allocator) != KDR_OK)
		_exit(1);
	kdr_context_set_threads(ctx, 1);
	kdr_context_set_max_unpacked(ctx, parent->max_unpacked);
	kdr_context_set_progress(ctx, child_note, a);
	a->st = job->run(ctx, job->user, a->result);
	snprintf(a->error, sizeof a->error, "%s", kdr_context_error(ctx));
	a->done = true;
	ssize_t sent = write(link, "", 1);
	_exit(sent == 1 ? 0 : 1);
}

/* --- the parent ------------------------------------------------------------------------------------------ */

/* Waits for the child to finish. KDR_OK: it has; otherwise it has to go, or is gone. */
static kdr_status wait_for(kdr_context *ctx, const kdri_child_job *job, arena *a, int link, pid_t *pid)
{
	const char *doing = job->changes ? "changing" : "reading";
	const double start = kdri_now(), extra = job->changes ? job->file_bytes : 0;
	for (;;) {
		struct pollfd ready = { .fd = link, .events = POLLIN };
		char byte;
		if (poll(&ready, 1, CHECK_MS) > 0 && read(link, &byte, 1) == 1)
			return KDR_OK;
		int status = 0;
		if (waitpid(*pid, &status, WNOHANG) == *pid) {
			*pid = 0;
			if (WIFSIGNALED(status))
				return kdri_fail(
				        ctx, KDR_ERR_FORMAT,
				        "%s: the file is damaged: the HDF5 library crashes on it (signal %d)",
				        job->path, WTERMSIG(status));
			return a->done ? KDR_OK
			               : kdri_fail(
			                         ctx, KDR_ERR_FORMAT,
			                         "%s: the file is damaged: the HDF5 library failed while %s it",
			                         job->path, doing);
		}
		kdri_leave_off(ctx, "read", 0, 0);
		if (ctx->writing == 0 && (ctx->cancelled || ctx->stop_requested))
			return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: interrupted", job->path);
		const double bytes = (double)a->bytes_read, seconds = kdri_now() - start;
		if (seconds > ctx->isolation + (bytes + extra) / bytes_per_second)
			return kdri_fail(
			        ctx, KDR_ERR_FORMAT,
			        "%s: the file is damaged: the HDF5 library did not finish %s it (%.0f s for %.1f MB)",
			        job->path, doing, seconds, bytes / 1e6);
	}
}

kdr_status kdri_run_apart(kdr_context *ctx, const kdri_child_job *job, void *result, kdri_handed *handed)
{
	kdr_status st;
	arena *a = NULL;
	pid_t pid = 0;
	int ends[2] = { -1, -1 }, status;
	if (ctx->isolation <= 0)
		return job->run(ctx, job->user, result);
	KDRI_TRY(arena_new(ctx, job, &a));
	*handed = (kdri_handed){
		.path = job->path, .begin = (char *)a, .size = a->size, .head = a->used, .fd = a->fd
	};
	if (job->result_size > 0)
		memcpy(a->result, result, job->result_size);
	if (pipe(ends) == 0) {
		/* The child's standard descriptors will be /dev/null. */
		for (int i = 0; i < 2; i++)
			ends[i] = kdri_high_descriptor(ends[i]);
		kdri_settle(); /* a child could not release the locks of a thread that opens a device */
		kdri_h5_lock();
		pid = ends[0] < 0 || ends[1] < 0 ? -1 : fork();
		kdri_h5_unlock();
		if (pid == 0)
			child_work(a, ends[1], job, ctx);
	}
	if (pid <= 0)
		KDRI_FAIL(ctx, KDR_ERR_READ, "%s: cannot be opened in a child process: %s", job->path,
		          strerror(errno));
	close(ends[1]); /* so that the end of the child is noticed */
	ends[1] = -1;
	KDRI_TRY(wait_for(ctx, job, a, ends[0], &pid));
	for (int i = 0; i < KDRI_MIN(a->nnotes, NOTES); i++) {
		a->notes[i].text[sizeof a->notes[i].text - 1] = '\0';
		(a->notes[i].warning ? kdri_warning : kdri_message)(ctx, "%s", a->notes[i].text);
	}
	a->error[sizeof a->error - 1] = '\0';
	if (a->st != KDR_OK)
		st = kdri_fail(ctx, a->st, "%s", a->error);
	else if (job->result_size > 0)
		memcpy(result, a->result, job->result_size);
done:
	if (pid > 0) {
		kill(pid, SIGKILL); /* it has nothing left to do */
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	for (int i = 0; i < 2; i++)
		if (ends[i] >= 0)
			close(ends[i]);
	return st;
}
