/* What a fit is given about its tasks from runs of each alone. SPDX-License-Identifier: BSD-3-Clause
 *
 * A job clusters each data set alone first, with its own preprocessing (jobs/alone.c). The fit of all data sets then has the partitions and
 * the graph of that run, so that members that use one task do not run again, and its labels, which are either the answer or
 * what the answer is compared with. */
#ifndef KDRI_GIVEN_H
#define KDRI_GIVEN_H

#include "engine/ensemble/ballot.h"
#include "engine/graph/views.h"

/* Other data sets do not vote on larger ones: these gain nothing by it (docs/notes/auto.md). */
enum { KDRI_SHARING_MOST = 1000 };
/* From that many samples on, members that use one task run once, in the run alone. Below, they gain by preprocessing that is fitted on all
 * data sets, such as weights of words (docs/notes/auto.md), and run again unless it makes no difference. */
enum { KDRI_SHARING_ONCE = 500 };

typedef struct kdri_given {
	kdr_result *result;   /* the run alone: one task; NULL: nothing is given */
	kdri_ballot ballot;   /* its partitions; empty for tables */
	kdri_verdict answer;  /* its labels and the agreement of its members */
	kdri_views_task view; /* its graphs, if the task is to be voted on; nothing else of it is set */
	uint64_t rows;        /* hash of the rows that it used and of how they are compared */
	bool compared;        /* it is only compared with the answer: members that use one task run again */
	bool final; /* nothing votes on the task: it takes the answer or the labels that were carried over */
	/* Clusters that were carried over from another task; from -1: none. */
	int64_t from, k;     /* that task; k: the number of clusters here */
	int64_t *of, *label; /* k: the cluster of each in the answer of that task; n: below k */
	double *confidence;  /* n */
} kdri_given;

/* What the context has during a fit of `auto`. */
typedef struct kdri_sharing {
	int64_t count;
	kdri_given *tasks; /* count */
	/* Finds it once the numbers of clusters k[t] are known; NULL: it was found before. */
	kdr_status (*find)(kdr_context *ctx, void *user, const int64_t *k);
	void *user;
	kdri_given *keep; /* for the run of one task: where ballot, answer and view go; or NULL */
} kdri_sharing;

/* What is given about a task; NULL: nothing. */
kdri_given *kdri_given_of(const kdr_context *ctx, int64_t task);
/* A number that the run alone has stored about its task; NaN: it has none. */
double kdri_given_number(const kdri_given *given, const char *name);
/* Copies numbers and texts whose name begins with `stem` and the named arrays (up to NULL) of the run alone to the task of a result. */
kdr_status kdri_given_copy(kdr_context *ctx, const kdri_given *given, const char *stem,
                           const char *const *arrays, kdr_result *to, int64_t task);
/* Takes what a fit of one task has: afterwards *ballot and the graphs of *view are empty. */
void kdri_given_keep(kdr_context *ctx, kdri_ballot *ballot, kdri_verdict *answer, kdri_views_task *view);
/* Decides whether members that use one task run again on the rows of `view`: given->compared. */
void kdri_given_settle(kdri_given *given, const kdri_views_task *view);
/* Gives the graphs to a task of a fit; the caller frees them with its own. */
void kdri_given_graphs(kdr_context *ctx, kdri_given *given, kdri_views_task *to);
/* Frees the graphs, of a task that nothing votes on. */
void kdri_given_drop_graphs(kdr_context *ctx, kdri_given *given);
void kdri_given_free(kdr_context *ctx, kdri_given *given);

#endif
