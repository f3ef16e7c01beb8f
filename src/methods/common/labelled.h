/* The samples of a transfer problem, by data set, and which of them are known. SPDX-License-Identifier: BSD-3-Clause
 *
 * The samples that kdri_labelled stacks, without classes that have no sample: 0..classes-1 are those that have some. */
#ifndef KDRI_LABELLED_H
#define KDRI_LABELLED_H

#include "api/method.h"
#include "engine/linear/linear.h"
#include "matrix/linalg.h"

typedef struct kdri_labelled {
	const kdr_problem *problem;
	int64_t n, d, classes;
	kdri_own x;      /* n x d */
	int64_t *labels; /* n: a class, or -1 */
	double *weights; /* n */
	int64_t *counts; /* classes: labelled samples of each */
	int64_t known;   /* number of labelled samples */
} kdri_labelled;

typedef struct kdri_domains {
	kdri_labelled set;
	int64_t ntasks, *begin; /* task t has rows begin[t] .. begin[t + 1] - 1 of set.x */
	int64_t n, classes;
	int64_t *class_of; /* classes: their numbers in the problem */
	int64_t *labels;   /* n: a class, or -1 */
	bool *source;      /* n: of a source; a sample of the target may have a label, too */
	bool *unlabelled;  /* n: of no source, and without a label */
	int64_t known, wanted;
	double *share; /* classes: of the labelled rows */
} kdri_domains;

kdr_status kdri_domains_new(kdr_context *ctx, const kdr_problem *problem, kdr_result *result,
                            kdri_domains *out);
void kdri_domains_free(kdr_context *ctx, kdri_domains *d);

/* Stores labels from a posterior (n x classes) in the result, and the posterior as array `name` with the problem's
 * classes. */
kdr_status kdri_domains_put(kdr_context *ctx, const kdri_domains *d, const double *posterior,
                            const char *name, kdr_result *result);

/* Tasks of a transfer problem as one set of samples, some of them labelled.
 *
 * All tasks share their features and are stacked. Samples of sources must have a class or -1; those of targets (and
 * bridges) may have one. Every task except the sources gets labels in the result; known labels are kept. */

/* KDR_ERR_DATA if the widths differ, if there is no target, or if fewer than two classes have samples. For a class
 * without samples, a warning is added to `result` (unless NULL), because no sample will get it. */
kdr_status kdri_labelled_new(kdr_context *ctx, const kdr_problem *problem, kdr_result *result,
                             kdri_labelled *out);
void kdri_labelled_free(kdr_context *ctx, kdri_labelled *set);

/* Stores labels from scores (n x classes, by sample of the stacked set) in the result: the known class, or the class
 * with the largest score among those with samples; of equal scores, the most frequent class, then the lowest number. The
 * scores become array `name` of each task that is not a source. `name` NULL: labels only. */
kdr_status kdri_labelled_put(kdr_context *ctx, const kdri_labelled *set, const double *scores,
                             const char *name, kdr_result *result);

/* Warns about unlabelled samples whose scores are all 0, because no labelled sample is connected to them. */
kdr_status kdri_labelled_warn_unreached(kdr_context *ctx, const kdri_labelled *set, const double *scores,
                                        kdr_result *result);

/* The rows with a label, or those without, as indices into the stacked set; at most n. */
int64_t kdri_labelled_rows(const kdri_labelled *set, bool known, int64_t *rows);

/* Linear classifiers, one against the rest, for methods. */

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
