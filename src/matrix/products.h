/* Inner products of pairs of rows, never stored. SPDX-License-Identifier: BSD-3-Clause
 *
 *     kdri_products p = { 0 };
 *     KDRI_TRY(kdri_products_new(ctx, &x, &p));
 *     KDRI_TRY(kdri_products_rows(ctx, &p, 0, n, use, user));
 *     kdri_products_free(ctx, &p);
 */
#ifndef KDRI_PRODUCTS_H
#define KDRI_PRODUCTS_H

#include "matrix/linalg.h"

typedef struct kdri_products {
	kdr_mat x, y;     /* borrowed; rows of x are multiplied by rows of y */
	kdri_own columns; /* sparse: the transpose of y, the lists of rows that have each feature */
	double *sums;     /* sparse: a row of products for each thread */
} kdri_products;

/* All pairs of rows of x. */
kdr_status kdri_products_new(kdr_context *ctx, const kdr_mat *x, kdri_products *out);
/* Rows of x with rows of y: both dense or both sparse, of the same width. */
kdr_status kdri_products_between(kdr_context *ctx, const kdr_mat *x, const kdr_mat *y, kdri_products *out);
void kdri_products_free(kdr_context *ctx, kdri_products *p);

/* Calls use(user, i, j, count, <x_i, y_j> .. <x_i, y_{j+count-1}>) until each row i in begin..end-1 of x has been
 * multiplied by all rows of y. For each i the pieces are passed in increasing order of j by one thread; different i run
 * in parallel, so that `use` must neither allocate nor access data of another row. */
kdr_status kdri_products_rows(kdr_context *ctx, const kdri_products *p, int64_t begin, int64_t end,
                              kdri_tile_fn *use, void *user);

#endif
