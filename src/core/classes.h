/* What a user knows about samples before they are clustered. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_CLASSES_H
#define KDRI_CLASSES_H

#include "core/internal.h"

/* Known classes of the samples of some data sets, one after the other. */
typedef struct kdri_known_classes {
	int64_t n;
	int64_t nknown; /* samples whose class is known */
	int64_t *known; /* n: the class of each sample, -1 if unknown */
} kdri_known_classes;

/* Whether a clustering problem has known classes. */
bool kdri_has_known_classes(const kdr_problem *problem);

/* Collects what is known about the data sets first .. first + count - 1. Time: O(n). */
kdr_status kdri_known_classes_new(kdr_context *ctx, const kdr_problem *problem, int64_t first, int64_t count,
                                  kdri_known_classes *out);
void kdri_known_classes_free(kdr_context *ctx, kdri_known_classes *known);

#endif
