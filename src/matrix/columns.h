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
/* The `count` columns of a sparse x with the most entries, the first ones of equals, in their order. `copies`: those of the
 * columns of x, or NULL for 1. */
kdr_status kdri_columns_most(kdr_context *ctx, const kdr_mat *x, const double *copies, int64_t count,
                             kdri_columns *out);
void kdri_columns_free(kdr_context *ctx, kdri_columns *c);

#endif
