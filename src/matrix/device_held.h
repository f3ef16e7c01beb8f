/* Matrices that a device holds. SPDX-License-Identifier: BSD-3-Clause
 *
 * A method that multiplies the same matrix by few columns many times lets the device hold it,
 *
 *     kdri_held *held = NULL;
 *     KDRI_TRY(kdri_hold(ctx, x, true, k, flops, &held));
 *     ... kdri_mat_mul(ctx, x, ...), kdri_mat_tmul(ctx, x, ...), operators made of x ...
 *  done:
 *     kdri_unhold(ctx, held);
 *
 * and the products of matrix/mat.c then run on the device: products with x itself, or with some of its rows if it is
 * dense. Columns and products are transferred each time; x, or the part of it that fits, is transferred once. Only the
 * thread that made the call computes there. */
#ifndef KDRI_HELD_H
#define KDRI_HELD_H

#include "matrix/device_use.h"
#include "matrix/linalg.h"

/* Holds x, which is borrowed, and with `turned` also x'. k: the number of columns of most products; flops: of all
 * products. *out is NULL if the CPU is faster overall and does the work. */
kdr_status kdri_hold(kdr_context *ctx, const kdr_mat *x, bool turned, int64_t k, double flops,
                     kdri_held **out);
/* Can be called in any order; accepts NULL. */
void kdri_unhold(kdr_context *ctx, kdri_held *held);

/* The same for `count` leading directions of x with `rounds` rounds of kdri_leading. */
kdr_status kdri_hold_leading(kdr_context *ctx, const kdr_mat *x, int64_t count, int rounds, kdri_held **out);

/* Multiplications and additions of x times one column. */
double kdri_held_flops(const kdr_mat *x);

#endif
