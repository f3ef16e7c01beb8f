/* Maximum mean discrepancy from a Gram matrix (from data: engine/metrics/mmd.c). SPDX-License-Identifier: BSD-3-Clause
 *
 *   (E1)  m_ts = mean of k(x, y) over x in task t, y in task s
 *   (E2)  MMD^2(t, s) = m_tt + m_ss - 2 m_ts                              [Gretton et al., NIPS 2006], biased
 */
#include "methods/mtcfir/gram_mmd.h"

/* From the sums of k(x, y) over tasks t >= s; they become means. */
static void mmd_of_sums(const int64_t *begin, int64_t ntasks, double *sums, double *out)
{
	for (int64_t t = 0; t < ntasks; t++)
		for (int64_t s = 0; s <= t; s++)
			sums[t * ntasks + s] /= (double)(begin[t + 1] - begin[t]) *
			                        (double)(begin[s + 1] - begin[s]); /* (E1) */
	for (int64_t t = 0; t < ntasks; t++)
		for (int64_t s = 0; s <= t; s++) {
			double v = sums[t * ntasks + t] + sums[s * ntasks + s] - 2 * sums[t * ntasks + s];
			out[t * ntasks + s] = out[s * ntasks + t] = s == t ? 0 : KDRI_MAX(v, 0); /* (E2) */
		}
}

kdr_status kdri_gram_mmd(kdr_context *ctx, kdri_block gram, const int64_t *begin, int64_t ntasks,
                         double sigma, double *out)
{
	kdr_status st;
	double *sums = NULL, *square = NULL, factor = sigma > 0 ? 1 / (2 * sigma * sigma) : 0;
	KDRI_TRY(KDRI_NEW0(ctx, &sums, ntasks * ntasks));
	KDRI_TRY(KDRI_NEW(ctx, &square, begin[ntasks]));
	KDRI_TRY(kdri_block_diagonal(ctx, gram, square));
	KDRI_OP(ctx, gram.dev, kernel_sums, gram, square, begin, ntasks, factor, sums);
	mmd_of_sums(begin, ntasks, sums, out);
done:
	kdri_free(ctx, sums);
	kdri_free(ctx, square);
	return st;
}
