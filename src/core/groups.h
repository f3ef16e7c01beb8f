/* Control groups: the limits that a container or service manager sets for a process. SPDX-License-Identifier:
 * BSD-3-Clause */
#ifndef KDRI_GROUPS_H
#define KDRI_GROUPS_H

#include "core/internal.h"

#include <stdio.h>

enum { KDRI_GROUP_LINE = 4096 };

/* Opens ROOT/path; tests use their own root. */
FILE *kdri_open_below(const char *root, const char *path);
/* The limit of one group according to the files in its folder; `second`: control groups version 2. Infinite: no limit. */
typedef double kdri_group_limit(const char *root, const char *folder, bool second);
/* The smallest limit of this process's group and its ancestors. */
double kdri_group_least(const char *root, const char *controller, kdri_group_limit *limit);

#endif
