/* Self-training, as a method. SPDX-License-Identifier: BSD-3-Clause
 *
 * A linear SVM is trained on the labelled samples, labels the rest, and is trained again with its most certain
 * predictions, several times (engine/linear/rest.c). With `start` = shifted, the first predictions are those
 * for samples shifted by the difference of the means,
 *     (E1)  s(x) + s(mean of the labelled samples) - s(mean of the samples to predict),
 * which corrects a classifier whose constant does not suit the target. Round r of R uses a fraction
 *     (E2)  q_r = least + (most - least) (r - 1) / (R - 1)
 * of each class's predictions for training. If no cost is given, it is chosen by cross-validation on the labelled
 * samples. */
#include "api/method.h"
#include "engine/linear/linear.h"
#include "methods/common/labelled.h"

static const char stage[] = "self-training";
enum { START_PLAIN, START_SHIFTED };
static const char *const starts[] = { "plain", "shifted", NULL };
static const double costs[] = { 0.03, 0.1, 0.3, 1 };

static const kdr_option_desc options_table[] = {
	KDRI_REAL(
	        "cost", 0, 0, 1e300,
	        "weight of the losses relative to the penalty on the coefficients; 0: the best of 0.03, 0.1, 0.3 and 1 in cross-validation",
	        .symbol = "C", .automatic = "by cross-validation"),
	KDRI_CHOICE(
	        "start", START_PLAIN, starts,
	        "data for the first predictions: as given, or shifted so that source and target have the same mean"),
	KDRI_INT("rounds", 3, 0, 1e6,
	         "number of rounds in which the classifier is trained with its own predictions"),
	KDRI_REAL("least", 0.5, 0, 1, "fraction of the predictions used for training in the first round",
	          .open_min = true),
	KDRI_REAL("most", 1, 0, 1, "fraction of the predictions used for training in the last round",
	          .open_min = true),
	{ .name = NULL },
};

static const kdr_field_desc fields_table[] = {
	KDRI_FIELDS_LINEAR,
	KDRI_ARRAY("scores", KDR_FLOAT64, "n x classes",
	           "score of each class, positive on its side of the margin", .per_task = true,
	           .scoring = KDR_SCORING_MARGINS),
	{ .name = NULL },
};

static const char *const references_table[] = {
	"D. Yarowsky: Unsupervised word sense disambiguation rivaling supervised methods. ACL 1995.",
	NULL,
};

/* Weights by the problem's classes: a class without samples has none. */
static kdr_status put_weights(kdr_context *ctx, const kdri_domains *d, const double *w, kdr_result *result)
{
	kdr_status st;
	int64_t m = kdri_linear_outputs(d->classes), all = d->set.classes, rows = d->set.d + 1;
	double *spread = NULL, *row = NULL;
	if (all == d->classes)
		return kdri_linear_put(ctx, result, d->set.d, all, 1, w);
	KDRI_TRY(KDRI_NEW0(ctx, &spread, rows * all));
	KDRI_TRY(KDRI_NEW(ctx, &row, d->classes));
	for (int64_t j = 0; j < rows; j++) {
		kdri_linear_spread(ctx, 1, d->classes, w + j * m, row);
		for (int64_t k = 0; k < d->classes; k++)
			spread[j * all + d->class_of[k]] = row[k];
	}
	KDRI_TRY(kdri_linear_put(ctx, result, d->set.d, all, 1, spread));
done:
	KDRI_FREE(ctx, spread, row);
	return st;
}

static kdr_status self_training_fit(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                                    kdr_result *result)
{
	kdr_status st;
	kdri_domains d = { .set.x.view = kdr_mat_from_dense(NULL, 0, 0) };
	int64_t rounds = kdri_opt_int(options, "rounds");
	double *w = NULL, *scores = NULL, *shares = NULL;
	double least = kdri_opt_real(options, "least"), most = kdri_opt_real(options, "most");
	KDRI_TRY(kdri_domains_new(ctx, problem, result, &d));
	kdri_self_training s = { .rest = { .x = &d.set.x.view,
		                           .labels = d.labels,
		                           .weights = d.set.weights,
		                           .classes = d.classes,
		                           .loss = KDRI_LOSS_SQUARED_HINGE,
		                           .cost = kdri_opt_real(options, "cost"),
		                           .stage = stage },
		                 .unlabelled = d.unlabelled,
		                 .rounds = rounds };
	KDRI_TRY(KDRI_NEW0(ctx, &w, kdri_rest_size(&s.rest)));
	KDRI_TRY(KDRI_NEW(ctx, &scores, d.n * d.classes));
	KDRI_TRY(KDRI_NEW(ctx, &shares, rounds));
	for (int64_t r = 0; r < rounds; r++)
		shares[r] = least + (most - least) * (double)r / (double)KDRI_MAX(rounds - 1, 1); /* (E2) */
	s.shares = shares;
	if (s.rest.cost == 0)
		KDRI_TRY(kdri_cost_by_folds(ctx, &s.rest, costs, 4, &s.rest.cost, NULL));
	KDRI_TRY(kdri_rest_train(ctx, &s.rest, w));
	KDRI_TRY(kdri_rest_scores(ctx, &s.rest, w, scores));
	if (kdri_opt_choice(options, "start") == START_SHIFTED)
		KDRI_TRY(kdri_self_shift(ctx, &s, d.source, NULL, scores)); /* (E1) */
	KDRI_TRY(kdri_self_train(ctx, &s, w, scores));
	KDRI_TRY(kdri_domains_put(ctx, &d, scores, "scores", result));
	KDRI_TRY(put_weights(ctx, &d, w, result));
	KDRI_TRY(kdri_result_number(ctx, result, "cost", s.rest.cost));
	bool stopped = ctx->cancelled || ctx->timed_out;
	kdri_result_stop(result, stopped ? kdri_stop_reason(ctx) : KDR_STOP_CONVERGED, rounds);
done:
	kdri_domains_free(ctx, &d);
	KDRI_FREE(ctx, w, scores, shares);
	return st;
}

const kdri_algo kdri_algo_self_training = {
	.info = { .id = "self-training",
	          .class_name = "SelfTraining",
	          .title = "Self-training",
	          .summary =
	                  "linear SVM that is retrained with its own most certain predictions for the target",
	          .objective =
	                  "no common objective: each round minimises that of svm over the labelled samples and some predictions\n"
	                  "J_r = sum_c ( |w_c|^2 / 2 + C sum_i v_i max(0, 1 - y_ic <w_c, u_i>)^2 ), not recorded\n"
	                  "u_i    labelled samples, and the fraction q_r of the predictions of each class that are most certain\n"
	                  "q_r    grows from option least in the first round to option most in the last one\n"
	                  "w_c, y_ic, v_i, C: as in svm",
	          .steps =
	                  "1. train on the labelled samples; with start=shifted, correct the scores by the difference of the means\n"
	                  "2. add the most certain predictions of each class and train again, rounds times",
	          .use = "Source and target differ moderately, and a classifier of the source is right for most of the target.",
	          .cost = "rounds + 1 fits of svm; if cost is 0, also a cross-validation.",
	          .family = KDR_FAMILY_TRANSFER,
	          .flags = KDR_ALGO_PREDICT | KDR_ALGO_WEIGHTS,
	          .options = options_table,
	          .fields = fields_table,
	          .references = references_table },
	.fit = self_training_fit,
	.predict = kdri_linear_predict,
};
