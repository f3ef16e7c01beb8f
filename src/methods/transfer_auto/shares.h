/* Class shares of the target, and whether source and target overlap. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_TRANSFER_SHARES_H
#define KDRI_TRANSFER_SHARES_H

#include "methods/transfer_auto/views.h"

/* A (classes x classes): column k has the shares of each vote among samples of class k. q: vote shares in the target. pi: the shares
 * to start from, and the estimate on return. */
kdr_status kdri_shares_estimate(kdr_context *ctx, const double *a, const double *q, int64_t classes,
                                double *pi);

/* The weighted area under the ROC curve: how often a positive row has a larger score than another row. Ties count half. NaN if
 * one of the two groups has no weight. */
kdr_status kdri_weighted_auc(kdr_context *ctx, const double *score, const bool *positive,
                             const double *weight, int64_t n, double *out);

/* 2 AUC - 1 of a classifier that separates source from target on Z, by two-fold cross-validation: 0 = indistinguishable, 1 = fully
 * separable. weight: of each class of the source; NULL: ones. NaN if there are too few rows. */
kdr_status kdri_transfer_separation(kdr_context *ctx, const kdri_transfer_views *v, const double *weight,
                                    double *out);

#endif
