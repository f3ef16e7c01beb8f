/* Symmetric matrices: Cholesky factors, inverses, eigenvectors, pseudo-inverses. SPDX-License-Identifier: BSD-3-Clause
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
/* The inverse of a positive definite matrix from its Cholesky factor.
 *
 * With A = L L' and U = L^-T (upper triangular), A^-1 = U U'. In blocks of BLOCK rows I, with the later
 * ones called R,
 *
 *   (E4)  U_II = L_II^-T                                          the blocks in parallel
 *   (E5)  U_IJ = -(sum over I <= K < J of U_IK L_JK') U_JJ        for each I in parallel, J after J
 *   (E6)  (A^-1)_IJ = sum over K >= I of U_IK U_JK',   J <= I      tiles, in parallel
 *
 * L stays in the lower triangle until (E6) overwrites it and U grows in the upper one, so that no second
 * n x n matrix is needed: the diagonal blocks of U are stored separately. n^3 / 3 flops each in (E5) and
 * (E6), nearly all of them in products: a triangular solve instead of (E5) is slower. Blocks are fixed, so the result
 * does not depend on the number of threads. */
/* All eigenpairs of a symmetric matrix: divide and conquer (blas.h), on one thread, since the sums of a threaded form would depend on
 * the number of threads. Some pairs: ritz.c. */
#include <float.h>

#include "matrix/blas.h"
#include "matrix/block.h"
#include "matrix/linalg.h"

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

enum { INVERSE_BLOCK = 192 };

/* (E4) for block `index`, into its place in `diagonal`. */
static void invert_block(int64_t n, const double *a, int64_t lda, int64_t index, double *diagonal, int *info)
{
	int64_t at = index * INVERSE_BLOCK, width = KDRI_MIN(INVERSE_BLOCK, n - at);
	double *u = diagonal + index * INVERSE_BLOCK * INVERSE_BLOCK;
	for (int64_t i = 0; i < width; i++) /* U_II row-major, from L_II transposed */
		for (int64_t j = 0; j < width; j++)
			u[i * INVERSE_BLOCK + j] = j >= i ? a[(at + j) * lda + at + i] : 0;
	*info = kdri_invert_upper(width, u, INVERSE_BLOCK);
}

/* (E5) for the blocks to the right of block `index`. */
static void solve_block(int64_t n, double *a, int64_t lda, int64_t index, const double *diagonal)
{
	int64_t at = index * INVERSE_BLOCK, after = at + INVERSE_BLOCK;
	const double *own = diagonal + index * INVERSE_BLOCK * INVERSE_BLOCK;
	for (int64_t j = after; j < n; j += INVERSE_BLOCK) {
		int64_t cols = KDRI_MIN(INVERSE_BLOCK, n - j);
		double *u = a + at * lda + j;
		kdri_dgemm(false, true, INVERSE_BLOCK, cols, INVERSE_BLOCK, -1, own, INVERSE_BLOCK,
		           a + j * lda + at, lda, 0, u, lda);
		if (j > after)
			kdri_dgemm(false, true, INVERSE_BLOCK, cols, j - after, -1, a + at * lda + after, lda,
			           a + j * lda + after, lda, 1, u, lda);
		kdri_times_upper(INVERSE_BLOCK, cols,
		                 diagonal + j / INVERSE_BLOCK * INVERSE_BLOCK * INVERSE_BLOCK, INVERSE_BLOCK,
		                 u, lda);
	}
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
	int64_t blocks = (n + INVERSE_BLOCK - 1) / INVERSE_BLOCK, tiles = blocks * (blocks + 1) / 2;
	KDRI_TRY(kdri_blas_int(ctx, KDRI_MAX(n, lda), "the size of a matrix to invert"));
	KDRI_TRY(KDRI_NEW(ctx, &diagonal, blocks * INVERSE_BLOCK * INVERSE_BLOCK));
	KDRI_TRY(KDRI_NEW0(ctx, &info, blocks));
	int before = kdri_serial_begin();
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic) if (n > INVERSE_BLOCK)
	for (int64_t b = 0; b < blocks; b++)
		invert_block(n, a, lda, b, diagonal, &info[b]);
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic) if (n > INVERSE_BLOCK)
	for (int64_t b = 0; b < blocks; b++)
		if (!given_up(ctx, b, blocks + tiles))
			solve_block(n, a, lda, b, diagonal);
			/* Tiles read the strict upper triangle and `diagonal`, and write to the rest: the order is free. */
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic) if (n > INVERSE_BLOCK)
	for (int64_t t = 0; t < tiles; t++) {
		int64_t row = 0, col = t;
		for (; col > row; row++)
			col -= row + 1;
		if (!given_up(ctx, blocks + t, blocks + tiles)) {
			/* (E6) for the tile (row, col) of blocks, col <= row. U_JI is read from the upper triangle, for J = I from
			 * `diagonal`; the tile is written to the lower triangle. */
			int64_t i = row * INVERSE_BLOCK, j = col * INVERSE_BLOCK,
			        after = KDRI_MIN(n, i + INVERSE_BLOCK);
			int64_t rows = after - i, cols = KDRI_MIN(INVERSE_BLOCK, n - j), rest = n - after;
			const double *own = diagonal + row * INVERSE_BLOCK * INVERSE_BLOCK;
			bool diag = row == col;
			double *to = a + i * lda + j;
			kdri_dgemm(false, true, rows, cols, rows, 1, own, INVERSE_BLOCK,
			           diag ? own : a + j * lda + i, diag ? INVERSE_BLOCK : lda, 0, to, lda);
			if (rest > 0 && diag)
				kdri_dsyrk(false, rows, rest, 1, a + i * lda + after, lda, 1, to, lda);
			else if (rest > 0)
				kdri_dgemm(false, true, rows, cols, rest, 1, a + i * lda + after, lda,
				           a + j * lda + after, lda, 1, to, lda);
		}
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

void kdri_fix_sign(int64_t n, double *vectors, int64_t ld, int64_t j)
{
	int64_t top = 0;
	for (int64_t i = 1; i < n; i++)
		if (fabs(vectors[i * ld + j]) > fabs(vectors[top * ld + j]))
			top = i;
	if (n > 0 && vectors[top * ld + j] < 0)
		for (int64_t i = 0; i < n; i++)
			vectors[i * ld + j] = -vectors[i * ld + j];
}

/* On failure `a` is lost. */
kdr_status kdri_eigh(kdr_context *ctx, int64_t n, double *a, int64_t lda, double *values)
{
	kdr_status st;
	if (n == 0)
		return KDR_OK;
	KDRI_TRY(kdri_blas_int(ctx, lda, "the stride of a matrix"));
	if (n > KDRI_EIGEN_MOST)
		return kdri_fail(
		        ctx, KDR_ERR_SIZE,
		        "cannot compute all eigenvectors of a %lld x %lld matrix; at most %d rows are allowed",
		        (long long)n, (long long)n, KDRI_EIGEN_MOST);
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < n; j++)
			if (!isfinite(a[i * lda + j]))
				return kdri_fail(
				        ctx, KDR_ERR_NUMERIC,
				        "eigenvalues: entry (%lld, %lld) of the matrix is not finite",
				        (long long)i + 1, (long long)j + 1);
	int info = 0, before = kdri_serial_begin();
	st = kdri_eigen_rows(ctx, n, a, lda, values, &info);
	kdri_serial_end(before);
	KDRI_TRY(st);
	if (info != 0)
		KDRI_FAIL(ctx, KDR_ERR_NUMERIC,
		          "eigenvalues of a %lld x %lld matrix: the iteration does not converge (info %d)",
		          (long long)n, (long long)n, info);
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < i; j++) {
			double t = a[i * lda + j];
			a[i * lda + j] = a[j * lda + i];
			a[j * lda + i] = t;
		}
	for (int64_t j = 0; j < n; j++)
		kdri_fix_sign(n, a, lda, j);
done:
	return st;
}

/* The pseudo-inverse of a symmetric matrix.
 *
 * With g = V diag(w) V', g^+ = V diag(1/w) V' over the eigenvalues that are not 0 to rounding. For the small
 * matrices P'P of methods whose columns may vanish. O(c^3). */

kdr_status kdri_pseudo_inverse(kdr_context *ctx, int64_t c, const double *g, double *out, double *half)
{
	kdr_status st;
	double *v = NULL, *w = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &v, c * c));
	KDRI_TRY(KDRI_NEW(ctx, &w, c));
	memcpy(v, g, (size_t)(c * c) * sizeof *v);
	KDRI_TRY(kdri_eigh(ctx, c, v, c, w));
	memset(out, 0, (size_t)(c * c) * sizeof *out);
	if (half)
		memset(half, 0, (size_t)(c * c) * sizeof *half);
	for (int64_t j = 0; j < c; j++) {
		if (w[j] <= 1e-12 * w[c - 1] || w[j] <= DBL_MIN)
			continue;
		for (int64_t p = 0; p < c; p++)
			for (int64_t q = 0; q < c; q++) {
				double vv = v[p * c + j] * v[q * c + j];
				out[p * c + q] += vv / w[j];
				if (half)
					half[p * c + q] += vv / sqrt(w[j]);
			}
	}
done:
	KDRI_FREE(ctx, v, w);
	return st;
}
