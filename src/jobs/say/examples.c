/* The samples that represent a cluster: the most and the least certain ones. SPDX-License-Identifier: BSD-3-Clause
 *
 * Among equally certain samples the first is used. In a cluster of fewer than six samples, none is in both lists; a
 * cluster of one sample has no examples. Rows may be on several ranks, whose local best are compared: the examples
 * are the same on all of them. */
#include "comm/comm.h"
#include "jobs/job.h"
#include "jobs/say/say.h"

/* Inserts row i into the `most` best so far, -1 if there are fewer; `sign` -1: the least certain are best. */
static void examples_insert(int64_t *best, int most, const double *sure, int64_t i, double sign)
{
	int at = most;
	while (at > 0 && (best[at - 1] < 0 || sign * sure[i] > sign * sure[best[at - 1]]))
		at--;
	if (at == most)
		return;
	memmove(best + at + 1, best + at, (size_t)(most - 1 - at) * sizeof *best);
	best[at] = i;
}

/* Merges the ranks' lists of local rows into one list of rows among all, by repeatedly selecting the best of their
 * first entries. */
static kdr_status join_lists(kdr_context *ctx, const kdri_task_result *task, const double *sure)
{
	kdr_status st;
	int64_t lists = 2 * task->k, *best = task->examples, *next = NULL, *row = NULL;
	double *most = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &next, lists));
	KDRI_TRY(KDRI_NEW(ctx, &row, lists * KDRI_EXAMPLES));
	KDRI_TRY(KDRI_NEW(ctx, &most, 2 * lists));
	for (int e = 0; e < KDRI_EXAMPLES; e++) {
		int64_t *found = row + e * lists;
		double *own = most + lists;
		for (int64_t l = 0; l < lists; l++) {
			int64_t i = next[l] < KDRI_EXAMPLES ? best[l * KDRI_EXAMPLES + next[l]] : -1;
			own[l] = most[l] = i < 0 ? -INFINITY : l % 2 ? -sure[i] : sure[i];
			found[l] = i < 0 ? INT64_MAX : task->first + i;
		}
		KDRI_TRY(kdri_max(ctx, most, lists));
		for (int64_t l = 0; l < lists; l++)
			found[l] = own[l] == most[l] ? found[l] : INT64_MAX;
		KDRI_TRY(kdri_min_int(ctx, found, lists));
		for (int64_t l = 0; l < lists; l++) {
			int64_t i = next[l] < KDRI_EXAMPLES ? best[l * KDRI_EXAMPLES + next[l]] : -1;
			next[l] += i >= 0 && found[l] == task->first + i;
		}
	}
	for (int64_t l = 0; l < lists; l++)
		for (int e = 0; e < KDRI_EXAMPLES; e++)
			best[l * KDRI_EXAMPLES + e] =
			        row[e * lists + l] == INT64_MAX ? -1 : row[e * lists + l];
done:
	KDRI_FREE(ctx, next, row, most);
	return st;
}

kdr_status kdri_job_examples(kdr_context *ctx, kdr_result *r)
{
	for (int64_t t = 0; t < r->ntasks; t++) {
		kdri_task_result *task = &r->tasks[t];
		const double *sure = kdr_result_confidence(r, t, NULL);
		if (!task->labels || !task->sizes || !sure || task->k < 1 || task->examples)
			continue;
		int64_t count = 2 * task->k * KDRI_EXAMPLES;
		KDRI_DO(KDRI_NEW(ctx, &task->examples, count));
		for (int64_t e = 0; e < count; e++)
			task->examples[e] = -1;
		for (int64_t i = 0; i < task->n; i++) {
			int64_t c = task->labels[i];
			if (c < 0 || c >= task->k)
				continue;
			examples_insert(task->examples + 2 * c * KDRI_EXAMPLES, KDRI_EXAMPLES, sure, i, 1);
			examples_insert(task->examples + (2 * c + 1) * KDRI_EXAMPLES, KDRI_EXAMPLES, sure, i,
			                -1);
		}
		KDRI_DO(join_lists(ctx, task, sure));
		for (int64_t c = 0; c < task->k; c++)
			for (int64_t e = KDRI_MIN(task->sizes[c] / 2, KDRI_EXAMPLES); e < KDRI_EXAMPLES; e++)
				task->examples[2 * c * KDRI_EXAMPLES + e] =
				        task->examples[(2 * c + 1) * KDRI_EXAMPLES + e] = -1;
	}
	return KDR_OK;
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
		examples_insert(least, DOUBTFUL, sure, i, -1);
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
	KDRI_TRY(KDRI_NEW(ctx, &map->described, count));
	KDRI_TRY(KDRI_NEW0(ctx, &map->excerpts, count));
	map->ndescribed = count;
	for (int64_t i = 0, e = 0; i < data->rows; i++)
		if (shown[i]) {
			map->described[e] = i;
			KDRI_TRY(kdri_strdup(ctx, data->excerpts[i], &map->excerpts[e++]));
		}
done:
	kdri_free(ctx, shown);
	return st;
}
