/* The table of operations on host memory: memory, products, entries. SPDX-License-Identifier: BSD-3-Clause
 *
 * Equations are those of device.h. The simplest code that is right: what is compared with must not be clever. */
#include "matrix/host.h"

#include "matrix/block.h"

static kdri_host *host_of(kdri_device *d)
{
	return d->self;
}

static kdri_dstatus failed(kdri_device *d, const char *name, const char *why)
{
	kdri_snprintf(d->error, sizeof d->error, "%s: %s", name, why);
	return KDRI_D_FAILED;
}

kdri_dstatus kdri_host_enter(kdri_device *d, const char *name)
{
	kdri_host_limits *l = host_of(d)->limits;
	if (++l->calls != l->fail_at)
		return KDRI_D_OK;
	(void)failed(d, name, "fails on purpose");
	return l->fail_with;
}

static bool is_live(kdri_device *d, const kdri_buf *buf)
{
	for (int i = 0; i < KDRI_HOST_BUFFERS; i++)
		if (buf && host_of(d)->live[i] == buf)
			return true;
	return false;
}

void *kdri_host_vector(kdri_device *d, const char *name, const kdri_buf *buf, int64_t count, size_t size)
{
	if (!is_live(d, buf)) {
		(void)failed(d, name, "not a buffer of this device");
		return NULL;
	}
	if (count < 0 || (size_t)count * size > buf->bytes) {
		(void)failed(d, name, "beyond the end of a buffer");
		return NULL;
	}
	return buf->data;
}

double *kdri_host_view(kdri_device *d, const char *name, kdri_dmat a)
{
	int64_t end = a.rows > 0 && a.cols > 0 ? a.at + (a.rows - 1) * a.stride + a.cols : a.at;
	if (a.at < 0 || a.rows < 0 || a.cols < 0 || (a.rows > 1 && a.stride < a.cols)) {
		(void)failed(d, name, "a view that is none");
		return NULL;
	}
	double *data = kdri_host_vector(d, name, a.buf, end, sizeof(double));
	return data ? data + a.at : NULL;
}

kdri_dstatus kdri_host_misfit(kdri_device *d, const char *name)
{
	return failed(d, name, "shapes that do not fit");
}

kdri_dstatus kdri_host_status(kdri_device *d, kdr_status st)
{
	if (st != KDR_OK)
		kdri_snprintf(d->error, sizeof d->error, "%s", kdr_context_error(host_of(d)->ctx));
	return st == KDR_OK            ? KDRI_D_OK
	       : st == KDR_ERR_MEMORY  ? KDRI_D_MEMORY
	       : st == KDR_ERR_NUMERIC ? KDRI_D_NUMERIC
	                               : KDRI_D_FAILED;
}

/* --- memory ------------------------------------------------------------------------------------------- */

static kdri_dstatus host_alloc(kdri_device *d, size_t bytes, kdri_buf **out)
{
	kdri_host *h = host_of(d);
	kdri_host_limits *l = h->limits;
	kdri_buf *buf = NULL;
	int at = 0;
	KDRI_HOST_ENTER(d, "alloc");
	while (at < KDRI_HOST_BUFFERS && h->live[at])
		at++;
	if (at == KDRI_HOST_BUFFERS || bytes > PTRDIFF_MAX || (l->most && bytes > l->most - l->bytes)) {
		(void)failed(d, "alloc", "the device is full");
		return KDRI_D_MEMORY;
	}
	if (KDRI_NEW0(h->ctx, &buf, 1) != KDR_OK ||
	    kdri_alloc(h->ctx, &buf->data, (int64_t)bytes, 1) != KDR_OK) {
		kdri_free(h->ctx, buf);
		return kdri_host_status(d, KDR_ERR_MEMORY);
	}
	memset(buf->data, 0xff, bytes); /* NaN: nobody may count on what is there */
	buf->bytes = bytes;
	h->live[at] = buf;
	l->buffers++;
	l->bytes += bytes;
	l->peak = KDRI_MAX(l->peak, l->bytes);
	*out = buf;
	return KDRI_D_OK;
}

static void host_release(kdri_device *d, kdri_buf *buf)
{
	kdri_host *h = host_of(d);
	for (int i = 0; i < KDRI_HOST_BUFFERS && buf; i++)
		if (h->live[i] == buf) {
			h->live[i] = NULL;
			h->limits->buffers--;
			h->limits->bytes -= buf->bytes;
			kdri_free(h->ctx, buf->data);
			kdri_free(h->ctx, buf);
			return;
		}
}

static size_t host_room(kdri_device *d)
{
	const kdri_host_limits *l = host_of(d)->limits;
	return l->most ? l->most - l->bytes : (size_t)1 << 33;
}

/* Whether something at the host's side lies in a buffer: it was taken for what it is not. */
static bool inside(kdri_device *d, const void *p)
{
	for (int i = 0; i < KDRI_HOST_BUFFERS; i++) {
		const kdri_buf *b = host_of(d)->live[i];
		if (b && (const unsigned char *)p >= b->data && (const unsigned char *)p < b->data + b->bytes)
			return true;
	}
	return false;
}

/* The checks of put and get: where the first piece starts. */
static unsigned char *host_pieces(kdri_device *d, const char *name, const kdri_buf *buf, size_t at,
                                  size_t pitch, const void *other, size_t width, size_t rows)
{
	size_t end = rows && width ? at + (rows - 1) * pitch + width : at;
	unsigned char *data = kdri_host_vector(d, name, buf, (int64_t)end, 1);
	if (data && inside(d, other)) {
		(void)failed(d, name, "the host's side is a buffer of the device");
		return NULL;
	}
	return data ? data + at : NULL;
}

static kdri_dstatus host_put(kdri_device *d, kdri_buf *to, size_t at, size_t pitch, const void *from,
                             size_t host_pitch, size_t width, size_t rows)
{
	kdri_host_limits *l = host_of(d)->limits;
	KDRI_HOST_ENTER(d, "put");
	unsigned char *start = host_pieces(d, "put", to, at, pitch, from, width, rows);
	KDRI_HOST_NEED(start);
	for (size_t i = 0; i < rows; i++)
		memcpy(start + i * pitch, (const unsigned char *)from + i * host_pitch, width);
	l->puts++;
	l->put_bytes += width * rows;
	return KDRI_D_OK;
}

static kdri_dstatus host_get(kdri_device *d, const kdri_buf *from, size_t at, size_t pitch, void *to,
                             size_t host_pitch, size_t width, size_t rows)
{
	kdri_host_limits *l = host_of(d)->limits;
	KDRI_HOST_ENTER(d, "get");
	const unsigned char *start = host_pieces(d, "get", from, at, pitch, to, width, rows);
	KDRI_HOST_NEED(start);
	for (size_t i = 0; i < rows; i++)
		memcpy((unsigned char *)to + i * host_pitch, start + i * pitch, width);
	l->gets++;
	l->get_bytes += width * rows;
	return KDRI_D_OK;
}

static kdri_dstatus host_pin(kdri_device *d, const void *host, size_t bytes)
{
	kdri_host *h = host_of(d);
	int at = 0;
	KDRI_HOST_ENTER(d, "pin");
	while (at < KDRI_HOST_PINS && h->pinned[at] && h->pinned[at] != host)
		at++;
	if (bytes == 0 || at == KDRI_HOST_PINS || h->pinned[at])
		return failed(d, "pin", "nothing, too much, or what is pinned already");
	h->pinned[at] = host;
	h->limits->pins++;
	return KDRI_D_OK;
}

static void host_unpin(kdri_device *d, const void *host)
{
	kdri_host *h = host_of(d);
	for (int i = 0; i < KDRI_HOST_PINS; i++)
		if (host && h->pinned[i] == host) {
			h->pinned[i] = NULL;
			h->limits->pins--;
		}
}

static kdri_dstatus host_fill(kdri_device *d, kdri_dmat a, double value)
{
	KDRI_HOST_ENTER(d, "fill");
	double *p = kdri_host_view(d, "fill", a);
	KDRI_HOST_NEED(p);
	for (int64_t i = 0; i < a.rows; i++)
		for (int64_t j = 0; j < a.cols; j++)
			p[i * a.stride + j] = value;
	return KDRI_D_OK;
}

static kdri_dstatus host_copy(kdri_device *d, kdri_dmat from, kdri_dmat to)
{
	KDRI_HOST_ENTER(d, "copy");
	const double *a = kdri_host_view(d, "copy", from);
	double *b = kdri_host_view(d, "copy", to);
	KDRI_HOST_NEED(a && b);
	for (int64_t i = 0; i < from.rows; i++)
		memcpy(b + i * to.stride, a + i * from.stride, (size_t)from.cols * sizeof *a);
	return KDRI_D_OK;
}

static kdri_dstatus host_mirror(kdri_device *d, kdri_dmat a)
{
	KDRI_HOST_ENTER(d, "mirror");
	double *p = kdri_host_view(d, "mirror", a);
	KDRI_HOST_NEED(p);
	for (int64_t i = 0; i < a.rows; i++)
		for (int64_t j = 0; j < i; j++)
			p[j * a.stride + i] = p[i * a.stride + j];
	return KDRI_D_OK;
}

static kdri_dstatus host_take(kdri_device *d, kdri_dmat a, const kdri_buf *index, kdri_dmat to)
{
	KDRI_HOST_ENTER(d, "take");
	const double *p = kdri_host_view(d, "take", a);
	const int64_t *at = kdri_host_vector(d, "take", index, to.rows, sizeof *at);
	double *t = kdri_host_view(d, "take", to);
	KDRI_HOST_NEED(p && at && t);
	for (int64_t i = 0; i < to.rows; i++)
		for (int64_t j = 0; j < to.cols; j++)
			t[i * to.stride + j] = p[at[i] * a.stride + at[j]];
	return KDRI_D_OK;
}

/* --- products and solves ------------------------------------------------------------------------------- */

static kdri_dstatus host_gemm(kdri_device *d, bool trans_a, bool trans_b, double alpha, kdri_dmat a,
                              kdri_dmat b, double beta, kdri_dmat c, kdri_sharp sharp)
{
	(void)sharp;
	KDRI_HOST_ENTER(d, "gemm");
	double *x = kdri_host_view(d, "gemm", a), *y = kdri_host_view(d, "gemm", b),
	       *z = kdri_host_view(d, "gemm", c);
	KDRI_HOST_NEED(x && y && z);
	int64_t m = trans_a ? a.cols : a.rows, k = trans_a ? a.rows : a.cols, n = trans_b ? b.rows : b.cols;
	if (c.rows != m || c.cols != n || (trans_b ? b.cols : b.rows) != k)
		return kdri_host_misfit(d, "gemm");
	kdri_block left = kdri_block_of(x, a.rows, a.cols, a.stride);
	kdri_block right = kdri_block_of(y, b.rows, b.cols, b.stride);
	kdri_block to = kdri_block_of(z, m, n, c.stride); /* (E1) */
	return kdri_host_status(
	        d, kdri_block_gemm(host_of(d)->ctx, trans_a, trans_b, alpha, &left, &right, beta, &to));
}

static kdri_dstatus host_syrk(kdri_device *d, bool trans, double alpha, kdri_dmat a, double beta, kdri_dmat c,
                              kdri_sharp sharp)
{
	(void)sharp;
	KDRI_HOST_ENTER(d, "syrk");
	double *x = kdri_host_view(d, "syrk", a), *z = kdri_host_view(d, "syrk", c);
	KDRI_HOST_NEED(x && z);
	if (c.rows != c.cols || c.rows != (trans ? a.cols : a.rows))
		return kdri_host_misfit(d, "syrk");
	kdri_block from = kdri_block_of(x, a.rows, a.cols, a.stride);
	kdri_block to = kdri_block_of(z, c.rows, c.cols, c.stride); /* (E2) */
	return kdri_host_status(d, kdri_block_syrk(host_of(d)->ctx, trans, alpha, &from, beta, &to));
}

static kdri_dstatus host_inverse(kdri_device *d, kdri_dmat a)
{
	KDRI_HOST_ENTER(d, "inverse");
	double *p = kdri_host_view(d, "inverse", a);
	KDRI_HOST_NEED(p);
	kdr_status st = kdri_cholesky(host_of(d)->ctx, a.rows, p, a.stride);
	if (st == KDR_OK)
		st = kdri_cholesky_inverse(host_of(d)->ctx, a.rows, p, a.stride); /* (E3) */
	return kdri_host_status(d, st);
}

/* --- entry by entry ------------------------------------------------------------------------------------- */

static kdri_dstatus host_affine(kdri_device *d, kdri_dmat a, const kdri_buf *r, const kdri_buf *c,
                                double scale, double diagonal)
{
	KDRI_HOST_ENTER(d, "affine");
	double *p = kdri_host_view(d, "affine", a);
	const double *row = r ? kdri_host_vector(d, "affine", r, a.rows, sizeof *row) : NULL;
	const double *col = c ? kdri_host_vector(d, "affine", c, a.cols, sizeof *col) : NULL;
	KDRI_HOST_NEED(p && (!r || row) && (!c || col));
	for (int64_t i = 0; i < a.rows; i++)
		for (int64_t j = 0; j < a.cols; j++) { /* (E4) */
			double *v = &p[i * a.stride + j];
			*v = scale * (row ? row[i] : 1) * (col ? col[j] : 1) * *v + (i == j ? diagonal : 0);
		}
	return KDRI_D_OK;
}

static kdri_dstatus host_centre(kdri_device *d, kdri_dmat a, kdri_dmat mean, double shift, kdri_dmat scale,
                                kdri_dmat to)
{
	KDRI_HOST_ENTER(d, "centre");
	const double *p = kdri_host_view(d, "centre", a), *m = kdri_host_view(d, "centre", mean);
	const double *s = scale.buf ? kdri_host_view(d, "centre", scale) : NULL;
	double *t = kdri_host_view(d, "centre", to);
	KDRI_HOST_NEED(p && m && t && (!scale.buf || s));
	for (int64_t i = 0; i < a.rows; i++)
		for (int64_t j = 0; j < a.cols; j++) /* (E5) */
			t[i * to.stride + j] = (p[i * a.stride + j] - shift * m[j]) * (s ? s[j] : 1);
	return KDRI_D_OK;
}

static kdri_dstatus host_moments(kdri_device *d, kdri_dmat a, double limit, kdri_buf *sum, kdri_buf *squares,
                                 int64_t *beyond)
{
	KDRI_HOST_ENTER(d, "moments");
	const double *p = kdri_host_view(d, "moments", a);
	double *s = kdri_host_vector(d, "moments", sum, a.cols, sizeof *s);
	double *q = kdri_host_vector(d, "moments", squares, a.cols, sizeof *q);
	KDRI_HOST_NEED(p && s && q);
	memset(s, 0, (size_t)a.cols * sizeof *s);
	memset(q, 0, (size_t)a.cols * sizeof *q);
	*beyond = 0;
	for (int64_t i = 0; i < a.rows; i++)
		for (int64_t j = 0; j < a.cols; j++) { /* (E6) */
			double v = p[i * a.stride + j];
			s[j] += v;
			q[j] += v * v;
			*beyond += fabs(v) > limit;
		}
	return KDRI_D_OK;
}

static kdri_dstatus host_tanh(kdri_device *d, kdri_dmat y, bool transposed, const kdri_buf *lean,
                              kdri_dmat mean, kdri_dmat offset, kdri_dmat h)
{
	KDRI_HOST_ENTER(d, "tanh");
	const double *p = kdri_host_view(d, "tanh", y), *c = kdri_host_view(d, "tanh", offset);
	const double *l = lean ? kdri_host_vector(d, "tanh", lean, h.rows, sizeof *l) : NULL;
	const double *m = lean ? kdri_host_view(d, "tanh", mean) : NULL;
	double *t = kdri_host_view(d, "tanh", h);
	KDRI_HOST_NEED(p && c && t && (!lean || (l && m)));
	for (int64_t i = 0; i < h.rows; i++)
		for (int64_t j = 0; j < h.cols; j++) /* (E7) */
			t[i * h.stride + j] = tanh((transposed ? p[j * y.stride + i] : p[i * y.stride + j]) +
			                           (l ? l[i] * m[j] : 0) + c[j]);
	return KDRI_D_OK;
}

/* max(0, s_i + t_j - 2 v) */
static double gap_of(double v, double s, double t)
{
	double gap = s + t - 2 * v;
	return gap > 0 ? gap : 0;
}

/* (E8), or (E9) where factor < 0 */
static kdri_dstatus host_gaps(kdri_device *d, const char *name, kdri_dmat k, kdri_dmat s, kdri_dmat t,
                              double factor)
{
	double *p = kdri_host_view(d, name, k);
	const double *a = kdri_host_view(d, name, s), *b = kdri_host_view(d, name, t);
	KDRI_HOST_NEED(p && a && b);
	for (int64_t i = 0; i < k.rows; i++)
		for (int64_t j = 0; j < k.cols; j++) {
			double gap = gap_of(p[i * k.stride + j], a[i], b[j]);
			p[i * k.stride + j] = factor < 0 ? gap : exp(-factor * gap);
		}
	return KDRI_D_OK;
}

static kdri_dstatus host_gauss(kdri_device *d, kdri_dmat k, kdri_dmat s, kdri_dmat t, double factor)
{
	KDRI_HOST_ENTER(d, "gauss");
	return host_gaps(d, "gauss", k, s, t, factor);
}

static kdri_dstatus host_distances(kdri_device *d, kdri_dmat c, kdri_dmat s, kdri_dmat t)
{
	KDRI_HOST_ENTER(d, "distances");
	return host_gaps(d, "distances", c, s, t, -1);
}

static kdri_dstatus host_kernel_sum(kdri_device *d, kdri_dmat k, kdri_dmat s, kdri_dmat t, double factor,
                                    double *out)
{
	KDRI_HOST_ENTER(d, "kernel_sum");
	const double *p = kdri_host_view(d, "kernel_sum", k), *a = kdri_host_view(d, "kernel_sum", s),
	             *b = kdri_host_view(d, "kernel_sum", t);
	KDRI_HOST_NEED(p && a && b);
	*out = 0;
	for (int64_t i = 0; i < k.rows; i++) {
		double row = 0; /* (E10) */
		for (int64_t j = 0; j < k.cols; j++)
			row += factor > 0 ? exp(-factor * gap_of(p[i * k.stride + j], a[i], b[j]))
			                  : p[i * k.stride + j];
		*out += row;
	}
	return KDRI_D_OK;
}

static kdri_dstatus host_ratio_step(kdri_device *d, kdri_dmat y, kdri_dmat n, kdri_dmat den, bool careful,
                                    kdri_dmat to)
{
	KDRI_HOST_ENTER(d, "ratio_step");
	const double *p = kdri_host_view(d, "ratio_step", y), *top = kdri_host_view(d, "ratio_step", n),
	             *bottom = kdri_host_view(d, "ratio_step", den);
	double *t = kdri_host_view(d, "ratio_step", to);
	KDRI_HOST_NEED(p && top && bottom && t);
	for (int64_t i = 0; i < y.rows; i++)
		for (int64_t j = 0; j < y.cols; j++) { /* (E16) */
			double b = bottom[i * den.stride + j], share = b > 0 ? top[i * n.stride + j] / b : 1;
			double v = p[i * y.stride + j] * (careful ? sqrt(sqrt(share)) : sqrt(share));
			t[i * to.stride + j] = v < 1e-100 ? 0 : v;
		}
	return KDRI_D_OK;
}

/* --- the device ------------------------------------------------------------------------------------------ */

static void host_close(kdri_device *d)
{
	kdri_host *h = host_of(d);
	kdr_context *ctx = h->ctx;
	for (int i = 0; i < KDRI_HOST_BUFFERS; i++)
		host_release(d, h->live[i]);
	kdri_free(ctx, h);
	kdri_free(ctx, d);
}

kdr_status kdri_host_device_new(kdr_context *ctx, kdri_host_limits *limits, kdri_device **out)
{
	kdr_status st;
	kdri_device *d = NULL;
	kdri_host *h = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &d, 1));
	KDRI_TRY(KDRI_NEW0(ctx, &h, 1));
	h->ctx = ctx;
	h->limits = limits ? limits : &h->own;
	*d = (kdri_device){
		.abi = KDRI_DEVICE_ABI,
		.kind = "host",
		.self = h,
		.alloc = host_alloc,
		.release = host_release,
		.room = host_room,
		.put = host_put,
		.get = host_get,
		.pin = host_pin,
		.unpin = host_unpin,
		.fill = host_fill,
		.copy = host_copy,
		.mirror = host_mirror,
		.take = host_take,
		.gemm = host_gemm,
		.syrk = host_syrk,
		.inverse = host_inverse,
		.affine = host_affine,
		.centre = host_centre,
		.moments = host_moments,
		.tanh = host_tanh,
		.gauss = host_gauss,
		.distances = host_distances,
		.kernel_sum = host_kernel_sum,
		.ratio_step = host_ratio_step,
		.close = host_close,
	};
	kdri_host_rows(d);
	kdri_host_sparse(d);
	*out = d;
	d = NULL;
	h = NULL;
done:
	kdri_free(ctx, d);
	kdri_free(ctx, h);
	return st;
}
