/* Estimated probabilities of being right, from agreement. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_PROBABILITY_RIGHT_H
#define KDRI_PROBABILITY_RIGHT_H

#include "core/internal.h"

/* The estimated probability that a sample of a data set with k clusters is in the right one: (E1) of probability_right.c. */
double kdri_probability_right(double agreement, double mean, int64_t k);

/* The proportion of clusters that belong to the one from which they were carried over (docs/notes/statements.md). */
#define KDRI_CARRIED_RIGHT 0.92

/* The estimated probability that two matched clusters belong together, of k clusters in so many columns: (E2) of
 * probability_right.c; and of tables whose clusters have this estimated ARI: (E3) of probability_right.c. */
double kdri_match_right(double cosine, int64_t k, int64_t columns);
double kdri_table_match_right(double cosine, double estimate);

/* Probability of belonging together below which a cluster has no counterpart. */
#define KDRI_LEAST_MATCH 0.3

#endif
