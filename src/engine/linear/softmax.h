/* Logistic regression of several classes jointly. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_SOFTMAX_H
#define KDRI_SOFTMAX_H

#include "engine/linear/linear.h"

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

#endif
