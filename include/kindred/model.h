/* Fitted models. SPDX-License-Identifier: BSD-3-Clause
 *
 * A model holds what a method needs to label new samples: its arrays and options, the preprocessing, and the names of
 * features and classes. A model file is an HDF5 file that other languages can read; docs/model-file.md describes it. */
#ifndef KINDRED_MODEL_H
#define KINDRED_MODEL_H

#include "kindred/data.h"
#include "kindred/fit.h"

typedef struct kdr_model kdr_model;

/* Writes the model of a result to a file. `force` replaces an existing file. Cost: O(size of the model), typically O(k d). */
KDR_API kdr_status kdr_model_save(kdr_context *ctx, const char *path, const kdr_result *result, bool force);
/* Creates a model that borrows the result, which must outlive it. Free *out with kdr_model_free. Cost: O(tasks). */
KDR_API kdr_status kdr_model_new(kdr_context *ctx, const kdr_result *result, kdr_model **out);
/* Reads a model file. Free *out with kdr_model_free. Cost: O(size of the file) time and memory. */
KDR_API kdr_status kdr_model_load(kdr_context *ctx, const char *path, kdr_model **out);
KDR_API void kdr_model_free(kdr_model *model);

/* The method, the number of data sets and their names (NULL if there is no such data set). Cost: O(1). */
KDR_API const kdr_algo *kdr_model_algo(const kdr_model *model);
KDR_API int64_t kdr_model_ntasks(const kdr_model *model);
KDR_API const char *kdr_model_task_name(const kdr_model *model, int64_t task);

/* Completes `options` so that new samples are read as those the model was fitted on: sets `columns`, `missing` and `na` if they are
 * NULL, and `texts`, `terms` and `nterms`. The strings live as long as the model. Cost: O(1). */
KDR_API void kdr_model_reading(const kdr_model *model, kdr_read_options *options);

#endif
