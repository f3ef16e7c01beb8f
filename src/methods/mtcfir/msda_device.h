/* Layers of mSDA on a device. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_MSDA_DEVICE_H
#define KDRI_MSDA_DEVICE_H

#include "matrix/device_use.h"
#include "methods/mtcfir/msda.h"

/* A tall matrix of n x d on a device, or in the host's memory where it does not fit: then a part of it at a time is there. */
typedef struct kdri_dpanels {
	kdr_context *ctx;
	kdri_device *dev;
	int64_t n, d, most; /* numbers a part may have */
	kdri_dmat all;      /* where it fits */
	double *host;       /* else: n x d */
	kdri_dmat room;     /* else: for a part */
} kdri_dpanels;

/* Rows row.. and columns col.. as a view, with what they hold; the last view is over. */
kdr_status kdri_dpanels_load(const kdri_dpanels *p, int64_t row, int64_t col, int64_t rows, int64_t cols,
                             kdri_dmat *out);
/* The view, which may be of other memory (rows x cols, its stride), is what they hold from now on. */
kdr_status kdri_dpanels_store(const kdri_dpanels *p, int64_t row, int64_t col, kdri_dmat view);
/* Columns, and rows, of a part. */
int64_t kdri_dpanels_wide(const kdri_dpanels *p);
int64_t kdri_dpanels_high(const kdri_dpanels *p);

/* Sees each layer's output: layer 0 as `x`, where that is sparse and `h` is NULL; else as `h`. */
typedef kdr_status kdri_dlayer_fn(kdr_context *ctx, void *user, int64_t layer, const kdr_mat *x,
                                  const kdri_dpanels *h);

/* kdri_msda_run on a device; all rows are training rows, and layers are learnt. */
kdr_status kdri_msda_device(kdr_context *ctx, kdri_device *dev, const kdr_mat *x,
                            const kdri_msda_options *options, kdri_dlayer_fn *use, void *user,
                            kdri_msda_info *info);

/* C (rows x rows of x) = X diag(weight) X' of a sparse X; weight NULL: ones. `most`: numbers of scratch. */
kdr_status kdri_dgram_sparse(kdr_context *ctx, kdri_device *dev, const kdri_dcsr *x, const kdri_buf *weight,
                             int64_t most, kdri_dmat c);

/* K = sum of layers of h h', the lower triangle but for a sparse layer 0, which fills all. */
typedef struct kdri_dgram {
	kdri_device *dev;
	kdri_dmat k;
	kdri_sharp sharp;
	double flops;
} kdri_dgram;
kdri_dlayer_fn kdri_msda_device_gram;

#endif
