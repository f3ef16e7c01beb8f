/* The range of a data matrix: its singular vectors, kept in the cheaper form.
 * SPDX-License-Identifier: BSD-3-Clause */
/* Products with a matrix and with its transpose in one pass over the rows.
 *
 * With U the matrix x and a constant feature after its last column,
 *
 *   (E1)  y = U' A,   A = change(U p)
 *
 * for blocks p and y of (columns of x + 1) x k. Row i of A may depend on row i of U p only. The evaluations and the
 * Hessian products of linear classifiers are such passes. */
#ifndef KDRI_RANGE_H
#define KDRI_RANGE_H

#include "matrix/linalg.h"

/* Gram matrix of x's shorter side: X'X (cols x cols) if cols <= rows, else XX' (rows x rows). `out` has
 * room for the square of the shorter side, full storage. */
kdr_status kdri_gram(kdr_context *ctx, const kdr_mat *x, double *out);
/* X'X, whichever side is the shorter: cols x cols. */
kdr_status kdri_gram_columns(kdr_context *ctx, const kdr_mat *x, double *out);

/* X = V diag(s) U' truncated to `rank` directions; U (cols x rank) is orthonormal and spans the range kept. */
typedef struct kdri_range {
	const kdr_mat *x; /* borrowed */
	int64_t rank;
	double *s;     /* rank, descending */
	bool by_rows;  /* rows < cols: `e` is V and U = X' V diag(1/s) is never formed */
	double *e;     /* shorter side x rank: U, or V if by_rows */
	double energy; /* fraction of |X|^2 in the directions kept; 1 if all are kept */
	bool capped;   /* more directions would be needed for the requested energy than could be kept */
} kdri_range;

/* Whether x is small enough for all of its directions: at most 3000 on the shorter side; of columns, where rows are held by
 * several ranks, and the directions are those of all rows. */
bool kdri_range_is_whole(const kdr_context *ctx, const kdr_mat *x);

/* The fewest leading directions with a share `energy` (0..1] of |X|^2; 1: all of them, to rounding.
 * Above 3000 on the shorter side at most 256 directions are found, by random projections; on several ranks above 3000 columns,
 * as no rank has all of the rows. */
kdr_status kdri_range_new(kdr_context *ctx, const kdr_mat *x, double energy, kdri_range *out);
void kdri_range_free(kdr_context *ctx, kdri_range *range);

/* y (rank x k) = U' a, a is cols x k. */
kdr_status kdri_range_to(kdr_context *ctx, const kdri_range *range, const double *a, int64_t k, double *y);
/* y (cols x k) = U a, a is rank x k. */
kdr_status kdri_range_from(kdr_context *ctx, const kdri_range *range, const double *a, int64_t k, double *y);
/* X U (rows x rank): the data in the coordinates of their range. */
kdr_status kdri_range_data(kdr_context *ctx, const kdri_range *range, double *out);

/* Additional directions that are searched; directions and rounds of a truncated range. */
enum { KDRI_RANGE_WHOLE = 3000, KDRI_LEADING_BESIDE = 16, KDRI_RANGE_MOST = 256, KDRI_RANGE_ROUNDS = 4 };

/* The `count` leading singular triplets of an operator by random projections with `rounds` rounds of power iteration: s
 * descending; *u (rows x count, the caller's to free) and v (cols x count) orthonormal, either may be NULL. The subspace
 * is accurate if the singular values decrease quickly, and approximate otherwise. Memory is that of count + 16 columns:
 * *u is what the rounds worked on. If rows are held by several ranks, the operator applies to those of this rank, and
 * its transpose gives their part of the sum; the triplets are those of all rows, and *u has the rows of this rank. */
kdr_status kdri_leading(kdr_context *ctx, const kdri_op *op, int64_t count, int rounds, double **u, double *s,
                        double *v);

/* Chunks of rows, of about equal size; their number depends only on that of the rows. There are more than KDRI_CHUNKS, so that
 * any number of threads is busy until the end. */
enum { KDRI_PASS_CHUNKS = 64 };
static inline int64_t kdri_pass_chunks(int64_t rows)
{
	return KDRI_MIN((rows + KDRI_BLOCK - 1) / KDRI_BLOCK, KDRI_PASS_CHUNKS);
}

/* z: rows begin .. end - 1 of U p, each of k numbers, to be replaced by those of A. Sums over rows are added up by chunk. Chunks run in parallel; the rows of a chunk come in order. */
typedef void kdri_pass_fn(void *user, int64_t chunk, int64_t begin, int64_t end, double *z);

typedef struct kdri_pass {
	double bias; /* value of the constant feature; 0: none */
	bool fused;
	int64_t d, k; /* columns with the constant feature; columns of the blocks, at most */
	double *p, *sums, *z;
} kdri_pass;

/* For matrices like x. */
kdr_status kdri_pass_open(kdr_context *ctx, const kdr_mat *x, double bias, int64_t k, kdri_pass *t);
void kdri_pass_close(kdr_context *ctx, kdri_pass *t);
/* (E1) for rows rows[0..n-1] of x, ascending, or all n rows if rows is NULL; only a fused pass takes some of the rows.
 * p NULL: zeros. */
kdr_status kdri_pass_run(kdr_context *ctx, kdri_pass *t, const kdr_mat *x, const int64_t *rows, int64_t n,
                         int64_t k, const double *p, kdri_pass_fn *change, void *user, double *y);

#endif
