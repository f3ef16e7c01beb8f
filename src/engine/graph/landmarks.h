/* Graphs of samples and landmarks. SPDX-License-Identifier: BSD-3-Clause
 *
 *     kdri_landmarks l = { 0 };
 *     kdri_own z = { .view = kdr_mat_from_dense(NULL, 0, 0) };
 *     KDRI_TRY(kdri_landmarks_new(ctx, &x, NULL, 1, 1000, 0, &l));      some of the rows, on all ranks
 *     KDRI_TRY(kdri_landmarks_graph(ctx, &x, &l, &options, &z));        n x m: each row joined to its nearest landmarks
 *     KDRI_TRY(kdri_landmarks_spectrum(ctx, &z.view, k, &s));           of the graph of rows that share landmarks
 *
 * A neighbour graph has edges between rows of any two ranks. This graph only has edges between rows and landmarks, which
 * all ranks have: ranks exchange sums of m x m and k x m numbers, and nothing is gathered. Choice, graph and spectrum
 * are the same to the last bit for any distribution of the rows among ranks. */
#ifndef KDRI_LANDMARKS_H
#define KDRI_LANDMARKS_H

#include "engine/graph/knn.h"
#include "engine/graph/spectrum.h"

/* What samples are joined to: the option `graph` of methods that support both. */
typedef enum kdri_joins { KDRI_JOINS_AUTO, KDRI_JOINS_NEIGHBOURS, KDRI_JOINS_LANDMARKS } kdri_joins;
extern const char *const kdri_joins_names[];
/* KDR_ERR_UNSUPPORTED for neighbours of rows on several ranks. */
kdr_status kdri_joins_check(kdr_context *ctx, kdri_joins joins);

typedef struct kdri_landmarks {
	int64_t count;   /* m */
	int64_t *number; /* m, increasing: which of the rows of all ranks */
	int64_t *here;   /* m: which of the rows here, -1 for those of other ranks */
	kdri_own rows;   /* m x d */
} kdri_landmarks;

/* min(most, rows of all ranks) rows, drawn by the context's seed and `stream`. The rows here are those of `tasks` tasks,
 * rows_of[t] each; NULL: of one. */
kdr_status kdri_landmarks_new(kdr_context *ctx, const kdr_mat *x, const int64_t *rows_of, int64_t tasks,
                              int64_t most, uint64_t stream, kdri_landmarks *out);
void kdri_landmarks_free(kdr_context *ctx, kdri_landmarks *l);
/* to[a] = from[row of landmark a] on all ranks; `each` numbers per row. */
kdr_status kdri_landmarks_share(kdr_context *ctx, const kdri_landmarks *l, const int64_t *from, int64_t each,
                                int64_t *to);

/* The similarity of a row and a landmark. */
typedef enum kdri_landmarks_weight {
	KDRI_LANDMARKS_COSINE, /* max(cos, least); a cosine of exactly 0, nothing in common, makes no edge */
	KDRI_LANDMARKS_TUNED, /* exp(-distance^2 / (s_i s_a)), s the distance to the last landmark joined to */
	KDRI_LANDMARKS_GAUSS  /* exp(-distance^2 / (2 sigma^2)) */
} kdri_landmarks_weight;

typedef struct kdri_landmarks_options {
	kdri_landmarks_weight weight;
	double least;       /* weights are at least that; those of 0 make no edge */
	double sigma;       /* of the Gaussian */
	int64_t neighbors;  /* landmarks that a row is joined to, fewer if there are not as many */
	const double *mean; /* borrowed: subtracted from rows and landmarks before cosines, or NULL */
} kdri_landmarks_options;

/* Sparse, rows here x m, columns increasing. Rows and landmarks without a direction have no edges by cosine. If stopped
 * early, rows have no edges. */
kdr_status kdri_landmarks_graph(kdr_context *ctx, const kdr_mat *x, const kdri_landmarks *l,
                                const kdri_landmarks_options *options, kdri_own *out);

/* landmarks.c: what follows needs Z alone, so columns may be anything that rows are joined to. */

/* The k largest eigenvalues of D^-1/2 W D^-1/2, W = Z diag(Z'1)^-1 Z', and the rows here of their vectors; values that are 0 have
 * vectors of zeros. As kdri_spectrum_new. */
kdr_status kdri_landmarks_spectrum(kdr_context *ctx, const kdr_mat *z, int64_t k, kdri_spectrum *out);
/* within[c]: weight of W inside cluster c, both ways; volume[c]: the degrees in it. labels: of the rows here. */
kdr_status kdri_landmarks_cut(kdr_context *ctx, const kdr_mat *z, const int64_t *labels, int64_t k,
                              double *within, double *volume);
/* As kdri_ncut_value, of W. */
kdr_status kdri_landmarks_ncut(kdr_context *ctx, const kdr_mat *z, const int64_t *labels, int64_t k,
                               double *out);

/* landmarks.c: W without its diagonal, if all rows are in one process. z is borrowed. */
typedef struct kdri_landmarks_walk {
	kdr_mat z;
	double *inverse; /* m: 1 / the sum of a column, or 0 */
	double *self;    /* n: the diagonal; -1 of rows that share their landmarks with no other */
} kdri_landmarks_walk;
kdr_status kdri_landmarks_walk_new(kdr_context *ctx, const kdr_mat *z, kdri_landmarks_walk *out);
void kdri_landmarks_walk_free(kdr_context *ctx, kdri_landmarks_walk *walk);
/* As a symmetric operator; `walk` is borrowed. */
kdri_op kdri_op_landmarks(const kdri_landmarks_walk *walk);

#endif
