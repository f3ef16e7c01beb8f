/* Maximum mean discrepancy from a Gram matrix (from data: metrics/mmd.c). SPDX-License-Identifier: BSD-3-Clause
 *
 *   (E1)  m_ts = mean of k(x, y) over x in task t, y in task s
 *   (E2)  MMD^2(t, s) = m_tt + m_ss - 2 m_ts                              [Gretton et al., NIPS 2006], biased
 *
 * One pass over the lower triangle. */
#include "algo/parts/gram_mmd.h"

static int64_t task_of(const int64_t *begin, int64_t i)
{
	int64_t t = 0;
	while (i >= begin[t + 1])
		t++;
	return t;
}

/* The sum of exp(-factor gap), in single precision: 2^k e^r with |r| <= ln 2 / 2 (polynomial of Cephes, S. L.
 * Moshier). No branches, so that it is done in vectors. Partial sums are short. */
KDRI_KERNEL static double sum_exp(const float *gap, int64_t count, float factor)
{
	float sum[16] = { 0 }, total = 0;
	for (int64_t p = 0; p < count; p += 16)
		for (int64_t q = 0; q < 16; q++) {
			float y = p + q < count ? gap[p + q] * factor : 80, x = y < 80 ? y : 80;
			int32_t k = (int32_t)(x * 1.44269504089f + 0.5f), bits = (127 - k) << 23;
			float r = ((float)k * 0.693359375f - x) - (float)k * 2.12194440e-4f, power;
			memcpy(&power, &bits, sizeof power);
			float e = (((((1.9875691500e-4f * r + 1.3981999507e-3f) * r + 8.3334519073e-3f) * r +
			             4.1665795894e-2f) *
			                    r +
			            1.6666665459e-1f) *
			                   r +
			           5.0000001201e-1f) *
			                  r * r +
			          r + 1;
			sum[q] += p + q < count ? e * power : 0;
		}
	for (int64_t q = 0; q < 16; q++)
		total += sum[q];
	return (double)total;
}

/* The sum of k(i, j) over j = begin .. end - 1. */
static double sum_piece(const kdri_block *gram, const double *square, int64_t i, int64_t begin, int64_t end,
                        double factor)
{
	enum { PIECE = 512 };
	float gap[PIECE];
	double sum = 0;
	if (factor == 0) {
		for (int64_t j = begin; j < end; j++)
			sum += kdri_block_get(gram, i, j);
	} else if (!gram->single) {
		for (int64_t j = begin; j < end; j++)
			sum += exp(-factor *
			           KDRI_MAX(0.0, square[i] + square[j] - 2 * kdri_block_get(gram, i, j)));
	} else {
		const float *row = (const float *)gram->data + i * gram->stride;
		for (int64_t at = begin; at < end; at += PIECE) {
			int64_t m = KDRI_MIN(PIECE, end - at);
			for (int64_t j = 0; j < m; j++)
				gap[j] = (float)KDRI_MAX(0.0, square[i] + square[at + j] -
				                                      2 * (double)row[at + j]);
			sum += sum_exp(gap, m, (float)factor);
		}
	}
	return sum;
}

/* Adds the kernel of row i with all before it, twice for its own task, and with itself. */
static void add_row(const kdri_block *gram, const double *square, const int64_t *begin, int64_t ntasks,
                    int64_t i, double factor, double *sums)
{
	int64_t t = task_of(begin, i);
	sums[t * ntasks + t] += factor > 0 ? 1 : square[i];
	for (int64_t s = 0; s <= t; s++) {
		double sum = sum_piece(gram, square, i, begin[s], KDRI_MIN(begin[s + 1], i), factor);
		sums[t * ntasks + s] += s == t ? 2 * sum : sum;
	}
}

kdr_status kdri_gram_mmd(kdr_context *ctx, const kdri_block *gram, const int64_t *begin, int64_t ntasks,
                         double sigma, double *out)
{
	kdr_status st;
	int64_t n = begin[ntasks], size = ntasks * ntasks, chunks = kdri_chunks(n);
	double *sums = NULL, *square = NULL, factor = sigma > 0 ? 1 / (2 * sigma * sigma) : 0;
	KDR_TRY(KDRI_NEW0(ctx, &sums, size * chunks));
	KDR_TRY(KDRI_NEW(ctx, &square, n));
	for (int64_t i = 0; i < n; i++)
		square[i] = kdri_block_get(gram, i, i);
		/* Chunk c takes every chunks-th row: the later ones are longer. */
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic)
	for (int64_t c = 0; c < chunks; c++)
		for (int64_t i = c; i < n; i += chunks)
			add_row(gram, square, begin, ntasks, i, factor, sums + c * size);
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
	kdri_free(ctx, square);
	return st;
}
