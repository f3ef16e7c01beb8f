/* The fit of a job in two halves. SPDX-License-Identifier: BSD-3-Clause */
#include "jobs/joint.h"

#include "comm/comm.h"
#include "prepare/prep.h"

/* Features learned on all data sets together replace their columns. If the run is stopped in this step, the columns
 * are kept and *out stays NULL: incomplete features are not better, and because they are wide, the method would be
 * slow to stop. */
static kdr_status job_learn(kdr_context *ctx, const kdri_job *job, kdr_task *tasks, int64_t count,
                            kdr_result **out)
{
	kdr_status st;
	kdr_task *plain = NULL;
	kdr_result *learnt = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &plain, count));
	for (int64_t t = 0; t < count; t++)
		plain[t] = (kdr_task){ .name = tasks[t].name, .x = tasks[t].x };
	kdr_problem problem = { .tasks = plain, .ntasks = count };
	KDRI_TRY(kdri_fit(ctx, &problem, job->feature_options, &learnt));
	if (learnt->stop == KDR_STOP_TIME || learnt->stop == KDR_STOP_CANCELLED)
		goto done;
	for (int64_t t = 0; t < count; t++) {
		kdr_array a = kdr_result_array(learnt, "features", t);
		tasks[t].x = kdr_mat_from_dense(a.data, a.shape[0], a.shape[1]);
	}
	*out = learnt;
	learnt = NULL;
done:
	kdr_result_free(learnt);
	kdri_free(ctx, plain);
	return st;
}

/* Messages from before the method ran. */
static kdr_status early_warnings(kdr_context *ctx, const kdri_job *job, const kdr_result *learnt,
                                 kdr_result *result)
{
	kdr_status st;
	const char **texts = NULL;
	int64_t prepared = kdri_prep_warning_count(job->prep), n = 0;
	bool hinted = job->hint[0];
	int64_t count = hinted + prepared + (learnt ? learnt->warning_count : 0);
	KDRI_TRY(KDRI_NEW(ctx, &texts, count));
	for (; n < prepared; n++)
		texts[n] = kdri_prep_warning_at(job->prep, n);
	for (int64_t i = 0; learnt && i < learnt->warning_count; i++)
		texts[n++] = learnt->warnings[i];
	if (hinted)
		texts[n] = job->hint;
	KDRI_TRY(kdri_result_warn_first(ctx, result, texts, count));
done:
	kdri_free(ctx, texts);
	return st;
}

/* The tasks of a job, with what it knows about their samples. */
static void take_problem(const kdri_job *job, kdr_task *tasks, const kdr_problem *about, kdr_problem *out)
{
	*out = *about;
	out->tasks = tasks;
	if (job->known) {
		out->classes = job->known->classes;
		out->class_names = job->known->class_names;
		for (int64_t t = 0; t < out->ntasks; t++)
			tasks[t].labels = job->known->tasks[t].labels;
	}
	if (job->prep && job->prep->column_kind && !job->encoded)
		out->category = job->prep->group;
}

kdr_status kdri_joint_begin(kdr_context *ctx, kdri_job *job, kdr_task *tasks, kdr_data *const *data,
                            const kdr_problem *about, const kdri_evidence *evidence, kdri_joint *j)
{
	*j = (kdri_joint){
		.job = job, .data = data, .polls = strcmp(job->algo->id, "auto") == 0, .start = kdri_now()
	};
	kdri_fitting *f = &j->fitting;
	take_problem(job, tasks, about, &j->problem);
	KDRI_DO(KDRI_NEW(ctx, &j->k, about->ntasks));
	if (job->feature_options)
		KDRI_DO(job_learn(ctx, job, tasks, about->ntasks, &j->learnt));
	KDRI_DO(kdri_inspect(ctx, &j->problem, &j->seen));
	/* The fit itself does not know the rows of files. */
	for (int64_t t = 0; t < about->ntasks && !kdri_together(ctx); t++)
		KDRI_DO(kdri_check_entries(ctx, job->algo, &tasks[t], data[t], j->problem.category != NULL));
	ctx->no_model = job->wanted->no_model && !job->wanted->model;
	KDRI_DO(kdri_fit_begin(ctx, kdri_algo_of(job->algo), &j->problem, job->options, f));
	if (j->polls)
		KDRI_DO(kdri_poll_begin(ctx, &f->scaled.problem, f->options, evidence, f->result, &j->poll));
	for (int64_t t = 0; t < about->ntasks; t++)
		j->k[t] = j->polls ? kdri_poll_k(&j->poll, t) : tasks[t].k;
	return KDR_OK;
}

/* What the method or the poll has found, as a complete result. */
static kdr_status run_method(kdr_context *ctx, kdri_joint *j, kdri_alone *heard, kdr_result **out)
{
	kdri_fitting *f = &j->fitting;
	kdr_status st = j->polls ? kdri_poll_answer(ctx, &j->poll)
	                         : f->algo->fit(ctx, &f->scaled.problem, f->options, f->result);
	if (st == KDR_OK && heard)
		kdri_poll_take(ctx, &j->poll, heard);
	kdri_poll_free(ctx, &j->poll);
	st = kdri_fit_end(ctx, f, st, out);
	ctx->no_model = false;
	return st;
}

kdr_status kdri_joint_end(kdr_context *ctx, kdri_joint *j, kdr_status st)
{
	kdr_result *none = NULL;
	kdri_poll_free(ctx, &j->poll);
	if (j->fitting.entered) /* it was not answered */
		st = kdri_fit_end(ctx, &j->fitting, st, &none);
	ctx->no_model = false;
	kdri_inspect_end(ctx, &j->seen);
	kdr_result_free(j->learnt);
	kdri_free(ctx, j->k);
	*j = (kdri_joint){ 0 };
	return st;
}

kdr_status kdri_joint_answer(kdr_context *ctx, kdri_joint *j, kdri_alone *heard, kdr_result **out)
{
	kdr_status st;
	kdri_job *job = j->job;
	kdr_result *result = NULL;
	KDRI_TRY(run_method(ctx, j, heard, &result));
	for (int64_t t = 0; t < j->problem.ntasks; t++)
		KDRI_TRY(kdri_result_describe(ctx, result, t, j->data[t]));
	if (j->learnt) {
		KDRI_TRY(kdri_options_copy(ctx, job->feature_options, &result->feature_options));
		result->feature_columns = kdr_result_array(j->learnt, "features", 0).shape[1];
	}
	KDRI_TRY(early_warnings(ctx, job, j->learnt, result));
	if (job->feature_options && !j->learnt)
		KDRI_TRY(kdri_result_warn(
		        ctx, result,
		        "stopped before '%s' had learned its features, so the original columns were used",
		        kdr_options_algo(job->feature_options)->id));
	job->seconds.fit += kdri_now() - j->start;
	*out = result;
	result = NULL;
done:
	kdr_result_free(result);
	return kdri_joint_end(ctx, j, st);
}

kdr_status kdri_job_fit(kdr_context *ctx, kdri_job *job, kdr_task *tasks, kdr_data *const *data,
                        const kdr_problem *about, const kdri_evidence *evidence, kdr_result **out)
{
	kdri_joint j;
	kdr_status st = kdri_joint_begin(ctx, job, tasks, data, about, evidence, &j);
	if (st == KDR_OK)
		st = kdri_joint_answer(ctx, &j, NULL, out);
	return kdri_joint_end(ctx, &j, st);
}
