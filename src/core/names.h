/* A table of names. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_NAMES_H
#define KDRI_NAMES_H

#include "core/internal.h"

/* Zero is an empty table that copies what it is given. */
typedef struct kdri_names {
	char **names; /* in order of addition */
	bool borrows; /* set it before the first name: names are not copied and must stay valid */
	uint64_t *hashes;
	int64_t *slots; /* index of a name, or -1: open addressing, a power of two of them */
	int64_t count, room, mask;
} kdri_names;

void kdri_names_free(kdr_context *ctx, kdri_names *table);
void kdri_names_free_with(const kdr_allocator *allocator, kdri_names *table);
/* Gives the index of the name, which is added if it is new. A borrowed name must end after `length` bytes. */
kdr_status kdri_names_add(kdr_context *ctx, kdri_names *table, const char *text, size_t length,
                          int64_t *index);
/* Returns the index of a name, or -1. */
int64_t kdri_names_find(const kdri_names *table, const char *name);
int64_t kdri_names_find_text(const kdri_names *table, const char *text, size_t length);
/* If every name is an integer: sorts the names by value, writes them in the simplest form ("+01" as "1", so that equal
 * integers are one class), renumbers `values` (negative ones stay) and sets *integers. Names cannot be looked up
 * afterwards. */
kdr_status kdri_names_sort_integers(kdr_context *ctx, kdri_names *table, int64_t *values, int64_t n,
                                    bool *integers);

/* Whether the title of a column is usual for row names: id, nr, index, ... */
bool kdri_name_of_ids(const char *name);

#endif
