/* One partition from an ensemble: spectral clustering of its co-association matrix in low-rank form.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_CONSENSUS_H
#define KDRI_CONSENSUS_H

#include "engine/ensemble/ensemble.h"

/* The `count` largest eigenvalues, descending, of D^-1/2 H D^-1/2, and the table that maps labels to their eigenvectors:
 * row i of the embedding is the sum over runs l of row offset[l] + label[l][i] of `table` (offset[runs] x count), scaled
 * to unit length. count <= offset[runs]. */
kdr_status kdri_consensus_spectrum(kdr_context *ctx, const kdri_ensemble *e, int64_t count, double *values,
                                   double *table);
/* Rows of the embedding from the first k columns of the table; `out` is n x k. A row of length 0 stays 0. */
void kdri_consensus_embed(kdr_context *ctx, const kdri_ensemble *e, const double *table, int64_t count,
                          int64_t k, double *out);
/* The k in 2 .. most with the largest gap between value k and the next (0 past the last); 1 if most < 2. */
int64_t kdri_consensus_gap(const double *values, int64_t count, int64_t most);

typedef struct kdri_consensus_options {
	int64_t k;    /* number of clusters; 0: chosen by the eigengap */
	int64_t most; /* largest k the eigengap may suggest */
	int64_t n_init, max_iter;
	double tol;
	const int64_t *init; /* borrowed: labels to start from, or NULL */
	uint64_t stream;
} kdri_consensus_options;

/* Owned by the caller: free it with kdri_consensus_free. */
typedef struct kdri_consensus {
	int64_t k, suggested, count; /* count: eigenvalues */
	double *values;
	double *stability;         /* n: mean co-association with the others of the same cluster; alone: 1 */
	double score;              /* mean over the runs of the mutual information with the result */
	kdri_kmeans_result kmeans; /* of the embedding; its labels are the result */
} kdri_consensus;

kdr_status kdri_consensus_new(kdr_context *ctx, const kdri_ensemble *e, const kdri_consensus_options *o,
                              kdri_consensus *out);
void kdri_consensus_free(kdr_context *ctx, kdri_consensus *c);

/* Stability and score of any partition of the ensemble's rows into k clusters; either may be NULL. */
kdr_status kdri_consensus_agreement(kdr_context *ctx, const kdri_ensemble *e, const int64_t *labels,
                                    int64_t k, double *stability, double *score);

#endif
