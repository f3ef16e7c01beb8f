/* Layers of mSDA on a device. SPDX-License-Identifier: BSD-3-Clause
 *
 * The equations of msda_run.c, msda_features.c and msda_samples.c, in the order in which a device likes them. By samples, with P
 * of (E12) of msda_samples.c also for a sparse X, whose products are then P X = (X' P)' alone. By features, with
 * S = diag(Delta)^-1/2,
 *
 *   (E1)  Q = S^-1 (I + q^2 S Xc'Xc S) S^-1,   W' = (I - S (I + q^2 S Xc'Xc S)^-1 S^-1) / q
 *
 * so that one matrix is inverted whose diagonal is near 1. Blocks of columns (by samples) or rows (by features) are all that
 * has to be on the device of a layer's input and output. */
#include "methods/mtcfir/msda_device.h"

/* --- a tall matrix --------------------------------------------------------------------------------------------- */

enum { LEAST_WIDTH = 256, MOST_WIDTH = 8192 };

int64_t kdri_dpanels_wide(const kdri_dpanels *p)
{
	int64_t wide = KDRI_MAX(1, p->most / KDRI_MAX(kdri_dmat_stride(p->n), 1));
	return KDRI_MIN(KDRI_MIN(p->d, MOST_WIDTH), wide < 128 ? wide : wide / 32 * 32);
}

int64_t kdri_dpanels_high(const kdri_dpanels *p)
{
	return KDRI_MAX(1, KDRI_MIN(p->n, p->most / KDRI_MAX(kdri_dmat_stride(p->d), 1)));
}

kdr_status kdri_dpanels_load(const kdri_dpanels *p, int64_t row, int64_t col, int64_t rows, int64_t cols,
                             kdri_dmat *out)
{
	if (p->all.buf) {
		*out = kdri_dmat_part(p->all, row, col, rows, cols);
		return KDR_OK;
	}
	*out = kdri_dmat_on(p->room.buf, rows, cols);
	return kdri_dmat_put(p->ctx, p->dev, *out, p->host + row * p->d + col, p->d);
}

kdr_status kdri_dpanels_store(const kdri_dpanels *p, int64_t row, int64_t col, kdri_dmat view)
{
	if (p->host)
		return kdri_dmat_get(p->ctx, p->dev, view, p->host + row * p->d + col, p->d);
	kdri_dmat to = kdri_dmat_part(p->all, row, col, view.rows, view.cols);
	if (to.buf == view.buf && to.at == view.at)
		return KDR_OK;
	return kdri_device_status(p->ctx, p->dev, p->dev->copy(p->dev, view, to));
}

static void panels_free(kdri_dpanels *p)
{
	kdri_dmat_free(p->dev, &p->all);
	kdri_dmat_free(p->dev, &p->room);
	kdri_free(p->ctx, p->host);
}

/* --- a layer at work ------------------------------------------------------------------------------------------- */

typedef struct layer {
	kdr_context *ctx;
	kdri_device *dev;
	double p, q, ridge;
	int64_t n, d, side;
	kdri_sharp sharp;
	const kdr_mat *x;
	bool sparse, features; /* the input is still x; by features, else by samples */
	kdri_own xt;
	kdri_dcsr dx;
	kdri_dpanels h;
	kdri_dmat map;                                   /* side x side: G, R and P; or Q and W' */
	kdri_dmat out;                                   /* a part of the output, or of the centred input */
	kdri_dmat means, roots, shifts, offsets;         /* d each: a row, but shifts a column */
	kdri_dmat g, u, ones;                            /* n x 1 */
	kdri_buf *lean, *sum, *squares, *root, *inverse; /* n, d, d, d, d */
	double *mean, *square, *delta, *offset, *room;   /* d, here; room: max(n, d) */
	double flops;
} layer;

static void layer_free(layer *w)
{
	kdri_device *dev = w->dev;
	kdri_dmat *mats[] = { &w->map, &w->out,     &w->means, &w->roots, &w->shifts,
		              &w->g,   &w->offsets, &w->u,     &w->ones };
	kdri_buf *bufs[] = { w->lean, w->sum, w->squares, w->root, w->inverse };
	double *here[] = { w->mean, w->square, w->delta, w->offset, w->room };
	for (size_t i = 0; i < sizeof mats / sizeof *mats; i++)
		kdri_dmat_free(dev, mats[i]);
	for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++)
		dev->release(dev, bufs[i]);
	for (size_t i = 0; i < sizeof here / sizeof *here; i++)
		kdri_free(w->ctx, here[i]);
	panels_free(&w->h);
	kdri_dcsr_free(dev, &w->dx);
	kdri_own_free(w->ctx, &w->xt);
}

/* Where h is, and how much of it is worked on at a time. */
static kdr_status place_h(layer *w)
{
	kdr_status st;
	kdri_dpanels *h = &w->h;
	double room = 0.85 * (double)w->dev->room(w->dev),
	       all = (double)w->n * (double)kdri_dmat_stride(w->d);
	double least = (double)kdri_dmat_stride(KDRI_MAX(w->n, w->d)) *
	               (double)KDRI_MIN(LEAST_WIDTH, KDRI_MIN(w->n, w->d));
	/* Inverting takes about as much as the matrix, a median of distances up to 1000 x 1000; sparse rows are spread out in
	 * scratch of their own. */
	double few = (double)KDRI_MIN(w->n, 1000), parts = w->sparse ? 2 : 1;
	double spare = room / 8 - (double)w->side * (double)w->side - few * few;
	*h = (kdri_dpanels){ .ctx = w->ctx, .dev = w->dev, .n = w->n, .d = w->d };
	bool fits = spare > all + parts * least;
	double most = fits ? (spare - all) / parts : spare / (parts + 1);
	most = KDRI_MIN(most, KDRI_MAX(least, (double)kdri_dmat_stride(w->n) * MOST_WIDTH));
	h->most = (int64_t)KDRI_MAX(KDRI_MIN(most, all), (double)kdri_dmat_stride(KDRI_MAX(w->n, w->d)));
	if (fits) {
		KDRI_TRY(kdri_dmat_new(w->ctx, w->dev, w->n, w->d, &h->all));
	} else {
		int64_t size;
		KDRI_TRY(kdri_mul(w->ctx, w->n, w->d, &size));
		KDRI_TRY(KDRI_NEW(w->ctx, &h->host, size));
		KDRI_TRY(kdri_dmat_new(w->ctx, w->dev, 1, h->most, &h->room));
	}
	KDRI_TRY(kdri_dmat_new(w->ctx, w->dev, 1, h->most, &w->out));
done:
	return st;
}

/* Dense rows as they are; sparse ones where layers go by features. */
static kdr_status fill_h(layer *w)
{
	kdr_status st = KDR_OK;
	int64_t high = kdri_dpanels_high(&w->h);
	const kdr_dense *x = &w->x->as.dense;
	for (int64_t i = 0; i < w->n; i += high) {
		int64_t rows = KDRI_MIN(high, w->n - i);
		kdri_dmat part = kdri_dmat_on(w->out.buf, rows, w->d);
		if (w->sparse)
			KDRI_DTRY(w->ctx, w->dev, w->dev->spread(w->dev, w->dx, i, NULL, false, part));
		else
			KDRI_TRY(kdri_dmat_put(w->ctx, w->dev, part, x->data + i * x->stride, x->stride));
		KDRI_TRY(kdri_dpanels_store(&w->h, i, 0, part));
	}
done:
	return st;
}

static kdr_status msda_device_start(layer *w)
{
	kdr_status st;
	kdr_context *ctx = w->ctx;
	kdri_device *dev = w->dev;
	int64_t n = w->n, d = w->d;
	KDRI_TRY(KDRI_NEW(ctx, &w->mean, d));
	KDRI_TRY(KDRI_NEW(ctx, &w->square, d));
	KDRI_TRY(KDRI_NEW(ctx, &w->delta, d));
	KDRI_TRY(KDRI_NEW(ctx, &w->offset, d));
	KDRI_TRY(KDRI_NEW(ctx, &w->room, KDRI_MAX(n, d)));
	if (w->sparse) {
		KDRI_TRY(kdri_dcsr_of(ctx, dev, &w->x->as.csr, &w->dx));
		KDRI_TRY(kdri_mat_transpose(ctx, w->x, &w->xt));
	}
	KDRI_TRY(kdri_dmat_new(ctx, dev, w->side, w->side, &w->map));
	KDRI_TRY(kdri_dmat_new(ctx, dev, 1, d, &w->means));
	KDRI_TRY(kdri_dmat_new(ctx, dev, 1, d, &w->roots));
	KDRI_TRY(kdri_dmat_new(ctx, dev, d, 1, &w->shifts));
	KDRI_TRY(kdri_dmat_new(ctx, dev, 1, d, &w->offsets));
	KDRI_TRY(kdri_dmat_new(ctx, dev, n, 1, &w->g));
	KDRI_TRY(kdri_dmat_new(ctx, dev, KDRI_MAX(n, d), 1, &w->u));
	KDRI_TRY(kdri_dmat_new(ctx, dev, n, 1, &w->ones));
	KDRI_TRY(kdri_dbuf_new(ctx, dev, n, sizeof(double), &w->lean));
	KDRI_TRY(kdri_dbuf_new(ctx, dev, d, sizeof(double), &w->sum));
	KDRI_TRY(kdri_dbuf_new(ctx, dev, d, sizeof(double), &w->squares));
	KDRI_TRY(kdri_dbuf_new(ctx, dev, d, sizeof(double), &w->root));
	KDRI_TRY(kdri_dbuf_new(ctx, dev, d, sizeof(double), &w->inverse));
	KDRI_DTRY(ctx, dev, dev->fill(dev, w->ones, 1));
	KDRI_TRY(place_h(w));
	if (!w->sparse || w->features)
		KDRI_TRY(fill_h(w));
done:
	return st;
}

/* --- statistics --------------------------------------------------------------------------------------------------- */

static kdr_status dense_moments(layer *w, int64_t *beyond)
{
	kdr_status st = KDR_OK;
	int64_t wide = kdri_dpanels_wide(&w->h), here;
	*beyond = 0;
	for (int64_t j = 0; j < w->d; j += wide) {
		int64_t cols = KDRI_MIN(wide, w->d - j);
		kdri_dmat part;
		KDRI_TRY(kdri_dpanels_load(&w->h, 0, j, w->n, cols, &part));
		KDRI_DTRY(w->ctx, w->dev, w->dev->moments(w->dev, part, 0.99, w->sum, w->squares, &here));
		KDRI_TRY(kdri_dbuf_get(w->ctx, w->dev, w->sum, w->mean + j, cols, sizeof(double)));
		KDRI_TRY(kdri_dbuf_get(w->ctx, w->dev, w->squares, w->square + j, cols, sizeof(double)));
		*beyond += here;
	}
done:
	return st;
}

static void sparse_moments(const layer *w)
{
	const kdr_csr *x = &w->x->as.csr;
	memset(w->mean, 0, (size_t)w->d * sizeof *w->mean);
	memset(w->square, 0, (size_t)w->d * sizeof *w->square);
	for (int64_t p = x->rowptr[0]; p < x->rowptr[w->n]; p++) {
		w->mean[x->col[p]] += x->val[p];
		w->square[x->col[p]] += x->val[p] * x->val[p];
	}
}

/* Of the input of the next layer, here and on the device. *saturated: the share of entries that are. */
static kdr_status find_statistics(layer *w, double *saturated)
{
	kdr_status st = KDR_OK;
	int64_t beyond = 0;
	if (w->sparse)
		sparse_moments(w);
	else
		KDRI_TRY(dense_moments(w, &beyond));
	*saturated = (double)beyond / ((double)w->n * (double)w->d);
	for (int64_t j = 0; j < w->d; j++) {
		w->mean[j] /= (double)w->n;
		w->delta[j] = w->square[j] > 1e-280 ? w->p * w->q * w->square[j] + w->ridge : 1;
	}
	KDRI_TRY(kdri_dmat_put(w->ctx, w->dev, w->means, w->mean, w->d));
	for (int64_t j = 0; j < w->d; j++)
		w->room[j] = 1 / sqrt(w->delta[j]);
	KDRI_TRY(kdri_dmat_put(w->ctx, w->dev, w->roots, w->room, w->d));
	KDRI_TRY(kdri_dbuf_put(w->ctx, w->dev, w->root, w->room, w->d, sizeof(double)));
	for (int64_t j = 0; j < w->d; j++)
		w->room[j] *= w->mean[j];
	KDRI_TRY(kdri_dmat_put(w->ctx, w->dev, w->shifts, w->room, 1));
	/* By samples 1 / Delta, by features its root: (E1). */
	for (int64_t j = 0; j < w->d; j++)
		w->room[j] = w->features ? sqrt(w->delta[j]) : 1 / w->delta[j];
	KDRI_TRY(kdri_dbuf_put(w->ctx, w->dev, w->inverse, w->room, w->d, sizeof(double)));
done:
	return st;
}

/* --- by samples --------------------------------------------------------------------------------------------------- */

kdr_status kdri_dgram_sparse(kdr_context *ctx, kdri_device *dev, const kdri_dcsr *x, const kdri_buf *weight,
                             int64_t most, kdri_dmat c)
{
	kdr_status st = KDR_OK;
	kdri_dmat room = { 0 };
	int64_t wide = KDRI_MAX(1, KDRI_MIN(KDRI_MIN(x->rows, 1024), most / KDRI_MAX(x->cols, 1)));
	wide = wide < 128 ? wide : wide / 32 * 32;
	KDRI_TRY(kdri_dmat_new(ctx, dev, x->cols, wide, &room));
	for (int64_t i = 0; i < x->rows; i += wide) {
		int64_t cols = KDRI_MIN(wide, x->rows - i);
		kdri_dmat rows = kdri_dmat_on(room.buf, x->cols, cols);
		KDRI_DTRY(ctx, dev, dev->spread(dev, *x, i, weight, true, rows));
		KDRI_DTRY(ctx, dev,
		          dev->multiply(dev, *x, rows, false, kdri_dmat_part(c, 0, i, x->rows, cols)));
	}
done:
	kdri_dmat_free(dev, &room);
	return st;
}

/* I + G of (E8) of msda_samples.c, and g of (E9) there, of a sparse X. */
static kdr_status sparse_gram(layer *w)
{
	kdr_status st;
	int64_t n = w->n;
	double mean_ratio = 0, *pairs = NULL, *a = NULL;
	kdri_dmat left = { 0 }, right = { 0 };
	KDRI_TRY(KDRI_NEW(w->ctx, &pairs, 2 * n));
	KDRI_TRY(KDRI_NEW(w->ctx, &a, n));
	for (int64_t j = 0; j < w->d; j++) {
		w->room[j] = w->mean[j] / w->delta[j];
		mean_ratio += w->mean[j] * w->room[j];
	}
	KDRI_TRY(kdri_mat_mul(w->ctx, w->x, w->room, 1, 1, a, 1));
	KDRI_TRY(kdri_dgram_sparse(w->ctx, w->dev, &w->dx, w->inverse, w->h.most, w->map));
	/* Less a_i + a_k - mean_ratio: a product of n x 2 and 2 x n. */
	for (int64_t i = 0; i < n; i++) {
		pairs[2 * i] = a[i] - mean_ratio / 2;
		pairs[2 * i + 1] = 1;
	}
	KDRI_TRY(kdri_dmat_of(w->ctx, w->dev, pairs, n, 2, 2, &left));
	for (int64_t i = 0; i < n; i++) {
		pairs[2 * i + 1] = pairs[2 * i];
		pairs[2 * i] = 1;
	}
	KDRI_TRY(kdri_dmat_of(w->ctx, w->dev, pairs, n, 2, 2, &right));
	KDRI_DTRY(w->ctx, w->dev,
	          w->dev->gemm(w->dev, false, true, -1, left, right, 1, w->map, KDRI_SHARP_DOUBLE));
	KDRI_DTRY(w->ctx, w->dev, w->dev->affine(w->dev, w->map, NULL, NULL, w->q * w->q, 1));
	for (int64_t i = 0; i < n; i++)
		a[i] -= mean_ratio;
	KDRI_TRY(kdri_dmat_put(w->ctx, w->dev, w->g, a, 1));
done:
	kdri_dmat_free(w->dev, &left);
	kdri_dmat_free(w->dev, &right);
	kdri_free(w->ctx, pairs);
	kdri_free(w->ctx, a);
	return st;
}

/* The same of h. */
static kdr_status dense_gram(layer *w)
{
	kdr_status st = KDR_OK;
	int64_t wide = kdri_dpanels_wide(&w->h);
	for (int64_t j = 0; j < w->d; j += wide) {
		int64_t cols = KDRI_MIN(wide, w->d - j);
		kdri_dmat part, in = kdri_dmat_on(w->out.buf, w->n, cols);
		KDRI_TRY(kdri_dpanels_load(&w->h, 0, j, w->n, cols, &part));
		KDRI_DTRY(w->ctx, w->dev,
		          w->dev->centre(w->dev, part, kdri_dmat_part(w->means, 0, j, 1, cols), 1,
		                         kdri_dmat_part(w->roots, 0, j, 1, cols), in));
		KDRI_DTRY(w->ctx, w->dev,
		          w->dev->syrk(w->dev, false, w->q * w->q, in, j > 0, w->map, w->sharp));
		KDRI_DTRY(w->ctx, w->dev,
		          w->dev->gemm(w->dev, false, false, 1, in, kdri_dmat_part(w->shifts, j, 0, cols, 1),
		                       j > 0, w->g, KDRI_SHARP_DOUBLE));
	}
	KDRI_DTRY(w->ctx, w->dev, w->dev->affine(w->dev, w->map, NULL, NULL, 1, 1));
	w->flops += (double)w->n * (double)w->n * (double)w->d;
done:
	return st;
}

/* c of (E9) of msda_samples.c. */
static kdr_status find_offset(layer *w)
{
	kdr_status st;
	int64_t wide = kdri_dpanels_wide(&w->h);
	kdri_dmat u = kdri_dmat_part(w->u, 0, 0, w->n, 1);
	double total = 0;
	KDRI_DTRY(w->ctx, w->dev,
	          w->dev->gemm(w->dev, false, false, 1, w->map, w->g, 0, u, KDRI_SHARP_DOUBLE));
	KDRI_TRY(kdri_dmat_get(w->ctx, w->dev, u, w->room, 1));
	for (int64_t i = 0; i < w->n; i++)
		total += w->room[i];
	if (w->sparse)
		KDRI_TRY(kdri_mat_tmul(w->ctx, w->x, w->room, 1, 1, w->offset, 1));
	for (int64_t j = 0; j < w->d && !w->sparse; j += wide) {
		int64_t cols = KDRI_MIN(wide, w->d - j);
		kdri_dmat part, to = { w->out.buf, 0, cols, 1, 1 };
		KDRI_TRY(kdri_dpanels_load(&w->h, 0, j, w->n, cols, &part));
		KDRI_DTRY(w->ctx, w->dev,
		          w->dev->gemm(w->dev, true, false, 1, part, u, 0, to, KDRI_SHARP_DOUBLE));
		KDRI_TRY(kdri_dmat_get(w->ctx, w->dev, to, w->offset + j, 1));
	}
	for (int64_t j = 0; j < w->d; j++)
		w->offset[j] = w->mean[j] + w->p * w->q * (w->offset[j] - total * w->mean[j]);
done:
	return st;
}

/* (E12) of msda_samples.c, columns j.. of h, whose pre-images are y. */
static kdr_status put_columns(layer *w, int64_t j, int64_t cols, kdri_dmat y, bool transposed)
{
	kdr_status st;
	kdri_dmat to;
	if (w->h.host)
		to = kdri_dmat_on(w->h.room.buf, w->n, cols);
	else
		to = kdri_dmat_part(w->h.all, 0, j, w->n, cols);
	KDRI_DTRY(w->ctx, w->dev,
	          w->dev->tanh(w->dev, y, transposed, w->lean, kdri_dmat_part(w->means, 0, j, 1, cols),
	                       kdri_dmat_part(w->offsets, 0, j, 1, cols), to));
	KDRI_TRY(kdri_dpanels_store(&w->h, 0, j, to));
done:
	return st;
}

static kdr_status msda_device_apply_sparse(layer *w, int64_t j, int64_t cols)
{
	kdr_status st;
	kdr_mat rows = kdri_rows(&w->xt.view, j, j + cols);
	kdri_dcsr part = { 0 };
	kdri_dmat y = kdri_dmat_on(w->out.buf, cols, w->n);
	KDRI_TRY(kdri_dcsr_of(w->ctx, w->dev, &rows.as.csr, &part));
	KDRI_DTRY(w->ctx, w->dev, w->dev->multiply(w->dev, part, w->map, false, y));
	KDRI_TRY(put_columns(w, j, cols, y, true));
done:
	kdri_dcsr_free(w->dev, &part);
	return st;
}

static kdr_status msda_device_apply_dense(layer *w, int64_t j, int64_t cols)
{
	kdr_status st;
	kdri_dmat part, y = kdri_dmat_on(w->out.buf, w->n, cols);
	KDRI_TRY(kdri_dpanels_load(&w->h, 0, j, w->n, cols, &part));
	KDRI_DTRY(w->ctx, w->dev, w->dev->gemm(w->dev, false, false, 1, w->map, part, 0, y, w->sharp));
	KDRI_TRY(put_columns(w, j, cols, y, false));
done:
	return st;
}

static kdr_status by_samples(layer *w, double *map)
{
	kdr_status st;
	int64_t n = w->n, wide = kdri_dpanels_wide(&w->h);
	KDRI_TRY(w->sparse ? sparse_gram(w) : dense_gram(w));
	KDRI_DTRY(w->ctx, w->dev, w->dev->inverse(w->dev, w->map));
	w->flops += (double)n * (double)n * (double)n;
	if (map)
		KDRI_TRY(kdri_dmat_get(w->ctx, w->dev, w->map, map, n));
	KDRI_TRY(find_offset(w));
	KDRI_TRY(kdri_dmat_put(w->ctx, w->dev, w->offsets, w->offset, w->d));
	KDRI_DTRY(w->ctx, w->dev, w->dev->affine(w->dev, w->map, NULL, NULL, -1 / w->q, 1 / w->q));
	KDRI_DTRY(w->ctx, w->dev,
	          w->dev->gemm(w->dev, false, false, -1, w->map, w->ones, 0,
	                       (kdri_dmat){ w->lean, 0, n, 1, 1 }, KDRI_SHARP_DOUBLE));
	for (int64_t j = 0; j < w->d; j += wide) {
		int64_t cols = KDRI_MIN(wide, w->d - j);
		KDRI_TRY(w->sparse ? msda_device_apply_sparse(w, j, cols)
		                   : msda_device_apply_dense(w, j, cols));
	}
	w->flops += w->sparse ? 0 : 2 * (double)n * (double)n * (double)w->d;
done:
	return st;
}

/* --- by features -------------------------------------------------------------------------------------------------- */

static kdr_status by_features(layer *w, double *map)
{
	kdr_status st = KDR_OK;
	int64_t d = w->d, high = kdri_dpanels_high(&w->h);
	double nd2 = (double)w->n * (double)d * (double)d;
	kdri_dmat b = kdri_dmat_part(w->u, 0, 0, d, 1), xbar = { w->means.buf, 0, d, 1, 1 };
	for (int64_t i = 0; i < w->n; i += high) {
		int64_t rows = KDRI_MIN(high, w->n - i);
		kdri_dmat part, in = kdri_dmat_on(w->out.buf, rows, d);
		KDRI_TRY(kdri_dpanels_load(&w->h, i, 0, rows, d, &part));
		KDRI_DTRY(w->ctx, w->dev, w->dev->centre(w->dev, part, w->means, 1, w->roots, in));
		KDRI_DTRY(w->ctx, w->dev,
		          w->dev->syrk(w->dev, true, w->q * w->q, in, i > 0, w->map, w->sharp));
	}
	KDRI_DTRY(w->ctx, w->dev, w->dev->affine(w->dev, w->map, NULL, NULL, 1, 1));
	KDRI_DTRY(w->ctx, w->dev, w->dev->inverse(w->dev, w->map));
	KDRI_DTRY(w->ctx, w->dev,
	          w->dev->affine(w->dev, w->map, w->root, w->inverse, -1 / w->q, 1 / w->q)); /* (E1) */
	/* (E6) of msda_features.c */
	KDRI_DTRY(w->ctx, w->dev,
	          w->dev->gemm(w->dev, true, false, 1, w->map, xbar, 0, b, KDRI_SHARP_DOUBLE));
	KDRI_TRY(kdri_dmat_get(w->ctx, w->dev, b, w->offset, 1));
	for (int64_t j = 0; j < d; j++)
		w->offset[j] = w->mean[j] - w->q * w->offset[j];
	KDRI_TRY(kdri_dmat_put(w->ctx, w->dev, w->offsets, w->offset, d));
	if (map)
		KDRI_TRY(kdri_dmat_get(w->ctx, w->dev, w->map, map, d));
	for (int64_t i = 0; i < w->n; i += high) {
		int64_t rows = KDRI_MIN(high, w->n - i);
		kdri_dmat part, y = kdri_dmat_on(w->out.buf, rows, d);
		KDRI_TRY(kdri_dpanels_load(&w->h, i, 0, rows, d, &part));
		KDRI_DTRY(w->ctx, w->dev,
		          w->dev->gemm(w->dev, false, false, 1, part, w->map, 0, y, w->sharp));
		KDRI_DTRY(w->ctx, w->dev, w->dev->tanh(w->dev, y, false, NULL, w->means, w->offsets, part));
		KDRI_TRY(kdri_dpanels_store(&w->h, i, 0, part));
	}
	w->flops += 3 * nd2 + (double)d * (double)d * (double)d;
done:
	return st;
}

/* --- all of them -------------------------------------------------------------------------------------------------- */

kdr_status kdri_msda_device_gram(kdr_context *ctx, void *user, int64_t number, const kdr_mat *x,
                                 const kdri_dpanels *h)
{
	kdr_status st = KDR_OK;
	kdri_dgram *g = user;
	kdri_device *dev = g->dev;
	kdri_dcsr sparse = { 0 };
	if (!h) {
		KDRI_TRY(kdri_dcsr_of(ctx, dev, &x->as.csr, &sparse));
		int64_t most = (int64_t)(dev->room(dev) / 32);
		KDRI_TRY(kdri_dgram_sparse(ctx, dev, &sparse, NULL, most, g->k));
	}
	for (int64_t j = 0, wide = h ? kdri_dpanels_wide(h) : 0; h && j < h->d; j += wide) {
		kdri_dmat part;
		KDRI_TRY(kdri_dpanels_load(h, 0, j, h->n, KDRI_MIN(wide, h->d - j), &part));
		KDRI_DTRY(ctx, dev, dev->syrk(dev, false, 1, part, number > 0 || j > 0, g->k, g->sharp));
	}
	if (h)
		g->flops += (double)h->n * (double)h->n * (double)h->d;
done:
	kdri_dcsr_free(dev, &sparse);
	return st;
}

kdr_status kdri_msda_device(kdr_context *ctx, kdri_device *dev, const kdr_mat *x, const kdri_msda_options *o,
                            kdri_dlayer_fn *use, void *user, kdri_msda_info *info)
{
	kdr_status st;
	int64_t n = kdr_mat_rows(x), d = kdr_mat_cols(x), side = kdri_msda_side(o, n, d);
	layer w = { .ctx = ctx,
		    .dev = dev,
		    .p = o->noise,
		    .q = 1 - o->noise,
		    .ridge = o->ridge,
		    .n = n,
		    .d = d,
		    .side = side,
		    .sharp = o->floats ? KDRI_SHARP_SINGLE : KDRI_SHARP_DOUBLE,
		    .x = x,
		    .xt.view = kdr_mat_from_dense(NULL, 0, 0),
		    .sparse = x->kind == KDR_MAT_CSR };
	w.features = o->side == KDRI_SIDE_FEATURES || (o->side == KDRI_SIDE_SMALLER && d <= n);
	w.h.ctx = ctx;
	w.h.dev = dev;
	*info = (kdri_msda_info){ 0 };
	if (w.sparse && o->layers == 0)
		return use(ctx, user, 0, x, NULL);
	KDRI_TRY(msda_device_start(&w));
	KDRI_TRY(use(ctx, user, 0, w.sparse ? x : NULL, w.sparse ? NULL : &w.h));
	if (w.features)
		w.sparse = false; /* h is there already */
	for (int64_t l = 1; l <= o->layers; l++) {
		double saturated, *map = o->kept ? o->kept->map + (l - 1) * side * side : NULL;
		if (kdri_iteration(ctx, "features", l, o->layers, NAN))
			break;
		KDRI_TRY(find_statistics(&w, &saturated));
		if (l > 1)
			info->saturated = fmax(info->saturated, saturated);
		KDRI_TRY(w.features ? by_features(&w, map) : by_samples(&w, map));
		if (o->kept)
			memcpy(o->kept->bias + (l - 1) * d, w.offset, (size_t)d * sizeof *w.offset);
		w.sparse = false;
		info->layers = l;
		if (l == o->layers) {
			KDRI_TRY(find_statistics(&w, &saturated));
			info->saturated = fmax(info->saturated, saturated);
		}
		KDRI_TRY(use(ctx, user, l, NULL, &w.h));
	}
	info->flops = w.flops;
done:
	layer_free(&w);
	return st;
}
