/* Weights of the nearest neighbours of a sample. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_WEIGHTS_H
#define KDRI_WEIGHTS_H

#include <stdbool.h>
#include <stdint.h>

/* Of distances a_1, .., a_n: the smallest one, and that of the first sample that is not a neighbour. */
typedef struct kdri_limits {
	double least, bound;
	bool tied; /* they are equal */
} kdri_limits;

/* Of n distances a; a[self] (if self >= 0) does not count, `place` counts from 0. `room` (n) is scratch. `tie`: distances no farther apart
 * than this are equal. */
kdri_limits kdri_limits_of(const double *a, int64_t n, int64_t self, int64_t place, double tie, double *room);

/* weight_j = (bound - a_j) / (bound - least) where positive, else 0; where these are tied: 1 up to bound + tie. Returns how many are
 * not 0. */
int64_t kdri_weigh(const kdri_limits *l, const double *a, int64_t n, int64_t self, double tie,
                   double *weight);

#endif
