/* Models: what a fitted method needs to label new samples. SPDX-License-Identifier: BSD-3-Clause */
#include "api/model.h"

#include "api/known.h"
#include "api/magnitude.h"
#include "api/result.h"
#include "matrix/blas.h"
#include "matrix/linalg.h"
#include "prepare/prep.h"

void kdr_model_free(kdr_model *m)
{
	if (!m)
		return;
	kdr_allocator a = m->allocator;
	if (!m->borrowed) {
		kdr_result_free(m->fitted);
		kdr_options_free(m->options);
		kdr_prep_free(m->prep);
		kdri_strings_free(&a, m->task_names, m->ntasks);
		kdri_strings_free(&a, m->features, m->ncolumns);
		kdri_strings_free(&a, m->classes, m->nclasses);
	} else {
		kdri_free_with(&a, m->task_names);
	}
	kdri_free_with(&a, m);
}

kdr_status kdri_model_possible(kdr_context *ctx, const kdr_options *options, const char *what)
{
	const kdr_algo *algo = kdr_options_algo(options);
	if (!(algo->flags & KDR_ALGO_PREDICT))
		return kdri_fail(ctx, KDR_ERR_UNSUPPORTED,
		                 "%s: method '%s' cannot label new samples, so there is no model to save",
		                 what, algo->id);
	if (kdri_options_has(options, "keep") && !kdri_opt_bool(options, "keep"))
		return kdri_fail(
		        ctx, KDR_ERR_ARGUMENT,
		        "%s: with keep=false, method '%s' keeps nothing that could label new samples; use keep=true to save a model",
		        what, algo->id);
	return KDR_OK;
}

kdr_status kdri_model_check(kdr_context *ctx, const kdr_result *result, const char *what)
{
	if (result->feature_options)
		return kdri_fail(
		        ctx, KDR_ERR_UNSUPPORTED,
		        "%s: the features were learnt by '%s', which cannot compute them for new samples; a model cannot be saved",
		        what, kdr_options_algo(result->feature_options)->id);
	if (result->combined)
		return kdri_fail(
		        ctx, KDR_ERR_UNSUPPORTED,
		        "%s: samples were compared by both views, which a model cannot do; a model cannot be saved",
		        what);
	return kdri_model_possible(ctx, result->options, what);
}

kdr_status kdr_model_new(kdr_context *ctx, const kdr_result *result, kdr_model **out)
{
	KDRI_NEED(ctx, result && out);
	kdr_status st;
	kdr_model *m = NULL;
	const kdri_task_result *first = &result->tasks[0];
	KDRI_TRY(kdri_model_check(ctx, result, "model"));
	KDRI_TRY(KDRI_NEW0(ctx, &m, 1));
	m->allocator = ctx->allocator;
	m->borrowed = true;
	m->algo = kdri_algo_of(result->algo);
	m->fitted = (kdr_result *)result; /* read only, as all that follows */
	m->options = result->options;
	m->prep = result->prep;
	m->ntasks = result->ntasks;
	m->ncolumns = first->d;
	m->features = first->features;
	m->classes = result->classes;
	m->nclasses = result->nclasses;
	KDRI_TRY(KDRI_NEW(ctx, &m->task_names, m->ntasks));
	for (int64_t t = 0; t < m->ntasks; t++)
		m->task_names[t] = result->tasks[t].name;
	*out = m;
	m = NULL;
done:
	kdr_model_free(m);
	return st;
}

void kdr_model_reading(const kdr_model *m, kdr_read_options *options)
{
	const kdr_prep *p = m ? m->prep : NULL;
	if (p && p->names && options &&
	    options->size >= offsetof(kdr_read_options, nterms) + sizeof options->nterms) {
		options->texts = p->reading_texts;
		options->terms = (const char *const *)p->names;
		options->nterms = p->cols;
	}
	if (p && p->vectors && options &&
	    options->size >= offsetof(kdr_read_options, vectors) + sizeof options->vectors) {
		options->texts = p->reading_texts;
		options->terms = (const char *const *)p->vectors->words;
		options->nterms = p->vectors->count;
		options->vectors = p->vectors;
	}
	/* A caller whose struct has no such members has nothing to complete. */
	if (!p || !p->reading_columns || !options ||
	    options->size < offsetof(kdr_read_options, na) + sizeof options->na)
		return;
	if (!options->columns)
		options->columns = p->reading_columns;
	if (!options->missing)
		options->missing = p->reading_missing;
	if ((!options->na || !options->na[0]) && p->reading_nna > 0)
		options->na = (const char *const *)p->reading_na;
	if (options->size >= offsetof(kdr_read_options, model_recode) + sizeof options->model_recode) {
		options->model_rename = (const char *const *)p->reading_rename;
		options->model_recode = (const char *const *)p->reading_recode;
	}
}

const kdr_algo *kdr_model_algo(const kdr_model *m)
{
	return m ? &m->algo->info : NULL;
}

int64_t kdr_model_ntasks(const kdr_model *m)
{
	return m ? m->ntasks : 0;
}

const char *kdr_model_task_name(const kdr_model *m, int64_t task)
{
	return !m || task < 0 || task >= m->ntasks ? NULL : m->task_names[task];
}

int64_t kdri_model_k(const kdr_model *m, int64_t task)
{
	return kdr_result_k(m->fitted, task);
}

/* Columns as the model was fitted on. Preprocessing has aligned them; without it names must agree. */
static kdr_status check_columns(kdr_context *ctx, const kdr_model *m, const kdr_data *data)
{
	if (m->ncolumns > 0 && data->cols != m->ncolumns)
		return kdri_fail(ctx, KDR_ERR_DATA, "%s has %lld columns%s, but the model was fitted on %lld",
		                 data->name, (long long)data->cols, m->prep ? " after preprocessing" : "",
		                 (long long)m->ncolumns);
	if (!m->prep && m->features && data->features)
		for (int64_t j = 0; j < data->cols; j++)
			if (strcmp(m->features[j], data->features[j]) != 0)
				return kdri_fail(
				        ctx, KDR_ERR_DATA,
				        "%s: column %lld is called '%s', but the model was fitted with '%s' in this place",
				        data->name, (long long)j + 1, data->features[j], m->features[j]);
	return KDR_OK;
}

kdr_status kdri_model_apply(kdr_context *ctx, const kdr_model *m, int64_t task, kdr_data *data,
                            int64_t *labels)
{
	if (task < 0 || task >= m->ntasks)
		return kdri_fail(
		        ctx, KDR_ERR_ARGUMENT,
		        "data set number %lld is out of range; the model has %lld data sets, numbered from 0",
		        (long long)task, (long long)m->ntasks);
	KDRI_DO(kdri_blas_reserve(ctx));
	if (m->prep)
		KDRI_DO(kdr_prep_apply(ctx, m->prep, task, data));
	KDRI_DO(check_columns(ctx, m, data));
	const bool tables = m->algo->info.flags & KDR_ALGO_TABLES;
	if (!tables)
		KDRI_DO(kdri_table_encode(ctx, m->prep, task, data));
	kdr_mat x = kdr_data_mat(data);
	KDRI_DO(kdri_mat_check_values(ctx, &x, data->name, data, tables));
	KDRI_DO(kdri_predict(ctx, m->algo, m->fitted, m->options, task, &x, labels));
	kdri_known_apply(m->fitted, task, &x, labels);
	return KDR_OK;
}
