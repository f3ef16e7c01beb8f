/* What auto reports in addition to labels. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_AUTO_REPORT_H
#define KDRI_AUTO_REPORT_H

#include "core/links.h"
#include "engine/ensemble/members.h"

/* The state of a run of auto. */
typedef struct kdri_auto {
	const kdr_problem *problem;
	const kdr_options *options;
	kdr_result *result;
	const kdri_member *members;
	int64_t nmembers;
	int64_t T, *k;
	kdri_views views;
	kdri_ballot *ballots; /* T */
	kdri_given **given;   /* T: what runs of each task alone have found, or NULL */
	bool *has;            /* T: members that use one task and the graph are those */
	bool derived;         /* of fits with other numbers of clusters */
	kdri_links *links;    /* T: what is known about the samples; NULL: nothing */
	kdri_verdict *answers,
	        *alone; /* T each; alone: of the members that use one task, if no job has run each task alone, otherwise empty */
} kdri_auto;

/* find_k.c: sets k[t] of the tasks without a given number of clusters, and reports the evidence for it. If the time ends before, the number is
 * found from what is known until then, and the result has a warning. */
kdr_status kdri_auto_find_k(kdr_context *ctx, kdri_auto *a);

/* Reports centroids, correspondence, relatedness, the guard and its advice, and which members voted. */
kdr_status kdri_auto_report(kdr_context *ctx, const kdri_auto *a);

#endif
