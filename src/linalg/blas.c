/* Dense products on single-threaded BLAS. SPDX-License-Identifier: BSD-3-Clause
 *
 * C is cut into tiles of TILE_ROWS x TILE_COLS, and where that gives few tiles and the inner dimension
 * is long (X' X of a tall X) the inner dimension is cut too: split s > 0 of a tile goes to a buffer of
 * its own, and the buffers are added to C in order. Tiles and splits depend on the shape alone.
 *
 * A tile of 256 x 512 with inner dimension k costs 2 * 256 * 512 k flops for 8 * 768 k bytes: 43 flops
 * a byte, far above what memory needs to keep up. */
#include "linalg/lapack.h"

#include <limits.h>

#ifdef _OPENMP
#include <omp.h>
#endif

enum { TILE_ROWS = 256, TILE_COLS = 512, SYRK_TILE = 256, MOST_SPLITS = 16, SPLIT_LENGTH = 1024 };

/* Products of fewer flops are done before the threads are awake. */
static const double serial_flops = 1e5;

int kdri_serial_begin(void)
{
#ifdef _OPENMP
	int before = omp_get_max_threads();
	omp_set_num_threads(1);
	return before;
#else
	return 1;
#endif
}

void kdri_serial_end(int before)
{
#ifdef _OPENMP
	omp_set_num_threads(before);
#else
	(void)before;
#endif
}

kdr_status kdri_blas_int(kdr_context *ctx, int64_t size, const char *what)
{
	if (size < 0 || size > INT_MAX)
		return kdri_fail(ctx, KDR_ERR_SIZE, "%s is %lld: BLAS takes 0..%d", what, (long long)size,
		                 INT_MAX);
	return KDR_OK;
}

/* op(A) (m x k) times op(B) (k x n), times alpha. */
typedef struct product {
	bool trans_a, trans_b;
	double alpha;
	const double *a, *b;
	int64_t lda, ldb;
} product;

typedef struct range {
	int64_t begin, end;
} range;

static range part_of(int64_t size, int64_t width, int64_t index)
{
	return (range){ index * width, KDRI_MIN(size, (index + 1) * width) };
}

/* C = alpha op(A)[i, l] op(B)[l, j] + beta C, where c points to C's own first entry. */
static void multiply(const product *p, range i, range j, range l, double beta, double *c, int64_t ldc)
{
	const double *a = p->trans_a ? p->a + l.begin * p->lda + i.begin : p->a + i.begin * p->lda + l.begin;
	const double *b = p->trans_b ? p->b + j.begin * p->ldb + l.begin : p->b + l.begin * p->ldb + j.begin;
	int m = (int)(i.end - i.begin), n = (int)(j.end - j.begin), k = (int)(l.end - l.begin);
	if (n == 1 && p->trans_a) /* k x m, transposed */
		cblas_dgemv(CblasRowMajor, CblasTrans, k, m, p->alpha, a, (int)p->lda, b,
		            p->trans_b ? 1 : (int)p->ldb, beta, c, (int)ldc);
	else if (n == 1)
		cblas_dgemv(CblasRowMajor, CblasNoTrans, m, k, p->alpha, a, (int)p->lda, b,
		            p->trans_b ? 1 : (int)p->ldb, beta, c, (int)ldc);
	else
		cblas_dgemm(CblasRowMajor, p->trans_a ? CblasTrans : CblasNoTrans,
		            p->trans_b ? CblasTrans : CblasNoTrans, m, n, k, p->alpha, a, (int)p->lda, b,
		            (int)p->ldb, beta, c, (int)ldc);
}

/* Into how many parts the inner dimension is cut: enough to give MOST_SPLITS units of work, as long as
 * each keeps SPLIT_LENGTH. So the buffers hold at most MOST_SPLITS tiles. */
static int64_t count_splits(int64_t tiles, int64_t k)
{
	return KDRI_MAX(KDRI_MIN(MOST_SPLITS / KDRI_MAX(tiles, 1), k / SPLIT_LENGTH), 1);
}

/* C += the buffers of splits 1, 2, .., in this order. */
static void add_splits(kdr_context *ctx, const double *part, int64_t splits, int64_t m, int64_t n, double *c,
                       int64_t ldc)
{
#pragma omp parallel for num_threads(ctx->threads) if (m * n > 1 << 14)
	for (int64_t i = 0; i < m; i++)
		for (int64_t s = 1; s < splits; s++)
			kdri_axpy(1, part + ((s - 1) * m + i) * n, c + i * ldc, n);
}

static void scale_only(int64_t m, int64_t n, double beta, double *c, int64_t ldc)
{
	for (int64_t i = 0; i < m; i++)
		for (int64_t j = 0; j < n; j++)
			c[i * ldc + j] = beta == 0 ? 0 : beta * c[i * ldc + j];
}

static kdr_status check_sizes(kdr_context *ctx, int64_t k, int64_t lda, int64_t ldb, int64_t ldc)
{
	kdr_status st;
	KDRI_TRY(kdri_blas_int(ctx, k, "the inner dimension of a product"));
	KDRI_TRY(kdri_blas_int(ctx, KDRI_MAX(KDRI_MAX(lda, ldb), ldc), "the stride of a matrix"));
done:
	return st;
}

kdr_status kdri_gemm(kdr_context *ctx, bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k,
                     double alpha, const double *a, int64_t lda, const double *b, int64_t ldb, double beta,
                     double *c, int64_t ldc)
{
	kdr_status st;
	double *part = NULL;
	if (m == 0 || n == 0)
		return KDR_OK;
	if (k == 0 || alpha == 0) {
		scale_only(m, n, beta, c, ldc);
		return KDR_OK;
	}
	if (m == 1 && n > 1) /* a row: the transposed product is a matrix times a vector */
		return kdri_gemm(ctx, !trans_b, !trans_a, n, 1, k, alpha, b, ldb, a, lda, beta, c, 1);
	KDRI_TRY(check_sizes(ctx, k, lda, ldb, ldc));

	const product p = { trans_a, trans_b, alpha, a, b, lda, ldb };
	int64_t down = (m + TILE_ROWS - 1) / TILE_ROWS, across = (n + TILE_COLS - 1) / TILE_COLS;
	int64_t tiles = down * across, splits = count_splits(tiles, k), length = (k + splits - 1) / splits;
	splits = (k + length - 1) / length;
	KDRI_TRY(KDRI_NEW(ctx, &part, splits > 1 ? (splits - 1) * m * n : 0));
	int before = kdri_serial_begin();
#pragma omp parallel for num_threads(ctx->threads) \
        schedule(dynamic) if (2.0 * (double)m * (double)n * (double)k > serial_flops)
	for (int64_t t = 0; t < tiles * splits; t++) {
		int64_t s = t / tiles, tile = t % tiles;
		range i = part_of(m, TILE_ROWS, tile / across), j = part_of(n, TILE_COLS, tile % across);
		if (s == 0)
			multiply(&p, i, j, part_of(k, length, 0), beta, c + i.begin * ldc + j.begin, ldc);
		else
			multiply(&p, i, j, part_of(k, length, s), 0,
			         part + ((s - 1) * m + i.begin) * n + j.begin, n);
	}
	add_splits(ctx, part, splits, m, n, c, ldc);
	kdri_serial_end(before);
done:
	kdri_free(ctx, part);
	return st;
}

/* The upper triangle from the lower. */
static void mirror(kdr_context *ctx, int64_t n, double *c, int64_t ldc)
{
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic, 64) if (n > 256)
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = i + 1; j < n; j++)
			c[i * ldc + j] = c[j * ldc + i];
}

kdr_status kdri_syrk(kdr_context *ctx, bool trans, int64_t n, int64_t k, const double *a, int64_t lda,
                     double *c, int64_t ldc)
{
	kdr_status st;
	double *part = NULL;
	if (n == 0 || k == 0) {
		scale_only(n, n, 0, c, ldc);
		return KDR_OK;
	}
	KDRI_TRY(check_sizes(ctx, k, lda, lda, ldc));

	/* Tiles (row, col) of the lower triangle, counted along its rows. */
	const product p = { trans, !trans, 1, a, a, lda, lda };
	int64_t side = (n + SYRK_TILE - 1) / SYRK_TILE, tiles = side * (side + 1) / 2;
	int64_t splits = count_splits(tiles, k), length = (k + splits - 1) / splits;
	splits = (k + length - 1) / length;
	KDRI_TRY(KDRI_NEW(ctx, &part, splits > 1 ? (splits - 1) * n * n : 0));
	int before = kdri_serial_begin();
#pragma omp parallel for num_threads(ctx->threads) \
        schedule(dynamic) if ((double)n * (double)n * (double)k > serial_flops)
	for (int64_t t = 0; t < tiles * splits; t++) {
		int64_t s = t / tiles, row = 0, col = t % tiles;
		for (; col > row; row++)
			col -= row + 1;
		range i = part_of(n, SYRK_TILE, row), j = part_of(n, SYRK_TILE, col);
		range l = part_of(k, length, s);
		double *to = s == 0 ? c : part + (s - 1) * n * n;
		int64_t ld = s == 0 ? ldc : n;
		to += i.begin * ld + j.begin;
		if (row == col)
			cblas_dsyrk(CblasRowMajor, CblasLower, trans ? CblasTrans : CblasNoTrans,
			            (int)(i.end - i.begin), (int)(l.end - l.begin), 1,
			            trans ? a + l.begin * lda + i.begin : a + i.begin * lda + l.begin,
			            (int)lda, 0, to, (int)ld);
		else
			multiply(&p, i, j, l, 0, to, ld);
	}
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic, 64) if (n > 256)
	for (int64_t i = 0; i < n; i++)
		for (int64_t s = 1; s < splits; s++)
			kdri_axpy(1, part + ((s - 1) * n + i) * n, c + i * ldc, i + 1);
	mirror(ctx, n, c, ldc);
	kdri_serial_end(before);
done:
	kdri_free(ctx, part);
	return st;
}
