/* The W step of LSSMTC, LSSTTC and ASI: the subspace in which clusters are tight.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_SUBSPACE_H
#define KDRI_SUBSPACE_H

#include "api/method.h"
#include "matrix/range.h"

typedef struct kdri_subspace_options {
	int64_t l;      /* directions wanted */
	int64_t c;      /* columns Z will have: clusters */
	bool automatic; /* l may be lowered to the rank of the data; false: a larger l is an error */
	double eps;     /* weight of the total scatter */
	bool full; /* search in the entire feature space, as in the paper; false: in the range of the data */
	double energy; /* fraction of |X|^2 that the range must contain */
} kdri_subspace_options;

typedef struct kdri_subspace {
	kdri_subspace_options options;
	const kdr_mat *x; /* the data, borrowed: n x d */
	int64_t l;        /* directions sought */
	bool direct;      /* directly on X, without factorisation */
	kdri_range range; /* else: the range of X */
	kdri_held *held;  /* X, if a device multiplies it */
	kdri_own rotated; /* X in the coordinates of its range, if that is smaller; otherwise empty */
	double *last;     /* the last result, from which the next search starts */
	bool has_last;
	bool tried;       /* the factorisation, after a direct step that found too few directions */
	bool unconverged; /* some step did not reach its tolerance */
} kdri_subspace;

kdr_status kdri_subspace_new(kdr_context *ctx, const kdr_mat *x, const kdri_subspace_options *options,
                             kdri_subspace *out);
void kdri_subspace_free(kdr_context *ctx, kdri_subspace *s);

/* The matrix to iterate on: the data themselves, or the data in fewer coordinates. `dim` columns. */
const kdr_mat *kdri_subspace_data(const kdri_subspace *s);
int64_t kdri_subspace_dim(const kdri_subspace *s);

/* W (dim x l): the l lowest eigenvectors of (1 - eps) X'X - Z Z', Z = X'P (P'P)^-1/2 of dim x c. */
kdr_status kdri_subspace_solve(kdr_context *ctx, kdri_subspace *s, const double *z, double *w);

/* W in features (d x l) from W in coordinates (dim x l); and back. */
kdr_status kdri_subspace_features(kdr_context *ctx, const kdri_subspace *s, const double *w, double *out);
kdr_status kdri_subspace_coordinates(kdr_context *ctx, const kdri_subspace *s, const double *w, double *out);

/* Numbers about the subspace of a task, or of all (-1): rank, energy, how it was found; and warnings. */
kdr_status kdri_subspace_report(kdr_context *ctx, const kdri_subspace *s, int64_t task, kdr_result *result);
kdr_status kdri_subspace_warn(kdr_context *ctx, const kdri_subspace *s, kdr_result *result);

#endif
