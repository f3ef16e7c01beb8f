/* The processor's operations on single entries. SPDX-License-Identifier: BSD-3-Clause */
#include "matrix/cpu/cpu.h"

/* Entries below which a pass costs less than waking the threads. */
enum { SERIAL_ENTRIES = 1 << 14 };

kdr_status kdri_cpu_fill(kdr_context *ctx, kdri_block a, double value)
{
	(void)ctx;
	for (int64_t i = 0; i < a.rows; i++)
		for (int64_t j = 0; j < a.cols; j++)
			kdri_block_set(&a, i, j, value);
	return KDR_OK;
}

kdr_status kdri_cpu_copy(kdr_context *ctx, kdri_block from, kdri_block to)
{
	size_t size = from.floats ? sizeof(float) : sizeof(double);
	return kdri_cpu.put(ctx, &kdri_cpu, to.data, (size_t)to.stride * size, from.data,
	                    (size_t)from.stride * size, (size_t)from.cols * size, (size_t)from.rows);
}

/* Row j of the upper triangle, from column begin to end - 1, from a column of the lower. */
static void mirror_piece(const kdri_block *c, int64_t j, int64_t begin, int64_t end)
{
	if (c->floats) {
		float *v = c->data;
		for (int64_t i = begin; i < end; i++)
			v[j * c->stride + i] = v[i * c->stride + j];
	} else {
		double *v = c->data;
		for (int64_t i = begin; i < end; i++)
			v[j * c->stride + i] = v[i * c->stride + j];
	}
}

kdr_status kdri_cpu_mirror(kdr_context *ctx, kdri_block a)
{
	/* A tile of each triangle stays in the nearest cache. Writes run along rows: processors follow fewer pages
	 * that are written than that are read. */
	enum { SIDE = 32 };
	int64_t n = a.rows, side = (n + SIDE - 1) / SIDE;
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic) if (n > 256)
	for (int64_t row = 0; row < side; row++)
		for (int64_t j = 0; j < KDRI_MIN(n, (row + 1) * SIDE); j++)
			mirror_piece(&a, j, KDRI_MAX(j + 1, row * SIDE), KDRI_MIN(n, (row + 1) * SIDE));
	return KDR_OK;
}

kdr_status kdri_cpu_clip(kdr_context *ctx, kdri_block a)
{
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (a.rows * a.cols > SERIAL_ENTRIES)
	for (int64_t i = 0; i < a.rows; i++)
		for (int64_t j = 0; j < a.cols; j++) {
			double v = kdri_block_get(&a, i, j);
			kdri_block_set(&a, i, j, v > 0 ? v : 0);
		}
	return KDR_OK;
}

kdr_status kdri_cpu_take(kdr_context *ctx, kdri_block a, const int64_t *index, int64_t count, double *out)
{
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (count > 128)
	for (int64_t i = 0; i < count; i++)
		for (int64_t j = 0; j < count; j++)
			out[i * count + j] = kdri_block_get(&a, index[i], index[j]);
	return KDR_OK;
}

kdr_status kdri_cpu_similarity(kdr_context *ctx, kdri_block k, const double *square, double factor)
{
	kdr_status st;
	const bool gauss = factor >= 0;
	int64_t n = k.rows;
	double *scale = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &scale, n));
	for (int64_t i = 0; i < n; i++)
		scale[i] = square[i] > 0 ? 1 / sqrt(square[i]) : 0;
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic, 16)
	for (int64_t i = 0; i < n; i++) {
		for (int64_t j = 0; j < i && !gauss; j++)
			kdri_block_set(&k, i, j, kdri_block_get(&k, i, j) * scale[i] * scale[j]);
		for (int64_t j = 0; j < i && gauss; j++) {
			double gap = square[i] + square[j] - 2 * kdri_block_get(&k, i, j);
			kdri_block_set(&k, i, j, exp(-factor * KDRI_MAX(0.0, gap)));
		}
		kdri_block_set(&k, i, i, gauss || square[i] > 0);
	}
	KDRI_TRY(kdri_cpu_mirror(ctx, k));
done:
	kdri_free(ctx, scale);
	return st;
}
