/* Which target samples differ from the source, and which a person should label. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_TRANSFER_UNLIKE_H
#define KDRI_TRANSFER_UNLIKE_H

#include "methods/transfer_auto/tally.h"

/* Sets v->unlike, v->cluster and v->clusters; v->unlike stays NULL if time has run out or no class has a source sample. */
kdr_status kdri_transfer_unlike(kdri_transfer_tally *w, kdri_transfer_verdict *v);

/* The score before it becomes a rank: (E1) of unlike.c for each of the target's rows of e, which are those from `first` on; labels of the
 * other rows: classes, -1 for rows that are ignored. out: n - first. */
kdr_status kdri_unlike_distances(kdr_context *ctx, const kdr_mat *e, int64_t first, const int64_t *labels,
                                 int64_t classes, double *out);
/* Values to the share of the other values that are smaller, ties counted half. */
kdr_status kdri_unlike_ranks(kdr_context *ctx, double *values, int64_t n);

/* What samples to label next are chosen from. */
typedef struct kdri_ask_problem {
	int64_t n, classes, clusters;
	const double *posterior; /* n x classes */
	const int64_t *answer;   /* n */
	const int64_t *known;    /* n: a class, or -1; NULL: all are unknown */
	const int64_t *cluster;  /* n: 0..clusters-1; NULL: all samples are in one */
} kdri_ask_problem;
/* How much more probable the answer of sample i is than the best other class; negative if it is less probable. */
double kdri_ask_margin(const kdri_ask_problem *p, int64_t i);
/* (E3) of unlike.c: `count` different samples of unknown class; there must be as many. */
kdr_status kdri_ask_choose(kdr_context *ctx, const kdri_ask_problem *p, int64_t count, int64_t *rows);

#endif
