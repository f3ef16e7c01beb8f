/* The lowest eigenpairs of a diagonal matrix less one of low rank. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_SECULAR_H
#define KDRI_SECULAR_H

#include "matrix/linalg.h"

/* D - Z Z', with D the diagonal of r numbers and Z of r x c. */
typedef struct kdri_lowrank {
	int64_t r, c;
	const double *d, *z;
} kdri_lowrank;

/* The `count` lowest eigenvalues (ascending) and orthonormal eigenvectors (r x count). `warm`: a guess
 * (r x count) or NULL. Multiple eigenvalues are found with all their copies. */
kdr_status kdri_lowrank_lowest(kdr_context *ctx, const kdri_lowrank *a, int64_t count, const double *warm,
                               double *values, double *vectors);

/* The same, through all eigenvectors of the r x r matrix. */
kdr_status kdri_lowrank_dense(kdr_context *ctx, const kdri_lowrank *a, int64_t count, double *values,
                              double *vectors);

#endif
