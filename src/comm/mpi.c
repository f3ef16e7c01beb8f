/* Communication with other ranks through MPI. SPDX-License-Identifier: BSD-3-Clause
 *
 * The only file that uses MPI; builds without KINDRED_MPI do not include it. Counts of MPI are ints: longer messages are
 * sent in pieces. */
#include "kindred/mpi.h"
#include "comm/comm.h"

#include <mpi.h>

enum { PIECE = 1 << 26, TAG = 1 };

static MPI_Comm of(void *user)
{
	return MPI_Comm_f2c((MPI_Fint)(intptr_t)user);
}

static MPI_Op op_of(kdri_fold how)
{
	return how == KDRI_FOLD_SUM ? MPI_SUM : how == KDRI_FOLD_MAX ? MPI_MAX : MPI_MIN;
}

/* Made once: MPI's own end frees them. */
static MPI_Op join_op = MPI_OP_NULL;
static MPI_Datatype meeting_type = MPI_DATATYPE_NULL;

/* NOLINTNEXTLINE(readability-non-const-parameter): MPI says what it looks like */
static void join_some(void *one, void *all, int *count, MPI_Datatype *type)
{
	(void)type;
	for (int i = 0; i < *count; i++)
		kdri_meeting_join((const kdri_meeting *)one + i, (kdri_meeting *)all + i);
}

static bool make_meeting(void)
{
	return join_op != MPI_OP_NULL ||
	       (MPI_Type_contiguous((int)sizeof(kdri_meeting), MPI_BYTE, &meeting_type) == MPI_SUCCESS &&
	        MPI_Type_commit(&meeting_type) == MPI_SUCCESS &&
	        MPI_Op_create(join_some, 1, &join_op) == MPI_SUCCESS);
}

static bool meet(void *user, kdri_meeting *m)
{
	return MPI_Allreduce(MPI_IN_PLACE, m, 1, meeting_type, join_op, of(user)) == MPI_SUCCESS;
}

static bool fold(void *user, void *v, int64_t count, MPI_Datatype type, kdri_fold how)
{
	unsigned char *at = v;
	for (int64_t done = 0; done < count; done += PIECE, at += (size_t)PIECE * 8)
		if (MPI_Allreduce(MPI_IN_PLACE, at, (int)KDRI_MIN(PIECE, count - done), type, op_of(how),
		                  of(user)) != MPI_SUCCESS)
			return false;
	return true;
}

static bool fold_real(void *user, double *v, int64_t count, kdri_fold how)
{
	return fold(user, v, count, MPI_DOUBLE, how);
}

static bool fold_int(void *user, int64_t *v, int64_t count, kdri_fold how)
{
	return fold(user, v, count, MPI_INT64_T, how);
}

static bool share(void *user, void *bytes, int64_t count, int from)
{
	unsigned char *at = bytes;
	for (int64_t done = 0; done < count; done += PIECE, at += PIECE)
		if (MPI_Bcast(at, (int)KDRI_MIN(PIECE, count - done), MPI_BYTE, from, of(user)) !=
		    MPI_SUCCESS)
			return false;
	return true;
}

static bool send(void *user, const void *bytes, int64_t count, int to)
{
	const unsigned char *at = bytes;
	for (int64_t done = 0; done < count; done += PIECE, at += PIECE)
		if (MPI_Send(at, (int)KDRI_MIN(PIECE, count - done), MPI_BYTE, to, TAG, of(user)) !=
		    MPI_SUCCESS)
			return false;
	return true;
}

static bool receive(void *user, void *bytes, int64_t count, int from)
{
	unsigned char *at = bytes;
	for (int64_t done = 0; done < count; done += PIECE, at += PIECE)
		if (MPI_Recv(at, (int)KDRI_MIN(PIECE, count - done), MPI_BYTE, from, TAG, of(user),
		             MPI_STATUS_IGNORE) != MPI_SUCCESS)
			return false;
	return true;
}

static void close_comm(void *user)
{
	MPI_Comm comm = of(user);
	int over = 0;
	if (MPI_Finalized(&over) == MPI_SUCCESS && !over)
		MPI_Comm_free(&comm);
}

kdr_status kdr_context_set_mpi(kdr_context *ctx, int comm)
{
	static const kdri_comm_ops ops = { meet, fold_real, fold_int, share, send, receive, close_comm };
	int ready = 0, rank, ranks;
	MPI_Comm own;
	if (!ctx)
		return KDR_ERR_ARGUMENT;
	if (MPI_Initialized(&ready) != MPI_SUCCESS || !ready)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT, "MPI has not been initialised");
	if (!make_meeting() || MPI_Comm_dup(MPI_Comm_f2c((MPI_Fint)comm), &own) != MPI_SUCCESS ||
	    MPI_Comm_rank(own, &rank) != MPI_SUCCESS || MPI_Comm_size(own, &ranks) != MPI_SUCCESS)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT, "the MPI communicator is not valid");
	return kdri_comm_set(ctx, &ops, (void *)(intptr_t)MPI_Comm_c2f(own), rank, ranks);
}

int kdr_mpi_rank(const kdr_context *ctx)
{
	return kdri_rank(ctx);
}

int kdr_mpi_ranks(const kdr_context *ctx)
{
	return kdri_ranks(ctx);
}

kdr_status kdr_mpi_agree(kdr_context *ctx, kdr_status status)
{
	kdri_enter(ctx);
	return kdri_leave(ctx, status);
}

void kdr_mpi_traffic(const kdr_context *ctx, int64_t *exchanges, int64_t *bytes)
{
	*exchanges = ctx->comm ? ctx->comm->exchanges : 0;
	*bytes = ctx->comm ? ctx->comm->bytes : 0;
}
