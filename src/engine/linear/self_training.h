/* Self-training: a classifier that learns from its own most certain predictions. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_SELF_TRAINING_H
#define KDRI_SELF_TRAINING_H

#include "engine/linear/rest.h"

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
