/* Rows on several processes. SPDX-License-Identifier: BSD-3-Clause
 *
 * Available only in libraries built with KINDRED_MPI; kindred/kindred.h does not include this header. Every process of a
 * communicator creates a context, gives it the communicator, and then makes the same calls in the same order (kdr_cluster,
 * kdr_transfer, kdr_prepare, kdr_fit), each with its own rows: the result is that for the rows of all processes, in the order of
 * the ranks. Methods that do not support this return an error. Functions that read files work for each process alone;
 * kdr_read_options.parts reads a process's own rows of a file. Functions that write a result (kdr_result_write, kdr_result_put,
 * kdr_result_write_table) are called by all processes: rank 0 creates the file, and the others send their rows in blocks. Other
 * writers (kdr_model_save) work for each process alone.
 *
 *     MPI_Init(&argc, &argv);
 *     kdr_context_new(&ctx, NULL);
 *     kdr_context_set_mpi(ctx, MPI_Comm_c2f(MPI_COMM_WORLD));
 *     reading.part = kdr_mpi_rank(ctx);
 *     reading.parts = kdr_mpi_ranks(ctx);
 *     st = kdr_mpi_agree(ctx, kdr_read(ctx, "points.npy", &reading, &data));
 *     if (st == KDR_OK)
 *             st = kdr_cluster(ctx, &data, 1, &options, &result);   // labels of this process's rows
 *     if (st == KDR_OK)
 *             st = kdr_result_write_table(ctx, result, KDR_TABLE_LABELS, 0, "points.labels", false);  // all rows, in one file
 */
#ifndef KINDRED_MPI_H
#define KINDRED_MPI_H

#include "kindred/kindred.h"

/* Lets the context work with those of the other ranks of a communicator, of which it keeps a duplicate until it is freed, which
 * must happen before MPI_Finalize. `comm` is the value of MPI_Comm_c2f. MPI must be initialised. Cost: O(log ranks). */
KDR_API kdr_status kdr_context_set_mpi(kdr_context *ctx, int comm);
/* The number of this process and the number of processes; 0 of 1 without kdr_context_set_mpi. Cost: O(1). */
KDR_API int kdr_mpi_rank(const kdr_context *ctx);
KDR_API int kdr_mpi_ranks(const kdr_context *ctx);
/* All ranks call it. Returns KDR_OK if all ranks pass that; else, on all ranks, the status of one that failed, with its message.
 * Cost: O(log ranks). */
KDR_API kdr_status kdr_mpi_agree(kdr_context *ctx, kdr_status status);
/* All ranks call it, for data that each read from a file of its own. Label files are then those of the rows of all files in the
 * order of the ranks (see kdr_data_origin), unless a reader skipped rows. A file without rows
 * (kdr_read_options.may_be_empty) gets the columns of the others; at least one rank must have rows. Does nothing if a part of a
 * file was read. Cost: O(d + log ranks). */
KDR_EXPERIMENTAL KDR_API kdr_status kdr_mpi_place(kdr_context *ctx, kdr_data *data);
/* All ranks call it. The result of rank 0, which must have room for it, becomes that of all rows: labels, confidence, names and all
 * arrays with one row per sample. The results of the other ranks stay. Functions that write results then work for each process
 * alone. Cost: O(n) time; O(n) memory on rank 0. */
KDR_API kdr_status kdr_result_gather(kdr_context *ctx, kdr_result *result);
/* The number of exchanges this rank has taken part in, and the bytes it has sent. Either output may be NULL. Cost: O(1). */
KDR_API void kdr_mpi_traffic(const kdr_context *ctx, int64_t *exchanges, int64_t *bytes);

#endif
