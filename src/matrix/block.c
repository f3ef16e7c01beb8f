/* Dense blocks and sparse rows in the memory of a device. SPDX-License-Identifier: BSD-3-Clause */
#include "matrix/block.h"

/* --- memory of a device ----------------------------------------------------------------------------------- */

kdr_status kdri_device_alloc(kdr_context *ctx, kdri_device *dev, void *out, int64_t count, size_t size)
{
	kdr_status st;
	int64_t bytes;
	void *data = NULL;
	KDRI_TRY(kdri_mul(ctx, count, (int64_t)size, &bytes));
	KDRI_DTRY(ctx, dev, dev->alloc(ctx, dev, (size_t)bytes, &data));
	memcpy(out, &data, sizeof data); /* `out` points to a pointer of any type */
done:
	return st;
}

kdr_status kdri_device_send(kdr_context *ctx, kdri_device *dev, void *to, const void *from, size_t bytes)
{
	return kdri_device_status(ctx, dev, dev->put(ctx, dev, to, 0, from, 0, bytes, bytes > 0));
}

kdr_status kdri_device_fetch(kdr_context *ctx, kdri_device *dev, const void *from, void *to, size_t bytes)
{
	return kdri_device_status(ctx, dev, dev->get(ctx, dev, from, 0, to, 0, bytes, bytes > 0));
}

/* --- blocks ------------------------------------------------------------------------------------------------ */

kdr_status kdri_block_new(kdr_context *ctx, kdri_device *dev, int64_t rows, int64_t cols, bool single,
                          kdri_block *out)
{
	kdri_block b = { .dev = dev, .rows = rows, .cols = cols, .single = single };
	int64_t count;
	b.floats = single && kdri_is_cpu(dev);
	b.stride = kdri_is_cpu(dev) ? cols : kdri_stride(cols);
	KDRI_DO(kdri_mul(ctx, rows, b.stride, &count));
	KDRI_DO(kdri_device_alloc(ctx, dev, &b.data, count, b.floats ? sizeof(float) : sizeof(double)));
	*out = b;
	return KDR_OK;
}

void kdri_block_free(kdr_context *ctx, kdri_block *b)
{
	if (b->dev)
		b->dev->release(ctx, b->dev, b->data);
	*b = (kdri_block){ 0 };
}

void kdri_block_read(const kdri_block *b, int64_t i, int64_t j, int64_t count, double *to)
{
	if (!b->floats) {
		memcpy(to, (const double *)b->data + i * b->stride + j, (size_t)count * sizeof *to);
		return;
	}
	const float *from = (const float *)b->data + i * b->stride + j;
	for (int64_t p = 0; p < count; p++)
		to[p] = from[p];
}

void kdri_block_write(const kdri_block *b, int64_t i, int64_t j, int64_t count, const double *from)
{
	if (!b->floats) {
		memcpy((double *)b->data + i * b->stride + j, from, (size_t)count * sizeof *from);
		return;
	}
	float *to = (float *)b->data + i * b->stride + j;
	for (int64_t p = 0; p < count; p++)
		to[p] = (float)from[p];
}

kdr_status kdri_block_send(kdr_context *ctx, kdri_block b, const double *from, int64_t stride)
{
	const size_t one = sizeof *from;
	if (!kdri_is_cpu(b.dev))
		return kdri_device_status(ctx, b.dev,
		                          b.dev->put(ctx, b.dev, b.data, (size_t)b.stride * one, from,
		                                     (size_t)stride * one, (size_t)b.cols * one,
		                                     (size_t)b.rows));
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (b.rows * b.cols > 1 << 16)
	for (int64_t i = 0; i < b.rows; i++)
		kdri_block_write(&b, i, 0, b.cols, from + i * stride);
	return KDR_OK;
}

kdr_status kdri_block_fetch(kdr_context *ctx, kdri_block b, double *to, int64_t stride)
{
	const size_t one = sizeof *to;
	if (!kdri_is_cpu(b.dev))
		return kdri_device_status(ctx, b.dev,
		                          b.dev->get(ctx, b.dev, b.data, (size_t)b.stride * one, to,
		                                     (size_t)stride * one, (size_t)b.cols * one,
		                                     (size_t)b.rows));
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (b.rows * b.cols > 1 << 16)
	for (int64_t i = 0; i < b.rows; i++)
		kdri_block_read(&b, i, 0, b.cols, to + i * stride);
	return KDR_OK;
}

kdr_status kdri_block_diagonal(kdr_context *ctx, kdri_block b, double *out)
{
	b.cols = 1;
	b.stride++;
	return kdri_block_fetch(ctx, b, out, 1);
}

void kdri_block_narrow(kdri_block *b)
{
	enum { PIECE = 512 };
	double piece[PIECE];
	float narrow[PIECE];
	if (!b->single && kdri_is_cpu(b->dev)) {
		/* Bytes are read before they are overwritten, and never written beyond those already read. */
		for (int64_t at = 0, count = b->rows * b->cols; at < count; at += PIECE) {
			int64_t m = KDRI_MIN(PIECE, count - at);
			memcpy(piece, (char *)b->data + at * (int64_t)sizeof(double),
			       (size_t)m * sizeof(double));
			for (int64_t p = 0; p < m; p++)
				narrow[p] = (float)piece[p];
			memcpy((char *)b->data + at * (int64_t)sizeof(float), narrow,
			       (size_t)m * sizeof(float));
		}
		b->floats = true;
	}
	b->single = true;
}

/* --- sparse rows --------------------------------------------------------------------------------------------- */

kdr_status kdri_csr_new(kdr_context *ctx, kdri_device *dev, int64_t rows, int64_t cols, int64_t entries,
                        kdr_csr *out)
{
	kdr_status st;
	int64_t *rowptr = NULL;
	int32_t *col = NULL;
	double *val = NULL;
	KDRI_TRY(KDRI_DNEW(ctx, dev, &rowptr, rows + 1));
	KDRI_TRY(KDRI_DNEW(ctx, dev, &col, entries));
	KDRI_TRY(KDRI_DNEW(ctx, dev, &val, entries));
done:
	*out = (kdr_csr){ rows, cols, rowptr, col, val };
	return st;
}

kdr_status kdri_csr_send(kdr_context *ctx, kdri_device *dev, const kdr_csr *x, kdr_csr *to)
{
	kdr_status st;
	int64_t first = x->rowptr[0], entries = x->rowptr[x->rows] - first, *starts = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &starts, x->rows + 1));
	for (int64_t i = 0; i <= x->rows; i++)
		starts[i] = x->rowptr[i] - first;
	to->rows = x->rows;
	KDRI_TRY(kdri_device_send(ctx, dev, (int64_t *)to->rowptr, starts,
	                          (size_t)(x->rows + 1) * sizeof *starts));
	KDRI_TRY(kdri_device_send(ctx, dev, (int32_t *)to->col, x->col + first,
	                          (size_t)entries * sizeof *x->col));
	KDRI_TRY(kdri_device_send(ctx, dev, (double *)to->val, x->val + first,
	                          (size_t)entries * sizeof *x->val));
done:
	kdri_free(ctx, starts);
	return st;
}

kdr_status kdri_sparse_of(kdr_context *ctx, kdri_device *dev, const kdr_csr *x, const kdr_csr *turned,
                          kdri_sparse *out)
{
	kdr_status st = KDR_OK;
	kdri_sparse s = { .dev = dev, .entries = x->rowptr[x->rows] - x->rowptr[0] };
	if (kdri_is_cpu(dev)) {
		s.x = *x;
		if (turned)
			s.turned = *turned;
	} else {
		s.owned = true;
		KDRI_TRY(kdri_csr_new(ctx, dev, x->rows, x->cols, s.entries, &s.x));
		KDRI_TRY(kdri_csr_send(ctx, dev, x, &s.x));
		if (turned) {
			KDRI_TRY(kdri_csr_new(ctx, dev, turned->rows, turned->cols, s.entries, &s.turned));
			KDRI_TRY(kdri_csr_send(ctx, dev, turned, &s.turned));
		}
	}
	*out = s;
	s = (kdri_sparse){ 0 };
done:
	kdri_sparse_free(ctx, &s);
	return st;
}

void kdri_sparse_free(kdr_context *ctx, kdri_sparse *s)
{
	const void *parts[] = { s->x.rowptr,      s->x.col,      s->x.val,
		                s->turned.rowptr, s->turned.col, s->turned.val };
	for (size_t i = 0; i < sizeof parts / sizeof *parts && s->owned; i++)
		s->dev->release(ctx, s->dev, (void *)parts[i]);
	*s = (kdri_sparse){ 0 };
}

kdri_sparse kdri_sparse_rows(const kdri_sparse *s, int64_t begin, int64_t end)
{
	kdri_sparse part = { .dev = s->dev, .x = s->x, .entries = s->entries };
	part.x.rowptr += begin;
	part.x.rows = end - begin;
	return part;
}
