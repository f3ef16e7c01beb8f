/* Linear algebra: the only code that calls BLAS and LAPACK. SPDX-License-Identifier: BSD-3-Clause
 *
 * Determinism. Every result is the same for any number of threads: work is split into blocks of a fixed size, each block
 * is processed by one thread, and partial sums are added in the order of the blocks. BLAS is only called
 * single-threaded, from inside such blocks.
 *
 * Storage. Dense blocks are row-major with a stride, as kdr_dense. Outputs must not alias inputs. */
#ifndef KDRI_LINALG_H
#define KDRI_LINALG_H

#include <stdbool.h>
#include <stdint.h>

#include "core/internal.h"

/* --- product.c: dense products. Row-major; sizes are narrowed to the BLAS integer and checked. -- */

/* C (m x n) = alpha op(A) op(B) + beta C, blocked over rows of C, in parallel. */
kdr_status kdri_gemm(kdr_context *ctx, bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k,
                     double alpha, const double *a, int64_t lda, const double *b, int64_t ldb, double beta,
                     double *c, int64_t ldc);
/* C (n x n, full storage) = A A' (trans = false, A n x k) or A' A (trans = true, A k x n). */
kdr_status kdri_syrk(kdr_context *ctx, bool trans, int64_t n, int64_t k, const double *a, int64_t lda,
                     double *c, int64_t ldc);

/* product.c: A B' (A m x k, B n x k), never stored: `use` receives entries col..col+cols-1 of one row at a time. For each
 * row the pieces are passed in increasing order of columns by one thread; rows run in parallel. */
typedef void kdri_tile_fn(void *user, int64_t row, int64_t col, int64_t cols, const double *piece);
kdr_status kdri_gemm_tiles(kdr_context *ctx, int64_t m, int64_t n, int64_t k, const double *a, int64_t lda,
                           const double *b, int64_t ldb, kdri_tile_fn *use, void *user);

/* --- dense.c: vectors and small pieces ------------------------------------------------------ */

/* Fixed association: the same value on every run and for every number of threads. */
double kdri_dot(const double *x, const double *y, int64_t n);
double kdri_nrm2sq(const double *x, int64_t n);
void kdri_axpy(double alpha, const double *x, double *y, int64_t n);
/* Minimum or maximum of n numbers; infinite if there are none. NaN is ignored. */
double kdri_least(const double *x, int64_t n);
double kdri_greatest(const double *x, int64_t n);

/* --- mat.c: dense or sparse ---------------------------------------------------------- */

/* Y (rows x k) = X B, B is cols x k. Sparse X is never densified. */
kdr_status kdri_mat_mul(kdr_context *ctx, const kdr_mat *x, const double *b, int64_t k, int64_t ldb,
                        double *y, int64_t ldy);
/* Y (cols x k) = X' B, B is rows x k. */
kdr_status kdri_mat_tmul(kdr_context *ctx, const kdr_mat *x, const double *b, int64_t k, int64_t ldb,
                         double *y, int64_t ldy);
/* Squared Euclidean norm of each row. */
kdr_status kdri_mat_row_norms(kdr_context *ctx, const kdr_mat *x, double *out);
/* Sum of each column. */
kdr_status kdri_mat_col_sums(kdr_context *ctx, const kdr_mat *x, double *out);
/* Mean of each column; if rows are distributed over ranks, of all rows. */
kdr_status kdri_mat_col_means(kdr_context *ctx, const kdr_mat *x, double *out);
/* The number of rows in which each column is neither 0 nor missing. */
void kdri_mat_col_counts(kdr_context *ctx, const kdr_mat *x, int64_t *counts);
/* Returns KDR_ERR_DATA naming the first entry that is NaN or infinite; with `missing`, NaN is allowed. `what` is the
 * task's name; `data`, unless NULL, has its rows. */
kdr_status kdri_mat_check_values(kdr_context *ctx, const kdr_mat *x, const char *what, const kdr_data *data,
                                 bool missing);
kdr_status kdri_mat_check_finite(kdr_context *ctx, const kdr_mat *x, const char *what);

/* An owned matrix, such as the result of stacking or transposing. */
typedef struct kdri_own {
	kdr_mat view;
	void *parts[3];
} kdri_own;
void kdri_own_free(kdr_context *ctx, kdri_own *m);
/* Makes a sparse matrix from these arrays and takes ownership: they are NULL afterwards. */
kdri_own kdri_own_csr(int64_t rows, int64_t cols, int64_t **rowptr, int32_t **col, double **val);
/* x in the storage that suits its entries: dense if at least a tenth of them is not zero, otherwise sparse. For
 * computations whose rounding must not depend on how x is stored. Borrows x if it is stored this way. */
kdr_status kdri_mat_by_content(kdr_context *ctx, const kdr_mat *x, kdri_own *out);
bool kdri_stored_dense(double nonzero, double rows, double cols);
kdr_status kdri_mat_transpose(kdr_context *ctx, const kdr_mat *x, kdri_own *out);
/* Copies of matrices in mapped files must be in such files, too, because they may not fit in memory. If one of the
 * matrices is in a mapped file, large arrays are allocated in files from now on, until kdri_spool_begin is called with
 * the value this returns. */
bool kdri_copies_begin(kdr_context *ctx, const kdr_mat *const *parts, int64_t count);
/* Rows begin .. end - 1 as a separate matrix, with row pointers from 0; entries are borrowed. */
kdr_status kdri_rows_own(kdr_context *ctx, const kdr_mat *x, int64_t begin, int64_t end, kdri_own *out);
/* All rows of `count` matrices of equal width below each other; sparse if any of them is. */
kdr_status kdri_mat_stack(kdr_context *ctx, const kdr_mat *const *parts, int64_t count, kdri_own *out);
/* Rows rows[0..n-1] of x, in that order. */
kdr_status kdri_mat_take(kdr_context *ctx, const kdr_mat *x, const int64_t *rows, int64_t n, kdri_own *out);
/* stack.c: the same for the rows of all ranks, numbered in the order of all; the result is on all ranks. */
kdr_status kdri_mat_take_all(kdr_context *ctx, const kdr_mat *x, const int64_t *rows, int64_t n,
                             kdri_own *out);
/* Row i of n is row here[i] of x on the one rank that has it, and -1 on the others; on all ranks. */
kdr_status kdri_mat_share(kdr_context *ctx, const kdr_mat *x, const int64_t *here, int64_t n, kdri_own *out);

/* --- mat.c: anything that can be applied to a block of vectors ------------------------------- */

/* A provider of faster products with a matrix that it holds (matrix/device_use.h); a context has a list of them. False:
 * it does not hold this matrix, or cannot multiply it now. */
typedef struct kdri_held kdri_held;
struct kdri_held {
	kdri_held *next;
	bool (*product)(kdr_context *ctx, kdri_held *held, const kdr_mat *x, bool transposed, const double *b,
	                int64_t k, int64_t ldb, double *y, int64_t ldy, kdr_status *st);
};

typedef struct kdri_op kdri_op;
struct kdri_op {
	int64_t rows, cols;
	/* Y (rows x k) = A X (cols x k), row-major with strides. */
	kdr_status (*apply)(kdr_context *ctx, const kdri_op *op, const double *x, int64_t k, int64_t ldx,
	                    double *y, int64_t ldy);
	/* Y (cols x k) = A' X; NULL where op is symmetric (apply serves). */
	kdr_status (*apply_t)(kdr_context *ctx, const kdri_op *op, const double *x, int64_t k, int64_t ldx,
	                      double *y, int64_t ldy);
	const void *data;
};
/* A matrix as an operator; `x` is borrowed. */
kdri_op kdri_op_mat(const kdr_mat *x);
/* x with its column means subtracted: X - 1 mean'. Borrows both. */
typedef struct kdri_centred {
	const kdr_mat *x;
	const double *mean;
} kdri_centred;
kdri_op kdri_op_centred(const kdri_centred *c);

/* --- factor.c, ritz.c ------------------------------------------------------------- */

typedef enum kdri_which { KDRI_LARGEST, KDRI_SMALLEST } kdri_which;

/* All eigenvalues (ascending) of a symmetric n x n matrix in full storage; eigenvector j in column j
 * of `a` on return, each with its largest entry positive. */
kdr_status kdri_eigh(kdr_context *ctx, int64_t n, double *a, int64_t lda, double *values);
/* The `count` algebraically largest (descending) or smallest (ascending) eigenvalues of a symmetric operator and their
 * vectors (n x count, row-major), by blocks (ritz.c); dense LAPACK below a size. Largest entry of each vector positive.
 * Returns KDR_ERR_NUMERIC if it does not converge or is stopped. */
kdr_status kdri_eigsh(kdr_context *ctx, const kdri_op *op, int64_t count, kdri_which which, double tol,
                      double *values, double *vectors);
/* Cholesky of a symmetric positive definite n x n matrix, in place: the lower triangle becomes L.
 * It is blocked, so that the result does not depend on the number of threads. KDR_ERR_NUMERIC names the failing
 * pivot. */
kdr_status kdri_cholesky(kdr_context *ctx, int64_t n, double *a, int64_t lda);
/* Solves L L' X = B in place, B is n x k row-major. */
kdr_status kdri_cholesky_solve(kdr_context *ctx, int64_t n, const double *l, int64_t lda, double *b,
                               int64_t k, int64_t ldb);
/* factor.c: symmetric pseudo-inverse of g (c x c), and its square root into `half` (may be NULL). */
kdr_status kdri_pseudo_inverse(kdr_context *ctx, int64_t c, const double *g, double *out, double *half);
/* factor.c: replaces the factor L that kdri_cholesky left by (L L')^-1, in full storage. */
kdr_status kdri_cholesky_inverse(kdr_context *ctx, int64_t n, double *a, int64_t lda);

/* --- kernels.h machinery -------------------------------------------------------------------- */

/* Marks a leaf kernel to be compiled for several instruction sets, chosen at run time. They are named by level, because
 * "arch=haswell" would only match a Haswell processor and nothing newer. Such a function must not contain a parallel
 * region. */
#ifdef KDR_HAVE_TARGET_CLONES
#define KDRI_KERNEL __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define KDRI_KERNEL
#endif

/* machine.c: the widest registers that KDRI_PICK (each_machine.h) may use, in bits, or 0. */
int kdri_machine(void);

/* Rows per block of parallel work; fixed, since the order of sums depends on it. */
enum { KDRI_BLOCK = 256 };

/* Sums over all rows: at most KDRI_CHUNKS chunks of about equal size, each with its own partial sum. Their number
 * depends only on the number of rows. */
enum { KDRI_CHUNKS = 16 };
static inline int64_t kdri_chunks(int64_t rows)
{
	return KDRI_MIN((rows + KDRI_BLOCK - 1) / KDRI_BLOCK, KDRI_CHUNKS);
}
static inline int64_t kdri_chunk_begin(int64_t rows, int64_t chunks, int64_t c)
{
	return c * (rows / chunks) + KDRI_MIN(c, rows % chunks);
}
/* A random row of chunk c: one per chunk, so that rows sorted by class keep their proportions. */
static inline int64_t kdri_chunk_draw(kdri_rng *rng, int64_t rows, int64_t chunks, int64_t c)
{
	int64_t begin = kdri_chunk_begin(rows, chunks, c);
	return begin + kdri_rng_below(rng, kdri_chunk_begin(rows, chunks, c + 1) - begin);
}

/* Sparse products; called through kdri_mat_mul and kdri_mat_tmul. */

/* Y (rows x k) = X B. */
void kdri_csr_mul(kdr_context *ctx, const kdr_csr *x, const double *b, int64_t k, int64_t ldb, double *y,
                  int64_t ldy);
/* Y (cols x k) = X' B. */
void kdri_csr_tmul(kdr_context *ctx, const kdr_csr *x, const double *b, int64_t k, int64_t ldb, double *y,
                   int64_t ldy);

/* Blocks of vectors as columns, each with its own scalars.
 *
 * A block is rows x m, row-major without gaps. For iterations that run side by side on m vectors, such as
 * conjugate gradients for m right-hand sides. Sums are divided into chunks that depend only on the rows. */

/* out_j = sum_i a_ij b_ij; b NULL: ones. `partial` has space for KDRI_CHUNKS x m numbers. */
void kdri_vectors_dot(kdr_context *ctx, int64_t rows, int64_t m, const double *a, const double *b,
                      double *partial, double *out);
/* out_j = sum over `chunks` partial sums, in their order. */
void kdri_vectors_add(int64_t chunks, int64_t m, const double *partial, double *out);
/* y_ij = scale_j y_ij + alpha_j x_ij; scale NULL: ones. */
void kdri_vectors_combine(kdr_context *ctx, int64_t rows, int64_t m, const double *scale, const double *alpha,
                          const double *x, double *y);

/* levels.c: A x = b for a symmetric positive definite operator and m right-hand sides, by conjugate gradients
 * preconditioned with diag(scale)^-1 (NULL: none). x: the start on entry. A column has converged when its residual
 * is at most tol |b_j|. A may be singular where b and the start are 0 (a part of a graph that nothing
 * reaches): x stays 0 there. Reports progress as `stage`; if stopped early, x is the best so far. */
kdr_status kdri_cg(kdr_context *ctx, const kdri_op *a, const double *scale, int64_t m, const double *b,
                   double tol, int64_t max_iter, const char *stage, double *x, int64_t *iterations,
                   kdr_stop *stop);

/* Order statistics. */

/* The value at place `k` (from 0) of v in increasing order; v is reordered, so that all before place k are
 * at most it and all after it at least it. No entry may be NaN. */
double kdri_select(double *v, int64_t n, int64_t k);
/* The same value, sooner; v is spoilt. */
double kdri_nth(double *v, int64_t n, int64_t k);
/* The mean of the one or two values in the middle; v is overwritten. */
double kdri_median(double *v, int64_t n);

/* Inner products of pairs of rows, never stored.
 *
 *     kdri_products p = { 0 };
 *     KDRI_TRY(kdri_products_new(ctx, &x, &p));
 *     KDRI_TRY(kdri_products_rows(ctx, &p, 0, n, use, user));
 *     kdri_products_free(ctx, &p);
 */

typedef struct kdri_products {
	kdr_mat x, y;     /* borrowed; rows of x are multiplied by rows of y */
	kdri_own columns; /* sparse: the transpose of y, the lists of rows that have each feature */
	double *sums;     /* sparse: a row of products for each thread */
} kdri_products;

/* All pairs of rows of x. */
kdr_status kdri_products_new(kdr_context *ctx, const kdr_mat *x, kdri_products *out);
void kdri_products_free(kdr_context *ctx, kdri_products *p);

/* Calls use(user, i, j, count, <x_i, y_j> .. <x_i, y_{j+count-1}>) until each row i in begin..end-1 of x has been
 * multiplied by all rows of y. For each i the pieces are passed in increasing order of j by one thread; different i run
 * in parallel, so that `use` must neither allocate nor access data of another row. */
kdr_status kdri_products_rows(kdr_context *ctx, const kdri_products *p, int64_t begin, int64_t end,
                              kdri_tile_fn *use, void *user);

/* Distinct columns of a matrix. */

typedef struct kdri_column_set {
	kdri_own x;     /* the distinct columns, in order of first appearance, without columns of zeros */
	double *copies; /* how many columns are equal to each of them */
} kdri_column_set;

/* For a sparse x. *fewer: they are at most half of all columns; otherwise nothing is computed. */
kdr_status kdri_columns_once(kdr_context *ctx, const kdr_mat *x, kdri_column_set *out, bool *fewer);
/* The `count` columns of a sparse x with the most entries, the first ones of equals, in their order. `copies`: those of the
 * columns of x, or NULL for 1. */
kdr_status kdri_columns_most(kdr_context *ctx, const kdr_mat *x, const double *copies, int64_t count,
                             kdri_column_set *out);
void kdri_column_set_free(kdr_context *ctx, kdri_column_set *c);

/* Weights of the nearest neighbours of a sample. */

/* Of distances a_1, .., a_n: the smallest one, and that of the first sample that is not a neighbour. */
typedef struct kdri_limits {
	double least, bound;
	bool tied; /* they are equal */
} kdri_limits;

/* Of n distances a; a[self] (if self >= 0) does not count, `place` counts from 0. `room` (n) is scratch. `tie`: distances no farther apart
 * than this are equal. */
kdri_limits kdri_limits_of(const double *a, int64_t n, int64_t self, int64_t place, double tie, double *room);

/* weight_j = (bound - a_j) / (bound - least) where positive, else 0; where these are tied: 1 up to bound + tie. Returns how many are
 * not 0. */
int64_t kdri_weigh(const kdri_limits *l, const double *a, int64_t n, int64_t self, double tie,
                   double *weight);

/* --- rows of a dense or sparse matrix: rows.c ------------------------------------------------- */

/* The stored entries of one row, borrowed: all of a dense one. */
typedef struct kdri_entries {
	const double *val;
	const int32_t *col; /* increasing; NULL: dense, entry p is column p */
	int64_t count;
} kdri_entries;

static inline kdri_entries kdri_row_entries(const kdr_mat *x, int64_t i)
{
	if (x->kind == KDR_MAT_DENSE)
		return (kdri_entries){ x->as.dense.data + i * x->as.dense.stride, NULL, x->as.dense.cols };
	int64_t begin = x->as.csr.rowptr[i];
	return (kdri_entries){ x->as.csr.val + begin, x->as.csr.col + begin,
		               x->as.csr.rowptr[i + 1] - begin };
}

/* The column of entry p. */
static inline int64_t kdri_entry_column(const kdri_entries *row, int64_t p)
{
	return row->col ? row->col[p] : p;
}

bool kdri_mat_nonnegative(const kdr_mat *x);

/* The columns of sparse rows that have stored entries, in increasing order; to be freed. Memory: O(nnz), whatever the number
 * of columns. */
kdr_status kdri_columns_used(kdr_context *ctx, const kdr_mat *x, int32_t **list, int64_t *count);

/* Rows begin .. end - 1 of x, borrowed. */
static inline kdr_mat kdri_rows(const kdr_mat *x, int64_t begin, int64_t end)
{
	kdr_mat part = *x;
	if (x->kind == KDR_MAT_DENSE) {
		part.as.dense.data += begin * x->as.dense.stride;
		part.as.dense.rows = end - begin;
	} else {
		part.as.csr.rowptr += begin;
		part.as.csr.rows = end - begin;
	}
	return part;
}

/* Zeros, stored or not, count for nothing: a dense row and a sparse one of the same numbers have one hash and are
 * equal. Numbers are compared bit for bit, so that NaN equals itself. */
uint64_t kdri_entries_hash(const kdri_entries *row);
bool kdri_entries_equal(const kdri_entries *a, const kdri_entries *b);

/* Different rows of positive weight (weights NULL: all), counted up to `most`. */
kdr_status kdri_rows_distinct(kdr_context *ctx, const kdr_mat *x, const double *weights, int64_t most,
                              int64_t *out);
/* (*first)[i] is the first row that is equal to row i; NULL if no two rows are equal, or all of them are. To be freed. */
kdr_status kdri_rows_first(kdr_context *ctx, const kdr_mat *x, int64_t **first);

#endif
