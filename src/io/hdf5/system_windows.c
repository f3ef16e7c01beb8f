/* Work on an HDF5 file where it cannot be done in a fork, on Windows and in R: in this process. SPDX-License-Identifier:
 * BSD-3-Clause */
#include "io/hdf5/h5.h"

kdr_status kdri_run_apart(kdr_context *ctx, const kdri_child_job *job, void *result, kdri_handed *handed)
{
	(void)handed;
	return job->run(ctx, job->user, result);
}

void kdri_child_progress(int64_t bytes)
{
	(void)bytes;
}
