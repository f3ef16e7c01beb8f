/* Texts to indices, in order of first appearance. SPDX-License-Identifier: BSD-3-Clause
 *
 * A table of class names: open addressing over FNV-1a, at most half full. */
#include <stdio.h>
#include <stdlib.h>

#include "core/names.h"
#include "core/numbers.h"

static uint64_t hash(const char *text, size_t length)
{
	uint64_t h = 14695981039346656037u;
	for (size_t i = 0; i < length; i++)
		h = (h ^ (unsigned char)text[i]) * 1099511628211u;
	return h ^ (h >> 29);
}

/* The slot of `text`: where it stands or would stand. */
static int64_t find(const kdri_intern *t, const char *text, size_t length)
{
	int64_t mask = t->slot_count - 1, i = (int64_t)(hash(text, length) & (uint64_t)mask);
	for (; t->slots[i] >= 0; i = (i + 1) & mask) {
		const char *name = t->names[t->slots[i]];
		if (strncmp(name, text, length) == 0 && name[length] == '\0')
			break;
	}
	return i;
}

static kdr_status grow(kdr_context *ctx, kdri_intern *t)
{
	kdr_status st;
	int64_t room = t->room ? 2 * t->room : 16;
	int64_t *slots = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &slots, 2 * room));
	KDRI_TRY(KDRI_GROW(ctx, &t->names, room));
	t->room = room;
	kdri_free(ctx, t->slots);
	t->slots = slots;
	t->slot_count = 2 * room;
	slots = NULL;
	memset(t->slots, 0xff, (size_t)t->slot_count * sizeof *t->slots);
	for (int64_t i = 0; i < t->count; i++)
		t->slots[find(t, t->names[i], strlen(t->names[i]))] = i;
done:
	kdri_free(ctx, slots);
	return st;
}

kdr_status kdri_intern_add(kdr_context *ctx, kdri_intern *t, const char *text, size_t length, int64_t *index)
{
	kdr_status st = KDR_OK;
	/* A name ends at a NUL byte, as every text does here. */
	length = strnlen(text, length);
	if (t->count == t->room)
		KDRI_TRY(grow(ctx, t));
	int64_t slot = find(t, text, length);
	if (t->slots[slot] < 0) {
		KDRI_TRY(kdri_strndup(ctx, text, length, &t->names[t->count]));
		t->slots[slot] = t->count++;
	}
	*index = t->slots[slot];
done:
	return st;
}

typedef struct valued {
	int64_t value, index;
} valued;

static int by_value(const void *a, const void *b)
{
	const valued *x = a, *y = b;
	return x->value != y->value ? (x->value > y->value) - (x->value < y->value)
	                            : (x->index > y->index) - (x->index < y->index);
}

kdr_status kdri_intern_finish(kdr_context *ctx, kdri_intern *t, int64_t *values, int64_t n, bool *integers)
{
	kdr_status st = KDR_OK;
	valued *order = NULL;
	int64_t *new_index = NULL;
	char **names = NULL, text[24];
	int64_t count = 0;
	bool all = t->count > 0;
	if (!all)
		goto done;
	KDRI_TRY(KDRI_NEW(ctx, &order, t->count));
	for (int64_t i = 0; i < t->count && all; i++) {
		const char *end = t->names[i] + strlen(t->names[i]);
		order[i].index = i;
		all = kdri_parse_int(t->names[i], end, &order[i].value) == end;
	}
	if (!all)
		goto done;
	qsort(order, (size_t)t->count, sizeof *order, by_value);
	KDRI_TRY(KDRI_NEW(ctx, &new_index, t->count));
	KDRI_TRY(KDRI_NEW0(ctx, &names, t->room));
	for (int64_t i = 0; i < t->count; i++) {
		if (i == 0 || order[i].value != order[i - 1].value) {
			snprintf(text, sizeof text, "%lld", (long long)order[i].value);
			KDRI_TRY(kdri_strdup(ctx, text, &names[count]));
			count++;
		}
		new_index[order[i].index] = count - 1;
	}
	for (int64_t i = 0; i < n; i++)
		if (values[i] >= 0)
			values[i] = new_index[values[i]];
	kdri_strings_free(&ctx->allocator, t->names, t->count);
	t->names = names;
	t->count = count;
	names = NULL;
done:
	if (st == KDR_OK)
		*integers = all;
	kdri_strings_free(&ctx->allocator, names, count);
	kdri_free(ctx, new_index);
	kdri_free(ctx, order);
	return st;
}

void kdri_intern_free(kdr_context *ctx, kdri_intern *t)
{
	kdri_strings_free(&ctx->allocator, t->names, t->count);
	kdri_free(ctx, t->slots);
	*t = (kdri_intern){ 0 };
}
