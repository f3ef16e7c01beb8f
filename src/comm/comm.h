/* Processes that hold the rows of one problem between them. SPDX-License-Identifier: BSD-3-Clause
 *
 * A method that can run on several processes (ranks) is written once: it works on the rows it has, and calls these
 * functions where a number has to be that of all rows. Alone, which is the rule, they do nothing and cost nothing. Behind
 * them is MPI (mpi.c, only in builds with KINDRED_MPI), or whatever kdri_comm_ops is filled with.
 *
 * All ranks make the same calls in the same order: what decides about calls (labels that moved, an objective, the time)
 * is itself such a number. They count between kdri_enter and kdri_leave alone; outside, as while files are read, each
 * rank is by itself.
 *
 * Failures. Before each exchange the ranks meet and say to each other whether they are well: one integer, beside which up to
 * KDRI_ALONG numbers of the exchange go along, so that small ones are over with that. A rank that fails leaves
 * the method as ever and says so in kdri_leave; the others hear it where they meet next, and their call fails with the
 * same status and "rank 2: " before the same line. So all of them return, and nobody waits for a rank that has left. One
 * that is killed cannot say it; mpirun then ends the others. The same integer says whether a rank wants to stop:
 * kdri_iteration_met goes by what was said last.
 *
 * Waiting. Ranks wait for the slowest of them wherever they meet, and a core may lose milliseconds at any time. Few meetings
 * with much work between them lose less than many: what one rank is late with, another is later. So exchanges that follow
 * each other without work between them cost little, and work between them much.
 *
 * Order. Sums of integers do not depend on the order they are added in, nor do the sums of exact.h: what is built on them
 * is the same for any number of ranks and any cut of the rows, to the last bit. kdri_sum of plain numbers is not. */
#ifndef KDRI_COMM_H
#define KDRI_COMM_H

#include "core/internal.h"

typedef enum kdri_fold { KDRI_FOLD_SUM, KDRI_FOLD_MAX, KDRI_FOLD_MIN } kdri_fold;

/* What ranks meet with. One that has failed brings a word and no numbers; nobody looks at those of the others then. */
enum { KDRI_ALONG = 62 };
typedef struct kdri_meeting {
	int64_t word; /* the largest of all */
	int16_t count, tops,
	        how; /* numbers that come along, and the kdri_fold that joins them; the last `tops` by their largest */
	bool brings, whole; /* there are some; they are integers */
	union {
		double real[KDRI_ALONG];
		int64_t whole[KDRI_ALONG];
	} v;
} kdri_meeting;
/* *all becomes what *one and *all give together; the order does not matter but to the rounding of sums. */
void kdri_meeting_join(const kdri_meeting *one, kdri_meeting *all);

/* A way to reach the other ranks. Each call is made by all of them; false: it failed for good. */
typedef struct kdri_comm_ops {
	bool (*meet)(void *user, kdri_meeting *m); /* kdri_meeting_join of all, on all ranks */
	bool (*fold_real)(void *user, double *v, int64_t count, kdri_fold how); /* in place, on all ranks */
	bool (*fold_int)(void *user, int64_t *v, int64_t count, kdri_fold how);
	bool (*share)(void *user, void *bytes, int64_t count, int from); /* from's bytes, on all ranks */
	bool (*send)(void *user, const void *bytes, int64_t count, int to);
	bool (*receive)(void *user, void *bytes, int64_t count, int from);
	void (*close)(void *user);
} kdri_comm_ops;

typedef struct kdri_comm {
	kdri_comm_ops ops;
	void *user;
	int rank, ranks;
	int depth;         /* calls of kdri_enter that are open */
	int apart;         /* > 0: each rank by itself */
	kdr_status failed; /* of this rank or another; until the outermost kdri_leave */
	int heard;         /* where the ranks met last: 0, or the largest wish to stop */
	int64_t exchanges; /* calls that went out */
	int64_t bytes;     /* that this rank put into them */
} kdri_comm;

/* The context works with others from now on, until it is freed; takes `comm` over, also when it fails. */
kdr_status kdri_comm_set(kdr_context *ctx, const kdri_comm_ops *ops, void *user, int rank, int ranks);

/* Whether rows are held by other ranks, too, in what is done now. */
static inline bool kdri_together(const kdr_context *ctx)
{
	return ctx->comm && ctx->comm->depth > 0 && ctx->comm->apart == 0;
}
/* This rank, and how many there are: 0 of 1 alone. */
int kdri_rank(const kdr_context *ctx);
int kdri_ranks(const kdr_context *ctx);

/* Whether there are others to work with now. */
static inline bool kdri_several(const kdr_context *ctx)
{
	return kdri_together(ctx) && ctx->comm->ranks > 1;
}

/* A function of the library that its caller calls on all ranks: enter, and at its only end st = leave(ctx, st), after which
 * all ranks have one status. Calls may lie within each other. */
void kdri_enter(kdr_context *ctx);
kdr_status kdri_leave(kdr_context *ctx, kdr_status st);
/* The same in the middle of one: whether all are well, such as after a check of their own rows. */
kdr_status kdri_agree(kdr_context *ctx, kdr_status st);
/* Between these each rank works for itself on what all of them have. */
void kdri_apart(kdr_context *ctx);
void kdri_rejoin(kdr_context *ctx);

/* v[i] becomes the sum, or the largest, or the least, of all ranks' v[i]. */
kdr_status kdri_sum(kdr_context *ctx, double *v, int64_t count);
kdr_status kdri_sum_int(kdr_context *ctx, int64_t *v, int64_t count);
/* The same for rows x cols numbers, from one row to the next `step`. */
kdr_status kdri_sum_block(kdr_context *ctx, double *v, int64_t rows, int64_t cols, int64_t step);
kdr_status kdri_max(kdr_context *ctx, double *v, int64_t count);
/* Sums of the first numbers and the largest of those behind them, at once. */
kdr_status kdri_sum_and_max(kdr_context *ctx, double *v, int64_t sums, int64_t tops);
kdr_status kdri_max_int(kdr_context *ctx, int64_t *v, int64_t count);
kdr_status kdri_min_int(kdr_context *ctx, int64_t *v, int64_t count);
/* Whether any rank's is true. */
kdr_status kdri_any(kdr_context *ctx, bool *v);
/* The bytes of rank `from`, on all. */
kdr_status kdri_share(kdr_context *ctx, void *bytes, int64_t count, int from);
/* On rank 0 *all gets the bytes of all ranks, one after the other, and *total how many; to be freed. Elsewhere it is NULL
 * (alone: a copy). */
kdr_status kdri_gather(kdr_context *ctx, const void *bytes, int64_t count, void *all, int64_t *total);
/* Bytes from one rank to another, which waits for them. Nobody says beforehand whether all are well: kdri_agree does. */
kdr_status kdri_send(kdr_context *ctx, const void *bytes, int64_t count, int to);
kdr_status kdri_receive(kdr_context *ctx, void *bytes, int64_t count, int from);
/* One integer of each rank, on all of them: ranks of them. */
kdr_status kdri_each(kdr_context *ctx, int64_t mine, int64_t *all);

/* Rows of all ranks in one order. Here they come in `count` groups (tasks) of mine[g]; in the order of all, those of the
 * first group come first, rank by rank, then those of the second. start[g]: the number of this rank's first row of group g;
 * *all: how many there are. The same for anything else that is counted so. */
kdr_status kdri_parts(kdr_context *ctx, const int64_t *mine, int64_t count, int64_t *start, int64_t *all);
/* The same in two steps, for several of them in one exchange: kdri_each_of gives `count` x ranks integers, those of a group
 * together; from those of groups first .. first + count - 1 kdri_parts_of finds what kdri_parts does. Free *each. */
kdr_status kdri_each_of(kdr_context *ctx, const int64_t *mine, int64_t count, int64_t **each);
void kdri_parts_of(const kdr_context *ctx, const int64_t *each, int64_t first, int64_t count, int64_t *start,
                   int64_t *all);
/* One group. `start` may be NULL. */
kdr_status kdri_part(kdr_context *ctx, int64_t n, int64_t *start, int64_t *all);

#endif
