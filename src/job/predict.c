/* kdr_predict: a saved model to labels of new samples. SPDX-License-Identifier: BSD-3-Clause */
#include "api/model.h"
#include "job/job.h"

#include <stdio.h>

void kdr_predict_options_init(kdr_predict_options *options)
{
	memset(options, 0, sizeof *options);
}

/* The task of that name, or the only one. */
static kdr_status choose_task(kdr_context *ctx, const kdr_model *m, const char *name, int64_t *out)
{
	char list[256] = "";
	size_t used = 0;
	*out = 0;
	if (!name && m->ntasks == 1)
		return KDR_OK;
	for (int64_t i = 0; name && i < m->ntasks; i++)
		if (strcmp(m->task_names[i], name) == 0) {
			*out = i;
			return KDR_OK;
		}
	for (int64_t i = 0; i < m->ntasks && used < sizeof list; i++)
		used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "",
		                         m->task_names[i]);
	return name ? kdri_fail(ctx, KDR_ERR_ARGUMENT, "--task: the model has no task '%s': %s", name, list)
	            : kdri_fail(ctx, KDR_ERR_ARGUMENT,
	                        "the model has several tasks; choose one with --task: %s", list);
}

kdr_status kdr_predict(kdr_context *ctx, const kdr_model *model, kdr_data *data,
                       const kdr_predict_options *options, kdr_result **out)
{
	kdr_status st;
	kdr_result *result = NULL;
	int64_t task, *labels = NULL;
	double start = kdri_now();
	if (!ctx || !model || !data || !out)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "kdr_predict: a model, data and a place for the result are needed");
	KDRI_TRY(choose_task(ctx, model, options ? options->task : NULL, &task));
	kdr_task only = { .name = data->name, .x = kdr_data_mat(data), .k = kdr_model_k(model, task) };
	kdr_problem problem = { .tasks = &only, .ntasks = 1 };
	KDRI_TRY(kdri_result_new(ctx, kdr_model_algo(model), &problem, &result));
	KDRI_TRY(kdri_result_about(ctx, result, &problem, model->options));
	result->command = "predict";
	KDRI_TRY(kdri_result_labels(ctx, result, 0, &labels));
	KDRI_TRY(kdr_model_apply(ctx, model, task, data, labels));
	KDRI_TRY(kdri_result_describe(ctx, result, 0, data));
	if (model->classes)
		KDRI_TRY(kdri_result_classes(ctx, result, (const char *const *)model->classes,
		                             model->nclasses));
	result->seconds = (kdr_seconds){ .read = data->seconds, .fit = kdri_now() - start };
	KDRI_TRY(kdri_job_words(ctx, result, &data));
	KDRI_TRY(kdri_model_choices(ctx, model->fitted, task, data, result));
	*out = result;
	result = NULL;
done:
	kdr_result_free(result);
	return st;
}
