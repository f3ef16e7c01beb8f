/* One table of operations, for the CPU and for accelerators. SPDX-License-Identifier: BSD-3-Clause
 *
 * A method that can run on a device is written once with this table. `kdri_cpu` (matrix/cpu/) implements it on the CPU,
 * the plug-in libkindred_cuda.so (matrix/cuda/) on a GPU. Operations that no method needs on the CPU are NULL there, as
 * noted in their comments.
 *
 * Memory. Blocks and sparse matrices are in the memory of their device, which only the operations of the table may
 * access. Vectors are in host memory, unless their comment says "of the device"; on a GPU an operation transfers what it
 * needs. Results are complete when an operation returns values to the host, or when `get` returns.
 *
 * Outputs must not overlap inputs, unless the comment says "in place". A failed operation leaves its outputs undefined.
 * It returns KDR_ERR_MEMORY, KDR_ERR_NUMERIC (not positive definite, or cancelled because it is time to stop) or
 * KDR_ERR_INTERNAL (the device or its libraries), with the reason in the context (processor) or in kdri_device.error
 * (others): see kdri_device_status.
 *
 * Rounding. An operation may round in any way, unless its comment says otherwise. On the CPU every result is the same
 * for any number of threads. */
#ifndef KDRI_DEVICE_H
#define KDRI_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kindred/context.h"
#include "kindred/matrix.h"
#include "kindred/status.h"

/* The version of the table and of everything in this file: a plug-in built for another number is not used. */
enum { KDRI_DEVICE_ABI = 7 };

typedef struct kdri_device kdri_device;

/* A dense matrix, row-major: entry (i, j) is number i * stride + j of `data`. */
typedef struct kdri_block {
	kdri_device *dev;
	int64_t rows, cols, stride;
	bool single; /* entries, and products with them, have the accuracy of single precision */
	bool floats; /* entries are floats, otherwise doubles; accelerators store only doubles */
	void *data;  /* of the device */
} kdri_block;

/* Compressed rows in the memory of a device: the pointers of `x` and `turned` are of the device. */
typedef struct kdri_sparse {
	kdri_device *dev;
	kdr_csr x, turned; /* turned: the transpose; without rowptr if it was not requested */
	int64_t entries;
	bool owned; /* false: the arrays are in host memory, which the CPU reads directly */
} kdri_sparse;

/* Some rows of a matrix in the memory of a device; `begin` is the number of the first one. */
typedef struct kdri_drows {
	int64_t begin, rows;
	bool sparse;
	kdri_block dense;
	kdri_sparse csr;
} kdri_drows;

/* k-means: what `nearest` compares rows with, and what it finds. Vectors are of the device. */
typedef struct kdri_nearest {
	kdri_block centres;         /* k x d, or d x k if rows are sparse */
	const double *offset;       /* k */
	const double *twice, *norm; /* one per row; twice NULL: 2 */
	double error_row, error_base;
	const void *rough; /* what `rough` computed for these rows, or NULL */
	int32_t *label;    /* one per row */
	double *value;     /* one per row, or NULL */
	int32_t *doubt;    /* room for one per row */
	int64_t doubts;    /* the number of uncertain rows */
} kdri_nearest;

/* Neighbours. The score of rows i and j with product p, which is then rounded to a grid: (s + magic) - magic. */
typedef enum kdri_nn_score {
	KDRI_NN_COSINE,   /* p f_j f_i */
	KDRI_NN_SHIFTED,  /* (p - g_j - (g_i - square)) f_j f_i */
	KDRI_NN_EUCLIDEAN /* p - f_j */
} kdri_nn_score;

/* The maximum number of neighbours that an accelerator can find; the CPU has no limit. */
enum { KDRI_NN_MOST = 64 };

typedef struct kdri_nn {
	kdri_nn_score score;
	double magic, square;
	int64_t k;
	const double *factor, *shift; /* f and g of the candidate rows, from the first one of this call on */
	const double *own_factor, *own_shift; /* those of the query rows */
	int64_t from;                         /* the number of the first candidate row */
	int64_t myself; /* the number of the first query row among the candidates; the others follow. Rows are
			   never compared with themselves. -rows or less: queries are not candidates */
	bool fresh; /* the lists begin with this call; otherwise they continue: parts must come in increasing order */
	int32_t *index; /* rows x k: best first, of equals the lowest number first; -1: none */
	double *best;   /* rows x k: their scores */
	int64_t *held;  /* rows: their number so far; only for the CPU */
} kdri_nn;

struct kdri_device {
	int abi;
	const char *kind; /* "cpu", "cuda" */
	void *self;
	char error[256]; /* why the last operation failed, on one line; the CPU uses the context's error */
	int users;       /* jobs that may use its memory at the same time; 0: one */
	int64_t most_columns; /* from this number of columns on, a product of a matrix with few columns does not
			         become cheaper per column */

	/* --- memory ------------------------------------------------------------------------------------- */

	/* A buffer of 0 bytes is valid. `release` accepts NULL. */
	kdr_status (*alloc)(kdr_context *ctx, kdri_device *d, size_t bytes, void **out);
	void (*release)(kdr_context *ctx, kdri_device *d, void *data);
	/* Estimated number of bytes available to each of `users`. */
	size_t (*room)(kdri_device *d);
	/* `rows` pieces of `width` bytes, from or to the host; a pitch is the distance from piece to piece. */
	kdr_status (*put)(kdr_context *ctx, kdri_device *d, void *to, size_t pitch, const void *from,
	                  size_t host_pitch, size_t width, size_t rows);
	kdr_status (*get)(kdr_context *ctx, kdri_device *d, const void *from, size_t pitch, void *to,
	                  size_t host_pitch, size_t width, size_t rows);
	/* Pins host memory that is transferred repeatedly, which makes transfers faster until `unpin`; unpin it before
	 * it is freed. Pinning is optional. These and `close` are NULL on the CPU. */
	kdr_status (*pin)(kdr_context *ctx, kdri_device *d, const void *host, size_t bytes);
	void (*unpin)(kdri_device *d, const void *host); /* accepts memory that was never pinned */
	void (*close)(kdri_device *d);

	/* --- entries -------------------------------------------------------------------------------------- */

	kdr_status (*fill)(kdr_context *ctx, kdri_block a, double value);
	kdr_status (*copy)(kdr_context *ctx, kdri_block from, kdri_block to); /* of one precision */
	kdr_status (*mirror)(kdr_context *ctx, kdri_block a); /* the upper triangle from the lower */
	kdr_status (*clip)(kdr_context *ctx, kdri_block a);   /* max(a, 0) */
	/* out (count x count): out_ij = a(index_i, index_j). */
	kdr_status (*take)(kdr_context *ctx, kdri_block a, const int64_t *index, int64_t count, double *out);

	/* --- products ------------------------------------------------------------------------------------- */

	/* C = alpha op(A) op(B) + beta C, all of one precision. beta = 0: the previous entries of C, even NaN, are
	 * ignored. */
	kdr_status (*gemm)(kdr_context *ctx, bool trans_a, bool trans_b, double alpha, kdri_block a,
	                   kdri_block b, double beta, kdri_block c);
	/* C = alpha A A' + beta C, or alpha A'A (trans): the lower triangle. C may be double if A is single. */
	kdr_status (*syrk)(kdr_context *ctx, bool trans, double alpha, kdri_block a, double beta,
	                   kdri_block c);
	/* Replaces A (doubles, symmetric positive definite, given by its lower triangle) by its full inverse. */
	kdr_status (*inverse)(kdr_context *ctx, kdri_block a);
	/* C = A B, B and C of doubles, A and B without negative entries; A may be single, and then so are products and short sums. */
	kdr_status (*apply)(kdr_context *ctx, kdri_block a, kdri_block b, kdri_block c);
	/* y = A x, or A'x. Sums are double. */
	kdr_status (*times)(kdr_context *ctx, kdri_block a, bool trans, const double *x, double *y);
	/* out_i = sum_j a_ij v_j; v NULL: ones. Sums are double. */
	kdr_status (*row_dots)(kdr_context *ctx, kdri_block a, const double *v, double *out);
	/* Y = X B, or X'B (turned), B and Y of doubles. */
	kdr_status (*multiply)(kdr_context *ctx, const kdri_sparse *x, bool turned, kdri_block b,
	                       kdri_block y);
	/* C = X diag(weight) X', or X' diag(weight) X (turned): the lower triangle; weight NULL: ones. X has its transpose. */
	kdr_status (*gram)(kdr_context *ctx, const kdri_sparse *x, bool turned, const double *weight,
	                   kdri_block c);

	/* --- layers of features ----------------------------------------------------------------------------- */

	/* to_ij = (a_ij - shift mean_j) scale_j; scale NULL: ones. */
	kdr_status (*centre)(kdr_context *ctx, kdri_block a, const double *mean, double shift,
	                     const double *scale, kdri_block to);
	/* Sums and sums of squares of the columns; how many entries are below -limit or above limit. */
	kdr_status (*moments)(kdr_context *ctx, kdri_block a, double limit, double *sum, double *squares,
	                      int64_t *beyond);
	/* h_ij = tanh(y_ij + lean_i mean_j + offset_j); lean or offset NULL: zeros. y may be h, and may be double where h is single. */
	kdr_status (*tanh)(kdr_context *ctx, kdri_block y, const double *lean, const double *mean,
	                   const double *offset, kdri_block h);
	/* The same of y', y of doubles, with rows of x besides: h_ij = tanh((lean_i mean_j - y_ji + x_ij) / q + offset_j). Without x:
	 * tanh(y_ji + lean_i mean_j). */
	kdr_status (*tanh_rows)(kdr_context *ctx, kdri_block y, const kdri_sparse *x, const double *lean,
	                        const double *mean, double q, const double *offset, kdri_block h);
	/* The lower triangle of C, doubles: c_ij <- scale (c_ij - g_ij) + d_i [i = j], with g_ij = a_i + a_j - c, or c a_i a_j (outer), or 0
	 * (a NULL); diagonal NULL: ones. */
	kdr_status (*adjust)(kdr_context *ctx, kdri_block c, const double *a, bool outer, double constant,
	                     double scale, const double *diagonal);
	/* a_ij <- ([i = j] - a_ij scale_j) / q; scale NULL: ones. */
	kdr_status (*complement)(kdr_context *ctx, kdri_block a, const double *scale, double q);

	/* --- a Gram matrix K, square_i = k_ii, of which the lower triangle is read ------------------------------- */

	/* K becomes exp(-factor max(0, square_i + square_j - 2 k_ij)), or cosines (factor < 0: 0 if a length is 0): all
	 * of it, in place. The diagonal is 1, or 0 if a length is 0. */
	kdr_status (*similarity)(kdr_context *ctx, kdri_block k, const double *square, double factor);
	/* Sums of k_ij, or exp(..) as above (factor > 0), over the rows of task t and the columns of task s: sums (ntasks x ntasks), s <= t.
	 * Task t has rows begin[t] .. begin[t + 1] - 1. */
	kdr_status (*kernel_sums)(kdr_context *ctx, kdri_block k, const double *square, const int64_t *begin,
	                          int64_t ntasks, double factor, double *sums);

	/* --- rows --------------------------------------------------------------------------------------------- */

	/* The entry of each row at `place`, from 0, in increasing order. */
	kdr_status (*row_nth)(kdr_context *ctx, kdri_block a, int64_t place, double *out);
	kdr_status (*row_squares)(kdr_context *ctx, kdri_block a, double *out);
	kdr_status (*square)(kdr_context *ctx, kdri_block a, double *out); /* the sum of all squares */
	kdr_status (*count_from)(kdr_context *ctx, kdri_block a, double least, int64_t *out);
	/* Distances a_ij = max(0, norm_i + norm_j - 2 c_ij) of row i of C, which is row first + i of all. Of the others
	 * least is the smallest, bound the one at `place`, from 0. j is a neighbour if a_ij < bound, or if a_ij <= bound
	 * + tie norm_i and bound - least is at most tie norm_i. count: the number of neighbours. `c` may be overwritten;
	 * `neighbour_weights` accepts it in that state. */
	kdr_status (*neighbour_limits)(kdr_context *ctx, kdri_block c, int64_t first, const double *norm,
	                               int64_t place, double tie, double *least, double *bound,
	                               int64_t *count);
	/* Writes their columns in increasing order and their weights (bound - a) / (bound - least), or 1 for ties, to
	 * starts[i] .. starts[i + 1] - 1 of `col` and `val`. */
	kdr_status (*neighbour_weights)(kdr_context *ctx, kdri_block c, int64_t first, const double *norm,
	                                double tie, const double *least, const double *bound,
	                                const int64_t *starts, int32_t *col, double *val);

	/* --- symmetric factorisation ----------------------------------------------------------------------------- */

	/* out_j = sum_i a_ij b_ij. */
	kdr_status (*column_dots)(kdr_context *ctx, kdri_block a, kdri_block b, double *out);
	/* to = y (n / d)^e, e = 1/2, or 1/4 (careful); n / d = 1 where d = 0; below 1e-100: 0. All of doubles. */
	kdr_status (*ratio_step)(kdr_context *ctx, kdri_block y, kdri_block n, kdri_block d, bool careful,
	                         kdri_block to);

	/* --- k-means through a Gram matrix; columns of `sums` (k x n, doubles) are samples --------------------------- */

	/* sums_j: the rows of A whose label is j, added in increasing order; or (before) what the rows change whose label was before_i. Each
	 * sum is a chain of roundings in that order, without fused multiplications: the same bits on every device. */
	kdr_status (*group_rows)(kdr_context *ctx, kdri_block a, const int32_t *label, const int32_t *before,
	                         kdri_block sums);
	/* out_i = sums(label_i, i). */
	kdr_status (*group_own)(kdr_context *ctx, kdri_block sums, const int32_t *label, double *out);
	/* next_i: the lowest j with size_j > 0 and the smallest v_j = (diagonal_i - 2 sums_ji / size_j) + self_j /
	 * size_j^2; away_i: it, at least 0. Every operation is rounded separately. */
	kdr_status (*group_closest)(kdr_context *ctx, kdri_block sums, const double *diagonal,
	                            const double *size, const double *self, int32_t *next, double *away);

	/* --- k-means: NULL on the CPU, which has its own loop (engine/kmeans)
	 * ------------------------------------ */

	/* Prepares data that `nearest` can use before it reads the rows, if that saves work. mean: a vector near the
	 * rows; *out: memory of the device, or NULL for nothing. */
	kdr_status (*rough)(kdr_context *ctx, kdri_block x, const double *mean, void **out);
	/* The two smallest of v_j = offset_j - twice_i <x_i, c_j>; label: the lowest j of the smallest, value: the
	 * smallest. A row is uncertain if they differ by at most 2.01 (error_row norm_i + error_base) or are NaN; a
	 * row whose exact values differ by more need not be. doubt: these rows in increasing order. */
	kdr_status (*nearest)(kdr_context *ctx, kdri_drows x, kdri_nearest *n);
	/* Rows sorted by cluster, each cluster's in increasing order: row + 1, all of them, or those whose label
	 * changed, as -(row + 1) if they leave. begin (k + 1) is in host memory; list has space for n, or 2 n,
	 * numbers. `before` is set to `label`. All others are in device memory. */
	kdr_status (*order)(kdr_context *ctx, kdri_device *d, const int32_t *label, int32_t *before,
	                    int64_t n, int64_t k, bool all, int32_t *list, int64_t *begin);
	/* The number of changed labels and the number of rows of each of k labels; label and before are of the device. */
	kdr_status (*changed)(kdr_context *ctx, kdri_device *d, const int32_t *label, const int32_t *before,
	                      int64_t n, int64_t k, int64_t *moved, int64_t *counts);
	/* sums_j (+)= the rows of cluster j as `order` listed them, each times sign and coef (NULL: 1), in two parts as (E101) of
	 * comm/exact.h splits them, exactly: columns 0 to d - 1 are the high parts, the next d are the low ones.
	 * list, coef and unit are in device memory. */
	kdr_status (*sums)(kdr_context *ctx, kdri_drows x, const int32_t *list, const int64_t *begin,
	                   const double *coef, const double *unit, double ratio, bool add, kdri_block sums);
	/* to_jf = sums_jf + sums_j(d+f): their values. */
	kdr_status (*join)(kdr_context *ctx, kdri_block sums, kdri_block to);

	/* --- neighbours -------------------------------------------------------------------------------------------- */

	/* The k best of `others` for each of `rows`; sparse others have their transpose. Products of sparse rows are
	 * sums over increasing columns, with each operation rounded separately. On accelerators NaN scores give no
	 * neighbour. */
	kdr_status (*neighbours)(kdr_context *ctx, kdri_drows rows, kdri_drows others, const kdri_nn *nn);
};

/* The CPU. Its operations may be called from any thread. */
extern kdri_device kdri_cpu;

/* The interface of a plug-in: one function with this name and type. NULL if it was built for another ABI. */
#define KDRI_PLUGIN_SYMBOL "kdri_plugin"
typedef struct kdri_plugin {
	int abi;
	const char *kind;
	int (*count)(void); /* number of usable devices; 0 without a driver */
	/* "NVIDIA H200, 141 GB, compute 9.0" */
	void (*describe)(int index, char *text, size_t room);
	kdri_device *(*open)(int index, char *error, size_t room); /* NULL: *error has the reason */
} kdri_plugin;

#endif
