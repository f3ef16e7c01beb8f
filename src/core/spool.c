/* Data sets larger than memory: arrays that live in files. SPDX-License-Identifier: BSD-3-Clause
 *
 * A streamed data set is used like any other: its arrays are mapped files, of which the system keeps the parts in use in
 * memory. Methods that process rows block by block therefore read the file on the way and get bit for bit the same
 * results as in memory. A file that contains the numbers in binary form (.npy) is mapped directly; readers of other
 * formats, and preprocessing, fill arrays in an unnamed scratch file, which disappears with the process.
 *
 * A context that has streamed has an allocator that recognises mapped arrays when it frees them. The allocator below
 * it is the caller's, kept in a list until the process ends: objects outlive their context. Only while a reader runs,
 * or preprocessing of a streamed data set, or rows of one are put below others or made unit ones (matrix/stack.c),
 * does it also make them, of LEAST bytes and more; what else a method allocates is memory as ever. Only memory counts
 * towards a limit (alloc.c).
 *
 * Pages of mapped files count as memory of the process until other processes need the memory. If a limit was set
 * (kdr_context_set_max_memory), a thread releases them when the process comes near the limit. They stay in the system's
 * cache, so that the next access is cheap.
 *
 * Data written to a scratch file must reach the disk before its page can be released. A control group that is full of
 * such pages is out of memory, and the kernel starts writing late. If there is a limit, the same thread therefore starts
 * writing them early. */
#include "core/limit.h"
#include "core/system.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

enum { LEAST = 1 << 16, BASES = 64, FILES = 64 };

/* Pages are released at this fraction of the limit, which is checked at this interval in nanoseconds. */
static const double brim = 0.6;
static const long nap = 2000000;

typedef struct region {
	struct region *next;
	void *at;    /* what the user has */
	void *begin; /* of the mapping */
	size_t length, used;
	int fd;      /* -1: a file that belongs to the caller, or none */
	bool memory; /* shared memory (kdri_spool_adopt) rather than a file */
	bool part;   /* part of a larger mapping, whose pages have to be released one by one */
	const kdr_allocator *base;
} region;

static struct {
	pthread_mutex_t lock;
	region *first;
	kdr_allocator base[BASES];
	int bases;
	double limit; /* bytes; 0: none */
	bool group;   /* a control group has one */
	pthread_t keeper;
	bool keeping, stop;
} spool = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* --- the keeper --------------------------------------------------------------------------------- */

static void *spool_keep(void *unused)
{
	const struct timespec pause = { .tv_nsec = nap };
	bool stop = false;
	while (!stop) {
		int files[FILES], count = 0;
		nanosleep(&pause, NULL);
		pthread_mutex_lock(&spool.lock);
		stop = spool.stop;
		bool full = !stop && spool.limit > 0 && kdri_memory_held() > brim * spool.limit;
		for (region *r = spool.first; r && !stop; r = r->next) {
			if (full && !r->memory)
				kdri_map_release(r->begin, r->length);
			if (r->fd >= 0 && count < FILES)
				files[count++] = r->fd;
		}
		pthread_mutex_unlock(&spool.lock);
		/* May wait for the disk, without holding the lock; a file that was closed in the meantime does no harm. */
		for (int i = 0; i < count; i++)
			kdri_map_write(files[i]);
	}
	return unused;
}

/* Whether an array is a mapped file; with the lock held. */
static bool any_file(void)
{
	const region *r = spool.first;
	while (r && r->memory)
		r = r->next;
	return r != NULL;
}

/* With the lock held. Without a thread all is as before, only that pages stay. */
static void start_keeper(void)
{
	if (spool.keeping || (spool.limit <= 0 && !spool.group) || !any_file() || kdri_memory_held() <= 0)
		return;
	spool.stop = false;
	spool.keeping = kdri_thread_start(&spool.keeper, spool_keep, NULL);
}

/* A child that is forked finds the lock free. */
static void before_fork(void)
{
	pthread_mutex_lock(&spool.lock);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&spool.lock);
}

/* --- regions ------------------------------------------------------------------------------------ */

static void spool_enter(region *r)
{
	pthread_mutex_lock(&spool.lock);
	r->next = spool.first;
	spool.first = r;
	start_keeper();
	pthread_mutex_unlock(&spool.lock);
}

static void *scratch_new(const kdr_allocator *base, size_t size)
{
	region *r = base->alloc(base->user, sizeof *r);
	if (!r)
		return NULL;
	*r = (region){ .length = size, .used = size, .fd = kdri_scratch_file(), .base = base };
	if (r->fd >= 0)
		r->begin = kdri_map_file(r->fd, 0, size, true);
	if (!r->begin) {
		if (r->fd >= 0)
			close(r->fd);
		base->free(base->user, r);
		return NULL;
	}
	r->at = r->begin;
	spool_enter(r);
	return r->at;
}

/* The region that begins at `at`; it is taken out of the list where `out`. */
static region *spool_find(const void *at, bool out)
{
	region *r = NULL;
	pthread_mutex_lock(&spool.lock);
	for (region **p = &spool.first; *p && !r; p = &(*p)->next)
		if ((*p)->at == at) {
			r = *p;
			if (out) {
				*p = r->next;
				break;
			}
		}
	pthread_mutex_unlock(&spool.lock);
	return r;
}

bool kdri_spooled(const void *at)
{
	bool found = false;
	pthread_mutex_lock(&spool.lock);
	for (const region *r = spool.first; at && r && !found; r = r->next)
		found = !r->memory && (uintptr_t)at >= (uintptr_t)r->begin &&
		        (uintptr_t)at < (uintptr_t)r->begin + r->length;
	pthread_mutex_unlock(&spool.lock);
	return found;
}

void kdri_spool_ahead(const void *at, size_t bytes)
{
	const uintptr_t step = (uintptr_t)kdri_map_step(), before = (uintptr_t)at % step;
	if (bytes > 0)
		kdri_map_need((char *)at - before, before + bytes);
}

static void region_free(region *r)
{
	const kdr_allocator *base = r->base;
	if (r->memory)
		kdri_limit_uncount(base, r->at);
	if (r->part)
		kdri_unmap_part(r->begin, r->length);
	else
		kdri_unmap(r->begin, r->length);
	if (r->fd >= 0)
		close(r->fd);
	base->free(base->user, r);
	/* The keeper ends with the last mapped file. */
	bool join = false;
	pthread_mutex_lock(&spool.lock);
	if (spool.keeping && !any_file()) {
		spool.stop = join = true;
		spool.keeping = false;
	}
	pthread_t keeper = spool.keeper;
	pthread_mutex_unlock(&spool.lock);
	if (join)
		pthread_join(keeper, NULL);
}

/* --- allocators --------------------------------------------------------------------------------- */

static void *plain_alloc(void *user, size_t size)
{
	const kdr_allocator *base = user;
	return base->alloc(base->user, size);
}

static void *spool_alloc(void *user, size_t size)
{
	return size < LEAST ? plain_alloc(user, size) : scratch_new(user, size);
}

static void aware_free(void *user, void *at)
{
	const kdr_allocator *base = user;
	region *r = at ? spool_find(at, true) : NULL;
	if (r)
		region_free(r);
	else if (at)
		base->free(base->user, at);
}

/* Extends a scratch file and its mapping, if the system supports this; the contents are kept. */
static bool lengthen(region *r, size_t size)
{
	if (r->fd < 0 || r->part)
		return false;
	pthread_mutex_lock(&spool.lock);
	void *begin = kdri_map_extend(r->fd, r->begin, r->length, size);
	if (begin) {
		r->at = r->begin = begin;
		r->length = r->used = size;
	}
	pthread_mutex_unlock(&spool.lock);
	return begin != NULL;
}

static void *region_realloc(void *user, region *r, size_t size)
{
	if (size <= r->length) {
		r->used = size;
		return r->at;
	}
	if (lengthen(r, size))
		return r->at;
	void *wider = r->memory ? plain_alloc(user, size) : scratch_new(user, size);
	if (!wider)
		return NULL;
	memcpy(wider, r->at, r->used);
	aware_free(user, r->at);
	return wider;
}

/* An array that began in memory stays there. */
static void *aware_realloc(void *user, void *at, size_t size)
{
	const kdr_allocator *base = user;
	region *r = at ? spool_find(at, false) : NULL;
	return r ? region_realloc(user, r, size) : base->realloc(base->user, at, size);
}

/* Arrays that grow begin small, and in memory: beyond LEAST they go to a file. */
static void *spool_realloc(void *user, void *at, size_t size)
{
	const kdr_allocator *base = user;
	region *r = at ? spool_find(at, false) : NULL;
	if (r)
		return region_realloc(user, r, size);
	if (!at)
		return spool_alloc(user, size);
	void *file = size < LEAST ? NULL : scratch_new(user, size);
	if (size >= LEAST && !file)
		return NULL;
	void *grown = base->realloc(base->user, at, size); /* its previous length is unknown */
	if (!grown && file)
		aware_free(user, file);
	if (!grown || !file)
		return grown;
	memcpy(file, grown, size);
	base->free(base->user, grown);
	return file;
}

static bool spool_same(const kdr_allocator *a, const kdr_allocator *b)
{
	return a->alloc == b->alloc && a->realloc == b->realloc && a->free == b->free && a->user == b->user;
}

static bool aware(const kdr_context *ctx)
{
	return ctx->allocator.free == aware_free;
}

const kdr_allocator *kdri_spool_below(const kdr_context *ctx)
{
	return aware(ctx) ? ctx->allocator.user : NULL;
}

kdr_status kdri_spool_enable(kdr_context *ctx)
{
	static bool forks_known;
	const kdri_limit *limit = kdri_limit_of(&ctx->allocator);
	const kdr_allocator *base =
	        limit ? kdri_limit_allocator(limit) : NULL; /* lives as long as its blocks */
	if (aware(ctx))
		return KDR_OK;
	pthread_mutex_lock(&spool.lock);
	if (!forks_known) {
		forks_known = kdri_at_fork(before_fork, after_fork, after_fork);
		spool.group = isfinite(kdri_memory_quota(""));
	}
	for (int i = 0; i < spool.bases && !base; i++)
		if (spool_same(&spool.base[i], &ctx->allocator))
			base = &spool.base[i];
	if (!base && spool.bases < BASES) {
		spool.base[spool.bases] = ctx->allocator;
		base = &spool.base[spool.bases++];
	}
	pthread_mutex_unlock(&spool.lock);
	if (!base)
		return kdri_fail(
		        ctx, KDR_ERR_UNSUPPORTED,
		        "streaming: contexts with more than %d different allocators are not supported",
		        (int)BASES);
	ctx->allocator = (kdr_allocator){ plain_alloc, aware_realloc, aware_free, (void *)base };
	return KDR_OK;
}

bool kdri_spool_on(const kdr_context *ctx)
{
	return ctx->allocator.alloc == spool_alloc;
}

bool kdri_spool_begin(kdr_context *ctx, bool wanted)
{
	bool before = kdri_spool_on(ctx);
	if (wanted && kdri_spool_enable(ctx) != KDR_OK)
		return before; /* then in memory */
	if (aware(ctx)) {
		ctx->allocator.alloc = wanted ? spool_alloc : plain_alloc;
		ctx->allocator.realloc = wanted ? spool_realloc : aware_realloc;
	}
	return before;
}

void kdri_spool_limit(double bytes)
{
	pthread_mutex_lock(&spool.lock);
	spool.limit = bytes;
	start_keeper();
	pthread_mutex_unlock(&spool.lock);
}

kdr_status kdri_spool_map(kdr_context *ctx, int fd, int64_t offset, int64_t bytes, const char *path,
                          void *out)
{
	kdr_status st;
	region *r = NULL;
	const int64_t before = offset % (int64_t)kdri_map_step();
	KDRI_TRY(kdri_spool_enable(ctx));
	KDRI_TRY(KDRI_NEW0(ctx, &r, 1));
	r->length = r->used = (size_t)(bytes + before);
	r->fd = -1;
	r->base = ctx->allocator.user;
	r->begin = kdri_map_file(fd, offset - before, r->length, false);
	if (!r->begin)
		KDRI_FAIL(ctx, KDR_ERR_READ, "%s: cannot map the file into memory: %s", path,
		          strerror(errno));
	r->at = (char *)r->begin + before;
	void *at = r->at;
	spool_enter(r);
	r = NULL;
	memcpy(out, &at, sizeof at);
done:
	kdri_free(ctx, r);
	return st;
}

bool kdri_spool_adopt(kdr_context *ctx, void *at, size_t bytes, int fd)
{
	const size_t page = kdri_map_step();
	if (kdri_spool_enable(ctx) != KDR_OK)
		return false;
	const kdr_allocator *base = ctx->allocator.user;
	region *r = base->alloc(base->user, sizeof *r);
	if (r && fd < 0 && !kdri_limit_count(base, at, bytes)) {
		base->free(base->user, r);
		r = NULL;
	}
	if (!r)
		return false;
	*r = (region){ .at = at,
		       .begin = at,
		       .length = (bytes + page - 1) / page * page,
		       .used = bytes,
		       .fd = fd < 0 ? -1 : kdri_copy_descriptor(fd),
		       .memory = fd < 0,
		       .part = true,
		       .base = base };
	spool_enter(r);
	return true;
}
