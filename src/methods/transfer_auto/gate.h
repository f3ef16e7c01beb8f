/* How well members of a transfer's ensemble predict held-out source samples. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_TRANSFER_GATE_H
#define KDRI_TRANSFER_GATE_H

#include "methods/transfer_auto/verdict.h"

typedef struct kdri_transfer_gate {
	bool done;                              /* false: the other members are not set */
	double accuracy[KDRI_TRANSFER_MEMBERS]; /* on held-out samples; NaN: the member did not run */
	double majority;                        /* proportion of the largest class */
	/* classes of the problem, squared: entry (j, k) counts the held-out samples of class k for which most of svm, logreg and msda
	 * vote j */
	double *confusion;
} kdri_transfer_gate;

/* `problem` has sources and one target, which is not used. The gate is skipped (not done) if there are too few labelled
 * samples, and if the time limit is near. Only running out of memory is a failure, which the
 * caller ignores if the reason is the limit on memory. */
kdr_status kdri_transfer_gate_new(kdr_context *ctx, const kdr_problem *problem,
                                  const kdri_transfer_options *options, kdri_transfer_gate *out);
void kdri_transfer_gate_free(kdr_context *ctx, kdri_transfer_gate *g);

/* Which of `count` members do not vote, by their accuracy (NaN: it votes unless it must lead). must_lead: members that vote only if they
 * lead; excluded: KDRI_TRANSFER_VOTES, _INACCURATE or _NO_LEAD. */
void kdri_transfer_gate_exclude(const double *accuracy, const bool *must_lead, int64_t count, double majority,
                                kdri_transfer_exclusion *excluded);

#endif
