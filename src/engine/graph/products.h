/* Inner products of all pairs of rows, never stored. SPDX-License-Identifier: BSD-3-Clause
 *
 *     kdri_products p = { 0 };
 *     KDRI_TRY(kdri_products_new(ctx, &x, &p));
 *     KDRI_TRY(kdri_products_rows(ctx, &p, 0, n, use, user));
 *     kdri_products_free(ctx, &p);
 */
#ifndef KDRI_PRODUCTS_H
#define KDRI_PRODUCTS_H

#include "linalg/linalg.h"

typedef struct kdri_products {
	kdr_mat x;        /* borrowed */
	kdri_own columns; /* sparse x: its transpose, the lists of rows that hold each feature */
	double *sums;     /* sparse x: a row of products for each thread */
	int threads;
} kdri_products;

kdr_status kdri_products_new(kdr_context *ctx, const kdr_mat *x, kdri_products *out);
void kdri_products_free(kdr_context *ctx, kdri_products *p);

/* Calls use(user, i, j, count, <x_i, x_j> .. <x_i, x_{j+count-1}>) until each row i in begin..end-1 has met
 * all rows. For each i the pieces come in increasing order of j and on one thread; different i run in
 * parallel, so `use` must neither allocate nor touch what belongs to another row. */
kdr_status kdri_products_rows(kdr_context *ctx, const kdri_products *p, int64_t begin, int64_t end,
                              kdri_tile_fn *use, void *user);

#endif
