/* Values of the features that distinguish clusters most, for the report. SPDX-License-Identifier: BSD-3-Clause
 *
 * Features are ordered by their largest effect ((E1) of words.c), words by their largest (W1), over all clusters. Data sets with the same columns get the
 * same features. Each value becomes a byte: 0 to 254 from the lowest to the highest value of the column, 255 if it is missing.
 * If one byte is more frequent than all others together, as zero is in counts, the rest is kept as pairs (number of this byte
 * before the next one, at most 255; the next one). Bytes are written in base64. Features are added until `kdri_values_room` is
 * used up. If the values of a table before preprocessing are known, they are kept as well.
 *
 * Time: O(nnz (k / BATCH + features / BATCH) + k d), memory: O(d + BATCH n) and the text. */
#include "jobs/job.h"
#include "jobs/say/say.h"
#include "matrix/linalg.h"

#include <stdlib.h>

enum { LEVELS = 254, MISSING = 255, BATCH = 16, ENTRY_BYTES = 120 };

int64_t kdri_values_room(int64_t samples)
{
	enum { FEW = 20000, FEW_BYTES = 900000, MORE_BYTES = 55 };
	return FEW_BYTES + KDRI_MAX(samples - FEW, 0) * MORE_BYTES;
}

/* Of each column of a data set. */
typedef struct moments {
	double *sum, *square, *low, *high, *entries;
} moments;

static kdr_status moments_find(kdr_context *ctx, const kdr_mat *x, double *room, moments *out)
{
	const int64_t n = kdr_mat_rows(x), d = kdr_mat_cols(x);
	double *const at[] = { room, room + d, room + 2 * d, room + 3 * d, room + 4 * d };
	moments m = { at[0], at[1], at[2], at[3], at[4] };
	for (int64_t j = 0; j < d; j++) {
		m.sum[j] = m.square[j] = m.entries[j] = 0;
		m.low[j] = INFINITY;
		m.high[j] = -INFINITY;
	}
	for (int64_t i = 0; i < n && !ctx->cancelled; i++) {
		kdri_entries row = kdri_row_entries(x, i);
		for (int64_t p = 0; p < row.count; p++) {
			const int64_t j = kdri_entry_column(&row, p);
			const double v = row.val[p];
			if (!isfinite(v))
				continue;
			m.sum[j] += v;
			m.square[j] += v * v;
			m.low[j] = KDRI_MIN(m.low[j], v);
			m.high[j] = KDRI_MAX(m.high[j], v);
			m.entries[j]++;
		}
	}
	for (int64_t j = 0; j < d && x->kind != KDR_MAT_DENSE; j++)
		if (m.entries[j] < (double)n) { /* entries that a sparse row lacks are zero */
			m.low[j] = KDRI_MIN(m.low[j], 0);
			m.high[j] = KDRI_MAX(m.high[j], 0);
		}
	*out = m;
	return KDR_OK;
}

/* The largest effect of each column over the clusters of a data set, into `best` where it is larger. */
static kdr_status values_effects(kdr_context *ctx, const kdri_task_result *t, const kdr_mat *x,
                                 const moments *m, double *best)
{
	kdr_status st;
	const int64_t n = t->n, d = kdr_mat_cols(x);
	const bool words = t->words && x->kind != KDR_MAT_DENSE;
	double *inside = NULL, *has = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &inside, d));
	KDRI_TRY(KDRI_NEW(ctx, &has, d));
	for (int64_t c = 0; c < t->k && !ctx->cancelled; c++) {
		int64_t size = 0;
		memset(inside, 0, (size_t)d * sizeof *inside);
		memset(has, 0, (size_t)d * sizeof *has);
		for (int64_t i = 0; i < n; i++) {
			if (t->labels[i] != c)
				continue;
			kdri_entries row = kdri_row_entries(x, i);
			for (int64_t p = 0; p < row.count; p++) {
				inside[kdri_entry_column(&row, p)] += row.val[p];
				has[kdri_entry_column(&row, p)]++;
			}
			size++;
		}
		if (size == 0 || size == n)
			continue;
		for (int64_t j = 0; j < d; j++) {
			const double mean = m->sum[j] / (double)n, square = m->square[j] / (double)n,
			             variance = square - mean * mean;
			if (!(variance > 1e-12 * square))
				continue;
			const double difference =
			        inside[j] / (double)size - (m->sum[j] - inside[j]) / (double)(n - size);
			best[j] = KDRI_MAX(best[j],
			                   words ? kdri_specific(has[j], (double)size, m->entries[j] - has[j],
			                                         (double)(n - size))
			                         : fabs(difference) / sqrt(variance));
		}
	}
done:
	KDRI_FREE(ctx, inside, has);
	return st;
}

typedef struct ranked {
	double effect;
	int64_t column;
} ranked;

static int by_effect(const void *a, const void *b)
{
	const ranked *x = a, *y = b;
	if (x->effect != y->effect)
		return x->effect < y->effect ? 1 : -1;
	return (x->column > y->column) - (x->column < y->column);
}

/* The columns with the largest effects, at most `most`; those without any are left out. */
static kdr_status values_rank(kdr_context *ctx, const double *best, int64_t d, int64_t most, int64_t **out,
                              int64_t *count)
{
	kdr_status st;
	ranked *all = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &all, d));
	for (int64_t j = 0; j < d; j++)
		all[j] = (ranked){ best[j], j };
	qsort(all, (size_t)d, sizeof *all, by_effect);
	*count = 0;
	while (*count < KDRI_MIN(d, most) && all[*count].effect > 0)
		++*count;
	KDRI_TRY(KDRI_NEW(ctx, out, *count));
	for (int64_t j = 0; j < *count; j++)
		(*out)[j] = all[j].column;
done:
	kdri_free(ctx, all);
	return st;
}

/* --- bytes ------------------------------------------------------------------------------------------------ */

static unsigned char values_code(double v, double low, double high)
{
	if (!isfinite(v))
		return MISSING;
	if (!(high > low))
		return 0;
	return (unsigned char)floor(KDRI_MIN(KDRI_MAX((v - low) / (high - low), 0), 1) * LEVELS + 0.5);
}

static void put_base64(const unsigned char *bytes, int64_t count, char *out)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	for (int64_t i = 0; i < count; i += 3) {
		const int64_t left = count - i;
		const uint32_t three = (uint32_t)bytes[i] << 16 |
		                       (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
		                       (left > 2 ? bytes[i + 2] : 0);
		for (int k = 0; k < 4; k++)
			*out++ = k > left ? '=' : digits[three >> (18 - 6 * k) & 63];
	}
	*out = '\0';
}

/* The bytes of n samples as text; `work` has room for 2 n bytes. */
static kdr_status values_encode(kdr_context *ctx, const unsigned char *codes, int64_t n, unsigned char *work,
                                kdri_coded *out)
{
	int64_t counts[256] = { 0 }, used = 0;
	int common = 0;
	for (int64_t i = 0; i < n; i++)
		counts[codes[i]]++;
	for (int c = 1; c < 256; c++)
		common = counts[c] > counts[common] ? c : common;
	out->fill = 2 * counts[common] > n ? common : -1;
	for (int64_t i = 0, gap = 0; i < n; i++) {
		if (codes[i] == common && gap < 255 && out->fill >= 0) {
			gap++;
			continue;
		}
		if (out->fill >= 0)
			work[used++] = (unsigned char)gap;
		work[used++] = codes[i];
		gap = 0;
	}
	out->length = (used + 2) / 3 * 4;
	KDRI_DO(KDRI_NEW(ctx, &out->text, out->length + 1));
	put_base64(work, used, out->text);
	return KDR_OK;
}

/* --- features --------------------------------------------------------------------------------------------- */

/* Bytes of `count` columns of the samples drawn, one column after the other. */
static void values_take(const kdri_map *map, const kdr_mat *x, const moments *m, const int64_t *columns,
                        int64_t count, int8_t *slot, unsigned char *codes)
{
	for (int64_t c = 0; c < count; c++) {
		slot[columns[c]] = (int8_t)c;
		memset(codes + c * map->n, values_code(0, m->low[columns[c]], m->high[columns[c]]),
		       (size_t)map->n);
	}
	for (int64_t i = 0; i < map->n; i++) {
		kdri_entries row = kdri_row_entries(x, map->rows ? map->rows[i] : i);
		for (int64_t p = 0; p < row.count; p++) {
			const int64_t j = kdri_entry_column(&row, p);
			if (slot[j] >= 0)
				codes[slot[j] * map->n + i] = values_code(row.val[p], m->low[j], m->high[j]);
		}
	}
	for (int64_t c = 0; c < count; c++)
		slot[columns[c]] = -1;
}

/* The values of a column before preprocessing, if they are known. */
static kdr_status values_own(kdr_context *ctx, const kdri_map *map, const kdr_data *data,
                             unsigned char *codes, unsigned char *work, kdri_feature_values *f)
{
	const double *values = data->original.values;
	if (!values)
		return KDR_OK;
	f->own.low = INFINITY;
	f->own.high = -INFINITY;
	bool yes_no = true;
	for (int64_t i = 0; i < map->n; i++) {
		const double v = values[(map->rows ? map->rows[i] : i) * data->cols + f->column];
		if (!isfinite(v))
			continue;
		f->own.low = KDRI_MIN(f->own.low, v);
		f->own.high = KDRI_MAX(f->own.high, v);
		yes_no = yes_no && (v == 0 || v == 1);
	}
	for (int64_t i = 0; i < map->n; i++)
		codes[i] = values_code(values[(map->rows ? map->rows[i] : i) * data->cols + f->column],
		                       f->own.low, f->own.high);
	f->unit = yes_no ? KDRI_UNIT_SHARE : (kdri_unit)data->original.unit[f->column];
	f->origin = data->original.origin[f->column];
	return f->own.low <= f->own.high ? values_encode(ctx, codes, map->n, work, &f->own) : KDR_OK;
}

static void values_drop(kdr_context *ctx, kdri_map *map)
{
	kdri_feature_values *f = &map->values[--map->nvalues];
	KDRI_FREE(ctx, f->fit.text, f->own.text);
	*f = (kdri_feature_values){ 0 };
}

/* Tasks begin .. end - 1, which have the same columns. */
typedef struct together {
	kdr_result *r;
	kdr_data *const *data;
	int64_t begin, end;
} together;

/* Adds features in their order, to all tasks of `g`, until the room is used up. */
static kdr_status values_add(kdr_context *ctx, const together *g, const moments *m, const int64_t *columns,
                             int64_t count, int64_t room)
{
	kdr_status st = KDR_OK;
	const int64_t ntasks = g->end - g->begin, d = kdri_shown(g->data[g->begin])->cols;
	unsigned char **codes = NULL, *work = NULL;
	int8_t *slot = NULL;
	int64_t most = 0;
	KDRI_TRY(KDRI_NEW0(ctx, &codes, ntasks));
	KDRI_TRY(KDRI_NEW(ctx, &slot, d));
	memset(slot, -1, (size_t)d * sizeof *slot);
	for (int64_t t = 0; t < ntasks; t++) {
		kdri_map *map = g->r->tasks[g->begin + t].map;
		KDRI_TRY(KDRI_NEW(ctx, &codes[t], BATCH * map->n));
		KDRI_TRY(KDRI_NEW0(ctx, &map->values, count));
		most = KDRI_MAX(most, map->n);
	}
	KDRI_TRY(KDRI_NEW(ctx, &work, 2 * most));
	for (int64_t f = 0; f < count && room > 0 && !ctx->cancelled; f++) {
		for (int64_t t = 0; t < ntasks; t++) {
			kdri_map *map = g->r->tasks[g->begin + t].map;
			const kdr_data *data = kdri_shown(g->data[g->begin + t]);
			const kdr_mat x = kdr_data_mat(data);
			kdri_feature_values *v = &map->values[map->nvalues++];
			if (f % BATCH == 0)
				values_take(map, &x, &m[t], columns + f, KDRI_MIN(BATCH, count - f), slot,
				            codes[t]);
			*v = (kdri_feature_values){ .column = columns[f],
				                    .fit.low = m[t].low[columns[f]],
				                    .fit.high = m[t].high[columns[f]] };
			KDRI_TRY(values_encode(ctx, codes[t] + f % BATCH * map->n, map->n, work, &v->fit));
			KDRI_TRY(values_own(ctx, map, data, codes[t] + f % BATCH * map->n, work, v));
			room -= v->fit.length + v->own.length + ENTRY_BYTES;
		}
		for (int64_t t = 0; t < ntasks && room < 0; t++)
			values_drop(ctx, g->r->tasks[g->begin + t].map);
	}
done:
	for (int64_t t = 0; t < ntasks && codes; t++)
		kdri_free(ctx, codes[t]);
	KDRI_FREE(ctx, codes, work, slot);
	return st;
}

static kdr_status values_of(kdr_context *ctx, const together *g, int64_t most, int64_t room)
{
	kdr_status st;
	const int64_t ntasks = g->end - g->begin, d = kdri_shown(g->data[g->begin])->cols;
	double *space = NULL, *best = NULL;
	moments *m = NULL;
	int64_t *columns = NULL, count = 0;
	KDRI_TRY(KDRI_NEW(ctx, &space, 5 * d * ntasks));
	KDRI_TRY(KDRI_NEW0(ctx, &best, d));
	KDRI_TRY(KDRI_NEW(ctx, &m, ntasks));
	for (int64_t t = 0; t < ntasks; t++) {
		const kdri_task_result *task = &g->r->tasks[g->begin + t];
		const kdr_mat x = kdr_data_mat(kdri_shown(g->data[g->begin + t]));
		KDRI_TRY(moments_find(ctx, &x, space + 5 * d * t, &m[t]));
		if (task->labels)
			KDRI_TRY(values_effects(ctx, task, &x, &m[t], best));
	}
	KDRI_TRY(values_rank(ctx, best, d, most, &columns, &count));
	if (count > 0)
		KDRI_TRY(values_add(ctx, g, m, columns, count, room));
done:
	KDRI_FREE(ctx, space, best, m, columns);
	return st;
}

kdr_status kdri_job_values(kdr_context *ctx, kdr_result *r, kdr_data *const *data, int64_t most)
{
	int64_t samples = 0;
	bool same = true;
	for (int64_t t = 0; t < r->ntasks; t++) {
		samples += r->tasks[t].map->n;
		const kdri_task_result *task = &r->tasks[t];
		const bool view = task->view.path, unnamed = !kdri_shown_features(task);
		same = same && kdri_shown(data[t])->cols == kdri_shown(data[0])->cols &&
		       (t == 0 || (view ? task->view.borrowed : task->borrowed) ||
		        (unnamed && !kdri_shown_features(&r->tasks[0])));
	}
	const int64_t room = kdri_values_room(samples);
	if (same)
		return values_of(ctx, &(together){ r, data, 0, r->ntasks }, most, room);
	for (int64_t t = 0; t < r->ntasks; t++)
		KDRI_DO(values_of(ctx, &(together){ r, data, t, t + 1 }, most, room / r->ntasks));
	return KDR_OK;
}
