/* Learning which data set helps between a source and a target. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KINDRED_BRIDGE_H
#define KINDRED_BRIDGE_H

#include "kindred/data.h"

enum { KDR_BRIDGE_FEATURES = 6 };

/* A logistic model of whether a bridge helps: probability = 1 / (1 + exp(-(beta[0] + sum beta[1 + f] feature[f]))). The
 * features are the complexities of source, bridge and target, and the A-distances source-bridge, source-target and
 * bridge-target [Tan, Song, Zhong & Yang, Transitive transfer learning, KDD 2015]. Frozen. */
typedef struct kdr_selector {
	double beta[1 + KDR_BRIDGE_FEATURES];
	int64_t triples, helpful; /* how many triples it was fitted on, and in how many the bridge helped */
	double log_likelihood;
} kdr_selector;

/* Learns the model from `count` >= 3 labelled data sets. Every ordered triple (source, bridge, target) is tried; a bridge
 * helps if labels that spread on a neighbour graph with it reach more than 1.03 times the accuracy without it. Classes are
 * merged, columns aligned and the data preprocessed in place by `prep` (NULL: alignment only).
 * Cost: O(count^3) neighbour graphs of the data sets, O(nnz) memory. */
KDR_EXPERIMENTAL KDR_API kdr_status kdr_train_selector(kdr_context *ctx, kdr_data *const *sets, int64_t count,
                                                       const kdr_prep_options *prep, kdr_selector *out);
/* Writes a model to a small JSON file, and reads it. Cost: O(1). */
KDR_EXPERIMENTAL KDR_API kdr_status kdr_selector_save(kdr_context *ctx, const char *path,
                                                      const kdr_selector *selector, bool force);
KDR_EXPERIMENTAL KDR_API kdr_status kdr_selector_load(kdr_context *ctx, const char *path, kdr_selector *out);

#endif
