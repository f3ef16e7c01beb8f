/* How near the samples of one task are to those of another. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_NEARNESS_H
#define KDRI_NEARNESS_H

#include "matrix/linalg.h"

/* out (count x count): entry (t, s) is the similarity of samples of task t to their nearest samples of task s, relative
 * to their nearest samples in their own task; from 0 (nothing in common) to 1 (as near as their own). Ones on the
 * diagonal. It uses cosines of the rows minus `mean` (NULL: of the rows), or distances, and the same number of at most
 * 400 evenly spaced samples of each task. */
kdr_status kdri_nearness(kdr_context *ctx, const kdr_mat *const *tasks, int64_t count, bool cosine,
                         const double *mean, double *out);

/* Writes a sentence about the nearest other task (NULL: there is none). It does not predict a benefit: over 24 pairs of
 * tasks, nearness was unrelated to what pooling gained or lost (docs/notes/auto.md). */
void kdri_nearness_advice(const char *name, const char *nearest, double nearness, char *out, size_t room);

#endif
