/* The samples in the report's map: coordinates, known classes, and the strongest features of each.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Coordinates of all tasks are converted to integers from 0 to SIDE with one scale. If there are more than MOST
 * samples, an evenly spaced subset of all tasks is drawn. */
#include "engine/embed/embed.h"
#include "jobs/job.h"
#include "jobs/say/say.h"

enum { MOST = 200000, SIDE = 65535, STRONGEST_MOST = 30000, EXCERPTS_MOST = 300000 };

/* Every so-many-th row of each task. */
static kdr_status choose_rows(kdr_context *ctx, kdri_map *map, int64_t n, int64_t stride)
{
	map->n = (n + stride - 1) / stride;
	KDRI_DO(KDRI_NEW(ctx, &map->x, map->n));
	KDRI_DO(KDRI_NEW(ctx, &map->y, map->n));
	if (stride > 1)
		KDRI_DO(KDRI_NEW(ctx, &map->rows, map->n));
	for (int64_t i = 0; i < map->n && stride > 1; i++)
		map->rows[i] = i * stride;
	return KDR_OK;
}

static void quantise(const double *const *xy, const kdr_result *r)
{
	double low[2] = { INFINITY, INFINITY }, high[2] = { -INFINITY, -INFINITY };
	for (int64_t t = 0; t < r->ntasks; t++)
		for (int64_t i = 0; i < 2 * r->tasks[t].map->n; i++) {
			low[i % 2] = KDRI_MIN(low[i % 2], xy[t][i]);
			high[i % 2] = KDRI_MAX(high[i % 2], xy[t][i]);
		}
	double side = KDRI_MAX(high[0] - low[0], high[1] - low[1]), middle[2];
	for (int c = 0; c < 2; c++)
		middle[c] = (low[c] + high[c]) / 2;
	for (int64_t t = 0; t < r->ntasks; t++)
		for (int64_t i = 0; i < r->tasks[t].map->n; i++)
			for (int c = 0; c < 2; c++) {
				double v = side > 0 ? (xy[t][2 * i + c] - middle[c]) / side + 0.5 : 0.5;
				int32_t *to = c ? r->tasks[t].map->y : r->tasks[t].map->x;
				to[i] = (int32_t)floor(KDRI_MIN(KDRI_MAX(v, 0), 1) * SIDE + 0.5);
			}
}

static kdr_status lay_out(kdr_context *ctx, kdr_result *r, const kdr_mat *x, bool centre)
{
	kdr_status st;
	kdri_own *taken = NULL;
	kdr_mat *drawn = NULL;
	double **xy = NULL;
	kdr_embed_options options = { .size = sizeof(kdr_embed_options), .centre = centre };
	KDRI_TRY(KDRI_NEW0(ctx, &taken, r->ntasks));
	KDRI_TRY(KDRI_NEW(ctx, &drawn, r->ntasks));
	KDRI_TRY(KDRI_NEW0(ctx, &xy, r->ntasks));
	for (int64_t t = 0; t < r->ntasks; t++) {
		const kdri_map *map = r->tasks[t].map;
		drawn[t] = x[t];
		if (map->rows) {
			KDRI_TRY(kdri_mat_take(ctx, &x[t], map->rows, map->n, &taken[t]));
			drawn[t] = taken[t].view;
		}
		KDRI_TRY(KDRI_NEW(ctx, &xy[t], 2 * map->n));
	}
	KDRI_TRY(kdri_embed(ctx, drawn, r->ntasks, &options, xy));
	quantise((const double *const *)xy, r);
done:
	for (int64_t t = 0; t < r->ntasks; t++) {
		if (taken)
			kdri_own_free(ctx, &taken[t]);
		if (xy)
			kdri_free(ctx, xy[t]);
	}
	KDRI_FREE(ctx, taken, drawn, xy);
	return st;
}

/* The features of a sample that are farthest from their mean. */
static kdr_status find_strongest(kdr_context *ctx, kdri_map *map, const kdr_mat *x)
{
	kdr_status st;
	int64_t n = kdr_mat_rows(x), d = kdr_mat_cols(x);
	double *mean = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &mean, d));
	KDRI_TRY(KDRI_NEW(ctx, &map->strongest, map->n * KDRI_STRONGEST));
	KDRI_TRY(kdri_mat_col_sums(ctx, x, mean));
	for (int64_t j = 0; j < d; j++)
		mean[j] /= (double)n;
	for (int64_t i = 0; i < map->n; i++) {
		kdri_entries row = kdri_row_entries(x, map->rows ? map->rows[i] : i);
		int32_t *best = map->strongest + i * KDRI_STRONGEST;
		double value[KDRI_STRONGEST] = { 0 };
		for (int c = 0; c < KDRI_STRONGEST; c++)
			best[c] = -1;
		/* of sparse rows only what they hold: what they lack is all the rest */
		for (int64_t p = 0; p < row.count; p++) {
			int64_t j = kdri_entry_column(&row, p);
			double far = row.val[p] == 0 && row.col ? 0 : fabs(row.val[p] - mean[j]);
			int at = KDRI_STRONGEST;
			while (at > 0 && far > value[at - 1])
				at--;
			if (at == KDRI_STRONGEST)
				continue;
			for (int c = KDRI_STRONGEST - 1; c > at; c--) {
				value[c] = value[c - 1];
				best[c] = best[c - 1];
			}
			value[at] = far;
			best[at] = (int32_t)j;
		}
	}
done:
	kdri_free(ctx, mean);
	return st;
}

static kdr_status take_truth(kdr_context *ctx, kdri_map *map, const kdr_data *data)
{
	KDRI_DO(KDRI_NEW(ctx, &map->truth, data->rows));
	memcpy(map->truth, data->labels, (size_t)data->rows * sizeof *map->truth);
	map->ntruth = data->rows;
	KDRI_DO(kdri_strings_copy(ctx, data->classes, data->nclasses, &map->classes));
	map->nclasses = data->nclasses;
	return KDR_OK;
}

kdr_status kdri_job_map(kdr_context *ctx, kdri_job *job, kdr_result *r, kdr_data *const *data)
{
	kdr_status st = KDR_OK;
	kdr_mat *x = NULL;
	int64_t total = 0;
	double start = kdri_now();
	/* After the time limit the map is skipped. */
	if (!job->wanted->map || ctx->cancelled || ctx->timed_out)
		return KDR_OK;
	for (int64_t t = 0; t < r->ntasks; t++) {
		if (r->tasks[t].labels && r->tasks[t].n != data[t]->rows)
			return KDR_OK;
		total += data[t]->rows;
	}
	KDRI_TRY(KDRI_NEW(ctx, &x, r->ntasks));
	for (int64_t t = 0; t < r->ntasks; t++) {
		kdri_task_result *task = &r->tasks[t];
		x[t] = kdr_data_mat(data[t]);
		KDRI_TRY(KDRI_NEW0(ctx, &task->map, 1));
		KDRI_TRY(choose_rows(ctx, task->map, data[t]->rows, (total + MOST - 1) / MOST));
		/* The kept samples of a model have clusters, but no classes. */
		if (data[t]->labels && data[t]->classes && (job->wanted->score || !task->labels))
			KDRI_TRY(take_truth(ctx, task->map, data[t]));
		const kdr_data *view = kdri_shown(data[t]);
		const kdr_mat shown = kdr_data_mat(view);
		if (view->features && total <= STRONGEST_MOST)
			KDRI_TRY(find_strongest(ctx, task->map, &shown));
		KDRI_TRY(kdri_job_excerpts(ctx, r, t, view, EXCERPTS_MOST / r->ntasks));
	}
	if (job->wanted->report_features >= 0)
		KDRI_TRY(kdri_job_values(ctx, r, data,
		                         job->wanted->report_features ? job->wanted->report_features
		                                                      : KDRI_REPORT_FEATURES));
	KDRI_TRY(lay_out(ctx, r, x, job->recipe.centre));
	job->seconds.layout += kdri_now() - start;
done:
	kdri_free(ctx, x);
	return st;
}
