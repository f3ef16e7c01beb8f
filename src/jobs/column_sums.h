/* Sums over the columns of some rows. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_COLUMN_SUMS_H
#define KDRI_COLUMN_SUMS_H

#include "core/internal.h"

/* One number for each column, to which the rows are added. Only `sum` is required. */
typedef struct kdri_column_sums {
	double *sum, *square;
	double *present; /* stored entries other than 0 */
	double *missing; /* NaN; if it is set, the sums skip them */
	double *other;   /* dense data, with `missing`: values that are neither 0 nor 1, nor missing */
} kdri_column_sums;

/* Adds `count` rows of x: `rows`, or all if it is NULL. Every sum adds its entries in the order of the rows, so that the
 * sums are the same for any number of threads. Time: O(nnz); threads divide the columns among them. */
void kdri_column_sums_add(kdr_context *ctx, const kdr_mat *x, const int64_t *rows, int64_t count,
                          const kdri_column_sums *to);

#endif
