/* Whether classes that some members miss are in the target. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_TRANSFER_ABSENCE_H
#define KDRI_TRANSFER_ABSENCE_H

#include "methods/transfer_auto/views.h"

/* Everything is borrowed. The last task of the views is the target, which has n rows. */
typedef struct kdri_absence {
	const kdri_transfer_views *v;
	const int32_t *aligned; /* n: the class that most members that centre each data set vote for */
	const double *plain;    /* classes: share of each in the votes of the other members */
} kdri_absence;

/* Whether class k is in dispute: the members that centre each data set find it (share `aligned` of their votes), and the
 * others (`plain`) hardly do, compared with its share of the source. */
bool kdri_transfer_disputed(double source, double plain, double aligned);
/* The gap of the classes in dispute, from about 0 (they are absent) to about 1 (as separate as in the source). NaN: no class
 * is in dispute, or its gap cannot be measured. */
kdr_status kdri_transfer_gap(kdr_context *ctx, const kdri_absence *p, double *gap);

#endif
