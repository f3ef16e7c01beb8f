/* Options and results of LSSMTC and LSSTTC. SPDX-License-Identifier: BSD-3-Clause */
#include "api/method.h"
#include "comm/comm.h"
#include "methods/lss/lss.h"

enum { TOP = 10 };

const char *const kdri_subspace_choices[] = { "range", "full", NULL };

kdri_subspace_options kdri_subspace_read_options(const kdr_options *options, int64_t c)
{
	int64_t l = kdri_opt_int(options, "l");
	return (kdri_subspace_options){ .l = l ? l : c,
		                        .c = c,
		                        .automatic = l == 0,
		                        .eps = kdri_opt_real(options, "eps"),
		                        .full = kdri_opt_choice(options, "subspace") == 1,
		                        .energy = kdri_opt_real(options, "energy") };
}

kdri_lss_options kdri_lss_read_options(const kdr_options *options, int64_t c, const char *stage)
{
	return (kdri_lss_options){ .lambda = kdri_opt_real(options, "lambda"),
		                   .subspace = kdri_subspace_read_options(options, c),
		                   .root = kdri_opt_bool(options, "root"),
		                   .soften = kdri_opt_real(options, "soften"),
		                   .max_iter = kdri_opt_int(options, "max_iter"),
		                   .tol = kdri_opt_real(options, "tol"),
		                   .stage = stage };
}

/* out[0..count-1]: the places of the largest of key[0], key[stride], ..; ties to the lowest place. */
static void top_places(const double *key, int64_t n, int64_t stride, bool by_size, int64_t count,
                       int64_t *out)
{
	double best[TOP];
	int64_t filled = 0;
	for (int64_t i = 0; i < n; i++) {
		double value = by_size ? fabs(key[i * stride]) : key[i * stride];
		int64_t at = filled;
		while (at > 0 && best[at - 1] < value)
			at--;
		if (at >= count)
			continue;
		filled = KDRI_MIN(filled + 1, count);
		for (int64_t j = filled - 1; j > at; j--) {
			best[j] = best[j - 1];
			out[j] = out[j - 1];
		}
		best[at] = value;
		out[at] = i;
	}
}

/* Centres (d x c) of rows begin .. end-1: X'P (P'P)^+. */
static kdr_status centres_of(kdr_context *ctx, const kdri_lss_problem *problem, const kdri_lss *run,
                             int64_t begin, int64_t end, double *out)
{
	kdr_status st;
	int64_t c = problem->c, d = kdr_mat_cols(problem->x), n = end - begin;
	const double *p = run->p + begin * c;
	kdr_mat x = kdri_rows(problem->x, begin, end);
	double *f = NULL, *g = NULL, *inv = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &f, d * c));
	KDRI_TRY(KDRI_NEW(ctx, &g, c * c));
	KDRI_TRY(KDRI_NEW(ctx, &inv, c * c));
	KDRI_TRY(kdri_mat_tmul(ctx, &x, p, c, c, f, c));
	KDRI_TRY(kdri_gemm(ctx, true, false, c, c, n, 1, p, c, p, c, 0, g, c));
	KDRI_TRY(kdri_sum(ctx, f, d * c));
	KDRI_TRY(kdri_sum(ctx, g, c * c));
	KDRI_TRY(kdri_pseudo_inverse(ctx, c, g, inv, NULL));
	KDRI_TRY(kdri_gemm(ctx, false, false, d, c, c, 1, f, c, inv, c, 0, out, c));
done:
	KDRI_FREE(ctx, f, g, inv);
	return st;
}

static kdr_status lss_result_put_task(kdr_context *ctx, const kdri_lss_problem *problem, const kdri_lss *run,
                                      int64_t t, int64_t task, double *centres, kdr_result *result)
{
	int64_t c = problem->c, l = run->l, d = kdr_mat_cols(problem->x), begin = problem->begin[t];
	int64_t n = problem->begin[t + 1] - begin;
	double *to = NULL;
	KDRI_DO(kdri_result_array(ctx, result, "P", task, KDR_FLOAT64, 2, (int64_t[]){ n, c }, &to));
	memcpy(to, run->p + begin * c, (size_t)(n * c) * sizeof *to);
	KDRI_DO(kdri_result_array(ctx, result, "embedding", task, KDR_FLOAT64, 2, (int64_t[]){ n, l }, &to));
	memcpy(to, run->embedded + begin * l, (size_t)(n * l) * sizeof *to);
	KDRI_DO(centres_of(ctx, problem, run, begin, begin + n, centres));
	KDRI_DO(kdri_result_array(ctx, result, "centres", task, KDR_FLOAT64, 2, (int64_t[]){ c, d }, &to));
	for (int64_t j = 0; j < c; j++)
		for (int64_t i = 0; i < d; i++)
			to[j * d + i] = centres[i * c + j];
	return KDR_OK;
}

/* Features of directions by weight; of clusters by how far the pooled centre is above the mean of all. */
static kdr_status put_top(kdr_context *ctx, const kdri_lss_problem *problem, const kdri_lss *run,
                          double *centres, kdr_result *result)
{
	int64_t c = problem->c, l = run->l, d = kdr_mat_cols(problem->x), top = KDRI_MIN(d, TOP), *to = NULL;
	KDRI_DO(kdri_result_array(ctx, result, "top_direction", -1, KDR_INT64, 2, (int64_t[]){ l, top },
	                          &to));
	for (int64_t j = 0; j < l; j++)
		top_places(run->w + j, d, l, true, top, to + j * top);
	KDRI_DO(centres_of(ctx, problem, run, 0, problem->begin[problem->ntasks], centres));
	for (int64_t i = 0; i < d; i++) {
		double mean = 0;
		for (int64_t j = 0; j < c; j++)
			mean += centres[i * c + j] / (double)c;
		for (int64_t j = 0; j < c; j++)
			centres[i * c + j] -= mean;
	}
	KDRI_DO(kdri_result_array(ctx, result, "top_cluster", -1, KDR_INT64, 2, (int64_t[]){ c, top }, &to));
	for (int64_t j = 0; j < c; j++)
		top_places(centres + j, d, c, false, top, to + j * top);
	return KDR_OK;
}

static kdr_status put_trace(kdr_context *ctx, const kdri_lss *run, kdr_result *result)
{
	static const char *const names[2] = { "within", "across" };
	for (int64_t i = 0; i < run->iterations; i++)
		KDRI_DO(kdri_result_objective(ctx, result, run->trace[3 * i]));
	for (int part = 0; part < 2; part++) {
		double *to = NULL;
		KDRI_DO(kdri_result_array(ctx, result, names[part], -1, KDR_FLOAT64, 1,
		                          (int64_t[]){ run->iterations + 1 }, &to));
		to[0] = run->start[1 + part];
		for (int64_t i = 0; i < run->iterations; i++)
			to[i + 1] = run->trace[3 * i + 1 + part];
	}
	KDRI_DO(kdri_result_number(ctx, result, "objective_start", run->start[0]));
	kdri_result_stop(result, run->stop, run->iterations);
	return KDR_OK;
}

kdr_status kdri_lss_put(kdr_context *ctx, const kdri_lss_problem *problem, const kdri_lss *run,
                        const int64_t *tasks, kdr_result *result)
{
	kdr_status st;
	int64_t c = problem->c, l = run->l, d = kdr_mat_cols(problem->x);
	double *centres = NULL, *to = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &centres, d * c));
	KDRI_TRY(kdri_result_array(ctx, result, "W", -1, KDR_FLOAT64, 2, (int64_t[]){ d, l }, &to));
	memcpy(to, run->w, (size_t)(d * l) * sizeof *to);
	KDRI_TRY(kdri_result_array(ctx, result, "shared_centres", -1, KDR_FLOAT64, 2, (int64_t[]){ c, l },
	                           &to));
	memcpy(to, run->shared, (size_t)(c * l) * sizeof *to);
	for (int64_t t = 0; t < problem->ntasks; t++)
		KDRI_TRY(lss_result_put_task(ctx, problem, run, t, tasks[t], centres, result));
	KDRI_TRY(put_top(ctx, problem, run, centres, result));
	KDRI_TRY(put_trace(ctx, run, result));
	KDRI_TRY(kdri_subspace_report(ctx, &run->subspace, -1, result));
	KDRI_TRY(kdri_subspace_warn(ctx, &run->subspace, result));
done:
	kdri_free(ctx, centres);
	return st;
}

/* --- predict ------------------------------------------------------------------------------------ */

/* scores (n x c) += weight (|m_j|^2 - 2 x_i . m_j): what of weight |x_i - m_j|^2 depends on j. A centre of
 * zeros is a cluster that vanished: it takes no sample. */
static kdr_status add_distances(kdr_context *ctx, const kdr_mat *x, const double *m, int64_t c, double weight,
                                double *scores)
{
	kdr_status st;
	int64_t n = kdr_mat_rows(x), d = kdr_mat_cols(x);
	double *mt = NULL, *products = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &mt, d * c));
	KDRI_TRY(KDRI_NEW(ctx, &products, n * c));
	for (int64_t j = 0; j < c; j++)
		for (int64_t i = 0; i < d; i++)
			mt[i * c + j] = m[j * d + i];
	KDRI_TRY(kdri_mat_mul(ctx, x, mt, c, c, products, c));
	for (int64_t j = 0; j < c; j++) {
		double size = kdri_nrm2sq(m + j * d, d), constant = size > 0 ? weight * size : INFINITY;
		for (int64_t i = 0; i < n; i++)
			scores[i * c + j] += constant - 2 * weight * products[i * c + j];
	}
done:
	KDRI_FREE(ctx, mt, products);
	return st;
}

kdr_status kdri_lss_predict(kdr_context *ctx, const kdr_result *fitted, const kdr_options *options,
                            int64_t task, const kdr_mat *x, int64_t *labels)
{
	kdr_status st = KDR_OK;
	kdr_array own = kdr_result_array(fitted, "centres", task), w = kdr_result_array(fitted, "W", -1),
	          shared = kdr_result_array(fitted, "shared_centres", -1);
	int64_t n = kdr_mat_rows(x), d = kdr_mat_cols(x), c = own.shape[0], l = w.shape[1];
	double lambda = kdri_opt_real(options, "lambda"), *y = NULL, *scores = NULL;
	if (!own.data || !w.data || !shared.data || own.ndim != 2 || w.ndim != 2 || shared.ndim != 2 ||
	    shared.shape[0] != c || shared.shape[1] != l || own.shape[1] != w.shape[0])
		return kdri_fail(ctx, KDR_ERR_DATA,
		                 "the model has no centres or no subspace for data set number %lld",
		                 (long long)task + 1);
	if (d != own.shape[1])
		return kdri_fail(ctx, KDR_ERR_DATA,
		                 "the data have %lld columns, but the model's centres have %lld",
		                 (long long)d, (long long)own.shape[1]);
	KDRI_TRY(KDRI_NEW0(ctx, &scores, n * c));
	KDRI_TRY(KDRI_NEW(ctx, &y, n * l));
	if (lambda > 0)
		KDRI_TRY(add_distances(ctx, x, own.data, c, lambda, scores));
	if (lambda < 1 && l > 0) { /* 0: the data were constant */
		KDRI_TRY(kdri_mat_mul(ctx, x, w.data, l, l, y, l));
		kdr_mat embedded = kdr_mat_from_dense(y, n, l);
		KDRI_TRY(add_distances(ctx, &embedded, shared.data, c, 1 - lambda, scores));
	}
	for (int64_t i = 0; i < n; i++) {
		labels[i] = 0;
		for (int64_t j = 1; j < c; j++)
			if (scores[i * c + j] < scores[i * c + labels[i]])
				labels[i] = j;
	}
done:
	KDRI_FREE(ctx, scores, y);
	return st;
}
