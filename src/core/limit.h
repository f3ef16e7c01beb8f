/* The limit on memory (kdr_context_set_max_memory). SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_LIMIT_H
#define KDRI_LIMIT_H

#include "core/internal.h"

typedef struct kdri_limit kdri_limit;

/* From now on the context's allocator counts, and refuses blocks beyond `bytes` bytes in total; 0: only counts, if there
 * was a limit before. */
void kdri_limit_set(kdr_context *ctx, double bytes);
/* The context has been freed; blocks may remain. NULL is accepted. */
void kdri_limit_leave(kdri_limit *limit);
/* The allocator that counts; and the limit of such an allocator, NULL for others. */
const kdr_allocator *kdri_limit_allocator(const kdri_limit *limit);
kdri_limit *kdri_limit_of(const kdr_allocator *allocator);
/* Counts memory that comes from elsewhere, if the allocator counts; false if it is too much. */
bool kdri_limit_count(const kdr_allocator *allocator, void *at, size_t bytes);
void kdri_limit_uncount(const kdr_allocator *allocator, const void *at);
/* The bytes in use, or the peak since it was last asked for; 0 without a limit. */
double kdri_limit_used(const kdr_context *ctx, bool peak);
/* Whether the allocation that failed last in this thread exceeded the limit; clears the answer. */
bool kdri_limit_refused(void);

#endif
