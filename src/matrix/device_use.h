/* Which device a context computes on, and the matrices that it holds. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_DEVICE_USE_H
#define KDRI_DEVICE_USE_H

#include "matrix/block.h"
#include "matrix/linalg.h"

/* Which device a context computes on.
 *
 * A method that can run on a device is one function,
 *
 *     static kdr_status run(kdr_context *ctx, kdri_device *dev, void *user);
 *     ...
 *     KDRI_TRY(kdri_compute(ctx, flops, run, &work));
 *
 * which is called with an accelerator or with the CPU. If the library chose the accelerator and it fails, the function
 * is called once more with the CPU. It must therefore not write results while it can still fail. The devices of a
 * process stay open once they are opened: by a thread of its own for a device that the user named and while large files
 * are read, otherwise when a device is first needed.
 *
 * Jobs side by side (core/side_by_side.h) use a card at the same time: each has a handle of its own with its own
 * stream, and a part of the memory. All others use a card one at a time and have all of its memory. */

typedef kdr_status kdri_compute_fn(kdr_context *ctx, kdri_device *dev, void *user);
/* `flops`: the estimated number of multiplications and additions. */
kdr_status kdri_compute(kdr_context *ctx, double flops, kdri_compute_fn *run, void *user);

/* The same work, counted as kdri_compute needs it if the products are of thin matrices: they are bound by memory, and more
 * than three threads hardly make them faster. Measured on 16 cores: 2.4 times (mtcfir) and 6.2 times (snmf). */
static inline double kdri_thin_flops(const kdr_context *ctx, double flops)
{
	return flops * KDRI_MAX(1, ctx->threads / 3.0);
}

/* The device for work of `flops` multiplications and additions: the one that the user named; with `auto` an available
 * one, if the work is large enough to benefit; otherwise the CPU. NULL: the one that the user named cannot be opened, which is an
 * error of the context. Ended by kdri_device_leave on the same thread; may be nested. */
kdri_device *kdri_device_take(kdr_context *ctx, double flops);
void kdri_device_leave(kdri_device *d);

/* Whether `st` is a failure of an accelerator (out of memory, a broken driver) and the CPU can do the work instead,
 * because the user left the choice to the library. In that case there is a warning, and the context uses the CPU from
 * now on. */
bool kdri_device_gave_up(kdr_context *ctx, kdr_status st);

/* For tests: the context computes on `d`, which is borrowed, as if the user had named it; NULL: on the CPU. */
void kdri_device_use(kdr_context *ctx, kdri_device *d);

/* Returns KDR_ERR_MEMORY with the sizes if work needs more bytes than a device has; KDR_OK for the processor. */
kdr_status kdri_device_check(kdr_context *ctx, kdri_device *d, double bytes, const char *what, int64_t rows,
                             int64_t cols);

/* device_plugin.c: the plug-in with the devices of this machine, which stays loaded; NULL: not available, with the
 * reason in `why`. */
const kdri_plugin *kdri_plugin_find(char *why, size_t room);
/* Whether there is a file that may be the plug-in. */
bool kdri_plugin_exists(void);

/* Matrices that a device holds.
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
