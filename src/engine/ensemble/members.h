/* The members of an ensemble: registered methods on views of the data. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_MEMBERS_H
#define KDRI_MEMBERS_H

#include "api/method.h"
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

typedef struct kdri_given {
	kdr_result *result;  /* the run alone: one task; NULL: nothing is given */
	kdri_ballot ballot;  /* its partitions; empty for tables */
	kdri_verdict answer; /* its labels and the agreement of its members */
	kdri_verdict
	        own; /* those of a run alone with words of its own, which the result is compared with; labels NULL: `answer` is */
	kdri_views_task view; /* its graphs, if the task is to be voted on; nothing else of it is set */
	uint64_t rows;        /* hash of the rows that it used and of how they are compared */
	int64_t how;          /* how they are compared */
	uint64_t totals;      /* kdri_prep_totals of its preprocessing */
	bool compared;        /* it is only compared with the answer: members that use one task run again */
	bool final; /* nothing votes on the task: it takes the answer or the labels that were carried over */
	/* Clusters that were carried over from another task, or, with from -1, those of a level of the run alone. */
	int64_t from, k;     /* that task, as the job numbers it; k: the number of clusters here */
	int64_t *of, *label; /* k: the cluster of each in the answer of that task; n: below k */
	double *confidence;  /* n */
} kdri_given;

typedef struct kdri_members_options {
	const kdri_member *
	        table; /* the first must have KDRI_SCOPE_TASK and use rows: its answer is used if all others fail */
	int64_t count, seeds;
	const int64_t *k;               /* of each task */
	double light_bytes, data_bytes; /* memory of a job that may run in parallel, and of the data */
	kdri_given *const
	        *given; /* what each task has of the members that use one task, or NULL; NULL: nothing */
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

/* What a fit is given about its tasks from runs of each alone.
 *
 * A job clusters each data set alone first, with its own preprocessing (jobs/together/alone.c). The fit of all data sets then has the partitions and
 * the graph of that run, so that members that use one task do not run again, and its labels, which are either the answer or
 * what the answer is compared with. */

/* Other data sets do not vote on larger ones: these gain nothing by it (docs/notes/auto.md). */
enum { KDRI_SHARING_MOST = 1000 };

/* What the context has during a fit of `auto`. */
typedef struct kdri_sharing {
	int64_t count;
	kdri_given *tasks; /* count; here and in k[t], tasks have the numbers of the job (api/order.c) */
	/* Finds it once the numbers of clusters k[t] are known; NULL: it was found before. */
	kdr_status (*find)(kdr_context *ctx, void *user, const int64_t *k);
	void *user;
	bool levels;      /* there is something to find before the fit of every level of a range */
	uint64_t totals;  /* kdri_prep_totals of the preprocessing of all tasks */
	kdri_given *keep; /* for the run of one task: where ballot, answer and view go; or NULL */
} kdri_sharing;

/* What is given about a task; NULL: nothing. */
kdri_given *kdri_given_of(const kdr_context *ctx, int64_t task);
/* Calls `find`, if there is one. */
kdr_status kdri_given_find(kdr_context *ctx, int64_t ntasks, const int64_t *k);
/* From that many samples on, members that use one task run once, in the run alone. Below, they gain by preprocessing that is fitted on all
 * data sets, such as weights of words (docs/notes/auto.md), and run again unless it makes no difference. If it differs only in the total that
 * the counts of each sample are scaled to, members gain by it only below the second number of samples. */
enum { KDRI_SHARING_ONCE = 500, KDRI_SHARING_TOTALS = 100 };
/* A number that the run alone has stored about its task; NaN: it has none. */
double kdri_given_number(const kdri_given *given, const char *name);
/* The same for a text; NULL: it has none. */
const char *kdri_given_text(const kdri_given *given, const char *name);
/* Copies numbers and texts whose name begins with `stem` and the named arrays (up to NULL) of the run alone to the task of a result. */
kdr_status kdri_given_copy(kdr_context *ctx, const kdri_given *given, const char *stem,
                           const char *const *arrays, kdr_result *to, int64_t task);
/* Takes what a fit of one task has: afterwards *ballot and the graphs of *view are empty. */
void kdri_given_keep(kdr_context *ctx, kdri_ballot *ballot, kdri_verdict *answer, kdri_views_task *view);
/* Decides whether members that use one task of `rows` samples run again on the rows of `view`: given->compared. */
kdr_status kdri_given_settle(kdr_context *ctx, kdri_given *given, const kdri_views_task *view, int64_t rows);
/* Gives the graphs to a task of a fit; the caller frees them with its own. */
void kdri_given_graphs(kdr_context *ctx, kdri_given *given, kdri_views_task *to);
/* Frees the graphs, of a task that nothing votes on. */
void kdri_given_drop_graphs(kdr_context *ctx, kdri_given *given);
void kdri_given_free(kdr_context *ctx, kdri_given *given);

#endif
