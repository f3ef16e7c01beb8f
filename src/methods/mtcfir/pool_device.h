/* What mtcfir does with a Gram matrix, on a device: consistent.h and gram_mmd.h there. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_POOL_DEVICE_H
#define KDRI_POOL_DEVICE_H

#include "methods/mtcfir/consistent.h"
#include "methods/mtcfir/gram_kmeans.h"

/* Rows and columns of tasks: begin[0..ntasks]. v: the lower triangle will do for the first two, else all of it. */
kdr_status kdri_there_median(kdr_context *ctx, const kdri_gram_there *v, double *out);
/* The diagonal blocks are made whole. */
kdr_status kdri_there_mmd(kdr_context *ctx, const kdri_gram_there *v, const int64_t *begin, int64_t ntasks,
                          double sigma, double *out);
/* All of v from the lower triangle of the Gram matrix. */
kdr_status kdri_there_similarity(kdr_context *ctx, const kdri_gram_there *v, kdri_similarity similarity,
                                 double sigma);
/* v = max(v, 0). */
kdr_status kdri_there_clip(kdr_context *ctx, kdri_device *dev, kdri_dmat v);
kdr_status kdri_there_relate(kdr_context *ctx, const kdri_gram_there *v, const int64_t *begin, int64_t ntasks,
                             const int64_t *neighbours, double *eps, double *alpha);
kdr_status kdri_there_consistent(kdr_context *ctx, const kdri_gram_there *v, const int64_t *begin,
                                 int64_t ntasks, int64_t task, const double *alpha, int64_t neighbours,
                                 kdri_consistent *out);

#endif
