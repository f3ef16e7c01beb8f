/* Nearest neighbours on a device. SPDX-License-Identifier: BSD-3-Clause
 *
 * The scan of knn.c, with the same scores on the same grid. The rows that ask come in stripes, so that somebody can say stop;
 * the rows they are compared with are on the device, or in parts one after the other where they do not fit, and the lists go
 * on from part to part. */
#include "engine/graph/knn_device.h"

#include "device/use.h"

enum { MOST_K = 64, STRIPE = 1 << 16 };

static double flops_of(const kdr_mat *x)
{
	return 2.0 * (double)kdr_mat_rows(x) * (double)kdr_mat_rows(x) * (double)kdr_mat_cols(x);
}

bool kdri_knn_device_pays(kdr_context *ctx, const kdr_mat *x)
{
	/* A million rows of 50 columns are 1e14; scores cost as much as some 100 columns. */
	const double most = 2e15;
	double n = (double)kdr_mat_rows(x);
	if (x->kind != KDR_MAT_DENSE || flops_of(x) + 200 * n * n > most)
		return false;
	kdri_device *dev = kdri_device_take(ctx, flops_of(x));
	kdri_device_leave(dev);
	return dev != NULL;
}

typedef struct work {
	kdr_context *ctx;
	kdri_device *dev;
	const kdri_knn_scores *s;
	int64_t n, d, part, stripe; /* rows compared with at a time, rows that ask at a time */
	kdri_dmat x, asking;
	kdri_nn nn;
} work;

static kdr_status open_work(work *w)
{
	kdr_status st;
	double room = 0.8 * (double)w->dev->room(w->dev), row = 8.0 * (double)w->d;
	room -= 16 * (double)w->n;
	w->stripe = KDRI_MIN(w->n, STRIPE);
	if ((row + 12 * (double)w->s->k) * (double)w->stripe > room / 2)
		w->stripe = (int64_t)KDRI_MAX(1, room / 2 / (row + 12 * (double)w->s->k));
	room -= (row + 12 * (double)w->s->k) * (double)w->stripe;
	w->part = (int64_t)KDRI_MAX(1, KDRI_MIN((double)w->n, room / row));
	w->nn = (kdri_nn){ .score = w->s->metric == KDRI_METRIC_EUCLIDEAN ? KDRI_NN_EUCLIDEAN
		                    : w->s->shift                         ? KDRI_NN_SHIFTED
		                                                          : KDRI_NN_COSINE,
		           .magic = w->s->magic,
		           .square = w->s->square,
		           .k = w->s->k };
	KDRI_TRY(kdri_dmat_new(w->ctx, w->dev, w->part, w->d, &w->x));
	KDRI_TRY(kdri_dmat_new(w->ctx, w->dev, w->stripe, w->d, &w->asking));
	KDRI_TRY(kdri_dbuf_new(w->ctx, w->dev, w->n, sizeof(double), &w->nn.factor));
	KDRI_TRY(kdri_dbuf_put(w->ctx, w->dev, w->nn.factor, w->s->factor, w->n, sizeof(double)));
	if (w->s->shift) {
		KDRI_TRY(kdri_dbuf_new(w->ctx, w->dev, w->n, sizeof(double), &w->nn.shift));
		KDRI_TRY(kdri_dbuf_put(w->ctx, w->dev, w->nn.shift, w->s->shift, w->n, sizeof(double)));
	}
	KDRI_TRY(kdri_dbuf_new(w->ctx, w->dev, w->stripe * w->s->k, sizeof(int32_t), &w->nn.index));
	KDRI_TRY(kdri_dbuf_new(w->ctx, w->dev, w->stripe * w->s->k, sizeof(double), &w->nn.best));
done:
	return st;
}

static void close_work(work *w)
{
	kdri_buf *owned[] = { w->nn.factor, w->nn.shift, w->nn.index, w->nn.best };
	for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
		w->dev->release(w->dev, owned[i]);
	kdri_dmat_free(w->dev, &w->x);
	kdri_dmat_free(w->dev, &w->asking);
}

static kdr_status put_rows(work *w, int64_t begin, kdri_dmat to)
{
	const kdr_dense *x = &w->s->x->as.dense;
	return kdri_dmat_put(w->ctx, w->dev, to, x->data + begin * x->stride, x->stride);
}

/* The neighbours of rows begin .. begin + rows - 1. */
static kdr_status find_stripe(work *w, int64_t begin, int64_t rows)
{
	kdr_status st;
	kdri_dmat asking = kdri_dmat_part(w->asking, 0, 0, rows, w->d);
	int64_t k = w->s->k;
	KDRI_TRY(put_rows(w, begin, asking));
	w->nn.first = begin;
	for (int64_t from = 0; from < w->n; from += w->part) {
		kdri_dmat x = kdri_dmat_part(w->x, 0, 0, KDRI_MIN(w->part, w->n - from), w->d);
		if (w->part < w->n || begin == 0)
			KDRI_TRY(put_rows(w, from, x));
		w->nn.from = from;
		w->nn.fresh = from == 0;
		KDRI_DTRY(w->ctx, w->dev, w->dev->neighbours(w->dev, asking, x, &w->nn));
	}
	KDRI_TRY(kdri_dbuf_get(w->ctx, w->dev, w->nn.index, w->s->index + begin * k, rows * k,
	                       sizeof *w->s->index));
	KDRI_TRY(kdri_dbuf_get(w->ctx, w->dev, w->nn.best, w->s->score + begin * k, rows * k,
	                       sizeof *w->s->score));
done:
	return st;
}

static kdr_status find(work *w, int64_t *done)
{
	kdr_status st;
	int64_t found = 0;
	bool odd = false, stop = false;
	KDRI_TRY(open_work(w));
	while (found < w->n && !stop && !odd) {
		int64_t rows = KDRI_MIN(w->stripe, w->n - found);
		KDRI_TRY(find_stripe(w, found, rows));
		for (int64_t p = found * w->s->k; p < (found + rows) * w->s->k; p++)
			odd = odd || w->s->index[p] < 0;
		found += rows;
		stop = kdri_iteration(w->ctx, "neighbours", found, w->n, NAN);
	}
	*done = odd ? 0 : found;
done:
	close_work(w);
	return st;
}

kdr_status kdri_knn_on_device(kdr_context *ctx, const kdri_knn_scores *s, int64_t *done)
{
	int64_t n = kdr_mat_rows(s->x), d = kdr_mat_cols(s->x);
	*done = 0;
	if (s->x->kind != KDR_MAT_DENSE || s->k < 1 || s->k > MOST_K || d < 1)
		return KDR_OK;
	kdri_device *dev = kdri_device_take(ctx, flops_of(s->x));
	if (!dev)
		return KDR_OK;
	work w = { .ctx = ctx, .dev = dev, .s = s, .n = n, .d = d };
	kdr_status st = find(&w, done);
	kdri_device_leave(dev);
	return kdri_device_gave_up(ctx, st) ? KDR_OK : st;
}
