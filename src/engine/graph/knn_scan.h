/* Nearest neighbours by scanning all products, on any device. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_KNN_SCAN_H
#define KDRI_KNN_SCAN_H

#include "engine/graph/knn.h"
#include "matrix/device.h"

/* What knn.c ranks rows by. Rows of `asking` look at those of `asked`, which may be the same matrix; then none meets itself. */
typedef struct kdri_knn_scan {
	const kdr_mat *asking, *asked;
	const kdr_csr *lists; /* sparse: the transpose of `asked` */
	kdri_nn nn; /* score, magic, square, k, factors and shifts of all rows; index, best and held of all rows that ask */
	int64_t turns; /* rows that the longest rank has: all of them stop together */
	/* Called for rows that have their lists: they are complete. */
	void (*finish)(kdr_context *ctx, const void *user, int64_t begin, int64_t end);
	const void *user;
} kdri_knn_scan;

/* Fills index and best of the rows that ask. `device`: an accelerator may do it. *done: rows that have been looked at, fewer than all if
 * the scan was stopped. */
kdr_status kdri_knn_scan_rows(kdr_context *ctx, const kdri_knn_scan *s, bool device, int64_t *done);

/* Whether all pairs of rows can be looked at on the context's accelerator in a minute or so. */
kdr_status kdri_knn_device_pays(kdr_context *ctx, const kdr_mat *x, bool *out);

#endif
