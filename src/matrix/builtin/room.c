/* Buffers of products. SPDX-License-Identifier: BSD-3-Clause
 *
 * A product returns no status and also works without a buffer, only more slowly. Buffers are therefore allocated by
 * the C library, not by the context's allocator, and never freed, like those of other BLAS libraries. */
#include "matrix/builtin/builtin.h"
#include "matrix/reserve.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { SLOTS = 256, ALIGNMENT = 64 };

static atomic_bool taken[SLOTS];
static void *rooms[SLOTS]; /* NULL: not allocated yet; belongs to the thread that has taken the slot */

/* Not aligned_alloc, which the C library of Windows does not have. */
static void *room_new(void)
{
	char *at = malloc(KDRI_ROOM_BYTES + ALIGNMENT);
	return at ? at + (ALIGNMENT - (uintptr_t)at % ALIGNMENT) : NULL;
}

int kdri_room_take(void **room)
{
	for (int i = 0; i < SLOTS; i++) {
		if (atomic_exchange_explicit(&taken[i], true, memory_order_acquire))
			continue;
		if (!rooms[i])
			rooms[i] = room_new();
		*room = rooms[i];
		return i;
	}
	*room = NULL;
	return -1;
}

void kdri_room_return(int slot)
{
	if (slot >= 0)
		atomic_store_explicit(&taken[slot], false, memory_order_release);
}

kdr_status kdri_blas_reserve(kdr_context *ctx)
{
	(void)ctx;
	return KDR_OK;
}
