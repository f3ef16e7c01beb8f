/* kdr_predict: a saved model to labels of new samples. SPDX-License-Identifier: BSD-3-Clause */
#include "api/magnitude.h"
#include "api/model.h"
#include "api/moments.h"
#include "api/remembered.h"
#include "core/system.h"
#include "jobs/content.h"
#include "jobs/model/model.h"
#include "jobs/say/say.h"

#include <stdio.h>

/* Whether a task is called so: names of tasks are names of files, which do not contain some characters (data.c). */
static bool is_called(const char *task, const char *name)
{
	while (*task && *name && (*task == *name || (*task == '_' && strchr(kdri_not_in_names, *name)))) {
		task++;
		name++;
	}
	return !*task && !*name;
}

/* The task with this name, or the only one. For a transfer without a name it is the last, because new samples are
 * usually like the target's. */
static kdr_status choose_task(kdr_context *ctx, const kdr_model *m, const char *name, int64_t *out)
{
	char list[256] = "";
	*out = 0;
	if (!name && (m->ntasks == 1 || m->algo->info.family == KDR_FAMILY_TRANSFER)) {
		*out = m->ntasks - 1;
		return KDR_OK;
	}
	for (int64_t i = 0; name && i < m->ntasks; i++)
		if (is_called(m->task_names[i], name)) {
			*out = i;
			return KDR_OK;
		}
	for (int64_t i = 0; i < m->ntasks; i++)
		kdri_list_add(list, sizeof list, "%s", m->task_names[i]);
	return name ? kdri_fail(ctx, KDR_ERR_ARGUMENT,
	                        "the model has no data set '%s'; choose one of its data sets with --task: %s",
	                        name, list)
	            : kdri_fail(ctx, KDR_ERR_ARGUMENT,
	                        "the model has several data sets; choose one with --task: %s", list);
}

/* A result for the rows of `data`, whose labels are still to be found. */
static kdr_status predict_begin(kdr_context *ctx, const kdr_model *model, const kdr_data *data, int64_t k,
                                kdr_result **out, int64_t **labels)
{
	kdr_status st;
	kdr_result *result = NULL;
	kdr_task only = { .name = data->name, .x = kdr_data_mat(data), .k = k };
	kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = &only, .ntasks = 1 };
	KDRI_TRY(kdri_result_new(ctx, kdr_model_algo(model), &problem, &result));
	KDRI_TRY(kdri_result_about(ctx, result, &problem, model->options));
	result->command = "predict";
	result->seconds.read = data->seconds;
	KDRI_TRY(kdri_result_labels(ctx, result, 0, labels));
	if (model->classes)
		KDRI_TRY(kdri_result_classes(ctx, result, (const char *const *)model->classes,
		                             model->nclasses));
	*out = result;
	result = NULL;
done:
	kdr_result_free(result);
	return st;
}

/* The samples of one of the model's tasks. */
static kdr_status predict_task(kdr_context *ctx, const kdr_model *model, kdr_data *data, int64_t task,
                               kdr_result **out)
{
	kdr_status st;
	kdr_result *result = NULL;
	int64_t *labels = NULL;
	unsigned char *why = NULL;
	double start = kdri_now();
	KDRI_TRY(kdri_content_find(ctx, data, &why)); /* texts have the terms of the model */
	KDRI_TRY(predict_begin(ctx, model, data, kdri_model_k(model, task), &result, &labels));
	KDRI_TRY(kdri_model_apply(ctx, model, task, data, labels));
	for (int64_t i = 0; why && i < data->rows; i++)
		labels[i] = why[i] ? -1 : labels[i];
	KDRI_TRY(kdri_result_describe(ctx, result, 0, data));
	KDRI_TRY(kdri_result_count(ctx, result));
	if (model->fitted->tasks[task].number) {
		kdri_task_result *to = &result->tasks[0];
		KDRI_TRY(KDRI_NEW(ctx, &to->number, to->k));
		memcpy(to->number, model->fitted->tasks[task].number, (size_t)to->k * sizeof *to->number);
	}
	KDRI_TRY(kdri_job_take_titles(ctx, model->fitted, result));
	KDRI_TRY(kdri_job_take_names(ctx, model->fitted, result));
	result->seconds.fit = kdri_now() - start;
	KDRI_TRY(kdri_job_words(ctx, result, &data, KDR_DATA_UNKNOWN));
	KDRI_TRY(kdri_model_choices(ctx, model->fitted, task, data, result));
	kdri_job_use_numbers(result);
	kdri_content_mark(&result->tasks[0], why);
	why = NULL;
	*out = result;
	result = NULL;
done:
	kdr_result_free(result);
	kdri_free(ctx, why);
	return st;
}

/* --- a column of tasks -------------------------------------------------------------------------------- */

/* Copies the results for some rows of a table to their positions; results that only some groups have are dropped. */
static kdr_status predict_put_rows(kdr_context *ctx, const kdri_task_result *from, const int64_t *rows,
                                   bool first, kdri_task_result *to)
{
	if (first && from->second)
		KDRI_DO(KDRI_NEW(ctx, &to->second, to->n));
	if (first && from->confidence)
		KDRI_DO(KDRI_NEW(ctx, &to->confidence, to->n));
	if (from->no_label && !to->no_label)
		KDRI_DO(KDRI_NEW0(ctx, &to->no_label, to->n));
	to->confidence_from = from->confidence_from;
	for (int64_t i = 0; i < from->n; i++) {
		to->labels[rows[i]] = from->labels[i];
		if (from->no_label)
			to->no_label[rows[i]] = from->no_label[i];
		if (to->second && from->second)
			to->second[rows[i]] = from->second[i];
		if (to->confidence && from->confidence)
			to->confidence[rows[i]] = from->confidence[i];
	}
	if (to->second && !from->second) {
		kdri_free(ctx, to->second);
		to->second = NULL;
	}
	if (to->confidence && !from->confidence) {
		kdri_free(ctx, to->confidence);
		to->confidence = NULL;
	}
	return KDR_OK;
}

/* Each row by the model's task that the column of tasks names; answers are in the order of the rows. */
static kdr_status predict_groups(kdr_context *ctx, const kdr_model *model, const kdr_data *data,
                                 kdr_result **out)
{
	kdr_status st;
	const kdri_groups *g = &data->groups;
	kdr_result *result = NULL, *part = NULL;
	kdr_data *some = NULL;
	int64_t *rows = NULL, *labels = NULL, *task = NULL, k = 0;
	char called[KDRI_ROW_NAME];
	bool first = true;
	KDRI_TRY(KDRI_NEW(ctx, &rows, data->rows));
	KDRI_TRY(KDRI_NEW(ctx, &task, g->count));
	for (int64_t i = 0; i < data->rows; i++)
		if (g->of[i] < 0)
			KDRI_FAIL(
			        ctx, KDR_ERR_DATA,
			        "%s: %s has no value in the --task-column; fill in the value, or use --task instead",
			        data->path[0] ? data->path : data->name, kdri_row_name(data, i, called));
	for (int64_t t = 0; t < g->count; t++) {
		KDRI_TRY(choose_task(ctx, model, g->names[t], &task[t]));
		k = KDRI_MAX(k, kdri_cluster_span(&model->fitted->tasks[task[t]]));
	}
	KDRI_TRY(predict_begin(ctx, model, data, k, &result, &labels));
	KDRI_TRY(kdri_job_take_titles(ctx, model->fitted, result));
	KDRI_TRY(kdri_job_take_names(ctx, model->fitted, result));
	KDRI_TRY(kdri_result_describe(ctx, result, 0, data));
	for (int64_t t = 0; t < g->count; t++) {
		int64_t n = 0;
		for (int64_t i = 0; i < data->rows; i++)
			if (g->of[i] == t)
				rows[n++] = i;
		if (n == 0)
			continue;
		KDRI_TRY(kdr_data_rows(ctx, data, rows, n, &some));
		KDRI_TRY(predict_task(ctx, model, some, task[t], &part));
		KDRI_TRY(predict_put_rows(ctx, &part->tasks[0], rows, first, &result->tasks[0]));
		result->seconds.fit += part->seconds.fit;
		first = false;
		kdr_result_free(part);
		kdr_data_free(some);
		part = NULL;
		some = NULL;
	}
	KDRI_TRY(kdri_result_count(ctx, result));
	*out = result;
	result = NULL;
done:
	kdr_result_free(result);
	kdr_result_free(part);
	kdr_data_free(some);
	KDRI_FREE(ctx, rows, task);
	return st;
}

/* The number of samples whose label is doubtful, for methods that label by a vote. */
static kdr_status predict_advise(kdr_context *ctx, kdr_result *result)
{
	static const double doubtful = 0.5;
	const kdri_task_result *t = &result->tasks[0];
	int64_t count = 0;
	char text[96];
	if (!t->confidence || !t->confidence_from || strcmp(t->confidence_from, "vote") != 0 || t->advice)
		return KDR_OK;
	for (int64_t i = 0; i < t->n; i++)
		count += t->confidence[i] < doubtful;
	kdri_snprintf(text, sizeof text, "%lld of %lld sample%s: confidence below %.1f", (long long)count,
	              (long long)t->n, t->n == 1 ? "" : "s", doubtful);
	return kdri_result_advise(ctx, result, 0, text);
}

kdr_status kdr_predict(kdr_context *ctx, const kdr_model *model, kdr_data *data,
                       const kdr_predict_options *options, kdr_result **out)
{
	kdr_status st;
	int64_t task;
	kdr_result *result = NULL;
	kdr_predict_options own;
	KDRI_NEED(ctx, model && data && out);
	KDRI_TRY(KDRI_TAKE(ctx, kdr_predict_options, options, &own));
	const char *name = own.task;
	KDRI_TRY(kdri_check_columns(ctx, &data, 1, 0));
	ctx->stage = "predict";
	if (data->groups.of && !name && model->ntasks > 1) {
		KDRI_TRY(predict_groups(ctx, model, data, &result));
	} else {
		KDRI_TRY(choose_task(ctx, model, name, &task));
		KDRI_TRY(predict_task(ctx, model, data, task, &result));
	}
	KDRI_TRY(kdri_content_warn(ctx, result, 0));
	KDRI_TRY(predict_advise(ctx, result));
	*out = result;
	result = NULL;
done:
	ctx->stage = NULL;
	kdr_result_free(result);
	return st;
}

/* --- the samples of the fit --------------------------------------------------------------------------- */

/* The proportion of the samples of task t, or of those that the model keeps, that get their own label from the model's rule. */
static kdr_status predict_agreement(kdr_context *ctx, const kdr_model *model, int64_t t, const kdr_data *data,
                                    double *out)
{
	kdr_status st;
	const kdri_task_result *task = &model->fitted->tasks[t];
	const kdr_data *kept = task->remembered;
	const int64_t n = kept ? kept->rows : task->n, *own = kept ? kept->labels : task->labels;
	int64_t *labels = NULL, same = 0, all = 0;
	const kdr_mat x = kdr_data_mat(kept ? kept : data);
	KDRI_TRY(KDRI_NEW(ctx, &labels, n));
	KDRI_TRY(kdri_predict(ctx, model->algo, model->fitted, model->options, t, &x, labels));
	for (int64_t i = 0; i < n; i++) {
		same += labels[i] == own[i];
		all += own[i] >= 0;
	}
	*out = all > 0 ? (double)same / (double)all : 1;
done:
	kdri_free(ctx, labels);
	return st;
}

kdr_status kdri_job_agreement(kdr_context *ctx, const kdri_job *job, kdr_data *const *data, kdr_result *r)
{
	kdr_status st;
	kdr_model *model = NULL;
	if (!job->wanted->model || ctx->comm || ctx->cancelled || ctx->timed_out)
		return KDR_OK;
	KDRI_TRY(kdr_model_new(ctx, r, &model));
	for (int64_t t = 0; t < r->ntasks; t++) {
		kdri_task_result *task = &r->tasks[t];
		const kdri_field *own =
		        task->remembered ? NULL : kdri_result_field(r, t, "predict_agreement");
		double share = own ? own->number : 1;
		if (!task->labels)
			continue;
		st = own ? KDR_OK : predict_agreement(ctx, model, t, data[t], &share);
		if (kdri_over_limit(ctx, st)) { /* the labels do not depend on it */
			st = KDR_OK;
			continue;
		}
		KDRI_TRY(st);
		if (!own && (share < 1 || task->remembered))
			KDRI_TRY(kdri_result_task_number(ctx, r, t, "predict_agreement", share));
		if ((share == 1 && (!task->remembered || task->remembered->rows == task->n)) ||
		    job->wanted->model_without_samples) {
			kdri_free(ctx, task->known);
			task->known = NULL;
			task->nknown = 0;
		}
	}
done:
	kdr_model_free(model);
	return st;
}

kdr_status kdri_job_remember(kdr_context *ctx, const kdri_job *job, const kdr_data *data,
                             const int64_t *labels, int64_t k, kdri_task_result *task)
{
	const kdr_job_options *o = job->wanted;
	const int64_t most = o->model_size > 0 ? o->model_size : KDRI_REMEMBERED_MOST;
	if (!o->model || !kdri_remembers(job->algo) || !labels || ctx->comm)
		return KDR_OK;
	return o->model_without_samples
	               ? kdri_moments_new(ctx, data, labels, k, most, job->prep, &task->moments)
	               : kdri_remember(ctx, data, labels, k, most, &task->remembered);
}
