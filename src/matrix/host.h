/* The table of operations on host memory. SPDX-License-Identifier: BSD-3-Clause
 *
 * What a device must do, in plain C: plug-ins are compared with it, and methods are tested over it where there is no
 * accelerator. It checks what an accelerator would crash on: that buffers are its own, alive and large enough, and that what is
 * put or got lies outside of them. */
#ifndef KDRI_HOST_H
#define KDRI_HOST_H

#include "core/internal.h"
#include "matrix/device.h"

/* What may be limited, and what is counted. */
typedef struct kdri_host_limits {
	size_t most;     /* bytes all buffers may take; 0: no limit */
	int64_t fail_at; /* the call, counted from 1, that fails; 0: none */
	kdri_dstatus fail_with;
	/* Filled in as it goes. */
	int64_t calls, puts, gets, buffers, pins; /* buffers: alive; pins: of the host's memory, now */
	size_t bytes, peak, put_bytes, get_bytes;
} kdri_host_limits;

/* `limits` is borrowed, and may be NULL. End it with its close. */
kdr_status kdri_host_device_new(kdr_context *ctx, kdri_host_limits *limits, kdri_device **out);

/* --- for host.c, host_rows.c and host_sparse.c alone --------------------------------------------------------------------- */

enum { KDRI_HOST_BUFFERS = 512, KDRI_HOST_PINS = 16 };

struct kdri_buf {
	size_t bytes;
	unsigned char *data;
};

typedef struct kdri_host {
	kdr_context *ctx;
	kdri_host_limits own, *limits;
	kdri_buf *live[KDRI_HOST_BUFFERS];
	const void *pinned[KDRI_HOST_PINS];
} kdri_host;

/* Counts a call and says whether it may go on. */
kdri_dstatus kdri_host_enter(kdri_device *d, const char *name);
/* Where a view starts, or NULL (and the error is set): it is no buffer of this device, or too small. */
double *kdri_host_view(kdri_device *d, const char *name, kdri_dmat a);
/* Where a buffer of at least `count` things of `size` bytes starts; NULL as above. */
void *kdri_host_vector(kdri_device *d, const char *name, const kdri_buf *buf, int64_t count, size_t size);
/* Says that matrices do not go together; fails. */
kdri_dstatus kdri_host_misfit(kdri_device *d, const char *name);
/* A failure of the library inside of an operation. */
kdri_dstatus kdri_host_status(kdri_device *d, kdr_status st);

#define KDRI_HOST_ENTER(d, name) \
	do { \
		kdri_dstatus entered = kdri_host_enter((d), (name)); \
		if (entered != KDRI_D_OK) \
			return entered; \
	} while (0)
#define KDRI_HOST_NEED(pointer) \
	do { \
		if (!(pointer)) \
			return KDRI_D_FAILED; \
	} while (0)

/* The parts of a sparse matrix, checked. */
bool kdri_host_csr(kdri_device *d, const char *name, kdri_dcsr x, kdr_csr *out);

/* What `nearest` writes; false: a buffer is none. */
typedef struct kdri_host_near {
	const double *offset, *twice, *norm;
	double error_row, error_base;
	int32_t *label;
	double *value;
	int32_t *doubt;
	int64_t doubts;
} kdri_host_near;
bool kdri_host_nearest_of(kdri_device *d, int64_t rows, int64_t k, const kdri_buf *offset,
                          const kdri_buf *twice, const kdri_buf *norm, double error_row, double error_base,
                          kdri_buf *label, kdri_buf *value, kdri_buf *doubt, kdri_host_near *out);
/* Row i with its products with k centres. */
void kdri_host_nearest_row(kdri_host_near *to, int64_t i, int64_t k, const double *dots);

/* What `sums` reads and writes, begun where nothing is added to; false: a buffer is none. */
typedef struct kdri_host_groups {
	const int32_t *list;
	const double *coef, *unit;
	double ratio, *sums;
	int64_t stride, cols; /* of the sums; of the rows */
} kdri_host_groups;
bool kdri_host_groups_of(kdri_device *d, const char *name, int64_t rows, int64_t cols, const kdri_buf *list,
                         const int64_t *begin, const kdri_buf *coef, const kdri_buf *unit, double ratio,
                         bool add, kdri_dmat sums, kdri_host_groups *out);
/* The row at place `at` of the list, and what it is multiplied by. */
int64_t kdri_host_listed(const kdri_host_groups *g, int64_t at, double *weight);
/* Adds to the sum of group j and column f. */
void kdri_host_add(const kdri_host_groups *g, int64_t j, int64_t f, double term);

/* What `neighbours` writes, begun where it is fresh; false: a buffer is none. */
typedef struct kdri_host_lists {
	const kdri_nn *nn;
	const double *factor, *shift;
	int32_t *index;
	double *best;
} kdri_host_lists;
bool kdri_host_lists_of(kdri_device *d, const kdri_nn *nn, int64_t rows, int64_t others,
                        kdri_host_lists *out);
/* Row r of those that ask meets row q of the others, with which its product is p. */
void kdri_host_meet(const kdri_host_lists *to, int64_t r, int64_t q, double p);

/* host_sparse.c: and those on sparse rows. */
void kdri_host_sparse(kdri_device *d);
/* host_rows.c: puts the operations on rows, of k-means and of neighbours into the table. */
void kdri_host_rows(kdri_device *d);

#endif
