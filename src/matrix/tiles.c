/* A B' a tile at a time, for products too large to be stored. SPDX-License-Identifier: BSD-3-Clause
 *
 * A block of ROWS rows of A meets all rows of B, COLS at a time. A tile (512 KB) stays in the cache of
 * the thread that made it until `use` has read it, so that memory sees A and B alone: with k columns,
 * 2 ROWS COLS k flops for 8 k COLS bytes of B, 32 flops a byte. Tiles depend on the shape alone. */
#include "matrix/blas.h"

enum { ROWS = 128, COLS = 512 };

kdr_status kdri_gemm_tiles(kdr_context *ctx, int64_t m, int64_t n, int64_t k, const double *a, int64_t lda,
                           const double *b, int64_t ldb, kdri_tile_fn *use, void *user)
{
	kdr_status st;
	double *tiles = NULL;
	int64_t blocks = (m + ROWS - 1) / ROWS;
	KDRI_TRY(kdri_blas_int(ctx, KDRI_MAX(KDRI_MAX(lda, ldb), k), "the stride of a matrix"));
	KDRI_TRY(KDRI_NEW(ctx, &tiles, (int64_t)ctx->threads * ROWS * COLS));
	int before = kdri_serial_begin();
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic)
	for (int64_t block = 0; block < blocks; block++) {
		int64_t thread = kdri_thread();
		double *tile = tiles + (int64_t)thread * ROWS * COLS;
		int64_t row = block * ROWS, rows = KDRI_MIN(m - row, ROWS);
		for (int64_t col = 0; col < n; col += COLS) {
			int64_t cols = KDRI_MIN(n - col, COLS);
			kdri_dgemm(false, true, rows, cols, k, 1, a + row * lda, lda, b + col * ldb, ldb, 0,
			           tile, COLS);
			for (int64_t i = 0; i < rows; i++)
				use(user, row + i, col, cols, tile + i * COLS);
		}
	}
	kdri_serial_end(before);
done:
	kdri_free(ctx, tiles);
	return st;
}
