/* The poll of auto: several methods vote on the clusters of every task. SPDX-License-Identifier: BSD-3-Clause
 *
 * A poll has two halves, so that a job can look at each data set alone once the numbers of clusters are known:
 *
 *     KDRI_TRY(kdri_poll_begin(ctx, problem, options, evidence, result, &poll));   order, views, numbers of clusters
 *     ...                                                                          the job may add to the evidence
 *     KDRI_TRY(kdri_poll_answer(ctx, &poll));                                      members, vote, report
 *     kdri_poll_free(ctx, &poll);                                                  also after a failure
 *
 * poll.c has the poll on graphs of neighbours, tables.c that of tables of numbers and categories. */
#ifndef KDRI_POLL_H
#define KDRI_POLL_H

#include "api/method.h"
#include "core/classes.h"
#include "engine/ensemble/evidence.h"
#include "engine/ensemble/members.h"
#include "engine/ensemble/vote.h"
#include "engine/graph/spectrum.h"
#include "engine/graph/views.h"
#include "engine/mixture/mixture.h"
#include "matrix/linalg.h"

/* Tables of numbers and categories. */

/* The members: first those that use one table, then those that use all. */
typedef enum kdri_tables_member {
	KDRI_MIX_SHARED,        /* mixture of one table, one variance of each number for all clusters */
	KDRI_MIX_OWN,           /* the same, each cluster with its own variances */
	KDRI_MIX_KMEANS_B,      /* k-means on encoding B */
	KDRI_MIX_KMEANS_H,      /* k-means on encoding H */
	KDRI_MIX_POOLED_SHARED, /* one mixture of all tables, each minus its own means */
	KDRI_MIX_POOLED_OWN,
	KDRI_MIX_FROM_POOLED, /* KDRI_MIX_OWN started from the labels of KDRI_MIX_POOLED_OWN */
	KDRI_MIX_MEMBERS
} kdri_tables_member;

/* Labels of one member, and the mixture they come from. */
typedef struct kdri_tables_vote {
	int64_t *labels;       /* n, rows of all tables; NULL: it does not vote */
	kdri_mixture *mixture; /* one for each table, or one for all; NULL: k-means */
	int64_t nmixtures;
} kdri_tables_vote;

/* The state of a run. */
typedef struct kdri_tables {
	const kdr_problem *problem;
	const kdri_order *order;       /* borrowed, of the poll */
	const kdri_evidence *evidence; /* the same; or NULL */
	const kdr_options *options;
	kdr_result *result;
	int64_t *k;     /* of each table */
	kdri_mixed all; /* the rows of this rank */
	kdri_mixed
	        some; /* rows from which starts and draws are taken, the same on every rank; empty: all rows */
	bool whole;   /* `some` are all rows */
	int64_t *start;     /* tables: the number of this rank's first row among all rows */
	double *means;      /* tables x numbers: means that were subtracted before pooling */
	kdri_pooled pooled; /* what was found with the numbers of clusters k, if that is known */
	kdri_tables_vote votes[KDRI_MIX_MEMBERS];
	double bic_gain;    /* the guard's g: [BIC(pooled) - sum of BIC(alone)] / N */
	double loss;        /* 2 (sum of LL(alone) - LL(pooled)) / N */
	bool together;      /* the tables share their clusters */
	bool late;          /* members that use all tables had no time or memory */
	kdri_k_found found; /* of a single table */
	bool later; /* whether means are subtracted is decided for the number of clusters that is found */
	int64_t *answer,
	        *alone; /* n: the vote; that without members that used other tables, NULL if it is not needed */
	double *confidence; /* n */
	double *estimate;   /* tables: estimated ARI of the answer */
	double *agreement;  /* tables: mean ARI of the members with the answer */
	double *beyond;     /* tables: kdri_tables_beyond_shuffled */
} kdri_tables;

/* The rows from which starts and draws are taken. */
static inline const kdri_mixed *kdri_tables_some(const kdri_tables *t)
{
	return t->some.n > 0 ? &t->some : &t->all;
}

/* Whether a problem is a table: it has a category, or a column of two values, or missing cells. */
bool kdri_is_table(const kdr_problem *problem);

/* The two halves of the poll of tables; problem, order, options and result of *t are set. kdri_tables_free also after a failure. */
kdr_status kdri_tables_begin(kdr_context *ctx, kdri_tables *t);
kdr_status kdri_tables_answer(kdr_context *ctx, kdri_tables *t);
void kdri_tables_free(kdr_context *ctx, kdri_tables *t);

/* How many votes a member has: (E3) of tables.c. */
int64_t kdri_tables_weight(const kdri_tables *t, kdri_tables_member m);

/* --- tables_members.c --- */

kdr_status kdri_tables_members(kdr_context *ctx, kdri_tables *t);

/* --- tables_k.c --- */
kdr_status kdri_tables_find_k(kdr_context *ctx, kdri_tables *t);
/* How much better k clusters describe table s than its shuffled columns, in standard deviations of the latter: (E5) of tables_k.c. NaN: no time, or few rows. */
kdr_status kdri_tables_beyond_shuffled(kdr_context *ctx, const kdri_tables *t, int64_t s, double *out);

/* --- tables_members.c --- */
kdr_status kdri_tables_confidence(kdr_context *ctx, kdri_tables *t);
/* The map from clusters of b to clusters of a that agrees on most of n rows: to[c] for each of k. */
kdr_status kdri_align_labels(kdr_context *ctx, const int64_t *a, const int64_t *b, int64_t n, int64_t k,
                             int64_t *to);

/* Whether clusters are clearer than those found in random noise. */

/* How much smaller the within-cluster sum of squares of k clusters of the rows of y is than that of k clusters of random
 * noise of the same size and spread, in standard deviations of the noise. Columns of y are uncorrelated, such as leading
 * directions. spread[j]: of column j, before rows were scaled to unit length, if they were (`unit`). 0 for too few rows
 * or one cluster. */
kdr_status kdri_beyond_noise(kdr_context *ctx, const kdr_dense *y, const double *spread, bool unit, int64_t k,
                             double *out);

/* Which clusters of different tasks are counterparts. */

/* The clusters of one task: their means, and the task's own mean. */
typedef struct kdri_clusters {
	int64_t k, d;
	const double *means, *mean;
	const int64_t *sizes;
	const bool *known; /* clusters of a known class, which has the cluster's number; NULL: none */
} kdri_clusters;

/* flow (a.k x b.k): how much of each cluster of a is matched with which cluster of b, by the transport solver. If both
 * sides have the same number of clusters, they are matched one to one and rows sum to 1 / k; otherwise they are matched
 * by their sizes, and rows sum to a cluster's fraction of a's samples. chance (a.k): the estimated probability that a
 * cluster and its main match belong together, computed from the cosine of their deviations from the tasks' means
 * (probability_right.c). Below 0.3 a cluster has no counterpart, and its row of flow is 0. Clusters of one known class belong together,
 * those of different known classes do not. */
kdr_status kdri_counterparts(kdr_context *ctx, const kdri_clusters *a, const kdri_clusters *b, double *flow,
                             double *chance);

/* The effect of the other data sets on a task. */

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

/* Whether n samples in k clusters are enough to tell, and their clusters are no clearer than those of noise. */
bool kdri_guard_noise(const kdri_guard *g, int64_t n, int64_t k);
/* The advice on what other data sets changed, and the warning about such clusters. */
#define KDRI_HARDLY_MOVED "less than 1 %% of the samples are in another cluster than in a run alone"
#define KDRI_MOVED        "%lld of %lld samples are in another cluster than in a run alone"
#define KDRI_NO_CLEARER \
	"%s: its clusters are no clearer than those of random data; try another -k or other columns"

/* Writes advice about the task: a sentence, or several lines. */
void kdri_guard_advice(const kdri_guard *g, int64_t n, int64_t k, const char *name, char *out, size_t room);

/* The state of a poll. */
typedef struct kdri_poll {
	kdri_order order;
	const kdr_problem *problem; /* sorted */
	const kdr_options *options;
	const kdri_evidence *evidence; /* borrowed; NULL: no job has looked at each task alone */
	kdr_result *result;
	kdri_tables *tables; /* the poll of tables; NULL: a poll on graphs, with what follows */
	const kdri_member *members;
	int64_t nmembers;
	int64_t T, *k;
	bool later; /* graphs are made when members need them */
	kdri_views views;
	kdri_ballot *ballots;          /* T */
	const kdri_alone **alone_runs; /* T: what runs of each task alone have found, or NULL */
	kdri_use *use;                 /* T: what is done with it */
	bool *has;  /* T: members that use one task and the graph are those: KDRI_USE_BALLOT and more */
	bool *lent; /* T: the graph belongs to the evidence */
	kdri_k_found *found;       /* T, and one for all: about the numbers of clusters */
	bool derived;              /* of fits with other numbers of clusters */
	kdri_known_classes *known; /* T: what is known about the samples; NULL: nothing */
	kdri_verdict *answers,
	        *alone; /* T each; alone: of the members that use one task, without evidence; otherwise empty */
} kdri_poll;

/* `problem` is as the caller has numbered its tasks. *out starts as { 0 }. */
kdr_status kdri_poll_begin(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                           const kdri_evidence *evidence, kdr_result *result, kdri_poll *out);
/* Afterwards: the number of clusters of a task, as the caller numbers it. */
int64_t kdri_poll_k(const kdri_poll *poll, int64_t number);
kdr_status kdri_poll_answer(kdr_context *ctx, kdri_poll *poll);
/* Of one task, after the answer: moves what the poll of all tasks can use into *to. */
void kdri_poll_take(kdr_context *ctx, kdri_poll *poll, kdri_alone *to);
void kdri_poll_free(kdr_context *ctx, kdri_poll *poll);

/* find_k.c: sets k[t] of the tasks without a given number of clusters, and reports the evidence for it. If the time ends before, the number is
 * found from what is known until then, and the result has a warning. */
kdr_status kdri_poll_find_k(kdr_context *ctx, kdri_poll *p);

/* poll_report.c: what is reported in addition to labels: centroids, correspondence, relatedness, the guard and its advice, and which members voted. */
kdr_status kdri_poll_report(kdr_context *ctx, const kdri_poll *p);

#endif
