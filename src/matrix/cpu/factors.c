/* The CPU operations for a symmetric factorisation (methods/mtcfir/snmf_steps.c). SPDX-License-Identifier:
 * BSD-3-Clause
 *
 * This file is compiled without support for errno and floating-point exception flags, so that loops with roots are
 * vectorised. */
#include "matrix/cpu/cpu.h"

static const double vanishing = 1e-100;

/* sum[c] += the sum of a_ic b_ic over rows. */
KDRI_KERNEL
static void add_products(const double *restrict a, int64_t lda, const double *restrict b, int64_t ldb,
                         int64_t rows, int64_t cols, double *restrict sum)
{
	for (int64_t i = 0; i < rows; i++)
		for (int64_t c = 0; c < cols; c++)
			sum[c] += a[i * lda + c] * b[i * ldb + c];
}

kdr_status kdri_cpu_column_dots(kdr_context *ctx, kdri_block a, kdri_block b, double *out)
{
	kdr_status st;
	int64_t chunks = kdri_chunks(a.rows);
	double *sums = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &sums, KDRI_MAX(chunks, 1) * a.cols));
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (a.rows * a.cols > 1 << 14)
	for (int64_t c = 0; c < chunks; c++) {
		int64_t begin = kdri_chunk_begin(a.rows, chunks, c);
		add_products((const double *)a.data + begin * a.stride, a.stride,
		             (const double *)b.data + begin * b.stride, b.stride,
		             kdri_chunk_begin(a.rows, chunks, c + 1) - begin, a.cols, sums + c * a.cols);
	}
	for (int64_t c = 1; c < chunks; c++)
		kdri_axpy(1, sums + c * a.cols, sums, a.cols);
	memcpy(out, sums, (size_t)a.cols * sizeof *out);
done:
	kdri_free(ctx, sums);
	return st;
}

KDRI_KERNEL
static void step_entries(const double *restrict y, const double *restrict top, const double *restrict bottom,
                         int64_t count, bool careful, double *restrict to)
{
	for (int64_t i = 0; i < count; i++) {
		double share = bottom[i] > 0 ? top[i] / bottom[i] : 1;
		double v = y[i] * sqrt(careful ? sqrt(share) : share);
		to[i] = v < vanishing ? 0 : v;
	}
}

kdr_status kdri_cpu_ratio_step(kdr_context *ctx, kdri_block y, kdri_block n, kdri_block d, bool careful,
                               kdri_block to)
{
	const double *from = y.data, *top = n.data, *bottom = d.data;
	double *out = to.data;
	/* Rows that follow each other without a gap are one. */
	bool packed = y.stride == y.cols && n.stride == y.cols && d.stride == y.cols && to.stride == y.cols;
	int64_t rows = packed ? KDRI_BLOCK : 1;
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (y.rows * y.cols > 1 << 14)
	for (int64_t i = 0; i < y.rows; i += rows) {
		int64_t count = KDRI_MIN(rows, y.rows - i) * y.cols;
		step_entries(from + i * y.stride, top + i * n.stride, bottom + i * d.stride, count, careful,
		             out + i * to.stride);
	}
	return KDR_OK;
}
