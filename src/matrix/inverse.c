/* The inverse of a positive definite matrix from its Cholesky factor. SPDX-License-Identifier: BSD-3-Clause
 *
 * With A = L L' and U = L^-T (upper triangular), A^-1 = U U'. In blocks of BLOCK rows I, with the later
 * ones called R,
 *
 *   (E1)  U_II = L_II^-T                                          the blocks in parallel
 *   (E2)  U_IJ = -(sum over I <= K < J of U_IK L_JK') U_JJ        for each I in parallel, J after J
 *   (E3)  (A^-1)_IJ = sum over K >= I of U_IK U_JK',   J <= I      tiles, in parallel
 *
 * L stays in the lower triangle until (E3) overwrites it and U grows in the upper one, so that no second
 * n x n matrix is needed: the diagonal blocks of U are stored separately. n^3 / 3 flops each in (E2) and
 * (E3), nearly all of them in products: a triangular solve instead of (E2) is slower. Blocks are fixed, so the result
 * does not depend on the number of threads. */
#include "matrix/blas.h"
#include "matrix/block.h"

enum { BLOCK = 192 };

/* (E1) for block `index`, into its place in `diagonal`. */
static void invert_block(int64_t n, const double *a, int64_t lda, int64_t index, double *diagonal, int *info)
{
	int64_t at = index * BLOCK, width = KDRI_MIN(BLOCK, n - at);
	double *u = diagonal + index * BLOCK * BLOCK;
	for (int64_t i = 0; i < width; i++) /* U_II row-major, from L_II transposed */
		for (int64_t j = 0; j < width; j++)
			u[i * BLOCK + j] = j >= i ? a[(at + j) * lda + at + i] : 0;
	*info = kdri_invert_upper(width, u, BLOCK);
}

/* (E2) for the blocks to the right of block `index`. */
static void solve_block(int64_t n, double *a, int64_t lda, int64_t index, const double *diagonal)
{
	int64_t at = index * BLOCK, after = at + BLOCK;
	const double *own = diagonal + index * BLOCK * BLOCK;
	for (int64_t j = after; j < n; j += BLOCK) {
		int64_t cols = KDRI_MIN(BLOCK, n - j);
		double *u = a + at * lda + j;
		kdri_dgemm(false, true, BLOCK, cols, BLOCK, -1, own, BLOCK, a + j * lda + at, lda, 0, u, lda);
		if (j > after)
			kdri_dgemm(false, true, BLOCK, cols, j - after, -1, a + at * lda + after, lda,
			           a + j * lda + after, lda, 1, u, lda);
		kdri_times_upper(BLOCK, cols, diagonal + j / BLOCK * BLOCK * BLOCK, BLOCK, u, lda);
	}
}

/* (E3) for the tile (row, col) of blocks, col <= row. U_JI is read from the upper triangle, for J = I from
 * `diagonal`; the tile is written to the lower triangle. */
static void multiply_tile(int64_t n, double *a, int64_t lda, int64_t row, int64_t col, const double *diagonal)
{
	int64_t i = row * BLOCK, j = col * BLOCK, after = KDRI_MIN(n, i + BLOCK);
	int64_t rows = after - i, cols = KDRI_MIN(BLOCK, n - j), rest = n - after;
	const double *own = diagonal + row * BLOCK * BLOCK;
	bool diag = row == col;
	double *to = a + i * lda + j;
	kdri_dgemm(false, true, rows, cols, rows, 1, own, BLOCK, diag ? own : a + j * lda + i,
	           diag ? BLOCK : lda, 0, to, lda);
	if (rest > 0 && diag)
		kdri_dsyrk(false, rows, rest, 1, a + i * lda + after, lda, 1, to, lda);
	else if (rest > 0)
		kdri_dgemm(false, true, rows, cols, rest, 1, a + i * lda + after, lda, a + j * lda + after,
		           lda, 1, to, lda);
}

/* Whether the computation is abandoned; also checks for a request to stop. */
static bool given_up(kdr_context *ctx, int64_t done, int64_t total)
{
	return kdri_leave_off(ctx, "inverse", done, total) && ctx->abandon;
}

kdr_status kdri_cholesky_inverse(kdr_context *ctx, int64_t n, double *a, int64_t lda)
{
	kdr_status st;
	double *diagonal = NULL;
	int *info = NULL;
	int64_t blocks = (n + BLOCK - 1) / BLOCK, tiles = blocks * (blocks + 1) / 2;
	KDRI_TRY(kdri_blas_int(ctx, KDRI_MAX(n, lda), "the size of a matrix to invert"));
	KDRI_TRY(KDRI_NEW(ctx, &diagonal, blocks * BLOCK * BLOCK));
	KDRI_TRY(KDRI_NEW0(ctx, &info, blocks));
	int before = kdri_serial_begin();
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic) if (n > BLOCK)
	for (int64_t b = 0; b < blocks; b++)
		invert_block(n, a, lda, b, diagonal, &info[b]);
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic) if (n > BLOCK)
	for (int64_t b = 0; b < blocks; b++)
		if (!given_up(ctx, b, blocks + tiles))
			solve_block(n, a, lda, b, diagonal);
			/* Tiles read the strict upper triangle and `diagonal`, and write to the rest: the order is free. */
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic) if (n > BLOCK)
	for (int64_t t = 0; t < tiles; t++) {
		int64_t row = 0, col = t;
		for (; col > row; row++)
			col -= row + 1;
		if (!given_up(ctx, blocks + t, blocks + tiles))
			multiply_tile(n, a, lda, row, col, diagonal);
	}
	kdri_serial_end(before);
	for (int64_t b = 0; b < blocks; b++)
		if (info[b] != 0)
			KDRI_FAIL(
			        ctx, KDR_ERR_NUMERIC,
			        "a %lld x %lld matrix cannot be inverted: its factor has a zero on the diagonal",
			        (long long)n, (long long)n);
	KDRI_TRY(kdri_abandoned(ctx));
	KDRI_TRY(kdri_cpu.mirror(ctx, kdri_block_of(a, n, n, lda)));
done:
	KDRI_FREE(ctx, diagonal, info);
	return st;
}
