/* The members of an ensemble: registered methods on views of the data. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_MEMBERS_H
#define KDRI_MEMBERS_H

#include "api/method.h"
#include "engine/ensemble/evidence.h"
#include "engine/ensemble/vote.h"
#include "engine/graph/views.h"

typedef enum kdri_scope {
	KDRI_SCOPE_TASK,   /* each task separately */
	KDRI_SCOPE_POOLED, /* all tasks stacked, once per distinct k; each task uses its part */
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
	bool in_step; /* the runs of all seeds are tasks of a single fit; only with `started` and KDRI_SCOPE_TASK */
	bool once;    /* hardly depends on the seed: one run is used for all seeds */
	int64_t most; /* maximum number of samples of a task, or of all tasks it uses, because it needs n x n
		         numbers. 0: any number */
	int64_t small; /* it votes only on tasks of at most this many samples, because larger ones gain nothing. 0:
		          on all */
} kdri_member;

typedef struct kdri_members_options {
	const kdri_member *
	        table; /* the first must have KDRI_SCOPE_TASK and use rows: its answer is used if all others fail */
	int64_t count, seeds;
	const int64_t *k;               /* of each task */
	double light_bytes, data_bytes; /* memory of a job that may run in parallel, and of the data */
	const kdri_use *use; /* what each task has of the members that use one task; NULL: nothing */
	const kdri_alone *const *alone; /* with KDRI_USE_BALLOT: these partitions */
	/* Makes the graph of a task when it is needed, if time is short; NULL: graphs exist. */
	kdr_status (*graph)(kdr_context *ctx, void *user, int64_t task);
	/* Makes the other views when they are needed; NULL: they exist. */
	kdr_status (*prepare)(kdr_context *ctx, void *user);
	void *user;
} kdri_members_options;

/* Seconds by which a graph or an answer may exceed the time limit if the result would be poor otherwise. */
double kdri_auto_grace(const kdr_context *ctx);

/* Runs the members on the tasks of `problem` through kdr_fit and collects their partitions, one ballot per task
 * (ballots[t] zeroed before). Members that use several tasks take part if there are several and the views are
 * `together`. A member that fails, needs too much memory or would be too late is skipped with a warning in `result`.
 * Only running out of memory is a failure; on several ranks any failure on one of them is. *late: some were skipped
 * because of the time limit. */
kdr_status kdri_members_run(kdr_context *ctx, const kdr_problem *problem, const kdri_views *views,
                            const kdri_members_options *options, kdri_ballot *ballots, kdr_result *result,
                            bool *late);

/* Running the members of a vote one after the other.
 *
 *     kdri_frame f = kdri_frame_new(ctx, result, 0.75);          members have three quarters of the time that is left
 *     KDRI_TRY(kdri_frame_ask(&f, &turn, &answered));            for each; if it answered, the caller takes its vote
 *     KDRI_TRY(kdri_frame_end(&f, KDR_ERR_NUMERIC, "nobody voted"));
 *
 * A member that fails, cannot run, ends too late or exceeds the limit on memory is skipped, with a warning in the result.
 * The vote fails only if the machine has no memory left or no member voted. The first member that votes may take any time. */

typedef struct kdri_frame {
	kdr_context *ctx;
	kdr_context own;    /* copy of the context for the members, with their own time limit */
	kdr_result *result; /* NULL: no warnings */
	int64_t voters;
	bool late;       /* some were skipped because of the time limit */
	bool over_limit; /* some were skipped because of the limit on memory */
} kdri_frame;

typedef struct kdri_turn {
	const char *name;
	int64_t number, of; /* for progress */
	const char *unable; /* why it cannot run, or NULL */
	kdr_status (*run)(kdr_context *ctx, void *user);
	void *user;
} kdri_turn;

kdri_frame kdri_frame_new(kdr_context *ctx, kdr_result *result, double share_of_time);
kdr_status kdri_frame_ask(kdri_frame *f, const kdri_turn *turn, bool *answered);
/* The same for a turn that the caller has run, with this status and error; over_limit: of its context. */
kdr_status kdri_frame_ended(kdri_frame *f, const kdri_turn *turn, kdr_status st, bool over_limit,
                            const char *error, bool *answered);
/* Passes on a cancellation. If no member voted, returns `status` with an error that starts with `none` and ends with
 * that of the last member. */
kdr_status kdri_frame_end(kdri_frame *f, kdr_status status, const char *none);

/* Warns that a member is skipped: "WHYmethod 'NAME' was skipped: MORE". */
kdr_status kdri_frame_left_out(const kdri_frame *f, const char *why, const char *name, const char *more);

#endif
