/* The confidences and second-best labels of new samples. SPDX-License-Identifier: BSD-3-Clause
 *
 * They are computed from the arrays of a model, whose names are the same in every method:
 *
 *     (E1)  s_ic = x_i . w_c + b_c           "weights" and "intercept" of classes; a class that had no sample has neither
 *     (E2)  s_ic = 2 x_i . m_c - |m_c|^2     "centres" or "centroids" of clusters: |x_i|^2 - |x_i - m_c|^2
 *
 * The second choice has the largest s_ic other than the label's. Confidence is the label's share of exp(s_ic) for
 * (E1) and max(0, 1 - |x_i - m_label| / |x_i - m_second|) for (E2). Models that keep neither in the space of the data
 * (a graph, a subspace) have neither. Time: O(nnz k). */
#include "api/method.h"
#include "engine/graph/views.h"
#include "jobs/job.h"
#include "jobs/model/model.h"
#include "jobs/say/say.h"
#include "matrix/linalg.h"

typedef struct scores {
	int64_t k;
	double *s;   /* n x k */
	bool linear; /* (E1) */
} scores;

/* s = X R' + constant, R k x d. */
static kdr_status model_choices_multiply(kdr_context *ctx, const kdr_mat *x, const double *r, int64_t k,
                                         double by, const double *constant, double *s)
{
	kdr_status st;
	int64_t n = kdr_mat_rows(x), d = kdr_mat_cols(x), size;
	double *t = NULL;
	KDRI_TRY(kdri_mul(ctx, d, k, &size));
	KDRI_TRY(KDRI_NEW(ctx, &t, size));
	for (int64_t c = 0; c < k; c++)
		for (int64_t j = 0; j < d; j++)
			t[j * k + c] = by * r[c * d + j];
	KDRI_TRY(kdri_mat_mul(ctx, x, t, k, k, s, k));
	for (int64_t i = 0; i < n; i++)
		for (int64_t c = 0; c < k; c++)
			s[i * k + c] += constant[c];
done:
	kdri_free(ctx, t);
	return st;
}

/* The rows and constants of (E1) or (E2); false where the model has neither. */
static kdr_status find_scores(kdr_context *ctx, const kdr_result *fitted, int64_t task, const kdr_mat *x,
                              scores *out)
{
	kdr_status st = KDR_OK;
	kdr_array w = kdr_result_array(fitted, "weights", -1), b = kdr_result_array(fitted, "intercept", -1);
	kdr_array m = kdr_result_array(fitted, "centres", task);
	double *constant = NULL;
	int64_t size;
	if (!m.data)
		m = kdr_result_array(fitted, "centroids", task);
	out->linear = w.data && b.data;
	if (out->linear)
		m = w;
	if (!m.data || m.type != KDR_FLOAT64 || m.ndim != 2 || m.shape[1] != kdr_mat_cols(x) ||
	    (out->linear && (b.ndim != 1 || b.shape[0] != m.shape[0])))
		return KDR_OK;
	KDRI_TRY(kdri_mul(ctx, kdr_mat_rows(x), m.shape[0], &size));
	KDRI_TRY(KDRI_NEW(ctx, &out->s, size));
	KDRI_TRY(KDRI_NEW(ctx, &constant, m.shape[0]));
	for (int64_t c = 0; c < m.shape[0]; c++) {
		double square = kdri_nrm2sq((const double *)m.data + c * m.shape[1], m.shape[1]);
		double own = b.data ? ((const double *)b.data)[c] : 0;
		if (!out->linear)
			constant[c] = -square; /* (E2) */
		else                           /* (E1) */
			constant[c] = square == 0 && own == 0 ? -INFINITY : own;
	}
	KDRI_TRY(model_choices_multiply(ctx, x, m.data, m.shape[0], out->linear ? 1 : 2, constant, out->s));
	out->k = m.shape[0];
done:
	kdri_free(ctx, constant);
	return st;
}

/* From the distances that (E2) represents. */
static double nearer_by(const double *s, int64_t label, int64_t second, double square)
{
	double own = sqrt(KDRI_MAX(square - s[label], 0)), next = sqrt(KDRI_MAX(square - s[second], 0));
	return next > own ? 1 - own / next : 0;
}

/* Fills in confidence and second of the result's only task, from the shares of clusters by which the method labels samples. A sample
 * of the fit keeps its label, whatever its share. */
static kdr_status model_choices_shares(kdr_context *ctx, const double *share, int64_t k, kdri_task_result *t)
{
	KDRI_DO(KDRI_NEW(ctx, &t->second, t->n));
	KDRI_DO(KDRI_NEW(ctx, &t->confidence, t->n));
	t->confidence_from = "vote";
	for (int64_t i = 0; i < t->n; i++) {
		const double *s = share + i * k;
		const int64_t label = t->labels[i];
		t->second[i] = kdri_next_best(s, k, label, KDR_SCORING_MARGINS);
		t->confidence[i] = label < 0 || label >= k ? 0 : s[label];
	}
	return KDR_OK;
}

/* Fills in confidence and second of the result's only task. */
static kdr_status model_choices_put(kdr_context *ctx, const scores *f, const kdr_mat *x, kdri_task_result *t)
{
	kdr_status st;
	double *square = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &square, t->n));
	KDRI_TRY(kdri_mat_row_norms(ctx, x, square));
	KDRI_TRY(KDRI_NEW(ctx, &t->second, t->n));
	KDRI_TRY(KDRI_NEW(ctx, &t->confidence, t->n));
	t->confidence_from = f->linear ? "softmax" : "distance";
	for (int64_t i = 0; i < t->n; i++) {
		const double *s = f->s + i * f->k;
		int64_t label = t->labels[i], second = kdri_next_best(s, f->k, label, KDR_SCORING_MARGINS);
		t->second[i] = second;
		t->confidence[i] = label < 0 || label >= f->k || second < 0 ? 0
		                   : f->linear ? kdri_share_of(s, f->k, label, KDR_SCORING_MARGINS)
		                               : nearer_by(s, label, second, square[i]);
	}
done:
	kdri_free(ctx, square);
	return st;
}

kdr_status kdri_model_choices(kdr_context *ctx, const kdr_result *fitted, int64_t task, const kdr_data *data,
                              kdr_result *r)
{
	kdr_status st = KDR_OK;
	kdr_array unit = kdr_result_array(fitted, "unit_rows", task);
	kdr_mat x = kdr_data_mat(data);
	kdri_own rows = { .view = x };
	scores f = { 0 };
	double *share = NULL;
	int64_t k = 0;
	const kdri_algo *algo = kdri_algo_of(kdr_result_algo(fitted));
	if (!unit.data)
		unit = kdr_result_array(fitted, "unit_rows", -1);
	if (kdri_result_exponent(fitted) != 0) /* its arrays are of other units */
		return KDR_OK;
	if (algo->shares)
		KDRI_TRY(algo->shares(ctx, fitted, task, &x, &share, &k));
	if (share) {
		KDRI_TRY(model_choices_shares(ctx, share, k, &r->tasks[0]));
		goto done;
	}
	if (unit.data && unit.type == KDR_INT64 && *(const int64_t *)unit.data)
		KDRI_TRY(kdri_unit_rows(ctx, &x, &rows));
	KDRI_TRY(find_scores(ctx, fitted, task, &rows.view, &f));
	if (f.k > 1)
		KDRI_TRY(model_choices_put(ctx, &f, &rows.view, &r->tasks[0]));
done:
	kdri_own_free(ctx, &rows);
	KDRI_FREE(ctx, share, f.s);
	return st;
}
