/* Decisions about graphs, by the kind and size of the data. SPDX-License-Identifier: BSD-3-Clause
 *
 * Methods and recipes use these functions. The rules and the measurements behind each constant are in
 * policy.c. */
#ifndef KDRI_POLICY_H
#define KDRI_POLICY_H

#include "engine/graph/knn.h"
#include "matrix/traits.h"

/* Mostly zeros and nothing negative: word counts, and the same after tf-idf. */
bool kdri_looks_like_words(const kdri_traits *t);
/* Few columns, mostly not zero: measurements, whose size matters as much as their direction. */
bool kdri_looks_like_measurements(const kdri_traits *t);

/* What replaces an exact neighbour search above its limit: landmarks for clusters, landmarks for walks from source to target, or a
 * search among some of the rows. */
typedef enum kdri_instead {
	KDRI_INSTEAD_LANDMARKS,
	KDRI_INSTEAD_WALKS,
	KDRI_INSTEAD_CANDIDATES
} kdri_instead;
/* Whether neighbours are searched among all rows if landmarks are an alternative. */
kdr_status kdri_search_is_exact(kdr_context *ctx, const kdr_mat *x, kdri_metric metric, kdri_instead instead,
                                bool *out);
/* Among how many of the rows they are searched if landmarks are not an alternative. */
kdr_status kdri_search_candidates(kdr_context *ctx, const kdr_mat *x, kdri_metric metric, int64_t *out);

/* The number of landmarks for the option value `requested` and the number of `clusters`. */
int64_t kdri_landmark_count(int64_t requested, int64_t clusters);
/* The number of landmarks that a sample is joined to instead of `neighbours` neighbours. */
typedef enum kdri_samples { KDRI_SAMPLES_WORDS, KDRI_SAMPLES_CENTRED, KDRI_SAMPLES_OTHER } kdri_samples;
int64_t kdri_landmarks_each(kdri_samples kind, int64_t neighbors);

#endif
