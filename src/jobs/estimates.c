/* Estimates the memory of jobs without a fit before they start. SPDX-License-Identifier: BSD-3-Clause
 *
 * vectorize has its own estimate, which depends on the texts (text/vectorize.c). */
#include "api/estimate.h"
#include "api/model.h"
#include "engine/embed/embed.h"
#include "engine/linear/linear.h"
#include "engine/metrics/metrics.h"
#include "jobs/job.h"
#include "jobs/relate/relate.h"
#include "matrix/rows.h"

/* A classifier that separates two data sets; then their mean discrepancy, with a limited number of rows of each. */
static double pair_bytes(const kdr_task_shape *a, const kdr_task_shape *b, int threads)
{
	const kdr_relate_options o = kdri_relate_resolve(NULL);
	const kdri_sizes two = { .tasks = (kdr_task_shape[]){ *a, *b }, .ntasks = 2 };
	const kdri_extent both = kdri_sizes_role(&two, -1),
	                  some = kdri_extent_rows(&both, 2 * (double)o.most_rows);
	const double folds = (double)o.folds, copy = kdri_extent_bytes(&both),
	             distance =
	                     8 * both.n * folds + kdri_linear_bytes(&both, both.n, folds, KDRI_LOSS_LOGISTIC);
	return KDRI_MAX(copy + distance,
	                (some.n < both.n ? kdri_extent_bytes(&some) : 0) + kdri_mmd_bytes(&some, threads));
}

static double relate_bytes(const kdri_sizes *s)
{
	double most = 0;
	for (int64_t b = 0; b < s->ntasks; b++)
		for (int64_t a = 0; a < b; a++)
			most = KDRI_MAX(most, pair_bytes(&s->tasks[a], &s->tasks[b], s->threads));
	/* Then the rows that have a feature, or means and variances of features. */
	const double n = (double)s->ntasks, d = (double)s->tasks[0].cols;
	return KDRI_MAX(most + 8 * n * d, 8 * (2 * n + 1) * d);
}

/* Labels; then what finds them, or scores, confidence and a second choice. */
static double predict_bytes(const kdri_sizes *s, const kdr_model *m)
{
	kdri_extent x = kdri_extent_of(&s->tasks[0]);
	x.d = (double)m->ncolumns; /* aligned with the model */
	const double k = (double)kdri_model_k(m, 0), weights = 8 * (x.n + x.d) * k;
	return 8 * x.n + KDRI_MAX(8 * x.n * (k + 3), m->algo->estimate_predict_bytes
	                                                     ? m->algo->estimate_predict_bytes(
	                                                               &x, m->fitted, m->options, s->threads)
	                                                     : weights);
}

kdr_status kdr_estimate_bytes_job(kdr_context *ctx, const char *job, const kdr_model *model,
                                  const kdr_task_shape *tasks, int64_t ntasks, kdr_estimate *out)
{
	kdr_status st;
	double data;
	KDRI_NEED(ctx, job && tasks && out);
	const bool predict = strcmp(job, "predict") == 0, relate = strcmp(job, "relate") == 0;
	KDRI_TRY(kdri_shape_check(ctx, tasks, ntasks, &data));
	if (predict ? !model || ntasks != 1 : !relate && strcmp(job, "embed") != 0)
		return kdri_fail(
		        ctx, KDR_ERR_ARGUMENT,
		        "estimates are available for relate, embed, and predict with a model and one data set");
	const kdri_sizes s = { .tasks = tasks, .ntasks = ntasks, .threads = ctx->threads };
	*out = (kdr_estimate){ .bytes = data + (predict  ? predict_bytes(&s, model)
		                                : relate ? relate_bytes(&s)
		                                         : kdri_embed_bytes(&s)),
		               .data_bytes = data };
done:
	return st;
}

/* Ranks would have to fail together; data without rows or columns are refused elsewhere. */
/* The estimate for a job without a fit; e->bytes is 0 if there is none, as for data without rows. */
static kdr_status job_estimate(kdr_context *ctx, const char *job, const kdr_model *model,
                               kdr_data *const *sets, int64_t count, kdr_estimate *e)
{
	kdr_status st;
	kdr_task_shape *shapes = NULL;
	bool can = !ctx->comm;
	*e = (kdr_estimate){ 0 };
	KDRI_TRY(KDRI_NEW(ctx, &shapes, count));
	for (int64_t t = 0; t < count; t++) {
		const kdr_mat x = kdr_data_mat(sets[t]);
		shapes[t] = (kdr_task_shape){ .rows = kdr_mat_rows(&x),
			                      .cols = kdr_mat_cols(&x),
			                      .entries = kdr_mat_nnz(&x),
			                      .dense = x.kind == KDR_MAT_DENSE,
			                      .streamed = sets[t]->streamed };
		can = can && shapes[t].rows > 0 && shapes[t].cols > 0;
	}
	if (can)
		KDRI_TRY(kdr_estimate_bytes_job(ctx, job, model, shapes, count, e));
done:
	kdri_free(ctx, shapes);
	return st;
}

kdr_status kdri_check_memory(kdr_context *ctx, const char *job, const kdr_model *model, kdr_data *const *sets,
                             int64_t count)
{
	kdr_estimate e;
	kdr_status st = job_estimate(ctx, job, model, sets, count, &e);
	return st == KDR_OK && e.bytes > 0 ? kdri_memory_allows(ctx, job, &e) : st;
}

kdr_status kdri_memory_suffices(kdr_context *ctx, const char *job, const kdr_model *model,
                                kdr_data *const *sets, int64_t count, bool *out)
{
	kdr_estimate e;
	kdr_status st = job_estimate(ctx, job, model, sets, count, &e);
	*out = st == KDR_OK && (e.bytes == 0 || kdri_memory_allows(ctx, job, &e) == KDR_OK);
	return st;
}

kdr_status kdri_check_columns(kdr_context *ctx, kdr_data *const *sets, int64_t count, int64_t k)
{
	/* Alignment, preprocessing and cluster profiles; smaller amounts are not checked. */
	static const double each = 6, shared = 6, least = 1 << 26;
	kdr_status st = KDR_OK;
	int32_t *used = NULL;
	int64_t found = 0;
	const kdr_data *widest = sets[0];
	for (int64_t t = 1; t < count; t++)
		widest = sets[t]->cols > widest->cols ? sets[t] : widest;
	const double arrays = each * (double)count + shared + 2 * (double)KDRI_MAX(k, 1);
	const kdr_mat x = kdr_data_mat(widest);
	const kdr_estimate e = { .bytes = 8 * arrays * (double)widest->cols };
	if (ctx->comm || x.kind != KDR_MAT_CSR || e.bytes < least ||
	    kdri_memory_allows(ctx, "columns", &e) == KDR_OK)
		return KDR_OK;
	KDRI_TRY(kdri_columns_used(ctx, &x, &used, &found));
	st = kdri_fail(
	        ctx, KDR_ERR_MEMORY,
	        "%s has %lld columns, %lld of them with values; statistics of the columns need %.3g GB of memory, more than "
	        "%s; renumber the columns with values",
	        widest->name, (long long)widest->cols, (long long)found, e.bytes / 1e9,
	        ctx->max_memory > 0 ? "--max-memory allows" : "this machine has");
done:
	kdri_free(ctx, used);
	return st;
}
