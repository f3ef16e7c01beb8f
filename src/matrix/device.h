/* One table of operations, for a processor or an accelerator. SPDX-License-Identifier: BSD-3-Clause
 *
 * A method that can be carried by a device is written once over this table; src/matrix/host.c is the table in plain C on
 * host memory, the plug-in libkindred_cuda.so is the same table on a GPU. Nothing outside of the table touches the memory of a
 * device: buffers are opaque, `put` and `get` are the only ways in and out.
 *
 * Everything is double. A matrix is a view: rows x cols from entry `at` of a buffer, row-major, `stride` entries from row to
 * row. Outputs must not overlap inputs, unless the operation says "in place". Work is done in the order it was asked for;
 * results are there when `get` returns. A failed call leaves its outputs undefined, and says why in kdri_device.error.
 *
 * Contracts. (E1) and so on are those of the table below, and are cited where they are carried out:
 *
 *   (E1)   gemm       C = alpha op(A) op(B) + beta C;  beta = 0: what C held, also NaN, counts for nothing
 *   (E2)   syrk       C = alpha A A' + beta C, or alpha A'A (trans); the lower triangle
 *   (E3)   inverse    A <- A^-1, A symmetric positive definite, its lower triangle given, all of the inverse returned
 *   (E4)   affine     A_ij <- scale r_i c_j A_ij + diagonal [i = j];  r or c absent: ones
 *   (E5)   centre     T_ij = (A_ij - shift m_j) s_j;  s absent: ones
 *   (E6)   moments    sum_j and sum of squares of each column, and how many entries of all are beyond -limit and limit
 *   (E7)   tanh       H_ij = tanh(Y_ij + l_i m_j + c_j), or Y_ji in the place of Y_ij;  l absent: zeros
 *   (E8)   gauss      K_ij <- exp(-f max(0, s_i + t_j - 2 K_ij))
 *   (E9)   distances  C_ij <- max(0, s_i + t_j - 2 C_ij)
 *   (E10)  kernel_sum sum_ij K_ij (f = 0), or of (E8)
 *   (E11)  row_nth    the p-th smallest entry of each row, from 0; entry (i, first + i) counts as infinite where first >= 0
 *   (E12)  row_sums   o_i <- beta o_i + w sum_j A_ij^2
 *   (E13)  pick       entries below a row's limit, entry (i, first + i) left out, by increasing column
 *   (E14)  multiply   Y = X B of a sparse X;  add: Y += X B
 *   (E15)  spread     T = rows of a sparse X as a dense matrix, its columns times w_j (absent: ones), or that transposed
 *   (E16)  ratio_step T_ij = y_ij (n_ij / d_ij)^e, e = 1/2 or 1/4; n/d = 1 where d = 0; below 1e-100: 0
 *   (E17)  nearest    the two smallest of v_j = b_j - w_i <x_i, c_j>, w_i = 2 where absent; label: the lowest index of the
 *                     smallest, value: it, where wanted; in doubt if they differ by at most 2.01 (a n_i + e), or are NaN;
 *                     a row whose exact values differ by more need not be in doubt
 *   (E18)  order      rows sorted by cluster, each cluster's in increasing order: all, or those whose label changed, as
 *                     coming (1) and as leaving (-1)
 *   (E19)  sums       s_j (+)= sum over the rows of cluster j, in that order, one after the other, of sign c_i x_i (c absent: 1);
 *                     with units, in two parts as (E101) of comm/exact.h splits them: columns 0 to d - 1 of s_j are the high
 *                     parts, the d behind them the low ones; so must those be that are added to
 *   (E20)  neighbours of each row the k best scores above -infinity, on a grid, best first and of equals the lowest index
 *                     first: kdri_nn_score; rows never meet themselves
 *   These three of sparse rows, too: nearest_sparse (centres are columns), sums_sparse (with units), neighbours_sparse (what
 *                     is compared with comes as lists: x' as a sparse matrix; products are sums over increasing columns, each
 *                     operation rounded by itself)
 *   (E21)  own        o_i = a(label_i, i)
 *   (E22)  closest    next_i: the lowest j with m_j > 0 and the smallest v_j = (d_i - 2 a_ji / m_j) + t_j / m_j^2, and how
 *                     large that is, at least 0; every operation is rounded by itself
 *   (E23)  join       t_jf = s_jf + s_j(d+f): the sums of (E19) with units as numbers, d the columns of t
 *
 * Every sum of (E19) is a chain of roundings in one order (with units exact, in any order), without fused multiply-adds:
 * the same bits on every device. The others may round as they like. */
#ifndef KDRI_DEVICE_H
#define KDRI_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of the table and of everything in this file: a plug-in made for another number is not used. */
enum { KDRI_DEVICE_ABI = 5 };

typedef enum kdri_dstatus {
	KDRI_D_OK,
	KDRI_D_MEMORY,  /* no room on the device, or on the host */
	KDRI_D_NUMERIC, /* not positive definite */
	KDRI_D_FAILED   /* the device, its driver or its libraries */
} kdri_dstatus;

/* Memory of a device; made by alloc, ended by release. */
typedef struct kdri_buf kdri_buf;

/* Entry (i, j) is number at + i * stride + j of the buffer, doubles. */
typedef struct kdri_dmat {
	kdri_buf *buf;
	int64_t at, rows, cols, stride;
} kdri_dmat;

/* Compressed rows: rowptr (rows + 1, int64), col (int32), val. */
typedef struct kdri_dcsr {
	int64_t rows, cols, entries;
	kdri_buf *rowptr, *col, *val;
} kdri_dcsr;

/* How sharp a product must be: double, or (where that is faster) at least as sharp as single precision. */
typedef enum kdri_sharp { KDRI_SHARP_DOUBLE, KDRI_SHARP_SINGLE } kdri_sharp;

/* The scores of (E20), p = <x_i, x_j>: then (s + magic) - magic, which rounds to the grid. */
typedef enum kdri_nn_score {
	KDRI_NN_COSINE,   /* p f_i f_j */
	KDRI_NN_SHIFTED,  /* (p - g_j - (g_i - square)) f_j f_i */
	KDRI_NN_EUCLIDEAN /* p - f_j */
} kdri_nn_score;

typedef struct kdri_nn {
	kdri_nn_score score;
	double magic, square;
	kdri_buf *factor, *shift; /* f and g, of all n rows; shift NULL but for KDRI_NN_SHIFTED */
	int64_t k;                /* 1 .. 64 */
	int64_t first, from;      /* which of all rows the first of `rows`, and of x, is */
	bool fresh; /* the lists begin here; else they go on: parts of x come in increasing order */
	kdri_buf *index, *best; /* rows x k: int32 (-1: none yet) and double */
} kdri_nn;

typedef struct kdri_device kdri_device;
struct kdri_device {
	int abi;
	const char *kind; /* "cuda", "host" */
	void *self;
	char error[256]; /* what failed last, one line */

	/* Memory. A buffer of 0 bytes is one. room: bytes that can be taken, at a guess. */
	kdri_dstatus (*alloc)(kdri_device *d, size_t bytes, kdri_buf **out);
	void (*release)(kdri_device *d, kdri_buf *buf); /* NULL: nothing */
	size_t (*room)(kdri_device *d);
	/* `rows` pieces of `width` bytes: `at` + i pitch of the buffer from or to i * host_pitch of the host. */
	kdri_dstatus (*put)(kdri_device *d, kdri_buf *to, size_t at, size_t pitch, const void *from,
	                    size_t host_pitch, size_t width, size_t rows);
	kdri_dstatus (*get)(kdri_device *d, const kdri_buf *from, size_t at, size_t pitch, void *to,
	                    size_t host_pitch, size_t width, size_t rows);
	/* The host's memory that goes there or comes from there again and again: sooner, where that can be, until unpin, which must come
	 * before the memory goes. Nothing else depends on it. */
	kdri_dstatus (*pin)(kdri_device *d, const void *host, size_t bytes);
	void (*unpin)(kdri_device *d, const void *host); /* what was never pinned, too */
	kdri_dstatus (*fill)(kdri_device *d, kdri_dmat a, double value);
	kdri_dstatus (*copy)(kdri_device *d, kdri_dmat from, kdri_dmat to);
	kdri_dstatus (*mirror)(kdri_device *d, kdri_dmat a); /* the upper triangle from the lower */
	/* to_ij = a(index_i, index_j), `index` int64. */
	kdri_dstatus (*take)(kdri_device *d, kdri_dmat a, const kdri_buf *index, kdri_dmat to);

	/* Products and solves. */
	kdri_dstatus (*gemm)(kdri_device *d, bool trans_a, bool trans_b, double alpha, kdri_dmat a,
	                     kdri_dmat b, double beta, kdri_dmat c, kdri_sharp sharp);
	kdri_dstatus (*syrk)(kdri_device *d, bool trans, double alpha, kdri_dmat a, double beta, kdri_dmat c,
	                     kdri_sharp sharp);
	kdri_dstatus (*inverse)(kdri_device *d, kdri_dmat a);
	kdri_dstatus (*multiply)(kdri_device *d, kdri_dcsr x, kdri_dmat b, bool add, kdri_dmat y);
	kdri_dstatus (*spread)(kdri_device *d, kdri_dcsr x, int64_t first, const kdri_buf *weight,
	                       bool transposed, kdri_dmat to);

	/* Entry by entry; vectors are buffers of doubles, from their start. */
	kdri_dstatus (*affine)(kdri_device *d, kdri_dmat a, const kdri_buf *r, const kdri_buf *c,
	                       double scale, double diagonal);
	kdri_dstatus (*centre)(kdri_device *d, kdri_dmat a, kdri_dmat mean, double shift, kdri_dmat scale,
	                       kdri_dmat to);
	kdri_dstatus (*moments)(kdri_device *d, kdri_dmat a, double limit, kdri_buf *sum, kdri_buf *squares,
	                        int64_t *beyond);
	kdri_dstatus (*tanh)(kdri_device *d, kdri_dmat y, bool transposed, const kdri_buf *lean,
	                     kdri_dmat mean, kdri_dmat offset, kdri_dmat h);
	kdri_dstatus (*gauss)(kdri_device *d, kdri_dmat k, kdri_dmat s, kdri_dmat t, double factor);
	kdri_dstatus (*distances)(kdri_device *d, kdri_dmat c, kdri_dmat s, kdri_dmat t);
	kdri_dstatus (*kernel_sum)(kdri_device *d, kdri_dmat k, kdri_dmat s, kdri_dmat t, double factor,
	                           double *out);
	kdri_dstatus (*ratio_step)(kdri_device *d, kdri_dmat y, kdri_dmat n, kdri_dmat den, bool careful,
	                           kdri_dmat to);

	/* Row by row. */
	kdri_dstatus (*row_nth)(kdri_device *d, kdri_dmat a, int64_t place, int64_t first, kdri_buf *out);
	kdri_dstatus (*row_sums)(kdri_device *d, kdri_dmat a, double weight, double beta, kdri_buf *out);
	kdri_dstatus (*count_from)(kdri_device *d, kdri_dmat a, double least, int64_t *out);
	/* Two calls: how many a row has (int64, by row; col NULL), then the entries at starts[i] .. */
	kdri_dstatus (*pick)(kdri_device *d, kdri_dmat a, int64_t first, const kdri_buf *limit,
	                     kdri_buf *starts, kdri_buf *col, kdri_buf *val);
	/* out_j = sum_i a_ij b_ij. */
	kdri_dstatus (*column_dots)(kdri_device *d, kdri_dmat a, kdri_dmat b, kdri_buf *out);

	/* What `nearest` may look at before it looks at x, where that saves work: the same answers sooner. mean: a vector near the rows;
	 * *out NULL: nothing, else a buffer for x as it is now. */
	kdri_dstatus (*rough)(kdri_device *d, kdri_dmat x, const kdri_buf *mean, kdri_buf **out);
	/* k-means and neighbours. label, before, list: int32; doubt: int32 rows in increasing order, *doubts of them. */
	kdri_dstatus (*nearest)(kdri_device *d, kdri_dmat x, kdri_dmat c, const kdri_buf *rough,
	                        const kdri_buf *offset, const kdri_buf *twice, const kdri_buf *norm,
	                        double error_row, double error_base, kdri_buf *label, kdri_buf *value,
	                        kdri_buf *doubt, int64_t *doubts);
	kdri_dstatus (*nearest_sparse)(kdri_device *d, kdri_dcsr x, kdri_dmat c, const kdri_buf *offset,
	                               const kdri_buf *twice, const kdri_buf *norm, double error_row,
	                               double error_base, kdri_buf *label, kdri_buf *value, kdri_buf *doubt,
	                               int64_t *doubts);
	/* begin (k + 1) is the host's; list has room for n, or 2 n of those that changed: row + 1, or -(row + 1) for one that
	 * leaves. *before becomes label. */
	kdri_dstatus (*order)(kdri_device *d, const kdri_buf *label, kdri_buf *before, int64_t n, int64_t k,
	                      bool all, kdri_buf *list, int64_t *begin);
	/* How many changed, and how many each of k labels has; counts (k) is the host's. */
	kdri_dstatus (*changed)(kdri_device *d, const kdri_buf *label, const kdri_buf *before, int64_t n,
	                        int64_t k, int64_t *moved, int64_t *counts);
	kdri_dstatus (*sums)(kdri_device *d, kdri_dmat x, const kdri_buf *list, const int64_t *begin,
	                     const kdri_buf *coef, const kdri_buf *unit, double ratio, bool add,
	                     kdri_dmat sums);
	kdri_dstatus (*sums_sparse)(kdri_device *d, kdri_dcsr x, const kdri_buf *list, const int64_t *begin,
	                            const kdri_buf *coef, const kdri_buf *unit, double ratio, bool add,
	                            kdri_dmat sums);
	kdri_dstatus (*join)(kdri_device *d, kdri_dmat sums, kdri_dmat to);
	/* Columns of a are samples, rows clusters; label, next: int32. */
	kdri_dstatus (*own)(kdri_device *d, kdri_dmat a, const kdri_buf *label, kdri_buf *out);
	kdri_dstatus (*closest)(kdri_device *d, kdri_dmat a, const kdri_buf *diagonal, const kdri_buf *sizes,
	                        const kdri_buf *self, kdri_buf *next, kdri_buf *away);
	/* `rows` against x. */
	kdri_dstatus (*neighbours)(kdri_device *d, kdri_dmat rows, kdri_dmat x, const kdri_nn *nn);
	kdri_dstatus (*neighbours_sparse)(kdri_device *d, kdri_dcsr rows, kdri_dcsr lists, const kdri_nn *nn);

	void (*close)(kdri_device *d);
};

/* What a plug-in shows: one function of this name and type. NULL if it was made for another ABI. */
#define KDRI_PLUGIN_SYMBOL "kdri_plugin"
typedef struct kdri_plugin {
	int abi;
	const char *kind;
	int (*count)(void); /* devices that can be used; 0 where there is no driver */
	/* "NVIDIA H200, 141 GB, compute 9.0" */
	void (*describe)(int index, char *text, size_t room);
	kdri_device *(*open)(int index, char *error, size_t room); /* NULL: *error says why */
} kdri_plugin;
typedef const kdri_plugin *kdri_plugin_fn(int abi);

#endif
