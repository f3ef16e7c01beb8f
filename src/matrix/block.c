/* Dense matrices in double or single precision. SPDX-License-Identifier: BSD-3-Clause */
#include "matrix/block.h"

#include "matrix/lapack.h"

enum { WIDEN_ROWS = 64, WIDEN_COLS = 1024, SINGLE_ROWS = 128 };

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

static void *block_entry(const kdri_block *b, int64_t i, int64_t j)
{
	return b->floats ? (void *)((float *)b->data + i * b->stride + j)
	                 : (void *)((double *)b->data + i * b->stride + j);
}

kdri_block kdri_block_part(const kdri_block *b, int64_t row, int64_t col, int64_t rows, int64_t cols)
{
	return (kdri_block){ rows, cols, b->stride, b->floats, block_entry(b, row, col) };
}

kdri_block kdri_block_of(double *data, int64_t rows, int64_t cols, int64_t stride)
{
	return (kdri_block){ rows, cols, stride, false, data };
}

void kdri_block_read(const kdri_block *b, int64_t i, int64_t j, int64_t count, double *to)
{
	if (!b->floats) {
		memcpy(to, block_entry(b, i, j), (size_t)count * sizeof *to);
		return;
	}
	const float *from = block_entry(b, i, j);
	for (int64_t p = 0; p < count; p++)
		to[p] = from[p];
}

void kdri_block_write(const kdri_block *b, int64_t i, int64_t j, int64_t count, const double *from)
{
	if (!b->floats) {
		memcpy(block_entry(b, i, j), from, (size_t)count * sizeof *from);
		return;
	}
	float *to = block_entry(b, i, j);
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
	KDRI_TRY(kdri_blas_int(ctx, KDRI_MAX(ldx, ldy), "the stride of a matrix"));
	KDRI_TRY(KDRI_NEW(ctx, &room, (int64_t)ctx->threads * WIDEN_ROWS * WIDEN_COLS));
	int before = kdri_serial_begin();
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic)
	for (int64_t i = 0; i < a->rows; i += WIDEN_ROWS) {
		double *wide = room + kdri_thread() * WIDEN_ROWS * WIDEN_COLS;
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

/* X as floats, rows x k. What is next to nothing becomes nothing: its products would be numbers that processors are slow with. */
static void narrow_vectors(const double *x, int64_t rows, int64_t k, int64_t ldx, float *to)
{
	const double least = 1e-30;
	for (int64_t i = 0; i < rows; i++)
		for (int64_t c = 0; c < k; c++)
			to[i * k + c] = x[i * ldx + c] < least ? 0 : (float)x[i * ldx + c];
}

kdr_status kdri_block_mul_positive(kdr_context *ctx, const kdri_block *a, const double *x, int64_t k,
                                   int64_t ldx, double *y, int64_t ldy)
{
	kdr_status st;
	float *vectors = NULL, *room = NULL;
	int64_t size;
	if (!a->floats)
		return kdri_block_mul(ctx, a, x, k, ldx, y, ldy);
	KDRI_TRY(kdri_blas_int(ctx, KDRI_MAX(a->stride, k), "the stride of a matrix"));
	KDRI_TRY(kdri_mul(ctx, KDRI_MAX(a->cols, (int64_t)ctx->threads * SINGLE_ROWS), k, &size));
	KDRI_TRY(KDRI_NEW(ctx, &vectors, size));
	KDRI_TRY(KDRI_NEW(ctx, &room, size));
	narrow_vectors(x, a->cols, k, ldx, vectors);
	int before = kdri_serial_begin();
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic)
	for (int64_t i = 0; i < a->rows; i += SINGLE_ROWS) {
		float *part = room + kdri_thread() * SINGLE_ROWS * k;
		int64_t rows = KDRI_MIN(SINGLE_ROWS, a->rows - i);
		for (int64_t r = 0; r < rows; r++)
			memset(y + (i + r) * ldy, 0, (size_t)k * sizeof *y);
		for (int64_t j = 0; j < a->cols; j += WIDEN_COLS) {
			int64_t cols = KDRI_MIN(WIDEN_COLS, a->cols - j);
			cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, (int)k, (int)cols,
			            1, block_entry(a, i, j), (int)a->stride, vectors + j * k, (int)k, 0, part,
			            (int)k);
			for (int64_t r = 0; r < rows; r++)
				for (int64_t c = 0; c < k; c++)
					y[(i + r) * ldy + c] += part[r * k + c];
		}
	}
	kdri_serial_end(before);
done:
	kdri_free(ctx, vectors);
	kdri_free(ctx, room);
	return st;
}
