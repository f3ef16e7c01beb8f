/* The samples that stand for a cluster: the surest and the least sure. SPDX-License-Identifier: BSD-3-Clause
 *
 * Of samples that are as sure the first counts. Of a cluster of fewer than six no sample is both; of one of a single sample
 * there is nothing to say. */
#include "job/job.h"

/* Puts row i where it belongs among the `most` best so far, -1 where there are fewer; `sign` -1: the least sure are best. */
static void insert(int64_t *best, int most, const double *sure, int64_t i, double sign)
{
	int at = most;
	while (at > 0 && (best[at - 1] < 0 || sign * sure[i] > sign * sure[best[at - 1]]))
		at--;
	if (at == most)
		return;
	memmove(best + at + 1, best + at, (size_t)(most - 1 - at) * sizeof *best);
	best[at] = i;
}

kdr_status kdri_job_examples(kdr_context *ctx, kdr_result *r)
{
	kdr_status st = KDR_OK;
	int64_t *size = NULL;
	for (int64_t t = 0; t < r->ntasks; t++) {
		kdri_task_result *task = &r->tasks[t];
		const double *sure = kdr_result_confidence(r, t, NULL);
		if (!task->labels || !sure || task->k < 1 || task->examples)
			continue;
		int64_t count = 2 * task->k * KDRI_EXAMPLES;
		kdri_free(ctx, size);
		size = NULL;
		KDRI_TRY(KDRI_NEW0(ctx, &size, task->k));
		KDRI_TRY(KDRI_NEW(ctx, &task->examples, count));
		for (int64_t e = 0; e < count; e++)
			task->examples[e] = -1;
		for (int64_t i = 0; i < task->n; i++) {
			int64_t c = task->labels[i];
			if (c < 0 || c >= task->k)
				continue;
			size[c]++;
			insert(task->examples + 2 * c * KDRI_EXAMPLES, KDRI_EXAMPLES, sure, i, 1);
			insert(task->examples + (2 * c + 1) * KDRI_EXAMPLES, KDRI_EXAMPLES, sure, i, -1);
		}
		for (int64_t c = 0; c < task->k; c++)
			for (int64_t e = KDRI_MIN(size[c] / 2, KDRI_EXAMPLES); e < KDRI_EXAMPLES; e++)
				task->examples[2 * c * KDRI_EXAMPLES + e] =
				        task->examples[(2 * c + 1) * KDRI_EXAMPLES + e] = -1;
	}
done:
	kdri_free(ctx, size);
	return st;
}

/* --- first words of texts ------------------------------------------------------------------------------- */

/* Marks the samples that a report shows in lists: examples, and those of the task that are least sure. */
static void mark_shown(const kdri_task_result *task, const double *sure, bool *shown)
{
	enum { DOUBTFUL = 25 }; /* a page of the report's table */
	int64_t least[DOUBTFUL];
	for (int64_t e = 0; task->examples && e < 2 * task->k * KDRI_EXAMPLES; e++)
		if (task->examples[e] >= 0)
			shown[task->examples[e]] = true;
	for (int e = 0; e < DOUBTFUL; e++)
		least[e] = -1;
	for (int64_t i = 0; sure && i < task->n; i++)
		insert(least, DOUBTFUL, sure, i, -1);
	for (int e = 0; e < DOUBTFUL; e++)
		if (least[e] >= 0)
			shown[least[e]] = true;
}

kdr_status kdri_job_excerpts(kdr_context *ctx, kdr_result *r, int64_t t, const kdr_data *data, int64_t most)
{
	kdr_status st = KDR_OK;
	kdri_task_result *task = &r->tasks[t];
	kdri_map *map = task->map;
	bool *shown = NULL;
	int64_t bytes = 0, count = 0;
	if (!data->excerpts)
		return KDR_OK;
	KDRI_TRY(KDRI_NEW0(ctx, &shown, data->rows));
	for (int64_t i = 0; i < data->rows; i++)
		bytes += (int64_t)strlen(data->excerpts[i]);
	if (bytes <= most)
		memset(shown, true, (size_t)data->rows * sizeof *shown);
	else if (task->labels && task->n == data->rows)
		mark_shown(task, kdr_result_confidence(r, t, NULL), shown);
	for (int64_t i = 0; i < data->rows; i++)
		count += shown[i];
	KDRI_TRY(KDRI_NEW(ctx, &map->told, count));
	KDRI_TRY(KDRI_NEW0(ctx, &map->excerpts, count));
	map->ntold = count;
	for (int64_t i = 0, e = 0; i < data->rows; i++)
		if (shown[i]) {
			map->told[e] = i;
			KDRI_TRY(kdri_strdup(ctx, data->excerpts[i], &map->excerpts[e++]));
		}
done:
	kdri_free(ctx, shown);
	return st;
}
