/* Maximum mean discrepancy. SPDX-License-Identifier: BSD-3-Clause
 *
 *   (E1)  m_ts = mean of k(x, y) over x in task t, y in task s
 *   (E2)  MMD^2(t, s) = m_tt + m_ss - 2 m_ts                              [Gretton et al., NIPS 2006], biased
 *
 * One pass over the lower triangle. */
#include "algo/parts/mmd.h"

static int64_t task_of(const int64_t *begin, int64_t i)
{
	int64_t t = 0;
	while (i >= begin[t + 1])
		t++;
	return t;
}

/* Adds the kernel of row i with all before it, twice for its own task, and with itself. */
static void add_row(const kdri_block *gram, const int64_t *begin, int64_t ntasks, int64_t i, double factor,
                    double *sums)
{
	int64_t t = task_of(begin, i);
	double own = kdri_block_get(gram, i, i);
	sums[t * ntasks + t] += factor > 0 ? 1 : own;
	for (int64_t s = 0; s <= t; s++) {
		double sum = 0;
		for (int64_t j = begin[s]; j < KDRI_MIN(begin[s + 1], i); j++) {
			double v = kdri_block_get(gram, i, j);
			sum += factor > 0 ? exp(-factor *
			                        KDRI_MAX(0.0, own + kdri_block_get(gram, j, j) - 2 * v))
			                  : v;
		}
		sums[t * ntasks + s] += s == t ? 2 * sum : sum;
	}
}

kdr_status kdri_gram_mmd(kdr_context *ctx, const kdri_block *gram, const int64_t *begin, int64_t ntasks,
                         double sigma, double *out)
{
	kdr_status st;
	int64_t n = begin[ntasks], size = ntasks * ntasks, chunks = kdri_chunks(n);
	double *sums = NULL, factor = sigma > 0 ? 1 / (2 * sigma * sigma) : 0;
	KDR_TRY(KDRI_NEW0(ctx, &sums, size * chunks));
	/* Chunk c takes every chunks-th row: the later ones are longer. */
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic)
	for (int64_t c = 0; c < chunks; c++)
		for (int64_t i = c; i < n; i += chunks)
			add_row(gram, begin, ntasks, i, factor, sums + c * size);
	for (int64_t c = 1; c < chunks; c++)
		kdri_axpy(1, sums + c * size, sums, size);
	for (int64_t t = 0; t < ntasks; t++)
		for (int64_t s = 0; s <= t; s++)
			sums[t * ntasks + s] /= (double)(begin[t + 1] - begin[t]) *
			                        (double)(begin[s + 1] - begin[s]); /* (E1) */
	for (int64_t t = 0; t < ntasks; t++)
		for (int64_t s = 0; s <= t; s++) {
			double v = sums[t * ntasks + t] + sums[s * ntasks + s] - 2 * sums[t * ntasks + s];
			out[t * ntasks + s] = out[s * ntasks + t] = s == t ? 0 : KDRI_MAX(v, 0); /* (E2) */
		}
done:
	kdri_free(ctx, sums);
	return st;
}
