/* A table of names. SPDX-License-Identifier: BSD-3-Clause
 *
 * Names to numbers, in order of first appearance: classes as a file is read, features as tasks are aligned. Open
 * addressing with linear probing, at most half full; the cost is that of reading the names. */
#include <stdio.h>
#include <stdlib.h>

#include "core/internal.h"
#include "core/names.h"
#include "core/numbers.h"

/* The slot is taken from the low bits, which FNV mixes worst. */
static uint64_t hash_of(const char *name, size_t length)
{
	uint64_t hash = kdri_fnv1a(name, length);
	return kdri_random(&hash);
}

void kdri_names_free_with(const kdr_allocator *a, kdri_names *t)
{
	if (t->borrows)
		kdri_free_with(a, t->names);
	else
		kdri_strings_free(a, t->names, t->count);
	KDRI_FREE_WITH(a, t->hashes, t->slots);
	*t = (kdri_names){ .borrows = t->borrows };
}

void kdri_names_free(kdr_context *ctx, kdri_names *t)
{
	kdri_names_free_with(&ctx->allocator, t);
}

/* The slot of the name, or the empty slot for it. */
static int64_t slot_of(const kdri_names *t, const char *name, size_t length, uint64_t hash)
{
	int64_t s = (int64_t)(hash & (uint64_t)t->mask);
	for (;; s = (s + 1) & t->mask) {
		int64_t i = t->slots[s];
		if (i < 0 || (t->hashes[i] == hash && strncmp(t->names[i], name, length) == 0 &&
		              t->names[i][length] == '\0'))
			return s;
	}
}

static kdr_status names_grow(kdr_context *ctx, kdri_names *t)
{
	kdr_status st;
	int64_t room = t->room ? 2 * t->room : 16, *slots = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &slots, 2 * room));
	KDRI_TRY(KDRI_GROW(ctx, &t->names, room));
	KDRI_TRY(KDRI_GROW(ctx, &t->hashes, room));
	kdri_free(ctx, t->slots);
	t->slots = slots;
	slots = NULL;
	t->room = room;
	t->mask = 2 * room - 1;
	for (int64_t s = 0; s <= t->mask; s++)
		t->slots[s] = -1;
	for (int64_t i = 0; i < t->count; i++) {
		int64_t s = (int64_t)(t->hashes[i] & (uint64_t)t->mask);
		while (t->slots[s] >= 0)
			s = (s + 1) & t->mask;
		t->slots[s] = i;
	}
done:
	kdri_free(ctx, slots);
	return st;
}

int64_t kdri_names_find_text(const kdri_names *t, const char *text, size_t length)
{
	return t->count ? t->slots[slot_of(t, text, length, hash_of(text, length))] : -1;
}

int64_t kdri_names_find(const kdri_names *t, const char *name)
{
	return kdri_names_find_text(t, name, strlen(name));
}

kdr_status kdri_names_add(kdr_context *ctx, kdri_names *t, const char *text, size_t length, int64_t *index)
{
	/* A name ends at a NUL byte, as every text does here. */
	length = strnlen(text, length);
	uint64_t hash = hash_of(text, length);
	if (t->count == t->room)
		KDRI_DO(names_grow(ctx, t));
	int64_t s = slot_of(t, text, length, hash);
	if (t->slots[s] < 0) {
		if (t->borrows)
			t->names[t->count] = (char *)text;
		else
			KDRI_DO(kdri_strndup(ctx, text, length, &t->names[t->count]));
		t->hashes[t->count] = hash;
		t->slots[s] = t->count++;
	}
	*index = t->slots[s];
	return KDR_OK;
}

typedef struct valued {
	int64_t value, index;
} valued;

static int names_by_value(const void *a, const void *b)
{
	const valued *x = a, *y = b;
	return x->value != y->value ? (x->value > y->value) - (x->value < y->value)
	                            : (x->index > y->index) - (x->index < y->index);
}

kdr_status kdri_names_sort_integers(kdr_context *ctx, kdri_names *t, int64_t *values, int64_t n,
                                    bool *integers)
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
	qsort(order, (size_t)t->count, sizeof *order, names_by_value);
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
	KDRI_FREE(ctx, new_index, order);
	return st;
}

/* Nearest spellings. */

enum { LONGEST = 63 };

/* Optimal string alignment distance (insert, delete, replace, swap neighbours), or a large number if a word is too
 * long. */
static int suggest_distance(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);
	int d[3][LONGEST + 1];
	if (n > LONGEST || m > LONGEST)
		return 1000;
	for (size_t j = 0; j <= m; j++)
		d[0][j] = (int)j;
	for (size_t i = 1; i <= n; i++) {
		int *row = d[i % 3], *up = d[(i + 2) % 3], *up2 = d[(i + 1) % 3];
		row[0] = (int)i;
		for (size_t j = 1; j <= m; j++) {
			int best = up[j - 1] + (a[i - 1] != b[j - 1]);
			best = KDRI_MIN(best, KDRI_MIN(up[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				best = KDRI_MIN(best, up2[j - 2] + 1);
			row[j] = best;
		}
	}
	return d[n % 3][m];
}

size_t kdr_suggest(const char *word, const char *const *words, size_t count, const char **out, size_t most)
{
	if (!word || !words || !out)
		return 0;
	size_t length = strlen(word), found = 0;
	/* A typing error changes at most about a third of a word; a word that only continues what was typed
	 * ("eval" for "evaluate") counts as nearest. */
	int limit = length <= 3 ? 1 : length <= 6 ? 2 : 3;
	for (int d = 0; d <= limit && found < most; d++)
		for (size_t i = 0; i < count && found < most; i++) {
			bool prefix = length >= 2 && strncmp(word, words[i], length) == 0;
			int own = prefix ? 0 : suggest_distance(word, words[i]);
			if (own == d)
				out[found++] = words[i];
		}
	return found;
}

bool kdri_name_of_ids(const char *name)
{
	static const char *const names[] = { "id",        "ids",      "nr",     "no",      "num", "index",
		                             "idx",       "uid",      "uuid",   "guid",    "row", "name",
		                             "sample",    "#",        "row_id", "rowid",   "nr.", "no.",
		                             "sample_id", "sampleid", "nummer", "barcode", NULL };
	size_t n = strlen(name);
	for (int i = 0; names[i]; i++)
		if (kdri_same_word(name, n, names[i]))
			return true;
	/* customer_id, customerId, customer-nr, CustomerNo */
	return (n > 3 &&
	        (name[n - 3] == '_' || name[n - 3] == '-' || name[n - 3] == ' ' || name[n - 3] == '.') &&
	        (kdri_same_word(name + n - 2, 2, "id") || kdri_same_word(name + n - 2, 2, "nr"))) ||
	       (n > 2 && (strcmp(name + n - 2, "Id") == 0 || strcmp(name + n - 2, "ID") == 0 ||
	                  strcmp(name + n - 2, "Nr") == 0 || strcmp(name + n - 2, "No") == 0));
}
