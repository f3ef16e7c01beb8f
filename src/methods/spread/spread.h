/* Label spreading over a graph: code shared by gfhf and llgc. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_SPREAD_H
#define KDRI_SPREAD_H

#include "api/method.h"
#include "engine/graph/similarity.h"
#include "matrix/vectors.h"
#include "methods/common/labelled.h"

/* f (n x classes, 0 on entry): scores of all samples from the graph w and the labels known. */
typedef kdr_status kdri_spread(kdr_context *ctx, const kdri_labelled *set, const kdr_mat *w,
                               const kdr_options *options, double *f, int64_t *iterations, kdr_stop *stop);

/* fit of a method based on label spreading, whose options are KDRI_OPTIONS_GRAPH and KDRI_OPTIONS_SOLVER and whose
 * array is "scores". */
kdr_status kdri_spread_fit(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                           kdri_spread *spread, kdr_result *result);

/* The options of a method that solves its problem by kdri_cg. */
/* clang-format off */
#define KDRI_OPTIONS_SOLVER \
	KDRI_INT("max_iter", 1000, 0, 1e9, "maximum number of iterations of the linear solver"), \
	KDRI_REAL("tol", 1e-10, 0, 1, \
	          "stop when the residual of the linear system is at most this fraction of its right-hand side")
/* clang-format on */

#endif
