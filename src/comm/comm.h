/* Processes that share the rows of one problem. SPDX-License-Identifier: BSD-3-Clause
 *
 * A method that can run on several processes (ranks) is written once: it works on the rows it has, and calls these
 * functions if it needs a number that depends on all rows. With a single process, the usual case, they do nothing and
 * cost nothing. They are implemented with MPI (mpi.c, only in builds with KINDRED_MPI), or with the functions in
 * kdri_comm_ops.
 *
 * All ranks make the same calls in the same order. Whatever decides about calls (labels that changed, an objective, the
 * time) must therefore itself be such a number. The functions work only between kdri_enter and kdri_leave; outside, for
 * example while files are read, each rank works separately.
 *
 * Failures. Before each exchange the ranks meet and exchange their status: one integer, with which up to KDRI_ALONG
 * numbers of the exchange are sent, so that small exchanges need no further message. A rank that fails leaves the method
 * as usual and reports it in kdri_leave. The others learn it at their next meeting, and their call fails with the same
 * status and "rank 2: " before the same message. So all ranks return, and none waits for a rank that has left. A rank
 * that is killed cannot report it; mpirun then ends the others. The same integer tells whether a rank wants to stop:
 * kdri_iteration_met uses the value of the last meeting.
 *
 * Waiting. At every meeting the ranks wait for the slowest, and a core may lose milliseconds at any time. Few meetings
 * with much work between them lose less time than many, because delays of different ranks then even out. Exchanges that
 * follow each other without work between them are therefore cheap.
 *
 * Order. Sums of integers do not depend on the order of addition, nor do the sums of exact.h. Results based on them are
 * the same to the last bit for any number of ranks and any distribution of the rows. This does not hold for kdri_sum of
 * floating-point numbers. */
#ifndef KDRI_COMM_H
#define KDRI_COMM_H

#include "comm/exact.h"
#include "core/internal.h"

typedef enum kdri_fold { KDRI_FOLD_SUM, KDRI_FOLD_MAX, KDRI_FOLD_MIN } kdri_fold;

/* What ranks exchange at a meeting. A rank that has failed sends its status and no numbers; the numbers of the others
 * are then ignored. */
enum { KDRI_ALONG = 62 };
typedef struct kdri_meeting {
	int64_t word; /* the largest of all */
	int16_t count, tops,
	        how; /* numbers sent along, and the kdri_fold that joins them; of the last `tops`, the maximum is taken */
	bool brings, whole; /* there are some; they are integers */
	union {
		double real[KDRI_ALONG];
		int64_t whole[KDRI_ALONG];
	} v;
} kdri_meeting;
/* Joins *one into *all. The order matters only for the rounding of sums. */
void kdri_meeting_join(const kdri_meeting *one, kdri_meeting *all);

/* Functions to communicate with the other ranks. Each is called by all ranks; false: it failed permanently. */
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
	int apart;         /* > 0: each rank works separately */
	kdr_status failed; /* of this rank or another; until the outermost kdri_leave */
	int heard;         /* at the last meeting: 0, or the strongest request to stop */
	int64_t exchanges; /* number of exchanges */
	int64_t bytes;     /* that this rank sent in them */
} kdri_comm;

/* From now on the context works with other ranks, until it is freed. Takes ownership of `comm`, even on failure. */
kdr_status kdri_comm_set(kdr_context *ctx, const kdri_comm_ops *ops, void *user, int rank, int ranks);

/* Whether other ranks also hold rows of the current work. */
static inline bool kdri_together(const kdr_context *ctx)
{
	return ctx->comm && ctx->comm->depth > 0 && ctx->comm->apart == 0;
}
/* The number of this rank and the number of ranks: 0 and 1 for a single process. */
int kdri_rank(const kdr_context *ctx);
int kdri_ranks(const kdr_context *ctx);

/* Whether there are other ranks to work with now. */
static inline bool kdri_several(const kdr_context *ctx)
{
	return kdri_together(ctx) && ctx->comm->ranks > 1;
}

/* For a function of the library that is called on all ranks: call kdri_enter first and st = kdri_leave(ctx, st) at its
 * only end, after which all ranks have the same status. Calls may be nested. */
void kdri_enter(kdr_context *ctx);
kdr_status kdri_leave(kdr_context *ctx, kdr_status st);
/* The same in the middle of such a function: whether all ranks succeeded, for example after a check of their own rows. */
kdr_status kdri_agree(kdr_context *ctx, kdr_status st);
/* Between these calls each rank works separately on data that all ranks have. */
void kdri_apart(kdr_context *ctx);
void kdri_rejoin(kdr_context *ctx);

/* v[i] becomes the sum, the maximum or the minimum of v[i] over all ranks. */
kdr_status kdri_sum(kdr_context *ctx, double *v, int64_t count);
kdr_status kdri_sum_int(kdr_context *ctx, int64_t *v, int64_t count);
/* The same for rows x cols numbers with row stride `step`. */
kdr_status kdri_sum_block(kdr_context *ctx, double *v, int64_t rows, int64_t cols, int64_t step);
kdr_status kdri_max(kdr_context *ctx, double *v, int64_t count);
/* Sums of the first numbers and maxima of the following ones in one exchange. */
kdr_status kdri_sum_and_max(kdr_context *ctx, double *v, int64_t sums, int64_t tops);
kdr_status kdri_max_int(kdr_context *ctx, int64_t *v, int64_t count);
kdr_status kdri_min_int(kdr_context *ctx, int64_t *v, int64_t count);
/* Whether the value is true on any rank. */
kdr_status kdri_any(kdr_context *ctx, bool *v);
/* Sends the bytes of rank `from` to all ranks. */
kdr_status kdri_share(kdr_context *ctx, void *bytes, int64_t count, int from);
/* On rank 0, *all gets the bytes of all ranks, one after the other, and *total their number; free *all. On other ranks
 * it is NULL. With a single process it is a copy. */
kdr_status kdri_gather(kdr_context *ctx, const void *bytes, int64_t count, void *all, int64_t *total);
/* Sends bytes from one rank to another, which waits for them. The ranks do not exchange their status before; use
 * kdri_agree for this. */
kdr_status kdri_send(kdr_context *ctx, const void *bytes, int64_t count, int to);
kdr_status kdri_receive(kdr_context *ctx, void *bytes, int64_t count, int from);
/* Gives all ranks one integer of each rank. */
kdr_status kdri_each(kdr_context *ctx, int64_t mine, int64_t *all);

/* Numbers the rows of all ranks. This rank has `count` groups (tasks) of mine[g] rows. In the order of all rows, those
 * of the first group come first, rank by rank, then those of the second. start[g] is the number of this rank's first row
 * of group g, and *all the number of rows. It can be used for anything else that is counted in this way. */
kdr_status kdri_parts(kdr_context *ctx, const int64_t *mine, int64_t count, int64_t *start, int64_t *all);
/* The same in two steps, to number several things with one exchange: kdri_each_of gives `count` x ranks integers, those
 * of a group together. From those of groups first .. first + count - 1, kdri_parts_of computes what kdri_parts does.
 * Free *each. */
kdr_status kdri_each_of(kdr_context *ctx, const int64_t *mine, int64_t count, int64_t **each);
void kdri_parts_of(const kdr_context *ctx, const int64_t *each, int64_t first, int64_t count, int64_t *start,
                   int64_t *all);
/* One group. `start` may be NULL. */
kdr_status kdri_part(kdr_context *ctx, int64_t n, int64_t *start, int64_t *all);

/* Sums over the rows of all ranks that do not depend on the cut. */

/* Sum of weights[i] v[i] (weights NULL: ones) over the n local rows and those of the other ranks, `all` together.
 * Infinite if a term is infinite or NaN. */
kdr_status kdri_rows_sum(kdr_context *ctx, const double *weights, const double *v, int64_t n, int64_t all,
                         double *out);
kdr_status kdri_rows_sums(kdr_context *ctx, const double *weights, const double *v, int64_t n, int64_t count,
                          int64_t step, int64_t all, double *out);

#endif
