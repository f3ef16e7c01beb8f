/* What the files of msda share. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_MSDA_WORK_H
#define KDRI_MSDA_WORK_H

#include "methods/mtcfir/msda.h"

/* Rows or columns of a block, at least; bytes of a block of rows, about. */
enum { KDRI_MSDA_BLOCK = 1024, KDRI_MSDA_SCRATCH = 64 << 20 };

/* A layer at work. Its input is `x` while that is sparse, else `h`, which its output replaces. */
typedef struct kdri_msda {
	kdr_context *ctx;
	double p, q; /* noise, and 1 - noise */
	double ridge;
	const double *copies; /* d, or NULL */
	int64_t n, m, d;      /* training rows, all rows, features */
	const kdr_mat *x;     /* m rows */
	kdri_own xt;          /* the training rows transposed; only where x is sparse */
	bool sparse;
	kdri_block h;                           /* m x d */
	double *mean, *square, *delta, *offset; /* d: xbar, s, Delta, and what tanh is shifted by */
	double *sums;                           /* scratch of the column sums */
	kdri_block room;                        /* scratch of the dense layers, in the precision of h */
	double *map, *bias;                     /* where this layer is kept, or NULL */
	bool known;                             /* it is kept there: it need not be learnt */
	double flops;
} kdri_msda;

/* Scratch for all layers alike: memory that is given back costs time when it is taken anew. */
kdr_status kdri_msda_room(kdri_msda *w, int64_t rows, int64_t cols);

/* Reads the input in w->x or w->h and leaves the output in w->h; statistics are there already. */
kdr_status kdri_msda_by_features(kdri_msda *w);
kdr_status kdri_msda_by_samples(kdri_msda *w);

/* Copies a layer just learnt, `map` and w->offset, to where it is kept, if anywhere; and back. */
void kdri_msda_keep(const kdri_msda *w, const double *map, int64_t side);
void kdri_msda_recall(const kdri_msda *w, double *map, int64_t side);

/* to = (h - mean) * scale for rows row.., columns col.. of h; scale NULL: ones. */
void kdri_msda_centre(const kdri_msda *w, int64_t row, int64_t col, double shift, const double *scale,
                      const kdri_block *to);
/* v[0..count-1] <- tanh(v). */
void kdri_tanh(double *v, int64_t count);
void kdri_tanhf(float *v, int64_t count);
/* A row of pre-images becomes a row of h: entries j.. of row i are tanh(v). `v` is spoilt. */
void kdri_msda_put(const kdri_block *h, int64_t i, int64_t j, int64_t count, double *v);

#endif
