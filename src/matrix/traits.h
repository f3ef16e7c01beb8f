/* Properties of the entries of a matrix, from one pass over them. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_TRAITS_H
#define KDRI_TRAITS_H

#include "core/internal.h"

/* Start with { 0 }. Rows of zeros count in `cells` and `cols` only. If `infinite` is set, the sums, extremes and
 * other flags are undefined. */
typedef struct kdri_traits {
	int64_t cols; /* of the widest matrix */
	double cells; /* rows times columns, exact up to 2^53 */
	double nonzero;
	bool infinite;              /* some entry is not a finite number */
	bool negative;              /* some entry is below 0 */
	bool fractional;            /* some entry is not an integer */
	int64_t rows;               /* with an entry that is not 0 */
	double magnitude;           /* largest absolute value */
	double largest;             /* entry, at least 0 */
	int64_t at_largest;         /* rows that contain it */
	int64_t thousand;           /* rows with a sum of 1000 or more */
	double least_sum, most_sum; /* sums of rows */
} kdri_traits;

/* Matrices whose traits are known, and which do not change in the meantime: those of a problem while a job or a fit
 * works on it. */
typedef struct kdri_inspected {
	int64_t count;
	kdr_mat *x; /* borrows the entries */
	kdri_traits *traits;
	const struct kdri_inspected *before;
	struct kdri_kept *kept; /* kept.h; or NULL */
} kdri_inspected;

/* Inspects the tasks of a problem. The context has their traits until kdri_inspect_end with the same `seen`, which
 * starts as { 0 }. kdri_inspect_end may be called without a preceding inspection. */
kdr_status kdri_inspect(kdr_context *ctx, const kdr_problem *problem, kdri_inspected *seen);
void kdri_inspect_end(kdr_context *ctx, kdri_inspected *seen);

/* The traits of the rows here: known, or from a pass over x. */
kdri_traits kdri_traits_here(kdr_context *ctx, const kdr_mat *x);
/* Adds those of the rows of x on all ranks to *t. All ranks call it. */
kdr_status kdri_traits_add(kdr_context *ctx, const kdr_mat *x, kdri_traits *t);

#endif
