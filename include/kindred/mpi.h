/* Rows on several processes. SPDX-License-Identifier: BSD-3-Clause
 *
 * Only in libraries built with KINDRED_MPI; kindred/kindred.h does not include this header. Every process of a
 * communicator makes a context, gives it the communicator, and then makes the same calls in the same order (kdr_cluster,
 * kdr_transfer, kdr_prepare, kdr_fit), each with the rows it has: the answer is that for the rows of all of them, in the
 * order of the ranks. A method that cannot says so. What reads files works for each process by itself;
 * kdr_read_options.parts reads a process's own rows of a file. What writes a result (kdr_result_write, kdr_result_put,
 * kdr_result_write_labels, _samples, _features, _probabilities, _array) is called by all of them: rank 0 makes the file, and the others send
 * their rows in blocks. Other writers (kdr_model_save) work for each process by itself.
 *
 *     MPI_Init(&argc, &argv);
 *     kdr_context_new(&ctx, NULL);
 *     kdr_context_set_mpi(ctx, MPI_Comm_c2f(MPI_COMM_WORLD));
 *     reading.part = kdr_mpi_rank(ctx);
 *     reading.parts = kdr_mpi_ranks(ctx);
 *     st = kdr_mpi_agree(ctx, kdr_read(ctx, "points.npy", &reading, &data));
 *     if (st == KDR_OK)
 *             st = kdr_cluster(ctx, &data, 1, &options, &result);   // labels of the rows here
 *     if (st == KDR_OK)
 *             st = kdr_result_write_labels(ctx, result, 0, "points.labels", false);  // those of all rows, in one file
 */
#ifndef KINDRED_MPI_H
#define KINDRED_MPI_H

#include "kindred/kindred.h"

/* The context works together with those of the other ranks of a communicator, of which it keeps a duplicate until it is
 * freed, which has to be before MPI_Finalize. `comm`: what MPI_Comm_c2f gives. MPI must have been initialised. */
KDR_API kdr_status kdr_context_set_mpi(kdr_context *ctx, int comm);
/* This process and how many there are; 0 of 1 without kdr_context_set_mpi. */
KDR_API int kdr_mpi_rank(const kdr_context *ctx);
KDR_API int kdr_mpi_ranks(const kdr_context *ctx);
/* All ranks call it: KDR_OK where all have that; else the status of one that failed, on all of them, and its line. */
KDR_API kdr_status kdr_mpi_agree(kdr_context *ctx, kdr_status status);
/* All ranks call it, of data that each read from a file of its own: files of labels are then those of the rows of all files, in the
 * order of the ranks (kdr_data_origin says where), unless a reader left rows out. A file without rows (kdr_read_options.may_be_empty)
 * gets the columns of the others; one rank at least has rows. Nothing is done where a part of a file was read. */
KDR_EXPERIMENTAL KDR_API kdr_status kdr_mpi_place(kdr_context *ctx, kdr_data *data);
/* All ranks call it, where rank 0 has room for it. Rank 0's result is then that of all rows: labels, confidence, names and whatever arrays have a row for
 * each sample. Those of the others stay. What writes results is then for each process by itself again. */
KDR_API kdr_status kdr_result_gather(kdr_context *ctx, kdr_result *result);
/* What this rank has sent so far: numbers of exchanges and of bytes it put into them. */
KDR_API void kdr_mpi_traffic(const kdr_context *ctx, int64_t *exchanges, int64_t *bytes);

#endif
