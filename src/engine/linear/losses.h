/* Losses of linear classifiers and their derivatives. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_LOSSES_H
#define KDRI_LOSSES_H

#include <stdbool.h>
#include <stdint.h>

/* For each of `count` scores z with signed costs q = c y: loss = c l(y z); z becomes the derivative q l'(y z), and h the
 * second derivative c l''(y z). All are 0 where q is. */
void kdri_losses_hinge(int64_t count, const double *q, double *z, double *h, double *loss);
void kdri_losses_logistic(int64_t count, const double *q, double *z, double *h, double *loss);
/* p: softmax of a row of k scores, of the classes that are present; 0 for the others. Returns the loss, -log p_label. */
double kdri_losses_softmax(int64_t k, const bool *present, int64_t label, const double *z, double *p);

#endif
