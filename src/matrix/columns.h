/* Columns that are equal, once. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_COLUMNS_H
#define KDRI_COLUMNS_H

#include "matrix/linalg.h"

typedef struct kdri_columns {
	kdri_own x; /* the columns that differ, in the order of their first; none that is zeros throughout */
	double *copies; /* how many columns each of them stands for */
} kdri_columns;

/* Of a sparse x. *fewer: they are at most half of all; else nothing is made. */
kdr_status kdri_columns_once(kdr_context *ctx, const kdr_mat *x, kdri_columns *out, bool *fewer);
void kdri_columns_free(kdr_context *ctx, kdri_columns *c);

#endif
