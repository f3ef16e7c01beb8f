/* Linear classifiers: the problems of LIBLINEAR's primal solvers. SPDX-License-Identifier: BSD-3-Clause
 *
 * For each of m outputs separately, with u_i = (x_i, bias),
 *
 *   min over w   |w|^2 / 2 + sum_i c_i loss(y_i <w, u_i>),   y_i = -1 or 1, c_i >= 0,
 *
 *   squared hinge    loss(z) = max(0, 1 - z)^2        (LIBLINEAR's L2R_L2LOSS_SVC)
 *   logistic         loss(z) = log(1 + exp(-z))       (LIBLINEAR's L2R_LR)
 *
 * As in LIBLINEAR, the weight of the constant feature `bias` is penalised like the others. */
#ifndef KDRI_LINEAR_H
#define KDRI_LINEAR_H

#include <stdbool.h>
#include <stdint.h>

#include "api/method.h"
#include "matrix/linalg.h"
#include "matrix/range.h"

typedef enum kdri_loss { KDRI_LOSS_SQUARED_HINGE, KDRI_LOSS_LOGISTIC } kdri_loss;

typedef struct kdri_linear_options {
	kdri_loss loss;
	double bias;    /* value of the constant feature; 0: none */
	bool free_bias; /* its weight is not penalised (scikit-learn's other solvers) */
	/* Stop when the gradient is at most this fraction of its length at w = 0, and the value is certainly within this
	 * fraction of the minimum (the latter not with a free bias). */
	double tol;
	int64_t max_iter;  /* Newton steps */
	const char *stage; /* name for progress events */
	kdr_result *trace; /* gets the value after each step, or NULL */
} kdri_linear_options;

/* Values are sums over the outputs. */
typedef struct kdri_linear_report {
	double start, value; /* before the first step, and after the last */
	int64_t iterations;
	kdr_stop stop;
} kdri_linear_report;

/* Minimises all outputs. cost (n x m): c_i times y_i. w ((d + 1) x m, row-major; the last row belongs to the bias): the
 * start on entry, the minimisers on return. The value never increases. The result does not depend on the number of
 * threads. Being stopped early is not a failure: w is then the best so far. */
kdr_status kdri_linear_train(kdr_context *ctx, const kdr_mat *x, int64_t outputs, const double *cost,
                             const kdri_linear_options *options, double *w, kdri_linear_report *report);

/* scores (n x m) = <w, u_i>. */
kdr_status kdri_linear_scores(kdr_context *ctx, const kdr_mat *x, int64_t outputs, double bias,
                              const double *w, double *scores);

/* --- one against the rest --------------------------------------------------------------------- */

/* The number of outputs for `classes` classes: one for two classes, because the other output is its negative. */
static inline int64_t kdri_linear_outputs(int64_t classes)
{
	return classes == 2 ? 1 : classes;
}
/* The class whose samples have y = 1 in `output`. */
static inline int64_t kdri_linear_class(int64_t classes, int64_t output)
{
	return classes == 2 ? 1 : output;
}
/* Scores of every class (n x classes) from those of the outputs (n x outputs). */
void kdri_linear_spread(kdr_context *ctx, int64_t n, int64_t classes, const double *outputs, double *scores);

/* Losses of linear classifiers and their derivatives. */

/* For each of `count` scores z with signed costs q = c y: loss = c l(y z); z becomes the derivative q l'(y z), and h the
 * second derivative c l''(y z). All are 0 where q is. */
void kdri_losses_hinge(int64_t count, const double *q, double *z, double *h, double *loss);
void kdri_losses_logistic(int64_t count, const double *q, double *z, double *h, double *loss);
/* p: softmax of a row of k scores, of the classes that are present; 0 for the others. Returns the loss, -log p_label. */
double kdri_losses_softmax(int64_t k, const bool *present, int64_t label, const double *z, double *p);

/* Newton directions of linear classifiers, many at a time: linear.c. */

/* Logistic regression of several classes jointly. */

/* Minimises |W|^2 / 2 + sum_i c_i log(sum_k exp <w_k - w_y, u_i>), u_i = (x_i, bias), y = labels[i]: scikit-learn's
 * LogisticRegression with its default solver, where c_i = C and the bias is free. Rows with labels[i] < 0 or cost[i] = 0
 * are ignored; a class without rows keeps its initial weights, which should be 0. w ((d + 1) x classes, row-major, the
 * last row the bias's): the start on entry, the minimiser on return; a free bias is determined up to a constant,
 * which stays as at the start. `options->loss` is not read; everything else is as in kdri_linear_train: the value
 * never increases, the result does not depend on the number of threads, and being stopped early is not a failure. For
 * two classes, kdri_linear_train with one output solves the usual problem with half the work. */
kdr_status kdri_softmax_train(kdr_context *ctx, const kdr_mat *x, int64_t classes, const int64_t *labels,
                              const double *cost, const kdri_linear_options *options, double *w,
                              kdri_linear_report *report);

/* One class against the rest on the labelled rows of a matrix, and the choice of the cost. */

/* Everything is borrowed. Every class has a labelled row. */
typedef struct kdri_rest {
	const kdr_mat *x;
	const int64_t *labels; /* a class for each row, -1: it is not trained on */
	const double *weights; /* one per row; NULL: ones */
	int64_t classes;
	kdri_loss loss;
	/* All classes jointly if there are more than two; the loss is then logistic. Not for
	 * kdri_cost_by_folds. */
	bool joint;
	double cost;
	bool free_bias;    /* data that are not centred: the constant may take any value */
	const char *stage; /* for progress events */
} kdri_rest;

/* Weights that kdri_rest_train needs room for. */
static inline int64_t kdri_rest_size(const kdri_rest *p)
{
	return (kdr_mat_cols(p->x) + 1) * kdri_linear_outputs(p->classes);
}
/* Trains; w: the start on entry (zeros are fine), the weights on return. Being stopped is not a failure. */
kdr_status kdri_rest_train(kdr_context *ctx, const kdri_rest *p, double *w);
/* Scores (rows of x, by class) of weights that kdri_rest_train left. */
kdr_status kdri_rest_scores(kdr_context *ctx, const kdri_rest *p, const double *w, double *scores);

/* The class of the largest score of a row, or of each row; the lowest of equals. */
int32_t kdri_rest_best(const double *row, int64_t classes);
void kdri_rest_answer(kdr_context *ctx, const double *scores, int64_t n, int64_t classes, int32_t *answer);
/* Rows of scores (n x classes) to probabilities: softmax(steepness x score). */
void kdri_rest_soften(kdr_context *ctx, double *scores, int64_t n, int64_t classes, double steepness);

/* rest.c: the cost (of `count`, ascending) with the highest accuracy in cross-validation, the lowest of equals; `right`
 * (count, may be NULL): the accuracy with each. The folds are drawn from (seed, "folds"). */
kdr_status kdri_cost_by_folds(kdr_context *ctx, const kdri_rest *p, const double *costs, int64_t count,
                              double *best, double *right);

/* Self-training: a classifier that learns from its own most certain predictions. */

typedef struct kdri_self_training {
	kdri_rest rest; /* labels: of the rows that are known */
	const bool *
	        unlabelled; /* rows whose classes are to be predicted; the most certain of them are used for training */
	const double *shares; /* fraction of each class's predictions used for training, one per round */
	int64_t rounds;
	/* Another classifier: trains on these labels and weights, and gives the probabilities of each class for all rows. NULL: a linear
	 * one, as `rest` describes. */
	kdr_status (*train)(kdr_context *ctx, void *user, const int64_t *labels, const double *weights,
	                    double *scores);
	void *user;
} kdri_self_training;

/* scores (rows of x, by class): those of the first classifier on entry, of the last on return. w: a start for
 * training on entry, the last classifier's weights on return; not used with another classifier. */
kdr_status kdri_self_train(kdr_context *ctx, const kdri_self_training *p, double *w, double *scores);

/* Scores of the target's rows after shifting their mean to that of the labelled rows of the sources: s(x) + s(mean of
 * the sources) - s(mean of the target). They are for linear scores, as a start. source: which rows are of a source;
 * labelled rows of the target are not. share: the proportion of each class in the target, if it is estimated; the
 * sources' mean is then adjusted to these proportions. NULL: no adjustment. */
kdr_status kdri_self_shift(kdr_context *ctx, const kdri_self_training *p, const bool *source,
                           const double *share, double *scores);

#endif
