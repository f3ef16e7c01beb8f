/* Running the members of a vote one after the other. SPDX-License-Identifier: BSD-3-Clause
 *
 *     kdri_frame f = kdri_frame_new(ctx, result, 0.75);          members have three quarters of the time that is left
 *     KDRI_TRY(kdri_frame_ask(&f, &turn, &answered));            for each; if it answered, the caller takes its vote
 *     KDRI_TRY(kdri_frame_end(&f, KDR_ERR_NUMERIC, "nobody voted"));
 *
 * A member that fails, cannot run, ends too late or exceeds the limit on memory is skipped, with a warning in the result.
 * The vote fails only if the machine has no memory left or no member voted. The first member that votes may take any time. */
#ifndef KDRI_FRAME_H
#define KDRI_FRAME_H

#include "api/method.h"

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
