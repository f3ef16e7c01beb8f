/* Dense matrices in double or single precision. SPDX-License-Identifier: BSD-3-Clause
 *
 * For methods whose cost and memory are a few very large dense products: single precision halves both.
 * Everything outside sees doubles (kdri_block_read, kdri_block_write). */
#ifndef KDRI_BLOCK_H
#define KDRI_BLOCK_H

#include "matrix/linalg.h"

/* Row-major: entry (i, j) is number i * stride + j of `data`, a double or (floats) a float. */
typedef struct kdri_block {
	int64_t rows, cols, stride;
	bool floats;
	void *data;
} kdri_block;

/* Owned and not zeroed. */
kdr_status kdri_block_new(kdr_context *ctx, int64_t rows, int64_t cols, bool floats, kdri_block *out);
void kdri_block_free(kdr_context *ctx, kdri_block *b);
/* Rows row.. and columns col.. of b, borrowed. */
kdri_block kdri_block_part(const kdri_block *b, int64_t row, int64_t col, int64_t rows, int64_t cols);
/* A borrowed block of doubles. */
kdri_block kdri_block_of(double *data, int64_t rows, int64_t cols, int64_t stride);
/* Entries (i, j) .. (i, j + count - 1). */
void kdri_block_read(const kdri_block *b, int64_t i, int64_t j, int64_t count, double *to);
void kdri_block_write(const kdri_block *b, int64_t i, int64_t j, int64_t count, const double *from);
/* Makes an owned block of doubles (stride = cols) floats, in place; the memory stays what it was. */
void kdri_block_narrow(kdri_block *b);

static inline double kdri_block_get(const kdri_block *b, int64_t i, int64_t j)
{
	return b->floats ? (double)((const float *)b->data)[i * b->stride + j]
	                 : ((const double *)b->data)[i * b->stride + j];
}

static inline void kdri_block_set(const kdri_block *b, int64_t i, int64_t j, double v)
{
	if (b->floats)
		((float *)b->data)[i * b->stride + j] = (float)v;
	else
		((double *)b->data)[i * b->stride + j] = v;
}

/* C = alpha op(A) op(B) + beta C, all of one precision. */
kdr_status kdri_block_gemm(kdr_context *ctx, bool trans_a, bool trans_b, double alpha, const kdri_block *a,
                           const kdri_block *b, double beta, const kdri_block *c);
/* C = alpha A A' + beta C (trans: A' A), the lower triangle alone (kdri_block_mirror makes the rest). C may be double where A is single:
 * sums over the columns of A are then single, sums over calls are double. */
kdr_status kdri_block_syrk(kdr_context *ctx, bool trans, double alpha, const kdri_block *a, double beta,
                           const kdri_block *c);
/* Y (rows x k) = A X, Y and X in double: a matrix in single precision is widened a tile at a time. */
kdr_status kdri_block_mul(kdr_context *ctx, const kdri_block *a, const double *x, int64_t k, int64_t ldx,
                          double *y, int64_t ldy);
/* The same for A and X that have no negative entry: with A in single precision the products and the sums over 1024 columns are single,
 * too, which no difference makes worse than some 1e-7 of an entry of Y; beyond, sums are double. Entries of X below 1e-30 count as 0. */
kdr_status kdri_block_mul_positive(kdr_context *ctx, const kdri_block *a, const double *x, int64_t k,
                                   int64_t ldx, double *y, int64_t ldy);

/* C (rows x rows) = X diag(weight) X' of a sparse X, the lower triangle alone; `xt` is its transpose; weight NULL:
 * ones. */
kdr_status kdri_sparse_gram(kdr_context *ctx, const kdr_csr *x, const kdr_csr *xt, const double *weight,
                            const kdri_block *c);
/* The sum of the squares of all entries of X X'. */
kdr_status kdri_sparse_gram_square(kdr_context *ctx, const kdr_csr *x, const kdr_csr *xt, double *out);
/* C (rows of Y x rows of X) = Y diag(weight) X', all of it. */
kdr_status kdri_sparse_cross(kdr_context *ctx, const kdr_csr *y, const kdr_csr *xt, const double *weight,
                             const kdri_block *c);

/* c = max(c, 0). */
void kdri_block_clip(kdr_context *ctx, const kdri_block *c);
/* The upper triangle from the lower. */
void kdri_block_mirror(kdr_context *ctx, const kdri_block *c);

/* --- block_rows.c: loops over a block of one row. Sums are in double --------------------------------- */

/* sum += v, squares += v^2. */
void kdri_row_add_moments(const kdri_block *row, double *sum, double *squares);
/* Entries beyond -limit and limit; entries of at least `least`. */
int64_t kdri_row_count_beyond(const kdri_block *row, double limit);
int64_t kdri_row_count_from(const kdri_block *row, double least);
double kdri_row_squares(const kdri_block *row);
/* to += factor v. */
void kdri_row_add(const kdri_block *row, double factor, double *to);
/* to = (v - shift mean) scale; scale NULL: ones. `to` has the precision of the row. */
void kdri_row_centre(const kdri_block *row, const double *mean, double shift, const double *scale,
                     const kdri_block *to);

#endif
