/* Triangular matrices: products, solves, factors and inverses. SPDX-License-Identifier: BSD-3-Clause
 *
 * Matrices are divided into blocks, so that nearly all of the work is in products (gemm_of.h); the rest is done by
 * textbook substitution. */
#include <stdatomic.h>
#include <stdlib.h>

#include "matrix/blas.h"
#include "matrix/builtin/builtin.h"

/* Buffers of products.
 *
 * A product returns no status and also works without a buffer, only more slowly. Buffers are therefore allocated by
 * the C library, not by the context's allocator, and never freed, like those of other BLAS libraries. */

enum { SLOTS = 256, ALIGNMENT = 64 };

static atomic_bool taken[SLOTS];
static void *rooms[SLOTS]; /* NULL: not allocated yet; belongs to the thread that has taken the slot */

/* Not aligned_alloc, which the C library of Windows does not have. */
static void *room_new(void)
{
	char *at = malloc(KDRI_ROOM_BYTES + ALIGNMENT);
	return at ? at + (ALIGNMENT - (uintptr_t)at % ALIGNMENT) : NULL;
}

int kdri_room_take(void **room)
{
	for (int i = 0; i < SLOTS; i++) {
		if (atomic_exchange_explicit(&taken[i], true, memory_order_acquire))
			continue;
		if (!rooms[i])
			rooms[i] = room_new();
		*room = rooms[i];
		return i;
	}
	*room = NULL;
	return -1;
}

void kdri_room_return(int slot)
{
	if (slot >= 0)
		atomic_store_explicit(&taken[slot], false, memory_order_release);
}

kdr_status kdri_blas_reserve(kdr_context *ctx)
{
	(void)ctx;
	return KDR_OK;
}

enum { SIDE = 32, ROWS = 64 };

/* L X = B for one block on the diagonal. */
KDRI_KERNEL
static void forward_block(int64_t n, int64_t k, const double *l, int64_t ldl, double *b, int64_t ldb)
{
	for (int64_t i = 0; i < n; i++) {
		double *restrict to = b + i * ldb;
		for (int64_t t = 0; t < i; t++) {
			const double factor = l[i * ldl + t], *restrict from = b + t * ldb;
			for (int64_t j = 0; j < k; j++)
				to[j] -= factor * from[j];
		}
		for (int64_t j = 0; j < k; j++)
			to[j] /= l[i * ldl + i];
	}
}

/* L' X = B */
KDRI_KERNEL
static void backward_block(int64_t n, int64_t k, const double *l, int64_t ldl, double *b, int64_t ldb)
{
	for (int64_t i = n - 1; i >= 0; i--) {
		double *restrict to = b + i * ldb;
		for (int64_t t = i + 1; t < n; t++) {
			const double factor = l[t * ldl + i], *restrict from = b + t * ldb;
			for (int64_t j = 0; j < k; j++)
				to[j] -= factor * from[j];
		}
		for (int64_t j = 0; j < k; j++)
			to[j] /= l[i * ldl + i];
	}
}

void kdri_solve_left(bool trans, int64_t n, int64_t k, const double *l, int64_t ldl, double *b, int64_t ldb)
{
	int64_t blocks = (n + SIDE - 1) / SIDE;
	for (int64_t p = 0; p < blocks; p++) {
		int64_t i = (trans ? blocks - 1 - p : p) * SIDE, rows = KDRI_MIN(SIDE, n - i),
		        after = i + rows;
		double *to = b + i * ldb;
		const double *diagonal = l + i * ldl + i;
		if (trans && after < n)
			kdri_dgemm(true, false, rows, k, n - after, -1, l + after * ldl + i, ldl,
			           b + after * ldb, ldb, 1, to, ldb);
		else if (!trans && i > 0)
			kdri_dgemm(false, false, rows, k, i, -1, l + i * ldl, ldl, b, ldb, 1, to, ldb);
		(trans ? backward_block : forward_block)(rows, k, diagonal, ldl, to, ldb);
	}
}

/* X L' = B for one block on the diagonal: the transposed rows of B, some at a time. */
static void solve_rows(int64_t rows, int64_t n, const double *l, int64_t ldl, double *b, int64_t ldb)
{
	double turned[SIDE * ROWS];
	for (int64_t i = 0; i < rows; i += ROWS) {
		int64_t count = KDRI_MIN(ROWS, rows - i);
		for (int64_t r = 0; r < count; r++)
			for (int64_t j = 0; j < n; j++)
				turned[j * ROWS + r] = b[(i + r) * ldb + j];
		forward_block(n, count, l, ldl, turned, ROWS);
		for (int64_t r = 0; r < count; r++)
			for (int64_t j = 0; j < n; j++)
				b[(i + r) * ldb + j] = turned[j * ROWS + r];
	}
}

void kdri_solve_right(int64_t rows, int64_t n, const double *l, int64_t ldl, double *b, int64_t ldb)
{
	for (int64_t j = 0; j < n; j += SIDE) {
		int64_t cols = KDRI_MIN(SIDE, n - j);
		if (j > 0)
			kdri_dgemm(false, true, rows, cols, j, -1, b, ldb, l + j * ldl, ldl, 1, b + j, ldb);
		solve_rows(rows, cols, l + j * ldl + j, ldl, b + j, ldb);
	}
}

void kdri_times_upper(int64_t rows, int64_t n, const double *u, int64_t ldu, double *b, int64_t ldb)
{
	double copy[ROWS * SIDE];
	for (int64_t i = 0; i < rows; i += ROWS) {
		int64_t count = KDRI_MIN(ROWS, rows - i);
		for (int64_t j = (n - 1) / SIDE * SIDE; j >= 0; j -= SIDE) {
			int64_t cols = KDRI_MIN(SIDE, n - j);
			double *to = b + i * ldb + j;
			for (int64_t r = 0; r < count; r++)
				memcpy(copy + r * SIDE, to + r * ldb, (size_t)cols * sizeof *to);
			kdri_dgemm(false, false, count, cols, cols, 1, copy, SIDE, u + j * ldu + j, ldu, 0,
			           to, ldb);
			if (j > 0)
				kdri_dgemm(false, false, count, cols, j, 1, b + i * ldb, ldb, u + j, ldu, 1,
				           to, ldb);
		}
	}
}

/* A small block, row after row. */
static int factor_small(int64_t n, double *a, int64_t lda)
{
	for (int64_t i = 0; i < n; i++) {
		double *row = a + i * lda;
		for (int64_t j = 0; j < i; j++)
			row[j] = (row[j] - kdri_dot(row, a + j * lda, j)) / a[j * lda + j];
		double pivot = row[i] - kdri_nrm2sq(row, i);
		if (!(pivot > 0 && isfinite(pivot)))
			return (int)i + 1;
		row[i] = sqrt(pivot);
	}
	return 0;
}

int kdri_factor_block(int64_t n, double *a, int64_t lda)
{
	for (int64_t i = 0; i < n; i += SIDE) {
		int64_t rows = KDRI_MIN(SIDE, n - i), after = i + rows;
		double *diagonal = a + i * lda + i, *below = a + after * lda + i;
		int info = factor_small(rows, diagonal, lda);
		if (info != 0)
			return (int)i + info;
		if (after == n)
			break;
		kdri_solve_right(n - after, rows, diagonal, lda, below, lda);
		kdri_dsyrk(false, n - after, rows, -1, below, lda, 1, below + rows, lda);
	}
	return 0;
}

/* Row i of the inverse V has (e_i - sum over t > i of u_it v_t) / u_ii; the rows below are done. */
int kdri_invert_upper(int64_t n, double *u, int64_t ldu)
{
	for (int64_t i = 0; i < n; i++)
		if (u[i * ldu + i] == 0)
			return (int)i + 1;
	for (int64_t i = n - 1; i >= 0; i--) {
		double *row = u + i * ldu, pivot = 1 / row[i];
		for (int64_t t = n - 1; t > i; t--) { /* downwards: row t changes nothing before column t */
			double factor = -pivot * row[t];
			row[t] = 0;
			kdri_axpy(factor, u + t * ldu + t, row + t, n - t);
		}
		row[i] = pivot;
	}
	return 0;
}
