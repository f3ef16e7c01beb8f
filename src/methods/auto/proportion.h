/* Whether the members that use all tasks take too much time. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_PROPORTION_H
#define KDRI_PROPORTION_H

#include "engine/ensemble/members.h"

/* Properties of the tasks that are known in advance; `used`: columns that are not empty, or all columns if this is
 * unknown. */
typedef struct kdri_proportion {
	double all, used; /* samples of all tasks */
	double others;    /* multiplications of the members that see one task */
} kdri_proportion;
/* Adds a task of n samples and k clusters; entries: of its matrix. */
void kdri_proportion_add(kdri_proportion *p, double n, double entries, double k, double seeds, double most);
/* How many times the work of all other members the joint member would take, if that is too much; otherwise 0. */
double kdri_proportion_of(const kdri_proportion *p);

#endif
