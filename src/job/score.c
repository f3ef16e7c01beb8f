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

kdr_status kdri_job_score(kdr_context *ctx, kdr_result *r, int64_t task, const kdr_data *data, bool named,
                          int64_t classes)
{
	kdr_status st;
	kdri_task_result *t = &r->tasks[task];
	kdr_scores scores;
	int64_t right = 0;
	if (!t->labels || !data->labels)
		return KDR_OK;
	KDRI_TRY(kdr_evaluate(ctx, t->labels, data->labels, t->n, &scores));
	if (named) {
		for (int64_t i = 0; i < t->n; i++)
			right += t->labels[i] == data->labels[i];
		scores.acc = (double)right / (double)t->n;
		KDRI_TRY(warn_strangers(ctx, r, task, data, classes));
	}
	t->scores = scores;
done:
	return st;
}
