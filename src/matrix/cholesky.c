/* Cholesky factorisation and solve. SPDX-License-Identifier: BSD-3-Clause
 *
 * The algorithm is right-looking, in blocks of BLOCK columns. With A divided into the current block column and the
 * rest,
 *
 *   (E1)  L11 L11' = A11                  one thread
 *   (E2)  L21 = A21 L11^-T                panels of rows, in parallel
 *   (E3)  A22 <- A22 - L21 L21'           tiles of the lower triangle, in parallel
 *
 * n^3 / 3 flops, nearly all of them in (E3), where each tile of 256 x 256 does 16 flops per byte. The
 * block sizes are fixed, so the factor is the same for any number of threads. */
#include "matrix/blas.h"

enum { BLOCK = 128, PANEL = 256, SOLVE_COLS = 64 };

/* (E2): rows below the diagonal block at `at`, of `width` columns. */
static void solve_panel(kdr_context *ctx, int64_t n, double *a, int64_t lda, int64_t at, int64_t width)
{
	int64_t below = at + width, panels = (n - below + PANEL - 1) / PANEL;
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic) if (n - below > PANEL)
	for (int64_t p = 0; p < panels; p++) {
		int64_t i = below + p * PANEL, rows = KDRI_MIN(PANEL, n - i);
		kdri_solve_right(rows, width, a + at * lda + at, lda, a + i * lda + at, lda);
	}
}

/* (E3) */
static void update_rest(kdr_context *ctx, int64_t n, double *a, int64_t lda, int64_t at, int64_t width)
{
	int64_t below = at + width, side = (n - below + PANEL - 1) / PANEL, tiles = side * (side + 1) / 2;
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic) if (n - below > PANEL)
	for (int64_t t = 0; t < tiles; t++) {
		int64_t row = 0, col = t;
		for (; col > row; row++)
			col -= row + 1;
		int64_t i = below + row * PANEL, j = below + col * PANEL;
		int64_t rows = KDRI_MIN(PANEL, n - i), cols = KDRI_MIN(PANEL, n - j);
		if (row == col)
			kdri_dsyrk(false, rows, width, -1, a + i * lda + at, lda, 1, a + i * lda + i, lda);
		else
			kdri_dgemm(false, true, rows, cols, width, -1, a + i * lda + at, lda,
			           a + j * lda + at, lda, 1, a + i * lda + j, lda);
	}
}

/* On failure the lower triangle of `a` is lost. */
kdr_status kdri_cholesky(kdr_context *ctx, int64_t n, double *a, int64_t lda)
{
	kdr_status st = kdri_blas_int(ctx, KDRI_MAX(n, lda), "the size of a matrix to factor");
	if (st != KDR_OK)
		return st;
	int before = kdri_serial_begin(), info = 0;
	int64_t at = 0;
	for (; at < n && !(kdri_leave_off(ctx, "factor", at, n) && ctx->abandon); at += BLOCK) {
		int64_t width = KDRI_MIN(BLOCK, n - at);
		info = kdri_factor_block(width, a + at * lda + at, lda); /* (E1) */
		if (info != 0)
			break;
		solve_panel(ctx, n, a, lda, at, width);
		update_rest(ctx, n, a, lda, at, width);
	}
	kdri_serial_end(before);
	if (info != 0)
		return kdri_fail(
		        ctx, KDR_ERR_NUMERIC,
		        "the %lld x %lld matrix is not positive definite: pivot %lld is not positive",
		        (long long)n, (long long)n, (long long)at + info);
	return kdri_abandoned(ctx);
}

kdr_status kdri_cholesky_solve(kdr_context *ctx, int64_t n, const double *l, int64_t lda, double *b,
                               int64_t k, int64_t ldb)
{
	kdr_status st =
	        kdri_blas_int(ctx, KDRI_MAX(n, KDRI_MAX(lda, ldb)), "the size of a matrix to solve with");
	if (st != KDR_OK || n == 0)
		return st;
	int64_t panels = (k + SOLVE_COLS - 1) / SOLVE_COLS;
	int before = kdri_serial_begin();
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic) if (n > 64)
	for (int64_t p = 0; p < panels; p++) {
		int64_t j = p * SOLVE_COLS;
		int64_t cols = KDRI_MIN(SOLVE_COLS, k - j);
		kdri_solve_left(false, n, cols, l, lda, b + j, ldb);
		kdri_solve_left(true, n, cols, l, lda, b + j, ldb);
	}
	kdri_serial_end(before);
	return KDR_OK;
}
