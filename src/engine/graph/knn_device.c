/* Nearest neighbours on a device. SPDX-License-Identifier: BSD-3-Clause
 *
 * The scan of knn.c, with the same scores on the same grid. The rows that ask come in stripes, so that somebody can say stop;
 * the rows they are compared with are on the device, or in parts one after the other where they do not fit, and the lists go
 * on from part to part.
 *
 * Sparse rows are compared as in products.c: with the lists of rows that hold each feature, a part's its own. That takes as many
 * multiplications as pairs of rows share features, each of them some SPARSE times as long as one of a dense product. Where rows are
 * so full that this is more than the dense products of all their columns, they are spread out. */
#include "engine/graph/knn_device.h"

#include "matrix/device_tiles.h"

enum { MOST_K = 64, STRIPE = 1 << 16, SPARSE = 200 };

/* Multiplications of all pairs, and additions; how long a device takes for them, in those of dense products. */
typedef struct costs {
	double processor, device;
	bool spread; /* sparse rows, as dense ones */
} costs;

static kdr_status find_costs(kdr_context *ctx, const kdr_mat *x, costs *out)
{
	const double scores = 200; /* a score costs as much as some 100 columns */
	double n = (double)kdr_mat_rows(x), products;
	double dense = 2 * n * n * (double)kdr_mat_cols(x);
	*out = (costs){ dense, dense + scores * n * n, false };
	if (x->kind == KDR_MAT_DENSE)
		return KDR_OK;
	kdr_status st = kdri_knn_products(ctx, x, &products);
	if (st != KDR_OK)
		return st;
	/* Here a sum is read and written for each: some ten times as long as what is counted in flops. */
	out->processor = 20 * products;
	out->spread = dense < SPARSE * products;
	if (!out->spread)
		out->device = SPARSE * products + scores * n * n;
	return KDR_OK;
}

kdr_status kdri_knn_device_pays(kdr_context *ctx, const kdr_mat *x, bool *out)
{
	kdr_status st;
	const double most = 2e15; /* a million rows of 50 columns are 3e14 */
	costs c;
	*out = false;
	KDRI_TRY(find_costs(ctx, x, &c));
	if (c.device > most)
		return KDR_OK;
	kdri_device *dev = kdri_device_take(ctx, c.processor);
	kdri_device_leave(dev);
	*out = dev != NULL;
done:
	return st;
}

typedef struct work {
	kdr_context *ctx;
	kdri_device *dev;
	const kdri_knn_scores *s;
	int64_t n, d;
	bool lists, spread;          /* sparse: by lists, or spread out */
	double per_stripe, per_part; /* bytes of the rows that ask, and of those they are compared with */
	int64_t stripe;              /* rows that ask at a time, at most */
	kdri_dmat x, asking;         /* of dense rows, or spread ones */
	kdri_dcsr held;              /* the lists, where all of them fit */
	kdri_nn nn;
} work;

/* Where rows from `begin` end that take at most so many bytes there as they are compared, one at least. */
static int64_t fitting(const work *w, int64_t begin, double bytes)
{
	double row = 8.0 * (double)kdri_dmat_stride(w->d) + (w->spread ? 12.0 * (double)w->d + 8 : 0);
	if (w->lists)
		return kdri_rows_within(w->s->x, begin, bytes);
	return KDRI_MIN(w->n, begin + (int64_t)KDRI_MAX(1, KDRI_MIN((double)w->n, bytes / row)));
}

static kdr_status knn_device_open_work(work *w)
{
	kdr_status st;
	double room = 0.8 * (double)w->dev->room(w->dev), list = 12.0 * (double)w->s->k;
	room -= 16 * (double)w->n + (w->lists ? 24 * (double)w->d : 0); /* where lists begin and go on */
	/* Half for those that ask and what they find, at most. */
	w->stripe = KDRI_MIN(KDRI_MIN(w->n, STRIPE), (int64_t)KDRI_MAX(1, room / 4 / list));
	w->per_stripe = KDRI_MAX(0, room / 2 - list * (double)w->stripe);
	w->stripe = KDRI_MIN(w->stripe, fitting(w, 0, w->lists ? INFINITY : w->per_stripe));
	if (!w->lists) /* more of them than that do not come */
		room -= list * (double)w->stripe + 8 * (double)w->stripe * (double)kdri_dmat_stride(w->d);
	w->per_part = KDRI_MAX(0, w->lists ? room / 2 : room);
	w->nn = (kdri_nn){ .score = w->s->metric == KDRI_METRIC_EUCLIDEAN ? KDRI_NN_EUCLIDEAN
		                    : w->s->shift                         ? KDRI_NN_SHIFTED
		                                                          : KDRI_NN_COSINE,
		           .magic = w->s->magic,
		           .square = w->s->square,
		           .k = w->s->k };
	if (!w->lists) {
		KDRI_TRY(kdri_dmat_new(w->ctx, w->dev, fitting(w, 0, w->per_part), w->d, &w->x));
		KDRI_TRY(kdri_dmat_new(w->ctx, w->dev, w->stripe, w->d, &w->asking));
	}
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
	kdri_dcsr_free(w->dev, &w->held);
}

/* Rows from `begin` on, as many as `to` has; sparse ones are spread out. */
static kdr_status knn_device_put_rows(work *w, int64_t begin, kdri_dmat to)
{
	kdr_status st;
	kdri_dcsr rows = { 0 };
	const kdr_dense *x = &w->s->x->as.dense;
	if (!w->spread)
		return kdri_dmat_put(w->ctx, w->dev, to, x->data + begin * x->stride, x->stride);
	kdr_mat part = kdri_rows(w->s->x, begin, begin + to.rows);
	KDRI_TRY(kdri_dcsr_of(w->ctx, w->dev, &part.as.csr, &rows));
	KDRI_DTRY(w->ctx, w->dev, w->dev->spread(w->dev, rows, 0, NULL, false, to));
done:
	kdri_dcsr_free(w->dev, &rows);
	return st;
}

/* The rows that hold each feature, of rows from .. end - 1; *made: they are the caller's to give back. */
static kdr_status put_lists(work *w, int64_t from, int64_t end, kdri_dcsr *lists, bool *made)
{
	kdr_status st = KDR_OK;
	kdri_own turned = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	*made = from > 0 || end < w->n;
	if (*made) {
		kdr_mat part = kdri_rows(w->s->x, from, end);
		KDRI_TRY(kdri_mat_transpose(w->ctx, &part, &turned));
		KDRI_TRY(kdri_dcsr_of(w->ctx, w->dev, &turned.view.as.csr, lists));
	} else {
		if (!w->held.rowptr)
			KDRI_TRY(kdri_dcsr_of(w->ctx, w->dev, w->s->lists, &w->held));
		*lists = w->held;
	}
done:
	kdri_own_free(w->ctx, &turned);
	return st;
}

/* The rows that ask against those from `from` to `end` - 1. */
static kdr_status compare_lists(work *w, kdri_dcsr asking, int64_t from, int64_t end)
{
	kdr_status st;
	kdri_dcsr lists = { 0 };
	bool made = false;
	KDRI_TRY(put_lists(w, from, end, &lists, &made));
	KDRI_DTRY(w->ctx, w->dev, w->dev->neighbours_sparse(w->dev, asking, lists, &w->nn));
done:
	if (made)
		kdri_dcsr_free(w->dev, &lists);
	return st;
}

static kdr_status compare_rows(work *w, kdri_dmat asking, int64_t from, int64_t end)
{
	kdr_status st = KDR_OK;
	kdri_dmat x = kdri_dmat_part(w->x, 0, 0, end - from, w->d);
	if (end - from < w->n || w->nn.first == 0)
		KDRI_TRY(knn_device_put_rows(w, from, x));
	KDRI_DTRY(w->ctx, w->dev, w->dev->neighbours(w->dev, asking, x, &w->nn));
done:
	return st;
}

/* The neighbours of rows begin .. begin + rows - 1. */
static kdr_status find_stripe(work *w, int64_t begin, int64_t rows)
{
	kdr_status st;
	kdri_dcsr sparse = { 0 };
	kdri_dmat asking = { 0 };
	int64_t k = w->s->k;
	if (w->lists) {
		kdr_mat part = kdri_rows(w->s->x, begin, begin + rows);
		KDRI_TRY(kdri_dcsr_of(w->ctx, w->dev, &part.as.csr, &sparse));
	} else {
		asking = kdri_dmat_part(w->asking, 0, 0, rows, w->d);
		KDRI_TRY(knn_device_put_rows(w, begin, asking));
	}
	w->nn.first = begin;
	for (int64_t from = 0, end; from < w->n; from = end) {
		end = fitting(w, from, w->per_part);
		w->nn.from = from;
		w->nn.fresh = from == 0;
		KDRI_TRY(w->lists ? compare_lists(w, sparse, from, end) : compare_rows(w, asking, from, end));
	}
	KDRI_TRY(kdri_dbuf_get(w->ctx, w->dev, w->nn.index, w->s->index + begin * k, rows * k,
	                       sizeof *w->s->index));
	KDRI_TRY(kdri_dbuf_get(w->ctx, w->dev, w->nn.best, w->s->score + begin * k, rows * k,
	                       sizeof *w->s->score));
done:
	kdri_dcsr_free(w->dev, &sparse);
	return st;
}

static kdr_status knn_device_find(work *w, int64_t *done)
{
	kdr_status st;
	int64_t found = 0;
	bool odd = false, stop = false;
	KDRI_TRY(knn_device_open_work(w));
	while (found < w->n && !stop && !odd) {
		int64_t rows = KDRI_MIN(w->stripe, fitting(w, found, w->per_stripe) - found);
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
	kdr_status st;
	int64_t n = kdr_mat_rows(s->x), d = kdr_mat_cols(s->x);
	bool sparse = s->x->kind == KDR_MAT_CSR;
	costs c;
	*done = 0;
	if (s->k < 1 || s->k > MOST_K || d < 1)
		return KDR_OK;
	KDRI_TRY(find_costs(ctx, s->x, &c));
	kdri_device *dev = kdri_device_take(ctx, c.processor);
	if (!dev)
		return KDR_OK;
	work w = { .ctx = ctx,
		   .dev = dev,
		   .s = s,
		   .n = n,
		   .d = d,
		   .lists = sparse && !c.spread,
		   .spread = sparse && c.spread };
	st = knn_device_find(&w, done);
	kdri_device_leave(dev);
	if (kdri_device_gave_up(ctx, st))
		st = KDR_OK;
done:
	return st;
}
