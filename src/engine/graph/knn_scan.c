/* Nearest neighbours by scanning all products, on any device. SPDX-License-Identifier: BSD-3-Clause
 *
 * Queries are processed in stripes, so that a scan can be stopped. The candidates are on the device or, if they do not
 * fit, are sent in parts one after the other, and the lists continue from part to part.
 *
 * Sparse rows are compared as in matrix/products.c, with the lists of rows that contain each feature, one set of
 * lists per part. This takes one multiplication for each feature that a pair of rows shares; on an accelerator, each
 * takes about SPARSE times as long as one of a dense product. If rows are so full that this is more than the dense
 * products of all their columns, they are treated as dense rows. */
#include "engine/graph/knn_scan.h"

#include "comm/comm.h"
#include "matrix/device_tiles.h"

/* CPU_TILE: rows that matrix/tiles.c takes at a time. CPU_STRIPE: the most rows of a thread between two polls. */
enum { CPU_STRIPE = 2048, CPU_TILE = 128, STRIPE = 1 << 16, SPARSE = 200 };

/* Multiplications of a thread in a stripe, if it has more than CPU_TILE rows for each: some tens of milliseconds. */
static const double dense_between_polls = 1 << 28, sparse_between_polls = 1 << 25;

/* Multiplications of all pairs, and additions. */
typedef struct costs {
	double flops;
	bool spread; /* an accelerator treats sparse rows as dense ones */
} costs;

static kdr_status find_costs(kdr_context *ctx, const kdr_mat *x, costs *out)
{
	double n = (double)kdr_mat_rows(x), products;
	double dense = 2 * n * n * (double)kdr_mat_cols(x);
	*out = (costs){ dense, false };
	if (x->kind == KDR_MAT_DENSE)
		return KDR_OK;
	kdr_status st = kdri_knn_products(ctx, x, &products);
	if (st != KDR_OK)
		return st;
	/* Here a sum is read and written for each product, which takes about ten times as long as the flops
	 * counted. */
	out->flops = 20 * products;
	out->spread = dense < SPARSE * products;
	return KDR_OK;
}

typedef struct work {
	kdr_context *ctx;
	kdri_device *dev;
	const kdri_knn_scan *s;
	int64_t n, m;                /* number of queries and candidates */
	bool lists, spread;          /* sparse: by lists, or as dense rows */
	double per_stripe, per_part; /* bytes of the queries and of the candidates */
	int64_t stripe;              /* maximum number of queries at a time */
	bool whole;                  /* all candidates are on the device */
	kdri_tiles x;                /* these, or parts of them, unless compared by lists */
	kdri_sparse held;            /* the lists, if they are complete */
} work;

/* Number of queries at a time on the CPU: few enough that a scan of large data can be stopped soon, and a multiple of
 * the tile size, so that products do not depend on it. All ranks use the same number. */
static kdr_status scan_cpu_stripe(work *w)
{
	const kdr_mat *x = w->s->candidates;
	double each = (double)w->m * (double)kdr_mat_cols(x), most = dense_between_polls;
	w->stripe = CPU_STRIPE;
	if (kdri_together(w->ctx))
		return KDR_OK;
	if (x->kind == KDR_MAT_CSR) {
		KDRI_DO(kdri_knn_products(w->ctx, x, &each));
		each /= KDRI_MAX(1, (double)w->m);
		most = sparse_between_polls;
	}
	const double tiles = floor(KDRI_MIN(most / KDRI_MAX(1, each), CPU_STRIPE) / CPU_TILE);
	w->stripe = kdri_team(w->ctx) * CPU_TILE * (int64_t)KDRI_MAX(1, tiles);
	return KDR_OK;
}

static kdr_status scan_open(work *w)
{
	const kdr_mat *x = w->s->candidates;
	const double n = (double)w->n, m = (double)w->m, list = 12.0 * (double)w->s->nn.k;
	double room = 0.8 * (double)w->dev->room(w->dev), bytes = kdri_rows_bytes(x, w->spread, 0, w->m);
	KDRI_DO(scan_cpu_stripe(w));
	w->per_stripe = w->per_part = INFINITY;
	w->whole = true;
	if (!kdri_is_cpu(w->dev)) {
		room -= 16 * n + 16 * m; /* factors and shifts */
		if (w->lists)
			room -= 32 * (double)kdr_mat_cols(x); /* where lists begin and go on */
		/* The result lists take at most a quarter of the memory; the queries as much again, unless they are on
		 * the device already. */
		w->stripe = KDRI_MIN(KDRI_MIN(w->n, STRIPE), (int64_t)KDRI_MAX(1, room / 4 / list));
		room -= list * (double)w->stripe;
		w->whole = (w->lists ? 2 : 1) * bytes <= room;
		w->per_stripe = w->whole ? INFINITY : KDRI_MAX(0, room / 3);
		w->per_part = w->whole ? INFINITY : KDRI_MAX(0, room / (w->lists ? 3 : 2));
	}
	if (!w->lists)
		KDRI_DO(kdri_tiles_new(w->ctx, w->dev, x, w->spread, w->whole ? INFINITY : w->per_part,
		                       &w->x));
	else if (w->whole)
		KDRI_DO(kdri_sparse_of(w->ctx, w->dev, &x->as.csr, w->s->lists, &w->held));
	return KDR_OK;
}

/* Rows begin .. begin + rows - 1 of the queries; `own`: holds them, unless they are among the candidates on the device. */
static kdr_status scan_asking(work *w, int64_t begin, int64_t rows, kdri_tiles *own, kdri_drows *out)
{
	if (w->s->queries != w->s->candidates || !w->whole) {
		kdr_mat part = kdri_rows(w->s->queries, begin, begin + rows);
		KDRI_DO(kdri_tiles_new(w->ctx, w->dev, &part, w->spread, INFINITY, own));
		return kdri_tiles_get(w->ctx, w->dev, own, 0, out);
	}
	if (w->lists) {
		*out = (kdri_drows){ .sparse = true, .csr = kdri_sparse_rows(&w->held, begin, begin + rows) };
	} else {
		KDRI_DO(kdri_tiles_get(w->ctx, w->dev, &w->x, 0, out));
		out->dense = kdri_block_part(out->dense, begin, 0, rows, out->dense.cols);
	}
	out->begin = begin;
	out->rows = rows;
	return KDR_OK;
}

/* Compares with rows from .. end - 1 by their lists, which are made for the purpose. */
static kdr_status scan_lists(work *w, kdri_drows queries, int64_t from, int64_t end, const kdri_nn *nn)
{
	kdr_status st;
	kdri_own turned = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	kdri_sparse lists = { 0 };
	kdr_mat part = kdri_rows(w->s->candidates, from, end);
	KDRI_TRY(kdri_mat_transpose(w->ctx, &part, &turned));
	KDRI_TRY(kdri_sparse_of(w->ctx, w->dev, &part.as.csr, &turned.view.as.csr, &lists));
	const kdri_drows others = { .begin = from, .rows = end - from, .sparse = true, .csr = lists };
	KDRI_OP(w->ctx, w->dev, neighbours, queries, others, nn);
done:
	kdri_sparse_free(w->ctx, &lists);
	kdri_own_free(w->ctx, &turned);
	return st;
}

/* The neighbours of rows begin .. begin + rows - 1. */
static kdr_status scan_stripe(work *w, int64_t begin, int64_t rows)
{
	kdr_status st;
	const kdri_nn *all = &w->s->nn;
	kdri_tiles own = { 0 };
	kdri_drows queries, others = { .rows = w->m, .sparse = true, .csr = w->held };
	kdri_nn nn = *all;
	nn.own_factor += begin;
	nn.own_shift = all->own_shift ? all->own_shift + begin : NULL;
	nn.myself = w->s->queries == w->s->candidates ? begin : -w->n;
	nn.index += begin * nn.k;
	nn.best += begin * nn.k;
	nn.held += begin;
	KDRI_TRY(scan_asking(w, begin, rows, &own, &queries));
	for (int64_t from = 0, end, t = 0; from < w->m; from = end, t++) {
		bool parts = w->lists && !w->whole;
		if (!w->lists)
			KDRI_TRY(kdri_tiles_get(w->ctx, w->dev, &w->x, t, &others));
		end = parts ? kdri_rows_within(w->s->candidates, false, from, w->per_part)
		            : from + others.rows;
		nn.from = from;
		nn.fresh = from == 0;
		nn.factor = all->factor + from;
		nn.shift = all->shift ? all->shift + from : NULL;
		if (parts)
			KDRI_TRY(scan_lists(w, queries, from, end, &nn));
		else
			KDRI_OP(w->ctx, w->dev, neighbours, queries, others, &nn);
	}
done:
	kdri_tiles_free(w->ctx, &own);
	return st;
}

/* On an accelerator what compares with nothing makes no neighbour: then a list may lack some, and the processor decides. */
static bool lists_lack(const work *w, int64_t begin, int64_t end)
{
	const kdri_nn *nn = &w->s->nn;
	for (int64_t p = begin * nn->k; p < end * nn->k && !kdri_is_cpu(w->dev); p++)
		if (nn->index[p] < 0)
			return true;
	return false;
}

typedef struct job {
	const kdri_knn_scan *s;
	bool spread;
	int64_t done;
} job;

static kdr_status scan_all(kdr_context *ctx, kdri_device *dev, void *user)
{
	kdr_status st;
	job *j = user;
	const kdri_knn_scan *s = j->s;
	work w = { .ctx = ctx,
		   .dev = dev,
		   .s = s,
		   .n = kdr_mat_rows(s->queries),
		   .m = kdr_mat_rows(s->candidates) };
	bool lack = false, stop = false;
	w.spread = !kdri_is_cpu(dev) && j->spread;
	w.lists = s->candidates->kind == KDR_MAT_CSR && !w.spread;
	j->done = 0;
	KDRI_TRY(scan_open(&w));
	while (j->done < s->turns && !stop && !lack) {
		int64_t begin = KDRI_MIN(w.n, j->done), end = begin;
		if (begin < w.n) {
			end = KDRI_MIN(w.n, begin + w.stripe);
			end = KDRI_MIN(end, kdri_rows_within(s->queries, w.spread, begin, w.per_stripe));
			KDRI_TRY(scan_stripe(&w, begin, end - begin));
		}
		lack = lists_lack(&w, begin, end);
		if (lack)
			break;
		s->finish(ctx, s->user, begin, end);
		/* Ranks use the CPU, and run as many rounds as the rank with the most rows. */
		j->done = kdri_is_cpu(dev) ? KDRI_MIN(s->turns, j->done + w.stripe) : end;
		stop = kdri_iteration(ctx, "neighbours", j->done, s->turns, NAN);
	}
done:
	kdri_tiles_free(ctx, &w.x);
	kdri_sparse_free(ctx, &w.held);
	return lack ? scan_all(ctx, &kdri_cpu, user) : st;
}

kdr_status kdri_knn_scan_rows(kdr_context *ctx, const kdri_knn_scan *s, bool device, int64_t *done)
{
	job j = { .s = s };
	costs c = { 0 };
	if (s->nn.k < 1) {
		*done = s->turns;
		return KDR_OK;
	}
	device = device && s->nn.k <= KDRI_NN_MOST && kdr_mat_cols(s->candidates) > 0;
	if (device)
		KDRI_DO(find_costs(ctx, s->candidates, &c));
	j.spread = c.spread;
	KDRI_DO(device ? kdri_compute(ctx, c.flops, scan_all, &j) : scan_all(ctx, &kdri_cpu, &j));
	*done = j.done;
	return KDR_OK;
}
