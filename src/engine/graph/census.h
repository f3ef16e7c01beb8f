/* What entries look like. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_CENSUS_H
#define KDRI_CENSUS_H

#include "matrix/linalg.h"

typedef struct kdri_census {
	double cells, nonzero;
	bool negative;
} kdri_census;

/* Adds the entries of x to what is there; of all ranks, each with its rows of x. Numbers of entries are exact up to 2^53. */
kdr_status kdri_census_add(kdr_context *ctx, const kdr_mat *x, kdri_census *c);
/* Most entries are zero and none is negative: counts of words and what tf-idf makes of them. */
bool kdri_census_words(const kdri_census *c);

#endif
