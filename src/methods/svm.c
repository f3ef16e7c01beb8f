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
	          .title = "linear support vector machine",
	          .summary = "one class against the rest, trained on the source and applied to the target",
	          .family = KDR_FAMILY_TRANSFER,
	          .flags = KDR_ALGO_MONOTONE | KDR_ALGO_PREDICT | KDR_ALGO_WEIGHTS | KDR_ALGO_INDUCTIVE,
	          .options = kdri_linear_option_table,
	          .fields = fields_table,
	          .references = kdri_linear_references },
	.fit = svm_fit,
	.predict = kdri_linear_predict,
	.ranks = true,
};
