/* A fit in two halves, between which a job runs a method itself. SPDX-License-Identifier: BSD-3-Clause
 *
 *     kdri_fitting f = { 0 };
 *     kdr_status st = kdri_fit_begin(ctx, &problem, options, &f);
 *     if (st == KDR_OK)
 *             st = f.algo->fit(ctx, &f.scaled.problem, f.options, f.result);      or what a job does instead
 *     st = kdri_fit_end(ctx, &f, st, &result);                                     also after a failure
 *
 * `f` and the problem stay where they are until the end. */
#ifndef KDRI_FITTING_H
#define KDRI_FITTING_H

#include "api/magnitude.h"
#include "matrix/traits.h"

typedef struct kdri_fitting {
	const kdri_algo *algo;
	const kdr_problem *problem; /* as the caller has it */
	kdri_scaled scaled;         /* as methods see it */
	const kdr_options *options;
	kdr_result *result; /* without labels until the method has run */
	/* Until the end. */
	kdr_options *defaults;
	kdri_inspected seen;
	const char *method; /* of the context before */
	bool entered, stage;
	double start;
	int64_t exchanges, bytes; /* of the ranks before */
} kdri_fitting;

/* Checks the problem, and makes a result for it. Options may be NULL. */
kdr_status kdri_fit_begin(kdr_context *ctx, const kdri_algo *algo, const kdr_problem *problem,
                          const kdr_options *options, kdri_fitting *f);
/* After the method has run with this status: numbers the clusters and completes the result. Of several ranks, all learn if one has
 * failed. Does nothing if the fit has not begun. */
kdr_status kdri_fit_end(kdr_context *ctx, kdri_fitting *f, kdr_status st, kdr_result **out);

#endif
