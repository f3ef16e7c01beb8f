/* How far apart the samples of two data sets are. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_APART_H
#define KDRI_APART_H

#include "matrix/linalg.h"

/* At most that many samples of a data set are compared; below that many it is not defined. */
enum { KDRI_APART_MOST = 1000, KDRI_APART_LEAST = 4 };
/* Below the first, data sets are alike; below the second, related; otherwise apart. */
#define KDRI_APART_ALIKE   0.55
#define KDRI_APART_RELATED 0.65

/* (E3) of apart.c for the rows of t, compared with those of j: 0.5 if they are alike, 1 if they are apart. NaN if j has fewer than
 * KDRI_APART_LEAST rows or t none. Rows of data sets with more than KDRI_APART_MOST rows are drawn, always the same ones. O(nnz) for the
 * directions and O(rows of t x rows of j). */
kdr_status kdri_apart_find(kdr_context *ctx, const kdr_mat *t, const kdr_mat *j, double *out);

/* rows[0 .. *count - 1], increasing: at most KDRI_APART_MOST of n rows, always the same ones; the caller frees it. */
kdr_status kdri_apart_rows(kdr_context *ctx, int64_t n, int64_t **rows, int64_t *count);

/* "alike", "related", "apart"; "" if it is not defined. */
const char *kdri_apart_word(double apart);

#endif
