/* Linear classifiers, one against the rest, for methods. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_LINEAR_MODEL_H
#define KDRI_LINEAR_MODEL_H

#include "api/method.h"
#include "engine/linear/linear.h"
#include "methods/common/labelled.h"

/* The arrays "weights" (classes x d) and "intercept" (classes), as fields and filled from w. */
/* clang-format off */
#define KDRI_FIELDS_LINEAR \
	KDRI_ARRAY("weights", KDR_FLOAT64, "classes x d", \
	           "weight of each feature in the score of each class", .in_model = true), \
	KDRI_ARRAY("intercept", KDR_FLOAT64, "classes", \
	           "constant in the score of each class", .in_model = true)
/* clang-format on */
kdr_status kdri_linear_put(kdr_context *ctx, kdr_result *result, int64_t d, int64_t classes, double bias,
                           const double *w);
/* predict of methods that have these two arrays: the class with the largest score, the lowest of equals. A class whose
 * weights and constant are all 0 had no samples and is ignored. */
kdr_status kdri_linear_predict(kdr_context *ctx, const kdr_result *fitted, const kdr_options *options,
                               int64_t task, const kdr_mat *x, int64_t *labels);
/* svm and logreg on the labelled samples of a problem: one class against the rest, or (joint; logistic) all classes
 * jointly with an unpenalised constant. Options and references of both. */
extern const kdr_option_desc kdri_linear_option_table[];
extern const char *const kdri_linear_references[];
kdr_status kdri_linear_fit(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                           kdri_loss loss, bool joint, kdr_result *result);

/* clang-format off */
#define KDRI_OPTIONS_LINEAR(default_cost, default_tol) \
	KDRI_REAL("cost", default_cost, 0, 1e300, \
	          "weight of the losses relative to the penalty on the coefficients", .open_min = true, .symbol = "C"), \
	KDRI_REAL("bias", 1, 0, 1e300, \
	          "value of a constant feature that gives the scores an intercept; 0: no intercept"), \
	KDRI_REAL("tol", default_tol, 0, 1, \
	          "stop when the gradient is at most this fraction of the initial one and the objective is within this fraction of its minimum")
/* clang-format on */

#endif
