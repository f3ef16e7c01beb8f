/* Runs the members of a transfer's ensemble. SPDX-License-Identifier: BSD-3-Clause
 *
 * Without a time limit, members that use the same view run side by side as far as memory allows: first those on Z, then those on E. */
#include "methods/transfer_auto/tally.h"

#include "core/side_by_side.h"

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
