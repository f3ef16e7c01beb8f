/* Runs of k-means on a device. SPDX-License-Identifier: BSD-3-Clause
 *
 * The samples and their labels are on the device, centres and everything of their size here. An iteration sends k centres
 * and gets k sums. Samples that do not fit there come and go in tiles of rows, in order. Sparse rows meet centres that stand
 * feature after feature, as in the table of kmeans_kernels.h: they are sent from there.
 *
 * The partition is that of lloyd.c, to the last bit, though a device adds products in another order: where the two nearest
 * centres differ by no more than rounding can, E of (E2) in kmeans_work.h, the label is computed anew by the same code as there.
 * And the sums of rows are exact there as here (comm/exact.h): so the centres are the same, and what follows from them. */
#include "engine/kmeans/kmeans_work.h"
#include "matrix/device_tiles.h"

/* What is there of each tile's rows all the time. */
typedef struct tile {
	int64_t begin, rows;
	kdri_buf *label, *before, *norm, *scale, *twice;
} tile;

struct kdri_km_device {
	kdri_device *dev;
	kdri_tiles x;
	tile *tiles;
	int64_t count; /* tiles */
	bool sparse;
	kdri_dmat centres;      /* k x d, or of sparse rows d x k with the table's stride */
	kdri_dmat sums, joined; /* k x 2 d in two parts, and k x d */
	kdri_buf *offset, *list, *doubt, *value, *unit;
	kdri_buf *rough;                  /* of the rows where all are there, or NULL */
	double *near, *off;               /* k x d of dense rows, k: what is sent */
	double *parts;                    /* k x 2 d: high and low parts of sums, where labels are given */
	int64_t *begin, *counts, *totals; /* k + 1, k, k */
	int32_t *rows;                    /* of the longest tile: doubts, then labels */
	double *dots;
	int64_t zeros; /* rows without a direction, which count for no cluster */
};

bool kdri_km_device_can(const kdr_mat *x, const double *weights, const kdri_kmeans_options *o)
{
	return !weights && o->algorithm == KDRI_KMEANS_AUTO && kdr_mat_rows(x) > 0 &&
	       kdr_mat_rows(x) < INT32_MAX / 2 && kdr_mat_cols(x) > 0;
}

/* --- memory ------------------------------------------------------------------------------------------------- */

void kdri_km_device_close(kdri_km *w, kdri_km_device *v)
{
	if (!v)
		return;
	kdri_device *dev = v->dev;
	dev->unpin(dev, w->table.room);
	dev->unpin(dev, w->sums);
	for (int64_t t = 0; t < v->count && v->tiles; t++) {
		kdri_buf *owned[] = { v->tiles[t].label, v->tiles[t].before, v->tiles[t].norm,
			              v->tiles[t].scale, v->tiles[t].twice };
		for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
			dev->release(dev, owned[i]);
	}
	kdri_buf *owned[] = { v->offset, v->list, v->doubt, v->value, v->unit, v->rough };
	for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
		dev->release(dev, owned[i]);
	kdri_tiles_free(w->ctx, dev, &v->x);
	kdri_dmat_free(dev, &v->centres);
	kdri_dmat_free(dev, &v->sums);
	kdri_dmat_free(dev, &v->joined);
	kdri_free(w->ctx, v->tiles);
	kdri_free(w->ctx, v->near);
	kdri_free(w->ctx, v->parts);
	kdri_free(w->ctx, v->off);
	kdri_free(w->ctx, v->begin);
	kdri_free(w->ctx, v->counts);
	kdri_free(w->ctx, v->totals);
	kdri_free(w->ctx, v->rows);
	kdri_free(w->ctx, v->dots);
	kdri_free(w->ctx, v);
}

/* What there is for rows, beside the labels and norms of all of them and the rest. */
static double room_for_rows(const kdri_km *w, kdri_device *dev)
{
	double fixed = 8.0 * (double)(w->k * (4 * w->d + 4)) + 40.0 * (double)w->n;
	double rows = kdri_rows_bytes(w->x, 0, w->n), beside = 20.0 * (double)w->n; /* of the longest tile */
	return (0.8 * (double)dev->room(dev) - fixed) * rows / (rows + beside);
}

static kdr_status tile_new(kdri_km *w, kdri_km_device *v, tile *t)
{
	kdr_status st;
	kdri_device *dev = v->dev;
	KDRI_TRY(kdri_dbuf_new(w->ctx, dev, t->rows, sizeof(int32_t), &t->label));
	KDRI_TRY(kdri_dbuf_new(w->ctx, dev, t->rows, sizeof(int32_t), &t->before));
	KDRI_TRY(kdri_dbuf_new(w->ctx, dev, t->rows, sizeof(double), &t->norm));
	KDRI_TRY(kdri_dbuf_put(w->ctx, dev, t->norm, w->norm + t->begin, t->rows, sizeof(double)));
	if (w->spherical) {
		KDRI_TRY(kdri_dbuf_new(w->ctx, dev, t->rows, sizeof(double), &t->scale));
		KDRI_TRY(kdri_dbuf_new(w->ctx, dev, t->rows, sizeof(double), &t->twice));
		KDRI_TRY(kdri_dbuf_put(w->ctx, dev, t->scale, w->scale + t->begin, t->rows, sizeof(double)));
		KDRI_TRY(kdri_dbuf_put(w->ctx, dev, t->twice, w->twice + t->begin, t->rows, sizeof(double)));
	}
done:
	return st;
}

/* What goes to and fro in every iteration, if it is much. */
static kdr_status pin_centres(kdri_km *w, kdri_km_device *v)
{
	const size_t much = (size_t)1 << 22, sums = (size_t)(w->k * w->d) * sizeof *w->sums;
	size_t table = (size_t)(w->d * w->tiles * KDRI_LANES + KDRI_LANES) * sizeof *w->table.room;
	kdr_status st = KDR_OK;
	if (v->sparse && table > much)
		KDRI_DTRY(w->ctx, v->dev, v->dev->pin(v->dev, w->table.room, table));
	if (sums > much)
		KDRI_DTRY(w->ctx, v->dev, v->dev->pin(v->dev, w->sums, sums));
done:
	return st;
}

kdr_status kdri_km_device_open(kdri_km *w, kdri_device *dev, kdri_km_device **out)
{
	kdr_status st;
	kdri_km_device *v = NULL;
	KDRI_TRY(KDRI_NEW0(w->ctx, &v, 1));
	v->dev = dev;
	v->sparse = w->x->kind == KDR_MAT_CSR;
	KDRI_TRY(kdri_tiles_new(w->ctx, dev, w->x, room_for_rows(w, dev), &v->x));
	int64_t rows = v->x.longest;
	v->count = v->x.count;
	KDRI_TRY(KDRI_NEW0(w->ctx, &v->tiles, v->count));
	if (!v->sparse)
		KDRI_TRY(KDRI_NEW(w->ctx, &v->near, w->k * w->d));
	KDRI_TRY(KDRI_NEW(w->ctx, &v->off, w->k));
	KDRI_TRY(KDRI_NEW(w->ctx, &v->begin, w->k + 1));
	KDRI_TRY(KDRI_NEW(w->ctx, &v->counts, w->k));
	KDRI_TRY(KDRI_NEW(w->ctx, &v->totals, w->k));
	KDRI_TRY(KDRI_NEW(w->ctx, &v->rows, 2 * rows));
	KDRI_TRY(KDRI_NEW(w->ctx, &v->dots, KDRI_BLOCK * w->tiles * KDRI_LANES));
	for (int64_t t = 0; t < v->count; t++) {
		v->tiles[t].begin = v->x.begin[t];
		v->tiles[t].rows = v->x.begin[t + 1] - v->x.begin[t];
		KDRI_TRY(tile_new(w, v, &v->tiles[t]));
	}
	if (v->sparse) {
		v->centres = (kdri_dmat){ NULL, 0, w->d, w->k, w->table.feature_step };
		KDRI_TRY(kdri_dbuf_new(w->ctx, dev, w->d * w->table.feature_step, sizeof(double),
		                       &v->centres.buf));
	} else {
		KDRI_TRY(kdri_dmat_new(w->ctx, dev, w->k, w->d, &v->centres));
	}
	KDRI_TRY(kdri_dmat_new(w->ctx, dev, w->k, 2 * w->d, &v->sums));
	KDRI_TRY(kdri_dmat_new(w->ctx, dev, w->k, w->d, &v->joined));
	KDRI_TRY(pin_centres(w, v));
	KDRI_TRY(kdri_dbuf_new(w->ctx, dev, w->d, sizeof(double), &v->unit));
	KDRI_TRY(kdri_dbuf_put(w->ctx, dev, v->unit, w->unit, w->d, sizeof(double)));
	KDRI_TRY(kdri_dbuf_new(w->ctx, dev, w->k, sizeof(double), &v->offset));
	KDRI_TRY(kdri_dbuf_new(w->ctx, dev, 2 * rows, sizeof(int32_t), &v->list));
	KDRI_TRY(kdri_dbuf_new(w->ctx, dev, rows, sizeof(int32_t), &v->doubt));
	KDRI_TRY(kdri_dbuf_new(w->ctx, dev, rows, sizeof(double), &v->value));
	memset(w->moved, 0, (size_t)kdri_km_blocks(w) * sizeof *w->moved);
	for (int64_t i = 0; i < w->n && w->scale; i++)
		v->zeros += w->scale[i] == 0;
	*out = v;
	v = NULL;
done:
	kdri_km_device_close(w, v);
	return st;
}

/* The rows of tile t, which are sent if they are not there. */
static kdr_status tile_x(kdri_km *w, kdri_km_device *v, int64_t t, kdri_drows *out)
{
	kdr_status st;
	kdri_buf *mean = NULL;
	bool looked = v->x.slot[0].tile == 0;
	KDRI_TRY(kdri_tiles_get(w->ctx, v->dev, &v->x, t, out));
	if (v->count == 1 && !looked && !v->sparse) { /* rows that stay are worth a second look */
		KDRI_TRY(kdri_dbuf_new(w->ctx, v->dev, w->d, sizeof *w->mean, &mean));
		KDRI_TRY(kdri_dbuf_put(w->ctx, v->dev, mean, w->mean, w->d, sizeof *w->mean));
		KDRI_DTRY(w->ctx, v->dev, v->dev->rough(v->dev, out->dense, mean, &v->rough));
	}
done:
	v->dev->release(v->dev, mean);
	return st;
}

/* --- labels --------------------------------------------------------------------------------------------------- */

/* w->label and w->before to the device. */
static kdr_status send_labels(kdri_km *w, kdri_km_device *v)
{
	kdr_status st = KDR_OK;
	for (int64_t t = 0; t < v->count; t++) {
		const tile *at = &v->tiles[t];
		KDRI_TRY(kdri_dbuf_put(w->ctx, v->dev, at->label, w->label + at->begin, at->rows,
		                       sizeof *w->label));
		KDRI_TRY(kdri_dbuf_put(w->ctx, v->dev, at->before, w->before + at->begin, at->rows,
		                       sizeof *w->before));
	}
done:
	return st;
}

static kdr_status get_labels(kdri_km *w, kdri_km_device *v, bool before)
{
	kdr_status st = KDR_OK;
	for (int64_t t = 0; t < v->count; t++) {
		const tile *at = &v->tiles[t];
		KDRI_TRY(kdri_dbuf_get(w->ctx, v->dev, at->label, w->label + at->begin, at->rows,
		                       sizeof *w->label));
		if (before)
			KDRI_TRY(kdri_dbuf_get(w->ctx, v->dev, at->before, w->before + at->begin, at->rows,
			                       sizeof *w->before));
	}
done:
	return st;
}

/* c' and b of (E1) in kmeans_work.h. */
static kdr_status send_centres(kdri_km *w, kdri_km_device *v)
{
	kdr_status st;
	for (int64_t j = 0; j < w->k; j++) {
		v->off[j] = w->offset[w->lane[j]];
		for (int64_t f = 0; f < w->d && !v->sparse; f++)
			v->near[j * w->d + f] = w->centres[j * w->d + f] - (w->shift ? w->shift[f] : 0);
	}
	if (v->sparse) /* with one group of bounds, as here, a centre's lane is its number */
		KDRI_TRY(kdri_dbuf_put(w->ctx, v->dev, v->centres.buf, w->table.at,
		                       w->d * w->table.feature_step, sizeof *w->table.at));
	else
		KDRI_TRY(kdri_dmat_put(w->ctx, v->dev, v->centres, v->near, w->d));
	KDRI_TRY(kdri_dbuf_put(w->ctx, v->dev, v->offset, v->off, w->k, sizeof *v->off));
done:
	return st;
}

/* The labels of `count` rows of a tile as lloyd.c finds them. */
static void decide(const kdri_km *w, const kdri_km_device *v, const tile *at, const int32_t *doubt,
                   int64_t count, int32_t *label)
{
	int64_t width = w->tiles * KDRI_LANES, rows[KDRI_BLOCK];
	double best[KDRI_BLOCK], second[KDRI_BLOCK], twice[KDRI_BLOCK];
	int32_t arg[KDRI_BLOCK];
	for (int64_t from = 0; from < count; from += KDRI_BLOCK) {
		int64_t m = KDRI_MIN(KDRI_BLOCK, count - from);
		for (int64_t r = 0; r < m; r++) {
			rows[r] = at->begin + doubt[from + r];
			twice[r] = w->twice ? w->twice[rows[r]] : 2;
		}
		kdri_km_dots(w->x, rows, m, &w->table, 0, width, v->dots, width);
		kdri_km_scan(v->dots, width, m, width, w->offset, w->twice ? twice : NULL, best, second, arg);
		for (int64_t r = 0; r < m; r++)
			label[doubt[from + r]] = w->centre[arg[r]];
	}
}

/* Every row to its nearest centre; `first`: w->distance becomes what it is away, rounded up as in lloyd.c. */
static kdr_status kmeans_device_assign(kdri_km *w, kdri_km_device *v, bool first)
{
	kdr_status st;
	KDRI_TRY(send_centres(w, v));
	for (int64_t t = 0; t < v->count; t++) {
		const tile *at = &v->tiles[t];
		kdri_drows x;
		kdri_buf *value = first ? v->value : NULL;
		int64_t doubts = 0;
		int32_t *doubt = v->rows, *label = v->rows + at->rows;
		KDRI_TRY(tile_x(w, v, t, &x));
		if (v->sparse)
			KDRI_DTRY(w->ctx, v->dev,
			          v->dev->nearest_sparse(v->dev, x.csr, v->centres, v->offset, at->twice,
			                                 at->norm, w->error_row, w->error_base, at->label,
			                                 value, v->doubt, &doubts));
		else
			KDRI_DTRY(w->ctx, v->dev,
			          v->dev->nearest(v->dev, x.dense, v->centres, v->rough, v->offset, at->twice,
			                          at->norm, w->error_row, w->error_base, at->label, value,
			                          v->doubt, &doubts));
		if (doubts > 0) {
			KDRI_TRY(kdri_dbuf_get(w->ctx, v->dev, v->doubt, doubt, doubts, sizeof *doubt));
			KDRI_TRY(kdri_dbuf_get(w->ctx, v->dev, at->label, label, at->rows, sizeof *label));
			decide(w, v, at, doubt, doubts, label);
			KDRI_TRY(kdri_dbuf_put(w->ctx, v->dev, at->label, label, at->rows, sizeof *label));
		}
		if (first)
			KDRI_TRY(kdri_dbuf_get(w->ctx, v->dev, v->value, w->distance + at->begin, at->rows,
			                       sizeof *w->distance));
	}
	for (int64_t i = 0; i < w->n && first; i++)
		w->distance[i] = KDRI_MAX(0.0, w->norm[i] + w->distance[i] + kdri_km_error(w, i));
done:
	return st;
}

/* w->filled, and how many labels changed. */
static kdr_status kmeans_device_count(kdri_km *w, kdri_km_device *v, int64_t *moved)
{
	kdr_status st = KDR_OK;
	*moved = 0;
	memset(v->totals, 0, (size_t)w->k * sizeof *v->totals);
	for (int64_t t = 0; t < v->count; t++) {
		const tile *at = &v->tiles[t];
		int64_t here = 0;
		KDRI_DTRY(w->ctx, v->dev,
		          v->dev->changed(v->dev, at->label, at->before, at->rows, w->k, &here, v->counts));
		*moved += here;
		for (int64_t j = 0; j < w->k; j++)
			v->totals[j] += v->counts[j];
	}
	/* Rows without a direction are all in cluster 0. */
	for (int64_t j = 0; j < w->k; j++)
		w->filled[j] = v->totals[j] - (j == 0 ? v->zeros : 0);
done:
	return st;
}

/* Clusters without samples get some, which is rare and done here. */
static kdr_status kmeans_device_fill_empty(kdri_km *w, kdri_km_device *v, int64_t *moved)
{
	kdr_status st = KDR_OK;
	bool empty = false;
	for (int64_t j = 0; j < w->k; j++)
		empty = empty || !w->filled[j];
	if (!empty)
		return KDR_OK;
	int64_t filled;
	KDRI_TRY(get_labels(w, v, true));
	KDRI_TRY(kdri_km_fill_empty(w, &filled));
	if (filled == 0)
		return KDR_OK;
	KDRI_TRY(send_labels(w, v));
	KDRI_TRY(kmeans_device_count(w, v, moved));
done:
	return st;
}

/* --- centres ---------------------------------------------------------------------------------------------------- */

/* kdri_km_update: (E4) of kmeans_update.c. */
static kdr_status update(kdri_km *w, kdri_km_device *v, bool all)
{
	kdr_status st = KDR_OK;
	memset(w->touched, all, (size_t)w->k);
	for (int64_t t = 0; t < v->count; t++) {
		const tile *at = &v->tiles[t];
		kdri_drows x;
		bool add = !all || t > 0;
		KDRI_DTRY(
		        w->ctx, v->dev,
		        v->dev->order(v->dev, at->label, at->before, at->rows, w->k, all, v->list, v->begin));
		if (add && v->begin[w->k] == 0)
			continue; /* nothing to add: its rows need not come */
		KDRI_TRY(tile_x(w, v, t, &x));
		if (v->sparse)
			KDRI_DTRY(w->ctx, v->dev,
			          v->dev->sums_sparse(v->dev, x.csr, v->list, v->begin, at->scale, v->unit,
			                              w->ratio, add, v->sums));
		else
			KDRI_DTRY(w->ctx, v->dev,
			          v->dev->sums(v->dev, x.dense, v->list, v->begin, at->scale, v->unit,
			                       w->ratio, add, v->sums));
		for (int64_t j = 0; j < w->k; j++)
			w->touched[j] |= v->begin[j + 1] > v->begin[j];
	}
	KDRI_DTRY(w->ctx, v->dev, v->dev->join(v->dev, v->sums, v->joined));
	KDRI_TRY(kdri_dmat_get(w->ctx, v->dev, v->joined, w->sums, w->d));
	for (int64_t j = 0; j < w->k; j++)
		w->mass[j] = w->filled[j] ? (double)v->totals[j] : 0;
	kdri_km_from_sums(w);
done:
	return st;
}

kdr_status kdri_km_device_run(kdri_km *w, kdri_km_device *v, const kdri_kmeans_options *o, int64_t index,
                              int64_t runs, kdri_km_run *r)
{
	kdr_status st;
	bool labelled = o->init_labels, first = !labelled;
	r->length = 0;
	r->stop = KDR_STOP_MAX_ITER;
	KDRI_TRY(kdri_km_start(&w, &o, 1, index));
	if (labelled) {
		r->start = r->objective = kdri_km_objective(w);
		if (!v->parts)
			KDRI_TRY(KDRI_NEW(w->ctx, &v->parts, 2 * w->k * w->d));
		for (int64_t j = 0; j < 2 * w->k; j++) /* behind each part is one of the mass */
			memcpy(v->parts + j * w->d, w->exact + j * (w->d + 1),
			       (size_t)w->d * sizeof *v->parts);
		KDRI_TRY(kdri_dmat_put(w->ctx, v->dev, v->sums, v->parts, 2 * w->d));
	}
	for (int64_t i = 0; i < w->n && first; i++)
		w->label[i] = 0;
	KDRI_TRY(send_labels(w, v));
	/* As in kmeans_run.c, step by step. */
	while (r->length < o->max_iter || first) {
		int64_t moved = 0;
		KDRI_TRY(kmeans_device_assign(w, v, first));
		KDRI_TRY(kmeans_device_count(w, v, &moved));
		if (first) {
			KDRI_TRY(kdri_km_total(w, w->distance, &r->start));
			r->objective = r->start;
			if (o->max_iter == 0)
				break;
		}
		KDRI_TRY(kmeans_device_fill_empty(w, v, &moved));
		if (!moved) {
			KDRI_TRY(kdri_km_record(w, r, kdri_km_objective(w)));
			r->stop = KDR_STOP_CONVERGED;
			break;
		}
		KDRI_TRY(update(w, v, first || 4 * moved > w->n));
		first = false;
		double last = r->objective;
		KDRI_TRY(kdri_km_record(w, r, kdri_km_objective(w)));
		if (o->stage && kdri_iteration(w->ctx, o->stage, index * o->max_iter + r->length,
		                               runs * o->max_iter, r->objective)) {
			r->stop = kdri_stop_reason(w->ctx);
			break;
		}
		if (o->tol > 0 && last - r->objective <= o->tol * last) {
			r->stop = KDR_STOP_CONVERGED;
			break;
		}
	}
	KDRI_TRY(get_labels(w, v, false));
done:
	return st;
}
