/* Two-dimensional maps of the samples of related tasks. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_EMBED_H
#define KDRI_EMBED_H

#include "engine/graph/views.h"

/* Computes two numbers for each row of each task: xy[t] has room for 2 x rows of x[t]. Tasks of equal width share axes;
 * others have their own. If stopped early, it gives the layout reached so far. */
kdr_status kdri_embed(kdr_context *ctx, const kdr_mat *x, int64_t count, const kdr_embed_options *options,
                      double *const *xy);

/* The initial coordinates of the map of several tasks of equal width: all rows in order of tasks, each minus its task's
 * mean, along at most `most` leading directions of all; scaled to unit length if samples are compared by cosine. Free *out. */
kdr_status kdri_embed_shared(kdr_context *ctx, const kdr_mat *x, int64_t count, int64_t most, double **out,
                             int64_t *width);

/* --- embed.c: who attracts whom --------------------------------------------------------------- */

/* --- embed.c: the layout ------------------------------------------------------------------------ */

#endif
