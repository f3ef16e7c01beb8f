/* The CPU operations for k-means through a Gram matrix (methods/mtcfir/consistent.c). SPDX-License-Identifier:
 * BSD-3-Clause
 *
 * A row of A, which is contiguous, is added to the row of its cluster, one piece at a time so that it stays in the
 * cache. */
#include "matrix/cpu/cpu.h"

enum { PIECE = 512 };

/* Columns begin .. begin + count - 1 of all sums. */
static void group_piece(const kdri_block *a, const int32_t *label, const int32_t *before, int64_t begin,
                        int64_t count, const kdri_block *sums)
{
	double *to = (double *)sums->data + begin;
	for (int64_t j = 0; j < sums->rows && !before; j++)
		memset(to + j * sums->stride, 0, (size_t)count * sizeof *to);
	for (int64_t i = 0; i < a->rows; i++) {
		if (before && label[i] == before[i])
			continue;
		kdri_block row = kdri_block_part(*a, i, begin, 1, count);
		if (before)
			kdri_row_add(&row, -1, to + before[i] * sums->stride);
		kdri_row_add(&row, 1, to + label[i] * sums->stride);
	}
}

kdr_status kdri_cpu_group_rows(kdr_context *ctx, kdri_block a, const int32_t *label, const int32_t *before,
                               kdri_block sums)
{
	int64_t rows = a.rows;
	for (int64_t i = 0; i < a.rows && before; i++)
		rows -= label[i] == before[i];
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic) if (a.cols * rows > 1 << 14)
	for (int64_t begin = 0; begin < a.cols; begin += PIECE)
		group_piece(&a, label, before, begin, KDRI_MIN(PIECE, a.cols - begin), &sums);
	return KDR_OK;
}

kdr_status kdri_cpu_group_own(kdr_context *ctx, kdri_block sums, const int32_t *label, double *out)
{
	(void)ctx;
	for (int64_t i = 0; i < sums.cols; i++)
		out[i] = ((const double *)sums.data)[label[i] * sums.stride + i];
	return KDR_OK;
}

kdr_status kdri_cpu_group_closest(kdr_context *ctx, kdri_block sums, const double *diagonal,
                                  const double *size, const double *self, int32_t *next, double *away)
{
	const double *sum = sums.data;
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (sums.cols > 1024)
	for (int64_t i = 0; i < sums.cols; i++) {
		int32_t best = 0;
		double least = INFINITY;
		for (int64_t j = 0; j < sums.rows; j++) {
			double m = size[j];
			double v = m > 0 ? diagonal[i] - 2 * sum[j * sums.stride + i] / m + self[j] / (m * m)
			                 : INFINITY;
			if (v < least) {
				least = v;
				best = (int32_t)j;
			}
		}
		next[i] = best;
		away[i] = KDRI_MAX(least, 0);
	}
	return KDR_OK;
}
