/* What a person who labels samples sees, and clusters least like the source. SPDX-License-Identifier: BSD-3-Clause */
#include "core/json_write.h"
#include "io/table/csv.h"
#include "jobs/job.h"
#include "jobs/say/say.h"
#include "matrix/linalg.h"

#include <stdio.h>
#include <stdlib.h>

const void *kdri_sample_array(const kdr_result *r, const char *name, int64_t task, kdr_dtype type)
{
	const kdr_array a = kdr_result_array(r, name, task);
	return a.data && a.type == type && a.ndim == 1 && a.shape[0] == r->tasks[task].n ? a.data : NULL;
}

/* --- what a person sees ---------------------------------------------------------------------------------- */

/* `columns` titles and as many cells for each of `rows` samples, all NULL. */
static kdr_status make_room(kdr_context *ctx, kdri_task_result *t, int64_t columns, int64_t rows)
{
	KDRI_DO(KDRI_NEW0(ctx, &t->shown_titles, columns));
	t->nshown = columns;
	KDRI_DO(KDRI_NEW0(ctx, &t->shown, columns * rows));
	t->shown_rows = rows;
	return KDR_OK;
}

/* The rows of the file as they are. */
static kdr_status show_columns(kdr_context *ctx, kdri_task_result *t, const int64_t *rows, int64_t count)
{
	kdr_status st;
	int64_t *place = NULL;
	KDRI_TRY(make_room(ctx, t, t->dialect.fields, count));
	KDRI_TRY(KDRI_NEW(ctx, &place, t->file_rows));
	for (int64_t i = 0; i < t->file_rows; i++)
		place[i] = -1;
	for (int64_t i = 0; i < count; i++)
		place[t->origin[rows[i]]] = i;
	st = kdri_csv_pick(ctx, kdri_result_table(t), &t->dialect, place, t->file_rows, t->shown_titles,
	                   t->shown);
	if (st != KDR_ERR_MEMORY) /* a pipe, or a file that is gone: the person has ids */
		st = KDR_OK;
done:
	kdri_free(ctx, place);
	return st;
}

static kdr_status show_texts(kdr_context *ctx, kdri_task_result *t, const kdr_data *data, const int64_t *rows,
                             int64_t count)
{
	KDRI_DO(make_room(ctx, t, 1, count));
	KDRI_DO(kdri_strdup(ctx, "text", &t->shown_titles[0]));
	for (int64_t i = 0; i < count; i++)
		KDRI_DO(kdri_strdup(ctx, data->excerpts[rows[i]], &t->shown[i]));
	return KDR_OK;
}

enum { SHOWN_FEATURES = 10 };

/* The features with the largest values of a row, as "name value, name value". */
static kdr_status show_row(kdr_context *ctx, const kdri_task_result *t, const kdr_mat *x, int64_t i,
                           char **out)
{
	kdri_entries row = kdri_row_entries(x, i);
	int64_t best[SHOWN_FEATURES], count = 0;
	char text[SHOWN_FEATURES * 96] = "", room[KDRI_COLUMN_NAME];
	size_t used = 0;
	for (int64_t p = 0; p < row.count; p++) {
		int64_t at = count;
		if (row.val[p] == 0)
			continue;
		while (at > 0 && fabs(row.val[p]) > fabs(row.val[best[at - 1]]))
			at--;
		if (at == SHOWN_FEATURES)
			continue;
		count = KDRI_MIN(count + 1, SHOWN_FEATURES);
		for (int64_t b = count - 1; b > at; b--)
			best[b] = best[b - 1];
		best[at] = p;
	}
	for (int64_t b = 0; b < count; b++) {
		const char *name = kdri_column_name(t, kdri_entry_column(&row, best[b]), room);
		used += (size_t)kdri_snprintf(text + used, sizeof text - used, "%s%.60s %.3g", b ? ", " : "",
		                              name, row.val[best[b]]);
	}
	return kdri_strdup(ctx, text, out);
}

static kdr_status show_features(kdr_context *ctx, kdri_task_result *t, const kdr_data *data,
                                const int64_t *rows, int64_t count)
{
	const kdr_mat x = kdr_data_mat(data);
	KDRI_DO(make_room(ctx, t, 1, count));
	KDRI_DO(kdri_strdup(ctx, "strongest_features", &t->shown_titles[0]));
	for (int64_t i = 0; i < count; i++)
		KDRI_DO(show_row(ctx, t, &x, rows[i], &t->shown[i]));
	return KDR_OK;
}

kdr_status kdri_job_shown(kdr_context *ctx, kdr_result *r, kdr_data *const *data)
{
	for (int64_t i = 0; i < r->ntasks; i++) {
		const kdr_array a = kdr_result_array(r, "ask", i);
		kdri_task_result *t = &r->tasks[i];
		if (!a.data || a.type != KDR_INT64 || a.ndim != 1 || t->shown)
			continue;
		const kdr_data *view = kdri_shown(data[i]);
		if (view->excerpts)
			KDRI_DO(show_texts(ctx, t, view, a.data, a.shape[0]));
		else if (t->dialect.delimiter && t->origin && t->path)
			KDRI_DO(show_columns(ctx, t, a.data, a.shape[0]));
		else
			KDRI_DO(show_features(ctx, t, view, a.data, a.shape[0]));
	}
	return KDR_OK;
}

/* --- clusters least like the source ------------------------------------------------------------------------ */

enum { MOST_CLUSTERS = 10 };

typedef struct target_cluster {
	int64_t number, size;
	double mean;
	int64_t class, of_class; /* the most common class, and how many samples have it */
} target_cluster;

static int by_mean(const void *a, const void *b)
{
	const target_cluster *x = a, *y = b;
	if (x->mean != y->mean)
		return x->mean > y->mean ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* Of `count` clusters. counts: room for t->k numbers. */
static void find_clusters(const kdri_task_result *t, const int64_t *cluster, const double *unlike,
                          target_cluster *list, int64_t count, int64_t *counts)
{
	for (int64_t c = 0; c < count; c++) {
		list[c] = (target_cluster){ .number = c, .class = -1 };
		memset(counts, 0, (size_t)t->k * sizeof *counts);
		for (int64_t i = 0; i < t->n; i++) {
			if (cluster[i] != c)
				continue;
			list[c].size++;
			list[c].mean += unlike[i];
			if (t->labels[i] >= 0 && t->labels[i] < t->k)
				counts[t->labels[i]]++;
		}
		list[c].mean = list[c].size > 0 ? list[c].mean / (double)list[c].size : -1;
		for (int64_t k = 0; k < t->k; k++)
			if (counts[k] > list[c].of_class) {
				list[c].of_class = counts[k];
				list[c].class = k;
			}
	}
	qsort(list, (size_t)count, sizeof *list, by_mean);
}

static kdr_status put_least_like(kdr_context *ctx, kdri_json *j, const kdr_result *r, int64_t task)
{
	kdr_status st = KDR_OK;
	const kdri_task_result *t = &r->tasks[task];
	const double *unlike = kdri_sample_array(r, "unlike_source", task, KDR_FLOAT64);
	const int64_t *cluster = kdri_sample_array(r, "target_clusters", task, KDR_INT64);
	target_cluster *list = NULL;
	int64_t *counts = NULL, count = 0;
	if (!unlike || !cluster || !t->labels)
		return KDR_OK;
	for (int64_t i = 0; i < t->n; i++)
		count = KDRI_MAX(count, cluster[i] + 1);
	KDRI_TRY(KDRI_NEW(ctx, &list, count));
	KDRI_TRY(KDRI_NEW(ctx, &counts, t->k));
	find_clusters(t, cluster, unlike, list, count, counts);
	kdri_json_array(j, "least_like_source");
	for (int64_t c = 0; c < KDRI_MIN(count, MOST_CLUSTERS) && list[c].size > 0; c++) {
		kdri_json_object(j, NULL);
		kdri_json_int(j, "target_cluster", list[c].number);
		kdri_json_int(j, "size", list[c].size);
		kdri_json_real(j, "mean_unlike_source", list[c].mean);
		if (list[c].class >= 0 && r->classes && list[c].class < r->nclasses)
			kdri_json_string(j, "class", r->classes[list[c].class]);
		kdri_json_real(j, "class_share", (double)list[c].of_class / (double)list[c].size);
		kdri_json_end_object(j);
	}
	kdri_json_end_array(j);
done:
	KDRI_FREE(ctx, list, counts);
	return st;
}

kdr_status kdri_json_labelling(kdr_context *ctx, kdri_json *j, const kdr_result *r, int64_t task)
{
	const kdr_array ask = kdr_result_array(r, "ask", task);
	if (ask.data && ask.type == KDR_INT64 && ask.ndim == 1)
		kdri_json_ints(j, "ask", ask.data, ask.shape[0]);
	return put_least_like(ctx, j, r, task);
}
