/* The limit on memory: an allocator that counts. SPDX-License-Identifier: BSD-3-Clause
 *
 * A context with a limit allocates through a kdri_limit, which lists the blocks in use with their sizes and refuses a
 * block that would exceed the limit. Contexts of jobs that run side by side are copies of their caller's, so they share
 * its list. Blocks that are not in the list, such as those from before the limit was set, are passed on and not counted.
 * Mapped files do not count either (spool.c is above this allocator), nor does what other libraries allocate.
 *
 * Objects keep their allocator and may outlive their context. A list is therefore freed with its last block or its
 * context, whichever is later. */
#include "core/limit.h"

#include <pthread.h>

typedef struct block {
	void *at; /* NULL: a free slot */
	size_t bytes;
} block;

struct kdri_limit {
	kdr_allocator below, own; /* where the memory comes from; this allocator */
	pthread_mutex_t lock;
	size_t most, used, peak; /* bytes; most 0: no limit, blocks are only counted */
	block *blocks; /* a hash table of `room` slots, a power of 2; at most half of them are in use */
	size_t room, count;
	bool alone; /* the context has been freed */
};

enum { FIRST_ROOM = 256 };

/* Whether the last failure in this thread was the limit's. */
static _Thread_local bool refused;

/* --- the table ------------------------------------------------------------------------------------------------ */

static size_t slot_of(const kdri_limit *l, const void *at)
{
	const uint64_t spread = 0x9e3779b97f4a7c15U;
	return (size_t)(((uint64_t)(uintptr_t)at * spread) >> 32) & (l->room - 1);
}

/* The slot of a block, or the free one where it would be. */
static block *find(const kdri_limit *l, const void *at)
{
	size_t i = slot_of(l, at);
	while (l->blocks[i].at && l->blocks[i].at != at)
		i = (i + 1) & (l->room - 1);
	return &l->blocks[i];
}

static bool make_room(kdri_limit *l)
{
	if (l->room > 2 * l->count + 1)
		return true;
	const size_t before = l->room, room = before > 0 ? 2 * before : FIRST_ROOM;
	block *old = l->blocks, *wider = l->below.alloc(l->below.user, room * sizeof *wider);
	if (!wider)
		return false;
	memset(wider, 0, room * sizeof *wider);
	l->blocks = wider;
	l->room = room;
	for (size_t i = 0; i < before; i++)
		if (old[i].at)
			*find(l, old[i].at) = old[i];
	if (old)
		l->below.free(l->below.user, old);
	return true;
}

/* There is room. An old entry at this address was freed by other means than this allocator. */
static void enter(kdri_limit *l, void *at, size_t bytes)
{
	block *b = find(l, at);
	l->used -= b->at ? b->bytes : 0;
	l->count += !b->at;
	*b = (block){ at, bytes };
	l->used += bytes;
	l->peak = KDRI_MAX(l->peak, l->used);
}

/* Removes a block from the list and returns its size; false if it is not there. Later blocks move up, so that a search
 * may end at a free slot. */
static bool leave(kdri_limit *l, const void *at, size_t *bytes)
{
	block *b = l->room > 0 ? find(l, at) : NULL;
	if (!b || !b->at)
		return false;
	*bytes = b->bytes;
	l->used -= b->bytes;
	l->count--;
	size_t hole = (size_t)(b - l->blocks);
	for (size_t i = (hole + 1) & (l->room - 1); l->blocks[i].at; i = (i + 1) & (l->room - 1)) {
		const size_t home = slot_of(l, l->blocks[i].at);
		if (((i - home) & (l->room - 1)) >= ((i - hole) & (l->room - 1))) {
			l->blocks[hole] = l->blocks[i];
			hole = i;
		}
	}
	l->blocks[hole] = (block){ 0 };
	return true;
}

static bool fits(const kdri_limit *l, size_t bytes)
{
	return l->most == 0 || (bytes <= l->most && l->used <= l->most - bytes);
}

/* Unlocks; without blocks and context nobody needs it any more. */
static void unlock(kdri_limit *l)
{
	const bool last = l->alone && l->count == 0;
	pthread_mutex_unlock(&l->lock);
	if (!last)
		return;
	const kdr_allocator below = l->below;
	pthread_mutex_destroy(&l->lock);
	if (l->blocks)
		below.free(below.user, l->blocks);
	below.free(below.user, l);
}

/* --- the allocator -------------------------------------------------------------------------------------------- */

static void *limit_alloc(void *user, size_t size)
{
	kdri_limit *l = user;
	void *p = NULL;
	pthread_mutex_lock(&l->lock);
	refused = !fits(l, size);
	if (!refused && make_room(l) && (p = l->below.alloc(l->below.user, size)))
		enter(l, p, size);
	pthread_mutex_unlock(&l->lock);
	return p;
}

/* A block that is not listed was not counted, and stays so. */
static void *limit_realloc(void *user, void *ptr, size_t size)
{
	kdri_limit *l = user;
	size_t before = 0;
	void *p = NULL;
	if (!ptr)
		return limit_alloc(user, size);
	pthread_mutex_lock(&l->lock);
	const bool listed = leave(l, ptr, &before);
	refused = listed && size > before && !fits(l, size);
	if (!refused)
		p = l->below.realloc(l->below.user, ptr, size);
	if (listed)
		enter(l, p ? p : ptr, p ? size : before);
	pthread_mutex_unlock(&l->lock);
	return p;
}

static void limit_free(void *user, void *ptr)
{
	kdri_limit *l = user;
	size_t before;
	pthread_mutex_lock(&l->lock);
	(void)leave(l, ptr, &before);
	l->below.free(l->below.user, ptr);
	unlock(l);
}

kdri_limit *kdri_limit_of(const kdr_allocator *allocator)
{
	return allocator->free == limit_free ? allocator->user : NULL;
}

bool kdri_limit_count(const kdr_allocator *allocator, void *at, size_t bytes)
{
	kdri_limit *l = kdri_limit_of(allocator);
	if (!l)
		return true;
	pthread_mutex_lock(&l->lock);
	const bool can = fits(l, bytes) && make_room(l);
	if (can)
		enter(l, at, bytes);
	pthread_mutex_unlock(&l->lock);
	return can;
}

void kdri_limit_uncount(const kdr_allocator *allocator, const void *at)
{
	kdri_limit *l = kdri_limit_of(allocator);
	size_t before;
	if (!l)
		return;
	pthread_mutex_lock(&l->lock);
	(void)leave(l, at, &before);
	unlock(l);
}

/* --- contexts ------------------------------------------------------------------------------------------------- */

void kdri_limit_set(kdr_context *ctx, double bytes)
{
	const double no_limit = (double)(SIZE_MAX / 2);
	const size_t most = bytes > 0 && bytes < no_limit ? (size_t)KDRI_MAX(bytes, 1) : 0;
	const kdr_allocator *below = kdri_spool_below(ctx);
	kdri_limit *l = ctx->limit;
	ctx->limit_failed = false;
	if (!l && most == 0)
		return;
	if (!l) {
		const bool mapped = below != NULL;
		below = mapped ? below : &ctx->allocator;
		l = below->alloc(below->user, sizeof *l);
		ctx->limit_failed = !l;
		if (!l)
			return;
		memset(l, 0, sizeof *l);
		(void)pthread_mutex_init(&l->lock, NULL);
		l->below = *below;
		l->own = (kdr_allocator){ limit_alloc, limit_realloc, limit_free, l };
		ctx->limit = l;
		if (mapped)
			ctx->allocator.user = &l->own;
		else
			ctx->allocator = l->own;
	}
	pthread_mutex_lock(&l->lock);
	l->most = most;
	pthread_mutex_unlock(&l->lock);
}

const kdr_allocator *kdri_limit_allocator(const kdri_limit *limit)
{
	return &limit->own;
}

void kdri_limit_leave(kdri_limit *limit)
{
	if (!limit)
		return;
	pthread_mutex_lock(&limit->lock);
	limit->alone = true;
	unlock(limit);
}

double kdri_limit_used(const kdr_context *ctx, bool peak)
{
	kdri_limit *l = ctx->limit;
	if (!l)
		return 0;
	pthread_mutex_lock(&l->lock);
	const size_t bytes = peak ? l->peak : l->used;
	l->peak = peak ? l->used : l->peak;
	pthread_mutex_unlock(&l->lock);
	return (double)bytes;
}

bool kdri_limit_refused(void)
{
	const bool was = refused;
	refused = false;
	return was;
}
