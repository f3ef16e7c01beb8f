/* Sums of a kernel over pairs of tasks, on the processor. SPDX-License-Identifier: BSD-3-Clause
 *
 * One pass over the lower triangle. The file is compiled with fused multiplications, and without regard to the flags of
 * floating-point exceptions. */
#include "matrix/cpu/cpu.h"
#include "matrix/logexp.h"

static int64_t task_of(const int64_t *begin, int64_t i)
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
	if (!v) /* a block without entries */
		return 0;
#pragma omp simd reduction(+ : sum)
	for (int64_t j = 0; j < count; j++)
		sum += v[j];
	return sum;
}

KDRI_KERNEL
static double sum_linearf(const float *v, int64_t count)
{
	double sum = 0;
	if (!v) /* a block without entries */
		return 0;
#pragma omp simd reduction(+ : sum)
	for (int64_t j = 0; j < count; j++)
		sum += (double)v[j];
	return sum;
}

KDRI_KERNEL
static double sum_gauss(const double *v, const double *square, int64_t count, double own, double factor)
{
	double sum = 0;
	if (!v) /* a block without entries */
		return 0;
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
	if (!v) /* a block without entries */
		return 0;
#pragma omp simd reduction(+ : sum)
	for (int64_t j = 0; j < count; j++) {
		float gap = (float)(own + square[j] - 2 * (double)v[j]), y = (gap > 0 ? gap : 0) * slope;
		sum += kdri_expf(-(y < 80 ? y : 80));
	}
	return (double)sum;
}

/* The sum of k(i, j) over j = begin .. end - 1. */
static double sum_piece(const kdri_block *k, const double *square, int64_t i, int64_t begin, int64_t end,
                        double factor)
{
	enum { PIECE = 512 };
	double sum = 0;
	for (int64_t at = begin; at < end; at += PIECE) {
		int64_t m = KDRI_MIN(PIECE, end - at);
		const double *v = k->floats ? NULL : (const double *)k->data + i * k->stride + at;
		const float *f = k->floats ? (const float *)k->data + i * k->stride + at : NULL;
		if (factor == 0)
			sum += v ? sum_linear(v, m) : sum_linearf(f, m);
		else
			sum += v ? sum_gauss(v, square + at, m, square[i], factor)
			         : sum_gaussf(f, square + at, m, square[i], factor);
	}
	return sum;
}

/* Adds the kernel of row i with all before it, twice for its own task, and with itself. */
static void add_row(const kdri_block *k, const double *square, const int64_t *begin, int64_t ntasks,
                    int64_t i, double factor, double *sums)
{
	int64_t t = task_of(begin, i);
	sums[t * ntasks + t] += factor > 0 ? 1 : square[i];
	for (int64_t s = 0; s <= t; s++) {
		double sum = sum_piece(k, square, i, begin[s], KDRI_MIN(begin[s + 1], i), factor);
		sums[t * ntasks + s] += s == t ? 2 * sum : sum;
	}
}

kdr_status kdri_cpu_kernel_sums(kdr_context *ctx, kdri_block k, const double *square, const int64_t *begin,
                                int64_t ntasks, double factor, double *sums)
{
	kdr_status st;
	int64_t n = begin[ntasks], size = ntasks * ntasks, chunks = kdri_chunks(n);
	double *parts = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &parts, size * chunks));
	/* Chunk c has every chunks-th row, because later rows are longer. */
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic)
	for (int64_t c = 0; c < chunks; c++)
		for (int64_t i = c; i < n; i += chunks)
			add_row(&k, square, begin, ntasks, i, factor, parts + c * size);
	for (int64_t c = 1; c < chunks; c++)
		kdri_axpy(1, parts + c * size, parts, size);
	memcpy(sums, parts, (size_t)size * sizeof *sums);
done:
	kdri_free(ctx, parts);
	return st;
}
