/* The context: what every call shares. SPDX-License-Identifier: BSD-3-Clause
 *
 * A context holds the allocator, the number of threads, the seed, the progress callback, the time
 * limit and the last error's detail. Use one context per calling thread. */
#ifndef KINDRED_CONTEXT_H
#define KINDRED_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kindred/status.h"

typedef struct kdr_context kdr_context;

/* Where the library gets its memory. All three functions must be given, and be thread-safe. */
typedef struct kdr_allocator {
	void *(*alloc)(void *user, size_t size);
	void *(*realloc)(void *user, void *ptr, size_t size);
	void (*free)(void *user, void *ptr);
	void *user;
} kdr_allocator;

typedef enum kdr_event_kind {
	KDR_EVENT_START,     /* a stage begins */
	KDR_EVENT_ITERATION, /* a stage advanced: iteration, and objective where it has one */
	KDR_EVENT_MESSAGE,   /* something worth telling, in `message` */
	KDR_EVENT_END,       /* the stage ended */
	KDR_EVENT_WARNING    /* something that may spoil the result, in `message` */
} kdr_event_kind;

typedef struct kdr_event {
	kdr_event_kind kind;
	const char *stage;   /* such as "read" or "kmeans"; valid during the call */
	const char *message; /* NULL unless kind is KDR_EVENT_MESSAGE or KDR_EVENT_WARNING */
	int64_t iteration;   /* how far the stage is, from 0 */
	int64_t total;       /* where it will end at the latest; 0 if unknown */
	double objective;    /* NaN where there is none */
	double seconds;      /* since the context's clock was started */
	/* For a progress bar. Stages may contain others; the fraction is that of the outermost one whose end is known. */
	const char *counted; /* the stage that the fraction counts: this one, or one that contains it */
	double fraction;     /* of that stage, 0 to 1; NaN if it is not known how much is left */
	double remaining; /* seconds until it ends, from the time it took so far; NaN in its first two seconds */
	bool at_most;     /* it may converge before: `remaining` is an upper limit */
} kdr_event;

/* Called on the caller's own thread. A non-zero return asks the library to stop and to keep the best
 * result so far; kdr_result_stop() then says KDR_STOP_CANCELLED. */
typedef int (*kdr_progress_fn)(void *user, const kdr_event *event);

/* Creates a context. `allocator` may be NULL: the C library's functions. */
KDR_API kdr_status kdr_context_new(kdr_context **out, const kdr_allocator *allocator);
KDR_API void kdr_context_free(kdr_context *ctx);

/* Worker threads; 0 (the default) takes what this process may use: by affinity, by a container's share of processor
 * time, or by OMP_NUM_THREADS. Results never depend on it. Where a process that has run in several threads is forked,
 * contexts of the child have one: threads do not come along. */
KDR_API void kdr_context_set_threads(kdr_context *ctx, int threads);
KDR_API int kdr_context_threads(const kdr_context *ctx);

KDR_API void kdr_context_set_seed(kdr_context *ctx, uint64_t seed); /* default 1 */
KDR_API uint64_t kdr_context_seed(const kdr_context *ctx);

KDR_API void kdr_context_set_progress(kdr_context *ctx, kdr_progress_fn fn, void *user);

/* Seconds from this call on after which iterative methods stop and keep their best; 0: no limit.
 * Also restarts the context's clock and forgets an earlier cancellation. */
KDR_API void kdr_context_set_time_limit(kdr_context *ctx, double seconds);

/* Where the large products are computed: "auto" (the default: a GPU where one is there and the work is worth it), "cpu",
 * "cuda" or "cuda:N". A GPU needs the plug-in libkindred_cuda.so in a folder of KINDRED_PLUGINS, beside
 * the library or program, or in ../lib from there.
 * KDR_ERR_UNSUPPORTED where a device is named that is not there, KDR_ERR_ARGUMENT for other names; the context is then
 * as it was. */
KDR_API kdr_status kdr_context_set_device(kdr_context *ctx, const char *name);
KDR_API const char *kdr_context_device(const kdr_context *ctx);

/* The devices that can be used, a line each ("device: cuda:0 NVIDIA H200, ..."), or one line that says why there are none. */
KDR_API void kdr_device_info(char *text, size_t room);

/* Bytes of memory that may be used; 0: no limit. A job that is estimated to need more (kdr_estimate_bytes) is refused before
 * it starts, with KDR_ERR_MEMORY. Data sets that are read with it in force stay on disk where they would not
 * leave room for a fit (kdr_stream), and of these a thread gives back what is in memory when the process as a whole comes
 * near the limit, the last that was set in any context. */
KDR_API void kdr_context_set_max_memory(kdr_context *ctx, double bytes);
KDR_API double kdr_context_max_memory(const kdr_context *ctx);

/* Reads HDF5 files (.h5, .h5ad, MATLAB 7.3, models) in a child process, which may take this many seconds and one more for
 * each megabyte that it reads; 0 (the default) reads them in this process. The HDF5 library crashes on some damaged files
 * and never returns from others: with a child process that is a KDR_ERR_FORMAT like any other, and cancelling works at
 * once. The child is a fork of this process that only reads the one file. No other thread may call HDF5 itself while a
 * child is started. Large arrays of the data set are then memory that was shared with the child, not memory of the
 * context's allocator. */
KDR_API void kdr_context_set_isolation(kdr_context *ctx, double seconds);

/* What went wrong in the last call that failed: what was found and what is allowed, on one line.
 * Empty if nothing has failed. The pointer stays valid until the context's next failure. */
KDR_API const char *kdr_context_error(const kdr_context *ctx);

#endif
