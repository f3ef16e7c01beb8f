/* What distinguishes the two sides of a split. SPDX-License-Identifier: BSD-3-Clause
 *
 * A cluster of one level with several children in the next has split. One child is compared with each of the others:
 *
 *     (E1)  effect_j = (mean_rj - mean_lj) / s_j      of column j for the children l and r; s_j: its standard deviation over the
 *                                                     data set
 *
 * Words are ranked by (W1) of words.c, other columns by |effect|. Effects are those of the data as they were fitted, means those of the values before preprocessing, if these have been kept.
 * Cost: O(nnz + k n) per level. */
#include "jobs/say/say.h"
#include "jobs/together/levels.h"

#include "comm/comm.h"
#include "matrix/linalg.h"

/* The columns of a data set. */
typedef struct columns {
	const kdr_data *data;
	kdr_mat x;
	double *deviation, *left, *right; /* of all samples; sums of the two sides */
	double *present; /* 2 x columns, words: samples of each side that have an entry; NULL: no words */
} columns;

static void columns_free(kdr_context *ctx, columns *c)
{
	KDRI_FREE(ctx, c->deviation, c->left, c->right, c->present);
}

/* Adds the rows with this label; label -1: all rows. `square` and `present` may be NULL. */
static void add_rows(const columns *c, const int64_t *labels, int64_t label, double *sum, double *square,
                     double *present)
{
	for (int64_t i = 0; i < c->data->rows; i++) {
		if (label >= 0 && labels[i] != label)
			continue;
		kdri_entries r = kdri_row_entries(&c->x, i);
		for (int64_t q = 0; q < r.count; q++) {
			const int64_t j = kdri_entry_column(&r, q);
			sum[j] += r.val[q];
			if (square)
				square[j] += r.val[q] * r.val[q];
			if (present)
				present[j] += r.val[q] != 0;
		}
	}
}

static kdr_status columns_new(kdr_context *ctx, const kdr_data *data, int64_t all, bool words, columns *out)
{
	kdr_status st;
	const int64_t d = data->cols;
	columns c = { .data = data, .x = kdr_data_mat(data) };
	KDRI_TRY(KDRI_NEW0(ctx, &c.deviation, d));
	KDRI_TRY(KDRI_NEW0(ctx, &c.left, d));
	KDRI_TRY(KDRI_NEW(ctx, &c.right, d));
	if (words)
		KDRI_TRY(KDRI_NEW(ctx, &c.present, 2 * d));
	add_rows(&c, NULL, -1, c.left, c.deviation, NULL);
	KDRI_TRY(kdri_sum(ctx, c.left, d));
	KDRI_TRY(kdri_sum(ctx, c.deviation, d));
	for (int64_t j = 0; j < d; j++) {
		const double mean = c.left[j] / (double)all, square = c.deviation[j] / (double)all,
		             variance = square - mean * mean;
		c.deviation[j] = variance > 1e-12 * square ? sqrt(variance) : 0;
	}
	*out = c;
	c = (columns){ 0 };
done:
	columns_free(ctx, &c);
	return st;
}

/* The means of one column in the user's units, if those are known. */
static kdr_status put_units(kdr_context *ctx, const columns *c, const kdri_task_result *task,
                            const kdri_split *s, kdri_feature_effect *f)
{
	const kdr_data *d = c->data;
	double sums[6] = { 0 }; /* sum, number of values and sum of squares; left and right */
	bool unknown = !d->original.values && d->rows > 0;
	KDRI_DO(kdri_any(ctx, &unknown));
	if (unknown)
		return KDR_OK;
	for (int64_t i = 0; i < d->rows; i++) {
		const double x = d->original.values[i * d->cols + f->column];
		const int side = task->labels[i] == s->left ? 0 : task->labels[i] == s->right ? 3 : -1;
		if (side < 0 || isnan(x))
			continue;
		sums[side] += x;
		sums[side + 1]++;
		sums[side + 2] += x * x;
	}
	KDRI_DO(kdri_sum(ctx, sums, 6));
	if (!(sums[1] > 0) || !(sums[4] > 0))
		return KDR_OK;
	const double n = sums[1] + sums[4], mean = (sums[0] + sums[3]) / n;
	f->known = true;
	f->mean_outside = sums[0] / sums[1];
	f->mean_inside = sums[3] / sums[4];
	f->deviation = sqrt(KDRI_MAX((sums[2] + sums[5]) / n - mean * mean, 0));
	if (d->rows > 0) {
		f->unit = (kdri_unit)d->original.unit[f->column];
		f->origin = d->original.origin[f->column];
	}
	return KDR_OK;
}

/* (E1) */
static kdr_status explain(kdr_context *ctx, const columns *c, const kdri_task_result *task, kdri_split *s)
{
	enum { NEGLIGIBLE = 5 }; /* 1 / 5 of the standard deviation, as for profiles of clusters */
	const int64_t d = c->data->cols;
	memset(c->left, 0, (size_t)d * sizeof *c->left);
	memset(c->right, 0, (size_t)d * sizeof *c->right);
	const double nleft = (double)task->sizes[s->left], nright = (double)task->sizes[s->right];
	double *in_right = c->present ? c->present + d : NULL;
	if (c->present)
		memset(c->present, 0, (size_t)(2 * d) * sizeof *c->present);
	add_rows(c, task->labels, s->left, c->left, NULL, c->present);
	add_rows(c, task->labels, s->right, c->right, NULL, in_right);
	KDRI_DO(kdri_sum(ctx, c->left, d));
	KDRI_DO(kdri_sum(ctx, c->right, d));
	if (c->present)
		KDRI_DO(kdri_sum(ctx, c->present, 2 * d));
	for (int64_t j = 0; j < d; j++) {
		kdri_feature_effect f = { .column = j,
			                  .mean_outside = c->left[j] / nleft,
			                  .mean_inside = c->right[j] / nright };
		f.effect = c->deviation[j] > 0 ? (f.mean_inside - f.mean_outside) / c->deviation[j] : 0;
		f.rank = c->present ? kdri_specific(in_right[j], nright, c->present[j], nleft)
		                    : fabs(f.effect);
		int at = s->nfeatures;
		while (at > 0 && f.rank > s->features[at - 1].rank)
			at--;
		if (fabs(f.effect) * NEGLIGIBLE < 1 || at == KDRI_SPLIT_FEATURES)
			continue;
		s->nfeatures = KDRI_MIN(s->nfeatures + 1, KDRI_SPLIT_FEATURES);
		memmove(s->features + at + 1, s->features + at,
		        (size_t)(s->nfeatures - at - 1) * sizeof *s->features);
		s->features[at] = f;
	}
	for (int i = 0; i < s->nfeatures; i++)
		KDRI_DO(put_units(ctx, c, task, s, &s->features[i]));
	return KDR_OK;
}

/* The child that the others of cluster `of` are compared with: the one with its number, else the largest. */
static int64_t first_child(const kdri_task_result *task, int64_t of)
{
	int64_t best = -1;
	for (int64_t b = 0; b < task->k; b++)
		if (task->parents[b] == of && (best < 0 || task->sizes[b] > task->sizes[best]))
			best = b;
	return of < task->k && task->parents[of] == of ? of : best;
}

/* How many samples of the split cluster are on each side: children also get samples of other clusters. */
static kdr_status count_samples(kdr_context *ctx, const kdri_task_result *before,
                                const kdri_task_result *task, kdri_split *s)
{
	for (int64_t i = 0; i < task->n; i++)
		if (before->labels[i] == s->of) {
			s->samples[0] += task->labels[i] == s->left;
			s->samples[1] += task->labels[i] == s->right;
			s->samples[2]++;
		}
	return kdri_sum_int(ctx, s->samples, 3);
}

static kdr_status put_splits(kdr_context *ctx, const columns *c, const kdri_task_result *before,
                             kdri_task_result *task)
{
	KDRI_DO(KDRI_NEW0(ctx, &task->splits, task->k));
	for (int64_t b = 0; b < task->k; b++) {
		const int64_t of = task->parents[b], left = of < 0 ? b : first_child(task, of);
		if (left == b)
			continue;
		kdri_split *s = &task->splits[task->nsplits++];
		*s = (kdri_split){ .of = of, .left = left, .right = b };
		KDRI_DO(count_samples(ctx, before, task, s));
		KDRI_DO(explain(ctx, c, task, s));
	}
	return KDR_OK;
}

kdr_status kdri_levels_finish(kdr_context *ctx, const kdri_job *job, kdr_data *const *sets,
                              kdr_result *result)
{
	kdr_status st = KDR_OK;
	columns c = { 0 };
	for (int64_t i = 0; i < result->level_count; i++) {
		kdr_result *level = result->levels[i];
		if (i == result->main_level)
			continue;
		for (int64_t t = 0; t < level->ntasks && job->wanted->score; t++)
			KDRI_TRY(kdri_job_score(ctx, level, t, sets[t], false, 0));
		KDRI_TRY(kdri_job_choices(ctx, level, sets));
	}
	for (int64_t t = 0; t < result->ntasks && result->level_count > 1; t++) {
		KDRI_TRY(columns_new(ctx, kdri_shown(sets[t]), result->tasks[t].all, result->tasks[t].words,
		                     &c));
		for (int64_t i = 1; i < result->level_count; i++)
			KDRI_TRY(put_splits(ctx, &c, &result->levels[i - 1]->tasks[t],
			                    &result->levels[i]->tasks[t]));
		columns_free(ctx, &c);
		c = (columns){ 0 };
	}
done:
	columns_free(ctx, &c);
	return st;
}
