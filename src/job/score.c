/* Labels against classes known beforehand. SPDX-License-Identifier: BSD-3-Clause */
#include "job/job.h"

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
		if (met[c])
			KDRI_TRY(kdri_result_warn(
			        ctx, r,
			        "class '%s' of the truth of %s is in no source: its samples count as wrong",
			        data->classes[c], r->tasks[task].name));
done:
	kdri_free(ctx, met);
	return st;
}

/* Samples that a method left without a class have no part in the scores. */
kdr_status kdri_job_score(kdr_context *ctx, kdr_result *r, int64_t task, const kdr_data *data, bool named,
                          int64_t classes)
{
	kdr_status st;
	kdri_task_result *t = &r->tasks[task];
	kdr_scores scores;
	int64_t right = 0, n = 0, *found = NULL, *truth = NULL;
	if (!t->labels || !data->labels)
		return KDR_OK;
	KDRI_TRY(KDRI_NEW(ctx, &found, t->n));
	KDRI_TRY(KDRI_NEW(ctx, &truth, t->n));
	for (int64_t i = 0; i < t->n; i++)
		if (t->labels[i] >= 0) {
			found[n] = t->labels[i];
			truth[n++] = data->labels[i];
		}
	KDRI_TRY(kdr_evaluate(ctx, found, truth, n, &scores));
	if (named) {
		for (int64_t i = 0; i < n; i++)
			right += found[i] == truth[i];
		scores.acc = (double)right / (double)KDRI_MAX(n, 1);
		KDRI_TRY(warn_strangers(ctx, r, task, data, classes));
	}
	t->scores = scores;
done:
	kdri_free(ctx, found);
	kdri_free(ctx, truth);
	return st;
}
