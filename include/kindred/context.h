/* The context: settings that all calls share. SPDX-License-Identifier: BSD-3-Clause
 *
 * A context holds the allocator, the number of threads, the seed, the progress callback, the time limit and the message of
 * the last error. Use one context per calling thread. */
#ifndef KINDRED_CONTEXT_H
#define KINDRED_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kindred/status.h"

typedef struct kdr_context kdr_context;

/* Where the library gets its memory. All three functions are required and must be thread-safe. Frozen. */
typedef struct kdr_allocator {
	void *(*alloc)(void *user, size_t size);
	void *(*realloc)(void *user, void *ptr, size_t size);
	void (*free)(void *user, void *ptr);
	void *user;
} kdr_allocator;

/* --- creating a context --------------------------------------------------------------------------------------- */

/* Creates a context. `allocator` may be NULL: the functions of the C library are used. Free *out with kdr_context_free.
 * Cost: O(1). */
KDR_API kdr_status kdr_context_new(kdr_context **out, const kdr_allocator *allocator);
/* Frees a context. Data sets, results and models stay valid. NULL is allowed. Cost: O(1). */
KDR_API void kdr_context_free(kdr_context *ctx);

/* Frees memory that a function of this library handed to the caller. NULL is allowed. Cost: O(1). */
KDR_API void kdr_free(kdr_context *ctx, void *ptr);

/* Returns what went wrong in the last call that failed: what was found and what is allowed, on one line. Empty if nothing
 * has failed. The pointer stays valid until the next failure in this context. Cost: O(1). */
KDR_API const char *kdr_context_error(const kdr_context *ctx);

/* --- settings --------------------------------------------------------------------------------------------------- */

/* Sets the number of worker threads. 0 (the default) uses what the process may use according to its CPU affinity, its
 * container's CPU quota or OMP_NUM_THREADS. Results never depend on this number. After a fork, contexts of the child
 * process use one thread. Cost: O(1). */
KDR_API void kdr_context_set_threads(kdr_context *ctx, int threads);
/* Returns the number of worker threads in use; 0 for a NULL context. Cost: O(1). */
KDR_API int kdr_context_threads(const kdr_context *ctx);

/* Sets the seed of all random choices; the default is 1. Cost: O(1). */
KDR_API void kdr_context_set_seed(kdr_context *ctx, uint64_t seed);

/* Sets a time limit in seconds, counted from this call; 0 means no limit. Iterative methods stop when it is reached and
 * keep their best result. This call also restarts the context's clock and clears an earlier cancellation. Cost: O(1). */
KDR_API void kdr_context_set_time_limit(kdr_context *ctx, double seconds);

/* Sets where large matrix products are computed: "auto" (the default: a GPU if one is available and the job is large enough
 * to benefit), "cpu", "cuda" or "cuda:N". NULL means "auto". A GPU needs the plug-in libkindred_cuda.so in a folder of
 * KINDRED_PLUGINS, in the folder of the library or program, or in ../lib from there. Returns KDR_ERR_UNSUPPORTED if the named
 * device is not available and KDR_ERR_ARGUMENT for other names; the context then keeps its device. Cost: O(1); opening a GPU takes about a second. */
KDR_API kdr_status kdr_context_set_device(kdr_context *ctx, const char *name);
/* Writes the available devices into `text`, one per line ("device: cuda:0 NVIDIA H200, ..."), or one line that explains why
 * there are none. `room` is the size of `text`; longer text is cut off. Cost: O(1). */
KDR_API void kdr_device_info(char *text, size_t room);

/* Sets how many bytes the context may allocate; 0 means no limit. A call that needs more fails with KDR_ERR_MEMORY. Methods
 * that vote (auto, auto-transfer) are skipped with a warning instead, as long as others remain. Memory that the context
 * allocates from now on counts until it is freed, with that of its results; mapped files, matrices of the caller and memory of
 * other libraries do not count. Data sets that would leave too little room for a fit stay on disk (kdr_stream). Memory of
 * these data sets is released when the process comes close to the limit; for this, the limit set last in any context
 * applies to the process. Without a limit, an array that is larger than the machine's memory is refused.
 * Cost: O(1); allocating takes about 0.1 us longer. */
KDR_API void kdr_context_set_max_memory(kdr_context *ctx, double bytes);

/* Sets how many bytes a compressed file may unpack to; 0 means the default: 1 GB or, if larger, 10 times the size of an
 * archive (.npz, .xlsx, .mat) and 100 times that of a gzip or HDF5 file. A file that unpacks to more is refused with
 * KDR_ERR_SIZE. Cost: O(1). */
KDR_API void kdr_context_set_max_unpacked(kdr_context *ctx, double bytes);

/* Reads HDF5 files (.h5, .h5ad, MATLAB 7.3, models) in a child process that may take `seconds` seconds plus one second for
 * each megabyte it delivers; 0 (the default) reads them in this process. The HDF5 library crashes on some damaged files and
 * never returns from others: with a child process these are errors of the type KDR_ERR_FORMAT, and cancelling works at
 * once. The child is a fork of this process that runs nothing but HDF5; no other thread may call HDF5 directly while a
 * child is started. Large arrays of the data are then memory shared with the child, not memory of the context's allocator.
 * Cost: O(1). */
KDR_API void kdr_context_set_isolation(kdr_context *ctx, double seconds);

/* Sets whether tables of results have texts that begin with = + - @, a tab or CR as they are. By default an apostrophe is put
 * before these texts, unless they are numbers, so that spreadsheets do not evaluate them as formulas. Cost: O(1). */
KDR_API void kdr_context_set_raw_cells(kdr_context *ctx, bool raw);

/* --- progress and cancelling -------------------------------------------------------------------------------------- */

typedef enum kdr_event_kind {
	KDR_EVENT_START,     /* a stage begins */
	KDR_EVENT_ITERATION, /* a stage advanced: `iteration`, and `objective` if it has one */
	KDR_EVENT_MESSAGE,   /* information, in `message` */
	KDR_EVENT_END,       /* the stage ended */
	KDR_EVENT_WARNING    /* a warning about something that may affect the result, in `message` */
} kdr_event_kind;

/* An event. The library passes it by pointer; it may grow at its end. All pointers are valid during the call only. */
typedef struct kdr_event {
	kdr_event_kind kind;
	const char *stage;   /* such as "read" or "kmeans" */
	const char *message; /* NULL unless `kind` is KDR_EVENT_MESSAGE or KDR_EVENT_WARNING */
	int64_t iteration;   /* progress of the stage, from 0 */
	int64_t total;       /* the largest value `iteration` can reach; 0 if unknown */
	double objective;    /* NaN if the stage has none */
	double seconds;      /* since the context's clock was started */
	/* For a progress bar. A stage may contain other stages; the outermost one with a known end is measured. */
	const char *counted; /* the stage that is measured: this one, or one that contains it */
	double fraction;     /* how much of that stage is done, 0 to 1; NaN if unknown */
	double remaining; /* seconds until it ends, extrapolated from its time so far; NaN in its first two seconds */
	bool at_most; /* the stage may converge earlier: `remaining` is an upper limit */
} kdr_event;

/* Receives events on the calling thread. Return a non-zero value to stop the current call, which then keeps its best result
 * so far; kdr_result_stop() is then KDR_STOP_CANCELLED. */
typedef int (*kdr_progress_fn)(void *user, const kdr_event *event);
/* Sets the progress callback; NULL removes it. `user` is passed to each call. Cost: O(1). */
KDR_API void kdr_context_set_progress(kdr_context *ctx, kdr_progress_fn fn, void *user);

#endif
