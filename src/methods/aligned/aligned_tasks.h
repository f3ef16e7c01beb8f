/* Sources and targets in the directions they share: the basis of aligned-ridge and ot-prototypes.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_ALIGNED_TASKS_H
#define KDRI_ALIGNED_TASKS_H

#include "api/method.h"
#include "methods/common/domains.h"

typedef struct kdri_aligned_tasks {
	kdri_domains d;
	double *e; /* n x width: each task minus its own mean, unit rows, leading directions, unit rows */
	int64_t width;
} kdri_aligned_tasks;

/* `most`: maximum number of directions; 0: 100. */
kdr_status kdri_aligned_tasks_new(kdr_context *ctx, const kdr_problem *problem, int64_t most,
                                  kdr_result *result, kdri_aligned_tasks *out);
void kdri_aligned_tasks_free(kdr_context *ctx, kdri_aligned_tasks *t);

#define KDRI_OPTION_DIRECTIONS \
	KDRI_INT("directions", 0, 0, 1e6, \
	         "number of leading principal directions of all data sets, each minus its own mean; 0: 100", \
	         .automatic = "100")

#endif
