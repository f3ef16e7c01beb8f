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

#include "api/method.h"
#include "matrix/linalg.h"

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

#endif
