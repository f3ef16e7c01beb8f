/* What company did to a task. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_GUARD_H
#define KDRI_GUARD_H

#include "engine/ensemble/ballot.h"

typedef struct kdri_guard {
	double with_alone;   /* NMI of the answer and that of the members without transfer */
	double with_kmeans;  /* NMI of the answer and the first partition of the ballot */
	double alone_kmeans; /* NMI of these two */
	double own, pooled;  /* mean NMI of members without, with transfer and the answer without */
	int64_t moved;       /* samples in another cluster than without transfer, clusters matched as well as
	                         they can be */
	double beyond_noise; /* the caller's: kdri_beyond_noise; NaN: no time for it */
	double agreement,
	        agreement_alone; /* of members with the answer, with the one without transfer: means over the samples */
	bool transfer;           /* some member saw other tasks */
	bool large;              /* the caller's: there are others, and none has a vote */
	int64_t voted, asked; /* runs; fewer where time was short */
} kdri_guard;

/* Of the rows of all ranks. `alone`: the answer of the members without transfer. moved[i] = 1 for each sample that moved;
 * before[i], unless NULL: the number its cluster without transfer has here. */
kdr_status kdri_guard_new(kdr_context *ctx, const kdri_ballot *ballot, const kdri_verdict *answer,
                          const kdri_verdict *alone, int64_t k, int64_t *moved, int64_t *before,
                          kdri_guard *out);

/* One sentence about the task. */
void kdri_guard_advice(const kdri_guard *g, int64_t n, int64_t k, const char *name, char *out, size_t room);

#endif
