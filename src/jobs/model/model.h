/* What a model keeps of its samples, and what it says of new ones. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_JOBS_MODEL_H
#define KDRI_JOBS_MODEL_H

#include "jobs/job.h"

/* predict.c: if a model is requested, compares the predictions of its rule for the samples of the fit with their
 * labels. If they differ, "predict_agreement" of the data set is the proportion of equal labels; otherwise the model
 * need not store the samples (api/known.h). To be called before kdri_job_encode. */
kdr_status kdri_job_agreement(kdr_context *ctx, const kdri_job *job, kdr_data *const *data,
                              kdr_result *result);

/* predict.c: if a model is requested, keeps some samples of a prepared data set with these labels below k in the task of a result
 * (api/remembered.h). To be called before kdri_job_encode. */
kdr_status kdri_job_remember(kdr_context *ctx, const kdri_job *job, const kdr_data *data,
                             const int64_t *labels, int64_t k, kdri_task_result *task);

/* choices.c: the same of the only task of `result`, samples that a model has not seen. */
kdr_status kdri_model_choices(kdr_context *ctx, const kdr_result *fitted, int64_t task, const kdr_data *data,
                              kdr_result *result);

#endif
