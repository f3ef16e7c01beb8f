/* How near the samples of one task are to those of another. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_NEARNESS_H
#define KDRI_NEARNESS_H

#include "matrix/linalg.h"

/* out (count x count): entry (t, s) is how near samples of task t are to the nearest of task s, as a share of
 * how near they are to the nearest of their own task; from 0, nothing in common, to 1, no farther than their
 * own. Ones on the diagonal. By cosines of the rows less `mean` (NULL: of the rows), or by distances. At
 * most 400 samples of each task are looked at, as many of each, evenly spread over its rows. */
kdr_status kdri_nearness(kdr_context *ctx, const kdr_mat *const *tasks, int64_t count, bool cosine,
                         const double *mean, double *out);

/* A sentence on the nearest other task (NULL: there is none). It gives no advice: over 24 pairs of tasks nearness had
 * nothing to do with what pooling gained or lost (docs/auto.md). */
void kdri_nearness_advice(const char *name, const char *nearest, double nearness, char *out, size_t room);

#endif
