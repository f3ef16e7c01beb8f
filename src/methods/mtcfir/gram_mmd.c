/* Maximum mean discrepancy from a Gram matrix (from data: engine/metrics/mmd.c). SPDX-License-Identifier: BSD-3-Clause
 *
 *   (E1)  m_ts = mean of k(x, y) over x in task t, y in task s
 *   (E2)  MMD^2(t, s) = m_tt + m_ss - 2 m_ts                              [Gretton et al., NIPS 2006], biased
 *
 * One pass over the lower triangle. */
#include "methods/mtcfir/gram_mmd.h"

#include "matrix/logexp.h"

static int64_t gram_mmd_task_of(const int64_t *begin, int64_t i)
{
	int64_t t = 0;
	while (i >= begin[t + 1])
		t++;
	return t;
}

/* Sums of k(i, j) over a piece of row i, v[j] = <x_i, x_j>: linear, then Gaussian with |x_i - x_j|^2 = own +
 * square_j - 2 v_j. No branches, so that they are done in vectors. In single precision the pieces are short. */
KDRI_KERNEL
static double sum_linear(const double *v, int64_t count)
{
	double sum = 0;
#pragma omp simd reduction(+ : sum)
	for (int64_t j = 0; j < count; j++)
		sum += v[j];
	return sum;
}

KDRI_KERNEL
static double sum_linearf(const float *v, int64_t count)
{
	double sum = 0;
#pragma omp simd reduction(+ : sum)
	for (int64_t j = 0; j < count; j++)
		sum += (double)v[j];
	return sum;
}

KDRI_KERNEL
static double sum_gauss(const double *v, const double *square, int64_t count, double own, double factor)
{
	double sum = 0;
#pragma omp simd reduction(+ : sum)
	for (int64_t j = 0; j < count; j++) {
		double gap = own + square[j] - 2 * v[j];
		sum += kdri_exp(-factor * (gap > 0 ? gap : 0));
	}
	return sum;
}

KDRI_KERNEL
static double sum_gaussf(const float *v, const double *square, int64_t count, double own, double factor)
{
	float sum = 0, slope = (float)factor;
#pragma omp simd reduction(+ : sum)
	for (int64_t j = 0; j < count; j++) {
		float gap = (float)(own + square[j] - 2 * (double)v[j]), y = (gap > 0 ? gap : 0) * slope;
		sum += kdri_expf(-(y < 80 ? y : 80));
	}
	return (double)sum;
}

/* The sum of k(i, j) over j = begin .. end - 1. */
static double sum_piece(const kdri_block *gram, const double *square, int64_t i, int64_t begin, int64_t end,
                        double factor)
{
	enum { PIECE = 512 };
	double sum = 0;
	for (int64_t at = begin; at < end; at += PIECE) {
		int64_t m = KDRI_MIN(PIECE, end - at);
		const double *v = gram->floats ? NULL : (const double *)gram->data + i * gram->stride + at;
		const float *f = gram->floats ? (const float *)gram->data + i * gram->stride + at : NULL;
		if (factor == 0)
			sum += v ? sum_linear(v, m) : sum_linearf(f, m);
		else
			sum += v ? sum_gauss(v, square + at, m, square[i], factor)
			         : sum_gaussf(f, square + at, m, square[i], factor);
	}
	return sum;
}

/* Adds the kernel of row i with all before it, twice for its own task, and with itself. */
static void gram_mmd_add_row(const kdri_block *gram, const double *square, const int64_t *begin,
                             int64_t ntasks, int64_t i, double factor, double *sums)
{
	int64_t t = gram_mmd_task_of(begin, i);
	sums[t * ntasks + t] += factor > 0 ? 1 : square[i];
	for (int64_t s = 0; s <= t; s++) {
		double sum = sum_piece(gram, square, i, begin[s], KDRI_MIN(begin[s + 1], i), factor);
		sums[t * ntasks + s] += s == t ? 2 * sum : sum;
	}
}

void kdri_mmd_of_sums(const int64_t *begin, int64_t ntasks, double *sums, double *out)
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

kdr_status kdri_gram_mmd(kdr_context *ctx, const kdri_block *gram, const int64_t *begin, int64_t ntasks,
                         double sigma, double *out)
{
	kdr_status st;
	int64_t n = begin[ntasks], size = ntasks * ntasks, chunks = kdri_chunks(n);
	double *sums = NULL, *square = NULL, factor = sigma > 0 ? 1 / (2 * sigma * sigma) : 0;
	KDRI_TRY(KDRI_NEW0(ctx, &sums, size * chunks));
	KDRI_TRY(KDRI_NEW(ctx, &square, n));
	for (int64_t i = 0; i < n; i++)
		square[i] = kdri_block_get(gram, i, i);
		/* Chunk c takes every chunks-th row: the later ones are longer. */
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic)
	for (int64_t c = 0; c < chunks; c++)
		for (int64_t i = c; i < n; i += chunks)
			gram_mmd_add_row(gram, square, begin, ntasks, i, factor, sums + c * size);
	for (int64_t c = 1; c < chunks; c++)
		kdri_axpy(1, sums + c * size, sums, size);
	kdri_mmd_of_sums(begin, ntasks, sums, out);
done:
	kdri_free(ctx, sums);
	kdri_free(ctx, square);
	return st;
}
