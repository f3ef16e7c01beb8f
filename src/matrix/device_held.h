/* Matrices that a device holds. SPDX-License-Identifier: BSD-3-Clause
 *
 * A method that multiplies the same matrix by few columns again and again asks for it to be held,
 *
 *     kdri_held *held = NULL;
 *     KDRI_TRY(kdri_hold(ctx, x, true, k, flops, &held));
 *     ... kdri_mat_mul(ctx, x, ...), kdri_mat_tmul(ctx, x, ...), operators made of x ...
 *  done:
 *     kdri_unhold(ctx, held);
 *
 * and the products of matrix/mat.c are then the device's: of x itself, or of some of its rows where it is dense. The columns go there and
 * the products come back; x goes once, or the part of it that fits. Only the thread that asked for it computes there. */
#ifndef KDRI_HELD_H
#define KDRI_HELD_H

#include "matrix/device_use.h"
#include "matrix/linalg.h"

/* x, which is borrowed, and with `turned` x' too. k: as many columns as most products will have; flops: of all of them. *out is NULL
 * where the work is not worth the way: the processor does it. */
kdr_status kdri_hold(kdr_context *ctx, const kdr_mat *x, bool turned, int64_t k, double flops,
                     kdri_held **out);
/* In any order; accepts NULL. */
void kdri_unhold(kdr_context *ctx, kdri_held *held);

/* For `count` leading directions of x by so many rounds: kdri_leading. */
kdr_status kdri_hold_leading(kdr_context *ctx, const kdr_mat *x, int64_t count, int rounds, kdri_held **out);

/* Multiplications and additions of x times one column. */
double kdri_held_flops(const kdr_mat *x);

#endif
