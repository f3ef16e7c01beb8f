/* Runs single members of a transfer's ensemble. SPDX-License-Identifier: BSD-3-Clause */
#include "methods/transfer_auto/tally.h"

/* Rows that are no numbers make a member useless. */
static bool is_finite(const double *p, int64_t count)
{
	for (int64_t i = 0; i < count; i++)
		if (!isfinite(p[i]))
			return false;
	return true;
}

typedef struct member_turn {
	kdri_transfer_tally *w;
	const kdri_transfer_member *member;
} member_turn;

static kdr_status run_member(kdr_context *ctx, void *user)
{
	kdr_status st = KDR_OK;
	const member_turn *turn = user;
	kdri_transfer_tally *w = turn->w;
	if (turn->member->on_e)
		KDRI_TRY(kdri_transfer_views_align(ctx, &w->v, turn->member->joint));
	else
		kdri_transfer_views_part(ctx, &w->v);
	KDRI_TRY(turn->member->run(ctx, &w->shared, w->p));
	if (!is_finite(w->p + w->first * w->c, w->n * w->c))
		st = kdri_fail(ctx, KDR_ERR_NUMERIC, "its numbers became too large");
done:
	return st;
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

kdr_status kdri_transfer_tally_ask(kdri_transfer_tally *w, int64_t m)
{
	kdr_status st;
	const kdri_transfer_member *member = &kdri_transfer_members[m];
	member_turn user = { w, member };
	const bool able = !member->able || member->able(&w->shared);
	const kdri_turn turn = { .name = member->name,
		                 .number = w->round * KDRI_TRANSFER_MEMBERS + m,
		                 .of = w->rounds * KDRI_TRANSFER_MEMBERS,
		                 .unable =
		                         able ? NULL : "it would need too much memory for this many samples",
		                 .run = run_member,
		                 .user = &user };
	bool answered;
	if (!takes_part(w, m))
		return KDR_OK;
	w->was_run[m] = true;
	KDRI_TRY(kdri_frame_ask(&w->frame, &turn, &answered));
	if (answered)
		KDRI_TRY(kdri_transfer_tally_take(w, m));
done:
	return st;
}
