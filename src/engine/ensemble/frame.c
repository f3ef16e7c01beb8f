/* Running the members of a vote one after the other. SPDX-License-Identifier: BSD-3-Clause */
#include "engine/ensemble/frame.h"

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
