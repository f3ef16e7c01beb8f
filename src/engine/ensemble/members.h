/* The members of an ensemble: registered methods on views of the data. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_MEMBERS_H
#define KDRI_MEMBERS_H

#include "api/method.h"
#include "engine/ensemble/ballot.h"
#include "engine/graph/views.h"

typedef enum kdri_scope {
	KDRI_SCOPE_TASK,   /* each task by itself */
	KDRI_SCOPE_POOLED, /* all tasks stacked, once for each different k; each task keeps its part */
	KDRI_SCOPE_JOINT   /* all tasks together, as the method relates them */
} kdri_scope;

typedef struct kdri_member {
	const char *name;                 /* for people */
	const char *method;               /* id in the registry */
	const kdri_setting *settings;     /* of the method */
	const kdri_setting *by_distance;  /* more of them if distances compare samples */
	const kdri_setting *on_landmarks; /* and if the graph is one of samples and landmarks */
	const kdri_setting *quick;        /* and, for the first member, if a quick answer is needed */
	bool cosine_only;                 /* does not take part if distances compare samples */
	kdri_view view;
	kdri_scope scope;
	bool started; /* starts from the labels of the first member, same task and seed */
	bool in_step; /* the runs of all seeds are tasks of one fit, which the method does at once: `started`, of KDRI_SCOPE_TASK */
	bool once;    /* hardly depends on the seed: one run stands for those of all seeds */
	int64_t most; /* samples at most, of a task or of all it sees: it needs n x n numbers. 0: any number */
	int64_t small; /* it votes on tasks of at most as many samples: larger ones gain nothing by it. 0: on all */
} kdri_member;

typedef struct kdri_members_options {
	const kdri_member *
	        table; /* the first must be of KDRI_SCOPE_TASK, on rows: its answer stands if all else fails */
	int64_t count, seeds;
	const int64_t *k;               /* of each task */
	double light_bytes, data_bytes; /* what a job needs that may run beside others, and the data */
	double beside; /* so many times the work of all others a joint member would be, and is left out; 0: it takes part */
	/* Makes the graph of a task where time is short, when it is its turn; NULL: graphs are there. */
	kdr_status (*graph)(kdr_context *ctx, void *user, int64_t task);
	/* Makes the views that are not the graph, when it is their turn; NULL: they are there. */
	kdr_status (*prepare)(kdr_context *ctx, void *user);
	void *user;
} kdri_members_options;

/* Seconds after the time limit by which a graph or an answer on it may come where there would be a poor one otherwise. */
double kdri_auto_grace(const kdr_context *ctx);

/* Runs the members on the tasks of `problem` through kdr_fit and collects their partitions, one ballot a
 * task (ballots[t] zeroed before). Members that see several tasks take part where there are several and the
 * views are `together`. A member that fails, needs too much memory or would be too late is left out, and a
 * warning in `result` says so; only a lack of memory is a failure, and on several ranks whatever fails on one of them. *late: some
 * were left out for want of time. */
kdr_status kdri_members_run(kdr_context *ctx, const kdr_problem *problem, const kdri_views *views,
                            const kdri_members_options *options, kdri_ballot *ballots, kdr_result *result,
                            bool *late);

#endif
