/* Sparse times dense. SPDX-License-Identifier: BSD-3-Clause
 *
 * Both products take k, the columns of B, in strips of a width W known to the compiler, so that the
 * strip lives in registers: the widest strip is 32 (four AVX-512 or eight AVX2 registers), the rest
 * goes by the largest multiple of four, and then by one to three columns.
 *
 * X B: the W sums of a row stay in registers while its entries go by. An entry costs 2 W flops, 12
 * bytes of X and 8 W bytes of B, which come from a cache if cols x k fits; nothing is written but the
 * finished row. Compulsory traffic: 12 nnz + 8 rows + 8 k (rows + cols) bytes.
 *
 * X' B: the W numbers of row i of B stay in registers while the entries (i, j) of the row add to rows j
 * of the output: 2 W flops, 12 bytes of X, and 8 W bytes of Y read and written. Threads own ranges
 * of output rows, that is of columns of X, cut so that each holds about as many entries; in each row a
 * binary search finds where a range starts. No memory is needed beside the output. Partial outputs
 * added at the end were the other way: with 16 chunks they write 16 cols x k numbers more, which for
 * text (60000 columns, about 150 entries a row) is more traffic than the product itself.
 *
 * Every number of either output is one sum, in increasing column (X B) or row (X' B) order: the
 * association depends neither on the strips nor on the ranges nor on the threads. */
#include "linalg/sparse.h"

/* Below SERIAL_WORK multiplications the threads are not woken. */
enum { SERIAL_WORK = 1 << 15, WIDEST = 32 };

/* Rows begin..end-1 and columns 0..W-1 of Y = X B. */
typedef void mul_strip(const kdr_csr *x, int64_t begin, int64_t end, const double *b, int64_t ldb, double *y,
                       int64_t ldy);
/* Rows low..high-1 and columns 0..W-1 of Y += X' B. */
typedef void tmul_strip(const kdr_csr *x, int32_t low, int32_t high, const double *b, int64_t ldb, double *y,
                        int64_t ldy);

/* The first of p..end-1 whose column is at least `low`. */
static inline int64_t first_from(const int32_t *col, int64_t p, int64_t end, int32_t low)
{
	while (p < end) {
		int64_t middle = p + (end - p) / 2;
		if (col[middle] < low)
			p = middle + 1;
		else
			end = middle;
	}
	return p;
}

#define KERNELS(W)                                                                                       \
	KDRI_KERNEL                                                                                      \
	static void mul_##W(const kdr_csr *x, int64_t begin, int64_t end, const double *restrict b,      \
	                    int64_t ldb, double *restrict y, int64_t ldy)                                \
	{                                                                                                \
		const int64_t *rowptr = x->rowptr;                                                       \
		const int32_t *col = x->col;                                                             \
		const double *val = x->val;                                                              \
		for (int64_t i = begin; i < end; i++) {                                                  \
			double sum[W] = { 0 };                                                           \
			for (int64_t p = rowptr[i]; p < rowptr[i + 1]; p++) {                            \
				const double v = val[p];                                                 \
				const double *from = b + col[p] * ldb;                                   \
				_Pragma("omp simd") for (int j = 0; j < (W); j++) sum[j] += v * from[j]; \
			}                                                                                \
			_Pragma("omp simd") for (int j = 0; j < (W); j++) y[i * ldy + j] = sum[j];       \
		}                                                                                        \
	}                                                                                                \
	KDRI_KERNEL                                                                                      \
	static void tmul_##W(const kdr_csr *x, int32_t low, int32_t high, const double *restrict b,      \
	                     int64_t ldb, double *restrict y, int64_t ldy)                               \
	{                                                                                                \
		const int32_t *col = x->col;                                                             \
		const double *val = x->val;                                                              \
		for (int64_t i = 0; i < x->rows; i++) {                                                  \
			int64_t end = x->rowptr[i + 1], p = first_from(col, x->rowptr[i], end, low);     \
			double row[W];                                                                   \
			_Pragma("omp simd") for (int j = 0; j < (W); j++) row[j] = b[i * ldb + j];       \
			for (; p < end && col[p] < high; p++) {                                          \
				const double v = val[p];                                                 \
				double *to = y + col[p] * ldy;                                           \
				_Pragma("omp simd") for (int j = 0; j < (W); j++) to[j] += v * row[j];   \
			}                                                                                \
		}                                                                                        \
	}

/* clang-format off */
KERNELS(1) KERNELS(2) KERNELS(3) KERNELS(4) KERNELS(8) KERNELS(12) KERNELS(16) KERNELS(20) KERNELS(24)
KERNELS(28) KERNELS(32)
        /* clang-format on */

        /* Column strips from `at`: at most WIDEST, in multiples of four while they last. */
        static int strip_width(int64_t left)
{
	return left >= WIDEST ? WIDEST : left >= 4 ? (int)(left / 4 * 4) : (int)left;
}

static mul_strip *mul_kernel(int width)
{
	static mul_strip *const by_four[] = { mul_4, mul_8, mul_12, mul_16, mul_20, mul_24, mul_28, mul_32 };
	static mul_strip *const few[] = { mul_1, mul_2, mul_3 };
	return width < 4 ? few[width - 1] : by_four[width / 4 - 1];
}

static tmul_strip *tmul_kernel(int width)
{
	static tmul_strip *const by_four[] = { tmul_4,  tmul_8,  tmul_12, tmul_16,
		                               tmul_20, tmul_24, tmul_28, tmul_32 };
	static tmul_strip *const few[] = { tmul_1, tmul_2, tmul_3 };
	return width < 4 ? few[width - 1] : by_four[width / 4 - 1];
}

void kdri_csr_mul(kdr_context *ctx, const kdr_csr *x, const double *b, int64_t k, int64_t ldb, double *y,
                  int64_t ldy)
{
	int64_t blocks = (x->rows + KDRI_BLOCK - 1) / KDRI_BLOCK;
	int64_t work = (x->rowptr[x->rows] - x->rowptr[0] + x->rows) * k;
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic) if (work > SERIAL_WORK)
	for (int64_t block = 0; block < blocks; block++) {
		int64_t begin = block * KDRI_BLOCK, end = KDRI_MIN(x->rows, begin + KDRI_BLOCK);
		for (int64_t j = 0; j < k;) {
			int width = strip_width(k - j);
			mul_kernel(width)(x, begin, end, b + j, ldb, y + j, ldy);
			j += width;
		}
	}
}

/* Where to cut the columns so that each of `count` ranges holds about as many entries: from a
 * histogram of every 16th entry. The cuts only share out work; they never change a result. */
static void cut_columns(const kdr_csr *x, int64_t count, int32_t *cuts)
{
	enum { BINS = 1024, STEP = 16 };
	int64_t bins[BINS] = { 0 }, seen = 0, sofar = 0, at = 0;
	int64_t width = KDRI_MAX((x->cols + BINS - 1) / BINS, 1);
	for (int64_t p = x->rowptr[0]; p < x->rowptr[x->rows]; p += STEP, seen++)
		bins[x->col[p] / width]++;
	cuts[0] = 0;
	for (int64_t c = 1; c < count; c++) {
		while (at < BINS && sofar * count < seen * c)
			sofar += bins[at++];
		cuts[c] = (int32_t)KDRI_MIN(at * width, x->cols);
	}
	cuts[count] = (int32_t)x->cols;
}

void kdri_csr_tmul(kdr_context *ctx, const kdr_csr *x, const double *b, int64_t k, int64_t ldb, double *y,
                   int64_t ldy)
{
	enum { MOST = 128 };
	int32_t cuts[MOST + 1];
	int64_t work = (x->rowptr[x->rows] - x->rowptr[0] + x->rows) * k;
	int64_t ranges = work > SERIAL_WORK && ctx->threads > 1 ? KDRI_MIN(2 * ctx->threads, MOST) : 1;
	cut_columns(x, ranges, cuts);
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic) if (ranges > 1)
	for (int64_t r = 0; r < ranges; r++) {
		for (int64_t j = cuts[r]; j < cuts[r + 1]; j++)
			memset(y + j * ldy, 0, (size_t)k * sizeof *y);
		for (int64_t j = 0; j < k && cuts[r] < cuts[r + 1];) {
			int width = strip_width(k - j);
			tmul_kernel(width)(x, cuts[r], cuts[r + 1], b + j, ldb, y + j, ldy);
			j += width;
		}
	}
}
