/* The support vector machine behind a rule of pairs, trained by LIBSVM. SPDX-License-Identifier: BSD-3-Clause
 *
 * LIBSVM is used only for training: its result is copied, and everything else is our own code. None of its functions
 * that draw random numbers (probabilities, cross-validation) is used. Up to 1,000 pairs it stops where the violation of
 * the optimality conditions is below 1e-9, so that decisions can be compared with other programs'; above, at 1e-5. If
 * nothing can be learnt, it would otherwise run for minutes, and the choice of the sampled pairs matters more. LIBSVM
 * allocates its own memory, not from the context. */
#include <libsvm/svm.h>

#include "methods/trec/trec.h"

enum { TIGHT_UP_TO = 1000 };

static double svm_tolerance(int64_t pairs, double cost)
{
	/* Rounding of the gradient grows with the multipliers. */
	return KDRI_MAX(pairs <= TIGHT_UP_TO ? 1e-9 : 1e-5, 1e-12 * cost);
}

static void print_nothing(const char *text)
{
	(void)text;
}

/* What LIBSVM needs to train. */
typedef struct training {
	struct svm_node *nodes; /* three a pair: p, h, end */
	struct svm_node **lines;
	double *y;
} training;

/* Its support vectors, coefficients and rho; `weight` is that of pairs apart and together. */
enum { KDRI_RULE_CACHE = 200 }; /* megabytes that LIBSVM may hold kernels in */

kdr_status kdri_rule_train_svm(kdr_context *ctx, const kdri_pairs *pairs, const kdri_rule_options *o,
                               const double weight[2], kdri_rule *rule)
{
	kdr_status st;
	training t = { 0 };
	struct svm_model *model = NULL;
	int labels[2] = { -1, 1 };
	double weights[2] = { weight[0], weight[1] };
	struct svm_parameter param = { .svm_type = C_SVC,
		                       .kernel_type = RBF,
		                       .gamma = rule->gamma,
		                       .C = o->cost,
		                       .eps = svm_tolerance(pairs->count, o->cost),
		                       .cache_size = KDRI_RULE_CACHE,
		                       .shrinking = 1,
		                       .nr_weight = 2,
		                       .weight_label = labels,
		                       .weight = weights };
	if (pairs->count > INT32_MAX)
		return kdri_fail(ctx, KDR_ERR_SIZE, "%lld pairs are too many for LIBSVM",
		                 (long long)pairs->count);
	KDRI_TRY(KDRI_NEW(ctx, &t.nodes, 3 * pairs->count));
	KDRI_TRY(KDRI_NEW(ctx, &t.lines, pairs->count));
	KDRI_TRY(KDRI_NEW(ctx, &t.y, pairs->count));
	for (int64_t i = 0; i < pairs->count; i++) {
		struct svm_node *line = t.nodes + 3 * i;
		line[0] = (struct svm_node){ 1, rule->scale_p * pairs->p[i] };
		line[1] = (struct svm_node){ 2, rule->scale_h * pairs->h[i] };
		line[2] = (struct svm_node){ -1, 0 };
		t.lines[i] = line;
		t.y[i] = pairs->z[i] ? 1 : -1;
	}
	struct svm_problem problem = { .l = (int)pairs->count, .y = t.y, .x = t.lines };
	svm_set_print_string_function(print_nothing);
	model = svm_train(&problem, &param);
	if (!model)
		KDRI_FAIL(ctx, KDR_ERR_NUMERIC, "LIBSVM could not train a model on %lld pairs",
		          (long long)pairs->count);
	/* The sign of LIBSVM refers to the class of its first sample. */
	double sign = model->label[0] == 1 ? 1 : -1;
	KDRI_TRY(KDRI_NEW(ctx, &rule->p, model->l));
	KDRI_TRY(KDRI_NEW(ctx, &rule->h, model->l));
	KDRI_TRY(KDRI_NEW(ctx, &rule->coef, model->l));
	for (int i = 0; i < model->l; i++) {
		rule->p[i] = model->SV[i][0].value;
		rule->h[i] = model->SV[i][1].value;
		rule->coef[i] = sign * model->sv_coef[0][i];
	}
	rule->rho = sign * model->rho[0];
	rule->count = model->l;
done:
	svm_free_and_destroy_model(&model);
	KDRI_FREE(ctx, t.nodes, t.lines, t.y);
	return st;
}
