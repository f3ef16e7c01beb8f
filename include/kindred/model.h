/* Results and models on disk. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KINDRED_MODEL_H
#define KINDRED_MODEL_H

#include "kindred/data.h"
#include "kindred/fit.h"

/* Writes one array as .npy (float64 or int64, C order), whole or not at all. */
KDR_API kdr_status kdr_write_array(kdr_context *ctx, const char *path, const kdr_array *array, bool force);

/* A fitted model: the arrays a method needs to label new samples, its options, the preprocessing
 * and the names of the features. One HDF5 file that other languages can read; docs/model-file.md
 * describes it. */
typedef struct kdr_model kdr_model;

/* Saves what a result keeps: the names of tasks, features and classes, the options in force and the preprocessing. */
KDR_API kdr_status kdr_model_save(kdr_context *ctx, const char *path, const kdr_result *result, bool force);
/* The same in memory. Borrows the result, which must live as long as the model. */
KDR_API kdr_status kdr_model_new(kdr_context *ctx, const kdr_result *result, kdr_model **out);
KDR_API kdr_status kdr_model_load(kdr_context *ctx, const char *path, kdr_model **out);
KDR_API void kdr_model_free(kdr_model *model);
KDR_API const kdr_algo *kdr_model_algo(const kdr_model *model);
KDR_API int64_t kdr_model_ntasks(const kdr_model *model);
KDR_API const char *kdr_model_task_name(const kdr_model *model, int64_t task);
KDR_API const char *const *kdr_model_classes(const kdr_model *model, int64_t *count);
KDR_API int64_t kdr_model_k(const kdr_model *model, int64_t task);

/* What tables of new samples are to be read with, as those the model was fitted on were: sets columns, missing and na where
 * they are NULL. The texts live as long as the model. */
KDR_API void kdr_model_reading(const kdr_model *model, kdr_read_options *options);

/* Labels the rows of `data` as samples of task `task`, after the model's own preprocessing (which
 * changes `data`). `labels` has one entry a row. kdr_predict does this and more. */
KDR_API kdr_status kdr_model_apply(kdr_context *ctx, const kdr_model *model, int64_t task, kdr_data *data,
                                   int64_t *labels);

#endif
