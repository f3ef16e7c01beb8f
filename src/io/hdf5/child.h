/* Work on an HDF5 file in a child process. SPDX-License-Identifier: BSD-3-Clause
 *
 * HDF5's parser crashes on some damaged files, and does not return for others. With kdr_context_set_isolation, a child process therefore opens
 * the file, does one job, such as reading a data set or adding columns to a file, and ends. Without isolation the same
 * function runs in this process.
 *
 * The child allocates from an arena: memory, or a scratch file if the data stay on disk, that both processes have mapped
 * at the same address. The data and pointers that it leaves there are therefore valid in the parent. The parent checks
 * every pointer before it uses one, takes over the large arrays where they are and copies the rest.
 *
 * The child is a fork, so that a library can start it. This is safe although the parent may have threads: the child runs
 * only HDF5, malloc (which the C library keeps usable after a fork) and the readers of this folder with a context of one
 * thread. It prints nothing and ends with _exit. No thread of this library holds HDF5's lock while it is forked (h5.c). */
#ifndef KDRI_CHILD_H
#define KDRI_CHILD_H

#include "core/internal.h"

/* Does the work and fills the result, whose pointers are allocated by `ctx`. */
typedef kdr_status (*kdri_child_run)(kdr_context *ctx, const void *user, void *result);

typedef struct kdri_child_job {
	const char *path; /* of the HDF5 file */
	double file_bytes;
	bool changes; /* it changes the file rather than reads it */
	kdri_child_run run;
	const void *user;   /* its input */
	size_t result_size; /* bytes of the result, which may be 0 */
} kdri_child_job;

/* The results of a child in its arena. Starts zeroed; kdri_handed_free unmaps everything that was not taken over. */
enum { KDRI_HANDED_ARRAYS = 8, KDRI_HANDED_LARGE = 1 << 16 };
typedef struct kdri_handed {
	const char *path;
	char *begin; /* the arena; NULL: the job ran in this process, and its result can be used directly */
	size_t size, head;
	int fd; /* scratch file, or -1 */
	int ntaken;
	struct {
		char *at;
		size_t bytes;
	} taken[KDRI_HANDED_ARRAYS]; /* whole pages */
} kdri_handed;

/* Runs the job, in a child process if isolation is set and the system has fork (Windows does not). `result` is passed to the job, and is changed only if the job
 * succeeds. */
kdr_status kdri_run_apart(kdr_context *ctx, const kdri_child_job *job, void *result, kdri_handed *handed);
/* Whether `count` elements of `size` bytes at `at`, or a string and its end, lie in the arena. */
bool kdri_handed_holds(const kdri_handed *handed, const void *at, int64_t count, size_t size);
bool kdri_handed_text(const kdri_handed *handed, const char *text);
/* Takes over `count` elements of `size` bytes at `at`; NULL stays NULL. */
kdr_status kdri_handed_array(kdr_context *ctx, kdri_handed *handed, const void *at, int64_t count,
                             size_t size, void *out);
/* Copies `count` strings; NULL stays NULL. */
kdr_status kdri_handed_strings(kdr_context *ctx, const kdri_handed *handed, char *const *strings,
                               int64_t count, char ***out);
void kdri_handed_free(kdri_handed *handed);
/* The error for an invalid result of a child: KDR_ERR_FORMAT. */
kdr_status kdri_handed_damaged(kdr_context *ctx, const kdri_handed *handed);

/* Records that `bytes` bytes of a file have been read, because large files may take longer. Does nothing outside a
 * child. */
void kdri_child_progress(int64_t bytes);

#endif
