/* Matrices that a device holds. SPDX-License-Identifier: BSD-3-Clause
 *
 * The device has the rows of a dense x, which are also used for x', or the rows of a sparse x and those of x'. If they
 * do not fit, they are sent in tiles, of which all but the first are sent again for every product; this is faster
 * overall if there are many columns per CPU thread. */
#include "matrix/device_held.h"

#include "matrix/device_tiles.h"
#include "matrix/range.h"

#include <pthread.h>

/* The base comes first: ctx->held is a list of these. */
typedef struct held {
	kdri_held base;
	kdri_device *dev;
	kdr_mat x;
	pthread_t owner;
	kdri_tiles rows, columns; /* of x; of x', where x is sparse */
	kdri_own other;           /* x' itself, while its tiles are replaced */
	bool turned;
	double *in, *out; /* of the device: the longer side of x times `wide` */
	int64_t wide;
} held;

double kdri_held_flops(const kdr_mat *x)
{
	return x->kind == KDR_MAT_DENSE
	               ? 2 * (double)x->as.dense.rows * (double)x->as.dense.cols
	               : 2 * (double)(x->as.csr.rowptr[x->as.csr.rows] - x->as.csr.rowptr[0]);
}

/* Bytes of x on the device, and of x' if it is a separate matrix. */
static double size_of(const kdr_mat *x, bool turned)
{
	double rows = kdri_rows_bytes(x, false, 0, kdr_mat_rows(x));
	return x->kind == KDR_MAT_CSR && turned ? 2 * rows + 8 * (double)kdr_mat_cols(x) : rows;
}

/* Bytes of the columns that it is multiplied by, and of the result. */
static double columns_of(const kdr_mat *x, int64_t k)
{
	return 16 * (double)KDRI_MAX(kdr_mat_rows(x), kdr_mat_cols(x)) * (double)k;
}

/* Whether to send x anew for every product takes less time than the product takes here; a device that was named is used. */
static bool worth_sending(const kdr_context *ctx, const kdr_mat *x, int64_t k)
{
	const double bytes_per_second = 1e10, rate = 1.5e10;
	return ctx->device_choice == KDRI_DEVICE_NAMED ||
	       size_of(x, false) / bytes_per_second <
	               (double)k * kdri_held_flops(x) / (rate * (double)ctx->threads);
}

/* Whether x is what h holds, or rows *first .. of it. */
static bool is_part(const held *h, const kdr_mat *x, int64_t *first)
{
	if (x->kind != h->x.kind)
		return false;
	*first = 0;
	if (x->kind == KDR_MAT_CSR)
		return x->as.csr.rowptr == h->x.as.csr.rowptr && x->as.csr.rows == h->x.as.csr.rows &&
		       x->as.csr.val == h->x.as.csr.val && x->as.csr.col == h->x.as.csr.col;
	const kdr_dense *a = &h->x.as.dense, *b = &x->as.dense;
	if (b->cols != a->cols || b->stride != a->stride || b->rows == 0 || b->data < a->data ||
	    b->data >= a->data + a->rows * a->stride || (b->data - a->data) % a->stride != 0)
		return false;
	*first = (b->data - a->data) / a->stride;
	return *first + b->rows <= a->rows;
}

static kdr_status device_held_make_room(kdr_context *ctx, held *h, int64_t k)
{
	int64_t most = KDRI_MAX(kdr_mat_rows(&h->x), kdr_mat_cols(&h->x));
	if (k <= h->wide)
		return KDR_OK;
	h->dev->release(ctx, h->dev, h->in);
	h->dev->release(ctx, h->dev, h->out);
	h->in = h->out = NULL;
	h->wide = 0;
	KDRI_DO(KDRI_DNEW(ctx, h->dev, &h->in, most * k));
	KDRI_DO(KDRI_DNEW(ctx, h->dev, &h->out, most * k));
	h->wide = k;
	return KDR_OK;
}

/* A view of rows x k on one of the two buffers. */
static kdri_block columns_on(const held *h, double *buffer, int64_t rows, int64_t k)
{
	return (kdri_block){ .dev = h->dev, .rows = rows, .cols = k, .stride = k, .data = buffer };
}

/* Sparse: y = X b or X'b, one tile of the rows of the multiplied matrix at a time. */
static kdr_status multiply_sparse(kdr_context *ctx, held *h, kdri_tiles *tiles, int64_t k, double *y,
                                  int64_t ldy)
{
	kdr_status st = KDR_OK;
	kdri_device *dev = h->dev;
	kdri_block in = columns_on(h, h->in, kdr_mat_cols(&tiles->x), k);
	for (int64_t t = 0; t < tiles->count; t++) {
		kdri_drows x;
		KDRI_TRY(kdri_tiles_get(ctx, dev, tiles, t, &x));
		KDRI_OP(ctx, dev, multiply, &x.csr, false, in,
		        columns_on(h, h->out + x.begin * k, x.rows, k));
	}
	KDRI_TRY(kdri_block_fetch(ctx, columns_on(h, h->out, kdr_mat_rows(&tiles->x), k), y, ldy));
done:
	return st;
}

/* Dense: of `rows` rows of x from `first` on, those that are in each tile. */
static kdr_status multiply_dense(kdr_context *ctx, held *h, int64_t first, int64_t rows, bool turned,
                                 int64_t k, double *y, int64_t ldy)
{
	kdr_status st = KDR_OK;
	kdri_device *dev = h->dev;
	int64_t cols = kdr_mat_cols(&h->x);
	bool begun = false;
	for (int64_t t = 0; t < h->rows.count; t++) {
		int64_t begin = KDRI_MAX(first, h->rows.begin[t]),
		        end = KDRI_MIN(first + rows, h->rows.begin[t + 1]);
		kdri_drows x;
		if (begin >= end)
			continue;
		KDRI_TRY(kdri_tiles_get(ctx, dev, &h->rows, t, &x));
		kdri_block part = kdri_block_part(x.dense, begin - x.begin, 0, end - begin, cols);
		kdri_block along =
		        columns_on(h, (turned ? h->in : h->out) + (begin - first) * k, end - begin, k);
		kdri_block whole = columns_on(h, turned ? h->out : h->in, cols, k);
		KDRI_OP(ctx, dev, gemm, turned, false, 1, part, turned ? along : whole,
		        turned && begun ? 1 : 0, turned ? whole : along);
		begun = true;
	}
	KDRI_TRY(kdri_block_fetch(ctx, columns_on(h, h->out, turned ? cols : rows, k), y, ldy));
done:
	return st;
}

static kdr_status device_held_multiply(kdr_context *ctx, held *h, int64_t first, int64_t rows, bool turned,
                                       const double *b, int64_t k, int64_t ldb, double *y, int64_t ldy)
{
	bool tiled = h->rows.count > 1 || h->columns.count > 1;
	if (!tiled)
		KDRI_DO(device_held_make_room(ctx, h, k));
	/* If rows are sent in tiles, there is no space for more columns than announced. */
	for (int64_t j = 0; j < k; j += h->wide) {
		int64_t wide = KDRI_MIN(h->wide, k - j);
		kdri_block in = columns_on(h, h->in, turned ? rows : kdr_mat_cols(&h->x), wide);
		KDRI_DO(kdri_block_send(ctx, in, b + j, ldb));
		if (h->x.kind == KDR_MAT_CSR)
			KDRI_DO(multiply_sparse(ctx, h, turned ? &h->columns : &h->rows, wide, y + j, ldy));
		else
			KDRI_DO(multiply_dense(ctx, h, first, rows, turned, wide, y + j, ldy));
	}
	return KDR_OK;
}

/* kdri_held.product: returns false for a matrix that is not, or cannot be, held here. */
static bool product(kdr_context *ctx, kdri_held *base, const kdr_mat *x, bool turned, const double *b,
                    int64_t k, int64_t ldb, double *y, int64_t ldy, kdr_status *st)
{
	held *h = (held *)base;
	int64_t first;
	if (!is_part(h, x, &first) || !pthread_equal(h->owner, pthread_self()) ||
	    (turned && x->kind == KDR_MAT_CSR && !h->turned) || ctx->device_choice == KDRI_DEVICE_CPU)
		return false;
	*st = device_held_multiply(ctx, h, first, kdr_mat_rows(x), turned, b, k, ldb, y, ldy);
	return !kdri_device_gave_up(ctx, *st);
}

static void held_free(kdr_context *ctx, held *h)
{
	if (!h)
		return;
	kdri_tiles_free(ctx, &h->rows);
	kdri_tiles_free(ctx, &h->columns);
	kdri_own_free(ctx, &h->other);
	h->dev->release(ctx, h->dev, h->in);
	h->dev->release(ctx, h->dev, h->out);
	kdri_device_leave(h->dev);
	kdri_free(ctx, h);
}

/* All rows at once, if all are on the device; returned to the caller only in that case. */
static kdr_status device_held_send(kdr_context *ctx, held *h, int64_t k, double bytes)
{
	kdri_drows first;
	bool two = h->x.kind == KDR_MAT_CSR && h->turned;
	KDRI_DO(device_held_make_room(ctx, h, k));
	KDRI_DO(kdri_tiles_new(ctx, h->dev, &h->x, false, two ? bytes / 2 : bytes, &h->rows));
	KDRI_DO(kdri_tiles_get(ctx, h->dev, &h->rows, 0, &first));
	if (two) {
		KDRI_DO(kdri_mat_transpose(ctx, &h->x, &h->other));
		KDRI_DO(kdri_tiles_new(ctx, h->dev, &h->other.view, false, bytes / 2, &h->columns));
		KDRI_DO(kdri_tiles_get(ctx, h->dev, &h->columns, 0, &first));
		if (h->columns.count == 1)
			kdri_own_free(ctx, &h->other);
	}
	return KDR_OK;
}

kdr_status kdri_hold(kdr_context *ctx, const kdr_mat *x, bool turned, int64_t k, double flops,
                     kdri_held **out)
{
	kdr_status st;
	held *h = NULL;
	*out = NULL;
	if (kdr_mat_rows(x) == 0 || kdr_mat_cols(x) == 0)
		return KDR_OK;
	kdri_device *dev = kdri_device_take(ctx, flops);
	if (!dev)
		return KDR_ERR_UNSUPPORTED;
	if (kdri_is_cpu(dev))
		return KDR_OK;
	double room = 0.8 * (double)dev->room(dev), bytes = room - columns_of(x, k);
	if (size_of(x, turned) > bytes && (bytes < room / 4 || !worth_sending(ctx, x, k))) {
		kdri_device_leave(dev);
		return KDR_OK;
	}
	st = KDRI_NEW0(ctx, &h, 1);
	if (st != KDR_OK) {
		kdri_device_leave(dev);
		return st;
	}
	*h = (held){ .dev = dev,
		     .x = *x,
		     .owner = pthread_self(),
		     .turned = turned,
		     .other.view = kdr_mat_from_dense(NULL, 0, 0) };
	KDRI_TRY(device_held_send(ctx, h, k, bytes));
	h->base = (kdri_held){ .next = ctx->held, .product = product };
	ctx->held = &h->base;
	*out = &h->base;
	h = NULL;
done:
	held_free(ctx, h);
	return kdri_device_gave_up(ctx, st) ? KDR_OK : st;
}

kdr_status kdri_hold_leading(kdr_context *ctx, const kdr_mat *x, int64_t count, int rounds, kdri_held **out)
{
	int64_t k = KDRI_MIN(count + KDRI_LEADING_BESIDE, KDRI_MIN(kdr_mat_rows(x), kdr_mat_cols(x)));
	return kdri_hold(ctx, x, true, k, (2 * rounds + 1) * (double)k * kdri_held_flops(x), out);
}

void kdri_unhold(kdr_context *ctx, kdri_held *base)
{
	if (!base)
		return;
	for (kdri_held **at = &ctx->held; *at; at = &(*at)->next)
		if (*at == base) {
			*at = base->next;
			break;
		}
	held_free(ctx, (held *)base);
}
