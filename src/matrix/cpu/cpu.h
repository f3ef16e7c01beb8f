/* The CPU implementation of the table of operations. SPDX-License-Identifier: BSD-3-Clause
 *
 * One function per operation, as described in matrix/device.h. Unless a comment says otherwise, a function is the
 * operation with its name. */
#ifndef KDRI_CPU_H
#define KDRI_CPU_H

#include "matrix/block.h"

/* layers.c */
kdr_status kdri_cpu_centre(kdr_context *ctx, kdri_block a, const double *mean, double shift,
                           const double *scale, kdri_block to);
kdr_status kdri_cpu_moments(kdr_context *ctx, kdri_block a, double limit, double *sum, double *squares,
                            int64_t *beyond);
kdr_status kdri_cpu_tanh(kdr_context *ctx, kdri_block y, const double *lean, const double *mean,
                         const double *offset, kdri_block h);
kdr_status kdri_cpu_tanh_rows(kdr_context *ctx, kdri_block y, const kdri_sparse *x, const double *lean,
                              const double *mean, double q, const double *offset, kdri_block h);
kdr_status kdri_cpu_adjust(kdr_context *ctx, kdri_block c, const double *a, bool outer, double constant,
                           double scale, const double *diagonal);
kdr_status kdri_cpu_complement(kdr_context *ctx, kdri_block a, const double *scale, double q);
/* tanh.c: v[0..count-1] <- tanh(v). */
void kdri_tanh(double *v, int64_t count);
void kdri_tanhf(float *v, int64_t count);

/* kernel_sums.c */
kdr_status kdri_cpu_kernel_sums(kdr_context *ctx, kdri_block k, const double *square, const int64_t *begin,
                                int64_t ntasks, double factor, double *sums);

/* factors.c */
kdr_status kdri_cpu_column_dots(kdr_context *ctx, kdri_block a, kdri_block b, double *out);
kdr_status kdri_cpu_ratio_step(kdr_context *ctx, kdri_block y, kdri_block n, kdri_block d, bool careful,
                               kdri_block to);

/* neighbours.c */
kdr_status kdri_cpu_neighbours(kdr_context *ctx, kdri_drows rows, kdri_drows others, const kdri_nn *nn);

#endif
