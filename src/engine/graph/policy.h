/* Decisions about graphs, from what the data are and how large they are. SPDX-License-Identifier: BSD-3-Clause
 *
 * Methods, recipes and byte counts ask here. The rules and the measurements behind each constant are in policy.c. */
#ifndef KDRI_POLICY_H
#define KDRI_POLICY_H

#include "engine/graph/knn.h"
#include "matrix/traits.h"

/* Mostly zeros and nothing negative: word counts, and the same after tf-idf. */
bool kdri_looks_like_words(const kdri_traits *t);
/* Few columns, mostly not zero: measurements, whose size matters as much as their direction. */
bool kdri_looks_like_measurements(const kdri_traits *t);
/* The traits of a matrix of which only the size is known. */
kdri_traits kdri_extent_traits(const kdri_extent *x, bool nonnegative);

/* What takes the place of an exact search for neighbours beyond its limit. */
typedef enum kdri_instead { KDRI_INSTEAD_LANDMARKS, KDRI_INSTEAD_CANDIDATES } kdri_instead;
/* Whether neighbours are searched among all rows if landmarks could take their place. */
kdr_status kdri_search_is_exact(kdr_context *ctx, const kdr_mat *x, kdri_metric metric, bool *out);
/* Among how many of the rows they are searched if landmarks cannot. */
kdr_status kdri_search_candidates(kdr_context *ctx, const kdr_mat *x, kdri_metric metric, int64_t *out);
/* Whether that is all of them, as far as sizes decide it; a device is not taken into account. */
kdri_decided kdri_search_decided(const kdri_extent *x, kdri_metric metric, kdri_instead instead);
/* The share of the rows that are candidates if the search is not exact, at most. */
double kdri_search_share(const kdri_extent *x);

/* How many landmarks there are if `asked` are set and the samples are to fall into `clusters`. */
int64_t kdri_landmark_count(int64_t asked, int64_t clusters);
/* How many of them a sample is joined to, if it would be joined to so many neighbours. */
typedef enum kdri_samples { KDRI_SAMPLES_WORDS, KDRI_SAMPLES_CENTRED, KDRI_SAMPLES_OTHER } kdri_samples;
int64_t kdri_landmarks_each(kdri_samples kind, int64_t neighbors);

#endif
