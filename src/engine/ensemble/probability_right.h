/* Estimated probabilities of being right, from agreement. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_PROBABILITY_RIGHT_H
#define KDRI_PROBABILITY_RIGHT_H

#include "core/internal.h"

/* The estimated probability that a sample of a data set with k clusters is in the right one: (E1) of probability_right.c. */
double kdri_probability_right(double agreement, double mean, int64_t k);

/* The estimated probability that the class of a sample of a table is right, from the vote's confidence: (E3) of
 * probability_right.c. */
double kdri_table_class_right(double confidence);

/* The proportion of pairs of clusters of tables with the same number that belong together
 * (docs/notes/statements.md). */
#define KDRI_SAME_NUMBER_RIGHT 0.92

/* The estimated probability that two matched clusters belong together: (E2) of probability_right.c. */
double kdri_match_right(double cosine);

/* Probability of belonging together below which a cluster has no counterpart. */
#define KDRI_LEAST_MATCH 0.3

#endif
