/* Which device a context computes on. SPDX-License-Identifier: BSD-3-Clause
 *
 * What is carried by a device starts so,
 *
 *     kdri_device *dev = kdri_device_take(ctx, flops);
 *     if (dev) {
 *             st = on_device(ctx, dev, ...);
 *             kdri_device_leave(dev);
 *             if (!kdri_device_gave_up(ctx, st))
 *                     return st;
 *     }
 *     ... on the processor ...
 *
 * and on_device writes no result before it cannot fail any more. The devices of a process are opened once, when somebody first
 * needs one, and stay open. One thread uses a device at a time: others wait in kdri_device_take. */
#ifndef KDRI_USE_H
#define KDRI_USE_H

#include "core/internal.h"
#include "matrix/device.h"

/* The device for work of so many multiplications and additions, or NULL: the processor. With the device named by
 * the user it is that; with `auto` it is one that is there, if the work is worth the way to it. Ended by kdri_device_leave,
 * on the same thread; may be nested. */
kdri_device *kdri_device_take(kdr_context *ctx, double flops);
void kdri_device_leave(kdri_device *d);

/* Whether `st` is a device's own failure (no room, a broken driver) and the work can be done by the processor instead: the
 * user left the choice to the library. Says so in a warning. */
bool kdri_device_gave_up(kdr_context *ctx, kdr_status st);

/* For tests: the context computes on `d`, which is borrowed, as if the user had named it; NULL: the processor. */
void kdri_device_use(kdr_context *ctx, kdri_device *d);

/* What a call of the table means: sets the context's error, which names the device. */
kdr_status kdri_device_status(kdr_context *ctx, const kdri_device *d, kdri_dstatus ds);
#define KDRI_DTRY(ctx, d, call) KDRI_TRY(kdri_device_status((ctx), (d), (call)))

/* --- buffers: memory.c ------------------------------------------------------------------------------------- */

/* The stride of a matrix of so many columns: rows start where libraries like them to. */
static inline int64_t kdri_dmat_stride(int64_t cols)
{
	return cols < 128 ? cols : (cols + 31) / 32 * 32;
}
/* A view of rows x cols with that stride, from the start of a buffer. */
static inline kdri_dmat kdri_dmat_on(kdri_buf *buf, int64_t rows, int64_t cols)
{
	return (kdri_dmat){ buf, 0, rows, cols, kdri_dmat_stride(cols) };
}
/* rows x cols doubles, not set. */
kdr_status kdri_dmat_new(kdr_context *ctx, kdri_device *d, int64_t rows, int64_t cols, kdri_dmat *out);
/* The same from, or to, the host. */
kdr_status kdri_dmat_put(kdr_context *ctx, kdri_device *d, kdri_dmat a, const double *from, int64_t stride);
kdr_status kdri_dmat_get(kdr_context *ctx, kdri_device *d, kdri_dmat a, double *to, int64_t stride);
/* A new one with what the host has. */
kdr_status kdri_dmat_of(kdr_context *ctx, kdri_device *d, const double *from, int64_t rows, int64_t cols,
                        int64_t stride, kdri_dmat *out);
/* Rows row.. and columns col.. of a. */
kdri_dmat kdri_dmat_part(kdri_dmat a, int64_t row, int64_t col, int64_t rows, int64_t cols);
/* The buffer goes back; accepts one that was never made. */
void kdri_dmat_free(kdri_device *d, kdri_dmat *a);
/* As kdri_memory_check, of a device: says what is too much for it before anything is tried. */
kdr_status kdri_device_check(kdr_context *ctx, kdri_device *d, double bytes, const char *what, int64_t rows,
                             int64_t cols);
/* `count` things of `size` bytes. */
kdr_status kdri_dbuf_new(kdr_context *ctx, kdri_device *d, int64_t count, size_t size, kdri_buf **out);
kdr_status kdri_dbuf_put(kdr_context *ctx, kdri_device *d, kdri_buf *buf, const void *from, int64_t count,
                         size_t size);
kdr_status kdri_dbuf_get(kdr_context *ctx, kdri_device *d, const kdri_buf *buf, void *to, int64_t count,
                         size_t size);
/* A sparse matrix; kdri_dcsr_free accepts one that was never made. */
kdr_status kdri_dcsr_of(kdr_context *ctx, kdri_device *d, const kdr_csr *x, kdri_dcsr *out);
void kdri_dcsr_free(kdri_device *d, kdri_dcsr *x);

#endif
