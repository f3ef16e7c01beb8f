/* Results of a child process that worked on an HDF5 file. SPDX-License-Identifier: BSD-3-Clause */
#include "core/system.h"
#include "io/hdf5/h5.h"

#include <unistd.h>

kdr_status kdri_handed_damaged(kdr_context *ctx, const kdri_handed *h)
{
	return kdri_fail(ctx, KDR_ERR_FORMAT,
	                 "%s: the file is damaged: the HDF5 library failed while reading it", h->path);
}

bool kdri_handed_holds(const kdri_handed *h, const void *at, int64_t count, size_t size)
{
	const uintptr_t begin = (uintptr_t)h->begin + h->head, end = (uintptr_t)h->begin + h->size,
	                p = (uintptr_t)at;
	if (!h->begin) /* made by this process */
		return true;
	return p >= begin && p < end && p % KDRI_MIN(size, sizeof(double)) == 0 && count >= 0 &&
	       (uint64_t)count <= (end - p) / size;
}

bool kdri_handed_text(const kdri_handed *h, const char *text)
{
	const char *end = h->begin + h->size;
	return !h->begin || (kdri_handed_holds(h, text, 1, 1) && memchr(text, '\0', (size_t)(end - text)));
}

kdr_status kdri_handed_array(kdr_context *ctx, kdri_handed *h, const void *at, int64_t count, size_t size,
                             void *out)
{
	void *copy = NULL;
	if (!at)
		return KDR_OK;
	if (!kdri_handed_holds(h, at, count, size))
		return kdri_handed_damaged(ctx, h);
	char *begin = (char *)at;
	const size_t page = kdri_map_step(), bytes = (size_t)count * size,
	             pages = (bytes + page - 1) / page * page;
	bool own =
	        bytes >= KDRI_HANDED_LARGE && (uintptr_t)begin % page == 0 && h->ntaken < KDRI_HANDED_ARRAYS;
	for (int i = 0; i < h->ntaken; i++)
		if (begin < h->taken[i].at + h->taken[i].bytes && h->taken[i].at < begin + pages)
			return kdri_handed_damaged(ctx, h);
	if (own && kdri_spool_adopt(ctx, begin, bytes, h->fd)) {
		h->taken[h->ntaken].at = begin;
		h->taken[h->ntaken++].bytes = pages;
		memcpy(out, &begin, sizeof begin);
		return KDR_OK;
	}
	KDRI_DO(kdri_alloc(ctx, &copy, count, size));
	memcpy(copy, at, bytes);
	memcpy(out, &copy, sizeof copy);
	return KDR_OK;
}

kdr_status kdri_handed_strings(kdr_context *ctx, const kdri_handed *h, char *const *strings, int64_t count,
                               char ***out)
{
	kdr_status st;
	char **copy = NULL;
	if (!strings)
		return KDR_OK;
	if (!kdri_handed_holds(h, strings, count, sizeof *strings))
		return kdri_handed_damaged(ctx, h);
	KDRI_TRY(KDRI_NEW0(ctx, &copy, count));
	for (int64_t i = 0; i < count; i++) {
		const char *text = strings[i];
		if (!kdri_handed_text(h, text)) {
			st = kdri_handed_damaged(ctx, h);
			goto done;
		}
		KDRI_TRY(kdri_strdup(ctx, text, &copy[i]));
	}
	*out = copy;
	copy = NULL;
done:
	kdri_strings_free(&ctx->allocator, copy, count);
	return st;
}

/* Unmaps the pages between the arrays that were taken over, in the order of their addresses. */
void kdri_handed_free(kdri_handed *h)
{
	char *at = h->begin, *end = h->begin ? h->begin + h->size : NULL;
	while (at < end) {
		char *stop = end, *next = end;
		for (int i = 0; i < h->ntaken; i++)
			if (h->taken[i].at >= at && h->taken[i].at < stop) {
				stop = h->taken[i].at;
				next = stop + h->taken[i].bytes;
			}
		if (stop > at)
			kdri_unmap_part(at, (size_t)(stop - at));
		at = next;
	}
	if (h->begin && h->fd >= 0)
		close(h->fd);
	*h = (kdri_handed){ 0 };
}
