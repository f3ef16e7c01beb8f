/* What is known of each data set before all of them are clustered together. SPDX-License-Identifier: BSD-3-Clause
 *
 * A job clusters each data set alone first, with its own preprocessing (jobs/together/alone.c), and small data sets may take over the
 * clusters of larger ones (jobs/together/carry.c). The poll of all data sets then has the partitions and the graph of those runs, so that
 * members that use one task do not run again, and their labels, which are either the answer or what the answer is compared with.
 *
 * A poll without evidence is not one with empty evidence: only without it does the poll find out itself what the answer would be without
 * members that use several tasks. */
#ifndef KDRI_EVIDENCE_H
#define KDRI_EVIDENCE_H

#include "api/method.h"
#include "engine/ensemble/k_found.h"
#include "engine/ensemble/vote.h"
#include "engine/graph/views.h"

/* Other data sets do not vote on larger ones: these gain nothing by it (docs/notes/auto.md). */
enum { KDRI_SHARING_MOST = 1000 };
/* From that many samples on, members that use one task run once, in the run alone. Below, they gain by preprocessing that is fitted on all
 * data sets, such as weights of words (docs/notes/auto.md), and run again unless it makes no difference. If it differs only in the total that
 * the counts of each sample are scaled to, members gain by it only below the second number of samples. */
enum { KDRI_SHARING_ONCE = 500, KDRI_SHARING_TOTALS = 100 };

/* A data set alone. */
typedef struct kdri_alone {
	bool known; /* there was a run, with what follows */
	bool level; /* it is one level of a range: no partitions and graphs */
	int64_t k;
	kdr_stop stop;
	kdri_ballot ballot;  /* its partitions; empty for tables */
	kdri_verdict answer; /* its labels and the agreement of its members */
	kdri_verdict
	        own_words; /* those of a run with words of its own, which the result is compared with; labels NULL: `answer` is */
	kdri_views_task
	        graphs; /* lent to polls; nothing else of it is set. Empty if nothing votes on the data set */
	int64_t candidates; /* samples among which neighbours were searched; 0: all */
	uint64_t rows;      /* hash of the rows that it used and of how they are compared */
	int64_t how;        /* how they are compared */
	uint64_t totals;    /* kdri_prep_totals of its preprocessing */
	kdri_k_found found; /* what is known about its number of clusters */
	double beyond_noise, beyond_shuffled, agreement, agreement_kmeans,
	        estimate;                      /* of its result; NaN: not there */
	const double *confidence, *agreements; /* n: arrays of its result, or NULL */
	const char *members;                   /* who voted: a text of its result, or NULL */
	kdr_result *result;                    /* the run, or NULL; no poll reads it */
} kdri_alone;

/* Clusters of one data set that another has taken over. */
typedef struct kdri_carried {
	int64_t from;       /* that data set, as the job numbers it; -1: none */
	int64_t k;          /* clusters here */
	int64_t *of;        /* k: the cluster of each in the answer of the run alone of `from` */
	int64_t *labels;    /* n: below k */
	double *confidence; /* n */
} kdri_carried;

/* Data sets have the numbers of the job (api/order.c). */
typedef struct kdri_evidence {
	int64_t count; /* 0: no data set was clustered alone */
	kdri_alone *alone;
	kdri_carried *carried;
	bool *final; /* nothing votes on it: it has the answer of the run alone, or what was carried over */
	uint64_t totals; /* kdri_prep_totals of the preprocessing of all tasks */
} kdri_evidence;

/* What a poll does with the evidence of a task. */
typedef enum kdri_use {
	KDRI_USE_NOTHING, /* there is none */
	KDRI_USE_COMPARE, /* it is only compared with the answer: members that use one task run again */
	KDRI_USE_BALLOT,  /* the partitions vote, with those of members that use several tasks */
	KDRI_USE_LABELS   /* it has the labels */
} kdri_use;

kdr_status kdri_evidence_new(kdr_context *ctx, int64_t count, kdri_evidence *out);
void kdri_evidence_free(kdr_context *ctx, kdri_evidence *e);
/* The run alone of task t of a poll, or NULL. */
const kdri_alone *kdri_evidence_alone(const kdri_evidence *e, const kdri_order *order, int64_t t);
/* What task t has taken over, or NULL. */
const kdri_carried *kdri_evidence_carried(const kdri_evidence *e, const kdri_order *order, int64_t t);
/* What can be done with it; until there are views, KDRI_USE_BALLOT may still become KDRI_USE_COMPARE. */
kdri_use kdri_evidence_use(const kdri_evidence *e, const kdri_order *order, int64_t t);
/* Decides this for a task of `rows` samples with the rows of `view`. */
kdr_status kdri_evidence_settle(kdr_context *ctx, const kdri_evidence *e, const kdri_alone *alone,
                                const kdri_views_task *view, int64_t rows, kdri_use *use);

/* Takes what a poll of one task has: afterwards *ballot, *answer and the graphs of *view are empty. */
void kdri_alone_take(kdr_context *ctx, kdri_ballot *ballot, kdri_verdict *answer, kdri_views_task *view,
                     kdri_alone *to);
/* Lends the graphs to a poll, which calls kdri_alone_return before it frees its views. */
void kdri_alone_lend(kdr_context *ctx, const kdri_alone *alone, kdri_views_task *to);
void kdri_alone_return(kdri_views_task *view);
/* Frees the graphs, of a data set that nothing votes on. */
void kdri_alone_drop_graphs(kdr_context *ctx, kdri_alone *alone);
void kdri_alone_free(kdr_context *ctx, kdri_alone *alone);

#endif
