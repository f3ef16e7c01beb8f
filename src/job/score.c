/* Labels against classes known beforehand. SPDX-License-Identifier: BSD-3-Clause */
#include "comm/comm.h"
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

/* Ranks whose classes have other numbers, as from files of their own, would be scored against each other's. */
static kdr_status check_classes(kdr_context *ctx, const kdr_data *data)
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
		        "task %s: ranks have lists of classes that differ: give all of them one file of labels for all "
		        "rows",
		        data->name);
done:
	return st;
}

/* The pairs of all ranks, on rank 0; elsewhere there are none. */
static kdr_status collect(kdr_context *ctx, int64_t **v, int64_t n, int64_t *all)
{
	kdr_status st;
	int64_t *whole = NULL, bytes = 0;
	KDRI_TRY(kdri_gather(ctx, *v, n * (int64_t)sizeof **v, &whole, &bytes));
	kdri_free(ctx, *v);
	*v = whole;
	*all = whole ? bytes / (int64_t)sizeof **v : 0;
done:
	return st;
}

/* Samples that a method left without a class have no part in the scores. */
kdr_status kdri_job_score(kdr_context *ctx, kdr_result *r, int64_t task, const kdr_data *data, bool named,
                          int64_t classes)
{
	kdr_status st;
	kdri_task_result *t = &r->tasks[task];
	kdr_scores scores = { 0 };
	int64_t right = 0, n = 0, *found = NULL, *truth = NULL;
	bool known = t->labels && data->labels;
	KDRI_TRY(kdri_any(ctx, &known));
	if (!known)
		return KDR_OK;
	KDRI_TRY(check_classes(ctx, data));
	KDRI_TRY(KDRI_NEW(ctx, &found, t->n));
	KDRI_TRY(KDRI_NEW(ctx, &truth, t->n));
	for (int64_t i = 0; i < t->n && t->labels && data->labels; i++)
		if (t->labels[i] >= 0) {
			found[n] = t->labels[i];
			truth[n++] = data->labels[i];
		}
	if (kdri_together(ctx)) {
		int64_t mine = n;
		KDRI_TRY(collect(ctx, &found, mine, &n));
		KDRI_TRY(collect(ctx, &truth, mine, &n));
	}
	if (kdri_rank(ctx) == 0)
		KDRI_TRY(kdr_evaluate(ctx, found, truth, n, &scores));
	KDRI_TRY(kdri_share(ctx, &scores, (int64_t)sizeof scores, 0));
	if (named) {
		for (int64_t i = 0; i < n; i++)
			right += found[i] == truth[i];
		scores.acc = (double)right / (double)KDRI_MAX(n, 1);
		KDRI_TRY(kdri_share(ctx, &scores, (int64_t)sizeof scores, 0));
		KDRI_TRY(warn_strangers(ctx, r, task, data, classes));
	}
	t->scores = scores;
done:
	kdri_free(ctx, found);
	kdri_free(ctx, truth);
	return st;
}
