/* What comes before data sets are added to a model. SPDX-License-Identifier: BSD-3-Clause
 *
 * The options and the preprocessing are those of the model, and so are the weights of words. For the fit (jobs/model/into.c), the weights are
 * changed to those of all samples: with N samples, of which f_j have word j, and n new ones, of which g_j have it,
 *
 *     (E1)  idf_j = ln((1 + N) / (1 + f_j)) + 1, so that f_j is known;  new idf_j = ln((1 + N + n) / (1 + f_j + g_j)) + 1
 *
 * Otherwise words that only the new data set has would count most of all. Everything else is computed with the weights of the
 * model, which stay the same, so that it recognises its samples. */
#include "jobs/model/into.h"

#include "api/model.h"
#include "api/moments.h"
#include "api/remembered.h"
#include "matrix/linalg.h"
#include "prepare/prep.h"

#include <stdio.h>
#include <stdlib.h>

static kdr_status check_model(kdr_context *ctx, const kdr_model *m, const kdri_job *job)
{
	bool any = false, all = true;
	if (m->algo != kdri_algo_of(job->algo) || !kdri_remembers(job->algo))
		return kdri_fail(
		        ctx, KDR_ERR_UNSUPPORTED,
		        "--into needs a model of 'kindred %s' with method auto; this model is of 'kindred %s' with method %s",
		        job->algo->family == KDR_FAMILY_TRANSFER ? "transfer" : "cluster",
		        m->algo->info.family == KDR_FAMILY_TRANSFER ? "transfer" : "cluster",
		        m->algo->info.called ? m->algo->info.called : m->algo->info.id);
	for (int64_t t = 0; t < m->ntasks; t++)
		if (m->fitted->tasks[t].remembered || m->fitted->tasks[t].moments)
			any = true;
		else
			all = false;
	if (!any || (!all && job->algo->family == KDR_FAMILY_CLUSTER) || !m->prep)
		return kdri_fail(
		        ctx, KDR_ERR_UNSUPPORTED,
		        "the model keeps neither samples nor covariances, which are needed to add data sets: it was made under mpirun, by an older version or, in Python and R, without model = TRUE; fit and save it again");
	return KDR_OK;
}

static kdr_status check_options(kdr_context *ctx, const kdr_job_options *o)
{
	const char *what =
	        o->pooled                 ? "pooled data sets (--pooled)"
	        : o->init                 ? "initial labels (--init)"
	        : o->quality              ? "quality scores (--quality)"
	        : o->k_to || o->each_k_to ? "a range of numbers of clusters"
	        : o->features_from        ? "learned features (--features-from)"
	        : o->prep->weight != KDR_WEIGHT_NONE || o->prep->norm != KDR_NORM_NONE ||
	                        o->prep->scale != KDR_SCALE_NONE || o->prep->top_features > 0 ||
	                        o->prep->align != KDR_ALIGN_DEFAULT || o->choice == KDR_PREP_NONE
	                ? "preprocessing options, because the data get the preprocessing of the model"
	                : NULL;
	return what ? kdri_fail(ctx, KDR_ERR_ARGUMENT, "--into cannot be combined with %s", what) : KDR_OK;
}

static kdr_status check_names(kdr_context *ctx, const kdr_model *m, kdr_data *const *sets, int64_t count)
{
	for (int64_t i = 0; i < count; i++)
		for (int64_t t = 0; t < m->ntasks; t++)
			if (strcmp(sets[i]->name, m->task_names[t]) == 0)
				return kdri_fail(
				        ctx, KDR_ERR_ARGUMENT,
				        "the model already has a data set '%s'; give this one another name: NAME=FILE",
				        sets[i]->name);
	return KDR_OK;
}

/* The options of the model, and those that were set for this job. */
static kdr_status take_settings(kdr_context *ctx, const kdr_model *m, kdri_job *job)
{
	kdr_status st;
	kdr_options *own = NULL;
	KDRI_TRY(kdri_options_copy(ctx, m->options, &own));
	for (const kdr_option_desc *d = job->algo->options; d->name; d++) {
		int64_t count = 0;
		const double *values = kdri_options_numbers(job->options, d->name, &count);
		if (!kdri_options_is_set(job->options, d->name))
			continue;
		if (d->type == KDR_OPTION_CHOICE)
			KDRI_TRY(kdr_options_set(ctx, own, d->name, d->choices[(int)values[0]]));
		else
			KDRI_TRY(kdr_options_set_numbers(ctx, own, d->name, values, count));
	}
	kdr_options_free(job->options);
	job->options = own;
	own = NULL;
done:
	kdr_options_free(own);
	return st;
}

static kdr_status check_columns(kdr_context *ctx, const kdr_model *m, const kdr_data *data)
{
	if (data->cols == m->ncolumns)
		return KDR_OK;
	return kdri_fail(ctx, KDR_ERR_DATA,
	                 "%s has %lld columns after preprocessing, but the model was fitted on %lld",
	                 data->name, (long long)data->cols, (long long)m->ncolumns);
}

/* The samples that a model keeps of data set t, or others with the same means and covariances. */
static kdr_status take_kept(kdr_context *ctx, const kdr_model *m, int64_t t, kdr_data **out)
{
	const kdri_task_result *task = &m->fitted->tasks[t];
	const kdr_data *d = task->remembered;
	if (d) {
		const kdr_mat x = kdr_data_mat(d);
		KDRI_DO(kdr_data_borrow(ctx, m->task_names[t], &x, (const char *const *)m->features, NULL,
		                        out));
		KDRI_DO(KDRI_NEW(ctx, &(*out)->labels, d->rows));
		memcpy((*out)->labels, d->labels, (size_t)d->rows * sizeof *d->labels);
	} else if (task->moments) {
		KDRI_DO(kdri_moments_draw(ctx, task->moments, m->prep, m->task_names[t], t, out));
		KDRI_DO(kdri_strings_copy(ctx, (const char *const *)m->features, m->ncolumns,
		                          &(*out)->features));
	}
	return KDR_OK;
}

kdr_status kdri_into_prepare(kdr_context *ctx, kdri_job *job, kdr_data **sets, int64_t count,
                             kdr_data ***kept)
{
	const kdr_model *m = job->wanted->into;
	const double start = kdri_now();
	KDRI_DO(kdri_job_alone(ctx, "--into", true));
	KDRI_DO(check_model(ctx, m, job));
	KDRI_DO(check_options(ctx, job->wanted));
	KDRI_DO(check_names(ctx, m, sets, count));
	KDRI_DO(take_settings(ctx, m, job));
	KDRI_DO(kdri_prep_extend(ctx, m->prep, count, &job->prep));
	for (int64_t i = 0; i < count; i++) {
		job->seconds.read += sets[i]->seconds;
		KDRI_DO(kdri_check_columns(ctx, &sets[i], 1, 0));
		KDRI_DO(kdr_prep_apply(ctx, job->prep, m->prep->tasks + i, sets[i]));
		KDRI_DO(check_columns(ctx, m, sets[i]));
	}
	KDRI_DO(KDRI_NEW0(ctx, kept, m->ntasks));
	for (int64_t t = 0; t < m->ntasks; t++) {
		KDRI_DO(take_kept(ctx, m, t, &(*kept)[t]));
		if (!(*kept)[t])
			continue;
		if (m->classes)
			KDRI_DO(kdri_strings_copy(ctx, (const char *const *)m->classes, m->nclasses,
			                          &(*kept)[t]->classes));
		(*kept)[t]->nclasses = m->nclasses;
	}
	job->encoded = !job->prep->column_kind;
	job->seconds.prepare = kdri_now() - start;
	return KDR_OK;
}

/* One row: entries times the ratio of the weights of their columns, then of the norm that it had. */
static void reweigh_row(const double *ratio, const int32_t *col, int64_t n, kdr_norm norm, double *val)
{
	double sum = 0;
	for (int64_t p = 0; p < n; p++) {
		val[p] *= ratio[col ? col[p] : p];
		sum += norm == KDR_NORM_L1 ? fabs(val[p]) : val[p] * val[p];
	}
	sum = norm == KDR_NORM_L1 ? sum : sqrt(sum);
	for (int64_t p = 0; norm != KDR_NORM_NONE && sum > 0 && p < n; p++)
		val[p] /= sum;
}

/* Into *out, or the data set itself if that is NULL. */
static kdr_status reweigh(kdr_context *ctx, kdr_data *d, const double *ratio, kdr_norm norm, kdri_own *out)
{
	double *val = NULL, *to;
	const bool dense = d->kind == KDR_MAT_DENSE;
	const kdr_mat x = kdr_data_mat(d);
	const int64_t size = kdr_mat_nnz(&x);
	if (out) {
		KDRI_DO(KDRI_NEW(ctx, &val, size));
		memcpy(val, dense ? d->dense : d->val, (size_t)size * sizeof *val);
	} else {
		KDRI_DO(kdri_data_own(ctx, d));
	}
	to = out ? val : dense ? d->dense : d->val;
	for (int64_t i = 0; i < d->rows; i++) {
		const int64_t begin = dense ? i * d->cols : d->rowptr[i],
		              n = dense ? d->cols : d->rowptr[i + 1] - begin;
		reweigh_row(ratio, dense ? NULL : d->col + begin, n, norm, to + begin);
	}
	if (!out)
		return KDR_OK;
	out->view = dense ? kdr_mat_from_dense(val, d->rows, d->cols)
	                  : kdr_mat_from_csr(d->rows, d->cols, d->rowptr, d->col, val);
	out->parts[0] = val;
	return KDR_OK;
}

kdr_status kdri_into_reweigh(kdr_context *ctx, kdr_prep *prep, kdr_data *const *all, int64_t old,
                             int64_t count, kdri_own *x)
{
	kdr_status st = KDR_OK;
	double *ratio = NULL;
	int64_t n = prep->rows;
	const int64_t d = prep->nkept;
	if (!prep->idf || prep->rows == 0)
		return KDR_OK;
	KDRI_TRY(KDRI_NEW0(ctx, &ratio, d));
	for (int64_t t = old; t < count; t++) {
		const kdr_mat view = kdr_data_mat(all[t]);
		n += all[t]->rows;
		for (int64_t i = 0; i < all[t]->rows; i++) {
			const kdri_entries row = kdri_row_entries(&view, i);
			for (int64_t p = 0; p < row.count; p++)
				ratio[kdri_entry_column(&row, p)] += row.val[p] != 0;
		}
	}
	for (int64_t j = 0; j < d; j++) { /* (E1) */
		double *idf = &prep->idf[prep->kept ? prep->kept[j] : j];
		const double before = (1 + (double)prep->rows) / exp(*idf - 1),
		             now = log((1 + (double)n) / (before + ratio[j])) + 1;
		ratio[j] = now / *idf;
		*idf = x ? *idf : now;
	}
	prep->rows = x ? prep->rows : n;
	for (int64_t t = 0; t < count; t++)
		KDRI_TRY(reweigh(ctx, all[t], ratio, prep->options.norm, x ? &x[t] : NULL));
done:
	kdri_free(ctx, ratio);
	return st;
}
