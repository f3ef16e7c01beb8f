/* k-means with rows and labels on an accelerator. SPDX-License-Identifier: BSD-3-Clause
 *
 * The samples and their labels are on the device, centres and everything of their size on the host. An iteration sends k
 * centres and fetches k sums. Samples that do not fit are sent in tiles of rows, in order. For sparse rows, centres are
 * stored feature after feature, as in the table of kmeans_work.h, from which they are sent.
 *
 * The partition is that of lloyd.c, to the last bit, though a device adds products in another order: if the distances of
 * the two nearest centres differ by no more than possible rounding errors, E of (E2) in kmeans_work.h, the label is
 * recomputed by the code of lloyd.c. The sums of rows are exact on both sides (comm/exact.h), so that centres and
 * everything derived from them are the same. */
#include "engine/kmeans/kmeans_work.h"
#include "matrix/device_use.h"

/* The data of each tile's rows that stay on the device; vectors are device memory. */
typedef struct tile {
	int64_t begin, rows;
	int32_t *label, *before;
	double *norm, *scale, *twice;
} tile;

typedef struct kdri_km_device {
	kdri_device *dev;
	kdri_tiles x;
	tile *tiles;
	bool sparse;
	kdri_block centres;      /* k x d, or of sparse rows d x k with the table's stride */
	kdri_block sums, joined; /* k x 2 d in two parts, and k x d */
	/* Of the device. */
	double *offset, *value, *unit;
	int32_t *list, *doubt;
	void *rough; /* of the rows if all are on the device, or NULL */
	/* Of the host. */
	double *near, *off;               /* k x d for dense rows, and k: the data sent */
	double *parts;                    /* k x 2 d: high and low parts of sums, where labels are given */
	int64_t *begin, *counts, *totals; /* k + 1, k, k */
	int32_t *rows;                    /* of the longest tile: doubts, then labels */
	double *dots;
	int64_t zeros; /* rows without a direction, which count for no cluster */
} kdri_km_device;

bool kdri_km_device_can(const kdr_mat *x, const double *weights, const kdri_kmeans_options *o)
{
	return !weights && o->algorithm == KDRI_KMEANS_AUTO && kdr_mat_rows(x) > 0 &&
	       kdr_mat_rows(x) < INT32_MAX / 2 && kdr_mat_cols(x) > 0;
}

/* --- memory ------------------------------------------------------------------------------------------------- */

void kdri_km_device_close(kdri_km *w)
{
	kdri_km_device *v = w->on_device;
	if (!v)
		return;
	kdri_device *dev = v->dev;
	dev->unpin(dev, w->table.room);
	dev->unpin(dev, w->sums);
	for (int64_t t = 0; t < v->x.count && v->tiles; t++) {
		void *owned[] = { v->tiles[t].label, v->tiles[t].before, v->tiles[t].norm, v->tiles[t].scale,
			          v->tiles[t].twice };
		for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
			dev->release(w->ctx, dev, owned[i]);
	}
	void *owned[] = { v->offset, v->list, v->doubt, v->value, v->unit, v->rough };
	for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
		dev->release(w->ctx, dev, owned[i]);
	kdri_tiles_free(w->ctx, &v->x);
	kdri_block_free(w->ctx, &v->centres);
	kdri_block_free(w->ctx, &v->sums);
	kdri_block_free(w->ctx, &v->joined);
	KDRI_FREE(w->ctx, v->tiles, v->near, v->parts, v->off, v->begin, v->counts, v->totals, v->rows,
	          v->dots, v);
	w->on_device = NULL;
}

/* The memory available for rows, besides the labels and norms of all of them and everything else. */
static double room_for_rows(const kdri_km *w, kdri_device *dev)
{
	double fixed = 8.0 * (double)(w->k * (4 * w->d + 4)) + 40.0 * (double)w->n;
	double rows = kdri_rows_bytes(w->x, false, 0, w->n),
	       beside = 20.0 * (double)w->n; /* of the longest tile */
	return (0.8 * (double)dev->room(dev) - fixed) * rows / (rows + beside);
}

/* A vector of the device with what the host has. */
static kdr_status vector_of(kdri_km *w, const double *from, int64_t count, double **out)
{
	KDRI_DO(KDRI_DNEW(w->ctx, w->on_device->dev, out, count));
	return kdri_device_send(w->ctx, w->on_device->dev, *out, from, (size_t)count * sizeof *from);
}

static kdr_status tile_new(kdri_km *w, tile *t)
{
	kdri_device *dev = w->on_device->dev;
	KDRI_DO(KDRI_DNEW(w->ctx, dev, &t->label, t->rows));
	KDRI_DO(KDRI_DNEW(w->ctx, dev, &t->before, t->rows));
	KDRI_DO(vector_of(w, w->norm + t->begin, t->rows, &t->norm));
	if (w->spherical) {
		KDRI_DO(vector_of(w, w->scale + t->begin, t->rows, &t->scale));
		KDRI_DO(vector_of(w, w->twice + t->begin, t->rows, &t->twice));
	}
	return KDR_OK;
}

/* Pins the memory that is transferred in every iteration, if it is large. */
static kdr_status pin_centres(kdri_km *w)
{
	const size_t much = (size_t)1 << 22, sums = (size_t)(w->k * w->d) * sizeof *w->sums;
	size_t table = (size_t)(w->d * w->tiles * KDRI_LANES + KDRI_LANES) * sizeof *w->table.room;
	kdri_device *dev = w->on_device->dev;
	kdr_status st = KDR_OK;
	if (w->on_device->sparse && table > much)
		KDRI_DTRY(w->ctx, dev, dev->pin(w->ctx, dev, w->table.room, table));
	if (sums > much)
		KDRI_DTRY(w->ctx, dev, dev->pin(w->ctx, dev, w->sums, sums));
done:
	return st;
}

kdr_status kdri_km_device_open(kdri_km *w, kdri_device *dev)
{
	kdri_km_device *v = NULL;
	KDRI_DO(KDRI_NEW0(w->ctx, &v, 1));
	w->on_device = v; /* kdri_km_device_close ends what a failure leaves */
	v->dev = dev;
	v->sparse = w->x->kind == KDR_MAT_CSR;
	KDRI_DO(kdri_tiles_new(w->ctx, dev, w->x, false, room_for_rows(w, dev), &v->x));
	int64_t rows = v->x.longest;
	KDRI_DO(KDRI_NEW0(w->ctx, &v->tiles, v->x.count));
	if (!v->sparse)
		KDRI_DO(KDRI_NEW(w->ctx, &v->near, w->k * w->d));
	KDRI_DO(KDRI_NEW(w->ctx, &v->off, w->k));
	KDRI_DO(KDRI_NEW(w->ctx, &v->begin, w->k + 1));
	KDRI_DO(KDRI_NEW(w->ctx, &v->counts, w->k));
	KDRI_DO(KDRI_NEW(w->ctx, &v->totals, w->k));
	KDRI_DO(KDRI_NEW(w->ctx, &v->rows, 2 * rows));
	KDRI_DO(KDRI_NEW(w->ctx, &v->dots, KDRI_BLOCK * w->tiles * KDRI_LANES));
	for (int64_t t = 0; t < v->x.count; t++) {
		v->tiles[t].begin = v->x.begin[t];
		v->tiles[t].rows = v->x.begin[t + 1] - v->x.begin[t];
		KDRI_DO(tile_new(w, &v->tiles[t]));
	}
	if (v->sparse) {
		v->centres = (kdri_block){
			.dev = dev, .rows = w->d, .cols = w->k, .stride = w->table.feature_step
		};
		KDRI_DO(kdri_device_alloc(w->ctx, dev, &v->centres.data, w->d * w->table.feature_step,
		                          sizeof(double)));
	} else {
		KDRI_DO(kdri_block_new(w->ctx, dev, w->k, w->d, false, &v->centres));
	}
	KDRI_DO(kdri_block_new(w->ctx, dev, w->k, 2 * w->d, false, &v->sums));
	KDRI_DO(kdri_block_new(w->ctx, dev, w->k, w->d, false, &v->joined));
	KDRI_DO(pin_centres(w));
	KDRI_DO(vector_of(w, w->unit, w->d, &v->unit));
	KDRI_DO(KDRI_DNEW(w->ctx, dev, &v->offset, w->k));
	KDRI_DO(KDRI_DNEW(w->ctx, dev, &v->list, 2 * rows));
	KDRI_DO(KDRI_DNEW(w->ctx, dev, &v->doubt, rows));
	KDRI_DO(KDRI_DNEW(w->ctx, dev, &v->value, rows));
	memset(w->moved, 0, (size_t)kdri_km_blocks(w) * sizeof *w->moved);
	for (int64_t i = 0; i < w->n && w->scale; i++)
		v->zeros += w->scale[i] == 0;
	return KDR_OK;
}

/* The rows of tile t, which are sent if they are not on the device. */
static kdr_status tile_x(kdri_km *w, int64_t t, kdri_drows *out)
{
	kdri_km_device *v = w->on_device;
	bool looked = v->x.slot[0].tile == 0;
	KDRI_DO(kdri_tiles_get(w->ctx, v->dev, &v->x, t, out));
	if (v->x.count == 1 && !looked &&
	    !v->sparse) /* rough values are useful for rows that stay on the device */
		KDRI_DO_OP(w->ctx, v->dev, rough, out->dense, w->mean, &v->rough);
	return KDR_OK;
}

/* --- labels --------------------------------------------------------------------------------------------------- */

kdr_status kdri_km_device_send(kdri_km *w)
{
	kdri_km_device *v = w->on_device;
	for (int64_t t = 0; t < v->x.count; t++) {
		const tile *at = &v->tiles[t];
		const size_t bytes = (size_t)at->rows * sizeof *w->label;
		KDRI_DO(kdri_device_send(w->ctx, v->dev, at->label, w->label + at->begin, bytes));
		KDRI_DO(kdri_device_send(w->ctx, v->dev, at->before, w->before + at->begin, bytes));
	}
	return KDR_OK;
}

kdr_status kdri_km_device_fetch(kdri_km *w, bool before)
{
	kdri_km_device *v = w->on_device;
	for (int64_t t = 0; t < v->x.count; t++) {
		const tile *at = &v->tiles[t];
		const size_t bytes = (size_t)at->rows * sizeof *w->label;
		KDRI_DO(kdri_device_fetch(w->ctx, v->dev, at->label, w->label + at->begin, bytes));
		if (before)
			KDRI_DO(kdri_device_fetch(w->ctx, v->dev, at->before, w->before + at->begin, bytes));
	}
	return KDR_OK;
}

kdr_status kdri_km_device_begin(kdri_km *w, bool labelled)
{
	kdri_km_device *v = w->on_device;
	for (int64_t i = 0; i < w->n && !labelled; i++)
		w->label[i] = 0;
	if (labelled) {
		if (!v->parts)
			KDRI_DO(KDRI_NEW(w->ctx, &v->parts, 2 * w->k * w->d));
		for (int64_t j = 0; j < 2 * w->k; j++) /* each part is followed by one for the mass */
			memcpy(v->parts + j * w->d, w->exact + j * (w->d + 1),
			       (size_t)w->d * sizeof *v->parts);
		KDRI_DO(kdri_block_send(w->ctx, v->sums, v->parts, 2 * w->d));
	}
	return kdri_km_device_send(w);
}

/* c' and b of (E1) in kmeans_work.h. */
static kdr_status send_centres(kdri_km *w)
{
	kdri_km_device *v = w->on_device;
	for (int64_t j = 0; j < w->k; j++) {
		v->off[j] = w->offset[w->lane[j]];
		for (int64_t f = 0; f < w->d && !v->sparse; f++)
			v->near[j * w->d + f] = w->centres[j * w->d + f] - (w->shift ? w->shift[f] : 0);
	}
	if (v->sparse) /* with one group of bounds, as here, a centre's lane is its number */
		KDRI_DO(kdri_device_send(w->ctx, v->dev, v->centres.data, w->table.at,
		                         (size_t)(w->d * w->table.feature_step) * sizeof *w->table.at));
	else
		KDRI_DO(kdri_block_send(w->ctx, v->centres, v->near, w->d));
	return kdri_device_send(w->ctx, v->dev, v->offset, v->off, (size_t)w->k * sizeof *v->off);
}

/* Rows of a tile that the device is in doubt about. */
static kdr_status settle_doubts(kdri_km *w, const tile *at, int64_t doubts)
{
	kdri_km_device *v = w->on_device;
	int32_t *doubt = v->rows, *label = v->rows + at->rows;
	const size_t bytes = (size_t)at->rows * sizeof *label;
	KDRI_DO(kdri_device_fetch(w->ctx, v->dev, v->doubt, doubt, (size_t)doubts * sizeof *doubt));
	KDRI_DO(kdri_device_fetch(w->ctx, v->dev, at->label, label, bytes));
	/* The labels of `count` rows of a tile as lloyd.c finds them. */
	int64_t width = w->tiles * KDRI_LANES, rows[KDRI_BLOCK];
	double best[KDRI_BLOCK], second[KDRI_BLOCK], twice[KDRI_BLOCK], *dots = w->on_device->dots;
	int32_t arg[KDRI_BLOCK];
	for (int64_t from = 0; from < doubts; from += KDRI_BLOCK) {
		int64_t m = KDRI_MIN(KDRI_BLOCK, doubts - from);
		for (int64_t r = 0; r < m; r++) {
			rows[r] = at->begin + doubt[from + r];
			twice[r] = w->twice ? w->twice[rows[r]] : 2;
		}
		kdri_km_dots(w->x, rows, m, &w->table, 0, width, dots, width);
		kdri_km_scan(dots, width, m, width, w->offset, w->twice ? twice : NULL, best, second, arg);
		for (int64_t r = 0; r < m; r++)
			label[doubt[from + r]] = w->centre[arg[r]];
	}
	return kdri_device_send(w->ctx, v->dev, at->label, label, bytes);
}

kdr_status kdri_km_device_assign(kdri_km *w, bool first)
{
	kdri_km_device *v = w->on_device;
	KDRI_DO(send_centres(w));
	for (int64_t t = 0; t < v->x.count; t++) {
		const tile *at = &v->tiles[t];
		kdri_drows x;
		KDRI_DO(tile_x(w, t, &x));
		kdri_nearest n = { .centres = v->centres,
			           .offset = v->offset,
			           .twice = at->twice,
			           .norm = at->norm,
			           .error_row = w->error_row,
			           .error_base = w->error_base,
			           .rough = v->rough,
			           .label = at->label,
			           .value = first ? v->value : NULL,
			           .doubt = v->doubt };
		KDRI_DO_OP(w->ctx, v->dev, nearest, x, &n);
		if (n.doubts > 0)
			KDRI_DO(settle_doubts(w, at, n.doubts));
		if (first)
			KDRI_DO(kdri_device_fetch(w->ctx, v->dev, v->value, w->distance + at->begin,
			                          (size_t)at->rows * sizeof *w->distance));
	}
	for (int64_t i = 0; i < w->n && first; i++)
		w->distance[i] = KDRI_MAX(0.0, w->norm[i] + w->distance[i] + kdri_km_error(w, i));
	return KDR_OK;
}

kdr_status kdri_km_device_count(kdri_km *w)
{
	kdr_status st = KDR_OK;
	kdri_km_device *v = w->on_device;
	w->changed = 0;
	memset(v->totals, 0, (size_t)w->k * sizeof *v->totals);
	for (int64_t t = 0; t < v->x.count; t++) {
		const tile *at = &v->tiles[t];
		int64_t moved = 0;
		KDRI_DTRY(w->ctx, v->dev,
		          v->dev->changed(w->ctx, v->dev, at->label, at->before, at->rows, w->k, &moved,
		                          v->counts));
		w->changed += moved;
		for (int64_t j = 0; j < w->k; j++)
			v->totals[j] += v->counts[j];
	}
	/* Rows without a direction are all in cluster 0. */
	for (int64_t j = 0; j < w->k; j++)
		w->here[j] = v->totals[j] - (j == 0 ? v->zeros : 0);
done:
	return st;
}

/* --- centres ---------------------------------------------------------------------------------------------------- */

/* (E4) of lloyd.c */
kdr_status kdri_km_device_sums(kdri_km *w, bool all)
{
	kdr_status st = KDR_OK;
	kdri_km_device *v = w->on_device;
	memset(w->touched, all, (size_t)w->k);
	for (int64_t t = 0; t < v->x.count; t++) {
		const tile *at = &v->tiles[t];
		kdri_drows x;
		bool add = !all || t > 0;
		KDRI_DTRY(w->ctx, v->dev,
		          v->dev->order(w->ctx, v->dev, at->label, at->before, at->rows, w->k, all, v->list,
		                        v->begin));
		if (add && v->begin[w->k] == 0)
			continue; /* nothing to add: its rows need not be sent */
		KDRI_TRY(tile_x(w, t, &x));
		KDRI_OP(w->ctx, v->dev, sums, x, v->list, v->begin, at->scale, v->unit, w->ratio, add,
		        v->sums);
		for (int64_t j = 0; j < w->k; j++)
			w->touched[j] |= v->begin[j + 1] > v->begin[j];
	}
	KDRI_OP(w->ctx, v->dev, join, v->sums, v->joined);
	KDRI_TRY(kdri_block_fetch(w->ctx, v->joined, w->sums, w->d));
	for (int64_t j = 0; j < w->k; j++)
		w->mass[j] = w->filled[j] ? (double)v->totals[j] : 0;
done:
	return st;
}
