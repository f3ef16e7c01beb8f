/* Everything in a small HDF5 file, such as a model. SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "core/system.h"
#include "io/hdf5/h5.h"

/* Results of a child process that worked on an HDF5 file. */

kdr_status kdri_handed_damaged(kdr_context *ctx, const kdri_handed *h)
{
	return kdri_fail(ctx, KDR_ERR_FORMAT,
	                 "%s: the file is damaged: the HDF5 library failed while reading it", h->path);
}

/* Whether `count` elements of `size` bytes at `at`, or a string and its end, lie in the arena. */
static bool handed_holds(const kdri_handed *h, const void *at, int64_t count, size_t size)
{
	const uintptr_t begin = (uintptr_t)h->begin + h->head, end = (uintptr_t)h->begin + h->size,
	                p = (uintptr_t)at;
	if (!h->begin) /* made by this process */
		return true;
	return p >= begin && p < end && p % KDRI_MIN(size, sizeof(double)) == 0 && count >= 0 &&
	       (uint64_t)count <= (end - p) / size;
}

static bool handed_text(const kdri_handed *h, const char *text)
{
	const char *end = h->begin + h->size;
	return !h->begin || (handed_holds(h, text, 1, 1) && memchr(text, '\0', (size_t)(end - text)));
}

kdr_status kdri_handed_array(kdr_context *ctx, kdri_handed *h, const void *at, int64_t count, size_t size,
                             void *out)
{
	void *copy = NULL;
	if (!at)
		return KDR_OK;
	if (!handed_holds(h, at, count, size))
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
	if (!handed_holds(h, strings, count, sizeof *strings))
		return kdri_handed_damaged(ctx, h);
	KDRI_TRY(KDRI_NEW0(ctx, &copy, count));
	for (int64_t i = 0; i < count; i++) {
		const char *text = strings[i];
		if (!handed_text(h, text)) {
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

enum { LEVELS = 2, MOST_ITEMS = 1 << 20, MOST_NAME = 1200 };

typedef struct collection {
	kdr_context *ctx;
	kdr_status st;
	kdri_h5_items *items;
	int64_t room;
} collection;

/* Adds an item without values. */
static kdr_status add_item(collection *c, const char *object, const char *attribute, kdri_h5_item **out)
{
	kdri_h5_items *items = c->items;
	char name[MOST_NAME];
	snprintf(name, sizeof name, "%s%s%s", object + (object[0] == '/'), attribute ? "@" : "",
	         attribute ? attribute : "");
	if (items->count == MOST_ITEMS)
		return kdri_fail(c->ctx, KDR_ERR_SIZE, "more than %d groups, datasets and attributes",
		                 MOST_ITEMS);
	KDRI_DO(KDRI_ROOM(c->ctx, &items->list, &c->room, items->count + 1));
	*out = &items->list[items->count];
	**out = (kdri_h5_item){ .type_class = KDRI_H5_OTHER };
	KDRI_DO(kdri_strdup(c->ctx, name, &(*out)->name));
	items->count++;
	return KDR_OK;
}

static kdr_status add_dataset(collection *c, const kdri_h5 *h5, const char *name, kdri_h5_item *item)
{
	kdr_status st;
	kdr_context *ctx = c->ctx;
	kdri_h5_array a = { 0 };
	KDRI_TRY(kdri_h5_array_open(ctx, h5, name, &a));
	item->ndim = a.ndim;
	memcpy(item->shape, a.shape, sizeof item->shape);
	if (a.type_class == KDRI_H5_STRING && a.ndim == 1) {
		KDRI_TRY(kdri_h5_strings(ctx, &a, NULL, (char ***)&item->values));
	} else if (a.type_class == KDRI_H5_NUMBER && a.ndim >= 1 && a.ndim <= 3) {
		KDRI_TRY(kdri_alloc(ctx, &item->values, a.count, sizeof(double)));
		KDRI_TRY(a.floating ? kdri_h5_rows_double(ctx, &a, 0, a.shape[0], item->values)
		                    : kdri_h5_rows_int64(ctx, &a, 0, a.shape[0], item->values));
	} else {
		goto done;
	}
	item->type_class = a.type_class;
	item->floating = a.floating;
	item->count = a.count;
done:
	kdri_h5_array_close(&a);
	return st;
}

/* One text, or a list of numbers, which are small enough for doubles. */
static kdr_status add_attribute(collection *c, const kdri_h5 *h5, const char *object, const char *attribute,
                                int64_t count)
{
	kdri_h5_item *item;
	char text[1024], **texts = NULL;
	KDRI_DO(add_item(c, object, attribute, &item));
	item->ndim = 1;
	if (kdri_h5_text(h5, object, attribute, text, sizeof text)) {
		KDRI_DO(KDRI_NEW0(c->ctx, &texts, 1));
		item->values = texts;
		item->type_class = KDRI_H5_STRING;
		item->count = item->shape[0] = 1;
		KDRI_DO(kdri_strdup(c->ctx, text, &texts[0]));
	} else if (count > 0 && count <= MOST_ITEMS) {
		KDRI_DO(kdri_alloc(c->ctx, &item->values, count, sizeof(double)));
		if (!kdri_h5_numbers(h5, object, attribute, H5T_NATIVE_DOUBLE, count, item->values))
			return KDR_OK;
		item->type_class = KDRI_H5_NUMBER;
		item->floating = true;
		item->count = item->shape[0] = count;
	}
	return KDR_OK;
}

static kdr_status add_attributes(collection *c, const kdri_h5 *h5, const char *object)
{
	char name[512];
	int64_t count = 0;
	for (int64_t i = 0; kdri_h5_attribute_at(h5, object, i, name, sizeof name, &count); i++)
		KDRI_DO(add_attribute(c, h5, object, name, count));
	return KDR_OK;
}

static bool visit_object(void *user, const kdri_h5 *h5, const char *name, kdri_h5_kind kind)
{
	collection *c = user;
	kdri_h5_item *item;
	c->st = add_item(c, name, NULL, &item);
	if (c->st == KDR_OK && kind == KDRI_H5_DATASET)
		c->st = add_dataset(c, h5, name, item);
	if (c->st == KDR_OK)
		c->st = add_attributes(c, h5, name);
	return c->st == KDR_OK;
}

static int by_name(const void *a, const void *b)
{
	const kdri_h5_item *x = a, *y = b;
	return strcmp(x->name, y->name);
}

static kdr_status collect(kdr_context *ctx, const kdri_h5 *h5, kdri_h5_items *items)
{
	collection c = { .ctx = ctx, .items = items };
	KDRI_DO(add_attributes(&c, h5, "/"));
	KDRI_DO(kdri_h5_walk(ctx, h5, "/", LEVELS, visit_object, &c));
	KDRI_DO(c.st);
	qsort(items->list, (size_t)items->count, sizeof *items->list, by_name);
	return KDR_OK;
}

static kdr_status read_items(kdr_context *ctx, const void *user, void *result)
{
	kdr_status st;
	kdri_h5 h5 = { 0 };
	KDRI_TRY(kdri_h5_open(ctx, user, &h5));
	KDRI_TRY(collect(ctx, &h5, result));
done:
	kdri_h5_close(&h5);
	return st;
}

/* --- the checksum: docs/model-file.md describes the bytes that it covers -------------------------------- */

static const char sum_name[] = "checksum";

static uint32_t sum_text(uint32_t sum, const char *text)
{
	return (uint32_t)crc32(sum, (const unsigned char *)text, (uInt)strlen(text) + 1);
}

/* Numbers of 8 bytes, as little-endian machines store them. */
static uint32_t sum_numbers(uint32_t sum, const void *values, int64_t count)
{
	enum { BLOCK = 512 };
	unsigned char block[BLOCK * 8];
	const char *at = values;
	while (count > 0) {
		const int64_t n = KDRI_MIN(count, BLOCK);
		for (int64_t i = 0; i < n; i++, at += 8) {
			uint64_t bits;
			memcpy(&bits, at, 8);
			for (int b = 0; b < 8; b++)
				block[8 * i + b] = (unsigned char)(bits >> 8 * b);
		}
		sum = (uint32_t)crc32(sum, block, (uInt)(8 * n));
		count -= n;
	}
	return sum;
}

static uint32_t sum_item(uint32_t sum, const kdri_h5_item *item)
{
	const bool text = item->type_class == KDRI_H5_STRING;
	const bool valued = text || item->type_class == KDRI_H5_NUMBER;
	sum = sum_text(sum, item->name);
	sum = sum_text(sum, !valued ? "none" : text ? "text" : item->floating ? "real" : "integer");
	if (!valued)
		return sum;
	sum = sum_numbers(sum, item->shape, item->ndim);
	for (int64_t i = 0; text && i < item->count; i++)
		sum = sum_text(sum, ((char *const *)item->values)[i]);
	return text ? sum : sum_numbers(sum, item->values, item->count);
}

static uint32_t sum_items(const kdri_h5_items *items)
{
	uint32_t sum = 0;
	for (int64_t i = 0; i < items->count; i++)
		if (items->list[i].name[0] != '@' || strcmp(items->list[i].name + 1, sum_name) != 0)
			sum = sum_item(sum, &items->list[i]);
	return sum;
}

bool kdri_h5_items_intact(const kdri_h5_items *items)
{
	const kdri_h5_item *stored = kdri_h5_item_find(items, "", sum_name);
	return !stored || (stored->type_class == KDRI_H5_NUMBER && stored->count == 1 &&
	                   *(const double *)stored->values == sum_items(items));
}

kdr_status kdri_h5_seal(kdr_context *ctx, const kdri_h5 *h5)
{
	kdr_status st;
	kdri_h5_items items = { 0 };
	KDRI_TRY(collect(ctx, h5, &items));
	const int64_t sum = sum_items(&items);
	if (kdri_h5_item_find(&items, "", sum_name))
		H5Adelete(h5->file, sum_name);
	KDRI_TRY(kdri_h5_set_integers(ctx, h5, "/", sum_name, &sum, 1));
done:
	kdri_h5_items_free(ctx, &items);
	return st;
}

/* --- results of a child --------------------------------------------------------------------------------- */

static bool sound_item(const kdri_handed *h, const kdri_h5_item *item)
{
	int64_t count = 1;
	char *const *texts = item->values;
	if (!handed_text(h, item->name))
		return false;
	if (item->type_class == KDRI_H5_OTHER)
		return true;
	if (item->ndim < 1 || item->ndim > 3 || !handed_holds(h, item->values, item->count, sizeof(double)))
		return false;
	for (int i = 0; i < item->ndim; i++)
		if (kdri_mul(NULL, count, item->shape[i], &count) != KDR_OK)
			return false;
	for (int64_t i = 0; item->type_class == KDRI_H5_STRING && i < item->count; i++)
		if (!handed_text(h, texts[i]))
			return false;
	return count == item->count;
}

kdr_status kdri_h5_read_items(kdr_context *ctx, const char *path, kdri_h5_items *items)
{
	kdr_status st;
	int64_t bytes = 0;
	kdri_handed handed = { 0 };
	KDRI_TRY(kdri_h5_check_file(ctx, path, &bytes));
	const kdri_child_job job = { .path = path,
		                     .file_bytes = (double)bytes,
		                     .run = read_items,
		                     .user = path,
		                     .result_size = sizeof *items };
	st = kdri_run_apart(ctx, &job, items, &handed);
	items->handed = handed;
	if (st != KDR_OK || !handed.begin)
		goto done;
	if (!handed_holds(&handed, items->list, items->count, sizeof *items->list))
		st = kdri_handed_damaged(ctx, &handed);
	for (int64_t i = 0; i < items->count && st == KDR_OK; i++)
		if (!sound_item(&handed, &items->list[i]))
			st = kdri_handed_damaged(ctx, &handed);
done:
	return st;
}

const kdri_h5_item *kdri_h5_item_find(const kdri_h5_items *items, const char *object, const char *attribute)
{
	char name[MOST_NAME];
	const kdri_h5_item key = { .name = name };
	snprintf(name, sizeof name, "%s%s%s", object, attribute ? "@" : "", attribute ? attribute : "");
	return items->count ? bsearch(&key, items->list, (size_t)items->count, sizeof key, by_name) : NULL;
}

void kdri_h5_items_free(kdr_context *ctx, kdri_h5_items *items)
{
	if (!items->handed.begin) {
		for (int64_t i = 0; i < items->count; i++) {
			kdri_h5_item *item = &items->list[i];
			if (item->type_class == KDRI_H5_STRING)
				kdri_strings_free(&ctx->allocator, item->values, item->count);
			else
				kdri_free(ctx, item->values);
			kdri_free(ctx, item->name);
		}
		kdri_free(ctx, items->list);
	}
	kdri_handed_free(&items->handed);
	*items = (kdri_h5_items){ 0 };
}
