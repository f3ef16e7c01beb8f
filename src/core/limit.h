/* Inside core/: the limit on memory, control groups, idle threads. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_LIMIT_H
#define KDRI_LIMIT_H

#include <stdio.h>

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

/* Control groups: the limits that a container or service manager sets for a process. */

enum { KDRI_GROUP_LINE = 4096 };

/* Opens ROOT/path; tests use their own root. */
FILE *kdri_open_below(const char *root, const char *path);
/* The limit of one group according to the files in its folder; `second`: control groups version 2. Infinite: no limit. */
typedef double kdri_group_limit(const char *root, const char *folder, bool second);
/* The smallest limit of this process's group and its ancestors. */
double kdri_group_least(const char *root, const char *controller, kdri_group_limit *limit);

/* Idle OpenMP threads. */

#ifdef _OPENMP
/* Call it before parallel regions of `threads` threads: it lets idle threads sleep early, unless environment variables
 * specify otherwise. */
void kdri_wait_asleep(int threads);
#endif

#endif
