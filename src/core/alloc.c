/* Overflow-checked allocation. SPDX-License-Identifier: BSD-3-Clause */
#include "core/limit.h"
#include "core/system.h"

#include <stdlib.h>

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

static kdr_status no_memory(kdr_context *ctx, size_t bytes)
{
	char what[80], more[32], used[32], most[32];
	kdri_bytes_text((double)bytes, more, sizeof more);
	if (kdri_limit_refused() && ctx->limit) {
		kdri_bytes_text(kdri_limit_used(ctx, false), used, sizeof used);
		kdri_bytes_text(ctx->max_memory, most, sizeof most);
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
	kdri_bytes_text((double)bytes, more, sizeof more);
	kdri_bytes_text(total, most, sizeof most);
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
	const bool standard = ctx->allocator.alloc == kdri_standard_alloc;
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
