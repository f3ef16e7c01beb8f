/* Stability of clusters. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_STABILITY_H
#define KDRI_STABILITY_H

#include "jobs/job.h"

typedef struct kdri_stability {
	kdr_data *const *sets; /* prepared */
	const int64_t *const *labels;
	const int64_t *k;
	int64_t count;
	bool pooled;
} kdri_stability;
/* kdr_stability of data that are prepared. */
kdr_status kdri_job_stability(kdr_context *ctx, kdri_job *job, const kdri_stability *s, int64_t *resamples,
                              double *out);

#endif
