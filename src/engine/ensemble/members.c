/* Running the members of an ensemble. SPDX-License-Identifier: BSD-3-Clause
 *
 * A job is one member, one seed and what it clusters: a task, or all of them with one k; or all seeds, if a method
 * does several starts on one matrix in hardly more than the time of one. Jobs are independent, and the result of a
 * method depends only on its data, options and seed, so that jobs may run in any order. Jobs that need little memory
 * run side by side (core/side_by_side.h), each with a separate context and an equal part of the threads. Members that
 * need n x n numbers run one after another with all threads.
 *
 * Time. With a limit, every task first gets a quick answer: one run of the first member, with at most half of the time.
 * Then the members on the graph run, which are the best single ones and need no other view: one task at a time, small
 * ones first, its graph and the answer on it, so that even on a busy machine some tasks have a good answer instead of
 * all having a poor one. They may end kdri_auto_grace seconds late. Their time is predicted from that of other tasks in
 * this run. It also predicts the time of the vote, twice a spectral step on each task. The other members get the
 * remaining time, in the order of the table, fast ones first, or are skipped together with their views. A job that would
 * begin or end too late is skipped.
 *
 * If rows are distributed over ranks, jobs run one after another, each on all ranks, and decisions about time are made
 * by all of them: too late for one rank is too late for all. A job that fails on one rank is a failure of all, because
 * the others wait for it. */
#include <float.h>
#include <stdatomic.h>
#include <stdio.h>

#include "api/method.h"
#include "comm/comm.h"
#include "core/side_by_side.h"
#include "engine/ensemble/members.h"

/* Running the members of a vote one after the other. */

kdri_frame kdri_frame_new(kdr_context *ctx, kdr_result *result, double share_of_time)
{
	kdri_frame f = { .ctx = ctx, .own = *ctx, .result = result };
	const double now = kdri_now();
	if (ctx->deadline > 0)
		f.own.deadline = now + share_of_time * KDRI_MAX(ctx->deadline - now, 1e-9);
	return f;
}

kdr_status kdri_frame_left_out(const kdri_frame *f, const char *why, const char *name, const char *more)
{
	if (!f->result)
		return KDR_OK;
	return kdri_result_warn(f->ctx, f->result, "%smethod '%s' was skipped%s%s", why, name,
	                        *more ? ": " : "", more);
}

/* Some member has voted, and the time of the members is over. */
static bool is_over(const kdri_frame *f)
{
	return f->voters > 0 && (f->own.cancelled || f->own.timed_out);
}

static kdr_status leave_out_late(kdri_frame *f, const char *name)
{
	f->late = true;
	return f->own.cancelled ? KDR_OK : kdri_frame_left_out(f, "time limit reached: ", name, "");
}

typedef struct job {
	int64_t member, seed, runs; /* seeds: seed .. seed + runs - 1 */
	int64_t task;               /* -1: all of them */
	int64_t k;                  /* pooled: of the tasks that keep their part */
	int32_t *labels; /* of the task, or of all tasks one after the other, for each run; NULL: skipped */
	bool quick;      /* needed soon */
	bool incomplete; /* stopped early, or quick */
	bool late;       /* skipped because of the time limit */
	kdr_status st;
	bool over_limit; /* it failed because of the limit on memory */
	char error[512];
	double seconds;
} job;

typedef struct run {
	kdr_context *ctx;
	kdr_context pattern; /* for the jobs' own contexts: the caller's changes while they run */
	const kdr_problem *problem;
	const kdri_views *views;
	const kdri_members_options *options;
	job *jobs;
	int64_t njobs;
	bool *tried;     /* the tasks whose graph members have run */
	double deadline; /* for members; 0: none */
	bool limited;    /* available, on all ranks */
	kdr_status st;   /* of graph and prepare; on several ranks also of jobs */
	int64_t light;   /* the first jobs, which may run in parallel with others */
	kdri_crew crew;  /* who share the threads */
	bool grace;      /* the first members' time, which may go on when all of it is over */
	atomic_bool stop;
	atomic_llong done;
} run;

kdr_status kdri_frame_ask(kdri_frame *f, const kdri_turn *turn, bool *answered)
{
	*answered = false;
	if (turn->unable)
		return kdri_frame_left_out(f, "", turn->name, turn->unable);
	if (is_over(f) || (f->voters > 0 && kdri_iteration(&f->own, "members", turn->number, turn->of, NAN)))
		return leave_out_late(f, turn->name);
	f->own.over_limit = false;
	const kdr_status st = KDRI_TIMED(turn->name, turn->run(&f->own, turn->user));
	return kdri_frame_ended(f, turn, st, f->own.over_limit, f->own.error, answered);
}

kdr_status kdri_frame_ended(kdri_frame *f, const kdri_turn *turn, kdr_status st, bool over_limit,
                            const char *error, bool *answered)
{
	*answered = false;
	if (st == KDR_ERR_MEMORY && !over_limit)
		return kdri_fail(f->ctx, st, "%s", error);
	if (st != KDR_OK && error != f->own.error)
		kdri_set_error(&f->own, "%s", error);
	if (st == KDR_ERR_MEMORY)
		f->own.over_limit = f->over_limit = true;
	if (st != KDR_OK)
		return kdri_frame_left_out(f, "", turn->name, error);
	if (is_over(f))
		return leave_out_late(f, turn->name);
	*answered = true;
	return KDR_OK;
}

kdr_status kdri_frame_end(kdri_frame *f, kdr_status status, const char *none)
{
	f->ctx->cancelled |= f->own.cancelled;
	if (f->voters > 0)
		return KDR_OK;
	if (f->own.over_limit)
		return kdri_fail_limit(f->ctx, "%s", f->own.error);
	return kdri_fail(f->ctx, status, "%s: %s", none, f->own.error);
}

/* Of the time left and of all of it: what quick answers may take. */
static const double quick_share = 0.5, least_share = 0.1;
static const double grace_share = 0.2, most_grace = 0.4;

double kdri_auto_grace(const kdr_context *ctx)
{
	return KDRI_MIN(most_grace, grace_share * (ctx->deadline - ctx->clock_start));
}

/* --- the list of jobs ---------------------------------------------------------------------------- */

/* On all ranks. */
static int64_t members_rows_of(const run *r, int64_t t)
{
	return r->views->rows[t];
}

static int64_t rows_of_all(const run *r)
{
	int64_t sum = 0;
	for (int64_t t = 0; t < r->problem->ntasks; t++)
		sum += members_rows_of(r, t);
	return sum;
}

static kdri_use use_of(const run *r, int64_t t)
{
	return r->options->use ? r->options->use[t] : KDRI_USE_NOTHING;
}

/* The partitions of a run alone; NULL: members that use one task run here. */
static const kdri_ballot *given_of(const run *r, int64_t t)
{
	return use_of(r, t) >= KDRI_USE_BALLOT ? &r->options->alone[t]->ballot : NULL;
}

static bool votes_on(const run *r, const kdri_member *member, int64_t t)
{
	return use_of(r, t) != KDRI_USE_LABELS && (!member->small || members_rows_of(r, t) <= member->small);
}

/* Of the tasks that the member votes on. */
static bool first_with_k(const run *r, const kdri_member *member, int64_t t)
{
	for (int64_t s = 0; s < t; s++)
		if (votes_on(r, member, s) && r->options->k[s] == r->options->k[t])
			return false;
	return votes_on(r, member, t);
}

static bool votes_on_any(const run *r, const kdri_member *member)
{
	bool any = false;
	for (int64_t t = 0; t < r->problem->ntasks; t++)
		any |= votes_on(r, member, t);
	return any;
}

/* On landmarks throughout, as with rows on several ranks. */
static bool on_landmarks(const run *r)
{
	return r->views->options.landmarks > 0 && !r->views->options.if_many;
}

/* Members that need n x n numbers do not take part if the graph is a landmark graph or an approximate one. */
static bool able(const run *r, const kdri_member *member, int64_t rows)
{
	return !member->most || (rows <= member->most && !on_landmarks(r));
}

static void add_job(run *r, job j)
{
	j.runs = KDRI_MAX(1, j.runs);
	if (r->jobs)
		r->jobs[r->njobs] = j;
	r->njobs++;
}

/* Counts the jobs, or lists them once memory is allocated. */
static void list_jobs(run *r)
{
	const kdri_members_options *o = r->options;
	int64_t T = r->problem->ntasks;
	r->njobs = 0;
	for (int64_t m = 0; m < o->count; m++) {
		const kdri_member *member = &o->table[m];
		bool alone = member->scope == KDRI_SCOPE_TASK;
		if (!alone && !r->views->tasks[0].cosine && member->cosine_only)
			continue;
		if (!alone && (T < 2 || !r->views->options.together || !able(r, member, rows_of_all(r)) ||
		               !votes_on_any(r, member)))
			continue;
		for (int64_t s = 0; s < (member->once || member->in_step ? 1 : o->seeds); s++) {
			for (int64_t t = 0; t < T && alone; t++) {
				bool sees = (r->views->tasks[t].cosine || !member->cosine_only) &&
				            (member->view != KDRI_VIEW_PLAIN || r->views->tasks[t].both);
				if (sees && !given_of(r, t) && able(r, member, members_rows_of(r, t)))
					add_job(r, (job){ .member = m,
					                  .seed = s,
					                  .runs = member->in_step ? o->seeds : 1,
					                  .task = t,
					                  .k = o->k[t] });
			}
			for (int64_t t = 0; t < T && member->scope == KDRI_SCOPE_POOLED; t++)
				if (first_with_k(r, member, t))
					add_job(r, (job){ .member = m, .seed = s, .task = -1, .k = o->k[t] });
			if (member->scope == KDRI_SCOPE_JOINT)
				add_job(r, (job){ .member = m, .seed = s, .task = -1 });
		}
	}
}

/* --- one job ------------------------------------------------------------------------------------------- */

/* The labels the first member found with the seed; jobs that need them run after it. */
static bool start_of(const run *r, const job *j, int64_t seed, int64_t rows, int64_t *init)
{
	for (const job *first = r->jobs; first < j; first++)
		if (first->member == 0 && first->seed == seed && first->task == j->task && first->labels) {
			for (int64_t i = 0; i < rows; i++)
				init[i] = first->labels[i];
			return true;
		}
	return false;
}

static kdr_status fit_job(kdr_context *ctx, const run *r, job *j)
{
	kdr_status st;
	const kdri_member *member = &r->options->table[j->member];
	const kdri_algo *algo = kdri_algo_find(member->method);
	int64_t first = j->task < 0 ? 0 : j->task, count = j->task < 0 ? r->problem->ntasks : 1;
	int64_t rows = r->views->begin[first + count] - r->views->begin[first], at = 0, all = count * j->runs,
	        size;
	kdr_task *tasks = NULL;
	kdr_options *options = NULL;
	kdr_result *result = NULL;
	int32_t *labels = NULL;
	int64_t *init = NULL;
	if (!algo)
		return kdri_algo_unknown(ctx, member->method, NULL);
	KDRI_TRY(kdri_mul(ctx, rows, j->runs, &size));
	KDRI_TRY(KDRI_NEW0(ctx, &tasks, all));
	KDRI_TRY(KDRI_NEW(ctx, &init, size));
	for (int64_t i = 0; i < all; i++) {
		int64_t t = first + i % count;
		tasks[i] = (kdr_task){ .name = r->problem->tasks[t].name,
			               .role = KDR_ROLE_TASK,
			               .x = kdri_views_of(r->views, member->view, t),
			               .k = member->scope == KDRI_SCOPE_POOLED ? j->k : r->options->k[t] };
		if (member->started && count == 1 && start_of(r, j, j->seed + i, rows, init + i * rows))
			tasks[i].init = init + i * rows;
	}
	kdr_problem problem = { .tasks = tasks, .ntasks = all, .pooled = member->scope == KDRI_SCOPE_POOLED };
	KDRI_TRY(kdri_options_new(ctx, algo, member->settings, &options));
	if (!r->views->tasks[first].cosine)
		KDRI_TRY(kdri_options_apply(ctx, options, member->by_distance));
	if (r->views->tasks[first].joined)
		KDRI_TRY(kdri_options_apply(ctx, options, member->on_landmarks));
	if (j->quick)
		KDRI_TRY(kdri_options_apply(ctx, options, member->quick));
	KDRI_TRY(kdri_fit_member(ctx, &problem, options, &result));
	KDRI_TRY(KDRI_NEW(ctx, &labels, size));
	for (int64_t t = 0; t < all; t++) {
		int64_t n;
		const int64_t *found = kdr_result_labels(result, t, &n);
		for (int64_t i = 0; i < n; i++)
			labels[at + i] = (int32_t)found[i];
		at += n;
	}
	j->incomplete = j->quick || kdr_result_stop(result) == KDR_STOP_TIME ||
	                kdr_result_stop(result) == KDR_STOP_CANCELLED;
	j->labels = labels;
	labels = NULL;
done:
	KDRI_FREE(ctx, labels, init);
	kdr_result_free(result);
	kdr_options_free(options);
	kdri_free(ctx, tasks);
	return st;
}

static const char stage[] = "members";

/* Events of a job's context: progress is passed on from the caller's own thread, and a request to stop to all jobs. */
typedef struct relay {
	run *run;
	bool caller;
} relay;

/* Reports progress to the caller, on the caller's thread, and checks for cancellation. */
static void listen_to_caller(run *r)
{
	if (kdri_iteration(r->ctx, stage, (int64_t)atomic_load(&r->done), r->njobs, NAN) &&
	    (r->ctx->cancelled || !r->grace))
		atomic_store(&r->stop, true);
}

static int on_event(void *user, const kdr_event *event)
{
	relay *to = user;
	run *r = to->run;
	if (to->caller && event->kind == KDR_EVENT_ITERATION) {
		if (kdri_together(r->ctx)) /* other ranks may not be here */
			kdri_tell_iteration(r->ctx, stage, (int64_t)atomic_load(&r->done), r->njobs, NAN);
		else
			listen_to_caller(r);
	}
	return atomic_load(&r->stop) || (kdri_together(r->ctx) && r->ctx->stop_requested);
}

/* Whether it is true on any rank; it is if one has failed. */
static bool agreed(run *r, bool here)
{
	if (!kdri_together(r->ctx))
		return here;
	if (r->st == KDR_OK)
		r->st = kdri_any(r->ctx, &here);
	return here || r->st != KDR_OK;
}

static bool too_late(run *r, const job *j)
{
	double left = r->deadline - kdri_now(), needs = 0;
	if (!r->limited)
		return false;
	/* The same member with another seed will take as long as it did. */
	for (const job *earlier = r->jobs; earlier < j && r->options->table[j->member].most; earlier++)
		if (earlier->member == j->member && earlier->task == j->task)
			needs = earlier->seconds;
	return agreed(r, left < needs);
}

static bool on_graph(const run *r, const job *j)
{
	return r->options->table[j->member].view == KDRI_VIEW_GRAPH;
}

/* Its view is a graph that was skipped because of the time limit. */
static bool lacks_graph(const run *r, const job *j)
{
	kdri_view view = r->options->table[j->member].view;
	return (view == KDRI_VIEW_GRAPH || view == KDRI_VIEW_PLAIN) &&
	       !kdri_views_has_graph(r->views, j->task);
}

/* On the thread of a worker, or with all threads on the caller's (worker -1). */
static void run_job(run *r, job *j, int worker)
{
	bool first = j->member == 0 && j->seed == 0;
	const bool caller = worker <= 0;
	relay to = { r, caller };
	kdr_context own = r->pattern;
	if (worker >= 0)
		kdri_crew_join(&r->crew, worker, &own);
	own.progress = on_event;
	own.progress_user = &to;
	own.deadline = r->deadline;
	own.cancelled = own.timed_out = own.stop_requested = own.over_limit = false;
	/* Streams of random numbers are named by the seed: one a seed of the ensemble. */
	kdri_rng rng = kdri_rng_stream(r->pattern.seed, "members", (uint64_t)j->seed);
	own.seed = kdri_rng_u64(&rng);
	if (j->labels || j->st != KDR_OK) /* it was its turn before */
		return;
	if (r->st != KDR_OK) { /* reported to other ranks before anything else */
		atomic_fetch_add(&r->done, 1);
		return;
	}
	j->late = !first && (atomic_load(&r->stop) || too_late(r, j) || lacks_graph(r, j));
	if (!j->late) {
		double start = kdri_now();
		j->st = KDRI_TIMED(r->options->table[j->member].name, fit_job(&own, r, j));
		j->seconds = kdri_now() - start;
		j->over_limit = kdri_over_limit(&own, j->st);
		if (j->st != KDR_OK)
			snprintf(j->error, sizeof j->error, "%s", own.error);
		/* Without an error if another rank has failed: r->ctx has that. */
		if (j->st != KDR_OK && kdri_together(r->ctx))
			r->st = j->error[0] ? kdri_fail(r->ctx, j->st, "%s", j->error) : j->st;
	}
	atomic_fetch_add(&r->done, 1);
	if (caller && r->st == KDR_OK)
		listen_to_caller(r);
}

/* Quick answers of the first member; returns the seconds of the longest. */
static double answer_quickly(run *r)
{
	double start = kdri_now(), end = r->ctx->deadline, longest = 0;
	double time = KDRI_MAX(quick_share * (end - start), least_share * (end - r->ctx->clock_start));
	int64_t T = r->problem->ntasks, count = 0;
	for (int64_t i = 0; i < r->njobs; i++) {
		job *j = &r->jobs[i];
		if (j->member != 0 || j->seed != 0)
			continue;
		r->deadline = start + time * (double)++count / (double)T;
		j->quick = true;
		run_job(r, j, -1);
		j->quick = false;
		longest = KDRI_MAX(longest, j->seconds);
	}
	return longest;
}

/* The smallest task that was not tried yet, or -1. */
static int64_t next_task(const run *r)
{
	int64_t next = -1;
	for (int64_t t = 0; t < r->problem->ntasks; t++)
		if (!r->tried[t] && (next < 0 || members_rows_of(r, t) < members_rows_of(r, next)))
			next = t;
	return next;
}

/* Graphs and their members, one task at a time while enough time remains for the next: at least the time of its quick
 * answer, and the time per row of the other tasks. Returns whether all tasks were processed, and the seconds of the
 * members. */
static bool answer_on_graphs(run *r, double least, double *took)
{
	double start = kdri_now(), end = r->ctx->deadline + kdri_auto_grace(r->ctx), rows = 0;
	bool all = true;
	r->deadline = end;
	for (int64_t t = next_task(r); t >= 0; t = next_task(r)) {
		double n = (double)members_rows_of(r, t), spent = kdri_now() - start;
		r->tried[t] = true;
		if (atomic_load(&r->stop) ||
		    agreed(r, start + spent + KDRI_MAX(least, rows > 0 ? spent * n / rows : 0) > end)) {
			all = false;
			continue;
		}
		if (r->options->graph && (r->st = r->options->graph(r->ctx, r->options->user, t)) != KDR_OK)
			return false;
		for (int64_t i = 0; i < r->njobs; i++)
			if (on_graph(r, &r->jobs[i]) && r->jobs[i].task == t) {
				run_job(r, &r->jobs[i], -1);
				*took += r->jobs[i].seconds;
				all &= r->jobs[i].labels && !r->jobs[i].incomplete;
			}
		rows += n;
	}
	return all;
}

/* If time is short: a quick answer for each task, then good ones; then the time available to the other members. */
static void run_first(run *r)
{
	double end = r->ctx->deadline, took = 0;
	r->grace = true;
	atomic_store(&r->stop, agreed(r, r->ctx->cancelled));
	bool all = answer_on_graphs(r, answer_quickly(r), &took);
	r->grace = false;
	atomic_store(&r->stop, agreed(r, r->ctx->cancelled || r->ctx->timed_out));
	r->deadline = end - 2.5 * took - 0.1 * (end - r->ctx->clock_start);
	/* Other views and the first member take about as long as this did. */
	if (!all || agreed(r, kdri_now() + took > r->deadline))
		r->deadline = DBL_MIN;
	/* If there is enough time, the first member runs in full. */
	for (int64_t i = 0; i < r->njobs && r->deadline > DBL_MIN; i++)
		if (r->jobs[i].member == 0 && r->jobs[i].incomplete) {
			kdri_free(r->ctx, r->jobs[i].labels);
			r->jobs[i].labels = NULL;
			r->jobs[i].incomplete = false;
		}
}

static void run_light_job(void *user, int64_t i, int worker)
{
	run *r = user;
	/* Later members take longer: without a limit they start first, so that no long job starts last. */
	run_job(r, &r->jobs[r->limited ? i : r->light - 1 - i], worker);
}

static void wait_for_jobs(void *user)
{
	listen_to_caller(user);
}

static void run_jobs(run *r)
{
	if (r->limited)
		run_first(r);
	if (r->st == KDR_OK && r->options->prepare && !(r->limited && agreed(r, kdri_now() >= r->deadline)))
		r->st = KDRI_TIMED("directions", r->options->prepare(r->ctx, r->options->user));
	if (r->st != KDR_OK)
		return;
	while (r->light < r->njobs && !r->options->table[r->jobs[r->light].member].most)
		r->light++;
	const bool alone = r->light < 2 || kdri_together(r->ctx);
	const int workers =
	        alone ? 1 : kdri_workers(r->ctx, r->light, r->options->light_bytes, r->options->data_bytes);
	kdri_jobs_run(&(kdri_jobs){ .count = r->light,
	                            .workers = workers,
	                            .run = run_light_job,
	                            .wait = wait_for_jobs,
	                            .user = r,
	                            .crew = &r->crew });
	for (int64_t i = r->light; i < r->njobs; i++)
		run_job(r, &r->jobs[i], -1);
}

/* --- results ------------------------------------------------------------------------------------------- */

static bool concerns(const run *r, const job *j, int64_t t)
{
	const kdri_member *member = &r->options->table[j->member];
	return j->task == t || (j->task < 0 && votes_on(r, member, t) &&
	                        (member->scope == KDRI_SCOPE_JOINT || j->k == r->options->k[t]));
}

/* Which answers count: complete ones; if there are none, the first member's, which is better than incomplete
 * eigenvectors; if there are none, any. */
typedef enum answers { COMPLETE, FIRST_MEMBER, ANY, KINDS_OF_ANSWERS } answers;

/* Whether job j votes on task t. */
static bool speaks(const run *r, const job *j, int64_t t, answers count)
{
	bool sound = !j->incomplete || count == ANY || (count == FIRST_MEMBER && j->member == 0);
	return j->labels && sound && concerns(r, j, t);
}

static kdr_status members_collect(const run *r, int64_t t, kdri_ballot *out)
{
	kdr_status st;
	const kdri_ballot *given = given_of(r, t);
	const int64_t before = given ? given->count : 0;
	int64_t n = r->views->begin[t + 1] - r->views->begin[t], count = before;
	answers whose = COMPLETE;
	kdri_ballot b = { 0 };
	for (int kind = COMPLETE; kind < KINDS_OF_ANSWERS && (count == 0 || kind == COMPLETE); kind++) {
		whose = (answers)kind;
		for (int64_t i = 0; i < r->njobs; i++)
			count += speaks(r, &r->jobs[i], t, whose) ? r->jobs[i].runs : 0;
	}
	KDRI_TRY(kdri_ballot_new(r->ctx, n, count, &b));
	if (given) {
		b.requested = KDRI_MAX(given->requested, before);
		b.best = given->best;
	}
	for (int64_t m = 0; m < before; m++) {
		for (int64_t row = 0; row < n; row++)
			b.label[row * count + m] = given->label[row * before + m];
		b.weight[m] = given->weight[m];
		b.member[m] = given->member[m];
	}
	for (int64_t i = 0; i < r->njobs; i++)
		b.requested += concerns(r, &r->jobs[i], t) ? r->jobs[i].runs : 0;
	for (int64_t i = 0, m = before; i < r->njobs; i++) {
		const job *j = &r->jobs[i];
		const kdri_member *member = &r->options->table[j->member];
		for (int64_t q = 0; q < j->runs && speaks(r, j, t, whose); q++) {
			const int32_t *labels = j->labels + (j->task < 0 ? r->views->begin[t] : q * n);
			for (int64_t row = 0; row < n; row++)
				b.label[row * count + m] = labels[row];
			b.weight[m] = member->once ? (double)r->options->seeds : 1;
			b.transfer[m] = member->scope != KDRI_SCOPE_TASK;
			if (on_graph(r, j) && !j->incomplete)
				b.best = m;
			b.member[m++] = j->member;
		}
	}
	*out = b;
	b = (kdri_ballot){ 0 };
done:
	kdri_ballot_free(r->ctx, &b);
	return st;
}

static kdr_status report_member(const run *r, int64_t m, kdr_result *result, bool *out_of_time)
{
	const kdri_member *member = &r->options->table[m];
	int64_t failed = 0, late = 0, jobs = 0, T = r->problem->ntasks, large = 0;
	const job *first = NULL;
	for (int64_t i = 0; i < r->njobs; i++) {
		const job *j = &r->jobs[i];
		if (j->member != m)
			continue;
		jobs += j->runs;
		late += j->late || (j->st == KDR_OK && j->incomplete) ? j->runs : 0;
		failed += j->st != KDR_OK ? j->runs : 0;
		if (j->st != KDR_OK && !first)
			first = j;
	}
	for (int64_t t = 0; t < T && member->most; t++)
		large = KDRI_MAX(large, members_rows_of(r, t));
	if (member->scope != KDRI_SCOPE_TASK)
		large = T > 1 && r->views->options.together && member->most && votes_on_any(r, member)
		                ? rows_of_all(r)
		                : 0;
	if (large > 0 && on_landmarks(r))
		KDRI_DO(kdri_result_warn(
		        r->ctx, result,
		        "method '%s' was skipped on a graph of landmarks, because it needs n x n numbers",
		        member->name));
	else if (large > member->most)
		KDRI_DO(kdri_result_warn(
		        r->ctx, result,
		        "method '%s' was skipped above %lld samples, because it needs n x n numbers",
		        member->name, (long long)member->most));
	if (failed)
		KDRI_DO(kdri_result_warn(r->ctx, result,
		                         "method '%s' failed in %lld of %lld runs, which are ignored: %s",
		                         member->name, (long long)failed, (long long)jobs, first->error));
	*out_of_time = *out_of_time || late > 0;
	if (late && !r->ctx->cancelled)
		KDRI_DO(kdri_result_warn(
		        r->ctx, result,
		        "time limit reached: method '%s' was skipped or stopped early in %lld of %lld runs",
		        member->name, (long long)late, (long long)jobs));
	return KDR_OK;
}

kdr_status kdri_members_run(kdr_context *ctx, const kdr_problem *problem, const kdri_views *views,
                            const kdri_members_options *options, kdri_ballot *ballots, kdr_result *result,
                            bool *late)
{
	kdr_status st;
	run r = { .ctx = ctx,
		  .pattern = *ctx,
		  .problem = problem,
		  .views = views,
		  .options = options,
		  .crew.of = ctx };
	int64_t limited = ctx->deadline > 0;
	bool stop = ctx->cancelled || ctx->timed_out;
	*late = false;
	KDRI_TRY(kdri_any(ctx, &stop));
	atomic_store(&r.stop, stop);
	KDRI_TRY(kdri_min_int(ctx, &limited, 1));
	r.limited = limited != 0;
	r.deadline = r.limited ? ctx->deadline : 0;
	list_jobs(&r);
	KDRI_TRY(KDRI_NEW0(ctx, &r.jobs, r.njobs));
	KDRI_TRY(KDRI_NEW0(ctx, &r.tried, problem->ntasks));
	for (int64_t t = 0; t < problem->ntasks; t++)
		r.tried[t] = given_of(&r, t) != NULL;
	list_jobs(&r);
	kdri_stage_start(ctx, stage, r.njobs);
	run_jobs(&r);
	kdri_stage_end(ctx, stage);
	KDRI_TRY(r.st);
	for (int64_t i = 0; i < r.njobs; i++)
		if (r.jobs[i].st == KDR_ERR_MEMORY && !r.jobs[i].over_limit)
			KDRI_FAIL(ctx, KDR_ERR_MEMORY, "%s", r.jobs[i].error);
	for (int64_t t = 0; t < problem->ntasks; t++) {
		KDRI_TRY(members_collect(&r, t, &ballots[t]));
		for (int64_t i = 0; i < r.njobs && ballots[t].count == 0; i++)
			if (r.jobs[i].over_limit && concerns(&r, &r.jobs[i], t))
				KDRI_TRY(kdri_fail_limit(ctx, "%s", r.jobs[i].error));
	}
	for (int64_t m = 0; m < options->count; m++)
		KDRI_TRY(report_member(&r, m, result, late));
done:
	for (int64_t i = 0; r.jobs && i < r.njobs; i++)
		kdri_free(ctx, r.jobs[i].labels);
	KDRI_FREE(ctx, r.jobs, r.tried);
	return st;
}
