/* Adding data sets to a model. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_INTO_H
#define KDRI_INTO_H

#include "jobs/job.h"
#include "matrix/linalg.h"

/* An error unless `count` data sets can be added to the model options->into with the job's method. Gives the job the options and
 * the preprocessing of the model, applies the latter to the data sets, and makes data sets of the samples that the model keeps:
 * (*kept)[t] for each data set of the model, NULL if there are none. Free each with kdr_data_free, the list with kdri_free; also
 * after a failure. */
kdr_status kdri_into_prepare(kdr_context *ctx, kdri_job *job, kdr_data **sets, int64_t count,
                             kdr_data ***kept);

/* Weights of words are those of the model, which does not know how frequent words are in the new data sets, those from `old` on.
 * Writes matrices in which words are weighted by all data sets together: x[t] of data set t; free them with kdri_own_free. x NULL:
 * changes the data sets and the preprocessing instead. Does nothing unless the weighting is tfidf. */
kdr_status kdri_into_reweigh(kdr_context *ctx, kdr_prep *prep, kdr_data *const *all, int64_t old,
                             int64_t count, kdri_own *x);

/* Clusters data sets together with the samples that the model options->into keeps. */
kdr_status kdri_cluster_into(kdr_context *ctx, kdri_job *job, kdr_data **sets, int64_t count,
                             kdr_result **out);

#endif
