/* One class against the rest on the labelled rows of a matrix, and the choice of the cost. SPDX-License-Identifier:
 * BSD-3-Clause */
#ifndef KDRI_REST_H
#define KDRI_REST_H

#include "engine/linear/linear.h"

/* Everything is borrowed. Every class has a labelled row. */
typedef struct kdri_rest {
	const kdr_mat *x;
	const int64_t *labels; /* a class for each row, -1: it is not trained on */
	const double *weights; /* one per row; NULL: ones */
	int64_t classes;
	kdri_loss loss;
	/* All classes jointly (softmax.h) if there are more than two; the loss is then logistic. Not for
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

/* cost.c: the cost (of `count`, ascending) with the highest accuracy in cross-validation, the lowest of equals; `right`
 * (count, may be NULL): the accuracy with each. The folds are drawn from (seed, "folds"). */
kdr_status kdri_cost_by_folds(kdr_context *ctx, const kdri_rest *p, const double *costs, int64_t count,
                              double *best, double *right);

#endif
