/* Rules of pairs in a build without LIBSVM. SPDX-License-Identifier: BSD-3-Clause */
#include "methods/trec/trec.h"

kdr_status kdri_rule_train_svm(kdr_context *ctx, const kdri_pairs *pairs, const kdri_rule_options *o,
                               const double weight[2], kdri_rule *rule)
{
	(void)pairs;
	(void)o;
	(void)weight;
	(void)rule;
	return kdri_absent(ctx, "method 'trec' with classifier=svm", "LIBSVM", "use classifier=logistic");
}
