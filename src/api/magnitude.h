/* Numbers within reach of squares. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_MAGNITUDE_H
#define KDRI_MAGNITUDE_H

#include "api/method.h"

/* A problem as methods see it: as given, or a copy of its values times 2^-exponent. */
typedef struct kdri_scaled {
	kdr_problem problem;
	int exponent; /* 0: as given */
	kdr_task *tasks;
	double **values;
} kdri_scaled;

/* Where the largest magnitude is beyond 2^128 or below 2^-128, all values of all tasks are scaled alike and the
 * largest comes to lie between 1/2 and 1. `p` borrows from `problem`. */
kdr_status kdri_scaled_new(kdr_context *ctx, const kdr_problem *problem, kdri_scaled *p);
void kdri_scaled_free(kdr_context *ctx, kdri_scaled *p);

/* The method's predict, on rows scaled as those of the fit were. */
kdr_status kdri_predict(kdr_context *ctx, const kdri_algo *algo, const kdr_result *fitted,
                        const kdr_options *options, int64_t task, const kdr_mat *x, int64_t *labels);

#endif
