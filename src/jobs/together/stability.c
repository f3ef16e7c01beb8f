/* Measures whether a method finds the same clusters again in a part of the data. SPDX-License-Identifier:
 * BSD-3-Clause
 *
 * With labels y of a task's n samples, and B subsets S_b of 4/5 of them, drawn without replacement:
 *
 *     (E1)  stability = the mean over b of ARI(y on S_b, y_b)
 *
 * where y_b are the labels that the method finds in the S_b of all tasks, with another seed and the same number of
 * clusters. 1: always the same; 0: no more similar than by chance. The value is low if there are too many clusters,
 * or if the result depends on the start; it does not detect a wrong result that is always the same. Data are prepared
 * once, on all samples. Time: B fits. */
#include "jobs/together/stability.h"
#include "comm/comm.h"
#include "engine/metrics/metrics.h"
#include "jobs/job.h"

enum { RESAMPLES = 5 };

typedef struct part {
	kdr_data *data;
	int64_t *rows, n;
} part;

static void parts_free(kdr_context *ctx, part *parts, int64_t count)
{
	for (int64_t t = 0; parts && t < count; t++) {
		kdr_data_free(parts[t].data);
		kdri_free(ctx, parts[t].rows);
	}
	kdri_free(ctx, parts);
}

/* 4/5 of the rows, in their order: row i is taken with the probability that is left. One stream for the rows of all ranks. */
static kdr_status stability_draw(kdr_context *ctx, const kdr_data *data, uint64_t index, part *out)
{
	int64_t start, all, need, taken = 0;
	kdri_rng rng = kdri_rng_stream(ctx->seed, "stability", index);
	KDRI_DO(kdri_part(ctx, data->rows, &start, &all));
	need = (4 * all + 4) / 5;
	KDRI_DO(KDRI_NEW(ctx, &out->rows, KDRI_MIN(need, data->rows)));
	for (int64_t i = 0; i < all; i++)
		if (kdri_rng_below(&rng, all - i) < need - taken) {
			taken++;
			if (i >= start && i < start + data->rows)
				out->rows[out->n++] = i - start;
		}
	return kdri_data_part(ctx, data, out->rows, out->n, &out->data);
}

/* The ARI of one part with the labels of all samples, with at most k clusters each. */
static kdr_status agree(kdr_context *ctx, const part *p, const int64_t *labels, const int64_t *found,
                        int64_t k, double *sum)
{
	kdr_status st;
	int64_t *before = NULL, *counts = NULL, size;
	kdr_scores scores;
	if (kdri_together(ctx)) {
		KDRI_TRY(kdri_mul(ctx, k, k, &size));
		KDRI_TRY(KDRI_NEW0(ctx, &counts, size));
		for (int64_t i = 0; i < p->n; i++)
			counts[found[i] * k + labels[p->rows[i]]]++;
		KDRI_TRY(kdri_sum_int(ctx, counts, size));
		KDRI_TRY(kdri_evaluate_counts(ctx, counts, k, k, &scores));
	} else {
		KDRI_TRY(KDRI_NEW(ctx, &before, p->n));
		for (int64_t i = 0; i < p->n; i++)
			before[i] = labels[p->rows[i]];
		KDRI_TRY(kdr_evaluate(ctx, found, before, p->n, &scores));
	}
	*sum += scores.ari;
done:
	KDRI_FREE(ctx, before, counts);
	return st;
}

/* One resample of all tasks: adds their indices. */
static kdr_status once(kdr_context *ctx, kdri_job *job, const kdri_stability *s, int64_t b, double *sum)
{
	kdr_status st;
	part *parts = NULL;
	kdr_task *tasks = NULL;
	kdr_data **data = NULL;
	kdr_result *result = NULL;
	uint64_t seed = ctx->seed;
	kdri_rng rng = kdri_rng_stream(seed, "stability-seed", (uint64_t)b);
	KDRI_TRY(KDRI_NEW0(ctx, &parts, s->count));
	KDRI_TRY(KDRI_NEW0(ctx, &tasks, s->count));
	KDRI_TRY(KDRI_NEW(ctx, &data, s->count));
	for (int64_t t = 0; t < s->count; t++) {
		KDRI_TRY(stability_draw(ctx, s->sets[t], (uint64_t)(b * s->count + t), &parts[t]));
		data[t] = parts[t].data;
		tasks[t] = (kdr_task){ .name = data[t]->name, .x = kdr_data_mat(data[t]), .k = s->k[t] };
	}
	ctx->seed = kdri_rng_u64(&rng);
	const kdr_problem about = { .size = sizeof(kdr_problem), .ntasks = s->count, .pooled = s->pooled };
	st = kdri_job_fit(ctx, job, tasks, data, &about, NULL, &result);
	ctx->seed = seed;
	if (st != KDR_OK || ctx->cancelled || ctx->timed_out)
		goto done;
	for (int64_t t = 0; t < s->count; t++)
		KDRI_TRY(agree(ctx, &parts[t], s->labels[t], result->tasks[t].labels, s->k[t], &sum[t]));
done:
	kdr_result_free(result);
	KDRI_FREE(ctx, tasks, data);
	parts_free(ctx, parts, s->count);
	return st;
}

kdr_status kdri_job_stability(kdr_context *ctx, kdri_job *job, const kdri_stability *s, int64_t *resamples,
                              double *out)
{
	kdr_status st = KDR_OK;
	int64_t done = 0, wanted = *resamples > 0 ? *resamples : *resamples < 0 ? 0 : RESAMPLES;
	double *sum = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &sum, s->count));
	for (int64_t t = 0; t < s->count; t++) {
		int64_t all;
		KDRI_TRY(kdri_part(ctx, s->sets[t]->rows, NULL, &all));
		if ((4 * all + 4) / 5 <= s->k[t]) /* too few samples for this number of clusters */
			wanted = 0;
	}
	while (done < wanted && !ctx->cancelled && !ctx->timed_out) {
		KDRI_TRY(once(ctx, job, s, done, sum));
		done += !ctx->cancelled && !ctx->timed_out;
	}
	for (int64_t t = 0; t < s->count; t++)
		out[t] = done > 0 ? sum[t] / (double)done : NAN; /* (E1) */
	*resamples = done;
done:
	kdri_free(ctx, sum);
	return st;
}

/* The number of distinct labels is the number of clusters. */
static kdr_status count_labels(kdr_context *ctx, const int64_t *labels, int64_t n, int64_t *k)
{
	kdr_scores scores;
	kdr_status st = kdr_evaluate(ctx, labels, labels, n, &scores);
	if (st == KDR_OK)
		*k = scores.clusters;
	return st;
}

kdr_status kdr_stability(kdr_context *ctx, kdr_data *const *tasks, int64_t count,
                         const int64_t *const *labels, const kdr_job_options *options, int64_t *resamples,
                         double *out)
{
	kdr_status st;
	kdri_job job = { 0 };
	kdr_data **sets = NULL;
	int64_t *k = NULL;
	kdr_job_options own;
	kdr_prep_options prep;
	if (!ctx || !tasks || count < 1 || !labels || !out || !resamples)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "kdr_stability: data sets, labels and a place for the result are needed");
	KDRI_TRY(kdri_check_sets(ctx, "stability", tasks, count, 1));
	KDRI_TRY(kdri_job_take(ctx, options, &own, &prep));
	options = &own;
	KDRI_TRY(KDRI_NEW(ctx, &sets, count)); /* kdr_prepare's own list */
	KDRI_TRY(KDRI_NEW(ctx, &k, count));
	memcpy(sets, tasks, (size_t)count * sizeof *sets);
	for (int64_t t = 0; t < count; t++)
		KDRI_TRY(count_labels(ctx, labels[t], sets[t]->rows, &k[t]));
	KDRI_TRY(kdri_job_open(ctx, options, KDR_FAMILY_CLUSTER, &job));
	KDRI_TRY(kdri_job_prepare(ctx, &job, sets, count, 0));
	const kdri_stability s = { sets, labels, k, count, options->pooled };
	KDRI_TRY(kdri_job_stability(ctx, &job, &s, resamples, out));
done:
	kdri_job_close(&job);
	KDRI_FREE(ctx, sets, k);
	return st;
}
