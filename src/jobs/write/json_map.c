/* result.json: what the report draws of a task's samples. SPDX-License-Identifier: BSD-3-Clause */
#include "api/result.h"
#include "core/json_write.h"
#include "jobs/job.h"
#include "jobs/say/say.h"
#include "jobs/write/json.h"

static void put_places(kdri_json *j, const char *name, const int32_t *values, int64_t n)
{
	kdri_json_array(j, name);
	for (int64_t i = 0; i < n; i++)
		kdri_json_int(j, NULL, values[i]);
	kdri_json_end_array(j);
}

/* {"names": [...], "index": [[...], ...]}: the strongest features of each sample. */
static kdr_status put_strongest(kdr_context *ctx, kdri_json *j, const kdri_task_result *t)
{
	kdr_status st;
	const int32_t *best = t->map->strongest;
	int32_t *place = NULL, used = 0;
	const int64_t d = t->view.path ? t->view.d : t->d;
	KDRI_TRY(KDRI_NEW(ctx, &place, d));
	memset(place, -1, (size_t)d * sizeof *place);
	kdri_json_object(j, "strongest");
	kdri_json_array(j, "names");
	for (int64_t p = 0; p < t->map->n * KDRI_STRONGEST; p++)
		if (best[p] >= 0 && place[best[p]] < 0) {
			char column[KDRI_COLUMN_NAME];
			place[best[p]] = used++;
			kdri_json_string(j, NULL, kdri_column_name(t, best[p], column));
		}
	kdri_json_end_array(j);
	kdri_json_array(j, "index");
	for (int64_t i = 0; i < t->map->n; i++) {
		kdri_json_array(j, NULL);
		for (int c = 0; c < KDRI_STRONGEST; c++)
			if (best[i * KDRI_STRONGEST + c] >= 0)
				kdri_json_int(j, NULL, place[best[i * KDRI_STRONGEST + c]]);
		kdri_json_end_array(j);
	}
	kdri_json_end_array(j);
	kdri_json_end_object(j);
done:
	kdri_free(ctx, place);
	return st;
}

/* An array of integers, one per sample, if the method provides it. */
static void put_whole(kdri_json *j, const kdr_result *r, const char *name, int64_t task)
{
	kdr_array a = kdr_result_array(r, name, task);
	if (a.data && a.type == KDR_INT64 && a.ndim == 1)
		kdri_json_ints(j, name, a.data, a.shape[0]);
}

/* The first words of texts, of the rows that are listed. */
static void put_excerpts(kdri_json *j, const kdri_map *map)
{
	kdri_json_object(j, "excerpts");
	kdri_json_ints(j, "rows", map->described, map->ndescribed);
	kdri_json_strings(j, "texts", map->excerpts, map->ndescribed);
	kdri_json_end_object(j);
}

static void put_coded(kdri_json *j, const kdri_coded *values, double origin)
{
	kdri_json_real(j, "low", origin + values->low);
	kdri_json_real(j, "high", origin + values->high);
	if (values->fill >= 0)
		kdri_json_int(j, "fill", values->fill);
	kdri_json_string(j, "codes", values->text);
}

/* The values of features, one list entry per feature; `own` are those before preprocessing. */
static void put_values(kdri_json *j, const kdri_task_result *t)
{
	static const char *const units[] = { "number", "share", "date" };
	kdri_json_array(j, "values");
	for (int64_t f = 0; f < t->map->nvalues; f++) {
		const kdri_feature_values *v = &t->map->values[f];
		char column[KDRI_COLUMN_NAME];
		kdri_json_object(j, NULL);
		kdri_json_string(j, "name", kdri_column_name(t, v->column, column));
		put_coded(j, &v->fit, 0);
		if (v->own.text) {
			kdri_json_object(j, "own");
			kdri_json_string(j, "unit", units[v->unit]);
			put_coded(j, &v->own, v->unit == KDRI_UNIT_DATE ? v->origin : 0);
			kdri_json_end_object(j);
		}
		kdri_json_end_object(j);
	}
	kdri_json_end_array(j);
}

kdr_status kdri_json_map(kdr_context *ctx, kdri_json *j, const kdr_result *r, int64_t task)
{
	const kdri_task_result *t = &r->tasks[task];
	const kdri_map *map = t->map;
	if (!map)
		return KDR_OK;
	kdri_json_object(j, "embedding");
	put_places(j, "x", map->x, map->n);
	put_places(j, "y", map->y, map->n);
	if (map->rows)
		kdri_json_ints(j, "rows", map->rows, map->n);
	kdri_json_end_object(j);
	if (map->truth) {
		kdri_json_array(j, "truth");
		for (int64_t i = 0; i < map->ntruth; i++)
			if (map->truth[i] >= 0)
				kdri_json_string(j, NULL, map->classes[map->truth[i]]);
			else
				kdri_json_null(j, NULL);
		kdri_json_end_array(j);
	}
	put_whole(j, r, "moved", task);
	put_whole(j, r, "before", task);
	if (map->excerpts)
		put_excerpts(j, map);
	if (map->nvalues > 0)
		put_values(j, t);
	return map->strongest ? put_strongest(ctx, j, t) : KDR_OK;
}
