/* Rows of a matrix on a device: all of them, or some at a time. SPDX-License-Identifier: BSD-3-Clause
 *
 *     kdri_tiles tiles = { 0 };
 *     KDRI_TRY(kdri_tiles_new(ctx, dev, x, false, bytes, &tiles));
 *     for (int64_t t = 0; t < tiles.count; t++) {
 *             kdri_drows rows;
 *             KDRI_TRY(kdri_tiles_get(ctx, dev, &tiles, t, &rows));
 *             ...
 *     }
 *     kdri_tiles_free(ctx, &tiles);
 *
 * Rows that fit into `bytes` are one tile, which is sent once. Otherwise the first tile takes three quarters of them and
 * stays, and the others are sent one after the other into the remaining memory, each time they are requested. */
#ifndef KDRI_TILES_H
#define KDRI_TILES_H

#include "matrix/device_use.h"

typedef struct kdri_tiles {
	kdr_mat x;             /* borrowed */
	bool spread;           /* sparse rows are sent as dense ones */
	bool borrowed;         /* on the CPU: the rows are those of x */
	int64_t count, *begin; /* tile t has rows begin[t] to begin[t + 1] - 1 */
	int64_t longest;       /* rows of the longest tile */
	double *room;          /* of the host: sparse rows to be sent as dense ones */
	struct {
		kdri_drows rows;
		int64_t tile; /* the tile that is loaded, or -1 */
	} slot[2];            /* for the first tile, and for the others */
} kdri_tiles;

/* Bytes that rows begin to end - 1 of x take on a device. */
double kdri_rows_bytes(const kdr_mat *x, bool spread, int64_t begin, int64_t end);
/* The end of the longest range of rows from `begin` on that takes at most `bytes` bytes: at least one row. */
int64_t kdri_rows_within(const kdr_mat *x, bool spread, int64_t begin, double bytes);

kdr_status kdri_tiles_new(kdr_context *ctx, kdri_device *d, const kdr_mat *x, bool spread, double bytes,
                          kdri_tiles *out);
kdr_status kdri_tiles_get(kdr_context *ctx, kdri_device *d, kdri_tiles *tiles, int64_t t, kdri_drows *out);
/* Accepts a zeroed struct. */
void kdri_tiles_free(kdr_context *ctx, kdri_tiles *tiles);

#endif
