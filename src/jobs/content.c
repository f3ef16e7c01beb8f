/* Samples without content, which have no label. SPDX-License-Identifier: BSD-3-Clause */
#include "jobs/content.h"
#include "api/gather.h"
#include "comm/comm.h"
#include "core/words.h"
#include "matrix/linalg.h"
#include "text/text.h"

const char *kdri_no_label_text(kdri_no_label why)
{
	static const char *const texts[KDRI_NO_LABELS] = {
		[KDRI_HAS_LABEL] = "",
		[KDRI_NO_WORDS] = "no known words",
		[KDRI_NO_ENTRIES] = "no entries",
		[KDRI_ALL_MISSING] = "all values are missing",
		[KDRI_ALL_ZERO] = "all values are 0",
	};
	return (int)why < 0 || why >= KDRI_NO_LABELS ? "" : texts[why];
}

/* --- before the job -------------------------------------------------------------------------------------- */

/* `emoji`: columns that are not words; or NULL. */
static kdri_no_label content_of(const kdr_data *data, const kdr_mat *x, int64_t i, const bool *emoji)
{
	const kdri_entries row = kdri_row_entries(x, i);
	bool zero = true, missing = row.count > 0;
	for (int64_t p = 0; p < row.count; p++) {
		zero = zero && (row.val[p] == 0 || (emoji && emoji[kdri_entry_column(&row, p)]));
		missing = missing && isnan(row.val[p]);
		if (!zero && !missing)
			return KDRI_HAS_LABEL;
	}
	if (missing)
		return KDRI_ALL_MISSING;
	if (x->kind == KDR_MAT_DENSE && !data->vectors) /* in a table, a row of zeros is a value */
		return KDRI_ALL_ZERO;
	return data->texts ? KDRI_NO_WORDS : KDRI_NO_ENTRIES;
}

kdr_status kdri_content_find(kdr_context *ctx, const kdr_data *data, unsigned char **out)
{
	kdr_status st = KDR_OK;
	const kdr_mat x = kdr_data_mat(data);
	unsigned char *why = NULL;
	bool *emoji = NULL;
	kdr_recipe recipe = { .kind = KDR_DATA_UNKNOWN };
	if (data->texts && data->features && x.kind != KDR_MAT_DENSE) {
		KDRI_TRY(KDRI_NEW(ctx, &emoji, data->cols));
		for (int64_t j = 0; j < data->cols; j++)
			emoji[j] = kdri_only_emojis(data->features[j]);
	}
	for (int64_t i = 0; i < data->rows; i++) {
		const kdri_no_label found = content_of(data, &x, i, emoji);
		if (found == KDRI_ALL_ZERO && recipe.kind == KDR_DATA_UNKNOWN)
			KDRI_TRY(kdri_recipe_find(ctx, &(kdr_data *){ (kdr_data *)data }, 1, false, &recipe));
		if (!found || (found == KDRI_ALL_ZERO && recipe.kind != KDR_DATA_EMBEDDINGS))
			continue;
		if (!why)
			KDRI_TRY(KDRI_NEW0(ctx, &why, data->rows));
		why[i] = (unsigned char)found;
	}
	*out = why;
	why = NULL;
done:
	KDRI_FREE(ctx, emoji, why);
	return st;
}

static kdr_status take_set(kdr_context *ctx, bool alone, kdri_content_set *s)
{
	int64_t n = 0;
	KDRI_DO(kdri_content_find(ctx, alone && s->given->alone ? s->given->alone : s->given, &s->why));
	if (!s->why)
		return KDR_OK;
	KDRI_DO(KDRI_NEW(ctx, &s->rows, s->given->rows));
	for (int64_t i = 0; i < s->given->rows; i++)
		if (!s->why[i])
			s->rows[n++] = i;
	if (n == 0)
		return kdri_fail(ctx, KDR_ERR_DATA,
		                 "data set %s: no sample has content; the reason for the first is: %s",
		                 s->given->name, kdri_no_label_text(s->why[0]));
	return kdr_data_rows(ctx, s->given, s->rows, n, &s->own);
}

kdr_status kdri_content_take(kdr_context *ctx, kdr_data **sets, int64_t count, bool alone, kdri_content *out)
{
	if (kdri_ranks(ctx) > 1)
		return KDR_OK;
	KDRI_DO(KDRI_NEW0(ctx, &out->sets, count));
	out->count = count;
	for (int64_t i = 0; i < count; i++) {
		out->sets[i].given = sets[i];
		KDRI_DO(take_set(ctx, alone, &out->sets[i]));
		if (out->sets[i].own)
			sets[i] = out->sets[i].own;
	}
	return KDR_OK;
}

void kdri_content_free(kdr_context *ctx, kdri_content *c)
{
	for (int64_t i = 0; i < c->count; i++) {
		kdr_data_free(c->sets[i].own);
		KDRI_FREE(ctx, c->sets[i].why, c->sets[i].rows, c->sets[i].init);
	}
	KDRI_FREE(ctx, c->sets, c->init);
	*c = (kdri_content){ 0 };
}

void kdri_content_ints(const kdri_content *c, int64_t i, int64_t *values)
{
	const kdri_content_set *s = i < c->count ? &c->sets[i] : NULL;
	for (int64_t r = 0; s && s->own && values && r < s->own->rows; r++)
		values[r] = values[s->rows[r]];
}

kdr_status kdri_content_init(kdr_context *ctx, kdri_content *c, const int64_t *const *init)
{
	if (!init || c->count == 0)
		return KDR_OK;
	KDRI_DO(KDRI_NEW0(ctx, &c->init, c->count));
	for (int64_t i = 0; i < c->count; i++) {
		kdri_content_set *s = &c->sets[i];
		c->init[i] = init[i];
		if (!s->own || !init[i])
			continue;
		KDRI_DO(KDRI_NEW(ctx, &s->init, s->given->rows));
		memcpy(s->init, init[i], (size_t)s->given->rows * sizeof *s->init);
		kdri_content_ints(c, i, s->init);
		c->init[i] = s->init;
	}
	return KDR_OK;
}

void kdri_content_known(const kdri_content *c, kdr_data *const *sets, kdri_job_known *k)
{
	for (int64_t t = 0; k->problem.tasks && t < c->count; t++) {
		kdri_content_ints(c, t, k->labels[t]);
		k->rows[t] = sets[t]->rows;
		k->tasks[t].x = kdr_data_mat(sets[t]);
	}
}

/* --- after the job ---------------------------------------------------------------------------------------- */

/* Makes the `from` x n numbers of 8 bytes of *values, n of them in a row, from x N: those of row r at rows[r], `fill` elsewhere. `each`
 * consecutive numbers belong to a sample. */
static kdr_status spread(kdr_context *ctx, const kdri_content_set *s, void **values, int64_t from,
                         int64_t each, const void *fill)
{
	const size_t size = 8;
	unsigned char *to = NULL, *old = *values;
	const int64_t n = s->own->rows, all = s->given->rows;
	int64_t total;
	if (!old)
		return KDR_OK;
	KDRI_DO(kdri_mul(ctx, all, from * each * (int64_t)size, &total));
	KDRI_DO(KDRI_NEW(ctx, &to, total));
	for (int64_t i = 0; i < total; i += (int64_t)size)
		memcpy(to + i, fill, size);
	for (int64_t f = 0; f < from; f++)
		for (int64_t r = 0; r < n; r++)
			memcpy(to + (size_t)((f * all + s->rows[r]) * each) * size,
			       old + (size_t)((f * n + r) * each) * size, (size_t)each * size);
	kdri_free(ctx, old);
	*values = to;
	return KDR_OK;
}

static kdr_status spread_ints(kdr_context *ctx, const kdri_content_set *s, int64_t **values)
{
	const int64_t none = -1;
	void *v = *values;
	const kdr_status st = spread(ctx, s, &v, 1, 1, &none);
	*values = v;
	return st;
}

static kdr_status spread_reals(kdr_context *ctx, const kdri_content_set *s, int64_t each, double **values)
{
	const double none = NAN;
	void *v = *values;
	const kdr_status st = spread(ctx, s, &v, 1, each, &none);
	*values = v;
	return st;
}

/* Row numbers, -1 for none, as rows of the data given. */
static void number_rows(const kdri_content_set *s, int64_t *rows, int64_t count, int64_t step)
{
	for (int64_t i = 0; rows && i < count; i++)
		if (rows[i * step] >= 0)
			rows[i * step] = s->rows[rows[i * step]];
}

/* A model keeps its own samples, which all have content. */
static bool in_model(const kdr_result *r, const char *name)
{
	for (const kdr_field_desc *f = r->algo->fields; f && f->name; f++)
		if (strcmp(f->name, name) == 0)
			return f->in_model;
	return false;
}

static kdr_status put_arrays(kdr_context *ctx, const kdri_content_set *s, int64_t task, kdr_result *r)
{
	const int64_t none = -1;
	const double missing = NAN;
	for (int64_t a = 0; a < r->array_count; a++) {
		kdr_array *array = &r->arrays[a];
		const int axis = kdri_sample_axis(r, array);
		int64_t before = 1, each = 1;
		void *values = (void *)array->data;
		if (array->task != task || in_model(r, array->name))
			continue;
		if (strcmp(array->name, "ask") == 0)
			number_rows(s, values, array->shape[0], 1);
		else if (strcmp(array->name, "moves") == 0)
			number_rows(s, values, array->shape[0], array->shape[1]);
		if (axis < 0 || array->shape[axis] != s->own->rows)
			continue;
		for (int d = 0; d < array->ndim; d++) {
			before *= d < axis ? array->shape[d] : 1;
			each *= d > axis ? array->shape[d] : 1;
		}
		KDRI_DO(spread(ctx, s, &values, before, each,
		               array->type == KDR_INT64 ? (const void *)&none : (const void *)&missing));
		array->data = values;
		array->shape[axis] = s->given->rows;
	}
	return KDR_OK;
}

static kdr_status put_map(kdr_context *ctx, const kdri_content_set *s, kdri_map *map)
{
	if (!map)
		return KDR_OK;
	if (map->rows)
		number_rows(s, map->rows, map->n, 1);
	else {
		KDRI_DO(KDRI_NEW(ctx, &map->rows, map->n));
		memcpy(map->rows, s->rows, (size_t)map->n * sizeof *map->rows);
	}
	number_rows(s, map->described, map->ndescribed, 1);
	if (map->truth) {
		KDRI_DO(spread_ints(ctx, s, &map->truth));
		map->ntruth = s->given->rows;
	}
	return KDR_OK;
}

static kdr_status put_task(kdr_context *ctx, const kdri_content_set *s, int64_t t, kdr_result *r)
{
	kdri_task_result *task = &r->tasks[t];
	char **ids = NULL;
	KDRI_DO(put_arrays(ctx, s, t, r));
	KDRI_DO(spread_ints(ctx, s, &task->labels));
	KDRI_DO(spread_ints(ctx, s, &task->second));
	KDRI_DO(spread_reals(ctx, s, 1, &task->confidence));
	KDRI_DO(spread_reals(ctx, s, task->k, &task->probabilities));
	KDRI_DO(spread_reals(ctx, s, task->width, &task->shared));
	number_rows(s, task->examples, 2 * task->k * KDRI_EXAMPLES, 1);
	KDRI_DO(put_map(ctx, s, task->map));
	if (task->origin) {
		kdri_free_with(&r->allocator, task->origin);
		task->origin = NULL;
		KDRI_DO(kdri_data_origin(ctx, task->view.table ? s->given->view : s->given, &task->origin,
		                         &task->file_rows));
	}
	if (task->ids) {
		KDRI_DO(kdri_strings_copy(ctx, kdr_data_ids(s->given), s->given->rows, &ids));
		kdri_strings_free(&r->allocator, task->ids, task->n);
		task->ids = ids;
	}
	task->n = task->all = s->given->rows;
	return KDR_OK;
}

/* "2 texts without known words have no label (rows 3 and 8)" for each reason. */
kdr_status kdri_content_warn(kdr_context *ctx, kdr_result *r, int64_t t)
{
	enum { LISTED = 3 };
	static const char *const without[KDRI_NO_LABELS][2] = {
		[KDRI_NO_WORDS] = { "text", "without known words" },
		[KDRI_NO_ENTRIES] = { "sample", "without entries" },
		[KDRI_ALL_MISSING] = { "sample", "without any value" },
		[KDRI_ALL_ZERO] = { "embedding", "of zeros" },
	};
	const kdri_task_result *task = &r->tasks[t];
	for (int why = KDRI_HAS_LABEL + 1; task->no_label && why < KDRI_NO_LABELS; why++) {
		int64_t count = 0;
		char rows[128] = "";
		for (int64_t i = 0; i < task->n; i++)
			if (task->no_label[i] == why && count++ < LISTED)
				kdri_list_add(rows, sizeof rows, "%lld",
				              (long long)(task->origin ? task->origin[i] : i) + 1);
		if (count > 0)
			KDRI_DO(kdri_result_warn(ctx, r, "%s: %lld %s%s %s ha%s no label (row%s %s%s)",
			                         task->name, (long long)count, without[why][0],
			                         count == 1 ? "" : "s", without[why][1],
			                         count == 1 ? "s" : "ve", count == 1 ? "" : "s", rows,
			                         count > LISTED ? ", ..." : ""));
	}
	return KDR_OK;
}

static kdr_status put_set(kdr_context *ctx, const kdri_content_set *s, int64_t t, kdr_result *r)
{
	kdri_task_result *task = &r->tasks[t];
	KDRI_DO(put_task(ctx, s, t, r));
	for (int64_t l = 0; l < r->level_count; l++)
		if (r->levels[l] != r)
			KDRI_DO(put_task(ctx, s, t, r->levels[l]));
	if (!task->labels) /* a source */
		return KDR_OK;
	KDRI_DO(KDRI_NEW(ctx, &task->no_label, task->n));
	memcpy(task->no_label, s->why, (size_t)task->n * sizeof *task->no_label);
	return kdri_content_warn(ctx, r, t);
}

kdr_status kdri_content_put(kdr_context *ctx, const kdri_content *c, int64_t first, kdr_result *r)
{
	for (int64_t i = 0; i < c->count; i++)
		if (c->sets[i].own)
			KDRI_DO(put_set(ctx, &c->sets[i], first + i, r));
	return KDR_OK;
}

void kdri_content_mark(kdri_task_result *task, unsigned char *why)
{
	task->no_label = why;
	for (int64_t i = 0; why && i < task->n; i++) {
		if (!why[i])
			continue;
		task->labels[i] = -1;
		if (task->second)
			task->second[i] = -1;
		if (task->confidence)
			task->confidence[i] = NAN;
	}
}
