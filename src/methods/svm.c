/* Linear support vector machine. SPDX-License-Identifier: BSD-3-Clause
 *
 * The classifier is trained on the labelled samples and applied to the target unchanged. It is the baseline for
 * transfer methods. For each class against the rest,
 *     (E1)  min over w  |w|^2 / 2 + C sum_i max(0, 1 - y_i <w, u_i>)^2,  u_i = (x_i, bias),
 * the problem of LIBLINEAR's L2R_L2LOSS_SVC and scikit-learn's LinearSVC [FCHWL08, eq. 2]; solved in
 * engine/linear/linear.c. A sample gets the class with the largest score <w, u>.
 *
 * C  cost     y_i  1 for the class, -1 for the rest     w  weights and intercept / bias
 */
#include "api/method.h"
#include "methods/common/labelled.h"

static const kdr_field_desc fields_table[] = {
	KDRI_FIELDS_LINEAR,
	KDRI_ARRAY("scores", KDR_FLOAT64, "n x classes",
	           "score of each class, positive on its side of the margin", .per_task = true,
	           .scoring = KDR_SCORING_MARGINS),
	{ .name = NULL },
};

static kdr_status svm_fit(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                          kdr_result *result)
{
	return kdri_linear_fit(ctx, problem, options, KDRI_LOSS_SQUARED_HINGE, false, result); /* (E1) */
}

const kdri_algo kdri_algo_svm = {
	.info = { .id = "svm",
	          .class_name = "SVM",
	          .title = "Linear support vector machine",
	          .summary = "one class against the rest, trained on the source and applied to the target",
	          .objective = "J = sum_c ( |w_c|^2 / 2 + C sum_i v_i max(0, 1 - y_ic <w_c, u_i>)^2 )\n"
	                       "c      class; of two classes only one is counted\n"
	                       "w_c    weights of class c (arrays weights, intercept)\n"
	                       "u_i    labelled sample i, extended by the constant bias\n"
	                       "y_ic   1 if sample i is of class c, otherwise -1\n"
	                       "v_i    weight of sample i, 1 by default\n"
	                       "C      option cost",
	          .steps = "1. Newton steps on all classes, each with conjugate gradients\n"
	                   "2. a sample gets the class with the largest <w_c, u>",
	          .use = "A baseline that ignores the target. For texts it is hard to beat if source and target are alike.",
	          .cost = "A few passes over the labelled samples per iteration, O(entries x classes) each.",
	          .family = KDR_FAMILY_TRANSFER,
	          .flags = KDR_ALGO_MONOTONE | KDR_ALGO_PREDICT | KDR_ALGO_WEIGHTS | KDR_ALGO_INDUCTIVE,
	          .options = kdri_linear_option_table,
	          .fields = fields_table,
	          .references = kdri_linear_references },
	.fit = svm_fit,
	.predict = kdri_linear_predict,
	.ranks = true,
};
