/* Members that predict held-out source samples poorly do not vote. SPDX-License-Identifier: BSD-3-Clause
 *
 * Every member is fitted on one half of the labelled source samples and predicts the other half, both ways. With a_m its accuracy
 * and maj the proportion of the largest class,
 *
 *   (E1)  kappa_m = (a_m - maj) / (max_m a_m - maj); members with kappa_m < 0.5 do not vote
 *   (E2)  all members vote if max_m a_m - maj < 0.02: no member has learnt much
 *   (E3)  the non-linear members on dense data, which are worse if linear ones do well, vote only if the best of them
 *         leads the best of the others by more than 0.03; then members more than 0.03 below the best do not vote
 *
 * The halves are stratified by source and class. At most 4,000 samples are used, so that large sources cost little.
 * The gate is skipped with fewer than 4 samples per class on average. It gets a quarter of the remaining time; if
 * that is not enough, all members vote. Without a time limit both ways run side by side, if they need no more memory than the vote
 * after them. */
#include "comm/comm.h"
#include "core/side_by_side.h"
#include "methods/transfer_auto/auto_transfer.h"

/* Runs the members of a transfer's ensemble.
 *
 * Without a time limit, members that use the same view run side by side as far as memory allows: first those on Z, then those on E. */

/* Rows that are no numbers make a member useless. */
static bool is_finite(const double *p, int64_t count)
{
	for (int64_t i = 0; i < count; i++)
		if (!isfinite(p[i]))
			return false;
	return true;
}

static kdr_status run_on_views(kdr_context *ctx, kdri_transfer_tally *w, const kdri_transfer_member *member,
                               double *p)
{
	kdr_status st;
	KDRI_TRY(member->run(ctx, &w->shared, p));
	if (!is_finite(p + w->first * w->c, w->n * w->c))
		st = kdri_fail(ctx, KDR_ERR_NUMERIC, "its numbers became too large");
done:
	return st;
}

static kdr_status prepare_views(kdr_context *ctx, kdri_transfer_tally *w, bool on_e, bool joint)
{
	if (on_e)
		return kdri_transfer_views_align(ctx, &w->v, joint);
	kdri_transfer_views_part(ctx, &w->v);
	return KDR_OK;
}

typedef struct member_turn {
	kdri_transfer_tally *w;
	const kdri_transfer_member *member;
} member_turn;

static kdr_status run_member(kdr_context *ctx, void *user)
{
	const member_turn *turn = user;
	KDRI_DO(prepare_views(ctx, turn->w, turn->member->on_e, turn->member->joint));
	return run_on_views(ctx, turn->w, turn->member, turn->w->p);
}

static bool takes_part(const kdri_transfer_tally *w, int64_t m)
{
	const kdri_transfer_member *member = &kdri_transfer_members[m];
	if (w->o->only == m)
		return true;
	if (w->o->tables)
		return member->tables || !member->curved;
	return member->curved ? !w->v.words : !member->tables;
}

static kdri_turn turn_of(const kdri_transfer_tally *w, int64_t m)
{
	const kdri_transfer_member *member = &kdri_transfer_members[m];
	const bool able = !member->able || member->able(&w->shared);
	return (kdri_turn){ .name = member->name,
		            .number = w->round * KDRI_TRANSFER_MEMBERS + m,
		            .of = w->rounds * KDRI_TRANSFER_MEMBERS,
		            .unable = able ? NULL : "it would need too much memory for this many samples" };
}

static kdr_status ask_one(kdri_transfer_tally *w, int64_t m)
{
	member_turn user = { w, &kdri_transfer_members[m] };
	kdri_turn turn = turn_of(w, m);
	bool answered;
	turn.run = run_member;
	turn.user = &user;
	KDRI_DO(kdri_frame_ask(&w->frame, &turn, &answered));
	if (answered)
		KDRI_DO(kdri_transfer_tally_take(w, m, w->p));
	return KDR_OK;
}

/* --- several at a time ------------------------------------------------------------------------------- */

typedef struct batch {
	kdri_transfer_tally *w;
	int64_t count, member[KDRI_TRANSFER_MEMBERS];
	double *p[KDRI_TRANSFER_MEMBERS]; /* all rows x c each */
	kdr_status st[KDRI_TRANSFER_MEMBERS];
	bool over_limit[KDRI_TRANSFER_MEMBERS];
	char error[KDRI_TRANSFER_MEMBERS][512];
} batch;

/* A member that fails is skipped; only a machine without memory ends the batch. */
static kdr_status run_in_batch(kdr_context *ctx, void *user, int64_t i, int worker)
{
	batch *b = user;
	(void)worker;
	const kdri_transfer_member *member = &kdri_transfer_members[b->member[i]];
	b->st[i] = KDRI_TIMED(member->name, run_on_views(ctx, b->w, member, b->p[i]));
	if (b->st[i] != KDR_OK)
		memcpy(b->error[i], ctx->error, sizeof b->error[i]);
	b->over_limit[i] = kdri_over_limit(ctx, b->st[i]);
	return b->st[i] == KDR_ERR_MEMORY && !b->over_limit[i] ? b->st[i] : KDR_OK;
}

static kdr_status batch_ask(batch *b, int workers)
{
	kdr_status st = KDR_OK;
	kdri_transfer_tally *w = b->w;
	const kdri_transfer_member *first = &kdri_transfer_members[b->member[0]];
	kdr_context *own = &w->frame.own;
	bool joint = false, answered;
	for (int64_t i = 0; i < b->count; i++) {
		joint = joint || kdri_transfer_members[b->member[i]].joint;
		KDRI_TRY(KDRI_NEW(w->ctx, &b->p[i], w->d.n * w->c));
	}
	const kdr_status ready = KDRI_TIMED("alignment", prepare_views(own, w, first->on_e, joint));
	for (int64_t i = 0; i < b->count && ready != KDR_OK; i++) {
		b->st[i] = ready;
		b->over_limit[i] = kdri_over_limit(own, ready);
		memcpy(b->error[i], own->error, sizeof b->error[i]);
	}
	if (ready == KDR_OK)
		st = kdri_side_by_side(own, &(kdri_side){ .count = b->count,
		                                          .workers = workers,
		                                          .run = run_in_batch,
		                                          .user = b,
		                                          .stage = "members",
		                                          .from = turn_of(w, b->member[0]).number,
		                                          .total = w->rounds * KDRI_TRANSFER_MEMBERS });
	if (st != KDR_OK) { /* `own` is not the caller's context */
		KDRI_FAIL(w->ctx, st, "%s", own->error);
	}
	for (int64_t i = 0; i < b->count; i++) {
		const kdri_turn turn = turn_of(w, b->member[i]);
		KDRI_TRY(kdri_frame_ended(&w->frame, &turn, b->st[i], b->over_limit[i], b->error[i],
		                          &answered));
		if (answered)
			KDRI_TRY(kdri_transfer_tally_take(w, b->member[i], b->p[i]));
	}
done:
	for (int64_t i = 0; i < b->count; i++)
		kdri_free(w->ctx, b->p[i]);
	return st;
}

/* The number of members that may run at a time. It is one with a time limit, because some may have to be skipped. */
static int batch_workers(const kdri_transfer_tally *w, int64_t count, bool on_e)
{
	/* The largest arrays of a member: denoised features twice on Z, and copies of the rows on E. */
	const double copies = 4, each = on_e ? copies * (double)w->d.n * (double)w->v.width
	                                     : 2 * kdri_transfer_layers_cells(&w->shared);
	if (count < 2 || kdri_team(w->ctx) < 2 || w->frame.own.deadline > 0)
		return 1;
	return kdri_workers(w->ctx, count, 8 * each, 8 * (double)kdr_mat_nnz(&w->d.set.x.view));
}

kdr_status kdri_transfer_tally_ask(kdri_transfer_tally *w, const bool *wanted)
{
	bool ask[KDRI_TRANSFER_MEMBERS];
	for (int64_t m = 0; m < KDRI_TRANSFER_MEMBERS; m++) {
		ask[m] = wanted[m] && takes_part(w, m);
		w->was_run[m] = w->was_run[m] || ask[m];
	}
	/* The first member finds what others use. */
	for (int64_t m = 0; m < KDRI_TRANSFER_MEMBERS && !w->shared.scores; m++)
		if (ask[m]) {
			KDRI_DO(ask_one(w, m));
			ask[m] = false;
		}
	for (int on_e = 0; on_e < 2; on_e++) {
		batch b = { .w = w };
		for (int64_t m = 0; m < KDRI_TRANSFER_MEMBERS; m++)
			if (ask[m] && kdri_transfer_members[m].on_e == on_e && !turn_of(w, m).unable)
				b.member[b.count++] = m;
		const int workers = batch_workers(w, b.count, on_e);
		if (workers > 1) {
			KDRI_DO(batch_ask(&b, workers));
			for (int64_t i = 0; i < b.count; i++)
				ask[b.member[i]] = false;
		}
	}
	for (int64_t m = 0; m < KDRI_TRANSFER_MEMBERS; m++)
		if (ask[m])
			KDRI_DO(ask_one(w, m));
	return KDR_OK;
}

static const double least_kappa = 0.5, least_learnt = 0.02, lead = 0.03, share_of_time = 0.25;
enum { MOST_ROWS = 4000, LEAST_PER_CLASS = 4, UNUSED = -1 };

void kdri_transfer_gate_free(kdr_context *ctx, kdri_transfer_gate *g)
{
	kdri_free(ctx, g->confusion);
	*g = (kdri_transfer_gate){ 0 };
}

void kdri_transfer_gate_exclude(const double *accuracy, const bool *must_lead, int64_t count, double majority,
                                kdri_transfer_exclusion *excluded)
{
	double best = -INFINITY, leader = -INFINITY;
	for (int64_t m = 0; m < count; m++) {
		double *of = must_lead[m] ? &leader : &best;
		*of = accuracy[m] > *of ? accuracy[m] : *of;
	}
	const bool leads = leader > best + lead;
	for (int64_t m = 0; m < count; m++) {
		bool inaccurate = best - majority >= least_learnt &&                        /* (E2) */
		                  accuracy[m] - majority < least_kappa * (best - majority); /* (E1) */
		if (leads)
			inaccurate = accuracy[m] < leader - lead; /* (E3) */
		excluded[m] = must_lead[m] && !(leads && accuracy[m] >= leader - lead) ? KDRI_TRANSFER_NO_LEAD
		              : inaccurate ? KDRI_TRANSFER_INACCURATE
		                           : KDRI_TRANSFER_VOTES;
	}
}

/* --- the halves ------------------------------------------------------------------------------------------ */

typedef struct halves {
	const kdr_problem *problem;
	int64_t **half;        /* of each row of each source: 0, 1 or UNUSED; NULL for other tasks */
	int64_t *count, known; /* labelled source samples of each class, and in all */
} halves;

static bool is_source(const kdr_task *task)
{
	return task->role == KDR_ROLE_SOURCE && task->labels;
}

/* Whether both halves will have two classes, and enough samples of them. */
static bool halves_are_large(const halves *h)
{
	int64_t present = 0, shared = 0;
	for (int64_t k = 0; k < h->problem->classes; k++) {
		present += h->count[k] > 0;
		shared += h->count[k] > 1;
	}
	return shared > 1 && h->known >= LEAST_PER_CLASS * present;
}

/* Rows of class k of one source in random order, alternately into both halves. seen: how many of the class were, of all sources. */
static void halve_class(const kdr_task *task, int64_t k, double share, kdri_rng *rng, int64_t *list,
                        int64_t *seen, int64_t *half)
{
	int64_t count = 0, n = kdr_mat_rows(&task->x);
	for (int64_t i = 0; i < n; i++)
		if (task->labels[i] == k)
			list[count++] = i;
	int64_t used = share < 1 ? KDRI_MIN(count, KDRI_MAX(2, (int64_t)(share * (double)count))) : count;
	for (int64_t i = 0; i < used; i++) {
		int64_t at = i + kdri_rng_below(rng, count - i);
		half[list[at]] = (k + (*seen)++) % 2;
		list[at] = list[i];
	}
}

static kdr_status halves_draw(kdr_context *ctx, halves *h)
{
	kdr_status st;
	int64_t *list = NULL, *seen = NULL, most = 0;
	for (int64_t t = 0; t < h->problem->ntasks; t++)
		most = KDRI_MAX(most, kdr_mat_rows(&h->problem->tasks[t].x));
	KDRI_TRY(KDRI_NEW(ctx, &list, most));
	KDRI_TRY(KDRI_NEW0(ctx, &seen, h->problem->classes));
	KDRI_TRY(KDRI_NEW0(ctx, &h->half, h->problem->ntasks));
	for (int64_t t = 0; t < h->problem->ntasks; t++) {
		const kdr_task *task = &h->problem->tasks[t];
		kdri_rng rng = kdri_rng_stream(ctx->seed, "halves", (uint64_t)t);
		int64_t n = kdr_mat_rows(&task->x);
		if (!is_source(task))
			continue;
		KDRI_TRY(KDRI_NEW(ctx, &h->half[t], n));
		for (int64_t i = 0; i < n; i++)
			h->half[t][i] = UNUSED;
		for (int64_t k = 0; k < h->problem->classes; k++)
			halve_class(task, k, (double)MOST_ROWS / (double)h->known, &rng, list, &seen[k],
			            h->half[t]);
	}
done:
	KDRI_FREE(ctx, list, seen);
	return st;
}

/* --- one way ------------------------------------------------------------------------------------------- */

/* Sources with one half of their rows, and the other halves as a target whose classes are known to `truth` alone. */
typedef struct part {
	int64_t ntasks;
	kdr_task *tasks;
	kdri_own *x;      /* of the tasks */
	int64_t **labels; /* of the sources */
	int64_t *truth;
} part;

static void part_free(kdr_context *ctx, part *p, int64_t most)
{
	for (int64_t t = 0; t < most; t++) {
		if (p->x)
			kdri_own_free(ctx, &p->x[t]);
		if (p->labels)
			kdri_free(ctx, p->labels[t]);
	}
	KDRI_FREE(ctx, p->x, p->labels, p->tasks, p->truth);
}

/* Rows of a source in half `half`, and their classes. */
static kdr_status take_half(kdr_context *ctx, const halves *h, int64_t t, int64_t half, kdri_own *x,
                            int64_t *labels, int64_t *count)
{
	kdr_status st = KDR_OK;
	const kdr_task *task = &h->problem->tasks[t];
	int64_t *rows = NULL, n = 0;
	KDRI_TRY(KDRI_NEW(ctx, &rows, kdr_mat_rows(&task->x)));
	for (int64_t i = 0; i < kdr_mat_rows(&task->x); i++)
		if (h->half[t][i] == half) {
			labels[n] = task->labels[i];
			rows[n++] = i;
		}
	if (n > 0)
		KDRI_TRY(kdri_mat_take(ctx, &task->x, rows, n, x));
	*count = n;
done:
	kdri_free(ctx, rows);
	return st;
}

static kdr_status take_target(kdr_context *ctx, const halves *h, int64_t half, kdri_own *x, int64_t *truth)
{
	kdr_status st;
	int64_t T = h->problem->ntasks, count = 0, n = 0, rows;
	kdri_own *parts = NULL;
	const kdr_mat **views = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &parts, T));
	KDRI_TRY(KDRI_NEW(ctx, &views, T));
	for (int64_t t = 0; t < T; t++) {
		if (!h->half[t])
			continue;
		KDRI_TRY(take_half(ctx, h, t, half, &parts[count], truth + n, &rows));
		n += rows;
		if (rows > 0) {
			views[count] = &parts[count].view;
			count++;
		}
	}
	KDRI_TRY(kdri_mat_stack(ctx, views, count, x));
done:
	for (int64_t t = 0; parts && t < T; t++)
		kdri_own_free(ctx, &parts[t]);
	KDRI_FREE(ctx, parts, views);
	return st;
}

static kdr_status part_new(kdr_context *ctx, const halves *h, int64_t half, part *out)
{
	kdr_status st;
	int64_t T = h->problem->ntasks, rows;
	part p = { 0 };
	KDRI_TRY(KDRI_NEW0(ctx, &p.tasks, T));
	KDRI_TRY(KDRI_NEW0(ctx, &p.x, T));
	KDRI_TRY(KDRI_NEW0(ctx, &p.labels, T));
	KDRI_TRY(KDRI_NEW(ctx, &p.truth, h->known));
	for (int64_t t = 0; t < T; t++) {
		if (!h->half[t])
			continue;
		int64_t at = p.ntasks;
		KDRI_TRY(KDRI_NEW(ctx, &p.labels[at], kdr_mat_rows(&h->problem->tasks[t].x)));
		KDRI_TRY(take_half(ctx, h, t, half, &p.x[at], p.labels[at], &rows));
		if (rows == 0) {
			kdri_free(ctx, p.labels[at]);
			p.labels[at] = NULL;
			continue;
		}
		p.tasks[at] =
		        (kdr_task){ .role = KDR_ROLE_SOURCE, .x = p.x[at].view, .labels = p.labels[at] };
		p.ntasks++;
	}
	KDRI_TRY(take_target(ctx, h, 1 - half, &p.x[p.ntasks], p.truth));
	p.tasks[p.ntasks] = (kdr_task){ .role = KDR_ROLE_TARGET, .x = p.x[p.ntasks].view };
	p.ntasks++;
	*out = p;
	p = (part){ 0 };
done:
	part_free(ctx, &p, T);
	return st;
}

/* Adds the right votes of each member to its accuracy, and to the confusion. */
static void count_right(const kdri_transfer_tally *w, const int64_t *truth, int64_t classes,
                        kdri_transfer_gate *g)
{
	for (int m = 0; m < KDRI_TRANSFER_MEMBERS; m++) {
		int64_t right = 0;
		for (int64_t i = 0; w->votes[m] && i < w->n; i++)
			right += w->d.class_of[w->votes[m][i]] == truth[i];
		g->accuracy[m] += w->votes[m] ? (double)right : NAN;
	}
	for (int64_t i = 0; i < w->n; i++)
		g->confusion[w->d.class_of[kdri_transfer_tally_majority(w, i)] * classes + truth[i]]++;
}

/* Runs all members on one part. g->done stays true if they had time. */
static kdr_status run_part(kdr_context *ctx, const halves *h, int64_t half,
                           const kdri_transfer_options *options, kdri_transfer_gate *g)
{
	kdr_status st;
	part p = { 0 };
	bool everyone[KDRI_TRANSFER_MEMBERS];
	kdri_transfer_tally w = kdri_transfer_tally_empty(ctx, options, NULL);
	KDRI_TRY(part_new(ctx, h, half, &p));
	const kdr_problem problem = { .tasks = p.tasks, .ntasks = p.ntasks, .classes = h->problem->classes };
	KDRI_TRY(kdri_transfer_tally_begin(&w, &problem));
	w.frame = kdri_frame_new(ctx, NULL, 1);
	w.round = half;
	w.rounds = 3;
	w.shared.quick = true;
	memset(everyone, true, sizeof everyone);
	KDRI_TRY(kdri_transfer_tally_ask(&w, everyone));
	KDRI_TRY(kdri_frame_end(&w.frame, KDR_ERR_NUMERIC, ""));
	if (w.frame.over_limit) /* members are compared only if all have run */
		KDRI_TRY(kdri_fail_limit(ctx, "%s", w.frame.own.error));
	ctx->timed_out |= w.frame.own.timed_out;
	g->done = !w.frame.late && !ctx->cancelled && !ctx->timed_out && w.votes[KDRI_TRANSFER_SVM];
	if (g->done)
		count_right(&w, p.truth, h->problem->classes, g);
done:
	kdri_transfer_tally_free(ctx, &w);
	part_free(ctx, &p, h->problem->ntasks);
	return st;
}

/* Both ways. */
typedef struct ways {
	const halves *h;
	const kdri_transfer_options *options;
	kdri_transfer_gate g[2];
} ways;

static kdr_status run_way(kdr_context *ctx, void *user, int64_t half, int worker)
{
	ways *w = user;
	const int64_t classes = w->h->problem->classes;
	(void)worker;
	KDRI_DO(KDRI_NEW0(ctx, &w->g[half].confusion, classes * classes));
	return run_part(ctx, w->h, half, w->options, &w->g[half]);
}

/* Whether both ways may run at a time. */
static bool run_together(const kdr_context *ctx, const halves *h)
{
	int64_t rows = 0;
	for (int64_t t = 0; t < h->problem->ntasks; t++)
		rows += kdr_mat_rows(&h->problem->tasks[t].x);
	return kdri_team(ctx) > 1 && ctx->deadline <= 0 && ctx->max_memory <= 0 && !kdri_together(ctx) &&
	       2 * KDRI_MIN(h->known, MOST_ROWS) <= rows;
}

/* Runs both ways and adds up what they found. */
static kdr_status run_ways(kdr_context *ctx, const halves *h, const kdri_transfer_options *options,
                           kdri_transfer_gate *g)
{
	kdr_status st = KDR_OK;
	const int64_t classes = h->problem->classes;
	ways w = { .h = h, .options = options };
	if (run_together(ctx, h)) {
		KDRI_TRY(kdri_side_by_side(
		        ctx, &(kdri_side){ .count = 2, .workers = 2, .run = run_way, .user = &w }));
	} else {
		KDRI_TRY(run_way(ctx, &w, 0, 0));
		if (w.g[0].done)
			KDRI_TRY(run_way(ctx, &w, 1, 0));
	}
	g->done = w.g[0].done && w.g[1].done;
	for (int m = 0; m < KDRI_TRANSFER_MEMBERS && g->done; m++)
		g->accuracy[m] = w.g[0].accuracy[m] + w.g[1].accuracy[m];
	for (int64_t p = 0; p < classes * classes && g->done; p++)
		g->confusion[p] = w.g[0].confusion[p] + w.g[1].confusion[p];
done:
	kdri_transfer_gate_free(ctx, &w.g[0]);
	kdri_transfer_gate_free(ctx, &w.g[1]);
	return st;
}

kdr_status kdri_transfer_gate_new(kdr_context *ctx, const kdr_problem *problem,
                                  const kdri_transfer_options *options, kdri_transfer_gate *out)
{
	kdr_status st = KDR_OK;
	halves h = { .problem = problem };
	kdri_transfer_gate g = { 0 };
	const double now = kdri_now(), deadline = ctx->deadline;
	double total = 0;
	if (ctx->cancelled || ctx->timed_out || (deadline > 0 && now >= deadline))
		return KDR_OK;
	if (deadline > 0)
		ctx->deadline = now + share_of_time * (deadline - now);
	KDRI_TRY(KDRI_NEW0(ctx, &h.count, h.problem->classes));
	for (int64_t t = 0; t < h.problem->ntasks; t++) {
		const kdr_task *task = &h.problem->tasks[t];
		for (int64_t i = 0; is_source(task) && i < kdr_mat_rows(&task->x); i++)
			if (task->labels[i] >= 0) {
				h.count[task->labels[i]]++;
				h.known++;
			}
	}
	if (!halves_are_large(&h))
		goto done;
	KDRI_TRY(halves_draw(ctx, &h));
	KDRI_TRY(KDRI_NEW0(ctx, &g.confusion, problem->classes * problem->classes));
	KDRI_TRY(run_ways(ctx, &h, options, &g));
	if (!g.done)
		goto done;
	for (int64_t k = 0; k < problem->classes; k++) {
		double count = 0;
		for (int64_t j = 0; j < problem->classes; j++)
			count += g.confusion[j * problem->classes + k];
		total += count;
		g.majority = KDRI_MAX(g.majority, count);
	}
	g.majority /= total;
	for (int m = 0; m < KDRI_TRANSFER_MEMBERS; m++)
		g.accuracy[m] /= total;
	*out = g;
	g = (kdri_transfer_gate){ 0 };
done:
	ctx->deadline = deadline;
	ctx->timed_out = false; /* that was the gate's own time limit */
	if (st != KDR_ERR_MEMORY) {
		ctx->error[0] = 0;
		st = KDR_OK; /* whether the members can label the target is decided there */
	}
	kdri_transfer_gate_free(ctx, &g);
	for (int64_t t = 0; h.half && t < h.problem->ntasks; t++)
		kdri_free(ctx, h.half[t]);
	KDRI_FREE(ctx, h.half, h.count);
	return st;
}
