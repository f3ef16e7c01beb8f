/* A tall matrix on a device, complete or one panel at a time. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_MSDA_PANELS_H
#define KDRI_MSDA_PANELS_H

#include "matrix/device_use.h"

/* Minimum number of rows or columns of a panel on the CPU; approximate bytes of a panel of rows there. */
enum { KDRI_MSDA_BLOCK = 1024, KDRI_MSDA_SCRATCH = 64 << 20 };

/* rows x d numbers. If the device has no room for all of them, they are kept on the host, and one panel at a time is on
 * the device. */
typedef struct kdri_panels {
	kdr_context *ctx;
	kdri_device *dev;
	int64_t rows, d;
	int64_t wide, high; /* columns of a panel of all rows; rows of a panel of all columns */
	int64_t most;       /* entries that a panel, or scratch of its size, may have */
	kdri_block all;     /* if memory allows */
	double *host;       /* else: rows x d */
	kdri_block room;    /* else: for a panel */
} kdri_panels;

/* Entries are not set. `side`: of the square matrix that layers also need; `scratch`: the number of panels they need.
 * kdri_panels_free accepts the result of a failed call. */
kdr_status kdri_panels_new(kdr_context *ctx, kdri_device *dev, int64_t rows, int64_t d, bool single,
                           int64_t side, int scratch, kdri_panels *out);
void kdri_panels_free(kdri_panels *p);

/* Rows row.. and columns col.. as a view; the previous view becomes invalid. */
kdri_block kdri_panels_view(const kdri_panels *p, int64_t row, int64_t col, int64_t rows, int64_t cols);
/* The same with their entries. */
kdr_status kdri_panels_load(const kdri_panels *p, int64_t row, int64_t col, int64_t rows, int64_t cols,
                            kdri_block *out);
/* The entries of a view become those of rows row.. and columns col.. */
kdr_status kdri_panels_store(const kdri_panels *p, int64_t row, int64_t col, kdri_block view);
/* Columns of a panel that needs no scratch: all of them if all are on the device. */
static inline int64_t kdri_panels_span(const kdri_panels *p)
{
	return p->host ? p->wide : p->d;
}

#endif
