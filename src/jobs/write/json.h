/* Parts of result.json that have a file of their own. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_JOBS_JSON_H
#define KDRI_JOBS_JSON_H

#include "jobs/job.h"

/* json_samples.c: lists of result.json that have an entry for each sample. `json` writes to pages (kdri_pages). */
/* The sizes of clusters and, unless the result should be brief, the labels. */
void kdri_json_labels(struct kdri_json *json, const kdr_result *result, int64_t task);
/* The names of samples and their probabilities. */
void kdri_json_ids(struct kdri_json *json, const kdr_result *result, int64_t task);
/* The confidences of labels and the second-best labels. */
void kdri_json_choices(struct kdri_json *json, const kdr_result *result, int64_t task);

/* json_map.c: what the report draws of a task, where it was wanted. */
kdr_status kdri_json_map(kdr_context *ctx, struct kdri_json *json, const kdr_result *result, int64_t task);

#endif
