/* The confidence of each label, and the second-best label. SPDX-License-Identifier: BSD-3-Clause
 *
 * For sample i with label y, if the method marked an array of scores s (algorithm.h: scoring):
 *
 *     (E1)  second_i = argmax over c != y of s_ic;  of shares only those above 0 count
 *     (E2)  confidence_i = s_iy / sum_c s_ic        shares
 *           confidence_i = exp(s_iy) / sum_c exp(s_ic)   margins
 *
 * Otherwise, with m_c the mean of the samples of cluster c, on the data used for the fit:
 *
 *     (E3)  second_i = argmin over c != y of |x_i - m_c|
 *     (E4)  confidence_i = max(0, 1 - |x_i - m_y| / |x_i - m_second|)    the simplified silhouette, cut off at 0
 *
 * A confidence computed by the method itself takes precedence. Time: O(n k), or O(nnz k) for (E3). */
#include "comm/comm.h"
#include "engine/metrics/metrics.h"
#include "jobs/job.h"
#include "jobs/say/say.h"

kdr_array kdri_result_scoring(const kdr_result *r, int64_t task, kdr_scoring *kind)
{
	for (const kdr_field_desc *f = r->algo->fields; f && f->name; f++) {
		kdr_array a = { 0 };
		if (f->scoring != KDR_SCORING_NONE)
			a = kdr_result_array(r, f->name, task);
		if (a.data && a.type == KDR_FLOAT64 && a.ndim == 2 && a.shape[0] == r->tasks[task].n) {
			*kind = f->scoring;
			return a;
		}
	}
	*kind = KDR_SCORING_NONE;
	return (kdr_array){ 0 };
}

/* (E1) */
int64_t kdri_next_best(const double *s, int64_t count, int64_t label, kdr_scoring kind)
{
	int64_t best = -1;
	for (int64_t c = 0; c < count; c++)
		if (c != label && s[c] > -INFINITY && (best < 0 || s[c] > s[best]))
			best = c;
	return best >= 0 && kind == KDR_SCORING_SHARES && !(s[best] > 0) ? -1 : best;
}

/* (E2) */
double kdri_share_of(const double *s, int64_t count, int64_t label, kdr_scoring kind)
{
	double sum = 0, most = s[0];
	if (label < 0 || label >= count)
		return 0;
	for (int64_t c = 1; c < count; c++)
		most = KDRI_MAX(most, s[c]);
	for (int64_t c = 0; c < count; c++)
		sum += kind == KDR_SCORING_MARGINS ? exp(s[c] - most) : KDRI_MAX(s[c], 0);
	return kind == KDR_SCORING_MARGINS ? exp(s[label] - most) / sum
	       : sum > 0                   ? KDRI_MAX(s[label], 0) / sum
	                                   : 0;
}

static kdr_status by_scores(kdr_context *ctx, kdri_task_result *t, const kdr_array *a, kdr_scoring kind,
                            bool sure)
{
	const double *s = a->data;
	int64_t count = a->shape[1], found = 0;
	KDRI_DO(KDRI_NEW(ctx, &t->second, t->n));
	for (int64_t i = 0; i < t->n; i++) {
		t->second[i] = kdri_next_best(s + i * count, count, t->labels[i], kind);
		found += t->second[i] >= 0;
	}
	KDRI_DO(kdri_sum_int(ctx, &found, 1));
	if (found == 0) { /* every sample wholly in one: the scores only repeat the labels */
		kdri_free(ctx, t->second);
		t->second = NULL;
		return KDR_OK;
	}
	if (sure)
		return KDR_OK;
	KDRI_DO(KDRI_NEW(ctx, &t->confidence, t->n));
	for (int64_t i = 0; i < t->n; i++)
		t->confidence[i] = kdri_share_of(s + i * count, count, t->labels[i], kind);
	t->confidence_from = kind == KDR_SCORING_MARGINS ? "softmax" : "share";
	return KDR_OK;
}

/* Whether (E3) and (E4) are meaningful: all samples have labels, and these are not all the same. */
static bool several(const kdri_task_result *t)
{
	int64_t samples = 0, clusters = 0;
	for (int64_t c = 0; t->sizes && c < t->k; c++) {
		samples += t->sizes[c];
		clusters += t->sizes[c] > 0;
	}
	return samples == t->all && clusters > 1;
}

static kdr_status by_distance(kdr_context *ctx, kdri_task_result *t, const kdr_data *data, bool sure)
{
	kdr_status st = KDR_OK;
	double *value = NULL;
	kdr_mat x = kdr_data_mat(data);
	if (!several(t) || kdr_mat_rows(&x) != t->n)
		return KDR_OK;
	KDRI_TRY(KDRI_NEW(ctx, &value, t->n));
	KDRI_TRY(KDRI_NEW0(ctx, &t->second, t->n));
	KDRI_TRY(kdri_silhouette_next(ctx, &x, t->labels, value, t->second)); /* (E3) */
	for (int64_t i = 0; i < t->n; i++)
		value[i] = KDRI_MAX(value[i], 0); /* (E4) */
	if (!sure) {
		t->confidence = value;
		t->confidence_from = "distance";
		value = NULL;
	}
done:
	kdri_free(ctx, value);
	return st;
}

kdr_status kdri_job_choices(kdr_context *ctx, kdr_result *r, kdr_data *const *data)
{
	for (int64_t i = 0; i < r->ntasks; i++) {
		kdri_task_result *t = &r->tasks[i];
		bool sure = kdr_result_confidence(r, i, NULL) != NULL; /* separately */
		kdr_scoring kind;
		kdr_array scores = kdri_result_scoring(r, i, &kind);
		if (!t->labels || t->second)
			continue;
		if (scores.data)
			KDRI_DO(by_scores(ctx, t, &scores, kind, sure));
		if (!t->second)
			KDRI_DO(by_distance(ctx, t, data[i], sure));
	}
	return kdri_job_examples(ctx, r);
}
