/* What the files of msda share. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_MSDA_WORK_H
#define KDRI_MSDA_WORK_H

#include "methods/mtcfir/msda.h"

/* The state while a layer is computed. Its input is `x` while that is sparse, otherwise `h`, which its output replaces. */
typedef struct kdri_msda {
	kdr_context *ctx;
	kdri_device *dev;
	double p, q; /* noise, and 1 - noise */
	double ridge;
	const double *copies; /* d, or NULL */
	int64_t n, m, d;      /* training rows, all rows, features */
	const kdr_mat *x;     /* m rows */
	kdri_own xt;          /* the training rows transposed; only if x is sparse */
	kdri_sparse rows;     /* x on the device, and the transpose of the training rows */
	bool sparse;
	kdri_panels h;                          /* m x d */
	double *mean, *square, *delta, *offset; /* d: xbar, s, Delta, and what tanh is shifted by */
	kdri_block room;                        /* scratch of the dense layers: a panel */
	double *map, *bias;                     /* where this layer is kept, or NULL */
	bool known;                             /* it is known from there and need not be learnt */
	double flops;
} kdri_msda;

/* The training rows, with their transpose. */
static inline kdri_sparse kdri_msda_train(const kdri_msda *w)
{
	kdri_sparse train = w->rows;
	train.x.rows = w->n;
	return train;
}

/* Columns of a product with sparse rows whose other side is d long. */
static inline int64_t kdri_msda_strip(const kdri_msda *w)
{
	return KDRI_MAX(1, KDRI_MIN(2 * w->dev->most_columns, w->h.most / kdri_stride(w->d)));
}

/* Allocates w->room once for all layers, because freeing and allocating it again takes time. */
kdr_status kdri_msda_room(kdri_msda *w, int64_t rows, int64_t cols);

/* Reads the input in w->x or w->h and leaves the output in w->h; statistics have been computed before. */
kdr_status kdri_msda_by_features(kdri_msda *w);
kdr_status kdri_msda_by_samples(kdri_msda *w);

/* Copies a newly learnt layer, `map` and w->offset, to where it is kept, if anywhere; and back. */
kdr_status kdri_msda_keep(const kdri_msda *w, kdri_block map);
kdr_status kdri_msda_recall(const kdri_msda *w, kdri_block map);

#endif
