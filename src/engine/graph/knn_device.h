/* Nearest neighbours on a device. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_KNN_DEVICE_H
#define KDRI_KNN_DEVICE_H

#include "engine/graph/knn.h"

/* What knn.c ranks rows by: see `search` there. */
typedef struct kdri_knn_scores {
	const kdr_mat *x;
	const kdr_csr *lists; /* sparse x: x' */
	int64_t k;
	kdri_metric metric;
	const double *factor, *shift;
	double square, magic;
	int32_t *index; /* n x k, to be filled */
	double *score;
} kdri_knn_scores;

/* Fills index and score of rows 0 .. *done - 1 on the context's device: none without one, or where
 * some score compares with nothing; fewer than all where it was asked to stop. */
kdr_status kdri_knn_on_device(kdr_context *ctx, const kdri_knn_scores *s, int64_t *done);

/* Whether all pairs of rows can be looked at on the context's device in a minute or so. */
kdr_status kdri_knn_device_pays(kdr_context *ctx, const kdr_mat *x, bool *out);

#endif
