/* The processor's operations on rows: sums, order statistics, weights of neighbours. SPDX-License-Identifier: BSD-3-Clause */
#include "matrix/cpu/cpu.h"

#include "matrix/select.h"
#include "matrix/weights.h"

kdr_status kdri_cpu_row_nth(kdr_context *ctx, kdri_block a, int64_t place, double *out)
{
	kdr_status st;
	double *room = NULL;
	int64_t size;
	KDRI_TRY(kdri_mul(ctx, a.cols, ctx->threads, &size));
	KDRI_TRY(KDRI_NEW(ctx, &room, size));
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic, 16)
	for (int64_t i = 0; i < a.rows; i++) {
		double *row = room + kdri_thread() * a.cols;
		kdri_block_read(&a, i, 0, a.cols, row);
		out[i] = kdri_nth(row, a.cols, place);
	}
done:
	kdri_free(ctx, room);
	return st;
}

kdr_status kdri_cpu_row_squares(kdr_context *ctx, kdri_block a, double *out)
{
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static)
	for (int64_t i = 0; i < a.rows; i++) {
		kdri_block row = kdri_block_part(a, i, 0, 1, a.cols);
		out[i] = kdri_row_squares(&row);
	}
	return KDR_OK;
}

kdr_status kdri_cpu_square(kdr_context *ctx, kdri_block a, double *out)
{
	double part[KDRI_CHUNKS];
	int64_t chunks = kdri_chunks(a.rows);
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static)
	for (int64_t c = 0; c < chunks; c++) {
		int64_t end = kdri_chunk_begin(a.rows, chunks, c + 1);
		part[c] = 0;
		for (int64_t i = kdri_chunk_begin(a.rows, chunks, c); i < end; i++)
			for (int64_t j = 0; j < a.cols; j++) {
				double v = kdri_block_get(&a, i, j);
				part[c] += v * v;
			}
	}
	*out = 0;
	for (int64_t c = 0; c < chunks; c++)
		*out += part[c];
	return KDR_OK;
}

kdr_status kdri_cpu_count_from(kdr_context *ctx, kdri_block a, double least, int64_t *out)
{
	int64_t count = 0;
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) reduction(+ : count)
	for (int64_t i = 0; i < a.rows; i++) {
		kdri_block row = kdri_block_part(a, i, 0, 1, a.cols);
		count += kdri_row_count_from(&row, least);
	}
	*out = count;
	return KDR_OK;
}

/* a = own + norm - 2 a, at least 0. */
KDRI_KERNEL
static void find_distances(const double *norm, double own, int64_t n, double *a)
{
	for (int64_t j = 0; j < n; j++) {
		double v = own + norm[j] - 2 * a[j];
		a[j] = v > 0 ? v : 0;
	}
}

/* A row of distances for each thread, and the same amount of scratch memory. */
static kdr_status distance_room(kdr_context *ctx, int64_t n, double **out)
{
	int64_t size;
	KDRI_DO(kdri_mul(ctx, 2 * n, ctx->threads, &size));
	return KDRI_NEW(ctx, out, size);
}

/* Distances of row r of c, in this thread's room. */
static double *distances_of(const kdri_block *c, int64_t r, double own, const double *norm, double *room)
{
	double *a = room + kdri_thread() * 2 * c->cols;
	kdri_block_read(c, r, 0, c->cols, a);
	find_distances(norm, own, c->cols, a);
	return a;
}

kdr_status kdri_cpu_neighbour_limits(kdr_context *ctx, kdri_block c, int64_t first, const double *norm,
                                     int64_t place, double tie, double *least, double *bound, int64_t *count)
{
	kdr_status st;
	double *room = NULL;
	KDRI_TRY(distance_room(ctx, c.cols, &room));
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic, 16)
	for (int64_t r = 0; r < c.rows; r++) {
		const double own = norm[first + r];
		double *a = distances_of(&c, r, own, norm, room), *beside = a + c.cols;
		kdri_limits l = kdri_limits_of(a, c.cols, first + r, place, tie * own, beside);
		count[r] = kdri_weigh(&l, a, c.cols, first + r, tie * own, beside);
		least[r] = l.least;
		bound[r] = l.bound;
	}
done:
	kdri_free(ctx, room);
	return st;
}

kdr_status kdri_cpu_neighbour_weights(kdr_context *ctx, kdri_block c, int64_t first, const double *norm,
                                      double tie, const double *least, const double *bound,
                                      const int64_t *starts, int32_t *col, double *val)
{
	kdr_status st;
	double *room = NULL;
	KDRI_TRY(distance_room(ctx, c.cols, &room));
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic, 16)
	for (int64_t r = 0; r < c.rows; r++) {
		const double own = norm[first + r];
		const kdri_limits l = { least[r], bound[r], bound[r] - least[r] <= tie * own };
		double *a = distances_of(&c, r, own, norm, room), *weight = a + c.cols;
		int64_t at = starts[r];
		kdri_weigh(&l, a, c.cols, first + r, tie * own, weight);
		for (int64_t j = 0; j < c.cols; j++)
			if (weight[j] > 0) {
				col[at] = (int32_t)j;
				val[at++] = weight[j];
			}
	}
done:
	kdri_free(ctx, room);
	return st;
}
