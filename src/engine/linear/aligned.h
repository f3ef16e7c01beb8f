/* Several sets of samples in the directions they share, each minus its own mean. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_ALIGNED_H
#define KDRI_ALIGNED_H

#include "api/method.h"
#include "matrix/linalg.h"

/* Rows begin[t] .. begin[t + 1] - 1 of x are set t. Everything is borrowed. */
typedef struct kdri_sets {
	const kdr_mat *x;
	int64_t count;
	const int64_t *begin; /* count + 1 */
} kdri_sets;

/* Means of the sets: count x d. */
kdr_status kdri_sets_means(kdr_context *ctx, const kdri_sets *sets, double *means);

/* out (n x width), owned by the caller: coordinates along the leading directions of all rows, each minus its set's row
 * of `means` and scaled to unit length, again scaled to unit rows; rows without a direction are zeros. Sparse data stay
 * sparse. most: if there are more rows, the directions are found from this many of them, drawn with the seed; 0: from
 * all. */
kdr_status kdri_aligned_new(kdr_context *ctx, const kdri_sets *sets, const double *means, int64_t width,
                            int64_t most, double **out);
/* The number of directions of E: at most the given number, d, and n - 2. */
enum { KDRI_ALIGNED_MOST = 100 };
int64_t kdri_aligned_width(const kdri_sets *sets);

#endif
