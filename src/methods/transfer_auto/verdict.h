/* What an ensemble says of one target. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_TRANSFER_VERDICT_H
#define KDRI_TRANSFER_VERDICT_H

#include "methods/transfer_auto/members.h"

enum { KDRI_PLAIN_SVM, KDRI_PLAIN_LOGREG, KDRI_PLAIN };

typedef struct kdri_transfer_options {
	kdri_transfer_joins joins;
	int64_t rounds;
	bool follow_shares; /* members are asked again where shares moved */
	int64_t only;       /* one member alone, or -1 */
	bool plain;         /* also what plain classifiers would say, and how far the sets are apart */
	bool tables;        /* columns in different units: the members for tables vote, too */
	bool gate;          /* members that predict held-out source samples poorly do not vote */
} kdri_transfer_options;

/* Why a member does not vote. */
typedef enum kdri_transfer_exclusion {
	KDRI_TRANSFER_VOTES,
	KDRI_TRANSFER_INACCURATE, /* on held-out source samples: gate.c */
	KDRI_TRANSFER_NO_LEAD,    /* it votes only if it leads there, and does not: gate.c */
	KDRI_TRANSFER_OVERLAP,    /* it centres each data set, and source and target overlap: shares.c */
} kdri_transfer_exclusion;

/* Classes are those of the problem. */
typedef struct kdri_transfer_verdict {
	int64_t n, classes;
	int64_t *answer;                         /* n */
	int64_t *votes;                          /* members x n; -1 of those left out */
	double *posterior;                       /* n x classes: mean over the members */
	double *confidence;                      /* n: estimated chance that the answer is right */
	double *sure;                            /* n: the same before it is calibrated */
	double *shares;                          /* classes x 2: of the labelled samples, of the answers */
	bool used[KDRI_TRANSFER_MEMBERS];        /* members that voted */
	char name[KDRI_TRANSFER_MEMBERS][96];    /* what they are called */
	double agreement[KDRI_TRANSFER_MEMBERS]; /* the share of samples where each says what the answer is */
	double heldout[KDRI_TRANSFER_MEMBERS]; /* of excluded members: accuracy on held-out source samples */
	kdri_transfer_exclusion excluded[KDRI_TRANSFER_MEMBERS];
	int64_t *plain[KDRI_PLAIN]; /* n: what these would say */
	double *pi;                 /* classes: estimated shares in the target; NULL: not estimated */
	int64_t *confused; /* classes: the class most often confused with each on held-out samples, or -1 */
	double right;      /* of the svm, in cross-validation on what is known; NaN: not found */
	double distance;   /* A-distance of source and target; NaN: not found */
	bool late;         /* members were left out for want of time */
	bool followed;     /* shares moved, and the members that go by means were asked again */
	bool few;
	double *unlike; /* n: rank by how little each sample is like the source, 0 to 1; NULL: not found */
	int64_t *cluster, clusters; /* n: its cluster in the target, one of `clusters`; NULL: not found */
} kdri_transfer_verdict;

/* `problem` has sources and one target, its last task. Members that fail are left out, and `result` says so (NULL: nobody
 * is told); only a lack of memory is a failure, or that none was left. */
kdr_status kdri_transfer_verdict_new(kdr_context *ctx, const kdr_problem *problem,
                                     const kdri_transfer_options *options, kdr_result *result,
                                     kdri_transfer_verdict *out);
/* Whether task `target` can only be reached through a bridge: there is one, and the sources have other features, or nearly
 * nothing of what the target has. */
kdr_status kdri_transfer_needs_bridge(kdr_context *ctx, const kdr_problem *problem, int64_t target,
                                      bool *out);
/* The same vote where `problem` has bridges: members are ttl and nmtf through each of them, at most five. Where source and target have
 * different widths, bridges are first views and then, in the same order, second views. */
kdr_status kdri_transfer_bridged_new(kdr_context *ctx, const kdr_problem *problem, int64_t target,
                                     const kdri_transfer_options *options, kdr_result *result,
                                     kdri_transfer_verdict *out);
void kdri_transfer_verdict_free(kdr_context *ctx, kdri_transfer_verdict *v);

#endif
