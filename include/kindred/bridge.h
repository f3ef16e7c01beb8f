/* Choosing the data set between a source and a target. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KINDRED_BRIDGE_H
#define KINDRED_BRIDGE_H

#include "kindred/relate.h"

enum { KDR_BRIDGE_FEATURES = 6 };

/* A logistic model of whether a bridge helps: probability = 1 / (1 + exp(-(beta[0] + sum beta[1 + k] feature[k]))). The features
 * are the complexities of source, bridge and target, and the A-distances source-bridge, source-target, bridge-target. */
typedef struct kdr_selector {
	double beta[1 + KDR_BRIDGE_FEATURES];
	int64_t triples, helpful; /* what it was fitted on */
	double log_likelihood;
} kdr_selector;

/* Fits the model to `n` triples: features (n x 6), helps[i] 0 or 1, by Newton's method with a small ridge on standardised
 * features. */
KDR_EXPERIMENTAL KDR_API kdr_status kdr_selector_fit(kdr_context *ctx, const double *features,
                                                     const int *helps, int64_t n, double ridge,
                                                     kdr_selector *out);
KDR_EXPERIMENTAL KDR_API double kdr_selector_probability(const kdr_selector *selector,
                                                         const double *features);
/* The same from labelled data sets with the same columns: every ordered triple (source, bridge, target) of them is tried. A bridge helps
 * if labels spread on a neighbour graph with it reach more than 1.03 times the accuracy without. Classes are 0..classes-1. */
KDR_EXPERIMENTAL KDR_API kdr_status kdr_selector_train(kdr_context *ctx, const kdr_mat *x,
                                                       const int64_t *const *labels, int64_t count,
                                                       int64_t classes, const kdr_relate_options *options,
                                                       kdr_selector *out);
/* A selector as a small JSON file. */
KDR_EXPERIMENTAL KDR_API kdr_status kdr_selector_save(kdr_context *ctx, const char *path,
                                                      const kdr_selector *selector, bool force);
KDR_EXPERIMENTAL KDR_API kdr_status kdr_selector_load(kdr_context *ctx, const char *path, kdr_selector *out);

/* A candidate: its matrix in the source's features and in the target's; the same matrix twice where they share their features. */
typedef struct kdr_bridge_candidate {
	kdr_mat source_view, target_view;
} kdr_bridge_candidate;

typedef struct kdr_bridge_score {
	double features[KDR_BRIDGE_FEATURES];
	double score; /* what decides, larger is better: the probability, or `back`, or A(s,t) - max(A(s,i), A(i,t)) */
	double probability; /* NaN without a selector */
	double back; /* share of the source's classes that come back over the bridge; NaN where it was not tried */
	int64_t rank;     /* 0 is the best */
	char reason[192]; /* one line */
} kdr_bridge_score;

/* Ranks bridges by their matrices alone. With a selector by its probability; without one, a bridge is as good as its longer half is
 * short: by max(A(s,i), A(i,t)), against A(s,t). Of equals the first is better. kdr_transfer has the classes, too: without a selector
 * it fits every candidate and takes the one over which most of the source's classes come back from the target. */
KDR_EXPERIMENTAL KDR_API kdr_status kdr_bridge_rank(kdr_context *ctx, const kdr_mat *source,
                                                    const kdr_mat *target,
                                                    const kdr_bridge_candidate *candidates, int64_t count,
                                                    const kdr_selector *selector,
                                                    const kdr_relate_options *options,
                                                    kdr_bridge_score *scores);

#endif
