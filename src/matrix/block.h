/* Dense blocks and sparse rows in the memory of a device, and calls of its table. SPDX-License-Identifier: BSD-3-Clause
 *
 *     kdri_block c = { 0 };
 *     KDRI_TRY(kdri_block_new(ctx, dev, n, n, single, &c));
 *     KDRI_OP(ctx, dev, syrk, false, 1, a, 0, c);
 *  done:
 *     kdri_block_free(ctx, &c);
 *
 * `dev` is an accelerator or the processor (&kdri_cpu), whose blocks are ordinary memory. For methods whose cost and
 * memory are dominated by a few very large dense products, single precision halves both; the host always uses doubles. */
#ifndef KDRI_BLOCK_H
#define KDRI_BLOCK_H

#include "matrix/device.h"
#include "matrix/linalg.h"

/* --- the table: device_use.c --------------------------------------------------------------------------- */

/* The status of an operation; if an accelerator failed, its reason becomes the context's error. */
kdr_status kdri_device_status(kdr_context *ctx, const kdri_device *d, kdr_status st);
#define KDRI_DTRY(ctx, dev, call)  KDRI_TRY(kdri_device_status((ctx), (dev), (call)))
#define KDRI_OP(ctx, dev, op, ...) KDRI_DTRY(ctx, dev, (dev)->op((ctx), __VA_ARGS__))
/* The same for a function that owns nothing: it returns the error. */
#define KDRI_DO_OP(ctx, dev, op, ...) KDRI_DO(kdri_device_status((ctx), (dev), (dev)->op((ctx), __VA_ARGS__)))

static inline bool kdri_is_cpu(const kdri_device *d)
{
	return d == &kdri_cpu;
}

/* --- block.c: blocks ------------------------------------------------------------------------------------- */

/* The stride of a matrix of `cols` columns on an accelerator: its libraries prefer rows that start at multiples of 32. */
static inline int64_t kdri_stride(int64_t cols)
{
	return cols < 128 ? cols : (cols + 31) / 32 * 32;
}

/* Owned; entries are not set. kdri_block_free accepts a zeroed block. */
kdr_status kdri_block_new(kdr_context *ctx, kdri_device *dev, int64_t rows, int64_t cols, bool single,
                          kdri_block *out);
void kdri_block_free(kdr_context *ctx, kdri_block *b);
/* Rows row.. and columns col.. of b, borrowed. */
static inline kdri_block kdri_block_part(kdri_block b, int64_t row, int64_t col, int64_t rows, int64_t cols)
{
	int64_t at = (row * b.stride + col) * (int64_t)(b.floats ? sizeof(float) : sizeof(double));
	b.rows = rows;
	b.cols = cols;
	b.data = b.data ? (char *)b.data + at : NULL;
	return b;
}
/* A borrowed block of doubles on the CPU. */
static inline kdri_block kdri_block_of(const double *data, int64_t rows, int64_t cols, int64_t stride)
{
	return (kdri_block){
		.dev = &kdri_cpu, .rows = rows, .cols = cols, .stride = stride, .data = (double *)data
	};
}
/* From and to the host, which has doubles. */
kdr_status kdri_block_send(kdr_context *ctx, kdri_block b, const double *from, int64_t stride);
kdr_status kdri_block_fetch(kdr_context *ctx, kdri_block b, double *to, int64_t stride);
/* The diagonal of a square block. */
kdr_status kdri_block_diagonal(kdr_context *ctx, kdri_block b, double *out);
/* Converts an owned block of doubles to single precision; on the CPU, where its stride must be cols, in the same memory. */
void kdri_block_narrow(kdri_block *b);

/* Vectors of the device: `count` entries of *pp's type, not set. */
#define KDRI_DNEW(ctx, dev, pp, count) kdri_device_alloc((ctx), (dev), (pp), (int64_t)(count), sizeof **(pp))
kdr_status kdri_device_alloc(kdr_context *ctx, kdri_device *dev, void *out, int64_t count, size_t size);
kdr_status kdri_device_send(kdr_context *ctx, kdri_device *dev, void *to, const void *from, size_t bytes);
kdr_status kdri_device_fetch(kdr_context *ctx, kdri_device *dev, const void *from, void *to, size_t bytes);
/* Sparse rows of the host, and their transpose unless that is NULL. The CPU borrows them. kdri_sparse_free accepts a
 * zeroed struct. */
kdr_status kdri_sparse_of(kdr_context *ctx, kdri_device *dev, const kdr_csr *x, const kdr_csr *turned,
                          kdri_sparse *out);
void kdri_sparse_free(kdr_context *ctx, kdri_sparse *x);
/* Rows begin .. end - 1, borrowed, without a transpose. */
kdri_sparse kdri_sparse_rows(const kdri_sparse *x, int64_t begin, int64_t end);

/* --- blocks of the processor ------------------------------------------------------------------------------- */

/* Entries (i, j) .. (i, j + count - 1). */
void kdri_block_read(const kdri_block *b, int64_t i, int64_t j, int64_t count, double *to);
void kdri_block_write(const kdri_block *b, int64_t i, int64_t j, int64_t count, const double *from);

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

/* product.c: gemm and syrk of the table. */
kdr_status kdri_block_gemm(kdr_context *ctx, bool trans_a, bool trans_b, double alpha, kdri_block a,
                           kdri_block b, double beta, kdri_block c);
kdr_status kdri_block_syrk(kdr_context *ctx, bool trans, double alpha, kdri_block a, double beta,
                           kdri_block c);
/* cpu/products.c: Y (rows x k) = A X, Y and X in double: a matrix in single precision is widened a tile at a time. */
kdr_status kdri_block_mul(kdr_context *ctx, kdri_block a, const double *x, int64_t k, int64_t ldx, double *y,
                          int64_t ldy);

/* product.c: C (rows x rows) = X diag(weight) X' of a sparse X, only the lower triangle; `xt` is its transpose; weight
 * NULL: ones. */
kdr_status kdri_sparse_gram(kdr_context *ctx, const kdr_csr *x, const kdr_csr *xt, const double *weight,
                            kdri_block c);
/* The sum of the squares of all entries of X X'. */
kdr_status kdri_sparse_gram_square(kdr_context *ctx, const kdr_csr *x, const kdr_csr *xt, double *out);
/* C (rows of Y x rows of X) = Y diag(weight) X', in full. */
kdr_status kdri_sparse_cross(kdr_context *ctx, const kdr_csr *y, const kdr_csr *xt, const double *weight,
                             kdri_block c);

/* block_rows.c: loops over a block of one row. Sums are in double. */

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

/* Rows of a matrix on a device: all of them, or some at a time.
 *
 *     kdri_tiles tiles = { 0 };
 *     KDRI_TRY(kdri_tiles_new(ctx, dev, x, false, bytes, &tiles));
 *     for (int64_t t = 0; t < tiles.count; t++) {
 *             kdri_drows rows;
 *             KDRI_TRY(kdri_tiles_get(ctx, dev, &tiles, t, &rows));
 *             ...
 *     }
 *     kdri_tiles_free(ctx, &tiles);
 *
 * Rows that fit into `bytes` are one tile, which is sent once. Otherwise the first tile takes three quarters of them and
 * stays, and the others are sent one after the other into the remaining memory, each time they are requested. */

typedef struct kdri_tiles {
	kdr_mat x;             /* borrowed */
	bool spread;           /* sparse rows are sent as dense ones */
	bool borrowed;         /* on the CPU: the rows are those of x */
	int64_t count, *begin; /* tile t has rows begin[t] to begin[t + 1] - 1 */
	int64_t longest;       /* rows of the longest tile */
	double *room;          /* of the host: sparse rows to be sent as dense ones */
	struct {
		kdri_drows rows;
		int64_t tile; /* the tile that is loaded, or -1 */
	} slot[2];            /* for the first tile, and for the others */
} kdri_tiles;

/* Bytes that rows begin to end - 1 of x take on a device. */
double kdri_rows_bytes(const kdr_mat *x, bool spread, int64_t begin, int64_t end);
/* The end of the longest range of rows from `begin` on that takes at most `bytes` bytes: at least one row. */
int64_t kdri_rows_within(const kdr_mat *x, bool spread, int64_t begin, double bytes);

kdr_status kdri_tiles_new(kdr_context *ctx, kdri_device *d, const kdr_mat *x, bool spread, double bytes,
                          kdri_tiles *out);
kdr_status kdri_tiles_get(kdr_context *ctx, kdri_device *d, kdri_tiles *tiles, int64_t t, kdri_drows *out);
/* Accepts a zeroed struct. */
void kdri_tiles_free(kdr_context *ctx, kdri_tiles *tiles);

#endif
