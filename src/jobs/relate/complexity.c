/* Domain complexity: how much of a vocabulary is rare. SPDX-License-Identifier: BSD-3-Clause
 *
 *   (E1)  complexity = |{ features j : count_j < rare n }| / m       [TSZY15, eq. 1; rare = 0.1]
 *
 * count_j is the number of samples in which feature j is not 0. The paper does not specify whether m counts the
 * features of the entire vocabulary or those that occur in the set: both are available. */
#include "jobs/relate/relate.h"

double kdri_complexity(const int64_t *counts, int64_t features, int64_t samples, double rare, bool observed)
{
	int64_t of = 0, few = 0;
	for (int64_t j = 0; j < features; j++) {
		if (observed && counts[j] == 0)
			continue;
		of++;
		few += (double)counts[j] < rare * (double)samples; /* (E1) */
	}
	return of > 0 ? (double)few / (double)of : 0;
}
