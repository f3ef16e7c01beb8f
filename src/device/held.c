/* Matrices that a device holds. SPDX-License-Identifier: BSD-3-Clause */
#include "device/held.h"

#include "linalg/range.h"

#include <pthread.h>

/* The base comes first: ctx->held is a list of these. */
typedef struct held {
	kdri_held base;
	kdri_device *dev;
	kdr_mat x;
	pthread_t owner;
	kdri_dmat dense;
	kdri_dcsr rows, columns; /* sparse x, and x' */
	bool turned;
	kdri_buf *in, *out; /* the longer side of x times `wide` */
	int64_t wide;
} held;

double kdri_held_flops(const kdr_mat *x)
{
	return x->kind == KDR_MAT_DENSE
	               ? 2 * (double)x->as.dense.rows * (double)x->as.dense.cols
	               : 2 * (double)(x->as.csr.rowptr[x->as.csr.rows] - x->as.csr.rowptr[0]);
}

/* Bytes that x and columns take there. */
static double size_of(const kdr_mat *x, bool turned, int64_t k)
{
	double rows = (double)kdr_mat_rows(x), cols = (double)kdr_mat_cols(x);
	double one = x->kind == KDR_MAT_DENSE ? 8 * rows * (double)kdri_dmat_stride(x->as.dense.cols)
	                                      : 6 * kdri_held_flops(x) * (turned ? 2 : 1) + 8 * (rows + cols);
	return one + 16 * KDRI_MAX(rows, cols) * (double)k;
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

static kdr_status make_room(kdr_context *ctx, held *h, int64_t k)
{
	kdr_status st = KDR_OK;
	int64_t most = KDRI_MAX(kdr_mat_rows(&h->x), kdr_mat_cols(&h->x));
	if (k <= h->wide)
		return KDR_OK;
	h->dev->release(h->dev, h->in);
	h->dev->release(h->dev, h->out);
	h->in = h->out = NULL;
	h->wide = 0;
	KDRI_TRY(kdri_dbuf_new(ctx, h->dev, most * k, sizeof(double), &h->in));
	KDRI_TRY(kdri_dbuf_new(ctx, h->dev, most * k, sizeof(double), &h->out));
	h->wide = k;
done:
	return st;
}

static kdr_status multiply(kdr_context *ctx, held *h, int64_t first, int64_t rows, bool turned,
                           const double *b, int64_t k, int64_t ldb, double *y, int64_t ldy)
{
	kdr_status st;
	kdri_device *dev = h->dev;
	int64_t cols = kdr_mat_cols(&h->x);
	KDRI_TRY(make_room(ctx, h, k));
	kdri_dmat in = { h->in, 0, turned ? rows : cols, k, k },
	          out = { h->out, 0, turned ? cols : rows, k, k };
	KDRI_TRY(kdri_dmat_put(ctx, dev, in, b, ldb));
	if (h->x.kind == KDR_MAT_CSR)
		KDRI_DTRY(ctx, dev, dev->multiply(dev, turned ? h->columns : h->rows, in, false, out));
	else
		KDRI_DTRY(ctx, dev,
		          dev->gemm(dev, turned, false, 1, kdri_dmat_part(h->dense, first, 0, rows, cols), in,
		                    0, out, KDRI_SHARP_DOUBLE));
	KDRI_TRY(kdri_dmat_get(ctx, dev, out, y, ldy));
done:
	return st;
}

/* kdri_held.product: of what is not held here, or cannot be, false. */
static bool product(kdr_context *ctx, kdri_held *base, const kdr_mat *x, bool turned, const double *b,
                    int64_t k, int64_t ldb, double *y, int64_t ldy, kdr_status *st)
{
	held *h = (held *)base;
	int64_t first;
	if (!is_part(h, x, &first) || !pthread_equal(h->owner, pthread_self()) ||
	    (turned && x->kind == KDR_MAT_CSR && !h->turned) || ctx->device_choice == KDRI_DEVICE_CPU)
		return false;
	*st = multiply(ctx, h, first, kdr_mat_rows(x), turned, b, k, ldb, y, ldy);
	return !kdri_device_gave_up(ctx, *st);
}

static void held_free(kdr_context *ctx, held *h)
{
	if (!h)
		return;
	kdri_dmat_free(h->dev, &h->dense);
	kdri_dcsr_free(h->dev, &h->rows);
	kdri_dcsr_free(h->dev, &h->columns);
	h->dev->release(h->dev, h->in);
	h->dev->release(h->dev, h->out);
	kdri_device_leave(h->dev);
	kdri_free(ctx, h);
}

static kdr_status send(kdr_context *ctx, held *h, int64_t k)
{
	kdr_status st;
	kdri_own other = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	const kdr_dense *a = &h->x.as.dense;
	if (h->x.kind == KDR_MAT_DENSE) {
		KDRI_TRY(kdri_dmat_of(ctx, h->dev, a->data, a->rows, a->cols, a->stride, &h->dense));
	} else {
		KDRI_TRY(kdri_dcsr_of(ctx, h->dev, &h->x.as.csr, &h->rows));
		if (h->turned) {
			KDRI_TRY(kdri_mat_transpose(ctx, &h->x, &other));
			KDRI_TRY(kdri_dcsr_of(ctx, h->dev, &other.view.as.csr, &h->columns));
		}
	}
	KDRI_TRY(make_room(ctx, h, k));
done:
	kdri_own_free(ctx, &other);
	return st;
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
		return KDR_OK;
	if (size_of(x, turned, k) > 0.8 * (double)dev->room(dev)) {
		kdri_device_leave(dev);
		return KDR_OK;
	}
	st = KDRI_NEW0(ctx, &h, 1);
	if (st != KDR_OK) {
		kdri_device_leave(dev);
		return st;
	}
	*h = (held){ .dev = dev, .x = *x, .owner = pthread_self(), .turned = turned };
	KDRI_TRY(send(ctx, h, k));
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
