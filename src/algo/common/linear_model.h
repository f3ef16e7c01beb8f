/* Linear classifiers, one against the rest, for methods. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_LINEAR_MODEL_H
#define KDRI_LINEAR_MODEL_H

#include "algo/common/labelled.h"
#include "api/method.h"
#include "engine/linear/linear.h"

/* The arrays "weights" (classes x d) and "intercept" (classes), as fields and filled from w. */
#define KDRI_FIELDS_LINEAR \
	{ .name = "weights", \
	  .type = KDR_FLOAT64, \
	  .in_model = true, \
	  .shape = "classes x d", \
	  .help = "weights of the features in the score of each class" }, \
	{ \
		.name = "intercept", .type = KDR_FLOAT64, .in_model = true, .shape = "classes", \
		.help = "constant in the score of each class" \
	}
kdr_status kdri_linear_put(kdr_context *ctx, kdr_result *result, int64_t d, int64_t classes, double bias,
                           const double *w);
/* predict of methods that leave those two arrays: the class of the largest score, the lowest of equals. A
 * class whose weights and constant are all 0 was never seen, and is left out. */
kdr_status kdri_linear_predict(kdr_context *ctx, const kdr_result *fitted, const kdr_options *options,
                               int64_t task, const kdr_mat *x, int64_t *labels);
/* svm and logreg: one against the rest on the labelled samples of a problem; options and references of both. */
extern const kdr_option_desc kdri_linear_option_table[];
extern const char *const kdri_linear_references[];
kdr_status kdri_linear_fit(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                           kdri_loss loss, kdr_result *result);

#define KDRI_OPTIONS_LINEAR(default_tol) \
	{ .name = "cost", \
	  .type = KDR_OPTION_REAL, \
	  .initial = 1, \
	  .min = 0, \
	  .max = 1e300, \
	  .open_min = true, \
	  .symbol = "C", \
	  .help = "weight of the losses against the length of the weights" }, \
	        { .name = "bias", \
		  .type = KDR_OPTION_REAL, \
		  .initial = 1, \
		  .min = 0, \
		  .max = 1e300, \
		  .help = "value of a constant feature, which gives the scores an intercept; 0: none" }, \
	{ \
		.name = "tol", .type = KDR_OPTION_REAL, .initial = (default_tol), .min = 0, .max = 1, \
		.help = "stop when the gradient is at most this share of the one at the start, and the value within this share of the least" \
	}

#endif
