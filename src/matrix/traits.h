/* Properties of the entries of a matrix, from one pass over them. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_TRAITS_H
#define KDRI_TRAITS_H

#include "core/internal.h"

/* Start with { 0 }. Rows of zeros count in `cells` and `cols` only. */
typedef struct kdri_traits {
	int64_t cols; /* of the widest matrix */
	double cells; /* rows times columns, exact up to 2^53 */
	double nonzero;
	bool negative;              /* some entry is below 0 */
	bool fractional;            /* some entry is not a whole number */
	int64_t rows;               /* with an entry that is not 0 */
	double largest;             /* entry, at least 0 */
	int64_t at_largest;         /* rows that contain it */
	int64_t thousand;           /* rows with a sum of 1000 or more */
	double least_sum, most_sum; /* sums of rows */
} kdri_traits;

/* Adds the entries of x to *t. On several ranks each has some rows of x, and *t counts those of all. A matrix of the problem that
 * kdr_fit has inspected is not read again. */
kdr_status kdri_traits_add(kdr_context *ctx, const kdr_mat *x, kdri_traits *t);

#endif
