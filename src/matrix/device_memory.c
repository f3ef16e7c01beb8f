/* Matrices on a device. SPDX-License-Identifier: BSD-3-Clause */
#include "matrix/device_use.h"

kdr_status kdri_dbuf_new(kdr_context *ctx, kdri_device *d, int64_t count, size_t size, kdri_buf **out)
{
	kdr_status st;
	int64_t bytes;
	KDRI_TRY(kdri_mul(ctx, count, (int64_t)size, &bytes));
	KDRI_DTRY(ctx, d, d->alloc(d, (size_t)bytes, out));
done:
	return st;
}

kdr_status kdri_device_check(kdr_context *ctx, kdri_device *d, double bytes, const char *what, int64_t rows,
                             int64_t cols)
{
	const double giga = 1e9;
	double there = (double)d->room(d);
	if (bytes <= there)
		return KDR_OK;
	ctx->device_failed = true; /* the processor may have more */
	return kdri_fail(
	        ctx, KDR_ERR_MEMORY,
	        "%s on %lld samples with %lld features needs about %.1f GB of device %s's memory; it has %.1f GB",
	        what, (long long)rows, (long long)cols, bytes / giga, d->kind, there / giga);
}

kdr_status kdri_dbuf_put(kdr_context *ctx, kdri_device *d, kdri_buf *buf, const void *from, int64_t count,
                         size_t size)
{
	return kdri_device_status(ctx, d, d->put(d, buf, 0, 0, from, 0, (size_t)count * size, count > 0));
}

kdr_status kdri_dbuf_get(kdr_context *ctx, kdri_device *d, const kdri_buf *buf, void *to, int64_t count,
                         size_t size)
{
	return kdri_device_status(ctx, d, d->get(d, buf, 0, 0, to, 0, (size_t)count * size, count > 0));
}

kdr_status kdri_dmat_new(kdr_context *ctx, kdri_device *d, int64_t rows, int64_t cols, kdri_dmat *out)
{
	kdr_status st;
	int64_t count;
	kdri_buf *buf = NULL;
	KDRI_TRY(kdri_mul(ctx, rows, kdri_dmat_stride(cols), &count));
	KDRI_TRY(kdri_dbuf_new(ctx, d, count, sizeof(double), &buf));
	*out = kdri_dmat_on(buf, rows, cols);
done:
	return st;
}

kdr_status kdri_dmat_put(kdr_context *ctx, kdri_device *d, kdri_dmat a, const double *from, int64_t stride)
{
	const size_t one = sizeof *from;
	return kdri_device_status(ctx, d,
	                          d->put(d, a.buf, (size_t)a.at * one, (size_t)a.stride * one, from,
	                                 (size_t)stride * one, (size_t)a.cols * one, (size_t)a.rows));
}

kdr_status kdri_dmat_get(kdr_context *ctx, kdri_device *d, kdri_dmat a, double *to, int64_t stride)
{
	const size_t one = sizeof *to;
	return kdri_device_status(ctx, d,
	                          d->get(d, a.buf, (size_t)a.at * one, (size_t)a.stride * one, to,
	                                 (size_t)stride * one, (size_t)a.cols * one, (size_t)a.rows));
}

kdr_status kdri_dmat_of(kdr_context *ctx, kdri_device *d, const double *from, int64_t rows, int64_t cols,
                        int64_t stride, kdri_dmat *out)
{
	kdr_status st;
	kdri_dmat a = { 0 };
	KDRI_TRY(kdri_dmat_new(ctx, d, rows, cols, &a));
	KDRI_TRY(kdri_dmat_put(ctx, d, a, from, stride));
	*out = a;
	a = (kdri_dmat){ 0 };
done:
	kdri_dmat_free(d, &a);
	return st;
}

kdri_dmat kdri_dmat_part(kdri_dmat a, int64_t row, int64_t col, int64_t rows, int64_t cols)
{
	return (kdri_dmat){ a.buf, a.at + row * a.stride + col, rows, cols, a.stride };
}

void kdri_dmat_free(kdri_device *d, kdri_dmat *a)
{
	if (a->buf)
		d->release(d, a->buf);
	*a = (kdri_dmat){ 0 };
}

kdr_status kdri_dcsr_of(kdr_context *ctx, kdri_device *d, const kdr_csr *x, kdri_dcsr *out)
{
	kdr_status st;
	int64_t first = x->rowptr[0], entries = x->rowptr[x->rows] - first, *rowptr = NULL;
	kdri_dcsr c = { .rows = x->rows, .cols = x->cols, .entries = entries };
	KDRI_TRY(KDRI_NEW(ctx, &rowptr, x->rows + 1));
	for (int64_t i = 0; i <= x->rows; i++)
		rowptr[i] = x->rowptr[i] - first;
	KDRI_TRY(kdri_dbuf_new(ctx, d, x->rows + 1, sizeof *rowptr, &c.rowptr));
	KDRI_TRY(kdri_dbuf_new(ctx, d, entries, sizeof *x->col, &c.col));
	KDRI_TRY(kdri_dbuf_new(ctx, d, entries, sizeof *x->val, &c.val));
	KDRI_TRY(kdri_dbuf_put(ctx, d, c.rowptr, rowptr, x->rows + 1, sizeof *rowptr));
	KDRI_TRY(kdri_dbuf_put(ctx, d, c.col, x->col + first, entries, sizeof *x->col));
	KDRI_TRY(kdri_dbuf_put(ctx, d, c.val, x->val + first, entries, sizeof *x->val));
	*out = c;
	c = (kdri_dcsr){ 0 };
done:
	kdri_free(ctx, rowptr);
	kdri_dcsr_free(d, &c);
	return st;
}

void kdri_dcsr_free(kdri_device *d, kdri_dcsr *x)
{
	kdri_buf *parts[] = { x->rowptr, x->col, x->val };
	for (int i = 0; i < 3; i++)
		if (parts[i])
			d->release(d, parts[i]);
	*x = (kdri_dcsr){ 0 };
}
