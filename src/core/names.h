/* Tables of names. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_NAMES_H
#define KDRI_NAMES_H

#include "core/internal.h"

/* --- names.c: a hash table of borrowed names ------------------------------------------------ */

typedef struct kdri_names {
	const char **names; /* in order of arrival */
	uint64_t *hashes;
	int64_t *slots; /* index of a name, or -1: open addressing, a power of two of them */
	int64_t count, room, mask;
} kdri_names;

/* A table with room for `room` names. */
kdr_status kdri_names_new(kdr_context *ctx, int64_t room, kdri_names *out);
void kdri_names_free(kdr_context *ctx, kdri_names *table);
/* The index of the name, which is added where it is new; or without adding it, -1. */
int64_t kdri_names_add(kdri_names *table, const char *name);
int64_t kdri_names_find(const kdri_names *table, const char *name);

/* --- intern.c: texts to indices ---------------------------------------------------------------- */

typedef struct kdri_intern {
	char **names;
	int64_t count, room;
	int64_t *slots; /* open addressing; -1 empty */
	int64_t slot_count;
} kdri_intern;

kdr_status kdri_intern_add(kdr_context *ctx, kdri_intern *t, const char *text, size_t length, int64_t *index);
/* Where every name is an integer: sorts the names by value, writes them plainly ("+01" as "1", so that
 * equal integers are one class), renumbers `values` (negative ones stay) and sets *integers. */
kdr_status kdri_intern_finish(kdr_context *ctx, kdri_intern *t, int64_t *values, int64_t n, bool *integers);
void kdri_intern_free(kdr_context *ctx, kdri_intern *t);

#endif
