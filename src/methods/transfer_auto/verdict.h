/* The result of an ensemble for one target. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_TRANSFER_VERDICT_H
#define KDRI_TRANSFER_VERDICT_H

#include "methods/transfer_auto/members.h"

enum { KDRI_PLAIN_SVM, KDRI_PLAIN_LOGREG, KDRI_PLAIN };

typedef struct kdri_transfer_options {
	kdri_transfer_joins joins;
	int64_t rounds;
	bool follow_shares; /* members are run again if class proportions have changed */
	int64_t only;       /* use only this member, or -1 */
	bool plain;         /* also run plain classifiers, and measure the distance between the data sets */
	bool tables;        /* columns have different units: the members for tables also vote */
	bool gate;          /* members that predict held-out source samples poorly do not vote */
} kdri_transfer_options;

/* Why a member does not vote. */
typedef enum kdri_transfer_exclusion {
	KDRI_TRANSFER_VOTES,
	KDRI_TRANSFER_INACCURATE, /* on held-out source samples: gate.c */
	KDRI_TRANSFER_NO_LEAD,    /* excluded because it would only vote if it led: gate.c */
	KDRI_TRANSFER_OVERLAP,    /* it centres each data set, and source and target overlap: shares.c */
} kdri_transfer_exclusion;

/* Classes are those of the problem. */
typedef struct kdri_transfer_verdict {
	int64_t n, classes;
	int64_t *answer;                      /* n */
	int64_t *votes;                       /* members x n; -1 for skipped members */
	double *posterior;                    /* n x classes: mean over the members */
	double *confidence;                   /* n: estimated probability that the answer is right */
	double *sure;                         /* n: the same before it is calibrated */
	double *shares;                       /* classes x 2: of the labelled samples, of the answers */
	bool used[KDRI_TRANSFER_MEMBERS];     /* members that voted */
	char name[KDRI_TRANSFER_MEMBERS][96]; /* their names */
	double agreement
	        [KDRI_TRANSFER_MEMBERS];       /* fraction of samples for which each agrees with the answer */
	double heldout[KDRI_TRANSFER_MEMBERS]; /* of excluded members: accuracy on held-out source samples */
	kdri_transfer_exclusion excluded[KDRI_TRANSFER_MEMBERS];
	int64_t *plain[KDRI_PLAIN]; /* n: the labels of these classifiers */
	double *pi;                 /* classes: estimated shares in the target; NULL: not estimated */
	int64_t *confused; /* classes: the class most often confused with each on held-out samples, or -1 */
	double right; /* accuracy of the svm in cross-validation on the labelled samples; NaN: not computed */
	double distance; /* A-distance of source and target; NaN: not computed */
	bool late;       /* members were skipped because of the time limit */
	bool followed; /* class proportions have changed, and the members based on class means were run again */
	bool absent;   /* this was because classes appear to be absent from the target: absence.c */
	bool few;
	double *unlike; /* n: rank by how little each sample is like the source, 0 to 1; NULL: not found */
	int64_t *cluster, clusters; /* n: its cluster in the target, one of `clusters`; NULL: not found */
} kdri_transfer_verdict;

/* `problem` has sources and one target, its last task. Members that fail are skipped with a warning in `result` (unless
 * NULL). It fails only if memory runs out or no member succeeds. */
kdr_status kdri_transfer_verdict_new(kdr_context *ctx, const kdr_problem *problem,
                                     const kdri_transfer_options *options, kdr_result *result,
                                     kdri_transfer_verdict *out);
/* Whether task `target` can only be labelled through a bridge: there is one, and the sources have other features, or
 * almost none of those of the target. */
kdr_status kdri_transfer_needs_bridge(kdr_context *ctx, const kdr_problem *problem, int64_t target,
                                      bool *out);
/* The same vote if `problem` has bridges: members are ttl and nmtf through each of at most five bridges. If source and
 * target have different widths, the bridges are the first views and then, in the same order, the second views. */
kdr_status kdri_transfer_bridged_new(kdr_context *ctx, const kdr_problem *problem, int64_t target,
                                     const kdri_transfer_options *options, kdr_result *result,
                                     kdri_transfer_verdict *out);
void kdri_transfer_verdict_free(kdr_context *ctx, kdri_transfer_verdict *v);

#endif
