/* The CPU as a device: its memory is that of the context, and transfers are copies. SPDX-License-Identifier:
 * BSD-3-Clause */
#include "matrix/cpu/cpu.h"
#include "matrix/blas.h"
#include "matrix/linalg.h"

/* The processor's operations on single entries. */

/* Entries below which a pass costs less than waking the threads. */
enum { SERIAL_ENTRIES = 1 << 14 };

static kdr_status cpu_fill(kdr_context *ctx, kdri_block a, double value)
{
	(void)ctx;
	for (int64_t i = 0; i < a.rows; i++)
		for (int64_t j = 0; j < a.cols; j++)
			kdri_block_set(&a, i, j, value);
	return KDR_OK;
}

static kdr_status cpu_copy(kdr_context *ctx, kdri_block from, kdri_block to)
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

static kdr_status cpu_mirror(kdr_context *ctx, kdri_block a)
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

static kdr_status cpu_clip(kdr_context *ctx, kdri_block a)
{
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (a.rows * a.cols > SERIAL_ENTRIES)
	for (int64_t i = 0; i < a.rows; i++)
		for (int64_t j = 0; j < a.cols; j++) {
			double v = kdri_block_get(&a, i, j);
			kdri_block_set(&a, i, j, v > 0 ? v : 0);
		}
	return KDR_OK;
}

static kdr_status cpu_take(kdr_context *ctx, kdri_block a, const int64_t *index, int64_t count, double *out)
{
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (count > 128)
	for (int64_t i = 0; i < count; i++)
		for (int64_t j = 0; j < count; j++)
			out[i * count + j] = kdri_block_get(&a, index[i], index[j]);
	return KDR_OK;
}

static kdr_status cpu_similarity(kdr_context *ctx, kdri_block k, const double *square, double factor)
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
	KDRI_TRY(cpu_mirror(ctx, k));
done:
	kdri_free(ctx, scale);
	return st;
}

/* The processor's products of blocks with vectors and of sparse rows; those of blocks are in product.c. */

enum { WIDEN_ROWS = 64, WIDEN_COLS = 1024, SINGLE_ROWS = 128 };

static kdr_status cpu_inverse(kdr_context *ctx, kdri_block a)
{
	KDRI_DO(kdri_cholesky(ctx, a.rows, a.data, a.stride));
	return kdri_cholesky_inverse(ctx, a.rows, a.data, a.stride);
}

kdr_status kdri_block_mul(kdr_context *ctx, kdri_block a, const double *x, int64_t k, int64_t ldx, double *y,
                          int64_t ldy)
{
	kdr_status st;
	double *room = NULL;
	if (!a.floats)
		return kdri_gemm(ctx, false, false, a.rows, k, a.cols, 1, a.data, a.stride, x, ldx, 0, y,
		                 ldy);
	KDRI_TRY(kdri_blas_int(ctx, KDRI_MAX(ldx, ldy), "the stride of a matrix"));
	KDRI_TRY(KDRI_NEW(ctx, &room, (int64_t)ctx->threads * WIDEN_ROWS * WIDEN_COLS));
	int before = kdri_serial_begin();
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic)
	for (int64_t i = 0; i < a.rows; i += WIDEN_ROWS) {
		double *wide = room + kdri_thread() * WIDEN_ROWS * WIDEN_COLS;
		int64_t rows = KDRI_MIN(WIDEN_ROWS, a.rows - i);
		for (int64_t j = 0; j < a.cols; j += WIDEN_COLS) {
			int64_t cols = KDRI_MIN(WIDEN_COLS, a.cols - j);
			for (int64_t r = 0; r < rows; r++)
				kdri_block_read(&a, i + r, j, cols, wide + r * WIDEN_COLS);
			kdri_dgemm(false, false, rows, k, cols, 1, wide, WIDEN_COLS, x + j * ldx, ldx, j > 0,
			           y + i * ldy, ldy);
		}
	}
	kdri_serial_end(before);
done:
	kdri_free(ctx, room);
	return st;
}

/* X as floats, rows x k. Tiny entries become 0, because their products would be denormal numbers, which are slow. */
static void narrow_vectors(const double *x, int64_t rows, int64_t k, int64_t ldx, float *to)
{
	const double least = 1e-30;
	for (int64_t i = 0; i < rows; i++)
		for (int64_t c = 0; c < k; c++)
			to[i * k + c] = x[i * ldx + c] < least ? 0 : (float)x[i * ldx + c];
}

/* With A in single precision the products and the sums over WIDEN_COLS columns are single, too. As no term is negative, no difference
 * makes that worse than some 1e-7 of an entry of C; beyond, sums are double. */
static kdr_status cpu_apply(kdr_context *ctx, kdri_block a, kdri_block b, kdri_block c)
{
	kdr_status st;
	const double *x = b.data;
	double *y = c.data;
	float *vectors = NULL, *room = NULL;
	int64_t size, k = b.cols;
	if (!a.floats)
		return kdri_block_mul(ctx, a, x, k, b.stride, y, c.stride);
	KDRI_TRY(kdri_blas_int(ctx, KDRI_MAX(a.stride, k), "the stride of a matrix"));
	KDRI_TRY(kdri_mul(ctx, KDRI_MAX(a.cols, (int64_t)ctx->threads * SINGLE_ROWS), k, &size));
	KDRI_TRY(KDRI_NEW(ctx, &vectors, size));
	KDRI_TRY(KDRI_NEW(ctx, &room, size));
	narrow_vectors(x, a.cols, k, b.stride, vectors);
	int before = kdri_serial_begin();
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic)
	for (int64_t i = 0; i < a.rows; i += SINGLE_ROWS) {
		float *part = room + kdri_thread() * SINGLE_ROWS * k;
		int64_t rows = KDRI_MIN(SINGLE_ROWS, a.rows - i);
		for (int64_t r = 0; r < rows; r++)
			memset(y + (i + r) * c.stride, 0, (size_t)k * sizeof *y);
		for (int64_t j = 0; j < a.cols; j += WIDEN_COLS) {
			int64_t cols = KDRI_MIN(WIDEN_COLS, a.cols - j);
			kdri_sgemm(false, false, rows, k, cols, 1, (const float *)a.data + i * a.stride + j,
			           a.stride, vectors + j * k, k, 0, part, k);
			for (int64_t r = 0; r < rows; r++)
				for (int64_t q = 0; q < k; q++)
					y[(i + r) * c.stride + q] += part[r * k + q];
		}
	}
	kdri_serial_end(before);
done:
	KDRI_FREE(ctx, vectors, room);
	return st;
}

static kdr_status cpu_times(kdr_context *ctx, kdri_block a, bool trans, const double *x, double *y)
{
	if (!trans)
		return kdri_block_mul(ctx, a, x, 1, 1, y, 1);
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static)
	for (int64_t j = 0; j < a.cols; j += KDRI_BLOCK) {
		int64_t cols = KDRI_MIN(KDRI_BLOCK, a.cols - j);
		memset(y + j, 0, (size_t)cols * sizeof *y);
		for (int64_t i = 0; i < a.rows; i++) {
			kdri_block row = kdri_block_part(a, i, j, 1, cols);
			kdri_row_add(&row, x[i], y + j);
		}
	}
	return KDR_OK;
}

static kdr_status cpu_row_dots(kdr_context *ctx, kdri_block a, const double *v, double *out)
{
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static)
	for (int64_t i = 0; i < a.rows; i++) {
		double sum = 0;
		if (v && !a.floats)
			sum = kdri_dot((const double *)a.data + i * a.stride, v, a.cols);
		else
			for (int64_t j = 0; j < a.cols; j++)
				sum += kdri_block_get(&a, i, j) * (v ? v[j] : 1);
		out[i] = sum;
	}
	return KDR_OK;
}

static kdr_status cpu_multiply(kdr_context *ctx, const kdri_sparse *x, bool turned, kdri_block b,
                               kdri_block y)
{
	if (turned)
		kdri_csr_tmul(ctx, &x->x, b.data, b.cols, b.stride, y.data, y.stride);
	else
		kdri_csr_mul(ctx, &x->x, b.data, b.cols, b.stride, y.data, y.stride);
	return KDR_OK;
}

static kdr_status cpu_gram(kdr_context *ctx, const kdri_sparse *x, bool turned, const double *weight,
                           kdri_block c)
{
	return turned ? kdri_sparse_gram(ctx, &x->turned, &x->x, weight, c)
	              : kdri_sparse_gram(ctx, &x->x, &x->turned, weight, c);
}

/* The processor's operations on rows: sums, order statistics, weights of neighbours. */

static kdr_status cpu_row_nth(kdr_context *ctx, kdri_block a, int64_t place, double *out)
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

static kdr_status cpu_row_squares(kdr_context *ctx, kdri_block a, double *out)
{
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static)
	for (int64_t i = 0; i < a.rows; i++) {
		kdri_block row = kdri_block_part(a, i, 0, 1, a.cols);
		out[i] = kdri_row_squares(&row);
	}
	return KDR_OK;
}

static kdr_status cpu_square(kdr_context *ctx, kdri_block a, double *out)
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

static kdr_status cpu_count_from(kdr_context *ctx, kdri_block a, double least, int64_t *out)
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

static kdr_status cpu_neighbour_limits(kdr_context *ctx, kdri_block c, int64_t first, const double *norm,
                                       int64_t place, double tie, double *least, double *bound,
                                       int64_t *count)
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

static kdr_status cpu_neighbour_weights(kdr_context *ctx, kdri_block c, int64_t first, const double *norm,
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

/* The CPU operations for k-means through a Gram matrix (methods/mtcfir/consistent.c).
 *
 * A row of A, which is contiguous, is added to the row of its cluster, one piece at a time so that it stays in the
 * cache. */

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

static kdr_status cpu_group_rows(kdr_context *ctx, kdri_block a, const int32_t *label, const int32_t *before,
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

static kdr_status cpu_group_own(kdr_context *ctx, kdri_block sums, const int32_t *label, double *out)
{
	(void)ctx;
	for (int64_t i = 0; i < sums.cols; i++)
		out[i] = ((const double *)sums.data)[label[i] * sums.stride + i];
	return KDR_OK;
}

static kdr_status cpu_group_closest(kdr_context *ctx, kdri_block sums, const double *diagonal,
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
	.most_columns = 32, /* a strip of the sparse product: matrix/mat.c */
	.alloc = cpu_alloc,
	.release = cpu_release,
	.room = cpu_room,
	.put = cpu_move,
	.get = cpu_get,
	.fill = cpu_fill,
	.copy = cpu_copy,
	.mirror = cpu_mirror,
	.clip = cpu_clip,
	.take = cpu_take,
	.gemm = kdri_block_gemm,
	.syrk = kdri_block_syrk,
	.inverse = cpu_inverse,
	.apply = cpu_apply,
	.times = cpu_times,
	.row_dots = cpu_row_dots,
	.multiply = cpu_multiply,
	.gram = cpu_gram,
	.centre = kdri_cpu_centre,
	.moments = kdri_cpu_moments,
	.tanh = kdri_cpu_tanh,
	.tanh_rows = kdri_cpu_tanh_rows,
	.adjust = kdri_cpu_adjust,
	.complement = kdri_cpu_complement,
	.similarity = cpu_similarity,
	.kernel_sums = kdri_cpu_kernel_sums,
	.row_nth = cpu_row_nth,
	.row_squares = cpu_row_squares,
	.square = cpu_square,
	.count_from = cpu_count_from,
	.neighbour_limits = cpu_neighbour_limits,
	.neighbour_weights = cpu_neighbour_weights,
	.column_dots = kdri_cpu_column_dots,
	.ratio_step = kdri_cpu_ratio_step,
	.group_rows = cpu_group_rows,
	.group_own = cpu_group_own,
	.group_closest = cpu_group_closest,
	.neighbours = kdri_cpu_neighbours,
};
