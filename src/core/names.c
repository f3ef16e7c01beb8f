/* A hash table of borrowed names. SPDX-License-Identifier: BSD-3-Clause
 *
 * Aligning looks every name of every task up once, so the cost is that of reading the names. Open
 * addressing with linear probing, at most half full. */
#include "core/names.h"

static uint64_t hash_of(const char *name)
{
	uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
	for (const char *p = name; *p; p++)
		hash = (hash ^ (unsigned char)*p) * 0x100000001b3u;
	/* The slot is taken from the low bits, which FNV mixes worst. */
	return kdri_splitmix64(&hash);
}

kdr_status kdri_names_new(kdr_context *ctx, int64_t room, kdri_names *out)
{
	kdr_status st;
	kdri_names t = { .room = room, .mask = 1 };
	while (t.mask < room)
		t.mask = 2 * t.mask + 1;
	t.mask = 2 * t.mask + 1;
	KDRI_TRY(KDRI_NEW(ctx, &t.names, room));
	KDRI_TRY(KDRI_NEW(ctx, &t.hashes, room));
	KDRI_TRY(KDRI_NEW(ctx, &t.slots, t.mask + 1));
	for (int64_t i = 0; i <= t.mask; i++)
		t.slots[i] = -1;
	*out = t;
	t = (kdri_names){ 0 };
done:
	kdri_names_free(ctx, &t);
	return st;
}

void kdri_names_free(kdr_context *ctx, kdri_names *t)
{
	kdri_free(ctx, (void *)t->names);
	kdri_free(ctx, t->hashes);
	kdri_free(ctx, t->slots);
	*t = (kdri_names){ 0 };
}

/* The slot that holds the name, or the empty one where it belongs. */
static int64_t slot_of(const kdri_names *t, const char *name, uint64_t hash)
{
	int64_t s = (int64_t)(hash & (uint64_t)t->mask);
	for (;; s = (s + 1) & t->mask) {
		int64_t i = t->slots[s];
		if (i < 0 || (t->hashes[i] == hash && strcmp(t->names[i], name) == 0))
			return s;
	}
}

int64_t kdri_names_find(const kdri_names *t, const char *name)
{
	return t->slots[slot_of(t, name, hash_of(name))];
}

int64_t kdri_names_add(kdri_names *t, const char *name)
{
	uint64_t hash = hash_of(name);
	int64_t s = slot_of(t, name, hash);
	if (t->slots[s] < 0) {
		t->names[t->count] = name;
		t->hashes[t->count] = hash;
		t->slots[s] = t->count++;
	}
	return t->slots[s];
}
