/* Nearest neighbours by scanning all products, on any device. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_KNN_SCAN_H
#define KDRI_KNN_SCAN_H

#include "engine/graph/knn.h"
#include "matrix/device.h"

/* How knn.c ranks rows. Neighbours of the rows of `queries` are searched among those of `candidates`, which may be the same
 * matrix; no row is then its own neighbour. */
typedef struct kdri_knn_scan {
	const kdr_mat *queries, *candidates;
	const kdr_csr *lists; /* sparse: the transpose of `candidates` */
	kdri_nn nn; /* score, magic, square, k, factors and shifts of all rows; index, best and held of all rows of
		       `queries` */
	int64_t turns; /* the largest number of rows of a rank, because all ranks stop together */
	/* Called for rows whose lists are complete. */
	void (*finish)(kdr_context *ctx, const void *user, int64_t begin, int64_t end);
	const void *user;
} kdri_knn_scan;

/* Fills index and best of the rows of `queries`. `device`: an accelerator may be used. *done: the number of rows
 * processed, fewer than all if the scan was stopped. */
kdr_status kdri_knn_scan_rows(kdr_context *ctx, const kdri_knn_scan *s, bool device, int64_t *done);

#endif
