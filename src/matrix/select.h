/* Order statistics. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_SELECT_H
#define KDRI_SELECT_H

#include <stdint.h>

/* The value at place `k` (from 0) of v in increasing order; v is reordered, so that all before place k are
 * at most it and all after it at least it. No entry may be NaN. */
double kdri_select(double *v, int64_t n, int64_t k);
/* The same value, sooner; v is spoilt. */
double kdri_nth(double *v, int64_t n, int64_t k);
/* The mean of the one or two values in the middle; v is overwritten. */
double kdri_median(double *v, int64_t n);

#endif
