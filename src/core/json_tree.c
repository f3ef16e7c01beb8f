/* Trees of values: making them, and looking at them. SPDX-License-Identifier: BSD-3-Clause
 *
 * A document is one arena: nothing is freed separately. The values of a list wait on a stack until it is closed, and are then copied
 * side by side into the arena, so that entry i is found at once. An open list keeps the place of the one around it. An object of more
 * than LINEAR members has pointers to them, in order of key, after its members. */
#include <stdlib.h>

#include "core/internal.h"
#include "core/json_read.h"

enum { LINEAR = 8 };

typedef struct block {
	struct block *next;
	max_align_t data[];
} block;

typedef struct kdri_json_document {
	kdri_json_value root; /* first: a pointer to it is one to the document */
	kdr_allocator allocator;
	block *blocks;
} document;

kdr_status kdri_json_tree_begin(kdr_context *ctx, size_t bytes, kdri_json_tree *t)
{
	*t = (kdri_json_tree){ .ctx = ctx, .block = bytes, .open = -1 };
	KDRI_DO(KDRI_NEW0(ctx, &t->doc, 1));
	t->doc->allocator = ctx->allocator;
	return KDR_OK;
}

kdr_status kdri_json_tree_room(kdri_json_tree *t, size_t size, void *out)
{
	block *fresh = NULL;
	size = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
	if (!t->doc->blocks || size > t->room - t->used) {
		const size_t room = KDRI_MAX(size, t->block);
		KDRI_DO(kdri_alloc(t->ctx, &fresh, (int64_t)(sizeof *fresh + room), 1));
		fresh->next = t->doc->blocks;
		t->doc->blocks = fresh;
		t->used = 0;
		t->room = room;
	}
	*(void **)out = (char *)t->doc->blocks->data + t->used;
	t->used += size;
	return KDR_OK;
}

kdr_status kdri_json_tree_add(kdri_json_tree *t, const kdri_json_value *value)
{
	KDRI_DO(KDRI_ROOM(t->ctx, &t->stack, &t->stack_room, t->height + 1));
	t->stack[t->height++] = *value;
	return KDR_OK;
}

void kdri_json_tree_open(kdri_json_tree *t)
{
	t->stack[t->height - 1].as.integer = t->open;
	t->open = t->height - 1;
}

static int by_key(const void *a, const void *b)
{
	return strcmp((*(const kdri_json_value *const *)a)->key, (*(const kdri_json_value *const *)b)->key);
}

static const kdri_json_value *const *sorted_members(const kdri_json_value *object)
{
	return (const kdri_json_value *const *)(object->as.items + object->count);
}

kdr_status kdri_json_tree_close(kdri_json_tree *t)
{
	kdri_json_value *items = NULL, *list = &t->stack[t->open];
	const int64_t count = t->height - t->open - 1, outer = list->as.integer;
	const bool indexed = list->type == KDRI_JSON_OBJECT && count > LINEAR;
	if (count > UINT32_MAX)
		return kdri_fail(t->ctx, KDR_ERR_SIZE, "a list of %lld values is too long for JSON",
		                 (long long)count);
	KDRI_DO(kdri_json_tree_room(
	        t, (size_t)count * (sizeof *items + (indexed ? sizeof(kdri_json_value *) : 0)), &items));
	if (count > 0)
		memcpy(items, list + 1, (size_t)count * sizeof *items);
	list->count = (uint32_t)count;
	list->as.items = items;
	t->height = t->open + 1;
	t->open = outer;
	const kdri_json_value **sorted = (const kdri_json_value **)(items + count);
	for (int64_t i = 0; indexed && i < count; i++)
		sorted[i] = &items[i];
	if (indexed)
		qsort(sorted, (size_t)count, sizeof *sorted, by_key);
	return KDR_OK;
}

const char *kdri_json_tree_twin(const kdri_json_tree *t)
{
	const kdri_json_value *list = &t->stack[t->height - 1], *items = list->as.items;
	if (list->type != KDRI_JSON_OBJECT)
		return NULL;
	for (int64_t i = 1; i < list->count; i++) {
		const kdri_json_value *const *sorted = list->count > LINEAR ? sorted_members(list) : NULL;
		if (sorted && strcmp(sorted[i - 1]->key, sorted[i]->key) == 0)
			return sorted[i]->key;
		for (int64_t j = 0; !sorted && j < i; j++)
			if (strcmp(items[j].key, items[i].key) == 0)
				return items[i].key;
	}
	return NULL;
}

kdr_status kdri_json_tree_end(kdri_json_tree *t, kdr_status st, kdri_json_value **root)
{
	if (st == KDR_OK) {
		t->doc->root = t->stack[0];
		*root = &t->doc->root;
	} else {
		kdri_json_value_free((kdri_json_value *)t->doc);
	}
	kdri_free(t->ctx, t->stack);
	return st;
}

void kdri_json_value_free(kdri_json_value *root)
{
	document *doc = (document *)root;
	if (!doc)
		return;
	kdr_allocator allocator = doc->allocator;
	for (block *b = doc->blocks, *next; b; b = next) {
		next = b->next;
		kdri_free_with(&allocator, b);
	}
	kdri_free_with(&allocator, doc);
}

/* --- looking -------------------------------------------------------------------------------------- */

kdri_json_type kdri_json_typeof(const kdri_json_value *v)
{
	return v ? (kdri_json_type)v->type : KDRI_JSON_ABSENT;
}

int64_t kdri_json_line(const kdri_json_value *v)
{
	return v ? (int64_t)v->line + 1 : 0;
}

int64_t kdri_json_count(const kdri_json_value *v)
{
	return v && (v->type == KDRI_JSON_ARRAY || v->type == KDRI_JSON_OBJECT) ? v->count : 0;
}

const kdri_json_value *kdri_json_at(const kdri_json_value *v, int64_t index)
{
	return index >= 0 && index < kdri_json_count(v) ? &v->as.items[index] : NULL;
}

const char *kdri_json_key(const kdri_json_value *v)
{
	return v && v->key ? v->key : "";
}

const kdri_json_value *kdri_json_get(const kdri_json_value *v, const char *key)
{
	if (!v || v->type != KDRI_JSON_OBJECT)
		return NULL;
	if (v->count > LINEAR) {
		kdri_json_value wanted = { .key = key };
		const kdri_json_value *probe = &wanted, *const * found;
		found = bsearch(&probe, sorted_members(v), (size_t)v->count, sizeof probe, by_key);
		return found ? *found : NULL;
	}
	for (int64_t i = 0; i < v->count; i++)
		if (strcmp(v->as.items[i].key, key) == 0)
			return &v->as.items[i];
	return NULL;
}

double kdri_json_number(const kdri_json_value *v, double otherwise)
{
	if (kdri_json_typeof(v) == KDRI_JSON_INTEGER)
		return (double)v->as.integer;
	return kdri_json_typeof(v) == KDRI_JSON_REAL ? v->as.real : otherwise;
}

int64_t kdri_json_integer(const kdri_json_value *v, int64_t otherwise)
{
	return kdri_json_typeof(v) == KDRI_JSON_INTEGER ? v->as.integer : otherwise;
}

const char *kdri_json_text(const kdri_json_value *v, size_t *length)
{
	bool text = kdri_json_typeof(v) == KDRI_JSON_TEXT;
	if (length)
		*length = text ? (size_t)v->count : 0;
	return text ? v->as.text : NULL;
}
