/* Classes known beforehand: their order, and labels compared with them. SPDX-License-Identifier: BSD-3-Clause */
#include "comm/comm.h"
#include "engine/metrics/metrics.h"
#include "jobs/job.h"

#include <stdlib.h>

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
		KDRI_TRY(kdri_any(ctx, &met[c]));
	for (int64_t c = classes; c < data->nclasses; c++)
		if (met[c])
			KDRI_TRY(kdri_result_warn(
			        ctx, r,
			        "class '%s' of %s is not in any source, so its samples count as wrong",
			        data->classes[c], r->tasks[task].name));
done:
	kdri_free(ctx, met);
	return st;
}

kdr_status kdri_job_same_classes(kdr_context *ctx, const kdr_data *data)
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
		        "data set %s: the ranks have different lists of classes; give all ranks the same label file, with "
		        "the labels of all rows",
		        data->name);
done:
	return st;
}

/* A class, and the first row of all sources that has it. */
typedef struct met_class {
	int64_t row, class;
} met_class;

static int by_row(const void *a, const void *b)
{
	const met_class *x = a, *y = b;
	return x->row != y->row ? (x->row > y->row) - (x->row < y->row)
	                        : (x->class > y->class) - (x->class < y->class);
}

/* The classes in the order of their first rows; those without rows are last. */
static kdr_status order_of(kdr_context *ctx, kdr_data *const *sources, int64_t count, int64_t classes,
                           met_class *order)
{
	kdr_status st;
	int64_t *rows = NULL, *start = NULL, *first = NULL, all;
	KDRI_TRY(KDRI_NEW(ctx, &rows, count));
	KDRI_TRY(KDRI_NEW(ctx, &start, count));
	KDRI_TRY(KDRI_NEW(ctx, &first, classes));
	for (int64_t t = 0; t < count; t++)
		rows[t] = sources[t]->rows;
	KDRI_TRY(kdri_parts(ctx, rows, count, start, &all));
	for (int64_t c = 0; c < classes; c++)
		first[c] = INT64_MAX;
	for (int64_t t = 0; t < count; t++)
		for (int64_t i = 0; i < rows[t]; i++) {
			const int64_t c = sources[t]->labels[i];
			if (c >= 0)
				first[c] = KDRI_MIN(first[c], start[t] + i);
		}
	KDRI_TRY(kdri_min_int(ctx, first, classes));
	for (int64_t c = 0; c < classes; c++)
		order[c] = (met_class){ first[c], c };
	qsort(order, (size_t)classes, sizeof *order, by_row);
done:
	KDRI_FREE(ctx, rows, start, first);
	return st;
}

kdr_status kdri_job_order_classes(kdr_context *ctx, kdr_data *const *sets, int64_t count, int64_t sources,
                                  int64_t classes)
{
	kdr_status st;
	met_class *order = NULL;
	int64_t *number = NULL;
	char **names = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &order, classes));
	KDRI_TRY(KDRI_NEW(ctx, &number, classes));
	KDRI_TRY(KDRI_NEW(ctx, &names, classes));
	KDRI_TRY(order_of(ctx, sets, sources, classes, order));
	for (int64_t c = 0; c < classes; c++)
		number[order[c].class] = c;
	for (int64_t t = 0; t < count; t++) {
		for (int64_t c = 0; c < classes; c++)
			names[c] = sets[t]->classes[order[c].class];
		memcpy(sets[t]->classes, names, (size_t)classes * sizeof *names);
		for (int64_t i = 0; i < sets[t]->rows; i++) {
			int64_t *label = &sets[t]->labels[i];
			*label = *label >= 0 && *label < classes ? number[*label] : *label;
		}
	}
done:
	KDRI_FREE(ctx, order, number, names);
	return st;
}

/* counts, clusters x classes: samples of all ranks by both; the last class is that of samples without one. */
static kdr_status count_pairs(kdr_context *ctx, const int64_t *found, const int64_t *truth, int64_t n,
                              int64_t clusters, int64_t classes, int64_t **counts)
{
	int64_t size;
	KDRI_DO(kdri_mul(ctx, clusters, classes, &size));
	KDRI_DO(KDRI_NEW0(ctx, counts, size));
	for (int64_t i = 0; i < n; i++)
		(*counts)[found[i] * classes + (truth[i] < 0 ? classes - 1 : truth[i])]++;
	return kdri_sum_int(ctx, *counts, size);
}

/* Samples without a predicted class are excluded from the scores. */
kdr_status kdri_job_score(kdr_context *ctx, kdr_result *r, int64_t task, const kdr_data *data, bool named,
                          int64_t classes)
{
	kdr_status st;
	kdri_task_result *t = &r->tasks[task];
	kdr_scores scores = { 0 };
	int64_t right = 0, n = 0, *found = NULL, *truth = NULL, *counts = NULL;
	bool known = t->labels && data->labels;
	KDRI_TRY(kdri_any(ctx, &known));
	if (!known)
		return KDR_OK;
	KDRI_TRY(kdri_job_same_classes(ctx, data));
	KDRI_TRY(KDRI_NEW(ctx, &found, t->n));
	KDRI_TRY(KDRI_NEW(ctx, &truth, t->n));
	for (int64_t i = 0; i < t->n && t->labels && data->labels; i++)
		if (t->labels[i] >= 0) {
			found[n] = t->labels[i];
			truth[n++] = data->labels[i];
		}
	if (kdri_together(ctx)) {
		const int64_t cols = data->nclasses + 1;
		KDRI_TRY(count_pairs(ctx, found, truth, n, t->k, cols, &counts));
		KDRI_TRY(kdri_evaluate_counts(ctx, counts, t->k, cols, &scores));
	} else {
		KDRI_TRY(kdr_evaluate(ctx, found, truth, n, &scores));
	}
	if (named) {
		for (int64_t i = 0; i < n; i++)
			right += found[i] == truth[i];
		KDRI_TRY(kdri_sum_int(ctx, &right, 1));
		scores.acc = (double)right / (double)KDRI_MAX(scores.n, 1);
		KDRI_TRY(warn_strangers(ctx, r, task, data, classes));
	}
	t->scores = scores;
done:
	KDRI_FREE(ctx, found, truth, counts);
	return st;
}
