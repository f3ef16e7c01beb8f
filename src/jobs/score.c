/* Labels against classes known beforehand. SPDX-License-Identifier: BSD-3-Clause */
#include "comm/comm.h"
#include "engine/metrics/metrics.h"
#include "jobs/job.h"

/* Samples whose class no label can be. */
static kdr_status warn_strangers(kdr_context *ctx, kdr_result *r, int64_t task, const kdr_data *data,
                                 int64_t classes)
{
	kdr_status st = KDR_OK;
	bool *met = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &met, data->nclasses));
	for (int64_t i = 0; i < data->rows; i++)
		if (data->labels[i] >= classes)
			met[data->labels[i]] = true;
	for (int64_t c = classes; c < data->nclasses; c++)
		KDRI_TRY(kdri_any(ctx, &met[c]));
	for (int64_t c = classes; c < data->nclasses; c++)
		if (met[c])
			KDRI_TRY(kdri_result_warn(
			        ctx, r,
			        "class '%s' of %s is not in any source, so its samples count as wrong",
			        data->classes[c], r->tasks[task].name));
done:
	kdri_free(ctx, met);
	return st;
}

kdr_status kdri_job_same_classes(kdr_context *ctx, const kdr_data *data)
{
	kdr_status st;
	uint64_t hash = (uint64_t)data->nclasses;
	for (int64_t c = 0; c < data->nclasses; c++)
		hash = hash * 31 + kdri_fnv1a(data->classes[c], strlen(data->classes[c]));
	int64_t word = (int64_t)(hash >> 2), ends[] = { word, -word };
	KDRI_TRY(kdri_max_int(ctx, ends, 2));
	if (ends[0] != -ends[1])
		st = kdri_fail(
		        ctx, KDR_ERR_UNSUPPORTED,
		        "data set %s: the ranks have different lists of classes; give all ranks the same label file, with "
		        "the labels of all rows",
		        data->name);
done:
	return st;
}

/* counts, clusters x classes: samples of all ranks by both; the last class is that of samples without one. */
static kdr_status count_pairs(kdr_context *ctx, const int64_t *found, const int64_t *truth, int64_t n,
                              int64_t clusters, int64_t classes, int64_t **counts)
{
	kdr_status st;
	int64_t size;
	KDRI_TRY(kdri_mul(ctx, clusters, classes, &size));
	KDRI_TRY(KDRI_NEW0(ctx, counts, size));
	for (int64_t i = 0; i < n; i++)
		(*counts)[found[i] * classes + (truth[i] < 0 ? classes - 1 : truth[i])]++;
	KDRI_TRY(kdri_sum_int(ctx, *counts, size));
done:
	return st;
}

/* Samples without a predicted class are excluded from the scores. */
kdr_status kdri_job_score(kdr_context *ctx, kdr_result *r, int64_t task, const kdr_data *data, bool named,
                          int64_t classes)
{
	kdr_status st;
	kdri_task_result *t = &r->tasks[task];
	kdr_scores scores = { 0 };
	int64_t right = 0, n = 0, *found = NULL, *truth = NULL, *counts = NULL;
	bool known = t->labels && data->labels;
	KDRI_TRY(kdri_any(ctx, &known));
	if (!known)
		return KDR_OK;
	KDRI_TRY(kdri_job_same_classes(ctx, data));
	KDRI_TRY(KDRI_NEW(ctx, &found, t->n));
	KDRI_TRY(KDRI_NEW(ctx, &truth, t->n));
	for (int64_t i = 0; i < t->n && t->labels && data->labels; i++)
		if (t->labels[i] >= 0) {
			found[n] = t->labels[i];
			truth[n++] = data->labels[i];
		}
	if (kdri_together(ctx)) {
		const int64_t cols = data->nclasses + 1;
		KDRI_TRY(count_pairs(ctx, found, truth, n, t->k, cols, &counts));
		KDRI_TRY(kdri_evaluate_counts(ctx, counts, t->k, cols, &scores));
	} else {
		KDRI_TRY(kdr_evaluate(ctx, found, truth, n, &scores));
	}
	if (named) {
		for (int64_t i = 0; i < n; i++)
			right += found[i] == truth[i];
		KDRI_TRY(kdri_sum_int(ctx, &right, 1));
		scores.acc = (double)right / (double)KDRI_MAX(scores.n, 1);
		KDRI_TRY(warn_strangers(ctx, r, task, data, classes));
	}
	t->scores = scores;
done:
	KDRI_FREE(ctx, found, truth, counts);
	return st;
}
