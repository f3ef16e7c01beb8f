/* A device without an accelerator: memory, and the processor's operations. SPDX-License-Identifier: BSD-3-Clause */
#include "tests/device/standin.h"

enum { BUFFERS = 512, PINS = 16 };

/* Between an address of the device and that of its memory: no machine has memory there. */
static const uintptr_t elsewhere = (uintptr_t)1 << 52;

typedef struct buffer {
	size_t bytes;
	char *data;
} buffer;

typedef struct standin {
	kdr_context *ctx;
	standin_limits own, *limits;
	buffer live[BUFFERS];
	const void *pinned[PINS];
} standin;

static standin *self_of(kdri_device *d)
{
	return d->self;
}

static kdr_status failed(kdri_device *d, const char *name, const char *why)
{
	kdri_snprintf(d->error, sizeof d->error, "%s: %s", name, why);
	return KDR_ERR_INTERNAL;
}

kdr_status standin_enter(kdri_device *d, const char *name)
{
	standin_limits *l = self_of(d)->limits;
	if (++l->calls != l->fail_at)
		return KDR_OK;
	(void)failed(d, name, "fails on purpose");
	return l->fail_with;
}

kdr_status standin_misfit(kdri_device *d, const char *name)
{
	return failed(d, name, "shapes that do not fit");
}

kdr_status standin_status(kdr_context *ctx, kdri_device *d, kdr_status st)
{
	if (st != KDR_OK)
		kdri_snprintf(d->error, sizeof d->error, "%s", kdr_context_error(ctx));
	return st;
}

/* --- addresses ------------------------------------------------------------------------------------------------ */

void *standin_vector(kdri_device *d, const char *name, const void *at, int64_t count, size_t size)
{
	const uintptr_t start = (uintptr_t)at - elsewhere;
	for (int i = 0; i < BUFFERS; i++) {
		const buffer *b = &self_of(d)->live[i];
		/* A buffer of 0 bytes has an address, too. */
		if (!b->data || start < (uintptr_t)b->data || start > (uintptr_t)b->data + b->bytes)
			continue;
		if (count >= 0 && (size_t)count * size <= (uintptr_t)b->data + b->bytes - start)
			return (char *)start;
		(void)failed(d, name, "beyond the end of a buffer");
		return NULL;
	}
	(void)failed(d, name, "not memory of this device");
	return NULL;
}

kdr_status standin_views(kdri_device *d, const char *name, kdri_block *const *blocks)
{
	for (; *blocks; blocks++) {
		kdri_block *b = *blocks;
		int64_t count = b->rows > 0 && b->cols > 0 ? (b->rows - 1) * b->stride + b->cols : 0;
		if (b->dev != d || b->floats || b->rows < 0 || b->cols < 0 ||
		    (b->rows > 1 && b->stride < b->cols))
			return failed(d, name, "a view that is none");
		b->data = standin_vector(d, name, b->data, count, sizeof(double));
		b->dev = &kdri_cpu;
		if (!b->data)
			return KDR_ERR_INTERNAL;
	}
	return KDR_OK;
}

kdr_status standin_csr(kdri_device *d, const char *name, kdri_sparse *x)
{
	kdr_csr *parts[] = { &x->x, &x->turned };
	if (x->dev != d)
		return failed(d, name, "a sparse matrix of another device");
	for (int i = 0; i < 2 && parts[i]->rowptr; i++) {
		kdr_csr *c = parts[i];
		c->rowptr = standin_vector(d, name, c->rowptr, c->rows + 1, sizeof *c->rowptr);
		if (!c->rowptr)
			return KDR_ERR_INTERNAL;
		c->col = standin_vector(d, name, c->col, c->rowptr[c->rows], sizeof *c->col);
		c->val = standin_vector(d, name, c->val, c->rowptr[c->rows], sizeof *c->val);
		if (!c->col || !c->val)
			return KDR_ERR_INTERNAL;
	}
	x->dev = &kdri_cpu;
	return KDR_OK;
}

kdr_status standin_rows(kdri_device *d, const char *name, kdri_drows *x)
{
	return x->sparse ? standin_csr(d, name, &x->csr)
	                 : standin_views(d, name, (kdri_block *const[]){ &x->dense, NULL });
}

/* --- memory --------------------------------------------------------------------------------------------------- */

static kdr_status standin_alloc(kdr_context *ctx, kdri_device *d, size_t bytes, void **out)
{
	standin *h = self_of(d);
	standin_limits *l = h->limits;
	char *data = NULL;
	int at = 0;
	(void)ctx;
	STANDIN_TRY(standin_enter(d, "alloc"));
	while (at < BUFFERS && h->live[at].data)
		at++;
	if (at == BUFFERS || bytes > PTRDIFF_MAX || (l->most && bytes > l->most - l->bytes)) {
		(void)failed(d, "alloc", "the device is full");
		return KDR_ERR_MEMORY;
	}
	STANDIN_TRY(standin_status(h->ctx, d, kdri_alloc(h->ctx, &data, (int64_t)bytes, 1)));
	memset(data, 0xff, bytes); /* NaN: nobody may count on what is there */
	h->live[at] = (buffer){ bytes, data };
	l->buffers++;
	l->bytes += bytes;
	l->peak = KDRI_MAX(l->peak, l->bytes);
	*out = (void *)((uintptr_t)data + elsewhere);
	return KDR_OK;
}

static void standin_release(kdr_context *ctx, kdri_device *d, void *data)
{
	standin *h = self_of(d);
	(void)ctx;
	for (int i = 0; i < BUFFERS && data; i++)
		if (h->live[i].data && (uintptr_t)h->live[i].data + elsewhere == (uintptr_t)data) {
			h->limits->buffers--;
			h->limits->bytes -= h->live[i].bytes;
			kdri_free(h->ctx, h->live[i].data);
			h->live[i] = (buffer){ 0 };
			return;
		}
}

static size_t standin_room(kdri_device *d)
{
	const standin_limits *l = self_of(d)->limits;
	return (l->most ? l->most - l->bytes : (size_t)1 << 33) / (size_t)KDRI_MAX(1, d->users);
}

/* The memory of pieces of a transfer. */
static char *pieces(kdri_device *d, const char *name, const void *at, size_t pitch, const void *host,
                    size_t width, size_t rows)
{
	if ((uintptr_t)host >= elsewhere) {
		(void)failed(d, name, "the host's side is memory of a device");
		return NULL;
	}
	return standin_vector(d, name, at, (int64_t)(rows && width ? (rows - 1) * pitch + width : 0), 1);
}

static kdr_status standin_put(kdr_context *ctx, kdri_device *d, void *to, size_t pitch, const void *from,
                              size_t host_pitch, size_t width, size_t rows)
{
	standin_limits *l = self_of(d)->limits;
	STANDIN_TRY(standin_enter(d, "put"));
	char *start = pieces(d, "put", to, pitch, from, width, rows);
	if (!start)
		return KDR_ERR_INTERNAL;
	l->puts++;
	l->put_bytes += width * rows;
	return kdri_cpu.put(ctx, &kdri_cpu, start, pitch, from, host_pitch, width, rows);
}

static kdr_status standin_get(kdr_context *ctx, kdri_device *d, const void *from, size_t pitch, void *to,
                              size_t host_pitch, size_t width, size_t rows)
{
	standin_limits *l = self_of(d)->limits;
	STANDIN_TRY(standin_enter(d, "get"));
	char *start = pieces(d, "get", from, pitch, to, width, rows);
	if (!start)
		return KDR_ERR_INTERNAL;
	l->gets++;
	l->get_bytes += width * rows;
	return kdri_cpu.get(ctx, &kdri_cpu, start, pitch, to, host_pitch, width, rows);
}

static kdr_status standin_pin(kdr_context *ctx, kdri_device *d, const void *host, size_t bytes)
{
	standin *h = self_of(d);
	int at = 0;
	(void)ctx;
	STANDIN_TRY(standin_enter(d, "pin"));
	while (at < PINS && h->pinned[at] && h->pinned[at] != host)
		at++;
	if (bytes == 0 || at == PINS || h->pinned[at])
		return failed(d, "pin", "nothing, too much, or what is pinned already");
	h->pinned[at] = host;
	h->limits->pins++;
	return KDR_OK;
}

static void standin_unpin(kdri_device *d, const void *host)
{
	standin *h = self_of(d);
	for (int i = 0; i < PINS; i++)
		if (host && h->pinned[i] == host) {
			h->pinned[i] = NULL;
			h->limits->pins--;
		}
}

static void standin_close(kdri_device *d)
{
	standin *h = self_of(d);
	kdr_context *ctx = h->ctx;
	for (int i = 0; i < BUFFERS; i++)
		kdri_free(ctx, h->live[i].data);
	kdri_free(ctx, h);
	kdri_free(ctx, d);
}

/* --- the processor's operations -------------------------------------------------------------------------------- */

static kdr_status standin_fill(kdr_context *ctx, kdri_block a, double value)
{
	kdri_device *d = a.dev;
	STANDIN_BEGIN(d, "fill", &a);
	return standin_status(ctx, d, kdri_cpu.fill(ctx, a, value));
}

static kdr_status standin_copy(kdr_context *ctx, kdri_block from, kdri_block to)
{
	kdri_device *d = to.dev;
	STANDIN_BEGIN(d, "copy", &from, &to);
	if (from.rows != to.rows || from.cols != to.cols)
		return standin_misfit(d, "copy");
	return standin_status(ctx, d, kdri_cpu.copy(ctx, from, to));
}

static kdr_status standin_mirror(kdr_context *ctx, kdri_block a)
{
	kdri_device *d = a.dev;
	STANDIN_BEGIN(d, "mirror", &a);
	return standin_status(ctx, d, kdri_cpu.mirror(ctx, a));
}

static kdr_status standin_clip(kdr_context *ctx, kdri_block a)
{
	kdri_device *d = a.dev;
	STANDIN_BEGIN(d, "clip", &a);
	return standin_status(ctx, d, kdri_cpu.clip(ctx, a));
}

static kdr_status standin_take(kdr_context *ctx, kdri_block a, const int64_t *index, int64_t count,
                               double *out)
{
	kdri_device *d = a.dev;
	STANDIN_BEGIN(d, "take", &a);
	return standin_status(ctx, d, kdri_cpu.take(ctx, a, index, count, out));
}

static kdr_status standin_gemm(kdr_context *ctx, bool trans_a, bool trans_b, double alpha, kdri_block a,
                               kdri_block b, double beta, kdri_block c)
{
	kdri_device *d = c.dev;
	STANDIN_BEGIN(d, "gemm", &a, &b, &c);
	if (c.rows != (trans_a ? a.cols : a.rows) || c.cols != (trans_b ? b.rows : b.cols) ||
	    (trans_b ? b.cols : b.rows) != (trans_a ? a.rows : a.cols))
		return standin_misfit(d, "gemm");
	return standin_status(ctx, d, kdri_cpu.gemm(ctx, trans_a, trans_b, alpha, a, b, beta, c));
}

static kdr_status standin_syrk(kdr_context *ctx, bool trans, double alpha, kdri_block a, double beta,
                               kdri_block c)
{
	kdri_device *d = c.dev;
	STANDIN_BEGIN(d, "syrk", &a, &c);
	if (c.rows != c.cols || c.rows != (trans ? a.cols : a.rows))
		return standin_misfit(d, "syrk");
	return standin_status(ctx, d, kdri_cpu.syrk(ctx, trans, alpha, a, beta, c));
}

static kdr_status standin_inverse(kdr_context *ctx, kdri_block a)
{
	kdri_device *d = a.dev;
	STANDIN_BEGIN(d, "inverse", &a);
	return standin_status(ctx, d, kdri_cpu.inverse(ctx, a));
}

static kdr_status standin_apply(kdr_context *ctx, kdri_block a, kdri_block b, kdri_block c)
{
	kdri_device *d = c.dev;
	STANDIN_BEGIN(d, "apply", &a, &b, &c);
	if (a.cols != b.rows || c.rows != a.rows || c.cols != b.cols)
		return standin_misfit(d, "apply");
	return standin_status(ctx, d, kdri_cpu.apply(ctx, a, b, c));
}

static kdr_status standin_times(kdr_context *ctx, kdri_block a, bool trans, const double *x, double *y)
{
	kdri_device *d = a.dev;
	STANDIN_BEGIN(d, "times", &a);
	return standin_status(ctx, d, kdri_cpu.times(ctx, a, trans, x, y));
}

static kdr_status standin_row_dots(kdr_context *ctx, kdri_block a, const double *v, double *out)
{
	kdri_device *d = a.dev;
	STANDIN_BEGIN(d, "row_dots", &a);
	return standin_status(ctx, d, kdri_cpu.row_dots(ctx, a, v, out));
}

static kdr_status standin_multiply(kdr_context *ctx, const kdri_sparse *x, bool turned, kdri_block b,
                                   kdri_block y)
{
	kdri_device *d = y.dev;
	kdri_sparse s = *x;
	STANDIN_BEGIN(d, "multiply", &b, &y);
	STANDIN_TRY(standin_csr(d, "multiply", &s));
	if (b.rows != (turned ? s.x.rows : s.x.cols) || y.rows != (turned ? s.x.cols : s.x.rows) ||
	    y.cols != b.cols || (turned && !s.turned.rowptr))
		return standin_misfit(d, "multiply");
	return standin_status(ctx, d, kdri_cpu.multiply(ctx, &s, turned, b, y));
}

static kdr_status standin_gram(kdr_context *ctx, const kdri_sparse *x, bool turned, const double *weight,
                               kdri_block c)
{
	kdri_device *d = c.dev;
	kdri_sparse s = *x;
	STANDIN_BEGIN(d, "gram", &c);
	STANDIN_TRY(standin_csr(d, "gram", &s));
	if (!s.turned.rowptr || c.rows != c.cols || c.rows != (turned ? s.x.cols : s.x.rows))
		return standin_misfit(d, "gram");
	return standin_status(ctx, d, kdri_cpu.gram(ctx, &s, turned, weight, c));
}

static kdr_status standin_centre(kdr_context *ctx, kdri_block a, const double *mean, double shift,
                                 const double *scale, kdri_block to)
{
	kdri_device *d = a.dev;
	STANDIN_BEGIN(d, "centre", &a, &to);
	if (a.rows != to.rows || a.cols != to.cols)
		return standin_misfit(d, "centre");
	return standin_status(ctx, d, kdri_cpu.centre(ctx, a, mean, shift, scale, to));
}

static kdr_status standin_moments(kdr_context *ctx, kdri_block a, double limit, double *sum, double *squares,
                                  int64_t *beyond)
{
	kdri_device *d = a.dev;
	STANDIN_BEGIN(d, "moments", &a);
	return standin_status(ctx, d, kdri_cpu.moments(ctx, a, limit, sum, squares, beyond));
}

static kdr_status standin_tanh(kdr_context *ctx, kdri_block y, const double *lean, const double *mean,
                               const double *offset, kdri_block h)
{
	kdri_device *d = h.dev;
	STANDIN_BEGIN(d, "tanh", &y, &h);
	if (y.rows != h.rows || y.cols != h.cols)
		return standin_misfit(d, "tanh");
	return standin_status(ctx, d, kdri_cpu.tanh(ctx, y, lean, mean, offset, h));
}

static kdr_status standin_tanh_rows(kdr_context *ctx, kdri_block y, const kdri_sparse *x, const double *lean,
                                    const double *mean, double q, const double *offset, kdri_block h)
{
	kdri_device *d = h.dev;
	kdri_sparse s = x ? *x : (kdri_sparse){ .dev = d };
	STANDIN_BEGIN(d, "tanh_rows", &y, &h);
	STANDIN_TRY(standin_csr(d, "tanh_rows", &s));
	if (y.rows != h.cols || y.cols != h.rows || (x && (s.x.rows != h.rows || s.x.cols != h.cols)))
		return standin_misfit(d, "tanh_rows");
	return standin_status(ctx, d, kdri_cpu.tanh_rows(ctx, y, x ? &s : NULL, lean, mean, q, offset, h));
}

static kdr_status standin_adjust(kdr_context *ctx, kdri_block c, const double *a, bool outer, double constant,
                                 double scale, const double *diagonal)
{
	kdri_device *d = c.dev;
	STANDIN_BEGIN(d, "adjust", &c);
	return standin_status(ctx, d, kdri_cpu.adjust(ctx, c, a, outer, constant, scale, diagonal));
}

static kdr_status standin_complement(kdr_context *ctx, kdri_block a, const double *scale, double q)
{
	kdri_device *d = a.dev;
	STANDIN_BEGIN(d, "complement", &a);
	return standin_status(ctx, d, kdri_cpu.complement(ctx, a, scale, q));
}

static kdr_status standin_similarity(kdr_context *ctx, kdri_block k, const double *square, double factor)
{
	kdri_device *d = k.dev;
	STANDIN_BEGIN(d, "similarity", &k);
	return standin_status(ctx, d, kdri_cpu.similarity(ctx, k, square, factor));
}

static kdr_status standin_kernel_sums(kdr_context *ctx, kdri_block k, const double *square,
                                      const int64_t *begin, int64_t ntasks, double factor, double *sums)
{
	kdri_device *d = k.dev;
	STANDIN_BEGIN(d, "kernel_sums", &k);
	if (k.rows != begin[ntasks])
		return standin_misfit(d, "kernel_sums");
	return standin_status(ctx, d, kdri_cpu.kernel_sums(ctx, k, square, begin, ntasks, factor, sums));
}

static kdr_status standin_row_nth(kdr_context *ctx, kdri_block a, int64_t place, double *out)
{
	kdri_device *d = a.dev;
	STANDIN_BEGIN(d, "row_nth", &a);
	return standin_status(ctx, d, kdri_cpu.row_nth(ctx, a, place, out));
}

static kdr_status standin_row_squares(kdr_context *ctx, kdri_block a, double *out)
{
	kdri_device *d = a.dev;
	STANDIN_BEGIN(d, "row_squares", &a);
	return standin_status(ctx, d, kdri_cpu.row_squares(ctx, a, out));
}

static kdr_status standin_square(kdr_context *ctx, kdri_block a, double *out)
{
	kdri_device *d = a.dev;
	STANDIN_BEGIN(d, "square", &a);
	return standin_status(ctx, d, kdri_cpu.square(ctx, a, out));
}

static kdr_status standin_count_from(kdr_context *ctx, kdri_block a, double least, int64_t *out)
{
	kdri_device *d = a.dev;
	STANDIN_BEGIN(d, "count_from", &a);
	return standin_status(ctx, d, kdri_cpu.count_from(ctx, a, least, out));
}

static kdr_status standin_neighbour_limits(kdr_context *ctx, kdri_block c, int64_t first, const double *norm,
                                           int64_t place, double tie, double *least, double *bound,
                                           int64_t *count)
{
	kdri_device *d = c.dev;
	STANDIN_BEGIN(d, "neighbour_limits", &c);
	if (first < 0 || first + c.rows > c.cols)
		return standin_misfit(d, "neighbour_limits");
	return standin_status(
	        ctx, d, kdri_cpu.neighbour_limits(ctx, c, first, norm, place, tie, least, bound, count));
}

static kdr_status standin_neighbour_weights(kdr_context *ctx, kdri_block c, int64_t first, const double *norm,
                                            double tie, const double *least, const double *bound,
                                            const int64_t *starts, int32_t *col, double *val)
{
	kdri_device *d = c.dev;
	STANDIN_BEGIN(d, "neighbour_weights", &c);
	return standin_status(
	        ctx, d, kdri_cpu.neighbour_weights(ctx, c, first, norm, tie, least, bound, starts, col, val));
}

static kdr_status standin_column_dots(kdr_context *ctx, kdri_block a, kdri_block b, double *out)
{
	kdri_device *d = a.dev;
	STANDIN_BEGIN(d, "column_dots", &a, &b);
	return standin_status(ctx, d, kdri_cpu.column_dots(ctx, a, b, out));
}

static kdr_status standin_ratio_step(kdr_context *ctx, kdri_block y, kdri_block n, kdri_block den,
                                     bool careful, kdri_block to)
{
	kdri_device *d = y.dev;
	STANDIN_BEGIN(d, "ratio_step", &y, &n, &den, &to);
	return standin_status(ctx, d, kdri_cpu.ratio_step(ctx, y, n, den, careful, to));
}

static kdr_status standin_group_rows(kdr_context *ctx, kdri_block a, const int32_t *label,
                                     const int32_t *before, kdri_block sums)
{
	kdri_device *d = a.dev;
	STANDIN_BEGIN(d, "group_rows", &a, &sums);
	if (a.cols != sums.cols)
		return standin_misfit(d, "group_rows");
	return standin_status(ctx, d, kdri_cpu.group_rows(ctx, a, label, before, sums));
}

static kdr_status standin_group_own(kdr_context *ctx, kdri_block sums, const int32_t *label, double *out)
{
	kdri_device *d = sums.dev;
	STANDIN_BEGIN(d, "group_own", &sums);
	return standin_status(ctx, d, kdri_cpu.group_own(ctx, sums, label, out));
}

static kdr_status standin_group_closest(kdr_context *ctx, kdri_block sums, const double *diagonal,
                                        const double *size, const double *self, int32_t *next, double *away)
{
	kdri_device *d = sums.dev;
	STANDIN_BEGIN(d, "group_closest", &sums);
	return standin_status(ctx, d, kdri_cpu.group_closest(ctx, sums, diagonal, size, self, next, away));
}

kdr_status standin_new(kdr_context *ctx, standin_limits *limits, kdri_device **out)
{
	kdr_status st;
	standin *h = NULL;
	kdri_device *d = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &h, 1));
	KDRI_TRY(KDRI_NEW0(ctx, &d, 1));
	h->ctx = ctx;
	h->limits = limits ? limits : &h->own;
	*d = (kdri_device){
		.abi = KDRI_DEVICE_ABI,
		.kind = "host",
		.self = h,
		.most_columns = 256,
		.alloc = standin_alloc,
		.release = standin_release,
		.room = standin_room,
		.put = standin_put,
		.get = standin_get,
		.pin = standin_pin,
		.unpin = standin_unpin,
		.close = standin_close,
		.fill = standin_fill,
		.copy = standin_copy,
		.mirror = standin_mirror,
		.clip = standin_clip,
		.take = standin_take,
		.gemm = standin_gemm,
		.syrk = standin_syrk,
		.inverse = standin_inverse,
		.apply = standin_apply,
		.times = standin_times,
		.row_dots = standin_row_dots,
		.multiply = standin_multiply,
		.gram = standin_gram,
		.centre = standin_centre,
		.moments = standin_moments,
		.tanh = standin_tanh,
		.tanh_rows = standin_tanh_rows,
		.adjust = standin_adjust,
		.complement = standin_complement,
		.similarity = standin_similarity,
		.kernel_sums = standin_kernel_sums,
		.row_nth = standin_row_nth,
		.row_squares = standin_row_squares,
		.square = standin_square,
		.count_from = standin_count_from,
		.neighbour_limits = standin_neighbour_limits,
		.neighbour_weights = standin_neighbour_weights,
		.column_dots = standin_column_dots,
		.ratio_step = standin_ratio_step,
		.group_rows = standin_group_rows,
		.group_own = standin_group_own,
		.group_closest = standin_group_closest,
	};
	standin_kmeans(d);
	*out = d;
	h = NULL;
done:
	kdri_free(ctx, h);
	return st;
}
