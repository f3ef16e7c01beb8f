/* A device without an accelerator: the processor's operations behind checks. SPDX-License-Identifier: BSD-3-Clause
 *
 * Methods are tested on it as they would run on an accelerator. It checks what an accelerator would crash on: that blocks and vectors lie
 * in its memory, alive and large enough, and that the host's side of a transfer does not. Its addresses are not those of the memory
 * behind them, so that host code that looks at them is stopped by the machine. It limits memory, fails on demand, and counts.
 *
 * Operations that the processor lacks (k-means) and neighbours are plain loops here. */
#ifndef KDRI_STANDIN_H
#define KDRI_STANDIN_H

#include "matrix/block.h"

/* What may be limited, and what is counted. */
typedef struct standin_limits {
	size_t most;     /* bytes all buffers may take; 0: no limit */
	int64_t fail_at; /* the call, counted from 1, that fails; 0: none */
	kdr_status fail_with;
	/* Filled in as it goes, by all handles that have these limits. */
	_Atomic int64_t calls, puts, gets, buffers,
	        pins; /* buffers: alive; pins: of the host's memory, now */
	_Atomic size_t bytes, peak, put_bytes, get_bytes;
} standin_limits;

/* `limits` is borrowed, and may be NULL; memory is the context's. End it with its close. */
kdr_status standin_new(kdr_context *ctx, standin_limits *limits, kdri_device **out);

/* --- for standin*.c alone ---------------------------------------------------------------------------------- */

/* Counts a call and says whether it may go on. */
kdr_status standin_enter(kdri_device *d, const char *name);
/* The memory of `count` things of `size` bytes; NULL, and the error is set: they are not in a buffer that is alive. */
void *standin_vector(kdri_device *d, const char *name, const void *at, int64_t count, size_t size);
/* Blocks of the device become blocks of the processor; NULL ends the list. */
kdr_status standin_views(kdri_device *d, const char *name, kdri_block *const *blocks);
kdr_status standin_csr(kdri_device *d, const char *name, kdri_sparse *x);
kdr_status standin_rows(kdri_device *d, const char *name, kdri_drows *x);
/* Shapes that do not go together. */
kdr_status standin_misfit(kdri_device *d, const char *name);
/* What the processor returned. */
kdr_status standin_status(kdr_context *ctx, kdri_device *d, kdr_status st);

#define STANDIN_TRY(call) \
	do { \
		kdr_status st_ = (call); \
		if (st_ != KDR_OK) \
			return st_; \
	} while (0)
/* Begins an operation on blocks. */
#define STANDIN_BEGIN(d, name, ...) \
	STANDIN_TRY(standin_enter((d), (name))); \
	STANDIN_TRY(standin_views((d), (name), (kdri_block *const[]){ __VA_ARGS__, NULL }))

/* standin_kmeans.c: puts its operations into the table. */
void standin_kmeans(kdri_device *d);

#endif
