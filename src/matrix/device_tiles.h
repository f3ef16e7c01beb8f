/* Rows of a matrix on a device: all of them, or some at a time. SPDX-License-Identifier: BSD-3-Clause
 *
 *     kdri_tiles tiles = { 0 };
 *     KDRI_TRY(kdri_tiles_new(ctx, dev, x, bytes, &tiles));
 *     for (int64_t t = 0; t < tiles.count; t++) {
 *             kdri_drows rows;
 *             KDRI_TRY(kdri_tiles_get(ctx, dev, &tiles, t, &rows));
 *             ... rows.dense or rows.csr ...
 *     }
 *     kdri_tiles_free(ctx, dev, &tiles);
 *
 * What fits into the bytes is one tile and goes there once. Else the first tile takes three quarters of them and stays, and the
 * others come one after the other into the room that is left, anew whenever they are asked for. */
#ifndef KDRI_TILES_H
#define KDRI_TILES_H

#include "matrix/device_use.h"

/* Some rows that are there: `begin` is the first one's number. */
typedef struct kdri_drows {
	int64_t begin, rows;
	kdri_dmat dense;
	kdri_dcsr csr; /* x is sparse */
} kdri_drows;

typedef struct kdri_tiles {
	kdr_mat x;             /* borrowed */
	int64_t count, *begin; /* tile t has rows begin[t] to begin[t + 1] - 1 */
	int64_t longest;       /* rows of the longest tile */
	int64_t *rowptr;       /* sparse: room to count a tile's entries from its first one */
	struct {
		kdri_dmat dense;
		kdri_dcsr csr;
		int64_t tile; /* what is there, or -1 */
	} slot[2];            /* for the first tile, and for the others */
} kdri_tiles;

/* Bytes that rows begin to end - 1 of x take on a device. */
double kdri_rows_bytes(const kdr_mat *x, int64_t begin, int64_t end);
/* Where those rows from `begin` on end that take no more than that: one row at least. */
int64_t kdri_rows_within(const kdr_mat *x, int64_t begin, double bytes);

kdr_status kdri_tiles_new(kdr_context *ctx, kdri_device *d, const kdr_mat *x, double bytes, kdri_tiles *out);
kdr_status kdri_tiles_get(kdr_context *ctx, kdri_device *d, kdri_tiles *tiles, int64_t t, kdri_drows *out);
/* Accepts what was never made. */
void kdri_tiles_free(kdr_context *ctx, kdri_device *d, kdri_tiles *tiles);

#endif
