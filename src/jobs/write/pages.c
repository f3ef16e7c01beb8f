/* Files with rows of several ranks. SPDX-License-Identifier: BSD-3-Clause
 *
 * A turn begins and ends with kdri_agree: there, all ranks learn of a rank that has failed, and do not wait for its
 * rows. Within a turn a rank sends blocks, each after its length, and always a length of 0 at the end; rank 0
 * receives them all, even if it can no longer write. */
#include "jobs/write/pages.h"

#include "api/result.h"
#include "comm/comm.h"

/* What a rank without a file writes. */
static kdr_status send_block(void *user, const void *bytes, size_t size)
{
	const kdri_pages *p = user;
	int64_t length = (int64_t)size;
	if (!p->turn)
		return KDR_OK;
	KDRI_DO(kdri_send(p->ctx, &length, sizeof length, 0));
	return kdri_send(p->ctx, bytes, length, 0);
}

static kdr_status open_pages(kdr_context *ctx, const kdr_result *result, const char *path, bool force,
                             kdri_output_put *put, void *user, kdri_pages *p)
{
	kdr_status st;
	*p = (kdri_pages){ .ctx = ctx, .parted = result->parted };
	if (p->parted)
		kdri_enter(ctx);
	if (p->parted && kdri_rank(ctx) > 0)
		st = kdri_output_to(ctx, path, send_block, p, &p->out);
	else if (put)
		st = kdri_output_to(ctx, path, put, user, &p->out);
	else
		st = kdri_output_open(ctx, path, force, &p->out);
	return p->parted ? kdri_agree(ctx, st) : st;
}

kdr_status kdri_pages_open(kdr_context *ctx, const kdr_result *result, const char *path, bool force,
                           kdri_pages *p)
{
	return open_pages(ctx, result, path, force, NULL, NULL, p);
}

kdr_status kdri_pages_open_to(kdr_context *ctx, const kdr_result *result, kdri_output_put *put, void *user,
                              kdri_pages *p)
{
	return open_pages(ctx, result, "output", false, put, user, p);
}

kdr_status kdri_pages_turn(kdri_pages *p)
{
	if (!p->parted)
		return KDR_OK;
	KDRI_DO(kdri_agree(p->ctx, KDR_OK));
	if (kdri_rank(p->ctx) > 0)
		KDRI_DO(kdri_output_flush(p->ctx, p->out)); /* dropped */
	p->turn = true;
	return KDR_OK;
}

/* Rank 0: the rows of rank `from` after those before. */
static kdr_status take_blocks(kdri_pages *p, int from, kdr_status st)
{
	unsigned char block[KDRI_OUTPUT_BLOCK];
	int64_t length = 0;
	for (;;) {
		kdr_status came = kdri_receive(p->ctx, &length, sizeof length, from);
		if (came != KDR_OK || length == 0)
			return came != KDR_OK ? came : st;
		came = kdri_receive(p->ctx, block, length, from);
		if (came != KDR_OK)
			return came;
		if (st == KDR_OK)
			st = kdri_output_write(p->ctx, p->out, block, (size_t)length);
	}
}

kdr_status kdri_pages_end_turn(kdri_pages *p, kdr_status st)
{
	const int64_t end = 0;
	if (!p->turn) /* alone, or somebody failed before */
		return st;
	if (kdri_rank(p->ctx) == 0) {
		for (int r = 1; r < kdri_ranks(p->ctx); r++)
			st = take_blocks(p, r, st);
	} else {
		kdr_status sent = st == KDR_OK ? kdri_output_flush(p->ctx, p->out) : st;
		st = kdri_send(p->ctx, &end, sizeof end, 0);
		st = sent == KDR_OK ? st : sent;
	}
	p->turn = false;
	return kdri_agree(p->ctx, st);
}

kdr_status kdri_pages_close(kdri_pages *p, kdr_status st)
{
	if (p->parted)
		st = kdri_agree(p->ctx, st);
	st = kdri_output_finish(p->ctx, p->out, st);
	if (p->parted)
		st = kdri_leave(p->ctx, st);
	*p = (kdri_pages){ 0 };
	return st;
}
