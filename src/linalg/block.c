/* Products in double or single precision. SPDX-License-Identifier: BSD-3-Clause
 *
 * As in blas.c, C is cut into tiles of a fixed size, each done by one thread with single-threaded BLAS, so
 * that nothing depends on the number of threads. A tile of 384 x 384 with inner dimension k costs
 * 2 * 384^2 k flops for 8 * 768 k bytes: 48 flops a byte. BLAS first copies 768 k numbers into its own order, a
 * tenth of the time; where C is large enough to give every thread many tiles they are up to thrice as long and
 * wide. All are made about as large: 592 rows are 2 x 304, not 384 + 208.
 *
 * Symmetric products compute the tiles of the lower triangle, and of those on the diagonal its half. Where A is
 * single and C is double a tile goes to a buffer of its thread first. */
#include "linalg/block.h"

#include "linalg/lapack.h"

#ifdef _OPENMP
#include <omp.h>
#endif

enum { SMALL_TILE = 384, LARGE_TILE = 1152, MANY = 32, WIDEN_ROWS = 64, WIDEN_COLS = 1024 };

/* Products of fewer flops are done before the threads are awake. */
static const double serial_flops = 1e5;

/* The side of a tile of C (m x n), so that there are MANY of them or they are small. */
static int64_t tile_of(int64_t m, int64_t n)
{
	int64_t side = (int64_t)sqrt((double)m * (double)n / MANY);
	return KDRI_MIN(LARGE_TILE, KDRI_MAX(SMALL_TILE, side));
}

/* A length of `size` in as many pieces as pieces of `side` would be, all about as large. */
static int64_t even(int64_t size, int64_t side)
{
	enum { ROUND = 16 }; /* what a kernel of BLAS takes at once */
	int64_t count = KDRI_MAX(1, (size + side - 1) / side), piece = (size + count - 1) / count;
	return KDRI_MAX(1, (piece + ROUND - 1) / ROUND) * ROUND;
}

static int my_thread(void)
{
#ifdef _OPENMP
	return omp_get_thread_num();
#else
	return 0;
#endif
}

kdr_status kdri_block_new(kdr_context *ctx, int64_t rows, int64_t cols, bool floats, kdri_block *out)
{
	kdr_status st;
	int64_t count;
	void *data = NULL;
	KDRI_TRY(kdri_mul(ctx, rows, cols, &count));
	KDRI_TRY(kdri_alloc(ctx, &data, count, floats ? sizeof(float) : sizeof(double)));
	*out = (kdri_block){ rows, cols, cols, floats, data };
done:
	return st;
}

void kdri_block_free(kdr_context *ctx, kdri_block *b)
{
	kdri_free(ctx, b->data);
	*b = (kdri_block){ 0 };
}

static void *entry(const kdri_block *b, int64_t i, int64_t j)
{
	return b->floats ? (void *)((float *)b->data + i * b->stride + j)
	                 : (void *)((double *)b->data + i * b->stride + j);
}

kdri_block kdri_block_part(const kdri_block *b, int64_t row, int64_t col, int64_t rows, int64_t cols)
{
	return (kdri_block){ rows, cols, b->stride, b->floats, entry(b, row, col) };
}

kdri_block kdri_block_of(double *data, int64_t rows, int64_t cols, int64_t stride)
{
	return (kdri_block){ rows, cols, stride, false, data };
}

void kdri_block_read(const kdri_block *b, int64_t i, int64_t j, int64_t count, double *to)
{
	if (!b->floats) {
		memcpy(to, entry(b, i, j), (size_t)count * sizeof *to);
		return;
	}
	const float *from = entry(b, i, j);
	for (int64_t p = 0; p < count; p++)
		to[p] = from[p];
}

void kdri_block_write(const kdri_block *b, int64_t i, int64_t j, int64_t count, const double *from)
{
	if (!b->floats) {
		memcpy(entry(b, i, j), from, (size_t)count * sizeof *from);
		return;
	}
	float *to = entry(b, i, j);
	for (int64_t p = 0; p < count; p++)
		to[p] = (float)from[p];
}

void kdri_block_narrow(kdri_block *b)
{
	enum { PIECE = 512 };
	double piece[PIECE];
	float narrow[PIECE];
	if (b->floats)
		return;
	/* Bytes are copied out before they are overwritten, and never written ahead of those still to come. */
	for (int64_t at = 0, count = b->rows * b->cols; at < count; at += PIECE) {
		int64_t m = KDRI_MIN(PIECE, count - at);
		memcpy(piece, (char *)b->data + at * (int64_t)sizeof(double), (size_t)m * sizeof(double));
		for (int64_t p = 0; p < m; p++)
			narrow[p] = (float)piece[p];
		memcpy((char *)b->data + at * (int64_t)sizeof(float), narrow, (size_t)m * sizeof(float));
	}
	b->floats = true;
}

/* C = alpha op(A) op(B) + beta C for one tile; the blocks are the operands' parts. */
static void multiply(bool trans_a, bool trans_b, int64_t k, double alpha, const kdri_block *a,
                     const kdri_block *b, double beta, const kdri_block *c)
{
	CBLAS_TRANSPOSE ta = trans_a ? CblasTrans : CblasNoTrans, tb = trans_b ? CblasTrans : CblasNoTrans;
	if (c->floats)
		cblas_sgemm(CblasRowMajor, ta, tb, (int)c->rows, (int)c->cols, (int)k, (float)alpha, a->data,
		            (int)a->stride, b->data, (int)b->stride, (float)beta, c->data, (int)c->stride);
	else
		cblas_dgemm(CblasRowMajor, ta, tb, (int)c->rows, (int)c->cols, (int)k, alpha, a->data,
		            (int)a->stride, b->data, (int)b->stride, beta, c->data, (int)c->stride);
}

/* The lower triangle of C = alpha A A' + beta C (trans: A' A). */
static void square(bool trans, int64_t k, double alpha, const kdri_block *a, double beta, const kdri_block *c)
{
	CBLAS_TRANSPOSE ta = trans ? CblasTrans : CblasNoTrans;
	int stride = (int)KDRI_MAX(1, a->stride); /* BLAS takes no 0, even where A is empty */
	if (c->floats)
		cblas_ssyrk(CblasRowMajor, CblasLower, ta, (int)c->rows, (int)k, (float)alpha, a->data,
		            stride, (float)beta, c->data, (int)c->stride);
	else
		cblas_dsyrk(CblasRowMajor, CblasLower, ta, (int)c->rows, (int)k, alpha, a->data, stride, beta,
		            c->data, (int)c->stride);
}

static kdr_status check_sizes(kdr_context *ctx, int64_t k, int64_t a, int64_t b, int64_t c)
{
	kdr_status st;
	KDRI_TRY(kdri_blas_int(ctx, k, "the inner dimension of a product"));
	KDRI_TRY(kdri_blas_int(ctx, KDRI_MAX(KDRI_MAX(a, b), c), "the stride of a matrix"));
done:
	return st;
}

/* What an unfinished product is: an error that sets timed_out. */
static kdr_status finished(kdr_context *ctx)
{
	if (!ctx->abandon || !kdri_late(ctx))
		return KDR_OK;
	ctx->timed_out = true;
	return kdri_fail(ctx, KDR_ERR_NUMERIC, "the time limit is over");
}

/* Rows begin.. of op(A), `count` of them. */
static kdri_block op_rows(const kdri_block *a, bool trans, int64_t begin, int64_t count)
{
	return trans ? kdri_block_part(a, 0, begin, a->rows, count)
	             : kdri_block_part(a, begin, 0, count, a->cols);
}

kdr_status kdri_block_gemm(kdr_context *ctx, bool trans_a, bool trans_b, double alpha, const kdri_block *a,
                           const kdri_block *b, double beta, const kdri_block *c)
{
	kdr_status st;
	int64_t k = trans_a ? a->rows : a->cols, m = c->rows, n = c->cols;
	KDRI_TRY(check_sizes(ctx, k, a->stride, b->stride, c->stride));
	/* BLAS, which sees the transposes, likes long rows of C: they may be twice the side. */
	int64_t side = tile_of(m, n), high = even(m, side), wide = even(n, 2 * side);
	int64_t down = (m + high - 1) / high, across = (n + wide - 1) / wide;
	int before = kdri_serial_begin();
#pragma omp parallel for num_threads(ctx->threads) \
        schedule(dynamic) if (2.0 * (double)m * (double)n * (double)k > serial_flops)
	for (int64_t t = 0; t < down * across; t++) {
		if (ctx->abandon && kdri_late(ctx))
			continue;
		int64_t i = t / across * high, j = t % across * wide;
		int64_t rows = KDRI_MIN(high, m - i), cols = KDRI_MIN(wide, n - j);
		kdri_block left = op_rows(a, trans_a, i, rows), right = op_rows(b, !trans_b, j, cols);
		kdri_block to = kdri_block_part(c, i, j, rows, cols);
		multiply(trans_a, trans_b, k, alpha, &left, &right, beta, &to);
	}
	kdri_serial_end(before);
	st = finished(ctx);
done:
	return st;
}

/* C = beta C + T, T in single precision; of a tile on the diagonal the lower triangle. */
static void add_tile(const kdri_block *c, double beta, const kdri_block *t, bool lower)
{
	for (int64_t i = 0; i < c->rows; i++) {
		double *to = (double *)c->data + i * c->stride;
		for (int64_t j = 0; j < (lower ? i + 1 : c->cols); j++)
			to[j] = (beta == 0 ? 0 : beta * to[j]) +
			        (double)((const float *)t->data)[i * t->stride + j];
	}
}

kdr_status kdri_block_syrk(kdr_context *ctx, bool trans, double alpha, const kdri_block *a, double beta,
                           const kdri_block *c)
{
	kdr_status st;
	float *room = NULL;
	int64_t n = c->rows, k = trans ? a->rows : a->cols;
	bool mixed = a->floats && !c->floats;
	int64_t side = even(n, tile_of(n, n)), down = (n + side - 1) / side, tiles = down * (down + 1) / 2;
	KDRI_TRY(check_sizes(ctx, k, a->stride, a->stride, c->stride));
	KDRI_TRY(KDRI_NEW(ctx, &room, mixed ? (int64_t)ctx->threads * side * side : 0));
	int before = kdri_serial_begin();
#pragma omp parallel for num_threads(ctx->threads) \
        schedule(dynamic) if ((double)n * (double)n * (double)k > serial_flops)
	for (int64_t t = 0; t < tiles; t++) {
		if (ctx->abandon && kdri_late(ctx))
			continue;
		int64_t row = 0, col = t;
		for (; col > row; row++)
			col -= row + 1;
		int64_t i = row * side, j = col * side;
		int64_t rows = KDRI_MIN(side, n - i), cols = KDRI_MIN(side, n - j);
		kdri_block left = op_rows(a, trans, i, rows), right = op_rows(a, trans, j, cols);
		kdri_block to = kdri_block_part(c, i, j, rows, cols);
		float *own = room + (mixed ? (int64_t)my_thread() * side * side : 0);
		kdri_block tile = { rows, cols, side, true, own };
		if (row == col)
			square(trans, k, alpha, &left, mixed ? 0 : beta, mixed ? &tile : &to);
		else
			multiply(trans, !trans, k, alpha, &left, &right, mixed ? 0 : beta,
			         mixed ? &tile : &to);
		if (mixed)
			add_tile(&to, beta, &tile, row == col);
	}
	kdri_serial_end(before);
	st = finished(ctx);
done:
	kdri_free(ctx, room);
	return st;
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

void kdri_block_mirror(kdr_context *ctx, const kdri_block *c)
{
	/* A tile of each triangle stays in the nearest cache. Writes run along rows: processors follow fewer pages
	 * that are written than that are read. */
	enum { SIDE = 32 };
	int64_t n = c->rows, side = (n + SIDE - 1) / SIDE;
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic) if (n > 256)
	for (int64_t row = 0; row < side; row++)
		for (int64_t j = 0; j < KDRI_MIN(n, (row + 1) * SIDE); j++)
			mirror_piece(c, j, KDRI_MAX(j + 1, row * SIDE), KDRI_MIN(n, (row + 1) * SIDE));
}

void kdri_block_clip(kdr_context *ctx, const kdri_block *c)
{
#pragma omp parallel for num_threads(ctx->threads) schedule(static) if (c->rows * c->cols > 1 << 14)
	for (int64_t i = 0; i < c->rows; i++)
		for (int64_t j = 0; j < c->cols; j++) {
			if (c->floats)
				((float *)c->data)[i * c->stride + j] =
				        fmaxf(((float *)c->data)[i * c->stride + j], 0);
			else
				((double *)c->data)[i * c->stride + j] =
				        fmax(((double *)c->data)[i * c->stride + j], 0);
		}
}

kdr_status kdri_block_mul(kdr_context *ctx, const kdri_block *a, const double *x, int64_t k, int64_t ldx,
                          double *y, int64_t ldy)
{
	kdr_status st;
	double *room = NULL;
	if (!a->floats)
		return kdri_gemm(ctx, false, false, a->rows, k, a->cols, 1, a->data, a->stride, x, ldx, 0, y,
		                 ldy);
	KDRI_TRY(check_sizes(ctx, WIDEN_COLS, ldx, ldy, 0));
	KDRI_TRY(KDRI_NEW(ctx, &room, (int64_t)ctx->threads * WIDEN_ROWS * WIDEN_COLS));
	int before = kdri_serial_begin();
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic)
	for (int64_t i = 0; i < a->rows; i += WIDEN_ROWS) {
		double *wide = room + (int64_t)my_thread() * WIDEN_ROWS * WIDEN_COLS;
		int64_t rows = KDRI_MIN(WIDEN_ROWS, a->rows - i);
		for (int64_t j = 0; j < a->cols; j += WIDEN_COLS) {
			int64_t cols = KDRI_MIN(WIDEN_COLS, a->cols - j);
			for (int64_t r = 0; r < rows; r++)
				kdri_block_read(a, i + r, j, cols, wide + r * WIDEN_COLS);
			cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, (int)k, (int)cols,
			            1, wide, WIDEN_COLS, x + j * ldx, (int)ldx, j > 0, y + i * ldy, (int)ldy);
		}
	}
	kdri_serial_end(before);
done:
	kdri_free(ctx, room);
	return st;
}
