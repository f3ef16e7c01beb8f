/* Scaling of values whose squares would overflow or underflow. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_MAGNITUDE_H
#define KDRI_MAGNITUDE_H

#include "api/method.h"

/* A problem as methods see it: as given, or a copy with all values multiplied by 2^-exponent. */
typedef struct kdri_scaled {
	kdr_problem problem;
	int exponent; /* 0: as given */
	kdr_task *tasks;
	double **values;
} kdri_scaled;

/* If the largest magnitude is above 2^128 or below 2^-128, all values of all tasks are scaled by the same power of 2, so
 * that the largest lies between 1/2 and 1. `p` borrows from `problem`. */
kdr_status kdri_scaled_new(kdr_context *ctx, const kdr_problem *problem, kdri_scaled *p);
void kdri_scaled_free(kdr_context *ctx, kdri_scaled *p);

/* Calls the method's predict on rows that are scaled like those of the fit. */
kdr_status kdri_predict(kdr_context *ctx, const kdri_algo *algo, const kdr_result *fitted,
                        const kdr_options *options, int64_t task, const kdr_mat *x, int64_t *labels);

#endif
