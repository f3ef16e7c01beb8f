/* The votes on one target, and their result. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_TRANSFER_TALLY_H
#define KDRI_TRANSFER_TALLY_H

#include "engine/ensemble/frame.h"
#include "methods/transfer_auto/verdict.h"

enum { KDRI_TRANSFER_CLUSTERINGS = 2 };

typedef struct kdri_transfer_tally {
	kdr_context *ctx;
	const kdri_transfer_options *o;
	kdri_frame frame;
	kdri_domains d;
	kdri_transfer_views v;
	kdri_transfer_work shared;
	int64_t first, n, c;                       /* the target's rows, and classes that have samples */
	double *posteriors[KDRI_TRANSFER_MEMBERS]; /* n x c each */
	int32_t *votes[KDRI_TRANSFER_MEMBERS], *clusters[KDRI_TRANSFER_CLUSTERINGS];
	int64_t k[KDRI_TRANSFER_CLUSTERINGS], clusterings;
	bool was_run[KDRI_TRANSFER_MEMBERS];
	int64_t round, rounds; /* this is one of several rounds of all members, for progress */
	double *p, *mean;      /* all rows x c; n x c: mean of the posteriors */
	double *vote, *near;   /* n x c */
} kdri_transfer_tally;

/* Domains, views and room for votes; `problem` has sources and one target, its last task. */
kdr_status kdri_transfer_tally_begin(kdri_transfer_tally *w, const kdr_problem *problem);
/* Whether member m votes only if it leads on held-out source samples. */
static inline bool kdri_transfer_must_lead(const kdri_transfer_options *o, int64_t m)
{
	return kdri_transfer_members[m].curved && !o->tables && o->only != m;
}
/* turns.c: runs the members that are wanted and takes their votes. A member that fails is skipped, and one that is not
 * suitable for the data is not run. */
kdr_status kdri_transfer_tally_ask(kdri_transfer_tally *w, const bool *wanted);
/* The class that most of svm, logreg and msda vote for, svm's if all differ; -1 without a vote of svm. */
int64_t kdri_transfer_tally_majority(const kdri_transfer_tally *w, int64_t i);
/* Withdraws the vote of member m. */
void kdri_transfer_tally_drop(kdri_transfer_tally *w, int64_t m);

/* Allocates the votes; domains and views must be set. */
kdr_status kdri_transfer_tally_room(kdr_context *ctx, kdri_transfer_tally *w);
void kdri_transfer_tally_free(kdr_context *ctx, kdri_transfer_tally *w);
/* An empty tally, which is safe to free. */
kdri_transfer_tally kdri_transfer_tally_empty(kdr_context *ctx, const kdri_transfer_options *options,
                                              kdr_result *result);

/* Makes p, all rows x c, the vote of member m; rows of known class vote for it. */
kdr_status kdri_transfer_tally_take(kdri_transfer_tally *w, int64_t m, const double *p);
/* Clusters the target, unless this was done before, and votes. */
kdr_status kdri_transfer_tally_vote(kdri_transfer_tally *w);
/* Stores everything in the verdict that follows from the votes. */
kdr_status kdri_transfer_tally_fill(kdri_transfer_tally *w, kdri_transfer_verdict *v);

#endif
