/* Distinct columns of a matrix. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_COLUMNS_H
#define KDRI_COLUMNS_H

#include "matrix/linalg.h"

typedef struct kdri_columns {
	kdri_own x;     /* the distinct columns, in order of first appearance, without columns of zeros */
	double *copies; /* how many columns are equal to each of them */
} kdri_columns;

/* For a sparse x. *fewer: they are at most half of all columns; otherwise nothing is computed. */
kdr_status kdri_columns_once(kdr_context *ctx, const kdr_mat *x, kdri_columns *out, bool *fewer);
void kdri_columns_free(kdr_context *ctx, kdri_columns *c);

#endif
