/* Allocation: overflow is checked, and a limit is kept. SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/limit.h"
#include "core/system.h"

static void *default_alloc(void *user, size_t size)
{
	(void)user;
	return malloc(size);
}

static void *default_realloc(void *user, void *ptr, size_t size)
{
	(void)user;
	return realloc(ptr, size);
}

static void default_free(void *user, void *ptr)
{
	(void)user;
	free(ptr);
}

const kdr_allocator kdri_standard = { default_alloc, default_realloc, default_free, NULL };

/* Leaves room for alignment and for signed arithmetic on byte counts. */
static const size_t most_bytes = (size_t)PTRDIFF_MAX / 2;

static kdr_status bytes_of(kdr_context *ctx, int64_t count, size_t size, size_t *bytes)
{
	if (count < 0 || (uint64_t)count > most_bytes / size)
		return kdri_fail(ctx, KDR_ERR_SIZE,
		                 "%lld elements of %zu bytes each are more than any memory can hold",
		                 (long long)count, size);
	*bytes = (size_t)count * size;
	if (*bytes == 0)
		*bytes = 1;
	return KDR_OK;
}

/* What needs the memory: "method 'snmf'", "stage 'read'". */
static const char *memory_for(const kdr_context *ctx, char *text, size_t room)
{
	if (!ctx->method && !ctx->stage)
		return "this job";
	kdri_snprintf(text, room, "%s '%s'", ctx->method ? "method" : "stage",
	              ctx->method ? ctx->method : ctx->stage);
	return text;
}

/* "77 kB", "3.2 GB" */
static void bytes_text(double bytes, char *text, size_t room)
{
	static const char *const units[] = { "kB", "MB", "GB", "TB" };
	size_t unit = 0;
	double value = bytes / 1e3;
	for (; value >= 999.5 && unit + 1 < sizeof units / sizeof units[0]; unit++)
		value /= 1e3;
	kdri_snprintf(text, room, value < 99.95 ? "%.3g %s" : "%.0f %s", value, units[unit]);
}

/* Whether the last failure in this thread was the limit's. */
static _Thread_local bool refused;

/* Whether the allocation that failed last in this thread exceeded the limit; clears the answer. */
static bool limit_refused(void)
{
	const bool was = refused;
	refused = false;
	return was;
}

static kdr_status no_memory(kdr_context *ctx, size_t bytes)
{
	char what[80], more[32], used[32], most[32];
	bytes_text((double)bytes, more, sizeof more);
	if (limit_refused() && ctx->limit) {
		bytes_text(kdri_limit_used(ctx, false), used, sizeof used);
		bytes_text(ctx->max_memory, most, sizeof most);
		return kdri_fail_limit(
		        ctx,
		        "%s needs another %s of memory, but %s of the %s that --max-memory allows are in use; raise the limit or use fewer samples",
		        memory_for(ctx, what, sizeof what), more, used, most);
	}
	if (kdri_spool_on(ctx))
		return kdri_fail(
		        ctx, KDR_ERR_MEMORY,
		        "cannot create a scratch file of %.1f MB; set TMPDIR to a folder with enough space (default: /var/tmp)",
		        (double)bytes / 1e6);
	return kdri_fail(ctx, KDR_ERR_MEMORY, "out of memory: cannot allocate another %.1f MB",
	                 (double)bytes / 1e6);
}

/* Whether memory may be asked for. Systems promise more memory than they have, and end a process that uses it. An array that is
 * larger than the machine's memory is therefore refused. */
static kdr_status check_machine(kdr_context *ctx, const void *old, size_t bytes)
{
	static const size_t large = (size_t)1 << 30;
	if (ctx->limit_failed)
		return no_memory(ctx, bytes);
	if (bytes < large || kdri_spool_on(ctx) || kdri_spooled(old))
		return KDR_OK;
	char what[80], more[32], most[32];
	const double total = kdri_memory_total();
	if (total <= 0 || (double)bytes <= total)
		return KDR_OK;
	bytes_text((double)bytes, more, sizeof more);
	bytes_text(total, most, sizeof most);
	return kdri_fail(ctx, KDR_ERR_MEMORY,
	                 "%s needs another %s of memory, but this machine has %s; use fewer samples",
	                 memory_for(ctx, what, sizeof what), more, most);
}

kdr_status kdri_realloc(kdr_context *ctx, void *inout, int64_t count, size_t size)
{
	size_t bytes = 0;
	void *old;
	memcpy(&old, inout, sizeof old);
	kdr_status st = bytes_of(ctx, count, size, &bytes);
	if (st == KDR_OK)
		st = check_machine(ctx, old, bytes);
	if (st != KDR_OK)
		return st;
	void *p = old ? ctx->allocator.realloc(ctx->allocator.user, old, bytes)
	              : ctx->allocator.alloc(ctx->allocator.user, bytes);
	if (!p)
		return no_memory(ctx, bytes);
	memcpy(inout, &p, sizeof p);
	return KDR_OK;
}

kdr_status kdri_alloc(kdr_context *ctx, void *out, int64_t count, size_t size)
{
	void *p = NULL;
	kdr_status st = kdri_realloc(ctx, &p, count, size);
	if (st == KDR_OK)
		memcpy(out, &p, sizeof p);
	return st;
}

kdr_status kdri_calloc(kdr_context *ctx, void *out, int64_t count, size_t size)
{
	size_t bytes = 0;
	kdr_status st = bytes_of(ctx, count, size, &bytes);
	if (st == KDR_OK)
		st = check_machine(ctx, NULL, bytes);
	if (st != KDR_OK)
		return st;
	/* calloc knows which pages are zero already: large arrays are first touched by the threads that fill them. */
	const bool standard = ctx->allocator.alloc == kdri_standard.alloc;
	void *p = standard ? calloc(1, bytes) : ctx->allocator.alloc(ctx->allocator.user, bytes);
	if (!p)
		return no_memory(ctx, bytes);
	if (!standard)
		memset(p, 0, bytes);
	memcpy(out, &p, sizeof p);
	return KDR_OK;
}

kdr_status kdri_make_room(kdr_context *ctx, void *inout, int64_t *room, int64_t need, size_t size)
{
	enum { FIRST_ROOM = 16 };
	if (need <= *room)
		return KDR_OK;
	const int64_t more = KDRI_MAX(KDRI_MAX(need, FIRST_ROOM), *room > INT64_MAX / 2 ? need : 2 * *room);
	kdr_status st = kdri_realloc(ctx, inout, more, size);
	if (st == KDR_OK)
		*room = more;
	return st;
}

void kdri_free(kdr_context *ctx, void *ptr)
{
	kdri_free_with(&ctx->allocator, ptr);
}

void kdri_free_all(const kdr_allocator *allocator, void *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		kdri_free_with(allocator, list[i]);
}

void kdr_free(kdr_context *ctx, void *ptr)
{
	kdri_free(ctx, ptr);
}

kdr_status kdri_strndup(kdr_context *ctx, const char *text, size_t length, char **out)
{
	char *copy;
	kdr_status st = KDRI_NEW(ctx, &copy, (int64_t)length + 1);
	if (st != KDR_OK)
		return st;
	memcpy(copy, text, length);
	copy[length] = '\0';
	*out = copy;
	return KDR_OK;
}

kdr_status kdri_strdup(kdr_context *ctx, const char *text, char **out)
{
	return kdri_strndup(ctx, text, strlen(text), out);
}

kdr_status kdri_mul(kdr_context *ctx, int64_t a, int64_t b, int64_t *out)
{
	if (a < 0 || b < 0 || (b > 0 && a > INT64_MAX / b))
		return kdri_fail(ctx, KDR_ERR_SIZE, "a size of %lld x %lld is too large", (long long)a,
		                 (long long)b);
	*out = a * b;
	return KDR_OK;
}

kdr_status kdri_strings_pick(kdr_context *ctx, const char *const *strings, const int64_t *which,
                             int64_t count, char ***out)
{
	kdr_status st;
	char **copy = NULL;
	if (!strings) {
		*out = NULL;
		return KDR_OK;
	}
	KDRI_TRY(KDRI_NEW0(ctx, &copy, count + 1));
	for (int64_t i = 0; i < count; i++)
		KDRI_TRY(kdri_strdup(ctx, strings[which ? which[i] : i], &copy[i]));
	*out = copy;
	copy = NULL;
done:
	kdri_strings_free(&ctx->allocator, copy, count);
	return st;
}

kdr_status kdri_strings_append(kdr_context *ctx, char ***strings, int64_t *count, const char *text)
{
	KDRI_DO(KDRI_GROW(ctx, strings, *count + 1));
	KDRI_DO(kdri_strdup(ctx, text, &(*strings)[*count]));
	++*count;
	return KDR_OK;
}

void kdri_strings_free(const kdr_allocator *allocator, char **strings, int64_t count)
{
	if (!strings)
		return;
	for (int64_t i = 0; i < count; i++)
		kdri_free_with(allocator, strings[i]);
	kdri_free_with(allocator, strings);
}

/* The limit on memory: an allocator that counts.
 *
 * A context with a limit allocates through a kdri_limit, which lists the blocks in use with their sizes and refuses a
 * block that would exceed the limit. Contexts of jobs that run side by side are copies of their caller's, so they share
 * its list. Blocks that are not in the list, such as those from before the limit was set, are passed on and not counted.
 * Mapped files do not count either (spool.c is above this allocator), nor does what other libraries allocate.
 *
 * Objects keep their allocator and may outlive their context. A list is therefore freed with its last block or its
 * context, whichever is later. */

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

enum { FIRST_BLOCKS = 256 };

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
	const size_t before = l->room, room = before > 0 ? 2 * before : FIRST_BLOCKS;
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

/* Checks whether the machine has the memory that a method needs. */

/* What one control group may have; "max" is no limit, and neither is what no machine has. */
static double limit_of(const char *root, const char *folder, bool second)
{
	const double absurd = 1e18;
	char name[KDRI_GROUP_LINE + 32];
	double bytes = INFINITY;
	snprintf(name, sizeof name, "%s/%s", folder, second ? "memory.max" : "memory.limit_in_bytes");
	FILE *f = kdri_open_below(root, name);
	if (f && (fscanf(f, "%lf", &bytes) != 1 || bytes <= 0 || bytes > absurd))
		bytes = INFINITY;
	if (f)
		fclose(f);
	return bytes;
}

double kdri_memory_quota(const char *root)
{
	return kdri_group_least(root, "memory", limit_of);
}

double kdri_memory_free(const kdr_context *ctx)
{
	double room = KDRI_MIN(kdri_system_available(), kdri_memory_quota(""));
	return ctx->max_memory > 0 ? KDRI_MIN(room, ctx->max_memory) : room;
}

double kdri_memory_total(void)
{
	double machine = kdri_system_memory(), quota = kdri_memory_quota("");
	if (machine > 0)
		return KDRI_MIN(machine, quota);
	return isfinite(quota) ? quota : 0;
}
