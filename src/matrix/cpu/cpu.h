/* The CPU implementation of the table of operations. SPDX-License-Identifier: BSD-3-Clause
 *
 * One function per operation, as described in matrix/device.h. Unless a comment says otherwise, a function is the
 * operation with its name. */
#ifndef KDRI_CPU_H
#define KDRI_CPU_H

#include "matrix/block.h"

/* entries.c */
kdr_status kdri_cpu_fill(kdr_context *ctx, kdri_block a, double value);
kdr_status kdri_cpu_copy(kdr_context *ctx, kdri_block from, kdri_block to);
kdr_status kdri_cpu_mirror(kdr_context *ctx, kdri_block a);
kdr_status kdri_cpu_clip(kdr_context *ctx, kdri_block a);
kdr_status kdri_cpu_take(kdr_context *ctx, kdri_block a, const int64_t *index, int64_t count, double *out);
kdr_status kdri_cpu_similarity(kdr_context *ctx, kdri_block k, const double *square, double factor);

/* products.c */
kdr_status kdri_cpu_inverse(kdr_context *ctx, kdri_block a);
kdr_status kdri_cpu_apply(kdr_context *ctx, kdri_block a, kdri_block b, kdri_block c);
kdr_status kdri_cpu_times(kdr_context *ctx, kdri_block a, bool trans, const double *x, double *y);
kdr_status kdri_cpu_row_dots(kdr_context *ctx, kdri_block a, const double *v, double *out);
kdr_status kdri_cpu_multiply(kdr_context *ctx, const kdri_sparse *x, bool turned, kdri_block b, kdri_block y);
kdr_status kdri_cpu_gram(kdr_context *ctx, const kdri_sparse *x, bool turned, const double *weight,
                         kdri_block c);

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

/* rows.c */
kdr_status kdri_cpu_row_nth(kdr_context *ctx, kdri_block a, int64_t place, double *out);
kdr_status kdri_cpu_row_squares(kdr_context *ctx, kdri_block a, double *out);
kdr_status kdri_cpu_square(kdr_context *ctx, kdri_block a, double *out);
kdr_status kdri_cpu_count_from(kdr_context *ctx, kdri_block a, double least, int64_t *out);
kdr_status kdri_cpu_neighbour_limits(kdr_context *ctx, kdri_block c, int64_t first, const double *norm,
                                     int64_t place, double tie, double *least, double *bound, int64_t *count);
kdr_status kdri_cpu_neighbour_weights(kdr_context *ctx, kdri_block c, int64_t first, const double *norm,
                                      double tie, const double *least, const double *bound,
                                      const int64_t *starts, int32_t *col, double *val);

/* factors.c */
kdr_status kdri_cpu_column_dots(kdr_context *ctx, kdri_block a, kdri_block b, double *out);
kdr_status kdri_cpu_ratio_step(kdr_context *ctx, kdri_block y, kdri_block n, kdri_block d, bool careful,
                               kdri_block to);

/* groups.c */
kdr_status kdri_cpu_group_rows(kdr_context *ctx, kdri_block a, const int32_t *label, const int32_t *before,
                               kdri_block sums);
kdr_status kdri_cpu_group_own(kdr_context *ctx, kdri_block sums, const int32_t *label, double *out);
kdr_status kdri_cpu_group_closest(kdr_context *ctx, kdri_block sums, const double *diagonal,
                                  const double *size, const double *self, int32_t *next, double *away);

/* neighbours.c */
kdr_status kdri_cpu_neighbours(kdr_context *ctx, kdri_drows rows, kdri_drows others, const kdri_nn *nn);

#endif
