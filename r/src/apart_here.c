/* Runs jobs on HDF5 files in this process: replaces io/hdf5/apart.c. SPDX-License-Identifier: BSD-3-Clause
 *
 * The package never isolates HDF5, because a fork of R must not return, and packages may not call _exit. Nothing is
 * therefore handed over by another process. */
#include "io/hdf5/apart.h"

kdr_status kdri_run_apart(kdr_context *ctx, const kdri_apart_job *job, void *result, kdri_handed *handed)
{
	(void)handed;
	return job->run(ctx, job->user, result);
}

bool kdri_handed_holds(const kdri_handed *handed, const void *at, int64_t count, size_t size)
{
	(void)handed, (void)at, (void)count, (void)size;
	return false;
}

bool kdri_handed_text(const kdri_handed *handed, const char *text)
{
	(void)handed, (void)text;
	return false;
}

kdr_status kdri_handed_damaged(kdr_context *ctx, const kdri_handed *handed)
{
	return kdri_fail(ctx, KDR_ERR_INTERNAL, "%s: no other process has read this file",
	                 handed->path ? handed->path : "");
}

kdr_status kdri_handed_array(kdr_context *ctx, kdri_handed *handed, const void *at, int64_t count,
                             size_t size, void *out)
{
	(void)at, (void)count, (void)size, (void)out;
	return kdri_handed_damaged(ctx, handed);
}

kdr_status kdri_handed_strings(kdr_context *ctx, const kdri_handed *handed, char *const *strings,
                               int64_t count, char ***out)
{
	(void)strings, (void)count, (void)out;
	return kdri_handed_damaged(ctx, handed);
}

void kdri_handed_free(kdri_handed *handed)
{
	(void)handed;
}

void kdri_apart_progress(int64_t bytes)
{
	(void)bytes;
}
