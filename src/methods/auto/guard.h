/* The effect of the other data sets on a task. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_GUARD_H
#define KDRI_GUARD_H

#include "engine/ensemble/ballot.h"

typedef struct kdri_guard {
	double with_alone;   /* NMI of the answer and that of a run alone */
	double with_kmeans;  /* NMI of the answer and the first partition of the ballot */
	double alone_kmeans; /* NMI of these two */
	double own,
	        pooled; /* mean NMI of the answer without transfer and the members without, and with, transfer */
	int64_t moved; /* samples in another cluster than without transfer, after optimal matching of clusters */
	double beyond_noise; /* set by the caller: kdri_beyond_noise; NaN: no time for it */
	double agreement,
	        agreement_alone; /* agreement of members with the answer, and with the answer without transfer:
				    means over the samples */
	bool transfer;           /* some member used other tasks */
	bool carried, compared;  /* set by the caller: clusters come from another task; what moved is known */
	bool large;              /* set by the caller: there are other tasks, but none votes */
	int64_t voted, requested; /* runs that voted, and runs requested */
} kdri_guard;

/* Computes it for the rows of all ranks. `alone`: the answer of a run with this task alone. moved[i] = 1 for each
 * sample that moved; before[i], unless NULL: the number its cluster without transfer has here, below k. */
kdr_status kdri_guard_new(kdr_context *ctx, const kdri_ballot *ballot, const kdri_verdict *answer,
                          const kdri_verdict *alone, int64_t k, int64_t *moved, int64_t *before,
                          kdri_guard *out);

/* Writes advice about the task: a sentence, or several lines. */
void kdri_guard_advice(const kdri_guard *g, int64_t n, int64_t k, const char *name, char *out, size_t room);

#endif
