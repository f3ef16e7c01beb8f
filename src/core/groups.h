/* Control groups: what a container, or whoever starts a process, allows it. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_GROUPS_H
#define KDRI_GROUPS_H

#include "core/internal.h"

#include <stdio.h>

enum { KDRI_GROUP_LINE = 4096 };

/* Opens ROOT/path: tests have a root of their own. */
FILE *kdri_open_below(const char *root, const char *path);
/* What one group may have, by the files in its folder; `second`: of version 2. Infinite: no limit. */
typedef double kdri_group_limit(const char *root, const char *folder, bool second);
/* The least limit of this process's group and of those it lies in. */
double kdri_group_least(const char *root, const char *controller, kdri_group_limit *limit);

#endif
