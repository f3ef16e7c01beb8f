/* The CPU as a device: its memory is that of the context, and transfers are copies. SPDX-License-Identifier:
 * BSD-3-Clause */
#include "matrix/cpu/cpu.h"

static kdr_status cpu_alloc(kdr_context *ctx, kdri_device *d, size_t bytes, void **out)
{
	(void)d;
	return kdri_alloc(ctx, out, (int64_t)bytes, 1);
}

static void cpu_release(kdr_context *ctx, kdri_device *d, void *data)
{
	(void)d;
	kdri_free(ctx, data);
}

/* Sizes that are too large fail when they are allocated. */
static size_t cpu_room(kdri_device *d)
{
	(void)d;
	return SIZE_MAX;
}

static kdr_status cpu_move(kdr_context *ctx, kdri_device *d, void *to, size_t pitch, const void *from,
                           size_t from_pitch, size_t width, size_t rows)
{
	(void)ctx;
	(void)d;
	for (size_t i = 0; i < rows; i++)
		memcpy((char *)to + i * pitch, (const char *)from + i * from_pitch, width);
	return KDR_OK;
}

static kdr_status cpu_get(kdr_context *ctx, kdri_device *d, const void *from, size_t pitch, void *to,
                          size_t host_pitch, size_t width, size_t rows)
{
	return cpu_move(ctx, d, to, host_pitch, from, pitch, width, rows);
}

kdri_device kdri_cpu = {
	.abi = KDRI_DEVICE_ABI,
	.kind = "cpu",
	.most_columns = 32, /* a strip of the sparse product: matrix/sparse.c */
	.alloc = cpu_alloc,
	.release = cpu_release,
	.room = cpu_room,
	.put = cpu_move,
	.get = cpu_get,
	.fill = kdri_cpu_fill,
	.copy = kdri_cpu_copy,
	.mirror = kdri_cpu_mirror,
	.clip = kdri_cpu_clip,
	.take = kdri_cpu_take,
	.gemm = kdri_block_gemm,
	.syrk = kdri_block_syrk,
	.inverse = kdri_cpu_inverse,
	.apply = kdri_cpu_apply,
	.times = kdri_cpu_times,
	.row_dots = kdri_cpu_row_dots,
	.multiply = kdri_cpu_multiply,
	.gram = kdri_cpu_gram,
	.centre = kdri_cpu_centre,
	.moments = kdri_cpu_moments,
	.tanh = kdri_cpu_tanh,
	.tanh_rows = kdri_cpu_tanh_rows,
	.adjust = kdri_cpu_adjust,
	.complement = kdri_cpu_complement,
	.similarity = kdri_cpu_similarity,
	.kernel_sums = kdri_cpu_kernel_sums,
	.row_nth = kdri_cpu_row_nth,
	.row_squares = kdri_cpu_row_squares,
	.square = kdri_cpu_square,
	.count_from = kdri_cpu_count_from,
	.neighbour_limits = kdri_cpu_neighbour_limits,
	.neighbour_weights = kdri_cpu_neighbour_weights,
	.column_dots = kdri_cpu_column_dots,
	.ratio_step = kdri_cpu_ratio_step,
	.group_rows = kdri_cpu_group_rows,
	.group_own = kdri_cpu_group_own,
	.group_closest = kdri_cpu_group_closest,
	.neighbours = kdri_cpu_neighbours,
};
